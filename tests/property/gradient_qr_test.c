/* Gradients of `qr`: direct and continuous adjoint agree to the tolerance, with each other and with the derivative of the discrete
   run (the complex twin repeats its steps), on random models and for every kind of criterion, input and start. A failing seed is
   repeated with MBG_SEED=number. */
#include "property/gradient_proof.h"

static const double tolerance = 1e-12;

/* Errors of a gradient are the tolerance times the growth of variations over the run: 1e3 for the motions below, relative as in
   theory 0, section 11. */
static const double tol = 1e-7;

static void open_qr(gradient_case *c, const char *text) {
  gradient_case_open(c, NULL, text);
  c->options.formulation = "qr";
  c->options.tolerance = tolerance;
}

/* ---------------------------------------------------------------------- random models */

static double worst[2];

static void compare_all(gradient_case *c, const char *name) {
  double *direct = gradient_case_gradient(c, MBG_METHOD_DIRECT),
         *adjoint = gradient_case_gradient(c, MBG_METHOD_CONTINUOUS), *exact = gradient_case_twin(c, NULL);
  for (int k = 0; k < c->nc; k++) {
    const double a = gradient_difference(c->np, c->p, direct + k * c->np, adjoint + k * c->np, unit);
    const double b = gradient_difference(c->np, c->p, adjoint + k * c->np, exact + k * c->np, unit);
    worst[0] = fmax(worst[0], a);
    worst[1] = fmax(worst[1], b);
    if (!(a <= tol) || !(b <= tol)) {
      fail_msg("%s, '%s': direct and adjoint differ by %.2e, adjoint and twin by %.2e", name, c->m->criteria[k].name, a,
               b);
    }
  }
  free(direct);
  free(adjoint);
  free(exact);
}

/* redundant rows that a parameter would contradict, singular starts */
static bool runs_qr(gradient_case *c, const char *name) {
  double *g = gradient_case_matrix(c);
  int err = mbg_run_simulate(c->ctx, c->run);
  err = err < 0 ? err : mbg_run_gradient(c->ctx, c->run, MBG_METHOD_CONTINUOUS, g, NULL);
  if (err < 0) {
    print_message("%s: skipped: %s\n", name, mbg_context_error(c->ctx));
    mbg_context_clear(c->ctx);
    skipped++;
  }
  free(g);
  return err == MBG_OK;
}

static void check_random_qr(uint64_t number) {
  gradient_case c;
  char name[40], *text = random_text(number);
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)number);
  open_qr(&c, text);
  c.options.end = random_end;
  gradient_case_run(&c);
  if (runs_qr(&c, name)) {
    compare_all(&c, name);
  }
  gradient_case_close(&c);
  free(text);
}

static void test_random_qr(void **state) {
  (void)state;
  const char *one = getenv("MBG_SEED");
  unit = 1e-3;
  if (one) {
    check_random_qr(strtoull(one, NULL, 10));
    return;
  }
  const int rounds = support_sanitized() ? 3 : support_rounds(16, 300);
  for (int i = 0; i < rounds; i++) {
    check_random_qr((uint64_t)i);
  }
  assert_true(skipped <= 1 + rounds / 20);
  if (support_rounds(0, 1)) {
    print_message("direct against adjoint %.1e, adjoint against twin %.1e, %d models skipped\n", worst[0], worst[1],
                  skipped);
  }
  unit = 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_qr),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
