#include "view/outline.h"

#include "model/curve.h"
#include "model/fn.h"
#include "run/run.h"
#include "view/motion.h"

#include <string.h>

typedef enum { NONE, POINT_ON_CURVE, ROLLER_ON_CURVE, FLAT_ON_CURVE, CURVE_ON_CURVE, POINT_ON_SURFACE } joint_kind;

static joint_kind kind_of(const mbg__joint *j) {
  static const char *const keys[] = {[POINT_ON_CURVE] = "point-on-curve",
                                     [ROLLER_ON_CURVE] = "roller-on-curve",
                                     [FLAT_ON_CURVE] = "flat-on-curve",
                                     [CURVE_ON_CURVE] = "curve-on-curve",
                                     [POINT_ON_SURFACE] = "point-on-surface"};
  for (int k = POINT_ON_CURVE; k <= POINT_ON_SURFACE; k++) {
    if (!strcmp(j->type->key, keys[k])) {
      return (joint_kind)k;
    }
  }
  return NONE;
}

bool mbg__outline_joint(const mbg__joint *j) { return kind_of(j) != NONE; }

/* half a plate, along z */
static double half_plate(const mbg__scene *s) { return 0.7 * mbg__scene_radius(s); }

static bool is_figured(const mbg__scene *s, int marker) {
  const int body = s->m->markers[marker].body;
  return body >= 0 && s->m->bodies[body].figured;
}

void mbg__rollers_add(mbg__scene *s) {
  enum { RADIUS }; /* joint_roller_on_curve.c */
  for (int i = 0; i < s->m->njoint; i++) {
    const mbg__joint *j = &s->m->joints[i];
    const int marker = s->m->pairs[j->pair].B;
    if (kind_of(j) != ROLLER_ON_CURVE || is_figured(s, marker)) {
      continue;
    }
    const int body = s->m->markers[marker].body;
    mbg__draw *d = mbg__scene_add(s, MBG__DRAW_CYLINDER, body, (const double[3]){0, 0, 0});
    mbg__scene_flatten(&s->design->markers[marker]->h, d->frame);
    d->size[0] = re(s->design->attr[j->attr + RADIUS]);
    d->size[1] = 2 * half_plate(s);
    d->marker = body >= 0 && s->m->bodies[body].modal >= 0 ? marker : -1;
  }
}

/* ---------------------------------------------------------------------- points of curves */

typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  const mbg__scene *s;
  const mbg_run *run;
  int n;           /* frames */
  const int *node; /* (n) */
  double fine;
  mbg__fn_work *work;
  mbg__outlines *out;
} finder;

static mbg__fn_env env_of(const finder *o, int fn) {
  return (mbg__fn_env){.ctx = o->ctx, .model = o->s->m, .work = o->work, .attr = o->s->design->attr, .fn = fn};
}

/* control points of a spline */
static real *control_points(const finder *o, const mbg__curve *c) {
  real *D = MBG_TAKE(o->arena, real, (size_t)c->nbasis * (size_t)c->dim + 1);
  for (int j = 0; D && j < c->nbasis * c->dim; j++) {
    const double *C = c->C + (size_t)(j / c->dim) * (size_t)c->npoint;
    D[j] = 0;
    for (int k = 0; k < c->npoint; k++) {
      D[j] += C[k] * o->s->design->attr[c->attr + k * c->dim + j % c->dim];
    }
  }
  return D;
}

static int point_at(const finder *o, const mbg__curve *c, const real *D, double s, double out[3]) {
  const real arg[MBG__FN_ARGS] = {s};
  real r[3][4];
  out[2] = 0;
  if (c->fn < 0) {
    mbg__spline_point(c, D, s, r);
  }
  for (int k = 0; k < c->dim; k++) {
    mbg__fn_env env = env_of(o, c->fn);
    const int err = c->fn >= 0 ? mbg__fn_only(&env, k, arg, &r[k][0]) : MBG_OK;
    if (err < 0) {
      return err;
    }
    out[k] = re(r[k][0]);
  }
  return MBG_OK;
}

static double extent_of(int n, const double (*at)[3]) {
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++) {
      low = fmin(low, at[i][k]);
      high = fmax(high, at[i][k]);
    }
    sum += (high - low) * (high - low);
  }
  return sqrt(sum);
}

/* as many points as are needed, and the radius of the line */
static int take_points(const finder *o, const mbg__curve *c, mbg__outline *line) {
  enum { LEAST = 512, EACH = 4 };
  const int most = c->fn < 0 && EACH * c->npoint > LEAST ? EACH * c->npoint : LEAST;
  const real *D = c->fn < 0 ? control_points(o, c) : NULL;
  int err = MBG_OK;
  line->n = most + !c->closed;
  line->closed = c->closed;
  line->at = mbg__arena_take(o->arena, (size_t)line->n, sizeof(*line->at));
  MBG_TRY(mbg__arena_check(o->ctx, o->arena));
  for (int i = 0; i < line->n; i++) {
    MBG_TRY(point_at(o, c, D, c->from + (c->to - c->from) * i / most, line->at[i]));
  }
  const double extent = extent_of(line->n, (const double(*)[3])line->at);
  line->n = mbg__outline_thin(line->n, line->at, c->closed, o->fine * extent);
  line->thick = fmax(0.5 * mbg__scene_radius(o->s), 0.004 * extent);
done:
  return err;
}

int mbg__outlines_reach(mbg_context *ctx, const mbg__scene *s, double *reach) {
  const mbg_model *m = s->m;
  mbg__arena arena;
  finder o = {.ctx = ctx, .arena = &arena, .s = s, .fine = 1e-2};
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  MBG_TRY(m->ncontact > 0 ? mbg__fn_work_create(ctx, &arena, m, &o.work) : MBG_OK);
  for (int i = 0; i < m->ncontact; i++) {
    const mbg__contact *c = &m->contacts[i];
    const mbg__pair *pair = &m->pairs[m->joints[c->joint].pair];
    for (int end = 0; end < 2 && c->curve[end] >= 0; end++) {
      const int body = m->markers[end ? pair->B : pair->A].body, at = body >= 0 ? body : mbg__frames(m);
      mbg__outline line = {0};
      MBG_TRY(take_points(&o, &m->curves[c->curve[end]], &line));
      reach[at] = fmax(reach[at], extent_of(line.n, (const double(*)[3])line.at));
    }
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}

/* ---------------------------------------------------------------------- plates */

static void reverse(mbg__outline *o) {
  for (int i = 0, j = o->n - 1; i < j; i++, j--) {
    double x[3];
    memcpy(x, o->at[i], sizeof(x));
    memcpy(o->at[i], o->at[j], sizeof(x));
    memcpy(o->at[j], x, sizeof(x));
  }
}

/* a closed line becomes a plate, if its triangles can be found */
static int fill(const finder *o, mbg__outline *line) {
  enum { MOST = 600 };
  if (line->n < 3 || line->n > MOST) {
    return MBG_OK;
  }
  if (mbg__polygon_area(line->n, (const double(*)[3])line->at) < 0) {
    reverse(line);
  }
  int *next = MBG_TAKE(o->arena, int, line->n);
  line->corners = mbg__arena_take(o->arena, (size_t)line->n, sizeof(*line->corners));
  if (!next || !line->corners) {
    return mbg__fail_memory(o->ctx);
  }
  line->ntriangle = mbg__polygon_triangles(line->n, (const double(*)[3])line->at, next, line->corners);
  if (line->ntriangle == line->n - 2) {
    line->kind = MBG__OUTLINE_PLATE;
    line->thick = half_plate(o->s);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- curves */

/* the curve of a joint before it, at the same place */
static bool is_there(const finder *o, int curve, int marker) {
  for (int i = 0; i < o->out->count; i++) {
    if (o->out->at[i].curve == curve && mbg__scene_same(o->s, o->out->at[i].marker, marker)) {
      return true;
    }
  }
  return false;
}

/* B in the axes of A at a frame */
static void relative(const finder *o, const mbg__pair *pair, int i, double out[12]) {
  double A[12], B[12];
  mbg__scene_marker(o->s, o->run, o->node[i], pair->A, A);
  mbg__scene_marker(o->s, o->run, o->node[i], pair->B, B);
  for (int r = 0; r < 3; r++) {
    out[9 + r] = 0;
    for (int j = 0; j < 3; j++) {
      out[9 + r] += A[3 * j + r] * (B[9 + j] - A[9 + j]);
      out[3 * r + j] = A[r] * B[j] + A[3 + r] * B[3 + j] + A[6 + r] * B[6 + j];
    }
  }
}

/* most of the curve of A lies inside the curve of B: a ring about a disc */
static bool encloses(const finder *o, const mbg__pair *pair, const mbg__outline *a, const mbg__outline *b) {
  double H[12];
  int inside = 0;
  relative(o, pair, 0, H);
  for (int i = 0; i < a->n; i++) {
    const double d[2] = {a->at[i][0] - H[9], a->at[i][1] - H[10]};
    const double p[2] = {H[0] * d[0] + H[3] * d[1], H[1] * d[0] + H[4] * d[1]};
    inside += mbg__polygon_has(b->n, (const double(*)[3])b->at, p);
  }
  return 2 * inside > a->n;
}

/* B is outside of a closed curve of A */
static bool is_disc(const mbg__joint *j, const mbg__outline *line) {
  const joint_kind kind = kind_of(j);
  const int side = kind == ROLLER_ON_CURVE ? j->opt[1] : kind == CURVE_ON_CURVE ? j->opt[2] : 0; /* 0: right */
  const bool counterclockwise = mbg__polygon_area(line->n, (const double(*)[3])line->at) > 0;
  return kind == FLAT_ON_CURVE || (kind != POINT_ON_CURVE && counterclockwise == (side == 0));
}

/* the curve of A or (end 1) of B; `points`: those that it has, in their order */
static int add_curve(finder *o, int joint, int end, int curve, mbg__outline *points) {
  const mbg__joint *j = &o->s->m->joints[joint];
  const mbg__curve *c = &o->s->m->curves[curve];
  const mbg__pair *pair = &o->s->m->pairs[j->pair];
  const int marker = end ? pair->B : pair->A;
  mbg__outline line = {.joint = joint, .marker = marker, .curve = curve};
  int err = MBG_OK;
  MBG_TRY(take_points(o, c, &line));
  const bool disc = end ? !encloses(o, pair, points, &line) : is_disc(j, &line);
  *points = line;
  if (!is_there(o, curve, marker)) {
    if (c->dim == 2 && c->closed && disc && !is_figured(o->s, marker)) {
      MBG_TRY(fill(o, &line));
    }
    o->out->at[o->out->count++] = line;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- flat faces */

/* as far along x of B as the contact goes, which is the point of the curve that lies farthest along y */
static int add_face(finder *o, int joint, const mbg__outline *curve) {
  const mbg__pair *pair = &o->s->m->pairs[o->s->m->joints[joint].pair];
  const double more = 0.06 * o->s->part + 0.1 * extent_of(curve->n, (const double(*)[3])curve->at);
  double low = 0, high = 0;
  for (int i = 0; i < o->n; i++) {
    double H[12], most = -INFINITY, x = 0;
    relative(o, pair, i, H);
    for (int k = 0; k < curve->n; k++) {
      const double d[2] = {curve->at[k][0] - H[9], curve->at[k][1] - H[10]}, y = H[1] * d[0] + H[4] * d[1];
      if (y > most) {
        most = y;
        x = H[0] * d[0] + H[3] * d[1];
      }
    }
    low = fmin(low, x);
    high = fmax(high, x);
  }
  mbg__outline face = {.joint = joint, .marker = pair->B, .curve = -1, .closed = true, .n = 4};
  face.at = mbg__arena_take(o->arena, 4, sizeof(*face.at));
  if (!face.at) {
    return mbg__fail_memory(o->ctx);
  }
  for (int k = 0; k < 4; k++) { /* counterclockwise */
    face.at[k][0] = k == 1 || k == 2 ? high + more : low - more;
    face.at[k][1] = k >= 2 ? 2 * half_plate(o->s) : 0;
    face.at[k][2] = 0;
  }
  const int err = fill(o, &face);
  o->out->at[o->out->count++] = face;
  return err;
}

/* ---------------------------------------------------------------------- surfaces */

/* where a function of x, y, z is 0, or (height) where z is a function of x, y */
typedef struct {
  mbg__fn_env env;
  bool height;
} level;

static double surface_at(void *user, const double x[3]) {
  level *l = user;
  mbg__fn_env *env = &l->env;
  const real arg[MBG__FN_ARGS] = {x[0], x[1], x[2]};
  const int mark = mbg__message_mark(env->ctx);
  real f = 0;
  if (mbg__fn_only(env, 0, arg, &f) < 0) { /* not defined there */
    mbg__message_rewind(env->ctx, mark);
    return (double)NAN;
  }
  return l->height ? x[2] - re(f) : re(f);
}

/* components of the unit normal that stay away from 0 along the motion */
static void least_normal(level *l, const double x[3], double h, double least[3]) {
  double g[3], length = 0;
  for (int k = 0; k < 3; k++) {
    double a[3] = {x[0], x[1], x[2]}, b[3] = {x[0], x[1], x[2]};
    a[k] -= h;
    b[k] += h;
    g[k] = surface_at(l, b) - surface_at(l, a);
    length += g[k] * g[k];
  }
  for (int k = 0; k < 3; k++) {
    least[k] = fmin(least[k], length > 0 ? fabs(g[k]) / sqrt(length) : 0);
  }
}

/* around the way of B */
static int add_surface(finder *o, int joint, int fn) {
  const mbg__pair *pair = &o->s->m->pairs[o->s->m->joints[joint].pair];
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, least[3] = {1, 1, 1};
  double range = 0;
  level l = {env_of(o, fn), o->s->m->joints[joint].type->profile != MBG__PROFILE_NONE};
  for (int i = 0; i < o->n; i++) {
    double H[12];
    relative(o, pair, i, H);
    least_normal(&l, H + 9, 1e-4 * o->s->size, least);
    for (int k = 0; k < 3; k++) {
      low[k] = fmin(low[k], H[9 + k]);
      high[k] = fmax(high[k], H[9 + k]);
    }
    if (l.height) { /* it lies below the centre */
      low[2] = fmin(low[2], H[11] - surface_at(&l, H + 9));
    }
  }
  const int normal = least[2] > 0.4 ? 2 : least[1] > 0.4 ? 1 : least[0] > 0.4 ? 0 : -1;
  for (int k = 0; k < 3; k++) {
    range = fmax(range, high[k] - low[k]);
  }
  for (int k = 0; k < 3; k++) {
    low[k] -= 0.12 * range + 0.08 * o->s->size;
    high[k] += 0.12 * range + 0.08 * o->s->size;
  }
  mbg__outline *grid = &o->out->at[o->out->count];
  *grid = (mbg__outline){.kind = MBG__OUTLINE_GRID, .joint = joint, .marker = pair->A, .curve = -1};
  const int err =
      mbg__outline_surface(o->ctx, o->arena, surface_at, &l, low, high, normal, o->fine * (range + o->s->size), grid);
  o->out->count += grid->nline > 0;
  return err;
}

/* ---------------------------------------------------------------------- all */

static int add_contact(finder *o, const mbg__contact *c) {
  mbg__outline points = {0};
  int err = MBG_OK;
  if (c->surface >= 0) {
    return add_surface(o, c->joint, c->surface);
  }
  for (int end = 0; end < 2 && c->curve[end] >= 0; end++) {
    MBG_TRY(add_curve(o, c->joint, end, c->curve[end], &points));
  }
  if (kind_of(&o->s->m->joints[c->joint]) == FLAT_ON_CURVE) {
    MBG_TRY(add_face(o, c->joint, &points));
  }
done:
  return err;
}

int mbg__outlines_find(mbg_context *ctx, mbg__arena *arena, const mbg__scene *scene, const mbg_run *run, int n,
                       const int *node, double fine, mbg__outlines *out) {
  finder o = {.ctx = ctx, .arena = arena, .s = scene, .run = run, .n = n, .node = node, .fine = fine, .out = out};
  int err = MBG_OK;
  *out = (mbg__outlines){0};
  if (scene->m->ncontact == 0) {
    return MBG_OK;
  }
  out->at = MBG_TAKE(arena, mbg__outline, 2 * (size_t)scene->m->ncontact);
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(mbg__fn_work_create(ctx, arena, scene->m, &o.work));
  for (int i = 0; i < scene->m->ncontact; i++) {
    MBG_TRY(add_contact(&o, &scene->m->contacts[i]));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- writing */

static void put_integers(mbg__json_writer *w, const char *key, const int *value, int n) {
  mbg__json_key(w, key);
  mbg__json_begin_array(w);
  for (int i = 0; i < n; i++) {
    mbg__json_integer(w, value[i]);
  }
  mbg__json_end_array(w);
}

/* points to a millionth of the mechanism */
static void put_outline(const mbg__scene *s, const mbg__outline *o, mbg__json_writer *w) {
  static const char *const kinds[] = {"line", "plate", "grid"};
  const double parts = pow(10, 6 - floor(log10(s->size)));
  mbg__json_begin_object(w);
  mbg__json_key(w, "kind");
  mbg__json_string(w, kinds[o->kind]);
  mbg__json_key(w, "joint");
  mbg__json_integer(w, o->joint);
  mbg__json_key(w, "end");
  mbg__json_string(w, o->marker == s->m->pairs[s->m->joints[o->joint].pair].A ? "a" : "b");
  mbg__json_key(w, "closed");
  mbg__json_boolean(w, o->closed);
  mbg__json_key(w, "thick");
  mbg__json_number(w, o->thick);
  mbg__json_key(w, "points");
  mbg__json_begin_array(w);
  for (int i = 0; i < 3 * o->n; i++) {
    mbg__json_number(w, round(o->at[i / 3][i % 3] * parts) / parts);
  }
  mbg__json_end_array(w);
  if (o->kind == MBG__OUTLINE_PLATE) {
    put_integers(w, "corners", o->corners[0], 3 * o->ntriangle);
  } else if (o->kind == MBG__OUTLINE_GRID) {
    put_integers(w, "lines", o->count, o->nline);
  }
  mbg__json_end_object(w);
}

int mbg__outlines_write(mbg_context *ctx, const mbg__scene *scene, const mbg_run *run, int frames,
                        mbg__json_writer *w) {
  mbg__arena arena;
  mbg__outlines all = {0};
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  int *node = MBG_TAKE(&arena, int, mbg_run_node_count(run));
  MBG_TRY(mbg__arena_check(ctx, &arena));
  const int n = mbg__motion_nodes(run, frames, node);
  MBG_TRY(mbg__outlines_find(ctx, &arena, scene, run, n, node, 2e-4, &all));
  mbg__json_key(w, "curves");
  mbg__json_begin_array(w);
  for (int i = 0; i < all.count; i++) {
    put_outline(scene, &all.at[i], w);
  }
  mbg__json_end_array(w);
done:
  mbg__arena_destroy(&arena);
  return err;
}
