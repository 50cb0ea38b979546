#include "view/loads.h"

#include "elements/lists.h"
#include "run/run_internal.h"
#include "start/rank.h"
#include "view/motion.h"
#include "view/scene.h"

/* ---------------------------------------------------------------------- signals */

typedef enum { JOINT, LAW, WRENCH, ELEMENT } load_kind;

/* quantities with a scale of their own */
enum { FORCE, MOMENT, STRAIN, CURVATURE, QUANTITIES };

typedef struct {
  load_kind kind;
  int first, count; /* its signals */
  int open;         /* components that are not unique */
  bool angular;     /* LAW: its tension is a moment */
} load;

typedef struct {
  mbg__arena arena;
  mbg_model model; /* with signals of all loads behind its own */
  int nload;
  load *loads;
  mbg_run *run; /* of this model */
  int n;        /* frames */
  int *node;    /* of `run`                     (n) */
  int *column;  /* of each signal               (nsignal) */
  double scale[QUANTITIES];
  double *y; /* (n) */
  mbg__channel_room room;
} work;

enum { IN_WORLD = 2 };

/* options of a signal: component and axes */
static const int wrench_options[6][2] = {{0, IN_WORLD}, {1, IN_WORLD}, {2, IN_WORLD},
                                         {3, IN_WORLD}, {4, IN_WORLD}, {5, IN_WORLD}};
/* those that make the normal stress: E (eps_1 + z eps_5 - y eps_6) */
static const int strain_options[3][1] = {{0}, {4}, {5}};

static const mbg__signal_type *type_of(int role) {
  int n;
  const mbg__signal_type *const *types = mbg__signal_types(&n);
  for (int i = 0; i < n; i++) {
    if (types[i]->role == role) {
      return types[i];
    }
  }
  return NULL;
}

static mbg__signal signal_of(int role, int pair, const int *opt, const mbg__where *where) {
  const mbg__signal_type *type = type_of(role);
  assert(type);
  return (mbg__signal){.type = type,
                       .level = type->level,
                       .pair = pair,
                       .coord = -1,
                       .row = -1,
                       .force = -1,
                       .body = -1,
                       .control = -1,
                       .fn = -1,
                       .beam = -1,
                       .element = -1,
                       .opt = opt,
                       .where = *where};
}

static load *begin(work *o, load_kind kind, int count) {
  load *out = &o->loads[o->nload++];
  *out = (load){.kind = kind, .first = o->model.nsignal, .count = count};
  return out;
}

static void append(work *o, mbg__signal signal) { o->model.signals[o->model.nsignal++] = signal; }

/* with the rows of its drivers */
static void add_joint(work *o, int index) {
  const mbg__joint *j = &o->model.joints[index];
  int n = j->nrow;
  for (int d = 0; d < o->model.ndriver; d++) {
    n += o->model.drivers[d].joint == index;
  }
  int *rows = MBG_TAKE(&o->arena, int, n + 1);
  begin(o, JOINT, 6);
  n = 0;
  for (int i = 0; rows && i < j->nrow; i++) {
    rows[n++] = j->row + i;
  }
  for (int d = 0; rows && d < o->model.ndriver; d++) {
    if (o->model.drivers[d].joint == index) {
      rows[n++] = o->model.drivers[d].row;
    }
  }
  for (int k = 0; k < 6; k++) {
    mbg__signal signal = signal_of(MBG__ROLE_REACTION, j->pair, wrench_options[k], &j->where);
    signal.row = j->row;
    signal.nrow = j->nrow;
    signal.nrows = n;
    signal.rows = rows;
    append(o, signal);
  }
}

static void add_force(work *o, int index) {
  const mbg__force *f = &o->model.forces[index];
  load *out = begin(o, f->law ? LAW : WRENCH, f->law ? 1 : 6);
  out->angular = f->law && o->model.coords[f->coord].type->angular;
  for (int k = 0; k < out->count; k++) {
    mbg__signal signal = signal_of(MBG__ROLE_FORCE, f->pair, wrench_options[k], &f->where);
    signal.force = index;
    append(o, signal);
  }
}

static void add_element(work *o, int index) {
  const mbg__beam_element *e = &o->model.elements[index];
  begin(o, ELEMENT, 3);
  for (int k = 0; k < 3; k++) {
    mbg__signal signal = signal_of(MBG__ROLE_STRAIN, e->pair, strain_options[k], &o->model.beams[e->beam].where);
    signal.beam = e->beam;
    signal.element = index;
    append(o, signal);
  }
}

static int make_model(mbg_context *ctx, work *o, const mbg_model *given) {
  const size_t loads = (size_t)given->njoint + (size_t)given->nforce + (size_t)given->nelement;
  o->model = *given;
  o->model.signals = MBG_TAKE(&o->arena, mbg__signal, (size_t)given->nsignal + 6 * loads + 1);
  o->loads = MBG_TAKE(&o->arena, load, loads + 1);
  if (mbg__arena_check(ctx, &o->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < given->nsignal; i++) {
    o->model.signals[i] = given->signals[i];
  }
  for (int i = 0; i < given->njoint; i++) {
    add_joint(o, i);
  }
  for (int i = 0; i < given->nforce; i++) {
    if (mbg__scene_shows(given, i)) {
      add_force(o, i);
    }
  }
  for (int i = 0; i < given->nelement; i++) {
    add_element(o, i);
  }
  return mbg__arena_check(ctx, &o->arena);
}

/* ---------------------------------------------------------------------- values */

/* the nodes of the second run at the times of those that are shown */
static void find_nodes(work *o, const mbg_run *given, const int *shown) {
  const int all = mbg_run_node_count(o->run);
  for (int i = 0, k = 0; i < o->n; i++) {
    const double t = mbg_run_node_time(given, shown[i]);
    while (k + 1 < all && fabs(mbg_run_node_time(o->run, k + 1) - t) <= fabs(mbg_run_node_time(o->run, k) - t)) {
      k++;
    }
    o->node[i] = k;
  }
}

static int simulate(mbg_context *ctx, work *o, const mbg_run *given, int frames) {
  int err = MBG_OK;
  int *shown = MBG_TAKE(&o->arena, int, mbg_run_node_count(given));
  MBG_TRY(mbg__arena_check(ctx, &o->arena));
  o->n = mbg__motion_nodes(given, frames, shown);
  MBG_TRY(mbg__run_again(ctx, given, &o->model, &o->run));
  o->node = MBG_TAKE(&o->arena, int, o->n);
  o->column = MBG_TAKE(&o->arena, int, o->model.nsignal);
  o->y = MBG_TAKE(&o->arena, double, o->n);
  o->room = mbg__motion_room(&o->arena, o->n);
  MBG_TRY(mbg__arena_check(ctx, &o->arena));
  find_nodes(o, given, shown);
  for (int k = 0; k < o->run->nused; k++) {
    o->column[o->run->used[k]] = k;
  }
done:
  return err;
}

/* components of reactions that redundant rows leave open */
static int find_open(mbg_context *ctx, work *o) {
  const mbg__start_result *start = mbg__start_result_of(o->run->start);
  const mbg__state state = {.t = start->t, .H = start->H, .v = start->v, .turns = start->turns};
  int err = MBG_OK;
  if (start->rank->ndropped == 0) {
    return MBG_OK;
  }
  MBG_TRY(mbg__system_update(ctx, o->run->sys, &state));
  for (int i = 0; i < o->nload; i++) {
    load *l = &o->loads[i];
    for (int k = 0; l->kind == JOINT && k < l->count; k++) {
      l->open |= mbg__rank_reaction_unique(o->run->sys, start->rank, l->first + k) ? 0 : 1 << k;
    }
  }
done:
  return err;
}

static int quantity(const load *l, int component) {
  switch (l->kind) {
  case LAW:
    return l->angular ? MOMENT : FORCE;
  case ELEMENT:
    return component == 0 ? STRAIN : CURVATURE;
  default:
    return component < 3 ? FORCE : MOMENT;
  }
}

/* the values of a component; returns the largest, 0 of one that is open */
static double take(work *o, const load *l, int component) {
  double most = 0;
  for (int i = 0; i < o->n; i++) {
    const double y = mbg__run_column(o->run, o->node[i], o->column[l->first + component]);
    o->y[i] = l->open >> component & 1 || !isfinite(y) ? 0 : y;
    most = fmax(most, fabs(o->y[i]));
  }
  return most;
}

/* Forces far below the moments on the mechanism are rounding, and the other way round. */
static void find_scales(work *o) {
  for (int i = 0; i < o->nload; i++) {
    for (int k = 0; k < o->loads[i].count; k++) {
      double *scale = &o->scale[quantity(&o->loads[i], k)];
      *scale = fmax(*scale, take(o, &o->loads[i], k));
    }
  }
  const double force = o->scale[FORCE], moment = o->scale[MOMENT], size = o->model.size;
  o->scale[FORCE] = force > 1e-9 * moment / size ? force : 0x1p20 * force;
  o->scale[MOMENT] = moment > 1e-9 * force * size ? moment : 0x1p20 * moment;
  for (int k = 0; k < QUANTITIES; k++) {
    o->scale[k] = o->scale[k] > 0 ? o->scale[k] / (1 << 18) : 1;
  }
}

/* ---------------------------------------------------------------------- writing */

/* channels of a load; returns which components they are */
static int put_load(work *o, const load *l, mbg__buffer *bytes) {
  int mask = 0;
  for (int k = 0; k < l->count; k++) {
    const double scale = o->scale[quantity(l, k)];
    if (take(o, l, k) > 0.5 * scale) {
      mask |= 1 << k;
      mbg__motion_channel(bytes, o->n, o->y, 0, scale, &o->room);
    }
  }
  return mask;
}

static void put_loads(work *o, const char *key, load_kind from, load_kind to, mbg__json_writer *w, mbg__buffer *bytes) {
  mbg__json_key(w, key);
  mbg__json_begin_array(w);
  for (int i = 0; i < o->nload; i++) {
    if (o->loads[i].kind >= from && o->loads[i].kind <= to) {
      mbg__json_integer(w, put_load(o, &o->loads[i], bytes));
      if (from == JOINT) {
        mbg__json_integer(w, o->loads[i].open);
      }
    }
  }
  mbg__json_end_array(w);
}

static void put_weights(const mbg_run *run, mbg__json_writer *w) {
  const mbg_model *m = run->m;
  mbg__json_key(w, "weights");
  mbg__json_begin_array(w);
  for (int b = 0; m->gravity >= 0 && b < mbg__frames(m); b++) {
    const real *M = run->design->M + 36 * (size_t)b;
    const double mass = re(M[0]);
    if (!(mass > 0)) {
      continue;
    }
    mbg__json_begin_array(w);
    mbg__json_integer(w, b);
    mbg__json_number(w, re(M[6 * 5 + 1]) / mass);
    mbg__json_number(w, re(M[6 * 3 + 2]) / mass);
    mbg__json_number(w, re(M[6 * 4 + 0]) / mass);
    for (int k = 0; k < 3; k++) {
      mbg__json_number(w, mass * re(run->design->attr[m->gravity + k]));
    }
    mbg__json_end_array(w);
  }
  mbg__json_end_array(w);
}

int mbg__loads_write(mbg_context *ctx, const mbg_run *run, int frames, mbg__json_writer *w, mbg__buffer *bytes) {
  static const char *const scales[QUANTITIES] = {"force", "moment", "strain", "curvature"};
  work o = {.run = NULL};
  int err = MBG_OK;
  mbg__arena_init(&o.arena, mbg__context_allocator(ctx));
  MBG_TRY(make_model(ctx, &o, run->m));
  MBG_TRY(simulate(ctx, &o, run, frames));
  MBG_TRY(find_open(ctx, &o));
  find_scales(&o);
  mbg__json_key(w, "loads");
  mbg__json_begin_object(w);
  for (int k = 0; k < QUANTITIES; k++) {
    mbg__json_key(w, scales[k]);
    mbg__json_number(w, o.scale[k]);
  }
  put_loads(&o, "joints", JOINT, JOINT, w, bytes);
  put_loads(&o, "forces", LAW, WRENCH, w, bytes);
  put_loads(&o, "elements", ELEMENT, ELEMENT, w, bytes);
  put_weights(run, w);
  mbg__json_end_object(w);
done:
  mbg_run_destroy(o.run);
  mbg__arena_destroy(&o.arena);
  return err;
}
