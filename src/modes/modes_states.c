/* First-order states of the model (mbg__user_state) in modes. A state is the velocity of a body whose place nothing
   reads: its column of K is 0, and K by places is K_x with the column of C there, in which the unknown of that place
   stands for the state itself. K_x determines the equilibrium; s^2 M + s C + K holds for s != 0, and the eigenvalues 0
   that belong to the places alone are left out (modes_general.c). */
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

void mbg__modes_states_move(const mbg_model *m, real *from, real *to) {
  for (int i = 0; i < m->nstate; i++) {
    to[mbg__modes_place(m, i)] = from[mbg__modes_place(m, i)];
    from[mbg__modes_place(m, i)] = 0;
  }
}

int mbg__modes_states_refuse(const mbg__modes_work *w, const char *what) {
  return mbg__fail_at(w->ctx, MBG_ERROR_INPUT, &w->given->states[0].where, 0, "%s", what);
}
