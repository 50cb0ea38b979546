/* Final states as files, and runs that start from them:

     {"model": name, "time": t, "turns": [n, ...], "bodies": {name: {"frame": [R row-major, x], "twist": [U, W]}}} */
#include "io/file.h"
#include "io/json.h"
#include "io/json_write.h"
#include "run/run_internal.h"

#include <string.h>

typedef struct {
  double t;
  mbg__frame *H;
  real *v;
  int *turns;
} state;

static int take_state(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, state *s) {
  s->H = MBG_TAKE(arena, mbg__frame, m->nbody);
  s->v = MBG_TAKE(arena, real, m->nw);
  s->turns = MBG_TAKE(arena, int, m->nturn);
  return mbg__arena_check(ctx, arena);
}

/* ---------------------------------------------------------------------- writing */

static void put_body(mbg__json_writer *w, const char *name, const mbg__frame *H, const real *v) {
  double frame[12], twist[6];
  mbg__run_flatten(H, v, frame, twist);
  mbg__json_key(w, name);
  mbg__json_begin_object(w);
  mbg__json_key(w, "frame");
  mbg__json_numbers(w, frame, 12);
  mbg__json_key(w, "twist");
  mbg__json_numbers(w, twist, 6);
  mbg__json_end_object(w);
}

static void put_state(mbg__json_writer *w, const mbg_model *m, const state *s) {
  mbg__json_begin_object(w);
  mbg__json_key(w, "model");
  mbg__json_string(w, m->name ? m->name : "");
  mbg__json_key(w, "time");
  mbg__json_number(w, s->t);
  mbg__json_key(w, "turns");
  mbg__json_begin_array(w);
  for (int i = 0; i < m->nturn; i++) {
    mbg__json_integer(w, s->turns[i]);
  }
  mbg__json_end_array(w);
  mbg__json_key(w, "bodies");
  mbg__json_begin_object(w);
  for (int b = 0; b < m->nbody; b++) {
    put_body(w, m->bodies[b].name, &s->H[b], s->v + m->bodies[b].voff);
  }
  mbg__json_end_object(w);
  mbg__json_end_object(w);
}

int mbg_run_write_state(mbg_context *ctx, const mbg_run *run, const char *path) {
  MBG_NEED(ctx, ctx && run && path);
  const mbg_model *m = run->m;
  mbg__arena arena;
  mbg__json_writer w;
  state s = {0};
  const char *text;
  size_t length;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  mbg__json_writer_init(&w, ctx, true);
  MBG_TRY(take_state(ctx, &arena, m, &s));
  err = mbg__run_last(run, &s.t, s.H, s.v, s.turns);
  if (err < 0) {
    err = mbg__fail(ctx, err, "there is no final state: simulate first");
    goto done;
  }
  put_state(&w, m, &s);
  MBG_TRY(mbg__json_writer_finish(&w, &text, &length));
  MBG_TRY(mbg__file_write(ctx, path, text, length));
done:
  mbg__json_writer_destroy(&w);
  mbg__arena_destroy(&arena);
  return err;
}

/* ---------------------------------------------------------------------- reading */

static int bad(mbg_context *ctx, const char *path, const mbg__json *at, const char *what) {
  return mbg__fail(ctx, MBG_ERROR_INPUT, "%s:%d:%d: %s", path, at ? at->line : 1, at ? at->column : 1, what);
}

/* `count` numbers under a key */
static int numbers(mbg_context *ctx, const char *path, const mbg__json *object, const char *key, int count,
                   double *out) {
  const mbg__json *list = mbg__json_member(object, key);
  char what[96];
  mbg__format(what, sizeof(what), "\"%s\" must be a list of %d numbers", key, count);
  if (!list || list->kind != MBG__JSON_ARRAY || list->count != count) {
    return bad(ctx, path, list ? list : object, what);
  }
  for (const mbg__json *item = list->child; item; item = item->next) {
    if (item->kind != MBG__JSON_NUMBER) {
      return bad(ctx, path, item, what);
    }
    *out++ = item->number;
  }
  return MBG_OK;
}

static int read_body(mbg_context *ctx, const char *path, const mbg__json *bodies, const mbg_model *m, int b, state *s) {
  const mbg__json *json = mbg__json_member(bodies, m->bodies[b].name);
  double frame[12], twist[6];
  int err = MBG_OK;
  if (!json || json->kind != MBG__JSON_OBJECT) {
    char what[160];
    mbg__format(what, sizeof(what), "there is no body '%s' in \"bodies\"", m->bodies[b].name);
    return bad(ctx, path, bodies, what);
  }
  MBG_TRY(numbers(ctx, path, json, "frame", 12, frame));
  MBG_TRY(numbers(ctx, path, json, "twist", 6, twist));
  for (int i = 0; i < 9; i++) {
    s->H[b].R[i] = frame[i];
  }
  for (int i = 0; i < 3; i++) {
    s->H[b].x[i] = frame[9 + i];
  }
  for (int i = 0; i < 6; i++) {
    s->v[m->bodies[b].voff + i] = m->bodies[b].mask >> i & 1 ? twist[i] : 0;
  }
  const double det = re(m3_det(s->H[b].R));
  if (!(fabs(det - 1) < 1e-6)) {
    return bad(ctx, path, json, "\"frame\" begins with nine numbers that are no rotation");
  }
done:
  return err;
}

static int read_state(mbg_context *ctx, mbg__arena *arena, const char *path, const mbg_model *m, state *s) {
  char *text;
  size_t length;
  mbg__json *root;
  int err = MBG_OK;
  MBG_TRY(mbg__file_read_data(ctx, arena, path, &text, &length));
  MBG_TRY(mbg__json_parse(ctx, arena, path, text, length, &root));
  const mbg__json *time = mbg__json_member(root, "time"), *bodies = mbg__json_member(root, "bodies");
  if (!time || time->kind != MBG__JSON_NUMBER || !bodies || bodies->kind != MBG__JSON_OBJECT) {
    err = bad(ctx, path, root, "a state has \"time\", \"turns\" and \"bodies\"");
    goto done;
  }
  double *turns = MBG_TAKE(arena, double, m->nturn);
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(numbers(ctx, path, root, "turns", m->nturn, turns));
  for (int i = 0; i < m->nturn; i++) {
    if (!(fabs(turns[i]) < 1e9)) {
      err = bad(ctx, path, mbg__json_member(root, "turns"), "\"turns\" are whole numbers");
      goto done;
    }
    s->turns[i] = (int)turns[i];
  }
  s->t = time->number;
  for (int b = 0; b < m->nbody; b++) {
    MBG_TRY(read_body(ctx, path, bodies, m, b, s));
  }
done:
  return err;
}

int mbg_run_read_state(mbg_context *ctx, mbg_run *run, const char *path) {
  MBG_NEED(ctx, ctx && run && path);
  const mbg_model *m = run->m;
  mbg__arena arena;
  state s = {0};
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  MBG_TRY(take_state(ctx, &arena, m, &s));
  MBG_TRY(read_state(ctx, &arena, path, m, &s));
  mbg__run_give(run, s.t, s.H, s.v, s.turns);
done:
  mbg__arena_destroy(&arena);
  return err;
}
