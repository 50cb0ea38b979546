/* The object behind march.h. */
#ifndef MBG_TRAJECTORY_MARCH_INTERNAL_H
#define MBG_TRAJECTORY_MARCH_INTERNAL_H

#include "event/event.h"
#include "trajectory/march.h"
#include "trajectory/store.h"

/* steps from `first` on, up to the next part, have one length */
typedef struct {
  int first;
  double h;
} mbg__march_part;

struct mbg__march {
  mbg_allocator allocator;
  mbg__run_plan plan;
  mbg__march_method method;
  void *user;
  mbg__store store;
  int grid_steps; /* planned steps of a fixed grid */
  int nstep;      /* planned (fixed) or accepted (controlled) */
  int room;       /* steps that the arrays hold */
  real *h;        /* controlled steps: step n leads to node n      (nstep + 1) */
  int npart;
  mbg__march_part *parts; /* fixed steps                                   (npart) */
  char *last;             /* node of the last run */
  int *fired;             /* events: firings before a node or at it       (nstep + 1) */
  int nkept;              /* events: steps of the grid of frozen runs, 0: none */
  double *kept;           /* ... their ends                                (nkept + 1) */
  char *block[3];         /* events: present node, trial, scratch */
  real *v;                /* events: twists                             (nw) */
  real *row;              /* values of one node                            (nused + npose) */
  mbg__nodes nodes;
  mbg__work_counts counts;
};

/* ---------------------------------------------------------------------- march.c */

static inline real mbg__march_moment(const char *node) { return ((const mbg__node_head *)(const void *)node)->t; }
static inline double mbg__march_time(const char *node) { return re(mbg__march_moment(node)); }

/* Room for so many steps. */
int mbg__march_reserve(mbg_context *ctx, mbg__march *m, int steps);
/* The planned length of step n of a fixed grid. */
double mbg__march_length(const mbg__march *m, int n);
/* One trial of length h; a step that does not converge has an infinite error. */
int mbg__march_try(mbg_context *ctx, mbg__march *m, const char *from, real h, char *to, double *error);
/* The length of the next attempt under error control, and the one after a step with this error. */
double mbg__march_attempt(double h, double left);
double mbg__march_next_length(double h, double error, double growth);
/* The tolerance cannot be met from a node on. */
int mbg__march_no_headway(mbg_context *ctx, mbg__march *m, const char *from, double h, int refused, bool said);
/* Node n of the run: recorded, stored, watched. */
int mbg__march_commit(mbg_context *ctx, mbg__march *m, const char *node, int n);

/* ---------------------------------------------------------------------- march_events.c */

int mbg__march_prepare_events(mbg_context *ctx, mbg__march *m, int nw);
/* nodes: those of the last run, which a frozen one looks at. */
int mbg__march_run_events(mbg_context *ctx, mbg__march *m, int nodes);
/* Node n from node n - 1, exactly as the run computed it. */
int mbg__march_again_events(mbg_context *ctx, mbg__march *m, int n, const void *from, void *to);

#endif
