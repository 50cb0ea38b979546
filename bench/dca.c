/* Divide and conquer on generated models.

     dca count FAMILY BODIES     times of one evaluation, one column and one adjoint of accelerations at a state in
                                 motion, and functions measure_* for counting instructions with callgrind
                                 (--toggle-collect=measure_evaluate ...)
     dca threads BODIES MASSES   a gradient by direct differentiation with one and two threads, and two runs at once
     dca path OUT.svg            operations of a factorization and of a right side over the number of bodies: all, and
                                 along the longest path of the tree
     dca crossover OUT.svg       time per simulated second of dca, lie and ali3p at equal errors, over the number of
                                 bodies */
#include "formulations/dca/dca_work.h"
#include "generate.h"
#include "plot.h"
#include "run/run.h"

#include <mbgrad/model.h>
#include <mbgrad/run.h>

/* instrumentation from the first evaluation on (--instr-atstart=no): the model is read at full speed */
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static void check(const mbg_context *ctx, int err) {
  if (err < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(ctx));
    exit(1);
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static mbg_model *generate(mbg_context *ctx, const char *family, int bodies, int masses) {
  const cli_family_size size = {.bodies = bodies, .parameters = masses};
  FILE *file = tmpfile();
  mbg_model *model;
  if (!file) {
    perror("tmpfile");
    exit(1);
  }
  (void)cli_generate(family, &size, file);
  const long length = ftell(file);
  char *text = malloc((size_t)length + 1);
  rewind(file);
  if (!text || fread(text, 1, (size_t)length, file) != (size_t)length) {
    exit(1);
  }
  fclose(file);
  check(ctx, mbg_model_parse(ctx, family, text, (size_t)length, NULL, &model));
  free(text);
  return model;
}

static mbg_run *make(mbg_context *ctx, const mbg_model *model, const char *formulation, double step, double end,
                     int threads) {
  mbg_run_options o;
  mbg_run *run;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = formulation;
  o.step = step;
  o.end = end;
  o.threads = threads;
  check(ctx, mbg_run_create(ctx, model, &o, &run));
  return run;
}

static int plot(const char *file, const char *title, const char *y_label, int n, const double *x,
                const char *const *names, double (*y)[16], bool log_y) {
  cli_curve curves[3];
  for (int k = 0; k < 3; k++) {
    curves[k] = (cli_curve){.name = names[k], .count = n, .x = x, .y = y[k], .dots = true};
  }
  const cli_panel panel = {
      .x_label = "bodies", .y_label = y_label, .log_x = true, .log_y = log_y, .ncurve = 3, .curves = curves};
  return cli_plot_write(file, title, &panel, 1);
}

/* ---------------------------------------------------------------------- counts */

__attribute__((noinline)) int measure_evaluate(mbg_context *ctx, mbg__formulation_work *w, const double *y) {
  return mbg__dca_flow_eval(ctx, &w->flow, &w->base[w->now], w->last, y);
}

__attribute__((noinline)) int measure_linearize(mbg_context *ctx, mbg__formulation_work *w) {
  return mbg__dca_point_linearize(ctx, w->point);
}

enum { COLUMNS = 4 }; /* as many as direct differentiation takes side by side */

__attribute__((noinline)) void measure_columns(mbg__formulation_work *w, const double *const *e,
                                               const double *const *dw, const mbg__dca_attributes *attributes,
                                               double *const *da) {
  mbg__dca_point_push(w->point, COLUMNS, e, dw, attributes, da);
}

/* as stages of the adjoint */
static void evaluate_for_pull(mbg_context *ctx, mbg__formulation_work *w, const double *y) {
  if (w->articulated) {
    mbg__dca_articulated_group(w->articulated, true);
    check(ctx, mbg__dca_flow_eval(ctx, &w->flow, &w->base[w->now], w->last, y));
    mbg__dca_articulated_group(w->articulated, false);
  }
  if (!mbg__dca_point_grouped(w->point)) {
    check(ctx, mbg__dca_point_linearize(ctx, w->point));
  }
}

/* sums: of pieces side by side */
__attribute__((noinline)) void measure_adjoint(mbg__formulation_work *w, const double *b, double *ge, double *gw,
                                               double *gattr, mbg__dca_sums *sums) {
  const mbg__dca_cotangent c = {.a = b};
  if (mbg__dca_point_grouped(w->point)) {
    mbg__dca_point_pull_grouped(w->point, b, ge, gw, sums);
  } else {
    mbg__dca_point_pull(w->point, 1, &c, &ge, &gw, &gattr);
  }
}

/* residual of the equations of bodies and joints at the solution */
static double residual(mbg_context *ctx, mbg__formulation_work *w) {
  const size_t nw = (size_t)w->m->nw, n = (size_t)w->flow.n;
  double *r = calloc(4 * nw + n + 1, sizeof *r), *c = r + nw, *vd = c + nw, *f = vd + nw, *a = f + nw;
  double *scratch = calloc(mbg__dca_articulated_scratch(w->articulated) + 1, sizeof *scratch);
  mbg__state bodies = mbg__tree_bodies(w->tree);
  bodies.vd = NULL;
  check(ctx, mbg__system_update(ctx, w->flow.sys, &bodies));
  mbg__system_residual(w->flow.sys, r, NULL, NULL, NULL, NULL);
  mbg__tree_bias(w->tree, c);
  vn_scale((int)nw, r, -1, r);
  mbg__dca_articulated_solve(w->articulated, r, NULL, c, vd, a, f, scratch);
  const double x = mbg__dca_articulated_residual(w->articulated, r, NULL, c, vd, a, f, scratch);
  free(r);
  free(scratch);
  return x;
}

/* a state in motion, and a direction */
static void fill_motion(size_t n, double *y, double *x) {
  for (size_t i = 0; i < n; i++) {
    y[i] = 0.4 * sin(1.3 * (double)i + .5);
    y[n + i] = 0.6 * cos(.7 * (double)i + .2);
    x[i] = cos((double)i);
  }
}

static mbg__dca_sums *make_sums(mbg_context *ctx, mbg__arena *arena, const mbg__formulation_work *w) {
  mbg__dca_sums *sums = NULL;
  check(ctx, w->articulated ? mbg__dca_sums_create(ctx, arena, w->articulated, &sums) : MBG_OK);
  return sums;
}

static int count(const char *family, int bodies) {
  mbg_context *ctx;
  mbg_context_create(NULL, &ctx);
  mbg_model *model = generate(ctx, family, bodies, COLUMNS);
  mbg_run *run = make(ctx, model, "dca", 1e-3, 5e-3, 1);
  check(ctx, mbg_run_simulate(ctx, run));
  mbg__formulation_work *w = mbg__run_work(run);
  const size_t n = (size_t)w->flow.n, nb = 6 * (size_t)w->m->nbody, na = (size_t)w->m->na;
  double *y = calloc(2 * n + 1, sizeof *y), *e = calloc(nb + 1, sizeof *e), *x = calloc(n + 1, sizeof *x),
         *da = calloc(na + 1, sizeof *da), *ge = calloc(nb + 1, sizeof *ge), *gw = calloc(n + 1, sizeof *gw),
         *out = calloc(COLUMNS * n + 1, sizeof *out);
  const double *const es[COLUMNS] = {e, e, e, e}, *const xs[COLUMNS] = {x, x, x, x};
  double *const outs[COLUMNS] = {out, out + n, out + 2 * n, out + 3 * n};
  mbg__arena arena;
  mbg__design_columns columns;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  mbg__dca_sums *sums = make_sums(ctx, &arena, w);
  check(ctx, mbg__design_columns_make(ctx, &arena, mbg__system_design(w->flow.sys), &columns));
  const mbg__event_tangent steps = {.m = w->m, .columns = &columns, .nparam = COLUMNS}; /* no events */
  const mbg__dca_attributes attributes = {&steps, 0, da};
  fill_motion(n, y, x);
  check(ctx, mbg__dca_point_columns(ctx, &arena, w->point));
  mbg__system_want(w->flow.sys, false); /* attributes that parameters move, as in a gradient */
  const int rounds = bodies > 2000 ? 1 : 20;
  double t[5] = {0};
  CALLGRIND_START_INSTRUMENTATION;
  for (int i = 0; i < rounds; i++) {
    double from = now();
    check(ctx, measure_evaluate(ctx, w, y));
    t[0] += now() - from;
    from = now();
    check(ctx, measure_linearize(ctx, w));
    t[1] += now() - from;
    from = now();
    measure_columns(w, es, xs, &attributes, outs);
    t[2] += now() - from;
    evaluate_for_pull(ctx, w, y);
    from = now();
    measure_adjoint(w, x, ge, gw, da, sums);
    t[3] += now() - from;
    memset(da, 0, na * sizeof *da);
  }
  printf("%s of %d bodies, us: evaluation %.4g, linearization %.4g, a column of four %.4g, adjoint %.4g\n", family,
         bodies, 1e6 * t[0] / rounds, 1e6 * t[1] / rounds, 1e6 * t[2] / rounds / COLUMNS, 1e6 * t[3] / rounds);
  check(ctx, mbg__dca_flow_eval(ctx, &w->flow, &w->base[w->now], w->last, y)); /* by the recursion, not as for pull */
  printf("relative residual %.1e\n", w->articulated ? residual(ctx, w) : mbg__dca_point_residual(w->point));
  free(y);
  free(e);
  free(x);
  free(da);
  free(ge);
  free(gw);
  free(out);
  mbg__arena_destroy(&arena);
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return 0;
}

/* ---------------------------------------------------------------------- threads */

static double gradient_seconds(int bodies, int masses, int threads) {
  mbg_context *ctx;
  mbg_context_create(NULL, &ctx);
  mbg_model *model = generate(ctx, "chain", bodies, masses);
  mbg_run *run = make(ctx, model, "dca", 1e-3, 2e-3, threads);
  check(ctx, mbg_run_simulate(ctx, run));
  const size_t size = (size_t)(model->ncriterion * model->np);
  double *g = calloc(size + 1, sizeof *g);
  const double from = now();
  check(ctx, mbg_run_gradient(ctx, run, MBG_METHOD_DIRECT, g, NULL));
  const double seconds = now() - from;
  free(g);
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return seconds;
}

typedef struct {
  int bodies, masses;
  double seconds;
} one_run;

static int run_alone(void *user) {
  one_run *r = user;
  r->seconds = gradient_seconds(r->bodies, r->masses, 1);
  return 0;
}

static int threads(int bodies, int masses) {
  const double one = gradient_seconds(bodies, masses, 1), two = gradient_seconds(bodies, masses, 2);
  one_run both[2] = {{bodies, masses, 0}, {bodies, masses, 0}};
  thrd_t other;
  if (thrd_create(&other, run_alone, &both[1]) != thrd_success) {
    return 1;
  }
  run_alone(&both[0]);
  thrd_join(other, NULL);
  const double pair = fmax(both[0].seconds, both[1].seconds);
  printf("%d bodies, %d masses: one thread %.3g s, two threads %.3g s, two runs at once %.3g s\n", bodies, masses, one,
         two, pair);
  printf("throughput of two threads relative to two runs: %.3f\n", pair / 2 / two);
  return 0;
}

/* ---------------------------------------------------------------------- the longest path */

static mbg__dca_shape shape_of(const char *family, int bodies) {
  mbg_context *ctx;
  mbg__arena arena;
  mbg__design *design;
  mbg__system *sys;
  mbg__start_work *start;
  mbg__dca_assembly *a;
  mbg_context_create(NULL, &ctx);
  mbg_model *model = generate(ctx, family, bodies, 1);
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  check(ctx, mbg__design_create(ctx, &arena, model, &design));
  check(ctx, mbg__design_update(ctx, design, model->p));
  check(ctx, mbg__system_create(ctx, model, design, &sys));
  check(ctx, mbg__start_create(ctx, sys, &start));
  check(ctx, mbg__start_solve(ctx, start, true));
  check(ctx, mbg__dca_assembly_create(ctx, &arena, sys, mbg__start_result_of(start)->rank, NULL, &a));
  const mbg__dca_shape shape = mbg__dca_assembly_shape(a);
  mbg__start_destroy(start);
  mbg__system_destroy(sys);
  mbg__arena_destroy(&arena);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return shape;
}

static int path(const char *file) {
  static const char *const families[] = {"chain", "tree", "ladder"};
  enum { SIZES = 10 };
  double n[SIZES], y[3][16];
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < SIZES; i++) {
      n[i] = 8 << i;
      y[k][i] = NAN;
      if (k == 2 && i > 5) {
        continue; /* the start of many loops takes long */
      }
      const mbg__dca_shape s = shape_of(families[k], 8 << i);
      y[k][i] = s.factor_path;
      printf(
          "%-7s n %6d  levels %2d  open rows %2d  factor %10.4g, longest path %8.4g  right side %10.4g, path %8.4g\n",
          families[k], 8 << i, s.depth, s.most_open, s.factor, s.factor_path, s.solve, s.solve_path);
    }
  }
  return plot(file, "Operations on the longest path of a factorization", "operations", SIZES, n, families, y, false);
}

/* ---------------------------------------------------------------------- crossover */

typedef struct {
  double seconds, error;
} point;

/* a chain for 0.2 s */
static point run_chain(mbg_context *ctx, const mbg_model *model, const char *formulation, double step, double exact) {
  mbg_run *run = make(ctx, model, formulation, step, 0.2, 1);
  mbg_run_work work;
  double psi[8];
  check(ctx, mbg_run_simulate(ctx, run));
  check(ctx, mbg_run_criteria(ctx, run, psi));
  work = *mbg_run_get_work(run);
  mbg_run_destroy(run);
  return (point){work.seconds_simulate / 0.2, fabs(psi[0] - exact)};
}

/* time of a formulation at an error, by interpolation between steps that are halved */
static double at_error(mbg_context *ctx, const mbg_model *model, const char *formulation, double exact, double error) {
  double step = 0.02;
  point last = {0, 0};
  for (int i = 0; i < 12; i++, step /= 2) {
    const point p = run_chain(ctx, model, formulation, step, exact);
    if (p.error <= error) {
      if (last.seconds == 0 || !(last.error > p.error)) {
        return p.seconds;
      }
      const double s = log(last.error / error) / log(last.error / p.error);
      return last.seconds * pow(p.seconds / last.seconds, s);
    }
    last = p;
  }
  return NAN;
}

static int crossover(const char *file) {
  static const char *const formulations[] = {"dca", "ali3p", "lie"};
  enum { SIZES = 7 };
  double n[SIZES], y[3][16];
  for (int i = 0; i < SIZES; i++) {
    mbg_context *ctx;
    double psi[8];
    mbg_context_create(NULL, &ctx);
    n[i] = 2 << i;
    mbg_model *model = generate(ctx, "chain", 2 << i, 1);
    mbg_run *run = make(ctx, model, "dca", 1e-4, 0.2, 1);
    check(ctx, mbg_run_simulate(ctx, run));
    check(ctx, mbg_run_criteria(ctx, run, psi));
    mbg_run_destroy(run);
    printf("chain of %3d, seconds per simulated second at an error of 1e-6 m:", 2 << i);
    for (int k = 0; k < 3; k++) {
      y[k][i] = at_error(ctx, model, formulations[k], psi[0], 1e-6);
      printf("  %s %.3g", formulations[k], y[k][i]);
      fflush(stdout);
    }
    printf("\n");
    mbg_model_destroy(model);
    mbg_context_destroy(ctx);
  }
  return plot(file, "Chains at an error of 1e-6 m", "seconds per simulated second", SIZES, n, formulations, y, true);
}

int main(int argc, char **argv) {
  if (argc == 4 && !strcmp(argv[1], "count")) {
    return count(argv[2], atoi(argv[3]));
  }
  if (argc == 4 && !strcmp(argv[1], "threads")) {
    return threads(atoi(argv[2]), atoi(argv[3]));
  }
  if (argc == 3 && !strcmp(argv[1], "path")) {
    return path(argv[2]);
  }
  if (argc == 3 && !strcmp(argv[1], "crossover")) {
    return crossover(argv[2]);
  }
  fprintf(stderr, "dca count FAMILY BODIES | threads BODIES MASSES | path OUT.svg | crossover OUT.svg\n");
  return 2;
}
