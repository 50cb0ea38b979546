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
   u = -Sb^T ad(g)^T f; then p += dr and c in axes of K. */
static void load_link(mbg__dca_lanes *x, int i) {
  const mbg__art_link *l = &x->k->links[i];
  const mbg__tree *t = x->t->t;
  lane y[6], z[6];
  if (l->parent >= 0) {
    lcoad_mul(y, x->t->ct + l->off, x->f + l->off);
    lAdInvT_mul(z, &t->Rel[i], y);
    l6_subtract(x->t->dr + x->k->links[l->parent].off, z);
  }
  if (marker_varies(x->t, t->links[i].C)) {
    lcoad_mul(y, x->t->cg + l->off, x->f + l->off);
    for (int j = 0; j < l->nz; j++) {
      l6_dot(&x->u[l->first + j], t->Sb[l->first + j], y);
      x->u[l->first + j] = -x->u[l->first + j];
    }
  } else {
    ln_zero(l->nz, x->u + l->first);
  }
  lAdT_mul(z, &l->hC, x->t->dr + l->off);
  l6_accumulate(x->p + l->off, z);
  lAdInv_mul(z, &l->hC, x->c + l->off);
  l6_copy(x->c + l->off, z);
}

/* art_up: into `to`, NULL: the ground */
static void link_up(mbg__dca_lanes *x, int i, lane *to) {
  const mbg__art_link *l = &x->k->links[i];
  const mbg__art_node *n = &x->k->nodes[i];
  const mbg__art_freedom *f = x->k->free_ + l->first;
  lane *p = x->p + l->off, y[6], z[6];
  load_link(x, i);
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
    link_up(x, i, links[i].parent >= 0 ? x->p + links[links[i].parent].off : NULL);
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
  for (int q = piece->first + piece->count - 1; q >= piece->first; q--) {
    const int i = s->list[q];
    link_up(x, i, q == piece->first ? r->p : x->p + x->k->links[x->k->links[i].parent].off);
  }
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

static void piece_down(mbg__dca_lanes *x, const mbg__art_piece *piece, mbg__art_lanes *r) {
  const mbg__art_pieces *s = x->k->pieces;
  const mbg__art_link *links = x->k->links;
  const lane *vb = piece->base >= 0 ? x->sides[piece->base].vd : NULL;
  if (piece->npath > 0) {
    exit_wrench_lanes(piece, r, vb);
    add_exit_lanes(x, piece, r->q);
  }
  for (int q = piece->first; q < piece->first + piece->count; q++) {
    const int i = s->list[q];
    link_down(x, i, q == piece->first ? vb : x->v + links[links[i].parent].off, x->v + links[i].off, x->a);
  }
}

/* Pieces are ordered parents first: a piece has got what hangs on it before it goes to its base. */
static void solve_pieces(mbg__dca_lanes *x) {
  const mbg__art_pieces *s = x->k->pieces;
  for (int j = s->n - 1; j >= 0; j--) {
    piece_up(x, &s->pieces[j], &x->sides[j]);
    hand_to_base(x, &s->pieces[j], &x->sides[j]);
  }
  for (int j = 0; j < s->n; j++) {
    piece_down(x, &s->pieces[j], &x->sides[j]);
  }
}

void LANES(mbg__art_solve_columns)(mbg__dca_lanes *x) {
  ln_zero(x->t->t->m->nw, x->p);
  for (int j = 0; x->k->by_pieces && j < x->k->pieces->n; j++) {
    l6_zero(x->sides[j].pe);
  }
  if (x->k->by_pieces) {
    solve_pieces(x);
  } else {
    solve_tree(x);
  }
}

#endif
