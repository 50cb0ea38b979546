#include "start/rank.h"

#include "math/dense.h"
#include "start/rank_full.h"
#include "start/rank_parts.h"
#include "start/rank_rates.h"
#include "start/rank_sparse.h"
#include "system/system_internal.h"

#include <stdlib.h>
#include <string.h>

static const double rank_tolerance = 1e-7;
enum { PROOF_MIN = 200 };  /* so many connected rows are first proved to be independent by sparse factors, */
enum { SPARSE_MIN = 400 }; /* so many are decided by sparse elimination if they are not */

/* ---------------------------------------------------------------------- the matrix by bodies */

/* B with unit rows, and the rows and bodies that are not decided yet */
typedef struct {
  mbg_context *ctx;
  const mbg_model *m;
  const mbg__csc *B; /* pattern */
  double *val;       /* scaled values */
  double *scale;     /* original length of each row */
  bool *row_left, *body_left;
} scaled_rows;

static int scaled_values(scaled_rows *q, mbg__arena *scratch, mbg__system *s, real *room) {
  const int nnz = mbg__csc_count(q->B), nrow = q->m->nrow;
  real *val = room ? room : MBG_TAKE(scratch, real, nnz);
  q->val = (double *)val; /* in place: a real is at least as long as its real part, which stands first */
  q->scale = MBG_TAKE(scratch, double, nrow);
  if (mbg__arena_check(q->ctx, scratch) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__system_matrices(s, &(mbg__matrices){.B = val});
  for (int e = 0; e < nnz; e++) {
    q->val[e] = re(val[e]);
    q->scale[q->B->rowind[e]] += q->val[e] * q->val[e];
  }
  for (int i = 0; i < nrow; i++) {
    q->scale[i] = sqrt(q->scale[i]);
  }
  for (int e = 0; e < nnz; e++) {
    const double l = q->scale[q->B->rowind[e]];
    q->val[e] /= l > 0 ? l : 1;
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- peeling */

/* undecided rows that touch a body, as a dense list (at most 7: more cannot be independent on six columns) */
enum { TOUCH_MAX = 7 };

static int touching(const scaled_rows *q, int body, int row[TOUCH_MAX], double col[6][TOUCH_MAX]) {
  const mbg__body *b = &q->m->bodies[body];
  int n = 0;
  memset(col, 0, sizeof(double[6][TOUCH_MAX]));
  for (int k = 0; k < b->nvel && k < 6; k++) {
    const int j = q->m->dof[b->voff + k];
    for (int e = j >= 0 ? q->B->colptr[j] : 0; j >= 0 && e < q->B->colptr[j + 1]; e++) {
      const int r = q->B->rowind[e];
      int i = 0;
      while (i < n && row[i] != r) {
        i++;
      }
      if (!q->row_left[r]) {
        continue;
      }
      if (i == n) {
        if (n == TOUCH_MAX) {
          return TOUCH_MAX;
        }
        row[n++] = r;
      }
      col[k][i] = q->val[e];
    }
  }
  return n;
}

/* are n row vectors of six independent? modified Gram-Schmidt with a strict tolerance */
static bool independent(int n, double col[6][TOUCH_MAX]) {
  for (int i = 0; i < n; i++) {
    double l2 = 0;
    for (int k = 0; k < 6; k++) {
      l2 += col[k][i] * col[k][i];
    }
    if (!(l2 > 1e-8)) {
      return false;
    }
    for (int j = i + 1; j < n; j++) {
      double d = 0;
      for (int k = 0; k < 6; k++) {
        d += col[k][i] * col[k][j] / l2;
      }
      for (int k = 0; k < 6; k++) {
        col[k][j] -= d * col[k][i];
      }
    }
  }
  return true;
}

/* bodies of each row, which lead from a peeled body to its neighbours */
typedef struct {
  int *start, *body; /* (nrow + 1), (at most 2 a term) */
} row_bodies;

static void bodies_of_rows(const mbg__system *s, const row_bodies *rb) {
  const mbg_model *m = s->model;
  int n = 0;
  for (int i = 0; i < m->nrow; i++) {
    rb->start[i] = n;
    for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
      const int pair = m->terms[k].pair;
      const int ends[2] = {pair < 0 ? -1 : marker_body(s, m->pairs[pair].A),
                           pair < 0 ? -1 : marker_body(s, m->pairs[pair].B)};
      for (int e = 0; e < 2; e++) {
        if (ends[e] >= 0) {
          rb->body[n++] = ends[e];
        }
      }
    }
  }
  rb->start[m->nrow] = n;
}

/* A body whose undecided rows are independent on its own columns: in any dependence their factors are zero. They are
   kept, the body is peeled off, and its neighbours are examined again. */
static int peel(scaled_rows *q, mbg__arena *scratch, const mbg__system *s) {
  const mbg_model *m = q->m;
  const row_bodies rb = {MBG_TAKE(scratch, int, m->nrow + 1), MBG_TAKE(scratch, int, 2 * m->nterm)};
  int n = 0, *stack = MBG_TAKE(scratch, int, m->nbody + 2 * m->nterm);
  if (mbg__arena_check(q->ctx, scratch) < 0) {
    return MBG_ERROR_MEMORY;
  }
  bodies_of_rows(s, &rb);
  for (int i = m->nbody - 1; i >= 0; i--) {
    stack[n++] = i;
  }
  while (n > 0) {
    const int body = stack[--n];
    int row[TOUCH_MAX];
    double col[6][TOUCH_MAX];
    if (!q->body_left[body]) {
      continue;
    }
    const int count = touching(q, body, row, col);
    if (count == TOUCH_MAX || !independent(count, col)) {
      continue;
    }
    q->body_left[body] = false;
    for (int i = 0; i < count; i++) {
      q->row_left[row[i]] = false;
      for (int e = rb.start[row[i]]; e < rb.start[row[i] + 1]; e++) {
        if (q->body_left[rb.body[e]]) {
          stack[n++] = rb.body[e];
        }
      }
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- undecided rows */

/* The undecided rows in parts: rows of different parts have no column in common, and are decided apart. */
typedef struct {
  int npart;
  int *row, *row_start; /* rows of each part, ascending            (nrow), (npart + 1) */
  int *col, *col_start; /* its columns, ascending                  (nv), (npart + 1) */
  int *index;           /* place of each row in its part           (nrow) */
} rest;

/* rows of a part in the order of their pivots: the first `rank` are kept, the others depend on them by T */
typedef struct {
  int nrow, rank;
  int *row;           /* (nrow) */
  int *start, *pivot; /* of the entries of T by dependent rows (mbg__sparse_rank); NULL: all pivots */
  double *T;          /* (rank x (nrow - rank)), or (start[nrow - rank]) */
} decision;

static int entries_of(const decision *p, int d) { return p->start ? p->start[d + 1] - p->start[d] : p->rank; }

static int root_of(int *root, int i) {
  while (root[i] != i) {
    root[i] = root[root[i]];
    i = root[i];
  }
  return i;
}

static int first_left(const scaled_rows *q, int column) {
  for (int e = q->B->colptr[column]; e < q->B->colptr[column + 1]; e++) {
    if (q->row_left[q->B->rowind[e]]) {
      return q->B->rowind[e];
    }
  }
  return -1;
}

/* joins the undecided rows of each column; the root of a part is its first row */
static void join_rows(const scaled_rows *q, int *root) {
  for (int i = 0; i < q->m->nrow; i++) {
    root[i] = i;
  }
  for (int j = 0; j < q->m->nv; j++) {
    const int first = first_left(q, j);
    for (int e = q->B->colptr[j]; first >= 0 && e < q->B->colptr[j + 1]; e++) {
      if (q->row_left[q->B->rowind[e]]) {
        const int r = root_of(root, q->B->rowind[e]), t = root_of(root, first);
        root[r > t ? r : t] = r > t ? t : r;
      }
    }
  }
}

/* lists the items i < n by ascending part[i], -1: none */
static void list_by_part(int n, const int *part, int npart, int *start, int *list) {
  for (int i = 0; i < n; i++) {
    if (part[i] >= 0) {
      start[part[i] + 1]++;
    }
  }
  for (int p = 0; p < npart; p++) {
    start[p + 1] += start[p];
  }
  for (int i = 0; i < n; i++) {
    if (part[i] >= 0) {
      list[start[part[i]]++] = i;
    }
  }
  for (int p = npart; p > 0; p--) {
    start[p] = start[p - 1];
  }
  start[0] = 0;
}

static int list_rest(const scaled_rows *q, mbg__arena *arena, rest *r) {
  const int nrow = q->m->nrow, nv = q->m->nv;
  int *root = MBG_TAKE(arena, int, nrow), *part = MBG_TAKE(arena, int, nrow), *of_col = MBG_TAKE(arena, int, nv);
  r->row = MBG_TAKE(arena, int, nrow);
  r->row_start = MBG_TAKE(arena, int, nrow + 2);
  r->col = MBG_TAKE(arena, int, nv);
  r->col_start = MBG_TAKE(arena, int, nrow + 2);
  r->index = MBG_TAKE(arena, int, nrow);
  if (mbg__arena_check(q->ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  join_rows(q, root);
  for (int i = 0; i < nrow; i++) {
    const int top = root_of(root, i);
    part[i] = !q->row_left[i] ? -1 : top == i ? r->npart++ : part[top];
  }
  for (int j = 0; j < nv; j++) {
    const int first = first_left(q, j);
    of_col[j] = first < 0 ? -1 : part[first];
  }
  list_by_part(nrow, part, r->npart, r->row_start, r->row);
  list_by_part(nv, of_col, r->npart, r->col_start, r->col);
  for (int k = 0; k < r->row_start[r->npart]; k++) {
    r->index[r->row[k]] = k - r->row_start[part[r->row[k]]];
  }
  return MBG_OK;
}

/* entries of a part; row NULL: counts them alone */
static int list_entries(const scaled_rows *q, const rest *r, int part, int *row, int *col, double *val) {
  int n = 0;
  for (int c = r->col_start[part]; c < r->col_start[part + 1]; c++) {
    for (int e = q->B->colptr[r->col[c]]; e < q->B->colptr[r->col[c] + 1]; e++) {
      if (q->row_left[q->B->rowind[e]]) {
        if (row) {
          row[n] = r->index[q->B->rowind[e]];
          col[n] = c - r->col_start[part];
          val[n] = q->val[e];
        }
        n++;
      }
    }
  }
  return n;
}

/* many rows: are they all independent? *sigma > 0: yes */
static int prove_part(const scaled_rows *q, mbg__arena *scratch, const rest *r, int part, double *sigma) {
  const int nrow = r->row_start[part + 1] - r->row_start[part], ncol = r->col_start[part + 1] - r->col_start[part];
  *sigma = 0;
  if (nrow < PROOF_MIN) {
    return MBG_OK;
  }
  const int count = list_entries(q, r, part, NULL, NULL, NULL);
  int *row = MBG_TAKE(scratch, int, count), *col = MBG_TAKE(scratch, int, count);
  double *val = MBG_TAKE(scratch, double, count);
  if (mbg__arena_check(q->ctx, scratch) < 0) {
    return MBG_ERROR_MEMORY;
  }
  (void)list_entries(q, r, part, row, col, val);
  return mbg__rows_independence(q->ctx, nrow, ncol, count, row, col, val, sigma);
}

static void fill_part(const scaled_rows *q, const rest *r, int part, mbg__qr *qr) {
  memset(qr->A, 0, (size_t)qr->m * (size_t)qr->n * sizeof(double));
  for (int c = r->col_start[part]; c < r->col_start[part + 1]; c++) {
    for (int e = q->B->colptr[r->col[c]]; e < q->B->colptr[r->col[c] + 1]; e++) {
      const int i = q->B->rowind[e];
      if (q->row_left[i]) {
        qr->A[(size_t)(c - r->col_start[part]) + (size_t)qr->m * (size_t)r->index[i]] = q->val[e];
      }
    }
  }
}

/* rows on rates among those of a part (rate NULL: no list); are there any? */
static bool list_rates(const scaled_rows *q, const rest *r, int part, bool *rate) {
  bool any = false;
  for (int k = r->row_start[part]; k < r->row_start[part + 1]; k++) {
    const bool is = q->m->rows[r->row[k]].rate;
    if (rate) {
      rate[k - r->row_start[part]] = is;
    }
    any = any || is;
  }
  return any;
}

/* the same with rows on rates, which are decided after those of positions */
static int factor_rates(const scaled_rows *q, mbg__arena *scratch, mbg__arena *arena, const rest *r, int part,
                        const bool *rate, const mbg__qr *qr, decision *d, double *smallest) {
  int err = MBG_OK, *order = MBG_TAKE(scratch, int, qr->n);
  *d = (decision){.nrow = qr->n, .row = MBG_TAKE(arena, int, qr->n)};
  MBG_TRY(mbg__arena_check(q->ctx, scratch));
  MBG_TRY(mbg__arena_check(q->ctx, arena));
  MBG_TRY(mbg__rank_rates(q->ctx, scratch, arena, qr->m, qr->n, qr->A, rate, rank_tolerance, order, &d->rank, &d->T,
                          smallest));
  for (int k = 0; k < qr->n; k++) {
    d->row[k] = r->row[r->row_start[part] + order[k]];
  }
done:
  return err;
}

/* the rows of a part in the order of their pivots, and the smallest pivot of the kept ones */
static int factor_part(const scaled_rows *q, mbg__arena *scratch, mbg__arena *arena, const rest *r, int part,
                       decision *d, double *smallest) {
  const int ncol = r->col_start[part + 1] - r->col_start[part], nrow = r->row_start[part + 1] - r->row_start[part];
  mbg__qr qr;
  int err = MBG_OK;
  (void)mbg__qr_prepare(&qr, scratch, ncol > 0 ? ncol : 1, nrow);
  bool *rate = MBG_TAKE(scratch, bool, nrow);
  MBG_TRY(mbg__arena_check(q->ctx, scratch));
  fill_part(q, r, part, &qr);
  if (list_rates(q, r, part, rate)) {
    return factor_rates(q, scratch, arena, r, part, rate, &qr, d, smallest);
  }
  if (mbg__qr_factor(&qr) < 0) {
    err = mbg__fail(q->ctx, MBG_ERROR_SINGULAR, "the constraint Jacobian is not finite");
    goto MBG__TO(done);
  }
  const int rank = mbg__qr_rank(&qr, rank_tolerance);
  *d = (decision){.nrow = nrow,
                  .rank = rank,
                  .row = MBG_TAKE(arena, int, nrow),
                  .T = MBG_TAKE(arena, double, (size_t)rank *(size_t)(nrow - rank))};
  MBG_TRY(mbg__arena_check(q->ctx, arena));
  for (int k = 0; k < nrow; k++) {
    d->row[k] = r->row[r->row_start[part] + qr.column[k]];
  }
  mbg__qr_dependence(&qr, rank, d->T);
  *smallest = rank > 0 ? fabs(qr.A[(size_t)(rank - 1) * (size_t)(qr.m + 1)] / qr.A[0]) : 1;
done:
  return err;
}

/* body of each column of a part; returns their number */
static int group_columns(const scaled_rows *q, const rest *r, int part, int *group) {
  int body = 0, last = -1, count = 0;
  for (int c = r->col_start[part]; c < r->col_start[part + 1]; c++) {
    while (body + 1 < q->m->nbody && q->m->bodies[body + 1].voff <= q->m->full[r->col[c]]) {
      body++;
    }
    count += body != last;
    last = body;
    group[c - r->col_start[part]] = count - 1;
  }
  return count;
}

/* the entries of a part by rows */
static int rows_of_part(const scaled_rows *q, mbg__arena *scratch, const rest *r, int part, mbg__unit_rows *A) {
  const int count = list_entries(q, r, part, NULL, NULL, NULL);
  int *row = MBG_TAKE(scratch, int, count), *col = MBG_TAKE(scratch, int, count);
  double *val = MBG_TAKE(scratch, double, count);
  A->nrow = r->row_start[part + 1] - r->row_start[part];
  A->ncol = r->col_start[part + 1] - r->col_start[part];
  A->start = MBG_TAKE(scratch, int, A->nrow + 2);
  A->col = MBG_TAKE(scratch, int, count);
  A->val = MBG_TAKE(scratch, double, count);
  A->group = MBG_TAKE(scratch, int, A->ncol);
  if (mbg__arena_check(q->ctx, scratch) < 0) {
    return MBG_ERROR_MEMORY;
  }
  A->ngroup = group_columns(q, r, part, A->group);
  (void)list_entries(q, r, part, row, col, val);
  for (int k = 0; k < count; k++) {
    A->start[row[k] + 2]++;
  }
  for (int i = 0; i < A->nrow; i++) {
    A->start[i + 2] += A->start[i + 1];
  }
  for (int k = 0; k < count; k++) { /* start[i + 1] moves from the first entry of row i to the first of the next */
    const int e = A->start[row[k] + 1]++;
    A->col[e] = col[k];
    A->val[e] = val[k];
  }
  return MBG_OK;
}

/* the same for many rows, by sparse elimination */
static int eliminate_part(const scaled_rows *q, mbg__arena *scratch, mbg__arena *arena, const rest *r, int part,
                          decision *d, double *smallest) {
  mbg__unit_rows A;
  mbg__sparse_rank rank;
  int err = MBG_OK;
  MBG_TRY(rows_of_part(q, scratch, r, part, &A));
  MBG_TRY(mbg__rank_sparse(q->ctx, arena, &A, rank_tolerance, &rank));
  for (int k = 0; k < A.nrow; k++) {
    rank.row[k] = r->row[r->row_start[part] + rank.row[k]];
  }
  *d = (decision){
      .nrow = A.nrow, .rank = rank.rank, .row = rank.row, .start = rank.start, .pivot = rank.pivot, .T = rank.T};
  *smallest = rank.smallest;
done:
  return err;
}

/* a kept row and its factor */
typedef struct {
  int kept;
  double factor;
} dependence;

static int by_kept(const void *a, const void *b) {
  const int i = ((const dependence *)a)->kept, j = ((const dependence *)b)->kept;
  return (i > j) - (i < j);
}

/* dropped row d of a part, in terms of the original (unscaled) rows; its entries of T are reserved */
static void take_row(const scaled_rows *q, const decision *p, int d, const int *place, dependence *list,
                     mbg__rank *out) {
  const int drop = p->row[p->rank + d], first = out->d_start[place[drop]], count = entries_of(p, d);
  const size_t at = p->start ? (size_t)p->start[d] : (size_t)p->rank * (size_t)d;
  for (int k = 0; k < count; k++) {
    const int keep = p->row[p->start ? p->pivot[p->start[d] + k] : k];
    const double T = p->T[at + (size_t)k] * q->scale[drop];
    list[k] = (dependence){place[keep], T / (q->scale[keep] > 0 ? q->scale[keep] : 1)};
  }
  qsort(list, (size_t)count, sizeof(*list), by_kept);
  for (int k = 0; k < count; k++) {
    out->depends[first + k] = list[k].kept;
    out->T[first + k] = list[k].factor;
  }
}

int mbg__rank_reserve(mbg_context *ctx, mbg__arena *arena, mbg__rank *out) {
  for (int d = 0; d < out->ndropped; d++) {
    out->d_start[d + 1] += out->d_start[d];
  }
  out->depends = MBG_TAKE(arena, int, out->d_start[out->ndropped]);
  out->T = MBG_TAKE(arena, double, out->d_start[out->ndropped]);
  return mbg__arena_check(ctx, arena);
}

static int take_dependence(const scaled_rows *q, mbg__arena *scratch, mbg__arena *arena, const decision *all, int n,
                           mbg__rank *out) {
  int err = MBG_OK, *place = MBG_TAKE(scratch, int, out->nrow);
  dependence *list = MBG_TAKE(scratch, dependence, out->nkept);
  out->d_start = MBG_TAKE(arena, int, out->ndropped + 1);
  MBG_TRY(mbg__arena_check(q->ctx, scratch));
  MBG_TRY(mbg__arena_check(q->ctx, arena));
  for (int i = 0; i < out->nkept; i++) {
    place[out->kept[i]] = i;
  }
  for (int i = 0; i < out->ndropped; i++) {
    place[out->dropped[i]] = i;
  }
  for (const decision *p = all; p < all + n; p++) {
    for (int d = 0; d < p->nrow - p->rank; d++) {
      out->d_start[place[p->row[p->rank + d]] + 1] = entries_of(p, d);
    }
  }
  MBG_TRY(mbg__rank_reserve(q->ctx, arena, out));
  for (const decision *p = all; p < all + n; p++) {
    for (int d = 0; d < p->nrow - p->rank; d++) {
      take_row(q, p, d, place, list, out);
    }
  }
done:
  return err;
}

void mbg__rank_list(mbg__rank *out) {
  out->nkept = out->ndropped = 0;
  for (int i = 0; i < out->nrow; i++) {
    if (out->keep[i]) {
      out->kept[out->nkept++] = i;
    } else {
      out->dropped[out->ndropped++] = i;
    }
  }
}

/* decides one part; what it keeps for later lies in `arena` */
static int decide_part(const scaled_rows *q, mbg__arena *arena, const rest *r, int part, decision *d, mbg__rank *out) {
  mbg__arena scratch;
  int err = MBG_OK;
  double smallest;
  mbg__arena_init(&scratch, mbg__context_allocator(q->ctx));
  MBG_TRY(prove_part(q, &scratch, r, part, &smallest));
  if (smallest == 0) {
    const int nrow = r->row_start[part + 1] - r->row_start[part];
    const bool dense = nrow < SPARSE_MIN || list_rates(q, r, part, NULL);
    err = (dense ? factor_part : eliminate_part)(q, &scratch, arena, r, part, d, &smallest);
    MBG_TRY(err);
  }
  for (int k = d->rank; k < d->nrow; k++) {
    out->keep[d->row[k]] = false;
  }
  out->smallest = fmin(out->smallest, smallest);
done:
  mbg__arena_destroy(&scratch);
  return err;
}

static int factor_rest(const scaled_rows *q, mbg__arena *scratch, mbg__arena *arena, mbg__rank *out) {
  rest r = {0};
  int err = MBG_OK;
  MBG_TRY(list_rest(q, scratch, &r));
  decision *all = MBG_TAKE(scratch, decision, r.npart);
  MBG_TRY(mbg__arena_check(q->ctx, scratch));
  for (int p = 0; p < r.npart; p++) {
    MBG_TRY(decide_part(q, scratch, &r, p, &all[p], out));
  }
  mbg__rank_list(out);
  if (out->ndropped > 0) {
    MBG_TRY(take_dependence(q, scratch, arena, all, r.npart, out));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- analysis */

mbg__rank *mbg__rank_take(mbg_context *ctx, mbg__arena *arena, int nrow) {
  mbg__rank *rank = MBG_TAKE(arena, mbg__rank, 1);
  bool *keep = MBG_TAKE(arena, bool, nrow);
  int *kept = MBG_TAKE(arena, int, nrow), *dropped = MBG_TAKE(arena, int, nrow);
  if (mbg__arena_check(ctx, arena) < 0) {
    return NULL;
  }
  *rank = (mbg__rank){.nrow = nrow, .keep = keep, .kept = kept, .dropped = dropped, .smallest = 1};
  memset(keep, true, (size_t)nrow);
  return rank;
}

int mbg__rank_analyse(mbg_context *ctx, mbg__arena *arena, mbg__system *s, real *room, mbg__rank **out) {
  const mbg_model *m = s->model;
  scaled_rows q = {.ctx = ctx, .m = m, .B = &s->patB};
  mbg__arena scratch;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  q.row_left = MBG_TAKE(&scratch, bool, m->nrow);
  q.body_left = MBG_TAKE(&scratch, bool, m->nbody);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  *out = mbg__rank_take(ctx, arena, m->nrow);
  MBG_TRY(*out ? MBG_OK : MBG_ERROR_MEMORY);
  memset(q.row_left, true, (size_t)m->nrow);
  memset(q.body_left, true, (size_t)m->nbody);
  MBG_TRY(scaled_values(&q, &scratch, s, room));
  MBG_TRY(peel(&q, &scratch, s));
  MBG_TRY(factor_rest(&q, &scratch, arena, *out));
done:
  mbg__arena_destroy(&scratch);
  return err;
}
