/* case_work: what a search does with each of its cases (load cases, experiments): in threads of this process, and in
   the ranks among which the cases are spread (mbg_ranks). Every rank goes the same way, evaluates its own cases and
   gets the results of the others; sums over the cases are formed by each of them, in the order of the cases. */
#ifndef MBG_PROBLEMS_CASE_WORK_H
#define MBG_PROBLEMS_CASE_WORK_H

#include "base/base.h"
#include "problems/ranks.h"
#include "problems/record.h"

#include <stdint.h>

typedef struct {
  mbg_context *ctx; /* its own, for its thread */
  const char *run;  /* its name in messages; NULL: there is one case */
  int *status;      /* of its last evaluation */
} mbg__work_case;

typedef struct {
  int count, threads;
  const mbg_ranks *ranks; /* NULL: one process */
  mbg__work_case *cases;  /* (count) */
  void *user;             /* first argument of: */
  void (*evaluate)(void *user, const void *stage, int k);
  /* results of case k into a parcel, or out of it: what other ranks need to know */
  void (*results)(void *user, const void *stage, int k, mbg__parcel *p);
  /* a sum over what ranks have in common when they evaluate */
  uint64_t (*sum)(const void *user);
  mbg__record *record; /* the restart file, of rank 0 */
  bool recording;      /* evaluations are recorded */
  bool replaying;      /* evaluations that were recorded are left */
  int replayed;        /* evaluations that were found there */
} mbg__case_work;

/* Does this rank evaluate case k? */
bool mbg__work_is_own(const mbg__case_work *w, int k);

/* Evaluates every case and hands messages over, errors alone or (all) notes, too. *status: the first one that is not
   good, in the order of the cases, one that no step of an optimizer cures before others. Negative when ranks are lost
   or not at the same point. */
int mbg__work_evaluate(mbg_context *ctx, mbg__case_work *w, const void *stage, bool all, int *status);

/* Does a rank say so? */
bool mbg__work_any(mbg_context *ctx, const mbg__case_work *w, bool own);

/* The restart file (record.h): its head; the next evaluation; another one. path NULL: none. */
int mbg__work_open_record(mbg_context *ctx, mbg__case_work *w, const char *path, const char *head, bool resume);
void mbg__work_close_record(mbg__case_work *w);
int mbg__work_recorded(mbg_context *ctx, mbg__case_work *w, char kind, int n, const double *x, int count,
                       double *values, int *status, bool *found);
int mbg__work_add_record(mbg_context *ctx, mbg__case_work *w, char kind, int n, const double *x, int count,
                         const double *values, int status);

#endif
