/* Restart files of control problems.

   A search appends to a record: a head that describes the problem, "s" for each stage, "e" for each evaluation
   (samples; objective, effort, criteria, gradient), "r" for the gradient at the start. A search of the same problem
   replays it and ends where it would have ended. One with other options begins with the best control of the record;
   its own record says so: "w", these samples, stage and gradient at the start. */
#define _POSIX_C_SOURCE 200809L

#include "io/file.h"
#include "io/json.h"
#include "io/json_write.h"
#include "problems/control.h"
#include "problems/model_text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const char kind_of_file[] = "mbgrad control 2: ";

/* ---------------------------------------------------------------------- one control as JSON */

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

/* samples of one control from a file, interpolated when the times differ */
static int take_samples(mbg_context *ctx, mbg_control *c, mbg__arena *arena, const mbg__where *where,
                        const mbg__found_control *s, int n, const double *t, const double *v) {
  mbg__table *table;
  const int err =
      mbg__table_create(ctx, arena, where, s->name, n, t, v, s->spline->interpolation, MBG__OUTSIDE_HOLD, &table);
  for (int k = 0; err == MBG_OK && k < s->n; k++) {
    real y;
    (void)mbg__table_at(table, s->spline->x[k], 0, &y);
    const bool same = n == s->n && t[k] == s->spline->x[k];
    c->x[s->first + k] = same ? v[k] : re(y);
  }
  return err;
}

static int no_samples(mbg_context *ctx, const mbg__found_control *s, const char *path) {
  return mbg__fail(ctx, MBG_ERROR_INPUT, "%s: no samples of control '%s', as a restart file of this problem has them",
                   path, s->name);
}

/* the search goes on with these samples, in this stage */
static void begin_with(mbg_control *c, double stage, double reference) {
  c->reference = fmax(reference, 0);
  c->summary.stage = (int)fmin(fmax(stage, 0), c->summary.stages - 1);
  memcpy(c->best + c->m->np, c->x, (size_t)c->n * sizeof(double));
}

static int read_json(mbg_context *ctx, mbg_control *c, mbg__arena *arena, const char *path, const char *text,
                     size_t length) {
  int err = MBG_OK;
  mbg__json *root;
  MBG_TRY(mbg__json_parse(ctx, arena, path, text, length, &root));
  const mbg__json *mark = mbg__json_member(root, "mbgrad_control"), *stage = mbg__json_member(root, "stage");
  if (!mark || mark->kind != MBG__JSON_NUMBER || mark->number != 1 || !stage || stage->kind != MBG__JSON_NUMBER) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s: not a restart file of a control problem", path);
  }
  for (int i = 0; i < c->count; i++) {
    const mbg__json *entry = mbg__json_member(mbg__json_member(root, "controls"), c->found[i].name);
    const mbg__where where = {.file = path, .line = entry ? entry->line : 1, .column = entry ? entry->column : 1};
    int nt = 0, nv = 0;
    const double *t = numbers(arena, mbg__json_member(entry, "times"), &nt);
    const double *v = numbers(arena, mbg__json_member(entry, "values"), &nv);
    if (!t || !v || nt != nv) {
      return no_samples(ctx, &c->found[i], path);
    }
    MBG_TRY(take_samples(ctx, c, arena, &where, &c->found[i], nt, t, v));
  }
  const mbg__json *reference = mbg__json_member(root, "gradient_start");
  begin_with(c, stage->number, reference && reference->kind == MBG__JSON_NUMBER ? reference->number : 0);
done:
  return err;
}

/* ---------------------------------------------------------------------- the best control of a record */

/* What a record ends with: the best samples of its last stage. */
typedef struct {
  int n;           /* samples of all controls */
  double *numbers; /* of a line: samples, then the objective, or stage and gradient      (n + 2) */
  double *x;       /*                                                                    (n) */
  double value;    /* INFINITY: no control could be simulated */
  double stage, reference;
} reached;

static int last_stage(mbg_context *ctx, const char *path, const char *head, reached *b) {
  int err = MBG_OK, count;
  mbg__record *record = NULL;
  b->value = INFINITY;
  MBG_TRY(mbg__record_open(ctx, path, head, true, &record));
  while (mbg__record_left(record)) {
    char kind;
    MBG_TRY(mbg__record_any(ctx, record, &kind, b->n + 2, b->numbers, &count));
    if (kind == 'w' && count == b->n + 2) {
      b->stage = b->numbers[b->n];
      b->reference = b->numbers[b->n + 1];
      b->value = DBL_MAX;
      memcpy(b->x, b->numbers, (size_t)b->n * sizeof(double));
    } else if (kind == 's' && count > 0) {
      b->stage = b->numbers[0];
      b->value = fmax(b->value, DBL_MAX); /* what an earlier stage found is as good as nothing */
    } else if (kind == 'r' && count > 0) {
      b->reference = b->numbers[0];
    } else if (kind == 'e' && count > b->n && b->numbers[b->n] < b->value) {
      b->value = b->numbers[b->n];
      memcpy(b->x, b->numbers, (size_t)b->n * sizeof(double));
    }
  }
done:
  mbg__record_close(record);
  return err;
}

static int read_record(mbg_context *ctx, mbg_control *c, mbg__arena *arena, const char *path, char *text,
                       size_t length) {
  const size_t line = strcspn(text, "\n"), begin = sizeof(kind_of_file) - 1;
  const mbg__where where = {.file = path, .line = 1, .column = 1};
  int err = MBG_OK;
  mbg__json *root;
  reached b = {0};
  if (line <= begin || line == length) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s: not a restart file of a control problem", path);
  }
  text[line] = 0;
  MBG_TRY(mbg__json_parse(ctx, arena, path, text + begin, line - begin, &root));
  const mbg__json *controls = mbg__json_member(root, "controls");
  if (!controls || controls->kind != MBG__JSON_OBJECT) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "%s:1: the first line has no \"controls\": not a restart file of a control "
                     "problem, or a damaged one; remove it or name another file",
                     path);
  }
  for (const mbg__json *e = controls->child; e; e = e->next) {
    b.n += e->count;
  }
  b.numbers = MBG_TAKE(arena, double, b.n + 2);
  b.x = MBG_TAKE(arena, double, b.n);
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(last_stage(ctx, path, text, &b));
  for (int i = 0; i < c->count && b.value < INFINITY; i++) {
    const mbg__json *e = controls->child;
    int first = 0, n = 0;
    for (; e && strcmp(e->key, c->found[i].name) != 0; e = e->next) {
      first += e->count;
    }
    const double *t = numbers(arena, e, &n);
    if (!t) {
      return no_samples(ctx, &c->found[i], path);
    }
    MBG_TRY(take_samples(ctx, c, arena, &where, &c->found[i], n, t, b.x + first));
  }
  if (b.value < INFINITY) {
    begin_with(c, b.stage, b.reference);
  }
done:
  return err;
}

static bool is_record(const char *text) { return strncmp(text, kind_of_file, sizeof(kind_of_file) - 1) == 0; }

int mbg_control_read_restart(mbg_context *ctx, mbg_control *c, const char *path) {
  MBG_NEED(ctx, ctx && c && path);
  int err = MBG_OK;
  mbg__arena arena;
  char *text;
  size_t length;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  MBG_TRY(mbg__file_read_data(ctx, &arena, path, &text, &length));
  MBG_TRY(is_record(text) ? read_record(ctx, c, &arena, path, text, length)
                          : read_json(ctx, c, &arena, path, text, length));
done:
  mbg__arena_destroy(&arena);
  return err;
}

/* ---------------------------------------------------------------------- the record of a search */

/* Everything that decides the way of the search. Limits that only end it are left out where there is one stage. */
static uint64_t sum_of_problem(const mbg_control *c) {
  const size_t n = (size_t)c->n * sizeof(double);
  const double step = mbg__run_step(c->run), span[] = {mbg_run_start(c->run), mbg_run_end(c->run)};
  const double stages[] = {c->reduction, c->tolerance, c->minimize.max_iterations};
  const char *formulation = mbg_run_formulation(c->run);
  uint64_t h = mbg__model_sum(MBG__SUM_START, c->m);
  h = mbg__sum(h, c->p, (size_t)c->m->np * sizeof(double));
  h = mbg__sum(h, c->x, n);
  h = mbg__sum(h, c->lower, n);
  h = mbg__sum(h, c->upper, n);
  h = mbg__sum(h, c->weights, (size_t)c->m->ncriterion * sizeof(double));
  h = mbg__sum(h, &step, sizeof(step));
  h = mbg__sum(h, span, sizeof(span));
  h = mbg__sum(h, formulation, strlen(formulation));
  for (int i = 0; i < c->count; i++) {
    const int cubic = c->found[i].spline->interpolation == MBG__CUBIC;
    h = mbg__sum(h, &c->found[i].effort, sizeof(double));
    h = mbg__sum(h, &cubic, sizeof(cubic));
  }
  return c->summary.stages > 1 ? mbg__sum(h, stages, sizeof(stages)) : h;
}

/* one line, to be freed: the kind of file, then the controls with their times, and the problem */
static int make_head(mbg_context *ctx, const mbg_control *c, char **out) {
  mbg__json_writer w;
  mbg__buffer b;
  char problem[96];
  const char *text;
  int err = MBG_OK;
  *out = NULL;
  mbg__buffer_init(&b, ctx);
  mbg__json_writer_init(&w, ctx, false);
  mbg__json_begin_object(&w);
  mbg__json_key(&w, "problem");
  mbg__format(problem, sizeof(problem), "%s, %d stages, %016" PRIx64, c->summary.optimizer, c->summary.stages,
              sum_of_problem(c));
  mbg__json_string(&w, problem);
  mbg__json_key(&w, "controls");
  mbg__json_begin_object(&w);
  for (int i = 0; i < c->count; i++) {
    mbg__json_key(&w, c->found[i].name);
    mbg__json_numbers(&w, c->found[i].spline->x, c->found[i].n);
  }
  mbg__json_end_object(&w);
  mbg__json_end_object(&w);
  MBG_TRY(mbg__json_writer_finish(&w, &text, NULL));
  mbg__buffer_text(&b, kind_of_file);
  mbg__buffer_text(&b, text);
  MBG_TRY(mbg__buffer_hand_over(&b, out));
done:
  mbg__buffer_destroy(&b);
  mbg__json_writer_destroy(&w);
  return err;
}

/* How the search takes up what is in the file. */
typedef enum { FRESH, SAME, OTHER, OLD } found_file;

static int look(mbg_context *ctx, const char *path, const char *head, found_file *found) {
  int err = MBG_OK;
  mbg__arena arena;
  char *text;
  struct stat info;
  *found = FRESH;
  if (stat(path, &info) < 0 || !S_ISREG(info.st_mode)) {
    return MBG_OK;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  MBG_TRY(mbg__file_read_data(ctx, &arena, path, &text, NULL));
  const size_t n = strlen(head);
  if (is_record(text) && strchr(text, '\n')) {
    *found = !strncmp(text, head, n) && text[n] == '\n' ? SAME : OTHER;
  } else if (text[0] == '{' && strstr(text, "\"mbgrad_control\"")) {
    *found = OLD;
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}

/* a search that began with the control of another one */
static int record_begin(mbg_context *ctx, mbg_control *c) {
  const double where[2] = {c->summary.stage, c->reference};
  return mbg__record_add(ctx, c->record, 'w', c->n, c->x, 2, where, MBG_OK);
}

static int replay_begin(mbg_context *ctx, mbg_control *c) {
  int err = MBG_OK, count;
  char kind;
  if (!mbg__record_left(c->record) || mbg__record_kind(c->record) != 'w') {
    return MBG_OK;
  }
  double *numbers_of_line = mbg__alloc(ctx, (size_t)c->n + 2, sizeof(double));
  if (!numbers_of_line) {
    return mbg__fail_memory(ctx);
  }
  MBG_TRY(mbg__record_any(ctx, c->record, &kind, c->n + 2, numbers_of_line, &count));
  if (count == c->n + 2) {
    memcpy(c->x, numbers_of_line, (size_t)c->n * sizeof(double));
    begin_with(c, numbers_of_line[c->n], numbers_of_line[c->n + 1]);
  }
done:
  mbg__free(ctx, numbers_of_line);
  return err;
}

int mbg__control_open_record(mbg_context *ctx, mbg_control *c) {
  int err = MBG_OK;
  char *head = NULL;
  found_file found = FRESH;
  if (!c->restart) {
    return MBG_OK;
  }
  MBG_TRY(make_head(ctx, c, &head));
  MBG_TRY(look(ctx, c->restart, head, &found));
  if (c->resume && (found == OTHER || found == OLD)) {
    MBG_TRY(mbg_control_read_restart(ctx, c, c->restart));
    mbg__note(ctx, MBG_NOTE, "'%s' is %s: the search begins with the best control in it", c->restart,
              found == OLD ? "of an older version" : "of a search with another model or other options");
  }
  if (found == OLD) {
    MBG_TRY(mbg__record_keep(ctx, c->restart));
  }
  MBG_TRY(mbg__record_open(ctx, c->restart, head, c->resume && (found == SAME || found == FRESH), &c->record));
  MBG_TRY(found == SAME ? replay_begin(ctx, c) : c->resume && found != FRESH ? record_begin(ctx, c) : MBG_OK);
done:
  mbg__free(ctx, head);
  return err;
}
