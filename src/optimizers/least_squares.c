#include "optimizers/least_squares.h"

#include "math/dense.h"

#include <math.h>
#include <string.h>

/* damping: relative to the squares of the column lengths */
static const double DAMPING_START = 1e-3, DAMPING_LEAST = 1e-14, DAMPING_MOST = 1e20;

typedef struct {
  mbg_context *ctx;
  const mbg__least_squares_problem *p;
  mbg__least_squares_options o;
  mbg__least_squares_result *result;
  mbg__arena arena;
  int n;
  double *x, *trial, *d;  /* point, the next one, the step between them          (n) */
  double *T, *q;          /* linearization at x */
  double *D;              /* largest column lengths so far                       (n) */
  double *g;              /* gradient T^T q                                      (n) */
  double *b;              /* right side of a step                                (2 n) */
  bool *held;             /* the step of this number is known: it goes to a bound, or stays there (n) */
  mbg__qr qr;             /* of [T; sqrt(damping) D]                             (2 n x n) */
  double damping, growth; /* Nielsen: growth of the damping at the next failure */
  double cost;
} solver;

mbg__least_squares_options mbg__least_squares_options_default(void) {
  return (mbg__least_squares_options){.max_iterations = 100, .step = 1e-10, .gradient = 1e-10};
}

/* ---------------------------------------------------------------------- preparation */

static double lower(const solver *s, int i) { return s->p->lower ? s->p->lower[i] : -INFINITY; }
static double upper(const solver *s, int i) { return s->p->upper ? s->p->upper[i] : INFINITY; }

static int prepare(solver *s, double *x) {
  const int n = s->n;
  mbg__arena_init(&s->arena, mbg__context_allocator(s->ctx));
  s->trial = MBG_TAKE(&s->arena, double, n);
  s->d = MBG_TAKE(&s->arena, double, n);
  s->T = MBG_TAKE(&s->arena, double, (size_t)n *(size_t)n);
  s->q = MBG_TAKE(&s->arena, double, n);
  s->D = MBG_TAKE(&s->arena, double, n);
  s->g = MBG_TAKE(&s->arena, double, n);
  s->b = MBG_TAKE(&s->arena, double, 2 * (size_t)n);
  s->held = MBG_TAKE(&s->arena, bool, n);
  mbg__qr_prepare(&s->qr, &s->arena, 2 * n, n);
  if (mbg__arena_check(s->ctx, &s->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  s->x = x;
  s->damping = DAMPING_START;
  s->growth = 2;
  for (int i = 0; i < n; i++) {
    x[i] = fmin(fmax(x[i], lower(s, i)), upper(s, i));
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- evaluation */

/* cost at a point: 0, positive when it cannot be had there, negative to stop */
static int evaluate(solver *s, const double *x, double *cost) {
  const int mark = mbg__message_mark(s->ctx);
  *cost = INFINITY;
  s->result->evaluations++;
  const int status = s->p->evaluate(s->p->user, x, cost);
  if (status > 0 || (status == MBG_OK && !isfinite(*cost))) {
    if (s->result->evaluations > 1) {
      mbg__message_rewind(s->ctx, mark);
    }
    *cost = INFINITY;
    s->result->failed++;
    return 1;
  }
  return status;
}

static double column_length(const solver *s, int j) {
  double sum = 0;
  for (int i = 0; i < s->n; i++) {
    sum += s->T[i + s->n * j] * s->T[i + s->n * j];
  }
  return sqrt(sum);
}

/* T, q, gradient and scales at x */
static int linearize(solver *s) {
  const int n = s->n, err = s->p->linearize(s->p->user, s->x, s->T, s->q);
  if (err != MBG_OK) {
    return err;
  }
  for (int j = 0; j < n; j++) {
    s->g[j] = 0;
    for (int i = 0; i < n; i++) {
      s->g[j] += s->T[i + n * j] * s->q[i];
    }
    s->D[j] = fmax(s->D[j], column_length(s, j));
  }
  return MBG_OK;
}

/* at a bound, with the gradient pushing outwards */
static bool pressed(const solver *s, int i) {
  return (s->x[i] <= lower(s, i) && s->g[i] >= 0) || (s->x[i] >= upper(s, i) && s->g[i] <= 0);
}

/* largest cosine of the angle between the residual and a column that is free */
static double largest_cosine(const solver *s) {
  const double r = sqrt(2 * s->cost);
  double most = 0;
  for (int j = 0; j < s->n; j++) {
    const double length = column_length(s, j);
    if (!pressed(s, j) && length > 0 && r > 0) {
      most = fmax(most, fabs(s->g[j]) / (length * r));
    }
  }
  return most;
}

/* ---------------------------------------------------------------------- the step */

/* R d = -(Q^T b), columns exchanged back; held ones keep their d */
static void solve_triangle(solver *s) {
  const int n = s->n, m = 2 * n;
  const double *R = s->qr.A;
  for (int k = n - 1; k >= 0; k--) {
    double sum = -s->b[k];
    for (int j = k + 1; j < n; j++) {
      sum -= R[k + m * j] * s->b[j];
    }
    s->b[k] = R[k + m * k] != 0 ? sum / R[k + m * k] : 0;
  }
  for (int k = 0; k < n; k++) {
    const int j = s->qr.column[k];
    s->d[j] = s->held[j] ? s->d[j] : s->b[k];
  }
}

/* min |q + T d|^2 + damping |D d|^2 over the numbers that are not held; for those a row d_j = 0 keeps the shape */
static int solve(solver *s) {
  const int n = s->n, m = 2 * n;
  double *A = s->qr.A;
  memset(A, 0, (size_t)m * (size_t)n * sizeof(double));
  memset(s->b, 0, (size_t)m * sizeof(double));
  memcpy(s->b, s->q, (size_t)n * sizeof(double));
  for (int j = 0; j < n; j++) {
    const double scale = s->D[j] > 0 ? s->D[j] : 1;
    A[n + j + m * j] = s->held[j] ? 1 : sqrt(s->damping) * scale;
    for (int i = 0; i < n; i++) {
      if (s->held[j]) {
        s->b[i] += s->T[i + n * j] * s->d[j];
      } else {
        A[i + m * j] = s->T[i + n * j];
      }
    }
  }
  const int err = mbg__qr_factor(&s->qr);
  if (err < 0) {
    return mbg__fail(s->ctx, err, "the Jacobian of the residuals is not finite");
  }
  mbg__qr_mul_Q_T(&s->qr, s->b, 1);
  solve_triangle(s);
  return MBG_OK;
}

/* numbers whose step leaves the bounds go to them and are held; true when there were some */
static bool hold(solver *s) {
  bool some = false;
  for (int i = 0; i < s->n; i++) {
    if (!s->held[i] && (s->x[i] + s->d[i] < lower(s, i) || s->x[i] + s->d[i] > upper(s, i))) {
      s->d[i] = (s->d[i] < 0 ? lower(s, i) : upper(s, i)) - s->x[i];
      s->held[i] = some = true;
    }
  }
  return some;
}

static int find_step(solver *s) {
  int err = MBG_OK;
  for (int i = 0; i < s->n; i++) {
    s->held[i] = pressed(s, i);
    s->d[i] = 0;
  }
  do {
    MBG_TRY(solve(s));
  } while (hold(s));
  for (int i = 0; i < s->n; i++) {
    s->trial[i] = fmin(fmax(s->x[i] + s->d[i], lower(s, i)), upper(s, i));
    s->d[i] = s->trial[i] - s->x[i];
  }
done:
  return err;
}

/* predicted decrease of the cost: 1/2 |q|^2 - 1/2 |q + T d|^2 = -(g . d + 1/2 |T d|^2) */
static double predicted(const solver *s) {
  double gd = 0, td2 = 0;
  for (int i = 0; i < s->n; i++) {
    double td = 0;
    for (int j = 0; j < s->n; j++) {
      td += s->T[i + s->n * j] * s->d[j];
    }
    td2 += td * td;
    gd += s->g[i] * s->d[i];
  }
  return -(gd + 0.5 * td2);
}

static double step_length(const solver *s) {
  double most = 0;
  for (int i = 0; i < s->n; i++) {
    most = fmax(most, fabs(s->d[i]) / (s->p->typical ? s->p->typical[i] : 1));
  }
  return most;
}

/* damping after a step whose reduction was `ratio` of the predicted one (Nielsen 1999) */
static void accept(solver *s, double cost, double ratio) {
  memcpy(s->x, s->trial, (size_t)s->n * sizeof(double));
  s->cost = cost;
  s->damping = fmax(DAMPING_LEAST, s->damping * fmax(0.1, 1 - pow(2 * ratio - 1, 3)));
  s->growth = 2;
}

static void reject(solver *s) {
  s->damping *= s->growth;
  s->growth *= 2;
}

/* ---------------------------------------------------------------------- iterations */

/* One iteration: steps with growing damping until one lowers the cost. *going false: it ends for *reason. */
static int iterate(solver *s, bool *going, mbg__least_squares_reason *reason) {
  int err = MBG_OK;
  double cost;
  *going = false;
  for (;;) {
    MBG_TRY(find_step(s));
    const double gain = predicted(s), length = step_length(s);
    if (!(gain > 1e-15 * s->cost)) {
      *reason = MBG__LEAST_SQUARES_COST;
      return MBG_OK;
    }
    const int status = evaluate(s, s->trial, &cost);
    if (status < 0) {
      return status;
    }
    const double ratio = (s->cost - cost) / gain;
    if (ratio > 1e-4) {
      accept(s, cost, ratio);
      *going = length > s->o.step;
      *reason = MBG__LEAST_SQUARES_STEP;
      return MBG_OK;
    }
    /* a step as short as that cannot be told from rounding */
    if (length <= s->o.step || s->damping > DAMPING_MOST) {
      *reason = status > 0 || s->damping > DAMPING_MOST ? MBG__LEAST_SQUARES_STUCK : MBG__LEAST_SQUARES_STEP;
      return MBG_OK;
    }
    reject(s);
  }
done:
  return err;
}

static bool stopped(solver *s) {
  return s->p->progress && s->p->progress(s->p->user, s->result->iterations, s->cost) != 0;
}

static int run(solver *s) {
  int err = MBG_OK;
  mbg__least_squares_result *r = s->result;
  bool going = true;
  int status = evaluate(s, s->x, &s->cost);
  if (status > 0) {
    return *mbg_context_error(s->ctx)
               ? MBG_ERROR_CONVERGENCE
               : mbg__fail(s->ctx, MBG_ERROR_CONVERGENCE, "the residuals cannot be evaluated at the start");
  }
  MBG_TRY(status);
  r->cost_start = s->cost;
  MBG_TRY(linearize(s));
  going = !stopped(s);
  r->reason = MBG__LEAST_SQUARES_INTERRUPTED;
  while (going) {
    if (largest_cosine(s) <= s->o.gradient) {
      r->reason = MBG__LEAST_SQUARES_GRADIENT;
      break;
    }
    if (r->iterations >= s->o.max_iterations) {
      r->reason = MBG__LEAST_SQUARES_ITERATIONS;
      break;
    }
    const double before = s->cost;
    MBG_TRY(iterate(s, &going, &r->reason));
    if (s->cost < before) {
      r->iterations++;
      MBG_TRY(linearize(s));
      if (stopped(s)) {
        r->reason = MBG__LEAST_SQUARES_INTERRUPTED;
        break;
      }
    }
  }
done:
  return err;
}

int mbg__least_squares(mbg_context *ctx, const mbg__least_squares_problem *problem,
                       const mbg__least_squares_options *options, double *x, double *T, double *q,
                       mbg__least_squares_result *result) {
  int err = MBG_OK;
  solver s = {.ctx = ctx, .p = problem, .result = result, .n = problem->n, .cost = NAN};
  *result = (mbg__least_squares_result){.cost_start = NAN, .cost = NAN};
  s.o = options ? *options : mbg__least_squares_options_default();
  MBG_TRY(prepare(&s, x));
  err = run(&s);
  if (err == MBG_ERROR_INTERRUPTED) {
    result->reason = MBG__LEAST_SQUARES_INTERRUPTED;
    err = MBG_OK;
  }
  result->cost = s.cost;
  if (err == MBG_OK && T && q) {
    memcpy(T, s.T, (size_t)s.n * (size_t)s.n * sizeof(double));
    memcpy(q, s.q, (size_t)s.n * sizeof(double));
  }
done:
  mbg__arena_destroy(&s.arena);
  return err;
}
