/* mbgrad control: controls u(t) that minimize criteria */
#include "cli.h"
#include "control_files.h"
#include "mbgrad/control.h"
#include "plot.h"
#include "results.h"
#include "search.h"
#include "step_error.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PANELS_MAX = 24 };

/* Everything of one call. */
typedef struct {
  const cli_args *args;
  cli_run r;
  mbg_control_options options;
  mbg_control *control;
  char *list; /* copies of lists of names */
  const char **names;
  const char **criteria;
  double *weights;
  double begin, last;
  double error; /* of the steps, in the objective; NAN: not estimated */
  bool regular; /* ... better than a guess */
} job;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------- options */

static int take_number(const cli_args *args, const char *name, bool negative, double *value) {
  const char *text = cli_value(args, name, 0);
  char *end;
  if (!text) {
    return CLI_DONE;
  }
  *value = strtod(text, &end);
  if (end == text || *end || !isfinite(*value)) {
    return cli_bad_input("--%s: '%s' is no number", name, text);
  }
  return negative || *value >= 0 ? CLI_DONE : cli_bad_input("--%s: '%s' is negative", name, text);
}

static int count_commas(const char *text) {
  int n = 1;
  for (; *text; text++) {
    n += *text == ',';
  }
  return n;
}

/* "a,b" into names that point into a copy */
static void split(const char *text, char **copy, const char ***names, int *count) {
  *copy = cli_copy(text);
  *names = cli_resize(NULL, (size_t)count_commas(text), sizeof(**names));
  *count = 0;
  for (char *word = strtok(*copy, ","); word; word = strtok(NULL, ",")) {
    (*names)[(*count)++] = word;
  }
}

/* "a,b=20": criteria with weights */
static int take_objective(job *j, char **copy) {
  const char *text = cli_value(j->args, "objective", 0);
  if (!text) {
    return CLI_DONE;
  }
  split(text, copy, &j->criteria, &j->options.nterm);
  j->weights = cli_resize(NULL, (size_t)count_commas(text), sizeof(double));
  for (int i = 0; i < j->options.nterm; i++) {
    char *equals = strchr(j->criteria[i], '='), *end;
    j->weights[i] = 1;
    if (equals) {
      *equals = 0;
      j->weights[i] = strtod(equals + 1, &end);
      if (end == equals + 1 || *end) {
        return cli_bad_input("--objective: weight '%s' of '%s' is no number", equals + 1, j->criteria[i]);
      }
    }
  }
  if (j->options.nterm == 0) {
    return cli_bad_input("--objective: '%s' names no criterion", text);
  }
  j->options.criteria = j->criteria;
  j->options.weights = j->weights;
  return CLI_DONE;
}

static int take_options(job *j, char **copy) {
  const cli_args *args = j->args;
  mbg_control_options *o = &j->options;
  mbg_control_options_default(o, sizeof(*o));
  o->optimizer = cli_value(args, "optimizer", 0);
  o->interpolation = cli_value(args, "interpolation", 0);
  if (cli_value(args, "controls", 0)) {
    split(cli_value(args, "controls", 0), &j->list, &j->names, &o->nname);
    o->names = j->names;
  }
  int status = take_objective(j, copy);
  status = status == CLI_DONE ? cli_count(args, "samples", &o->samples) : status;
  status = status == CLI_DONE ? take_number(args, "min", true, &o->min) : status;
  status = status == CLI_DONE ? take_number(args, "max", true, &o->max) : status;
  status = status == CLI_DONE ? take_number(args, "effort", false, &o->effort) : status;
  status = status == CLI_DONE ? cli_count(args, "stages", &o->stages) : status;
  status = status == CLI_DONE ? cli_count(args, "iterations", &o->iterations) : status;
  return status == CLI_DONE ? take_number(args, "gradient-tolerance", false, &o->gradient_tolerance) : status;
}

/* pairs "a:b" of --tracking, or -1 with a message */
static int find_signal(const mbg_model *model, const char *name, size_t length) {
  for (int i = 0; i < mbg_model_signal_count(model); i++) {
    const char *own = mbg_model_signal_name(model, i);
    if (own && strlen(own) == length && !strncmp(own, name, length)) {
      return i;
    }
  }
  (void)cli_bad_input("--tracking: the model has no signal '%.*s'", (int)length, name);
  return -1;
}

/* errors that are visible before the search */
static int check_files(job *j) {
  const char *out = cli_value(j->args, "out", 0), *tracking = cli_value(j->args, "tracking", 0);
  const mbg_model *model = j->r.session.model;
  int *signal = NULL, status = cli_restart_options(j->args, &j->options.restart, &j->options.resume);
  status = status == CLI_DONE && out ? cli_series_path(out) : status;
  if (status == CLI_DONE && cli_signals_choose(model, cli_value(j->args, "signals", 0), &signal) < 0) {
    status = CLI_BAD_INPUT;
  }
  free(signal);
  while (status == CLI_DONE && tracking) {
    const size_t length = strcspn(tracking, ","), first = strcspn(tracking, ":,");
    if (first >= length) {
      return cli_bad_input("--tracking: '%.*s' is not SIGNAL:PATH", (int)length, tracking);
    }
    if (find_signal(model, tracking, first) < 0 || find_signal(model, tracking + first + 1, length - first - 1) < 0) {
      return CLI_BAD_INPUT;
    }
    tracking = tracking[length] ? tracking + length + 1 : NULL;
  }
  return status;
}

/* ---------------------------------------------------------------------- progress */

static void clear_line(const job *j) {
  if (j->r.bar) {
    cli_line_clear();
  }
}

static bool progress(void *user, const mbg_control *control) {
  job *j = user;
  const mbg_control_summary *r = mbg_control_get_summary(control);
  const double now = seconds();
  if (j->r.bar && (now - j->last > 0.1 || r->iterations == 0)) {
    fprintf(stderr, "\r\033[Kstage %d of %d, iteration %d: objective %.6g, gradient %.3g", r->stage + 1, r->stages,
            r->iterations, r->objective, r->gradient);
    fflush(stderr);
    j->last = now;
  }
  return j->r.options.interrupt(j->r.options.user);
}

/* ---------------------------------------------------------------------- report */

static void print_objective(const job *j) {
  const mbg_control_summary *r = mbg_control_get_summary(j->control);
  cli_table table = cli_table_make("lrrr");
  cli_table_texts(&table, "criterion", "value", "weight", "part", NULL);
  for (int i = 0; i < mbg_control_get_summary(j->control)->terms; i++) {
    const mbg_control_term *t = mbg_control_get_term(j->control, i);
    cli_table_text(&table, t->criterion);
    cli_table_format(&table, "%.6g", t->value);
    cli_table_number(&table, t->weight);
    cli_table_format(&table, "%.6g", t->weight * t->value);
  }
  if (r->effort > 0) {
    cli_table_texts(&table, "effort", "", "", NULL);
    cli_table_format(&table, "%.6g", r->effort);
  }
  cli_heading("\nobjective");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static void print_controls(const job *j) {
  cli_table table = cli_table_make("lrlrrrrrr");
  cli_table_texts(&table, "name", "samples", "", "least", "at t", "greatest", "at t", "min", "max", NULL);
  for (int i = 0; i < mbg_control_get_summary(j->control)->controls; i++) {
    const mbg_control_samples *s = mbg_control_get_samples(j->control, i);
    int low = 0, high = 0;
    for (int k = 1; k < s->samples; k++) {
      low = s->values[k] < s->values[low] ? k : low;
      high = s->values[k] > s->values[high] ? k : high;
    }
    cli_table_text(&table, s->name);
    cli_table_format(&table, "%d", s->samples);
    cli_table_text(&table, s->interpolation);
    cli_table_number(&table, s->values[low]);
    cli_table_number(&table, s->times[low]);
    cli_table_number(&table, s->values[high]);
    cli_table_number(&table, s->times[high]);
    cli_table_number(&table, s->min);
    cli_table_number(&table, s->max);
  }
  cli_heading("\ncontrols");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static void print_report(const job *j) {
  const mbg_control_summary *r = mbg_control_get_summary(j->control);
  char *title = cli_format("%s, formulation %s, optimizer %s", mbg_model_name(j->r.session.model),
                           mbg_run_formulation(j->r.run), r->optimizer);
  cli_heading(title);
  free(title);
  printf("\n  %s: %d iterations in %d stage%s, %d evaluations", r->status, r->iterations, r->stage + 1,
         r->stage > 0 ? "s" : "", r->evaluations);
  if (r->failed > 0) {
    printf(" (%d controls could not be simulated)", r->failed);
  }
  printf("\n  objective %.6g, at the start %.6g; gradient %.3g, at the start %.3g\n", r->objective, r->objective_start,
         r->gradient, r->gradient_start);
  cli_error_of_search(r->objective, r->objective_start, j->error, j->regular);
  if (r->at_bounds > 0) {
    printf("  %d samples at a bound\n", r->at_bounds);
  }
  print_objective(j);
  print_controls(j);
}

/* ---------------------------------------------------------------------- JSON */

static void json_array(const double *x, int n) {
  putchar('[');
  for (int k = 0; k < n; k++) {
    fputs(k > 0 ? ", " : "", stdout);
    cli_json_number(stdout, x[k]);
  }
  putchar(']');
}

static void json_member(const char *key, double value) {
  printf(",\n  \"%s\": ", key);
  cli_json_number(stdout, value);
}

static void json_criteria(const job *j) {
  fputs(",\n  \"criteria\": {", stdout);
  for (int i = 0; i < mbg_control_get_summary(j->control)->terms; i++) {
    const mbg_control_term *t = mbg_control_get_term(j->control, i);
    fputs(i > 0 ? ", " : "", stdout);
    cli_json_string(t->criterion);
    fputs(": {\"value\": ", stdout);
    cli_json_number(stdout, t->value);
    fputs(", \"weight\": ", stdout);
    cli_json_number(stdout, t->weight);
    putchar('}');
  }
  putchar('}');
}

static void json_controls(const job *j) {
  fputs(",\n  \"controls\": {", stdout);
  for (int i = 0; i < mbg_control_get_summary(j->control)->controls; i++) {
    const mbg_control_samples *s = mbg_control_get_samples(j->control, i);
    fputs(i > 0 ? ",\n    " : "\n    ", stdout);
    cli_json_string(s->name);
    printf(": {\"interpolation\": \"%s\",\n      \"times\": ", s->interpolation);
    json_array(s->times, s->samples);
    fputs(",\n      \"values\": ", stdout);
    json_array(s->values, s->samples);
    putchar('}');
  }
  fputs("\n  }", stdout);
}

static void print_json(const job *j) {
  const mbg_control_summary *r = mbg_control_get_summary(j->control);
  fputs("{\n  \"model\": ", stdout);
  cli_json_string(mbg_model_name(j->r.session.model));
  printf(",\n  \"formulation\": \"%s\",\n  \"optimizer\": \"%s\",\n  \"status\": \"%s\",\n  \"converged\": %s",
         mbg_run_formulation(j->r.run), r->optimizer, r->status, r->converged ? "true" : "false");
  printf(",\n  \"stages\": %d,\n  \"iterations\": %d,\n  \"evaluations\": %d,\n  \"failed\": %d,\n  \"at_bounds\": %d",
         r->stage + 1, r->iterations, r->evaluations, r->failed, r->at_bounds);
  json_member("objective", r->objective);
  json_member("objective_start", r->objective_start);
  json_member("objective_error", j->error);
  json_member("effort", r->effort);
  json_member("gradient", r->gradient);
  json_member("gradient_start", r->gradient_start);
  json_criteria(j);
  json_controls(j);
  json_member("seconds", seconds() - j->begin);
  fputs(",\n  \"work\": ", stdout);
  cli_json_work(j->r.run);
  fputs("\n}\n", stdout);
}

/* ---------------------------------------------------------------------- plot */

typedef struct {
  int npanel, ncurve;
  cli_panel panels[2 * PANELS_MAX];
  cli_curve curves[3 * PANELS_MAX];
  char *labels[2 * PANELS_MAX]; /* of the panels */
} figure;

static const double *column(const cli_series *s, int signal) {
  for (int c = 0; c < s->columns; c++) {
    if (s->signal[c] == signal) {
      return s->values + (size_t)c * (size_t)s->rows;
    }
  }
  return NULL;
}

static void add_panel(figure *f, const char *name, const char *unit, int ncurve) {
  char *label = f->labels[f->npanel] = cli_plot_label(name, unit);
  f->panels[f->npanel++] =
      (cli_panel){.y_label = label, .x_label = "t [s]", .ncurve = ncurve, .curves = &f->curves[f->ncurve - ncurve]};
}

static void plot_controls(const job *j, figure *f) {
  for (int i = 0; i < mbg_control_get_summary(j->control)->controls && f->npanel < PANELS_MAX; i++) {
    const mbg_control_samples *s = mbg_control_get_samples(j->control, i);
    f->curves[f->ncurve++] = (cli_curve){.count = s->samples, .x = s->times, .y = s->values};
    add_panel(f, s->name, "", 1);
  }
}

/* each pair in one panel, the path dashed */
static void plot_tracking(const job *j, const cli_series *all, figure *f) {
  const mbg_model *model = j->r.session.model;
  for (const char *pair = cli_value(j->args, "tracking", 0); pair && f->npanel < PANELS_MAX;) {
    const size_t length = strcspn(pair, ","), first = strcspn(pair, ":");
    const int path = find_signal(model, pair + first + 1, length - first - 1), own = find_signal(model, pair, first);
    f->curves[f->ncurve++] = (cli_curve){.name = mbg_model_signal_name(model, path),
                                         .count = all->rows,
                                         .x = all->time,
                                         .y = column(all, path),
                                         .dashed = true};
    f->curves[f->ncurve++] = (cli_curve){
        .name = mbg_model_signal_name(model, own), .count = all->rows, .x = all->time, .y = column(all, own)};
    add_panel(f, mbg_model_signal_name(model, own), mbg_model_signal_unit(model, own), 2);
    pair = pair[length] ? pair + length + 1 : NULL;
  }
}

static int write_plot(const job *j, const cli_series *s, const char *path) {
  figure *f = cli_resize(NULL, 1, sizeof(*f));
  cli_series all = {0};
  f->npanel = f->ncurve = 0;
  plot_controls(j, f);
  int status = CLI_DONE;
  if (cli_value(j->args, "tracking", 0)) {
    status = cli_series_make(&all, mbg_control_model(j->control), j->r.run, NULL, 0);
    if (status == CLI_DONE) {
      plot_tracking(j, &all, f);
    }
  } else {
    for (int c = 0; c < s->columns && f->npanel < PANELS_MAX; c++) {
      f->curves[f->ncurve++] =
          (cli_curve){.count = s->rows, .x = s->time, .y = s->values + (size_t)c * (size_t)s->rows};
      add_panel(f, s->names[c], mbg_model_signal_unit(j->r.session.model, s->signal[c]), 1);
    }
  }
  if (status == CLI_DONE) {
    status = cli_plot_write(path, mbg_model_name(j->r.session.model), f->panels, f->npanel);
  }
  for (int i = 0; i < f->npanel; i++) {
    free(f->labels[i]);
  }
  cli_series_destroy(&all);
  free(f);
  return status;
}

/* ---------------------------------------------------------------------- files */

/* the motion under the best control, with all signals */
static int simulate_best(job *j) {
  mbg_context *ctx = j->r.session.ctx;
  const mbg_model *model = mbg_control_model(j->control);
  mbg_run_options o = j->r.options;
  o.interrupt = NULL;
  o.progress = NULL;
  cli_run_forward(&o);
  int status = cli_run_status(&j->r, mbg_run_create(ctx, model, &o, &j->r.run));
  if (status == CLI_DONE) {
    status = cli_run_status(&j->r, mbg_run_set_parameters(ctx, j->r.run, mbg_control_parameters(j->control)));
  }
  return status == CLI_DONE ? cli_run_simulate(&j->r) : status;
}

static int write_files(job *j) {
  const cli_args *args = j->args;
  const char *control = cli_value(args, "control", 0), *out = cli_value(args, "out", 0);
  const char *plot = cli_value(args, "plot", 0), *found = cli_value(args, "write", 0);
  cli_series series = {0};
  int status = control ? cli_controls_write(&j->r.session, j->control, control) : CLI_DONE;
  if (status == CLI_DONE && found) {
    status = cli_controls_write_model(&j->r.session, j->control, found);
    if (status == CLI_DONE && cli_value(args, "set", 0)) {
      fprintf(stderr, "note: '%s' has the parameters of the model, not the values of --set\n", found);
    }
  }
  if (status == CLI_DONE && (out || plot)) {
    status = cli_series_make(&series, mbg_control_model(j->control), j->r.run, cli_value(args, "signals", 0), 0);
  }
  if (status == CLI_DONE && out) {
    const cli_origin origin = {mbg_control_model(j->control), j->r.run, mbg_control_parameters(j->control), NULL, NULL};
    status = cli_series_write(&series, &origin, out);
  }
  if (status == CLI_DONE && plot) {
    status = write_plot(j, &series, plot);
  }
  cli_series_destroy(&series);
  return status;
}

/* ---------------------------------------------------------------------- the command */

static int search(job *j) {
  mbg_context *ctx = j->r.session.ctx;
  mbg_run_options o = j->r.options;
  o.all_signals = false;
  o.progress = NULL;
  j->options.run = &o;
  j->options.parameters = j->r.session.parameters;
  j->options.progress = progress;
  j->options.user = j;
  int status = cli_run_status(&j->r, mbg_control_create(ctx, j->r.session.model, &j->options, &j->control));
  if (status == CLI_DONE) {
    const int err = mbg_control_solve(ctx, j->control);
    clear_line(j);
    status = cli_session_written(&j->r.session, err);
  }
  return status;
}

/* how it ended, for the exit status */
static int outcome(const job *j) {
  const mbg_control_summary *r = mbg_control_get_summary(j->control);
  if (r->interrupted) {
    return cli_failed("interrupted after %d iterations; the best control so far is kept", r->iterations);
  }
  if (!strncmp(r->status, "limit", 5)) {
    return cli_failed("not converged: %s after %d iterations; the best control is kept. More: --iterations, with "
                      "--restart and --resume from there",
                      r->status, r->iterations);
  }
  return CLI_DONE;
}

static int run_job(job *j, char **copy) {
  int status = take_options(j, copy);
  if (status == CLI_DONE) {
    status = cli_run_begin(&j->r, j->args, true, cli_flag(j->args, "quiet"));
  }
  if (status == CLI_DONE) {
    status = check_files(j);
  }
  if (status == CLI_DONE) {
    status = search(j);
  }
  if (status == CLI_DONE) {
    status = simulate_best(j);
  }
  if (status == CLI_DONE && !cli_flag(j->args, "no-error-estimate")) {
    cli_error_of_control(&j->r.session, j->control, j->r.run, &j->error, &j->regular);
  }
  if (status == CLI_DONE) {
    status = write_files(j);
  }
  if (status == CLI_DONE && cli_flag(j->args, "json")) {
    print_json(j);
  } else if (status == CLI_DONE && !cli_flag(j->args, "quiet")) {
    print_report(j);
  }
  fflush(stdout);
  return status == CLI_DONE ? outcome(j) : status;
}

static int control(const cli_args *args) {
  job j = {.args = args, .begin = seconds(), .error = NAN};
  char *copy = NULL;
  const int status = run_job(&j, &copy);
  mbg_run_destroy(j.r.run); /* before the model that it runs */
  j.r.run = NULL;
  mbg_control_destroy(j.control);
  cli_run_close(&j.r);
  free(copy);
  free(j.list);
  free(j.names);
  free(j.criteria);
  free(j.weights);
  return status;
}

static const cli_option options[] = {
    {"objective", "A[=W],...", false, "criteria to be minimized, with weights; default: the model's"},
    {"controls", "A,B,...", false, "the controls to be found"},
    {"samples", "N", false, "samples of each control, evenly over the run; default: as in the model"},
    {"interpolation", "NAME", false, "linear or cubic"},
    {"min", "NUMBER", false, "lower bound of the samples"},
    {"max", "NUMBER", false, "upper bound of the samples"},
    {"effort", "NUMBER", false, "weight of half the integral of the squared controls"},
    {"stages", "N", false, "solutions with an effort that falls to this weight by tens"},
    {"optimizer", "NAME", false, "lbfgs (default), ipopt, ipopt-exact, newton, cg or steepest"},
    {"iterations", "N", false, "most iterations of a stage; default: 200"},
    {"gradient-tolerance", "NUMBER", false, "end when the gradient has fallen by this factor; default: 1e-5"},
    {"control", "FILE.csv", CLI_FILE_OUT, "write the controls found"},
    {"write", "FILE", CLI_FILE_MODEL, "write the model with the controls found; put it beside the model"},
    {"out", "FILE", CLI_FILE_OUT, "write the signals of the motion found: FILE.csv or FILE.h5"},
    {"signals", "A,B,...", false, "these signals only"},
    CLI_OPTION_PLOT,
    {"tracking", "A:B,...", false, "with --plot: signal A and the path B that it should follow, in one panel"},
    CLI_OPTIONS_RESTART,
    CLI_OPTIONS_RUN,
    CLI_OPTION_NO_ERROR,
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
};

extern const cli_command cli_cmd_control;

const cli_command cli_cmd_control = {
    .name = "control",
    .arguments = "MODEL",
    .summary = "controls u(t) that minimize criteria, under bounds",
    .details =
        "Finds the samples of controls that minimize the objective given in the section \"control\" of the model or\n"
        "by --objective, on exact gradients by every sample. Ctrl-C stops and keeps the best control.\n"
        "Exit status: 0 a solution was found, 1 the iterations ran out or the start cannot be simulated, 2 bad "
        "input.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = control,
};
