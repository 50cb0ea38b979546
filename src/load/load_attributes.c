/* Attributes: every number of an element becomes one, in a layout that its type fixes. */
#include "load/load.h"
#include "load/load_map.h"

#include <string.h>

static unsigned long long hash_text(const char *text) {
  unsigned long long h = 14695981039346656037ULL;
  for (const char *c = text; *c; c++) {
    h = (h ^ (unsigned char)*c) * 1099511628211ULL;
  }
  return h;
}

const char *mbg__intern(mbg__loader *L, const char *text) {
  const long long key = (long long)(hash_text(text) >> 1);
  const int known = mbg__map_find(L->text_map, key);
  if (known >= 0 && strcmp(L->texts.at[known], text) == 0) {
    return L->texts.at[known];
  }
  const char *copy = mbg__arena_text(L->arena, text, strlen(text));
  if (!copy || MBG__ADD(L, L->texts, copy) < 0) {
    return NULL;
  }
  return mbg__map_set(L, &L->text_map, key, L->texts.count - 1) < 0 ? NULL : copy;
}

/* one label for all numbers with this key, unit and file; NULL: out of memory */
static const mbg__label *find_label(mbg__loader *L, const char *key, const char *unit, const char *file) {
  const unsigned long long h = hash_text(key) ^ 31 * (uintptr_t)unit ^ 37 * (uintptr_t)file;
  const long long place = (long long)(h >> 1);
  const int known = mbg__map_find(L->label_map, place);
  if (known >= 0) {
    const mbg__label *label = L->labels.at[known];
    if (strcmp(label->key, key) == 0 && label->unit == unit && label->file == file) {
      return label;
    }
  }
  mbg__label *label = MBG_TAKE(L->arena, mbg__label, 1);
  if (!label) {
    return NULL;
  }
  *label = (mbg__label){mbg__intern(L, key), unit, file};
  if (!label->key || MBG__ADD(L, L->labels, label) < 0) {
    return NULL;
  }
  return mbg__map_set(L, &L->label_map, place, L->labels.count - 1) < 0 ? NULL : label;
}

int mbg__attribute_add(mbg__item *item, const mbg__formula *formula, const char *key, const char *unit,
                       const mbg__where *where, int *index) {
  mbg__loader *L = item->L;
  real value[2];
  int err = MBG_OK;
  MBG_TRY(mbg__load_evaluate(item, formula, value));
  const mbg__attribute a = {.formula = *formula,
                            .label = find_label(L, key, unit ? unit : "", where->file),
                            .owner = item->owner,
                            .line = where->line,
                            .column = where->column,
                            .control = -1};
  MBG_TRY(MBG__ADD(L, L->attributes, a));
  MBG_TRY(MBG__ADD(L, L->values[0], value[0]));
  MBG_TRY(MBG__ADD(L, L->values[1], value[1]));
  *index = L->attributes.count - 1;
  err = a.label ? MBG_OK : mbg__fail_memory(L->ctx);
done:
  return err;
}

double mbg__value(const mbg__loader *L, int attribute) { return re(L->values[0].at[attribute]); }

int mbg__item_attribute(mbg__item *item, const mbg__json *json, const char *key, const char *unit, double preset,
                        double sign, int *index) {
  int err = MBG_OK;
  mbg__formula formula = {.number = sign * preset};
  mbg__where where = mbg__item_where_key(item, item->json);
  double value;
  if (json) {
    bool unit_given;
    where = mbg__item_where(item, json);
    MBG_TRY(mbg__item_unit(item, json, key, unit, &unit_given));
    if (!unit_given) {
      MBG_TRY(mbg__item_formula(item, json, key, sign, &formula, &value));
    }
    if (unit_given || isnan(value)) {
      formula = (mbg__formula){.number = NAN}; /* an error was filed */
    }
  }
  MBG_TRY(mbg__attribute_add(item, &formula, key, unit, &where, index));
done:
  return err;
}

int mbg__item_vector(mbg__item *item, const mbg__json *json, const char *key, const char *unit, double preset,
                     const double *signs, int *first) {
  int err = MBG_OK, index;
  const mbg__json *entry = NULL;
  char label[64];
  *first = item->L->attributes.count;
  const bool text = json && json->kind == MBG__JSON_STRING;
  if (json && !text) {
    MBG_TRY(mbg__item_array(item, json, key, 3, &entry));
    preset = entry ? preset : NAN;
  }
  for (int i = 0; i < 3; i++) {
    /* a vector expression: its components, until one has an error */
    const bool bad = text && i > 0 && item->bad;
    mbg__format(label, sizeof(label), "%s[%d]", key, i);
    item->L->component = text && !bad ? i : -1;
    MBG_TRY(mbg__item_attribute(item,
                                bad    ? NULL
                                : text ? json
                                       : entry,
                                label, unit, bad ? NAN : preset, signs ? signs[i] : 1, &index));
    entry = entry ? entry->next : NULL;
  }
done:
  item->L->component = -1;
  return err;
}

double mbg__cosine(const mbg__loader *L, int a, int b) {
  double aa = 0, bb = 0, ab = 0;
  for (int i = 0; i < 3; i++) {
    const double x = mbg__value(L, a + i), y = mbg__value(L, b + i);
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  return ab / sqrt(aa * bb);
}

int mbg__item_direction(mbg__item *item, const mbg__json *json, const char *key, int *first) {
  int err = MBG_OK;
  MBG_TRY(mbg__item_vector(item, json, key, "", 0, NULL, first));
  double length = 0;
  for (int i = 0; i < 3; i++) {
    length += fabs(mbg__value(item->L, *first + i));
  }
  if (length < 1e-9) { /* not after an error: NaN then */
    MBG_TRY(mbg__item_bad(item, json, "%s: the direction has length zero", key));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- keys of a type */

int mbg__item_check_sign(mbg__item *item, const mbg__json *json, mbg__sign sign, int attribute) {
  const double x = mbg__value(item->L, attribute);
  const char *name = item->L->attributes.at[attribute].label->key;
  if (!json || isnan(x)) {
    return MBG_OK;
  }
  if (sign == MBG__POSITIVE && x <= 0) {
    return mbg__item_bad(item, json, "%s must be positive, is %g", name, x);
  }
  if (sign == MBG__NOT_NEGATIVE && x < 0) {
    return mbg__item_bad(item, json, "%s must not be negative, is %g", name, x);
  }
  return MBG_OK;
}

/* Signs of the components of a vector in a mirrored part: S for a vector, det(S) S for a moment or a rotation. */
static void vector_signs(const mbg__item *item, const char *key, double signs[3]) {
  const bool axial = strstr(key, "torque") || strstr(key, "angular");
  for (int i = 0; i < 3; i++) {
    signs[i] = item->source->sign[i] * (axial ? item->source->handed : 1);
  }
}

static int read_vector(mbg__item *item, const mbg__json *json, const mbg__key *key) {
  int err = MBG_OK, first;
  double signs[3];
  vector_signs(item, key->name, signs);
  MBG_TRY(mbg__item_vector(item, json, key->name, key->unit, key->preset, signs, &first));
  for (int i = 0; i < 3; i++) {
    MBG_TRY(mbg__item_check_sign(item, json, key->sign, first + i));
  }
done:
  return err;
}

/* 6 x 6 entries as six numbers of the diagonal or six rows; entry (i, j) or NULL for 0 */
static int matrix_entries(mbg__item *item, const mbg__json *json, const char *label, const mbg__json *entries[6][6]) {
  int err = MBG_OK;
  const mbg__json *row, *entry;
  char name[64];
  memset(entries, 0, 36 * sizeof(entries[0][0]));
  MBG_TRY(mbg__item_array(item, json, label, 6, &row));
  for (int i = 0; row && i < 6; i++, row = row->next) {
    if (row->kind != MBG__JSON_ARRAY) {
      entries[i][i] = row;
      continue;
    }
    mbg__format(name, sizeof(name), "%s[%d]", label, i);
    MBG_TRY(mbg__item_array(item, row, name, 6, &entry));
    for (int j = 0; entry && j < 6; j++, entry = entry->next) {
      entries[i][j] = entry;
    }
  }
done:
  return err;
}

/* a property of the lower entry at both sets of parameters; upper: an attribute, times sign */
static int check_symmetric(mbg__item *item, const mbg__json *lower, const char *label, int i, int j, int upper,
                           double sign) {
  double value = 0;
  real both[2];
  mbg__formula formula;
  if (!lower || i == j) {
    return MBG_OK;
  }
  char name[64];
  mbg__format(name, sizeof(name), "%s[%d][%d]", label, j, i);
  int err = mbg__item_formula(item, lower, name, 1, &formula, &value);
  if (err < 0 || isnan(value)) {
    return err;
  }
  err = mbg__load_evaluate(item, &formula, both);
  for (int set = 0; err == MBG_OK && set < 2; set++) {
    const double a = sign * re(item->L->values[set].at[upper]), b = re(both[set]);
    if (fabs(a - b) > 1e-12 * fmax(fabs(a), fabs(b))) {
      return mbg__item_bad(item, lower, "%s must be symmetric%s: entries [%d][%d] and [%d][%d] are %g and %g", label,
                           set == 0 ? "" : ", also when parameters change", i, j, j, i, a, b);
    }
  }
  return err;
}

static int read_matrix(mbg__item *item, const mbg__json *json, const mbg__key *key) {
  int err = MBG_OK, index;
  const mbg__json *entries[6][6] = {{NULL}};
  double sign[6];
  char label[64];
  for (int i = 0; i < 3; i++) {
    sign[i] = item->source->sign[i];
    sign[3 + i] = item->source->handed * item->source->sign[i];
  }
  if (json) {
    MBG_TRY(matrix_entries(item, json, key->name, entries));
  }
  for (int i = 0; i < 6; i++) {
    for (int j = i; j < 6; j++) {
      mbg__format(label, sizeof(label), "%s[%d][%d]", key->name, i, j);
      const double preset = i == j ? key->preset : 0;
      MBG_TRY(mbg__item_attribute(item, entries[i][j], label, key->unit, preset, sign[i] * sign[j], &index));
      MBG_TRY(check_symmetric(item, entries[j][i], key->name, i, j, index, sign[i] * sign[j]));
    }
  }
done:
  return err;
}

/* Entry (i, j), i <= j, of the inertia of a body, number k of its part of the list; NULL: not given. The file gives one
   number (zz), three (the diagonal), six, or three rows of three. */
static const mbg__json *inertia_entry(const mbg__json *json, int k, int i, int j) {
  if (!json || json->kind != MBG__JSON_ARRAY) {
    return i == 2 && j == 2 ? json : NULL;
  }
  const mbg__json *entry = json->child;
  const bool matrix = entry && entry->kind == MBG__JSON_ARRAY;
  for (int n = matrix ? i : k; n > 0 && entry; n--) {
    entry = entry->next;
  }
  entry = matrix && entry ? entry->child : entry;
  for (int n = matrix ? j : 0; n > 0 && entry; n--) {
    entry = entry->next;
  }
  return entry;
}

/* part 0 xx yy zz, part 1 xy xz yz */
static int read_inertia(mbg__item *item, const mbg__key *key, int part) {
  int err = MBG_OK, index;
  static const char *const name[2][3] = {{"xx", "yy", "zz"}, {"xy", "xz", "yz"}};
  static const int row[2][3] = {{0, 1, 2}, {0, 0, 1}}, col[2][3] = {{0, 1, 2}, {1, 2, 2}};
  const mbg__json *json = mbg__json_member(item->json, "inertia");
  const bool matrix = json && json->kind == MBG__JSON_ARRAY && json->child && json->child->kind == MBG__JSON_ARRAY;
  char label[32];
  for (int k = 0; k < 3; k++) {
    const int i = row[part][k], j = col[part][k];
    const mbg__json *entry = inertia_entry(json, 3 * part + k, i, j);
    const double sign = item->source->sign[i] * item->source->sign[j];
    mbg__format(label, sizeof(label), "inertia.%s", name[part][k]);
    MBG_TRY(mbg__item_attribute(item, entry, label, key->unit, key->preset, sign, &index));
    MBG_TRY(mbg__item_check_sign(item, entry, key->sign, index));
    if (matrix && !item->bad) {
      MBG_TRY(check_symmetric(item, inertia_entry(json, 0, j, i), "inertia", i, j, index, sign));
    }
  }
done:
  return err;
}

static int read_number(mbg__item *item, const mbg__key *key) {
  int err = MBG_OK, index;
  const mbg__json *json = mbg__json_member(item->json, key->name);
  if (mbg__key_hidden(key->name)) {
    return read_inertia(item, key, strcmp(key->name, "inertia_products") == 0);
  }
  switch (key->kind) {
  case MBG__KEY_NUMBER:
    MBG_TRY(mbg__item_attribute(item, json, key->name, key->unit, key->preset, 1, &index));
    MBG_TRY(mbg__item_check_sign(item, json, key->sign, index));
    break;
  case MBG__KEY_VEC3:
    MBG_TRY(read_vector(item, json, key));
    break;
  case MBG__KEY_SYM6:
    MBG_TRY(read_matrix(item, json, key));
    break;
  default:
    break;
  }
done:
  return err;
}

static int read_option(mbg__item *item, const mbg__key *key, int *opt) {
  const mbg__json *json = mbg__json_member(item->json, key->name);
  *opt = (int)key->preset;
  if (key->kind == MBG__KEY_CURVE) {
    mbg__symbol *symbol = NULL;
    const int err = json ? mbg__item_reference(item, json, key->name, MBG__NAME_CURVE, &symbol) : MBG_OK;
    *opt = symbol ? symbol->index : -1;
    return err;
  }
  if (key->kind == MBG__KEY_CHOICE) {
    return mbg__item_choice(item, json, key->name, key->choices, opt);
  }
  bool yes = *opt != 0;
  const int err = json ? mbg__item_bool(item, json, key->name, &yes) : MBG_OK;
  *opt = yes;
  return err;
}

int mbg__item_type_numbers(mbg__item *item, const mbg__key *keys, int nkey, int *attr, int *nattr, const int **opt) {
  int err = MBG_OK, n = 0;
  int *options = MBG_TAKE(item->L->arena, int, nkey);
  MBG_TRY(mbg__arena_check(item->L->ctx, item->L->arena));
  *attr = item->L->attributes.count;
  for (int k = 0; k < nkey; k++) {
    if (keys[k].kind == MBG__KEY_CHOICE || keys[k].kind == MBG__KEY_BOOL || keys[k].kind == MBG__KEY_CURVE) {
      MBG_TRY(read_option(item, &keys[k], &options[n++]));
    } else if (!keys[k].in_time || !item->L->timed || mbg__json_member(item->json, keys[k].name) != item->L->timed) {
      MBG_TRY(read_number(item, &keys[k]));
    }
  }
  *nattr = item->L->attributes.count - *attr;
  *opt = options;
done:
  return err;
}

int mbg__item_type_functions(mbg__item *item, const mbg__key *keys, int nkey, int *fn, int *nfn) {
  int err = MBG_OK, index;
  char label[64];
  *fn = item->L->fns.count;
  for (int k = 0; k < nkey; k++) {
    mbg__function_rule rule = {.key = keys[k].name,
                               .args = keys[k].args,
                               .unit = keys[k].unit,
                               .uses = keys[k].uses,
                               .smooth = keys[k].smooth,
                               .sign = 1,
                               .preset = keys[k].preset};
    const mbg__json *json = mbg__json_member(item->json, keys[k].name), *entry = NULL;
    if (keys[k].kind == MBG__KEY_FN) {
      MBG_TRY(mbg__item_function(item, json, &rule, &index));
    } else if (keys[k].kind == MBG__KEY_FN3) {
      double signs[3];
      vector_signs(item, keys[k].name, signs);
      const bool text = json && json->kind == MBG__JSON_STRING;
      if (json && !text) {
        MBG_TRY(mbg__item_array(item, json, keys[k].name, 3, &entry));
      }
      for (int i = 0; i < 3; i++) {
        const bool bad = text && i > 0 && item->bad;
        mbg__format(label, sizeof(label), "%s[%d]", keys[k].name, i);
        rule.key = label;
        rule.sign = signs[i];
        item->L->component = text && !bad ? i : -1;
        MBG_TRY(mbg__item_function(item, bad ? NULL : text ? json : entry, &rule, &index));
        entry = entry ? entry->next : NULL;
      }
      item->L->component = -1;
    }
  }
  *nfn = item->L->fns.count - *fn;
done:
  item->L->component = -1;
  return err;
}
