#include "sweep_plot.h"

#include "cli.h"
#include "plot.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PANELS_MAX = 24, FAMILY_MAX = 14 };

/* Memory of a plot: numbers, curves and texts, freed together. */
typedef struct {
  int n;
  void **blocks;
  int npanel;
  cli_panel panels[PANELS_MAX];
} figure;

static void *keep(figure *f, void *block) {
  f->blocks = cli_resize(f->blocks, (size_t)f->n + 1, sizeof(*f->blocks));
  return f->blocks[f->n++] = block;
}

static double *numbers(figure *f, int n) { return keep(f, cli_resize(NULL, (size_t)n + 1, sizeof(double))); }
static cli_curve *curves(figure *f, int n) { return keep(f, cli_resize(NULL, (size_t)n, sizeof(cli_curve))); }

static double x_of(const cli_sweep_table *t, int point, int axis) { return t->x[point * t->naxis + axis]; }
static double y_of(const cli_sweep_table *t, int point, int c) { return t->values[point * t->ncriterion + c]; }

static void add_panel(figure *f, const cli_sweep_table *t, int axis, int criterion, int n, const cli_curve *list) {
  f->panels[f->npanel++] = (cli_panel){.x_label = keep(f, cli_plot_label(t->names[axis], t->units[axis])),
                                       .y_label = t->criteria[criterion],
                                       .ncurve = n,
                                       .curves = list};
}

/* ---------------------------------------------------------------------- one parameter */

typedef struct {
  double x;
  int point;
} ordered;

static int by_x(const void *a, const void *b) {
  const double x = ((const ordered *)a)->x, y = ((const ordered *)b)->x;
  return x < y ? -1 : x > y;
}

/* each criterion with short pieces of its tangents */
static void draw_one(figure *f, const cli_sweep_table *t) {
  const int n = t->points;
  ordered *order = keep(f, cli_resize(NULL, (size_t)n, sizeof(*order)));
  for (int i = 0; i < n; i++) {
    order[i] = (ordered){x_of(t, i, 0), i};
  }
  qsort(order, (size_t)n, sizeof(*order), by_x);
  double *x = numbers(f, n), *tx = numbers(f, 3 * n);
  const double half = n > 1 ? 0.35 * (order[n - 1].x - order[0].x) / (n - 1) : 0;
  for (int i = 0; i < n; i++) {
    x[i] = order[i].x;
    tx[3 * i] = x[i] - half;
    tx[3 * i + 1] = x[i] + half;
    tx[3 * i + 2] = NAN;
  }
  for (int c = 0; c < t->ncriterion && c < PANELS_MAX; c++) {
    double *y = numbers(f, n), *ty = numbers(f, 3 * n);
    const bool slopes = t->slopes && half > 0;
    for (int i = 0; i < n; i++) {
      const double slope = slopes ? t->slopes[order[i].point * t->ncriterion + c] : NAN;
      y[i] = y_of(t, order[i].point, c);
      ty[3 * i] = y[i] - half * slope;
      ty[3 * i + 1] = y[i] + half * slope;
      ty[3 * i + 2] = NAN;
    }
    cli_curve *list = curves(f, 2);
    list[0] = (cli_curve){.name = slopes ? "value" : NULL, .count = n, .x = x, .y = y, .dots = true, .colour = 1};
    list[1] = (cli_curve){.name = "slope by the gradient", .count = 3 * n, .x = tx, .y = ty, .colour = 2};
    add_panel(f, t, 0, c, slopes ? 2 : 1, list);
  }
}

/* ---------------------------------------------------------------------- two parameters */

/* over one axis, a curve for each value of the other */
static void draw_two(figure *f, const cli_sweep_table *t) {
  const int family = t->counts[0] <= t->counts[1] ? 0 : 1, along = 1 - family;
  const int members = t->counts[family], n = t->counts[along], shown = members < FAMILY_MAX ? members : FAMILY_MAX;
  for (int c = 0; c < t->ncriterion && c < PANELS_MAX; c++) {
    cli_curve *list = curves(f, shown);
    for (int k = 0; k < shown; k++) {
      const int m = shown == members || shown == 1 ? k : k * (members - 1) / (shown - 1);
      double *x = numbers(f, n), *y = numbers(f, n);
      int point = 0;
      for (int i = 0; i < n; i++) {
        point = family == 0 ? m * n + i : i * members + m;
        x[i] = x_of(t, point, along);
        y[i] = y_of(t, point, c);
      }
      char *name = keep(f, cli_format("%s = %.4g", t->names[family], x_of(t, point, family)));
      list[k] = (cli_curve){.name = name, .count = n, .x = x, .y = y, .dots = n <= 40};
    }
    add_panel(f, t, along, c, shown, list);
    if (shown < members) {
      f->panels[f->npanel - 1].remark = keep(f, cli_format("%d of %d curves", shown, members));
    }
  }
}

/* ---------------------------------------------------------------------- points */

static void draw_points(figure *f, const cli_sweep_table *t) {
  for (int c = 0; c < t->ncriterion; c++) {
    for (int a = 0; a < t->naxis && f->npanel < PANELS_MAX; a++) {
      double *x = numbers(f, t->points), *y = numbers(f, t->points);
      for (int i = 0; i < t->points; i++) {
        x[i] = x_of(t, i, a);
        y[i] = y_of(t, i, c);
      }
      cli_curve *list = curves(f, 1);
      list[0] = (cli_curve){.count = t->points, .x = x, .y = y, .no_line = true};
      add_panel(f, t, a, c, 1, list);
    }
  }
}

int cli_sweep_plot(const char *path, const cli_sweep_table *t) {
  figure *f = cli_resize(NULL, 1, sizeof(*f));
  const bool lines = t->counts && t->naxis <= 2;
  const int wanted = lines ? t->ncriterion : t->ncriterion * t->naxis;
  f->n = f->npanel = 0;
  f->blocks = NULL;
  if (lines) {
    (t->naxis == 1 ? draw_one : draw_two)(f, t);
  } else {
    draw_points(f, t);
  }
  if (f->npanel < wanted) {
    fprintf(stderr, "note: the plot has the first %d of %d panels; --criteria chooses others\n", f->npanel, wanted);
  }
  const int columns = lines ? 0 : t->naxis < 3 ? t->naxis : 3;
  const int status = cli_plot_grid(path, t->title, f->panels, f->npanel, columns);
  for (int i = 0; i < f->n; i++) {
    free(f->blocks[i]);
  }
  free(f->blocks);
  free(f);
  return status;
}
