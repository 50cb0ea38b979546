/* ranks: processes that do one piece of work together, and the queue from which they and their threads take it. The
   program is one rank (ranks.c); mbgrad-mpi has as many as mpirun starts (ranks_mpi.c). */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <stddef.h>

void cli_ranks_init(int *argc, char ***argv);
/* End of the program. */
void cli_ranks_end(void);
/* Ends all ranks: this one cannot go on, and others wait for it. One rank: nothing. */
void cli_ranks_abort(int status);

int cli_ranks_own(void); /* 0 writes the results */
int cli_ranks_count(void);

/* Every rank calls these. */
void cli_ranks_wait(void);       /* for all others */
int cli_ranks_worst(int status); /* the largest status of all */
/* Data (bytes) of rank `from` reach every rank; 0. As share of mbg_ranks. */
int cli_ranks_share(void *user, int from, size_t bytes, void *data);
void cli_queue_begin(void); /* a queue whose next number is 0 */
void cli_queue_end(void);   /* waits for all others */

/* The next number: each is handed out once, to any thread of any rank. */
int cli_queue_next(void);

#endif
