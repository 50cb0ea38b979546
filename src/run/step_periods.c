/* The shortest period of a model says nothing of its steps: bushings and beams have modes far above any step, which an
   implicit method damps and nobody misses. What counts is the energy in motions that the steps do not follow. With the
   accelerations a and rates v at the start, both along motions that the rows allow, and M x'' + K x = 0 linearized
   there, modes of frequency omega and their parts a_i, v_i (in the metric of M) come to the energies

     a_i^2/(2 omega_i^2)   and   v_i^2/2

   The sums over the modes faster than sigma = (2 pi/(10 h))^2 need no modes: one solution with K + sigma M weights the
   first by omega^2/(omega^2 + sigma), and the second alike:

     E = 1/2 a^T M S a + 1/2 v^T M (v - sigma S v)        S = (K + sigma M)^-1 M   with the rows */
#include "run/step_periods.h"

#include "system/forest.h"
#include "system/saddle.h"

#include <string.h>

enum { PRODUCTS = 12 }; /* of the power method */

typedef struct {
  mbg_context *ctx;
  const mbg_model *m;
  mbg__system *sys;
  const mbg__start_result *start;
  mbg__arena arena;
  mbg__forest *forest;    /* NULL: bodies are joined in another way */
  bool along;             /* it has the factors, else ... */
  mbg__saddle saddle;     /* ... made when it is needed */
  real *K, *C, *M, *B;    /* values by the patterns of the system */
  real *x;                /* right-hand side and solution        (nv + nrow) */
  real *vd, *lambda, *r;  /*                                     (nw, nrow, nw) */
  real *full;             /* scratch, 0 where nothing moves      (nw) */
  double *a, *v, *y, *My; /*                                     (nv) */
  double *W;              /* metric of the free velocities       (nv) */
} motion;

/* ---------------------------------------------------------------------- matrices */

static int take(motion *q) {
  const size_t nk = (size_t)mbg__csc_count(mbg__system_pattern_K(q->sys));
  mbg__arena *arena = &q->arena;
  q->K = MBG_TAKE(arena, real, nk);
  q->C = MBG_TAKE(arena, real, nk);
  q->M = MBG_TAKE(arena, real, nk);
  q->B = MBG_TAKE(arena, real, mbg__csc_count(mbg__system_pattern_B(q->sys)));
  q->x = MBG_TAKE(arena, real, q->m->nv + q->m->nrow);
  q->vd = MBG_TAKE(arena, real, q->m->nw);
  q->r = MBG_TAKE(arena, real, q->m->nw);
  q->full = MBG_TAKE(arena, real, q->m->nw);
  q->lambda = MBG_TAKE(arena, real, q->m->nrow);
  q->a = MBG_TAKE(arena, double, q->m->nv);
  q->v = MBG_TAKE(arena, double, q->m->nv);
  q->y = MBG_TAKE(arena, double, q->m->nv);
  q->My = MBG_TAKE(arena, double, q->m->nv);
  q->W = MBG_TAKE(arena, double, q->m->nv);
  const int err = mbg__arena_check(q->ctx, arena);
  return err < 0 ? err : mbg__forest_create(q->ctx, arena, q->sys, q->start->rank->keep, &q->forest);
}

/* factors [[k K + c M, B^T], [B, 0]] on the kept rows */
static int factor(motion *q, double k, double c) {
  int err = MBG_OK;
  q->along = q->forest && mbg__forest_factor(q->forest, k, q->K, c, q->M, q->B);
  if (q->along) {
    return MBG_OK;
  }
  if (!q->saddle.klu) {
    MBG_TRY(mbg__saddle_create(q->ctx, &q->arena, q->sys, 0, NULL, MBG__KLU_FRESH, &q->saddle));
  }
  mbg__saddle_clear(&q->saddle);
  if (k != 0) {
    mbg__saddle_add_K(&q->saddle, k, q->K);
  }
  mbg__saddle_add_K(&q->saddle, c, q->M);
  mbg__saddle_add_rows(&q->saddle, q->B, q->B, q->start->rank->keep, NULL);
  MBG_TRY(mbg__saddle_factor(q->ctx, &q->saddle, "motion at the start"));
done:
  return err;
}

/* x becomes the solution with these factors */
static void solve_all(motion *q) {
  if (q->along) {
    mbg__forest_solve(q->forest, q->x);
  } else {
    mbg__klu_solve(q->saddle.klu, q->x, 1);
  }
}

/* out = A x, A with the pattern of K */
static void multiply(const motion *q, const real *A, const double *x, double *out) {
  const mbg__csc *P = mbg__system_pattern_K(q->sys);
  memset(out, 0, (size_t)q->m->nv * sizeof(double));
  for (int j = 0; j < q->m->nv; j++) {
    for (int e = P->colptr[j]; e < P->colptr[j + 1]; e++) {
      out[P->rowind[e]] += re(A[e]) * x[j];
    }
  }
}

/* out = M x: blocks of bodies, while K has those of pairs, too */
static void multiply_mass(motion *q, const double *x, double *out) {
  for (int j = 0; j < q->m->nv; j++) {
    q->full[q->m->full[j]] = x[j];
  }
  mbg__system_mass_mul(q->sys, q->full, q->r);
  for (int j = 0; j < q->m->nv; j++) {
    out[j] = re(q->r[q->m->full[j]]);
  }
}

/* out = the solution for the forces f on the motions that the rows allow */
static void solve(motion *q, const double *f, double *out) {
  memset(q->x, 0, (size_t)(q->m->nv + q->m->nrow) * sizeof(real));
  for (int j = 0; j < q->m->nv; j++) {
    q->x[j] = f[j];
  }
  solve_all(q);
  for (int j = 0; j < q->m->nv; j++) {
    out[j] = re(q->x[j]);
  }
}

static double dot(const motion *q, const double *x, const double *y) {
  double sum = 0;
  for (int j = 0; j < q->m->nv; j++) {
    sum += x[j] * y[j];
  }
  return sum;
}

/* the body that moves most in y; a mode that moves only modal coordinates belongs to their body */
static int body_of(const motion *q) {
  int best = 0;
  double most = 0;
  for (int b = 0; b < q->m->nbody; b++) {
    for (int k = 0; k < q->m->bodies[b].nvel; k++) {
      const int j = q->m->dof[q->m->bodies[b].voff + k];
      const double x = j >= 0 ? fabs(q->y[j]) * sqrt(q->W[j]) : 0;
      if (x > most * (1 + 1e-6)) {
        most = x;
        best = b;
      }
    }
  }
  const int carrier = q->m->bodies[best].carrier;
  return carrier >= 0 ? q->m->modals[carrier].body : best;
}

/* ---------------------------------------------------------------------- the start */

/* accelerations and multipliers at the start, then the matrices with them: multipliers stiffen what they load */
static int linearize(motion *q) {
  const mbg__start_result *s = q->start;
  const mbg_model *m = q->m;
  mbg__state state = {.t = s->t, .H = s->H, .v = s->v, .turns = s->turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(q->ctx, q->sys, &state));
  mbg__system_matrices(q->sys, &(mbg__matrices){.M = q->M, .B = q->B});
  MBG_TRY(factor(q, 0, 1));
  real *gamma = q->lambda;
  mbg__system_residual(q->sys, q->r, NULL, NULL, NULL, gamma);
  mbg__to_free(m, -1, q->r, q->x);
  for (int i = 0; i < m->nrow; i++) {
    q->x[m->nv + i] = s->rank->keep[i] ? -gamma[i] : 0;
  }
  solve_all(q);
  mbg__to_full(m, 1, q->x, q->vd);
  vn_copy(m->nrow, q->lambda, q->x + m->nv);
  state.vd = q->vd;
  state.lambda = q->lambda;
  MBG_TRY(mbg__system_update(q->ctx, q->sys, &state));
  MBG_TRY(mbg__system_linearize(q->ctx, q->sys));
  mbg__system_matrices(q->sys, &(mbg__matrices){.K = q->K, .C = q->C, .M = q->M});
done:
  return err;
}

/* out = the part of a full vector along motions that the rows allow */
static void project(motion *q, const real *full, double *out) {
  for (int j = 0; j < q->m->nv; j++) {
    q->y[j] = re(full[q->m->full[j]]);
  }
  multiply_mass(q, q->y, q->My);
  solve(q, q->My, out);
}

/* ---------------------------------------------------------------------- energy in fast motions */

/* E above; the period by Rayleigh's quotient of the larger of its two parts */
static int find_energy(motion *q, double sigma, mbg__start_motion *out) {
  double part[2], rate[2];
  int body[2];
  const int err = factor(q, 1, sigma);
  if (err < 0) {
    return err;
  }
  for (int k = 0; k < 2; k++) {
    const double *x = k == 0 ? q->a : q->v;
    multiply_mass(q, x, q->My);
    solve(q, q->My, q->y);
    for (int j = 0; k == 1 && j < q->m->nv; j++) {
      q->y[j] = x[j] - sigma * q->y[j];
    }
    part[k] = fmax(dot(q, q->My, q->y) / 2, 0);
    multiply_mass(q, q->y, q->My);
    const double mass = dot(q, q->y, q->My);
    multiply(q, q->K, q->y, q->My);
    rate[k] = mass > 0 ? dot(q, q->y, q->My) / mass : 0;
    body[k] = body_of(q);
  }
  const int k = part[1] > part[0];
  if (rate[k] > 0) {
    out->energy = part[0] + part[1];
    out->period = 2 * M_PI / sqrt(rate[k]);
    out->body = body[k];
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- the largest rate */

static bool is_zero(const motion *q, const real *A) {
  for (int e = 0; e < mbg__csc_count(mbg__system_pattern_K(q->sys)); e++) {
    if (A[e] != 0) {
      return false;
    }
  }
  return true;
}

/* the largest eigenvalue of M^-1 A by the power method, from below */
static double largest(motion *q, const real *A, int *body) {
  double value = 0;
  *body = 0;
  if (is_zero(q, A)) {
    return 0;
  }
  for (int j = 0; j < q->m->nv; j++) {
    q->y[j] = (1 + 0.37 * sin(1.7 * j)) / sqrt(q->W[j]);
  }
  for (int it = 0; it < PRODUCTS; it++) {
    multiply_mass(q, q->y, q->My);
    const double length = sqrt(dot(q, q->y, q->My));
    for (int j = 0; j < q->m->nv; j++) {
      q->y[j] /= length > 0 ? length : 1;
    }
    multiply(q, A, q->y, q->My);
    value = it > 0 ? dot(q, q->y, q->My) : 0; /* before, y is not along the rows */
    *body = body_of(q);
    solve(q, q->My, q->y);
  }
  return value;
}

static void find_rate(motion *q, mbg__start_motion *out) {
  int body[2];
  const double vibration = sqrt(fmax(largest(q, q->K, &body[0]), 0)), decay = largest(q, q->C, &body[1]);
  out->rate = fmax(vibration, decay);
  out->stiffest = body[decay > vibration];
}

/* ---------------------------------------------------------------------- */

int mbg__start_motion_find(mbg_context *ctx, mbg__system *sys, const mbg__start_result *start, double step,
                           bool explicit_, mbg__start_motion *out) {
  motion q = {.ctx = ctx, .m = mbg__system_model(sys), .sys = sys, .start = start};
  const double rate = 2 * M_PI / (MBG__SWING_LEAST * step);
  const int mark = mbg__message_mark(ctx);
  int err = MBG_OK;
  *out = (mbg__start_motion){0};
  mbg__arena_init(&q.arena, mbg__context_allocator(ctx));
  if (q.m->nv <= start->rank->nkept) {
    goto done; /* nothing moves by itself */
  }
  MBG_TRY(take(&q));
  mbg__metric_free(q.m, q.W);
  MBG_TRY(linearize(&q));
  project(&q, q.vd, q.a);
  project(&q, start->v, q.v);
  if (explicit_) {
    find_rate(&q, out);
  }
  MBG_TRY(find_energy(&q, rate * rate, out));
done:
  mbg__saddle_destroy(&q.saddle);
  mbg__arena_destroy(&q.arena);
  if (err < 0 && err != MBG_ERROR_MEMORY) {
    mbg__message_rewind(ctx, mark); /* whoever needs what failed will say so */
    err = MBG_OK;
  }
  return err;
}
