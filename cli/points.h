/* points: criteria, and perhaps gradients, at many parameter vectors: in threads that share one model, in parts that
   other processes and machines compute, and with results that are recorded in a folder one by one. */
#ifndef CLI_POINTS_H
#define CLI_POINTS_H

#include "mbgrad/records.h"
#include "point_table.h"
#include "run_options.h"

#define CLI_OPTIONS_PARTS                                                                                              \
  {"records", "FOLDER", false, "record every result in files of this folder: mbgrad merge FOLDER"}, {                  \
    "shard", "I/N", false, "with --records: compute only part I of N, as other programs compute the others"            \
  }
#define CLI_OPTIONS_RECORDS                                                                                            \
  CLI_OPTIONS_PARTS, { "resume", NULL, false, "with --records: compute what is missing there" }

/* --records, --shard and --resume. */
typedef struct {
  const char *folder; /* NULL: results are not recorded */
  int part, parts;    /* 1 .. parts */
  bool resume;
  bool quiet; /* warnings about what was found are told already, or by the first rank */
} cli_record_options;

int cli_record_take(const cli_args *args, cli_record_options *options);
/* Does this program compute the point? */
bool cli_record_own(const cli_record_options *options, int point);
/* Opens a folder. Without resume a folder with results of points that are to be computed is refused. Exit status. */
int cli_record_open(cli_session *session, const cli_record_options *options, const mbg_records_plan *plan,
                    mbg_records **out);
/* Results in a folder into the rows of a table with the same columns. */
void cli_record_rows(const mbg_records *records, const cli_point_table *table);

typedef struct {
  cli_run *run; /* model, options, nominal parameters */
  int points, jobs;
  cli_record_options record;
  void (*place)(const void *user, int point, double *parameters); /* changes nominal parameters to those of a point */
  const void *user;
  int ninput;
  const int *input; /* parameters that differ between points                       (ninput) */
  int ncriterion;
  const int *criterion; /* those that are kept                                     (ncriterion) */
  bool gradient;        /* derivatives by the inputs, too */
  bool ensemble;        /* several points at a time, in vectors, where the model permits; same numbers */
  /* Other outputs than criteria of a simulation, NULL: none; values into outputs (ncriterion). Status of the library.
     Their names (ncriterion). */
  int (*evaluate)(const void *user, mbg_context *ctx, const double *parameters, double *outputs);
  const char *const *names;
  cli_point_table table;
} cli_points;

/* kind: "sweep", of records. Fills the table; points that were not begun, and those of other parts, are not run. Ends
   in either case with cli_points_destroy. Exit status. */
int cli_points_run(cli_points *points, const char *kind);
void cli_points_destroy(cli_points *points);
bool cli_points_interrupted(const cli_points *points);
/* CLI_FAILED with a message when points are left, by an interruption or because a rank has not recorded them; what:
   "points". */
int cli_points_complete(const cli_points *s, const char *what);
/* The end of a program that computed a part, or that is not the first rank: the status, with a message that counts. */
bool cli_points_partial(const cli_points *points, int *status);

#endif
