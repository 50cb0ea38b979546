/* Design problems: closed forms, load cases summed and at their worst, limits of paths one by one and aggregated,
   filters, scales, Gauss-Newton, threads, files. */
#include "mbgrad/optimize.h"
#include "problems/optimize.h"
#include "support/fit_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  fit_case files;
  mbg_optimize *opt;
} design_case;

static int setup(void **state) {
  design_case *c = calloc(1, sizeof(*c));
  *state = c;
  fit_open(&c->files);
  return 0;
}

static int teardown(void **state) {
  design_case *c = *state;
  mbg_optimize_destroy(c->opt);
  fit_close(&c->files);
  free(c);
  return 0;
}

/* the model, or one of its runs */
static void create(design_case *c, const char *model, const char *run, const mbg_optimize_options *o) {
  mbg_optimize_destroy(c->opt);
  fit_model(&c->files, model);
  if (fit_load(&c->files, run) != MBG_OK || mbg_optimize_create(c->files.ctx, c->files.model, o, &c->opt) != MBG_OK) {
    fail_msg("%s", mbg_context_message(c->files.ctx, 0));
  }
}

static const mbg_optimize_summary *solve(design_case *c, const char *model, const mbg_optimize_options *o) {
  create(c, model, NULL, o);
  if (mbg_optimize_solve(c->files.ctx, c->opt) != MBG_OK) {
    fail_msg("%s", mbg_context_message(c->files.ctx, 0));
  }
  return mbg_optimize_get_summary(c->opt);
}

static double value(const design_case *c, int i) { return mbg_optimize_get_parameter(c->opt, i)->value; }

/* ---------------------------------------------------------------------- models */

/* A mass that is pushed by F for a second: x = F t^2 / (2 m), v = F t / m, which generalized-alpha gives exactly. */
#define PUSHED(parameters, more)                                                                                       \
  "{'mbgrad': 1, 'parameters': {" parameters "}, 'constants': {'m': 2, 'wind': 0},"                                    \
  " 'bodies': {'b': {'motion': 'planar-point', 'mass': 'm'}},"                                                         \
  " 'forces': {'push': {'type': 'force', 'on': 'b', 'force': ['F + wind', 0, 0]}},"                                    \
  " 'signals': {'x': {'type': 'position', 'of': 'b', 'component': 'x'},"                                               \
  "             'v': {'type': 'velocity', 'of': 'b', 'component': 'x'}},"                                              \
  " 'run': {'end': 1, 'step': 0.1}, " more "}"
#define FORCE "'F': {'value': 3, 'min': -10, 'max': 10}"

/* An oscillator with a path. */
#define RINGING(optimize)                                                                                              \
  "{'mbgrad': 1, 'parameters': {'k': {'value': 40, 'min': 5, 'max': 200, 'scale': 'log'}, 'c': {'value': 3, 'min': "   \
  "0.1,"                                                                                                               \
  "  'max': 20}},"                                                                                                     \
  " 'bodies': {'b': {'motion': 'planar-point', 'mass': 1, 'position': [1, 0, 0]}},"                                    \
  " 'forces': {'s': {'type': 'spring-damper', 'between': ['ground', 'b'], 'along': 'x', 'stiffness': 'k', 'damping':"  \
  "   'c'}},"                                                                                                          \
  " 'signals': {'x': {'type': 'position', 'of': 'b', 'component': 'x'}, 'v': {'type': 'velocity', 'of': 'b',"          \
  "   'component': 'x'}},"                                                                                             \
  " 'criteria': {'rest': {'integral': 'x^2'}, 'speed': {'path': 'v', 'min': -3}, 'end': {'terminal': 'x'}},"           \
  " 'run': {'end': 2, 'step': 0.02}, 'optimize': {" optimize "}}"

/* ---------------------------------------------------------------------- closed forms */

/* (x(1) - 1)^2 with x(1) = F/4: F = 4, or at a bound, or at a limit of v(1) = F/2, with the multipliers of pen and
   paper */
static void test_closed_form(void **state) {
  design_case *c = *state;
#define GOAL "'criteria': {'miss': {'terminal': '(x - 1)^2'}, 'fast': {'terminal': 'v'}, 'path': {'path': 'v'}}, "
  const mbg_optimize_summary *s = solve(c, PUSHED(FORCE, GOAL "'optimize': {'objective': 'miss'}"), NULL);
  assert_int_equal(s->reason, MBG_OPTIMIZE_OPTIMAL);
  assert_string_equal(s->optimizer, "lbfgs");
  assert_close(value(c, 0), 4, 1e-5); /* 1e-6 of the gradient, which is that of a square */

  s = solve(c, PUSHED("'F': {'value': 1, 'min': -10, 'max': 2}", GOAL "'optimize': {'objective': 'miss'}"), NULL);
  assert_close(value(c, 0), 2, 0);
  assert_int_equal(mbg_optimize_get_parameter(c->opt, 0)->at_bound, 1);
  /* d/dF (F/4 - 1)^2 = (F/4 - 1)/2 = -1/4 */
  assert_close(mbg_optimize_get_parameter(c->opt, 0)->multiplier, 0.25, 1e-9);
  assert_int_equal(s->converged, 1);

  for (int k = 0; k < 3; k++) {
    static const char *const models[] = {
        PUSHED(FORCE, GOAL "'optimize': {'objective': 'miss', 'constraints': {'fast': {'max': 1}}}"),
        PUSHED(FORCE, GOAL "'optimize': {'objective': 'miss', 'constraints': {'path': {'max': 1}}}"),
        PUSHED(FORCE, GOAL "'optimize': {'objective': 'miss', 'constraints': {'fast': {'equal': 1}}}")};
    s = solve(c, models[k], NULL);
    assert_int_equal(s->reason, MBG_OPTIMIZE_OPTIMAL);
    assert_string_equal(s->optimizer, "slsqp");
    assert_close(value(c, 0), 2, 1e-7);
    assert_close(s->objective, 0.25, 1e-7);
    const mbg_optimize_constraint *limit = mbg_optimize_get_constraint(c->opt, 0);
    /* d miss / d v(1): x = v/2, 2 (v/2 - 1)/2 = -1/2 */
    assert_close(limit->multiplier, 0.5, 1e-6);
    assert_int_equal(limit->active, 1);
    assert_int_equal(s->active, 1);
    assert_int_equal(limit->points, k == 1 ? 11 : 1);
    if (k == 1) {
      assert_close(limit->time, 1, 1e-12);
      assert_close(mbg_optimize_get_active(c->opt, 0)->time, 1, 1e-12);
    }
  }
  assert_null(mbg_optimize_get_constraint(c->opt, 1));
  assert_null(mbg_optimize_get_active(c->opt, 1));
  assert_null(mbg_optimize_get_parameter(c->opt, -1));
}

/* Two winds: the sum of (F + w - 4)^2/16 at F = 4 - mean of w, weighted; the worst in the middle of the extremes */
static void test_load_cases(void **state) {
  design_case *c = *state;
#define WINDS                                                                                                          \
  "'criteria': {'miss': {'terminal': '(x - 1)^2'}, 'fast': {'terminal': 'v'}}, 'runs': {'calm': {'set': {'wind': 0}}," \
  " 'storm': {'set': {'wind': 2}}, 'gale': {'set': {'wind': 5}, 'criteria': ['fast']}}, "
  const mbg_optimize_summary *s = solve(c, PUSHED(FORCE, WINDS "'optimize': {'objective': 'miss'}"), NULL);
  assert_close(value(c, 0), 3, 1e-5);
  assert_int_equal(s->cases, 3);
  solve(c, PUSHED(FORCE, WINDS "'optimize': {'objective': 'miss', 'runs': {'calm': 3, 'storm': 1}}"), NULL);
  assert_close(value(c, 0), 3.5, 1e-5);
  s = solve(c, PUSHED(FORCE, WINDS "'optimize': {'objective': 'miss', 'combine': 'worst'}"), NULL);
  assert_string_equal(s->optimizer, "slsqp");
  assert_close(value(c, 0), 3, 1e-5);
  assert_close(s->objective, 1.0 / 16, 1e-6);
  /* its gradient is that of the larger case: of calm below F = 3, of storm above */
  for (int k = 0; k < 2; k++) {
    const double F = k == 0 ? 1 : 5;
    double f, v, g = NAN;
    assert_int_equal(mbg_optimize_evaluate(c->files.ctx, c->opt, &F, &f, &v, &g), MBG_OK);
    assert_close(f, 9.0 / 16, 1e-12);
    assert_close(g, k == 0 ? -3.0 / 8 : 3.0 / 8, 1e-11);
  }
  /* a limit that only the gale has */
  s = solve(c, PUSHED(FORCE, WINDS "'optimize': {'objective': 'miss', 'constraints': {'fast': {'max': 3}}}"), NULL);
  assert_close(value(c, 0), 1, 1e-6);
  assert_int_equal(s->constraints, 3);
  assert_string_equal(mbg_optimize_get_constraint(c->opt, 2)->run, "gale");
  const mbg_optimize_case *gale = mbg_optimize_get_case(c->opt, 2);
  assert_true(!strcmp(gale->run, "gale") && gale->weight == 1 && isnan(gale->objective));
  assert_null(mbg_optimize_get_case(c->opt, 3));
  /* one run alone */
  create(c, PUSHED(FORCE, WINDS "'optimize': {'objective': 'miss', 'runs': {'calm': 3}}"), "storm", NULL);
  assert_int_equal(mbg_optimize_solve(c->files.ctx, c->opt), MBG_OK);
  assert_close(value(c, 0), 2, 1e-5);
}

/* F = sum of x_i, to be 4 while the mean of x is limited, or smoothed: closed forms of a filter of radius 2 */
static void test_vectors(void **state) {
  design_case *c = *state;
#define VECTOR                                                                                                         \
  "{'mbgrad': 1, 'parameters': {'x': {'value': 0.5, 'count': 4, 'min': 0, 'max': 1}},"                                 \
  " 'bodies': {'b': {'motion': 'planar-point', 'mass': 2}},"                                                           \
  " 'forces': {'push': {'type': 'force', 'on': 'b', 'force': ['4*x[0] + x[1] + x[2] + x[3]', 0, 0]}},"                 \
  " 'signals': {'s': {'type': 'position', 'of': 'b', 'component': 'x'}},"                                              \
  " 'run': {'end': 1, 'step': 0.1}, 'criteria': {'far': {'terminal': '-s'}}, 'optimize': {'objective': 'far'"
  /* the most push from a volume of a half: all of x_0, the rest anywhere */
  const mbg_optimize_summary *s =
      solve(c, VECTOR ", 'constraints': {'volume': {'mean': {'x': 1}, 'max': 0.5}}}}", NULL);
  assert_close(value(c, 0), 1, 1e-6);
  assert_close(s->objective, -5.0 / 4, 1e-6);
  assert_close(value(c, 0) + value(c, 1) + value(c, 2) + value(c, 3), 2, 1e-6);
  assert_close(mbg_optimize_get_constraint(c->opt, 0)->multiplier, 1, 1e-6); /* d far / d volume */

  /* smoothed: p_0 = (2 u_0 + u_1)/3, p_1 = (u_0 + 2 u_1 + u_2)/4 ...; gradient by transposition */
  create(c, VECTOR ", 'filter': {'x': 2}}}", NULL, NULL);
  const double u[4] = {0.1, 0.9, 0.4, 0.6}, p[4] = {1.1 / 3, 2.3 / 4, 2.3 / 4, 1.6 / 3};
  const double w[4] = {4, 1, 1, 1}; /* far = -w p / 4 */
  const double by_u[4] = {-(2 * w[0] / 3 + w[1] / 4) / 4, -(w[0] / 3 + w[1] / 2 + w[2] / 4) / 4,
                          -(w[1] / 4 + w[2] / 2 + w[3] / 3) / 4, -(w[2] / 4 + 2 * w[3] / 3) / 4};
  double far, violation, g[4];
  assert_int_equal(mbg_optimize_evaluate(c->files.ctx, c->opt, u, &far, &violation, g), MBG_OK);
  assert_close_array(mbg_optimize_parameters(c->opt), p, 4, 1e-14);
  assert_close(far, -(4 * p[0] + p[1] + p[2] + p[3]) / 4, 1e-13);
  assert_close_array(g, by_u, 4, 1e-11);
}

/* ---------------------------------------------------------------------- limits over time */

/* every point and the aggregate: the aggregate is on the safe side and within ln(points)/sharpness; few points are
   differentiated */
static void test_paths(void **state) {
  design_case *c = *state;
  double objective[3];
  static const char *const models[] = {RINGING("'objective': 'rest', 'constraints': {'speed': {}}"),
                                       RINGING("'objective': 'rest', 'constraints': {'speed': {'aggregate': 40}}"),
                                       RINGING("'objective': 'rest', 'constraints': {'speed': {'aggregate': 2000}}")};
  for (int k = 0; k < 3; k++) {
    const mbg_optimize_summary *s = solve(c, models[k], NULL);
    assert_int_equal(s->reason, MBG_OPTIMIZE_OPTIMAL);
    assert_true(s->violation <= 1e-6);
    const mbg_optimize_constraint *l = mbg_optimize_get_constraint(c->opt, 0);
    assert_true(k == 0 || l->value >= -3);
    assert_true(l->value <= -3 * (1 - log(101) / (k == 1 ? 40 : 2000)) + 1e-9);
    assert_int_equal(s->points, 101);
    assert_true(k > 0 || (s->points_differentiated > 0 && s->points_differentiated < 40));
    objective[k] = s->objective;
  }
  assert_true(objective[0] < objective[2] && objective[2] < objective[1]);
  assert_close(objective[2], objective[0], 0.01 * objective[0]);
}

/* the gradient of the objective, on a logarithmic scale too, against differences: slope 2 of the Taylor remainder */
static void test_gradient(void **state) {
  design_case *c = *state;
  create(c, RINGING("'objective': 'rest + end^2/(1 + c)'"), NULL, NULL);
  const double at[2] = {60, 2}, direction[2] = {20, -1};
  double f0, f1, v, g[2], before = 0;
  assert_int_equal(mbg_optimize_evaluate(c->files.ctx, c->opt, at, &f0, &v, g), MBG_OK);
  for (int k = 0; k < 5; k++) {
    const double h = 0.1 * pow(2, -k), x[2] = {at[0] + h * direction[0], at[1] + h * direction[1]};
    assert_int_equal(mbg_optimize_evaluate(c->files.ctx, c->opt, x, &f1, &v, NULL), MBG_OK);
    const double rest = fabs(f1 - f0 - h * (g[0] * direction[0] + g[1] * direction[1]));
    if (k > 0) {
      assert_close(log2(before / rest), 2, 0.15);
    }
    before = rest;
  }
}

/* ---------------------------------------------------------------------- optimizers */

/* a planted stiffness: Gauss-Newton is chosen and needs few iterations; the other optimizers end there too */
static void test_least_squares(void **state) {
  design_case *c = *state;
  char model[2000], data[400] = "", part[64];
  for (int i = 1; i <= 20; i++) {
    snprintf(part, sizeof(part), "%s%g", i > 1 ? ", " : "", 0.05 * i);
    strcat(data, part);
  }
  strcat(data, "], 'value': [");
  for (int i = 1; i <= 20; i++) {
    snprintf(part, sizeof(part), "%s%.9g", i > 1 ? ", " : "", cos(4 * 0.05 * i));
    strcat(data, part);
  }
  snprintf(model, sizeof(model),
           "{'mbgrad': 1, 'parameters': {'k': {'value': 9, 'min': 1, 'max': 50}}, 'bodies': {'b': {'motion': "
           "'planar-point', 'mass': 1, 'position': [1, 0, 0]}}, 'forces': {'s': {'type': 'spring-damper', 'between': "
           "['ground', 'b'], 'along': 'x', 'stiffness': 'k'}}, 'signals': {'x': {'type': 'position', 'of': 'b', "
           "'component': 'x'}}, 'criteria': {'fit': {'least_squares': 'x', 'data': {'time': [%s]}}}, 'run': {'end': 1, "
           "'step': 0.01, 'formulation': 'lie'}, 'optimize': {'objective': 'fit'}}",
           data);
  const mbg_optimize_summary *s = solve(c, model, NULL);
  assert_string_equal(s->optimizer, "ipopt-gn");
  assert_int_equal(s->converged, 1);
  assert_true(s->iterations <= 15);
  const double k = value(c, 0);
  assert_close(k, 16, 0.02); /* the error of the step */
  for (int i = 0; mbg_optimize_optimizer(i); i++) {
    mbg_optimize_options o;
    mbg_optimize_options_default(&o, sizeof(o));
    o.optimizer = mbg_optimize_optimizer(i);
    s = solve(c, model, &o);
    assert_string_equal(s->optimizer, o.optimizer);
    assert_int_equal(s->converged, 1);
    assert_close(value(c, 0), k, 1e-4);
  }
}

/* ---------------------------------------------------------------------- threads, starts, files */

static const char storm[] = RINGING(
    "'objective': 'rest + 0.01*end', 'constraints': {'speed': {}}, 'runs': {'a': 1, 'b': 2}}, 'runs': {'a': {'end': 1},"
    " 'b': {'end': 3, 'step': 0.01}, 'c': {}");

static void test_threads(void **state) {
  design_case *c = *state;
  double first[2];
  for (int threads = 1; threads <= 3; threads++) {
    mbg_optimize_options o;
    mbg_optimize_options_default(&o, sizeof(o));
    o.threads = threads;
    const mbg_optimize_summary *s = solve(c, storm, &o);
    assert_int_equal(s->converged, 1);
    assert_int_equal(s->cases, 2);
    for (int i = 0; i < 2; i++) {
      first[i] = threads == 1 ? value(c, i) : first[i];
      assert_close(value(c, i), first[i], 0); /* bit for bit */
    }
  }
}

/* places are spread over the bounds; all lead to the optimum */
static void test_starts(void **state) {
  design_case *c = *state;
  solve(c, RINGING("'objective': 'rest', 'constraints': {'speed': {}}"), NULL);
  const double k = value(c, 0), damping = value(c, 1);
  for (int place = 1; place < support_rounds(4, 20); place++) {
    mbg_optimize_options o;
    mbg_optimize_options_default(&o, sizeof(o));
    o.place = place;
    const mbg_optimize_summary *s = solve(c, RINGING("'objective': 'rest', 'constraints': {'speed': {}}"), &o);
    const mbg_optimize_parameter *p = mbg_optimize_get_parameter(c->opt, 0);
    assert_true(p->start > 5 && p->start < 200 && p->start != 40);
    assert_int_equal(s->converged, 1);
    assert_close(value(c, 0), k, 1e-3 * k);
    assert_close(value(c, 1), damping, 1e-3 * damping);
  }
}

static void test_model_text(void **state) {
  design_case *c = *state;
  char *text;
  solve(c, PUSHED(FORCE, GOAL "'optimize': {'objective': 'miss', 'constraints': {'fast': {'equal': 1}}}"), NULL);
  assert_int_equal(mbg_optimize_model_text(c->files.ctx, c->opt, &text), MBG_OK);
  assert_non_null(strstr(text, "\"value\": 2"));
  mbg_text_destroy(c->files.ctx, text);
  for (int reason = 0; reason <= MBG_OPTIMIZE_INTERRUPTED; reason++) {
    assert_true(strlen(mbg_optimize_reason_text(reason)) > 3);
  }
  assert_string_equal(mbg_optimize_reason_text(99), "unknown");
  assert_true(mbg_optimize_get_summary(c->opt)->history > 0 && mbg_optimize_get_record(c->opt, 0) != NULL);
  assert_null(mbg_optimize_get_record(c->opt, 1000));
  assert_null(mbg_optimize_warning(c->opt, 0));
}

static void refuse(design_case *c, const char *model, const mbg_optimize_options *o, const char *part) {
  mbg_optimize *opt = NULL;
  mbg_optimize_destroy(c->opt);
  c->opt = NULL;
  fit_model(&c->files, model);
  int status = fit_load(&c->files, NULL);
  if (status == MBG_OK) {
    status = mbg_optimize_create(c->files.ctx, c->files.model, o, &opt);
  }
  assert_int_equal(status, MBG_ERROR_INPUT);
  assert_null(opt);
  const char *message = mbg_context_message(c->files.ctx, mbg_context_message_count(c->files.ctx) - 1);
  if (!strstr(message, part)) {
    fail_msg("'%s' does not say '%s'", message, part);
  }
  mbg_context_clear(c->files.ctx);
}

static void test_errors(void **state) {
  design_case *c = *state;
  mbg_optimize_options o;
  mbg_optimize_options_default(&o, sizeof(o));
  refuse(c, PUSHED("'F': 3", GOAL "'optimize': {'objective': 'miss'}"), NULL,
         "no parameter can be varied: give parameters bounds");
  refuse(c, PUSHED(FORCE, WINDS "'optimize': {'objective': 'miss', 'runs': {'gale': 1}}"), NULL,
         "no run that counts has the criterion 'miss'");
  refuse(c,
         PUSHED(FORCE,
                WINDS "'optimize': {'objective': 'fast', 'runs': {'gale': 1}, 'constraints': {'miss': {'max': 1}}}"),
         NULL, "no run has the criterion 'miss'");
  refuse(c,
         PUSHED(FORCE, "'criteria': {'miss': {'terminal': 'x'}}, 'runs': {'a': {'set': {'F': 1}}}, 'optimize': "
                       "{'objective': 'miss'}"),
         NULL, "parameter 'F' cannot be varied: every run sets it");
  refuse(c, PUSHED("'F': {'value': -1, 'min': -2, 'max': 3, 'scale': 'log'}", GOAL "'optimize': {'objective': 'miss'}"),
         NULL, "");
  o.place = 1;
  refuse(c, PUSHED("'F': {'value': 1, 'min': 0}", GOAL "'optimize': {'objective': 'miss'}"), &o,
         "several starts need bounds: parameter 'F' has no max");
  mbg_optimize_options_default(&o, sizeof(o));
  o.threads = 0;
  refuse(c, PUSHED(FORCE, GOAL "'optimize': {'objective': 'miss'}"), &o, "threads at least 1");
  mbg_optimize_options_default(&o, sizeof(o));
  o.resume = true;
  refuse(c, PUSHED(FORCE, GOAL "'optimize': {'objective': 'miss'}"), &o, "resume needs the restart file");
}

/* allocations that fail are reported and nothing is leaked; every one of them in the long form */
static void test_memory(void **state) {
  design_case *c = *state;
  char restart[128];
  mbg_optimize_options o;
  mbg_optimize_options_default(&o, sizeof(o));
  snprintf(restart, sizeof(restart), "%s/restart", c->files.folder);
  o.restart = restart;
  o.iterations = 3;
  fit_model(&c->files, PUSHED(FORCE, WINDS "'optimize': {'objective': 'miss', 'constraints': {'fast': {'max': 3}}}"));
  const int stride = support_rounds(23, 1);
  for (int n = 1;; n += stride) {
    support_memory memory = {.fail_at = n};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx = NULL;
    mbg_model *model = NULL;
    mbg_optimize *opt = NULL;
    char *text = NULL;
    int err = mbg_context_create(&allocator, &ctx);
    err = err == MBG_OK ? mbg_model_load(ctx, c->files.path, &model) : err;
    err = err == MBG_OK ? mbg_optimize_create(ctx, model, &o, &opt) : err;
    err = err == MBG_OK ? mbg_optimize_solve(ctx, opt) : err;
    err = err == MBG_OK ? mbg_optimize_model_text(ctx, opt, &text) : err;
    assert_true(err == MBG_OK || err == MBG_ERROR_MEMORY);
    assert_true(err == MBG_OK || memory.requests >= n);
    if (ctx) {
      mbg_text_destroy(ctx, text);
    }
    mbg_optimize_destroy(opt);
    mbg_model_destroy(model);
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      break;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_closed_form, setup, teardown),
      cmocka_unit_test_setup_teardown(test_load_cases, setup, teardown),
      cmocka_unit_test_setup_teardown(test_vectors, setup, teardown),
      cmocka_unit_test_setup_teardown(test_paths, setup, teardown),
      cmocka_unit_test_setup_teardown(test_gradient, setup, teardown),
      cmocka_unit_test_setup_teardown(test_least_squares, setup, teardown),
      cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
      cmocka_unit_test_setup_teardown(test_starts, setup, teardown),
      cmocka_unit_test_setup_teardown(test_model_text, setup, teardown),
      cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
      cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
