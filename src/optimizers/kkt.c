#include "optimizers/kkt.h"

#include <math.h>
#include <string.h>

/* Non-negative least squares (Lawson, Hanson 1974, chapter 23): columns of active constraints, those of equalities of
   either sign, on the rows of unknowns that no bound holds. */
typedef struct {
  const mbg__kkt_point *q;
  int ncol;
  int *row;      /* constraint of a column                       (m) */
  bool *passive; /* its multiplier may differ from 0             (m) */
  bool *counts;  /* unknowns whose equation is active            (n) */
  double *z, *y; /* multipliers of the columns, trial ones       (m) */
  double *r;     /* g + J^T lambda                               (n) */
  double *Q, *R; /* of the passive columns                       (n x most, most x most) */
  int *order;    /* column behind each one of Q                  (most) */
  int nq, most;  /* columns in Q; at most                        */
  double *memory;
  int *integers;
  bool *flags;
} fit;

/* ---------------------------------------------------------------------- bounds */

static bool at_lower(const mbg__kkt_point *q, int k) {
  return q->x[k] <= q->lower[k] + fmax(q->near, 1e-9 * fmax(1, fabs(q->lower[k])));
}
static bool at_upper(const mbg__kkt_point *q, int k) {
  return q->x[k] >= q->upper[k] - fmax(q->near, 1e-9 * fmax(1, fabs(q->upper[k])));
}

/* does a bound take up this component? */
static bool held(const mbg__kkt_point *q, int k, double r) {
  return (r >= 0 && at_lower(q, k)) || (r <= 0 && at_upper(q, k));
}

/* what a bound that is near, but not reached, leaves of its product with the multiplier r */
static double bound_gap(const mbg__kkt_point *q, int k, double r) {
  return q->near > 0 ? fabs(r) * fmax(0, r >= 0 ? q->x[k] - q->lower[k] : q->upper[k] - q->x[k]) : 0;
}

double mbg__kkt_projected(int n, const double *x, const double *lower, const double *upper, const double *g) {
  const mbg__kkt_point q = {.n = n, .x = x, .lower = lower, .upper = upper};
  double sum = 0;
  for (int k = 0; k < n; k++) {
    sum += held(&q, k, g[k]) ? 0 : g[k] * g[k];
  }
  return sqrt(sum);
}

/* ---------------------------------------------------------------------- least squares */

static double entry(const fit *f, int column, int k) {
  return f->counts[k] ? f->q->J[(size_t)f->row[column] * (size_t)f->q->n + (size_t)k] : 0;
}

/* a further column by Gram-Schmidt, twice; false when it depends on the others */
static bool add_column(fit *f, int column) {
  const int n = f->q->n;
  double *v = f->Q + (size_t)f->nq * (size_t)n, before = 0, after = 0;
  if (f->nq == f->most) {
    return false;
  }
  for (int k = 0; k < n; k++) {
    v[k] = entry(f, column, k);
    before += v[k] * v[k];
  }
  double *r = f->R + (size_t)f->nq * (size_t)f->most;
  memset(r, 0, (size_t)f->most * sizeof(double));
  for (int pass = 0; pass < 2; pass++) {
    for (int j = 0; j < f->nq; j++) {
      const double *u = f->Q + (size_t)j * (size_t)n;
      double dot = 0;
      for (int k = 0; k < n; k++) {
        dot += u[k] * v[k];
      }
      r[j] += dot;
      for (int k = 0; k < n; k++) {
        v[k] -= dot * u[k];
      }
    }
  }
  for (int k = 0; k < n; k++) {
    after += v[k] * v[k];
  }
  if (!(after > 1e-20 * before)) {
    return false;
  }
  r[f->nq] = sqrt(after);
  for (int k = 0; k < n; k++) {
    v[k] /= r[f->nq];
  }
  f->order[f->nq++] = column;
  return true;
}

/* y: least squares over the passive columns; one that depends on the others leaves them */
static void solve_passive(fit *f) {
  const int n = f->q->n;
  f->nq = 0;
  for (int j = 0; j < f->ncol; j++) {
    f->y[j] = 0;
    f->passive[j] = f->passive[j] && add_column(f, j);
  }
  for (int j = f->nq - 1; j >= 0; j--) {
    const double *u = f->Q + (size_t)j * (size_t)n;
    double sum = 0;
    for (int k = 0; k < n; k++) {
      sum -= f->counts[k] ? u[k] * f->q->g[k] : 0;
    }
    for (int i = j + 1; i < f->nq; i++) {
      sum -= f->R[(size_t)i * (size_t)f->most + (size_t)j] * f->y[f->order[i]];
    }
    f->y[f->order[j]] = sum / f->R[(size_t)j * (size_t)f->most + (size_t)j];
  }
}

static void residual(const fit *f) {
  const size_t n = (size_t)f->q->n;
  memcpy(f->r, f->q->g, n * sizeof(double));
  for (int j = 0; j < f->ncol; j++) {
    for (size_t k = 0; f->z[j] != 0 && k < n; k++) {
      f->r[k] += f->z[j] * f->q->J[(size_t)f->row[j] * n + k];
    }
  }
}

static bool either_sign(const fit *f, int column) { return f->q->equal[f->row[column]]; }

/* |r|^2 over the equations that count */
static double counted_square(const fit *f) {
  double sum = 0;
  for (int k = 0; k < f->q->n; k++) {
    sum += f->counts[k] ? f->r[k] * f->r[k] : 0;
  }
  return sum;
}

/* the column outside the passive ones along which the residual falls fastest, or -1 */
static int steepest(const fit *f) {
  int best = -1;
  double most = 0;
  const double r = counted_square(f);
  for (int j = 0; j < f->ncol; j++) {
    double slope = 0, length = 0;
    for (int k = 0; !f->passive[j] && k < f->q->n; k++) {
      const double a = entry(f, j, k);
      slope -= a * f->r[k];
      length += a * a;
    }
    slope = either_sign(f, j) ? fabs(slope) : slope;
    if (length > 0 && slope > 1e-13 * sqrt(length * r) && slope / sqrt(length) > most) {
      most = slope / sqrt(length);
      best = j;
    }
  }
  return best;
}

/* from z towards y as far as all multipliers stay positive; the limiting multiplier leaves the passive set */
static void step_to_trial(fit *f) {
  for (int guard = 0; guard <= f->ncol; guard++) {
    double alpha = 1;
    int stops = -1;
    solve_passive(f);
    for (int j = 0; j < f->ncol; j++) {
      if (f->passive[j] && !either_sign(f, j) && f->y[j] <= 0 && f->z[j] / (f->z[j] - f->y[j]) < alpha) {
        alpha = f->z[j] / (f->z[j] - f->y[j]);
        stops = j;
      }
    }
    for (int j = 0; j < f->ncol; j++) {
      f->passive[j] = f->passive[j] && j != stops;
      const double z = f->z[j] + alpha * (f->y[j] - f->z[j]);
      f->z[j] = !f->passive[j] ? 0 : either_sign(f, j) ? z : fmax(0, z);
    }
    if (stops < 0) {
      return;
    }
  }
}

static void least_squares(fit *f) {
  for (int j = 0; j < f->ncol; j++) {
    f->z[j] = 0;
    f->passive[j] = false;
  }
  residual(f);
  for (int it = 0; it < 10 * f->ncol + 10; it++) {
    const int j = steepest(f);
    if (j < 0) {
      return;
    }
    const double before = counted_square(f);
    f->passive[j] = true;
    step_to_trial(f);
    residual(f);
    if (!(counted_square(f) < before)) {
      return; /* rounding: it does not lower the residual */
    }
  }
}

/* ---------------------------------------------------------------------- entry */

static bool take_memory(mbg_context *ctx, fit *f) {
  const size_t n = (size_t)f->q->n, m = (size_t)f->q->m, most = (size_t)f->most;
  f->memory = mbg__alloc_zero(ctx, 2 * m + n + n * most + most * most + 1, sizeof(double));
  f->integers = mbg__alloc_zero(ctx, m + most + 1, sizeof(int));
  f->flags = mbg__alloc_zero(ctx, m + n + 1, sizeof(bool));
  if (!f->memory || !f->integers || !f->flags) {
    return false;
  }
  f->z = f->memory;
  f->y = f->z + m;
  f->r = f->y + m;
  f->Q = f->r + n;
  f->R = f->Q + n * most;
  f->row = f->integers;
  f->order = f->row + m;
  f->passive = f->flags;
  f->counts = f->flags + m;
  return true;
}

static void list_columns(fit *f) {
  for (int i = 0; i < f->q->m; i++) {
    if (f->q->equal[i] || f->q->c[i] >= -f->q->active) {
      f->row[f->ncol++] = i;
    }
  }
}

/* unknowns at a bound count when the residual there would push them inwards; their set is found by repetition */
static void fit_all(fit *f) {
  const mbg__kkt_point *q = f->q;
  memcpy(f->r, q->g, (size_t)q->n * sizeof(double));
  for (int k = 0; k < q->n; k++) {
    f->counts[k] = !at_lower(q, k) && !at_upper(q, k);
  }
  for (int pass = 0; pass < 30; pass++) {
    bool changed = false;
    least_squares(f);
    for (int k = 0; k < q->n; k++) {
      const bool now = !held(q, k, f->r[k]);
      changed = changed || (now != f->counts[k] && f->r[k] != 0);
      f->counts[k] = now || (!at_lower(q, k) && !at_upper(q, k));
    }
    if (!changed) {
      return;
    }
  }
}

int mbg__kkt(mbg_context *ctx, const mbg__kkt_point *q, double *lambda, double *mu, double *res) {
  fit f = {.q = q, .most = q->m < q->n ? q->m : q->n};
  int err = MBG_OK;
  if (!take_memory(ctx, &f)) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  list_columns(&f);
  fit_all(&f);
  double sum = 0, gap = 0;
  for (int k = 0; k < q->n; k++) {
    const bool bound = held(q, k, f.r[k]);
    sum += bound ? 0 : f.r[k] * f.r[k];
    gap = fmax(gap, bound ? bound_gap(q, k, f.r[k]) : 0);
    if (mu) {
      mu[k] = bound ? -f.r[k] : 0;
    }
  }
  memset(lambda, 0, (size_t)q->m * sizeof(double));
  for (int j = 0; j < f.ncol; j++) {
    lambda[f.row[j]] = f.z[j];
  }
  for (int i = 0; i < q->m; i++) {
    gap = fmax(gap, fabs(lambda[i] * q->c[i]));
  }
  *res = fmax(sqrt(sum), gap);
done:
  mbg__free(ctx, f.memory);
  mbg__free(ctx, f.integers);
  mbg__free(ctx, f.flags);
  return err;
}
