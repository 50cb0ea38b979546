/* dca: what a gradient must not depend on (checkpoints, threads, axes of the world), what it must follow (breaks,
   turns, frames outside the motions, tolerances), that it agrees with an independent formulation, and what is
   refused. */
#define FORMULATION "dca"

#include "property/gradient_run.h"

#include <stdio.h>
#include <threads.h>

/* ---------------------------------------------------------------------- checkpoints, breaks */

/* limits from one node to almost all: the same bits, also when the gradient is asked for again */
static void test_checkpoints(void **state) {
  (void)state;
  static const double part[] = {0, 1e-9, 0.05, 0.3, 0.99};
  double *whole[2] = {NULL, NULL}, bytes = 0;
  for (int i = 0; i < MBG_COUNT(part); i++) {
    gradient_case c;
    char path[300];
    mbg_run_work work;
    open_gallery(&c, path, "driven-flap");
    c.options.end = 1;
    c.options.step = 0.01;
    c.options.memory = part[i] * bytes;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    for (int round = 0; round < 4; round++) {
      const int k = round % 2;
      double *g = gradient_case_gradient(&c, k ? MBG_METHOD_ADJOINT : MBG_METHOD_DIRECT);
      if (!whole[k]) {
        whole[k] = g;
        continue;
      }
      assert_memory_equal(g, whole[k], (size_t)(c.nc * c.np) * sizeof(double));
      free(g);
    }
    work = *mbg_run_get_work(c.run);
    bytes = i == 0 ? work.peak_bytes : bytes;
    assert_true(i == 0 ? work.recomputed_steps == 0 : work.recomputed_steps > 0 || part[i] > 0.9);
    gradient_case_close(&c);
  }
  free(whole[0]);
  free(whole[1]);
}

/* ---------------------------------------------------------------------- texts */

/* rows of joints that the tree holds in part, and of one that it does not hold: projected after each step */
static void test_rows(void **state) {
  (void)state;
  check_text(
      "rows",
      "{\"mbgrad\": 1, \"parameters\": {\"l\": 0.8, \"m\": 1.3}, \"gravity\": [0, 0, -9.81],"
      " \"bodies\": {\"a\": {\"mass\": \"m\", \"inertia\": [0.1, 0.2, 0.3], \"position\": [0.5, 0, 0]},"
      "  \"b\": {\"mass\": 1, \"inertia\": [0.2, 0.1, 0.1], \"position\": [1, 0.3, 0.1]}},"
      " \"joints\": {\"u\": {\"type\": \"universal\", \"between\": [\"ground\", \"a\"], \"at\": [0, 0, 0], "
      "\"axis\": [1, 0, 0], \"axis2\": [0, 1, 0]},"
      "  \"s\": {\"type\": \"screw\", \"between\": [\"b\", \"a\"], \"at\": [0.9, 0.1, 0], \"axis\": [1, 0.2, 0], "
      "\"pitch\": 0.1},"
      "  \"d\": {\"type\": \"distance\", \"between\": [\"ground\", \"b\"], \"points\": [[1, 1, 0], [0, 0, 0]], "
      "\"length\": \"l\"}},"
      " \"signals\": {\"z\": {\"type\": \"position\", \"of\": \"b\", \"component\": \"z\"}, \"az\": {\"type\": "
      "\"acceleration\", \"of\": \"b\", \"component\": \"z\"}},"
      " \"criteria\": {\"end\": {\"terminal\": \"z\"}, \"shake\": {\"integral\": \"az^2\"}},"
      " \"run\": {\"end\": 0.3, \"step\": 0.01}}");
}

/* adaptive steps are repeated: gradients are those of the discrete run */
static void test_tolerance(void **state) {
  (void)state;
  static const char *const integrators[] = {"dp5", "dop853"};
  static const char *const models[] = {"heavy-top", "four-bar", "quarter-car"};
  for (int i = 0; i < 3; i++) {
    gradient_case c;
    char path[300];
    open_gallery(&c, path, models[i]);
    c.options.end = i == 0 ? 0.05 : 0.3;
    c.options.tolerance = 1e-6;
    c.options.integrator = integrators[i % 2];
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_compare(&c, models[i], tol_direct, 1e-8);
    gradient_case_close(&c);
  }
}

/* one, two and three threads: the same bits, by the articulated-body recursion and by pieces with loops */
static void test_threads(void **state) {
  (void)state;
  static const char *const models[] = {"spatial-chain", "vehicle-design", "andrews"};
  for (int i = 0; i < support_rounds(1, 3); i++) {
    double *first = NULL;
    for (int threads = 1; threads < 4; threads++) {
      gradient_case c;
      char path[300];
      open_gallery(&c, path, models[i]);
      c.options.threads = threads;
      c.options.step = (c.m->run.end - c.m->run.start) / 1000;
      c.options.end = c.m->run.start + 3 * c.options.step;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      double *g = gradient_case_gradient(&c, MBG_METHOD_DIRECT);
      if (first) {
        assert_memory_equal(g, first, (size_t)(c.nc * c.np) * sizeof(double));
        free(g);
      } else {
        first = g;
      }
      gradient_case_close(&c);
    }
    free(first);
  }
}

/* many parameters on a chain, so that there is work for threads */
static char *threads_chain(void) {
  enum { LINKS = 24 };
  char *text = malloc(LINKS * 400 + 600);
  size_t n = (size_t)sprintf(text,
                             "{\"mbgrad\": 1, \"gravity\": [0, 0, -9.81], \"parameters\": {\"m\": {\"value\": 1, "
                             "\"count\": %d}}, \"bodies\": {",
                             LINKS);
  for (int i = 0; i < LINKS; i++) {
    n += (size_t)sprintf(text + n,
                         "%s\"b%d\": {\"mass\": \"m[%d]\", \"inertia\": [0.1, 0.2, 0.3], \"com\": [0.5, 0.1, 0], "
                         "\"position\": [%d, 0, 0]}",
                         i ? ", " : "", i, i, i);
  }
  n += (size_t)sprintf(text + n, "}, \"joints\": {");
  for (int i = 0; i < LINKS; i++) {
    char from[16] = "ground";
    if (i > 0) {
      sprintf(from, "b%d", i - 1);
    }
    n += (size_t)sprintf(text + n,
                         "%s\"j%d\": {\"type\": \"revolute\", \"between\": [\"%s\", \"b%d\"], \"at\": [%d, 0, 0], "
                         "\"axis\": [0, %d, %d]}",
                         i ? ", " : "", i, from, i, i, i % 2, 1 - i % 2);
  }
  sprintf(text + n,
          "}, \"signals\": {\"z\": {\"type\": \"position\", \"of\": \"b%d\", \"component\": \"z\"}}, \"criteria\": "
          "{\"end\": {\"terminal\": \"z\"}}, \"run\": {\"formulation\": \"dca\", \"end\": 0.1, \"step\": 0.02}}",
          LINKS - 1);
  return text;
}

static double *threads_gradient(const char *text, int threads, int *n) {
  gradient_case c;
  gradient_case_open(&c, NULL, text);
  c.options.threads = threads;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  double *g = gradient_case_gradient(&c, MBG_METHOD_DIRECT);
  *n = c.nc * c.np;
  gradient_case_close(&c);
  return g;
}

typedef struct {
  const char *text;
  double *g;
  int n;
} threads_job;

static int threads_run(void *user) {
  threads_job *job = user;
  job->g = threads_gradient(job->text, 3, &job->n);
  return 0;
}

/* the same bits with more threads, and where runs with threads share the machine */
static void test_threads_chain(void **state) {
  (void)state;
  char *text = threads_chain();
  int n = 0;
  double *first = threads_gradient(text, 1, &n);
  for (int threads = 2; threads < 4; threads++) {
    double *g = threads_gradient(text, threads, &n);
    assert_memory_equal(g, first, (size_t)n * sizeof(double));
    free(g);
  }
  threads_job jobs[2] = {{.text = text}, {.text = text}};
  thrd_t other;
  assert_int_equal(thrd_create(&other, threads_run, &jobs[1]), thrd_success);
  threads_run(&jobs[0]);
  thrd_join(other, NULL);
  for (int i = 0; i < 2; i++) {
    assert_memory_equal(jobs[i].g, first, (size_t)n * sizeof(double));
    free(jobs[i].g);
  }
  free(first);
  free(text);
}

/* ---------------------------------------------------------------------- another formulation */

/* qr projects redundant coordinates, dca integrates joint coordinates: both at 1e-10 */
static void test_limit(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double end;
  } models[] = {
      {"two-body-spatial", 0.5}, {"four-bar-spatial", 0.5}, {"two-arm", 0.05}, {"quarter-car", 0.5}, {"rssr", 0.5},
      {"heavy-top", 0.1},        {"wishbone-corner", 0.5}};
  for (int i = 0; i < support_rounds(3, MBG_COUNT(models)); i++) {
    gradient_case c;
    char path[300];
    double *g[2];
    open_gallery(&c, path, models[i].name);
    c.options.end = models[i].end;
    c.options.tolerance = 1e-10;
    for (int k = 0; k < 2; k++) {
      c.options.formulation = k ? "qr" : "dca";
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      g[k] = gradient_case_gradient(&c, MBG_METHOD_DIRECT);
    }
    const double off = distance(&c, g[0], g[1]);
    if (!(off < 1e-6)) {
      fail_msg("%s: distance from qr %.2e", models[i].name, off);
    }
    free(g[0]);
    free(g[1]);
    gradient_case_close(&c);
  }
}

/* ---------------------------------------------------------------------- refused */

static void test_refused(void **state) {
  (void)state;
  char text[2000];
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  /* a leaf without mass has no accelerations */
  snprintf(text, sizeof text, CRANK, "0", "0", "", "");
  check_refused(text, &o, MBG_ERROR_CONVERGENCE,
                "body 'rod' and the bodies that hang on it have no inertia in the motion of its joint");
  snprintf(text, sizeof text, CRANK, "1", "0.1", "", ", \"index\": 2");
  check_refused(text, &o, MBG_ERROR_UNSUPPORTED, "formulation 'dca' has no index-2 variant");
  snprintf(text, sizeof text, CRANK, "1", "0.1", "", ", \"stabilization\": 5");
  check_refused(text, &o, MBG_ERROR_UNSUPPORTED, "formulation 'dca' closes its loops by projection after each step");
  snprintf(text, sizeof text, CRANK, "1", "0.1", "", "");
  o.integrator = "rk5";
  check_refused(text, &o, MBG_ERROR_INPUT, "formulation 'dca' has no integrator 'rk5'; did you mean 'rk4'?");
  o.integrator = "bdf";
  check_refused(text, &o, MBG_ERROR_INPUT, "formulation 'dca' has no integrator 'bdf' (known: rk4, dp5, dop853)");
  o.integrator = "rk4";
  o.tolerance = 1e-6;
  check_refused(text, &o, MBG_ERROR_INPUT, "integrator 'rk4' has no error control: it needs a step");
  o.integrator = NULL;
  o.tolerance = 1e-20;
  check_refused(text, &o, MBG_ERROR_INPUT, "relative tolerance 1e-20");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checkpoints),   cmocka_unit_test(test_breaks),          cmocka_unit_test(test_half_turn),
      cmocka_unit_test(test_rows),          cmocka_unit_test(test_tolerance),       cmocka_unit_test(test_threads),
      cmocka_unit_test(test_threads_chain), cmocka_unit_test(test_outside_motions), cmocka_unit_test(test_moved),
      cmocka_unit_test(test_limit),         cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, support_folder_enter, support_folder_leave);
}
