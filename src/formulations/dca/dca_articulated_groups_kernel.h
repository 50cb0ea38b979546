/* The recursion inside pieces of equal shape: the sums of dca_articulated_internal.h and dca_articulated_pieces.c with
   a piece in each lane. Compiled once for every kind of vectors. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ARTICULATED_GROUPS_KERNEL_H
#define MBG_FORMULATIONS_DCA_DCA_ARTICULATED_GROUPS_KERNEL_H

#include "formulations/dca/dca_articulated_lanes.h"

/* ---------------------------------------------------------------------- frames and twists */

/* relative frames, and the exit from the base */
void LANES(mbg__group_place)(const mbg__art_dynamics *d, mbg__art_group *g) {
  mbg__lane_frame G;
  lane s[6], y[6], w[6];
  for (int i = 0; i < g->count; i++) {
    mbg__lane_link *l = &g->links[i];
    mbg__lane_frame E;
    const real *from[MBG__LANES];
    for (int q = 0; q < MBG__LANES; q++) {
      from[q] = d->E[l->link[q]].R;
    }
    collect_all(9, E.R, from);
    for (int q = 0; q < MBG__LANES; q++) {
      from[q] = d->E[l->link[q]].x;
    }
    collect_all(3, E.x, from);
    lane_frame_mul(&l->Rel, &l->A, &E);
  }
  for (int q = 0; q < g->npath; q++) {
    const mbg__lane_link *l = &g->links[g->path[q]];
    l6_zero(y);
    if (q > 0) {
      const mbg__lane_frame before = G;
      lane_frame_mul(&G, &before, &l->Rel);
      carry_down(y, &l->Rel, s);
    } else {
      G = l->Rel;
    }
    coordinates(d->k, l, d->w, w);
    for (int j = 0; j < l->nz; j++) {
      y[l->comp[j]] += w[j];
    }
    l6_copy(s, y);
  }
  for (int q = 0; g->npath > 0 && q < g->n; q++) {
    mbg__art_piece *x = &d->k->pieces->pieces[g->piece[q]];
    spread(9, G.R, q, x->G.R);
    spread(3, G.x, q, x->G.x);
    spread(6, s, q, x->s);
  }
}

static void body_inertia(mbg__lane_link *l) {
  mbg__lane_inertia *I = &l->I;
  const lane *mc = l->mc;
  ln_zero(6, I->A);
  ln_zero(9, I->B);
  I->A[0] = I->A[1] = I->A[2] = l->m;
  I->B[1] = mc[2];
  I->B[2] = -mc[1];
  I->B[3] = -mc[2];
  I->B[5] = mc[0];
  I->B[6] = mc[1];
  I->B[7] = -mc[0];
  l6_copy(I->C, l->J);
}

/* as art_place: twist, c = ad(v) s, inertia and p = -ad(v)^T M v */
static void link_place(const mbg__art_dynamics *d, mbg__lane_link *l, const lane vp[6]) {
  lane w[6], s[6], *v = l->v, *c = l->c, *p = l->p, f[6], y[3];
  carry_down(v, &l->Rel, vp);
  coordinates(d->k, l, d->w, w);
  l6_zero(s);
  for (int j = 0; j < l->nz; j++) {
    s[l->comp[j]] = w[j];
    v[l->comp[j]] += w[j];
  }
  cross(c, v + 3, s);
  cross(y, v, s + 3);
  cross(c + 3, v + 3, s + 3);
  for (int i = 0; i < 3; i++) {
    c[i] += y[i];
  }
  body_inertia(l);
  body_momentum(l, v, f);
  cross(p, v + 3, f);
  cross(p + 3, v, f);
  cross(y, v + 3, f + 3);
  for (int i = 0; i < 3; i++) {
    p[3 + i] += y[i];
  }
}

/* ---------------------------------------------------------------------- factors */

/* the largest of three inertias of a piece */
static double largest_of(const lane x[3], int q) {
  const double a = re(lane_get(&x[0], q)), b = re(lane_get(&x[1], q)), c = re(lane_get(&x[2], q));
  return a > b ? (a > c ? a : c) : b > c ? b : c;
}

/* Eliminates the freedoms of a link. false: one has no inertia in a piece, or next to none of its own (too_light). */
static bool link_eliminate(mbg__lane_link *l, mbg__lane_freedom *f) {
  bool fine = true;
  lane before[2][3];
  for (int i = 0; i < 3; i++) {
    before[0][i] = l->I.A[i];
    before[1][i] = l->I.C[i];
  }
  for (int j = 0; j < l->nz; j++) {
    column(&l->I, l->comp[j], f[j].U);
    for (int q = 0; q < MBG__LANES; q++) {
      const double d = re(lane_get(&f[j].U[l->comp[j]], q));
      fine = fine && d > 0 && largest_of(before[l->comp[j] >= 3], q) < 1e6 * d;
    }
    f[j].inverse = 1.0 / f[j].U[l->comp[j]];
    subtract_square(&l->I, &f[j].inverse, f[j].U);
  }
  return fine;
}

/* art_up without forces of the joint */
static void link_up(const mbg__lane_link *l, mbg__lane_freedom *f, lane *p, lane to[6]) {
  lane y[6], z[6];
  for (int j = 0; j < l->nz; j++) {
    f[j].u = -p[l->comp[j]];
    y[0] = f[j].u * f[j].inverse;
    axpy(p, &y[0], f[j].U);
  }
  inertia_times(&l->I, l->c, y);
  for (int i = 0; i < 6; i++) {
    y[i] += p[i];
  }
  carry_up(z, &l->Rel, y);
  l6_accumulate(to, z);
}

/* art_down: v = X vp + c, then the joint, with its accelerations if wanted */
static void link_down(const mbg__lane_link *l, const mbg__lane_freedom *f, const lane *vp, lane v[6], lane *a) {
  if (vp) {
    lane x[6];
    carry_down(x, &l->Rel, vp);
    l6_add(v, x, l->c);
  } else {
    l6_copy(v, l->c);
  }
  free_motions(l, f, v, a);
}

/* P (columns of K^T) from the exit to the base, and the upper half of Phi */
static void path_factors(const mbg__art_group *g, lane6 P[6], lane Phi[36]) {
  for (int c = 0; c < 6; c++) {
    l6_zero(P[c]);
    P[c][c] += 1.0;
  }
  ln_zero(36, Phi);
  for (int q = g->npath - 1; q >= 0; q--) {
    const mbg__lane_link *l = &g->links[g->path[q]];
    for (int j = 0; j < l->nz; j++) {
      const mbg__lane_freedom *f = &g->free_[l->first + j];
      lane w[6], s;
      for (int c = 0; c < 6; c++) {
        w[c] = P[c][l->comp[j]];
      }
      for (int c = 0; c < 6; c++) {
        s = f->inverse * w[c];
        for (int i = c; i < 6; i++) {
          Phi[6 * c + i] += s * w[i];
        }
        s = -s;
        axpy(P[c], &s, f->U);
      }
    }
    for (int c = 0; c < 6; c++) {
      lane z[6];
      carry_up(z, &l->Rel, P[c]);
      l6_copy(P[c], z);
    }
  }
}

/* the acceleration b of the exit with the base at rest */
static void exit_at_rest(const mbg__art_group *g, lane b[6]) {
  l6_zero(b);
  for (int q = 0; q < g->npath; q++) {
    const mbg__lane_link *l = &g->links[g->path[q]];
    lane v[6];
    link_down(l, g->free_ + l->first, q > 0 ? b : NULL, v, NULL);
    l6_copy(b, v);
  }
}

static void give_piece(const mbg__art_dynamics *d, const mbg__art_group *g, int q, const mbg__lane_inertia *I,
                       lane6 P[6], const lane Phi[36]) {
  mbg__art_piece *x = &d->k->pieces->pieces[g->piece[q]];
  x->bad = false;
  spread(6, I->A, q, x->I.A);
  spread(9, I->B, q, x->I.B);
  spread(6, I->C, q, x->I.C);
  for (int c = 0; c < 6; c++) {
    spread(6, P[c], q, x->P[c]);
    for (int i = c; i < 6; i++) {
      x->Phi[6 * c + i] = x->Phi[6 * i + c] = lane_get(&Phi[6 * c + i], q);
    }
  }
}

void LANES(mbg__group_factor)(const mbg__art_dynamics *d, mbg__art_group *g) {
  static const vec6 none = {0};
  mbg__lane_inertia I;
  lane6 P[6], p, b;
  lane vb[6], Phi[36];
  base_vectors(d->k, g, false, none, vb);
  for (int i = 0; i < g->count; i++) {
    mbg__lane_link *l = &g->links[i];
    link_place(d, l, l->parent >= 0 ? g->links[l->parent].v : vb);
  }
  ln_zero(6, I.A);
  ln_zero(9, I.B);
  ln_zero(6, I.C);
  l6_zero(p);
  g->bad = false;
  for (int i = g->count - 1; i >= 0 && !g->bad; i--) {
    mbg__lane_link *l = &g->links[i], *parent = l->parent >= 0 ? &g->links[l->parent] : NULL;
    g->bad = !link_eliminate(l, g->free_ + l->first);
    inertia_up(&l->Rel, &l->I, parent ? &parent->I : &I);
    link_up(l, g->free_ + l->first, l->p, parent ? parent->p : p);
  }
  if (g->bad) {
    return;
  }
  path_factors(g, P, Phi);
  exit_at_rest(g, b);
  for (int q = 0; q < g->n; q++) {
    mbg__art_side *r = &d->k->pieces->sides[g->piece[q]];
    give_piece(d, g, q, &I, P, Phi);
    spread(6, p, q, r->p);
    spread(6, b, q, r->b);
  }
}

/* ---------------------------------------------------------------------- accelerations */

void LANES(mbg__group_accelerate)(const mbg__art_dynamics *d, mbg__art_group *g) {
  lane vb[6], a[6];
  base_vectors(d->k, g, true, d->base, vb);
  add_exits(d->k, g, false);
  for (int i = 0; i < g->count; i++) {
    mbg__lane_link *l = &g->links[i];
    link_down(l, g->free_ + l->first, l->parent >= 0 ? g->links[l->parent].vd : vb, l->vd, a);
    for (int q = 0; q < g->n; q++) {
      spread(l->nz, a, q, d->a + d->k->links[l->link[q]].first);
    }
  }
}

#endif
