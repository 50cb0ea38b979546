/* Error of the gradient against the time of simulation and gradient, over steps and tolerances:

     lie            discrete adjoint, fixed steps
     qr dop853      continuous adjoint, Runge-Kutta 8(5,3)
     qr adams, bdf  continuous adjoint by CVODES, with its own checkpoints and polynomial interpolation

     work_precision MODEL FOLDER

   prints a table and writes FOLDER/work-precision-MODEL.csv and .svg. The error is that of the first criterion,
   relative to the direct gradient of qr at the tolerance 1e-13. Times are of the processor, the least of several
   rounds. For the torsional pendulum it ends with the times of dop853 and adams at equal errors. */
#include "plot.h"

#include <mbgrad/model.h>
#include <mbgrad/run.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POINTS = 12, METHODS = 4, ROUNDS = 3 };

typedef struct {
  const char *name, *formulation, *integrator;
  mbg_method method;
  double first, last, factor; /* step or tolerance, each the one before times factor */
} method;

static const method methods[METHODS] = {
    {"lie, discrete adjoint", "lie", NULL, MBG_METHOD_ADJOINT, 0, 0, 0.5},
    {"qr, dop853", "qr", "dop853", MBG_METHOD_CONTINUOUS, 1e-4, 1e-13, 0.1},
    {"qr, adams", "qr", "adams", MBG_METHOD_CONTINUOUS, 1e-4, 1e-13, 0.1},
    {"qr, bdf", "qr", "bdf", MBG_METHOD_CONTINUOUS, 1e-4, 1e-11, 0.1},
};

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  int np, nc;
  double *p, *exact, *gradient;
  double span;
} subject;

typedef struct {
  int count;
  double at[POINTS], error[POINTS], seconds[POINTS];
} curve;

static void check(const subject *x, int err) {
  if (err < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(x->ctx));
    exit(1);
  }
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------- one point */

static int gradient_by(subject *x, const mbg_run_options *o, mbg_method how, double *gradient, double *spent) {
  mbg_run *run = NULL;
  const double begin = seconds();
  int err = mbg_run_create(x->ctx, x->model, o, &run);
  err = err == MBG_OK ? mbg_run_simulate(x->ctx, run) : err;
  err = err == MBG_OK ? mbg_run_gradient(x->ctx, run, how, gradient, NULL) : err;
  *spent = seconds() - begin;
  mbg_run_destroy(run);
  return err;
}

/* theory 0, section 11, of the first criterion */
static double error_of(const subject *x) {
  double most = 0, worst = 0;
  for (int i = 0; i < x->np; i++) {
    most = fmax(most, fabs(x->p[i] * x->exact[i]));
  }
  for (int i = 0; i < x->np; i++) {
    const double size = x->p[i] != 0 ? fabs(x->p[i]) : 1;
    worst = fmax(worst, fabs(x->gradient[i] - x->exact[i]) / (fabs(x->exact[i]) + most / size));
  }
  return worst;
}

static bool add_point(subject *x, const method *m, double at, curve *c) {
  mbg_run_options o;
  double least = INFINITY;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = m->formulation;
  o.integrator = m->integrator;
  *(m->integrator ? &o.tolerance : &o.step) = at;
  for (int i = 0; i < ROUNDS && (i == 0 || least < 2); i++) {
    double spent;
    if (gradient_by(x, &o, m->method, x->gradient, &spent) < 0) {
      printf("  %-22s %9.2e  %s\n", m->name, at, mbg_context_error(x->ctx));
      mbg_context_clear(x->ctx);
      return true;
    }
    least = fmin(least, spent);
  }
  mbg_context_clear(x->ctx);
  c->at[c->count] = at;
  c->error[c->count] = error_of(x);
  c->seconds[c->count] = least;
  printf("  %-22s %9.2e  error %9.2e  %9.3f ms\n", m->name, at, c->error[c->count], 1e3 * least);
  fflush(stdout);
  c->count++;
  return least < 1;
}

static void trace(subject *x, const method *m, curve *c) {
  double at = m->integrator ? m->first : x->span / 200;
  const double last = m->integrator ? m->last : x->span / 204800;
  for (int i = 0; i < POINTS && at > 0.99 * last; i++, at *= m->factor) {
    if (!add_point(x, m, at, c)) {
      break;
    }
  }
}

/* ---------------------------------------------------------------------- results */

/* seconds for an error: between the points around it, on logarithmic scales; NAN outside */
static double seconds_for(const curve *c, double error) {
  for (int i = 1; i < c->count; i++) {
    if (c->error[i - 1] >= error && c->error[i] <= error && c->error[i] < c->error[i - 1]) {
      const double part = log(error / c->error[i - 1]) / log(c->error[i] / c->error[i - 1]);
      return exp(log(c->seconds[i - 1]) + part * log(c->seconds[i] / c->seconds[i - 1]));
    }
  }
  return NAN;
}

static void print_equal(const curve *dop853, const curve *adams) {
  printf("equal error: time of adams / time of dop853\n");
  for (double error = 1e-5; error > 1e-12; error /= 10) {
    const double a = seconds_for(dop853, error), b = seconds_for(adams, error);
    if (isfinite(a) && isfinite(b)) {
      printf("  %7.0e  %6.2f\n", error, b / a);
    }
  }
}

static void write_results(const char *folder, const char *name, const curve *curves) {
  char path[512], title[128];
  cli_curve lines[METHODS];
  snprintf(path, sizeof(path), "%s/work-precision-%s.csv", folder, name);
  FILE *f = fopen(path, "w");
  if (!f) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fputs("method,step_or_tolerance,error,seconds\n", f);
  for (int k = 0; k < METHODS; k++) {
    const curve *c = &curves[k];
    for (int i = 0; i < c->count; i++) {
      fprintf(f, "\"%s\",%g,%.3g,%.4g\n", methods[k].name, c->at[i], c->error[i], c->seconds[i]);
    }
    lines[k] = (cli_curve){.name = methods[k].name, .count = c->count, .x = c->seconds, .y = c->error, .dots = true};
  }
  fclose(f);
  snprintf(path, sizeof(path), "%s/work-precision-%s.svg", folder, name);
  snprintf(title, sizeof(title), "%s: error of the gradient", name);
  const cli_panel panel = {.x_label = "time of simulation and gradient [s]",
                           .y_label = "relative error",
                           .log_x = true,
                           .log_y = true,
                           .ncurve = METHODS,
                           .curves = lines};
  if (cli_plot_write(path, title, &panel, 1) != 0) {
    exit(1);
  }
}

/* ---------------------------------------------------------------------- the program */

static void open_subject(subject *x, const char *name) {
  char path[512];
  mbg_run_options o;
  mbg_run *run = NULL;
  double start, end, spent;
  if (mbg_context_create(NULL, &x->ctx) < 0) {
    exit(1);
  }
  snprintf(path, sizeof(path), "%s/%s/model.json", MBG_GALLERY_DIR, name);
  check(x, mbg_model_load(x->ctx, path, &x->model));
  x->np = mbg_model_parameter_count(x->model);
  x->nc = mbg_model_criterion_count(x->model);
  const size_t size = (size_t)x->np * (size_t)x->nc + 1;
  x->p = calloc((size_t)x->np + 1, sizeof(double));
  x->exact = calloc(size, sizeof(double));
  x->gradient = calloc(size, sizeof(double));
  if (!x->p || !x->exact || !x->gradient) {
    exit(1);
  }
  for (int i = 0; i < x->np; i++) {
    x->p[i] = mbg_model_parameter_value(x->model, i);
  }
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = "qr";
  o.tolerance = 1e-13;
  check(x, mbg_run_create(x->ctx, x->model, &o, &run));
  x->span = mbg_run_end(run) - mbg_run_start(run);
  mbg_run_destroy(run);
  check(x, gradient_by(x, &o, MBG_METHOD_DIRECT, x->exact, &spent));
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: work_precision MODEL FOLDER\n");
    return 2;
  }
  subject x;
  curve curves[METHODS] = {0};
  open_subject(&x, argv[1]);
  printf("%s\n", argv[1]);
  for (int k = 0; k < METHODS; k++) {
    trace(&x, &methods[k], &curves[k]);
  }
  print_equal(&curves[1], &curves[2]);
  write_results(argv[2], argv[1], curves);
  mbg_model_destroy(x.model);
  mbg_context_destroy(x.ctx);
  free(x.p);
  free(x.exact);
  free(x.gradient);
  return 0;
}
