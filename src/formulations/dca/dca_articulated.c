#include "formulations/dca/dca_articulated.h"

#include "system/system_internal.h"

#include <string.h>

/* [[A, B], [B^T, C]], A and C symmetric: xx, yy, zz, xy, xz, yz */
typedef struct {
  real A[6], B[9], C[6];
} inertia;

typedef struct {
  int body, parent, first, nz, comp[6], off;
  mbg__frame A;        /* frame of the joint's parent side in the parent's K */
  mbg__frame hC;       /* K in the body */
  real m, mc[3], J[6]; /* mass, first moment, inertia about the origin of K */
} link;

typedef struct {
  mbg__frame Rel; /* K in the parent's K */
  inertia I;      /* of the subtree, then without the motions of the joint */
  real v[6], c[6], p[6], vd[6];
} node;

/* one freedom: U = I S, 1/(S^T U), S^T of the right side */
typedef struct {
  real U[6], inverse, u;
} freedom;

struct mbg__dca_articulated {
  const mbg__tree *tree;
  const mbg_model *m;
  const mbg__design *design;
  int n, nbody;
  bool refine;
  link *links;
  node *nodes;
  freedom *free_; /*                                             (n) */
};

/* ---------------------------------------------------------------------- creation */

int mbg__dca_articulated_create(mbg_context *ctx, mbg__arena *arena, const mbg__tree *tree,
                                mbg__dca_articulated **out) {
  mbg__dca_articulated *k = MBG_TAKE(arena, mbg__dca_articulated, 1);
  *out = k;
  if (!k) {
    return mbg__fail_memory(ctx);
  }
  k->tree = tree;
  k->m = mbg__system_model(mbg__tree_system(tree));
  k->design = mbg__system_design(mbg__tree_system(tree));
  k->n = mbg__tree_size(tree);
  k->nbody = k->m->nbody;
  k->links = MBG_TAKE(arena, link, k->nbody);
  k->nodes = MBG_TAKE(arena, node, k->nbody);
  k->free_ = MBG_TAKE(arena, freedom, k->n);
  const int err = mbg__arena_check(ctx, arena);
  if (err == MBG_OK) {
    mbg__dca_articulated_refresh(k);
  }
  return err;
}

static void marker_frame(const mbg__dca_articulated *k, int marker, bool plain, mbg__frame *h) {
  frame_identity(h);
  if (marker >= 0) {
    const mbg__frame *from = &k->design->markers[marker].h;
    v3_copy(h->x, from->x);
    if (!plain) {
      m3_copy(h->R, from->R);
    }
  }
}

/* Ad(hC)^T M Ad(hC), column by column */
static void mass_in_joint(const real M[36], link *l) {
  real K[36];
  for (int j = 0; j < 6; j++) {
    real e[6] = {0}, x[6], y[6], z[6];
    e[j] = 1;
    Ad_mul(x, &l->hC, e);
    m6_mulv(y, M, x);
    AdT_mul(z, &l->hC, y);
    for (int i = 0; i < 6; i++) {
      K[6 * i + j] = z[i];
    }
  }
  l->m = K[0];
  /* lower left block mc~ */
  l->mc[0] = K[6 * 5 + 1];
  l->mc[1] = K[6 * 3 + 2];
  l->mc[2] = K[6 * 4 + 0];
  const int row[6] = {3, 4, 5, 3, 3, 4}, column[6] = {3, 4, 5, 4, 5, 5};
  for (int i = 0; i < 6; i++) {
    l->J[i] = K[6 * row[i] + column[i]];
  }
}

void mbg__dca_articulated_refresh(mbg__dca_articulated *k) {
  const mbg__link *links = mbg__tree_links(k->tree);
  double most = 0, least = INFINITY;
  for (int i = 0; i < k->nbody; i++) {
    const mbg__link *from = &links[i];
    link *l = &k->links[i];
    *l = (link){.body = from->body, .parent = from->parent, .first = from->first, .nz = from->nz};
    memcpy(l->comp, from->comp, sizeof(l->comp));
    l->off = k->m->bodies[l->body].voff;
    mbg__frame hP;
    marker_frame(k, from->C, from->plain, &l->hC);
    marker_frame(k, from->P, from->plain, &hP);
    if (l->parent >= 0) {
      frame_relative(&l->A, &k->links[l->parent].hC, &hP);
    } else {
      l->A = hP;
    }
    mass_in_joint(k->design->M + 36 * l->body, l);
    most = fmax(most, re(l->m));
    least = re(l->m) > 0 ? fmin(least, re(l->m)) : least;
  }
  k->refine = most > 1e3 * least;
}

/* ---------------------------------------------------------------------- kernels */

/* f = M v */
static inline void momentum(const link *l, const real v[6], real f[6]) {
  const real *J = l->J;
  v3_scale(f, l->m, v);
  v3_cross_add(f, -1, l->mc, v + 3);
  f[3] = J[0] * v[3] + J[3] * v[4] + J[4] * v[5];
  f[4] = J[3] * v[3] + J[1] * v[4] + J[5] * v[5];
  f[5] = J[4] * v[3] + J[5] * v[4] + J[2] * v[5];
  v3_cross_add(f + 3, 1, l->mc, v);
}

static inline void own_inertia(const link *l, inertia *I) {
  I->A[0] = I->A[1] = I->A[2] = l->m;
  I->A[3] = I->A[4] = I->A[5] = 0;
  I->B[0] = I->B[4] = I->B[8] = 0;
  I->B[1] = l->mc[2];
  I->B[2] = -l->mc[1];
  I->B[3] = -l->mc[2];
  I->B[5] = l->mc[0];
  I->B[6] = l->mc[1];
  I->B[7] = -l->mc[0];
  vn_copy(6, I->C, l->J);
}

static inline void column_of(const inertia *I, int c, real U[6]) {
  static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
  for (int i = 0; i < 3; i++) {
    U[i] = c < 3 ? I->A[place[i][c]] : I->B[3 * i + c - 3];
    U[3 + i] = c < 3 ? I->B[3 * c + i] : I->C[place[i][c - 3]];
  }
}

/* I -= s U U^T */
static inline void subtract_outer(inertia *I, real s, const real U[6]) {
  real V[6];
  v6_scale(V, s, U);
  I->A[0] -= V[0] * U[0];
  I->A[1] -= V[1] * U[1];
  I->A[2] -= V[2] * U[2];
  I->A[3] -= V[0] * U[1];
  I->A[4] -= V[0] * U[2];
  I->A[5] -= V[1] * U[2];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      I->B[3 * i + j] -= V[i] * U[3 + j];
    }
  }
  I->C[0] -= V[3] * U[3];
  I->C[1] -= V[4] * U[4];
  I->C[2] -= V[5] * U[5];
  I->C[3] -= V[3] * U[4];
  I->C[4] -= V[3] * U[5];
  I->C[5] -= V[4] * U[5];
}

/* out = R S R^T, S symmetric */
static inline void rotate_symmetric(const real R[9], const real S[6], real out[6]) {
  real T[9];
  for (int i = 0; i < 3; i++) {
    const real *r = R + 3 * i;
    T[3 * i] = r[0] * S[0] + r[1] * S[3] + r[2] * S[4];
    T[3 * i + 1] = r[0] * S[3] + r[1] * S[1] + r[2] * S[5];
    T[3 * i + 2] = r[0] * S[4] + r[1] * S[5] + r[2] * S[2];
  }
  out[0] = v3_dot(T, R);
  out[1] = v3_dot(T + 3, R + 3);
  out[2] = v3_dot(T + 6, R + 6);
  out[3] = v3_dot(T, R + 3);
  out[4] = v3_dot(T, R + 6);
  out[5] = v3_dot(T + 3, R + 6);
}

/* to += X^T I X, X = Ad(Rel^-1): turned by R, then moved by x,
     A' = A        B' = B - A x~        C' = C + x~ B' + (x~ B)^T */
static inline void carry_inertia(const mbg__frame *Rel, const inertia *I, inertia *to) {
  const real *R = Rel->R, *x = Rel->x;
  real A[6], B[9], C[6], T[9], D[9];
  rotate_symmetric(R, I->A, A);
  rotate_symmetric(R, I->C, C);
  m3_mul(T, R, I->B);
  m3_mul_NT(B, T, R);
  /* rows of A, each crossed with x */
  D[0] = B[0] - (A[3] * x[2] - A[4] * x[1]);
  D[1] = B[1] - (A[4] * x[0] - A[0] * x[2]);
  D[2] = B[2] - (A[0] * x[1] - A[3] * x[0]);
  D[3] = B[3] - (A[1] * x[2] - A[5] * x[1]);
  D[4] = B[4] - (A[5] * x[0] - A[3] * x[2]);
  D[5] = B[5] - (A[3] * x[1] - A[1] * x[0]);
  D[6] = B[6] - (A[5] * x[2] - A[2] * x[1]);
  D[7] = B[7] - (A[2] * x[0] - A[4] * x[2]);
  D[8] = B[8] - (A[4] * x[1] - A[5] * x[0]);
  vn_axpy(6, to->A, 1, A);
  vn_axpy(9, to->B, 1, D);
  /* (x~ D + (x~ B)^T)_ij = (x x D_j)_i + (x x B_i)_j */
  to->C[0] += C[0] + x[1] * D[6] - x[2] * D[3] + x[1] * B[6] - x[2] * B[3];
  to->C[1] += C[1] + x[2] * D[1] - x[0] * D[7] + x[2] * B[1] - x[0] * B[7];
  to->C[2] += C[2] + x[0] * D[5] - x[1] * D[2] + x[0] * B[5] - x[1] * B[2];
  to->C[3] += C[3] + x[1] * D[7] - x[2] * D[4] + x[2] * B[0] - x[0] * B[6];
  to->C[4] += C[4] + x[1] * D[8] - x[2] * D[5] + x[0] * B[3] - x[1] * B[0];
  to->C[5] += C[5] + x[2] * D[2] - x[0] * D[8] + x[0] * B[4] - x[1] * B[1];
}

/* out = I v */
static inline void inertia_mul(const inertia *I, const real v[6], real out[6]) {
  const real *A = I->A, *B = I->B, *C = I->C, *U = v, *W = v + 3;
  out[0] = A[0] * U[0] + A[3] * U[1] + A[4] * U[2] + v3_dot(B, W);
  out[1] = A[3] * U[0] + A[1] * U[1] + A[5] * U[2] + v3_dot(B + 3, W);
  out[2] = A[4] * U[0] + A[5] * U[1] + A[2] * U[2] + v3_dot(B + 6, W);
  out[3] = B[0] * U[0] + B[3] * U[1] + B[6] * U[2] + C[0] * W[0] + C[3] * W[1] + C[4] * W[2];
  out[4] = B[1] * U[0] + B[4] * U[1] + B[7] * U[2] + C[3] * W[0] + C[1] * W[1] + C[5] * W[2];
  out[5] = B[2] * U[0] + B[5] * U[1] + B[8] * U[2] + C[4] * W[0] + C[5] * W[1] + C[2] * W[2];
}

/* eliminates the freedoms of a joint from its inertia; false: one has no inertia */
static inline bool eliminate(const link *l, node *n, freedom *x) {
  for (int i = 0; i < l->nz; i++) {
    column_of(&n->I, l->comp[i], x[i].U);
    const real d = x[i].U[l->comp[i]];
    if (!(re(d) > 0)) {
      return false;
    }
    x[i].inverse = 1 / d;
    subtract_outer(&n->I, x[i].inverse, x[i].U);
  }
  return true;
}

static int singular(mbg_context *ctx, const mbg__dca_articulated *k, int i, double t) {
  return mbg__fail(
      ctx, MBG_ERROR_SINGULAR,
      "t = %g: body '%s' and the bodies that hang on it have no inertia in the motion of its joint; give it "
      "mass and inertia",
      mbg__time_shown(t), k->m->bodies[k->links[i].body].name);
}

/* ---------------------------------------------------------------------- dynamics in two passes */

static inline void place(mbg__dca_articulated *k, int i, const mbg__frame *E, const real *w) {
  const link *l = &k->links[i];
  node *n = &k->nodes[i];
  real s[6] = {0}, Mv[6];
  frame_mul(&n->Rel, &l->A, &E[i]);
  if (l->parent >= 0) {
    AdInv_mul(n->v, &n->Rel, k->nodes[l->parent].v);
  } else {
    v6_zero(n->v);
  }
  if (l->nz == 1 && l->comp[0] == 5) {
    /* ad(v) s of a rotation about z: X v_p suffices, ad(s) s = 0 */
    const real r = w[l->first];
    n->c[0] = n->v[1] * r;
    n->c[1] = -n->v[0] * r;
    n->c[3] = n->v[4] * r;
    n->c[4] = -n->v[3] * r;
    n->c[2] = n->c[5] = 0;
    n->v[5] += r;
  } else {
    for (int j = 0; j < l->nz; j++) {
      s[l->comp[j]] = w[l->first + j];
    }
    v6_axpy(n->v, 1, s);
    ad_mul(n->c, n->v, s);
  }
  own_inertia(l, &n->I);
  momentum(l, n->v, Mv);
  adT_mul(n->p, n->v, Mv);
  v6_scale(n->p, -1, n->p);
}

/* p + Ia c + U (tau - S^T p)/d to the parent */
static inline void propagate_inertia(mbg__dca_articulated *k, int i) {
  const link *l = &k->links[i];
  node *n = &k->nodes[i];
  freedom *x = k->free_ + l->first;
  for (int j = 0; j < l->nz; j++) {
    x[j].u = -n->p[l->comp[j]];
    v6_axpy(n->p, x[j].u * x[j].inverse, x[j].U);
  }
  if (l->parent < 0) {
    return;
  }
  node *p = &k->nodes[l->parent];
  real y[6], z[6];
  inertia_mul(&n->I, n->c, y);
  v6_axpy(y, 1, n->p);
  AdInvT_mul(z, &n->Rel, y);
  v6_axpy(p->p, 1, z);
  carry_inertia(&n->Rel, &n->I, &p->I);
}

static inline void accelerate(mbg__dca_articulated *k, int i, const real base[6], real *a) {
  const link *l = &k->links[i];
  node *n = &k->nodes[i];
  const freedom *x = k->free_ + l->first;
  AdInv_mul(n->vd, &n->Rel, l->parent >= 0 ? k->nodes[l->parent].vd : base);
  v6_axpy(n->vd, 1, n->c);
  for (int j = l->nz - 1; j >= 0; j--) {
    const real y = x[j].inverse * (x[j].u - v6_dot(x[j].U, n->vd));
    a[l->first + j] = y;
    n->vd[l->comp[j]] += y;
  }
}

int mbg__dca_articulated_dynamics(mbg_context *ctx, mbg__dca_articulated *k, double t, const mbg__frame *E,
                                  const real *w, real *a) {
  real base[6] = {0};
  /* gravity is an upward acceleration of the ground */
  for (int i = 0; i < 3 && k->m->gravity >= 0; i++) {
    base[i] = -k->design->attr[k->m->gravity + i];
  }
  for (int i = 0; i < k->nbody; i++) {
    place(k, i, E, w);
  }
  for (int i = k->nbody - 1; i >= 0; i--) {
    if (!eliminate(&k->links[i], &k->nodes[i], k->free_ + k->links[i].first)) {
      return singular(ctx, k, i, t);
    }
    propagate_inertia(k, i);
  }
  for (int i = 0; i < k->nbody; i++) {
    accelerate(k, i, base, a);
  }
  return MBG_OK;
}

/* f = Ia vd + p: p contains the part of the accelerations in the freedoms, Ia the rest */
void mbg__dca_articulated_wrenches(const mbg__dca_articulated *k, real *f) {
  for (int i = 0; i < k->nbody; i++) {
    const link *l = &k->links[i];
    const node *n = &k->nodes[i];
    real y[6];
    inertia_mul(&n->I, n->vd, y);
    v6_axpy(y, 1, n->p);
    AdInvT_mul(f + l->off, &l->hC, y);
  }
}

/* ---------------------------------------------------------------------- factors and right sides */

int mbg__dca_articulated_factor(mbg_context *ctx, mbg__dca_articulated *k, double t, const mbg__frame *E) {
  for (int i = 0; i < k->nbody; i++) {
    frame_mul(&k->nodes[i].Rel, &k->links[i].A, &E[i]);
    own_inertia(&k->links[i], &k->nodes[i].I);
  }
  for (int i = k->nbody - 1; i >= 0; i--) {
    const link *l = &k->links[i];
    if (!eliminate(l, &k->nodes[i], k->free_ + l->first)) {
      return singular(ctx, k, i, t);
    }
    if (l->parent >= 0) {
      carry_inertia(&k->nodes[i].Rel, &k->nodes[i].I, &k->nodes[l->parent].I);
    }
  }
  return MBG_OK;
}

size_t mbg__dca_articulated_scratch(const mbg__dca_articulated *k) {
  return 48 * (size_t)k->nbody + 4 * (size_t)k->n + 1;
}

/* r, c in body axes; p and c in those of K are scratch (6 nbody each), u (n) */
static void solve(const mbg__dca_articulated *k, const real *r, const real *tau, const real *c, real *vd, real *a,
                  real *f, real *scratch) {
  real *p = scratch, *cK = p + 6 * (size_t)k->nbody, *vK = cK + 6 * (size_t)k->nbody, *u = vK + 6 * (size_t)k->nbody;
  for (int i = 0; i < k->nbody; i++) {
    const link *l = &k->links[i];
    v6_zero(p + 6 * i);
    v6_zero(cK + 6 * i);
    if (r) {
      AdT_mul(p + 6 * i, &l->hC, r + l->off);
      v6_scale(p + 6 * i, -1, p + 6 * i);
    }
    if (c) {
      AdInv_mul(cK + 6 * i, &l->hC, c + l->off);
    }
  }
  for (int i = k->nbody - 1; i >= 0; i--) {
    const link *l = &k->links[i];
    const node *n = &k->nodes[i];
    const freedom *x = k->free_ + l->first;
    real *pi = p + 6 * i, y[6], z[6];
    for (int j = 0; j < l->nz; j++) {
      const real uj = (tau ? tau[l->first + j] : 0) - pi[l->comp[j]];
      u[l->first + j] = uj;
      v6_axpy(pi, uj * x[j].inverse, x[j].U);
    }
    if (l->parent >= 0) {
      inertia_mul(&n->I, cK + 6 * i, y);
      v6_axpy(y, 1, pi);
      AdInvT_mul(z, &n->Rel, y);
      v6_axpy(p + 6 * l->parent, 1, z);
    }
  }
  for (int i = 0; i < k->nbody; i++) {
    const link *l = &k->links[i];
    const node *n = &k->nodes[i];
    const freedom *x = k->free_ + l->first;
    real *v = vK + 6 * i;
    if (l->parent >= 0) {
      AdInv_mul(v, &n->Rel, vK + 6 * l->parent);
      v6_axpy(v, 1, cK + 6 * i);
    } else {
      v6_copy(v, cK + 6 * i);
    }
    for (int j = l->nz - 1; j >= 0; j--) {
      const real y = x[j].inverse * (u[l->first + j] - v6_dot(x[j].U, v));
      a[l->first + j] = y;
      v[l->comp[j]] += y;
    }
    Ad_mul(vd + l->off, &l->hC, v);
    if (f) {
      real y[6];
      inertia_mul(&n->I, v, y);
      v6_axpy(y, 1, p + 6 * i);
      AdInvT_mul(f + l->off, &l->hC, y);
    }
  }
}

static double largest(int n, const real *x, double most) {
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(re(x[i])));
  }
  return most;
}

/* A right side, a solution, and what it leaves of the right side: vectors of bodies (nw) and of coordinates (n). */
typedef struct {
  const real *r, *tau, *c; /* NULL: 0 */
} right_side;
typedef struct {
  const real *vd, *a, *f;
} solution;
typedef struct {
  real *r, *tau, *c;
} residue;

static real entry(const real *x, int i) { return x ? x[i] : 0; }

/* link i without the wrenches of its children: r + f - M vd, c - (vd - X vd_p - Sb a), tau - S^T f; size: largest
   terms */
static void link_residuals(const mbg__dca_articulated *k, int i, const right_side *b, const solution *s,
                           const residue *d, double size[3]) {
  const link *l = &k->links[i];
  real x[6], y[6] = {0}, z[6];
  m6_mulv(x, k->design->M + 36 * l->body, s->vd + l->off);
  v6_sub(d->r + l->off, s->f + l->off, x);
  for (int j = l->off; j < l->off + 6; j++) {
    d->r[j] += entry(b->r, j);
  }
  size[0] = largest(6, s->f + l->off, largest(6, x, size[0]));
  if (l->parent >= 0) {
    AdInv_mul(x, &k->links[l->parent].hC, s->vd + k->links[l->parent].off);
    AdInv_mul(y, &k->nodes[i].Rel, x);
  }
  AdInv_mul(x, &l->hC, s->vd + l->off);
  size[2] = largest(6, x, size[2]);
  v6_axpy(x, -1, y);
  for (int j = 0; j < l->nz; j++) {
    x[l->comp[j]] -= s->a[l->first + j];
  }
  Ad_mul(z, &l->hC, x);
  for (int j = 0; j < 6; j++) {
    d->c[l->off + j] = -z[j] + entry(b->c, l->off + j);
  }
  AdT_mul(x, &l->hC, s->f + l->off);
  for (int j = 0; j < l->nz; j++) {
    d->tau[l->first + j] = entry(b->tau, l->first + j) - x[l->comp[j]];
  }
}

/* the wrench of link i on its parent */
static void parent_residual(const mbg__dca_articulated *k, int i, const real *f, real *dr) {
  const link *l = &k->links[i];
  if (l->parent >= 0) {
    real x[6], y[6], z[6];
    AdT_mul(x, &l->hC, f + l->off);
    AdInvT_mul(y, &k->nodes[i].Rel, x);
    AdInvT_mul(z, &k->links[l->parent].hC, y);
    v6_axpy(dr + k->links[l->parent].off, -1, z);
  }
}

/* residuals of the three equations; the largest entry relative to the terms of its kind */
static double residuals(const mbg__dca_articulated *k, const right_side *b, const solution *s, const residue *d) {
  double size[3] = {0}, most[3] = {0}, worst = 0;
  for (int i = 0; i < k->nbody; i++) {
    link_residuals(k, i, b, s, d, size);
  }
  for (int i = 0; i < k->nbody; i++) {
    parent_residual(k, i, s->f, d->r);
  }
  /* directions that the mask of a body closes do not count */
  for (int i = 0; i < 6 * k->nbody; i++) {
    most[0] = fmax(most[0], k->m->dof[i] >= 0 ? fabs(re(d->r[i])) : 0);
    most[2] = fmax(most[2], k->m->dof[i] >= 0 ? fabs(re(d->c[i])) : 0);
  }
  most[1] = largest(k->n, d->tau, 0);
  size[1] = size[0];
  for (int i = 0; i < 3; i++) {
    worst = size[i] > 0 ? fmax(worst, most[i] / size[i]) : worst;
  }
  return worst;
}

double mbg__dca_articulated_residual(const mbg__dca_articulated *k, const real *r, const real *tau, const real *c,
                                     const real *vd, const real *a, const real *f, real *scratch) {
  const size_t nw = 6 * (size_t)k->nbody;
  return residuals(k, &(right_side){r, tau, c}, &(solution){vd, a, f},
                   &(residue){scratch, scratch + nw, scratch + nw + k->n});
}

/* one step of refinement if masses differ much (theory 3, section 12) */
void mbg__dca_articulated_solve(const mbg__dca_articulated *k, const real *r, const real *tau, const real *c, real *vd,
                                real *a, real *f, real *scratch) {
  const size_t nw = 6 * (size_t)k->nbody, n = (size_t)k->n;
  real *own = scratch + 3 * nw + n, *dr = own + nw, *dc = dr + nw, *dvd = dc + nw, *df = dvd + nw, *dtau = df + nw,
       *da = dtau + n;
  if (!k->refine) {
    solve(k, r, tau, c, vd, a, f, scratch);
    return;
  }
  real *wrench = f ? f : own;
  solve(k, r, tau, c, vd, a, wrench, scratch);
  (void)residuals(k, &(right_side){r, tau, c}, &(solution){vd, a, wrench}, &(residue){dr, dtau, dc});
  solve(k, dr, dtau, dc, dvd, da, df, scratch);
  vn_axpy((int)nw, vd, 1, dvd);
  vn_axpy((int)nw, wrench, 1, df);
  vn_axpy(k->n, a, 1, da);
}
