/* A marker on a modal body (theory 3, section 3). Its frame in the body's frame depends on the modal coordinates,

     E = (exp(th~) R0, r0 + sum phit_j eta_j)     th = sum phir_j eta_j     (R0, r0) = h, the marker without deformation
     Psi = [R_E^T phit; R0^T T(th) phir]          J = [Ad(E^-1), Psi]
     v_m = J nu     vd_m = J nud + gamma          gamma = -ad(s) Ad(E^-1) v + k,  s = Psi etad,  k = Psi' etad

   so that everything that the chain of theory 0, section 2 needs of a marker is here, with its variations. */
#ifndef MBG_ELEMENTS_MODAL_MARKER_H
#define MBG_ELEMENTS_MODAL_MARKER_H

#include "math/se3.h"

typedef struct {
  int n;
  const mbg__frame *h; /* without deformation */
  const real *P;       /* modal columns (phit_j, phir_j)  (6 n) */
  real *Psi;           /* columns Psi_j                   (6 n) */
  /* place */
  mbg__frame E;
  real th[3], T[9], a[3], b[3]; /* T = 1 - a th~ + b th~^2; a, b with derivatives by th.th */
  const real *eta;
  /* twist */
  const real *etad;
  real thd[3], vE[6], s[6], k[6];
  /* rate */
  const real *etadd;
  real thdd[3], vdE[6], sd[6];
} mbg__modal_marker;

/* Coordinates and rates are referenced. */
void mbg__modal_marker_place(mbg__modal_marker *m, const real *eta);
void mbg__modal_marker_twist(mbg__modal_marker *m, const real v[6], const real *etad, real vm[6]);
void mbg__modal_marker_rate(mbg__modal_marker *m, const real vd[6], const real *etadd, real vdm[6]);

/* gamma at the last twist */
void mbg__modal_marker_gamma(const mbg__modal_marker *m, real gamma[6]);

/* y = J (x, xm), and transposed: adds to x and xm. */
void mbg__modal_marker_mul(const mbg__modal_marker *m, const real x[6], const real *xm, real y[6]);
void mbg__modal_marker_mul_T(const mbg__modal_marker *m, real c, const real f[6], real x[6], real *xm);

/* A direction; NULL: 0. omega: variation of h. */
typedef struct {
  const real *w, *dv, *dvd;          /* (6) */
  const real *deta, *detad, *detadd; /* (n) */
  const real *omega, *dP;            /* (6), (6 n) */
} mbg__modal_marker_direction;

/* The terms that the wrench needs: eps = (E^-1 E')^vee, e = omega_W, th'. */
typedef struct {
  real eps[6], e[3], dth[3];
} mbg__modal_marker_change;

void mbg__modal_marker_push(const mbg__modal_marker *m, const mbg__modal_marker_direction *d,
                            mbg__modal_marker_change *change, real w[6], real dv[6], real dvd[6]);
/* (x, xm) += c d(J^T f). */
void mbg__modal_marker_wrench_push(const mbg__modal_marker *m, const mbg__modal_marker_direction *d,
                                   const mbg__modal_marker_change *change, real c, const real f[6], const real df[6],
                                   real x[6], real *xm);

/* Cotangents, added to; NULL: not needed. */
typedef struct {
  real *w, *dv, *dvd, *deta, *detad, *detadd, *omega, *dP;
} mbg__modal_marker_gradient;

/* of gw.w_m + gv.dv_m + gvd.dvd_m (gv, gvd may be NULL) */
void mbg__modal_marker_pull(const mbg__modal_marker *m, const real gw[6], const real *gv, const real *gvd,
                            const mbg__modal_marker_gradient *g);
/* of f.(dJ (z, zm)): deta, omega and dP */
void mbg__modal_marker_test_pull(const mbg__modal_marker *m, const real z[6], const real *zm, const real f[6],
                                 const mbg__modal_marker_gradient *g);

#endif
