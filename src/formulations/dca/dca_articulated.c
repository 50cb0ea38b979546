#include "formulations/dca/dca_articulated_internal.h"

#include <string.h>

typedef mbg__art_link link;
typedef mbg__art_node node;

/* ---------------------------------------------------------------------- creation */

int mbg__dca_articulated_create(mbg_context *ctx, mbg__arena *arena, const mbg__tree *tree, mbg__pool *pool,
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
  k->free_ = MBG_TAKE(arena, mbg__art_freedom, k->n);
  k->u = MBG_TAKE(arena, real, k->n);
  k->pool = pool;
  int err = mbg__arena_check(ctx, arena);
  if (err == MBG_OK) {
    mbg__dca_articulated_refresh(k);
    err = mbg__art_pieces_create(ctx, arena, k, &k->pieces);
  }
  return err;
}

static void marker_frame(const mbg__dca_articulated *k, int marker, bool plain, mbg__frame *h) {
  frame_identity(h);
  if (marker >= 0) {
    const mbg__frame *from = &k->design->markers[marker]->h;
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
  if (k->pieces && k->pieces->groups) {
    mbg__art_groups_refresh(k, k->pieces->groups);
  }
}

static int singular(mbg_context *ctx, const mbg__dca_articulated *k, int i, double t) {
  return mbg__fail(
      ctx, MBG_ERROR_SINGULAR,
      "t = %g: body '%s' and the bodies that hang on it have no inertia in the motion of its joint; give it "
      "mass and inertia",
      mbg__time_shown(t), k->m->bodies[k->links[i].body].name);
}

/* ---------------------------------------------------------------------- dynamics in two passes */

static bool use_pieces(const mbg__dca_articulated *k) {
  return k->pieces && !k->refine && (!k->pieces->small || (k->pulls && k->pieces->groups));
}

/* gravity is an upward acceleration of the ground */
static void ground_rate(const mbg__dca_articulated *k, real base[6]) {
  v6_zero(base);
  for (int i = 0; i < 3 && k->m->gravity >= 0; i++) {
    base[i] = -k->design->attr[k->m->gravity + i];
  }
}

int mbg__dca_articulated_dynamics(mbg_context *ctx, mbg__dca_articulated *k, const mbg__tree_state *state, real *a) {
  real base[6];
  ground_rate(k, base);
  k->by_pieces = use_pieces(k) && mbg__art_pieces_dynamics(k, state, base, a);
  if (k->by_pieces) {
    return MBG_OK;
  }
  for (int i = 0; i < k->nbody; i++) {
    const int parent = k->links[i].parent;
    if (state->make) {
      state->make(state->maker, i);
    }
    art_relative(k, i, state->E);
    art_place(k, i, parent >= 0 ? k->nodes[parent].v : NULL, state->w);
  }
  for (int i = k->nbody - 1; i >= 0; i--) {
    const int parent = k->links[i].parent;
    node *n = &k->nodes[i];
    if (!eliminate(&k->links[i], n, k->free_ + k->links[i].first)) {
      return singular(ctx, k, i, re(state->t));
    }
    art_up(k, i, NULL, -0.0, n->c, n->p, k->u, parent >= 0 ? k->nodes[parent].p : NULL);
    if (parent >= 0) {
      carry_inertia(&n->Rel, &n->I, &k->nodes[parent].I);
    }
  }
  for (int i = 0; i < k->nbody; i++) {
    const int parent = k->links[i].parent;
    art_down(k, i, parent >= 0 ? k->nodes[parent].vd : base, k->nodes[i].c, k->u, k->nodes[i].vd, a);
  }
  return MBG_OK;
}

typedef struct {
  const mbg__dca_articulated *k;
  const mbg__frame *H;
  real base[6], *vd;
} rate_job;

/* without the acceleration of the ground */
static void rate(void *user, int i) {
  const rate_job *j = user;
  const link *l = &j->k->links[i];
  real x[3];
  Ad_mul(j->vd + l->off, &l->hC, j->k->nodes[i].vd);
  m3_mulv_T(x, j->H[l->body].R, j->base);
  v3_axpy(j->vd + l->off, -1, x);
}

bool mbg__dca_articulated_rates(mbg__dca_articulated *k, const mbg__frame *H, real *vd) {
  rate_job j = {.k = k, .H = H, .vd = vd};
  if (k->by_pieces) {
    mbg__art_pieces_give(k);
    ground_rate(k, j.base);
    mbg__pool_each(k->pool, MBG__LOOP_BODY_RATES, k->nbody, rate, &j);
  }
  return k->by_pieces;
}

typedef struct {
  const mbg__dca_articulated *k;
  real *f;
} wrench_job;

/* f = Ia vd + p: p contains the part of the accelerations in the freedoms, Ia the rest */
static void wrench(void *user, int i) {
  const wrench_job *j = user;
  const link *l = &j->k->links[i];
  const node *n = &j->k->nodes[i];
  real y[6];
  inertia_mul(&n->I, n->vd, y);
  v6_axpy(y, 1, n->p);
  AdInvT_mul(j->f + l->off, &l->hC, y);
}

void mbg__dca_articulated_wrenches(const mbg__dca_articulated *k, real *f) {
  mbg__pool_each(k->pool, MBG__LOOP_WRENCHES, k->nbody, wrench, &(wrench_job){k, f});
}

/* ---------------------------------------------------------------------- factors and right sides */

int mbg__dca_articulated_factor(mbg_context *ctx, mbg__dca_articulated *k, double t, const mbg__frame *E) {
  k->by_pieces = use_pieces(k) && mbg__art_pieces_factor(k, E);
  if (k->by_pieces) {
    return MBG_OK;
  }
  for (int i = 0; i < k->nbody; i++) {
    art_relative(k, i, E);
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
  return 48 * (size_t)k->nbody + 4 * (size_t)k->n + 1 + mbg__art_pieces_scratch(k->pieces);
}

/* r, c in body axes; p and c in those of K are scratch (6 nbody each), u (n) */
static void solve(const mbg__dca_articulated *k, const real *r, const real *tau, const real *c, real *vd, real *a,
                  real *f, real *scratch) {
  real *p = scratch, *cK = p + 6 * (size_t)k->nbody, *vK = cK + 6 * (size_t)k->nbody, *u = vK + 6 * (size_t)k->nbody;
  if (k->by_pieces) {
    mbg__art_pieces_solve(k, r, tau, c, vd, a, f, scratch);
    return;
  }
  for (int i = 0; i < k->nbody; i++) {
    art_load(k, i, r, c, p + 6 * i, cK + 6 * i);
  }
  for (int i = k->nbody - 1; i >= 0; i--) {
    const int parent = k->links[i].parent;
    art_up(k, i, tau, 0, cK + 6 * i, p + 6 * i, u, parent >= 0 ? p + 6 * parent : NULL);
  }
  for (int i = 0; i < k->nbody; i++) {
    const int parent = k->links[i].parent;
    real *v = vK + 6 * i;
    art_down(k, i, parent >= 0 ? vK + 6 * parent : NULL, cK + 6 * i, u, v, a);
    art_unload(k, i, v, p + 6 * i, vd, f);
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
