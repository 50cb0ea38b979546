#include "tree/tree_pieces.h"

enum { SMALL = 6, PIECES = 32 }; /* bodies of a branch that is not cut off; pieces of a very large tree */

/* while the tree is gone through from the tips: links in the open part below a link, its exit, what is cut off */
typedef struct {
  const mbg_model *m;
  const mbg__link *links;
  int most;          /* links of a piece */
  int *child, *next; /* first child, next sibling */
  int *size, *exit;
  int *of;    /* piece of a link, -1: none */
  bool *root; /* first link of a piece */
} cuts;

int mbg__tree_piece_size(int bodies, int least) { return bodies / PIECES > least ? bodies / PIECES : least; }

static bool carrier(const cuts *c, int i) { return c->m->bodies[c->links[i].body].carrier >= 0; }

/* Parts below link i that have an exit, are large, or do not fit any more are cut off. */
static void cut_below(const cuts *c, int i) {
  int total = 1, exits = 0, exit = -1;
  for (int k = c->child[i]; k >= 0; k = c->next[k]) {
    total += c->size[k];
    exits += c->exit[k] >= 0;
    exit = c->exit[k] >= 0 ? c->exit[k] : exit;
  }
  c->size[i] = total;
  c->exit[i] = exit;
  if (total <= c->most && exits < 2) {
    return;
  }
  c->size[i] = 1;
  c->exit[i] = i;
  for (int k = c->child[i]; k >= 0; k = c->next[k]) {
    c->root[k] = c->exit[k] >= 0 || c->size[k] >= SMALL || c->size[i] + c->size[k] > c->most;
    c->size[i] += c->root[k] ? 0 : c->size[k];
  }
}

static int find_roots(const cuts *c) {
  const int n = c->m->nbody;
  int count = 0;
  for (int i = 0; i < n; i++) {
    c->child[i] = -1;
  }
  for (int i = n - 1; i >= 0; i--) {
    const int parent = c->links[i].parent;
    if (carrier(c, i)) {
      continue;
    }
    cut_below(c, i);
    c->root[i] = parent < 0;
    if (parent >= 0) {
      c->next[i] = c->child[parent];
      c->child[parent] = i;
    }
  }
  for (int i = 0; i < n; i++) {
    c->of[i] = carrier(c, i) ? -1 : c->root[i] ? count++ : c->of[c->links[i].parent];
  }
  return count;
}

/* links of each piece, and the way from its first link to its exit */
static void list_links(const cuts *c, mbg__tree_pieces *p) {
  int at = 0, on_path = 0;
  for (int i = 0; i < c->m->nbody; i++) {
    if (c->of[i] >= 0) {
      p->pieces[c->of[i]].count++;
    }
  }
  for (int j = 0; j < p->n; j++) {
    p->pieces[j].first = at;
    at += p->pieces[j].count;
    p->pieces[j].count = 0;
  }
  for (int i = 0; i < c->m->nbody; i++) {
    if (c->of[i] >= 0) {
      mbg__tree_piece *x = &p->pieces[c->of[i]];
      p->list[x->first + x->count++] = i;
    }
  }
  for (int j = 0; j < p->n; j++) {
    mbg__tree_piece *x = &p->pieces[j];
    const int root = p->list[x->first];
    for (int l = c->exit[root]; l >= 0; l = l == root ? -1 : c->links[l].parent) {
      x->npath++;
    }
    x->path = on_path;
    on_path += x->npath;
    for (int q = x->npath - 1, l = c->exit[root]; q >= 0; q--, l = c->links[l].parent) {
      p->path[x->path + q] = l;
    }
  }
}

int mbg__tree_pieces_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__link *links, int size,
                            mbg__tree_pieces *out) {
  const int n = m->nbody;
  mbg__arena scratch;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  const cuts c = {m,
                  links,
                  size,
                  MBG_TAKE(&scratch, int, n),
                  MBG_TAKE(&scratch, int, n),
                  MBG_TAKE(&scratch, int, n),
                  MBG_TAKE(&scratch, int, n),
                  MBG_TAKE(&scratch, int, n),
                  MBG_TAKE(&scratch, bool, n)};
  *out = (mbg__tree_pieces){.list = MBG_TAKE(arena, int, n), .path = MBG_TAKE(arena, int, n)};
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  MBG_TRY(mbg__arena_check(ctx, arena));
  out->n = find_roots(&c);
  out->pieces = MBG_TAKE(arena, mbg__tree_piece, out->n);
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int i = 0; i < n; i++) {
    if (c.of[i] >= 0 && c.root[i]) {
      const int parent = links[i].parent;
      out->pieces[c.of[i]] = (mbg__tree_piece){.base = parent >= 0 ? c.of[parent] : -1};
    }
  }
  list_links(&c, out);
done:
  mbg__arena_destroy(&scratch);
  return err;
}
