/* Builds the tree of pieces in rounds. A round joins neighbours, first the pairs that leave the fewest rows open. Joins
   that open more rows than either piece has wait for a round with few others. A chain of n bodies takes log2 n rounds;
   in a tree leaves go first, so that the number of pieces falls by a constant factor each round; in a ladder pieces
   grow along it. */
#include "formulations/dca/dca_assembly_internal.h"

#include <string.h>

enum {
  MANY = 3, /* a body with more neighbours absorbs the subtrees that hang on it */
  FEW = 8   /* a round that joins less than one piece in FEW goes on with joins that open more rows */
};

typedef struct {
  int node, nopen, *open; /* rows with a body outside */
  int nelim, *elim;       /* complete rows, which the node of the piece eliminates */
  int degree;             /* neighbours, in this round */
  bool alive, matched;
  bool tree; /* without loops and joints to the ground */
} piece;

typedef struct {
  mbg_context *ctx;
  mbg__dca_assembly *a;
  mbg__arena *arena, scratch;
  int *first, *body; /* bodies of each row: body[first[row]] ..                (nrow + 1) */
  int *left;         /* pieces that share a row                                (nrow) */
  int *of;           /* piece of each body */
  int *head, *next;  /* the body whose leaf holds a body, and its next one there, -1: none  (nbody) */
  int *row_mark, *piece_mark, stamp, stamp2;
  int npiece;
  piece *pieces;
  int *list; /* scratch                                                   (nbody) */
} builder;

/* ---------------------------------------------------------------------- rows and bodies */

static int add_body(const builder *b, int from, int n, int body) {
  for (int i = from; i < n; i++) {
    if (b->body[i] == body) {
      return n;
    }
  }
  b->body[n] = body;
  return n + 1;
}

static int first_of(const builder *b, int body) {
  while (b->head[body] != body) {
    body = b->head[body];
  }
  return body;
}

/* the frame of a modal body also stands for its modal coordinates, the first node of beams for all that they join */
static void find_heads(builder *b) {
  const mbg_model *m = b->a->m;
  for (int i = 0; i < m->nbody; i++) {
    b->head[i] = m->bodies[i].carrier >= 0 ? m->modals[m->bodies[i].carrier].body : i;
  }
  for (int i = 0; i < m->nelement; i++) {
    const int x = first_of(b, m->elements[i].body[0]), y = first_of(b, m->elements[i].body[1]);
    b->head[x < y ? y : x] = x < y ? x : y;
  }
  for (int i = 0; i < m->nbody; i++) {
    b->head[i] = first_of(b, i);
    b->next[i] = -1;
  }
  for (int i = m->nbody - 1; i >= 0; i--) {
    if (b->head[i] != i) {
      b->next[i] = b->next[b->head[i]];
      b->next[b->head[i]] = i;
    }
  }
}

static void list_bodies(builder *b) {
  const mbg_model *m = b->a->m;
  int n = 0;
  for (int r = 0; r < m->nrow; r++) {
    b->first[r] = n;
    for (int k = m->rows[r].term; b->a->rank->keep[r] && k < m->rows[r].term + m->rows[r].nterm; k++) {
      const mbg__pair *pair = m->terms[k].pair >= 0 ? &m->pairs[m->terms[k].pair] : NULL;
      for (int side = 0; pair && side < 2; side++) {
        const int body = m->markers[side ? pair->B : pair->A].body;
        n = body >= 0 ? add_body(b, b->first[r], n, b->head[body]) : n;
      }
    }
    b->left[r] = n - b->first[r];
  }
  b->first[m->nrow] = n;
}

/* ---------------------------------------------------------------------- leaves */

/* adds the free velocities of a body to a leaf; only counts them while dof is NULL */
static void add_velocities(const mbg_model *m, int body, mbg__dca_node *n) {
  for (int j = 0; j < m->bodies[body].nvel; j++) {
    const int dof = m->dof[m->bodies[body].voff + j];
    if (dof >= 0) {
      if (n->dof) {
        n->dof[n->nf] = dof;
      }
      n->nf++;
    }
  }
}

static void all_velocities(const builder *b, mbg__dca_node *n) {
  n->nf = 0;
  for (int i = n->body; i >= 0 && b->head[n->body] == n->body; i = b->next[i]) {
    add_velocities(b->a->m, i, n);
  }
}

/* free velocities of a leaf and the entries of M between them */
static int leaf_mass(builder *b, mbg__dca_node *n) {
  const mbg__csc *A = b->a->patM;
  all_velocities(b, n);
  n->dof = MBG_TAKE(b->arena, int, n->nf);
  int *slot = MBG_TAKE(b->arena, int, n->nf * n->nf);
  if (b->arena->failed) {
    return mbg__fail_memory(b->ctx);
  }
  all_velocities(b, n);
  for (int j = 0; j < n->nf; j++) {
    for (int i = 0; i < n->nf; i++) {
      slot[i * n->nf + j] = -1;
      for (int k = A->colptr[n->dof[j]]; k < A->colptr[n->dof[j] + 1]; k++) {
        slot[i * n->nf + j] = A->rowind[k] == n->dof[i] ? k : slot[i * n->nf + j];
      }
    }
  }
  n->M = slot;
  return MBG_OK;
}

static int make_leaves(builder *b) {
  const mbg_model *m = b->a->m;
  int err = MBG_OK;
  for (int i = 0; i < b->first[m->nrow]; i++) {
    b->list[b->body[i]]++;
  }
  for (int i = 0; i < m->nbody; i++) {
    piece *p = &b->pieces[i];
    mbg__dca_node *n = &b->a->nodes[i];
    *n = (mbg__dca_node){.body = i, .child = {-1, -1}, .bodies = 1};
    MBG_TRY(leaf_mass(b, n));
    *p = (piece){.node = i, .alive = b->head[i] == i, .tree = true};
    p->open = MBG_TAKE(&b->scratch, int, b->list[i]);
    p->elim = MBG_TAKE(&b->scratch, int, b->list[i]);
    b->of[i] = i;
  }
  MBG_TRY(mbg__arena_check(b->ctx, &b->scratch));
  for (int r = 0; r < m->nrow; r++) {
    for (int k = b->first[r]; k < b->first[r + 1]; k++) {
      piece *p = &b->pieces[b->body[k]];
      if (b->left[r] == 1) {
        p->elim[p->nelim++] = r;
        p->tree = false;
      } else {
        p->open[p->nopen++] = r;
        p->tree = p->tree && b->left[r] == 2;
      }
    }
  }
  b->npiece = m->nbody;
done:
  return err;
}

/* ---------------------------------------------------------------------- nodes */

static int *entries_of(builder *b, const mbg__dca_node *n, int count, const int *rows) {
  const mbg__csc *A = b->a->patB;
  int *slot = MBG_TAKE(b->arena, int, count * n->nf);
  for (int i = 0; slot && i < count; i++) {
    for (int j = 0; j < n->nf; j++) {
      slot[i * n->nf + j] = -1;
      for (int k = A->colptr[n->dof[j]]; k < A->colptr[n->dof[j] + 1]; k++) {
        if (A->rowind[k] == rows[i]) {
          slot[i * n->nf + j] = k;
        }
      }
    }
  }
  return slot;
}

static real *matrix(builder *b, int rows, int columns) {
  return MBG_TAKE(b->arena, real, (size_t)rows * (size_t)columns);
}

static void absorbed_arrays(builder *b, mbg__dca_node *n) {
  mbg__dca_assembly *a = b->a;
  n->Z = MBG_TAKE(b->arena, int *, n->nabsorbed);
  n->LR = MBG_TAKE(b->arena, real *, n->nabsorbed);
  n->P = MBG_TAKE(b->arena, real *, n->nabsorbed);
  for (int i = 0; !b->arena->failed && i < n->nabsorbed; i++) {
    const mbg__dca_node *c = &a->nodes[n->absorbed[i]];
    n->Z[i] = entries_of(b, n, c->nopen, c->rows + c->nelim);
    n->LR[i] = matrix(b, c->nopen, c->nopen);
    n->P[i] = matrix(b, c->nopen, n->nf);
  }
}

/* first entries in the rows of the factor of M, with those that absorbed pieces add */
static void find_profile(builder *b, mbg__dca_node *n) {
  n->from = MBG_TAKE(b->arena, int, n->nf);
  for (int i = 0; !b->arena->failed && i < n->nf; i++) {
    n->from[i] = i;
    for (int j = i - 1; j >= 0; j--) {
      n->from[i] = n->M[i * n->nf + j] >= 0 ? j : n->from[i];
    }
  }
  for (int q = 0; !b->arena->failed && q < n->nabsorbed; q++) {
    const int rows = b->a->nodes[n->absorbed[q]].nopen;
    int first = n->nf;
    for (int k = 0; k < rows * n->nf; k++) {
      first = n->Z[q][k] >= 0 && k % n->nf < first ? k % n->nf : first;
    }
    for (int k = 0; k < rows * n->nf; k++) {
      int *from = &n->from[k % n->nf];
      *from = n->Z[q][k] >= 0 && first < *from ? first : *from;
    }
  }
}

static int complete_node(builder *b, piece *p) {
  mbg__dca_assembly *a = b->a;
  mbg__dca_node *n = &a->nodes[p->node];
  const int front = p->nelim + p->nopen;
  n->nelim = p->nelim;
  n->nopen = p->nopen;
  n->rows = MBG_TAKE(b->arena, int, front);
  n->L = matrix(b, n->nelim, n->nelim);
  n->Q = matrix(b, n->nelim, n->nopen);
  n->SQ = matrix(b, n->nelim, n->nopen);
  n->Phi = matrix(b, n->nopen, n->nopen);
  n->F = matrix(b, front, front);
  if (b->arena->failed) {
    return mbg__fail_memory(b->ctx);
  }
  for (int i = 0; i < front; i++) {
    n->rows[i] = i < p->nelim ? p->elim[i] : p->open[i - p->nelim];
    if (i < p->nelim) {
      a->owner[n->rows[i]] = p->node;
    }
  }
  n->b = a->nb;
  a->nb += n->nopen;
  a->most_open = n->nopen > a->most_open ? n->nopen : a->most_open;
  a->most_front = front > a->most_front ? front : a->most_front;
  a->most_free = n->nf > a->most_free ? n->nf : a->most_free;
  if (n->body >= 0) {
    n->B = entries_of(b, n, front, n->rows);
    n->LM = matrix(b, n->nf, n->nf);
    n->Y = matrix(b, front, n->nf);
    absorbed_arrays(b, n);
    if (a->m->nelement > 0) {
      find_profile(b, n);
    }
  }
  return mbg__arena_check(b->ctx, b->arena);
}

/* ---------------------------------------------------------------------- neighbours */

/* the piece of a row that is not p, -1 when there are several or none */
static int other_piece(const builder *b, int p, int row) {
  int other = -1;
  for (int k = b->first[row]; k < b->first[row + 1]; k++) {
    const int q = b->of[b->body[k]];
    if (q != p) {
      if (other >= 0 && other != q) {
        return -1;
      }
      other = q;
    }
  }
  return other;
}

static int count_neighbours(builder *b, int p) {
  int n = 0;
  b->stamp++;
  b->piece_mark[p] = b->stamp;
  for (int i = 0; i < b->pieces[p].nopen; i++) {
    const int r = b->pieces[p].open[i];
    for (int k = b->first[r]; k < b->first[r + 1]; k++) {
      const int q = b->of[b->body[k]];
      if (b->piece_mark[q] != b->stamp) {
        b->piece_mark[q] = b->stamp;
        n++;
      }
    }
  }
  return n;
}

/* rows that stay open when q is joined to p, whose rows are marked */
static int open_after(const builder *b, int p, int q) {
  int n = b->pieces[p].nopen + b->pieces[q].nopen;
  for (int i = 0; i < b->pieces[q].nopen; i++) {
    const int r = b->pieces[q].open[i];
    if (b->row_mark[r] == b->stamp2) {
      n -= b->left[r] == 2 ? 2 : 1;
    }
  }
  return n;
}

/* The neighbour of p, not matched in this round, whose join leaves the fewest rows open; among equals the smallest.
   grow: the join may have more open rows than either of the two. */
static int best_partner(builder *b, int p, bool grow) {
  int best = -1, least = 0, bodies = 0;
  b->stamp++;
  b->stamp2++;
  b->piece_mark[p] = b->stamp;
  for (int i = 0; i < b->pieces[p].nopen; i++) {
    b->row_mark[b->pieces[p].open[i]] = b->stamp2;
  }
  for (int i = 0; i < b->pieces[p].nopen; i++) {
    const int r = b->pieces[p].open[i];
    for (int k = b->first[r]; k < b->first[r + 1]; k++) {
      const int q = b->of[b->body[k]];
      if (b->piece_mark[q] == b->stamp || b->pieces[q].matched) {
        continue;
      }
      b->piece_mark[q] = b->stamp;
      const int open = open_after(b, p, q), size = b->a->nodes[b->pieces[q].node].bodies;
      if (!grow && open > b->pieces[p].nopen && open > b->pieces[q].nopen) {
        continue;
      }
      if (best < 0 || open < least || (open == least && size < bodies)) {
        best = q;
        least = open;
        bodies = size;
      }
    }
  }
  return best;
}

/* ---------------------------------------------------------------------- absorption and joins */

/* the one body of piece c that its open rows touch; -1: several, or rows of more than two bodies */
static int handle_body(const builder *b, int c) {
  int body = -1;
  for (int i = 0; i < b->pieces[c].nopen; i++) {
    const int r = b->pieces[c].open[i];
    if (b->first[r + 1] - b->first[r] != 2) {
      return -1;
    }
    for (int k = b->first[r]; k < b->first[r + 1]; k++) {
      if (b->of[b->body[k]] == c) {
        if (body >= 0 && body != b->body[k]) {
          return -1;
        }
        body = b->body[k];
      }
    }
  }
  return body;
}

static bool absorbable(const builder *b, int hub, int c) {
  const piece *p = &b->pieces[c];
  return p->alive && p->degree == 1 && p->tree && p->nopen > 0 && other_piece(b, c, p->open[0]) == hub &&
         handle_body(b, c) >= 0;
}

static int absorb(builder *b, int hub) {
  piece *h = &b->pieces[hub];
  mbg__dca_node *n = &b->a->nodes[h->node];
  int count = 0, err = MBG_OK, kept = 0;
  for (int i = 0; i < h->nopen; i++) {
    const int c = other_piece(b, hub, h->open[i]);
    if (c >= 0 && absorbable(b, hub, c)) {
      b->list[count++] = b->pieces[c].node;
      b->pieces[c].alive = false;
      MBG_TRY(complete_node(b, &b->pieces[c]));
    }
  }
  if (count == 0) {
    return MBG_OK;
  }
  int *all = MBG_TAKE(b->arena, int, n->nabsorbed + count);
  MBG_TRY(mbg__arena_check(b->ctx, b->arena));
  if (n->nabsorbed > 0) {
    memcpy(all, n->absorbed, (size_t)n->nabsorbed * sizeof(int));
  }
  memcpy(all + n->nabsorbed, b->list, (size_t)count * sizeof(int));
  n->absorbed = all;
  n->nabsorbed += count;
  for (int i = 0; i < h->nopen; i++) {
    const int r = h->open[i], c = other_piece(b, hub, r);
    if (c >= 0 && !b->pieces[c].alive) {
      b->a->owner[r] = h->node;
    } else {
      h->open[kept++] = r;
    }
  }
  h->nopen = kept;
  for (int i = 0; i < count; i++) {
    const mbg__dca_node *c = &b->a->nodes[b->list[i]];
    n->bodies += c->bodies;
    n->level = n->level > c->level + 1 ? n->level : c->level + 1;
  }
done:
  return err;
}

static void place_rows(builder *b, mbg__dca_node *n, int side) {
  const mbg__dca_node *c = &b->a->nodes[n->child[side]];
  n->place[side] = MBG_TAKE(b->arena, int, c->nopen);
  for (int i = 0; n->place[side] && i < c->nopen; i++) {
    for (int k = 0; k < n->nelim + n->nopen; k++) {
      if (n->rows[k] == c->rows[c->nelim + i]) {
        n->place[side][i] = k;
      }
    }
  }
}

/* do all rows between two pieces belong to one joint of two bodies? */
static bool one_joint(const builder *b, int n, const int *rows) {
  for (int i = 0; i < n; i++) {
    const int *x = b->body + b->first[rows[i]], *y = b->body + b->first[rows[0]];
    if (b->first[rows[i] + 1] - b->first[rows[i]] != 2 || x[0] + x[1] != y[0] + y[1] ||
        (x[0] != y[0] && x[0] != y[1])) {
      return false;
    }
  }
  return true;
}

static void assign_bodies(builder *b, int node, int to) {
  mbg__dca_node *n = &b->a->nodes[node];
  if (n->body >= 0) {
    b->of[n->body] = to;
    for (int i = 0; i < n->nabsorbed; i++) {
      assign_bodies(b, n->absorbed[i], to);
    }
    return;
  }
  assign_bodies(b, n->child[0], to);
  assign_bodies(b, n->child[1], to);
}

static int join(builder *b, int p, int q) {
  mbg__dca_assembly *a = b->a;
  piece *P = &b->pieces[p], *Q = &b->pieces[q], *out = &b->pieces[b->npiece];
  mbg__dca_node *n = &a->nodes[a->nnode];
  int err = MBG_OK;
  MBG_TRY(complete_node(b, P));
  MBG_TRY(complete_node(b, Q));
  *out = (piece){.node = a->nnode++, .alive = true, .matched = true};
  out->open = MBG_TAKE(&b->scratch, int, P->nopen + Q->nopen);
  out->elim = MBG_TAKE(&b->scratch, int, P->nopen + Q->nopen);
  MBG_TRY(mbg__arena_check(b->ctx, &b->scratch));
  b->stamp2++;
  for (int i = 0; i < Q->nopen; i++) {
    b->row_mark[Q->open[i]] = b->stamp2;
  }
  for (int i = 0; i < P->nopen; i++) {
    const int r = P->open[i];
    const bool shared = b->row_mark[r] == b->stamp2;
    b->left[r] -= shared;
    b->row_mark[r] = shared ? -b->stamp2 : b->row_mark[r];
    if (b->left[r] == 1) {
      out->elim[out->nelim++] = r;
    } else {
      out->open[out->nopen++] = r;
    }
  }
  for (int i = 0; i < Q->nopen; i++) {
    if (b->row_mark[Q->open[i]] != -b->stamp2) {
      out->open[out->nopen++] = Q->open[i];
    }
  }
  const mbg__dca_node *A = &a->nodes[P->node], *B = &a->nodes[Q->node];
  *n = (mbg__dca_node){.body = -1,
                       .child = {P->node, Q->node},
                       .bodies = A->bodies + B->bodies,
                       .level = 1 + (A->level > B->level ? A->level : B->level)};
  out->tree = P->tree && Q->tree && one_joint(b, out->nelim, out->elim);
  P->alive = Q->alive = false;
  assign_bodies(b, out->node, b->npiece);
  b->npiece++;
done:
  return err;
}

/* ---------------------------------------------------------------------- rounds */

static int absorb_round(builder *b, const int *list, int count) {
  int err = MBG_OK;
  for (int i = 0; i < count; i++) {
    piece *p = &b->pieces[list[i]];
    if (p->alive && b->a->nodes[p->node].body >= 0 && p->degree > MANY) {
      const int before = b->a->nodes[p->node].nabsorbed;
      MBG_TRY(absorb(b, list[i]));
      for (int k = before; k < b->a->nodes[p->node].nabsorbed; k++) {
        assign_bodies(b, b->a->nodes[p->node].absorbed[k], list[i]);
      }
      p->degree = count_neighbours(b, list[i]);
    }
  }
done:
  return err;
}

static int join_round(builder *b, const int *list, int count, bool grow, int *joins) {
  int err = MBG_OK;
  for (int degree = 1; degree <= MANY + 1; degree++) {
    for (int i = 0; i < count; i++) {
      piece *p = &b->pieces[list[i]];
      const bool now = degree > MANY ? p->degree >= degree : p->degree == degree;
      if (!p->alive || p->matched || !now) {
        continue;
      }
      const int q = best_partner(b, list[i], grow);
      if (q >= 0) {
        p->matched = b->pieces[q].matched = true;
        MBG_TRY(join(b, list[i], q));
        (*joins)++;
      }
    }
  }
done:
  return err;
}

static int rounds(builder *b) {
  int err = MBG_OK, *list = MBG_TAKE(&b->scratch, int, 2 * b->a->m->nbody);
  MBG_TRY(mbg__arena_check(b->ctx, &b->scratch));
  for (int joins = 1; joins > 0;) {
    int count = 0;
    joins = 0;
    for (int p = 0; p < b->npiece; p++) {
      if (b->pieces[p].alive) {
        b->pieces[p].matched = false;
        b->pieces[p].degree = count_neighbours(b, p);
        list[count++] = p;
      }
    }
    MBG_TRY(absorb_round(b, list, count));
    MBG_TRY(join_round(b, list, count, false, &joins));
    if (FEW * joins < count) {
      MBG_TRY(join_round(b, list, count, true, &joins));
    }
  }
  for (int p = 0; p < b->npiece; p++) {
    if (b->pieces[p].alive) {
      MBG_TRY(complete_node(b, &b->pieces[p]));
    }
  }
done:
  return err;
}

int mbg__dca_assembly_tree_build(mbg_context *ctx, mbg__arena *arena, mbg__dca_assembly *a) {
  const mbg_model *m = a->m;
  builder b = {.ctx = ctx, .arena = arena, .a = a};
  int err = MBG_OK;
  mbg__arena_init(&b.scratch, mbg__context_allocator(ctx));
  a->nodes = MBG_TAKE(arena, mbg__dca_node, 2 * m->nbody);
  a->owner = MBG_TAKE(arena, int, m->nrow);
  b.first = MBG_TAKE(&b.scratch, int, m->nrow + 1);
  b.body = MBG_TAKE(&b.scratch, int, 2 * m->nterm);
  b.left = MBG_TAKE(&b.scratch, int, m->nrow);
  b.of = MBG_TAKE(&b.scratch, int, m->nbody);
  b.head = MBG_TAKE(&b.scratch, int, m->nbody);
  b.next = MBG_TAKE(&b.scratch, int, m->nbody);
  b.row_mark = MBG_TAKE(&b.scratch, int, m->nrow);
  b.piece_mark = MBG_TAKE(&b.scratch, int, 2 * m->nbody);
  b.pieces = MBG_TAKE(&b.scratch, piece, 2 * m->nbody);
  b.list = MBG_TAKE(&b.scratch, int, m->nbody);
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(mbg__arena_check(ctx, &b.scratch));
  for (int r = 0; r < m->nrow; r++) {
    a->owner[r] = -1;
  }
  find_heads(&b);
  list_bodies(&b);
  a->nnode = m->nbody;
  MBG_TRY(make_leaves(&b));
  MBG_TRY(rounds(&b));
  MBG_TRY(mbg__dca_assembly_levels(ctx, arena, a));
  for (int i = 0; i < a->nnode; i++) {
    for (int side = 0; a->nodes[i].body < 0 && side < 2; side++) {
      place_rows(&b, &a->nodes[i], side);
    }
  }
  MBG_TRY(mbg__arena_check(ctx, arena));
done:
  mbg__arena_destroy(&b.scratch);
  return err;
}
