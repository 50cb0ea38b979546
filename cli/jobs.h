/* jobs: work in several processes. */
#ifndef CLI_JOBS_H
#define CLI_JOBS_H

#include <stddef.h>

/* Does piece k of some work in a process of its own, at most `jobs` at a time: `work` fills its result (size bytes),
   which lies in results + k size afterwards. Results of processes that died are left as they are. In the process
   parent_died is true when its parent has ended. Returns the number of unfinished pieces, or -1 with a message. */
int cli_jobs_run(int pieces, int jobs, size_t size, void *results, void (*work)(void *user, int piece, void *result),
                 void *user);
int cli_jobs_parent_died(void);

#endif
