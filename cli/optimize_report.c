#include "optimize_report.h"

#include "cli.h"
#include "design_picture.h"
#include "optimize_curvature.h"
#include "plot.h"
#include "results.h"
#include "step_error.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_LIST = 40 };

/* ---------------------------------------------------------------------- for readers */

static void print_head(const mbg_optimize *opt) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  char *title = cli_format("%s, formulation %s, optimizer %s", mbg_model_name(s->model), s->formulation, s->optimizer);
  char a[CLI_NUMBER_SIZE];
  cli_heading(title);
  free(title);
  printf("\n  %s\n", mbg_optimize_reason_text(s->reason));
  printf("  objective %.9g, at the start %.9g\n", s->objective, s->objective_start);
  cli_error_of_search(s->objective, s->objective_start, s->objective_error, s->error_regular);
  printf("  %d iterations in %d solve%s, %d evaluations of %d load case%s", s->iterations, s->solves,
         s->solves == 1 ? "" : "s", s->evaluations, s->cases, s->cases == 1 ? "" : "s");
  if (s->failures > 0) {
    printf(", %d of them failed", s->failures);
  }
  if (s->replayed > 0) {
    printf(", %d read from the restart file", s->replayed);
  }
  putchar('\n');
  printf("  optimality %s of the start; projected gradient %s, at the start %s\n", cli_number(a, s->optimality),
         cli_number((char[CLI_NUMBER_SIZE]){0}, s->gradient),
         cli_number((char[CLI_NUMBER_SIZE]){0}, s->gradient_start));
  printf("  largest violation %s (%s)\n", cli_number(a, s->violation), s->feasible ? "feasible" : "not feasible");
  printf("  %ld gradients of criteria and points, by direct differentiation %d times, by the adjoint %d times\n",
         s->rows, s->direct, s->adjoint);
  if (s->points > 0) {
    printf("  %ld points of paths are limited; %ld of them were differentiated\n", s->points, s->points_differentiated);
  }
}

static bool changed(const mbg_optimize_parameter *p) {
  return fabs(p->value - p->start) > 1e-12 * fmax(fabs(p->value), fabs(p->start));
}

static void print_parameters(const mbg_optimize *opt, bool full) {
  const int n = mbg_optimize_get_summary(opt)->parameters, shown = full || n < LONG_LIST ? n : LONG_LIST;
  cli_table t = cli_table_make("lrrrrrll");
  cli_table_texts(&t, "name", "start", "value", "change", "min", "max", "unit", "", NULL);
  for (int i = 0; i < shown; i++) {
    const mbg_optimize_parameter *p = mbg_optimize_get_parameter(opt, i);
    cli_table_text(&t, p->name);
    cli_table_number(&t, p->start);
    cli_table_format(&t, "%.9g", p->value);
    if (p->start != 0 && changed(p)) {
      cli_table_format(&t, "%+.1f %%", 100 * (p->value - p->start) / fabs(p->start));
    } else {
      cli_table_text(&t, "");
    }
    cli_table_number(&t, p->min);
    cli_table_number(&t, p->max);
    cli_table_text(&t, p->unit);
    if (p->at_bound) {
      cli_table_format(&t, "at %s, multiplier %.4g", p->at_bound < 0 ? "min" : "max", p->multiplier);
    } else {
      cli_table_text(&t, "");
    }
  }
  cli_heading("\nparameters");
  cli_table_print(&t, 2);
  cli_table_destroy(&t);
  if (shown < n) {
    printf("  ... and %d more; --full prints all\n", n - shown);
  }
}

static void print_constraints(const mbg_optimize *opt) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  cli_table t = cli_table_make("lllrrrrrrr");
  cli_table_texts(&t, "name", "run", "", "limit", "value", "at t", "points", "listed", "active", "multiplier", NULL);
  for (int i = 0; i < s->constraints; i++) {
    const mbg_optimize_constraint *c = mbg_optimize_get_constraint(opt, i);
    cli_table_text(&t, c->name);
    cli_table_text(&t, c->run ? c->run : "");
    cli_table_text(&t, c->kind);
    cli_table_number(&t, c->limit);
    cli_table_format(&t, "%.9g", c->value);
    if (c->path) {
      cli_table_number(&t, c->time);
      cli_table_format(&t, "%d", c->points);
      cli_table_format(&t, "%d", c->listed);
    } else {
      cli_table_texts(&t, "", "", "", NULL);
    }
    cli_table_format(&t, "%d", c->active);
    if (c->active) {
      cli_table_format(&t, "%.6g", c->multiplier);
    } else {
      cli_table_text(&t, "");
    }
  }
  if (s->constraints > 0) {
    cli_heading("\nconstraints");
    cli_table_print(&t, 2);
  }
  cli_table_destroy(&t);
}

static void print_active(const mbg_optimize *opt) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  cli_table t = cli_table_make("lrr");
  int points = 0;
  cli_table_texts(&t, "constraint", "at t", "multiplier", NULL);
  for (int i = 0; i < s->active; i++) {
    const mbg_optimize_active *a = mbg_optimize_get_active(opt, i);
    if (!isnan(a->time)) {
      cli_table_text(&t, mbg_optimize_get_constraint(opt, a->constraint)->name);
      cli_table_number(&t, a->time);
      cli_table_format(&t, "%.6g", a->multiplier);
      points++;
    }
  }
  if (points > 0) {
    cli_heading("\nactive points");
    cli_table_print(&t, 2);
  }
  cli_table_destroy(&t);
}

static void print_cases(const mbg_optimize *opt) {
  const int n = mbg_optimize_get_summary(opt)->cases;
  cli_table t = cli_table_make("lrr");
  cli_table_texts(&t, "run", "weight", "objective", NULL);
  for (int i = 0; i < n; i++) {
    const mbg_optimize_case *c = mbg_optimize_get_case(opt, i);
    cli_table_text(&t, c->run ? c->run : "");
    cli_table_number(&t, c->weight);
    if (isnan(c->objective)) {
      cli_table_text(&t, "-");
    } else {
      cli_table_format(&t, "%.9g", c->objective);
    }
  }
  if (n > 1) {
    cli_heading("\nload cases");
    cli_table_print(&t, 2);
  }
  cli_table_destroy(&t);
}

static void print_starts(int n, const cli_start *starts, int best) {
  if (n < 2) {
    return;
  }
  cli_table t = cli_table_make("rrrrrl");
  cli_table_texts(&t, "start", "objective there", "objective", "violation", "iterations", "", NULL);
  for (int k = 0; k < n; k++) {
    const cli_start *s = &starts[k];
    cli_table_format(&t, "%d%s", k + 1, k == best ? " *" : "");
    if (s->status < 0) {
      cli_table_texts(&t, "-", "-", "-", "-", mbg_status_text(s->status), NULL);
      continue;
    }
    cli_table_format(&t, "%.9g", s->objective_start);
    cli_table_format(&t, "%.9g", s->objective);
    cli_table_number(&t, s->violation);
    cli_table_format(&t, "%d", s->iterations);
    cli_table_text(&t, mbg_optimize_reason_text(s->reason));
  }
  cli_heading("\nstarts");
  cli_table_print(&t, 2);
  cli_table_destroy(&t);
}

void cli_optimize_print(const mbg_optimize *opt, int nstart, const cli_start *starts, int best, bool full) {
  print_head(opt);
  print_parameters(opt, full);
  print_constraints(opt);
  print_active(opt);
  print_cases(opt);
  cli_curvature_print(opt, full);
  print_starts(nstart, starts, best);
}

/* ---------------------------------------------------------------------- for programs */

static void member(const char *key, double value) {
  printf(", \"%s\": ", key);
  cli_json_number(stdout, value);
}

static void top_member(const char *key, double value) {
  printf(",\n  \"%s\": ", key);
  cli_json_number(stdout, value);
}

static void text_or_null(const char *text) {
  if (text) {
    cli_json_string(text);
  } else {
    fputs("null", stdout);
  }
}

static const char *status_word(mbg_optimize_reason reason) {
  static const char *const words[] = {"not run",    "optimal",    "settled",    "stuck",
                                      "iterations", "infeasible", "interrupted"};
  return words[reason];
}

static void json_parameters(const mbg_optimize *opt) {
  const int n = mbg_optimize_get_summary(opt)->parameters;
  fputs(",\n  \"parameters\": {", stdout);
  for (int i = 0; i < n; i++) {
    const mbg_optimize_parameter *p = mbg_optimize_get_parameter(opt, i);
    fputs(i > 0 ? ",\n    " : "\n    ", stdout);
    cli_json_string(p->name);
    fputs(": {\"value\": ", stdout);
    cli_json_number(stdout, p->value);
    member("start", p->start);
    member("min", p->min);
    member("max", p->max);
    printf(", \"at_bound\": %s", p->at_bound < 0 ? "\"min\"" : p->at_bound > 0 ? "\"max\"" : "null");
    member("multiplier", p->multiplier);
    putchar('}');
  }
  fputs("\n  }", stdout);
}

static void json_constraints(const mbg_optimize *opt) {
  const int n = mbg_optimize_get_summary(opt)->constraints;
  fputs(",\n  \"constraints\": [", stdout);
  for (int i = 0; i < n; i++) {
    const mbg_optimize_constraint *c = mbg_optimize_get_constraint(opt, i);
    fputs(i > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ", stdout);
    cli_json_string(c->name);
    fputs(", \"run\": ", stdout);
    text_or_null(c->run);
    printf(", \"kind\": \"%s\"", c->kind);
    member("limit", c->limit);
    member("scale", c->scale);
    member("value", c->value);
    member("time", c->time);
    member("violation", c->violation);
    printf(", \"points\": %d, \"listed\": %d, \"active\": %d", c->points, c->listed, c->active);
    member("multiplier", c->multiplier);
    putchar('}');
  }
  fputs(n > 0 ? "\n  ]" : "]", stdout);
}

static void json_active(const mbg_optimize *opt) {
  const int n = mbg_optimize_get_summary(opt)->active;
  fputs(",\n  \"active\": [", stdout);
  for (int i = 0; i < n; i++) {
    const mbg_optimize_active *a = mbg_optimize_get_active(opt, i);
    printf("%s{\"constraint\": %d", i > 0 ? ", " : "", a->constraint);
    member("time", a->time);
    member("multiplier", a->multiplier);
    putchar('}');
  }
  putchar(']');
}

static void json_cases(const mbg_optimize *opt) {
  const int n = mbg_optimize_get_summary(opt)->cases;
  fputs(",\n  \"cases\": [", stdout);
  for (int i = 0; i < n; i++) {
    const mbg_optimize_case *c = mbg_optimize_get_case(opt, i);
    fputs(i > 0 ? ", {\"run\": " : "{\"run\": ", stdout);
    text_or_null(c->run);
    member("weight", c->weight);
    member("objective", c->objective);
    putchar('}');
  }
  putchar(']');
}

static void json_history(const mbg_optimize *opt) {
  const int n = mbg_optimize_get_summary(opt)->history;
  fputs(",\n  \"history\": [", stdout);
  for (int i = 0; i < n; i++) {
    const mbg_optimize_record *h = mbg_optimize_get_record(opt, i);
    fputs(i > 0 ? ",\n    {\"objective\": " : "\n    {\"objective\": ", stdout);
    cli_json_number(stdout, h->objective);
    member("violation", h->violation);
    member("optimality", h->optimality);
    member("best", h->best);
    member("step", h->step);
    putchar('}');
  }
  fputs(n > 0 ? "\n  ]" : "]", stdout);
}

static void json_starts(int n, const cli_start *starts, int best) {
  if (n < 2) {
    return;
  }
  printf(",\n  \"start\": %d,\n  \"starts\": [", best);
  for (int k = 0; k < n; k++) {
    const cli_start *s = &starts[k];
    printf("%s{\"status\": \"%s\"", k > 0 ? ", " : "",
           s->status < 0 ? "failed" : status_word((mbg_optimize_reason)s->reason));
    member("objective", s->status < 0 ? NAN : s->objective);
    member("violation", s->status < 0 ? NAN : s->violation);
    printf(", \"iterations\": %d}", s->iterations);
  }
  putchar(']');
}

void cli_optimize_json(const mbg_optimize *opt, int nstart, const cli_start *starts, int best) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  fputs("{\n  \"model\": ", stdout);
  cli_json_string(mbg_model_name(s->model));
  printf(",\n  \"formulation\": \"%s\",\n  \"optimizer\": \"%s\",\n  \"status\": \"%s\",\n  \"converged\": %s,\n"
         "  \"feasible\": %s",
         s->formulation, s->optimizer, status_word(s->reason), s->converged ? "true" : "false",
         s->feasible ? "true" : "false");
  printf(",\n  \"iterations\": %d,\n  \"solves\": %d,\n  \"evaluations\": %d,\n  \"failures\": %d,\n  \"replayed\": %d",
         s->iterations, s->solves, s->evaluations, s->failures, s->replayed);
  printf(",\n  \"products\": %ld", s->products);
  top_member("objective", s->objective);
  top_member("objective_start", s->objective_start);
  top_member("objective_error", s->objective_error);
  top_member("violation", s->violation);
  top_member("optimality", s->optimality);
  top_member("gradient", s->gradient);
  top_member("gradient_start", s->gradient_start);
  printf(",\n  \"points\": %ld,\n  \"points_differentiated\": %ld,\n  \"rows\": %ld,\n  \"direct\": %d,\n  "
         "\"adjoint\": %d",
         s->points, s->points_differentiated, s->rows, s->direct, s->adjoint);
  json_parameters(opt);
  json_constraints(opt);
  json_active(opt);
  json_cases(opt);
  cli_curvature_json(opt);
  json_starts(nstart, starts, best);
  json_history(opt);
  top_member("seconds", s->seconds);
  fputs("\n}\n", stdout);
}

/* ---------------------------------------------------------------------- plots */

/* The history of a search as panels. */
typedef struct {
  double *x;
  cli_curve objective[2], violation, optimality;
  int npanel;
  cli_panel panels[3];
} history;

static void make_history(const mbg_optimize *opt, history *to) {
  const int n = mbg_optimize_get_summary(opt)->history;
  double *x = cli_resize(NULL, 5 * (size_t)n + 1, sizeof(double));
  double *f = x + n, *best = f + n, *violation = best + n, *optimality = violation + n;
  bool violated = false;
  for (int i = 0; i < n; i++) {
    const mbg_optimize_record *h = mbg_optimize_get_record(opt, i);
    x[i] = i + 1;
    f[i] = h->objective;
    best[i] = h->best;
    violation[i] = h->violation;
    optimality[i] = h->optimality;
    violated = violated || h->violation > 0;
  }
  *to = (history){.x = x};
  to->objective[0] = (cli_curve){.name = "objective", .count = n, .x = x, .y = f, .dots = true};
  to->objective[1] = (cli_curve){.name = "best feasible", .count = n, .x = x, .y = best, .dashed = true};
  to->violation = (cli_curve){.count = n, .x = x, .y = violation, .dots = true};
  to->optimality = (cli_curve){.count = n, .x = x, .y = optimality, .dots = true};
  const cli_panel panel = {.x_label = "iteration", .whole_x = true, .ncurve = 1};
  cli_panel *p = to->panels;
  *p = panel;
  p->y_label = "objective";
  p->ncurve = 2;
  p->curves = to->objective;
  for (int k = violated ? 0 : 1; k < 2; k++) {
    *++p = panel;
    p->y_label = k == 0 ? "largest violation" : "residual of optimality";
    p->curves = k == 0 ? &to->violation : &to->optimality;
    p->log_y = true;
  }
  to->npanel = (int)(p - to->panels) + 1;
}

static int plot_history(const mbg_optimize *opt, const char *path) {
  history h;
  make_history(opt, &h);
  const int status = cli_plot_write(path, mbg_model_name(mbg_optimize_get_summary(opt)->model), h.panels, h.npanel);
  free(h.x);
  return status;
}

void cli_optimize_put(const mbg_optimize *opt, FILE *file) {
  history h;
  make_history(opt, &h);
  for (int i = 0; i < h.npanel; i++) {
    cli_plot_put(file, h.panels[i].y_label, &h.panels[i], 1, 2);
  }
  free(h.x);
}

int cli_optimize_plots(mbg_context *ctx, const mbg_optimize *opt, const mbg_run_options *run, const char *folder) {
  char *path = cli_format("%s/history.svg", folder);
  int status = cli_folder_make("--output: ", folder);
  status = status == CLI_DONE ? plot_history(opt, path) : status;
  free(path);
  if (status == CLI_DONE) {
    path = cli_format("%s/design.svg", folder);
    status = cli_design_picture(ctx, opt, run, path);
    free(path);
  }
  return status;
}
