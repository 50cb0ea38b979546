/* mbgrad simulate: signals of a model over time */
#include "cli.h"
#include "gradient_table.h"
#include "poses.h"
#include "results.h"
#include "run_options.h"
#include "signal_plot.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- summary */

static void add_signal(cli_table *table, const cli_series *s, int column) {
  const cli_range *r = &s->range[column];
  cli_table_text(table, s->names[column]);
  cli_table_number(table, r->first);
  cli_table_number(table, r->last);
  cli_table_number(table, r->low);
  cli_table_number(table, r->low_t);
  cli_table_number(table, r->high);
  cli_table_number(table, r->high_t);
}

static void print_signals(const cli_series *s) {
  cli_table table = cli_table_make("lrrrrrr");
  cli_table_texts(&table, "name", "at the start", "at the end", "least", "at t", "greatest", "at t", NULL);
  for (int c = 0; c < s->columns; c++) {
    add_signal(&table, s, c);
  }
  cli_heading("\nsignals");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

/* tolerances of error control, and the drift of the constraints */
static void print_control(const mbg_run *run, const mbg_run_work *w) {
  if (mbg_run_relative_tolerance(run) > 0) {
    printf("  tolerances %.3g and %.3g; constraints drifted by %.1e in position, %.1e in velocity\n",
           mbg_run_relative_tolerance(run), mbg_run_absolute_tolerance(run), w->drift_position, w->drift_velocity);
  }
}

static void print_events(const mbg_run *run) {
  mbg_run_event e;
  for (int i = 0; mbg_run_event_at(run, i, &e) == MBG_OK; i++) {
    printf(i == 0 ? "\n  event                 time     impulse\n" : "");
    printf("  %-14s %11.6g", e.name, e.time);
    printf(e.impulse > 0 ? " %11.6g\n" : "\n", e.impulse);
  }
}

static void print_summary(const cli_series *s, const cli_origin *o) {
  const mbg_run_work *w = mbg_run_get_work(o->run);
  const int nodes = mbg_run_node_count(o->run);
  char *title = cli_format("%s, formulation %s", mbg_model_name(o->model), mbg_run_formulation(o->run));
  cli_heading(title);
  free(title);
  printf("\n  t = %g .. %g s%s, %ld steps, ", mbg_run_node_time(o->run, 0), mbg_run_node_time(o->run, nodes - 1),
         mbg_run_partial(o->run) ? " (partial)" : "", w->steps);
  /* a stepper solves equations, an integrator evaluates a right-hand side */
  if (w->newton_iterations > 0) {
    printf("%ld Newton iterations, ", w->newton_iterations);
  } else {
    printf("%ld evaluations, ", w->assemblies);
  }
  printf("%.3g s\n", w->seconds_simulate);
  print_control(o->run, w);
  if (s->columns > 0) {
    print_signals(s);
  }
  print_events(o->run);
  if (o->criteria && mbg_model_criterion_count(o->model) > 0) {
    cli_criteria all;
    (void)cli_criteria_choose(o->model, NULL, &all);
    cli_criteria_print(o->model, &all, o->criteria);
    free(all.index);
  }
}

/* ---------------------------------------------------------------------- JSON */

static void json_signals(const cli_series *s) {
  fputs(",\n  \"time\": [", stdout);
  for (int i = 0; i < s->rows; i++) {
    fputs(i > 0 ? ", " : "", stdout);
    cli_json_number(stdout, s->time[i]);
  }
  fputs("],\n  \"signals\": {", stdout);
  for (int c = 0; c < s->columns; c++) {
    fputs(c > 0 ? ",\n    " : "\n    ", stdout);
    cli_json_string(s->names[c]);
    fputs(": [", stdout);
    for (int i = 0; i < s->rows; i++) {
      fputs(i > 0 ? ", " : "", stdout);
      cli_json_number(stdout, s->values[(size_t)c * (size_t)s->rows + (size_t)i]);
    }
    putchar(']');
  }
  fputs(s->columns > 0 ? "\n  }" : "}", stdout);
}

/* only of models with events in their runs */
static void json_events(const mbg_run *run) {
  mbg_run_event e;
  for (int i = 0; mbg_run_event_at(run, i, &e) == MBG_OK; i++) {
    fputs(i == 0 ? ",\n  \"events\": [\n    {\"name\": " : ",\n    {\"name\": ", stdout);
    cli_json_string(e.name);
    fputs(", \"time\": ", stdout);
    cli_json_number(stdout, e.time);
    fputs(", \"rate\": ", stdout);
    cli_json_number(stdout, e.rate);
    fputs(", \"grazing\": ", stdout);
    cli_json_number(stdout, e.grazing);
    fputs(", \"impulse\": ", stdout);
    cli_json_number(stdout, e.impulse);
    printf(", \"node\": %d}", e.node);
  }
  fputs(mbg_run_event_count(run) > 0 ? "\n  ]" : "", stdout);
}

static void print_json(const cli_series *s, const cli_origin *o) {
  fputs("{\n  \"model\": ", stdout);
  cli_json_string(mbg_model_name(o->model));
  printf(",\n  \"formulation\": \"%s\",\n  \"partial\": %s,\n  \"parameters\": ", mbg_run_formulation(o->run),
         mbg_run_partial(o->run) ? "true" : "false");
  cli_json_by_parameter(o->model, o->parameters);
  fputs(",\n  \"criteria\": {", stdout);
  for (int i = 0; o->criteria && i < mbg_model_criterion_count(o->model); i++) {
    fputs(i > 0 ? ", " : "", stdout);
    cli_json_string(mbg_model_criterion_name(o->model, i));
    fputs(": ", stdout);
    cli_json_number(stdout, o->criteria[i]);
  }
  putchar('}');
  json_events(o->run);
  json_signals(s);
  fputs(",\n  \"work\": ", stdout);
  cli_json_work(o->run);
  fputs("\n}\n", stdout);
}

/* ---------------------------------------------------------------------- the command */

/* writes every file that was asked for, then prints */
static int put_results(const cli_args *args, cli_run *r, const cli_series *s, const cli_origin *o) {
  const char *out = cli_value(args, "out", 0), *plot = cli_value(args, "plot", 0), *state = cli_value(args, "state", 0);
  const char *poses = cli_value(args, "poses", 0);
  int status = out ? cli_series_write(s, o, out) : CLI_DONE;
  if (status == CLI_DONE && poses) {
    status = cli_poses_write(o->poses, o->model, poses);
  }
  if (status == CLI_DONE && plot) {
    status = cli_signal_plot(args, s, o->model, plot);
  }
  if (status == CLI_DONE && state) {
    char *name = cli_file_begin(state);
    status = name ? cli_session_wrote(&r->session, mbg_run_write_state(r->session.ctx, r->run, name), name, state)
                  : CLI_FAILED;
  }
  if (status != CLI_DONE) {
    return status;
  }
  if (cli_flag(args, "json")) {
    print_json(s, o);
  } else if (!cli_flag(args, "quiet") && !(out && !strcmp(out, "-"))) {
    print_summary(s, o);
  }
  return CLI_DONE;
}

static int results(const cli_args *args, cli_run *r, const cli_series *series) {
  const mbg_model *model = r->session.model;
  double *psi = cli_resize(NULL, (size_t)mbg_model_criterion_count(model), sizeof(double));
  cli_origin origin = {model, r->run, r->session.parameters, psi, NULL};
  cli_poses poses = {0};
  const bool partial = mbg_run_partial(r->run);
  /* a criterion may need times that a partial run does not reach */
  int status = cli_run_status(r, mbg_run_criteria(r->session.ctx, r->run, psi));
  if (status != CLI_DONE && partial) {
    origin.criteria = NULL;
    status = CLI_DONE;
  }
  if (status == CLI_DONE && r->options.keep_poses) {
    cli_poses_make(&poses, model, r->run, series);
    origin.poses = &poses;
  }
  if (status == CLI_DONE) {
    status = put_results(args, r, series, &origin);
  }
  if (status == CLI_DONE && partial) {
    status = cli_run_interrupted(r, "the results up to there are kept");
  }
  cli_poses_destroy(&poses);
  free(psi);
  return status;
}

/* errors that are visible before the run */
static int check_options(const cli_args *args, const mbg_model *model) {
  const char *out = cli_value(args, "out", 0), *poses = cli_value(args, "poses", 0);
  int *signal = NULL, status = out ? cli_series_path(out) : CLI_DONE;
  if (status == CLI_DONE && cli_signals_choose(model, cli_value(args, "signals", 0), &signal) < 0) {
    status = CLI_BAD_INPUT;
  }
  free(signal);
  status = status == CLI_DONE ? cli_signal_plot_check(args, model) : status;
  if (status == CLI_DONE && cli_flag(args, "json") && out && !strcmp(out, "-")) {
    status = cli_bad_input("--json and --out - both write to standard output");
  }
  const size_t length = poses ? strlen(poses) : 0;
  if (status == CLI_DONE && poses && (length < 5 || strcmp(poses + length - 4, ".csv") != 0)) {
    status = cli_bad_input("--poses: '%s' does not end with .csv", poses);
  }
  return status;
}

/* rows that grow with the run: its nodes are not kept */
typedef struct {
  cli_series series;
  int *kept; /* of each column, among the signals that the run keeps */
} stream;

static void take_node(void *user, double t, bool inner, const double *signals) {
  stream *s = user;
  double *y = cli_series_next(&s->series);
  for (int c = 0; c < s->series.columns; c++) {
    y[c] = signals[s->kept[c]];
  }
  cli_series_node(&s->series, t, inner);
}

static int begin_stream(const cli_args *args, const cli_run *r, stream *s) {
  const bool keep =
      cli_value(args, "out", 0) || cli_value(args, "plot", 0) || cli_flag(args, "json") || r->options.keep_poses;
  const int status =
      cli_series_begin(&s->series, r->session.model, cli_value(args, "signals", 0), r->options.interval, keep);
  s->kept = cli_resize(NULL, (size_t)s->series.columns, sizeof(int));
  for (int c = 0; c < s->series.columns; c++) {
    s->kept[c] = 0;
    while (s->kept[c] + 1 < mbg_run_kept_count(r->run) &&
           mbg_run_kept_signal(r->run, s->kept[c]) != s->series.signal[c]) {
      s->kept[c]++;
    }
  }
  return status;
}

static int simulate(const cli_args *args) {
  stream rows = {0};
  cli_run r;
  int status = cli_run_begin(&r, args, true, cli_flag(args, "quiet"));
  if (status == CLI_DONE) {
    cli_run_forward(&r.options);
    r.options.keep_poses = cli_value(args, "poses", 0) || cli_series_is_hdf5(cli_value(args, "out", 0));
    r.options.node = take_node;
    r.options.node_user = &rows;
    status = cli_run_make(&r);
  }
  if (status == CLI_DONE) {
    status = check_options(args, r.session.model);
  }
  if (status == CLI_DONE && cli_value(args, "restart", 0)) {
    status = cli_run_status(&r, mbg_run_read_state(r.session.ctx, r.run, cli_value(args, "restart", 0)));
  }
  if (status == CLI_DONE) {
    status = begin_stream(args, &r, &rows);
  }
  if (status == CLI_DONE) {
    status = cli_run_simulate(&r);
  }
  if (status == CLI_DONE) {
    cli_series_end(&rows.series);
    status = results(args, &r, &rows.series);
  }
  cli_series_destroy(&rows.series);
  free(rows.kept);
  cli_run_close(&r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    {"signals", "A,B,...", false, "these signals only"},
    {"interval", "SECONDS", false, "values at this interval; between fixed steps interpolated linearly"},
    {"out", "FILE", CLI_FILE_OUT, "write the signals: FILE.csv, FILE.h5, or - for CSV on standard output"},
    {"poses", "FILE.csv", CLI_FILE_OUT, "write positions and quaternions of all bodies, and modal coordinates"},
    {"state", "FILE", CLI_FILE_OUT, "write the final state as JSON: time, frames, twists"},
    {"restart", "FILE", false, "start from such a state"},
    {"plot", "FILE", CLI_PICTURE, "write a plot: FILE.svg, FILE.png or FILE.pdf; \"A,B;C\": these signals, NAME.svg"},
    CLI_OPTIONS_PANELS,
    CLI_OPTION_JSON,
    {"quiet", NULL, false, "print nothing but messages"},
};

extern const cli_command cli_cmd_simulate;

const cli_command cli_cmd_simulate = {
    .name = "simulate",
    .arguments = "MODEL",
    .summary = "signals over time; CSV, HDF5, plots",
    .details =
        "Runs a model and prints each signal's values at the start and the end, its extremes, and the criteria.\n"
        "Ctrl-C stops after the step at hand; the results so far are written and the exit status is 1.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = simulate,
};
