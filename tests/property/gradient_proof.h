/* Gradients of whole runs, start included, are exact: equal to the complex twin's, direct equal to adjoint, Taylor
   slope 2. On every model of the gallery and on random models (trees and loops, all joints, forces and motions). A
   failing seed is repeated with MBG_SEED=number; MBG_TEXT=model.json keeps its model.

   Tolerances: twin 1e-9 and direct against adjoint 1e-10, relative as in theory 0, section 11. Complex step has no
   truncation error; what is left is rounding. That of an index-3 step is eps/(beta h^2) in accelerations and reactions,
   times the condition of the model, and it is seen: in the difference of a criterion's value in the twin (the same
   formulas with another rounding) and in the library, and in the Taylor remainders at eps = 1e-8 and below. Derivatives
   are more sensitive: 1e4 times that is allowed, or ten times what the gradient itself changes by when parameters
   change in their last digits, for few. Steps below 0.01, which stiff and light special models take, add 2e4 eps/h^2:
   4e-8 at 0.01 s, 4e-4 at 1e-4 s (masses differ by 1e6); there one decade of a Taylor test must stand out. */
#ifndef PROPERTY_GRADIENT_PROOF_H
#define PROPERTY_GRADIENT_PROOF_H

#include "property/gradient_case.h"
#include "support/random_criteria.h"
#include "support/random_model.h"

#include <dirent.h>
#include <float.h>
#include <stdio.h>
#include <unistd.h>

/* how many random models, and every how many-th model of the gallery, a short run takes */
#ifndef PROOF_RANDOM
#define PROOF_RANDOM 30
#define PROOF_GALLERY 1
#endif

/* formulations that the models are shared out to, in turn */
static const char *const *formulations;
static int nformulation;

static const double tol_twin = 1e-9, tol_direct = 1e-10, tol_slope = 1.95, tol_decades = 3 - 1e-9;

/* worst of all, for the report; how many Taylor tests were judged, had nothing to see, had too few points above
   rounding; models whose simulation failed, or whose rounding is larger than the tolerance */
static double worst_twin, worst_direct, worst_slope = 2, least_decades = 99;
static char worst_name[2][80];
static int judged, flat, short_, skipped, noisy, kinked;

/* Smallest variation that counts: random models are made of numbers of order 1, so that criteria which vary by less
   than this are rounding, or nearly. 0 for the gallery. */
static double unit;

/* one model: gradients (nc x np), proofs and rounding of the values relative to their size (nc) */
typedef struct {
  gradient_case *c;
  const char *name;
  bool special;
  double *direct, *adjoint, *exact, *noise, *size;
  mbg_proof *proofs;
} trial;

static void note(double value, double *worst, char *name, const char *what) {
  if (!(value <= *worst)) {
    *worst = value;
    snprintf(name, sizeof worst_name[0], "%s", what);
  }
}

/* ---------------------------------------------------------------------- rounding */

/* size: |psi| + sum |p g|, what a criterion is made of; noise relative to it. False: the twin does not run. */
static bool measure_noise(trial *x) {
  const gradient_case *c = x->c;
  char words[600] = "";
  double *value = calloc(2 * (size_t)c->nc + 1, sizeof *value);
  x->exact = gradient_case_twin_or(c, value, words, sizeof words);
  if (*words) {
    print_message("%s: skipped: %s\n", x->name, words);
    skipped++;
    free(value);
    return false;
  }
  for (int k = 0; k < c->nc; k++) {
    x->size[k] = fabs(x->proofs[k].value) + unit;
    for (int i = 0; i < c->np; i++) {
      x->size[k] += fabs(c->p[i] * x->exact[k * c->np + i]);
    }
    double off = fmax(fabs(value[k] - x->proofs[k].value), fabs(value[c->nc + k] - x->proofs[k].value));
    for (int i = MBG_TAYLOR_POINTS - 4; i < MBG_TAYLOR_POINTS; i++) {
      off = fmax(off, x->proofs[k].taylor[i].remainder);
    }
    x->noise[k] = off == 0 ? 0 : off / x->size[k];
  }
  free(value);
  return true;
}

/* ---------------------------------------------------------------------- gradients */

/* how much the adjoint gradient of a criterion changes when the last digits of all parameters do: its rounding, seen
   directly */
static double gradient_noise(const trial *x, int k) {
  gradient_case *c = x->c;
  const int at = k * c->np;
  double *p = malloc(((size_t)c->np + 1) * sizeof *p), most = 0;
  support_rng rng = support_rng_make(3);
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < c->np; i++) {
      p[i] = c->p[i] * (1 + support_uniform(&rng, -1e-14, 1e-14));
    }
    gradient_case_check(c, mbg_run_set_parameters(c->ctx, c->run, p), "parameters");
    gradient_case_simulate(c);
    double *g = gradient_case_gradient(c, MBG_METHOD_ADJOINT);
    most = fmax(most, gradient_difference(c->np, c->p, g + at, x->adjoint + at, unit));
    free(g);
  }
  gradient_case_check(c, mbg_run_set_parameters(c->ctx, c->run, c->p), "parameters");
  gradient_case_simulate(c);
  free(p);
  return most;
}

/* rounding of accelerations and reactions at the step of the run, relative to the size of a criterion */
static double step_noise(const trial *x) {
  const double h = x->c->options.step;
  return x->special && h > 0 ? 2e4 * DBL_EPSILON / (h * h) : 0;
}

static void compare(trial *x, const char *what, const double *a, const double *b, double tol, double *worst, int k) {
  const gradient_case *c = x->c;
  const double off = gradient_difference(c->np, c->p, a + k * c->np, b + k * c->np, unit);
  if (off > tol && (off <= fmax(1e4 * x->noise[k], step_noise(x)) || off <= 10 * gradient_noise(x, k))) {
    /* a criterion that is 0 up to rounding of lengths of about 1 m, since nothing disturbs the mechanism yet (a bicycle
       before its push), has no digits to compare */
    noisy += x->size[k] > 1e-12;
    return;
  }
  note(off, worst, worst_name[worst == &worst_direct], x->name);
  if (!(off <= tol)) {
    fail_msg("%s: %s: gradients of '%s' differ by %.2e (rounding of its value: %.1e)", x->name, what,
             c->m->criteria[k].name, off, x->noise[k]);
  }
}

/* ---------------------------------------------------------------------- Taylor */

/* mean slope of the remainders from first to last, in logarithms */
static double slope_of(const mbg_proof *q, int first, int last) {
  const mbg_taylor_point *a = &q->taylor[first], *b = &q->taylor[last];
  return log(a->remainder / b->remainder) / log(a->eps / b->eps);
}

/* The widest stretch of points above `floor`, at least `least` decades, whose slope is 1.95 or more: decades, 0 when
   there is none. A remainder may fall faster where its second derivative happens to be small, or change its sign on the
   way: the window of the proof, in which every piece has a slope near 2, counts too, but is not asked for. */
static double taylor_window(const mbg_proof *q, double least, double floor, double *slope) {
  const bool proved = q->taylor_slope >= tol_slope && q->taylor_decades >= least;
  double widest = proved ? q->taylor_decades : 0;
  *slope = proved ? q->taylor_slope : 2;
  for (int first = 0; first < MBG_TAYLOR_POINTS; first++) {
    for (int last = first; last < MBG_TAYLOR_POINTS && !(q->taylor[last].remainder <= floor); last++) {
      const double decades = log10(q->taylor[first].eps / q->taylor[last].eps);
      const double s = decades >= least ? slope_of(q, first, last) : 0; /* NaN: a run there failed */
      if (s >= tol_slope && decades > widest) {
        widest = decades;
        *slope = s;
      }
    }
  }
  return widest;
}

/* rounding (absolute) leaves fewer than two decades below eps = 0.01: a quadratic remainder is rounding at 1e-4 */
static bool crowded(const mbg_proof *q, double rounding) {
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
    if (q->taylor[i].eps < 0.0101) {
      return q->taylor[i].remainder < 1e4 * rounding;
    }
  }
  return false;
}

/* A start in a nearly singular position: the remainder is quadratic in the last decade of steps and not before. */
static bool last_decade(const mbg_proof *q, double floor) {
  const int last = MBG_TAYLOR_POINTS - 1;
  for (int i = 0; i < last; i++) {
    if (q->taylor[i].eps < 1.01 * 10 * q->taylor[last].eps) {
      return slope_of(q, i, last) >= tol_slope && q->taylor[last].remainder > floor;
    }
  }
  return false;
}

/* nothing to see: the remainder is rounding everywhere, because the criterion hardly varies or is linear */
static bool is_flat(const mbg_proof *q, double floor) {
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
    if (q->taylor[i].eps < 0.0101 && q->taylor[i].remainder > floor) {
      return false;
    }
  }
  return true;
}

/* A special model may stand at a kink, or so near to one or to a jump (half a turn) that no step sees it smooth: its
   gradient is exact for the steps made, since adjoint and twin agree, and few such criteria may be. */
static bool at_kink(const trial *x) {
  kinked += x->special;
  return x->special;
}

/* below it remainders are rounding: what is left of them at the smallest steps, where nothing else is left, tells how
   much that is; never more than 2e-14 of the criterion's size */
static double rounding_floor(const mbg_proof *q, double size) {
  double most = 0;
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
    most = q->taylor[i].eps < 1.01e-7 ? fmax(most, q->taylor[i].remainder) : most;
  }
  return most > 0 ? fmin(2e-14 * size, 20 * most) : 2e-14 * size;
}

static void check_taylor(const trial *x, int k) {
  const mbg_proof *q = &x->proofs[k];
  const double floor = rounding_floor(q, x->size[k]), noise = 2e-14 * x->size[k] + 10 * x->noise[k] * x->size[k];
  double slope;
  const double decades = taylor_window(q, tol_decades, floor, &slope);
  if (decades > 0) {
    judged++;
    worst_slope = fmin(worst_slope, slope);
    least_decades = fmin(least_decades, decades);
  } else if (is_flat(q, fmax(1e2 * noise, 1e-6 * unit))) {
    flat++;
  } else if (taylor_window(q, 2 - 1e-9, floor, &slope) > 0 ||
             (taylor_window(q, 1 - 1e-9, floor, &slope) > 0 &&
              (step_noise(x) > 1e-7 || slope > 2.9 || crowded(q, x->noise[k] * x->size[k]))) ||
             last_decade(q, floor)) {
    /* large steps are not quadratic yet, small ones are rounding: two decades in between, or one where rounding leaves
       no more; without a second derivative the remainder falls with the third power, and is rounding sooner */
    short_++;
  } else if (!at_kink(x)) {
    for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
      print_message("%10.2e %12.4e %12.4e\n", q->taylor[i].eps, q->taylor[i].difference, q->taylor[i].remainder);
    }
    fail_msg("%s: no Taylor slope of %.2f over %.0f decades for '%s'", x->name, tol_slope, tol_decades,
             x->c->m->criteria[k].name);
  }
}

/* ---------------------------------------------------------------------- one model */

static void check_case(gradient_case *c, const char *name, bool special) {
  const size_t nc = (size_t)c->nc + 1;
  trial x = {.c = c, .name = name, .special = special, .adjoint = gradient_case_matrix(c)};
  x.noise = calloc(nc, sizeof(double));
  x.size = calloc(nc, sizeof(double));
  x.proofs = calloc(nc, sizeof(mbg_proof));
  gradient_case_check(c, mbg_run_prove(c->ctx, c->run), name);
  for (int k = 0; k < c->nc; k++) {
    x.proofs[k] = *mbg_run_get_proof(c->run, k);
    memcpy(x.adjoint + k * c->np, x.proofs[k].gradient, (size_t)c->np * sizeof(double));
  }
  x.direct = gradient_case_gradient(c, MBG_METHOD_DIRECT);
  const bool exact = measure_noise(&x);
  for (int k = 0; k < c->nc && exact; k++) {
    compare(&x, "adjoint and twin", x.adjoint, x.exact, tol_twin, &worst_twin, k);
    compare(&x, "direct and adjoint", x.direct, x.adjoint, tol_direct, &worst_direct, k);
    /* a path stands for its largest value, whose node may change: no Taylor test */
    if (c->m->criteria[k].kind != MBG__PATH) {
      check_taylor(&x, k);
    }
  }
  double *all[] = {x.direct, x.adjoint, x.exact, x.noise, x.size};
  for (int i = 0; i < MBG_COUNT(all); i++) {
    free(all[i]);
  }
  free(x.proofs);
}

/* ---------------------------------------------------------------------- run section */

static const char *run_keys = ""; /* more keys of the run sections, "\"index\": 2, " */

/* takes the text and returns one with run_keys */
static char *with_run_keys(char *text) {
  char *at = strstr(text, "\"run\": {");
  assert_non_null(at);
  at += strlen("\"run\": {");
  char *out = malloc(strlen(text) + strlen(run_keys) + 1);
  assert_non_null(out);
  sprintf(out, "%.*s%s%s", (int)(at - text), text, run_keys, at);
  free(text);
  return out;
}

/* ---------------------------------------------------------------------- gallery */

static bool takes_flexible(const char *key) {
  return strcmp(key, "lie") == 0 || strcmp(key, "dae") == 0 || strcmp(key, "ali3p") == 0;
}

/* ---------------------------------------------------------------------- directions */

/* derivatives of all criteria (nc) in one direction (np), by complex step of the whole run */
static void twin_along(const gradient_case *c, const double *d, double *out) {
  double _Complex *p = malloc(((size_t)c->np + 1) * sizeof *p), *psi = malloc(((size_t)c->nc + 1) * sizeof *psi);
  twin_run *t;
  gradient_twin_check(t, twin_run_create(c->file, c->text, &c->options, &t));
  for (int j = 0; j < c->np; j++) {
    p[j] = twin_step(c->p[j], d[j]);
  }
  gradient_twin_check(t, twin_run_criteria(t, p, psi));
  for (int k = 0; k < c->nc; k++) {
    out[k] = twin_derivative(psi[k]);
  }
  twin_run_destroy(t);
  free(p);
  free(psi);
}

/* |g.d - exact| relative to its parts */
static double along(int np, const double *g, const double *d, double exact) {
  double sum = 0, size = unit;
  for (int j = 0; j < np; j++) {
    sum += g[j] * d[j];
    size += fabs(g[j] * d[j]);
  }
  return sum == exact ? 0 : fabs(sum - exact) / size;
}

/* Thousands of parameters: the adjoint against the twin along two directions. */
static void check_many(gradient_case *c, const char *name) {
  double *d = calloc((size_t)c->np + 1, sizeof *d), *exact = calloc((size_t)c->nc + 1, sizeof *exact);
  support_rng rng = support_rng_make(8);
  gradient_case_simulate(c);
  double *g = gradient_case_gradient(c, MBG_METHOD_ADJOINT);
  for (int round = 0; round < 2; round++) {
    for (int j = 0; j < c->np; j++) {
      d[j] = c->p[j] * support_uniform(&rng, -1, 1);
    }
    twin_along(c, d, exact);
    for (int k = 0; k < c->nc; k++) {
      const double off = along(c->np, g + k * c->np, d, exact[k]);
      worst_twin = fmax(worst_twin, off);
      if (!(off <= tol_twin)) {
        fail_msg("%s, '%s': adjoint and twin differ by %.2e along a direction", name, c->m->criteria[k].name, off);
      }
    }
  }
  free(g);
  free(d);
  free(exact);
}

static char *gallery_text(const char *path) {
  char file[320];
  snprintf(file, sizeof file, "%s/model.json", path);
  return *run_keys ? with_run_keys(support_read_file(file, NULL)) : NULL;
}

/* a tenth of the model's run in few steps */
static const char *left_out = ""; /* a gallery model that the test excuses */

/* explicit methods take shorter steps where stiff springs need them */
static void run_stable(gradient_case *c, int steps) {
  for (int quarter = 0; quarter < 5; quarter++) {
    c->options.end = c->m->run.start + steps * c->options.step;
    gradient_case_run(c);
    if (mbg_run_simulate(c->ctx, c->run) == MBG_OK || !strstr(mbg_context_error(c->ctx), "stability limit")) {
      return; /* other errors are those of the test */
    }
    c->options.step /= 4;
  }
}

static void check_gallery_model(const char *name, int index) {
  gradient_case c;
  char path[300];
  snprintf(path, sizeof path, "%s/%s", MBG_GALLERY_DIR, name);
  char *text = gallery_text(path);
  gradient_case_open(&c, path, text);
  c.options.formulation = formulations[index % nformulation];
  const bool flexible = c.m->nbeam > 0 || c.m->nmodal > 0, many = c.np > 200;
  const bool excused = (flexible && !takes_flexible(c.options.formulation)) || !strcmp(name, left_out);
  if (excused || (many && !support_rounds(0, 1))) {
    gradient_case_close(&c);
    free(text);
    return;
  }
  /* the beginning of it where there are many parameters */
  const int all = support_rounds(30, 60), steps = many ? 2 : c.np > 20 && !support_rounds(0, 1) ? 12 : all;
  /* two steps of a tenth of the run leave a model at rest there; such criteria are rounding */
  c.options.step = many ? c.m->run.step : 0.1 * (c.m->run.end - c.m->run.start) / all;
  run_stable(&c, steps);
  if (many) {
    check_many(&c, name);
  } else {
    check_case(&c, name, false);
  }
  gradient_case_close(&c);
  free(text);
}

/* models that a variant of a formulation refuses: rows of rates (PROOF_NO_RATES) */
static bool proof_takes(const char *text) {
#ifdef PROOF_NO_RATES
  return !strstr(text, "\"rolling-") && !strstr(text, "\"knife-edge\"") && !strstr(text, "\"type\": \"rates\"");
#else
  return text != NULL;
#endif
}

static void test_gallery(void **state) {
  (void)state;
  if (getenv("MBG_SEED")) {
    return;
  }
  struct dirent **list;
  const int n = scandir(MBG_GALLERY_DIR, &list, NULL, alphasort);
  /* sanitizers look for other faults than wrong numbers: a few models will do */
  const int stride = support_sanitized() ? 4 * PROOF_GALLERY : support_rounds(PROOF_GALLERY, 1);
  int models = 0;
  for (int i = 0; i < n; i++) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, list[i]->d_name);
    char *text = access(path, R_OK) == 0 ? support_read_file(path, NULL) : NULL;
    /* models with events have a proof of their own (gradient_events_test.c, reference/events_test.c) */
    if (text && !strstr(text, "\"events\"") && proof_takes(text)) {
      if (models % stride == 0) {
        check_gallery_model(list[i]->d_name, models);
      }
      models++;
    }
    free(text);
    free(list[i]);
  }
  free(list);
  assert_true(models >= 18);
}

/* ---------------------------------------------------------------------- random models */

/* seeds from here on are those of special models */
#define PROOF_SPECIAL 1000000u

static bool with_beams, with_modal;  /* random models have beams, modal bodies */
static bool with_states, with_stiff; /* random models have states, stiff ones among them */
static bool with_curves;             /* random models have nonlinear couplings */
static bool with_rolling;            /* random models have wheels, balls and blades */
static bool with_mixed;              /* ... and joints on curves, tendons, gears, in turn with all others */
static random_late with_late;        /* ... and such whose rates use accelerations and the like */

static double random_steps = 15; /* how far random models run */
static double beam_step = 0.01;  /* with beams, which limit explicit steps */

/* Text of a random model with its step and end; stiff ones take small steps, which explicit integrators need. */
static char *random_text(uint64_t number, double *step, double *end) {
  const bool special = number >= PROOF_SPECIAL;
  random_model_options opt = special ? random_model_special(number - PROOF_SPECIAL) : random_model_mix(number);
  opt.beams = with_beams;
  opt.modal = with_modal;
  opt.states = with_states;
  opt.stiff = with_stiff;
  opt.curves = with_curves;
  opt.rolling = with_rolling;
  opt.late = with_late;
  if (with_mixed) {
    random_model_rows(number, &opt);
  }
  *step = with_modal && opt.special & RANDOM_STIFF ? 1e-4 : opt.special & RANDOM_LIGHT && opt.forces ? 2.5e-4 : 0.01;
  *step = with_beams ? fmin(*step, beam_step) : *step;
  *step = with_mixed && opt.beams ? fmin(*step, 5e-4) : *step; /* explicit steps are stable */
  *end = random_steps * *step;
  char *text = random_model_with_criteria(number % PROOF_SPECIAL, &opt, *end, *step);
  return *run_keys ? with_run_keys(text) : text;
}

/* does another formulation run the model that this one refuses? */
static bool lie_runs(const gradient_case *c) {
  gradient_case other;
  gradient_case_open(&other, NULL, c->text);
  other.options = c->options;
  other.options.formulation = "lie";
  double *g = gradient_case_matrix(&other);
  const bool runs = mbg_run_create(other.ctx, other.m, &other.options, &other.run) == MBG_OK &&
                    mbg_run_simulate(other.ctx, other.run) == MBG_OK &&
                    mbg_run_gradient(other.ctx, other.run, MBG_METHOD_ADJOINT, g, NULL) == MBG_OK;
  free(g);
  gradient_case_close(&other);
  return runs;
}

/* Newton may fail on a few random models; a few have redundant rows that a parameter would contradict */
static bool runs(gradient_case *c, const char *name) {
  double *g = gradient_case_matrix(c);
  int err = mbg_run_simulate(c->ctx, c->run);
  err = err < 0 ? err : mbg_run_gradient(c->ctx, c->run, MBG_METHOD_ADJOINT, g, NULL);
  if (err < 0 && !gradient_case_excused(mbg_context_error(c->ctx)) && lie_runs(c)) {
    fail_msg("%s: 'lie' runs it, but: %s", name, mbg_context_error(c->ctx));
  }
  if (err < 0) {
    print_message("%s: skipped: %s\n", name, mbg_context_error(c->ctx));
    mbg_context_clear(c->ctx);
    skipped++;
  }
  free(g);
  return err == MBG_OK;
}

/* the seed that is repeated, or none */
static uint64_t asked(void) { return getenv("MBG_SEED") ? strtoull(getenv("MBG_SEED"), NULL, 10) : UINT64_MAX; }

static void keep_text(uint64_t number, const char *text) {
  if (getenv("MBG_TEXT") && asked() == number) {
    support_write_file(getenv("MBG_TEXT"), text, strlen(text));
  }
}

/* Shares of models or criteria; one seed, a part, or the few that sanitizers run, have none. */
static void few(int count, int most) {
  assert_true(support_sanitized() || support_in_parts() || asked() != UINT64_MAX || count <= most);
}

static void check_random(uint64_t number) {
  gradient_case c;
  char name[40];
  double step, end;
  const double unit_before = unit;
  char *text = random_text(number, &step, &end);
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)number);
  keep_text(number, text);
  gradient_case_open(&c, NULL, text);
  c.options.formulation = formulations[number / RANDOM_KINDS % (uint64_t)nformulation];
  c.options.end = end;
  c.options.step = step;
  unit *= step / 0.01;
  gradient_case_run(&c);
  if (runs(&c, name)) {
    check_case(&c, name, number >= PROOF_SPECIAL);
  }
  unit = unit_before;
  gradient_case_close(&c);
  free(text);
}

/* seeds from first on, every stride-th */
static void check_seeds(uint64_t first, int stride, int rounds) {
  const uint64_t one = asked();
  unit = 1e-3;
  for (int i = 0; i < rounds && one == UINT64_MAX; i++) {
    if (support_part(i)) {
      check_random(first + (uint64_t)(i * stride));
    }
  }
  const uint64_t range = first - first % 1000;
  if (one >= range && one < range + 2000) {
    check_random(one);
  }
}

static void test_random(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 2 : support_rounds(PROOF_RANDOM, 300);
  check_seeds(0, 1, rounds);
  /* few models may fail at the step chosen, few criteria be too noisy to be judged */
  few(skipped, (rounds + 19) / 20);
  few(noisy, judged / 20);
  few(short_, judged / 20);
}

/* the same on special models, of which more cannot be run: redundant rows that a parameter would contradict, singular
   positions */
static inline void test_special_models(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 2 : support_rounds(2 * PROOF_RANDOM / 5, 300), before = skipped;
  check_seeds(PROOF_SPECIAL + 31, 1, rounds);
  few(skipped - before, (rounds + 3) / 4);
  few(kinked, judged / 50);
}

static int report(void **state) {
  (void)state;
  if (support_rounds(0, 1)) {
    print_message("twin %.1e (%s), direct against adjoint %.1e (%s)\n", worst_twin, worst_name[0], worst_direct,
                  worst_name[1]);
    print_message("Taylor: %d with slope >= %.3f over >= %.1f decades, %d flat, %d with too few points\n", judged,
                  worst_slope, least_decades, flat, short_);
    print_message("%d models skipped, %d comparisons within rounding\n", skipped, noisy);
  }
  return 0;
}

/* the same on models with beams */
static inline void test_beams(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 2 : support_rounds(8, 100), before = skipped;
  with_beams = true;
  check_seeds(7000, RANDOM_KINDS + 1, rounds);
  few(skipped - before, rounds / 8);
  check_seeds(PROOF_SPECIAL + 7000, RANDOM_KINDS + 1, support_rounds(2, 300));
  few(noisy, judged / 20);
}

/* the same on models with modal bodies */
static inline void test_modal(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 2 : support_rounds(7, 150), before = skipped;
  with_modal = true;
  check_seeds(9000, RANDOM_KINDS + 1, rounds);
  few(skipped - before, rounds / 8);
  check_seeds(PROOF_SPECIAL + 9080, RANDOM_KINDS + 1, support_rounds(nformulation, 300));
  few(noisy, judged / 20);
}

/* the same on models with states; explicit formulations without stiff ones */
static inline void test_states(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 2 : support_rounds(12, 300);
  unit = 1e-3;
  with_states = true;
  check_seeds(11000, RANDOM_KINDS + 1, rounds);
  few(skipped, rounds / 8);
  few(noisy, judged / 20);
}

/* the same on models with nonlinear couplings */
static inline void test_curves(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 2 : support_rounds(16, 300);
  unit = 1e-3;
  with_curves = true;
  check_seeds(16000, RANDOM_KINDS + 1, rounds);
  few(skipped, rounds / 8);
  few(noisy, judged / 20);
}

/* the same on models with rows on rates */
static inline void test_rolling(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 2 : support_rounds(12, 300);
  unit = 1e-3;
  with_curves = with_rolling = true;
  check_seeds(18000, RANDOM_KINDS + 1, rounds);
  few(skipped, rounds / 8);
  few(noisy, judged / 20);
}

/* the same on models that mix rows on rates, joints on curves and surfaces, tendons and couplings with all others */
static inline void test_mixed(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 2 : support_rounds(10, 300);
  unit = 1e-3;
  with_mixed = true;
  check_seeds(20000, RANDOM_KINDS + 1, rounds);
  few(skipped, rounds / 8);
  few(noisy, judged / 20);
  few(short_, judged / 20);
}

/* the same with late rates */
static inline void test_late(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 2 : support_rounds(9, 300), before = skipped;
  unit = 1e-3;
  with_states = true;
  check_seeds(13000, RANDOM_KINDS + 1, rounds);
  few(skipped - before, rounds / 8);
  few(noisy, judged / 20);
}

static inline int gradient_proof(int count, const char *const *keys) {
  formulations = keys;
  nformulation = count;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gallery),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_special_models),
  };
  return cmocka_run_group_tests(tests, NULL, report);
}

#endif
