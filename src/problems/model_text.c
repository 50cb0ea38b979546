/* The numbers of the parameters are replaced, everything else of the file stays as it is. */
#include "problems/model_text.h"

#include "io/file.h"
#include "io/json.h"
#include "io/json_write.h"
#include "io/number.h"

#include <string.h>

typedef struct {
  mbg_context *ctx;
  const double *p;
  const char *text; /* of the file */
  size_t length;
  size_t done; /* bytes that are written */
  size_t line; /* first byte of line `number` */
  int number;  /* from 1 */
  mbg__buffer out;
} rewriting;

/* byte of a line and column, which come in increasing order; columns count code points */
static size_t place(rewriting *w, int line, int column) {
  while (w->number < line) {
    const char *end = memchr(w->text + w->line, '\n', w->length - w->line);
    w->line = end ? (size_t)(end - w->text) + 1 : w->length;
    w->number++;
  }
  size_t at = w->line;
  for (int k = 1; k < column && at < w->length; k++) {
    at++;
    while (at < w->length && ((unsigned char)w->text[at] & 0xc0) == 0x80) {
      at++;
    }
  }
  return at;
}

/* everything up to the number, then `count` values in its place (several: an array) */
static void replace(rewriting *w, const mbg__json *number, const double *values, int count) {
  const size_t at = place(w, number->line, number->column);
  mbg__buffer_add(&w->out, w->text + w->done, at - w->done);
  for (int i = 0; i < count; i++) {
    mbg__buffer_text(&w->out, i > 0 ? ", " : count > 1 ? "[" : "");
    mbg__buffer_number(&w->out, values[i]);
  }
  mbg__buffer_text(&w->out, count > 1 ? "]" : "");
  w->done = at + number->length;
}

static void replace_parameter(rewriting *w, const mbg__parameter *p, const mbg__json *json) {
  const double *values = w->p + p->first;
  const mbg__json *value = json->kind == MBG__JSON_OBJECT ? mbg__json_member(json, "value") : json;
  const bool all = value && value->kind == MBG__JSON_NUMBER;
  if (isnan(w->p[p->first])) {
    return;
  }
  if (all) {
    replace(w, value, values, p->count);
    return;
  }
  const mbg__json *entry = value ? value->child : NULL;
  for (int i = 0; i < p->count && entry; i++, entry = entry->next) {
    replace(w, entry, &values[i], 1);
  }
}

int mbg__model_text(mbg_context *ctx, const mbg_model *m, const double *p, char **out) {
  rewriting w = {.ctx = ctx, .p = p, .number = 1};
  mbg__arena arena;
  mbg__json *root;
  const char *whole;
  char *text;
  int err = MBG_OK;
  *out = NULL;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  mbg__buffer_init(&w.out, ctx);
  MBG_TRY(mbg__file_read(ctx, &arena, m->file, &text, &w.length));
  MBG_TRY(mbg__json_parse(ctx, &arena, m->file, text, w.length, &root));
  w.text = text;
  const mbg__json *list = mbg__json_member(root, "parameters");
  for (const mbg__json *c = list ? list->child : NULL; c; c = c->next) {
    for (int k = 0; k < m->nparameter; k++) {
      if (!strcmp(m->parameters[k].name, c->key)) {
        replace_parameter(&w, &m->parameters[k], c);
      }
    }
  }
  mbg__buffer_add(&w.out, text + w.done, w.length - w.done);
  MBG_TRY(mbg__buffer_finish(&w.out, &whole, NULL));
  *out = w.out.text; /* handed over */
  w.out.text = NULL;
done:
  mbg__buffer_destroy(&w.out);
  mbg__arena_destroy(&arena);
  return err;
}
