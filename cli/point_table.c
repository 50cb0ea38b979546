#include "point_table.h"

#include "cli.h"
#include "files.h"
#include "hdf5_put.h"
#include "results.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

size_t cli_point_table_width(const cli_point_table *t) { return 1 + (size_t)t->ninput + (size_t)t->noutput; }

double *cli_point_table_row(const cli_point_table *t, int point) {
  return t->rows + (size_t)point * cli_point_table_width(t);
}

cli_point_counts cli_point_table_count(const cli_point_table *t) {
  cli_point_counts n = {0};
  for (int k = 0; k < t->points; k++) {
    const double status = *cli_point_table_row(t, k);
    n.done += status > 0;
    n.failed += status < 0;
    n.not_run += status == CLI_POINT_NOT_RUN;
    n.warned += status == CLI_POINT_WARNED;
  }
  return n;
}

/* ---------------------------------------------------------------------- CSV */

static const char *status_text(double status) {
  return status > 0 ? "ok" : status == CLI_POINT_NOT_RUN ? "not run" : "failed";
}

static void put_names(FILE *f, int n, const char *const *names) {
  for (int i = 0; i < n; i++) {
    cli_csv_name(f, names[i]);
    fputc(',', f);
  }
}

/* numbers that read back exactly; outputs of points that failed are empty */
static void put_row(FILE *f, const cli_point_table *t, const double *row) {
  const size_t inputs = 1 + (size_t)t->ninput, width = cli_point_table_width(t);
  for (size_t c = 1; c < width; c++) {
    if (c < inputs ? !isnan(row[c]) : row[0] > 0) {
      fprintf(f, "%.17g", row[c]);
    }
    fputc(',', f);
  }
  fprintf(f, "%s\n", status_text(row[0]));
}

static int write_csv(const cli_point_table *t, const char *path) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  put_names(f, t->ninput, t->inputs);
  put_names(f, t->noutput, t->outputs);
  fputs("status\n", f);
  for (int k = 0; k < t->points; k++) {
    put_row(f, t, cli_point_table_row(t, k));
  }
  return cli_file_close(f, path);
}

/* ---------------------------------------------------------------------- HDF5 */

#ifdef MBG_HDF5
/* columns first .. first + n of all rows */
static bool put_columns(hid_t file, const char *name, const cli_point_table *t, size_t first, int n) {
  const size_t points = (size_t)t->points, m = (size_t)n;
  double *x = cli_resize(NULL, points * m + 1, sizeof(double));
  for (size_t k = 0; k < points; k++) {
    for (size_t i = 0; i < m; i++) {
      x[k * m + i] = cli_point_table_row(t, (int)k)[first + i];
    }
  }
  const bool ok = cli_hdf5_block(file, name, 2, (const hsize_t[]){points, m}, x, NULL);
  free(x);
  return ok;
}

static bool put_table(hid_t file, const void *user) {
  const cli_point_table *t = user;
  const size_t inputs = (size_t)t->ninput;
  return cli_hdf5_text(file, "model", t->model) && cli_hdf5_text(file, "kind", t->kind) &&
         put_columns(file, "status", t, 0, 1) && cli_hdf5_names(file, "inputs", t->ninput, (const char **)t->inputs) &&
         put_columns(file, "points", t, 1, t->ninput) &&
         cli_hdf5_names(file, "outputs", t->noutput, (const char **)t->outputs) &&
         put_columns(file, "results", t, 1 + inputs, t->noutput);
}
#endif

int cli_point_table_write(const cli_point_table *t, const char *path) {
  if (!cli_series_is_hdf5(path)) {
    return write_csv(t, path);
  }
#ifdef MBG_HDF5
  return cli_hdf5_make(path, put_table, t);
#else
  return cli_bad_input("'%s': this program was built without HDF5; name a .csv file", path);
#endif
}
