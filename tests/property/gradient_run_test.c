/* What a gradient must not depend on, and what it must follow: checkpoints, threads, controlled steps, breaks, damping,
   interruption; the continuous adjoints converge to it. */
#include "formulations/formulation.h"
#include "property/gradient_case.h"

#include <stdio.h>
#include <threads.h>

/* direct against adjoint and adjoint against twin; rounding of index 3, see gradient_test.c */
static const double tol_direct = 1e-10, tol_twin = 1e-9;

static void open_gallery(gradient_case *c, char *path, const char *name) {
  sprintf(path, "%s/%s", MBG_GALLERY_DIR, name);
  gradient_case_open(c, path, NULL);
}

static void same_bits(const gradient_case *c, const char *what, const double *a, const double *b) {
  if (memcmp(a, b, (size_t)c->nc * (size_t)c->np * sizeof(double)) != 0) {
    fail_msg("%s: gradients are not the same to the last bit", what);
  }
}

/* ---------------------------------------------------------------------- continuous adjoints */

/* largest |p dg| / max |p g| of the smooth criteria */
static double distance(const gradient_case *c, const double *a, const double *g) {
  double worst = 0;
  for (int k = 0; k < c->nc; k++) {
    double off = 0, most = 0;
    for (int i = k * c->np; i < (k + 1) * c->np; i++) {
      off = fmax(off, fabs(c->p[i - k * c->np] * (a[i] - g[i])));
      most = fmax(most, fabs(c->p[i - k * c->np] * g[i]));
    }
    worst = c->m->criteria[k].kind == MBG__PATH ? worst : fmax(worst, off / most);
  }
  return worst;
}

/* distances of the continuous adjoints, index 1 and the paper's, from the discrete one at N steps. The paper's form
   takes no path values: they become end values. */
static void continuous_at(int steps, double off[2]) {
  static const mbg_method methods[] = {MBG_METHOD_CONTINUOUS, MBG_METHOD_PAPER};
  gradient_case c;
  char *text = support_read_file(MBG_GALLERY_DIR "/quarter-car/model.json", NULL), *at;
  while ((at = strstr(text, "\"path\": \""))) {
    char *out = malloc(strlen(text) + 10);
    sprintf(out, "%.*s\"terminal\": \"%s", (int)(at - text), text, at + strlen("\"path\": \""));
    free(text);
    text = out;
  }
  gradient_case_open(&c, NULL, text);
  c.options.step = 1.0 / steps;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  for (int i = 0; i < 2; i++) {
    double *a = gradient_case_gradient(&c, methods[i]);
    off[i] = distance(&c, a, g);
    free(a);
  }
  free(g);
  gradient_case_close(&c);
  free(text);
}

/* quarter car: integrals of accelerations and reactions, end values, joint position as a parameter; both converge with
   second order (docs/formulations/lie.md has the table) */
static void test_continuous(void **state) {
  (void)state;
  double off[3][2];
  if (support_sanitized()) {
    continuous_at(100, off[0]); /* too few for an order */
    return;
  }
  for (int i = 0; i < 3; i++) {
    continuous_at(800 << i, off[i]);
  }
  for (int method = 0; method < 2; method++) {
    for (int i = 0; i < 2; i++) {
      const double order = log2(off[i][method] / off[i + 1][method]);
      if (!(order > 1.85 && order < 2.15)) {
        fail_msg("%s: order %.3f at %d steps", method ? "paper" : "index 1", order, 800 << i);
      }
    }
  }
}

/* ---------------------------------------------------------------------- steps */

/* with a tolerance the first simulation chooses the steps, later ones repeat them: the gradient is that of frozen
   steps */
static void test_controlled(void **state) {
  (void)state;
  gradient_case c;
  char path[300];
  open_gallery(&c, path, "quarter-car");
  c.options.tolerance = 1e-5;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  const int n = mbg_run_node_count(c.run);
  double *t = malloc((size_t)n * sizeof *t), least = 1, most = 0;
  for (int i = 0; i < n; i++) {
    t[i] = mbg_run_node_time(c.run, i);
    least = i ? fmin(least, t[i] - t[i - 1]) : least;
    most = i ? fmax(most, t[i] - t[i - 1]) : most;
  }
  assert_true(most > 2 * least);
  gradient_case_compare(&c, "controlled steps", tol_direct, tol_twin);
  for (int i = 0; i < c.np; i++) {
    c.p[i] *= 1.02;
  }
  gradient_case_check(&c, mbg_run_set_parameters(c.ctx, c.run, c.p), "parameters");
  gradient_case_simulate(&c);
  assert_int_equal(mbg_run_node_count(c.run), n);
  for (int i = 0; i < n; i++) {
    assert_true(mbg_run_node_time(c.run, i) == t[i]);
  }
  free(t);
  gradient_case_close(&c);
}

/* The proof of a run with controlled steps: slope 2 for frozen steps. */
static void test_controlled_taylor(void **state) {
  (void)state;
  gradient_case c;
  char path[300];
  open_gallery(&c, path, "spatial-chain");
  c.options.tolerance = 1e-4;
  c.options.formulation = "lie";
  gradient_case_run(&c);
  gradient_case_check(&c, mbg_run_prove(c.ctx, c.run), "proof");
  for (int k = 0; k < 3; k++) {
    const mbg_proof *q = mbg_run_get_proof(c.run, k);
    assert_true(q->taylor_slope >= 1.95 && q->taylor_decades > 2.99);
    assert_true(q->direct_vs_adjoint <= tol_direct);
  }
  gradient_case_close(&c);
}

static bool has_node(const gradient_case *c, double t) {
  for (int i = 0; i < mbg_run_node_count(c->run); i++) {
    if (fabs(mbg_run_node_time(c->run, i) - t) < 1e-12) {
      return true;
    }
  }
  return false;
}

/* breaks of the run and knots of controls are nodes; steps between them differ, and al is rescaled where they do */
static void test_breaks(void **state) {
  (void)state;
  static const char *const models[] = {"quarter-car", "overhead-crane"};
  for (int i = 0; i < 2; i++) {
    gradient_case c;
    char path[300];
    open_gallery(&c, path, models[i]);
    c.options.step = i ? 0.0831 : 0.00731;
    c.options.formulation = i ? "dae" : "lie";
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    for (int k = 0; k < 3; k++) {
      assert_true(has_node(&c, i ? 0.5 * (k + 1) : k == 2 ? 1 : 0.1 + 0.2 * k));
    }
    gradient_case_compare(&c, models[i], tol_direct, tol_twin);
    gradient_case_close(&c);
  }
}

static void test_damping(void **state) {
  (void)state;
  static const double rho[] = {0, 0.5, 0.8, 1};
  for (int i = 0; i < 4; i++) {
    gradient_case c;
    char path[300], what[40];
    open_gallery(&c, path, rho[i] == 1 ? "five-bar" : "double-pendulum-spring");
    sprintf(what, "rho_inf %g", rho[i]);
    c.options.rho_inf = rho[i];
    c.options.formulation = "lie";
    c.options.end = 0.5;
    c.options.step = 0.01;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_compare(&c, what, tol_direct, tol_twin);
    gradient_case_close(&c);
  }
}

/* ---------------------------------------------------------------------- checkpoints */

/* N = 2000, a fiftieth of the memory: the same bits from every method, also when the gradient is asked for again */
static void test_checkpoints(void **state) {
  (void)state;
  double *whole[MBG_METHOD_COUNT], bytes = 0;
  const int steps = support_sanitized() ? 400 : 2000;
  for (int limited = 0; limited < 2; limited++) {
    gradient_case c;
    char path[300];
    mbg_run_work work;
    open_gallery(&c, path, "quarter-car");
    c.options.step = 1.0 / steps;
    c.options.memory = limited ? bytes / 50 : 0;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    for (int round = 0; round < 1 + limited; round++) {
      for (int method = MBG_METHOD_DIRECT; method <= MBG_METHOD_PAPER; method++) {
        double *g = gradient_case_gradient(&c, (mbg_method)method);
        if (limited) {
          same_bits(&c, mbg_method_name(method), g, whole[method]);
          free(g);
        } else {
          whole[method] = g;
        }
      }
    }
    work = *mbg_run_get_work(c.run);
    bytes = limited ? bytes : work.peak_bytes;
    assert_true(work.peak_bytes <= (limited ? bytes / 50 : bytes));
    assert_true(limited ? work.recomputed_steps > steps : work.recomputed_steps == 0);
    gradient_case_close(&c);
  }
  for (int method = MBG_METHOD_DIRECT; method <= MBG_METHOD_PAPER; method++) {
    free(whole[method]);
  }
}

/* limits from one node to almost all, with controlled steps too */
static void test_checkpoint_limits(void **state) {
  (void)state;
  for (int controlled = 0; controlled < 2; controlled++) {
    double *whole = NULL, bytes = 0;
    for (int i = 0; i < 8; i++) {
      static const double part[] = {0, 1e-9, 0.05, 0.1, 0.3, 0.6, 0.99, 1};
      gradient_case c;
      char path[300];
      mbg_run_work work;
      open_gallery(&c, path, "driven-flap");
      c.options.formulation = "lie";
      c.options.end = 1;
      c.options.step = controlled ? NAN : 0.01;
      c.options.tolerance = controlled ? 1e-4 : NAN;
      c.options.memory = part[i] * bytes;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
      work = *mbg_run_get_work(c.run);
      if (whole) {
        same_bits(&c, "limited", g, whole);
        free(g);
      } else {
        whole = g;
        bytes = work.peak_bytes;
      }
      gradient_case_close(&c);
    }
    free(whole);
  }
}

/* ---------------------------------------------------------------------- threads, interruption */

typedef struct {
  const mbg_model *model;
  double factor, psi[8], gradient[64];
  int err;
} job;

static int work_on(void *user) {
  job *j = user;
  mbg_context *ctx;
  mbg_run *run = NULL;
  mbg_run_options options;
  double p[16];
  mbg_run_options_default(&options, sizeof(options));
  options.end = 0.2;
  j->err = mbg_context_create(NULL, &ctx);
  for (int i = 0; i < mbg_model_parameter_count(j->model); i++) {
    p[i] = j->factor * mbg_model_parameter_value(j->model, i);
  }
  j->err = j->err < 0 ? j->err : mbg_run_create(ctx, j->model, &options, &run);
  for (int round = 0; j->err == MBG_OK && round < 3; round++) {
    j->err = mbg_run_set_parameters(ctx, run, p);
    j->err = j->err < 0 ? j->err : mbg_run_simulate(ctx, run);
    j->err = j->err < 0 ? j->err : mbg_run_criteria(ctx, run, j->psi);
    j->err = j->err < 0 ? j->err : mbg_run_gradient(ctx, run, MBG_METHOD_ADJOINT, j->gradient, NULL);
  }
  mbg_run_destroy(run);
  mbg_context_destroy(ctx);
  return 0;
}

/* two runs of one model in two threads give what they give alone */
static void test_threads(void **state) {
  (void)state;
  gradient_case c;
  char path[300];
  thrd_t thread[2];
  open_gallery(&c, path, "rssr");
  job alone[2] = {{.model = c.m, .factor = 1}, {.model = c.m, .factor = 1.001}}, both[2] = {alone[0], alone[1]};
  for (int i = 0; i < 2; i++) {
    work_on(&alone[i]);
    assert_int_equal(alone[i].err, MBG_OK);
    assert_int_equal(thrd_create(&thread[i], work_on, &both[i]), thrd_success);
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(thrd_join(thread[i], NULL), thrd_success);
    assert_memory_equal(alone[i].psi, both[i].psi, (size_t)c.nc * sizeof(double));
    assert_memory_equal(alone[i].gradient, both[i].gradient, (size_t)(c.nc * c.np) * sizeof(double));
  }
  gradient_case_close(&c);
}

static bool count_down(void *user) { return (*(int *)user)-- <= 0; }

/* interrupted after 40 steps: nodes, criteria and gradient are those of the run that ends there; a gradient can be
   interrupted too */
static void test_interrupt(void **state) {
  (void)state;
  gradient_case c, shorter;
  char path[300];
  int left = 40;
  double psi[8], expected[8];
  open_gallery(&c, path, "rssr");
  c.options.step = 0.01;
  c.options.interrupt = count_down;
  c.options.user = &left;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_true(mbg_run_partial(c.run));
  assert_int_equal(mbg_run_node_count(c.run), 41);
  gradient_case_open(&shorter, path, NULL);
  shorter.options.step = 0.01;
  shorter.options.end = 0.4;
  gradient_case_run(&shorter);
  gradient_case_simulate(&shorter);
  assert_false(mbg_run_partial(shorter.run));
  mbg_run_criteria(c.ctx, c.run, psi);
  mbg_run_criteria(shorter.ctx, shorter.run, expected);
  assert_close_array(psi, expected, c.nc, 1e-12);
  left = 1000;
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT),
         *exact = gradient_case_gradient(&shorter, MBG_METHOD_ADJOINT);
  assert_close_array(g, exact, c.nc * c.np, 1e-10);
  for (int method = MBG_METHOD_DIRECT; method <= MBG_METHOD_ADJOINT; method++) {
    left = 5;
    assert_int_equal(mbg_run_gradient(c.ctx, c.run, (mbg_method)method, g, NULL), MBG_ERROR_INTERRUPTED);
    assert_non_null(strstr(mbg_context_error(c.ctx), "interrupted at t = "));
    mbg_context_clear(c.ctx);
  }
  left = 100000;
  gradient_case_simulate(&c);
  assert_false(mbg_run_partial(c.run));
  free(g);
  free(exact);
  gradient_case_close(&c);
  gradient_case_close(&shorter);
}

/* ---------------------------------------------------------------------- all numbers of the model */

/* dpsi/dp = A_p^T psi_a, with psi_a of mbg_run_gradient_all */
static void test_all(void **state) {
  (void)state;
  gradient_case c;
  char path[300];
  open_gallery(&c, path, "quarter-car");
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  const int na = mbg_run_attribute_count(c.run);
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT), *all = malloc((size_t)na * sizeof *all),
         *by_p = calloc(4, 8);
  mbg__arena arena;
  mbg__design *design;
  mbg__arena_init(&arena, mbg__context_allocator(c.ctx));
  assert_int_equal(mbg__design_create(c.ctx, &arena, c.m, &design), MBG_OK);
  assert_int_equal(mbg__design_update(c.ctx, design, c.p), MBG_OK);
  for (int k = 0; k < c.nc; k++) {
    gradient_case_check(&c, mbg_run_gradient_all(c.ctx, c.run, k, all), "all");
    memset(by_p, 0, 4 * sizeof *by_p);
    mbg__design_pull(design, all, by_p);
    assert_true(gradient_difference(c.np, c.p, by_p, g + k * c.np, 0) < 1e-13);
  }
  double *values = calloc(2 * (size_t)na + 1, sizeof(double)), *scales = values + na;
  assert_int_equal(mbg_run_attributes(c.run, values, scales), MBG_OK);
  for (int i = 0; i < na; i++) {
    assert_true(mbg_run_attribute_owner(c.run, i) && mbg_run_attribute_key(c.run, i));
    assert_true(scales[i] >= fabs(values[i]));
  }
  free(values);
  mbg__arena_destroy(&arena);
  free(g);
  free(all);
  free(by_p);
  gradient_case_close(&c);
}

/* ---------------------------------------------------------------------- what once was wrong */

static void check_text(const char *what, const char *text, double tol) {
  gradient_case c;
  gradient_case_open(&c, NULL, text);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_compare(&c, what, tol_direct, tol);
  gradient_case_close(&c);
}

/* a torsion spring whose angle passes half a turn inside a step: the angle stays continuous */
static void test_half_turn(void **state) {
  (void)state;
  check_text("half a turn",
             "{\"mbgrad\": 1, \"parameters\": {\"k\": 3, \"w\": 4, \"a\": 2.9},"
             " \"bodies\": {\"b\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.5, \"com\": [0.2, 0, 0]}},"
             " \"joints\": {\"j\": {\"type\": \"revolute\", \"between\": [\"ground\", \"b\"], \"at\": [0, 0, 0]}},"
             " \"forces\": {\"s\": {\"type\": \"torsion-spring-damper\", \"joint\": \"j\", \"stiffness\": \"k\"}},"
             " \"signals\": {\"q\": {\"type\": \"coordinate\", \"joint\": \"j\"}, \"E\": {\"type\": \"energy\"}},"
             " \"criteria\": {\"end\": {\"terminal\": \"q\"}, \"sum\": {\"integral\": \"q^2\"}, \"drift\": "
             "{\"terminal\": \"E\"}},"
             " \"initial\": {\"pin\": {\"p\": {\"joint\": \"j\", \"coordinate\": \"angle\", \"value\": \"a\", "
             "\"rate\": \"w\"}}},"
             " \"run\": {\"end\": 0.4, \"step\": 0.02}}",
             tol_twin);
}

/* frames that depend on parameters outside the motions of their body: height of a planar body, axes of a point */
static void test_outside_motions(void **state) {
  (void)state;
  static const char text[] =
      "{\"mbgrad\": 1, \"parameters\": {\"z\": 0.3, \"a\": 0.4, \"k\": 50}, \"gravity\": [1, -9, 0],"
      " \"bodies\": {\"b\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.1, \"position\": [0.5, 0.2, \"z\"]},"
      "  \"c\": {\"motion\": \"point\", \"mass\": 0.7, \"position\": [0, 1, 0.5], \"rotate\": [[\"x\", \"a\"], [\"z\", "
      "\"2*a\"]],"
      "   \"velocity\": [1, 0.5, 0.2]}},"
      " \"markers\": {\"m\": {\"on\": \"c\", \"at\": [0.3, 0.1, 0.2]}, \"n\": {\"on\": \"b\", \"at\": [0.2, 0.3, "
      "0.1]}},"
      " \"joints\": {\"j\": {\"type\": \"distance\", \"between\": [\"ground\", \"c\"], \"length\": 1.2}},"
      " \"forces\": {\"s\": {\"type\": \"spring-damper\", \"between\": [\"m\", \"n\"], \"stiffness\": \"k\", "
      "\"damping\": 2,"
      "  \"rest\": 0.5}, \"g\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"b\"], \"points\": [[1, 1, "
      "1], [0, 0, 0]],"
      "  \"stiffness\": 20}},"
      " \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"n\", \"component\": \"x\"}, \"y\": {\"type\": "
      "\"position\", \"of\": \"m\","
      "  \"component\": \"y\"}, \"ax\": {\"type\": \"acceleration\", \"of\": \"m\", \"component\": \"x\"},"
      "  \"f\": {\"type\": \"reaction\", \"joint\": \"j\", \"component\": \"fy\", \"in\": \"world\"}},"
      " \"criteria\": {\"one\": {\"terminal\": \"x\"}, \"two\": {\"terminal\": \"y + 0.1*ax\"},"
      "  \"three\": {\"integral\": \"ax^2 + 0.1*f^2\"}}, \"run\": {\"end\": 0.5, \"step\": 0.01}}";
  check_text("outside motions", text, tol_twin);
  /* the continuous adjoint carries them too: second order */
  double off[2];
  for (int i = 0; i < 2; i++) {
    gradient_case c;
    gradient_case_open(&c, NULL, text);
    c.options.step = 0.005 / (1 << i);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    double *a = gradient_case_gradient(&c, MBG_METHOD_CONTINUOUS), *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
    off[i] = distance(&c, a, g);
    free(a);
    free(g);
    gradient_case_close(&c);
  }
  assert_true(log2(off[0] / off[1]) > 1.7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_continuous),        cmocka_unit_test(test_controlled),
      cmocka_unit_test(test_controlled_taylor), cmocka_unit_test(test_breaks),
      cmocka_unit_test(test_damping),           cmocka_unit_test(test_checkpoints),
      cmocka_unit_test(test_checkpoint_limits), cmocka_unit_test(test_threads),
      cmocka_unit_test(test_interrupt),         cmocka_unit_test(test_all),
      cmocka_unit_test(test_half_turn),         cmocka_unit_test(test_outside_motions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
