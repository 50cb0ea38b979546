/* Elements of beams as system_beams.c and system_beam_signals.c see them. */
#ifndef MBG_SYSTEM_SYSTEM_BEAMS_H
#define MBG_SYSTEM_SYSTEM_BEAMS_H

#include "system/system_internal.h"

/* data of an element, gathered from model, design and state */
typedef struct {
  const mbg__beam_element *e;
  const mbg__beam_data *data;
  const mbg__beam_shape *shape;
  const real *K; /* coefficients by name */
  real eta;
  const mbg__beam_state *state;
} mbg__element;

static inline mbg__element element_of(const mbg__system *s, int i) {
  const mbg__beam_element *e = &s->model->elements[i];
  const mbg__beam_data *data = &s->design->elements[i];
  return (mbg__element){.e = e,
                        .data = data,
                        .shape = &s->design->shapes[e->reference],
                        .K = data->c + MBG__BEAM_K,
                        .eta = data->c[MBG__BEAM_ETA],
                        .state = &s->beam[i]};
}

static inline void element_gather(const mbg__system *s, const mbg__element *b, const real *x, real out[12]) {
  v6_copy(out, x + s->model->bodies[b->e->body[0]].voff);
  v6_copy(out + 6, x + s->model->bodies[b->e->body[1]].voff);
}

static inline void element_scatter(const mbg__system *s, const mbg__element *b, real c, const real x[12], real *out) {
  v6_axpy(out + s->model->bodies[b->e->body[0]].voff, c, x);
  v6_axpy(out + s->model->bodies[b->e->body[1]].voff, c, x + 6);
}

static inline void element_mul(real out[12], const real M[144], const real x[12]) {
  vn_zero(12, out);
  mn_mulv_add(12, out, M, x);
}

/* gravity in the axes of node k */
static inline void node_gravity(const mbg__system *s, const mbg__element *b, int k, const real g[3], real a[3]) {
  m3_mulv_T(a, s->H[b->e->body[k]].R, g);
}

static inline real half_mass(const mbg__element *b) { return b->data->c[MBG__BEAM_MU] * b->shape->L / 2; }

/* Gradients by the coefficients and by d0 of an element, added to the attributes; ga NULL: nothing. */
void mbg__element_attributes_pull(const mbg__element *b, const real gc[MBG__BEAM_COEFS], const real gd0[6], real *ga);

#endif
