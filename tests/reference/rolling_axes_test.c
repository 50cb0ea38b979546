/* R2 of theory 8 by an integration of its own: RK4 in coordinates of the step, projections after it, once with the rows
   of the wheel in the axes of the plane, once along and across, which are the rows of the joint. Both have the same
   motion, but stages of RK4 do not satisfy the rows: chi' = 0 of turning rows is another equation there than chi' = 0
   of rows in fixed axes, and errors of the steps differ. The page's digits are those of fixed axes; `dca` has the
   others. */
#include "math/se3.h"
#include "property/gradient_case.h"

#include <complex.h>
#include <stdio.h>

typedef double complex number;
typedef struct {
  mbg__frame H;
  double v[6];
} motion;

static const double r = 0.25, rho = 0.03, g = 9.81, M[] = {1.3, 1.3, 1.3, 0.03, 0.03, 0.055};

static void cross(const number *a, const number *b, number *out) {
  for (int i = 0; i < 3; i++) {
    out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
  }
}

/* rows of the velocity U + W x p of the contact point: normal, and two in the plane */
static void rows(const number R[9], bool fixed, number A[3][6]) {
  const number *nu = R + 6, s = csqrt(nu[0] * nu[0] + nu[1] * nu[1]), e[3] = {nu[0] / s, nu[1] / s, 0};
  const number t[3] = {-e[1], e[0], 0};
  number p[3], across[3];
  for (int i = 0; i < 3; i++) {
    p[i] = -r * e[i] - rho * nu[i];
  }
  cross(nu, t, across);
  const number *d[3] = {nu, fixed ? R : t, fixed ? R + 3 : across};
  for (int k = 0; k < 3; k++) {
    memcpy(A[k], d[k], 3 * sizeof(number));
    cross(p, d[k], A[k] + 3); /* d.(W x p) = (p x d).W */
  }
}

/* rows at the frame, and chi' - A vd along the twist by complex step */
static void rows_at(const motion *x, bool fixed, double A[3][6], double gamma[3]) {
  const double h = 1e-40, *W = x->v + 3;
  number R[9], C[3][6];
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) { /* R' = R W~ */
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      R[3 * i + k] = x->H.R[3 * i + k] + _Complex_I * h * (x->H.R[3 * i + a] * W[b] - x->H.R[3 * i + b] * W[a]);
    }
  }
  rows(R, fixed, C);
  for (int k = 0; k < 3; k++) {
    gamma[k] = 0;
    for (int i = 0; i < 6; i++) {
      A[k][i] = creal(C[k][i]);
      gamma[k] += cimag(C[k][i]) / h * x->v[i];
    }
  }
}

/* out = b - M^-1 A^T (A M^-1 A^T)^-1 (A b + c), of the first n rows */
static void onto(int n, double A[3][6], const double b[6], const double c[3], double out[6]) {
  double S[3][4] = {{0}};
  for (int i = 0; i < n; i++) {
    S[i][3] = c[i];
    for (int k = 0; k < 6; k++) {
      S[i][3] += A[i][k] * b[k];
      for (int j = 0; j < n; j++) {
        S[i][j] += A[i][k] * A[j][k] / M[k];
      }
    }
  }
  for (int j = 0; j < n; j++) { /* positive definite: no pivots */
    for (int i = 0; i < n; i++) {
      const double f = S[i][j] / S[j][j];
      for (int k = 0; i != j && k < 4; k++) {
        S[i][k] -= f * S[j][k];
      }
    }
  }
  for (int k = 0; k < 6; k++) {
    out[k] = b[k];
    for (int i = 0; i < n; i++) {
      out[k] -= A[i][k] / M[k] * S[i][3] / S[i][i];
    }
  }
}

static void accelerations(const motion *x, bool fixed, double vd[6]) {
  const double *U = x->v, *W = x->v + 3, *I3 = M + 3;
  double A[3][6], gamma[3], b[6];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    b[i] = -g * x->H.R[6 + i] - (W[j] * U[k] - W[k] * U[j]);
    b[3 + i] = -(W[j] * I3[k] * W[k] - W[k] * I3[j] * W[j]) / I3[i];
  }
  rows_at(x, fixed, A, gamma);
  onto(3, A, b, gamma, vd);
}

static void move(const mbg__frame *from, const double s[6], mbg__frame *to) {
  mbg__frame F;
  mbg__se3_exp(&F, s);
  frame_mul(to, from, &F);
}

/* (sigma', v') at (sigma, v): sigma' = v + ad v/2 + ad^2 v/12 - ad^4 v/720 + ad^6 v/30240 - ..., ad of sigma */
static void rates(const mbg__frame *base, const double y[12], bool fixed, double yd[12]) {
  static const double c[] = {1, 0.5, 1. / 12, 0, -1. / 720, 0, 1. / 30240, 0, -1. / 1209600};
  motion x;
  double z[6], next[6];
  move(base, y, &x.H);
  memcpy(x.v, y + 6, sizeof x.v);
  memcpy(z, x.v, sizeof z);
  memset(yd, 0, 6 * sizeof *yd);
  for (int k = 0; k < MBG_COUNT(c); k++) {
    for (int i = 0; i < 6; i++) {
      yd[i] += c[k] * z[i];
    }
    ad_mul(next, y, z);
    memcpy(z, next, sizeof z);
  }
  accelerations(&x, fixed, yd + 6);
}

static void rk4(motion *x, double h, bool fixed) {
  static const double at[] = {0, 0.5, 0.5, 1}, weight[] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
  double y[12], k[12] = {0}, sum[12] = {0};
  const mbg__frame base = x->H;
  for (int stage = 0; stage < 4; stage++) {
    for (int i = 0; i < 12; i++) {
      y[i] = (i < 6 ? 0 : x->v[i - 6]) + h * at[stage] * k[i];
    }
    rates(&base, y, fixed, k);
    for (int i = 0; i < 12; i++) {
      sum[i] += h * weight[stage] * k[i];
    }
  }
  move(&base, sum, &x->H);
  for (int i = 0; i < 6; i++) {
    x->v[i] += sum[6 + i];
  }
}

/* the frame onto the plane, then the rates onto the rows, both in the metric of masses */
static void project(motion *x, bool fixed) {
  const double zero[6] = {0};
  double A[3][6], gamma[3], d[6], v[6];
  for (int round = 0; round < 5; round++) {
    const mbg__frame H = x->H;
    const double *nu = H.R + 6, phi[3] = {H.x[2] - r * hypot(nu[0], nu[1]) - rho};
    rows_at(x, fixed, A, gamma);
    onto(1, A, zero, phi, d);
    move(&H, d, &x->H);
  }
  rows_at(x, fixed, A, gamma);
  onto(3, A, x->v, zero, v);
  memcpy(x->v, v, sizeof v);
}

static void integrate(bool fixed, double h, double out[2]) {
  const double turn[6] = {0, 0, 0, M_PI / 2 - 0.35, 0, 0};
  motion x = {.v = {0, 0, 0, 0.25, 0.9, -7}};
  double A[3][6], gamma[3];
  mbg__se3_exp(&x.H, turn);
  x.H.x[2] = r * cos(0.35) + rho;
  rows_at(&x, true, A, gamma); /* U: with R^T from the normal and the two other axes, U = -W x p */
  for (int k = 0; k < 3; k++) {
    const double *d = x.H.R + 3 * ((k + 2) % 3);
    for (int i = 0; i < 3; i++) {
      x.v[i] -= d[i] * (A[k][3] * 0.25 + A[k][4] * 0.9 + A[k][5] * -7);
    }
  }
  for (int n = (int)round(1 / h); n > 0; n--) {
    rk4(&x, h, fixed);
    project(&x, fixed);
  }
  out[0] = x.H.x[0];
  out[1] = x.H.x[1];
}

/* the digits of the page */
static void test_fixed(void **state) {
  static const double page[] = {1.6429098897, 0.88595428988};
  double x[2];
  (void)state;
  integrate(true, 0.01, x);
  assert_close(x[0], page[0], 1e-10);
  assert_close(x[1], page[1], 1e-11);
}

/* the rows of the joint: the numbers of `dca`, and the same limit */
static void test_turning(void **state) {
  static const double limit[] = {1.6429107909, 0.88595490712};
  gradient_case c;
  double x[2], fine[2], finer[2], psi[4];
  (void)state;
  integrate(false, 0.01, x);
  gradient_case_open(&c, MBG_SOURCE_DIR "/tests/reference/curves/wheel.json", NULL);
  c.options.formulation = "dca";
  c.options.integrator = "rk4";
  c.options.step = 0.01;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "wheel");
  gradient_case_close(&c);
  assert_close(psi[0], x[0], 1e-12);
  assert_close(psi[1], x[1], 1e-12);
  integrate(false, 5e-4, fine);
  integrate(true, 5e-4, finer);
  for (int i = 0; i < 2; i++) {
    assert_close(fine[i], limit[i], 1e-10);
    assert_close(finer[i], limit[i], 1e-10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fixed), cmocka_unit_test(test_turning)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
