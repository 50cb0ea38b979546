/* The vehicle of the gallery: 18 bodies, 14 degrees of freedom.

     vehicle times                  real-time factor of ali3p at 1 ms; time of lie and ali3p at equal errors
     vehicle FORMULATION CRITERIA   a run of 400 steps of 1 ms with its adjoint gradient: callgrind counts the
                                    instructions of measure_simulate and measure_adjoint */
#include <mbgrad/model.h>
#include <mbgrad/run.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CRITERIA = 3, PARAMETERS = 9 };

/* exact in time (theory 5, section 16, R3) */
static const double exact[CRITERIA] = {0.31329073979, 0.027157700474, -2.0674871937};

static void check(const mbg_context *ctx, int err) {
  if (err < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(ctx));
    exit(1);
  }
}

__attribute__((noinline)) int measure_simulate(mbg_context *ctx, mbg_run *run) { return mbg_run_simulate(ctx, run); }

__attribute__((noinline)) int measure_adjoint(mbg_context *ctx, mbg_run *run, double *gradient) {
  return mbg_run_gradient(ctx, run, MBG_METHOD_ADJOINT, gradient, NULL);
}

/* the model with its first n criteria */
static mbg_model *load(mbg_context *ctx, int n) {
  mbg_model *model;
  FILE *file = fopen(MBG_GALLERY_DIR "/vehicle/model.json", "r");
  static char text[20000];
  const size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
  if (!file || length == 0) {
    fprintf(stderr, "no gallery\n");
    exit(1);
  }
  fclose(file);
  text[length] = 0;
  char *second = strstr(text, ",\n    \"psi2\""), *end = strstr(text, "\n  },\n  \"run\"");
  if (n == 1 && second && end) {
    memmove(second, end, strlen(end) + 1);
  }
  check(ctx, mbg_model_parse(ctx, "vehicle", text, strlen(text), MBG_GALLERY_DIR "/vehicle", &model));
  return model;
}

static mbg_run *make(mbg_context *ctx, const mbg_model *model, const char *formulation, double step, double end) {
  mbg_run_options o;
  mbg_run *run;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = formulation;
  o.step = step;
  o.end = end;
  check(ctx, mbg_run_create(ctx, model, &o, &run));
  return run;
}

/* best of five, seconds; error: largest relative one of the criteria */
static double best(mbg_context *ctx, const mbg_model *model, const char *formulation, double step, double *error) {
  mbg_run *run = make(ctx, model, formulation, step, 1.5);
  double least = 1e300, psi[CRITERIA];
  for (int i = 0; i < 5; i++) {
    mbg_run_work work;
    check(ctx, mbg_run_simulate(ctx, run));
    work = *mbg_run_get_work(run);
    least = fmin(least, work.seconds_simulate);
  }
  check(ctx, mbg_run_criteria(ctx, run, psi));
  *error = 0;
  for (int k = 0; k < CRITERIA; k++) {
    *error = fmax(*error, fabs(psi[k] / exact[k] - 1));
  }
  mbg_run_destroy(run);
  return least;
}

static void times(mbg_context *ctx, const mbg_model *model) {
  static const double step[] = {0.004, 0.002, 0.001};
  double error;
  for (int i = 0; i < 3; i++) {
    const double s = best(ctx, model, "ali3p", step[i], &error);
    printf("ali3p step %-6g %7.4f s for 1.5 s: %5.1f times real time, largest error of the criteria %.1e\n", step[i], s,
           1.5 / s, error);
  }
  for (int i = 0; i < 3; i++) {
    const double s = best(ctx, model, "lie", step[i] / 2, &error);
    printf("lie   step %-6g %7.4f s for 1.5 s: %5.1f times real time, largest error of the criteria %.1e\n",
           step[i] / 2, s, 1.5 / s, error);
  }
}

int main(int argc, char **argv) {
  mbg_context *ctx;
  double gradient[CRITERIA * PARAMETERS];
  check(NULL, mbg_context_create(NULL, &ctx));
  mbg_model *model = load(ctx, argc > 2 ? atoi(argv[2]) : CRITERIA);
  if (argc < 3) {
    times(ctx, model);
  } else {
    mbg_run *run = make(ctx, model, argv[1], 0.001, 0.4);
    check(ctx, measure_simulate(ctx, run));
    check(ctx, measure_adjoint(ctx, run, gradient));
    mbg_run_destroy(run);
  }
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return 0;
}
