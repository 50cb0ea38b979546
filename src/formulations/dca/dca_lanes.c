/* Columns in lanes: their memory, their directions, and the kernel for the vectors that every processor has. */
#include "math/avx2.h"

#include <string.h>

#define LANES(name) name
#include "formulations/dca/dca_lanes_kernel.h"

bool mbg__dca_lanes_can(const mbg__tree *tree, const mbg__dca_articulated *articulated) {
  return articulated && mbg__tree_lanes_can(tree);
}

int mbg__dca_lanes_create(mbg_context *ctx, mbg__arena *arena, mbg__tree *tree, const mbg__dca_articulated *k,
                          mbg__dca_lanes **out) {
  mbg__dca_lanes *x = *out = MBG_TAKE(arena, mbg__dca_lanes, 1);
  if (!x) {
    return mbg__fail_memory(ctx);
  }
  x->k = k;
  x->sides = MBG_TAKE(arena, mbg__art_lanes, k->pieces ? k->pieces->n : 0);
  x->whole = MBG_TAKE(arena, int, k->nbody);
  x->piece = MBG_TAKE(arena, int, k->nbody);
  x->at = x->whole;
  for (int i = 0; x->whole && i < k->nbody; i++) {
    x->whole[i] = k->links[i].off;
  }
  for (int j = 0; x->piece && k->pieces && j < k->pieces->n; j++) {
    for (int i = 0; i < k->pieces->pieces[j].count; i++) {
      x->piece[k->pieces->list[k->pieces->pieces[j].first + i]] = 6 * i;
    }
  }
  const int err = mbg__tree_lanes_create(ctx, arena, tree, &x->t);
  if (err == MBG_OK) {
    x->p = x->t->nu;
    x->c = x->t->al;
    x->v = x->t->eta;
    x->u = x->t->a;
    x->a = x->t->mu;
  }
  return err;
}

static void give_column(int n, int q, const lane *from, real *to) {
  for (int i = 0; i < n; i++) {
    to[i] = lane_get(&from[i], q);
  }
}

static void take_column(int n, int q, const real *from, lane *to) {
  for (int i = 0; i < n; i++) {
    lane_set(&to[i], q, from[i]);
  }
}

/* ---------------------------------------------------------------------- attributes */

/* parameter p changes the attributes of its list, and no others */
static bool is_listed(const mbg__event_tangent *e, int p) { return !e->ev && mbg__design_column_listed(e->columns, p); }

static void set(mbg__tree_lanes *t, int attribute, int q, real value) {
  if (!t->varied[attribute]) {
    t->varied[attribute] = true;
    t->da[attribute] = (lane){0};
  }
  lane_set(&t->da[attribute], q, value);
}

static void lay(mbg__tree_lanes *t, const mbg__dca_lanes_direction *d, int q) {
  const mbg__design_columns *c = d->columns->columns;
  const int p = d->first + q;
  if (is_listed(d->columns, p)) {
    for (int i = c->start[p]; i < c->start[p + 1]; i++) {
      set(t, c->attr[i], q, c->design->val[c->entry[i]]);
    }
    return;
  }
  mbg__event_tangent_lay(d->columns, p, d->da);
  for (int i = 0; i < t->t->m->na; i++) {
    if (d->da[i] != 0) {
      set(t, i, q, d->da[i]);
    }
  }
  mbg__event_tangent_clear(d->columns, p, d->da);
}

/* no attribute varies again */
static void clear(mbg__tree_lanes *t, const mbg__dca_lanes_direction *d, int q) {
  const mbg__design_columns *c = d->columns->columns;
  const int p = d->first + q;
  if (is_listed(d->columns, p)) {
    for (int i = c->start[p]; i < c->start[p + 1]; i++) {
      t->varied[c->attr[i]] = false;
    }
  } else {
    memset(t->varied, 0, (size_t)t->t->m->na * sizeof(bool));
  }
}

/* ---------------------------------------------------------------------- columns */

static void solve(mbg__dca_lanes *x) {
#ifdef MBG__AVX2_BEGIN
  if (x->t->wide) {
    mbg__art_solve_columns_avx2(x);
    return;
  }
#endif
  mbg__art_solve_columns(x);
}

bool mbg__dca_lanes_push(mbg__dca_lanes *x, const mbg__dca_lanes_direction *d, real *const *out) {
  mbg__tree_lanes *t = x->t;
  if (x->k->refine) {
    return false;
  }
  for (int q = 0; q < d->nc; q++) {
    take_column(6 * x->k->nbody, q, d->e[q], t->e);
    take_column(x->k->n, q, d->dw[q], t->w);
    lay(t, d, q);
  }
  x->f = d->f;
  x->at = x->whole;
  mbg__tree_local_push_lanes(t);
  solve(x);
  for (int q = 0; q < d->nc; q++) {
    clear(t, d, q);
    give_column(x->k->n, q, x->a, out[q]);
  }
  return true;
}

bool mbg__dca_lanes_pieces(const mbg__dca_lanes *x) { return x->k->by_pieces && !x->k->refine && x->k->m->nforce == 0; }

/* the same kernels for both kinds of vectors */
typedef struct {
  mbg__art_lanes_kernel *push, *exits_place, *exits_solve;
  mbg__pool_item *alone, *up, *down;
} kernels;

static kernels kernels_of(const mbg__dca_lanes *x) {
#ifdef MBG__AVX2_BEGIN
  if (x->t->wide) {
    return (kernels){mbg__art_push_columns_avx2, mbg__art_exits_place_avx2, mbg__art_exits_solve_avx2,
                     mbg__art_piece_alone_avx2,  mbg__art_piece_up_avx2,    mbg__art_piece_down_avx2};
  }
#endif
  (void)x;
  return (kernels){mbg__art_push_columns, mbg__art_exits_place, mbg__art_exits_solve,
                   mbg__art_piece_alone,  mbg__art_piece_up,    mbg__art_piece_down};
}

void mbg__dca_lanes_push_pieces(mbg__dca_lanes *x, const mbg__dca_lanes_direction *d, bool shared, mbg__pool *pool,
                                real *const *out) {
  const kernels run = kernels_of(x);
  const int n = x->k->pieces->n;
  for (int q = 0; q < d->nc; q++) {
    lay(x->t, d, q);
  }
  x->f = d->f;
  x->d = d;
  x->out = out;
  x->at = shared ? x->whole : x->piece;
  if (shared) {
    mbg__pool_heavy(pool, MBG__LOOP_COLUMNS_ALONE, n, run.alone, x);
    run.exits_place(x);
    mbg__pool_heavy(pool, MBG__LOOP_COLUMNS_UP, n, run.up, x);
    run.exits_solve(x);
    mbg__pool_heavy(pool, MBG__LOOP_COLUMNS_DOWN, n, run.down, x);
  } else {
    run.push(x);
  }
  for (int q = 0; q < d->nc; q++) {
    clear(x->t, d, q);
  }
}
