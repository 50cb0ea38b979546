/* States that start where their rates are 0 (stage 6 of start.c), frames and twists of the bodies held. With velocities
   y of the carriers of these states (S) their residuals at accelerations 0 are r_S = -rate/s:

     Newton   C_SS dy = -r_S                          C = r_v
     push     C_SS y' = -(r_H w0 + r_v v0' + r_a da)_S    v0' without S
     pull     C_SS^T k = gv_S,   (gw, gv, ga) -= (r_H, r_v, r_a)_S^T k,   gv_S = 0 */
#include "start/start_internal.h"

#include <string.h>

enum { STEADY_MAX = 60, OTHER = -1, HELD = -2 };

/* ---------------------------------------------------------------------- equations */

static int state_dof(const mbg_model *m, const mbg__user_state *s) { return m->bodies[s->body].voff + s->component; }

int mbg__steady_create(mbg_context *ctx, mbg__start_work *w) {
  const mbg_model *m = w->m;
  mbg__arena *arena = &w->scratch;
  int n = 0;
  for (int i = 0; i < m->nstate; i++) {
    n += m->states[i].steady;
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
  return MBG_OK;
}

/* the system at the start, without accelerations, linearized */
static int update(mbg_context *ctx, mbg__start_work *w) {
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

static int factor(mbg_context *ctx, mbg__start_work *w) {
  const mbg__csc *P = &w->sys->patK;
  const int n = w->steady.n;
  int where = 0;
  mbg__system_matrices(w->sys, &(mbg__matrices){.C = w->steady.C});
  memset(w->steady.lu.A, 0, (size_t)n * (size_t)n * sizeof(real));
  for (int k = 0; k < n; k++) {
    const int j = w->m->dof[w->steady.dof[k]];
    for (int e = P->colptr[j]; e < P->colptr[j + 1]; e++) {
      const int row = w->steady.place[P->rowind[e]];
      if (row >= 0) {
        w->steady.lu.A[row + n * k] += w->steady.C[e];
      }
    }
  }
  if (mbg__lu_factor(&w->steady.lu, &where) < 0 || !(mbg__lu_ratio(&w->steady.lu, &where) > 1e-14)) {
    return no_value(ctx, w, where);
  }
  return MBG_OK;
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

static bool is_equilibrium(const mbg__start_work *w) { return w->m->start == MBG__START_EQUILIBRIUM; }

static void put(const mbg__start_work *w, const real *x, real *v) {
  for (int k = 0; k < w->steady.n; k++) {
    v[w->steady.dof[k]] = x[k];
  }
}

int mbg__start_steady(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK, after = 0;
  double change = INFINITY;
  if (w->steady.n == 0) {
    return MBG_OK;
  }
  if (is_equilibrium(w)) {
    put(w, w->steady.y, w->result.v);
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
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- derivatives */

int mbg__steady_push(mbg_context *ctx, mbg__start_work *w, const real *da, const real *w0, real *v0) {
  const mbg__direction d = {.w = w0, .dv = v0, .da = da};
  int err = MBG_OK;
  if (w->steady.n == 0) {
    return MBG_OK;
  }
  if (is_equilibrium(w)) {
    put(w, w->steady.y, v0);
    return MBG_OK;
  }
  MBG_TRY(update(ctx, w));
  MBG_TRY(factor(ctx, w));
  for (int k = 0; k < w->steady.n; k++) {
    v0[w->steady.dof[k]] = 0;
  }
  mbg__system_push(w->sys, &d, w->full, NULL, NULL, NULL);
  for (int k = 0; k < w->steady.n; k++) {
    w->steady.x[k] = -w->full[w->steady.dof[k]];
  }
  mbg__lu_solve(&w->steady.lu, w->steady.x, 1);
  put(w, w->steady.x, v0);
done:
  return err;
}

int mbg__steady_pull(mbg_context *ctx, mbg__start_work *w, const real **gw, const real **gv, real *ga) {
  const int nw = w->m->nw;
  int err = MBG_OK;
  if (w->steady.n == 0) {
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
  MBG_TRY(update(ctx, w));
  MBG_TRY(factor(ctx, w));
  mbg__lu_solve_T(&w->steady.lu, w->steady.x, 1);
  vn_zero(nw, w->full);
  for (int k = 0; k < w->steady.n; k++) {
    w->full[w->steady.dof[k]] = -w->steady.x[k];
  }
  mbg__system_pull(w->sys, w->full, NULL, NULL, NULL, w->steady.gw, w->steady.gv, NULL, NULL, ga);
  for (int k = 0; k < w->steady.n; k++) {
    w->steady.gv[w->steady.dof[k]] = 0;
  }
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

void mbg__steady_stiffness(mbg__start_work *w, real *r) {
  const mbg__csc *P = &w->sys->patK;
  const mbg_model *m = w->m;
  if (m->nstate == 0) {
    return;
  }
  mbg__system_matrices(w->sys, &(mbg__matrices){.C = w->steady.C});
  add_columns(w);
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
