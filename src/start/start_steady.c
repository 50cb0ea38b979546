/* States that start where their rates are 0 (stage 6 of start.c), frames and twists of the bodies held. With velocities
   y of the carriers of these states (S) their residuals at accelerations 0 are r_S = -rate/s:

     Newton   C_SS dy = -r_S                          C = r_v
     push     C_SS y' = -(r_H w0 + r_v v0' + r_a da)_S    v0' without S
     pull     C_SS^T k = gv_S,   (gw, gv, ga) -= (r_H, r_v, r_a)_S^T k,   gv_S = 0

   Where a rate is late, accelerations and multipliers follow the states: derivatives are total ones (start_late.c). */
#include "math/spectrum.h"
#include "start/start_internal.h"

#include <string.h>

enum { STEADY_MAX = 60, OTHER = -1, HELD = -2 };

/* ---------------------------------------------------------------------- equations */

static int state_dof(const mbg_model *m, const mbg__user_state *s) { return m->bodies[s->body].voff + s->component; }

static bool is_equilibrium(const mbg__start_work *w) { return w->m->start == MBG__START_EQUILIBRIUM; }

/* does a steady state have a late rate? */
static int find_late(mbg_context *ctx, mbg__start_work *w) {
  bool any = false;
  for (int k = 0; k < w->steady.n; k++) {
    any = any || w->m->forces[w->m->states[w->steady.state[k]].force].late;
  }
  return any && !is_equilibrium(w) ? mbg__steady_late_create(ctx, w, &w->steady.late) : MBG_OK;
}

int mbg__steady_create(mbg_context *ctx, mbg__start_work *w) {
  const mbg_model *m = w->m;
  mbg__arena *arena = &w->scratch;
  int n = 0;
  for (int i = 0; i < m->nstate; i++) {
    n += m->states[i].steady;
    if (m->states[i].start >= 0 && is_equilibrium(w)) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &m->states[i].where, 0,
                          "\"initial\" uses signals, which an equilibrium does not know before it is found; take "
                          "\"steady\" or a value");
    }
  }
  w->steady.n = n;
  if (m->nstate == 0) {
    return MBG_OK;
  }
  w->steady.still = MBG_TAKE(arena, real, m->nw);
  w->steady.y = MBG_TAKE(arena, real, n);
  w->steady.state = MBG_TAKE(arena, int, n);
  w->steady.dof = MBG_TAKE(arena, int, n);
  w->steady.place = MBG_TAKE(arena, int, m->nv);
  w->steady.C = MBG_TAKE(arena, real, mbg__csc_count(&w->sys->patK));
  w->steady.x = MBG_TAKE(arena, real, n);
  w->steady.gw = MBG_TAKE(arena, real, m->nw);
  w->steady.gv = MBG_TAKE(arena, real, m->nw);
  if (mbg__system_has_late(w->sys)) {
    w->steady.rest = MBG_TAKE(arena, real, m->nw);
    w->steady.by_lambda = MBG_TAKE(arena, real, mbg__system_late_rows(w->sys, NULL) * m->nrow + 1);
  }
  if (mbg__lu_prepare(&w->steady.lu, arena, n) < 0 || mbg__arena_check(ctx, arena) < 0) {
    return mbg__fail_memory(ctx);
  }
  for (int j = 0; j < m->nv; j++) {
    w->steady.place[j] = OTHER;
  }
  n = 0;
  for (int i = 0; i < m->nstate; i++) {
    w->steady.place[m->dof[state_dof(m, &m->states[i])]] = HELD;
    if (m->states[i].steady) {
      w->steady.state[n] = i;
      w->steady.dof[n] = state_dof(m, &m->states[i]);
      w->steady.place[m->dof[w->steady.dof[n]]] = n;
      n++;
    }
  }
  return find_late(ctx, w);
}

/* the system at the start, without accelerations unless late rates use them, linearized */
static int update(mbg_context *ctx, mbg__start_work *w) {
  if (w->steady.late) {
    return mbg__steady_late_update(ctx, w, w->steady.late);
  }
  const mbg__state state = {.t = w->result.t, .H = w->result.H, .v = w->result.v, .turns = w->result.turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(ctx, w->sys, &state));
  MBG_TRY(mbg__system_linearize(ctx, w->sys));
done:
  return err;
}

static int no_value(mbg_context *ctx, const mbg__start_work *w, int k) {
  const mbg__user_state *s = &w->m->states[w->steady.state[k]];
  return mbg__fail_at(ctx, MBG_ERROR_INPUT, &s->where, 0,
                      "there is no steady value: the rate does not depend on the state; give \"initial\" a value");
}

/* residuals along a change of frames, twists and attributes */
static void push_residuals(mbg__start_work *w, const mbg__direction *d, real *dr) {
  if (w->steady.late) {
    mbg__steady_late_push(w, w->steady.late, d, dr);
  } else {
    mbg__system_push(w->sys, d, dr, NULL, NULL, NULL);
  }
}

/* column k of C_SS, total derivatives */
static void total_column(mbg__start_work *w, int k, real *column) {
  const mbg__direction d = {.dv = w->full2};
  vn_zero(w->m->nw, w->full2);
  w->full2[w->steady.dof[k]] = 1;
  push_residuals(w, &d, w->full);
  for (int i = 0; i < w->steady.n; i++) {
    column[i] = w->full[w->steady.dof[i]];
  }
}

/* C_SS by columns */
static void states_by_states(mbg__start_work *w, real *A) {
  const mbg__csc *P = &w->sys->patK;
  const int n = w->steady.n;
  memset(A, 0, (size_t)n * (size_t)n * sizeof(real));
  mbg__system_matrices(w->sys, &(mbg__matrices){.C = w->steady.C});
  for (int k = 0; k < n; k++) {
    const int j = w->m->dof[w->steady.dof[k]];
    for (int e = P->colptr[j]; !w->steady.late && e < P->colptr[j + 1]; e++) {
      const int row = w->steady.place[P->rowind[e]];
      if (row >= 0) {
        A[row + n * k] += w->steady.C[e];
      }
    }
    if (w->steady.late) {
      total_column(w, k, A + n * k);
    }
  }
}

static int factor(mbg_context *ctx, mbg__start_work *w) {
  int where = 0;
  states_by_states(w, w->steady.lu.A);
  if (mbg__lu_factor(&w->steady.lu, &where) < 0 || !(mbg__lu_ratio(&w->steady.lu, &where) > 1e-14)) {
    return no_value(ctx, w, where);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- values from signals */

/* a signal and those behind it, at the system's state; linear: their derivatives, too */
static int signal_at(mbg_context *ctx, mbg__start_work *w, int i, bool linear) {
  const mbg__signal *sig = &w->m->signals[i];
  int err = MBG_OK;
  for (int k = 0; sig->fn >= 0 && k < w->m->fns[sig->fn].ninput; k++) {
    const mbg__input *in = &w->m->fns[sig->fn].input[k];
    MBG_TRY(in->role == MBG__ROLE_SIGNAL ? signal_at(ctx, w, in->index, linear) : MBG_OK);
  }
  MBG_TRY(mbg__signal_value(ctx, w->sys, i));
  MBG_TRY(linear ? mbg__signal_linearize(ctx, w->sys, i) : MBG_OK);
  MBG_TRY(mbg__signal_finite(ctx, w->sys, i));
done:
  return err;
}

/* one state after the other: those listed before may be behind the signal */
static int start_values(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK;
  for (int i = 0; i < w->m->nstate; i++) {
    const mbg__user_state *s = &w->m->states[i];
    if (s->start >= 0) {
      MBG_TRY(update(ctx, w));
      MBG_TRY(signal_at(ctx, w, s->start, false));
      w->result.v[state_dof(w->m, s)] = w->sys->y[s->start] / s->scale;
    }
  }
done:
  return err;
}

static int start_values_push(mbg_context *ctx, mbg__start_work *w, const real *da, const real *w0, real *v0) {
  const mbg__direction d = {.w = w0, .dv = v0, .da = da};
  int err = MBG_OK;
  for (int i = 0; i < w->m->nstate; i++) {
    const mbg__user_state *s = &w->m->states[i];
    if (s->start >= 0) {
      MBG_TRY(update(ctx, w));
      MBG_TRY(signal_at(ctx, w, s->start, true));
      v0[state_dof(w->m, s)] = 0;
      v0[state_dof(w->m, s)] = mbg__system_signal_push(w->sys, s->start, &d) / s->scale;
    }
  }
done:
  return err;
}

/* adds to gw and ga, and to gv in the place of the cotangents of these states */
static int start_values_pull(mbg_context *ctx, mbg__start_work *w, real *gw, real *gv, real *ga) {
  int err = MBG_OK;
  for (int i = w->m->nstate - 1; i >= 0; i--) {
    const mbg__user_state *s = &w->m->states[i];
    if (s->start >= 0) {
      const real weight = gv[state_dof(w->m, s)] / s->scale;
      gv[state_dof(w->m, s)] = 0;
      MBG_TRY(update(ctx, w));
      MBG_TRY(signal_at(ctx, w, s->start, true));
      mbg__system_signal_pull(w->sys, s->start, weight, gw, gv, NULL, NULL, ga);
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- values */

/* largest change, relative to the states */
static double change_of(const mbg__start_work *w) {
  double most = 0;
  for (int k = 0; k < w->steady.n; k++) {
    const double size = fmax(fabs(re(w->result.v[w->steady.dof[k]])), 1e-3), x = fabs(re(w->steady.x[k])) / size;
    most = x <= most ? most : x;
  }
  return most;
}

/* largest rate, in units of the scales */
static double residual(const mbg__start_work *w) {
  double most = 0;
  mbg__system_residual(w->sys, w->full, NULL, NULL, NULL, NULL);
  for (int k = 0; k < w->steady.n; k++) {
    const double x = fabs(re(w->full[w->steady.dof[k]]));
    most = x <= most ? most : x;
  }
  return most;
}

static void take_step(mbg__start_work *w, double step) {
  for (int k = 0; k < w->steady.n; k++) {
    w->result.v[w->steady.dof[k]] += step * w->steady.x[k];
  }
}

/* Newton's step, shortened until the rates fall */
static int improve(mbg_context *ctx, mbg__start_work *w, double *change) {
  int err = MBG_OK;
  double step = 1;
  MBG_TRY(factor(ctx, w));
  const double before = residual(w);
  for (int k = 0; k < w->steady.n; k++) {
    w->steady.x[k] = -w->full[w->steady.dof[k]];
  }
  mbg__lu_solve(&w->steady.lu, w->steady.x, 1);
  *change = change_of(w);
  take_step(w, 1);
  err = update(NULL, w);
  while (*change > 1e-6 && step > 1e-4 && (err < 0 || !(residual(w) <= before))) {
    take_step(w, -step / 2);
    step /= 2;
    err = update(NULL, w);
  }
  MBG_TRY(update(ctx, w));
done:
  return err;
}

/* ---------------------------------------------------------------------- stability */

/* the state of largest share in the fastest growing motion, and its rate of growth; -1: none grows */
static int find_growth(int n, const double *A, const double *wr, const double *X, double *rate) {
  double size = 0, share = -1;
  int fastest = 0, worst = -1;
  for (int i = 0; i < n * n; i++) {
    size = fmax(size, fabs(A[i]));
  }
  for (int k = 1; k < n; k++) {
    fastest = wr[k] > wr[fastest] ? k : fastest;
  }
  *rate = wr[fastest];
  for (int i = 0; *rate > 1e-9 * size && i < n; i++) {
    if (fabs(X[i + n * fastest]) > share) {
      share = fabs(X[i + n * fastest]);
      worst = i;
    }
  }
  return worst;
}

/* Warns once of steady values which the states leave on their own, the mechanism held. */
static int warn_unstable(mbg_context *ctx, mbg__start_work *w) {
  const size_t n = (size_t)w->steady.n, square = n * n;
  int err = MBG_OK;
  if (MBG__TWIN || w->steady.told || !ctx) {
    return MBG_OK;
  }
  double *A = mbg__alloc_zero(ctx, 4 * square + 2 * n, sizeof(double)), rate;
  if (!A) {
    return mbg__fail_memory(ctx);
  }
  double *copy = A + square, *X = copy + square, *Y = X + square, *wr = Y + square;
  states_by_states(w, w->steady.lu.A);
  for (size_t i = 0; i < square; i++) {
    A[i] = -re(w->steady.lu.A[i]); /* rates by states */
  }
  memcpy(copy, A, square * sizeof(double));
  err = mbg__eigen_general(ctx, (int)n, copy, wr, wr + n, Y, X);
  if (err == MBG_ERROR_MEMORY) {
    err = mbg__fail_memory(ctx);
  } else if (err == MBG_OK) {
    const int k = find_growth((int)n, A, wr, X, &rate);
    if (k >= 0) {
      const mbg__user_state *s = &w->m->states[w->steady.state[k]];
      mbg__note(ctx, MBG_WARNING,
                "state '%s': the steady value %g is unstable: with the mechanism held, deviations grow by the factor e "
                "in %.3g s, so that rounding decides where the state goes; give \"initial\" a value, or \"guess\" "
                "another steady value",
                s->name, s->scale * re(w->result.v[w->steady.dof[k]]), 1 / rate);
      w->steady.told = true;
    }
  } else {
    err = MBG_OK; /* no answer, no warning */
  }
  mbg__free(ctx, A);
  return err;
}

static void put(const mbg__start_work *w, const real *x, real *v) {
  for (int k = 0; k < w->steady.n; k++) {
    v[w->steady.dof[k]] = x[k];
  }
}

int mbg__start_steady(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK, after = 0;
  double change = INFINITY;
  if (is_equilibrium(w)) {
    put(w, w->steady.y, w->result.v);
    return MBG_OK;
  }
  MBG_TRY(start_values(ctx, w));
  if (w->steady.n == 0) {
    return MBG_OK;
  }
  MBG_TRY(update(ctx, w));
  for (int it = 0; it < STEADY_MAX && after < 2; it++) {
    MBG_TRY(improve(ctx, w, &change));
    after += change <= 1e-12;
  }
  if (after < 2 && !(change <= 1e-9)) {
    const mbg__user_state *s = &w->m->states[w->steady.state[0]];
    err = mbg__fail_at(ctx, MBG_ERROR_CONVERGENCE, &s->where, 0,
                       "no steady value%s was found from the guess; give a better \"guess\", or a value",
                       w->steady.n > 1 ? " of this and the other steady states" : "");
    goto done;
  }
  MBG_TRY(warn_unstable(ctx, w));
done:
  return err;
}

/* ---------------------------------------------------------------------- derivatives */

int mbg__steady_push(mbg_context *ctx, mbg__start_work *w, const real *da, const real *w0, real *v0) {
  const mbg__direction d = {.w = w0, .dv = v0, .da = da};
  int err = MBG_OK;
  if (is_equilibrium(w)) {
    put(w, w->steady.y, v0);
    return MBG_OK;
  }
  MBG_TRY(start_values_push(ctx, w, da, w0, v0));
  if (w->steady.n == 0) {
    return MBG_OK;
  }
  MBG_TRY(update(ctx, w));
  MBG_TRY(factor(ctx, w));
  for (int k = 0; k < w->steady.n; k++) {
    v0[w->steady.dof[k]] = 0;
  }
  push_residuals(w, &d, w->full);
  for (int k = 0; k < w->steady.n; k++) {
    w->steady.x[k] = -w->full[w->steady.dof[k]];
  }
  mbg__lu_solve(&w->steady.lu, w->steady.x, 1);
  put(w, w->steady.x, v0);
done:
  return err;
}

/* are there states whose start follows from something else than their attribute? */
static bool has_own(const mbg__start_work *w) {
  bool any = w->steady.n > 0;
  for (int i = 0; !any && i < w->m->nstate; i++) {
    any = w->m->states[i].start >= 0;
  }
  return any;
}

/* from x = gv_S */
static int pull_steady(mbg_context *ctx, mbg__start_work *w, real *ga) {
  int err = MBG_OK;
  MBG_TRY(update(ctx, w));
  MBG_TRY(factor(ctx, w));
  mbg__lu_solve_T(&w->steady.lu, w->steady.x, 1);
  vn_zero(w->m->nw, w->full);
  for (int k = 0; k < w->steady.n; k++) {
    w->full[w->steady.dof[k]] = -w->steady.x[k];
  }
  if (w->steady.late) {
    mbg__steady_late_pull(w, w->steady.late, w->full, w->steady.gw, w->steady.gv, ga);
  } else {
    mbg__system_pull(w->sys, w->full, NULL, NULL, NULL, w->steady.gw, w->steady.gv, NULL, NULL, ga);
  }
  for (int k = 0; k < w->steady.n; k++) {
    w->steady.gv[w->steady.dof[k]] = 0;
  }
done:
  return err;
}

int mbg__steady_pull(mbg_context *ctx, mbg__start_work *w, const real **gw, const real **gv, real *ga) {
  const int nw = w->m->nw;
  int err = MBG_OK;
  if (!has_own(w)) {
    return MBG_OK;
  }
  vn_copy(nw, w->steady.gw, *gw);
  vn_copy(nw, w->steady.gv, *gv);
  for (int k = 0; k < w->steady.n; k++) {
    w->steady.x[k] = w->steady.y[k] = (*gv)[w->steady.dof[k]];
    w->steady.gv[w->steady.dof[k]] = 0;
  }
  if (is_equilibrium(w)) { /* the rest follows with the frames */
    *gw = w->steady.gw;
    *gv = w->steady.gv;
    return MBG_OK;
  }
  MBG_TRY(w->steady.n > 0 ? pull_steady(ctx, w, ga) : MBG_OK);
  MBG_TRY(start_values_pull(ctx, w, w->steady.gw, w->steady.gv, ga));
  *gw = w->steady.gw;
  *gv = w->steady.gv;
done:
  return err;
}

/* ---------------------------------------------------------------------- equilibrium */

/* the place that stands for a state */
static real *place_of(const mbg__start_work *w, const mbg__user_state *s) {
  return &w->result.H[s->body].x[s->component];
}

void mbg__steady_begin(mbg__start_work *w) {
  for (int i = 0; i < w->m->nstate; i++) {
    const mbg__user_state *s = &w->m->states[i];
    *place_of(w, s) = w->sys->design->guess_v[state_dof(w->m, s)];
  }
}

const real *mbg__steady_twists(mbg__start_work *w) {
  for (int i = 0; i < w->m->nstate; i++) {
    const mbg__user_state *s = &w->m->states[i];
    w->steady.still[state_dof(w->m, s)] = *place_of(w, s);
  }
  return w->m->nstate > 0 ? w->steady.still : NULL;
}

/* given states do not follow */
static void hold(const mbg__start_work *w, real *full) {
  for (int i = 0; i < w->m->nstate; i++) {
    const mbg__user_state *s = &w->m->states[i];
    full[state_dof(w->m, s)] = s->steady ? full[state_dof(w->m, s)] : 0;
  }
}

/* columns of states: they have no stiffness of their own */
static void add_columns(mbg__start_work *w) {
  const mbg__csc *P = &w->sys->patK;
  for (int i = 0; i < w->m->nstate; i++) {
    const int j = w->m->dof[state_dof(w->m, &w->m->states[i])];
    for (int e = P->colptr[j]; e < P->colptr[j + 1]; e++) {
      w->K[e] += w->steady.C[e];
    }
  }
}

/* ... nor follow multipliers */
static void hold_late(mbg__start_work *w) {
  const int *rows, n = mbg__system_late_rows(w->sys, &rows);
  for (int k = 0; k < n; k++) {
    if (w->steady.place[rows[k]] == HELD) {
      vn_zero(w->m->nrow, w->steady.by_lambda + (size_t)k * (size_t)w->m->nrow);
    }
  }
}

void mbg__steady_stiffness(mbg__start_work *w, real *r) {
  const mbg__csc *P = &w->sys->patK;
  const mbg_model *m = w->m;
  if (m->nstate == 0) {
    return;
  }
  mbg__system_matrices(w->sys, &(mbg__matrices){.C = w->steady.C, .late = w->steady.by_lambda});
  add_columns(w);
  hold_late(w);
  for (int j = 0; j < m->nv; j++) {
    for (int e = P->colptr[j]; e < P->colptr[j + 1]; e++) {
      if (w->steady.place[P->rowind[e]] == HELD) {
        w->K[e] = P->rowind[e] == j ? 1 : 0;
      }
    }
  }
  hold(w, r);
}

void mbg__steady_end(mbg__start_work *w) {
  (void)mbg__steady_twists(w);
  for (int k = 0; k < w->steady.n; k++) {
    w->steady.y[k] = w->steady.still[w->steady.dof[k]];
  }
  for (int i = 0; i < w->m->nstate; i++) {
    *place_of(w, &w->m->states[i]) = 0;
  }
}

const real *mbg__steady_direction(mbg__start_work *w, const real *da) {
  const mbg_model *m = w->m;
  for (int i = 0; i < m->nstate; i++) {
    const mbg__user_state *s = &m->states[i];
    real wbar[6], vbar[6];
    mbg__design_guess_push(w->sys->design, s->body, da, wbar, vbar);
    w->steady.gv[state_dof(m, s)] = s->steady ? 0 : vbar[s->component];
  }
  return m->nstate > 0 ? w->steady.gv : NULL;
}

void mbg__steady_residual(mbg__start_work *w, real *r) { hold(w, r); }

void mbg__steady_solution(mbg__start_work *w, real *w0) {
  for (int k = 0; k < w->steady.n; k++) {
    w->steady.y[k] = w0[w->steady.dof[k]];
  }
  for (int i = 0; i < w->m->nstate; i++) {
    w0[state_dof(w->m, &w->m->states[i])] = 0;
  }
}

void mbg__steady_right_side(mbg__start_work *w, real *g) {
  for (int i = 0; i < w->m->nstate; i++) {
    g[state_dof(w->m, &w->m->states[i])] = 0;
  }
  put(w, w->steady.y, g);
}

real *mbg__steady_cotangent(mbg__start_work *w) {
  if (w->m->nstate > 0) {
    vn_zero(w->m->nw, w->steady.gv);
  }
  return w->m->nstate > 0 ? w->steady.gv : NULL;
}

void mbg__steady_given_pull(const mbg__start_work *w, real *guess) {
  for (int i = 0; i < w->m->nstate; i++) {
    const mbg__user_state *s = &w->m->states[i];
    guess[state_dof(w->m, s)] += s->steady ? 0 : w->steady.gv[state_dof(w->m, s)];
  }
}
