/* Control problems: their data from the options, the section of the model and the defaults. */
#include "problems/control.h"

#include "model/design.h"
#include "model/sampled.h"

#include <math.h>
#include <string.h>

/* of each control; bytes: measured, with the pairs of L-BFGS */
enum { SAMPLES_MAX = 100000, BYTES_OF_SAMPLE = 2000 };

static const mbg_control_options defaults = {
    .min = NAN, .max = NAN, .effort = NAN, .reduction = NAN, .gradient_tolerance = NAN};

void mbg_control_options_default(mbg_control_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

/* the first number that is given */
static double given(double option, double section, double preset) {
  return !isnan(option) ? option : !isnan(section) ? section : preset;
}

static int given_count(int option, int section, int preset) {
  return option != 0 ? option : section != 0 ? section : preset;
}

/* ---------------------------------------------------------------------- names */

/* "a, b, c" */
static void list_names(char *text, size_t size, int n, const char *(*name)(const mbg_model *, int),
                       const mbg_model *m) {
  text[0] = 0;
  for (int i = 0; i < n; i++) {
    const size_t used = strlen(text);
    mbg__format(text + used, size - used, "%s%s", i ? ", " : "", name(m, i));
  }
}

static const char *control_name(const mbg_model *m, int i) { return m->controls[i].name; }
static const char *criterion_name(const mbg_model *m, int i) { return m->criteria[i].name; }

static int find_name(mbg_context *ctx, const char *what, const char *wanted, int n,
                     const char *(*name)(const mbg_model *, int), const mbg_model *m, int *index) {
  char known[300], hint[160] = "";
  const char *candidates[64] = {NULL};
  for (*index = 0; *index < n; (*index)++) {
    if (!strcmp(name(m, *index), wanted)) {
      return MBG_OK;
    }
  }
  const int count = n < MBG_COUNT(candidates) ? n : MBG_COUNT(candidates);
  for (int i = 0; i < count; i++) {
    candidates[i] = name(m, i);
  }
  const char *near = strlen(wanted) > 1 ? mbg__nearest(wanted, candidates, count) : NULL;
  if (near) {
    mbg__format(hint, sizeof(hint), "; did you mean '%s'?", near);
  }
  list_names(known, sizeof(known), n, name, m);
  return mbg__fail(ctx, MBG_ERROR_INPUT, "unknown %s '%s'%s (the model has %s)", what, wanted, hint,
                   n > 0 ? known : "none");
}

/* ---------------------------------------------------------------------- controls */

/* What is known of one control before it is sampled. */
typedef struct {
  mbg__task_control task;
  mbg__samples samples;
} plan;

/* the section's entry for a control, or an empty one */
static mbg__task_control section_entry(const mbg_model *m, int control) {
  for (int i = 0; i < m->task.ncontrol; i++) {
    if (m->task.controls[i].control == control) {
      return m->task.controls[i];
    }
  }
  return (mbg__task_control){.control = control, .interpolation = -1, .min = -INFINITY, .max = INFINITY, .effort = NAN};
}

static int choose_controls(mbg_context *ctx, const mbg_model *m, const mbg_control_options *o, mbg__arena *arena,
                           plan **out, int *count) {
  int err = MBG_OK;
  if (m->ncontrol == 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "the model has no controls to find; give \"controls\" and use them in forces");
  }
  const int n = o->nname > 0 ? o->nname : m->task.ncontrol > 0 ? m->task.ncontrol : m->ncontrol;
  plan *plans = MBG_TAKE(arena, plan, n);
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int i = 0; i < n; i++) {
    int control = o->nname == 0 && m->task.ncontrol > 0 ? m->task.controls[i].control : i;
    if (o->nname > 0) {
      MBG_TRY(find_name(ctx, "control", o->names[i], m->ncontrol, control_name, m, &control));
    }
    for (int k = 0; k < i; k++) {
      if (plans[k].task.control == control) {
        return mbg__fail(ctx, MBG_ERROR_INPUT, "control '%s' is named twice", m->controls[control].name);
      }
    }
    plans[i].task = section_entry(m, control);
  }
  *out = plans;
  *count = n;
done:
  return err;
}

static int override_interpolation(mbg_context *ctx, const mbg_control_options *o, const mbg__control *u, plan *q) {
  const mbg__interpolation own = u->spline->interpolation;
  q->samples.interpolation = q->task.interpolation >= 0 ? (mbg__interpolation)q->task.interpolation : own;
  if (!o->interpolation) {
    return MBG_OK;
  }
  const bool cubic = !strcmp(o->interpolation, "cubic");
  if (!cubic && strcmp(o->interpolation, "linear") != 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "interpolation '%s': must be linear or cubic", o->interpolation);
  }
  if (!cubic && own == MBG__CUBIC) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "control '%s' is cubic, and its users may need that: make it linear in the model", u->name);
  }
  q->samples.interpolation = cubic ? MBG__CUBIC : MBG__LINEAR;
  return MBG_OK;
}

/* times: its own, or evenly over the run */
static int take_times(mbg_context *ctx, mbg__arena *arena, const mbg__control *u, int samples, const double span[2],
                      plan *q) {
  q->samples.n = samples > 0 ? samples : u->spline->n;
  if (samples == 0) {
    q->samples.t = u->spline->x;
    return MBG_OK;
  }
  if (samples < 2) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%d sample of control '%s': at least 2 are needed", samples, u->name);
  }
  if (samples > SAMPLES_MAX) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "%d samples of control '%s': at most %d; each is a time step of the run and needs about %d bytes, "
                     "%.0f MB in all",
                     samples, u->name, SAMPLES_MAX, BYTES_OF_SAMPLE, 1e-6 * BYTES_OF_SAMPLE * samples);
  }
  if (!(span[1] > span[0])) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "samples of control '%s' are laid over the run, which needs an end after its start (%g to %g)",
                     u->name, span[0], span[1]);
  }
  double *t = MBG_TAKE(arena, double, samples);
  if (!t) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < samples; i++) {
    t[i] = i == samples - 1 ? span[1] : span[0] + (span[1] - span[0]) * i / (samples - 1);
  }
  q->samples.t = t;
  return MBG_OK;
}

/* the control's own function of time at the new times */
static int take_values(mbg_context *ctx, mbg__arena *arena, const mbg__control *u, const real *attr, plan *q) {
  double *value = MBG_TAKE(arena, double, q->samples.n);
  const real *y = attr + u->attr, *m = y + u->spline->n;
  const bool cubic = u->spline->interpolation == MBG__CUBIC;
  if (!value) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < q->samples.n; k++) {
    mbg__spline_weights w;
    (void)mbg__spline_weights_at(u->spline, q->samples.t[k], &w);
    value[k] = re(w.w[0][0] * y[w.i] + w.w[0][1] * y[w.i + 1]);
    value[k] += cubic ? re(w.w[0][2] * m[w.i] + w.w[0][3] * m[w.i + 1]) : 0;
  }
  q->samples.value = value;
  return MBG_OK;
}

static int check_bounds(mbg_context *ctx, const mbg__control *u, const mbg__samples *s) {
  return s->min <= s->max
             ? MBG_OK
             : mbg__fail(ctx, MBG_ERROR_INPUT, "bounds of control '%s' contradict each other: min %g is above max %g",
                         u->name, s->min, s->max);
}

static int plan_controls(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg_control_options *o,
                         const double span[2], const real *attr, plan *plans, int count) {
  int err = MBG_OK;
  for (int i = 0; i < count; i++) {
    plan *q = &plans[i];
    const mbg__control *u = &m->controls[q->task.control];
    q->samples.control = q->task.control;
    q->samples.min = given(o->min, q->task.min, -INFINITY);
    q->samples.max = given(o->max, q->task.max, INFINITY);
    MBG_TRY(check_bounds(ctx, u, &q->samples));
    MBG_TRY(override_interpolation(ctx, o, u, q));
    MBG_TRY(take_times(ctx, arena, u, o->samples != 0 ? o->samples : q->task.samples, span, q));
    MBG_TRY(take_values(ctx, arena, u, attr, q));
  }
done:
  return err;
}

/* attributes at the parameters, in the scratch arena */
static int attributes_at(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const double *p, const real **attr) {
  mbg__design *design;
  int err = MBG_OK;
  real *q = MBG_TAKE(arena, real, m->np);
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int i = 0; i < m->np; i++) {
    q[i] = p ? p[i] : m->p[i];
  }
  MBG_TRY(mbg__design_create(ctx, arena, m, &design));
  MBG_TRY(mbg__design_update(ctx, design, q));
  *attr = design->attr;
done:
  return err;
}

/* ---------------------------------------------------------------------- objective */

static int take_terms(mbg_context *ctx, mbg_control *c, const mbg_control_options *o) {
  const mbg_model *m = c->m;
  int err = MBG_OK;
  const int n = o->nterm > 0 ? o->nterm : m->task.nterm;
  char known[300];
  if (n == 0) {
    list_names(known, sizeof(known), m->ncriterion, criterion_name, m);
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "no objective: give \"control\": {\"objective\": ...} or --objective (criteria of the model: %s)",
                     m->ncriterion > 0 ? known : "none");
  }
  c->term = MBG_TAKE(&c->arena, int, n);
  c->terms = MBG_TAKE(&c->arena, mbg_control_term, n);
  MBG_TRY(mbg__arena_check(ctx, &c->arena));
  for (int i = 0; i < n; i++) {
    const bool own = o->nterm > 0;
    int k = own ? 0 : m->task.terms[i].criterion;
    if (own) {
      MBG_TRY(find_name(ctx, "criterion", o->criteria[i], m->ncriterion, criterion_name, m, &k));
    }
    const double weight = !own ? m->task.terms[i].weight : o->weights ? o->weights[i] : 1;
    if (!isfinite(weight)) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "weight %g of criterion '%s': must be finite", weight,
                       m->criteria[k].name);
    }
    if (c->weights[k] != 0) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "criterion '%s' is named twice in the objective", m->criteria[k].name);
    }
    c->weights[k] = weight;
    c->term[c->summary.terms] = k;
    c->terms[c->summary.terms++] = (mbg_control_term){.criterion = m->criteria[k].name, .weight = weight};
  }
done:
  return err;
}

static int take_numbers(mbg_context *ctx, mbg_control *c, const mbg_control_options *o) {
  const mbg__control_task *task = &c->m->task;
  const char *name = o->optimizer ? o->optimizer : task->optimizer ? task->optimizer : "lbfgs";
  const int method = mbg__minimize_method_find(name);
  if (method < 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "unknown optimizer '%s' (known: lbfgs, ipopt, ipopt-exact, newton, cg, steepest)", name);
  }
  c->minimize = mbg__minimize_options_default();
  c->minimize.method = (mbg__minimize_method)method;
  c->minimize.memory = 20;
  c->minimize.max_iterations = given_count(o->iterations, task->iterations, 200);
  c->minimize.max_evaluations = 20 * c->minimize.max_iterations + 20;
  c->tolerance = given(o->gradient_tolerance, task->gradient_tolerance, 1e-5);
  c->reduction = given(o->reduction, task->reduction, 0.1);
  c->summary.optimizer = mbg__minimize_method_name(method);
  c->summary.status = "not solved";
  c->summary.stages = given_count(o->stages, task->stages, 1);
  if (c->minimize.max_iterations < 1 || c->summary.stages < 1) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%d iterations and %d stages: there must be at least 1",
                     c->minimize.max_iterations, c->summary.stages);
  }
  if (!(c->reduction > 0 && c->reduction < 1)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "reduction %g: must lie between 0 and 1", c->reduction);
  }
  if (!(c->tolerance >= 0)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "gradient tolerance %g: must not be negative", c->tolerance);
  }
  return MBG_OK;
}

static int take_efforts(mbg_context *ctx, mbg_control *c, const mbg_control_options *o, const plan *plans) {
  double sum = 0;
  for (int i = 0; i < c->count; i++) {
    c->found[i].effort = given(o->effort, plans[i].task.effort, given(c->m->task.effort, NAN, 0));
    if (!(c->found[i].effort >= 0 && isfinite(c->found[i].effort))) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "effort %g of control '%s': must not be negative", c->found[i].effort,
                       c->found[i].name);
    }
    sum += c->found[i].effort;
  }
  return sum > 0 || c->summary.stages == 1
             ? MBG_OK
             : mbg__fail(ctx, MBG_ERROR_INPUT, "%d stages lower the weight of the effort, which is 0: give an effort",
                         c->summary.stages);
}

/* ---------------------------------------------------------------------- creation */

static int take_arrays(mbg_context *ctx, mbg_control *c, int most) {
  const int np = c->sampled->np, n = c->n;
  double **vectors[] = {&c->x, &c->lower, &c->upper, &c->metric, &c->p, &c->best, &c->g};
  real **scratch[] = {&c->u, &c->curvature, &c->u_bar, &c->m_bar};
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    *vectors[i] = MBG_TAKE(&c->arena, double, i < 4 ? n : np);
  }
  for (int i = 0; i < MBG_COUNT(scratch); i++) {
    *scratch[i] = MBG_TAKE(&c->arena, real, most);
  }
  c->recorded = MBG_TAKE(&c->arena, double, 2 + c->m->ncriterion + n);
  c->simulated_x = MBG_TAKE(&c->arena, double, n);
  c->along = MBG_TAKE(&c->arena, double, np);
  c->bent = MBG_TAKE(&c->arena, double, np + 2 * n + 1);
  return mbg__arena_check(ctx, &c->arena);
}

/* integral of the hat function of each sample */
static void masses(const mbg__spline *s, double *mass) {
  for (int k = 0; k < s->n; k++) {
    mass[k] = 0.5 * ((k + 1 < s->n ? s->x[k + 1] : s->x[k]) - (k > 0 ? s->x[k - 1] : s->x[k]));
  }
}

/* bounds and start of the samples of one control, and its public description */
static void place_samples(mbg_control *c, int i, const mbg__samples *samples, int first) {
  const mbg__control *u = &c->sampled->controls[samples->control];
  mbg__found_control *s = &c->found[i];
  *s = (mbg__found_control){
      .control = samples->control, .name = u->name, .n = samples->n, .first = first, .spline = u->spline};
  s->shown = (mbg_control_samples){.name = u->name,
                                   .interpolation = u->spline->interpolation == MBG__CUBIC ? "cubic" : "linear",
                                   .samples = s->n,
                                   .times = u->spline->x,
                                   .values = c->best + c->m->np + first,
                                   .min = samples->min,
                                   .max = samples->max};
  masses(s->spline, c->metric + first);
  for (int k = 0; k < s->n; k++) {
    c->lower[first + k] = samples->min;
    c->upper[first + k] = samples->max;
    c->x[first + k] = samples->value[k];
  }
}

static int make_sampled(mbg_context *ctx, mbg__arena *scratch, mbg_control *c, const plan *plans) {
  int err = MBG_OK, most = 1;
  mbg__samples *samples = MBG_TAKE(scratch, mbg__samples, c->count);
  int *first = MBG_TAKE(scratch, int, c->count);
  c->found = MBG_TAKE(&c->arena, mbg__found_control, c->count);
  MBG_TRY(mbg__arena_check(ctx, scratch));
  MBG_TRY(mbg__arena_check(ctx, &c->arena));
  for (int i = 0; i < c->count; i++) {
    samples[i] = plans[i].samples;
    most = samples[i].n > most ? samples[i].n : most;
  }
  MBG_TRY(mbg__model_sampled(ctx, c->m, c->count, samples, first, &c->sampled));
  c->n = c->sampled->np - c->m->np;
  MBG_TRY(take_arrays(ctx, c, most));
  for (int i = 0; i < c->count; i++) {
    place_samples(c, i, &samples[i], first[i] - c->m->np);
  }
done:
  return err;
}

static int prepare(mbg_context *ctx, mbg_control *c, const mbg_control_options *o, mbg__arena *scratch) {
  const mbg_model *m = c->m;
  mbg_run_options run;
  int err = MBG_OK;
  plan *plans = NULL;
  const real *attr = NULL;
  MBG_TRY(mbg__run_options_take(ctx, o->run, &run));
  const double span[2] = {given(run.start, m->run.start, NAN), given(run.end, m->run.end, NAN)};
  MBG_TRY(choose_controls(ctx, m, o, scratch, &plans, &c->count));
  c->summary.controls = c->count;
  c->weights = MBG_TAKE(&c->arena, double, m->ncriterion);
  c->psi = MBG_TAKE(&c->arena, double, m->ncriterion);
  c->psi_best = MBG_TAKE(&c->arena, double, m->ncriterion);
  MBG_TRY(mbg__arena_check(ctx, &c->arena));
  MBG_TRY(take_terms(ctx, c, o));
  MBG_TRY(take_numbers(ctx, c, o));
  MBG_TRY(attributes_at(ctx, scratch, m, o->parameters, &attr));
  MBG_TRY(plan_controls(ctx, scratch, m, o, span, attr, plans, c->count));
  MBG_TRY(make_sampled(ctx, scratch, c, plans));
  MBG_TRY(take_efforts(ctx, c, o, plans));
  MBG_TRY(mbg_run_create(ctx, c->sampled, &run, &c->run));
  for (int i = 0; i < c->sampled->np; i++) {
    c->p[i] = i < m->np ? (o->parameters ? o->parameters[i] : m->p[i]) : c->x[i - m->np];
    c->best[i] = c->p[i];
  }
done:
  return err;
}

int mbg_control_create(mbg_context *ctx, const mbg_model *model, const mbg_control_options *options,
                       mbg_control **out) {
  MBG_NEED(ctx, ctx && model && out);
  mbg_control_options o = defaults;
  mbg__arena scratch;
  int err = MBG_OK;
  mbg_control *c = *out = mbg__alloc_zero(ctx, 1, sizeof(*c));
  if (!c) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&c->arena, mbg__context_allocator(ctx));
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  MBG_TRY(mbg__options_take(ctx, "control", options, &o, sizeof(o)));
  c->m = model;
  c->progress = o.progress;
  c->restart = o.restart;
  c->resume = o.resume;
  c->user = o.user;
  MBG_TRY(prepare(ctx, c, &o, &scratch));
done:
  mbg__arena_destroy(&scratch);
  if (err < 0) {
    mbg_control_destroy(c);
    *out = NULL;
  }
  return err;
}

void mbg_control_destroy(mbg_control *c) {
  if (!c) {
    return;
  }
  const mbg_allocator allocator = c->arena.allocator;
  mbg__record_close(c->record);
  mbg_hessian_destroy(c->second);
  mbg_run_destroy(c->run);
  mbg_model_destroy(c->sampled);
  mbg__arena_destroy(&c->arena);
  allocator.release(allocator.user, c);
}

/* ---------------------------------------------------------------------- queries */

const mbg_control_summary *mbg_control_get_summary(const mbg_control *c) { return c ? &c->summary : NULL; }

const mbg_control_term *mbg_control_get_term(const mbg_control *c, int index) {
  return c && index >= 0 && index < c->summary.terms ? &c->terms[index] : NULL;
}

const mbg_control_samples *mbg_control_get_samples(const mbg_control *c, int index) {
  return c && index >= 0 && index < c->count ? &c->found[index].shown : NULL;
}

const mbg_model *mbg_control_model(const mbg_control *c) { return c ? c->sampled : NULL; }

const double *mbg_control_parameters(const mbg_control *c) { return c ? c->best : NULL; }
