/* The blocks of system_matrices.c where all is in a plane: planar bodies whose frames and markers are flat
   (math/flat.h). A block has components 0, 1 and 5 of its bodies, and so have the factors of
   X_Q^T (Kr - [Q = A] C(F)) X_P: what an element does out of the plane reaches no free velocity. */
#include "elements/inertia.h"
#include "math/flat.h"
#include "system/system_internal.h"

enum { PLANAR_MASK = 0x23 };

static const int of[3] = {0, 1, 5};

/* rows and columns 0, 1 and 5 */
static void take(real out[9], const real A[36]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = A[6 * of[i] + of[j]];
    }
  }
}

static void add_block(const mbg__system *s, int block, double c, const real A[9], real *val) {
  if (block < 0 || !val) {
    return;
  }
  const int *column = s->blocks[block].column;
  for (int j = 0; j < 3; j++) {
    real *to = val + column[j];
    to[0] += c * A[j];
    to[1] += c * A[3 + j];
    to[2] += c * A[6 + j];
  }
}

/* ---------------------------------------------------------------------- bodies */

bool mbg__flat_body_matrices(const mbg__system *s, int body, const mbg__matrices *out) {
  const mbg__body *b = &s->model->bodies[body];
  const real *M = s->design->M + 36 * body, *v = s->v + b->voff;
  real x[9], r_w[9], r_v[9];
  if (b->mask != PLANAR_MASK || out->dense || !flat_frame(&s->H[body]) || !flat_vector(v)) {
    return false;
  }
  take(x, M);
  add_block(s, s->body_block[body], 1, x, out->M);
  if (!s->bare && (out->K || out->C)) {
    mbg__inertia_flat_derivatives(M, s->H[body].R, v, gravity_on(s, body), r_w, r_v);
    add_block(s, s->body_block[body], 1, r_w, out->K);
    add_block(s, s->body_block[body], 1, r_v, out->C);
  }
  return true;
}

/* ---------------------------------------------------------------------- pairs */

static bool flat_end(const mbg__system *s, int marker) {
  const int body = marker_body(s, marker);
  return body < 0 ||
         (s->model->bodies[body].mask == PLANAR_MASK && !s->end[marker] && flat_frame(&s->design->markers[marker]->h));
}

/* X_A and X_B, those of ends on bodies */
static bool flat_jacobians(const mbg__system *s, int pair, real X[2][9]) {
  const int A = s->model->pairs[pair].A, B = s->model->pairs[pair].B;
  mbg__frame H;
  if (!flat_end(s, A) || !flat_end(s, B)) {
    return false;
  }
  if (marker_body(s, A) >= 0) {
    if (!flat_frame(&s->G[pair])) {
      return false;
    }
    flat_frame_mul(&H, &s->design->markers[A]->h, &s->G[pair]);
    flat_AdInv_matrix(X[0], &H);
    vn_scale(9, X[0], -1, X[0]);
  }
  if (marker_body(s, B) >= 0) {
    flat_AdInv_matrix(X[1], &s->design->markers[B]->h);
  }
  return true;
}

/* D = X_Q^T A X_P; X[6] = X[7] = 0 */
static void congruence(real D[9], const real XQ[9], const real A[9], const real XP[9]) {
  real B[9];
  for (int i = 0; i < 9; i += 3) {
    B[i] = A[i] * XP[0] + A[i + 1] * XP[3];
    B[i + 1] = A[i] * XP[1] + A[i + 1] * XP[4];
    B[i + 2] = A[i] * XP[2] + A[i + 1] * XP[5] + A[i + 2] * XP[8];
  }
  for (int j = 0; j < 3; j++) {
    D[j] = XQ[0] * B[j] + XQ[3] * B[3 + j];
    D[3 + j] = XQ[1] * B[j] + XQ[4] * B[3 + j];
    D[6 + j] = XQ[2] * B[j] + XQ[5] * B[3 + j] + XQ[8] * B[6 + j];
  }
}

bool mbg__flat_pair_matrices(const mbg__system *s, int pair, const mat6 Kr, bool damped, const mbg__matrices *out) {
  const mbg__pair_blocks *pb = &s->pair_blocks[pair];
  const real *F = s->F[pair];
  real X[2][9], K[2][9], C[9], D[9];
  if (out->dense || !flat_jacobians(s, pair, X)) {
    return false;
  }
  take(K[1], Kr);
  vn_copy(9, K[0], K[1]);
  /* C(F) */
  K[0][2] -= F[1];
  K[0][5] += F[0];
  K[0][6] += F[1];
  K[0][7] -= F[0];
  if (damped) {
    take(C, s->F_v[pair]);
  }
  for (int q = 0; q < 2; q++) {
    for (int p = 0; p < 2; p++) {
      const int block = pb->block[q][p];
      if (block >= 0 && out->K) {
        congruence(D, X[q], K[q], X[p]);
        add_block(s, block, -1, D, out->K);
      }
      if (block >= 0 && out->C && damped) {
        congruence(D, X[q], C, X[p]);
        add_block(s, block, -1, D, out->C);
      }
    }
  }
  return true;
}

/* ---------------------------------------------------------------------- rows */

static void add_row(const mbg__system *s, int term, int side, const real X[9], real *val) {
  const real *b = s->term[term].b;
  const int *slot = s->term_slot[term][side];
  val[slot[0]] += X[0] * b[0] + X[3] * b[1];
  val[slot[1]] += X[1] * b[0] + X[4] * b[1];
  val[slot[2]] += X[2] * b[0] + X[5] * b[1] + X[8] * b[5];
}

bool mbg__flat_pair_rows(const mbg__system *s, int pair, const mbg__matrices *out) {
  const int end[2] = {s->model->pairs[pair].A, s->model->pairs[pair].B};
  real X[2][9];
  if (!out->B || out->Z || out->A_H || out->A_v || s->pair_local[pair].n > 0 || !flat_jacobians(s, pair, X)) {
    return false;
  }
  for (int i = s->pair_term0[pair]; i < s->pair_term0[pair + 1]; i++) {
    const int k = s->pair_term[i];
    for (int side = 0; row_on(s, s->term_row[k]) && side < 2; side++) {
      if (marker_body(s, end[side]) >= 0) {
        add_row(s, k, side, X[side], out->B);
      }
    }
  }
  return true;
}
