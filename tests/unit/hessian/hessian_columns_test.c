/* Products along many directions: threads, sums that share trajectories, memory limits, errors. */
#include "mbgrad/hessian.h"
#include "reference/reference_case.h"

#include <malloc.h>

static void open_case(gradient_case *c, char **text, const char *name, const char *formulation, double step,
                      double end) {
  *text = reference_open(c, name, NULL, NULL);
  c->options.formulation = formulation;
  c->options.step = step;
  c->options.end = end;
  c->options.all_signals = 0;
}

static double *matrices(gradient_case *c, int nsum, const double *weights) {
  double *H = calloc((size_t)nsum * (size_t)c->np * (size_t)c->np + 1, sizeof *H);
  mbg_hessian *h;
  gradient_case_check(c, mbg_hessian_create(c->ctx, c->run, &h), "hessian");
  gradient_case_check(c, mbg_hessian_matrices(c->ctx, h, nsum, weights, H, NULL), "matrices");
  mbg_hessian_destroy(h);
  return H;
}

/* the same bits with one and with three threads, of both criteria at once and one by one */
static void test_threads(void **state) {
  (void)state;
  static const char *const keys[] = {"lie", "ali3p", "dca", "qr"};
  static const double weights[] = {1, 0, 0, 1}; /* criteria h and S; J is their sum */
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    gradient_case c;
    char *text;
    double *H[3];
    open_case(&c, &text, "overhead-crane", keys[i], 0.05, 0.5);
    assert_true(c.nc >= 2);
    double *w = calloc(2 * (size_t)c.nc, sizeof *w);
    w[0] = weights[0];
    w[c.nc + 1] = weights[3];
    for (int k = 0; k < 2; k++) {
      c.options.threads = k == 0 ? 1 : 3;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      H[k] = matrices(&c, 2, w);
    }
    const size_t size = (size_t)c.np * (size_t)c.np * sizeof(double);
    H[2] = matrices(&c, 1, w + c.nc);
    assert_memory_equal(H[0], H[1], 2 * size);
    assert_memory_equal(H[1] + (size_t)c.np * (size_t)c.np, H[2], size);
    assert_true(fabs(H[2][0]) > 0);
    for (int k = 0; k < 3; k++) {
      free(H[k]);
    }
    free(w);
    reference_close(&c, text);
  }
}

static bool stop(void *user) { return *(const bool *)user; }

/* an error in one of the threads is that of the call, and the next call goes on */
static void test_interrupted(void **state) {
  (void)state;
  gradient_case c;
  char *text;
  bool now = false;
  open_case(&c, &text, "five-bar", "lie", 0.02, 0.4);
  c.options.threads = 2;
  c.options.interrupt = stop;
  c.options.user = &now;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  mbg_hessian *h;
  double weight = 1, *H = calloc((size_t)c.np * (size_t)c.np, sizeof *H);
  gradient_case_check(&c, mbg_hessian_create(c.ctx, c.run, &h), "hessian");
  now = true;
  assert_int_equal(mbg_hessian_matrix(c.ctx, h, &weight, H, NULL), MBG_ERROR_INTERRUPTED);
  assert_non_null(strstr(mbg_context_error(c.ctx), "the second derivative was interrupted"));
  now = false;
  gradient_case_check(&c, mbg_hessian_matrix(c.ctx, h, &weight, H, NULL), "matrix");
  mbg_hessian_destroy(h);
  free(H);
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- memory */

typedef struct {
  size_t now, most;
} meter;

static void *resize(void *user, void *block, size_t size) {
  meter *m = user;
  m->now -= block ? malloc_usable_size(block) : 0;
  void *out = realloc(block, size);
  m->now += out ? malloc_usable_size(out) : 0;
  m->most = m->now > m->most ? m->now : m->most;
  return out;
}

static void release(void *user, void *block) {
  ((meter *)user)->now -= block ? malloc_usable_size(block) : 0;
  free(block);
}

/* bytes beside the model at the peak of a run with a product: H d of the first criterion */
static size_t peak(const char *formulation, int steps, double memory, double *product) {
  meter m = {0, 0};
  const mbg_allocator allocator = {resize, release, &m};
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  mbg_run_options o;
  double weights[8] = {1}, d[32];
  assert_int_equal(mbg_context_create(&allocator, &ctx), MBG_OK);
  assert_int_equal(mbg_model_load(ctx, MBG_GALLERY_DIR "/five-bar", &model), MBG_OK);
  const size_t before = m.now;
  m.most = m.now;
  mbg_run_options_default(&o, sizeof o);
  o.formulation = formulation;
  o.step = 1e-3;
  o.end = 1e-3 * steps;
  o.memory = memory;
  o.all_signals = 0;
  for (int i = 0; i < 32; i++) {
    d[i] = i % 2 ? -1 : 1;
  }
  assert_int_equal(mbg_run_create(ctx, model, &o, &run), MBG_OK);
  assert_int_equal(mbg_run_simulate(ctx, run), MBG_OK);
  assert_int_equal(mbg_run_hessian_vector(ctx, run, weights, d, NULL, product), MBG_OK);
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return m.most - before;
}

/* Under a limit the peak is that of a run of few steps plus the limit, to 10 %: lists of times grow by doubling. The
   nodes of the run and of the complex one, whose numbers are twice as large, would take several times as much. The
   product is the same to rounding. */
static void test_memory(void **state) {
  (void)state;
  static const char *const keys[] = {"lie", "ali3p", "dca", "qr"};
  enum { STEPS = 1500 };
  const double limit = 1.5e6; /* 1 kB a step: what is listed of the nodes of both runs takes a part of it */
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    double few[8], whole[8], limited[8];
    const size_t least = peak(keys[i], 3, 0, few), free_ = peak(keys[i], STEPS, 0, whole);
    const size_t most = peak(keys[i], STEPS, limit, limited);
    print_message("%s: %zu bytes with 3 steps, %zu with %d, %zu under a limit of %.0f\n", keys[i], least, free_, STEPS,
                  most, limit);
    assert_true((double)free_ > (double)least + 3 * limit);
    assert_true((double)most <= (double)least + 1.1 * limit);
    for (int k = 0; k < 8; k++) {
      assert_close(limited[k], whole[k], 1e-11 * fabs(whole[k]));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_interrupted),
                                     cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
