#include "mode_picture.h"

#include "cli.h"
#include "files.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 260, TITLE = 30, COLUMNS = 3, FRAMES = 16 };

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

static const char *style(const mbg_modes_line *line) {
  return line->kind == MBG_LINE_FORCE  ? "stroke-width=\"1\" stroke-dasharray=\"3 3\""
         : line->kind == MBG_LINE_BEAM ? "stroke-width=\"3\" stroke-linecap=\"round\""
                                       : "stroke-width=\"2\" stroke-linecap=\"round\"";
}

/* the values of one coordinate of one end over a period */
static void animate(FILE *f, const mbg_modes *modes, const view *v, const box *b, int mode, double amplitude, int line,
                    int end, int k, double seconds) {
  fprintf(f, "<animate attributeName=\"%c%d\" dur=\"%gs\" repeatCount=\"indefinite\" values=\"", k ? 'y' : 'x', end + 1,
          seconds);
  for (int i = 0; i <= FRAMES; i++) {
    double x[3], p[2], q[2];
    place(modes, mode, amplitude, 4 * acos(0) * i / FRAMES, line, end, x);
    project(v, x, p);
    pixel(b, p, q);
    fprintf(f, "%s%.1f", i > 0 ? ";" : "", q[k]);
  }
  fputs("\"/>", f);
}

static void write_line(FILE *f, const mbg_modes *modes, const view *v, const box *b, int mode, double amplitude,
                       int i) {
  const mbg_modes_line *line = mbg_modes_get_line(modes, i);
  double q[2][2], x[3], p[2];
  for (int e = 0; e < 2; e++) {
    project(v, line->x[e], p);
    pixel(b, p, q[e]);
  }
  fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#cccccc\" %s/>\n", q[0][0], q[0][1],
          q[1][0], q[1][1], style(line));
  for (int e = 0; e < 2; e++) {
    place(modes, mode, amplitude, 0, i, e, x);
    project(v, x, p);
    pixel(b, p, q[e]);
  }
  fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#0b62a4\" %s>", q[0][0], q[0][1], q[1][0],
          q[1][1], style(line));
  for (int e = 0; e < 2; e++) {
    for (int k = 0; k < 2; k++) {
      animate(f, modes, v, b, mode, amplitude, i, e, k, 2);
    }
  }
  fputs("</line>\n", f);
}

static void write_title(FILE *f, const mbg_modes *modes, int i) {
  const mbg_mode *m = mbg_modes_get_mode(modes, i);
  fprintf(f, "<text x=\"%d\" y=\"20\" text-anchor=\"middle\">%d: ", PANEL / 2, i + 1);
  switch (m->kind) {
  case MBG_MODE_ZERO:
    fputs("0 Hz", f);
    break;
  case MBG_MODE_OSCILLATION:
    fprintf(f, "%.4g Hz", m->frequency);
    if (mbg_modes_get_summary(modes)->damped) {
      fprintf(f, ", &#950; = %.2g", fabs(m->damping) < 1e-12 ? 0 : m->damping);
    }
    break;
  case MBG_MODE_DECAY:
    fprintf(f, "decay, %.4g /s", -m->re);
    break;
  case MBG_MODE_UNSTABLE:
    fprintf(f, "unstable, %.4g /s", m->re);
    break;
  }
  fputs("</text>\n", f);
}

static void write_panel(FILE *f, const mbg_modes *modes, const view *v, const box *b, double size, int i) {
  const double most = largest(modes, i, -1);
  fprintf(f, "<g transform=\"translate(%d %d)\">\n", i % COLUMNS * PANEL, i / COLUMNS * (PANEL + TITLE));
  write_title(f, modes, i);
  for (int k = 0; k < mbg_modes_get_summary(modes)->lines; k++) {
    write_line(f, modes, v, b, i, swing * size / fmax(most, 0.05), k);
  }
  fputs("</g>\n", f);
}

static void write_all(FILE *f, const mbg_modes *modes) {
  const int all = mbg_modes_get_summary(modes)->count, count = all < MODE_PANELS ? all : MODE_PANELS;
  const int columns = count < COLUMNS ? (count > 0 ? count : 1) : COLUMNS,
            rows = count > 0 ? (count - 1) / COLUMNS + 1 : 1;
  const view v = choose_view(modes, count);
  double low[3], high[3];
  const double size = extent(modes, low, high);
  const box b = measure(modes, &v, swing * size);
  fprintf(
      f,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      columns * PANEL, rows * (PANEL + TITLE));
  for (int i = 0; i < count; i++) {
    write_panel(f, modes, &v, &b, size, i);
  }
  fputs("</svg>\n", f);
}

int cli_mode_picture_write(const char *path, const mbg_modes *modes) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  write_all(f, modes);
  return cli_file_close(f, path);
}
