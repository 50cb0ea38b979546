/* What a run is watched for at its nodes: bodies that turn far in a step, contacts that pull, energy that appears from
   nowhere. Sums and comparisons alone: run/step_warnings.c judges them when the run has ended. */
#include "system/system_internal.h"

#include <string.h>

int mbg__watch_create(mbg_context *ctx, mbg__system *s) {
  s->watch.spin = MBG_TAKE(&s->arena, mbg__peak, s->model->nbody);
  s->watch.push = MBG_TAKE(&s->arena, mbg__peak, s->model->nforce + s->model->njoint);
  s->watch.pull = MBG_TAKE(&s->arena, mbg__peak, s->model->nforce + s->model->njoint);
  return mbg__arena_check(ctx, &s->arena);
}

/* ---------------------------------------------------------------------- energy: who adds to it or takes from it */

static mbg__energy_kind lower(mbg__energy_kind a, mbg__energy_kind b) { return a < b ? a : b; }

/* has a function of time, control or signal, as a road that moves? */
static bool moved_from_outside(const mbg_model *m, const mbg__force *f) {
  const int n = f->law && f->law->tendon ? f->nfn - 2 : f->nfn; /* its length and rate are no intruders */
  for (int i = f->fn; i < f->fn + n; i++) {
    for (int k = 0; k < m->fns[i].ninput; k++) {
      const mbg__input_role role = m->fns[i].input[k].role;
      if (role != MBG__ROLE_ARG && role != MBG__ROLE_ATTR) {
        return true;
      }
    }
  }
  return false;
}

static mbg__energy_kind of_force(const mbg__system *s, const mbg__force *f) {
  mbg__energy_kind (*const kind)(const real *) = f->law ? f->law->energy : f->type->energy;
  return kind && !moved_from_outside(s->model, f) ? kind(s->design->attr + f->attr) : MBG__ENERGY_OPEN;
}

/* the damping matrix of a modal body; it need not be definite, but one that adds energy would be no damping */
static mbg__energy_kind of_modal(const mbg__modal_data *d) {
  const mbg__modal_view view = mbg__modal_of(d->n, d->D);
  real most = 0;
  for (int i = 0; i < d->n; i++) {
    if (re(view.C[i * d->n + i]) < 0) {
      return MBG__ENERGY_OPEN;
    }
    most += view.C[i * d->n + i];
  }
  return mbg__energy_damped(most);
}

static mbg__energy_kind of_element(const mbg__system *s, const mbg__beam_element *e) {
  const int attr = e->attr[MBG__BEAM_DAMPING];
  return attr < 0 ? MBG__ENERGY_KEPT : mbg__energy_damped(s->design->attr[attr]);
}

/* drivers and ropes that are wound move the model from outside */
static mbg__energy_kind of_model(const mbg__system *s) {
  const mbg_model *m = s->model;
  mbg__energy_kind kind = mbg__model_in_time(m) ? MBG__ENERGY_OPEN : MBG__ENERGY_KEPT;
  for (int i = 0; i < m->nforce; i++) {
    kind = lower(kind, of_force(s, &m->forces[i]));
  }
  for (int i = 0; i < m->nmodal; i++) {
    kind = lower(kind, of_modal(&s->design->modals[i]));
  }
  for (int i = 0; i < m->nelement; i++) {
    kind = lower(kind, of_element(s, &m->elements[i]));
  }
  return kind;
}

/* does what is watched depend on frames and twists of the bodies alone? */
static bool by_bodies(const mbg__system *s) {
  const mbg_model *m = s->model;
  bool alone = m->nforce == 0 && m->nmodal == 0 && m->nelement == 0 && m->ntendon == 0;
  for (int j = 0; alone && j < m->njoint; j++) {
    alone = m->joints[j].type->spin == MBG__SPIN_NONE && !m->joints[j].type->contact;
  }
  return alone;
}

void mbg__system_watch(mbg__system *s, bool on) {
  mbg__watch *w = &s->watch;
  w->on = on;
  if (!on) {
    return;
  }
  memset(w->spin, 0, (size_t)s->model->nbody * sizeof(*w->spin));
  memset(w->push, 0, (size_t)(s->model->nforce + s->model->njoint) * sizeof(*w->push));
  memset(w->pull, 0, (size_t)(s->model->nforce + s->model->njoint) * sizeof(*w->pull));
  w->kind = of_model(s);
  w->by_bodies = by_bodies(s);
  w->nodes = 0;
  w->rise = w->change = (mbg__peak){0};
}

const mbg__watch *mbg__system_watched(const mbg__system *s) { return &s->watch; }

bool mbg__system_sample_suffices(const mbg__system *s) { return !s->watch.on || s->watch.by_bodies; }

void mbg__system_watch_sample(mbg__system *s) { mbg__watch_at_node(s); }

/* ---------------------------------------------------------------------- at a node */

static void lift(const mbg__system *s, mbg__peak *p, mbg__part value) {
  const mbg__answers higher = value > p->most;
  p->most = r_where_part(higher, value, p->most);
  p->t = r_where_part(higher, re(s->t), p->t);
}

static void watch_contact(mbg__system *s, int i) {
  const mbg__force *f = &s->model->forces[i];
  mbg__part pull = 0;
  if (f->law && f->law->pull) {
    const mbg__law_in in = {
        .q = s->coord[f->coord].phi, .qd = s->coord[f->coord].phid, .attr = s->design->attr + f->attr, .opt = f->opt};
    pull = re(f->law->pull(&in));
  } else if (f->type && f->type->pull) {
    const mbg__force_in in = {
        .G = &s->G[f->pair], .v = s->vrel[f->pair], .t = s->t, .attr = s->design->attr + f->attr, .opt = f->opt};
    pull = re(f->type->pull(&in, s->f[i]));
  }
  lift(s, &s->watch.pull[i], pull);
  lift(s, &s->watch.push[i], -pull);
}

/* the multiplier of the gap is minus the normal force of wheels, and of cams with their followers (theory 8, sections 4
   and 9); a point in a slot is held both ways */
static void watch_joint(mbg__system *s, int j) {
  const mbg__joint *joint = &s->model->joints[j];
  const mbg__curve_contact *curve = joint->type->contact;
  const double sign = joint->type->spin != MBG__SPIN_NONE ? -1 : curve ? curve->pressed : 0;
  if (sign != 0 && joint->nrow > 0) {
    lift(s, &s->watch.pull[s->model->nforce + j], -sign * re(s->lambda[joint->row]));
    lift(s, &s->watch.push[s->model->nforce + j], sign * re(s->lambda[joint->row]));
  }
}

static void watch_energy(mbg__system *s) {
  mbg__watch *w = &s->watch;
  mbg__modals_energy_terms(s);
  const mbg__part kinetic = re(mbg__energy_kinetic_sum(s));
  const bool first = w->nodes++ == 0;
  w->slow = first ? kinetic : (mbg__part)fmin(w->slow, kinetic);
  w->fast = first ? kinetic : (mbg__part)fmax(w->fast, kinetic);
  if (w->kind == MBG__ENERGY_OPEN) {
    return;
  }
  const mbg__part energy = kinetic + re(mbg__energy_potential_sum(s));
  if (first) {
    w->first = w->least = energy;
    w->seen = re(s->t);
  }
  /* a piece of an integral that is divided is passed once more: the least energy may lie after its nodes then, the
     first one does not */
  const mbg__answers again = re(s->t) < w->seen;
  w->seen = fmax(w->seen, re(s->t));
  w->least = r_where_part(again, w->least, fmin(w->least, energy));
  lift(s, &w->rise, energy - r_where_part(again, w->first, w->least));
  lift(s, &w->change, fabs(energy - w->first));
}

/* spin and energies */
static void watch_body(void *user, int i) {
  mbg__system *s = user;
  const real *W = s->v + s->model->bodies[i].voff + 3;
  lift(s, &s->watch.spin[i], sqrt(re(W[0]) * re(W[0]) + re(W[1]) * re(W[1]) + re(W[2]) * re(W[2])));
  mbg__energy_body_terms(s, i);
}

void mbg__watch_at_node(mbg__system *s) {
  if (!s->watch.on) {
    return;
  }
  mbg__pool_each(s->pool, MBG__EACH_ENERGY, s->model->nbody, watch_body, s);
  for (int i = 0; i < s->model->nforce; i++) {
    watch_contact(s, i);
  }
  for (int j = 0; !s->watch.by_bodies && j < s->model->njoint; j++) {
    watch_joint(s, j);
  }
  watch_energy(s);
}
