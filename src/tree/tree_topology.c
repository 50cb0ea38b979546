/* The links of a tree: which joints become coordinates, which rows remain constraints. */
#include "start/rank_parts.h"
#include "tree/spanning_tree.h"
#include "tree/tree_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- joints */

/* The motion of a joint in a tree: components of its twist, and the row that the tree does not hold. */
typedef struct {
  const char *key;
  unsigned spatial; /* bits of components */
  unsigned planar;  /* between planar bodies; NO: not used there */
  bool plain;       /* planar: in body axes at the markers' origins */
  bool simple;
  const char *row;
} motion;

enum { U1 = 1, U2 = 2, U3 = 4, W1 = 8, W2 = 16, W3 = 32, NO = 64 };

static const motion motions[] = {
    {"fixed", 0, 0, false, true, NULL},
    {"revolute", W3, W3, true, true, NULL},
    {"prismatic", U3, U3, false, true, NULL},
    {"cylindrical", U3 | W3, W3, true, true, NULL},
    {"screw", U3 | W3, NO, true, true, "advance"},
    {"planar", U1 | U2 | W3, U1 | U2 | W3, true, false, NULL},
    {"spherical", W1 | W2 | W3, W3, true, false, NULL},
    {"universal", W1 | W2 | W3, NO, true, false, "R12"},
};

static const motion *motion_of(const mbg_model *m, int joint) {
  for (int i = 0; i < MBG_COUNT(motions); i++) {
    if (!strcmp(motions[i].key, m->joints[joint].type->key)) {
      return &motions[i];
    }
  }
  return NULL;
}

static bool planar(const mbg_model *m, int body) { return body < 0 || m->bodies[body].motion == MBG__PLANAR; }

/* a marker that moves with the modes of its body */
static bool moves_with_modes(const mbg_model *m, int marker) {
  const int body = m->markers[marker].body;
  return body >= 0 && m->bodies[body].modal >= 0 && m->markers[marker].node != MBG__MODAL_RIGID;
}

/* a node of a beam */
static bool is_node(const mbg_model *m, int body) {
  const mbg__body *b = &m->bodies[body];
  return m->nelement > 0 && b->type->nkey == 0 && b->modal < 0 && b->carrier < 0;
}

/* Points keep their axes and planar bodies their plane whatever body they hang on: their joints are rows, except joints
   between planar bodies. */
static bool usable(const mbg_model *m, int joint, int side) {
  const motion *x = motion_of(m, joint);
  const mbg__pair *pair = &m->pairs[m->joints[joint].pair];
  const int body = mbg__joint_body(m, joint, side), other = mbg__joint_body(m, joint, !side);
  if (!x || (is_node(m, body) && other >= 0 && x->spatial != 0)) {
    return false;
  }
  /* markers on modes have axes of their own: planar joints on them are rows, joints about the plane's normal are not */
  if (x->plain && !x->simple && m->bodies[body].motion == MBG__PLANAR &&
      (moves_with_modes(m, pair->A) || moves_with_modes(m, pair->B))) {
    return false;
  }
  return m->bodies[body].motion == MBG__SPATIAL ||
         (m->bodies[body].motion == MBG__PLANAR && planar(m, other) && x->planar != NO);
}

static void set_components(mbg__link *l, unsigned bits) {
  for (int i = 0; i < 6; i++) {
    if (bits >> i & 1) {
      l->comp[l->nz++] = i;
    }
  }
}

static void set_link(const mbg_model *m, const mbg__spanning_tree *span, int body, mbg__link *l) {
  *l = (mbg__link){.body = body, .parent = -1, .joint = span->by[body], .P = -1, .C = -1};
  if (l->joint < 0) {
    set_components(l, m->bodies[body].mask);
    l->simple = !(m->bodies[body].mask & (W1 | W2 | W3)); /* translations */
    return;
  }
  const motion *x = motion_of(m, l->joint);
  const mbg__pair *pair = &m->pairs[m->joints[l->joint].pair];
  const bool flat = m->bodies[body].motion == MBG__PLANAR;
  l->side = mbg__joint_body(m, l->joint, 1) == body;
  l->C = l->side ? pair->B : pair->A;
  l->P = l->side ? pair->A : pair->B;
  l->plain = flat && x->plain && !moves_with_modes(m, pair->A) && !moves_with_modes(m, pair->B);
  set_components(l, flat ? x->planar : x->spatial);
  l->simple = x->simple || l->nz == 1;
}

/* ---------------------------------------------------------------------- topology */

/* bodies by depth, then in the order of the file: parents come first; first (nbody + 2, zero): scratch */
static void list_links(mbg__tree *t, const mbg__spanning_tree *span, int *first) {
  const mbg_model *m = t->m;
  for (int b = 0; b < m->nbody; b++) {
    first[span->depth[b] + 1]++;
  }
  for (int d = 0; d <= m->nbody; d++) {
    first[d + 1] += first[d];
  }
  for (int b = 0; b < m->nbody; b++) {
    const int k = first[span->depth[b]]++;
    set_link(m, span, b, &t->links[k]);
    t->link_of[b] = k;
  }
  for (int k = 0; k < m->nbody; k++) {
    mbg__link *l = &t->links[k];
    l->parent = l->joint >= 0 && span->parent[l->body] >= 0 ? t->link_of[span->parent[l->body]] : -1;
    l->first = t->n;
    t->n += l->nz;
  }
}

static void mark_held(mbg__tree *t) {
  const mbg_model *m = t->m;
  for (int k = 0; k < m->nbody; k++) {
    const int j = t->links[k].joint;
    const motion *x = j >= 0 ? motion_of(m, j) : NULL;
    for (int i = 0; x && i < m->joints[j].nrow; i++) {
      const int row = m->joints[j].row + i;
      t->held[row] = !x->row || strcmp(m->rows[row].name, x->row) != 0;
    }
  }
}

/* ---------------------------------------------------------------------- redundant rows */

static double norm(const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i] * x[i];
  }
  return sqrt(s);
}

/* projects the direction of a row out of all rows */
static void project(double *N, int nrow, int nd, int row, double *u) {
  const double l = norm(N + (size_t)row * (size_t)nd, nd);
  for (int d = 0; d < nd; d++) {
    u[d] = N[(size_t)row * (size_t)nd + (size_t)d] / l;
  }
  for (int i = 0; i < nrow; i++) {
    double dot = 0, *x = N + (size_t)i * (size_t)nd;
    for (int d = 0; d < nd; d++) {
      dot += x[d] * u[d];
    }
    for (int d = 0; d < nd; d++) {
      x[d] -= dot * u[d];
    }
  }
}

/* Drops the rows that the start dropped unless the tree holds them; instead of a held row, the row with the largest
   component in the remaining null vectors. The held rows are independent, so that enough rows are found. */
static void drop_part(const mbg__tree *t, const mbg__rank *rank, const mbg__null_parts *p, double *u, bool *dropped) {
  for (int pass = 0, found = 0; pass < 2; pass++) {
    while (found < p->nd) {
      double most = pass ? 1e-12 : 1e-6;
      int best = -1;
      for (int k = 0; k < p->nrow; k++) {
        const int i = p->rows[k];
        const double x = norm(p->N + (size_t)k * (size_t)p->nd, p->nd);
        if (!t->held[i] && !dropped[i] && (pass || !rank->keep[i]) && x >= most * (1 - 1e-9)) {
          most = x;
          best = k;
        }
      }
      if (best < 0) {
        break;
      }
      dropped[p->rows[best]] = true;
      found++;
      project(p->N, p->nrow, p->nd, best, u);
    }
  }
}

static int drop_rows(mbg_context *ctx, mbg__arena *arena, const mbg__tree *t, const mbg__rank *rank, bool *dropped) {
  mbg__null_parts p;
  int err = MBG_OK;
  double *u = MBG_TAKE(arena, double, rank->ndropped);
  MBG_TRY(mbg__null_parts_find(ctx, arena, rank, &p));
  for (int d = 0; d < rank->ndropped; d++) {
    if (p.root[d] == d) {
      mbg__arena one;
      mbg__arena_init(&one, mbg__context_allocator(ctx));
      err = mbg__null_parts_take(ctx, &one, rank, &p, d);
      if (err == MBG_OK) {
        drop_part(t, rank, &p, u, dropped);
      }
      mbg__arena_destroy(&one);
      MBG_TRY(err);
    }
  }
done:
  return err;
}

static void list_rows(mbg__tree *t, const bool *dropped) {
  for (int i = 0; i < t->m->nrow; i++) {
    t->free_rows[i] = !t->held[i];
    if (dropped[i]) {
      t->dropped[t->ndropped++] = i;
    } else if (!t->held[i]) {
      t->rows[t->nrow++] = i;
    }
  }
}

/* ---------------------------------------------------------------------- all of it */

int mbg__tree_topology(mbg_context *ctx, mbg__tree *t, const mbg__rank *rank) {
  const mbg_model *m = t->m;
  mbg__arena scratch;
  mbg__spanning_tree span;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  int *first = MBG_TAKE(&scratch, int, m->nbody + 2);
  bool *dropped = MBG_TAKE(&scratch, bool, m->nrow);
  t->links = MBG_TAKE(&t->arena, mbg__link, m->nbody);
  t->link_of = MBG_TAKE(&t->arena, int, m->nbody);
  t->held = MBG_TAKE(&t->arena, bool, m->nrow);
  t->rows = MBG_TAKE(&t->arena, int, m->nrow);
  t->dropped = MBG_TAKE(&t->arena, int, m->nrow);
  t->free_rows = MBG_TAKE(&t->arena, bool, m->nrow);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  MBG_TRY(mbg__arena_check(ctx, &t->arena));
  MBG_TRY(mbg__spanning_tree_create(ctx, &scratch, m, usable, &span));
  list_links(t, &span, first);
  mark_held(t);
  MBG_TRY(drop_rows(ctx, &scratch, t, rank, dropped));
  list_rows(t, dropped);
done:
  mbg__arena_destroy(&scratch);
  return err;
}
