/* Volumes and inertias of MJCF's geoms of density 1 about their centres, axes of the geom. Sizes are half lengths. */
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

static const double pi = 3.141592653589793;

/* a cylinder along z: radius r, half length h */
static double cylinder(double r, double h, double I[3]) {
  const double m = pi * r * r * 2 * h;
  I[0] = I[1] = m * (3 * r * r + 4 * h * h) / 12;
  I[2] = m * r * r / 2;
  return m;
}

/* a cylinder with two half balls, whose centres of mass are 3/8 r beyond its ends */
static double capsule(double r, double h, double I[3]) {
  const double body = cylinder(r, h, I), ball = 4 * pi * r * r * r / 3;
  const double across = ball * (2 * r * r / 5 + h * h + 3 * h * r / 4);
  I[0] += across;
  I[1] += across;
  I[2] += ball * 2 * r * r / 5;
  return body + ball;
}

static double ellipsoid(const double s[3], double I[3]) {
  const double m = 4 * pi * s[0] * s[1] * s[2] / 3;
  for (int i = 0; i < 3; i++) {
    I[i] = m * (s[(i + 1) % 3] * s[(i + 1) % 3] + s[(i + 2) % 3] * s[(i + 2) % 3]) / 5;
  }
  return m;
}

static double box(const double s[3], double I[3]) {
  const double m = 8 * s[0] * s[1] * s[2];
  for (int i = 0; i < 3; i++) {
    I[i] = m * (s[(i + 1) % 3] * s[(i + 1) % 3] + s[(i + 2) % 3] * s[(i + 2) % 3]) / 3;
  }
  return m;
}

/* half the distance of fromto instead of the half length; cylinders, capsules: size[1], boxes, ellipsoids: size[2] */
static int take_ends(const mbg__mjcf *m, const mbg__mjcf_element *e, bool round, double size[3]) {
  double ends[6], d[3];
  int found = 0;
  const int err = mbg__mjcf_numbers(m, e, "fromto", 6, 6, ends, &found);
  if (err == MBG_OK && found == 6) {
    v3_sub(d, ends, ends + 3);
    const double half = sqrt(v3_dot(d, d)) / 2;
    if (round) {
      size[1] = half;
    } else {
      size[2] = half;
    }
  }
  return err;
}

int mbg__mjcf_geom_size(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *type, double size[3]) {
  const bool round = !strcmp(type, "capsule") || !strcmp(type, "cylinder");
  const int err = mbg__mjcf_numbers(m, e, "size", 0, 3, size, NULL);
  return err < 0 ? err : take_ends(m, e, round, size);
}

static int volume(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *type, double *out, double I[3]) {
  double size[3] = {0, 0, 0};
  int err = MBG_OK, need = 3;
  *out = 0;
  MBG_TRY(mbg__mjcf_geom_size(m, e, type, size));
  if (!strcmp(type, "sphere")) {
    size[1] = size[2] = size[0];
    *out = ellipsoid(size, I);
    need = 1;
  } else if (!strcmp(type, "capsule")) {
    *out = capsule(size[0], size[1], I);
    need = 2;
  } else if (!strcmp(type, "cylinder")) {
    *out = cylinder(size[0], size[1], I);
    need = 2;
  } else if (!strcmp(type, "box")) {
    *out = box(size, I);
  } else {
    *out = ellipsoid(size, I);
  }
  for (int i = 0; i < need; i++) {
    if (!(size[i] > 0)) {
      err = mbg__xml_fail(m->robot->ctx, e->at, "a %s needs %d positive size%s", type, need, need > 1 ? "s" : "");
      goto done;
    }
  }
done:
  return err;
}

int mbg__mjcf_geom_mass(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_mass *out) {
  static const char *const solid[] = {"sphere", "capsule", "cylinder", "box", "ellipsoid"};
  const char *type = mbg__mjcf_value(m, e, "type");
  double density = 1000, mass = NAN, group = 0, content = 0;
  mbg__robot_mass own = {0};
  mbg__frame H;
  int err = MBG_OK;
  bool known = false;
  *out = own;
  type = type ? type : mbg__mjcf_value(m, e, "mesh") ? "mesh" : "sphere";
  MBG_TRY(mbg__mjcf_number(m, e, "density", &density));
  MBG_TRY(mbg__mjcf_number(m, e, "mass", &mass));
  MBG_TRY(mbg__mjcf_number(m, e, "group", &group));
  if (group < m->group_range[0] || group > m->group_range[1] || !strcmp(type, "plane") || !strcmp(type, "hfield") ||
      mass == 0 || (isnan(mass) && density == 0)) {
    goto done;
  }
  for (int i = 0; i < MBG_COUNT(solid); i++) {
    known = known || !strcmp(type, solid[i]);
  }
  if (!strcmp(type, "mesh")) {
    MBG_TRY(mbg__mjcf_mesh_mass(m, e, &own));
    content = own.mass;
  } else if (known) {
    MBG_TRY(volume(m, e, type, &content, own.inertia));
  } else {
    err = mbg__xml_fail(m->robot->ctx, e->at,
                        "the mass of a geom of type '%.40s' is not computed: give its body <inertial>, or the geom "
                        "mass=\"0\"",
                        type);
    goto done;
  }
  const double scale = isnan(mass) ? density : mass / content;
  own.mass = scale * content;
  for (int i = 0; i < 6; i++) {
    own.inertia[i] *= scale;
  }
  if (!(own.mass >= 0) || !isfinite(own.mass)) {
    err = mbg__xml_fail(m->robot->ctx, e->at, "the mass %g is not positive", own.mass);
    goto done;
  }
  MBG_TRY(mbg__mjcf_frame(m, e, &H));
  mbg__robot_add_mass(out, &own, &H);
done:
  return err;
}
