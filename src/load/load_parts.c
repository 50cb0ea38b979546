/* The files of a model: its own, and the files of its parts. */
#include "io/file.h"
#include "load/load.h"

#include <string.h>

static int check_version(mbg__item *item) {
  const mbg__json *json = mbg__json_member(item->json, "mbgrad");
  if (!json) {
    return MBG_OK; /* the check of keys reports that it is missing */
  }
  if (json->kind != MBG__JSON_NUMBER) {
    return mbg__item_wrong(item, json, "mbgrad", "the format version 1");
  }
  return json->number == 1
             ? MBG_OK
             : mbg__item_bad(item, json, "unknown format version %s; this program reads version 1", json->text);
}

static const mbg__model_source *find_text(const mbg__model_source *list, const char *path) {
  while (list && strcmp(list->path, path) != 0) {
    list = list->next;
  }
  return list;
}

/* Adds a file to the sources that the model keeps. known: its text; NULL: it is read. */
static int keep_text(mbg__loader *L, const char *path, const mbg__model_source *known, const mbg__model_source **out) {
  int err = MBG_OK;
  char *text = NULL;
  size_t length = known ? known->length : 0;
  mbg__model_source *source = MBG_TAKE(L->arena, mbg__model_source, 1), **end = &L->model->sources;
  const char *name = mbg__arena_text(L->arena, path, strlen(path));
  if (known) {
    text = mbg__arena_text(L->arena, known->text, length);
  } else {
    MBG_TRY(mbg__file_read_data(L->ctx, L->arena, path, &text, &length));
  }
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  *source = (mbg__model_source){.path = name, .text = text, .length = length};
  while (*end) {
    end = &(*end)->next;
  }
  *end = source;
  *out = source;
done:
  return err;
}

/* reads a file into a source: syntax, top-level keys, version */
static int read_root(mbg__loader *L, mbg__source *source, const mbg__model_source *file) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_MODEL};
  mbg__json *root = NULL;
  mbg__item item = {.L = L, .source = source};
  bool yes;
  const int mark = mbg__message_mark(L->ctx);
  int status = mbg__load_format(L->ctx, source->file, file->text, file->length);
  if (status == MBG_OK) {
    status = mbg__json_parse(L->ctx, &L->temp, source->file, file->text, file->length, &root);
  }
  if (status == MBG_ERROR_INPUT && source->part) {
    const mbg__json *use = mbg__json_member(source->part, "use");
    mbg__item_hide(&item, use ? use->text : "", source->file, mark);
  }
  if (status < 0) {
    source->bad = true;
    return mbg__item_filed(&item, status);
  }
  source->root = root;
  MBG_TRY(mbg__item_make(L, source, root, "", &item));
  MBG_TRY(mbg__item_object(&item, root, NULL, &yes));
  source->bad = !yes;
  if (yes) {
    MBG_TRY(mbg__item_keys(&item, root, keys, 1, NULL, 0));
    MBG_TRY(check_version(&item));
  }
done:
  return err;
}

/* file: its name in messages */
static mbg__source *add_source(mbg__loader *L, const char *file, const char *base) {
  mbg__source *source = MBG_TAKE(&L->temp, mbg__source, 1);
  mbg__source **place = MBG__PUSH(L, L->sources);
  if (!source || !place) {
    return NULL;
  }
  *source = (mbg__source){.prefix = "", .name = "", .pose = -1, .mirror = -1, .frame = -1, .sign = {1, 1, 1}};
  source->handed = 1;
  source->ground = -1;
  source->file = mbg__arena_text(L->arena, file, strlen(file));
  source->base = mbg__arena_text(&L->temp, base, strlen(base));
  *place = source;
  return source->file && source->base ? source : NULL;
}

/* ---------------------------------------------------------------------- parts */

/* a -> b -> a if the file uses itself */
static int check_itself(mbg__item *item, const mbg__json *use, const mbg__source *source) {
  for (const mbg__source *s = source->outer; s; s = s->outer) {
    if (strcmp(s->base, source->base) != 0) {
      continue;
    }
    char text[600];
    mbg__format(text, sizeof(text), "%s", source->file);
    for (const mbg__source *k = source->outer; k; k = k == s ? NULL : k->outer) {
      char tail[600];
      mbg__format(tail, sizeof(tail), "%s", text);
      mbg__format(text, sizeof(text), "%s -> %s", k->file, tail);
    }
    return mbg__item_bad(item, use, "the part contains itself: %s", text);
  }
  return MBG_OK;
}

static int names_of_part(mbg__loader *L, mbg__source *source, const char *key) {
  const size_t size = strlen(source->outer->prefix) + strlen(key) + 2;
  char *name = mbg__arena_take(&L->temp, size, 1), *prefix = mbg__arena_take(&L->temp, size, 1);
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__format(name, size, "%s%s", source->outer->prefix, key);
  mbg__format(prefix, size, "%s.", name);
  source->name = name;
  source->prefix = prefix;
  return MBG_OK;
}

/* the text of a part: known from an earlier use of its file, or read */
static int part_text(mbg__item *item, const mbg__json *use, const char *path, const mbg__model_source **out) {
  int err = MBG_OK;
  bool yes;
  mbg__loader *L = item->L;
  const mbg__model_source *known = find_text(L->known, path);
  *out = find_text(L->model->sources, path);
  if (*out) {
    return MBG_OK;
  }
  if (!known) {
    MBG_TRY(mbg__item_readable(item, use, path, &yes));
  }
  if (!item->bad) {
    const int status = keep_text(L, path, known, out);
    MBG_TRY(mbg__item_filed(item, status));
    if (status < 0) {
      MBG_TRY(mbg__item_bad(item, use, "cannot use the file of the part"));
    }
  }
done:
  return err;
}

static int load_parts(mbg__loader *L, mbg__source *source);

static int read_part(mbg__item *item, const mbg__json *use) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  const char *name = NULL;
  const mbg__model_source *text = NULL;
  MBG_TRY(mbg__item_text(item, use, "use", &name));
  if (!name || item->bad) {
    return MBG_OK;
  }
  const char *path = mbg__path_beside(&L->temp, item->source->base, name);
  const char *shown = mbg__path_beside(&L->temp, item->source->file, name);
  mbg__source *source = path && shown ? add_source(L, shown, path) : NULL;
  if (!source) {
    return mbg__fail_memory(L->ctx);
  }
  source->outer = item->source;
  source->part = item->json;
  source->depth = item->source->depth + 1;
  MBG_TRY(names_of_part(L, source, item->json->key));
  MBG_TRY(check_itself(item, use, source));
  if (!item->bad && source->depth > MBG__LOAD_PARTS_DEEP) {
    MBG_TRY(mbg__item_bad(item, use, "parts are nested more than %d deep", MBG__LOAD_PARTS_DEEP));
  }
  if (!item->bad && L->sources.count > MBG__LOAD_PARTS_MAX) {
    MBG_TRY(mbg__item_bad(item, use, "more than %d parts", MBG__LOAD_PARTS_MAX));
  }
  if (!item->bad) {
    MBG_TRY(part_text(item, use, path, &text));
  }
  source->bad = item->bad;
  if (!item->bad) {
    MBG_TRY(read_root(L, source, text));
  }
  if (source->bad) {
    MBG_TRY(MBG__ADD(L, L->lost, source->prefix));
    L->sources.count--;
    return MBG_OK;
  }
  MBG_TRY(load_parts(L, source));
done:
  return err;
}

static int load_part(mbg__loader *L, mbg__source *source, const mbg__json *json) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_PART};
  char owner[MBG__HINT_SIZE];
  mbg__item item;
  bool yes;
  mbg__format(owner, sizeof(owner), "part '%s%s'", source->prefix, json->key);
  MBG_TRY(mbg__item_make(L, source, json, owner, &item));
  MBG_TRY(mbg__item_object(&item, json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  if (!mbg__name_plain(json->key)) {
    MBG_TRY(mbg__item_bad_key(
        &item, json, "the name of a part consists of letters, digits and '_' and does not start with a digit"));
  }
  MBG_TRY(mbg__item_keys(&item, json, keys, 1, NULL, 0));
  for (const mbg__json *c = json->child; c; c = c->next) {
    if ((strcmp(c->key, "set") == 0 || strcmp(c->key, "bind") == 0)) {
      MBG_TRY(mbg__item_object(&item, c, c->key, &yes));
    }
  }
  if (mbg__json_member(json, "use")) {
    MBG_TRY(read_part(&item, mbg__json_member(json, "use")));
  }
done:
  return err;
}

static int load_parts(mbg__loader *L, mbg__source *source) {
  int err = MBG_OK;
  const mbg__json *parts = mbg__json_member(source->root, "parts");
  mbg__item item;
  bool yes;
  if (!parts) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_make(L, source, parts, "", &item));
  MBG_TRY(mbg__item_object(&item, parts, "parts", &yes));
  for (const mbg__json *c = yes ? parts->child : NULL; c; c = c->next) {
    if (strcmp(c->key, "note") != 0 || c->kind != MBG__JSON_STRING) {
      MBG_TRY(load_part(L, source, c));
    }
  }
done:
  return err;
}

int mbg__load_sources(mbg__loader *L, const char *file) {
  int err = MBG_OK;
  const mbg__model_source *text;
  mbg__source *source = add_source(L, file, L->known->path);
  if (!source) {
    return mbg__fail_memory(L->ctx);
  }
  MBG_TRY(keep_text(L, L->known->path, L->known, &text));
  MBG_TRY(read_root(L, source, text));
  if (!source->bad) {
    MBG_TRY(load_parts(L, source));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- what parts are given */

static int check_set(mbg__loader *L, mbg__source *source, mbg__item *item) {
  int err = MBG_OK;
  const mbg__json *set = mbg__json_member(source->part, "set");
  char hint[MBG__HINT_SIZE];
  for (const mbg__json *c = set ? set->child : NULL; c; c = c->next) {
    const mbg__symbol *s = mbg__name_find(L, source, MBG__NAME_PARAMETER, c->key);
    if (!s || s->kind != MBG__NAME_PARAMETER) {
      MBG_TRY(mbg__item_bad_key(item, c, "set: '%s' has no parameter '%s'%s", source->file, c->key,
                                mbg__hint(hint, mbg__name_nearest(L, source, 1u << MBG__NAME_PARAMETER, c->key))));
    }
  }
done:
  return err;
}

/* is it the name of an outer body of the part? */
static bool is_slot(const mbg__source *source, const char *name) {
  const mbg__json *bodies = mbg__json_member(source->root, "bodies");
  for (const mbg__json *c = bodies ? bodies->child : NULL; c; c = c->next) {
    const mbg__json *outer = mbg__json_member(c, "outer");
    if (outer && outer->kind == MBG__JSON_STRING && strcmp(outer->text, name) == 0) {
      return true;
    }
  }
  return false;
}

/* a part may be a whole model with criteria and a run; events and modes would change its motion */
static void warn_events(const mbg__source *source, const mbg__item *item) {
  static const char *const sections[] = {"events", "modes"};
  for (int i = 0; i < MBG_COUNT(sections); i++) {
    if (mbg__json_member(source->root, sections[i])) {
      mbg__item_warn(item, source->part, "the %s of '%s' are left out; give them in the whole model", sections[i],
                     source->file);
    }
  }
}

int mbg__check_parts(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0; i < L->sources.count; i++) {
    mbg__source *source = L->sources.at[i];
    mbg__item item;
    char owner[MBG__HINT_SIZE];
    if (!source->outer) {
      continue;
    }
    mbg__format(owner, sizeof(owner), "part '%s'", source->name);
    MBG_TRY(mbg__item_make(L, source->outer, source->part, owner, &item));
    MBG_TRY(check_set(L, source, &item));
    warn_events(source, &item);
    const mbg__json *bind = mbg__json_member(source->part, "bind");
    for (const mbg__json *c = bind ? bind->child : NULL; c; c = c->next) {
      if (!is_slot(source, c->key)) {
        MBG_TRY(mbg__item_bad_key(&item, c, "bind: '%s' has no body {\"outer\": \"%s\"}", source->file, c->key));
      }
    }
  }
done:
  return err;
}
