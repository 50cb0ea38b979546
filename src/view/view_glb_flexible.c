/* Meshes of beams and modal bodies. */
#include "model/modal_beam.h"
#include "view/view_glb.h"
#include "view/view_internal.h"

/* ---------------------------------------------------------------------- beams */

enum { PER_ELEMENT = 4 }; /* sections */

/* sections of a beam at the first picture, weights of its nodes */
int mbg__glb_beam(mbg_context *ctx, mbg__glb_file *f, const mbg__beam *b) {
  enum { R = MBG__TUBE_RING };
  const int per = b->count > 1000 ? 1 : PER_ELEMENT, n = b->count * per + 1;
  mbg__section_place *o = MBG_TAKE(&f->scene.arena, mbg__section_place, n);
  uint16_t *joint = MBG_TAKE(&f->scene.arena, uint16_t, 4 * n * R);
  float *weight = MBG_TAKE(&f->scene.arena, float, 4 * n * R),
        *bind = MBG_TAKE(&f->scene.arena, float, 16 * (b->count + 1));
  if (n * R > UINT16_MAX) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "beam '%s' has too many elements for a glTF file", b->name);
  }
  if (f->scene.arena.failed) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < n; i++) {
    const int e = i == n - 1 ? b->count - 1 : i / per;
    const double s = (double)(i - e * per) / per, *A = mbg__glb_frame(f, b->body + e, 0),
                 *B = mbg__glb_frame(f, b->body + e + 1, 0);
    double size[2];
    mbg__scene_section(&f->scene, &b->rule, f->scene.m->elements[b->first + e].attr, size);
    for (int k = 0; k < 3; k++) {
      o[i].at[k] = (1 - s) * A[9 + k] + s * B[9 + k];
      o[i].y[k] = size[0] / 2 * ((1 - s) * A[3 * k + 1] + s * B[3 * k + 1]);
      o[i].z[k] = size[1] / 2 * ((1 - s) * A[3 * k + 2] + s * B[3 * k + 2]);
    }
    for (int v = i * R; v < (i + 1) * R; v++) {
      joint[4 * v] = (uint16_t)(s < 1 ? e : e + 1);
      joint[4 * v + 1] = (uint16_t)(s > 0 && s < 1 ? e + 1 : 0);
      weight[4 * v] = s < 1 ? (float)(1 - s) : 1;
      weight[4 * v + 1] = s < 1 ? (float)s : 0;
    }
  }
  for (int j = 0; j <= b->count; j++) { /* the inverse of the frame, columns one after the other */
    const double *H = mbg__glb_frame(f, b->body + j, 0);
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) {
        bind[16 * j + 4 * c + r] = (float)H[3 * c + r];
        bind[16 * j + 12 + r] -= (float)(H[3 * c + r] * H[9 + c]);
      }
    }
    bind[16 * j + 15] = 1;
  }
  const int first = mbg__solid_tube(&f->glb, n, o);
  mbg__glb_shorts(&f->glb, joint, n * R, 4, MBG__GLB_VERTICES);
  mbg__glb_floats(&f->glb, weight, n * R, 4, false, MBG__GLB_VERTICES);
  mbg__glb_floats(&f->glb, bind, b->count + 1, 16, false, 0);
  f->beams[b - f->scene.m->beams] = first;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- modal bodies */

/* A place of a modal body with its columns: on the axis of a generated beam, else nodes and markers along the longest
   extent. */
typedef struct {
  double r[3], *P;
} place;

static int compare_places(const place *a, const place *b, int axis) { return a->r[axis] < b->r[axis]; }

static void sort_places(place *o, int n) {
  double low[3], high[3];
  int axis = 0;
  for (int k = 0; k < 3; k++) {
    low[k] = high[k] = n > 0 ? o[0].r[k] : 0;
    for (int i = 0; i < n; i++) {
      low[k] = fmin(low[k], o[i].r[k]);
      high[k] = fmax(high[k], o[i].r[k]);
    }
    axis = high[k] - low[k] > high[axis] - low[axis] ? k : axis;
  }
  for (int i = 1; i < n; i++) {
    for (int j = i; j > 0 && compare_places(&o[j], &o[j - 1], axis); j--) {
      const place swap = o[j];
      o[j] = o[j - 1];
      o[j - 1] = swap;
    }
  }
}

static int given_places(mbg__glb_file *f, const mbg__modal *b, place *o) {
  const mbg_model *m = f->scene.m;
  const mbg__design *d = f->scene.design;
  int n = 0;
  for (int i = 0; i < b->nnode; i++, n++) {
    const mbg__modal_node *v = &b->nodes[i];
    for (int k = 0; k < 3; k++) {
      o[n].r[k] = v->at >= 0 ? v->sign[k] * re(d->attr[v->at + k]) : v->place[k];
    }
    for (int k = 0; k < 6 * b->n; k++) {
      o[n].P[k] = v->columns >= 0 ? re(d->attr[v->columns + k]) : v->P[k];
    }
  }
  for (int i = 0; i < m->nmarker; i++) {
    if (m->markers[i].body == b->body) {
      for (int k = 0; k < 3; k++) {
        o[n].r[k] = re(d->markers[i]->h.x[k]);
      }
      for (int k = 0; k < 6 * d->handles[i].n; k++) {
        o[n].P[k] = re(d->handles[i].P[k]);
      }
      n++;
    }
  }
  sort_places(o, n);
  return n;
}

/* displacement of a vertex by a mode: of the place, and by the rotation there */
static void put_target(mbg__glb_file *f, int n, const place *o, const mbg__section_place *sections, int mode) {
  enum { R = MBG__TUBE_RING };
  float *out = MBG_TAKE(&f->scene.arena, float, 3 * n * R);
  for (int v = 0; out && v < n * R; v++) {
    const double *P = o[v / R].P + 6 * mode;
    double c, s, d[3];
    mbg__tube_vertex(v % R, &c, &s);
    for (int k = 0; k < 3; k++) {
      d[k] = c * sections[v / R].y[k] + s * sections[v / R].z[k];
    }
    for (int k = 0; k < 3; k++) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      out[3 * v + k] = (float)(P[k] + P[3 + i] * d[j] - P[3 + j] * d[i]);
    }
  }
  if (out) {
    mbg__glb_floats(&f->glb, out, n * R, 3, true, MBG__GLB_VERTICES);
  }
}

enum { STATIONS = 5 }; /* of an element of a generated beam */

/* a tube along the places; its axis is the line from the first to the last */
int mbg__glb_modal(mbg_context *ctx, mbg__glb_file *f, const mbg__modal *b) {
  const int most = b->beam ? STATIONS * b->beam->count + 1 : b->nnode + f->scene.m->nmarker + 2;
  place *o = MBG_TAKE(&f->scene.arena, place, most);
  mbg__section_place *sections = MBG_TAKE(&f->scene.arena, mbg__section_place, most);
  double size[2] = {2 * mbg__scene_radius(&f->scene), 2 * mbg__scene_radius(&f->scene)};
  for (int i = 0; o && i < most; i++) {
    o[i].P = MBG_TAKE(&f->scene.arena, double, 6 * b->n);
  }
  if (f->scene.arena.failed) {
    return mbg__fail_memory(ctx);
  }
  int n = most;
  if (b->beam) {
    mbg__scene_section(&f->scene, &b->beam->rule, b->beam->attr[0], size);
    for (int i = 0; i < n; i++) {
      mbg__scene_station(&f->scene, b, (double)i / (n - 1), o[i].r, o[i].P);
    }
  } else {
    n = given_places(f, b, o);
  }
  while (n < 2) { /* a body without places is a point */
    o[n++] = (place){.P = o[most - 1].P};
  }
  mbg__frame axes = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
  double turn[12];
  mbg__scene_flatten(&axes, turn);
  mbg__scene_along(o[0].r, o[n - 1].r, turn);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      sections[i].at[k] = o[i].r[k];
      sections[i].y[k] = size[0] / 2 * (b->beam ? k == 1 : turn[3 * k]);
      sections[i].z[k] = size[1] / 2 * (b->beam ? k == 2 : turn[3 * k + 1]);
    }
  }
  f->modals[b - f->scene.m->modals] = mbg__solid_tube(&f->glb, n, sections);
  for (int j = 0; j < b->n; j++) {
    put_target(f, n, o, sections, j);
  }
  return MBG_OK;
}
