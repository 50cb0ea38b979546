/* Late rates (mbg__system_late): y' = F of the carriers of states whose rates use accelerations, reactions, forces or
   energies. Pushes and pulls treat them as forces with signals (system_push.c, system_pull.c); here stand their values,
   which come after everything else, their rows in matrices, and what solutions without these rows need. */
#include "system/system_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

/* signals behind a function, expressions included */
static void mark_needed(mbg__system *s, int fn) {
  const mbg_model *m = s->model;
  for (int j = 0; j < m->fns[fn].ninput; j++) {
    if (m->fns[fn].input[j].role == MBG__ROLE_SIGNAL) {
      s->late_needed[m->fns[fn].input[j].index] = true;
    }
  }
}

int mbg__late_create(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nforce; i++) {
    s->nlate += m->forces[i].late;
  }
  s->late = MBG_TAKE(&s->arena, int, s->nlate);
  s->late_row = MBG_TAKE(&s->arena, int, s->nlate);
  s->late_needed = MBG_TAKE(&s->arena, bool, m->nsignal);
  s->late_g = MBG_TAKE(&s->arena, real, s->nlate > 0 ? 3 * (size_t)m->nw + (size_t)m->nrow : 0);
  const int err = mbg__arena_check(ctx, &s->arena);
  for (int i = 0, n = 0; err == MBG_OK && s->nlate > 0 && i < m->nstate; i++) {
    const mbg__user_state *state = &m->states[i];
    if (m->forces[state->force].late) {
      s->late[n] = state->force;
      s->late_row[n++] = m->dof[m->bodies[state->body].voff + state->component];
      mark_needed(s, m->forces[state->force].fn);
    }
  }
  for (int i = m->nsignal - 1; err == MBG_OK && i >= 0; i--) {
    if (s->late_needed[i] && m->signals[i].type->role == MBG__ROLE_VALUE) {
      mark_needed(s, m->signals[i].fn); /* of signals before */
    }
  }
  return err;
}

bool mbg__system_has_late(const mbg__system *s) { return s->nlate > 0; }

bool mbg__system_late_reactions(const mbg__system *s) {
  bool any = false;
  for (int i = 0; i < s->model->nsignal; i++) {
    any = any || (s->late_needed[i] && s->model->signals[i].level == MBG__LEVEL_REACTION);
  }
  return any;
}

int mbg__system_late_rows(const mbg__system *s, const int **rows) {
  if (rows) {
    *rows = s->late_row;
  }
  return s->nlate;
}

/* ---------------------------------------------------------------------- values */

int mbg__late_update(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  int err = MBG_OK;
  for (int k = 0; k < s->nlate; k++) {
    v6_zero(s->f[s->late[k]]);
    s->tau[s->late[k]] = s->energy[s->late[k]] = 0;
  }
  for (int i = 0; s->late_on && s->nlate > 0 && i < m->nsignal; i++) {
    if (s->late_needed[i]) {
      MBG_TRY(mbg__signal_value(ctx, s, i));
    }
  }
  for (int k = 0; s->late_on && k < s->nlate; k++) {
    MBG_TRY(mbg__law_update(ctx, s, s->late[k]));
    v6_axpy(s->F[m->forces[s->late[k]].pair], 1, s->f[s->late[k]]);
  }
done:
  return err;
}

/* place of a late rate in vectors of velocities, and its component on the carrier, whose frame never turns */
static int place_of(const mbg__system *s, int k) { return s->model->full[s->late_row[k]]; }
static int component_of(const mbg__system *s, int k) { return place_of(s, k) % 6; }

int mbg__system_late(mbg_context *ctx, mbg__system *s, real *vd) {
  if (s->nlate == 0) {
    return MBG_OK;
  }
  for (int k = 0; k < s->nlate; k++) {
    v6_axpy(s->F[s->model->forces[s->late[k]].pair], -1, s->f[s->late[k]]);
  }
  s->late_on = true;
  const int err = mbg__late_update(ctx, s);
  for (int k = 0; err == MBG_OK && k < s->nlate; k++) {
    vd[place_of(s, k)] = s->vd[place_of(s, k)] = s->f[s->late[k]][component_of(s, k)]; /* mass 1 */
  }
  return err;
}

/* ---------------------------------------------------------------------- derivatives */

int mbg__late_linearize(mbg_context *ctx, mbg__system *s) {
  int err = MBG_OK;
  for (int i = 0; s->late_on && s->nlate > 0 && i < s->model->nsignal; i++) {
    if (s->late_needed[i]) {
      MBG_TRY(mbg__signal_linearize(ctx, s, i));
    }
  }
  for (int k = 0; s->late_on && k < s->nlate; k++) {
    MBG_TRY(mbg__law_linearize(ctx, s, s->late[k]));
  }
done:
  return err;
}

/* d y' / d F of a late rate */
static real weight_of(const mbg__system *s, int k) {
  return s->f_fn[s->model->forces[s->late[k]].fn][component_of(s, k)];
}

void mbg__system_late_push(mbg__system *s, real *dvd, const real *dlambda) {
  const mbg__direction d = {.dvd = dvd, .dlambda = dlambda};
  for (int k = 0; k < s->nlate; k++) {
    dvd[place_of(s, k)] += weight_of(s, k) * mbg__fn_signals_push(s, s->model->forces[s->late[k]].fn, &d);
  }
}

void mbg__system_late_pull(mbg__system *s, real *gvd, real *glambda) {
  const mbg__cotangent g = {.vd = gvd, .lambda = glambda};
  for (int k = 0; k < s->nlate; k++) {
    const real c = gvd[place_of(s, k)] * weight_of(s, k);
    if (c != 0) {
      mbg__fn_signals_pull(s, s->model->forces[s->late[k]].fn, c, &g);
    }
  }
}

/* row of a late rate in a matrix over free velocities, from the gradient g (nw) */
static void add_row(const mbg__system *s, int row, const real *g, real *val) {
  const mbg__csc *p = &s->patK;
  for (int j = 0; val && j < p->ncol; j++) {
    for (int e = p->colptr[j]; g[s->model->full[j]] != 0 && e < p->colptr[j + 1]; e++) {
      val[e] += p->rowind[e] == row ? g[s->model->full[j]] : 0;
    }
  }
}

void mbg__late_matrices(mbg__system *s, const mbg__matrices *out) {
  const mbg_model *m = s->model;
  const size_t nw = (size_t)m->nw, nr = (size_t)m->nrow;
  real *g = s->late_g;
  const mbg__cotangent to = {.w = g, .v = g + nw, .vd = g + 2 * nw, .lambda = g + 3 * nw};
  memset(out->late, 0, (size_t)s->nlate * nr * sizeof(real));
  for (int k = 0; !s->bare && s->late_on && k < s->nlate; k++) {
    mbg__fn_signals_pull(s, m->forces[s->late[k]].fn, -weight_of(s, k), &to); /* r = y' - F */
    add_row(s, s->late_row[k], to.w, out->K);
    add_row(s, s->late_row[k], to.v, out->C);
    add_row(s, s->late_row[k], to.vd, out->M);
    memcpy(out->late + (size_t)k * nr, to.lambda, nr * sizeof(real));
    memset(g, 0, (3 * nw + nr) * sizeof(real));
  }
}
