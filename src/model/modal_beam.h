/* modal_beam: a straight beam along x as a modal body. Its modes are computed once, from a mesh of the beam at the
   nominal parameters, and then held as functions of xi = x/L:

     u_j(x) = U_j(xi)      th_j(x) = Th_j(xi)/L        (displacement and rotation of the section at x)

   piecewise polynomials, cubic and quadratic. A material point (x, y, z) is displaced by phi_j = u_j + th_j x (0, y,
   z). All numbers of the body are integrals of these shapes with the section and the length at hand, so that they, and
   their derivatives by material, section and length, are exact for this basis:

     D = sum_e sum_q c_q(e) L^p G      c = (K6, rho A, rho I2, rho I3) of element e, G constant, p a whole number */
#ifndef MBG_MODEL_MODAL_BEAM_H
#define MBG_MODEL_MODAL_BEAM_H

#include "model/model.h"

typedef enum { MBG__BEAM_FIXED_FREE, MBG__BEAM_PINNED, MBG__BEAM_CRAIG_BAMPTON } mbg__beam_boundary;

enum { MBG__MODAL_COEFS = 9 }; /* K6, then rho A, rho I2, rho I3 */

/* Polynomials of one mode in one element, in t = 0 .. 1 along it. */
typedef struct {
  double U[3][4], Th[3][3];
} mbg__mode_piece;

struct mbg__modal_beam {
  mbg__beam_rule rule;
  mbg__beam_boundary boundary;
  bool shear; /* Timoshenko, else Euler-Bernoulli */
  int count;  /* elements */
  int length; /* attribute */
  int (*attr)[MBG__BEAM_NUMBERS];
  int nattr;                      /* different attributes of the elements */
  int *attrs;                     /* (nattr) */
  int (*slot)[MBG__BEAM_NUMBERS]; /* place of attr in attrs, -1: none */
  mbg__mode_piece *pieces;        /* (modes x elements) */
  int nlive;                      /* numbers of the flat array that are not zero by symmetry */
  int *live;                      /* (nlive) */
  double *G;                      /* (elements x MBG__MODAL_COEFS x nlive) */
};

/* Modes of the mesh. coefs: those of each element (model/section.h) at the nominal parameters. modes: n, numbered by
   increasing frequency; with Craig-Bampton the static ones (6, or 3 of a planar beam) come first. Memory in the arena;
   MBG_ERROR_INPUT when there are not that many. */
int mbg__modal_beam_modes(mbg_context *ctx, mbg__arena *arena, mbg__modal_beam *beam, int n, bool planar,
                          const double (*coefs)[MBG__BEAM_COEFS], double length);
/* How many there can be, and how many are static. */
int mbg__modal_beam_most(const mbg__modal_beam *beam, bool planar);
int mbg__modal_beam_static(const mbg__modal_beam *beam, bool planar);

/* The constants G from the pieces, in a part mirrored by the signs. */
int mbg__modal_beam_integrate(mbg_context *ctx, mbg__arena *arena, mbg__modal_beam *beam, int n, const double sign[3]);

/* D (flat array, zeros before) and its map (count 0 before, room nlive x (nattr + 1)). c, c_z: coefs of each
   element. */
void mbg__modal_beam_data(const mbg__modal_beam *beam, int n, real L, const real (*c)[MBG__BEAM_COEFS],
                          const real (*c_z)[MBG__BEAM_COEFS][MBG__BEAM_NUMBERS], real *D, mbg__modal_map *map);

/* Element at x of the whole length, -1 before the beam, count behind it. There the marker is fixed to the section at
   the end. */
int mbg__modal_beam_element(const mbg__modal_beam *beam, double x, double length);
/* Columns (phit, phir) of a mode at the place r in element e (or -1, count), and their derivatives by r and L: P (6),
   P_r (3 x 6), P_L (6). */
void mbg__modal_beam_column(const mbg__modal_beam *beam, int mode, int e, const real r[3], real L, const double sign[3],
                            real P[6], real P_r[3][6], real P_L[6]);

#endif
