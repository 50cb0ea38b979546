/* Solids as outlines, rods and beams as thick lines, springs as zigzags, joints as rings. */
#include "model/modal_beam.h"
#include "view/picture.h"
#include "view/rolling.h"
#include "view/view_internal.h"

#include <string.h>

static const int palette[] = {0x4c8bf5, 0xf08c2e, 0x35a77c, 0xc94f7c, 0x8a6fd1,
                              0xc9a227, 0x2fa4b8, 0x9a6b4b, 0x7fa33a, 0xd9634c};
enum { STEEL = 0x8d97a5, INK = 0x2b3340, SPRING = 0xe0574f, DAMPER = 0x6f7d91, RAIL = 0xb4bcc8, TYRE = 0x4a5363 };

int mbg__picture_color(int body) { return body < 0 ? STEEL : palette[body % MBG_COUNT(palette)]; }

int mbg__picture_mix(int a, int b, double part) {
  int out = 0;
  for (int k = 0; k < 24; k += 8) {
    const int x = a >> k & 255, y = b >> k & 255;
    out |= (int)lround(x + part * (y - x)) << k;
  }
  return out;
}

/* ---------------------------------------------------------------------- solids */

enum { CORNERS = 2000 };

/* points of an outline */
static int around(const mbg_picture *p) { return p->n == 1 ? 64 : 24; }

/* the point of a shape that lies furthest along a direction, both in its axes */
static void furthest(const mbg__scene *s, const mbg__draw *d, const double u[3], double out[3]) {
  const double *z = d->size, across = sqrt(u[0] * u[0] + u[1] * u[1]), r = across > 0 ? z[0] / across : 0;
  double best = -INFINITY;
  switch (d->kind) {
  case MBG__DRAW_MESH: {
    const mbg__mesh *mesh = &s->meshes[d->mesh].mesh;
    const int step = 1 + mesh->nvertex / CORNERS;
    for (int i = 0; i < mesh->nvertex; i += step) {
      double p[3], along = 0;
      for (int k = 0; k < 3; k++) {
        p[k] = z[k] * mesh->vertices[3 * i + k];
        along += u[k] * p[k];
      }
      if (along > best) {
        best = along;
        memcpy(out, p, sizeof(p));
      }
    }
    return;
  }
  case MBG__DRAW_BOX:
    for (int k = 0; k < 3; k++) {
      out[k] = u[k] >= 0 ? z[k] / 2 : -z[k] / 2;
    }
    return;
  case MBG__DRAW_CONE: /* the tip or the rim */
    if (u[2] * z[1] / 2 > across * z[0] - u[2] * z[1] / 2) {
      out[0] = out[1] = 0;
      out[2] = z[1] / 2;
      return;
    }
    memcpy(out, (double[3]){r * u[0], r * u[1], -z[1] / 2}, 3 * sizeof(double));
    return;
  default:
    memcpy(out, (double[3]){r * u[0], r * u[1], u[2] >= 0 ? z[1] / 2 : -z[1] / 2}, 3 * sizeof(double));
  }
}

static void place(const double *H, const double p[3], double out[3]) {
  for (int i = 0; i < 3; i++) {
    out[i] = H[9 + i] + H[3 * i] * p[0] + H[3 * i + 1] * p[1] + H[3 * i + 2] * p[2];
  }
}

/* world frame of a shape; one on a modal body moves with its marker */
static void shape_frame(const mbg_picture *p, const mbg__draw *d, int frame, double out[12]) {
  const double *H = mbg__picture_frame(p, d->body, frame);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      out[3 * i + k] = H[3 * i] * d->frame[k] + H[3 * i + 1] * d->frame[3 + k] + H[3 * i + 2] * d->frame[6 + k];
    }
  }
  place(H, d->frame + 9, out + 9);
  if (d->marker >= 0) {
    double at[3], rest[12];
    mbg__scene_flatten(&p->scene.design->markers[d->marker]->h, rest);
    place(H, rest + 9, at);
    double moved[3];
    mbg__picture_marker(p, d->marker, frame, moved);
    for (int i = 0; i < 3; i++) {
      out[9 + i] += moved[i] - at[i];
    }
  }
}

/* the outline: the furthest points all around, as the eye sees them */
static void outline(mbg_picture *p, const mbg__draw *d, mbg__drawing *f, int frame) {
  double H[12];
  const int n = around(p);
  shape_frame(p, d, frame, H);
  for (int k = 0; k < n; k++) {
    const double a = 2 * M_PI * (k + 0.5) / n, c = cos(a), s = sin(a);
    double u[3], q[3] = {0};
    for (int i = 0; i < 3; i++) {
      u[i] = 0;
      for (int j = 0; j < 3; j++) {
        u[i] += H[3 * j + i] * (c * p->right[j] + s * p->up[j]);
      }
    }
    furthest(&p->scene, d, u, q);
    place(H, q, f->world[frame * n + k]);
  }
}

/* how a shape is looked at in all frames: along its axis k, across its axis z, or anyhow */
typedef enum { ALONG_X, ALONG_Y, ALONG_Z, ACROSS, ANYHOW } sight;

static sight sight_of(const mbg_picture *p, const mbg__draw *d) {
  double least[3] = {1, 1, 1}, most = 0;
  for (int i = 0; i < p->n; i++) {
    double H[12];
    shape_frame(p, d, i, H);
    for (int k = 0; k < 3; k++) {
      const double c = fabs(H[k] * p->eye[0] + H[3 + k] * p->eye[1] + H[6 + k] * p->eye[2]);
      least[k] = fmin(least[k], c);
      most = k == 2 ? fmax(most, c) : most;
    }
  }
  for (int k = 0; k < 3; k++) {
    if (least[k] > 0.999) {
      return (sight)k;
    }
  }
  return most < 0.03 ? ACROSS : ANYHOW;
}

/* four corners: of a box along one of its axes, of a cylinder from its side */
static void corners(const mbg_picture *p, const mbg__draw *d, sight s, mbg__drawing *f, int frame) {
  static const double sign[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  double H[12];
  shape_frame(p, d, frame, H);
  for (int c = 0; c < 4; c++) {
    double q[3] = {0, 0, 0}, *at = f->world[4 * frame + c];
    if (s != ACROSS) {
      const int a = (s + 1) % 3, b = (s + 2) % 3;
      q[a] = sign[c][0] * d->size[a] / 2;
      q[b] = sign[c][1] * d->size[b] / 2;
      place(H, q, at);
      continue;
    }
    for (int k = 0; k < 3; k++) {
      const int l = (k + 1) % 3, m = (k + 2) % 3;
      const double across = p->eye[l] * H[3 * m + 2] - p->eye[m] * H[3 * l + 2];
      at[k] = H[9 + k] + sign[c][0] * d->size[1] / 2 * H[3 * k + 2] + sign[c][1] * d->size[0] * across;
    }
  }
}

/* circle, line or area of a shape, with its points; those of an area: 4 corners or the outline */
static mbg__drawing *begin_solid(mbg_picture *p, const mbg__draw *d, sight s) {
  const bool line = d->kind == MBG__DRAW_CAPSULE,
             ball = d->kind == MBG__DRAW_SPHERE || (d->kind == MBG__DRAW_CYLINDER && s == ALONG_Z);
  const bool four = (d->kind == MBG__DRAW_BOX && s < ACROSS) || (d->kind == MBG__DRAW_CYLINDER && s == ACROSS);
  mbg__drawing *f = mbg__picture_add(p,
                                     line   ? MBG_FIGURE_LINE
                                     : ball ? MBG_FIGURE_CIRCLE
                                            : MBG_FIGURE_AREA,
                                     line   ? 2
                                     : ball ? 1
                                     : four ? 4
                                            : around(p),
                                     d->body);
  if (f) {
    const bool tyre = d->wheel && d->kind == MBG__DRAW_CYLINDER;
    const int color = d->color >= 0 ? d->color : tyre ? TYRE : mbg__picture_color(d->body);
    f->figure.stroke = line ? color : mbg__picture_mix(color, INK, 0.35);
    f->figure.fill = line ? -1 : mbg__picture_mix(color, 0xffffff, d->glass ? 0.82 : 1 - 0.7 * d->opacity);
    f->behind = d->glass || d->opacity < 0.3 ? 2 : 0;
    f->figure.width = 1.5;
    f->size = line ? 2 * d->size[0] : ball ? d->size[0] : 0;
  }
  return f;
}

static void solid(mbg_picture *p, const mbg__draw *d) {
  const sight s = sight_of(p, d);
  mbg__drawing *f = begin_solid(p, d, s);
  for (int i = 0; f && i < p->n; i++) {
    double H[12];
    if (f->figure.points == around(p)) {
      outline(p, d, f, i);
    } else if (f->figure.points == 4) {
      corners(p, d, s, f, i);
    } else {
      const bool line = f->figure.kind == MBG_FIGURE_LINE;
      shape_frame(p, d, i, H);
      for (int e = 0; e < f->figure.points; e++) {
        place(H, (double[3]){0, 0, line ? (e ? 0.5 : -0.5) * d->size[1] : 0}, f->world[i * f->figure.points + e]);
      }
    }
  }
}

/* ---------------------------------------------------------------------- beams */

/* a cubic between two nodes with their axes x, at s = 0 .. 1 */
static void between_nodes(const double *A, const double *B, double s, double out[3]) {
  const double s2 = s * s, s3 = s2 * s;
  double L = 0;
  for (int k = 0; k < 3; k++) {
    L += (B[9 + k] - A[9 + k]) * (B[9 + k] - A[9 + k]);
  }
  L = sqrt(L);
  for (int k = 0; k < 3; k++) {
    out[k] = (2 * s3 - 3 * s2 + 1) * A[9 + k] + (s3 - 2 * s2 + s) * L * A[3 * k] + (3 * s2 - 2 * s3) * B[9 + k] +
             (s3 - s2) * L * B[3 * k];
  }
}

/* about LINE points, between the nodes of a coarse beam, at some nodes of a fine one */
static void beam(mbg_picture *p, const mbg__beam *b) {
  enum { LINE = 24 };
  const int n = b->count < LINE ? b->count * (LINE / b->count) : LINE;
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_LINE, n + 1, b->body);
  double size[2];
  if (!f) {
    return;
  }
  mbg__scene_section(&p->scene, &b->rule, p->scene.m->elements[b->first].attr, size);
  f->figure.stroke = mbg__picture_color(b->body);
  f->size = fmax(size[0], size[1]);
  for (int i = 0; i < p->n; i++) {
    for (int k = 0; k <= n; k++) {
      const double x = (double)b->count * k / n;
      const int e = x < b->count ? (int)x : b->count - 1;
      between_nodes(mbg__picture_frame(p, b->body + e, i), mbg__picture_frame(p, b->body + e + 1, i), x - e,
                    f->world[i * (n + 1) + k]);
    }
  }
}

/* displaced by modes: columns P, 6 per mode */
static void displaced(const mbg_picture *p, const mbg__modal *o, int first, const double r[3], const double *P,
                      int frame, double out[3]) {
  const int all = mbg_model_modal_count(p->scene.m);
  const double *eta = p->eta + (size_t)p->node[frame] * (size_t)all + first;
  double q[3] = {r[0], r[1], r[2]};
  for (int j = 0; j < o->n; j++) {
    for (int k = 0; k < 3; k++) {
      q[k] += P[6 * j + k] * eta[j];
    }
  }
  place(mbg__picture_frame(p, o->body, frame), q, out);
}

static void modal_beam(mbg_picture *p, const mbg__modal *o, int first) {
  enum { STATIONS = 13 };
  double P[6 * MBG__MODES_MAX], r[3], size[2];
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_LINE, STATIONS, o->body);
  if (!f) {
    return;
  }
  mbg__scene_section(&p->scene, &o->beam->rule, o->beam->attr[0], size);
  f->figure.stroke = mbg__picture_color(o->body);
  f->size = fmax(size[0], size[1]);
  for (int k = 0; k < STATIONS; k++) {
    mbg__scene_station(&p->scene, o, (double)k / (STATIONS - 1), r, P);
    for (int i = 0; i < p->n; i++) {
      displaced(p, o, first, r, P, i, f->world[i * STATIONS + k]);
    }
  }
}

enum { NODES = 40 }; /* of a modal body that are shown, markers included */

typedef struct {
  double r[3], P[6 * MBG__MODES_MAX];
} modal_point;

static double apart(const modal_point *a, const modal_point *b) {
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    sum += (a->r[k] - b->r[k]) * (a->r[k] - b->r[k]);
  }
  return sqrt(sum);
}

static void add_point(const mbg_picture *p, const modal_point *point, modal_point *list, int *n) {
  for (int i = 0; i < *n; i++) {
    if (apart(&list[i], point) < 1e-4 * p->scene.size) {
      return;
    }
  }
  if (*n < NODES) {
    list[(*n)++] = *point;
  }
}

/* markers first, which joints hold, then nodes */
static int modal_points(const mbg_picture *p, const mbg__modal *o, modal_point *list) {
  const mbg__design *design = p->scene.design;
  int n = 0;
  for (int k = 0; k < p->scene.m->nmarker; k++) {
    const mbg__modal_handle *handle = &design->handles[k];
    modal_point point = {{0}, {0}};
    double h[12];
    if (p->scene.m->markers[k].body != o->body) {
      continue;
    }
    mbg__scene_flatten(&design->markers[k]->h, h);
    memcpy(point.r, h + 9, sizeof(point.r));
    for (int i = 0; i < 6 * handle->n; i++) {
      point.P[i] = re(handle->P[i]);
    }
    add_point(p, &point, list, &n);
  }
  for (int k = 0; k < o->nnode; k += 1 + o->nnode / NODES) {
    const mbg__modal_node *node = &o->nodes[k];
    modal_point point = {{0}, {0}};
    for (int i = 0; i < 3; i++) {
      point.r[i] = node->at >= 0 ? node->sign[i] * re(design->attr[node->at + i]) : node->place[i];
    }
    for (int i = 0; i < 6 * o->n; i++) {
      point.P[i] = node->columns >= 0 ? re(design->attr[node->columns + i]) : node->P[i];
    }
    add_point(p, &point, list, &n);
  }
  return n;
}

static void modal_rod(mbg_picture *p, const mbg__modal *o, int first, const modal_point *a, const modal_point *b) {
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_LINE, 2, o->body);
  if (f) {
    f->figure.stroke = mbg__picture_color(o->body);
    f->size = 1.6 * mbg__scene_radius(&p->scene);
  }
  for (int i = 0; f && i < p->n; i++) {
    displaced(p, o, first, a->r, a->P, i, f->world[2 * i]);
    displaced(p, o, first, b->r, b->P, i, f->world[2 * i + 1]);
  }
}

/* markers and nodes of a file, joined by the shortest tree */
static void modal_nodes(mbg_picture *p, const mbg__modal *o, int first) {
  modal_point *list = MBG_TAKE(&p->arena, modal_point, NODES);
  bool reached[NODES] = {true};
  const int n = list ? modal_points(p, o, list) : 0;
  for (int done = 1; done < n; done++) {
    int from = 0, to = 0;
    double least = INFINITY;
    for (int i = 0; i < n; i++) {
      for (int k = 0; reached[i] && k < n; k++) {
        const double length = reached[k] ? INFINITY : apart(&list[i], &list[k]);
        if (length < least) {
          least = length;
          from = i;
          to = k;
        }
      }
    }
    reached[to] = true;
    modal_rod(p, o, first, &list[from], &list[to]);
  }
}

/* ---------------------------------------------------------------------- between two markers */

static int marker_body(const mbg_picture *p, int marker) { return p->scene.m->markers[marker].body; }

/* along the line between two points, aside in the plane of the picture */
static void aside(const mbg_picture *p, const double a[3], const double b[3], double s, double y, double out[3]) {
  double d[3], n[3], length = 0;
  for (int k = 0; k < 3; k++) {
    d[k] = b[k] - a[k];
  }
  for (int k = 0; k < 3; k++) {
    n[k] = p->eye[(k + 1) % 3] * d[(k + 2) % 3] - p->eye[(k + 2) % 3] * d[(k + 1) % 3];
    length += n[k] * n[k];
  }
  for (int k = 0; k < 3; k++) {
    out[k] = a[k] + s * d[k] + (length > 0 ? y * n[k] / sqrt(length) : 0);
  }
}

static mbg__drawing *between(mbg_picture *p, const mbg__pair *pair, int points, int color, double width) {
  const int body = marker_body(p, pair->B) >= 0 ? marker_body(p, pair->B) : marker_body(p, pair->A);
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_LINE, points, body);
  if (f) {
    f->figure.stroke = color;
    f->figure.width = width;
  }
  return f;
}

static void link(mbg_picture *p, const mbg__pair *pair, double from, double to, int color, double width) {
  mbg__drawing *f = between(p, pair, 2, color, width);
  for (int i = 0; f && i < p->n; i++) {
    double a[3], b[3];
    mbg__picture_marker(p, pair->A, i, a);
    mbg__picture_marker(p, pair->B, i, b);
    aside(p, a, b, from, 0, f->world[2 * i]);
    aside(p, a, b, to, 0, f->world[2 * i + 1]);
  }
}

/* ---------------------------------------------------------------------- joints */

static bool slides(const char *key) {
  return !strcmp(key, "prismatic") || !strcmp(key, "cylindrical") || !strcmp(key, "screw") ||
         !strcmp(key, "point-on-line");
}

/* the way of a slider on the ground, as far as it goes */
static void rail(mbg_picture *p, int base, int slider) {
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_LINE, 2, -1);
  double H[12], low = 0, high = 0;
  if (!f) {
    return;
  }
  mbg__scene_flatten(&p->scene.design->markers[base]->h, H);
  for (int i = 0; i < p->n; i++) {
    double q[3], z = 0;
    mbg__picture_marker(p, slider, i, q);
    for (int k = 0; k < 3; k++) {
      z += (q[k] - H[9 + k]) * H[3 * k + 2];
    }
    low = fmin(low, z);
    high = fmax(high, z);
  }
  const double more = 0.06 * p->scene.part;
  f->figure.stroke = RAIL;
  f->figure.width = 4;
  for (int i = 0; i < p->n; i++) {
    place(H, (double[3]){0, 0, low - more}, f->world[2 * i]);
    place(H, (double[3]){0, 0, high + more}, f->world[2 * i + 1]);
  }
}

/* a foot under a point of the ground */
static void foot(mbg_picture *p, int marker) {
  static const double shape[][2] = {{0, 0}, {-9, 15}, {9, 15}};
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_AREA, 3, -1);
  if (!f) {
    return;
  }
  f->figure.fill = 0xdfe3ea;
  f->figure.stroke = STEEL;
  f->figure.width = 1.5;
  f->shift = shape[0];
  for (int i = 0; i < 3 * p->n; i++) {
    mbg__picture_marker(p, marker, i / 3, f->world[i]);
  }
}

static void ring(mbg_picture *p, int marker, double radius) {
  mbg__drawing *f = mbg__picture_add(p, MBG_FIGURE_CIRCLE, 1, marker_body(p, marker));
  if (!f) {
    return;
  }
  f->figure.fill = 0xffffff;
  f->figure.stroke = INK;
  f->figure.width = 1.5;
  f->figure.radius = radius;
  for (int i = 0; i < p->n; i++) {
    mbg__picture_marker(p, marker, i, f->world[i]);
  }
}

static void joint(mbg_picture *p, const mbg__joint *j) {
  const mbg__pair *pair = &p->scene.m->pairs[j->pair];
  const bool ground[2] = {marker_body(p, pair->A) < 0, marker_body(p, pair->B) < 0};
  mbg__rolling_view rolls; /* a wheel on a plane, both of them drawn */
  if (mbg__rolling_of(&p->scene, (int)(j - p->scene.m->joints), &rolls)) {
    return;
  }
  if (mbg__outline_joint(j)) { /* the follower's marker is no point of its own */
    if (!strncmp(j->type->key, "point-", 6) || !strncmp(j->type->key, "roller-", 7)) {
      ring(p, pair->B, 3.5);
    }
    return;
  }
  if (slides(j->type->key) && (ground[0] || ground[1])) {
    rail(p, ground[0] ? pair->A : pair->B, ground[0] ? pair->B : pair->A);
  } else if ((ground[0] || ground[1]) && strcmp(j->type->key, "knife-edge")) {
    foot(p, ground[0] ? pair->A : pair->B);
  }
  if (!strcmp(j->type->key, "distance")) {
    link(p, pair, 0, 1, STEEL, 3);
  }
  if (p->scene.m->njoint <= 60) {
    ring(p, ground[1] ? pair->A : pair->B, p->scene.m->njoint > 12 ? 2.2 : 3.5);
  }
}

/* ---------------------------------------------------------------------- forces */

static void spring(mbg_picture *p, const mbg__pair *pair) {
  enum { TURNS = 12, POINTS = TURNS + 4 };
  mbg__drawing *f = between(p, pair, POINTS, SPRING, 2);
  for (int i = 0; f && i < p->n; i++) {
    double a[3], b[3];
    mbg__picture_marker(p, pair->A, i, a);
    mbg__picture_marker(p, pair->B, i, b);
    const double length =
        sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) + (b[2] - a[2]) * (b[2] - a[2]));
    const double y = fmin(0.028 * p->scene.part, 0.12 * length);
    for (int k = 0; k < POINTS; k++) {
      const double s = k == 0 ? 0 : k == POINTS - 1 ? 1 : 0.12 + 0.76 * (k - 1) / (TURNS + 1);
      const bool straight = k <= 1 || k >= POINTS - 2;
      aside(p, a, b, s, straight ? 0 : k % 2 ? y : -y, f->world[i * POINTS + k]);
    }
  }
}

static void force(mbg_picture *p, const mbg__force *f) {
  if (f->pair < 0 || (f->law && f->law->tendon)) { /* tendons are drawn by their strands */
    return;
  }
  const mbg__pair *pair = &p->scene.m->pairs[f->pair];
  const char *along = f->law ? p->scene.m->coords[f->coord].type->key : "";
  const bool linear = !strcmp(along, "distance") || !strcmp(along, "x") || !strcmp(along, "y") || !strcmp(along, "z");
  if (!f->law && !strcmp(f->type->key, "bushing")) {
    ring(p, pair->B, 5);
  } else if (linear && (strstr(f->law->key, "spring") || strstr(f->law->key, "stop"))) {
    spring(p, pair);
  } else if (linear) {
    link(p, pair, 0, 1, RAIL, 2);
    link(p, pair, 0.1, 0.5, DAMPER, 7);
  }
}

/* ---------------------------------------------------------------------- all */

void mbg__picture_fill(mbg_picture *p) {
  const mbg_model *m = p->scene.m;
  int first = 0;
  mbg__picture_surfaces(p);
  mbg__picture_outlines(p);
  for (int i = 0; i < p->scene.nshape; i++) {
    solid(p, &p->scene.shapes[i]);
  }
  for (int i = 0; i < m->nbeam; i++) {
    beam(p, &m->beams[i]);
  }
  for (int i = 0; i < m->nmodal; first += m->modals[i++].n) {
    if (m->modals[i].beam) {
      modal_beam(p, &m->modals[i], first);
    } else {
      modal_nodes(p, &m->modals[i], first);
    }
  }
  for (int i = 0; i < m->nforce; i++) {
    if (mbg__scene_shows(m, i)) {
      force(p, &m->forces[i]);
    }
  }
  mbg__picture_ropes(p);
  for (int i = 0; i < m->njoint; i++) {
    joint(p, &m->joints[i]);
  }
}
