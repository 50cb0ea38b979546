/* slurm: a command whose points are parts of a job array. */
#ifndef CLI_SLURM_H
#define CLI_SLURM_H

#include "points.h"

#define CLI_OPTIONS_SLURM                                                                                              \
  {"slurm", "N", false,                                                                                                \
   "with --records: write FOLDER/submit.sh, a Slurm job array of N parts, and a job that merges"},                     \
  {                                                                                                                    \
    "submit", NULL, false, "with --slurm: submit it"                                                                   \
  }

/* Was --slurm given? Then writes the scripts, and submits them: *status is the exit status. */
bool cli_slurm(const cli_args *args, const cli_record_options *record, int points, int *status);

#endif
