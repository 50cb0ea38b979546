/* Fits by several processes, which are threads here, and in threads: the same numbers, bit for bit, as those of one;
   interruptions, messages and restart files that reach every rank; ranks that differ. */
#include "mbgrad/identify.h"
#include "support/fit_case.h"
#include "support/rank_threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 400, MOST = 5 }; /* MOST: more ranks than experiments */

typedef struct {
  rank_seat seat;
  const char *path, *optimizer, *restart;
  bool resume;
  int threads, homotopy;
  int stop_at;    /* iteration at which this rank stops the fit; 0: never */
  double start;   /* of the first parameter; NAN: its nominal value */
  int result;     /* of creation or solution */
  char text[512]; /* first message */
  mbg_identify_summary summary;
  int n;
  double numbers[NUMBERS];
} rank;

static bool progress(void *user, const mbg_identify_state *state) {
  const rank *r = user;
  return r->stop_at > 0 && state->iteration >= r->stop_at;
}

static void keep(rank *r, double x) {
  if (r->n < NUMBERS) {
    r->numbers[r->n++] = x;
  }
}

static void keep_results(rank *r, const mbg_identify *id) {
  const mbg_identify_summary *s = mbg_identify_get_summary(id);
  r->summary = *s;
  keep(r, s->cost);
  keep(r, s->start_cost);
  keep(r, s->condition);
  keep(r, s->evaluations);
  for (int i = 0; i < s->parameters; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(id, i);
    keep(r, p->value);
    keep(r, p->standard_error);
    keep(r, p->hessian_error);
    keep(r, p->bias);
  }
  for (int i = 0; i < s->channels; i++) {
    const mbg_identify_channel *c = mbg_identify_get_channel(id, i);
    keep(r, c->samples);
    keep(r, c->rms);
    for (int k = 0; k < c->samples; k++) {
      keep(r, c->time[k]);
      keep(r, c->model[k]);
    }
  }
}

static int fit(rank *r, mbg_context *ctx, const mbg_model *model, mbg_identify **id) {
  const mbg_ranks ranks = rank_seen_from(&r->seat);
  double p[16];
  mbg_identify_options o;
  mbg_identify_options_default(&o, sizeof(o));
  for (int i = 0; i < mbg_model_parameter_count(model); i++) {
    p[i] = i == 0 && !isnan(r->start) ? r->start : mbg_model_parameter_value(model, i);
  }
  o.parameters = p;
  o.optimizer = r->optimizer;
  o.threads = r->threads;
  o.homotopy = r->homotopy;
  o.restart = r->restart;
  o.resume = r->resume;
  o.hessian = true;
  o.progress = progress;
  o.user = r;
  o.ranks = r->seat.count > 1 ? &ranks : NULL;
  int err = mbg_identify_create(ctx, model, &o, id);
  err = err == MBG_OK ? mbg_identify_solve(ctx, *id) : err;
  if (err == MBG_OK) {
    keep_results(r, *id);
  }
  return err;
}

static void *run_rank(void *user) {
  rank *r = user;
  mbg_context *ctx = NULL;
  mbg_model *model = NULL;
  mbg_identify *id = NULL;
  r->result = mbg_context_create(NULL, &ctx);
  r->result = r->result == MBG_OK ? mbg_model_load(ctx, r->path, &model) : r->result;
  r->result = r->result == MBG_OK ? fit(r, ctx, model, &id) : r->result;
  if (r->result < 0) {
    snprintf(r->text, sizeof(r->text), "%s", mbg_context_error(ctx));
  }
  mbg_identify_destroy(id);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return NULL;
}

/* `set` of every rank, which may be changed for one of them by `change` */
static void run_ranks(int count, const rank *set, void (*change)(rank *r), rank *out) {
  for (int k = 0; k < count; k++) {
    out[k] = *set;
    out[k].seat.own = k;
    if (change) {
      change(&out[k]);
    }
  }
  rank_threads_run(count, out, sizeof(*out), run_rank);
}

static void assert_same(const rank *a, const rank *b) {
  assert_int_equal(a->result, MBG_OK);
  assert_int_equal(a->summary.reason, b->summary.reason);
  assert_int_equal(a->n, b->n);
  assert_memory_equal(a->numbers, b->numbers, (size_t)b->n * sizeof(double));
}

/* Three experiments, one with another end; `set` of the last one. */
#define DATA "{'time': [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 'value': [0.94, 0.77, 0.52, 0.22, -0.11, -0.38]}"
#define SWINGING(set, force)                                                                                           \
  "{'mbgrad': 1, 'parameters': {'k': {'value': 9, 'min': 1, 'max': 50}, 'c': {'value': 0.1, 'min': 0, 'max': 5}},"     \
  " 'constants': {'x0': 1}, 'bodies': {'b': {'motion': 'planar-point', 'mass': 1, 'position': ['x0', 0, 0]}},"         \
  " 'forces': {'s': {'type': 'spring-damper', 'between': ['ground', 'b'], 'along': 'x', 'stiffness': 'k',"             \
  " 'damping': 'c'}" force "}, 'signals': {'x': {'type': 'position', 'of': 'b', 'component': 'x'}},"                   \
  " 'criteria': {'fit': {'least_squares': 'x', 'data': " DATA "}}, 'run': {'end': 0.7, 'step': 0.01},"                 \
  " 'runs': {'a': {}, 'b': {'set': {'x0': 1.1}, 'step': 0.005}, 'c': {'set': {" set "}}}}"

static rank plain(const fit_case *c) { return (rank){.path = c->path, .threads = 1, .start = NAN}; }

static void same_numbers(void **state) {
  fit_case *c = *state;
  static const char *const optimizers[] = {"lm", "lbfgs", "newton"};
  rank one, all[MOST];
  fit_model(c, SWINGING("'x0': 0.9", ""));
  for (int i = 0; i < 3; i++) {
    rank set = plain(c);
    set.optimizer = optimizers[i];
    set.homotopy = i == 0 ? 2 : 0;
    run_ranks(1, &set, NULL, &one);
    assert_int_equal(one.result, MBG_OK);
    assert_true(one.summary.converged && one.n > 40);
    for (int count = 1; count <= MOST; count += 2) {
      set.threads = count == 1 ? 3 : 2;
      run_ranks(count, &set, NULL, all);
      for (int k = 0; k < count; k++) {
        assert_same(&all[k], &one);
      }
    }
  }
}

static void stop_last(rank *r) { r->stop_at = r->seat.own == 2 ? 2 : 0; }

static void one_stops_all(void **state) {
  fit_case *c = *state;
  rank all[3];
  fit_model(c, SWINGING("'x0': 0.9", ""));
  const rank set = plain(c);
  run_ranks(3, &set, stop_last, all);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(all[k].summary.reason, MBG_IDENTIFY_INTERRUPTED);
    assert_same(&all[k], &all[0]);
  }
}

/* the message of an experiment that cannot be simulated */
static void messages_reach_all(void **state) {
  fit_case *c = *state;
  rank one, all[3];
  fit_model(c, SWINGING("'x0': -0.9", ", 'f': {'type': 'force', 'on': 'b', 'force': ['0.001*sqrt(x + 0.65)', 0, 0]}"));
  const rank set = plain(c);
  run_ranks(1, &set, NULL, &one);
  assert_true(one.result < 0);
  assert_non_null(strstr(one.text, "run 'c': "));
  run_ranks(3, &set, NULL, all);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(all[k].result, one.result);
    assert_string_equal(all[k].text, one.text);
  }
}

static void start_elsewhere(rank *r) { r->start = r->seat.own == 1 ? 41 : NAN; }

static void ranks_that_differ(void **state) {
  fit_case *c = *state;
  rank all[3];
  fit_model(c, SWINGING("'x0': 0.9", ""));
  const rank set = plain(c);
  run_ranks(3, &set, start_elsewhere, all);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(all[k].result, MBG_ERROR_INPUT);
    assert_non_null(strstr(all[k].text, "at another point of the search"));
  }
}

/* rank 0 has the restart file; a fit that stopped goes on with any number of ranks */
static void restart_files(void **state) {
  fit_case *c = *state;
  char file[600];
  rank one, all[4];
  fit_model(c, SWINGING("'x0': 0.9", ""));
  rank set = plain(c);
  run_ranks(1, &set, NULL, &one);
  snprintf(file, sizeof(file), "%s.restart", c->path);
  set.restart = file;
  run_ranks(3, &set, stop_last, all);
  assert_int_equal(all[0].summary.reason, MBG_IDENTIFY_INTERRUPTED);
  set.resume = true;
  run_ranks(4, &set, NULL, all);
  for (int k = 0; k < 4; k++) {
    assert_int_equal(all[k].result, MBG_OK);
    assert_float_equal(all[k].summary.cost, one.summary.cost, 0);
    assert_memory_equal(all[k].numbers + 4, one.numbers + 4, (size_t)(one.n - 4) * sizeof(double));
  }
  set.optimizer = "lbfgs"; /* another fit: the file is refused */
  run_ranks(2, &set, NULL, all);
  assert_int_equal(all[0].result, MBG_ERROR_INPUT);
  assert_int_equal(all[1].result, MBG_ERROR_INPUT);
  remove(file);
}

static int setup(void **state) {
  fit_case *c = calloc(1, sizeof(*c));
  *state = c;
  fit_open(c);
  return 0;
}

static int teardown(void **state) {
  fit_close(*state);
  free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(same_numbers, setup, teardown),
      cmocka_unit_test_setup_teardown(one_stops_all, setup, teardown),
      cmocka_unit_test_setup_teardown(messages_reach_all, setup, teardown),
      cmocka_unit_test_setup_teardown(ranks_that_differ, setup, teardown),
      cmocka_unit_test_setup_teardown(restart_files, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
