/* ranks: what processes of one search (mbg_ranks) hand to each other. A parcel is a sequence of bytes that one rank
   fills and the others empty: the same function names its parts in both directions. */
#ifndef MBG_PROBLEMS_RANKS_H
#define MBG_PROBLEMS_RANKS_H

#include "base/base.h"
#include "mbgrad/ranks.h"

typedef struct {
  mbg_context *ctx;
  char *data;
  size_t size, room, at;
  bool taking; /* parts are taken out, else they are put in */
  bool failed; /* there was no memory for a part, or it is not there */
} mbg__parcel;

/* The next part: it goes into the parcel, or comes from it. */
void mbg__parcel_bytes(mbg__parcel *p, size_t size, void *part);
void mbg__parcel_numbers(mbg__parcel *p, size_t n, double *x);

/* Filled by rank `from`, the parcel reaches all ranks: parts are taken out from the first one on. MBG_ERROR_MEMORY in
   all of them when it could not be filled. */
int mbg__parcel_share(const mbg_ranks *ranks, int from, mbg__parcel *p);

/* Empty, to be filled anew. */
void mbg__parcel_clear(mbg__parcel *p);
void mbg__parcel_free(mbg__parcel *p);

#endif
