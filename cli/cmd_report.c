/* mbgrad report: a model, its motion, gradients and results as one page */
#include "cli.h"
#include "cmd_check_gradient.h"
#include "files.h"
#include "gradient_table.h"
#include "html.h"
#include "mbgrad/check.h"
#include "mbgrad/version.h"
#include "mbgrad/view.h"
#include "ranking.h"
#include "report_results.h"
#include "results.h"
#include "signal_plot.h"
#include "step_error.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 12, RANKED_CRITERIA = 6 };

/* Everything that the page shows. */
typedef struct {
  const cli_args *args;
  cli_run r;
  const mbg_model *model;
  cli_proof *proof; /* or NULL */
  int nc, np, na;
  cli_criteria chosen;
  double *psi;      /*                                              (nc) */
  double *gradient; /* or NULL                                      (nc x np) */
  mbg_method method;
  cli_series series;
  cli_searches searches;
  int frames; /* most pictures of the motion, 0: default */
} report;

/* ---------------------------------------------------------------------- summary */

static void put_fact(FILE *f, const char *name, double value, const char *unit) {
  fprintf(f, "<div><dt>%s</dt><dd>%.6g%s</dd></div>\n", name, value, unit);
}

static int put_summary(FILE *f, report *p) {
  mbg_check *check = NULL;
  const mbg_check_options opt = {.size = sizeof(opt), .parameters = p->r.session.parameters};
  const int result = mbg_check_create(p->r.session.ctx, p->model, &opt, &check);
  if (result < 0) {
    return cli_run_status(&p->r, result);
  }
  mbg_context_clear(p->r.session.ctx); /* its warnings stand in the page */
  const mbg_check_summary *s = mbg_check_get_summary(check);
  const int nodes = mbg_run_node_count(p->r.run);
  cli_html_section(f, "model", "Model");
  fputs("<dl>\n", f);
  put_fact(f, "degrees of freedom", s->degrees_of_freedom, "");
  put_fact(f, "bodies", s->bodies, "");
  put_fact(f, "joints", s->joints, "");
  put_fact(f, "forces", s->forces, "");
  put_fact(f, "parameters", s->parameter_entries, "");
  put_fact(f, "criteria", s->criteria, "");
  put_fact(f, "mass", s->mass, " kg");
  put_fact(f, "size", s->size, " m");
  fputs("</dl>\n", f);
  cli_html_paragraph(
      f, "note", "%d unknowns, %d constraints, %d of them redundant. Formulation %s, t = %g .. %g s in %ld steps.",
      s->unknowns, s->constraints, s->redundant, mbg_run_formulation(p->r.run), mbg_run_node_time(p->r.run, 0),
      mbg_run_node_time(p->r.run, nodes - 1), mbg_run_get_work(p->r.run)->steps);
  for (int i = 0; i < s->warnings; i++) {
    cli_html_paragraph(f, "warn", "%s", mbg_check_warning(check, i));
  }
  cli_html_section_end(f);
  mbg_check_destroy(check);
  return CLI_DONE;
}

/* ---------------------------------------------------------------------- motion */

static int put_motion(FILE *f, report *p) {
  mbg_view_options options;
  char *page = NULL;
  mbg_view_options_default(&options, sizeof(options));
  options.gradient = p->gradient != NULL;
  options.frames = p->frames > 0 ? p->frames : options.frames;
  const int status = cli_run_status(&p->r, mbg_view_page(p->r.session.ctx, p->r.run, &options, &page));
  if (status == CLI_DONE) {
    cli_html_section(f, "motion", "Motion");
    fputs("<iframe title=\"motion\" srcdoc=\"", f);
    cli_html_attribute(f, page);
    fputs("\"></iframe>\n", f);
    cli_html_section_end(f);
  }
  mbg_text_destroy(p->r.session.ctx, page);
  return status;
}

static void put_signals(FILE *f, const report *p) {
  if (p->series.columns > 0) {
    cli_html_section(f, "signals", "Signals");
    fputs("<div class=\"plots\">\n", f);
    cli_signal_plot_put(f, &p->series, p->model);
    fputs("</div>\n", f);
    cli_html_section_end(f);
  }
}

/* ---------------------------------------------------------------------- gradient */

static void put_error(FILE *f, const report *p, int k, int parameter) {
  const mbg_step_error *e = mbg_run_get_error(p->r.run, k);
  const double error = !e ? NAN : parameter < 0 ? e->value : e->gradient ? e->gradient[parameter] : NAN;
  char *text = isfinite(error) ? cli_format("\302\261 %.1g", error) : cli_copy("");
  cli_html_cell(f, text);
  free(text);
}

static void put_criteria(FILE *f, const report *p) {
  static const char *const heads[] = {"criterion", ">value", "error of the steps", NULL};
  cli_html_table(f, heads);
  for (int c = 0; c < p->chosen.count; c++) {
    const int k = p->chosen.index[c];
    cli_html_row(f);
    cli_html_cell(f, mbg_model_criterion_name(p->model, k));
    cli_html_number(f, p->psi[k]);
    put_error(f, p, k, -1);
  }
  cli_html_table_end(f);
}

/* one criterion by the parameters: derivative, its error, what a relative change does */
static void put_gradient_of(FILE *f, const report *p, const cli_entries *entries, int k) {
  static const char *const heads[] = {
      "parameter", ">value", "unit", ">derivative", "error of the steps", ">value \303\227 derivative", "", NULL};
  const double *g = p->gradient + (size_t)k * (size_t)p->np, *values = p->r.session.parameters;
  double largest = 0;
  for (int i = 0; i < entries->count; i++) {
    largest = fmax(largest, fabs(g[entries->index[i]] * values[entries->index[i]]));
  }
  fputs("<h3>", f);
  cli_html_text(f, mbg_model_criterion_name(p->model, k));
  fputs("</h3>\n", f);
  cli_html_table(f, heads);
  for (int i = 0; i < entries->count; i++) {
    const int e = entries->index[i];
    char name[256];
    (void)mbg_model_parameter_name(p->model, e, name, sizeof(name));
    cli_html_row(f);
    cli_html_cell(f, name);
    cli_html_number(f, values[e]);
    cli_html_cell(f, mbg_model_parameter_unit(p->model, e));
    cli_html_number(f, g[e]);
    put_error(f, p, k, e);
    cli_html_number(f, values[e] * g[e]);
    cli_html_bar(f, largest > 0 ? fabs(values[e] * g[e]) / largest : 0);
  }
  cli_html_table_end(f);
}

static void put_gradient(FILE *f, const report *p) {
  if (p->nc == 0) {
    return;
  }
  cli_html_section(f, "gradient", p->gradient ? "Criteria and gradients" : "Criteria");
  put_criteria(f, p);
  if (p->gradient) {
    cli_entries entries = cli_entries_choose(p->model, p->gradient, p->r.session.parameters, false);
    for (int c = 0; c < p->chosen.count; c++) {
      put_gradient_of(f, p, &entries, p->chosen.index[c]);
    }
    if (entries.hidden > 0) {
      cli_html_paragraph(f, "note", "%d entries of long vectors with less effect are left out.", entries.hidden);
    }
    cli_html_paragraph(f, "note",
                       "Method: %s. The last column is the change of the criterion, to first order, when the "
                       "parameter is doubled.",
                       mbg_method_name((int)p->method));
    free(entries.index);
  }
  cli_html_section_end(f);
}

static void put_proof(FILE *f, const report *p) {
  if (!p->proof) {
    return;
  }
  cli_html_section(f, "proof", "Proof of the gradients");
  cli_html_paragraph(f, "note",
                     "Along a direction d the remainder |\317\210(p + \316\265 d) \342\210\222 \317\210(p) "
                     "\342\210\222 \316\265 g\302\267d| of an exact gradient g falls with \316\265\302\262, down to "
                     "rounding.");
  for (int c = 0; c < p->chosen.count; c++) {
    bool good;
    char *text = cli_proof_verdict(p->proof, p->chosen.index[c], &good);
    cli_html_paragraph(f, good ? "good" : "bad", "%s: %s", mbg_model_criterion_name(p->model, p->chosen.index[c]),
                       text);
    free(text);
  }
  fputs("<div class=\"plots\">\n", f);
  for (int c = 0; c < p->chosen.count; c++) {
    cli_proof_put(p->proof, p->chosen.index[c], f);
  }
  fputs("</div>\n", f);
  cli_html_section_end(f);
}

/* ---------------------------------------------------------------------- ranked numbers */

static void put_ranks_of(FILE *f, const report *p, int k, const double *all) {
  static const char *const heads[] = {"of", "number", ">value", "unit", ">derivative", ">effect", "", NULL};
  cli_ranked *list = cli_rank(p->r.run, all);
  fputs("<h3>", f);
  cli_html_text(f, mbg_model_criterion_name(p->model, k));
  fputs("</h3>\n", f);
  cli_html_table(f, heads);
  for (int i = 0; i < p->na && i < RANKS && list[i].effect > 0; i++) {
    cli_html_row(f);
    cli_html_cell(f, mbg_run_attribute_owner(p->r.run, list[i].index));
    cli_html_cell(f, mbg_run_attribute_key(p->r.run, list[i].index));
    cli_html_number(f, list[i].value);
    cli_html_cell(f, mbg_run_attribute_unit(p->r.run, list[i].index));
    cli_html_number(f, all[list[i].index]);
    cli_html_number(f, list[i].effect);
    cli_html_bar(f, list[i].effect / list[0].effect);
  }
  cli_html_table_end(f);
  free(list);
}

static int put_ranks(FILE *f, report *p) {
  double *all = cli_resize(NULL, (size_t)p->na + 1, sizeof(double));
  int status = CLI_DONE;
  if (p->chosen.count > 0) {
    cli_html_section(f, "numbers", "Numbers of the model by their effect");
    cli_html_paragraph(f, "note", "Of all %d numbers of the model those whose relative change moves a criterion most.",
                       p->na);
  }
  for (int c = 0; status == CLI_DONE && c < p->chosen.count && c < RANKED_CRITERIA; c++) {
    const int k = p->chosen.index[c];
    status = cli_run_status(&p->r, mbg_run_gradient_all(p->r.session.ctx, p->r.run, k, all));
    if (status == CLI_DONE) {
      put_ranks_of(f, p, k, all);
    }
  }
  if (p->chosen.count > 0) {
    if (p->chosen.count > RANKED_CRITERIA) {
      cli_html_paragraph(f, "note", "The first %d of %d criteria; --criteria chooses others.", RANKED_CRITERIA,
                         p->chosen.count);
    }
    cli_html_section_end(f);
  }
  free(all);
  return status;
}

/* ---------------------------------------------------------------------- the page */

static void put_links(FILE *f, const report *p) {
  const struct {
    const char *id, *name;
    bool there;
  } links[] = {{"motion", "motion", true},
               {"signals", "signals", p->series.columns > 0},
               {"gradient", "gradients", p->nc > 0},
               {"proof", "proof", p->proof != NULL},
               {"numbers", "numbers", p->nc > 0},
               {"optimize", "optimization", cli_flag(p->args, "optimize")},
               {"identify", "identification", cli_flag(p->args, "identify")},
               {"control", "control", cli_flag(p->args, "control")}};
  fputs("<nav>", f);
  for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
    if (links[i].there) {
      fprintf(f, "<a href=\"#%s\">%s</a>", links[i].id, links[i].name);
    }
  }
  fputs("</nav>\n", f);
}

static int put_page(FILE *f, report *p) {
  cli_html_begin(f, mbg_model_name(p->model), mbg_model_note(p->model));
  put_links(f, p);
  int status = put_summary(f, p);
  status = status == CLI_DONE ? put_motion(f, p) : status;
  if (status == CLI_DONE) {
    put_signals(f, p);
    put_gradient(f, p);
    put_proof(f, p);
    status = put_ranks(f, p);
  }
  status = status == CLI_DONE ? cli_searches_put(f, &p->searches, &p->r) : status;
  fprintf(f, "<footer>mbgrad %s</footer>\n", mbg_version());
  cli_html_end(f);
  return status;
}

/* ---------------------------------------------------------------------- computation */

/* the proof leaves the run at other parameters: once more, and gradients there */
static int simulate_again(report *p) {
  mbg_context *ctx = p->r.session.ctx;
  int status = cli_run_status(&p->r, mbg_run_set_parameters(ctx, p->r.run, p->r.session.parameters));
  status = status == CLI_DONE ? cli_run_simulate(&p->r) : status;
  if (status == CLI_DONE && mbg_run_partial(p->r.run)) {
    return cli_run_interrupted(&p->r, "there is no report");
  }
  if (status == CLI_DONE && p->nc > 0) {
    status = cli_run_status(&p->r, mbg_run_criteria(ctx, p->r.run, p->psi));
  }
  if (status == CLI_DONE && p->nc > 0 && p->np > 0) {
    p->gradient = cli_resize(NULL, (size_t)p->nc * (size_t)p->np, sizeof(double));
    status = cli_run_status(&p->r, mbg_run_gradient(ctx, p->r.run, MBG_METHOD_AUTO, p->gradient, &p->method));
  }
  return status;
}

static int compute(report *p) {
  const bool proof = p->nc > 0 && p->np > 0 && !cli_flag(p->args, "no-proof");
  int status = cli_criteria_choose(p->model, cli_value(p->args, "criteria", 0), &p->chosen);
  if (status == CLI_DONE && proof) {
    status = cli_proof_of(p->args, &p->r, &p->proof);
  } else if (status == CLI_DONE && p->nc > 0) {
    status = cli_run_status(&p->r, mbg_run_select(p->r.session.ctx, p->r.run, p->chosen.count, p->chosen.index));
  }
  status = status == CLI_DONE ? simulate_again(p) : status;
  if (status == CLI_DONE && !proof && p->gradient) {
    status = cli_error_estimate(&p->r, p->args, p->r.run, p->method);
  }
  return status == CLI_DONE ? cli_series_make(&p->series, p->model, p->r.run, NULL, 0) : status;
}

static int write_page(report *p, const char *path) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  int status = put_page(f, p);
  if (status != CLI_DONE) {
    cli_file_drop(f);
    return status;
  }
  const long size = ftell(f);
  status = cli_file_close(f, path);
  if (status == CLI_DONE && !cli_flag(p->args, "quiet") && strcmp(path, "-") != 0) {
    printf("%s: %.0f kB\n", path, (double)size / 1000);
  }
  return status;
}

static int make_run(report *p) {
  int status = cli_run_begin(&p->r, p->args, true, cli_flag(p->args, "quiet"));
  if (status == CLI_DONE) {
    p->r.options.keep_poses = true;
    status = cli_run_make(&p->r);
  }
  if (status == CLI_DONE) {
    p->model = p->r.session.model;
    p->nc = mbg_model_criterion_count(p->model);
    p->np = mbg_model_parameter_count(p->model);
    p->na = mbg_run_attribute_count(p->r.run);
    p->psi = cli_resize(NULL, (size_t)p->nc + 1, sizeof(double));
  }
  return status;
}

static int run_report(const cli_args *args) {
  report p = {.args = args};
  const char *out = cli_value(args, "out", 0);
  char *own = NULL;
  int status = make_run(&p);
  if (status == CLI_DONE && !out) {
    out = own = cli_model_file(p.model, "-report.html");
    status = cli_file_check(p.r.session.ctx, p.model, "--out", out, CLI_FILE_OUT);
  }
  status = status == CLI_DONE ? cli_count(args, "frames", &p.frames) : status;
  status = status == CLI_DONE ? cli_searches_make(&p.searches, args, &p.r) : status;
  status = status == CLI_DONE ? compute(&p) : status;
  status = status == CLI_DONE ? write_page(&p, out) : status;
  cli_searches_destroy(&p.searches);
  cli_series_destroy(&p.series);
  cli_proof_destroy(p.proof);
  free(p.chosen.index);
  free(p.psi);
  free(p.gradient);
  free(own);
  cli_run_close(&p.r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    {"out", "FILE.html", CLI_FILE_OUT, "name of the page, - for standard output; default: NAME-report.html"},
    {"criteria", "A,B,...", false, "these criteria only"},
    {"no-proof", NULL, false, "leave the proof of the gradients out (saves many runs)"},
    CLI_OPTION_NO_ERROR,
    {"optimize", NULL, false, "run the model's optimization, too, and show its result"},
    {"identify", NULL, false, "run its identification, too"},
    {"control", NULL, false, "find its controls, too"},
    {"frames", "N", false, "most pictures of the motion; default: 1000"},
    {"quiet", NULL, false, "print nothing but messages"},
};

extern const cli_command cli_cmd_report;

const cli_command cli_cmd_report = {
    .name = "report",
    .arguments = "MODEL",
    .summary = "model, motion, gradients and their proof as one page",
    .details =
        "Simulates a model, differentiates its criteria, proves the gradients, and writes all of it as one HTML file\n"
        "with the motion, plots, tables and the numbers of the model by their effect. The file needs no network.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = run_report,
};
