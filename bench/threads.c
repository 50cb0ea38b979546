/* Threads of `dca` on chains: times of one evaluation of the accelerations, of a simulation, of a gradient by direct
   differentiation with respect to 64 parameters (--parameters) and by the adjoint, with several numbers of threads.

     threads [--threads 1,2,4] [--sizes 1024,4096] [--flexible-sizes 256,1024] [--kinds rigid,flexible] [--rounds 5]
             [--steps 4] [--direct STEPS|no] [--direct-rounds 1] [--direct-most BODIES] [--parameters 64]
             [--limit SECONDS] [--tsv OUT.tsv] [--svg OUT.svg]

   Runs with different numbers of threads take turns, and the best time of each counts, so that other work on the
   machine matters little. --direct: steps of direct differentiation, which is long; --direct-rounds: its rounds.
   --limit: no further rounds after this time. --sizes 0 prints nothing but the number of cores. Under callgrind
   (--threads 1) the share of mbg__pool_for in mbg__dca_simulate, mbg__dca_tangent or mbg__dca_adjoint is what threads
   can share; the pool is compiled with -fno-inline for this, else its copies count as work of one thread. */
#include "formulations/dca/dca_work.h"
#include "generate.h"
#include "plot.h"
#include "run/run.h"

#include <mbgrad/model.h>
#include <mbgrad/run.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16, SIMULATION = 1, ADJOINT, DIRECT, STEP = 3, WHAT = DIRECT + STEP + 1 }; /* then of a step */
static const char *const what_names[WHAT] = {"evaluation",         "simulation",      "adjoint",       "direct",
                                             "simulation, a step", "adjoint, a step", "direct, a step"};

typedef struct {
  int nthreads, threads[MOST];
  int nsizes[2], sizes[2][MOST]; /* flexible, rigid */
  bool kinds[2];
  int rounds, steps, direct, direct_rounds, direct_most, parameters;
  double limit;
  const char *tsv, *svg;
} options;

static void check(const mbg_context *ctx, int err) {
  if (err < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(ctx));
    exit(1);
  }
}

#ifdef MBG_THREADS_MODEL
double mbg__threads_clock(void); /* threads_model.c */
static double now(void) { return mbg__threads_clock(); }
#else
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#endif

static mbg_model *generate(mbg_context *ctx, int bodies, bool flexible, int parameters) {
  /* the length of the bodies is a parameter too */
  const cli_family_size size = {bodies, flexible ? bodies : 0, parameters - 1};
  char *text = NULL;
  size_t length = 0;
  mbg_model *model;
  FILE *file = open_memstream(&text, &length);
  if (!file) {
    perror("open_memstream");
    exit(1);
  }
  (void)cli_generate("chain", &size, file);
  fclose(file);
  check(ctx, mbg_model_parse(ctx, "chain", text, length, NULL, &model));
  free(text);
  return model;
}

static mbg_run *make(mbg_context *ctx, const mbg_model *model, int steps, int threads) {
  mbg_run_options run_options;
  mbg_run *run;
  mbg_run_options_default(&run_options, sizeof(run_options));
  run_options.formulation = "dca";
  run_options.step = 1e-4;
  run_options.end = 1e-4 * steps;
  run_options.threads = threads;
  check(ctx, mbg_run_create(ctx, model, &run_options, &run));
  check(ctx, mbg_run_simulate(ctx, run));
  return run;
}

/* one evaluation, out of enough for a fifth of a second */
static double evaluation(mbg_context *ctx, mbg_run *run) {
  mbg__formulation_work *w = mbg__run_work(run);
  const size_t n = (size_t)w->flow.n;
  double *y = calloc(2 * n + 1, sizeof *y), from = now();
  int count = 0;
  for (size_t i = 0; i < n; i++) {
    y[n + i] = re(w->base[w->now].w[i]);
  }
  do {
    check(ctx, mbg__dca_flow_eval(ctx, &w->flow, &w->base[w->now], w->last, y));
    count++;
  } while (now() - from < 0.2);
  free(y);
  return (now() - from) / count;
}

static double measure(mbg_context *ctx, mbg_run *run, int what, double *g) {
  const double from = now();
  switch (what) {
  case 0:
    return evaluation(ctx, run);
  case 1:
    check(ctx, mbg_run_simulate(ctx, run));
    break;
  default:
    check(ctx, mbg_run_gradient(ctx, run, what == DIRECT ? MBG_METHOD_DIRECT : MBG_METHOD_ADJOINT, g, NULL));
  }
  return now() - from;
}

typedef struct {
  const options *o;
  bool flexible;
  int bodies;
  bool direct;
  double best[WHAT][MOST];
} result;

static bool measured(const result *r, int what) { return (what != DIRECT && what != DIRECT + STEP) || r->direct; }

/* all numbers of threads in turn */
static void rounds_of(mbg_context *ctx, const mbg_model *model, result *r, int steps, int from, int to, int rounds,
                      double best[WHAT][MOST]) {
  const options *o = r->o;
  mbg_run *runs[MOST];
  double *g = calloc((size_t)(model->ncriterion * model->np) + 1, sizeof *g);
  for (int k = 0; k < o->nthreads; k++) {
    runs[k] = make(ctx, model, steps, o->threads[k]);
  }
  for (int round = 0; round < rounds && (round == 0 || now() < o->limit); round++) {
    for (int q = from; q < to; q++) {
      for (int k = 0; k < o->nthreads; k++) {
        best[q][k] = fmin(best[q][k], measure(ctx, runs[k], q, g));
      }
    }
  }
  for (int k = 0; k < o->nthreads; k++) {
    mbg_run_destroy(runs[k]);
  }
  free(g);
}

/* long and short runs; a step without the start is their difference */
static void long_and_short(mbg_context *ctx, const mbg_model *model, result *r, int steps, int from, int to,
                           int rounds) {
  const options *o = r->o;
  const int few = steps / 4 > 0 ? steps / 4 : 1, more = steps > few ? steps - few : 1;
  double brief[WHAT][MOST];
  for (int q = 0; q < WHAT; q++) {
    for (int k = 0; k < o->nthreads; k++) {
      brief[q][k] = INFINITY;
    }
  }
  rounds_of(ctx, model, r, steps, from, to, rounds, r->best);
  rounds_of(ctx, model, r, few, from, to, rounds, brief);
  for (int q = from > 0 ? from : SIMULATION; q < to; q++) {
    for (int k = 0; k < o->nthreads; k++) {
      r->best[q + STEP][k] = (r->best[q][k] - brief[q][k]) / more;
    }
  }
}

static void one_size(result *r) {
  const options *o = r->o;
  mbg_context *ctx;
  mbg_context_create(NULL, &ctx);
  mbg_model *model = generate(ctx, r->bodies, r->flexible, o->parameters);
  for (int q = 0; q < WHAT; q++) {
    for (int k = 0; k < o->nthreads; k++) {
      r->best[q][k] = INFINITY;
    }
  }
  r->direct = o->direct > 0 && r->bodies <= o->direct_most;
  long_and_short(ctx, model, r, o->steps, 0, DIRECT, o->rounds);
  if (r->direct) {
    long_and_short(ctx, model, r, o->direct, DIRECT, DIRECT + 1, o->direct_rounds);
  }
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
}

static void print_size(const result *r, FILE *tsv) {
  const options *o = r->o;
  const char *kind = r->flexible ? "flexible" : "rigid";
  for (int q = 0; q < WHAT; q++) {
    const int steps = q == 0 ? 0 : q > DIRECT ? 1 : q == DIRECT ? o->direct : o->steps;
    if (!measured(r, q)) {
      continue;
    }
    printf("%-8s %6d  %-18s %3d steps", kind, r->bodies, what_names[q], steps);
    for (int k = 0; k < o->nthreads; k++) {
      const double speed = r->best[q][0] / r->best[q][k];
      printf("  %9.4g ms x%5.2f", 1e3 * r->best[q][k], speed);
      if (tsv) {
        fprintf(tsv, "%s\t%d\t%s\t%d\t%d\t%.6g\t%.4g\n", kind, r->bodies, what_names[q], steps, o->threads[k],
                r->best[q][k], speed);
      }
    }
    printf("\n");
  }
  printf("%-8s %6d  us a level                  ", kind, r->bodies);
  for (int k = 0; k < o->nthreads; k++) {
    printf("  %9.4g           ", 1e6 * r->best[0][k] / log2(r->bodies));
  }
  printf("\n");
  fflush(stdout);
  if (tsv) {
    fflush(tsv);
  }
}

/* ---------------------------------------------------------------------- pictures */

static const char *const titles[2] = {"flexible bodies", "rigid bodies"};
static char names[MOST][32];

/* times of one evaluation over the number of bodies, beside a multiple of log2 n */
static cli_panel times_panel(const options *o, int kind, result results[MOST], cli_curve curves[MOST + 1]) {
  static double x[2][MOST], times[2][MOST][MOST], level[2][MOST];
  const int n = o->nsizes[kind];
  for (int i = 0; i < n; i++) {
    x[kind][i] = o->sizes[kind][i];
    level[kind][i] = 1e3 * results[0].best[0][o->nthreads - 1] * log2(x[kind][i]) / log2(x[kind][0]);
    for (int k = 0; k < o->nthreads; k++) {
      times[kind][k][i] = 1e3 * results[i].best[0][k];
    }
  }
  for (int k = 0; k < o->nthreads; k++) {
    curves[k] = (cli_curve){.name = names[k], .count = n, .x = x[kind], .y = times[kind][k], .dots = true};
  }
  curves[o->nthreads] = (cli_curve){.name = "log2 n", .count = n, .x = x[kind], .y = level[kind], .dashed = true};
  return (cli_panel){.title = titles[kind],
                     .x_label = "bodies",
                     .y_label = "ms of an evaluation",
                     .log_x = true,
                     .log_y = true,
                     .ncurve = o->nthreads + 1,
                     .curves = curves};
}

/* ratios to the first number of threads, of the largest model with direct differentiation */
static cli_panel speed_panel(const options *o, int kind, result results[MOST], cli_curve curves[WHAT + 1]) {
  static double x[MOST], speed[2][WHAT][MOST], ideal[MOST];
  static char title[2][64];
  int at = 0, count = 0;
  for (int i = 0; i < o->nsizes[kind]; i++) {
    at = results[i].direct || !results[at].direct ? i : at;
  }
  for (int k = 0; k < o->nthreads; k++) {
    x[k] = o->threads[k];
    ideal[k] = x[k] / x[0];
    for (int q = 0; q < WHAT; q++) {
      speed[kind][q][k] = results[at].best[q][0] / results[at].best[q][k];
    }
  }
  for (int q = 0; q < WHAT; q++) {
    if (measured(&results[at], q)) {
      curves[count++] =
          (cli_curve){.name = what_names[q], .count = o->nthreads, .x = x, .y = speed[kind][q], .dots = true};
    }
  }
  curves[count++] = (cli_curve){.name = "threads", .count = o->nthreads, .x = x, .y = ideal, .dashed = true};
  snprintf(title[kind], sizeof(title[kind]), "%d %s", results[at].bodies, titles[kind]);
  return (cli_panel){.title = title[kind],
                     .x_label = "threads",
                     .y_label = "times faster",
                     .log_x = true,
                     .log_y = true,
                     .ncurve = count,
                     .curves = curves};
}

static int draw(const options *o, result results[2][MOST]) {
  cli_curve curves[2][2][MOST + 1];
  cli_panel panels[4];
  int count = 0;
  for (int k = 0; k < o->nthreads; k++) {
    snprintf(names[k], sizeof(names[k]), "%d thread%s", o->threads[k], o->threads[k] == 1 ? "" : "s");
  }
  for (int kind = 0; kind < 2; kind++) {
    if (o->kinds[kind]) {
      panels[count++] = times_panel(o, kind, results[kind], curves[kind][0]);
      panels[count++] = speed_panel(o, kind, results[kind], curves[kind][1]);
    }
  }
  return cli_plot_write(o->svg, "Chains in threads", panels, count);
}

static int read_list(const char *text, int *list) {
  int n = 0;
  for (const char *at = text; *at && n < MOST; at += *at == ',') {
    char *end;
    list[n++] = (int)strtol(at, &end, 10);
    if (end == at || list[n - 1] < 0) {
      return 0;
    }
    at = end;
  }
  return n;
}

static bool read_numbers(const char *key, const char *value, options *o) {
  if (!strcmp(key, "--rounds")) {
    o->rounds = atoi(value);
  } else if (!strcmp(key, "--steps")) {
    o->steps = atoi(value);
  } else if (!strcmp(key, "--direct")) {
    o->direct = atoi(value); /* no: 0 */
  } else if (!strcmp(key, "--direct-rounds")) {
    o->direct_rounds = atoi(value);
  } else if (!strcmp(key, "--direct-most")) {
    o->direct_most = atoi(value);
  } else if (!strcmp(key, "--parameters")) {
    o->parameters = atoi(value);
  } else if (!strcmp(key, "--limit")) {
    o->limit = now() + strtod(value, NULL);
  } else {
    return false;
  }
  return true;
}

static bool read_options(int argc, char **argv, options *o) {
  *o = (options){.nthreads = 2,
                 .threads = {1, 2},
                 .nsizes = {2, 2},
                 .sizes = {{1024, 4096}, {1024, 4096}},
                 .kinds = {true, true},
                 .rounds = 5,
                 .steps = 4,
                 .direct = 4,
                 .direct_rounds = 1,
                 .direct_most = 1 << 30,
                 .parameters = 64,
                 .limit = INFINITY};
  for (int i = 1; i < argc; i += 2) {
    const char *key = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(key, "--threads")) {
      o->nthreads = read_list(value, o->threads);
    } else if (!strcmp(key, "--sizes")) {
      o->nsizes[0] = o->nsizes[1] = read_list(value, o->sizes[0]);
      memcpy(o->sizes[1], o->sizes[0], sizeof(o->sizes[0]));
    } else if (!strcmp(key, "--flexible-sizes")) {
      o->nsizes[0] = read_list(value, o->sizes[0]);
    } else if (!strcmp(key, "--kinds")) {
      o->kinds[0] = strstr(value, "flexible") != NULL;
      o->kinds[1] = strstr(value, "rigid") != NULL;
    } else if (!strcmp(key, "--tsv")) {
      o->tsv = value;
    } else if (!strcmp(key, "--svg")) {
      o->svg = value;
    } else if (!read_numbers(key, value, o)) {
      return false;
    }
  }
  return o->nthreads > 0 && o->nsizes[0] > 0 && o->nsizes[1] > 0 && o->rounds > 0 && o->steps > 0 && o->parameters > 1;
}

int main(int argc, char **argv) {
  static result results[2][MOST];
  options o;
  if (!read_options(argc, argv, &o)) {
    fprintf(stderr, "threads [--threads 1,2,4] [--sizes 1024,4096] [--flexible-sizes 256,1024] [--kinds rigid,flexible]"
                    " [--rounds 5] [--steps 4] [--direct STEPS|no] [--direct-rounds 1] [--direct-most BODIES]"
                    " [--parameters 64] [--limit SECONDS] [--tsv OUT.tsv] [--svg OUT.svg]\n");
    return 2;
  }
  FILE *tsv = o.tsv ? fopen(o.tsv, "w") : NULL;
  if (o.tsv && !tsv) {
    perror(o.tsv);
    return 1;
  }
  printf("%ld cores; threads", sysconf(_SC_NPROCESSORS_ONLN));
  for (int k = 0; k < o.nthreads; k++) {
    printf(" %d", o.threads[k]);
  }
  printf("\n");
  if (tsv) {
    fprintf(tsv, "kind\tbodies\twhat\tsteps\tthreads\tseconds\tspeedup\n");
  }
  for (int kind = 0; kind < 2; kind++) {
    for (int i = 0; o.kinds[kind] && i < o.nsizes[kind] && o.sizes[kind][i] > 0; i++) {
      result *r = &results[kind][i];
      *r = (result){.o = &o, .flexible = kind == 0, .bodies = o.sizes[kind][i]};
      one_size(r);
      print_size(r, tsv);
    }
  }
  if (tsv) {
    fclose(tsv);
  }
  return o.svg ? draw(&o, results) : 0;
}
