#include "model/curve.h"

#include "math/dense.h"

#include <string.h>

/* ---------------------------------------------------------------------- products of functions of one variable */

/* writes v to all places of the derivative by the variables i, j, k */
static void spread(mbg__form *f, int n, const int v[3], real x) {
  if (n == 0) {
    f->f += x;
  } else if (n == 1) {
    f->g[v[0]] += x;
  } else if (n == 2) {
    f->h[v[0]][v[1]] += x;
    if (v[0] != v[1]) {
      f->h[v[1]][v[0]] += x;
    }
  } else {
    static const int turn[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int p = 0; p < 6; p++) {
      const int i = v[turn[p][0]], j = v[turn[p][1]], k = v[turn[p][2]];
      bool again = false;
      for (int q = 0; q < p; q++) {
        again = again || (v[turn[q][0]] == i && v[turn[q][1]] == j && v[turn[q][2]] == k);
      }
      if (!again) {
        f->t[i][j][k] += x;
      }
    }
  }
}

void mbg__form_add(mbg__form *f, int order, real c, int n, const mbg__factor *factor) {
  static const mbg__factor one = {.var = 0, .u = {1}};
  const mbg__factor *a = n > 0 ? &factor[0] : &one, *b = n > 1 ? &factor[1] : &one, *d = n > 2 ? &factor[2] : &one;
  for (int i = 0; i <= order; i++) {
    for (int j = 0; i + j <= order; j++) {
      for (int k = 0; i + j + k <= order; k++) {
        const real x = c * a->u[i] * b->u[j] * d->u[k];
        int v[3], m = 0;
        if (x == 0) {
          continue;
        }
        for (int e = 0; e < i; e++) {
          v[m++] = a->var;
        }
        for (int e = 0; e < j; e++) {
          v[m++] = b->var;
        }
        for (int e = 0; e < k; e++) {
          v[m++] = d->var;
        }
        spread(f, m, v, x);
      }
    }
  }
}

/* ---------------------------------------------------------------------- splines */

int mbg__spline_basis(int degree, int npoint, bool closed) { return closed ? npoint : npoint + degree - 1; }

/* the q + 1 uniform B-splines of degree q at u in [0, 1] of an interval:
   N_m <- ((u + q - m) N_m-1 + (m + 1 - u) N_m)/q */
static void basis(int degree, real u, real *b) {
  b[0] = 1;
  for (int q = 1; q <= degree; q++) {
    b[q] = 0;
    for (int m = q; m >= 0; m--) {
      b[m] = ((u + q - m) * (m > 0 ? b[m - 1] : 0) + (m + 1 - u) * b[m]) / q;
    }
  }
}

/* derivative k from the basis of degree p - k, by k differences:  N_m' = N_m-1 - N_m */
static void basis_derivative(int degree, int k, real u, real *b) {
  for (int m = 0; m <= degree; m++) {
    b[m] = 0;
  }
  if (k > degree) {
    return;
  }
  basis(degree - k, u, b);
  for (int q = degree - k + 1; q <= degree; q++) {
    for (int m = q; m >= 0; m--) {
      b[m] = (m > 0 ? b[m - 1] : 0) - (m < q ? b[m] : 0);
    }
  }
}

/* interval of s: closed ones go round, open ones end */
static int interval(const mbg__curve *c, double s) {
  const int i = (int)floor(s);
  if (c->closed) {
    return ((i % c->npoint) + c->npoint) % c->npoint;
  }
  return i < 0 ? 0 : i > c->npoint - 2 ? c->npoint - 2 : i;
}

void mbg__spline_at(const mbg__curve *c, real s, int *first, real B[4][MBG__CURVE_DEGREE + 1]) {
  const int i = interval(c, re(s));
  const real u = c->closed ? s - floor(re(s)) : s - i;
  *first = i;
  for (int k = 0; k < 4; k++) {
    basis_derivative(c->degree, k, u, B[k]);
  }
}

void mbg__spline_point(const mbg__curve *c, const real *D, real s, real r[3][4]) {
  real B[4][MBG__CURVE_DEGREE + 1];
  int first;
  mbg__spline_at(c, s, &first, B);
  memset(r, 0, 12 * sizeof(real));
  for (int m = 0; m <= c->degree; m++) {
    const real *d = D + (size_t)mbg__spline_index(c, first, m) * (size_t)c->dim;
    for (int x = 0; x < c->dim; x++) {
      for (int k = 0; k < 4; k++) {
        r[x][k] += B[k][m] * d[x];
      }
    }
  }
}

/* one equation of the interpolation: derivative k at the knot i of an open or closed spline */
static void equation(int degree, int nbasis, bool closed, int i, int last, int k, real *A, int row) {
  real b[MBG__CURVE_DEGREE + 1];
  const int at = closed || i < last ? i : last - 1;
  basis_derivative(degree, k, i - at, b);
  for (int m = 0; m <= degree; m++) {
    const int j = closed ? (at + m) % nbasis : at + m;
    A[(size_t)j * (size_t)nbasis + (size_t)row] += b[m]; /* by columns */
  }
}

int mbg__spline_matrix(mbg_context *ctx, mbg__arena *scratch, int degree, int npoint, bool closed, double *C) {
  const int n = mbg__spline_basis(degree, npoint, closed);
  mbg__lu lu;
  int row = 0;
  real *rhs = MBG_TAKE(scratch, real, (size_t)n * (size_t)npoint);
  if (mbg__lu_prepare(&lu, scratch, n) < 0 || !rhs) {
    return mbg__fail_memory(ctx);
  }
  memset(lu.A, 0, (size_t)n * (size_t)n * sizeof(*lu.A));
  for (int i = 0; i < npoint; i++) {
    rhs[(size_t)i * (size_t)n + (size_t)row] = 1;
    equation(degree, n, closed, i, npoint - 1, 0, lu.A, row++);
  }
  for (int k = (degree + 1) / 2; !closed && k < degree; k++) {
    equation(degree, n, false, 0, npoint - 1, k, lu.A, row++);
    equation(degree, n, false, npoint - 1, npoint - 1, k, lu.A, row++);
  }
  const int err = mbg__lu_factor(&lu, NULL);
  assert(err == MBG_OK); /* B-splines of odd degree interpolate at their knots */
  mbg__lu_solve(&lu, rhs, npoint);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < npoint; i++) {
      C[(size_t)j * (size_t)npoint + (size_t)i] = re(rhs[(size_t)i * (size_t)n + (size_t)j]);
    }
  }
  return err;
}

double mbg__curve_sample(const mbg__curve *c, int i) {
  return c->from + (c->to - c->from) * i / (c->closed ? MBG__CURVE_SAMPLES : MBG__CURVE_SAMPLES - 1);
}

/* the first normal lies in the plane of the tangent and of the axis it is farthest from */
void mbg__curve_triad(const real tangent[3], double triad[9]) {
  double t[3], *n = triad + 3, length = 0, dot;
  int least = 0;
  for (int i = 0; i < 3; i++) {
    t[i] = re(tangent[i]);
    length += t[i] * t[i];
  }
  for (int i = 0; i < 3; i++) {
    triad[i] = length > 0 ? t[i] / sqrt(length) : i == 0;
    least = fabs(triad[i]) < fabs(triad[least]) ? i : least;
  }
  dot = triad[least];
  for (int i = 0; i < 3; i++) {
    n[i] = ((i == least) - dot * triad[i]) / sqrt(1 - dot * dot);
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    triad[6 + i] = triad[j] * n[k] - triad[k] * n[j];
  }
}
