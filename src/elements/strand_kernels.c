#include "elements/strand_kernels.h"

#include "elements/angle_kernels.h"

#include <string.h>

/* ---------------------------------------------------------------------- angles */

/* angle of (c, s), measured from the half-axis number `quarters` */
static real angle_of(real c, real s, int quarters) {
  const real turned[4][2] = {{c, s}, {s, -c}, {-c, -s}, {-s, c}};
  const real *t = turned[((quarters % 4) + 4) % 4];
  return r_atan2(t[1], t[0]) + quarters * (M_PI / 2);
}

void mbg__strand_bearing(const real *z, int quarters, int order, mbg__jet3 *out) {
  mbg__angle_value(z, 0, order, out);
  out->F = angle_of(z[0], z[1], quarters);
}

void mbg__strand_angle(const real *z, int quarters, int order, mbg__jet3 *out) {
  mbg__jet3 a;
  memset(&a, 0, sizeof(a));
  mbg__strand_bearing(z, quarters, order, &a);
  out->F = z[2] * a.F;
  out->F_z[2] = a.F;
  for (int i = 0; i < 2 && order >= 1; i++) {
    out->F_z[i] = z[2] * a.F_z[i];
    out->F_zz[i][2] = out->F_zz[2][i] = a.F_z[i];
    for (int j = 0; j < 2 && order >= 2; j++) {
      out->F_zz[i][j] = z[2] * a.F_zz[i][j];
      for (int k = 0; k < 2 && order >= 3; k++) {
        out->F_zzz[i][j][k] = z[2] * a.F_zzz[i][j][k];
      }
      if (order >= 3) {
        out->F_zzz[i][j][2] = out->F_zzz[i][2][j] = out->F_zzz[2][i][j] = a.F_zz[i][j];
      }
    }
  }
}

/* ---------------------------------------------------------------------- strands */

enum { X, Y, Z, RHO, N };

/* a function of z with two derivatives */
typedef struct {
  real v, g[N], h[N][N];
} jet2;

static jet2 variable(const real *z, int i) {
  jet2 a = {.v = z[i]};
  a.g[i] = 1;
  return a;
}

static jet2 times(const jet2 *a, const jet2 *b) {
  jet2 c = {.v = a->v * b->v};
  for (int i = 0; i < N; i++) {
    c.g[i] = a->v * b->g[i] + a->g[i] * b->v;
    for (int j = 0; j < N; j++) {
      c.h[i][j] = a->v * b->h[i][j] + a->h[i][j] * b->v + a->g[i] * b->g[j] + a->g[j] * b->g[i];
    }
  }
  return c;
}

static jet2 plus(const jet2 *a, double s, const jet2 *b) {
  jet2 c = {.v = a->v + s * b->v};
  for (int i = 0; i < N; i++) {
    c.g[i] = a->g[i] + s * b->g[i];
    for (int j = 0; j < N; j++) {
      c.h[i][j] = a->h[i][j] + s * b->h[i][j];
    }
  }
  return c;
}

/* (z_x^2 + z_y^2 - c rho^2)^p */
static jet2 power(const real *z, double c, double p) {
  const real q = z[X] * z[X] + z[Y] * z[Y] - c * z[RHO] * z[RHO];
  const double e[N] = {2, 2, 0, -2 * c};
  jet2 a = {.v = p == -1 ? 1 / q : 1 / r_sqrt(q)};
  const real f1 = p * a.v / q, f2 = (p - 1) * f1 / q;
  for (int i = 0; i < N; i++) {
    a.g[i] = f1 * e[i] * z[i];
    a.h[i][i] = f1 * e[i];
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      a.h[i][j] += f2 * e[i] * z[i] * e[j] * z[j];
    }
  }
  return a;
}

/* slopes of alpha:  alpha_x = -(y + rho x/s)/u,  alpha_y = (x - rho y/s)/u,  alpha_rho = 1/s,  u = x^2 + y^2,
   s^2 = u - rho^2 */
static void direction_slopes(const real *z, jet2 slope[N]) {
  const jet2 x = variable(z, X), y = variable(z, Y), rho = variable(z, RHO);
  const jet2 a = power(z, 0, -1), b = power(z, 1, -0.5), rho_b = times(&rho, &b);
  const jet2 rx = times(&rho_b, &x), ry = times(&rho_b, &y), up = plus(&y, 1, &rx), right = plus(&x, -1, &ry);
  const jet2 zero = {0}, down = plus(&zero, -1, &up);
  slope[X] = times(&down, &a);
  slope[Y] = times(&right, &a);
  slope[Z] = zero;
  slope[RHO] = b;
}

/* S with S^2 = x^2 + y^2 + z^2 - rho^2:  S S_i = e_i z_i,  and so on */
static void add_free_part(const real *z, int order, mbg__jet3 *out) {
  static const double e[N] = {1, 1, 1, -1};
  const real S = r_sqrt(v3_dot(z, z) - z[RHO] * z[RHO]);
  real S1[N], S2[N][N];
  out->F += S;
  for (int i = 0; i < N; i++) {
    S1[i] = e[i] * z[i] / S;
    out->F_z[i] += S1[i];
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      S2[i][j] = ((i == j) * e[i] - S1[i] * S1[j]) / S;
      out->F_zz[i][j] += S2[i][j];
    }
  }
  for (int i = 0; i < N && order >= 3; i++) {
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < N; k++) {
        out->F_zzz[i][j][k] -= (S2[i][j] * S1[k] + S2[i][k] * S1[j] + S2[j][k] * S1[i]) / S;
      }
    }
  }
}

/* rho alpha */
static void add_arcs(const real *z, real alpha, int order, mbg__jet3 *out) {
  jet2 a[N];
  direction_slopes(z, a);
  out->F += z[RHO] * alpha;
  out->F_z[RHO] += alpha;
  for (int i = 0; i < N; i++) {
    out->F_z[i] += z[RHO] * a[i].v;
    out->F_zz[i][RHO] += a[i].v;
    out->F_zz[RHO][i] += a[i].v;
    for (int j = 0; j < N; j++) {
      out->F_zz[i][j] += z[RHO] * a[i].g[j];
      for (int k = 0; k < N && order >= 3; k++) {
        out->F_zzz[i][j][k] += z[RHO] * a[i].h[j][k];
      }
      if (order >= 3) {
        out->F_zzz[i][j][RHO] += a[i].g[j];
        out->F_zzz[i][RHO][j] += a[i].g[j];
        out->F_zzz[RHO][i][j] += a[i].g[j];
      }
    }
  }
}

real mbg__strand_direction(const real *z, int quarters, bool back) {
  const real s = r_sqrt(z[X] * z[X] + z[Y] * z[Y] - z[RHO] * z[RHO]);
  return angle_of(z[X], z[Y], quarters) + r_atan2(z[RHO], s) + (back ? M_PI : 0);
}

/* where the pulleys overlap there is no tangent: the caller says so, and the value is 0 */
static void strand(const real *z, int quarters, bool back, int order, mbg__jet3 *out) {
  if (!(re(z[X] * z[X] + z[Y] * z[Y] - z[RHO] * z[RHO]) > 0)) {
    return;
  }
  add_free_part(z, order, out);
  add_arcs(z, mbg__strand_direction(z, quarters, back), order, out);
}

void mbg__strand_out(const real *z, int quarters, int order, mbg__jet3 *out) { strand(z, quarters, false, order, out); }

void mbg__strand_back(const real *z, int quarters, int order, mbg__jet3 *out) { strand(z, quarters, true, order, out); }
