/* Forward runs by Runge-Kutta pairs, and the checks after a step of any integrator. */
#include "formulations/qr/qr_work.h"

#include "trajectory/rank_watch.h"

#include <string.h>

/* ---------------------------------------------------------------------- checks after each step */

/* drift is the sum of the errors of the steps (theory 1, section 4): a hundred times their tolerances is a failure */
static bool drifted(const mbg__formulation_work *w, double phi, double phid) {
  const double size = fmax(1, w->m->size), steps = 10 + (double)w->counts.steps;
  const double allowed = w->plan.absolute + w->plan.relative * size;
  const double allowed_rate = w->plan.absolute + w->plan.relative * fmax(1, w->speed) * size;
  return !(w->plan.step > 0) && !(phi <= 100 * steps * allowed && phid <= 100 * steps * allowed_rate);
}

static int check_drift(mbg_context *ctx, const mbg__formulation_work *w, double t, double phi, double phid) {
  if (!drifted(w, phi, phid)) {
    return MBG_OK;
  }
  return mbg__fail(
      ctx, MBG_ERROR_CONVERGENCE,
      "t = %g: the constraints have drifted by %.2e (positions) and %.2e (velocities), more than the tolerances "
      "%.1e (relative) and %.1e (absolute) explain; tighten them or set \"stabilization\"",
      mbg__time_shown(t), phi, phid, w->plan.relative, w->plan.absolute);
}

/* A dropped row no longer follows from the others: the start, where it did, is a singular configuration. */
static int check_dropped(mbg_context *ctx, const mbg__formulation_work *w, double t) {
  const mbg__rank *rank = mbg__start_result_of(w->start)->rank;
  const real *phi = mbg__qr_point_phi(w->flow->point), *phid = mbg__qr_point_phid(w->flow->point);
  for (int i = 0; i < rank->ndropped; i++) {
    const int row = rank->dropped[i];
    const double off = fabs(re(phi[row])), rate = fabs(re(phid[row]));
    if (off > fmax(1e-6, 1e3 * w->plan.relative) * fmax(1, w->m->size) || drifted(w, off, rate)) {
      return mbg__rank_lost(ctx, w->m, row, t, off, rate);
    }
  }
  return MBG_OK;
}

static int check_rank(mbg_context *ctx, const mbg__formulation_work *w, double t) {
  int row;
  const double independence = mbg__qr_point_independence(w->flow->point, &row);
  if (independence > 1e-6) {
    return MBG_OK;
  }
  char label[160];
  mbg__row_label(w->m, row, label, sizeof(label));
  return mbg__fail(
      ctx, MBG_ERROR_SINGULAR,
      "t = %g: nearly singular configuration: %s depends on the other constraints (pivot %.1e of its row); "
      "the state space ends here and gradients diverge",
      mbg__time_shown(t), label, independence);
}

/* at the end of a step, where the flow, or the plane, was evaluated last: drift, rank, redundant rows; then an anchor
   for angles */
static int monitor(mbg_context *ctx, mbg__formulation_work *w, real t1, const real *z, bool flat) {
  const double t = re(t1);
  const real *v = z + w->flow->state.nplace;
  double phi, phid;
  int err = MBG_OK;
  for (int i = 0; i < w->m->nv; i++) {
    const double speed = fabs(re(v[i]));
    w->speed = speed > w->speed ? speed : w->speed;
  }
  mbg__qr_point_drift(w->flow->point, &phi, &phid);
  w->counts.drift_position = fmax(w->counts.drift_position, phi);
  w->counts.drift_velocity = fmax(w->counts.drift_velocity, phid);
  MBG_TRY(check_rank(ctx, w, t));
  MBG_TRY(check_dropped(ctx, w, t));
  MBG_TRY(check_drift(ctx, w, t, phi, phid));
  MBG_TRY(flat ? mbg__qr_flow_anchor_in_plane(ctx, w->flow, t1, z) : mbg__qr_flow_anchor(ctx, w->flow, t));
done:
  return err;
}

/* z at a time inside the last step of `source` */
static int state_inside(mbg__formulation_work *w, real t, real *z) {
  const mbg__rk_record *step = mbg__rk_last(w->source);
  const int n = w->flow->state.n, err = mbg__rk_complete(w->flow->ctx, w->source);
  if (err == MBG_OK) {
    mbg__rk_interpolate(w->method, n, step->r, (t - step->t0) / (step->t1 - step->t0), 0, n, z, NULL);
  }
  return err;
}

/* the flow at a time of the last step */
typedef struct {
  mbg__step_value value;
  void *user;
  real *y; /* scratch */
} placing;

static int place_at(void *user, double t) {
  const placing *p = user;
  return p->value(p->user, t, p->y);
}

/* the end of a step of Runge-Kutta, where the last stage was in a plane: the system need not go there */
static bool ends_in_plane(const mbg__formulation_work *w, real t) {
  return w->method && !w->plan.events && mbg__rank_watch_small(w->plan.watch) && mbg__qr_flow_stands(w->flow, t);
}

/* the plane at a time of the last step of `source`, and the point's residuals at its end */
static int place_in_plane(void *user, double t) {
  const placing *p = user;
  mbg__formulation_work *w = p->user;
  const mbg__rk_record *step = mbg__rk_last(w->source);
  int err = MBG_OK;
  if (t < re(step->t1)) {
    MBG_TRY(state_inside(w, t, w->zi));
    (void)mbg__qr_flow_in_plane(w->flow, t, w->zi);
  } else {
    mbg__qr_flow_recall_in_plane(w->flow, step->t1, step->y1);
  }
done:
  return err;
}

/* singular positions; the flow is at t1, also afterwards; flat: in the plane */
static int watch(mbg_context *ctx, mbg__formulation_work *w, double t0, double t1, mbg__step_value value, void *user,
                 bool flat) {
  const long evaluations = w->flow->evaluations;
  placing p = {value, user, w->nodes.buffer};
  const mbg__rank_watch_plane plane = {mbg__qr_point_plane(w->flow->point), place_in_plane, place_at, &p};
  const int err = flat ? mbg__rank_watch_step_in_plane(ctx, w->plan.watch, t0, t1, &plane)
                       : mbg__rank_watch_step(ctx, w->plan.watch, t0, t1, place_at, &p);
  w->flow->evaluations = evaluations;
  return err;
}

int mbg__qr_finish_step(mbg_context *ctx, mbg__formulation_work *w, real t0, real t1, const real *z,
                        mbg__step_value value, void *user) {
  int err = MBG_OK;
  w->counts.steps++;
  MBG_TRY(mbg__step_nodes_step(ctx, &w->nodes, t0, t1, value, user));
  const bool flat = ends_in_plane(w, t1);
  if (!flat && mbg__step_nodes_time(&w->nodes, w->nodes.count - 1) != re(t1)) {
    MBG_TRY(mbg__qr_flow_eval(ctx, w->flow, t1, z));
  }
  MBG_TRY(watch(ctx, w, re(t0), re(t1), value, user, flat));
  MBG_TRY(monitor(ctx, w, t1, z, flat));
  w->last = t1;
  memcpy(w->z, z, (size_t)w->flow->state.n * sizeof(real));
  memcpy(w->turns, w->flow->turns, (size_t)w->m->nturn * sizeof(int));
done:
  return err;
}

/* Without accelerations nothing is solved: inside a step the constraints and forces are evaluated, at its end too when
   the last stage was there (same), at points of integrals and ends of steps in a plane the signals alone unless the run
   is watched. */
int mbg__qr_node_value(mbg_context *ctx, mbg__formulation_work *w, real t, const real *z, bool inside, bool same,
                       real *y) {
  mbg__qr_flow *f = w->flow;
  int err = MBG_OK;
  if ((w->nodes.point && f->sampling.level == MBG__SAMPLE_KINEMATICS && !mbg__system_watched(f->sys)->on) ||
      (same && !inside && ends_in_plane(w, t))) {
    MBG_TRY(mbg__qr_flow_sample(ctx, f, t, z, y));
  } else {
    bool known = (inside || same) && !f->full;
    if (known) {
      MBG_TRY(mbg__qr_flow_place(ctx, f, t, z));
      known = inside || mbg__qr_flow_recall(f);
    }
    if (!known) {
      MBG_TRY(mbg__qr_flow_eval(ctx, f, t, z));
    }
    MBG_TRY(mbg__qr_flow_signals(ctx, f, y));
  }
  mbg__system_pose(f->sys, w->plan.npose, y + w->nodes.nused);
done:
  return err;
}

/* Values at (t, z), a stage, which is no state of the motion: nobody watches it. */
static int stage_values(mbg_context *ctx, mbg__formulation_work *w, real t, const real *z, real *y) {
  mbg__qr_flow *f = w->flow;
  const real *all;
  int err = MBG_OK;
  if (f->sampling.level == MBG__SAMPLE_KINEMATICS) {
    return mbg__qr_flow_sample(ctx, f, t, z, y);
  }
  MBG_TRY(f->full ? mbg__qr_flow_eval(ctx, f, t, z) : mbg__qr_flow_place(ctx, f, t, z));
  MBG_TRY(f->full ? mbg__qr_point_full(ctx, f->point) : MBG_OK);
  MBG_TRY(mbg__system_signal_values(ctx, f->sys, &all));
  for (int k = 0; k < w->nodes.nused; k++) {
    y[k] = all[f->used[k]];
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- the run */

int mbg__qr_stage_value(void *user, int stage, real *y) {
  mbg__formulation_work *w = user;
  const real t = mbg__rk_stage(w->source, stage, w->zi);
  return stage_values(w->flow->ctx, w, t, w->zi, y);
}

int mbg__qr_value_at(void *user, real t, real *y) {
  mbg__formulation_work *w = user;
  const mbg__rk_record *step = mbg__rk_last(w->source);
  const bool inside = re(t) < re(step->t1) && step->k;
  int err = MBG_OK;
  if (inside) {
    MBG_TRY(state_inside(w, t, w->zi));
  }
  MBG_TRY(mbg__qr_node_value(w->flow->ctx, w, t, inside ? w->zi : step->y1, inside, true, y));
done:
  return err;
}

int mbg__qr_begin_segment(void *user, double ta, double tb, real *z) {
  mbg__qr_flow *f = user;
  (void)z;
  f->segment = mbg__plan_segment(f->plan, ta, tb);
  return MBG_OK;
}

int mbg__qr_keep_time(mbg_context *ctx, mbg__formulation_work *w, double t) {
  return mbg__ode_keep_time(ctx, &w->arena.allocator, t, &w->nfrozen, &w->frozen_room, &w->frozen);
}

int mbg__qr_end_step(mbg_context *ctx, mbg__formulation_work *w) {
  const mbg__rk_record *step = mbg__rk_last(w->source);
  int err = MBG_OK;
  mbg__qr_memory_accept(w->flow, w->nodes.method ? 0 : w->method->nextended - 1 - w->method->nstage);
  if (!w->nodes.fixed) {
    MBG_TRY(mbg__qr_keep_time(ctx, w, re(step->t1)));
  }
  MBG_TRY(mbg__qr_finish_step(ctx, w, step->t0, step->t1, step->y1, mbg__qr_value_at, w));
  mbg__qr_memory_step(w->flow);
  MBG_TRY(mbg__qr_store_add(ctx, w, step->y1, step->k, step->r != NULL));
done:
  return err;
}

static int finish_step(mbg_context *ctx, void *user) { return mbg__qr_end_step(ctx, user); }

static void label(const void *user, int i, char *text, size_t size) {
  mbg__qr_state_label(&((const mbg__formulation_work *)user)->flow->state, i, text, size);
}

static int integrate(mbg_context *ctx, mbg__formulation_work *w, bool frozen) {
  const mbg__ode_steps steps = {.finish_step = finish_step, .label = label, .stiff = "--integrator bdf", .user = w};
  mbg__rk_run run = mbg__ode_run(&w->plan, w->plan.t1, mbg__qr_flow_rhs, mbg__qr_begin_segment, w->flow);
  int err = MBG_OK;
  run.nfrozen = frozen ? w->nfrozen : 0;
  run.frozen = frozen ? w->frozen : NULL;
  if (!frozen) {
    w->nfrozen = -1;
    MBG_TRY(mbg__qr_keep_time(ctx, w, w->plan.t0));
  }
  MBG_TRY(mbg__qr_store_begin(ctx, w));
  mbg__qr_memory_begin(w->flow, w->method->nextended);
  MBG_TRY(mbg__rk_start(ctx, w->rk, &run, w->z0));
  MBG_TRY(mbg__step_nodes_begin(ctx, &w->nodes, frozen, mbg__qr_value_at, w));
  MBG_TRY(w->plan.events ? mbg__qr_integrate_events(ctx, w, &steps)
                         : mbg__ode_integrate(ctx, &w->plan, w->rk, &steps, &w->partial));
  if (w->plan.memory > 0 && !(w->plan.step > 0)) {
    MBG_TRY(mbg__store_limit(ctx, &w->store, mbg__ode_store_share(&w->plan, &w->nodes, w->nfrozen)));
  }
done:
  mbg__qr_memory_end(w->flow);
  return err;
}

mbg__nodes mbg__qr_nodes(const mbg__formulation_work *w) {
  mbg__nodes nodes = mbg__ode_nodes(&w->nodes, w->flow->used, w->partial);
  nodes.nfiring = mbg__events_count(w->plan.events);
  nodes.firings = mbg__events_firings(w->plan.events);
  return nodes;
}

int mbg__qr_simulate(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes) {
  int err = MBG_OK;
  w->counts = (mbg__work_counts){0};
  w->partial = false;
  w->speed = 0;
  w->flow->ctx = ctx;
  w->flow->evaluations = 0;
  w->flow->segment = (mbg__segment){-INFINITY, INFINITY}; /* the node at the start */
  MBG_TRY(mbg__qr_flow_begin(ctx, w->flow, mbg__start_result_of(w->start), w->z0));
  memcpy(w->z, w->z0, (size_t)w->flow->state.n * sizeof(real));
  memcpy(w->turns, mbg__start_result_of(w->start)->turns, (size_t)w->m->nturn * sizeof(int));
  w->last = w->plan.t0;
  w->source = w->rk;
  if (frozen && w->plan.events) { /* nodes move with events: they are not those of the run before */
    MBG_TRY(mbg__ode_events_repeat(ctx, &w->events, &w->plan, w->nfrozen, w->frozen));
    frozen = false;
  }
  if (!frozen && w->plan.ends) {
    MBG_TRY(mbg__ode_take_ends(ctx, &w->arena.allocator, &w->plan, &w->nfrozen, &w->frozen_room, &w->frozen));
    frozen = true;
  }
  if (w->method) {
    MBG_TRY(integrate(ctx, w, frozen));
  } else {
    MBG_TRY(mbg__qr_cvodes_simulate(ctx, w, frozen));
  }
  w->counts.assemblies = w->counts.factorizations = w->flow->evaluations;
  *nodes = mbg__qr_nodes(w);
done:
  return err;
}
