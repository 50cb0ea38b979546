/* Sparse matrices from the element derivatives. With w_rel = X_A w_A + X_B w_B, a wrench F on B with F_G, F_v and
   Kr = F_G - F_v ad(a):

     K_QP -= X_Q^T (Kr - [Q = A] C(F)) X_P          C_QP -= X_Q^T F_v X_P              ad(v)^T y = C(y) v
     phi_H   = b X_Q        phid_H = (phid_G - b ad(a)) X_Q        phid_v = b X_Q
     phidd_H = ((b vd)_G + gamma_G - gamma_v ad(a) + b X) X_Q      X as in kinematics.c
     phidd_v = (gamma_v - b ad(a)) X_B,  (gamma_v - b ad(a) - b ad(v_rel)) X_A */
#include "system/system_internal.h"

#include "elements/inertia.h"

#include <string.h>

const mbg__csc *mbg__system_pattern_K(const mbg__system *s) { return &s->patK; }

const mbg__csc *mbg__system_pattern_B(const mbg__system *s) { return &s->patB; }

void mbg__matrix_block(const mbg__system *s, int block, real c, const real A[36], real *val) {
  if (block < 0 || !val) {
    return;
  }
  const mbg__block *b = &s->blocks[block];
  if (s->nfree[b->Q] == 6 && s->nfree[b->P] == 6) {
    for (int j = 0; j < 6; j++) {
      real *to = val + b->column[j];
      for (int i = 0; i < 6; i++) {
        to[i] += c * A[6 * i + j];
      }
    }
    return;
  }
  for (int j = 0; j < s->nfree[b->P]; j++) {
    for (int i = 0; i < s->nfree[b->Q]; i++) {
      val[b->column[j] + i] += c * A[6 * s->free_[b->Q][i] + s->free_[b->P][j]];
    }
  }
}

/* block += c A as it is kept: transposed */
static void add_dense(const mbg__dense *to, int block, real c, const real A[36], mat6 *blocks, bool *has) {
  if (block < 0 || !to->used[block]) {
    return;
  }
  real *D = blocks[block];
  if (!has[block]) {
    m6_zero(D);
    has[block] = true;
  }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      D[6 * j + i] += c * A[6 * i + j];
    }
  }
}

static void add_K(const mbg__system *s, int block, real c, const real A[36], const mbg__matrices *out) {
  if (out->dense) {
    add_dense(out->dense, block, c, A, out->dense->K, out->dense->has_K);
  } else {
    mbg__matrix_block(s, block, c, A, out->K);
  }
}

static void add_C(const mbg__system *s, int block, real c, const real A[36], const mbg__matrices *out) {
  if (out->dense) {
    add_dense(out->dense, block, c, A, out->dense->C, out->dense->has_C);
  } else {
    mbg__matrix_block(s, block, c, A, out->C);
  }
}

/* row on the relative variation, as a row on each end */
static void add_row(const mbg__system *s, int term, int side, const real row[6], const real X[36], real *val) {
  const mbg__pair *pair = &s->model->pairs[s->model->terms[term].pair];
  const int body = marker_body(s, side ? pair->B : pair->A);
  real x[6];
  if (body < 0) {
    return;
  }
  m6_mulv_T(x, X, row);
  for (int j = 0; j < s->nfree[body]; j++) {
    val[s->term_slot[term][side][j]] += x[s->free_[body][j]];
  }
}

/* ---------------------------------------------------------------------- bodies and pairs */

static void body_matrices(const mbg__system *s, int i, const mbg__matrices *out) {
  const real *M = s->design->M + 36 * i;
  real r_w[36], r_v[36];
  if (!has_inertia(s, i) || mbg__flat_body_matrices(s, i, out)) {
    return;
  }
  mbg__matrix_block(s, s->body_block[i], 1, M, out->M);
  if (!s->bare && (out->K || out->C || out->dense)) {
    mbg__inertia_derivatives(M, s->H[i].R, s->v + s->model->bodies[i].voff, gravity_on(s, i), r_w, r_v);
    add_K(s, s->body_block[i], 1, r_w, out);
    add_C(s, s->body_block[i], 1, r_v, out);
  }
}

static bool block_in(int block, const real *val, const mbg__dense *dense) {
  return block >= 0 && (dense ? dense->used[block] : val != NULL);
}

/* D = X_Q^T A X_P; X NULL: 1 */
static void congruence(real D[36], const real *XQ, const real A[36], const real *XP) {
  real B[36];
  if (XP) {
    m6_mul(B, A, XP);
    A = B;
  }
  if (XQ) {
    m6_mul_TN(D, XQ, A);
  } else {
    m6_copy(D, A);
  }
}

/* a marker that is its body's frame, as those at the nodes of beams */
static bool is_frame(const mbg__frame *h) {
  bool same = h->x[0] == 0 && h->x[1] == 0 && h->x[2] == 0;
  for (int k = 0; k < 9; k++) {
    same = same && h->R[k] == (k % 4 == 0);
  }
  return same;
}

static bool any(const mat6 A) {
  bool some = false;
  for (int k = 0; k < 36; k++) {
    some |= r_some(A[k] != 0);
  }
  return some;
}

static void pair_matrices(const mbg__system *s, int i, const mbg__matrices *out) {
  const mbg__pair_blocks *pb = &s->pair_blocks[i];
  const bool damped = any(s->F_v[i]);
  real XA[36], XB[36], Kr[2][36], T[36], U[36];
  const real *X[2] = {XA, XB};
  m6_copy(Kr[1], s->F_G[i]);
  if (damped) {
    mbg__ad_matrix(T, s->a[i]);
    m6_mul(U, s->F_v[i], T);
    m6_sub(Kr[1], Kr[1], U);
  }
  if (mbg__flat_pair_matrices(s, i, Kr[1], damped, out)) {
    return;
  }
  mbg__kin_jacobian(s, i, 0, XA);
  if (is_frame(&s->design->markers[s->model->pairs[i].B]->h)) {
    X[1] = NULL;
  } else {
    mbg__kin_jacobian(s, i, 1, XB);
  }
  mbg__coad_matrix(T, s->F[i]);
  m6_sub(Kr[0], Kr[1], T);
  for (int q = 0; q < 2; q++) {
    for (int p = 0; p < 2; p++) {
      const int block = pb->block[q][p];
      if (block_in(block, out->K, out->dense)) {
        congruence(T, X[q], Kr[q], X[p]);
        add_K(s, block, -1, T, out);
      }
      if (damped && block_in(block, out->C, out->dense)) {
        congruence(T, X[q], s->F_v[i], X[p]);
        add_C(s, block, -1, T, out);
      }
    }
  }
}

static bool pair_in_matrices(const mbg__system *s, int i) {
  const mbg__pair_blocks *pb = &s->pair_blocks[i];
  return pb->block[0][0] >= 0 || pb->block[1][1] >= 0;
}

/* ---------------------------------------------------------------------- signals in forces */

/* -(X_Q^T df/dF) (row of the signal on w, on v): gathered over the local velocities of both pairs */
static void modal_cross(const mbg__system *s, const mbg__cross *c, int k, real weight, const mbg__matrices *out) {
  static const real zero[6] = {0};
  const mbg_model *m = s->model;
  const mbg__force *f = &m->forces[c->force];
  const mbg__signal_out *d = &s->sig[c->base[k]];
  const int pair = signal_pair(m, &m->signals[c->base[k]]);
  const mbg__local *Q = &s->pair_local[f->pair], *P = &s->pair_local[pair];
  real *col = s->column, *w = s->column + m->nw, *v = s->column + 2 * m->nw;
  mbg__kin_pair_pull(s, f->pair, s->f_fn[c->fn], zero, NULL, &(mbg__cotangent){.w = col});
  mbg__kin_pair_pull(s, pair, d->y_w, d->y_v, NULL, &(mbg__cotangent){.w = w, .v = v});
  for (int i = 0; i < Q->n; i++) {
    for (int j = 0; j < P->n; j++) {
      const int slot = c->slot[k][P->n * i + j];
      if (out->K) {
        out->K[slot] += weight * col[Q->full[i]] * w[P->full[j]];
      }
      if (out->C) {
        out->C[slot] += weight * col[Q->full[i]] * v[P->full[j]];
      }
    }
  }
  mbg__local_wipe(s, f->pair, col);
  mbg__local_wipe(s, pair, w);
  mbg__local_wipe(s, pair, v);
}

static void cross_base(const mbg__system *s, const mbg__cross *c, int k, const mbg__matrices *out) {
  const mbg_model *m = s->model;
  const mbg__force *f = &m->forces[c->force];
  const mbg__signal_out *d = &s->sig[c->base[k]];
  const int pair = signal_pair(m, &m->signals[c->base[k]]);
  const real weight = s->weight[c->base[k]];
  if (c->slot[k]) {
    modal_cross(s, c, k, weight, out);
    return;
  }
  real yw[6], x[6], XQ[36], XP[36], col[6], rw[6], rv[6], A[36];
  adT_mul(x, s->a[pair], d->y_v);
  v6_sub(yw, d->y_w, x);
  for (int q = 0; q < 2; q++) {
    mbg__kin_jacobian(s, f->pair, q, XQ);
    m6_mulv_T(col, XQ, s->f_fn[c->fn]);
    for (int p = 0; p < 2; p++) {
      mbg__kin_jacobian(s, pair, p, XP);
      m6_mulv_T(rw, XP, yw);
      m6_mulv_T(rv, XP, d->y_v);
      m6_zero(A);
      m6_outer_add(A, weight, col, rw);
      add_K(s, c->block[k][q][p], 1, A, out);
      m6_zero(A);
      m6_outer_add(A, weight, col, rv);
      add_C(s, c->block[k][q][p], 1, A, out);
    }
  }
}

static void cross_matrices(mbg__system *s, const mbg__cross *c, const mbg__matrices *out) {
  if (s->model->forces[c->force].late) {
    return;
  }
  memset(s->weight, 0, (size_t)s->model->nsignal * sizeof(real));
  mbg__fn_weights(s, c->fn, -1);
  mbg__signal_spread(s, s->model->nsignal - 1);
  for (int k = 0; k < c->nbase; k++) {
    cross_base(s, c, k, out);
  }
}

/* ---------------------------------------------------------------------- rows */

static void term_matrices(const mbg__system *s, int k, const real X[2][36], const mbg__matrices *out) {
  const int i = s->model->terms[k].pair;
  const real *b = s->term[k].b;
  real z[6], h[6], vB[6], vA[6], c[6], ab[6], vb[6];
  if (out->B) {
    add_row(s, k, 0, b, X[0], out->B);
    add_row(s, k, 1, b, X[1], out->B);
  }
  if (!out->Z && !out->A_H && !out->A_v) {
    return;
  }
  /* rows times ad(a), ad(v_rel), and b X */
  adT_mul(ab, s->a[i], b);
  adT_mul(vb, s->vrel[i], b);
  v6_sub(z, s->row_g[k].phid_G, ab);
  adT_mul(c, s->a[i], s->row_g[k].gamma_v);
  v6_sub(h, s->row_g[k].phidd_G, c);
  adT_mul(c, s->ad[i], b);
  v6_sub(h, h, c);
  v6_add(c, ab, vb);
  adT_mul(vA, s->a[i], c);
  v6_add(h, h, vA);
  v6_sub(vB, s->row_g[k].gamma_v, ab);
  v6_sub(vA, vB, vb);
  for (int side = 0; side < 2; side++) {
    if (out->Z) {
      add_row(s, k, side, z, X[side], out->Z);
    }
    if (out->A_H) {
      add_row(s, k, side, h, X[side], out->A_H);
    }
    if (out->A_v) {
      add_row(s, k, side, side ? vB : vA, X[side], out->A_v);
    }
  }
}

/* the same when an end is on a modal body */
static void modal_term_matrices(const mbg__system *s, int k, const mbg__matrices *out) {
  static const real zero[6] = {0};
  const int i = s->model->terms[k].pair, *slot = s->term_local[k];
  const real *b = s->term[k].b;
  if (out->B) {
    mbg__modal_row(s, i, b, zero, NULL, slot, out->B, NULL);
  }
  if (out->Z) {
    mbg__modal_row(s, i, s->row_g[k].phid_G, b, NULL, slot, out->Z, NULL);
  }
  if (out->A_H || out->A_v) {
    mbg__modal_row(s, i, s->row_g[k].phidd_G, s->row_g[k].gamma_v, b, slot, out->A_H, out->A_v);
  }
}

/* ---------------------------------------------------------------------- all */

typedef struct {
  const mbg__system *s;
  const mbg__matrices *out;
} matrices_job;

static void each_body(void *user, int i) {
  const matrices_job *j = user;
  body_matrices(j->s, i, j->out);
}

/* the rows of a pair share its motion; of the scratch columns a pair uses the places of its bodies */
static void each_pair_rows(void *user, int pair) {
  const matrices_job *j = user;
  const mbg__system *s = j->s;
  real X[2][36];
  bool known = false;
  if (mbg__flat_pair_rows(s, pair, j->out)) {
    return;
  }
  for (int i = s->pair_term0[pair]; i < s->pair_term0[pair + 1]; i++) {
    const int k = s->pair_term[i];
    if (!row_on(s, s->term_row[k])) {
      continue;
    }
    if (s->pair_local[pair].n > 0) {
      modal_term_matrices(s, k, j->out);
      continue;
    }
    if (!known) {
      mbg__kin_jacobian(s, pair, 0, X[0]);
      mbg__kin_jacobian(s, pair, 1, X[1]);
      known = true;
    }
    term_matrices(s, k, (const real(*)[36])X, j->out);
  }
}

static void clear(const mbg__system *s, const mbg__csc *pattern, real *val) {
  if (val) {
    mbg__pool_zero(s->pool, MBG__EACH_CLEAR, (size_t)mbg__csc_count(pattern), val);
  }
}

void mbg__system_matrices(mbg__system *s, const mbg__matrices *out) {
  const mbg_model *m = s->model;
  const bool slopes = out->K || out->C || out->dense;
  if (out->dense) {
    memset(out->dense->has_K, 0, (size_t)s->nblock);
    memset(out->dense->has_C, 0, (size_t)s->nblock);
  }
  clear(s, &s->patK, out->K);
  clear(s, &s->patK, out->C);
  clear(s, &s->patK, out->M);
  clear(s, &s->patB, out->B);
  clear(s, &s->patB, out->Z);
  clear(s, &s->patB, out->A_H);
  clear(s, &s->patB, out->A_v);
  matrices_job job = {s, out};
  mbg__pool_each(s->pool, MBG__EACH_BODY_M, m->nbody, each_body, &job);
  if (out->K || out->C || out->M) {
    mbg__beams_matrices(s, out);
    mbg__modals_matrices(s, out);
  }
  for (int i = 0; slopes && i < m->npair; i++) {
    if (s->loaded[i] && s->pair_local[i].n > 0) {
      mbg__modal_pair_matrices(s, i, out);
    } else if (s->loaded[i] && pair_in_matrices(s, i)) {
      pair_matrices(s, i, out);
    }
  }
  for (int i = 0; !s->bare && slopes && i < s->ncross; i++) {
    cross_matrices(s, &s->cross[i], out);
  }
  if (out->B || out->Z || out->A_H || out->A_v) {
    mbg__each_class(s, MBG__EACH_TERM_M, each_pair_rows, &job);
  }
  if (out->late) {
    mbg__late_matrices(s, out);
  }
}
