#include "tree/tree_bend.h"

#include <string.h>

/* one end of a link's joint */
typedef struct {
  int marker, body; /* body -1: ground */
  int modal;        /* -1: does not bend */
  mbg__modal_marker m;
  real *dP, *gP; /* variation and cotangent of its modal columns */
  real v[6], vd[6];
} end;

typedef struct {
  end P, C;
  real w[6];          /* S w */
  real XvP[6], vC[6]; /* Ad(E^-1) v_P, v_C */
  real XvdP[6];       /* Ad(E^-1) vd_P */
} bend;

struct mbg__tree_bending {
  bend **link;                                                   /* NULL: rigid ends                    (nbody) */
  real **eta, **etad, **etadd, **deta, **detad, **geta, **getad; /* of each modal body                  (nmodal) */
  real *vd;                                                      /* those of the last rates             (nw) */
};

/* ---------------------------------------------------------------------- creation */

static int modal_of(const mbg__tree *t, int marker) {
  const int body = marker >= 0 ? t->m->markers[marker].body : -1;
  return body >= 0 && t->m->bodies[body].modal >= 0 && t->design->handles[marker].n > 0 ? t->m->bodies[body].modal : -1;
}

static int make_end(mbg_context *ctx, mbg__tree *t, int marker, int body, end *x) {
  *x = (end){.marker = marker, .body = body, .modal = modal_of(t, marker)};
  if (x->modal < 0) {
    return MBG_OK;
  }
  const int n = t->m->modals[x->modal].n;
  x->m = (mbg__modal_marker){.n = n, .h = &t->design->markers[marker].h, .P = t->design->handles[marker].P};
  x->m.Psi = MBG_TAKE(&t->arena, real, 6 * n);
  x->dP = MBG_TAKE(&t->arena, real, 6 * n);
  x->gP = MBG_TAKE(&t->arena, real, 6 * n);
  return x->m.Psi && x->dP && x->gP ? MBG_OK : mbg__fail_memory(ctx);
}

static int make_link(mbg_context *ctx, mbg__tree *t, int k) {
  const mbg__link *l = &t->links[k];
  int err = MBG_OK;
  if (l->joint < 0 || (modal_of(t, l->P) < 0 && modal_of(t, l->C) < 0)) {
    return MBG_OK;
  }
  bend *b = MBG_TAKE(&t->arena, bend, 1);
  if (!b) {
    return mbg__fail_memory(ctx);
  }
  MBG_TRY(make_end(ctx, t, l->P, l->parent >= 0 ? t->links[l->parent].body : -1, &b->P));
  MBG_TRY(make_end(ctx, t, l->C, l->body, &b->C));
  t->bends->link[k] = b;
done:
  return err;
}

static int take_modes(mbg_context *ctx, mbg__tree *t, real ***out) {
  *out = MBG_TAKE(&t->arena, real *, t->m->nmodal);
  for (int i = 0; *out && i < t->m->nmodal; i++) {
    (*out)[i] = MBG_TAKE(&t->arena, real, t->m->modals[i].n);
    if (!(*out)[i]) {
      return mbg__fail_memory(ctx);
    }
  }
  return *out ? MBG_OK : mbg__fail_memory(ctx);
}

int mbg__tree_bends_create(mbg_context *ctx, mbg__tree *t) {
  int err = MBG_OK;
  if (t->m->nmodal == 0) {
    return MBG_OK;
  }
  t->bends = MBG_TAKE(&t->arena, struct mbg__tree_bending, 1);
  if (!t->bends) {
    return mbg__fail_memory(ctx);
  }
  real ***lists[] = {&t->bends->eta,   &t->bends->etad, &t->bends->etadd, &t->bends->deta,
                     &t->bends->detad, &t->bends->geta, &t->bends->getad};
  for (int i = 0; i < MBG_COUNT(lists); i++) {
    MBG_TRY(take_modes(ctx, t, lists[i]));
  }
  t->bends->link = MBG_TAKE(&t->arena, bend *, t->m->nbody);
  t->bends->vd = MBG_TAKE(&t->arena, real, t->m->nw);
  if (!t->bends->link || !t->bends->vd) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < t->m->nbody; k++) {
    MBG_TRY(make_link(ctx, t, k));
  }
done:
  return err;
}

bool mbg__tree_bends(const mbg__tree *t, int k) { return t->bends && t->bends->link[k]; }

/* ---------------------------------------------------------------------- modal coordinates in vectors of bodies */

static int mode_at(const mbg__tree *t, int modal, int j) {
  return t->m->bodies[mbg__modal_carrier(&t->m->modals[modal], j)].voff + j % 3;
}

static void gather(const mbg__tree *t, int modal, const real *x, real *out) {
  for (int j = 0; j < t->m->modals[modal].n; j++) {
    out[j] = x[mode_at(t, modal, j)];
  }
}

/* out += x, x <- 0 */
static void give(const mbg__tree *t, int modal, real *x, real *out) {
  for (int j = 0; j < t->m->modals[modal].n; j++) {
    out[mode_at(t, modal, j)] += x[j];
    x[j] = 0;
  }
}

void mbg__tree_bends_take(mbg__tree *t, const mbg__frame *H, const real *v) {
  for (int i = 0; i < t->m->nmodal; i++) {
    for (int j = 0; j < t->m->modals[i].n; j++) {
      t->bends->eta[i][j] = H[mbg__modal_carrier(&t->m->modals[i], j)].x[j % 3];
    }
    gather(t, i, v, t->bends->etad[i]);
  }
}

void mbg__tree_bends_take_rates(mbg__tree *t, const real *vd) {
  for (int i = 0; i < t->m->nmodal; i++) {
    gather(t, i, vd, t->bends->etadd[i]);
  }
  memcpy(t->bends->vd, vd, (size_t)t->m->nw * sizeof(real));
}

/* ---------------------------------------------------------------------- ends: values */

static const real *of_body(const mbg__tree *t, const end *x, const real *y) {
  return x->body >= 0 && y ? y + t->m->bodies[x->body].voff : NULL;
}

static void end_place(mbg__tree *t, end *x, mbg__frame *h) {
  if (x->modal >= 0) {
    mbg__modal_marker_place(&x->m, t->bends->eta[x->modal]);
    *h = x->m.E;
  } else {
    *h = t->design->markers[x->marker].h;
  }
}

/* J (y, modes) of a vector of bodies */
static void end_twist(mbg__tree *t, end *x, const real *y, const real *modes, real out[6]) {
  static const real none[6] = {0};
  const real *v = of_body(t, x, y);
  if (x->modal >= 0) {
    mbg__modal_marker_twist(&x->m, v ? v : none, modes, out);
  } else if (v) {
    AdInv_mul(out, &t->design->markers[x->marker].h, v);
  } else {
    v6_zero(out);
  }
}

static void end_rate(mbg__tree *t, end *x, const real *vd, real out[6]) {
  const real *y = of_body(t, x, vd);
  if (x->modal >= 0) {
    mbg__modal_marker_rate(&x->m, y, t->bends->etadd[x->modal], out);
  } else if (y) {
    AdInv_mul(out, &t->design->markers[x->marker].h, y);
  } else {
    v6_zero(out);
  }
}

static const real *modes_of(const mbg__tree *t, const end *x, real **list) {
  (void)t;
  return x->modal >= 0 ? list[x->modal] : NULL;
}

static void joint_twist(const mbg__link *l, const real *w, real out[6]) {
  v6_zero(out);
  for (int i = 0; w && i < l->nz; i++) {
    out[l->comp[i]] = w[l->first + i];
  }
}

static void place_frames(mbg__tree *t, int k) {
  bend *b = t->bends->link[k];
  const mbg__link *l = &t->links[k];
  end_place(t, &b->P, &t->hP[k]);
  end_place(t, &b->C, &t->hC[k]);
  frame_inv(&t->hCi[k], &t->hC[k]);
  for (int i = 0; i < l->nz; i++) {
    real e[6] = {0};
    e[l->comp[i]] = 1;
    Ad_mul(t->Sb[l->first + i], &t->hC[k], e);
  }
}

void mbg__tree_bend_place(mbg__tree *t, int k, const real *w) {
  const mbg__link *l = &t->links[k];
  bend *b = t->bends->link[k];
  const int off = link_off(t, k);
  real sC[6] = {0}, x[6];
  mbg__frame F;
  place_frames(t, k);
  frame_mul(&F, &t->hP[k], &t->E[k]);
  frame_mul(&t->Rel[k], &F, &t->hCi[k]);
  if (l->parent >= 0) {
    frame_mul(&t->H[l->body], &t->H[t->links[l->parent].body], &t->Rel[k]);
  } else {
    t->H[l->body] = t->Rel[k];
  }
  joint_twist(l, w, b->w);
  end_twist(t, &b->P, t->v, modes_of(t, &b->P, t->bends->etad), b->P.v);
  AdInv_mul(b->XvP, &t->E[k], b->P.v);
  v6_add(b->vC, b->XvP, b->w);
  /* the body moves with C, but for the modes */
  end_twist(t, &b->C, NULL, modes_of(t, &b->C, t->bends->etad), sC);
  v6_sub(x, b->vC, sC);
  Ad_mul(t->v + off, &t->hC[k], x);
  end_twist(t, &b->C, t->v, modes_of(t, &b->C, t->bends->etad), b->C.v);
}

void mbg__tree_bend_rates(mbg__tree *t, int k) {
  bend *b = t->bends->link[k];
  end_rate(t, &b->P, t->bends->vd, b->P.vd);
  end_rate(t, &b->C, t->bends->vd, b->C.vd);
  AdInv_mul(b->XvdP, &t->E[k], b->P.vd);
}

void mbg__tree_bend_joint(mbg__tree *t, int k, const real *w, real *a) {
  const mbg__link *l = &t->links[k];
  const bend *b = t->bends->link[k];
  real c[6];
  (void)w;
  mbg__tree_bend_rates(t, k);
  ad_mul(c, b->vC, b->w);
  for (int i = 0; i < l->nz; i++) {
    a[l->first + i] = b->C.vd[l->comp[i]] - b->XvdP[l->comp[i]] - c[l->comp[i]];
  }
}

/* ---------------------------------------------------------------------- the linear part */

/* J y of a vector of bodies */
static void end_mul(const mbg__tree *t, const end *x, const real *y, real out[6]) {
  const real *v = of_body(t, x, y);
  v6_zero(out);
  if (x->modal >= 0) {
    real *modes = t->bends->geta[x->modal];
    gather(t, x->modal, y, modes);
    mbg__modal_marker_mul(&x->m, v, modes, out);
    vn_zero(t->m->modals[x->modal].n, modes);
  } else if (v) {
    AdInv_mul(out, &t->design->markers[x->marker].h, v);
  }
}

/* y += c J^T f */
static void end_mul_T(const mbg__tree *t, const end *x, real c, const real f[6], real *y) {
  if (x->body < 0) {
    return;
  }
  real *v = y + t->m->bodies[x->body].voff;
  if (x->modal >= 0) {
    real *modes = t->bends->geta[x->modal];
    mbg__modal_marker_mul_T(&x->m, c, f, v, modes);
    give(t, x->modal, modes, y);
  } else {
    real z[6];
    AdInvT_mul(z, &t->design->markers[x->marker].h, f);
    v6_axpy(v, c, z);
  }
}

void mbg__tree_bend_change(const mbg__tree *t, int k, const real *dvd, const real *kC, real *da) {
  const mbg__link *l = &t->links[k];
  const bend *b = t->bends->link[k];
  real C[6], P[6], x[6];
  end_mul(t, &b->C, dvd, C);
  end_mul(t, &b->P, dvd, P);
  AdInv_mul(x, &t->E[k], P);
  for (int i = 0; i < l->nz; i++) {
    const int c = l->comp[i];
    da[l->first + i] = C[c] - x[c] - kC[c];
  }
}

void mbg__tree_bend_change_T(const mbg__tree *t, int k, const real *ga, real *q, real *kC) {
  const bend *b = t->bends->link[k];
  real f[6], x[6];
  joint_twist(&t->links[k], ga, f);
  end_mul_T(t, &b->C, 1, f, q);
  AdInvT_mul(x, &t->E[k], f);
  end_mul_T(t, &b->P, -1, x, q);
  v6_scale(kC, -1, f);
}

/* ---------------------------------------------------------------------- ends: variations */

/* omega of the marker, and its modal columns, in direction da */
static void end_geometry(const mbg__tree *t, end *x, const real *da, real omega[6], const real **dP) {
  const mbg__placed *h = &t->design->markers[x->marker];
  v6_zero(omega);
  *dP = NULL;
  if (!da) {
    return;
  }
  for (int i = 0; i < h->ndep; i++) {
    v6_axpy(omega, da[h->dep[i]], h->omega[i]);
  }
  if (x->modal >= 0 && mbg__modal_map_push(&t->design->handles[x->marker].map, da, 6 * x->m.n, x->dP)) {
    *dP = x->dP;
  }
}

static void geometry_pull(const mbg__tree *t, const end *x, const real omega[6], const real *gP, real *ga) {
  const mbg__placed *h = &t->design->markers[x->marker];
  if (!ga) {
    return;
  }
  for (int i = 0; i < h->ndep; i++) {
    ga[h->dep[i]] += wanted(t->sys, h->dep[i]) ? v6_dot(h->omega[i], omega) : 0;
  }
  if (x->modal >= 0) {
    mbg__modal_map_pull(&t->design->handles[x->marker].map, gP, ga);
  }
}

/* w_m, dv_m and, without the rates of the bodies, dvd_m, in a direction of the body (NULL: 0) and its modes; rates: the modes' rates
   count */
static void end_push(mbg__tree *t, end *x, const real *w, const real *dv, bool rates, const real *da, real out[3][6]) {
  const real *wb = of_body(t, x, w), *vb = of_body(t, x, dv), *dP;
  real omega[6], y[6];
  end_geometry(t, x, da, omega, &dP);
  if (x->modal >= 0) {
    const mbg__modal_marker_direction d = {.w = wb,
                                           .dv = vb,
                                           .deta = t->bends->deta[x->modal],
                                           .detad = rates ? t->bends->detad[x->modal] : NULL,
                                           .omega = omega,
                                           .dP = dP};
    mbg__modal_marker_change change;
    mbg__modal_marker_push(&x->m, &d, &change, out[0], out[1], out[2]);
    return;
  }
  v6_copy(out[0], omega);
  ad_mul(out[1], x->v, omega);
  ad_mul(out[2], x->vd, omega);
  if (wb) {
    AdInv_mul(y, &t->design->markers[x->marker].h, wb);
    v6_axpy(out[0], 1, y);
  }
  if (vb) {
    AdInv_mul(y, &t->design->markers[x->marker].h, vb);
    v6_axpy(out[1], 1, y);
  }
}

/* Transposed: adds to w, dv (vectors of bodies, NULL: not wanted), to the cotangents of the modes and (rates) of their rates, and to
   attributes. g[1], g[2] may be NULL. */
static void end_pull(mbg__tree *t, end *x, const real *g[3], real *w, real *dv, bool rates, real *ga) {
  static const real none[6] = {0};
  real omega[6] = {0}, y[6];
  real *wb = x->body >= 0 && w ? w + t->m->bodies[x->body].voff : NULL;
  real *vb = x->body >= 0 && dv ? dv + t->m->bodies[x->body].voff : NULL;
  if (x->modal >= 0) {
    vn_zero(6 * x->m.n, x->gP);
    const mbg__modal_marker_gradient out = {.w = wb,
                                            .dv = vb,
                                            .deta = t->bends->geta[x->modal],
                                            .detad = rates ? t->bends->getad[x->modal] : NULL,
                                            .omega = omega,
                                            .dP = x->gP};
    mbg__modal_marker_pull(&x->m, g[0] ? g[0] : none, g[1], g[2], &out);
    geometry_pull(t, x, omega, x->gP, ga);
    return;
  }
  if (g[0]) {
    v6_copy(omega, g[0]);
    if (wb) {
      AdInvT_mul(y, &t->design->markers[x->marker].h, g[0]);
      v6_axpy(wb, 1, y);
    }
  }
  for (int i = 1; i < 3; i++) {
    if (g[i]) {
      adT_mul(y, i == 1 ? x->v : x->vd, g[i]);
      v6_axpy(omega, 1, y);
    }
  }
  if (g[1] && vb) {
    AdInvT_mul(y, &t->design->markers[x->marker].h, g[1]);
    v6_axpy(vb, 1, y);
  }
  geometry_pull(t, x, omega, NULL, ga);
}

static void take_directions(mbg__tree *t, const bend *b, const real *w, const real *dv) {
  const int modal[2] = {b->P.modal, b->C.modal};
  for (int i = 0; i < 2; i++) {
    if (modal[i] >= 0) {
      gather(t, modal[i], w, t->bends->deta[modal[i]]);
      gather(t, modal[i], dv, t->bends->detad[modal[i]]);
    }
  }
}

/* what the modes of both ends have got goes to their carriers */
static void give_cotangents(mbg__tree *t, const bend *b, real *w, real *dv) {
  const int modal[2] = {b->P.modal, b->C.modal};
  for (int i = 0; i < 2; i++) {
    if (modal[i] >= 0) {
      give(t, modal[i], t->bends->geta[modal[i]], w);
      give(t, modal[i], t->bends->getad[modal[i]], dv);
    }
  }
}

/* the twist of an end with u = vd in place of v: J u, kept in x->vd, and back again */
static void end_as_u(mbg__tree *t, end *x) { end_twist(t, x, t->bends->vd, modes_of(t, x, t->bends->etadd), x->vd); }

static void end_as_v(mbg__tree *t, end *x) { end_twist(t, x, t->v, modes_of(t, x, t->bends->etad), x->v); }

/* d(J u) with the body held: rest of the twist where u stands for it */
static void end_rest(mbg__tree *t, end *x, const real *da, real rest[6]) {
  real out[3][6], v[6];
  if (x->modal < 0) {
    /* x->vd = J u serves as the twist */
    v6_copy(v, x->v);
    v6_copy(x->v, x->vd);
    end_push(t, x, NULL, NULL, false, da, out);
    v6_copy(x->v, v);
  } else {
    end_as_u(t, x);
    end_push(t, x, NULL, NULL, false, da, out);
    end_as_v(t, x);
  }
  v6_copy(rest, out[1]);
}

static void end_rest_pull(mbg__tree *t, end *x, const real g[6], real *ga) {
  const real *cotangents[3] = {NULL, g, NULL};
  real v[6];
  if (x->modal < 0) {
    v6_copy(v, x->v);
    v6_copy(x->v, x->vd);
    end_pull(t, x, cotangents, NULL, NULL, false, ga);
    v6_copy(x->v, v);
  } else {
    end_as_u(t, x);
    end_pull(t, x, cotangents, NULL, NULL, false, ga);
    end_as_v(t, x);
  }
}

/* ---------------------------------------------------------------------- links: variations */

void mbg__tree_bend_push(mbg__tree *t, int k, const mbg__tree_direction *d, bool still, real *w, real *dv, real *kC) {
  bend *b = t->bends->link[k];
  const int off = link_off(t, k);
  const real *da = d->attributes;
  static const real none[6] = {0};
  const real *e = d->e ? d->e + 6 * k : none;
  real P[3][6], C[3][6], wC[6], dvC[6], x[6], Sdw[6];
  take_directions(t, b, w, dv);
  end_push(t, &b->P, w, dv, true, da, P);
  joint_twist(&t->links[k], d->dw, Sdw);
  AdInv_mul(wC, &t->E[k], P[0]);
  v6_axpy(wC, 1, e);
  AdInv_mul(dvC, &t->E[k], P[1]);
  ad_add(dvC, b->XvP, e, 1);
  v6_axpy(dvC, 1, Sdw);
  /* the body from its marker */
  end_push(t, &b->C, NULL, NULL, true, da, C);
  v6_sub(x, wC, C[0]);
  Ad_mul(w + off, &t->hC[k], x);
  v6_sub(x, dvC, C[1]);
  Ad_mul(dv + off, &t->hC[k], x);
  if (still) {
    end_rest(t, &b->P, da, P[2]);
    end_rest(t, &b->C, da, C[2]);
    AdInv_mul(b->XvdP, &t->E[k], b->P.vd); /* J_P u alone, without the parts of the twists */
  } else {
    end_push(t, &b->C, w, dv, true, da, C);
  }
  ad_mul(kC, b->XvdP, e);
  AdInv_mul(x, &t->E[k], P[2]);
  v6_axpy(kC, 1, x);
  v6_axpy(kC, -1, C[2]);
  if (!still) {
    ad_add(kC, b->w, dvC, -1);
    ad_add(kC, b->vC, Sdw, 1);
  }
}

void mbg__tree_bend_pull(mbg__tree *t, int k, const real *kC, bool still, real *w, real *dv, real *ge, real *gw,
                         real *gattr) {
  const mbg__link *l = &t->links[k];
  bend *b = t->bends->link[k];
  const int off = link_off(t, k);
  real minus[6], up[6], wC[6], dvC[6], ce[6], cdw[6], x[6], y[6], z[6];
  v6_scale(minus, -1, kC);
  AdInvT_mul(up, &t->E[k], kC);
  if (still) {
    end_rest_pull(t, &b->C, minus, gattr);
    end_rest_pull(t, &b->P, up, gattr);
    AdInv_mul(b->XvdP, &t->E[k], b->P.vd);
  } else {
    const real *rest[3] = {NULL, NULL, minus};
    end_pull(t, &b->C, rest, NULL, dv, true, gattr);
  }
  /* the body from its marker */
  AdT_mul(wC, &t->hC[k], w + off);
  AdT_mul(dvC, &t->hC[k], dv + off);
  v6_scale(x, -1, wC);
  v6_scale(y, -1, dvC);
  const real *inverse[3] = {x, y, NULL};
  end_pull(t, &b->C, inverse, NULL, NULL, true, gattr);
  /* the joint */
  adT_mul(ce, b->XvdP, kC);
  v6_zero(cdw);
  if (!still) {
    adT_add(dvC, b->w, kC, -1);
    adT_add(cdw, b->vC, kC, 1);
  }
  adT_add(ce, b->XvP, dvC, 1);
  v6_axpy(ce, 1, wC);
  v6_axpy(cdw, 1, dvC);
  for (int i = 0; gw && i < l->nz; i++) {
    gw[l->first + i] += cdw[l->comp[i]];
  }
  if (ge) {
    v6_axpy(ge + 6 * k, 1, ce);
  }
  AdInvT_mul(y, &t->E[k], wC);
  AdInvT_mul(z, &t->E[k], dvC);
  const real *parent[3] = {y, z, still ? NULL : up};
  end_pull(t, &b->P, parent, w, dv, true, gattr);
  give_cotangents(t, b, w, dv);
}

/* ---------------------------------------------------------------------- reading joints from bodies */

void mbg__tree_bend_read(mbg__tree *t, int k, const mbg__frame *H, const real *v, mbg__frame *E, real *w) {
  const mbg__link *l = &t->links[k];
  bend *b = t->bends->link[k];
  mbg__frame P, C;
  real vP[6], vC[6], x[6];
  place_frames(t, k);
  P = t->hP[k];
  if (l->parent >= 0) {
    frame_mul(&P, &H[t->links[l->parent].body], &t->hP[k]);
  }
  frame_mul(&C, &H[l->body], &t->hC[k]);
  frame_relative(&E[k], &P, &C);
  t->E[k] = E[k];
  end_twist(t, &b->P, v, modes_of(t, &b->P, t->bends->etad), vP);
  end_twist(t, &b->C, v, modes_of(t, &b->C, t->bends->etad), vC);
  AdInv_mul(x, &E[k], vP);
  for (int i = 0; i < l->nz; i++) {
    w[l->first + i] = vC[l->comp[i]] - x[l->comp[i]];
  }
}

void mbg__tree_bend_read_push(mbg__tree *t, int k, const real *w, const real *dv, const real *da, real *e, real *dw) {
  const mbg__link *l = &t->links[k];
  bend *b = t->bends->link[k];
  real P[3][6], C[3][6], x[6];
  take_directions(t, b, w, dv);
  end_push(t, &b->P, w, dv, true, da, P);
  end_push(t, &b->C, w, dv, true, da, C);
  AdInv_mul(x, &t->E[k], P[0]);
  v6_sub(e + 6 * k, C[0], x);
  AdInv_mul(x, &t->E[k], P[1]);
  ad_add(x, b->XvP, e + 6 * k, 1);
  for (int i = 0; i < l->nz; i++) {
    dw[l->first + i] = C[1][l->comp[i]] - x[l->comp[i]];
  }
}

void mbg__tree_bend_read_pull(mbg__tree *t, int k, const real *ge, const real *gw_joint, real *gw, real *gv, real *ga) {
  bend *b = t->bends->link[k];
  real f[6], ce[6], x[6], y[6];
  joint_twist(&t->links[k], gw_joint, f);
  v6_copy(ce, ge + 6 * k);
  adT_add(ce, b->XvP, f, -1);
  const real *C[3] = {ce, f, NULL};
  end_pull(t, &b->C, C, gw, gv, true, ga);
  AdInvT_mul(x, &t->E[k], ce);
  AdInvT_mul(y, &t->E[k], f);
  v6_scale(x, -1, x);
  v6_scale(y, -1, y);
  const real *P[3] = {x, y, NULL};
  end_pull(t, &b->P, P, gw, gv, true, ga);
  give_cotangents(t, b, gw, gv);
}
