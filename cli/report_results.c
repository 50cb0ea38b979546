#include "report_results.h"

#include "html.h"
#include "identify_report.h"
#include "optimize_report.h"
#include "plot.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>

/* options of many runs: no bar for each of them */
static mbg_run_options quiet(const cli_run *r) {
  mbg_run_options o = r->options;
  o.progress = NULL;
  o.keep_poses = o.all_signals = false;
  return o;
}

static bool stopped(const mbg_run_options *run) { return run->interrupt && run->interrupt(run->user); }

static void put_bounds(FILE *f, double min, double max) {
  char low[CLI_NUMBER_SIZE], high[CLI_NUMBER_SIZE];
  char *text = isfinite(min) || isfinite(max) ? cli_format("%s .. %s", isfinite(min) ? cli_number(low, min) : "",
                                                           isfinite(max) ? cli_number(high, max) : "")
                                              : cli_copy("");
  cli_html_cell(f, text);
  free(text);
}

/* ---------------------------------------------------------------------- optimize */

static bool watch_optimize(void *user, const mbg_optimize_state *s) {
  (void)s;
  return stopped(user);
}

static void put_design(FILE *f, const mbg_optimize *opt) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  static const char *const heads[] = {"parameter", ">start", ">optimum", "unit", "bounds", "", NULL};
  cli_html_table(f, heads);
  for (int i = 0; i < s->parameters && i < 40; i++) {
    const mbg_optimize_parameter *p = mbg_optimize_get_parameter(opt, i);
    cli_html_row(f);
    cli_html_cell(f, p->name);
    cli_html_number(f, p->start);
    cli_html_number(f, p->value);
    cli_html_cell(f, p->unit);
    put_bounds(f, p->min, p->max);
    cli_html_cell(f, p->at_bound ? "at its bound" : "");
  }
  cli_html_table_end(f);
  if (s->parameters > 40) {
    cli_html_paragraph(f, "note", "The first 40 of %d parameters.", s->parameters);
  }
}

static void put_limits(FILE *f, const mbg_optimize *opt) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  static const char *const heads[] = {"limit", "load case", "kind", ">limit", ">value", ">multiplier", NULL};
  if (s->constraints == 0) {
    return;
  }
  fputs("<h3>Limits</h3>\n", f);
  cli_html_table(f, heads);
  for (int i = 0; i < s->constraints; i++) {
    const mbg_optimize_constraint *c = mbg_optimize_get_constraint(opt, i);
    cli_html_row(f);
    cli_html_cell(f, c->name);
    cli_html_cell(f, c->run ? c->run : "");
    cli_html_cell(f, c->kind);
    cli_html_number(f, c->limit);
    cli_html_number(f, c->value);
    cli_html_number(f, c->multiplier);
  }
  cli_html_table_end(f);
}

static int make_optimize(cli_searches *s, cli_run *r) {
  mbg_optimize_options o;
  mbg_optimize_options_default(&o, sizeof(o));
  o.run = &s->run;
  o.parameters = r->session.parameters;
  o.progress = watch_optimize;
  o.user = &s->run;
  return cli_run_status(r, mbg_optimize_create(r->session.ctx, r->session.model, &o, &s->optimize));
}

static int put_optimize(FILE *f, mbg_optimize *opt, cli_run *r) {
  const int status = cli_run_status(r, mbg_optimize_solve(r->session.ctx, opt));
  if (status == CLI_DONE) {
    const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
    cli_html_section(f, "optimize", "Optimization");
    cli_html_paragraph(f, s->converged && s->feasible ? "good" : "bad",
                       "%s; objective %.6g, from %.6g, after %d iterations by %s; largest violation %.2g, residual of "
                       "the conditions of optimality %.2g.",
                       mbg_optimize_reason_text((int)s->reason), s->objective, s->objective_start, s->iterations,
                       s->optimizer, s->violation, s->optimality);
    put_design(f, opt);
    put_limits(f, opt);
    fputs("<div class=\"plots\">\n", f);
    cli_optimize_put(opt, f);
    fputs("</div>\n", f);
    cli_html_section_end(f);
  }
  return status;
}

/* ---------------------------------------------------------------------- identify */

static void put_estimates(FILE *f, const mbg_identify *id) {
  static const char *const heads[] = {"parameter", ">start", ">estimate", ">standard error",
                                      "unit",      "bounds", "",          NULL};
  cli_html_table(f, heads);
  for (int i = 0; i < mbg_identify_get_summary(id)->parameters; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(id, i);
    cli_html_row(f);
    cli_html_cell(f, p->name);
    cli_html_number(f, p->start);
    cli_html_number(f, p->value);
    cli_html_number(f, p->standard_error);
    cli_html_cell(f, p->unit);
    put_bounds(f, p->min, p->max);
    cli_html_cell(f, p->at_bound ? "at its bound" : p->determined ? "" : "not determined alone");
  }
  cli_html_table_end(f);
}

static int make_identify(cli_searches *s, cli_run *r) {
  mbg_identify_options o;
  mbg_identify_options_default(&o, sizeof(o));
  o.run = &s->run;
  o.parameters = r->session.parameters;
  return cli_run_status(r, mbg_identify_create(r->session.ctx, r->session.model, &o, &s->identify));
}

static int put_identify(FILE *f, mbg_identify *id, cli_run *r) {
  const int status = cli_run_status(r, mbg_identify_solve(r->session.ctx, id));
  if (status == CLI_DONE) {
    const mbg_identify_summary *s = mbg_identify_get_summary(id);
    cli_html_section(f, "identify", "Identification");
    cli_html_paragraph(f, s->converged ? "good" : "bad",
                       "%s; cost %.6g, from %.6g, after %d iterations by %s; %d samples of %d channels.",
                       mbg_identify_reason_text((int)s->reason), s->cost, s->start_cost, s->iterations, s->optimizer,
                       s->samples, s->channels);
    put_estimates(f, id);
    for (int i = 0; i < s->combinations; i++) {
      cli_html_paragraph(f, "warn", "The data cannot tell apart: %s.", mbg_identify_combination(id, i));
    }
    fputs("<div class=\"plots\">\n", f);
    cli_identify_put(id, f);
    fputs("</div>\n", f);
    cli_html_section_end(f);
  }
  return status;
}

/* ---------------------------------------------------------------------- control */

static bool watch_control(void *user, const mbg_control *control) {
  (void)control;
  return stopped(user);
}

static void put_controls(FILE *f, const mbg_control *control) {
  fputs("<div class=\"plots\">\n", f);
  for (int i = 0; i < mbg_control_get_summary(control)->controls; i++) {
    const mbg_control_samples *s = mbg_control_get_samples(control, i);
    const cli_curve curve = {.count = s->samples, .x = s->times, .y = s->values, .dots = s->samples <= 60};
    const cli_panel panel = {.x_label = "t [s]", .y_label = s->name, .ncurve = 1, .curves = &curve};
    cli_plot_put(f, s->name, &panel, 1, 2);
  }
  fputs("</div>\n", f);
}

static int make_control(cli_searches *s, cli_run *r) {
  mbg_control_options o;
  mbg_control_options_default(&o, sizeof(o));
  o.run = &s->run;
  o.parameters = r->session.parameters;
  o.progress = watch_control;
  o.user = &s->run;
  return cli_run_status(r, mbg_control_create(r->session.ctx, r->session.model, &o, &s->control));
}

static int put_control(FILE *f, mbg_control *control, cli_run *r) {
  static const char *const heads[] = {"criterion", ">weight", ">value", NULL};
  const int status = cli_run_status(r, mbg_control_solve(r->session.ctx, control));
  if (status == CLI_DONE) {
    const mbg_control_summary *s = mbg_control_get_summary(control);
    cli_html_section(f, "control", "Control");
    cli_html_paragraph(
        f, s->converged ? "good" : "bad",
        "%s; objective %.6g, from %.6g, after %d iterations by %s; norm of the gradient %.2g, from %.2g.", s->status,
        s->objective, s->objective_start, s->iterations, s->optimizer, s->gradient, s->gradient_start);
    cli_html_table(f, heads);
    for (int i = 0; i < s->terms; i++) {
      const mbg_control_term *t = mbg_control_get_term(control, i);
      cli_html_row(f);
      cli_html_cell(f, t->criterion);
      cli_html_number(f, t->weight);
      cli_html_number(f, t->value);
    }
    cli_html_table_end(f);
    put_controls(f, control);
    cli_html_section_end(f);
  }
  return status;
}

/* ---------------------------------------------------------------------- all */

int cli_searches_make(cli_searches *s, const cli_args *args, cli_run *r) {
  int status = CLI_DONE;
  s->run = quiet(r);
  if (cli_flag(args, "optimize")) {
    status = make_optimize(s, r);
  }
  if (status == CLI_DONE && cli_flag(args, "identify")) {
    status = make_identify(s, r);
  }
  if (status == CLI_DONE && cli_flag(args, "control")) {
    status = make_control(s, r);
  }
  return status;
}

int cli_searches_put(FILE *f, cli_searches *s, cli_run *r) {
  int status = s->optimize ? put_optimize(f, s->optimize, r) : CLI_DONE;
  if (status == CLI_DONE && s->identify) {
    status = put_identify(f, s->identify, r);
  }
  if (status == CLI_DONE && s->control) {
    status = put_control(f, s->control, r);
  }
  return status;
}

void cli_searches_destroy(cli_searches *s) {
  mbg_optimize_destroy(s->optimize);
  mbg_identify_destroy(s->identify);
  mbg_control_destroy(s->control);
}
