#include "formulations/qr/qr_flow.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

int mbg__qr_flow_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, const mbg__rank *rank,
                        const mbg__run_plan *plan, int nused, const int *used, mbg__qr_flow **out) {
  const mbg_model *m = mbg__system_model(sys);
  int err = MBG_OK;
  mbg__qr_flow *f = MBG_TAKE(arena, mbg__qr_flow, 1);
  *out = f;
  if (!f) {
    return mbg__fail_memory(ctx);
  }
  *f = (mbg__qr_flow){.ctx = ctx,
                      .allocator = *mbg__context_allocator(ctx),
                      .m = m,
                      .sys = sys,
                      .plan = plan,
                      .nused = nused,
                      .used = used,
                      .full = mbg__ode_needs_accelerations(m, m->nsignal, NULL),
                      .segment = {-INFINITY, INFINITY}};
  f->H = MBG_TAKE(arena, mbg__frame, m->nbody);
  f->v = MBG_TAKE(arena, real, m->nw);
  f->turns = MBG_TAKE(arena, int, m->nturn);
  f->before = MBG_TAKE(arena, int, m->nturn);
  f->q = MBG_TAKE(arena, real, m->ncoord);
  f->qd = MBG_TAKE(arena, real, m->ncoord);
  MBG_TRY(mbg__qr_state_create(ctx, arena, m, &f->state));
  f->z = MBG_TAKE(arena, real, f->state.n);
  MBG_TRY(mbg__qr_point_create(ctx, arena, sys, rank, plan->stabilization, &f->point));
  MBG_TRY(mbg__sampling_create(ctx, arena, sys, nused, used, &f->sampling));
  if (plan->npose == 0) { /* poses are those of the system */
    MBG_TRY(mbg__plane_sample_create(ctx, arena, sys, &f->sampling, &f->plane_sample));
    MBG_TRY(mbg__plane_turns_create(ctx, arena, sys, &f->turning, &f->plane_turns));
  }
done:
  return err;
}

void mbg__qr_flow_destroy(mbg__qr_flow *f) {
  if (f) {
    f->allocator.release(f->allocator.user, f->anchors.t);
    f->allocator.release(f->allocator.user, f->anchors.q);
    f->allocator.release(f->allocator.user, f->memory.kept);
    f->allocator.release(f->allocator.user, f->memory.last);
  }
}

/* ---------------------------------------------------------------------- whole turns */

static void *grow(const mbg__qr_flow *f, void *block, size_t count, size_t size) {
  return f->allocator.resize(f->allocator.user, block, count * size + 1);
}

int mbg__qr_flow_anchor(mbg_context *ctx, mbg__qr_flow *f, double t) {
  mbg__qr_anchors *a = &f->anchors;
  const size_t n = (size_t)f->m->ncoord;
  if (f->m->nturn == 0) {
    return MBG_OK;
  }
  if (a->count == a->room) {
    const int room = 2 * a->room + 64;
    double *times = grow(f, a->t, (size_t)room, sizeof(double));
    a->t = times ? times : a->t;
    real *q = grow(f, a->q, (size_t)room * 2 * n, sizeof(real));
    a->q = q ? q : a->q;
    if (!times || !q) {
      return mbg__fail_memory(ctx);
    }
    a->room = room;
  }
  real *q = a->q + (size_t)a->count * 2 * n;
  mbg__system_coords(f->sys, q);
  mbg__system_coord_rates(f->sys, q + n);
  a->t[a->count++] = t;
  return MBG_OK;
}

/* last anchor not later than t */
static int anchor_before(const mbg__qr_anchors *a, double t) {
  int lo = 0, hi = a->count - 1;
  while (lo < hi) {
    const int mid = (lo + hi + 1) / 2;
    if (a->t[mid] <= t) {
      lo = mid;
    } else {
      hi = mid - 1;
    }
  }
  return lo;
}

/* whole turns since the anchor before t; true when they have changed */
static bool count_turns(mbg__qr_flow *f, double t) {
  const size_t n = (size_t)f->m->ncoord;
  const int k = anchor_before(&f->anchors, t);
  const real *q = f->anchors.q + (size_t)k * 2 * n;
  bool changed = false;
  memcpy(f->before, f->turns, (size_t)f->m->nturn * sizeof(int));
  mbg__ode_turns(f->sys, f->anchors.t[k], q, q + n, t, f->q, f->qd, f->turns);
  for (int i = 0; i < f->m->nturn; i++) {
    changed = changed || f->turns[i] != f->before[i];
  }
  return changed;
}

/* updates the constraints at (t, H, v); turns seldom differ from the last evaluation */
static int place(mbg_context *ctx, mbg__qr_flow *f, real t, const real *vd) {
  const mbg__state state = {.t = t, .H = f->H, .v = f->v, .vd = vd, .turns = f->turns};
  const int err = mbg__system_update_bare(ctx, f->sys, &state);
  return err == MBG_OK && f->m->nturn > 0 && count_turns(f, re(t)) ? mbg__system_update_bare(ctx, f->sys, &state) : err;
}

/* ---------------------------------------------------------------------- evaluation */

enum { RECENT = (int)(sizeof(((mbg__qr_flow *)0)->recent) / sizeof(((mbg__qr_flow *)0)->recent[0])) };

static void forget(mbg__qr_flow *f) {
  f->read = f->rated_flat = false;
  for (int i = 0; i < RECENT; i++) {
    f->recent[i].t = NAN;
  }
}

/* frames and twists of z; a stage is looked at for its signals and its rates, one after the other */
static void read_state(mbg__qr_flow *f, const real *z) {
  const size_t bytes = (size_t)f->state.n * sizeof(real);
  if (!f->read || memcmp(f->z, z, bytes) != 0) {
    mbg__qr_state_read(&f->state, z, f->H, f->v);
    memcpy(f->z, z, bytes);
    f->read = true;
  }
}

int mbg__qr_flow_begin(mbg_context *ctx, mbg__qr_flow *f, const mbg__start_result *start, real *z) {
  const mbg__state state = {.t = start->t, .H = start->H, .v = start->v, .turns = start->turns};
  const int err = mbg__system_update_bare(ctx, f->sys, &state);
  if (err < 0) {
    return err;
  }
  f->anchors.count = 0;
  mbg__qr_point_begin(f->point);
  forget(f);
  memcpy(f->turns, start->turns, (size_t)f->m->nturn * sizeof(int));
  mbg__qr_state_begin(&f->state, start->H, start->v, z);
  f->flat_signals = f->plane_sample && f->state.flat && mbg__plane_sample_begin(f->plane_sample) &&
                    mbg__plane_sample_begin(f->plane_turns);
  return mbg__qr_flow_anchor(ctx, f, re(start->t));
}

int mbg__qr_flow_constraints(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z, const real *vd) {
  read_state(f, z);
  f->t = mbg__segment_inside(&f->segment, t);
  return place(ctx, f, f->t, vd);
}

int mbg__qr_flow_eval(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z) {
  int err = MBG_OK;
  f->evaluations++;
  MBG_TRY(mbg__qr_flow_constraints(ctx, f, t, z, NULL));
  MBG_TRY(mbg__qr_point_eval_placed(ctx, f->point, f->t, f->H, f->v, f->turns, &f->v_star, &f->a));
done:
  return err;
}

int mbg__qr_flow_place(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z) {
  int err = MBG_OK;
  MBG_TRY(mbg__qr_flow_constraints(ctx, f, t, z, NULL));
  MBG_TRY(mbg__system_update_forces(ctx, f->sys));
done:
  return err;
}

bool mbg__qr_flow_in_plane(mbg__qr_flow *f, real t, const real *z) {
  if (!f->state.flat || !mbg__qr_point_has_plane(f->point)) {
    return false;
  }
  f->t = mbg__segment_inside(&f->segment, t);
  mbg__qr_state_read_frames(&f->state, z, mbg__qr_point_frames(f->point));
  return mbg__qr_point_in_frames(f->point, z + f->state.nplace);
}

static int eval_rates(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z) {
  f->rated_flat = mbg__qr_flow_in_plane(f, t, z);
  if (f->rated_flat) {
    f->evaluations++;
    return mbg__qr_point_eval_in_plane(ctx, f->point, f->t, f->turns, &f->v_star, &f->a);
  }
  return mbg__qr_flow_eval(ctx, f, t, z);
}

int mbg__qr_flow_rhs(void *flow, real t, const real *z, real *zd) {
  mbg__qr_flow *f = flow;
  const int err = eval_rates(f->ctx, f, t, z);
  if (err == MBG_OK) {
    f->recent[f->next].t = re(f->t);
    f->recent[f->next].independence = mbg__qr_point_independence(f->point, &f->recent[f->next].row);
    f->next = (f->next + 1) % RECENT;
    mbg__qr_memory_add(f, z);
    mbg__qr_state_rates(&f->state, z, f->v_star, f->a, zd);
  }
  return mbg__ode_status(err);
}

/* the last evaluation but i */
static int recent(const mbg__qr_flow *f, int i) { return (f->next + RECENT - 1 - i) % RECENT; }

/* the last evaluation at the time of the flow, -1: there is none */
static int find_recent(const mbg__qr_flow *f) {
  for (int i = 0; i < RECENT; i++) {
    if (f->recent[recent(f, i)].t == re(f->t)) {
      return recent(f, i);
    }
  }
  return -1;
}

bool mbg__qr_flow_recall(mbg__qr_flow *f) {
  const int k = find_recent(f);
  if (k >= 0) {
    mbg__qr_point_recall(f->point, f->recent[k].independence, f->recent[k].row);
  }
  return k >= 0;
}

bool mbg__qr_flow_stands(mbg__qr_flow *f, real t) {
  return f->rated_flat && f->flat_signals && !mbg__system_watched(f->sys)->on &&
         f->recent[recent(f, 0)].t == re(mbg__segment_inside(&f->segment, t));
}

void mbg__qr_flow_recall_in_plane(mbg__qr_flow *f, real t, const real *z) {
  (void)mbg__qr_flow_in_plane(f, t, z);
  const int k = find_recent(f);
  if (k >= 0) {
    mbg__qr_point_recall_in_plane(f->point, f->recent[k].independence, f->recent[k].row);
  }
}

/* frames for signals, or turns, in a plane */
static void read_flat(mbg__qr_flow *f, mbg__plane_sample *sample, const real *z) {
  int count;
  const int *body = mbg__plane_sample_bodies(sample, &count);
  for (int i = 0; i < count; i++) {
    mbg__qr_state_read_frame(&f->state, body[i], z, mbg__plane_sample_frame(sample, i));
  }
}

int mbg__qr_flow_anchor_in_plane(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z) {
  if (f->m->nturn == 0) {
    return MBG_OK;
  }
  f->t = mbg__segment_inside(&f->segment, t);
  read_flat(f, f->plane_turns, z);
  mbg__plane_sample_coords(f->plane_turns, f->t, z + f->state.nplace, f->turns);
  if (count_turns(f, re(f->t))) {
    mbg__plane_sample_coords(f->plane_turns, f->t, z + f->state.nplace, f->turns);
  }
  return mbg__qr_flow_anchor(ctx, f, re(t));
}

int mbg__qr_flow_sample(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z, real *y) {
  f->t = mbg__segment_inside(&f->segment, t);
  if (f->flat_signals) {
    read_flat(f, f->plane_sample, z);
    return mbg__plane_sample_values(ctx, f->plane_sample, f->t, z + f->state.nplace, y);
  }
  read_state(f, z);
  const mbg__state state = {.t = f->t, .H = f->H, .v = f->v};
  return mbg__system_sample(ctx, f->sys, &f->sampling, &state, y);
}

int mbg__qr_flow_linearize_signals(mbg_context *ctx, mbg__qr_flow *f, double t, const real *z) {
  int err = MBG_OK;
  if (f->flat_signals) {
    f->t = mbg__segment_inside(&f->segment, t);
    read_flat(f, f->plane_sample, z);
    MBG_TRY(mbg__plane_sample_both(ctx, f->plane_sample, f->t, z + f->state.nplace));
  } else if (f->sampling.level == MBG__SAMPLE_KINEMATICS) {
    f->t = mbg__segment_inside(&f->segment, t);
    read_state(f, z);
    const mbg__state state = {.t = f->t, .H = f->H, .v = f->v};
    MBG_TRY(mbg__system_sample_both(ctx, f->sys, &f->sampling, &state, NULL));
  } else {
    MBG_TRY(mbg__qr_flow_place(ctx, f, t, z));
    MBG_TRY(mbg__system_linearize(ctx, f->sys));
    MBG_TRY(mbg__system_linearize_signals(ctx, f->sys));
  }
done:
  return err;
}

int mbg__qr_flow_signals(mbg_context *ctx, mbg__qr_flow *f, real *y) {
  const int err = f->full ? mbg__qr_point_full(ctx, f->point) : MBG_OK;
  return err < 0 ? err : mbg__system_record(ctx, f->sys, f->nused, f->used, 0, y);
}

/* ---------------------------------------------------------------------- linear parts */

void mbg__qr_flow_add_ad(const mbg__qr_flow *f, real c, const real *w, real *out) {
  for (int b = 0; b < f->m->nbody; b++) {
    const int off = f->m->bodies[b].voff;
    real x[6];
    ad_mul(x, f->v_star + off, w + off);
    v6_axpy(out + off, c, x);
  }
}

void mbg__qr_flow_add_adT(const mbg__qr_flow *f, real c, const real *mu, real *out) {
  for (int b = 0; b < f->m->nbody; b++) {
    const int off = f->m->bodies[b].voff;
    real x[6];
    adT_mul(x, f->v_star + off, mu + off);
    v6_axpy(out + off, c, x);
  }
}

int mbg__qr_flow_jacobian(mbg_context *ctx, mbg__qr_flow *f, const real *z, real *J, real *scratch) {
  const size_t nw = (size_t)f->m->nw, n = (size_t)f->state.n;
  real *w = scratch, *dv = w + n * nw, *dv_star = dv + n * nw, *da = dv_star + n * nw, *e = da + n * nw;
  memset(e, 0, n * sizeof(real));
  for (size_t j = 0; j < n; j++) {
    e[j] = 1;
    mbg__qr_state_variation(&f->state, z, e, w + j * nw, dv + j * nw);
    e[j] = 0;
  }
  const int err = mbg__qr_point_push(ctx, f->point, (int)n, w, dv, NULL, dv_star, da, NULL);
  for (size_t j = 0; err == MBG_OK && j < n; j++) {
    e[j] = 1;
    mbg__qr_state_rates_push(&f->state, z, e, f->v_star, dv_star + j * nw, da + j * nw, J + j * n);
    e[j] = 0;
  }
  return err;
}
