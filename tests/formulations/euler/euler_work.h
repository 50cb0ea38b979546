/* `euler`: semi-implicit Euler on frames, accelerations by index 1, with its exact tangent and adjoint:

     [M B^T; B 0] (vd_n, lambda_n) = -(r, gamma)(H_n, v_n)    v_{n+1} = v_n + h vd_n    H_{n+1} = H_n exp(h v_{n+1})

   First order. Constraints hold at the level of accelerations: positions and velocities drift with the order of the
   method. */
#ifndef EULER_WORK_H
#define EULER_WORK_H

#include "formulations/formulation.h"
#include "system/saddle.h"
#include "trajectory/march.h"

/* A node, seen in its block of memory. */
typedef struct {
  double *t, *h; /* h: step that led here, 0 at the start */
  mbg__frame *H; /* frames                       (nbody) */
  real *v, *vd;  /* twists, their rates          (nw) */
  real *lambda;  /* multipliers                  (nrow) */
  int *turns;    /* turn counters                (nturn) */
} mbg__euler_node;

typedef struct mbg__formulation_work {
  mbg__arena arena;
  const mbg_model *m;
  mbg__system *sys;
  mbg__start_work *start;
  const bool *keep; /* rows that are independent    (nrow) */
  int nused;
  const int *used;
  mbg__march *march;
  mbg__work_counts *counts; /* of the march */
  mbg__saddle saddle;       /* [[M, B^T], [B, 0]] */
  real *M, *B;              /* values by the patterns of the system */
  real *r, *gamma;          /* (nw), (nrow) */
  real *x;                  /* right-hand side and solution  (nv + nrow) */
  real *q;                  /* coordinates at the start of a step  (ncoord) */
} mbg__euler;

size_t mbg__euler_node_bytes(const mbg_model *m);
mbg__euler_node mbg__euler_view(const mbg_model *m, const void *block);

/* euler_forward.c */
extern const mbg__march_method mbg__euler_method;
/* The system at a node, linearized with its signals, and the factors of [M B^T; B 0]. */
int mbg__euler_at(mbg_context *ctx, mbg__euler *a, const mbg__euler_node *n);

/* euler_tangent.c, euler_adjoint.c */
int mbg__euler_tangent(mbg_context *ctx, mbg__euler *a, int (*take)(void *user, int node, const real *dy), void *user);
int mbg__euler_adjoint(mbg_context *ctx, mbg__euler *a, mbg_method method, int ncrit, const mbg__criterion_seeds *seeds,
                       real *psi_a);

#endif
