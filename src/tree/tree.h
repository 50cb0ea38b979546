/* tree: a model in joint coordinates on a spanning tree (theory 0, section 9; theory 5, sections 1-4).

   Links are ordered parents first. H = H_p hP E hC^-1 with the frames hP on the parent and hC on the body. E moves in a
   subgroup of SE(3) whose twists are components of the joint's own twist: E^-1 dE/dt = (S w)~, with unit vectors as
   columns of S and increments E <- E exp(S d). A body without such a joint is free in the components of its mask, hP =
   hC = 1. Joints that do not move in a subgroup remain rows, whole or in part: universal = spherical + R12, screw =
   cylindrical + advance; point-on-line, point-on-plane and distance are rows alone.

     v = X v_p + s,  s = Sb w      vd = X vd_p + Sb a + ad(v) s      X = Ad(Rel^-1), Rel = hP E hC^-1, Sb = Ad(hC) S
     f = F + sum over children X^T f      E1 = Sb^T f = M a + Phi_z^T lambda - Q

   F is the residual of the bodies (system/system.h). Derivatives go through E, w, a, lambda and the attributes: the
   recursions below carry directions down and cotangents up, so that elements need no code for trees. Cost: linear in
   the number of bodies. */
#ifndef MBG_TREE_TREE_H
#define MBG_TREE_TREE_H

#include "start/rank.h"
#include "system/system.h"

typedef struct {
  int body;    /* of the model */
  int parent;  /* link, -1: the ground */
  int joint;   /* of the model, -1: free */
  int side;    /* end of the joint that the body is: 1 B (E = G), 0 A (E = G^-1) */
  int P, C;    /* markers of hP and hC, -1: the frame of the body itself */
  bool plain;  /* hP and hC have the markers' origins and the axes of the bodies (planar motions) */
  bool simple; /* motions commute */
  int first;   /* first coordinate */
  int nz, comp[6];
} mbg__link;

/* S x: the components of a link's coordinates as a twist; x (n) NULL: 0. */
static inline void mbg__link_twist(const mbg__link *l, const real *x, real out[6]) {
  v6_zero(out);
  for (int i = 0; x && i < l->nz; i++) {
    out[l->comp[i]] = x[l->first + i];
  }
}

typedef struct mbg__tree mbg__tree;

/* rank: the start's choice of rows. The tree holds the rows of its own joints; redundant rows are dropped among the
   others. The system is referenced and used as scratch. */
int mbg__tree_create(mbg_context *ctx, mbg__system *sys, const mbg__rank *rank, mbg__tree **out);
void mbg__tree_destroy(mbg__tree *t);

mbg__system *mbg__tree_system(const mbg__tree *t);
int mbg__tree_size(const mbg__tree *t);                   /* coordinates */
int mbg__tree_rows(const mbg__tree *t, const int **rows); /* constraint rows: not held by the tree */
const mbg__link *mbg__tree_links(const mbg__tree *t);     /* nbody */

/* Takes hP, hC from the design: after the parameters have changed. */
void mbg__tree_refresh(mbg__tree *t);

/* ---------------------------------------------------------------------- states */

/* Reads joint frames by link (nbody) and rates (n) from bodies whose frames H (nbody) and twists v (nw) satisfy the
   joints of the tree. */
void mbg__tree_read(mbg__tree *t, const mbg__frame *H, const real *v, mbg__frame *E, real *w);
/* Back again: frames and twists of the bodies. The state of a tree with modal bodies is lost. */
void mbg__tree_frames(mbg__tree *t, const mbg__frame *E, const real *w, mbg__frame *H, real *v);
/* Variations of the joint frames, e (6 per link), and rates, dw (n), in a direction (w, v', da). After an update at (E,
   w). */
void mbg__tree_read_push(mbg__tree *t, const real *w, const real *dv, const real *da, real *e, real *dw);
/* Transposed: adds to gw, gv (nw), ga (na). */
void mbg__tree_read_pull(mbg__tree *t, const real *ge, const real *gw_joint, real *gw, real *gv, real *ga);

typedef struct {
  real t;
  const mbg__frame *E; /* joint frames                      (nbody, by link) */
  const real *w;       /* rates                             (n) */
  const real *a;       /* their rates, NULL: 0              (n) */
  const real *q;       /* not NULL: F = M J q + B^T lambda instead of the whole residual   (n) */
  const real *lambda;  /* of the constraint rows, NULL: 0   (rows) */
  const int *turns;
  /* Sets E of a link, in threads, before it is read; NULL: E is set. Only with mbg__tree_is_cut. */
  void (*make)(void *user, int link);
  void *maker;
} mbg__tree_state;

/* Rigid links of a large tree are placed by pieces. */
bool mbg__tree_is_cut(const mbg__tree *t);

/* out = E exp(S d) for all links. */
void mbg__tree_move(const mbg__tree *t, const mbg__frame *E, const real *d, mbg__frame *out);

/* Updates leave out late rates of states (mbg__system_late). */
void mbg__tree_leave_late(mbg__tree *t);
/* Frames, twists and rates of the bodies, then the system at them (with q: the constraints alone). Quantities that
   depend on E alone are kept while E stays the same. */
int mbg__tree_update(mbg_context *ctx, mbg__tree *t, const mbg__tree_state *state);
/* After an update with q, and linearize: the same with other q (n) and lambda (rows), linearized. */
void mbg__tree_weigh(mbg__tree *t, const real *q, const real *lambda);
/* Frames, twists and rates of the last update as a state of the system, without lambda. */
mbg__state mbg__tree_bodies(const mbg__tree *t);
/* After update; outputs may be NULL: E1 (n), phi, phid, phidd (rows). */
void mbg__tree_residual(mbg__tree *t, real *E1, real *phi, real *phid, real *phidd);

/* The redundant row that is violated most, after mbg__tree_residual, -1: there is none. */
int mbg__tree_dropped(const mbg__tree *t, double *violation);

/* ---------------------------------------------------------------------- derivatives */

int mbg__tree_linearize(mbg_context *ctx, mbg__tree *t);

/* A direction; NULL: 0. */
typedef struct {
  const real *e;          /* of joint frames, dE = E e~: all six components     (6 per link) */
  const real *dw, *da;    /* of rates and their rates                           (n) */
  const real *dq;         /*                                                    (n) */
  const real *dlambda;    /*                                                    (rows) */
  const real *attributes; /*                                                    (na) */
} mbg__tree_direction;

/* Bodies: w, dv, dvd (nw each, any may be NULL) in a direction. After update. */
void mbg__tree_kin_push(mbg__tree *t, const mbg__tree_direction *d, real *w, real *dv, real *dvd);
/* Transposed: adds to ge (6 per link), gw, ga (n), gattr (na); any may be NULL. */
void mbg__tree_kin_pull(mbg__tree *t, const real *w, const real *dv, const real *dvd, real *ge, real *gw, real *ga,
                        real *gattr);

/* Directional derivatives of the residual: after mbg__tree_residual (E1 computed) and linearize. */
void mbg__tree_push(mbg__tree *t, const mbg__tree_direction *d, real *dE1, real *dphi, real *dphid, real *dphidd);
/* Transposed: adds the gradient of mu.E1 + k0.phi + k1.phid + k2.phidd; all may be NULL. */
typedef struct {
  const real *mu;
  const real *k0, *k1, *k2;
} mbg__tree_weights;
typedef struct {
  real *e, *w, *a, *q, *attributes;
  real *lambda; /* by multipliers: the rows of Phi_z mu, set and not added to */
} mbg__tree_gradient;
void mbg__tree_pull(mbg__tree *t, const mbg__tree_weights *k, const mbg__tree_gradient *g);

/* ---------------------------------------------------------------------- matrices */

/* Sparse systems over coordinates and constraint rows, one pattern for all. */
typedef struct {
  mbg__csc A;
  mbg__klu *klu;
  int *slots;                            /* of the blocks of the system, link by link              */
  int *row_slot;                         /* lower left, then upper right, of the rows' blocks       */
  int *diagonal;                         /* of the rows                                             */
  struct mbg__tree_recursion *recursion; /* instead of all this, NULL: none */
} mbg__tree_matrix;

int mbg__tree_matrix_create(mbg_context *ctx, mbg__tree *t, mbg__klu_mode mode, mbg__tree_matrix *out);
/* The same system without A where elimination along the tree (tree_recursion.h) suits and costs less, else as above. */
int mbg__tree_matrix_create_recursive(mbg_context *ctx, mbg__tree *t, mbg__klu_mode mode, mbg__tree_matrix *out);
void mbg__tree_matrix_destroy(mbg__tree_matrix *x);

/* [[M + h/2 C + h^2/4 K T, Phi_z^T], [Phi_z T, -eps]]: the step of length h with increment D and its tangent map T; eps
   (rows) NULL: 0. After linearize, with E1 computed. */
void mbg__tree_matrix_step(mbg__tree *t, mbg__tree_matrix *x, real h, const real *D, const mbg__part *eps);
/* [[M, Phi_z^T], [Phi_z, -eps]]; eps (rows) NULL: 0. After update. */
void mbg__tree_matrix_mass(mbg__tree *t, mbg__tree_matrix *x, const mbg__part *eps);
/* out (rows): the diagonal of Phi_z M^-1 Phi_z^T over motions that satisfy the hard rows (rows); 0 for these. After
   update; x is scratch. */
int mbg__tree_row_masses(mbg_context *ctx, mbg__tree *t, mbg__tree_matrix *x, const bool *hard, mbg__part *out);
/* A singular system is reported as "WHAT: the system is singular (look at body '...')". */
int mbg__tree_matrix_factor(mbg_context *ctx, mbg__tree *t, mbg__tree_matrix *x, const char *what);
/* tree_factors.c. B (n + rows, nrhs columns) becomes the solutions, of the transposed system with _T. */
void mbg__tree_matrix_solve(const mbg__tree *t, mbg__tree_matrix *x, real *B, int nrhs);
void mbg__tree_matrix_solve_T(const mbg__tree *t, mbg__tree_matrix *x, real *B, int nrhs);
/* Forgetting pivots, and copies of factors, as of mbg__klu. */
void mbg__tree_matrix_thaw(mbg__tree_matrix *x);
size_t mbg__tree_matrix_bytes(const mbg__tree_matrix *x);
bool mbg__tree_matrix_keep(const mbg__tree_matrix *x, void *out);
void mbg__tree_matrix_recall(mbg__tree_matrix *x, const void *kept);

/* T(d) of a link over all six components; out = T(d) x on its coordinates (nz), and transposed. */
void mbg__tree_tangent_matrix(const mbg__link *link, const real *d, real T[36]);
void mbg__tree_tangent(const mbg__link *link, const real *d, const real *x, real *out);
void mbg__tree_tangent_T(const mbg__link *link, const real *d, const real *x, real *out);

#endif
