/* Samples in vectors: four at once against one by one, in one thread.

     ensemble [MODEL] [--end SECONDS] [--step SECONDS] [--repeats N] [--batches N] [--by PART] [--only together|alone]
              [--values]

   MODEL: of the gallery, run in ali3p; default five-bar over 1,000 steps. Each repeat computes the same samples (four
   in each of the batches; every parameter off its value by a random part of at most `by`) once in vectors and once by
   one run; which of the two is first alternates. All bits are compared. A ratio is that of two neighbours, in processor
   time of the thread, so that other work on the machine changes it little. Prints the median of the ratios, their
   quartiles and extremes. --only: one of the two, for callgrind or perf. --values: without gradients. */
#include <mbgrad/ensemble.h>
#include <mbgrad/model.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 4 };

typedef struct {
  const char *model;
  double end, step, by;
  int repeats, batches;
  bool together, alone, gradient;
} settings;

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_ensemble *ensemble;
  mbg_run *run;
  size_t np, nc;
  int n;
  double *p, *psi[2], *gradient[2]; /* in vectors, one by one */
  mbg_ensemble_sample *samples;
} study;

static void check(const mbg_context *ctx, int err) {
  if (err < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(ctx));
    exit(1);
  }
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *numbers(size_t n) {
  double *x = calloc(n + 1, sizeof(double));
  if (!x) {
    perror("ensemble");
    exit(1);
  }
  return x;
}

/* between -1 and 1 */
static double next_random(unsigned long long *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

static void prepare(study *s, const settings *o) {
  char path[512];
  mbg_run_options options;
  unsigned long long random = 25;
  snprintf(path, sizeof(path), "%s/%s/model.json", MBG_GALLERY_DIR, o->model);
  check(NULL, mbg_context_create(NULL, &s->ctx));
  check(s->ctx, mbg_model_load(s->ctx, path, &s->model));
  mbg_run_options_default(&options, sizeof(options));
  options.formulation = "ali3p";
  options.end = o->end;
  options.step = o->step;
  check(s->ctx, mbg_ensemble_create(s->ctx, s->model, &options, &s->ensemble));
  check(s->ctx, mbg_run_create(s->ctx, s->model, &options, &s->run));
  s->np = (size_t)mbg_model_parameter_count(s->model);
  s->nc = (size_t)mbg_model_criterion_count(s->model);
  s->n = LANES * o->batches;
  s->p = numbers((size_t)s->n * s->np);
  for (size_t i = 0; i < (size_t)s->n * s->np; i++) {
    s->p[i] = mbg_model_parameter_value(s->model, (int)(i % s->np)) * (1 + o->by * next_random(&random));
  }
  for (int k = 0; k < 2; k++) {
    s->psi[k] = numbers((size_t)s->n * s->nc);
    s->gradient[k] = numbers((size_t)s->n * s->nc * s->np);
  }
  s->samples = calloc((size_t)s->n, sizeof(*s->samples));
}

static double together(study *s, bool gradient) {
  const double begin = seconds();
  check(s->ctx,
        mbg_ensemble_run(s->ctx, s->ensemble, s->n, s->p, s->psi[0], gradient ? s->gradient[0] : NULL, s->samples));
  return seconds() - begin;
}

static double alone(study *s, bool gradient) {
  const double begin = seconds();
  for (size_t i = 0; i < (size_t)s->n; i++) {
    check(s->ctx, mbg_run_renew(s->ctx, s->run));
    check(s->ctx, mbg_run_set_parameters(s->ctx, s->run, s->p + i * s->np));
    check(s->ctx, mbg_run_simulate(s->ctx, s->run));
    check(s->ctx, mbg_run_criteria(s->ctx, s->run, s->psi[1] + i * s->nc));
    if (gradient) {
      check(s->ctx, mbg_run_gradient(s->ctx, s->run, MBG_METHOD_AUTO, s->gradient[1] + i * s->nc * s->np, NULL));
    }
    mbg_context_clear(s->ctx);
  }
  return seconds() - begin;
}

static bool same(const study *s, bool gradient) {
  const size_t n = (size_t)s->n * s->nc * sizeof(double);
  return !memcmp(s->psi[0], s->psi[1], n) && (!gradient || !memcmp(s->gradient[0], s->gradient[1], n * s->np));
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(study *s, const settings *o) {
  double *ratio = numbers((size_t)o->repeats), *a = numbers((size_t)o->repeats), *b = numbers((size_t)o->repeats);
  int lanes = 0;
  (void)together(s, o->gradient); /* makes their memory */
  (void)alone(s, o->gradient);
  const bool equal = same(s, o->gradient);
  for (int k = 0; k < s->n; k++) {
    lanes += s->samples[k].together;
  }
  for (int k = 0; k < o->repeats; k++) {
    a[k] = k % 2 ? together(s, o->gradient) : 0;
    b[k] = alone(s, o->gradient);
    a[k] = k % 2 ? a[k] : together(s, o->gradient);
    ratio[k] = b[k] / a[k];
  }
  qsort(ratio, (size_t)o->repeats, sizeof(double), by_size);
  qsort(a, (size_t)o->repeats, sizeof(double), by_size);
  qsort(b, (size_t)o->repeats, sizeof(double), by_size);
  const int n = o->repeats, half = n / 2;
  printf("%s, %s: %d of %d samples in vectors, %s; a sample %.3f ms in vectors, %.3f ms alone\n", o->model,
         o->gradient ? "values and gradients" : "values", lanes, s->n, equal ? "the same bits" : "OTHER NUMBERS",
         1e3 * a[half] / s->n, 1e3 * b[half] / s->n);
  printf("ratio: median %.2f, quartiles %.2f and %.2f, extremes %.2f and %.2f of %d repeats\n", ratio[half],
         ratio[n / 4], ratio[3 * n / 4], ratio[0], ratio[n - 1], n);
  free(ratio);
  free(a);
  free(b);
}

static const char *value(int argc, char **argv, const char *name) {
  for (int i = 1; i + 1 < argc; i++) {
    if (!strcmp(argv[i], name)) {
      return argv[i + 1];
    }
  }
  return NULL;
}

static double number(int argc, char **argv, const char *name, double otherwise) {
  const char *text = value(argc, argv, name);
  return text ? atof(text) : otherwise;
}

int main(int argc, char **argv) {
  const char *only = value(argc, argv, "--only");
  settings o = {.model = argc > 1 && argv[1][0] != '-' ? argv[1] : "five-bar",
                .end = number(argc, argv, "--end", 5),
                .step = number(argc, argv, "--step", 0.005),
                .by = number(argc, argv, "--by", 0.05),
                .repeats = (int)number(argc, argv, "--repeats", 31),
                .batches = (int)number(argc, argv, "--batches", 1),
                .gradient = true};
  study s = {0};
  for (int i = 1; i < argc; i++) {
    o.gradient = o.gradient && strcmp(argv[i], "--values") != 0;
  }
  prepare(&s, &o);
  for (int k = 0; only && k < o.repeats; k++) {
    (void)(!strcmp(only, "together") ? together(&s, o.gradient) : alone(&s, o.gradient));
  }
  if (!only) {
    measure(&s, &o);
  }
  mbg_run_destroy(s.run);
  mbg_ensemble_destroy(s.ensemble);
  mbg_model_destroy(s.model);
  mbg_context_destroy(s.ctx);
  for (int k = 0; k < 2; k++) {
    free(s.psi[k]);
    free(s.gradient[k]);
  }
  free(s.p);
  free(s.samples);
  return 0;
}
