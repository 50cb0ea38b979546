/* From a model to links and joints: a spanning tree from the ground, the other joints close loops. */
#include "export/export.h"

#include <math.h>
#include <string.h>

typedef struct {
  mbg_context *ctx;
  mbg__export *x;
  const mbg_model *m;
  const mbg__design *design;
  mbg__report *report;
  bool *reached; /* links that are carried                    (nlink) */
  bool *done;    /* joints that carry a link                  (njoint) */
} reader;

static int refuse(const reader *r, const mbg__where *where, const char *what) {
  return mbg__fail_at(r->ctx, MBG_ERROR_UNSUPPORTED, where, 0, "%s", what);
}

/* ---------------------------------------------------------------------- bodies */

static void mass_of(const reader *r, int b, mbg__robot_mass *out) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  const mbg__body *body = &r->m->bodies[b];
  const double *M = r->design->M + 36 * (size_t)b, *attr = r->design->attr + body->attr;
  const double mass = M[0];
  *out = (mbg__robot_mass){.mass = mass};
  for (int i = 0; i < 3 && mass > 0; i++) {
    out->com[i] = attr[1 + i];
  }
  /* M holds the inertia about the origin; taking the point mass off loses digits, so the number of the file counts
     where it is about the centre of mass (opt 0) */
  const double c2 = v3_dot(out->com, out->com);
  for (int k = 0; k < 6; k++) {
    const int i = row[k], j = column[k];
    const double steiner = mass * ((i == j ? c2 : 0) - out->com[i] * out->com[j]);
    out->inertia[k] = body->opt[0] == 0 ? attr[4 + k] : M[6 * (3 + i) + 3 + j] - steiner;
  }
}

static int read_bodies(reader *r) {
  const mbg_model *m = r->m;
  int err = MBG_OK;
  if (m->nbeam > 0) {
    return refuse(r, &m->beams[0].where, "beams are not part of robot files");
  }
  if (m->nmodal > 0) {
    return refuse(r, &m->modals[0].where, "modal bodies are not part of robot files");
  }
  for (int b = 0; b < mbg__masses(m); b++) {
    const mbg__body *body = &m->bodies[b];
    mbg__robot_link *link;
    if (body->motion == MBG__POINT || body->motion == MBG__PLANAR_POINT) {
      return refuse(r, &body->where, "a body that does not turn (\"motion\": \"point\") is not part of robot files");
    }
    MBG_TRY(mbg__robot_add_link(&r->x->robot, NULL, body->name, &link));
    link->word = body->name;
    link->place = r->design->poses[body->design].h;
    mass_of(r, b, &link->own);
  }
done:
  return err;
}

/* the ground of a file that was written here */
static bool is_world(const char *name) { return !strcmp(name, "world") || !strcmp(name, "site_world"); }

/* named markers that are no ends of joints */
static int read_markers(reader *r, mbg__arena *arena) {
  const mbg_model *m = r->m;
  bool *used = MBG_TAKE(arena, bool, m->nmarker + 1);
  r->x->markers = MBG_TAKE(arena, mbg__export_marker, m->nmarker + 1);
  const int err = mbg__arena_check(r->ctx, arena);
  for (int j = 0; j < m->njoint && err == MBG_OK; j++) {
    const mbg__pair *pair = &m->pairs[m->joints[j].pair];
    used[pair->A] = used[pair->B] = true;
  }
  for (int k = 0; k < m->nmarker && err == MBG_OK; k++) {
    const mbg__marker *marker = &m->markers[k];
    const bool ground = marker->name && marker->body < 0 && (!strcmp(marker->name, "ground") || is_world(marker->name));
    if (marker->name && !used[k] && !ground && mbg__robot_find_link(&r->x->robot, marker->name) < 0) {
      r->x->markers[r->x->nmarker++] =
          (mbg__export_marker){.name = marker->name, .link = marker->body, .at = r->design->markers[k]->h};
    }
  }
  return err;
}

/* ---------------------------------------------------------------------- joints */

static bool kind_of(const mbg__joint *joint, mbg__robot_kind *out) {
  static const char *const words[] = {"fixed",     "revolute",  "prismatic", "cylindrical",
                                      "universal", "spherical", "planar",    "screw"};
  for (int k = 0; k < MBG_COUNT(words); k++) {
    if (!strcmp(joint->type->key, words[k])) {
      *out = (mbg__robot_kind)k;
      return true;
    }
  }
  return false;
}

static int read_joint(reader *r, const mbg__joint *joint) {
  const mbg_model *m = r->m;
  const mbg__pair *pair = &m->pairs[joint->pair];
  mbg__robot_joint *out;
  mbg__robot_kind kind;
  char text[200];
  int err = MBG_OK;
  if (!kind_of(joint, &kind)) {
    mbg__format(text, sizeof(text), "a joint of type '%s' is not part of robot files", joint->type->key);
    return refuse(r, &joint->where, text);
  }
  MBG_TRY(mbg__robot_add_joint(&r->x->robot, NULL, joint->name, &out));
  out->word = joint->name;
  out->kind = kind;
  out->parent = m->markers[pair->A].body;
  out->child = m->markers[pair->B].body;
  out->in_parent = r->design->markers[pair->A]->h;
  out->in_child = r->design->markers[pair->B]->h;
  out->axis[2] = joint->type->ncoord > 0 && joint->sign[0] < 0 ? -1 : 1;
  out->pitch = kind == MBG__ROBOT_SCREW ? r->design->attr[joint->attr] : 0;
  out->loop = true; /* until it carries a link */
  if (kind == MBG__ROBOT_UNIVERSAL) {
    const double x[3] = {1, 0, 0};
    v3_copy(out->axis, x);
  }
done:
  return err;
}

/* the other way round: B is nearer to the ground than A */
static void turn_round(mbg__robot_joint *joint) {
  const mbg__frame H = joint->in_parent;
  const int link = joint->parent;
  joint->parent = joint->child;
  joint->child = link;
  joint->in_parent = joint->in_child;
  joint->in_child = H;
  if (joint->kind == MBG__ROBOT_UNIVERSAL) { /* (Rx(a) Ry(b))^-1 = Ry(-b) Rx(-a) */
    const double first[3] = {0, -1, 0}, second[3] = {-1, 0, 0};
    v3_copy(joint->axis, first);
    v3_copy(joint->axis2, second);
  } else {
    v3_scale(joint->axis, -1, joint->axis);
  }
}

/* One pass: joints between a link that is carried and one that is not. */
static bool carry(reader *r, bool cuts) {
  mbg__robot *robot = &r->x->robot;
  bool more = false;
  for (int j = 0; j < r->m->njoint; j++) {
    mbg__robot_joint *joint = &robot->joints[j];
    const bool a = joint->parent < 0 || r->reached[joint->parent], b = joint->child < 0 || r->reached[joint->child];
    if (r->done[j] || a == b || (r->m->joints[j].cut == 1 && !cuts)) {
      continue;
    }
    if (b) {
      turn_round(joint);
    }
    joint->loop = false;
    r->done[j] = r->reached[joint->child] = more = true;
    if (cuts) {
      break;
    }
  }
  return more;
}

/* a link that nothing holds moves freely */
static int set_free(reader *r, mbg__arena *arena, int link) {
  mbg__robot *robot = &r->x->robot;
  mbg__robot_joint *joint;
  char name[300];
  mbg__format(name, sizeof(name), "%.250s_free", robot->links[link].name);
  const char *kept = mbg__arena_text(arena, name, strlen(name));
  if (r->m->bodies[link].motion != MBG__SPATIAL) {
    return refuse(r, &r->m->bodies[link].where, "it moves freely in a plane: give it a planar joint to the ground");
  }
  const int err = kept ? mbg__robot_add_joint(robot, NULL, kept, &joint) : mbg__fail_memory(r->ctx);
  if (err == MBG_OK) {
    joint->word = kept;
    joint->kind = MBG__ROBOT_FREE;
    joint->child = link;
    joint->in_parent = robot->links[link].place;
    r->reached[link] = true;
  }
  return err;
}

static int read_tree(reader *r, mbg__arena *arena) {
  int err = MBG_OK;
  for (int j = 0; j < r->m->njoint; j++) {
    MBG_TRY(read_joint(r, &r->m->joints[j]));
  }
  for (int link = 0; link < r->x->robot.nlink;) {
    while (carry(r, false)) {
    }
    if (r->reached[link]) {
      link++;
    } else if (!carry(r, true)) {
      MBG_TRY(set_free(r, arena, link));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- forces */

static double number_of(const reader *r, const mbg__force *force, const char *key) {
  for (int k = 0; k < force->law->nkey; k++) {
    if (!strcmp(force->law->keys[k].name, key)) {
      return r->design->attr[force->attr + k];
    }
  }
  return 0;
}

static void take_spring(const reader *r, const mbg__force *force, mbg__robot_joint *joint) {
  const double k = number_of(r, force, "stiffness"), preload = number_of(r, force, "preload");
  joint->damping += number_of(r, force, "damping");
  if (k > 0) {
    joint->stiffness = k;
    joint->rest = number_of(r, force, "rest") - preload / k;
  } else if (preload != 0) {
    mbg__report_add(r->report, NULL, "left out", "preload of force '%s'", force->name);
  }
}

static void take_friction(const reader *r, const mbg__force *force, mbg__robot_joint *joint) {
  joint->friction = number_of(r, force, "torque");
  joint->damping += number_of(r, force, "damping");
  if (number_of(r, force, "rate_scale") != 0.01) {
    mbg__report_add(r->report, NULL, "approximated", "friction '%s' is dry: the file does not have its rate_scale",
                    force->name);
  }
}

/* the effort is the one from which import makes this stop */
static void take_stop(const reader *r, const mbg__force *force, mbg__robot_joint *joint) {
  const double lower = number_of(r, force, "lower"), upper = number_of(r, force, "upper");
  joint->lower = lower > -1e299 ? lower : NAN;
  joint->upper = upper < 1e299 ? upper : NAN;
  joint->effort = number_of(r, force, "stiffness") * number_of(r, force, "width") / 2;
  mbg__report_add(r->report, NULL, "approximated",
                  "soft stops are limits of joints; the file has no stiffness of them");
}

static void read_force(const reader *r, const mbg__force *force) {
  mbg__robot_joint *joint = force->joint >= 0 ? &r->x->robot.joints[force->joint] : NULL;
  const char *law = force->law ? force->law->key : "";
  const bool on = joint && mbg__export_has_coordinate(joint) && !joint->loop;
  if (on && (!strcmp(law, "torsion-spring-damper") || !strcmp(law, "spring-damper")) &&
      (joint->stiffness == 0 || number_of(r, force, "stiffness") == 0)) {
    take_spring(r, force, joint);
  } else if (on && !strcmp(law, "friction") && joint->friction == 0) {
    take_friction(r, force, joint);
  } else if (on && !strcmp(law, "stop") && isnan(joint->lower) && isnan(joint->upper)) {
    take_stop(r, force, joint);
  } else {
    mbg__report_add(r->report, NULL, "left out", "force '%s' (%s)", force->name, force->law ? law : force->type->key);
  }
}

/* ---------------------------------------------------------------------- couplings */

static int joint_of_pair(const reader *r, int pair) {
  for (int j = 0; j < r->m->njoint; j++) {
    const mbg__robot_joint *joint = &r->x->robot.joints[j];
    if (r->m->joints[j].pair == pair && mbg__export_has_coordinate(joint) && !joint->loop) {
      return j;
    }
  }
  return -1;
}

/* two factors and a constant */
static bool is_linear(const mbg__term *term) { return term[0].outer < 0 && term[1].outer < 0 && term[2].law < 0; }

/* f1 q1 + f2 q2 = c: one follows the other */
static int read_coupling(const reader *r, const mbg__coupling *coupling) {
  const mbg__row *row = &r->m->rows[coupling->row];
  const mbg__term *term = &r->m->terms[row->term];
  double f[2] = {0, 0};
  int j[2] = {-1, -1};
  for (int i = 0; i < 2 && row->nterm == 3 && is_linear(term); i++) {
    f[i] = (term[i].sign < 0 ? -1 : 1) * r->design->attr[term[i].factor];
    j[i] = joint_of_pair(r, term[i].pair);
  }
  if (j[0] < 0 || j[1] < 0 || j[0] == j[1]) {
    return refuse(r, &coupling->where,
                  "only linear couplings of two joints of a tree with one coordinate each are part of "
                  "robot files");
  }
  const double constant = r->design->attr[term[2].factor];
  const int own = r->x->robot.joints[j[0]].mimic < 0 && f[0] != 0 ? 0 : 1;
  mbg__robot_joint *joint = &r->x->robot.joints[j[own]];
  if (joint->mimic >= 0 || f[own] == 0) {
    return refuse(r, &coupling->where, "both joints follow others already");
  }
  joint->mimic = j[1 - own];
  joint->multiplier = -f[1 - own] / f[own];
  joint->offset = constant / f[own];
  return MBG_OK;
}

/* ---------------------------------------------------------------------- the model */

static int read_rest(const reader *r) {
  const mbg_model *m = r->m;
  int err = MBG_OK;
  for (int f = 0; f < mbg__forces(m); f++) {
    read_force(r, &m->forces[f]);
  }
  for (int c = 0; c < m->ncoupling; c++) {
    MBG_TRY(read_coupling(r, &m->couplings[c]));
  }
  for (int d = 0; d < m->ndriver; d++) {
    mbg__report_add(r->report, NULL, "left out", "driver '%s': its joint moves freely", m->drivers[d].name);
  }
  for (int s = 0; s < m->nstate; s++) {
    mbg__report_add(r->report, NULL, "left out", "state '%s'", m->states[s].name);
  }
  if (m->figures.n > 0) {
    mbg__report_add(r->report, NULL, "left out", "shapes");
  }
  mbg__report_add(r->report, NULL, "left out", "start, signals, criteria, runs and searches, which stay in the model");
done:
  return err;
}

int mbg__export_read(mbg_context *ctx, mbg__arena *arena, mbg__report *report, const mbg_model *m, const double *p,
                     mbg__export *x) {
  const mbg_import_options as_they_are = {.size = sizeof(as_they_are), .free_base = true, .keep_fixed = true};
  mbg__design *design = NULL;
  int err = MBG_OK;
  x->model = m;
  x->size = m->size;
  x->robot.name = m->name;
  MBG_TRY(mbg__design_create_plain(ctx, arena, m, &design));
  MBG_TRY(mbg__design_update(ctx, design, p ? p : m->p));
  reader r = {.ctx = ctx, .x = x, .m = m, .design = design, .report = report};
  r.reached = MBG_TAKE(arena, bool, m->nbody + 1);
  r.done = MBG_TAKE(arena, bool, m->njoint + 1);
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int i = 0; i < 3; i++) {
    x->robot.gravity[i] = m->gravity >= 0 ? design->attr[m->gravity + i] : 0;
  }
  MBG_TRY(read_bodies(&r));
  MBG_TRY(read_tree(&r, arena));
  MBG_TRY(read_markers(&r, arena));
  MBG_TRY(read_rest(&r));
  MBG_TRY(mbg__robot_finish(&x->robot, &as_they_are));
done:
  return err;
}
