/* Gradients of `qr`: direct and continuous adjoint agree to the tolerance, with each other and with the derivative of
   the discrete run (the complex twin repeats its steps), on random models and for every kind of criterion, input and
   start. The discrete adjoint is the derivative of the discrete run, at any tolerance: equal to the complex twin, with
   Taylor slope 2. A failing seed is repeated with MBG_SEED=number. */
#include "model/design.h"
#include "property/gradient_qr_proof.h"
#include "run/run_internal.h"

/* ---------------------------------------------------------------------- random models */

static void test_random_qr(void **state) {
  (void)state;
  const char *one = getenv("MBG_SEED");
  unit = 1e-3;
  if (one) {
    check_random_qr(strtoull(one, NULL, 10));
    return;
  }
  const int rounds = support_sanitized() ? 1 : support_rounds(4, 300), specials = support_rounds(1, 300);
  for (int i = 0; i < rounds; i++) {
    check_random_qr((uint64_t)i);
  }
  assert_true(skipped <= 1 + rounds / 20);
  for (int i = 0; i < specials; i++) {
    check_random_qr(PROOF_SPECIAL + (uint64_t)i);
  }
  assert_true(skipped <= 1 + rounds / 20 + specials / 4); /* as in test_special_models */
  assert_true(kinked <= compared / 50);
  if (support_rounds(0, 1)) {
    print_message("direct against continuous %.1e, discrete %.1e; twin against continuous %.1e, discrete %.1e; "
                  "%d models skipped, %d of %d kinked\n",
                  far[0], far[2], far[1], far[3], skipped, kinked, compared);
  }
  unit = 0;
}

/* the same on models with modal bodies and with beams */
static void test_modal_qr(void **state) {
  (void)state;
  check_with_qr(9001, support_sanitized() ? 1 : support_rounds(2, 20), &with_modal);
}

static void test_beams_qr(void **state) {
  (void)state;
  check_with_qr(7003, support_sanitized() ? 1 : support_rounds(1, 20), &with_beams);
}

static void test_random_exact(void **state) {
  (void)state;
  check_seeds_exact(0, support_sanitized() ? 1 : support_rounds(4, 300));
}

static void test_beams_exact(void **state) {
  (void)state;
  with_beams = true;
  check_seeds_exact(7002, support_sanitized() ? 1 : support_rounds(3, 300));
  with_beams = false;
}

/* a tenth of the run of every model that qr takes; four-bar-chain passes singular positions */
static void check_gallery_exact(const char *name, int number) {
  gradient_case c;
  char path[300];
  int left = 1000000;
  snprintf(path, sizeof path, "%s/%s", MBG_GALLERY_DIR, name);
  gradient_case_open(&c, path, NULL);
  if (c.m->nbeam == 0 && c.np > 0 && c.np <= 20 && c.nc > 0 && strcmp(name, "four-bar-chain") != 0) {
    c.options.formulation = "qr";
    c.options.integrator = pairs[number % MBG_COUNT(pairs)];
    c.options.end = c.m->run.start + 0.1 * (c.m->run.end - c.m->run.start);
    c.options.step = (c.options.end - c.m->run.start) / 20;
    gradient_case_run(&c);
    if (runs_qr(&c, name, &left)) {
      check_exact(&c, name);
    }
  }
  gradient_case_close(&c);
}

static void test_gallery_exact(void **state) {
  (void)state;
  struct dirent **list;
  const int n = scandir(MBG_GALLERY_DIR, &list, NULL, alphasort),
            stride = support_sanitized() ? 12 : support_rounds(3, 1);
  int models = 0;
  for (int i = 0; i < n; i++) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, list[i]->d_name);
    FILE *file = fopen(path, "r");
    if (file) {
      fclose(file);
      if (models % stride == 0) {
        check_gallery_exact(list[i]->d_name, models);
      }
      models++;
    }
    free(list[i]);
  }
  free(list);
  check_shares();
}

/* ---------------------------------------------------------------------- criteria and inputs */

/* A pendulum on a driven slide with a spring, pushed by a control and by a force from a table in time. */
#define SLIDE(criteria, run)                                                                                           \
  "{\"mbgrad\": 1, \"parameters\": {\"k\": 30, \"l\": 0.7, \"A\": 0.1, \"w\": 3, \"u\": {\"value\": [1, -2, 2, "       \
  "0.5]}}, "                                                                                                           \
  "\"gravity\": [0, -9.81, 0], \"tables\": {\"push\": {\"x\": [0, 0.31, 0.77, 2], \"y\": [0, 3, -2, 0]}}, "            \
  "\"controls\": {\"drive\": {\"times\": [0, 0.4, 0.9, 2], \"values\": \"u\"}}, "                                      \
  "\"bodies\": {\"cart\": {\"motion\": \"planar\", \"mass\": 2, \"inertia\": 0.1}, "                                   \
  "\"rod\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.05, \"position\": [0, \"-l\", 0]}}, "                 \
  "\"joints\": {\"rail\": {\"type\": \"prismatic\", \"between\": [\"ground\", \"cart\"], \"at\": [0, 0, 0], "          \
  "\"axis\": [1, 0, 0]}, "                                                                                             \
  "\"pin\": {\"type\": \"revolute\", \"between\": [\"cart\", \"rod\"], \"at\": [0, 0, 0]}}, "                          \
  "\"drivers\": {\"shake\": {\"joint\": \"rail\", \"law\": \"A*sin(w*t)\"}}, "                                         \
  "\"forces\": {\"s\": {\"type\": \"torsion-spring-damper\", \"joint\": \"pin\", \"stiffness\": \"k/10\", "            \
  "\"damping\": 0.1}, "                                                                                                \
  "\"m\": {\"type\": \"actuator\", \"joint\": \"pin\", \"force\": \"drive\"}, "                                        \
  "\"p\": {\"type\": \"force\", \"on\": \"rod\", \"force\": [\"push(t)\", 0, 0]}}, "                                   \
  "\"signals\": {\"q\": {\"type\": \"coordinate\", \"joint\": \"pin\"}, "                                              \
  "\"a\": {\"type\": \"acceleration\", \"of\": \"rod\", \"component\": \"y\"}, "                                       \
  "\"f\": {\"type\": \"reaction\", \"driver\": \"shake\", \"component\": \"fz\"}}, "                                   \
  "\"criteria\": {" criteria                                                                                           \
  "}, \"initial\": {\"pin\": {\"q\": {\"joint\": \"pin\", \"value\": 0.4, \"rate\": \"w/3\"}}}, "                      \
  "\"run\": {\"formulation\": \"qr\", \"end\": 2" run "}}"

static const char kinds[] =
    SLIDE("\"end\": {\"terminal\": \"q + 0.01*a\"}, \"sum\": {\"integral\": \"q^2 + 0.01*a^2\"}, "
          "\"load\": {\"integral\": \"0.01*f^2\"}, "
          "\"fit\": {\"least_squares\": \"q\", \"data\": {\"time\": [0.123, 0.5001, 0.9, 1.7, 2], "
          "\"value\": [0.1, -0.2, 0.3, 0, 0.1]}}, "
          "\"fita\": {\"least_squares\": \"a\", \"data\": {\"time\": [0.2, 1.3], \"value\": [1, 2]}}, "
          "\"most\": {\"smooth_maximum\": \"q\", \"sharpness\": 300}, "
          "\"path\": {\"path\": \"q\", \"every\": 0.13}, "
          "\"all\": {\"value\": \"sum + 3*fit*most + 0.1*end\"}",
          ", \"breaks\": [0.6, 1.1]");

/* without a smooth maximum integrals are by stages but for steps in which one of them turns sharply */
static const char stages[] =
    SLIDE("\"end\": {\"terminal\": \"q + 0.01*a\"}, \"sum\": {\"integral\": \"q^2 + 0.01*a^2\"}, "
          "\"load\": {\"integral\": \"0.01*f^2\"}, \"time\": {\"integral\": \"q*t + drive\"}, "
          "\"fit\": {\"least_squares\": \"q\", \"data\": {\"time\": [0.123, 0.5001, 0.9, 1.7, 2], "
          "\"value\": [0.1, -0.2, 0.3, 0, 0.1]}}, "
          "\"path\": {\"path\": \"q\", \"every\": 0.13}, \"swing\": {\"integral\": \"sqrt((q - 0.1)^2 + 1e-6)\"}, "
          "\"all\": {\"value\": \"sum*load + 3*fit + 0.1*end\"}",
          ", \"breaks\": [0.6, 1.1]");
static const char *const both[] = {kinds, stages};

/* every kind of criterion with samples off the steps, knots of a table and of controls, breaks, a driver */
static void test_kinds(void **state) {
  (void)state;
  for (int i = 0; i < MBG_COUNT(both); i++) {
    gradient_case c;
    open_qr(&c, both[i]);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    assert_true((c.run->nodes.staged != NULL) == (i == 1));
    compare_all(&c, i ? "stages" : "kinds", false);
    gradient_case_close(&c);
  }
}

/* under error control at loose tolerances, where the three gradients differ: the discrete one is that of the values */
static void test_kinds_exact(void **state) {
  (void)state;
  for (int n = 0; n < 2 * MBG_COUNT(both); n++) {
    const int i = n % 2;
    gradient_case c;
    open_qr(&c, both[n / 2]);
    c.options.integrator = i ? "dp5" : NULL;
    c.options.tolerance = i ? 1e-2 : 1e-4;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT), *exact = gradient_case_twin(&c, NULL),
           *direct = gradient_case_gradient(&c, MBG_METHOD_DIRECT), most = 0;
    for (int k = 0; k < c.nc; k++) {
      const int at = k * c.np;
      assert_true(gradient_difference(c.np, c.p, g + at, exact + at, 0) < tol_direct);
      most = fmax(most, gradient_difference(c.np, c.p, g + at, direct + at, 0));
    }
    assert_true(most > 1e-6);
    free(g);
    free(exact);
    free(direct);
    gradient_case_close(&c);
  }
}

/* limits from one step to almost all: the same bits, also when the gradient is asked for again */
static void check_checkpoints(const char *text) {
  static const double part[] = {0, 1e-9, 0.1, 0.3, 0.99};
  static const mbg_method methods[] = {MBG_METHOD_ADJOINT, MBG_METHOD_CONTINUOUS, MBG_METHOD_ADJOINT};
  double *whole[2] = {NULL, NULL}, bytes = 0;
  for (int i = 0; i < MBG_COUNT(part); i++) {
    gradient_case c;
    open_qr(&c, text);
    c.options.tolerance = 1e-7;
    c.options.memory = part[i] * bytes;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    for (int k = 0; k < MBG_COUNT(methods); k++) {
      double *g = gradient_case_gradient(&c, methods[k]);
      if (!whole[k % 2]) {
        whole[k % 2] = g;
        continue;
      }
      assert_memory_equal(g, whole[k % 2], (size_t)(c.nc * c.np) * sizeof(double));
      free(g);
    }
    const mbg_run_work *work = mbg_run_get_work(c.run);
    bytes = i == 0 ? work->peak_bytes : bytes;
    assert_true(i == 0 ? work->recomputed_steps == 0 : work->recomputed_steps > 0 || part[i] > 0.9);
    assert_true(i < 2 || work->peak_bytes <= part[i] * bytes);
    gradient_case_close(&c);
  }
  free(whole[0]);
  free(whole[1]);
}

static void test_checkpoints(void **state) {
  (void)state;
  check_checkpoints(kinds);
  check_checkpoints(stages);
}

/* the second simulation of a run gives the bits of the first, at the node of the start too */
static void test_repeated(void **state) {
  (void)state;
  gradient_case c;
  double psi[2][16];
  open_qr(&c, SLIDE("\"first\": {\"path\": \"f\"}, \"sum\": {\"integral\": \"f^2\"}", ", \"breaks\": [0.6, 1.1]"));
  c.options.tolerance = 1e-7;
  c.options.all_signals = true;
  gradient_case_run(&c);
  double start[3] = {0};
  for (int i = 0; i < 2; i++) {
    gradient_case_simulate(&c);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi[i]), "criteria");
    for (int k = 0; k < 3; k++) {
      start[k] = i ? start[k] : mbg_run_signal(c.run, 0, k);
      assert_true(mbg_run_signal(c.run, 0, k) == start[k]);
    }
  }
  assert_memory_equal(psi[0], psi[1], (size_t)c.nc * sizeof(double));
  gradient_case_close(&c);
}

/* values do not depend on where the steps are: those of dp5 and of tighter tolerances are the same */
static void test_values(void **state) {
  (void)state;
  double psi[2][16];
  int nc = 0;
  for (int i = 0; i < 2; i++) {
    gradient_case c;
    open_qr(&c, stages);
    c.options.integrator = i ? "dp5" : NULL;
    c.options.tolerance = i ? 1e-10 : 1e-12;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi[i]), "criteria");
    nc = c.nc;
    gradient_case_close(&c);
  }
  for (int k = 0; k < nc; k++) {
    assert_close(psi[1][k], psi[0][k], 1e-7 * (1 + fabs(psi[0][k])));
  }
}

/* histories are the derivatives that end values have; the sums over all attributes are the gradient */
typedef struct {
  int last;
  double dy[16];
  const gradient_case *c;
} last_node;

static int take_last(void *user, int node, const double *dy) {
  last_node *x = user;
  if (node == x->last) {
    memcpy(x->dy, dy, (size_t)x->c->np * sizeof(double));
  }
  return 0;
}

static void test_history_and_all(void **state) {
  (void)state;
  static const char text[] = SLIDE("\"end\": {\"terminal\": \"q\"}", "");
  gradient_case c;
  open_qr(&c, text);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  double *g = gradient_case_gradient(&c, MBG_METHOD_CONTINUOUS), by_p[16] = {0};
  last_node x = {.last = mbg_run_node_count(c.run) - 1, .c = &c};
  gradient_case_check(&c, mbg_run_history(c.ctx, c.run, take_last, &x), "history");
  assert_true(gradient_difference(c.np, c.p, x.dy, g, 0) < tol_adjoint);
  double *all = calloc((size_t)mbg_run_attribute_count(c.run), sizeof *all);
  gradient_case_check(&c, mbg_run_gradient_all(c.ctx, c.run, 0, all), "all");
  mbg__arena arena;
  mbg__design *design;
  mbg__arena_init(&arena, mbg__context_allocator(c.ctx));
  assert_int_equal(mbg__design_create(c.ctx, &arena, c.m, &design), MBG_OK);
  assert_int_equal(mbg__design_update(c.ctx, design, c.p), MBG_OK);
  mbg__design_pull(design, all, by_p);
  assert_true(gradient_difference(c.np, c.p, by_p, g, 0) < tol_adjoint);
  mbg__arena_destroy(&arena);
  free(all);
  free(g);
  gradient_case_close(&c);
}

/* ---------------------------------------------------------------------- turns */

/* J q'' = -k q from q = 0 with the rate w: q = w/om sin(om t), om^2 = k/J, here five turns each way. The angle is found
   again from the frames wherever the integrator looks. */
static void test_turns(void **state) {
  (void)state;
  static const char text[] =
      "{\"mbgrad\": 1, \"parameters\": {\"k\": 0.8, \"w\": 40, \"J\": 0.5}, "
      "\"bodies\": {\"b\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": \"J\"}}, "
      "\"joints\": {\"j\": {\"type\": \"revolute\", \"between\": [\"ground\", \"b\"], \"at\": [0, 0, 0]}}, "
      "\"forces\": {\"s\": {\"type\": \"torsion-spring-damper\", \"joint\": \"j\", \"stiffness\": \"k\"}}, "
      "\"signals\": {\"q\": {\"type\": \"coordinate\", \"joint\": \"j\"}}, \"criteria\": {\"end\": {\"terminal\": "
      "\"q\"}}, "
      "\"initial\": {\"pin\": {\"p\": {\"joint\": \"j\", \"value\": 0, \"rate\": \"w\"}}}, \"run\": {\"end\": 6}}";
  gradient_case c;
  double psi;
  open_qr(&c, text);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, &psi), "criteria");
  const double k = 0.8, w = 40, J = 0.5, t = 6, om = sqrt(k / J), s = sin(om * t), q = w / om * s;
  const double q_om = w / om * (t * cos(om * t) - s / om);
  const double exact[] = {q_om * om / (2 * k), s / om, -q_om * om / (2 * J)};
  assert_true(fabs(w / om) > 5 * 6.28);
  assert_close(psi, q, 1e-9);
  for (int i = 0; i < 2; i++) {
    double *g = gradient_case_gradient(&c, i ? MBG_METHOD_CONTINUOUS : MBG_METHOD_DIRECT);
    for (int p = 0; p < 3; p++) {
      assert_close(g[p], exact[p], 1e-9 * (1 + fabs(exact[p])));
    }
    free(g);
  }
  gradient_case_close(&c);
}

/* a four-bar with pins at the origin, at (0, b), at C and at D, whose crank turns at a rate */
#define FOUR_BAR(b, C, D, rate, run)                                                                                   \
  "{\"mbgrad\": 1, \"parameters\": {\"L\": 1}, \"gravity\": [0, -9.81, 0], \"bodies\": {"                              \
  "\"a\": {\"motion\": \"planar\", \"mass\": 20, \"inertia\": 30, \"position\": [0, 0.5, 0]}, "                        \
  "\"b\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.1, \"position\": [1, 1, 0]}, "                          \
  "\"c\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.1, \"position\": [2, 0.5, 0]}}, \"joints\": {"          \
  "\"A\": {\"type\": \"revolute\", \"between\": [\"ground\", \"a\"], \"at\": [0, 0, 0]}, "                             \
  "\"B\": {\"type\": \"revolute\", \"between\": [\"a\", \"b\"], \"at\": [0, " b                                        \
  ", 0]}, \"C\": {\"type\": \"revolute\", \"between\": [\"b\", \"c\"], \"at\": " C                                     \
  "}, \"D\": {\"type\": \"revolute\", \"between\": [\"c\", \"ground\"], \"at\": " D                                    \
  ", \"cut\": true}}, \"markers\": {\"p\": {\"on\": \"b\", \"at\": [1, 1, 0]}}, \"initial\": {\"pin\": {"              \
  "\"x\": {\"joint\": \"A\", \"coordinate\": \"angle\", \"value\": 0, \"rate\": " rate "}}}, "                         \
  "\"signals\": {\"x\": {\"type\": \"position\", \"of\": \"p\", \"component\": \"x\"}, "                               \
  "\"q\": {\"type\": \"coordinate\", \"joint\": \"A\"}}, "                                                             \
  "\"criteria\": {\"psi\": {\"integral\": \"x^2\"}}, \"run\": {" run "}}"

static int last_turns(const gradient_case *c) {
  mbg__frame H[3];
  double t, v[18];
  int turns[1];
  assert_int_equal(c->m->nturn, 1);
  assert_int_equal(c->run->formulation->ops->last(c->run->work, &t, H, v, turns), MBG_OK);
  return turns[0];
}

/* a repeated run, whose steps end in the plane, counts the turns of the first and sees the same singular position, from
   which the parameter takes the branches apart */
static void test_ends_in_plane(void **state) {
  (void)state;
  static const char *const texts[] = {
      FOUR_BAR("0.3", "[0.918568, 0.695228, 0]", "[1, 0, 0]", "20", "\"end\": 4"),
      FOUR_BAR("1", "[\"2*L\", 1, 0]", "[2, 0, 0]", "8", "\"end\": 0.4, \"integrator\": \"rk4\"")};
  for (int k = 0; k < MBG_COUNT(texts); k++) {
    gradient_case c;
    const int first = 0;
    double psi[2], g;
    char error[512] = "";
    open_qr(&c, texts[k]);
    c.options.tolerance = k ? NAN : 1e-7;
    c.options.step = k ? 0.01 : NAN;
    gradient_case_run(&c);
    assert_int_equal(mbg_run_select(c.ctx, c.run, 1, &first), MBG_OK);
    for (int i = 0; i < 2; i++) {
      gradient_case_simulate(&c);
      assert_int_equal(mbg_run_criteria(c.ctx, c.run, &psi[i]), MBG_OK);
      assert_int_equal(last_turns(&c), k ? 1 : 13);
      mbg_context_clear(c.ctx);
      assert_int_equal(mbg_run_gradient(c.ctx, c.run, MBG_METHOD_ADJOINT, &g, NULL), k ? MBG_ERROR_SINGULAR : MBG_OK);
      assert_true(i == 0 || !strcmp(error, mbg_context_error(c.ctx)));
      snprintf(error, sizeof(error), "%s", mbg_context_error(c.ctx));
    }
    assert_true((k == 1) == (strstr(error, "the run passes a singular position at t = 0.193") != NULL));
    assert_close(psi[1], psi[0], 1e-12); /* signals in three components or six: rounding */
    gradient_case_close(&c);
  }
}

/* ---------------------------------------------------------------------- starts, ends */

/* static equilibrium at the start, which follows the parameters; then a push */
static void test_equilibrium(void **state) {
  (void)state;
  static const char text[] =
      "{\"mbgrad\": 1, \"parameters\": {\"k\": 30, \"m\": 1.3, \"l\": 0.8}, \"gravity\": [0, -9.81, 0], "
      "\"bodies\": {\"b\": {\"motion\": \"planar\", \"mass\": \"m\", \"com\": [\"l\", 0, 0], \"inertia\": 0.1}}, "
      "\"joints\": {\"j\": {\"type\": \"revolute\", \"between\": [\"ground\", \"b\"], \"at\": [0, 0, 0]}}, "
      "\"forces\": {\"s\": {\"type\": \"torsion-spring-damper\", \"joint\": \"j\", \"stiffness\": \"k\", \"damping\": "
      "1}, "
      "\"p\": {\"type\": \"actuator\", \"joint\": \"j\", \"force\": \"5*t^2\"}}, "
      "\"signals\": {\"q\": {\"type\": \"coordinate\", \"joint\": \"j\"}}, "
      "\"criteria\": {\"end\": {\"terminal\": \"q\"}, \"sum\": {\"integral\": \"q^2\"}}, "
      "\"initial\": {\"start\": \"equilibrium\"}, \"run\": {\"end\": 1}}";
  gradient_case c;
  open_qr(&c, text);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  compare_all(&c, "equilibrium", false);
  gradient_case_close(&c);
}

/* a run that is cut and continued from the state in a file ends where the whole one ends */
static void test_restart(void **state) {
  (void)state;
  double psi[2][16];
  char path[] = "qr_state.json";
  int nc = 0;
  for (int part = 0; part < 3; part++) {
    gradient_case c;
    open_qr(&c, SLIDE("\"end\": {\"terminal\": \"q\"}, \"enda\": {\"terminal\": \"a\"}", ""));
    c.options.end = part == 1 ? 0.7 : 2;
    gradient_case_run(&c);
    if (part == 2) {
      gradient_case_check(&c, mbg_run_read_state(c.ctx, c.run, path), "restart");
    }
    gradient_case_simulate(&c);
    if (part == 1) {
      gradient_case_check(&c, mbg_run_write_state(c.ctx, c.run, path), "state");
    } else {
      gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi[part / 2]), "criteria");
    }
    nc = c.nc;
    gradient_case_close(&c);
  }
  assert_close_array(psi[1], psi[0], nc, 1e-9);
  remove(path);
}

/* interrupted: values and gradients are those of the run that ends there; a gradient can be interrupted too */
static void test_interrupt(void **state) {
  (void)state;
  static const char text[] = SLIDE("\"end\": {\"terminal\": \"q\"}, \"sum\": {\"integral\": \"q^2\"}", "");
  static const mbg_method methods[] = {MBG_METHOD_DIRECT, MBG_METHOD_CONTINUOUS};
  gradient_case c, shorter;
  int left = 20;
  double psi[2][2];
  open_qr(&c, text);
  c.options.interrupt = count_down;
  c.options.user = &left;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_true(mbg_run_partial(c.run));
  open_qr(&shorter, text);
  shorter.options.end = mbg_run_node_time(c.run, mbg_run_node_count(c.run) - 1);
  gradient_case_run(&shorter);
  gradient_case_simulate(&shorter);
  mbg_run_criteria(c.ctx, c.run, psi[0]);
  mbg_run_criteria(shorter.ctx, shorter.run, psi[1]);
  assert_close_array(psi[0], psi[1], 2, 1e-9);
  for (int i = 0; i < 2; i++) {
    left = 100000;
    double *g = gradient_case_gradient(&c, methods[i]), *exact = gradient_case_gradient(&shorter, methods[i]);
    for (int k = 0; k < 2; k++) {
      assert_true(gradient_difference(c.np, c.p, g + k * c.np, exact + k * c.np, 0) < tol_adjoint);
    }
    left = 3;
    assert_int_equal(mbg_run_gradient(c.ctx, c.run, methods[i], g, NULL), MBG_ERROR_INTERRUPTED);
    assert_non_null(strstr(mbg_context_error(c.ctx), "interrupted at t = "));
    mbg_context_clear(c.ctx);
    free(g);
    free(exact);
  }
  left = 0; /* before the first step */
  gradient_case_simulate(&c);
  assert_true(mbg_run_partial(c.run) && mbg_run_node_count(c.run) == 1);
  left = 100000;
  gradient_case_simulate(&c);
  assert_false(mbg_run_partial(c.run));
  gradient_case_close(&c);
  gradient_case_close(&shorter);
}

/* ---------------------------------------------------------------------- place */

/* turned and moved, the model has the same values and gradients */
static void test_place(void **state) {
  (void)state;
  for (uint64_t seed = 3; seed < (uint64_t)(support_sanitized() ? 4 : support_rounds(6, 40)); seed++) {
    support_rng rng = support_rng_make(seed);
    double place[12], psi[2][16], *g[2], p[64];
    int np = 0, nc = 0, left, ok = 1;
    random_model_options opt = {
        .kind = RANDOM_TREE, .bodies = 3, .forces = true, .conservative = true, .indifferent = true, .signals = true};
    support_rotation(&rng, place);
    support_normals(&rng, place + 9, 3);
    for (int i = 0; i < 2; i++) {
      gradient_case c;
      opt.placement = i ? place : NULL;
      char *text = random_model(seed, &opt);
      open_qr(&c, text);
      c.options.end = 0.3;
      c.options.interrupt = count_down;
      c.options.user = &left;
      left = 100000;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi[i]), "criteria");
      g[i] = gradient_case_gradient(&c, MBG_METHOD_CONTINUOUS);
      np = c.np, nc = c.nc;
      assert_true(np <= 64 && nc <= 16);
      memcpy(p, c.p, (size_t)np * sizeof(double));
      gradient_case_close(&c);
      free(text);
    }
    for (int k = 0; ok && k < nc; k++) {
      assert_close(psi[1][k], psi[0][k], 1e-9 * (1 + fabs(psi[0][k])));
      assert_true(gradient_difference(np, p, g[1] + k * np, g[0] + k * np, 1e-3) < 1e-8);
    }
    free(g[0]);
    free(g[1]);
  }
}

int main(void) {
  random_steps = support_sanitized() ? 2 : random_steps;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_qr), cmocka_unit_test(test_random_exact), cmocka_unit_test(test_gallery_exact),
      cmocka_unit_test(test_kinds),     cmocka_unit_test(test_kinds_exact),  cmocka_unit_test(test_checkpoints),
      cmocka_unit_test(test_repeated),  cmocka_unit_test(test_values),       cmocka_unit_test(test_history_and_all),
      cmocka_unit_test(test_turns),     cmocka_unit_test(test_equilibrium),  cmocka_unit_test(test_restart),
      cmocka_unit_test(test_interrupt), cmocka_unit_test(test_place),        cmocka_unit_test(test_modal_qr),
      cmocka_unit_test(test_beams_qr),  cmocka_unit_test(test_beams_exact),  cmocka_unit_test(test_ends_in_plane),
  };
  const struct CMUnitTest one[] = {cmocka_unit_test(test_random_qr), cmocka_unit_test(test_random_exact)};
  return getenv("MBG_SEED") ? cmocka_run_group_tests(one, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
