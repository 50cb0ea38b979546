/* Trust-region Newton under bounds, from products with second derivatives.

   The model q(s) = g.s + 1/2 s.Hs is made small by conjugate gradients (Steihaug, SIAM J. Numer. Anal. 20, 1983) over
   the numbers that no bound holds, until the residual has fallen enough, the curvature is not positive, or |s| reaches
   the radius. Where a bound is met first, its number is held from then on and the others go on from there (Lin, More,
   SIAM J. Optim. 9, 1999). Lengths are those of the metric D, which is the preconditioner, too. */
#include "optimizers/minimize_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
  mbg__minimizer *m;
  int n;
  double *x, *g, *x1, *g1; /* the point, the next one                  (n) */
  double *s, *r;           /* step, and g + H s                        (n) */
  double *d, *Hd;          /* direction of conjugate gradients         (n) */
  bool *held;              /*                                          (n) */
  double f, radius;
  bool edge; /* the step ends at the radius */
} newton;

static int take_memory(newton *w) {
  mbg__arena *arena = &w->m->arena;
  double **vectors[] = {&w->x, &w->g, &w->x1, &w->g1, &w->s, &w->r, &w->d, &w->Hd};
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    *vectors[i] = MBG_TAKE(arena, double, w->n + 1);
  }
  w->held = MBG_TAKE(arena, bool, w->n + 1);
  return mbg__arena_check(w->m->ctx, arena);
}

/* ---------------------------------------------------------------------- lengths */

static double dot(const newton *w, const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < w->n; k++) {
    sum += a[k] * b[k];
  }
  return sum;
}

/* a . D b */
static double dot_metric(const newton *w, const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < w->n; k++) {
    sum += mbg__minimize_metric(w->m, k) * a[k] * b[k];
  }
  return sum;
}

/* r . D^-1 r over the numbers that are not held */
static double residual(const newton *w) {
  double sum = 0;
  for (int k = 0; k < w->n; k++) {
    sum += w->held[k] ? 0 : w->r[k] * w->r[k] / mbg__minimize_metric(w->m, k);
  }
  return sum;
}

/* the step along d that reaches the radius */
static double to_radius(const newton *w) {
  const double a = dot_metric(w, w->d, w->d), b = dot_metric(w, w->s, w->d);
  const double c = fmax(0, w->radius * w->radius - dot_metric(w, w->s, w->s));
  return c / (b + sqrt(b * b + a * c));
}

/* the step along d that reaches a bound, and its number; -1: none before `most` */
static int to_bound(const newton *w, double *most) {
  int which = -1;
  for (int k = 0; k < w->n; k++) {
    const double at = w->x[k] + w->s[k],
                 limit = w->d[k] < 0 ? mbg__minimize_lower(w->m, k) : mbg__minimize_upper(w->m, k);
    if (!w->held[k] && w->d[k] != 0 && (limit - at) / w->d[k] < *most) {
      *most = fmax(0, (limit - at) / w->d[k]);
      which = k;
    }
  }
  return which;
}

/* ---------------------------------------------------------------------- the step */

/* d = -D^-1 r + beta d */
static void turn(newton *w, double beta) {
  for (int k = 0; k < w->n; k++) {
    w->d[k] = w->held[k] ? 0 : -w->r[k] / mbg__minimize_metric(w->m, k) + beta * w->d[k];
  }
}

static void advance(newton *w, double a) {
  for (int k = 0; k < w->n; k++) {
    w->s[k] += a * w->d[k];
    w->r[k] += a * w->Hd[k];
  }
}

static int multiply(newton *w) {
  const mbg__minimize_problem *p = w->m->problem;
  const int mark = mbg__message_mark(w->m->ctx);
  int err = p->product(p->user, w->x, w->d, w->Hd);
  w->m->result->products++;
  if (err == 0 && !isfinite(dot(w, w->Hd, w->Hd))) {
    err = 1;
  }
  if (err > 0 || err == MBG_ERROR_INTERRUPTED) {
    mbg__message_rewind(w->m->ctx, mark);
  }
  if (err == MBG_ERROR_INTERRUPTED) {
    w->m->result->reason = MBG__MINIMIZE_INTERRUPTED;
  }
  return err;
}

/* one direction; *more: conjugate gradients go on */
static int extend(newton *w, double enough, double *rr, bool *more) {
  const int err = multiply(w);
  *more = false;
  if (err != 0) {
    return err < 0 ? err : 0;
  }
  const double curvature = dot(w, w->d, w->Hd), edge = to_radius(w);
  double a = curvature > 0 ? *rr / curvature : edge;
  w->edge = a >= edge;
  a = fmin(a, edge);
  const int bound = to_bound(w, &a);
  advance(w, a);
  if (bound >= 0) {
    /* the others begin anew on the face of the bound */
    w->held[bound] = true;
    w->edge = false;
    *rr = residual(w);
    turn(w, 0);
    *more = *rr > enough;
    return 0;
  }
  const double before = *rr;
  *rr = residual(w);
  turn(w, *rr / before);
  *more = !w->edge && *rr > enough;
  return 0;
}

/* s and r within the radius; the residual falls by min(1/2, sqrt(|g| / |g0|)): convergence of order 3/2 */
static int find_step(newton *w, double reference) {
  bool more = true;
  int err = 0;
  memset(w->s, 0, (size_t)w->n * sizeof(double));
  memcpy(w->r, w->g, (size_t)w->n * sizeof(double));
  for (int k = 0; k < w->n; k++) {
    w->held[k] = mbg__minimize_active(w->m, w->x, w->g, k);
  }
  w->edge = false;
  double rr = residual(w);
  const double fall = fmin(0.5, sqrt(sqrt(rr) / reference)), enough = fall * fall * rr;
  memset(w->d, 0, (size_t)w->n * sizeof(double));
  turn(w, 0);
  for (int k = 0; err == 0 && more && k < 2 * w->n + 10; k++) {
    err = extend(w, enough, &rr, &more);
  }
  return err;
}

/* ---------------------------------------------------------------------- the search */

static double first_radius(const newton *w) {
  const double g = sqrt(fmax(residual(w), DBL_MIN)), x = sqrt(dot_metric(w, w->x, w->x));
  return w->m->opt->first_step > 0 ? 10 * w->m->opt->first_step : fmax(x, fabs(w->f) / g);
}

static void move(newton *w, double f1) {
  double *x = w->x, *g = w->g;
  w->x = w->x1;
  w->g = w->g1;
  w->x1 = x;
  w->g1 = g;
  w->f = f1;
}

/* Tries the step: 0 when it was taken, 1 when it was not. */
static int try_step(newton *w) {
  const double length = sqrt(dot_metric(w, w->s, w->s)), gain = -(dot(w, w->g, w->s) + dot(w, w->r, w->s)) / 2;
  double f1 = 0;
  if (!(length > 0 && gain > 0)) {
    w->radius = 0;
    return 1;
  }
  for (int k = 0; k < w->n; k++) {
    w->x1[k] = w->x[k] + w->s[k];
  }
  mbg__minimize_project(w->m, w->x1);
  const int err = mbg__minimize_evaluate(w->m, w->x1, &f1, w->g1);
  if (err < 0) {
    return err;
  }
  const double noise = 10 * DBL_EPSILON * fmax(fabs(w->f), fabs(f1));
  const bool rounding = gain <= noise && err == 0;
  const double ratio = err > 0 ? -1 : (w->f - f1) / gain;
  /* values no longer tell: the gradient does */
  const bool better = rounding && f1 <= w->f + noise &&
                      mbg__minimize_norm(w->m, w->x1, w->g1, NULL) < mbg__minimize_norm(w->m, w->x, w->g, NULL);
  if (better || (!rounding && ratio > 1e-4)) {
    w->radius = !rounding && ratio < 0.25 ? 0.5 * length : ratio > 0.75 && w->edge ? 2.5 * w->radius : w->radius;
    move(w, f1);
    return 0;
  }
  w->radius = rounding ? 0 : 0.25 * length;
  return 1;
}

int mbg__minimize_newton(mbg__minimizer *m) {
  newton w = {.m = m, .n = m->n, .f = m->result->value};
  int err = take_memory(&w);
  if (err < 0) {
    return err;
  }
  memcpy(w.x, m->best_x, (size_t)w.n * sizeof(double));
  memcpy(w.g, m->best_g, (size_t)w.n * sizeof(double));
  memcpy(w.r, w.g, (size_t)w.n * sizeof(double));
  w.radius = first_radius(&w);
  while (err == 0) {
    err = find_step(&w, m->result->gradient_start);
    const int refused = err == 0 ? try_step(&w) : err;
    err = refused < 0 ? refused : 0;
    if (refused > 0 && !(w.radius > DBL_EPSILON * (sqrt(dot_metric(&w, w.x, w.x)) + DBL_MIN))) {
      m->result->reason = MBG__MINIMIZE_SEARCH;
      err = MBG__STOP;
    } else if (refused == 0) {
      m->result->iterations++;
      err = mbg__minimize_iterated(m, w.x, w.f, w.g);
    }
  }
  return err < 0 ? err : 0;
}
