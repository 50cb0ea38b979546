/* Proof of second derivatives (theory 9, section 7): symmetry of products along two directions, the Taylor remainder of
   third order, and differences of exact gradients. Each sees what the others miss. */
#include "mbgrad/hessian.h"
#include "run/run_internal.h"

static const double eps_first = 1e-1, eps_ratio = 0.46415888336127786; /* 10^(-1/3): three points per decade */

typedef struct {
  mbg_context *ctx;
  mbg_run *run;
  int nc, np, criterion;
  double *p, *trial, *first, *second; /* parameters, and two directions                (np) */
  double *product, *other;            /* H times them                                  (np) */
  double *weights, *psi, *values;     /*                                               (nc) */
  double *gradient, *plus, *minus;    /* of the criterion                              (np) */
  double *gradients;                  /*                                               (nc x np) */
  double size;                        /* sums of the terms of e.H d and d.H e */
} trial_runs;

/* ---------------------------------------------------------------------- pieces */

static double size_of(const trial_runs *b, int i) {
  const double x = fabs(b->p[i]);
  return x > 0 ? x : 1;
}

static double dot(const double *x, const double *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * y[i];
  }
  return sum;
}

/* directions by the sizes of the parameters, with signs that repeat every two and every three entries */
static void choose_directions(trial_runs *b) {
  for (int i = 0; i < b->np; i++) {
    b->first[i] = size_of(b, i) * (i % 2 ? -1 : 1) * (0.6 + 0.1 * ((i * 7) % 5));
    b->second[i] = size_of(b, i) * (i % 3 == 1 ? -1 : 1) * (0.5 + 0.1 * ((i * 3) % 6));
  }
}

static int take_arrays(trial_runs *b, mbg__arena *arena) {
  double **vectors[] = {&b->p,     &b->trial,    &b->first, &b->second, &b->product,
                        &b->other, &b->gradient, &b->plus,  &b->minus};
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    *vectors[i] = MBG_TAKE(arena, double, b->np + 1);
  }
  b->weights = MBG_TAKE(arena, double, b->nc + 1);
  b->psi = MBG_TAKE(arena, double, b->nc + 1);
  b->values = MBG_TAKE(arena, double, b->nc + 1);
  b->gradients = MBG_TAKE(arena, double, (size_t)b->nc *(size_t)b->np + 1);
  return mbg__arena_check(b->ctx, arena);
}

static int evaluate(trial_runs *b, double eps, double *psi, double *gradient) {
  int err = MBG_OK;
  for (int i = 0; i < b->np; i++) {
    b->trial[i] = b->p[i] + eps * b->first[i];
  }
  MBG_TRY(mbg_run_set_parameters(b->ctx, b->run, b->trial));
  MBG_TRY(mbg_run_simulate(b->ctx, b->run));
  if (mbg_run_partial(b->run)) {
    return mbg__fail(b->ctx, MBG_ERROR_INTERRUPTED, "the proof was interrupted");
  }
  MBG_TRY(mbg_run_criteria(b->ctx, b->run, b->values));
  MBG_TRY(mbg_run_gradient(b->ctx, b->run, MBG_METHOD_ADJOINT, b->gradients, NULL));
  *psi = b->values[b->criterion];
  for (int i = 0; i < b->np; i++) {
    gradient[i] = b->gradients[(size_t)b->criterion * (size_t)b->np + (size_t)i];
  }
done:
  return err;
}

/* a step that leaves the region where the model runs is not a failure of the proof */
static int try_evaluate(trial_runs *b, double eps, double *psi, double *gradient, bool *ok) {
  const int mark = mbg__message_mark(b->ctx);
  const int err = evaluate(b, eps, psi, gradient);
  *ok = err == MBG_OK;
  if (err == MBG_ERROR_MEMORY || err == MBG_ERROR_INTERRUPTED) {
    return err;
  }
  mbg__message_rewind(b->ctx, mark);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- windows */

typedef struct {
  double slope, decades;
} window;

static double value_at(const mbg_hessian_proof *q, bool remainder, int i) {
  return remainder ? q->points[i].remainder : q->points[i].difference;
}

static double slope_between(const mbg_hessian_proof *q, bool remainder, int i, int j) {
  return log(value_at(q, remainder, i) / value_at(q, remainder, j)) / log(q->points[i].eps / q->points[j].eps);
}

/* The widest window above the floor in which a quantity falls with eps^order from each point to the next, to a tenth:
   terms of higher order bend it at large eps, rounding at small ones. First choice are windows with a slope of `order`
   to 1/60 (3 +- 0.05) from end to end. */
static window find_window(const mbg_hessian_proof *q, bool remainder, double order, double floor) {
  window best = {NAN, 0};
  bool straight = false;
  for (int first = 0; first < MBG_HESSIAN_POINTS; first++) {
    for (int last = first + 1; last < MBG_HESSIAN_POINTS; last++) {
      const double step = slope_between(q, remainder, last - 1, last);
      if (!(value_at(q, remainder, last - 1) > floor && value_at(q, remainder, last) > floor &&
            fabs(step - order) < 0.1 * order)) {
        break;
      }
      const double decades = log10(q->points[first].eps / q->points[last].eps);
      const double slope = slope_between(q, remainder, first, last);
      const bool fits = fabs(slope - order) <= order / 60;
      if (fits > straight || (fits == straight && decades > best.decades)) {
        best = (window){slope, decades};
        straight = fits;
      }
    }
  }
  return best;
}

/* ---------------------------------------------------------------------- the proof */

static void point(const trial_runs *b, double eps, double plus, double psi, mbg_hessian_point *out) {
  const double *d = b->first, *Hd = b->product;
  const double expected = eps * dot(b->gradient, d, b->np) + eps * eps / 2 * dot(d, Hd, b->np);
  double away = 0, size = 0;
  for (int i = 0; i < b->np; i++) {
    away = fmax(away, size_of(b, i) * fabs((b->plus[i] - b->minus[i]) / (2 * eps) - Hd[i]));
    size = fmax(size, size_of(b, i) * fabs(Hd[i]));
  }
  *out = (mbg_hessian_point){eps, fabs(plus - psi - expected), size > 0 ? away / size : away};
}

static int points(trial_runs *b, mbg_hessian_proof *q) {
  double eps = eps_first;
  int err = MBG_OK;
  q->best_difference = INFINITY;
  for (int i = 0; i < MBG_HESSIAN_POINTS; i++, eps *= eps_ratio) {
    double plus = NAN, minus = NAN;
    bool ok[2];
    MBG_TRY(try_evaluate(b, eps, &plus, b->plus, &ok[0]));
    MBG_TRY(try_evaluate(b, -eps, &minus, b->minus, &ok[1]));
    q->points[i] = (mbg_hessian_point){eps, NAN, NAN};
    if (ok[0] && ok[1]) {
      point(b, eps, plus, q->value, &q->points[i]);
    }
    if (q->points[i].difference < q->best_difference) {
      q->best_difference = q->points[i].difference;
      q->best_step = eps;
    }
  }
done:
  return err;
}

static int products(trial_runs *b, mbg_hessian *hessian, mbg_hessian_proof *q) {
  int err = MBG_OK;
  MBG_TRY(mbg_run_criteria(b->ctx, b->run, b->psi));
  q->value = b->psi[b->criterion];
  b->weights[b->criterion] = 1;
  MBG_TRY(mbg_hessian_product(b->ctx, hessian, b->weights, b->second, b->gradient, b->other));
  MBG_TRY(mbg_hessian_product(b->ctx, hessian, b->weights, b->first, b->gradient, b->product));
  b->size = 0;
  for (int i = 0; i < b->np; i++) {
    b->size += fabs(b->second[i] * b->product[i]) + fabs(b->first[i] * b->other[i]);
  }
  const double away = fabs(dot(b->second, b->product, b->np) - dot(b->first, b->other, b->np));
  q->asymmetry = b->size > 0 ? away / b->size : away;
  q->curvature = dot(b->first, b->product, b->np);
done:
  return err;
}

/* Slender beams and accelerations of short steps have matrices whose condition leaves fewer digits: asymmetry is then
   the rounding of the products, which is seen when the last digits of the parameters change. */
static int measure_rounding(trial_runs *b, mbg_hessian *hessian, mbg_hessian_proof *q) {
  int err = MBG_OK;
  const double nominal = dot(b->second, b->product, b->np);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < b->np; i++) {
      b->trial[i] = b->p[i] * (1 + 2e-16 * ((5 * i + 3 * round) % 7 - 3));
    }
    MBG_TRY(mbg_run_set_parameters(b->ctx, b->run, b->trial));
    MBG_TRY(mbg_run_simulate(b->ctx, b->run));
    MBG_TRY(mbg_hessian_product(b->ctx, hessian, b->weights, b->first, b->plus, b->other));
    q->rounding = fmax(q->rounding, fabs(dot(b->second, b->other, b->np) - nominal) / b->size);
  }
done:
  return err;
}

static int prove(trial_runs *b, mbg_hessian_proof *q) {
  mbg_hessian *hessian = NULL;
  int err = MBG_OK;
  MBG_TRY(mbg_run_parameters(b->run, b->p));
  choose_directions(b);
  MBG_TRY(mbg_hessian_create(b->ctx, b->run, &hessian));
  MBG_TRY(products(b, hessian, q));
  if (q->asymmetry > 1e-11 && b->size > 0) {
    MBG_TRY(measure_rounding(b, hessian, q));
  }
  MBG_TRY(points(b, q));
  MBG_TRY(mbg_run_set_parameters(b->ctx, b->run, b->p));
  MBG_TRY(mbg_run_simulate(b->ctx, b->run));
  q->floor = 4e-15 * fabs(q->value);
  const window third = find_window(q, true, 3, 10 * q->floor), second = find_window(q, false, 2, 1e-14);
  q->slope = third.slope;
  q->decades = third.decades;
  q->difference_slope = second.slope;
  q->difference_decades = second.decades;
done:
  mbg_hessian_destroy(hessian);
  return err;
}

int mbg_run_prove_hessian(mbg_context *ctx, mbg_run *run, int criterion, mbg_hessian_proof *out) {
  MBG_NEED(ctx, ctx && run && out);
  if (criterion < 0 || criterion >= run->m->ncriterion) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "there is no criterion %d", criterion);
  }
  trial_runs b = {.ctx = ctx, .run = run, .nc = run->m->ncriterion, .np = run->m->np, .criterion = criterion};
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  *out = (mbg_hessian_proof){0};
  int err = take_arrays(&b, &arena);
  err = err == MBG_OK ? prove(&b, out) : err;
  mbg__arena_destroy(&arena);
  return err;
}
