/* Evaluations of a forward run, for its backward pass: a transposed stage then makes no factors. They are found by time
   and state, so that whatever is not there is evaluated. Large systems keep none: their factors fill memory. */
#include "formulations/qr/qr_flow.h"

#include <string.h>

static const size_t MOST = (size_t)32 << 20; /* bytes of a run */

/* cosines and sines of bodies in a plane go with their angles */
static size_t turn_bytes(const mbg__qr_flow *f) {
  return f->state.flat ? (size_t)f->m->nbody * sizeof(*f->state.turn) : 0;
}

static size_t step_count(const mbg__qr_memory *m) { return (size_t)m->nslot * (size_t)m->width; }

void mbg__qr_memory_clear(mbg__qr_flow *f) {
  f->allocator.release(f->allocator.user, f->memory.kept);
  f->allocator.release(f->allocator.user, f->memory.last);
  f->memory = (mbg__qr_memory){0};
}

/* room for one more step; without it the rest of the run is not kept */
static void grow(mbg__qr_flow *f) {
  mbg__qr_memory *m = &f->memory;
  if (m->nstep < m->room) {
    return;
  }
  const size_t most = MOST / (step_count(m) * sizeof(real)), wanted = 2 * (size_t)m->room + 4;
  const size_t room = wanted < most ? wanted : most;
  real *kept = room > (size_t)m->room
                   ? f->allocator.resize(f->allocator.user, m->kept, room * step_count(m) * sizeof(real))
                   : NULL;
  int *last = kept ? f->allocator.resize(f->allocator.user, m->last, room * sizeof(int)) : NULL;
  m->on = last != NULL;
  m->kept = kept ? kept : m->kept;
  m->last = last ? last : m->last;
  m->room = last ? (int)room : m->room;
  for (int i = m->nstep; m->on && i < m->room; i++) {
    m->last[i] = -1;
  }
}

/* no step has more evaluations than these when it is tried once, and the one before it */
void mbg__qr_memory_begin(mbg__qr_flow *f, int stages) {
  mbg__qr_memory *m = &f->memory;
  m->width = 1 + f->state.n + mbg__qr_point_count(f->point) + (int)(turn_bytes(f) / sizeof(real));
  m->nslot = stages + 1;
  m->nstep = m->next = 0;
  m->on = !(f->plan->memory > 0);
  if (m->on) {
    grow(f);
  }
}

void mbg__qr_memory_add(mbg__qr_flow *f, const real *z) {
  mbg__qr_memory *m = &f->memory;
  if (!m->on) {
    return;
  }
  real *slot = m->kept + (size_t)m->nstep * step_count(m) + (size_t)(m->next % m->nslot) * (size_t)m->width;
  slot[0] = f->t;
  memcpy(slot + 1, z, (size_t)f->state.n * sizeof(real));
  mbg__qr_point_keep(f->point, slot + 1 + f->state.n);
  memcpy(slot + 1 + f->state.n + mbg__qr_point_count(f->point), f->state.turn, turn_bytes(f));
  m->next++;
}

/* the search for events evaluates between them */
void mbg__qr_memory_accept(mbg__qr_flow *f, int after) {
  mbg__qr_memory *m = &f->memory;
  if (m->on && !f->plan->events) {
    m->last[m->nstep] = m->next - 1 - after;
  }
}

/* slots of the last step that it did not use have no time */
void mbg__qr_memory_step(mbg__qr_flow *f) {
  mbg__qr_memory *m = &f->memory;
  if (!m->on) {
    return;
  }
  for (; m->next < m->nslot; m->next++) {
    m->kept[(size_t)m->nstep * step_count(m) + (size_t)m->next * (size_t)m->width] = NAN;
  }
  m->nstep++;
  m->next = 0;
  grow(f);
}

void mbg__qr_memory_end(mbg__qr_flow *f) { f->memory.on = false; }

const real *mbg__qr_memory_argument(const mbg__qr_flow *f, int k, int i, int count, double t) {
  const mbg__qr_memory *m = &f->memory;
  const int at = k > 0 && k <= m->nstep && i <= count ? m->last[k - 1] - (count - i) : -1;
  if (at < 0) {
    return NULL;
  }
  const real *slot = m->kept + (size_t)(k - 1) * step_count(m) + (size_t)(at % m->nslot) * (size_t)m->width;
  return re(slot[0]) == re(mbg__segment_inside(&f->segment, t)) ? slot + 1 : NULL;
}

/* the evaluation at (f->t, z) in step k */
static const real *find(const mbg__qr_flow *f, int k, const real *z) {
  const mbg__qr_memory *m = &f->memory;
  for (int i = 0; k > 0 && k <= m->nstep && i < m->nslot; i++) {
    const real *slot = m->kept + (size_t)(k - 1) * step_count(m) + (size_t)i * (size_t)m->width;
    if (re(slot[0]) == re(f->t) && (slot + 1 == z || memcmp(slot + 1, z, (size_t)f->state.n * sizeof(real)) == 0)) {
      return slot + 1 + f->state.n;
    }
  }
  return NULL;
}

static int again_in_plane(mbg_context *ctx, mbg__qr_flow *f, const real *kept) {
  if (kept) {
    mbg__qr_point_again_in_plane(f->point, f->t, f->turns, kept, &f->v_star, &f->a);
    return MBG_OK;
  }
  return mbg__qr_point_eval_in_plane(ctx, f->point, f->t, f->turns, &f->v_star, &f->a);
}

int mbg__qr_flow_eval_again(mbg_context *ctx, mbg__qr_flow *f, int k, double t, const real *z) {
  int err = MBG_OK;
  f->t = mbg__segment_inside(&f->segment, t);
  const real *kept = find(f, k, z);
  kept = kept ? kept : find(f, k - 1, z); /* the end of a step is the first evaluation of the next */
  if (kept) {
    memcpy(f->state.turn, kept + mbg__qr_point_count(f->point), turn_bytes(f));
  }
  f->flat = mbg__qr_flow_in_plane(f, t, z);
  if (f->flat) {
    return again_in_plane(ctx, f, kept);
  }
  MBG_TRY(mbg__qr_flow_constraints(ctx, f, t, z, kept ? mbg__qr_point_rates(f->point, kept) : NULL));
  if (kept) {
    MBG_TRY(mbg__qr_point_again(ctx, f->point, f->t, f->H, f->v, f->turns, kept, &f->v_star, &f->a));
  } else {
    MBG_TRY(mbg__qr_point_eval_placed(ctx, f->point, f->t, f->H, f->v, f->turns, &f->v_star, &f->a));
  }
done:
  return err;
}
