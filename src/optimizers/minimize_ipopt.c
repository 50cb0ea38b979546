/* IPOPT with bounds alone (nlp.h). It works on x sqrt(d), so that Euclidean lengths are lengths in the metric d. */
#include "optimizers/minimize_internal.h"
#include "optimizers/nlp.h"

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct {
  mbg__minimizer *m;
  double *x, *g; /* point of the last evaluation and its gradient, in the caller's numbers   (n) */
  double *d;     /* direction of a product, in the caller's numbers                          (n) */
  double f;
} ipopt;

static double root(const ipopt *w, int k) { return sqrt(mbg__minimize_metric(w->m, k)); }

static int values(void *user, const double *z, double *f, double *c) {
  (void)c;
  ipopt *w = user;
  for (int k = 0; k < w->m->n; k++) {
    w->x[k] = z[k] / root(w, k);
  }
  mbg__minimize_project(w->m, w->x);
  const int status = mbg__minimize_evaluate(w->m, w->x, &w->f, w->g);
  *f = w->f;
  return status;
}

static int derivatives(void *user, const double *z, double *g, double *J) {
  (void)z, (void)J;
  const ipopt *w = user;
  for (int k = 0; k < w->m->n; k++) {
    g[k] = w->g[k] / root(w, k);
  }
  return 0;
}

static int product(void *user, const double *z, double factor, const double *lambda, const double *d, double *Hd) {
  (void)z, (void)lambda;
  ipopt *w = user;
  const mbg__minimize_problem *p = w->m->problem;
  for (int k = 0; k < w->m->n; k++) {
    w->d[k] = d[k] / root(w, k);
  }
  const int status = p->product(p->user, w->x, w->d, Hd);
  for (int k = 0; k < w->m->n; k++) {
    Hd[k] *= factor / root(w, k);
  }
  return status;
}

/* the start was reported before */
static int progress(void *user, const mbg__nlp_state *state) {
  const ipopt *w = user;
  if (state->iteration == 1) {
    return 0;
  }
  w->m->result->iterations = state->iteration - 1;
  return mbg__minimize_iterated(w->m, w->x, w->f, w->g);
}

static int take_memory(ipopt *w, double **z, double **lower, double **upper) {
  double **vectors[] = {&w->x, &w->g, &w->d, z, lower, upper};
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    *vectors[i] = MBG_TAKE(&w->m->arena, double, w->m->n + 1);
  }
  return mbg__arena_check(w->m->ctx, &w->m->arena);
}

int mbg__minimize_ipopt(mbg__minimizer *m) {
  ipopt w = {.m = m};
  double *z, *lower, *upper;
  mbg__nlp_result result;
  int err = take_memory(&w, &z, &lower, &upper);
  if (err < 0) {
    return err;
  }
  int free_numbers = 0;
  for (int k = 0; k < m->n; k++) {
    z[k] = m->best_x[k] * root(&w, k);
    lower[k] = mbg__minimize_lower(m, k) * root(&w, k);
    upper[k] = mbg__minimize_upper(m, k) * root(&w, k);
    free_numbers += lower[k] < upper[k];
  }
  if (free_numbers == 0) {
    m->result->reason = MBG__MINIMIZE_GRADIENT;
    return 0;
  }
  const mbg__nlp_problem problem = {.n = m->n,
                                    .lower = lower,
                                    .upper = upper,
                                    .values = values,
                                    .derivatives = derivatives,
                                    .product = product,
                                    .progress = progress,
                                    .user = &w};
  mbg__nlp_options o = mbg__nlp_options_default();
  o.method = m->opt->method == MBG__MINIMIZE_IPOPT_EXACT ? MBG__NLP_IPOPT_EXACT : MBG__NLP_IPOPT;
  o.memory = m->opt->memory;
  o.max_iterations = o.max_evaluations = INT_MAX; /* the limits of the minimizer apply */
  o.optimality = -1;
  err = mbg__nlp_solve(m->ctx, &problem, &o, z, &result);
  m->result->products = result.products;
  /* our own rules have set the reason; else IPOPT ended by itself */
  if (err == MBG_OK && result.reason != MBG__NLP_INTERRUPTED) {
    m->result->reason = result.reason == MBG__NLP_OPTIMAL ? MBG__MINIMIZE_GRADIENT : MBG__MINIMIZE_SEARCH;
  }
  return err;
}
