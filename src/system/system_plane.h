/* Shared by the files of plane.h. Pairs are kept MBG__LANES side by side (math/lanes.h). */
#ifndef MBG_SYSTEM_SYSTEM_PLANE_H
#define MBG_SYSTEM_SYSTEM_PLANE_H

#include "math/flat.h"
#include "math/lanes.h"
#include "system/plane.h"
#include "system/system_internal.h"

typedef struct {
  real c, s, x, y; /* turn about z, origin */
} mbg__plane_frame;

typedef real vec3[3];
typedef lane lane3[3];

typedef struct {
  lane c, s, x, y;
} mbg__plane_frame_lanes;

/* The markers at one end of pairs. */
typedef struct {
  int marker[MBG__LANES]; /* -1: no pair */
  int body[MBG__LANES];   /* the number of bodies: the ground */
  mbg__plane_frame_lanes h, H;
  lane3 v;             /* twist */
  lane3 d, u;          /* rates, the other twist */
  lane3 z, y;          /* weights */
  lane3 w, gv, gd, gu; /* cotangents: of frame, twist, rate and the other twist */
} mbg__plane_end;

/* A row is sign times one of four numbers of its pair: x, y, s, -c of the relative frame. Their gradients are
   (c, -s, 0), (s, c, 0), (0, 0, c), (0, 0, s). */
enum { MBG__PLANE_KINDS = 4 };

/* Pairs with rows or laws. */
typedef struct {
  mbg__plane_end A, B;
  mbg__plane_frame_lanes G;
  lane3 a, rel, rest; /* Ad(G^-1) v_A, relative twist, its rate without rates */
  lane phi[MBG__PLANE_KINDS], phid[MBG__PLANE_KINDS], gamma[MBG__PLANE_KINDS];
  lane3 on_A[MBG__PLANE_KINDS], on_B[MBG__PLANE_KINDS]; /* gradients by twists of the bodies */
  /* derivatives */
  lane3 ad, drel;                /* Ad(G^-1) vd_A, rate of the relative twist */
  lane3 ua, urel;                /* of the other twists */
  lane3 F, F2;                   /* wrench on B, and that of kappa */
  lane F_G[9], F_v[9];           /* F_v: of laws */
  lane3 F2_G;                    /* by the turn alone */
  lane3 test, test2;             /* relative weights */
  lane row[2][MBG__PLANE_KINDS]; /* of rows: multipliers, or weights, by kinds */
  bool laws;                     /* a pair has some */
} mbg__plane_pairs;

typedef struct {
  int pairs, q, kind; /* lane q of pairs */
  double sign;
  const real *phi, *phid, *gamma; /* before the sign */
  const real *on[2];              /* gradients by the twists of B and A, components MBG__LANES apart */
  int body[2];                    /* those bodies */
  real *to[2];                    /* place in `row` of its pair */
} mbg__plane_row;

/* A law on the coordinate q = sign F of a pair. */
typedef struct {
  const mbg__force *force;
  const mbg__coord *coord;
  int pairs, q;
  bool distance;             /* of the origins */
  vec3 b;                    /* gradient of q */
  real tau_a[MBG__LAW_ATTR]; /* tension by own attributes */
} mbg__plane_law;

/* An end whose marker depends on attributes. */
typedef struct {
  int pairs, q;
  bool far; /* A */
} mbg__plane_moved;

struct mbg__plane {
  mbg__system *s;
  bool flat; /* markers and weight are in the plane */
  bool wide; /* vectors of the processor */
  int npair, npairs, nrow, nlaw, nmoved;
  mbg__plane_pairs *pairs; /*                                          (npairs) */
  mbg__plane_row *rows;
  mbg__plane_law *laws;
  mbg__plane_moved *moved; /*                                          (nmoved) */
  real *mass;              /* blocks of M                                           (9 nbody) */
  /* of bodies; the last entry is the ground */
  mbg__plane_frame *H; /*                                              (nbody + 1) */
  vec3 *v, *a, *u;     /* twists, rates, other twists                  (nbody + 1) */
  vec3 *z, *y;         /* weights                                      (nbody + 1) */
  vec3 *gw, *gv;       /* cotangents of frames and twists, forces      (nbody + 1) */
};

/* Are all bodies rigid and planar, so that the free velocities of body b are 3 b, 3 b + 1 and 3 b + 2? */
bool mbg__plane_bodies(const mbg_model *m);

/* Row k of the turn of G in the plane. */
static inline void plane_row(const mbg__plane_frame *G, int k, real r[2]) {
  r[0] = k ? G->s : G->c;
  r[1] = k ? G->c : -G->s;
}

/* system_plane_laws.c: wrenches F of the laws on B of their pairs, with derivatives F_G and F_v. */
void mbg__plane_laws(mbg__plane *p, bool derivatives);

/* system_plane_kernel.h: frames and twists of all pairs, with the numbers of rows; gw of the bodies += wrenches F of
   the pairs with laws; derivatives at a, u and the rows' multipliers; cotangents by z, y and the rows' weights, beta
   as in the weights. */
typedef void mbg__plane_kernel(mbg__plane *p);
mbg__plane_kernel mbg__plane_place_pairs, mbg__plane_place_pairs_avx2;
mbg__plane_kernel mbg__plane_force_pairs, mbg__plane_force_pairs_avx2;
mbg__plane_kernel mbg__plane_linearize_pairs, mbg__plane_linearize_pairs_avx2;
typedef void mbg__plane_weighted_kernel(mbg__plane *p, double beta);
mbg__plane_weighted_kernel mbg__plane_pull_pairs, mbg__plane_pull_pairs_avx2;

/* system_plane_pull.c, after the pairs: cotangents by the bodies, and by attributes. */
void mbg__plane_pull_bodies(mbg__plane *p);
void mbg__plane_pull_attributes(const mbg__plane *p, real *ga);

/* components of a body in a full vector */
static inline void plane_take(real out[3], const real *full) {
  out[0] = full[0];
  out[1] = full[1];
  out[2] = full[5];
}

static inline void plane_give(real *full, const real x[3]) {
  full[0] += x[0];
  full[1] += x[1];
  full[5] += x[2];
}

static inline real plane_dot(const real a[3], const real b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* out += s ad(v)^T f */
static inline void plane_adT_add(real out[3], double s, const real v[3], const real f[3]) {
  out[0] += s * (f[1] * v[2]);
  out[1] -= s * (f[0] * v[2]);
  out[2] += s * (f[0] * v[1] - f[1] * v[0]);
}

/* y = M x of a body */
static inline void plane_mass(const real M[9], const real x[3], real y[3]) {
  y[0] = M[0] * x[0] + M[1] * x[1] + M[2] * x[2];
  y[1] = M[3] * x[0] + M[4] * x[1] + M[5] * x[2];
  y[2] = M[6] * x[0] + M[7] * x[1] + M[8] * x[2];
}

/* R^T g of a body in the plane */
static inline void plane_weight(const mbg__plane *p, int body, real out[2]) {
  const real *g = gravity_on(p->s, body);
  const mbg__plane_frame *H = &p->H[body];
  out[0] = H->c * g[0] + H->s * g[1];
  out[1] = H->c * g[1] - H->s * g[0];
}

#endif
