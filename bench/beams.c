/* Cost of beams: a clamped beam of 100 m falls from rest; its fillings, one for each element or one for all of them,
   are the parameters, strain energy and the height of its tip the criterion.

     beams ELEMENTS FILLINGS STEPS [FORMULATION [WHAT]]

   prints times and counts. WHAT is all, simulate or adjoint. bench/run counts instructions of mbg__alpha_step,
   measure_simulate and measure_adjoint with callgrind. */
#include <mbgrad/model.h>
#include <mbgrad/run.h>

/* instrumentation after a first simulation (--instr-atstart=no): the model is read at full speed */
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  double *gradient;
} subject;

static void check(const subject *s, int err) {
  if (err < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(s->ctx));
    exit(1);
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void write_model(char *text, size_t size, int n, int fillings) {
  snprintf(
      text, size,
      "{\"mbgrad\": 1, \"parameters\": {\"x\": {\"value\": 0.9, \"count\": %d}}, \"gravity\": [0, 0, -9.81], "
      "\"beams\": {\"b\": {\"elements\": %d, \"to\": [100, 0, 0], \"section\": {\"type\": \"rectangle\", "
      "\"width\": 0.2, \"height\": 0.1}, \"E\": 1e9, \"nu\": 0.3, \"rho\": 1000, \"damping\": 1e-4, \"fill\": "
      "\"%s\"}}, "
      "\"joints\": {\"clamp\": {\"type\": \"fixed\", \"between\": [\"ground\", \"b.0\"]}}, "
      "\"signals\": {\"z\": {\"type\": \"position\", \"of\": \"b.%d\", \"component\": \"z\"}, "
      "\"U\": {\"type\": \"strain-energy\", \"beam\": \"b\"}}, \"criteria\": {\"c\": {\"integral\": \"U + z^2\"}}}",
      fillings, n, fillings > 1 ? "x" : "x[0]", n);
}

static void open_subject(subject *s, int n, int fillings, int steps, const char *formulation) {
  char text[2000];
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = formulation;
  o.step = 1e-3;
  o.end = 1e-3 * steps;
  if (mbg_context_create(NULL, &s->ctx) < 0) {
    exit(1);
  }
  write_model(text, sizeof text, n, fillings);
  check(s, mbg_model_parse(s->ctx, "beam", text, strlen(text), NULL, &s->model));
  s->gradient = calloc((size_t)mbg_model_parameter_count(s->model) + 1, sizeof(double));
  check(s, mbg_run_create(s->ctx, s->model, &o, &s->run));
}

static void close_subject(subject *s) {
  mbg_run_destroy(s->run);
  mbg_model_destroy(s->model);
  mbg_context_destroy(s->ctx);
  free(s->gradient);
}

/* not static, and not merged: found by name in callgrind */
__attribute__((noinline)) void measure_simulate(subject *s);
__attribute__((noinline)) void measure_adjoint(subject *s);

void measure_simulate(subject *s) { check(s, mbg_run_simulate(s->ctx, s->run)); }

void measure_adjoint(subject *s) { check(s, mbg_run_gradient(s->ctx, s->run, MBG_METHOD_ADJOINT, s->gradient, NULL)); }

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: beams ELEMENTS FILLINGS STEPS [FORMULATION [all|simulate|adjoint]]\n");
    return 2;
  }
  const int n = atoi(argv[1]), fillings = atoi(argv[2]), steps = atoi(argv[3]);
  const char *formulation = argc > 4 ? argv[4] : "lie", *what = argc > 5 ? argv[5] : "all";
  subject s;
  mbg_run_work first, work;
  const double start = now();
  open_subject(&s, n, fillings, steps, formulation);
  const double ready = now();
  check(&s, mbg_run_simulate(s.ctx, s.run)); /* decides rank and pivots */
  first = *mbg_run_get_work(s.run);

  CALLGRIND_START_INSTRUMENTATION;
  measure_simulate(&s);
  if (strcmp(what, "simulate") != 0) {
    measure_adjoint(&s);
  }
  work = *mbg_run_get_work(s.run);
  const long iterations = work.newton_iterations - first.newton_iterations;
  printf("%-4s %6d elements %6d fillings: read %.2f s, %8.2f ms/step, %.2f Newton iterations", formulation, n, fillings,
         ready - start, 1e3 * work.seconds_simulate / steps, (double)iterations / steps);
  if (strcmp(what, "simulate") != 0) {
    printf(", gradient with its simulation %.2f simulations", 1 + work.seconds_gradient / work.seconds_simulate);
  }
  printf("\n");
  close_subject(&s);
  return 0;
}
