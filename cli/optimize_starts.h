/* optimize_starts: an optimization from several starts, each in a process of its own. */
#ifndef CLI_OPTIMIZE_STARTS_H
#define CLI_OPTIMIZE_STARTS_H

#include "optimize_report.h"
#include "starts.h"

typedef struct {
  cli_start *list; /*                                            (n) */
  int best;        /* the lowest feasible one; -1: none could be simulated */
  int ended;       /* those that were not interrupted */
  char *file;      /* record of the best one */
  bool part;       /* only a part of them was to be done: there is no best one */
  cli_start_rows rows;
} cli_starts;

/* Runs all of them, at most `jobs` at a time, or those of a part whose results are not in the folder of `record`, where
   they are recorded. Each records its evaluations in a file of its own: FILE.0, FILE.1 ... for --restart FILE, in the
   folder, else in a temporary one. An interruption keeps what each has reached. Afterwards *o replays the best one; of
   a part, a message has said what was done. End it in either case. */
int cli_optimize_starts(cli_session *session, mbg_optimize_options *o, int n, int jobs,
                        const cli_record_options *record, cli_starts *starts);
void cli_optimize_starts_end(cli_starts *starts);

#endif
