/* The masses that rows move: the diagonal of Phi_z M^-1 Phi_z^T. Rows of parts of the mechanism that share no body are
   solved for together, one row of each part at a time: as many solves as the largest part has rows. */
#include "tree/tree_internal.h"

#include <string.h>

typedef struct {
  mbg__arena arena;
  const mbg__tree *t;
  int *part;  /* of an unknown: the root of its part                    (n + rows) */
  int *first; /* row i has the blocks block[first[i]], ...              (rows + 1) */
  int *block; /*                                                        (nblock_row) */
  int *turn;  /* of a row among those of its part                       (rows) */
  int *next;  /* rows of a part so far                                  (n + rows) */
  real *b, *y;
} row_work;

static int root_of(int *part, int i) {
  while (part[i] != i) {
    part[i] = part[part[i]];
    i = part[i];
  }
  return i;
}

/* unknowns that share an entry of the matrix are in one part */
static void find_parts(const mbg__csc *A, int *part) {
  for (int i = 0; i < A->ncol; i++) {
    part[i] = i;
  }
  for (int j = 0; j < A->ncol; j++) {
    for (int e = A->colptr[j]; e < A->colptr[j + 1]; e++) {
      part[root_of(part, A->rowind[e])] = root_of(part, j);
    }
  }
}

/* blocks by rows, in their order */
static void sort_blocks(const row_work *w) {
  const mbg__tree *t = w->t;
  for (int i = 0; i < t->nblock_row; i++) {
    w->first[t->block_row[i] + 1]++;
  }
  for (int i = 0; i < t->nrow; i++) {
    w->first[i + 1] += w->first[i];
  }
  for (int i = 0; i < t->nblock_row; i++) {
    const int row = t->block_row[i];
    w->block[w->first[row] + w->next[row]++] = i;
  }
  memset(w->next, 0, (size_t)(t->n + t->nrow) * sizeof(int));
}

static int prepare(mbg_context *ctx, row_work *w, const mbg__csc *A, int *rounds) {
  const mbg__tree *t = w->t;
  const int size = t->n + t->nrow;
  w->part = MBG_TAKE(&w->arena, int, size);
  w->next = MBG_TAKE(&w->arena, int, size);
  w->first = MBG_TAKE(&w->arena, int, t->nrow + 1);
  w->block = MBG_TAKE(&w->arena, int, t->nblock_row);
  w->turn = MBG_TAKE(&w->arena, int, t->nrow);
  w->b = MBG_TAKE(&w->arena, real, size);
  w->y = MBG_TAKE(&w->arena, real, size);
  if (mbg__arena_check(ctx, &w->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  find_parts(A, w->part);
  sort_blocks(w);
  *rounds = 0;
  for (int i = 0; i < t->nrow; i++) {
    w->turn[i] = w->next[root_of(w->part, t->n + i)]++;
    *rounds = w->turn[i] < *rounds ? *rounds : w->turn[i] + 1;
  }
  return MBG_OK;
}

/* adds the column of Phi_z^T to b */
static void add_column(const row_work *w, int row) {
  const mbg__tree *t = w->t;
  for (int i = w->first[row]; i < w->first[row + 1]; i++) {
    const int k = t->block_link[w->block[i]], body = t->links[k].body;
    for (int c = t->col0[k]; c < t->col0[k + 1]; c++) {
      for (int j = 0; j < t->sys->nfree[body]; j++) {
        w->b[t->path[c]] += t->B[t->block_slot[w->block[i]][j]] * t->J[c][t->sys->free_[body][j]];
      }
    }
  }
}

/* the rows of a round by their turns, in a list that begins with head[round] */
static void list_rounds(const row_work *w, int rounds, int *head, int *after) {
  for (int r = 0; r < rounds; r++) {
    head[r] = -1;
  }
  for (int i = w->t->nrow - 1; i >= 0; i--) {
    after[i] = head[w->turn[i]];
    head[w->turn[i]] = i;
  }
}

int mbg__tree_row_masses(mbg_context *ctx, mbg__tree *t, mbg__tree_matrix *x, const bool *hard, mbg__part *out) {
  row_work w = {.t = t};
  int err = MBG_OK, rounds;
  if (t->nrow == 0) {
    return MBG_OK;
  }
  mbg__arena_init(&w.arena, mbg__context_allocator(ctx));
  mbg__tree_matrix_hard(t, x, hard);
  mbg__klu_thaw(x->klu);
  MBG_TRY(mbg__tree_matrix_factor(ctx, t, x, "mass matrix"));
  MBG_TRY(prepare(ctx, &w, &x->A, &rounds));
  int *head = MBG_TAKE(&w.arena, int, rounds), *after = MBG_TAKE(&w.arena, int, t->nrow);
  real *sum = MBG_TAKE(&w.arena, real, t->n + t->nrow);
  MBG_TRY(mbg__arena_check(ctx, &w.arena));
  list_rounds(&w, rounds, head, after);
  for (int r = 0; r < rounds; r++) {
    memset(w.b, 0, (size_t)(t->n + t->nrow) * sizeof(real));
    for (int i = head[r]; i >= 0; i = after[i]) {
      add_column(&w, i);
    }
    memcpy(w.y, w.b, (size_t)(t->n + t->nrow) * sizeof(real));
    mbg__klu_solve(x->klu, w.y, 1);
    for (int i = 0; i < t->n; i++) {
      sum[root_of(w.part, i)] += w.b[i] * w.y[i];
    }
    for (int i = head[r]; i >= 0; i = after[i]) {
      const int root = root_of(w.part, t->n + i);
      out[i] = r_where_part(r_all(hard[i]), 0, re(sum[root]));
      sum[root] = 0;
    }
  }
done:
  mbg__klu_thaw(x->klu);
  mbg__arena_destroy(&w.arena);
  return err;
}
