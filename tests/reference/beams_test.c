/* Beams: printed numbers of theory page 4 (R3), public solutions (Exudyn's tests and the papers it cites, Princeton beam),
   closed forms. */
#include "reference/reference_case.h"
#include "support/model_case.h"

/* Makes a model from a format; free with free(). */
static char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text_of(const char *format, ...) {
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  const int n = vsnprintf(NULL, 0, format, list);
  char *text = malloc((size_t)n + 1);
  assert_non_null(text);
  vsnprintf(text, (size_t)n + 1, format, again);
  va_end(again);
  va_end(list);
  return text;
}

/* A cantilever along x in equilibrium: position of the tip, and its axes x and y in the world. */
typedef struct {
  int n;
  double L, width, height, E, nu;
  const char *section;     /* further keys: ", \"shear\": 0.85" */
  double force[3], moment; /* dead force, follower moment about axis 3 */
  double x[3], axis[2][3]; /* results */
} cantilever;

static char *cantilever_text(const cantilever *b) {
  char signals[2000] = "";
  for (int k = 0; k < 3; k++) {
    static const char names[] = "xyz";
    const size_t used = strlen(signals);
    snprintf(signals + used, sizeof signals - used,
             "%s\"x%d\": {\"type\": \"position\", \"of\": \"arm.%d\", \"component\": \"%c\"}, \"a%d\": {\"type\": "
             "\"direction\", \"of\": \"arm.%d\", \"axis\": \"x\", \"component\": \"%c\"}, \"b%d\": {\"type\": "
             "\"direction\", "
             "\"of\": \"arm.%d\", \"axis\": \"y\", \"component\": \"%c\"}",
             k ? ", " : "", k, b->n, names[k], k, b->n, names[k], k, b->n, names[k]);
  }
  return text_of(
      "{\"mbgrad\": 1, \"beams\": {\"arm\": {\"elements\": %d, \"to\": [%.17g, 0, 0], \"section\": {\"type\": "
      "\"rectangle\", \"width\": %.17g, \"height\": %.17g%s}, \"E\": %.17g, \"nu\": %.17g, \"rho\": 1000}}, "
      "\"joints\": {\"clamp\": {\"type\": \"fixed\", \"between\": [\"ground\", \"arm.0\"]}}, \"forces\": "
      "{\"dead\": {\"type\": \"force\", \"on\": \"arm.%d\", \"force\": [%.17g, %.17g, %.17g]}, \"moment\": "
      "{\"type\": \"force\", \"on\": \"arm.%d\", \"in\": \"body\", \"torque\": [0, 0, %.17g]}}, \"signals\": {%s}, "
      "\"initial\": {\"start\": \"equilibrium\"}, \"run\": {\"end\": 1e-6, \"step\": 1e-6}}",
      b->n, b->L, b->width, b->height, b->section ? b->section : "", b->E, b->nu, b->n, b->force[0], b->force[1],
      b->force[2], b->n, b->moment, signals);
}

static void solve(cantilever *b) {
  gradient_case c;
  char *text = cantilever_text(b);
  gradient_case_open(&c, NULL, text);
  c.options.all_signals = 1;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  for (int k = 0; k < 3; k++) {
    char name[3][16];
    for (int i = 0; i < 3; i++) {
      snprintf(name[i], sizeof name[i], "%c%d", "xab"[i], k);
    }
    b->x[k] = reference_value(&c, 0, name[0]);
    b->axis[0][k] = reference_value(&c, 0, name[1]);
    b->axis[1][k] = reference_value(&c, 0, name[2]);
  }
  gradient_case_close(&c);
  free(text);
}

static void close_to(const char *what, double a, double b, double tol) {
  if (!(fabs(a - b) <= tol)) {
    fail_msg("%s: %.15g, expected %.15g: off by %.2e", what, a, b, fabs(a - b));
  }
}

/* ---------------------------------------------------------------------- R3a */

/* m = q pi E I3/L bends into q half circles, whatever the number of elements. Newton stops at 1e-12 of the model's size, 10. */
static void check_circle(int n, double q) {
  cantilever b = {.n = n, .L = 10, .width = 0.5, .height = 0.5, .E = 2.1e11, .nu = 0.3};
  const double I = 0.5 * 0.5 * 0.5 * 0.5 / 12, r = b.L / (q * M_PI), a = q * M_PI;
  const double x[3] = {r * sin(a), r * (1 - cos(a)), 0}, e1[3] = {cos(a), sin(a), 0}, e2[3] = {-sin(a), cos(a), 0};
  b.moment = q * M_PI * b.E * I / b.L;
  solve(&b);
  for (int k = 0; k < 3; k++) {
    close_to("tip", b.x[k], x[k], 1e-11);
    close_to("axis 1", b.axis[0][k], e1[k], 1e-11);
    close_to("axis 2", b.axis[1][k], e2[k], 1e-11);
  }
}

static void test_circle(void **state) {
  (void)state;
  check_circle(3, 2);
  check_circle(4, 2);
  check_circle(8, 2);
  check_circle(2, 1);
  check_circle(8, 1);
  check_circle(1, 0.5);
}

/* ---------------------------------------------------------------------- R3b */

extern void dsygv_(const int *itype, const char *jobz, const char *uplo, const int *n, double *A, const int *lda,
                   double *B, const int *ldb, double *w, double *work, const int *lwork, int *info);

/* dense copy of a matrix without the first six rows and columns: the clamped node */
static double *clamped(const mbg__csc *p, const double *val, int n) {
  double *A = calloc((size_t)n * (size_t)n, sizeof *A);
  for (int j = 6; j < n + 6; j++) {
    for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
      if (p->rowind[k] >= 6) {
        A[(size_t)(j - 6) * (size_t)n + (size_t)p->rowind[k] - 6] = val[k];
      }
    }
  }
  return A;
}

/* the two lowest circular frequencies of a clamped beam of N elements */
static void frequencies(int N, const char *mass, double omega[2]) {
  model_case c;
  const int n = 6 * N, itype = 1, lwork = 10 * n;
  int info;
  char *text =
      text_of("{\"mbgrad\": 1, \"beams\": {\"rod\": {\"elements\": %d, \"to\": [1, 0, 0], \"section\": {\"type\": "
              "\"rectangle\", \"width\": 0.02, \"height\": 0.01}, \"E\": 2.1e11, \"nu\": 0.3, \"rho\": 7800, "
              "\"mass\": \"%s\"}}}",
              N, mass);
  model_case_open(&c, NULL, text);
  for (int i = 0; i < c.m->nbody; i++) {
    c.H[i] = c.design->poses[c.m->bodies[i].design].h;
  }
  memset(c.v, 0, (size_t)c.m->nw * sizeof(double));
  memset(c.vd, 0, (size_t)c.m->nw * sizeof(double));
  model_case_update(&c);
  const mbg__csc *p = mbg__system_pattern_K(c.sys);
  double *K = model_case_array(&c, mbg__csc_count(p)), *M = model_case_array(&c, mbg__csc_count(p));
  mbg__system_matrices(c.sys, &(mbg__matrices){.K = K, .M = M});
  double *A = clamped(p, K, n), *B = clamped(p, M, n), *w = calloc((size_t)n, sizeof *w);
  double *work = calloc((size_t)lwork, sizeof *work);
  dsygv_(&itype, "N", "L", &n, A, &n, B, &n, w, work, &lwork, &info);
  assert_int_equal(info, 0);
  omega[0] = sqrt(w[0]);
  omega[1] = sqrt(w[1]);
  free(A);
  free(B);
  free(w);
  free(work);
  model_case_close(&c);
  free(text);
}

/* printed with 7 digits: 1e-7 relative; the frequencies of Euler and Bernoulli are approached with 1/N^2 up to the shear */
static void test_frequencies(void **state) {
  (void)state;
  static const struct {
    int N;
    double omega[2];
  } printed[] = {{4, {53.30537, 106.58497}}, {8, {52.82062, 105.61590}}, {16, {52.70071, 105.37618}}};
  double omega[2], before = 0;
  for (int i = 0; i < MBG_COUNT(printed); i++) {
    frequencies(printed[i].N, "consistent", omega);
    reference_close_to("first frequency", omega[0], printed[i].omega[0], 1.5e-7);
    reference_close_to("second frequency", omega[1], printed[i].omega[1], 1.5e-7);
    const double error = omega[0] - 52.66080; /* between 16 and infinitely many elements by extrapolation */
    assert_true(i == 0 || (before / error > 3.8 && before / error < 4.2));
    before = error;
  }
  frequencies(16, "lumped", omega); /* from the other side, with the same order */
  reference_close_to("first frequency, lumped", omega[0], 52.66505, 5e-3);
}

/* ---------------------------------------------------------------------- R3c */

/* printed with 10 to 13 digits by an independent program that makes the same steps: 1e-8 */
static void test_swinging(void **state) {
  (void)state;
  static const double z[5] = {3.0119055609e-11, -2.5099213008e-06, 6.2610423039e-02, 8.5092908364e-01,
                              9.9046238638e-02};
  static const double x[5] = {-1.2583782449e-10, 1.0486485374e-05, -4.2226159851e-02, -2.4777006844, -2.0948860942e-01};
  static const double e[5] = {-7.2433381590e-12, 2.0301582726e-06, 8.3479178797e-02, 4.3066166111e-02,
                              -4.0650727264e-04};
  static const double force[3] = {2.75187134786, -1.04534126287, 5.24448192670};
  static const char *const names[3] = {"fx", "fy", "fz"};
  gradient_case c;
  char *text =
      reference_open(&c, "swinging-beam",
                     "\"ty\": {\"type\": \"position\", \"of\": \"rod.4\", \"component\": \"y\"}, "
                     "\"fx\": {\"type\": \"reaction\", \"joint\": \"pin\", \"component\": \"fx\", \"in\": \"A\"}, "
                     "\"fy\": {\"type\": \"reaction\", \"joint\": \"pin\", \"component\": \"fy\", \"in\": \"A\"}, "
                     "\"fz\": {\"type\": \"reaction\", \"joint\": \"pin\", \"component\": \"fz\", \"in\": \"A\"}, ",
                     NULL);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  const int last = mbg_run_node_count(c.run) - 1;
  assert_int_equal(last, 100);
  reference_check(&c, "tip_z", -0.8409346319385, z, 1e-8);
  reference_check(&c, "tip_x", -0.4646669619536, x, 1e-8);
  reference_check(&c, "strain", 1.7118561112568e-03, e, 1e-8);
  reference_close_to("tip_y", reference_value(&c, last, "ty"), 0.2730735627955, 1e-8);
  for (int k = 0; k < 3; k++) {
    reference_close_to(names[k], reference_value(&c, last, names[k]), force[k], 1e-8);
  }
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- locking and refinement */

/* L/h = 1000: the tip deflects by 1 - 1/(4 n^2) of the exact bending (theory 4, section 3: 0.7500, 0.9375, 0.9844, 0.9961).
   1e-5: shear adds (h/L)^2, geometry (u/L)^2, and the equilibrium is solved to 1e-12 of L, that is 1e-8 of u */
static void test_locking(void **state) {
  (void)state;
  for (int n = 1; n <= 8; n *= 2) {
    cantilever b = {.n = n, .L = 1, .width = 1e-3, .height = 1e-3, .E = 2.1e11, .nu = 0.3};
    const double I = 1e-12 / 12, F = 3 * b.E * I * 1e-4;
    b.force[1] = F;
    solve(&b);
    close_to("tip / (F L^3/(3 E I))", b.x[1] / 1e-4, 1 - 1.0 / (4 * n * n), 1e-5);
  }
}

/* Exudyn's linear and large cantilever: every mesh of the linear one, the limit of the large one, order 2 */
static void test_cantilevers(void **state) {
  (void)state;
  static const double uy[5] = {0.0006166665660910789, 0.0007615940599560586, 0.0007978259537503566,
                               0.0008068839288072378, 0.0008091484226773518};
  const char *shear = ", \"shear\": \"10*(1 + 0.3)/(12 + 11*0.3)\"";
  double u[3][2];
  for (int i = 0; i < 5; i++) {
    cantilever b = {.n = 1 << i, .L = 2, .width = 0.5, .height = 0.1, .E = 2.07e11, .nu = 0.3, .section = shear};
    b.force[1] = 5e5 * 0.125;
    solve(&b);
    /* both are nonlinear, with other elements: (u/L)^2 = 1.6e-7 */
    reference_close_to("linear cantilever", b.x[1], uy[i], 1e-7);
  }
  for (int i = 0; i < 3; i++) {
    cantilever b = {.n = 16 << i, .L = 2, .width = 0.5, .height = 0.1, .E = 2.07e11, .nu = 0.3, .section = shear};
    b.force[1] = 5e8 * 0.125;
    solve(&b);
    u[i][0] = b.L - b.x[0];
    u[i][1] = b.x[1];
  }
  /* the limits that the public values of 512 and 1024 elements extrapolate to */
  static const double limit[2] = {0.15097114269, 0.71056859460};
  for (int k = 0; k < 2; k++) {
    const double ratio = (u[1][k] - u[0][k]) / (u[2][k] - u[1][k]);
    close_to("order", log2(ratio), 2, 0.02);
    reference_close_to("large cantilever", u[2][k] + (u[2][k] - u[1][k]) / 3, limit[k], 1e-6);
  }
}

/* Princeton beam, load at 0 and 90 degrees: pure bending about each axis. ANSYS gives 9 digits of its own mesh; 64 elements
   are right to 1/(4 n^2) = 6e-5 and the stiff direction depends on the shear correction by 1e-4. At 45 degrees torsion
   takes part: with Saint-Venant's constant (ANSYS integrates its own, about 3 % more) 1 % in y. */
static void test_princeton(void **state) {
  (void)state;
  static const struct {
    double F, angle, y, z, tol_y, tol_z;
  } printed[] = {{8.896, 0, 1.071417630e-2, 0, 2e-4, 1e-12},
                 {13.345, 0, 1.606423724e-2, 0, 2e-4, 1e-12},
                 {8.896, 90, 0, 0.146245978, 1e-12, 3e-5},
                 {13.345, 90, 0, 0.200677707, 1e-12, 3e-5},
                 {13.345, 45, 1.518618440e-2, 0.156467239, 1.1e-2, 1e-3}};
  for (int i = 0; i < MBG_COUNT(printed); i++) {
    const double a = printed[i].angle * M_PI / 180, F = printed[i].F;
    cantilever b = {.n = 64, .L = 0.508, .width = 12.3777e-3, .height = 3.2024e-3, .E = 71.7e9, .nu = 0.31};
    b.section = ", \"torsion\": 1.13424e-10";
    b.force[1] = F * cos(a);
    b.force[2] = F * sin(a);
    solve(&b);
    close_to("y", b.x[1], printed[i].y, printed[i].tol_y * (printed[i].y > 0 ? printed[i].y : 1));
    close_to("z", b.x[2], printed[i].z, printed[i].tol_z * (printed[i].z > 0 ? printed[i].z : 1));
  }
}

/* The slider crank of the IVP test set with its rod as a beam: place of the slider at the end, 0.1697373328 there. 3e-6: axial
   deflections of 1e-5, of which the start and the step leave a part. */
static void test_slider_crank(void **state) {
  (void)state;
  gradient_case c;
  gradient_case_open(&c, MBG_GALLERY_DIR "/flexible-slider-crank-beam", NULL);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  double psi[3];
  assert_int_equal(mbg_run_criteria(c.ctx, c.run, psi), MBG_OK);
  assert_close(psi[0], 0.1697373328427860, 3e-6);
  gradient_case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_circle),       cmocka_unit_test(test_frequencies), cmocka_unit_test(test_swinging),
      cmocka_unit_test(test_locking),      cmocka_unit_test(test_cantilevers), cmocka_unit_test(test_princeton),
      cmocka_unit_test(test_slider_crank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
