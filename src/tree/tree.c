#include "tree/tree.h"

#include "tree/span.h"
#include "tree/tree_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- joints */

/* How a joint moves in a tree: components of its twist, and the row that the tree does not hold. */
typedef struct {
  const char *key;
  unsigned spatial; /* bits of components */
  unsigned planar;  /* between planar bodies; NO: not used there */
  bool plain;       /* planar: in body axes at the markers' origins */
  bool simple;
  const char *row;
} motion;

enum { U1 = 1, U2 = 2, U3 = 4, W1 = 8, W2 = 16, W3 = 32, NO = 64 };

static const motion motions[] = {
    {"fixed", 0, 0, false, true, NULL},
    {"revolute", W3, W3, true, true, NULL},
    {"prismatic", U3, U3, false, true, NULL},
    {"cylindrical", U3 | W3, W3, true, true, NULL},
    {"screw", U3 | W3, NO, true, true, "advance"},
    {"planar", U1 | U2 | W3, U1 | U2 | W3, true, false, NULL},
    {"spherical", W1 | W2 | W3, W3, true, false, NULL},
    {"universal", W1 | W2 | W3, NO, true, false, "R12"},
};

static const motion *motion_of(const mbg_model *m, int joint) {
  for (int i = 0; i < MBG_COUNT(motions); i++) {
    if (!strcmp(motions[i].key, m->joints[joint].type->key)) {
      return &motions[i];
    }
  }
  return NULL;
}

static bool planar(const mbg_model *m, int body) { return body < 0 || m->bodies[body].motion == MBG__PLANAR; }

/* a marker that moves with the modes of its body */
static bool bends(const mbg_model *m, int marker) {
  const int body = m->markers[marker].body;
  return body >= 0 && m->bodies[body].modal >= 0 && m->markers[marker].node != MBG__MODAL_RIGID;
}

/* a point keeps its axes and a planar body its plane, whatever it hangs on: their joints are rows, but in the plane */
static bool usable(const mbg_model *m, int joint, int side) {
  const motion *x = motion_of(m, joint);
  const mbg__pair *pair = &m->pairs[m->joints[joint].pair];
  const int body = mbg__joint_body(m, joint, side), other = mbg__joint_body(m, joint, !side);
  if (!x) {
    return false;
  }
  /* markers that bend have axes of their own: in the plane those of joints whose axis is its normal, or lies in it */
  if (x->plain && !x->simple && m->bodies[body].motion == MBG__PLANAR && (bends(m, pair->A) || bends(m, pair->B))) {
    return false;
  }
  return m->bodies[body].motion == MBG__SPATIAL ||
         (m->bodies[body].motion == MBG__PLANAR && planar(m, other) && x->planar != NO);
}

static void set_components(mbg__link *l, unsigned bits) {
  for (int i = 0; i < 6; i++) {
    if (bits >> i & 1) {
      l->comp[l->nz++] = i;
    }
  }
}

static void set_link(const mbg_model *m, const mbg__span *span, int body, mbg__link *l) {
  *l = (mbg__link){.body = body, .parent = -1, .joint = span->by[body], .P = -1, .C = -1};
  if (l->joint < 0) {
    set_components(l, m->bodies[body].mask);
    l->simple = !(m->bodies[body].mask & (W1 | W2 | W3)); /* translations */
    return;
  }
  const motion *x = motion_of(m, l->joint);
  const mbg__pair *pair = &m->pairs[m->joints[l->joint].pair];
  const bool flat = m->bodies[body].motion == MBG__PLANAR;
  l->side = mbg__joint_body(m, l->joint, 1) == body;
  l->C = l->side ? pair->B : pair->A;
  l->P = l->side ? pair->A : pair->B;
  l->plain = flat && x->plain && !bends(m, pair->A) && !bends(m, pair->B);
  set_components(l, flat ? x->planar : x->spatial);
  l->simple = x->simple || l->nz == 1;
}

/* ---------------------------------------------------------------------- topology */

/* bodies by depth, then in the order of the file; parents come first */
static int list_links(mbg_context *ctx, mbg__tree *t, const mbg__span *span) {
  const mbg_model *m = t->m;
  int deepest = 0, n = 0;
  for (int b = 0; b < m->nbody; b++) {
    deepest = span->depth[b] > deepest ? span->depth[b] : deepest;
  }
  mbg__arena scratch;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  int *first = MBG_TAKE(&scratch, int, deepest + 2);
  if (!first) {
    mbg__arena_destroy(&scratch);
    return mbg__fail_memory(ctx);
  }
  for (int b = 0; b < m->nbody; b++) {
    first[span->depth[b] + 1]++;
  }
  for (int d = 0; d <= deepest; d++) {
    first[d + 1] += first[d];
  }
  for (int b = 0; b < m->nbody; b++) {
    const int k = first[span->depth[b]]++;
    set_link(m, span, b, &t->links[k]);
    t->link_of[b] = k;
  }
  for (int k = 0; k < m->nbody; k++) {
    mbg__link *l = &t->links[k];
    l->parent = l->joint >= 0 && span->parent[l->body] >= 0 ? t->link_of[span->parent[l->body]] : -1;
    l->first = n;
    n += l->nz;
  }
  t->n = n;
  mbg__arena_destroy(&scratch);
  return MBG_OK;
}

static void mark_held(mbg__tree *t) {
  const mbg_model *m = t->m;
  for (int k = 0; k < m->nbody; k++) {
    const int j = t->links[k].joint;
    const motion *x = j >= 0 ? motion_of(m, j) : NULL;
    for (int i = 0; x && i < m->joints[j].nrow; i++) {
      const int row = m->joints[j].row + i;
      t->held[row] = !x->row || strcmp(m->rows[row].name, x->row) != 0;
    }
  }
}

/* ---------------------------------------------------------------------- redundant rows */

/* null vectors of B^T: lambda_d = 1, lambda_I = -T_d; N by rows (nrow x ndropped) */
static void null_vectors(const mbg__rank *rank, double *N) {
  const int nd = rank->ndropped;
  for (int d = 0; d < nd; d++) {
    N[(size_t)rank->dropped[d] * (size_t)nd + (size_t)d] = 1;
    for (int i = 0; i < rank->nkept; i++) {
      N[(size_t)rank->kept[i] * (size_t)nd + (size_t)d] = -rank->T[(size_t)d * (size_t)rank->nkept + (size_t)i];
    }
  }
}

static double norm(const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i] * x[i];
  }
  return sqrt(s);
}

/* takes the direction of a row out of all */
static void project(double *N, int nrow, int nd, int row, double *u) {
  const double l = norm(N + (size_t)row * (size_t)nd, nd);
  for (int d = 0; d < nd; d++) {
    u[d] = N[(size_t)row * (size_t)nd + (size_t)d] / l;
  }
  for (int i = 0; i < nrow; i++) {
    double dot = 0, *x = N + (size_t)i * (size_t)nd;
    for (int d = 0; d < nd; d++) {
      dot += x[d] * u[d];
    }
    for (int d = 0; d < nd; d++) {
      x[d] -= dot * u[d];
    }
  }
}

/* Rows to drop are those of the start where the tree does not hold them; for the others the rows with the largest part of the null
   vectors that are left. The tree's own rows are independent, so that enough are found. */
static int drop_rows(mbg_context *ctx, mbg__tree *t, const mbg__rank *rank, bool *dropped) {
  const int nd = rank->ndropped, nrow = rank->nrow;
  mbg__arena scratch;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  double *N = MBG_TAKE(&scratch, double, (size_t)nrow *(size_t)nd), *u = MBG_TAKE(&scratch, double, nd);
  if (!N || !u) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  null_vectors(rank, N);
  for (int pass = 0, found = 0; pass < 2; pass++) {
    while (found < nd) {
      double most = pass ? 1e-12 : 1e-6;
      int best = -1;
      for (int i = 0; i < nrow; i++) {
        const double x = norm(N + (size_t)i * (size_t)nd, nd);
        if (!t->held[i] && !dropped[i] && (pass || !rank->keep[i]) && x >= most * (1 - 1e-9)) {
          most = x;
          best = i;
        }
      }
      if (best < 0) {
        break;
      }
      dropped[best] = true;
      found++;
      project(N, nrow, nd, best, u);
    }
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}

static int list_rows(mbg_context *ctx, mbg__tree *t, const mbg__rank *rank) {
  bool *dropped = MBG_TAKE(&t->arena, bool, t->m->nrow);
  t->rows = MBG_TAKE(&t->arena, int, t->m->nrow);
  t->dropped = MBG_TAKE(&t->arena, int, t->m->nrow);
  if (!dropped || !t->rows || !t->dropped) {
    return mbg__fail_memory(ctx);
  }
  const int err = rank->ndropped > 0 ? drop_rows(ctx, t, rank, dropped) : MBG_OK;
  t->free_rows = MBG_TAKE(&t->arena, bool, t->m->nrow);
  if (!t->free_rows) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < t->m->nrow; i++) {
    t->free_rows[i] = !t->held[i];
    if (dropped[i]) {
      t->dropped[t->ndropped++] = i;
    } else if (!t->held[i]) {
      t->rows[t->nrow++] = i;
    }
  }
  return err;
}

/* ---------------------------------------------------------------------- creation */

#define TAKE(field, type, count)                                                                                       \
  do {                                                                                                                 \
    t->field = mbg__arena_take(&t->arena, (size_t)(count), sizeof(type));                                              \
    if (!t->field) {                                                                                                   \
      return mbg__fail_memory(ctx);                                                                                    \
    }                                                                                                                  \
  } while (0)

static int take_frames(mbg_context *ctx, mbg__tree *t) {
  const int n = t->m->nbody;
  TAKE(hP, mbg__frame, n);
  TAKE(hC, mbg__frame, n);
  TAKE(hCi, mbg__frame, n);
  TAKE(E, mbg__frame, n);
  TAKE(Rel, mbg__frame, n);
  TAKE(H, mbg__frame, n);
  TAKE(Sb, vec6, t->n);
  return MBG_OK;
}

static int take_vectors(mbg_context *ctx, mbg__tree *t) {
  real **bodies[] = {&t->v, &t->vd,    &t->u, &t->Xv,  &t->Xvd, &t->Xq, &t->s,  &t->sa, &t->sq, &t->F,
                     &t->f, &t->theta, &t->g, &t->eta, &t->nu,  &t->al, &t->du, &t->dr, &t->ct, &t->cg};
  real **rows[] = {&t->lambda, &t->phi, &t->phid, &t->phidd, &t->row0, &t->row1, &t->row2, &t->row3};
  bool all = true;
  for (int i = 0; i < MBG_COUNT(bodies); i++) {
    *bodies[i] = MBG_TAKE(&t->arena, real, t->m->nw);
    all = all && *bodies[i];
  }
  for (int i = 0; i < MBG_COUNT(rows); i++) {
    *rows[i] = MBG_TAKE(&t->arena, real, t->m->nrow);
    all = all && *rows[i];
  }
  return all ? MBG_OK : mbg__fail_memory(ctx);
}

static int span_links(mbg_context *ctx, mbg__tree *t, const mbg__rank *rank) {
  const mbg_model *m = t->m;
  mbg__arena scratch;
  mbg__span span;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  int *kept = MBG_TAKE(&scratch, int, m->njoint);
  t->links = MBG_TAKE(&t->arena, mbg__link, m->nbody);
  t->link_of = MBG_TAKE(&t->arena, int, m->nbody);
  t->held = MBG_TAKE(&t->arena, bool, m->nrow);
  if (!kept || !t->links || !t->link_of || !t->held) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int j = 0; j < m->njoint; j++) {
    for (int i = m->joints[j].row; i < m->joints[j].row + m->joints[j].nrow; i++) {
      kept[j] += rank->keep[i];
    }
  }
  MBG_TRY(mbg__span_create(ctx, &scratch, m, kept, usable, &span));
  MBG_TRY(list_links(ctx, t, &span));
  mark_held(t);
done:
  mbg__arena_destroy(&scratch);
  return err;
}

int mbg__tree_create(mbg_context *ctx, mbg__system *sys, const mbg__rank *rank, mbg__tree **out) {
  int err = MBG_OK;
  mbg__tree *t = mbg__alloc_zero(ctx, 1, sizeof(*t));
  if (!t) {
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&t->arena, mbg__context_allocator(ctx));
  t->m = mbg__system_model(sys);
  t->sys = sys;
  t->design = mbg__system_design(sys);
  MBG_TRY(span_links(ctx, t, rank));
  MBG_TRY(list_rows(ctx, t, rank));
  MBG_TRY(take_frames(ctx, t));
  MBG_TRY(take_vectors(ctx, t));
  mbg__tree_refresh(t);
done:
  if (err < 0) {
    mbg__tree_destroy(t);
    t = NULL;
  }
  *out = t;
  return err;
}

void mbg__tree_destroy(mbg__tree *t) {
  if (!t) {
    return;
  }
  const mbg_allocator allocator = t->arena.allocator;
  mbg__arena_destroy(&t->arena);
  allocator.release(allocator.user, t);
}

mbg__system *mbg__tree_system(const mbg__tree *t) { return t->sys; }

int mbg__tree_size(const mbg__tree *t) { return t->n; }

int mbg__tree_rows(const mbg__tree *t, const int **rows) {
  if (rows) {
    *rows = t->rows;
  }
  return t->nrow;
}

const mbg__link *mbg__tree_links(const mbg__tree *t) { return t->links; }

/* ---------------------------------------------------------------------- design */

static void link_frame(const mbg__tree *t, int marker, bool plain, mbg__frame *h) {
  frame_identity(h);
  if (marker >= 0) {
    const mbg__frame *from = &t->design->markers[marker].h;
    v3_copy(h->x, from->x);
    if (!plain) {
      m3_copy(h->R, from->R);
    }
  }
}

void mbg__tree_refresh(mbg__tree *t) {
  t->known = t->placed = false;
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    link_frame(t, l->P, l->plain, &t->hP[k]);
    link_frame(t, l->C, l->plain, &t->hC[k]);
    frame_inv(&t->hCi[k], &t->hC[k]);
    for (int i = 0; i < l->nz; i++) {
      real e[6] = {0};
      e[l->comp[i]] = 1;
      Ad_mul(t->Sb[l->first + i], &t->hC[k], e);
    }
  }
}

/* ---------------------------------------------------------------------- states */

/* x = y_i - X y_p in body axes */
static void relative(const mbg__tree *t, int k, const real *y, real x[6]) {
  const real *p = parent_of(t, k, y);
  v6_copy(x, y + link_off(t, k));
  if (p) {
    real c[6];
    AdInv_mul(c, &t->Rel[k], p);
    v6_sub(x, x, c);
  }
}

/* Rel = hP E hC^-1 */
static void set_relative(mbg__tree *t, int k) {
  mbg__frame F;
  frame_mul(&F, &t->hP[k], &t->E[k]);
  frame_mul(&t->Rel[k], &F, &t->hCi[k]);
}

void mbg__tree_read(mbg__tree *t, const mbg__frame *H, const real *v, mbg__frame *E, real *w) {
  t->known = false;
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    mbg__frame P = t->hP[k], C;
    real x[6], y[6];
    if (l->parent >= 0) {
      frame_mul(&P, &H[t->links[l->parent].body], &t->hP[k]);
    }
    frame_mul(&C, &H[l->body], &t->hC[k]);
    frame_relative(&E[k], &P, &C);
    t->E[k] = E[k];
    set_relative(t, k);
    relative(t, k, v, x);
    AdInv_mul(y, &t->hC[k], x);
    for (int i = 0; i < l->nz; i++) {
      w[l->first + i] = y[l->comp[i]];
    }
  }
}

static void step_of(const mbg__link *l, const real *d, real x[6]) {
  v6_zero(x);
  for (int i = 0; i < l->nz; i++) {
    x[l->comp[i]] = d[l->first + i];
  }
}

void mbg__tree_move(const mbg__tree *t, const mbg__frame *E, const real *d, mbg__frame *out) {
  for (int k = 0; k < t->m->nbody; k++) {
    real x[6];
    step_of(&t->links[k], d, x);
    mbg__se3_retract(&out[k], &E[k], x);
  }
}

/* ---------------------------------------------------------------------- update */

/* out = sum of Sb x over the coordinates of a link */
static void joint_twist(const mbg__tree *t, int k, const real *x, real out[6]) {
  const mbg__link *l = &t->links[k];
  v6_zero(out);
  for (int i = 0; x && i < l->nz; i++) {
    v6_axpy(out, x[l->first + i], t->Sb[l->first + i]);
  }
}

/* X y_p, 0 on the ground */
static void carried(const mbg__tree *t, int k, const real *y, real out[6]) {
  const real *p = parent_of(t, k, y);
  if (p) {
    AdInv_mul(out, &t->Rel[k], p);
  } else {
    v6_zero(out);
  }
}

static void place_bodies(mbg__tree *t) {
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    set_relative(t, k);
    if (l->parent >= 0) {
      frame_mul(&t->H[l->body], &t->H[t->links[l->parent].body], &t->Rel[k]);
    } else {
      t->H[l->body] = t->Rel[k];
    }
  }
  t->known = true;
}

/* u = J q */
static void weigh_link(mbg__tree *t, int k, const real *q) {
  const int off = link_off(t, k);
  joint_twist(t, k, q, t->sq + off);
  carried(t, k, t->u, t->Xq + off);
  v6_add(t->u + off, t->Xq + off, t->sq + off);
}

static void link_update(mbg__tree *t, int k, const mbg__tree_state *st) {
  const int off = link_off(t, k);
  real c[6];
  joint_twist(t, k, st->w, t->s + off);
  carried(t, k, t->v, t->Xv + off);
  v6_add(t->v + off, t->Xv + off, t->s + off);
  joint_twist(t, k, st->a, t->sa + off);
  carried(t, k, t->vd, t->Xvd + off);
  v6_add(t->vd + off, t->Xvd + off, t->sa + off);
  ad_mul(c, t->v + off, t->s + off);
  v6_axpy(t->vd + off, 1, c);
  if (st->q) {
    weigh_link(t, k, st->q);
  }
}

void mbg__tree_frames(const mbg__tree *t, const mbg__frame *E, const real *w, mbg__frame *H, real *v) {
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    mbg__frame F, Rel;
    real s[6];
    frame_mul(&F, &t->hP[k], &E[k]);
    frame_mul(&Rel, &F, &t->hCi[k]);
    joint_twist(t, k, w, s);
    if (l->parent >= 0) {
      const int p = t->links[l->parent].body;
      frame_mul(&H[l->body], &H[p], &Rel);
      AdInv_mul(v + link_off(t, k), &Rel, v + t->m->bodies[p].voff);
      v6_axpy(v + link_off(t, k), 1, s);
    } else {
      H[l->body] = Rel;
      v6_copy(v + link_off(t, k), s);
    }
  }
}

static void spread_rows(const mbg__tree *t, const real *x, real *out) {
  memset(out, 0, (size_t)t->m->nrow * sizeof(real));
  for (int i = 0; x && i < t->nrow; i++) {
    out[t->rows[i]] = x[i];
  }
}

mbg__state mbg__tree_bodies(const mbg__tree *t) {
  return (mbg__state){.t = t->t, .H = t->H, .v = t->v, .vd = t->vd, .turns = t->turns};
}

int mbg__tree_update(mbg_context *ctx, mbg__tree *t, const mbg__tree_state *st) {
  const size_t frames = (size_t)t->m->nbody * sizeof(*t->E);
  const bool still = t->known && memcmp(t->E, st->E, frames) == 0;
  if (!still) {
    memcpy(t->E, st->E, frames);
    t->placed = false;
    place_bodies(t);
  }
  t->t = st->t;
  t->turns = st->turns;
  t->only_q = st->q != NULL;
  for (int k = 0; k < t->m->nbody; k++) {
    link_update(t, k, st);
  }
  spread_rows(t, st->lambda, t->lambda);
  mbg__state bodies = mbg__tree_bodies(t);
  bodies.lambda = t->lambda;
  bodies.rows = t->free_rows;
  bodies.still = still;
  return t->only_q ? mbg__system_update_bare(ctx, t->sys, &bodies) : mbg__system_update(ctx, t->sys, &bodies);
}

void mbg__tree_weigh(mbg__tree *t, const real *q, const real *lambda) {
  for (int k = 0; k < t->m->nbody; k++) {
    weigh_link(t, k, q);
  }
  spread_rows(t, lambda, t->lambda);
  mbg__system_multipliers_at(t->sys, t->lambda);
}

/* ---------------------------------------------------------------------- residual */

/* x (nw): each body's own part becomes the sum over all that hangs on it */
static void gather(const mbg__tree *t, real *x) {
  for (int k = t->m->nbody - 1; k >= 0; k--) {
    if (t->links[k].parent >= 0) {
      real c[6];
      AdInvT_mul(c, &t->Rel[k], x + link_off(t, k));
      v6_axpy(x + link_off(t, t->links[k].parent), 1, c);
    }
  }
}

static void pick_rows(const mbg__tree *t, const real *x, real *out) {
  for (int i = 0; out && i < t->nrow; i++) {
    out[i] = x[t->rows[i]];
  }
}

/* F += M J q on the free components */
static void add_inertia(const mbg__tree *t, const real *x, real *F) {
  for (int b = 0; b < t->m->nbody; b++) {
    const int off = t->m->bodies[b].voff;
    real c[6];
    m6_mulv(c, t->design->M + 36 * b, x + off);
    for (int i = 0; i < 6; i++) {
      F[off + i] += t->m->dof[off + i] >= 0 ? c[i] : 0;
    }
  }
}

void mbg__tree_residual(mbg__tree *t, real *E1, real *phi, real *phid, real *phidd) {
  mbg__system_residual(t->sys, E1 ? t->F : NULL, t->phi, t->phid, phidd ? t->phidd : NULL, NULL);
  pick_rows(t, t->phi, phi);
  pick_rows(t, t->phid, phid);
  pick_rows(t, t->phidd, phidd);
  if (!E1) {
    return;
  }
  if (t->only_q) {
    add_inertia(t, t->u, t->F);
  }
  memcpy(t->f, t->F, (size_t)t->m->nw * sizeof(real));
  gather(t, t->f);
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    for (int i = 0; i < l->nz; i++) {
      E1[l->first + i] = v6_dot(t->Sb[l->first + i], t->f + link_off(t, k));
    }
  }
}

int mbg__tree_dropped(const mbg__tree *t, double *violation) {
  int worst = -1;
  *violation = -1;
  for (int i = 0; i < t->ndropped; i++) {
    const double x = fabs(re(t->phi[t->dropped[i]]));
    if (x > *violation) {
      *violation = x;
      worst = t->dropped[i];
    }
  }
  return worst;
}

/* ---------------------------------------------------------------------- tangent map of increments */

void mbg__tree_tangent_matrix(const mbg__link *l, const real *d, real T[36]) {
  real x[6];
  step_of(l, d, x);
  mbg__se3_tangent(T, x);
}

void mbg__tree_tangent(const mbg__link *l, const real *d, const real *x, real *out) {
  real T[36];
  if (l->simple) {
    vn_copy(l->nz, out, x);
    return;
  }
  mbg__tree_tangent_matrix(l, d, T);
  for (int i = 0; i < l->nz; i++) {
    out[i] = 0;
    for (int j = 0; j < l->nz; j++) {
      out[i] += T[6 * l->comp[i] + l->comp[j]] * x[j];
    }
  }
}

void mbg__tree_tangent_T(const mbg__link *l, const real *d, const real *x, real *out) {
  real T[36];
  if (l->simple) {
    vn_copy(l->nz, out, x);
    return;
  }
  mbg__tree_tangent_matrix(l, d, T);
  for (int i = 0; i < l->nz; i++) {
    out[i] = 0;
    for (int j = 0; j < l->nz; j++) {
      out[i] += T[6 * l->comp[j] + l->comp[i]] * x[j];
    }
  }
}
