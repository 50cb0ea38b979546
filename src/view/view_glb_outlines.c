/* Curves as tubes, cams and faces as plates, surfaces as lines. */
#include "view/view_glb.h"

#include <math.h>

/* direction of the line at point i: from the one before to the one behind */
static void tangent(const mbg__outline *o, int i, double out[3]) {
  const double *a = o->closed ? o->at[(i + o->n - 1) % o->n] : o->at[i > 0 ? i - 1 : 0];
  const double *b = o->closed ? o->at[(i + 1) % o->n] : o->at[i + 1 < o->n ? i + 1 : i];
  double length = 0;
  for (int k = 0; k < 3; k++) {
    out[k] = b[k] - a[k];
    length += out[k] * out[k];
  }
  for (int k = 0; k < 3; k++) {
    out[k] = length > 0 ? out[k] / sqrt(length) : k == 0;
  }
}

/* axes square to t: y as near as possible to the y before, z = t x y */
static void turn_axes(const double t[3], double y[3], double z[3]) {
  double dot = t[0] * y[0] + t[1] * y[1] + t[2] * y[2], length = 0;
  for (int k = 0; k < 3; k++) {
    y[k] -= dot * t[k];
    length += y[k] * y[k];
  }
  for (int k = 0; k < 3; k++) {
    y[k] /= sqrt(length);
  }
  for (int k = 0; k < 3; k++) {
    z[k] = t[(k + 1) % 3] * y[(k + 2) % 3] - t[(k + 2) % 3] * y[(k + 1) % 3];
  }
}

static int tube(mbg_context *ctx, mbg__glb_file *f, const mbg__outline *o) {
  const int n = o->n + o->closed;
  mbg__section_place *sections = MBG_TAKE(&f->scene.arena, mbg__section_place, n);
  double t[3], y[3] = {0, 0, 0}, z[3];
  if (!sections) {
    return mbg__fail_memory(ctx);
  }
  tangent(o, 0, t);
  y[fabs(t[2]) < 0.9 ? 2 : 0] = 1;
  for (int i = 0; i < n; i++) {
    tangent(o, i % o->n, t);
    turn_axes(t, y, z);
    for (int k = 0; k < 3; k++) {
      sections[i].at[k] = mbg__outline_point(o, i)[k];
      sections[i].y[k] = o->thick * y[k];
      sections[i].z[k] = o->thick * z[k];
    }
  }
  return mbg__solid_tube(&f->glb, n, sections);
}

static int grid(mbg_context *ctx, mbg__glb_file *f, const mbg__outline *o) {
  float *at = MBG_TAKE(&f->scene.arena, float, 3 * (size_t)o->n);
  int *ends = MBG_TAKE(&f->scene.arena, int, 2 * (size_t)o->n), count = 0, first = 0;
  if (!at || !ends) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < 3 * o->n; i++) {
    at[i] = (float)o->at[i / 3][i % 3];
  }
  for (int i = 0; i < o->nline; first += o->count[i++]) {
    for (int k = 0; k + 1 < o->count[i]; k++) {
      ends[count++] = first + k;
      ends[count++] = first + k + 1;
    }
  }
  const int out = mbg__glb_floats(&f->glb, at, o->n, 3, true, MBG__GLB_VERTICES);
  (void)mbg__glb_ints(&f->glb, ends, count, MBG__GLB_INDICES);
  return out;
}

int mbg__glb_outlines(mbg_context *ctx, mbg__glb_file *f) {
  for (int i = 0; i < f->outlines.count; i++) {
    const mbg__outline *o = &f->outlines.at[i];
    f->outline[i] = o->kind == MBG__OUTLINE_GRID ? grid(ctx, f, o)
                    : o->kind == MBG__OUTLINE_PLATE
                        ? mbg__solid_plate(&f->glb, o->n, (const double(*)[3])o->at, o->ntriangle,
                                           (const int(*)[3])o->corners, o->thick)
                        : tube(ctx, f, o);
    if (f->outline[i] < 0) {
      return f->outline[i];
    }
  }
  return mbg__arena_check(ctx, &f->glb.arena);
}
