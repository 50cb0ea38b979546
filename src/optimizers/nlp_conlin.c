/* CONLIN (Fleury, Braibant, Int. J. Numer. Meth. Eng. 23, 1986): convex linearization with a dual solution.

   Numbers of the caller are positive. With their ratios s to the point at hand, objective and constraints become

     f + sum_{G > 0} G_k (s_k - 1) + sum_{G < 0} G_k (1 - 1/s_k),    G_k = df/ds_k at s = 1

   which is convex and separable. For multipliers lambda the least Lagrangian lies at s_k = sqrt(B_k/A_k), A and B the
   sums of G_k of either sign; the multipliers maximize it, by Newton on the dual function.

   Numbers that may be 0 or negative are measured from a point below their bound. The step of a number that turns back
   is limited to a part of the last one: without that, CONLIN does not converge where a minimum is not held by
   constraints, because its approximations are monotonic. */
#include "math/dense.h"
#include "optimizers/nlp_internal.h"

#include <math.h>
#include <string.h>

/* numbers that may vanish: their range begins at this part of it */
static const double shift = 0.1;
/* curvature that every number has, as a part of the largest G of the objective: s + 1/s has its minimum at s = 1 */
static const double proximal = 1e-6;
/* multipliers of constraints that cannot be satisfied, in units of |G of f| / |G of c| */
static const double multiplier_max = 1e6;
/* a step that turns back is limited to this part of the last one; a limit grows by the other factor */
static const double narrower = 0.5, wider = 1.5;

enum { DUAL_MAX = 200, HALVINGS = 40 };

typedef struct {
  mbg__nlp *w;
  int n, m;
  double *x, *trial;  /* point of the approximation, next point                                 (n) */
  double *turn;       /* ln s of the last step                                                  (n) */
  double *limit;      /* most |ln s|                                                            (n) */
  double *from, *per; /* s = (x' - from)/(x - from); with per > 0: s = exp(per (x' - x))         (n) */
  double *low, *high; /* bounds of s                                                            (n) */
  double *s, *A, *B;  /*                                                                        (n) */
  double *G;          /* f, then constraints: derivatives by s                            ((m+1) x n) */
  double lend;        /* proximal weight */
  double *lambda, *most, *unit, *at, *step, *r; /* multipliers, their bounds and size, trial, Newton, c(s)    (m) */
  int *free; /* rows that Newton moves                                                 (m) */
  mbg__cholesky D;
  real *rhs; /* (m) */
} conlin;

/* ---------------------------------------------------------------------- approximation */

/* the origin of number k: its own zero below its bounds, else a point that makes it positive */
static double origin(const conlin *q, int k) {
  const mbg__nlp_problem *p = q->w->p;
  const double lower = p->lower[k], upper = p->upper[k];
  const double zero = p->span ? -p->offset[k] / p->span[k] : 0;
  if (isfinite(lower) && lower > zero) {
    return zero;
  }
  return isfinite(lower) && isfinite(upper) && upper > lower ? lower - shift * (upper - lower) : q->x[k] - 1;
}

static double ratio(const conlin *q, int k, double x) {
  return q->per[k] > 0 ? exp(q->per[k] * (x - q->x[k])) : (x - q->from[k]) / (q->x[k] - q->from[k]);
}

static double number(const conlin *q, int k, double s) {
  return q->per[k] > 0 ? q->x[k] + log(s) / q->per[k] : q->from[k] + s * (q->x[k] - q->from[k]);
}

/* bounds of s and derivatives by s at the point where gradients are known */
static void approximate(conlin *q) {
  const mbg__nlp *w = q->w;
  const mbg__nlp_problem *p = w->p;
  double largest = 0;
  for (int k = 0; k < q->n; k++) {
    q->per[k] = p->log && p->log[k] ? p->span[k] : 0;
    q->from[k] = origin(q, k);
    const double by_s = q->per[k] > 0 ? 1 / q->per[k] : q->x[k] - q->from[k];
    const double near = isfinite(p->lower[k]) && isfinite(p->upper[k]) ? q->limit[k] : fmin(q->limit[k], log(2));
    q->low[k] = fmax(isfinite(p->lower[k]) ? ratio(q, k, p->lower[k]) : 0, exp(-near));
    q->high[k] = fmin(isfinite(p->upper[k]) ? ratio(q, k, p->upper[k]) : INFINITY, exp(near));
    q->G[k] = w->at.g[k] * by_s;
    for (int i = 0; i < q->m; i++) {
      q->G[(size_t)(i + 1) * (size_t)q->n + (size_t)k] = w->at.J[(size_t)i * (size_t)q->n + (size_t)k] * by_s;
    }
    largest = fmax(largest, fabs(q->G[k]));
  }
  q->lend = largest > 0 ? proximal * largest : proximal;
  for (int i = 0; i < q->m; i++) {
    double row = 0;
    for (int k = 0; k < q->n; k++) {
      row = fmax(row, fabs(q->G[(size_t)(i + 1) * (size_t)q->n + (size_t)k]));
    }
    q->unit[i] = row > 0 ? fmax(largest, q->lend) / row : 0;
    q->most[i] = multiplier_max * q->unit[i];
    q->lambda[i] = fmin(q->lambda[i], q->most[i]);
  }
}

/* ---------------------------------------------------------------------- dual function */

/* s of the least Lagrangian for lambda, the constraints there, and the value of the dual function */
static double dual(conlin *q, const double *lambda, double *r) {
  const size_t n = (size_t)q->n;
  double value = 0;
  memcpy(r, q->w->at.c, (size_t)q->m * sizeof(double));
  for (size_t k = 0; k < n; k++) {
    q->A[k] = q->B[k] = q->lend;
    for (int i = 0; i <= q->m; i++) {
      const double G = q->G[(size_t)i * n + k] * (i == 0 ? 1 : lambda[i - 1]);
      q->A[k] += fmax(G, 0);
      q->B[k] -= fmin(G, 0);
    }
    const double s = q->s[k] = fmin(fmax(sqrt(q->B[k] / q->A[k]), q->low[k]), q->high[k]);
    value += q->A[k] * (s - 1) + q->B[k] * (1 / s - 1);
    for (int i = 0; i < q->m; i++) {
      const double G = q->G[(size_t)(i + 1) * n + k];
      r[i] += G > 0 ? G * (s - 1) : G * (1 - 1 / s);
    }
  }
  for (int i = 0; i < q->m; i++) {
    value += lambda[i] * q->w->at.c[i];
  }
  return value;
}

/* D = sum over numbers within their bounds of (dr/ds)(dr/ds)^T / (2B/s^3), of the rows that move */
static void dual_matrix(conlin *q, int nfree) {
  const size_t n = (size_t)q->n, f = (size_t)nfree;
  double largest = 0;
  memset(q->D.A, 0, f * f * sizeof(real));
  for (size_t k = 0; k < n; k++) {
    const double s = q->s[k];
    if (!(s > q->low[k] && s < q->high[k])) {
      continue;
    }
    for (size_t a = 0; a < f; a++) {
      const double Ga = q->G[(size_t)(q->free[a] + 1) * n + k], ra = Ga > 0 ? Ga : Ga / (s * s);
      for (size_t b = 0; b <= a; b++) {
        const double Gb = q->G[(size_t)(q->free[b] + 1) * n + k], rb = Gb > 0 ? Gb : Gb / (s * s);
        q->D.A[a + f * b] += ra * rb * s * s * s / (2 * q->B[k]);
      }
    }
  }
  for (size_t a = 0; a < f; a++) {
    largest = fmax(largest, re(q->D.A[a + f * a]));
  }
  for (size_t a = 0; a < f; a++) {
    q->D.A[a + f * a] += fmax(1e-10 * largest, 1e-300);
  }
}

/* Newton's direction for the rows that are not held by a bound of their multiplier; false: the maximum is reached */
static bool dual_direction(conlin *q) {
  int nfree = 0;
  double rest = 0;
  for (int i = 0; i < q->m; i++) {
    const bool held = (q->lambda[i] <= 0 && q->r[i] <= 0) || (q->lambda[i] >= q->most[i] && q->r[i] >= 0);
    q->step[i] = 0;
    if (!held) {
      q->free[nfree++] = i;
      rest = fmax(rest, fabs(q->r[i]));
    }
  }
  if (rest <= 1e-12) {
    return false;
  }
  q->D.n = nfree;
  dual_matrix(q, nfree);
  for (int a = 0; a < nfree; a++) {
    q->rhs[a] = q->r[q->free[a]];
  }
  const bool newton = mbg__cholesky_factor(&q->D, NULL) == MBG_OK;
  if (newton) {
    mbg__cholesky_solve(&q->D, q->rhs, 1);
  }
  double part = 1; /* of Newton's step, so that no multiplier changes beyond its size */
  for (int a = 0; a < nfree && newton; a++) {
    const int i = q->free[a];
    const double reach = 10 * (q->lambda[i] + q->unit[i]);
    part = fmin(part, reach / fmax(fabs(re(q->rhs[a])), reach));
  }
  for (int a = 0; a < nfree; a++) {
    const int i = q->free[a];
    q->step[i] = newton ? part * re(q->rhs[a]) : copysign(q->unit[i], q->r[i]);
  }
  return true;
}

/* one step along the direction, held within the bounds; false: the dual function does not grow any more */
static bool dual_step(conlin *q, double *value) {
  double t = 1;
  for (int trial = 0; trial < HALVINGS; trial++, t /= 2) {
    double gain = 0;
    for (int i = 0; i < q->m; i++) {
      q->at[i] = fmin(fmax(q->lambda[i] + t * q->step[i], 0), q->most[i]);
      gain += q->r[i] * (q->at[i] - q->lambda[i]);
    }
    const double next = dual(q, q->at, q->step + q->m);
    if (gain > 0 && next >= *value + 1e-4 * gain) {
      memcpy(q->lambda, q->at, (size_t)q->m * sizeof(double));
      memcpy(q->r, q->step + q->m, (size_t)q->m * sizeof(double));
      *value = next;
      return true;
    }
  }
  return false;
}

static void solve_dual(conlin *q) {
  double value = dual(q, q->lambda, q->r);
  for (int i = 0; i < DUAL_MAX && dual_direction(q) && dual_step(q, &value); i++) {
  }
  dual(q, q->lambda, q->r);
}

/* ---------------------------------------------------------------------- search */

/* The next point, and the limits of the step after it. ln s is the step that the approximation asks for; where it turns
   back, the secant through it and the last one says where it would be 0. */
static void next_point(conlin *q) {
  for (int k = 0; k < q->n; k++) {
    const double last = q->turn[k];
    double turn = log(q->s[k]);
    if (turn * last < 0) {
      q->limit[k] = narrower * fabs(last);
      turn *= fabs(last) / (fabs(last) + fabs(turn));
    } else {
      q->limit[k] *= wider;
    }
    q->turn[k] = copysign(fmin(fabs(turn), q->limit[k]), turn);
    q->trial[k] = fmin(fmax(number(q, k, exp(q->turn[k])), q->w->p->lower[k]), q->w->p->upper[k]);
  }
}

/* gradients at the next point, or nearer to the last one where it cannot be evaluated; false: the search ends */
static bool move(conlin *q) {
  for (int trial = 0; trial < HALVINGS; trial++) {
    if (memcmp(q->trial, q->x, (size_t)q->n * sizeof(double)) == 0) {
      return false;
    }
    if (mbg__nlp_derivatives(q->w, q->trial) == 0) {
      memcpy(q->x, q->trial, (size_t)q->n * sizeof(double));
      return true;
    }
    if (q->w->stop) {
      return false;
    }
    for (int k = 0; k < q->n; k++) {
      q->trial[k] = q->x[k] + (q->trial[k] - q->x[k]) / 2;
      q->turn[k] /= 2;
      q->limit[k] = fabs(q->turn[k]);
    }
  }
  return false;
}

static int prepare(conlin *q) {
  mbg__arena *arena = &q->w->arena;
  const size_t n = (size_t)q->n + 1, m = (size_t)q->m + 1;
  double **numbers[] = {&q->x,   &q->trial, &q->turn, &q->limit, &q->from, &q->per,
                        &q->low, &q->high,  &q->s,    &q->A,     &q->B};
  double **rows[] = {&q->lambda, &q->most, &q->unit, &q->at, &q->r};
  for (int i = 0; i < MBG_COUNT(numbers); i++) {
    *numbers[i] = MBG_TAKE(arena, double, n);
  }
  for (int i = 0; i < MBG_COUNT(rows); i++) {
    *rows[i] = MBG_TAKE(arena, double, m);
  }
  q->step = MBG_TAKE(arena, double, 2 * m);
  q->free = MBG_TAKE(arena, int, m);
  q->rhs = MBG_TAKE(arena, real, m);
  q->G = MBG_TAKE(arena, double, m *n);
  if (mbg__cholesky_prepare(&q->D, arena, q->m) < 0 || mbg__arena_check(q->w->ctx, arena) < 0) {
    return mbg__fail_memory(q->w->ctx);
  }
  memcpy(q->x, q->w->best_x, (size_t)q->n * sizeof(double));
  for (int k = 0; k < q->n; k++) {
    q->turn[k] = 0;
    q->limit[k] = INFINITY;
  }
  for (int i = 0; i < q->m; i++) {
    q->lambda[i] = 0;
  }
  return MBG_OK;
}

int mbg__nlp_conlin(mbg__nlp *w) {
  conlin q = {.w = w, .n = w->p->n, .m = w->p->m};
  const int err = prepare(&q);
  if (err < 0) {
    return err;
  }
  do {
    approximate(&q);
    solve_dual(&q);
    next_point(&q);
  } while (move(&q));
  if (!w->stop) {
    w->result->reason = MBG__NLP_STUCK;
  }
  return MBG_OK;
}
