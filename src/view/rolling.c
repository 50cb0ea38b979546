#include "view/rolling.h"

#include <math.h>
#include <string.h>

bool mbg__rolling_of(const mbg__scene *s, int joint, mbg__rolling_view *out) {
  enum { RADIUS, TUBE }; /* joint_rolling_wheel.c, joint_rolling_ball.c */
  const mbg__joint *j = &s->m->joints[joint];
  const real *a = s->design->attr + j->attr;
  *out = (mbg__rolling_view){.wheel = !strcmp(j->type->key, "rolling-wheel")};
  if (!out->wheel && strcmp(j->type->key, "rolling-ball")) {
    return false;
  }
  const double radius = re(a[RADIUS]), tube = out->wheel ? re(a[TUBE]) : 0;
  out->radius = radius + tube;
  out->width = fmax(2 * tube, 0.1 * radius);
  return true;
}

static int roller(const mbg__scene *s, int joint) { return s->m->pairs[s->m->joints[joint].pair].B; }

bool mbg__rolling_draws(const mbg__scene *s, int body) {
  for (int i = 0; i < s->m->njoint; i++) {
    mbg__rolling_view o;
    const int marker = roller(s, i);
    if (s->m->markers[marker].body != body || !mbg__rolling_of(s, i, &o)) {
      continue;
    }
    double h[12], com[3], off = 0;
    mbg__scene_com(s, body, com);
    mbg__scene_flatten(&s->design->markers[marker]->h, h);
    for (int k = 0; k < 3; k++) {
      off = fmax(off, fabs(h[9 + k] - com[k]));
    }
    if (off <= 0.1 * o.radius) {
      return true;
    }
  }
  return false;
}

void mbg__rolling_add(mbg__scene *s) {
  for (int i = 0; i < s->m->njoint; i++) {
    mbg__rolling_view o;
    const int marker = roller(s, i), body = s->m->markers[marker].body;
    if (!mbg__rolling_of(s, i, &o) || (body >= 0 && s->m->bodies[body].figured)) {
      continue;
    }
    mbg__draw *d = mbg__scene_add(s, o.wheel ? MBG__DRAW_CYLINDER : MBG__DRAW_SPHERE, body, (const double[3]){0, 0, 0});
    mbg__scene_flatten(&s->design->markers[marker]->h, d->frame);
    d->wheel = true;
    d->size[0] = o.radius;
    d->size[1] = o.wheel ? o.width : 0;
  }
}
