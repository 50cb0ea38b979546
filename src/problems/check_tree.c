/* The mechanism as a spanning tree from the ground. */
#include "problems/check.h"

#include "tree/spanning_tree.h"

#include <string.h>

typedef struct {
  const mbg_model *m;
  mbg__spanning_tree span;
  int *child, *next; /* first child of a body (ground last), next child of its parent  (nbody + 1), (nbody) */
} tree;

const char *mbg__check_end(const mbg_model *m, int pair, int side) {
  const mbg__pair *p = &m->pairs[pair];
  const int body = m->markers[side ? p->B : p->A].body;
  return body < 0 ? "ground" : m->bodies[body].name;
}

static int place(const tree *t, int body) { return body < 0 ? t->m->nbody : body; }

/* ---------------------------------------------------------------------- result */

static void list_children(tree *t) {
  for (int b = 0; b <= t->m->nbody; b++) {
    t->child[b] = -1;
  }
  /* backwards by joint, so that lists are in the order of the file */
  for (int j = t->m->njoint - 1; j >= 0; j--) {
    for (int side = 0; side < 2; side++) {
      const int body = mbg__joint_body(t->m, j, side);
      if (body >= 0 && t->span.by[body] == j) {
        t->next[body] = t->child[place(t, t->span.parent[body])];
        t->child[place(t, t->span.parent[body])] = body;
      }
    }
  }
}

static const char *beam_of(const mbg_model *m, int body) {
  for (int i = 0; i < m->nbeam; i++) {
    if (body >= m->beams[i].body && body <= m->beams[i].body + m->beams[i].count) {
      return m->beams[i].name;
    }
  }
  return NULL;
}

static void add_link(const tree *t, mbg_check *check, int body) {
  const mbg_model *m = t->m;
  const int by = t->span.by[body], parent = t->span.parent[body];
  check->links[check->summary.links++] = (mbg_check_link){.kind = by >= 0 ? MBG_LINK_JOINT : MBG_LINK_FREE,
                                                          .depth = t->span.depth[body],
                                                          .body = m->bodies[body].name,
                                                          .parent = by < 0       ? NULL
                                                                    : parent < 0 ? "ground"
                                                                                 : m->bodies[parent].name,
                                                          .joint = by,
                                                          .beam = beam_of(m, body)};
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
      body = next < 0 ? t->span.parent[body] : body;
    }
    body = next;
  }
}

/* nodes of a beam hang on each other: on the ground together, or not at all */
static void connect_nodes(const tree *t, mbg_check *check) {
  for (int i = 0; i < t->m->nbeam; i++) {
    const mbg__beam *beam = &t->m->beams[i];
    bool any = false;
    for (int b = beam->body; b <= beam->body + beam->count; b++) {
      any = any || check->bodies[b].connected;
    }
    for (int b = beam->body; b <= beam->body + beam->count; b++) {
      check->bodies[b].connected = any;
    }
  }
}

static void list_links(tree *t, mbg_check *check) {
  const mbg_model *m = t->m;
  list_children(t);
  for (int b = t->child[m->nbody]; b >= 0; b = t->next[b]) {
    walk(t, check, b, true);
  }
  for (int b = 0; b < m->nbody; b++) {
    if (t->span.by[b] < 0 && m->bodies[b].carrier < 0 && m->bodies[b].state < 0) {
      walk(t, check, b, false);
    }
  }
  connect_nodes(t, check);
  for (int j = 0; j < m->njoint; j++) {
    check->joints[j].closes_loop = t->span.closes[j];
    if (t->span.closes[j]) {
      check->links[check->summary.links++] = (mbg_check_link){.kind = MBG_LINK_LOOP,
                                                              .body = mbg__check_end(m, m->joints[j].pair, 1),
                                                              .parent = mbg__check_end(m, m->joints[j].pair, 0),
                                                              .joint = j};
    }
  }
}

static int take_arrays(mbg_context *ctx, mbg__arena *arena, tree *t) {
  t->child = MBG_TAKE(arena, int, t->m->nbody + 1);
  t->next = MBG_TAKE(arena, int, t->m->nbody);
  return mbg__arena_check(ctx, arena);
}

int mbg__check_tree(mbg_context *ctx, mbg_check *check) {
  const mbg_model *m = check->model;
  tree t = {.m = m};
  mbg__arena scratch;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  MBG_TRY(take_arrays(ctx, &scratch, &t));
  MBG_TRY(mbg__spanning_tree_create(ctx, &scratch, m, NULL, &t.span));
  list_links(&t, check);
done:
  mbg__arena_destroy(&scratch);
  return err;
}
