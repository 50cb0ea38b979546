/* A model with a run and its twin: what the tests of gradients compare. */
#ifndef PROPERTY_GRADIENT_CASE_H
#define PROPERTY_GRADIENT_CASE_H

#include "mbgrad/proof.h"
#include "model/model.h"
#include "support/support.h"
#include "twin/twin_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *file, *text; /* one of them; with a text, file is the folder of its parts */
  mbg_run_options options;
  mbg_context *ctx;
  mbg_model *m;
  mbg_run *run;
  int np, nc;
  double *p; /* nominal                                  (np) */
} gradient_case;

/* Loads the model; the run comes with gradient_case_run, once the options are chosen. */
static inline void gradient_case_open(gradient_case *c, const char *file, const char *text) {
  *c = (gradient_case){.file = file, .text = text};
  mbg_run_options_default(&c->options, sizeof(c->options));
  assert_int_equal(mbg_context_create(NULL, &c->ctx), MBG_OK);
  const int err =
      text ? mbg_model_parse(c->ctx, "model", text, strlen(text), file, &c->m) : mbg_model_load(c->ctx, file, &c->m);
  if (err < 0) {
    fail_msg("loading: %s", mbg_context_error(c->ctx));
  }
  c->np = c->m->np;
  c->nc = c->m->ncriterion;
  c->p = malloc(((size_t)c->np + 1) * sizeof(double));
  assert_non_null(c->p);
  memcpy(c->p, c->m->p, (size_t)c->np * sizeof(double));
}

static inline void gradient_case_close(gradient_case *c) {
  mbg_run_destroy(c->run);
  mbg_model_destroy(c->m);
  mbg_context_destroy(c->ctx);
  free(c->p);
}

/* Makes the run, again when there is one. */
static inline void gradient_case_run(gradient_case *c) {
  mbg_run_destroy(c->run);
  if (mbg_run_create(c->ctx, c->m, &c->options, &c->run) < 0) {
    fail_msg("run: %s", mbg_context_error(c->ctx));
  }
}

static inline void gradient_case_check(const gradient_case *c, int err, const char *what) {
  if (err < 0) {
    fail_msg("%s: %s", what, mbg_context_error(c->ctx));
  }
}

/* Refusals of random models that depend on steps and positions, which formulations may see or not. */
static inline bool gradient_case_excused(const char *words) {
  static const char *const list[] = {"did not converge",
                                     "singular",
                                     "became independent",
                                     "finite",
                                     "assembled",
                                     "contradict",
                                     "no longer agree",
                                     "nearest consistent",
                                     "jumps from step to step",
                                     "stability limit",
                                     "takes no",
                                     "half a turn away",
                                     "no headway",
                                     "small enough",
                                     "cannot be closed",
                                     "interrupted",
                                     "contact points meet",
                                     "turned by nearly pi"};
  for (int i = 0; i < MBG_COUNT(list); i++) {
    if (strstr(words, list[i])) {
      return true;
    }
  }
  return false;
}

static inline double *gradient_case_matrix(const gradient_case *c) {
  double *g = calloc((size_t)c->nc * (size_t)c->np + 1, sizeof(double));
  assert_non_null(g);
  return g;
}

static inline void gradient_case_simulate(gradient_case *c) {
  gradient_case_check(c, mbg_run_simulate(c->ctx, c->run), "simulation");
}

/* Gradient (nc x np) of the last simulation; free with free(). */
static inline double *gradient_case_gradient(gradient_case *c, mbg_method method) {
  double *g = gradient_case_matrix(c);
  gradient_case_check(c, mbg_run_gradient(c->ctx, c->run, method, g, NULL), mbg_method_name(method));
  return g;
}

/* |d_k| / (|g_k| + most/|p_k|), most = max_j |p_j g_j| but at least `least`, the largest over k (theory 0, section 11);
   a parameter that is 0 counts as 1 */
static inline double gradient_difference(int np, const double *p, const double *a, const double *g, double least) {
  double most = least, worst = 0;
  for (int k = 0; k < np; k++) {
    most = fmax(most, fabs((p[k] != 0 ? p[k] : 1) * g[k]));
  }
  for (int k = 0; k < np; k++) {
    const double scale = fabs(g[k]) + most / fabs(p[k] != 0 ? p[k] : 1), off = fabs(a[k] - g[k]);
    const double d = off == 0 ? 0 : off / scale;
    worst = d <= worst ? worst : d; /* NaN stays */
  }
  return worst;
}

/* ---------------------------------------------------------------------- twin */

static inline void gradient_twin_check(const twin_run *t, int err) {
  if (err < 0) {
    fail_msg("twin: %s", t ? twin_run_message(t) : "no memory");
  }
}

/* Runs the twin; false: it fails with a message that is excused, kept in `words` (NULL: none is). A start that is
   assembled on a way of a hundred short steps may end elsewhere with another rounding. */
static inline bool gradient_twin_runs(twin_run *t, const double _Complex *p, double _Complex *psi, char *words,
                                      size_t size) {
  const int err = twin_run_criteria(t, p, psi);
  if (err < 0 && words && gradient_case_excused(twin_run_message(t))) {
    snprintf(words, size, "twin: %s", twin_run_message(t));
    return false;
  }
  gradient_twin_check(t, err);
  return true;
}

/* Gradient (nc x np) at the parameters of the case by complex step of the whole run, one parameter after the other;
   free with free(). words (size, may be NULL): why the twin does not run, then the gradient is not complete. value
   (2 x nc, may be NULL): smallest and largest criteria of the twin's runs. They differ by rounding, unless a rounding
   decides which of two solutions the assembly of the start finds. */
static inline double *gradient_case_twin_or(const gradient_case *c, double *value, char *words, size_t size) {
  double _Complex *p = malloc(((size_t)c->np + 1) * sizeof *p), *psi = malloc(((size_t)c->nc + 1) * sizeof *psi);
  double *g = gradient_case_matrix(c);
  twin_run *t;
  const int err = twin_run_create(c->file, c->text, &c->options, &t);
  gradient_twin_check(t, err);
  bool runs = true;
  for (int i = 0; i < c->np && runs; i++) {
    for (int j = 0; j < c->np; j++) {
      p[j] = twin_step(c->p[j], j == i);
    }
    runs = gradient_twin_runs(t, p, psi, words, size);
    for (int k = 0; k < c->nc; k++) {
      g[k * c->np + i] = twin_derivative(psi[k]);
      if (value) {
        value[k] = i == 0 ? creal(psi[k]) : fmin(value[k], creal(psi[k]));
        value[c->nc + k] = i == 0 ? creal(psi[k]) : fmax(value[c->nc + k], creal(psi[k]));
      }
    }
  }
  /* under error control a rounding may add a node */
  assert_true(!runs || mbg_run_relative_tolerance(c->run) > 0 || twin_run_node_count(t) == mbg_run_node_count(c->run));
  twin_run_destroy(t);
  free(p);
  free(psi);
  return g;
}

static inline double *gradient_case_twin(const gradient_case *c, double *value) {
  return gradient_case_twin_or(c, value, NULL, 0);
}

/* Gradients of the last simulation: direct, adjoint and twin agree. */
static inline void gradient_case_compare(gradient_case *c, const char *what, double tol_direct, double tol_twin) {
  double *direct = gradient_case_gradient(c, MBG_METHOD_DIRECT),
         *adjoint = gradient_case_gradient(c, MBG_METHOD_ADJOINT);
  double *exact = gradient_case_twin(c, NULL);
  for (int k = 0; k < c->nc; k++) {
    const int at = k * c->np;
    const double a = gradient_difference(c->np, c->p, direct + at, adjoint + at, 0);
    const double b = gradient_difference(c->np, c->p, adjoint + at, exact + at, 0);
    if (!(a <= tol_direct) || !(b <= tol_twin)) {
      fail_msg("%s, '%s': direct and adjoint differ by %.2e, adjoint and twin by %.2e", what, c->m->criteria[k].name, a,
               b);
    }
  }
  free(direct);
  free(adjoint);
  free(exact);
}

#endif
