/* SE(3) operators. Formulas: theory 4, section 1.

   All scalar functions of an angle are written in the Stumpff functions of z = theta^2,

     f_k(z) = sum_j (-z)^j / (2j + k)!      f_0 = cos, f_1 = s1 = sin/theta, f_2 = c2, f_3 = s3
     f_k = 1/k! - z f_(k+2)                 f_k' = (k f_(k+2) - f_(k+1)) / 2

   The second line replaces every quotient by z: no formula below divides by the angle, so that one expression serves
   from zero upwards, derivatives included, and no Bernoulli series is needed:

     gam = f_1 / (2 f_2)      ib = 1 / (2 f_2)      e := (1 - gam)/t2 = (f_3 - 2 f_4) / (2 f_2) */
#include "math/se3.h"

enum { NF = 9 }; /* f_0 ... f_8 */

/* 1/k! */
/* clang-format off */
static const double inverse_factorial[27] = {
  1.0 / 1.0, 1.0 / 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0,
  1.0 / 362880.0, 1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0,
  1.0 / 87178291200.0, 1.0 / 1307674368000.0, 1.0 / 20922789888000.0, 1.0 / 355687428096000.0,
  1.0 / 6402373705728000.0, 1.0 / 121645100408832000.0, 1.0 / 2432902008176640000.0,
  1.0 / 51090942171709440000.0, 1.0 / 1124000727777607680000.0, 1.0 / 25852016738884976640000.0,
  1.0 / 620448401733239439360000.0, 1.0 / 15511210043330985984000000.0, 1.0 / 403291461126605635584000000.0};
/* clang-format on */

/* f_7 and f_8 by series: z < 4, 10 terms leave 4^10 7!/27! < 1e-18 of the first */
static void series(real f[NF], real z) {
  real a = inverse_factorial[25], b = inverse_factorial[26];
  for (int k = 23; k >= 7; k -= 2) {
    a = inverse_factorial[k] - z * a;
    b = inverse_factorial[k + 1] - z * b;
  }
  f[7] = a;
  f[8] = b;
}

/* f_0 ... f_8: downwards from the series for small z, upwards from the sine for large z */
static void stumpff(real f[NF], real z) {
  if (re(z) < 4) {
    series(f, z);
    for (int k = 6; k >= 0; k--) {
      f[k] = inverse_factorial[k] - z * f[k + 2];
    }
    return;
  }
  const real t = r_sqrt(z), s = r_sin(0.5 * t);
  f[0] = r_cos(t);
  f[1] = r_sin(t) / t;
  f[2] = 2 * s * s / z;
  for (int k = 3; k < NF; k++) {
    f[k] = (inverse_factorial[k - 2] - f[k - 2]) / z;
  }
}

/* f_k' for k <= 6 */
static real stumpff_z(const real f[NF], int k) { return 0.5 * (k * f[k + 2] - f[k + 1]); }

/* f_2'' = (2 f_4' - f_3')/2, likewise k <= 4 */
static real stumpff_zz(const real f[NF], int k) { return 0.5 * (k * stumpff_z(f, k + 2) - stumpff_z(f, k + 1)); }

/* ---------------------------------------------------------------------- matrices */

void mbg__Ad_matrix(real A[36], const mbg__frame *H) {
  real xR[9];
  m3_skew_mul(xR, H->x, H->R);
  m6_zero(A);
  m6_set_block(A, 0, 0, 1, H->R);
  m6_set_block(A, 0, 1, 1, xR);
  m6_set_block(A, 1, 1, 1, H->R);
}

void mbg__AdInv_matrix(real A[36], const mbg__frame *H) {
  real xR[9], RTx[9], RT[9];
  m3_skew_mul(xR, H->x, H->R);
  m3_transpose(RTx, xR); /* (x~R)^T = -R^T x~ */
  m3_transpose(RT, H->R);
  m6_zero(A);
  m6_set_block(A, 0, 0, 1, RT);
  m6_set_block(A, 0, 1, 1, RTx);
  m6_set_block(A, 1, 1, 1, RT);
}

void mbg__ad_matrix(real A[36], const real v[6]) {
  real U[9], W[9];
  m3_skew(U, v);
  m3_skew(W, v + 3);
  m6_zero(A);
  m6_set_block(A, 0, 0, 1, W);
  m6_set_block(A, 0, 1, 1, U);
  m6_set_block(A, 1, 1, 1, W);
}

void mbg__coad_matrix(real C[36], const real y[6]) {
  real y1[9], y2[9];
  m3_skew(y1, y);
  m3_skew(y2, y + 3);
  m6_zero(C);
  m6_set_block(C, 0, 1, 1, y1);
  m6_set_block(C, 1, 0, 1, y1);
  m6_set_block(C, 1, 1, 1, y2);
}

/* ---------------------------------------------------------------------- SO(3) */

/* out = I + a w~ + b w~^2 */
static void so3_quadratic(real out[9], real a, real b, const real w[3]) {
  m3_identity(out);
  m3_skew_add(out, a, w);
  m3_skew_square_add(out, 0.5 * b, w, w);
}

/* derivative of I + a w~ + b w~^2 in direction u:  a u~ + b (u~w~ + w~u~) + 2 (u.w) (a' w~ + b' w~^2) */
static void so3_quadratic_along(real out[9], real a, real b, real a_z, real b_z, const real w[3], const real u[3]) {
  const real z_u = 2 * v3_dot(u, w);
  m3_zero(out);
  m3_skew_add(out, a, u);
  m3_skew_square_add(out, b, u, w);
  m3_skew_add(out, z_u * a_z, w);
  m3_skew_square_add(out, 0.5 * z_u * b_z, w, w);
}

/* e = (1 - gam)/t2 = -f_2'/f_2 */
static real so3_e(const real f[NF]) { return -stumpff_z(f, 2) / f[2]; }

void mbg__so3_exp(real R[9], const real w[3]) {
  real f[NF];
  stumpff(f, v3_dot(w, w));
  so3_quadratic(R, f[1], f[2], w);
}

void mbg__so3_tangent(real T[9], const real w[3]) {
  real f[NF];
  stumpff(f, v3_dot(w, w));
  so3_quadratic(T, -f[2], f[3], w);
}

void mbg__so3_tangent_coefs(real z, real c2[3], real s3[3]) {
  real f[NF];
  stumpff(f, z);
  for (int k = 2; k <= 3; k++) {
    real *c = k == 2 ? c2 : s3;
    c[0] = f[k];
    c[1] = stumpff_z(f, k);
    c[2] = stumpff_zz(f, k);
  }
}

void mbg__so3_tangent_inv(real Ti[9], const real w[3]) {
  real f[NF];
  stumpff(f, v3_dot(w, w));
  so3_quadratic(Ti, 0.5, so3_e(f), w);
}

/* A multiple of the quaternion of R: the row of 4 q q^T with the largest diagonal, sign such that q0 >= 0. */
static void quaternion_ray(real q[4], const real R[9]) {
  const real d[4] = {R[0] + R[4] + R[8], R[0], R[4], R[8]};
  int m = 0;
  for (int i = 1; i < 4; i++) {
    m = re(d[i]) > re(d[m]) ? i : m;
  }
  const real a[4] = {0, R[7] - R[5], R[2] - R[6], R[3] - R[1]}; /* 4 q0 qi */
  if (m == 0) {
    q[0] = 1 + d[0];
    vn_copy(3, q + 1, a + 1);
    return;
  }
  q[0] = a[m];
  for (int i = 1; i < 4; i++) {
    q[i] = i == m ? 1 + 2 * d[m] - d[0] : R[3 * (i - 1) + m - 1] + R[3 * (m - 1) + i - 1];
  }
  vn_scale(4, q, re(q[0]) < 0 ? -1 : 1, q);
}

/* atan(y)/y for y2 = y^2 < 1e-3 */
static real atan_quotient(real y2) {
  real s = 0;
  for (int k = 6; k >= 0; k--) {
    s = 1.0 / (2 * k + 1) - y2 * s;
  }
  return s;
}

/* w = theta qv/|qv|, theta = 2 atan2(|qv|, q0): accurate up to pi, indifferent to the length of q */
void mbg__so3_log(real w[3], const real R[9]) {
  real q[4];
  quaternion_ray(q, R);
  const real n2 = v3_dot(q + 1, q + 1), q02 = q[0] * q[0];
  if (re(n2) < 1e-3 * re(q02)) {
    v3_scale(w, 2 * atan_quotient(n2 / q02) / q[0], q + 1);
    return;
  }
  const real n = r_sqrt(n2);
  v3_scale(w, 2 * r_atan2(n, q[0]) / n, q + 1);
}

/* ---------------------------------------------------------------------- SE(3) */

/* x = V(w) u, V = I + c2 w~ + s3 w~^2 */
void mbg__se3_exp(mbg__frame *H, const real h[6]) {
  real f[NF], V[9];
  stumpff(f, v3_dot(h + 3, h + 3));
  so3_quadratic(H->R, f[1], f[2], h + 3);
  so3_quadratic(V, f[2], f[3], h + 3);
  m3_mulv(H->x, V, h);
}

/* u = T_SO3^-1(-w) x = x - w x x / 2 + e w x (w x x) */
void mbg__se3_log(real h[6], const mbg__frame *H) {
  real f[NF], wx[3];
  mbg__so3_log(h + 3, H->R);
  stumpff(f, v3_dot(h + 3, h + 3));
  v3_cross(wx, h + 3, H->x);
  v3_copy(h, H->x);
  v3_axpy(h, -0.5, wx);
  v3_cross_add(h, so3_e(f), h + 3, wx);
}

void mbg__se3_retract(mbg__frame *out, const mbg__frame *H, const real h[6]) {
  mbg__frame E;
  mbg__se3_exp(&E, h);
  frame_mul(out, H, &E);
}

/* [[P, Q], [0, P]] */
static void dual_matrix(real out[36], const real P[9], const real Q[9]) {
  m6_zero(out);
  m6_set_block(out, 0, 0, 1, P);
  m6_set_block(out, 0, 1, 1, Q);
  m6_set_block(out, 1, 1, 1, P);
}

/* T = [[T_SO3(w), D], [0, T_SO3(w)]], D = derivative of T_SO3 at w in direction u */
void mbg__se3_tangent(real T[36], const real h[6]) {
  real f[NF], P[9], Q[9];
  stumpff(f, v3_dot(h + 3, h + 3));
  so3_quadratic(P, -f[2], f[3], h + 3);
  so3_quadratic_along(Q, -f[2], f[3], -stumpff_z(f, 2), stumpff_z(f, 3), h + 3, h);
  dual_matrix(T, P, Q);
}

/* likewise with T_SO3^-1;  e' = e^2 - f_2''/f_2 */
void mbg__se3_tangent_inv(real Ti[36], const real h[6]) {
  real f[NF], P[9], Q[9];
  stumpff(f, v3_dot(h + 3, h + 3));
  const real e = so3_e(f), e_z = e * e - stumpff_zz(f, 2) / f[2];
  so3_quadratic(P, 0.5, e, h + 3);
  so3_quadratic_along(Q, 0.5, e, 0, e_z, h + 3, h);
  dual_matrix(Ti, P, Q);
}

/* ---------------------------------------------------------------------- derivatives of the tangents */

/* T and T^-1 are polynomials I + g_1 A + g_2 A^2 + g_3 A^3 + g_4 A^4 of A = ad(h), because A (A^2 + z)^2 = 0. */
typedef struct {
  real g[5], g_z[5]; /* coefficients and their derivatives by z; entry 0 unused */
} polynomial;

/* T: Hermite interpolation of (1 - exp(-x))/x = f_1(-x^2) - x f_2(-x^2) at 0 and twice at +-i theta */
static void polynomial_tangent(polynomial *p, const real h[6]) {
  real f[NF];
  const real z = v3_dot(h + 3, h + 3);
  stumpff(f, z);
  p->g[1] = z * stumpff_z(f, 2) - f[2];
  p->g[2] = 0.5 * (5 * f[3] - f[2]);
  p->g[3] = stumpff_z(f, 2);
  p->g[4] = 0.5 * (f[4] - 3 * f[5]);
  p->g_z[1] = z * stumpff_zz(f, 2);
  p->g_z[2] = 0.5 * (5 * stumpff_z(f, 3) - stumpff_z(f, 2));
  p->g_z[3] = stumpff_zz(f, 2);
  p->g_z[4] = 0.5 * (stumpff_z(f, 4) - 3 * stumpff_z(f, 5));
}

/* T^-1: g_1 = 1/2, g_3 = 0,
   b2 = (2 - 1.5 gam - 0.5 ib)/t2   = (1.5 f_3 - 4 f_4)/(2 f_2)
   b4 = (1 - 0.5 gam - 0.5 ib)/t2^2 = (4 f_6 - f_5)/(4 f_2) */
static void polynomial_tangent_inv(polynomial *p, const real h[6]) {
  real f[NF];
  stumpff(f, v3_dot(h + 3, h + 3));
  const real f2_z = stumpff_z(f, 2);
  *p = (polynomial){.g = {0, 0.5}};
  p->g[2] = (1.5 * f[3] - 4 * f[4]) / (2 * f[2]);
  p->g[4] = (4 * f[6] - f[5]) / (4 * f[2]);
  p->g_z[2] = (1.5 * stumpff_z(f, 3) - 4 * stumpff_z(f, 4) - 2 * f2_z * p->g[2]) / (2 * f[2]);
  p->g_z[4] = (4 * stumpff_z(f, 6) - stumpff_z(f, 5) - 4 * f2_z * p->g[4]) / (4 * f[2]);
}

/* From y_k = A^k y, k <= 4: the sums by powers of A on the left, c_i = sum_j g_(i+j+1) y_j, and s = sum_k g_k' y_k */
static void collect(real c[4][6], real s[6], const polynomial *p, real y[5][6]) {
  v6_zero(s);
  for (int k = 1; k < 5; k++) {
    v6_axpy(s, p->g_z[k], y[k]);
  }
  for (int i = 0; i < 4; i++) {
    v6_zero(c[i]);
    for (int j = 0; i + j < 4; j++) {
      v6_axpy(c[i], p->g[i + j + 1], y[j]);
    }
  }
}

/* P <- sign w~P + a~,  Q <- sign (w~Q + u~P) + b~ */
static void horner(real P[9], real Q[9], double sign, const real h[6], const real a[3], const real b[3]) {
  real wP[9], wQ[9], uP[9];
  m3_skew_mul(wP, h + 3, P);
  m3_skew_mul(wQ, h + 3, Q);
  m3_skew_mul(uP, h, P);
  m3_add(wQ, wQ, uP);
  m3_scale(P, sign, wP);
  m3_scale(Q, sign, wQ);
  m3_skew_add(P, 1, a);
  m3_skew_add(Q, 1, b);
}

/* D += s (0, 2w)^T: the part of z = w.w */
static void add_dz(real D[36], const real s[6], const real h[6]) {
  const real dz[6] = {0, 0, 0, 2 * h[3], 2 * h[4], 2 * h[5]};
  m6_outer_add(D, 1, s, dz);
}

/* d(p(A) y) = -(ad(c_0) + A (ad(c_1) + A (ad(c_2) + A ad(c_3)))) dh + s dz; all blocks are [[P, Q], [0, P]] */
static void polynomial_derivative(real D[36], const polynomial *p, const real h[6], const real y0[6]) {
  real y[5][6], c[4][6], s[6], P[9] = {0}, Q[9] = {0};
  v6_copy(y[0], y0);
  for (int k = 1; k < 5; k++) {
    ad_mul(y[k], h, y[k - 1]);
  }
  collect(c, s, p, y);
  for (int i = 3; i >= 0; i--) {
    horner(P, Q, 1, h, c[i] + 3, c[i]);
  }
  dual_matrix(D, P, Q);
  m6_scale(D, -1, D);
  add_dz(D, s, h);
}

/* d(p(A)^T y) = (C(c_0) + A^T (C(c_1) + A^T (C(c_2) + A^T C(c_3)))) dh + s dz; all blocks are [[0, P], [P, Q]] */
static void polynomial_derivativeT(real D[36], const polynomial *p, const real h[6], const real y0[6]) {
  real y[5][6], c[4][6], s[6], P[9] = {0}, Q[9] = {0};
  v6_copy(y[0], y0);
  for (int k = 1; k < 5; k++) {
    adT_mul(y[k], h, y[k - 1]);
  }
  collect(c, s, p, y);
  for (int i = 3; i >= 0; i--) {
    horner(P, Q, -1, h, c[i], c[i] + 3);
  }
  m6_zero(D);
  m6_set_block(D, 0, 1, 1, P);
  m6_set_block(D, 1, 0, 1, P);
  m6_set_block(D, 1, 1, 1, Q);
  add_dz(D, s, h);
}

void mbg__se3_dtangent(real D[36], const real h[6], const real x[6]) {
  polynomial p;
  polynomial_tangent(&p, h);
  polynomial_derivative(D, &p, h, x);
}

void mbg__se3_dtangentT(real D[36], const real h[6], const real y[6]) {
  polynomial p;
  polynomial_tangent(&p, h);
  polynomial_derivativeT(D, &p, h, y);
}

void mbg__se3_dtangent_inv(real D[36], const real h[6], const real y[6]) {
  polynomial p;
  polynomial_tangent_inv(&p, h);
  polynomial_derivative(D, &p, h, y);
}

void mbg__se3_dtangent_invT(real D[36], const real h[6], const real y[6]) {
  polynomial p;
  polynomial_tangent_inv(&p, h);
  polynomial_derivativeT(D, &p, h, y);
}
