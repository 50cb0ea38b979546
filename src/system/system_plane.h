/* Shared by the files of plane.h. */
#ifndef MBG_SYSTEM_SYSTEM_PLANE_H
#define MBG_SYSTEM_SYSTEM_PLANE_H

#include "math/flat.h"
#include "system/plane.h"
#include "system/system_internal.h"

typedef struct {
  real c, s, x, y; /* turn about z, origin */
} mbg__plane_frame;

typedef real vec3[3];

/* A marker of a pair. */
typedef struct {
  int marker, body; /* body -1: the ground */
  mbg__plane_frame h, H;
  vec3 v; /* twist */
} mbg__plane_end;

/* A pair with rows or laws. */
typedef struct {
  int pair;
  int first; /* its first row, -1: none */
  bool law;  /* has laws */
  mbg__plane_end A, B;
  mbg__plane_frame G;
  vec3 a, rel, rest; /* Ad(G^-1) v_A, relative twist, its rate without rates */
  /* derivatives */
  vec3 dA, dB, ad, drel; /* rates of the ends, Ad(G^-1) vd_A, rate of the relative twist */
  vec3 uA, uB, ua, urel; /* the other twists */
  vec3 F, F2;            /* wrench on B, and that of kappa */
  real F_G[9], F_v[9], F2_G[9];
} mbg__plane_pair;

/* sign times an entry of G: x_k, or R_kl */
typedef struct {
  int pair, next; /* next row of the pair, -1: none */
  int k, l;       /* l -1: x_k */
  double sign;
  vec3 b;     /* gradient */
  real slope; /* L: u^T L w = slope (u_turn w_turn) of R_kl; of x_k, see b */
} mbg__plane_row;

/* A law on the coordinate q = sign F of a pair. */
typedef struct {
  const mbg__force *force;
  const mbg__coord *coord;
  int pair;
  vec3 b;                    /* gradient of q */
  real tau_a[MBG__LAW_ATTR]; /* tension by own attributes */
} mbg__plane_law;

struct mbg__plane {
  mbg__system *s;
  bool flat; /* markers and weight are in the plane */
  int npair, nrow, nlaw;
  mbg__plane_pair *pairs;
  mbg__plane_row *rows;
  mbg__plane_law *laws;
  const real *v;       /* twists of the last place                 (nw) */
  real *a;             /* rates                                    (nw) */
  mbg__plane_frame *H; /*                                          (nbody) */
  vec3 *gw, *gv;       /* scratch: cotangents of frames and twists (nbody) */
};

/* Row k of the turn of G in the plane. */
static inline void plane_row(const mbg__plane_frame *G, int k, real r[2]) {
  r[0] = k ? G->s : G->c;
  r[1] = k ? G->c : -G->s;
}

/* system_plane_laws.c: wrenches of the laws, added to F of their pairs, with derivatives to F_G and F_v. */
void mbg__plane_laws(mbg__plane *p, bool derivatives);

/* Ad(H^-1) v */
static inline void plane_in(const mbg__plane_frame *H, const real v[3], real out[3]) {
  const real x = v[0] - H->y * v[2], y = v[1] + H->x * v[2];
  out[0] = H->c * x + H->s * y;
  out[1] = H->c * y - H->s * x;
  out[2] = v[2];
}

/* Ad(H^-1)^T f */
static inline void plane_out(const mbg__plane_frame *H, const real f[3], real out[3]) {
  const real x = H->c * f[0] - H->s * f[1], y = H->s * f[0] + H->c * f[1];
  out[0] = x;
  out[1] = y;
  out[2] = f[2] + (H->x * y - H->y * x);
}

/* out += s ad(v)^T f */
static inline void plane_adT_add(real out[3], double s, const real v[3], const real f[3]) {
  out[0] += s * (f[1] * v[2]);
  out[1] -= s * (f[0] * v[2]);
  out[2] += s * (f[0] * v[1] - f[1] * v[0]);
}

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

/* y = A x of the components 0, 1 and 5 of a symmetric 6x6 matrix */
static inline void plane_mass(const real M[36], const real x[3], real y[3]) {
  y[0] = M[0] * x[0] + M[1] * x[1] + M[5] * x[2];
  y[1] = M[6] * x[0] + M[7] * x[1] + M[11] * x[2];
  y[2] = M[30] * x[0] + M[31] * x[1] + M[35] * x[2];
}

static inline const real *plane_M(const mbg__plane *p, int body) { return p->s->design->M + 36 * body; }

/* R^T g of a body in the plane */
static inline void plane_weight(const mbg__plane *p, int body, real out[2]) {
  const real *g = gravity_on(p->s, body);
  const mbg__plane_frame *H = &p->H[body];
  out[0] = H->c * g[0] + H->s * g[1];
  out[1] = H->c * g[1] - H->s * g[0];
}

#endif
