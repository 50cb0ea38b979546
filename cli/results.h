/* results: CSV and HDF5 files of signals over time, numbers for programs. */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include "files.h"
#include "mbgrad/run.h"
#include "series.h"

#include <stdbool.h>
#include <stdio.h>

/* ---------------------------------------------------------------------- files */

/* Origin of the columns of a file. */
typedef struct {
  const mbg_model *model;
  const mbg_run *run;
  const double *parameters;
  const double *criteria;        /* NULL: not known */
  const struct cli_poses *poses; /* for HDF5 files; NULL: not kept */
} cli_origin;

/* By the end of the name: .csv, .h5 or .hdf5; "-": CSV to standard output. Exit status. */
int cli_series_write(const cli_series *series, const cli_origin *origin, const char *path);
/* Is that a name cli_series_write can write? Says so if not. */
int cli_series_path(const char *path);
/* An HDF5 file, which has poses, too? path may be NULL. */
bool cli_series_is_hdf5(const char *path);
/* A name in a row of a CSV file: one with a comma or a quote is quoted. */
void cli_csv_name(FILE *file, const char *name);

/* ---------------------------------------------------------------------- JSON */

/* A number that reads back as it is; null when not finite. */
void cli_json_number(FILE *file, double value);
/* "parameters" of the model with the values v: numbers, and arrays for vectors; as an object. */
void cli_json_by_parameter(const mbg_model *model, const double *v);
/* The object "work". */
void cli_json_work(const mbg_run *run);

#endif
