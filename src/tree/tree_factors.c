/* Factors of systems over joint coordinates: of a sparse matrix (tree_matrix.c), or along the tree where that suits and
   costs less (tree_recursion.c). */
#include "tree/tree_recursion.h"

/* ---------------------------------------------------------------------- creation */

int mbg__tree_matrix_create_recursive(mbg_context *ctx, mbg__tree *t, mbg__klu_mode mode, mbg__tree_matrix *x) {
  int err = t->used ? MBG_OK : mbg__tree_blocks(ctx, t);
  int *scratch = mbg__alloc(ctx, (size_t)t->m->nbody + 1, sizeof(int));
  *x = (mbg__tree_matrix){0};
  if (err == MBG_OK && !scratch) {
    err = mbg__fail_memory(ctx);
  }
  if (err == MBG_OK && !(mbg__tree_recursion_can(t) && mbg__tree_recursion_pays(t, scratch))) {
    err = mbg__tree_matrix_create(ctx, t, mode, x);
  } else if (err == MBG_OK) {
    x->recursion = mbg__tree_recursion_create(t);
    err = x->recursion ? MBG_OK : mbg__fail_memory(ctx);
  }
  mbg__free(ctx, scratch);
  return err;
}

void mbg__tree_matrix_destroy(mbg__tree_matrix *x) {
  mbg__klu_destroy(x->klu);
  x->klu = NULL;
}

/* ---------------------------------------------------------------------- factors */

static void label_unknown(const mbg__tree *t, int where, char *label, size_t size) {
  if (where >= t->n && where < t->n + t->nrow) {
    mbg__row_label(t->m, t->rows[where - t->n], label, size);
    return;
  }
  int k = 0;
  while (k + 1 < t->m->nbody && t->links[k + 1].first <= where) {
    k++;
  }
  mbg__format(label, size, "body '%s'", t->m->bodies[t->links[k].body].name);
}

int mbg__tree_matrix_factor(mbg_context *ctx, mbg__tree *t, mbg__tree_matrix *x, const char *what) {
  int where = -1;
  const int err = x->recursion ? mbg__tree_recursion_factor(t, x->recursion, &where) : mbg__klu_factor(x->klu, &where);
  if (err == MBG_ERROR_MEMORY) {
    return mbg__fail_memory(ctx);
  }
  if (err < 0) {
    char label[160];
    label_unknown(t, where, label, sizeof(label));
    return mbg__fail(ctx, MBG_ERROR_SINGULAR, "%s: the system is singular (look at %s)", what, label);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- solutions, copies of factors */

void mbg__tree_matrix_solve(const mbg__tree *t, mbg__tree_matrix *x, real *B, int nrhs) {
  if (x->recursion) {
    mbg__tree_recursion_solve(x->recursion, t->n, B, nrhs, false);
  } else {
    mbg__klu_solve(x->klu, B, nrhs);
  }
}

void mbg__tree_matrix_solve_T(const mbg__tree *t, mbg__tree_matrix *x, real *B, int nrhs) {
  if (x->recursion) {
    mbg__tree_recursion_solve(x->recursion, t->n, B, nrhs, true);
  } else {
    mbg__klu_solve_T(x->klu, B, nrhs);
  }
}

void mbg__tree_matrix_thaw(mbg__tree_matrix *x) {
  if (!x->recursion) {
    mbg__klu_thaw(x->klu);
  }
}

size_t mbg__tree_matrix_bytes(const mbg__tree_matrix *x) {
  return x->recursion ? mbg__tree_recursion_bytes(x->recursion) : mbg__klu_bytes(x->klu);
}

bool mbg__tree_matrix_keep(const mbg__tree_matrix *x, void *out) {
  if (x->recursion) {
    mbg__tree_recursion_keep(x->recursion, out);
    return true;
  }
  return mbg__klu_keep(x->klu, out);
}

void mbg__tree_matrix_recall(mbg__tree_matrix *x, const void *kept) {
  if (x->recursion) {
    mbg__tree_recursion_recall(x->recursion, kept);
  } else {
    mbg__klu_recall(x->klu, kept);
  }
}
