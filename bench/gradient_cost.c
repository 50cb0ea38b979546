/* Cost of gradients: a simulation, its discrete-adjoint gradient and its direct gradient, for chains and loops of n
   bodies with np parameters.

   chain: spatial bodies on revolute joints with alternating axes, torsion springs, springs to the ground
   loop:  an arch of spatial rods on spherical joints, both ends on the ground, springs to the ground

     gradient_cost KIND BODIES PARAMETERS STEPS [WHAT [MEMORY [FORMULATION]]]

   prints times and counts. WHAT is all, simulate, adjoint or direct; MEMORY is the part of the nodes' bytes that may be
   kept, 0: all; FORMULATION is lie by default, and dca takes rk4. bench/run counts instructions of measure_simulate,
   measure_adjoint and measure_direct with callgrind. */
#include <mbgrad/model.h>
#include <mbgrad/run.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---------------------------------------------------------------------- model */

typedef struct {
  char *text;
  size_t used, room;
  int n, np;  /* bodies, parameters */
  int number; /* of the next number that depends on parameters */
} writer;

static void grow(writer *w, size_t more) {
  if (w->used + more + 1 > w->room) {
    w->room = 2 * (w->room + more) + 1024;
    w->text = realloc(w->text, w->room);
    if (!w->text) {
      exit(1);
    }
  }
}

static void add(writer *w, const char *text) {
  const size_t n = strlen(text);
  grow(w, n);
  memcpy(w->text + w->used, text, n + 1);
  w->used += n;
}

#define ADD(w, ...)                                                                                                    \
  do {                                                                                                                 \
    char line_[600];                                                                                                   \
    snprintf(line_, sizeof(line_), __VA_ARGS__);                                                                       \
    add(w, line_);                                                                                                     \
  } while (0)

/* numbers that parameters set: mass, stiffness and damping of every body */
enum { NUMBERS = 3 };

/* x times a parameter, or times the mean of its share when there are more parameters than numbers */
static void number(writer *w, double x) {
  const int total = NUMBERS * w->n, i = w->number++;
  if (w->np <= total) {
    ADD(w, "\"%g*p[%d]\"", x, i % w->np);
    return;
  }
  const int share = (w->np - i + total - 1) / total;
  ADD(w, "\"%g*(", x / share);
  for (int k = 0; k < share; k++) {
    ADD(w, "%sp[%d]", k ? " + " : "", i + k * total);
  }
  add(w, ")\"");
}

static void chain_bodies(writer *w) {
  for (int i = 0; i < w->n; i++) {
    ADD(w, "%s\"b%d\": {\"com\": [0.5, 0, 0], \"inertia\": [0.01, 0.09, 0.09], \"position\": [%d, 0, 0], \"mass\": ",
        i ? ", " : "", i, i);
    number(w, 1);
    add(w, "}");
  }
}

static void chain_joints(writer *w) {
  for (int i = 0; i < w->n; i++) {
    ADD(w, "%s\"j%d\": {\"type\": \"revolute\", \"between\": [\"", i ? ", " : "", i);
    if (i > 0) {
      ADD(w, "b%d", i - 1);
    } else {
      add(w, "ground");
    }
    ADD(w, "\", \"b%d\"], \"at\": [%d, 0, 0], \"axis\": [0, %d, %d]}", i, i, i % 2, 1 - i % 2);
  }
}

static void chain_forces(writer *w) {
  for (int i = 0; i < w->n; i++) {
    ADD(w, "%s\"t%d\": {\"type\": \"torsion-spring-damper\", \"joint\": \"j%d\", \"damping\": ", i ? ", " : "", i, i);
    number(w, 0.1);
    ADD(w, ", \"stiffness\": 10}, \"s%d\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"b%d\"], ", i, i);
    ADD(w, "\"points\": [[%d, 0, 1], [0.5, 0, 0]], \"rest\": 0.5, \"stiffness\": ", i);
    number(w, 10);
    add(w, "}");
  }
}

/* rod i goes from vertex i to i + 1 of a half circle with rods of length 1 */
static void vertex(const writer *w, int i, double x[2]) {
  const double radius = 0.5 / sin(0.5 * pi / w->n), a = pi * i / w->n;
  x[0] = -radius * cos(a);
  x[1] = radius * sin(a);
}

static void loop_bodies(writer *w) {
  for (int i = 0; i < w->n; i++) {
    double x[2];
    vertex(w, i, x);
    ADD(w, "%s\"b%d\": {\"com\": [0.5, 0, 0], \"inertia\": [0.01, 0.09, 0.09], \"position\": [%.17g, 0, %.17g], ",
        i ? ", " : "", i, x[0], x[1]);
    ADD(w, "\"rotate\": [[\"y\", %.17g]], \"mass\": ", pi * (i + 0.5) / w->n - pi / 2);
    number(w, 1);
    add(w, "}");
  }
}

static void loop_joints(writer *w) {
  for (int i = 0; i <= w->n; i++) {
    double x[2];
    vertex(w, i, x);
    ADD(w, "%s\"j%d\": {\"type\": \"spherical\", \"between\": [\"", i ? ", " : "", i);
    if (i > 0 && i < w->n) {
      ADD(w, "b%d\", \"b%d", i - 1, i);
    } else {
      ADD(w, "ground\", \"b%d", i ? i - 1 : 0);
    }
    ADD(w, "\"], \"at\": [%.17g, 0, %.17g]}", x[0], x[1]);
  }
}

static void loop_forces(writer *w) {
  for (int i = 0; i < w->n; i++) {
    double x[2];
    vertex(w, i, x);
    ADD(w, "%s\"s%d\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"b%d\"], ", i ? ", " : "", i, i);
    ADD(w, "\"points\": [[%g, 1, %g], [0.5, 0, 0]], \"rest\": 0.5, \"stiffness\": ", x[0], x[1]);
    number(w, 10);
    add(w, ", \"damping\": ");
    number(w, 0.1);
    add(w, "}");
  }
}

static char *model_text(bool loop, int n, int np) {
  writer w = {.n = n, .np = np};
  ADD(&w,
      "{\"mbgrad\": 1, \"parameters\": {\"p\": {\"value\": 1, \"count\": %d}}, \"gravity\": [0, 0, -9.81], \"bodies\": "
      "{",
      np);
  (loop ? loop_bodies : chain_bodies)(&w);
  add(&w, "}, \"joints\": {");
  (loop ? loop_joints : chain_joints)(&w);
  add(&w, "}, \"forces\": {");
  (loop ? loop_forces : chain_forces)(&w);
  ADD(&w, "}, \"signals\": {\"z\": {\"type\": \"position\", \"of\": \"b%d\", \"component\": \"z\"}, ", n / 2);
  ADD(&w, "\"a\": {\"type\": \"acceleration\", \"of\": \"b%d\", \"component\": \"z\"}}, ", n / 2);
  add(&w, "\"criteria\": {\"c\": {\"integral\": \"z^2 + 0.01*a^2\"}}}");
  return w.text;
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

static void open_subject(subject *s, const char *formulation, const char *text, int steps, double memory) {
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = formulation;
  o.integrator = strcmp(formulation, "dca") == 0 ? "rk4" : NULL;
  o.step = 1e-3;
  o.end = 1e-3 * steps;
  o.memory = memory;
  if (mbg_context_create(NULL, &s->ctx) < 0) {
    exit(1);
  }
  check(s, mbg_model_parse(s->ctx, "bench", text, strlen(text), NULL, &s->model));
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
__attribute__((noinline)) void measure_direct(subject *s);

void measure_simulate(subject *s) { check(s, mbg_run_simulate(s->ctx, s->run)); }

void measure_adjoint(subject *s) { check(s, mbg_run_gradient(s->ctx, s->run, MBG_METHOD_ADJOINT, s->gradient, NULL)); }

void measure_direct(subject *s) { check(s, mbg_run_gradient(s->ctx, s->run, MBG_METHOD_DIRECT, s->gradient, NULL)); }

/* times and counts of one call */
typedef struct {
  double seconds;
  mbg_run_work work;
} sample;

static sample take(subject *s, void (*measure)(subject *)) {
  mbg_run_work before, after;
  sample x;
  before = *mbg_run_get_work(s->run);
  measure(s);
  after = *mbg_run_get_work(s->run);
  x.seconds = measure == measure_simulate ? after.seconds_simulate : after.seconds_gradient;
  x.work = after;
  x.work.newton_iterations -= before.newton_iterations;
  x.work.factorizations -= before.factorizations;
  x.work.assemblies -= before.assemblies;
  x.work.solves -= before.solves;
  x.work.recomputed_steps -= before.recomputed_steps;
  return x;
}

static sample best(subject *s, void (*measure)(subject *), int rounds) {
  sample least = take(s, measure);
  for (int i = 1; i < rounds; i++) {
    const sample x = take(s, measure);
    least = x.seconds < least.seconds ? x : least;
  }
  return least;
}

static bool asked(const char *what, const char *for_what) {
  return strcmp(what, "all") == 0 || strcmp(what, for_what) == 0;
}

static void print_adjoint(const sample *x, const sample *simulate, double per_step) {
  const mbg_run_work *w = &x->work;
  printf("; adjoint gradient %.2f x simulation", (simulate->seconds + x->seconds) / simulate->seconds);
  printf(", backward per step %.2f assemblies %.2f factorizations %.2f solves %.2f recomputed",
         (double)w->assemblies * per_step, (double)w->factorizations * per_step, (double)w->solves * per_step,
         (double)w->recomputed_steps * per_step);
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: gradient_cost chain|loop BODIES PARAMETERS STEPS [WHAT [MEMORY [FORMULATION]]]\n");
    return 2;
  }
  const int n = atoi(argv[2]), np = atoi(argv[3]), steps = atoi(argv[4]);
  const char *what = argc > 5 ? argv[5] : "all";
  const double part = argc > 6 ? atof(argv[6]) : 0, per_step = 1.0 / steps;
  const char *formulation = argc > 7 ? argv[7] : "lie";
  const int rounds = getenv("MBG_ROUNDS") ? atoi(getenv("MBG_ROUNDS")) : 3;
  char *text = model_text(strcmp(argv[1], "loop") == 0, n, np);
  subject s;
  mbg_run_work first;
  open_subject(&s, formulation, text, steps, 0);
  check(&s, mbg_run_simulate(s.ctx, s.run)); /* decides rank and pivots */
  first = *mbg_run_get_work(s.run);
  if (part > 0) {
    close_subject(&s);
    open_subject(&s, formulation, text, steps, part * first.peak_bytes);
    check(&s, mbg_run_simulate(s.ctx, s.run));
  }
  const sample simulate = best(&s, measure_simulate, rounds);
  printf("%-5s %6d bodies %5d parameters %5d steps: simulate %8.3f ms/step, %.2f Newton", argv[1], n, np, steps,
         1e3 * simulate.seconds * per_step, (double)simulate.work.newton_iterations * per_step);
  if (asked(what, "adjoint")) {
    const sample adjoint = best(&s, measure_adjoint, rounds);
    print_adjoint(&adjoint, &simulate, per_step);
  }
  if (asked(what, "direct")) {
    const sample direct = best(&s, measure_direct, rounds);
    printf("; direct gradient %.2f x", (simulate.seconds + direct.seconds) / simulate.seconds);
  }
  printf("\n");
  close_subject(&s);
  free(text);
  return 0;
}
