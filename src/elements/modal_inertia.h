/* Inertia, weight, stiffness and damping of a modal body (theory 3, section 2). With nu = (U, W, etad) and

     mc = I2 + I3 eta     J = I7 + sum eta_j (I8_j + I8_j^T) + sum eta_j eta_k I9_jk     B = I4 + sum eta_j I5_j
     M = [[I1, -mc~, I3], [mc~, J, B], [I3^T, B^T, I6]]        N_j = dJ/deta_j

     r = M (nud - (a, 0, 0)) - [ad(v)^T (M nu)_v; 1/2 nu^T M_,j nu] + (sum etad_j M_,j) nu + [0; Kf eta + Cf etad]

   with a = R^T g. Vectors x over the velocities of a body have 6 + n entries. */
#ifndef MBG_ELEMENTS_MODAL_INERTIA_H
#define MBG_ELEMENTS_MODAL_INERTIA_H

#include "math/vec.h"
#include "model/modal.h"

/* Quantities that depend on eta; B (3 n) and N (9 n) belong to the caller. */
typedef struct {
  real mc[3], J[9], *B, *N;
} mbg__modal_blocks;

/* A body at a state. */
typedef struct {
  mbg__modal_view D;
  mbg__modal_blocks at;
  const real *eta, *nu, *nud; /* (n), (6 + n), (6 + n) */
  real a[3];                  /* gravity in the axes of the frame */
  bool inertia_only;          /* stiffness and damping are left out */
} mbg__modal_state;

/* Fills `at` from D and eta. */
void mbg__modal_update(mbg__modal_state *s);
/* y = M x */
void mbg__modal_mass_mul(const mbg__modal_state *s, const real *x, real *y);
/* y += c (sum etad_j M_,j) x: the rate of M along the motion */
void mbg__modal_mass_rate(const mbg__modal_state *s, real c, const real *x, real *y);
void mbg__modal_residual(const mbg__modal_state *s, real *r);

/* A direction; NULL: 0. dD: change of the flat array (as D lies). */
typedef struct {
  const real *deta, *dnu, *dnud, *da;
  const real *dD;
} mbg__modal_direction;
/* dr; work: B and N of it are scratch. */
void mbg__modal_push(const mbg__modal_state *s, const mbg__modal_direction *d, mbg__modal_blocks *work, real *dr);

/* Adds the gradient of z.r; outputs may be NULL, gD has the layout of D; work as above. */
typedef struct {
  real *eta, *nu, *nud, *a, *D;
} mbg__modal_gradient;
void mbg__modal_pull(const mbg__modal_state *s, const real *z, mbg__modal_blocks *work, const mbg__modal_gradient *g);

/* 1/2 nu.M nu and its gradient times c; 1/2 eta.Kf eta; the arm of gravity (mass, mc) is in D and `at`. */
real mbg__modal_kinetic(const mbg__modal_state *s, real *scratch);
void mbg__modal_kinetic_pull(const mbg__modal_state *s, real c, real *scratch, mbg__modal_blocks *work,
                             const mbg__modal_gradient *g);
real mbg__modal_strain(const mbg__modal_state *s);
void mbg__modal_strain_pull(const mbg__modal_state *s, real c, const mbg__modal_gradient *g);

#endif
