/* Files of control problems: samples as CSV, the model with the control found. */
#include "io/file.h"
#include "io/json.h"
#include "io/json_write.h"
#include "problems/control.h"
#include "problems/model_text.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- CSV */

bool mbg_control_same_times(const mbg_control *c) {
  for (int i = 1; c && i < c->count; i++) {
    const mbg__spline *s = c->found[0].spline, *t = c->found[i].spline;
    if (t->n != s->n || memcmp(t->x, s->x, (size_t)s->n * sizeof(double)) != 0) {
      return false;
    }
  }
  return c != NULL;
}

static int write_buffer(mbg_context *ctx, mbg__buffer *b, const char *path) {
  const char *text;
  size_t length;
  const int err = mbg__buffer_finish(b, &text, &length);
  return err < 0 ? err : mbg__file_write(ctx, path, text, length);
}

int mbg_control_write(mbg_context *ctx, const mbg_control *c, int index, const char *path) {
  MBG_NEED(ctx, ctx && c && path);
  const int first = index < 0 ? 0 : index, last = index < 0 ? c->count - 1 : index;
  mbg__buffer b;
  if (index >= c->count) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "there is no control %d; the problem has %d", index, c->count);
  }
  if (index < 0 && !mbg_control_same_times(c)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the controls have different times: write each into a file of its own");
  }
  const mbg__spline *s = c->found[first].spline;
  mbg__buffer_init(&b, ctx);
  mbg__buffer_text(&b, "t");
  for (int i = first; i <= last; i++) {
    mbg__buffer_format(&b, ",%s", c->found[i].name);
  }
  mbg__buffer_text(&b, "\n");
  for (int k = 0; k < s->n; k++) {
    mbg__buffer_number(&b, s->x[k]);
    for (int i = first; i <= last; i++) {
      mbg__buffer_text(&b, ",");
      mbg__buffer_number(&b, c->best[c->m->np + c->found[i].first + k]);
    }
    mbg__buffer_text(&b, "\n");
  }
  const int err = write_buffer(ctx, &b, path);
  mbg__buffer_destroy(&b);
  return err;
}

/* ---------------------------------------------------------------------- the model */

static void add_list(mbg__buffer *b, const char *key, int n, const double *x) {
  mbg__buffer_format(b, "\"%s\": [", key);
  for (int k = 0; k < n; k++) {
    mbg__buffer_text(b, k > 0 ? ", " : "");
    mbg__buffer_number(b, x[k]);
  }
  mbg__buffer_text(b, "]");
}

static void add_control(mbg__buffer *b, const mbg_control *c, const mbg__found_control *s) {
  mbg__buffer_text(b, "{");
  add_list(b, "times", s->n, s->spline->x);
  mbg__buffer_text(b, ", ");
  add_list(b, "values", s->n, c->best + c->m->np + s->first);
  mbg__buffer_format(b, ", \"interpolation\": \"%s\"}", s->spline->interpolation == MBG__CUBIC ? "cubic" : "linear");
}

/* the control of that name among the controls that are found, or NULL */
static const mbg__found_control *find_control(const mbg_control *c, const char *name) {
  for (int i = 0; i < c->count; i++) {
    if (!strcmp(c->found[i].name, name)) {
      return &c->found[i];
    }
  }
  return NULL;
}

int mbg_control_write_model(mbg_context *ctx, const mbg_control *c, const char *path) {
  MBG_NEED(ctx, ctx && c && path);
  mbg__model_edit edit;
  int err = MBG_OK;
  MBG_TRY(mbg__model_edit_open(ctx, c->m, &edit));
  const mbg__json *controls = mbg__json_member(edit.root, "controls");
  for (int i = 0; i < c->count; i++) {
    if (!mbg__json_member(controls, c->found[i].name)) {
      err = mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "control '%s' belongs to a part of the model, not to '%s'",
                      c->found[i].name, c->m->file);
      goto done;
    }
  }
  for (const mbg__json *entry = controls ? controls->child : NULL; entry; entry = entry->next) {
    const mbg__found_control *found = find_control(c, entry->key);
    if (found) {
      mbg__model_edit_skip(&edit, entry);
      add_control(&edit.out, c, found);
    }
  }
  mbg__model_edit_copy_rest(&edit);
  MBG_TRY(write_buffer(ctx, &edit.out, path));
done:
  mbg__model_edit_close(&edit);
  return err;
}
