/* Shapes from masses and markers. A body is drawn

     with two points of joints, forces     as a rod between them, or, if its centre of mass lies behind one of them,
     or markers of the file                as rods from there to both
     with more of them                     as rods from the centre of mass to each of them
     with one of them                      as a rod through the centre of mass, as long as its inertia says
     compact, or with none                 as the box, cylinder or sphere of its inertia
     without inertia                       as a sphere, larger for a larger mass
     with a tyre                           as a wheel
     with a rolling joint                  as a wheel or ball
     with a joint on a curve               as a roller, cam or face besides (view/outline.h)
     with "shape" in the file              as the file says */
#include "view/scene.h"

#include "elements/lists.h"
#include "math/eigen.h"
#include "view/figures.h"
#include "view/outline.h"
#include "view/rolling.h"
#include "view/rope.h"
#include "view/surface.h"

#include <stdlib.h>
#include <string.h>

const char *mbg__draw_name(mbg__draw_kind kind) {
  static const char *const names[MBG__DRAW_KINDS] = {"box", "cylinder", "sphere", "capsule", "cone", "mesh"};
  return names[kind];
}

void mbg__scene_flatten(const mbg__frame *H, double frame[12]) {
  for (int i = 0; i < 9; i++) {
    frame[i] = re(H->R[i]);
  }
  for (int i = 0; i < 3; i++) {
    frame[9 + i] = re(H->x[i]);
  }
}

void mbg__scene_marker(const mbg__scene *s, const mbg_run *run, int node, int marker, double out[12]) {
  const int body = s->m->markers[marker].body;
  double h[12];
  mbg__scene_flatten(&s->design->markers[marker]->h, h);
  memcpy(out, h, sizeof(h));
  if (body < 0) {
    return;
  }
  const double *H =
      mbg_run_value_array(run) + (size_t)node * (size_t)mbg_run_value_width(run) + mbg_run_frame_column(run, body);
  for (int r = 0; r < 3; r++) {
    for (int k = 0; k < 4; k++) {
      const int to = k < 3 ? 3 * r + k : 9 + r, step = k < 3 ? 3 : 1, from = k < 3 ? k : 9;
      out[to] = (k < 3 ? 0 : H[9 + r]) + H[3 * r] * h[from] + H[3 * r + 1] * h[from + step] +
                H[3 * r + 2] * h[from + 2 * step];
    }
  }
}

bool mbg__scene_same(const mbg__scene *s, int a, int b) {
  double ha[12], hb[12];
  if (s->m->markers[a].body != s->m->markers[b].body) {
    return false;
  }
  mbg__scene_flatten(&s->design->markers[a]->h, ha);
  mbg__scene_flatten(&s->design->markers[b]->h, hb);
  return !memcmp(ha, hb, sizeof(ha));
}

/* ---------------------------------------------------------------------- vectors */

static double distance(const double a[3], const double b[3]) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* rotation with z along a unit vector */
static void along(const double z[3], double R[12]) {
  const int least = fabs(z[0]) <= fabs(z[1]) && fabs(z[0]) <= fabs(z[2]) ? 0 : fabs(z[1]) <= fabs(z[2]) ? 1 : 2;
  double x[3] = {0}, y[3], length = 0;
  x[least] = 1;
  for (int i = 0; i < 3; i++) {
    x[i] -= z[least] * z[i];
    length += x[i] * x[i];
  }
  for (int i = 0; i < 3; i++) {
    x[i] /= sqrt(length);
  }
  for (int i = 0; i < 3; i++) {
    y[i] = z[(i + 1) % 3] * x[(i + 2) % 3] - z[(i + 2) % 3] * x[(i + 1) % 3];
  }
  for (int i = 0; i < 3; i++) {
    R[3 * i] = x[i];
    R[3 * i + 1] = y[i];
    R[3 * i + 2] = z[i];
  }
}

void mbg__scene_along(const double a[3], const double b[3], double R[12]) {
  const double length = distance(a, b);
  if (length > 0) {
    along((const double[3]){(b[0] - a[0]) / length, (b[1] - a[1]) / length, (b[2] - a[2]) / length}, R);
  }
}

/* ---------------------------------------------------------------------- shapes */

mbg__draw *mbg__scene_add(mbg__scene *s, mbg__draw_kind kind, int body, const double at[3]) {
  if (s->nshape == s->capacity) {
    const int capacity = 2 * s->capacity + 64;
    mbg__draw *shapes = MBG_TAKE(&s->arena, mbg__draw, capacity);
    if (!shapes) {
      return &s->nowhere;
    }
    if (s->nshape > 0) {
      memcpy(shapes, s->shapes, (size_t)s->nshape * sizeof(*shapes));
    }
    s->shapes = shapes;
    s->capacity = capacity;
  }
  mbg__draw *d = &s->shapes[s->nshape++];
  *d = (mbg__draw){.kind = kind,
                   .body = body,
                   .color = -1,
                   .opacity = 1,
                   .mesh = -1,
                   .marker = -1,
                   .frame = {1, 0, 0, 0, 1, 0, 0, 0, 1, at[0], at[1], at[2]}};
  return d;
}

static void add_sphere(mbg__scene *s, int body, const double at[3], double radius) {
  mbg__scene_add(s, MBG__DRAW_SPHERE, body, at)->size[0] = radius;
}

static void add_rod(mbg__scene *s, int body, const double a[3], const double b[3], double radius) {
  const double length = distance(a, b);
  if (length < 1e-6 * s->size) {
    return;
  }
  mbg__draw *d = mbg__scene_add(s, MBG__DRAW_CAPSULE, body,
                                (const double[3]){(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2});
  mbg__scene_along(a, b, d->frame);
  d->size[0] = fmin(radius, 0.1 * length);
  d->size[1] = length;
}

/* ---------------------------------------------------------------------- inertia */

/* mass, centre of mass, and the box of the same inertia about it: edges in its axes (columns of R). Two equal moments
   make it a cylinder about axis z, three a sphere: edges of the box around it. */
typedef struct {
  double mass, com[3], edge[3], R[9];
  mbg__draw_kind kind;
} solid;

static bool near(double a, double b) { return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)); }

/* columns of R in cyclic order, so that the one of number k becomes z */
static void turn_axes(double R[9], int k) {
  double old[9];
  memcpy(old, R, sizeof(old));
  for (int i = 0; i < 9; i++) {
    R[i] = old[i - i % 3 + (i % 3 + k + 1) % 3];
  }
}

/* a box: a^2 = 6 (I_b + I_c - I_a)/m; a cylinder: r^2 = 2 I_z/m, l^2 = 12 I/m - 3 r^2; a sphere: r^2 = 5 I/(2 m) */
static void solid_edges(solid *o, const double w[3]) {
  const int odd = near(w[0], w[1]) ? 2 : near(w[1], w[2]) ? 0 : -1;
  const double one = w[odd < 0 ? 0 : odd], two = w[odd < 0 ? 0 : (odd + 1) % 3];
  const double length = 12 * two / o->mass - 6 * one / o->mass;
  for (int k = 0; k < 3; k++) {
    o->edge[k] = sqrt(fmax(0, 6 * (w[(k + 1) % 3] + w[(k + 2) % 3] - w[k]) / o->mass));
  }
  if (odd >= 0 && near(w[0], w[2])) {
    o->kind = MBG__DRAW_SPHERE;
    o->edge[0] = o->edge[1] = o->edge[2] = 2 * sqrt(2.5 * one / o->mass);
  } else if (odd >= 0 && length >= 0) {
    o->kind = MBG__DRAW_CYLINDER;
    turn_axes(o->R, odd);
    o->edge[0] = o->edge[1] = 2 * sqrt(2 * one / o->mass);
    o->edge[2] = sqrt(length);
  }
}

static void solid_shape(mbg_context *ctx, solid *o, double J[9]) {
  double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, w[3], scale = 0;
  for (int i = 0; i < 9; i++) {
    scale = fmax(scale, fabs(J[i]));
  }
  if (!(scale > 0) || !isfinite(scale) || mbg__eigen_pair(ctx, 3, J, one, w) < 0) {
    return;
  }
  for (int i = 0; i < 9; i++) {
    o->R[3 * (i % 3) + i / 3] = J[i]; /* column-major */
  }
  const double *R = o->R;
  const double det =
      R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
  for (int i = 0; det < 0 && i < 3; i++) {
    o->R[3 * i] = -o->R[3 * i];
  }
  solid_edges(o, w);
}

/* the mass; without one, the centre of mass stays where it is */
double mbg__scene_com(const mbg__scene *s, int body, double com[3]) {
  const real *M = s->design->M + 36 * (size_t)body;
  const double mass = re(M[0]);
  if (mass > 0) {
    com[0] = re(M[6 * 5 + 1]) / mass;
    com[1] = re(M[6 * 3 + 2]) / mass;
    com[2] = re(M[6 * 4 + 0]) / mass;
  }
  return mass;
}

static solid solid_of(mbg_context *ctx, const mbg__scene *s, int body) {
  const mbg__body *b = &s->m->bodies[body];
  const real *M = s->design->M + 36 * (size_t)body;
  solid o = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  double J[9], c2 = 0;
  o.mass = mbg__scene_com(s, body, o.com);
  if (!(o.mass > 0)) {
    return o;
  }
  for (int i = 0; i < 3; i++) {
    c2 += o.com[i] * o.com[i];
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      J[3 * i + j] = re(M[6 * (3 + i) + 3 + j]) - o.mass * ((i == j) * c2 - o.com[i] * o.com[j]);
    }
  }
  if (b->motion == MBG__PLANAR) { /* one number is known: a square plate */
    o.edge[0] = o.edge[1] = sqrt(fmax(0, 6 * J[8] / o.mass));
    return o;
  }
  solid_shape(ctx, &o, J);
  return o;
}

/* ---------------------------------------------------------------------- points of joints and forces */

typedef struct {
  int n;
  double (*at)[3];
} points;

static void add_point(const mbg__scene *s, points *all, int marker) {
  const mbg__marker *k = &s->m->markers[marker];
  if (k->body < 0) {
    return;
  }
  points *p = &all[k->body];
  double at[3];
  for (int i = 0; i < 3; i++) {
    at[i] = re(s->design->markers[marker]->h.x[i]);
  }
  for (int i = 0; p->at && i < p->n; i++) {
    if (distance(p->at[i], at) < 1e-6 * s->size) {
      return;
    }
  }
  if (p->at) {
    memcpy(p->at[p->n], at, sizeof(at));
  }
  p->n++;
}

static void add_points(const mbg__scene *s, points *all) {
  const mbg_model *m = s->m;
  for (int i = 0; i < m->njoint; i++) {
    add_point(s, all, m->pairs[m->joints[i].pair].A);
    add_point(s, all, m->pairs[m->joints[i].pair].B);
  }
  for (int i = 0; i < m->nmarker; i++) {
    if (m->markers[i].name) {
      add_point(s, all, i);
    }
  }
  for (int i = 0; i < m->nforce; i++) {
    if (mbg__scene_shows(m, i)) {
      add_point(s, all, m->pairs[m->forces[i].pair].A);
      add_point(s, all, m->pairs[m->forces[i].pair].B);
    }
  }
}

static points *gather_points(mbg__scene *s) {
  const int n = mbg__frames(s->m);
  points *all = MBG_TAKE(&s->arena, points, n + 1);
  if (!all) {
    return NULL;
  }
  add_points(s, all);
  for (int b = 0; b < n; b++) {
    all[b].at = mbg__arena_take(&s->arena, (size_t)all[b].n + 1, sizeof(*all[b].at));
    all[b].n = 0;
  }
  if (s->arena.failed) {
    return NULL;
  }
  add_points(s, all);
  return all;
}

/* diagonal of the box about the points and the centre of mass of a body; from one point it reaches through the centre
   of mass as far again */
static double extent(const mbg__scene *s, int body, const points *p) {
  double com[3] = {0, 0, 0}, sum = 0;
  (void)mbg__scene_com(s, body, com);
  for (int k = 0; k < 3; k++) {
    double low = com[k], high = com[k];
    for (int i = 0; i < p->n; i++) {
      low = fmin(low, p->at[i][k]);
      high = fmax(high, p->at[i][k]);
    }
    sum += (high - low) * (high - low);
  }
  return (p->n == 1 ? 2 : 1) * sqrt(sum);
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* diagonal of the room in which all bodies move */
static double way_of(const mbg__scene *s, const mbg_run *run) {
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < mbg__frames(s->m) * mbg_run_node_count(run); i++) {
      const int body = i % mbg__frames(s->m), node = i / mbg__frames(s->m);
      const double x = mbg_run_value_array(run)[(size_t)node * (size_t)mbg_run_value_width(run) +
                                                (size_t)mbg_run_frame_column(run, body) + 9 + (size_t)k];
      low = fmin(low, x);
      high = fmax(high, x);
    }
    sum += high > low ? (high - low) * (high - low) : 0;
  }
  return sqrt(sum);
}

/* Bodies reach farther than joints and markers when their centres of mass or curves do, and in the end their inertia. A
   mechanism of many small bodies needs thin rods and small joints: bodies of the middle size decide. reach: of curves,
   behind those of the bodies of the ground. */
static void find_sizes(mbg_context *ctx, mbg__scene *s, const points *all, const double *reach, const mbg_run *run) {
  const int n = mbg__frames(s->m);
  double *extents = MBG_TAKE(&s->arena, double, n + 1), edge = 0;
  int count = 0;
  s->size = fmax(s->size, reach[n]);
  for (int b = 0; extents && b < n; b++) {
    const double e = fmax(extent(s, b, &all[b]), reach[b]);
    const solid o = solid_of(ctx, s, b);
    edge = fmax(edge, fmax(o.edge[0], fmax(o.edge[1], o.edge[2])));
    if (e > 1e-6 * s->size) {
      extents[count++] = e;
    }
  }
  if (count > 0) {
    qsort(extents, (size_t)count, sizeof(*extents), by_size);
    s->size = fmax(s->size, extents[count - 1]);
  } else if (s->size <= 1e-3 && edge > 0) { /* nothing but bodies at one point */
    s->size = edge;
  } else if (s->size <= 1e-3) {
    s->size = fmax(s->size, 0.7 * way_of(s, run));
  }
  s->part = count > 0 ? fmin(s->size, 6 * extents[count / 2]) : s->size;
}

/* ---------------------------------------------------------------------- bodies */

static bool is_tyre(const mbg__force *f) { return f->type && !strcmp(f->type->key, "tyre"); }

static void add_solid(mbg__scene *s, int body, const solid *o, bool glass) {
  mbg__draw *d = mbg__scene_add(s, o->kind, body, o->com);
  const double least = 0.01 * s->part;
  memcpy(d->frame, o->R, sizeof(o->R));
  d->glass = glass;
  for (int k = 0; k < 3; k++) {
    d->size[k] = fmax(o->edge[k], least);
  }
  if (o->kind != MBG__DRAW_BOX) { /* radius and length */
    d->size[0] /= 2;
    d->size[1] = d->size[2];
  }
}

static bool is_inside(const solid *o, const double at[3]) {
  bool inside = true;
  for (int k = 0; k < 3; k++) {
    double x = 0;
    for (int i = 0; i < 3; i++) {
      x += o->R[3 * i + k] * (at[i] - o->com[i]);
    }
    inside = inside && fabs(x) <= 0.5 * o->edge[k];
  }
  return inside;
}

/* a point of mass */
static void add_mass(mbg__scene *s, int body, const solid *o, double heaviest) {
  const double part = heaviest > 0 ? cbrt(o->mass / heaviest) : 1;
  add_sphere(s, body, o->com, s->part * (0.012 + 0.028 * part));
}

/* largest and second largest edge */
static void two_edges(const solid *o, double *longest, double *second) {
  *longest = *second = 0;
  for (int k = 0; k < 3; k++) {
    const double e = o->edge[k];
    *second = e > *longest ? *longest : fmax(*second, e);
    *longest = fmax(*longest, e);
  }
}

/* one point: from there through the centre of mass; the end of a body that is not slender is its solid or its mass */
static void add_arm(mbg__scene *s, int body, const solid *o, const double at[3], double length, double heaviest) {
  const double reach = distance(at, o->com);
  const bool slender = length > 1.6 * reach;
  double end[3];
  for (int i = 0; i < 3; i++) {
    end[i] = o->com[i] + (slender ? o->com[i] - at[i] : 0);
  }
  add_rod(s, body, at, end, mbg__scene_radius(s));
  if (!slender && length > 0) {
    add_mass(s, body, o, heaviest);
  }
}

/* a centre of mass that lies behind one of two points: the body reaches farther than they do */
static bool is_behind(const double a[3], const double b[3], const double com[3]) {
  double along = 0, length2 = 0;
  for (int i = 0; i < 3; i++) {
    along += (com[i] - a[i]) * (b[i] - a[i]);
    length2 += (b[i] - a[i]) * (b[i] - a[i]);
  }
  return along < -0.1 * length2 || along > 1.1 * length2;
}

/* rods to the points; of many the ones inside of the solid are left out */
static void add_rods(mbg__scene *s, int body, const solid *o, const points *p, bool compact) {
  const double r = mbg__scene_radius(s);
  if (p->n == 2 && !compact && !is_behind(p->at[0], p->at[1], o->com)) {
    add_rod(s, body, p->at[0], p->at[1], r);
    return;
  }
  for (int i = 0; i < p->n; i++) {
    if (!compact || p->n <= 6 || !is_inside(o, p->at[i])) {
      add_rod(s, body, o->com, p->at[i], r);
    }
  }
}

/* Inertias of motors, or made-up ones, belong to larger bodies than there are: a solid that reaches far beyond the
   points of the body and would be lighter than foam is drawn about as large as they are. */
static void shrink(const mbg__scene *s, int body, const points *p, solid *o) {
  const double foam = 100; /* kg/m^3 */
  const double volume = o->edge[0] * o->edge[1] * o->edge[2], reach = extent(s, body, p);
  double longest, second;
  two_edges(o, &longest, &second);
  for (int k = 0; k < 3 && p->n > 1 && longest > 2 * reach && o->mass < foam * volume; k++) {
    o->edge[k] *= 2 * reach / longest;
  }
}

static void add_body(mbg_context *ctx, mbg__scene *s, int body, const points *p, double heaviest) {
  const mbg__body *b = &s->m->bodies[body];
  solid o = solid_of(ctx, s, body);
  double longest, second;
  shrink(s, body, p, &o);
  two_edges(&o, &longest, &second);
  if (b->motion == MBG__POINT || b->motion == MBG__PLANAR_POINT || (p->n == 0 && !(longest > 0))) {
    add_mass(s, body, &o, heaviest);
    return;
  }
  const bool compact = b->motion == MBG__SPATIAL && second > 0.3 * longest && longest > 0.03 * s->part;
  if (p->n == 0 || compact) {
    add_solid(s, body, &o, p->n > 1 || mbg__contact_inside(s->m, body));
  }
  if (p->n == 1 && distance(p->at[0], o.com) > 1e-3 * s->size) {
    const double length = b->motion == MBG__PLANAR ? sqrt(2) * longest : longest;
    add_arm(s, body, &o, p->at[0], compact ? 0 : fmax(length, 1e-9 * s->size), heaviest);
  } else if (p->n == 1 && !compact) {
    add_mass(s, body, &o, heaviest);
  } else if (p->n > 1) {
    add_rods(s, body, &o, p, compact);
  }
}

/* as the file says, as a wheel, a beam or a modal body */
static bool drawn_elsewhere(const mbg__scene *s, int body) {
  const mbg_model *m = s->m;
  if (m->bodies[body].figured || mbg__rolling_draws(s, body)) {
    return true;
  }
  for (int i = 0; i < m->nforce; i++) {
    if (is_tyre(&m->forces[i]) && m->markers[m->pairs[m->forces[i].pair].B].body == body) {
      return true;
    }
  }
  for (int i = 0; i < m->nbeam; i++) {
    if (body >= m->beams[i].body && body <= m->beams[i].body + m->beams[i].count) {
      return true;
    }
  }
  return m->bodies[body].modal >= 0;
}

static int add_bodies(mbg_context *ctx, mbg__scene *s, const mbg_run *run) {
  const points *all = gather_points(s);
  double *reach = MBG_TAKE(&s->arena, double, mbg__frames(s->m) + 1), heaviest = 0;
  int err = MBG_OK;
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  MBG_TRY(mbg__outlines_reach(ctx, s, reach));
  find_sizes(ctx, s, all, reach, run);
  for (int b = 0; b < mbg__frames(s->m); b++) {
    heaviest = fmax(heaviest, re(s->design->M[36 * (size_t)b]));
  }
  for (int b = 0; b < mbg__frames(s->m); b++) {
    if (!drawn_elsewhere(s, b)) {
      add_body(ctx, s, b, &all[b], heaviest);
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- wheels */

static void add_wheels(mbg__scene *s) {
  const mbg_model *m = s->m;
  enum { RADIUS = 2 }; /* stiffness, damping, radius: force_tyre.c */
  for (int i = 0; i < m->nforce; i++) {
    const mbg__force *f = &m->forces[i];
    const int marker = is_tyre(f) ? m->pairs[f->pair].B : -1;
    if (marker < 0 || (m->markers[marker].body >= 0 && m->bodies[m->markers[marker].body].figured)) {
      continue;
    }
    const double radius = re(s->design->attr[f->attr + RADIUS]);
    mbg__draw *d = mbg__scene_add(s, MBG__DRAW_CYLINDER, m->markers[marker].body, (const double[3]){0, 0, 0});
    mbg__scene_flatten(&s->design->markers[marker]->h, d->frame);
    d->wheel = true;
    d->size[0] = radius;
    d->size[1] = 0.6 * radius;
  }
}

/* ---------------------------------------------------------------------- all */

static void look(mbg__scene *s) {
  const mbg_model *m = s->m;
  s->planar = m->nbody > 0 && m->nmodal == 0;
  for (int b = 0; b < m->nbody; b++) {
    s->planar = s->planar && (m->bodies[b].motion == MBG__PLANAR || m->bodies[b].motion == MBG__PLANAR_POINT);
  }
  s->up[s->planar ? 1 : 2] = 1;
  double g[3], length = 0;
  for (int i = 0; i < 3; i++) {
    g[i] = m->gravity >= 0 ? re(s->design->attr[m->gravity + i]) : 0;
    length += g[i] * g[i];
  }
  for (int i = 0; length > 0 && i < 3; i++) {
    s->up[i] = -g[i] / sqrt(length);
  }
}

int mbg__scene_make(mbg_context *ctx, mbg__scene *s, const mbg__design *design, const mbg_run *run) {
  *s = (mbg__scene){.m = design->model, .design = design, .size = design->model->size};
  s->part = s->size;
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  look(s);
  const int failed = add_bodies(ctx, s, run);
  if (failed < 0) {
    return failed;
  }
  add_wheels(s);
  mbg__contacts_add(s);
  mbg__rolling_add(s);
  mbg__rollers_add(s);
  mbg__ropes_add(s);
  const int err = mbg__figures_add(ctx, s);
  return err < 0 ? err : mbg__arena_check(ctx, &s->arena);
}

bool mbg__scene_shows(const mbg_model *m, int force) {
  return m->forces[force].pair >= 0 && m->forces[force].law != &mbg__state_rate;
}

void mbg__scene_destroy(mbg__scene *s) { mbg__arena_destroy(&s->arena); }
