/* Blocks: the models of theory 6 with controller, cylinder and tyre as blocks have the values and gradients of those
   with states written out; filters and delays have the frequency response of their transfer functions. */
#include "property/gradient_case.h"

#include <complex.h>
#include <stdio.h>

static void open_model(gradient_case *c, char *path, const char *model, const char *more) {
  sprintf(path, "%s/tests/reference/states/%s%s.json", MBG_SOURCE_DIR, model, more);
  gradient_case_open(c, path, NULL);
  gradient_case_run(c);
  gradient_case_simulate(c);
}

/* 1e-8: steps end at a change of 1e-12 of each state in its scale, and the integral of a pid is ki times that of the
   model it is compared with */
static void test_written_out(void **state) {
  static const char *const models[] = {"crane", "cylinder", "quarter-car"};
  (void)state;
  for (int k = 0; k < MBG_COUNT(models); k++) {
    gradient_case c[2];
    char path[2][300];
    double psi[2][16], *g[2];
    for (int i = 0; i < 2; i++) {
      open_model(&c[i], path[i], models[k], i == 0 ? "" : "-blocks");
      gradient_case_check(&c[i], mbg_run_criteria(c[i].ctx, c[i].run, psi[i]), models[k]);
      g[i] = gradient_case_gradient(&c[i], MBG_METHOD_ADJOINT);
    }
    assert_int_equal(c[0].nc, c[1].nc);
    assert_int_equal(c[0].np, c[1].np);
    for (int i = 0; i < c[0].nc; i++) {
      assert_close(psi[1][i], psi[0][i], 1e-9);
      for (int j = 0; j < c[0].np; j++) {
        const double a = g[1][i * c[0].np + j], b = g[0][i * c[0].np + j];
        assert_true(fabs(a - b) <= 1e-8 * (fabs(b) + fabs(psi[0][i] / c[0].p[j])));
      }
    }
    for (int i = 0; i < 2; i++) {
      free(g[i]);
      gradient_case_close(&c[i]);
    }
  }
}

/* ---------------------------------------------------------------------- frequency response */

static double complex pade(double complex s, int n) {
  double complex above = 0, below = 0, power = 1;
  double c = 1;
  for (int k = 0; k <= n; k++) {
    above += (k % 2 ? -c : c) * power;
    below += c * power;
    c *= (double)(n - k) / ((2.0 * n - k) * (k + 1));
    power *= s;
  }
  return above / below;
}

/* the response of each block to sin(w t), long after the start: poles lie left of -2/s */
static void test_response(void **state) {
  static const double w = 5, end = 20;
  const double complex s = w * _Complex_I;
  const double w0 = 2 * acos(-1) * 1.5, zeta = 0.6;
  const struct {
    const char *name, *keys;
    double complex response;
  } blocks[] = {
      {"a", "\"type\": \"lag\", \"gain\": 3, \"time\": 0.2", 3 / (1 + 0.2 * s)},
      {"b", "\"type\": \"lead-lag\", \"gain\": 2, \"lead\": 0.5, \"lag\": 0.1", 2 * (1 + 0.5 * s) / (1 + 0.1 * s)},
      {"c", "\"type\": \"low-pass\", \"gain\": 2, \"frequency\": 1.5, \"damping\": 0.6",
       2 * w0 * w0 / (s * s + 2 * zeta * w0 * s + w0 * w0)},
      {"d", "\"type\": \"low-pass\", \"frequency\": 1.5, \"initial\": 1",
       w0 * w0 / (s * s + sqrt(2) * w0 * s + w0 * w0)},
      {"e", "\"type\": \"pid\", \"kp\": 2, \"kd\": 0.4, \"filter\": 0.1", 2 + 0.4 * s / (1 + 0.1 * s)},
      {"f", "\"type\": \"delay\", \"time\": 0.3", pade(0.3 * s, 4)},
      {"g", "\"type\": \"delay\", \"time\": 0.3, \"order\": 1", pade(0.3 * s, 1)},
      {"h", "\"type\": \"delay\", \"time\": 0.3, \"order\": 3, \"initial\": 0.7", pade(0.3 * s, 3)},
      {"k", "\"type\": \"delay\", \"time\": 0.3, \"order\": 6", pade(0.3 * s, 6)},
  };
  char text[4000];
  gradient_case c;
  double psi[16];
  (void)state;
  int n = sprintf(text,
                  "{\"mbgrad\": 1, \"bodies\": {\"one\": {\"motion\": \"planar-point\", \"mass\": 1}}, \"blocks\": {");
  for (int i = 0; i < MBG_COUNT(blocks); i++) {
    n += sprintf(text + n, "%s\"%s\": {\"input\": \"sin(5*t)\", %s}", i ? ", " : "", blocks[i].name, blocks[i].keys);
  }
  n += sprintf(text + n, "}, \"criteria\": {");
  for (int i = 0; i < MBG_COUNT(blocks); i++) {
    n += sprintf(text + n, "%s\"y%d\": {\"terminal\": \"%s\"}", i ? ", " : "", i, blocks[i].name);
  }
  sprintf(text + n, "}, \"run\": {\"formulation\": \"dca\", \"end\": %g, \"step\": 0.001}}", end);
  gradient_case_open(&c, "blocks", text);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "blocks");
  for (int i = 0; i < MBG_COUNT(blocks); i++) {
    assert_close(psi[i], cimag(blocks[i].response * cexp(s * end)), 1e-7); /* rk4 */
  }
  /* a delay that is resolved: sin(w (t - T)) */
  assert_close(psi[8], sin(w * (end - 0.3)), 1e-7);
  gradient_case_close(&c);
}

/* the integral of a controller at its limit stays where the limit begins to hold */
static void test_windup(void **state) {
  static const char text[] =
      "{\"mbgrad\": 1, \"bodies\": {\"one\": {\"motion\": \"planar-point\", \"mass\": 1}}, \"blocks\": {"
      "\"free\": {\"type\": \"pid\", \"input\": \"1\", \"kp\": 2, \"ki\": 3},"
      "\"held\": {\"type\": \"pid\", \"input\": \"1\", \"kp\": 2, \"ki\": 3, \"min\": -4, \"max\": 6, \"tracking\": "
      "0.1},"
      "\"preset\": {\"type\": \"pid\", \"input\": \"1\", \"kp\": 2, \"ki\": 3, \"min\": -4, \"max\": 6}},"
      "\"criteria\": {\"a\": {\"terminal\": \"free\"}, \"b\": {\"terminal\": \"held\"}, \"c\": {\"terminal\": "
      "\"held_raw\"},"
      "\"d\": {\"terminal\": \"preset_raw\"}}, \"run\": {\"formulation\": \"lie\", \"end\": 20, \"step\": 0.01}}";
  gradient_case c;
  double psi[16];
  (void)state;
  gradient_case_open(&c, "windup", text);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "windup");
  assert_close(psi[0], 2 + 3 * 20, 1e-9);
  assert_true(psi[1] < 6 && psi[1] > 3);
  assert_close(psi[1], 1 + 5 * tanh((psi[2] - 1) / 5), 1e-12);
  assert_close(psi[2] - psi[1], 3 * 0.1, 1e-8);                               /* steady: ki e = (raw - out)/tracking */
  assert_close(psi[3] - (1 + 5 * tanh((psi[3] - 1) / 5)), 3 * 2.0 / 3, 1e-8); /* tracking kp/ki */
  gradient_case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_written_out),
      cmocka_unit_test(test_response),
      cmocka_unit_test(test_windup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
