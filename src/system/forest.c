/* A body and the rows that hold it to its parent are a node, with the unknowns x_b. With N the block of a node, U its
   rows in the columns of the parent's velocities and L the transposed place, from the leaves to the roots

     x_b = N^-1 (f_b - U x_p)        N_p -= L N^-1 U,   f_p -= L N^-1 f_b

   N has A and B of the body itself: it is regular where the rows are independent and A, with the bodies beyond, is
   positive on the motions they leave. */
#include "system/forest.h"

#include "math/dense.h"
#include "math/vec.h"
#include "system/system_internal.h"

/* blocks with smaller pivots, relative to the largest, are left to sparse factors */
static const double pivot_least = 1e-12;

typedef struct {
  int parent;   /* -1: none */
  int first, n; /* free velocities */
  int row0, nrow;
  double scale; /* of the rows, and of their multipliers inversely: they stand beside A */
  mbg__lu lu;
  real *U, *L; /* U, then N^-1 U (size x n of the parent); L (n of the parent x size) */
} node;

struct mbg__forest {
  const mbg__system *s;
  node *nodes; /*                                           (nbody) */
  int *order;  /* bodies, parents first                     (nbody) */
  int *body;   /* of free velocities                        (nv) */
  int *owner;  /* bodies of rows, -1: not kept              (nrow) */
  int *place;  /* of rows among those of their body         (nrow) */
  int *rows;   /* of bodies, at row0                        (nrow) */
  bool *seen;  /* scratch of the search                     (nbody) */
  real *x;     /* scratch: unknowns of a node */
};

static int size_of(const node *k) { return k->n + k->nrow; }

/* ---------------------------------------------------------------------- topology */

static void find_bodies(mbg__forest *f) {
  const mbg_model *m = f->s->model;
  for (int b = 0; b < m->nbody; b++) {
    node *k = &f->nodes[b];
    *k = (node){.parent = -1, .first = -1};
    for (int i = m->bodies[b].voff; i < m->bodies[b].voff + m->bodies[b].nvel; i++) {
      const int j = m->dof[i];
      if (j >= 0) {
        k->first = k->n++ == 0 ? j : k->first;
        f->body[j] = b;
      }
    }
  }
}

/* parents by search in breadth over the blocks of K; false: a body is reached twice */
static bool find_parents(mbg__forest *f) {
  const mbg__csc *K = &f->s->patK;
  const int nbody = f->s->model->nbody;
  int count = 0;
  for (int root = 0; root < nbody; root++) {
    if (f->seen[root]) {
      continue;
    }
    f->seen[root] = true;
    f->order[count++] = root;
    for (int at = count - 1; at < count; at++) {
      const int b = f->order[at], j = f->nodes[b].first;
      for (int e = j >= 0 ? K->colptr[j] : 0, last = b; j >= 0 && e < K->colptr[j + 1]; e++) {
        const int c = f->body[K->rowind[e]];
        if (c == last || c == b || c == f->nodes[b].parent) {
          continue;
        }
        if (f->seen[c]) {
          return false;
        }
        last = c;
        f->seen[c] = true;
        f->nodes[c].parent = b;
        f->order[count++] = c;
      }
    }
  }
  return true;
}

/* the body of a row: one, or the child of two; false: it acts on others */
static bool join(mbg__forest *f, int row, int b) {
  int *owner = &f->owner[row];
  if (*owner < 0 || f->nodes[b].parent == *owner) {
    *owner = b;
    return true;
  }
  return *owner == b || f->nodes[*owner].parent == b;
}

/* a row may meet the parent first, and then two of its children */
static bool find_owners(mbg__forest *f, const bool *keep) {
  const mbg__csc *B = &f->s->patB;
  const mbg_model *m = f->s->model;
  bool fits = true;
  for (int i = 0; i < m->nrow; i++) {
    f->owner[i] = -1;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int j = 0; fits && j < m->nv; j++) {
      for (int e = B->colptr[j]; fits && e < B->colptr[j + 1]; e++) {
        const int row = B->rowind[e], b = f->body[j];
        fits = !keep[row] || (pass == 0 ? join(f, row, b) : f->owner[row] == b || f->nodes[f->owner[row]].parent == b);
      }
    }
  }
  for (int i = 0; fits && i < m->nrow; i++) {
    fits = !keep[i] || f->owner[i] >= 0;
    if (fits && keep[i]) {
      f->place[i] = f->nodes[f->owner[i]].nrow++;
    }
  }
  return fits;
}

static void list_rows(mbg__forest *f) {
  const mbg_model *m = f->s->model;
  for (int b = 0, at = 0; b < m->nbody; at += f->nodes[b++].nrow) {
    f->nodes[b].row0 = at;
  }
  for (int i = 0; i < m->nrow; i++) {
    if (f->owner[i] >= 0) {
      f->rows[f->nodes[f->owner[i]].row0 + f->place[i]] = i;
    }
  }
}

static int take_nodes(mbg_context *ctx, mbg__arena *arena, mbg__forest *f) {
  for (int b = 0; b < f->s->model->nbody; b++) {
    node *k = &f->nodes[b];
    const int size = size_of(k), up = k->parent >= 0 ? f->nodes[k->parent].n : 0;
    k->U = MBG_TAKE(arena, real, size * up);
    k->L = MBG_TAKE(arena, real, size * up);
    if (mbg__lu_prepare(&k->lu, arena, size) < 0 || !k->U || !k->L) {
      return mbg__fail_memory(ctx);
    }
  }
  return MBG_OK;
}

int mbg__forest_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, const bool *keep,
                       mbg__forest **out) {
  const mbg_model *m = sys->model;
  int err = MBG_OK;
  *out = NULL;
  mbg__forest *f = MBG_TAKE(arena, mbg__forest, 1);
  MBG_TRY(mbg__arena_check(ctx, arena));
  *f = (mbg__forest){.s = sys};
  f->nodes = MBG_TAKE(arena, node, m->nbody);
  f->order = MBG_TAKE(arena, int, m->nbody);
  f->body = MBG_TAKE(arena, int, m->nv);
  f->owner = MBG_TAKE(arena, int, m->nrow);
  f->place = MBG_TAKE(arena, int, m->nrow);
  f->rows = MBG_TAKE(arena, int, m->nrow);
  f->seen = MBG_TAKE(arena, bool, m->nbody);
  f->x = MBG_TAKE(arena, real, m->nv + m->nrow);
  MBG_TRY(mbg__arena_check(ctx, arena));
  find_bodies(f);
  if (find_parents(f) && find_owners(f, keep)) {
    list_rows(f);
    MBG_TRY(take_nodes(ctx, arena, f));
    *out = f;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- factors */

static void clear(mbg__forest *f) {
  for (int b = 0; b < f->s->model->nbody; b++) {
    node *k = &f->nodes[b];
    const int size = size_of(k), up = k->parent >= 0 ? f->nodes[k->parent].n : 0;
    vn_zero(size * size, k->lu.A);
    vn_zero(size * up, k->U);
    vn_zero(size * up, k->L);
  }
}

/* entry (i, j) of A */
static void put(mbg__forest *f, int i, int j, real a) {
  const int r = f->body[i], c = f->body[j];
  node *row = &f->nodes[r], *column = &f->nodes[c];
  if (r == c) {
    row->lu.A[(i - row->first) + size_of(row) * (j - row->first)] = a;
  } else if (column->parent == r) {
    column->L[(i - row->first) + row->n * (j - column->first)] = a;
  } else {
    row->U[(i - row->first) + size_of(row) * (j - column->first)] = a;
  }
}

/* entry (row, j) of B, and of B^T */
static void put_row(mbg__forest *f, int row, int j, real b) {
  if (f->owner[row] < 0) {
    return;
  }
  node *k = &f->nodes[f->owner[row]];
  const node *column = &f->nodes[f->body[j]];
  const int i = k->n + f->place[row], size = size_of(k), at = j - column->first;
  b *= k->scale;
  if (k == column) {
    k->lu.A[i + size * at] = k->lu.A[at + size * i] = b;
  } else {
    k->U[i + size * at] = k->L[at + column->n * i] = b;
  }
}

/* the size of A of the body itself, which has no rows yet */
static void find_scale(node *k) {
  double most = 0;
  for (int j = 0; j < k->n; j++) {
    for (int i = 0; i < k->n; i++) {
      most = fmax(most, fabs(re(k->lu.A[i + size_of(k) * j])));
    }
  }
  k->scale = most > 0 ? most : 1;
}

/* N_p -= L W */
static void reduce(const node *k, node *p) {
  const int size = size_of(k), np = size_of(p);
  for (int j = 0; j < p->n; j++) {
    for (int i = 0; i < size; i++) {
      vn_axpy(p->n, p->lu.A + np * j, -k->U[i + size * j], k->L + p->n * i);
    }
  }
}

bool mbg__forest_factor(mbg__forest *f, double k, const real *K, double c, const real *M, const real *B) {
  const mbg__csc *pK = &f->s->patK, *pB = &f->s->patB;
  clear(f);
  for (int j = 0; j < pK->ncol; j++) {
    for (int e = pK->colptr[j]; e < pK->colptr[j + 1]; e++) {
      put(f, pK->rowind[e], j, c * M[e] + (k != 0 ? k * K[e] : 0));
    }
  }
  for (int i = 0; i < f->s->model->nbody; i++) {
    find_scale(&f->nodes[i]);
  }
  for (int j = 0; j < pB->ncol; j++) {
    for (int e = pB->colptr[j]; e < pB->colptr[j + 1]; e++) {
      put_row(f, pB->rowind[e], j, B[e]);
    }
  }
  for (int i = f->s->model->nbody - 1; i >= 0; i--) {
    node *n = &f->nodes[f->order[i]];
    if (mbg__lu_factor(&n->lu, NULL) < 0 || (size_of(n) > 0 && !(mbg__lu_ratio(&n->lu, NULL) > pivot_least))) {
      return false;
    }
    if (n->parent >= 0) {
      mbg__lu_solve(&n->lu, n->U, f->nodes[n->parent].n);
      reduce(n, &f->nodes[n->parent]);
    }
  }
  return true;
}

/* ---------------------------------------------------------------------- solutions */

/* x_b = N^-1 f_b */
static void solve_node(const mbg__forest *f, const node *k, real *x, real *y) {
  const int *rows = f->rows + k->row0;
  real *lambda = x + f->s->model->nv;
  vn_copy(k->n, y, x + k->first);
  for (int i = 0; i < k->nrow; i++) {
    y[k->n + i] = k->scale * lambda[rows[i]];
  }
  mbg__lu_solve(&k->lu, y, 1);
  vn_copy(k->n, x + k->first, y);
  for (int i = 0; i < k->nrow; i++) {
    lambda[rows[i]] = k->scale * y[k->n + i];
  }
}

/* x_b -= N^-1 U x_p */
static void follow_parent(const mbg__forest *f, const node *k, const node *p, real *x, real *y) {
  const int *rows = f->rows + k->row0, size = size_of(k);
  real *lambda = x + f->s->model->nv;
  vn_zero(size, y);
  for (int j = 0; j < p->n; j++) {
    vn_axpy(size, y, x[p->first + j], k->U + size * j);
  }
  vn_axpy(k->n, x + k->first, -1, y);
  for (int i = 0; i < k->nrow; i++) {
    lambda[rows[i]] -= k->scale * y[k->n + i];
  }
}

void mbg__forest_solve(const mbg__forest *f, real *x) {
  const int nbody = f->s->model->nbody;
  for (int i = nbody - 1; i >= 0; i--) {
    const node *k = &f->nodes[f->order[i]], *p = k->parent >= 0 ? &f->nodes[k->parent] : NULL;
    solve_node(f, k, x, f->x);
    for (int j = 0; p && j < size_of(k); j++) {
      vn_axpy(p->n, x + p->first, -f->x[j], k->L + p->n * j);
    }
  }
  for (int i = 0; i < nbody; i++) {
    const node *k = &f->nodes[f->order[i]];
    if (k->parent >= 0) {
      follow_parent(f, k, &f->nodes[k->parent], x, f->x);
    }
  }
}
