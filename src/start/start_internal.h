/* The workspace of the start. Unknowns of the KKT systems: free velocities (nv), a multiplier per row (nrow; those of
   dropped rows are held at 0), a multiplier per equation of the pins. */
#ifndef MBG_START_START_INTERNAL_H
#define MBG_START_START_INTERNAL_H

#include "start/start.h"
#include "system/saddle.h"
#include "system/system_internal.h"

/* One equation of a pin. */
typedef struct {
  int pin;
  int target; /* attribute: the value asked for */
  int pair;
  int signal; /* signal of velocity level (linear in the twist), or -1: the term or its rate */
  mbg__term term;
  bool active;  /* false: depends on other equations (and agrees with them) */
  bool related; /* is such an equation, or one that it depends on */
} mbg__equation;

/* A saddle system with the equations of pins as further rows. */
typedef struct {
  mbg__saddle saddle;
  int n, npin;
  real *x;        /* right-hand side and solution                     (n) */
  real *diagonal; /* scratch                                          (nrow) */
} mbg__kkt;

struct mbg__start_work {
  mbg__arena arena;
  mbg__arena rank_arena;
  mbg__system *sys;
  const mbg_model *m;
  mbg__start_result result;
  bool has_rank;

  bool indifferent; /* equilibria that are not alone */

  /* a given state */
  bool given;
  double given_t;
  mbg__frame *given_H;
  real *given_v;
  int *given_turns;

  int nvalue, nrate;
  mbg__equation *values, *rates;
  mbg__kkt position, rate;
  real *K, *B;                        /* values by the patterns of the system */
  real *k;                            /* multipliers of rows, positions              (nrow) */
  real *kp;                           /* ... of pins                                 (nvalue) */
  real *kv, *kvp;                     /* ... of the rates                            (nrow, nrate) */
  real *phi;                          /*                                             (nrow) */
  real *pin;                          /* residuals of the equations of pins          (max(nvalue, nrate)) */
  vec6 *gradient;                     /* of these on the relative variation          (npin) */
  vec6 *d;                            /* log(Hbar^-1 H)                              (nbody) */
  mat6 *metric;                       /* derivative of the metric's gradient by d: D2(d, W d) + T^-T(d) W   (nbody) */
  mat6 *block;                        /* ... times T^-1(d): by w                     (nbody) */
  real *full, *full2, *full3, *full4; /* scratch                       (nw) */
  real *row, *row2;                   /* scratch                                     (nrow) */
  mbg__frame *trial, *before;         /*                                             (nbody) */
  real *angles, *angles_before;       /* coordinates of the last state of the search (ncoord) */
  bool angles_known;
  double *W; /* metric of each component                    (nw) */
};

/* start_kkt.c */
int mbg__kkt_create(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, const mbg__equation *eq, int neq);
void mbg__kkt_destroy(mbg__kkt *kkt);
/* Fills from the values w->K (NULL: 0) plus block-diagonal `body` (nbody x 36) or the diagonal metric times `diagonal`, w->B and
   the gradients of the equations; rows not kept (keep NULL: all kept) and inactive equations become x = 0. */
typedef struct {
  const real *K;
  mat6 *body;
  double diagonal;
  const real *B;
  const bool *keep;
  double delta; /* relative to the square of a row's length in the metric */
  const mbg__equation *eq;
  vec6 *gradient; /* of each equation on its pair's relative variation */
} mbg__kkt_fill;
int mbg__kkt_factor(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, const mbg__kkt_fill *fill, const char *what);

/* start.c: H exp(step x) on the free velocities x (nv); right-hand sides -phi, of the pins, too */
void mbg__start_retract(const mbg__start_work *w, const mbg__frame *H, double step, const real *x, mbg__frame *out);
/* The solution of `position` times step: frames and multipliers of the result. */
void mbg__start_take_step(mbg__start_work *w, double step);
void mbg__start_right_side(mbg__start_work *w, mbg__kkt *kkt, const bool *keep, const mbg__equation *eq);

/* start_equilibrium.c: frames and multipliers k of the static equilibrium near result.H, and the factors there in `position` */
int mbg__start_equilibrium(mbg_context *ctx, mbg__start_work *w);

/* start_derivative.c (and start.c): gradient rows of equations, wrenches they add to their pairs */
void mbg__equation_value(const mbg__start_work *w, const mbg__equation *e, bool rate, real *value, vec6 gradient);
void mbg__equation_inject(mbg__start_work *w, const mbg__equation *e, real k);

#endif
