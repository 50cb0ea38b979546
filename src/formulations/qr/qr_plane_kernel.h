/* Products of a point in a plane with its columns side by side. Column c is lane c % MBG__LANES of group
   c / MBG__LANES. Compiled once for every kind of vectors. */
#ifndef MBG_FORMULATIONS_QR_QR_PLANE_KERNEL_H
#define MBG_FORMULATIONS_QR_QR_PLANE_KERNEL_H

#include "formulations/qr/qr_plane.h"
#include "math/dense_lanes.h"

/* y = M x, M by 3x3 blocks (9 a body) */
static inline void mass_lanes(int nbody, const real *restrict M, const lane *restrict x, lane *restrict y) {
  for (int b = 0; b < nbody; b++, M += 9, x += 3, y += 3) {
    y[0] = M[0] * x[0] + M[1] * x[1] + M[2] * x[2];
    y[1] = M[3] * x[0] + M[4] * x[1] + M[5] * x[2];
    y[2] = M[6] * x[0] + M[7] * x[1] + M[8] * x[2];
  }
}

/* Columns gamma and phid + beta phi become N times them, the others Q2; then Q2^T M Q2 in Mr, and in h Q2^T (f + M N
   gamma). */
void LANES(mbg__qr_plane_columns)(mbg__qr_point *q) {
  const int n = q->n, f = q->f, used = columns_groups(2), groups = columns_groups(2 + f);
  mbg__qr_plane *p = q->lanes;
  for (int g = 0; g < used; g++) {
    householder_solve_T_lanes(&q->qr, p->x + g * n);
  }
  const real *drop = column_of(p->x, n, 1);
  for (int i = 0; i < q->r; i++) {
    q->drop[i] = drop[i * MBG__LANES];
  }
  for (int g = 0; g < groups; g++) {
    householder_mul_lanes(&q->qr, p->x + g * n);
    mass_lanes(q->m->nbody, p->mass, p->x + g * n, p->y + g * n);
  }
  for (int k = 0; k < f; k++) {
    const real *from = column_of(p->x, n, 2 + k);
    real *to = q->Q2 + (size_t)k * (size_t)n;
    for (int j = 0; j < n; j++) {
      to[j] = from[j * MBG__LANES];
    }
  }
  real *first = column_of(p->y, n, 0);
  for (int j = 0; j < n; j++) {
    first[j * MBG__LANES] += q->F[q->m->full[j]];
  }
  for (int k = 0; k < f; k++) {
    for (int g = 0; g < groups; g++) {
      ln_dot(n, &p->h[g], q->Q2 + (size_t)k * (size_t)n, p->y + g * n);
    }
    q->h[k] = *column_of(p->h, 1, 0);
    for (int i = 0; i <= k; i++) {
      q->Mr.A[(size_t)i * (size_t)f + (size_t)k] = *column_of(p->h, 1, 2 + i);
    }
  }
}

/* y = Q2 h, entries of h `stride` apart; two columns of Q2 at a time */
static inline void from_freedoms_lanes(int n, int f, const real *restrict Q2, const lane *h, int stride,
                                       lane *restrict y) {
  int k = 0;
  if (f < 2) {
    ln_zero(n, y);
  }
  for (; k + 2 <= f; k += 2, Q2 += 2 * n) {
    const lane a = h[k * stride], b = h[(k + 1) * stride];
    for (int j = 0; j < n; j++) {
      const lane before = k > 0 ? y[j] : (lane){0};
      y[j] = before + Q2[j] * a + Q2[n + j] * b;
    }
  }
  if (k < f) {
    const lane a = h[k * stride];
    for (int j = 0; j < n; j++) {
      y[j] += Q2[j] * a;
    }
  }
}

/* Columns 2 i (x) and 2 i + 1 (mu) in x become x - M y and mu, in y stand y = Y x and P mu; with multipliers the first
   two become f - M a and 0. */
static inline void project_lanes(mbg__qr_point *q, int count, bool multipliers) {
  const int n = q->n, groups = columns_groups(count);
  mbg__qr_plane *p = q->lanes;
  for (int k = 0; k < q->f; k++) {
    for (int g = 0; g < groups; g++) {
      ln_dot(n, &p->h[k * groups + g], q->Q2 + (size_t)k * (size_t)n, p->x + g * n);
    }
  }
  for (int c = multipliers ? 2 : 0; c < count; c += 2) {
    for (int k = 0; k < q->f; k++) {
      q->h[k] = *column_of(p->h + k * groups, 1, c);
    }
    mbg__cholesky_solve(&q->Mr, q->h, 1);
    for (int k = 0; k < q->f; k++) {
      *column_of(p->h + k * groups, 1, c) = q->h[k];
    }
  }
  for (int g = 0; g < groups; g++) {
    from_freedoms_lanes(n, q->f, q->Q2, p->h + g, groups, p->y + g * n);
  }
}

/* x <- N^T x of columns that mbg__qr_plane_pull has set up; with multipliers the second one is R^-1 drop */
void LANES(mbg__qr_plane_rows)(mbg__qr_point *q, int count, bool multipliers) {
  const int n = q->n, groups = columns_groups(count);
  mbg__qr_plane *p = q->lanes;
  project_lanes(q, count, multipliers);
  real *const y = column_of(p->y, n, 0), *const none = column_of(p->y, n, 1), *const drop = column_of(p->x, n, 1);
  for (int j = 0; multipliers && j < n; j++) {
    y[j * MBG__LANES] = q->a[q->m->full[j]];
    none[j * MBG__LANES] = 0;
  }
  for (int g = 0; g < groups; g++) {
    lane mask = {0};
    for (int c = 0; c < MBG__LANES; c++) {
      lane_set(&mask, c, (g * MBG__LANES + c) % 2 == 0);
    }
    mass_lanes(q->m->nbody, p->mass, p->y + g * n, p->z);
    for (int j = 0; j < n; j++) {
      p->x[g * n + j] -= mask * p->z[j];
    }
    householder_mul_T_lanes(&q->qr, p->x + g * n);
  }
  for (int i = 0; multipliers && i < q->r; i++) {
    drop[i * MBG__LANES] = q->drop[i];
  }
  for (int g = 0; g < groups; g++) {
    householder_solve_lanes(&q->qr, p->x + g * n);
  }
}

#endif
