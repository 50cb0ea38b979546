#include "import/xml.h"

#include "io/file.h"
#include "io/number.h"

#include <expat.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  XML_Parser parser;
  const char *file;
  mbg__xml *root, *open, *last[MBG__XML_DEPTH_MAX + 1]; /* last child of the open element at each depth */
  int depth, count, err;
  char *text[MBG__XML_DEPTH_MAX + 1]; /* characters of the open elements; grow by doubling */
  size_t length[MBG__XML_DEPTH_MAX + 1], capacity[MBG__XML_DEPTH_MAX + 1];
} reader;

/* ---------------------------------------------------------------------- handlers */

static int here(const reader *r, int *column) {
  *column = (int)XML_GetCurrentColumnNumber(r->parser) + 1;
  return (int)XML_GetCurrentLineNumber(r->parser);
}

static void stop(reader *r, int status, const char *message) {
  int column;
  const int line = here(r, &column);
  if (r->err == MBG_OK) {
    r->err = status == MBG_ERROR_MEMORY ? mbg__fail_memory(r->ctx)
                                        : mbg__fail(r->ctx, status, "%s:%d:%d: %s", r->file, line, column, message);
  }
  (void)XML_StopParser(r->parser, XML_FALSE);
}

static bool take_attributes(reader *r, mbg__xml *e, const XML_Char **attributes) {
  mbg__xml_attribute **end = &e->attributes;
  for (int i = 0; attributes[i]; i += 2) {
    mbg__xml_attribute *a = MBG_TAKE(r->arena, mbg__xml_attribute, 1);
    if (!a) {
      return false;
    }
    a->key = mbg__arena_text(r->arena, attributes[i], strlen(attributes[i]));
    a->value = mbg__arena_text(r->arena, attributes[i + 1], strlen(attributes[i + 1]));
    if (!a->key || !a->value) {
      return false;
    }
    *end = a;
    end = &a->next;
  }
  return true;
}

static void XMLCALL begin(void *user, const XML_Char *name, const XML_Char **attributes) {
  reader *r = user;
  if (r->err != MBG_OK) {
    return;
  }
  if (r->depth >= MBG__XML_DEPTH_MAX) {
    stop(r, MBG_ERROR_INPUT, "elements nested more than 200 deep");
    return;
  }
  if (++r->count > MBG__XML_ELEMENTS_MAX) {
    stop(r, MBG_ERROR_INPUT, "more than 2000000 elements");
    return;
  }
  mbg__xml *e = MBG_TAKE(r->arena, mbg__xml, 1);
  if (!e || !(e->name = mbg__arena_text(r->arena, name, strlen(name))) || !take_attributes(r, e, attributes)) {
    stop(r, MBG_ERROR_MEMORY, "");
    return;
  }
  e->file = r->file;
  e->text = "";
  e->line = here(r, &e->column);
  e->begin = (size_t)XML_GetCurrentByteIndex(r->parser);
  e->inside = e->begin + (size_t)XML_GetCurrentByteCount(r->parser);
  e->parent = r->open;
  if (!r->open) {
    r->root = e;
  } else if (r->last[r->depth]) {
    r->last[r->depth]->next = e;
  } else {
    r->open->child = e;
  }
  r->last[r->depth] = e;
  r->open = e;
  r->depth++;
  r->last[r->depth] = NULL;
  r->length[r->depth] = 0;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void XMLCALL end(void *user, const XML_Char *name) {
  reader *r = user;
  (void)name;
  if (r->err != MBG_OK) {
    return;
  }
  const char *from = r->text[r->depth], *to = from ? from + r->length[r->depth] : NULL;
  while (from < to && is_blank(*from)) {
    from++;
  }
  while (to > from && is_blank(to[-1])) {
    to--;
  }
  if (from && to > from && !(r->open->text = mbg__arena_text(r->arena, from, (size_t)(to - from)))) {
    stop(r, MBG_ERROR_MEMORY, "");
    return;
  }
  r->open->end = (size_t)XML_GetCurrentByteIndex(r->parser) + (size_t)XML_GetCurrentByteCount(r->parser);
  r->open = r->open->parent;
  r->depth--;
}

static void XMLCALL characters(void *user, const XML_Char *text, int length) {
  reader *r = user;
  const int d = r->depth;
  const size_t need = r->length[d] + (size_t)length;
  if (r->err != MBG_OK || d == 0) {
    return;
  }
  if (need > r->capacity[d]) {
    const size_t capacity = 2 * need + 64;
    char *more = mbg__resize(r->ctx, r->text[d], capacity, 1);
    if (!more) {
      stop(r, MBG_ERROR_MEMORY, "");
      return;
    }
    r->text[d] = more;
    r->capacity[d] = capacity;
  }
  memcpy(r->text[d] + r->length[d], text, (size_t)length);
  r->length[d] = need;
}

static void XMLCALL entity(void *user, const XML_Char *name, int parameter, const XML_Char *value, int length,
                           const XML_Char *base, const XML_Char *system, const XML_Char *public,
                           const XML_Char *notation) {
  (void)name, (void)parameter, (void)value, (void)length, (void)base, (void)system, (void)public, (void)notation;
  stop(user, MBG_ERROR_INPUT, "declarations of entities are not read; write the text out");
}

/* ---------------------------------------------------------------------- the file */

static int parse(reader *r, const char *text, size_t length) {
  XML_SetUserData(r->parser, r);
  XML_SetElementHandler(r->parser, begin, end);
  XML_SetCharacterDataHandler(r->parser, characters);
  XML_SetEntityDeclHandler(r->parser, entity);
  const enum XML_Status status = XML_Parse(r->parser, text, (int)length, XML_TRUE);
  if (r->err == MBG_OK && status != XML_STATUS_OK) {
    int column;
    const int line = here(r, &column);
    r->err = mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s:%d:%d: no XML: %s", r->file, line, column,
                       XML_ErrorString(XML_GetErrorCode(r->parser)));
  }
  return r->err;
}

/* data: no pipe or device, which might never end */
static int read_tree(mbg_context *ctx, mbg__arena *arena, const char *path, bool data, mbg__xml **root) {
  reader *r = mbg__alloc_zero(ctx, 1, sizeof(reader));
  char *text = NULL;
  size_t length = 0;
  int err = MBG_OK;
  *root = NULL;
  if (!r) {
    return mbg__fail_memory(ctx);
  }
  MBG_TRY((data ? mbg__file_read_data : mbg__file_read)(ctx, arena, path, &text, &length));
  *r = (reader){.ctx = ctx, .arena = arena, .parser = XML_ParserCreate(NULL)};
  r->file = mbg__arena_text(arena, path, strlen(path));
  err = r->parser && r->file ? parse(r, text, length) : mbg__fail_memory(ctx);
  for (int d = 0; d <= MBG__XML_DEPTH_MAX; d++) {
    mbg__free(ctx, r->text[d]);
  }
  if (r->parser) {
    XML_ParserFree(r->parser);
  }
  *root = err == MBG_OK ? r->root : NULL;
done:
  mbg__free(ctx, r);
  return err;
}

int mbg__xml_read(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__xml **root) {
  return read_tree(ctx, arena, path, false, root);
}

int mbg__xml_read_data(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__xml **root) {
  return read_tree(ctx, arena, path, true, root);
}

/* ---------------------------------------------------------------------- looking */

static const mbg__xml *of_name(const mbg__xml *e, const char *name) {
  while (e && strcmp(e->name, name) != 0) {
    e = e->next;
  }
  return e;
}

const mbg__xml *mbg__xml_child(const mbg__xml *element, const char *name) {
  return element ? of_name(element->child, name) : NULL;
}

const mbg__xml *mbg__xml_next(const mbg__xml *element) { return of_name(element->next, element->name); }

const char *mbg__xml_value(const mbg__xml *element, const char *key) {
  for (const mbg__xml_attribute *a = element ? element->attributes : NULL; a; a = a->next) {
    if (!strcmp(a->key, key)) {
      return a->value;
    }
  }
  return NULL;
}

int mbg__xml_fail(mbg_context *ctx, const mbg__xml *at, const char *format, ...) {
  char message[512];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  return mbg__fail(ctx, MBG_ERROR_INPUT, "%s:%d:%d: <%s>: %s", at->file, at->line, at->column, at->name, message);
}

/* ---------------------------------------------------------------------- numbers */

int mbg__xml_numbers(mbg_context *ctx, const mbg__xml *at, const char *what, const char *text, int least, int n,
                     double *out, int *found) {
  int count = 0;
  if (!text) {
    return MBG_OK;
  }
  for (const char *p = text; *p;) {
    while (is_blank(*p)) {
      p++;
    }
    size_t length = strcspn(p, " \t\r\n");
    if (length == 0) {
      break;
    }
    double value;
    if (!mbg__number_parse(p, length, &value) || !isfinite(value)) {
      return mbg__xml_fail(ctx, at, "%s: '%.*s' is no number%s", what, length > 40 ? 40 : (int)length, p,
                           *p == '$' ? "; an expression of xacro: expand it first, xacro FILE > robot.urdf" : "");
    }
    if (count < n) {
      out[count] = value;
    }
    count++;
    p += length;
  }
  if (count < least || count > n) {
    return mbg__xml_fail(ctx, at, "%s: %d numbers where %d are expected", what, count, n);
  }
  if (found) {
    *found = count;
  }
  return MBG_OK;
}

int mbg__xml_number(mbg_context *ctx, const mbg__xml *at, const char *key, double *out) {
  return mbg__xml_vector(ctx, at, key, 1, out);
}

int mbg__xml_vector(mbg_context *ctx, const mbg__xml *at, const char *key, int n, double *out) {
  return mbg__xml_numbers(ctx, at, key, mbg__xml_value(at, key), n, n, out, NULL);
}
