/* Simulation and gradient of the five-bar by mbgrad in a kept run, beside five_bar.c and with its output:
   five_bar_mbgrad MODEL TOLERANCE REPETITIONS [INTEGRATOR]. The parameters change by a rounding from one repetition to
   the next, so that nothing is remembered. */
#include <mbgrad/context.h>
#include <mbgrad/model.h>
#include <mbgrad/run.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  int n;
  double *p, *gradient, value;
} problem;

static void check(const problem *x, int status) {
  if (status < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(x->ctx));
    exit(1);
  }
}

static void open_problem(problem *x, const char *path, double tolerance, const char *integrator) {
  const int first = 0;
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = "qr";
  o.tolerance = tolerance;
  o.integrator = integrator;
  if (mbg_context_create(NULL, &x->ctx) < 0) {
    exit(1);
  }
  check(x, mbg_model_load(x->ctx, path, &x->model));
  check(x, mbg_run_create(x->ctx, x->model, &o, &x->run));
  check(x, mbg_run_select(x->ctx, x->run, 1, &first));
  x->n = mbg_model_parameter_count(x->model);
  x->p = calloc((size_t)x->n, sizeof(double));
  x->gradient = calloc((size_t)x->n, sizeof(double));
  if (!x->p || !x->gradient || mbg_model_criterion_count(x->model) != 1) {
    exit(1);
  }
  for (int i = 0; i < x->n; i++) {
    x->p[i] = mbg_model_parameter_value(x->model, i);
  }
}

/* the first simulation decides the steps */
static void simulate(problem *x) {
  check(x, mbg_run_set_parameters(x->ctx, x->run, x->p));
  check(x, mbg_run_simulate(x->ctx, x->run));
}

static void evaluate(problem *x) {
  simulate(x);
  check(x, mbg_run_criteria(x->ctx, x->run, &x->value));
  check(x, mbg_run_gradient(x->ctx, x->run, MBG_METHOD_AUTO, x->gradient, NULL));
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  problem x = {0};
  if (argc < 4) {
    return 2;
  }
  open_problem(&x, argv[1], atof(argv[2]), argc > 4 ? argv[4] : NULL);
  simulate(&x);
  printf("[");
  for (int k = 0; k < atoi(argv[3]); k++) {
    for (int i = 0; i < x.n; i++) {
      x.p[i] *= 1 + 1e-15;
    }
    const double begin = seconds();
    evaluate(&x);
    printf("%s%.9g", k ? ", " : "[", seconds() - begin);
  }
  printf("], %.17g, [", x.value);
  for (int i = 0; i < x.n; i++) {
    printf("%s%.17g", i ? ", " : "", x.gradient[i]);
  }
  printf("]]\n");
  free(x.p);
  free(x.gradient);
  mbg_run_destroy(x.run);
  mbg_model_destroy(x.model);
  mbg_context_destroy(x.ctx);
  return 0;
}
