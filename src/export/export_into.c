/* Into a file that the model was imported from: numbers of its links and joints change, all else stays letter by
   letter. Links that were merged keep their own masses but the one that the body is called by, which takes the
   difference. */
#include "export/export.h"
#include "io/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { URDF, SDF, MJCF } format;

/* bytes from begin to end become the text */
typedef struct {
  size_t begin, end;
  const char *text;
  int number;
} edit;

typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  const mbg__export *x;
  mbg__report *report;
  mbg__robot old; /* as in the file */
  format format;
  const char *path, *text;
  edit *edits; /* owned */
  int nedit, most;
  bool failed;
} writer;

/* ---------------------------------------------------------------------- edits */

/* takes the text of the buffer */
static void add_edit(writer *w, size_t begin, size_t end, mbg__buffer *with) {
  const char *text = NULL;
  size_t length = 0;
  if (w->nedit == w->most) {
    const int most = 2 * w->most + 32;
    edit *more = mbg__resize(w->ctx, w->edits, (size_t)most, sizeof(*more));
    w->edits = more ? more : w->edits;
    w->most = more ? most : w->most;
    w->failed = w->failed || !more;
  }
  w->failed = w->failed || mbg__buffer_finish(with, &text, &length) < 0;
  text = w->failed ? NULL : mbg__arena_text(w->arena, text, length);
  mbg__buffer_destroy(with);
  if (!text) {
    w->failed = true;
    return;
  }
  w->edits[w->nedit] = (edit){.begin = begin, .end = end, .text = text, .number = w->nedit};
  w->nedit++;
}

static int by_place(const void *a, const void *b) {
  const edit *x = a, *y = b;
  return x->begin != y->begin ? (x->begin > y->begin ? 1 : -1) : x->number - y->number;
}

/* one more child of an element */
static void add_child(writer *w, const mbg__xml *at, mbg__buffer *child) {
  const bool empty = at->inside >= 2 && w->text[at->inside - 2] == '/';
  mbg__buffer out;
  const char *text = "";
  mbg__buffer_init(&out, w->ctx);
  (void)mbg__buffer_finish(child, &text, NULL);
  mbg__buffer_format(&out, empty ? ">" : "");
  mbg__buffer_text(&out, text);
  if (empty) {
    mbg__buffer_format(&out, "</%s>", at->name);
  }
  mbg__buffer_destroy(child);
  add_edit(w, empty ? at->inside - 2 : at->inside, at->inside, &out);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void write_values(mbg__buffer *out, const double *values, int n) {
  for (int i = 0; i < n; i++) {
    mbg__buffer_text(out, i > 0 ? " " : "");
    mbg__buffer_number(out, values[i]);
  }
}

/* numbers of an attribute in the first tag of an element; a new one stands behind its name */
static void set_numbers(writer *w, const mbg__xml *at, const char *key, const double *values, int n) {
  const char *text = w->text, *p = text + at->begin + 1 + strlen(at->name), *end = text + at->inside;
  mbg__buffer out;
  mbg__buffer_init(&out, w->ctx);
  while (p < end) {
    while (p < end && is_blank(*p)) {
      p++;
    }
    const char *name = p;
    while (p < end && *p != '=' && !is_blank(*p)) {
      p++;
    }
    const size_t length = (size_t)(p - name);
    while (p < end && *p != '"' && *p != '\'') {
      p++;
    }
    const char *from = p + 1, *to = p < end ? memchr(from, *p, (size_t)(end - from)) : NULL;
    if (!to) {
      break;
    }
    if (length == strlen(key) && !strncmp(name, key, length)) {
      write_values(&out, values, n);
      add_edit(w, (size_t)(from - text), (size_t)(to - text), &out);
      return;
    }
    p = to + 1;
  }
  mbg__export_numbers(&out, key, values, n, 0);
  const size_t behind = at->begin + 1 + strlen(at->name);
  add_edit(w, behind, behind, &out);
}

static bool is_near(double a, double b, double scale) { return fabs(a - b) <= 1e-13 * scale; }

/* the same, where they differ from those that are there (absent: preset) by more than rounding of this scale */
static int change_numbers(writer *w, const mbg__xml *at, const char *key, const double *values, int n, double scale) {
  double old[6] = {0};
  bool same = true;
  const int err = mbg__xml_vector(w->ctx, at, key, n, old);
  for (int i = 0; i < n; i++) {
    same = same && is_near(old[i], values[i], scale);
  }
  if (err == MBG_OK && !same) {
    set_numbers(w, at, key, values, n);
  }
  return err;
}

/* ---------------------------------------------------------------------- masses */

static bool is_same(const mbg__robot_mass *a, const mbg__robot_mass *b, double size) {
  bool same = is_near(a->mass, b->mass, fabs(a->mass));
  double largest = 0;
  for (int i = 0; i < 6; i++) {
    largest = fmax(largest, fabs(a->inertia[i]));
  }
  for (int i = 0; i < 6; i++) {
    same = same && (i > 2 || is_near(a->com[i], b->com[i], size)) && is_near(a->inertia[i], b->inertia[i], largest);
  }
  return same;
}

/* a mass taken away from another, both in the same axes */
static void take_off(mbg__robot_mass *a, const mbg__robot_mass *b) {
  static const mbg__frame unit = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  mbg__robot_mass minus = *b;
  minus.mass = -b->mass;
  for (int i = 0; i < 6; i++) {
    minus.inertia[i] = -b->inertia[i];
  }
  mbg__robot_add_mass(a, &minus, &unit);
}

static void write_entries(const writer *w, mbg__buffer *out, const mbg__robot_mass *m) {
  static const char *const entries[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  for (int i = 0; i < 6; i++) {
    if (w->format == URDF) {
      mbg__export_number(out, entries[i], m->inertia[i]);
    } else {
      mbg__buffer_format(out, "<%s>", entries[i]);
      mbg__buffer_number(out, m->inertia[i]);
      mbg__buffer_format(out, "</%s>", entries[i]);
    }
  }
}

static void write_inertial(const writer *w, mbg__buffer *out, const mbg__robot_mass *m) {
  if (w->format == MJCF) {
    mbg__buffer_text(out, "<inertial");
    mbg__export_numbers(out, "pos", m->com, 3, 0);
    mbg__export_number(out, "mass", m->mass);
    mbg__export_numbers(out, "fullinertia", m->inertia, 6, 0);
    mbg__buffer_text(out, "/>");
  } else if (w->format == URDF) {
    mbg__buffer_text(out, "<inertial><origin");
    mbg__export_numbers(out, "xyz", m->com, 3, 0);
    mbg__buffer_text(out, "/><mass");
    mbg__export_number(out, "value", m->mass);
    mbg__buffer_text(out, "/><inertia");
    write_entries(w, out, m);
    mbg__buffer_text(out, "/></inertial>");
  } else {
    mbg__buffer_text(out, "<inertial><pose>");
    for (int i = 0; i < 3; i++) {
      mbg__buffer_number(out, m->com[i]);
      mbg__buffer_text(out, " ");
    }
    mbg__buffer_text(out, "0 0 0</pose><mass>");
    mbg__buffer_number(out, m->mass);
    mbg__buffer_text(out, "</mass><inertia>");
    write_entries(w, out, m);
    mbg__buffer_text(out, "</inertia></inertial>");
  }
}

/* The numbers of an <inertial> of URDF, in its own axes; false: something is missing there. */
static int change_inertial(writer *w, const mbg__xml *at, const mbg__robot_mass *m, bool *done) {
  static const char *const entries[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  const mbg__xml *origin = mbg__xml_child(at, "origin"), *mass = mbg__xml_child(at, "mass"),
                 *inertia = mbg__xml_child(at, "inertia");
  double rpy[3] = {0, 0, 0}, largest = 0;
  mbg__robot_mass turned = {0}, given = {.inertia = {0}};
  mbg__frame H, back;
  int err = MBG_OK;
  *done = w->format == URDF && origin && mass && inertia;
  if (!*done) {
    return MBG_OK;
  }
  MBG_TRY(mbg__xml_vector(w->ctx, origin, "rpy", 3, rpy));
  frame_identity(&H);
  mbg__robot_rpy(H.R, rpy);
  frame_inv(&back, &H);
  memcpy(given.inertia, m->inertia, sizeof(given.inertia));
  mbg__robot_add_mass(&turned, &given, &back);
  for (int i = 0; i < 3; i++) {
    largest = fmax(largest, fabs(turned.inertia[i]));
  }
  MBG_TRY(change_numbers(w, origin, "xyz", m->com, 3, w->x->size));
  MBG_TRY(change_numbers(w, mass, "value", &m->mass, 1, m->mass));
  for (int i = 0; i < 6; i++) {
    MBG_TRY(change_numbers(w, inertia, entries[i], &turned.inertia[i], 1, largest));
  }
done:
  return err;
}

static bool is_here(writer *w, const mbg__xml *at, const char *what, const char *name) {
  const bool here = !strcmp(at->file, w->path);
  if (!here) {
    mbg__report_add(w->report, NULL, "not written", "%s '%s': it stands in the included file %s", what, name, at->file);
  }
  return here;
}

static int put_mass(writer *w, const mbg__robot_link *link, const mbg__robot_link *now) {
  const mbg__xml *at =
      !strcmp(link->at->name, "joint") || !strcmp(link->at->name, "freejoint") ? link->at->parent : link->at;
  const mbg__xml *inertial = mbg__xml_child(at, "inertial");
  mbg__robot_mass own = now->own, others = link->total;
  mbg__buffer out;
  bool done = false;
  if (is_same(&link->total, &now->own, w->x->size) || !is_here(w, at, "the mass of link", link->name)) {
    return MBG_OK;
  }
  if (!is_same(&link->total, &link->own, w->x->size)) {
    take_off(&others, &link->own);
    take_off(&own, &others);
  }
  if (own.mass < 0) {
    return mbg__xml_fail(w->ctx, at, "the links that are fixed to '%s' are heavier than all of them together are now",
                         link->name);
  }
  mbg__report_add(w->report, at, "written", "mass, centre of mass and inertia of '%s'", link->name);
  const int err = inertial ? change_inertial(w, inertial, &own, &done) : MBG_OK;
  if (err < 0 || done) {
    return err;
  }
  mbg__buffer_init(&out, w->ctx);
  write_inertial(w, &out, &own);
  if (inertial) {
    add_edit(w, inertial->begin, inertial->end, &out);
  } else {
    add_child(w, at, &out);
  }
  return MBG_OK;
}

static int put_masses(writer *w) {
  int err = MBG_OK;
  for (int l = 0; l < w->old.nlink; l++) {
    const mbg__robot_link *link = &w->old.links[l];
    const int now = link->body == l ? mbg__robot_find_link(&w->x->robot, link->word) : -1;
    if (now >= 0) {
      const mbg__frame *a = &link->place, *b = &w->x->robot.links[now].place;
      double off = 0;
      for (int i = 0; i < 9; i++) {
        off = fmax(off, fmax(fabs(a->R[i] - b->R[i]), i < 3 ? fabs(a->x[i] - b->x[i]) / w->x->size : 0));
      }
      if (off > 1e-9) {
        mbg__report_add(w->report, NULL, "not written", "the place of '%s', which is another one in the model",
                        link->name);
      }
      MBG_TRY(put_mass(w, link, &w->x->robot.links[now]));
    } else if (link->body == l) {
      mbg__report_add(w->report, NULL, "not written", "'%s': the model has no such body", link->name);
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- joints */

/* <key>value</key> in <dynamics> of <axis> */
static void put_text(writer *w, const mbg__xml *joint, const char *key, double value) {
  const mbg__xml *axis = mbg__xml_child(joint, "axis"), *dynamics = mbg__xml_child(axis, "dynamics"),
                 *old = mbg__xml_child(dynamics, key);
  mbg__buffer out;
  mbg__buffer_init(&out, w->ctx);
  mbg__buffer_text(&out, dynamics ? "" : "<dynamics>");
  mbg__buffer_format(&out, "<%s>", key);
  mbg__buffer_number(&out, value);
  mbg__buffer_format(&out, "</%s>", key);
  mbg__buffer_text(&out, dynamics ? "" : "</dynamics>");
  if (old) {
    add_edit(w, old->begin, old->end, &out);
  } else {
    add_child(w, dynamics ? dynamics : axis, &out);
  }
}

static void put_value(writer *w, const mbg__robot_joint *joint, const char *key, double value) {
  const mbg__xml *dynamics = mbg__xml_child(joint->at, "dynamics");
  if (w->format == MJCF) {
    set_numbers(w, joint->at, key, &value, 1);
  } else if (w->format == SDF) {
    put_text(w, joint->at, key, value);
  } else if (dynamics) {
    set_numbers(w, dynamics, key, &value, 1);
  } else {
    mbg__buffer out;
    mbg__buffer_init(&out, w->ctx);
    mbg__buffer_text(&out, "<dynamics");
    mbg__export_number(&out, key, value);
    mbg__buffer_text(&out, "/>");
    add_child(w, joint->at, &out);
  }
  mbg__report_add(w->report, joint->at, "written", "%s of '%s'", key, joint->name);
}

static void put_joint(writer *w, const mbg__robot_joint *joint, const mbg__robot_joint *now) {
  static const char *const keys[3][3] = {[URDF] = {"damping", "friction", NULL},
                                         [SDF] = {"damping", "friction", "spring_stiffness"},
                                         [MJCF] = {"damping", "frictionloss", "stiffness"}};
  const double old[3] = {joint->damping, joint->friction, joint->stiffness},
               new[3] = {now->damping, now->friction, now->stiffness};
  for (int i = 0; i < 3; i++) {
    if (is_near(old[i], new[i], fabs(old[i])) || !is_here(w, joint->at, "numbers of joint", joint->name)) {
      continue;
    }
    if (!keys[w->format][i]) {
      mbg__report_add(w->report, NULL, "not written", "stiffness on joint '%s': URDF has no springs", joint->name);
    } else if (i != 1 && joint->spring_time > 0 && joint->spring_ratio > 0) {
      mbg__report_add(w->report, NULL, "not written", "%s of joint '%s': springdamper gives it", keys[w->format][i],
                      joint->name);
    } else {
      put_value(w, joint, keys[w->format][i], new[i]);
    }
  }
}

/* A model that was imported without damping or friction has none: what it lacks everywhere stays in the file. */
static void put_joints(writer *w) {
  bool damped = false, rubbed = false;
  for (int j = 0; j < w->x->robot.njoint; j++) {
    damped = damped || w->x->robot.joints[j].damping > 0;
    rubbed = rubbed || w->x->robot.joints[j].friction > 0;
  }
  for (int j = 0; j < w->old.njoint; j++) {
    const mbg__robot_joint *joint = &w->old.joints[j];
    const int k = mbg__robot_find_joint(&w->x->robot, joint->word);
    if (k >= 0 && !joint->loop && mbg__export_has_coordinate(joint)) {
      mbg__robot_joint now = w->x->robot.joints[k];
      now.damping = damped ? now.damping : joint->damping;
      now.friction = rubbed ? now.friction : joint->friction;
      put_joint(w, joint, &now);
    }
  }
}

/* ---------------------------------------------------------------------- the file */

/* With which options was it imported? Bodies of the model tell. */
static void guess_options(const writer *w, mbg_import_options *o) {
  for (int l = 0; l < w->old.nlink; l++) {
    bool carried = false;
    for (int j = 0; j < w->old.njoint; j++) {
      const mbg__robot_joint *joint = &w->old.joints[j];
      carried = carried || (!joint->loop && joint->child == l);
      if (!joint->loop && joint->child == l && joint->kind == MBG__ROBOT_FIXED) {
        o->keep_fixed = o->keep_fixed || mbg__robot_find_link(&w->x->robot, w->old.links[l].word) >= 0;
      }
    }
    o->free_base = o->free_base || (!carried && mbg__robot_find_link(&w->x->robot, w->old.links[l].word) >= 0);
  }
}

static int take_format(writer *w, const mbg__xml *root) {
  const mbg__xml *compiler = mbg__xml_child(root, "compiler");
  w->format = !strcmp(root->name, "robot") ? URDF : !strcmp(root->name, "sdf") ? SDF : MJCF;
  for (; compiler; compiler = mbg__xml_next(compiler)) {
    const char *from = mbg__xml_value(compiler, "inertiafromgeom");
    if (mbg__xml_value(compiler, "settotalmass") || (from && !strcmp(from, "true"))) {
      return mbg__xml_fail(w->ctx, compiler,
                           "masses cannot be written: settotalmass or inertiafromgeom=\"true\" would "
                           "change them again");
    }
  }
  return MBG_OK;
}

static void apply(const writer *w, size_t length, mbg__buffer *out) {
  size_t at = 0;
  if (w->nedit > 0) {
    qsort(w->edits, (size_t)w->nedit, sizeof(edit), by_place);
  }
  for (int i = 0; i < w->nedit; i++) {
    const edit *e = &w->edits[i];
    mbg__buffer_add(out, w->text + at, e->begin - at);
    mbg__buffer_text(out, e->text);
    at = e->end;
  }
  mbg__buffer_add(out, w->text + at, length - at);
}

int mbg__export_into(mbg_context *ctx, mbg__arena *arena, const mbg__export *x, const char *path, mbg__buffer *out) {
  mbg_import_options options = {.size = sizeof(options)};
  writer w = {.ctx = ctx, .arena = arena, .x = x, .report = x->robot.report, .path = path};
  mbg__report silent;
  mbg__xml *root = NULL;
  char *text = NULL;
  size_t length = 0;
  int err = MBG_OK;
  mbg__report_init(&silent, ctx, arena, path);
  mbg__robot_init(&w.old, ctx, arena, &silent, path);
  w.report->file = path;
  w.report->count = 0; /* nothing but numbers is written */
  MBG_TRY(mbg__file_read_data(ctx, arena, path, &text, &length));
  w.text = text;
  MBG_TRY(mbg__xml_read_data(ctx, arena, path, &root));
  MBG_TRY(mbg__robot_read(&w.old, root));
  MBG_TRY(take_format(&w, root));
  MBG_TRY(mbg__robot_make_words(&w.old));
  guess_options(&w, &options);
  MBG_TRY(mbg__robot_finish(&w.old, &options));
  MBG_TRY(put_masses(&w));
  put_joints(&w);
  if (w.failed) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  if (w.report->count == 0) {
    mbg__report_add(w.report, NULL, "note", "the file has the numbers of the model already");
  }
  apply(&w, length, out);
done:
  mbg__free(ctx, w.edits);
  mbg__robot_destroy(&w.old);
  mbg__report_destroy(&silent);
  return err;
}
