/* Vectors, frames and inertias of the links of pieces side by side, a piece in each lane: for the kernels that are
   compiled once for every kind of vectors. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ARTICULATED_LANES_H
#define MBG_FORMULATIONS_DCA_DCA_ARTICULATED_LANES_H

#include "formulations/dca/dca_articulated_groups.h"

/* ---------------------------------------------------------------------- numbers of each piece, and back */

/* number i of each vector */
static inline void collect(lane *out, const real *const from[MBG__LANES], int i) {
#ifdef MBG_COMPLEX
  *out = from[0][i];
#else
  *out = (lane){from[0][i], from[1][i], from[2][i], from[3][i]};
#endif
}

static inline void collect_all(int n, lane *out, const real *const from[MBG__LANES]) {
  for (int i = 0; i < n; i++) {
    collect(&out[i], from, i);
  }
}

static inline void spread(int n, const lane *x, int q, real *to) {
  for (int i = 0; i < n; i++) {
    to[i] = lane_get(&x[i], q);
  }
}

/* ---------------------------------------------------------------------- vectors and frames */

static inline void cross(lane out[3], const lane a[3], const lane b[3]) {
  const lane x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

/* out = R x, R^T x */
static inline void turn(lane out[3], const lane R[9], const lane x[3]) {
  lane y[3];
  for (int i = 0; i < 3; i++) {
    y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
  }
  for (int i = 0; i < 3; i++) {
    out[i] = y[i];
  }
}

static inline void turn_back(lane out[3], const lane R[9], const lane x[3]) {
  lane y[3];
  for (int i = 0; i < 3; i++) {
    y[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
  }
  for (int i = 0; i < 3; i++) {
    out[i] = y[i];
  }
}

static inline void product(lane out[9], const lane A[9], const lane B[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    }
  }
}

static inline void lane_frame_mul(mbg__lane_frame *out, const mbg__lane_frame *a, const mbg__lane_frame *b) {
  product(out->R, a->R, b->R);
  turn(out->x, a->R, b->x);
  for (int i = 0; i < 3; i++) {
    out->x[i] += a->x[i];
  }
}

/* Ad(H^-1) v and Ad(H^-1)^T f */
static inline void carry_down(lane out[6], const mbg__lane_frame *H, const lane v[6]) {
  lane y[3];
  cross(y, H->x, v + 3);
  for (int i = 0; i < 3; i++) {
    y[i] = v[i] - y[i];
  }
  turn_back(out, H->R, y);
  turn_back(out + 3, H->R, v + 3);
}

static inline void carry_up(lane out[6], const mbg__lane_frame *H, const lane f[6]) {
  lane y[3];
  turn(out, H->R, f);
  turn(out + 3, H->R, f + 3);
  cross(y, H->x, out);
  for (int i = 0; i < 3; i++) {
    out[3 + i] += y[i];
  }
}

/* out += s a */
static inline void axpy(lane out[6], const lane *s, const lane a[6]) {
  for (int i = 0; i < 6; i++) {
    out[i] += *s * a[i];
  }
}

static inline void dot(lane *out, const lane a[6], const lane b[6]) {
  lane s = a[0] * b[0];
  for (int i = 1; i < 6; i++) {
    s += a[i] * b[i];
  }
  *out = s;
}

/* ---------------------------------------------------------------------- inertias */

static inline void column(const mbg__lane_inertia *I, int c, lane U[6]) {
  static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
  for (int i = 0; i < 3; i++) {
    U[i] = c < 3 ? I->A[place[i][c]] : I->B[3 * i + c - 3];
    U[3 + i] = c < 3 ? I->B[3 * c + i] : I->C[place[i][c - 3]];
  }
}

/* I -= s U U^T */
static inline void subtract_square(mbg__lane_inertia *I, const lane *s, const lane U[6]) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, col[6] = {0, 1, 2, 1, 2, 2};
  lane V[6];
  for (int i = 0; i < 6; i++) {
    V[i] = *s * U[i];
  }
  for (int i = 0; i < 6; i++) {
    I->A[i] -= V[row[i]] * U[col[i]];
    I->C[i] -= V[3 + row[i]] * U[3 + col[i]];
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      I->B[3 * i + j] -= V[i] * U[3 + j];
    }
  }
}

/* R S R^T, S symmetric */
static inline void turn_symmetric(const lane R[9], const lane S[6], lane out[6]) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, col[6] = {0, 1, 2, 1, 2, 2};
  lane T[9];
  for (int i = 0; i < 3; i++) {
    const lane *r = R + 3 * i;
    T[3 * i] = r[0] * S[0] + r[1] * S[3] + r[2] * S[4];
    T[3 * i + 1] = r[0] * S[3] + r[1] * S[1] + r[2] * S[5];
    T[3 * i + 2] = r[0] * S[4] + r[1] * S[5] + r[2] * S[2];
  }
  for (int i = 0; i < 6; i++) {
    const lane *t = T + 3 * row[i], *r = R + 3 * col[i];
    out[i] = t[0] * r[0] + t[1] * r[1] + t[2] * r[2];
  }
}

/* to += X^T I X, as carry_inertia */
static inline void inertia_up(const mbg__lane_frame *Rel, const mbg__lane_inertia *I, mbg__lane_inertia *to) {
  const lane *R = Rel->R, *x = Rel->x;
  lane A[6], B[9], C[6], T[9], D[9];
  turn_symmetric(R, I->A, A);
  turn_symmetric(R, I->C, C);
  product(T, R, I->B);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      B[3 * i + j] = T[3 * i] * R[3 * j] + T[3 * i + 1] * R[3 * j + 1] + T[3 * i + 2] * R[3 * j + 2];
    }
  }
  D[0] = B[0] - (A[3] * x[2] - A[4] * x[1]);
  D[1] = B[1] - (A[4] * x[0] - A[0] * x[2]);
  D[2] = B[2] - (A[0] * x[1] - A[3] * x[0]);
  D[3] = B[3] - (A[1] * x[2] - A[5] * x[1]);
  D[4] = B[4] - (A[5] * x[0] - A[3] * x[2]);
  D[5] = B[5] - (A[3] * x[1] - A[1] * x[0]);
  D[6] = B[6] - (A[5] * x[2] - A[2] * x[1]);
  D[7] = B[7] - (A[2] * x[0] - A[4] * x[2]);
  D[8] = B[8] - (A[4] * x[1] - A[5] * x[0]);
  for (int i = 0; i < 6; i++) {
    to->A[i] += A[i];
  }
  for (int i = 0; i < 9; i++) {
    to->B[i] += D[i];
  }
  to->C[0] += C[0] + x[1] * D[6] - x[2] * D[3] + x[1] * B[6] - x[2] * B[3];
  to->C[1] += C[1] + x[2] * D[1] - x[0] * D[7] + x[2] * B[1] - x[0] * B[7];
  to->C[2] += C[2] + x[0] * D[5] - x[1] * D[2] + x[0] * B[5] - x[1] * B[2];
  to->C[3] += C[3] + x[1] * D[7] - x[2] * D[4] + x[2] * B[0] - x[0] * B[6];
  to->C[4] += C[4] + x[1] * D[8] - x[2] * D[5] + x[0] * B[3] - x[1] * B[0];
  to->C[5] += C[5] + x[2] * D[2] - x[0] * D[8] + x[0] * B[4] - x[1] * B[1];
}

/* out = I v */
static inline void inertia_times(const mbg__lane_inertia *I, const lane v[6], lane out[6]) {
  const lane *A = I->A, *B = I->B, *C = I->C, *U = v, *W = v + 3;
  out[0] = A[0] * U[0] + A[3] * U[1] + A[4] * U[2] + (B[0] * W[0] + B[1] * W[1] + B[2] * W[2]);
  out[1] = A[3] * U[0] + A[1] * U[1] + A[5] * U[2] + (B[3] * W[0] + B[4] * W[1] + B[5] * W[2]);
  out[2] = A[4] * U[0] + A[5] * U[1] + A[2] * U[2] + (B[6] * W[0] + B[7] * W[1] + B[8] * W[2]);
  out[3] = B[0] * U[0] + B[3] * U[1] + B[6] * U[2] + C[0] * W[0] + C[3] * W[1] + C[4] * W[2];
  out[4] = B[1] * U[0] + B[4] * U[1] + B[7] * U[2] + C[3] * W[0] + C[1] * W[1] + C[5] * W[2];
  out[5] = B[2] * U[0] + B[5] * U[1] + B[8] * U[2] + C[4] * W[0] + C[5] * W[1] + C[2] * W[2];
}

/* numbers of coordinate j of a link, one of each piece */
static inline void coordinates(const mbg__dca_articulated *k, const mbg__lane_link *l, const real *x, lane out[6]) {
  const real *from[MBG__LANES];
  for (int q = 0; q < MBG__LANES; q++) {
    from[q] = x + k->links[l->link[q]].first;
  }
  collect_all(l->nz, out, from);
}

/* f = M v of the body alone */
static inline void body_momentum(const mbg__lane_link *l, const lane v[6], lane f[6]) {
  const lane *J = l->J;
  lane y[3];
  cross(y, l->mc, v + 3);
  for (int i = 0; i < 3; i++) {
    f[i] = l->m * v[i] - y[i];
  }
  f[3] = J[0] * v[3] + J[3] * v[4] + J[4] * v[5];
  f[4] = J[3] * v[3] + J[1] * v[4] + J[5] * v[5];
  f[5] = J[4] * v[3] + J[5] * v[4] + J[2] * v[5];
  cross(y, l->mc, v);
  for (int i = 0; i < 3; i++) {
    f[3 + i] += y[i];
  }
}

/* ---------------------------------------------------------------------- ways through the pieces */

/* twists v, or accelerations, of the bases; ground: of those on the ground */
static inline void base_vectors(const mbg__dca_articulated *k, const mbg__art_group *g, bool accelerations,
                                const real ground[6], lane out[6]) {
  const mbg__art_pieces *s = k->pieces;
  const real *from[MBG__LANES];
  for (int q = 0; q < MBG__LANES; q++) {
    const int base = s->pieces[g->piece[q]].base;
    from[q] = base < 0 ? ground : accelerations ? s->sides[base].vd : s->pieces[base].v;
  }
  collect_all(6, out, from);
}

/* The wrenches q of the exits, carried through the pieces: they change u and p of the way, those of dynamics or of a
   pull. */
static inline void add_exits(const mbg__dca_articulated *k, const mbg__art_group *g, bool pull) {
  const real *from[MBG__LANES];
  lane x[6], z[6], s;
  for (int q = 0; q < MBG__LANES; q++) {
    from[q] = k->pieces->sides[g->piece[q]].q;
  }
  collect_all(6, x, from);
  for (int q = g->npath - 1; q >= 0; q--) {
    mbg__lane_link *l = &g->links[g->path[q]];
    for (int j = 0; j < l->nz; j++) {
      mbg__lane_freedom *f = &g->free_[l->first + j];
      s = -x[l->comp[j]];
      f->u += s;
      s *= f->inverse;
      axpy(x, &s, f->U);
    }
    l6_accumulate(pull ? g->pulls[g->path[q]].p : l->p, x);
    carry_up(z, &l->Rel, x);
    l6_copy(x, z);
  }
}

/* v without the motions of the joint gets them; their numbers a if wanted */
static inline void free_motions(const mbg__lane_link *l, const mbg__lane_freedom *f, lane v[6], lane *a) {
  lane y;
  for (int j = l->nz - 1; j >= 0; j--) {
    dot(&y, f[j].U, v);
    y = f[j].inverse * (f[j].u - y);
    v[l->comp[j]] += y;
    if (a) {
      a[j] = y;
    }
  }
}

#endif
