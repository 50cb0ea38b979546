#include "system/kernels.h"

#include "elements/lists.h"

#include <string.h>

#define LIST(list) ((const void *const *)(list))

void mbg__kernels_here(mbg__kernels *k) {
  int *n = k->count;
  k->types[MBG__KERNELS_COORD] = LIST(mbg__coord_types(&n[MBG__KERNELS_COORD]));
  k->types[MBG__KERNELS_JOINT] = LIST(mbg__joint_types(&n[MBG__KERNELS_JOINT]));
  k->types[MBG__KERNELS_LAW] = LIST(mbg__law_types(&n[MBG__KERNELS_LAW]));
  k->types[MBG__KERNELS_FORCE] = LIST(mbg__force_types(&n[MBG__KERNELS_FORCE]));
  k->types[MBG__KERNELS_SIGNAL] = LIST(mbg__signal_types(&n[MBG__KERNELS_SIGNAL]));
  k->types[MBG__KERNELS_BODY] = LIST(mbg__body_types(&n[MBG__KERNELS_BODY]));
  k->node = &mbg__beam_node;
  k->carrier = &mbg__modes_carrier;
  k->states = &mbg__state_carrier;
  k->state_rate = &mbg__state_rate;
}

/* entry of list `which` of `own` at the place of `type` in the same list of `theirs` */
static const void *exchange(const void *type, int which, const mbg__kernels *theirs, const mbg__kernels *own) {
  for (int i = 0; type && i < own->count[which]; i++) {
    if (theirs->types[which][i] == type) {
      return own->types[which][i];
    }
  }
  return NULL;
}

/* kernels of rows stand in the types of joints and coordinates */
static mbg__row_kernel exchange_row(mbg__row_kernel kernel, const mbg__kernels *theirs, const mbg__kernels *own) {
  for (int i = 0; kernel && i < own->count[MBG__KERNELS_JOINT]; i++) {
    const mbg__joint_type *a = theirs->types[MBG__KERNELS_JOINT][i], *b = own->types[MBG__KERNELS_JOINT][i];
    for (int k = 0; k < b->nrow; k++) {
      const mbg__row_spec *x = &a->rows[k], *y = &b->rows[k];
      for (; x; x = x->plus, y = y->plus) {
        if (x->kernel == kernel) {
          return y->kernel;
        }
      }
    }
  }
  for (int i = 0; kernel && i < own->count[MBG__KERNELS_COORD]; i++) {
    const mbg__coord_type *a = theirs->types[MBG__KERNELS_COORD][i], *b = own->types[MBG__KERNELS_COORD][i];
    if (a->value == kernel || a->driver == kernel) {
      return a->value == kernel ? b->value : b->driver;
    }
  }
  assert(!kernel);
  return NULL;
}

/* coefficients of rows on rates stand in the types of joints, a further term beside the first */
static mbg__rate_kernel exchange_rate(mbg__rate_kernel kernel, const mbg__kernels *theirs, const mbg__kernels *own) {
  for (int i = 0; kernel && i < own->count[MBG__KERNELS_JOINT]; i++) {
    const mbg__joint_type *a = theirs->types[MBG__KERNELS_JOINT][i], *b = own->types[MBG__KERNELS_JOINT][i];
    for (int k = 0; k < b->nrow; k++) {
      const mbg__row_spec *x = &a->rows[k], *y = &b->rows[k];
      for (; x; x = x->plus, y = y->plus) {
        if (x->coefficients == kernel) {
          return y->coefficients;
        }
      }
    }
  }
  assert(!kernel);
  return NULL;
}

static const mbg__body_type *exchange_body(const mbg__body_type *type, const mbg__kernels *theirs,
                                           const mbg__kernels *own) {
  return type == theirs->node      ? own->node
         : type == theirs->carrier ? own->carrier
         : type == theirs->states  ? own->states
                                   : exchange(type, MBG__KERNELS_BODY, theirs, own);
}

static void *copy(mbg__arena *arena, int count, size_t size, const void *list) {
  void *out = mbg__arena_take(arena, (size_t)count, size);
  if (out && count > 0) {
    memcpy(out, list, (size_t)count * size);
  }
  return out;
}

static int copy_lists(mbg_context *ctx, mbg__arena *arena, mbg_model *m) {
  m->coords = copy(arena, m->ncoord, sizeof(*m->coords), m->coords);
  m->joints = copy(arena, m->njoint, sizeof(*m->joints), m->joints);
  m->terms = copy(arena, m->nterm, sizeof(*m->terms), m->terms);
  m->forces = copy(arena, m->nforce, sizeof(*m->forces), m->forces);
  m->signals = copy(arena, m->nsignal, sizeof(*m->signals), m->signals);
  m->bodies = copy(arena, m->nbody, sizeof(*m->bodies), m->bodies);
  return mbg__arena_check(ctx, arena);
}

int mbg__kernels_exchange(mbg_context *ctx, mbg__arena *arena, const mbg_model *model, const mbg__kernels *theirs,
                          mbg_model *m) {
  mbg__kernels own;
  mbg__kernels_here(&own);
  *m = *model;
  const int err = copy_lists(ctx, arena, m);
  if (err < 0) {
    return err;
  }
  for (int i = 0; i < m->ncoord; i++) {
    m->coords[i].type = exchange(m->coords[i].type, MBG__KERNELS_COORD, theirs, &own);
  }
  for (int i = 0; i < m->njoint; i++) {
    m->joints[i].type = exchange(m->joints[i].type, MBG__KERNELS_JOINT, theirs, &own);
  }
  for (int i = 0; i < m->nterm; i++) {
    m->terms[i].kernel = exchange_row(m->terms[i].kernel, theirs, &own);
    m->terms[i].coefficients = exchange_rate(m->terms[i].coefficients, theirs, &own);
  }
  for (int i = 0; i < m->nforce; i++) {
    mbg__force *f = &m->forces[i];
    f->law = f->law == theirs->state_rate ? own.state_rate : exchange(f->law, MBG__KERNELS_LAW, theirs, &own);
    f->type = exchange(f->type, MBG__KERNELS_FORCE, theirs, &own);
  }
  for (int i = 0; i < m->nsignal; i++) {
    m->signals[i].type = exchange(m->signals[i].type, MBG__KERNELS_SIGNAL, theirs, &own);
  }
  for (int i = 0; i < m->nbody; i++) {
    m->bodies[i].type = exchange_body(m->bodies[i].type, theirs, &own);
    assert(m->bodies[i].type);
  }
  return MBG_OK;
}
