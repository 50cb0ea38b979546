/* Searches by several processes, which are threads here: the same numbers, bit for bit, as those of one; messages,
   interruptions and restart files that reach every rank; ranks that differ. */
#include "mbgrad/optimize.h"
#include "support/fit_case.h"
#include "support/rank_threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 2000, MOST = 7 }; /* MOST: more ranks than load cases */

typedef struct {
  rank_seat seat;
  const char *path, *optimizer, *restart;
  bool resume, curvature;
  int threads, iterations; /* iterations: 0: the preset */
  int stop_at;             /* iteration at which this rank stops the search; 0: never */
  double start;            /* of the first parameter; NAN: its nominal value */
  int result;              /* of creation or solution */
  char text[512];          /* first message */
  mbg_optimize_summary summary;
  int n;
  double numbers[NUMBERS];
} rank;

static bool progress(void *user, const mbg_optimize_state *state) {
  const rank *r = user;
  return r->stop_at > 0 && state->iteration >= r->stop_at;
}

static void keep(rank *r, double x) {
  if (r->n < NUMBERS) {
    r->numbers[r->n++] = x;
  }
}

static void keep_results(rank *r, const mbg_optimize *opt) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  r->summary = *s;
  keep(r, s->objective);
  keep(r, s->violation);
  keep(r, s->optimality);
  keep(r, s->objective_error);
  for (int i = 0; i < s->parameters; i++) {
    keep(r, mbg_optimize_get_parameter(opt, i)->value);
    keep(r, mbg_optimize_get_parameter(opt, i)->multiplier);
  }
  for (int i = 0; i < s->constraints; i++) {
    keep(r, mbg_optimize_get_constraint(opt, i)->value);
    keep(r, mbg_optimize_get_constraint(opt, i)->time);
    keep(r, mbg_optimize_get_constraint(opt, i)->multiplier);
  }
  for (int i = 0; i < s->cases; i++) {
    keep(r, mbg_optimize_get_case(opt, i)->objective);
  }
  for (int i = 0; i < s->history; i++) {
    keep(r, mbg_optimize_get_record(opt, i)->objective);
  }
  for (int i = 0; i < s->curvatures; i++) {
    keep(r, mbg_optimize_curvatures(opt)[i]);
  }
  for (int i = 0; i < s->shifts; i++) {
    keep(r, mbg_optimize_get_shift(opt, i)->objective);
    keep(r, mbg_optimize_get_shift(opt, i)->by[0]);
  }
}

static int search(rank *r, mbg_context *ctx, const mbg_model *model, mbg_optimize **opt) {
  const mbg_ranks ranks = rank_seen_from(&r->seat);
  double p[16];
  mbg_optimize_options o;
  mbg_optimize_options_default(&o, sizeof(o));
  for (int i = 0; i < mbg_model_parameter_count(model); i++) {
    p[i] = i == 0 && !isnan(r->start) ? r->start : mbg_model_parameter_value(model, i);
  }
  o.parameters = p;
  o.optimizer = r->optimizer;
  o.threads = r->threads;
  o.iterations = r->iterations;
  o.restart = r->restart;
  o.resume = r->resume;
  o.progress = progress;
  o.user = r;
  o.ranks = r->seat.count > 1 ? &ranks : NULL;
  int err = mbg_optimize_create(ctx, model, &o, opt);
  err = err == MBG_OK ? mbg_optimize_solve(ctx, *opt) : err;
  err = err == MBG_OK ? mbg_optimize_error(ctx, *opt) : err;
  err = err == MBG_OK && r->curvature ? mbg_optimize_curvature(ctx, *opt) : err;
  if (err == MBG_OK) {
    keep_results(r, *opt);
  }
  return err;
}

static void *run_rank(void *user) {
  rank *r = user;
  mbg_context *ctx = NULL;
  mbg_model *model = NULL;
  mbg_optimize *opt = NULL;
  r->result = mbg_context_create(NULL, &ctx);
  r->result = r->result == MBG_OK ? mbg_model_load(ctx, r->path, &model) : r->result;
  r->result = r->result == MBG_OK ? search(r, ctx, model, &opt) : r->result;
  if (ctx && mbg_context_message_count(ctx) > 0) {
    snprintf(r->text, sizeof(r->text), "%s", mbg_context_message(ctx, 0));
  }
  mbg_optimize_destroy(opt);
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

/* ---------------------------------------------------------------------- models */

#define RINGING(more, optimize)                                                                                        \
  "{'mbgrad': 1, 'parameters': {'k': {'value': 40, 'min': 5, 'max': 200, 'scale': 'log'}, 'c': {'value': 3, 'min': "   \
  "0.1, 'max': 20, 'deviation': 0.1}}, 'constants': {'x0': 1},"                                                        \
  " 'bodies': {'b': {'motion': 'planar-point', 'mass': 1, 'position': ['x0', 0, 0]}},"                                 \
  " 'forces': {'s': {'type': 'spring-damper', 'between': ['ground', 'b'], 'along': 'x', 'stiffness': 'k', 'damping':"  \
  "   'c'}" more "},"                                                                                                  \
  " 'signals': {'x': {'type': 'position', 'of': 'b', 'component': 'x'}, 'v': {'type': 'velocity', 'of': 'b',"          \
  "   'component': 'x'}},"                                                                                             \
  " 'criteria': {'rest': {'integral': 'x^2'}, 'speed': {'path': 'v', 'min': -3}, 'end': {'terminal': 'x'}},"           \
  " 'run': {'end': 2, 'step': 0.02}, 'optimize': {" optimize "}, 'runs': {'a': {'end': 1}, 'b': {'end': 3, 'step': "   \
  "0.01}, 'c': {'set': {'x0': 1.2}}, 'd': {'set': {'x0': -0.7}}, 'e': {'set': {'x0': 0.5}, 'step': 0.04}}}"

static const char sum[] = RINGING("", "'objective': 'rest + 0.01*end', 'constraints': {'speed': {}}");
static const char worst[] = RINGING("", "'objective': 'rest', 'combine': 'worst', 'constraints': {'speed': {}}");
static const char robust[] = RINGING("", "'objective': 'rest', 'robust': 2");
/* fails beyond x = -0.65 */
static const char failing[] =
    RINGING(", 'f': {'type': 'force', 'on': 'b', 'force': ['0.001*sqrt(x + 0.65)', 0, 0]}", "'objective': 'rest'");

static rank plain(const fit_case *files) {
  return (rank){.path = files->path, .threads = 1, .start = NAN, .optimizer = "slsqp"};
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

static void assert_same(const rank *a, const rank *b) {
  if (a->result != MBG_OK || b->result != MBG_OK) {
    fail_msg("%s", a->result != MBG_OK ? a->text : b->text);
  }
  assert_int_equal(a->n, b->n);
  assert_memory_equal(a->numbers, b->numbers, (size_t)a->n * sizeof(double)); /* bit for bit */
  assert_int_equal(a->summary.iterations, b->summary.iterations);
  assert_int_equal(a->summary.rows, b->summary.rows);
  assert_int_equal(a->summary.direct, b->summary.direct);
  assert_int_equal(a->summary.adjoint, b->summary.adjoint);
}

/* ---------------------------------------------------------------------- tests */

static void same_numbers(void **state) {
  fit_case *c = *state;
  const char *models[] = {sum, worst, robust};
  rank one, all[MOST];
  for (int m = 0; m < 3; m++) {
    fit_model(c, models[m]);
    rank set = plain(c);
    set.curvature = models[m] != robust; /* which has no second derivatives */
    set.iterations = models[m] != robust ? 0 : 4;
    run_ranks(1, &set, NULL, &one);
    assert_int_equal(one.summary.converged, models[m] != robust);
    assert_true(one.n > 10 && one.n < NUMBERS);
    for (int count = 2; count <= MOST; count += count < 3 ? 1 : 4) {
      set.threads = count == 2 ? 2 : 1;
      run_ranks(count, &set, NULL, all);
      for (int k = 0; k < count; k++) {
        assert_same(&all[k], &one);
      }
    }
  }
}

/* products with second derivatives, and the other optimizers of the library itself */
static void same_way(void **state) {
  fit_case *c = *state;
  const char *optimizers[] = {"newton", "lbfgs", "mma", "conlin"};
  rank one, all[3];
  fit_model(c, RINGING("", "'objective': 'rest + 0.02*end^2'"));
  for (int i = 0; i < 4; i++) {
    rank set = plain(c);
    set.optimizer = optimizers[i];
    run_ranks(1, &set, NULL, &one);
    run_ranks(3, &set, NULL, all);
    for (int k = 0; k < 3; k++) {
      assert_same(&all[k], &one);
    }
  }
}

static void stop_last(rank *r) { r->stop_at = r->seat.own == 2 ? 2 : 0; }

/* one rank stops all of them at the same point */
static void one_stops_all(void **state) {
  fit_case *c = *state;
  rank all[3];
  fit_model(c, sum);
  const rank set = plain(c);
  run_ranks(3, &set, stop_last, all);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(all[k].result, MBG_OK);
    assert_int_equal(all[k].summary.reason, MBG_OPTIMIZE_INTERRUPTED);
    assert_same(&all[k], &all[0]);
  }
}

/* the message of a load case reaches all ranks */
static void messages_reach_all(void **state) {
  fit_case *c = *state;
  rank one, all[3];
  fit_model(c, failing);
  const rank set = plain(c);
  run_ranks(1, &set, NULL, &one);
  assert_true(one.result < 0);
  assert_non_null(strstr(one.text, "run '"));
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
  fit_model(c, sum);
  const rank set = plain(c);
  run_ranks(3, &set, start_elsewhere, all);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(all[k].result, MBG_ERROR_INPUT);
    assert_non_null(strstr(all[k].text, "at another point of the search"));
  }
}

/* rank 0 has the restart file; a search that stopped goes on with any number of ranks */
static void restart_files(void **state) {
  fit_case *c = *state;
  char file[600];
  rank one, all[4];
  fit_model(c, sum);
  rank set = plain(c);
  run_ranks(1, &set, NULL, &one);
  snprintf(file, sizeof(file), "%s.restart", c->path);
  set.restart = file;
  run_ranks(3, &set, stop_last, all);
  assert_int_equal(all[0].summary.reason, MBG_OPTIMIZE_INTERRUPTED);
  set.resume = true;
  run_ranks(4, &set, NULL, all);
  for (int k = 0; k < 4; k++) {
    assert_int_equal(all[k].result, MBG_OK);
    assert_memory_equal(all[k].numbers, one.numbers, (size_t)one.n * sizeof(double));
  }
  assert_true(all[0].summary.replayed > 0);
  set.optimizer = "mma"; /* another search: the file is refused */
  run_ranks(2, &set, NULL, all);
  assert_int_equal(all[0].result, MBG_ERROR_INPUT);
  assert_int_equal(all[1].result, MBG_ERROR_INPUT);
  remove(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(same_numbers, setup, teardown),
      cmocka_unit_test_setup_teardown(same_way, setup, teardown),
      cmocka_unit_test_setup_teardown(one_stops_all, setup, teardown),
      cmocka_unit_test_setup_teardown(messages_reach_all, setup, teardown),
      cmocka_unit_test_setup_teardown(ranks_that_differ, setup, teardown),
      cmocka_unit_test_setup_teardown(restart_files, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
