/* Models in every formulation, to the digits of theory 8: values of the discrete schemes, and of qr the limit, and
   direct, adjoint and complex twin against each other. A test includes this once and says where its models lie. */
#ifndef REFERENCE_SCHEME_CASE_H
#define REFERENCE_SCHEME_CASE_H

#include "property/gradient_case.h"

#include <stdio.h>

enum { PSI = 4, PARAMETERS = 6 };

/* Criteria and gradients; nan: not known. */
typedef struct {
  const char *model, *formulation;
  double psi[PSI];
  double gradient[PSI][PARAMETERS];
} reference;

#define NO                                                                                                             \
  { NAN }

static const char *folder; /* of the models, in tests/reference */
/* The model with a spline whose third derivative jumps at knots, NULL: none. Steps of qr cross them: with tolerances
   from 1e-10 to 2e-13 its derivatives scatter by 1.5e-7, in any coordinates of the state, and its values by 1e-10. */
static const char *spline;

static void open_model(gradient_case *c, char *path, const char *model, const char *formulation) {
  sprintf(path, "%s/tests/reference/%s/%s.json", MBG_SOURCE_DIR, folder, model);
  gradient_case_open(c, path, NULL);
  c->options.formulation = formulation;
  c->options.step = c->m->run.step;
  if (!strcmp(formulation, "qr")) {
    c->options.step = NAN;
    c->options.tolerance = 1e-12;
  }
  if (!strcmp(formulation, "dca")) {
    c->options.integrator = "rk4";
  }
}

static void near(const reference *r, const char *what, int k, int i, double found, double expected, double size) {
  const bool knots = spline && what[0] == 'd' && !strcmp(r->formulation, "qr") && !strcmp(r->model, spline);
  const double limit = knots ? 2e-7 : 2e-9;
  if (!isnan(expected) && !(fabs(found - expected) <= limit * size)) {
    fail_msg("%s, %s: %s %d %d is %.12g, expected %.12g", r->model, r->formulation, what, k, i, found, expected);
  }
}

static void check_row(const gradient_case *c, const reference *r, int k, const double *g) {
  double most = 0;
  for (int i = 0; i < c->np; i++) {
    most = fmax(most, fabs(c->p[i] * r->gradient[k][i]));
  }
  for (int i = 0; i < c->np && !isnan(r->gradient[k][0]); i++) {
    near(r, "derivative", k, i, g[k * c->np + i], r->gradient[k][i], fabs(r->gradient[k][i]) + most / fabs(c->p[i]));
  }
}

static void check_references(const reference *cases, int count) {
  for (int n = 0; n < count; n++) {
    const reference *r = &cases[n];
    gradient_case c;
    char path[300];
    double psi[PSI];
    open_model(&c, path, r->model, r->formulation);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    assert_true(c.nc <= PSI && c.np <= PARAMETERS);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), r->model);
    for (int k = 0; k < c.nc; k++) {
      near(r, "criterion", k, 0, psi[k], r->psi[k], fabs(r->psi[k]));
    }
    for (int method = strcmp(r->formulation, "qr") == 0; method < 2; method++) {
      double *g = gradient_case_gradient(&c, method ? MBG_METHOD_ADJOINT : MBG_METHOD_DIRECT);
      for (int k = 0; k < c.nc; k++) {
        check_row(&c, r, k, g);
      }
      free(g);
    }
    gradient_case_close(&c);
  }
}

static void values_of(const char *model, const char *formulation, int halvings, double *psi) {
  gradient_case c;
  char path[300];
  open_model(&c, path, model, formulation);
  c.options.step = ldexp(c.options.step, -halvings); /* qr: nan */
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), model);
  gradient_case_close(&c);
}

/* dae, of which the page has no digits: its errors fall by four when steps are halved, to the same limits */
static void check_order(const char *model, int count) {
  double limit[PSI], psi[2][PSI];
  values_of(model, "qr", 0, limit);
  values_of(model, "dae", 2, psi[0]);
  values_of(model, "dae", 3, psi[1]);
  for (int k = 0; k < count; k++) {
    const double ratio = (psi[0][k] - limit[k]) / (psi[1][k] - limit[k]);
    if (!(ratio >= 3.9 && ratio <= 4.3)) {
      fail_msg("%s, dae: errors of criterion %d fall by %.3f", model, k, ratio);
    }
  }
}

/* direct, adjoint and twin, for a part of the run */
static void check_gradients(const char *const *models, int count) {
  static const char *const formulations[] = {"lie", "dae", "dca", "ali3p"};
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < MBG_COUNT(formulations); k++) {
      gradient_case c;
      char path[300], what[80];
      open_model(&c, path, models[i], formulations[k]);
      c.options.end = 20 * c.m->run.step;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      snprintf(what, sizeof what, "%s, %s", models[i], formulations[k]);
      gradient_case_compare(&c, what, 1e-10, 1e-9);
      gradient_case_close(&c);
    }
  }
}

#endif
