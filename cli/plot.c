#include "plot.h"

#include "cli.h"
#include "files.h"
#include "plot_axis.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RIGHT = 22, INNER = 200, LINE = 18, PIECES = 1200, COLOURS = 14, ROOM = 50, SAMPLE = 26 };
static const double size = 12; /* of letters */

/* seven hues that readers with any kind of colour vision tell apart (Okabe and Ito), drawn through; seven more in
   dashes, as far from each other and from the first (tests/cli/plots.py) */
static const char *const colours[COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                             "#56b4e9", "#222222", "#00226a", "#a5573f", "#1f9fa8",
                                             "#5900a8", "#7ebb37", "#8f6fd9", "#af002a"};
static const char *const dashes[] = {NULL, "7 3.5", "2 3", "9 3 2 3", "14 4"};

const char *cli_plot_colour(int k) { return colours[k % COLOURS]; }
const char *cli_plot_dash(int k) { return dashes[k / 7 % 5]; }

char *cli_plot_label(const char *name, const char *unit) {
  return unit && *unit ? cli_format("%s [%s]", name, unit) : cli_copy(name);
}

/* A panel on its way to the paper. */
typedef struct {
  const cli_panel *p;
  cli_axis x, y;
  int legend_rows;
  double left, head, height; /* margin to the left, height of title and legend, of the axes */
  double width;              /* of the axes */
  double top, begin;         /* place of the axes */
  bool last;                 /* has the label of x */
} place;

/* ---------------------------------------------------------------------- curves */

/* beyond the last colour other marks go with the colours */
static int mark_of(int c) { return c + c / COLOURS; }

static const char *colour_of(const cli_panel *p, int c) {
  return p->curves[c].dashed ? "#888888" : cli_plot_colour(p->curves[c].colour > 0 ? p->curves[c].colour - 1 : c);
}

static cli_pen pen_of(const cli_panel *p, int c) {
  const cli_curve *q = &p->curves[c];
  const char *dash = q->dash > 0 ? dashes[(q->dash - 1) % 5] : cli_plot_dash(q->colour > 0 ? q->colour - 1 : c);
  return (cli_pen){.kind = q->dashed ? "d" : "l",
                   .colour = colour_of(p, c),
                   .width = q->dashed ? 1.3 : 1.7,
                   .dash = q->dashed ? "6 4" : dash,
                   .round = true};
}

static bool fits(const place *a, const cli_curve *c, int i) {
  return cli_axis_fits(&a->x, c->x[i]) && cli_axis_fits(&a->y, c->y[i]);
}

static double at_x(const place *a, const cli_curve *c, int i) { return cli_axis_place(&a->x, c->x[i]); }
static double at_y(const place *a, const cli_curve *c, int i) { return cli_axis_place(&a->y, c->y[i]); }

/* points of a run of usable ones along x; a long run is drawn by the extremes of each pixel column */
static void draw_ordered(cli_canvas *v, const place *a, const cli_curve *c, int first, int last) {
  const int n = last - first, each = n > 2 * PIECES ? n / PIECES : 1;
  for (int i = first + 1; i <= last; i += each) {
    int low = i, high = i;
    for (int k = i; k < i + each && k <= last; k++) {
      low = c->y[k] < c->y[low] ? k : low;
      high = c->y[k] > c->y[high] ? k : high;
    }
    const int one = low < high ? low : high, two = low < high ? high : low;
    cli_canvas_line(v, at_x(a, c, one), at_y(a, c, one));
    if (one != two) {
      cli_canvas_line(v, at_x(a, c, two), at_y(a, c, two));
    }
  }
}

/* in a plane: points nearer to each other than a pixel are one */
static void draw_plane(cli_canvas *v, const place *a, const cli_curve *c, int first, int last) {
  double x0 = at_x(a, c, first), y0 = at_y(a, c, first);
  for (int i = first + 1; i <= last; i++) {
    const double x = at_x(a, c, i), y = at_y(a, c, i);
    if (hypot(x - x0, y - y0) >= 0.4 || i == last) {
      cli_canvas_line(v, x, y);
      x0 = x;
      y0 = y;
    }
  }
}

static void draw_line(cli_canvas *v, const place *a, int curve) {
  const cli_curve *c = &a->p->curves[curve];
  const cli_pen pen = pen_of(a->p, curve);
  cli_canvas_begin(v, &pen);
  for (int i = 0; i < c->count; i++) {
    const int first = i;
    while (i < c->count && fits(a, c, i)) {
      i++;
    }
    if (i > first) {
      cli_canvas_move(v, at_x(a, c, first), at_y(a, c, first));
      (a->p->no_order ? draw_plane : draw_ordered)(v, a, c, first, i - 1);
    }
  }
  cli_canvas_end(v);
}

/* dots at all points, or at those that stand alone, where a line shows nothing */
static void draw_dots(cli_canvas *v, const place *a, int curve, bool all) {
  const cli_curve *c = &a->p->curves[curve];
  const int shape = c->no_line ? mark_of(curve) : 0;
  const double radius = c->no_line && c->count < 200 ? 4 : c->no_line ? 2.5 : all && c->count > 100 ? 2 : 3;
  for (int i = 0; i < c->count; i++) {
    const bool alone = (i == 0 || !fits(a, c, i - 1)) && (i + 1 == c->count || !fits(a, c, i + 1));
    if (fits(a, c, i) && (all || alone)) {
      cli_canvas_mark(v, at_x(a, c, i), at_y(a, c, i), radius, shape, colour_of(a->p, curve));
    }
  }
}

/* ---------------------------------------------------------------------- legend */

/* a name without what does not fit */
static char *cut(const char *text, double width) {
  char *copy = cli_copy(text);
  if (cli_text_width(copy, size) <= width) {
    return copy;
  }
  size_t n = strlen(copy);
  do {
    n--;
    while (n > 0 && ((unsigned char)copy[n] & 0xc0) == 0x80) {
      n--;
    }
    copy[n] = 0;
  } while (n > 0 && cli_text_width(copy, size) > width - size);
  char *out = cli_format("%s\342\200\246", copy);
  free(copy);
  return out;
}

static void draw_sample(cli_canvas *v, const cli_panel *p, int c, double x, double y) {
  const cli_curve *q = &p->curves[c];
  const cli_pen pen = pen_of(p, c);
  cli_pen sample = pen;
  sample.kind = NULL; /* it is no curve */
  if (!q->no_line) {
    cli_canvas_stroke(v, &sample, x, y - 4, x + SAMPLE, y - 4);
  }
  if (q->no_line || q->dots) {
    cli_canvas_mark(v, x + SAMPLE / 2.0, y - 4, q->no_line ? 4 : 3, q->no_line ? mark_of(c) : 0, pen.colour);
  }
}

/* names in rows from the left; canvas NULL: only how many rows there are */
static int legend(cli_canvas *v, const cli_panel *p, double width, double x0, double y0) {
  double x = 0;
  int rows = 0;
  for (int c = 0; c < p->ncurve; c++) {
    if (!p->curves[c].name) {
      continue;
    }
    char *name = cut(p->curves[c].name, width - SAMPLE - 8);
    const double need = SAMPLE + 6 + cli_text_width(name, size);
    if (rows == 0 || x + need > width) {
      x = 0;
      rows++;
    }
    if (v) {
      const double y = y0 + LINE * rows;
      draw_sample(v, p, c, x0 + x, y);
      cli_canvas_text(v, x0 + x + SAMPLE + 6, y, &(cli_font){.size = size, .anchor = -1}, name);
    }
    x += need + 18;
    free(name);
  }
  return rows;
}

/* ---------------------------------------------------------------------- axes */

static void measure(place *a) {
  const cli_panel *p = a->p;
  a->x = cli_axis_make(p->log_x);
  a->y = cli_axis_make(p->log_y);
  a->x.whole = p->whole_x;
  for (int c = 0; c < p->ncurve; c++) {
    for (int i = 0; i < p->curves[c].count; i++) {
      const double x = p->curves[c].x[i], y = p->curves[c].y[i];
      if (fits(a, &p->curves[c], i)) {
        cli_axis_widen(&a->y, y);
      } else if (isfinite(x) && isfinite(y)) {
        a->y.nskipped++;
      }
      if (cli_axis_fits(&a->x, x)) {
        cli_axis_widen(&a->x, x);
      }
    }
  }
}

/* the same scale for both axes */
static void equalize(place *a) {
  const double x = (a->x.high - a->x.low) / a->width, y = (a->y.high - a->y.low) / a->height;
  const double most = fmax(x, y);
  cli_axis_stretch(&a->x, most * a->width);
  cli_axis_stretch(&a->y, most * a->height);
}

/* as many ticks as labels have room for */
static void set_x_ticks(place *a) {
  for (int count = 10; count >= 2; count--) {
    cli_axis_ticks(&a->x, count);
    if (a->x.ntick * (cli_axis_label_width(&a->x, size) + 14) <= a->width + 40) {
      return;
    }
  }
}

static bool is_empty(const place *a) { return !(a->y.low <= a->y.high); }

static void draw_ticks(cli_canvas *v, const place *a) {
  const cli_pen grid = {.kind = "g", .colour = "#e6e6e6", .width = 1}, fine = {.colour = "#f2f2f2", .width = 1},
                zero = {.kind = "g", .colour = "#bbbbbb", .width = 1};
  const double right = a->begin + a->width, bottom = a->top + a->height;
  for (int i = 0; i < a->x.nminor; i++) {
    const double x = cli_axis_place(&a->x, a->x.minor[i]);
    cli_canvas_stroke(v, &fine, x, a->top, x, bottom);
  }
  for (int i = 0; i < a->y.nminor; i++) {
    const double y = cli_axis_place(&a->y, a->y.minor[i]);
    cli_canvas_stroke(v, &fine, a->begin, y, right, y);
  }
  for (int i = 0; i < a->x.ntick; i++) {
    const double x = cli_axis_place(&a->x, a->x.tick[i]);
    cli_canvas_stroke(v, a->x.tick[i] == 0 ? &zero : &grid, x, a->top, x, bottom);
    cli_canvas_text(v, x, bottom + 17, &(cli_font){.size = size}, a->x.label[i]);
  }
  for (int i = 0; i < a->y.ntick; i++) {
    const double y = cli_axis_place(&a->y, a->y.tick[i]);
    cli_canvas_stroke(v, a->y.tick[i] == 0 ? &zero : &grid, a->begin, y, right, y);
    cli_canvas_text(v, a->begin - 7, y + 4, &(cli_font){.size = size, .anchor = 1}, a->y.label[i]);
  }
}

static void draw_frame(cli_canvas *v, const place *a) {
  const cli_pen frame = {.kind = "a", .colour = "#444444", .width = 1};
  cli_canvas_begin(v, &frame);
  cli_canvas_move(v, a->begin, a->top);
  cli_canvas_line(v, a->begin, a->top + a->height);
  cli_canvas_line(v, a->begin + a->width, a->top + a->height);
  cli_canvas_end(v);
}

/* factors of labels: above the axis of y, at the end of the axis of x */
static void draw_notes(cli_canvas *v, const place *a) {
  const cli_font small = {.size = 11, .anchor = -1, .colour = "#555555"};
  cli_font right = small;
  right.anchor = 1;
  cli_canvas_text(v, a->begin, a->top - 6, &small, a->y.note);
  cli_canvas_text(v, a->begin + a->width, a->top + a->height + 34, &right, a->x.note);
  const char *why = a->p->log_x || a->p->log_y ? "not positive" : "too large";
  char *skipped = a->y.nskipped > 0 ? cli_format("not shown, %s: %d", why, a->y.nskipped) : NULL;
  const char *remark = skipped ? skipped : a->p->remark;
  if (remark) {
    cli_canvas_text(v, a->begin + a->width, a->top - a->head + 14, &right, remark);
  }
  free(skipped);
}

static void draw_labels(cli_canvas *v, const place *a) {
  const cli_panel *p = a->p;
  double y = a->top - a->head;
  if (p->title) {
    char *title = cut(p->title, 0.9 * a->width);
    cli_canvas_text(v, a->begin, y + 14, &(cli_font){.size = size, .anchor = -1, .bold = true}, title);
    free(title);
    y += LINE;
  }
  (void)legend(v, p, a->width, a->begin, y - 4);
  if (p->x_label && a->last) {
    cli_canvas_text(v, a->begin + a->width / 2, a->top + a->height + 36, &(cli_font){.size = size}, p->x_label);
  }
  if (p->y_label) {
    char *label = cut(p->y_label, a->height + 20);
    cli_canvas_text(v, a->begin - a->left + 14, a->top + a->height / 2, &(cli_font){.size = size, .upwards = true},
                    label);
    free(label);
  }
}

static void draw_panel(cli_canvas *v, const place *a, bool empty) {
  draw_ticks(v, a);
  draw_frame(v, a);
  for (int c = 0; c < a->p->ncurve; c++) {
    if (!a->p->curves[c].no_line) {
      draw_line(v, a, c);
    } else {
      draw_dots(v, a, c, true);
    }
  }
  for (int c = 0; c < a->p->ncurve; c++) { /* dots of lines stand in front of all lines */
    if (!a->p->curves[c].no_line) {
      draw_dots(v, a, c, a->p->curves[c].dots);
    }
  }
  if (empty) {
    cli_canvas_text(v, a->begin + a->width / 2, a->top + a->height / 2, &(cli_font){.size = 14, .colour = "#888888"},
                    a->p->log_x || a->p->log_y ? "no values that are finite and positive" : "no finite values");
  }
  draw_labels(v, a);
  draw_notes(v, a);
}

/* ---------------------------------------------------------------------- the page */

typedef struct {
  int count, columns, rows;
  double width, height; /* of all */
  place *at;
  bool *empty;
} sheet;

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static void size_panel(place *a) {
  const cli_panel *p = a->p;
  a->height = INNER * (p->high > 0 ? p->high : p->equal ? 1.8 : 1);
  cli_axis_finish(&a->x, p->no_order);
  cli_axis_finish(&a->y, true);
  cli_axis_ticks(&a->y, (int)(a->height / 38));
  a->left = (p->y_label ? 22 : 6) + cli_axis_label_width(&a->y, size) + 10;
}

/* margins of a column and heads of a row are those of the largest */
static void align(sheet *s) {
  for (int i = 0; i < s->count; i++) {
    for (int k = i % s->columns; k < s->count; k += s->columns) {
      s->at[i].left = fmax(s->at[i].left, s->at[k].left);
    }
  }
  const double each = s->columns == 1 ? 820 : s->columns == 2 ? 560 : 440;
  s->width = (s->count > 0 && s->count < s->columns ? s->count : s->columns) * each;
  for (int i = 0; i < s->count; i++) {
    place *a = &s->at[i];
    const int below = i + s->columns;
    a->width = each - a->left - RIGHT;
    a->begin = i % s->columns * each + a->left;
    a->legend_rows = legend(NULL, a->p, a->width, 0, 0);
    a->head = (a->p->title || a->p->remark || a->y.nskipped ? LINE : 0) + LINE * a->legend_rows;
    a->head += a->head > 0 ? 8 : 4;
    a->head = a->y.note[0] ? a->head + LINE - 4 : a->head;
    a->last = below >= s->count || !same_text(a->p->x_label, s->at[below].p->x_label);
  }
}

static void lay_out(sheet *s, const char *title) {
  double y = title && *title ? 42 : 12;
  align(s);
  for (int row = 0; row < s->rows; row++) {
    double head = 0, height = 0;
    for (int i = row * s->columns; i < s->count && i < (row + 1) * s->columns; i++) {
      head = fmax(head, s->at[i].head);
      height = fmax(height, s->at[i].height);
    }
    for (int i = row * s->columns; i < s->count && i < (row + 1) * s->columns; i++) {
      place *a = &s->at[i];
      a->top = y + head;
      a->height = height;
      if (a->p->equal && !a->p->log_x && !a->p->log_y) {
        equalize(a);
        cli_axis_ticks(&a->y, (int)(a->height / 38));
      }
      set_x_ticks(a);
      a->x.begin = a->begin;
      a->x.end = a->begin + a->width;
      a->y.begin = a->top + a->height;
      a->y.end = a->top;
    }
    y += head + height + ROOM;
  }
  s->height = y + (s->count == 0 ? 30 : 0);
}

static int choose_columns(int npanel) { return npanel <= 3 ? 1 : npanel <= 10 ? 2 : 3; }

static sheet plan(const char *title, const cli_panel *panels, int npanel, int columns) {
  sheet s = {.count = npanel, .columns = columns > 0 ? columns : choose_columns(npanel)};
  s.rows = (npanel + s.columns - 1) / s.columns;
  s.at = cli_resize(NULL, (size_t)npanel + 1, sizeof(*s.at));
  s.empty = cli_resize(NULL, (size_t)npanel + 1, sizeof(*s.empty));
  for (int i = 0; i < npanel; i++) {
    s.at[i] = (place){.p = &panels[i]};
    measure(&s.at[i]);
    s.empty[i] = is_empty(&s.at[i]);
    size_panel(&s.at[i]);
  }
  lay_out(&s, title);
  return s;
}

static void draw(cli_canvas *v, sheet *s, const char *title) {
  if (title && *title) {
    cli_canvas_text(v, s->width / 2, 24, &(cli_font){.size = 15, .bold = true}, title);
  }
  if (s->count == 0) {
    cli_canvas_text(v, s->width / 2, s->height - 16, &(cli_font){.size = 14, .colour = "#888888"}, "nothing to plot");
  }
  for (int i = 0; i < s->count; i++) {
    draw_panel(v, &s->at[i], s->empty[i]);
  }
  free(s->at);
  free(s->empty);
}

int cli_plot_grid(const char *path, const char *title, const cli_panel *panels, int npanel, int columns) {
  sheet s = plan(title, panels, npanel, columns);
  cli_canvas *v = cli_canvas_open(path, s.width, s.height, title ? title : "");
  if (!v) {
    free(s.at);
    free(s.empty);
    return CLI_FAILED;
  }
  draw(v, &s, title);
  return cli_canvas_close(v);
}

int cli_plot_write(const char *path, const char *title, const cli_panel *panels, int npanel) {
  return cli_plot_grid(path, title, panels, npanel, 0);
}

void cli_plot_put(FILE *file, const char *title, const cli_panel *panels, int npanel, int columns) {
  sheet s = plan(NULL, panels, npanel, columns);
  cli_canvas *v = cli_canvas_inside(file, s.width, s.height, title);
  draw(v, &s, NULL);
  cli_canvas_finish(v);
}
