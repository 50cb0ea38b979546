/* mbgrad linearize: linear models A, B, C, D with poles, zeros and plots */
#include "cli.h"
#include "files.h"
#include "linearize_files.h"
#include "linearize_tables.h"
#include "run_options.h"
#include "table.h"
#include "transitions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- tables */

static const char *plural(int count) { return count == 1 ? "" : "s"; }

static void print_summary(const mbg_linearize *s) {
  static const char *const about[] = {"the static equilibrium", "the start", "a steady motion", "a time of a run"};
  const mbg_linearize_summary *m = mbg_linearize_get_summary(s);
  char *title = cli_format("%s, linear model about %s, t = %g s", m->model, about[m->at], m->time);
  cli_heading(title);
  free(title);
  printf("\n  %d degree%s of freedom", m->freedoms, plural(m->freedoms));
  if (m->position_freedoms != m->freedoms) {
    printf(" of rates, %d of positions", m->position_freedoms);
  }
  printf(", %d state%s, %d input%s, %d output%s; %d unstable pole%s\n", m->states, plural(m->states), m->inputs,
         plural(m->inputs), m->outputs, plural(m->outputs), m->unstable, plural(m->unstable));
}

static void print_matrix(const mbg_linearize *s, char which, const double *A, const char *more) {
  int rows = 0, columns = 0;
  (void)mbg_linearize_matrix(s, which, &rows, &columns);
  char *title = cli_format("\n%c%s", which, more);
  cli_linear_matrix(title, A, rows, columns);
  free(title);
}

static void print_roots(const char *title, int n, const double *re, const double *im) {
  cli_table table = cli_table_make("rrrr");
  cli_table_texts(&table, "re [1/s]", "im [1/s]", "f [Hz]", "damping", NULL);
  for (int i = 0; i < n; i++) {
    const double size = hypot(re[i], im[i]);
    cli_table_number(&table, re[i]);
    cli_table_number(&table, im[i]);
    cli_table_number(&table, im[i] != 0 ? size / 6.283185307179586 : 0);
    cli_table_number(&table, size > 1e-9 ? -re[i] / size : 0);
  }
  cli_heading(title);
  if (n > 0) {
    cli_table_print(&table, 2);
  } else {
    puts("  none");
  }
  cli_table_destroy(&table);
}

static int print_zeros(cli_session *session, const mbg_linearize *s, double *re, double *im) {
  const mbg_linearize_summary *m = mbg_linearize_get_summary(s);
  for (int i = 0; i < m->inputs; i++) {
    for (int o = 0; o < m->outputs; o++) {
      int count = 0;
      char *title =
          cli_format("\nzeros from %s to %s", mbg_linearize_input(s, i)->name, mbg_linearize_output(s, o)->name);
      const int err = mbg_linearize_zeros(session->ctx, s, i, o, &count, re, im);
      if (err == MBG_OK) {
        print_roots(title, count, re, im);
      } else if (err == MBG_ERROR_INPUT) {
        cli_heading(title);
        puts("  the input does not act on the output");
        mbg_context_clear(session->ctx);
      }
      free(title);
      if (err < 0 && err != MBG_ERROR_INPUT) {
        return err;
      }
    }
  }
  return MBG_OK;
}

static void print_derivatives(const mbg_model *model, const mbg_linearize *s) {
  for (int i = 0; i < mbg_linearize_get_summary(s)->parameters; i++) {
    char name[256];
    (void)mbg_model_parameter_name(model, mbg_linearize_by(s, i), name, sizeof(name));
    char *more = cli_format(" by %s", name);
    for (char q = 'A'; q <= 'D'; q++) {
      print_matrix(s, q, mbg_linearize_derivative(s, q, i), more);
    }
    free(more);
  }
}

static int print_tables(cli_session *session, const mbg_linearize *s, const cli_args *args) {
  const mbg_linearize_summary *m = mbg_linearize_get_summary(s);
  double *re = cli_resize(NULL, (size_t)m->states + 1, sizeof(double));
  double *im = cli_resize(NULL, (size_t)m->states + 1, sizeof(double));
  int err = MBG_OK;
  print_summary(s);
  cli_linear_names(s);
  for (char q = 'A'; q <= 'D'; q++) {
    print_matrix(s, q, mbg_linearize_matrix(s, q, NULL, NULL), "");
  }
  (void)mbg_linearize_poles(s, re, im);
  print_roots("\npoles", m->states, re, im);
  if (cli_flag(args, "zeros")) {
    err = print_zeros(session, s, re, im);
  }
  print_derivatives(session->model, s);
  free(re);
  free(im);
  return err;
}

/* ---------------------------------------------------------------------- options */

typedef struct {
  mbg_linearize_options o;
  double time;   /* of a run; NAN: none */
  char *text[3]; /* lists of names, cut into pieces */
  const char **names[3];
  int *by;
  double from, to; /* frequencies, Hz */
  int locus;       /* parameter, -1: none */
  double first, last;
  double interval; /* of transitions; NAN: none */
} settings;

/* "a,b": pieces in *text, names in *list; their number, -1 when the option is not given */
static int split(const char *value, char **text, const char ***list) {
  int n = 0;
  if (!value) {
    return -1;
  }
  *text = cli_copy(value);
  *list = cli_resize(NULL, strlen(value) + 1, sizeof(**list));
  for (char *piece = strtok(*text, ","); piece; piece = strtok(NULL, ",")) {
    (*list)[n++] = piece;
  }
  return n;
}

/* "FROM:TO" */
static int read_range(const char *option, const char *text, double *from, double *to) {
  char *end;
  *from = strtod(text, &end);
  if (end != text && *end == ':') {
    const char *second = end + 1;
    *to = strtod(second, &end);
    if (end != second && !*end && isfinite(*from) && isfinite(*to) && *from < *to) {
      return CLI_DONE;
    }
  }
  return cli_bad_input("--%s: '%s' is no range FROM:TO of two ascending numbers", option, text);
}

static int read_at(const cli_args *args, settings *s) {
  const char *at = cli_value(args, "at", 0);
  char *end = NULL;
  s->time = NAN;
  if (!at) {
    return CLI_DONE;
  }
  const int found = mbg_linearize_at_find(at);
  if (found >= 0 && found != MBG_LINEARIZE_RUN) {
    s->o.at = (mbg_linearize_at)found;
    return CLI_DONE;
  }
  s->time = strtod(at, &end);
  s->o.at = MBG_LINEARIZE_RUN;
  return end != at && !*end && isfinite(s->time)
             ? CLI_DONE
             : cli_bad_input("--at: '%s' is neither equilibrium, start, steady nor a time in seconds", at);
}

static int read_by(const cli_args *args, const mbg_model *model, settings *s) {
  const char *value = cli_value(args, "by", 0);
  char *text = NULL;
  const char **names = NULL;
  const int n = split(value, &text, &names);
  int status = CLI_DONE;
  s->by = cli_resize(NULL, (size_t)(n > 0 ? n : 1), sizeof(int));
  for (int i = 0; i < n && status == CLI_DONE; i++) {
    s->by[i] = mbg_model_parameter_find(model, names[i]);
    if (s->by[i] < 0) {
      status = cli_bad_input("--by: the model has no parameter '%s'", names[i]);
    }
  }
  s->o.gradient = n > 0 || cli_flag(args, "gradient");
  s->o.nby = n > 0 ? n : 0;
  s->o.by = s->by;
  free(text);
  free((void *)names);
  return status;
}

static int read_locus(const cli_args *args, const mbg_model *model, settings *s) {
  const char *value = cli_value(args, "locus", 0), *range = value ? strchr(value, '=') : NULL;
  s->locus = -1;
  if (!value) {
    return cli_value(args, "plot", 0) ? cli_bad_input("--plot: what? Give --locus NAME=FROM:TO, or use --bode")
                                      : CLI_DONE;
  }
  if (!range) {
    return cli_bad_input("--locus: '%s' is not NAME=FROM:TO", value);
  }
  if (!cli_value(args, "plot", 0)) {
    return cli_bad_input("--locus needs --plot FILE.svg");
  }
  char *name = cli_format("%.*s", (int)(range - value), value);
  s->locus = mbg_model_parameter_find(model, name);
  const int status = s->locus < 0 ? cli_bad_input("--locus: the model has no parameter '%s'", name)
                                  : read_range("locus", range + 1, &s->first, &s->last);
  free(name);
  return status;
}

/* --transition SECONDS follows a run from its start, and goes with few other options */
static int read_transition(const cli_args *args, settings *s) {
  static const char *const others[] = {"at", "gradient", "by", "zeros", "bode", "frequencies", "locus", "plot"};
  const char *value = cli_value(args, "transition", 0);
  char *end = NULL;
  s->interval = NAN;
  if (!value) {
    return CLI_DONE;
  }
  s->interval = strtod(value, &end);
  if (end == value || *end || !isfinite(s->interval) || !(s->interval > 0)) {
    return cli_bad_input("--transition: '%s' is no positive time in seconds", value);
  }
  for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
    if (cli_has(args, others[i])) {
      return cli_bad_input("--transition follows a run from its start and does not go with --%s", others[i]);
    }
  }
  return CLI_DONE;
}

static int read_settings(const cli_args *args, const cli_session *session, settings *s) {
  static const char *const lists[] = {"inputs", "outputs", "coordinates"};
  const char *range = cli_value(args, "frequencies", 0), *out = cli_value(args, "out", 0);
  mbg_linearize_options_default(&s->o, sizeof(s->o));
  s->from = s->to = NAN;
  int n[3], status = read_at(args, s);
  for (int i = 0; i < 3; i++) {
    n[i] = split(cli_value(args, lists[i], 0), &s->text[i], &s->names[i]);
  }
  s->o.ninput = n[0];
  s->o.inputs = s->names[0];
  s->o.noutput = n[1];
  s->o.outputs = s->names[1];
  s->o.ncoordinate = n[2] > 0 ? n[2] : 0;
  s->o.coordinates = s->names[2];
  status = status == CLI_DONE ? read_transition(args, s) : status;
  status = status == CLI_DONE ? read_by(args, session->model, s) : status;
  status = status == CLI_DONE ? read_locus(args, session->model, s) : status;
  if (status == CLI_DONE && range) {
    status = read_range("frequencies", range, &s->from, &s->to);
    if (status == CLI_DONE && !(s->from > 1e-100 && s->to < 1e100)) {
      status = cli_bad_input("--frequencies: '%s' must be positive, from 1e-100 to 1e100 Hz", range);
    }
  }
  return status == CLI_DONE && out ? cli_linear_path(out) : status;
}

static void free_settings(settings *s) {
  for (int i = 0; i < 3; i++) {
    free(s->text[i]);
    free((void *)s->names[i]);
  }
  free(s->by);
}

/* ---------------------------------------------------------------------- the command */

static int print_result(cli_session *session, const mbg_linearize *s, const cli_args *args) {
  const char *out = cli_value(args, "out", 0);
  char *text;
  if (cli_flag(args, "json")) {
    const int result = mbg_linearize_json(session->ctx, s, &text);
    if (result == MBG_OK) {
      fputs(text, stdout);
      mbg_text_destroy(session->ctx, text);
    }
    return result;
  }
  return out && !strcmp(out, "-") ? MBG_OK : print_tables(session, s, args);
}

static int write_files(cli_session *session, const mbg_linearize *linear, const settings *s, const cli_args *args) {
  const char *out = cli_value(args, "out", 0), *bode = cli_value(args, "bode", 0), *plot = cli_value(args, "plot", 0);
  int status = bode ? cli_bode_write(bode, session, linear, s->from, s->to) : CLI_DONE;
  if (status == CLI_DONE && out) {
    status = cli_linear_write(out, linear);
  }
  if (status == CLI_DONE && plot) {
    status = cli_locus_write(plot, session, &s->o, s->locus, s->first, s->last);
  }
  return status;
}

/* the run up to the time */
static int run_to(cli_run *run, settings *s) {
  run->options.end = s->time;
  cli_run_forward(&run->options);
  int status = cli_run_make(run);
  if (status == CLI_DONE) {
    status = s->time > mbg_run_start(run->run)
                 ? cli_run_simulate(run)
                 : cli_bad_input("--at: the run starts at %g s; use --at start for that", mbg_run_start(run->run));
  }
  if (status == CLI_DONE && mbg_run_partial(run->run)) {
    status = cli_run_interrupted(run, "there is no linear model");
  }
  s->o.run = run->run;
  return status;
}

static int linearize(cli_run *run, const cli_args *args, settings *s) {
  cli_session *session = &run->session;
  mbg_linearize *linear = NULL;
  int status = read_settings(args, session, s), written = CLI_DONE;
  if (status == CLI_DONE && s->interval > 0) {
    return cli_transitions(run, args, &s->o, s->interval);
  }
  if (status == CLI_DONE && s->locus >= 0 && s->o.at == MBG_LINEARIZE_RUN) {
    status = cli_bad_input("--locus needs --at equilibrium, start or steady");
  }
  if (status == CLI_DONE && s->o.at == MBG_LINEARIZE_RUN) {
    status = run_to(run, s);
  } else {
    s->o.parameters = session->parameters;
  }
  if (status != CLI_DONE) {
    return status;
  }
  int result = mbg_linearize_create(session->ctx, session->model, &s->o, &linear);
  if (result == MBG_OK) {
    result = print_result(session, linear, args);
  }
  if (result == MBG_OK) {
    written = write_files(session, linear, s, args);
  }
  mbg_linearize_destroy(linear);
  status = cli_session_status(session, result);
  return status == CLI_DONE ? written : status;
}

static int linearize_command(const cli_args *args) {
  cli_run run;
  settings s = {0};
  int status = cli_run_begin(&run, args, false, cli_flag(args, "json"));
  if (status == CLI_DONE) {
    status = linearize(&run, args, &s);
  }
  free_settings(&s);
  cli_run_close(&run);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    {"at", "WHERE", false, "about the equilibrium (default), the start, a steady motion, or a time of a run [s]"},
    {"inputs", "A,B", false, "controls and parameters (default: all controls)"},
    {"outputs", "A,B", false, "signals (default: all that have a name)"},
    {"coordinates", "A,B", false, "these coordinates first: JOINT.angle, BODY.x, BODY.about_z, ..."},
    {"transition", "SECONDS", false, "A, B from sample to sample of a run, at this interval, instead of those of x'"},
    {"gradient", NULL, false, "derivatives of A, B, C, D by all parameters"},
    {"by", "A,B", false, "derivatives by these parameters"},
    {"zeros", NULL, false, "zeros from each input to each output"},
    {"out", "FILE", CLI_FILE_OUT, "write A, B, C, D: .csv, .h5, or .mtx (FILE-A.mtx, ...); - for standard output"},
    {"bode", "FILE", CLI_PICTURE, "write a plot of the frequency responses: FILE.svg, FILE.png or FILE.pdf"},
    {"frequencies", "FROM:TO", false, "range of that plot [Hz]"},
    {"locus", "NAME=FROM:TO", false, "poles while a parameter changes, for --plot"},
    CLI_OPTION_PLOT,
    CLI_OPTION_JSON,
};

extern const cli_command cli_cmd_linearize;

const cli_command cli_cmd_linearize = {
    .name = "linearize",
    .arguments = "MODEL",
    .summary = "linear model A, B, C, D with poles, zeros, Bode and root-locus plots",
    .details =
        "Prints x' = A x + B u, y = C x + D u about the static equilibrium near the start, the start itself, a steady\n"
        "motion or a time of a run. States are independent coordinates of joints and bodies, then their rates; of a\n"
        "mechanism with loops the program chooses them by a fixed rule, or takes those of --coordinates. Inputs are\n"
        "controls and parameters, outputs are signals. With --transition it follows a run and prints discrete models\n"
        "x(k+1) = A x(k) + B u(k), with inputs that are held from sample to sample.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = linearize_command,
};
