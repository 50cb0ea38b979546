/* Search for controls: objective and gradient by a simulation and its adjoint, effort, stages. */
#include "problems/control.h"
#include "problems/sequence.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- effort */

/* Gauss-Legendre points and weights on [0, 1], exact to degree 7: u^2 of a cubic has degree 6 */
static const double gauss_x[4] = {0.069431844202973712, 0.330009478207571868, 0.669990521792428132,
                                  0.930568155797026288};
static const double gauss_w[4] = {0.173927422568726929, 0.326072577431273071, 0.326072577431273071,
                                  0.173927422568726929};

/* 1/2 int u^2 dt of one control with samples c->u and their curvatures; bars of both by factor u */
static double effort_of(mbg_control *c, const mbg__spline *s, double factor) {
  double sum = 0;
  for (int i = 0; i + 1 < s->n; i++) {
    const double h = s->x[i + 1] - s->x[i];
    for (int k = 0; k < 4; k++) {
      mbg__spline_weights w;
      (void)mbg__spline_weights_at(s, s->x[i] + h * gauss_x[k], &w);
      const real *N = w.w[0];
      const real u = N[0] * c->u[i] + N[1] * c->u[i + 1] + N[2] * c->curvature[i] + N[3] * c->curvature[i + 1];
      const real bar = factor * h * gauss_w[k] * u;
      sum += 0.5 * h * gauss_w[k] * re(u) * re(u);
      c->u_bar[i] += bar * N[0];
      c->u_bar[i + 1] += bar * N[1];
      c->m_bar[i] += bar * N[2];
      c->m_bar[i + 1] += bar * N[3];
    }
  }
  return sum;
}

double mbg__control_effort(mbg_control *c, const double *x, double factor, double *g) {
  double sum = 0;
  for (int j = 0; j < c->count; j++) {
    const mbg__found_control *s = &c->found[j];
    if (s->effort == 0) {
      continue;
    }
    for (int k = 0; k < s->n; k++) {
      c->u[k] = x[s->first + k];
      c->u_bar[k] = c->m_bar[k] = 0;
    }
    mbg__spline_curvature(s->spline, c->u, c->curvature);
    sum += s->effort * effort_of(c, s->spline, factor * s->effort);
    mbg__spline_curvature_T(s->spline, c->m_bar, c->u_bar);
    for (int k = 0; g && k < s->n; k++) {
      g[s->first + k] += re(c->u_bar[k]);
    }
  }
  return sum;
}

/* ---------------------------------------------------------------------- objective */

/* a control that cannot be simulated is stepped back from */
static int step_back(int err) {
  return err == MBG_ERROR_CONVERGENCE || err == MBG_ERROR_SINGULAR || err == MBG_ERROR_INPUT ? 1 : err;
}

static int simulate(mbg_control *c, const double *x) {
  memcpy(c->p + c->m->np, x, (size_t)c->n * sizeof(double));
  memcpy(c->simulated_x, x, (size_t)c->n * sizeof(double));
  c->simulated = false;
  int err = mbg_run_set_parameters(c->ctx, c->run, c->p);
  if (err == MBG_OK) {
    err = mbg_run_simulate(c->ctx, c->run);
  }
  if (err == MBG_OK && mbg_run_partial(c->run)) {
    return MBG_ERROR_INTERRUPTED;
  }
  c->simulated = err == MBG_OK;
  return err == MBG_OK ? mbg_run_criteria(c->ctx, c->run, c->psi) : err;
}

static void keep_best(mbg_control *c, double value, double effort) {
  if (value < c->value_best) {
    c->value_best = value;
    c->effort_best = effort;
    memcpy(c->best, c->p, (size_t)c->sampled->np * sizeof(double));
    memcpy(c->psi_best, c->psi, (size_t)c->m->ncriterion * sizeof(double));
    for (int i = 0; i < c->summary.terms; i++) {
      c->terms[i].value = c->psi[c->term[i]];
    }
  }
}

/* the objective of the last stage */
static double objective_of(const mbg_control *c, double effort, const double *psi) {
  double value = effort;
  for (int k = 0; k < c->m->ncriterion; k++) {
    value += c->weights[k] != 0 ? c->weights[k] * psi[k] : 0;
  }
  return value;
}

static double objective_best(const mbg_control *c) { return objective_of(c, c->effort_best, c->psi_best); }

/* the same from the objective of this stage */
static double objective_from(const mbg_control *c, double value, double effort) {
  return value + (1 - c->factor) * effort;
}

/* are the objectives of c->recorded finite, in this stage and in the last one? */
static bool finite_objectives(const mbg_control *c) {
  const double value = c->recorded[0], effort = c->recorded[1];
  return isfinite(value) && isfinite(objective_from(c, value, effort)) &&
         isfinite(objective_of(c, effort, c->recorded + 2));
}

/* objective, effort, criteria and gradient into c->recorded; positive: the control cannot be simulated */
static int compute(mbg_control *c, const double *x) {
  double *value = &c->recorded[0], *effort = &c->recorded[1], *gradient = c->recorded + 2 + c->m->ncriterion;
  int err = simulate(c, x);
  if (err < 0) {
    return step_back(err);
  }
  err = mbg_run_gradient_sum(c->ctx, c->run, MBG_METHOD_AUTO, c->weights, c->g);
  if (err < 0) {
    return step_back(err);
  }
  memcpy(gradient, c->g + c->m->np, (size_t)c->n * sizeof(double));
  *effort = mbg__control_effort(c, x, c->factor, gradient);
  *value = c->factor * *effort;
  for (int k = 0; k < c->m->ncriterion; k++) {
    *value += c->weights[k] != 0 ? c->weights[k] * c->psi[k] : 0;
    c->recorded[2 + k] = c->psi[k];
  }
  return finite_objectives(c) ? MBG_OK : 1;
}

static int evaluate(void *user, const double *x, double *value, double *gradient) {
  mbg_control *c = user;
  const int nc = c->m->ncriterion, count = 2 + nc + c->n;
  int status = MBG_OK, err = MBG_OK;
  bool found;
  MBG_TRY(mbg__record_next(c->ctx, c->record, 'e', c->n, x, count, c->recorded, &status, &found));
  if (!found) {
    MBG_TRY(status = compute(c, x));
    MBG_TRY(mbg__record_add(c->ctx, c->record, 'e', c->n, x, count, c->recorded, status));
  }
  if (status != MBG_OK) {
    return status;
  }
  if (!finite_objectives(c)) {
    return mbg__record_refuse(c->ctx, c->record, "the line gives an objective that is not finite");
  }
  *value = c->recorded[0];
  const double effort = c->recorded[1];
  memcpy(c->p + c->m->np, x, (size_t)c->n * sizeof(double));
  memcpy(c->psi, c->recorded + 2, (size_t)nc * sizeof(double));
  memcpy(gradient, c->recorded + 2 + nc, (size_t)c->n * sizeof(double));
  if (c->summary.evaluations == 0) {
    c->summary.objective_start = objective_from(c, *value, effort);
  }
  keep_best(c, *value, effort);
  c->summary.evaluations++;
done:
  return err;
}

/* H d of the objective: of the criteria by second derivatives of the run; the effort is quadratic */
static int multiply(mbg_control *c, const double *x, const double *d, double *Hd) {
  const int np = c->m->np;
  double *bent = c->bent;
  int err = MBG_OK;
  /* the run stands at the point that was evaluated last, and a search may ask at the one before */
  if (!c->simulated || memcmp(c->simulated_x, x, (size_t)c->n * sizeof(double)) != 0) {
    MBG_TRY(simulate(c, x));
  }
  if (!c->second) {
    MBG_TRY(mbg_hessian_create(c->ctx, c->run, &c->second));
  }
  memset(c->along, 0, (size_t)np * sizeof(double));
  memcpy(c->along + np, d, (size_t)c->n * sizeof(double));
  MBG_TRY(mbg_hessian_product(c->ctx, c->second, c->weights, c->along, NULL, bent));
  memcpy(Hd, bent + np, (size_t)c->n * sizeof(double));
  (void)mbg__control_effort(c, d, c->factor, Hd);
done:
  return err < 0 ? step_back(err) : err;
}

static int product(void *user, const double *x, const double *d, double *Hd) {
  mbg_control *c = user;
  double *key = c->bent + c->sampled->np;
  int status = MBG_OK, err = MBG_OK;
  bool found;
  memcpy(key, x, (size_t)c->n * sizeof(double));
  memcpy(key + c->n, d, (size_t)c->n * sizeof(double));
  MBG_TRY(mbg__record_next(c->ctx, c->record, 'p', 2 * c->n, key, c->n, Hd, &status, &found));
  if (!found) {
    MBG_TRY(status = multiply(c, x, d, Hd));
    MBG_TRY(mbg__record_add(c->ctx, c->record, 'p', 2 * c->n, key, c->n, Hd, status));
  }
done:
  return err < 0 ? err : status;
}

/* a number that a search with other options needs from the record */
static int mark(mbg_control *c, char kind, double number) {
  int status, err = MBG_OK;
  bool found;
  MBG_TRY(mbg__record_next(c->ctx, c->record, kind, 1, &number, 0, NULL, &status, &found));
  if (!found) {
    MBG_TRY(mbg__record_add(c->ctx, c->record, kind, 1, &number, 0, NULL, MBG_OK));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- stages */

static int report(void *user, const mbg__minimize_state *state) {
  mbg_control *c = user;
  mbg_control_summary *r = &c->summary;
  r->iterations = c->stage_iterations + state->iteration;
  r->evaluations = c->stage_evaluations + state->evaluations;
  r->gradient = state->gradient;
  if (!(c->reference > 0)) {
    c->reference = state->gradient;
    c->record_error = mark(c, 'r', c->reference);
  }
  r->gradient_start = c->reference;
  r->objective = objective_best(c);
  r->effort = c->effort_best;
  return c->record_error < 0 || (c->progress && c->progress(c->user, c) && !mbg__record_left(c->record));
}

/* What a stage ended with. */
static void conclude(mbg_control *c, const mbg__minimize_result *m) {
  mbg_control_summary *r = &c->summary;
  r->status = mbg__minimize_reason_text(m->reason);
  r->converged = m->reason == MBG__MINIMIZE_GRADIENT && r->stage == r->stages - 1;
  r->interrupted = m->reason == MBG__MINIMIZE_INTERRUPTED;
  r->gradient = m->gradient;
  r->at_bounds = m->active;
  r->iterations = c->stage_iterations + m->iterations;
  r->evaluations = c->stage_evaluations + m->evaluations;
  r->failed = c->stage_failed + m->failed;
  r->objective = objective_best(c);
  r->effort = c->effort_best;
  c->stage_iterations = r->iterations;
  c->stage_evaluations = r->evaluations;
  c->stage_failed = r->failed;
}

/* the sequence of events at the samples of c->x; 0 without events, or where they cannot be simulated */
static int sequence_at(mbg_control *c, uint64_t *sum) {
  int err = MBG_OK;
  *sum = 0;
  if (c->m->nevent > 0) {
    err = step_back(simulate(c, c->x));
    *sum = err == MBG_OK ? mbg__sequence_sum(c->run) : 0;
  }
  return err < 0 ? err : MBG_OK;
}

/* begins anew where it ends with other events than those it began with: the memory of the search is of these */
static int minimize_anew(mbg_context *ctx, mbg_control *c, const mbg__minimize_problem *problem,
                         const mbg__minimize_options *opt, mbg__minimize_result *m) {
  uint64_t before, after;
  int err = MBG_OK;
  MBG_TRY(sequence_at(c, &after));
  for (int k = 0;; k++) {
    before = after;
    MBG_TRY(mbg__minimize(ctx, problem, opt, c->x, m));
    MBG_TRY(sequence_at(c, &after));
    if (after == before || m->reason == MBG__MINIMIZE_INTERRUPTED || k == MBG__SEQUENCE_CHANGES) {
      break;
    }
    c->changes++;
    c->stage_iterations += m->iterations;
    c->stage_evaluations += m->evaluations;
    c->stage_failed += m->failed;
  }
done:
  return err;
}

/* The gradient falls by the tolerance from its value at the first start; earlier stages need not be exact. */
static int solve_stage(mbg_context *ctx, mbg_control *c, mbg__minimize_result *m) {
  static const double tolerance_between = 1e-3;
  mbg__minimize_options opt = c->minimize;
  const bool last = c->summary.stage == c->summary.stages - 1, known = c->reference > 0;
  const double tolerance = last ? c->tolerance : fmax(c->tolerance, tolerance_between);
  opt.gradient_relative = known ? 0 : tolerance;
  opt.gradient_tolerance = tolerance * c->reference;
  const mbg__minimize_problem problem = {.n = c->n,
                                         .lower = c->lower,
                                         .upper = c->upper,
                                         .metric = c->metric,
                                         .evaluate = evaluate,
                                         .product = product,
                                         .progress = report,
                                         .user = c};
  c->value_best = INFINITY;
  c->factor = pow(c->reduction, c->summary.stage - (c->summary.stages - 1));
  int err = MBG_OK;
  MBG_TRY(mark(c, 's', c->summary.stage));
  MBG_TRY(minimize_anew(ctx, c, &problem, &opt, m));
done:
  return err;
}

int mbg_control_solve(mbg_context *ctx, mbg_control *c) {
  MBG_NEED(ctx, ctx && c);
  mbg__minimize_result m;
  int err = MBG_OK;
  c->ctx = ctx;
  c->stage_iterations = c->stage_evaluations = c->stage_failed = c->summary.evaluations = 0;
  c->record_error = MBG_OK;
  err = mbg__control_open_record(ctx, c);
  for (; err == MBG_OK && c->summary.stage < c->summary.stages; c->summary.stage++) {
    err = solve_stage(ctx, c, &m);
    err = c->record_error < 0 ? c->record_error : err;
    if (err == MBG_ERROR_INTERRUPTED && c->summary.evaluations > 0) {
      /* in the first simulation of a later stage: the stages before have a result */
      c->summary.interrupted = true;
      c->summary.status = mbg__minimize_reason_text(MBG__MINIMIZE_INTERRUPTED);
      err = MBG_OK;
      break;
    }
    if (err == MBG_OK) {
      conclude(c, &m);
    }
    if (err < 0 || c->summary.interrupted || c->summary.stage == c->summary.stages - 1) {
      break;
    }
  }
  mbg__record_close(c->record);
  c->record = NULL;
  if (err == MBG_OK && c->m->nevent > 0 && simulate(c, c->x) == MBG_OK) {
    mbg__sequence_note(ctx, c->run, NULL, c->changes);
  }
  c->ctx = NULL;
  if (err == MBG_ERROR_CONVERGENCE && c->summary.evaluations == 0) {
    mbg__fail(ctx, err,
              "the control that the search starts from cannot be simulated: give other values in \"controls\"");
  }
  if (err == MBG_ERROR_INTERRUPTED) {
    mbg__fail(ctx, err, "interrupted during the first simulation; there is no result");
  }
  return err;
}
