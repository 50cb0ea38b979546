/* The model with every coordinate that may become a state: coordinates of joints get signals of value, rate and
   acceleration, which are appended to those of the model; positions and rotations of bodies need none. First-order
   states of the model are no candidates: all of them follow the coordinates (linearize_choose.c). */
#include "linearize/linearize.h"

#include "elements/lists.h"

#include <string.h>

static const char *const axes[] = {"x", "y", "z"};

static const mbg__coord_type *coord_type(const char *key) {
  int n;
  const mbg__coord_type *const *types = mbg__coord_types(&n);
  for (int i = 0; i < n; i++) {
    if (!strcmp(types[i]->key, key)) {
      return types[i];
    }
  }
  return NULL;
}

static const mbg__signal_type *signal_type(int role) {
  int n;
  const mbg__signal_type *const *types = mbg__signal_types(&n);
  for (int i = 0; i < n; i++) {
    if (types[i]->of == MBG__OF_COORD && types[i]->role == role) {
      return types[i];
    }
  }
  return NULL;
}

static const char *text(mbg__linearize_work *k, const char *format, const char *a, const char *b) {
  const size_t size = strlen(format) + strlen(a) + strlen(b) + 1;
  char *out = MBG_TAKE(&k->arena, char, size);
  if (out) {
    mbg__format(out, size, format, a, b);
  }
  return out;
}

/* the turn counter that the model has for this coordinate, or -1 */
static int turn_of(const mbg_model *m, const mbg__coord_type *type, int pair) {
  for (int i = 0; i < m->ncoord; i++) {
    if (m->coords[i].type == type && m->coords[i].pair == pair && !m->coords[i].term) {
      return m->coords[i].turn;
    }
  }
  return -1;
}

static void add_joint(mbg__linearize_work *k, int j, int c) {
  static const int roles[] = {MBG__ROLE_COORD_VALUE, MBG__ROLE_COORD_RATE, MBG__ROLE_COORD_ACCELERATION};
  mbg_model *m = &k->model;
  const mbg__joint *joint = &m->joints[j];
  const mbg__coord_type *type = coord_type(joint->type->coords[c].coord);
  const mbg__coord coord = {type, joint->pair, joint->sign[c], turn_of(k->given, type, joint->pair), NULL};
  k->candidates[k->ncandidate++] = (mbg__candidate){
      .q = {.kind = MBG__Q_JOINT, .signal = m->nsignal},
      .name = text(k, "%s.%s", joint->name, joint->type->coords[c].name),
      .unit = type->unit,
      .what = text(k, "%s of joint '%s'", joint->type->coords[c].name, joint->name),
      .owner = joint->type->ncoord == 1 ? joint->name : NULL,
  };
  m->coords[m->ncoord] = coord;
  for (int i = 0; i < MBG_COUNT(roles); i++) {
    const mbg__signal_type *own = signal_type(roles[i]);
    m->signals[m->nsignal++] = (mbg__signal){.type = own,
                                             .level = own->level,
                                             .pair = -1,
                                             .coord = m->ncoord,
                                             .row = -1,
                                             .force = -1,
                                             .body = -1,
                                             .control = -1,
                                             .fn = -1,
                                             .beam = -1,
                                             .element = -1,
                                             .where = joint->where};
  }
  m->ncoord++;
}

/* the axle of a body that rolls: of a steady motion own axes do not spin about it */
static void find_axle(const mbg__linearize_work *k, int b, mbg__q *q) {
  const mbg_model *m = k->given;
  for (int j = 0; j < m->njoint && mbg__linearize_rolls(k); j++) {
    const mbg__joint *joint = &m->joints[j];
    const int marker = m->pairs[joint->pair].B;
    if (joint->type->spin != MBG__SPIN_NONE && m->markers[marker].body == b) {
      q->axle = 1 + marker;
      q->ball = joint->type->spin == MBG__SPIN_BALL;
    }
  }
}

/* Positions in the world, rotations in own axes. About a steady motion positions in own axes, too: the linear model is
   the same at all times only in axes that move along. */
static void add_body(mbg__linearize_work *k, int b) {
  const mbg_model *m = &k->model;
  const mbg__body *body = &m->bodies[b];
  const mbg__modal *modal = body->carrier >= 0 ? &m->modals[body->carrier] : NULL;
  for (int i = 0; i < 6; i++) {
    const bool world = i < 3 && (modal || k->opt.at != MBG_LINEARIZE_STEADY);
    char mode[32] = "";
    if (!(body->mask >> i & 1)) {
      continue;
    }
    mbg__candidate *c = &k->candidates[k->ncandidate++];
    *c = (mbg__candidate){.q = {.kind = world ? MBG__Q_SHIFT : MBG__Q_OWN, .body = b, .axis = i},
                          .unit = modal   ? ""
                                  : i < 3 ? "m"
                                          : "rad"};
    if (!world) {
      find_axle(k, b, &c->q);
    }
    if (modal) {
      mbg__format(mode, sizeof(mode), "%d", 3 * (b - modal->carrier) + i + 1);
      c->name = text(k, "%s.mode%s", modal->name, mode);
      c->what = text(k, "coordinate of mode %s of body '%s'", mode, modal->name);
      continue;
    }
    c->name = text(k, i < 3 ? "%s.%s" : "%s.about_%s", body->name, axes[i % 3]);
    c->what = text(k,
                   world   ? "position of body '%s' along %s of the world"
                   : i < 3 ? "motion of body '%s' along its own axis %s"
                           : "rotation of body '%s' about its own axis %s",
                   body->name, axes[i % 3]);
  }
}

/* About a steady motion, coordinates of joints with the ground must not depend on how far the mechanism has moved. */
static bool is_candidate(const mbg__linearize_work *k, const mbg__joint *joint, int c) {
  const mbg__pair *pair = &k->given->pairs[joint->pair];
  const bool ground = k->given->markers[pair->A].body < 0 || k->given->markers[pair->B].body < 0;
  const char *coord = joint->type->coords[c].coord;
  return k->opt.at != MBG_LINEARIZE_STEADY || !ground || !strcmp(coord, "angle") || !strcmp(coord, "z");
}

int mbg__linearize_extend(mbg__linearize_work *k) {
  const mbg_model *given = k->given;
  mbg_model *m = &k->model;
  int joint_coords = 0;
  for (int j = 0; j < given->njoint; j++) {
    joint_coords += given->joints[j].type->ncoord;
  }
  *m = *given;
  m->coords = MBG_TAKE(&k->arena, mbg__coord, given->ncoord + joint_coords);
  m->signals = MBG_TAKE(&k->arena, mbg__signal, given->nsignal + 3 * joint_coords);
  k->candidates = MBG_TAKE(&k->arena, mbg__candidate, joint_coords + 6 * given->nbody);
  if (mbg__arena_check(k->ctx, &k->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < given->ncoord; i++) {
    m->coords[i] = given->coords[i];
  }
  for (int i = 0; i < given->nsignal; i++) {
    m->signals[i] = given->signals[i];
  }
  for (int j = 0; j < given->njoint; j++) {
    for (int c = 0; c < given->joints[j].type->ncoord; c++) {
      if (is_candidate(k, &given->joints[j], c)) {
        add_joint(k, j, c);
      }
    }
  }
  for (int b = 0; b < mbg__masses(given); b++) {
    add_body(k, b);
  }
  return mbg__arena_check(k->ctx, &k->arena);
}
