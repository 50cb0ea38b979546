/* Standard errors of identification against a Monte-Carlo: the engine of the gallery, measured with noise again and
   again.

     identify_monte_carlo [REALISATIONS [STEP]]        default 200, 0.001

   Data are made with the stepper and step of the fit, at the true parameters, with noise of 0.2 m/s^2 as the model
   says; each fit starts there. Prints for each parameter the standard error that the fits report, the standard
   deviation of the fitted values and their ratio, and the largest difference of a ratio from 1 (with 200 realisations
   chance alone gives 5 % to 15 %). */
#include <mbgrad/mbgrad.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 12, SIGNALS = 6, RUNS = 2, SAMPLES = 251 };

static const double truth[N] = {70e3, 60e3, 130e3, 80e3, 50e3, 110e3, 60e3, 90e3, 150e3, 300, 450, 250};
static const char *const runs[RUNS] = {"starter", "hammer"};
static const char *const signals[SIGNALS] = {"head_x", "head_y", "head_z", "gear_x", "gear_y", "gear_z"};
static const double interval = 0.002, sigma = 0.2;

/* ---------------------------------------------------------------------- noise */

/* splitmix64, Box and Muller */
static double uniform(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state) {
  const double u = uniform(state);
  return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * uniform(state));
}

/* ---------------------------------------------------------------------- files */

static void must(mbg_context *ctx, int status) {
  if (status < 0) {
    fprintf(stderr, "identify_monte_carlo: %s\n", mbg_context_error(ctx));
    exit(1);
  }
}

static FILE *open_in(const char *folder, const char *name, const char *end) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s%s", folder, name, end);
  FILE *file = fopen(path, "w");
  if (!file) {
    perror(path);
    exit(1);
  }
  return file;
}

static void copy_model(const char *folder) {
  FILE *from = fopen(MBG_GALLERY_DIR "/engine-mount/model.json", "r"), *to = open_in(folder, "model", ".json");
  for (int c; from && (c = fgetc(from)) != EOF;) {
    fputc(c, to);
  }
  fclose(to);
  if (from) {
    fclose(from);
  }
}

/* samples of a run, with noise when there is a state */
static void write_data(const char *folder, int run, const double *clean, uint64_t *state) {
  FILE *file = open_in(folder, runs[run], ".csv");
  fputs("time", file);
  for (int k = 0; k < SIGNALS; k++) {
    fprintf(file, ",%s", signals[k]);
  }
  for (int i = 0; i < SAMPLES; i++) {
    fprintf(file, "\n%.17g", interval * i);
    for (int k = 0; k < SIGNALS; k++) {
      fprintf(file, ",%.17g", clean[i * SIGNALS + k] + (state ? sigma * normal(state) : 0));
    }
  }
  fputc('\n', file);
  fclose(file);
}

/* ---------------------------------------------------------------------- simulation */

static int find_signal(const mbg_model *model, const char *name) {
  for (int i = 0; i < mbg_model_signal_count(model); i++) {
    if (mbg_model_signal_name(model, i) && !strcmp(mbg_model_signal_name(model, i), name)) {
      return i;
    }
  }
  return -1;
}

/* samples lie on the nodes: the interval is a multiple of the step */
static void measure(mbg_context *ctx, const char *path, int run, double step, double *clean) {
  mbg_model *model;
  mbg_run *r;
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  o.step = step;
  o.all_signals = 1;
  must(ctx, mbg_model_load_run(ctx, path, runs[run], &model));
  must(ctx, mbg_run_create(ctx, model, &o, &r));
  must(ctx, mbg_run_set_parameters(ctx, r, truth));
  must(ctx, mbg_run_simulate(ctx, r));
  for (int i = 0; i < SAMPLES; i++) {
    const int node = (int)lround(interval * i / step);
    for (int k = 0; k < SIGNALS; k++) {
      clean[i * SIGNALS + k] = mbg_run_signal(r, node, find_signal(model, signals[k]));
    }
  }
  mbg_run_destroy(r);
  mbg_model_destroy(model);
}

/* ---------------------------------------------------------------------- the experiment */

typedef struct {
  double sum[N], square[N], error[N];
} statistics;

static void fit(mbg_context *ctx, const char *path, double step, statistics *s) {
  mbg_identify *id;
  mbg_identify_options o;
  mbg_run_options run;
  mbg_model *model;
  mbg_run_options_default(&run, sizeof(run));
  mbg_identify_options_default(&o, sizeof(o));
  run.step = step;
  o.run = &run;
  o.parameters = truth;
  o.tolerance = 1e-6;
  o.bias = false;
  mbg_context_clear(ctx);
  must(ctx, mbg_model_load(ctx, path, &model));
  must(ctx, mbg_identify_create(ctx, model, &o, &id));
  must(ctx, mbg_identify_solve(ctx, id));
  for (int i = 0; i < N; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(id, i);
    s->sum[i] += p->value - truth[i];
    s->square[i] += (p->value - truth[i]) * (p->value - truth[i]);
    s->error[i] += p->standard_error;
  }
  mbg_identify_destroy(id);
  mbg_model_destroy(model);
}

static void print_statistics(mbg_context *ctx, const char *path, const statistics *s, int rounds) {
  mbg_model *model;
  double worst = 0;
  must(ctx, mbg_model_load_run(ctx, path, runs[0], &model));
  printf("%-5s %12s %12s %8s %10s\n", "name", "reported", "found", "ratio", "mean off");
  for (int i = 0; i < N; i++) {
    char name[64];
    const double mean = s->sum[i] / rounds, reported = s->error[i] / rounds;
    const double found = sqrt((s->square[i] - rounds * mean * mean) / (rounds - 1));
    mbg_model_parameter_name(model, i, name, sizeof(name));
    printf("%-5s %12.5g %12.5g %8.3f %10.2f\n", name, reported, found, reported / found,
           mean / (reported / sqrt(rounds)));
    worst = fmax(worst, fabs(reported / found - 1));
  }
  printf("%d realisations: largest difference %.1f %% (at most 20 %%)\n", rounds, 100 * worst);
  mbg_model_destroy(model);
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  const double step = argc > 2 ? atof(argv[2]) : 0.001;
  char folder[] = "identify-XXXXXX", path[64], file[128];
  static double clean[RUNS][SAMPLES * SIGNALS];
  static const double zeros[SAMPLES * SIGNALS];
  uint64_t state = 1;
  statistics s = {0};
  mbg_context *ctx;
  if (rounds < 2 || !mkdtemp(folder) || mbg_context_create(NULL, &ctx) < 0) {
    return 1;
  }
  snprintf(path, sizeof(path), "%s/model.json", folder);
  copy_model(folder);
  for (int k = 0; k < RUNS; k++) {
    write_data(folder, k, zeros, NULL);
    measure(ctx, path, k, step, clean[k]);
  }
  for (int i = 0; i < rounds; i++) {
    for (int k = 0; k < RUNS; k++) {
      write_data(folder, k, clean[k], &state);
    }
    fit(ctx, path, step, &s);
  }
  print_statistics(ctx, path, &s, rounds);
  for (int k = 0; k < RUNS; k++) {
    snprintf(file, sizeof(file), "%s/%s.csv", folder, runs[k]);
    unlink(file);
  }
  unlink(path);
  rmdir(folder);
  mbg_context_destroy(ctx);
  return 0;
}
