#include "tree/tree_modal.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

static int modal_of(const mbg__tree *t, int marker) {
  const int body = marker >= 0 ? t->m->markers[marker].body : -1;
  return body >= 0 && t->m->bodies[body].modal >= 0 && t->design->handles[marker].n > 0 ? t->m->bodies[body].modal : -1;
}

static void make_end(mbg__tree *t, int marker, int body, mbg__tree_end *x) {
  *x = (mbg__tree_end){.marker = marker, .body = body, .modal = modal_of(t, marker)};
  if (x->modal >= 0) {
    const int n = t->m->modals[x->modal].n;
    x->m = (mbg__modal_marker){.n = n, .h = &t->design->markers[marker]->h, .P = t->design->handles[marker].P};
    x->m.Psi = MBG_TAKE(&t->arena, real, 6 * n);
    x->dP = MBG_TAKE(&t->arena, real, 6 * n);
    x->gP = MBG_TAKE(&t->arena, real, 6 * n);
  }
}

static void make_joint(mbg__tree *t, int k) {
  const mbg__link *l = &t->links[k];
  if (l->joint < 0 || (modal_of(t, l->P) < 0 && modal_of(t, l->C) < 0)) {
    return;
  }
  mbg__tree_modal_joint *b = MBG_TAKE(&t->arena, mbg__tree_modal_joint, 1);
  if (b) {
    make_end(t, l->P, l->parent >= 0 ? t->links[l->parent].body : -1, &b->P);
    make_end(t, l->C, l->body, &b->C);
    t->modal->link[k] = b;
  }
}

static real **take_modes(mbg__tree *t) {
  real **list = MBG_TAKE(&t->arena, real *, t->m->nmodal);
  for (int i = 0; list && i < t->m->nmodal; i++) {
    list[i] = MBG_TAKE(&t->arena, real, t->m->modals[i].n);
  }
  return list;
}

int mbg__tree_modal_create(mbg_context *ctx, mbg__tree *t) {
  if (t->m->nmodal == 0) {
    return MBG_OK;
  }
  struct mbg__tree_modal *s = MBG_TAKE(&t->arena, struct mbg__tree_modal, 1);
  mbg__tree_modal_joint **link = MBG_TAKE(&t->arena, mbg__tree_modal_joint *, t->m->nbody);
  if (s && link) {
    *s = (struct mbg__tree_modal){.link = link,
                                  .eta = take_modes(t),
                                  .etad = take_modes(t),
                                  .etadd = take_modes(t),
                                  .deta = take_modes(t),
                                  .detad = take_modes(t),
                                  .geta = take_modes(t),
                                  .getad = take_modes(t),
                                  .vd = MBG_TAKE(&t->arena, real, t->m->nw)};
    t->modal = s;
    for (int k = 0; k < t->m->nbody; k++) {
      make_joint(t, k);
    }
  }
  return mbg__arena_check(ctx, &t->arena);
}

int mbg__tree_modal_create_view(mbg_context *ctx, mbg__tree *view, const mbg__tree *of) {
  int most = 0;
  if (!of->modal) {
    return MBG_OK;
  }
  view->m = of->m;
  view->modal = MBG_TAKE(&view->arena, struct mbg__tree_modal, 1);
  for (int i = 0; i < of->m->nmodal; i++) {
    most = of->m->modals[i].n > most ? of->m->modals[i].n : most;
  }
  if (view->modal) {
    view->modal->deta = take_modes(view);
    view->modal->detad = take_modes(view);
    view->modal->geta = take_modes(view);
    view->modal->dP = MBG_TAKE(&view->arena, real, 6 * most);
  }
  return mbg__arena_check(ctx, &view->arena);
}

void mbg__tree_modal_view(mbg__tree *view, const mbg__tree *of) {
  struct mbg__tree_modal *s = view->modal;
  const struct mbg__tree_modal own = *s;
  *s = *of->modal;
  s->deta = own.deta;
  s->detad = own.detad;
  s->geta = own.geta;
  s->dP = own.dP;
}

bool mbg__tree_on_modes(const mbg__tree *t, int k) { return t->modal && t->modal->link[k]; }

/* ---------------------------------------------------------------------- modal coordinates in vectors of bodies */

enum { TAKE = MBG__LOOPS_TREE + 24, TAKE_RATES };

typedef struct {
  const mbg__tree *t;
  const mbg__frame *H;
  const real *v;
} take_job;

static void take(void *user, int i) {
  const take_job *k = user;
  const mbg__modal *m = &k->t->m->modals[i];
  for (int j = 0; j < m->n; j++) {
    k->t->modal->eta[i][j] = k->H[mbg__modal_carrier(m, j)].x[j % 3];
  }
  gather_modes(k->t, i, k->v, k->t->modal->etad[i]);
}

static void take_rates(void *user, int i) {
  const take_job *k = user;
  gather_modes(k->t, i, k->v, k->t->modal->etadd[i]);
}

void mbg__tree_modal_take(mbg__tree *t, const mbg__frame *H, const real *v) {
  mbg__pool_each(t->sys->pool, TAKE, t->m->nmodal, take, &(take_job){t, H, v});
}

void mbg__tree_modal_take_rates(mbg__tree *t, const real *vd) {
  mbg__pool_each(t->sys->pool, TAKE_RATES, t->m->nmodal, take_rates, &(take_job){t, NULL, vd});
  memcpy(t->modal->vd, vd, (size_t)t->m->nw * sizeof(real));
}

/* ---------------------------------------------------------------------- ends: values */

static void end_place(mbg__tree *t, mbg__tree_end *x, mbg__frame *h) {
  if (x->modal >= 0) {
    mbg__modal_marker_place(&x->m, t->modal->eta[x->modal]);
    *h = x->m.E;
  } else {
    *h = t->design->markers[x->marker]->h;
  }
}

void mbg__tree_end_twist(const mbg__tree *t, mbg__tree_end *x, const real *y, real **modes, real out[6]) {
  static const real none[6] = {0};
  const real *v = of_body(t, x, y);
  if (x->modal >= 0) {
    mbg__modal_marker_twist(&x->m, v ? v : none, modes[x->modal], out);
  } else if (v) {
    AdInv_mul(out, &t->design->markers[x->marker]->h, v);
  } else {
    v6_zero(out);
  }
}

static void end_rate(mbg__tree *t, mbg__tree_end *x, const real *vd, real out[6]) {
  const real *y = of_body(t, x, vd);
  if (x->modal >= 0) {
    mbg__modal_marker_rate(&x->m, y, t->modal->etadd[x->modal], out);
  } else if (y) {
    AdInv_mul(out, &t->design->markers[x->marker]->h, y);
  } else {
    v6_zero(out);
  }
}

static void place_frames(mbg__tree *t, int k) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  end_place(t, &b->P, &t->hP[k]);
  end_place(t, &b->C, &t->hC[k]);
  set_axes(t, k);
}

void mbg__tree_modal_place_alone(mbg__tree *t, int k, const real *w) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  place_frames(t, k);
  set_relative(t, k);
  mbg__link_twist(&t->links[k], w, b->w);
  /* of the modes alone */
  mbg__tree_end_twist(t, &b->C, NULL, t->modal->etad, b->C.v);
}

void mbg__tree_modal_place_after(mbg__tree *t, int k) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  const int off = link_off(t, k);
  real x[6];
  follow_parent(t, k);
  mbg__tree_end_twist(t, &b->P, t->v, t->modal->etad, b->P.v);
  AdInv_mul(b->XvP, &t->E[k], b->P.v);
  v6_add(b->vC, b->XvP, b->w);
  /* the twist of the body is that of C without the modes */
  v6_sub(x, b->vC, b->C.v);
  Ad_mul(t->v + off, &t->hC[k], x);
}

void mbg__tree_modal_place_ends(mbg__tree *t, int k) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  mbg__tree_end_twist(t, &b->C, t->v, t->modal->etad, b->C.v);
}

void mbg__tree_modal_relative_twist(mbg__tree *t, int k, real s[6]) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  real x[6], y[6];
  mbg__tree_end_twist(t, &b->P, NULL, t->modal->etad, x);
  AdInv_mul(y, &t->E[k], x);
  v6_axpy(y, 1, b->w);
  v6_axpy(y, -1, b->C.v);
  Ad_mul(s, &t->hC[k], y);
}

void mbg__tree_modal_place_both(mbg__tree *t, int k) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  mbg__tree_end_twist(t, &b->P, t->v, t->modal->etad, b->P.v);
  AdInv_mul(b->XvP, &t->E[k], b->P.v);
  v6_add(b->vC, b->XvP, b->w);
  mbg__tree_modal_place_ends(t, k);
}

void mbg__tree_modal_rates(mbg__tree *t, int k) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  end_rate(t, &b->P, t->modal->vd, b->P.vd);
  end_rate(t, &b->C, t->modal->vd, b->C.vd);
  AdInv_mul(b->XvdP, &t->E[k], b->P.vd);
}

void mbg__tree_modal_accelerate(mbg__tree *t, int k, const real *a) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  real x[6], c[6];
  end_rate(t, &b->P, t->vd, b->P.vd);
  AdInv_mul(b->XvdP, &t->E[k], b->P.vd);
  mbg__link_twist(&t->links[k], a, x);
  v6_axpy(x, 1, b->XvdP);
  ad_add(x, b->vC, b->w, 1);
  if (b->C.modal >= 0) {
    static const real none[6] = {0};
    mbg__modal_marker_mul(&b->C.m, none, t->modal->etadd[b->C.modal], c);
    v6_axpy(x, -1, c);
    mbg__modal_marker_gamma(&b->C.m, c);
    v6_axpy(x, -1, c);
  }
  Ad_mul(t->vd + link_off(t, k), &t->hC[k], x);
  end_rate(t, &b->C, t->vd, b->C.vd);
}

void mbg__tree_modal_joint_rates(mbg__tree *t, int k, real *a) {
  const mbg__link *l = &t->links[k];
  const mbg__tree_modal_joint *b = t->modal->link[k];
  real c[6];
  mbg__tree_modal_rates(t, k);
  ad_mul(c, b->vC, b->w);
  for (int i = 0; i < l->nz; i++) {
    a[l->first + i] = b->C.vd[l->comp[i]] - b->XvdP[l->comp[i]] - c[l->comp[i]];
  }
}

void mbg__tree_modal_read(mbg__tree *t, int k, const mbg__frame *H, const real *v, mbg__frame *E, real *w) {
  const mbg__link *l = &t->links[k];
  mbg__tree_modal_joint *b = t->modal->link[k];
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
  mbg__tree_end_twist(t, &b->P, v, t->modal->etad, vP);
  mbg__tree_end_twist(t, &b->C, v, t->modal->etad, vC);
  AdInv_mul(x, &E[k], vP);
  for (int i = 0; i < l->nz; i++) {
    w[l->first + i] = vC[l->comp[i]] - x[l->comp[i]];
  }
}
