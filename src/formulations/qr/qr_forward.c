/* Forward runs by Runge-Kutta pairs, and what every integrator watches on the way. */
#include "formulations/qr/qr_work.h"

#include <string.h>

/* ---------------------------------------------------------------------- what is watched */

bool mbg__qr_interrupted(const mbg__formulation_work *w) {
  return w->plan.interrupt && w->plan.interrupt(w->plan.user) != 0;
}

/* theory 1, section 4: drift is the sum of the errors of the steps; a hundred times what they were allowed is a failure */
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
      "t = %g: the constraints have drifted apart (positions %.2e, velocities %.2e), more than tolerances of "
      "%.1e and %.1e account for; tighten them or set \"stabilization\"",
      t, phi, phid, w->plan.relative, w->plan.absolute);
}

/* A row that was dropped because it followed from the others, and no longer does: the configuration where that was found is a
   singular one. */
static int check_dropped(mbg_context *ctx, const mbg__formulation_work *w, double t) {
  const mbg__rank *rank = mbg__start_result_of(w->start)->rank;
  const real *phi = mbg__qr_point_phi(w->flow->point), *phid = mbg__qr_point_phid(w->flow->point);
  for (int i = 0; i < rank->ndropped; i++) {
    const int row = rank->dropped[i];
    const double off = fabs(re(phi[row])), rate = fabs(re(phid[row]));
    if (off > fmax(1e-6, 1e3 * w->plan.relative) * fmax(1, w->m->size) || drifted(w, off, rate)) {
      char label[160];
      mbg__row_label(w->m, row, label, sizeof(label));
      return mbg__fail(
          ctx, MBG_ERROR_SINGULAR,
          "redundant constraint became independent at t = %g: %s is violated by %.2e (rate %.2e); the start, "
          "where it follows from the others, is a singular configuration: start elsewhere",
          t, label, off, rate);
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
      "t = %g: nearly singular configuration, %s depends on the other constraints (pivot %.1e of its row); "
      "the state space ends here and gradients diverge",
      t, label, independence);
}

int mbg__qr_monitor(mbg_context *ctx, mbg__formulation_work *w, double t) {
  double phi, phid;
  int err = MBG_OK;
  for (int i = 0; i < w->m->nw; i++) {
    w->speed = fmax(w->speed, fabs(re(w->flow->v[i])));
  }
  mbg__qr_point_drift(w->flow->point, &phi, &phid);
  w->counts.drift_position = fmax(w->counts.drift_position, phi);
  w->counts.drift_velocity = fmax(w->counts.drift_velocity, phid);
  MBG_TRY(check_rank(ctx, w, t));
  MBG_TRY(check_dropped(ctx, w, t));
  MBG_TRY(check_drift(ctx, w, t, phi, phid));
  MBG_TRY(mbg__qr_flow_anchor(ctx, w->flow, t));
done:
  return err;
}

/* ---------------------------------------------------------------------- nodes of a step */

typedef struct {
  mbg_context *ctx;
  mbg__formulation_work *w;
} node_call;

static int value_at(void *user, double t, real *y) {
  const node_call *c = user;
  mbg__formulation_work *w = c->w;
  const mbg__rk_record *step = mbg__rk_last(w->rk);
  const real *z = step->y1;
  int err = MBG_OK;
  if (t < step->t1 && step->r) {
    mbg__rk_interpolate(w->method, w->flow->state.n, step->r, (t - step->t0) / (step->t1 - step->t0), 0,
                        w->flow->state.n, w->zi, NULL);
    z = w->zi;
  }
  MBG_TRY(mbg__qr_flow_eval(c->ctx, w->flow, t, z));
  MBG_TRY(mbg__qr_flow_signals(c->ctx, w->flow, y));
done:
  return err;
}

/* ---------------------------------------------------------------------- the run */

static int begin_segment(void *user, double ta, double tb, real *z) {
  mbg__qr_flow *flow = user;
  (void)z;
  mbg__qr_flow_segment(flow, ta, tb);
  return MBG_OK;
}

static int after_step(mbg_context *ctx, mbg__formulation_work *w) {
  const mbg__rk_record *step = mbg__rk_last(w->rk);
  node_call call = {ctx, w};
  int err = MBG_OK;
  w->counts.steps++;
  MBG_TRY(mbg__rk_dense_add(ctx, &w->dense, w->rk));
  MBG_TRY(mbg__step_nodes_step(ctx, &w->nodes, step->t0, step->t1, value_at, &call));
  MBG_TRY(mbg__qr_monitor(ctx, w, step->t1));
  w->last = step->t1;
  memcpy(w->z, step->y1, (size_t)w->flow->state.n * sizeof(real));
  memcpy(w->turns, w->flow->turns, (size_t)w->m->nturn * sizeof(int));
  if (w->plan.progress) {
    w->plan.progress(w->plan.user, step->t1);
  }
done:
  return err;
}

/* in place of the integrator's message, which counts components: names the body */
static int explain(mbg_context *ctx, const mbg__formulation_work *w, int mark, int err) {
  const mbg__rk_failure *why = mbg__rk_why(w->rk);
  char label[160];
  if (why->reason != MBG__RK_TOO_SMALL && why->reason != MBG__RK_TOO_MANY && why->reason != MBG__RK_NOT_FINITE) {
    return err;
  }
  mbg__message_rewind(ctx, mark);
  mbg__qr_state_label(&w->flow->state, why->component, label, sizeof(label));
  switch (why->reason) {
  case MBG__RK_NOT_FINITE:
    return mbg__fail(ctx, err, "integration stopped at t = %.9g: the rate of %s is not a finite number", why->t, label);
  case MBG__RK_TOO_MANY:
    return mbg__fail(
        ctx, err,
        "integration stopped at t = %.9g after %ld steps (the last %.2g s): the motion is stiff or fast, look "
        "at %s; take --integrator bdf or a looser tolerance",
        why->t, w->counts.steps, why->h, label);
  default:
    return mbg__fail(
        ctx, err,
        "integration stopped at t = %.9g: no step is small enough for %s; forces jump or grow without limit "
        "there (give jumps as \"breaks\" of the run), or the tolerance is too tight",
        why->t, label);
  }
}

static int integrate(mbg_context *ctx, mbg__formulation_work *w, bool frozen) {
  const mbg__rk_run run = {.rhs = mbg__qr_flow_rhs,
                           .segment = begin_segment,
                           .user = w->flow,
                           .t0 = w->plan.t0,
                           .t1 = w->plan.t1,
                           .nbreak = w->plan.nbreak,
                           .breaks = w->plan.breaks,
                           .nfrozen = frozen ? w->nfrozen : 0,
                           .frozen = frozen ? w->frozen : NULL};
  node_call call = {ctx, w};
  int err = MBG_OK;
  mbg__rk_dense_clear(&w->dense);
  MBG_TRY(mbg__rk_start(ctx, w->rk, &run, w->z0));
  MBG_TRY(mbg__step_nodes_begin(ctx, &w->nodes, frozen, value_at, &call));
  for (;;) {
    if (mbg__qr_interrupted(w)) {
      w->partial = true;
      break;
    }
    const int mark = mbg__message_mark(ctx);
    err = mbg__rk_step(ctx, w->rk);
    if (err <= 0) {
      err = err < 0 ? explain(ctx, w, mark, err) : err;
      break;
    }
    MBG_TRY(after_step(ctx, w));
  }
done:
  return err;
}

/* nodes of the first run, to be repeated */
static int keep_steps(mbg_context *ctx, mbg__formulation_work *w) {
  const size_t n = (size_t)w->dense.nstep + 1;
  double *t = w->allocator.resize(w->allocator.user, w->frozen, n * sizeof(double));
  if (!t) {
    return mbg__fail_memory(ctx);
  }
  memcpy(t, w->dense.t, n * sizeof(double));
  w->frozen = t;
  w->nfrozen = w->dense.nstep;
  return MBG_OK;
}

int mbg__qr_simulate(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes) {
  int err = MBG_OK;
  w->counts = (mbg__work_counts){0};
  w->partial = false;
  w->speed = 0;
  w->flow->ctx = ctx;
  w->flow->evaluations = 0;
  MBG_TRY(mbg__qr_flow_begin(ctx, w->flow, mbg__start_result_of(w->start), w->z0));
  memcpy(w->z, w->z0, (size_t)w->flow->state.n * sizeof(real));
  memcpy(w->turns, mbg__start_result_of(w->start)->turns, (size_t)w->m->nturn * sizeof(int));
  w->last = w->plan.t0;
  if (w->method) {
    MBG_TRY(integrate(ctx, w, frozen));
    if (!frozen && !w->partial) {
      MBG_TRY(keep_steps(ctx, w));
    }
    w->counts.bytes = mbg__rk_dense_bytes(&w->dense);
  } else {
    MBG_TRY(mbg__qr_cvodes_simulate(ctx, w, frozen));
  }
  w->counts.assemblies = w->counts.factorizations = w->flow->evaluations;
  *nodes = (mbg__nodes){.nnode = w->nodes.count,
                        .partial = w->partial,
                        .t = w->nodes.t,
                        .omega = w->nodes.omega,
                        .nused = w->nused,
                        .used = w->used,
                        .y = w->nodes.y};
done:
  return err;
}
