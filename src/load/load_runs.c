/* Several runs of one model, and the identification problem of the file. */
#include "load/load.h"

#include <string.h>

static const mbg__json *all_runs(const mbg__loader *L) {
  const mbg__json *runs = mbg__json_member(L->sources.at[0]->root, "runs");
  return runs && runs->kind == MBG__JSON_OBJECT ? runs : NULL;
}

static bool is_note(const mbg__json *json) { return !strcmp(json->key, "note") && json->kind == MBG__JSON_STRING; }

/* the nearest key of an object, or NULL; `object` may be something else, which its own section reports */
static const char *nearest_key(mbg__loader *L, const mbg__json *object, const char *word) {
  MBG__LIST_OF(const char *) keys = {0};
  for (const mbg__json *c = object && object->kind == MBG__JSON_OBJECT ? object->child : NULL; c; c = c->next) {
    const char **key = is_note(c) ? NULL : MBG__PUSH(L, keys);
    if (key) {
      *key = c->key;
    }
  }
  return mbg__near(word, keys.at, keys.count);
}

/* ---------------------------------------------------------------------- choice */

int mbg__choose_run(mbg__loader *L) {
  const mbg__json *runs = all_runs(L);
  char hint[MBG__HINT_SIZE];
  if (!L->run_name) {
    return MBG_OK;
  }
  L->chosen = mbg__json_member(runs, L->run_name);
  if (L->chosen && !is_note(L->chosen)) {
    return MBG_OK;
  }
  return mbg__fail(L->ctx, MBG_ERROR_INPUT, "%s: there is no run '%s'%s", L->sources.at[0]->file, L->run_name,
                   runs ? mbg__hint(hint, nearest_key(L, runs, L->run_name)) : ": the file has no \"runs\"");
}

static bool lists(const mbg__json *array, const char *name) {
  for (const mbg__json *c = array->child; c; c = c->next) {
    if (c->kind == MBG__JSON_STRING && !strcmp(c->text, name)) {
      return true;
    }
  }
  return false;
}

const mbg__json *mbg__run_file(const mbg__loader *L, const char *name, bool data) {
  const mbg__json *own = mbg__json_member(mbg__json_member(L->chosen, "files"), name);
  return own ? own : data ? mbg__json_member(L->chosen, "data") : NULL;
}

/* A criterion whose data are given by runs exists in these runs only. */
bool mbg__run_leaves_out(const mbg__loader *L, const mbg__json *criterion) {
  const mbg__json *list = mbg__json_member(L->chosen, "criteria");
  if (list && list->kind == MBG__JSON_ARRAY && !lists(list, criterion->key)) {
    return true;
  }
  return all_runs(L) && mbg__json_member(criterion, "least_squares") && !mbg__json_member(criterion, "data") &&
         !mbg__run_file(L, criterion->key, true);
}

/* ---------------------------------------------------------------------- settings */

/* the parameter or constant that an entry of "set" means; NULL after an error */
static int setting(mbg__item *item, const mbg__json *json, mbg__symbol **out) {
  const unsigned numbers = 1u << MBG__NAME_PARAMETER | 1u << MBG__NAME_CONSTANT;
  mbg__symbol *s = mbg__name_find(item->L, item->source, MBG__NAME_PARAMETER, json->key);
  char hint[MBG__HINT_SIZE];
  *out = NULL;
  if (!s || !(numbers >> s->kind & 1)) {
    return mbg__item_bad_key(item, json, "set: there is no parameter or constant '%s'%s", json->key,
                             mbg__hint(hint, mbg__name_nearest(item->L, item->source, numbers, json->key)));
  }
  if (s->kind == MBG__NAME_PARAMETER && s->set) {
    return mbg__item_bad_key(item, json, "set: the \"parts\" section already sets '%s'", json->key);
  }
  *out = s;
  return MBG_OK;
}

int mbg__load_settings(mbg__loader *L) {
  int err = MBG_OK;
  const mbg__json *set = mbg__json_member(L->chosen, "set");
  mbg__item item;
  if (!set || set->kind != MBG__JSON_OBJECT) {
    return MBG_OK; /* the check of all runs reports errors */
  }
  MBG_TRY(mbg__item_make(L, L->sources.at[0], set, "", &item));
  for (const mbg__json *c = set->child; c; c = c->next) {
    mbg__symbol *s = is_note(c) ? NULL : mbg__name_find(L, item.source, MBG__NAME_PARAMETER, c->key);
    if (s && s->kind == MBG__NAME_CONSTANT) {
      s->json = c;
    } else if (s && s->kind == MBG__NAME_PARAMETER && !s->set) {
      s->value = c;
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- checks of every run */

static int check_settings(mbg__item *item) {
  int err = MBG_OK;
  const mbg__json *set = mbg__json_member(item->json, "set");
  mbg__symbol *symbol;
  bool yes = false;
  if (set) {
    MBG_TRY(mbg__item_object(item, set, "set", &yes));
  }
  for (const mbg__json *c = yes ? set->child : NULL; c; c = c->next) {
    if (!is_note(c)) {
      MBG_TRY(setting(item, c, &symbol));
    }
  }
done:
  return err;
}

/* a name in a section of the file */
static int check_member(mbg__item *item, const mbg__json *at, bool key, const char *section, const char *noun,
                        const char *label, const mbg__json **out) {
  const mbg__json *list = mbg__json_member(item->source->root, section);
  const char *name = key ? at->key : at->text;
  char hint[MBG__HINT_SIZE];
  *out = mbg__json_member(list, name);
  if (*out && !is_note(*out)) {
    return MBG_OK;
  }
  *out = NULL;
  return (key ? mbg__item_bad_key : mbg__item_bad)(item, at, "%s: there is no %s '%s'%s", label, noun, name,
                                                   mbg__hint(hint, nearest_key(item->L, list, name)));
}

/* an array of names of criteria; each must be there */
static int check_criteria(mbg__item *item, bool least_squares) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(item->json, "criteria"), *entry = NULL, *criterion;
  const char *name;
  if (json) {
    MBG_TRY(mbg__item_array(item, json, "criteria", -1, &entry));
  }
  for (; entry; entry = entry->next) {
    name = NULL;
    MBG_TRY(mbg__item_text(item, entry, "criteria", &name));
    if (!name) {
      continue;
    }
    MBG_TRY(check_member(item, entry, false, "criteria", "criterion", "criteria", &criterion));
    if (criterion && least_squares && !mbg__json_member(criterion, "least_squares")) {
      MBG_TRY(mbg__item_bad(item, entry, "criteria: '%s' is not a least_squares criterion", name));
    }
  }
done:
  return err;
}

static int check_files(mbg__item *item) {
  int err = MBG_OK;
  const mbg__json *files = mbg__json_member(item->json, "files"), *data = mbg__json_member(item->json, "data"), *found;
  const char *name;
  bool yes = false;
  if (data) {
    MBG_TRY(mbg__item_text(item, data, "data", &name));
  }
  if (files) {
    MBG_TRY(mbg__item_object(item, files, "files", &yes));
  }
  for (const mbg__json *c = yes ? files->child : NULL; c; c = c->next) {
    if (is_note(c)) {
      continue;
    }
    MBG_TRY(mbg__item_text(item, c, "files", &name));
    if (mbg__json_member(mbg__json_member(item->source->root, "tables"), c->key)) {
      continue;
    }
    MBG_TRY(check_member(item, c, true, "criteria", "table or criterion", "files", &found));
    if (found && !mbg__json_member(found, "least_squares")) {
      MBG_TRY(mbg__item_bad_key(item, c, "files: criterion '%s' takes no data", c->key));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- runs */

static int load_one(mbg__loader *L, mbg__symbol *symbol, mbg__named_run *out, mbg__run *run) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_RUN, MBG__KEYS_RUNS};
  mbg__item item;
  bool yes;
  out->name = symbol->name; /* other sections may refer to a run that is refused here */
  MBG_TRY(mbg__item_open(L, symbol, &item));
  MBG_TRY(mbg__item_object(&item, item.json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  const mbg__json *note = mbg__json_member(item.json, "note");
  const char *about = note && note->kind == MBG__JSON_STRING ? note->text : "";
  out->note = mbg__arena_text(L->arena, about, strlen(about));
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  MBG_TRY(mbg__item_keys(&item, item.json, keys, 2, NULL, 0));
  MBG_TRY(check_settings(&item));
  MBG_TRY(check_criteria(&item, false));
  MBG_TRY(check_files(&item));
  MBG_TRY(mbg__item_run(&item, run));
done:
  return err;
}

int mbg__load_runs(mbg__loader *L) {
  int err = MBG_OK;
  mbg_model *m = L->model;
  const int n = L->names[MBG__NAME_RUN].count;
  const mbg__run common = m->run;
  m->nrun = n;
  m->runs = MBG_TAKE(L->arena, mbg__named_run, n);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  for (int i = 0; i < n; i++) {
    mbg__symbol *s = L->names[MBG__NAME_RUN].at[i];
    mbg__run run = common;
    MBG_TRY(load_one(L, s, &m->runs[i], &run));
    if (s->json == L->chosen) {
      m->chosen = i;
      m->run = run;
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- identify */

/* a parameter by name; a vector stands for all its entries */
const mbg__parameter *mbg__parameter_named(const mbg__loader *L, const char *name) {
  for (int i = 0; i < L->parameters.count; i++) {
    if (!strcmp(L->parameters.at[i].name, name)) {
      return &L->parameters.at[i];
    }
  }
  return NULL;
}

/* counts (list NULL) or fills the entries of p that belong to the names */
static int list_parameters(mbg__item *item, const mbg__json *array, int *list, int *count) {
  int err = MBG_OK;
  char hint[MBG__HINT_SIZE];
  mbg__loader *L = item->L;
  *count = 0;
  for (const mbg__json *c = array->child; c; c = c->next) {
    const char *name = NULL;
    MBG_TRY(mbg__item_text(item, c, "parameters", &name));
    const mbg__parameter *p = name ? mbg__parameter_named(L, name) : NULL;
    if (name && !p) {
      MBG_TRY(mbg__item_bad(item, c, "parameters: there is no parameter '%s'%s", name,
                            mbg__hint(hint, mbg__name_nearest(L, item->source, 1u << MBG__NAME_PARAMETER, name))));
    }
    for (const mbg__json *d = array->child; p && d != c; d = d->next) {
      if (d->kind == MBG__JSON_STRING && !strcmp(d->text, name)) {
        MBG_TRY(mbg__item_bad(item, c, "parameters: '%s' is listed twice", name));
      }
    }
    for (int i = 0; p && list && i < p->count; i++) {
      list[*count + i] = p->first + i;
    }
    *count += p ? p->count : 0;
  }
done:
  return err;
}

int mbg__item_parameters(mbg__item *item, const mbg__json *json, int **list, int *count) {
  int err = MBG_OK, n;
  const mbg__json *first;
  *count = 0;
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_array(item, json, "parameters", -1, &first));
  if (json->kind != MBG__JSON_ARRAY) {
    return MBG_OK;
  }
  MBG_TRY(list_parameters(item, json, NULL, &n));
  if (n == 0 && !item->bad) {
    return mbg__item_bad(item, json, "parameters: the list is empty; remove the key to %s all", item->owner);
  }
  *list = MBG_TAKE(item->L->arena, int, n);
  MBG_TRY(mbg__arena_check(item->L->ctx, item->L->arena));
  if (!item->bad) {
    MBG_TRY(list_parameters(item, json, *list, count));
  }
done:
  return err;
}

bool mbg__file_has_criterion(const mbg__loader *L, const char *name) {
  const mbg__json *json = mbg__json_member(mbg__json_member(L->sources.at[0]->root, "criteria"), name);
  return json && !is_note(json);
}

int mbg__load_identify(mbg__loader *L) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_IDENTIFY};
  mbg__source *source = L->sources.at[0];
  const mbg__json *json = mbg__json_member(source->root, "identify"), *list = NULL;
  mbg__item item;
  bool yes = false;
  if (json) {
    MBG_TRY(mbg__item_make(L, source, json, "identify", &item));
    MBG_TRY(mbg__item_object(&item, json, NULL, &yes));
  }
  if (yes) {
    MBG_TRY(mbg__item_keys(&item, json, keys, 1, NULL, 0));
    MBG_TRY(
        mbg__item_parameters(&item, mbg__json_member(json, "parameters"), &L->model->identify, &L->model->nidentify));
    MBG_TRY(check_criteria(&item, true));
    list = mbg__json_member(json, "criteria");
  }
  for (int i = 0; i < L->criteria.count; i++) {
    mbg__criterion *c = &L->criteria.at[i];
    c->fit = c->kind == MBG__LEAST_SQUARES && (!list || lists(list, c->name));
  }
done:
  return err;
}
