#include "view/surface.h"

#include "elements/contact_shape.h"
#include "model/fn.h"
#include "run/run.h"
#include "run/run_internal.h"
#include "view/rolling.h"

#include <string.h>

/* ---------------------------------------------------------------------- contacts */

static bool is_type(const mbg__force *f, const char *key) { return f->type && !strcmp(f->type->key, key); }

bool mbg__contact_of(const mbg__scene *s, int force, mbg__contact_view *out) {
  static const char *const shapes[] = {
      [MBG__CONTACT_PLANE] = "sphere-plane",   [MBG__CONTACT_SPHERE] = "sphere-sphere",
      [MBG__CONTACT_SOCKET] = "sphere-socket", [MBG__CONTACT_HOLE] = "pin-hole",
      [MBG__CONTACT_ROAD] = "sphere-road",
  };
  enum { TYRE_RADIUS = 2 }; /* stiffness, damping, radius: force_tyre.c */
  const mbg__force *f = &s->m->forces[force];
  const real *a = s->design->attr + f->attr;
  if (is_type(f, "tyre")) {
    *out = (mbg__contact_view){"tyre", re(a[TYRE_RADIUS]), 0, f->opt[0]};
    return true;
  }
  if (!is_type(f, "contact")) {
    return false;
  }
  *out = (mbg__contact_view){shapes[f->opt[0]], re(a[0]), re(a[1]), f->opt[1]};
  return true;
}

bool mbg__contact_inside(const mbg_model *m, int body) {
  for (int i = 0; i < m->nforce; i++) {
    const mbg__force *f = &m->forces[i];
    if (is_type(f, "contact") && m->markers[m->pairs[f->pair].A].body == body &&
        (f->opt[0] == MBG__CONTACT_SOCKET || f->opt[0] == MBG__CONTACT_HOLE)) {
      return true;
    }
  }
  return false;
}

static void add_round(mbg__scene *s, mbg__draw_kind kind, int marker, double radius, double opacity) {
  const int body = s->m->markers[marker].body;
  mbg__draw *d = mbg__scene_add(s, kind, body, (const double[3]){0, 0, 0});
  mbg__scene_flatten(&s->design->markers[marker]->h, d->frame);
  d->size[0] = radius > 0 ? radius : 0.6 * mbg__scene_radius(s); /* a point */
  d->size[1] = kind == MBG__DRAW_CYLINDER ? 2 * d->size[0] : 0;
  d->opacity = opacity;
  d->marker = body >= 0 && s->m->bodies[body].modal >= 0 ? marker : -1;
}

void mbg__contacts_add(mbg__scene *s) {
  static const double solid = 0.45, hollow = 0.15;
  for (int i = 0; i < s->m->nforce; i++) {
    const mbg__force *f = &s->m->forces[i];
    mbg__contact_view c;
    if (!is_type(f, "contact") || f->shaped || !mbg__contact_of(s, i, &c)) {
      continue;
    }
    const mbg__pair *pair = &s->m->pairs[f->pair];
    const bool hole = f->opt[0] == MBG__CONTACT_HOLE;
    const mbg__draw_kind kind = hole ? MBG__DRAW_CYLINDER : MBG__DRAW_SPHERE;
    add_round(s, kind, pair->B, c.radius, solid);
    if (hole || f->opt[0] == MBG__CONTACT_SOCKET || (f->opt[0] == MBG__CONTACT_SPHERE && c.radius_a > 0)) {
      add_round(s, kind, pair->A, c.radius_a, f->opt[0] == MBG__CONTACT_SPHERE ? solid : hollow);
    }
  }
}

/* ---------------------------------------------------------------------- motion of B in the axes of A */

typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  const mbg__scene *s;
  const mbg_run *run;
  int n;           /* frames */
  const int *node; /* (n) */
  mbg__fn_work *work;
  double (*x)[3]; /* origin of B in the axes of A                 (n) */
  double (*e)[3]; /* axis z of B in the axes of A: spin axis      (n) */
} work;

static void take_motion(work *o, const mbg__pair *pair) {
  for (int i = 0; i < o->n; i++) {
    double A[12], B[12];
    mbg__scene_marker(o->s, o->run, o->node[i], pair->A, A);
    mbg__scene_marker(o->s, o->run, o->node[i], pair->B, B);
    for (int k = 0; k < 3; k++) {
      o->x[i][k] = o->e[i][k] = 0;
      for (int j = 0; j < 3; j++) {
        o->x[i][k] += A[3 * j + k] * (B[9 + j] - A[9 + j]);
        o->e[i][k] += A[3 * j + k] * B[3 * j + 2];
      }
    }
  }
}

static double time_of(const work *o, int i) { return mbg_run_node_time(o->run, o->node[i]); }

/* ---------------------------------------------------------------------- planes */

static void range(const work *o, int axis, double *low, double *high) {
  *low = *high = o->x[0][axis];
  for (int i = 1; i < o->n; i++) {
    *low = fmin(*low, o->x[i][axis]);
    *high = fmax(*high, o->x[i][axis]);
  }
}

/* the plane of a force before it, which becomes larger */
static mbg__surface *shared_plane(const work *o, mbg__surfaces *all, int marker, int up) {
  for (int i = 0; i < all->count; i++) {
    if (all->at[i].plane && all->at[i].up == up && mbg__scene_same(o->s, all->at[i].marker, marker)) {
      return &all->at[i];
    }
  }
  return NULL;
}

/* corners: stations 0 and 1 are the least and the greatest along the first axis, edges along the second */
static void stretch(mbg__surface *s, int axis, int side, double low, double high) {
  for (int k = 0; k < 4; k++) {
    double *at = s->edge[k / 2][k % 2];
    const bool upper = side ? k % 2 : k / 2;
    at[axis] = upper ? fmax(at[axis], high) : fmin(at[axis], low);
  }
}

static void find_plane(work *o, mbg__surfaces *all, mbg__surface *s, double radius) {
  const int along = s->up == 0, across = 3 - s->up - along;
  const double pad = 2 * radius + 0.08 * o->s->size;
  mbg__surface *same = shared_plane(o, all, s->marker, s->up);
  double low[2], high[2];
  range(o, along, &low[0], &high[0]);
  range(o, across, &low[1], &high[1]);
  s->n = 2;
  s->plane = true;
  s->edge = same ? same->edge : mbg__arena_take(o->arena, 2, sizeof(*s->edge));
  if (!s->edge) {
    return;
  }
  for (int k = 0; !same && k < 4; k++) {
    double *at = s->edge[k / 2][k % 2];
    at[along] = o->x[0][along];
    at[across] = o->x[0][across];
    at[s->up] = 0;
  }
  stretch(same ? same : s, along, 0, low[0] - pad, high[0] + pad);
  stretch(same ? same : s, across, 1, low[1] - pad, high[1] + pad);
  all->count += same == NULL;
}

/* ---------------------------------------------------------------------- roads */

static int road_height(work *o, const mbg__force *f, int up, const double x[3], double t, double *height) {
  mbg__fn_env env = {.ctx = o->ctx, .model = o->s->m, .work = o->work, .attr = o->s->design->attr, .t = t, .fn = f->fn};
  const bool wheel = is_type(f, "tyre");
  const real arg[MBG__FN_ARGS] = {wheel ? x[0] : x[up == 0], wheel ? x[1] : 0, wheel ? x[2] : 0};
  real h = 0;
  const int err = f->nfn > 0 ? mbg__fn_only(&env, 0, arg, &h) : MBG_OK;
  *height = re(h);
  return err;
}

/* where the strip goes at a frame: level, square to the spin axis of a wheel, along the profile of a road */
static void direction(const work *o, const mbg__force *f, int up, int i, double out[3]) {
  const double *e = o->e[i];
  out[0] = out[1] = out[2] = 0;
  out[up == 0] = 1;
  if (is_type(f, "tyre")) { /* e x z */
    const int a = (up + 1) % 3, b = (up + 2) % 3;
    const double length = hypot(e[a], e[b]);
    if (length > 1e-6) {
      out[a] = e[b] / length;
      out[b] = -e[a] / length;
    }
  }
}

typedef struct {
  double x[3], along[3], t;
} road_point;

/* Points of the way on the road: at the start, when the wheel has gone a good step, at the end; and straight ends. */
static int find_way(const work *o, const mbg__force *f, int up, double radius, road_point *way) {
  enum { MOST = 240, ENDS = 4 };
  double length = 0, last = 0;
  int n = 0;
  for (int i = 1; i < o->n; i++) {
    length += sqrt(pow(o->x[i][(up + 1) % 3] - o->x[i - 1][(up + 1) % 3], 2) +
                   pow(o->x[i][(up + 2) % 3] - o->x[i - 1][(up + 2) % 3], 2));
  }
  const double step = fmax(length / MOST, 0.2 * radius), more = 2.5 * radius;
  for (int i = 0; i < o->n; i++) {
    const double *x = o->x[i];
    last =
        n > 0 ? hypot(x[(up + 1) % 3] - way[n - 1].x[(up + 1) % 3], x[(up + 2) % 3] - way[n - 1].x[(up + 2) % 3]) : 0;
    if (n > 0 && last < step) {
      continue;
    }
    way[n].t = time_of(o, i);
    memcpy(way[n].x, x, sizeof(way[n].x));
    direction(o, f, up, i, way[n].along);
    n++;
  }
  /* four points before and behind */
  memmove(way + ENDS, way, (size_t)n * sizeof(*way));
  n += 2 * ENDS;
  for (int side = 0; side < 2; side++) {
    const road_point end = way[side ? n - 1 - ENDS : ENDS], start = way[ENDS];
    double forward = 0;
    for (int k = 0; k < 3; k++) {
      forward += (way[n - 1 - ENDS].x[k] - start.x[k]) * end.along[k];
    }
    const double sign = (side ? 1 : -1) * (forward < 0 ? -1 : 1);
    for (int k = 1; k <= ENDS; k++) {
      road_point *p = &way[side ? n - 1 - ENDS + k : ENDS - k];
      *p = end;
      for (int c = 0; c < 3; c++) {
        p->x[c] += sign * more * k / ENDS * end.along[c];
      }
    }
  }
  return n;
}

/* heights of all stations at the time of each frame */
static int move_road(work *o, const mbg__force *f, mbg__surface *s, const road_point *way) {
  int err = MBG_OK;
  s->height = MBG_TAKE(o->arena, double, (size_t)o->n *(size_t)s->n);
  for (int i = 0; s->height && i < o->n; i++) {
    for (int k = 0; k < s->n; k++) {
      MBG_TRY(road_height(o, f, s->up, way[k].x, time_of(o, i), &s->height[(size_t)i * (size_t)s->n + (size_t)k]));
    }
  }
done:
  return err;
}

static bool depends_on_time(const mbg_model *m, const mbg__force *f) {
  const mbg__fn *fn = &m->fns[f->fn];
  for (int k = 0; k < mbg__expr_ninputs(fn->expr); k++) {
    if (fn->input[k].role == MBG__ROLE_T || fn->input[k].role == MBG__ROLE_CTRL) {
      return true;
    }
  }
  return false;
}

/* the station below the sphere at each frame: the nearest one, then between it and its neighbours */
static void find_feet(const work *o, mbg__surface *s, const road_point *way) {
  for (int i = 0; s->foot && i < o->n; i++) {
    double best = INFINITY;
    for (int k = 0; k + 1 < s->n; k++) {
      double d[3], along = 0, length2 = 0, off = 0;
      for (int c = 0; c < 3; c++) {
        d[c] = c == s->up ? 0 : way[k + 1].x[c] - way[k].x[c];
        along += c == s->up ? 0 : d[c] * (o->x[i][c] - way[k].x[c]);
        length2 += d[c] * d[c];
      }
      const double part = length2 > 0 ? fmin(1, fmax(0, along / length2)) : 0;
      for (int c = 0; c < 3; c++) {
        off += c == s->up ? 0 : pow(o->x[i][c] - way[k].x[c] - part * d[c], 2);
      }
      if (off < best) {
        best = off;
        s->foot[i] = k + part;
      }
    }
  }
}

static int find_road(work *o, const mbg__force *f, mbg__surfaces *all, mbg__surface *s, double radius) {
  road_point *way = mbg__arena_take(o->arena, (size_t)o->n + 8, sizeof(*way));
  const double half = 0.5 * radius;
  double low[2], high[2];
  int err = MBG_OK;
  MBG_TRY(mbg__arena_check(o->ctx, o->arena));
  s->n = find_way(o, f, s->up, fmax(radius, 0.02 * o->s->size), way);
  s->edge = mbg__arena_take(o->arena, (size_t)s->n, sizeof(*s->edge));
  s->foot = MBG_TAKE(o->arena, double, o->n);
  MBG_TRY(mbg__arena_check(o->ctx, o->arena));
  for (int k = 0; k < s->n; k++) {
    const double *d = way[k].along;
    double h;
    MBG_TRY(road_height(o, f, s->up, way[k].x, way[k].t, &h));
    for (int side = 0; side < 2; side++) {
      for (int c = 0; c < 3; c++) { /* square to the way, in the plane of the road: e_up x d */
        const int a = (s->up + 1) % 3, b = (s->up + 2) % 3;
        const double across = c == a ? -d[b] : c == b ? d[a] : 0;
        s->edge[k][side][c] = c == s->up ? h : way[k].x[c] + (side ? 1 : -1) * half * across;
      }
    }
  }
  find_feet(o, s, way);
  range(o, (s->up + 1) % 3, &low[0], &high[0]);
  range(o, (s->up + 2) % 3, &low[1], &high[1]);
  if (f->nfn > 0 && depends_on_time(o->s->m, f) && hypot(high[0] - low[0], high[1] - low[1]) < 4 * radius) {
    MBG_TRY(move_road(o, f, s, way));
  }
  all->count++;
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

static int find(work *o, int force, mbg__surfaces *all) {
  const mbg__force *f = &o->s->m->forces[force];
  mbg__contact_view c;
  if (!mbg__contact_of(o->s, force, &c)) {
    return MBG_OK;
  }
  const bool plane = is_type(f, "contact") && f->opt[0] == MBG__CONTACT_PLANE;
  const bool road = !plane && (is_type(f, "tyre") || f->opt[0] == MBG__CONTACT_ROAD);
  mbg__surface *s = &all->at[all->count];
  *s = (mbg__surface){.force = force, .joint = -1, .marker = o->s->m->pairs[f->pair].A, .up = c.up};
  if (plane || road) {
    take_motion(o, &o->s->m->pairs[f->pair]);
  }
  if (plane) {
    find_plane(o, all, s, c.radius);
  }
  return road ? find_road(o, f, all, s, c.radius) : MBG_OK;
}

/* the plane of A that a wheel or ball rolls on */
static void find_rolled(work *o, int joint, mbg__surfaces *all) {
  const mbg__pair *pair = &o->s->m->pairs[o->s->m->joints[joint].pair];
  mbg__rolling_view r;
  if (o->s->m->joints[joint].contact >= 0 || !mbg__rolling_of(o->s, joint, &r)) { /* profiles: outline.c */
    return;
  }
  mbg__surface *s = &all->at[all->count];
  *s = (mbg__surface){.force = -1, .joint = joint, .marker = pair->A, .up = 2};
  take_motion(o, pair);
  find_plane(o, all, s, r.radius);
}

int mbg__surfaces_find(mbg_context *ctx, mbg__arena *arena, const mbg__scene *scene, const mbg_run *run, int n,
                       const int *node, mbg__surfaces *out) {
  work o = {.ctx = ctx, .arena = arena, .s = scene, .run = run, .n = n, .node = node};
  int err = MBG_OK;
  *out = (mbg__surfaces){0};
  out->at = MBG_TAKE(arena, mbg__surface, scene->m->nforce + scene->m->njoint + 1);
  o.x = mbg__arena_take(arena, (size_t)n + 1, sizeof(*o.x));
  o.e = mbg__arena_take(arena, (size_t)n + 1, sizeof(*o.e));
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(mbg__fn_work_create(ctx, arena, scene->m, &o.work));
  for (int i = 0; i < scene->m->nforce; i++) {
    MBG_TRY(find(&o, i, out));
  }
  for (int i = 0; i < scene->m->njoint; i++) {
    find_rolled(&o, i, out);
  }
  MBG_TRY(mbg__arena_check(ctx, arena));
done:
  return err;
}

/* ---------------------------------------------------------------------- writing */

/* place among the forces of the scene */
static int shown_index(const mbg_model *m, int force) {
  int index = 0;
  for (int i = 0; i < force; i++) {
    index += mbg__scene_shows(m, i);
  }
  return index;
}

static void put_heights(const mbg__surface *s, int n, double scale, double *y, mbg__channel_room *room,
                        mbg__buffer *bytes) {
  for (int k = 0; k < s->n; k++) {
    for (int i = 0; i < n; i++) {
      y[i] = s->height[(size_t)i * (size_t)s->n + (size_t)k];
    }
    mbg__motion_channel(bytes, n, y, 0, scale, room);
  }
}

static void put_surface(const mbg__scene *scene, const mbg__surface *s, double scale, mbg__json_writer *w) {
  mbg__json_begin_object(w);
  mbg__json_key(w, s->joint >= 0 ? "joint" : "force");
  mbg__json_integer(w, s->joint >= 0 ? s->joint : shown_index(scene->m, s->force));
  mbg__json_key(w, "up");
  mbg__json_integer(w, s->up);
  mbg__json_key(w, "plane");
  mbg__json_boolean(w, s->plane);
  if (s->height) {
    mbg__json_key(w, "height");
    mbg__json_number(w, scale);
  }
  mbg__json_key(w, "edges");
  mbg__json_begin_array(w);
  for (int k = 0; k < 6 * s->n; k++) { /* a millionth of the mechanism is enough */
    mbg__json_number(w, round(s->edge[k / 6][k / 3 % 2][k % 3] / scale) * scale);
  }
  mbg__json_end_array(w);
  mbg__json_end_object(w);
}

int mbg__surfaces_write(mbg_context *ctx, const mbg__scene *scene, const mbg_run *run, int frames, mbg__json_writer *w,
                        mbg__buffer *bytes) {
  mbg__arena arena;
  mbg__surfaces all;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  int *node = MBG_TAKE(&arena, int, mbg_run_node_count(run));
  MBG_TRY(mbg__arena_check(ctx, &arena));
  const int n = mbg__motion_nodes(run, frames, node);
  const double scale = exp2(floor(log2(scene->size)) - 20);
  double *y = MBG_TAKE(&arena, double, n);
  mbg__channel_room room = mbg__motion_room(&arena, n);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  MBG_TRY(mbg__surfaces_find(ctx, &arena, scene, run, n, node, &all));
  mbg__json_key(w, "surfaces");
  mbg__json_begin_array(w);
  for (int i = 0; i < all.count; i++) {
    put_surface(scene, &all.at[i], scale, w);
    if (all.at[i].height) {
      put_heights(&all.at[i], n, scale, y, &room, bytes);
    }
  }
  mbg__json_end_array(w);
done:
  mbg__arena_destroy(&arena);
  return err;
}
