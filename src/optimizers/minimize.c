/* Entry, checks, counted evaluations, stopping rules. */
#include "optimizers/minimize_internal.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- names */

static const char *const method_names[MBG__MINIMIZE_METHODS] = {"lbfgs",    "ipopt",       "cg",
                                                                "steepest", "ipopt-exact", "newton"};

const char *mbg__minimize_method_name(int method) {
  return method >= 0 && method < MBG__MINIMIZE_METHODS ? method_names[method] : NULL;
}

int mbg__minimize_method_find(const char *name) {
  for (int i = 0; i < MBG__MINIMIZE_METHODS; i++) {
    if (!strcmp(name, method_names[i])) {
      return i;
    }
  }
  return -1;
}

const char *mbg__minimize_reason_text(mbg__minimize_reason reason) {
  static const char *const texts[MBG__MINIMIZE_REASONS] = {
      "converged",           "no further progress",  "no lower value along the gradient",
      "limit of iterations", "limit of evaluations", "interrupted"};
  return reason < MBG__MINIMIZE_REASONS ? texts[reason] : "";
}

mbg__minimize_options mbg__minimize_options_default(void) {
  return (mbg__minimize_options){.method = MBG__MINIMIZE_LBFGS,
                                 .max_iterations = 500,
                                 .max_evaluations = 5000,
                                 .memory = 12,
                                 .gradient_relative = 1e-6};
}

/* ---------------------------------------------------------------------- bounds and norm */

double mbg__minimize_lower(const mbg__minimizer *m, int k) {
  return m->problem->lower ? m->problem->lower[k] : -INFINITY;
}

double mbg__minimize_upper(const mbg__minimizer *m, int k) {
  return m->problem->upper ? m->problem->upper[k] : INFINITY;
}

double mbg__minimize_metric(const mbg__minimizer *m, int k) { return m->problem->metric ? m->problem->metric[k] : 1; }

void mbg__minimize_project(const mbg__minimizer *m, double *x) {
  for (int k = 0; k < m->n; k++) {
    x[k] = fmin(fmax(x[k], mbg__minimize_lower(m, k)), mbg__minimize_upper(m, k));
  }
}

bool mbg__minimize_active(const mbg__minimizer *m, const double *x, const double *g, int k) {
  return (g[k] >= 0 && x[k] <= mbg__minimize_lower(m, k)) || (g[k] <= 0 && x[k] >= mbg__minimize_upper(m, k));
}

double mbg__minimize_norm(const mbg__minimizer *m, const double *x, const double *g, int *active) {
  double sum = 0;
  int count = 0;
  for (int k = 0; k < m->n; k++) {
    if (mbg__minimize_active(m, x, g, k)) {
      count++;
    } else {
      sum += g[k] * g[k] / mbg__minimize_metric(m, k);
    }
  }
  if (active) {
    *active = count;
  }
  return sqrt(sum);
}

/* ---------------------------------------------------------------------- evaluations */

/* of the whole gradient; not finite when an entry is not, or when its square is too large for a number */
static double length(const mbg__minimizer *m, const double *g) {
  double sum = 0;
  for (int k = 0; k < m->n; k++) {
    sum += g[k] * g[k] / mbg__minimize_metric(m, k);
  }
  return sqrt(sum);
}

static void keep_best(mbg__minimizer *m, const double *x, double f, const double *g) {
  if (!m->started || f < m->result->value) {
    memcpy(m->best_x, x, (size_t)m->n * sizeof(double));
    memcpy(m->best_g, g, (size_t)m->n * sizeof(double));
    m->result->value = f;
    m->started = true;
  }
}

int mbg__minimize_evaluate(mbg__minimizer *m, const double *x, double *f, double *g) {
  if (m->result->evaluations >= m->opt->max_evaluations) {
    m->result->reason = MBG__MINIMIZE_EVALUATIONS;
    return MBG_ERROR_INTERRUPTED;
  }
  const int mark = mbg__message_mark(m->ctx);
  int err = m->problem->evaluate(m->problem->user, x, f, g);
  m->result->evaluations++;
  if (err == MBG_ERROR_INTERRUPTED) {
    mbg__message_rewind(m->ctx, mark);
    m->result->reason = MBG__MINIMIZE_INTERRUPTED;
  }
  if (err == 0 && (!isfinite(*f) || !isfinite(length(m, g)))) {
    err = 1;
  }
  if (err > 0) {
    m->result->failed++;
    if (m->started) { /* a failed start keeps its message */
      mbg__message_rewind(m->ctx, mark);
    }
    return 1;
  }
  if (err == 0) {
    keep_best(m, x, *f, g);
  }
  return err;
}

/* ---------------------------------------------------------------------- stopping rules */

static double distance(const mbg__minimizer *m, const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < m->n; k++) {
    sum += mbg__minimize_metric(m, k) * (a[k] - b[k]) * (a[k] - b[k]);
  }
  return sqrt(sum);
}

int mbg__minimize_iterated(mbg__minimizer *m, const double *x, double f, const double *g) {
  mbg__minimize_result *r = m->result;
  const double norm = mbg__minimize_norm(m, x, g, NULL);
  if (m->problem->progress) {
    const mbg__minimize_state state = {.iteration = r->iterations,
                                       .evaluations = r->evaluations,
                                       .value = f,
                                       .gradient = norm,
                                       .step = distance(m, x, m->x_before),
                                       .x = x};
    if (m->problem->progress(m->problem->user, &state) != 0) {
      r->reason = MBG__MINIMIZE_INTERRUPTED;
      return MBG__STOP;
    }
  }
  memcpy(m->x_before, x, (size_t)m->n * sizeof(double));
  if (norm <= m->opt->gradient_tolerance || norm <= m->opt->gradient_relative * r->gradient_start) {
    r->reason = MBG__MINIMIZE_GRADIENT;
    return MBG__STOP;
  }
  if (r->iterations >= m->opt->max_iterations) {
    r->reason = MBG__MINIMIZE_ITERATIONS;
    return MBG__STOP;
  }
  return 0;
}

/* ---------------------------------------------------------------------- entry */

static int check_options(mbg_context *ctx, const mbg__minimize_options *opt) {
  if (opt->max_iterations < 0 || opt->max_evaluations < 1) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "the limits of iterations (%d) and evaluations (%d) must be at least 0 and 1", opt->max_iterations,
                     opt->max_evaluations);
  }
  if (opt->memory < 1) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "memory must be at least 1 pair, is %d", opt->memory);
  }
  if (!(opt->gradient_tolerance >= 0 && opt->gradient_relative >= 0 && opt->value_tolerance >= 0 &&
        opt->first_step >= 0)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "tolerances (gradient %g, relative %g, value %g) and first step (%g) must not be negative",
                     opt->gradient_tolerance, opt->gradient_relative, opt->value_tolerance, opt->first_step);
  }
  return MBG_OK;
}

static int check_problem(mbg_context *ctx, const mbg__minimizer *m, const double *x) {
  const int method = m->opt->method;
  if ((method == MBG__MINIMIZE_NEWTON || method == MBG__MINIMIZE_IPOPT_EXACT) && !m->problem->product) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "method '%s' needs products with second derivatives", method_names[method]);
  }
  for (int k = 0; k < m->n; k++) {
    const double lower = mbg__minimize_lower(m, k), upper = mbg__minimize_upper(m, k), d = mbg__minimize_metric(m, k);
    if (!(lower <= upper)) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "bounds of variable %d: lower %g exceeds upper %g", k, lower, upper);
    }
    if (!(d > 0 && isfinite(d))) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "metric of variable %d must be positive, is %g", k, d);
    }
    if (!isfinite(x[k])) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "start of variable %d must be finite, is %g", k, x[k]);
    }
  }
  return MBG_OK;
}

static int start(mbg__minimizer *m, double *x) {
  double f = 0;
  double *g = MBG_TAKE(&m->arena, double, m->n + 1);
  m->best_x = MBG_TAKE(&m->arena, double, m->n + 1);
  m->best_g = MBG_TAKE(&m->arena, double, m->n + 1);
  m->x_before = MBG_TAKE(&m->arena, double, m->n + 1);
  if (mbg__arena_check(m->ctx, &m->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__minimize_project(m, x);
  memcpy(m->x_before, x, (size_t)m->n * sizeof(double));
  const int errors = mbg__error_count(m->ctx);
  const int err = mbg__minimize_evaluate(m, x, &f, g);
  if (err > 0) {
    return mbg__error_count(m->ctx) > errors
               ? MBG_ERROR_CONVERGENCE
               : mbg__fail(m->ctx, MBG_ERROR_CONVERGENCE, "the function cannot be evaluated at the start");
  }
  if (err < 0) {
    return err;
  }
  m->result->value_start = f;
  m->result->gradient_start = mbg__minimize_norm(m, x, g, NULL);
  return mbg__minimize_iterated(m, x, f, g);
}

int mbg__minimize(mbg_context *ctx, const mbg__minimize_problem *problem, const mbg__minimize_options *options,
                  double *x, mbg__minimize_result *result) {
  const mbg__minimize_options defaults = mbg__minimize_options_default();
  mbg__minimizer m = {
      .ctx = ctx, .problem = problem, .opt = options ? options : &defaults, .result = result, .n = problem->n};
  *result = (mbg__minimize_result){.reason = MBG__MINIMIZE_SEARCH};
  mbg__arena_init(&m.arena, mbg__context_allocator(ctx));
  int err = check_options(ctx, m.opt);
  if (err == 0) {
    err = check_problem(ctx, &m, x);
  }
  if (err == 0) {
    err = start(&m, x);
  }
  if (err == 0) {
    const mbg__minimize_method method = m.opt->method;
    const bool interior = method == MBG__MINIMIZE_IPOPT || method == MBG__MINIMIZE_IPOPT_EXACT;
    err = interior                         ? mbg__minimize_ipopt(&m)
          : method == MBG__MINIMIZE_NEWTON ? mbg__minimize_newton(&m)
                                           : mbg__minimize_descent(&m);
  }
  if (m.started) {
    memcpy(x, m.best_x, (size_t)m.n * sizeof(double));
    result->gradient = mbg__minimize_norm(&m, m.best_x, m.best_g, &result->active);
  }
  mbg__arena_destroy(&m.arena);
  /* a limit or an interrupt is why it stopped, not an error */
  return err > 0 || (err == MBG_ERROR_INTERRUPTED && m.started) ? MBG_OK : err;
}
