/* optimize_starts: an optimization from several starts, each in a process of its own. */
#ifndef CLI_OPTIMIZE_STARTS_H
#define CLI_OPTIMIZE_STARTS_H

#include "optimize_report.h"
#include "session.h"

/* Runs all of them, at most `jobs` at a time; each records its evaluations in a file of its own: FILE.0, FILE.1 ... for
   --restart FILE, else temporary ones. Afterwards *o replays the best one, *best. *starts (n) is to be freed. */
int cli_optimize_starts(const mbg_model *model, mbg_optimize_options *o, int n, int jobs, cli_start **starts,
                        int *best);
/* Removes temporary files. given: of --restart, or NULL. */
void cli_optimize_starts_end(mbg_optimize_options *o, int n, const char *given);

#endif
