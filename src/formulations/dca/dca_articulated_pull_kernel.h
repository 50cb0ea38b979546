/* The transpose of dynamics inside pieces of equal shape, a piece in each lane (dca_articulated_pull.h). Everything is
   in axes of the joint frames K. Compiled once for every kind of vectors. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ARTICULATED_PULL_KERNEL_H
#define MBG_FORMULATIONS_DCA_DCA_ARTICULATED_PULL_KERNEL_H

#include "formulations/dca/dca_articulated_lanes.h"

/* ---------------------------------------------------------------------- vectors */

static inline void cross_add(lane out[3], const lane a[3], const lane b[3]) {
  lane c[3];
  cross(c, a, b);
  for (int i = 0; i < 3; i++) {
    out[i] += c[i];
  }
}

/* out += ad(v)^T f, out -= ad(v)^T f:   ad(v)^T f = (f1 x W, f1 x U + f2 x W) */
static inline void coad_add(lane out[6], const lane v[6], const lane f[6]) {
  cross_add(out, f, v + 3);
  cross_add(out + 3, f, v);
  cross_add(out + 3, f + 3, v + 3);
}

static inline void coad_sub(lane out[6], const lane v[6], const lane f[6]) {
  cross_add(out, v + 3, f);
  cross_add(out + 3, v, f);
  cross_add(out + 3, v + 3, f + 3);
}

/* ad(v) w */
static inline void ad_times(lane out[6], const lane v[6], const lane w[6]) {
  cross(out, v + 3, w);
  cross_add(out, v, w + 3);
  cross(out + 3, v + 3, w + 3);
}

/* S x of the joint */
static inline void joint_vector(const mbg__lane_link *l, const lane x[6], lane out[6]) {
  l6_zero(out);
  for (int j = 0; j < l->nz; j++) {
    out[l->comp[j]] += x[j];
  }
}

/* ---------------------------------------------------------------------- right side: from the tips to the base */

/* z of the exit with the base at rest */
static void exit_solution(const mbg__art_group *g, lane b[6]) {
  l6_zero(b);
  for (int q = 0; q < g->npath; q++) {
    const mbg__lane_link *l = &g->links[g->path[q]];
    lane z[6];
    l6_copy(z, b);
    if (q > 0) {
      carry_down(b, &l->Rel, z);
    }
    free_motions(l, g->free_ + l->first, b, NULL);
  }
}

void LANES(mbg__group_pull_up)(const mbg__art_pull *d, int at) {
  const mbg__art_group *g = &d->k->pieces->groups->groups[at];
  lane6 p, b;
  l6_zero(p);
  for (int i = 0; i < g->count; i++) {
    l6_zero(g->pulls[i].p);
  }
  for (int i = g->count - 1; i >= 0; i--) {
    const mbg__lane_link *l = &g->links[i];
    mbg__lane_freedom *f = g->free_ + l->first;
    lane *own = g->pulls[i].p, tau[6], z[6], s;
    coordinates(d->k, l, d->b, tau);
    for (int j = 0; j < l->nz; j++) {
      f[j].u = tau[j] - own[l->comp[j]];
      s = f[j].u * f[j].inverse;
      axpy(own, &s, f[j].U);
    }
    carry_up(z, &l->Rel, own);
    l6_accumulate(l->parent >= 0 ? g->pulls[l->parent].p : p, z);
  }
  exit_solution(g, b);
  for (int q = 0; q < g->n; q++) {
    mbg__art_side *r = &d->k->pieces->sides[g->piece[q]];
    spread(6, p, q, r->p);
    spread(6, b, q, r->b);
  }
}

/* ---------------------------------------------------------------------- solution: from the base to the tips */

/* z = X z_p + S y, and the part X z_p */
static void solution(const mbg__lane_link *l, const mbg__lane_freedom *f, const lane zp[6], lane Xz[6], lane z[6]) {
  carry_down(Xz, &l->Rel, zp);
  l6_copy(z, Xz);
  free_motions(l, f, z, NULL);
}

/* I v + p */
static void wrench_of(const mbg__lane_link *l, const lane v[6], const lane p[6], lane f[6]) {
  inertia_times(&l->I, v, f);
  l6_accumulate(f, p);
}

/* ct = -ad(X vd_p)^T h - ad(X z_p)^T f */
static void frame_cotangent(const mbg__art_pull *d, const mbg__lane_link *l, const lane h[6], const lane Xz[6],
                            lane ct[6]) {
  lane a[6], Sa[6], Xvd[6], f[6];
  coordinates(d->k, l, d->a, a);
  joint_vector(l, a, Sa);
  l6_sub(Xvd, l->vd, l->c);
  l6_subtract(Xvd, Sa);
  wrench_of(l, l->vd, l->p, f);
  l6_zero(ct);
  coad_sub(ct, Xvd, h);
  coad_sub(ct, Xz, f);
}

/* <dM, W> with W = (ad(v) z) v^T - z vd^T, by mass, first moment and inertia: a . M b is
   m U_a.U_b + mc.(U_a x W_b + U_b x W_a) + W_a.J W_b */
static void add_mass(mbg__lane_sums *x, const lane a[6], const lane b[6]) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  x->m += a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  cross_add(x->mc, a, b + 3);
  cross_add(x->mc, b, a + 3);
  for (int i = 0; i < 3; i++) {
    x->J[i] += a[3 + i] * b[3 + i];
  }
  for (int i = 3; i < 6; i++) {
    x->J[i] += a[3 + row[i]] * b[3 + column[i]] + a[3 + column[i]] * b[3 + row[i]];
  }
}

/* nu = ad(s)^T h - ad(z)^T M v + M ad(v) z, by the twist of the link alone; ds: -ad(v)^T h */
static void twist_cotangent(const mbg__lane_link *l, const lane s[6], const lane h[6], const lane z[6], lane nu[6],
                            mbg__lane_sums *sums) {
  lane momentum[6], adz[6], minus[6];
  body_momentum(l, l->v, momentum);
  ad_times(adz, l->v, z);
  body_momentum(l, adz, nu);
  coad_add(nu, s, h);
  coad_sub(nu, z, momentum);
  add_mass(sums, adz, l->v);
  l6_negate(minus, z);
  add_mass(sums, minus, l->vd);
}

static void link_pull(const mbg__art_pull *d, const mbg__art_group *g, int i, const lane base[6], mbg__lane_sums *sums,
                      lane ground[3]) {
  const mbg__lane_link *l = &g->links[i];
  mbg__lane_freedom *f = g->free_ + l->first;
  mbg__lane_cotangent *x = &g->pulls[i];
  lane Xz[6], h[6], w[6], s[6], ds[6];
  solution(l, f, l->parent >= 0 ? g->pulls[l->parent].z : base, Xz, x->z);
  wrench_of(l, x->z, x->p, h);
  frame_cotangent(d, l, h, Xz, x->ct);
  coordinates(d->k, l, d->w, w);
  joint_vector(l, w, s);
  twist_cotangent(l, s, h, x->z, x->nu, sums);
  /* u becomes the cotangent of the rate without that by the twist */
  l6_zero(ds);
  coad_sub(ds, l->v, h);
  for (int j = 0; j < l->nz; j++) {
    f[j].u = ds[l->comp[j]];
  }
  if (l->parent < 0) {
    lane y[6];
    carry_up(y, &l->Rel, h);
    for (int k = 0; k < 3; k++) {
      ground[k] += y[k];
    }
  }
}

/* cotangents of twists go up inside the pieces; what they hand to their bases */
static void twists_up(const mbg__art_group *g, lane up[6]) {
  lane y[6];
  l6_zero(up);
  for (int i = g->count - 1; i >= 0; i--) {
    const mbg__lane_link *l = &g->links[i];
    carry_up(y, &l->Rel, g->pulls[i].nu);
    l6_accumulate(l->parent >= 0 ? g->pulls[l->parent].nu : up, y);
  }
}

void LANES(mbg__group_pull_down)(const mbg__art_pull *d, int at) {
  static const vec6 none = {0};
  const mbg__art_group *g = &d->k->pieces->groups->groups[at];
  lane base[6], up[6];
  base_vectors(d->k, g, true, none, base);
  add_exits(d->k, g, true);
  for (int i = 0; i < g->count; i++) {
    link_pull(d, g, i, base, &d->sums->links[at][i], d->sums->ground[at]);
  }
  twists_up(g, up);
  for (int q = 0; q < g->n; q++) {
    spread(6, up, q, d->up[g->piece[q]].own);
  }
}

/* ---------------------------------------------------------------------- the rest, when twists are complete */

/* cotangents of twists from the exits, along the ways to the bases */
static void along_path(const mbg__art_pull *d, const mbg__art_group *g) {
  const real *from[MBG__LANES];
  lane x[6], y[6];
  for (int q = 0; q < MBG__LANES; q++) {
    from[q] = d->up[g->piece[q]].exit;
  }
  collect_all(6, x, from);
  for (int q = g->npath - 1; q >= 0; q--) {
    l6_accumulate(g->pulls[g->path[q]].nu, x);
    carry_up(y, &g->links[g->path[q]].Rel, x);
    l6_copy(x, y);
  }
}

static void add_to(int n, const lane *x, int q, real *to) {
  for (int i = 0; i < n; i++) {
    to[i] += lane_get(&x[i], q);
  }
}

/* ct += ad(X v_p)^T nu, and the cotangents of frame and rates of the joint */
static void link_end(const mbg__art_pull *d, const mbg__art_group *g, int i, mbg__lane_sums *sums) {
  const mbg__lane_link *l = &g->links[i];
  const mbg__lane_freedom *f = g->free_ + l->first;
  mbg__lane_cotangent *x = &g->pulls[i];
  lane w[6], s[6], Xv[6], y[6], gw[6];
  coordinates(d->k, l, d->w, w);
  joint_vector(l, w, s);
  l6_sub(Xv, l->v, s);
  coad_add(x->ct, Xv, x->nu);
  carry_up(y, &l->Rel, x->ct);
  l6_accumulate(sums->frame, y);
  for (int j = 0; j < l->nz; j++) {
    gw[j] = f[j].u + x->nu[l->comp[j]];
  }
  for (int q = 0; q < g->n; q++) {
    add_to(6, x->ct, q, d->ge + 6 * l->link[q]);
    add_to(l->nz, gw, q, d->gw + d->k->links[l->link[q]].first);
  }
}

void LANES(mbg__group_pull_end)(const mbg__art_pull *d, int at) {
  const mbg__art_group *g = &d->k->pieces->groups->groups[at];
  along_path(d, g);
  for (int i = 0; i < g->count; i++) {
    link_end(d, g, i, &d->sums->links[at][i]);
  }
}

#endif
