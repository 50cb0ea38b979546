/* Changes of the start besides those of the parameters (theory 6, section 8). With S = [W B^T; B 0] on the kept rows:

     S (w0, .) = (W w, 0)        S (v0, .) = (W v, -phid_H w0)

   S is symmetric, so that the transpose solves with the same factors. With them a given state follows its constraints:

     S (w0, .) = (0, -phi_p)     S (v0, .) = (0, -phid_p - phid_H w0) */
#include "start/start_internal.h"

#include <string.h>

void mbg__start_change(mbg__start_work *w, const real *dw, const real *dv) {
  w->change_w = dw;
  w->change_v = dv;
}

void mbg__start_keep(mbg__start_work *w, real *gw, real *gv) {
  w->keep_w = gw;
  w->keep_v = gv;
}

static bool is_state(const mbg_model *m, int body) { return m->bodies[body].state >= 0; }

void mbg__start_add_change(const mbg__start_work *w, int p, bool states, real *w0, real *v0) {
  const size_t at = (size_t)p * (size_t)w->m->nw;
  for (int b = 0; p >= 0 && w->change_w && b < w->m->nbody; b++) {
    const int off = w->m->bodies[b].voff;
    if (is_state(w->m, b) == states) {
      v6_axpy(w0 + off, 1, w->change_w + at + off);
      v6_axpy(v0 + off, 1, w->change_v + at + off);
    }
  }
}

void mbg__start_keep_cotangents(mbg__start_work *w, const real *gw, const real *gv, const real *states) {
  const mbg_model *m = w->m;
  if (!w->keep_w) {
    return;
  }
  vn_copy(m->nw, w->keep_w, gw);
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    v6_copy(w->keep_v + off, (is_state(m, b) ? states : gv) + off);
  }
  w->keep_w += m->nw;
  w->keep_v += m->nw;
}

typedef struct {
  mbg__start_work *w;
  mbg__arena arena;
  mbg__saddle saddle;
  real *x, *row, *full; /* (n of the saddle, nrow, nw) */
} projection;

static int prepare(mbg_context *ctx, projection *s) {
  mbg__start_work *w = s->w;
  const mbg__state state = {.t = w->result.t, .H = w->result.H, .v = w->result.v, .turns = w->result.turns};
  int err = MBG_OK;
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  real *B = MBG_TAKE(&s->arena, real, mbg__csc_count(mbg__system_pattern_B(w->sys)));
  s->row = MBG_TAKE(&s->arena, real, w->m->nrow);
  s->full = MBG_TAKE(&s->arena, real, w->m->nw);
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  MBG_TRY(mbg__saddle_create(ctx, &s->arena, w->sys, 0, NULL, MBG__KLU_FRESH, &s->saddle));
  s->x = MBG_TAKE(&s->arena, real, s->saddle.n);
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  MBG_TRY(mbg__system_update_bare(ctx, w->sys, &state));
  MBG_TRY(mbg__system_linearize(ctx, w->sys));
  mbg__system_matrices(w->sys, &(mbg__matrices){.B = B});
  mbg__saddle_clear(&s->saddle);
  mbg__saddle_add_metric(&s->saddle, 1);
  mbg__saddle_add_rows(&s->saddle, B, B, w->result.rank->keep, NULL);
  MBG_TRY(mbg__saddle_factor(ctx, &s->saddle, "start"));
done:
  return err;
}

static void end(projection *s) {
  mbg__saddle_destroy(&s->saddle);
  mbg__arena_destroy(&s->arena);
}

/* x = S^-1 (f, -g) with f (nw) times the metric or 1, and the kept rows of g; NULL: 0 */
static void solve(projection *s, const real *f, bool metric, const real *g) {
  const mbg_model *m = s->w->m;
  for (int j = 0; j < m->nv; j++) {
    const int i = m->full[j];
    s->x[j] = !f ? 0 : metric ? s->w->W[i] * f[i] : f[i];
  }
  for (int i = 0; i < m->nrow; i++) {
    s->x[m->nv + i] = g && s->w->result.rank->keep[i] ? -g[i] : 0;
  }
  mbg__klu_solve(s->saddle.klu, s->x, 1);
}

int mbg__start_project(mbg_context *ctx, mbg__start_work *w, int n, real *dw, real *dv) {
  const mbg_model *m = w->m;
  projection s = {.w = w};
  int err = MBG_OK;
  MBG_TRY(prepare(ctx, &s));
  for (int k = 0; k < n; k++) {
    real *own = dw + (size_t)k * (size_t)m->nw, *rate = dv + (size_t)k * (size_t)m->nw;
    const mbg__direction d = {.w = own};
    solve(&s, own, true, NULL);
    vn_zero(m->nw, own);
    mbg__to_full(m, 1, s.x, own);
    mbg__system_push(w->sys, &d, NULL, NULL, s.row, NULL);
    solve(&s, rate, true, s.row);
    vn_zero(m->nw, rate);
    mbg__to_full(m, 1, s.x, rate);
  }
done:
  end(&s);
  return err;
}

/* W times the velocities of the solution */
static void weigh(const projection *s, real *out) {
  const mbg_model *m = s->w->m;
  vn_zero(m->nw, out);
  for (int j = 0; j < m->nv; j++) {
    out[m->full[j]] = s->w->W[m->full[j]] * s->x[j];
  }
}

/* the kept rows of the solution, with a minus */
static void take_rows(const projection *s) {
  for (int i = 0; i < s->w->m->nrow; i++) {
    s->row[i] = s->w->result.rank->keep[i] ? -s->x[s->w->m->nv + i] : 0;
  }
}

int mbg__start_project_T(mbg_context *ctx, mbg__start_work *w, int n, real *gw, real *gv) {
  const mbg_model *m = w->m;
  projection s = {.w = w};
  int err = MBG_OK;
  MBG_TRY(prepare(ctx, &s));
  for (int k = 0; k < n; k++) {
    real *own = gw + (size_t)k * (size_t)m->nw, *rate = gv + (size_t)k * (size_t)m->nw;
    solve(&s, rate, false, NULL);
    weigh(&s, rate);
    take_rows(&s);
    mbg__system_pull(w->sys, NULL, NULL, s.row, NULL, own, NULL, NULL, NULL, NULL);
    solve(&s, own, false, NULL);
    weigh(&s, own);
  }
done:
  end(&s);
  return err;
}

/* ---------------------------------------------------------------------- given states */

enum { FOLLOW_MAX = 20 };

/* one step of Newton for the frames, and the twists there; the largest residual before it */
static int follow_step(mbg_context *ctx, mbg__start_work *w, double *most) {
  const mbg_model *m = w->m;
  projection s = {.w = w};
  int err = MBG_OK;
  MBG_TRY(prepare(ctx, &s));
  mbg__system_residual(w->sys, NULL, s.row, NULL, NULL, NULL);
  *most = 0;
  for (int i = 0; i < m->nrow; i++) {
    *most = fmax(*most, w->result.rank->keep[i] ? fabs(re(s.row[i])) : 0);
  }
  solve(&s, NULL, false, s.row);
  vn_zero(m->nw, s.full);
  mbg__to_full(m, 1, s.x, s.full);
  for (int b = 0; b < m->nbody; b++) {
    const mbg__frame H = w->result.H[b];
    mbg__se3_retract(&w->result.H[b], &H, s.full + m->bodies[b].voff);
  }
  mbg__system_residual(w->sys, NULL, NULL, s.row, NULL, NULL);
  solve(&s, NULL, false, s.row);
  vn_zero(m->nw, s.full);
  mbg__to_full(m, 1, s.x, s.full);
  for (int i = 0; i < m->nw; i++) {
    w->result.v[i] += s.full[i];
  }
done:
  end(&s);
  return err;
}

/* steps until residuals do not fall any more, then one for the twists at the last frames; what is left is looked at by
   the caller */
int mbg__start_follow(mbg_context *ctx, mbg__start_work *w) {
  const mbg_model *m = w->m;
  double most = INFINITY, before = INFINITY;
  int err = MBG_OK;
  for (int k = 0; k < FOLLOW_MAX && (most > 1e-14 || k < 2) && (most < before || k < 2); k++) {
    before = most;
    MBG_TRY(follow_step(ctx, w, &most));
  }
  if (!w->followed) {
    memcpy(w->given_H, w->result.H, (size_t)m->nbody * sizeof(*w->given_H));
    memcpy(w->given_v, w->result.v, (size_t)m->nw * sizeof(real));
    w->followed = true;
  }
done:
  return err;
}

int mbg__start_follow_push(mbg_context *ctx, mbg__start_work *w, const real *da, real *w0, real *v0) {
  const mbg_model *m = w->m;
  projection s = {.w = w};
  const mbg__direction own = {.da = da}, both = {.w = w0, .da = da};
  int err = MBG_OK;
  MBG_TRY(prepare(ctx, &s));
  mbg__system_push(w->sys, &own, NULL, s.row, NULL, NULL);
  solve(&s, NULL, false, s.row);
  vn_zero(m->nw, w0);
  mbg__to_full(m, 1, s.x, w0);
  mbg__system_push(w->sys, &both, NULL, NULL, s.row, NULL);
  solve(&s, NULL, false, s.row);
  vn_zero(m->nw, v0);
  mbg__to_full(m, 1, s.x, v0);
done:
  end(&s);
  return err;
}

int mbg__start_follow_pull(mbg_context *ctx, mbg__start_work *w, const real *gw, const real *gv, real *ga) {
  projection s = {.w = w};
  int err = MBG_OK;
  MBG_TRY(prepare(ctx, &s));
  vn_copy(w->m->nw, s.full, gw);
  solve(&s, gv, false, NULL);
  take_rows(&s);
  mbg__system_pull(w->sys, NULL, NULL, s.row, NULL, s.full, NULL, NULL, NULL, ga);
  solve(&s, s.full, false, NULL);
  take_rows(&s);
  mbg__system_pull(w->sys, NULL, s.row, NULL, NULL, NULL, NULL, NULL, NULL, ga);
done:
  end(&s);
  return err;
}
