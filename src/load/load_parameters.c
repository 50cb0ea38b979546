/* Parameters: their values, bounds and scales, also as a run or an outer file sets them. */
#include "load/load.h"

#include <string.h>

static int not_plain(mbg__item *item, const mbg__json *json, const char *key) {
  bool unit_given;
  const int err = mbg__item_unit(item, json, key, NULL, &unit_given);
  if (err < 0 || unit_given) {
    return err;
  }
  return mbg__item_wrong(item, json, key, "a plain number (not an expression)");
}

static int plain_number(mbg__item *item, const char *key, double *out) {
  const mbg__json *json = mbg__json_member(item->json, key);
  if (json && json->kind != MBG__JSON_NUMBER) {
    return not_plain(item, json, key);
  }
  *out = json ? json->number : *out;
  return MBG_OK;
}

static int add_value(mbg__item *item, mbg__parameter *p, const mbg__json *json) {
  if (json->kind != MBG__JSON_NUMBER) {
    return not_plain(item, json, "value");
  }
  if (json->number < p->min) {
    return mbg__item_bad(item, json, "the value %g is less than min %g", json->number, p->min);
  }
  if (json->number > p->max) {
    return mbg__item_bad(item, json, "the value %g is greater than max %g", json->number, p->max);
  }
  return MBG__ADD(item->L, item->L->p, json->number);
}

/* the entries of p: one number, a number `count` times, an array */
static int add_values(mbg__item *item, mbg__parameter *p, const mbg__json *value, const mbg__json *count) {
  int err = MBG_OK;
  p->first = item->L->p.count;
  p->count = 1;
  p->vector = count || value->kind == MBG__JSON_ARRAY;
  if (count) {
    MBG_TRY(mbg__item_count(item, count, "count", &p->count));
  }
  if (value->kind == MBG__JSON_ARRAY) {
    const mbg__json *entry;
    MBG_TRY(mbg__item_array(item, value, "value", count && !item->bad ? p->count : -1, &entry));
    if (value->count == 0 && !item->bad) {
      MBG_TRY(mbg__item_bad(item, value, "value: a vector needs at least one entry"));
    }
    for (; entry && !item->bad; entry = entry->next) {
      MBG_TRY(add_value(item, p, entry));
    }
    p->count = value->count;
    goto done;
  }
  for (int i = 0; i < p->count && !item->bad; i++) {
    MBG_TRY(add_value(item, p, value));
  }
done:
  return err;
}

static int copy_text(mbg__item *item, const char *key, const char **out) {
  const mbg__json *json = item->json->kind == MBG__JSON_OBJECT ? mbg__json_member(item->json, key) : NULL;
  const char *text = "";
  if (json) {
    const int err = mbg__item_text(item, json, key, &text);
    if (err < 0) {
      return err;
    }
  }
  *out = mbg__arena_text(item->L->arena, text, strlen(text));
  return *out ? MBG_OK : mbg__fail_memory(item->L->ctx);
}

static int read_bounds(mbg__item *item, mbg__parameter *p) {
  int err = MBG_OK, scale = 0;
  MBG_TRY(plain_number(item, "min", &p->min));
  MBG_TRY(plain_number(item, "max", &p->max));
  if (p->min > p->max) {
    MBG_TRY(mbg__item_bad(item, mbg__json_member(item->json, "min"), "min %g is greater than max %g", p->min, p->max));
  }
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "scale"), "scale", "linear log", &scale));
  p->log_scale = scale == 1;
done:
  return err;
}

static int read_scatter(mbg__item *item, mbg__parameter *p) {
  int err = MBG_OK;
  MBG_TRY(plain_number(item, "deviation", &p->deviation));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "distribution"), "distribution", "normal uniform",
                           &p->distribution));
  if (p->deviation < 0) {
    MBG_TRY(mbg__item_bad(item, mbg__json_member(item->json, "deviation"),
                          "deviation %g: expected a standard deviation from 0", p->deviation));
  }
done:
  return err;
}

static int check_log(mbg__item *item, const mbg__parameter *p) {
  for (int i = 0; p->log_scale && !item->bad && i < p->count; i++) {
    if (!(item->L->p.at[p->first + i] > 0)) {
      return mbg__item_bad(item, mbg__json_member(item->json, "scale"), "scale 'log' needs a positive value");
    }
  }
  return MBG_OK;
}

static int load_parameter(mbg__item *item, mbg__parameter *p) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_PARAMETER};
  bool unit_given;
  *p = (mbg__parameter){.name = item->name, .min = -INFINITY, .max = INFINITY, .first = item->L->p.count};
  p->where = mbg__item_where_key(item, item->json);
  MBG_TRY(copy_text(item, "unit", &p->unit));
  MBG_TRY(copy_text(item, "note", &p->note));
  if (item->json->kind == MBG__JSON_NUMBER) {
    return add_values(item, p, item->json, NULL);
  }
  MBG_TRY(mbg__item_unit(item, item->json, "value", NULL, &unit_given));
  if (unit_given) {
    return MBG_OK;
  }
  if (item->json->kind != MBG__JSON_OBJECT) {
    return mbg__item_bad(item, item->json, "expected a plain number or an object, found %s",
                         mbg__json_kind_name(item->json->kind));
  }
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  MBG_TRY(read_bounds(item, p));
  MBG_TRY(read_scatter(item, p));
  const mbg__json *value = mbg__json_member(item->json, "value");
  if (value) {
    MBG_TRY(add_values(item, p, value, mbg__json_member(item->json, "count")));
  }
  MBG_TRY(check_log(item, p));
done:
  return err;
}

/* the value that the chosen run sets: one number, or an array for a vector */
static int set_values(mbg__item *item, mbg__parameter *p, const mbg__json *json) {
  int err = MBG_OK;
  const mbg__json *entry = json;
  const bool array = json->kind == MBG__JSON_ARRAY;
  p->set = true;
  if (array) {
    MBG_TRY(mbg__item_array(item, json, "set", p->vector ? p->count : 1, &entry));
  }
  item->L->p.count = p->first;
  for (int i = 0; i < p->count && entry && !item->bad; i++) {
    MBG_TRY(add_value(item, p, entry));
    entry = array ? entry->next : entry;
  }
done:
  return err;
}

/* A vector parameter of a part can be set to a vector of the outer file; it is then an alias. */
static int set_vector(mbg__item *item, mbg__symbol *s, const mbg__json *value, bool *handled) {
  mbg__loader *L = item->L;
  *handled = false;
  if (s->set->kind != MBG__JSON_STRING || !value || value->kind != MBG__JSON_OBJECT) {
    return MBG_OK;
  }
  const mbg__json *entries = mbg__json_member(value, "value");
  const bool vector = mbg__json_member(value, "count") || (entries && entries->kind == MBG__JSON_ARRAY);
  mbg__symbol *outer = vector ? mbg__name_find(L, s->source->outer, MBG__NAME_PARAMETER, s->set->text) : NULL;
  if (!vector) {
    return MBG_OK;
  }
  *handled = true;
  if (!outer || outer->kind != MBG__NAME_PARAMETER || outer->bad || outer->set ||
      !L->parameters.at[outer->index].vector) {
    mbg__item at_set = *item;
    at_set.source = s->source->outer;
    s->bad = true;
    return mbg__item_bad(&at_set, s->set, "'%s' is a vector: set it to the name of a vector parameter", s->json->key);
  }
  s->index = outer->index;
  s->set = NULL;
  return MBG_OK;
}

int mbg__load_parameters(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0; i < L->names[MBG__NAME_PARAMETER].count; i++) {
    mbg__symbol *s = L->names[MBG__NAME_PARAMETER].at[i];
    mbg__item item;
    bool is_set = false;
    MBG_TRY(mbg__item_open(L, s, &item));
    if (s->set) {
      MBG_TRY(set_vector(&item, s, s->json, &is_set));
      continue;
    }
    mbg__parameter *p = MBG__PUSH(L, L->parameters);
    if (!p) {
      return mbg__fail_memory(L->ctx);
    }
    s->index = L->parameters.count - 1;
    MBG_TRY(load_parameter(&item, p));
    if (s->value && !item.bad) {
      MBG_TRY(set_values(&item, p, s->value));
    }
    s->bad = item.bad;
    if (L->p.count > 10 * MBG__LOAD_ELEMENTS_MAX) {
      return mbg__item_bad(&item, s->json, "the model has more than %d scalar parameters", 10 * MBG__LOAD_ELEMENTS_MAX);
    }
  }
done:
  return err;
}
