#include "system/saddle.h"

#include "math/vec.h"
#include "system/system_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- pattern */

/* entries of the pattern, listed in a fixed order: K, B and B^T, diagonal, further rows */
typedef struct {
  int n;
  int *row, *col;
} entries;

static void entry(entries *e, int row, int col) {
  e->row[e->n] = row;
  e->col[e->n++] = col;
}

/* free velocities of the bodies that a further row acts on */
static int extra_count(const mbg__saddle *k, int q) {
  int n = 0;
  for (int i = 0; i < mbg__pair_parts(k->sys, k->extra[q]); i++) {
    n += k->sys->nfree[mbg__pair_part(k->sys, k->extra[q], i)];
  }
  return n;
}

static void list_extra(const mbg__saddle *k, entries *e) {
  const mbg__system *s = k->sys;
  const mbg_model *m = s->model;
  for (int q = 0; q < k->nextra; q++) {
    for (int t = 0; t < 2; t++) {
      for (int i = 0; i < mbg__pair_parts(s, k->extra[q]); i++) {
        const int body = mbg__pair_part(s, k->extra[q], i);
        for (int j = 0; j < s->nfree[body]; j++) {
          const int c = m->dof[m->bodies[body].voff + s->free_[body][j]], r = m->nv + m->nrow + q;
          entry(e, t ? c : r, t ? r : c);
        }
      }
    }
  }
}

static void list_entries(const mbg__saddle *k, entries *e) {
  const mbg__system *s = k->sys;
  const mbg_model *m = s->model;
  for (int j = 0; j < m->nv; j++) {
    for (int i = s->patK.colptr[j]; i < s->patK.colptr[j + 1]; i++) {
      entry(e, s->patK.rowind[i], j);
    }
  }
  for (int t = 0; t < 2; t++) {
    for (int j = 0; j < m->nv; j++) {
      for (int i = s->patB.colptr[j]; i < s->patB.colptr[j + 1]; i++) {
        entry(e, t ? j : m->nv + s->patB.rowind[i], t ? m->nv + s->patB.rowind[i] : j);
      }
    }
  }
  for (int i = m->nv; i < k->n; i++) {
    entry(e, i, i);
  }
  for (int i = 0; i < s->nlate * m->nrow; i++) {
    entry(e, s->late_row[i / m->nrow], m->nv + i % m->nrow);
  }
  list_extra(k, e);
}

static int take_slots(mbg_context *ctx, mbg__arena *arena, mbg__saddle *k, const int *slot) {
  const mbg__system *s = k->sys;
  const int nK = mbg__csc_count(&s->patK), nB = mbg__csc_count(&s->patB);
  const int fixed = nK + 2 * nB + s->model->nrow + k->nextra + s->nlate * s->model->nrow;
  int *copy = MBG_TAKE(arena, int, fixed);
  k->slotE = mbg__arena_take(arena, (size_t)k->nextra, sizeof(*k->slotE));
  k->row = MBG_TAKE(arena, real, s->model->nw);
  k->rest = MBG_TAKE(arena, real, 2 * k->n);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  memcpy(copy, slot, (size_t)fixed * sizeof(int));
  k->slotK = copy;
  k->slotB[0] = copy + nK;
  k->slotB[1] = k->slotB[0] + nB;
  k->slotD = k->slotB[1] + nB;
  k->slotL = k->slotD + s->model->nrow + k->nextra;
  slot += fixed;
  for (int q = 0; q < k->nextra; q++) {
    const int n = extra_count(k, q);
    for (int t = 0; t < 2; t++) {
      k->slotE[q][t] = MBG_TAKE(arena, int, n);
      if (mbg__arena_check(ctx, arena) < 0) {
        return MBG_ERROR_MEMORY;
      }
      memcpy(k->slotE[q][t], slot, (size_t)n * sizeof(int));
      slot += n;
    }
  }
  return MBG_OK;
}

int mbg__saddle_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, int nextra, const int *extra,
                       mbg__klu_mode mode, mbg__saddle *k) {
  const mbg_model *m = sys->model;
  mbg__arena scratch;
  size_t most = (size_t)mbg__csc_count(&sys->patK) + 2 * (size_t)mbg__csc_count(&sys->patB) + (size_t)m->nrow;
  most += (size_t)sys->nlate * (size_t)m->nrow;
  entries e = {0};
  int err = MBG_OK;
  *k = (mbg__saddle){.sys = sys, .n = m->nv + m->nrow + nextra, .nextra = nextra, .extra = extra};
  for (int q = 0; q < nextra; q++) {
    most += 1 + 2 * (size_t)extra_count(k, q);
  }
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  e.row = MBG_TAKE(&scratch, int, most);
  e.col = MBG_TAKE(&scratch, int, most);
  int *slot = MBG_TAKE(&scratch, int, most);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  list_entries(k, &e);
  if (mbg__csc_build(&k->A, arena, k->n, k->n, e.n, e.row, e.col, slot) < 0) {
    err = mbg__fail_memory(ctx);
    goto MBG__TO(done);
  }
  MBG_TRY(take_slots(ctx, arena, k, slot));
  if (mbg__klu_prepare(&k->klu, mbg__context_allocator(ctx), &k->A, mode, m->nv) < 0) {
    err = mbg__fail_memory(ctx);
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}

void mbg__saddle_destroy(mbg__saddle *k) {
  mbg__klu_destroy(k->klu);
  k->klu = NULL;
}

/* ---------------------------------------------------------------------- values */

void mbg__saddle_clear(mbg__saddle *k) { mbg__csc_zero(&k->A); }

void mbg__saddle_add_K(mbg__saddle *k, real c, const real *K) {
  const int n = mbg__csc_count(&k->sys->patK);
  for (int i = 0; i < n; i++) {
    k->A.val[k->slotK[i]] += c * K[i];
  }
}

void mbg__saddle_add_sum(mbg__saddle *k, const real c[3], const real *A, const real *B, const real *C) {
  const int n = mbg__csc_count(&k->sys->patK);
  const real a = c[0], b = c[1], d = c[2];
  for (int i = 0; i < n; i++) {
    k->A.val[k->slotK[i]] += a * A[i] + b * B[i] + d * C[i];
  }
}

void mbg__saddle_add_body(mbg__saddle *k, int body, real c, const real A[36]) {
  const mbg__system *s = k->sys;
  const int *column = s->blocks[s->body_block[body]].column;
  for (int j = 0; j < s->nfree[body]; j++) {
    for (int i = 0; i < s->nfree[body]; i++) {
      k->A.val[k->slotK[column[j] + i]] += c * A[6 * s->free_[body][i] + s->free_[body][j]];
    }
  }
}

void mbg__metric_free(const mbg_model *m, double *W) {
  for (int b = 0; b < m->nbody; b++) {
    for (int k = 0; k < m->bodies[b].nvel; k++) {
      const int j = m->dof[m->bodies[b].voff + k];
      if (j >= 0) {
        W[j] = mbg__metric(m, k);
      }
    }
  }
}

void mbg__saddle_add_metric(mbg__saddle *k, real c) {
  const mbg__system *s = k->sys;
  for (int b = 0; b < s->model->nbody; b++) {
    const int *column = s->blocks[s->body_block[b]].column;
    for (int i = 0; i < s->nfree[b]; i++) {
      k->A.val[k->slotK[column[i] + i]] += c * mbg__metric(s->model, s->free_[b][i]);
    }
  }
}

void mbg__saddle_add_rows(mbg__saddle *k, const real *lower, const real *upper, const bool *keep,
                          const real *diagonal) {
  const mbg__csc *p = &k->sys->patB;
  const int n = mbg__csc_count(p);
  for (int i = 0; i < n; i++) {
    if (!keep || keep[p->rowind[i]]) {
      k->A.val[k->slotB[0][i]] += lower[i];
      k->A.val[k->slotB[1][i]] += upper[i];
    }
  }
  for (int i = 0; i < p->nrow; i++) {
    const bool kept = !keep || keep[i];
    k->A.val[k->slotD[i]] += !kept ? 1 : diagonal ? diagonal[i] : 0;
  }
}

void mbg__saddle_add_late(mbg__saddle *k, const real *late, const bool *keep) {
  const int nrow = k->sys->model->nrow;
  for (int i = 0; i < k->sys->nlate * nrow; i++) {
    k->A.val[k->slotL[i]] += !keep || keep[i % nrow] ? late[i] : 0;
  }
}

void mbg__saddle_add_extra(mbg__saddle *k, int q, const real gradient[6], bool active, real diagonal) {
  static const real zero[6] = {0};
  const mbg__system *s = k->sys;
  const int pair = k->extra[q];
  int n = 0;
  if (active) {
    mbg__kin_pair_pull(s, pair, gradient, zero, NULL, &(mbg__cotangent){.w = k->row});
  }
  for (int i = 0; active && i < mbg__pair_parts(s, pair); i++) {
    const int body = mbg__pair_part(s, pair, i);
    real *x = k->row + s->model->bodies[body].voff;
    for (int j = 0; j < s->nfree[body]; j++, n++) {
      k->A.val[k->slotE[q][0][n]] += x[s->free_[body][j]];
      k->A.val[k->slotE[q][1][n]] += x[s->free_[body][j]];
    }
    v6_zero(x);
  }
  k->A.val[k->slotD[s->model->nrow + q]] += active ? diagonal : 1;
}

/* ---------------------------------------------------------------------- factors */

/* which body or row an unknown belongs to */
static void label_unknown(const mbg_model *m, int where, char *label, size_t size) {
  if (where >= 0 && where < m->nv) {
    int body = 0;
    while (body + 1 < m->nbody && m->bodies[body + 1].voff <= m->full[where]) {
      body++;
    }
    mbg__format(label, size, "body '%s'", m->bodies[body].name);
  } else if (where >= m->nv && where < m->nv + m->nrow) {
    mbg__row_label(m, where - m->nv, label, size);
  } else {
    mbg__format(label, size, "the pins");
  }
}

int mbg__saddle_factor(mbg_context *ctx, mbg__saddle *k, const char *what) {
  int where = -1;
  const int err = mbg__klu_factor(k->klu, &where);
  if (err == MBG_ERROR_MEMORY) {
    return mbg__fail_memory(ctx);
  }
  if (err < 0) {
    char label[160];
    label_unknown(k->sys->model, where, label, sizeof(label));
    return mbg__fail(ctx, MBG_ERROR_SINGULAR, "%s: the system is singular (look at %s)", what, label);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- solution */

enum { REFINE_MAX = 6 };

static void solve(const mbg__saddle *k, bool transposed, real *x, int count) {
  if (transposed) {
    mbg__klu_solve_T(k->klu, x, count);
  } else {
    mbg__klu_solve(k->klu, x, count);
  }
}

static mbg__part largest(int n, const real *x) {
  mbg__part most = 0;
  for (int i = 0; i < n; i++) {
    const mbg__part size = fabs(re(x[i]));
    most = r_where_part(size <= most, most, size); /* NaN stays */
  }
  return most;
}

/* x <- A^-1 x with corrections from the residual as long as they become smaller */
static void solve_refined(const mbg__saddle *k, bool transposed, real *x) {
  const int n = k->n, nv = k->sys->model->nv;
  real *b = k->rest, *d = b + n;
  double last = INFINITY;
  vn_copy(n, b, x);
  solve(k, transposed, x, 1);
  for (int round = 0; round < REFINE_MAX; round++) {
    vn_copy(n, d, b);
    if (transposed) {
      mbg__csc_mul_T_add(d, -1, &k->A, x, 1);
    } else {
      mbg__csc_mul_add(d, -1, &k->A, x, 1);
    }
    solve(k, transposed, d, 1);
    const double change = largest(nv, d);
    if (!(change < 0.5 * last)) {
      break;
    }
    vn_axpy(n, x, 1, d);
    last = change;
  }
}

void mbg__saddle_solve(mbg__saddle *k, bool transposed, bool refine, real *x, int count) {
  if (!refine) {
    solve(k, transposed, x, count);
  }
  for (int i = 0; refine && i < count; i++) {
    solve_refined(k, transposed, x + (size_t)i * (size_t)k->n);
  }
}

/* ---------------------------------------------------------------------- products with blocks */

/* entry e of six columns */
static void row_times(const real *in, const real T[36], const int start[6], int e, real *out) {
  real y[6] = {0};
  for (int k = 0; k < 6; k++) {
    v6_axpy(y, in[start[k] + e], T + 6 * k);
  }
  for (int j = 0; j < 6; j++) {
    out[start[j] + e] = y[j];
  }
}

/* The free columns of a body have equal row patterns: entry e of one column stands beside entry e of the others. */
int mbg__body_columns(const mbg__system *s, const mbg__csc *p, int body, int start[6], int comp[6], int *count) {
  const mbg_model *m = s->model;
  const int n = s->nfree[body];
  *count = 0;
  for (int k = 0; k < n; k++) {
    const int column = m->dof[m->bodies[body].voff + s->free_[body][k]];
    comp[k] = s->free_[body][k];
    start[k] = p->colptr[column];
    *count = p->colptr[column + 1] - p->colptr[column];
  }
  return n;
}

/* three columns, whose entries are far from each other */
static void three_times(int count, const real *in, const real T[9], const int start[3], real *restrict out) {
  const real *a = in + start[0], *b = in + start[1], *c = in + start[2];
  for (int j = 0; j < 3; j++) {
    const real t0 = T[j], t1 = T[3 + j], t2 = T[6 + j];
    real *to = out + start[j];
    for (int e = 0; e < count; e++) {
      to[e] = a[e] * t0 + b[e] * t1 + c[e] * t2;
    }
  }
}

void mbg__columns_times(const mbg__system *s, const mbg__csc *p, const real *in, const real *T, real *out) {
  for (int b = 0; b < s->model->nbody; b++) {
    const real *Tb = T + 36 * (size_t)b;
    int start[6] = {0}, comp[6] = {0}, count;
    const int n = mbg__body_columns(s, p, b, start, comp, &count);
    if (n == 3) {
      real t[9];
      for (int k = 0; k < 9; k++) {
        t[k] = Tb[6 * comp[k / 3] + comp[k % 3]];
      }
      three_times(count, in, t, start, out);
      continue;
    }
    for (int e = 0; n == 6 && e < count; e++) {
      row_times(in, T + 36 * (size_t)b, start, e, out);
    }
    for (int e = 0; n < 6 && e < count; e++) {
      for (int j = 0; j < n; j++) {
        real x = 0;
        for (int k = 0; k < n; k++) {
          x += in[start[k] + e] * Tb[6 * comp[k] + comp[j]];
        }
        out[start[j] + e] = x;
      }
    }
  }
}
