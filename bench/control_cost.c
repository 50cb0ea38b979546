/* Cost of the gradient of a control problem: a chain of n bodies whose first joint is driven by a torque with so many
   samples, one step per sample.

     control_cost BODIES SAMPLES INTERPOLATION [WHAT]

   prints times. WHAT is all, simulate, adjoint or continuous. bench/run counts instructions of measure_simulate,
   measure_adjoint and measure_continuous with callgrind. */
#include <mbgrad/model.h>
#include <mbgrad/run.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- model */

static char *model_text(int n, int samples, const char *interpolation) {
  const size_t room = 4096 + 512 * (size_t)n;
  char *text = malloc(room);
  if (!text) {
    exit(1);
  }
  size_t used = 0;
#define ADD(...) used += (size_t)snprintf(text + used, room - used, __VA_ARGS__)
  ADD("{\"mbgrad\": 1, \"parameters\": {\"k\": 10, \"uk\": {\"value\": 0.3, \"count\": %d}}, ", samples);
  ADD("\"controls\": {\"u\": {\"times\": {\"from\": 0, \"to\": %.17g, \"count\": %d}, \"values\": \"uk\", ",
      1e-3 * (samples - 1), samples);
  ADD("\"interpolation\": \"%s\"}}, \"gravity\": [0, 0, -9.81], \"bodies\": {", interpolation);
  for (int i = 0; i < n; i++) {
    ADD("%s\"b%d\": {\"mass\": 1, \"com\": [0.5, 0, 0], \"inertia\": [0.01, 0.09, 0.09], \"position\": [%d, 0, 0]}",
        i ? ", " : "", i, i);
  }
  ADD("}, \"joints\": {");
  for (int i = 0; i < n; i++) {
    ADD("%s\"j%d\": {\"type\": \"revolute\", \"between\": [\"", i ? ", " : "", i);
    if (i > 0) {
      ADD("b%d", i - 1);
    } else {
      ADD("ground");
    }
    ADD("\", \"b%d\"], \"at\": [%d, 0, 0], \"axis\": [0, %d, %d]}", i, i, i % 2, 1 - i % 2);
  }
  ADD("}, \"forces\": {\"drive\": {\"type\": \"actuator\", \"joint\": \"j0\", \"force\": \"u - 0.1*v\"}");
  for (int i = 1; i < n; i++) {
    ADD(", \"t%d\": {\"type\": \"torsion-spring-damper\", \"joint\": \"j%d\", \"stiffness\": \"k\", \"damping\": 0.1}",
        i, i);
  }
  ADD("}, \"signals\": {\"z\": {\"type\": \"position\", \"of\": \"b%d\", \"component\": \"z\"}, ", n - 1);
  ADD("\"f\": {\"type\": \"control\", \"control\": \"u\"}}, ");
  ADD("\"criteria\": {\"c\": {\"integral\": \"(z + 0.1*t)^2 + 1e-3*f^2\"}}}");
#undef ADD
  return text;
}

/* ---------------------------------------------------------------------- measurement */

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

/* not static, and not merged: found by name in callgrind */
__attribute__((noinline)) void measure_simulate(subject *s);
__attribute__((noinline)) void measure_adjoint(subject *s);
__attribute__((noinline)) void measure_continuous(subject *s);

void measure_simulate(subject *s) {
  check(s, mbg_run_set_parameters(s->ctx, s->run, NULL));
  check(s, mbg_run_simulate(s->ctx, s->run));
}

void measure_adjoint(subject *s) {
  const double weight = 1;
  check(s, mbg_run_gradient_sum(s->ctx, s->run, MBG_METHOD_ADJOINT, &weight, s->gradient));
}

void measure_continuous(subject *s) {
  const double weight = 1;
  check(s, mbg_run_gradient_sum(s->ctx, s->run, MBG_METHOD_CONTINUOUS, &weight, s->gradient));
}

static double least(subject *s, void (*measure)(subject *), int rounds) {
  double best = 1e300;
  for (int i = 0; i < rounds; i++) {
    mbg_run_work w;
    measure(s);
    w = *mbg_run_get_work(s->run);
    const double t = measure == measure_simulate ? w.seconds_simulate : w.seconds_gradient;
    best = t < best ? t : best;
  }
  return best;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: control_cost BODIES SAMPLES linear|cubic [all|simulate|adjoint|continuous]\n");
    return 2;
  }
  const int n = atoi(argv[1]), samples = atoi(argv[2]);
  const char *what = argc > 4 ? argv[4] : "all";
  const int rounds = getenv("MBG_ROUNDS") ? atoi(getenv("MBG_ROUNDS")) : 3;
  char *text = model_text(n, samples, argv[3]);
  mbg_run_options o;
  subject s = {0};
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = "dae";
  o.step = 1e-3;
  o.end = 1e-3 * (samples - 1);
  if (mbg_context_create(NULL, &s.ctx) < 0) {
    return 1;
  }
  check(&s, mbg_model_parse(s.ctx, "bench", text, strlen(text), NULL, &s.model));
  s.gradient = calloc((size_t)mbg_model_parameter_count(s.model), sizeof(double));
  check(&s, mbg_run_create(s.ctx, s.model, &o, &s.run));
  check(&s, mbg_run_simulate(s.ctx, s.run)); /* decides rank and pivots */
  const double simulate = least(&s, measure_simulate, rounds);
  printf("%3d bodies %6d samples %s: simulate %.4f ms/step", n, samples, argv[3], 1e3 * simulate / samples);
  if (!strcmp(what, "all") || !strcmp(what, "adjoint")) {
    printf("; adjoint gradient %.2f x", 1 + least(&s, measure_adjoint, rounds) / simulate);
  }
  if (!strcmp(what, "all") || !strcmp(what, "continuous")) {
    printf("; continuous %.2f x", 1 + least(&s, measure_continuous, rounds) / simulate);
  }
  printf("\n");
  mbg_run_destroy(s.run);
  mbg_model_destroy(s.model);
  mbg_context_destroy(s.ctx);
  free(s.gradient);
  free(text);
  return 0;
}
