#include "formulations/alpha/alpha_internal.h"

#include <string.h>

/* iterations after convergence, with the last matrix: one makes the discrete gradient exact, the twin carries derivatives
   that converge one iteration later */
enum { POLISH = sizeof(real) == sizeof(double) ? 1 : 3 };

/* ---------------------------------------------------------------------- coefficients, nodes */

static mbg__alpha_coefs second_order(double am, double af) {
  const double gamma = 0.5 + af - am;
  return (mbg__alpha_coefs){.am = am, .af = af, .gamma = gamma, .beta = (gamma + 0.5) * (gamma + 0.5) / 4};
}

mbg__alpha_coefs mbg__alpha_from_rho(double rho) { return second_order((2 * rho - 1) / (rho + 1), rho / (rho + 1)); }

mbg__alpha_coefs mbg__alpha_from_hht(double af) { return second_order(0, af); }

size_t mbg__node_bytes(const mbg_model *m) {
  return (size_t)m->nbody * sizeof(mbg__frame) + (4 * (size_t)m->nw + (size_t)m->nrow) * sizeof(real) +
         ((size_t)m->nturn * sizeof(int) + 7) / 8 * 8;
}

void mbg__node_place(const mbg_model *m, void *block, mbg__node *node) {
  char *p = block;
  node->H = (mbg__frame *)(void *)p;
  p += (size_t)m->nbody * sizeof(mbg__frame);
  real *x = (real *)(void *)p;
  node->v = x;
  node->vd = x + m->nw;
  node->al = x + 2 * m->nw;
  node->Dx = x + 3 * m->nw;
  node->lambda = x + 4 * m->nw;
  node->turns = (int *)(void *)(x + 4 * m->nw + m->nrow);
}

void mbg__node_copy(const mbg_model *m, const mbg__node *from, mbg__node *to) {
  to->t = from->t;
  to->h = from->h;
  memcpy(to->H, from->H, mbg__node_bytes(m));
}

/* ---------------------------------------------------------------------- creation */

#define TAKE(field, count)                                                                                             \
  do {                                                                                                                 \
    a->field = MBG_TAKE(&a->arena, real, count);                                                                       \
    if (!a->field) {                                                                                                   \
      return mbg__fail_memory(ctx);                                                                                    \
    }                                                                                                                  \
  } while (0)

static int take_arrays(mbg_context *ctx, mbg__alpha *a) {
  const mbg_model *m = a->m;
  const int nK = mbg__csc_count(mbg__system_pattern_K(a->sys)), nB = mbg__csc_count(mbg__system_pattern_B(a->sys));
  TAKE(K, nK);
  TAKE(C, nK);
  TAKE(M, nK);
  TAKE(KT, nK);
  TAKE(B, nB);
  TAKE(BT, nB);
  TAKE(T, 36 * m->nbody);
  TAKE(x, m->nv + m->nrow);
  TAKE(r, m->nw);
  TAKE(phi, m->nrow);
  TAKE(al0, m->nw);
  TAKE(q, m->ncoord);
  a->turns = MBG_TAKE(&a->arena, int, m->nturn);
  return a->turns ? MBG_OK : mbg__fail_memory(ctx);
}

int mbg__alpha_create(mbg_context *ctx, mbg__system *sys, const mbg__rank *rank, mbg__alpha_coefs coefs,
                      mbg__alpha **out) {
  int err = MBG_OK;
  mbg__alpha *a = mbg__alloc_zero(ctx, 1, sizeof(*a));
  if (!a) {
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&a->arena, mbg__context_allocator(ctx));
  a->m = mbg__system_model(sys);
  a->sys = sys;
  a->rank = rank;
  a->c = coefs;
  MBG_TRY(take_arrays(ctx, a));
  MBG_TRY(mbg__saddle_create(ctx, &a->arena, sys, 0, NULL, MBG__KLU_FROZEN, &a->saddle));
  MBG_TRY(mbg__saddle_create(ctx, &a->arena, sys, 0, NULL, MBG__KLU_FRESH, &a->initial));
done:
  if (err < 0) {
    mbg__alpha_destroy(a);
    a = NULL;
  }
  *out = a;
  return err;
}

void mbg__alpha_destroy(mbg__alpha *a) {
  if (!a) {
    return;
  }
  const mbg_allocator allocator = a->arena.allocator;
  mbg__saddle_destroy(&a->saddle);
  mbg__saddle_destroy(&a->initial);
  mbg__arena_destroy(&a->arena);
  allocator.release(allocator.user, a);
}

const mbg__alpha_work *mbg__alpha_counts(const mbg__alpha *a) { return &a->work; }

double mbg__alpha_error(const mbg__alpha *a) { return a->error; }

/* ---------------------------------------------------------------------- matrices */

static int evaluate(mbg_context *ctx, mbg__alpha *a, const mbg__node *n) {
  const mbg__state state = {.t = n->t, .H = n->H, .v = n->v, .vd = n->vd, .lambda = n->lambda, .turns = n->turns};
  const int err = mbg__system_update(ctx, a->sys, &state);
  mbg__system_residual(a->sys, a->r, a->phi, NULL, NULL, NULL);
  return err;
}

static int assemble(mbg_context *ctx, mbg__alpha *a) {
  const int err = mbg__system_linearize(ctx, a->sys);
  mbg__system_matrices(a->sys, &(mbg__matrices){.K = a->K, .C = a->C, .M = a->M, .B = a->B});
  a->work.assemblies++;
  return err;
}

/* S of the step, scaled */
static int factor_step(mbg_context *ctx, mbg__alpha *a, const mbg__node *n) {
  const mbg_model *m = a->m;
  const double h = n->h, s = a->c.beta * h * h;
  for (int b = 0; b < m->nbody; b++) {
    mbg__se3_tangent(a->T + 36 * b, n->Dx + m->bodies[b].voff);
  }
  mbg__columns_times(a->sys, mbg__system_pattern_K(a->sys), a->K, a->T, a->KT);
  mbg__columns_times(a->sys, mbg__system_pattern_B(a->sys), a->B, a->T, a->BT);
  mbg__saddle_clear(&a->saddle);
  mbg__saddle_add_sum(&a->saddle, (real[]){s * alpha_bp(a, h), s * alpha_gp(a, h), s}, a->M, a->C, a->KT);
  mbg__saddle_add_rows(&a->saddle, a->BT, a->B, a->rank->keep, NULL);
  a->work.factorizations++;
  char what[64];
  mbg__format(what, sizeof(what), "step to t = %g", n->t);
  return mbg__saddle_factor(ctx, &a->saddle, what);
}

int mbg__alpha_factor_at(mbg_context *ctx, mbg__alpha *a, const mbg__node *node) {
  int err = MBG_OK;
  MBG_TRY(evaluate(ctx, a, node));
  MBG_TRY(assemble(ctx, a));
  MBG_TRY(factor_step(ctx, a, node));
done:
  return err;
}

int mbg__alpha_factor_start(mbg_context *ctx, mbg__alpha *a, const mbg__node *node) {
  int err = MBG_OK;
  MBG_TRY(evaluate(ctx, a, node));
  MBG_TRY(assemble(ctx, a));
  mbg__saddle_clear(&a->initial);
  mbg__saddle_add_K(&a->initial, 1, a->M);
  mbg__saddle_add_rows(&a->initial, a->B, a->B, a->rank->keep, NULL);
  a->work.factorizations++;
  MBG_TRY(mbg__saddle_factor(ctx, &a->initial, "initial accelerations"));
done:
  return err;
}

/* ---------------------------------------------------------------------- first node */

int mbg__alpha_begin(mbg_context *ctx, mbg__alpha *a, const mbg__start_result *start, mbg__node *n) {
  const mbg_model *m = a->m;
  int err = MBG_OK;
  n->t = re(start->t);
  n->h = 0;
  memcpy(n->H, start->H, (size_t)m->nbody * sizeof(*n->H));
  memcpy(n->v, start->v, (size_t)m->nw * sizeof(real));
  memcpy(n->turns, start->turns, (size_t)m->nturn * sizeof(int));
  memset(n->vd, 0, (size_t)m->nw * sizeof(real));
  memset(n->Dx, 0, (size_t)m->nw * sizeof(real));
  memset(n->lambda, 0, (size_t)m->nrow * sizeof(real));
  MBG_TRY(mbg__alpha_factor_start(ctx, a, n));
  mbg__system_residual(a->sys, NULL, NULL, NULL, NULL, a->phi);
  for (int j = 0; j < m->nv; j++) {
    a->x[j] = -a->r[m->full[j]];
  }
  for (int i = 0; i < m->nrow; i++) {
    a->x[m->nv + i] = a->rank->keep[i] ? -a->phi[i] : 0;
  }
  mbg__klu_solve(a->initial.klu, a->x, 1);
  /* the first step chooses the pivots of the run */
  mbg__klu_thaw(a->saddle.klu);
  for (int j = 0; j < m->nv; j++) {
    n->vd[m->full[j]] = a->x[j];
  }
  memcpy(n->lambda, a->x + m->nv, (size_t)m->nrow * sizeof(real));
  memcpy(n->al, n->vd, (size_t)m->nw * sizeof(real));
done:
  return err;
}

/* ---------------------------------------------------------------------- step */

void mbg__alpha_follow(const mbg__alpha *a, const mbg__node *from, const real *X, mbg__node *to) {
  const mbg_model *m = a->m;
  const mbg__alpha_coefs *c = &a->c;
  const double h = to->h;
  for (int i = 0; i < m->nw; i++) {
    const real al0 = a->al0[i];
    to->al[i] = (X[i] - h * from->v[i] - (0.5 - c->beta) * h * h * al0) / (c->beta * h * h);
    to->v[i] = from->v[i] + (1 - c->gamma) * h * al0 + c->gamma * h * to->al[i];
    to->vd[i] = ((1 - c->am) * to->al[i] + c->am * al0 - c->af * from->vd[i]) / (1 - c->af);
  }
  for (int b = 0; b < m->nbody; b++) {
    mbg__se3_retract(&to->H[b], &from->H[b], to->Dx + m->bodies[b].voff);
  }
}

void mbg__alpha_predict(mbg__alpha *a, const mbg__node *from, double h, mbg__node *to) {
  const mbg_model *m = a->m;
  const mbg__alpha_coefs *c = &a->c;
  const double s = alpha_rescale(from, h);
  to->t = from->t + h;
  to->h = h;
  for (int i = 0; i < m->nw; i++) {
    a->al0[i] = s == 1 ? from->al[i] : from->vd[i] + s * (from->al[i] - from->vd[i]);
    const real al = (from->vd[i] - c->am * a->al0[i]) / (1 - c->am);
    to->Dx[i] = h * from->v[i] + (0.5 - c->beta) * h * h * a->al0[i] + c->beta * h * h * al;
  }
  memcpy(to->lambda, from->lambda, (size_t)m->nrow * sizeof(real));
  memcpy(to->turns, from->turns, (size_t)m->nturn * sizeof(int));
}

static double largest(int n, const real *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fabs(re(x[i])) > most || isnan(re(x[i])) ? fabs(re(x[i])) : most;
  }
  return most;
}

int mbg__alpha_not_converged(mbg_context *ctx, const mbg__alpha *a, const mbg__node *to, double change) {
  const mbg_model *m = a->m;
  char label[160] = "";
  double most = -1;
  for (int i = 0; i < m->nrow; i++) {
    if (fabs(re(a->phi[i])) > fmax(most, 1e-9)) {
      most = fabs(re(a->phi[i]));
      mbg__row_label(m, i, label, sizeof(label));
    }
  }
  for (int b = 0; most < 0 && b < m->nbody; b++) {
    const double x = largest(6, a->r + m->bodies[b].voff);
    if (!(x <= most)) {
      most = x;
      mbg__format(label, sizeof(label), "body '%s'", m->bodies[b].name);
    }
  }
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                   "step to t = %g (h = %g): Newton did not converge in %d iterations (last change %.2e, residual "
                   "%.2e, worst at %s); "
                   "take a smaller step",
                   to->t, to->h, MBG__ALPHA_NEWTON_MAX, change, most, label);
}

/* angles are those nearest to the start of the step: the state is evaluated again when one has passed half a turn */
static int evaluate_near(mbg_context *ctx, mbg__alpha *a, mbg__node *to) {
  const size_t bytes = (size_t)a->m->nturn * sizeof(int);
  int err = MBG_OK;
  MBG_TRY(evaluate(ctx, a, to));
  if (bytes > 0) {
    mbg__system_turns(a->sys, a->q, a->turns);
    if (memcmp(a->turns, to->turns, bytes) != 0) {
      memcpy(to->turns, a->turns, bytes);
      MBG_TRY(evaluate(ctx, a, to));
    }
  }
done:
  return err;
}

/* one Newton iteration; the matrix may be kept for the last one */
static int iterate(mbg_context *ctx, mbg__alpha *a, const mbg__node *from, mbg__node *to, bool fresh, double *change) {
  const mbg_model *m = a->m;
  const double s = a->c.beta * to->h * to->h;
  int err = MBG_OK;
  MBG_TRY(evaluate_near(ctx, a, to));
  if (fresh) {
    MBG_TRY(assemble(ctx, a));
    MBG_TRY(factor_step(ctx, a, to));
  }
  for (int j = 0; j < m->nv; j++) {
    a->x[j] = -s * a->r[m->full[j]];
  }
  for (int i = 0; i < m->nrow; i++) {
    a->x[m->nv + i] = a->rank->keep[i] ? -a->phi[i] : 0;
  }
  mbg__klu_solve(a->saddle.klu, a->x, 1);
  for (int j = 0; j < m->nv; j++) {
    to->Dx[m->full[j]] += a->x[j];
  }
  for (int i = 0; i < m->nrow; i++) {
    to->lambda[i] += a->x[m->nv + i] / s;
  }
  *change = largest(m->nv, a->x);
  mbg__alpha_follow(a, from, to->Dx, to);
  a->work.newton_iterations++;
  a->work.solves++;
done:
  return err;
}

/* the local error of positions is |beta - 1/6| h^3 times the rate of the accelerations */
static double estimate(const mbg__alpha *a, const mbg__node *from, const mbg__node *to) {
  const mbg_model *m = a->m;
  double most = 0;
  for (int i = 0; i < m->nw; i++) {
    const double w = (i - m->bodies[0].voff) % 6 < 3 ? 1 / m->size : 1;
    most = fmax(most, w * fabs(re(to->vd[i] - from->vd[i])));
  }
  return fabs(a->c.beta - 1.0 / 6) * to->h * to->h * most;
}

int mbg__alpha_step(mbg_context *ctx, mbg__alpha *a, const mbg__node *from, double h, mbg__node *to) {
  const mbg_model *m = a->m;
  double change = INFINITY, last = INFINITY;
  bool converged = false;
  int err = MBG_OK, polish = 0;
  if (m->nturn > 0) {
    MBG_TRY(evaluate(ctx, a, from));
    mbg__system_coords(a->sys, a->q);
  }
  mbg__alpha_predict(a, from, h, to);
  mbg__alpha_follow(a, from, to->Dx, to);
  for (int it = 0; it < MBG__ALPHA_NEWTON_MAX || (converged && polish < POLISH); it++) {
    MBG_TRY(iterate(ctx, a, from, to, !converged, &change));
    if (converged && ++polish == POLISH) {
      break;
    }
    if (converged) {
      continue;
    }
    if (!isfinite(change)) {
      err = mbg__alpha_not_converged(ctx, a, to, change);
      goto done;
    }
    converged = change <= 1e-12 * (1e-3 + largest(m->nw, to->Dx)) || (change >= last && last < 1e-9);
    last = change;
  }
  if (!converged) {
    err = mbg__alpha_not_converged(ctx, a, to, change);
    goto done;
  }
  MBG_TRY(evaluate_near(ctx, a, to));
  a->error = estimate(a, from, to);
done:
  return err;
}

int mbg__alpha_check_dropped(mbg_context *ctx, const mbg__alpha *a, const mbg__node *node) {
  for (int i = 0; i < a->rank->ndropped; i++) {
    const int row = a->rank->dropped[i];
    if (fabs(re(a->phi[row])) > 1e-6 * fmax(1, a->m->size)) {
      char label[160];
      mbg__row_label(a->m, row, label, sizeof(label));
      return mbg__fail(ctx, MBG_ERROR_SINGULAR,
                       "redundant constraint became independent at t = %g: %s is violated by %.2e", node->t, label,
                       fabs(re(a->phi[row])));
    }
  }
  return MBG_OK;
}
