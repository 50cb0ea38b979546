/* Ranks (mbg_ranks) that are threads of a test. */
#ifndef SUPPORT_RANK_THREADS_H
#define SUPPORT_RANK_THREADS_H

#include "mbgrad/ranks.h"

#include <stddef.h>

typedef struct rank_meeting rank_meeting;

/* The first member of what a test knows of a rank. */
typedef struct {
  rank_meeting *place;
  int own, count;
} rank_seat;

/* For options: the ranks as this one sees them. */
mbg_ranks rank_seen_from(rank_seat *seat);

/* Calls run(rank) for each of `count` ranks, each in a thread of its own. ranks: an array of structures of `size`
   bytes, each with a rank_seat first, which is set here. */
void rank_threads_run(int count, void *ranks, size_t size, void *(*run)(void *rank));

#endif
