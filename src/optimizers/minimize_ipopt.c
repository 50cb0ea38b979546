/* IPOPT (Waechter, Biegler, Math. Programming 106, 2006) by its C interface, with bounds alone. It sees the numbers
   x sqrt(d), in which lengths are those of the metric. */
#include "optimizers/minimize_internal.h"

#include <IpStdCInterface.h>
#include <math.h>
#include <string.h>

typedef struct {
  mbg__minimizer *m;
  double *x, *g; /* last point evaluated, and its gradient, in the caller's numbers   (n) */
  double *z;     /* x sqrt(d)                                                          (n) */
  double *lower, *upper;
  double f;
  int status;     /* of the evaluation at x */
  bool evaluated; /* there is one */
  int err;        /* fatal one */
} ipopt;

static double root(const ipopt *w, int k) { return sqrt(mbg__minimize_metric(w->m, k)); }

/* Value and gradient at z, once for each point. */
static bool evaluate(ipopt *w, const double *z) {
  const size_t size = (size_t)w->m->n * sizeof(double);
  if (w->err < 0) {
    return false;
  }
  if (!w->evaluated || memcmp(w->z, z, size) != 0) {
    memcpy(w->z, z, size);
    for (int k = 0; k < w->m->n; k++) {
      w->x[k] = z[k] / root(w, k);
    }
    mbg__minimize_project(w->m, w->x);
    w->status = mbg__minimize_evaluate(w->m, w->x, &w->f, w->g);
    w->evaluated = true;
    w->err = w->status < 0 ? w->status : 0;
  }
  return w->status == 0;
}

static MBG_IPOPT_BOOL eval_f(int n, double *z, MBG_IPOPT_BOOL new_x, double *f, void *user) {
  (void)n, (void)new_x;
  ipopt *w = user;
  const bool fine = evaluate(w, z);
  *f = fine ? w->f : 0;
  return fine;
}

static MBG_IPOPT_BOOL eval_grad_f(int n, double *z, MBG_IPOPT_BOOL new_x, double *g, void *user) {
  (void)new_x;
  ipopt *w = user;
  if (!evaluate(w, z)) {
    return 0;
  }
  for (int k = 0; k < n; k++) {
    g[k] = w->g[k] / root(w, k);
  }
  return 1;
}

/* There are no constraints beyond the bounds; the interface wants the functions. */
static MBG_IPOPT_BOOL eval_g(int n, double *z, MBG_IPOPT_BOOL new_x, int m, double *g, void *user) {
  (void)n, (void)z, (void)new_x, (void)m, (void)g, (void)user;
  return 1;
}

static MBG_IPOPT_BOOL eval_jac_g(int n, double *z, MBG_IPOPT_BOOL new_x, int m, int nele, int *row, int *column,
                                 double *values, void *user) {
  (void)n, (void)z, (void)new_x, (void)m, (void)nele, (void)row, (void)column, (void)values, (void)user;
  return 1;
}

static MBG_IPOPT_BOOL eval_h(int n, double *z, MBG_IPOPT_BOOL new_x, double factor, int m, double *lambda,
                             MBG_IPOPT_BOOL new_lambda, int nele, int *row, int *column, double *values, void *user) {
  (void)n, (void)z, (void)new_x, (void)factor, (void)m, (void)lambda, (void)new_lambda, (void)nele, (void)row;
  (void)column, (void)values, (void)user;
  return 0;
}

/* After each iteration. The iterate is the point evaluated last: gradients are asked for accepted points alone. */
static MBG_IPOPT_BOOL intermediate(int mode, int iteration, double f, double inf_pr, double inf_du, double mu,
                                   double d_norm, double regularization, double alpha_du, double alpha_pr, int trials,
                                   void *user) {
  (void)mode, (void)f, (void)inf_pr, (void)inf_du, (void)mu, (void)d_norm, (void)regularization, (void)alpha_du;
  (void)alpha_pr, (void)trials;
  ipopt *w = user;
  if (w->err < 0) {
    return 0;
  }
  if (iteration == 0 || w->status != 0) {
    return 1;
  }
  w->m->result->iterations = iteration;
  return mbg__minimize_iterated(w->m, w->x, w->f, w->g) == 0;
}

static int take_memory(ipopt *w) {
  double **vectors[] = {&w->x, &w->g, &w->z, &w->lower, &w->upper};
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    if (!(*vectors[i] = MBG_TAKE(&w->m->arena, double, w->m->n + 1))) {
      return mbg__fail_memory(w->m->ctx);
    }
  }
  return MBG_OK;
}

static bool text_option(IpoptProblem problem, const char *key, const char *value) {
  return AddIpoptStrOption(problem, (char *)key, (char *)value);
}

/* Quiet, within the bounds, quasi-Newton; our own rules stop it, its tolerance only when nothing is left to gain. */
static bool set_options(IpoptProblem problem, const mbg__minimize_options *opt) {
  return text_option(problem, "sb", "yes") && text_option(problem, "hessian_approximation", "limited-memory") &&
         text_option(problem, "honor_original_bounds", "yes") && text_option(problem, "mu_strategy", "adaptive") &&
         AddIpoptIntOption(problem, (char *)"print_level", 0) &&
         AddIpoptIntOption(problem, (char *)"limited_memory_max_history", opt->memory) &&
         AddIpoptIntOption(problem, (char *)"max_iter", opt->max_iterations) &&
         AddIpoptNumOption(problem, (char *)"bound_relax_factor", 0) &&
         AddIpoptNumOption(problem, (char *)"tol", 1e-12) &&
         AddIpoptNumOption(problem, (char *)"acceptable_tol", 1e-11);
}

/* What IPOPT said, in our words, unless our own rules stopped it. */
static int outcome(ipopt *w, int status) {
  mbg__minimize_result *r = w->m->result;
  if (w->err < 0) {
    return w->err;
  }
  switch (status) {
  case Solve_Succeeded:
  case Solved_To_Acceptable_Level:
    r->reason = MBG__MINIMIZE_GRADIENT;
    return 0;
  case User_Requested_Stop:
    return 0;
  case Maximum_Iterations_Exceeded:
    r->reason = MBG__MINIMIZE_ITERATIONS;
    return 0;
  case Insufficient_Memory:
    return mbg__fail_memory(w->m->ctx);
  default:
    r->reason = MBG__MINIMIZE_SEARCH;
    return 0;
  }
}

int mbg__minimize_ipopt(mbg__minimizer *m) {
  ipopt w = {.m = m};
  const int err = take_memory(&w);
  if (err < 0) {
    return err;
  }
  double *z = MBG_TAKE(&m->arena, double, m->n + 1);
  if (!z) {
    return mbg__fail_memory(m->ctx);
  }
  int free_numbers = 0;
  for (int k = 0; k < m->n; k++) {
    z[k] = m->best_x[k] * root(&w, k);
    w.lower[k] = fmax(mbg__minimize_lower(m, k) * root(&w, k), -1e20); /* its infinity: 1e19 */
    w.upper[k] = fmin(mbg__minimize_upper(m, k) * root(&w, k), 1e20);
    free_numbers += w.lower[k] < w.upper[k];
  }
  if (free_numbers == 0) {
    m->result->reason = MBG__MINIMIZE_GRADIENT;
    return 0;
  }
  IpoptProblem problem = CreateIpoptProblem(m->n, w.lower, w.upper, 0, NULL, NULL, 0, 0, 0, eval_f, eval_g, eval_grad_f,
                                            eval_jac_g, eval_h);
  if (!problem) {
    return mbg__fail_memory(m->ctx);
  }
  int status = Internal_Error;
  if (set_options(problem, m->opt) && SetIntermediateCallback(problem, intermediate)) {
    status = (int)IpoptSolve(problem, z, NULL, NULL, NULL, NULL, NULL, &w);
  }
  FreeIpoptProblem(problem);
  return outcome(&w, status);
}
