/* event_columns: derivatives of a run with events, beside those of the steps (theory 7, section 5).

   A step that leads to an event, and the one that follows it, have lengths that depend on the state. Direct
   differentiation carries t' of the node and h' of the step beside the columns, and in a step to a guard g one more
   column, whose length alone changes; the adjoint carries cotangents of both, and in such a step that of the guard:

     t1' = -(g_x Y + g_p)/(g_x Y_h + g_t)            kappa = (hb + tb)/(hb_g + tb_g) */
#ifndef MBG_EVENT_EVENT_COLUMNS_H
#define MBG_EVENT_EVENT_COLUMNS_H

#include "event/event.h"
#include "model/design_columns.h"

/* ---------------------------------------------------------------------- direct differentiation */

typedef struct {
  mbg__events *ev; /* NULL: no events, and nothing below is used */
  const mbg_model *m;
  const mbg__design_columns *columns;
  int nparam;
  real *t, *h; /* t' of the node, h' of the step that leads to it                  (nparam + 1 each) */
  real *at;    /* t' where attributes are laid: that of the node, or of a stage     (nparam + 1) */
  real *g;     /* derivative of the guard, then dt                                  (nparam + 1) */
  real *dP;    /* of impulses                                                       (nevent x (nparam + 1)) */
} mbg__event_tangent;

/* Memory in the arena. */
int mbg__event_tangent_create(mbg_context *ctx, mbg__arena *arena, mbg__events *ev, const mbg_model *m,
                              const mbg__design_columns *columns, int nparam, mbg__event_tangent *out);
/* Attributes of column p into da (na), which is zero there: by the parameter, by time, by impulses; and zero again. */
void mbg__event_tangent_lay(const mbg__event_tangent *e, int p, real *da);
void mbg__event_tangent_clear(const mbg__event_tangent *e, int p, real *da);
/* ... by time and impulses alone, where da keeps the column of the parameter. */
void mbg__event_tangent_lay_times(const mbg__event_tangent *e, int p, real *da);
/* Before a step that ends at a firing (-1: at none): t, h and at, as if its end stayed. Returns the number of columns,
   one more than parameters when it ends at a guard. */
int mbg__event_tangent_enter(mbg__event_tangent *e, int firing, real *da);
/* After it: g becomes dt, by which the caller adds the last column to each; t, h and at follow. */
void mbg__event_tangent_meet(mbg__event_tangent *e);
/* The event: twists after it; w, v (nparam x nw) as in mbg__event_columns. Modes are those after it. */
int mbg__event_tangent_act(mbg_context *ctx, mbg__event_tangent *e, int firing, const mbg__state *before, const real *w,
                           real *v);
/* dy (n columns) += the columns times ga (na). */
void mbg__event_tangent_pull(const mbg__event_tangent *e, const mbg__design *design, int n, const real *ga, real *dy);

/* ---------------------------------------------------------------------- adjoint */

typedef struct {
  mbg__events *ev; /* NULL: no events */
  const mbg_model *m;
  int nc;
  real *tb;      /* of the time of the node                                         (nc + 1) */
  real *hb;      /* of the length of the step that follows it                       (nc + 1) */
  real *kappa;   /*                                                                 (nc) */
  real *Pb;      /* of an impulse                                                   (nc) */
  real *guard_a; /* of the guard by attributes                                      (na) */
} mbg__event_adjoint;

int mbg__event_adjoint_create(mbg_context *ctx, mbg__arena *arena, mbg__events *ev, const mbg_model *m, int nc,
                              mbg__event_adjoint *out);
/* What pulls left at the clock of psi_a (nc x na), and of guard_a, goes to tb. */
void mbg__event_adjoint_clock(mbg__event_adjoint *e, real *psi_a);
/* At the start of a step that ends at a firing (-1: at none), hb known: kappa, by which the caller subtracts the last
   column from each (0 without a guard), attributes; tb becomes that of the start. */
void mbg__event_adjoint_meet(mbg__event_adjoint *e, int firing, real *psi_a);
/* The event transposed: w, v (nc x nw) as in mbg__events_pull. */
int mbg__event_adjoint_act(mbg_context *ctx, mbg__event_adjoint *e, int firing, const mbg__state *before, real *w,
                           real *v, real *psi_a);

#endif
