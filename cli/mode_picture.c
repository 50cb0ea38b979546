#include "mode_picture.h"

#include "cli.h"
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 260, TITLE = 30, COLUMNS = 3, FRAMES = 16, HEAD = 32 };

static const double swing = 0.15; /* largest displacement relative to the mechanism */

/* How three dimensions become two: the rows of a picture's axes. */
typedef struct {
  double right[3], up[3];
} view;

/* What fits into a panel. */
typedef struct {
  double low[2], high[2];
} box;

static void project(const view *v, const double x[3], double out[2]) {
  out[0] = v->right[0] * x[0] + v->right[1] * x[1] + v->right[2] * x[2];
  out[1] = v->up[0] * x[0] + v->up[1] * x[1] + v->up[2] * x[2];
}

static double extent(const mbg_modes *modes, double low[3], double high[3]) {
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
  }
  for (int i = 0; i < mbg_modes_get_summary(modes)->lines; i++) {
    const mbg_modes_line *line = mbg_modes_get_line(modes, i);
    for (int e = 0; e < 2; e++) {
      for (int k = 0; k < 3; k++) {
        low[k] = fmin(low[k], line->x[e][k]);
        high[k] = fmax(high[k], line->x[e][k]);
      }
    }
  }
  double size = 0;
  for (int k = 0; k < 3; k++) {
    size = fmax(size, high[k] - low[k]);
  }
  return size > 0 && isfinite(size) ? size : 1;
}

static void place(const mbg_modes *modes, int mode, double amplitude, double phase, int line, int end, double out[3]) {
  const mbg_modes_line *l = mbg_modes_get_line(modes, line);
  mbg_modes_displace(modes, mode, amplitude, phase, l->body[end], l->x[end], out);
}

/* largest distance of the picture's points from their places */
static double largest(const mbg_modes *modes, int mode, int axis) {
  double most = 0;
  for (int i = 0; i < mbg_modes_get_summary(modes)->lines; i++) {
    for (int e = 0; e < 2; e++) {
      for (int quarter = 0; quarter < 2; quarter++) {
        double x[3];
        place(modes, mode, 1, quarter * acos(0), i, e, x);
        const double *x0 = mbg_modes_get_line(modes, i)->x[e];
        for (int k = 0; k < 3; k++) {
          most = axis < 0 || axis == k ? fmax(most, fabs(x[k] - x0[k])) : most;
        }
      }
    }
  }
  return most;
}

/* along an axis without extent or motion, else from the corner */
static view choose_view(const mbg_modes *modes, int count) {
  double low[3], high[3];
  const double size = extent(modes, low, high);
  static const view along[3] = {{{0, 1, 0}, {0, 0, 1}}, {{1, 0, 0}, {0, 0, 1}}, {{1, 0, 0}, {0, 1, 0}}};
  static const view corner = {{0.866, -0.5, 0}, {0.35, 0.35, 0.87}};
  for (int k = 2; k >= 0; k--) {
    bool flat = high[k] - low[k] < 1e-6 * size;
    for (int m = 0; m < count; m++) {
      flat = flat && largest(modes, m, k) < 1e-6 * fmax(largest(modes, m, -1), 1e-12);
    }
    if (flat) {
      return along[k];
    }
  }
  return corner;
}

static box measure(const mbg_modes *modes, const view *v, double margin) {
  box b = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
  for (int i = 0; i < mbg_modes_get_summary(modes)->lines; i++) {
    for (int e = 0; e < 2; e++) {
      double p[2];
      project(v, mbg_modes_get_line(modes, i)->x[e], p);
      for (int k = 0; k < 2; k++) {
        b.low[k] = fmin(b.low[k], p[k] - margin);
        b.high[k] = fmax(b.high[k], p[k] + margin);
      }
    }
  }
  return b;
}

/* pixels in a panel */
static void pixel(const box *b, const double p[2], double out[2]) {
  const double width = b->high[0] - b->low[0], height = b->high[1] - b->low[1];
  const double scale = (PANEL - 20) / fmax(fmax(width, height), 1e-12);
  out[0] = PANEL / 2.0 + scale * (p[0] - (b->low[0] + b->high[0]) / 2);
  out[1] = TITLE + PANEL / 2.0 - scale * (p[1] - (b->low[1] + b->high[1]) / 2);
}

static cli_pen style(const mbg_modes_line *line, const char *colour) {
  const bool force = line->kind == MBG_LINE_FORCE;
  return (cli_pen){.colour = colour,
                   .width = force                         ? 1
                            : line->kind == MBG_LINE_BEAM ? 3
                                                          : 2,
                   .dash = force ? "3 3" : NULL,
                   .round = true};
}

/* both ends of a line over a period, in grey at rest */
static void draw_line(cli_canvas *c, const mbg_modes *modes, const view *v, const box *b, int mode, double amplitude,
                      int i) {
  const mbg_modes_line *line = mbg_modes_get_line(modes, i);
  const cli_pen grey = style(line, "#cccccc"), blue = style(line, cli_plot_colour(0));
  double q[2][2], x[3], p[2], path[FRAMES + 1][4];
  for (int e = 0; e < 2; e++) {
    project(v, line->x[e], p);
    pixel(b, p, q[e]);
  }
  cli_canvas_stroke(c, &grey, q[0][0], q[0][1], q[1][0], q[1][1]);
  for (int k = 0; k <= FRAMES; k++) {
    for (int e = 0; e < 2; e++) {
      place(modes, mode, amplitude, 4 * acos(0) * k / FRAMES, i, e, x);
      project(v, x, p);
      pixel(b, p, &path[k][2 * e]);
    }
  }
  cli_canvas_swing(c, &blue, FRAMES + 1, (const double(*)[4])path, 2);
}

static void draw_title(cli_canvas *c, const mbg_modes *modes, int i) {
  const mbg_mode *m = mbg_modes_get_mode(modes, i);
  char text[96];
  switch (m->kind) {
  case MBG_MODE_OSCILLATION:
    if (mbg_modes_get_summary(modes)->damped) {
      snprintf(text, sizeof(text), "%d: %.4g Hz, \316\266 = %.2g", i + 1, m->frequency,
               fabs(m->damping) < 1e-12 ? 0 : m->damping);
    } else {
      snprintf(text, sizeof(text), "%d: %.4g Hz", i + 1, m->frequency);
    }
    break;
  case MBG_MODE_DECAY:
    snprintf(text, sizeof(text), "%d: decay, %.4g /s", i + 1, -m->re);
    break;
  case MBG_MODE_UNSTABLE:
    snprintf(text, sizeof(text), "%d: unstable, %.4g /s", i + 1, m->re);
    break;
  default:
    snprintf(text, sizeof(text), "%d: 0 Hz", i + 1);
  }
  cli_canvas_text(c, PANEL / 2.0, 20, &(cli_font){.size = 13}, text);
}

static void draw_panel(cli_canvas *c, const mbg_modes *modes, const view *v, const box *b, double size, int i) {
  const double most = largest(modes, i, -1);
  cli_canvas_shift(c, i % COLUMNS * PANEL, HEAD + i / COLUMNS * (PANEL + TITLE));
  draw_title(c, modes, i);
  for (int k = 0; k < mbg_modes_get_summary(modes)->lines; k++) {
    draw_line(c, modes, v, b, i, swing * size / fmax(most, 0.05), k);
  }
  cli_canvas_shift(c, 0, 0);
}

static void draw_all(cli_canvas *c, const mbg_modes *modes, int count, double width) {
  const view v = choose_view(modes, count);
  double low[3], high[3];
  const double size = extent(modes, low, high);
  const box b = measure(modes, &v, swing * size);
  cli_canvas_text(c, width / 2, 24, &(cli_font){.size = 15, .bold = true}, mbg_modes_get_summary(modes)->model);
  for (int i = 0; i < count; i++) {
    draw_panel(c, modes, &v, &b, size, i);
  }
  if (count == 0) {
    cli_canvas_text(c, width / 2, HEAD + PANEL / 2.0, &(cli_font){.size = 14, .colour = "#888888"}, "no modes");
  }
}

int cli_mode_picture_write(const char *path, const mbg_modes *modes) {
  const int all = mbg_modes_get_summary(modes)->count, count = all < MODE_PANELS ? all : MODE_PANELS;
  const int columns = count < COLUMNS ? (count > 0 ? count : 1) : COLUMNS,
            rows = count > 0 ? (count - 1) / COLUMNS + 1 : 1;
  const double width = columns * PANEL;
  cli_canvas *c = cli_canvas_open(path, width, HEAD + rows * (PANEL + TITLE), mbg_modes_get_summary(modes)->model);
  if (!c) {
    return CLI_FAILED;
  }
  draw_all(c, modes, count, width);
  return cli_canvas_close(c);
}
