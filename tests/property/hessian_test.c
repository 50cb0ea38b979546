/* Second derivatives of random models (theory 9, section 11): symmetric, with a Taylor remainder of slope 3, equal to
   differences of exact gradients; every formulation in turn. Laws of random models with kinks in the motion are left
   out by their warning. */
#include "mbgrad/hessian.h"
#include "property/gradient_case.h"
#include "support/random_criteria.h"

#include <stdio.h>

static const char *const formulations[] = {"lie", "dae", "ali3p", "qr", "dca"};

typedef struct {
  int proven, flat, kinked, refused, asymmetric, wrong;
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

/* Slope 3 over two decades; or, where third derivatives are too large or too small for the window above rounding,
   differences with slope 2 over two decades, or to 1e-8. 1: remainder and differences are rounding. */
static int judge(const mbg_hessian_proof *q) {
  const bool falls = fabs(q->slope - 3) <= 0.05 && q->decades >= 1.99;
  const bool differences = fabs(q->difference_slope - 2) <= 0.05 && q->difference_decades >= 1.99;
  if (falls && (differences || q->best_difference <= 1e-8)) {
    return 2;
  }
  return differences || q->best_difference <= 1e-8 ? 1 : 0;
}

static void prove(gradient_case *c, int seed, tally *t) {
  for (int k = 0; k < c->nc; k++) {
    mbg_hessian_proof q;
    if (c->m->criteria[k].kind == MBG__PATH) {
      continue;
    }
    const int err = mbg_run_prove_hessian(c->ctx, c->run, k, &q);
    if (has_warning(c, "has a kink")) {
      t->kinked++;
      return;
    }
    if (err < 0) {
      if (!gradient_case_excused(mbg_context_error(c->ctx))) {
        fail_msg("seed %d: %s", seed, mbg_context_error(c->ctx));
      }
      t->refused++;
      return;
    }
    const int result = judge(&q);
    t->asymmetry = fmax(t->asymmetry, q.asymmetry);
    t->asymmetric += !(q.asymmetry <= 1e-11);
    t->proven += result == 2;
    t->flat += result == 1;
    if (result == 0 || !(q.asymmetry <= 1e-11)) {
      t->wrong++;
      print_message("seed %d, %s, criterion %s: slope %.3f over %.1f decades, differences %.3f over %.1f, best %.1e, "
                    "asymmetry %.1e\n",
                    seed, mbg_run_formulation(c->run), mbg_model_criterion_name(c->m, k), q.slope, q.decades,
                    q.difference_slope, q.difference_decades, q.best_difference, q.asymmetry);
    }
    return; /* one criterion of a model */
  }
}

static void test_random(void **state) {
  (void)state;
  tally t = {0};
  const int count = support_rounds(4, 180);
  for (int seed = 0; seed < count; seed++) {
    if (!support_part(seed)) {
      continue;
    }
    random_model_options options = random_model_mix((uint64_t)seed);
    const double step = 0.01, end = 0.15;
    gradient_case c;
    options.states = seed % 3 == 0;
    options.modal = seed % 4 == 1;
    char *text = random_model_with_criteria((uint64_t)seed, &options, end, step);
    gradient_case_open(&c, NULL, text);
    c.options.formulation = formulations[seed % 5];
    c.options.step = step;
    c.options.end = end;
    c.options.all_signals = 0;
    if (mbg_run_create(c.ctx, c.m, &c.options, &c.run) == MBG_OK && mbg_run_simulate(c.ctx, c.run) == MBG_OK) {
      prove(&c, seed, &t);
    } else {
      t.refused++;
    }
    gradient_case_close(&c);
    free(text);
  }
  print_message("%d models: slope 3 over two decades %d, by differences alone %d, kinks %d, refused %d, not proven %d; "
                "largest asymmetry %.1e\n",
                count, t.proven, t.flat, t.kinked, t.refused, t.wrong, t.asymmetry);
  assert_int_equal(t.wrong, 0);
  assert_true(support_in_parts() || t.proven + t.flat > 0);
  assert_true(4 * t.refused <= count);
}

/* models of the gallery, in their own formulations and steps, over a part of their time */
static void test_gallery(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double end;
  } models[] = {{"overhead-crane", 1},  {"double-pendulum-spring", 0.5},
                {"quarter-car", 0.3},   {"five-bar", 0.5},
                {"crane-pid", 0.5},     {"heavy-top", 0.05},
                {"four-bar", 0.1},      {"spatial-chain", 0.1},
                {"swinging-beam", 0.1}, {"inverted-pendulum", 0.5}};
  tally t = {0};
  const int count = support_rounds(3, MBG_COUNT(models));
  for (int i = 0; i < count; i++) {
    char path[200];
    gradient_case c;
    snprintf(path, sizeof path, "%s/%s", MBG_GALLERY_DIR, models[i].name);
    gradient_case_open(&c, path, NULL);
    c.options.end = models[i].end;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    const int before = t.proven + t.flat + t.kinked;
    prove(&c, i, &t);
    if (t.proven + t.flat + t.kinked == before) {
      fail_msg("%s is not proven", models[i].name);
    }
    gradient_case_close(&c);
  }
  print_message("gallery, %d models: slope 3 over two decades %d, by differences alone %d, kinks %d; largest asymmetry "
                "%.1e\n",
                count, t.proven, t.flat, t.kinked, t.asymmetry);
  assert_int_equal(t.wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_gallery)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
