/* The start and the run. */
#include "load/load.h"

#include <string.h>

/* ---------------------------------------------------------------------- initial */

static int load_guess(mbg__loader *L, mbg__symbol *symbol) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_GUESS};
  char hint[MBG__HINT_SIZE];
  mbg__item item;
  bool yes;
  MBG_TRY(mbg__item_open(L, symbol, &item));
  const char *name = symbol->json->key;
  mbg__symbol *body = mbg__name_find(L, symbol->source, MBG__NAME_BODY, name);
  if (!body || body->kind != MBG__NAME_BODY) {
    return mbg__item_bad_key(&item, item.json, "unknown body '%s'%s", name,
                             mbg__hint(hint, mbg__name_nearest(L, symbol->source, 1u << MBG__NAME_BODY, name)));
  }
  MBG_TRY(mbg__item_object(&item, item.json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(&item, item.json, keys, 1, NULL, 0));
  if (!body->bad) {
    const bool same = body->source == symbol->source && !mbg__json_member(body->json, "outer");
    MBG_TRY(mbg__body_guess(&item, item.json, &L->bodies.at[body->index], &L->body_pose.at[body->index],
                            same ? MBG__GUESS_OVERRIDE : MBG__GUESS_FROM_OUTSIDE));
  }
done:
  return err;
}

static int pin_target(mbg__item *item, mbg__pin *pin) {
  int err = MBG_OK;
  const mbg__json *joint = mbg__json_member(item->json, "joint"), *signal = mbg__json_member(item->json, "signal");
  const mbg__json *coordinate = mbg__json_member(item->json, "coordinate");
  mbg__symbol *symbol;
  if (!joint == !signal) {
    return mbg__item_bad_key(item, item->json, "give 'joint' or 'signal'%s", joint ? ", not both" : "");
  }
  if (joint) {
    MBG_TRY(mbg__item_reference(item, joint, "joint", MBG__NAME_JOINT, &symbol));
    return symbol ? mbg__item_joint_coord(item, symbol, coordinate, true, &pin->coord) : MBG_OK;
  }
  if (coordinate) {
    MBG_TRY(mbg__item_bad_key(item, coordinate, "'coordinate' requires 'joint'"));
  }
  MBG_TRY(mbg__item_reference(item, signal, "signal", MBG__NAME_SIGNAL, &symbol));
  if (!symbol) {
    return MBG_OK;
  }
  pin->signal = symbol->index;
  const mbg__level level = item->L->signals.at[symbol->index].level;
  if (level != MBG__LEVEL_POSITION && level != MBG__LEVEL_VELOCITY) {
    MBG_TRY(mbg__item_bad(item, signal, "signal '%s' %s; a pin needs a signal of positions or velocities", symbol->name,
                          level == MBG__LEVEL_TIME           ? "does not depend on the motion"
                          : level == MBG__LEVEL_ACCELERATION ? "depends on accelerations"
                                                             : "depends on reactions"));
  }
  if (level == MBG__LEVEL_VELOCITY && mbg__json_member(item->json, "rate")) {
    MBG_TRY(mbg__item_bad_key(item, mbg__json_member(item->json, "rate"),
                              "signal '%s' depends on velocities: only its value can be pinned, not its rate",
                              symbol->name));
  }
done:
  return err;
}

static int load_pin(mbg__item *item, mbg__pin *pin) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_PIN};
  const mbg__json *value = mbg__json_member(item->json, "value"), *rate = mbg__json_member(item->json, "rate");
  bool yes;
  *pin = (mbg__pin){.name = item->name, .coord = -1, .signal = -1, .value = -1, .rate = -1};
  pin->where = mbg__item_where_key(item, item->json);
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  MBG_TRY(pin_target(item, pin));
  if (!value && !rate) {
    MBG_TRY(mbg__item_bad_key(item, item->json, "'value' or 'rate' is missing"));
  }
  if (value) {
    MBG_TRY(mbg__item_attribute(item, value, "value", "", 0, 1, &pin->value));
  }
  if (rate) {
    MBG_TRY(mbg__item_attribute(item, rate, "rate", "", 0, 1, &pin->rate));
  }
done:
  return err;
}

static int load_pins(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0; i < L->names[MBG__NAME_PIN].count; i++) {
    mbg__symbol *s = L->names[MBG__NAME_PIN].at[i];
    mbg__item item;
    MBG_TRY(mbg__item_open(L, s, &item));
    mbg__pin *pin = MBG__PUSH(L, L->pins);
    if (!pin) {
      return mbg__fail_memory(L->ctx);
    }
    MBG_TRY(load_pin(&item, pin));
  }
done:
  return err;
}

/* keys of "initial" in each file; the start itself is the model's */
static int load_start(mbg__loader *L, mbg__source *source) {
  int err = MBG_OK, start = 0;
  static const mbg__file_object keys[] = {MBG__KEYS_INITIAL};
  const mbg__json *json = mbg__json_member(source->root, "initial");
  mbg__item item;
  bool yes;
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_make(L, source, json, "initial", &item));
  MBG_TRY(mbg__item_object(&item, json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(&item, json, keys, 1, NULL, 0));
  MBG_TRY(mbg__item_choice(&item, mbg__json_member(json, "start"), "start", "assemble exact equilibrium", &start));
  if (!source->outer) {
    L->model->start = (mbg__start)start;
  }
done:
  return err;
}

int mbg__load_initial(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0; i < L->sources.count; i++) {
    MBG_TRY(load_start(L, L->sources.at[i]));
  }
  for (int i = 0; i < L->names[MBG__NAME_GUESS].count; i++) {
    MBG_TRY(load_guess(L, L->names[MBG__NAME_GUESS].at[i]));
  }
  MBG_TRY(load_pins(L));
done:
  return err;
}

/* ---------------------------------------------------------------------- run */

/* a number of the run, positive unless `any`; an absent key keeps its value */
static int run_number(mbg__item *item, const char *key, bool any, double *out) {
  const mbg__json *json = mbg__json_member(item->json, key);
  bool varies = false;
  if (!json) {
    return MBG_OK;
  }
  const int err = mbg__item_fixed(item, json, key, out, &varies);
  if (err < 0 || isnan(*out)) {
    return err;
  }
  if (varies) {
    mbg__item_warn(item, json,
                   "%s depends on a parameter; it is taken at the nominal parameters and not differentiated", key);
  }
  return any || *out > 0 ? MBG_OK : mbg__item_bad(item, json, "%s must be positive, is %g", key, *out);
}

/* a number between 0 and 1 */
static int run_fraction(mbg__item *item, const char *key, double most, double *out) {
  const mbg__json *json = mbg__json_member(item->json, key);
  const int err = run_number(item, key, true, out);
  if (err < 0 || !json || isnan(*out) || (*out >= 0 && *out <= most)) {
    return err;
  }
  return mbg__item_bad(item, json, "%s must be between 0 and %.15g, is %g", key, most, *out);
}

static int run_breaks(mbg__item *item, mbg__run *run) {
  int err = MBG_OK, n = 0;
  const mbg__json *json = mbg__json_member(item->json, "breaks"), *entry = NULL;
  char label[32];
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_array(item, json, "breaks", -1, &entry));
  if (!entry) {
    return MBG_OK;
  }
  double *breaks = MBG_TAKE(item->L->arena, double, json->count);
  MBG_TRY(mbg__arena_check(item->L->ctx, item->L->arena));
  for (; entry; entry = entry->next, n++) {
    mbg__format(label, sizeof(label), "breaks[%d]", n);
    MBG_TRY(mbg__item_fixed(item, entry, label, &breaks[n], NULL));
    if (n > 0 && breaks[n] <= breaks[n - 1]) {
      MBG_TRY(mbg__item_bad(item, entry, "breaks must increase, but %g follows %g", breaks[n], breaks[n - 1]));
    }
  }
  run->breaks = breaks;
  run->nbreak = n;
done:
  return err;
}

#define MBG_FORMULATION(key, ...) #key,
static const char *const formulation_keys[] = {
#include "formulations/formulations.def"
};
#define MBG_INTEGRATOR(key) #key,
static const char *const integrator_keys[] = {
#include "formulations/formulations.def"
};

static int run_words(mbg__item *item, mbg__run *run) {
  int err = MBG_OK, formulation = -1, integrator = -1, redundant = run->redundant_error;
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "formulation"), "formulation", mbg__formulation_words,
                           &formulation));
  run->formulation = formulation >= 0 ? formulation_keys[formulation] : run->formulation;
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "integrator"), "integrator", mbg__integrator_words,
                           &integrator));
  run->integrator = integrator >= 0 ? integrator_keys[integrator] : run->integrator;
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "method"), "method", mbg__method_words, &run->method));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "redundant"), "redundant", "drop error", &redundant));
  run->redundant_error = redundant == 1;
done:
  return err;
}

static const double accuracy_preset = 1e-3; /* of "step": "auto" */

/* presets of the numerical damping, in the order of the formulations; NAN: it does not take this kind */
#define MBG_FORMULATION(key, folder, name, paper, methods, supports, order, rho, alpha, ...) {rho, alpha},
static const double damping[][2] = {
#include "formulations/formulations.def"
};

/* the damping of another formulation than the one of the run */
static void warn_damping(const mbg__item *item, const mbg__run *run) {
  static const char *const keys[2] = {"rho_inf", "alpha_f"}, *const owner[2] = {"lie", "dae"};
  const double given[2] = {run->rho_inf, run->alpha_f};
  int f = 0;
  while (run->formulation && strcmp(formulation_keys[f], run->formulation) != 0) {
    f++;
  }
  for (int k = 0; k < 2; k++) {
    const mbg__json *json = mbg__json_member(item->json, keys[k]);
    const bool own = !isnan(damping[f][!k]);
    if (!json || !isnan(damping[f][k]) || (own && !isnan(given[!k]))) {
      continue;
    }
    char used[64] = "";
    if (own) {
      mbg__format(used, sizeof(used), "; it takes %s, %g when absent", keys[!k], damping[f][!k]);
    }
    mbg__item_warn(item, json, "%s is the damping of '%s' and has no effect on '%s'%s", keys[k], owner[k],
                   formulation_keys[f], used);
  }
}

static int check_run(mbg__item *item, const mbg__run *run) {
  const mbg__json *end = mbg__json_member(item->json, "end"), *start = mbg__json_member(item->json, "start");
  const mbg__json *step = mbg__json_member(item->json, "step");
  if (!item->bad && (end || start) && !isnan(run->end) && !(run->end > run->start)) {
    return mbg__item_bad(item, end ? end : start, "the end %g must be later than the start %g", run->end, run->start);
  }
  const mbg__json *tolerance = mbg__json_member(item->json, "tolerance");
  if (step && tolerance) {
    return mbg__item_bad_key(item, tolerance, "give 'step' (fixed) or 'tolerance' (controlled), not both");
  }
  return MBG_OK;
}

/* a step takes the place of a tolerance and the other way round */
static void clear_steps(const mbg__item *item, mbg__run *run) {
  if (mbg__json_member(item->json, "step")) {
    run->tolerance = 0;
  } else if (mbg__json_member(item->json, "tolerance")) {
    run->step = 0;
  }
}

static int run_index(mbg__item *item, mbg__run *run) {
  double index = run->index;
  const int err = run_number(item, "index", true, &index);
  if (err == MBG_OK && index != 2 && index != 3) {
    return mbg__item_bad_key(item, mbg__json_member(item->json, "index"), "index is %g; it must be 2 or 3", index);
  }
  run->index = (int)index;
  return err;
}

static int run_stabilization(mbg__item *item, mbg__run *run) {
  const mbg__json *json = mbg__json_member(item->json, "stabilization");
  const int err = run_number(item, "stabilization", true, &run->stabilization);
  return err < 0 || !json || isnan(run->stabilization) || run->stabilization >= 0
             ? err
             : mbg__item_bad(item, json, "stabilization must not be negative, is %g", run->stabilization);
}

static int run_kappa(mbg__item *item, mbg__run *run) {
  const mbg__json *json = mbg__json_member(item->json, "kappa");
  const int err = run_number(item, "kappa", false, &run->kappa);
  if (err < 0 || !json || isnan(run->kappa) || !(run->kappa > 0) || (run->kappa >= 1e2 && run->kappa <= 1e8)) {
    return err;
  }
  return mbg__item_bad(item, json, "kappa must be between 1e2 and 1e8, is %g", run->kappa);
}

/* ali3p: the iteration with its penalties, the matrix of the projections */
static int run_penalties(mbg__item *item, mbg__run *run) {
  static const char *const keys[] = {"alpha", "varsigma"};
  const mbg__json *kappa = mbg__json_member(item->json, "kappa");
  int err = MBG_OK, augmented = run->augmented, oblique = run->oblique;
  MBG_TRY(
      mbg__item_choice(item, mbg__json_member(item->json, "iteration"), "iteration", "saddle augmented", &augmented));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "projection"), "projection", "mass tangent", &oblique));
  run->augmented = augmented == 1;
  run->oblique = oblique == 1;
  run->alpha = kappa || !run->augmented ? 0 : run->alpha; /* of the model, in its runs */
  run->varsigma = kappa || !run->augmented ? 0 : run->varsigma;
  MBG_TRY(run_number(item, "alpha", false, &run->alpha));
  MBG_TRY(run_number(item, "varsigma", false, &run->varsigma));
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    const mbg__json *json = mbg__json_member(item->json, keys[i]);
    if (json && !run->augmented) {
      MBG_TRY(mbg__item_bad_key(item, json, "%s belongs to \"iteration\": \"augmented\"", keys[i]));
    } else if (json && kappa) {
      MBG_TRY(mbg__item_bad_key(item, json, "give 'kappa', from which alpha and varsigma follow, or %s, not both",
                                keys[i]));
    } else if (json) {
      run->kappa = 0;
    }
  }
done:
  return err;
}

/* a number, or "auto": the step follows from the accuracy */
static int run_step(mbg__item *item, mbg__run *run) {
  const mbg__json *step = mbg__json_member(item->json, "step"), *accuracy = mbg__json_member(item->json, "accuracy");
  const bool automatic = step && step->kind == MBG__JSON_STRING && !strcmp(step->text, "auto");
  int err = MBG_OK;
  if (step || mbg__json_member(item->json, "tolerance")) {
    run->accuracy = 0;
  }
  if (accuracy && step && !automatic) {
    return mbg__item_bad_key(item, accuracy, "give a 'step' or an 'accuracy', for which the step is found, not both");
  }
  MBG_TRY(run_number(item, "accuracy", false, &run->accuracy));
  if (accuracy && !(run->accuracy >= 1e-12 && run->accuracy < 1)) {
    return mbg__item_bad(item, accuracy, "accuracy must be at least 1e-12 and below 1, is %g", run->accuracy);
  }
  if (automatic || accuracy) {
    run->step = run->tolerance = 0;
    run->accuracy = accuracy ? run->accuracy : accuracy_preset;
    return MBG_OK;
  }
  MBG_TRY(run_number(item, "step", false, &run->step));
done:
  return err;
}

int mbg__item_run(mbg__item *item, mbg__run *run) {
  int err = MBG_OK;
  clear_steps(item, run);
  MBG_TRY(run_words(item, run));
  MBG_TRY(run_number(item, "start", true, &run->start));
  MBG_TRY(run_number(item, "end", true, &run->end));
  MBG_TRY(run_step(item, run));
  MBG_TRY(run_number(item, "tolerance", false, &run->tolerance));
  MBG_TRY(run_number(item, "relative_tolerance", false, &run->relative_tolerance));
  MBG_TRY(run_number(item, "absolute_tolerance", false, &run->absolute_tolerance));
  MBG_TRY(run_stabilization(item, run));
  MBG_TRY(run_fraction(item, "rho_inf", 1, &run->rho_inf));
  MBG_TRY(run_fraction(item, "alpha_f", 1.0 / 3, &run->alpha_f));
  MBG_TRY(run_kappa(item, run));
  MBG_TRY(run_penalties(item, run));
  MBG_TRY(run_index(item, run));
  MBG_TRY(run_number(item, "memory", false, &run->memory));
  MBG_TRY(run_breaks(item, run));
  if (mbg__json_member(item->json, "max_events")) {
    MBG_TRY(mbg__item_count(item, mbg__json_member(item->json, "max_events"), "max_events", &run->max_events));
  }
  MBG_TRY(check_run(item, run));
  warn_damping(item, run);
done:
  return err;
}

int mbg__load_run(mbg__loader *L) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_RUN};
  mbg__source *source = L->sources.at[0];
  const mbg__json *json = mbg__json_member(source->root, "run");
  mbg__item item;
  bool yes;
  L->model->run = (mbg__run){.end = NAN, .rho_inf = NAN, .alpha_f = NAN, .index = 3, .max_events = 1000};
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_make(L, source, json, "run", &item));
  MBG_TRY(mbg__item_object(&item, json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(&item, json, keys, 1, NULL, 0));
  MBG_TRY(mbg__item_run(&item, &L->model->run));
done:
  return err;
}
