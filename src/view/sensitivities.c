#include "view/sensitivities.h"

#include "mbgrad/model.h"
#include "run/run.h"
#include "view/motion.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- choice of parameters */

static double effect(const mbg_model *m, const double *p, const double *gradient, int k, int i) {
  return (p[i] != 0 ? fabs(p[i]) : 1) * fabs(gradient[(size_t)k * (size_t)m->np + (size_t)i]);
}

/* relative to the largest effect on the criterion, the largest over all criteria */
static double weight(const mbg_model *m, const double *p, const double *gradient, int i) {
  double out = 0;
  for (int k = 0; k < m->ncriterion; k++) {
    double most = 0;
    for (int j = 0; j < m->np; j++) {
      most = fmax(most, effect(m, p, gradient, k, j));
    }
    out = most > 0 ? fmax(out, effect(m, p, gradient, k, i) / most) : out;
  }
  return out;
}

int mbg__effects_choose(const mbg_model *m, const double *p, const double *gradient, int most, int *chosen) {
  int n = 0;
  for (; n < most && n < m->np; n++) {
    int best = -1;
    double largest = -1;
    for (int i = 0; i < m->np; i++) {
      bool taken = false;
      for (int j = 0; j < n; j++) {
        taken = taken || chosen[j] == i;
      }
      const double x = taken ? -1 : weight(m, p, gradient, i);
      if (x > largest) {
        largest = x;
        best = i;
      }
    }
    if (best < 0 || (m->ncriterion > 0 && largest <= 0)) {
      break;
    }
    chosen[n] = best;
  }
  return n;
}

/* ---------------------------------------------------------------------- derivatives of the motion */

typedef struct {
  const mbg_model *m;
  int n, next; /* frames, and the one that comes next */
  int *node;
  double *t; /* (n) */
  int count;
  const int *parameters;
  size_t rows;
  float *dx; /* (count x rows x n) */
} ghosts;

static int keep(void *user, int node, const double *dx) {
  ghosts *o = user;
  if (o->next == o->n || o->node[o->next] != node) {
    return MBG_OK;
  }
  for (int c = 0; c < o->count; c++) {
    float *out = o->dx + (size_t)c * o->rows * (size_t)o->n + (size_t)o->next;
    for (size_t i = 0; i < o->rows; i++) {
      out[i * (size_t)o->n] = (float)dx[i * (size_t)o->m->np + (size_t)o->parameters[c]];
    }
  }
  o->next++;
  return MBG_OK;
}

/* displacement, rotation or modal coordinate */
static int kind_of(const ghosts *o, size_t row) {
  return row >= 6 * (size_t)mbg__frames(o->m) ? 2 : row % 6 < 3 ? 0 : 1;
}

/* "every": the steps of all channels */
static void put_rows(const ghosts *o, const float *dx, const double scale[3], mbg__json_writer *w, mbg__buffer *bytes,
                     double *y, mbg__channel_room *room) {
  mbg__json_key(w, "every");
  mbg__json_begin_array(w);
  for (size_t i = 0; i < o->rows; i++) {
    for (int k = 0; k < o->n; k++) {
      y[k] = (double)dx[i * (size_t)o->n + (size_t)k];
    }
    mbg__json_integer(w, mbg__motion_sparse(bytes, o->n, o->t, y, 0, scale[kind_of(o, i)], room));
  }
  mbg__json_end_array(w);
}

static void put_ghost(const ghosts *o, int c, mbg__json_writer *w, mbg__buffer *bytes, double *y,
                      mbg__channel_room *room) {
  static const char *const keys[3] = {"position", "rotation", "modal"};
  const float *dx = o->dx + (size_t)c * o->rows * (size_t)o->n;
  double scale[3] = {0, 0, 0};
  for (size_t i = 0; i < o->rows * (size_t)o->n; i++) {
    const int kind = kind_of(o, i / (size_t)o->n);
    scale[kind] = fmax(scale[kind], fabs((double)dx[i]));
  }
  mbg__json_begin_object(w);
  mbg__json_key(w, "parameter");
  mbg__json_integer(w, o->parameters[c]);
  for (int k = 0; k < 3; k++) {
    scale[k] = scale[k] > 0 ? scale[k] / (1 << 17) : 1;
    mbg__json_key(w, keys[k]);
    mbg__json_number(w, scale[k]);
  }
  put_rows(o, dx, scale, w, bytes, y, room);
  mbg__json_end_object(w);
}

int mbg__ghosts_write(mbg_context *ctx, mbg_run *run, int frames, int count, const int *parameters, mbg__json_writer *w,
                      mbg__buffer *bytes) {
  ghosts o = {.m = mbg__run_model(run), .count = count, .parameters = parameters};
  const size_t nodes = (size_t)mbg_run_node_count(run);
  mbg__arena arena;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  o.rows = 6 * (size_t)mbg__frames(o.m) + (size_t)mbg_model_modal_count(o.m);
  o.node = MBG_TAKE(&arena, int, nodes);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  o.n = mbg__motion_nodes(run, frames, o.node);
  o.dx = MBG_TAKE(&arena, float, (size_t)count *o.rows *(size_t)o.n + 1);
  double *y = MBG_TAKE(&arena, double, o.n);
  o.t = MBG_TAKE(&arena, double, o.n);
  mbg__channel_room room = mbg__motion_room(&arena, o.n);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  for (int i = 0; i < o.n; i++) {
    o.t[i] = mbg_run_node_time(run, o.node[i]);
  }
  if (count > 0) {
    MBG_TRY(mbg_run_pose_history(ctx, run, keep, &o));
  }
  mbg__json_key(w, "ghosts");
  mbg__json_begin_array(w);
  for (int c = 0; c < count; c++) {
    put_ghost(&o, c, w, bytes, y, &room);
  }
  mbg__json_end_array(w);
done:
  mbg__arena_destroy(&arena);
  return err;
}

/* ---------------------------------------------------------------------- numbers of the model */

typedef struct {
  int index;
  double effect;
} ranked;

static int by_effect(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  return x->effect != y->effect ? (x->effect < y->effect ? 1 : -1) : (x->index > y->index) - (x->index < y->index);
}

static void put_number(mbg__json_writer *w, const mbg_run *run, int i, double value, double effect) {
  mbg__json_begin_array(w);
  mbg__json_string(w, mbg_run_attribute_owner(run, i));
  mbg__json_string(w, mbg_run_attribute_key(run, i));
  mbg__json_string(w, mbg_run_attribute_unit(run, i));
  mbg__json_number(w, value);
  mbg__json_number(w, effect);
  mbg__json_end_array(w);
}

/* the largest effect of each element: the first time that it is seen in the ranking */
static void put_owners(mbg__json_writer *w, const mbg_run *run, int n, const ranked *list, bool *seen) {
  mbg__json_key(w, "elements");
  mbg__json_begin_array(w);
  for (int i = 0; i < n; i++) {
    seen[i] = false;
  }
  for (int i = 0; i < n && list[i].effect > 0; i++) {
    if (seen[i]) {
      continue;
    }
    const char *owner = mbg_run_attribute_owner(run, list[i].index);
    for (int j = i; j < n; j++) {
      seen[j] = seen[j] || !strcmp(owner, mbg_run_attribute_owner(run, list[j].index));
    }
    mbg__json_string(w, owner);
    mbg__json_number(w, list[i].effect);
  }
  mbg__json_end_array(w);
}

int mbg__effects_write(mbg_context *ctx, mbg_run *run, int most, mbg__json_writer *w) {
  const mbg_model *m = mbg__run_model(run);
  const int n = mbg_run_attribute_count(run);
  mbg__arena arena;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  double *g = MBG_TAKE(&arena, double, n + 1), *value = MBG_TAKE(&arena, double, n + 1),
         *scale = MBG_TAKE(&arena, double, n + 1);
  ranked *list = MBG_TAKE(&arena, ranked, n + 1);
  bool *seen = MBG_TAKE(&arena, bool, n + 1);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  MBG_TRY(mbg_run_attributes(run, value, scale));
  mbg__json_key(w, "effects");
  mbg__json_begin_array(w);
  for (int k = 0; k < m->ncriterion; k++) {
    MBG_TRY(mbg_run_gradient_all(ctx, run, k, g));
    for (int i = 0; i < n; i++) {
      list[i] = (ranked){i, scale[i] * fabs(g[i])};
    }
    qsort(list, (size_t)n, sizeof(*list), by_effect);
    mbg__json_begin_object(w);
    mbg__json_key(w, "numbers");
    mbg__json_begin_array(w);
    for (int i = 0; i < n && i < most && list[i].effect > 0; i++) {
      const int a = list[i].index;
      put_number(w, run, a, value[a], scale[a] * g[a]);
    }
    mbg__json_end_array(w);
    put_owners(w, run, n, list, seen);
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
done:
  mbg__arena_destroy(&arena);
  return err;
}
