/* Joints and drivers. */
#include "load/load.h"
#include "load/load_map.h"

#include <string.h>

/* ---------------------------------------------------------------------- joints */

static int find_type(mbg__item *item, const mbg__joint_type **out) {
  int n, k;
  const mbg__joint_type *const *types = mbg__joint_types(&n);
  const char *keys[MBG__TYPES_MAX];
  assert(n <= MBG__TYPES_MAX);
  for (int i = 0; i < n; i++) {
    keys[i] = types[i]->key;
  }
  const int err = mbg__item_own_type(item, keys, n, &k);
  *out = k >= 0 ? types[k] : NULL;
  return err;
}

/* do the rows hold the rotation about z as well as z itself? */
static bool holds_roll(const mbg__joint_type *type) {
  bool roll = false;
  for (int i = 0; i < type->nrow; i++) {
    roll = roll || (!type->rows[i].kernel && !type->rows[i].contact && type->rows[i].entry[0] == MBG__R12);
  }
  return roll && type->axes == MBG__AXES_Z;
}

/* signs of its coordinates in a mirrored part */
static void coordinate_signs(const mbg__item *item, const mbg__joint_type *type, double sign[3]) {
  assert(type->ncoord <= 3);
  for (int i = 0; i < type->ncoord; i++) {
    sign[i] = mbg__coord_sign(item->source, mbg__coord_find(type->coords[i].coord));
  }
}

bool mbg__item_names_time(const mbg__item *item, const char *text) {
  char name[MBG__EXPR_NAME_MAX + 1];
  while (*text) {
    const size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.");
    const bool word = n > 0 && n < sizeof(name) && !strchr("0123456789.", *text);
    if (word) {
      mbg__format(name, sizeof(name), "%.*s", (int)n, text);
      const mbg__symbol *s = mbg__name_find(item->L, item->source, MBG__NAME_CONTROL, name);
      if (strcmp(name, "t") == 0 || (s && s->kind == MBG__NAME_CONTROL)) {
        return true;
      }
    }
    text += n > 0 ? n : 1;
  }
  return false;
}

/* a number of the joint that is a function of time: the law of its rows instead of an attribute */
static int load_timed(mbg__item *item, mbg__joint *joint) {
  int err = MBG_OK;
  item->L->timed = NULL;
  for (int k = 0; k < joint->type->nkey; k++) {
    const mbg__key *key = &joint->type->keys[k];
    const mbg__json *json = key->in_time ? mbg__json_member(item->json, key->name) : NULL;
    if (json && json->kind == MBG__JSON_STRING && mbg__item_names_time(item, json->text)) {
      const mbg__function_rule rule = {
          .key = key->name, .unit = key->unit, .uses = MBG__USES_TIME | MBG__USES_CONTROLS, .smooth = true, .sign = 1};
      item->L->timed = json;
      MBG_TRY(mbg__item_function(item, json, &rule, &joint->law));
    }
  }
done:
  return err;
}

static int load_joint(mbg__item *item, mbg__joint *joint, int index) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_JOINT, MBG__KEYS_BETWEEN, MBG__KEYS_AXIS2};
  const mbg__json *cut = mbg__json_member(item->json, "cut");
  bool yes;
  *joint = (mbg__joint){.name = item->name, .sign = {1, 1, 1}, .law = -1, .cut = -1, .pair = -1, .contact = -1};
  joint->where = mbg__item_where_key(item, item->json);
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(find_type(item, &joint->type));
  if (!joint->type) {
    return MBG_OK;
  }
  const mbg__joint_type *type = joint->type;
  coordinate_signs(item, type, joint->sign);
  MBG_TRY(mbg__item_keys(item, item->json, keys, type->axes == MBG__AXES_UNIVERSAL ? 3 : 2, type->keys, type->nkey));
  if (cut) {
    bool value = false;
    MBG_TRY(mbg__item_bool(item, cut, "cut", &value));
    joint->cut = value;
  }
  MBG_TRY(load_timed(item, joint));
  MBG_TRY(mbg__item_type_numbers(item, type->keys, type->nkey, &joint->attr, &joint->nattr, &joint->opt));
  const mbg__ends_rule rule = {type->axes, type->axes_needed, holds_roll(type), true};
  MBG_TRY(mbg__item_ends(item, &rule, &joint->pair));
  const bool profile = type->profile && mbg__json_member(item->json, "profile");
  if (!item->bad && (type->rows[0].contact || profile)) {
    MBG_TRY(mbg__joint_contact(item, joint, index));
  }
  if (!item->bad) {
    MBG_TRY(mbg__joint_rows(item, joint, index));
  }
done:
  return err;
}

static int add_joint(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  mbg__joint joint;
  symbol->index = L->joints.count;
  MBG_TRY(load_joint(item, &joint, symbol->index));
  MBG_TRY(MBG__ADD(L, L->joints, joint));
  MBG_TRY(MBG__ADD(L, L->joint_driver, -1));
done:
  return err;
}

int mbg__load_joints(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_JOINT, add_joint); }

/* ---------------------------------------------------------------------- drivers */

static int driver_row(mbg__item *item, mbg__driver *driver, int index) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  const mbg__coord *coord = &L->coords.at[driver->coord];
  mbg__term term = {.pair = coord->pair,
                    .kernel = coord->type->driver,
                    .nentry = coord->type->nentry,
                    .law = driver->law,
                    .attr_sign = 1,
                    .turn = -1,
                    .sign = coord->sign,
                    .factor = -1,
                    .outer = -1};
  memcpy(term.entry, coord->type->entry, sizeof(coord->type->entry));
  bool moves;
  double phi;
  MBG_TRY(mbg__term_moves(L, &term, &moves, &phi));
  if (!moves) {
    return mbg__item_bad_key(item, item->json, "the coordinate cannot move: the bodies of joint '%s' are planar",
                             L->joints.at[driver->joint].name);
  }
  MBG_TRY(MBG__ADD(L, L->terms, term));
  MBG_TRY(MBG__ADD(L, L->rows,
                   ((mbg__row){.kind = MBG__ROW_DRIVER,
                               .owner = index,
                               .name = "law",
                               .term = L->terms.count - 1,
                               .nterm = 1,
                               .decay = -1})));
  driver->row = L->rows.count - 1;
done:
  return err;
}

static int check_twice(mbg__item *item, const mbg__driver *driver, int index) {
  mbg__loader *L = item->L;
  if (driver->coord < 0) {
    return MBG_OK;
  }
  const int other = mbg__map_find(L->driver_map, driver->coord);
  if (other >= 0) {
    return mbg__item_bad_key(item, item->json, "driver '%s' already drives this coordinate", L->drivers.at[other].name);
  }
  return mbg__map_set(L, &L->driver_map, driver->coord, index);
}

static int load_driver(mbg__item *item, mbg__driver *driver, int index) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_DRIVER};
  static const mbg__function_rule rule = {
      .key = "law", .unit = "", .uses = MBG__USES_TIME | MBG__USES_CONTROLS, .smooth = true, .sign = 1};
  const mbg__json *joint = mbg__json_member(item->json, "joint"), *law = mbg__json_member(item->json, "law");
  mbg__symbol *symbol = NULL;
  bool yes;
  *driver = (mbg__driver){.name = item->name, .joint = -1, .coord = -1, .law = -1, .row = -1};
  driver->where = mbg__item_where_key(item, item->json);
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  if (joint) {
    MBG_TRY(mbg__item_reference(item, joint, "joint", MBG__NAME_JOINT, &symbol));
  }
  if (symbol) {
    driver->joint = symbol->index;
    MBG_TRY(mbg__item_joint_coord(item, symbol, mbg__json_member(item->json, "coordinate"), false, &driver->coord));
  }
  if (law) {
    MBG_TRY(mbg__item_function(item, law, &rule, &driver->law));
  }
  MBG_TRY(check_twice(item, driver, index));
  if (!item->bad) {
    MBG_TRY(driver_row(item, driver, index));
  }
done:
  return err;
}

static int add_driver(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  mbg__driver driver;
  symbol->index = L->drivers.count;
  MBG_TRY(load_driver(item, &driver, symbol->index));
  MBG_TRY(MBG__ADD(L, L->drivers, driver));
  MBG_TRY(MBG__ADD(L, L->driver_before, -1));
  if (driver.joint >= 0 && driver.row >= 0) {
    L->driver_before.at[symbol->index] = L->joint_driver.at[driver.joint];
    L->joint_driver.at[driver.joint] = symbol->index;
  }
done:
  return err;
}

int mbg__load_drivers(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_DRIVER, add_driver); }
