#include "tree/spanning_tree.h"

#include <string.h>

/* a joint that would bring a new body into the tree */
typedef struct {
  int rows, cut, depth, joint;
} candidate;

typedef struct {
  const mbg_model *m;
  bool (*usable)(const mbg_model *m, int joint, int side);
  int *first, *joint; /* joints of each body, the ground last: joint[first[b]] ..  (nbody + 2), (2 njoint) */
  candidate *heap;    /* best one first                                            (2 njoint) */
  int nheap;
  mbg__spanning_tree *span;
} tree;

/* ---------------------------------------------------------------------- heap of candidates */

/* ties are broken by names: the order of the file does not matter */
static bool before(const char *a, const char *b, bool index) {
  const int order = strcmp(a ? a : "", b ? b : "");
  return order != 0 ? order < 0 : index;
}

static bool better(const tree *t, const candidate *a, const candidate *b) {
  if (a->rows != b->rows) {
    return a->rows > b->rows;
  }
  if (a->cut != b->cut) {
    return a->cut < b->cut;
  }
  if (a->depth != b->depth) {
    return a->depth < b->depth;
  }
  return before(t->m->joints[a->joint].name, t->m->joints[b->joint].name, a->joint < b->joint);
}

static void heap_push(tree *t, candidate c) {
  int i = t->nheap++;
  for (; i > 0 && better(t, &c, &t->heap[(i - 1) / 2]); i = (i - 1) / 2) {
    t->heap[i] = t->heap[(i - 1) / 2];
  }
  t->heap[i] = c;
}

static candidate heap_pop(tree *t) {
  const candidate top = t->heap[0], last = t->heap[--t->nheap];
  int i = 0;
  for (int k = 1; k < t->nheap; k = 2 * i + 1) {
    if (k + 1 < t->nheap && better(t, &t->heap[k + 1], &t->heap[k])) {
      k++;
    }
    if (!better(t, &t->heap[k], &last)) {
      break;
    }
    t->heap[i] = t->heap[k];
    i = k;
  }
  t->heap[i] = last;
  return top;
}

/* ---------------------------------------------------------------------- growth */

static int place(const tree *t, int body) { return body < 0 ? t->m->nbody : body; }

static void list_joints(tree *t) {
  const int n = t->m->nbody + 1;
  for (int j = 0; j < 2 * t->m->njoint; j++) {
    t->first[place(t, mbg__joint_body(t->m, j / 2, j % 2)) + 1]++;
  }
  for (int b = 0; b < n; b++) {
    t->first[b + 1] += t->first[b];
  }
  for (int j = 2 * t->m->njoint - 1; j >= 0; j--) {
    const int b = place(t, mbg__joint_body(t->m, j / 2, j % 2));
    t->joint[--t->first[b + 1]] = j / 2;
  }
  /* the last loop has moved the beginnings one place down */
  memmove(t->first, t->first + 1, (size_t)n * sizeof(int));
  t->first[n] = 2 * t->m->njoint;
}

static void offer_joints(tree *t, int body, int depth) {
  const int b = place(t, body);
  for (int k = t->first[b]; k < t->first[b + 1]; k++) {
    const int j = t->joint[k], hint = t->m->joints[j].cut;
    const int cut = hint < 0 ? 1 : 2 * hint; /* keep, no hint, cut */
    heap_push(t, (candidate){.rows = t->m->joints[j].nrow, .cut = cut, .depth = depth + 1, .joint = j});
  }
}

static bool may_carry(const tree *t, int joint, int side) { return !t->usable || t->usable(t->m, joint, side); }

static void grow(tree *t) {
  mbg__spanning_tree *s = t->span;
  while (t->nheap > 0) {
    const candidate c = heap_pop(t);
    for (int side = 0; side < 2; side++) {
      const int body = mbg__joint_body(t->m, c.joint, side), other = mbg__joint_body(t->m, c.joint, !side);
      const bool reached = other < 0 || s->depth[other] > 0;
      if (body >= 0 && s->depth[body] == 0 && body != other && reached && may_carry(t, c.joint, side)) {
        s->parent[body] = other;
        s->by[body] = c.joint;
        s->depth[body] = c.depth;
        s->closes[c.joint] = false;
        offer_joints(t, body, c.depth);
        break;
      }
    }
  }
}

/* The base of a component without ground: its body with most joints, the first by name among equal ones; -1: none. */
static int next_base(const tree *t) {
  int best = -1, most = 0;
  for (int b = 0; b < t->m->nbody; b++) {
    const int n = t->first[b + 1] - t->first[b];
    if (t->span->depth[b] == 0 && n > 0 &&
        (n > most || (n == most && before(t->m->bodies[b].name, t->m->bodies[best].name, false)))) {
      best = b;
      most = n;
    }
  }
  return best;
}

int mbg__spanning_tree_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m,
                              bool (*usable)(const mbg_model *m, int joint, int side), mbg__spanning_tree *out) {
  tree t = {.m = m, .usable = usable, .span = out};
  mbg__arena scratch;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  t.first = MBG_TAKE(&scratch, int, m->nbody + 2);
  t.joint = MBG_TAKE(&scratch, int, 2 * m->njoint);
  t.heap = MBG_TAKE(&scratch, candidate, 2 * m->njoint);
  out->parent = MBG_TAKE(arena, int, m->nbody);
  out->by = MBG_TAKE(arena, int, m->nbody);
  out->depth = MBG_TAKE(arena, int, m->nbody);
  out->closes = MBG_TAKE(arena, bool, m->njoint);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  MBG_TRY(mbg__arena_check(ctx, arena));
  memset(out->closes, true, (size_t)m->njoint);
  for (int b = 0; b < m->nbody; b++) {
    out->by[b] = out->parent[b] = -1;
  }
  list_joints(&t);
  for (int b = 0; b < m->nbody; b++) {
    out->depth[b] = t.first[b + 1] == t.first[b]; /* bodies without joints are bases */
  }
  offer_joints(&t, -1, 0);
  grow(&t);
  /* what does not hang on the ground: bases */
  for (int base; (base = next_base(&t)) >= 0;) {
    out->depth[base] = 1;
    offer_joints(&t, base, 1);
    grow(&t);
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}
