/* Files that are not model files: what they are, by their first bytes. */
#include "load/load.h"

#include <ctype.h>
#include <string.h>

/* ---------------------------------------------------------------------- binary files */

typedef struct {
  const char *bytes;
  size_t length;
  const char *name;
} magic;

#define MAGIC(bytes, name)                                                                                             \
  { bytes, sizeof(bytes) - 1, name }

static const magic binary[] = {
    MAGIC("\x89PNG", "a PNG picture"),
    MAGIC("\xff\xd8\xff", "a JPEG picture"),
    MAGIC("GIF8", "a GIF picture"),
    MAGIC("%PDF-", "a PDF document"),
    MAGIC("\x7f"
          "ELF",
          "an ELF program or library"),
    MAGIC("\x1f\x8b", "compressed by gzip: unpack it first (gunzip)"),
    MAGIC("BZh", "compressed by bzip2: unpack it first (bunzip2)"),
    MAGIC("\xfd"
          "7zXZ",
          "compressed by xz: unpack it first (unxz)"),
    MAGIC("\x28\xb5\x2f\xfd", "compressed by zstd: unpack it first (unzstd)"),
    MAGIC("PK\x03\x04", "a ZIP archive: unpack it first (unzip)"),
    MAGIC("\x89HDF\r\n", "an HDF5 file: data, perhaps results of a run"),
    MAGIC("SQLite format 3", "an SQLite data base"),
};

static const magic encodings[] = {
    MAGIC("\xff\xfe\x00\x00", "UTF-32"),
    MAGIC("\x00\x00\xfe\xff", "UTF-32"),
    MAGIC("\xff\xfe", "UTF-16"),
    MAGIC("\xfe\xff", "UTF-16"),
};

static const char *find_magic(const magic *list, int n, const char *text, size_t length) {
  for (int i = 0; i < n; i++) {
    if (length >= list[i].length && memcmp(text, list[i].bytes, list[i].length) == 0) {
      return list[i].name;
    }
  }
  return NULL;
}

/* ---------------------------------------------------------------------- XML */

/* after the end of a declaration or comment that ends with `mark`; the end of the text without one */
static const char *skip_past(const char *p, const char *mark) {
  const char *found = strstr(p, mark);
  return found ? found + strlen(mark) : p + strlen(p);
}

static const char *skip_blanks(const char *p) { return p + strspn(p, " \t\r\n"); }

/* name of the outermost element */
static void root_element(const char *p, char *name, size_t size) {
  name[0] = 0;
  for (p = skip_blanks(p); *p == '<'; p = skip_blanks(p)) {
    if (p[1] == '?') {
      p = skip_past(p, "?>");
    } else if (strncmp(p, "<!--", 4) == 0) {
      p = skip_past(p, "-->");
    } else if (p[1] == '!') {
      p = skip_past(p, ">");
    } else {
      mbg__format(name, size, "%.*s", (int)strcspn(p + 1, " \t\r\n/>"), p + 1);
      return;
    }
  }
}

static int fail_xml(mbg_context *ctx, const char *file, const char *text) {
  static const struct {
    const char *root, *name;
  } known[] = {{"robot", "a URDF robot description"}, {"sdf", "an SDF description"}, {"mujoco", "an MJCF model"}};
  char root[64];
  root_element(text, root, sizeof(root));
  for (int i = 0; i < MBG_COUNT(known); i++) {
    if (strcmp(root, known[i].root) == 0) {
      return mbg__fail(ctx, MBG_ERROR_INPUT,
                       "%s:1:1: the file is %s (XML, <%s>), not a model of mbgrad; a model is a JSON file, "
                       "{\"mbgrad\": 1, \"bodies\": ...}: write its bodies and joints there",
                       file, known[i].name, root);
    }
  }
  return mbg__fail(ctx, MBG_ERROR_INPUT, "%s:1:1: the file is XML%s%s%s; a model is a JSON file, {\"mbgrad\": 1, ...}",
                   file, root[0] ? " (<" : "", root, root[0] ? ">)" : "");
}

/* ---------------------------------------------------------------------- YAML, TOML */

/* the first line that is neither blank nor a comment */
static const char *first_line(const char *p) {
  for (p = skip_blanks(p); *p == '#'; p = skip_blanks(p)) {
    p += strcspn(p, "\n");
  }
  return p;
}

static size_t bare_key(const char *p) {
  size_t n = 0;
  while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '-' || p[n] == '.') {
    n++;
  }
  return n;
}

/* "key: value", "---" and "%YAML"; "key = value" and "[section]" */
static const char *other_notation(const char *text) {
  const char *p = first_line(text);
  if (strncmp(p, "---", 3) == 0 || strncmp(p, "%YAML", 5) == 0) {
    return "YAML";
  }
  const bool bracket = *p == '[';
  p += bracket ? 1 + (p[1] == '[') : 0;
  const size_t key = bare_key(p), blanks = strspn(p + key, " \t");
  if (key == 0 || (bracket && isdigit((unsigned char)*p))) {
    return NULL;
  }
  if (bracket) {
    return p[key] == ']' ? "TOML" : NULL;
  }
  const char after = p[key + blanks], next = after ? p[key + blanks + 1] : '\0';
  if (after == ':' && (next == '\0' || isspace((unsigned char)next))) {
    return "YAML";
  }
  return after == '=' ? "TOML" : NULL;
}

/* ---------------------------------------------------------------------- all */

enum { LOOK = 1024 };

int mbg__load_format(mbg_context *ctx, const char *file, const char *text, size_t length) {
  const char *name = find_magic(binary, MBG_COUNT(binary), text, length);
  if (name) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s:1:1: the file is %s; a model is a JSON text, {\"mbgrad\": 1, ...}", file,
                     name);
  }
  name = find_magic(encodings, MBG_COUNT(encodings), text, length);
  if (name) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s:1:1: the text is %s; save the file as UTF-8", file, name);
  }
  if (memchr(text, 0, length < LOOK ? length : LOOK)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "%s:1:1: the file is binary (it has NUL bytes); a model is a JSON text, {\"mbgrad\": 1, ...}, in "
                     "UTF-8",
                     file);
  }
  const char *start = skip_blanks(text);
  if (*start == 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s:1:1: the file is empty; a model begins with {\"mbgrad\": 1, ...}", file);
  }
  if (*start == '<') {
    return fail_xml(ctx, file, start);
  }
  name = other_notation(text);
  return !name ? MBG_OK
               : mbg__fail(ctx, MBG_ERROR_INPUT,
                           "%s:1:1: the file is written in %s; a model is a JSON file: {\"mbgrad\": 1, \"bodies\": "
                           "{...}, ...}, names and texts in double quotes",
                           file, name);
}
