#include "problems/model_text.h"

#include <string.h>

/* ---------------------------------------------------------------------- replacing values */

int mbg__model_edit_open(mbg_context *ctx, const mbg_model *m, mbg__model_edit *edit) {
  const mbg__model_source *source = m->sources;
  *edit = (mbg__model_edit){.text = source->text, .next = source->text, .end = source->text + source->length};
  mbg__arena_init(&edit->arena, mbg__context_allocator(ctx));
  mbg__buffer_init(&edit->out, ctx);
  return mbg__json_parse(ctx, &edit->arena, m->file, source->text, source->length, &edit->root);
}

void mbg__model_edit_skip(mbg__model_edit *edit, const mbg__json *value) {
  const char *text = edit->text;
  mbg__buffer_add(&edit->out, edit->next, (size_t)(text + value->begin - edit->next));
  edit->next = text + value->end;
}

void mbg__model_edit_copy_rest(mbg__model_edit *edit) {
  mbg__buffer_add(&edit->out, edit->next, (size_t)(edit->end - edit->next));
}

void mbg__model_edit_close(mbg__model_edit *edit) {
  mbg__buffer_destroy(&edit->out);
  mbg__arena_destroy(&edit->arena);
}

/* ---------------------------------------------------------------------- parameters */

/* `count` values in place of one (several: an array) */
static void replace(mbg__model_edit *edit, const mbg__json *value, const double *values, int count) {
  mbg__model_edit_skip(edit, value);
  for (int i = 0; i < count; i++) {
    mbg__buffer_text(&edit->out, i > 0 ? ", " : count > 1 ? "[" : "");
    mbg__buffer_number(&edit->out, values[i]);
  }
  mbg__buffer_text(&edit->out, count > 1 ? "]" : "");
}

static void replace_parameter(mbg__model_edit *edit, const mbg__json *json, const double *values, int count) {
  const mbg__json *value = json->kind == MBG__JSON_OBJECT ? mbg__json_member(json, "value") : json;
  if (value && value->kind == MBG__JSON_NUMBER) {
    replace(edit, value, values, count);
    return;
  }
  const mbg__json *entry = value ? value->child : NULL;
  for (int i = 0; i < count && entry; i++, entry = entry->next) {
    replace(edit, entry, &values[i], 1);
  }
}

/* p (np): the values; NAN at the first entry of a parameter: it stays as it is */
static void replace_all(mbg__model_edit *edit, const mbg_model *m, const double *p) {
  const mbg__json *list = mbg__json_member(edit->root, "parameters");
  for (const mbg__json *c = list ? list->child : NULL; c; c = c->next) {
    for (int k = 0; k < m->nparameter; k++) {
      const mbg__parameter *own = &m->parameters[k];
      if (!strcmp(own->name, c->key) && !isnan(p[own->first])) {
        replace_parameter(edit, c, p + own->first, own->count);
      }
    }
  }
}

int mbg__model_text(mbg_context *ctx, const mbg_model *m, int n, const mbg__varied *values, char **text) {
  mbg__model_edit edit;
  int err = MBG_OK;
  *text = NULL;
  MBG_TRY(mbg__model_edit_open(ctx, m, &edit));
  double *p = MBG_TAKE(&edit.arena, double, m->np);
  MBG_TRY(mbg__arena_check(ctx, &edit.arena));
  for (int k = 0; k < m->np; k++) {
    p[k] = NAN;
  }
  for (int i = 0; i < n; i++) {
    p[values[i].index] = values[i].value;
  }
  replace_all(&edit, m, p);
  mbg__model_edit_copy_rest(&edit);
  MBG_TRY(mbg__buffer_hand_over(&edit.out, text));
done:
  mbg__model_edit_close(&edit);
  return err;
}
