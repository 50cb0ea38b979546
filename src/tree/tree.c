#include "tree/tree.h"

#include "tree/tree_internal.h"
#include "tree/tree_local.h"
#include "tree/tree_local_pieces.h"
#include "tree/tree_modal.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

static int take_arrays(mbg_context *ctx, mbg__tree *t) {
  mbg__frame **frames[] = {&t->hP, &t->hC, &t->hCi, &t->E, &t->Rel, &t->H};
  real **bodies[] = {&t->v, &t->vd,    &t->u, &t->Xv,  &t->Xvd, &t->Xq, &t->s,  &t->sa, &t->sq, &t->F,
                     &t->f, &t->theta, &t->g, &t->eta, &t->nu,  &t->al, &t->du, &t->dr, &t->ct, &t->cg};
  real **rows[] = {&t->lambda, &t->phi, &t->phid, &t->phidd, &t->row0, &t->row1, &t->row2, &t->row3};
  for (int i = 0; i < MBG_COUNT(frames); i++) {
    *frames[i] = MBG_TAKE(&t->arena, mbg__frame, t->m->nbody);
  }
  for (int i = 0; i < MBG_COUNT(bodies); i++) {
    *bodies[i] = MBG_TAKE(&t->arena, real, t->m->nw);
  }
  for (int i = 0; i < MBG_COUNT(rows); i++) {
    *rows[i] = MBG_TAKE(&t->arena, real, t->m->nrow);
  }
  t->Sb = MBG_TAKE(&t->arena, vec6, t->n);
  t->link_of_pair = MBG_TAKE(&t->arena, int, t->m->npair);
  t->floating = MBG_TAKE(&t->arena, int, t->m->nbody);
  return mbg__arena_check(ctx, &t->arena);
}

static void list_pairs(mbg__tree *t) {
  for (int i = 0; i < t->m->npair; i++) {
    t->link_of_pair[i] = -1;
  }
  for (int k = 0; k < t->m->nbody; k++) {
    if (t->links[k].joint >= 0) {
      t->link_of_pair[t->m->joints[t->links[k].joint].pair] = k;
    } else {
      t->floating[t->nfloating++] = k;
    }
  }
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
  t->coupled = t->m->nmodal > 0 || t->m->nelement > 0 || mbg__system_has_late(t->sys);
  MBG_TRY(mbg__tree_topology(ctx, t, rank));
  MBG_TRY(take_arrays(ctx, t));
  MBG_TRY(mbg__tree_parts_create(ctx, t));
  list_pairs(t);
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
    const mbg__frame *from = &t->design->markers[marker]->h;
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
    set_axes(t, k);
  }
}

/* ---------------------------------------------------------------------- states */

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

void mbg__tree_move(const mbg__tree *t, const mbg__frame *E, const real *d, mbg__frame *out) {
  for (int k = 0; k < t->m->nbody; k++) {
    real x[6];
    mbg__link_twist(&t->links[k], d, x);
    mbg__se3_retract(&out[k], &E[k], x);
  }
}

/* ---------------------------------------------------------------------- update */

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

void mbg__tree_frames(mbg__tree *t, const mbg__frame *E, const real *w, mbg__frame *H, real *v) {
  if (t->modal) {
    mbg__tree_place(t, &(mbg__tree_state){.E = E, .w = w});
    memcpy(H, t->H, (size_t)t->m->nbody * sizeof(*H));
    memcpy(v, t->v, (size_t)t->m->nw * sizeof(real));
    return;
  }
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

mbg__state mbg__tree_bodies(const mbg__tree *t) {
  return (mbg__state){.t = t->t, .H = t->H, .v = t->v, .vd = t->vd, .turns = t->turns};
}

/* the same with joints on modal bodies, whose frames follow the modes: carriers first */
static void update_modal(mbg__tree *t, const mbg__tree_state *st) {
  for (int k = 0; k < t->m->nbody; k++) {
    if (mbg__tree_carrier(t, k)) {
      place_link(t, k);
      link_update(t, k, st);
    }
  }
  mbg__tree_modal_take(t, t->H, t->v);
  mbg__tree_modal_take_rates(t, t->vd);
  for (int k = 0; k < t->m->nbody; k++) {
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_place_alone(t, k, st->w);
      mbg__tree_modal_place_after(t, k);
      mbg__tree_modal_place_ends(t, k);
      mbg__tree_modal_accelerate(t, k, st->a);
      if (st->q) {
        mbg__tree_modal_forward(t, k, st->q, NULL, t->u);
      }
    } else if (!mbg__tree_carrier(t, k)) {
      place_link(t, k);
      link_update(t, k, st);
    }
  }
  memcpy(t->modal->vd, t->vd, (size_t)t->m->nw * sizeof(real));
}

void mbg__tree_leave_late(mbg__tree *t) { t->early = true; }

int mbg__tree_update(mbg_context *ctx, mbg__tree *t, const mbg__tree_state *st) {
  const size_t frames = (size_t)t->m->nbody * sizeof(*t->E);
  const bool still = t->known && memcmp(t->E, st->E, frames) == 0;
  if (!still) {
    memcpy(t->E, st->E, frames);
    t->placed = false;
    for (int k = 0; !t->modal && k < t->m->nbody; k++) {
      place_link(t, k);
    }
    t->known = true;
  }
  t->t = st->t;
  t->turns = st->turns;
  t->only_q = st->q != NULL;
  if (t->modal) {
    update_modal(t, st);
  }
  for (int k = 0; !t->modal && k < t->m->nbody; k++) {
    link_update(t, k, st);
  }
  spread_rows(t, st->lambda, t->lambda);
  mbg__state bodies = mbg__tree_bodies(t);
  bodies.lambda = t->lambda;
  bodies.rows = t->free_rows;
  bodies.still = still;
  bodies.early = t->early;
  return t->only_q ? mbg__system_update_bare(ctx, t->sys, &bodies) : mbg__system_update(ctx, t->sys, &bodies);
}

void mbg__tree_weigh(mbg__tree *t, const real *q, const real *lambda) {
  for (int k = 0; t->modal && k < t->m->nbody; k++) {
    if (mbg__tree_carrier(t, k)) {
      weigh_link(t, k, q);
    }
  }
  for (int k = 0; k < t->m->nbody; k++) {
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_forward(t, k, q, NULL, t->u);
    } else {
      weigh_link(t, k, q);
    }
  }
  spread_rows(t, lambda, t->lambda);
  mbg__system_multipliers_at(t->sys, t->lambda);
}

/* ---------------------------------------------------------------------- residual */

/* x (nw): each body's own part becomes the sum over its subtree */
static void gather(const mbg__tree *t, real *x) {
  for (int k = t->m->nbody - 1; k >= 0; k--) {
    if (mbg__tree_on_modes(t, k)) {
      real c[6];
      mbg__tree_modal_backward(t, k, x, NULL, c);
    } else {
      carry_T(t, k, 1, x + link_off(t, k), x);
    }
  }
}

/* F += M J q on the free components */
static void add_inertia(mbg__tree *t, const real *x, real *F) {
  if (t->coupled) {
    mbg__system_mass_mul(t->sys, x, t->dr);
    vn_axpy(t->m->nw, F, 1, t->dr);
    return;
  }
  for (int b = 0; b < t->m->nbody; b++) {
    const int off = t->m->bodies[b].voff;
    real c[6];
    m6_mulv_T(c, t->design->M + 36 * b, x + off); /* M^T = M */
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
    const int row = t->dropped[i];
    const double x = fabs(re(t->m->rows[row].rate ? t->phid[row] : t->phi[row]));
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
  mbg__link_twist(l, d, x);
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
