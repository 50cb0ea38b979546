/* schema_write: members of a JSON Schema. Private to src/load/schema.c. */
#ifndef MBG_LOAD_SCHEMA_WRITE_H
#define MBG_LOAD_SCHEMA_WRITE_H

#include "io/json_write.h"

#include <string.h>

typedef mbg__json_writer writer;

static inline void text_member(writer *w, const char *key, const char *value) {
  mbg__json_key(w, key);
  mbg__json_string(w, value);
}

static inline void integer_member(writer *w, const char *key, int value) {
  mbg__json_key(w, key);
  mbg__json_integer(w, value);
}

static inline void reference(writer *w, const char *name) {
  char path[64];
  mbg__format(path, sizeof(path), "#/$defs/%s", name);
  text_member(w, "$ref", path);
}

/* {"$ref": ...} */
static inline void reference_object(writer *w, const char *name) {
  mbg__json_begin_object(w);
  reference(w, name);
  mbg__json_end_object(w);
}

/* key: {"type": ...} */
static inline void typed_member(writer *w, const char *key, const char *type) {
  mbg__json_key(w, key);
  mbg__json_begin_object(w);
  text_member(w, "type", type);
  mbg__json_end_object(w);
}

/* ---------------------------------------------------------------------- values */

/* least, most: number of items; -1: not limited */
static inline void array_of(writer *w, const char *items, int least, int most) {
  text_member(w, "type", "array");
  mbg__json_key(w, "items");
  reference_object(w, items);
  if (least >= 0) {
    integer_member(w, "minItems", least);
  }
  if (most >= 0) {
    integer_member(w, "maxItems", most);
  }
}

/* an array of n items; -1: of any number */
static inline void array_object(writer *w, const char *items, int n) {
  mbg__json_begin_object(w);
  array_of(w, items, n, n);
  mbg__json_end_object(w);
}

static inline void words(writer *w, const char *choices) {
  mbg__json_begin_array(w);
  while (*choices) {
    const size_t n = strcspn(choices, " ");
    mbg__json_string_n(w, choices, n);
    choices += n + (choices[n] == ' ');
  }
  mbg__json_end_array(w);
}

static inline void enumeration(writer *w, const char *name, const char *choices) {
  /* a component is a letter, or its number */
  const bool component = strcmp(name, "component") == 0;
  if (component) {
    mbg__json_key(w, "anyOf");
    mbg__json_begin_array(w);
    mbg__json_begin_object(w);
  }
  mbg__json_key(w, "enum");
  words(w, choices);
  if (component) {
    mbg__json_end_object(w);
    mbg__json_begin_object(w);
    text_member(w, "type", "integer");
    integer_member(w, "minimum", 1);
    mbg__json_end_object(w);
    mbg__json_end_array(w);
  }
}

/* object with any names as keys */
static inline void names_to(writer *w, const char *values) {
  text_member(w, "type", "object");
  mbg__json_key(w, "properties");
  mbg__json_begin_object(w);
  typed_member(w, "note", "string");
  mbg__json_end_object(w);
  mbg__json_key(w, "additionalProperties");
  reference_object(w, values);
}

static inline void any_of(writer *w, const char *const *names, int n) {
  mbg__json_key(w, "anyOf");
  mbg__json_begin_array(w);
  for (int i = 0; i < n; i++) {
    reference_object(w, names[i]);
  }
  mbg__json_end_array(w);
}

#endif
