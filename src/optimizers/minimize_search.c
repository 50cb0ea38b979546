/* Search along the arc P(x + a d): strong Wolfe conditions (Nocedal, Wright, Numerical Optimization, section 3.5), on
   the arc that bends at the bounds. */
#include "optimizers/minimize_internal.h"

#include <float.h>
#include <math.h>

enum { SEARCH_MAX = 40 };

static const double decrease = 1e-4; /* c1 */

/* A point of the arc: step a, value f, slope f' (of free components); f infinite: not computable there. */
typedef struct {
  double a, f, slope;
} point;

/* State of a search: the start, the bracket [lo, hi] whose lower end is acceptable so far. */
typedef struct {
  mbg__minimizer *m;
  mbg__search *s;
  point zero, lo, hi;
  bool bracketed;
} search;

static void arc(const search *q, double a, double *x) {
  for (int k = 0; k < q->m->n; k++) {
    x[k] = q->s->x[k] + a * q->s->d[k];
  }
  mbg__minimize_project(q->m, x);
}

/* Slope along the arc where it is at x: numbers held by a bound do not move. */
static double slope_at(const search *q, const double *x, const double *g) {
  double sum = 0;
  for (int k = 0; k < q->m->n; k++) {
    const double d = q->s->d[k];
    const bool held =
        (d < 0 && x[k] <= mbg__minimize_lower(q->m, k)) || (d > 0 && x[k] >= mbg__minimize_upper(q->m, k));
    sum += held ? 0 : g[k] * d;
  }
  return sum;
}

/* g . (P(x + a d) - x): decrease of a linear f. */
static double linear_change(const search *q, const double *x) {
  double sum = 0;
  for (int k = 0; k < q->m->n; k++) {
    sum += q->s->g[k] * (x[k] - q->s->x[k]);
  }
  return sum;
}

static int evaluate(search *q, double a, point *p) {
  arc(q, a, q->s->x1);
  p->a = a;
  const int err = mbg__minimize_evaluate(q->m, q->s->x1, &q->s->f1, q->s->g1);
  p->f = err > 0 ? INFINITY : q->s->f1;
  p->slope = err == 0 ? slope_at(q, q->s->x1, q->s->g1) : 0;
  return err < 0 ? err : 0;
}

/* Is the decrease enough? Near a minimum, where f no longer tells by rounding, the slope does (Hager, Zhang, 2005). */
static bool low_enough(const search *q, const point *p) {
  if (!isfinite(p->f)) {
    return false;
  }
  const double rounding = 100 * DBL_EPSILON * fabs(q->zero.f);
  return p->f <= q->zero.f + decrease * linear_change(q, q->s->x1) ||
         (p->f <= q->zero.f + rounding && p->slope <= (2 * decrease - 1) * q->zero.slope);
}

/* Minimum of the cubic through both ends of the bracket, kept away from them. */
static double between(const point *lo, const point *hi) {
  const double width = hi->a - lo->a;
  double a = lo->a + 0.5 * width;
  if (!isfinite(hi->f)) {
    return lo->a + 0.2 * width;
  }
  const double theta = 3 * (lo->f - hi->f) / width + lo->slope + hi->slope;
  const double root = theta * theta - lo->slope * hi->slope;
  if (root >= 0) {
    const double gamma = copysign(sqrt(root), width);
    const double denominator = hi->slope - lo->slope + 2 * gamma;
    if (denominator != 0) {
      a = hi->a - width * (hi->slope + gamma - theta) / denominator;
    }
  }
  const double x = (a - lo->a) / width;
  return isfinite(x) ? lo->a + fmin(fmax(x, 0.1), 0.9) * width : lo->a + 0.5 * width;
}

/* Next trial outside the bracket: where the slopes extrapolate to 0, at least twice and at most ten times as far. */
static double beyond(const point *last, const point *p) {
  const double change = p->slope - last->slope;
  const double a = change > 0 ? p->a - p->slope * (p->a - last->a) / change : INFINITY;
  return fmin(fmax(a, 2 * p->a), 10 * p->a);
}

/* Takes the trial p into the bracket. Returns true when it fulfils both conditions. */
static bool consider(search *q, const point *p) {
  if (!low_enough(q, p) || p->f > q->lo.f + 100 * DBL_EPSILON * fabs(q->lo.f)) {
    q->hi = *p;
    q->bracketed = true;
    return false;
  }
  if (fabs(p->slope) <= -q->s->curvature * q->zero.slope) {
    return true;
  }
  if (p->slope * (q->bracketed ? q->hi.a - q->lo.a : 1) >= 0) {
    q->hi = q->lo;
    q->bracketed = true;
  }
  q->lo = *p;
  return false;
}

/* The whole arc lies at bounds beyond a: going on changes nothing. */
static bool arc_ends(const search *q) {
  for (int k = 0; k < q->m->n; k++) {
    const double x = q->s->x1[k], d = q->s->d[k];
    if ((d < 0 && x > mbg__minimize_lower(q->m, k)) || (d > 0 && x < mbg__minimize_upper(q->m, k))) {
      return false;
    }
  }
  return true;
}

int mbg__minimize_search(mbg__minimizer *m, mbg__search *s) {
  search q = {.m = m, .s = s, .zero = {.a = 0, .f = s->f}};
  q.zero.slope = slope_at(&q, s->x, s->g);
  q.lo = q.zero;
  if (!(q.zero.slope < 0)) {
    return 1;
  }
  point p = {.a = s->a}, last = q.zero;
  double a = s->a;
  for (int i = 0; i < SEARCH_MAX; i++) {
    const int err = evaluate(&q, a, &p);
    if (err < 0) {
      return err;
    }
    if (consider(&q, &p) || (q.lo.a == p.a && arc_ends(&q))) {
      s->a = p.a;
      return 0;
    }
    if (q.bracketed && fabs(q.hi.a - q.lo.a) <= 1e-10 * fmax(q.lo.a, q.hi.a)) {
      break;
    }
    a = q.bracketed ? between(&q.lo, &q.hi) : beyond(&last, &p);
    last = p;
  }
  /* a lower value is good enough; it was not the last one tried */
  if (q.lo.a > 0) {
    s->a = q.lo.a;
    return evaluate(&q, s->a, &p);
  }
  return 1;
}
