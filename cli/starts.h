/* starts: searches from several starts, each in a process of its own, their results as records of a folder. */
#ifndef CLI_STARTS_H
#define CLI_STARTS_H

#include "points.h"

/* How a start has ended: the first number of its row; less than 0: with this error of the library. */
enum { CLI_START_NOT_RUN = 0, CLI_START_ENDED = 1, CLI_START_INTERRUPTED = 2 };

/* What is searched. */
typedef struct {
  const char *kind; /* of the records: "optimize" */
  int n, jobs;      /* starts; processes at a time */
  int noutput;
  const char *const *outputs; /* their names                                       (noutput) */
  const mbg_run_options *run; /* of every simulation */
  size_t count;               /* numbers on which results depend, besides the model and the run */
  const double *numbers;      /*                                                   (count) */
  const char *restart;        /* stem of the files with evaluations; NULL: in the folder of records */
  /* In a process of its own: start k, whose evaluations go to `file`. How it has ended, with its outputs. */
  int (*search)(void *user, mbg_context *ctx, int k, const char *file, double *outputs);
  void *user;
} cli_search;

typedef struct {
  double *rows; /* how it has ended, its number, outputs          (n x (2 + noutput)) */
  char *folder; /* of temporary records, NULL: none */
  char *stem;   /* start k has its evaluations in STEM.k */
} cli_start_rows;

/* Runs all of them, or those of a part whose results are not in the folder of `record`, where they are recorded. Exit
   status; end it in either case. */
int cli_starts_run(cli_session *session, const cli_search *search, const cli_record_options *record,
                   cli_start_rows *out);
void cli_starts_end(cli_start_rows *rows);

double *cli_start_row(const cli_search *search, const cli_start_rows *rows, int k);
/* The file of a start. */
char *cli_start_file(const cli_start_rows *rows, int k);
/* Those that have ended, also with an error. */
int cli_starts_ended(const cli_search *search, const cli_start_rows *rows);
/* The end of a program that did a part of the starts: the exit status, with a message that counts. */
int cli_starts_part(const cli_search *search, const cli_start_rows *rows, const cli_record_options *record);
/* In the process of a start: is it to stop? */
bool cli_start_stops(const mbg_run_options *run);

#endif
