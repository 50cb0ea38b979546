/* What the continuous adjoints share: workspace and the pieces of a node. */
#ifndef MBG_FORMULATIONS_ALPHA_ALPHA_CONTINUOUS_H
#define MBG_FORMULATIONS_ALPHA_ALPHA_CONTINUOUS_H

#include "formulations/alpha/alpha_work.h"

/* one criterion's adjoint at a node: y, s and their rates (nw each) */
typedef struct {
  real *y, *s, *yd, *sd;
} mbg__adj_level;

typedef struct {
  mbg__alpha *a;
  mbg__arena arena;
  int nc;
  const mbg__criterion_seeds *seeds;
  real *psi_a;
  mbg__saddle saddle;
  int nodes;                    /* nodes since the end or a jump */
  double t1, t2;                /* times of the two later nodes */
  mbg__adj_level *l1, *l2;      /* adjoints there                               (nc) */
  mbg__adj_level *l0;           /* being computed                               (nc) */
  real *A_H, *A_v;              /* by the pattern of B */
  real *E, *W;                  /* blocks, and products                         (nbody x 36, pattern of K) */
  real *low;                    /* lower left block                             (pattern of B) */
  real *hw, *hv, *ha, *hl, *hp; /* gradient of the integrand               (nw, nw, nw, nrow, na) */
  real *sw, *sv, *sa, *sl, *sp; /* of the values at the node */
  real *x;                      /*                                              (nv + nrow) */
  real *z, *kappa;              /*                                              (nw, nrow) */
  real *pw, *pv, *pd, *pp;      /* pulled back                                 (nw, nw, nw, na) */
  real *ga;                     /* attributes are added here instead of hp, sp, pp: a node then costs as much as acts
                                   at it, not the number of attributes; NULL: not so         (na) */
  double omega, weight;         /* ... h_p times omega, products of z and kappa times weight */
  real *mu, *mu_kept;           /* the paper's form: multipliers, those of three nodes   (nrow, 3 x nc x nrow) */
  double mu_time[3];
} mbg__adj;

int mbg__adj_create(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a,
                    mbg__adj *s);
void mbg__adj_destroy(mbg__adj *s);

/* masked components of x (nw) = 0 */
void mbg__adj_mask(const mbg_model *m, real *x);

/* Gradients of integrand (h*) and values (s*) of criterion c at node n; true when there is a value. With ga, their
   parts by attributes go there. */
bool mbg__adj_seeds(mbg__adj *s, int c, int n);

/* z and kappa from x; their products with all derivatives of r and phidd in pw, pv, pd, and pp or ga. */
void mbg__adj_take_z(mbg__adj *s);
void mbg__adj_pull(mbg__adj *s);

/* [M B^T; B 0] (z, kappa) = (f, g), then the products. */
void mbg__adj_algebraic(mbg__adj *s, const real *f, const real *g);

/* A function of accelerations and multipliers: [M B^T; B 0] (z, kappa) = -(its derivatives, which change sign), then
   the products. */
void mbg__adj_fold(mbg__adj *s, real *by_vd, real *by_lambda);

/* out += c ad(v)^T y per body */
void mbg__adj_add_adT(const mbg__adj *s, const mbg__alpha_node *node, const real *y, real c, real *out);

/* out (nrow) = B' z = phid_H z + B ad(v) z; kappa and sa are scratch. */
void mbg__adj_rate_of_B(mbg__adj *s, const mbg__alpha_node *node, real *out);

/* Matrices, factors of [M B^T; B 0] and linearized signals at a node. */
int mbg__adj_matrices(mbg_context *ctx, mbg__adj *s, const mbg__alpha_node *node);

/* y and s eliminated: E = (c0 + ad(v))/c0^2 and W = (c0 M + C) E; then Q = [[W + K/c0^2, B^T], [low, 0]], factored. */
void mbg__adj_eliminate(mbg__adj *s, const mbg__alpha_node *node, double c0);
int mbg__adj_factor(mbg_context *ctx, mbg__adj *s, double c0, const real *low, const char *what);

/* The adjoints of the node become those of the later node. */
void mbg__adj_shift(mbg__adj *s, const mbg__alpha_node *node);
/* After the first node: psi_a -= w0^T y + v0'^T s. */
int mbg__adj_start(mbg_context *ctx, mbg__adj *s);

/* Can the papers' forms take the run? They follow no parameters that move a body out of its motions. */
int mbg__alpha_paper_check(mbg_context *ctx, const mbg__alpha *a, int nodes);

/* ---------------------------------------------------------------------- alpha_axle.c */

/* Wrenches y (nw) from body axes to those that the backward scheme keeps, or back; out += factor S y; the rates y1, y2
   of y become those of what is kept; nbody blocks D1 = gp - S, D2 = bp - 2 S D1 - S' - S^2. */
void mbg__axles_turn(const mbg__alpha *a, const mbg__alpha_node *node, bool back, real *y);
void mbg__axles_spin(const mbg__alpha *a, const mbg__alpha_node *node, real factor, const real *y, real *out);
void mbg__axles_rates(const mbg__alpha *a, const mbg__alpha_node *node, const real *y, real *y1, real *y2);
void mbg__axles_blocks(const mbg__alpha *a, const mbg__alpha_node *node, double gp, double bp, real *D1, real *D2);

#endif
