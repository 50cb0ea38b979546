/* What the solution is: simulated and differentiated once more, with the conditions of optimality and their
   multipliers. */
#include "optimizers/kkt.h"
#include "problems/optimize.h"

#include <string.h>

/* c above this may have a multiplier; a multiplier counts when the constraint's share of the gradient is above this */
static const double nearly_active = 1e-3, share = 1e-9;

/* data at the solution */
typedef struct {
  double *g, *J, *c, *lambda, *mu;
} conditions;

static int take_memory(mbg_context *ctx, mbg_optimize *opt, conditions *k) {
  const size_t nx = (size_t)opt->nx, m = (size_t)opt->m;
  k->g = MBG_TAKE(&opt->solve, double, nx + 1);
  k->mu = MBG_TAKE(&opt->solve, double, nx + 1);
  k->c = MBG_TAKE(&opt->solve, double, m + 1);
  k->lambda = MBG_TAKE(&opt->solve, double, m + 1);
  k->J = MBG_TAKE(&opt->solve, double, m *nx + 1);
  opt->active = MBG_TAKE(&opt->arena, mbg_optimize_active, m + 1);
  const int err = mbg__arena_check(ctx, &opt->solve);
  return err < 0 ? err : mbg__arena_check(ctx, &opt->arena);
}

static double row_length(const mbg_optimize *opt, const conditions *k, int row) {
  double sum = 0;
  for (int i = 0; i < opt->nx; i++) {
    const double a = k->J[(size_t)row * (size_t)opt->nx + (size_t)i];
    sum += a * a;
  }
  return sqrt(sum);
}

/* the point nearest to the limit or furthest beyond it */
static int extreme(const mbg_optimize *opt, const mbg__limit *l) {
  int best = 0;
  for (int k = 1; k < l->npoint; k++) {
    best = mbg__limit_c(opt, l, k) > mbg__limit_c(opt, l, best) ? k : best;
  }
  return best;
}

static void report_limit(mbg_optimize *opt, const conditions *k, int index) {
  mbg__limit *l = &opt->limit[index];
  mbg_optimize_constraint *s = &l->shown;
  const bool points = l->path && !l->aggregated;
  const int count = points ? l->nlisted : 1, top = extreme(opt, l);
  const double c = mbg__limit_c(opt, l, top);
  s->value = mbg__limit_value(opt, l, top);
  s->time = mbg__limit_time(opt, l, top);
  s->violation = l->side ? fmax(c, 0) : fabs(c);
  s->listed = points ? l->nlisted : 1;
  s->active = 0;
  s->multiplier = 0;
  for (int i = 0; i < count; i++) {
    const double lambda = k->lambda[l->row + i];
    if (fabs(lambda) * row_length(opt, k, l->row + i) <= share * opt->summary.gradient_start) {
      continue;
    }
    const double multiplier = lambda * opt->f_scale / l->scale;
    opt->active[opt->summary.active++] =
        (mbg_optimize_active){index, points ? mbg__limit_time(opt, l, l->listed[i]) : NAN, multiplier};
    s->active++;
    s->multiplier += multiplier;
  }
}

static void report_parameter(mbg_optimize *opt, const conditions *k, int i) {
  mbg_optimize_parameter *p = &opt->parameter[i];
  /* interior points end at a distance from bounds that hold: smaller than the multiplier, as their product is tiny */
  const double reach = fmax(1e-9, mbg__nlp_is_interior(opt->nlp.method) ? fmin(fabs(k->mu[i]), nearly_active) : 0);
  p->value = opt->p[p->index];
  p->multiplier = k->mu[i] == 0 ? 0 : fabs(k->mu[i] * opt->f_scale / opt->chain[i]);
  p->at_bound = opt->x[i] <= opt->lower[i] + reach ? -1 : opt->x[i] >= opt->upper[i] - reach ? 1 : 0;
}

static int verify(mbg_context *ctx, mbg_optimize *opt, conditions *k) {
  const mbg__kkt_point point = {.n = opt->nx,
                                .m = opt->m,
                                .x = opt->x,
                                .lower = opt->lower,
                                .upper = opt->upper,
                                .equal = opt->equal,
                                .g = k->g,
                                .c = k->c,
                                .J = k->J,
                                .active = nearly_active,
                                .near = mbg__nlp_is_interior(opt->nlp.method) ? nearly_active : 0};
  double residual;
  const int err = mbg__kkt(ctx, &point, k->lambda, k->mu, &residual);
  opt->summary.gradient = mbg__kkt_projected(opt->nx, opt->x, opt->lower, opt->upper, k->g);
  opt->summary.optimality = residual / opt->summary.gradient_start;
  return err;
}

int mbg__optimize_report(mbg_context *ctx, mbg_optimize *opt) {
  int err = MBG_OK;
  conditions k;
  const mbg_optimize_summary counted = opt->summary;
  opt->valued = false;
  MBG_TRY(take_memory(ctx, opt, &k));
  MBG_TRY(mbg__optimize_values(ctx, opt, opt->x));
  MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : MBG_OK);
  mbg__optimize_constraints(opt, opt->x, k.c);
  MBG_TRY(mbg__optimize_gradients(ctx, opt, opt->x, k.g, k.J));
  MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : MBG_OK);
  opt->summary = counted; /* the report is no part of the search */
  MBG_TRY(verify(ctx, opt, &k));
  opt->summary.objective = mbg__optimize_objective(opt);
  opt->summary.violation = mbg__optimize_violation(opt);
  opt->summary.active = 0;
  for (int i = 0; i < opt->nlimit; i++) {
    report_limit(opt, &k, i);
  }
  for (int i = 0; i < opt->n; i++) {
    report_parameter(opt, &k, i);
  }
  opt->lambda = k.lambda;
  opt->J = k.J;
done:
  return err;
}

/* the sum of the cases' errors, or the largest one */
int mbg_optimize_error(mbg_context *ctx, mbg_optimize *opt) {
  MBG_NEED(ctx, ctx && opt);
  int err = MBG_OK;
  double error = 0;
  bool regular = true;
  opt->summary.objective_error = NAN;
  if (opt->summary.reason == MBG_OPTIMIZE_NOT_RUN) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "solve first: there is no optimum whose error could be estimated");
    goto done;
  }
  MBG_TRY(mbg__optimize_case_errors(ctx, opt));
  MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : MBG_OK);
  for (int k = 0; k < opt->ncase; k++) {
    const double part = fabs(opt->load[k].shown.weight) * opt->load[k].error;
    error = opt->task->worst ? fmax(error, part) : error + part;
    regular = regular && opt->load[k].regular;
  }
  opt->summary.objective_error = error;
  opt->summary.error_regular = regular;
done:
  return err;
}
