/* Threads of `dca` on chains: times of one evaluation of the accelerations, of a simulation, of a gradient by direct
   differentiation with respect to 64 parameters and by the adjoint, with several numbers of threads.

     threads [--threads 1,2,4] [--sizes 1024,4096] [--kinds rigid,flexible] [--rounds 5] [--steps 4] [--svg OUT.svg]

   Runs with different numbers of threads take turns, and the best time of each counts, so that other work on the
   machine matters little. --sizes 0 prints nothing but the number of cores. Under callgrind (--threads 1) the share of
   mbg__pool_for in mbg__dca_simulate, mbg__dca_tangent or mbg__dca_adjoint is what threads can share. */
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

enum { MOST = 16, PARAMETERS = 64, WHAT = 4 };
static const char *const what_names[WHAT] = {"evaluation", "simulation", "direct", "adjoint"};

typedef struct {
  int nthreads, threads[MOST], nsizes, sizes[MOST];
  bool rigid, flexible, direct;
  int rounds, steps;
  const char *svg;
} options;

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

static mbg_model *generate(mbg_context *ctx, int bodies, bool flexible) {
  /* the length of the bodies is a parameter too */
  const cli_family_size size = {bodies, flexible ? bodies : 0, PARAMETERS - 1};
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

static mbg_run *make(mbg_context *ctx, const mbg_model *model, const options *o, int threads) {
  mbg_run_options run_options;
  mbg_run *run;
  mbg_run_options_default(&run_options, sizeof(run_options));
  run_options.formulation = "dca";
  run_options.step = 1e-4;
  run_options.end = 1e-4 * o->steps;
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
    check(ctx, mbg_run_gradient(ctx, run, what == 2 ? MBG_METHOD_DIRECT : MBG_METHOD_ADJOINT, g, NULL));
  }
  return now() - from;
}

/* best times [what][threads] */
static void one_size(const options *o, int bodies, bool flexible, double best[WHAT][MOST]) {
  mbg_context *ctx;
  mbg_run *runs[MOST];
  mbg_context_create(NULL, &ctx);
  mbg_model *model = generate(ctx, bodies, flexible);
  double *g = calloc((size_t)(model->ncriterion * model->np) + 1, sizeof *g);
  for (int k = 0; k < o->nthreads; k++) {
    runs[k] = make(ctx, model, o, o->threads[k]);
    for (int q = 0; q < WHAT; q++) {
      best[q][k] = INFINITY;
    }
  }
  for (int round = 0; round < o->rounds; round++) {
    for (int q = 0; q < WHAT; q++) {
      for (int k = 0; (q != 2 || o->direct) && k < o->nthreads; k++) {
        best[q][k] = fmin(best[q][k], measure(ctx, runs[k], q, g));
      }
    }
  }
  for (int k = 0; k < o->nthreads; k++) {
    mbg_run_destroy(runs[k]);
  }
  free(g);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
}

static void print_size(const options *o, int bodies, bool flexible, double best[WHAT][MOST]) {
  for (int q = 0; q < WHAT; q++) {
    if (q == 2 && !o->direct) {
      continue;
    }
    printf("%-8s %6d  %-10s", flexible ? "flexible" : "rigid", bodies, what_names[q]);
    for (int k = 0; k < o->nthreads; k++) {
      printf("  %9.4g ms x%5.2f", 1e3 * best[q][k], best[q][0] / best[q][k]);
    }
    printf("\n");
  }
  printf("%-8s %6d  us a level", flexible ? "flexible" : "rigid", bodies);
  for (int k = 0; k < o->nthreads; k++) {
    printf("  %9.4g           ", 1e6 * best[0][k] / log2(bodies));
  }
  printf("\n");
  fflush(stdout);
}

/* times of one evaluation over the number of bodies, beside a multiple of log2 n */
static int draw(const options *o, const char *file, double times[2][MOST][MOST], const bool kinds[2]) {
  static const char *const titles[2] = {"flexible bodies", "rigid bodies"};
  static char names[MOST][32];
  double x[MOST], level[2][MOST];
  cli_curve curves[2][MOST + 1];
  cli_panel panels[2];
  int count = 0;
  for (int kind = 0; kind < 2; kind++) {
    if (!kinds[kind]) {
      continue;
    }
    for (int k = 0; k < o->nthreads; k++) {
      snprintf(names[k], sizeof(names[k]), "%d thread%s", o->threads[k], o->threads[k] == 1 ? "" : "s");
      curves[kind][k] = (cli_curve){.name = names[k], .count = o->nsizes, .x = x, .y = times[kind][k], .dots = true};
    }
    for (int i = 0; i < o->nsizes; i++) {
      x[i] = o->sizes[i];
      level[kind][i] = times[kind][o->nthreads - 1][0] * log2(o->sizes[i]) / log2(o->sizes[0]);
    }
    curves[kind][o->nthreads] =
        (cli_curve){.name = "log2 n", .count = o->nsizes, .x = x, .y = level[kind], .dashed = true};
    panels[count++] = (cli_panel){.title = titles[kind],
                                  .x_label = "bodies",
                                  .y_label = "ms of an evaluation",
                                  .log_x = true,
                                  .log_y = true,
                                  .ncurve = o->nthreads + 1,
                                  .curves = curves[kind]};
  }
  return cli_plot_write(file, "One evaluation of the accelerations of a chain", panels, count);
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

static bool read_options(int argc, char **argv, options *o) {
  *o = (options){.nthreads = 2,
                 .threads = {1, 2},
                 .nsizes = 2,
                 .sizes = {1024, 4096},
                 .rigid = true,
                 .flexible = true,
                 .direct = true,
                 .rounds = 5,
                 .steps = 4};
  for (int i = 1; i < argc; i += 2) {
    const char *key = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(key, "--threads")) {
      o->nthreads = read_list(value, o->threads);
    } else if (!strcmp(key, "--sizes")) {
      o->nsizes = read_list(value, o->sizes);
    } else if (!strcmp(key, "--kinds")) {
      o->rigid = strstr(value, "rigid") != NULL;
      o->flexible = strstr(value, "flexible") != NULL;
    } else if (!strcmp(key, "--rounds")) {
      o->rounds = atoi(value);
    } else if (!strcmp(key, "--steps")) {
      o->steps = atoi(value);
    } else if (!strcmp(key, "--direct")) {
      o->direct = strcmp(value, "no") != 0;
    } else if (!strcmp(key, "--svg")) {
      o->svg = value;
    } else {
      return false;
    }
  }
  return o->nthreads > 0 && o->nsizes > 0 && o->rounds > 0 && o->steps > 0;
}

int main(int argc, char **argv) {
  static double times[2][MOST][MOST];
  options o;
  if (!read_options(argc, argv, &o)) {
    fprintf(stderr, "threads [--threads 1,2,4] [--sizes 1024,4096] [--kinds rigid,flexible] [--rounds 5] [--steps 4] "
                    "[--direct no] [--svg OUT.svg]\n");
    return 2;
  }
  const bool kinds[2] = {o.flexible, o.rigid};
  printf("%ld cores; threads", sysconf(_SC_NPROCESSORS_ONLN));
  for (int k = 0; k < o.nthreads; k++) {
    printf(" %d", o.threads[k]);
  }
  printf("\n");
  for (int i = 0; i < o.nsizes; i++) {
    for (int kind = 1; kind >= 0 && o.sizes[i] > 0; kind--) {
      double best[WHAT][MOST];
      if (!kinds[kind]) {
        continue;
      }
      one_size(&o, o.sizes[i], kind == 0, best);
      print_size(&o, o.sizes[i], kind == 0, best);
      for (int k = 0; k < o.nthreads; k++) {
        times[kind][k][i] = 1e3 * best[0][k];
      }
    }
  }
  return o.svg ? draw(&o, o.svg, times, kinds) : 0;
}
