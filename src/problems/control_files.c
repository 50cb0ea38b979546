/* Files of control problems: samples as CSV, restart, the model with the control found. */
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

/* ---------------------------------------------------------------------- restart */

int mbg_control_write_restart(mbg_context *ctx, const mbg_control *c, const char *path) {
  MBG_NEED(ctx, ctx && c && path);
  mbg__json_writer w;
  const char *text;
  size_t length;
  mbg__json_writer_init(&w, ctx, true);
  mbg__json_begin_object(&w);
  mbg__json_key(&w, "mbgrad_control");
  mbg__json_integer(&w, 1);
  mbg__json_key(&w, "model");
  mbg__json_string(&w, c->m->name);
  mbg__json_key(&w, "stage");
  mbg__json_integer(&w, c->summary.stage);
  mbg__json_key(&w, "stages");
  mbg__json_integer(&w, c->summary.stages);
  mbg__json_key(&w, "iterations");
  mbg__json_integer(&w, c->summary.iterations);
  mbg__json_key(&w, "objective");
  mbg__json_number(&w, c->summary.objective);
  mbg__json_key(&w, "gradient_start");
  mbg__json_number(&w, c->reference);
  mbg__json_key(&w, "controls");
  mbg__json_begin_object(&w);
  for (int i = 0; i < c->count; i++) {
    const mbg__found_control *s = &c->found[i];
    mbg__json_key(&w, s->name);
    mbg__json_begin_object(&w);
    mbg__json_key(&w, "times");
    mbg__json_numbers(&w, s->spline->x, s->n);
    mbg__json_key(&w, "values");
    mbg__json_numbers(&w, c->best + c->m->np + s->first, s->n);
    mbg__json_end_object(&w);
  }
  mbg__json_end_object(&w);
  mbg__json_end_object(&w);
  int err = mbg__json_writer_finish(&w, &text, &length);
  if (err == MBG_OK) {
    err = mbg__file_write(ctx, path, text, length);
  }
  mbg__json_writer_destroy(&w);
  return err;
}

/* an array of numbers; NULL when it is none */
static double *numbers(mbg__arena *arena, const mbg__json *json, int *n) {
  if (!json || json->kind != MBG__JSON_ARRAY || json->count == 0) {
    return NULL;
  }
  double *x = MBG_TAKE(arena, double, json->count);
  *n = 0;
  for (const mbg__json *e = json->child; x && e; e = e->next) {
    if (e->kind != MBG__JSON_NUMBER) {
      return NULL;
    }
    x[(*n)++] = e->number;
  }
  return x;
}

/* samples of one control from the file, interpolated when the times differ */
static int resume_control(mbg_context *ctx, mbg_control *c, mbg__arena *arena, const mbg__found_control *s,
                          const mbg__json *entry, const char *path) {
  int nt = 0, nv = 0;
  const double *t = numbers(arena, mbg__json_member(entry, "times"), &nt);
  const double *v = numbers(arena, mbg__json_member(entry, "values"), &nv);
  const mbg__where where = {.file = path, .line = entry ? entry->line : 1, .column = entry ? entry->column : 1};
  mbg__table *table;
  if (!t || !v || nt != nv) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s: no samples of control '%s', as a restart file of this problem has them",
                     path, s->name);
  }
  const int err =
      mbg__table_create(ctx, arena, &where, s->name, nt, t, v, s->spline->interpolation, MBG__OUTSIDE_HOLD, &table);
  for (int k = 0; err == MBG_OK && k < s->n; k++) {
    real y;
    (void)mbg__table_at(table, s->spline->x[k], 0, &y);
    const bool same = nt == s->n && t[k] == s->spline->x[k];
    c->x[s->first + k] = same ? v[k] : re(y);
  }
  return err;
}

int mbg_control_read_restart(mbg_context *ctx, mbg_control *c, const char *path) {
  MBG_NEED(ctx, ctx && c && path);
  int err = MBG_OK;
  mbg__arena arena;
  mbg__json *root;
  char *text;
  size_t length;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  MBG_TRY(mbg__file_read_data(ctx, &arena, path, &text, &length));
  MBG_TRY(mbg__json_parse(ctx, &arena, path, text, length, &root));
  const mbg__json *mark = mbg__json_member(root, "mbgrad_control"), *stage = mbg__json_member(root, "stage");
  if (!mark || mark->kind != MBG__JSON_NUMBER || mark->number != 1 || !stage || stage->kind != MBG__JSON_NUMBER) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: not a restart file of a control problem", path);
    goto done;
  }
  for (int i = 0; i < c->count; i++) {
    const mbg__json *entry = mbg__json_member(mbg__json_member(root, "controls"), c->found[i].name);
    MBG_TRY(resume_control(ctx, c, &arena, &c->found[i], entry, path));
  }
  const mbg__json *reference = mbg__json_member(root, "gradient_start");
  c->reference = reference && reference->kind == MBG__JSON_NUMBER ? fmax(reference->number, 0) : 0;
  c->summary.stage = (int)fmin(fmax(stage->number, 0), c->summary.stages - 1);
  memcpy(c->best + c->m->np, c->x, (size_t)c->n * sizeof(double));
done:
  mbg__arena_destroy(&arena);
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
