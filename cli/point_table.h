/* point_table: a row for each of many points: inputs, outputs, status. */
#ifndef CLI_POINT_TABLE_H
#define CLI_POINT_TABLE_H

#include <stddef.h>

/* Status of a point; 0: not run; an error of the library is negative. */
enum { CLI_POINT_NOT_RUN = 0, CLI_POINT_DONE = 1, CLI_POINT_WARNED };

typedef struct {
  const char *model; /* its name */
  const char *kind;  /* "sweep" */
  int points, ninput, noutput;
  const char *const *inputs;  /* names of columns                     (ninput) */
  const char *const *outputs; /*                                      (noutput) */
  double *rows;               /* status, inputs, outputs; NAN: an empty cell     (points x width) */
} cli_point_table;

size_t cli_point_table_width(const cli_point_table *table);
double *cli_point_table_row(const cli_point_table *table, int point);
/* How many points have outputs, failed, and have warnings. */
typedef struct {
  int done, failed, not_run, warned;
} cli_point_counts;
cli_point_counts cli_point_table_count(const cli_point_table *table);

/* By the end of the name: .h5 or .hdf5, else CSV; "-": CSV to standard output. The same rows are the same bytes. Exit
   status. */
int cli_point_table_write(const cli_point_table *table, const char *path);

#endif
