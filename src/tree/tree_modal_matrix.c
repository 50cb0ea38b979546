/* Columns of links on modal bodies (tree_matrix.c): the modes of both ends of the joint join the path of the parent and
   the link's own coordinates. A column is a direction of the sweeps (tree_modal_derivative.c) in one coordinate. */
#include "tree/tree_modal.h"

/* ---------------------------------------------------------------------- paths */

static bool has_modes(const mbg__tree *t, int k, int modal) {
  for (; k >= 0; k = t->links[k].parent) {
    const mbg__tree_modal_joint *b = t->modal->link[k];
    if (b && (b->P.modal == modal || b->C.modal == modal)) {
      return true;
    }
  }
  return false;
}

static bool is_new(const mbg__tree *t, int k, int modal) {
  return modal >= 0 && !has_modes(t, t->links[k].parent, modal);
}

int mbg__tree_modal_more(const mbg__tree *t, int k) {
  const mbg__tree_modal_joint *b = t->modal->link[k];
  return (is_new(t, k, b->P.modal) ? b->P.m.n : 0) + (is_new(t, k, b->C.modal) ? b->C.m.n : 0);
}

static int coordinate_of(const mbg__tree *t, int modal, int j) {
  return t->links[t->link_of[mbg__modal_carrier(&t->m->modals[modal], j)]].first + j % 3;
}

void mbg__tree_modal_more_columns(const mbg__tree *t, int k, int *path) {
  const mbg__tree_modal_joint *b = t->modal->link[k];
  const int modal[2] = {b->P.modal, b->C.modal};
  for (int i = 0; i < 2; i++) {
    for (int j = 0; is_new(t, k, modal[i]) && j < t->m->modals[modal[i]].n; j++) {
      *path++ = coordinate_of(t, modal[i], j);
    }
  }
}

static void find_columns(const mbg__tree *t, int k, mbg__tree_end *x) {
  for (int j = 0; x->modal >= 0 && j < x->m.n; j++) {
    const int coordinate = coordinate_of(t, x->modal, j);
    x->col[j] = 0;
    while (t->path[t->col0[k] + x->col[j]] != coordinate) {
      x->col[j]++;
    }
  }
}

int mbg__tree_modal_paths(mbg_context *ctx, mbg__tree *t) {
  struct mbg__tree_modal *s = t->modal;
  for (int i = 0; i < 3; i++) {
    s->y[i] = MBG_TAKE(&t->arena, real, t->m->nw);
  }
  s->e = MBG_TAKE(&t->arena, real, 6 * t->m->nbody);
  s->x[0] = MBG_TAKE(&t->arena, real, t->n);
  s->x[1] = MBG_TAKE(&t->arena, real, t->n);
  for (int k = 0; k < t->m->nbody; k++) {
    if (s->link[k]) {
      s->link[k]->P.col = MBG_TAKE(&t->arena, int, s->link[k]->P.m.n);
      s->link[k]->C.col = MBG_TAKE(&t->arena, int, s->link[k]->C.m.n);
    }
  }
  const int err = mbg__arena_check(ctx, &t->arena);
  for (int k = 0; err == MBG_OK && k < t->m->nbody; k++) {
    if (s->link[k]) {
      find_columns(t, k, &s->link[k]->P);
      find_columns(t, k, &s->link[k]->C);
    }
  }
  return err;
}

/* ---------------------------------------------------------------------- columns as directions */

/* the entry of the mode behind column c, if there is one, in a vector of bodies */
static void set_mode(const mbg__tree *t, int k, int c, real x, real *y) {
  const mbg__tree_modal_joint *b = t->modal->link[k];
  const mbg__tree_end *ends[2] = {&b->P, &b->C};
  for (int i = 0; i < 2; i++) {
    for (int j = 0; ends[i]->modal >= 0 && j < ends[i]->m.n; j++) {
      if (ends[i]->col[j] == c) {
        y[mode_at(t, ends[i]->modal, j)] = x;
      }
    }
  }
}

static int parent_length(const mbg__tree *t, int k) {
  const int p = t->links[k].parent;
  return p >= 0 ? t->col0[p + 1] - t->col0[p] : 0;
}

/* the parent's part of column c; NULL: 0 */
static void set_parent(const mbg__tree *t, int k, const real *x, real *y) {
  const int p = t->links[k].parent;
  if (p >= 0 && x) {
    v6_copy(y + link_off(t, p), x);
  } else if (p >= 0) {
    v6_zero(y + link_off(t, p));
  }
}

/* own coordinate of column c, -1: another one */
static int own_of(const mbg__tree *t, int k, int c) {
  const int i = c - parent_length(t, k);
  return i >= 0 && i < t->links[k].nz ? i : -1;
}

void mbg__tree_modal_motions(mbg__tree *t, int k) {
  real *y = t->modal->y[0], *x = t->modal->x[0];
  const int n = parent_length(t, k);
  for (int c = 0; c < t->col0[k + 1] - t->col0[k]; c++) {
    const int own = own_of(t, k, c);
    set_parent(t, k, c < n ? t->J[t->col0[t->links[k].parent] + c] : NULL, y);
    set_mode(t, k, c, 1, y);
    if (own >= 0) {
      x[t->links[k].first + own] = 1;
    }
    mbg__tree_modal_forward(t, k, x, NULL, y);
    v6_copy(t->J[t->col0[k] + c], y + link_off(t, k));
    set_mode(t, k, c, 0, y);
    if (own >= 0) {
      x[t->links[k].first + own] = 0;
    }
  }
  set_parent(t, k, NULL, y);
  v6_zero(y + link_off(t, k));
}

/* variation of the joint frame by its own coordinate i: S T e_i c */
static void set_frame(const mbg__tree *t, int k, int i, real c, const real *T) {
  const mbg__link *l = &t->links[k];
  real *e = t->modal->e + 6 * k;
  v6_zero(e);
  for (int j = 0; i >= 0 && j < l->nz; j++) {
    e[l->comp[j]] = c * (l->simple ? i == j : T[6 * l->comp[j] + l->comp[i]]);
  }
}

void mbg__tree_modal_variations(mbg__tree *t, int k, real h, const real *D) {
  struct mbg__tree_modal *s = t->modal;
  const mbg__link *l = &t->links[k];
  const mbg__tree_direction d = {.e = s->e, .dw = s->x[0], .da = s->x[1]};
  const int n = parent_length(t, k), off = link_off(t, k);
  vec6 *columns[3] = {t->Je, t->Jn, t->Ja};
  const real scale[3] = {h * h / 4, h / 2, 1};
  real T[36], kC[6];
  mbg__tree_tangent_matrix(l, D, T);
  for (int c = 0; c < t->col0[k + 1] - t->col0[k]; c++) {
    const int own = own_of(t, k, c);
    for (int i = 0; i < 3; i++) {
      set_parent(t, k, c < n ? columns[i][t->col0[l->parent] + c] : NULL, s->y[i]);
      set_mode(t, k, c, scale[i], s->y[i]);
    }
    set_frame(t, k, own, scale[0], T);
    for (int i = 0; own >= 0 && i < 2; i++) {
      s->x[i][l->first + own] = scale[i + 1];
    }
    mbg__tree_modal_push(t, k, &d, false, s->y[0], s->y[1], kC);
    mbg__tree_modal_forward(t, k, s->x[1], kC, s->y[2]);
    for (int i = 0; i < 3; i++) {
      v6_copy(columns[i][t->col0[k] + c], s->y[i] + off);
      set_mode(t, k, c, 0, s->y[i]);
    }
    for (int i = 0; own >= 0 && i < 2; i++) {
      s->x[i][l->first + own] = 0;
    }
  }
  set_frame(t, k, -1, 0, T);
  for (int i = 0; i < 3; i++) {
    set_parent(t, k, NULL, s->y[i]);
    v6_zero(s->y[i] + off);
  }
}

/* ---------------------------------------------------------------------- geometry */

/* column c of the block += the wrenches in r on parent and modes, and x on the own coordinates; all become 0 */
static void add_geometry(mbg__tree *t, int k, int c, const int *slot, real *r, real *x, real *val) {
  const mbg__tree_modal_joint *b = t->modal->link[k];
  const mbg__tree_end *ends[2] = {&b->P, &b->C};
  const mbg__link *l = &t->links[k];
  const int length = t->col0[k + 1] - t->col0[k], n = parent_length(t, k);
  for (int i = 0; i < n; i++) {
    val[slot[i * length + c]] += v6_dot(t->J[t->col0[l->parent] + i], r + link_off(t, l->parent));
  }
  for (int i = 0; i < l->nz; i++) {
    val[slot[(n + i) * length + c]] += x[l->first + i];
    x[l->first + i] = 0;
  }
  for (int i = 0; i < 2; i++) {
    for (int j = 0; ends[i]->modal >= 0 && j < ends[i]->m.n; j++) {
      real *mode = r + mode_at(t, ends[i]->modal, j);
      val[slot[ends[i]->col[j] * length + c]] += *mode;
      *mode = 0;
    }
  }
  set_parent(t, k, NULL, r);
}

void mbg__tree_modal_geometry(mbg__tree *t, int k, real h, const real *D, const int *slot, real *val) {
  struct mbg__tree_modal *s = t->modal;
  const mbg__tree_modal_joint *b = s->link[k];
  const mbg__tree_end *ends[2] = {&b->P, &b->C};
  const mbg__tree_direction d = {.e = s->e};
  const int n = parent_length(t, k);
  real T[36];
  mbg__tree_tangent_matrix(&t->links[k], D, T);
  for (int i = 0; i < t->links[k].nz; i++) {
    set_frame(t, k, i, h * h / 4, T);
    mbg__tree_modal_wrench_push(t, k, &d, s->y[0], t->f + link_off(t, k), s->y[1], s->x[0]);
    add_geometry(t, k, n + i, slot, s->y[1], s->x[0], val);
  }
  set_frame(t, k, -1, 0, T);
  for (int i = 0; i < 2; i++) {
    for (int j = 0; ends[i]->modal >= 0 && j < ends[i]->m.n; j++) {
      const int c = ends[i]->col[j];
      set_mode(t, k, c, h * h / 4, s->y[0]);
      mbg__tree_modal_wrench_push(t, k, &d, s->y[0], t->f + link_off(t, k), s->y[1], s->x[0]);
      add_geometry(t, k, c, slot, s->y[1], s->x[0], val);
      set_mode(t, k, c, 0, s->y[0]);
    }
  }
}
