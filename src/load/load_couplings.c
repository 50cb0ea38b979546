/* Couplings: a sum over joint coordinates, factor * coordinate or factor * law(coordinate), that is a constant or a
   function of time. Gears, belts, racks and differentials are such sums, with keys of their own. A coupling of rates is
   a sum over rates of joints and velocities of bodies, a row on rates (theory 8, section 3). */
#include "load/load.h"
#include "load/load_tendons.h"

#include <string.h>

/* ---------------------------------------------------------------------- keys */

#define TYPE(kind)                                                                                                     \
  { "type", MBG__SHAPE_NAME, true, NULL, kind }
#define CONSTANT                                                                                                       \
  { "constant", MBG__SHAPE_NUMBER, false, NULL, "value of the sum, 0 when absent; also a function of t and controls" }
#define TEETH(which)                                                                                                   \
  { "teeth", MBG__SHAPE_NUMBERS, true, NULL, "numbers of teeth, or radii: " which }
#define TWO_JOINTS                                                                                                     \
  { "joints", MBG__SHAPE_TWO_NAMES, true, NULL, "the joints whose angles are coupled" }

static const mbg__file_key sum_keys[] = {
    {"type", MBG__SHAPE_NAME, false, NULL, "'sum', which is meant when absent"},
    {"terms", MBG__SHAPE_TERMS, true, NULL, "joint coordinates with their factors and laws"},
    CONSTANT,
};
static const mbg__file_key gear_keys[] = {
    TYPE("two spur gears whose axes point the same way"),
    TWO_JOINTS,
    TEETH("of the first and of the second gear"),
    {"internal", MBG__SHAPE_BOOL, false, NULL, "one gear is a ring with teeth inside: both turn the same way"},
    CONSTANT,
};
static const mbg__file_key bevel_keys[] = {
    TYPE("two bevel gears whose axes both point away from their common point"),
    TWO_JOINTS,
    TEETH("of the first and of the second gear"),
    {"reverse", MBG__SHAPE_BOOL, false, NULL, "one axis points to the common point"},
    CONSTANT,
};
static const mbg__file_key belt_keys[] = {
    TYPE("a belt or chain over two wheels whose axes point the same way"),
    TWO_JOINTS,
    {"radii", MBG__SHAPE_NUMBERS, true, NULL, "radii of the two wheels, or their numbers of teeth"},
    {"crossed", MBG__SHAPE_BOOL, false, NULL, "the belt crosses itself: the wheels turn against each other"},
    CONSTANT,
};
static const mbg__file_key rack_keys[] = {
    TYPE("a pinion that drives a rack: displacement = radius * angle"),
    {"pinion", MBG__SHAPE_NAME, true, NULL, "joint whose angle drives the rack"},
    {"rack", MBG__SHAPE_NAME, true, NULL, "joint whose displacement is coupled"},
    {"radius", MBG__SHAPE_NUMBER, true, NULL, "radius of the pinion's pitch circle"},
    {"reverse", MBG__SHAPE_BOOL, false, NULL, "a positive angle moves the rack back"},
    CONSTANT,
};
static const mbg__file_key planetary_keys[] = {
    TYPE("sun, ring and planet carrier; all three angles against the same housing"),
    {"sun", MBG__SHAPE_NAME, true, NULL, "joint of the sun gear"},
    {"ring", MBG__SHAPE_NAME, true, NULL, "joint of the ring gear"},
    {"carrier", MBG__SHAPE_NAME, true, NULL, "joint of the planet carrier"},
    TEETH("of the sun and of the ring"),
    CONSTANT,
};
static const mbg__file_key differential_keys[] = {
    TYPE("one input shaft and two outputs, whose mean it turns"),
    {"input", MBG__SHAPE_NAME, true, NULL, "joint of the input shaft"},
    {"outputs", MBG__SHAPE_TWO_NAMES, true, NULL, "joints of the two output shafts"},
    {"ratio", MBG__SHAPE_NUMBER, false, NULL, "turns of the input for one mean turn of the outputs, 1 when absent"},
    CONSTANT,
};

static const mbg__file_key tendon_keys[] = {
    TYPE("an inextensible rope over markers and pulleys"),
    {"via", MBG__SHAPE_VIA, false, NULL, "markers and pulleys in the order of the tendon"},
    {"branches", MBG__SHAPE_BRANCHES, false, NULL, "several paths under one tension, in the place of `via`"},
    {"length", MBG__SHAPE_NUMBER, true, NULL, "length of the tendon, also a function of t and controls"},
};

static const mbg__file_key rates_keys[] = {
    TYPE("a linear relation of rates of joints and velocities of bodies"),
    {"rates", MBG__SHAPE_RATE_TERMS, true, NULL, "rates and velocities with their factors"},
    CONSTANT,
};

const mbg__file_key mbg__rate_term_keys[MBG__RATE_TERM_KEYS] = {
    {"joint", MBG__SHAPE_NAME, false, NULL, "joint whose rate counts, or `of`"},
    {"coordinate", MBG__SHAPE_NAME, false, NULL, "its angle or displacement along z"},
    {"of", MBG__SHAPE_NAME, false, NULL, "marker whose velocity counts, in its own axes"},
    {"relative_to", MBG__SHAPE_NAME, false, NULL, "marker from which it is seen, the ground when absent"},
    {"component", MBG__SHAPE_NAME, false, NULL, "of `of`: `vx`, `vy`, `vz`, `wx`, `wy` or `wz`"},
    {"factor", MBG__SHAPE_NUMBER, false, NULL, "factor of the rate, 1 when absent"},
};

const char *const mbg__coupling_words[MBG__COUPLING_KINDS] = {"sum",       "gear",         "bevel", "belt",  "rack",
                                                              "planetary", "differential", "rates", "tendon"};
enum { SUM, GEAR, BEVEL, BELT, RACK, PLANETARY, DIFFERENTIAL, RATES, TENDON };

#define KEYS(list)                                                                                                     \
  { list, MBG_COUNT(list) }
mbg__file_keys mbg__coupling_keys(int kind) {
  static const mbg__file_keys tables[MBG__COUPLING_KINDS] = {
      KEYS(sum_keys),       KEYS(gear_keys),         KEYS(bevel_keys), KEYS(belt_keys),  KEYS(rack_keys),
      KEYS(planetary_keys), KEYS(differential_keys), KEYS(rates_keys), KEYS(tendon_keys)};
  return tables[kind];
}

/* ---------------------------------------------------------------------- terms */

/* factor * sign * q, or (outer >= 0) factor * outer(q) */
static int add_term(mbg__loader *L, int coord, int factor, double sign, int outer) {
  const mbg__coord *c = &L->coords.at[coord];
  mbg__term term = {.pair = c->pair,
                    .kernel = c->type->value,
                    .nentry = c->type->nentry,
                    .law = -1,
                    .attr_sign = 1,
                    .turn = c->turn,
                    .sign = sign * c->sign,
                    .factor = factor,
                    .outer = outer};
  memcpy(term.entry, c->type->entry, sizeof(c->type->entry));
  return MBG__ADD(L, L->terms, term);
}

static bool uses_argument(const mbg__fn *fn) {
  for (int k = 0; k < fn->ninput; k++) {
    if (fn->input[k].role == MBG__ROLE_ARG) {
      return true;
    }
  }
  return false;
}

static int term_law(mbg__item *item, const mbg__json *json, int k, int *outer) {
  char label[64];
  mbg__format(label, sizeof(label), "terms[%d].law", k);
  const mbg__function_rule rule = {.key = label, .args = "x", .unit = "", .smooth = true, .sign = 1};
  const int err = mbg__item_function(item, json, &rule, outer);
  if (err < 0 || *outer < 0 || uses_argument(&item->L->fns.at[*outer])) {
    return err;
  }
  return mbg__item_bad(item, json, "%s: the law does not depend on the coordinate x; a number belongs into 'constant'",
                       label);
}

static int sum_term(mbg__item *item, const mbg__json *json, int k) {
  int err = MBG_OK, coord = -1, factor, outer = -1;
  static const mbg__file_object keys[] = {MBG__KEYS_COUPLING_TERM};
  const mbg__json *law = NULL;
  mbg__symbol *symbol = NULL;
  char label[64];
  bool yes;
  mbg__format(label, sizeof(label), "terms[%d]", k);
  MBG_TRY(mbg__item_object(item, json, label, &yes));
  if (!yes) {
    return MBG_OK;
  }
  law = mbg__json_member(json, "law");
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  if (mbg__json_member(json, "joint")) {
    MBG_TRY(mbg__item_reference(item, mbg__json_member(json, "joint"), "joint", MBG__NAME_JOINT, &symbol));
  }
  if (symbol) {
    mbg__item term = *item;
    term.json = json;
    MBG_TRY(mbg__item_joint_coord(&term, symbol, mbg__json_member(json, "coordinate"), true, &coord));
    item->bad = term.bad;
  }
  mbg__format(label, sizeof(label), "terms[%d].factor", k);
  MBG_TRY(mbg__item_attribute(item, mbg__json_member(json, "factor"), label, "", 1, 1, &factor));
  if (law) {
    MBG_TRY(term_law(item, law, k, &outer));
  }
  if (coord >= 0) {
    MBG_TRY(add_term(item->L, coord, factor, 1, outer));
  }
done:
  return err;
}

static int load_sum(mbg__item *item) {
  int err = MBG_OK, k = 0;
  const mbg__json *terms = mbg__json_member(item->json, "terms"), *term = NULL;
  if (terms) {
    MBG_TRY(mbg__item_array(item, terms, "terms", -1, &term));
    if (terms->kind == MBG__JSON_ARRAY && terms->count == 0) {
      MBG_TRY(mbg__item_bad(item, terms, "terms: at least one term is required"));
    }
  }
  for (; term; term = term->next) {
    MBG_TRY(sum_term(item, term, k++));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- gears */

enum { WHEELS = 3 };

/* A coupling of wheels while it is read. */
typedef struct {
  mbg__item *item;
  int nwheel, joint[WHEELS], coord[WHEELS];
} wheels;

static bool angular(const mbg__joint_type *type, int k) {
  return strcmp(mbg__coord_find(type->coords[k].coord)->unit, "rad") == 0;
}

/* the angle (turns) or the displacement of a joint, when it has one of them alone */
static int find_coordinate(wheels *w, const mbg__json *json, mbg__symbol *symbol, bool turns, int *coord) {
  const mbg__joint *joint = &w->item->L->joints.at[symbol->index];
  int found = -1, count = 0;
  for (int k = 0; k < joint->type->ncoord; k++) {
    if (angular(joint->type, k) == turns) {
      found = k;
      count++;
    }
  }
  if (count != 1) {
    return mbg__item_bad(w->item, json, "joint '%s' (%s) has %s %s%s", joint->name, joint->type->key,
                         count == 0 ? "no" : "more than one", turns ? "angle" : "displacement",
                         count == 0 ? "" : "; take a coupling of type 'sum', which names coordinates");
  }
  const mbg__coord_type *type = mbg__coord_find(joint->type->coords[found].coord);
  return mbg__coord_add(w->item->L, type, joint->pair, mbg__coord_sign(symbol->source, type), true, coord);
}

static int add_wheel(wheels *w, const mbg__json *json, const char *label, bool turns) {
  int err = MBG_OK;
  mbg__symbol *symbol = NULL;
  const int n = w->nwheel++;
  w->joint[n] = w->coord[n] = -1;
  if (!json) {
    return MBG_OK; /* reported as missing */
  }
  MBG_TRY(mbg__item_reference(w->item, json, label, MBG__NAME_JOINT, &symbol));
  if (symbol) {
    for (int i = 0; i < n; i++) {
      if (w->joint[i] == symbol->index) {
        return mbg__item_bad(w->item, json, "%s: joint '%s' is coupled with itself", label,
                             w->item->L->joints.at[symbol->index].name);
      }
    }
    w->joint[n] = symbol->index;
    MBG_TRY(find_coordinate(w, json, symbol, turns, &w->coord[n]));
  }
done:
  return err;
}

static int add_wheel_key(wheels *w, const char *key, bool turns) {
  return add_wheel(w, mbg__json_member(w->item->json, key), key, turns);
}

/* two names under one key */
static int add_two(wheels *w, const char *key) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(w->item->json, key), *name = NULL;
  char label[32];
  if (json) {
    MBG_TRY(mbg__item_array(w->item, json, key, 2, &name));
  }
  for (int i = 0; i < 2; i++) {
    mbg__format(label, sizeof(label), "%s[%d]", key, i);
    MBG_TRY(add_wheel(w, name, label, true));
    name = name ? name->next : NULL;
  }
done:
  return err;
}

static int positive(mbg__item *item, const mbg__json *json, const char *label, const char *unit, double preset,
                    int *attr) {
  const int err = mbg__item_attribute(item, json, label, unit, preset, 1, attr);
  return err < 0 ? err : mbg__item_check_sign(item, json, MBG__POSITIVE, *attr);
}

/* two positive numbers under one key */
static int two_numbers(mbg__item *item, const char *key, int attr[2]) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(item->json, key), *number = NULL;
  char label[32];
  attr[0] = attr[1] = -1;
  if (json) {
    MBG_TRY(mbg__item_array(item, json, key, 2, &number));
  }
  for (int i = 0; number; i++, number = number->next) {
    mbg__format(label, sizeof(label), "%s[%d]", key, i);
    MBG_TRY(positive(item, number, label, "", 1, &attr[i]));
  }
done:
  return err;
}

static int add_all(const wheels *w, int n, const int *wheel, const int *factor, const double *sign) {
  int err = MBG_OK;
  for (int i = 0; i < n && !w->item->bad; i++) {
    MBG_TRY(add_term(w->item->L, w->coord[wheel[i]], factor[i], sign[i], -1));
  }
done:
  return err;
}

/* factor 1 q1 + sign factor 2 q2; `other`: the key that turns the sign round */
static int load_two(mbg__item *item, const char *numbers, const char *other, double sign) {
  int err = MBG_OK, factor[2];
  static const int wheel[2] = {0, 1};
  const mbg__json *json = mbg__json_member(item->json, other);
  wheels w = {.item = item};
  bool turned = false;
  MBG_TRY(add_two(&w, "joints"));
  MBG_TRY(two_numbers(item, numbers, factor));
  if (json) {
    MBG_TRY(mbg__item_bool(item, json, other, &turned));
  }
  MBG_TRY(add_all(&w, 2, wheel, factor, (const double[]){1, turned ? -sign : sign}));
done:
  return err;
}

/* x - radius q */
static int load_rack(mbg__item *item) {
  int err = MBG_OK, factor[2];
  static const int wheel[2] = {0, 1};
  const mbg__json *reverse = mbg__json_member(item->json, "reverse");
  wheels w = {.item = item};
  bool turned = false;
  MBG_TRY(add_wheel_key(&w, "rack", false));
  MBG_TRY(add_wheel_key(&w, "pinion", true));
  MBG_TRY(mbg__item_attribute(item, NULL, "factor", "", 1, 1, &factor[0]));
  MBG_TRY(positive(item, mbg__json_member(item->json, "radius"), "radius", "m", 1, &factor[1]));
  if (reverse) {
    MBG_TRY(mbg__item_bool(item, reverse, "reverse", &turned));
  }
  MBG_TRY(add_all(&w, 2, wheel, factor, (const double[]){1, turned ? 1 : -1}));
done:
  return err;
}

/* s (q_sun - q_carrier) + r (q_ring - q_carrier) */
static int load_planetary(mbg__item *item) {
  int err = MBG_OK, teeth[2];
  static const int wheel[4] = {0, 2, 1, 2};
  wheels w = {.item = item};
  MBG_TRY(add_wheel_key(&w, "sun", true));
  MBG_TRY(add_wheel_key(&w, "ring", true));
  MBG_TRY(add_wheel_key(&w, "carrier", true));
  MBG_TRY(two_numbers(item, "teeth", teeth));
  if (!item->bad && mbg__value(item->L, teeth[0]) >= mbg__value(item->L, teeth[1])) {
    return mbg__item_bad_key(item, mbg__json_member(item->json, "teeth"),
                             "teeth: the sun (%g) must be smaller than the ring (%g) that surrounds it",
                             mbg__value(item->L, teeth[0]), mbg__value(item->L, teeth[1]));
  }
  MBG_TRY(add_all(&w, 4, wheel, (const int[]){teeth[0], teeth[0], teeth[1], teeth[1]}, (const double[]){1, -1, 1, -1}));
done:
  return err;
}

/* ratio (q_1 + q_2) - 2 q_input */
static int load_differential(mbg__item *item) {
  int err = MBG_OK, ratio, two;
  static const int wheel[3] = {0, 1, 2};
  wheels w = {.item = item};
  MBG_TRY(add_two(&w, "outputs"));
  MBG_TRY(add_wheel_key(&w, "input", true));
  MBG_TRY(positive(item, mbg__json_member(item->json, "ratio"), "ratio", "", 1, &ratio));
  MBG_TRY(mbg__item_attribute(item, NULL, "factor", "", 2, 1, &two));
  MBG_TRY(add_all(&w, 3, wheel, (const int[]){ratio, ratio, two}, (const double[]){1, 1, -1}));
done:
  return err;
}

/* ---------------------------------------------------------------------- rates */

enum { NO_COMPONENT = -1, VZ = 2, WZ = 5 };

/* factor * sign * component of the twist of a pair */
static int add_rate(mbg__loader *L, int pair, int component, int factor, double sign) {
  const mbg__term term = {.pair = pair,
                          .law = -1,
                          .attr_sign = 1,
                          .turn = -1,
                          .sign = sign,
                          .factor = factor,
                          .outer = -1,
                          .rate = MBG__RATE_U1 + component};
  return MBG__ADD(L, L->terms, term);
}

/* the rate of an angle about z, or of a displacement along z, where both z axes stay parallel */
static int joint_rate(mbg__item *item, const mbg__json *json, const char *label, int factor) {
  static const char *const parallel[] = {"revolute", "prismatic", "cylindrical", "screw", "planar"};
  int err = MBG_OK, coord = -1, component = NO_COMPONENT;
  mbg__symbol *symbol = NULL;
  bool fits = false;
  MBG_TRY(mbg__item_reference(item, mbg__json_member(json, "joint"), "joint", MBG__NAME_JOINT, &symbol));
  if (!symbol) {
    return MBG_OK;
  }
  mbg__item term = *item;
  term.json = json;
  MBG_TRY(mbg__item_joint_coord(&term, symbol, mbg__json_member(json, "coordinate"), false, &coord));
  item->bad = term.bad;
  if (coord < 0) {
    return MBG_OK;
  }
  const mbg__coord *c = &item->L->coords.at[coord];
  for (int i = 0; i < MBG_COUNT(parallel); i++) {
    fits = fits || !strcmp(item->L->joints.at[symbol->index].type->key, parallel[i]);
  }
  component = fits && !strcmp(c->type->key, "angle") ? WZ : fits && !strcmp(c->type->key, "z") ? VZ : NO_COMPONENT;
  if (component == NO_COMPONENT) {
    return mbg__item_bad(item, mbg__json_member(json, "joint"),
                         "%s: the rate of this coordinate is no component of a velocity; take an angle or displacement "
                         "along z of a revolute, prismatic, cylindrical, screw or planar joint, or 'of'",
                         label);
  }
  MBG_TRY(add_rate(item->L, c->pair, component, factor, c->sign));
done:
  return err;
}

/* a component of the velocity of a marker in its own axes; in a mirrored part angular velocities are pseudovectors */
static int body_rate(mbg__item *item, const mbg__json *json, const char *label, int factor) {
  static const mbg__json ground = {.kind = MBG__JSON_STRING, .text = "ground", .length = 6};
  static const char *const names[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
  const mbg__json *to = mbg__json_member(json, "relative_to"), *what = mbg__json_member(json, "component");
  int err = MBG_OK, A = -1, B = -1, pair, k = 0;
  MBG_TRY(mbg__item_marker(item, mbg__json_member(json, "of"), "of", &B));
  MBG_TRY(mbg__item_marker(item, to ? to : &ground, "relative_to", &A));
  while (k < 6 && !(what && what->kind == MBG__JSON_STRING && !strcmp(what->text, names[k]))) {
    k++;
  }
  if (k == 6) {
    return mbg__item_bad(item, what ? what : json,
                         "%s: 'component' is one of vx, vy, vz (velocity) and wx, wy, wz (angular velocity)", label);
  }
  if (A >= 0 && B >= 0) {
    const double *s = item->source->sign;
    MBG_TRY(mbg__pair_add(item->L, A, B, &pair));
    MBG_TRY(add_rate(item->L, pair, k, factor, k < 3 ? s[k] : s[0] * s[1] * s[2] * s[k - 3]));
  }
done:
  return err;
}

static int rate_term(mbg__item *item, const mbg__json *json, int k) {
  static const mbg__file_object keys[] = {MBG__KEYS_RATE_TERM};
  int err = MBG_OK, factor;
  char label[64], name[80];
  bool yes;
  mbg__format(label, sizeof(label), "rates[%d]", k);
  MBG_TRY(mbg__item_object(item, json, label, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  mbg__format(name, sizeof(name), "%s.factor", label);
  MBG_TRY(mbg__item_attribute(item, mbg__json_member(json, "factor"), name, "", 1, 1, &factor));
  const bool joint = mbg__json_member(json, "joint"), of = mbg__json_member(json, "of");
  if (joint == of) {
    return mbg__item_bad(item, json, "%s: give either 'joint' or 'of' with 'component'", label);
  }
  if (joint && (mbg__json_member(json, "component") || mbg__json_member(json, "relative_to"))) {
    return mbg__item_bad(item, json, "%s: 'component' and 'relative_to' belong to 'of'", label);
  }
  if (of && mbg__json_member(json, "coordinate")) {
    return mbg__item_bad(item, json, "%s: 'coordinate' belongs to 'joint'", label);
  }
  MBG_TRY(joint ? joint_rate(item, json, label, factor) : body_rate(item, json, label, factor));
done:
  return err;
}

static int load_rates(mbg__item *item) {
  int err = MBG_OK, k = 0;
  const mbg__json *terms = mbg__json_member(item->json, "rates"), *term = NULL;
  if (terms) {
    MBG_TRY(mbg__item_array(item, terms, "rates", -1, &term));
    if (terms->kind == MBG__JSON_ARRAY && terms->count == 0) {
      MBG_TRY(mbg__item_bad(item, terms, "rates: at least one term is required"));
    }
  }
  for (; term; term = term->next) {
    MBG_TRY(rate_term(item, term, k++));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- couplings */

static int load_terms(mbg__item *item, int kind) {
  switch (kind) {
  case GEAR:
    return load_two(item, "teeth", "internal", 1);
  case BEVEL:
    return load_two(item, "teeth", "reverse", 1);
  case BELT:
    return load_two(item, "radii", "crossed", -1);
  case RACK:
    return load_rack(item);
  case PLANETARY:
    return load_planetary(item);
  case DIFFERENTIAL:
    return load_differential(item);
  case RATES:
    return load_rates(item);
  case TENDON:
    return mbg__tendon_terms(item, item->L->rows.count);
  default:
    return load_sum(item);
  }
}

/* - c, or - c(t) */
static int load_constant(mbg__item *item, const char *key, const char *unit, bool rate) {
  int err = MBG_OK;
  const mbg__function_rule rule = {
      .key = key, .unit = unit, .uses = MBG__USES_TIME | MBG__USES_CONTROLS, .smooth = true, .sign = 1};
  const mbg__json *json = mbg__json_member(item->json, key);
  mbg__term term = {.pair = -1, .law = -1, .attr_sign = 1, .turn = -1, .sign = -1, .factor = -1, .outer = -1};
  if (rate) { /* chi = ... - c(t) by the term itself */
    term.rate = MBG__RATE_LAW;
    term.sign = 1;
  }
  if (json && json->kind == MBG__JSON_STRING && mbg__item_names_time(item, json->text)) {
    MBG_TRY(mbg__item_function(item, json, &rule, &term.law));
  } else {
    MBG_TRY(mbg__item_attribute(item, json, key, unit, 0, 1, &term.factor));
  }
  MBG_TRY(MBG__ADD(item->L, item->L->terms, term));
done:
  return err;
}

static int load_coupling(mbg__item *item, mbg__coupling *coupling, int index) {
  int err = MBG_OK, kind = SUM;
  mbg__loader *L = item->L;
  const int first = L->terms.count;
  const mbg__json *type;
  bool yes;
  *coupling = (mbg__coupling){.name = item->name, .row = -1, .where = mbg__item_where_key(item, item->json)};
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  type = mbg__json_member(item->json, "type");
  if (type) {
    MBG_TRY(mbg__item_type(item, type, mbg__coupling_words, MBG__COUPLING_KINDS, &kind));
  }
  if (kind < 0) {
    return MBG_OK;
  }
  const mbg__file_object keys[] = {(mbg__file_object)(MBG__KEYS_COUPLING + kind)};
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  MBG_TRY(load_terms(item, kind));
  MBG_TRY(kind == TENDON ? load_constant(item, "length", "m", false)
                         : load_constant(item, "constant", "", kind == RATES));
  MBG_TRY(MBG__ADD(L, L->rows,
                   ((mbg__row){.kind = MBG__ROW_COUPLING,
                               .owner = index,
                               .name = kind == TENDON ? "length" : "sum",
                               .term = first,
                               .nterm = L->terms.count - first,
                               .rate = kind == RATES,
                               .decay = -1})));
  coupling->row = L->rows.count - 1;
done:
  return err;
}

static int add_coupling(mbg__item *item, mbg__symbol *symbol) {
  mbg__coupling coupling;
  const int err = load_coupling(item, &coupling, item->L->couplings.count);
  symbol->index = item->L->couplings.count;
  return err < 0 ? err : MBG__ADD(item->L, item->L->couplings, coupling);
}

int mbg__load_couplings(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_COUPLING, add_coupling); }
