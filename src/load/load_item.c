/* One element of the file: its place in messages, its keys and their values. */
#define _POSIX_C_SOURCE 200809L

#include "io/file.h"
#include "load/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int mbg__item_make(mbg__loader *L, mbg__source *source, const mbg__json *json, const char *owner, mbg__item *item) {
  *item = (mbg__item){.L = L, .source = source, .json = json};
  item->owner = mbg__arena_text(L->arena, owner, strlen(owner));
  return item->owner ? MBG_OK : mbg__fail_memory(L->ctx);
}

int mbg__item_open(mbg__loader *L, mbg__symbol *symbol, mbg__item *item) {
  char owner[MBG__HINT_SIZE];
  const bool state = symbol->state >= 0 || symbol->entries > 0;
  mbg__format(owner, sizeof(owner), "%s '%s'", state ? "state" : mbg__name_noun(symbol->kind), symbol->name);
  const int err = mbg__item_make(L, symbol->source, symbol->json, owner, item);
  item->name = symbol->name;
  item->bad = symbol->bad;
  return err;
}

int mbg__load_each(mbg__loader *L, mbg__name_kind kind, int (*load)(mbg__item *item, mbg__symbol *symbol)) {
  int err = MBG_OK;
  for (int i = 0; i < L->names[kind].count; i++) {
    mbg__symbol *s = L->names[kind].at[i];
    mbg__item item;
    MBG_TRY(mbg__item_open(L, s, &item));
    MBG_TRY(load(&item, s));
    s->bad = item.bad;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- messages */

mbg__where mbg__item_where(const mbg__item *item, const mbg__json *json) {
  json = json ? json : item->json; /* a key that is not there */
  const int quote = json->kind == MBG__JSON_STRING;
  return (mbg__where){item->source->file, json->line, json->column + quote, item->owner};
}

mbg__where mbg__item_where_key(const mbg__item *item, const mbg__json *json) {
  if (!json || !json->key) {
    return mbg__item_where(item, json);
  }
  return (mbg__where){item->source->file, json->key_line, json->key_column + 1, item->owner};
}

int mbg__item_filed(mbg__item *item, int status) {
  if (status == MBG_OK) {
    return MBG_OK;
  }
  item->bad = true;
  if (item->L->no_memory) {
    return mbg__fail_memory(item->L->ctx);
  }
  if (status == MBG_ERROR_MEMORY) {
    return status;
  }
  return ++item->L->errors >= MBG__MESSAGE_MAX ? MBG_ERROR_INPUT : MBG_OK;
}

static int bad_at(mbg__item *item, const mbg__where *where, const char *format, va_list args) {
  char text[1024];
  vsnprintf(text, sizeof(text), format, args);
  return mbg__item_filed(item, mbg__fail_at(item->L->ctx, MBG_ERROR_INPUT, where, 0, "%s", text));
}

int mbg__item_bad(mbg__item *item, const mbg__json *at, const char *format, ...) {
  const mbg__where where = mbg__item_where(item, at);
  va_list args;
  va_start(args, format);
  const int err = bad_at(item, &where, format, args);
  va_end(args);
  return err;
}

int mbg__item_bad_key(mbg__item *item, const mbg__json *at, const char *format, ...) {
  const mbg__where where = mbg__item_where_key(item, at);
  va_list args;
  va_start(args, format);
  const int err = bad_at(item, &where, format, args);
  va_end(args);
  return err;
}

void mbg__item_warn(const mbg__item *item, const mbg__json *at, const char *format, ...) {
  char text[1024];
  va_list args;
  if (item->L->again) {
    return;
  }
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  const mbg__where where = mbg__item_where(item, at);
  mbg__note(item->L->ctx, MBG_WARNING, "%s:%d:%d: %s%s%s", where.file, where.line, where.column, item->owner,
            item->owner[0] ? ": " : "", text);
}

int mbg__item_wrong(mbg__item *item, const mbg__json *json, const char *label, const char *expected) {
  return mbg__item_bad(item, json, "%s: expected %s, found %s", label, expected, mbg__json_kind_name(json->kind));
}

const char *mbg__hint(char buffer[MBG__HINT_SIZE], const char *nearest) {
  buffer[0] = 0;
  if (nearest) {
    mbg__format(buffer, MBG__HINT_SIZE, "; did you mean '%s'?", nearest);
  }
  return buffer;
}

const char *mbg__near(const char *word, const char *const *candidates, int count) {
  return word[0] && word[1] ? mbg__nearest(word, candidates, count) : NULL;
}

/* "a, b or c" */
static void list_words(char *out, size_t size, const char *const *word, int n) {
  out[0] = 0;
  for (int i = 0; i < n; i++) {
    const size_t used = strlen(out);
    mbg__format(out + used, size - used, "%s'%s'", i == 0 ? "" : i == n - 1 ? " or " : ", ", word[i]);
  }
}

/* ---------------------------------------------------------------------- keys */

enum { KEYS_MAX = 64 };

/* The names of all keys of an object. The inertia of a body is one key of the file and two of its type. */
typedef struct {
  const char *name[KEYS_MAX];
  bool required[KEYS_MAX];
  int count;
} key_list;

static void add_key(key_list *list, const char *name, bool required) {
  assert(list->count < KEYS_MAX);
  list->name[list->count] = name;
  list->required[list->count++] = required;
}

static void list_keys(key_list *list, const mbg__file_object *own, int nown, const mbg__key *keys, int nkey) {
  list->count = 0;
  for (int i = 0; i < nown; i++) {
    const mbg__file_keys of = mbg__file_keys_of(own[i]);
    for (int k = 0; k < of.count; k++) {
      add_key(list, of.keys[k].name, of.keys[k].required);
    }
  }
  for (int k = 0; k < nkey; k++) {
    if (!mbg__key_hidden(keys[k].name)) {
      add_key(list, keys[k].name, keys[k].required);
    }
  }
}

static bool in_list(const key_list *list, const char *key) {
  for (int k = 0; k < list->count; k++) {
    if (strcmp(list->name[k], key) == 0) {
      return true;
    }
  }
  return strcmp(key, "note") == 0;
}

static int unknown_key(mbg__item *item, const mbg__json *at, const char *nearest) {
  char hint[MBG__HINT_SIZE];
  return mbg__item_bad_key(item, at, "unknown key '%s'%s", at->key, mbg__hint(hint, nearest));
}

/* a key like no other: the keys there are */
static int far_key(mbg__item *item, const mbg__json *at, const key_list *list) {
  char all[1024];
  list_words(all, sizeof(all), list->name, list->count);
  return mbg__item_bad_key(item, at, "unknown key '%s'; expected %s", at->key, all);
}

int mbg__item_missing(mbg__item *item, const mbg__json *object, const char *key) {
  for (const mbg__json *c = object->child; c; c = c->next) {
    if (mbg__near_word(c->key, &key, 1)) {
      return unknown_key(item, c, key);
    }
  }
  return mbg__item_bad_key(item, object, "'%s' is missing", key);
}

int mbg__item_keys(mbg__item *item, const mbg__json *object, const mbg__file_object *own, int nown,
                   const mbg__key *keys, int nkey) {
  int err = MBG_OK;
  key_list list;
  list_keys(&list, own, nown, keys, nkey);
  for (const mbg__json *c = object->child; c; c = c->next) {
    if (!in_list(&list, c->key)) {
      const char *nearest = mbg__near_word(c->key, list.name, list.count);
      MBG_TRY(nearest ? unknown_key(item, c, nearest) : far_key(item, c, &list));
      /* it will not be missed */
      for (int k = 0; k < list.count; k++) {
        list.required[k] = list.required[k] && list.name[k] != nearest;
      }
    } else if (strcmp(c->key, "note") == 0 && c->kind != MBG__JSON_STRING) {
      MBG_TRY(mbg__item_wrong(item, c, "note", "a string"));
    }
  }
  for (int k = 0; k < list.count; k++) {
    if (list.required[k] && !mbg__json_member(object, list.name[k])) {
      MBG_TRY(mbg__item_bad_key(item, object, "'%s' is missing", list.name[k]));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- values */

int mbg__item_object(mbg__item *item, const mbg__json *json, const char *label, bool *yes) {
  *yes = json->kind == MBG__JSON_OBJECT;
  if (*yes) {
    return MBG_OK;
  }
  if (label) {
    return mbg__item_wrong(item, json, label, "an object");
  }
  return mbg__item_bad(item, json, "expected an object, found %s", mbg__json_kind_name(json->kind));
}

int mbg__item_text(mbg__item *item, const mbg__json *json, const char *label, const char **out) {
  if (json->kind != MBG__JSON_STRING) {
    return mbg__item_wrong(item, json, label, "a string");
  }
  if (strlen(json->text) != json->length) {
    return mbg__item_bad(item, json, "%s: the string contains a NUL character (\\u0000)", label);
  }
  *out = json->text;
  return MBG_OK;
}

int mbg__item_bool(mbg__item *item, const mbg__json *json, const char *label, bool *out) {
  if (json->kind != MBG__JSON_BOOL) {
    return mbg__item_wrong(item, json, label, "true or false");
  }
  *out = json->boolean;
  return MBG_OK;
}

/* axes had the letters of the theory; a word of today for them, or the word itself */
static const char *axes_word(const mbg__item *item, const mbg__json *json) {
  const char *now = strcmp(json->text, "A") == 0 ? "reference" : strcmp(json->text, "B") == 0 ? "body" : NULL;
  if (now) {
    mbg__item_warn(item, json, "in: '%s' is an old word for these axes; write '%s'", json->text, now);
  }
  return now ? now : json->text;
}

int mbg__item_choice(mbg__item *item, const mbg__json *json, const char *label, const char *choices, int *out) {
  char buffer[256], all[512], hint[MBG__HINT_SIZE];
  const char *word[32];
  if (!json) {
    return MBG_OK;
  }
  mbg__format(buffer, sizeof(buffer), "%s", choices);
  const int n = mbg__split(buffer, word, MBG_COUNT(word));
  /* components may be counted */
  if (json->kind == MBG__JSON_NUMBER && strcmp(label, "component") == 0) {
    for (int i = 0; i < n; i++) {
      if (json->number == i + 1) {
        *out = i;
        return MBG_OK;
      }
    }
    return mbg__item_bad(item, json, "component must be from 1 to %d", n);
  }
  list_words(all, sizeof(all), word, n);
  if (json->kind != MBG__JSON_STRING) {
    return mbg__item_wrong(item, json, label, all);
  }
  const char *text = strcmp(label, "in") == 0 ? axes_word(item, json) : json->text;
  for (int i = 0; i < n; i++) {
    if (strcmp(text, word[i]) == 0) {
      *out = i;
      return MBG_OK;
    }
  }
  const char *nearest = mbg__near_word(json->text, word, n);
  if (nearest) {
    return mbg__item_bad(item, json, "%s: unknown value '%s'%s", label, json->text, mbg__hint(hint, nearest));
  }
  return mbg__item_bad(item, json, "%s: unknown value '%s'; it must be %s", label, json->text, all);
}

int mbg__item_array(mbg__item *item, const mbg__json *json, const char *label, int n, const mbg__json **first) {
  char expected[64];
  *first = NULL;
  if (json->kind != MBG__JSON_ARRAY) {
    mbg__format(expected, sizeof(expected), n < 0 ? "an array" : "an array of %d", n);
    return mbg__item_wrong(item, json, label, expected);
  }
  if (n >= 0 && json->count != n) {
    return mbg__item_bad(item, json, "%s: expected %d entries, found %d", label, n, json->count);
  }
  if (json->count > MBG__LOAD_ELEMENTS_MAX) {
    return mbg__item_bad(item, json, "%s: more than %d entries", label, MBG__LOAD_ELEMENTS_MAX);
  }
  *first = json->child;
  return MBG_OK;
}

int mbg__item_own_type(mbg__item *item, const char *const *keys, int n, int *type) {
  const mbg__json *json = mbg__json_member(item->json, "type");
  *type = -1;
  return json ? mbg__item_type(item, json, keys, n, type) : mbg__item_missing(item, item->json, "type");
}

int mbg__item_type(mbg__item *item, const mbg__json *json, const char *const *keys, int n, int *type) {
  const char *name = NULL;
  char all[512], hint[MBG__HINT_SIZE];
  *type = -1;
  const int err = mbg__item_text(item, json, "type", &name);
  if (err < 0 || !name) {
    return err;
  }
  for (int i = 0; i < n; i++) {
    if (strcmp(keys[i], name) == 0) {
      *type = i;
      return MBG_OK;
    }
  }
  const char *advice = mbg__word_elsewhere(item->owner, name), *nearest = mbg__near_word(name, keys, n);
  if (advice) {
    return mbg__item_bad(item, json, "unknown type '%s'; %s", name, advice);
  }
  if (nearest) {
    return mbg__item_bad(item, json, "unknown type '%s'%s", name, mbg__hint(hint, nearest));
  }
  list_words(all, sizeof(all), keys, n);
  return mbg__item_bad(item, json, "unknown type '%s'; it must be %s", name, all);
}

int mbg__item_readable(mbg__item *item, const mbg__json *at, const char *path, bool *yes) {
  *yes = access(path, R_OK) == 0; /* opening a pipe would wait for its writer */
  return *yes ? MBG_OK : mbg__item_bad(item, at, "%s: cannot open file '%s'", at->key, path);
}

void mbg__item_hide(mbg__item *item, const char *name, const char *file, int mark) {
  mbg_context *ctx = item->L->ctx;
  const int last = mbg_context_message_count(ctx) - 1;
  if (!mbg__path_outside(name) || last < mark) {
    return;
  }
  char place[512];
  const char *text = mbg_context_message(ctx, last), *behind = text + strlen(file), *end = strstr(behind, ": ");
  if (!strchr(behind, '\'')) {
    return; /* quotes nothing */
  }
  mbg__format(place, sizeof(place), "%.*s", end ? (int)(end - text) : (int)strlen(file), text);
  mbg__message_rewind(ctx, mark);
  (void)mbg__fail(
      ctx, MBG_ERROR_INPUT,
      "%s: this text cannot be used; it is not shown, because the file lies outside the folder of the model", place);
}
