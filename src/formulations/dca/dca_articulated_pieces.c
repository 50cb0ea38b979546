/* The articulated-body recursion by pieces (theory 3, section 6, with the handles of pieces for joints). A piece is a
   connected part of the tree. It hangs on its base, a link outside, by its first link; other pieces hang on one of its
   links at most, the exit. With the acceleration vb of the base and the wrench q of what hangs on the exit, the
   recursion inside the piece gives

     f = I vb + p + K^T q        vd = K vb + b - Phi q         at base and exit

   q = Ie vd + pe, and (Ie, pe) are the sums of (I, p) over the pieces that hang there, so that

     vd = (1 + Phi Ie)^-1 (K vb + b - Phi pe)                  I += K^T Ie (1 + Phi Ie)^-1 K

   Pieces are worked on in threads, and one thread goes through the short tree of pieces in between. */
#include "formulations/dca/dca_articulated_groups.h"
#include "math/avx2.h"
#include "system/system_lanes.h"
#include "tree/tree_pieces.h"

#include <string.h>

/* bodies of a tree that is cut, of a piece at least; pieces of a very large tree, four times as many as threads have
   groups of equal ones; bodies of a small tree that is cut for its pulls */
enum { LARGE = 512, SIZE = 32, PIECES = 64, SMALL = 32 };

typedef mbg__art_piece piece;
typedef mbg__art_side side;

/* ---------------------------------------------------------------------- creation */

/* links of a piece: of a small tree as many as make one group of equal ones; 0: not cut */
static int piece_size(const mbg__dca_articulated *k) {
  if (k->nbody >= LARGE) {
    return k->nbody / PIECES > SIZE ? k->nbody / PIECES : SIZE;
  }
  return k->nbody >= SMALL && k->m->nforce == 0 ? k->nbody / 4 : 0;
}

int mbg__art_pieces_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_articulated *k, mbg__art_pieces **out) {
  const int size = piece_size(k);
  mbg__tree_pieces cut;
  int err = MBG_OK;
  *out = NULL;
  if (size == 0) {
    return MBG_OK;
  }
  MBG_TRY(mbg__tree_pieces_create(ctx, arena, k->m, mbg__tree_links(k->tree), size, &cut));
  mbg__art_pieces *p = MBG_TAKE(arena, mbg__art_pieces, 1);
  piece *pieces = MBG_TAKE(arena, piece, cut.n);
  side *sides = MBG_TAKE(arena, side, cut.n);
  MBG_TRY(mbg__arena_check(ctx, arena));
  *p = (mbg__art_pieces){.n = cut.n,
                         .small = k->nbody < LARGE,
                         .wide = mbg__lanes_wide(),
                         .pieces = pieces,
                         .list = cut.list,
                         .path = cut.path,
                         .sides = sides};
  for (int j = 0; j < cut.n; j++) {
    const mbg__tree_piece *x = &cut.pieces[j];
    pieces[j] = (piece){.first = x->first, .count = x->count, .path = x->path, .npath = x->npath, .base = x->base};
  }
  *out = p;
  MBG_TRY(mbg__art_groups_create(ctx, arena, k, &p->groups));
  if (p->groups) {
    mbg__art_groups_refresh(k, p->groups);
  }
done:
  return err;
}

size_t mbg__art_pieces_scratch(const mbg__art_pieces *p) {
  return p ? (size_t)p->n * (sizeof(side) / sizeof(real)) : 0;
}

/* ---------------------------------------------------------------------- factors */

/* P (columns of K^T) from the exit to the base, and Phi */
static void factor_path(const mbg__dca_articulated *k, const mbg__art_pieces *s, piece *x) {
  memset(x->P, 0, sizeof(x->P));
  memset(x->Phi, 0, sizeof(x->Phi));
  for (int c = 0; c < 6; c++) {
    x->P[c][c] = 1;
  }
  for (int q = x->npath - 1; q >= 0; q--) {
    const int i = s->path[x->path + q];
    const mbg__art_link *l = &k->links[i];
    for (int j = 0; j < l->nz; j++) {
      const mbg__art_freedom *f = &k->free_[l->first + j];
      real w[6];
      for (int c = 0; c < 6; c++) {
        w[c] = x->P[c][l->comp[j]];
      }
      m6_outer_add(x->Phi, f->inverse, w, w);
      for (int c = 0; c < 6; c++) {
        v6_axpy(x->P[c], -w[c] * f->inverse, f->U);
      }
    }
    for (int c = 0; c < 6; c++) {
      real z[6];
      AdInvT_mul(z, &k->nodes[i].Rel, x->P[c]);
      v6_copy(x->P[c], z);
    }
  }
}

/* a freedom of the piece alone has next to no inertia: it needs that of what hangs on the exit */
static bool too_light(const mbg__art_link *l, const mbg__art_inertia *own, const mbg__art_freedom *x) {
  for (int j = 0; j < l->nz; j++) {
    const real *d = l->comp[j] < 3 ? own->A : own->C;
    const double most = fmax(re(d[0]), fmax(re(d[1]), re(d[2])));
    if (!(re(x[j].inverse) * most < 1e6)) {
      return true;
    }
  }
  return false;
}

/* eliminates link i, whose inertia goes to the parent or to that of the piece */
static bool factor_link(mbg__dca_articulated *k, piece *x, int i, bool first) {
  const mbg__art_link *l = &k->links[i];
  mbg__art_node *n = &k->nodes[i];
  const mbg__art_inertia before = n->I;
  if (!eliminate(l, n, k->free_ + l->first) || too_light(l, &before, k->free_ + l->first)) {
    return false;
  }
  carry_inertia(&n->Rel, &n->I, first ? &x->I : &k->nodes[l->parent].I);
  return true;
}

/* I += N, made symmetric */
static void add_inertia(const real N[36], mbg__art_inertia *I) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int i = 0; i < 6; i++) {
    const int r = row[i], c = column[i];
    I->A[i] += (N[6 * r + c] + N[6 * c + r]) / 2;
    I->C[i] += (N[6 * (3 + r) + 3 + c] + N[6 * (3 + c) + 3 + r]) / 2;
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      I->B[3 * i + j] += (N[6 * i + 3 + j] + N[6 * (3 + j) + i]) / 2;
    }
  }
}

/* 1 + Phi Ie, then I += K^T Ie (1 + Phi Ie)^-1 K */
static void factor_exit(const mbg__art_pieces *s, piece *x) {
  real N[36];
  mbg__art_exit_factor(s, x, N);
  add_inertia(N, &x->I);
}

/* 1 + Phi Ie, and what the piece shows at its base, from the tips to the ground */
static void factor_coarse(const mbg__art_pieces *s) {
  for (int j = 0; j < s->n; j++) {
    memset(&s->pieces[j].Ie, 0, sizeof(s->pieces[j].Ie));
  }
  for (int j = s->n - 1; j >= 0; j--) {
    piece *x = &s->pieces[j];
    if (x->npath > 0) {
      factor_exit(s, x);
    }
    if (x->base >= 0) {
      piece *b = &s->pieces[x->base];
      vn_axpy(6, b->Ie.A, 1, x->I.A);
      vn_axpy(9, b->Ie.B, 1, x->I.B);
      vn_axpy(6, b->Ie.C, 1, x->I.C);
    }
  }
}

/* ---------------------------------------------------------------------- right sides */

/* b: acceleration of the exit with the base at rest */
static void exit_rate(const mbg__dca_articulated *k, const mbg__art_pieces *s, const piece *x, const real *c,
                      size_t stride, const real *u, side *r) {
  for (int q = 0; q < x->npath; q++) {
    const int i = s->path[x->path + q];
    real v[6];
    art_down(k, i, q > 0 ? r->b : NULL, c + (size_t)i * stride, u, v, NULL);
    v6_copy(r->b, v);
  }
}

/* vd and q of the exit for the acceleration vb of the base, NULL: 0 */
static void exit_wrench(const piece *x, side *r, const real *vb) {
  real y[6];
  m6_mulv(y, x->Phi, r->pe);
  v6_sub(r->vd, r->b, y);
  for (int i = 0; vb && i < 6; i++) {
    r->vd[i] += v6_dot(x->P[i], vb);
  }
  lu_solve(x->LU, x->pivot, r->vd);
  inertia_mul(&x->Ie, r->vd, r->q);
  v6_axpy(r->q, 1, r->pe);
}

void mbg__art_pieces_coarse(const mbg__art_pieces *s, side *sides, const real *base) {
  for (int j = 0; j < s->n; j++) {
    v6_zero(sides[j].pe);
  }
  for (int j = s->n - 1; j >= 0; j--) {
    const piece *x = &s->pieces[j];
    side *r = &sides[j];
    if (x->npath > 0) {
      exit_wrench(x, r, NULL);
      for (int i = 0; i < 6; i++) {
        v6_axpy(r->p, r->q[i], x->P[i]);
      }
    }
    if (x->base >= 0) {
      v6_axpy(sides[x->base].pe, 1, r->p);
    }
  }
  for (int j = 0; j < s->n; j++) {
    const piece *x = &s->pieces[j];
    if (x->npath > 0) {
      exit_wrench(x, &sides[j], x->base >= 0 ? sides[x->base].vd : base);
    }
  }
}

/* the wrench q at the exit, carried through the piece: changes u and p of the path */
static void add_exit(const mbg__dca_articulated *k, const mbg__art_pieces *s, const piece *x, const real q0[6], real *u,
                     real *p, size_t stride) {
  real d[6], z[6];
  v6_copy(d, q0);
  for (int q = x->npath - 1; q >= 0; q--) {
    const int i = s->path[x->path + q];
    const mbg__art_link *l = &k->links[i];
    for (int j = 0; j < l->nz; j++) {
      const mbg__art_freedom *f = &k->free_[l->first + j];
      const real du = -d[l->comp[j]];
      u[l->first + j] += du;
      v6_axpy(d, du * f->inverse, f->U);
    }
    v6_axpy(p + (size_t)i * stride, 1, d);
    AdInvT_mul(z, &k->nodes[i].Rel, d);
    v6_copy(d, z);
  }
}

/* ---------------------------------------------------------------------- dynamics */

static const size_t NODE = sizeof(mbg__art_node) / sizeof(real);

typedef mbg__art_dynamics dynamics;

/* relative frames, and the exit from the base */
static void place_piece(void *user, int j) {
  const dynamics *d = user;
  mbg__dca_articulated *k = d->k;
  const mbg__art_pieces *s = k->pieces;
  piece *x = &s->pieces[j];
  for (int q = x->first; q < x->first + x->count; q++) {
    if (d->state) {
      d->state->make(d->state->maker, s->list[q]);
    }
    art_relative(k, s->list[q], d->E);
  }
  for (int q = 0; d->w && q < x->npath; q++) {
    const mbg__art_link *l = &k->links[s->path[x->path + q]];
    const mbg__frame *Rel = &k->nodes[s->path[x->path + q]].Rel, G = x->G;
    real y[6] = {0};
    if (q > 0) {
      frame_mul(&x->G, &G, Rel);
      AdInv_mul(y, Rel, x->s);
    } else {
      x->G = *Rel;
    }
    for (int i = 0; i < l->nz; i++) {
      y[l->comp[i]] += d->w[l->first + i];
    }
    v6_copy(x->s, y);
  }
}

static void place_coarse(const mbg__art_pieces *s) {
  for (int j = 0; j < s->n; j++) {
    piece *x = &s->pieces[j];
    v6_copy(x->v, x->s);
    if (x->npath > 0 && x->base >= 0) {
      real y[6];
      AdInv_mul(y, &x->G, s->pieces[x->base].v);
      v6_axpy(x->v, 1, y);
    }
  }
}

static const real *parent_vector(const mbg__dca_articulated *k, const piece *x, int q, int i, const real *outside,
                                 const real *nodes, size_t stride) {
  return q == x->first ? outside : nodes + (size_t)k->links[i].parent * stride;
}

static void factor_piece(void *user, int j) {
  const dynamics *d = user;
  mbg__dca_articulated *k = d->k;
  const mbg__art_pieces *s = k->pieces;
  piece *x = &s->pieces[j];
  side *r = &s->sides[j];
  const real *vb = x->base >= 0 ? s->pieces[x->base].v : NULL;
  for (int q = x->first; q < x->first + x->count; q++) {
    const int i = s->list[q];
    art_place(k, i, parent_vector(k, x, q, i, vb, k->nodes[0].v, NODE), d->w);
  }
  memset(&x->I, 0, sizeof(x->I));
  v6_zero(r->p);
  x->bad = false;
  for (int q = x->first + x->count - 1; q >= x->first && !x->bad; q--) {
    const int i = s->list[q];
    mbg__art_node *n = &k->nodes[i];
    x->bad = !factor_link(k, x, i, q == x->first);
    art_up(k, i, NULL, -0.0, n->c, n->p, k->u, q == x->first ? r->p : k->nodes[k->links[i].parent].p);
  }
  if (!x->bad) {
    factor_path(k, s, x);
    exit_rate(k, s, x, k->nodes[0].c, NODE, k->u, r);
  }
}

static void accelerate_piece(void *user, int j) {
  const dynamics *d = user;
  mbg__dca_articulated *k = d->k;
  const mbg__art_pieces *s = k->pieces;
  const piece *x = &s->pieces[j];
  const real *vb = x->base >= 0 ? s->sides[x->base].vd : d->base;
  if (x->npath > 0) {
    add_exit(k, s, x, s->sides[j].q, k->u, k->nodes[0].p, NODE);
  }
  for (int q = x->first; q < x->first + x->count; q++) {
    const int i = s->list[q];
    art_down(k, i, parent_vector(k, x, q, i, vb, k->nodes[0].vd, NODE), k->nodes[i].c, k->u, k->nodes[i].vd, d->a);
  }
}

static bool any_bad(const mbg__art_pieces *s) {
  for (int j = 0; j < s->n; j++) {
    if (s->pieces[j].bad) {
      return true;
    }
  }
  return false;
}

static bool any_bad_group(const struct mbg__art_groups *x) {
  for (int i = 0; i < x->n; i++) {
    if (x->groups[i].bad) {
      return true;
    }
  }
  return false;
}

/* The three phases inside pieces, one by one or in groups. */
bool mbg__art_pieces_dynamics(mbg__dca_articulated *k, const mbg__tree_state *state, const real base[6], real *a) {
  dynamics d = {k, state->E, state->w, base, a, state->make ? state : NULL};
  const mbg__art_pieces *s = k->pieces;
  struct mbg__art_groups *g = s->groups;
  const int n = g ? g->n : s->n;
  mbg__pool_heavy(k->pool, MBG__LOOP_PIECES_PLACE, n, g ? mbg__art_group_place : place_piece, &d);
  place_coarse(s);
  mbg__pool_heavy(k->pool, MBG__LOOP_PIECES_FACTOR, n, g ? mbg__art_group_factor : factor_piece, &d);
  if (g ? any_bad_group(g) : any_bad(s)) {
    return false;
  }
  factor_coarse(s);
  mbg__art_pieces_coarse(s, s->sides, base);
  mbg__pool_heavy(k->pool, MBG__LOOP_PIECES_ACCELERATE, n, g ? mbg__art_group_accelerate : accelerate_piece, &d);
  if (g) {
    g->due = g->current = true;
  }
  return true;
}

void mbg__art_pieces_give(mbg__dca_articulated *k) {
  struct mbg__art_groups *g = k->pieces->groups;
  if (g && g->due) {
    mbg__pool_heavy(k->pool, MBG__LOOP_PIECES_GIVE, g->n, mbg__art_group_give, k);
    g->due = false;
  }
}

/* ---------------------------------------------------------------------- factors and right sides alone */

static void factor_alone(void *user, int j) {
  const dynamics *d = user;
  mbg__dca_articulated *k = d->k;
  const mbg__art_pieces *s = k->pieces;
  piece *x = &s->pieces[j];
  for (int q = x->first; q < x->first + x->count; q++) {
    own_inertia(&k->links[s->list[q]], &k->nodes[s->list[q]].I);
  }
  memset(&x->I, 0, sizeof(x->I));
  x->bad = false;
  for (int q = x->first + x->count - 1; q >= x->first && !x->bad; q--) {
    x->bad = !factor_link(k, x, s->list[q], q == x->first);
  }
  if (!x->bad) {
    factor_path(k, s, x);
  }
}

bool mbg__art_pieces_factor(mbg__dca_articulated *k, const mbg__frame *E) {
  dynamics d = {.k = k, .E = E};
  const mbg__art_pieces *s = k->pieces;
  if (s->groups) {
    s->groups->due = s->groups->current = false;
  }
  mbg__pool_heavy(k->pool, MBG__LOOP_PIECES_PLACE_ALONE, s->n, place_piece, &d);
  mbg__pool_heavy(k->pool, MBG__LOOP_PIECES_FACTOR_ALONE, s->n, factor_alone, &d);
  if (any_bad(s)) {
    return false;
  }
  factor_coarse(s);
  return true;
}

typedef struct {
  const mbg__dca_articulated *k;
  const real *r, *tau, *c;
  real *p, *cK, *vK, *u;
  side *sides;
  real *vd, *a, *f;
} right_side;

static void load_piece(void *user, int j) {
  const right_side *b = user;
  const mbg__dca_articulated *k = b->k;
  const mbg__art_pieces *s = k->pieces;
  const piece *x = &s->pieces[j];
  side *r = &b->sides[j];
  for (int q = x->first; q < x->first + x->count; q++) {
    const int i = s->list[q];
    art_load(k, i, b->r, b->c, b->p + 6 * i, b->cK + 6 * i);
  }
  v6_zero(r->p);
  for (int q = x->first + x->count - 1; q >= x->first; q--) {
    const int i = s->list[q];
    art_up(k, i, b->tau, 0, b->cK + 6 * i, b->p + 6 * i, b->u, q == x->first ? r->p : b->p + 6 * k->links[i].parent);
  }
  exit_rate(k, s, x, b->cK, 6, b->u, r);
}

static void solve_piece(void *user, int j) {
  const right_side *b = user;
  const mbg__dca_articulated *k = b->k;
  const mbg__art_pieces *s = k->pieces;
  const piece *x = &s->pieces[j];
  const real *vb = x->base >= 0 ? b->sides[x->base].vd : NULL;
  if (x->npath > 0) {
    add_exit(k, s, x, b->sides[j].q, b->u, b->p, 6);
  }
  for (int q = x->first; q < x->first + x->count; q++) {
    const int i = s->list[q];
    real *v = b->vK + 6 * i;
    art_down(k, i, parent_vector(k, x, q, i, vb, b->vK, 6), b->cK + 6 * i, b->u, v, b->a);
    art_unload(k, i, v, b->p + 6 * i, b->vd, b->f);
  }
}

void mbg__art_pieces_solve(const mbg__dca_articulated *k, const real *r, const real *tau, const real *c, real *vd,
                           real *a, real *f, real *scratch) {
  const mbg__art_pieces *s = k->pieces;
  const size_t nw = 6 * (size_t)k->nbody;
  right_side b = {.k = k, .r = r, .tau = tau, .c = c, .vd = vd, .a = a, .f = f};
  b.p = scratch;
  b.cK = b.p + nw;
  b.vK = b.cK + nw;
  b.u = b.vK + nw;
  b.sides = (side *)(scratch + 8 * nw + 4 * (size_t)k->n + 1); /* after what the recursion needs */
  mbg__pool_heavy(k->pool, MBG__LOOP_PIECES_LOAD, s->n, load_piece, &b);
  mbg__art_pieces_coarse(s, b.sides, NULL);
  mbg__pool_heavy(k->pool, MBG__LOOP_PIECES_SOLVE, s->n, solve_piece, &b);
}
