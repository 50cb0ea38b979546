/* Groups of pieces: which are of equal shape, their constants, and the results of links for those who read them one by
   one. */
#include "math/avx2.h"

#include <string.h>

#define LANES(name) name
#include "formulations/dca/dca_articulated_exit_kernel.h"
#include "formulations/dca/dca_articulated_groups_kernel.h"

#include "system/system_lanes.h"

typedef struct mbg__art_groups groups;
typedef mbg__art_group group;

/* ---------------------------------------------------------------------- shapes */

/* place of each link in the list of its piece */
static void note_places(const mbg__art_pieces *s, int *place) {
  for (int j = 0; j < s->n; j++) {
    for (int q = 0; q < s->pieces[j].count; q++) {
      place[s->list[s->pieces[j].first + q]] = q;
    }
  }
}

static int parent_place(const mbg__dca_articulated *k, const mbg__art_piece *x, int q, const int *place) {
  return q == 0 ? -1 : place[k->links[k->pieces->list[x->first + q]].parent];
}

/* a piece without an exit fits beside those with one: no wrench acts at the exit that they suppose */
static bool equal_shapes(const mbg__dca_articulated *k, const mbg__art_piece *a, const mbg__art_piece *b,
                         const int *place) {
  const mbg__art_pieces *s = k->pieces;
  bool equal = a->count == b->count && (a->npath == b->npath || a->npath == 0 || b->npath == 0);
  for (int q = 0; equal && q < a->count; q++) {
    const mbg__art_link *x = &k->links[s->list[a->first + q]], *y = &k->links[s->list[b->first + q]];
    equal = x->nz == y->nz && memcmp(x->comp, y->comp, (size_t)x->nz * sizeof(int)) == 0 &&
            parent_place(k, a, q, place) == parent_place(k, b, q, place);
  }
  for (int q = 0; equal && q < a->npath && q < b->npath; q++) {
    equal = place[s->path[a->path + q]] == place[s->path[b->path + q]];
  }
  return equal;
}

/* of the pieces of a group, the one whose way to its exit is the longest */
static const mbg__art_piece *longest_path(const mbg__dca_articulated *k, const group *g) {
  const mbg__art_piece *x = &k->pieces->pieces[g->piece[0]];
  for (int q = 1; q < g->n; q++) {
    const mbg__art_piece *y = &k->pieces->pieces[g->piece[q]];
    x = y->npath > x->npath ? y : x;
  }
  return x;
}

/* the last group of the same shape that has a free lane, or a new one */
static int group_for(const mbg__dca_articulated *k, int j, const int *place, groups *out) {
  const mbg__art_piece *pieces = k->pieces->pieces;
  for (int i = out->n - 1; i >= 0; i--) {
    const group *g = &out->groups[i];
    if (g->n < MBG__LANES && equal_shapes(k, longest_path(k, g), &pieces[j], place)) {
      return i;
    }
  }
  return out->n++;
}

static void find_groups(const mbg__dca_articulated *k, const int *place, groups *out) {
  for (int j = 0; j < k->pieces->n; j++) {
    group *g = &out->groups[group_for(k, j, place, out)];
    g->piece[g->n++] = j;
  }
  for (int i = 0; i < out->n; i++) {
    group *g = &out->groups[i];
    for (int q = g->n; q < MBG__LANES; q++) {
      g->piece[q] = g->piece[0];
    }
  }
}

/* ---------------------------------------------------------------------- creation */

static int make_group(mbg_context *ctx, mbg__arena *arena, const mbg__dca_articulated *k, const int *place, group *g) {
  const mbg__art_pieces *s = k->pieces;
  const mbg__art_piece *x = longest_path(k, g);
  int freedoms = 0;
  g->count = x->count;
  g->npath = x->npath;
  g->links = MBG_TAKE(arena, mbg__lane_link, g->count);
  g->path = MBG_TAKE(arena, int, g->npath);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < g->count; i++) {
    mbg__lane_link *l = &g->links[i];
    for (int q = 0; q < MBG__LANES; q++) {
      l->link[q] = s->list[s->pieces[g->piece[q]].first + i];
    }
    const mbg__art_link *from = &k->links[l->link[0]];
    l->parent = parent_place(k, x, i, place);
    l->nz = from->nz;
    memcpy(l->comp, from->comp, sizeof(l->comp));
    l->first = freedoms;
    freedoms += l->nz;
  }
  for (int q = 0; q < g->npath; q++) {
    g->path[q] = place[s->path[x->path + q]];
  }
  g->free_ = MBG_TAKE(arena, mbg__lane_freedom, freedoms);
  g->pulls = MBG_TAKE(arena, mbg__lane_cotangent, g->count);
  return mbg__arena_check(ctx, arena);
}

int mbg__art_groups_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_articulated *k,
                           struct mbg__art_groups **out) {
  int *place = mbg__alloc_zero(ctx, (size_t)k->nbody, sizeof(int)), err = MBG_OK;
  groups *x = MBG_TAKE(arena, groups, 1);
  group *list = MBG_TAKE(arena, group, k->pieces->n);
  *out = NULL;
  if (!place || mbg__arena_check(ctx, arena) < 0) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  x->groups = list;
  note_places(k->pieces, place);
  find_groups(k, place, x);
  /* pieces of many shapes gain nothing */
  if (MBG__LANES > 1 && 2 * x->n > k->pieces->n) {
    goto done;
  }
  for (int i = 0; i < x->n; i++) {
    MBG_TRY(make_group(ctx, arena, k, place, &x->groups[i]));
  }
  *out = x;
done:
  mbg__free(ctx, place);
  return err;
}

void mbg__art_groups_refresh(const mbg__dca_articulated *k, struct mbg__art_groups *x) {
  for (int i = 0; i < x->n; i++) {
    for (int j = 0; j < x->groups[i].count; j++) {
      mbg__lane_link *l = &x->groups[i].links[j];
      const real *R[MBG__LANES], *at[MBG__LANES], *m[MBG__LANES], *mc[MBG__LANES], *J[MBG__LANES];
      for (int q = 0; q < MBG__LANES; q++) {
        const mbg__art_link *from = &k->links[l->link[q]];
        R[q] = from->A.R;
        at[q] = from->A.x;
        m[q] = &from->m;
        mc[q] = from->mc;
        J[q] = from->J;
      }
      collect_all(9, l->A.R, R);
      collect_all(3, l->A.x, at);
      collect_all(1, &l->m, m);
      collect_all(3, l->mc, mc);
      collect_all(6, l->J, J);
    }
  }
}

/* ---------------------------------------------------------------------- dynamics */

enum { PLACE, FACTOR, ACCELERATE };

#ifdef MBG__AVX2_BEGIN
#define CHOICE(name)                                                                                                   \
  { name, name##_avx2 }
#else
#define CHOICE(name)                                                                                                   \
  { name, name }
#endif

static void run(const mbg__art_dynamics *d, int what, int i) {
  static mbg__art_group_kernel *const kernels[][2] = {
      [PLACE] = CHOICE(mbg__group_place),
      [FACTOR] = CHOICE(mbg__group_factor),
      [ACCELERATE] = CHOICE(mbg__group_accelerate),
  };
  const groups *x = d->k->pieces->groups;
  kernels[what][d->k->pieces->wide](d, &x->groups[i]);
}

void mbg__art_group_place(void *user, int i) {
  const mbg__art_dynamics *d = user;
  const group *g = &d->k->pieces->groups->groups[i];
  for (int q = 0; d->state && q < g->n; q++) {
    for (int l = 0; l < g->count; l++) {
      d->state->make(d->state->maker, g->links[l].link[q]);
    }
  }
  run(d, PLACE, i);
}

void mbg__art_group_factor(void *user, int i) { run(user, FACTOR, i); }

void mbg__art_group_accelerate(void *user, int i) { run(user, ACCELERATE, i); }

void mbg__art_exit_factor(const mbg__art_pieces *s, mbg__art_piece *x, real N[36]) {
  static mbg__exit_kernel *const kernels[] = CHOICE(mbg__exit_factor);
  kernels[s->wide](x, N);
}

/* what solutions and derivatives read of the links of piece q of a group */
static void give_links(mbg__dca_articulated *k, const group *g, int q) {
  for (int i = 0; i < g->count; i++) {
    const mbg__lane_link *l = &g->links[i];
    mbg__art_node *n = &k->nodes[l->link[q]];
    spread(9, l->Rel.R, q, n->Rel.R);
    spread(3, l->Rel.x, q, n->Rel.x);
    spread(6, l->I.A, q, n->I.A);
    spread(9, l->I.B, q, n->I.B);
    spread(6, l->I.C, q, n->I.C);
    spread(6, l->p, q, n->p);
    spread(6, l->vd, q, n->vd);
    for (int j = 0; j < l->nz; j++) {
      mbg__art_freedom *f = &k->free_[k->links[l->link[q]].first + j];
      spread(6, g->free_[l->first + j].U, q, f->U);
      f->inverse = lane_get(&g->free_[l->first + j].inverse, q);
    }
  }
}

void mbg__art_group_give(void *user, int i) {
  mbg__dca_articulated *k = user;
  const group *g = &k->pieces->groups->groups[i];
  for (int q = 0; q < g->n; q++) {
    give_links(k, g, q);
  }
}
