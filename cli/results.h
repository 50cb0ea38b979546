/* results: signals over time as columns, their CSV and HDF5 files, the final state, numbers for programs. */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include "files.h"
#include "mbgrad/run.h"

#include <stdbool.h>
#include <stdio.h>

/* ---------------------------------------------------------------------- columns */

typedef struct {
  int rows, columns;
  const char **names; /* borrowed from the model             (columns) */
  int *signal;        /* index in the model                  (columns) */
  double *time;       /*                                     (rows) */
  double *values;     /* one column after the other          (columns x rows) */
} cli_series;

/* Signals of the simulated run: `list` ("a,b") or, when NULL, all that have a name. At the nodes, or every `interval`
   (> 0) by linear interpolation between them. Returns CLI_DONE, or CLI_BAD_INPUT with a message. */
int cli_series_make(cli_series *series, const mbg_model *model, const mbg_run *run, const char *list, double interval);
void cli_series_destroy(cli_series *series);

/* The list of signals alone: their number, or -1 with a message. *signal is to be freed. */
int cli_signals_choose(const mbg_model *model, const char *list, int **signal);

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
