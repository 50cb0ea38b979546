#include "import/mjcf.h"

#include "io/file.h"

#include <math.h>
#include <string.h>

enum { INCLUDE_DEPTH = 20, INCLUDES_MAX = 1000, INCLUDE_BYTES = 16000000, CLASS_DEPTH = 100 };

/* ---------------------------------------------------------------------- included files */

static int include_in(mbg__mjcf *m, mbg__xml *parent, int depth);

/* the children of the included file instead of the element; *link points at it */
static int splice(mbg__mjcf *m, mbg__xml **link, int depth) {
  mbg__robot *robot = m->robot;
  mbg__xml *at = *link, *root = NULL;
  const char *file = mbg__xml_value(at, "file");
  int err = MBG_OK;
  if (!file) {
    return mbg__xml_fail(robot->ctx, at, "the attribute 'file' is missing");
  }
  if (depth > INCLUDE_DEPTH) {
    return mbg__xml_fail(robot->ctx, at, "files include each other more than %d deep", INCLUDE_DEPTH);
  }
  if (++m->includes > INCLUDES_MAX) {
    return mbg__xml_fail(robot->ctx, at, "more than %d files are included", INCLUDES_MAX);
  }
  const char *path = mbg__path_beside(robot->arena, robot->file, file);
  if (!path) {
    return mbg__fail_memory(robot->ctx);
  }
  MBG_TRY(mbg__xml_read_data(robot->ctx, robot->arena, path, &root));
  m->include_bytes += root->end;
  if (m->include_bytes > INCLUDE_BYTES) {
    return mbg__xml_fail(robot->ctx, at, "included files have more than %d bytes together", INCLUDE_BYTES);
  }
  MBG_TRY(include_in(m, root, depth + 1));
  if (!root->child) {
    *link = at->next;
    return MBG_OK;
  }
  *link = root->child;
  for (mbg__xml *c = root->child; c; c = c->next) {
    c->parent = at->parent;
    if (!c->next) {
      c->next = at->next;
      break;
    }
  }
done:
  return err;
}

static int include_in(mbg__mjcf *m, mbg__xml *parent, int depth) {
  int err = MBG_OK;
  for (mbg__xml **link = &parent->child; *link;) {
    if (!strcmp((*link)->name, "include")) {
      MBG_TRY(splice(m, link, depth));
      continue; /* what came in has been expanded; it is visited once more without effect */
    }
    MBG_TRY(include_in(m, *link, depth));
    link = &(*link)->next;
  }
done:
  return err;
}

int mbg__mjcf_include(mbg__mjcf *m, mbg__xml *root) { return include_in(m, root, 0); }

/* ---------------------------------------------------------------------- classes */

static int add_class(mbg__mjcf *m, const mbg__xml *at, const char *name, int parent, int depth) {
  mbg_context *ctx = m->robot->ctx;
  int err = MBG_OK;
  if (depth > CLASS_DEPTH) {
    return mbg__xml_fail(ctx, at, "classes nested more than %d deep", CLASS_DEPTH);
  }
  if (m->nclass == m->most_classes) {
    const int most = 2 * m->most_classes + 16;
    mbg__mjcf_class *classes = mbg__resize(ctx, m->classes, (size_t)most, sizeof(*classes));
    if (!classes) {
      return mbg__fail_memory(ctx);
    }
    m->classes = classes;
    m->most_classes = most;
  }
  const int own = m->nclass++;
  m->classes[own] = (mbg__mjcf_class){.name = name, .parent = parent, .at = at};
  if (mbg__names_find(&m->class_names, name) < 0 && !mbg__names_add(&m->class_names, name, own)) {
    return mbg__fail_memory(ctx);
  }
  for (const mbg__xml *c = mbg__xml_child(at, "default"); c; c = mbg__xml_next(c)) {
    const char *word = mbg__xml_value(c, "class");
    if (!word || !*word) {
      return mbg__xml_fail(ctx, c, "a class inside another needs the attribute 'class'");
    }
    MBG_TRY(add_class(m, c, word, own, depth + 1));
  }
done:
  return err;
}

int mbg__mjcf_read_defaults(mbg__mjcf *m, const mbg__xml *root) {
  int err = MBG_OK;
  for (const mbg__xml *d = mbg__xml_child(root, "default"); d; d = mbg__xml_next(d)) {
    const char *name = mbg__xml_value(d, "class");
    const int own = m->nclass;
    MBG_TRY(add_class(m, d, name && *name ? name : "main", m->main, 0));
    m->main = own; /* a second section adds to the first, for what comes after */
  }
done:
  return err;
}

int mbg__mjcf_element_of(mbg__mjcf *m, const mbg__xml *at, const char *childclass, mbg__mjcf_element *out) {
  const char *own = mbg__xml_value(at, "class"), *name = own ? own : childclass;
  *out = (mbg__mjcf_element){.at = at, .tag = at->name, .class = m->main};
  if (name && strcmp(name, "main") != 0) {
    out->class = mbg__names_find(&m->class_names, name);
    if (out->class < 0) {
      return mbg__xml_fail(m->robot->ctx, at, "there is no class '%s'", name);
    }
  }
  return MBG_OK;
}

const char *mbg__mjcf_value(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *key) {
  const char *value = mbg__xml_value(e->at, key);
  for (int c = e->class; c >= 0 && !value; c = m->classes[c].parent) {
    for (const mbg__xml *d = mbg__xml_child(m->classes[c].at, e->tag); d && !value; d = mbg__xml_next(d)) {
      value = mbg__xml_value(d, key);
    }
  }
  return value;
}

int mbg__mjcf_numbers(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *key, int least, int n, double *out,
                      int *found) {
  const char *text = mbg__mjcf_value(m, e, key);
  if (found) {
    *found = 0;
  }
  return mbg__xml_numbers(m->robot->ctx, e->at, key, text, least, n, out, found);
}

int mbg__mjcf_number(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *key, double *out) {
  return mbg__mjcf_numbers(m, e, key, 1, 1, out, NULL);
}

/* ---------------------------------------------------------------------- frames */

static void turn_about(double R[9], const double axis[3], double angle) {
  const double c = cos(angle), s = sin(angle), k = 1 - c, x = axis[0], y = axis[1], z = axis[2];
  const double out[9] = {c + k * x * x,     k * x * y - s * z, k * x * z + s * y, k * x * y + s * z, c + k * y * y,
                         k * y * z - s * x, k * x * z - s * y, k * y * z + s * x, c + k * z * z};
  memcpy(R, out, sizeof(out));
}

static int unit(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *what, int n, double *v) {
  double square = 0;
  for (int i = 0; i < n; i++) {
    square += v[i] * v[i];
  }
  if (!(square > 0) || !isfinite(square)) {
    return mbg__xml_fail(m->robot->ctx, e->at, "%s has no direction", what);
  }
  for (int i = 0; i < n; i++) {
    v[i] /= sqrt(square);
  }
  return MBG_OK;
}

void mbg__mjcf_turn(double R[9], const double q[4]) {
  const double s = 1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double w = s * q[0], x = s * q[1], y = s * q[2], z = s * q[3];
  const double out[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(R, out, sizeof(out));
}

static int turn_quaternion(const mbg__mjcf *m, const mbg__mjcf_element *e, double R[9]) {
  double q[4] = {1, 0, 0, 0};
  int err = mbg__mjcf_numbers(m, e, "quat", 4, 4, q, NULL);
  if (err == MBG_OK) {
    err = unit(m, e, "quat", 4, q);
  }
  if (err == MBG_OK) {
    mbg__mjcf_turn(R, q);
  }
  return err;
}

/* rotations about axes x y z of the turned frame (small letters) or of the fixed one (capitals) */
static int turn_euler(const mbg__mjcf *m, const mbg__mjcf_element *e, double R[9]) {
  double angles[3] = {0, 0, 0}, now[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, one[9], next[9];
  const int err = mbg__mjcf_numbers(m, e, "euler", 3, 3, angles, NULL);
  for (int i = 0; i < 3; i++) {
    const char letter = m->eulerseq[i];
    const double axis[3] = {letter == 'x' || letter == 'X', letter == 'y' || letter == 'Y',
                            letter == 'z' || letter == 'Z'};
    turn_about(one, axis, m->angle * angles[i]);
    if (letter >= 'a') {
      m3_mul(next, now, one);
    } else {
      m3_mul(next, one, now);
    }
    memcpy(now, next, sizeof(now));
  }
  memcpy(R, now, sizeof(now));
  return err;
}

static int turn_axes(const mbg__mjcf *m, const mbg__mjcf_element *e, double R[9]) {
  double v[6] = {1, 0, 0, 0, 1, 0}, *x = v, *y = v + 3, z[3];
  int err = MBG_OK;
  MBG_TRY(mbg__mjcf_numbers(m, e, "xyaxes", 6, 6, v, NULL));
  MBG_TRY(unit(m, e, "xyaxes", 3, x));
  const double along = v3_dot(x, y);
  for (int i = 0; i < 3; i++) {
    y[i] -= along * x[i];
  }
  MBG_TRY(unit(m, e, "xyaxes", 3, y));
  v3_cross(z, x, y);
  for (int i = 0; i < 3; i++) {
    R[3 * i] = x[i];
    R[3 * i + 1] = y[i];
    R[3 * i + 2] = z[i];
  }
done:
  return err;
}

/* the smallest rotation that brings z there */
static int turn_z(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *key, const double given[3], double R[9]) {
  static const double z[3] = {0, 0, 1};
  double v[3] = {given[0], given[1], given[2]}, axis[3];
  const int err = unit(m, e, key, 3, v);
  v3_cross(axis, z, v);
  const double sine = sqrt(v3_dot(axis, axis));
  if (sine > 1e-10) {
    v3_scale(axis, 1 / sine, axis);
  } else {
    axis[0] = 1;
    axis[1] = axis[2] = 0;
  }
  turn_about(R, axis, atan2(sine, v[2]));
  return err;
}

static int own_frame(const mbg__mjcf *m, const mbg__mjcf_element *e, mbg__frame *out) {
  double v[6] = {0, 0, 1, 0, 0, 0};
  int err = MBG_OK;
  frame_identity(out);
  MBG_TRY(mbg__mjcf_numbers(m, e, "pos", 3, 3, out->x, NULL));
  if (mbg__mjcf_value(m, e, "fromto")) {
    double ends[6] = {0}, axis[3];
    MBG_TRY(mbg__mjcf_numbers(m, e, "fromto", 6, 6, ends, NULL));
    v3_sub(axis, ends, ends + 3);
    for (int i = 0; i < 3; i++) {
      out->x[i] = (ends[i] + ends[3 + i]) / 2;
    }
    err = turn_z(m, e, "fromto", axis, out->R);
  } else if (mbg__mjcf_value(m, e, "quat")) {
    err = turn_quaternion(m, e, out->R);
  } else if (mbg__mjcf_value(m, e, "axisangle")) {
    MBG_TRY(mbg__mjcf_numbers(m, e, "axisangle", 4, 4, v, NULL));
    MBG_TRY(unit(m, e, "axisangle", 3, v));
    turn_about(out->R, v, m->angle * v[3]);
  } else if (mbg__mjcf_value(m, e, "euler")) {
    err = turn_euler(m, e, out->R);
  } else if (mbg__mjcf_value(m, e, "xyaxes")) {
    err = turn_axes(m, e, out->R);
  } else if (mbg__mjcf_value(m, e, "zaxis")) {
    MBG_TRY(mbg__mjcf_numbers(m, e, "zaxis", 3, 3, v, NULL));
    err = turn_z(m, e, "zaxis", v, out->R);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- <frame> around elements */

static bool is_frame(const mbg__xml *e) { return !strcmp(e->name, "frame"); }

int mbg__mjcf_outer_frame(const mbg__mjcf *m, const mbg__xml *at, mbg__frame *out) {
  int err = MBG_OK;
  frame_identity(out);
  for (const mbg__xml *f = at->parent; f && is_frame(f); f = f->parent) {
    const mbg__mjcf_element e = {.at = f, .tag = "frame", .class = -1};
    const mbg__frame inner = *out;
    mbg__frame own;
    MBG_TRY(own_frame(m, &e, &own));
    frame_mul(out, &own, &inner);
  }
done:
  return err;
}

int mbg__mjcf_frame(const mbg__mjcf *m, const mbg__mjcf_element *e, mbg__frame *out) {
  mbg__frame own, around;
  int err = MBG_OK;
  MBG_TRY(own_frame(m, e, &own));
  MBG_TRY(mbg__mjcf_outer_frame(m, e->at, &around));
  frame_mul(out, &around, &own);
done:
  return err;
}

const char *mbg__mjcf_childclass(const mbg__xml *at, const char *preset) {
  for (const mbg__xml *f = at->parent; f && is_frame(f); f = f->parent) {
    const char *class = mbg__xml_value(f, "childclass");
    if (class) {
      return class;
    }
  }
  return preset;
}

const mbg__xml *mbg__mjcf_inside(const mbg__xml *body, const char *tag, const mbg__xml *last) {
  const mbg__xml *e = last ? last : body;
  do {
    if ((e == body || is_frame(e)) && e->child) {
      e = e->child;
      continue;
    }
    while (e != body && !e->next) {
      e = e->parent;
    }
    e = e == body ? NULL : e->next;
  } while (e && (is_frame(e) || (tag && strcmp(e->name, tag) != 0)));
  return e;
}
