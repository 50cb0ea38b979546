/* The adjoint of `qr` by transposed products against matrices: one right-hand side of the adjoint equations, the
   Jacobian, the whole gradient (paper of `qr`: 2.2 and 1.6 on its pendulum).

     qr_adjoint MODEL [WHAT [COUNT]]

   WHAT is all (times), or the one that bench/run counts with callgrind: products, differences, factors, algorithm
   (COUNT right-hand sides each), gradient-products, gradient-differences, simulate. */
#include "bench/study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  study *s;
  double *gradient, *J;
} subject;

static void check(const subject *x, int err) {
  if (err < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(x->ctx));
    exit(1);
  }
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------- what is measured */

/* not static, and not merged: found by name in callgrind */
__attribute__((noinline)) void measure_rates(subject *x, int count);
__attribute__((noinline)) void measure_jacobian(subject *x, int count);
__attribute__((noinline)) void measure_gradient(subject *x, int count);
__attribute__((noinline)) void measure_simulate(subject *x, int count);

void measure_rates(subject *x, int count) { check(x, study_adjoint_rates(x->ctx, x->s, count)); }

void measure_jacobian(subject *x, int count) {
  for (int i = 0; i < count; i++) {
    check(x, study_jacobian(x->ctx, x->s, x->J));
  }
}

void measure_gradient(subject *x, int count) {
  for (int i = 0; i < count; i++) {
    check(x, mbg_run_gradient(x->ctx, study_run(x->s), MBG_METHOD_CONTINUOUS, x->gradient, NULL));
  }
}

void measure_simulate(subject *x, int count) {
  for (int i = 0; i < count; i++) {
    check(x, mbg_run_simulate(x->ctx, study_run(x->s)));
  }
}

/* the least of several rounds, the kinds in turn */
static void time_kinds(subject *x, const char *name, void (*measure)(subject *, int), int count, int rounds) {
  double best[STUDY_KINDS];
  for (int round = 0; round < rounds; round++) {
    for (int kind = 0; kind < STUDY_KINDS; kind++) {
      study_choose(x->s, (study_kind)kind, 1e-7);
      const double begin = seconds();
      measure(x, count);
      const double spent = (seconds() - begin) / count;
      best[kind] = round == 0 || spent < best[kind] ? spent : best[kind];
    }
  }
  printf("  %-28s products %9.2f us, differences %9.2f us (%.2f x), factors %9.2f us (%.2f x)\n", name,
         1e6 * best[STUDY_PRODUCTS], 1e6 * best[STUDY_DIFFERENCES], best[STUDY_DIFFERENCES] / best[STUDY_PRODUCTS],
         1e6 * best[STUDY_FACTORS], best[STUDY_FACTORS] / best[STUDY_PRODUCTS]);
}

/* ---------------------------------------------------------------------- the program */

static void open_subject(subject *x, const char *name) {
  char path[512];
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  o.tolerance = 1e-9;
  snprintf(path, sizeof(path), "%s/%s/model.json", MBG_GALLERY_DIR, name);
  if (mbg_context_create(NULL, &x->ctx) < 0) {
    exit(1);
  }
  check(x, mbg_model_load(x->ctx, path, &x->model));
  const int np = mbg_model_parameter_count(x->model), nc = mbg_model_criterion_count(x->model);
  double *p = calloc((size_t)np + 1, sizeof(double));
  x->gradient = calloc((size_t)np * (size_t)nc + 1, sizeof(double));
  if (!p || !x->gradient) {
    exit(1);
  }
  for (int i = 0; i < np; i++) {
    p[i] = mbg_model_parameter_value(x->model, i);
  }
  check(x, study_open(x->ctx, x->model, p, &o, &x->s));
  const size_t n = 2 * (size_t)study_size(x->s);
  x->J = calloc(n * n, sizeof(double));
  if (!x->J) {
    exit(1);
  }
  free(p);
}

static void close_subject(subject *x) {
  study_close(x->s);
  mbg_model_destroy(x->model);
  mbg_context_destroy(x->ctx);
  free(x->gradient);
  free(x->J);
}

static void count_one(subject *x, const char *what, int count) {
  if (!strcmp(what, "simulate")) {
    measure_simulate(x, count);
    return;
  }
  const bool whole = !strncmp(what, "gradient-", 9);
  const char *kind = whole ? what + 9 : what;
  study_choose(x->s,
               !strcmp(kind, "products")      ? STUDY_PRODUCTS
               : !strcmp(kind, "differences") ? STUDY_DIFFERENCES
               : !strcmp(kind, "algorithm")   ? STUDY_ALGORITHM
                                              : STUDY_FACTORS,
               1e-7);
  (whole ? measure_gradient : measure_rates)(x, count);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: qr_adjoint MODEL [all|products|differences|factors|gradient-KIND [COUNT]]\n");
    return 2;
  }
  subject x;
  open_subject(&x, argv[1]);
  if (argc > 2 && strcmp(argv[2], "all") != 0) {
    count_one(&x, argv[2], argc > 3 ? atoi(argv[3]) : 1);
  } else {
    printf("%s\n", argv[1]);
    time_kinds(&x, "adjoint right-hand side", measure_rates, 2000, 7);
    time_kinds(&x, "Jacobian", measure_jacobian, 1000, 7);
    time_kinds(&x, "gradient (backward run)", measure_gradient, 1, 3);
  }
  close_subject(&x);
  return 0;
}
