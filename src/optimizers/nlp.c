#include "optimizers/nlp.h"

#include "optimizers/kkt.h"
#include "optimizers/minimize.h"
#include "optimizers/nlp_internal.h"

#include <math.h>
#include <string.h>

/* constraints that are nearer to their limit than this may have multipliers: the products with them are part of the
   residual */
static const double nearly_active = 1e-3;

static const char *const names[MBG__NLP_METHODS] = {"lbfgs", "nlopt-lbfgs", "slsqp",       "mma",   "conlin",
                                                    "ipopt", "ipopt-gn",    "ipopt-exact", "newton"};

const char *mbg__nlp_method_name(int method) { return method >= 0 && method < MBG__NLP_METHODS ? names[method] : NULL; }

int mbg__nlp_method_find(const char *name) {
  for (int i = 0; i < MBG__NLP_METHODS; i++) {
    if (!strcmp(name, names[i])) {
      return i;
    }
  }
  return -1;
}

bool mbg__nlp_takes_constraints(mbg__nlp_method method) {
  return method != MBG__NLP_LBFGS && method != MBG__NLP_NLOPT_LBFGS && method != MBG__NLP_NEWTON;
}

bool mbg__nlp_needs_products(mbg__nlp_method method) {
  return method == MBG__NLP_IPOPT_EXACT || method == MBG__NLP_NEWTON;
}

bool mbg__nlp_takes_equalities(mbg__nlp_method method) {
  return mbg__nlp_takes_constraints(method) && method != MBG__NLP_MMA && method != MBG__NLP_CONLIN;
}

bool mbg__nlp_is_interior(mbg__nlp_method method) {
  return method == MBG__NLP_IPOPT || method == MBG__NLP_IPOPT_GN || method == MBG__NLP_IPOPT_EXACT;
}

mbg__nlp_options mbg__nlp_options_default(void) {
  return (mbg__nlp_options){.method = MBG__NLP_SLSQP,
                            .max_iterations = 200,
                            .max_evaluations = 2000,
                            .memory = 20,
                            .feasibility = 1e-6,
                            .optimality = 1e-6};
}

/* ---------------------------------------------------------------------- the best point */

double mbg__nlp_violation(const mbg__nlp *w, const double *c) {
  double worst = 0;
  for (int i = 0; i < w->p->m; i++) {
    worst = fmax(worst, w->p->equal[i] ? fabs(c[i]) : c[i]);
  }
  return worst;
}

static void stop(mbg__nlp *w, mbg__nlp_reason reason) {
  if (!w->stop) {
    w->result->reason = reason;
    w->stop = true;
  }
}

/* the lowest feasible point, else the point of least violation */
static void keep_best(mbg__nlp *w) {
  mbg__nlp_result *r = w->result;
  const double violation = mbg__nlp_violation(w, w->at.c), limit = w->opt->feasibility;
  const bool feasible = violation <= limit, before = r->violation <= limit;
  const bool better = feasible && before ? w->at.f < r->value : feasible || violation < r->violation;
  if (!w->started || (feasible >= before && better)) {
    memcpy(w->best_x, w->at.x, (size_t)w->p->n * sizeof(double));
    r->value = w->at.f;
    r->violation = violation;
    r->optimality = NAN;
    w->started = true;
  }
}

/* ---------------------------------------------------------------------- evaluations */

static bool finite_all(size_t n, const double *x) {
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      return false;
    }
  }
  return true;
}

/* a status of the caller: fatal ones end the search, others count as failed */
static int judge(mbg__nlp *w, int status, int mark) {
  if (status == MBG_ERROR_INTERRUPTED) {
    mbg__message_rewind(w->ctx, mark);
    stop(w, MBG__NLP_INTERRUPTED);
    return 1;
  }
  if (status < 0) {
    w->err = status;
    w->stop = true;
    return 1;
  }
  if (status > 0) {
    w->result->failed++;
    if (w->started) { /* a failed start keeps its message */
      mbg__message_rewind(w->ctx, mark);
    }
  }
  return status;
}

int mbg__nlp_product_status(mbg__nlp *w, int status) { return judge(w, status, mbg__message_mark(w->ctx)); }

int mbg__nlp_values(mbg__nlp *w, const double *z) {
  const mbg__nlp_problem *p = w->p;
  const size_t n = (size_t)p->n, size = n * sizeof(double);
  if (w->stop) {
    return 1;
  }
  if (w->at.valued && memcmp(w->z, z, size) == 0) {
    return w->at.status;
  }
  if (w->result->evaluations >= w->opt->max_evaluations) {
    stop(w, MBG__NLP_ITERATIONS);
    return 1;
  }
  memcpy(w->z, z, size);
  for (size_t k = 0; k < n; k++) {
    w->at.x[k] = fmin(fmax(z[k], p->lower[k]), p->upper[k]);
  }
  const int mark = mbg__message_mark(w->ctx);
  w->result->evaluations++;
  int status = p->values(p->user, w->at.x, &w->at.f, w->at.c);
  if (status == 0 && (!isfinite(w->at.f) || !finite_all((size_t)p->m, w->at.c))) {
    status = 1;
  }
  w->at.gradients = false;
  w->at.status = judge(w, status, mark);
  w->at.valued = !w->stop;
  if (w->at.status == 0) {
    keep_best(w);
  }
  return w->at.status;
}

/* ---------------------------------------------------------------------- rules that end a search */

static int optimality(mbg__nlp *w, double *relative) {
  const mbg__nlp_problem *p = w->p;
  const mbg__kkt_point point = {.n = p->n,
                                .m = p->m,
                                .x = w->at.x,
                                .lower = p->lower,
                                .upper = p->upper,
                                .equal = p->equal,
                                .g = w->at.g,
                                .c = w->at.c,
                                .J = w->at.J,
                                .active = nearly_active};
  double residual;
  const int err = mbg__kkt(w->ctx, &point, w->lambda, NULL, &residual);
  mbg__nlp_result *r = w->result;
  if (r->reference == 0) {
    r->reference = mbg__kkt_projected(p->n, w->at.x, p->lower, p->upper, w->at.g);
    r->reference = r->reference > 0 ? r->reference : 1;
  }
  *relative = residual / r->reference;
  return err;
}

static bool settled(mbg__nlp *w) {
  const int last = MBG_COUNT(w->recent) - 1;
  const mbg__nlp_result *r = w->result;
  memmove(w->recent, w->recent + 1, (size_t)last * sizeof(double));
  w->recent[last] = r->violation <= w->opt->feasibility ? r->value : INFINITY;
  return r->iterations > last && fabs(w->recent[0] - w->recent[last]) <= w->opt->settle * fabs(w->recent[last]);
}

/* after gradients are known at a point: where it stands, and whether that is enough */
static int iterated(mbg__nlp *w) {
  const mbg__nlp_problem *p = w->p;
  mbg__nlp_result *r = w->result;
  mbg__nlp_state state = {.iteration = r->iterations, .value = w->at.f, .x = w->at.x};
  const int err = optimality(w, &state.optimality);
  if (err < 0) {
    w->err = err;
    w->stop = true;
    return 1;
  }
  state.violation = mbg__nlp_violation(w, w->at.c);
  for (int k = 0; k < p->n; k++) {
    state.step = fmax(state.step, fabs(w->at.x[k] - w->before[k]));
  }
  memcpy(w->before, w->at.x, (size_t)p->n * sizeof(double));
  if (p->progress && p->progress(p->user, &state) != 0) {
    stop(w, MBG__NLP_INTERRUPTED);
  }
  if (state.violation <= w->opt->feasibility && state.optimality <= w->opt->optimality) {
    memcpy(w->best_x, w->at.x, (size_t)p->n * sizeof(double));
    r->value = w->at.f;
    r->violation = state.violation;
    r->optimality = state.optimality;
    stop(w, MBG__NLP_OPTIMAL);
  } else if (w->opt->settle > 0 && settled(w)) {
    stop(w, MBG__NLP_SETTLED);
  } else if (r->iterations >= w->opt->max_iterations) {
    stop(w, MBG__NLP_ITERATIONS);
  }
  return w->stop ? 1 : 0;
}

int mbg__nlp_derivatives(mbg__nlp *w, const double *z) {
  const mbg__nlp_problem *p = w->p;
  const size_t n = (size_t)p->n, m = (size_t)p->m;
  if (mbg__nlp_values(w, z) != 0) {
    return 1;
  }
  if (w->at.gradients) {
    return 0;
  }
  const int mark = mbg__message_mark(w->ctx);
  int status = p->derivatives(p->user, w->at.x, w->at.g, w->at.J);
  if (status == 0 && (!finite_all(n, w->at.g) || !finite_all(m * n, w->at.J))) {
    status = 1;
  }
  w->at.status = judge(w, status, mark);
  if (w->at.status != 0) {
    return 1;
  }
  w->at.gradients = true;
  w->result->iterations++;
  return iterated(w);
}

/* ---------------------------------------------------------------------- descent under bounds alone */

static int descent_evaluate(void *user, const double *x, double *f, double *g) {
  mbg__nlp *w = user;
  if (mbg__nlp_derivatives(w, x) != 0) {
    return w->err < 0 ? w->err : w->stop ? MBG_ERROR_INTERRUPTED : 1;
  }
  *f = w->at.f;
  memcpy(g, w->at.g, (size_t)w->p->n * sizeof(double));
  return 0;
}

static int descent_product(void *user, const double *x, const double *d, double *Hd) {
  const mbg__nlp *w = user;
  return w->p->product(w->p->user, x, 1, NULL, d, Hd);
}

int mbg__nlp_descent(mbg__nlp *w) {
  const mbg__minimize_problem problem = {.n = w->p->n,
                                         .lower = w->p->lower,
                                         .upper = w->p->upper,
                                         .evaluate = descent_evaluate,
                                         .product = descent_product,
                                         .user = w};
  mbg__minimize_options o = mbg__minimize_options_default();
  o.method = w->opt->method == MBG__NLP_NEWTON ? MBG__MINIMIZE_NEWTON : MBG__MINIMIZE_LBFGS;
  mbg__minimize_result result;
  o.max_iterations = w->opt->max_iterations;
  o.max_evaluations = w->opt->max_evaluations;
  o.memory = w->opt->memory;
  o.gradient_relative = 0;
  o.first_step = 0.1; /* unknowns are of the order of 1 */
  double *x = MBG_TAKE(&w->arena, double, w->p->n + 1);
  if (!x) {
    return mbg__fail_memory(w->ctx);
  }
  memcpy(x, w->best_x, (size_t)w->p->n * sizeof(double));
  const int err = mbg__minimize(w->ctx, &problem, &o, x, &result);
  w->result->products = result.products;
  if (!w->stop) {
    w->result->reason = result.reason == MBG__MINIMIZE_ITERATIONS || result.reason == MBG__MINIMIZE_EVALUATIONS
                            ? MBG__NLP_ITERATIONS
                            : MBG__NLP_STUCK;
  }
  return w->stop ? 0 : err;
}

/* ---------------------------------------------------------------------- entry */

static int check_problem(mbg_context *ctx, const mbg__nlp_problem *p, const mbg__nlp_options *o, const double *x) {
  bool equalities = false;
  for (int k = 0; k < p->n; k++) {
    if (!(p->lower[k] <= p->upper[k])) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "bounds of variable %d: lower %g exceeds upper %g", k, p->lower[k],
                       p->upper[k]);
    }
    if (!isfinite(x[k])) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "start of variable %d must be finite, is %g", k, x[k]);
    }
  }
  for (int i = 0; i < p->m; i++) {
    equalities = equalities || p->equal[i];
  }
  if (p->m > 0 && !mbg__nlp_takes_constraints(o->method)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "optimizer '%s' does not support constraints; use slsqp, mma or ipopt",
                     names[o->method]);
  }
  if (equalities && !mbg__nlp_takes_equalities(o->method)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "optimizer '%s' does not support equality constraints; use slsqp or ipopt",
                     names[o->method]);
  }
  if (o->method == MBG__NLP_IPOPT_GN && !p->hessian) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "optimizer 'ipopt-gn' needs an objective that is a sum of squares");
  }
  if (mbg__nlp_needs_products(o->method) && !p->product) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "optimizer '%s' needs second derivatives", names[o->method]);
  }
  return MBG_OK;
}

static int take_memory(mbg__nlp *w) {
  const size_t n = (size_t)w->p->n + 1, m = (size_t)w->p->m + 1;
  double **vectors[] = {&w->at.x, &w->at.g, &w->z, &w->best_x, &w->before};
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    *vectors[i] = MBG_TAKE(&w->arena, double, n);
  }
  w->at.c = MBG_TAKE(&w->arena, double, m);
  w->lambda = MBG_TAKE(&w->arena, double, m);
  w->at.J = MBG_TAKE(&w->arena, double, m *n);
  return mbg__arena_check(w->ctx, &w->arena);
}

static int start(mbg__nlp *w, const double *x) {
  const int errors = mbg__error_count(w->ctx);
  w->result->reference = w->opt->reference;
  for (int k = 0; k < w->p->n; k++) {
    w->before[k] = fmin(fmax(x[k], w->p->lower[k]), w->p->upper[k]);
  }
  memcpy(w->best_x, w->before, (size_t)w->p->n * sizeof(double));
  if (mbg__nlp_derivatives(w, w->best_x) == 0 || w->stop) {
    return w->err;
  }
  return mbg__error_count(w->ctx) > errors
             ? MBG_ERROR_CONVERGENCE
             : mbg__fail(w->ctx, MBG_ERROR_CONVERGENCE,
                         "objective and constraints cannot be evaluated at the start: they are not finite");
}

static int (*method_of(mbg__nlp_method method))(mbg__nlp *w) {
  switch (method) {
  case MBG__NLP_LBFGS:
  case MBG__NLP_NEWTON:
    return mbg__nlp_descent;
  case MBG__NLP_CONLIN:
    return mbg__nlp_conlin;
  case MBG__NLP_IPOPT:
  case MBG__NLP_IPOPT_GN:
  case MBG__NLP_IPOPT_EXACT:
    return mbg__nlp_ipopt;
  default:
    return mbg__nlp_nlopt;
  }
}

int mbg__nlp_solve(mbg_context *ctx, const mbg__nlp_problem *problem, const mbg__nlp_options *options, double *x,
                   mbg__nlp_result *result) {
  mbg__nlp w = {.ctx = ctx, .p = problem, .opt = options, .result = result};
  int err = MBG_OK;
  *result = (mbg__nlp_result){.reason = MBG__NLP_STUCK, .optimality = NAN};
  mbg__arena_init(&w.arena, mbg__context_allocator(ctx));
  MBG_TRY(check_problem(ctx, problem, options, x));
  MBG_TRY(take_memory(&w));
  MBG_TRY(start(&w, x));
  if (!w.stop) {
    err = method_of(options->method)(&w);
  }
  err = w.err < 0 ? w.err : err;
  memcpy(x, w.best_x, (size_t)problem->n * sizeof(double));
done:
  mbg__arena_destroy(&w.arena);
  return err;
}
