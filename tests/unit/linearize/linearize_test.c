/* Linear models: names, options that are refused, poles, zeros and responses of a pendulum on a cart. */
#include "mbgrad/linearize.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

/* cart of 2 kg on a rail with a damper, a point mass of 1 kg on a rod of length l, pushed by the control u */
static const char text[] =
    "{\"mbgrad\": 1, \"parameters\": {\"l\": 0.5, \"c\": 0.4, \"u_k\": {\"value\": 0, \"count\": 3}},"
    " \"controls\": {\"u\": {\"times\": [0, 1, 2], \"values\": \"u_k\", \"interpolation\": \"linear\"}},"
    " \"gravity\": [0, -9.81, 0], \"bodies\": {"
    "\"cart\": {\"motion\": \"planar\", \"mass\": 2, \"inertia\": 1},"
    "\"bob\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0, \"position\": [0, \"-l\", 0]}},"
    " \"joints\": {"
    "\"rail\": {\"type\": \"prismatic\", \"between\": [\"ground\", \"cart\"], \"at\": [0, 0, 0], \"axis\": [1, 0, 0]},"
    "\"pin\": {\"type\": \"revolute\", \"between\": [\"cart\", \"bob\"], \"at\": [0, 0, 0], \"axis\": [0, 0, 1]}},"
    " \"forces\": {\"drive\": {\"type\": \"actuator\", \"joint\": \"rail\", \"coordinate\": \"slide\","
    " \"force\": \"u - c*v\"}},"
    " \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"cart\", \"component\": \"x\"},"
    " \"phi\": {\"type\": \"coordinate\", \"joint\": \"pin\", \"coordinate\": \"angle\"},"
    " \"y\": {\"type\": \"position\", \"of\": \"bob\", \"component\": \"y\"}}}";

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_linearize_options o;
  mbg_linearize *linear;
} fixture;

static void open_model(fixture *f) {
  *f = (fixture){0};
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  if (mbg_model_parse(f->ctx, "cart", text, strlen(text), NULL, &f->model) < 0) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
  mbg_linearize_options_default(&f->o, sizeof(f->o));
}

static void close_model(fixture *f) {
  mbg_linearize_destroy(f->linear);
  mbg_model_destroy(f->model);
  mbg_context_destroy(f->ctx);
}

static int create(fixture *f) {
  mbg_linearize_destroy(f->linear);
  mbg_context_clear(f->ctx);
  return mbg_linearize_create(f->ctx, f->model, &f->o, &f->linear);
}

static void refused(fixture *f, int status, const char *part) {
  assert_int_equal(create(f), status);
  assert_null(f->linear);
  if (!strstr(mbg_context_error(f->ctx), part)) {
    fail_msg("'%s' is not in '%s'", part, mbg_context_error(f->ctx));
  }
  mbg_linearize_options_default(&f->o, sizeof(f->o));
}

static void test_refusals(void **state) {
  (void)state;
  fixture f;
  open_model(&f);
  f.o.at = (mbg_linearize_at)7;
  refused(&f, MBG_ERROR_INPUT, "about the equilibrium, the start, a steady motion or the end of a run");
  f.o.at = MBG_LINEARIZE_RUN;
  refused(&f, MBG_ERROR_INPUT, "needs a run of the same model");
  f.o.ninput = 1;
  f.o.inputs = (const char *const[]){"mass"};
  refused(&f, MBG_ERROR_INPUT, "input 'mass' is neither a control nor a parameter of the model");
  f.o.ninput = 2;
  f.o.inputs = (const char *const[]){"u", "u"};
  refused(&f, MBG_ERROR_INPUT, "input 'u' is listed twice");
  f.o.noutput = 1;
  f.o.outputs = (const char *const[]){"psi"};
  refused(&f, MBG_ERROR_INPUT, "output 'psi' is no signal of the model");
  f.o.ncoordinate = 1;
  f.o.coordinates = (const char *const[]){"rail.angle"};
  refused(&f, MBG_ERROR_INPUT, "there is no coordinate 'rail.angle'");
  f.o.ncoordinate = 2;
  f.o.coordinates = (const char *const[]){"rail", "cart.x"};
  refused(&f, MBG_ERROR_INPUT, "coordinate 'cart.x' does not move, or follows from the coordinates named before it");
  f.o.ncoordinate = 3;
  f.o.coordinates = (const char *const[]){"rail", "pin", "bob.x"};
  refused(&f, MBG_ERROR_INPUT, "coordinate 'bob.x' is one too many: the model has 2 degrees of freedom");
  f.o.nby = 1;
  f.o.by = (const int[]){9};
  refused(&f, MBG_ERROR_INPUT, "there is no parameter 9; the model has 5");
  close_model(&f);
}

/* a parameter that acts along the free motion of the cart ends the equilibrium */
static void test_free_motion(void **state) {
  (void)state;
  fixture f;
  open_model(&f);
  f.o.gradient = true;
  f.o.nby = 1;
  f.o.by = (const int[]){2};
  refused(&f, MBG_ERROR_INPUT, "parameter 'u_k[0]' ends the equilibrium");
  f.o.gradient = true;
  f.o.nby = 2;
  f.o.by = (const int[]){0, 1};
  assert_int_equal(create(&f), MBG_OK);
  /* phi'' by phi = -3 g/(2 l), X'' by phi = -g/2; by l: 3 g/(2 l^2), 0 */
  const double *A = mbg_linearize_matrix(f.linear, 'A', NULL, NULL), *dA = mbg_linearize_derivative(f.linear, 'A', 0);
  assert_close(A[8 + 1], 9.81 / 2, 1e-12);
  assert_close(A[12 + 1], -9.81 * 1.5 / 0.5, 1e-12);
  assert_close(dA[12 + 1], 9.81 * 1.5 / 0.25, 1e-11);
  assert_close(dA[8 + 1], 0, 1e-11);
  assert_int_equal(mbg_linearize_by(f.linear, 1), 1);
  assert_int_equal(mbg_linearize_by(f.linear, 2), -1);
  assert_close(mbg_linearize_derivative(f.linear, 'A', 1)[8 + 2], -0.5, 1e-12);
  assert_null(mbg_linearize_derivative(f.linear, 'A', 2));
  assert_null(mbg_linearize_matrix(f.linear, 'E', NULL, NULL));
  close_model(&f);
}

static void test_names(void **state) {
  (void)state;
  fixture f;
  open_model(&f);
  f.o.at = MBG_LINEARIZE_START;
  assert_int_equal(create(&f), MBG_OK);
  assert_string_equal(mbg_linearize_state(f.linear, 0)->name, "rail.slide");
  assert_string_equal(mbg_linearize_state(f.linear, 0)->what, "slide of joint 'rail'");
  assert_string_equal(mbg_linearize_state(f.linear, 3)->name, "pin.angle.rate");
  assert_string_equal(mbg_linearize_state(f.linear, 3)->unit, "rad/s");
  assert_null(mbg_linearize_state(f.linear, 4));
  assert_string_equal(mbg_linearize_input(f.linear, 0)->name, "u");
  assert_int_equal(mbg_linearize_get_summary(f.linear)->outputs, 3);
  assert_string_equal(mbg_linearize_output(f.linear, 2)->name, "y");
  assert_close(mbg_linearize_output(f.linear, 2)->value, -0.5, 1e-12);
  /* other coordinates: the same poles */
  double re_[2][4], im_[2][4];
  assert_int_equal(mbg_linearize_poles(f.linear, re_[0], im_[0]), MBG_OK);
  f.o.ncoordinate = 1;
  f.o.coordinates = (const char *const[]){"bob.about_z"};
  assert_int_equal(create(&f), MBG_OK);
  assert_string_equal(mbg_linearize_state(f.linear, 0)->name, "bob.about_z");
  assert_true(isnan(mbg_linearize_state(f.linear, 0)->value));
  assert_int_equal(mbg_linearize_poles(f.linear, re_[1], im_[1]), MBG_OK);
  for (int i = 1; i < 4; i++) {
    assert_close(re_[0][i], re_[1][i], 1e-11);
    assert_close(im_[0][i], im_[1][i], 1e-11);
  }
  close_model(&f);
}

/* x over u: zeros at the pendulum with its pin held */
static void test_zeros(void **state) {
  (void)state;
  fixture f;
  double re_[4], im_[4], hr[3], hi[3];
  int count;
  open_model(&f);
  f.o.at = MBG_LINEARIZE_START;
  assert_int_equal(create(&f), MBG_OK);
  assert_int_equal(mbg_linearize_zeros(f.ctx, f.linear, 0, 0, &count, re_, im_), MBG_OK);
  assert_int_equal(count, 2);
  assert_close(im_[0], sqrt(9.81 / 0.5), 1e-11);
  assert_close(re_[0], 0, 1e-11);
  /* the height of the bob does not follow, to first order */
  assert_int_equal(mbg_linearize_zeros(f.ctx, f.linear, 0, 2, &count, re_, im_), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(f.ctx), "input 'u' does not act on output 'y'"));
  /* at 2 rad/s, x = 1/(-w^2 (m + M) + i c w + m^2 w^4 .../...) by hand: x (i c w - 2 w^2 - w^2 k) = u,
     k = g/(g - l w^2): the bob hangs on the cart with an apparent mass */
  assert_int_equal(mbg_linearize_response(f.ctx, f.linear, 2, hr, hi), MBG_OK);
  const double k = 9.81 / (9.81 - 0.5 * 4), a = -4 * (2 + k), b = 0.4 * 2, size = a * a + b * b;
  assert_close(hr[0], a / size, 1e-12);
  assert_close(hi[0], -b / size, 1e-12);
  assert_int_equal(mbg_linearize_response(f.ctx, f.linear, 0, hr, hi), MBG_ERROR_SINGULAR);
  assert_int_equal(mbg_linearize_response(f.ctx, f.linear, NAN, hr, hi), MBG_ERROR_INPUT);
  close_model(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals), cmocka_unit_test(test_free_motion),
                                     cmocka_unit_test(test_names), cmocka_unit_test(test_zeros)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
