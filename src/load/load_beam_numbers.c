/* Numbers of the elements of a beam: cross section and material, for beams and for modal bodies made from a beam. */
#include "load/load.h"

#include <string.h>

static const char *const section_keys[] = {"rectangle", "circle", "tube", "general"};

typedef struct {
  mbg__item *item;
  mbg__beam_rule *rule;
  int n;
  int (*attr)[MBG__BEAM_NUMBERS]; /* of each element */
} reader;

/* ---------------------------------------------------------------------- one number of each element */

/* A number of each element: its key, its place among the numbers, its unit, its default, its sign. */
typedef struct {
  const char *key;
  int number;
  const char *unit;
  double preset;
  mbg__sign sign;
  bool poisson; /* between -1 and 0.5 */
} series;

/* one attribute for element e, or (e < 0) for all elements */
static int read_one(reader *r, const mbg__json *json, const series *s, int e) {
  int err = MBG_OK, index;
  mbg__loader *L = r->item->L;
  char label[64];
  mbg__format(label, sizeof(label), e < 0 ? "%s" : "%s[%d]", s->key, e);
  L->element = e < 0 ? 0 : e;
  L->nelement = r->n;
  err = mbg__item_attribute(r->item, json, label, s->unit, s->preset, 1, &index);
  L->element = -1;
  MBG_TRY(err);
  for (int k = e < 0 ? 0 : e; k < (e < 0 ? r->n : e + 1); k++) {
    r->attr[k][s->number] = index;
  }
  MBG_TRY(mbg__item_check_sign(r->item, json, s->sign, index));
  const double x = mbg__value(L, index);
  if (s->poisson && (x <= -1 || x > 0.5)) {
    MBG_TRY(mbg__item_bad(r->item, json, "%s must lie between -1 and 0.5, is %g", label, x));
  }
done:
  return err;
}

/* an expression: one attribute for all elements, or one for each if it uses vectors */
static int read_expression(reader *r, const mbg__json *json, const series *s) {
  int err = MBG_OK;
  mbg__loader *L = r->item->L;
  L->element_used = false;
  MBG_TRY(read_one(r, json, s, -1));
  for (int e = 0; L->element_used && !r->item->bad && e < r->n; e++) {
    MBG_TRY(read_one(r, json, s, e));
  }
done:
  return err;
}

static const char *text_of(const mbg__json *json) { return json->text ? json->text : "0"; }

/* {"from": a, "to": b}: (1 - s) a + s b at the middle s of each element */
static int read_taper(reader *r, const mbg__json *json, const series *s) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_SERIES};
  const mbg__json *from = mbg__json_member(json, "from"), *to = mbg__json_member(json, "to");
  mbg__item *item = r->item;
  double value;
  mbg__formula formula;
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  if (!from || !to) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_formula(item, from, s->key, 1, &formula, &value));
  MBG_TRY(mbg__item_formula(item, to, s->key, 1, &formula, &value));
  const size_t size = strlen(text_of(from)) + strlen(text_of(to)) + 80;
  char *text = mbg__arena_take(&item->L->temp, size, 1);
  MBG_TRY(mbg__arena_check(item->L->ctx, &item->L->temp));
  for (int e = 0; !item->bad && e < r->n; e++) {
    const double x = (e + 0.5) / r->n;
    mbg__json middle = *from;
    mbg__format(text, size, "%.17g*(%s)+%.17g*(%s)", 1 - x, text_of(from), x, text_of(to));
    middle.kind = MBG__JSON_STRING;
    middle.text = text;
    middle.length = strlen(text);
    MBG_TRY(read_one(r, &middle, s, e));
  }
done:
  return err;
}

static int read_series(reader *r, const mbg__json *object, const series *s) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(object, s->key), *entry;
  if (json && json->kind == MBG__JSON_OBJECT) {
    return read_taper(r, json, s);
  }
  if (!json || json->kind != MBG__JSON_ARRAY) {
    return read_expression(r, json, s);
  }
  MBG_TRY(mbg__item_array(r->item, json, s->key, r->n, &entry));
  for (int e = 0; entry && e < r->n; e++, entry = entry->next) {
    MBG_TRY(read_one(r, entry, s, e));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- section and material */

/* one number for both directions, or two */
static int read_shear(reader *r, const mbg__json *object) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(object, "shear"), *entry = json;
  if (json && json->kind == MBG__JSON_ARRAY) {
    MBG_TRY(mbg__item_array(r->item, json, "shear", 2, &entry));
  }
  for (int k = 0; k < 2; k++) {
    const series s = {"shear", MBG__BEAM_SHEAR2 + k, "", 5.0 / 6, MBG__POSITIVE, false};
    MBG_TRY(read_expression(r, entry, &s));
    entry = entry && json->kind == MBG__JSON_ARRAY ? entry->next : entry;
  }
done:
  return err;
}

/* a series, or the word for the exact constant of a rectangle */
static int read_torsion(reader *r, const mbg__json *section) {
  static const series torsion = {"torsion", MBG__BEAM_TORSION, "m^4", 0, MBG__POSITIVE, false};
  const mbg__json *json = mbg__json_member(section, "torsion");
  const char *text = json && json->kind == MBG__JSON_STRING ? json->text : "";
  mbg__beam_rule *rule = r->rule;
  rule->saint_venant = strcmp(text, "saint-venant") == 0;
  rule->torsion = json && !rule->saint_venant;
  if (!rule->torsion || r->item->bad) {
    return MBG_OK;
  }
  static const char *const word = "saint-venant";
  const char *nearest = mbg__near(text, &word, 1);
  if (nearest) {
    char hint[MBG__HINT_SIZE];
    return mbg__item_bad(r->item, json, "torsion: unknown value '%s'%s", text, mbg__hint(hint, nearest));
  }
  return read_series(r, section, &torsion);
}

static int check_tube(reader *r, const mbg__json *section) {
  const mbg__loader *L = r->item->L;
  for (int e = 0; !r->item->bad && r->rule->section == MBG__TUBE && e < r->n; e++) {
    const double d = mbg__value(L, r->attr[e][MBG__BEAM_SECTION]), t = mbg__value(L, r->attr[e][MBG__BEAM_SECTION + 1]);
    if (2 * t > d) {
      return mbg__item_bad_key(r->item, mbg__json_member(section, "wall"),
                               "the wall %g is thicker than half the diameter %g", t, d);
    }
  }
  return MBG_OK;
}

static int read_section(reader *r, const mbg__json *json) {
  static const series numbers[][4] = {
      [MBG__RECTANGLE] = {{"width", MBG__BEAM_SECTION, "m", 0, MBG__POSITIVE, false},
                          {"height", MBG__BEAM_SECTION + 1, "m", 0, MBG__POSITIVE, false}},
      [MBG__CIRCLE] = {{"diameter", MBG__BEAM_SECTION, "m", 0, MBG__POSITIVE, false}},
      [MBG__TUBE] = {{"diameter", MBG__BEAM_SECTION, "m", 0, MBG__POSITIVE, false},
                     {"wall", MBG__BEAM_SECTION + 1, "m", 0, MBG__POSITIVE, false}},
      [MBG__GENERAL] = {{"A", MBG__BEAM_SECTION, "m^2", 0, MBG__POSITIVE, false},
                        {"I2", MBG__BEAM_SECTION + 1, "m^4", 0, MBG__POSITIVE, false},
                        {"I3", MBG__BEAM_SECTION + 2, "m^4", 0, MBG__POSITIVE, false},
                        {"Jt", MBG__BEAM_SECTION + 3, "m^4", 0, MBG__POSITIVE, false}},
  };
  int err = MBG_OK, kind = -1;
  bool yes;
  MBG_TRY(mbg__item_object(r->item, json, "section", &yes));
  if (!yes) {
    return MBG_OK;
  }
  const mbg__json *type = mbg__json_member(json, "type");
  if (!type) {
    return mbg__item_missing(r->item, json, "type");
  }
  MBG_TRY(mbg__item_type(r->item, type, section_keys, MBG_COUNT(section_keys), &kind));
  if (kind < 0) {
    return MBG_OK;
  }
  const mbg__file_object keys[] = {(mbg__file_object)(MBG__KEYS_RECTANGLE + kind)};
  MBG_TRY(mbg__item_keys(r->item, json, keys, 1, NULL, 0));
  r->rule->section = (mbg__section_kind)kind;
  for (int k = 0; !r->item->bad && k < 4 && numbers[kind][k].key; k++) {
    MBG_TRY(read_series(r, json, &numbers[kind][k]));
  }
  MBG_TRY(read_torsion(r, json));
  MBG_TRY(read_shear(r, json));
  MBG_TRY(check_tube(r, json));
done:
  return err;
}

static int read_plain(mbg__item *item, const char *key, double least, double most, double *out) {
  const mbg__json *json = mbg__json_member(item->json, key);
  if (!json) {
    return MBG_OK;
  }
  if (json->kind != MBG__JSON_NUMBER) {
    return mbg__item_wrong(item, json, key, "a plain number");
  }
  *out = json->number;
  if (*out >= least && *out <= most) {
    return MBG_OK;
  }
  return mbg__item_bad(item, json, "%s must lie between %g and %g, is %g", key, least, most, *out);
}

static int read_material(reader *r) {
  int err = MBG_OK;
  mbg__item *item = r->item;
  static const series E = {"E", MBG__BEAM_E, "N/m^2", 0, MBG__POSITIVE, false},
                      nu = {"nu", MBG__BEAM_G, "", 0, MBG__ANY_SIGN, true},
                      G = {"G", MBG__BEAM_G, "N/m^2", 0, MBG__POSITIVE, false},
                      rho = {"rho", MBG__BEAM_RHO, "kg/m^3", 0, MBG__POSITIVE, false},
                      damping = {"damping", MBG__BEAM_DAMPING, "s", 0, MBG__NOT_NEGATIVE, false},
                      fill = {"fill", MBG__BEAM_FILL, "", 1, MBG__POSITIVE, false};
  mbg__beam_rule *rule = r->rule;
  rule->penalty = 3;
  rule->stiffness_min = 1e-3;
  rule->shear_modulus = mbg__json_member(item->json, "G") != NULL;
  if (rule->shear_modulus == (mbg__json_member(item->json, "nu") != NULL)) {
    return mbg__item_bad_key(item, item->json, "give 'nu' or 'G'%s", rule->shear_modulus ? ", not both" : "");
  }
  MBG_TRY(read_series(r, item->json, &E));
  MBG_TRY(read_series(r, item->json, rule->shear_modulus ? &G : &nu));
  MBG_TRY(read_series(r, item->json, &rho));
  MBG_TRY(read_series(r, item->json, &damping));
  MBG_TRY(read_series(r, item->json, &fill));
  MBG_TRY(read_plain(item, "penalty", 1, 20, &rule->penalty));
  MBG_TRY(read_plain(item, "stiffness_min", 0, 1, &rule->stiffness_min));
done:
  return err;
}

int mbg__item_beam_numbers(mbg__item *item, int n, mbg__beam_rule *rule, int (*attr)[MBG__BEAM_NUMBERS]) {
  int err = MBG_OK;
  reader r = {.item = item, .rule = rule, .n = n, .attr = attr};
  *rule = (mbg__beam_rule){0};
  memset(attr, -1, (size_t)n * sizeof(*attr));
  MBG_TRY(read_section(&r, mbg__json_member(item->json, "section")));
  MBG_TRY(read_material(&r));
done:
  return err;
}
