/* The Jacobian of the state equations from the derivatives of the orthogonal factors, as the paper forms it (theory 1,
   section 5):

     (Q1) dQ2 = -N dB Q2        (Q2) dN = -N dB N + P dB^T N^T N        P = Q2 Q2^T

     v* = P v - N phi_t                       dv* = (dQ2 Q2^T + Q2 dQ2^T) v + P dv - dN phi_t - N dphi_t
     a  = Q2 x - N gam,  Mr x = Q2^T u        da  = dQ2 x + Q2 dx - dN gam - N dgam
     u  = f + M N gam                         Mr dx = dQ2^T u + Q2^T du - (dQ2^T M Q2 + Q2^T M dQ2) x
                                              du = df - dM a + M (dN gam + N dgam)

   dM: the inertia of modal bodies depends on their coordinates.
   Matrices are column-major. dB needs the second derivatives of all constraints, column by column. */
#include "bench/study/study_internal.h"

#include <string.h>

int study_factors_prepare(mbg_context *ctx, study *s) {
  const mbg_model *m = s->w->m;
  const size_t n = (size_t)s->n, r = (size_t)s->r, f = (size_t)s->f;
  mbg__arena *a = &s->arena;
  s->B = MBG_TAKE(a, double, mbg__csc_count(mbg__system_pattern_B(s->w->flow->sys)));
  s->Q2 = MBG_TAKE(a, double, n *f);
  s->N = MBG_TAKE(a, double, n *r);
  s->M = MBG_TAKE(a, double, n *n);
  s->MQ2 = MBG_TAKE(a, double, n *f);
  s->dB = MBG_TAKE(a, double, n *n *r);
  s->dphi_t = MBG_TAKE(a, double, n *r);
  s->df = MBG_TAKE(a, double, 2 * n * n);
  s->dgam = MBG_TAKE(a, double, 2 * n * r);
  s->dQ2 = MBG_TAKE(a, double, n *f);
  s->dN = MBG_TAKE(a, double, n *r);
  s->parts = MBG_TAKE(a, double, 6 * n + 2 * r);
  s->square = MBG_TAKE(a, double, n *n + 2 * n);
  s->small = MBG_TAKE(a, double, n *n);
  s->third = MBG_TAKE(a, double, n *n);
  s->vectors = MBG_TAKE(a, double, 3 * n);
  s->full = MBG_TAKE(a, double, m->nw);
  s->full2 = MBG_TAKE(a, double, m->nw);
  s->rows = MBG_TAKE(a, double, m->nrow);
  s->rows2 = MBG_TAKE(a, double, m->nrow);
  if (!s->B || !s->Q2 || !s->N || !s->M || !s->MQ2 || !s->dB || !s->dphi_t || !s->df || !s->dgam || !s->dQ2 || !s->dN ||
      !s->parts || !s->square || !s->small || !s->third || !s->vectors || !s->full || !s->full2 || !s->rows ||
      !s->rows2 || mbg__householder_prepare(&s->qr, a, s->n, s->r) < 0 || mbg__cholesky_prepare(&s->Mr, a, s->f) < 0) {
    return mbg__fail_memory(ctx);
  }
  return study_algorithm_prepare(ctx, s);
}

/* ---------------------------------------------------------------------- small matrices */

/* C (m x n) = c A B, A m x k, B k x n; _T: A is stored as k x m; add: C += */
static void product(int m, int n, int k, double c, const double *A, bool A_T, const double *B, bool B_T, bool add,
                    double *C) {
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < m; i++) {
      double sum = 0;
      for (int l = 0; l < k; l++) {
        sum += (A_T ? A[l + k * i] : A[i + m * l]) * (B_T ? B[j + n * l] : B[l + k * j]);
      }
      C[i + m * j] = (add ? C[i + m * j] : 0) + c * sum;
    }
  }
}

static void free_of(const study *s, double c, const double *full, double *x) {
  for (int j = 0; j < s->n; j++) {
    x[j] = c * full[s->w->m->full[j]];
  }
}

static void kept_of(const study *s, const double *rows, double *k) {
  const mbg__rank *rank = mbg__start_result_of(s->w->start)->rank;
  for (int i = 0; i < s->r; i++) {
    k[i] = rows[rank->kept[i]];
  }
}

/* ---------------------------------------------------------------------- derivatives of the parts */

/* full vector with a one in the place of free velocity k */
static const double *unit(study *s, int k) {
  memset(s->full, 0, (size_t)s->w->m->nw * sizeof(double));
  s->full[s->w->m->full[k]] = 1;
  return s->full;
}

/* dphid of every direction at the twist v (NULL: 0), kept rows, stored with a stride */
static int rates_by_frames(mbg_context *ctx, study *s, const double *v, double *out, size_t stride) {
  const mbg__qr_flow *f = s->w->flow;
  const mbg__state state = {.t = f->t, .H = f->H, .v = v, .turns = f->turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update_bare(ctx, s->w->flow->sys, &state));
  MBG_TRY(mbg__system_linearize(ctx, s->w->flow->sys));
  for (int k = 0; k < s->n; k++) {
    const mbg__direction d = {.w = unit(s, k)};
    mbg__system_push(s->w->flow->sys, &d, NULL, s->rows2, s->rows, NULL);
    if (!v) {
      vn_axpy(f->m->nrow, s->rows, s->w->plan.stabilization, s->rows2);
    }
    kept_of(s, s->rows, out + (size_t)k * stride);
  }
done:
  return err;
}

/* dB of every direction: the change of B e_j for every j */
static int jacobian_by_frames(mbg_context *ctx, study *s) {
  const size_t n = (size_t)s->n, r = (size_t)s->r;
  int err = MBG_OK;
  MBG_TRY(rates_by_frames(ctx, s, NULL, s->dphi_t, r));
  for (size_t j = 0; j < n; j++) {
    memset(s->full2, 0, (size_t)s->w->m->nw * sizeof(double));
    s->full2[s->w->m->full[j]] = 1;
    MBG_TRY(rates_by_frames(ctx, s, s->full2, s->dB + r * j, r * n));
    for (size_t k = 0; k < n; k++) {
      vn_axpy(s->r, s->dB + r * j + r * n * k, -1, s->dphi_t + r * k);
    }
  }
done:
  return err;
}

/* f, gam, phi_t at (H, v), df and dgam of every direction; B and M */
static int parts(mbg_context *ctx, study *s, double *F, double *gam, double *phi_t) {
  const mbg__qr_flow *f = s->w->flow;
  mbg__system *sys = s->w->flow->sys;
  const mbg__state state = {.t = f->t, .H = f->H, .v = f->v, .turns = f->turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(ctx, sys, &state));
  mbg__system_residual(sys, s->full2, s->rows, NULL, NULL, NULL);
  free_of(s, -1, s->full2, F);
  mbg__system_B_mul(sys, f->v, s->rows2);
  vn_scale(f->m->nrow, s->rows, s->w->plan.stabilization, s->rows);
  vn_axpy(f->m->nrow, s->rows, -1, s->rows2);
  mbg__system_residual(sys, NULL, NULL, s->rows2, NULL, NULL);
  vn_axpy(f->m->nrow, s->rows, 1, s->rows2);
  kept_of(s, s->rows, phi_t);
  mbg__system_residual(sys, NULL, NULL, NULL, NULL, s->rows);
  kept_of(s, s->rows, gam);
  MBG_TRY(mbg__system_linearize(ctx, sys));
  mbg__system_matrices(sys, &(mbg__matrices){.B = s->B});
  for (int k = 0; k < 2 * s->n; k++) {
    const double *e = unit(s, k % s->n);
    const mbg__direction d = {.w = k < s->n ? e : NULL, .dv = k < s->n ? NULL : e};
    mbg__system_push(sys, &d, s->full2, NULL, NULL, s->rows);
    free_of(s, -1, s->full2, s->df + (size_t)k * (size_t)s->n);
    kept_of(s, s->rows, s->dgam + (size_t)k * (size_t)s->r);
  }
  for (int k = 0; k < s->n; k++) {
    mbg__system_mass_mul(sys, unit(s, k), s->full2);
    free_of(s, 1, s->full2, s->M + (size_t)k * (size_t)s->n);
  }
done:
  return err;
}

/* df - dM a of every direction of the frames, for df */
static int masses_by_frames(mbg_context *ctx, study *s) {
  const mbg__qr_flow *f = s->w->flow;
  mbg__system *sys = s->w->flow->sys;
  const mbg__state state = {.t = f->t, .H = f->H, .v = f->v, .vd = f->a, .turns = f->turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(ctx, sys, &state));
  MBG_TRY(mbg__system_linearize(ctx, sys));
  for (int k = 0; k < s->n; k++) {
    const mbg__direction d = {.w = unit(s, k)};
    mbg__system_push(sys, &d, s->full2, NULL, NULL, NULL);
    free_of(s, -1, s->full2, s->df + (size_t)k * (size_t)s->n);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- factors */

void study_fill_B_T(const study *s, double *A) {
  const mbg__csc *p = mbg__system_pattern_B(s->w->flow->sys);
  const mbg__rank *rank = mbg__start_result_of(s->w->start)->rank;
  memset(A, 0, (size_t)s->n * (size_t)s->r * sizeof(double));
  for (int j = 0; j < s->n; j++) {
    for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
      for (int i = 0; i < s->r; i++) {
        if (rank->kept[i] == p->rowind[e]) {
          A[j + s->n * i] = s->B[e];
        }
      }
    }
  }
}

/* Q2, N = Q1 R^-T */
static void decompose(study *s) {
  const int n = s->n, r = s->r, f = s->f;
  study_fill_B_T(s, s->qr.A);
  mbg__householder_factor(&s->qr);
  memset(s->Q2, 0, (size_t)n * (size_t)f * sizeof(double));
  memset(s->N, 0, (size_t)n * (size_t)r * sizeof(double));
  for (int k = 0; k < f; k++) {
    s->Q2[r + k + n * k] = 1;
  }
  for (int k = 0; k < r; k++) {
    s->N[k + n * k] = 1;
    mbg__householder_solve_T(&s->qr, s->N + (size_t)n * (size_t)k);
  }
  mbg__householder_mul(&s->qr, s->Q2, f);
  mbg__householder_mul(&s->qr, s->N, r);
}

/* Q2, N, Mr = Q2^T M Q2 */
static int factor(mbg_context *ctx, study *s) {
  const int n = s->n, f = s->f;
  if (s->kind == STUDY_ALGORITHM) {
    study_algorithm(s, NULL);
  } else {
    decompose(s);
  }
  product(n, f, n, 1, s->M, false, s->Q2, false, false, s->MQ2);
  product(f, f, n, 1, s->Q2, true, s->MQ2, false, false, s->Mr.A);
  return mbg__cholesky_factor(&s->Mr, NULL) < 0
             ? mbg__fail(ctx, MBG_ERROR_SINGULAR, "t = %g: a freedom has no mass", s->w->flow->t)
             : MBG_OK;
}

/* (Q1), (Q2); P dB^T N^T N = Q2 (Q2^T dB^T) (N^T N) */
static void factor_derivatives(study *s, const double *dB) {
  const int n = s->n, r = s->r, f = s->f;
  double *dBQ = s->square, *dBN = s->small, *NN = s->third;
  product(r, f, n, 1, dB, false, s->Q2, false, false, dBQ);
  product(n, f, r, -1, s->N, false, dBQ, false, false, s->dQ2);
  product(r, r, n, 1, dB, false, s->N, false, false, dBN);
  product(n, r, r, -1, s->N, false, dBN, false, false, s->dN);
  product(r, r, n, 1, s->N, true, s->N, false, false, NN);
  product(f, r, r, 1, dBQ, true, NN, false, false, dBN);
  product(n, r, f, 1, s->Q2, false, dBN, false, true, s->dN);
}

/* ---------------------------------------------------------------------- columns */

/* what all columns share */
typedef struct {
  const double *v, *F, *gam, *phi_t, *u, *x, *lam, *a;
} shared;

/* vector of n, or f, or r, times a matrix: out (+)= c A x */
static void times(int m, int k, double c, const double *A, bool A_T, const double *x, bool add, double *out) {
  product(m, 1, k, c, A, A_T, x, false, add, out);
}

/* dx and da from du (n, lost), dN gam + N dgam in g; dQ2: NULL for twists */
static void acceleration(study *s, const shared *p, const double *dQ2, double *du, const double *g, double *da) {
  const int n = s->n, f = s->f;
  double *dx = s->small, *y = s->square;
  times(n, n, 1, s->M, false, g, true, du);
  times(f, n, 1, s->Q2, true, du, false, dx);
  if (dQ2) {
    times(f, n, 1, dQ2, true, p->u, true, dx);
    times(n, f, 1, s->MQ2, false, p->x, false, y);
    times(f, n, -1, dQ2, true, y, true, dx);
    times(n, f, 1, dQ2, false, p->x, false, y);
    times(n, n, 1, s->M, false, y, false, y + n);
    times(f, n, -1, s->Q2, true, y + n, true, dx);
  }
  mbg__cholesky_solve(&s->Mr, dx, 1);
  times(n, f, 1, s->Q2, false, dx, false, da);
  if (dQ2) {
    times(n, f, 1, dQ2, false, p->x, true, da);
  }
  vn_axpy(n, da, -1, g);
}

/* dlambda = -dlam = -(dN^T (M a - f) + N^T (M da - df)), the core's sign */
static void multiplier(study *s, const double *dN, const shared *p, const double *df, const double *da, double *out) {
  const int n = s->n, r = s->r;
  double *y = s->square;
  times(n, n, 1, s->M, false, da, false, y);
  vn_axpy(n, y, -1, df);
  times(r, n, -1, s->N, true, y, false, out);
  if (dN) {
    times(r, n, -1, dN, true, p->lam, true, out);
  }
}

static void frame_column(study *s, const shared *p, int k, double *out) {
  const int n = s->n, r = s->r, f = s->f;
  const double *df = s->df + (size_t)n * (size_t)k;
  double *y = s->vectors, *g = y + n, *du = g + n;
  const double *dB = s->dB + (size_t)r * (size_t)n * (size_t)k;
  if (s->kind == STUDY_ALGORITHM) {
    study_algorithm(s, dB);
  } else {
    factor_derivatives(s, dB);
  }
  /* dv* */
  times(f, n, 1, s->Q2, true, p->v, false, y);
  times(n, f, 1, s->dQ2, false, y, false, out);
  times(f, n, 1, s->dQ2, true, p->v, false, y);
  times(n, f, 1, s->Q2, false, y, true, out);
  times(n, r, -1, s->dN, false, p->phi_t, true, out);
  times(n, r, -1, s->N, false, s->dphi_t + (size_t)r * (size_t)k, true, out);
  /* da, dlambda */
  times(n, r, 1, s->dN, false, p->gam, false, g);
  times(n, r, 1, s->N, false, s->dgam + (size_t)r * (size_t)k, true, g);
  vn_copy(n, du, df);
  acceleration(s, p, s->dQ2, du, g, out + n);
  multiplier(s, s->dN, p, df, out + n, out + 2 * n);
}

static void twist_column(study *s, const shared *p, int k, double *out) {
  const int n = s->n, r = s->r, f = s->f;
  const double *df = s->df + (size_t)n * (size_t)(n + k);
  double *y = s->vectors, *g = y + n, *du = g + n;
  /* dv* = P e_k: row k of Q2 */
  for (int i = 0; i < f; i++) {
    y[i] = s->Q2[k + n * i];
  }
  times(n, f, 1, s->Q2, false, y, false, out);
  times(n, r, 1, s->N, false, s->dgam + (size_t)r * (size_t)(n + k), false, g);
  vn_copy(n, du, df);
  acceleration(s, p, NULL, du, g, out + n);
  multiplier(s, NULL, p, df, out + n, out + 2 * n);
}

int study_factors(mbg_context *ctx, study *s) {
  const int n = s->n, r = s->r;
  const size_t height = 2 * (size_t)n + (size_t)r;
  double *v = s->parts, *F = v + n, *u = F + n, *x = u + n, *lam = x + n, *a = lam + n, *gam = a + n, *phi_t = gam + r;
  const shared p = {.v = v, .F = F, .gam = gam, .phi_t = phi_t, .u = u, .x = x, .lam = lam, .a = a};
  int err = MBG_OK;
  MBG_TRY(parts(ctx, s, F, gam, phi_t));
  MBG_TRY(factor(ctx, s));
  MBG_TRY(jacobian_by_frames(ctx, s));
  MBG_TRY(s->w->m->nmodal > 0 ? masses_by_frames(ctx, s) : MBG_OK);
  free_of(s, 1, s->w->flow->v, v);
  free_of(s, 1, s->w->flow->a, a);
  /* u = f + M N gam, x = Mr^-1 Q2^T u, and M a - f */
  times(n, r, 1, s->N, false, gam, false, lam);
  times(n, n, 1, s->M, false, lam, false, u);
  vn_axpy(n, u, 1, F);
  times(s->f, n, 1, s->Q2, true, u, false, x);
  mbg__cholesky_solve(&s->Mr, x, 1);
  times(n, n, 1, s->M, false, a, false, lam);
  vn_axpy(n, lam, -1, F);
  for (int k = 0; k < n; k++) {
    frame_column(s, &p, k, s->J + (size_t)k * height);
    twist_column(s, &p, k, s->J + (size_t)(n + k) * height);
  }
done:
  return err;
}
