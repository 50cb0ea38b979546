/* Loading a model: the order of the sections, the checks of the whole model, and its arrays. */
#define _POSIX_C_SOURCE 200809L

#include "load/load.h"
#include "load/load_tendons.h"

#include "io/file.h"
#include "mbgrad/model.h"

#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------------- lists */

/* A block of a growing list; all blocks are chained and freed together. */
struct mbg__list_block {
  struct mbg__list_block *before, *after;
  max_align_t data[];
};
typedef struct mbg__list_block block;

void *mbg__list_more(mbg__loader *L, void *at, int count, int *room, size_t size) {
  block *old = at ? (block *)((char *)at - offsetof(block, data)) : NULL;
  const int n = count ? count + count / 2 + 1 : 16;
  const bool fits = (size_t)n <= (SIZE_MAX / 4 - sizeof(block)) / size;
  block *more = fits ? mbg__resize(L->ctx, old, sizeof(block) + (size_t)n * size, 1) : NULL;
  if (!more) {
    L->no_memory = true;
    return NULL;
  }
  if (!old) {
    more->before = NULL;
    more->after = L->blocks;
  }
  /* it may have moved */
  if (more->before) {
    more->before->after = more;
  } else {
    L->blocks = more;
  }
  if (more->after) {
    more->after->before = more;
  }
  *room = n;
  return more->data;
}

static void free_lists(mbg__loader *L) {
  for (block *b = L->blocks, *after; b; b = after) {
    after = b->after;
    mbg__free(L->ctx, b);
  }
  L->blocks = NULL;
}

static void free_list(mbg__loader *L, void *at) {
  block *b = at ? (block *)((char *)at - offsetof(block, data)) : NULL;
  if (b) {
    *(b->before ? &b->before->after : &L->blocks) = b->after;
    if (b->after) {
      b->after->before = b->before;
    }
  }
  mbg__free(L->ctx, b);
}

/* ---------------------------------------------------------------------- checks of the whole */

/* a body of the file, not one that carries states or modal coordinates */
static bool is_frame(const mbg__loader *L, int body) {
  return L->bodies.at[body].carrier < 0 && L->bodies.at[body].state < 0;
}

static bool all_planar(const mbg__loader *L) {
  for (int i = 0; i < L->bodies.count; i++) {
    if (is_frame(L, i) && !mbg__body_is_planar(L, i)) {
      return false;
    }
  }
  return L->bodies.count > 0;
}

/* gravity of a planar model lies in the plane */
static int check_gravity(mbg__loader *L) {
  const int a = L->model->gravity;
  const mbg__json *json = mbg__json_member(L->sources.at[0]->root, "gravity");
  mbg__item item;
  if (a < 0 || !all_planar(L)) {
    return MBG_OK;
  }
  const mbg__frame *H = mbg__body_frame(L, 0);
  double g = 0, out = 0;
  for (int i = 0; i < 3; i++) {
    const double k = mbg__value(L, a + i);
    g = fmax(g, fabs(k));
    out += k * re(H->R[3 * i + 2]);
  }
  if (!(fabs(out) > 1e-9 * g)) {
    return MBG_OK;
  }
  const int err = mbg__item_make(L, L->sources.at[0], json, "gravity", &item);
  return err < 0 ? err
                 : mbg__item_bad(&item, json, "the out-of-plane component is %g m/s^2, but all bodies are planar", out);
}

/* ---------------------------------------------------------------------- the model's arrays */

int mbg__list_copy(mbg__loader *L, void *at, int count, size_t size, void *out) {
  void *copy = mbg__arena_take(L->arena, (size_t)count, size);
  if (!copy) {
    return mbg__fail_memory(L->ctx);
  }
  if (count > 0) {
    memcpy(copy, at, (size_t)count * size);
  }
  memcpy(out, &copy, sizeof(copy));
  free_list(L, at);
  return MBG_OK;
}

#define COPY(list, n, array)                                                                                           \
  do {                                                                                                                 \
    m->n = L->list.count;                                                                                              \
    MBG_TRY(mbg__list_copy(L, L->list.at, L->list.count, sizeof(*L->list.at), &m->array));                             \
  } while (0)

/* what loading needed besides goes first: the memory of a large model is largest here */
static int copy_lists(mbg__loader *L) {
  int err = MBG_OK;
  mbg_model *m = L->model;
  mbg__arena_destroy(&L->temp);
  for (int k = 0; k < 2; k++) {
    free_list(L, L->values[k].at);
    free_list(L, L->placed[k].at);
  }
  free_list(L, L->formulas.at);
  COPY(parameters, nparameter, parameters);
  COPY(p, np, p);
  COPY(constants, nconstant, constants);
  COPY(attributes, na, attributes);
  COPY(controls, ncontrol, controls);
  COPY(tables, ntable, tables);
  COPY(table_where, ntable, table_where);
  COPY(fns, nfn, fns);
  COPY(poses, npose, poses);
  COPY(ops, nop, ops);
  COPY(bodies, nbody, bodies);
  COPY(markers, nmarker, markers);
  COPY(pairs, npair, pairs);
  COPY(coords, ncoord, coords);
  COPY(terms, nterm, terms);
  COPY(rows, nrow, rows);
  COPY(joints, njoint, joints);
  COPY(drivers, ndriver, drivers);
  COPY(couplings, ncoupling, couplings);
  COPY(curves, ncurve, curves);
  COPY(contacts, ncontact, contacts);
  COPY(tendons, ntendon, tendons);
  COPY(vias, nvia, vias);
  COPY(strands, nstrand, strands);
  COPY(forces, nforce, forces);
  COPY(beams, nbeam, beams);
  COPY(elements, nelement, elements);
  COPY(modals, nmodal, modals);
  COPY(states, nstate, states);
  COPY(modes, nmode, modes);
  COPY(events, nevent, events);
  COPY(signals, nsignal, signals);
  COPY(criteria, ncriterion, criteria);
  COPY(pins, npin, pins);
done:
  return err;
}

/* places of the bodies' velocities, full and free */
static int number_velocities(mbg__loader *L) {
  mbg_model *m = L->model;
  for (int i = 0; i < m->nbody; i++) {
    m->bodies[i].voff = m->nw;
    m->nw += m->bodies[i].nvel;
  }
  m->dof = MBG_TAKE(L->arena, int, m->nw);
  m->full = MBG_TAKE(L->arena, int, m->nw);
  if (mbg__arena_check(L->ctx, L->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < m->nbody; i++) {
    const mbg__body *b = &m->bodies[i];
    for (int k = 0; k < b->nvel; k++) {
      const bool free = k >= 6 || (b->mask >> k & 1);
      m->dof[b->voff + k] = free ? m->nv : -1;
      if (free) {
        m->full[m->nv++] = b->voff + k;
      }
    }
  }
  return MBG_OK;
}

static void frame_origin(const mbg__frame *F, double x[3]) {
  for (int k = 0; k < 3; k++) {
    x[k] = re(F->x[k]);
  }
}

static void marker_origin(const mbg__loader *L, const mbg__marker *m, double x[3]) {
  mbg__frame F = L->placed[0].at[m->pose].h;
  if (m->body >= 0) {
    frame_mul(&F, mbg__body_frame(L, m->body), &L->placed[0].at[m->pose].h);
  }
  frame_origin(&F, x);
}

static double distance2(const double a[3], const double b[3]) {
  double d = 0;
  for (int k = 0; k < 3; k++) {
    d += (a[k] - b[k]) * (a[k] - b[k]);
  }
  return d;
}

static double largest_of(const double x[3]) { return fmax(fmax(fabs(x[0]), fabs(x[1])), fabs(x[2])); }

/* markers of joints and forces; signals only observe */
static int mark_used(mbg__loader *L, bool **used) {
  *used = MBG_TAKE(&L->temp, bool, L->markers.count);
  if (!*used) {
    return mbg__fail_memory(L->ctx);
  }
  for (int i = 0; i < L->joints.count + L->forces.count - L->states.count; i++) {
    const int force = i - L->joints.count;
    const mbg__pair *pair = &L->pairs.at[force < 0 ? L->joints.at[i].pair : L->forces.at[force].pair];
    (*used)[pair->A] = true;
    (*used)[pair->B] = true;
  }
  return MBG_OK;
}

/* Extent of the design configuration: twice the largest distance of bodies and used markers from their mean.
   Rotating or moving the model does not change it (a box along the world axes would change the metric of the start). */
static int measure(mbg__loader *L) {
  const mbg__where *farthest = NULL;
  double centre[3] = {0, 0, 0}, x[3], d = 0, largest = -1;
  int count = 0;
  bool *used;
  const int err = mark_used(L, &used);
  if (err < 0) {
    return err;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < L->bodies.count + L->markers.count; i++) {
      const int marker = i - L->bodies.count;
      if (marker >= 0 ? !used[marker] : !is_frame(L, i)) {
        continue;
      }
      if (marker >= 0) {
        marker_origin(L, &L->markers.at[marker], x);
      } else {
        frame_origin(mbg__body_frame(L, i), x);
      }
      if (largest_of(x) > largest) {
        largest = largest_of(x);
        farthest = marker >= 0 ? &L->markers.at[marker].where : &L->bodies.at[i].where;
      }
      count += pass == 0;
      for (int k = 0; pass == 0 && k < 3; k++) {
        centre[k] += x[k];
      }
      d = pass == 0 ? 0 : fmax(d, distance2(x, centre));
    }
    for (int k = 0; pass == 0 && count > 0 && k < 3; k++) {
      centre[k] /= count;
    }
  }
  L->model->size = fmax(2 * sqrt(d), 1e-3);
  return isfinite(d)
             ? MBG_OK
             : mbg__fail_at(L->ctx, MBG_ERROR_INPUT, farthest, 0,
                            "this is more than 1e154 m away from the rest of the model: squares of such lengths "
                            "are not finite numbers; check positions and units");
}

/* data of modal bodies at the nominal parameters: a design rejects matrices that are not those of a flexible body */
static int check_modal(mbg__loader *L) {
  int err = MBG_OK;
  mbg__design *design;
  if (L->model->nmodal > 0) {
    real *p = MBG_TAKE(&L->temp, real, L->model->np);
    MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
    for (int i = 0; i < L->model->np; i++) {
      p[i] = L->model->p[i];
    }
    MBG_TRY(mbg__design_create(L->ctx, &L->temp, L->model, &design));
    MBG_TRY(mbg__design_update(L->ctx, design, p));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- loading */

/* the expression that returns its only input */
static int identity_input(void *user, const char *name, int index, const char **hint) {
  (void)user;
  (void)name;
  (void)index;
  (void)hint;
  return 0;
}

static int prepare(mbg__loader *L) {
  const mbg__scope scope = {.resolve = identity_input, .t_input = -1};
  mbg__expr *expr = NULL;
  const int err = mbg__expr_compile(L->ctx, L->arena, "x", NULL, &scope, &expr);
  L->identity = expr;
  L->quarter = L->empty_pose = L->element = L->component = L->carrier_ground = -1;
  L->model->chosen = L->model->clock = -1;
  return err;
}

/* name and note of the model; the default name is the name of the file */
static int name_model(mbg__loader *L) {
  int err = MBG_OK;
  mbg_model *m = L->model;
  const mbg__source *source = L->sources.at[0];
  mbg__item item = {.L = L, .source = L->sources.at[0], .owner = ""};
  const mbg__json *name = mbg__json_member(source->root, "name"), *note = mbg__json_member(source->root, "note");
  const mbg__json *schema = mbg__json_member(source->root, "$schema");
  const char *slash = strrchr(source->file, '/'), *text = slash ? slash + 1 : source->file, *about = "";
  size_t length = strlen(text);
  if (length > 5 && strcmp(text + length - 5, ".json") == 0) {
    length -= 5;
  }
  if (schema && schema->kind != MBG__JSON_STRING) {
    MBG_TRY(mbg__item_wrong(&item, schema, schema->key, "the address of a JSON Schema, a string"));
  }
  if (name) {
    MBG_TRY(mbg__item_text(&item, name, "name", &text));
    length = strlen(text);
  }
  if (note && note->kind == MBG__JSON_STRING) {
    about = note->text;
  }
  m->file = source->file;
  m->name = mbg__arena_text(L->arena, text, length);
  m->note = mbg__arena_text(L->arena, about, strlen(about));
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
done:
  return err;
}

static int load_sections(mbg__loader *L) {
  static int (*const sections[])(mbg__loader *) = {
      name_model,         mbg__choose_run,         mbg__load_tracking,   mbg__load_blocks,    mbg__load_names,
      mbg__load_settings, mbg__check_parts,        mbg__load_parameters, mbg__load_tables,    mbg__load_constants,
      mbg__check_blocks,  mbg__load_controls,      mbg__load_modes,      mbg__load_gravity,   mbg__load_part_poses,
      mbg__load_curves,   mbg__load_bodies,        mbg__load_beams,      mbg__load_carriers,  mbg__load_state_carriers,
      mbg__load_markers,  mbg__load_joints,        mbg__load_drivers,    mbg__load_couplings, mbg__load_forces,
      mbg__load_contacts, mbg__load_state_rates,   mbg__load_signals,    mbg__load_events,    mbg__load_criteria,
      mbg__load_initial,  mbg__load_run,           mbg__load_runs,       mbg__load_identify,  mbg__load_control_task,
      mbg__load_optimize, mbg__load_modal_markers, mbg__load_figures,    mbg__load_windings};
  int err = MBG_OK;
  for (int k = 0; k < MBG_COUNT(sections); k++) {
    MBG_TRY(sections[k](L));
  }
done:
  return err;
}

static int load(mbg__loader *L, const char *file) {
  int err = MBG_OK;
  MBG_TRY(prepare(L));
  MBG_TRY(mbg__load_sources(L, file));
  if (L->sources.at[0]->bad) {
    return MBG_ERROR_INPUT;
  }
  MBG_TRY(load_sections(L));
  if (L->no_memory) {
    return mbg__fail_memory(L->ctx);
  }
  if (L->errors == 0) {
    MBG_TRY(check_gravity(L));
  }
  if (L->errors > 0) {
    return MBG_ERROR_INPUT;
  }
  MBG_TRY(mbg__load_sizes(L));
  MBG_TRY(measure(L));
  MBG_TRY(copy_lists(L));
  MBG_TRY(number_velocities(L));
  MBG_TRY(check_modal(L));
done:
  return err;
}

/* Builds the model from `known`: its text, perhaps the texts of its parts. file: its name in messages.
   run, tracking, ntracked: may be NULL. again: from a model in memory, whose warnings are not repeated. */
static int build(mbg_context *ctx, const char *file, const mbg__model_source *known, const char *run,
                 const mbg__tracking *tracking, mbg_model **out, int *ntracked, bool again) {
  const mbg_allocator *allocator = mbg__context_allocator(ctx);
  mbg_model *model = mbg__alloc_zero(ctx, 1, sizeof(*model));
  mbg__loader *L = mbg__alloc_zero(ctx, 1, sizeof(*L));
  int err = MBG_OK;
  *out = NULL;
  if (!model || !L) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  mbg__arena_init(&model->arena, allocator);
  mbg__arena_init(&L->temp, allocator);
  L->ctx = ctx;
  L->model = model;
  L->arena = &model->arena;
  L->known = known;
  L->run_name = run;
  L->again = again;
  L->tracking = tracking ? *tracking : (mbg__tracking){0};
  err = load(L, file);
  if (ntracked) {
    *ntracked = L->ntracked;
  }
  free_lists(L);
  mbg__arena_destroy(&L->temp);
  if (err < 0) {
    mbg__arena_destroy(&model->arena);
  }
done:
  mbg__free(ctx, L);
  if (err < 0) {
    mbg__free(ctx, model);
    model = NULL;
  }
  *out = model;
  return err;
}

void mbg_model_destroy(mbg_model *model) {
  if (model) {
    const mbg_allocator allocator = model->arena.allocator;
    mbg__arena_destroy(&model->arena);
    allocator.release(allocator.user, model);
  }
}

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int mbg_model_load(mbg_context *ctx, const char *path, mbg_model **out) {
  return mbg_model_load_run(ctx, path, NULL, out);
}

int mbg_model_load_run(mbg_context *ctx, const char *path, const char *run, mbg_model **out) {
  MBG_NEED(ctx, ctx && path && out);
  int err = MBG_OK;
  mbg__arena arena;
  mbg__model_source source = {.path = path};
  char *text;
  *out = NULL;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  if (is_folder(path)) {
    const size_t size = strlen(path) + sizeof("/model.json");
    char *inside = mbg__arena_take(&arena, size, 1);
    MBG_TRY(mbg__arena_check(ctx, &arena));
    const bool slash = path[0] && path[strlen(path) - 1] == '/';
    mbg__format(inside, size, slash ? "%smodel.json" : "%s/model.json", path);
    source.path = inside;
  }
  MBG_TRY(mbg__file_read(ctx, &arena, source.path, &text, &source.length));
  source.text = text;
  MBG_TRY(build(ctx, source.path, &source, run, NULL, out, NULL, false));
done:
  mbg__arena_destroy(&arena);
  return err;
}

int mbg_model_for_run(mbg_context *ctx, const mbg_model *model, const char *run, mbg_model **out) {
  MBG_NEED(ctx, ctx && model && out);
  return mbg__model_for_run(ctx, model, run, NULL, out, NULL);
}

int mbg__model_for_run(mbg_context *ctx, const mbg_model *model, const char *run, const mbg__tracking *tracking,
                       mbg_model **out, int *ntracked) {
  return build(ctx, model->file, model->sources, run, tracking, out, ntracked, true);
}

int mbg_model_parse(mbg_context *ctx, const char *name, const char *text, size_t length, const char *base,
                    mbg_model **out) {
  MBG_NEED(ctx, ctx && name && text && out);
  int err = MBG_OK;
  mbg__arena arena;
  *out = NULL;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  /* a path in the base folder: relative paths start there */
  const size_t size = (base ? strlen(base) : 0) + strlen(name) + 2;
  char *file = mbg__arena_take(&arena, size, 1);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  const char *slash = strrchr(name, '/');
  mbg__format(file, size, base && base[0] ? "%s/%s" : "%s%s", base ? base : "", slash ? slash + 1 : name);
  const mbg__model_source source = {.path = file, .text = text, .length = length};
  MBG_TRY(build(ctx, name, &source, NULL, NULL, out, NULL, false));
done:
  mbg__arena_destroy(&arena);
  return err;
}
