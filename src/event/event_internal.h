/* The object behind event.h. */
#ifndef MBG_EVENT_EVENT_INTERNAL_H
#define MBG_EVENT_EVENT_INTERNAL_H

#include "event/event.h"

struct mbg__events {
  mbg__arena arena;
  const mbg_model *m;
  mbg__system *sys;
  mbg__design *design;
  const double *marks; /* see mbg__events_reset */
  bool resumes;        /* see mbg__events_resume */
  const mbg__rank *rank;
  mbg__saddle *saddle;     /* [[M, B^T], [B, 0]], of the formulation or ... */
  mbg__saddle own;         /* ... made before the first run without one */
  bool given, left;        /* its factors are those of the next impact, of the last one */
  bool rigid;              /* M is constant: bodies are rigid, late rates are not there */
  real *M, *B;             /* values by the patterns of the system */
  mbg__sampling guards;    /* signals that are guards */
  const char **what;       /* of an impact: its words in messages                     (nevent) */
  mbg__sampling *gaps;     /* of an impact: base signals, rates, tangent              (nevent) */
  int *guard_signal;       /*                                                          (guards) */
  int *guard_of;           /* of an event: its place among the guards, -1: none        (nevent) */
  mbg__fn_work *functions; /* of `armed` */
  bool frozen;             /* see mbg__events_freeze */
  int nfiring, room;
  mbg__firing *firings;
  char *kept; /* impacts: see impact_kept.c                     (kept_room x kept_bytes) */
  int kept_room;
  size_t kept_bytes;
  int solved;                       /* firing whose impact is solved in vp, -1: none */
  int applied;                      /* firings whose modes and impulses the design has */
  bool *by_position;                /* rates of guards that need no accelerations            (nevent) */
  bool *armed;                      /* after them                                    (nevent) */
  bool *passed;                     /* has just fired, and no impact opens it again   (nevent) */
  bool *open;                       /* side of the present node                      (nevent) */
  bool *at_zero;                    /* an impact has just fired: its gap is 0        (nevent) */
  bool *closing;                    /* side of the trial is closed                   (nevent) */
  double *g, *gd;                   /* guards and rates at the present node, G > 0: open     (nevent each) */
  double *gt, *gdt;                 /* ... at the trial */
  bool rated, rated_t;              /* are gd and gdt known? */
  int unrated;                      /* nodes since they were */
  double *slope;                    /* |dg/dt| by values of the last step                    (nevent) */
  double *speed;                    /* |gd| where it was known last                          (nevent) */
  double length;                    /* of the trial */
  double lead;                      /* see mbg__events_lead; 1: nothing is said */
  double *gm, *gdm;                 /* ... inside it */
  double *largest, *range;          /* |g| since the last event, and in the run */
  double grazing;                   /* of the event found last */
  bool together;                    /* ... and another one happens at its time */
  double *last, *before, *interval; /* times of firings of each event, intervals between them */
  int *fired;                       /* number of firings of each event */
  real *y;                          /* signals of a sampling */
  real *one;                        /* attributes: the clock alone is 1              (na) */
  real *ga;                         /* scratch                                        (na) */
  /* of an impact, after solve */
  real *vp, *L;               /* twists after it, impulsive multipliers     (nw, nrow) */
  real *N, *D, *T;            /* rows of gap, impulse and sliding            (nw) */
  real *x0, *x1;              /* solutions                                  (nv + nrow) */
  real *f[6];                 /* scratch                                    (nw) */
  real *row[2];               /* scratch                                    (nrow) */
  real P, e, gap_t, rate;     /* impulse, restitution, explicit rate of the gap, rate before */
  real mu, th, th1, slip, vs; /* friction: coefficient, tanh(u/vs), its derivative by u/vs, u, vs */
  real Nx1;
  real *Fx, *Fg, *Fh, *scratch; /* of the function of a gap, at the inputs Fx */
  const mbg__fn *F;             /* ... this one, NULL: none yet */
  int ncolumn;                  /* columns that the following hold */
  real *columns;                /* of transposed impacts */
};

/* ---------------------------------------------------------------------- guards.c */

/* Guards and their rates at a state, positive on the open side; time events: NAN. */
int mbg__guards_at(mbg_context *ctx, mbg__events *ev, const mbg__state *state, double *g, double *gd);

/* ... values alone, without derivatives, where the system stands. */
int mbg__guard_values(mbg_context *ctx, mbg__events *ev, const mbg__state *state, double *g);

/* The signals of a sampling and their derivatives at a state; values into ev->y. */
int mbg__event_sample(mbg_context *ctx, mbg__events *ev, const mbg__sampling *what, const mbg__state *state);

/* ---------------------------------------------------------------------- gap.c */

/* gw (nw), gv (nw, may be NULL), ga (na) += gradient of c N u + ct gap_t + ctan T u at the frames of a state, u (nw)
   fixed; T u the sliding speed with twists u. */
int mbg__gap_pull(mbg_context *ctx, mbg__events *ev, int event, const mbg__state *state, const real *u, real c, real ct,
                  real ctan, real *gw, real *ga);

/* ---------------------------------------------------------------------- impact.c */

/* Solves the impact of an event at the state before it. */
int mbg__impact_solve(mbg_context *ctx, mbg__events *ev, int event, const mbg__state *before);

/* ---------------------------------------------------------------------- impact_kept.c */

/* Keeps the impact of firing k, just solved; it becomes the one solved last again, with its factors unless they are
   given; false: it is not kept. */
void mbg__impacts_forget(mbg__events *ev);
void mbg__impact_keep(mbg__events *ev, int k);
bool mbg__impact_recall(mbg__events *ev, int k);

#endif
