/* IPOPT (Waechter, Biegler, Math. Programming 106, 2006) by its C interface. Where nothing can be evaluated it is told
   so and shortens its step. */
#include "optimizers/nlp_internal.h"

#include <IpStdCInterface.h>
#include <math.h>
#include <string.h>

typedef MBG_IPOPT_BOOL answer;

/* Newton steps of a strongly curved problem may go astray for ever: so many of them without a smaller error of the
   conditions are enough. Quasi-Newton steps need their time. */
enum { PATIENCE = 15 };

static answer eval_f(int n, double *x, answer new_x, double *f, void *user) {
  (void)n, (void)new_x;
  mbg__nlp *w = user;
  const bool fine = mbg__nlp_values(w, x) == 0;
  *f = fine ? w->at.f : 0;
  return fine;
}

static answer eval_grad_f(int n, double *x, answer new_x, double *g, void *user) {
  (void)new_x;
  mbg__nlp *w = user;
  const bool fine = mbg__nlp_derivatives(w, x) == 0;
  if (fine) {
    memcpy(g, w->at.g, (size_t)n * sizeof(double));
  }
  return fine;
}

static answer eval_g(int n, double *x, answer new_x, int m, double *c, void *user) {
  (void)n, (void)new_x;
  mbg__nlp *w = user;
  const bool fine = mbg__nlp_values(w, x) == 0;
  if (fine && m > 0) {
    memcpy(c, w->at.c, (size_t)m * sizeof(double));
  }
  return fine;
}

/* dense, row by row */
static answer eval_jac_g(int n, double *x, answer new_x, int m, int nele, int *row, int *column, double *values,
                         void *user) {
  (void)new_x;
  mbg__nlp *w = user;
  for (int i = 0; !values && i < m; i++) {
    for (int k = 0; k < n; k++) {
      row[i * n + k] = i;
      column[i * n + k] = k;
    }
  }
  if (!values) {
    return 1;
  }
  const bool fine = mbg__nlp_derivatives(w, x) == 0;
  if (fine && nele > 0) {
    memcpy(values, w->at.J, (size_t)nele * sizeof(double));
  }
  return fine;
}

/* The matrix of the Lagrangian, column by column. */
static int columns(mbg__nlp *w, double factor, const double *lambda, double *H) {
  const size_t n = (size_t)w->p->n;
  double *d = mbg__alloc_zero(w->ctx, n + 1, sizeof(double));
  int err = d ? MBG_OK : mbg__fail_memory(w->ctx);
  for (size_t k = 0; err == MBG_OK && k < n; k++) {
    d[k] = 1;
    err = w->p->product(w->p->user, w->at.x, factor, lambda, d, H + k * n);
    d[k] = 0;
    w->result->products++;
  }
  mbg__free(w->ctx, d);
  return err;
}

/* Gauss-Newton: that of the objective without second derivatives, nothing of the constraints. */
static bool matrix(mbg__nlp *w, double *x, double factor, const double *lambda, double *H) {
  const size_t n = (size_t)w->p->n;
  if (mbg__nlp_values(w, x) != 0) {
    return false;
  }
  if (w->opt->method == MBG__NLP_IPOPT_EXACT) {
    return mbg__nlp_product_status(w, columns(w, factor, lambda, H)) == 0;
  }
  const bool fine = w->p->hessian(w->p->user, w->at.x, H) == 0;
  for (size_t k = 0; fine && k < n * n; k++) {
    H[k] *= factor;
  }
  return fine;
}

/* lower triangle */
static answer eval_h(int n, double *x, answer new_x, double factor, int m, double *lambda, answer new_lambda, int nele,
                     int *row, int *column, double *values, void *user) {
  (void)new_x, (void)m, (void)new_lambda;
  mbg__nlp *w = user;
  const size_t size = (size_t)n;
  int e = 0;
  if (nele == 0) {
    return 0;
  }
  double *H = values ? mbg__alloc(w->ctx, size * size, sizeof(double)) : NULL;
  if (values && !H) {
    return mbg__nlp_product_status(w, mbg__fail_memory(w->ctx)) == 0;
  }
  const bool fine = !values || matrix(w, x, factor, lambda, H);
  for (int i = 0; fine && i < n; i++) {
    for (int k = 0; k <= i; k++, e++) {
      if (values) {
        values[e] = (H[(size_t)i * size + (size_t)k] + H[(size_t)k * size + (size_t)i]) / 2;
      } else {
        row[e] = i;
        column[e] = k;
      }
    }
  }
  mbg__free(w->ctx, H);
  return fine;
}

static bool astray(mbg__nlp *w, double error) {
  if (w->since == 0 || error < w->least) {
    w->least = error;
    w->since = 0;
  }
  return ++w->since > PATIENCE && w->opt->method == MBG__NLP_IPOPT_EXACT;
}

static answer intermediate(int mode, int iteration, double f, double inf_pr, double inf_du, double mu, double d_norm,
                           double regularization, double alpha_du, double alpha_pr, int trials, void *user) {
  (void)mode, (void)iteration, (void)f, (void)d_norm, (void)regularization;
  (void)alpha_du, (void)alpha_pr, (void)trials;
  mbg__nlp *w = user;
  return !astray(w, fmax(fmax(inf_pr, inf_du), mu)) && !w->stop;
}

static bool text_option(IpoptProblem problem, const char *key, const char *value) {
  return AddIpoptStrOption(problem, (char *)key, (char *)value);
}

static bool number_option(IpoptProblem problem, const char *key, double value) {
  return AddIpoptNumOption(problem, (char *)key, value);
}

/* quiet, within the bounds; our own rules stop it, its tolerance only when nothing is left to gain */
static bool set_options(IpoptProblem problem, const mbg__nlp_options *opt) {
  const bool newton = opt->method == MBG__NLP_IPOPT_GN || opt->method == MBG__NLP_IPOPT_EXACT;
  return text_option(problem, "sb", "yes") && AddIpoptIntOption(problem, (char *)"print_level", 0) &&
         text_option(problem, "hessian_approximation", newton ? "exact" : "limited-memory") &&
         AddIpoptIntOption(problem, (char *)"limited_memory_max_history", opt->memory) &&
         text_option(problem, "honor_original_bounds", "yes") && text_option(problem, "mu_strategy", "adaptive") &&
         text_option(problem, "nlp_scaling_method", "none") && number_option(problem, "bound_relax_factor", 0) &&
         AddIpoptIntOption(problem, (char *)"max_iter", opt->max_iterations) && number_option(problem, "tol", 1e-11) &&
         number_option(problem, "constr_viol_tol", 0.1 * opt->feasibility) &&
         number_option(problem, "acceptable_tol", 1e-10);
}

/* Interior points end at a distance from bounds that hold, where the conditions of optimality (kkt.h) count a free
   unknown: one more evaluation on the bounds. */
static void step_onto_bounds(mbg__nlp *w, double *x) {
  static const double near = 1e-7;
  bool moved = false;
  for (int k = 0; k < w->p->n; k++) {
    const double lower = w->p->lower[k], upper = w->p->upper[k], before = x[k];
    x[k] = x[k] <= lower + near ? lower : x[k] >= upper - near ? upper : x[k];
    moved = moved || x[k] != before;
  }
  if (moved) {
    (void)mbg__nlp_derivatives(w, x);
  }
}

int mbg__nlp_ipopt(mbg__nlp *w) {
  const int n = w->p->n, m = w->p->m;
  const int hessian = w->opt->method == MBG__NLP_IPOPT ? 0 : n * (n + 1) / 2;
  double *x = MBG_TAKE(&w->arena, double, n + 1), *lower = MBG_TAKE(&w->arena, double, n + 1),
         *upper = MBG_TAKE(&w->arena, double, n + 1), *c = MBG_TAKE(&w->arena, double, 2 * m + 2);
  if (mbg__arena_check(w->ctx, &w->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  int free_numbers = 0;
  for (int k = 0; k < n; k++) {
    x[k] = w->best_x[k];
    lower[k] = fmax(w->p->lower[k], -1e20); /* its infinity: 1e19 */
    upper[k] = fmin(w->p->upper[k], 1e20);
    free_numbers += lower[k] < upper[k];
  }
  for (int i = 0; i < m; i++) {
    c[i] = w->p->equal[i] ? 0 : -1e20;
  }
  if (free_numbers == 0) {
    return MBG_OK;
  }
  IpoptProblem problem = CreateIpoptProblem(n, lower, upper, m, c, c + m + 1, n * m, hessian, 0, eval_f, eval_g,
                                            eval_grad_f, eval_jac_g, eval_h);
  if (!problem) {
    return mbg__fail_memory(w->ctx);
  }
  int status = Internal_Error;
  if (set_options(problem, w->opt) && SetIntermediateCallback(problem, intermediate)) {
    status = (int)IpoptSolve(problem, x, NULL, NULL, NULL, NULL, NULL, w);
  }
  FreeIpoptProblem(problem);
  if (!w->stop && (status == Solve_Succeeded || status == Solved_To_Acceptable_Level)) {
    step_onto_bounds(w, x);
  }
  if (!w->stop) {
    w->result->reason = status == Solve_Succeeded || status == Solved_To_Acceptable_Level ? MBG__NLP_OPTIMAL
                        : status == Maximum_Iterations_Exceeded                           ? MBG__NLP_ITERATIONS
                                                                                          : MBG__NLP_STUCK;
  }
  return status == Insufficient_Memory ? mbg__fail_memory(w->ctx) : MBG_OK;
}
