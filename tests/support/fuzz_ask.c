/* Questions to a model that was read: simulation, gradients, check, modes, linear models, second derivatives, searches.
   Few steps, because a mutated model may ask for any number of them: the interrupt callback ends what takes longer. */
#include "model/model.h"
#include "support/fuzz.h"

#include <math.h>
#include <string.h>

enum { STEPS = 25, STEPS_SEARCH = 120, STEPS_RESTART = 1000, EFFORT_MAX = 50000, MODES_BODIES = 20 };

/* Bodies that qr is asked for, and those of runs with all steps: an evaluation takes time by the cube of their number
   (0.1 s with 100 bodies), a step with a jump in an integral 168 evaluations, and a run with noise 3,600. */
enum { DENSE_BODIES = 12, DENSE_FULL = 6 };

static bool enough(void *user) { return --*(int *)user < 0; }

static double *numbers(size_t count) {
  double *x = calloc(count + 1, sizeof(double));
  CHECK(x);
  return x;
}

/* Steps until the interrupt. Many bodies are asked by lie, whose matrices are sparse, in place of qr; fewer ones take
   as many steps of qr as cost the same. */
static int affordable(const mbg_model *model, mbg_run_options *o, int steps) {
  const int bodies = mbg_model_body_count(model);
  const char *asked = o->formulation ? o->formulation : model->run.formulation;
  if (!asked || strcmp(asked, "qr") != 0 || bodies <= DENSE_FULL) {
    return steps;
  }
  if (bodies > DENSE_BODIES) {
    o->formulation = "lie";
    o->integrator = NULL;
    return steps;
  }
  return 1 + (int)(steps * pow((double)DENSE_FULL / bodies, 3));
}

/* Most of the time a few steps from 0, sometimes what the model says. */
static mbg_run_options options_of(support_rng *rng, const mbg_model *model, int *left, int steps) {
  static const double sizes[] = {1e-4, 1e-3, 5e-3, 0.02, 0.1};
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  o.interrupt = enough;
  o.user = left;
  o.all_signals = fuzz_one_of(rng, 2);
  o.keep_poses = fuzz_one_of(rng, 2);
  if (!fuzz_one_of(rng, 4)) {
    o.formulation = mbg_formulation_key(support_index(rng, mbg_formulation_count()));
    if (fuzz_one_of(rng, 4) && !strcmp(o.formulation, "qr")) {
      o.integrator = fuzz_one_of(rng, 2) ? "bdf" : "adams";
    }
  }
  if (!fuzz_one_of(rng, 4)) {
    const double step = FUZZ_PICK(rng, sizes);
    o.start = fuzz_one_of(rng, 8) ? support_uniform(rng, -1, 1) : 0;
    o.end = o.start + step * (2 + support_index(rng, 8));
    if (fuzz_one_of(rng, 3)) {
      o.tolerance = pow(10, support_uniform(rng, -9, -2));
    } else {
      o.step = step;
    }
  }
  if (fuzz_one_of(rng, 10)) {
    o.memory = 1e5;
  }
  *left = affordable(model, &o, steps);
  return o;
}

/* what every caller can read after a simulation */
static void check_run(const mbg_run *run, const mbg_model *m, const mbg_run_options *o) {
  const size_t nodes = (size_t)mbg_run_node_count(run), bodies = (size_t)mbg_model_body_count(m);
  const size_t modal = (size_t)mbg_model_modal_count(m);
  double *x = numbers(nodes * (bodies * 12 + 2 * modal + 1)), t;
  for (int i = 0; i < (int)nodes; i++) {
    for (int k = 0; k < mbg_run_kept_count(run); k++) {
      t = mbg_run_signal(run, i, mbg_run_kept_signal(run, k));
      fuzz_check_finite("signal", &t, 1);
    }
  }
  if (mbg_run_times(run, x) == MBG_OK) {
    fuzz_check_finite("times", x, nodes);
  }
  if (o->keep_poses && mbg_run_frames(run, x) == MBG_OK) {
    fuzz_check_finite("frames", x, nodes * bodies * 12);
  }
  if (o->keep_poses && mbg_run_twists(run, x) == MBG_OK) {
    fuzz_check_finite("twists", x, nodes * bodies * 6);
  }
  if (o->keep_poses && mbg_run_modal(run, x, x + nodes * modal) == MBG_OK) {
    fuzz_check_finite("modal coordinates", x, 2 * nodes * modal);
  }
  free(x);
  double *H = numbers(bodies * 18);
  if (mbg_run_last_state(run, &t, H, H + bodies * 12) == MBG_OK) {
    fuzz_check_finite("last state", H, bodies * 18);
  }
  free(H);
  const mbg_run_work *w = mbg_run_get_work(run);
  fuzz_check_finite("drift", &w->drift_position, 1);
  fuzz_check_finite("drift of rates", &w->drift_velocity, 1);
}

static int take_history(void *user, int node, const double *dy) {
  (void)node;
  fuzz_check_finite("history", dy, *(size_t *)user);
  return MBG_OK;
}

/* a method that the formulation has, most of the time */
static mbg_method any_method(support_rng *rng, const mbg_run *run) {
  int formulation = 0, method = MBG_METHOD_AUTO;
  while (strcmp(mbg_formulation_key(formulation), mbg_run_formulation(run)) != 0) {
    formulation++;
  }
  for (int tries = 0; tries < 8; tries++) {
    method = support_index(rng, MBG_METHOD_COUNT);
    if (mbg_formulation_has(formulation, (mbg_method)method) || fuzz_one_of(rng, 20)) {
      break;
    }
  }
  return (mbg_method)method;
}

/* derivatives by one of the ways; MBG_OK, or a status with its message */
static int ask_derivatives(support_rng *rng, mbg_context *ctx, mbg_run *run, const mbg_model *m) {
  const size_t nc = (size_t)mbg_model_criterion_count(m), np = (size_t)mbg_model_parameter_count(m);
  const size_t na = (size_t)mbg_run_attribute_count(run);
  double *g = numbers(nc * np + na + nc);
  const int way = support_index(rng, 12);
  const mbg_method method = any_method(rng, run);
  int err = MBG_OK;
  if (way == 0) {
    size_t width = np * (size_t)mbg_run_kept_count(run);
    err = mbg_run_history(ctx, run, take_history, &width);
  } else if (way == 1 && nc > 0) {
    err = mbg_run_gradient_all(ctx, run, support_index(rng, (int)nc), g);
    fuzz_check_finite("gradient by attributes", g, err == MBG_OK ? na : 0);
  } else if (way == 2 && nc > 0) {
    for (size_t k = 0; k < nc; k++) {
      g[k] = 1;
    }
    err = mbg_run_gradient_sum(ctx, run, method, g, g + nc);
    fuzz_check_finite("gradient of a sum", g + nc, err == MBG_OK ? np : 0);
  } else {
    err = mbg_run_gradient(ctx, run, method, g, NULL);
    fuzz_check_finite("gradient", g, err == MBG_OK ? nc * np : 0);
  }
  free(g);
  return err;
}

fuzz_outcome fuzz_ask_gradient(support_rng *rng, mbg_context *ctx, const mbg_model *model, const char *formulation,
                               const char *state) {
  int left, err;
  mbg_run_options o = options_of(rng, model, &left, STEPS);
  const int steps = left;
  double *psi = numbers((size_t)mbg_model_criterion_count(model));
  mbg_run *run = NULL;
  o.formulation = formulation ? formulation : o.formulation;
  o.integrator = formulation ? NULL : o.integrator;
  if (state) { /* the file says when the run starts */
    o.start = NAN;
    o.end = fuzz_one_of(rng, 8) ? o.end : 0.015;
  }
  err = mbg_run_create(ctx, model, &o, &run);
  err = err == MBG_OK && state ? mbg_run_read_state(ctx, run, state) : err;
  const bool accepted = err == MBG_OK;
  err = err == MBG_OK ? mbg_run_simulate(ctx, run) : err;
  fuzz_outcome outcome = accepted ? FUZZ_ACCEPTED : FUZZ_REFUSED;
  if (err == MBG_OK) {
    check_run(run, model, &o);
    left = 12 * steps; /* of derivatives: as many as the nodes need */
    err = mbg_run_criteria(ctx, run, psi);
    fuzz_check_finite("criterion", psi, err == MBG_OK ? (size_t)mbg_model_criterion_count(model) : 0);
    if (state && fuzz_one_of(rng, 4)) {
      const int written = mbg_run_write_state(ctx, run, "again.json");
      err = err == MBG_OK && written == MBG_OK ? mbg_run_read_state(ctx, run, "again.json") : err;
      CHECK(written == MBG_OK && "a state can be written after a simulation");
    }
    outcome = err == MBG_OK ? FUZZ_ANSWERED : outcome;
    /* Integrals of noise are resolved by up to 28,672 nodes a step: derivatives there take their time, and do not hang.
       A run from a state has no gradients, and says so. */
    const double effort = (double)mbg_run_node_count(run) * (1 + mbg_model_parameter_count(model));
    err = err == MBG_OK && effort < EFFORT_MAX ? ask_derivatives(rng, ctx, run, model) : err;
    outcome = err == MBG_OK || state ? outcome : FUZZ_ACCEPTED;
  }
  if (err < 0) {
    fuzz_check_error(ctx, err);
  }
  mbg_run_destroy(run);
  free(psi);
  return outcome;
}

/* ---------------------------------------------------------------------- check and modes */

static fuzz_outcome ask_check(mbg_context *ctx, const mbg_model *model) {
  mbg_check *check = NULL;
  char *text = NULL;
  int err = mbg_check_create(ctx, model, NULL, &check);
  if (err == MBG_OK) {
    const mbg_check_summary *s = mbg_check_get_summary(check);
    const double all[] = {s->size, s->mass, s->kinetic_energy, s->potential_energy, s->start.residual};
    fuzz_check_finite("summary of the check", all, sizeof(all) / sizeof(all[0]));
    for (int i = 0; i < s->bodies; i++) {
      const mbg_check_body *b = mbg_check_get_body(check, i);
      fuzz_check_finite("mass of a body", &b->mass, 1);
      fuzz_check_finite("position of a body", b->position, 3);
      fuzz_check_finite("rotation of a body", b->rotation, 3);
      fuzz_check_finite("velocity of a body", b->velocity, 3);
    }
    for (int i = 0; i < s->signals; i++) {
      const mbg_check_signal *y = mbg_check_get_signal(check, i);
      fuzz_check_finite("signal at the start", &y->value, y->determined);
    }
    err = mbg_check_json(ctx, check, &text);
    mbg_text_destroy(ctx, text);
  }
  if (err < 0) {
    fuzz_check_error(ctx, err);
  }
  mbg_check_destroy(check);
  return err < 0 ? FUZZ_ACCEPTED : FUZZ_ANSWERED;
}

static fuzz_outcome ask_modes(support_rng *rng, mbg_context *ctx, const mbg_model *model) {
  mbg_modes_options o;
  mbg_modes *modes = NULL;
  char *text = NULL;
  /* up to 600 steps to an equilibrium, each with all eigenvalues: many bodies take their time, and do not hang */
  if (mbg_model_body_count(model) > MODES_BODIES) {
    return FUZZ_ACCEPTED;
  }
  mbg_modes_options_default(&o, sizeof(o));
  o.at = (mbg_modes_at)support_index(rng, 3);
  o.undamped = fuzz_one_of(rng, 2);
  o.gradient = fuzz_one_of(rng, 2);
  int err = mbg_modes_create(ctx, model, &o, &modes);
  if (err == MBG_OK) {
    const mbg_modes_summary *s = mbg_modes_get_summary(modes);
    for (int i = 0; i < s->count; i++) {
      const mbg_mode *mode = mbg_modes_get_mode(modes, i);
      const double all[] = {mode->re, mode->im, mode->frequency, mode->damping};
      fuzz_check_finite("mode", all, sizeof(all) / sizeof(all[0]));
      fuzz_check_finite("shape", mbg_modes_shape(modes, i, 0), 6 * (size_t)s->bodies);
    }
    err = mbg_modes_json(ctx, modes, &text);
    mbg_text_destroy(ctx, text);
  }
  if (err < 0) {
    fuzz_check_error(ctx, err);
  }
  mbg_modes_destroy(modes);
  return err < 0 ? FUZZ_ACCEPTED : FUZZ_ANSWERED;
}

/* ---------------------------------------------------------------------- linear models, second derivatives */

static void check_linear(support_rng *rng, mbg_context *ctx, const mbg_linearize *linear) {
  const mbg_linearize_summary *s = mbg_linearize_get_summary(linear);
  const size_t n = (size_t)s->states, outputs = (size_t)s->outputs, inputs = (size_t)s->inputs;
  double *x = numbers(2 * n + 2 * outputs * inputs);
  for (const char *which = "ABCD"; *which; which++) {
    int rows = 0, columns = 0;
    const double *matrix = mbg_linearize_matrix(linear, *which, &rows, &columns);
    fuzz_check_finite("matrix of a linear model", matrix, (size_t)rows * (size_t)columns);
    for (int k = 0; k < s->parameters; k++) {
      matrix = mbg_linearize_derivative(linear, *which, k);
      fuzz_check_finite("derivative of a linear model", matrix, matrix ? (size_t)rows * (size_t)columns : 0);
    }
  }
  CHECK(mbg_linearize_poles(linear, x, x + n) == MBG_OK);
  fuzz_check_finite("pole", x, 2 * n);
  int count = 0;
  const double omega = pow(10, support_uniform(rng, -3, 3));
  if (mbg_linearize_zeros(ctx, linear, -1, -1, &count, x, x + n) == MBG_OK) {
    fuzz_check_finite("zero", x, (size_t)count);
    fuzz_check_finite("zero", x + n, (size_t)count);
  }
  if (mbg_linearize_response(ctx, linear, omega, x, x + outputs * inputs) == MBG_OK) {
    fuzz_check_finite("response", x, 2 * outputs * inputs);
  }
  mbg_context_clear(ctx);
  free(x);
}

static fuzz_outcome ask_linearize(support_rng *rng, mbg_context *ctx, const mbg_model *model) {
  mbg_linearize_options o;
  mbg_linearize *linear = NULL;
  char *text = NULL;
  if (mbg_model_body_count(model) > MODES_BODIES) { /* as with modes */
    return FUZZ_ACCEPTED;
  }
  mbg_linearize_options_default(&o, sizeof(o));
  o.at = (mbg_linearize_at)support_index(rng, 3);
  o.gradient = fuzz_one_of(rng, 2);
  int err = mbg_linearize_create(ctx, model, &o, &linear);
  if (err == MBG_OK) {
    check_linear(rng, ctx, linear);
    err = mbg_linearize_json(ctx, linear, &text);
    mbg_text_destroy(ctx, text);
  }
  if (err < 0) {
    fuzz_check_error(ctx, err);
  }
  mbg_linearize_destroy(linear);
  return err < 0 ? FUZZ_ACCEPTED : FUZZ_ANSWERED;
}

static fuzz_outcome ask_hessian(support_rng *rng, mbg_context *ctx, const mbg_model *model) {
  const size_t nc = (size_t)mbg_model_criterion_count(model), np = (size_t)mbg_model_parameter_count(model);
  int left;
  const mbg_run_options o = options_of(rng, model, &left, STEPS);
  const int steps = left;
  double *x = numbers(nc + 3 * np);
  mbg_run *run = NULL;
  for (size_t i = 0; i < nc + np; i++) { /* weights, and a direction */
    x[i] = support_normal(rng);
  }
  int err = mbg_run_create(ctx, model, &o, &run);
  err = err == MBG_OK ? mbg_run_simulate(ctx, run) : err;
  left = 12 * steps;
  bool asked = err == MBG_OK && (double)mbg_run_node_count(run) * (double)(1 + np) < EFFORT_MAX;
  if (asked) {
    err = mbg_run_hessian_vector(ctx, run, x, x + nc, x + nc + np, x + nc + 2 * np);
    fuzz_check_finite("gradient and product of second derivatives", x + nc + np, err == MBG_OK ? 2 * np : 0);
  }
  if (err < 0) {
    fuzz_check_error(ctx, err);
  }
  mbg_run_destroy(run);
  free(x);
  return asked && err == MBG_OK ? FUZZ_ANSWERED : FUZZ_ACCEPTED;
}

/* ---------------------------------------------------------------------- searches */

/* with a restart file: those of the search that wrote the file */
static mbg_run_options search_options(support_rng *rng, const mbg_model *model, int *left, const char *restart) {
  mbg_run_options o = options_of(rng, model, left, STEPS_SEARCH);
  if (restart) {
    mbg_run_options_default(&o, sizeof(o));
    o.interrupt = enough;
    o.user = left;
    *left = STEPS_RESTART;
  }
  return o;
}

fuzz_outcome fuzz_ask_identify(support_rng *rng, mbg_context *ctx, const mbg_model *model, const char *restart) {
  int left;
  const mbg_run_options run = search_options(rng, model, &left, restart);
  const int steps = left;
  mbg_identify_options o;
  mbg_identify *id = NULL;
  char *text = NULL;
  mbg_identify_options_default(&o, sizeof(o));
  o.run = &run;
  o.iterations = restart ? 4 : 2;
  o.bias = false;
  o.restart = restart;
  o.resume = restart != NULL;
  o.optimizer = !restart && fuzz_one_of(rng, 3) ? "lbfgs" : NULL;
  int err = mbg_identify_create(ctx, model, &o, &id);
  fuzz_outcome outcome = err == MBG_OK && !restart ? FUZZ_ACCEPTED : FUZZ_REFUSED;
  left = steps;
  err = err == MBG_OK ? mbg_identify_solve(ctx, id) : err;
  if (err == MBG_OK) {
    const mbg_identify_summary *s = mbg_identify_get_summary(id);
    fuzz_check_finite("cost", &s->cost, 1);
    fuzz_check_finite("cost at the start", &s->start_cost, 1);
    for (int i = 0; i < s->parameters; i++) {
      fuzz_check_finite("identified parameter", &mbg_identify_get_parameter(id, i)->value, 1);
    }
    for (int i = 0; i < s->channels; i++) {
      const mbg_identify_channel *c = mbg_identify_get_channel(id, i);
      fuzz_check_finite("model in a channel", c->model, (size_t)c->samples);
      fuzz_check_finite("rms of a channel", &c->rms, c->samples > 0);
    }
    err = mbg_identify_model_text(ctx, id, &text);
    mbg_text_destroy(ctx, text);
    outcome = FUZZ_ANSWERED;
  }
  if (err < 0) {
    fuzz_check_error(ctx, err);
  }
  mbg_identify_destroy(id);
  return outcome;
}

fuzz_outcome fuzz_ask_optimize(support_rng *rng, mbg_context *ctx, const mbg_model *model, const char *restart) {
  int left;
  const mbg_run_options run = search_options(rng, model, &left, restart);
  const int steps = left;
  mbg_optimize_options o;
  mbg_optimize *opt = NULL;
  char *text = NULL;
  mbg_optimize_options_default(&o, sizeof(o));
  o.run = &run;
  o.iterations = restart ? 4 : 2;
  o.restart = restart;
  o.resume = restart != NULL;
  o.optimizer = restart ? NULL : mbg_optimize_optimizer(support_index(rng, 6));
  int err = mbg_optimize_create(ctx, model, &o, &opt);
  fuzz_outcome outcome = err == MBG_OK && !restart ? FUZZ_ACCEPTED : FUZZ_REFUSED;
  left = steps;
  err = err == MBG_OK ? mbg_optimize_solve(ctx, opt) : err;
  if (err == MBG_OK) {
    const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
    fuzz_check_finite("objective", &s->objective, 1);
    fuzz_check_finite("objective at the start", &s->objective_start, 1);
    fuzz_check_finite("violation", &s->violation, 1);
    for (int i = 0; i < s->parameters; i++) {
      const mbg_optimize_parameter *p = mbg_optimize_get_parameter(opt, i);
      fuzz_check_finite("optimized parameter", &p->value, 1);
      fuzz_check_finite("multiplier of a bound", &p->multiplier, 1);
    }
    for (int i = 0; i < s->constraints; i++) {
      fuzz_check_finite("constraint", &mbg_optimize_get_constraint(opt, i)->value, 1);
    }
    err = mbg_optimize_model_text(ctx, opt, &text);
    mbg_text_destroy(ctx, text);
    outcome = FUZZ_ANSWERED;
  }
  if (err < 0) {
    fuzz_check_error(ctx, err);
  }
  mbg_optimize_destroy(opt);
  return outcome;
}

fuzz_outcome fuzz_ask_control(support_rng *rng, mbg_context *ctx, const mbg_model *model, const char *restart) {
  int left;
  const mbg_run_options run = search_options(rng, model, &left, restart);
  const int steps = left;
  mbg_control_options o;
  mbg_control *control = NULL;
  mbg_control_options_default(&o, sizeof(o));
  o.run = &run;
  o.iterations = restart ? 3 : 2;
  o.restart = restart;
  o.resume = restart != NULL;
  int err = mbg_control_create(ctx, model, &o, &control);
  fuzz_outcome outcome = err == MBG_OK && !restart ? FUZZ_ACCEPTED : FUZZ_REFUSED;
  left = steps;
  err = err == MBG_OK ? mbg_control_solve(ctx, control) : err;
  if (err == MBG_OK) {
    const mbg_control_summary *s = mbg_control_get_summary(control);
    fuzz_check_finite("objective", &s->objective, 1);
    fuzz_check_finite("objective at the start", &s->objective_start, 1);
    fuzz_check_finite("projected gradient", &s->gradient, 1);
    for (int i = 0; i < s->controls; i++) {
      const mbg_control_samples *c = mbg_control_get_samples(control, i);
      fuzz_check_finite("samples of a control", c->values, (size_t)c->samples);
    }
    err = s->controls > 0 ? mbg_control_write(ctx, control, 0, "found.csv") : MBG_OK;
    outcome = FUZZ_ANSWERED;
  }
  if (err < 0) {
    fuzz_check_error(ctx, err);
  }
  mbg_control_destroy(control);
  return outcome;
}

/* ---------------------------------------------------------------------- any question */

fuzz_outcome fuzz_ask(support_rng *rng, mbg_context *ctx, const mbg_model *model) {
  mbg_model *other = NULL;
  fuzz_outcome outcome = FUZZ_ACCEPTED;
  const int nrun = mbg_model_run_count(model), question = support_index(rng, 24);
  if (nrun > 0 && fuzz_one_of(rng, 4)) {
    const int err = mbg_model_for_run(ctx, model, mbg_model_run_name(model, support_index(rng, nrun)), &other);
    if (err < 0) {
      fuzz_check_error(ctx, err);
      return FUZZ_ACCEPTED;
    }
    model = other;
  }
  switch (question) {
  case 0:
  case 1:
    outcome = ask_check(ctx, model);
    break;
  case 2:
    outcome = ask_modes(rng, ctx, model);
    break;
  case 3:
    outcome = fuzz_ask_identify(rng, ctx, model, NULL);
    break;
  case 4:
    outcome = fuzz_ask_optimize(rng, ctx, model, NULL);
    break;
  case 5:
    outcome = fuzz_ask_control(rng, ctx, model, NULL);
    break;
  case 6:
  case 7:
    outcome = ask_linearize(rng, ctx, model);
    break;
  case 8:
  case 9:
    outcome = ask_hessian(rng, ctx, model);
    break;
  default:
    outcome = fuzz_ask_gradient(rng, ctx, model, NULL, NULL);
    break;
  }
  mbg_model_destroy(other);
  return outcome == FUZZ_REFUSED ? FUZZ_ACCEPTED : outcome;
}
