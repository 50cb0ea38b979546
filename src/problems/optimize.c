/* Design problems: load cases, what is varied, the public object. */
#include "problems/optimize.h"

#include "problems/model_text.h"
#include "problems/spread.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mbg_optimize_options_default(mbg_optimize_options *o) {
  *o = (mbg_optimize_options){.seed = 1, .tolerance = NAN, .threads = 1};
  mbg_run_options_default(&o->run);
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

int mbg__optimize_warn(mbg_context *ctx, mbg_optimize *opt, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (opt->summary.warnings == opt->warning_room) {
    const int room = 2 * opt->warning_room + 8;
    const char **more = MBG_TAKE(&opt->arena, const char *, room);
    if (!more) {
      return mbg__fail_memory(ctx);
    }
    if (opt->summary.warnings > 0) {
      memcpy(more, opt->warning, (size_t)opt->summary.warnings * sizeof(*more));
    }
    opt->warning = more;
    opt->warning_room = room;
  }
  const char *copy = mbg__arena_text(&opt->arena, text, strlen(text));
  if (!copy) {
    return mbg__fail_memory(ctx);
  }
  opt->warning[opt->summary.warnings++] = copy;
  mbg__note(ctx, MBG_WARNING, "%s", copy);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- load cases */

static int interrupt(void *user) {
  const mbg_optimize *opt = user;
  return !opt->deaf && opt->o.run.interrupt && opt->o.run.interrupt(opt->o.run.user);
}

static bool counts(const mbg_optimize *opt, const mbg_model *m, int run) {
  const char *name = mbg_model_run_name(m, run);
  if (!name) {
    return true;
  }
  return opt->o.run_name ? !strcmp(opt->o.run_name, name) : !m->optimize.weights || m->optimize.weights[run] > 0;
}

/* a case per run of the file that counts, or the model itself */
static int load_cases(mbg_context *ctx, mbg_optimize *opt) {
  int err = MBG_OK;
  mbg_model *common = NULL;
  MBG_TRY(mbg_model_load_run(ctx, opt->path, opt->o.run_name, &common));
  if (!common->optimize.given) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: there is no section \"optimize\", which says what is minimized",
                    mbg_model_file(common));
    goto done;
  }
  const int n = mbg_model_run_count(common) > 0 ? mbg_model_run_count(common) : 1;
  opt->load = MBG_TAKE(&opt->arena, mbg__case, n);
  if (!opt->load) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int k = 0; k < n; k++) {
    mbg__case *c = &opt->load[opt->ncase];
    if (!counts(opt, common, k)) {
      continue;
    }
    c->weight = common->optimize.weights && !opt->o.run_name ? common->optimize.weights[k] : 1;
    MBG_TRY(mbg_model_load_run(ctx, opt->path, mbg_model_run_name(common, k), &c->model));
    opt->ncase++;
    c->name = mbg_model_run(c->model);
    c->objective = c->model->optimize.objective;
  }
  if (opt->ncase == 0) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: optimize: no run counts", mbg_model_file(common));
    goto done;
  }
  opt->task = &opt->load[0].model->optimize;
  opt->np = mbg_model_parameter_count(opt->load[0].model);
done:
  mbg_model_destroy(common);
  return err;
}

static int open_case(mbg_context *ctx, mbg_optimize *opt, mbg__case *c) {
  int err = MBG_OK;
  mbg_run_options o = opt->o.run;
  o.interrupt = interrupt;
  o.progress = NULL;
  o.user = opt;
  o.all_signals = 0;
  c->p = MBG_TAKE(&opt->arena, double, opt->np + 1);
  if (!c->p) {
    return mbg__fail_memory(ctx);
  }
  MBG_TRY(mbg_context_create(&c->ctx, mbg__context_allocator(ctx)));
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

/* ---------------------------------------------------------------------- what is varied */

static bool has_bounds(const mbg_model *m, int index) {
  return isfinite(mbg_model_parameter_min(m, index)) || isfinite(mbg_model_parameter_max(m, index));
}

/* those that the file lists, else those with bounds */
static int choose_parameters(mbg_context *ctx, mbg_optimize *opt) {
  const mbg_model *m = opt->load[0].model;
  opt->parameter = MBG_TAKE(&opt->arena, mbg_optimize_parameter, opt->np + 1);
  if (!opt->parameter) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; opt->task->nparameter == 0 && k < opt->np; k++) {
    if (has_bounds(m, k)) {
      opt->parameter[opt->n++].index = k;
    }
  }
  for (int k = 0; k < opt->task->nparameter; k++) {
    opt->parameter[opt->n++].index = opt->task->parameters[k];
  }
  opt->nx = opt->n + opt->task->worst;
  return opt->n > 0 ? MBG_OK
                    : mbg__fail(ctx, MBG_ERROR_INPUT,
                                "%s: nothing can be varied: give parameters bounds, or list \"parameters\"",
                                mbg_model_file(m));
}

static int take_unknowns(mbg_context *ctx, mbg_optimize *opt) {
  const size_t n = (size_t)opt->nx + 1, np = (size_t)opt->np + 1;
  double **vectors[] = {&opt->offset, &opt->span,  &opt->u,  &opt->chain, &opt->x,
                        &opt->lower,  &opt->upper, &opt->at, &opt->best_x};
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    if (!(*vectors[i] = MBG_TAKE(&opt->arena, double, n))) {
      return mbg__fail_memory(ctx);
    }
  }
  opt->log = MBG_TAKE(&opt->arena, bool, n);
  opt->p0 = MBG_TAKE(&opt->arena, double, np);
  opt->p = MBG_TAKE(&opt->arena, double, np);
  return opt->log && opt->p0 && opt->p ? MBG_OK : mbg__fail_memory(ctx);
}

/* a parameter that every case sets has nothing left to be varied */
static int check_set(mbg_context *ctx, const mbg_optimize *opt, const mbg_optimize_parameter *p) {
  int set = 0;
  for (int k = 0; k < opt->ncase; k++) {
    set += mbg_model_parameter_set(opt->load[k].model, p->index);
  }
  return set < opt->ncase
             ? MBG_OK
             : mbg__fail(ctx, MBG_ERROR_INPUT, "parameter '%s' cannot be varied: every run sets it", p->name);
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
  const mbg_model *m = opt->load[0].model;
  mbg_optimize_parameter *p = &opt->parameter[i];
  char name[MBG__EXPR_NAME_MAX + 32];
  mbg_model_parameter_name(m, p->index, name, sizeof(name));
  p->name = mbg__arena_text(&opt->arena, name, strlen(name));
  if (!p->name) {
    return mbg__fail_memory(ctx);
  }
  p->unit = mbg_model_parameter_unit(m, p->index);
  p->start = p->value = opt->p0[p->index];
  p->min = mbg_model_parameter_min(m, p->index);
  p->max = mbg_model_parameter_max(m, p->index);
  opt->log[i] = mbg_model_parameter_log_scale(m, p->index);
  if (!isfinite(p->start) || (opt->log[i] && !(p->start > 0))) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "parameter '%s' cannot start at %g%s", p->name, p->start,
                     opt->log[i] ? ": its scale is logarithmic" : "");
  }
  if (p->min > p->max) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "bounds of parameter '%s' contradict each other: min %g is above max %g",
                     p->name, p->min, p->max);
  }
  if (p->start < p->min || p->start > p->max) {
    const double inside = p->start < p->min ? p->min : p->max;
    const int err = mbg__optimize_warn(ctx, opt, "parameter '%s' starts at %g, outside its bounds; %g is taken",
                                       p->name, p->start, inside);
    if (err < 0) {
      return err;
    }
    p->start = p->value = opt->p0[p->index] = inside;
  }
  scale_unknown(opt, i);
  return check_set(ctx, opt, p);
}

static int describe_parameters(mbg_context *ctx, mbg_optimize *opt) {
  int err = MBG_OK;
  const mbg_model *m = opt->load[0].model;
  MBG_TRY(take_unknowns(ctx, opt));
  for (int k = 0; k < opt->np; k++) {
    /* the first case may set what others leave at the value of the file */
    opt->p0[k] = opt->o.parameters ? opt->o.parameters[k] : m->p[k];
    for (int e = 0; !opt->o.parameters && mbg_model_parameter_set(m, k) && e < opt->ncase; e++) {
      if (!mbg_model_parameter_set(opt->load[e].model, k)) {
        opt->p0[k] = opt->load[e].model->p[k];
        break;
      }
    }
  }
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
  opt->filter = MBG_TAKE(&opt->arena, mbg__filter, opt->task->nfilter + 1);
  if (!opt->filter) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < opt->task->nfilter; k++) {
    MBG_TRY(make_filter(ctx, opt, &opt->task->filters[k]));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- optimizer */

/* Bounds alone: descent. A sum of squares: Gauss-Newton. Few unknowns: sequential quadratic programs. Many: moving asymptotes,
   or interior points when there are equalities (theory 4, section 9). */
static mbg__nlp_method by_problem(const mbg_optimize *opt) {
  bool equalities = false;
  for (int i = 0; i < opt->nlimit; i++) {
    equalities = equalities || opt->limit[i].side == 0;
  }
  if (opt->squares && opt->n <= 200) {
    return MBG__NLP_IPOPT_GN;
  }
  if (opt->nlimit == 0 && !opt->task->worst) {
    return MBG__NLP_LBFGS;
  }
  return opt->n <= 200 ? MBG__NLP_SLSQP : equalities ? MBG__NLP_IPOPT : MBG__NLP_MMA;
}

static int choose_optimizer(mbg_context *ctx, mbg_optimize *opt) {
  const char *name = opt->o.optimizer ? opt->o.optimizer : opt->task->optimizer;
  const int found = name ? mbg__nlp_method_find(name) : (int)by_problem(opt);
  if (found < 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "unknown optimizer '%s' (known: lbfgs, nlopt-lbfgs, slsqp, mma, ipopt, ipopt-gn)", name);
  }
  opt->chosen = !name;
  opt->nlp = mbg__nlp_options_default();
  opt->nlp.method = (mbg__nlp_method)found;
  opt->nlp.max_iterations = opt->o.iterations > 0       ? opt->o.iterations
                            : opt->task->iterations > 0 ? opt->task->iterations
                                                        : 200;
  opt->nlp.max_evaluations = 20 * opt->nlp.max_iterations + 20;
  opt->nlp.feasibility = 1e-7; /* what the report asks for is 1e-6 */
  opt->nlp.optimality = !isnan(opt->o.tolerance)       ? opt->o.tolerance
                        : !isnan(opt->task->tolerance) ? opt->task->tolerance
                                                       : 1e-6;
  opt->nlp.settle = !isnan(opt->task->settle) ? opt->task->settle : 0;
  opt->summary.optimizer = mbg__nlp_method_name(found);
  if (found == MBG__NLP_IPOPT_GN && !opt->squares) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "optimizer 'ipopt-gn' needs a least_squares criterion as the objective, and no filter");
  }
  return MBG_OK;
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
    if (!isfinite(opt->lower[i]) || !isfinite(opt->upper[i])) {
      return mbg__fail(ctx, MBG_ERROR_INPUT,
                       "several starts need bounds: parameter '%s' has no %s; give \"min\" and \"max\"%s", p->name,
                       isfinite(opt->lower[i]) ? "max" : "min",
                       opt->log[i] ? ", positive ones, because its scale is logarithmic" : "");
    }
    opt->x[i] = opt->lower[i] + (opt->upper[i] - opt->lower[i]) * mbg__spread(opt->n, opt->o.place, i, opt->o.seed);
    const double u = opt->offset[i] + opt->span[i] * opt->x[i];
    p->start = p->value = opt->log[i] ? exp(u) : u;
  }
  if (opt->task->worst) {
    opt->lower[opt->n] = -INFINITY;
    opt->upper[opt->n] = INFINITY;
    opt->x[opt->n] = f / opt->f_scale;
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

static int create(mbg_context *ctx, mbg_optimize *opt) {
  int err = MBG_OK;
  MBG_TRY(check_options(ctx, &opt->o));
  MBG_TRY(load_cases(ctx, opt));
  MBG_TRY(choose_parameters(ctx, opt));
  MBG_TRY(describe_parameters(ctx, opt));
  MBG_TRY(make_filters(ctx, opt));
  MBG_TRY(check_objective(ctx, opt));
  for (int k = 0; k < opt->ncase; k++) {
    MBG_TRY(open_case(ctx, opt, &opt->load[k]));
  }
  MBG_TRY(mbg__optimize_first(ctx, opt));
  MBG_TRY(mbg__optimize_make_limits(ctx, opt));
  MBG_TRY(place_start(ctx, opt));
  MBG_TRY(choose_optimizer(ctx, opt));
  opt->summary.model = opt->load[0].model;
  opt->summary.formulation = mbg_run_formulation(opt->load[0].run);
  opt->summary.parameters = opt->n;
  opt->summary.cases = opt->ncase;
  opt->summary.constraints = opt->nlimit;
done:
  return err;
}

int mbg_optimize_create(mbg_context *ctx, const char *path, const mbg_optimize_options *options, mbg_optimize **out) {
  int err = MBG_OK;
  mbg_optimize *opt = mbg__alloc_zero(ctx, 1, sizeof(*opt));
  *out = NULL;
  if (!opt) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&opt->arena, mbg__context_allocator(ctx));
  mbg__arena_init(&opt->solve, mbg__context_allocator(ctx));
  if (options) {
    opt->o = *options;
  } else {
    mbg_optimize_options_default(&opt->o);
  }
  opt->best = NAN;
  opt->path = mbg__arena_text(&opt->arena, path, strlen(path));
  err = opt->path ? create(ctx, opt) : mbg__fail_memory(ctx);
  if (err < 0) {
    mbg_optimize_destroy(opt);
    opt = NULL;
  }
  *out = opt;
  return err;
}

void mbg_optimize_destroy(mbg_optimize *opt) {
  if (!opt) {
    return;
  }
  const mbg_allocator allocator = opt->arena.allocator;
  mbg__record_close(opt->record);
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    mbg_run_destroy(c->run);
    mbg_model_destroy(c->model);
    allocator.release(allocator.user, c->row);
    allocator.release(allocator.user, c->gradient);
    mbg_context_destroy(c->ctx);
  }
  mbg__arena_destroy(&opt->solve);
  mbg__arena_destroy(&opt->arena);
  allocator.release(allocator.user, opt);
}

/* ---------------------------------------------------------------------- queries */

static bool in_range(int index, int count) { return index >= 0 && index < count; }

const mbg_optimize_summary *mbg_optimize_summary_of(const mbg_optimize *opt) { return &opt->summary; }

const mbg_optimize_parameter *mbg_optimize_parameter_at(const mbg_optimize *opt, int i) {
  return in_range(i, opt->n) ? &opt->parameter[i] : NULL;
}

const mbg_optimize_constraint *mbg_optimize_constraint_at(const mbg_optimize *opt, int i) {
  return in_range(i, opt->nlimit) ? &opt->limit[i].shown : NULL;
}

const mbg_optimize_active *mbg_optimize_active_at(const mbg_optimize *opt, int i) {
  return in_range(i, opt->summary.active) ? &opt->active[i] : NULL;
}

const mbg_optimize_record *mbg_optimize_history_at(const mbg_optimize *opt, int i) {
  return in_range(i, opt->summary.history) ? &opt->history[i] : NULL;
}

const char *mbg_optimize_warning_at(const mbg_optimize *opt, int i) {
  return in_range(i, opt->summary.warnings) ? opt->warning[i] : NULL;
}

int mbg_optimize_case(const mbg_optimize *opt, int i, const char **run, double *weight, double *objective) {
  if (!in_range(i, opt->ncase)) {
    return MBG_ERROR_INPUT;
  }
  const mbg__case *c = &opt->load[i];
  *run = c->name;
  *weight = c->weight;
  *objective = c->objective >= 0 ? c->value[c->objective] : NAN;
  return MBG_OK;
}

const double *mbg_optimize_parameters(const mbg_optimize *opt) { return opt->p; }

int mbg_optimize_model_text(mbg_context *ctx, const mbg_optimize *opt, char **text) {
  *text = NULL;
  double *p = mbg__alloc(ctx, (size_t)opt->np + 1, sizeof(double));
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < opt->np; k++) {
    p[k] = NAN;
  }
  for (int i = 0; i < opt->n; i++) {
    p[opt->parameter[i].index] = opt->parameter[i].value;
  }
  const int err = mbg__model_text(ctx, opt->load[0].model, p, text);
  mbg__free(ctx, p);
  return err;
}

/* ---------------------------------------------------------------------- at a point */

int mbg_optimize_evaluate(mbg_context *ctx, mbg_optimize *opt, const double *values, double *objective,
                          double *violation, double *gradient) {
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
  if (gradient && !opt->task->worst) {
    double *g = x + opt->nx;
    MBG_TRY(mbg__optimize_select(ctx, opt));
    J = mbg__alloc(ctx, (size_t)opt->m * (size_t)opt->nx + 1, sizeof(double));
    MBG_TRY(J ? mbg__optimize_gradients(ctx, opt, x, g, J) : mbg__fail_memory(ctx));
    MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : MBG_OK);
    for (int i = 0; i < opt->n; i++) {
      gradient[i] = g[i] * opt->f_scale / opt->chain[i];
    }
  }
done:
  mbg__free(ctx, J);
  mbg__free(ctx, x);
  return err;
}
