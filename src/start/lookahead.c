#include "start/lookahead.h"

#include <string.h>

enum { SAMPLES_MAX = 16 };

struct mbg__lookahead {
  const mbg_model *m;
  int nrate; /* dropped rows on rates */
  int nrow, nd;
  int count;
  double *null_[SAMPLES_MAX]; /* orthonormal null vectors as columns, rows of it one after the other   (nrow x nd) */
  int *chosen;
  bool *taken;
};

int mbg__lookahead_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__rank *rank,
                          mbg__lookahead **out) {
  const int ndropped = rank->ndropped;
  mbg__lookahead *k = MBG_TAKE(arena, mbg__lookahead, 1);
  int *chosen = MBG_TAKE(arena, int, ndropped);
  bool *taken = MBG_TAKE(arena, bool, m->nrow);
  *out = k;
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  *k = (mbg__lookahead){.m = m, .nrow = m->nrow, .nd = ndropped, .chosen = chosen, .taken = taken};
  for (int d = 0; d < ndropped; d++) {
    k->nrate += m->rows[rank->dropped[d]].rate;
  }
  return MBG_OK;
}

/* null vectors lambda_d = 1, lambda_I = -T_d of the unscaled rows, by Gram-Schmidt made orthonormal */
static void null_vectors(const mbg__rank *rank, double *N) {
  const int nd = rank->ndropped;
  for (int d = 0; d < nd; d++) {
    for (int k = rank->d_start[d]; k < rank->d_start[d + 1]; k++) {
      N[rank->kept[rank->depends[k]] * nd + d] = -rank->T[k];
    }
    N[rank->dropped[d] * nd + d] = 1;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int d = 0; d < nd; d++) {
      for (int e = 0; e <= d; e++) {
        double dot = 0;
        for (int i = 0; i < rank->nrow; i++) {
          dot += N[i * nd + d] * N[i * nd + e];
        }
        const double factor = e < d ? dot : 1 - 1 / sqrt(dot);
        for (int i = 0; i < rank->nrow; i++) {
          N[i * nd + d] -= factor * N[i * nd + e];
        }
      }
    }
  }
}

int mbg__lookahead_add(mbg_context *ctx, mbg__arena *arena, mbg__lookahead *k, mbg__system *sys) {
  mbg__rank *rank;
  const int err = mbg__rank_analyse(ctx, arena, sys, NULL, &rank);
  if (err < 0 || rank->ndropped != k->nd || k->count == SAMPLES_MAX) {
    return err;
  }
  double *N = MBG_TAKE(arena, double, (size_t)k->nrow *(size_t)k->nd);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  null_vectors(rank, N);
  k->null_[k->count++] = N;
  return MBG_OK;
}

static double row_norm(const double *row, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    s += row[i] * row[i];
  }
  return sqrt(s);
}

/* the row, on rates or not, whose part of the null vectors is largest where it is least */
static int best_row(const mbg__lookahead *k, bool rate) {
  int best = -1;
  double most = -1;
  for (int i = 0; i < k->nrow; i++) {
    double least = INFINITY;
    for (int s = 0; s < k->count; s++) {
      least = fmin(least, row_norm(k->null_[s] + i * k->nd, k->nd));
    }
    /* ties go to the later row, as file order keeps the first */
    if (!k->taken[i] && k->m->rows[i].rate == rate && least >= most * (1 - 1e-9)) {
      most = least;
      best = i;
    }
  }
  return best;
}

/* takes the direction of a chosen row out of the others */
static void project(double *N, int nrow, int nd, int row) {
  double u[MBG__LOOKAHEAD_MAX];
  const double l = row_norm(N + row * nd, nd);
  if (!(l > 0)) {
    return;
  }
  for (int d = 0; d < nd; d++) {
    u[d] = N[row * nd + d] / l;
  }
  for (int i = 0; i < nrow; i++) {
    double dot = 0;
    for (int d = 0; d < nd; d++) {
      dot += N[i * nd + d] * u[d];
    }
    for (int d = 0; d < nd; d++) {
      N[i * nd + d] -= dot * u[d];
    }
  }
}

const int *mbg__lookahead_choose(mbg__lookahead *k) {
  if (k->count == 0 || k->nd > MBG__LOOKAHEAD_MAX) {
    return NULL;
  }
  for (int d = 0; d < k->nd; d++) {
    /* as many rows on rates as follow from the others; without them null vectors join rows of positions alone */
    const int row = best_row(k, d < k->nrate);
    k->taken[row] = true;
    for (int s = 0; s < k->count; s++) {
      project(k->null_[s], k->nrow, k->nd, row);
    }
  }
  for (int i = 0, d = 0; i < k->nrow; i++) {
    if (k->taken[i]) {
      k->chosen[d++] = i;
    }
  }
  return k->chosen;
}
