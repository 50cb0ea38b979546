/* Linear models: names to numbers, the model at its point, the result. */
#include "linearize/linearize.h"

#include "run/run.h"

#include <string.h>

static const mbg_linearize_options defaults = {.size = sizeof(mbg_linearize_options), .ninput = -1, .noutput = -1};

void mbg_linearize_options_default(mbg_linearize_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

int mbg__linearize_options_take(mbg_context *ctx, const mbg_linearize_options *given, mbg_linearize_options *options) {
  *options = defaults;
  return mbg__options_take(ctx, "linearize", given, options, sizeof(*options));
}

static const char *const at_names[] = {"equilibrium", "start", "steady", "run"};

const char *mbg_linearize_at_name(int at) { return at >= 0 && at < MBG_COUNT(at_names) ? at_names[at] : NULL; }

int mbg_linearize_at_find(const char *name) {
  for (int i = 0; name && i < MBG_COUNT(at_names); i++) {
    if (!strcmp(name, at_names[i])) {
      return i;
    }
  }
  return -1;
}

/* ---------------------------------------------------------------------- inputs and outputs */

static int find_control(const mbg_model *m, const char *name) {
  for (int i = 0; i < m->ncontrol; i++) {
    if (!strcmp(m->controls[i].name, name)) {
      return i;
    }
  }
  return -1;
}

static int find_signal(const mbg_model *m, const char *name) {
  for (int i = 0; i < m->nsignal; i++) {
    if (m->signals[i].name && !strcmp(m->signals[i].name, name)) {
      return i;
    }
  }
  return -1;
}

static int list_inputs(mbg__linearize_work *k) {
  const mbg_model *m = k->given;
  const bool all = k->opt.ninput < 0;
  const int n = all ? m->ncontrol : k->opt.ninput;
  mbg__linear_input *list = MBG_TAKE(&k->arena, mbg__linear_input, n);
  if (mbg__arena_check(k->ctx, &k->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < n; i++) {
    const char *name = all ? m->controls[i].name : k->opt.inputs[i];
    list[i].control = name ? find_control(m, name) : -1;
    list[i].parameter = name && list[i].control < 0 ? mbg_model_parameter_find(m, name) : -1;
    if (list[i].control < 0 && list[i].parameter < 0) {
      return mbg__fail(k->ctx, MBG_ERROR_INPUT, "input '%s' is neither a control nor a parameter of the model",
                       name ? name : "");
    }
    for (int j = 0; j < i; j++) {
      if (list[j].control == list[i].control && list[j].parameter == list[i].parameter) {
        return mbg__fail(k->ctx, MBG_ERROR_INPUT, "input '%s' is listed twice", name);
      }
    }
  }
  k->spec.ninput = n;
  k->spec.inputs = list;
  return MBG_OK;
}

static int list_outputs(mbg__linearize_work *k) {
  const mbg_model *m = k->given;
  const bool all = k->opt.noutput < 0;
  const int n = all ? m->nsignal : k->opt.noutput;
  int *list = MBG_TAKE(&k->arena, int, n);
  if (mbg__arena_check(k->ctx, &k->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < n; i++) {
    const char *name = all ? m->signals[i].name : k->opt.outputs[i];
    const int found = all ? i : name ? find_signal(m, name) : -1;
    if (found < 0) {
      return mbg__fail(k->ctx, MBG_ERROR_INPUT, "output '%s' is no signal of the model", name ? name : "");
    }
    if (name) {
      list[k->spec.noutput++] = found;
    }
  }
  k->spec.outputs = list;
  return MBG_OK;
}

/* reactions that redundant constraints leave open: refused by name, left out of a list of all */
static int check_reactions(mbg__linearize_work *k) {
  int *list = (int *)k->spec.outputs, kept = 0;
  for (int i = 0; i < k->spec.noutput; i++) {
    const mbg__signal *signal = &k->model.signals[list[i]];
    const bool open =
        signal->level >= MBG__LEVEL_REACTION && !mbg__rank_reaction_unique(k->at.sys, k->at.result->rank, list[i]);
    if (open && k->opt.noutput >= 0) {
      return mbg__fail(k->ctx, MBG_ERROR_INPUT,
                       "output '%s' is a reaction that redundant constraints leave open; choose another signal",
                       signal->name);
    }
    if (!open) {
      list[kept++] = list[i];
    }
  }
  k->spec.noutput = kept;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- solving */

int mbg__linearize_lists(mbg__linearize_work *k) {
  const int err = list_inputs(k);
  return err < 0 ? err : list_outputs(k);
}

int mbg__linearize_coordinates(mbg__linearize_work *k) {
  const int err = check_reactions(k);
  return err < 0 ? err : mbg__linearize_choose(k);
}

int mbg__linearize_matrices(mbg__linearize_work *k) {
  int err = MBG_OK;
  MBG_TRY(mbg__linear_make(k->ctx, &k->arena, k->at.m, &k->spec, &k->linear));
  const mbg__state state = mbg__linearize_state(k);
  MBG_TRY(mbg__linear_model(k->ctx, k->at.sys, &k->spec, &state, &k->linear));
  MBG_TRY(mbg__linearize_rolls(k) ? mbg__linearize_check_steady(k) : MBG_OK);
done:
  return err;
}

int mbg__linearize_at_point(mbg__linearize_work *k) {
  const int err = mbg__linearize_coordinates(k);
  return err < 0 ? err : mbg__linearize_matrices(k);
}

int mbg__linearize_solve(mbg__linearize_work *k) {
  int err = MBG_OK;
  MBG_TRY(mbg__linearize_extend(k));
  MBG_TRY(mbg__linearize_lists(k));
  MBG_TRY(mbg__linearize_point(k));
  MBG_TRY(mbg__linearize_at_point(k));
done:
  return err;
}

void mbg__linearize_end(mbg__linearize_work *k) {
  mbg__saddle_destroy(&k->at.saddle);
  mbg__start_destroy(k->at.start);
  mbg__system_destroy(k->at.sys);
  if (k->at.ctx) {
    mbg__arena_destroy(&k->at.arena);
  }
  mbg__arena_destroy(&k->arena);
}

/* ---------------------------------------------------------------------- the result */

static const char *copy(mbg_linearize *out, const char *text, const char *more) {
  const size_t size = strlen(text) + strlen(more) + 1;
  char *own = MBG_TAKE(&out->arena, char, size);
  if (own) {
    mbg__format(own, size, "%s%s", text, more);
  }
  return own;
}

static void name_states(const mbg__linearize_work *k, mbg_linearize *out) {
  const int places = mbg__linear_places(&k->spec), rates = mbg__linear_rates(&k->spec);
  for (int i = 0; i < places; i++) {
    const mbg__candidate *c = &k->candidates[k->chosen[i]];
    out->states[i] = (mbg_linearize_name){.name = copy(out, c->name, ""),
                                          .unit = copy(out, c->unit, ""),
                                          .what = copy(out, c->what, ""),
                                          .value = c->q.kind == MBG__Q_OWN ? NAN : re(k->linear.q[i])};
  }
  for (int i = 0; i < rates; i++) {
    const int at = mbg__linear_rate(&k->spec, i);
    const mbg__candidate *c = &k->candidates[k->chosen[at]];
    char unit[32];
    mbg__format(unit, sizeof(unit), *c->unit ? "%s/s" : "1/s", c->unit);
    out->states[places + i] = (mbg_linearize_name){.name = copy(out, c->name, ".rate"),
                                                   .unit = copy(out, unit, ""),
                                                   .what = copy(out, "rate of the ", c->what),
                                                   .value = re(k->linear.qd[at])};
  }
  for (int i = 0; i < k->spec.nstate; i++) {
    const mbg__user_state *x = &k->given->states[i];
    out->states[places + rates + i] = (mbg_linearize_name){.name = copy(out, x->name, ""),
                                                           .unit = copy(out, x->unit, ""),
                                                           .what = "state of the model",
                                                           .value = re(k->linear.qd[places + i])};
  }
}

static double control_value(const mbg__linearize_work *k, const mbg__control *u) {
  const real *y = k->at.design->attr + u->attr;
  const int n = u->spline->interpolation == MBG__CUBIC ? 4 : 2;
  mbg__spline_weights w;
  real sum = 0;
  if (!mbg__spline_weights_at(u->spline, k->at.t, &w)) {
    return NAN;
  }
  for (int i = 0; i < n; i++) {
    sum += w.w[0][i] * y[w.i + i % 2 + (i < 2 ? 0 : u->spline->n)];
  }
  return re(sum);
}

static void name_inputs(const mbg__linearize_work *k, mbg_linearize *out) {
  for (int i = 0; i < k->spec.ninput; i++) {
    const mbg__linear_input *input = &k->spec.inputs[i];
    mbg_linearize_name *to = &out->inputs[i];
    char name[256];
    to->constant = k->linear.moves[i];
    if (input->control >= 0) {
      const mbg__control *u = &k->given->controls[input->control];
      to->name = copy(out, u->name, "");
      to->unit = copy(out, "", "");
      to->what = "control";
      to->value = control_value(k, u);
      continue;
    }
    (void)mbg_model_parameter_name(k->given, input->parameter, name, sizeof(name));
    to->name = copy(out, name, "");
    to->unit = copy(out, mbg_model_parameter_unit(k->given, input->parameter), "");
    to->what = "parameter";
    to->value = re(k->p[input->parameter]);
  }
}

static void name_outputs(const mbg__linearize_work *k, mbg_linearize *out) {
  for (int i = 0; i < k->spec.noutput; i++) {
    const mbg__signal *signal = &k->given->signals[k->spec.outputs[i]];
    out->outputs[i] = (mbg_linearize_name){
        .name = copy(out, signal->name, ""), .unit = "", .what = signal->type->key, .value = re(k->linear.y[i])};
  }
}

static int take_result(const mbg__linearize_work *k, mbg_linearize *out) {
  const real *const from[4] = {k->linear.A, k->linear.B, k->linear.C, k->linear.D};
  const bool gradient = k->opt.gradient;
  mbg_linearize_summary *s = &out->summary;
  *s = (mbg_linearize_summary){.model = k->given->name ? k->given->name : "",
                               .at = k->opt.at,
                               .time = re(k->at.t),
                               .freedoms = mbg__linear_rates(&k->spec),
                               .position_freedoms = mbg__linear_places(&k->spec),
                               .states = k->linear.n,
                               .inputs = k->spec.ninput,
                               .outputs = k->spec.noutput,
                               .redundant = k->at.result->rank->ndropped,
                               .poles = k->linear.n,
                               .parameters = !gradient        ? 0
                                             : k->opt.nby > 0 ? k->opt.nby
                                                              : k->given->np,
                               .condition = k->condition};
  out->states = MBG_TAKE(&out->arena, mbg_linearize_name, s->states);
  out->inputs = MBG_TAKE(&out->arena, mbg_linearize_name, s->inputs);
  out->outputs = MBG_TAKE(&out->arena, mbg_linearize_name, s->outputs);
  out->re = MBG_TAKE(&out->arena, double, s->states);
  out->im = MBG_TAKE(&out->arena, double, s->states);
  out->by = MBG_TAKE(&out->arena, int, s->parameters);
  for (int q = 0; q < 4; q++) {
    const size_t rows = (size_t)(q < 2 ? s->states : s->outputs), columns = (size_t)(q % 2 ? s->inputs : s->states);
    out->matrix[q] = MBG_TAKE(&out->arena, double, rows *columns);
    out->derivative[q] = gradient ? MBG_TAKE(&out->arena, double, rows *columns *(size_t)s->parameters) : NULL;
    for (size_t i = 0; out->matrix[q] && i < rows * columns; i++) {
      out->matrix[q][i] = re(from[q][i]);
    }
  }
  if (mbg__arena_check(k->ctx, &out->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < s->parameters; i++) {
    out->by[i] = k->opt.nby > 0 ? k->opt.by[i] : i;
  }
  name_states(k, out);
  name_inputs(k, out);
  name_outputs(k, out);
  return mbg__arena_check(k->ctx, &out->arena);
}

/* derivative: 0 .. parameters - 1, or -1 for the model itself */
static int check_finite(mbg_context *ctx, const mbg_linearize *s, int derivative) {
  for (int q = 0; q < 4; q++) {
    int rows = 0, columns = 0;
    const double *A = mbg_linearize_matrix(s, "ABCD"[q], &rows, &columns);
    A = derivative < 0 ? A : mbg_linearize_derivative(s, "ABCD"[q], derivative);
    for (int i = 0; i < rows * columns; i++) {
      if (!isfinite(A[i])) {
        const char *row = (q < 2 ? s->states : s->outputs)[i / columns].name,
                   *column = (q % 2 ? s->inputs : s->states)[i % columns].name;
        char by[256] = "";
        if (derivative >= 0) {
          (void)mbg_model_parameter_name(s->model, s->by[derivative], by, sizeof(by));
        }
        return mbg__fail(ctx, MBG_ERROR_INPUT, "the linear model%s%s%s is not finite: %s by %s",
                         derivative < 0 ? "" : "'s derivative by '", by, derivative < 0 ? "" : "'", row, column);
      }
    }
  }
  return MBG_OK;
}

void mbg__linearize_note_constant(mbg_context *ctx, const mbg_linearize *s) {
  for (int i = 0; i < s->summary.inputs; i++) {
    if (s->inputs[i].constant) {
      mbg__note(ctx, MBG_NOTE,
                "input '%s' moves constraints: its column is that of a constant, without forces that its rate causes",
                s->inputs[i].name);
    }
  }
}

/* ---------------------------------------------------------------------- interface */

static int check_options(mbg_context *ctx, const mbg_model *model, const mbg_linearize_options *o) {
  if (!mbg_linearize_at_name((int)o->at)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "a model is linearized about the equilibrium, the start, a steady motion or the end of a run");
  }
  if (o->at == MBG_LINEARIZE_RUN && (!o->run || mbg__run_model(o->run) != model)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "linearizing about a run needs a run of the same model");
  }
  if (o->at == MBG_LINEARIZE_RUN && o->parameters) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "linearizing about a run takes the parameters of the run; give no others");
  }
  MBG_NEED(ctx, (o->ninput <= 0 || o->inputs) && (o->noutput <= 0 || o->outputs) &&
                    (o->ncoordinate <= 0 || o->coordinates) && o->nby >= 0 && (o->nby == 0 || o->by));
  for (int i = 0; i < o->nby; i++) {
    if (o->by[i] < 0 || o->by[i] >= model->np) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "there is no parameter %d; the model has %d", o->by[i], model->np);
    }
  }
  return MBG_OK;
}

static int take_parameters(mbg__linearize_work *k) {
  double *p = MBG_TAKE(&k->arena, double, k->given->np);
  k->p = MBG_TAKE(&k->arena, real, k->given->np);
  if (mbg__arena_check(k->ctx, &k->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  if (k->opt.at == MBG_LINEARIZE_RUN) {
    (void)mbg_run_parameters(k->opt.run, p);
  }
  for (int i = 0; i < k->given->np; i++) {
    k->p[i] = k->opt.at == MBG_LINEARIZE_RUN ? p[i] : k->opt.parameters ? k->opt.parameters[i] : k->given->p[i];
  }
  return MBG_OK;
}

int mbg__linearize_object(const mbg__linearize_work *k, mbg_linearize **out) {
  mbg_linearize *linear = *out = mbg__alloc_zero(k->ctx, 1, sizeof(*linear));
  int err = MBG_OK;
  if (!linear) {
    return mbg__fail_memory(k->ctx);
  }
  mbg__arena_init(&linear->arena, mbg__context_allocator(k->ctx));
  linear->model = k->given;
  MBG_TRY(take_result(k, linear));
  MBG_TRY(check_finite(k->ctx, linear, -1));
  MBG_TRY(mbg__linearize_find_poles(k->ctx, linear));
done:
  if (err < 0) {
    mbg_linearize_destroy(linear);
    *out = NULL;
  }
  return err;
}

static int make(mbg__linearize_work *k, mbg_linearize **out) {
  int err = MBG_OK;
  MBG_TRY(check_options(k->ctx, k->given, &k->opt));
  MBG_TRY(take_parameters(k));
  MBG_TRY(mbg__linearize_solve(k));
  MBG_TRY(mbg__linearize_object(k, out));
  if (k->opt.gradient) {
    MBG_TRY(mbg__linearize_derivatives(k, *out));
    for (int i = 0; i < (*out)->summary.parameters; i++) {
      MBG_TRY(check_finite(k->ctx, *out, i));
    }
  }
  mbg__linearize_note_constant(k->ctx, *out);
done:
  return err;
}

int mbg_linearize_create(mbg_context *ctx, const mbg_model *model, const mbg_linearize_options *options,
                         mbg_linearize **out) {
  MBG_NEED(ctx, ctx && model && out);
  mbg__linearize_work k = {.ctx = ctx, .given = model};
  *out = NULL;
  int err = mbg__linearize_options_take(ctx, options, &k.opt);
  if (err == MBG_OK && k.opt.at == MBG_LINEARIZE_EQUILIBRIUM) {
    err = mbg__rates_refused(ctx, model, "a search for an equilibrium", "take the point 'start' or 'steady'");
  }
  if (err < 0) {
    return err;
  }
  mbg__arena_init(&k.arena, mbg__context_allocator(ctx));
  err = make(&k, out);
  mbg__linearize_end(&k);
  if (err < 0) {
    mbg_linearize_destroy(*out);
    *out = NULL;
  }
  return err;
}

void mbg_linearize_destroy(mbg_linearize *linear) {
  if (linear) {
    const mbg_allocator allocator = linear->arena.allocator;
    mbg__arena_destroy(&linear->arena);
    allocator.release(allocator.user, linear);
  }
}

const mbg_linearize_summary *mbg_linearize_get_summary(const mbg_linearize *s) { return s ? &s->summary : NULL; }

const mbg_linearize_name *mbg_linearize_state(const mbg_linearize *s, int i) {
  return s && i >= 0 && i < s->summary.states ? &s->states[i] : NULL;
}
const mbg_linearize_name *mbg_linearize_input(const mbg_linearize *s, int i) {
  return s && i >= 0 && i < s->summary.inputs ? &s->inputs[i] : NULL;
}
const mbg_linearize_name *mbg_linearize_output(const mbg_linearize *s, int i) {
  return s && i >= 0 && i < s->summary.outputs ? &s->outputs[i] : NULL;
}

const double *mbg_linearize_matrix(const mbg_linearize *s, char which, int *rows, int *columns) {
  const int q = s && which >= 'A' && which <= 'D' ? which - 'A' : -1;
  if (q < 0) {
    return NULL;
  }
  if (rows) {
    *rows = q < 2 ? s->summary.states : s->summary.outputs;
  }
  if (columns) {
    *columns = q % 2 ? s->summary.inputs : s->summary.states;
  }
  return s->matrix[q];
}

const double *mbg_linearize_derivative(const mbg_linearize *s, char which, int index) {
  int rows, columns;
  if (!mbg_linearize_matrix(s, which, &rows, &columns) || index < 0 || index >= s->summary.parameters) {
    return NULL;
  }
  return s->derivative[which - 'A'] + (size_t)index * (size_t)rows * (size_t)columns;
}

int mbg_linearize_by(const mbg_linearize *s, int index) {
  return s && index >= 0 && index < s->summary.parameters ? s->by[index] : -1;
}
