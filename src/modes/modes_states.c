/* First-order states of the model (mbg__user_state) in modes. A state is the velocity of a body whose place nothing
   reads: its column of K is 0, and K by places is K_x with the column of C there, in which the unknown of that place
   stands for the state itself. K_x determines the equilibrium; s^2 M + s C + K holds for s != 0, and the eigenvalues 0
   that belong to the places alone are left out (modes_general.c).

   Rows of late rates have derivatives by accelerations and multipliers, r_vd and r_lambda. The combination c of the
   rows of the mechanism that is added to such a row, M c + B^T kappa = -r_vd^T, B c = -r_lambda^T, leaves neither on
   motions that the constraints allow. The reduction (modes_reduce.c) works on rows with it; vectors y of the rows as
   they are follow from those of the reduction by its transpose. */
#include "modes/modes.h"

#include <string.h>

/* in equilibrium no state is held: initial values are guesses */
int mbg__modes_states_release(mbg__modes_work *w) {
  mbg__user_state *states = MBG_TAKE(&w->arena, mbg__user_state, w->model.nstate);
  if (mbg__arena_check(w->ctx, &w->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < w->model.nstate; i++) {
    states[i] = w->model.states[i];
    states[i].steady = true;
    states[i].start = -1;
  }
  w->model.states = states;
  return MBG_OK;
}

void mbg__modes_states_take(mbg__modes_work *w) {
  for (int i = 0; i < w->m->nstate; i++) {
    w->v[mbg__modes_place(w->m, i)] = w->result->v[mbg__modes_place(w->m, i)];
  }
}

void mbg__modes_states_columns(mbg__modes_work *w) {
  const mbg__csc *P = mbg__system_pattern_K(w->sys);
  if (w->m->nstate == 0) {
    return;
  }
  memcpy(w->Kx, w->K, (size_t)mbg__csc_count(P) * sizeof(real));
  for (int i = 0; i < w->m->nstate; i++) {
    const int j = w->m->dof[mbg__modes_place(w->m, i)];
    for (int e = P->colptr[j]; e < P->colptr[j + 1]; e++) {
      w->Kx[e] = w->C[e];
    }
  }
}

void mbg__modes_states_add(mbg__modes_work *w, double step, real *x) {
  for (int i = 0; i < w->m->nstate; i++) {
    const int place = mbg__modes_place(w->m, i);
    w->v[place] += step * x[w->m->dof[place]];
    x[w->m->dof[place]] = 0;
  }
}

void mbg__modes_states_move(const mbg_model *m, real *from, real *to) {
  for (int i = 0; i < m->nstate; i++) {
    to[mbg__modes_place(m, i)] = from[mbg__modes_place(m, i)];
    from[mbg__modes_place(m, i)] = 0;
  }
}

/* ---------------------------------------------------------------------- late rates */

int mbg__modes_late_create(mbg__modes_work *w) {
  w->nlate = mbg__system_late_rows(w->sys, &w->late_row);
  if (w->nlate == 0) {
    return MBG_OK;
  }
  w->by_lambda = MBG_TAKE(&w->arena, real, w->nlate * w->m->nrow + 1);
  w->late_c = MBG_TAKE(&w->arena, double, w->nlate * w->m->nv);
  return mbg__arena_check(w->ctx, &w->arena);
}

/* r_vd of late rate k (nv) without its own acceleration, and r_lambda on kept rows, negative */
static void late_side(const mbg__modes_work *w, int k, real *x) {
  const mbg__csc *P = mbg__system_pattern_K(w->sys);
  const int row = w->late_row[k], nv = w->m->nv, nrow = w->m->nrow;
  for (int j = 0; j < nv; j++) {
    x[j] = 0;
    for (int e = P->colptr[j]; e < P->colptr[j + 1]; e++) {
      x[j] -= P->rowind[e] == row && j != row ? w->M[e] : 0;
    }
  }
  for (int i = 0; i < nrow; i++) {
    x[nv + i] = w->result->rank->keep[i] ? -w->by_lambda[(size_t)k * (size_t)nrow + (size_t)i] : 0;
  }
}

int mbg__modes_late_prepare(mbg__modes_work *w) {
  int err = MBG_OK;
  real *x = NULL, *M = NULL;
  if (w->nlate == 0) {
    return MBG_OK;
  }
  x = MBG_TAKE(&w->arena, real, w->saddle.n);
  M = MBG_TAKE(&w->arena, real, mbg__csc_count(mbg__system_pattern_K(w->sys)));
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  mbg__system_matrices(w->sys, &(mbg__matrices){.M = M});
  mbg__saddle_clear(&w->saddle);
  mbg__saddle_add_K(&w->saddle, 1, M);
  mbg__saddle_add_rows(&w->saddle, w->B, w->B, w->result->rank->keep, NULL);
  MBG_TRY(mbg__saddle_factor(w->ctx, &w->saddle, "accelerations, which rates of states use"));
  for (int k = 0; k < w->nlate; k++) {
    late_side(w, k, x);
    mbg__klu_solve_T(w->saddle.klu, x, 1);
    for (int j = 0; j < w->m->nv; j++) {
      column(w->late_c, w->m->nv, k)[j] = re(x[j]);
    }
  }
done:
  return err;
}

void mbg__modes_late_combine(const mbg__modes_work *w, double *y) {
  for (int k = 0; k < w->nlate; k++) {
    y[w->late_row[k]] += dot(w->m->nv, column(w->late_c, w->m->nv, k), y);
  }
}

void mbg__modes_late_combine_T(const mbg__modes_work *w, double *y) {
  for (int k = w->nlate - 1; k >= 0; k--) {
    axpy(w->m->nv, y[w->late_row[k]], column(w->late_c, w->m->nv, k), y);
  }
}

int mbg__modes_states_refuse(const mbg__modes_work *w, const char *what) {
  return mbg__fail_at(w->ctx, MBG_ERROR_INPUT, &w->given->states[0].where, 0, "%s", what);
}
