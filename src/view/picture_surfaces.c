/* Planes and roads as thin lines behind the mechanism. */
#include "view/picture.h"

#include <math.h>

static void place(const double *H, const double p[3], double out[3]) {
  for (int i = 0; i < 3; i++) {
    out[i] = H[9 + i] + H[3 * i] * p[0] + H[3 * i + 1] * p[1] + H[3 * i + 2] * p[2];
  }
}

enum { GROUND = 0xc6cdd8 };

/* a point of a surface: station s, between its left (0) and right (1) edge */
static void surface_point(const mbg_picture *p, const mbg__surface *o, int frame, double s, double side,
                          double out[3]) {
  const int k = s < 0 ? 0 : s < o->n - 1 ? (int)s : o->n - 2;
  const double part = fmin(1, fmax(0, s - k));
  const mbg__marker *marker = &p->scene.m->markers[o->marker];
  double h[12], x[3], at[3];
  for (int c = 0; c < 3; c++) {
    const double a = (1 - side) * o->edge[k][0][c] + side * o->edge[k][1][c];
    const double b = (1 - side) * o->edge[k + 1][0][c] + side * o->edge[k + 1][1][c];
    x[c] = (1 - part) * a + part * b;
  }
  if (o->height) {
    const double *y = o->height + (size_t)frame * (size_t)o->n + k;
    x[o->up] = (1 - part) * y[0] + part * y[1];
  }
  mbg__scene_flatten(&p->scene.design->markers[o->marker]->h, h);
  place(h, x, at);
  place(mbg__picture_frame(p, marker->body, frame), at, out);
}

/* a line from one station and side to another, in `points` - 1 pieces; of a road below a mechanism that travels, the
   stations are those around its wheel */
static void surface_line(mbg_picture *p, const mbg__surface *o, int points, const double from[2], const double to[2]) {
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_LINE, points, p->travels ? 0 : p->scene.m->markers[o->marker].body);
  if (!f) {
    return;
  }
  f->figure.stroke = GROUND;
  f->figure.width = 1;
  f->behind = 1;
  for (int i = 0; i < p->n * points; i++) {
    const int frame = i / points;
    const double part = (double)(i % points) / (points - 1);
    const double first = p->travels && o->foot ? o->foot[frame] : 0;
    surface_point(p, o, frame, first + from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1]),
                  f->world[i]);
  }
}

static void surface(mbg_picture *p, const mbg__surface *o) {
  enum { LINES = 9, WINDOW = 12 };
  const bool window = p->travels && o->foot;
  const double first = window ? -WINDOW : 0, last = window ? WINDOW : o->n - 1;
  const int along = o->plane ? LINES : 2, across = window ? LINES / 2 + 1 : LINES;
  const int points = o->plane ? 2 : window ? WINDOW + 1 : 2 * WINDOW + 1;
  for (int k = 0; k < along; k++) {
    const double side = (double)k / (along - 1);
    surface_line(p, o, points, (double[2]){first, side}, (double[2]){last, side});
  }
  for (int k = 0; k < across; k++) {
    const double s = first + (last - first) * k / (across - 1);
    surface_line(p, o, 2, (double[2]){s, 0}, (double[2]){s, 1});
  }
}

void mbg__picture_surfaces(mbg_picture *p) {
  for (int i = 0; i < p->surfaces.count; i++) {
    surface(p, &p->surfaces.at[i]);
  }
}
