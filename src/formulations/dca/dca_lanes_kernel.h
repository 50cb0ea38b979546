/* The articulated-body recursion for several right sides at once: the sums of dca_articulated_internal.h and
   dca_articulated_pieces.c with columns in lanes. Compiled once for every kind of vectors. */
#ifndef MBG_FORMULATIONS_DCA_DCA_LANES_KERNEL_H
#define MBG_FORMULATIONS_DCA_DCA_LANES_KERNEL_H

#include "formulations/dca/dca_lanes_internal.h"

/* out = I v */
static void inertia_mul_lanes(const mbg__art_inertia *I, const lane v[6], lane out[6]) {
  const real *A = I->A, *B = I->B, *C = I->C;
  const lane *U = v, *W = v + 3;
  out[0] = A[0] * U[0] + A[3] * U[1] + A[4] * U[2] + (B[0] * W[0] + B[1] * W[1] + B[2] * W[2]);
  out[1] = A[3] * U[0] + A[1] * U[1] + A[5] * U[2] + (B[3] * W[0] + B[4] * W[1] + B[5] * W[2]);
  out[2] = A[4] * U[0] + A[5] * U[1] + A[2] * U[2] + (B[6] * W[0] + B[7] * W[1] + B[8] * W[2]);
  out[3] = B[0] * U[0] + B[3] * U[1] + B[6] * U[2] + C[0] * W[0] + C[3] * W[1] + C[4] * W[2];
  out[4] = B[1] * U[0] + B[4] * U[1] + B[7] * U[2] + C[3] * W[0] + C[1] * W[1] + C[5] * W[2];
  out[5] = B[2] * U[0] + B[5] * U[1] + B[8] * U[2] + C[4] * W[0] + C[5] * W[1] + C[2] * W[2];
}

/* ---------------------------------------------------------------------- one link */

static bool marker_varies(const mbg__tree_lanes *t, int marker) {
  const mbg__placed *h = marker >= 0 ? t->t->design->markers[marker] : NULL;
  for (int i = 0; h && i < h->ndep; i++) {
    if (t->varied[h->dep[i]]) {
      return true;
    }
  }
  return false;
}

/* The wrench of the joint changes the equations of the parent, dr_p -= X^T ad(theta)^T f, and of the joint,
   u = -Sb^T ad(g)^T f; then p += dr and c in axes of K. outside: p of a parent in another piece. */
static void load_link(mbg__dca_lanes *x, int i, lane *outside) {
  const mbg__art_link *l = &x->k->links[i];
  const mbg__tree *t = x->t->t;
  const int at = x->at[i];
  lane y[6], z[6];
  if (l->parent >= 0) {
    lcoad_mul(y, x->t->ct + at, x->f + l->off);
    lAdInvT_mul(z, &t->Rel[i], y);
    if (outside) {
      lAdT_mul(y, &x->k->links[l->parent].hC, z);
      l6_subtract(outside, y);
    } else {
      l6_subtract(x->t->dr + x->at[l->parent], z);
    }
  }
  if (marker_varies(x->t, t->links[i].C)) {
    lcoad_mul(y, x->t->cg + at, x->f + l->off);
    for (int j = 0; j < l->nz; j++) {
      l6_dot(&x->u[l->first + j], t->Sb[l->first + j], y);
      x->u[l->first + j] = -x->u[l->first + j];
    }
  } else {
    ln_zero(l->nz, x->u + l->first);
  }
  lAdT_mul(z, &l->hC, x->t->dr + at);
  l6_accumulate(x->p + at, z);
  lAdInv_mul(z, &l->hC, x->c + l->off);
  l6_copy(x->c + l->off, z);
}

/* art_up: into `to`, NULL: the ground; outside: as above */
static void link_up(mbg__dca_lanes *x, int i, lane *to, lane *outside) {
  const mbg__art_link *l = &x->k->links[i];
  const mbg__art_node *n = &x->k->nodes[i];
  const mbg__art_freedom *f = x->k->free_ + l->first;
  lane *p = x->p + x->at[i], y[6], z[6];
  load_link(x, i, outside);
  for (int j = 0; j < l->nz; j++) {
    lane s = x->u[l->first + j] - p[l->comp[j]];
    x->u[l->first + j] = s;
    s *= f[j].inverse;
    l6_axpy(p, &s, f[j].U);
  }
  if (to) {
    inertia_mul_lanes(&n->I, x->c + l->off, y);
    l6_accumulate(y, p);
    lAdInvT_mul(z, &n->Rel, y);
    l6_accumulate(to, z);
  }
}

/* art_down: v = X vp + c (vp NULL: c), then the accelerations of the joint, into a if wanted */
static void link_down(const mbg__dca_lanes *x, int i, const lane *vp, lane v[6], lane *a) {
  const mbg__art_link *l = &x->k->links[i];
  const mbg__art_freedom *f = x->k->free_ + l->first;
  if (vp) {
    lane y[6];
    lAdInv_mul(y, &x->k->nodes[i].Rel, vp);
    l6_add(v, y, x->c + l->off);
  } else {
    l6_copy(v, x->c + l->off);
  }
  for (int j = l->nz - 1; j >= 0; j--) {
    lane y;
    l6_dot(&y, f[j].U, v);
    y = f[j].inverse * (x->u[l->first + j] - y);
    v[l->comp[j]] += y;
    if (a) {
      a[l->first + j] = y;
    }
  }
}

/* ---------------------------------------------------------------------- one body after the other */

static void solve_tree(mbg__dca_lanes *x) {
  const mbg__art_link *links = x->k->links;
  for (int i = x->k->nbody - 1; i >= 0; i--) {
    link_up(x, i, links[i].parent >= 0 ? x->p + links[links[i].parent].off : NULL, NULL);
  }
  for (int i = 0; i < x->k->nbody; i++) {
    link_down(x, i, links[i].parent >= 0 ? x->v + links[links[i].parent].off : NULL, x->v + links[i].off, x->a);
  }
}

/* ---------------------------------------------------------------------- pieces */

/* p at the base, and b: acceleration of the exit with the base at rest */
static void piece_up(mbg__dca_lanes *x, const mbg__art_piece *piece, mbg__art_lanes *r) {
  const mbg__art_pieces *s = x->k->pieces;
  l6_zero(r->p);
  for (int q = piece->first; q < piece->first + piece->count; q++) {
    l6_zero(x->p + x->at[s->list[q]]);
  }
  for (int q = piece->first + piece->count - 1; q > piece->first; q--) {
    link_up(x, s->list[q], x->p + x->at[x->k->links[s->list[q]].parent], NULL);
  }
  link_up(x, s->list[piece->first], r->p, r->p);
  for (int q = 0; q < piece->npath; q++) {
    lane v[6];
    link_down(x, s->path[piece->path + q], q > 0 ? r->b : NULL, v, NULL);
    l6_copy(r->b, v);
  }
}

static void lu_solve_lanes(const real A[36], const int pivot[6], lane x[6]) {
  for (int j = 0; j < 6; j++) {
    const lane y = x[pivot[j]];
    x[pivot[j]] = x[j];
    x[j] = y;
  }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < i; j++) {
      x[i] -= A[6 * i + j] * x[j];
    }
  }
  for (int i = 5; i >= 0; i--) {
    for (int j = i + 1; j < 6; j++) {
      x[i] -= A[6 * i + j] * x[j];
    }
    x[i] /= A[6 * i + i];
  }
}

/* vd and q of the exit for the acceleration vb of the base, NULL: 0 */
static void exit_wrench_lanes(const mbg__art_piece *piece, mbg__art_lanes *r, const lane *vb) {
  for (int i = 0; i < 6; i++) {
    lane y;
    l6_dot(&y, piece->Phi + 6 * i, r->pe);
    r->vd[i] = r->b[i] - y;
    if (vb) {
      l6_dot(&y, piece->P[i], vb);
      r->vd[i] += y;
    }
  }
  lu_solve_lanes(piece->LU, piece->pivot, r->vd);
  inertia_mul_lanes(&piece->Ie, r->vd, r->q);
  l6_accumulate(r->q, r->pe);
}

/* p of a piece with what hangs on its exit, into that of its base */
static void hand_to_base(mbg__dca_lanes *x, const mbg__art_piece *piece, mbg__art_lanes *r) {
  if (piece->npath > 0) {
    exit_wrench_lanes(piece, r, NULL);
    for (int i = 0; i < 6; i++) {
      l6_axpy(r->p, &r->q[i], piece->P[i]);
    }
  }
  if (piece->base >= 0) {
    l6_accumulate(x->sides[piece->base].pe, r->p);
  }
}

/* the wrench q at the exit, carried through the piece: changes u */
static void add_exit_lanes(mbg__dca_lanes *x, const mbg__art_piece *piece, const lane q0[6]) {
  const mbg__art_pieces *s = x->k->pieces;
  lane d[6], z[6];
  l6_copy(d, q0);
  for (int q = piece->npath - 1; q >= 0; q--) {
    const int i = s->path[piece->path + q];
    const mbg__art_link *l = &x->k->links[i];
    for (int j = 0; j < l->nz; j++) {
      const mbg__art_freedom *f = &x->k->free_[l->first + j];
      lane du = -d[l->comp[j]];
      x->u[l->first + j] += du;
      du *= f->inverse;
      l6_axpy(d, &du, f->U);
    }
    lAdInvT_mul(z, &x->k->nodes[i].Rel, d);
    l6_copy(d, z);
  }
}

static const lane *base_rate(const mbg__dca_lanes *x, const mbg__art_piece *piece) {
  return piece->base >= 0 ? x->sides[piece->base].vd : NULL;
}

/* after the wrench at the exit is known */
static void piece_down(mbg__dca_lanes *x, const mbg__art_piece *piece, mbg__art_lanes *r) {
  const mbg__art_pieces *s = x->k->pieces;
  const lane *vb = base_rate(x, piece);
  if (piece->npath > 0) {
    add_exit_lanes(x, piece, r->q);
  }
  for (int q = piece->first; q < piece->first + piece->count; q++) {
    const int i = s->list[q];
    link_down(x, i, q == piece->first ? vb : x->v + x->at[x->k->links[i].parent], x->v + x->at[i], x->a);
  }
}

/* Between the pieces, which are ordered parents first: a piece has got what hangs on it before it goes to its base. */
void LANES(mbg__art_exits_solve)(mbg__dca_lanes *x) {
  const mbg__art_pieces *s = x->k->pieces;
  for (int j = 0; j < s->n; j++) {
    l6_zero(x->sides[j].pe);
  }
  for (int j = s->n - 1; j >= 0; j--) {
    hand_to_base(x, &s->pieces[j], &x->sides[j]);
  }
  for (int j = 0; j < s->n; j++) {
    if (s->pieces[j].npath > 0) {
      exit_wrench_lanes(&s->pieces[j], &x->sides[j], base_rate(x, &s->pieces[j]));
    }
  }
}

void LANES(mbg__art_solve_columns)(mbg__dca_lanes *x) {
  const mbg__art_pieces *s = x->k->pieces;
  if (!x->k->by_pieces) {
    ln_zero(x->t->t->m->nw, x->p);
    solve_tree(x);
    return;
  }
  for (int j = 0; j < s->n; j++) {
    piece_up(x, &s->pieces[j], &x->sides[j]);
  }
  LANES(mbg__art_exits_solve)(x);
  for (int j = 0; j < s->n; j++) {
    piece_down(x, &s->pieces[j], &x->sides[j]);
  }
}

/* ---------------------------------------------------------------------- pieces from the directions on */

/* e_n, T(sigma) dsigma and dw of a link. Columns are written number by number: to be read as vectors later, when these
   have left the processor's queue of stores. */
static void take_link(mbg__dca_lanes *x, int i) {
  const mbg__dca_lanes_direction *d = x->d;
  const mbg__art_link *l = &x->k->links[i];
  lane *e = x->t->e + x->at[i];
  for (int q = 0; q < d->nc; q++) {
    real z[6];
    for (int c = 0; c < 6; c++) {
      lane_set(&e[c], q, d->e[q][6 * i + c]);
    }
    mbg__tree_tangent(&x->t->t->links[i], d->step->sigma, d->step->dsigma[q] + l->first, z);
    for (int j = 0; j < l->nz; j++) {
      lane_set(&x->t->q[l->first + j], q, z[j]);
      lane_set(&x->t->w[l->first + j], q, d->dw[q][l->first + j]);
    }
  }
}

static void take_piece(mbg__dca_lanes *x, const mbg__art_piece *piece) {
  for (int q = piece->first; q < piece->first + piece->count; q++) {
    take_link(x, x->k->pieces->list[q]);
  }
}

/* link q of the list */
static mbg__tree_link_lanes place_of(const mbg__dca_lanes *x, const mbg__art_piece *piece, int q) {
  const mbg__tree_lanes *t = x->t;
  const int i = x->k->pieces->list[q], at = x->at[i];
  mbg__tree_link_lanes l = {.theta = t->ct + at, .g = t->cg + at, .eta = t->eta + at, .nu = t->nu + at};
  if (q > piece->first) {
    const int parent = x->at[x->k->links[i].parent];
    l.eta_parent = t->eta + parent;
    l.nu_parent = t->nu + parent;
  } else if (piece->base >= 0) {
    l.eta_parent = x->sides[piece->base].eta;
    l.nu_parent = x->sides[piece->base].nu;
  }
  return l;
}

/* e = Ad(X^-1) e_n + S T(sigma) dsigma, and what needs no parent */
static void link_alone(mbg__dca_lanes *x, int i, mbg__tree_link_lanes *at, lane y[6]) {
  const mbg__art_link *l = &x->k->links[i];
  lane e[6];
  lAdInv_mul(e, &x->d->step->X[i], x->t->e + x->at[i]);
  for (int j = 0; j < l->nz; j++) {
    e[l->comp[j]] += x->t->q[l->first + j];
  }
  at->e = e;
  LANES(mbg__tree_push_alone)(x->t, i, at, y, x->c + l->off);
}

/* ... then the change of the equations of its body */
static void link_follow(mbg__dca_lanes *x, int i, const mbg__tree_link_lanes *l, lane y[6]) {
  mbg__tree_lanes *t = x->t;
  const mbg__lanes_direction attributes = {.da = t->da, .varied = t->varied};
  LANES(mbg__tree_push_follow)(t, i, l, y, x->c + x->k->links[i].off);
  LANES(mbg__system_push_body)(t->t->sys, x->k->links[i].body, &attributes, l->eta, l->nu, t->dr + x->at[i]);
}

static void give_piece(const mbg__dca_lanes *x, const mbg__art_piece *piece) {
  for (int q = piece->first; q < piece->first + piece->count; q++) {
    const mbg__art_link *l = &x->k->links[x->k->pieces->list[q]];
    for (int c = 0; c < x->d->nc; c++) {
      for (int j = l->first; j < l->first + l->nz; j++) {
        x->out[c][j] = lane_get(&x->a[j], c);
      }
    }
  }
}

void LANES(mbg__art_push_columns)(mbg__dca_lanes *x) {
  const mbg__art_pieces *s = x->k->pieces;
  for (int j = 0; j < s->n; j++) {
    const mbg__art_piece *piece = &s->pieces[j];
    mbg__art_lanes *r = &x->sides[j];
    take_piece(x, piece);
    for (int q = piece->first; q < piece->first + piece->count; q++) {
      mbg__tree_link_lanes l = place_of(x, piece, q);
      lane y[6];
      link_alone(x, s->list[q], &l, y);
      link_follow(x, s->list[q], &l, y);
    }
    if (piece->npath > 0) {
      const int exit = x->at[s->path[piece->path + piece->npath - 1]];
      l6_copy(r->eta, x->t->eta + exit);
      l6_copy(r->nu, x->t->nu + exit);
    }
    piece_up(x, piece, r);
  }
  LANES(mbg__art_exits_solve)(x);
  for (int j = 0; j < s->n; j++) {
    piece_down(x, &s->pieces[j], &x->sides[j]);
    give_piece(x, &s->pieces[j]);
  }
}

/* ---------------------------------------------------------------------- ... in threads */

/* out = X x + y */
static void carry_own(const mbg__frame *Rel, const lane x[6], const lane y[6], lane out[6]) {
  lane c[6];
  lAdInv_mul(c, Rel, x);
  l6_add(out, c, y);
}

/* the way from the base to the exit, with the base at rest */
void LANES(mbg__art_piece_alone)(void *user, int j) {
  mbg__dca_lanes *x = user;
  const mbg__art_pieces *s = x->k->pieces;
  const mbg__art_piece *piece = &s->pieces[j];
  mbg__art_lanes *r = &x->sides[j];
  const mbg__tree *t = x->t->t;
  take_piece(x, piece);
  for (int q = piece->first; q < piece->first + piece->count; q++) {
    mbg__tree_link_lanes l = place_of(x, piece, q);
    link_alone(x, s->list[q], &l, x->t->du + x->at[s->list[q]]);
  }
  for (int q = 0; q < piece->npath; q++) {
    const int i = s->path[piece->path + q], at = x->at[i];
    const mbg__frame G = r->G;
    if (q == 0) {
      r->G = t->Rel[i];
      l6_copy(r->own[0], x->t->ct + at);
      l6_copy(r->own[1], x->t->du + at);
    } else {
      frame_mul(&r->G, &G, &t->Rel[i]);
      carry_own(&t->Rel[i], r->own[0], x->t->ct + at, r->own[0]);
      carry_own(&t->Rel[i], r->own[1], x->t->du + at, r->own[1]);
    }
  }
}

void LANES(mbg__art_exits_place)(mbg__dca_lanes *x) {
  const mbg__art_pieces *s = x->k->pieces;
  for (int j = 0; j < s->n; j++) {
    mbg__art_lanes *r = &x->sides[j];
    if (s->pieces[j].npath > 0 && s->pieces[j].base >= 0) {
      const mbg__art_lanes *base = &x->sides[s->pieces[j].base];
      carry_own(&r->G, base->eta, r->own[0], r->eta);
      carry_own(&r->G, base->nu, r->own[1], r->nu);
    } else if (s->pieces[j].npath > 0) {
      l6_copy(r->eta, r->own[0]);
      l6_copy(r->nu, r->own[1]);
    }
  }
}

void LANES(mbg__art_piece_up)(void *user, int j) {
  mbg__dca_lanes *x = user;
  const mbg__art_pieces *s = x->k->pieces;
  const mbg__art_piece *piece = &s->pieces[j];
  for (int q = piece->first; q < piece->first + piece->count; q++) {
    const mbg__tree_link_lanes l = place_of(x, piece, q);
    link_follow(x, s->list[q], &l, x->t->du + x->at[s->list[q]]);
  }
  piece_up(x, piece, &x->sides[j]);
}

void LANES(mbg__art_piece_down)(void *user, int j) {
  mbg__dca_lanes *x = user;
  piece_down(x, &x->k->pieces->pieces[j], &x->sides[j]);
  give_piece(x, &x->k->pieces->pieces[j]);
}

#endif
