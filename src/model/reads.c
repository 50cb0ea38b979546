/* Which files a model reads: its own, those of its parts, and those that a text in one of them names. */
#define _POSIX_C_SOURCE 200809L

#include "io/file.h"
#include "io/json.h"
#include "mbgrad/model.h"
#include "model/model.h"

#include <sys/stat.h>

/* a name that leads to the same file leads to it through links as well */
static bool same_file(const char *path, const struct stat *file) {
  struct stat own;
  return path && stat(path, &own) == 0 && own.st_dev == file->st_dev && own.st_ino == file->st_ino;
}

static bool named_in(mbg__arena *arena, const mbg__json *json, const char *base, const struct stat *file) {
  bool found = json->kind == MBG__JSON_STRING && same_file(mbg__path_beside(arena, base, json->text), file);
  for (const mbg__json *c = json->child; c && !found; c = c->next) {
    found = named_in(arena, c, base, file);
  }
  return found;
}

int mbg_model_reads(mbg_context *ctx, const mbg_model *model, const char *path, bool *own, bool *named) {
  MBG_NEED(ctx, ctx && model && path && own && named);
  int err = MBG_OK;
  struct stat file;
  mbg__arena arena;
  *own = *named = false;
  if (stat(path, &file) < 0) {
    return MBG_OK;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  for (const mbg__model_source *s = model->sources; s && !*named; s = s->next) {
    mbg__json *root;
    const bool same = same_file(s->path, &file);
    *own = *own || (s == model->sources && same);
    MBG_TRY(mbg__json_parse(ctx, &arena, s->path ? s->path : "", s->text, s->length, &root));
    *named = (s != model->sources && same) || named_in(&arena, root, s->path ? s->path : "", &file);
    MBG_TRY(mbg__arena_check(ctx, &arena));
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}

/* ---------------------------------------------------------------------- contents */

/* every file that a text names, into the sum, in the order of the texts */
static int sum_named(mbg_context *ctx, mbg__arena *arena, const mbg__json *json, const char *base, uint64_t *sum) {
  int err = MBG_OK;
  struct stat info;
  const char *path = json->kind == MBG__JSON_STRING ? mbg__path_beside(arena, base, json->text) : NULL;
  if (path && json->text[0] && stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
    char *text;
    size_t length;
    mbg__arena own;
    mbg__arena_init(&own, mbg__context_allocator(ctx));
    err = mbg__file_read_data(ctx, &own, path, &text, &length);
    *sum = err < 0 ? *sum : mbg__sum(*sum, text, length);
    mbg__arena_destroy(&own);
  }
  for (const mbg__json *c = json->child; c && err == MBG_OK; c = c->next) {
    err = sum_named(ctx, arena, c, base, sum);
  }
  return err;
}

int mbg__model_sum_files(mbg_context *ctx, const mbg_model *model, uint64_t *sum) {
  int err = MBG_OK;
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  for (const mbg__model_source *s = model->sources; s; s = s->next) {
    mbg__json *root;
    MBG_TRY(mbg__json_parse(ctx, &arena, s->path ? s->path : "", s->text, s->length, &root));
    MBG_TRY(sum_named(ctx, &arena, root, s->path ? s->path : "", sum));
    MBG_TRY(mbg__arena_check(ctx, &arena));
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
