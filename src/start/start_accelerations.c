/* Initial accelerations and multipliers, and freedoms without inertia. */
#include "start/start.h"

#include "system/saddle.h"
#include "system/system_internal.h"

static const double shift = 1e-15;           /* of the mass matrix in the search for freedoms without inertia */
static const double massless_limit = 1e-14;  /* inertia of a freedom relative to the largest one */
static const double inertia_certain = 1e-12; /* ... that a proof by single bodies asks for */

typedef struct {
  mbg_context *ctx;
  const mbg_model *m;
  mbg__system *sys;
  const mbg__rank *rank;
  mbg__saddle saddle;
  real *M, *B;    /* values by the patterns of the system */
  real *x;        /* right-hand side and solution                      (n) */
  real *r, *row;  /* residuals                                         (nw, nrow) */
  double *W;      /* metric: 1 for translation, size^2 for rotation    (nv) */
  double inertia; /* largest entry of the diagonal of M in that metric */
} motion;

/* ---------------------------------------------------------------------- the matrix */

static int prepare(motion *q, mbg__arena *arena) {
  const mbg_model *m = q->m;
  const mbg__csc *P = mbg__system_pattern_K(q->sys);
  q->M = MBG_TAKE(arena, real, mbg__csc_count(P));
  q->B = MBG_TAKE(arena, real, mbg__csc_count(mbg__system_pattern_B(q->sys)));
  q->x = MBG_TAKE(arena, real, m->nv + m->nrow);
  q->r = MBG_TAKE(arena, real, m->nw);
  q->row = MBG_TAKE(arena, real, m->nrow);
  q->W = MBG_TAKE(arena, double, m->nv);
  if (mbg__arena_check(q->ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__system_matrices(q->sys, &(mbg__matrices){.M = q->M, .B = q->B});
  mbg__metric_free(m, q->W);
  for (int j = 0; j < m->nv; j++) {
    for (int e = P->colptr[j]; e < P->colptr[j + 1]; e++) {
      q->inertia = P->rowind[e] == j ? fmax(q->inertia, re(q->M[e]) / q->W[j]) : q->inertia;
    }
  }
  return mbg__saddle_create(q->ctx, arena, q->sys, 0, NULL, MBG__KLU_FRESH, &q->saddle);
}

/* factors [[M + extra W, B^T], [B, 0]] on the kept rows */
static int factor(motion *q, double extra) {
  mbg__saddle_clear(&q->saddle);
  mbg__saddle_add_K(&q->saddle, 1, q->M);
  mbg__saddle_add_metric(&q->saddle, extra);
  mbg__saddle_add_rows(&q->saddle, q->B, q->B, q->rank->keep, NULL);
  return mbg__saddle_factor(q->ctx, &q->saddle, "initial accelerations");
}

/* ---------------------------------------------------------------------- freedoms without inertia */

static double length_W(const motion *q) {
  double l2 = 0;
  for (int j = 0; j < q->m->nv; j++) {
    l2 += re(q->x[j]) * re(q->x[j]) * q->W[j];
  }
  return sqrt(l2);
}

/* x^T M x of the motion in x */
static double inertia_of(const motion *q) {
  const mbg__csc *P = mbg__system_pattern_K(q->sys);
  double e2 = 0;
  for (int j = 0; j < q->m->nv; j++) {
    for (int e = P->colptr[j]; e < P->colptr[j + 1]; e++) {
      e2 += re(q->x[P->rowind[e]] * q->M[e] * q->x[j]);
    }
  }
  return e2;
}

/* the first of the bodies that move most */
static int body_of(const motion *q) {
  const mbg_model *m = q->m;
  int best = 0;
  double most = 0;
  for (int b = 0; b < m->nbody; b++) {
    for (int k = 0; k < m->bodies[b].nvel; k++) {
      const int j = m->dof[m->bodies[b].voff + k];
      const double x = j >= 0 ? fabs(re(q->x[j])) * sqrt(q->W[j]) : 0;
      if (x > most * (1 + 1e-6)) {
        most = x;
        best = b;
      }
    }
  }
  return best;
}

/* is M - least W positive definite on the free velocities of a body? By elimination. */
static bool body_has_inertia(const mbg__system *s, int body, double least) {
  const real *M = s->design->M + 36 * (size_t)body;
  const int n = s->nfree[body], *at = s->free_[body];
  double A[6][6];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      A[i][j] = re(M[6 * at[i] + at[j]]) - (i == j ? least * mbg__metric(s->model, at[i]) : 0);
    }
  }
  for (int k = 0; k < n; k++) {
    if (!(A[k][k] > 0)) {
      return false;
    }
    for (int i = k + 1; i < n; i++) {
      for (int j = k + 1; j < n; j++) {
        A[i][j] -= A[i][k] * A[k][j] / A[k][k];
      }
    }
  }
  return true;
}

bool mbg__start_has_inertia(const mbg__system *s) {
  const mbg_model *m = s->model;
  double largest = 0;
  for (int b = 0; b < m->nbody; b++) {
    for (int i = 0; i < s->nfree[b]; i++) {
      const int k = s->free_[b][i];
      largest = fmax(largest, re(s->design->M[36 * (size_t)b + (size_t)(7 * k)]) / mbg__metric(m, k));
    }
  }
  bool all = m->nelement == 0 && m->nmodal == 0;
  for (int b = 0; all && b < m->nbody; b++) {
    all = body_has_inertia(s, b, inertia_certain * largest);
  }
  return all;
}

/* inverse iteration on the motions that the rows allow: the one with the least inertia */
static int find_massless(motion *q, int *body) {
  int err = MBG_OK;
  if (q->m->nv == q->rank->nkept || mbg__start_has_inertia(q->sys)) {
    return MBG_OK;
  }
  MBG_TRY(factor(q, shift * (q->inertia > 0 ? q->inertia : 1)));
  for (int j = 0; j < q->m->nv; j++) {
    q->x[j] = (1 + 0.37 * sin(1.7 * j)) / sqrt(q->W[j]);
  }
  for (int it = 0; it < 4; it++) {
    const double l = length_W(q);
    for (int j = 0; j < q->m->nv; j++) {
      q->x[j] *= q->W[j] / l;
    }
    vn_zero(q->m->nrow, q->x + q->m->nv);
    mbg__klu_solve(q->saddle.klu, q->x, 1);
  }
  const double l = length_W(q);
  if (!(inertia_of(q) > massless_limit * q->inertia * l * l)) {
    *body = body_of(q);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- accelerations */

/* adds the solution for the residual at (vd, lambda), which belong to the state */
static int improve(motion *q, const mbg__state *state, real *vd, real *lambda) {
  const mbg_model *m = q->m;
  const int err = mbg__system_update(q->ctx, q->sys, state);
  if (err < 0) {
    return err;
  }
  mbg__system_residual(q->sys, q->r, NULL, NULL, q->row, NULL);
  mbg__to_free(m, -1, q->r, q->x);
  for (int i = 0; i < m->nrow; i++) {
    q->x[m->nv + i] = q->rank->keep[i] ? -q->row[i] : 0;
  }
  mbg__saddle_solve(&q->saddle, false, mbg__rank_close(q->rank), q->x, 1);
  for (int j = 0; j < m->nv; j++) {
    vd[m->full[j]] += q->x[j];
  }
  for (int i = 0; i < m->nrow; i++) {
    lambda[i] += q->x[m->nv + i];
  }
  return MBG_OK;
}

int mbg__start_accelerations(mbg_context *ctx, mbg__system *sys, const mbg__start_result *start, real *vd, real *lambda,
                             int *massless) {
  motion q = {.ctx = ctx, .m = mbg__system_model(sys), .sys = sys, .rank = start->rank};
  mbg__state state = {
      .t = start->t, .H = start->H, .v = start->v, .vd = vd, .lambda = lambda, .turns = start->turns, .early = true};
  mbg__arena arena;
  int err = MBG_OK;
  *massless = -1;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  vn_zero(q.m->nw, vd);
  vn_zero(q.m->nrow, lambda);
  MBG_TRY(mbg__system_update(ctx, sys, &state));
  if (q.m->nv == 0) {
    goto done;
  }
  MBG_TRY(prepare(&q, &arena));
  MBG_TRY(find_massless(&q, massless));
  if (*massless >= 0) {
    goto done;
  }
  MBG_TRY(factor(&q, 0));
  /* linear: the second pass refines */
  for (int pass = 0; pass < 2; pass++) {
    MBG_TRY(improve(&q, &state, vd, lambda));
    state.early = false; /* late rates belong to the accelerations of the first pass */
  }
  MBG_TRY(mbg__system_update(ctx, sys, &state));
done:
  mbg__saddle_destroy(&q.saddle);
  mbg__arena_destroy(&arena);
  return err;
}
