/* plan.json: which points a folder has records of. */
#define _POSIX_C_SOURCE 200809L

#include "problems/records.h"

#include "io/file.h"
#include "io/json.h"
#include "io/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REMEDY_CHANGED "remove it and resume: it is written again"
#define REMEDY "if it was damaged, remove it and resume: the plan is written again"

/* ---------------------------------------------------------------------- sum */

enum { SUM_SIZE = 17 };

static uint64_t sum_names(uint64_t sum, int count, const char *const *names) {
  sum = mbg__sum(sum, &count, sizeof(count));
  for (int i = 0; i < count; i++) {
    sum = mbg__sum(sum, names[i], strlen(names[i]) + 1);
  }
  return sum;
}

/* over everything that decides about the table: a plan that was changed would give another one */
static void plan_sum(const mbg_records_plan *p, char *out) {
  const char *const texts[] = {p->kind, p->model, p->identity};
  uint64_t sum = sum_names(MBG__SUM_START, MBG_COUNT(texts), texts);
  sum = mbg__sum(sum, &p->point_count, sizeof(p->point_count));
  sum = sum_names(sum_names(sum, p->input_count, p->inputs), p->output_count, p->outputs);
  mbg__format(out, SUM_SIZE, "%016" PRIx64, sum);
}

/* ---------------------------------------------------------------------- writing */

static void put_names(mbg__json_writer *w, const char *key, int count, const char *const *names) {
  mbg__json_key(w, key);
  mbg__json_begin_array(w);
  for (int i = 0; i < count; i++) {
    mbg__json_string(w, names[i]);
  }
  mbg__json_end_array(w);
}

static int plan_text(mbg__json_writer *w, const mbg_records_plan *p, const char **text, size_t *length) {
  char sum[SUM_SIZE];
  plan_sum(p, sum);
  mbg__json_begin_object(w);
  mbg__json_key(w, "mbgrad-records");
  mbg__json_integer(w, 1);
  mbg__json_key(w, "kind");
  mbg__json_string(w, p->kind);
  mbg__json_key(w, "model");
  mbg__json_string(w, p->model);
  mbg__json_key(w, "identity");
  mbg__json_string(w, p->identity);
  mbg__json_key(w, "points");
  mbg__json_integer(w, p->point_count);
  put_names(w, "inputs", p->input_count, p->inputs);
  put_names(w, "outputs", p->output_count, p->outputs);
  mbg__json_key(w, "sum");
  mbg__json_string(w, sum);
  mbg__json_end_object(w);
  return mbg__json_writer_finish(w, text, length);
}

/* ---------------------------------------------------------------------- reading */

static int bad_plan(mbg_context *ctx, const char *path, const char *what) {
  return mbg__fail(ctx, MBG_ERROR_INPUT, "%s: %s; it is no plan of records (" REMEDY ")", path, what);
}

/* a file that is no JSON: its message, with the remedy */
static int no_json(mbg_context *ctx, mbg__arena *arena, int mark) {
  const char *said = mbg_context_message(ctx, mark);
  const char *text = mbg__arena_text(arena, said, strlen(said));
  mbg__message_rewind(ctx, mark);
  return text ? mbg__fail(ctx, MBG_ERROR_INPUT, "%s; " REMEDY, text) : mbg__fail_memory(ctx);
}

static const char *text_of(const mbg__json *root, const char *key) {
  const mbg__json *j = mbg__json_member(root, key);
  return j && j->kind == MBG__JSON_STRING ? j->text : NULL;
}

/* false: there is no such list of texts */
static bool names_of(mbg__arena *arena, const mbg__json *root, const char *key, int *count, const char *const **out) {
  const mbg__json *list = mbg__json_member(root, key);
  if (!list || list->kind != MBG__JSON_ARRAY) {
    return false;
  }
  const char **names = MBG_TAKE(arena, const char *, list->count + 1);
  int n = 0;
  for (const mbg__json *c = list->child; c && names; c = c->next) {
    if (c->kind != MBG__JSON_STRING) {
      return false;
    }
    names[n++] = c->text;
  }
  *count = n;
  *out = names;
  return true;
}

/* Takes the fields. */
static int take_plan(mbg_context *ctx, mbg__arena *arena, const char *path, const mbg__json *root,
                     mbg_records_plan *p) {
  if (root->kind != MBG__JSON_OBJECT || !mbg__json_member(root, "mbgrad-records")) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s is no plan of records: name another folder", path);
  }
  const mbg__json *version = mbg__json_member(root, "mbgrad-records"), *points = mbg__json_member(root, "points");
  if (version->kind != MBG__JSON_NUMBER || version->number != 1) {
    return bad_plan(ctx, path, "its version is not 1");
  }
  p->kind = text_of(root, "kind");
  p->model = text_of(root, "model");
  p->identity = text_of(root, "identity");
  const bool counted = points && points->kind == MBG__JSON_NUMBER && points->number >= 1 && points->number <= 1e9 &&
                       points->number == floor(points->number);
  p->point_count = counted ? (int)points->number : 0;
  if (!p->kind || !p->model || !p->identity || !counted ||
      !names_of(arena, root, "inputs", &p->input_count, &p->inputs) ||
      !names_of(arena, root, "outputs", &p->output_count, &p->outputs)) {
    return bad_plan(ctx, path, "\"kind\", \"model\", \"identity\", \"points\", \"inputs\" or \"outputs\" is missing");
  }
  return mbg__arena_check(ctx, arena);
}

static int read_plan(mbg_context *ctx, mbg__arena *arena, const char *path, mbg_records_plan *p) {
  int err = MBG_OK;
  char *text, sum[SUM_SIZE];
  size_t length;
  mbg__json *root;
  MBG_TRY(mbg__file_read_data(ctx, arena, path, &text, &length));
  const int mark = mbg__message_mark(ctx);
  err = mbg__json_parse(ctx, arena, path, text, length, &root);
  if (err < 0) {
    return err == MBG_ERROR_INPUT ? no_json(ctx, arena, mark) : err;
  }
  MBG_TRY(take_plan(ctx, arena, path, root, p));
  plan_sum(p, sum);
  /* plans of older programs have no sum */
  if (mbg__json_member(root, "sum") && (!text_of(root, "sum") || strcmp(text_of(root, "sum"), sum) != 0)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s: the plan was changed after it was written; " REMEDY_CHANGED, path);
  }
done:
  return err;
}

/* A folder that is asked for its plan has one. */
static int need_plan(mbg_context *ctx, const char *folder, const char *path) {
  struct stat info;
  if (stat(folder, &info) != 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "there is no folder '%s'", folder);
  }
  if (!S_ISDIR(info.st_mode)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "'%s' is a file; name the folder in which results were recorded", folder);
  }
  return access(path, F_OK) == 0 ? MBG_OK
                                 : mbg__fail(ctx, MBG_ERROR_INPUT,
                                             "'%s' is no folder of records: it has no " MBG__RECORDS_PLAN
                                             " (if it was lost, resume: the plan is written again)",
                                             folder);
}

/* ---------------------------------------------------------------------- agreement */

static bool same_names(int n, const char *const *a, int m, const char *const *b) {
  for (int i = 0; n == m && i < n; i++) {
    if (strcmp(a[i], b[i]) != 0) {
      return false;
    }
  }
  return n == m;
}

/* how two plans differ, or NULL */
static const char *difference(const mbg_records_plan *a, const mbg_records_plan *b) {
  return strcmp(a->kind, b->kind) != 0                                           ? "the command differs"
         : strcmp(a->model, b->model) != 0                                       ? "the name of the model differs"
         : a->point_count != b->point_count                                      ? "the number of points differs"
         : !same_names(a->input_count, a->inputs, b->input_count, b->inputs)     ? "the inputs differ"
         : !same_names(a->output_count, a->outputs, b->output_count, b->outputs) ? "the outputs differ"
         : strcmp(a->identity, b->identity) != 0
             ? "the model, its data, points or options, or the version of the program differs"
             : NULL;
}

int mbg__records_plan_agree(mbg_context *ctx, mbg_records *r) {
  int err = MBG_OK;
  mbg__json_writer w;
  const char *text;
  size_t length;
  const size_t size = strlen(r->folder) + sizeof("/" MBG__RECORDS_PLAN);
  char *path = mbg__arena_take(&r->arena, size, 1);
  mbg__json_writer_init(&w, ctx, true);
  MBG_TRY(mbg__arena_check(ctx, &r->arena));
  mbg__format(path, size, "%s/" MBG__RECORDS_PLAN, r->folder);
  if (!r->plan.kind) {
    MBG_TRY(need_plan(ctx, r->folder, path));
    err = read_plan(ctx, &r->arena, path, &r->plan);
    goto done;
  }
  if (access(path, F_OK) == 0) {
    mbg_records_plan there;
    MBG_TRY(read_plan(ctx, &r->arena, path, &there));
    const char *differs = difference(&r->plan, &there);
    if (differs) {
      err = mbg__fail(ctx, MBG_ERROR_INPUT, "'%s' has other records (%s, model '%s'): %s; name another folder",
                      r->folder, there.kind, there.model, differs);
    }
    goto done;
  }
  MBG_TRY(plan_text(&w, &r->plan, &text, &length));
  MBG_TRY(mbg__file_write(ctx, path, text, length));
done:
  mbg__json_writer_destroy(&w);
  return err;
}
