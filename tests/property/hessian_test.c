/* Second derivatives of random models (theory 9, section 11): symmetric, with a Taylor remainder of slope 3, equal to
   differences of exact gradients; every formulation in turn. Laws of random models with kinks in the motion are left
   out by their warning. */
#include "mbgrad/hessian.h"
#include "property/gradient_case.h"
#include "support/random_criteria.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

static const char *const formulations[] = {"lie", "dae", "ali3p", "qr", "dca"};

/* Models by what was seen: slope 3 over two decades; remainders too near rounding for that, differences of gradients
   instead; kinks; refused. */
typedef struct {
  int models, proven, near_rounding, kinked, refused, wrong;
  double asymmetry;
} tally;

static bool has_warning(const gradient_case *c, const char *words) {
  for (int i = 0; i < mbg_context_message_count(c->ctx); i++) {
    if (strstr(mbg_context_message(c->ctx, i), words)) {
      return true;
    }
  }
  return false;
}

enum { WRONG, NEAR_ROUNDING, PROVEN };

/* PROVEN: symmetric to 1e-11, or to ten times the rounding of products; slope 3 over two decades; and differences of
   gradients of slope 2 over two decades, or equal to 1e-6: what is left of digits where accelerations of short steps
   are measured. NEAR_ROUNDING: the same differences, or equal to 1e-8, without slope 3: third derivatives are too
   small, or change too fast, for two decades of remainders above rounding. */
static int judge(const mbg_hessian_proof *q) {
  const bool falls = fabs(q->slope - 3) <= 0.05 && q->decades >= 1.99;
  const bool differences = fabs(q->difference_slope - 2) <= 0.05 && q->difference_decades >= 1.99;
  if (!(differences || q->best_difference <= (falls ? 1e-6 : 1e-8)) ||
      !(q->asymmetry <= fmax(1e-11, 10 * q->rounding))) {
    return WRONG;
  }
  return falls ? PROVEN : NEAR_ROUNDING;
}

static void report(const gradient_case *c, int k, const char *name, const mbg_hessian_proof *q, int result) {
  static const char *const words[] = {"NOT PROVEN", "near rounding", "proven"};
  print_message("%s, %s, criterion %s: slope %.3f over %.1f decades, differences %.3f over %.1f, best %.1e, "
                "asymmetry %.1e, rounding %.1e: %s\n",
                name, mbg_run_formulation(c->run), mbg_model_criterion_name(c->m, k), q->slope, q->decades,
                q->difference_slope, q->difference_decades, q->best_difference, q->asymmetry, q->rounding,
                words[result]);
}

/* The best of the first three criteria, up to the one that is proven; negative: an error. A criterion that is wrong
   makes the model so. */
static int best_of(gradient_case *c, const char *name, double *asymmetry) {
  int best = NEAR_ROUNDING;
  for (int k = 0, tried = 0; k < c->nc && tried < 3; k++) {
    mbg_hessian_proof q;
    if (c->m->criteria[k].kind == MBG__PATH) {
      continue;
    }
    const int err = mbg_run_prove_hessian(c->ctx, c->run, k, &q);
    if (err < 0) {
      return err;
    }
    const int result = judge(&q);
    report(c, k, name, &q, result);
    *asymmetry = fmax(*asymmetry, q.rounding > 0 ? 0 : q.asymmetry);
    if (result != NEAR_ROUNDING) {
      return result;
    }
    tried++;
  }
  return best;
}

/* Laws with kinks in the motion may be proven, where no step of the proof crosses one, but need not. */
static void prove(gradient_case *c, const char *name, tally *t) {
  const int result = best_of(c, name, &t->asymmetry);
  t->models++;
  if (result < 0 && !gradient_case_excused(mbg_context_error(c->ctx))) {
    fail_msg("%s: %s", name, mbg_context_error(c->ctx));
  } else if (result < 0) {
    t->refused++;
  } else if (result != PROVEN && has_warning(c, "has a kink")) {
    t->kinked++;
  } else {
    t->proven += result == PROVEN;
    t->near_rounding += result == NEAR_ROUNDING;
    t->wrong += result == WRONG;
  }
}

static void summary(const char *what, const tally *t) {
  print_message(
      "%s, %d models: slope 3 over two decades %d, near rounding, by differences %d, kinks %d, refused %d; not "
      "proven %d; largest asymmetry %.1e\n",
      what, t->models, t->proven, t->near_rounding, t->kinked, t->refused, t->wrong, t->asymmetry);
  assert_int_equal(t->wrong, 0);
}

/* ---------------------------------------------------------------------- random models */

static void prove_random(int seed, tally *t) {
  random_model_options options = random_model_mix((uint64_t)seed);
  const double step = 0.01, end = 0.15;
  gradient_case c;
  char name[40];
  options.states = seed % 3 == 0;
  options.modal = seed % 4 == 1;
  char *text = random_model_with_criteria((uint64_t)seed, &options, end, step);
  gradient_case_open(&c, NULL, text);
  c.options.formulation = formulations[seed % 5];
  c.options.step = step;
  c.options.end = end;
  c.options.all_signals = 0;
  snprintf(name, sizeof name, "seed %d", seed);
  if (mbg_run_create(c.ctx, c.m, &c.options, &c.run) == MBG_OK && mbg_run_simulate(c.ctx, c.run) == MBG_OK) {
    prove(&c, name, t);
  } else {
    t->models++;
    t->refused++;
  }
  gradient_case_close(&c);
  free(text);
}

static void test_random(void **state) {
  (void)state;
  tally t = {0};
  const int count = support_rounds(4, 180);
  const char *one = getenv("MBG_SEED");
  for (int seed = one ? atoi(one) : 0; seed < (one ? atoi(one) + 1 : count); seed++) {
    if (one || support_part(seed)) {
      prove_random(seed, &t);
    }
  }
  summary("random", &t);
  if (!one && !support_in_parts()) {
    assert_true(t.proven > 0 && 4 * t.refused <= count);
    assert_true(t.proven >= 100 || count < 180);
  }
}

/* ---------------------------------------------------------------------- gallery */

/* across events second derivatives are refused by name */
static void refuse_events(gradient_case *c, const char *name) {
  mbg_hessian *h;
  if (mbg_hessian_create(c->ctx, c->run, &h) != MBG_ERROR_UNSUPPORTED ||
      !strstr(mbg_context_error(c->ctx), "second derivatives across events")) {
    fail_msg("%s: %s", name, mbg_context_error(c->ctx));
  }
}

/* A model in its own formulation, steps and parameters, over a part of its run. */
static void prove_part(const char *name, double part, tally *t) {
  gradient_case c;
  char path[300];
  snprintf(path, sizeof path, "%s/%s", MBG_GALLERY_DIR, name);
  gradient_case_open(&c, path, NULL);
  c.options.end = c.m->run.start + part * (c.m->run.end - c.m->run.start);
  c.options.all_signals = 0;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  if (c.m->nevent > 0) {
    refuse_events(&c, name);
  } else if (c.nc > 0) {
    const int before = t->refused;
    prove(&c, name, t);
    if (t->refused > before) {
      fail_msg("%s: %s", name, mbg_context_error(c.ctx));
    }
  }
  gradient_case_close(&c);
}

/* the part of the run of a model that has so many steps, or a tenth of it under error control */
static double part_of(const char *name, int steps) {
  gradient_case c;
  char path[300];
  snprintf(path, sizeof path, "%s/%s", MBG_GALLERY_DIR, name);
  gradient_case_open(&c, path, NULL);
  const double all = c.m->run.end - c.m->run.start, step = c.m->run.step;
  const double part = step > 0 ? fmin(1, (c.np > 200 ? 10 : steps) * step / all) : 0.1;
  gradient_case_close(&c);
  return part;
}

/* The beginning; the whole run of models of which that shows too little: criteria that are small yet, near rounding (in
   short runs of the test only where the beginning is not proven).
   Thousands of parameters: the beginning alone. */
static void prove_gallery_model(const char *name, int steps, bool whole, tally *t) {
  const tally before = *t;
  const double part = part_of(name, steps);
  prove_part(name, part, t);
  const bool little = whole ? t->proven == before.proven : t->wrong > before.wrong;
  if (little && part < 1 && t->models > before.models) {
    *t = before;
    prove_part(name, 1, t);
  }
}

/* every model of the gallery; few in a short run */
static void test_gallery(void **state) {
  (void)state;
  tally t = {0};
  struct dirent **list;
  const char *one = getenv("MBG_GALLERY");
  const int n = scandir(MBG_GALLERY_DIR, &list, NULL, alphasort), stride = one ? 1 : support_rounds(12, 1);
  for (int i = 0, models = 0; i < n; i++) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, list[i]->d_name);
    if (access(path, R_OK) == 0 && (!one || strcmp(one, list[i]->d_name) == 0)) {
      if (models % stride == 0 && support_part(models)) {
        prove_gallery_model(list[i]->d_name, support_rounds(40, 150), support_rounds(0, 1), &t);
      }
      models++;
    }
    free(list[i]);
  }
  free(list);
  summary("gallery", &t);
}

/* ---------------------------------------------------------------------- curves, tendons, contacts, rolling */

/* Elements that random models have seldom or not at all, in the formulations of their models; rates of states by
   reactions in `ali3p`, which has another way for them. */
static void test_elements(void **state) {
  (void)state;
  static const char *const files[] = {"contacts/bowl",  "contacts/cam",   "contacts/ellipses",   "contacts/flat",
                                      "contacts/slot",  "contacts/wire",  "contacts/spline-cam", "contacts/signals",
                                      "curves/tendons", "curves/pulleys", "curves/coupling",     "curves/drive",
                                      "contact/balls",  "contact/shapes", "contact/ball",        "curves/wheel",
                                      "rolling/rates",  "curves/ball",    "curves/sleigh",       "states/friction"};
  tally t = {0};
  for (int i = 0; i < MBG_COUNT(files); i++) {
    const bool late = !strcmp(files[i], "states/friction");
    if (!support_part(i) || (i % 3 != 0 && !late && !support_rounds(0, 1))) {
      continue;
    }
    gradient_case c;
    char path[300];
    snprintf(path, sizeof path, "%s/tests/reference/%s.json", MBG_SOURCE_DIR, files[i]);
    gradient_case_open(&c, path, NULL);
    c.options.formulation = late ? "ali3p" : c.options.formulation;
    const double step = c.m->run.step, all = c.m->run.end - c.m->run.start;
    c.options.step = step;
    c.options.end = c.m->run.start + fmin(all, 60 * step);
    c.options.all_signals = 0;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    prove(&c, files[i], &t);
    gradient_case_close(&c);
  }
  summary("elements", &t);
  assert_int_equal(t.refused, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_gallery),
                                     cmocka_unit_test(test_elements)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
