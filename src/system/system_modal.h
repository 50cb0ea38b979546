/* Modal bodies as system_modal.c and system_modal_ends.c see them. */
#ifndef MBG_SYSTEM_SYSTEM_MODAL_H
#define MBG_SYSTEM_SYSTEM_MODAL_H

#include "system/system_internal.h"

static inline int modal_place(const mbg_model *m, int modal, int mode) {
  return m->bodies[mbg__modal_carrier(&m->modals[modal], mode)].voff + mode % 3;
}

/* the entries of a modal body, (6 + n), of a vector x over all velocities */
static inline void modal_gather(const mbg__system *s, int modal, const real *x, real *out) {
  const mbg_model *m = s->model;
  v6_copy(out, x + m->bodies[m->modals[modal].body].voff);
  for (int j = 0; j < m->modals[modal].n; j++) {
    out[6 + j] = x[modal_place(m, modal, j)];
  }
}

static inline void modal_gather_modes(const mbg__system *s, int modal, const real *x, real *out) {
  for (int j = 0; j < s->model->modals[modal].n; j++) {
    out[j] = x[modal_place(s->model, modal, j)];
  }
}

static inline void modal_scatter(const mbg__system *s, int modal, real c, const real *x, real *out) {
  const mbg_model *m = s->model;
  v6_axpy(out + m->bodies[m->modals[modal].body].voff, c, x);
  for (int j = 0; j < m->modals[modal].n; j++) {
    out[modal_place(m, modal, j)] += c * x[6 + j];
  }
}

static inline void modal_scatter_modes(const mbg__system *s, int modal, const real *x, real *out) {
  for (int j = 0; j < s->model->modals[modal].n; j++) {
    out[modal_place(s->model, modal, j)] += x[j];
  }
}

/* the direction as the modal body sees it */
static inline void modal_direction(const mbg__system *s, int modal, const mbg__direction *d) {
  mbg__modal_work *w = &s->modal[modal];
  if (d->w) {
    modal_gather_modes(s, modal, d->w, w->deta);
  }
  if (d->dv) {
    modal_gather(s, modal, d->dv, w->dnu);
  }
  if (d->dvd) {
    modal_gather(s, modal, d->dvd, w->dnud);
  }
}

static inline void add_column(const mbg__local *l, int c, const real *x, real *val) {
  for (int i = 0; val && i < l->n; i++) {
    val[l->slot[l->n * i + c]] += x[l->full[i]];
  }
}

static inline void clear_local(const mbg__local *l, real *x) {
  for (int i = 0; i < l->n; i++) {
    x[l->full[i]] = 0;
  }
}

#endif
