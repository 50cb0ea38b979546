/* States that start where their rates are 0 (stage 6 of start.c), frames and twists of the bodies held. With velocities
   y of the carriers of these states (S) their residuals at accelerations 0 are r_S = -rate/s:

     Newton   C_SS dy = -r_S                          C = r_v
     push     C_SS y' = -(r_H w0 + r_v v0' + r_a da)_S    v0' without S
     pull     C_SS^T k = gv_S,   (gw, gv, ga) -= (r_H, r_v, r_a)_S^T k,   gv_S = 0 */
#include "start/start_internal.h"

#include <string.h>

enum { STEADY_MAX = 60 };

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
  if (n == 0) {
    return MBG_OK;
  }
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
    w->steady.place[j] = -1;
  }
  n = 0;
  for (int i = 0; i < m->nstate; i++) {
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

int mbg__start_steady(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK, after = 0;
  double change = INFINITY;
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
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- derivatives */

static void take_back(const mbg__start_work *w, real *v0) {
  for (int k = 0; k < w->steady.n; k++) {
    v0[w->steady.dof[k]] = w->steady.x[k];
  }
}

int mbg__steady_push(mbg_context *ctx, mbg__start_work *w, const real *da, const real *w0, real *v0) {
  const mbg__direction d = {.w = w0, .dv = v0, .da = da};
  int err = MBG_OK;
  if (w->steady.n == 0) {
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
  take_back(w, v0);
done:
  return err;
}

int mbg__steady_pull(mbg_context *ctx, mbg__start_work *w, const real **gw, const real **gv, real *ga) {
  const int nw = w->m->nw;
  int err = MBG_OK;
  if (w->steady.n == 0) {
    return MBG_OK;
  }
  MBG_TRY(update(ctx, w));
  MBG_TRY(factor(ctx, w));
  vn_copy(nw, w->steady.gw, *gw);
  vn_copy(nw, w->steady.gv, *gv);
  for (int k = 0; k < w->steady.n; k++) {
    w->steady.x[k] = (*gv)[w->steady.dof[k]];
  }
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
