#include "transitions.h"

#include "cli.h"
#include "files.h"
#include "hdf5_put.h"
#include "linearize_files.h"
#include "linearize_tables.h"
#include "results.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- matrices */

/* matrix A to D of interval k */
static const double *matrix_of(const mbg_transitions *t, int k, char which, int *rows, int *columns) {
  const double *C = mbg_linearize_matrix(mbg_transitions_sample(t, k), which, rows, columns);
  return which <= 'B' ? mbg_transitions_matrix(t, k, which) : C;
}

static double time_of(const mbg_transitions *t, int k) {
  return mbg_linearize_get_summary(mbg_transitions_sample(t, k))->time;
}

/* ---------------------------------------------------------------------- tables */

static void print_tables(const mbg_transitions *t) {
  const mbg_transitions_summary *s = mbg_transitions_get_summary(t);
  char *title = cli_format("%s, transitions over %g s by %s, from t = %g s to %g s", s->model, s->interval,
                           s->formulation, s->start, time_of(t, s->count));
  cli_heading(title);
  free(title);
  printf("\n  %d interval%s, %d state%s, %d input%s, %d output%s\n", s->count, s->count == 1 ? "" : "s", s->states,
         s->states == 1 ? "" : "s", s->inputs, s->inputs == 1 ? "" : "s", s->outputs, s->outputs == 1 ? "" : "s");
  cli_linear_names(mbg_transitions_sample(t, 0));
  for (int k = 0; k < s->count; k++) {
    for (char q = 'A'; q <= 'D'; q++) {
      int rows, columns;
      const double *A = matrix_of(t, k, q, &rows, &columns);
      title = q <= 'B' ? cli_format("\n%c from %g s to %g s", q, time_of(t, k), time_of(t, k + 1))
                       : cli_format("\n%c at %g s", q, time_of(t, k));
      cli_linear_matrix(title, A, rows, columns);
      free(title);
    }
  }
}

/* ---------------------------------------------------------------------- files */

/* a line per entry, as those of a linear model, with the interval and its beginning */
static int write_csv(const char *path, const mbg_transitions *t) {
  const int count = mbg_transitions_get_summary(t)->count;
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  fputs("interval,t,matrix,row,column,of,by,value\n", f);
  for (int k = 0; k < count; k++) {
    const mbg_linearize *sample = mbg_transitions_sample(t, k);
    for (char q = 'A'; q <= 'D'; q++) {
      int rows, columns;
      const double *A = matrix_of(t, k, q, &rows, &columns);
      for (int i = 0; i < rows * columns; i++) {
        fprintf(f, "%d,%.17g,%c,%d,%d,", k, time_of(t, k), q, i / columns + 1, i % columns + 1);
        cli_csv_name(f, cli_linear_row(sample, q, i / columns));
        fputc(',', f);
        cli_csv_name(f, cli_linear_column(sample, q, i % columns));
        fprintf(f, ",%.17g\n", A[i]);
      }
    }
  }
  return cli_file_close(f, path);
}

/* NAME-A-0.mtx and so on */
static int write_matrix_market(const char *path, const mbg_transitions *t) {
  int status = CLI_DONE;
  for (int k = 0; k < mbg_transitions_get_summary(t)->count; k++) {
    for (char q = 'A'; q <= 'D' && status == CLI_DONE; q++) {
      int rows, columns;
      const double *A = matrix_of(t, k, q, &rows, &columns);
      char *name = cli_format("%.*s-%c-%d.mtx", (int)strlen(path) - 4, path, q, k);
      status = cli_linear_mtx(name, A, rows, columns);
      free(name);
    }
  }
  return status;
}

#ifdef MBG_HDF5
/* values of states or outputs at all samples */
static bool put_values(hid_t file, const char *name, const mbg_transitions *t, int width,
                       const mbg_linearize_name *(*get)(const mbg_linearize *, int)) {
  const int rows = mbg_transitions_get_summary(t)->count + 1;
  double *x = cli_resize(NULL, (size_t)rows * (size_t)width + 1, sizeof(double));
  for (int i = 0; i < rows * width; i++) {
    x[i] = get(mbg_transitions_sample(t, i / width), i % width)->value;
  }
  const hsize_t size[] = {(hsize_t)rows, (hsize_t)width};
  const bool ok = width == 0 || cli_hdf5_block(file, name, 2, size, x, NULL);
  free(x);
  return ok;
}

/* one matrix of all intervals */
static bool put_matrices(hid_t file, char which, const mbg_transitions *t) {
  const int count = mbg_transitions_get_summary(t)->count;
  int rows, columns;
  (void)matrix_of(t, 0, which, &rows, &columns);
  const size_t n = (size_t)rows * (size_t)columns;
  double *all = cli_resize(NULL, (size_t)count * n + 1, sizeof(double));
  for (int k = 0; k < count && n > 0; k++) {
    memcpy(all + (size_t)k * n, matrix_of(t, k, which, &rows, &columns), n * sizeof(double));
  }
  const hsize_t size[] = {(hsize_t)count, (hsize_t)rows, (hsize_t)columns};
  const bool ok = n == 0 || cli_hdf5_block(file, (const char[]){which, 0}, 3, size, all, NULL);
  free(all);
  return ok;
}

static bool put_transitions(hid_t file, const void *user) {
  const mbg_transitions *t = user;
  const mbg_transitions_summary *s = mbg_transitions_get_summary(t);
  double *times = cli_resize(NULL, (size_t)s->count + 1, sizeof(double));
  for (int k = 0; k <= s->count; k++) {
    times[k] = time_of(t, k);
  }
  bool ok = cli_hdf5_text(file, "model", s->model) && cli_hdf5_text(file, "formulation", s->formulation) &&
            cli_hdf5_numbers(file, "interval", 0, &s->interval) &&
            cli_linear_put_names(file, mbg_transitions_sample(t, 0)) &&
            cli_hdf5_column(file, "t", s->count + 1, times, "s") &&
            put_values(file, "x", t, s->states, mbg_linearize_state) &&
            put_values(file, "y", t, s->outputs, mbg_linearize_output);
  for (char q = 'A'; q <= 'D'; q++) {
    ok = ok && put_matrices(file, q, t);
  }
  free(times);
  return ok;
}
#endif

static int write_file(const char *path, const mbg_transitions *t) {
#ifdef MBG_HDF5
  if (cli_series_is_hdf5(path)) {
    return cli_hdf5_make(path, put_transitions, t);
  }
#endif
  return cli_ends_with(path, ".mtx") ? write_matrix_market(path, t) : write_csv(path, t);
}

/* ---------------------------------------------------------------------- the command */

static int print_result(cli_session *session, const cli_args *args, const mbg_transitions *t) {
  const char *out = cli_value(args, "out", 0);
  char *text;
  if (!cli_flag(args, "json")) {
    if (!out || strcmp(out, "-") != 0) {
      print_tables(t);
    }
    return MBG_OK;
  }
  const int result = mbg_transitions_json(session->ctx, t, &text);
  if (result == MBG_OK) {
    fputs(text, stdout);
    mbg_text_destroy(session->ctx, text);
  }
  return result;
}

int cli_transitions(cli_run *run, const cli_args *args, const mbg_linearize_options *options, double interval) {
  const char *out = cli_value(args, "out", 0);
  mbg_transitions *t = NULL;
  int status = cli_run_make(run);
  if (status == CLI_DONE) {
    status = cli_run_status(run, mbg_transitions_create(run->session.ctx, run->run, options, interval, &t));
  }
  if (status == CLI_DONE) {
    status = cli_run_status(run, print_result(&run->session, args, t));
  }
  if (status == CLI_DONE && out) {
    status = write_file(out, t);
  }
  mbg_transitions_destroy(t);
  return status;
}
