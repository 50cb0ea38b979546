/* Descent methods under bounds: steepest descent, conjugate gradients, limited-memory BFGS.

   Numbers at a bound with the gradient pushing outwards are held, the direction is built from the others alone
   (two-metric projection; Bertsekas, SIAM J. Control Optim. 20, 1982), and the search follows the arc that bends at the
   bounds. */
#include "optimizers/minimize_internal.h"

#include <math.h>
#include <string.h>

/* a pair is kept if the angle between s and y is below 90 degrees by more than rounding */
static const double curvature_min = 1e-12;

typedef struct {
  mbg__minimizer *m;
  int n, npair, next;  /* pairs kept; where the next one goes */
  double *x, *g;       /* the point                                     (n) */
  double *x1, *g1;     /* the next one                                  (n) */
  double *d;           /* direction                                     (n) */
  double *s, *y;       /* differences of points and gradients           (memory x n) */
  double *rho, *alpha; /* of the two loops                              (memory) */
  bool *held, *held0;  /* at a bound, now and an iteration ago          (n) */
  double f, slope;     /* slope: g . d */
  double last_a, last_slope, last_drop;
  bool fresh; /* nothing is known of earlier iterations */
} descent;

static int take_memory(descent *w) {
  mbg__arena *arena = &w->m->arena;
  const int n = w->n + 1, memory = w->m->opt->memory;
  double **vectors[] = {&w->x, &w->g, &w->x1, &w->g1, &w->d};
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    *vectors[i] = MBG_TAKE(arena, double, n);
  }
  w->s = MBG_TAKE(arena, double, (size_t)n *(size_t)memory);
  w->y = MBG_TAKE(arena, double, (size_t)n *(size_t)memory);
  w->rho = MBG_TAKE(arena, double, memory);
  w->alpha = MBG_TAKE(arena, double, memory);
  w->held = MBG_TAKE(arena, bool, n);
  w->held0 = MBG_TAKE(arena, bool, n);
  return mbg__arena_check(w->m->ctx, arena);
}

/* ---------------------------------------------------------------------- directions */

/* a . b over the numbers that are not held */
static double dot(const descent *w, const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < w->n; k++) {
    sum += w->held[k] ? 0 : a[k] * b[k];
  }
  return sum;
}

/* a . D^-1 b, the product of gradients */
static double dot_dual(const descent *w, const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < w->n; k++) {
    sum += w->held[k] ? 0 : a[k] * b[k] / mbg__minimize_metric(w->m, k);
  }
  return sum;
}

/* a . D b, the product of points */
static double dot_metric(const descent *w, const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < w->n; k++) {
    sum += w->held[k] ? 0 : a[k] * b[k] * mbg__minimize_metric(w->m, k);
  }
  return sum;
}

/* d = -D^-1 g */
static void steepest(descent *w) {
  for (int k = 0; k < w->n; k++) {
    w->d[k] = w->held[k] ? 0 : -w->g[k] / mbg__minimize_metric(w->m, k);
  }
}

static int pair_index(const descent *w, int age) { /* 0: newest */
  const int memory = w->m->opt->memory;
  return (w->next - 1 - age + 2 * memory) % memory;
}

/* d = -H g by the two loops over the pairs (Nocedal, Wright, algorithm 7.4), restricted to free components. */
static void quasi_newton(descent *w) {
  for (int k = 0; k < w->n; k++) {
    w->d[k] = w->held[k] ? 0 : -w->g[k];
  }
  double gamma = 0;
  for (int age = 0; age < w->npair; age++) {
    const int i = pair_index(w, age);
    const double *s = w->s + (size_t)i * (size_t)w->n, *y = w->y + (size_t)i * (size_t)w->n;
    const double sy = dot(w, s, y), yy = dot_dual(w, y, y);
    w->rho[i] = sy > curvature_min * sqrt(dot_metric(w, s, s) * yy) ? 1 / sy : 0;
    if (w->rho[i] == 0) {
      continue;
    }
    gamma = gamma > 0 ? gamma : sy / yy;
    w->alpha[i] = w->rho[i] * dot(w, s, w->d);
    for (int k = 0; k < w->n; k++) {
      w->d[k] -= w->held[k] ? 0 : w->alpha[i] * y[k];
    }
  }
  for (int k = 0; k < w->n; k++) {
    w->d[k] *= (gamma > 0 ? gamma : 1) / mbg__minimize_metric(w->m, k);
  }
  for (int age = w->npair - 1; age >= 0; age--) {
    const int i = pair_index(w, age);
    const double *s = w->s + (size_t)i * (size_t)w->n, *y = w->y + (size_t)i * (size_t)w->n;
    if (w->rho[i] == 0) {
      continue;
    }
    const double beta = w->rho[i] * dot(w, y, w->d);
    for (int k = 0; k < w->n; k++) {
      w->d[k] += w->held[k] ? 0 : (w->alpha[i] - beta) * s[k];
    }
  }
  w->fresh = gamma == 0;
}

/* d = -D^-1 g + beta d, beta = max(0, g.D^-1 (g - g0) / g0.D^-1 g0) (Polak, Ribiere), steepest descent when the set of
   held numbers changed. g0, from before the step, lies in g1. */
static void conjugate(descent *w) {
  const double before = dot_dual(w, w->g1, w->g1);
  double beta = 0;
  if (!w->fresh && before > 0 && !memcmp(w->held, w->held0, (size_t)w->n * sizeof(bool))) {
    beta = fmax(0, (dot_dual(w, w->g, w->g) - dot_dual(w, w->g, w->g1)) / before);
  }
  for (int k = 0; k < w->n; k++) {
    w->d[k] = w->held[k] ? 0 : -w->g[k] / mbg__minimize_metric(w->m, k) + beta * w->d[k];
  }
}

static void direction(descent *w) {
  memcpy(w->held0, w->held, (size_t)w->n * sizeof(bool));
  for (int k = 0; k < w->n; k++) {
    w->held[k] = mbg__minimize_active(w->m, w->x, w->g, k);
  }
  switch (w->m->opt->method) {
  case MBG__MINIMIZE_LBFGS:
    quasi_newton(w);
    break;
  case MBG__MINIMIZE_CG:
    conjugate(w);
    break;
  default:
    steepest(w);
  }
  /* numbers at a bound that the direction would push outwards stay where they are */
  for (int k = 0; k < w->n; k++) {
    if ((w->d[k] < 0 && w->x[k] <= mbg__minimize_lower(w->m, k)) ||
        (w->d[k] > 0 && w->x[k] >= mbg__minimize_upper(w->m, k))) {
      w->d[k] = 0;
    }
  }
  w->slope = dot(w, w->g, w->d);
  const double gg = dot_dual(w, w->g, w->g);
  if (!(w->slope < -1e-12 * gg)) {
    steepest(w);
    w->fresh = true;
    w->slope = -gg;
  }
}

/* ---------------------------------------------------------------------- steps */

/* Length of the first trial: 1 for quasi-Newton; else estimated from the last step; at the start the length that
   halves a sum of squares, or a unit length. */
static double first_trial(const descent *w) {
  const double gg = dot_dual(w, w->g, w->g);
  if (w->fresh && w->last_a == 0) {
    const double length = w->m->opt->first_step;
    return length > 0 ? length / sqrt(gg) : w->f > 0 ? w->f / gg : 1 / sqrt(gg);
  }
  if (w->m->opt->method == MBG__MINIMIZE_LBFGS && !w->fresh) {
    return 1;
  }
  const double a = w->last_a * w->last_slope / w->slope;
  return isfinite(a) && a > 0 ? a : 1 / sqrt(gg);
}

static double curvature(const descent *w) {
  switch (w->m->opt->method) {
  case MBG__MINIMIZE_LBFGS:
    return 0.9;
  case MBG__MINIMIZE_CG:
    return 0.1;
  default:
    return 0.4;
  }
}

static void keep_pair(descent *w) {
  double *s = w->s + (size_t)w->next * (size_t)w->n, *y = w->y + (size_t)w->next * (size_t)w->n, ss = 0, yy = 0, sy = 0;
  for (int k = 0; k < w->n; k++) {
    const double metric = mbg__minimize_metric(w->m, k);
    s[k] = w->x1[k] - w->x[k];
    y[k] = w->g1[k] - w->g[k];
    ss += s[k] * s[k] * metric;
    yy += y[k] * y[k] / metric;
    sy += s[k] * y[k];
  }
  if (sy > curvature_min * sqrt(ss * yy)) {
    const int memory = w->m->opt->memory;
    w->next = (w->next + 1) % memory;
    w->npair = w->npair < memory ? w->npair + 1 : memory;
  }
}

static void swap(double **a, double **b) {
  double *c = *a;
  *a = *b;
  *b = c;
}

/* The search; when it fails on a direction of memory, once more along the gradient. */
static int step(descent *w) {
  mbg__search s = {.x = w->x,
                   .g = w->g,
                   .d = w->d,
                   .f = w->f,
                   .curvature = curvature(w),
                   .x1 = w->x1,
                   .g1 = w->g1,
                   .a = first_trial(w)};
  int err = mbg__minimize_search(w->m, &s);
  if (err > 0 && (w->npair > 0 || !w->fresh)) {
    w->npair = 0;
    w->fresh = true;
    w->last_a = 0;
    steepest(w);
    w->slope = -dot_dual(w, w->g, w->g);
    s.a = first_trial(w);
    err = mbg__minimize_search(w->m, &s);
  }
  if (err != 0) {
    return err;
  }
  w->last_a = s.a;
  w->last_slope = w->slope;
  w->last_drop = w->f - s.f1;
  if (w->m->opt->method == MBG__MINIMIZE_LBFGS) {
    keep_pair(w);
  }
  w->f = s.f1;
  swap(&w->x, &w->x1);
  swap(&w->g, &w->g1);
  w->fresh = false;
  return 0;
}

int mbg__minimize_descent(mbg__minimizer *m) {
  descent w = {.m = m, .n = m->n, .f = m->result->value, .fresh = true};
  int err = take_memory(&w);
  if (err < 0) {
    return err;
  }
  memcpy(w.x, m->best_x, (size_t)w.n * sizeof(double));
  memcpy(w.g, m->best_g, (size_t)w.n * sizeof(double));
  for (int small = 0; err == 0;) {
    direction(&w);
    err = step(&w);
    if (err > 0) {
      m->result->reason = MBG__MINIMIZE_SEARCH;
    } else if (err == 0) {
      m->result->iterations++;
      err = mbg__minimize_iterated(m, w.x, w.f, w.g);
      small = w.last_drop <= m->opt->value_tolerance * fabs(w.f) ? small + 1 : 0;
      if (err == 0 && m->opt->value_tolerance > 0 && small == 2) {
        m->result->reason = MBG__MINIMIZE_VALUE;
        err = MBG__STOP;
      }
    }
  }
  return err < 0 ? err : 0;
}
