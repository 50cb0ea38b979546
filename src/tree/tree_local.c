#include "tree/tree_local.h"

#include "tree/tree_internal.h"
#include "tree/tree_local_pieces.h"
#include "tree/tree_modal.h"

#include <string.h>

int mbg__tree_dropped_rows(const mbg__tree *t, const int **rows) {
  *rows = t->dropped;
  return t->ndropped;
}

/* ---------------------------------------------------------------------- values */

enum { PLACE_CARRIERS = MBG__LOOPS_TREE, PLACE_LINKS, PLACE_ENDS, RATES, JOINT_RATES, PULL, WRENCH, PULL_CARRIERS };

typedef struct {
  mbg__tree *t;
  const mbg__frame *E;
  const real *w, *vd;
  real *a;
} link_job;

/* what does not depend on the parent */
static void place_alone(mbg__tree *t, int k, const real *w) {
  set_relative(t, k);
  joint_twist(t, k, w, t->s + link_off(t, k));
}

static void place_after(mbg__tree *t, int k) {
  const int off = link_off(t, k);
  follow_parent(t, k);
  carried(t, k, t->v, t->Xv + off);
  v6_add(t->v + off, t->Xv + off, t->s + off);
}

static void accelerate(mbg__tree *t, int k, const real *a) {
  const int off = link_off(t, k);
  joint_twist(t, k, a, t->sa + off);
  carried(t, k, t->vd, t->Xvd + off);
  v6_add(t->vd + off, t->Xvd + off, t->sa + off);
  ad_add(t->vd + off, t->v + off, t->s + off, 1);
}

static void place_carrier(void *user, int k) {
  const link_job *j = user;
  if (mbg__tree_carrier(j->t, k)) {
    j->t->E[k] = j->E[k];
    place_alone(j->t, k, j->w);
    place_after(j->t, k);
  }
}

static void place_one(void *user, int k) {
  const link_job *j = user;
  j->t->E[k] = j->E[k];
  if (mbg__tree_on_modes(j->t, k)) {
    mbg__tree_modal_place_alone(j->t, k, j->w);
  } else if (!j->t->modal || !mbg__tree_carrier(j->t, k)) {
    place_alone(j->t, k, j->w);
  }
}

static void place_ends(void *user, int k) {
  const link_job *j = user;
  if (mbg__tree_on_modes(j->t, k)) {
    mbg__tree_modal_place_ends(j->t, k);
  }
}

/* frames and twists go from parent to child; everything else is done in threads */
static void place_links(mbg__tree *t, const mbg__tree_state *st) {
  link_job job = {.t = t, .E = st->E, .w = st->w};
  const int n = t->m->nbody;
  mbg__pool_each(t->sys->pool, PLACE_LINKS, n, place_one, &job);
  for (int k = 0; k < n; k++) {
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_place_after(t, k);
    } else if (!t->modal || !mbg__tree_carrier(t, k)) {
      place_after(t, k);
    }
  }
  if (t->modal) {
    mbg__pool_each(t->sys->pool, PLACE_ENDS, n, place_ends, &job);
  }
}

bool mbg__tree_is_cut(const mbg__tree *t) { return t->parts && !t->modal; }

void mbg__tree_place(mbg__tree *t, const mbg__tree_state *st) {
  link_job job = {.t = t, .E = st->E, .w = st->w};
  t->t = st->t;
  t->turns = st->turns;
  t->only_q = t->known = t->placed = false;
  if (t->modal) {
    mbg__pool_each(t->sys->pool, PLACE_CARRIERS, t->m->nbody, place_carrier, &job);
    mbg__tree_modal_take(t, t->H, t->v);
  }
  if (t->parts && (!t->modal || t->sys->nclass > 1)) {
    mbg__tree_parts_place(t, st);
  } else {
    place_links(t, st);
  }
}

void mbg__tree_place_some(mbg__tree *t, const mbg__tree_state *st, int nlink, const int *link) {
  t->t = st->t;
  t->turns = st->turns;
  t->only_q = t->known = t->placed = false;
  for (int i = 0; i < nlink; i++) {
    t->E[link[i]] = st->E[link[i]];
    place_alone(t, link[i], st->w);
    place_after(t, link[i]);
  }
}

void mbg__tree_accelerate(mbg__tree *t, const real *a) {
  for (int k = 0; k < t->m->nbody; k++) {
    accelerate(t, k, a);
  }
}

static void one_rate(void *user, int k) {
  const link_job *j = user;
  mbg__tree *t = j->t;
  const int off = link_off(t, k);
  joint_twist(t, k, j->w, t->sa + off);
  carried(t, k, j->vd, t->Xvd + off);
  v6_copy(t->vd + off, j->vd + off);
  if (mbg__tree_on_modes(t, k)) {
    mbg__tree_modal_rates(t, k);
  }
}

void mbg__tree_rates(mbg__tree *t, const real *a, const real *vd) {
  if (t->modal) { /* links read the rates of others */
    memcpy(t->vd, vd, (size_t)t->m->nw * sizeof(real));
    mbg__tree_modal_take_rates(t, vd);
  }
  mbg__pool_each(t->sys->pool, RATES, t->m->nbody, one_rate, &(link_job){.t = t, .w = a, .vd = t->modal ? t->vd : vd});
}

/* ---------------------------------------------------------------------- joints from bodies */

static void pick(const mbg__tree *t, int k, const real y[6], real *a) {
  const mbg__link *l = &t->links[k];
  real x[6];
  AdInv_mul(x, &t->hC[k], y);
  for (int i = 0; i < l->nz; i++) {
    a[l->first + i] = x[l->comp[i]];
  }
}

static void joint_rate(void *user, int k) {
  const link_job *j = user;
  mbg__tree *t = j->t;
  const int off = link_off(t, k);
  real y[6];
  if (mbg__tree_on_modes(t, k)) {
    mbg__tree_modal_joint_rates(t, k, j->a);
    return;
  }
  relative(t, k, j->vd, y);
  ad_add(y, t->v + off, t->s + off, -1);
  pick(t, k, y, j->a);
}

void mbg__tree_joint_rates(mbg__tree *t, const real *vd, real *a) {
  if (t->modal) {
    mbg__tree_modal_take_rates(t, vd);
  }
  mbg__pool_each(t->sys->pool, JOINT_RATES, t->m->nbody, joint_rate, &(link_job){.t = t, .vd = vd, .a = a});
}

void mbg__tree_joint_twists(const mbg__tree *t, const real *u, real *d) {
  static const real none[6] = {0};
  for (int k = 0; k < t->m->nbody; k++) {
    real y[6];
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_change(t, k, u, none, d);
      continue;
    }
    relative(t, k, u, y);
    pick(t, k, y, d);
  }
}

void mbg__tree_joint_change(const mbg__tree *t, const real *dvd, const real *k, real *da) {
  for (int i = 0; i < t->m->nbody; i++) {
    const int off = link_off(t, i);
    real y[6];
    if (mbg__tree_on_modes(t, i)) {
      mbg__tree_modal_change(t, i, dvd, k + off, da);
      continue;
    }
    relative(t, i, dvd, y);
    v6_axpy(y, -1, k + off);
    pick(t, i, y, da);
  }
}

void mbg__tree_joint_change_T(const mbg__tree *t, const real *ga, real *q, real *k) {
  memset(q, 0, (size_t)t->m->nw * sizeof(real));
  for (int i = 0; i < t->m->nbody; i++) {
    const int off = link_off(t, i);
    real x[6], h[6];
    if (mbg__tree_on_modes(t, i)) {
      mbg__tree_modal_change_T(t, i, ga, q, k + off);
      continue;
    }
    mbg__link_twist(&t->links[i], ga, x);
    AdInvT_mul(h, &t->hC[i], x);
    v6_axpy(q + off, 1, h);
    carry_T(t, i, -1, h, q);
    v6_scale(k + off, -1, h);
  }
}

void mbg__tree_local_read(mbg__tree *t, const mbg__frame *H, const real *v, mbg__frame *E, real *w) {
  mbg__tree_read(t, H, v, E, w);
  if (t->modal) {
    mbg__tree_modal_take(t, H, v);
  }
  for (int k = 0; k < t->m->nbody; k++) {
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_read(t, k, H, v, E, w);
    }
  }
}

void mbg__tree_local_read_push(mbg__tree *t, const real *w, const real *dv, const real *da, real *e, real *dw) {
  mbg__tree_read_push(t, w, dv, da, e, dw);
  for (int k = 0; k < t->m->nbody; k++) {
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_read_push(t, k, w, dv, da, e, dw);
    }
  }
}

void mbg__tree_bias(const mbg__tree *t, real *c) {
  for (int k = 0; k < t->m->nbody; k++) {
    const int off = link_off(t, k);
    ad_mul(c + off, t->v + off, t->s + off);
  }
}

void mbg__tree_local_read_pull(mbg__tree *t, const real *ge, const real *gw_joint, real *gw, real *gv, real *ga) {
  if (!t->modal) {
    mbg__tree_read_pull(t, ge, gw_joint, gw, gv, ga);
    return;
  }
  /* cotangents of the rigid links alone */
  real *e = t->ct, *w = t->cg;
  memset(w, 0, (size_t)t->m->nw * sizeof(real));
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    const bool on_modes = mbg__tree_on_modes(t, k);
    for (int i = 0; i < 6; i++) {
      e[6 * k + i] = on_modes ? 0 : ge[6 * k + i];
    }
    for (int i = 0; i < l->nz; i++) {
      w[l->first + i] = on_modes ? 0 : gw_joint[l->first + i];
    }
    if (on_modes) {
      mbg__tree_modal_read_pull(t, k, ge, gw_joint, gw, gv, ga);
    }
  }
  mbg__tree_read_pull(t, e, w, gw, gv, ga);
}

/* ---------------------------------------------------------------------- derivatives */

void mbg__tree_view(mbg__tree *view, const mbg__tree *of) {
  const mbg__tree own = *view;
  *view = *of;
  view->arena = own.arena;
  view->sys = own.sys;
  view->theta = own.theta;
  view->g = own.g;
  view->modal = own.modal;
  if (view->modal) {
    mbg__tree_modal_view(view, of);
  }
}

int mbg__tree_create_view(mbg_context *ctx, mbg__system *sys, const mbg__tree *of, mbg__tree **out) {
  mbg__tree *t = *out = mbg__alloc_zero(ctx, 1, sizeof(*t));
  int err = MBG_OK;
  if (!t) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&t->arena, mbg__context_allocator(ctx));
  t->sys = sys;
  t->theta = MBG_TAKE(&t->arena, real, of->m->nw);
  t->g = MBG_TAKE(&t->arena, real, of->m->nw);
  MBG_TRY(mbg__tree_modal_create_view(ctx, t, of));
  MBG_TRY(mbg__arena_check(ctx, &t->arena));
  mbg__tree_view(t, of);
done:
  return err;
}

static void link_push(mbg__tree *t, int i, const mbg__tree_direction *d, bool still, real *w, real *dv, real *k) {
  const int off = link_off(t, i);
  const real *theta = t->theta + off, *g = t->g + off;
  real ds[6];
  mbg__tree_geometry_push(t, i, d);
  carried(t, i, w, w + off);
  v6_axpy(w + off, 1, theta);
  ad_mul(ds, g, t->s + off);
  joint_add(t, i, d->dw, ds);
  carried(t, i, dv, dv + off);
  v6_axpy(dv + off, 1, ds);
  ad_add(dv + off, t->Xv + off, theta, 1);
  ad_mul(k + off, t->Xvd + off, theta);
  ad_add(k + off, g, t->sa + off, 1);
  if (!still) {
    ad_add(k + off, t->s + off, dv + off, -1);
    ad_add(k + off, t->v + off, ds, 1);
  }
}

void mbg__tree_local_push(mbg__tree *t, const mbg__tree_direction *d, bool still, real *w, real *dv, real *k) {
  /* modal coordinates first */
  for (int i = 0; t->modal && i < t->m->nbody; i++) {
    if (mbg__tree_carrier(t, i)) {
      link_push(t, i, d, still, w, dv, k);
    }
  }
  for (int i = 0; i < t->m->nbody; i++) {
    if (mbg__tree_on_modes(t, i)) {
      mbg__tree_modal_push(t, i, d, still, w, dv, k + link_off(t, i));
    } else {
      link_push(t, i, d, still, w, dv, k);
    }
  }
}

typedef struct {
  mbg__tree *t;
  const real *k, *ct0, *cg0; /* NULL: 0 */
  bool still, rates;         /* rates: nu is not 0 */
  real *ge, *gw, *gattr;
} pull_job;

/* cotangents of frame and twist go to the parent */
static void pull_up(const pull_job *j, int i) {
  mbg__tree *t = j->t;
  const int off = link_off(t, i);
  if (!j->still) {
    adT_add(t->nu + off, t->s + off, j->k + off, -1);
  }
  if (j->rates) {
    carry_T(t, i, 1, t->nu + off, t->nu);
  }
  carry_T(t, i, 1, t->eta + off, t->eta);
}

/* ct and cg of theta and g by the cotangents of k; ds by these */
static void pull_change(const pull_job *j, int off, real ct[6], real cg[6], real ds[6]) {
  const mbg__tree *t = j->t;
  const real *c = j->k + off;
  adT_mul(ct, t->Xvd + off, c);
  adT_mul(cg, t->sa + off, c);
  v6_scale(cg, -1, cg);
  if (!j->still) {
    adT_mul(ds, t->v + off, c);
  }
}

/* the rest of a link, when its own cotangents are complete */
static void pull_alone(const pull_job *j, int i) {
  mbg__tree *t = j->t;
  const int off = link_off(t, i);
  const real *nu = t->nu + off;
  real ds[6] = {0}, ct[6] = {0}, cg[6] = {0};
  if (j->k) {
    pull_change(j, off, ct, cg, ds);
  }
  if (j->ct0) {
    v6_axpy(ct, 1, j->ct0 + off);
    v6_axpy(cg, 1, j->cg0 + off);
  }
  if (j->rates) {
    adT_add(ct, t->Xv + off, nu, 1);
    v6_axpy(ds, 1, nu);
    adT_add(cg, t->s + off, ds, -1);
    joint_add_T(t, i, ds, j->gw);
  }
  v6_axpy(ct, 1, t->eta + off);
  mbg__tree_geometry_pull(t, i, ct, cg, j->ge, j->gattr);
}

static void link_pull(const pull_job *j, int i) {
  pull_up(j, i);
  pull_alone(j, i);
}

/* the link whose joint is this pair */
static void pull_pair(void *user, int pair) {
  const pull_job *j = user;
  mbg__tree *t = j->t;
  const int i = t->link_of_pair[pair];
  if (i >= 0 && mbg__tree_on_modes(t, i)) {
    mbg__tree_modal_pull_rest(t, i, j->k + link_off(t, i), j->still, t->eta, t->nu, j->ge, j->gw, j->gattr);
  } else if (i >= 0) {
    pull_alone(j, i);
  }
}

static void pull_carrier(void *user, int i) {
  const pull_job *j = user;
  if (mbg__tree_carrier(j->t, i)) {
    link_pull(j, i);
  }
}

/* Large models, after cotangents went up the tree: everything else in threads, by classes of joints that share neither
   a body nor an attribute. */
static void pull_shared(const pull_job *j) {
  mbg__tree *t = j->t;
  mbg__each_class(t->sys, PULL, pull_pair, (void *)j);
  for (int q = t->nfloating - 1; q >= 0; q--) {
    if (!(t->modal && mbg__tree_carrier(t, t->floating[q]))) {
      pull_alone(j, t->floating[q]);
    }
  }
  if (t->modal) {
    mbg__pool_each(t->sys->pool, PULL_CARRIERS, t->m->nbody, pull_carrier, (void *)j);
  }
}

void mbg__tree_local_pull(mbg__tree *t, const real *w, const real *dv, const real *k, const real *ct0, const real *cg0,
                          bool still, real *ge, real *gw, real *gattr) {
  const pull_job job = {t, k, ct0, cg0, still, dv || !still, ge, gw, gattr};
  const bool shared = t->sys->nclass > 1 && (!t->modal || t->parts);
  if (shared && t->parts) {
    mbg__tree_parts_pull(t, w, dv, k, still);
    pull_shared(&job);
    return;
  }
  memcpy(t->eta, w, (size_t)t->m->nw * sizeof(real));
  if (dv) {
    memcpy(t->nu, dv, (size_t)t->m->nw * sizeof(real));
  }
  if (shared) {
    for (int i = t->m->nbody - 1; i >= 0; i--) {
      pull_up(&job, i);
    }
    pull_shared(&job);
    return;
  }
  for (int i = t->m->nbody - 1; i >= 0; i--) {
    if (mbg__tree_on_modes(t, i)) {
      mbg__tree_modal_pull(t, i, k + link_off(t, i), still, t->eta, t->nu, ge, gw, gattr);
    } else if (!t->modal || !mbg__tree_carrier(t, i)) {
      link_pull(&job, i);
    }
  }
  for (int i = 0; t->modal && i < t->m->nbody; i++) {
    if (mbg__tree_carrier(t, i)) {
      link_pull(&job, i);
    }
  }
}

void mbg__tree_local_pull_some(mbg__tree *t, int nlink, const int *link, const real *w, const real *dv, real *ge,
                               real *gw, real *gattr) {
  const pull_job job = {.t = t, .still = true, .rates = true, .ge = ge, .gw = gw, .gattr = gattr};
  for (int i = 0; i < nlink; i++) {
    const int off = link_off(t, link[i]);
    v6_copy(t->eta + off, w + off);
    v6_copy(t->nu + off, dv + off);
  }
  for (int i = nlink - 1; i >= 0; i--) {
    link_pull(&job, link[i]);
  }
}

void mbg__tree_wrench_push(const mbg__tree *t, const real *f, real *r, real *tau) {
  memset(tau, 0, (size_t)t->n * sizeof(real));
  for (int k = 0; k < t->m->nbody; k++) {
    const int off = link_off(t, k);
    real x[6];
    adT_mul(x, t->theta + off, f + off);
    carry_T(t, k, 1, x, r);
    adT_mul(x, t->g + off, f + off);
    v6_scale(x, -1, x);
    joint_add_T(t, k, x, tau);
  }
}

typedef struct {
  const mbg__tree *t;
  const real *f, *z, *y;
  real *ct, *cg;
} wrench_job;

static void wrench_pull(void *user, int k) {
  const wrench_job *j = user;
  const int off = link_off(j->t, k);
  real x[6], s[6];
  carried(j->t, k, j->z, x);
  adT_mul(j->ct + off, x, j->f + off);
  v6_scale(j->ct + off, -1, j->ct + off);
  joint_twist(j->t, k, j->y, s);
  adT_mul(j->cg + off, s, j->f + off);
}

void mbg__tree_wrench_pull(const mbg__tree *t, const real *f, const real *z, const real *y, real *ct, real *cg) {
  mbg__pool_each(t->sys->pool, WRENCH, t->m->nbody, wrench_pull, &(wrench_job){t, f, z, y, ct, cg});
}
