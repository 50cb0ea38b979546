#include "identify_report.h"

#include "cli.h"
#include "plot.h"
#include "results.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_LIST = 12 };

/* ---------------------------------------------------------------------- for readers */

static const char *optimizer_name(const mbg_identify_summary *s) {
  return !strcmp(s->optimizer, "lbfgs")      ? "L-BFGS"
         : !strcmp(s->optimizer, "cg")       ? "conjugate gradients"
         : !strcmp(s->optimizer, "steepest") ? "steepest descent"
                                             : "Levenberg-Marquardt";
}

/* the parameter whose value owes most to the steps, in standard errors where there are some */
static void print_step_error(const mbg_identify *id) {
  const mbg_identify_summary *s = mbg_identify_get_summary(id);
  const mbg_identify_parameter *worst = NULL;
  double most = -1;
  for (int i = 0; i < s->parameters; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(id, i);
    const double part = fabs(p->bias) / (p->value != 0 ? fabs(p->value) : 1);
    if (part > most) {
      most = part;
      worst = p;
    }
  }
  if (!worst) {
    return;
  }
  const double deviations = fabs(worst->bias / worst->standard_error);
  char *more = isfinite(deviations) ? cli_format(", %.2g of its standard error", deviations) : cli_format("%s", "");
  char *text =
      cli_format("parameters within %.2g %% (%s%s)%s", 100 * most, worst->name, more,
                 fabs(worst->value - worst->start) < fabs(worst->bias) ? "; the fit moved it by less than this error"
                 : deviations > 1 ? "; shorter steps would change the result more than the noise does"
                                  : "");
  cli_paragraph("  error of the steps: ", text);
  free(more);
  free(text);
}

static void print_head(const mbg_identify *id) {
  const mbg_identify_summary *s = mbg_identify_get_summary(id);
  char *title = cli_format("%s, formulation %s, %s", mbg_model_name(s->model), s->formulation, optimizer_name(s));
  char a[CLI_NUMBER_SIZE], b[CLI_NUMBER_SIZE];
  cli_heading(title);
  free(title);
  printf("\n  %s after %d iterations (%d simulations of all experiments%s)\n", mbg_identify_reason_text(s->reason),
         s->iterations, s->evaluations, s->failures ? ", some failed" : "");
  printf("  cost %s -> %s, %d samples in %d channel%s of %d experiment%s\n", cli_number(a, s->start_cost),
         cli_number(b, s->cost), s->samples, s->channels, s->channels == 1 ? "" : "s", s->experiments,
         s->experiments == 1 ? "" : "s");
  printf("  standard deviation of the weighted residuals %s%s\n", cli_number(a, sqrt(s->variance)),
         s->sigma_known ? " (1 when model and sigma are right)" : "; no sigma is given, so it is taken from them");
  print_step_error(id);
}

/* a number that may not be there */
static void number_or(cli_table *t, double value, const char *other) {
  if (isnan(value)) {
    cli_table_text(t, other);
  } else {
    cli_table_number(t, value);
  }
}

static void print_parameters(const mbg_identify *id) {
  const mbg_identify_summary *s = mbg_identify_get_summary(id);
  bool hessian = false;
  for (int i = 0; i < s->parameters; i++) {
    hessian = hessian || !isnan(mbg_identify_get_parameter(id, i)->hessian_error);
  }
  cli_table t = cli_table_make(hessian ? "lrrrrrll" : "lrrrrll");
  cli_table_texts(&t, "name", "start", "value", "standard error", NULL);
  if (hessian) {
    cli_table_text(&t, "by the Hessian");
  }
  cli_table_texts(&t, "bias of step", "unit", "", NULL);
  for (int i = 0; i < s->parameters; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(id, i);
    cli_table_text(&t, p->name);
    cli_table_number(&t, p->start);
    cli_table_format(&t, "%.9g", p->value);
    number_or(&t, p->standard_error, "-");
    if (hessian) {
      number_or(&t, p->hessian_error, "-");
    }
    number_or(&t, p->bias, "-");
    cli_table_text(&t, p->unit);
    cli_table_text(&t, p->at_bound < 0 ? "at min" : p->at_bound > 0 ? "at max" : p->determined ? "" : "not determined");
  }
  cli_heading("\nparameters");
  cli_table_print(&t, 2);
  cli_table_destroy(&t);
}

/* pairs of correlated parameters, the strongest first */
typedef struct {
  int i, j;
  double value;
} pair;

static int by_strength(const void *a, const void *b) {
  const double x = fabs(((const pair *)a)->value), y = fabs(((const pair *)b)->value);
  return (x < y) - (x > y);
}

static void print_correlations(const mbg_identify *id, bool full) {
  const int n = mbg_identify_get_summary(id)->parameters;
  pair *list = cli_resize(NULL, (size_t)n * (size_t)n, sizeof(*list));
  int count = 0;
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++) {
      const double c = mbg_identify_correlation(id, i, j);
      if (!isnan(c) && (full || fabs(c) > 0.5)) {
        list[count++] = (pair){i, j, c};
      }
    }
  }
  qsort(list, (size_t)count, sizeof(*list), by_strength);
  if (count > 0) {
    cli_table t = cli_table_make("llr");
    for (int k = 0; k < count && (full || k < LONG_LIST); k++) {
      cli_table_text(&t, mbg_identify_get_parameter(id, list[k].i)->name);
      cli_table_text(&t, mbg_identify_get_parameter(id, list[k].j)->name);
      cli_table_format(&t, "%.3f", list[k].value);
    }
    cli_heading(full ? "\ncorrelations" : "\ncorrelations above 0.5");
    cli_table_print(&t, 2);
    cli_table_destroy(&t);
    if (!full && count > LONG_LIST) {
      printf("  ... and %d more; --full prints all\n", count - LONG_LIST);
    }
  }
  free(list);
}

/* parameters that are not held at a bound */
static int free_parameters(const mbg_identify *id) {
  int count = 0;
  for (int i = 0; i < mbg_identify_get_summary(id)->parameters; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(id, i);
    count += p->at_bound == 0;
  }
  return count;
}

static void print_identifiability(const mbg_identify *id) {
  const mbg_identify_summary *s = mbg_identify_get_summary(id);
  char a[CLI_NUMBER_SIZE];
  cli_heading("\nwhat the data determine");
  if (isnan(s->condition)) {
    printf("  nothing: %s", free_parameters(id) > 0 ? "no measured signal depends on a parameter that can move"
                                                    : "every parameter is held at a bound");
  } else {
    printf("  condition %s of the scaled Jacobian", cli_number(a, s->condition));
  }
  printf(s->combinations ? ", %d combination%s not determined\n" : "\n", s->combinations,
         s->combinations == 1 ? "" : "s");
  for (int k = 0; k < s->combinations; k++) {
    cli_paragraph("  not told apart: ", mbg_identify_combination(id, k));
  }
  for (int k = 0; k < s->weak; k++) {
    cli_paragraph("  hardly told apart: ", mbg_identify_weak(id, k));
  }
}

static void print_channels(const mbg_identify *id) {
  const mbg_identify_summary *s = mbg_identify_get_summary(id);
  cli_table t = cli_table_make("llrrrrrrl");
  cli_table_texts(&t, "run", "criterion", "samples", "missing", "outside", "rms", "chi^2/samples", "autocorr.", "",
                  NULL);
  for (int k = 0; k < s->channels; k++) {
    const mbg_identify_channel *c = mbg_identify_get_channel(id, k);
    cli_table_text(&t, c->run ? c->run : "");
    cli_table_text(&t, c->criterion);
    cli_table_format(&t, "%d", c->samples);
    cli_table_format(&t, "%d", c->missing);
    cli_table_format(&t, "%d", c->outside);
    cli_table_number(&t, c->rms);
    cli_table_number(&t, c->chi_square / c->samples);
    cli_table_format(&t, "%.2f", c->autocorrelation);
    cli_table_text(&t, c->white ? "" : "not white");
  }
  cli_heading("\nchannels");
  cli_table_print(&t, 2);
  cli_table_destroy(&t);
}

static void print_starts(const mbg_identify *id) {
  const mbg_identify_summary *s = mbg_identify_get_summary(id);
  cli_table t = cli_table_make("rrrrl");
  if (s->starts < 2) {
    return;
  }
  cli_table_texts(&t, "start", "cost there", "cost", "iterations", "", NULL);
  for (int k = 0; k < s->starts; k++) {
    const mbg_identify_start *x = mbg_identify_get_start(id, k);
    cli_table_format(&t, "%d", k + 1);
    number_or(&t, x->start_cost, "failed");
    number_or(&t, x->cost, "-");
    cli_table_format(&t, "%d", x->iterations);
    cli_table_text(&t, isnan(x->cost) ? "" : mbg_identify_reason_text(x->reason));
  }
  cli_heading("\nstarts");
  cli_table_print(&t, 2);
  cli_table_destroy(&t);
}

void cli_identify_print(const mbg_identify *id, bool full) {
  print_head(id);
  print_parameters(id);
  print_correlations(id, full);
  print_identifiability(id);
  print_channels(id);
  print_starts(id);
}

/* ---------------------------------------------------------------------- for programs */

static void key_number(const char *key, double value) {
  printf(", \"%s\": ", key);
  cli_json_number(stdout, value);
}

static void json_parameters(const mbg_identify *id, int n) {
  fputs(",\n  \"parameters\": {", stdout);
  for (int i = 0; i < n; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(id, i);
    fputs(i > 0 ? ",\n    " : "\n    ", stdout);
    cli_json_string(p->name);
    fputs(": {\"value\": ", stdout);
    cli_json_number(stdout, p->value);
    key_number("start", p->start);
    key_number("standard_error", p->standard_error);
    key_number("hessian_error", p->hessian_error);
    key_number("bias", p->bias);
    key_number("min", p->min);
    key_number("max", p->max);
    printf(", \"at_bound\": %s, \"determined\": %s}",
           p->at_bound < 0   ? "\"min\""
           : p->at_bound > 0 ? "\"max\""
                             : "null",
           p->determined ? "true" : "false");
  }
  fputs("\n  }", stdout);
}

static void json_matrix(const mbg_identify *id, int n) {
  fputs(",\n  \"correlation\": [", stdout);
  for (int i = 0; i < n; i++) {
    fputs(i > 0 ? ",\n    [" : "\n    [", stdout);
    for (int j = 0; j < n; j++) {
      fputs(j > 0 ? ", " : "", stdout);
      cli_json_number(stdout, mbg_identify_correlation(id, i, j));
    }
    putchar(']');
  }
  fputs("\n  ],\n  \"singular_values\": [", stdout);
  for (int i = 0; i < n; i++) {
    fputs(i > 0 ? ", " : "", stdout);
    cli_json_number(stdout, mbg_identify_singular_values(id)[i]);
  }
  putchar(']');
}

static void json_texts(const char *key, const mbg_identify *id, int n, const char *(*at)(const mbg_identify *, int)) {
  printf(",\n  \"%s\": [", key);
  for (int i = 0; i < n; i++) {
    fputs(i > 0 ? ", " : "", stdout);
    cli_json_string(at(id, i));
  }
  putchar(']');
}

static void json_channel(const mbg_identify_channel *c) {
  fputs("{\"run\": ", stdout);
  if (c->run) {
    cli_json_string(c->run);
  } else {
    fputs("null", stdout);
  }
  fputs(", \"criterion\": ", stdout);
  cli_json_string(c->criterion);
  printf(", \"samples\": %d, \"missing\": %d, \"outside\": %d", c->samples, c->missing, c->outside);
  key_number("rms", c->rms);
  key_number("chi_square", c->chi_square);
  key_number("autocorrelation", c->autocorrelation);
  printf(", \"white\": %s, \"hint\": ", c->white ? "true" : "false");
  cli_json_string(c->hint);
  putchar('}');
}

static void json_channels(const mbg_identify *id, int n) {
  fputs(",\n  \"channels\": [", stdout);
  for (int k = 0; k < n; k++) {
    fputs(k > 0 ? ",\n    " : "\n    ", stdout);
    json_channel(mbg_identify_get_channel(id, k));
  }
  fputs("\n  ]", stdout);
}

static void json_starts(const mbg_identify *id, const mbg_identify_summary *s) {
  fputs(",\n  \"starts\": [", stdout);
  for (int k = 0; k < s->starts; k++) {
    const mbg_identify_start *x = mbg_identify_get_start(id, k);
    fputs(k > 0 ? ",\n    {\"start_cost\": " : "\n    {\"start_cost\": ", stdout);
    cli_json_number(stdout, x->start_cost);
    key_number("cost", x->cost);
    printf(", \"iterations\": %d, \"parameters\": [", x->iterations);
    for (int i = 0; i < s->parameters; i++) {
      fputs(i > 0 ? ", " : "", stdout);
      cli_json_number(stdout, x->parameters[i]);
    }
    fputs("]}", stdout);
  }
  fputs("\n  ]", stdout);
}

void cli_identify_json(const mbg_identify *id) {
  const mbg_identify_summary *s = mbg_identify_get_summary(id);
  fputs("{\n  \"model\": ", stdout);
  cli_json_string(mbg_model_name(s->model));
  printf(",\n  \"formulation\": \"%s\",\n  \"optimizer\": \"%s\",\n  \"converged\": %s,\n  \"reason\": ",
         s->formulation, s->optimizer, s->converged ? "true" : "false");
  cli_json_string(mbg_identify_reason_text(s->reason));
  printf(",\n  \"iterations\": %d, \"evaluations\": %d, \"failures\": %d,\n  \"samples\": %d", s->iterations,
         s->evaluations, s->failures, s->samples);
  key_number("start_cost", s->start_cost);
  key_number("cost", s->cost);
  key_number("variance", s->variance);
  key_number("condition", s->condition);
  printf(", \"sigma_known\": %s", s->sigma_known ? "true" : "false");
  json_parameters(id, s->parameters);
  json_matrix(id, s->parameters);
  json_texts("not_told_apart", id, s->combinations, mbg_identify_combination);
  json_texts("hardly_told_apart", id, s->weak, mbg_identify_weak);
  json_channels(id, s->channels);
  json_starts(id, s);
  json_texts("warnings", id, s->warnings, mbg_identify_warning);
  fputs("\n}\n", stdout);
}

/* ---------------------------------------------------------------------- plots */

/* Data and model of a channel, and what is left. */
typedef struct {
  double *residual;
  cli_curve fit[2], rest;
  cli_panel panels[2];
} fitted;

static void make_fit(const mbg_identify_channel *c, fitted *to) {
  *to = (fitted){.residual = cli_resize(NULL, (size_t)c->samples + 1, sizeof(double))};
  for (int i = 0; i < c->samples; i++) {
    to->residual[i] = c->model[i] - c->data[i];
  }
  to->fit[0] =
      (cli_curve){.name = "data", .count = c->samples, .x = c->time, .y = c->data, .dots = true, .no_line = true};
  to->fit[1] = (cli_curve){.name = "model", .count = c->samples, .x = c->time, .y = c->model};
  to->rest = (cli_curve){.count = c->samples, .x = c->time, .y = to->residual, .dots = true, .no_line = true};
  to->panels[0] = (cli_panel){.y_label = c->criterion, .x_label = "t [s]", .ncurve = 2, .curves = to->fit};
  to->panels[1] = (cli_panel){.y_label = "model - data", .x_label = "t [s]", .ncurve = 1, .curves = &to->rest};
}

static int plot_channel(const mbg_identify *id, const mbg_identify_channel *c, const char *folder) {
  fitted fit;
  make_fit(c, &fit);
  const mbg_model *model = mbg_identify_get_summary(id)->model;
  char *path = c->run ? cli_format("%s/fit-%s-%s.svg", folder, c->run, c->criterion)
                      : cli_format("%s/fit-%s.svg", folder, c->criterion);
  char *title = c->run ? cli_format("%s, run %s", mbg_model_name(model), c->run) : cli_copy(mbg_model_name(model));
  const int status = cli_plot_write(path, title, fit.panels, 2);
  free(title);
  free(path);
  free(fit.residual);
  return status;
}

void cli_identify_put(const mbg_identify *id, FILE *file) {
  for (int k = 0; k < mbg_identify_get_summary(id)->channels; k++) {
    const mbg_identify_channel *c = mbg_identify_get_channel(id, k);
    fitted fit;
    make_fit(c, &fit);
    for (int i = 0; i < 2; i++) {
      fit.panels[i].title = c->run ? c->run : NULL;
      cli_plot_put(file, c->criterion, &fit.panels[i], 1, 2);
    }
    free(fit.residual);
  }
}

int cli_identify_plots(const mbg_identify *id, const char *folder) {
  int status = cli_folder_make("--output: ", folder);
  for (int k = 0; status == CLI_DONE && k < mbg_identify_get_summary(id)->channels; k++) {
    status = plot_channel(id, mbg_identify_get_channel(id, k), folder);
  }
  return status;
}
