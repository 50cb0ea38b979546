#include "start/rank.h"

#include "math/dense.h"
#include "system/saddle.h"
#include "system/system_internal.h"

#include <string.h>

static const double rank_tolerance = 1e-7;

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

static int scaled_values(scaled_rows *q, mbg__arena *scratch, mbg__system *s) {
  const int nnz = mbg__csc_count(q->B), nrow = q->m->nrow;
  real *val = MBG_TAKE(scratch, real, nnz);
  q->val = MBG_TAKE(scratch, double, nnz);
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

typedef struct {
  int nrow, ncol;
  int *row;   /* rows left */
  int *index; /* place of each row among them */
} rest;

static int list_rest(const scaled_rows *q, mbg__arena *arena, rest *r) {
  const mbg_model *m = q->m;
  r->row = MBG_TAKE(arena, int, m->nrow);
  r->index = MBG_TAKE(arena, int, m->nrow);
  if (mbg__arena_check(q->ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < m->nrow; i++) {
    if (q->row_left[i]) {
      r->index[i] = r->nrow;
      r->row[r->nrow++] = i;
    }
  }
  for (int j = 0; j < m->nv; j++) {
    bool used = false;
    for (int e = q->B->colptr[j]; e < q->B->colptr[j + 1]; e++) {
      used = used || q->row_left[q->B->rowind[e]];
    }
    r->ncol += used;
  }
  return MBG_OK;
}

static void fill_rest(const scaled_rows *q, const rest *r, mbg__qr *qr) {
  int c = 0;
  memset(qr->A, 0, (size_t)qr->m * (size_t)qr->n * sizeof(double));
  for (int j = 0; j < q->m->nv; j++) {
    bool used = false;
    for (int e = q->B->colptr[j]; e < q->B->colptr[j + 1]; e++) {
      const int i = q->B->rowind[e];
      if (q->row_left[i]) {
        qr->A[c + qr->m * r->index[i]] = q->val[e];
        used = true;
      }
    }
    c += used;
  }
}

/* dependence of the dropped rows in terms of the original (unscaled) rows */
static int take_dependence(const scaled_rows *q, mbg__arena *scratch, mbg__arena *arena, const rest *r,
                           const mbg__qr *qr, int rank, mbg__rank *out) {
  const int ndrop = r->nrow - rank;
  int err = MBG_OK, *place = MBG_TAKE(scratch, int, out->nrow);
  double *T = MBG_TAKE(scratch, double, (size_t)rank *(size_t)ndrop);
  out->T = MBG_TAKE(arena, double, (size_t)out->ndropped *(size_t)out->nkept);
  MBG_TRY(mbg__arena_check(q->ctx, scratch));
  MBG_TRY(mbg__arena_check(q->ctx, arena));
  mbg__qr_dependence(qr, rank, T);
  for (int i = 0; i < out->nkept; i++) {
    place[out->kept[i]] = i;
  }
  for (int i = 0; i < out->ndropped; i++) {
    place[out->dropped[i]] = i;
  }
  for (int d = 0; d < ndrop; d++) {
    const int drop = r->row[qr->column[rank + d]];
    for (int k = 0; k < rank; k++) {
      const int keep = r->row[qr->column[k]];
      out->T[(size_t)place[drop] * (size_t)out->nkept + (size_t)place[keep]] =
          T[k + (size_t)rank * (size_t)d] * q->scale[drop] / (q->scale[keep] > 0 ? q->scale[keep] : 1);
    }
  }
done:
  return err;
}

static void list_kept(mbg__rank *out) {
  out->nkept = out->ndropped = 0;
  for (int i = 0; i < out->nrow; i++) {
    if (out->keep[i]) {
      out->kept[out->nkept++] = i;
    } else {
      out->dropped[out->ndropped++] = i;
    }
  }
}

static int factor_rest(const scaled_rows *q, mbg__arena *scratch, mbg__arena *arena, mbg__rank *out) {
  rest r = {0};
  mbg__qr qr;
  int err = MBG_OK;
  MBG_TRY(list_rest(q, scratch, &r));
  if (r.nrow == 0) {
    list_kept(out);
    goto done;
  }
  (void)mbg__qr_prepare(&qr, scratch, r.ncol > 0 ? r.ncol : 1, r.nrow);
  MBG_TRY(mbg__arena_check(q->ctx, scratch));
  fill_rest(q, &r, &qr);
  if (mbg__qr_factor(&qr) < 0) {
    err = mbg__fail(q->ctx, MBG_ERROR_SINGULAR, "the constraint Jacobian is not finite");
    goto done;
  }
  const int rank = mbg__qr_rank(&qr, rank_tolerance);
  for (int k = rank; k < r.nrow; k++) {
    out->keep[r.row[qr.column[k]]] = false;
  }
  out->smallest = rank > 0 ? fabs(qr.A[(size_t)(rank - 1) * (size_t)(qr.m + 1)] / qr.A[0]) : 1;
  list_kept(out);
  MBG_TRY(take_dependence(q, scratch, arena, &r, &qr, rank, out));
done:
  return err;
}

/* ---------------------------------------------------------------------- analysis */

/* a decision that keeps all rows, lists not made yet; NULL when out of memory */
static mbg__rank *take_rank(mbg_context *ctx, mbg__arena *arena, int nrow) {
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

int mbg__rank_analyse(mbg_context *ctx, mbg__arena *arena, mbg__system *s, mbg__rank **out) {
  const mbg_model *m = s->model;
  scaled_rows q = {.ctx = ctx, .m = m, .B = &s->patB};
  mbg__arena scratch;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  q.row_left = MBG_TAKE(&scratch, bool, m->nrow);
  q.body_left = MBG_TAKE(&scratch, bool, m->nbody);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  *out = take_rank(ctx, arena, m->nrow);
  MBG_TRY(*out ? MBG_OK : MBG_ERROR_MEMORY);
  memset(q.row_left, true, (size_t)m->nrow);
  memset(q.body_left, true, (size_t)m->nbody);
  MBG_TRY(scaled_values(&q, &scratch, s));
  MBG_TRY(peel(&q, &scratch, s));
  MBG_TRY(factor_rest(&q, &scratch, arena, *out));
done:
  mbg__arena_destroy(&scratch);
  return err;
}

/* ---------------------------------------------------------------------- another choice */

/* entry of the null vector of dropped row d: lambda_d = 1, lambda_I = -T_d */
static double null_entry(const mbg__rank *rank, int row, int d) {
  for (int i = 0; i < rank->ndropped; i++) {
    if (rank->dropped[i] == row) {
      return i == d ? 1 : 0;
    }
  }
  for (int i = 0; i < rank->nkept; i++) {
    if (rank->kept[i] == row) {
      return -rank->T[(size_t)d * (size_t)rank->nkept + (size_t)i];
    }
  }
  return 0;
}

/* N_D^T B_D + N_I^T B_I = 0, so T = -N_D^-T N_I^T */
static int new_dependence(mbg_context *ctx, mbg__arena *arena, const mbg__rank *old, mbg__rank *out, bool *ok) {
  const int nd = out->ndropped;
  mbg__arena scratch;
  mbg__lu lu;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  out->T = MBG_TAKE(arena, double, (size_t)nd *(size_t)out->nkept);
  real *x = MBG_TAKE(&scratch, real, nd);
  (void)mbg__lu_prepare(&lu, &scratch, nd);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int i = 0; i < nd; i++) {
    for (int d = 0; d < nd; d++) {
      lu.A[d + nd * i] = null_entry(old, out->dropped[i], d);
    }
  }
  *ok = mbg__lu_factor(&lu, NULL) == MBG_OK && mbg__lu_ratio(&lu, NULL) > 1e-3;
  for (int k = 0; *ok && k < out->nkept; k++) {
    for (int d = 0; d < nd; d++) {
      x[d] = -null_entry(old, out->kept[k], d);
    }
    mbg__lu_solve(&lu, x, 1);
    for (int i = 0; i < nd; i++) {
      out->T[(size_t)i * (size_t)out->nkept + (size_t)k] = re(x[i]);
    }
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}

int mbg__rank_choose(mbg_context *ctx, mbg__arena *arena, mbg__rank *rank, const int *dropped, mbg__rank **out) {
  bool ok = false;
  mbg__rank *r = take_rank(ctx, arena, rank->nrow);
  *out = rank;
  if (!r) {
    return MBG_ERROR_MEMORY;
  }
  r->smallest = rank->smallest;
  for (int i = 0; i < rank->ndropped; i++) {
    r->keep[dropped[i]] = false;
  }
  list_kept(r);
  const int err = new_dependence(ctx, arena, rank, r, &ok);
  if (err == MBG_OK && ok) {
    *out = r;
  }
  return err;
}

/* ---------------------------------------------------------------------- uses */

int mbg__rank_motions(mbg_context *ctx, const mbg__rank *rank, const mbg__system *s, const real *B, double *Z) {
  const mbg_model *m = s->model;
  const mbg__csc *p = &s->patB;
  const size_t nv = (size_t)m->nv;
  const int n = m->nv - rank->nkept;
  mbg__arena scratch;
  mbg__qr qr;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  int *place = MBG_TAKE(&scratch, int, m->nrow);
  double *W = MBG_TAKE(&scratch, double, m->nv);
  (void)mbg__qr_prepare(&qr, &scratch, m->nv, rank->nkept);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  mbg__metric_free(m, W);
  for (int i = 0; i < rank->nkept; i++) {
    place[rank->kept[i]] = i;
  }
  for (int j = 0; j < m->nv; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      if (rank->keep[p->rowind[i]]) {
        qr.A[(size_t)j + nv * (size_t)place[p->rowind[i]]] = re(B[i]) / sqrt(W[j]);
      }
    }
  }
  if (rank->nkept > 0 && mbg__qr_factor(&qr) < 0) {
    err = mbg__fail(ctx, MBG_ERROR_SINGULAR, "the constraints are not finite");
    goto done;
  }
  memset(Z, 0, nv * (size_t)n * sizeof(double));
  for (int k = 0; k < n; k++) {
    Z[(size_t)(rank->nkept + k) + nv * (size_t)k] = 1;
  }
  if (rank->nkept > 0) {
    mbg__qr_mul_Q(&qr, Z, n);
  }
  for (size_t k = 0; k < nv * (size_t)n; k++) {
    Z[k] /= sqrt(W[k % nv]);
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}

/* wrench on B of a null vector of B^T: lambda_d = 1, lambda_I = -T_d; *scale: sum of |lambda| */
static void null_wrench(const mbg__system *s, const mbg__rank *rank, int d, const mbg__signal *sig, int pair, real f[6],
                        double *scale) {
  const mbg_model *m = s->model;
  const double *T = rank->T + (size_t)d * (size_t)rank->nkept;
  v6_zero(f);
  *scale = 0;
  for (int i = 0; i < sig->nrows; i++) {
    const mbg__row *row = &m->rows[sig->rows[i]];
    double lambda = sig->rows[i] == rank->dropped[d] ? 1 : 0;
    for (int k = 0; k < rank->nkept; k++) {
      lambda -= rank->kept[k] == sig->rows[i] ? T[k] : 0;
    }
    *scale += fabs(lambda);
    for (int k = row->term; k < row->term + row->nterm; k++) {
      if (m->terms[k].pair == pair) {
        v6_axpy(f, lambda, s->term[k].b);
      }
    }
  }
}

bool mbg__rank_reaction_unique(const mbg__system *s, const mbg__rank *rank, int signal) {
  const mbg__signal *sig = &s->model->signals[signal];
  const int pair = mbg__reaction_pair(s->model, sig);
  for (int d = 0; d < rank->ndropped; d++) {
    real f[6];
    double scale;
    null_wrench(s, rank, d, sig, pair, f, &scale);
    if (fabs(re(mbg__wrench_component(s, pair, sig->opt, f))) > 1e-6 * fmax(1, scale)) {
      return false;
    }
  }
  return true;
}

int mbg__rank_inconsistent(const mbg__rank *rank, const real *dphi, double floor) {
  int worst = -1;
  double most = 0, size = 0;
  for (int i = 0; i < rank->nrow; i++) {
    size = fmax(size, fabs(re(dphi[i])));
  }
  for (int d = 0; d < rank->ndropped; d++) {
    double x = re(dphi[rank->dropped[d]]);
    for (int k = 0; k < rank->nkept; k++) {
      x -= rank->T[(size_t)d * (size_t)rank->nkept + (size_t)k] * re(dphi[rank->kept[k]]);
    }
    if (fabs(x) > most) {
      most = fabs(x);
      worst = rank->dropped[d];
    }
  }
  return most > fmax(1e-6 * size, floor) ? worst : -1;
}

int mbg__rank_check(mbg_context *ctx, const mbg_model *m, const mbg__rank *rank, double t, const real *phi,
                    double tolerance) {
  for (int i = 0; i < rank->ndropped; i++) {
    const double violation = fabs(re(phi[rank->dropped[i]]));
    if (violation > tolerance * fmax(1, m->size)) {
      return mbg__rank_lost(ctx, m, rank->dropped[i], t, violation, -1);
    }
  }
  return MBG_OK;
}

int mbg__rank_lost(mbg_context *ctx, const mbg_model *m, int row, double t, double violation, double rate) {
  char label[160], by_rate[40] = "";
  mbg__row_label(m, row, label, sizeof(label));
  if (rate >= 0) {
    mbg__format(by_rate, sizeof(by_rate), " (rate %.2e)", rate);
  }
  return mbg__fail(ctx, MBG_ERROR_SINGULAR,
                   "redundant constraint became independent at t = %g: %s is violated by %.2e%s; the start, where it "
                   "follows from the others, is a singular configuration: start elsewhere",
                   mbg__time_shown(t), label, violation, by_rate);
}
