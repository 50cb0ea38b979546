#include "linearize_files.h"

#include "files.h"
#include "hdf5_put.h"
#include "plot.h"
#include "results.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "ABCD";
static const double turn = 6.283185307179586;

/* ---------------------------------------------------------------------- tables */

int cli_linear_path(const char *path) {
  if (strcmp(path, "-") != 0 && !cli_ends_with(path, ".csv") && !cli_ends_with(path, ".mtx") &&
      !cli_series_is_hdf5(path)) {
    return cli_bad_input("--out: '%s' ends neither with .csv, .h5 nor .mtx", path);
  }
  return cli_series_is_hdf5(path) ? cli_series_path(path) : CLI_DONE;
}

const char *cli_linear_row(const mbg_linearize *s, char which, int i) {
  return (which <= 'B' ? mbg_linearize_state(s, i) : mbg_linearize_output(s, i))->name;
}

const char *cli_linear_column(const mbg_linearize *s, char which, int j) {
  return (which == 'B' || which == 'D' ? mbg_linearize_input(s, j) : mbg_linearize_state(s, j))->name;
}

/* a line per entry: matrix, names, place, value, derivatives */
static int write_csv(const char *path, const mbg_linearize *s) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  fputs("matrix,row,column,of,by,value\n", f);
  for (int q = 0; q < 4; q++) {
    int rows = 0, columns = 0;
    const double *A = mbg_linearize_matrix(s, letters[q], &rows, &columns);
    for (int i = 0; i < rows * columns; i++) {
      fprintf(f, "%c,%d,%d,", letters[q], i / columns + 1, i % columns + 1);
      cli_csv_name(f, cli_linear_row(s, letters[q], i / columns));
      fputc(',', f);
      cli_csv_name(f, cli_linear_column(s, letters[q], i % columns));
      fprintf(f, ",%.17g\n", A[i]);
    }
  }
  return cli_file_close(f, path);
}

int cli_linear_mtx(const char *path, const double *A, int rows, int columns) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  fprintf(f, "%%%%MatrixMarket matrix array real general\n%d %d\n", rows, columns);
  for (int j = 0; j < columns; j++) {
    for (int i = 0; i < rows; i++) {
      fprintf(f, "%.17g\n", A[i * columns + j]);
    }
  }
  return cli_file_close(f, path);
}

/* NAME-A.mtx and so on */
static int write_matrix_market(const char *path, const mbg_linearize *s) {
  int status = CLI_DONE;
  for (int q = 0; q < 4 && status == CLI_DONE; q++) {
    int rows = 0, columns = 0;
    const double *A = mbg_linearize_matrix(s, letters[q], &rows, &columns);
    char *name = cli_format("%.*s-%c.mtx", (int)strlen(path) - 4, path, letters[q]);
    status = cli_linear_mtx(name, A, rows, columns);
    free(name);
  }
  return status;
}

#ifdef MBG_HDF5
static bool put_names(hid_t file, const char *name, const mbg_linearize *s, int count,
                      const mbg_linearize_name *(*get)(const mbg_linearize *, int)) {
  const char **names = cli_resize(NULL, (size_t)count + 1, sizeof(*names));
  for (int i = 0; i < count; i++) {
    names[i] = get(s, i)->name;
  }
  const bool ok = count == 0 || cli_hdf5_names(file, name, count, names);
  free((void *)names);
  return ok;
}

bool cli_linear_put_names(hid_t file, const mbg_linearize *s) {
  const mbg_linearize_summary *about = mbg_linearize_get_summary(s);
  return put_names(file, "states", s, about->states, mbg_linearize_state) &&
         put_names(file, "inputs", s, about->inputs, mbg_linearize_input) &&
         put_names(file, "outputs", s, about->outputs, mbg_linearize_output);
}

static bool put_linear(hid_t file, const void *user) {
  const mbg_linearize *s = user;
  const mbg_linearize_summary *about = mbg_linearize_get_summary(s);
  bool ok = cli_hdf5_text(file, "model", about->model) &&
            cli_hdf5_text(file, "at", mbg_linearize_at_name((int)about->at)) &&
            cli_hdf5_numbers(file, "time", 0, &about->time) && cli_linear_put_names(file, s);
  for (int q = 0; ok && q < 4; q++) {
    int rows = 0, columns = 0;
    const double *A = mbg_linearize_matrix(s, letters[q], &rows, &columns);
    if (rows > 0 && columns > 0) {
      ok = cli_hdf5_block(file, (const char[]){letters[q], 0}, 2, (const hsize_t[]){(hsize_t)rows, (hsize_t)columns}, A,
                          NULL);
    }
  }
  return ok;
}
#endif

int cli_linear_write(const char *path, const mbg_linearize *s) {
  const int status = cli_linear_path(path);
  if (status != CLI_DONE) {
    return status;
  }
#ifdef MBG_HDF5
  if (cli_series_is_hdf5(path)) {
    return cli_hdf5_make(path, put_linear, s);
  }
#endif
  return cli_ends_with(path, ".mtx") ? write_matrix_market(path, s) : write_csv(path, s);
}

/* ---------------------------------------------------------------------- Bode */

enum { POINTS = 400, CURVES_MAX = 16 };

/* two decades around the poles */
static void frequency_range(const mbg_linearize *s, double *from, double *to) {
  const int n = mbg_linearize_get_summary(s)->states;
  double *re = cli_resize(NULL, (size_t)n + 1, sizeof(double)), *im = cli_resize(NULL, (size_t)n + 1, sizeof(double));
  double low = INFINITY, high = 0;
  (void)mbg_linearize_poles(s, re, im);
  for (int i = 0; i < n; i++) {
    const double size = hypot(re[i], im[i]) / turn;
    low = size > 1e-6 ? fmin(low, size) : low;
    high = size > 1e-6 ? fmax(high, size) : high;
  }
  *from = isnan(*from) ? (high > 0 ? low / 10 : 0.01) : *from;
  *to = isnan(*to) ? (high > 0 ? high * 10 : 100) : *to;
  free(re);
  free(im);
}

/* magnitude and phase (deg, without jumps) of all responses: tables of curves x POINTS */
static void respond(cli_session *session, const mbg_linearize *s, const double *f, double *magnitude, double *phase) {
  const mbg_linearize_summary *about = mbg_linearize_get_summary(s);
  const int n = about->outputs * about->inputs;
  double *re = cli_resize(NULL, 2 * (size_t)n + 1, sizeof(double)), *im = re + n;
  for (int k = 0; k < POINTS; k++) {
    const bool ok = mbg_linearize_response(session->ctx, s, turn * f[k], re, im) == MBG_OK;
    for (int c = 0; c < n; c++) {
      double *at = phase + (size_t)c * POINTS;
      magnitude[(size_t)c * POINTS + (size_t)k] = ok ? hypot(re[c], im[c]) : NAN;
      at[k] = ok && hypot(re[c], im[c]) > 0 ? atan2(im[c], re[c]) * 360 / turn : NAN;
      if (k > 0 && isfinite(at[k]) && isfinite(at[k - 1])) {
        at[k] -= 360 * round((at[k] - at[k - 1]) / 360);
      }
    }
  }
  free(re);
}

int cli_bode_write(const char *path, cli_session *session, const mbg_linearize *s, double from, double to) {
  const mbg_linearize_summary *about = mbg_linearize_get_summary(s);
  const int n = about->outputs * about->inputs, shown = n < CURVES_MAX ? n : CURVES_MAX;
  if (n == 0) {
    return cli_bad_input("--bode: the linear model has no %s; choose some by --%s",
                         about->inputs ? "outputs" : "inputs", about->inputs ? "outputs" : "inputs");
  }
  double *f = cli_resize(NULL, POINTS, sizeof(double));
  double *magnitude = cli_resize(NULL, (size_t)n * POINTS, sizeof(double));
  double *phase = cli_resize(NULL, (size_t)n * POINTS, sizeof(double));
  cli_curve curves[2][CURVES_MAX] = {0};
  char *names[CURVES_MAX] = {0};
  frequency_range(s, &from, &to);
  for (int k = 0; k < POINTS; k++) {
    f[k] = from * pow(to / from, (double)k / (POINTS - 1));
  }
  respond(session, s, f, magnitude, phase);
  for (int c = 0; c < shown; c++) {
    names[c] = cli_format("%s / %s", mbg_linearize_output(s, c / about->inputs)->name,
                          mbg_linearize_input(s, c % about->inputs)->name);
    curves[0][c] = (cli_curve){.name = names[c], .count = POINTS, .x = f, .y = magnitude + (size_t)c * POINTS};
    curves[1][c] = (cli_curve){.name = NULL, .count = POINTS, .x = f, .y = phase + (size_t)c * POINTS};
  }
  const cli_panel panels[] = {
      {.y_label = "magnitude",
       .x_label = "frequency [Hz]",
       .log_x = true,
       .log_y = true,
       .ncurve = shown,
       .curves = curves[0]},
      {.y_label = "phase [deg]", .x_label = "frequency [Hz]", .log_x = true, .ncurve = shown, .curves = curves[1]}};
  char *title = cli_format("%s, frequency responses about the %s", about->model, mbg_linearize_at_name((int)about->at));
  const int status = cli_plot_write(path, title, panels, 2);
  for (int c = 0; c < shown; c++) {
    free(names[c]);
  }
  free(title);
  free(f);
  free(magnitude);
  free(phase);
  return status;
}

/* ---------------------------------------------------------------------- root locus */

enum { VALUES = 101 };

/* parts that are rounding beside the other part are 0 */
static void clean_poles(double *re, double *im, int n) {
  for (int i = 0; i < n; i++) {
    re[i] = fabs(re[i]) < 1e-10 * fabs(im[i]) ? 0 : re[i];
    im[i] = fabs(im[i]) < 1e-10 * fabs(re[i]) ? 0 : im[i];
  }
}

int cli_locus_write(const char *path, cli_session *session, const mbg_linearize_options *options, int parameter,
                    double from, double to) {
  const int np = mbg_model_parameter_count(session->model);
  mbg_linearize_options o = *options;
  double *p = cli_resize(NULL, (size_t)np, sizeof(double)), *re = NULL, *im = NULL, *at = NULL;
  int n = 0, status = CLI_DONE;
  memcpy(p, session->parameters, (size_t)np * sizeof(double));
  o.parameters = p;
  o.gradient = false;
  for (int k = 0; k < VALUES && status == CLI_DONE; k++) {
    mbg_linearize *s = NULL;
    p[parameter] = from + (to - from) * k / (VALUES - 1);
    status = cli_session_status(session, mbg_linearize_create(session->ctx, session->model, &o, &s));
    if (status == CLI_DONE) {
      n = mbg_linearize_get_summary(s)->states;
      re = cli_resize(re, (size_t)VALUES * (size_t)n + 1, sizeof(double));
      im = cli_resize(im, (size_t)VALUES * (size_t)n + 1, sizeof(double));
      (void)mbg_linearize_poles(s, re + (size_t)k * (size_t)n, im + (size_t)k * (size_t)n);
      clean_poles(re + (size_t)k * (size_t)n, im + (size_t)k * (size_t)n, n);
      at = cli_resize(at, (size_t)VALUES * (size_t)n + 1, sizeof(double));
      for (int i = 0; i < n; i++) {
        at[k * n + i] = p[parameter];
      }
    }
    mbg_linearize_destroy(s);
  }
  if (status == CLI_DONE) {
    char name[256];
    (void)mbg_model_parameter_name(session->model, parameter, name, sizeof(name));
    char *title = cli_format("%s, poles for %s from %g to %g", mbg_model_name(session->model), name, from, to);
    char *first = cli_format("%s = %g", name, from), *last = cli_format("%s = %g", name, to);
    const size_t end = (size_t)(VALUES - 1) * (size_t)n;
    const cli_curve curves[] = {
        {.name = "between", .count = VALUES * n, .x = re, .y = im, .dots = true, .no_line = true},
        {.name = first, .count = n, .x = re, .y = im, .dots = true, .no_line = true},
        {.name = last, .count = n, .x = re + end, .y = im + end, .dots = true, .no_line = true}};
    const cli_curve over[] = {{.name = "re", .count = VALUES * n, .x = at, .y = re, .dots = true, .no_line = true},
                              {.name = "im", .count = VALUES * n, .x = at, .y = im, .dots = true, .no_line = true}};
    const cli_panel panels[] = {
        {.x_label = "re [1/s]", .y_label = "im [1/s]", .high = 1.8, .ncurve = 3, .curves = curves},
        {.x_label = name, .y_label = "re [1/s]", .ncurve = 1, .curves = over},
        {.x_label = name, .y_label = "im [1/s]", .ncurve = 1, .curves = over + 1}};
    status = cli_plot_write(path, title, panels, 3);
    free(title);
    free(first);
    free(last);
  }
  free(p);
  free(re);
  free(im);
  free(at);
  return status;
}
