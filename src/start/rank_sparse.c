/* Gaussian elimination by rows. Row i is reduced by the pivot rows u_p before it,

     b_i = sum_p l_ip u_p + x,   u_p = x_p / x_p[c_p]   (c_p: column of the pivot)

   and becomes the next pivot row, unless its rest x is too small: then it depends on the others. With
   s_p = x_p[c_p] and b_p = sum_q l_pq u_q + s_p u_p, the factors of a dependent row follow from the last pivot back:

     T_p = y_p / s_p,   y_q -= T_p l_pq   (y = l_d to begin with).

   Bodies are ordered by minimum degree, and rows follow the first of their bodies. The pivot is the first column in
   this order whose entry is not much smaller than the largest of the row, so that the fill is that of the bodies. Rows
   with a weak rest wait: another row may hold their direction better. */
#include "start/rank_sparse.h"

#include "math/order.h"

#include <math.h>
#include <string.h>

static const double threshold = 0.1; /* of a pivot, relative to its row */
static const double rounding = 1e-13;
static const double strong[] = {0.3,  0.1,  0.03, 0.01,
                                1e-3, 1e-4, 1e-5, 0}; /* rests of rows that need not wait, by rounds */
enum { ROUNDS = 8 };

/* a sparse vector */
typedef struct {
  int n, *at;
  double *val;
} entries;

typedef struct {
  int row, column; /* of A */
  double size;     /* s_p */
  entries l, u;    /* by pivots; by columns, without its own */
} pivot;

typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
  const mbg__unit_rows *A;
  int *order, *place; /* of rows (nrow), of groups (ngroup) */
  pivot *pivots;      /* (nrow) */
  int npivot;
  int *pivot_of; /* of a column, -1: none                        (ncol) */
  pivot *dependent;
  int ndependent, nwaiting; /* dependent rows in `dependent` (nrow), waiting ones in order[0 .. nwaiting - 1] */

  /* the row at hand */
  double *x; /* by columns (ncol), or by pivots (nrow) */
  bool *touched;
  int ntouched, *list; /* columns with an entry */
  int nheap, *heap;    /* pivots to be used, the first one on top */
  int nfactor, *used;  /* pivots that were used, and l by them */
  double *factor;
} elimination;

/* ---------------------------------------------------------------------- heap: the least key on top */

static void push(elimination *e, int key) {
  int i = e->nheap++;
  for (; i > 0 && e->heap[(i - 1) / 2] > key; i = (i - 1) / 2) {
    e->heap[i] = e->heap[(i - 1) / 2];
  }
  e->heap[i] = key;
}

static int pop(elimination *e) {
  const int top = e->heap[0], key = e->heap[--e->nheap];
  int i = 0;
  for (int child; (child = 2 * i + 1) < e->nheap; i = child) {
    child += child + 1 < e->nheap && e->heap[child + 1] < e->heap[child];
    if (e->heap[child] >= key) {
      break;
    }
    e->heap[i] = e->heap[child];
  }
  e->heap[i] = key;
  return top;
}

/* ---------------------------------------------------------------------- one row */

static void touch(elimination *e, int column) {
  if (!e->touched[column]) {
    e->touched[column] = true;
    e->list[e->ntouched++] = column;
    if (e->pivot_of[column] >= 0) {
      push(e, e->pivot_of[column]);
    }
  }
}

/* x and l of a row of A */
static void reduce(elimination *e, int row) {
  const mbg__unit_rows *A = e->A;
  e->ntouched = e->nfactor = e->nheap = 0;
  for (int k = A->start[row]; k < A->start[row + 1]; k++) {
    touch(e, A->col[k]);
    e->x[A->col[k]] += A->val[k];
  }
  while (e->nheap > 0) {
    const int p = pop(e);
    const pivot *by = &e->pivots[p];
    const double l = e->x[by->column];
    e->x[by->column] = 0;
    if (fabs(l) <= rounding) {
      continue;
    }
    e->used[e->nfactor] = p;
    e->factor[e->nfactor++] = l;
    for (int k = 0; k < by->u.n; k++) {
      touch(e, by->u.at[k]);
      e->x[by->u.at[k]] -= l * by->u.val[k];
    }
  }
}

/* the column of the pivot; *largest: entry of the rest */
static int choose_column(const elimination *e, double *largest) {
  int best = -1;
  *largest = 0;
  for (int k = 0; k < e->ntouched; k++) {
    *largest = fmax(*largest, fabs(e->x[e->list[k]]));
  }
  for (int k = 0; k < e->ntouched; k++) {
    const int c = e->list[k];
    const double size = fabs(e->x[c]);
    if (size == 0 || size < threshold * *largest) {
      continue;
    }
    const int before = best < 0 ? 1 : e->place[e->A->group[best]] - e->place[e->A->group[c]];
    if (before > 0 || (before == 0 && size > fabs(e->x[best]))) {
      best = c;
    }
  }
  return best;
}

static void clear(elimination *e) {
  for (int k = 0; k < e->ntouched; k++) {
    e->x[e->list[k]] = 0;
    e->touched[e->list[k]] = false;
  }
}

static entries take_entries(mbg__arena *arena, int n) {
  return (entries){n, MBG_TAKE(arena, int, n), MBG_TAKE(arena, double, n)};
}

static int keep_factors(elimination *e, entries *l) {
  *l = take_entries(&e->arena, e->nfactor);
  if (mbg__arena_check(e->ctx, &e->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; k < e->nfactor; k++) {
    l->at[k] = e->used[k];
    l->val[k] = e->factor[k];
  }
  return MBG_OK;
}

/* the row at hand becomes a pivot row */
static int keep_pivot(elimination *e, int row, int column) {
  pivot *p = &e->pivots[e->npivot];
  int n = 0;
  for (int k = 0; k < e->ntouched; k++) {
    n += e->list[k] != column && fabs(e->x[e->list[k]]) > rounding;
  }
  *p = (pivot){.row = row, .column = column, .size = e->x[column], .u = take_entries(&e->arena, n)};
  if (mbg__arena_check(e->ctx, &e->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  n = 0;
  for (int k = 0; k < e->ntouched; k++) {
    const int c = e->list[k];
    if (c != column && fabs(e->x[c]) > rounding) {
      p->u.at[n] = c;
      p->u.val[n++] = e->x[c] / p->size;
    }
  }
  e->pivot_of[column] = e->npivot++;
  return keep_factors(e, &p->l);
}

/* one round over the rows that wait */
static int eliminate(elimination *e, double least, double tolerance) {
  const int count = e->nwaiting;
  int err = MBG_OK;
  e->nwaiting = 0;
  for (int k = 0; err == MBG_OK && k < count; k++) {
    const int row = e->order[k];
    double largest;
    reduce(e, row);
    const int column = choose_column(e, &largest);
    if (!(largest > tolerance)) {
      e->dependent[e->ndependent].row = row;
      err = keep_factors(e, &e->dependent[e->ndependent++].l);
    } else if (largest < least) {
      e->order[e->nwaiting++] = row;
    } else {
      err = keep_pivot(e, row, column);
    }
    clear(e);
  }
  return err;
}

/* ---------------------------------------------------------------------- order */

/* rows that act on bodies, as the order of saddle point systems has them */
static int order_rows(elimination *e) {
  const mbg__unit_rows *A = e->A;
  const int count = A->ngroup + 2 * A->start[A->nrow], n = A->ngroup + A->nrow;
  mbg__arena scratch;
  mbg__csc graph;
  int err = MBG_OK, nentry = A->ngroup, nrow = 0;
  mbg__arena_init(&scratch, mbg__context_allocator(e->ctx));
  int *i = MBG_TAKE(&scratch, int, count), *j = MBG_TAKE(&scratch, int, count), *order = MBG_TAKE(&scratch, int, n);
  MBG_TRY(mbg__arena_check(e->ctx, &scratch));
  for (int g = 0; g < A->ngroup; g++) {
    i[g] = j[g] = e->place[g] = g;
  }
  for (int r = 0; r < A->nrow; r++) {
    e->order[r] = r;
    for (int k = A->start[r]; k < A->start[r + 1]; k++) {
      i[nentry] = j[nentry + 1] = A->ngroup + r;
      j[nentry] = i[nentry + 1] = A->group[A->col[k]];
      nentry += 2;
    }
  }
  MBG_TRY(mbg__csc_build(&graph, &scratch, n, n, count, i, j, NULL) < 0 ? mbg__fail_memory(e->ctx) : MBG_OK);
  if (mbg__order_saddle(mbg__context_allocator(e->ctx), &graph, A->ngroup, order)) {
    for (int k = 0; k < n; k++) {
      if (order[k] < A->ngroup) {
        e->place[order[k]] = k;
      } else {
        e->order[nrow++] = order[k] - A->ngroup;
      }
    }
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}

/* ---------------------------------------------------------------------- dependence */

/* y and the pivots with an entry of it, by the last one first; `touched`: pivots on the heap */
static void add_factors(elimination *e, const entries *l, double factor) {
  for (int k = 0; k < l->n; k++) {
    const int p = l->at[k];
    if (!e->touched[p]) {
      e->touched[p] = true;
      push(e, -p);
    }
    e->x[p] += factor * l->val[k];
  }
}

/* the factors of a dependent row, into `used` and `factor` by descending pivots */
static void solve_factors(elimination *e, const entries *l) {
  e->nfactor = e->nheap = 0;
  add_factors(e, l, 1);
  while (e->nheap > 0) {
    const int p = -pop(e);
    const double T = e->x[p] / e->pivots[p].size;
    e->x[p] = 0;
    e->touched[p] = false;
    if (fabs(T) > rounding) {
      e->used[e->nfactor] = p;
      e->factor[e->nfactor++] = T;
      add_factors(e, &e->pivots[p].l, -T);
    }
  }
}

static int take_dependence(elimination *e, mbg__arena *arena, mbg__sparse_rank *out) {
  int err = MBG_OK, count = 0;
  for (int d = 0; d < e->ndependent; d++) {
    pivot *p = &e->dependent[d];
    solve_factors(e, &p->l);
    MBG_TRY(keep_factors(e, &p->u));
    out->row[out->rank + d] = p->row;
    out->start[d] = count;
    count += p->u.n;
  }
  out->start[e->ndependent] = count;
  out->pivot = MBG_TAKE(arena, int, count);
  out->T = MBG_TAKE(arena, double, count);
  MBG_TRY(mbg__arena_check(e->ctx, arena));
  for (int d = 0; d < e->ndependent; d++) {
    const entries *u = &e->dependent[d].u;
    for (int k = 0; k < u->n; k++) {
      out->pivot[out->start[d] + k] = u->at[u->n - 1 - k];
      out->T[out->start[d] + k] = u->val[u->n - 1 - k];
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- decision */

static int prepare(elimination *e) {
  const int nrow = e->A->nrow, ncol = e->A->ncol, most = nrow > ncol ? nrow : ncol;
  e->order = MBG_TAKE(&e->arena, int, nrow);
  e->place = MBG_TAKE(&e->arena, int, e->A->ngroup);
  e->pivots = MBG_TAKE(&e->arena, pivot, nrow);
  e->dependent = MBG_TAKE(&e->arena, pivot, nrow);
  e->pivot_of = MBG_TAKE(&e->arena, int, ncol);
  e->x = MBG_TAKE(&e->arena, double, most);
  e->touched = MBG_TAKE(&e->arena, bool, most);
  e->list = MBG_TAKE(&e->arena, int, ncol);
  e->heap = MBG_TAKE(&e->arena, int, most);
  e->used = MBG_TAKE(&e->arena, int, most);
  e->factor = MBG_TAKE(&e->arena, double, most);
  if (mbg__arena_check(e->ctx, &e->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  memset(e->pivot_of, -1, (size_t)ncol * sizeof(int));
  e->nwaiting = nrow;
  return order_rows(e);
}

static bool all_finite(const mbg__unit_rows *A) {
  double size = 0;
  for (int k = 0; k < A->start[A->nrow]; k++) {
    size += fabs(A->val[k]);
  }
  return isfinite(size);
}

int mbg__rank_sparse(mbg_context *ctx, mbg__arena *arena, const mbg__unit_rows *A, double tolerance,
                     mbg__sparse_rank *out) {
  elimination e = {.ctx = ctx, .A = A};
  int err = MBG_OK;
  if (!all_finite(A)) {
    return mbg__fail(ctx, MBG_ERROR_SINGULAR, "the constraint Jacobian is not finite");
  }
  mbg__arena_init(&e.arena, mbg__context_allocator(ctx));
  MBG_TRY(prepare(&e));
  for (int k = 0; k < ROUNDS; k++) {
    MBG_TRY(eliminate(&e, strong[k], tolerance));
  }
  *out = (mbg__sparse_rank){.rank = e.npivot,
                            .row = MBG_TAKE(arena, int, A->nrow),
                            .start = MBG_TAKE(arena, int, e.ndependent + 1),
                            .smallest = 1};
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int p = 0; p < e.npivot; p++) {
    out->row[p] = e.pivots[p].row;
    out->smallest = fmin(out->smallest, fabs(e.pivots[p].size));
  }
  MBG_TRY(take_dependence(&e, arena, out));
done:
  mbg__arena_destroy(&e.arena);
  return err;
}
