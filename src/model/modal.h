/* modal: the data of flexible bodies with a floating frame and modal coordinates eta (theory 3, section 2).

   A material point s of the body is displaced by phi(s) eta in the axes of the frame. What the equations need of s, phi
   and the density are the invariants I1..I9; all of them, the stiffness Kf and the damping Cf lie in one flat array of
   numbers.

     I1 = int rho        I2 = int rho s          I3_j = int rho phi_j         I4_j = int rho s x phi_j
     I5_jk = int rho phi_j x phi_k               I6_jk = int rho phi_j.phi_k  I7 = int rho s~^T s~
     I8_j = int rho s~^T phi_j~                  I9_jk = int rho phi_j~^T phi_k~

   Matrices are row-major, vectors of a mode are contiguous: I3 + 3 j, I5 + 3 (n j + k), I9 + 9 (n j + k). */
#ifndef MBG_MODEL_MODAL_H
#define MBG_MODEL_MODAL_H

#include "base/base.h"
#include "base/real.h"
#include "base/where.h"

enum { MBG__MODES_MAX = 200 }; /* of one body */

/* Places in the flat array. */
typedef struct {
  int I1, I2, I7, I3, I4, I5, I6, I8, I9, K, C, count;
} mbg__modal_layout;

static inline mbg__modal_layout mbg__modal_places(int n) {
  mbg__modal_layout l = {.I1 = 0, .I2 = 1, .I7 = 4, .I3 = 13};
  l.I4 = l.I3 + 3 * n;
  l.I5 = l.I4 + 3 * n;
  l.I6 = l.I5 + 3 * n * n;
  l.I8 = l.I6 + n * n;
  l.I9 = l.I8 + 9 * n;
  l.K = l.I9 + 9 * n * n;
  l.C = l.K + n * n;
  l.count = l.C + n * n;
  return l;
}

/* The same, with its numbers. */
typedef struct {
  int n;
  const real *I1, *I2, *I7, *I3, *I4, *I5, *I6, *I8, *I9, *K, *C;
} mbg__modal_view;

static inline mbg__modal_view mbg__modal_of(int n, const real *D) {
  const mbg__modal_layout l = mbg__modal_places(n);
  return (mbg__modal_view){n,        D + l.I1, D + l.I2, D + l.I7, D + l.I3, D + l.I4,
                           D + l.I5, D + l.I6, D + l.I8, D + l.I9, D + l.K,  D + l.C};
}

/* How numbers of a flat array depend on attributes: d x[entry[k]] = val[k] da[attr[k]], summed over k. */
typedef struct {
  int count;
  int *entry, *attr;
  real *val;
} mbg__modal_map;

static inline bool mbg__modal_map_push(const mbg__modal_map *m, const real *da, int n, real *dx) {
  bool any = false;
  for (int i = 0; i < n; i++) {
    dx[i] = 0;
  }
  for (int k = 0; k < m->count; k++) {
    if (da[m->attr[k]] != 0) {
      dx[m->entry[k]] += m->val[k] * da[m->attr[k]];
      any = true;
    }
  }
  return any;
}

static inline void mbg__modal_map_pull(const mbg__modal_map *m, const real *gx, real *ga) {
  for (int k = 0; k < m->count; k++) {
    ga[m->attr[k]] += m->val[k] * gx[m->entry[k]];
  }
}

/* ---------------------------------------------------------------------- bodies of a model */

/* A flexible body: a frame and n modal coordinates. The coordinates are carried by bodies of their own, three each,
   which move along the axes of a frame that never turns: eta_j is component j % 3 of the origin of body carrier + j /
   3, its rate the same component of the twist. So states, starts, steps and signals need not know of modes; what does
   is the inertia (elements/modal_inertia.h) and the markers (elements/modal_marker.h). */
enum { MBG__MODAL_RIGID = -2 };

/* Numbers of the flat array from attributes: D[entry] += factor * attr. */
typedef struct {
  int entry, attr;
  double factor;
} mbg__modal_link;

/* A point with its modal columns. */
typedef struct {
  const char *name;
  int at;          /* attributes of its place (3), or -1: `place` */
  int columns;     /* attributes of (phit_j, phir_j) (6 n), or -1: `P` */
  double place[3]; /* in the axes of the body */
  double sign[6];  /* of its place, by mirrored parts (first three) */
  const double *P; /* (6 n) */
} mbg__modal_node;

/* A beam along x from the origin, made of `count` elements; see model/modal_beam.h. */
typedef struct mbg__modal_beam mbg__modal_beam;

typedef struct {
  const char *name;
  int body; /* its frame */
  int n;    /* modes */
  int carrier, ncarrier;
  int start, rate; /* attributes: guessed coordinates (3 per carrier), their rates (6 per carrier) */
  int nlink;
  const mbg__modal_link *links;
  const mbg__modal_beam *beam; /* NULL: not generated */
  int nnode;
  const mbg__modal_node *nodes;
  int damping, mass_damping; /* attributes: Cf += damping Kf + mass_damping I6; -1: none */
  bool given;                /* the invariants are given in the file */
  double sign[3];            /* of the axes in a mirrored part */
  mbg__where where;
} mbg__modal;

/* The body that carries a coordinate. */
static inline int mbg__modal_carrier(const mbg__modal *m, int mode) { return m->carrier + mode / 3; }

#endif
