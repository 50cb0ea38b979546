/* jobs: work in several processes. */
#ifndef CLI_JOBS_H
#define CLI_JOBS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  int pieces, jobs; /* at most `jobs` at a time */
  size_t size;      /* bytes of a result */
  void *results;    /*                                           (pieces x size) */
  void (*work)(void *user, int piece, void *result);
  bool (*stop)(void *user); /* true: begins no further piece and sends SIGTERM to those under way */
  void *user;
} cli_jobs;

/* Does each piece of some work in a process of its own: `work` fills its result. Results of processes that died and of
   pieces that were not begun are left as they are. Returns the number of unfinished pieces, or -1 with a message. */
int cli_jobs_run(const cli_jobs *jobs);
/* In such a process: has its parent ended? */
bool cli_jobs_parent_died(void);

#endif
