/* mbgrad: processes that work together on one search. */
#ifndef MBGRAD_RANKS_H
#define MBGRAD_RANKS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Processes that search together, such as the ranks of MPI. Each makes the same calls with the same model and options.
   Load cases of an optimization, or experiments of an identification, are spread over them, results are the same in all
   of them, and the search goes the way of a single process, to the last bit. Rank 0 reads and writes the restart
   file. */
typedef struct {
  int own, count; /* this process, of count */
  /* Data (bytes) of rank `from` reach every rank; each of them calls it. 0, or negative: a rank is lost. */
  int (*share)(void *user, int from, size_t bytes, void *data);
  void *user; /* first argument of share */
} mbg_ranks;

#ifdef __cplusplus
}
#endif

#endif
