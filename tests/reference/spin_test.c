/* Bodies that spin, at h W from 0.05 to 2 and under error control, against `qr` (beams: against small steps). Bodies on
   an axle are stepped in world axes and stay accurate: eccentric ones, origins off the axle, welded ones, axles at the
   ends of flexible bodies. What is left ends with an error or a warning, or is right. */
#include "property/gradient_case.h"

#include <stdio.h>

typedef struct {
  const char *name;
  double spin; /* rad/s */
  double most; /* relative error of the first criterion and of its gradient at h W = 1; it falls with the square */
} spinning;

static void open_model(gradient_case *c, char *path, const char *name) {
  sprintf(path, "%s/tests/reference/spin/%s.json", MBG_SOURCE_DIR, name);
  gradient_case_open(c, path, NULL);
}

/* criteria and gradient by qr, or by lie with small steps */
static double *reference(const char *name, bool beams, double *psi) {
  gradient_case c;
  char path[300];
  open_model(&c, path, name);
  c.options.formulation = beams ? "lie" : "qr";
  c.options.step = beams ? 2e-4 : NAN;
  c.options.tolerance = beams ? NAN : 1e-11;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), name);
  double *g = gradient_case_gradient(&c, MBG_METHOD_DIRECT);
  gradient_case_close(&c);
  return g;
}

static bool says(const gradient_case *c, const char *words) {
  for (int i = 0; i < mbg_context_message_count(c->ctx); i++) {
    if (strstr(mbg_context_message(c->ctx, i), words)) {
      return true;
    }
  }
  return false;
}

/* the larger of the relative errors of a value and of its gradient */
static double off(int np, double psi, const double *g, double exact, const double *g_exact) {
  double most = 0, size = 0;
  for (int i = 0; i < np; i++) {
    most = fmax(most, fabs(g[i] - g_exact[i]));
    size = fmax(size, fabs(g_exact[i]));
  }
  return fmax(most / size, fabs(psi - exact) / fabs(exact));
}

static void near_reference(const spinning *s, const char *formulation, double turn, const double *exact,
                           const double *g_exact) {
  gradient_case c;
  char path[300];
  double psi[4];
  open_model(&c, path, s->name);
  c.options.formulation = formulation;
  c.options.step = turn / s->spin;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), s->name);
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  const double error = off(c.np, psi[0], g, exact[0], g_exact);
  if (!(error <= s->most * turn * turn)) {
    fail_msg("%s, %s, h W = %g: error %.2e", s->name, formulation, turn, error);
  }
  assert_false(says(&c, "alternates"));
  free(g);
  if (turn == 0.5) {
    gradient_case_compare(&c, s->name, 1e-10, 1e-9);
  }
  gradient_case_close(&c);
}

/* short: a few; long: every step, all formulations that take the model (stiff: no explicit steps) */
static void check_accurate(const spinning *s, bool beams, bool stiff) {
  static const double turns[] = {0.05, 0.2, 0.5, 1, 2};
  static const char *const keys[] = {"lie", "dae", "ali3p", "dca"};
  const bool all = support_rounds(0, 1);
  double exact[4];
  double *g = reference(s->name, beams, exact);
  for (int i = 0; i < MBG_COUNT(turns); i++) {
    for (int k = 0; k < (beams || stiff ? 2 : 4); k++) {
      if (all || (k < 2 && i == 2 + 2 * k) || (k == 0 && i == 1)) {
        near_reference(s, keys[k], turns[i], exact, g);
      }
    }
  }
  free(g);
}

static void test_axles(void **state) {
  (void)state;
  static const spinning models[] = {{"eccentric", 50, 0.15}, {"off-axle", 50, 0.06}, {"welded", 50, 0.01},
                                    {"wheel", 50, 0.01},     {"gears", 50, 0.03},    {"modal", 50, 0.15},
                                    {"beam", 50, 0.15}};
  for (int i = 0; i < MBG_COUNT(models); i++) {
    check_accurate(&models[i], i == 6, i == 5);
  }
}

/* a text with each `from` replaced; takes the text */
static char *replaced(char *text, const char *from, const char *to) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, from)); at++) {
    count++;
  }
  char *out = malloc(strlen(text) + count * strlen(to) + 1), *end = out;
  const char *rest = text;
  assert_non_null(out);
  for (const char *at; (at = strstr(rest, from)); rest = at + strlen(from)) {
    end += sprintf(end, "%.*s%s", (int)(at - rest), rest, to);
  }
  strcpy(end, rest);
  free(text);
  return out;
}

/* index 2 with all bodies in world axes: exact gradients, of places of axles and welds too */
static void test_index2(void **state) {
  (void)state;
  static const char *const models[] = {"eccentric", "off-axle", "welded", "wheel", "gears"};
  for (int i = 0; i < MBG_COUNT(models); i++) {
    gradient_case c;
    char path[300];
    sprintf(path, "%s/tests/reference/spin/%s.json", MBG_SOURCE_DIR, models[i]);
    char *text = support_read_file(path, NULL);
    text = replaced(text, "\"mass\": ", "\"axes\": \"world\", \"mass\": ");
    text = replaced(text, "\"run\": {", "\"run\": {\"index\": 2, ");
    gradient_case_open(&c, NULL, text);
    c.options.step = 0.01;
    c.options.end = 0.3;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_compare(&c, models[i], 1e-10, 1e-9);
    gradient_case_close(&c);
    free(text);
  }
}

/* an error, a warning that names a joint or energy that grows, or everything within 30 % */
static void never_silent(const char *name, const char *formulation, double step, double tolerance,
                         const double *exact) {
  gradient_case c;
  char path[300];
  double psi[4];
  open_model(&c, path, name);
  c.options.formulation = formulation;
  c.options.step = step;
  c.options.tolerance = tolerance;
  gradient_case_run(&c);
  const int err = mbg_run_simulate(c.ctx, c.run);
  const bool said = err < 0 || says(&c, "alternates from step to step") || says(&c, "its energy grows");
  if (err == MBG_OK) {
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), name);
  }
  for (int k = 0; !said && k < 2; k++) {
    if (!(fabs(psi[k] - exact[k]) <= 0.3 * fabs(exact[k]))) {
      fail_msg("%s, %s, step %g, tolerance %g: %g for %g without a word", name, formulation, step, tolerance, psi[k],
               exact[k]);
    }
  }
  gradient_case_close(&c);
}

/* hinged and flexible blades, a ball on a plane: no rotors */
static void test_no_silent_number(void **state) {
  (void)state;
  static const char *const models[] = {"flap", "ball", "modal-blades"};
  static const double turns[] = {0.05, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 2}, tolerances[] = {1e-2, 1e-4, 1e-5};
  for (int i = 0; i < support_rounds(2, 3); i++) {
    double exact[4];
    free(reference(models[i], false, exact));
    for (int dae = 0; dae < 2; dae++) {
      for (int k = 0; k < MBG_COUNT(turns); k++) {
        never_silent(models[i], dae ? "dae" : "lie", turns[k] / 20, NAN, exact);
      }
      for (int k = 0; k < MBG_COUNT(tolerances); k++) {
        never_silent(models[i], dae ? "dae" : "lie", NAN, tolerances[k], exact);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_axles), cmocka_unit_test(test_index2),
                                     cmocka_unit_test(test_no_silent_number)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
