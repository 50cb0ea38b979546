#include "design_picture.h"

#include "canvas.h"
#include "cli.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 820, MARGIN = 30, THICK = 26 };

/* An element: its two nodes in the plane of the picture, its filling, and whether a beam begins with it. */
typedef struct {
  double a[2], b[2], fill;
  bool first;
} element;

typedef struct {
  const mbg_model *model;
  const mbg_run *run;
  double *frames;
  int axis[2]; /* of the world, to the right and up */
  int count;
  element *list;
} picture;

/* ---------------------------------------------------------------------- beams */

static int find_body(const mbg_model *m, const char *name) {
  for (int i = 0; i < mbg_model_body_count(m); i++) {
    if (!strcmp(mbg_model_body_name(m, i), name)) {
      return i;
    }
  }
  return -1;
}

static void node(const picture *p, int body, double x[2]) {
  for (int k = 0; k < 2; k++) {
    x[k] = p->frames[12 * body + 9 + p->axis[k]];
  }
}

/* "beam 'rod'" and "fill[3]": element 3 of the beam; false when it is no such number */
static bool parse(const mbg_run *run, int attribute, char *name, size_t size, int *index) {
  const char *owner = mbg_run_attribute_owner(run, attribute), *quote = strchr(owner, '\'');
  if (strncmp(owner, "beam '", 6) != 0 || sscanf(mbg_run_attribute_key(run, attribute), "fill[%d]", index) != 1) {
    return false;
  }
  snprintf(name, size, "%.*s", (int)strcspn(quote + 1, "'"), quote + 1);
  return true;
}

static void collect(picture *p) {
  char beam[256];
  int index;
  const size_t n = (size_t)mbg_run_attribute_count(p->run);
  double *values = cli_resize(NULL, n + 1, sizeof(*values));
  (void)mbg_run_attributes(p->run, values, NULL);
  p->list = cli_resize(NULL, n + 1, sizeof(*p->list));
  for (int i = 0; i < mbg_run_attribute_count(p->run); i++) {
    if (!parse(p->run, i, beam, sizeof(beam), &index)) {
      continue;
    }
    char *first = cli_format("%s.%d", beam, index), *second = cli_format("%s.%d", beam, index + 1);
    const int a = find_body(p->model, first), b = find_body(p->model, second);
    if (a >= 0 && b >= 0) {
      element *e = &p->list[p->count++];
      node(p, a, e->a);
      node(p, b, e->b);
      e->fill = values[i];
      e->first = index == 0;
    }
    free(first);
    free(second);
  }
  free(values);
}

/* the two axes of the world along which the bodies extend most */
static void choose_axes(picture *p) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  int least = 0;
  for (int b = 0; b < mbg_model_body_count(p->model); b++) {
    for (int k = 0; k < 3; k++) {
      low[k] = fmin(low[k], p->frames[12 * b + 9 + k]);
      high[k] = fmax(high[k], p->frames[12 * b + 9 + k]);
    }
  }
  for (int k = 1; k < 3; k++) {
    least = high[k] - low[k] <= high[least] - low[least] ? k : least;
  }
  p->axis[0] = least == 0 ? 1 : 0;
  p->axis[1] = least == 2 ? 1 : 2;
}

/* ---------------------------------------------------------------------- drawing */

/* from metres to pixels */
typedef struct {
  double low[2], scale, height;
} sheet;

static sheet lay_out(const picture *p) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int i = 0; i < p->count; i++) {
    for (int k = 0; k < 2; k++) {
      low[k] = fmin(low[k], fmin(p->list[i].a[k], p->list[i].b[k]));
      high[k] = fmax(high[k], fmax(p->list[i].a[k], p->list[i].b[k]));
    }
  }
  const double scale = (WIDTH - 2 * MARGIN) / fmax(high[0] - low[0], 1e-9);
  return (sheet){{low[0], low[1]}, scale, fmin(2000, scale * (high[1] - low[1]) + 2 * MARGIN + THICK)};
}

/* a point beside the axis of an element */
static void put_point(cli_canvas *c, const sheet *s, const element *e, double part, double offset, bool begin) {
  const double x = MARGIN + s->scale * (e->a[0] + part * (e->b[0] - e->a[0]) - s->low[0]);
  const double y = s->height - MARGIN - THICK / 2.0 - s->scale * (e->a[1] + part * (e->b[1] - e->a[1]) - s->low[1]);
  const double dx = e->b[0] - e->a[0], dy = e->b[1] - e->a[1], length = fmax(hypot(dx, dy), 1e-300);
  (begin ? cli_canvas_move : cli_canvas_line)(c, x + offset * dy / length, y + offset * dx / length);
}

/* the outline of a beam: along one side and back along the other; full: without its filling */
static void put_beam(cli_canvas *c, const sheet *s, const element *list, int n, bool full) {
  cli_canvas_begin(c, &(cli_pen){.colour = full ? "#dde3e8" : "#0b3c5d", .fill = true});
  for (int i = 0; i < 2 * n; i++) {
    const element *e = &list[i < n ? i : 2 * n - 1 - i];
    const double half = 0.5 * THICK * (full ? 1 : fmin(1, fmax(e->fill, 0.01))), side = i < n ? half : -half;
    const bool end = e == list || e == list + n - 1;
    if (end) {
      put_point(c, s, e, e == list ? 0 : 1, side, i == 0);
    } else {
      put_point(c, s, e, 0.5, side, false);
    }
  }
  cli_canvas_end(c);
}

static int draw(const picture *p, const char *path) {
  const sheet s = lay_out(p);
  cli_canvas *c = cli_canvas_open(path, WIDTH, s.height, mbg_model_name(p->model));
  if (!c) {
    return CLI_FAILED;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0, n; i < p->count; i += n) {
      n = 1;
      while (i + n < p->count && !p->list[i + n].first) {
        n++;
      }
      put_beam(c, &s, p->list + i, n, pass == 0);
    }
  }
  return cli_canvas_close(c);
}

/* the frames after one simulation of the design */
static int place_bodies(mbg_context *ctx, mbg_run *run, const mbg_optimize *opt, picture *p) {
  double t;
  int err = mbg_run_set_parameters(ctx, run, mbg_optimize_parameters(opt));
  if (err == MBG_OK) {
    err = mbg_run_simulate(ctx, run);
  }
  const size_t n = (size_t)mbg_model_body_count(p->model);
  p->frames = cli_resize(NULL, 12 * n + 1, sizeof(double));
  double *twists = cli_resize(NULL, 6 * n + 1, sizeof(double));
  if (err == MBG_OK) {
    err = mbg_run_last_state(run, &t, p->frames, twists);
  }
  free(twists);
  return err;
}

static bool has_filling(const mbg_run *run) {
  char beam[256];
  int index;
  for (int i = 0; i < mbg_run_attribute_count(run); i++) {
    if (parse(run, i, beam, sizeof(beam), &index)) {
      return true;
    }
  }
  return false;
}

int cli_design_picture(mbg_context *ctx, const mbg_optimize *opt, const mbg_run_options *options, const char *path) {
  picture p = {.model = mbg_optimize_get_summary(opt)->model};
  mbg_run *run = NULL;
  int status = CLI_DONE;
  int err = mbg_run_create(ctx, p.model, options, &run);
  if (err == MBG_OK && has_filling(run)) {
    err = place_bodies(ctx, run, opt, &p);
    p.run = run;
    if (err == MBG_OK) {
      choose_axes(&p);
      collect(&p);
      status = draw(&p, path);
    }
  }
  free(p.list);
  free(p.frames);
  mbg_run_destroy(run);
  return err < 0 ? CLI_FAILED : status;
}
