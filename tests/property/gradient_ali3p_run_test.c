/* ali3p: what a gradient must not depend on (checkpoints, axes of the world), what it must follow (breaks, turns,
   frames outside the motions), that it agrees with an independent formulation in the limit of small steps, and what is
   refused. */
#define FORMULATION "ali3p"

#include "property/gradient_run.h"
#include "support/tree_text.h"

#include <stdio.h>

/* ---------------------------------------------------------------------- checkpoints, breaks */

/* limits from one node to almost all of them, and to some and almost all factors beside them: the same bits, also when
   the gradient is asked for again; nodes are 0.276 of the bytes of this run, with factors of projections 0.638 */
static void test_checkpoints(void **state) {
  (void)state;
  static const double part[] = {0, 1e-9, 0.02, 0.1, 0.27, 0.5, 0.7, 0.99};
  double *whole[2] = {NULL, NULL}, bytes = 0;
  long factorizations = 0;
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
    factorizations = i == 0 ? work.factorizations : factorizations;
    assert_true(i == 0 || i > 4 ? work.recomputed_steps == 0 : work.recomputed_steps > 0);
    assert_true(i == 0 || work.factorizations > factorizations);
    assert_true(i < 2 || work.peak_bytes <= part[i] * bytes);
    gradient_case_close(&c);
  }
  free(whole[0]);
  free(whole[1]);
}

/* ---------------------------------------------------------------------- texts */

/* soft projections are differentiated too */
static void test_soft(void **state) {
  (void)state;
  check_text(
      "soft projections",
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
      " \"run\": {\"end\": 0.3, \"step\": 0.01, \"kappa\": 1e3}}");
}

/* ---------------------------------------------------------------------- another formulation */

/* qr integrates with error control on another set of coordinates: the distance falls by four with half the step */
static void test_limit(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double end, step;
  } models[] = {{"two-body-spatial", 0.5, 0.005}, {"four-bar-spatial", 0.5, 0.005},
                {"quarter-car", 0.5, 0.002},      {"rssr", 0.5, 0.005},
                {"heavy-top", 0.1, 0.0002},       {"wishbone-corner", 0.5, 0.001}};
  for (int i = 0; i < support_rounds(3, MBG_COUNT(models)); i++) {
    gradient_case c;
    char path[300];
    double d[2], *exact = NULL;
    open_gallery(&c, path, models[i].name);
    c.options.end = models[i].end;
    for (int k = -1; k < 2; k++) {
      c.options.formulation = k < 0 ? "qr" : "ali3p";
      c.options.step = k < 0 ? NAN : models[i].step / (1 + k);
      c.options.tolerance = k < 0 ? 1e-10 : NAN;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      double *g = gradient_case_gradient(&c, k < 0 ? MBG_METHOD_DIRECT : MBG_METHOD_ADJOINT);
      if (k < 0) {
        exact = g;
      } else {
        d[k] = distance(&c, g, exact);
        free(g);
      }
    }
    if (support_rounds(0, 1)) {
      print_message("%-20s %.2e, %.2e, ratio %.3f\n", models[i].name, d[0], d[1], d[0] / d[1]);
    }
    if (!(d[0] / d[1] > 3.6 && d[0] / d[1] < 4.4) || !(d[0] < 0.1)) {
      fail_msg("%s: distances from qr %.2e, %.2e, ratio %.3f", models[i].name, d[0], d[1], d[0] / d[1]);
    }
    free(exact);
    gradient_case_close(&c);
  }
}

/* ---------------------------------------------------------------------- refused */

static void test_refused(void **state) {
  (void)state;
  static const char lock[] =
      ", \"slide\": {\"type\": \"point-on-line\", \"between\": [\"ground\", \"rod\"], \"at\": [1.8, 0, 0], \"axis\": "
      "[1, 0, 0]}}, \"drivers\": {\"motor\": {\"joint\": \"O\", \"coordinate\": \"angle\", \"law\": \"w*t\"}";
  char text[2000];
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  /* the crank is longer than the rod: it cannot pass asin(0.8) = 0.9273 */
  snprintf(text, sizeof text, CRANK, "1", "0.1", lock, "");
  check_refused(text, &o, MBG_ERROR_CONVERGENCE, "step to t = 0.47 (h = 0.01): Newton did not converge");
  check_refused(text, &o, MBG_ERROR_CONVERGENCE,
                "worst at joint 'slide' row x1); take a smaller step, or look whether "
                "the mechanism locks there");
  /* a leaf without mass has no accelerations */
  snprintf(text, sizeof text, CRANK, "0", "0", "", "");
  check_refused(text, &o, MBG_ERROR_SINGULAR, "the system is singular (look at body 'rod')");
  snprintf(text, sizeof text, CRANK, "1", "0.1", "", ", \"index\": 2");
  check_refused(text, &o, MBG_ERROR_UNSUPPORTED, "formulation 'ali3p' has no index-2 variant");
  snprintf(text, sizeof text, CRANK, "1", "0.1", "", "");
  o.tolerance = 1e-4;
  check_refused(text, &o, MBG_ERROR_UNSUPPORTED, "formulation 'ali3p' takes fixed steps: give \"step\"");
}

/* 1000 links in a tree with a row: the matrices would not fit */
static void test_too_deep(void **state) {
  (void)state;
  char *text = tree_text(1000, true, true);
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  check_refused(text, &o, MBG_ERROR_UNSUPPORTED,
                "the tree is too deep for matrices in joint coordinates (1000 bodies); use formulation 'lie'");
  free(text);
}

/* ---------------------------------------------------------------------- long paths */

/* systems that are eliminated along the tree: gradients, and their bits under limits of memory */
static void test_long_paths(void **state) {
  (void)state;
  for (int planar = 0; planar < 2; planar++) {
    char *text = tree_text(20, planar, false);
    double *whole = NULL, bytes = 0;
    check_text("long paths", text);
    for (int i = 0; i < 4; i++) {
      gradient_case c;
      gradient_case_open(&c, NULL, text);
      c.options.memory = i / 4.0 * bytes;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
      bytes = i == 0 ? mbg_run_get_work(c.run)->peak_bytes : bytes;
      if (i == 0) {
        whole = g;
      } else {
        assert_memory_equal(g, whole, (size_t)(c.nc * c.np) * sizeof(double));
        free(g);
      }
      gradient_case_close(&c);
    }
    free(whole);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checkpoints), cmocka_unit_test(test_breaks),          cmocka_unit_test(test_half_turn),
      cmocka_unit_test(test_soft),        cmocka_unit_test(test_outside_motions), cmocka_unit_test(test_moved),
      cmocka_unit_test(test_limit),       cmocka_unit_test(test_refused),         cmocka_unit_test(test_too_deep),
      cmocka_unit_test(test_long_paths),
  };
  return cmocka_run_group_tests(tests, support_folder_enter, support_folder_leave);
}
