/* Identification: experiments, identified parameters, the public object. */
#include "problems/identify.h"

#include "optimizers/minimize.h"
#include "problems/cases.h"
#include "problems/model_text.h"
#include "run/run.h"

#include <string.h>

static const mbg_identify_options defaults = {.optimizer = "lm",
                                              .iterations = 100,
                                              .tolerance = 1e-10,
                                              .starts = 1,
                                              .seed = 1,
                                              .gain = 1000,
                                              .bias = true,
                                              .place = -1,
                                              .threads = 1};

void mbg_identify_options_default(mbg_identify_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

/* ---------------------------------------------------------------------- experiments */

static bool interrupt(void *user) {
  const mbg_identify *id = user;
  const mbg_run_options *o = &id->run_options;
  return !id->reporting && o->interrupt && o->interrupt(o->user);
}

static void progress(void *user, double t) {
  const mbg_run_options *o = &((const mbg_identify *)user)->run_options;
  if (o->progress) {
    o->progress(o->user, t);
  }
}

static int open_run(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  int err = MBG_OK;
  mbg_run_options o = id->run_options;
  o.interrupt = interrupt;
  o.progress = id->o.threads > 1 ? NULL : progress;
  o.user = id;
  o.refine = id->refine;
  e->p = MBG_TAKE(&id->arena, double, id->np);
  e->by_p = MBG_TAKE(&id->arena, double, id->np);
  e->product = MBG_TAKE(&id->arena, double, id->n);
  MBG_TRY(mbg__arena_check(ctx, &id->arena));
  MBG_TRY(mbg_context_create(mbg__context_allocator(ctx), &e->ctx));
  MBG_TRY(mbg_run_create(ctx, e->model, &o, &e->run));
done:
  return err;
}

static int count_fits(const mbg_model *m) {
  int n = 0;
  for (int k = 0; k < m->ncriterion; k++) {
    n += m->criteria[k].fit;
  }
  return n;
}

/* an experiment per run with data, or the model itself */
static int make_experiments(mbg_context *ctx, mbg_identify *id) {
  const int n = mbg__case_count(id->model);
  int err = MBG_OK, ntracked;
  id->experiment = MBG_TAKE(&id->arena, mbg__experiment, n);
  id->models = MBG_TAKE(&id->arena, const mbg_model *, n);
  MBG_TRY(mbg__arena_check(ctx, &id->arena));
  for (int k = 0; k < n; k++) {
    mbg__experiment *e = &id->experiment[id->nexperiment];
    MBG_TRY(mbg__case_model(ctx, id->model, k, id->tracking, &e->model, &e->own, &ntracked));
    id->ntracked += ntracked;
    if (count_fits(e->model) == 0) {
      mbg_model_destroy(e->own);
      e->own = NULL;
      continue;
    }
    id->models[id->nexperiment++] = e->model;
  }
  if (id->nexperiment == 0) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: there is no least_squares criterion to fit", mbg_model_file(id->model));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- identified parameters */

/* the list of the model, else the parameters with bounds, else all */
static int choose_parameters(mbg_context *ctx, mbg_identify *id) {
  const mbg_model *m = id->models[0];
  int err = MBG_OK;
  int *index = MBG_TAKE(&id->arena, int, id->np);
  id->parameter = MBG_TAKE(&id->arena, mbg_identify_parameter, id->np);
  MBG_TRY(mbg__arena_check(ctx, &id->arena));
  id->n = mbg__list_varied(m, m->nidentify, m->identify, true, index);
  for (int i = 0; i < id->n; i++) {
    id->parameter[i].index = index[i];
  }
  if (id->n == 0) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: the model has no parameters to identify", mbg_model_file(m));
  }
done:
  return err;
}

static int take_unknowns(mbg_context *ctx, mbg_identify *id) {
  double **vectors[] = {&id->x, &id->lower, &id->upper, &id->typical, &id->at, &id->counted};
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    *vectors[i] = MBG_TAKE(&id->arena, double, id->n);
  }
  id->log = MBG_TAKE(&id->arena, bool, id->n);
  id->p0 = MBG_TAKE(&id->arena, double, id->np);
  return mbg__arena_check(ctx, &id->arena);
}

static int describe_parameter(mbg_context *ctx, mbg_identify *id, int i) {
  const mbg_model *m = id->models[0];
  mbg_identify_parameter *p = &id->parameter[i];
  int err = MBG_OK;
  p->name = mbg__parameter_text(&id->arena, m, p->index);
  MBG_TRY(mbg__arena_check(ctx, &id->arena));
  p->unit = mbg_model_parameter_unit(m, p->index);
  p->start = p->value = id->p0[p->index];
  p->min = mbg_model_parameter_min(m, p->index);
  p->max = mbg_model_parameter_max(m, p->index);
  p->standard_error = p->bias = NAN;
  id->log[i] = mbg_model_parameter_log_scale(m, p->index);
  MBG_TRY(mbg__check_start(ctx, m, p->index, p->start));
  id->x[i] = mbg__identify_x(id, i, p->start);
  id->lower[i] = id->log[i] && !(p->min > 0) ? -INFINITY : mbg__identify_x(id, i, p->min);
  id->upper[i] = mbg__identify_x(id, i, p->max);
  const double size = isfinite(p->min) && isfinite(p->max) ? p->max - p->min : 1;
  id->typical[i] = id->log[i] ? 1 : p->start != 0 ? fabs(p->start) : size > 0 ? size : 1;
  MBG_TRY(mbg__check_varied(ctx, id->nexperiment, id->models, p->index, "identified"));
done:
  return err;
}

static int describe_parameters(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  MBG_TRY(take_unknowns(ctx, id));
  mbg__start_values(id->nexperiment, id->models, id->o.parameters, id->p0);
  for (int i = 0; i < id->n; i++) {
    MBG_TRY(describe_parameter(ctx, id, i));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- channels */

/* the channels of every experiment; their samples are known after the first simulation */
static int list_channels(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK, total = 0;
  for (int k = 0; k < id->nexperiment; k++) {
    total += count_fits(id->experiment[k].model);
  }
  id->channel = MBG_TAKE(&id->arena, mbg__channel, total);
  MBG_TRY(mbg__arena_check(ctx, &id->arena));
  for (int k = 0; k < id->nexperiment; k++) {
    mbg__experiment *e = &id->experiment[k];
    e->channel = id->nchannel;
    for (int c = 0; c < e->model->ncriterion; c++) {
      if (e->model->criteria[c].fit) {
        id->channel[id->nchannel++] = (mbg__channel){.experiment = k, .criterion = c, .spacing = INFINITY};
      }
    }
    e->nchannel = id->nchannel - e->channel;
  }
done:
  return err;
}

static int make_channel(mbg_context *ctx, mbg_identify *id, mbg__channel *c) {
  const mbg__experiment *e = &id->experiment[c->experiment];
  const mbg__criterion *k = &e->model->criteria[c->criterion];
  const int n = c->shown.samples;
  c->row = id->m;
  c->time = MBG_TAKE(&id->arena, double, 3 * (size_t)n);
  if (!c->time) {
    return mbg__fail_memory(ctx);
  }
  c->data = c->time + n;
  c->model = c->time + 2 * n;
  c->shown = (mbg_identify_channel){.run = mbg_model_active_run(e->model),
                                    .criterion = k->name,
                                    .samples = n,
                                    .missing = k->nmissing,
                                    .outside = k->nsample - n,
                                    .hint = "",
                                    .time = c->time,
                                    .data = c->data,
                                    .model = c->model};
  id->m += n;
  id->summary.sigma_known = id->summary.sigma_known && k->sigma;
  return MBG_OK;
}

static int make_channels(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  id->summary.sigma_known = true;
  for (int k = 0; k < id->nchannel; k++) {
    MBG_TRY(make_channel(ctx, id, &id->channel[k]));
  }
  MBG_TRY(mbg__identify_samples(ctx, id));
  for (int k = 0; k < id->nchannel; k++) {
    mbg__channel *c = &id->channel[k];
    for (int i = 1; i < c->shown.samples; i++) {
      c->spacing = fmin(c->spacing, c->time[i] - c->time[i - 1]);
    }
  }
  if (id->m < id->n) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "there are %d samples for %d parameters; there must be at least as many",
                    id->m, id->n);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- creation */

static int take_results(mbg_context *ctx, mbg_identify *id) {
  const size_t n = (size_t)id->n;
  id->r = MBG_TAKE(&id->arena, double, id->m);
  id->T = MBG_TAKE(&id->arena, double, n *n);
  id->q = MBG_TAKE(&id->arena, double, n);
  id->singular = MBG_TAKE(&id->arena, double, n);
  id->correlation = MBG_TAKE(&id->arena, double, n *n);
  id->combination = MBG_TAKE(&id->arena, const char *, n);
  id->weak = MBG_TAKE(&id->arena, const char *, n);
  id->start = MBG_TAKE(&id->arena, mbg_identify_start, id->o.starts);
  const int err = mbg__arena_check(ctx, &id->arena);
  return err < 0 || mbg__qr_prepare(&id->qr, &id->arena, id->m, id->n) == MBG_OK ? err : mbg__fail_memory(ctx);
}

static int check_options(mbg_context *ctx, const mbg_identify_options *o) {
  if (o->iterations < 0 || o->starts < 1 || o->homotopy < 0 || !(o->tolerance > 0) || !(o->gain > 0)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "identify: iterations %d, starts %d, homotopy %d, tolerance %g, gain %g: they must be positive",
                     o->iterations, o->starts, o->homotopy, o->tolerance, o->gain);
  }
  const int method = mbg__minimize_method_find(o->optimizer);
  if (strcmp(o->optimizer, "lm") != 0 &&
      (method < 0 || method == MBG__MINIMIZE_IPOPT || method == MBG__MINIMIZE_IPOPT_EXACT)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "unknown optimizer '%s' (known: lm, lbfgs, newton, cg, steepest)",
                     o->optimizer);
  }
  if (o->place < -1 || o->place >= o->starts) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "identify: place %d: there are starts 0 to %d; -1: all", o->place,
                     o->starts - 1);
  }
  if (o->threads < 1) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "identify: threads %d: at least 1", o->threads);
  }
  return o->resume && !o->restart ? mbg__fail(ctx, MBG_ERROR_INPUT, "identify: resume needs the restart file") : MBG_OK;
}

static int take_options(mbg_context *ctx, mbg_identify *id, const mbg_identify_options *options) {
  int err = MBG_OK;
  id->o = defaults;
  MBG_TRY(mbg__options_take(ctx, "identify", options, &id->o, sizeof(id->o)));
  MBG_TRY(mbg__run_options_take(ctx, id->o.run, &id->run_options));
  id->o.optimizer = id->o.optimizer ? id->o.optimizer : defaults.optimizer;
  MBG_TRY(check_options(ctx, &id->o));
done:
  return err;
}

static int create(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  MBG_TRY(make_experiments(ctx, id));
  id->np = mbg_model_parameter_count(id->models[0]);
  MBG_TRY(choose_parameters(ctx, id));
  MBG_TRY(describe_parameters(ctx, id));
  for (int k = 0; k < id->nexperiment; k++) {
    MBG_TRY(open_run(ctx, id, &id->experiment[k]));
  }
  MBG_TRY(list_channels(ctx, id));
  MBG_TRY(mbg__identify_make_work(ctx, id));
  MBG_TRY(mbg__identify_first(ctx, id));
  MBG_TRY(make_channels(ctx, id));
  MBG_TRY(take_results(ctx, id));
  id->summary.model = id->models[0];
  id->summary.formulation = mbg_run_formulation(id->experiment[0].run);
  id->summary.optimizer = id->o.optimizer;
  id->summary.experiments = id->nexperiment;
  id->summary.channels = id->nchannel;
  id->summary.parameters = id->n;
  id->summary.samples = id->m;
done:
  return err;
}

int mbg__identify_create(mbg_context *ctx, const mbg_model *model, const mbg_identify_options *options, double refine,
                         const mbg__tracking *tracking, mbg_identify **out) {
  int err = MBG_OK;
  mbg_identify *id = *out = mbg__alloc_zero(ctx, 1, sizeof(*id));
  if (!id) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&id->arena, mbg__context_allocator(ctx));
  id->warnings = (mbg__warnings){.arena = &id->arena, .count = &id->summary.warnings};
  id->model = model;
  id->refine = refine;
  id->tracking = tracking;
  MBG_TRY(take_options(ctx, id, options));
  MBG_TRY(create(ctx, id));
done:
  if (err < 0) {
    mbg_identify_destroy(id);
    *out = NULL;
  }
  return err;
}

int mbg_identify_create(mbg_context *ctx, const mbg_model *model, const mbg_identify_options *options,
                        mbg_identify **out) {
  MBG_NEED(ctx, ctx && model && out);
  return mbg__identify_create(ctx, model, options, 1, NULL, out);
}

void mbg_identify_destroy(mbg_identify *id) {
  if (!id) {
    return;
  }
  const mbg_allocator allocator = id->arena.allocator;
  mbg__work_close_record(&id->work);
  for (int k = 0; k < id->nexperiment; k++) {
    mbg_hessian_destroy(id->experiment[k].second);
    mbg_run_destroy(id->experiment[k].run);
    mbg_context_destroy(id->experiment[k].ctx);
    mbg_model_destroy(id->experiment[k].own);
  }
  mbg__arena_destroy(&id->arena);
  allocator.release(allocator.user, id);
}

/* ---------------------------------------------------------------------- queries */

/* entry of a list with this count; NULL: out of range */
#define GET(list, count) (id && i >= 0 && i < (count) ? &(list)[i] : NULL)

static const char *text_or_null(const char *const *text) { return text ? *text : NULL; }

const mbg_identify_summary *mbg_identify_get_summary(const mbg_identify *id) { return id ? &id->summary : NULL; }

const mbg_identify_parameter *mbg_identify_get_parameter(const mbg_identify *id, int i) {
  return GET(id->parameter, id->n);
}

double mbg_identify_correlation(const mbg_identify *id, int i, int j) {
  return id && i >= 0 && i < id->n && j >= 0 && j < id->n ? id->correlation[i * id->n + j] : NAN;
}

const double *mbg_identify_singular_values(const mbg_identify *id) { return id ? id->singular : NULL; }

const char *mbg_identify_combination(const mbg_identify *id, int i) {
  return text_or_null(GET(id->combination, id->summary.combinations));
}

const char *mbg_identify_weak(const mbg_identify *id, int i) { return text_or_null(GET(id->weak, id->summary.weak)); }

const mbg_identify_channel *mbg_identify_get_channel(const mbg_identify *id, int i) {
  const mbg__channel *c = GET(id->channel, id->nchannel);
  return c ? &c->shown : NULL;
}

const mbg_identify_start *mbg_identify_get_start(const mbg_identify *id, int i) {
  return GET(id->start, id->summary.starts);
}

const char *mbg_identify_warning(const mbg_identify *id, int i) { return id ? mbg__warning(&id->warnings, i) : NULL; }

int mbg_identify_model_text(mbg_context *ctx, const mbg_identify *id, char **text) {
  MBG_NEED(ctx, ctx && id && text);
  mbg__varied *values = mbg__alloc(ctx, (size_t)id->n + 1, sizeof(*values));
  for (int i = 0; values && i < id->n; i++) {
    values[i] = (mbg__varied){id->parameter[i].index, id->parameter[i].value};
  }
  *text = NULL;
  const int err = values ? mbg__model_text(ctx, id->models[0], id->n, values, text) : mbg__fail_memory(ctx);
  mbg__free(ctx, values);
  return err;
}

/* ---------------------------------------------------------------------- residuals and gradients at a point */

static int to_unknowns(mbg_context *ctx, const mbg_identify *id, const double *p, double **x) {
  *x = mbg__alloc(ctx, (size_t)id->n, sizeof(double));
  if (!*x) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < id->n; i++) {
    if (id->log[i] && !(p[i] > 0)) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "parameter '%s' is %g; its scale is logarithmic", id->parameter[i].name,
                       p[i]);
    }
    (*x)[i] = mbg__identify_x(id, i, p[i]);
  }
  return MBG_OK;
}

/* d/dp = d/dx / (dp/dx) */
static double unchain(const mbg_identify *id, int i, double p) { return id->log[i] ? 1 / p : 1; }

int mbg_identify_residuals(mbg_context *ctx, mbg_identify *id, const double *p, double *r, double *jacobian) {
  MBG_NEED(ctx, ctx && id && p && r);
  double *x = NULL;
  int err = MBG_OK;
  const size_t m = (size_t)id->m;
  MBG_TRY(to_unknowns(ctx, id, p, &x));
  MBG_TRY(jacobian ? mbg__identify_jacobian(ctx, id, x) : mbg__identify_simulate(ctx, id, x));
  if (err > 0) {
    err = MBG_ERROR_CONVERGENCE;
    goto done;
  }
  memcpy(r, id->r, m * sizeof(double));
  for (size_t j = 0; jacobian && j < (size_t)id->n; j++) {
    for (size_t i = 0; i < m; i++) {
      jacobian[i + m * j] = id->qr.A[i + m * j] * unchain(id, (int)j, p[j]);
    }
  }
done:
  mbg__free(ctx, x);
  return err;
}

int mbg_identify_gradient(mbg_context *ctx, mbg_identify *id, const double *p, double *cost, double *gradient) {
  MBG_NEED(ctx, ctx && id && p && cost && gradient);
  double *x = NULL;
  int err = MBG_OK;
  MBG_TRY(to_unknowns(ctx, id, p, &x));
  MBG_TRY(mbg__identify_adjoint(ctx, id, x, gradient));
  *cost = mbg__identify_cost(id);
  for (int j = 0; j < id->n; j++) {
    gradient[j] *= unchain(id, j, p[j]);
  }
done:
  mbg__free(ctx, x);
  return err;
}
