/* Design problems: load cases, varied parameters, the public object. */
#include "problems/optimize.h"

#include "problems/cases.h"
#include "problems/model_text.h"
#include "problems/spread.h"

#include <string.h>

static const mbg_optimize_options defaults = {.seed = 1, .tolerance = NAN, .threads = 1};

void mbg_optimize_options_default(mbg_optimize_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

const char *mbg_optimize_optimizer(int index) { return mbg__nlp_method_name(index); }

const char *mbg_optimize_reason_text(int reason) {
  static const char *const texts[] = {[MBG_OPTIMIZE_NOT_RUN] = "not run",
                                      [MBG_OPTIMIZE_OPTIMAL] = "optimal: the conditions of optimality hold",
                                      [MBG_OPTIMIZE_SETTLED] = "settled: the objective does not change any more",
                                      [MBG_OPTIMIZE_STUCK] = "not converged: the optimizer finds no further step",
                                      [MBG_OPTIMIZE_ITERATIONS] = "not converged: too many iterations",
                                      [MBG_OPTIMIZE_INFEASIBLE] = "no feasible design was found",
                                      [MBG_OPTIMIZE_INTERRUPTED] = "interrupted"};
  return reason >= 0 && reason < MBG_COUNT(texts) ? texts[reason] : "unknown";
}

const char *mbg_optimize_order_text(int order) {
  static const char *const texts[] = {
      [MBG_OPTIMIZE_ORDER_UNKNOWN] = "not known",
      [MBG_OPTIMIZE_MINIMUM] = "a strict minimum: the objective rises in every direction",
      [MBG_OPTIMIZE_VERTEX] = "bounds and constraints alone determine the design",
      [MBG_OPTIMIZE_FLAT] = "not unique: there is a direction in which the objective does not change to second order",
      [MBG_OPTIMIZE_SADDLE] = "no minimum: there is a direction in which the objective falls"};
  return order >= 0 && order < MBG_COUNT(texts) ? texts[order] : "unknown";
}

/* ---------------------------------------------------------------------- load cases */

static bool interrupt(void *user) {
  const mbg_optimize *opt = user;
  const mbg_run_options *o = &opt->run_options;
  return !opt->reporting && !opt->work.replaying && o->interrupt && o->interrupt(o->user);
}

/* a case per run with a positive weight, or the model itself */
static int make_cases(mbg_context *ctx, mbg_optimize *opt) {
  const mbg_model *m = opt->model;
  const int n = mbg__case_count(m);
  int err = MBG_OK, ntracked;
  if (!m->optimize.given) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s: the model has no section \"optimize\", which defines the objective",
                     mbg_model_file(m));
  }
  opt->load = MBG_TAKE(&opt->arena, mbg__case, n);
  opt->models = MBG_TAKE(&opt->arena, const mbg_model *, n);
  MBG_TRY(mbg__arena_check(ctx, &opt->arena));
  for (int k = 0; k < n; k++) {
    const double weight = m->optimize.weights && !mbg_model_active_run(m) ? m->optimize.weights[k] : 1;
    mbg__case *c = &opt->load[opt->ncase];
    if (!(weight > 0)) {
      continue;
    }
    MBG_TRY(mbg__case_model(ctx, m, k, NULL, &c->model, &c->own, &ntracked));
    opt->models[opt->ncase++] = c->model;
    c->objective = c->model->optimize.objective;
    c->shown = (mbg_optimize_case){.run = mbg_model_active_run(c->model), .weight = weight, .objective = NAN};
  }
  if (opt->ncase == 0) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: optimize: no run counts", mbg_model_file(m));
    goto done;
  }
  opt->task = &opt->models[0]->optimize;
  opt->np = mbg_model_parameter_count(opt->models[0]);
done:
  return err;
}

static int open_case(mbg_context *ctx, mbg_optimize *opt, mbg__case *c) {
  int err = MBG_OK;
  mbg_run_options o = opt->run_options;
  o.interrupt = interrupt;
  o.progress = NULL;
  o.user = opt;
  o.all_signals = false;
  c->p = MBG_TAKE(&opt->arena, double, opt->np);
  c->npath = MBG_TAKE(&opt->arena, int, c->model->ncriterion + 1);
  MBG_TRY(mbg__arena_check(ctx, &opt->arena));
  MBG_TRY(mbg_context_create(mbg__context_allocator(ctx), &c->ctx));
  MBG_TRY(mbg_run_create(ctx, c->model, &o, &c->run));
done:
  return err;
}

static int check_objective(mbg_context *ctx, mbg_optimize *opt) {
  opt->squares = !opt->task->worst && opt->nfilter == 0;
  bool any = false;
  for (int k = 0; k < opt->ncase; k++) {
    const mbg__case *c = &opt->load[k];
    any = any || c->objective >= 0;
    if (c->objective >= 0 && c->model->criteria[c->objective].kind == MBG__PATH) {
      return mbg__fail(ctx, MBG_ERROR_INPUT,
                       "optimize: criterion '%s' is a path and has no single value; minimize a smooth_maximum instead",
                       c->model->criteria[c->objective].name);
    }
    opt->squares = opt->squares && (c->objective < 0 || c->model->criteria[c->objective].kind == MBG__LEAST_SQUARES);
  }
  opt->squares = opt->squares && any;
  return any ? MBG_OK
             : mbg__fail(ctx, MBG_ERROR_INPUT, "optimize: no run that counts has the criterion '%s'", opt->task->text);
}

/* ---------------------------------------------------------------------- varied parameters */

/* the list of the model, else the parameters with bounds */
static int choose_parameters(mbg_context *ctx, mbg_optimize *opt) {
  const mbg_model *m = opt->models[0];
  int err = MBG_OK;
  int *index = MBG_TAKE(&opt->arena, int, opt->np);
  opt->parameter = MBG_TAKE(&opt->arena, mbg_optimize_parameter, opt->np);
  MBG_TRY(mbg__arena_check(ctx, &opt->arena));
  opt->n = mbg__list_varied(m, opt->task->nparameter, opt->task->parameters, false, index);
  opt->nx = opt->n + opt->task->worst;
  for (int i = 0; i < opt->n; i++) {
    opt->parameter[i].index = index[i];
  }
  if (opt->n == 0) {
    err =
        mbg__fail(ctx, MBG_ERROR_INPUT,
                  "%s: no parameter can be varied: give parameters bounds, or list \"parameters\"", mbg_model_file(m));
  }
done:
  return err;
}

static int take_unknowns(mbg_context *ctx, mbg_optimize *opt) {
  double **vectors[] = {&opt->offset, &opt->span,  &opt->u,  &opt->chain, &opt->x,
                        &opt->lower,  &opt->upper, &opt->at, &opt->best_x};
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    *vectors[i] = MBG_TAKE(&opt->arena, double, opt->nx);
  }
  opt->log = MBG_TAKE(&opt->arena, bool, opt->nx);
  opt->p0 = MBG_TAKE(&opt->arena, double, opt->np);
  opt->p = MBG_TAKE(&opt->arena, double, opt->np);
  opt->shown = MBG_TAKE(&opt->arena, double, opt->np + opt->nx);
  return mbg__arena_check(ctx, &opt->arena);
}

/* offset and span: x between 0 and 1 between two bounds, else of the size of the start */
static void scale_unknown(mbg_optimize *opt, int i) {
  const mbg_optimize_parameter *p = &opt->parameter[i];
  const bool log_scale = opt->log[i];
  const double lower = log_scale ? (p->min > 0 ? log(p->min) : -INFINITY) : p->min;
  const double upper = log_scale ? log(p->max) : p->max, start = log_scale ? log(p->start) : p->start;
  if (isfinite(lower) && isfinite(upper) && upper > lower) {
    opt->offset[i] = lower;
    opt->span[i] = upper - lower;
  } else {
    opt->offset[i] = lower == upper ? lower : 0;
    opt->span[i] = start != 0 && !log_scale ? fabs(start) : 1;
  }
  opt->lower[i] = (lower - opt->offset[i]) / opt->span[i];
  opt->upper[i] = (upper - opt->offset[i]) / opt->span[i];
  opt->x[i] = (start - opt->offset[i]) / opt->span[i];
}

static int describe_parameter(mbg_context *ctx, mbg_optimize *opt, int i) {
  const mbg_model *m = opt->models[0];
  mbg_optimize_parameter *p = &opt->parameter[i];
  int err = MBG_OK;
  p->name = mbg__parameter_text(&opt->arena, m, p->index);
  MBG_TRY(mbg__arena_check(ctx, &opt->arena));
  p->unit = mbg_model_parameter_unit(m, p->index);
  p->start = p->value = opt->p0[p->index];
  p->min = mbg_model_parameter_min(m, p->index);
  p->max = mbg_model_parameter_max(m, p->index);
  opt->log[i] = mbg_model_parameter_log_scale(m, p->index);
  MBG_TRY(mbg__check_start(ctx, m, p->index, p->start));
  if (p->min > p->max) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "bounds of parameter '%s' contradict each other: min %g is above max %g",
                     p->name, p->min, p->max);
  }
  if (p->start < p->min || p->start > p->max) {
    const double inside = p->start < p->min ? p->min : p->max;
    MBG_TRY(mbg__warn(ctx, &opt->warnings, "parameter '%s' starts at %g, outside its bounds; %g is taken", p->name,
                      p->start, inside));
    p->start = p->value = opt->p0[p->index] = inside;
  }
  scale_unknown(opt, i);
  MBG_TRY(mbg__check_varied(ctx, opt->ncase, opt->models, p->index, "varied"));
done:
  return err;
}

static int describe_parameters(mbg_context *ctx, mbg_optimize *opt) {
  int err = MBG_OK;
  MBG_TRY(take_unknowns(ctx, opt));
  mbg__start_values(opt->ncase, opt->models, opt->o.parameters, opt->p0);
  for (int i = 0; i < opt->n; i++) {
    MBG_TRY(describe_parameter(ctx, opt, i));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- filters */

static int make_filter(mbg_context *ctx, mbg_optimize *opt, const mbg__task_vector *v) {
  mbg__filter *f = &opt->filter[opt->nfilter++];
  int first = 0, same = 0;
  while (first < opt->n && opt->parameter[first].index != v->first) {
    first++;
  }
  while (same < v->count && first + same < opt->n && opt->parameter[first + same].index == v->first + same &&
         !opt->log[first + same]) {
    same++;
  }
  const char *name = first < opt->n ? opt->parameter[first].name : "a vector";
  if (same < v->count) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "optimize: filter of '%s': every entry must be varied, on a linear scale",
                     name);
  }
  if (!(v->weight >= 1)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "optimize: filter of '%s': the radius is %g entries; it must be at least 1",
                     name, v->weight);
  }
  *f = (mbg__filter){first, v->count, v->weight};
  return MBG_OK;
}

static int make_filters(mbg_context *ctx, mbg_optimize *opt) {
  int err = MBG_OK;
  opt->filter = MBG_TAKE(&opt->arena, mbg__filter, opt->task->nfilter);
  MBG_TRY(mbg__arena_check(ctx, &opt->arena));
  for (int k = 0; k < opt->task->nfilter; k++) {
    MBG_TRY(make_filter(ctx, opt, &opt->task->filters[k]));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- optimizer */

/* Bounds alone: descent. A sum of squares: Gauss-Newton. Few unknowns: sequential quadratic programs. Many: moving
   asymptotes, or interior points when there are equalities (theory 4, section 9). */
static mbg__nlp_method by_problem(const mbg_optimize *opt) {
  bool equalities = false;
  for (int i = 0; i < opt->nlimit; i++) {
    equalities = equalities || opt->limit[i].side == 0;
  }
  if (opt->squares && opt->n <= 200 && mbg__nlp_available(MBG__NLP_IPOPT_GN)) {
    return MBG__NLP_IPOPT_GN;
  }
  if (opt->nlimit == 0 && !opt->task->worst) {
    return MBG__NLP_LBFGS;
  }
  const mbg__nlp_method wanted = opt->n <= 200 ? MBG__NLP_SLSQP : equalities ? MBG__NLP_IPOPT : MBG__NLP_MMA;
  /* of a build without its library: another one that takes these constraints */
  const mbg__nlp_method other[] = {wanted, MBG__NLP_SLSQP, MBG__NLP_IPOPT, MBG__NLP_CONLIN};
  for (int i = 0; i < MBG_COUNT(other); i++) {
    if (mbg__nlp_available(other[i]) && (!equalities || mbg__nlp_takes_equalities(other[i]))) {
      return other[i];
    }
  }
  return wanted;
}

static int choose_optimizer(mbg_context *ctx, mbg_optimize *opt) {
  const char *name = opt->o.optimizer ? opt->o.optimizer : opt->task->optimizer;
  const int found = name ? mbg__nlp_method_find(name) : (int)by_problem(opt);
  if (found < 0) {
    return mbg__fail(
        ctx, MBG_ERROR_INPUT,
        "unknown optimizer '%s' (known: lbfgs, nlopt-lbfgs, newton, slsqp, mma, conlin, ipopt, ipopt-gn, ipopt-exact)",
        name);
  }
  opt->chosen = !name;
  opt->nlp = mbg__nlp_options_default();
  opt->nlp.method = (mbg__nlp_method)found;
  opt->nlp.max_iterations = opt->o.iterations > 0       ? opt->o.iterations
                            : opt->task->iterations > 0 ? opt->task->iterations
                                                        : 200;
  opt->nlp.max_evaluations = 20 * opt->nlp.max_iterations + 20;
  opt->nlp.feasibility = 1e-7; /* the report requires 1e-6 */
  opt->nlp.optimality = !isnan(opt->o.tolerance)       ? opt->o.tolerance
                        : !isnan(opt->task->tolerance) ? opt->task->tolerance
                                                       : 1e-6;
  opt->nlp.settle = !isnan(opt->task->settle) ? opt->task->settle : 0;
  opt->summary.optimizer = mbg__nlp_method_name(found);
  if (found == MBG__NLP_IPOPT_GN && !opt->squares) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "optimizer 'ipopt-gn' needs a least_squares criterion as the objective, and no filter");
  }
  return mbg__nlp_needs_products(opt->nlp.method) ? mbg__optimize_check_second(ctx, opt) : MBG_OK;
}

/* ---------------------------------------------------------------------- creation */

/* the size of the objective, and where the search begins */
static int place_start(mbg_context *ctx, mbg_optimize *opt) {
  const double f = mbg__optimize_objective(opt);
  if (!isfinite(f)) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "the objective '%s' is %g at the start", opt->task->text, f);
  }
  opt->f_scale = !isnan(opt->task->scale) ? opt->task->scale : f != 0 ? fabs(f) : 1;
  for (int i = 0; opt->o.place > 0 && i < opt->n; i++) {
    mbg_optimize_parameter *p = &opt->parameter[i];
    const int err = mbg__check_box(ctx, p->name, opt->lower[i], opt->upper[i], opt->log[i]);
    if (err < 0) {
      return err;
    }
    opt->x[i] = opt->lower[i] + (opt->upper[i] - opt->lower[i]) * mbg__spread(opt->n, opt->o.place, i, opt->o.seed);
    const double u = opt->offset[i] + opt->span[i] * opt->x[i];
    p->start = p->value = opt->log[i] ? exp(u) : u;
  }
  if (opt->task->worst) {
    opt->lower[opt->n] = -INFINITY;
    opt->upper[opt->n] = INFINITY;
    opt->x[opt->n] = f / opt->f_scale;
    opt->offset[opt->n] = 0;
    opt->span[opt->n] = 1;
    opt->log[opt->n] = false;
  }
  return MBG_OK;
}

static int check_options(mbg_context *ctx, const mbg_optimize_options *o) {
  if (o->iterations < 0 || o->place < 0 || o->threads < 1 || o->tolerance < 0) {
    return mbg__fail(
        ctx, MBG_ERROR_INPUT,
        "optimize: iterations %d, place %d, threads %d, tolerance %g: they must not be negative, threads at least 1",
        o->iterations, o->place, o->threads, o->tolerance);
  }
  return o->resume && !o->restart ? mbg__fail(ctx, MBG_ERROR_INPUT, "optimize: resume needs the restart file") : MBG_OK;
}

static int create(mbg_context *ctx, mbg_optimize *opt, const mbg_optimize_options *options) {
  int err = MBG_OK;
  opt->o = defaults;
  MBG_TRY(mbg__options_take(ctx, "optimize", options, &opt->o, sizeof(opt->o)));
  MBG_TRY(mbg__run_options_take(ctx, opt->o.run, &opt->run_options));
  opt->run_options.all_signals = opt->run_options.keep_poses = false; /* nobody can ask for them */
  MBG_TRY(check_options(ctx, &opt->o));
  MBG_TRY(make_cases(ctx, opt));
  MBG_TRY(choose_parameters(ctx, opt));
  MBG_TRY(describe_parameters(ctx, opt));
  MBG_TRY(make_filters(ctx, opt));
  MBG_TRY(check_objective(ctx, opt));
  MBG_TRY(mbg__optimize_make_robust(ctx, opt));
  for (int k = 0; k < opt->ncase; k++) {
    MBG_TRY(open_case(ctx, opt, &opt->load[k]));
  }
  MBG_TRY(mbg__optimize_make_work(ctx, opt));
  MBG_TRY(mbg__optimize_first(ctx, opt));
  MBG_TRY(mbg__optimize_make_limits(ctx, opt));
  MBG_TRY(place_start(ctx, opt));
  MBG_TRY(choose_optimizer(ctx, opt));
  opt->summary.model = opt->models[0];
  opt->summary.formulation = mbg_run_formulation(opt->load[0].run);
  opt->summary.parameters = opt->n;
  opt->summary.cases = opt->ncase;
  opt->summary.objective_error = NAN;
  opt->summary.constraints = opt->nlimit;
done:
  return err;
}

int mbg_optimize_create(mbg_context *ctx, const mbg_model *model, const mbg_optimize_options *options,
                        mbg_optimize **out) {
  MBG_NEED(ctx, ctx && model && out);
  mbg_optimize *opt = *out = mbg__alloc_zero(ctx, 1, sizeof(*opt));
  if (!opt) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&opt->arena, mbg__context_allocator(ctx));
  mbg__arena_init(&opt->solve, mbg__context_allocator(ctx));
  opt->warnings = (mbg__warnings){.arena = &opt->arena, .count = &opt->summary.warnings};
  opt->model = model;
  opt->best = NAN;
  const int err = create(ctx, opt, options);
  if (err < 0) {
    mbg_optimize_destroy(opt);
    *out = NULL;
  }
  return err;
}

void mbg_optimize_destroy(mbg_optimize *opt) {
  if (!opt) {
    return;
  }
  const mbg_allocator allocator = opt->arena.allocator;
  mbg__work_close_record(&opt->work);
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    mbg_hessian_destroy(c->second);
    mbg_run_destroy(c->run);
    mbg_model_destroy(c->own);
    allocator.release(allocator.user, c->row);
    allocator.release(allocator.user, c->gradient);
    mbg_context_destroy(c->ctx);
  }
  mbg__arena_destroy(&opt->solve);
  mbg__arena_destroy(&opt->arena);
  allocator.release(allocator.user, opt);
}

/* ---------------------------------------------------------------------- queries */

const mbg_optimize_summary *mbg_optimize_get_summary(const mbg_optimize *opt) { return opt ? &opt->summary : NULL; }

/* entry of a list with this count; NULL: out of range */
#define GET(list, count) (opt && i >= 0 && i < (count) ? &(list)[i] : NULL)

const mbg_optimize_parameter *mbg_optimize_get_parameter(const mbg_optimize *opt, int i) {
  return GET(opt->parameter, opt->n);
}

const mbg_optimize_constraint *mbg_optimize_get_constraint(const mbg_optimize *opt, int i) {
  const mbg__limit *limit = GET(opt->limit, opt->nlimit);
  return limit ? &limit->shown : NULL;
}

const mbg_optimize_active *mbg_optimize_get_active(const mbg_optimize *opt, int i) {
  return GET(opt->active, opt->summary.active);
}

const mbg_optimize_record *mbg_optimize_get_record(const mbg_optimize *opt, int i) {
  return GET(opt->history, opt->summary.history);
}

const mbg_optimize_case *mbg_optimize_get_case(const mbg_optimize *opt, int i) {
  const mbg__case *c = GET(opt->load, opt->ncase);
  return c ? &c->shown : NULL;
}

const double *mbg_optimize_curvatures(const mbg_optimize *opt) { return opt ? opt->curvatures : NULL; }

const mbg_optimize_shift *mbg_optimize_get_shift(const mbg_optimize *opt, int i) {
  return GET(opt->shift, opt->summary.shifts);
}

const char *mbg_optimize_warning(const mbg_optimize *opt, int i) {
  return opt ? mbg__warning(&opt->warnings, i) : NULL;
}

const double *mbg_optimize_parameters(const mbg_optimize *opt) { return opt ? opt->p : NULL; }

int mbg_optimize_model_text(mbg_context *ctx, const mbg_optimize *opt, char **text) {
  MBG_NEED(ctx, ctx && opt && text);
  mbg__varied *values = mbg__alloc(ctx, (size_t)opt->n + 1, sizeof(*values));
  for (int i = 0; values && i < opt->n; i++) {
    values[i] = (mbg__varied){opt->parameter[i].index, opt->parameter[i].value};
  }
  *text = NULL;
  const int err = values ? mbg__model_text(ctx, opt->models[0], opt->n, values, text) : mbg__fail_memory(ctx);
  mbg__free(ctx, values);
  return err;
}

/* ---------------------------------------------------------------------- at a point */

/* the row of J, which begins with the objectives of the load cases, of the largest of them: the first when several are
   equal */
static int worst_row(const mbg_optimize *opt) {
  const double largest = mbg__optimize_objective(opt);
  int row = 0;
  for (int k = 0; k < opt->ncase; k++) {
    const mbg__case *c = &opt->load[k];
    if (c->objective >= 0 && c->shown.weight * c->value[c->objective] >= largest) {
      break;
    }
    row += c->objective >= 0;
  }
  return row;
}

int mbg_optimize_evaluate(mbg_context *ctx, mbg_optimize *opt, const double *values, double *objective,
                          double *violation, double *gradient) {
  MBG_NEED(ctx, ctx && opt && values && objective && violation);
  int err = MBG_OK;
  double *x = mbg__alloc_zero(ctx, 2 * (size_t)opt->nx + 1, sizeof(double)), *J = NULL;
  if (!x) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < opt->n; i++) {
    if (opt->log[i] && !(values[i] > 0)) {
      err = mbg__fail(ctx, MBG_ERROR_INPUT, "parameter '%s' is %g; its scale is logarithmic", opt->parameter[i].name,
                      values[i]);
      goto done;
    }
    x[i] = ((opt->log[i] ? log(values[i]) : values[i]) - opt->offset[i]) / opt->span[i];
  }
  MBG_TRY(mbg__optimize_values(ctx, opt, x));
  MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : MBG_OK);
  *objective = mbg__optimize_objective(opt);
  *violation = mbg__optimize_violation(opt);
  if (gradient) {
    double *g = x + opt->nx;
    MBG_TRY(mbg__optimize_select(ctx, opt));
    J = mbg__alloc(ctx, (size_t)opt->m * (size_t)opt->nx + 1, sizeof(double));
    MBG_TRY(J ? mbg__optimize_gradients(ctx, opt, x, g, J) : mbg__fail_memory(ctx));
    MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : MBG_OK);
    const double *own = opt->task->worst ? J + (size_t)worst_row(opt) * (size_t)opt->nx : g;
    for (int i = 0; i < opt->n; i++) {
      gradient[i] = own[i] * opt->f_scale / opt->chain[i];
    }
  }
done:
  mbg__free(ctx, J);
  mbg__free(ctx, x);
  return err;
}
