/* mbgrad modes: frequencies, damping and shapes of small vibrations, and their derivatives */
#include "cli.h"
#include "files.h"
#include "gradient_table.h"
#include "mode_picture.h"
#include "run_options.h"
#include "session.h"
#include "table.h"

#include "mbgrad/modes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 40, COLUMNS = 4 };

/* ---------------------------------------------------------------------- tables */

static const char *plural(int count) { return count == 1 ? "" : "s"; }

static void print_summary(const mbg_modes *modes) {
  static const char *const about[] = {"static equilibrium", "start", "steady motion"};
  const mbg_modes_summary *s = mbg_modes_get_summary(modes);
  char *title = cli_format("%s, modes about the %s", s->model, about[s->at]);
  cli_heading(title);
  free(title);
  printf("\n  %d degree%s of freedom", s->freedoms, plural(s->freedoms));
  if (s->position_freedoms != s->freedoms) {
    printf(" of rates, %d of positions", s->position_freedoms);
  }
  if (s->states > 0) {
    printf(" and %d state%s", s->states, plural(s->states));
  }
  if (s->redundant > 0) {
    printf(", %d redundant constraint%s left out", s->redundant, plural(s->redundant));
  }
  if (s->massless > 0) {
    printf(", %d of them without inertia", s->massless);
  }
  printf("; %s problem, %s\n", s->damped ? "complex" : "undamped", s->solver);
  if (s->freedoms == 0 && s->states == 0) {
    puts("  the model cannot vibrate: constraints and drivers hold all bodies");
  }
}

static void print_modes(const mbg_modes *modes) {
  const mbg_modes_summary *s = mbg_modes_get_summary(modes);
  cli_table table = cli_table_make("rrrrrll");
  cli_table_texts(&table, "mode", "f [Hz]", "damping", "re [1/s]", "im [1/s]", "moves most", "", NULL);
  for (int i = 0; i < s->count; i++) {
    const mbg_mode *m = mbg_modes_get_mode(modes, i);
    cli_table_format(&table, "%d", i + 1);
    cli_table_number(&table, m->frequency);
    cli_table_number(&table, m->damping);
    cli_table_number(&table, m->re);
    cli_table_number(&table, m->im);
    if (m->body >= 0) {
      cli_table_format(&table, "%s (%.0f %%)", mbg_modes_body_name(modes, m->body), 100 * m->share);
    } else if (m->state) {
      cli_table_format(&table, "state %s (%.0f %%)", m->state, 100 * m->share);
    } else {
      cli_table_text(&table, "");
    }
    if (m->multiplicity > 1) {
      cli_table_format(&table, "%s, %d equal", mbg_mode_kind_name(m->kind), m->multiplicity);
    } else {
      cli_table_text(&table, mbg_mode_kind_name(m->kind));
    }
  }
  if (s->count > 0) {
    cli_heading("\nmodes");
    cli_table_print(&table, 2);
  }
  cli_table_destroy(&table);
}

static void print_shape(const mbg_modes *modes, int i, int part, bool full) {
  const mbg_modes_summary *s = mbg_modes_get_summary(modes);
  const double *x = mbg_modes_shape(modes, i, part);
  const int most = full || s->bodies <= ROWS_MAX ? s->bodies : ROWS_MAX;
  cli_table table = cli_table_make("lrrrrrr");
  cli_table_texts(&table, "body", "x", "y", "z", "about x", "about y", "about z", NULL);
  for (int b = 0; b < most; b++) {
    cli_table_text(&table, mbg_modes_body_name(modes, b));
    for (int k = 0; k < 6; k++) {
      const double value = x[6 * b + k];
      cli_table_format(&table, "%.4f", fabs(value) < 5e-5 ? 0 : value);
    }
  }
  char *title = cli_format("\nshape of mode %d%s", i + 1, part ? ", a quarter of a period earlier" : "");
  cli_heading(title);
  free(title);
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
  if (most < s->bodies) {
    printf("  ... %d more (--full prints all)\n", s->bodies - most);
  }
}

static void print_shapes(const mbg_modes *modes, bool full) {
  for (int i = 0; i < mbg_modes_get_summary(modes)->count; i++) {
    print_shape(modes, i, 0, full);
    const double *imaginary = mbg_modes_shape(modes, i, 1);
    double most = 0;
    for (int k = 0; imaginary && k < 6 * mbg_modes_get_summary(modes)->bodies; k++) {
      most = fmax(most, fabs(imaginary[k]));
    }
    if (most > 1e-3) {
      print_shape(modes, i, 1, full);
    }
  }
}

/* A derivative that is listed: of a mode's frequency, damping ratio or real eigenvalue. */
typedef struct {
  const char *what;
  int mode;
  const double *gradient;
} listed;

static int list_derivatives(const mbg_modes *modes, listed *out) {
  const mbg_modes_summary *s = mbg_modes_get_summary(modes);
  int n = 0;
  for (int i = 0; i < s->count; i++) {
    const mbg_mode *m = mbg_modes_get_mode(modes, i);
    if (m->frequency > 0) {
      out[n++] = (listed){"f", i, mbg_modes_frequency_gradient(modes, i)};
    } else if (m->kind != MBG_MODE_ZERO) {
      out[n++] = (listed){"re", i, mbg_modes_eigenvalue_gradient(modes, i, 0)};
    }
  }
  for (int i = 0; s->damped && i < s->count; i++) {
    if (mbg_modes_get_mode(modes, i)->frequency > 0) {
      out[n++] = (listed){"damping", i, mbg_modes_damping_gradient(modes, i)};
    }
  }
  return n;
}

static void print_block(const mbg_model *model, const double *p, const cli_entries *e, const listed *d, int count) {
  static const char align[] = "lrlrrrr";
  char own[sizeof(align)];
  snprintf(own, sizeof(own), "%.*s", 3 + count, align);
  cli_table table = cli_table_make(own);
  cli_table_texts(&table, "parameter", "value", "unit", NULL);
  for (int k = 0; k < count; k++) {
    cli_table_format(&table, "d %s %d", d[k].what, d[k].mode + 1);
  }
  for (int i = 0; i < e->count; i++) {
    char name[256];
    (void)mbg_model_parameter_name(model, e->index[i], name, sizeof(name));
    cli_table_text(&table, name);
    cli_table_format(&table, "%.6g", p[e->index[i]]);
    cli_table_text(&table, mbg_model_parameter_unit(model, e->index[i]));
    for (int k = 0; k < count; k++) {
      cli_table_format(&table, "%.6g", d[k].gradient[e->index[i]]);
    }
  }
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

/* notes on the derivatives */
static void print_notes(const mbg_modes *modes) {
  const mbg_modes_summary *s = mbg_modes_get_summary(modes);
  bool repeated = false, none = false;
  for (int i = 0; i < s->count; i++) {
    const mbg_mode *m = mbg_modes_get_mode(modes, i);
    const double *g = mbg_modes_eigenvalue_gradient(modes, i, 0);
    repeated = repeated || (m->kind != MBG_MODE_ZERO && m->multiplicity > 1);
    for (int p = 0; g && p < s->parameters; p++) {
      none = none || isnan(g[p]);
    }
  }
  if (repeated) {
    puts("\n  equal modes: derivatives of the branches into which one parameter alone splits them, ascending");
  }
  if (none) {
    puts("\n  nan: no derivative; the parameter pushes along a free motion, or the mode is defective");
  }
}

static void print_gradient(const cli_session *session, const mbg_modes *modes, bool full) {
  const mbg_model *model = session->model;
  listed *d = cli_resize(NULL, 2 * (size_t)mbg_modes_get_summary(modes)->count + 1, sizeof(*d));
  const int n = list_derivatives(modes, d), np = mbg_model_parameter_count(model);
  cli_heading("\nderivatives");
  for (int first = 0; np > 0 && first < n; first += COLUMNS) {
    const int count = n - first < COLUMNS ? n - first : COLUMNS;
    cli_entries e = {.index = cli_resize(NULL, (size_t)np, sizeof(int))};
    for (int i = 0; i < np && (full || i < ROWS_MAX); i++) {
      e.index[e.count++] = i;
    }
    print_block(model, session->parameters, &e, d + first, count);
    if (e.count < np) {
      printf("  ... %d more (--full prints all)\n", np - e.count);
    }
    if (first + COLUMNS < n) {
      putchar('\n');
    }
    free(e.index);
  }
  free(d);
  print_notes(modes);
}

/* ---------------------------------------------------------------------- files */

/* a line per mode: numbers, derivatives, shape */
static void write_csv(FILE *f, const mbg_model *model, const mbg_modes *modes) {
  static const char *const axes[] = {"x", "y", "z", "about_x", "about_y", "about_z"};
  const mbg_modes_summary *s = mbg_modes_get_summary(modes);
  fputs("mode,kind,frequency,damping,re,im,multiplicity", f);
  for (int p = 0; s->gradient && p < s->parameters; p++) {
    char name[256];
    (void)mbg_model_parameter_name(model, p, name, sizeof(name));
    fprintf(f, ",d_frequency/d_%s", name);
  }
  for (int b = 0; b < 6 * s->bodies; b++) {
    fprintf(f, ",%s.%s", mbg_modes_body_name(modes, b / 6), axes[b % 6]);
  }
  fputc('\n', f);
  for (int i = 0; i < s->count; i++) {
    const mbg_mode *m = mbg_modes_get_mode(modes, i);
    const double *g = mbg_modes_frequency_gradient(modes, i), *x = mbg_modes_shape(modes, i, 0);
    fprintf(f, "%d,%s,%.15g,%.15g,%.15g,%.15g,%d", i + 1, mbg_mode_kind_name(m->kind), m->frequency, m->damping, m->re,
            m->im, m->multiplicity);
    for (int p = 0; s->gradient && p < s->parameters; p++) {
      if (g && !isnan(g[p])) {
        fprintf(f, ",%.15g", g[p]);
      } else {
        fputc(',', f);
      }
    }
    for (int b = 0; b < 6 * s->bodies; b++) {
      fprintf(f, ",%.9g", x[b]);
    }
    fputc('\n', f);
  }
}

static int write_csv_file(const char *path, const mbg_model *model, const mbg_modes *modes) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  write_csv(f, model, modes);
  return cli_file_close(f, path);
}

/* ---------------------------------------------------------------------- the command */

static int print_json(cli_session *session, const mbg_modes *modes) {
  char *text;
  const int result = mbg_modes_json(session->ctx, modes, &text);
  if (result == MBG_OK) {
    fputs(text, stdout);
    mbg_text_destroy(session->ctx, text);
  }
  return result;
}

static int read_options(const cli_args *args, mbg_modes_options *opt) {
  const char *at = cli_value(args, "at", 0), *count = cli_value(args, "modes", 0);
  if (at) {
    const int found = mbg_modes_at_find(at);
    if (found < 0) {
      return cli_bad_input("--at: '%s' is neither equilibrium, start nor steady", at);
    }
    opt->at = (mbg_modes_at)found;
  }
  if (count) {
    char *end;
    const long n = strtol(count, &end, 10);
    if (end == count || *end || n < 1 || n > 10000) {
      return cli_bad_input("--modes: '%s' is no number between 1 and 10000", count);
    }
    opt->count = (int)n;
  }
  opt->undamped = cli_flag(args, "undamped");
  opt->gradient = cli_flag(args, "gradient");
  return CLI_DONE;
}

static int print_result(cli_session *session, const mbg_modes *modes, const cli_args *args) {
  const bool full = cli_flag(args, "full"), csv = cli_value(args, "csv", 0) && !strcmp(cli_value(args, "csv", 0), "-");
  if (cli_flag(args, "json")) {
    return print_json(session, modes);
  }
  if (csv) {
    return MBG_OK;
  }
  print_summary(modes);
  print_modes(modes);
  if (cli_flag(args, "gradient")) {
    print_gradient(session, modes, full);
  }
  if (cli_flag(args, "shapes")) {
    print_shapes(modes, full);
  }
  return MBG_OK;
}

static int write_files(const cli_session *session, const mbg_modes *modes, const cli_args *args) {
  const char *csv = cli_value(args, "csv", 0), *plot = cli_value(args, "plot", 0);
  int status = csv ? write_csv_file(csv, session->model, modes) : CLI_DONE;
  if (status == CLI_DONE && plot) {
    status = cli_mode_picture_write(plot, modes);
  }
  return status;
}

static int find_modes(cli_session *session, const cli_args *args) {
  mbg_modes_options opt;
  mbg_modes *modes = NULL;
  mbg_modes_options_default(&opt, sizeof(opt));
  int status = read_options(args, &opt), written = CLI_DONE;
  if (status != CLI_DONE) {
    return status;
  }
  opt.parameters = session->parameters;
  int result = mbg_modes_create(session->ctx, session->model, &opt, &modes);
  if (result == MBG_OK) {
    result = print_result(session, modes, args);
  }
  if (result == MBG_OK) {
    written = write_files(session, modes, args);
  }
  mbg_modes_destroy(modes);
  status = cli_session_status(session, result);
  return status == CLI_DONE ? written : status;
}

static int modes_command(const cli_args *args) {
  cli_session session;
  int status = cli_session_open(&session, args);
  if (status == CLI_DONE) {
    status = find_modes(&session, args);
  }
  cli_session_close(&session);
  return status;
}

static const cli_option options[] = {
    CLI_OPTION_SET,
    CLI_OPTION_RUN,
    {"at", "WHERE", false, "about the equilibrium (default), the start, or a steady motion"},
    {"modes", "N", false, "how many, the lowest ones (10); zero ones are printed besides"},
    {"undamped", NULL, false, "leave damping out"},
    {"gradient", NULL, false, "derivatives of frequencies and damping by the parameters"},
    {"shapes", NULL, false, "print the shapes"},
    {"csv", "FILE", CLI_FILE_OUT, "write modes, derivatives and shapes, a line each; - for standard output"},
    {"plot", "FILE", CLI_PICTURE, "write the shapes: FILE.svg (animated), FILE.png or FILE.pdf"},
    CLI_OPTION_JSON,
    CLI_OPTION_FULL,
};

extern const cli_command cli_cmd_modes;

const cli_command cli_cmd_modes = {
    .name = "modes",
    .arguments = "MODEL",
    .summary = "equilibrium, eigenfrequencies, damping and shapes, with their derivatives",
    .details =
        "Finds the static equilibrium near the start, linearizes the constrained model there and prints its modes:\n"
        "frequency |s|/(2 pi) and damping -re(s)/|s| of motions exp(s t). With --gradient the derivatives by every\n"
        "parameter, the shift of the equilibrium included. Without damping, or with --undamped, the problem is\n"
        "symmetric. About a steady motion everything turns as one rigid body at the rates of the start.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = modes_command,
};
