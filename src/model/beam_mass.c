#include "model/beam_mass.h"

static const double diagonal[3][6] = {{1, 1, 1, 0, 0, 0}, {0, 0, 0, 1, 1, 0}, {0, 0, 0, 1, 0, 1}};

/* ---------------------------------------------------------------------- interpolation of the twist */

/* independent of xi: T^-1(d0), T(d0), Ad(exp(-d0)) */
typedef struct {
  const real *d0;
  real Ti[36], T[36], A[36];
} reference;

/* Q (6 x 12) at xi and its six derivatives by d0 */
typedef struct {
  real Q[72], Q_d[6][72];
} twist;

static void column(const real M[36], int j, real out[6]) {
  for (int i = 0; i < 6; i++) {
    out[i] = M[6 * i + j];
  }
}

/* d(S y)/dd0 = xi (xi d(T(xi d0) z) + T(xi d0) d(T^-1(d0) y)) with z = T^-1(d0) y held */
static void S_by_d0(const reference *r, double xi, const real hx[6], const real Tx[36], const real y[6], real D[36]) {
  real z[6], B[36];
  m6_mulv(z, r->Ti, y);
  mbg__se3_dtangent_inv(B, r->d0, y);
  m6_mul(D, Tx, B);
  mbg__se3_dtangent(B, hx, z);
  m6_axpy(D, xi, B);
  m6_scale(D, xi, D);
}

/* d(Ad(exp(-h)) y) = ad(Ad(exp(-h)) y) T(h) dh */
static void Ad_by_h(const real Ay[6], const real T[36], real D[36]) {
  real B[36];
  mbg__ad_matrix(B, Ay);
  m6_mul(D, B, T);
}

static void store(twist *q, int col, const real D[36], real s) {
  for (int k = 0; k < 6; k++) {
    for (int i = 0; i < 6; i++) {
      q->Q_d[k][12 * i + col] += s * D[6 * i + k];
    }
  }
}

static void twist_at(const reference *r, double xi, twist *q) {
  real hx[6], Tx[36], Ax[36], S[36], SA[36], B[36], D[36], y[6];
  mbg__frame E;
  v6_scale(hx, xi, r->d0);
  mbg__se3_exp(&E, hx);
  mbg__AdInv_matrix(Ax, &E);
  mbg__se3_tangent(Tx, hx);
  m6_mul(S, Tx, r->Ti);
  m6_scale(S, xi, S);
  m6_mul(SA, S, r->A);
  *q = (twist){0};
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      q->Q[12 * i + j] = Ax[6 * i + j] - SA[6 * i + j];
      q->Q[12 * i + 6 + j] = S[6 * i + j];
    }
  }
  for (int j = 0; j < 6; j++) {
    /* side B: S e_j */
    real e[6] = {0};
    e[j] = 1;
    S_by_d0(r, xi, hx, Tx, e, D);
    store(q, 6 + j, D, 1);
    /* side A: Ad(exp(-xi d0)) e_j - S Ad(exp(-d0)) e_j */
    column(Ax, j, y);
    Ad_by_h(y, Tx, D);
    store(q, j, D, xi);
    column(r->A, j, y);
    S_by_d0(r, xi, hx, Tx, y, D);
    store(q, j, D, -1);
    Ad_by_h(y, r->T, D);
    m6_mul(B, S, D);
    store(q, j, B, -1);
  }
}

/* ---------------------------------------------------------------------- matrices */

/* N += c P^T D Q */
static void add_product(real N[144], real c, const real P[72], const double D[6], const real Q[72]) {
  for (int k = 0; k < 6; k++) {
    for (int i = 0; D[k] != 0 && i < 12; i++) {
      vn_axpy(12, N + 12 * i, c * D[k] * P[12 * k + i], Q + 12 * k);
    }
  }
}

/* integrals over xi: three points of Gauss, exact for a straight element */
static void consistent(const real d0[6], real L, real N[3][144], real N_d[6][3][144]) {
  static const double points[3] = {0.5 - 0.38729833462074168852, 0.5, 0.5 + 0.38729833462074168852};
  static const double weights[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  reference r = {.d0 = d0};
  mbg__frame E;
  mbg__se3_exp(&E, d0);
  mbg__AdInv_matrix(r.A, &E);
  mbg__se3_tangent(r.T, d0);
  mbg__se3_tangent_inv(r.Ti, d0);
  for (int g = 0; g < 3; g++) {
    twist q;
    const real c = weights[g] * L;
    twist_at(&r, points[g], &q);
    for (int j = 0; j < 3; j++) {
      add_product(N[j], c, q.Q, diagonal[j], q.Q);
      for (int k = 0; k < 6; k++) {
        add_product(N_d[k][j], c, q.Q_d[k], diagonal[j], q.Q);
        add_product(N_d[k][j], c, q.Q, diagonal[j], q.Q_d[k]);
      }
    }
  }
}

static void lump(real L, real N[3][144]) {
  for (int j = 0; j < 3; j++) {
    for (int i = 0; i < 12; i++) {
      N[j][13 * i] = L / 2 * diagonal[j][i % 6];
    }
  }
}

void mbg__beam_mass(const real d0[6], bool lumped, real N[3][144], real N_d[6][3][144]) {
  const real L = v3_norm(d0);
  vn_zero(3 * 144, N[0]);
  vn_zero(18 * 144, N_d[0][0]);
  if (lumped) {
    lump(L, N);
  } else {
    consistent(d0, L, N, N_d);
  }
  /* the factor L */
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < 3; j++) {
      vn_axpy(144, N_d[k][j], d0[k] / (L * L), N[j]);
    }
  }
}
