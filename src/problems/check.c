/* A model looked at as a whole: the start assembled, everything in it listed. */
#include "problems/check.h"

#include "elements/lists.h"
#include "system/system_internal.h"

#include <string.h>

/* What a check works with, and throws away. */
typedef struct {
  mbg_context *ctx;
  const mbg_model *m;
  mbg_check *check;
  mbg__arena arena;
  mbg__design *design;
  mbg__system *sys;
  mbg__start_work *start_work;
  const mbg__start_result *start;
  real *vd, *lambda;
  bool accelerations;
  bool *determined;             /* signals (nsignal) */
  int *coord_of, *coord_next;   /* coordinates of a pair: first, next; -1 ends    (npair, ncoord) */
  int *driver_of, *driver_next; /* drivers of a joint                             (njoint, ndriver) */
} work;

mbg_check_options mbg_check_options_default(void) { return (mbg_check_options){.parameters = NULL}; }

/* ---------------------------------------------------------------------- helpers */

static void plain3(double out[3], const real x[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = re(x[k]);
  }
}

static const char *text_or_empty(const char *text) { return text ? text : ""; }

/* files a warning in the context and in the result */
static int warn(work *w, const char *text) {
  mbg_check *c = w->check;
  if (c->summary.warnings == c->warning_room) {
    const int room = 2 * c->warning_room + 8;
    const char **more = MBG_TAKE(&c->arena, const char *, room);
    if (!more) {
      return mbg__fail_memory(w->ctx);
    }
    if (c->warnings) {
      memcpy(more, c->warnings, (size_t)c->summary.warnings * sizeof(*more));
    }
    c->warnings = more;
    c->warning_room = room;
  }
  const char *copy = mbg__arena_text(&c->arena, text, strlen(text));
  if (!copy) {
    return mbg__fail_memory(w->ctx);
  }
  c->warnings[c->summary.warnings++] = copy;
  mbg__note(w->ctx, MBG_WARNING, "%s", text);
  return MBG_OK;
}

#define TAKE(field, type, count)                                                                                       \
  do {                                                                                                                 \
    c->field = mbg__arena_take(&c->arena, (size_t)(count), sizeof(type));                                              \
    if (!c->field) {                                                                                                   \
      return mbg__fail_memory(w->ctx);                                                                                 \
    }                                                                                                                  \
  } while (0)

static int take_lists(work *w) {
  const mbg_model *m = w->m;
  mbg_check *c = w->check;
  TAKE(bodies, mbg_check_body, m->nbody);
  TAKE(joints, mbg_check_joint, m->njoint);
  TAKE(drivers, mbg_check_driver, m->ndriver);
  TAKE(forces, mbg_check_force, m->nforce);
  TAKE(parameters, mbg_check_parameter, m->nparameter);
  TAKE(signals, mbg_check_signal, m->nsignal);
  TAKE(criteria, mbg_check_criterion, m->ncriterion);
  TAKE(links, mbg_check_link, m->nbody + m->njoint);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- the model at its start */

static int assemble(work *w, const double *parameters) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  real *p = MBG_TAKE(&w->arena, real, m->np);
  w->vd = MBG_TAKE(&w->arena, real, m->nw);
  w->lambda = MBG_TAKE(&w->arena, real, m->nrow);
  w->determined = MBG_TAKE(&w->arena, bool, m->nsignal);
  if (!p || !w->vd || !w->lambda || !w->determined) {
    return mbg__fail_memory(w->ctx);
  }
  for (int i = 0; i < m->np; i++) {
    p[i] = parameters ? parameters[i] : m->p[i];
  }
  MBG_TRY(mbg__design_create(w->ctx, &w->arena, m, &w->design));
  MBG_TRY(mbg__design_update(w->ctx, w->design, p));
  MBG_TRY(mbg__system_create(w->ctx, m, w->design, &w->sys));
  MBG_TRY(mbg__start_create(w->ctx, w->sys, &w->start_work));
  MBG_TRY(mbg__start_solve(w->ctx, w->start_work, true));
  w->start = mbg__start_result_of(w->start_work);
done:
  return err;
}

static int accelerate(work *w) {
  char text[256];
  int massless;
  const int err = mbg__start_accelerations(w->ctx, w->sys, w->start, w->vd, w->lambda, &massless);
  if (err < 0 || massless < 0) {
    w->accelerations = err >= 0;
    return err;
  }
  mbg__format(text, sizeof(text),
              "body '%s' has a freedom without inertia: initial accelerations and reactions are not determined",
              w->m->bodies[massless].name);
  return warn(w, text);
}

/* ---------------------------------------------------------------------- summary */

static const char *start_method(mbg__start start) {
  static const char *const names[] = {"assemble", "exact", "equilibrium"};
  return names[start];
}

static int summarize_start(work *w) {
  const mbg__start_result *r = w->start;
  mbg_check_start *s = &w->check->summary.start;
  *s = (mbg_check_start){.method = start_method(w->m->start),
                         .time = re(r->t),
                         .iterations = r->iterations,
                         .guess_residual = r->guess_phi,
                         .residual = r->phi,
                         .guess_rate_residual = r->guess_phid,
                         .rate_residual = r->phid,
                         .free_positions = r->free_positions,
                         .free_rates = r->free_rates,
                         .depends_on_metric = r->metric_matters};
  for (int i = 0; i < w->m->nbody; i++) {
    s->most_moved = fmax(s->most_moved, r->moved[i]);
    s->most_turned = fmax(s->most_turned, r->turned[i]);
  }
  if (r->metric_matters) {
    mbg__note(w->ctx, MBG_NOTE,
              "bodies were moved while %d freedom%s not pinned: the start depends on how distances are measured; pin "
              "coordinates in \"initial\"",
              r->free_positions, r->free_positions == 1 ? " is" : "s are");
  }
  if (r->worst >= 0 && r->worst < w->m->nrow) {
    char label[256];
    mbg__row_label(w->m, r->worst, label, sizeof(label));
    s->worst = mbg__arena_text(&w->check->arena, label, strlen(label));
    if (!s->worst) {
      return mbg__fail_memory(w->ctx);
    }
  }
  return MBG_OK;
}

static double gravity_energy(const work *w, int body) {
  const mbg_model *m = w->m;
  const real *M = w->design->M + 36 * (size_t)body;
  const mbg__frame *H = &w->start->H[body];
  double e = 0;
  /* V = -g . (m x + R mc), M = [[m, -mc~], [mc~, J]] */
  const real mc[3] = {M[6 * 5 + 1], M[6 * 3 + 2], M[6 * 4 + 0]};
  real arm[3];
  v3_scale(arm, M[0], H->x);
  m3_mulv_add(arm, H->R, mc);
  for (int k = 0; m->gravity >= 0 && k < 3; k++) {
    e -= re(w->design->attr[m->gravity + k] * arm[k]);
  }
  return e;
}

/* of an element of a beam, at each of its nodes */
static double half_mass(const work *w, int element) {
  const mbg__design *d = w->design;
  return re(d->elements[element].c[MBG__BEAM_MU] * d->shapes[w->m->elements[element].reference].L) / 2;
}

static int energies(work *w) {
  mbg_check_summary *s = &w->check->summary;
  real *p = MBG_TAKE(&w->arena, real, w->m->nw);
  if (!p) {
    return mbg__fail_memory(w->ctx);
  }
  mbg__system_mass_mul(w->sys, w->start->v, p);
  s->kinetic_energy = re(vn_dot(w->m->nw, p, w->start->v)) / 2;
  for (int i = 0; i < w->m->nbody; i++) {
    s->mass += re(w->design->M[36 * (size_t)i]);
    s->potential_energy += gravity_energy(w, i);
  }
  for (int i = 0; i < w->m->nforce; i++) {
    s->potential_energy += re(w->sys->energy[i]);
  }
  for (int i = 0; i < w->m->nelement; i++) {
    s->mass += 2 * half_mass(w, i);
  }
  for (int i = 0; i < w->m->nmodal; i++) {
    s->mass += re(w->design->modals[i].D[0]);
  }
  s->potential_energy += re(mbg__beams_gravity(w->sys) + mbg__beams_strain_energy(w->sys, NULL));
  s->potential_energy += re(mbg__modals_gravity(w->sys) + mbg__modals_strain(w->sys, -1));
  return MBG_OK;
}

static int summarize(work *w) {
  const mbg_model *m = w->m;
  const mbg__rank *rank = w->start->rank;
  mbg_check_summary *s = &w->check->summary;
  int err = MBG_OK;
  s->model = text_or_empty(m->name);
  s->note = text_or_empty(m->note);
  s->unknowns = m->nv;
  s->constraints = m->nrow;
  s->rank = rank->nkept;
  s->redundant = rank->ndropped;
  s->degrees_of_freedom = m->nv - rank->nkept;
  s->bodies = mbg__frames(m);
  s->joints = m->njoint;
  s->drivers = m->ndriver;
  s->couplings = m->ncoupling;
  s->forces = m->nforce;
  s->parameters = m->nparameter;
  s->criteria = m->ncriterion;
  s->attributes = m->na;
  s->parameter_entries = m->np;
  s->size = m->size;
  s->accelerations = w->accelerations;
  MBG_TRY(energies(w));
  MBG_TRY(summarize_start(w));
done:
  return err;
}

static int list_redundant(work *w) {
  const mbg__rank *rank = w->start->rank;
  mbg_check *c = w->check;
  TAKE(redundant, const char *, rank->ndropped);
  for (int i = 0; i < rank->ndropped; i++) {
    char label[256];
    mbg__row_label(w->m, rank->dropped[i], label, sizeof(label));
    c->redundant[i] = mbg__arena_text(&c->arena, label, strlen(label));
    if (!c->redundant[i]) {
      return mbg__fail_memory(w->ctx);
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- bodies */

static void list_body(work *w, int i) {
  static const char *const motions[] = {"spatial", "planar", "point", "planar-point"};
  const mbg__body *b = &w->m->bodies[i];
  const mbg__frame *H = &w->start->H[i];
  const real *v = w->start->v + b->voff;
  mbg_check_body *out = &w->check->bodies[i];
  real x[3];
  *out = (mbg_check_body){.name = b->name,
                          .motion = motions[b->motion],
                          .mass = re(w->design->M[36 * (size_t)i]),
                          .moved = w->start->moved[i],
                          .turned = w->start->turned[i]};
  for (int k = 0; k < b->nvel; k++) {
    out->freedoms += w->m->dof[b->voff + k] >= 0;
  }
  plain3(out->position, H->x);
  mbg__so3_log(x, H->R);
  plain3(out->rotation, x);
  m3_mulv(x, H->R, v);
  plain3(out->velocity, x);
  m3_mulv(x, H->R, v + 3);
  plain3(out->angular_velocity, x);
}

/* ---------------------------------------------------------------------- joints and their coordinates */

static const mbg__coord_type *coord_type(const char *key) {
  int n;
  const mbg__coord_type *const *types = mbg__coord_types(&n);
  for (int i = 0; i < n; i++) {
    if (!strcmp(types[i]->key, key)) {
      return types[i];
    }
  }
  return NULL;
}

/* lists of coordinates by pair and of drivers by joint */
static int list_owners(work *w) {
  const mbg_model *m = w->m;
  w->coord_of = MBG_TAKE(&w->arena, int, m->npair);
  w->coord_next = MBG_TAKE(&w->arena, int, m->ncoord);
  w->driver_of = MBG_TAKE(&w->arena, int, m->njoint);
  w->driver_next = MBG_TAKE(&w->arena, int, m->ndriver);
  if (!w->coord_of || !w->coord_next || !w->driver_of || !w->driver_next) {
    return mbg__fail_memory(w->ctx);
  }
  for (int i = 0; i < m->npair; i++) {
    w->coord_of[i] = -1;
  }
  for (int i = 0; i < m->njoint; i++) {
    w->driver_of[i] = -1;
  }
  for (int i = m->ncoord - 1; i >= 0; i--) {
    w->coord_next[i] = w->coord_of[m->coords[i].pair];
    w->coord_of[m->coords[i].pair] = i;
  }
  for (int i = m->ndriver - 1; i >= 0; i--) {
    w->driver_next[i] = w->driver_of[m->drivers[i].joint];
    w->driver_of[m->drivers[i].joint] = i;
  }
  return MBG_OK;
}

/* the coordinate in use on this pair, so that turns are counted as elsewhere; else one of its own */
static mbg__coord coord_in_use(const work *w, const mbg__joint *j, int k, const mbg__coord_type *type) {
  for (int i = w->coord_of[j->pair]; i >= 0; i = w->coord_next[i]) {
    if (w->m->coords[i].type == type) {
      return w->m->coords[i];
    }
  }
  return (mbg__coord){.type = type, .pair = j->pair, .sign = j->sign[k], .turn = -1};
}

static mbg_check_coordinate coordinate(const work *w, int joint, int k) {
  const mbg__joint *j = &w->m->joints[joint];
  const mbg__coord_type *type = coord_type(j->type->coords[k].coord);
  const mbg__coord coord = coord_in_use(w, j, k, type);
  mbg__term term;
  mbg__term_in in;
  mbg__term_value q;
  mbg__term_of_coord(&coord, &term);
  mbg__term_in_of(w->sys, &term, &in);
  mbg__term_eval(&term, &in, &q, NULL);
  mbg_check_coordinate out = {
      .name = j->type->coords[k].name, .unit = type->unit, .value = re(q.phi), .rate = re(q.phid)};
  for (int i = w->driver_of[joint]; i >= 0; i = w->driver_next[i]) {
    if (w->m->coords[w->m->drivers[i].coord].type == type) {
      out.driver = w->m->drivers[i].name;
    }
  }
  return out;
}

static int list_joint(work *w, int i) {
  const mbg__joint *j = &w->m->joints[i];
  mbg_check_joint *out = &w->check->joints[i];
  *out = (mbg_check_joint){.name = j->name,
                           .type = j->type->key,
                           .bodies = {mbg__check_end(w->m, j->pair, 0), mbg__check_end(w->m, j->pair, 1)},
                           .rows = j->nrow,
                           .coordinates = j->type->ncoord};
  for (int k = j->row; k < j->row + j->nrow; k++) {
    out->redundant += !w->start->rank->keep[k];
  }
  mbg_check_coordinate *coords = MBG_TAKE(&w->check->arena, mbg_check_coordinate, j->type->ncoord);
  if (!coords) {
    return mbg__fail_memory(w->ctx);
  }
  for (int k = 0; k < j->type->ncoord; k++) {
    coords[k] = coordinate(w, i, k);
  }
  out->coordinate = coords;
  return MBG_OK;
}

/* name of a joint's coordinate of a type, or the type's */
static const char *coord_name(const mbg_model *m, int joint, const mbg__coord_type *type) {
  for (int k = 0; joint >= 0 && k < m->joints[joint].type->ncoord; k++) {
    if (!strcmp(m->joints[joint].type->coords[k].coord, type->key)) {
      return m->joints[joint].type->coords[k].name;
    }
  }
  return type->key;
}

static void list_driver(work *w, int i) {
  const mbg__driver *d = &w->m->drivers[i];
  w->check->drivers[i] = (mbg_check_driver){.name = d->name,
                                            .joint = w->m->joints[d->joint].name,
                                            .coordinate = coord_name(w->m, d->joint, w->m->coords[d->coord].type),
                                            .law = text_or_empty(w->m->fns[d->law].text),
                                            .value = re(w->sys->coord[d->coord].phi),
                                            .rate = re(w->sys->coord[d->coord].phid)};
}

/* ---------------------------------------------------------------------- forces */

static void list_force(work *w, int i) {
  const mbg__force *f = &w->m->forces[i];
  mbg_check_force *out = &w->check->forces[i];
  *out = (mbg_check_force){.name = f->name,
                           .type = f->law ? f->law->key : f->type->key,
                           .bodies = {mbg__check_end(w->m, f->pair, 0), mbg__check_end(w->m, f->pair, 1)}};
  if (f->law) {
    out->joint = f->joint >= 0 ? w->m->joints[f->joint].name : NULL;
    out->along = coord_name(w->m, f->joint, w->m->coords[f->coord].type);
    out->length = re(w->sys->coord[f->coord].phi);
    out->tension = re(w->sys->tau[i]);
  }
  plain3(out->force, w->sys->f[i]);
  plain3(out->torque, w->sys->f[i] + 3);
}

/* ---------------------------------------------------------------------- parameters */

/* numbers that depend on each parameter, counted once each */
static int count_uses(work *w) {
  const mbg_model *m = w->m;
  int *of = MBG_TAKE(&w->arena, int, m->np), *last = MBG_TAKE(&w->arena, int, m->nparameter);
  if (!of || !last) {
    return mbg__fail_memory(w->ctx);
  }
  for (int i = 0; i < m->nparameter; i++) {
    last[i] = -1;
    for (int k = 0; k < m->parameters[i].count; k++) {
      of[m->parameters[i].first + k] = i;
    }
  }
  for (int a = 0; a < m->na; a++) {
    for (int e = w->design->start[a]; e < w->design->start[a + 1]; e++) {
      const int i = of[w->design->col[e]];
      w->check->parameters[i].uses += last[i] != a;
      last[i] = a;
    }
  }
  return MBG_OK;
}

static int look_at_parameter(work *w, const mbg_check_parameter *p) {
  char text[256];
  int err = MBG_OK;
  if (p->uses == 0) {
    mbg__format(text, sizeof(text), "parameter '%s' is used by nothing", p->name);
    MBG_TRY(warn(w, text));
  }
  for (int k = 0; k < p->count; k++) {
    if (!(p->values[k] >= p->min && p->values[k] <= p->max)) {
      mbg__format(text, sizeof(text), "parameter '%s' is %.6g, outside its bounds %.6g to %.6g", p->name, p->values[k],
                  p->min, p->max);
      MBG_TRY(warn(w, text));
      break;
    }
  }
done:
  return err;
}

static int list_parameters(work *w) {
  const mbg_model *m = w->m;
  double *values = MBG_TAKE(&w->check->arena, double, m->np);
  int err = MBG_OK;
  if (!values) {
    return mbg__fail_memory(w->ctx);
  }
  for (int i = 0; i < m->np; i++) {
    values[i] = re(w->design->p[i]);
  }
  for (int i = 0; i < m->nparameter; i++) {
    const mbg__parameter *p = &m->parameters[i];
    w->check->parameters[i] = (mbg_check_parameter){.name = p->name,
                                                    .unit = text_or_empty(p->unit),
                                                    .note = text_or_empty(p->note),
                                                    .count = p->count,
                                                    .vector = p->vector,
                                                    .values = values + p->first,
                                                    .min = p->min,
                                                    .max = p->max};
  }
  MBG_TRY(count_uses(w));
  for (int i = 0; i < m->nparameter; i++) {
    MBG_TRY(look_at_parameter(w, &w->check->parameters[i]));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- signals, criteria */

/* has the signal a unique value at the start? */
static bool is_determined(const work *w, int i) {
  const mbg__signal *sig = &w->m->signals[i];
  if (sig->type->of == MBG__OF_VALUE) {
    const mbg__fn *fn = &w->m->fns[sig->fn];
    bool all = true;
    for (int k = 0; k < fn->ninput; k++) {
      all = all && (fn->input[k].role != MBG__ROLE_SIGNAL || w->determined[fn->input[k].index]);
    }
    return all;
  }
  if (sig->level >= MBG__LEVEL_ACCELERATION && !w->accelerations) {
    return false;
  }
  return sig->type->role != MBG__ROLE_REACTION || mbg__rank_reaction_unique(w->sys, w->start->rank, i);
}

static int list_signals(work *w) {
  const mbg_model *m = w->m;
  mbg_check *c = w->check;
  const real *y;
  const int err = mbg__system_signals(w->ctx, w->sys, &y);
  if (err < 0) {
    return err;
  }
  for (int i = 0; i < m->nsignal; i++) {
    w->determined[i] = is_determined(w, i);
    if (m->signals[i].name) {
      c->signals[c->summary.signals++] = (mbg_check_signal){.name = m->signals[i].name,
                                                            .type = m->signals[i].type->key,
                                                            .value = w->determined[i] ? re(y[i]) : (double)NAN,
                                                            .determined = w->determined[i]};
    }
  }
  return MBG_OK;
}

static int list_criteria(work *w) {
  static const char *const kinds[] = {"terminal", "integral", "least_squares", "smooth_maximum", "path", "value"};
  int err = MBG_OK;
  for (int i = 0; i < w->m->ncriterion; i++) {
    const mbg__criterion *c = &w->m->criteria[i];
    w->check->criteria[i] = (mbg_check_criterion){.name = c->name, .kind = kinds[c->kind]};
    if (c->signal >= 0 && !w->determined[c->signal]) {
      char text[256];
      mbg__format(text, sizeof(text),
                  "criterion '%s' uses an acceleration or a reaction that has no unique value at the start", c->name);
      MBG_TRY(warn(w, text));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

static int list_all(work *w) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  MBG_TRY(summarize(w));
  MBG_TRY(list_redundant(w));
  MBG_TRY(list_owners(w));
  for (int i = 0; i < m->nbody; i++) {
    list_body(w, i);
  }
  for (int i = 0; i < m->nmodal; i++) {
    w->check->bodies[m->modals[i].body].mass = re(w->design->modals[i].D[0]);
    w->check->bodies[m->modals[i].body].freedoms += m->modals[i].n;
  }
  for (int i = 0; i < m->nelement; i++) {
    w->check->bodies[m->elements[i].body[0]].mass += half_mass(w, i);
    w->check->bodies[m->elements[i].body[1]].mass += half_mass(w, i);
  }
  for (int i = 0; i < m->njoint; i++) {
    MBG_TRY(list_joint(w, i));
  }
  for (int i = 0; i < m->ndriver; i++) {
    list_driver(w, i);
  }
  for (int i = 0; i < m->nforce; i++) {
    list_force(w, i);
  }
  MBG_TRY(list_parameters(w));
  MBG_TRY(list_signals(w));
  MBG_TRY(list_criteria(w));
  MBG_TRY(mbg__check_tree(w->ctx, w->check, w->start->rank));
done:
  return err;
}

int mbg_check_model(mbg_context *ctx, const mbg_model *model, const mbg_check_options *opt, mbg_check **out) {
  work w = {.ctx = ctx, .m = model};
  int err = MBG_OK;
  *out = NULL;
  w.check = mbg__alloc_zero(ctx, 1, sizeof(*w.check));
  if (!w.check) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&w.arena, mbg__context_allocator(ctx));
  mbg__arena_init(&w.check->arena, mbg__context_allocator(ctx));
  w.check->model = model;
  MBG_TRY(take_lists(&w));
  MBG_TRY(assemble(&w, opt ? opt->parameters : NULL));
  MBG_TRY(accelerate(&w));
  MBG_TRY(list_all(&w));
done:
  mbg__start_destroy(w.start_work);
  mbg__system_destroy(w.sys);
  mbg__arena_destroy(&w.arena);
  if (err < 0) {
    mbg_check_destroy(w.check);
    w.check = NULL;
  }
  *out = w.check;
  return err;
}

void mbg_check_destroy(mbg_check *check) {
  if (!check) {
    return;
  }
  const mbg_allocator allocator = check->arena.allocator;
  mbg__arena_destroy(&check->arena);
  allocator.release(allocator.user, check);
}

/* ---------------------------------------------------------------------- queries */

const mbg_check_summary *mbg_check_summary_of(const mbg_check *check) { return &check->summary; }

#define AT(check, list, count, index) (assert((index) >= 0 && (index) < (count)), &(check)->list[index])

const mbg_check_body *mbg_check_body_at(const mbg_check *check, int index) {
  return AT(check, bodies, check->summary.bodies, index);
}

const mbg_check_joint *mbg_check_joint_at(const mbg_check *check, int index) {
  return AT(check, joints, check->summary.joints, index);
}

const mbg_check_driver *mbg_check_driver_at(const mbg_check *check, int index) {
  return AT(check, drivers, check->summary.drivers, index);
}

const char *mbg_check_coupling_at(const mbg_check *check, int index) {
  assert(index >= 0 && index < check->summary.couplings);
  return check->model->couplings[index].name;
}

const mbg_check_force *mbg_check_force_at(const mbg_check *check, int index) {
  return AT(check, forces, check->summary.forces, index);
}

const mbg_check_parameter *mbg_check_parameter_at(const mbg_check *check, int index) {
  return AT(check, parameters, check->summary.parameters, index);
}

const mbg_check_signal *mbg_check_signal_at(const mbg_check *check, int index) {
  return AT(check, signals, check->summary.signals, index);
}

const mbg_check_criterion *mbg_check_criterion_at(const mbg_check *check, int index) {
  return AT(check, criteria, check->summary.criteria, index);
}

const mbg_check_link *mbg_check_link_at(const mbg_check *check, int index) {
  return AT(check, links, check->summary.links, index);
}

const char *mbg_check_redundant_at(const mbg_check *check, int index) {
  return *AT(check, redundant, check->summary.redundant, index);
}

const char *mbg_check_warning_at(const mbg_check *check, int index) {
  return *AT(check, warnings, check->summary.warnings, index);
}
