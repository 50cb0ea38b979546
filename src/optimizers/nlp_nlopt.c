/* NLopt by its C interface. It takes numbers that are not finite for good ones: where nothing can be evaluated it sees
   a large value instead, from which its line searches and its approximations step back. */
#include "optimizers/nlp_internal.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

/* f is of the order of 1 */
static const double refused = 1e6;

/* SLSQP may ask for one point for ever, where its numbers are too large for it */
enum { REPEATS_MAX = 1000, CALLS_MAX = 1000000 };

typedef struct {
  mbg__nlp *w;
  nlopt_opt opt;
  int nle, neq;
  int *le, *eq;   /* inequalities, equalities      (m) */
  double *last_c; /* of the last good point        (m) */
  double last_f;
  double *last_x; /* of the last call, good or not (n) */
  int repeats, calls;
} nlopt;

static bool goes_round(nlopt *s, const double *x) {
  const size_t size = (size_t)s->w->p->n * sizeof(double);
  s->repeats = s->calls++ > 0 && memcmp(x, s->last_x, size) == 0 ? s->repeats + 1 : 0;
  memcpy(s->last_x, x, size);
  return s->repeats >= REPEATS_MAX || s->calls >= CALLS_MAX;
}

/* values (and gradients) at x; false: large ones take their place */
static bool evaluate(nlopt *s, const double *x, bool gradients) {
  const int failed = gradients ? mbg__nlp_derivatives(s->w, x) : mbg__nlp_values(s->w, x);
  if (s->w->stop || goes_round(s, x)) {
    nlopt_force_stop(s->opt);
  }
  if (failed == 0) {
    s->last_f = s->w->at.f;
    memcpy(s->last_c, s->w->at.c, (size_t)s->w->p->m * sizeof(double));
  }
  return failed == 0;
}

static double objective(unsigned n, const double *x, double *grad, void *user) {
  nlopt *s = user;
  const bool fine = evaluate(s, x, grad != NULL);
  if (grad && fine) {
    memcpy(grad, s->w->at.g, n * sizeof(double));
  } else if (grad) {
    memset(grad, 0, n * sizeof(double));
  }
  return fine ? s->w->at.f : s->last_f + refused * fmax(1, fabs(s->last_f));
}

static void rows(nlopt *s, unsigned m, const int *row, double *result, unsigned n, const double *x, double *grad) {
  const bool fine = evaluate(s, x, grad != NULL);
  for (unsigned i = 0; i < m; i++) {
    result[i] = s->last_c[row[i]];
    if (grad && fine) {
      memcpy(grad + (size_t)i * n, s->w->at.J + (size_t)row[i] * n, n * sizeof(double));
    } else if (grad) {
      memset(grad + (size_t)i * n, 0, n * sizeof(double));
    }
  }
}

static void inequalities(unsigned m, double *result, unsigned n, const double *x, double *grad, void *user) {
  nlopt *s = user;
  rows(s, m, s->le, result, n, x, grad);
}

static void equalities(unsigned m, double *result, unsigned n, const double *x, double *grad, void *user) {
  nlopt *s = user;
  rows(s, m, s->eq, result, n, x, grad);
}

static nlopt_algorithm algorithm(mbg__nlp_method method) {
  return method == MBG__NLP_MMA ? NLOPT_LD_MMA : method == MBG__NLP_SLSQP ? NLOPT_LD_SLSQP : NLOPT_LD_LBFGS;
}

static void list_rows(nlopt *s) {
  for (int i = 0; i < s->w->p->m; i++) {
    if (s->w->p->equal[i]) {
      s->eq[s->neq++] = i;
    } else {
      s->le[s->nle++] = i;
    }
  }
}

/* our own rules stop it; its tolerances only when nothing is left to gain */
static bool set_up(nlopt *s) {
  const mbg__nlp_problem *p = s->w->p;
  bool fine = nlopt_set_lower_bounds(s->opt, p->lower) > 0 && nlopt_set_upper_bounds(s->opt, p->upper) > 0 &&
              nlopt_set_min_objective(s->opt, objective, s) > 0 && nlopt_set_xtol_rel(s->opt, 1e-13) > 0 &&
              nlopt_set_ftol_rel(s->opt, 1e-15) > 0 && nlopt_set_maxeval(s->opt, 0) > 0;
  if (s->nle > 0) {
    fine = fine && nlopt_add_inequality_mconstraint(s->opt, (unsigned)s->nle, inequalities, s, NULL) > 0;
  }
  if (s->neq > 0) {
    fine = fine && nlopt_add_equality_mconstraint(s->opt, (unsigned)s->neq, equalities, s, NULL) > 0;
  }
  return fine;
}

int mbg__nlp_nlopt(mbg__nlp *w) {
  nlopt s = {.w = w, .last_f = w->at.f};
  const int n = w->p->n, m = w->p->m;
  int err = MBG_OK;
  s.le = MBG_TAKE(&w->arena, int, m + 1);
  s.eq = MBG_TAKE(&w->arena, int, m + 1);
  s.last_c = MBG_TAKE(&w->arena, double, m + 1);
  s.last_x = MBG_TAKE(&w->arena, double, n + 1);
  double *x = MBG_TAKE(&w->arena, double, n + 1), f;
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  s.opt = nlopt_create(algorithm(w->opt->method), (unsigned)n);
  memcpy(x, w->best_x, (size_t)n * sizeof(double));
  memcpy(s.last_c, w->at.c, (size_t)m * sizeof(double));
  list_rows(&s);
  if (!s.opt || !set_up(&s)) {
    err = mbg__fail_memory(w->ctx);
    goto done;
  }
  const nlopt_result result = nlopt_optimize(s.opt, x, &f);
  if (result == NLOPT_OUT_OF_MEMORY) {
    err = mbg__fail_memory(w->ctx);
  } else if (!w->stop) {
    w->result->reason = MBG__NLP_STUCK;
  }
done:
  nlopt_destroy(s.opt);
  return err;
}
