/* Beams: printed numbers of theory 4, section 12, R3, closed forms. Meshes that are refined are in
   beam_refinement_test.c. */
#include "reference/cantilever_case.h"
#include "support/model_case.h"

/* ---------------------------------------------------------------------- R3a */

/* m = q pi E I3/L bends into q half circles, whatever the number of elements. Newton stops at 1e-12 of the model's
   size, 10. */
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

/* printed with 7 digits: 1e-7 relative; the frequencies of Euler and Bernoulli are approached with 1/N^2 up to the
   shear */
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
  char *text = reference_open(
      &c, "swinging-beam",
      "\"ty\": {\"type\": \"position\", \"of\": \"rod.4\", \"component\": \"y\"}, "
      "\"fx\": {\"type\": \"reaction\", \"joint\": \"pin\", \"component\": \"fx\", \"in\": \"reference\"}, "
      "\"fy\": {\"type\": \"reaction\", \"joint\": \"pin\", \"component\": \"fy\", \"in\": \"reference\"}, "
      "\"fz\": {\"type\": \"reaction\", \"joint\": \"pin\", \"component\": \"fz\", \"in\": \"reference\"}, ",
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

/* The same with small steps, two of them extrapolated, against 200 steps of order 5 of tools/gallery-verify, whose own
   errors are 1e-8 and, in the integral that begins with a jump of the load, 1e-6 (100 steps: 25 times as much). */
static void test_swinging_limit(void **state) {
  (void)state;
  static const double limit[3] = {-0.84085267057147, -0.465059592303, 0.0017126139566193}, tol[3] = {3e-8, 3e-8, 1e-6};
  double psi[2][3];
  for (int i = 0; i < 2; i++) {
    gradient_case c;
    gradient_case_open(&c, MBG_GALLERY_DIR "/swinging-beam", NULL);
    c.options.step = 3.125e-4 / (1 << i);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    assert_int_equal(mbg_run_criteria(c.ctx, c.run, psi[i]), MBG_OK);
    gradient_case_close(&c);
  }
  for (int k = 0; k < 3; k++) {
    reference_close_to("limit of the steps", psi[1][k] + (psi[1][k] - psi[0][k]) / 3, limit[k], tol[k]);
  }
}

/* ---------------------------------------------------------------------- locking, a rod */

/* L/h = 1000: the tip deflects by 1 - 1/(4 n^2) of the exact bending (theory 4, section 3: 0.7500, 0.9375, 0.9844,
   0.9961). 1e-5: shear adds (h/L)^2, geometry (u/L)^2, and the equilibrium is solved to 1e-12 of L, that is 1e-8 of
   u */
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

/* The slider crank of the IVP test set with its rod as a beam: place of the slider at the end, 0.1697373328 there.
   3e-6: axial deflections of 1e-5, of which the start and the step leave a part. */
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
      cmocka_unit_test(test_circle),         cmocka_unit_test(test_frequencies), cmocka_unit_test(test_swinging),
      cmocka_unit_test(test_swinging_limit), cmocka_unit_test(test_locking),     cmocka_unit_test(test_slider_crank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
