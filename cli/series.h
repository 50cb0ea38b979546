/* series: signals over time as columns, from the nodes of a run or while it goes on. */
#ifndef CLI_SERIES_H
#define CLI_SERIES_H

#include "mbgrad/run.h"

#include <stdbool.h>

/* What a column shows at the start and the end, and its extremes with their times. */
typedef struct {
  double first, last, low, low_t, high, high_t;
} cli_range;

typedef struct {
  int rows, columns;
  const char **names; /* borrowed from the model             (columns) */
  int *signal;        /* index in the model                  (columns) */
  cli_range *range;   /*                                     (columns) */
  double *time;       /* NULL when rows are not kept         (rows) */
  double *values;     /* ... one column after the other      (columns x rows) */
  /* while nodes come */
  bool keep;
  int room, nodes;
  double interval, start;
  double node_time[2]; /* of the last node and the one before */
  double *node[2];     /* ... their values                    (columns) */
  double *sample;      /* a row                               (columns) */
} cli_series;

/* Signals of the simulated run: `list` ("a,b") or, when NULL, all that have a name. At the nodes, or every `interval`
   (> 0) by linear interpolation between them. Returns CLI_DONE, or CLI_BAD_INPUT with a message. */
int cli_series_make(cli_series *series, const mbg_model *model, const mbg_run *run, const char *list, double interval);
void cli_series_destroy(cli_series *series);

/* The same of nodes that come one after the other; keep false: rows are not kept, but counted, with their ranges. */
int cli_series_begin(cli_series *series, const mbg_model *model, const char *list, double interval, bool keep);
/* Where the values of the next node belong (columns); then the node; after the last one the end. */
double *cli_series_next(cli_series *series);
void cli_series_node(cli_series *series, double t, bool inner);
void cli_series_end(cli_series *series);

/* The list of signals alone: their number, or -1 with a message. *signal is to be freed. */
int cli_signals_choose(const mbg_model *model, const char *list, int **signal);

#endif
