/* Throughput of load cases in threads: two load cases of one problem against two problems of one load case each, in two
   processes at the same time.

     optimize_cases BODIES STEPS EVALUATIONS REPEATS

   The model is a chain of bodies that falls with two strengths of gravity. Prints the least times of all repeats, and
   the throughput of the threads relative to the processes. */
#include <mbgrad/optimize.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------- model */

static void write_model(const char *path, int n, int steps) {
  FILE *f = fopen(path, "w");
  if (!f) {
    exit(1);
  }
  fprintf(f,
          "{\"mbgrad\": 1, \"parameters\": {\"k\": {\"value\": 10, \"min\": 1, \"max\": 100}, \"d\": {\"value\": 0.1, "
          "\"min\": 0, \"max\": 1}}, \"constants\": {\"g\": 9.81}, \"gravity\": [0, 0, \"-g\"], \"bodies\": {");
  for (int i = 0; i < n; i++) {
    fprintf(f,
            "%s\"b%d\": {\"mass\": 1, \"com\": [0.5, 0, 0], \"inertia\": [0.01, 0.09, 0.09], \"position\": [%d, 0, 0]}",
            i ? ", " : "", i, i);
  }
  fprintf(f, "}, \"joints\": {");
  for (int i = 0; i < n; i++) {
    char before[32] = "ground";
    if (i > 0) {
      snprintf(before, sizeof(before), "b%d", i - 1);
    }
    fprintf(f,
            "%s\"j%d\": {\"type\": \"revolute\", \"between\": [\"%s\", \"b%d\"], \"at\": [%d, 0, 0], \"axis\": [0, %d, "
            "%d]}",
            i ? ", " : "", i, before, i, i, 1 - i % 2, i % 2);
  }
  fprintf(f, "}, \"forces\": {");
  for (int i = 0; i < n; i++) {
    fprintf(f,
            "%s\"t%d\": {\"type\": \"torsion-spring-damper\", \"joint\": \"j%d\", \"stiffness\": \"k\", \"damping\": "
            "\"d\"}",
            i ? ", " : "", i, i);
  }
  fprintf(f,
          "}, \"signals\": {\"z\": {\"type\": \"position\", \"of\": \"b%d\", \"component\": \"z\"}}, "
          "\"criteria\": {\"c\": {\"integral\": \"z^2\"}}, \"run\": {\"end\": %.17g, \"step\": 1e-3}, "
          "\"runs\": {\"heavy\": {\"set\": {\"g\": 9.81}}, \"light\": {\"set\": {\"g\": 9}}}, "
          "\"optimize\": {\"objective\": \"c\"}}\n",
          n - 1, 1e-3 * steps);
  fclose(f);
}

/* ---------------------------------------------------------------------- measurement */

static mbg_model *load(mbg_context *ctx, const char *path, const char *run) {
  mbg_model *model;
  if (mbg_model_load_run(ctx, path, run, &model) != MBG_OK) {
    fprintf(stderr, "%s\n", mbg_context_message(ctx, 0));
    exit(1);
  }
  return model;
}

static mbg_optimize *prepare(mbg_context *ctx, const mbg_model *model, int threads) {
  mbg_optimize_options o;
  mbg_optimize *opt;
  mbg_optimize_options_default(&o, sizeof(o));
  o.threads = threads;
  if (mbg_optimize_create(ctx, model, &o, &opt) != MBG_OK) {
    fprintf(stderr, "%s\n", mbg_context_message(ctx, 0));
    exit(1);
  }
  return opt;
}

/* objective and gradient, each time elsewhere */
static void evaluate(mbg_context *ctx, mbg_optimize *opt, int count) {
  for (int i = 0; i < count; i++) {
    const double p[2] = {10 + 0.01 * (i + 1), 0.1};
    double f, v, g[2];
    if (mbg_optimize_evaluate(ctx, opt, p, &f, &v, g) != MBG_OK) {
      exit(1);
    }
  }
}

/* one process for each run; the time from the moment when both are ready */
static double processes(const char *path, int count) {
  static const char *const runs[] = {"heavy", "light"};
  int ready[2], go[2];
  pid_t child[2];
  char byte = 0;
  if (pipe(ready) != 0 || pipe(go) != 0) {
    exit(1);
  }
  for (int k = 0; k < 2; k++) {
    child[k] = fork();
    if (child[k] == 0) {
      mbg_context *ctx;
      if (mbg_context_create(NULL, &ctx) < 0) {
        _exit(1);
      }
      mbg_optimize *opt = prepare(ctx, load(ctx, path, runs[k]), 1);
      const int told = write(ready[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1;
      evaluate(ctx, opt, count);
      _exit(!told);
    }
  }
  for (int k = 0; k < 2; k++) {
    if (read(ready[0], &byte, 1) != 1) {
      exit(1);
    }
  }
  const double begin = seconds();
  if (write(go[1], "ab", 2) != 2) {
    exit(1);
  }
  for (int k = 0; k < 2; k++) {
    int how;
    waitpid(child[k], &how, 0);
  }
  const double spent = seconds() - begin;
  for (int k = 0; k < 2; k++) {
    close(ready[k]);
    close(go[k]);
  }
  return spent;
}

static double threads(const char *path, int count, int n) {
  mbg_context *ctx;
  if (mbg_context_create(NULL, &ctx) < 0) {
    exit(1);
  }
  mbg_model *model = load(ctx, path, NULL);
  mbg_optimize *opt = prepare(ctx, model, n);
  const double begin = seconds();
  evaluate(ctx, opt, count);
  const double spent = seconds() - begin;
  mbg_optimize_destroy(opt);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return spent;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: optimize_cases BODIES STEPS EVALUATIONS REPEATS\n");
    return 2;
  }
  const int count = atoi(argv[3]), repeats = atoi(argv[4]);
  double one = 1e300, two = 1e300, apart = 1e300;
  char path[] = "/tmp/optimize-cases-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) {
    return 1;
  }
  close(file);
  write_model(path, atoi(argv[1]), atoi(argv[2]));
  for (int k = 0; k <= repeats; k++) { /* the first is a warm-up */
    const double a = processes(path, count), b = threads(path, count, 2), c = threads(path, count, 1);
    apart = k > 0 && a < apart ? a : apart;
    two = k > 0 && b < two ? b : two;
    one = k > 0 && c < one ? c : one;
  }
  remove(path);
  printf("two load cases, %d evaluations with gradient: in turn %.3f s, 2 threads %.3f s, 2 processes %.3f s; "
         "throughput of the threads %.2f\n",
         count, one, two, apart, apart / two);
  return 0;
}
