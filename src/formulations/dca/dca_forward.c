/* Forward runs: Runge-Kutta steps in coordinates of the step, loops projected at the ends. */
#include "formulations/dca/dca_work.h"

#include "trajectory/rank_watch.h"
#include "trajectory/steps.h"

#include <string.h>

void mbg__dca_segment(mbg__formulation_work *w, double ta, double tb) {
  w->flow.segment = mbg__plan_segment(&w->plan, ta, tb);
}

int mbg__dca_finish_step(mbg_context *ctx, mbg__formulation_work *w, real t1, const real *y1) {
  const mbg__dca_base *from = &w->base[w->now];
  mbg__dca_base *to = &w->base[!w->now];
  const int n = w->flow.n;
  double drift[2];
  int err = MBG_OK;
  to->t = t1;
  mbg__dca_flow_frames(&w->flow, from, y1, to->E);
  vn_copy(n, to->w, y1 + n);
  vn_copy(n, w->before, y1 + n);
  MBG_TRY(mbg__dca_flow_turns(ctx, &w->flow, from, t1, to->E, to->w, to->turns));
  if (w->project) {
    MBG_TRY(mbg__dca_project_apply(ctx, w->project, t1, w->flow.q, to->E, to->w, &w->rounds, drift));
    w->counts.drift_position = fmax(w->counts.drift_position, drift[0]);
    w->counts.drift_velocity = fmax(w->counts.drift_velocity, drift[1]);
    /* at half a turn rounding decides about the number of turns, and the projection has moved the angle */
    MBG_TRY(mbg__dca_flow_turns(ctx, &w->flow, from, t1, to->E, to->w, to->turns));
  }
  MBG_TRY(mbg__dca_base_set(ctx, &w->flow, to));
done:
  return err;
}

/* ---------------------------------------------------------------------- nodes and checks of a step */

/* rows that were dropped because they followed from the others must keep following */
static int check_dropped(mbg_context *ctx, const mbg__formulation_work *w, double t) {
  if (w->rank->ndropped == 0) {
    return MBG_OK;
  }
  mbg__rank_violations(w->flow.sys, w->phi, w->phid);
  return mbg__rank_check(ctx, w->m, w->rank, t, w->phi, fmax(1e-6, 1e3 * w->plan.relative));
}

/* at the start, or in a step from base `now` to the other one: the base of t, and the state there in yi */
static const mbg__dca_base *state_at(mbg__formulation_work *w, real t) {
  const mbg__rk_record *step = mbg__rk_last(w->source);
  const bool begun = w->counts.steps > 0, inside = begun && re(t) < re(step->t1);
  const mbg__dca_base *base = &w->base[begun && !inside ? !w->now : w->now];
  const int n = w->flow.n;
  if (inside) {
    mbg__rk_interpolate_all(w->pool, w->method, 2 * n, step->r, (t - step->t0) / (step->t1 - step->t0), w->yi);
  } else {
    vn_zero(n, w->yi);
    vn_copy(n, w->yi + n, base->w);
  }
  return base;
}

static int place_at(void *user, double t) {
  mbg__formulation_work *w = user;
  const mbg__dca_base *base = state_at(w, t);
  return mbg__dca_flow_place(w->flow.ctx, &w->flow, base, t, w->yi);
}

int mbg__dca_value_at(void *user, real t, real *values) {
  mbg__formulation_work *w = user;
  mbg_context *ctx = w->flow.ctx;
  const mbg__dca_base *base = state_at(w, t);
  int err = MBG_OK;
  if (w->nodes.point && w->flow.sampling.level == MBG__SAMPLE_KINEMATICS && mbg__system_sample_suffices(w->flow.sys)) {
    MBG_TRY(mbg__dca_flow_sample(ctx, &w->flow, base, t, w->yi, values));
    mbg__system_watch_sample(w->flow.sys);
  } else {
    MBG_TRY(w->flow.full ? mbg__dca_flow_eval(ctx, &w->flow, base, t, w->yi)
                         : mbg__dca_flow_place(ctx, &w->flow, base, t, w->yi));
    MBG_TRY(mbg__dca_flow_signals(ctx, &w->flow, values));
  }
  mbg__system_pose(w->flow.sys, w->plan.npose, values + w->nodes.nused);
done:
  return err;
}

/* ---------------------------------------------------------------------- the run */

int mbg__dca_rhs(void *user, real t, const real *y, real *yd) {
  mbg__formulation_work *w = user;
  const int err = mbg__dca_flow_eval(w->flow.ctx, &w->flow, &w->base[w->now], t, y);
  if (err == MBG_OK) {
    mbg__dca_flow_rates(&w->flow, y, yd);
  }
  return mbg__ode_status(err);
}

int mbg__dca_begin_segment(void *user, double ta, double tb, real *y) {
  (void)y;
  mbg__dca_segment(user, ta, tb);
  return MBG_OK;
}

/* The next step starts at sigma = 0. Without a projection its first rates are known: w, and the accelerations at the
   end of the last step. */
int mbg__dca_go_on(mbg_context *ctx, mbg__formulation_work *w) {
  const int n = w->flow.n;
  vn_zero(n, w->y);
  vn_copy(n, w->y + n, w->base[w->now].w);
  if (w->project) {
    return mbg__rk_rebase(ctx, w->rk, w->y, NULL);
  }
  const real *rate = mbg__rk_rate(w->rk);
  vn_copy(n, w->yi, w->y + n);
  vn_copy(n, w->yi + n, rate + n);
  return mbg__rk_rebase(ctx, w->rk, w->y, w->yi);
}

int mbg__dca_keep_time(mbg_context *ctx, mbg__formulation_work *w, double t) {
  return mbg__ode_keep_time(ctx, &w->arena.allocator, t, &w->nfrozen, &w->frozen_room, &w->frozen);
}

int mbg__dca_end_step(mbg_context *ctx, mbg__formulation_work *w) {
  const mbg__rk_record *step = mbg__rk_last(w->source);
  const real t0 = step->t0, t1 = step->t1;
  int err = MBG_OK;
  w->counts.steps++;
  vn_copy(2 * w->flow.n, w->y, step->y1);
  MBG_TRY(w->plan.events ? MBG_OK : mbg__dca_finish_step(ctx, w, t1, w->y)); /* else the search for events has */
  MBG_TRY(mbg__dca_store_add(ctx, w, &w->base[!w->now], w->y, step->k));
  if (!w->nodes.fixed) {
    MBG_TRY(mbg__dca_keep_time(ctx, w, re(t1)));
  }
  MBG_TRY(mbg__step_nodes_step(ctx, &w->nodes, t0, t1, mbg__dca_value_at, w));
  MBG_TRY(check_dropped(ctx, w, re(t1)));
  if (w->project) {
    MBG_TRY(place_at(w, re(t1)));
    MBG_TRY(mbg__rank_watch_step(ctx, w->plan.watch, re(t0), re(t1), place_at, w));
  }
  w->last = re(t1);
  w->now = !w->now;
done:
  return err;
}

static int finish_step(mbg_context *ctx, void *user) {
  const int err = mbg__dca_end_step(ctx, user);
  return err < 0 ? err : mbg__dca_go_on(ctx, user);
}

/* "the rate of joint 'knee' and body 'shank'" */
static void label(const void *user, int i, char *text, size_t size) {
  const mbg__formulation_work *w = user;
  const int n = w->flow.n, c = i < n ? i : i - n;
  mbg__format(text, size, "the state");
  for (int k = 0; k < w->m->nbody; k++) {
    const mbg__link *l = &w->flow.links[k];
    if (c >= l->first && c < l->first + l->nz) {
      const char *joint = l->joint >= 0 ? w->m->joints[l->joint].name : NULL;
      mbg__format(text, size, "the %s of %s%s%sbody '%s'", i < n ? "coordinate" : "rate", joint ? "joint '" : "",
                  joint ? joint : "", joint ? "' and " : "", w->m->bodies[l->body].name);
    }
  }
}

/* by the angular rate of the fastest joint */
static double longest_step(const void *user) {
  const mbg__formulation_work *w = user;
  double fastest = 0;
  for (int k = 0; k < w->m->nbody; k++) {
    const mbg__link *l = &w->flow.links[k];
    double W = 0;
    for (int i = 0; i < l->nz; i++) {
      const double rate = l->comp[i] >= 3 ? re(w->y[w->flow.n + l->first + i]) : 0;
      W += rate * rate;
    }
    fastest = fmax(fastest, W);
  }
  return mbg__ode_turn_limit(&w->plan, w->method->order, sqrt(fastest));
}

static int integrate(mbg_context *ctx, mbg__formulation_work *w, bool frozen) {
  const mbg__ode_steps steps = {.finish_step = finish_step,
                                .label = label,
                                .longest_step = longest_step,
                                .stiff = "formulation 'lie' or 'dae', which are implicit",
                                .user = w};
  mbg__rk_run run = mbg__ode_run(&w->plan, w->plan.t1, mbg__dca_rhs, mbg__dca_begin_segment, w);
  int err = MBG_OK;
  run.nfrozen = frozen ? w->nfrozen : 0;
  run.frozen = frozen ? w->frozen : NULL;
  MBG_TRY(mbg__rk_start(ctx, w->rk, &run, w->y));
  mbg__dca_segment(w, w->plan.t0, w->plan.nbreak > 0 ? w->plan.breaks[0] : w->plan.t1);
  MBG_TRY(mbg__step_nodes_begin(ctx, &w->nodes, frozen, mbg__dca_value_at, w));
  if (w->project) {
    MBG_TRY(place_at(w, w->plan.t0));
    MBG_TRY(mbg__rank_watch_step(ctx, w->plan.watch, w->plan.t0, w->plan.t0, NULL, NULL));
  }
  MBG_TRY(w->plan.events ? mbg__dca_integrate_events(ctx, w, &steps)
                         : mbg__ode_integrate(ctx, &w->plan, w->rk, &steps, &w->partial));
done:
  return err;
}

/* the first base, from the assembled start */
static int begin(mbg_context *ctx, mbg__formulation_work *w) {
  const mbg__start_result *start = mbg__start_result_of(w->start);
  mbg__dca_base *b = &w->base[0];
  const int n = w->flow.n;
  w->now = 0;
  w->rounds = 0;
  mbg__tree_refresh(w->tree);
  if (w->articulated) {
    mbg__dca_articulated_refresh(w->articulated);
  }
  b->t = w->plan.t0;
  mbg__tree_local_read(w->tree, start->H, start->v, b->E, b->w);
  memcpy(b->turns, start->turns, (size_t)w->m->nturn * sizeof(int));
  vn_zero(n, w->y);
  vn_copy(n, w->y + n, b->w);
  return mbg__dca_base_set(ctx, &w->flow, b);
}

static void keep_last(mbg__formulation_work *w) {
  const mbg__dca_base *b = &w->base[w->now];
  w->final.t = b->t;
  memcpy(w->final.E, b->E, (size_t)w->m->nbody * sizeof(*b->E));
  vn_copy(w->flow.n, w->final.w, b->w);
  memcpy(w->final.turns, b->turns, (size_t)w->m->nturn * sizeof(int));
}

mbg__nodes mbg__dca_nodes(const mbg__formulation_work *w) {
  mbg__nodes nodes = mbg__ode_nodes(&w->nodes, w->flow.used, w->partial);
  nodes.nfiring = mbg__events_count(w->plan.events);
  nodes.firings = mbg__events_firings(w->plan.events);
  return nodes;
}

int mbg__dca_simulate(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes) {
  int err = MBG_OK;
  w->counts = (mbg__work_counts){0};
  w->partial = false;
  w->flow.ctx = ctx;
  w->flow.evaluations = 0;
  w->last = w->plan.t0;
  w->source = w->rk;
  if (frozen && w->plan.events) { /* nodes move with events: they are not those of the run before */
    MBG_TRY(mbg__ode_events_repeat(ctx, &w->events, &w->plan, w->nfrozen, w->frozen));
    frozen = false;
  }
  MBG_TRY(begin(ctx, w));
  if (!frozen && w->plan.ends) {
    MBG_TRY(mbg__ode_take_ends(ctx, &w->arena.allocator, &w->plan, &w->nfrozen, &w->frozen_room, &w->frozen));
    frozen = true;
  }
  if (!frozen) {
    w->nfrozen = -1;
    MBG_TRY(mbg__dca_keep_time(ctx, w, w->plan.t0));
  }
  MBG_TRY(mbg__dca_store_begin(ctx, w));
  err = integrate(ctx, w, frozen);
  keep_last(w);
  MBG_TRY(err);
  if (w->plan.memory > 0 && !(w->plan.step > 0)) {
    MBG_TRY(mbg__store_limit(ctx, &w->store, mbg__ode_store_share(&w->plan, &w->nodes, w->nfrozen)));
  }
  w->counts.assemblies = w->counts.factorizations = w->counts.solves = w->flow.evaluations;
  *nodes = mbg__dca_nodes(w);
done:
  return err;
}
