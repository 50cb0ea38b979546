#include "signal_plot.h"

#include "cli.h"
#include "csv_file.h"
#include "files.h"
#include "plot.h"
#include "run_options.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { PANELS_MAX = 24, CURVES_MAX = 64 };

/* A panel: signals over time, or over another signal. */
typedef struct {
  int n;
  int x[CURVES_MAX], y[CURVES_MAX]; /* signals of the model; x: -1 is the time */
} selection;

/* Everything of a plot. */
typedef struct {
  const char *option; /* that names the signals: "--panels" or "--plot" */
  const mbg_model *model;
  const cli_series *series; /* NULL: the options are only checked */
  int npanel, nother;
  selection *list; /* (npanel) */
  cli_csv *others; /* (nother) */
  cli_panel *panels;
  int ntext, room;
  char **texts; /* to be freed */
} figure;

static const char *keep(figure *f, char *text) {
  if (f->ntext == f->room) {
    f->room = 2 * f->room + 16;
    f->texts = cli_resize(f->texts, (size_t)f->room, sizeof(*f->texts));
  }
  return f->texts[f->ntext++] = text;
}

/* ---------------------------------------------------------------------- options */

static int find_signal(const mbg_model *model, const char *name) {
  for (int i = 0; i < mbg_model_signal_count(model); i++) {
    const char *own = mbg_model_signal_name(model, i);
    if (own && !strcmp(own, name)) {
      return i;
    }
  }
  return -1;
}

static int unknown(const figure *f, const char *name) {
  const mbg_model *model = f->model;
  const int n = mbg_model_signal_count(model);
  const char **names = cli_resize(NULL, (size_t)n + 1, sizeof(*names));
  int count = 0;
  for (int i = 0; i < n; i++) {
    if (mbg_model_signal_name(model, i)) {
      names[count++] = mbg_model_signal_name(model, i);
    }
  }
  const char *near = cli_nearest(name, names, count);
  free(names);
  return cli_bad_input("%s: the model has no signal '%s'%s%s%s", f->option, name, near ? "; did you mean '" : "",
                       near ? near : "", near ? "'?" : "");
}

/* is it among the columns of the run? */
static int in_series(const figure *f, int signal) {
  for (int c = 0; f->series && c < f->series->columns; c++) {
    if (f->series->signal[c] == signal) {
      return c;
    }
  }
  return -1;
}

static int take_name(const figure *f, const char *name, int *signal) {
  *signal = find_signal(f->model, name);
  if (*signal < 0) {
    return unknown(f, name);
  }
  return !f->series || in_series(f, *signal) >= 0
             ? CLI_DONE
             : cli_bad_input("%s: signal '%s' is not among those of --signals", f->option, name);
}

/* NAME, or X:Y */
static int take_curve(const figure *f, char *text, selection *to) {
  char *colon = strchr(text, ':');
  int *x = &to->x[to->n], *y = &to->y[to->n], status = CLI_DONE;
  *x = -1;
  if (to->n == CURVES_MAX) {
    return cli_bad_input("%s: more than %d signals in a panel", f->option, CURVES_MAX);
  }
  if (find_signal(f->model, text) < 0 && colon) {
    *colon = 0;
    status = take_name(f, text, x);
    text = colon + 1;
  }
  status = status == CLI_DONE ? take_name(f, text, y) : status;
  to->n++;
  if (status == CLI_DONE && (*x < 0) != (to->x[0] < 0)) {
    status = cli_bad_input("%s: a panel has either time or a signal to the right; separate '%s' by a semicolon",
                           f->option, mbg_model_signal_name(f->model, *y));
  }
  return status;
}

static int take_panel(figure *f, char *text) {
  if (f->npanel == PANELS_MAX) {
    return cli_bad_input("%s: more than %d panels", f->option, PANELS_MAX);
  }
  selection *to = &f->list[f->npanel++];
  int status = CLI_DONE;
  to->n = 0;
  for (char *next; status == CLI_DONE && text; text = next) {
    next = strchr(text, ',');
    if (next) {
      *next++ = 0;
    }
    text += strspn(text, " ");
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--) {
      text[n - 1] = 0;
    }
    status = *text ? take_curve(f, text, to) : cli_bad_input("%s: a name is missing", f->option);
  }
  return status;
}

/* the panels of the option; without it each signal has its own */
static int take_panels(figure *f, const char *text) {
  int status = CLI_DONE;
  f->list = cli_resize(NULL, PANELS_MAX, sizeof(*f->list));
  if (!text) {
    for (int c = 0; f->series && c < f->series->columns && c < PANELS_MAX; c++) {
      f->list[f->npanel++] = (selection){.n = 1, .x = {-1}, .y = {f->series->signal[c]}};
    }
    return status;
  }
  char *copy = cli_copy(text);
  for (char *at = copy, *next; status == CLI_DONE && at; at = next) {
    next = strchr(at, ';');
    if (next) {
      *next++ = 0;
    }
    status = take_panel(f, at);
  }
  free(copy);
  return status;
}

static int take_others(const cli_args *args, figure *f) {
  int status = CLI_DONE;
  for (const char *path; status == CLI_DONE && (path = cli_value(args, "beside", f->nother));) {
    f->others = cli_resize(f->others, (size_t)f->nother + 1, sizeof(*f->others));
    status = cli_csv_read(&f->others[f->nother++], "--beside", path);
    const cli_csv *csv = &f->others[f->nother - 1];
    if (status == CLI_DONE && !cli_csv_column(csv, "t")) {
      status = cli_bad_input("--beside: '%s' has no column 't'; --out FILE.csv writes such files", path);
    }
    bool any = false;
    for (int i = 0; status == CLI_DONE && i < csv->columns; i++) {
      any = any || find_signal(f->model, csv->names[i]) >= 0;
    }
    if (status == CLI_DONE && !any) {
      status = cli_bad_input("--beside: '%s' has no signal of this model", path);
    }
  }
  return status;
}

static bool has(const char *letters, char c) { return letters && strchr(letters, c); }

/* signals in the place of the file: --plot "A,B;C" */
static bool plot_names_signals(const cli_args *args, const mbg_model *model) {
  return cli_value(args, "plot", 0) && cli_names_signals(model, cli_value(args, "plot", 0));
}

static int take_all(const cli_args *args, figure *f) {
  static const char *const belong[] = {"panels", "log", "columns", "beside"};
  const char *log = cli_value(args, "log", 0), *panels = cli_value(args, "panels", 0),
             *plot = cli_value(args, "plot", 0);
  int columns = 0;
  for (int i = 0; i < 4; i++) {
    if (cli_value(args, belong[i], 0) && !plot) {
      return cli_bad_input("--%s belongs to --plot FILE", belong[i]);
    }
  }
  if (log && strcmp(log, "x") != 0 && strcmp(log, "y") != 0 && strcmp(log, "xy") != 0) {
    return cli_bad_input("--log: '%s': give x, y or xy", log);
  }
  int status = cli_count(args, "columns", &columns);
  if (status == CLI_DONE && columns > 4) {
    status = cli_bad_input("--columns: at most 4");
  }
  const bool named = plot_names_signals(args, f->model);
  if (status == CLI_DONE && named && panels) {
    status = cli_bad_input("--plot: '%s' names signals, as --panels does; give a file: --plot FILE.svg", plot);
  }
  f->option = named ? "--plot" : "--panels";
  status = status == CLI_DONE ? take_panels(f, named ? plot : panels) : status;
  return status == CLI_DONE ? take_others(args, f) : status;
}

/* ---------------------------------------------------------------------- curves */

static const char *unit_of(const figure *f, int signal) {
  return signal < 0 ? "s" : mbg_model_signal_unit(f->model, signal);
}

static const char *name_of(const figure *f, int signal) {
  return signal < 0 ? "t" : mbg_model_signal_name(f->model, signal);
}

static const char *common_unit(const figure *f, const int *signals, int n) {
  for (int i = 1; i < n; i++) {
    if (strcmp(unit_of(f, signals[i]), unit_of(f, signals[0])) != 0) {
      return NULL;
    }
  }
  return unit_of(f, signals[0]);
}

static const double *values_of(const figure *f, int signal) {
  const cli_series *s = f->series;
  return signal < 0 ? s->time : s->values + (size_t)in_series(f, signal) * (size_t)s->rows;
}

/* "a, b [m]" for an axis: names without repetition, the unit alone when there are many, nothing when units differ */
static const char *axis_label(figure *f, const int *signals, int n) {
  const char *unit = common_unit(f, signals, n);
  char *names = cli_copy("");
  for (int i = 0; i < n; i++) {
    bool again = false;
    for (int k = 0; k < i; k++) {
      again = again || signals[k] == signals[i];
    }
    if (!again) {
      char *longer = cli_format("%s%s%s", names, *names ? ", " : "", name_of(f, signals[i]));
      free(names);
      names = longer;
    }
  }
  char *label = NULL;
  if (unit) {
    label = cli_columns(names) <= 24 ? cli_plot_label(names, unit) : cli_format("[%s]", *unit ? unit : "1");
  }
  free(names);
  return label ? keep(f, label) : NULL;
}

/* curves of the run and of others beside it */
static void make_curves(figure *f, const selection *s, cli_panel *p) {
  const bool alone = s->n == 1, mixed = !common_unit(f, s->y, s->n);
  cli_curve *curves = cli_resize(NULL, (size_t)s->n * (size_t)(f->nother + 1), sizeof(*curves));
  int n = 0;
  for (int i = 0; i < s->n; i++) {
    const char *unit = mixed ? unit_of(f, s->y[i]) : "";
    const char *name = alone && f->nother == 0 ? NULL : keep(f, cli_plot_label(name_of(f, s->y[i]), unit));
    curves[n++] = (cli_curve){.name = name,
                              .count = f->series->rows,
                              .x = values_of(f, s->x[i]),
                              .y = values_of(f, s->y[i]),
                              .colour = alone ? 0 : i + 1,
                              .dash = alone || f->nother == 0 ? 0 : 1};
    for (int k = 0; k < f->nother; k++) {
      const cli_csv *o = &f->others[k];
      const double *x = cli_csv_column(o, name_of(f, s->x[i])), *y = cli_csv_column(o, name_of(f, s->y[i]));
      if (x && y) {
        char *text = cli_format("%s, %s", name_of(f, s->y[i]), o->name);
        curves[n++] = (cli_curve){.name = keep(f, text),
                                  .count = o->rows,
                                  .x = x,
                                  .y = y,
                                  .colour = alone ? 0 : i + 1,
                                  .dash = alone ? 0 : k + 2};
      }
    }
  }
  p->curves = curves;
  p->ncurve = n;
}

static void make_panel(figure *f, const selection *s, const char *log, cli_panel *p) {
  *p = (cli_panel){.log_x = has(log, 'x'), .log_y = has(log, 'y'), .no_order = s->x[0] >= 0};
  make_curves(f, s, p);
  p->x_label = axis_label(f, s->x, s->n);
  p->y_label = axis_label(f, s->y, s->n);
  if (p->no_order) { /* lengths in both directions: true to scale */
    const char *x = common_unit(f, s->x, s->n), *y = common_unit(f, s->y, s->n);
    p->equal = x && y && *x && !strcmp(x, y);
    p->high = 1.8;
  }
}

static void make_panels(figure *f, const char *log) {
  f->panels = cli_resize(NULL, (size_t)f->npanel + 1, sizeof(*f->panels));
  for (int i = 0; i < f->npanel; i++) {
    make_panel(f, &f->list[i], log, &f->panels[i]);
  }
}

static void destroy(figure *f) {
  for (int i = 0; f->panels && i < f->npanel; i++) {
    free((void *)f->panels[i].curves);
  }
  for (int i = 0; i < f->ntext; i++) {
    free(f->texts[i]);
  }
  for (int i = 0; i < f->nother; i++) {
    cli_csv_destroy(&f->others[i]);
  }
  free(f->texts);
  free(f->panels);
  free(f->others);
  free(f->list);
}

/* ---------------------------------------------------------------------- plots */

int cli_signal_plot_check(const cli_args *args, const mbg_model *model) {
  figure f = {.model = model};
  const int status = take_all(args, &f);
  destroy(&f);
  return status;
}

int cli_signal_plot(const cli_args *args, const cli_series *s, const mbg_model *model, const char *path) {
  figure f = {.model = model, .series = s};
  int columns = 0, status = take_all(args, &f);
  const bool named = plot_names_signals(args, model);
  char *own = named ? cli_model_file(model, ".svg") : NULL;
  (void)cli_count(args, "columns", &columns);
  if (status == CLI_DONE) {
    make_panels(&f, cli_value(args, "log", 0));
    if (!named && !cli_value(args, "panels", 0) && f.npanel < s->columns) {
      fprintf(stderr, "note: the plot has the first %d of %d signals; --panels or --signals chooses others\n", f.npanel,
              s->columns);
    }
    status = cli_plot_grid(own ? own : path, mbg_model_name(model), f.panels, f.npanel, columns);
  }
  if (status == CLI_DONE && own && !cli_flag(args, "quiet")) {
    fprintf(stderr, "note: the plot is %s; --plot FILE --panels \"...\" gives it another name\n", own);
  }
  free(own);
  destroy(&f);
  return status;
}

void cli_signal_plot_put(FILE *file, const cli_series *s, const mbg_model *model) {
  figure f = {.model = model, .series = s};
  (void)take_panels(&f, NULL);
  make_panels(&f, NULL);
  for (int i = 0; i < f.npanel; i++) {
    cli_plot_put(file, f.panels[i].y_label, &f.panels[i], 1, 2);
  }
  destroy(&f);
}
