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

int mbg__system_sample(mbg_context *ctx, mbg__system *s, const mbg__sampling *w, const mbg__state *state, real *y) {
  int err = MBG_OK;
  assert(w->level == MBG__SAMPLE_KINEMATICS);
  s->partial = true;
  s->t = state->t;
  memcpy(s->H, state->H, (size_t)s->model->nbody * sizeof(*s->H));
  memcpy(s->v, state->v, (size_t)s->model->nw * sizeof(real));
  mbg__kin_update_some(s, w);
  for (int k = 0; k < w->ncoord; k++) {
    mbg__coord_update(s, w->coord[k]);
  }
  for (int k = 0; k < w->nsignal; k++) {
    MBG_TRY(mbg__signal_value(ctx, s, w->signal[k]));
    MBG_TRY(mbg__signal_finite(ctx, s, w->signal[k]));
  }
  for (int k = 0; k < w->nused && y; k++) {
    y[k] = s->y[w->used[k]];
  }
done:
  return err;
}

int mbg__system_sample_linearize(mbg_context *ctx, mbg__system *s, const mbg__sampling *w) {
  int err = MBG_OK;
  for (int k = 0; err == MBG_OK && k < w->nsignal; k++) {
    err = mbg__signal_linearize(ctx, s, w->signal[k]);
  }
  return err;
}
