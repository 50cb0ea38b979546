/* The lists of a check: bodies, joints, forces, parameters, signals, criteria. */
#include "elements/lists.h"
#include "problems/check.h"
#include "system/system_internal.h"

#include <string.h>

typedef mbg__check_work work;

static void plain3(double out[3], const real x[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = re(x[k]);
  }
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
  if (w->arena.failed) {
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
    if (w->m->coords[i].type == type && !w->m->coords[i].term) {
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
                                            .law = mbg__check_text(w->m->fns[d->law].text),
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
  if (w->arena.failed) {
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

/* "model.json:12:30 (force 'push' force)" of a comparison that a parameter decides */
static int find_switches(work *w) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  const mbg__where **at = MBG_TAKE(&w->arena, const mbg__where *, m->nparameter);
  if (!at) {
    return mbg__fail_memory(w->ctx);
  }
  MBG_TRY(mbg__check_switches(w->ctx, &w->arena, m, at));
  for (int i = 0; i < m->nparameter && err == MBG_OK; i++) {
    w->check->parameters[i].decides = "";
    if (at[i]) {
      char text[400];
      mbg__format(text, sizeof(text), "%s:%d:%d%s%s%s", at[i]->file ? at[i]->file : "", at[i]->line, at[i]->column,
                  at[i]->owner ? " (" : "", at[i]->owner ? at[i]->owner : "", at[i]->owner ? ")" : "");
      w->check->parameters[i].decides = mbg__arena_text(&w->check->arena, text, strlen(text));
      err = w->check->parameters[i].decides ? MBG_OK : mbg__fail_memory(w->ctx);
    }
  }
done:
  return err;
}

static int check_parameter(work *w, const mbg_check_parameter *p) {
  int err = MBG_OK;
  if (p->uses == 0) {
    MBG_TRY(mbg__warn(w->ctx, &w->check->warnings, "parameter '%s' has no effect on the model", p->name));
  }
  for (int k = 0; k < p->count; k++) {
    if (!(p->values[k] >= p->min && p->values[k] <= p->max)) {
      MBG_TRY(mbg__warn(w->ctx, &w->check->warnings, "parameter '%s' is %.6g, outside its bounds %.6g to %.6g", p->name,
                        p->values[k], p->min, p->max));
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
                                                    .unit = mbg__check_text(p->unit),
                                                    .note = mbg__check_text(p->note),
                                                    .count = p->count,
                                                    .vector = p->vector,
                                                    .values = values + p->first,
                                                    .min = p->min,
                                                    .max = p->max};
  }
  MBG_TRY(count_uses(w));
  MBG_TRY(find_switches(w));
  for (int i = 0; i < m->nparameter; i++) {
    MBG_TRY(check_parameter(w, &w->check->parameters[i]));
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
  return sig->type->of != MBG__OF_JOINT || mbg__rank_reaction_unique(w->sys, w->start->rank, i);
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
    const bool state =
        m->signals[i].coord >= 0 && m->bodies[m->markers[m->pairs[m->signals[i].pair].B].body].state >= 0;
    w->determined[i] = is_determined(w, i);
    if (m->signals[i].name) {
      c->signals[c->summary.signals++] = (mbg_check_signal){.name = m->signals[i].name,
                                                            .type = state ? "state" : m->signals[i].type->key,
                                                            .value = w->determined[i] ? re(y[i]) : (double)NAN,
                                                            .determined = w->determined[i]};
    }
  }
  return MBG_OK;
}

static int list_criteria(work *w) {
  int err = MBG_OK;
  for (int i = 0; i < w->m->ncriterion; i++) {
    const mbg__criterion *c = &w->m->criteria[i];
    w->check->criteria[i] = (mbg_check_criterion){.name = c->name, .kind = mbg_model_criterion_kind(w->m, i)};
    if (c->signal >= 0 && !w->determined[c->signal]) {
      MBG_TRY(mbg__warn(w->ctx, &w->check->warnings,
                        "criterion '%s' uses an acceleration or a reaction that has no unique value at the start",
                        c->name));
    }
  }
done:
  return err;
}

/* a criterion, the guard of an event, or a function other than its own rate */
static bool is_read(const mbg_model *m, const mbg__user_state *state) {
  for (int i = 0; i < m->nevent; i++) {
    if (m->events[i].guard == state->signal) {
      return true;
    }
  }
  for (int i = 0; i < m->ncriterion; i++) {
    if (m->criteria[i].signal == state->signal) {
      return true;
    }
  }
  for (int i = 0; i < m->nfn; i++) {
    for (int k = 0; i != m->forces[state->force].fn && k < m->fns[i].ninput; k++) {
      if (m->fns[i].input[k].role == MBG__ROLE_SIGNAL && m->fns[i].input[k].index == state->signal) {
        return true;
      }
    }
  }
  return false;
}

static void note_idle_states(const work *w) {
  for (int i = 0; i < w->m->nstate; i++) {
    const mbg__user_state *s = &w->m->states[i];
    if (!is_read(w->m, s)) {
      mbg__note(w->ctx, MBG_NOTE, "%s:%d:%d: state '%s': no force, rate, signal, event or criterion reads it",
                s->where.file, s->where.line, s->where.column, s->name);
    }
  }
}

/* ---------------------------------------------------------------------- all */

int mbg__check_lists(work *w) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  note_idle_states(w);
  MBG_TRY(list_owners(w));
  for (int i = 0; i < m->nbody; i++) {
    list_body(w, i);
  }
  for (int i = 0; i < m->nmodal; i++) {
    w->check->bodies[m->modals[i].body].mass = re(w->design->modals[i].D[0]);
    w->check->bodies[m->modals[i].body].freedoms += m->modals[i].n;
  }
  for (int i = 0; i < m->nelement; i++) {
    w->check->bodies[m->elements[i].body[0]].mass += mbg__check_half_mass(w, i);
    w->check->bodies[m->elements[i].body[1]].mass += mbg__check_half_mass(w, i);
  }
  for (int i = 0; i < m->njoint; i++) {
    MBG_TRY(list_joint(w, i));
  }
  for (int i = 0; i < m->ndriver; i++) {
    list_driver(w, i);
  }
  for (int i = 0; i < mbg__forces(m); i++) {
    list_force(w, i);
  }
  MBG_TRY(list_parameters(w));
  MBG_TRY(list_signals(w));
  MBG_TRY(list_criteria(w));
done:
  return err;
}
