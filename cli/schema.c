#include "schema.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- JSON of the library: it is well formed */

static cli_json blank(cli_json p) { return p + strspn(p, " \t\r\n"); }

static cli_json skip_string(cli_json p) {
  for (p++; *p != '"'; p++) {
    p += *p == '\\';
  }
  return p + 1;
}

static cli_json skip(cli_json p) {
  if (*p == '"') {
    return skip_string(p);
  }
  if (*p != '{' && *p != '[') {
    return p + strcspn(p, ",]} \t\r\n");
  }
  int depth = 0;
  do {
    if (*p == '"') {
      p = skip_string(p);
      continue;
    }
    depth += *p == '{' || *p == '[' ? 1 : *p == '}' || *p == ']' ? -1 : 0;
    p++;
  } while (depth > 0);
  return p;
}

/* the key of entry number `index`; NULL: past the end */
static cli_json key_at(cli_json object, int index) {
  if (!object || *object != '{') {
    return NULL;
  }
  cli_json p = blank(object + 1);
  for (; *p == '"' && index > 0; index--) {
    p = blank(skip(blank(blank(skip_string(p)) + 1)));
    p = *p == ',' ? blank(p + 1) : p;
  }
  return *p == '"' ? p : NULL;
}

char *cli_json_text(cli_json value) {
  if (!value || *value != '"') {
    return cli_copy("");
  }
  char *text = cli_copy(value + 1), *out = text;
  for (cli_json p = value + 1; *p != '"'; p++) {
    p += *p == '\\';
    *out++ = *p;
  }
  *out = 0;
  return text;
}

char *cli_json_key(cli_json object, int index) {
  cli_json key = key_at(object, index);
  return key ? cli_json_text(key) : NULL;
}

int cli_json_key_count(cli_json object) {
  int count = 0;
  while (key_at(object, count)) {
    count++;
  }
  return count;
}

cli_json cli_json_member(cli_json object, const char *key) {
  const size_t length = strlen(key);
  for (int i = 0;; i++) {
    cli_json at = key_at(object, i);
    if (!at) {
      return NULL;
    }
    if (!strncmp(at + 1, key, length) && at[1 + length] == '"') {
      return blank(blank(skip_string(at)) + 1);
    }
  }
}

cli_json cli_json_entry(cli_json array, int index) {
  if (!array || *array != '[') {
    return NULL;
  }
  cli_json p = blank(array + 1);
  for (; *p != ']' && index > 0; index--) {
    p = blank(skip(p));
    p = *p == ',' ? blank(p + 1) : p;
  }
  return *p == ']' ? NULL : p;
}

/* ---------------------------------------------------------------------- the schema */

cli_json cli_schema_target(cli_json schema, cli_json node) {
  cli_json reference = node ? cli_json_member(node, "$ref") : NULL;
  if (!reference) {
    return node;
  }
  char *path = cli_json_text(reference);
  const char *name = strrchr(path, '/');
  node = cli_json_member(cli_json_member(schema, "$defs"), name ? name + 1 : path);
  free(path);
  return node;
}

cli_json cli_schema_section(cli_json schema, const char *section) {
  cli_json value = cli_json_member(cli_json_member(schema, "properties"), section);
  if (!value) {
    return NULL;
  }
  cli_json entries = cli_json_member(value, "additionalProperties");
  return cli_schema_target(schema, entries && *entries == '{' ? entries : value);
}

char *cli_schema_type(cli_json schema, cli_json section, int index, cli_json *alternative) {
  cli_json all = cli_json_member(section, "anyOf");
  for (int i = 0; all; i++) {
    cli_json entry = cli_schema_target(schema, cli_json_entry(all, i));
    if (!entry) {
      break;
    }
    cli_json type = cli_json_member(cli_json_member(cli_json_member(entry, "properties"), "type"), "const");
    if (type && index-- == 0) {
      *alternative = entry;
      return cli_json_text(type);
    }
  }
  return NULL;
}
