/* Identification: experiments, what is identified, the public object. */
#include "problems/identify.h"

#include "run/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mbg_identify_options_default(mbg_identify_options *o) {
  *o = (mbg_identify_options){
      .iterations = 100, .tolerance = 1e-10, .starts = 1, .seed = 1, .gain = 1000, .bias = 1, .optimizer = MBG_FIT_LM};
  mbg_run_options_default(&o->run);
}

/* ---------------------------------------------------------------------- texts */

const char *mbg__identify_text(mbg_context *ctx, mbg_identify *id, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  const char *copy = mbg__arena_text(&id->arena, text, strlen(text));
  if (!copy) {
    mbg__fail_memory(ctx);
  }
  return copy;
}

int mbg__identify_warn(mbg_context *ctx, mbg_identify *id, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (id->summary.warnings == id->warning_room) {
    const int room = 2 * id->warning_room + 8;
    const char **more = MBG_TAKE(&id->arena, const char *, room);
    if (!more) {
      return mbg__fail_memory(ctx);
    }
    if (id->summary.warnings > 0) {
      memcpy(more, id->warning, (size_t)id->summary.warnings * sizeof(*more));
    }
    id->warning = more;
    id->warning_room = room;
  }
  const char *copy = mbg__arena_text(&id->arena, text, strlen(text));
  if (!copy) {
    return mbg__fail_memory(ctx);
  }
  id->warning[id->summary.warnings++] = copy;
  mbg__note(ctx, MBG_WARNING, "%s", copy);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- experiments */

static int interrupt(void *user) {
  const mbg_identify *id = user;
  return !id->deaf && id->o.run.interrupt && id->o.run.interrupt(id->o.run.user);
}

static void progress(void *user, double t) {
  const mbg_identify *id = user;
  if (id->o.run.progress) {
    id->o.run.progress(id->o.run.user, t);
  }
}

static int open_run(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  int err = MBG_OK;
  mbg_run_options o = id->o.run;
  o.interrupt = interrupt;
  o.progress = progress;
  o.user = id;
  MBG_TRY(mbg_run_create(ctx, e->model, &o, &e->run));
  const double step = mbg__run_step(e->run);
  if (id->refine != 1 && step > 0) {
    mbg_run_destroy(e->run);
    e->run = NULL;
    o.step = step / id->refine;
    MBG_TRY(mbg_run_create(ctx, e->model, &o, &e->run));
  }
  e->p = MBG_TAKE(&id->arena, double, id->np);
  if (!e->p) {
    return mbg__fail_memory(ctx);
  }
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

/* an experiment per run of the file that has data, or the model itself */
static int load_experiments(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK, n, ntracked;
  mbg_model *common = NULL;
  MBG_TRY(mbg_model_load_run(ctx, id->path, id->o.run_name, &common));
  n = mbg_model_run_count(common);
  id->experiment = MBG_TAKE(&id->arena, mbg__experiment, n > 0 ? n : 1);
  if (!id->experiment) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int k = 0; k < (n > 0 ? n : 1); k++) {
    mbg__experiment *e = &id->experiment[id->nexperiment];
    if (id->o.run_name && n > 0 && strcmp(id->o.run_name, mbg_model_run_name(common, k)) != 0) {
      continue;
    }
    MBG_TRY(mbg__model_for_run(ctx, common, mbg_model_run_name(common, k), id->tracking, &e->model, &ntracked));
    id->ntracked += ntracked;
    if (count_fits(e->model) == 0) {
      mbg_model_destroy(e->model);
      e->model = NULL;
      continue;
    }
    id->nexperiment++;
  }
  if (id->nexperiment == 0) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: there is no least_squares criterion to fit", mbg_model_file(common));
  }
done:
  mbg_model_destroy(common);
  return err;
}

/* ---------------------------------------------------------------------- what is identified */

static bool has_bounds(const mbg_model *m, int index) {
  return isfinite(mbg_model_parameter_min(m, index)) || isfinite(mbg_model_parameter_max(m, index));
}

/* those that the file lists, else those with bounds, else all */
static int choose_parameters(mbg_context *ctx, mbg_identify *id) {
  const mbg_model *m = id->experiment[0].model;
  bool bounded = false;
  id->parameter = MBG_TAKE(&id->arena, mbg_identify_parameter, id->np);
  if (!id->parameter) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < id->np; k++) {
    bounded = bounded || has_bounds(m, k);
  }
  for (int k = 0; m->nidentify == 0 && k < id->np; k++) {
    if (!bounded || has_bounds(m, k)) {
      id->parameter[id->n++].index = k;
    }
  }
  for (int k = 0; k < m->nidentify; k++) {
    id->parameter[id->n++].index = m->identify[k];
  }
  return id->n > 0 ? MBG_OK
                   : mbg__fail(ctx, MBG_ERROR_INPUT, "%s: the model has no parameters to identify", mbg_model_file(m));
}

/* a parameter that every experiment sets has nothing left to be identified */
static int check_set(mbg_context *ctx, const mbg_identify *id, int i) {
  int set = 0;
  for (int k = 0; k < id->nexperiment; k++) {
    set += mbg_model_parameter_set(id->experiment[k].model, id->parameter[i].index);
  }
  return set < id->nexperiment
             ? MBG_OK
             : mbg__fail(ctx, MBG_ERROR_INPUT, "parameter '%s' cannot be identified: every run sets it",
                         id->parameter[i].name);
}

static int take_unknowns(mbg_context *ctx, mbg_identify *id) {
  const size_t n = (size_t)id->n, np = (size_t)id->np;
  id->log = MBG_TAKE(&id->arena, bool, n);
  id->p0 = MBG_TAKE(&id->arena, double, np);
  double *five = MBG_TAKE(&id->arena, double, 5 * n);
  if (!id->log || !id->p0 || !five) {
    return mbg__fail_memory(ctx);
  }
  id->x = five;
  id->lower = five + n;
  id->upper = five + 2 * n;
  id->typical = five + 3 * n;
  id->at = five + 4 * n;
  return MBG_OK;
}

static int describe_parameter(mbg_context *ctx, mbg_identify *id, int i) {
  const mbg_model *m = id->experiment[0].model;
  mbg_identify_parameter *p = &id->parameter[i];
  char name[MBG__EXPR_NAME_MAX + 32];
  mbg_model_parameter_name(m, p->index, name, sizeof(name));
  p->name = mbg__arena_text(&id->arena, name, strlen(name));
  if (!p->name) {
    return mbg__fail_memory(ctx);
  }
  p->unit = mbg_model_parameter_unit(m, p->index);
  p->start = p->value = id->p0[p->index];
  p->min = mbg_model_parameter_min(m, p->index);
  p->max = mbg_model_parameter_max(m, p->index);
  p->standard_error = p->bias = NAN;
  id->log[i] = mbg_model_parameter_log_scale(m, p->index);
  if (!isfinite(p->start) || (id->log[i] && !(p->start > 0))) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "parameter '%s' cannot start at %g%s", p->name, p->start,
                     id->log[i] ? ": its scale is logarithmic" : "");
  }
  id->x[i] = mbg__identify_x(id, i, p->start);
  id->lower[i] = id->log[i] && !(p->min > 0) ? -INFINITY : mbg__identify_x(id, i, p->min);
  id->upper[i] = mbg__identify_x(id, i, p->max);
  const double size = isfinite(p->min) && isfinite(p->max) ? p->max - p->min : 1;
  id->typical[i] = id->log[i] ? 1 : p->start != 0 ? fabs(p->start) : size > 0 ? size : 1;
  return check_set(ctx, id, i);
}

static int describe_parameters(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  const mbg_model *m = id->experiment[0].model;
  MBG_TRY(take_unknowns(ctx, id));
  for (int k = 0; k < id->np; k++) {
    /* the first experiment may set what others leave at the value of the file */
    id->p0[k] = id->o.parameters ? id->o.parameters[k] : m->p[k];
    for (int e = 0; !id->o.parameters && mbg_model_parameter_set(m, k) && e < id->nexperiment; e++) {
      if (!mbg_model_parameter_set(id->experiment[e].model, k)) {
        id->p0[k] = id->experiment[e].model->p[k];
        break;
      }
    }
  }
  for (int i = 0; i < id->n; i++) {
    MBG_TRY(describe_parameter(ctx, id, i));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- channels */

/* samples and data of the channels; the grid is known after the first simulation */
static int make_channel(mbg_context *ctx, mbg_identify *id, int experiment, int criterion) {
  const mbg__experiment *e = &id->experiment[experiment];
  const mbg__criterion *k = &e->model->criteria[criterion];
  const mbg__criteria *criteria = mbg__run_criteria_of(e->run);
  mbg__channel *c = &id->channel[id->nchannel++];
  const int n = mbg__criteria_samples(criteria, criterion);
  *c = (mbg__channel){.experiment = experiment, .criterion = criterion, .row = id->m, .spacing = INFINITY};
  c->time = MBG_TAKE(&id->arena, double, 3 * (size_t)n);
  if (!c->time) {
    return mbg__fail_memory(ctx);
  }
  c->data = c->time + n;
  c->model = c->time + 2 * n;
  for (int i = 0; i < n; i++) {
    const mbg__criteria_sample s = mbg__criteria_sample_at(criteria, criterion, i);
    c->time[i] = s.time;
    c->data[i] = s.value;
    c->spacing = i > 0 ? fmin(c->spacing, c->time[i] - c->time[i - 1]) : c->spacing;
  }
  c->shown = (mbg_identify_channel){.run = mbg_model_run(e->model),
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
  int err = MBG_OK, total = 0;
  for (int k = 0; k < id->nexperiment; k++) {
    total += count_fits(id->experiment[k].model);
  }
  id->channel = MBG_TAKE(&id->arena, mbg__channel, total);
  if (!id->channel) {
    return mbg__fail_memory(ctx);
  }
  id->summary.sigma_known = 1;
  for (int k = 0; k < id->nexperiment; k++) {
    mbg__experiment *e = &id->experiment[k];
    e->channel = id->nchannel;
    for (int c = 0; c < e->model->ncriterion; c++) {
      if (e->model->criteria[c].fit) {
        MBG_TRY(make_channel(ctx, id, k, c));
      }
    }
    e->nchannel = id->nchannel - e->channel;
  }
  if (id->m < id->n) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "there are %d samples for %d parameters; there must be at least as many",
                    id->m, id->n);
  }
done:
  return err;
}

/* The first simulation of each run decides which redundant rows are dropped, and its steps: it is always the one at the
   start, so that what follows does not depend on where an identification was resumed. */
static int first_simulations(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  for (int k = 0; k < id->nexperiment; k++) {
    mbg__experiment *e = &id->experiment[k];
    memcpy(e->p, id->p0, (size_t)id->np * sizeof(double));
    for (int i = 0; i < id->np; i++) {
      e->p[i] = mbg_model_parameter_set(e->model, i) ? e->model->p[i] : e->p[i];
    }
    MBG_TRY(mbg_run_parameters(ctx, e->run, e->p));
    MBG_TRY(mbg_run_simulate(ctx, e->run));
    if (mbg_run_partial(e->run)) {
      err = mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "interrupted during the first simulation; there is no result");
      goto done;
    }
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
  if (!id->r || !id->T || !id->q || !id->singular || !id->correlation || !id->combination || !id->weak || !id->start ||
      mbg__qr_prepare(&id->qr, &id->arena, id->m, id->n) < 0) {
    return mbg__fail_memory(ctx);
  }
  return MBG_OK;
}

static int check_options(mbg_context *ctx, const mbg_identify_options *o) {
  if (o->iterations < 0 || o->starts < 1 || o->homotopy < 0 || !(o->tolerance > 0) || !(o->gain > 0)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "identify: iterations %d, starts %d, homotopy %d, tolerance %g, gain %g: they must be positive",
                     o->iterations, o->starts, o->homotopy, o->tolerance, o->gain);
  }
  return o->resume && !o->restart ? mbg__fail(ctx, MBG_ERROR_INPUT, "identify: resume needs the restart file") : MBG_OK;
}

int mbg__identify_create(mbg_context *ctx, const char *path, const mbg_identify_options *options, double refine,
                         const mbg__tracking *tracking, mbg_identify **out) {
  int err = MBG_OK;
  mbg_identify *id = mbg__alloc_zero(ctx, 1, sizeof(*id));
  *out = NULL;
  if (!id) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&id->arena, mbg__context_allocator(ctx));
  if (options) {
    id->o = *options;
  } else {
    mbg_identify_options_default(&id->o);
  }
  id->refine = refine;
  id->tracking = tracking;
  MBG_TRY(check_options(ctx, &id->o));
  id->path = mbg__arena_text(&id->arena, path, strlen(path));
  if (!id->path) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(load_experiments(ctx, id));
  id->np = mbg_model_parameter_count(id->experiment[0].model);
  MBG_TRY(choose_parameters(ctx, id));
  MBG_TRY(describe_parameters(ctx, id));
  for (int k = 0; k < id->nexperiment; k++) {
    MBG_TRY(open_run(ctx, id, &id->experiment[k]));
  }
  MBG_TRY(first_simulations(ctx, id));
  MBG_TRY(make_channels(ctx, id));
  MBG_TRY(take_results(ctx, id));
  id->summary.model = id->experiment[0].model;
  id->summary.formulation = mbg_run_formulation(id->experiment[0].run);
  id->summary.optimizer = id->o.optimizer;
  id->summary.experiments = id->nexperiment;
  id->summary.channels = id->nchannel;
  id->summary.parameters = id->n;
  id->summary.samples = id->m;
done:
  if (err < 0) {
    mbg_identify_destroy(id);
    id = NULL;
  }
  *out = id;
  return err;
}

int mbg_identify_create(mbg_context *ctx, const char *path, const mbg_identify_options *options, mbg_identify **out) {
  return mbg__identify_create(ctx, path, options, 1, NULL, out);
}

void mbg_identify_destroy(mbg_identify *id) {
  if (!id) {
    return;
  }
  const mbg_allocator allocator = id->arena.allocator;
  mbg__restart_close(id);
  for (int k = 0; k < id->nexperiment; k++) {
    mbg_run_destroy(id->experiment[k].run);
    mbg_model_destroy(id->experiment[k].model);
  }
  mbg__arena_destroy(&id->arena);
  allocator.release(allocator.user, id);
}

/* ---------------------------------------------------------------------- queries */

static bool in_range(int index, int count) { return index >= 0 && index < count; }

const mbg_identify_summary *mbg_identify_summary_of(const mbg_identify *id) { return &id->summary; }

const mbg_identify_parameter *mbg_identify_parameter_at(const mbg_identify *id, int i) {
  return in_range(i, id->n) ? &id->parameter[i] : NULL;
}

double mbg_identify_correlation(const mbg_identify *id, int i, int j) {
  return in_range(i, id->n) && in_range(j, id->n) ? id->correlation[i * id->n + j] : NAN;
}

const double *mbg_identify_singular_values(const mbg_identify *id) { return id->singular; }

const char *mbg_identify_combination_at(const mbg_identify *id, int i) {
  return in_range(i, id->summary.combinations) ? id->combination[i] : NULL;
}

const char *mbg_identify_weak_at(const mbg_identify *id, int i) {
  return in_range(i, id->summary.weak) ? id->weak[i] : NULL;
}

const mbg_identify_channel *mbg_identify_channel_at(const mbg_identify *id, int i) {
  return in_range(i, id->nchannel) ? &id->channel[i].shown : NULL;
}

const mbg_identify_start *mbg_identify_start_at(const mbg_identify *id, int i) {
  return in_range(i, id->summary.starts) ? &id->start[i] : NULL;
}

const char *mbg_identify_warning_at(const mbg_identify *id, int i) {
  return in_range(i, id->summary.warnings) ? id->warning[i] : NULL;
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
