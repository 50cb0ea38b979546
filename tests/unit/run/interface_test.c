/* The habits of the public interface: options of any size, NULL and wrong indices, models in memory. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A mass that a force F pushes for a second: x = F t^2 / (2 m), which generalized-alpha gives exactly. */
#define PUSHED(more)                                                                                                   \
  "{\"mbgrad\": 1, \"parameters\": {\"F\": {\"value\": 3, \"min\": -10, \"max\": 10}}, \"bodies\": {\"b\": "           \
  "{\"motion\": \"planar-point\", \"mass\": 2}}, \"forces\": {\"push\": {\"type\": \"force\", \"on\": \"b\", "         \
  "\"force\": [\"F\", 0, 0]}}, \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"b\", \"component\": \"x\"}}, "  \
  "\"run\": {\"end\": 1, \"step\": 0.1}, " more "}"

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
} fixture;

static int setup(void **state) {
  static const char text[] = PUSHED("\"criteria\": {\"far\": {\"terminal\": \"x\"}}");
  fixture *f = calloc(1, sizeof(*f));
  *state = f;
  return mbg_context_create(NULL, &f->ctx) || mbg_model_parse(f->ctx, "pushed", text, strlen(text), NULL, &f->model);
}

static int teardown(void **state) {
  fixture *f = *state;
  mbg_model_destroy(f->model);
  mbg_context_destroy(f->ctx);
  free(f);
  return 0;
}

/* ---------------------------------------------------------------------- options that grow */

/* defaults fill what the caller has room for, and no more */
static void test_defaults(void **state) {
  (void)state;
  struct {
    mbg_run_options o;
    unsigned char after[16];
  } x;
  memset(&x, 0xa5, sizeof x);
  mbg_run_options_default(&x.o, offsetof(mbg_run_options, memory));
  assert_int_equal(x.o.size, offsetof(mbg_run_options, memory));
  assert_true(isnan(x.o.start) && isnan(x.o.alpha_f));
  assert_int_equal(((unsigned char *)&x.o)[offsetof(mbg_run_options, memory)], 0xa5);
  /* a newer caller: the rest is cleared */
  mbg_run_options_default(&x.o, sizeof x);
  assert_int_equal(x.o.size, sizeof x);
  assert_int_equal(x.after[15], 0);
  mbg_run_options_default(NULL, sizeof x);
  mbg_run_options_default(&x.o, 0);
}

static void refuse(fixture *f, const mbg_run_options *o, const char *message) {
  mbg_run *run = NULL;
  mbg_context_clear(f->ctx);
  assert_int_equal(mbg_run_create(f->ctx, f->model, o, &run), MBG_ERROR_INPUT);
  assert_null(run);
  if (!strstr(mbg_context_error(f->ctx), message)) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
}

static void test_sizes(void **state) {
  fixture *f = *state;
  mbg_run_options o;
  mbg_run *run = NULL;
  mbg_run_options_default(&o, sizeof(o));
  o.end = 0.5;
  o.all_signals = true; /* lies behind the size that follows, so it does not count */
  o.size = offsetof(mbg_run_options, memory);
  assert_int_equal(mbg_run_create(f->ctx, f->model, &o, &run), MBG_OK);
  assert_close(mbg_run_end(run), 0.5, 0);
  assert_int_equal(mbg_run_kept_count(run), 1);
  mbg_run_destroy(run);
  o.size = 0;
  refuse(f, &o, "run options: the size is 0; call mbg_run_options_default first");
  o.size = sizeof(o) + 8;
  refuse(f, &o, "the program was compiled for a newer version");
  /* within the options of a problem, too */
  mbg_control_options c;
  mbg_control *control = NULL;
  mbg_control_options_default(&c, sizeof(c));
  c.run = &o;
  mbg_context_clear(f->ctx);
  assert_int_equal(mbg_control_create(f->ctx, f->model, &c, &control), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(f->ctx), "newer version"));
}

/* ---------------------------------------------------------------------- wrong arguments */

static void test_null(void **state) {
  fixture *f = *state;
  mbg_run *run = NULL;
  mbg_check *check = NULL;
  mbg_modes *modes = NULL;
  mbg_optimize *opt = NULL;
  mbg_identify *id = NULL;
  mbg_control *control = NULL;
  mbg_model *model = NULL;
  char *text = NULL;
  double x[12];
  assert_int_equal(mbg_context_create(NULL, NULL), MBG_ERROR_INPUT);
  assert_int_equal(mbg_model_load(f->ctx, NULL, &model), MBG_ERROR_INPUT);
  assert_int_equal(mbg_model_for_run(f->ctx, NULL, NULL, &model), MBG_ERROR_INPUT);
  assert_int_equal(mbg_model_schema(NULL, &text), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_create(f->ctx, NULL, NULL, &run), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_create(NULL, f->model, NULL, &run), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_create(f->ctx, f->model, NULL, NULL), MBG_ERROR_INPUT);
  assert_int_equal(mbg_check_create(f->ctx, NULL, NULL, &check), MBG_ERROR_INPUT);
  assert_int_equal(mbg_modes_create(f->ctx, NULL, NULL, &modes), MBG_ERROR_INPUT);
  assert_int_equal(mbg_optimize_create(f->ctx, NULL, NULL, &opt), MBG_ERROR_INPUT);
  assert_int_equal(mbg_identify_create(f->ctx, NULL, NULL, &id), MBG_ERROR_INPUT);
  assert_int_equal(mbg_control_create(f->ctx, NULL, NULL, &control), MBG_ERROR_INPUT);
  assert_string_equal(mbg_context_error(f->ctx), "mbg_model_load_run: an argument is NULL that must not be");
  assert_int_equal(mbg_run_simulate(f->ctx, NULL), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_set_parameters(f->ctx, NULL, x), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_criteria(f->ctx, NULL, x), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_gradient(f->ctx, NULL, MBG_METHOD_AUTO, x, NULL), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_prove(f->ctx, NULL), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_times(NULL, x), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_signals(NULL, x), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_frames(NULL, x), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_last_state(NULL, x, x, x), MBG_ERROR_INPUT);
  assert_int_equal(mbg_optimize_solve(f->ctx, NULL), MBG_ERROR_INPUT);
  assert_int_equal(mbg_identify_solve(f->ctx, NULL), MBG_ERROR_INPUT);
  assert_int_equal(mbg_control_solve(f->ctx, NULL), MBG_ERROR_INPUT);
  assert_int_equal(mbg_modes_displace(NULL, 0, 1, 0, 0, x, x), MBG_ERROR_INPUT);
  assert_int_equal(mbg_check_json(f->ctx, NULL, &text), MBG_ERROR_INPUT);
}

static void test_null_getters(void **state) {
  (void)state;
  assert_null(mbg_model_name(NULL));
  assert_int_equal(mbg_model_parameter_count(NULL), 0);
  assert_int_equal(mbg_model_parameter_find(NULL, "F"), -1);
  assert_true(isnan(mbg_model_parameter_value(NULL, 0)));
  assert_null(mbg_model_active_run(NULL));
  assert_null(mbg_model_body_name(NULL, 0));
  assert_int_equal(mbg_model_modal_body(NULL, 0), -1);
  assert_null(mbg_run_formulation(NULL));
  assert_true(isnan(mbg_run_start(NULL)) && isnan(mbg_run_signal(NULL, 0, 0)));
  assert_int_equal(mbg_run_node_count(NULL), 0);
  assert_false(mbg_run_partial(NULL));
  assert_null(mbg_run_get_work(NULL));
  assert_null(mbg_run_get_proof(NULL, 0));
  assert_null(mbg_run_attribute_key(NULL, 0));
  assert_null(mbg_check_get_summary(NULL));
  assert_null(mbg_check_get_body(NULL, 0));
  assert_null(mbg_check_warning(NULL, 0));
  assert_null(mbg_modes_get_summary(NULL));
  assert_null(mbg_modes_get_mode(NULL, 0));
  assert_null(mbg_modes_shape(NULL, 0, 0));
  assert_null(mbg_optimize_get_summary(NULL));
  assert_null(mbg_optimize_get_case(NULL, 0));
  assert_null(mbg_identify_get_parameter(NULL, 0));
  assert_true(isnan(mbg_identify_correlation(NULL, 0, 0)));
  assert_null(mbg_control_get_samples(NULL, 0));
  assert_false(mbg_control_same_times(NULL));
  assert_string_equal(mbg_context_error(NULL), "");
  assert_int_equal(mbg_method_find(NULL), -1);
  mbg_context_clear(NULL);
  mbg_text_destroy(NULL, NULL);
}

static void test_indices(void **state) {
  fixture *f = *state;
  mbg_check *check = NULL;
  mbg_run *run = NULL;
  assert_int_equal(mbg_check_create(f->ctx, f->model, NULL, &check), MBG_OK);
  assert_int_equal(mbg_run_create(f->ctx, f->model, NULL, &run), MBG_OK);
  for (int i = -1; i < 100; i += 100) {
    assert_null(mbg_check_get_body(check, i));
    assert_null(mbg_check_get_joint(check, i));
    assert_null(mbg_check_get_link(check, i));
    assert_null(mbg_check_redundant(check, i));
    assert_null(mbg_check_coupling(check, i));
    assert_null(mbg_run_attribute_owner(run, i));
    assert_null(mbg_model_signal_name(f->model, i));
    assert_int_equal(mbg_run_kept_signal(run, i), -1);
    assert_true(isnan(mbg_run_node_time(run, i)));
  }
  mbg_run_destroy(run);
  mbg_check_destroy(check);
}

/* ---------------------------------------------------------------------- arrays */

static void test_arrays(void **state) {
  fixture *f = *state;
  mbg_run *run = NULL;
  double t[11], y[11 * 2], p = 0;
  assert_int_equal(mbg_run_create(f->ctx, f->model, NULL, &run), MBG_OK);
  assert_int_equal(mbg_model_signal_count(f->model), 1);
  assert_int_equal(mbg_run_simulate(f->ctx, run), MBG_OK);
  assert_int_equal(mbg_run_node_count(run), 11);
  assert_int_equal(mbg_run_times(run, t), MBG_OK);
  assert_int_equal(mbg_run_signals(run, y), MBG_OK);
  for (int i = 0; i < 11; i++) {
    assert_close(t[i], 0.1 * i, 1e-14);
    assert_close(y[i], 3 * t[i] * t[i] / 4, 1e-13);
  }
  for (int i = 0; i < 11; i++) {
    assert_close(mbg_run_time_array(run)[i], t[i], 0);
    assert_close(mbg_run_value_array(run)[i * mbg_run_value_width(run)], y[i], 0);
  }
  assert_int_equal(mbg_run_frame_column(run, 0), -1);
  assert_int_equal(mbg_run_parameters(run, &p), MBG_OK);
  assert_close(p, 3, 0);
  const double q = 4;
  assert_int_equal(mbg_run_set_parameters(f->ctx, run, &q), MBG_OK);
  assert_int_equal(mbg_run_parameters(run, &p), MBG_OK);
  assert_close(p, 4, 0);
  mbg_run_destroy(run);
}

/* the arrays without a copy have the same numbers as the copies */
static void test_poses(void **state) {
  fixture *f = *state;
  mbg_run_options o;
  mbg_run *run = NULL;
  double frames[11 * 12], twists[11 * 6];
  mbg_run_options_default(&o, sizeof(o));
  o.keep_poses = true;
  assert_int_equal(mbg_run_create(f->ctx, f->model, &o, &run), MBG_OK);
  assert_null(mbg_run_time_array(run));
  assert_null(mbg_run_value_array(run));
  assert_int_equal(mbg_run_value_width(run), 0);
  assert_int_equal(mbg_run_twist_column(run, 0), -1);
  assert_int_equal(mbg_run_simulate(f->ctx, run), MBG_OK);
  assert_int_equal(mbg_run_node_count(run), 11);
  assert_int_equal(mbg_run_frames(run, frames), MBG_OK);
  assert_int_equal(mbg_run_twists(run, twists), MBG_OK);
  for (int i = 0; i < 11; i++) {
    const double *values = mbg_run_value_array(run) + i * mbg_run_value_width(run);
    assert_memory_equal(values + mbg_run_frame_column(run, 0), frames + 12 * i, 12 * sizeof(double));
    assert_memory_equal(values + mbg_run_twist_column(run, 0), twists + 6 * i, 6 * sizeof(double));
  }
  assert_int_equal(mbg_run_frame_column(run, -1), -1);
  assert_int_equal(mbg_run_twist_column(run, mbg_model_body_count(f->model)), -1);
  mbg_run_destroy(run);
}

/* nodes as they pass: the numbers of a run that keeps them all */
typedef struct {
  const mbg_run *all;
  int nodes, different;
} passing;

static void take_node(void *user, double t, bool inner, const double *signals) {
  passing *p = user;
  const int n = p->nodes++;
  if (p->all) {
    p->different += t != mbg_run_node_time(p->all, n) || inner != mbg_run_node_inner(p->all, n) ||
                    signals[0] != mbg_run_signal(p->all, n, 0);
  }
}

static void test_nodes(void **state) {
  fixture *f = *state;
  static const char *const formulations[] = {"lie", "dae", "dca", "qr", "ali3p"};
  for (int i = 0; i < 9; i++) { /* ali3p takes fixed steps only */
    mbg_run_options o;
    mbg_run *all = NULL, *run = NULL;
    passing p = {0};
    double psi[2];
    mbg_run_options_default(&o, sizeof(o));
    o.formulation = formulations[i / 2];
    o.all_signals = true;
    *(i % 2 == 0 ? &o.step : &o.tolerance) = i % 2 == 0 ? 0.1 : 1e-4;
    assert_int_equal(mbg_run_create(f->ctx, f->model, &o, &all), MBG_OK);
    assert_int_equal(mbg_run_simulate(f->ctx, all), MBG_OK);
    p.all = all;
    o.node = take_node;
    o.node_user = &p;
    assert_int_equal(mbg_run_create(f->ctx, f->model, &o, &run), MBG_OK);
    for (int again = 1; again <= 2; again++) {
      assert_int_equal(mbg_run_simulate(f->ctx, run), MBG_OK);
      assert_int_equal(mbg_run_node_count(run), mbg_run_node_count(all));
      assert_int_equal(p.nodes, mbg_run_node_count(all));
      assert_int_equal(p.different, 0);
      p.nodes = 0;
    }
    assert_null(mbg_run_value_array(run));
    assert_int_equal(mbg_run_value_width(run), 0);
    assert_int_equal(mbg_run_criteria(f->ctx, all, &psi[0]), MBG_OK);
    assert_int_equal(mbg_run_criteria(f->ctx, run, &psi[1]), MBG_OK);
    assert_true(psi[0] == psi[1]);
    mbg_run_destroy(run);
    mbg_run_destroy(all);
  }
}

/* ---------------------------------------------------------------------- models in memory */

static mbg_model *parse(fixture *f, const char *text, const char *base) {
  mbg_model *model = NULL;
  if (mbg_model_parse(f->ctx, "memory", text, strlen(text), base, &model) < 0) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
  return model;
}

/* x(1) = F/4 is to be 1; with two load cases that start elsewhere it is 1 and 2: F = 6 */
static void test_optimize(void **state) {
  fixture *f = *state;
  static const char one[] = PUSHED("\"criteria\": {\"miss\": {\"terminal\": \"(x - 1)^2\"}}, "
                                   "\"optimize\": {\"objective\": \"miss\"}");
  static const char two[] = PUSHED("\"constants\": {\"goal\": 0}, \"criteria\": {\"miss\": {\"terminal\": "
                                   "\"(x - goal)^2\"}}, \"runs\": {\"near\": {\"set\": {\"goal\": 1}}, "
                                   "\"far\": {\"set\": {\"goal\": 2}}}, \"optimize\": {\"objective\": \"miss\"}");
  const char *texts[] = {one, two, two};
  const char *runs[] = {NULL, NULL, "far"};
  const double F[] = {4, 6, 8};
  for (int i = 0; i < 3; i++) {
    mbg_model *model = parse(f, texts[i], NULL), *own = NULL;
    mbg_optimize *opt = NULL;
    char *text = NULL;
    assert_int_equal(mbg_model_for_run(f->ctx, model, runs[i], &own), MBG_OK);
    assert_int_equal(mbg_optimize_create(f->ctx, own, NULL, &opt), MBG_OK);
    assert_int_equal(mbg_optimize_solve(f->ctx, opt), MBG_OK);
    assert_int_equal(mbg_optimize_get_summary(opt)->cases, i == 1 ? 2 : 1);
    assert_close(mbg_optimize_parameters(opt)[0], F[i], 1e-5);
    assert_int_equal(mbg_optimize_model_text(f->ctx, opt, &text), MBG_OK);
    mbg_model *found = parse(f, text, NULL);
    assert_close(mbg_model_parameter_value(found, 0), mbg_optimize_parameters(opt)[0], 0);
    mbg_text_destroy(f->ctx, text);
    mbg_model_destroy(found);
    mbg_optimize_destroy(opt);
    mbg_model_destroy(own);
    mbg_model_destroy(model);
  }
}

static void test_identify(void **state) {
  fixture *f = *state;
  static const char text[] = PUSHED("\"criteria\": {\"fit\": {\"least_squares\": \"x\", \"data\": \"pushed.csv\"}}");
  FILE *file = fopen("pushed.csv", "w");
  fputs("time,x\n0.5,0.3125\n1,1.25\n", file); /* F = 5 */
  fclose(file);
  mbg_model *model = parse(f, text, ".");
  mbg_identify *id = NULL;
  char *fitted = NULL;
  assert_int_equal(mbg_identify_create(f->ctx, model, NULL, &id), MBG_OK);
  assert_int_equal(mbg_identify_solve(f->ctx, id), MBG_OK);
  assert_true(mbg_identify_get_summary(id)->converged);
  assert_close(mbg_identify_get_parameter(id, 0)->value, 5, 1e-8);
  assert_int_equal(mbg_identify_model_text(f->ctx, id, &fitted), MBG_OK);
  assert_non_null(strstr(fitted, "\"min\": -10"));
  mbg_text_destroy(f->ctx, fitted);
  mbg_identify_destroy(id);
  mbg_model_destroy(model);
  remove("pushed.csv");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_defaults), TEST(test_sizes),   TEST(test_null),  TEST(test_indices),
                                     TEST(test_arrays),   TEST(test_poses),   TEST(test_nodes), TEST(test_null_getters),
                                     TEST(test_optimize), TEST(test_identify)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
