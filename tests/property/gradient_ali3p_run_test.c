/* ali3p: what a gradient must not depend on (checkpoints, axes of the world), what it must follow (breaks, turns,
   frames outside the motions), that it agrees with an independent formulation in the limit of small steps, and what is
   refused. */
#include "property/gradient_case.h"
#include "support/tree_text.h"

#include <stdio.h>

/* direct against adjoint and adjoint against twin; rounding of index 3, see gradient_proof.h */
static const double tol_direct = 1e-10, tol_twin = 1e-9;

static void open_gallery(gradient_case *c, char *path, const char *name) {
  sprintf(path, "%s/%s", MBG_GALLERY_DIR, name);
  gradient_case_open(c, path, NULL);
  c->options.formulation = "ali3p";
}

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

/* breaks of the run and knots of controls are nodes; steps between them differ */
static void test_breaks(void **state) {
  (void)state;
  static const char *const models[] = {"quarter-car", "overhead-crane"};
  for (int i = 0; i < 2; i++) {
    gradient_case c;
    char path[300];
    open_gallery(&c, path, models[i]);
    c.options.step = i ? 0.0831 : 0.00731;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_compare(&c, models[i], tol_direct, tol_twin);
    gradient_case_close(&c);
  }
}

/* ---------------------------------------------------------------------- texts */

static void check_text(const char *what, const char *text) {
  gradient_case c;
  gradient_case_open(&c, NULL, text);
  c.options.formulation = "ali3p";
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_compare(&c, what, tol_direct, tol_twin);
  gradient_case_close(&c);
}

/* a torsion spring whose angle passes half a turn inside a step: the angle stays continuous */
static void test_half_turn(void **state) {
  (void)state;
  check_text("half a turn",
             "{\"mbgrad\": 1, \"parameters\": {\"k\": 3, \"w\": 4, \"a\": 2.9},"
             " \"bodies\": {\"b\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.5, \"com\": [0.2, 0, 0]}},"
             " \"joints\": {\"j\": {\"type\": \"revolute\", \"between\": [\"b\", \"ground\"], \"at\": [0, 0, 0]}},"
             " \"forces\": {\"s\": {\"type\": \"torsion-spring-damper\", \"joint\": \"j\", \"stiffness\": \"k\"}},"
             " \"signals\": {\"q\": {\"type\": \"coordinate\", \"joint\": \"j\"}, \"E\": {\"type\": \"energy\"}},"
             " \"criteria\": {\"end\": {\"terminal\": \"q\"}, \"sum\": {\"integral\": \"q^2\"}, \"drift\": "
             "{\"terminal\": \"E\"}},"
             " \"initial\": {\"pin\": {\"p\": {\"joint\": \"j\", \"coordinate\": \"angle\", \"value\": \"a\", "
             "\"rate\": \"w\"}}},"
             " \"run\": {\"end\": 0.4, \"step\": 0.02}}");
}

/* frames that depend on parameters outside the motions of their body, on links of a tree and on a free one */
static void test_outside_motions(void **state) {
  (void)state;
  check_text(
      "outside motions",
      "{\"mbgrad\": 1, \"parameters\": {\"z\": 0.3, \"a\": 0.4, \"k\": 50}, \"gravity\": [1, -9, 0],"
      " \"bodies\": {\"b\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.1, \"position\": [0.5, 0.2, \"z\"]},"
      "  \"d\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.1, \"position\": [1, 0.4, \"z\"]},"
      "  \"c\": {\"motion\": \"point\", \"mass\": 0.7, \"position\": [0, 1, 0.5], \"rotate\": [[\"x\", \"a\"], "
      "[\"z\", \"2*a\"]], \"velocity\": [1, 0.5, 0.2]}},"
      " \"markers\": {\"m\": {\"on\": \"c\", \"at\": [0.3, 0.1, 0.2]}, \"n\": {\"on\": \"d\", \"at\": [0.2, 0.3, "
      "0.1]}},"
      " \"joints\": {\"j\": {\"type\": \"distance\", \"between\": [\"ground\", \"c\"], \"length\": 1.2},"
      "  \"r\": {\"type\": \"revolute\", \"between\": [\"d\", \"b\"], \"at\": [\"0.7 + 0.1*a\", 0.3, \"z\"]}},"
      " \"forces\": {\"s\": {\"type\": \"spring-damper\", \"between\": [\"m\", \"n\"], \"stiffness\": \"k\", "
      "\"damping\": 2, \"rest\": 0.5}, \"g\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"b\"], "
      "\"points\": [[1, 1, 1], [0, 0, 0]], \"stiffness\": 20}},"
      " \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"n\", \"component\": \"x\"}, \"y\": {\"type\": "
      "\"position\", \"of\": \"m\", \"component\": \"y\"}, \"ax\": {\"type\": \"acceleration\", \"of\": \"m\", "
      "\"component\": \"x\"}, \"f\": {\"type\": \"reaction\", \"joint\": \"r\", \"component\": \"fy\", \"in\": "
      "\"world\"}},"
      " \"criteria\": {\"one\": {\"terminal\": \"x\"}, \"two\": {\"terminal\": \"y + 0.1*ax\"},"
      "  \"three\": {\"integral\": \"ax^2 + 0.1*f^2\"}}, \"run\": {\"end\": 0.5, \"step\": 0.01}}");
}

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

/* ---------------------------------------------------------------------- axes of the world */

/* a model as it is, and as a part that is turned and moved with its gravity: the same values and gradients */
static void test_moved(void **state) {
  (void)state;
  gradient_case c[2];
  char *text = support_read_file(MBG_GALLERY_DIR "/rssr/model.json", NULL), moved[1000];
  /* gravity (0, 0, -9.81) turned by 40 degrees about y, then 70 degrees about z */
  const double a = 40 * 3.14159265358979323846 / 180, b = 70 * 3.14159265358979323846 / 180;
  const double g[3] = {-9.81 * sin(a) * cos(b), -9.81 * sin(a) * sin(b), -9.81 * cos(a)};
  gradient_case_open(&c[0], NULL, text);
  support_write_file("rssr.json", text, strlen(text));
  sprintf(moved,
          "{\"mbgrad\": 1, \"gravity\": [%.17g, %.17g, %.17g], \"parts\": {\"r\": {\"use\": \"rssr.json\", \"at\": "
          "[3, -2, 5], \"rotate\": [[\"z\", \"70 deg\"], [\"y\", \"40 deg\"]]}},"
          " \"criteria\": {\"phi_end\": {\"terminal\": \"r.phi\"}, \"psi_end\": {\"terminal\": \"r.psi\"}}}",
          g[0], g[1], g[2]);
  gradient_case_open(&c[1], NULL, moved);
  double *gradient[2];
  for (int i = 0; i < 2; i++) {
    c[i].options.formulation = "ali3p";
    c[i].options.end = 0.5;
    c[i].options.step = 0.01;
    gradient_case_run(&c[i]);
    gradient_case_simulate(&c[i]);
    gradient[i] = gradient_case_gradient(&c[i], MBG_METHOD_ADJOINT);
  }
  assert_int_equal(c[0].np, c[1].np);
  for (int k = 0; k < 2; k++) {
    assert_string_equal(c[0].m->criteria[k].name, c[1].m->criteria[k].name);
    /* rounding of index 3: positions of 10 m, 4 eps/h^2 */
    assert_true(gradient_difference(c[0].np, c[0].p, gradient[1] + k * c[1].np, gradient[0] + k * c[0].np, 0) < 1e-9);
  }
  for (int i = 0; i < 2; i++) {
    free(gradient[i]);
    gradient_case_close(&c[i]);
  }
  free(text);
}

/* ---------------------------------------------------------------------- another formulation */

/* largest |p dg|/max |p g| of all criteria between ali3p at a step and a reference */
static double distance(const gradient_case *c, const double *a, const double *g) {
  double worst = 0;
  for (int k = 0; k < c->nc; k++) {
    double off = 0, most = 0;
    for (int i = 0; i < c->np; i++) {
      const double p = c->p[i] != 0 ? c->p[i] : 1;
      off = fmax(off, fabs(p * (a[k * c->np + i] - g[k * c->np + i])));
      most = fmax(most, fabs(p * g[k * c->np + i]));
    }
    worst = c->m->criteria[k].kind == MBG__PATH || most == 0 ? worst : fmax(worst, off / most);
  }
  return worst;
}

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

static void check_refused(const char *text, const mbg_run_options *options, int status, const char *message) {
  mbg_context *ctx;
  mbg_model *m;
  mbg_run *run = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_parse(ctx, "model", text, strlen(text), NULL, &m), MBG_OK);
  int err = mbg_run_create(ctx, m, options, &run);
  err = err < 0 ? err : mbg_run_simulate(ctx, run);
  assert_int_equal(err, status);
  if (!strstr(mbg_context_error(ctx), message)) {
    fail_msg("expected '%s', got '%s'", message, mbg_context_error(ctx));
  }
  mbg_run_destroy(run);
  mbg_model_destroy(m);
  mbg_context_destroy(ctx);
}

#define CRANK                                                                                                          \
  "{\"mbgrad\": 1, \"parameters\": {\"w\": 2},"                                                                        \
  " \"bodies\": {\"crank\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.1, \"position\": [0.5, 0, 0]},"       \
  "  \"rod\": {\"motion\": \"planar\", \"mass\": %s, \"inertia\": %s, \"position\": [1.4, 0, 0]}},"                    \
  " \"joints\": {\"O\": {\"type\": \"revolute\", \"between\": [\"ground\", \"crank\"], \"at\": [0, 0, 0]},"            \
  "  \"A\": {\"type\": \"revolute\", \"between\": [\"crank\", \"rod\"], \"at\": [1, 0, 0]}%s},"                        \
  " \"run\": {\"formulation\": \"ali3p\", \"end\": 1, \"step\": 0.01%s}}"

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
