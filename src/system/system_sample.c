/* Signals at points of an integral, with no more than they need: the frames and twists of their own markers, without
   rows, forces and the watch of nodes. */
#include "system/system_internal.h"

#include <string.h>

/* marks the signals behind expressions, which come before them in the list */
static void mark_behind(const mbg_model *m, bool *on) {
  for (int i = m->nsignal - 1; i >= 0; i--) {
    const mbg__signal *sig = &m->signals[i];
    for (int k = 0; on[i] && sig->type->role == MBG__ROLE_VALUE && k < m->fns[sig->fn].ninput; k++) {
      if (m->fns[sig->fn].input[k].role == MBG__ROLE_SIGNAL) {
        on[m->fns[sig->fn].input[k].index] = true;
      }
    }
  }
}

static mbg__sampling_level level_of(const mbg_model *m, const mbg__signal *sig) {
  if (sig->level >= MBG__LEVEL_ACCELERATION) {
    return MBG__SAMPLE_ACCELERATIONS;
  }
  switch (sig->type->of) {
  case MBG__OF_CONTROL:
  case MBG__OF_VALUE:
    return MBG__SAMPLE_KINEMATICS;
  case MBG__OF_PAIR:
    return m->nmodal > 0 ? MBG__SAMPLE_FORCES : MBG__SAMPLE_KINEMATICS;
  case MBG__OF_COORD: /* turns are counted with all coordinates */
    return m->nmodal > 0 || m->coords[sig->coord].turn >= 0 ? MBG__SAMPLE_FORCES : MBG__SAMPLE_KINEMATICS;
  default:
    return MBG__SAMPLE_FORCES;
  }
}

/* places of true entries */
static int list(mbg__arena *arena, int n, const bool *on, int **out) {
  int count = 0;
  *out = MBG_TAKE(arena, int, n);
  for (int i = 0; *out && i < n; i++) {
    if (on[i]) {
      (*out)[count++] = i;
    }
  }
  return count;
}

static void mark_elements(const mbg_model *m, const mbg__sampling *w, bool *marker, bool *pair, bool *coord) {
  for (int k = 0; k < w->nsignal; k++) {
    const mbg__signal *sig = &m->signals[w->signal[k]];
    if (sig->type->of == MBG__OF_PAIR || sig->type->of == MBG__OF_COORD) {
      pair[signal_pair(m, sig)] = true;
    }
    if (sig->type->of == MBG__OF_COORD) {
      coord[sig->coord] = true;
    }
  }
  for (int i = 0; i < m->npair; i++) {
    if (pair[i]) {
      marker[m->pairs[i].A] = marker[m->pairs[i].B] = true;
    }
  }
}

int mbg__sampling_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *s, int nused, const int *used,
                         mbg__sampling *out) {
  const mbg_model *m = s->model;
  bool *on = MBG_TAKE(arena, bool, m->nsignal), *marker = MBG_TAKE(arena, bool, m->nmarker);
  bool *pair = MBG_TAKE(arena, bool, m->npair), *coord = MBG_TAKE(arena, bool, m->ncoord);
  *out = (mbg__sampling){.nused = nused, .used = used};
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; k < nused; k++) {
    on[used[k]] = true;
  }
  mark_behind(m, on);
  out->nsignal = list(arena, m->nsignal, on, &out->signal);
  if (out->signal) {
    mark_elements(m, out, marker, pair, coord);
  }
  out->nmarker = list(arena, m->nmarker, marker, &out->marker);
  out->npair = list(arena, m->npair, pair, &out->pair);
  out->ncoord = list(arena, m->ncoord, coord, &out->coord);
  for (int k = 0; out->signal && k < out->nsignal; k++) {
    const mbg__sampling_level level = level_of(m, &m->signals[out->signal[k]]);
    out->level = level > out->level ? level : out->level;
  }
  return mbg__arena_check(ctx, arena);
}

/* Has an update left the frames and twists of a sample at this state? */
static bool stands(const mbg__system *s, const mbg__sampling *w, const mbg__state *state) {
  bool there = !s->partial && s->t == state->t &&
               memcmp(s->H, state->H, (size_t)s->model->nbody * sizeof(*s->H)) == 0 &&
               memcmp(s->v, state->v, (size_t)s->model->nw * sizeof(real)) == 0;
  for (int k = 0; there && k < w->npair; k++) {
    there = s->pair_on[w->pair[k]];
  }
  return there;
}

typedef struct {
  mbg__system *s;
  const mbg__state *state;
} copy_job;

static void copy_body(void *user, int i) {
  const copy_job *j = user;
  const int off = j->s->model->bodies[i].voff;
  j->s->H[i] = j->state->H[i];
  v6_copy(j->s->v + off, j->state->v + off);
}

static void copy_bodies(mbg__system *s, const mbg__sampling *w, const mbg__state *state) {
  copy_job job = {s, state};
  if (!w->few) {
    mbg__pool_each(s->pool, MBG__EACH_SAMPLE, s->model->nbody, copy_body, &job);
    return;
  }
  for (int k = 0; k < w->nmarker; k++) {
    if (marker_body(s, w->marker[k]) >= 0) {
      copy_body(&job, marker_body(s, w->marker[k]));
    }
  }
}

static void place(mbg__system *s, const mbg__sampling *w, const mbg__state *state) {
  assert(w->level == MBG__SAMPLE_KINEMATICS);
  if (w->few || !stands(s, w, state)) {
    s->partial = true;
    s->place++;
    s->t = state->t;
    copy_bodies(s, w, state);
    mbg__kin_update_some(s, w);
  }
  for (int k = 0; k < w->ncoord; k++) {
    mbg__coord_update(s, w->coord[k]);
  }
}

static void take(const mbg__system *s, const mbg__sampling *w, real *y) {
  for (int k = 0; k < w->nused && y; k++) {
    y[k] = s->y[w->used[k]];
  }
}

int mbg__signal_finite(mbg_context *ctx, const mbg__system *s, int i) {
  const mbg__signal *sig = &s->model->signals[i];
  return isfinite(re(s->y[i]))
             ? MBG_OK
             : mbg__fail_at(ctx, MBG_ERROR_INPUT, &sig->where, 0, "signal '%s' is not finite at t = %g",
                            sig->name ? sig->name : sig->type->key, mbg__time_shown(re(s->t)));
}

int mbg__sample_values(mbg_context *ctx, mbg__system *s, const mbg__sampling *w, real *y) {
  int err = MBG_OK;
  for (int k = 0; k < w->nsignal; k++) {
    MBG_TRY(mbg__signal_value(ctx, s, w->signal[k]));
    MBG_TRY(mbg__signal_finite(ctx, s, w->signal[k]));
    s->sampled[w->signal[k]] = s->place;
  }
  take(s, w, y);
done:
  return err;
}

int mbg__system_sample(mbg_context *ctx, mbg__system *s, const mbg__sampling *w, const mbg__state *state, real *y) {
  place(s, w, state);
  return mbg__sample_values(ctx, s, w, y);
}

/* value and derivatives of one signal; the kernels of pairs give both */
static int both(mbg_context *ctx, mbg__system *s, int i) {
  const mbg__signal *sig = &s->model->signals[i];
  mbg__fn_env env;
  mbg__fn_value value;
  int err = MBG_OK;
  if (sig->type->of == MBG__OF_PAIR) {
    MBG_TRY(mbg__signal_linearize(ctx, s, i));
    s->y[i] = s->sig[i].y;
    return MBG_OK;
  }
  if (sig->type->role != MBG__ROLE_VALUE) {
    MBG_TRY(mbg__signal_value(ctx, s, i));
    return mbg__signal_linearize(ctx, s, i);
  }
  mbg__env(s, ctx, sig->fn, &env);
  MBG_TRY(mbg__fn_at(&env, 0, NULL, 1, &value));
  s->y[i] = value.f;
done:
  return err;
}

int mbg__sample_both(mbg_context *ctx, mbg__system *s, const mbg__sampling *w, real *y) {
  int err = MBG_OK;
  for (int k = 0; k < w->nsignal; k++) {
    MBG_TRY(both(ctx, s, w->signal[k]));
    MBG_TRY(mbg__signal_finite(ctx, s, w->signal[k]));
  }
  take(s, w, y);
done:
  return err;
}

int mbg__system_sample_both(mbg_context *ctx, mbg__system *s, const mbg__sampling *w, const mbg__state *state,
                            real *y) {
  place(s, w, state);
  return mbg__sample_both(ctx, s, w, y);
}

int mbg__system_sample_linearize(mbg_context *ctx, mbg__system *s, const mbg__sampling *w) {
  int err = MBG_OK;
  for (int k = 0; err == MBG_OK && k < w->nsignal; k++) {
    err = mbg__signal_linearize(ctx, s, w->signal[k]);
  }
  return err;
}

/* ---------------------------------------------------------------------- guards */

/* impulses that no function uses */
static void leave_impulses(mbg__system *s) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nsignal; i++) {
    s->aside[i] = m->signals[i].type->of == MBG__OF_EVENT;
  }
  for (int i = 0; i < m->nfn; i++) {
    for (int k = 0; k < m->fns[i].ninput; k++) {
      if (m->fns[i].input[k].role == MBG__ROLE_SIGNAL) {
        s->aside[m->fns[i].input[k].index] = false;
      }
    }
  }
}

void mbg__system_leave_guards(mbg__system *s, int nused, const int *used) {
  const mbg_model *m = s->model;
  leave_impulses(s);
  for (int i = 0; i < m->nevent; i++) {
    const mbg__event *e = &m->events[i];
    if (e->guard >= 0) {
      s->aside[e->guard] = !m->signals[e->guard].name;
    }
    for (int k = 0; k < e->nbase; k++) {
      s->aside[e->rate[k]] = true;
    }
  }
  for (int k = 0; k < nused; k++) {
    s->aside[used[k]] = false;
  }
}

int mbg__system_linearize_guard(mbg_context *ctx, mbg__system *s, int signal) {
  int err = MBG_OK;
  MBG_TRY(mbg__signal_value(ctx, s, signal));
  MBG_TRY(mbg__signal_finite(ctx, s, signal));
  MBG_TRY(mbg__signal_linearize(ctx, s, signal));
done:
  return err;
}

/* explicit in time: the derivative of a function by the clock */
static real by_clock(mbg__system *s, const mbg__signal *sig) {
  mbg__fn_env env;
  const int *act;
  const real *f_act;
  real y = 0;
  mbg__env(s, NULL, sig->fn, &env);
  const int n = mbg__fn_active(&env, 0, &act, &f_act);
  for (int k = 0; k < n; k++) {
    y += act[k] == s->model->clock ? f_act[k] : 0;
  }
  return y;
}

bool mbg__system_has_position_rate(const mbg__system *s, const mbg__sampling *w, int signal) {
  const mbg_model *m = s->model;
  if (w->level != MBG__SAMPLE_KINEMATICS || m->signals[signal].level != MBG__LEVEL_POSITION) {
    return false;
  }
  for (int k = 0; k < w->nsignal; k++) {
    const mbg__signal_of of = m->signals[w->signal[k]].type->of;
    if (of != MBG__OF_PAIR && of != MBG__OF_COORD && of != MBG__OF_VALUE) {
      return false;
    }
  }
  return true;
}

real mbg__system_position_rate(mbg__system *s, int signal) {
  const mbg_model *m = s->model;
  real y = 0;
  memset(s->weight, 0, ((size_t)signal + 1) * sizeof(real));
  s->weight[signal] = 1;
  mbg__signal_spread(s, signal);
  for (int i = 0; i <= signal; i++) {
    const mbg__signal *sig = &m->signals[i];
    if (r_some(s->weight[i] != 0)) {
      y += s->weight[i] *
           (sig->type->of == MBG__OF_VALUE ? by_clock(s, sig) : v6_dot(s->sig[i].y_w, s->vrel[signal_pair(m, sig)]));
    }
  }
  return y;
}
