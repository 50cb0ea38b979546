/* The fastest vibration of beam elements, and what explicit steps say of it. */
#include "run/step_beams.h"

#include "math/eigen.h"
#include "property/gradient_case.h"
#include "support/model_case.h"

#include <stdio.h>

/* a beam in space, turning slowly */
#define BEAM(damping)                                                                                                  \
  "{\"mbgrad\": 1, \"beams\": {\"rod\": {\"length\": 0.5, \"direction\": [1, 0, 0], \"curvature\": [0.1, 0.4, 0.8], "  \
  "\"elements\": %d, \"section\": {\"type\": \"rectangle\", \"width\": 0.1, \"height\": 0.05}, \"E\": 1e6, "           \
  "\"nu\": 0.3, \"rho\": 1000, \"damping\": " damping ", \"angular_velocity\": [0.01, 0.02, 0.03]}}, "                 \
  "\"signals\": {\"e\": {\"type\": \"energy\"}}, \"criteria\": {\"c\": {\"terminal\": \"e\"}}, "                       \
  "\"run\": {\"formulation\": \"qr\", \"integrator\": \"rk4\", \"end\": 0.02, \"step\": 1e-4}}"

/* largest eigenvalue of the system's own matrices at the reference */
static double square_of_system(model_case *c) {
  const mbg_model *m = c->m;
  const mbg__csc *P = mbg__system_pattern_K(c->sys);
  const int n = m->nv;
  double *K = calloc((size_t)(2 * n * n + n), sizeof *K), *M = K + n * n, *w = M + n * n;
  double *values = calloc(2 * (size_t)mbg__csc_count(P), sizeof *values), *masses = values + mbg__csc_count(P);
  memset(c->v, 0, (size_t)m->nw * sizeof(double));
  memset(c->vd, 0, (size_t)m->nw * sizeof(double));
  model_case_update(c);
  mbg__system_matrices(c->sys, &(mbg__matrices){.K = values, .M = masses});
  for (int j = 0; j < n; j++) {
    for (int e = P->colptr[j]; e < P->colptr[j + 1]; e++) {
      K[j * n + P->rowind[e]] += values[e] / 2;
      K[P->rowind[e] * n + j] += values[e] / 2;
      M[j * n + P->rowind[e]] = masses[e];
    }
  }
  assert_int_equal(mbg__eigen_pair(c->ctx, n, K, M, w), MBG_OK);
  const double most = w[n - 1];
  free(K);
  free(values);
  return most;
}

/* of one element that of the system, of more a bound that is not far */
static void test_bound(void **state) {
  (void)state;
  support_rng rng = support_rng_make(1);
  for (int n = 1; n <= 4; n++) {
    model_case c;
    char text[900];
    mbg__beam_vibration fast;
    snprintf(text, sizeof text, BEAM("1e-5"), n);
    model_case_open(&c, NULL, text);
    model_case_state(&c, &rng, 0);
    const double exact = sqrt(square_of_system(&c));
    assert_int_equal(mbg__beam_vibration_find(c.ctx, c.design, &fast), MBG_OK);
    assert_true(fast.element >= 0 && fast.element < n);
    assert_true(fast.omega >= exact * (1 - 1e-6) && fast.omega <= exact * (n == 1 ? 1 + 1e-6 : 1.5));
    assert_close(fast.decay, 1e-5 * fast.omega * fast.omega / 2, 1e-9 * fast.decay);
    model_case_close(&c);
  }
}

static bool at_once(void *user) { return (*(int *)user)-- <= 0; }

/* the messages of a run that ends after two steps */
static int run_briefly(gradient_case *c, const char *text, const char *integrator, double step, double end) {
  int left = 2;
  gradient_case_open(c, NULL, text);
  c->options.integrator = integrator;
  c->options.step = step;
  c->options.end = end;
  c->options.interrupt = at_once;
  c->options.user = &left;
  gradient_case_run(c);
  const int err = mbg_run_simulate(c->ctx, c->run);
  c->options.user = NULL;
  return err;
}

static bool says(const gradient_case *c, const char *what) {
  for (int i = 0; i < mbg_context_message_count(c->ctx); i++) {
    if (strstr(mbg_context_message(c->ctx, i), what)) {
      return true;
    }
  }
  return false;
}

static void test_messages(void **state) {
  (void)state;
  static const struct {
    const char *damping, *integrator;
    double step, end;
    int status;
    const char *what;
  } cases[] = {
      {"0", "rk4", 1e-2, 1, MBG_ERROR_UNSUPPORTED,
       "beam 'rod': explicit steps of 0.01 s grow without bounds: element 0 vibrates with up to 1.25e+03 rad/s; "
       "integrator 'rk4' is stable below 0.0023 s; take such a step, longer elements, or formulation 'lie' or 'dae' or "
       "'ali3p', "
       "or --integrator bdf, which are implicit"},
      {"1", "dp5", 1e-2, 1, MBG_ERROR_UNSUPPORTED,
       "damping of element 0 ends vibrations with up to 1.56e+06/s; integrator 'dp5' is stable below 2.1e-06 s"},
      {"0", "dop853", 0, 10000, MBG_ERROR_UNSUPPORTED,
       "element 0 vibrates with up to 1.25e+03 rad/s: the run needs 2e+06 stable steps of integrator 'dop853' or more, "
       "1e+06 are the most; take longer elements"},
      {"0", "dop853", 0, 200, MBG_OK,
       "beam 'rod': error control takes 4e+04 steps or more: element 0 vibrates with up to 1.25e+03 rad/s, and longer "
       "steps of integrator 'dop853' grow without bounds; longer elements or formulation 'lie' or 'dae' or "
       "'ali3p', or "
       "--integrator bdf, which are implicit, take fewer"},
      {"0", "rk4", 2.2e-3, 1, MBG_OK, NULL},
      {"0", "dop853", 0, 1, MBG_OK, NULL},
      {"1", "bdf", 0, 1000, MBG_OK, NULL},
  };
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    gradient_case c;
    char text[900];
    snprintf(text, sizeof text, strcmp(cases[i].damping, "1") ? BEAM("0") : BEAM("1"), 1);
    const int status = run_briefly(&c, text, cases[i].integrator, cases[i].step, cases[i].end);
    if (status != cases[i].status || (cases[i].what ? !says(&c, cases[i].what) : says(&c, "without bounds"))) {
      fail_msg("case %d: status %d, '%s'", i, status,
               mbg_context_message_count(c.ctx) > 0 ? mbg_context_message(c.ctx, 0) : "");
    }
    gradient_case_close(&c);
  }
}

/* steps just below the limit keep the energy, steps above it are not taken: the bound is sharp for one element */
static void test_limit(void **state) {
  (void)state;
  gradient_case c;
  model_case reference;
  mbg__beam_vibration fast;
  char text[900];
  snprintf(text, sizeof text, BEAM("0"), 1);
  model_case_open(&reference, NULL, text);
  assert_int_equal(mbg__beam_vibration_find(reference.ctx, reference.design, &fast), MBG_OK);
  model_case_close(&reference);
  for (int above = 0; above < 2; above++) {
    gradient_case_open(&c, NULL, text);
    c.options.step = (above ? 1.1 : 0.97) * 2.8284 / fast.omega;
    c.options.end = 500 * c.options.step;
    gradient_case_run(&c);
    double psi = 0;
    const int err = mbg_run_simulate(c.ctx, c.run);
    if (above) {
      assert_int_equal(err, MBG_ERROR_UNSUPPORTED);
    } else {
      gradient_case_check(&c, err, "below the limit");
      gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, &psi), "criteria");
      assert_close(psi, 1.33843e-4, 1e-8); /* its energy at the start */
    }
    gradient_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bound),
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
