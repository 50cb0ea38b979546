/* Pictures without a browser: a parallel projection of the scene, far figures first. */
#include "view/picture.h"

#include "run/run.h"
#include "run/run_internal.h"
#include "view/view_internal.h"

#include <stdlib.h>
#include <string.h>

static const mbg_picture_options defaults = {
    .frames = 1, .time = NAN, .width = 480, .height = NAN, .azimuth = NAN, .elevation = NAN};

void mbg_picture_options_default(mbg_picture_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

/* ---------------------------------------------------------------------- motion */

const double *mbg__picture_frame(const mbg_picture *p, int body, int frame) {
  static const double ground[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  return body < 0 ? ground
                  : mbg_run_value_array(p->run) + (size_t)p->node[frame] * (size_t)mbg_run_value_width(p->run) +
                        mbg_run_frame_column(p->run, body);
}

static int first_mode(const mbg_model *m, int body) {
  int first = 0;
  for (int i = 0; i < m->nmodal && m->modals[i].body != body; i++) {
    first += m->modals[i].n;
  }
  return first;
}

void mbg__picture_marker(const mbg_picture *p, int marker, int frame, double at[3]) {
  const mbg_model *m = p->scene.m;
  const int body = m->markers[marker].body;
  const mbg__modal_handle *handle = &p->scene.design->handles[marker];
  const double *H = mbg__picture_frame(p, body, frame);
  double h[12];
  mbg__scene_flatten(&p->scene.design->markers[marker]->h, h);
  if (handle->n > 0) {
    const double *eta = p->eta + (size_t)p->node[frame] * (size_t)mbg_model_modal_count(m) + first_mode(m, body);
    for (int j = 0; j < 3 * handle->n; j++) {
      h[9 + j % 3] += re(handle->P[6 * (j / 3) + j % 3]) * eta[j / 3];
    }
  }
  for (int i = 0; i < 3; i++) {
    at[i] = H[9 + i] + H[3 * i] * h[9] + H[3 * i + 1] * h[10] + H[3 * i + 2] * h[11];
  }
}

/* the node nearest to a time; inner nodes of steps are no motion */
static int nearest(const mbg_run *run, double t) {
  int best = 0;
  for (int i = 0; i < mbg_run_node_count(run); i++) {
    const bool nearer = fabs(mbg_run_node_time(run, i) - t) < fabs(mbg_run_node_time(run, best) - t);
    best = nearer && !mbg_run_node_inner(run, i) ? i : best;
  }
  return best;
}

static int take_motion(mbg_context *ctx, mbg_picture *p, const mbg_picture_options *o) {
  const int nodes = mbg_run_node_count(p->run), modal = mbg_model_modal_count(p->scene.m);
  const double t0 = mbg_run_node_time(p->run, 0), t1 = mbg_run_node_time(p->run, nodes - 1);
  int err = MBG_OK;
  p->n = o->frames;
  p->node = MBG_TAKE(&p->arena, int, p->n);
  p->t = MBG_TAKE(&p->arena, double, p->n);
  p->eta = MBG_TAKE(&p->arena, double, 2 * (size_t)nodes * (size_t)modal + 1);
  MBG_TRY(mbg__arena_check(ctx, &p->arena));
  for (int i = 0; i < p->n; i++) {
    const double t = p->n > 1 ? t0 + (t1 - t0) * i / (p->n - 1) : isnan(o->time) ? t0 : o->time;
    p->node[i] = nearest(p->run, t);
    p->t[i] = mbg_run_node_time(p->run, p->node[i]);
  }
  if (modal > 0) {
    MBG_TRY(mbg_run_modal(p->run, p->eta, p->eta + (size_t)nodes * (size_t)modal));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- camera */

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  }
}

static void normalize(double v[3]) {
  const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int k = 0; k < 3; k++) {
    v[k] /= length;
  }
}

/* the axis along which the motion has no extent: that of a motion in a plane; -1: none */
static int thin_axis(const mbg_picture *p) {
  const double *start = mbg__frames(p->scene.m) > 0 ? mbg__picture_frame(p, 0, 0) + 9 : NULL;
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
  const mbg_model *m = p->scene.m;
  if (p->scene.planar) {
    return 2;
  }
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < p->n; i++) {
      const double way = p->travels ? mbg__picture_frame(p, 0, i)[9 + k] - start[k] : 0;
      for (int b = 0; b < mbg__frames(m); b++) {
        low[k] = fmin(low[k], mbg__picture_frame(p, b, i)[9 + k] - way);
        high[k] = fmax(high[k], mbg__picture_frame(p, b, i)[9 + k] - way);
      }
      for (int j = 0; j < m->njoint; j++) {
        double at[3];
        mbg__picture_marker(p, m->pairs[m->joints[j].pair].B, i, at);
        low[k] = fmin(low[k], at[k] - way);
        high[k] = fmax(high[k], at[k] - way);
      }
    }
    size = fmax(size, high[k] - low[k]);
  }
  for (int k = 2; k >= 0; k--) {
    if (high[k] - low[k] < 0.02 * size) {
      return k;
    }
  }
  return -1;
}

static bool has_tyre(const mbg_model *m) {
  for (int i = 0; i < m->nforce; i++) {
    if (m->forces[i].type && !strcmp(m->forces[i].type->key, "tyre")) {
      return true;
    }
  }
  return false;
}

/* axes of the picture: right, up, and towards the eye */
static void take_camera(mbg_picture *p, const mbg_picture_options *o) {
  const int thin = has_tyre(p->scene.m) ? -1 : thin_axis(p);
  double up[3], x[3], y[3];
  memcpy(up, p->scene.up, sizeof(up));
  normalize(up);
  if (thin >= 0 && isnan(o->azimuth) && isnan(o->elevation)) {
    double normal[3] = {0, 0, 0};
    normal[thin] = thin == 1 ? -1 : 1;
    if (fabs(up[thin]) > 0.5) {
      memcpy(up, (double[3]){0, thin == 2, thin != 2}, sizeof(up));
    }
    memcpy(p->eye, normal, sizeof(normal));
  } else {
    const double a = (isnan(o->azimuth) ? -58.6 : o->azimuth) * M_PI / 180,
                 e = (isnan(o->elevation) ? 27.5 : o->elevation) * M_PI / 180;
    const double along[3] = {fabs(up[0]) < 0.7, fabs(up[0]) >= 0.7, 0};
    cross(up, along, y);
    normalize(y);
    cross(y, up, x);
    for (int k = 0; k < 3; k++) {
      p->eye[k] = cos(e) * (cos(a) * x[k] + sin(a) * y[k]) + sin(e) * up[k];
    }
  }
  if (fabs(p->eye[0] * up[0] + p->eye[1] * up[1] + p->eye[2] * up[2]) > 0.9999) { /* from above */
    memcpy(up, (double[3]){0, fabs(up[1]) < 0.9, fabs(up[1]) >= 0.9}, sizeof(up));
  }
  cross(up, p->eye, p->right);
  normalize(p->right);
  cross(p->eye, p->right, p->up);
}

/* one body that never turns would stand still in a picture that follows it */
static bool is_lone_point(const mbg_picture *p) {
  for (int i = 1; i < p->n; i++) {
    for (int k = 0; k < 9; k++) {
      if (fabs(mbg__picture_frame(p, 0, i)[k] - mbg__picture_frame(p, 0, 0)[k]) > 1e-6) {
        return false;
      }
    }
  }
  return mbg__frames(p->scene.m) == 1;
}

/* a mechanism travels if all of its bodies go further than it is long */
static bool travels(const mbg_picture *p) {
  const int nb = mbg__frames(p->scene.m);
  for (int b = 0; b < nb; b++) {
    const double *a = mbg__picture_frame(p, b, 0) + 9, *z = mbg__picture_frame(p, b, p->n - 1) + 9;
    if (sqrt((z[0] - a[0]) * (z[0] - a[0]) + (z[1] - a[1]) * (z[1] - a[1]) + (z[2] - a[2]) * (z[2] - a[2])) <
        1.5 * p->scene.size) {
      return false;
    }
  }
  return nb > 0 && p->n > 1 && !is_lone_point(p);
}

/* ---------------------------------------------------------------------- figures */

mbg__drawing *mbg__picture_add(mbg_picture *p, mbg_figure_kind kind, int points, int body) {
  if (p->count == p->room) {
    const int room = 2 * p->room + 64;
    mbg__drawing *more = MBG_TAKE(&p->arena, mbg__drawing, room);
    if (!more) {
      return NULL;
    }
    if (p->count > 0) {
      memcpy(more, p->figures, (size_t)p->count * sizeof(*more));
    }
    p->figures = more;
    p->room = room;
  }
  mbg__drawing *f = &p->figures[p->count];
  *f = (mbg__drawing){.ground = body < 0};
  f->figure = (mbg_figure){.kind = kind, .points = points, .fill = -1, .stroke = -1};
  f->world = (double(*)[3])MBG_TAKE(&p->arena, double, 3 * (size_t)p->n * (size_t)points);
  p->count += f->world != NULL;
  return f->world ? f : NULL;
}

/* of a mechanism that travels, the way of its first body is taken away; the ground passes by */
static void stand_still(mbg_picture *p) {
  const double *start = mbg__picture_frame(p, 0, 0) + 9;
  for (int f = 0; f < p->count; f++) {
    for (int i = 0; i < p->n; i++) {
      const double *at = mbg__picture_frame(p, 0, i) + 9;
      for (int k = 0; k < p->figures[f].figure.points; k++) {
        for (int c = 0; c < 3; c++) {
          p->figures[f].world[i * p->figures[f].figure.points + k][c] -= at[c] - start[c];
        }
      }
    }
  }
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static int by_depth(const void *a, const void *b) {
  const mbg__drawing *x = a, *y = b;
  return (x->depth > y->depth) - (x->depth < y->depth);
}

/* the room of all figures in the plane of the picture; x to the right, y up */
static void bounds(const mbg_picture *p, double low[2], double high[2]) {
  low[0] = low[1] = INFINITY;
  high[0] = high[1] = -INFINITY;
  for (int f = 0; f < p->count; f++) {
    const mbg__drawing *o = &p->figures[f];
    const double pad = o->size / (o->figure.kind == MBG_FIGURE_CIRCLE ? 1 : 2);
    const int n = p->travels && (o->ground || o->behind == 1) ? 0 : p->n * o->figure.points;
    for (int i = 0; i < n; i++) {
      const double at[2] = {dot(p->right, o->world[i]), dot(p->up, o->world[i])};
      for (int k = 0; k < 2; k++) {
        low[k] = fmin(low[k], at[k] - pad);
        high[k] = fmax(high[k], at[k] + pad);
      }
    }
  }
  for (int k = 0; k < 2 && !(low[k] < INFINITY); k++) { /* nothing to see */
    low[k] = -0.5;
    high[k] = 0.5;
  }
}

enum { MARGIN = 24, LOW = 140, TALL = 380 };

/* pixels, and widths that were given in m */
static int project(mbg_context *ctx, mbg_picture *p, const mbg_picture_options *o) {
  double low[2], high[2];
  bounds(p, low, high);
  const double w = fmax(high[0] - low[0], 1e-3 * p->scene.size), h = fmax(high[1] - low[1], 1e-3 * p->scene.size);
  p->width = o->width;
  p->height = isnan(o->height) ? fmin(TALL, fmax(LOW, (p->width - 2 * MARGIN) * h / w + 2 * MARGIN)) : o->height;
  const double scale = fmin((p->width - 2 * MARGIN) / w, (p->height - 2 * MARGIN) / h);
  for (int f = 0; f < p->count; f++) {
    mbg__drawing *g = &p->figures[f];
    const int n = p->n * g->figure.points;
    double *at = MBG_TAKE(&p->arena, double, 2 * (size_t)n);
    for (int i = 0; at && i < n; i++) {
      const double *shift = g->shift ? g->shift + 2 * (i % g->figure.points) : (const double[2]){0, 0};
      at[2 * i] = p->width / 2 + scale * (dot(p->right, g->world[i]) - (low[0] + high[0]) / 2) + shift[0];
      at[2 * i + 1] = p->height / 2 - scale * (dot(p->up, g->world[i]) - (low[1] + high[1]) / 2) + shift[1];
      g->depth += dot(p->eye, g->world[i]) / n;
    }
    g->figure.at = at;
    if (g->size > 0) {
      *(g->figure.kind == MBG_FIGURE_CIRCLE ? &g->figure.radius : &g->figure.width) = fmax(scale * g->size, 3);
    }
  }
  return mbg__arena_check(ctx, &p->arena);
}

/* far ones first; joints and springs, which come last, are nearer by a little */
static int arrange(mbg_context *ctx, mbg_picture *p) {
  for (int f = 0; f < p->count; f++) {
    p->figures[f].depth += 0.05 * p->scene.size * f / p->count - 1e3 * p->scene.size * p->figures[f].behind;
  }
  qsort(p->figures, (size_t)p->count, sizeof(*p->figures), by_depth);
  p->out = MBG_TAKE(&p->arena, mbg_figure, p->count + 1);
  for (int f = 0; p->out && f < p->count; f++) {
    p->out[f] = p->figures[f].figure;
  }
  return mbg__arena_check(ctx, &p->arena);
}

/* curves, and surfaces as far as the whole motion needs them; a film has fewer points */
static int take_outlines(mbg_context *ctx, mbg_picture *p) {
  enum { FRAMES = 200 };
  int *node = MBG_TAKE(&p->arena, int, mbg_run_node_count(p->run));
  int err = MBG_OK;
  MBG_TRY(mbg__arena_check(ctx, &p->arena));
  const int n = mbg__motion_nodes(p->run, FRAMES, node);
  MBG_TRY(mbg__outlines_find(ctx, &p->arena, &p->scene, p->run, n, node, p->n > 1 ? 1.5e-3 : 4e-4, &p->outlines));
done:
  return err;
}

/* ---------------------------------------------------------------------- interface */

static int check_options(mbg_context *ctx, const mbg_picture_options *o) {
  if (o->frames < 1 || o->frames > 100000) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "frames is %d; at least 1 is needed", o->frames);
  }
  if (!(o->width >= 100 && o->width <= 1e5) || !(isnan(o->height) || (o->height >= 100 && o->height <= 1e5))) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "a picture of %g x %g pixels is not possible; at least 100 are needed",
                     o->width, o->height);
  }
  return MBG_OK;
}

int mbg_picture_create(mbg_context *ctx, mbg_run *run, const mbg_picture_options *options, mbg_picture **out) {
  MBG_NEED(ctx, ctx && run && out);
  mbg_picture_options o = defaults;
  mbg_view_options view;
  int err = MBG_OK;
  *out = NULL;
  mbg_view_options_default(&view, sizeof(view));
  mbg_picture *p = mbg__alloc_zero(ctx, 1, sizeof(*p));
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&p->arena, mbg__context_allocator(ctx));
  p->run = run;
  MBG_TRY(mbg__options_take(ctx, "picture", options, &o, sizeof(o)));
  MBG_TRY(check_options(ctx, &o));
  MBG_TRY(mbg__view_check(ctx, run, &view));
  MBG_TRY(mbg__scene_make(ctx, &p->scene, run->design, run));
  MBG_TRY(take_motion(ctx, p, &o));
  MBG_TRY(mbg__surfaces_find(ctx, &p->arena, &p->scene, run, p->n, p->node, &p->surfaces));
  MBG_TRY(take_outlines(ctx, p));
  p->travels = travels(p);
  take_camera(p, &o);
  mbg__picture_fill(p);
  MBG_TRY(mbg__arena_check(ctx, &p->arena));
  if (p->travels) {
    stand_still(p);
  }
  MBG_TRY(project(ctx, p, &o));
  MBG_TRY(arrange(ctx, p));
  *out = p;
  p = NULL;
done:
  mbg_picture_destroy(p);
  return err;
}

void mbg_picture_destroy(mbg_picture *p) {
  if (p) {
    const mbg_allocator allocator = p->arena.allocator;
    mbg__scene_destroy(&p->scene);
    mbg__arena_destroy(&p->arena);
    allocator.release(allocator.user, p);
  }
}

double mbg_picture_width(const mbg_picture *p) { return p ? p->width : 0; }
double mbg_picture_height(const mbg_picture *p) { return p ? p->height : 0; }
int mbg_picture_frame_count(const mbg_picture *p) { return p ? p->n : 0; }
double mbg_picture_frame_time(const mbg_picture *p, int frame) {
  return p && frame >= 0 && frame < p->n ? p->t[frame] : (double)NAN;
}
int mbg_picture_figure_count(const mbg_picture *p) { return p ? p->count : 0; }
const mbg_figure *mbg_picture_figure(const mbg_picture *p, int index) {
  return p && index >= 0 && index < p->count ? &p->out[index] : NULL;
}
