/* Matrices over joint coordinates. The columns of a body are the coordinates on its path to the ground. With J (6 x
   path) and the variations Je, Jn, Ja of frame, twist and rate by the increment of a step, scaled by h^2/4,

     M + h/2 C + h^2/4 K T = sum over blocks (Q, P) of the bodies' matrices  J_Q^T (K_QP Je_P + C_QP Jn_P + M_QP Ja_P)
                             - sum over links J_p^T X^T ad(theta)^T f

   Cost: the squares of path lengths. */
#include "tree/tree_internal.h"
#include "tree/tree_modal.h"
#include "tree/tree_recursion.h"

#include <string.h>

/* ---------------------------------------------------------------------- columns */

static int path_length(const mbg__tree *t, int k) { return t->col0[k + 1] - t->col0[k]; }

static int too_deep(mbg_context *ctx, const mbg__tree *t) {
  return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                   "the tree is too deep for matrices in joint coordinates (%d bodies); use formulation 'lie'",
                   t->m->nbody);
}

static int list_paths(mbg_context *ctx, mbg__tree *t) {
  const int n = t->m->nbody;
  double total = 0;
  int longest = 0;
  t->col0 = MBG_TAKE(&t->arena, int, n + 1);
  if (!t->col0) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < n; k++) {
    const int p = t->links[k].parent, more = mbg__tree_on_modes(t, k) ? mbg__tree_modal_more(t, k) : 0;
    const int length = (p >= 0 ? path_length(t, p) : 0) + t->links[k].nz + more;
    total += length;
    if (total > 1e8) {
      return too_deep(ctx, t);
    }
    t->col0[k + 1] = t->col0[k] + length;
    longest = length > longest ? length : longest;
  }
  t->path = MBG_TAKE(&t->arena, int, t->col0[n]);
  t->J = MBG_TAKE(&t->arena, vec6, t->col0[n]);
  t->Je = MBG_TAKE(&t->arena, vec6, t->col0[n]);
  t->Jn = MBG_TAKE(&t->arena, vec6, t->col0[n]);
  t->Ja = MBG_TAKE(&t->arena, vec6, t->col0[n]);
  t->work = MBG_TAKE(&t->arena, vec6, longest);
  if (t->arena.failed) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < n; k++) {
    const mbg__link *l = &t->links[k];
    int at = t->col0[k];
    for (int i = 0; l->parent >= 0 && i < path_length(t, l->parent); i++) {
      t->path[at++] = t->path[t->col0[l->parent] + i];
    }
    for (int i = 0; i < l->nz; i++) {
      t->path[at++] = l->first + i;
    }
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_more_columns(t, k, t->path + at);
    }
  }
  return t->modal ? mbg__tree_modal_paths(ctx, t) : MBG_OK;
}

/* places in B of a row on a body; the pattern is by columns */
static int list_row_blocks(mbg_context *ctx, mbg__tree *t) {
  const mbg_model *m = t->m;
  const mbg__csc *B = mbg__system_pattern_B(t->sys);
  int *last = MBG_TAKE(&t->arena, int, m->nrow), *number = MBG_TAKE(&t->arena, int, m->nrow);
  const int most = mbg__csc_count(B);
  t->block_row = MBG_TAKE(&t->arena, int, most);
  t->block_link = MBG_TAKE(&t->arena, int, most);
  t->block_slot = mbg__arena_take(&t->arena, (size_t)most, sizeof(*t->block_slot));
  if (t->arena.failed) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < m->nrow; i++) {
    last[i] = number[i] = -1;
  }
  for (int i = 0; i < t->nrow; i++) {
    number[t->rows[i]] = i;
  }
  for (int b = 0; b < m->nbody; b++) {
    for (int i = 0; i < t->sys->nfree[b]; i++) {
      const int j = m->dof[m->bodies[b].voff + t->sys->free_[b][i]];
      for (int e = B->colptr[j]; e < B->colptr[j + 1]; e++) {
        const int row = B->rowind[e];
        if (number[row] < 0) {
          continue;
        }
        /* all free columns of a body have the same rows */
        if (i == 0) {
          last[row] = t->nblock_row;
          t->block_row[t->nblock_row] = number[row];
          t->block_link[t->nblock_row++] = t->link_of[b];
        }
        t->block_slot[last[row]][i] = e;
      }
    }
  }
  return MBG_OK;
}

static void mark_pair(const mbg__tree *t, int pair) {
  for (int i = 0; i < 4; i++) {
    const int b = t->sys->pair_blocks[pair].block[i / 2][i % 2];
    if (b >= 0) {
      t->used[b] = true;
    }
  }
}

/* blocks of bodies, of forces, of rows that are not held, and of signals in force laws */
static void mark_blocks(mbg__tree *t) {
  const mbg_model *m = t->m;
  const mbg__system *s = t->sys;
  for (int b = 0; b < s->nblock; b++) {
    t->used[b] = t->coupled || s->blocks[b].Q == s->blocks[b].P;
  }
  for (int i = 0; i < m->nforce; i++) {
    mark_pair(t, m->forces[i].pair);
  }
  for (int i = 0; i < t->nrow; i++) {
    const mbg__row *row = &m->rows[t->rows[i]];
    for (int k = row->term; k < row->term + row->nterm; k++) {
      if (m->terms[k].pair >= 0) {
        mark_pair(t, m->terms[k].pair);
      }
    }
  }
  for (int c = 0; c < s->ncross; c++) {
    for (int k = 0; k < s->cross[c].nbase; k++) {
      for (int i = 0; i < 4; i++) {
        const int b = s->cross[c].block[k][i / 2][i % 2];
        if (b >= 0) {
          t->used[b] = true;
        }
      }
    }
  }
}

int mbg__tree_blocks(mbg_context *ctx, mbg__tree *t) {
  const int nblock = t->sys->nblock;
  t->used = MBG_TAKE(&t->arena, bool, nblock);
  t->slopes = (mbg__dense){.used = t->used,
                           .K = MBG_TAKE(&t->arena, mat6, nblock),
                           .C = MBG_TAKE(&t->arena, mat6, nblock),
                           .has_K = MBG_TAKE(&t->arena, bool, nblock),
                           .has_C = MBG_TAKE(&t->arena, bool, nblock)};
  if (t->coupled) {
    const int count = mbg__csc_count(mbg__system_pattern_K(t->sys));
    t->K = MBG_TAKE(&t->arena, real, count);
    t->C = MBG_TAKE(&t->arena, real, count);
    t->M = MBG_TAKE(&t->arena, real, count);
    t->mass = MBG_TAKE(&t->arena, mat6, nblock);
    t->has_mass = MBG_TAKE(&t->arena, bool, nblock);
    t->late = MBG_TAKE(&t->arena, real, mbg__system_late_rows(t->sys, NULL) * t->m->nrow + 1);
  }
  if (!t->arena.failed) {
    mark_blocks(t);
  }
  return mbg__arena_check(ctx, &t->arena);
}

static int columns_create(mbg_context *ctx, mbg__tree *t) {
  double slots = 0;
  int err = MBG_OK;
  MBG_TRY(t->used ? MBG_OK : mbg__tree_blocks(ctx, t));
  t->B = MBG_TAKE(&t->arena, real, mbg__csc_count(mbg__system_pattern_B(t->sys)));
  t->Z = mbg__model_has_rates(t->m) ? MBG_TAKE(&t->arena, real, mbg__csc_count(mbg__system_pattern_B(t->sys))) : NULL;
  MBG_TRY(list_paths(ctx, t));
  MBG_TRY(list_row_blocks(ctx, t));
  for (int b = 0; b < t->sys->nblock; b++) {
    const mbg__block *block = &t->sys->blocks[b];
    slots += !t->used[b] ? 0 : (double)path_length(t, t->link_of[block->Q]) * path_length(t, t->link_of[block->P]);
  }
  for (int i = 0; i < t->nblock_row; i++) {
    t->nrow_slots += path_length(t, t->block_link[i]);
  }
  if (slots > 5e7) {
    err = too_deep(ctx, t);
  }
  t->nslots = (int)slots;
done:
  return err;
}

/* ---------------------------------------------------------------------- patterns */

static void list_entries(const mbg__tree *t, int *row, int *col) {
  int n = 0;
  for (int b = 0; b < t->sys->nblock; b++) {
    const int Q = t->link_of[t->sys->blocks[b].Q], P = t->link_of[t->sys->blocks[b].P];
    for (int i = t->col0[Q]; t->used[b] && i < t->col0[Q + 1]; i++) {
      for (int j = t->col0[P]; j < t->col0[P + 1]; j++, n++) {
        row[n] = t->path[i];
        col[n] = t->path[j];
      }
    }
  }
  for (int i = 0; i < t->nblock_row; i++) {
    for (int j = t->col0[t->block_link[i]]; j < t->col0[t->block_link[i] + 1]; j++, n++) {
      row[n] = t->n + t->block_row[i];
      col[n] = t->path[j];
      row[n + t->nrow_slots] = t->path[j];
      col[n + t->nrow_slots] = t->n + t->block_row[i];
    }
  }
  n += t->nrow_slots;
  for (int i = 0; i < t->nrow; i++, n++) {
    row[n] = col[n] = t->n + i;
  }
}

int mbg__tree_matrix_create(mbg_context *ctx, mbg__tree *t, mbg__klu_mode mode, mbg__tree_matrix *x) {
  int err = t->col0 ? MBG_OK : columns_create(ctx, t);
  *x = (mbg__tree_matrix){0};
  if (err < 0) {
    return err;
  }
  const int count = t->nslots + 2 * t->nrow_slots + t->nrow;
  int *row = mbg__alloc(ctx, (size_t)count + 1, sizeof(int)), *col = mbg__alloc(ctx, (size_t)count + 1, sizeof(int));
  *x = (mbg__tree_matrix){.slots = MBG_TAKE(&t->arena, int, count)};
  if (!row || !col || !x->slots) {
    err = mbg__fail_memory(ctx);
    goto MBG__TO(done);
  }
  list_entries(t, row, col);
  if (mbg__csc_build(&x->A, &t->arena, t->n + t->nrow, t->n + t->nrow, count, row, col, x->slots) < 0 ||
      mbg__klu_prepare(&x->klu, mbg__context_allocator(ctx), &x->A, mode, t->n) < 0) {
    err = mbg__fail_memory(ctx);
    goto MBG__TO(done);
  }
  x->row_slot = x->slots + t->nslots;
  x->diagonal = x->row_slot + 2 * t->nrow_slots;
done:
  mbg__free(ctx, row);
  mbg__free(ctx, col);
  return err;
}

/* ---------------------------------------------------------------------- values of the columns */

/* J = (X J_p, Sb) */
static void motions(mbg__tree *t) {
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    const int n = l->parent >= 0 ? path_length(t, l->parent) : 0;
    vec6 *J = t->J + t->col0[k];
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_motions(t, k);
      continue;
    }
    for (int i = 0; i < n; i++) {
      AdInv_mul(J[i], &t->Rel[k], t->J[t->col0[l->parent] + i]);
    }
    memcpy(J + n, t->Sb + l->first, (size_t)l->nz * sizeof(vec6));
  }
}

/* a sparse matrix of the system as blocks, each transposed; has: those that are not 0 */
static void take_blocks(const mbg__tree *t, const real *val, mat6 *blocks, bool *has) {
  const mbg__system *s = t->sys;
  for (int b = 0; b < s->nblock; b++) {
    const mbg__block *block = &s->blocks[b];
    const int nQ = s->nfree[block->Q], nP = s->nfree[block->P];
    has[b] = false;
    m6_zero(blocks[b]);
    for (int i = 0; i < nQ * nP; i++) {
      const real x = val[block->column[i % nP] + i / nP];
      blocks[b][6 * s->free_[block->P][i % nP] + s->free_[block->Q][i / nP]] = x;
      has[b] = has[b] || r_some(x != 0);
    }
  }
}

/* the same where mass matrices couple bodies */
static void place_coupled(mbg__tree *t, mbg__dense *slopes) {
  /* late rates (mbg__system_late) belong to the matrix of the step, not to the mass matrix */
  const bool late = mbg__system_has_late(t->sys), placed = t->placed && !late;
  if (slopes || !placed) {
    mbg__system_matrices(t->sys, &(mbg__matrices){.K = slopes ? t->K : NULL,
                                                  .C = slopes ? t->C : NULL,
                                                  .M = placed ? NULL : t->M,
                                                  .B = placed ? NULL : t->B,
                                                  .Z = slopes ? t->Z : NULL,
                                                  .late = slopes && late ? t->late : NULL});
  }
  if (slopes) {
    take_blocks(t, t->K, slopes->K, slopes->has_K);
    take_blocks(t, t->C, slopes->C, slopes->has_C);
  }
  if (!placed) {
    take_blocks(t, t->M, t->mass, t->has_mass);
    motions(t);
  }
  t->placed = true;
}

/* J and B, unless they are up to date, and the slopes of the forces if wanted */
static void place(mbg__tree *t, mbg__dense *slopes) {
  if (t->coupled) {
    place_coupled(t, slopes);
    return;
  }
  if (slopes || !t->placed) {
    const mbg__matrices out = {.B = t->placed ? NULL : t->B, .Z = slopes ? t->Z : NULL, .dense = slopes};
    mbg__system_matrices(t->sys, &out);
  }
  if (!t->placed) {
    motions(t);
  }
  t->placed = true;
}

/* column i of a joint: theta = h^2/4 Sb T e_i, ds = h/2 Sb e_i, Sb e_i for the rate; T (6x6) NULL: 1 */
static void own_column(const mbg__tree *t, int k, int i, real h, const real *T, real theta[6], real nu[6], real al[6]) {
  const mbg__link *l = &t->links[k];
  const int off = link_off(t, k);
  real ds[6], c[6];
  v6_scale(theta, T ? h * h / 4 * T[7 * l->comp[i]] : h * h / 4, t->Sb[l->first + i]);
  for (int j = 0; T && j < l->nz; j++) {
    if (j != i) {
      v6_axpy(theta, h * h / 4 * T[6 * l->comp[j] + l->comp[i]], t->Sb[l->first + j]);
    }
  }
  v6_scale(ds, h / 2, t->Sb[l->first + i]);
  ad_mul(nu, t->Xv + off, theta);
  v6_axpy(nu, 1, ds);
  ad_mul(al, t->Xvd + off, theta);
  v6_axpy(al, 1, t->Sb[l->first + i]);
  ad_mul(c, t->s + off, nu);
  v6_axpy(al, -1, c);
  ad_mul(c, t->v + off, ds);
  v6_axpy(al, 1, c);
}

void mbg__tree_own_columns(const mbg__tree *t, int k, real h, const real *D, vec6 *Je, vec6 *Jn, vec6 *Ja, int step) {
  const mbg__link *l = &t->links[k];
  real T[36];
  if (!l->simple) {
    mbg__tree_tangent_matrix(l, D, T);
  }
  for (int i = 0; i < l->nz; i++) {
    own_column(t, k, i, h, l->simple ? NULL : T, Je[step * i], Jn[step * i], Ja[step * i]);
  }
}

static void variations(mbg__tree *t, real h, const real *D) {
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    const int n = l->parent >= 0 ? path_length(t, l->parent) : 0;
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_variations(t, k, h, D);
      continue;
    }
    for (int i = 0; i < n; i++) {
      const int at = t->col0[k] + i, from = t->col0[l->parent] + i;
      real c[6];
      AdInv_mul(t->Je[at], &t->Rel[k], t->Je[from]);
      AdInv_mul(t->Jn[at], &t->Rel[k], t->Jn[from]);
      AdInv_mul(t->Ja[at], &t->Rel[k], t->Ja[from]);
      ad_mul(c, t->s + link_off(t, k), t->Jn[at]);
      v6_axpy(t->Ja[at], -1, c);
    }
    const int own = t->col0[k] + n;
    mbg__tree_own_columns(t, k, h, D, t->Je + own, t->Jn + own, t->Ja + own, 1);
  }
}

/* ---------------------------------------------------------------------- blocks */

/* work += A x for columns x of a block of the bodies' matrices; A by columns, so that sums run along six rows */
static void block_times(const mbg__tree *t, const real A[36], const vec6 *x, int n) {
  for (int c = 0; c < n; c++) {
    m6_mulv_T_add(t->work[c], A, x[c]);
  }
}

/* A at the slots += J^T work */
static void project(const mbg__tree *t, mbg__tree_matrix *x, const int *slot, int Q, int n) {
  for (int i = t->col0[Q]; i < t->col0[Q + 1]; i++) {
    for (int c = 0; c < n; c++) {
      x->A.val[*slot++] += v6_dot(t->J[i], t->work[c]);
    }
  }
}

/* J_p^T X^T (-ad(theta)^T f) for the columns of a link; slot: of its diagonal block */
static void geometry(const mbg__tree *t, mbg__tree_matrix *x, const int *slot, int k) {
  const mbg__link *l = &t->links[k];
  const int n = path_length(t, k), before = n - l->nz;
  for (int i = 0; i < l->nz; i++) {
    real c[6], y[6];
    adT_mul(c, t->Je[t->col0[k] + before + i], t->f + link_off(t, k));
    AdInvT_mul(y, &t->Rel[k], c);
    for (int r = 0; r < before; r++) {
      x->A.val[slot[r * n + before + i]] -= v6_dot(t->J[t->col0[l->parent] + r], y);
    }
  }
}

static bool has_mass(const mbg__tree *t, int b) {
  return t->coupled ? t->has_mass[b] : t->sys->blocks[b].Q == t->sys->blocks[b].P;
}

/* work = M_QP x for columns x of a block */
static void mass_times(const mbg__tree *t, int b, const vec6 *x, int n) {
  for (int c = 0; c < n; c++) {
    if (t->coupled) {
      m6_mulv_T(t->work[c], t->mass[b], x[c]);
    } else {
      m6_mulv(t->work[c], t->design->M + 36 * t->sys->blocks[b].Q, x[c]);
    }
  }
}

static void dynamics(mbg__tree *t, mbg__tree_matrix *x, real h, const real *D) {
  const int *slot = x->slots;
  for (int b = 0; b < t->sys->nblock; b++) {
    const mbg__block *block = &t->sys->blocks[b];
    const int Q = t->link_of[block->Q], P = t->link_of[block->P], n = path_length(t, P), at = t->col0[P];
    if (!t->used[b]) {
      continue;
    }
    if (Q != P && !has_mass(t, b) && !t->slopes.has_K[b] && !t->slopes.has_C[b]) {
      slot += path_length(t, Q) * n;
      continue;
    }
    if (has_mass(t, b)) {
      mass_times(t, b, (const vec6 *)t->Ja + at, n);
    } else {
      memset(t->work, 0, (size_t)n * sizeof(vec6));
    }
    if (t->slopes.has_K[b]) {
      block_times(t, t->slopes.K[b], (const vec6 *)t->Je + at, n);
    }
    if (t->slopes.has_C[b]) {
      block_times(t, t->slopes.C[b], (const vec6 *)t->Jn + at, n);
    }
    if (Q == P && mbg__tree_on_modes(t, Q)) {
      mbg__tree_modal_geometry(t, Q, h, D, slot, x->A.val);
    } else if (Q == P) {
      geometry(t, x, slot, Q);
    }
    project(t, x, slot, Q, n);
    slot += path_length(t, Q) * n;
  }
}

/* a row of B or Z on a body: block i */
static void take_row(const mbg__tree *t, int i, const real *val, real b[6]) {
  const int body = t->links[t->block_link[i]].body;
  v6_zero(b);
  for (int j = 0; j < t->sys->nfree[body]; j++) {
    b[t->sys->free_[body][j]] = val[t->block_slot[i][j]];
  }
}

/* Phi_z in the upper right; lower left Phi_z, or (h > 0) that of a step, Phi_z T, of rows on rates N + h/2 Z T; use
   (rows) NULL: all */
static void rows(mbg__tree *t, mbg__tree_matrix *x, real h, const bool *use) {
  int n = 0;
  for (int i = 0; i < t->nblock_row; i++) {
    const int k = t->block_link[i];
    const bool used = !use || use[t->block_row[i]], rate = re(h) > 0 && t->m->rows[t->rows[t->block_row[i]]].rate;
    real b[6], z[6] = {0};
    take_row(t, i, t->B, b);
    if (rate) {
      take_row(t, i, t->Z, z);
    }
    for (int j = t->col0[k]; used && j < t->col0[k + 1]; j++) {
      const real up = v6_dot(b, t->J[j]);
      const real low = rate        ? 2 / h * (v6_dot(b, t->Jn[j]) + v6_dot(z, t->Je[j]))
                       : re(h) > 0 ? 4 / (h * h) * v6_dot(b, t->Je[j])
                                   : up;
      x->A.val[x->row_slot[n + j - t->col0[k]]] += low;
      x->A.val[x->row_slot[n + j - t->col0[k] + t->nrow_slots]] += up;
    }
    n += path_length(t, k);
  }
}

void mbg__tree_matrix_step(mbg__tree *t, mbg__tree_matrix *x, real h, const real *D, const mbg__part *eps) {
  if (x->recursion) {
    mbg__tree_recursion_fill(t, x->recursion, h, D);
    return;
  }
  place(t, &t->slopes);
  variations(t, h, D);
  mbg__csc_zero(&x->A);
  dynamics(t, x, h, D);
  rows(t, x, h, NULL);
  for (int i = 0; eps && i < t->nrow; i++) {
    x->A.val[x->diagonal[i]] -= eps[i];
  }
}

/* ---------------------------------------------------------------------- mass matrix */

static void mass(mbg__tree *t, mbg__tree_matrix *x) {
  const int *slot = x->slots;
  for (int b = 0; b < t->sys->nblock; b++) {
    const mbg__block *block = &t->sys->blocks[b];
    const int Q = t->link_of[block->Q], P = t->link_of[block->P], n = path_length(t, P);
    if (has_mass(t, b)) {
      mass_times(t, b, (const vec6 *)t->J + t->col0[P], n);
      project(t, x, slot, Q, n);
    }
    slot += t->used[b] ? path_length(t, Q) * n : 0;
  }
}

void mbg__tree_matrix_mass(mbg__tree *t, mbg__tree_matrix *x, const mbg__part *eps) {
  if (x->recursion) {
    mbg__tree_recursion_fill(t, x->recursion, 0, NULL);
    return;
  }
  place(t, NULL);
  mbg__csc_zero(&x->A);
  mass(t, x);
  rows(t, x, 0, NULL);
  for (int i = 0; eps && i < t->nrow; i++) {
    x->A.val[x->diagonal[i]] -= eps[i];
  }
}

void mbg__tree_matrix_hard(mbg__tree *t, mbg__tree_matrix *x, const bool *hard) {
  place(t, NULL);
  mbg__csc_zero(&x->A);
  mass(t, x);
  rows(t, x, 0, hard);
  for (int i = 0; i < t->nrow; i++) {
    x->A.val[x->diagonal[i]] = !hard[i];
  }
}

int mbg__tree_linearize(mbg_context *ctx, mbg__tree *t) { return mbg__system_linearize(ctx, t->sys); }
