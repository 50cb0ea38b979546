/* The mechanism as a spanning tree from the ground. */
#include "problems/check.h"

#include <string.h>

/* a joint that would bring a new body into the tree */
typedef struct {
  int rows, cut, depth, joint;
} candidate;

typedef struct {
  const mbg_model *m;
  int *first, *joint; /* joints of each body, the ground last: joint[first[b]] ..  (nbody + 2), (2 njoint) */
  candidate *heap;    /* best one first                                            (2 njoint) */
  int nheap;
  const int *kept;   /* kept rows of each joint                                   (njoint) */
  int *parent, *by;  /* of each body: body (-1 ground, -2 none yet) and joint (-1: free)  (nbody) */
  int *depth;        /* 0: not in the tree                                        (nbody) */
  int *child, *next; /* first child of a body (ground last), next child of its parent  (nbody + 1), (nbody) */
} tree;

static int body_of(const mbg_model *m, int joint, int side) {
  const mbg__pair *p = &m->pairs[m->joints[joint].pair];
  return m->markers[side ? p->B : p->A].body;
}

const char *mbg__check_end(const mbg_model *m, int pair, int side) {
  const mbg__pair *p = &m->pairs[pair];
  const int body = m->markers[side ? p->B : p->A].body;
  return body < 0 ? "ground" : m->bodies[body].name;
}

/* ---------------------------------------------------------------------- heap of candidates */

static bool better(const candidate *a, const candidate *b) {
  if (a->rows != b->rows) {
    return a->rows > b->rows;
  }
  if (a->cut != b->cut) {
    return a->cut < b->cut;
  }
  return a->depth != b->depth ? a->depth < b->depth : a->joint < b->joint;
}

static void heap_push(tree *t, candidate c) {
  int i = t->nheap++;
  for (; i > 0 && better(&c, &t->heap[(i - 1) / 2]); i = (i - 1) / 2) {
    t->heap[i] = t->heap[(i - 1) / 2];
  }
  t->heap[i] = c;
}

static candidate heap_pop(tree *t) {
  const candidate top = t->heap[0], last = t->heap[--t->nheap];
  int i = 0;
  for (int k = 1; k < t->nheap; k = 2 * i + 1) {
    if (k + 1 < t->nheap && better(&t->heap[k + 1], &t->heap[k])) {
      k++;
    }
    if (!better(&t->heap[k], &last)) {
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
    t->first[place(t, body_of(t->m, j / 2, j % 2)) + 1]++;
  }
  for (int b = 0; b < n; b++) {
    t->first[b + 1] += t->first[b];
  }
  for (int j = 2 * t->m->njoint - 1; j >= 0; j--) {
    const int b = place(t, body_of(t->m, j / 2, j % 2));
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
    heap_push(t, (candidate){.rows = t->kept[j], .cut = cut, .depth = depth + 1, .joint = j});
  }
}

static void grow(tree *t, bool *closes) {
  while (t->nheap > 0) {
    const candidate c = heap_pop(t);
    for (int side = 0; side < 2; side++) {
      const int body = body_of(t->m, c.joint, side), other = body_of(t->m, c.joint, !side);
      if (body >= 0 && t->depth[body] == 0 && body != other) {
        t->parent[body] = other;
        t->by[body] = c.joint;
        t->depth[body] = c.depth;
        closes[c.joint] = false;
        offer_joints(t, body, c.depth);
        break;
      }
    }
  }
}

/* ---------------------------------------------------------------------- result */

static void list_children(tree *t) {
  for (int b = 0; b <= t->m->nbody; b++) {
    t->child[b] = -1;
  }
  /* backwards by joint, so that lists are in the order of the file */
  for (int j = t->m->njoint - 1; j >= 0; j--) {
    for (int side = 0; side < 2; side++) {
      const int body = body_of(t->m, j, side);
      if (body >= 0 && t->by[body] == j) {
        t->next[body] = t->child[place(t, t->parent[body])];
        t->child[place(t, t->parent[body])] = body;
      }
    }
  }
}

static void add_link(const tree *t, mbg_check *check, int body) {
  const mbg_model *m = t->m;
  const int by = t->by[body], parent = t->parent[body];
  check->links[check->summary.links++] = (mbg_check_link){.kind = by >= 0 ? MBG_LINK_JOINT : MBG_LINK_FREE,
                                                          .depth = t->depth[body],
                                                          .body = m->bodies[body].name,
                                                          .parent = by < 0       ? NULL
                                                                    : parent < 0 ? "ground"
                                                                                 : m->bodies[parent].name,
                                                          .joint = by};
}

/* a body and all that hangs on it, parents first */
static void walk(const tree *t, mbg_check *check, int root, bool connected) {
  int body = root;
  while (body >= 0) {
    add_link(t, check, body);
    check->bodies[body].connected = connected;
    int next = t->child[body];
    while (next < 0 && body != root) {
      next = t->next[body];
      body = next < 0 ? t->parent[body] : body;
    }
    body = next;
  }
}

static void list_links(tree *t, mbg_check *check, const bool *closes) {
  const mbg_model *m = t->m;
  list_children(t);
  for (int b = t->child[m->nbody]; b >= 0; b = t->next[b]) {
    walk(t, check, b, true);
  }
  for (int b = 0; b < m->nbody; b++) {
    if (t->by[b] < 0) {
      walk(t, check, b, false);
    }
  }
  for (int j = 0; j < m->njoint; j++) {
    check->joints[j].closes_loop = closes[j];
    if (closes[j]) {
      check->links[check->summary.links++] = (mbg_check_link){.kind = MBG_LINK_LOOP,
                                                              .body = mbg__check_end(m, m->joints[j].pair, 1),
                                                              .parent = mbg__check_end(m, m->joints[j].pair, 0),
                                                              .joint = j};
    }
  }
}

static int take_arrays(mbg_context *ctx, mbg__arena *arena, tree *t, int **kept, bool **closes) {
  const mbg_model *m = t->m;
  t->first = MBG_TAKE(arena, int, m->nbody + 2);
  t->joint = MBG_TAKE(arena, int, 2 * m->njoint);
  t->heap = MBG_TAKE(arena, candidate, 2 * m->njoint);
  t->parent = MBG_TAKE(arena, int, m->nbody);
  t->by = MBG_TAKE(arena, int, m->nbody);
  t->depth = MBG_TAKE(arena, int, m->nbody);
  t->child = MBG_TAKE(arena, int, m->nbody + 1);
  t->next = MBG_TAKE(arena, int, m->nbody);
  *kept = MBG_TAKE(arena, int, m->njoint);
  *closes = MBG_TAKE(arena, bool, m->njoint);
  const bool all = t->first && t->joint && t->heap && t->parent && t->by && t->depth && t->child && t->next;
  return all && *kept && *closes ? MBG_OK : mbg__fail_memory(ctx);
}

int mbg__check_tree(mbg_context *ctx, mbg_check *check, const mbg__rank *rank) {
  const mbg_model *m = check->model;
  tree t = {.m = m};
  mbg__arena scratch;
  int err = MBG_OK, *kept;
  bool *closes;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  MBG_TRY(take_arrays(ctx, &scratch, &t, &kept, &closes));
  for (int j = 0; j < m->njoint; j++) {
    closes[j] = true;
    for (int i = m->joints[j].row; i < m->joints[j].row + m->joints[j].nrow; i++) {
      kept[j] += rank->keep[i];
    }
  }
  t.kept = kept;
  for (int b = 0; b < m->nbody; b++) {
    t.by[b] = t.parent[b] = -1;
  }
  list_joints(&t);
  offer_joints(&t, -1, 0);
  grow(&t, closes);
  for (int b = 0; b < m->nbody; b++) {
    if (t.depth[b] == 0) {
      t.depth[b] = 1;
      offer_joints(&t, b, 1);
      grow(&t, closes);
    }
  }
  list_links(&t, check, closes);
done:
  mbg__arena_destroy(&scratch);
  return err;
}
