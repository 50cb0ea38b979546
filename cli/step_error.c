#include "step_error.h"

#include "cli.h"
#include "results.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double cli_error_small = 0.01;

/* a guess must leave room */
bool cli_error_is_small(const mbg_step_error *s) {
  const double most = s->regular ? cli_error_small : 0.3 * cli_error_small;
  return s->value_relative <= most && s->gradient_relative <= most;
}

int cli_error_estimate(cli_run *r, const cli_args *args, mbg_run *run, mbg_method method) {
  if (cli_flag(args, "no-error-estimate") || mbg_model_criterion_count(r->session.model) == 0) {
    return CLI_DONE;
  }
  const int result = mbg_run_error(r->session.ctx, run, method, true);
  if (result == MBG_ERROR_INTERRUPTED) {
    (void)cli_run_status(r, MBG_OK);
    fputs("mbgrad: warning: the estimate of the error was interrupted\n", stderr);
    mbg_context_clear(r->session.ctx);
    return CLI_DONE;
  }
  return cli_run_status(r, result);
}

void cli_error_optional(cli_session *session, int result) {
  if (result == MBG_OK) {
    (void)cli_session_status(session, result);
    return;
  }
  const int n = mbg_context_message_count(session->ctx);
  cli_warning("no estimate of the error of the steps: %s",
              n > 0 ? mbg_context_message(session->ctx, n - 1) : "interrupted");
  mbg_context_clear(session->ctx);
}

static int find_criterion(const mbg_model *model, const char *name) {
  int k = mbg_model_criterion_count(model) - 1;
  while (k >= 0 && strcmp(mbg_model_criterion_name(model, k), name) != 0) {
    k--;
  }
  return k;
}

void cli_error_of_control(cli_session *session, const mbg_control *control, mbg_run *run, double *error,
                          bool *regular) {
  const int n = mbg_control_get_summary(control)->terms;
  int *index = cli_resize(NULL, (size_t)n, sizeof(int));
  for (int i = 0; i < n; i++) {
    index[i] = find_criterion(mbg_control_model(control), mbg_control_get_term(control, i)->criterion);
  }
  int result = mbg_run_select(session->ctx, run, n, index);
  result = result == MBG_OK ? mbg_run_error(session->ctx, run, MBG_METHOD_AUTO, false) : result;
  *error = result == MBG_OK ? 0 : NAN;
  *regular = true;
  for (int i = 0; result == MBG_OK && i < n; i++) {
    const mbg_step_error *s = mbg_run_get_error(run, index[i]);
    *error += fabs(mbg_control_get_term(control, i)->weight) * s->value;
    *regular = *regular && s->regular;
  }
  cli_error_optional(session, result);
  free(index);
}

/* ---------------------------------------------------------------------- the worst errors */

static bool above(double x, double largest) { return isnan(x) || x > largest; }

cli_worst cli_error_worst(const mbg_run *run, const mbg_model *model, int criterion) {
  cli_worst w = {.regular = true, .small = true, .value = -1, .gradient = -1, .parameter = -1};
  for (int k = 0; k < mbg_model_criterion_count(model); k++) {
    const mbg_step_error *s = mbg_run_get_error(run, k);
    if (!s || (criterion >= 0 && criterion != k)) {
      continue;
    }
    w.known = true;
    w.small = w.small && cli_error_is_small(s);
    w.regular = w.regular && s->regular;
    if (!isnan(w.value) && above(s->value_relative, w.value)) {
      w.value = s->value_relative;
      w.value_criterion = k;
    }
    if (s->worst >= 0 && !isnan(w.gradient) && above(s->gradient_relative, w.gradient)) {
      w.gradient = s->gradient_relative;
      w.gradient_criterion = k;
      w.parameter = s->worst;
    }
  }
  return w;
}

/* ---------------------------------------------------------------------- for readers */

/* a part as a percentage: "within 0.3 %" */
static void percent(char *text, size_t size, double part) {
  if (part > 10) {
    snprintf(text, size, "off by more than 1000 %%");
  } else {
    snprintf(text, size, part >= 0.995 ? "within %.0f %%" : "within %.2g %%", 100 * fmax(part, 1e-10));
  }
}

/* what would reach 1 % */
static char *advice(const mbg_run *run, const cli_worst *w, int criterion) {
  const double step = mbg_run_step_for(run, criterion, cli_error_small);
  const char *what = mbg_run_controlled(run) ? "--tolerance" : "--step";
  if (w->regular && step > 0 && step < mbg_run_step(run)) {
    return cli_format("%s %.2g would reach 1 %% (--accuracy 0.01 finds it)", what, step);
  }
  return cli_format("the differences between runs with finer steps do not fall as they should, so this is a guess: "
                    "the steps are far too long, or the motion has kinks; try %s %.2g",
                    what, mbg_run_step(run) / 4);
}

/* "gradients within 0.3 % (rms by k1)" */
static char *gradient_text(const mbg_model *model, const cli_worst *w, bool one) {
  char part[40], parameter[256] = "";
  percent(part, sizeof(part), w->gradient);
  (void)mbg_model_parameter_name(model, w->parameter, parameter, sizeof(parameter));
  return one ? cli_format(", gradient %s (by %s)", part, parameter)
             : cli_format(", gradients %s (%s by %s)", part, mbg_model_criterion_name(model, w->gradient_criterion),
                          parameter);
}

char *cli_error_text(const mbg_run *run, const mbg_model *model, int criterion) {
  const cli_worst w = cli_error_worst(run, model, criterion);
  const bool one = criterion >= 0;
  char part[40];
  if (!w.known) {
    return NULL;
  }
  if (isnan(w.value) || isnan(w.gradient)) {
    return cli_format("not known, because the run with finer steps failed");
  }
  percent(part, sizeof(part), w.value);
  char *value = one ? cli_format("value %s", part)
                    : cli_format("values %s (%s)", part, mbg_model_criterion_name(model, w.value_criterion));
  char *gradient = w.parameter >= 0 ? gradient_text(model, &w, one) : cli_format("%s", "");
  char *more = w.small ? cli_format("%s", "") : advice(run, &w, criterion);
  char *text = cli_format("%s%s%s%s", value, gradient, w.small ? "" : "; ", more);
  free(value);
  free(gradient);
  free(more);
  return text;
}

void cli_error_print(const mbg_run *run, const mbg_model *model) {
  char *text = cli_error_text(run, model, -1);
  if (text) {
    cli_paragraph("  error of the steps: ", text);
  }
  free(text);
}

void cli_error_of_search(double objective, double start, double error, bool regular) {
  if (isnan(error)) {
    return;
  }
  const double change = fabs(start - objective);
  const bool lost = change <= error && change > 0;
  char *parts =
      lost ? cli_format("more than the change of %.2g by the search: these steps do not resolve the optimum", change)
           : cli_format("%.2g %% of the change by the search", change > 0 ? 100 * error / change : 0);
  char *text = cli_format("%.2g in the objective (%s)%s", error, parts,
                          regular ? "" : "; a guess, because it does not fall with the steps as it should");
  cli_paragraph("  error of the steps: ", text);
  free(parts);
  free(text);
}

/* ---------------------------------------------------------------------- for programs */

static void member(const char *before, double x) {
  fputs(before, stdout);
  cli_json_number(stdout, x);
}

void cli_error_json(const mbg_run *run, const mbg_model *model, int criterion) {
  const mbg_step_error *s = mbg_run_get_error(run, criterion);
  if (!s) {
    fputs("null", stdout);
    return;
  }
  member("{\"value\": ", s->value);
  member(", \"value_relative\": ", s->value_relative);
  member(", \"gradient_relative\": ", s->gradient_relative);
  member(", \"order\": ", s->order);
  printf(", \"regular\": %s", s->regular ? "true" : "false");
  if (s->gradient) {
    fputs(", \"gradient\": ", stdout);
    cli_json_by_parameter(model, s->gradient);
  }
  putchar('}');
}

void cli_error_json_all(const mbg_run *run, const mbg_model *model) {
  const cli_worst w = cli_error_worst(run, model, -1);
  if (!w.known) {
    fputs("null", stdout);
    return;
  }
  printf("{\"small\": %s, \"regular\": %s", w.small ? "true" : "false", w.regular ? "true" : "false");
  member(", \"value_relative\": ", w.value);
  member(", \"gradient_relative\": ", w.gradient >= 0 || isnan(w.gradient) ? w.gradient : 0);
  member(mbg_run_controlled(run) ? ", \"tolerance\": " : ", \"step\": ", mbg_run_step(run));
  member(mbg_run_controlled(run) ? ", \"tolerance_for_1_percent\": " : ", \"step_for_1_percent\": ",
         mbg_run_step_for(run, -1, cli_error_small));
  putchar('}');
}
