/* Modal bodies: printed numbers of theory 3, section 14, R2, the flexible slider crank of the IVP test set, one
   pendulum as modal body and as beam, closed forms of frequencies, matrices of a finite-element program. */
#include "math/eigen.h"
#include "model/design.h"
#include "reference/reference_case.h"

#include <unistd.h>

static char *replaced(char *text, const char *from, const char *to) {
  char *at = strstr(text, from), *out = malloc(strlen(text) + strlen(to) + 1);
  assert_non_null(at);
  sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  free(text);
  return out;
}

/* ---------------------------------------------------------------------- theory 3, section 14, R2 */

/* accelerations at the printed state, t = 0.2 (relative accuracy 1e-11) */
static void test_two_arm_state(void **state) {
  (void)state;
  static const char pins[] =
      "\"initial\": {\"pin\": {\"a\": {\"joint\": \"shoulder\", \"value\": 0.3, \"rate\": 1}, \"b\": {\"joint\": "
      "\"hinge\", \"value\": 0.5, \"rate\": -2}, \"c\": {\"signal\": \"e0\", \"value\": 0.002, \"rate\": 0.1}, \"d\": "
      "{\"signal\": \"e1\", \"value\": -0.001, \"rate\": -0.2}, \"e\": {\"signal\": \"e2\", \"value\": -0.001, "
      "\"rate\": "
      "0.3}, \"f\": {\"signal\": \"e3\", \"value\": 0.0015, \"rate\": 0.2}}}, \"criteria\": {";
  static const char signals[] =
      "\"e0\": {\"type\": \"modal-coordinate\", \"of\": \"upper\", \"mode\": 0}, \"e1\": {\"type\": "
      "\"modal-coordinate\", \"of\": \"upper\", \"mode\": 1}, \"e2\": {\"type\": \"modal-coordinate\", \"of\": "
      "\"fore\", "
      "\"mode\": 0}, \"e3\": {\"type\": \"modal-coordinate\", \"of\": \"fore\", \"mode\": 1}, \"u0\": {\"type\": "
      "\"coordinate-acceleration\", \"joint\": \"shoulder\"}, \"u1\": {\"type\": \"coordinate-acceleration\", "
      "\"joint\": "
      "\"hinge\"}, \"a0\": {\"type\": \"modal-acceleration\", \"of\": \"upper\", \"mode\": 0}, \"a1\": {\"type\": "
      "\"modal-acceleration\", \"of\": \"upper\", \"mode\": 1}, \"a2\": {\"type\": \"modal-acceleration\", \"of\": "
      "\"fore\", \"mode\": 0}, \"a3\": {\"type\": \"modal-acceleration\", \"of\": \"fore\", \"mode\": 1}, \"fx\": "
      "{\"type\": \"reaction\", \"joint\": \"hinge\", \"component\": \"fx\"}, \"fy\": {\"type\": \"reaction\", "
      "\"joint\": \"hinge\", \"component\": \"fy\"}, ";
  static const struct {
    const char *name;
    double value;
  } expected[] = {{"u0", 1137.5565832864}, {"u1", -2672.2044443241}, {"a0", -3333.443191386}, {"a1", 2217.496731538},
                  {"a2", 3606.616776867},  {"a3", -2412.111557762},  {"fx", 10.435282957948}, {"fy", -12.807765224632}};
  char path[300];
  gradient_case c;
  snprintf(path, sizeof path, "%s/two-arm/model.json", MBG_GALLERY_DIR);
  char *text = reference_insert(support_read_file(path, NULL), "signals", signals);
  /* the pins stand in front of the criteria */
  char *at = strstr(text, "\"criteria\": {");
  char *all = malloc(strlen(text) + sizeof pins);
  assert_non_null(at);
  sprintf(all, "%.*s%s%s", (int)(at - text), text, pins, at + strlen("\"criteria\": {"));
  free(text);
  all = replaced(all, "\"end\": 0.5, \"step\": 0.0005", "\"start\": 0.2, \"end\": 0.2001, \"step\": 1e-4");
  gradient_case_open(&c, NULL, all);
  c.options.formulation = "lie";
  c.options.all_signals = 1;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  for (int i = 0; i < MBG_COUNT(expected); i++) {
    reference_close_to(expected[i].name, reference_value(&c, 0, expected[i].name), expected[i].value, 2e-11);
  }
  gradient_case_close(&c);
  free(all);
}

/* the converged run; printed to 1e-11 (tip) and 1e-8 (derivatives) */
static const double tip[2] = {1.61903266767, 0.73203630948};
static const struct {
  const char *parameter;
  double d[2], digits;
} tip_by[] = {{"L1", {1.05409481, 0.35939814}, 1e-8},
              {"m_payload", {-0.0543367364, 0.2570163875}, 1e-10},
              {"d2", {-0.0031709537, 0.2348015854}, 1e-10},
              {"EI1", {-4.5477e-8, 2.0816e-8}, 1e-12}};

/* |psi - tip| and of the derivatives, in units of the printed digits times `loose` */
static void check_tip(gradient_case *c, mbg_method method, double value, double loose) {
  double psi[2], *g = gradient_case_gradient(c, method);
  gradient_case_check(c, mbg_run_criteria(c->ctx, c->run, psi), "criteria");
  for (int k = 0; k < 2; k++) {
    assert_close(psi[k], tip[k], value);
    for (int i = 0; i < MBG_COUNT(tip_by); i++) {
      const int j = mbg_model_parameter_find(c->m, tip_by[i].parameter);
      assert_close(g[k * c->np + j], tip_by[i].d[k], loose * tip_by[i].digits);
    }
  }
  free(g);
}

static void test_two_arm(void **state) {
  (void)state;
  gradient_case c;
  char *text = reference_open(&c, "two-arm", NULL, NULL);
  c.options.formulation = "qr";
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  check_tip(&c, MBG_METHOD_CONTINUOUS, 1e-11, 1.1);
  check_tip(&c, MBG_METHOD_DIRECT, 1e-11, 1.1);
  /* lie is of order 2: with half the step a quarter of the error */
  double psi[2][2];
  for (int k = 0; k < 2; k++) {
    c.options.formulation = "lie";
    c.options.step = k ? 5e-4 : 1e-3;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi[k]), "criteria");
  }
  for (int k = 0; k < 2; k++) {
    assert_close((4 * psi[1][k] - psi[0][k]) / 3, tip[k], 5e-9); /* extrapolated: what is of order 4 is left */
  }
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- IVP test set */

/* t = 0.1: the reference has 7 to 8 digits in the elastic coordinates, as the start has 9 */
static void test_slider_crank(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double value, tol;
  } expected[] = {{"q1", 0.1893192899613509e-3, 2e-7},   {"q2", 0.2375751249879174e-4, 2e-7},
                  {"q3", -0.5323896770569702e-5, 2e-7},  {"q4", -0.8363313279112129e-5, 2e-7},
                  {"qd1", -0.3005541400289738e-1, 2e-6}, {"qd2", -0.5500431812571696e-2, 2e-6},
                  {"qd3", 0.4974111734266989e-3, 2e-6},  {"qd4", 0.1105560003626645e-2, 2e-6},
                  {"x3", 0.1697373328427860, 1e-8}};
  gradient_case c;
  if (support_sanitized()) {
    return;
  }
  char *text = reference_open(&c, "flexible-slider-crank", NULL, NULL);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  const int last = mbg_run_node_count(c.run) - 1;
  for (int i = 0; i < MBG_COUNT(expected); i++) {
    reference_close_to(expected[i].name, reference_value(&c, last, expected[i].name), expected[i].value,
                       expected[i].tol);
  }
  assert_close(asin(reference_value(&c, last, "sin2")), -0.3311734988256260, 1e-12);
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- modal body against beam */

/* root mean square of the difference of both deflections, relative to the deflection */
static double pendulum_gap(int modes, int elements) {
  char path[300], x[40];
  gradient_case c;
  double psi[4];
  snprintf(path, sizeof path, "%s/flexible-pendulum/model.json", MBG_GALLERY_DIR);
  char *text = support_read_file(path, NULL);
  snprintf(x, sizeof x, "\"modes\": %d", modes);
  text = replaced(text, "\"modes\": 8", x);
  snprintf(x, sizeof x, "\"elements\": %d", elements);
  text = replaced(text, "\"elements\": 16", x);
  for (int k = 0; k < 2; k++) {
    snprintf(x, sizeof x, "chain.%d\"", elements);
    text = replaced(text, "chain.16\"", x);
  }
  gradient_case_open(&c, NULL, text);
  c.options.end = 0.05;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "criteria");
  gradient_case_close(&c);
  free(text);
  return sqrt(psi[2] / psi[3]);
}

/* 1e-4 of the length is the deflection. With modes and mesh refined both agree, at the order 2 of the elements; what
   the linear modal body lacks (centrifugal stiffening, (rate/frequency)^2) is some 1e-4. */
static void test_pendulum(void **state) {
  (void)state;
  const double coarse = pendulum_gap(4, 8), middle = pendulum_gap(8, 16), fine = pendulum_gap(12, 32);
  if (support_rounds(0, 1)) {
    print_message("modal body against beam: %.2e, %.2e, %.2e\n", coarse, middle, fine);
  }
  assert_true(coarse / middle > 3 && middle / fine > 3);
  assert_true(fine < 1e-2);
  if (support_rounds(0, 1)) {
    assert_true(pendulum_gap(20, 128) < 1e-3);
  }
}

/* ---------------------------------------------------------------------- frequencies */

typedef struct {
  mbg_context *ctx;
  mbg_model *m;
  mbg__arena arena;
  mbg__design *d;
} body_case;

static void body_open(body_case *b, const char *folder, const char *text) {
  assert_int_equal(mbg_context_create(NULL, &b->ctx), MBG_OK);
  if (mbg_model_parse(b->ctx, "model", text, strlen(text), folder, &b->m) < 0) {
    fail_msg("loading: %s", mbg_context_error(b->ctx));
  }
  mbg__arena_init(&b->arena, mbg__context_allocator(b->ctx));
  assert_int_equal(mbg__design_create(b->ctx, &b->arena, b->m, &b->d), MBG_OK);
  if (mbg__design_update(b->ctx, b->d, b->m->p) < 0) {
    fail_msg("design: %s", mbg_context_error(b->ctx));
  }
}

static void body_close(body_case *b) {
  mbg__arena_destroy(&b->arena);
  mbg_model_destroy(b->m);
  mbg_context_destroy(b->ctx);
}

/* squares of the frequencies of the modes alone */
static void frequencies(const body_case *b, int modal, double *w) {
  const int n = b->m->modals[modal].n;
  const mbg__modal_view D = mbg__modal_of(n, b->d->modals[modal].D);
  double K[400], M[400];
  assert_true(n <= 20);
  memcpy(K, D.K, (size_t)(n * n) * sizeof(double));
  memcpy(M, D.I6, (size_t)(n * n) * sizeof(double));
  assert_int_equal(mbg__eigen_pair(b->ctx, n, K, M, w), MBG_OK);
}

static const char beam_text[] =
    "{\"mbgrad\": 1, \"bodies\": {\"a\": {\"type\": \"modal\", %s\"modes\": %d, \"beam\": {\"length\": 2, "
    "\"elements\": "
    "%d, \"theory\": \"%s\", \"boundary\": \"%s\", \"section\": {\"type\": \"rectangle\", \"width\": 0.02, \"height\": "
    "0.03}, \"E\": 2e11, \"nu\": 0.3, \"rho\": 7800}}}}";

/* slender: rotary inertia (L/r = 300) changes frequencies by 1e-4 */
static void test_frequencies(void **state) {
  (void)state;
  static const struct {
    const char *boundary, *motion;
    double beta[2]; /* of the lowest two, about axis 3 (bending in the x-y plane) */
  } cases[] = {{"fixed-free", "\"motion\": \"planar\", ", {1.87510406871196, 4.69409113297418}},
               {"pinned", "\"motion\": \"planar\", ", {M_PI, 2 * M_PI}}};
  char text[1000];
  const double I = 0.03 * 0.02 * 0.02 * 0.02 / 12, A = 0.02 * 0.03, c = sqrt(2e11 * I / (7800 * A)) / 4;
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    body_case b;
    double w[20];
    snprintf(text, sizeof text, beam_text, cases[i].motion, 4, 30, "euler-bernoulli", cases[i].boundary);
    body_open(&b, NULL, text);
    frequencies(&b, 0, w);
    for (int k = 0; k < 2; k++) {
      assert_close(sqrt(w[k]), c * cases[i].beta[k] * cases[i].beta[k], 5e-4 * sqrt(w[k]));
    }
    body_close(&b);
  }
  /* Craig-Bampton spans the clamped modes of its mesh, too: static and fixed-fixed ones together */
  double w[2][20];
  static const char *const boundaries[] = {"fixed-free", "craig-bampton"};
  for (int k = 0; k < 2; k++) {
    body_case b;
    snprintf(text, sizeof text, beam_text, "", k ? 18 : 4, 10, "timoshenko", boundaries[k]);
    body_open(&b, NULL, text);
    frequencies(&b, 0, w[k]);
    body_close(&b);
  }
  for (int i = 0; i < 3; i++) {
    assert_close(w[1][i], w[0][i], 1e-3 * w[0][i]);
  }
}

/* ---------------------------------------------------------------------- matrices of a finite-element program */

enum { ELEMENTS = 8, UNKNOWNS = 6 * (ELEMENTS + 1) };

static void add_to(double *A, int first, const int at[4], int n, const double *e, double s) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      A[(first + at[i]) * UNKNOWNS + first + at[j]] += s * e[n * i + j];
    }
  }
}

/* The textbook's beam element along x: K and M with rotary inertia (round section, E = 2e11, rho = 7800, d = 0.02, L =
   1). */
static void mesh_matrices(double *K, double *M) {
  const double d = 0.02, E = 2e11, G = E / 2.6, rho = 7800, l = 1.0 / ELEMENTS, A = M_PI * d * d / 4,
               I = M_PI * d * d * d * d / 64;
  const double bar[4] = {1, -1, -1, 1}, bar_mass[4] = {2, 1, 1, 2};
  const int axial[4] = {0, 6}, twist[4] = {3, 9}, bend[2][4] = {{1, 5, 7, 11}, {2, 4, 8, 10}};
  for (int e = 0; e < ELEMENTS; e++) {
    add_to(K, 6 * e, axial, 2, bar, E * A / l);
    add_to(M, 6 * e, axial, 2, bar_mass, rho * A * l / 6);
    add_to(K, 6 * e, twist, 2, bar, G * 2 * I / l);
    add_to(M, 6 * e, twist, 2, bar_mass, rho * 2 * I * l / 6);
    for (int p = 0; p < 2; p++) {
      const double s = (p ? -1 : 1) * l, ss = l * l;
      const double k[16] = {12,  6 * s,  -12, 6 * s,  6 * s, 4 * ss, -6 * s, 2 * ss,
                            -12, -6 * s, 12,  -6 * s, 6 * s, 2 * ss, -6 * s, 4 * ss};
      const double m[16] = {156, 22 * s, 54,  -13 * s, 22 * s,  4 * ss,  13 * s,  -3 * ss,
                            54,  13 * s, 156, -22 * s, -13 * s, -3 * ss, -22 * s, 4 * ss};
      const double r[16] = {36,  3 * s,  -36, 3 * s,  3 * s, 4 * ss, -3 * s, -ss,
                            -36, -3 * s, 36,  -3 * s, 3 * s, -ss,    -3 * s, 4 * ss};
      add_to(K, 6 * e, bend[p], 4, k, E * I / (l * l * l));
      add_to(M, 6 * e, bend[p], 4, m, rho * A * l / 420);
      add_to(M, 6 * e, bend[p], 4, r, rho * I / (30 * l));
    }
  }
}

static void write_matrix(const char *folder, const char *name, const double *A) {
  char path[200], *text = malloc(UNKNOWNS * UNKNOWNS * 40);
  int used = 0, count = 0;
  for (int i = 0; i < UNKNOWNS; i++) {
    for (int j = 0; j <= i; j++) {
      count += A[i * UNKNOWNS + j] != 0;
    }
  }
  used += sprintf(text, "%%%%MatrixMarket matrix coordinate real symmetric\n%% a beam\n%d %d %d\n", UNKNOWNS, UNKNOWNS,
                  count);
  for (int i = 0; i < UNKNOWNS; i++) {
    for (int j = 0; j <= i; j++) {
      if (A[i * UNKNOWNS + j] != 0) {
        used += sprintf(text + used, "%d %d %.17g\n", i + 1, j + 1, A[i * UNKNOWNS + j]);
      }
    }
  }
  snprintf(path, sizeof path, "%s/%s", folder, name);
  support_write_file(path, text, (size_t)used);
  free(text);
}

static void write_mesh(const char *folder) {
  char path[200], nodes[1000] = "node,x,y,z\n";
  double *K = calloc(UNKNOWNS * UNKNOWNS, sizeof *K), *M = calloc(UNKNOWNS * UNKNOWNS, sizeof *M);
  mesh_matrices(K, M);
  write_matrix(folder, "K.mtx", K);
  write_matrix(folder, "M.mtx", M);
  for (int i = 0; i <= ELEMENTS; i++) {
    sprintf(nodes + strlen(nodes), "%d,%.17g,0,0\n", i + 1, (double)i / ELEMENTS);
  }
  snprintf(path, sizeof path, "%s/nodes.csv", folder);
  support_write_file(path, nodes, strlen(nodes));
  free(K);
  free(M);
}

/* the same beam, mesh and reduction from files and from the generator */
static const char both_text[] =
    "{\"mbgrad\": 1, \"parameters\": {\"f\": 1}, \"bodies\": {\"a\": {\"type\": \"modal\", \"modes\": 9, \"files\": "
    "{\"mass\": \"M.mtx\", \"stiffness\": \"K.mtx\", \"nodes\": \"nodes.csv\", \"fixed\": [1], \"interface\": [9], "
    "\"mass_factor\": \"f\"}}, \"b\": {\"type\": \"modal\", \"modes\": 9, \"beam\": {\"length\": 1, \"elements\": 8, "
    "\"theory\": \"euler-bernoulli\", \"boundary\": \"craig-bampton\", \"section\": {\"type\": \"circle\", "
    "\"diameter\": "
    "0.02}, \"E\": 2e11, \"nu\": 0.3, \"rho\": 7800}}}, \"markers\": {\"ta\": {\"on\": \"a\", \"node\": \"9\"}, "
    "\"tb\": "
    "{\"on\": \"b\", \"at\": [1, 0, 0]}, \"ma\": {\"on\": \"a\", \"at\": [0.5, 0, 0]}}}";

static void test_files(void **state) {
  (void)state;
  char folder[] = "/tmp/mbgrad-modal-XXXXXX", path[200];
  body_case b;
  double w[2][20];
  assert_non_null(mkdtemp(folder));
  write_mesh(folder);
  body_open(&b, folder, both_text);
  frequencies(&b, 0, w[0]);
  frequencies(&b, 1, w[1]);
  const mbg__modal_view x = mbg__modal_of(9, b.d->modals[0].D), y = mbg__modal_of(9, b.d->modals[1].D);
  for (int i = 0; i < 9; i++) {
    assert_close(w[0][i], w[1][i], 1e-8 * w[1][i]); /* rounding of both reductions, condition 1e6 */
  }
  assert_close(x.I1[0], y.I1[0], 1e-12);
  assert_close_array(x.I2, y.I2, 3, 1e-12);
  assert_close_array(x.I7, y.I7, 9, 1e-12);
  /* columns of the tip: the static modes are its unit motions, in another order */
  for (int m = 0; m < 2; m++) {
    const real *P = b.d->handles[m].P;
    double sum = 0;
    for (int i = 0; i < 54; i++) {
      sum += fabs(P[i]);
    }
    assert_close(sum, 6, 1e-9);
  }
  /* the marker in the middle found its node */
  assert_int_equal(b.m->markers[2].node, 4);
  body_close(&b);
  for (int k = 0; k < 3; k++) {
    static const char *const names[] = {"K.mtx", "M.mtx", "nodes.csv"};
    snprintf(path, sizeof path, "%s/%s", folder, names[k]);
    remove(path);
  }
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_arm_state), cmocka_unit_test(test_two_arm),     cmocka_unit_test(test_slider_crank),
      cmocka_unit_test(test_pendulum),      cmocka_unit_test(test_frequencies), cmocka_unit_test(test_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
