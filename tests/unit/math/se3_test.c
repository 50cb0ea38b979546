/* SE(3) operators against independent methods: power series in long double, matrix identities, complex step.

   Each operator runs over all special angles and over random ones, with translations of several sizes. The error is
   the largest entry of the difference divided by the largest entry of the reference (theory 0, section 11). */
#include "base/base.h"
#include "math/se3.h"
#include "support/support.h"
#include "twin/twin_math.h"

#include <string.h>

/* ---------------------------------------------------------------------- inputs */

/* both sides of every place where series and closed forms meet (here or on the page), and the way to pi */
static const double angles[] = {0,   1e-12,       1e-9,   1e-5,        1e-4,       1e-3,     0.063, 0.064,
                                0.1, 0.25 - 1e-9, 0.25,   0.25 + 1e-9, 0.5,        1 - 1e-9, 1,     1 + 1e-9,
                                1.5, 2 - 1e-12,   2,      2 + 1e-12,   2.094,      2.095,    2.5,   3,
                                3.1, 3.14,        3.1415, 3.14159,     M_PI - 1e-6};

/* at a rotation larger than pi log takes another branch, T^-1 lives on towards its pole at 2 pi */
static const double angles_large[] = {3.2, 4, 5, 6, 6.2};

static const double lengths[] = {0, 1e-6, 1, 100};

enum { SPECIAL = MBG_COUNT(angles) * MBG_COUNT(lengths), RANDOM = 400, INPUTS = SPECIAL + RANDOM };

/* Input i of INPUTS: h = (u, w), two vectors x and y, a direction dh. */
typedef struct {
  double theta, h[6], x[6], dh[6];
} input;

static input make_input(int i) {
  support_rng rng = support_rng_make((uint64_t)i + 1);
  input in;
  in.theta = i < SPECIAL ? angles[i / MBG_COUNT(lengths)] : support_uniform(&rng, 0, M_PI - 1e-6);
  const double length = i < SPECIAL ? lengths[i % MBG_COUNT(lengths)] : support_uniform(&rng, 0, 3);
  support_direction(&rng, in.h);
  support_direction(&rng, in.h + 3);
  v3_scale(in.h, length, in.h);
  v3_scale(in.h + 3, in.theta, in.h + 3);
  support_normals(&rng, in.x, 6);
  support_normals(&rng, in.dh, 6);
  return in;
}

/* ---------------------------------------------------------------------- error of one operator over all inputs */

typedef struct {
  double error, theta;
} worst;

static void compare(worst *w, double theta, int n, const double *a, const double *b) {
  double d = 0, s = 0;
  for (int i = 0; i < n; i++) {
    d = isnan(a[i] - b[i]) ? INFINITY : fmax(d, fabs(a[i] - b[i]));
    s = fmax(s, fabs(b[i]));
  }
  const double error = d / fmax(s, 1e-40); /* the twin's zeros carry squares of TWIN_STEP */
  if (error > w->error) {
    *w = (worst){error, theta};
  }
}

static void assert_worst(const char *name, worst w, double tol) {
  print_message("  %-34s %8.1e at theta = %g\n", name, w.error, w.theta);
  if (!(w.error <= tol)) {
    fail_msg("%s: error %g at theta = %.17g, allowed %g", name, w.error, w.theta, tol);
  }
}

/* ---------------------------------------------------------------------- long double references */

typedef long double wide;

/* out = A B, n x n */
static void wide_mul(int n, wide *out, const wide *A, const wide *B) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      wide s = 0;
      for (int k = 0; k < n; k++) {
        s += A[n * i + k] * B[n * k + j];
      }
      out[n * i + j] = s;
    }
  }
}

/* exp of a 4x4 matrix: Taylor polynomial of A/64, squared six times */
static void wide_exp4(wide E[16], const wide A[16]) {
  wide X[16], term[16], next[16];
  for (int i = 0; i < 16; i++) {
    X[i] = A[i] / 64;
    E[i] = term[i] = i % 5 == 0;
  }
  for (int k = 1; k < 25; k++) {
    wide_mul(4, next, term, X);
    for (int i = 0; i < 16; i++) {
      term[i] = next[i] / k;
      E[i] += term[i];
    }
  }
  for (int s = 0; s < 6; s++) {
    wide_mul(4, next, E, E);
    memcpy(E, next, sizeof next);
  }
}

static void wide_frame(double H[12], const double h[6]) {
  const wide A[16] = {0, -h[5], h[4], h[0], h[5], 0, -h[3], h[1], -h[4], h[3], 0, h[2], 0, 0, 0, 0};
  wide E[16];
  wide_exp4(E, A);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      H[3 * i + j] = (double)E[4 * i + j];
    }
    H[9 + i] = (double)E[4 * i + 3];
  }
}

/* ad(h) entry by entry, transposed on demand */
static void wide_ad(wide A[36], const double h[6], bool transposed) {
  const double a[36] = {0, -h[5], h[4], 0, -h[2], h[1], h[5], 0, -h[3], h[2], 0, -h[0], -h[4], h[3], 0, -h[1], h[0], 0,
                        0, 0,     0,    0, -h[5], h[4], 0,    0, 0,     h[5], 0, -h[3], 0,     0,    0, -h[4], h[3], 0};
  for (int i = 0; i < 36; i++) {
    A[i] = transposed ? a[6 * (i % 6) + i / 6] : a[i];
  }
}

/* T = sum_k (-1)^k A^k/(k+1)!, 60 terms */
static void wide_tangent(wide T[36], const double h[6], bool transposed) {
  wide A[36], term[36], next[36];
  wide_ad(A, h, transposed);
  for (int i = 0; i < 36; i++) {
    T[i] = term[i] = i % 7 == 0;
  }
  for (int k = 1; k < 60; k++) {
    wide_mul(6, next, term, A);
    for (int i = 0; i < 36; i++) {
      term[i] = -next[i] / (k + 1);
      T[i] += term[i];
    }
  }
}

/* dT y along dh, by differentiating the series: y_k = A y_(k-1), dy_k = dA y_(k-1) + A dy_(k-1) */
static void wide_dtangent(wide out[6], const double h[6], const double dh[6], const wide y0[6], bool transposed) {
  wide A[36], dA[36], y[6], dy[6] = {0}, c = 1;
  wide_ad(A, h, transposed);
  wide_ad(dA, dh, transposed);
  memcpy(y, y0, sizeof y);
  memset(out, 0, 6 * sizeof *out);
  for (int k = 1; k < 60; k++) {
    wide yn[6] = {0}, dyn[6] = {0};
    for (int i = 0; i < 36; i++) {
      yn[i / 6] += A[i] * y[i % 6];
      dyn[i / 6] += dA[i] * y[i % 6] + A[i] * dy[i % 6];
    }
    memcpy(y, yn, sizeof y);
    memcpy(dy, dyn, sizeof dy);
    c /= -(k + 1);
    for (int i = 0; i < 6; i++) {
      out[i] += c * dy[i];
    }
  }
}

/* B <- A^-1 B by Gauss-Jordan with row exchange, A 6x6, B 6 x m */
static void wide_solve(wide A[36], wide *B, int m) {
  for (int k = 0; k < 6; k++) {
    int p = k;
    for (int i = k + 1; i < 6; i++) {
      p = fabsl(A[6 * i + k]) > fabsl(A[6 * p + k]) ? i : p;
    }
    for (int j = 0; j < 6; j++) {
      const wide t = A[6 * k + j];
      A[6 * k + j] = A[6 * p + j];
      A[6 * p + j] = t;
    }
    for (int j = 0; j < m; j++) {
      const wide t = B[m * k + j];
      B[m * k + j] = B[m * p + j];
      B[m * p + j] = t;
    }
    for (int i = 0; i < 6; i++) {
      const wide f = i == k ? 0 : A[6 * i + k] / A[6 * k + k];
      for (int j = 0; j < 6; j++) {
        A[6 * i + j] -= f * A[6 * k + j];
      }
      for (int j = 0; j < m; j++) {
        B[m * i + j] -= f * B[m * k + j];
      }
    }
  }
  for (int i = 0; i < 6 * m; i++) {
    B[i] /= A[7 * (i / m)];
  }
}

static void narrow(double *out, const wide *a, int n) {
  for (int i = 0; i < n; i++) {
    out[i] = (double)a[i];
  }
}

/* ---------------------------------------------------------------------- frames, Ad, ad */

static mbg__frame random_frame(support_rng *rng) {
  mbg__frame H;
  support_rotation(rng, H.R);
  support_normals(rng, H.x, 3);
  return H;
}

/* 16-matrix [[R, x], [0, 1]] and w~ = [[W~, U], [0, 0]] as a plain 4x4 picture of the group */
static void picture(double P[16], const mbg__frame *H) {
  memset(P, 0, 16 * sizeof *P);
  for (int i = 0; i < 3; i++) {
    memcpy(P + 4 * i, H->R + 3 * i, 3 * sizeof *P);
    P[4 * i + 3] = H->x[i];
  }
  P[15] = 1;
}

static void hat(double P[16], const double w[6]) {
  const double A[16] = {0, -w[5], w[4], w[0], w[5], 0, -w[3], w[1], -w[4], w[3], 0, w[2], 0, 0, 0, 0};
  memcpy(P, A, sizeof A);
}

static void frames_multiply_as_matrices(void **state) {
  (void)state;
  support_rng rng = support_rng_make(1);
  for (int i = 0; i < 200; i++) {
    const mbg__frame A = random_frame(&rng), B = random_frame(&rng);
    mbg__frame C, D, E;
    double a[16], b[16], ab[16], c[16];
    picture(a, &A);
    picture(b, &B);
    mn_mul(4, ab, a, b);
    frame_mul(&C, &A, &B);
    picture(c, &C);
    assert_close_array(c, ab, 16, 1e-15); /* three products per entry */

    frame_relative(&D, &A, &C); /* A^-1 A B = B */
    assert_close_array(D.R, B.R, 9, 3e-15);
    assert_close_array(D.x, B.x, 3, 3e-15);
    frame_inv(&D, &A);
    frame_mul(&E, &D, &C);
    assert_close_array(E.R, B.R, 9, 3e-15);
    assert_close_array(E.x, B.x, 3, 3e-15);

    double p[3], q[3];
    frame_point(p, &A, B.x);
    assert_close_array(p, C.x, 3, 1e-15);
    frame_point_inv(q, &A, p);
    assert_close_array(q, B.x, 3, 3e-15);
  }
}

/* Ad(H) v is H v~ H^-1, ad(v) w is v~ w~ - w~ v~ */
static void Ad_and_ad_are_conjugation_and_bracket(void **state) {
  (void)state;
  support_rng rng = support_rng_make(2);
  for (int i = 0; i < 200; i++) {
    const mbg__frame H = random_frame(&rng);
    mbg__frame Hi;
    double v[6], w[6], out[6], h[16], hi[16], V[16], W[16], t[16], s[16], ref[16];
    support_normals(&rng, v, 6);
    support_normals(&rng, w, 6);
    frame_inv(&Hi, &H);
    picture(h, &H);
    picture(hi, &Hi);
    hat(V, v);
    hat(W, w);

    Ad_mul(out, &H, v);
    mn_mul(4, t, h, V);
    mn_mul(4, ref, t, hi);
    hat(s, out);
    assert_close_array(s, ref, 16, 1e-14); /* two products of random 4x4 */

    ad_mul(out, v, w);
    mn_mul(4, t, V, W);
    mn_mul(4, ref, W, V);
    vn_sub(16, ref, t, ref);
    hat(s, out);
    assert_close_array(s, ref, 16, 1e-15);
  }
}

/* matrices, products, transposes and inverses of one operator agree; C(y) v = ad(v)^T y */
static void operators_agree_with_their_matrices(void **state) {
  (void)state;
  support_rng rng = support_rng_make(3);
  for (int i = 0; i < 200; i++) {
    const mbg__frame H = random_frame(&rng);
    double v[6], y[6], A[36], Ai[36], a[36], C[36], P[36], I[36], out[6], ref[6];
    support_normals(&rng, v, 6);
    support_normals(&rng, y, 6);
    mbg__Ad_matrix(A, &H);
    mbg__AdInv_matrix(Ai, &H);
    mbg__ad_matrix(a, v);
    mbg__coad_matrix(C, y);
    m6_identity(I);
    m6_mul(P, A, Ai);
    assert_close_array(P, I, 36, 1e-14);

    Ad_mul(out, &H, y);
    m6_mulv(ref, A, y);
    assert_close_array(out, ref, 6, 3e-15);
    AdT_mul(out, &H, y);
    m6_mulv_T(ref, A, y);
    assert_close_array(out, ref, 6, 3e-15);
    AdInv_mul(out, &H, y);
    m6_mulv(ref, Ai, y);
    assert_close_array(out, ref, 6, 3e-15);
    AdInvT_mul(out, &H, y);
    m6_mulv_T(ref, Ai, y);
    assert_close_array(out, ref, 6, 3e-15);
    ad_mul(out, v, y);
    m6_mulv(ref, a, y);
    assert_close_array(out, ref, 6, 3e-15);
    adT_mul(out, v, y);
    m6_mulv_T(ref, a, y);
    assert_close_array(out, ref, 6, 3e-15);
    m6_mulv(ref, C, v);
    assert_close_array(out, ref, 6, 3e-15);
  }
}

/* ---------------------------------------------------------------------- exp, log */

/* 1e-14: a dozen roundings of numbers not larger than the result */
static void exp_is_the_matrix_exponential(void **state) {
  (void)state;
  worst R = {0}, x = {0}, so3 = {0};
  for (int i = 0; i < INPUTS; i++) {
    const input in = make_input(i);
    mbg__frame H;
    double ref[12], R3[9];
    wide_frame(ref, in.h);
    mbg__se3_exp(&H, in.h);
    mbg__so3_exp(R3, in.h + 3);
    compare(&R, in.theta, 9, H.R, ref);
    compare(&x, in.theta, 3, H.x, ref + 9);
    compare(&so3, in.theta, 9, R3, ref);
  }
  assert_worst("exp, rotation", R, 1e-14);
  assert_worst("exp, translation", x, 1e-14);
  assert_worst("so3_exp", so3, 1e-14);
}

/* also beyond pi, and many turns */
static void exp_of_large_rotations(void **state) {
  (void)state;
  support_rng rng = support_rng_make(5);
  for (int i = 0; i < 200; i++) {
    const double theta = i < MBG_COUNT(angles_large) ? angles_large[i] : support_uniform(&rng, M_PI, 20);
    double h[6], ref[12];
    mbg__frame H;
    support_direction(&rng, h + 3);
    v3_scale(h + 3, theta, h + 3);
    support_normals(&rng, h, 3);
    wide_frame(ref, h);
    mbg__se3_exp(&H, h);
    assert_close_array(H.R, ref, 9, 2e-14); /* the rounding of an angle of 20 is 4e-15 */
    assert_close_array(H.x, ref + 9, 3, 2e-14);
  }
}

/* log of the long double exponential gives h back. Rotation relative to |w|: for w the reference R is rounded to
   1e-16 of 1, which near zero sits on the diagonal only; 1e-14 as above. */
static void log_inverts_exp(void **state) {
  (void)state;
  worst w = {0}, h = {0}, so3 = {0};
  for (int i = 0; i < INPUTS; i++) {
    const input in = make_input(i);
    double E[12], w3[3], out[6];
    mbg__frame H;
    wide_frame(E, in.h);
    memcpy(H.R, E, sizeof H.R);
    memcpy(H.x, E + 9, sizeof H.x);
    mbg__se3_log(out, &H);
    mbg__so3_log(w3, H.R);
    compare(&w, in.theta, 3, out + 3, in.h + 3);
    compare(&so3, in.theta, 3, w3, in.h + 3);
    compare(&h, in.theta, 6, out, in.h);
  }
  assert_worst("log, rotation", w, 1e-14);
  assert_worst("log", h, 1e-14);
  assert_worst("so3_log", so3, 1e-14);
}

/* every branch of the quaternion, q0 = 0 included: at pi the axis is right up to its sign */
static void log_at_pi(void **state) {
  (void)state;
  support_rng rng = support_rng_make(6);
  for (int i = 0; i < 200; i++) {
    double n[3] = {i == 0, i == 1, i == 2}, R[9], w[3], R2[9];
    if (i > 2) {
      support_direction(&rng, n);
    }
    m3_identity(R);
    m3_skew_square_add(R, 1, n, n); /* I + 2 n~^2 */
    mbg__so3_log(w, R);
    assert_close(v3_norm(w), M_PI, 1e-14);
    assert_close(fabs(v3_dot(w, n)), M_PI, 1e-14);
    mbg__so3_exp(R2, w);
    assert_close_array(R2, R, 9, 1e-14);
  }
}

static void retract_multiplies(void **state) {
  (void)state;
  support_rng rng = support_rng_make(7);
  const mbg__frame H = random_frame(&rng);
  const input in = make_input(INPUTS - 1);
  mbg__frame E, ref, out;
  mbg__se3_exp(&E, in.h);
  frame_mul(&ref, &H, &E);
  mbg__se3_retract(&out, &H, in.h);
  assert_memory_equal(&out, &ref, sizeof out);
}

/* ---------------------------------------------------------------------- T and T^-1 */

/* T by its series, T^-1 by elimination; 1e-14 relative to the largest entry */
static void tangent_is_the_series(void **state) {
  (void)state;
  worst T = {0}, Ti = {0}, T3 = {0}, Ti3 = {0};
  for (int i = 0; i < INPUTS; i++) {
    const input in = make_input(i);
    wide S[36], I[36];
    double ref[36], inv[36], ref3[9], inv3[9], out[36], out3[9];
    wide_tangent(S, in.h, false);
    narrow(ref, S, 36);
    for (int k = 0; k < 36; k++) {
      I[k] = k % 7 == 0;
    }
    wide_solve(S, I, 6);
    narrow(inv, I, 36);
    for (int k = 0; k < 9; k++) {
      ref3[k] = ref[6 * (k / 3) + k % 3];
      inv3[k] = inv[6 * (k / 3) + k % 3];
    }
    mbg__se3_tangent(out, in.h);
    compare(&T, in.theta, 36, out, ref);
    mbg__se3_tangent_inv(out, in.h);
    compare(&Ti, in.theta, 36, out, inv);
    mbg__so3_tangent(out3, in.h + 3);
    compare(&T3, in.theta, 9, out3, ref3);
    mbg__so3_tangent_inv(out3, in.h + 3);
    compare(&Ti3, in.theta, 9, out3, inv3);
  }
  assert_worst("T", T, 1e-14);
  assert_worst("T^-1", Ti, 1e-14);
  assert_worst("so3_tangent", T3, 1e-14);
  assert_worst("so3_tangent_inv", Ti3, 1e-14);
}

/* A := Ad(exp(-h)):  A = T(h) T(-h)^-1,  T(-h)^-1 = T(h)^-1 A,  T(-h) = Ad(exp h) T(h) */
static void tangent_identities(void **state) {
  (void)state;
  worst a = {0}, b = {0}, c = {0};
  for (int i = 0; i < INPUTS; i++) {
    const input in = make_input(i);
    mbg__frame E;
    double mh[6], A[36], Ai[36], T[36], Tm[36], Ti[36], Tmi[36], P[36];
    v6_scale(mh, -1, in.h);
    mbg__se3_exp(&E, in.h);
    mbg__Ad_matrix(Ai, &E);
    mbg__AdInv_matrix(A, &E);
    mbg__se3_tangent(T, in.h);
    mbg__se3_tangent(Tm, mh);
    mbg__se3_tangent_inv(Ti, in.h);
    mbg__se3_tangent_inv(Tmi, mh);
    m6_mul(P, T, Tmi);
    compare(&a, in.theta, 36, P, A);
    m6_mul(P, Ti, A);
    compare(&b, in.theta, 36, P, Tmi);
    m6_mul(P, Ai, T);
    compare(&c, in.theta, 36, P, Tm);
  }
  /* products of matrices of condition up to (1 + |u|)^2, |u| <= 100 relative to their largest entry: 3e-14 */
  assert_worst("A = T(h) T(-h)^-1", a, 3e-14);
  assert_worst("T(-h)^-1 = T(h)^-1 A", b, 3e-14);
  assert_worst("T(-h) = Ad(exp h) T(h)", c, 3e-14);
}

/* beyond pi T^-1 grows like 1/(2 pi - theta) towards its pole, and rounding of theta with it */
static void tangent_beyond_pi(void **state) {
  (void)state;
  support_rng rng = support_rng_make(8);
  worst T = {0}, Ti = {0};
  for (int i = 0; i < 20 * MBG_COUNT(angles_large); i++) {
    const double theta = angles_large[i % MBG_COUNT(angles_large)];
    wide S[36], I[36];
    double h[6], ref[36], inv[36], out[36];
    support_direction(&rng, h + 3);
    v3_scale(h + 3, theta, h + 3);
    support_normals(&rng, h, 3);
    wide_tangent(S, h, false);
    narrow(ref, S, 36);
    for (int k = 0; k < 36; k++) {
      I[k] = k % 7 == 0;
    }
    wide_solve(S, I, 6);
    narrow(inv, I, 36);
    mbg__se3_tangent(out, h);
    compare(&T, theta, 36, out, ref);
    mbg__se3_tangent_inv(out, h);
    compare(&Ti, theta, 36, out, inv);
  }
  assert_worst("T beyond pi", T, 1e-14);
  assert_worst("T^-1 beyond pi", Ti, 1e-13);
}

/* ---------------------------------------------------------------------- derivatives of T and T^-1 */

/* D dh against the differentiated series; for the inverse d(T^-1 y) = -T^-1 dT T^-1 y */
static void check_dtangent(const char *name, void (*f)(real *, const real *, const real *), bool inverse,
                           bool transposed) {
  worst w = {0};
  for (int i = 0; i < INPUTS; i++) {
    const input in = make_input(i);
    wide T[36], y[6], d[6];
    double D[36], out[36], ref[36];
    f(D, in.h, in.x);
    for (int j = 0; j < 6; j++) {
      const double e[6] = {j == 0, j == 1, j == 2, j == 3, j == 4, j == 5};
      for (int k = 0; k < 6; k++) {
        y[k] = in.x[k];
      }
      if (inverse) {
        wide_tangent(T, in.h, transposed);
        wide_solve(T, y, 1);
      }
      wide_dtangent(d, in.h, e, y, transposed);
      if (inverse) {
        wide_tangent(T, in.h, transposed);
        wide_solve(T, d, 1);
      }
      for (int k = 0; k < 6; k++) {
        ref[6 * k + j] = inverse ? (double)-d[k] : (double)d[k];
        out[6 * k + j] = D[6 * k + j];
      }
    }
    compare(&w, in.theta, 36, out, ref);
  }
  assert_worst(name, w, 1e-14);
}

static void derivatives_are_the_differentiated_series(void **state) {
  (void)state;
  check_dtangent("d(T x)", mbg__se3_dtangent, false, false);
  check_dtangent("d(T^T y)", mbg__se3_dtangentT, false, true);
  check_dtangent("d(T^-1 y)", mbg__se3_dtangent_inv, true, false);
  check_dtangent("d(T^-T y)", mbg__se3_dtangent_invT, true, true);
}

/* ---------------------------------------------------------------------- complex step */

static void step(double _Complex *z, const double *a, const double *da, int n) {
  for (int i = 0; i < n; i++) {
    z[i] = twin_step(a[i], da[i]);
  }
}

static void split(double *a, double *da, const double _Complex *z, int n) {
  for (int i = 0; i < n; i++) {
    a[i] = creal(z[i]);
    da[i] = twin_derivative(z[i]);
  }
}

/* d exp = exp (T dh)~ */
static void twin_exp_gives_T(void **state) {
  (void)state;
  worst w = {0}, same = {0};
  for (int i = 0; i < INPUTS; i++) {
    const input in = make_input(i);
    double _Complex h[6], Hc[12];
    double H[12], dH[12], T[36], Tdh[6], W[9], ref[12];
    mbg__frame E;
    step(h, in.h, in.dh, 6);
    twin_se3_exp(Hc, h);
    split(H, dH, Hc, 12);
    mbg__se3_exp(&E, in.h);
    compare(&same, in.theta, 9, H, E.R);
    mbg__se3_tangent(T, in.h);
    m6_mulv(Tdh, T, in.dh);
    m3_skew(W, Tdh + 3);
    m3_mul(ref, E.R, W);
    m3_mulv(ref + 9, E.R, Tdh);
    compare(&w, in.theta, 12, dH, ref);
  }
  assert_worst("twin: exp", same, 1e-15);
  assert_worst("complex step of exp = exp T", w, 1e-14);
}

/* d log along dH = H dw~ is T^-1(log H) dw. 1e-13: near pi q0 is the small difference of two entries of R */
static void twin_log_gives_T_inverse(void **state) {
  (void)state;
  worst w = {0}, same = {0};
  for (int i = 0; i < INPUTS; i++) {
    const input in = make_input(i);
    double _Complex Hc[12], hc[6];
    double W[9], H[12], dH[12], h[6], dh[6], Ti[36], ref[6], log_h[6];
    mbg__frame E;
    mbg__se3_exp(&E, in.h);
    memcpy(H, E.R, sizeof E.R);
    memcpy(H + 9, E.x, sizeof E.x);
    m3_skew(W, in.dh + 3);
    m3_mul(dH, E.R, W);
    m3_mulv(dH + 9, E.R, in.dh);
    step(Hc, H, dH, 12);
    twin_se3_log(hc, Hc);
    split(h, dh, hc, 6);
    mbg__se3_log(log_h, &E);
    compare(&same, in.theta, 6, h, log_h);
    mbg__se3_tangent_inv(Ti, log_h);
    m6_mulv(ref, Ti, in.dh);
    compare(&w, in.theta, 6, dh, ref);
  }
  assert_worst("twin: log", same, 1e-14);
  assert_worst("complex step of log = T^-1", w, 1e-13);
}

typedef void matrix_function(double _Complex *, const double _Complex *);
typedef void derivative_function(real *, const real *, const real *);

/* complex step of M(h) x or M(h)^T x against D dh */
static void check_twin(const char *name, matrix_function *M, derivative_function *D, bool transposed) {
  worst w = {0};
  for (int i = 0; i < INPUTS; i++) {
    const input in = make_input(i);
    double _Complex h[6], Tc[36];
    double T[36], dT[36], d[36], out[6], ref[6];
    step(h, in.h, in.dh, 6);
    M(Tc, h);
    split(T, dT, Tc, 36);
    if (transposed) {
      m6_mulv_T(out, dT, in.x);
    } else {
      m6_mulv(out, dT, in.x);
    }
    D(d, in.h, in.x);
    m6_mulv(ref, d, in.dh);
    compare(&w, in.theta, 6, out, ref);
  }
  assert_worst(name, w, 1e-13); /* the sums out and ref may be smaller than their terms */
}

static void twin_gives_the_derivatives(void **state) {
  (void)state;
  check_twin("complex step of T x", twin_se3_tangent, mbg__se3_dtangent, false);
  check_twin("complex step of T^T y", twin_se3_tangent, mbg__se3_dtangentT, true);
  check_twin("complex step of T^-1 y", twin_se3_tangent_inv, mbg__se3_dtangent_inv, false);
  check_twin("complex step of T^-T y", twin_se3_tangent_inv, mbg__se3_dtangent_invT, true);
}

/* so3 in the twin: the same numbers, and a log that is differentiable at zero */
static void twin_so3(void **state) {
  (void)state;
  worst w = {0};
  for (int i = 0; i < INPUTS; i++) {
    const input in = make_input(i);
    double _Complex a[3], R[9], b[3];
    double back[3], dback[3];
    step(a, in.h + 3, in.dh + 3, 3);
    twin_so3_exp(R, a);
    twin_so3_log(b, R);
    split(back, dback, b, 3);
    compare(&w, in.theta, 3, dback, in.dh + 3);
  }
  assert_worst("complex step of log(exp(w))", w, 1e-13);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_multiply_as_matrices),
      cmocka_unit_test(Ad_and_ad_are_conjugation_and_bracket),
      cmocka_unit_test(operators_agree_with_their_matrices),
      cmocka_unit_test(exp_is_the_matrix_exponential),
      cmocka_unit_test(exp_of_large_rotations),
      cmocka_unit_test(log_inverts_exp),
      cmocka_unit_test(log_at_pi),
      cmocka_unit_test(retract_multiplies),
      cmocka_unit_test(tangent_is_the_series),
      cmocka_unit_test(tangent_identities),
      cmocka_unit_test(tangent_beyond_pi),
      cmocka_unit_test(derivatives_are_the_differentiated_series),
      cmocka_unit_test(twin_exp_gives_T),
      cmocka_unit_test(twin_log_gives_T_inverse),
      cmocka_unit_test(twin_gives_the_derivatives),
      cmocka_unit_test(twin_so3),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
