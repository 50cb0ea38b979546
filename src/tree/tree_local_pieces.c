/* Inside a piece v = X v_p + s and H = H_p Rel from link to link. Threads multiply the way from the base of each piece
   to its exit, one thread goes from exit to exit, and threads do the rest from there. Cotangents go back the same way:
   what a piece hands to its base without its exit, then from exit to exit, then along the way to the exit. */
#include "tree/tree_local_pieces.h"

#include "tree/tree_modal.h"
#include "tree/tree_pieces.h"

enum {
  LARGE = 512,
  LARGE_MODAL = 96,
  SIZE = 32,
  SIZE_MODAL = 4
}; /* links of a tree that is cut, of a piece at least */
enum { RELATIVE = MBG__LOOPS_TREE + 16, FOLLOW, ENDS, UP, ALONG };

typedef struct {
  mbg__frame G, H;      /* exit in axes of the base, and of the ground */
  real s[6], v[6];      /* twist of the exit relative to the base, whole */
  real up[2][6];        /* cotangents of frame and twist that it hands to its base ... */
  real from_exit[2][6]; /* ... and gets at its exit */
} part;

struct mbg__tree_parts {
  mbg__tree_pieces cut;
  part *parts;
};

int mbg__tree_parts_create(mbg_context *ctx, mbg__tree *t) {
  int links = 0, err = MBG_OK;
  for (int i = 0; i < t->m->nbody; i++) {
    links += t->m->bodies[i].carrier < 0;
  }
  if (links < (t->m->nmodal > 0 ? LARGE_MODAL : LARGE)) {
    return MBG_OK;
  }
  struct mbg__tree_parts *p = MBG_TAKE(&t->arena, struct mbg__tree_parts, 1);
  MBG_TRY(mbg__arena_check(ctx, &t->arena));
  MBG_TRY(mbg__tree_pieces_create(ctx, &t->arena, t->m, t->links,
                                  mbg__tree_piece_size(links, t->m->nmodal > 0 ? SIZE_MODAL : SIZE), &p->cut));
  p->parts = MBG_TAKE(&t->arena, part, p->cut.n);
  MBG_TRY(mbg__arena_check(ctx, &t->arena));
  t->parts = p;
done:
  return err;
}

/* ---------------------------------------------------------------------- frames and twists */

typedef struct {
  mbg__tree *t;
  const mbg__tree_state *state;
  const mbg__frame *E;
  const real *w, *dv, *k;
  bool still;
} job;

/* Rel and s of a link */
static void place_relative(const job *j, int k) {
  mbg__tree *t = j->t;
  if (j->state->make) {
    j->state->make(j->state->maker, k);
  }
  t->E[k] = j->E[k];
  if (mbg__tree_on_modes(t, k)) {
    mbg__tree_modal_place_alone(t, k, j->w);
    mbg__tree_modal_relative_twist(t, k, t->s + link_off(t, k));
  } else {
    set_relative(t, k);
    joint_twist(t, k, j->w, t->s + link_off(t, k));
  }
}

static void relative_piece(void *user, int i) {
  const job *j = user;
  mbg__tree *t = j->t;
  const struct mbg__tree_parts *p = t->parts;
  const mbg__tree_piece *x = &p->cut.pieces[i];
  part *y = &p->parts[i];
  for (int q = x->first; q < x->first + x->count; q++) {
    place_relative(j, p->cut.list[q]);
  }
  for (int q = 0; q < x->npath; q++) {
    const int k = p->cut.path[x->path + q];
    const mbg__frame G = y->G;
    real z[6];
    if (q == 0) {
      y->G = t->Rel[k];
      v6_copy(y->s, t->s + link_off(t, k));
    } else {
      frame_mul(&y->G, &G, &t->Rel[k]);
      AdInv_mul(z, &t->Rel[k], y->s);
      v6_add(y->s, z, t->s + link_off(t, k));
    }
  }
}

static void place_exits(const struct mbg__tree_parts *p) {
  for (int i = 0; i < p->cut.n; i++) {
    const mbg__tree_piece *x = &p->cut.pieces[i];
    part *y = &p->parts[i];
    const part *base = x->base >= 0 ? &p->parts[x->base] : NULL;
    if (x->npath > 0 && base) {
      real z[6];
      frame_mul(&y->H, &base->H, &y->G);
      AdInv_mul(z, &y->G, base->v);
      v6_add(y->v, z, y->s);
    } else if (x->npath > 0) {
      y->H = y->G;
      v6_copy(y->v, y->s);
    }
  }
}

static void follow_piece(void *user, int i) {
  const job *j = user;
  mbg__tree *t = j->t;
  const struct mbg__tree_parts *p = t->parts;
  const mbg__tree_piece *x = &p->cut.pieces[i];
  for (int q = x->first; q < x->first + x->count; q++) {
    const int k = p->cut.list[q], off = link_off(t, k);
    const mbg__link *l = &t->links[k];
    if (q == x->first && x->base >= 0) {
      frame_mul(&t->H[l->body], &p->parts[x->base].H, &t->Rel[k]);
      AdInv_mul(t->Xv + off, &t->Rel[k], p->parts[x->base].v);
    } else {
      follow_parent(t, k);
      carried(t, k, t->v, t->Xv + off);
    }
    v6_add(t->v + off, t->Xv + off, t->s + off);
  }
}

static void place_ends(void *user, int k) {
  const job *j = user;
  if (mbg__tree_on_modes(j->t, k)) {
    mbg__tree_modal_place_both(j->t, k);
  }
}

void mbg__tree_parts_place(mbg__tree *t, const mbg__tree_state *state) {
  job j = {.t = t, .state = state, .E = state->E, .w = state->w};
  mbg__pool_heavy(t->sys->pool, RELATIVE, t->parts->cut.n, relative_piece, &j);
  place_exits(t->parts);
  mbg__pool_heavy(t->sys->pool, FOLLOW, t->parts->cut.n, follow_piece, &j);
  if (t->modal) {
    mbg__pool_each(t->sys->pool, ENDS, t->m->nbody, place_ends, &j);
  }
}

/* ---------------------------------------------------------------------- cotangents */

/* what link k hands to its parent, added to eta and nu; its own nu becomes complete */
static void hand_up(const job *j, int k, real *eta, real *nu) {
  mbg__tree *t = j->t;
  const int off = link_off(t, k);
  real x[6], local[6] = {0};
  if (mbg__tree_on_modes(t, k)) {
    mbg__tree_modal_pull_up(t, k, j->k + off, j->still, t->nu + off, local);
  } else if (!j->still) {
    adT_add(t->nu + off, t->s + off, j->k + off, -1);
  }
  if (eta) {
    AdInvT_mul(x, &t->Rel[k], t->eta + off);
    v6_axpy(eta, 1, x);
  }
  if (eta && j->dv) {
    AdInvT_mul(x, &t->Rel[k], t->nu + off);
    v6_axpy(nu, 1, x);
    v6_axpy(nu, 1, local);
  }
}

static void take_body(const job *j, int body) {
  const int off = j->t->m->bodies[body].voff;
  v6_copy(j->t->eta + off, j->w + off);
  if (j->dv) {
    v6_copy(j->t->nu + off, j->dv + off);
  }
}

/* with the carriers of its modes */
static void take_cotangents(const job *j, int k) {
  const mbg_model *m = j->t->m;
  const int body = j->t->links[k].body, modal = m->bodies[body].modal;
  take_body(j, body);
  for (int i = 0; modal >= 0 && i < m->modals[modal].n; i += 3) {
    take_body(j, mbg__modal_carrier(&m->modals[modal], i));
  }
}

static void up_piece(void *user, int i) {
  const job *j = user;
  mbg__tree *t = j->t;
  const struct mbg__tree_parts *p = t->parts;
  const mbg__tree_piece *x = &p->cut.pieces[i];
  part *y = &p->parts[i];
  v6_zero(y->up[0]);
  v6_zero(y->up[1]);
  for (int q = x->first; q < x->first + x->count; q++) {
    take_cotangents(j, p->cut.list[q]);
  }
  for (int q = x->first + x->count - 1; q >= x->first; q--) {
    const int k = p->cut.list[q], parent = t->links[k].parent;
    if (q == x->first) {
      hand_up(j, k, x->base >= 0 ? y->up[0] : NULL, y->up[1]);
    } else {
      hand_up(j, k, t->eta + link_off(t, parent), t->nu + link_off(t, parent));
    }
  }
}

static void exits_up(const struct mbg__tree_parts *p) {
  for (int i = 0; i < p->cut.n; i++) {
    v6_zero(p->parts[i].from_exit[0]);
    v6_zero(p->parts[i].from_exit[1]);
  }
  for (int i = p->cut.n - 1; i >= 0; i--) {
    const mbg__tree_piece *x = &p->cut.pieces[i];
    part *y = &p->parts[i];
    for (int c = 0; c < 2 && x->base >= 0; c++) {
      if (x->npath > 0) {
        real z[6];
        AdInvT_mul(z, &y->G, y->from_exit[c]);
        v6_axpy(y->up[c], 1, z);
      }
      v6_axpy(p->parts[x->base].from_exit[c], 1, y->up[c]);
    }
  }
}

static void along_piece(void *user, int i) {
  const job *j = user;
  mbg__tree *t = j->t;
  const struct mbg__tree_parts *p = t->parts;
  const mbg__tree_piece *x = &p->cut.pieces[i];
  const int kinds = j->dv ? 2 : 1;
  real *const to[2] = {t->eta, t->nu};
  real d[2][6], z[6];
  v6_copy(d[0], p->parts[i].from_exit[0]);
  v6_copy(d[1], p->parts[i].from_exit[1]);
  for (int q = x->npath - 1; q >= 0; q--) {
    const int k = p->cut.path[x->path + q], off = link_off(t, k);
    for (int c = 0; c < kinds; c++) {
      v6_axpy(to[c] + off, 1, d[c]);
      AdInvT_mul(z, &t->Rel[k], d[c]);
      v6_copy(d[c], z);
    }
  }
}

void mbg__tree_parts_pull(mbg__tree *t, const real *w, const real *dv, const real *k, bool still) {
  job j = {.t = t, .w = w, .dv = dv, .k = k, .still = still};
  mbg__pool_heavy(t->sys->pool, UP, t->parts->cut.n, up_piece, &j);
  exits_up(t->parts);
  mbg__pool_heavy(t->sys->pool, ALONG, t->parts->cut.n, along_piece, &j);
}
