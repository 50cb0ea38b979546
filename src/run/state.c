/* Final states as files, and runs that start from them:

     {"version": 2, "model": name, "time": t, "turns": [n, ...],
      "bodies": {name: {"frame": [R row-major, x], "twist": [U, W]}},
      "modes": {name: value}, "impulses": {event: P},
      "stepper": {"problem": text, "numbers": [...]}}

   "stepper", of formulations that have it, is what a step needs besides the state: accelerations, multipliers. A run of
   the same problem goes on with it as if it had not ended; any other one, and one from a file without version, computes
   it anew. */
#include "event/event.h"
#include "io/file.h"
#include "io/json.h"
#include "io/json_write.h"
#include "run/run_internal.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
  mbg__run_state at;
  int nmemory; /* 0: none */
  real *memory;
  char problem[80]; /* that the memory belongs to */
} state;

/* formulation with its damping, model, parameters */
static void name_problem(const mbg_run *run, char *buffer, size_t size) {
  const double numbers[] = {run->plan.rho_inf, run->plan.alpha_f, run->plan.kappa, run->plan.index};
  uint64_t h = mbg__model_sum(MBG__SUM_START, run->m);
  for (int i = 0; i < run->m->np; i++) {
    const double p = re(run->p[i]);
    h = mbg__sum(h, &p, sizeof(p));
  }
  h = mbg__sum(h, numbers, sizeof(numbers));
  if (run->plan.varsigma > 0 || run->plan.oblique) { /* the iteration leads to the same step, projections do not */
    const double projections[] = {run->plan.alpha, run->plan.varsigma, run->plan.oblique};
    h = mbg__sum(h, projections, sizeof(projections));
  }
  mbg__format(buffer, size, "%s %016" PRIx64, run->formulation->key, h);
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

static void put_memory(mbg__json_writer *w, const state *s) {
  mbg__json_key(w, "stepper");
  mbg__json_begin_object(w);
  mbg__json_key(w, "problem");
  mbg__json_string(w, s->problem);
  mbg__json_key(w, "numbers");
  mbg__json_begin_array(w);
  for (int i = 0; i < s->nmemory; i++) {
    mbg__json_number(w, re(s->memory[i]));
  }
  mbg__json_end_array(w);
  mbg__json_end_object(w);
}

/* what events leave behind, where the model has any */
static void put_marks(mbg__json_writer *w, const mbg_model *m, const double *marks) {
  if (m->nmode > 0) {
    mbg__json_key(w, "modes");
    mbg__json_begin_object(w);
    for (int k = 0; k < m->nmode; k++) {
      mbg__json_key(w, m->modes[k].name);
      mbg__json_number(w, marks[k]);
    }
    mbg__json_end_object(w);
  }
  if (m->nevent > 0) {
    mbg__json_key(w, "impulses");
    mbg__json_begin_object(w);
    for (int i = 0; i < m->nevent; i++) {
      if (m->events[i].impulse >= 0) {
        mbg__json_key(w, m->events[i].name);
        mbg__json_number(w, marks[m->nmode + i]);
      }
    }
    mbg__json_end_object(w);
  }
}

static void put_state(mbg__json_writer *w, const mbg_model *m, const state *s) {
  mbg__json_begin_object(w);
  mbg__json_key(w, "version");
  mbg__json_integer(w, 2);
  mbg__json_key(w, "model");
  mbg__json_string(w, m->name ? m->name : "");
  mbg__json_key(w, "time");
  mbg__json_number(w, s->at.t);
  mbg__json_key(w, "turns");
  mbg__json_begin_array(w);
  for (int i = 0; i < m->nturn; i++) {
    mbg__json_integer(w, s->at.turns[i]);
  }
  mbg__json_end_array(w);
  mbg__json_key(w, "bodies");
  mbg__json_begin_object(w);
  for (int b = 0; b < m->nbody; b++) {
    put_body(w, m->bodies[b].name, &s->at.H[b], s->at.v + m->bodies[b].voff);
  }
  mbg__json_end_object(w);
  put_marks(w, m, s->at.marks);
  if (s->nmemory > 0) {
    put_memory(w, s);
  }
  mbg__json_end_object(w);
}

/* the last node of the run */
static int take_last(mbg_context *ctx, mbg__arena *arena, const mbg_run *run, state *s) {
  int (*memory)(const mbg__formulation_work *, real *) = run->formulation->ops->memory;
  const int err = mbg__run_last(run, &s->at);
  if (err < 0) {
    return mbg__fail(ctx, err, "there is no final state: simulate first");
  }
  s->nmemory = memory ? memory(run->work, NULL) : 0;
  s->memory = MBG_TAKE(arena, real, s->nmemory);
  if (s->nmemory > 0 && s->memory) {
    (void)memory(run->work, s->memory);
    name_problem(run, s->problem, sizeof(s->problem));
  }
  return mbg__arena_check(ctx, arena);
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
  MBG_TRY(mbg__run_state_take(ctx, &arena, m, &s.at));
  MBG_TRY(take_last(ctx, &arena, run, &s));
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

/* R R^T = 1, and no mirror */
static bool is_rotation(const real R[9]) {
  bool right = fabs(re(m3_det(R)) - 1) < 1e-6;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j <= i; j++) {
      right = right && fabs(re(v3_dot(R + 3 * i, R + 3 * j)) - (i == j)) < 1e-6;
    }
  }
  return right;
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
    s->at.H[b].R[i] = frame[i];
  }
  for (int i = 0; i < 3; i++) {
    s->at.H[b].x[i] = frame[9 + i];
  }
  for (int i = 0; i < 6; i++) {
    s->at.v[m->bodies[b].voff + i] = m->bodies[b].mask >> i & 1 ? twist[i] : 0;
  }
  if (!is_rotation(s->at.H[b].R)) {
    return bad(ctx, path, json, "\"frame\" begins with nine numbers that are no rotation");
  }
done:
  return err;
}

static int read_memory(mbg_context *ctx, mbg__arena *arena, const char *path, const mbg__json *root, state *s) {
  const mbg__json *stepper = mbg__json_member(root, "stepper"), *problem = mbg__json_member(stepper, "problem");
  const mbg__json *list = mbg__json_member(stepper, "numbers");
  int err = MBG_OK;
  if (!mbg__json_member(root, "version")) {
    mbg__note(ctx, MBG_NOTE, "%s: of an older version, without accelerations: they are computed anew", path);
  }
  if (!problem || problem->kind != MBG__JSON_STRING || !list || list->kind != MBG__JSON_ARRAY) {
    return MBG_OK;
  }
  double *out = MBG_TAKE(arena, double, list->count);
  s->memory = MBG_TAKE(arena, real, list->count);
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(numbers(ctx, path, stepper, "numbers", list->count, out));
  mbg__format(s->problem, sizeof(s->problem), "%s", problem->text);
  s->nmemory = list->count;
  for (int i = 0; i < s->nmemory; i++) {
    s->memory[i] = out[i];
  }
done:
  return err;
}

/* a number under a name */
static int read_mark(mbg_context *ctx, const char *path, const mbg__json *object, const char *name, const char *what,
                     double *mark) {
  const mbg__json *json = mbg__json_member(object, name);
  if (!json || json->kind != MBG__JSON_NUMBER) {
    char words[160];
    mbg__format(words, sizeof(words), "there is no number for %s '%s'", what, name);
    return bad(ctx, path, json ? json : object, words);
  }
  *mark = json->number;
  return MBG_OK;
}

/* Modes are needed: a motion depends on them. Impulses are seen by signals alone, and are 0 where the file has none. */
static int read_marks(mbg_context *ctx, const char *path, const mbg__json *root, const mbg_model *m, double *marks) {
  const mbg__json *modes = mbg__json_member(root, "modes"), *impulses = mbg__json_member(root, "impulses");
  int err = MBG_OK;
  mbg__events_marks_first(m, marks);
  if (m->nmode > 0 && !modes) {
    return bad(ctx, path, root, "there are no \"modes\", which the model has");
  }
  for (int k = 0; k < m->nmode; k++) {
    MBG_TRY(read_mark(ctx, path, modes, m->modes[k].name, "mode", &marks[k]));
    if (marks[k] != floor(marks[k]) || fabs(marks[k]) > 1e9) {
      MBG_TRY(bad(ctx, path, mbg__json_member(modes, m->modes[k].name), "modes are integers"));
    }
  }
  for (int i = 0; i < m->nevent; i++) {
    if (m->events[i].impulse >= 0 && impulses) {
      MBG_TRY(read_mark(ctx, path, impulses, m->events[i].name, "the impulse of event", &marks[m->nmode + i]));
    }
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
    s->at.turns[i] = (int)turns[i];
  }
  s->at.t = time->number;
  MBG_TRY(read_marks(ctx, path, root, m, s->at.marks));
  MBG_TRY(read_memory(ctx, arena, path, root, s));
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
  MBG_TRY(mbg__run_state_take(ctx, &arena, m, &s.at));
  MBG_TRY(read_state(ctx, &arena, path, m, &s));
  mbg__run_give(run, &s.at);
  char own[sizeof(s.problem)];
  name_problem(run, own, sizeof(own));
  if (s.nmemory > 0 && !strcmp(own, s.problem)) {
    MBG_TRY(mbg__start_give_memory(ctx, run->start, s.nmemory, s.memory));
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
