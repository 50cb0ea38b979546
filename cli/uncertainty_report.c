#include "uncertainty_report.h"

#include "results.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *kind_name(mbg_distribution kind) { return kind == MBG_UNIFORM ? "uniform" : "normal"; }

static const mbg_model *model_of(const cli_uncertainty *u) { return u->run->session.model; }

static void parameter_name(const cli_uncertainty *u, int i, char *name, size_t size) {
  (void)mbg_model_parameter_name(model_of(u), u->scatter->index[i], name, size);
}

/* moments of number i alone: the others do not scatter */
static mbg_moments alone(const cli_uncertainty *u, int c, int i) {
  const size_t n = (size_t)u->scatter->count;
  const mbg_scatter one = {.n = 1, .kind = &u->scatter->kind[i], .deviation = &u->scatter->deviation[i]};
  mbg_moments m = {.value = u->moments[c].value};
  mbg_context *ctx;
  if (mbg_context_create(NULL, &ctx) == MBG_OK) {
    const double *H = u->has[c] ? &u->hessian[((size_t)c * n + (size_t)i) * n + (size_t)i] : NULL;
    (void)mbg_scatter_moments(ctx, &one, m.value, &u->gradient[(size_t)c * n + (size_t)i], H, &m, NULL);
    mbg_context_destroy(ctx);
  }
  return m;
}

/* ---------------------------------------------------------------------- tables */

static void print_parameters(const cli_uncertainty *u) {
  cli_table t = cli_table_make("lrrl");
  cli_table_texts(&t, "parameter", "value", "deviation", "", NULL);
  for (int i = 0; i < u->scatter->count; i++) {
    char name[256];
    parameter_name(u, i, name, sizeof(name));
    cli_table_text(&t, name);
    cli_table_number(&t, u->run->session.parameters[u->scatter->index[i]]);
    cli_table_number(&t, u->scatter->deviation[i]);
    cli_table_text(&t, kind_name(u->scatter->kind[i]));
  }
  cli_table_print(&t, 2);
  cli_table_destroy(&t);
}

static void put_samples(cli_table *t, const cli_sampled *s, double value, double error) {
  if (s->count > 0) {
    cli_table_format(t, isnan(error) ? "%.6g" : "%.6g +- %.1g", value, error);
  } else {
    cli_table_text(t, "");
  }
}

static void put_second(cli_table *t, bool has, double value) {
  if (has) {
    cli_table_number(t, value);
  } else {
    cli_table_text(t, "");
  }
}

static void print_moments(const cli_uncertainty *u, int c) {
  const mbg_moments *m = &u->moments[c];
  const cli_sampled *s = &u->sampled[c];
  cli_table t = cli_table_make("lrrr");
  char *heading = s->count > 0 ? cli_format("%d samples", s->count) : cli_format("%s", "");
  cli_table_texts(&t, "", "first order", u->has[c] ? "second order" : "", heading, NULL);
  cli_table_text(&t, "mean");
  cli_table_number(&t, m->value);
  put_second(&t, u->has[c], m->mean);
  put_samples(&t, s, s->mean, s->mean_error);
  cli_table_text(&t, "deviation");
  cli_table_number(&t, sqrt(m->linear));
  put_second(&t, u->has[c], m->deviation);
  put_samples(&t, s, s->deviation, NAN);
  cli_table_texts(&t, "skewness", "0", NULL);
  put_second(&t, u->has[c], m->skewness);
  put_samples(&t, s, s->skewness, NAN);
  cli_table_print(&t, 2);
  cli_table_destroy(&t);
  free(heading);
}

typedef struct {
  int index;
  double share;
} part;

static int by_share(const void *x, const void *y) {
  const part *a = x, *b = y;
  const int larger = (fabs(a->share) < fabs(b->share)) - (fabs(a->share) > fabs(b->share));
  return larger ? larger : a->index - b->index;
}

static part *ranked(const cli_uncertainty *u, int c) {
  const int n = u->scatter->count;
  const double variance = u->moments[c].linear + u->moments[c].quadratic;
  part *list = cli_resize(NULL, (size_t)n, sizeof(*list));
  for (int i = 0; i < n; i++) {
    const double share = u->share[(size_t)c * (size_t)n + (size_t)i];
    list[i] = (part){i, variance > 0 ? share / variance : 0};
  }
  qsort(list, (size_t)n, sizeof(*list), by_share);
  return list;
}

/* the factor on the deviation of one parameter, when it alone scatters, that the limits allow */
static void put_allowed(cli_table *t, const cli_uncertainty *u, int c, int i) {
  const mbg_moments m = alone(u, c, i);
  const double factor = mbg_moments_factor(&m, u->limits[c].low, u->limits[c].high, u->sigmas);
  if (isfinite(factor)) {
    cli_table_format(t, "%.4g", factor * u->scatter->deviation[i]);
  } else {
    cli_table_text(t, "any");
  }
}

static void print_shares(const cli_uncertainty *u, int c) {
  part *list = ranked(u, c);
  const bool limited = u->limits[c].given;
  cli_table t = cli_table_make(limited ? "lrrrr" : "lrrr");
  cli_table_texts(&t, "parameter", "share of variance", "slope x deviation", "mean shift", NULL);
  if (limited) {
    cli_table_text(&t, "allowed alone");
  }
  for (int k = 0; k < u->scatter->count; k++) {
    const int i = list[k].index;
    const mbg_moments m = alone(u, c, i);
    char name[256];
    parameter_name(u, i, name, sizeof(name));
    cli_table_text(&t, name);
    cli_table_format(&t, "%.1f %%", 100 * list[k].share);
    cli_table_number(&t, u->gradient[(size_t)c * (size_t)u->scatter->count + (size_t)i] * u->scatter->deviation[i]);
    cli_table_number(&t, m.shift);
    if (limited) {
      put_allowed(&t, u, c, i);
    }
  }
  putchar('\n');
  cli_table_print(&t, 2);
  cli_table_destroy(&t);
  free(list);
}

static void print_limits(const cli_uncertainty *u, int c) {
  const cli_limits *l = &u->limits[c];
  if (!l->given) {
    return;
  }
  const double factor = mbg_moments_factor(&u->moments[c], l->low, l->high, u->sigmas);
  printf("\n  limits %g to %g at %g deviations: ", l->low, l->high, u->sigmas);
  if (factor == 0) {
    puts("the nominal value is outside already");
  } else if (!isfinite(factor)) {
    puts("kept by any scatter");
  } else {
    printf("%s; all deviations may be %.4g times as large\n", factor >= 1 ? "kept" : "not kept", factor);
  }
  if (u->sampled[c].count > 0) {
    printf("  %.2f %% of the samples are within\n", 100 * u->sampled[c].within);
  }
}

/* ---------------------------------------------------------------------- what to think of it */

enum { NOTES_MAX = 3 };

/* The difference of the variances to second order and of the samples, relative, above 5 % and three standard
   errors of the latter, by the kurtosis of a normal number; else 0. */
static double far_from(const mbg_moments *m, const cli_sampled *s) {
  const double variance = s->deviation * s->deviation, expected = m->deviation * m->deviation;
  const double noise = s->count > 1 ? 3 * expected * sqrt(2.0 / (s->count - 1)) : INFINITY;
  return fabs(variance - expected) > 0.05 * variance + noise ? fabs(variance / expected - 1) : 0;
}

/* Where a polynomial of second order cannot be trusted, or the nominal value misleads; free the texts. */
static int list_notes(const cli_uncertainty *u, int c, char *notes[NOTES_MAX]) {
  const mbg_moments *m = &u->moments[c];
  const cli_sampled *s = &u->sampled[c];
  int n = 0;
  if (!u->has[c]) {
    notes[n++] = cli_format("%s", u->about ? "another mode is too near for second derivatives: first order only"
                                           : "the largest value of a path has no second derivatives here: first order "
                                             "only");
  }
  if (m->deviation > 0 && fabs(m->shift) > 0.25 * m->deviation) {
    notes[n++] = cli_format("the mean is %.2g deviations %s the nominal value", fabs(m->shift) / m->deviation,
                            m->shift > 0 ? "above" : "below");
  }
  if (s->count > 1 && far_from(m, s) > 0) {
    notes[n++] = cli_format("the variance of the samples differs by %.0f %%: far from %s order, trust the samples",
                            100 * far_from(m, s), u->has[c] ? "second" : "first");
  } else if (s->count <= 1 && u->has[c] && (fabs(m->skewness) > 1 || m->quadratic > m->linear)) {
    notes[n++] = cli_format("far from linear; --samples 10000 shows whether second order is enough");
  }
  return n;
}

static void print_notes(const cli_uncertainty *u, int c) {
  char *notes[NOTES_MAX];
  const int n = list_notes(u, c, notes);
  for (int i = 0; i < n; i++) {
    printf("  note: %s\n", notes[i]);
    free(notes[i]);
  }
}

static char *title_of(const cli_uncertainty *u) {
  const char *name = mbg_model_name(model_of(u));
  return u->about ? cli_format("%s, modes about the %s: scatter of frequencies [Hz] and damping ratios", name, u->about)
                  : cli_format("%s, formulation %s: scatter of criteria", name, mbg_run_formulation(u->run->run));
}

void cli_uncertainty_print(const cli_uncertainty *u) {
  char *title = title_of(u);
  cli_heading(title);
  free(title);
  print_parameters(u);
  for (int c = 0; c < u->count; c++) {
    char *name = cli_format("\n%s", u->name[c]);
    cli_heading(name);
    free(name);
    print_moments(u, c);
    print_shares(u, c);
    print_limits(u, c);
    print_notes(u, c);
  }
}

/* ---------------------------------------------------------------------- JSON */

static void put(const char *key, double value) {
  printf("\"%s\": ", key);
  cli_json_number(stdout, value);
}

static void json_parameters(const cli_uncertainty *u) {
  fputs(",\n  \"parameters\": {", stdout);
  for (int i = 0; i < u->scatter->count; i++) {
    char name[256];
    parameter_name(u, i, name, sizeof(name));
    fputs(i > 0 ? ",\n    " : "\n    ", stdout);
    cli_json_string(name);
    fputs(": {", stdout);
    put("value", u->run->session.parameters[u->scatter->index[i]]);
    fputs(", ", stdout);
    put("deviation", u->scatter->deviation[i]);
    printf(", \"distribution\": \"%s\"}", kind_name(u->scatter->kind[i]));
  }
  fputs("\n  }", stdout);
}

static void json_shares(const cli_uncertainty *u, int c) {
  part *list = ranked(u, c);
  fputs(",\n      \"shares\": {", stdout);
  for (int k = 0; k < u->scatter->count; k++) {
    char name[256];
    parameter_name(u, list[k].index, name, sizeof(name));
    fputs(k > 0 ? ", " : "", stdout);
    cli_json_string(name);
    fputs(": ", stdout);
    cli_json_number(stdout, list[k].share);
  }
  putchar('}');
  free(list);
}

static void json_limits(const cli_uncertainty *u, int c) {
  const cli_limits *l = &u->limits[c];
  if (!l->given) {
    return;
  }
  fputs(",\n      \"limits\": {", stdout);
  put("min", l->low);
  fputs(", ", stdout);
  put("max", l->high);
  fputs(", ", stdout);
  put("deviations", u->sigmas);
  fputs(", ", stdout);
  put("factor", mbg_moments_factor(&u->moments[c], l->low, l->high, u->sigmas));
  fputs(", \"alone\": {", stdout);
  for (int i = 0; i < u->scatter->count; i++) {
    const mbg_moments m = alone(u, c, i);
    char name[256];
    parameter_name(u, i, name, sizeof(name));
    fputs(i > 0 ? ", " : "", stdout);
    cli_json_string(name);
    fputs(": ", stdout);
    cli_json_number(stdout, u->scatter->deviation[i] * mbg_moments_factor(&m, l->low, l->high, u->sigmas));
  }
  fputs("}}", stdout);
}

static void json_samples(const cli_sampled *s) {
  if (s->count == 0) {
    return;
  }
  printf(",\n      \"samples\": {\"count\": %d, ", s->count);
  put("mean", s->mean);
  fputs(", ", stdout);
  put("mean_error", s->mean_error);
  fputs(", ", stdout);
  put("deviation", s->deviation);
  fputs(", ", stdout);
  put("skewness", s->skewness);
  if (!isnan(s->within)) {
    fputs(", ", stdout);
    put("within", s->within);
  }
  putchar('}');
}

static void json_notes(const cli_uncertainty *u, int c) {
  char *notes[NOTES_MAX];
  const int n = list_notes(u, c, notes);
  fputs(n > 0 ? ",\n      \"notes\": [" : "", stdout);
  for (int i = 0; i < n; i++) {
    fputs(i > 0 ? ", " : "", stdout);
    cli_json_string(notes[i]);
    free(notes[i]);
  }
  fputs(n > 0 ? "]" : "", stdout);
}

static void json_criterion(const cli_uncertainty *u, int c) {
  const mbg_moments *m = &u->moments[c];
  cli_json_string(u->name[c]);
  fputs(": {", stdout);
  put("value", m->value);
  fputs(",\n      \"first_order\": {", stdout);
  put("mean", m->value);
  fputs(", ", stdout);
  put("deviation", sqrt(m->linear));
  putchar('}');
  if (u->has[c]) {
    fputs(",\n      \"second_order\": {", stdout);
    put("mean", m->mean);
    fputs(", ", stdout);
    put("deviation", m->deviation);
    fputs(", ", stdout);
    put("skewness", m->skewness);
    putchar('}');
  }
  json_shares(u, c);
  json_limits(u, c);
  json_samples(&u->sampled[c]);
  json_notes(u, c);
  putchar('}');
}

void cli_uncertainty_json(const cli_uncertainty *u) {
  fputs("{\n  \"model\": ", stdout);
  cli_json_string(mbg_model_name(model_of(u)));
  if (u->about) {
    printf(",\n  \"modes\": \"%s\"", u->about);
  } else {
    printf(",\n  \"formulation\": \"%s\"", mbg_run_formulation(u->run->run));
  }
  json_parameters(u);
  fputs(",\n  \"criteria\": {", stdout);
  for (int c = 0; c < u->count; c++) {
    fputs(c > 0 ? ",\n    " : "\n    ", stdout);
    json_criterion(u, c);
  }
  fputs("\n  }\n}\n", stdout);
}
