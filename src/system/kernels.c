#include "system/kernels.h"

#include "elements/lists.h"
#include "elements/strand_kernels.h"

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
  const mbg__row_kernel strand[MBG__KERNELS_STRAND] = {mbg__strand_bearing, mbg__strand_angle, mbg__strand_out,
                                                       mbg__strand_back};
  for (int i = 0; i < MBG__KERNELS_STRAND; i++) {
    k->strand[i] = (void (*)(void))strand[i];
  }
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

/* kernels of rows stand in the types of joints and coordinates; those of tendons in a list of their own */
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
  for (int i = 0; kernel && i < MBG__KERNELS_STRAND; i++) {
    if (theirs->strand[i] == (void (*)(void))kernel) {
      return (mbg__row_kernel)own->strand[i];
    }
  }
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

/* A term in the place of the same term with their kernels. A kernel that no list has would leave the row without its
   imaginary part: an error, not a wrong derivative. */
static int exchange_term(mbg_context *ctx, const mbg__kernels *theirs, const mbg__kernels *own, mbg__term *t) {
  const mbg__row_kernel kernel = exchange_row(t->kernel, theirs, own);
  const mbg__rate_kernel coefficients = exchange_rate(t->coefficients, theirs, own);
  if (!kernel != !t->kernel || !coefficients != !t->coefficients) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "a constraint of the model has no kernel for complex numbers");
  }
  t->kernel = kernel;
  t->coefficients = coefficients;
  return MBG_OK;
}

/* coordinates; those of tendons have terms of their own */
static int exchange_coords(mbg_context *ctx, mbg__arena *arena, const mbg__kernels *theirs, const mbg__kernels *own,
                           mbg_model *m) {
  int err = MBG_OK;
  for (int i = 0; i < m->ncoord; i++) {
    mbg__coord *c = &m->coords[i];
    c->type = exchange(c->type, MBG__KERNELS_COORD, theirs, own);
    if (c->term) {
      mbg__term *term = copy(arena, 1, sizeof(*term), c->term);
      MBG_TRY(mbg__arena_check(ctx, arena));
      MBG_TRY(exchange_term(ctx, theirs, own, term));
      c->term = term;
    }
  }
done:
  return err;
}

int mbg__kernels_exchange(mbg_context *ctx, mbg__arena *arena, const mbg_model *model, const mbg__kernels *theirs,
                          mbg_model *m) {
  int err = MBG_OK;
  mbg__kernels own;
  mbg__kernels_here(&own);
  *m = *model;
  MBG_TRY(copy_lists(ctx, arena, m));
  MBG_TRY(exchange_coords(ctx, arena, theirs, &own, m));
  for (int i = 0; i < m->njoint; i++) {
    m->joints[i].type = exchange(m->joints[i].type, MBG__KERNELS_JOINT, theirs, &own);
  }
  for (int i = 0; i < m->nterm; i++) {
    MBG_TRY(exchange_term(ctx, theirs, &own, &m->terms[i]));
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
done:
  return err;
}
