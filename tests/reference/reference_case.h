/* Runs of gallery models that are compared with printed numbers. */
#ifndef REFERENCE_REFERENCE_CASE_H
#define REFERENCE_REFERENCE_CASE_H

#include "property/gradient_case.h"

#include <stdio.h>

/* Puts `more` (entries with a comma at the end) in front of the entries of a section; text is freed. */
static inline char *reference_insert(char *text, const char *section, const char *more) {
  char key[40];
  snprintf(key, sizeof key, "\"%s\": {", section);
  char *at = strstr(text, key);
  assert_non_null(at);
  at += strlen(key);
  char *out = malloc(strlen(text) + strlen(more) + 1);
  sprintf(out, "%.*s%s%s", (int)(at - text), text, more, at);
  free(text);
  return out;
}

/* Opens a gallery model with further signals and criteria (NULL: none). The text belongs to the caller: free after
   closing. */
static inline char *reference_open(gradient_case *c, const char *name, const char *signals, const char *criteria) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, name);
  char *text = support_read_file(path, NULL);
  text = signals ? reference_insert(text, "signals", signals) : text;
  text = criteria ? reference_insert(text, "criteria", criteria) : text;
  *strrchr(path, '/') = 0;
  gradient_case_open(c, path, text);
  c->file = NULL; /* the path is gone with this function */
  c->options.all_signals = 1;
  return text;
}

static inline void reference_close(gradient_case *c, char *text) {
  gradient_case_close(c);
  free(text);
}

static inline int reference_signal(const gradient_case *c, const char *name) {
  for (int i = 0; i < c->m->nsignal; i++) {
    if (c->m->signals[i].name && strcmp(c->m->signals[i].name, name) == 0) {
      return i;
    }
  }
  fail_msg("no signal '%s'", name);
  return -1;
}

static inline double reference_value(const gradient_case *c, int node, const char *signal) {
  return mbg_run_signal(c->run, node, reference_signal(c, signal));
}

static inline int reference_criterion(const gradient_case *c, const char *name) {
  for (int k = 0; k < c->nc; k++) {
    if (strcmp(c->m->criteria[k].name, name) == 0) {
      return k;
    }
  }
  fail_msg("no criterion '%s'", name);
  return -1;
}

/* |a - b| <= tol |b|; the largest |a - b|/|b| of a program is kept for its report */
static double reference_worst;

static inline void reference_close_to(const char *what, double a, double b, double tol) {
  const double off = fabs(a - b) / fabs(b);
  reference_worst = off <= reference_worst ? reference_worst : off;
  if (!(off <= tol)) {
    fail_msg("%s: %.15g, expected %.15g: off by %.2e", what, a, b, off);
  }
}

/* Value and gradient (np) of a criterion, by direct differentiation and by the formulation's adjoint. */
static inline void reference_check(gradient_case *c, const char *criterion, double value, const double *gradient,
                                   double tol) {
  const mbg_method methods[] = {MBG_METHOD_DIRECT, mbg_run_adjoint_method(c->run)};
  const int k = reference_criterion(c, criterion);
  double *psi = calloc((size_t)c->nc, sizeof *psi);
  gradient_case_check(c, mbg_run_criteria(c->ctx, c->run, psi), "criteria");
  reference_close_to(criterion, psi[k], value, tol);
  for (int m = 0; m < 2; m++) {
    double *g = gradient_case_gradient(c, methods[m]);
    for (int i = 0; i < c->np; i++) {
      char what[100];
      snprintf(what, sizeof what, "%s of '%s' by parameter %d", mbg_method_name(methods[m]), criterion, i);
      reference_close_to(what, g[k * c->np + i], gradient[i], tol);
    }
    free(g);
  }
  free(psi);
}

#endif
