#include "results.h"

#include "cli.h"
#include "hdf5_file.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- files */

static bool is_hdf5(const char *path) { return cli_ends_with(path, ".h5") || cli_ends_with(path, ".hdf5"); }

int cli_series_path(const char *path) {
  if (strcmp(path, "-") != 0 && !cli_ends_with(path, ".csv") && !is_hdf5(path)) {
    return cli_bad_input("--out: '%s' ends neither with .csv nor with .h5", path);
  }
#ifndef MBG_HDF5
  if (is_hdf5(path)) {
    return cli_bad_input("--out: this program was built without HDF5; '%s' can be written as .csv", path);
  }
#endif
  return CLI_DONE;
}

bool cli_series_is_hdf5(const char *path) { return path && is_hdf5(path); }

void cli_csv_name(FILE *f, const char *name) {
  if (!strpbrk(name, ",\"\n")) {
    fputs(name, f);
    return;
  }
  fputc('"', f);
  for (; *name; name++) {
    fputs(*name == '"' ? "\"\"" : (char[]){*name, 0}, f);
  }
  fputc('"', f);
}

static int write_csv(const cli_series *s, const char *path) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  fputs("t", f);
  for (int c = 0; c < s->columns; c++) {
    fputc(',', f);
    cli_csv_name(f, s->names[c]);
  }
  for (int i = 0; i < s->rows; i++) {
    fprintf(f, "\n%.15g", s->time[i]);
    for (int c = 0; c < s->columns; c++) {
      fprintf(f, ",%.15g", s->values[(size_t)c * (size_t)s->rows + (size_t)i]);
    }
  }
  fputc('\n', f);
  return cli_file_close(f, path);
}

int cli_series_write(const cli_series *s, const cli_origin *o, const char *path) {
  const int status = cli_series_path(path);
  (void)o;
#ifdef MBG_HDF5
  if (status == CLI_DONE && is_hdf5(path)) {
    return cli_hdf5_write(s, o, path);
  }
#endif
  return status == CLI_DONE ? write_csv(s, path) : status;
}

/* ---------------------------------------------------------------------- JSON */

void cli_json_number(FILE *f, double value) {
  char text[40];
  if (!isfinite(value)) {
    fputs("null", f);
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof(text), "%.*g", digits, value);
    if (strtod(text, NULL) == value) {
      break;
    }
  }
  fputs(text, f);
}

static void put_array(FILE *f, const double *v, int count) {
  fputc('[', f);
  for (int i = 0; i < count; i++) {
    fputs(i > 0 ? ", " : "", f);
    cli_json_number(f, v[i]);
  }
  fputc(']', f);
}

void cli_json_by_parameter(const mbg_model *model, const double *v) {
  putchar('{');
  for (int i = 0; i < mbg_model_parameter_group_count(model); i++) {
    const char *name;
    int first, count;
    (void)mbg_model_parameter_group(model, i, &name, &first, &count);
    fputs(i > 0 ? ", " : "", stdout);
    cli_json_string(name);
    fputs(": ", stdout);
    if (count > 0) {
      put_array(stdout, v + first, count);
    } else {
      cli_json_number(stdout, v[first]);
    }
  }
  putchar('}');
}

void cli_json_work(const mbg_run *run) {
  const mbg_run_work *w = mbg_run_get_work(run);
  printf("{\"steps\": %ld, \"newton_iterations\": %ld, \"factorizations\": %ld, \"recomputed_steps\": %ld, "
         "\"seconds_simulate\": %.6g, \"seconds_gradient\": %.6g, \"peak_bytes\": %.0f, "
         "\"drift_position\": %.3g, \"drift_velocity\": %.3g}",
         w->steps, w->newton_iterations, w->factorizations, w->recomputed_steps, w->seconds_simulate,
         w->seconds_gradient, w->peak_bytes, w->drift_position, w->drift_velocity);
}
