#include "plot.h"

#include "cli.h"
#include "files.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 820, LEFT = 86, RIGHT = 20, TOP = 34, BOTTOM = 46, INNER = 200, COLOURS = 8, LINE = 16, COLUMNS = 1200 };

static const char *const colours[COLOURS] = {"#0b62a4", "#d1495b", "#2a7f3f", "#e08a00",
                                             "#6a4c93", "#00838f", "#8d5524", "#555555"};

/* An axis: data from low to high onto pixels from begin to end. */
typedef struct {
  bool log;
  double low, high;
  double begin, end;
} axis;

/* ---------------------------------------------------------------------- axes */

static bool fits(const axis *a, double x) { return isfinite(x) && (!a->log || x > 0); }

static double place(const axis *a, double x) {
  const double part = a->log ? log(x / a->low) / log(a->high / a->low) : (x - a->low) / (a->high - a->low);
  return a->begin + part * (a->end - a->begin);
}

static void widen(axis *a, double x) {
  if (fits(a, x)) {
    a->low = fmin(a->low, x);
    a->high = fmax(a->high, x);
  }
}

/* a step of 1, 2 or 5 times a power of ten, about `count` of them in the range */
static double nice_step(double range, int count) {
  const double raw = range / count, power = pow(10, floor(log10(raw))), part = raw / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

/* makes an empty range one that can be drawn; a logarithmic one ends at powers of ten */
static void finish_axis(axis *a, bool margin) {
  if (!(a->low <= a->high)) {
    a->low = a->log ? 0.1 : 0;
    a->high = 1;
  }
  if (a->log) {
    a->low = pow(10, floor(log10(a->low) + 1e-9));
    a->high = pow(10, ceil(log10(a->high) - 1e-9));
    a->high = a->high > a->low ? a->high : 10 * a->low;
    return;
  }
  if (!(a->high - a->low > 1e-12 * fmax(fabs(a->low), fabs(a->high)))) {
    const double half = a->low != 0 ? 0.1 * fabs(a->low) : 1;
    a->low -= half;
    a->high += half;
  } else if (margin) {
    const double step = nice_step(a->high - a->low, 5);
    a->low = step * floor(a->low / step + 1e-9);
    a->high = step * ceil(a->high / step - 1e-9);
  }
}

static void make_axes(const cli_panel *p, double top, axis *x, axis *y) {
  *x = (axis){p->log_x, INFINITY, -INFINITY, LEFT, WIDTH - RIGHT};
  *y = (axis){p->log_y, INFINITY, -INFINITY, top + INNER, top};
  for (int c = 0; c < p->ncurve; c++) {
    for (int i = 0; i < p->curves[c].count; i++) {
      if (fits(x, p->curves[c].x[i]) && fits(y, p->curves[c].y[i])) {
        widen(x, p->curves[c].x[i]);
        widen(y, p->curves[c].y[i]);
      }
    }
  }
  finish_axis(x, false);
  finish_axis(y, true);
}

/* ---------------------------------------------------------------------- text and ticks */

void cli_svg_text(FILE *f, const char *text) {
  for (; *text; text++) {
    switch (*text) {
    case '<':
      fputs("&lt;", f);
      break;
    case '>':
      fputs("&gt;", f);
      break;
    case '&':
      fputs("&amp;", f);
      break;
    default:
      fputc((unsigned char)*text < 0x20 ? ' ' : *text, f);
    }
  }
}

static void put_label(FILE *f, double x, double y, const char *anchor, const char *more, const char *text) {
  fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, more);
  cli_svg_text(f, text);
  fputs("</text>\n", f);
}

static void put_tick(FILE *f, const axis *own, const axis *other, bool horizontal, double value, const char *text) {
  const double at = place(own, value);
  if (horizontal) {
    fprintf(f, "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>\n", at, other->begin, other->end);
    put_label(f, at, other->begin + 16, "middle", "", text);
  } else {
    fprintf(f, "<path class=\"g\" d=\"M%.1f %.1fH%.1f\"/>\n", other->begin, at, other->end);
    put_label(f, other->begin - 7, at + 4, "end", "", text);
  }
}

static void put_linear_ticks(FILE *f, const axis *own, const axis *other, bool horizontal) {
  const double step = nice_step(own->high - own->low, horizontal ? 9 : 5);
  const int first = (int)ceil(own->low / step - 1e-9), last = (int)floor(own->high / step + 1e-9);
  for (int i = first; i <= last; i++) {
    char text[32];
    snprintf(text, sizeof(text), "%.6g", i * step);
    put_tick(f, own, other, horizontal, i * step, text);
  }
}

/* a label at a power of ten, or at `part` times one */
static void put_log_tick(FILE *f, const axis *own, const axis *other, bool horizontal, int power, int part) {
  char text[32];
  const double value = part * pow(10, power);
  if (power >= -3 && power <= 3) {
    snprintf(text, sizeof(text), "%.4g", value);
  } else {
    snprintf(text, sizeof(text), "%de%+03d", part, power);
  }
  put_tick(f, own, other, horizontal, value, text);
}

static void put_log_ticks(FILE *f, const axis *own, const axis *other, bool horizontal) {
  const int first = (int)round(log10(own->low)), last = (int)round(log10(own->high));
  const int each = (last - first) / (horizontal ? 10 : 6) + 1;
  for (int i = first; i <= last; i += each) {
    put_log_tick(f, own, other, horizontal, i, 1);
    if (last - first <= 2 && i < last) {
      put_log_tick(f, own, other, horizontal, i, 2);
      put_log_tick(f, own, other, horizontal, i, 5);
    }
  }
}

static void put_ticks(FILE *f, const axis *own, const axis *other, bool horizontal) {
  if (own->log) {
    put_log_ticks(f, own, other, horizontal);
  } else {
    put_linear_ticks(f, own, other, horizontal);
  }
}

/* ---------------------------------------------------------------------- curves */

/* points of a run of usable ones; a long run is drawn by the extremes of each pixel column */
static void put_piece(FILE *f, const axis *x, const axis *y, const cli_curve *c, int first, int last) {
  const int n = last - first, each = n > 2 * COLUMNS ? n / COLUMNS : 1;
  fprintf(f, "M%.1f %.1f", place(x, c->x[first]), place(y, c->y[first]));
  for (int i = first + 1; i <= last; i += each) {
    int low = i, high = i;
    for (int k = i; k < i + each && k <= last; k++) {
      low = c->y[k] < c->y[low] ? k : low;
      high = c->y[k] > c->y[high] ? k : high;
    }
    const int a = low < high ? low : high, b = low < high ? high : low;
    fprintf(f, "L%.1f %.1f", place(x, c->x[a]), place(y, c->y[a]));
    if (a != b) {
      fprintf(f, "L%.1f %.1f", place(x, c->x[b]), place(y, c->y[b]));
    }
  }
}

static void put_line(FILE *f, const axis *x, const axis *y, const cli_curve *c, const char *colour) {
  fprintf(f, "<path class=\"%s\" stroke=\"%s\" d=\"", c->dashed ? "d" : "l", c->dashed ? "#999" : colour);
  for (int i = 0; i < c->count; i++) {
    const int first = i;
    while (i < c->count && fits(x, c->x[i]) && fits(y, c->y[i])) {
      i++;
    }
    if (i > first) {
      put_piece(f, x, y, c, first, i - 1);
    }
  }
  fputs("\"/>\n", f);
}

static void put_dots(FILE *f, const axis *x, const axis *y, const cli_curve *c, const char *colour) {
  for (int i = 0; i < c->count; i++) {
    if (fits(x, c->x[i]) && fits(y, c->y[i])) {
      fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"/>\n", place(x, c->x[i]), place(y, c->y[i]),
              c->no_line ? "5" : "3", colour);
    }
  }
}

/* names in an upper corner, on a light ground */
static void put_legend(FILE *f, const cli_panel *p, double top) {
  int count = 0, widest = 0;
  for (int c = 0; c < p->ncurve; c++) {
    const int columns = p->curves[c].name ? cli_columns(p->curves[c].name) : 0;
    count += p->curves[c].name != NULL;
    widest = columns > widest ? columns : widest;
  }
  if (count == 0) {
    return;
  }
  const int width = 38 + 7 * widest, left = p->legend_right ? WIDTH - RIGHT - width - 6 : LEFT + 6;
  fprintf(f, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"#fff\" fill-opacity=\"0.85\"/>\n", left,
          top + 6, width, LINE * count + 6);
  double y = top + 6 + LINE;
  for (int c = 0; c < p->ncurve; c++) {
    const cli_curve *q = &p->curves[c];
    if (!q->name) {
      continue;
    }
    const char *colour = q->dashed ? "#999" : colours[c % COLOURS];
    if (q->no_line) {
      fprintf(f, "<circle cx=\"%d\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/>\n", left + 15, y - 4, colour);
    } else {
      fprintf(f, "<path class=\"%s\" stroke=\"%s\" d=\"M%d %.1fh20\"/>\n", q->dashed ? "d" : "l", colour, left + 5,
              y - 4);
    }
    put_label(f, left + 32, y, "start", "", q->name);
    y += LINE;
  }
}

/* ---------------------------------------------------------------------- panels */

static void put_panel(FILE *f, const cli_panel *p, double top, bool last) {
  axis x, y;
  make_axes(p, top, &x, &y);
  put_ticks(f, &x, &y, true);
  put_ticks(f, &y, &x, false);
  fprintf(f, "<path class=\"a\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x.begin, y.end, y.begin, x.end);
  for (int c = 0; c < p->ncurve; c++) {
    if (!p->curves[c].no_line) {
      put_line(f, &x, &y, &p->curves[c], colours[c % COLOURS]);
    }
    if (p->curves[c].dots || p->curves[c].no_line) {
      put_dots(f, &x, &y, &p->curves[c], colours[c % COLOURS]);
    }
  }
  if (p->title) {
    put_label(f, LEFT, top - 8, "start", " class=\"t\"", p->title);
  }
  if (p->x_label && last) {
    put_label(f, (LEFT + WIDTH - RIGHT) / 2.0, top + INNER + 34, "middle", "", p->x_label);
  }
  if (p->y_label) {
    char turn[96];
    snprintf(turn, sizeof(turn), " transform=\"rotate(-90 14 %.1f)\"", top + INNER / 2.0);
    put_label(f, 14, top + INNER / 2.0, "middle", turn, p->y_label);
  }
  put_legend(f, p, top);
}

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static void put_plot(FILE *f, const char *title, const cli_panel *panels, int npanel) {
  const int each = TOP + INNER + BOTTOM, height = 34 + npanel * each;
  fprintf(f,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
          "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
          "<style>path{fill:none}.g{stroke:#e4e4e4}.a{stroke:#444}.l{stroke-width:1.6;stroke-linejoin:round}"
          ".d{stroke-width:1.2;stroke-dasharray:6 4}.t{font-weight:bold}</style>\n"
          "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
          WIDTH, height, WIDTH, height, WIDTH, height);
  put_label(f, WIDTH / 2.0, 22, "middle", " font-size=\"15\"", title);
  for (int i = 0; i < npanel; i++) {
    const bool last = i + 1 == npanel || !same_text(panels[i].x_label, panels[i + 1].x_label);
    put_panel(f, &panels[i], 34 + i * each + TOP, last);
  }
  fputs("</svg>\n", f);
}

int cli_plot_write(const char *path, const char *title, const cli_panel *panels, int npanel) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  put_plot(f, title, panels, npanel);
  return cli_file_close(f, path);
}
