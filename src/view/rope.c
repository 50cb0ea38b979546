#include "view/rope.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- vectors */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = a[j] * b[k] - a[k] * b[j];
  }
}

/* v, square to the unit vector z, turned about it */
static void turned(const double z[3], const double v[3], double angle, double out[3]) {
  double side[3];
  cross(z, v, side);
  for (int i = 0; i < 3; i++) {
    out[i] = cos(angle) * v[i] + sin(angle) * side[i];
  }
}

static void column(const double H[12], int k, double out[3]) {
  for (int i = 0; i < 3; i++) {
    out[i] = H[3 * i + k];
  }
}

/* ---------------------------------------------------------------------- paths */

int mbg__rope_last(const mbg_model *m, int first) {
  while (m->vias[first].out >= 0) {
    first++;
  }
  return first;
}

static bool is_pulley(const mbg__via *v) { return v->side != 0; }

int mbg__rope_count(const mbg_model *m, int first, int last) {
  int n = 0;
  for (int k = first; k <= last; k++) {
    n += is_pulley(&m->vias[k]) ? MBG__ROPE_ARC + 1 : 1;
  }
  return n;
}

double mbg__rope_left(const mbg__scene *s, int place) {
  const mbg__via *v = &s->m->vias[place];
  return is_pulley(v) ? v->side * re(s->design->attr[v->radius]) : 0;
}

/* The direction of the straight part between two places, in the plane square to z; false: there is none. */
static bool direction(const double *A, double left_a, const double *B, double left_b, const double z[3], double u[3]) {
  double d[3], length = 0;
  for (int i = 0; i < 3; i++) {
    d[i] = B[9 + i] - A[9 + i];
  }
  const double along = dot(d, z);
  for (int i = 0; i < 3; i++) {
    d[i] -= along * z[i];
  }
  length = sqrt(dot(d, d));
  if (!(length > fabs(left_a - left_b))) {
    return false;
  }
  for (int i = 0; i < 3; i++) {
    d[i] /= length;
  }
  turned(z, d, asin((left_a - left_b) / length), u);
  return true;
}

/* the arc from direction `in` to direction `out`, about the axle */
static void arc(const double *H, double left, const double z[3], const double in[3], const double out[3],
                double (*points)[3]) {
  double across[3];
  cross(in, out, across);
  double angle = (left < 0 ? -1 : 1) * atan2(dot(across, z), dot(in, out));
  angle = (left < 0 ? -1 : 1) * (angle < -1e-9 ? angle + 2 * M_PI : angle);
  for (int k = 0; k <= MBG__ROPE_ARC; k++) {
    double u[3], n[3];
    turned(z, in, angle * k / MBG__ROPE_ARC, u);
    cross(z, u, n);
    for (int i = 0; i < 3; i++) {
      points[k][i] = H[9 + i] - left * n[i];
    }
  }
}

void mbg__rope_line(const mbg__scene *s, int first, int last, const double (*place)[12], double (*out)[3]) {
  for (int k = first; k <= last; k++) {
    const mbg__via *v = &s->m->vias[k];
    const double *H = place[k - first], left = mbg__rope_left(s, k);
    if (!is_pulley(v)) {
      memcpy(*out++, H + 9, 3 * sizeof(double));
      continue;
    }
    double z[3], fixed[3], in[3], away[3];
    column(H, 2, z);
    column(H, 0, fixed); /* the tangent where a drum holds the tendon */
    if (k == first || !direction(place[k - first - 1], mbg__rope_left(s, k - 1), H, left, z, in)) {
      memcpy(in, fixed, sizeof(in));
    }
    if (k == last || !direction(H, left, place[k - first + 1], mbg__rope_left(s, k + 1), z, away)) {
      memcpy(away, fixed, sizeof(away));
    }
    arc(H, left, z, in, away, out);
    out += MBG__ROPE_ARC + 1;
  }
}

/* ---------------------------------------------------------------------- sheaves */

/* another tendon may run over the same pulley */
static bool is_first(const mbg__scene *s, int via) {
  bool first = true;
  for (int k = 0; first && k < via; k++) {
    first =
        s->m->vias[k].marker != s->m->vias[via].marker || fabs(mbg__rope_left(s, k)) != fabs(mbg__rope_left(s, via));
  }
  return first;
}

void mbg__ropes_add(mbg__scene *s) {
  enum { STEEL = 0x8d97a5 };
  for (int k = 0; k < s->m->nvia; k++) {
    const mbg__via *v = &s->m->vias[k];
    const int body = s->m->markers[v->marker].body;
    const double radius = fabs(mbg__rope_left(s, k)), rope = mbg__rope_radius(s);
    if (!is_pulley(v) || !(radius > 0) || !is_first(s, k) || (body >= 0 && s->m->bodies[body].figured)) {
      continue;
    }
    mbg__draw *d = mbg__scene_add(s, MBG__DRAW_CYLINDER, body, (const double[3]){0, 0, 0});
    mbg__scene_flatten(&s->design->markers[v->marker]->h, d->frame);
    d->color = STEEL;
    d->size[0] = fmax(radius - rope, 0.5 * radius);
    d->size[1] = fmin(4 * rope, radius);
    d->marker = s->design->handles[v->marker].n > 0 ? v->marker : -1;
  }
}
