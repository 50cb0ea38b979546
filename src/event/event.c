/* The events of a model in a run: modes, firings. */
#include "event/event_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

static int list_guards(mbg_context *ctx, mbg__events *ev) {
  const mbg_model *m = ev->m;
  int n = 0;
  for (int i = 0; i < m->nevent; i++) {
    ev->guard_of[i] = -1;
    if (m->events[i].guard >= 0) {
      ev->guard_of[i] = n;
      ev->guard_signal[n++] = m->events[i].guard;
    }
  }
  return mbg__sampling_create(ctx, &ev->arena, ev->sys, n, ev->guard_signal, &ev->guards);
}

/* the signals of an impact: in the gap, their rates, the sliding speed */
static int list_gap(mbg_context *ctx, mbg__events *ev, int i) {
  const mbg__event *e = &ev->m->events[i];
  char what[320];
  int *list = MBG_TAKE(&ev->arena, int, 2 * e->nbase + 1), n = 2 * e->nbase;
  if (mbg__arena_check(ctx, &ev->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; k < e->nbase; k++) {
    list[k] = e->base[k];
    list[e->nbase + k] = e->rate[k];
  }
  if (e->tangent >= 0) {
    list[n++] = e->tangent;
  }
  mbg__format(what, sizeof(what), "impact of event '%s'", e->name);
  ev->what[i] = mbg__arena_text(&ev->arena, what, strlen(what));
  return mbg__sampling_create(ctx, &ev->arena, ev->sys, n, list, &ev->gaps[i]);
}

static void take_impact(mbg__events *ev) {
  const mbg_model *m = ev->m;
  size_t scratch = 1;
  int n = 1;
  for (int i = 0; i < m->nevent; i++) {
    const mbg__signal *sig = m->events[i].impact ? &m->signals[m->events[i].guard] : NULL;
    if (sig && sig->fn >= 0) {
      const size_t s = mbg__expr_scratch(m->fns[sig->fn].expr);
      scratch = s > scratch ? s : scratch;
      n = m->fns[sig->fn].ninput > n ? m->fns[sig->fn].ninput : n;
    }
  }
  ev->Fx = MBG_TAKE(&ev->arena, real, n);
  ev->Fg = MBG_TAKE(&ev->arena, real, n);
  ev->Fh = MBG_TAKE(&ev->arena, real, n * n);
  ev->scratch = MBG_TAKE(&ev->arena, real, scratch);
  ev->M = MBG_TAKE(&ev->arena, real, mbg__csc_count(mbg__system_pattern_K(ev->sys)));
  ev->B = MBG_TAKE(&ev->arena, real, mbg__csc_count(mbg__system_pattern_B(ev->sys)));
  real **vectors[] = {&ev->vp, &ev->N, &ev->D, &ev->T};
  for (int k = 0; k < MBG_COUNT(vectors); k++) {
    *vectors[k] = MBG_TAKE(&ev->arena, real, m->nw);
  }
  for (int k = 0; k < MBG_COUNT(ev->f); k++) {
    ev->f[k] = MBG_TAKE(&ev->arena, real, m->nw);
  }
  for (int k = 0; k < MBG_COUNT(ev->row); k++) {
    ev->row[k] = MBG_TAKE(&ev->arena, real, m->nrow);
  }
  ev->L = MBG_TAKE(&ev->arena, real, m->nrow);
  ev->x0 = MBG_TAKE(&ev->arena, real, m->nv + m->nrow);
  ev->x1 = MBG_TAKE(&ev->arena, real, m->nv + m->nrow);
}

static void take_arrays(mbg__events *ev) {
  const size_t n = (size_t)ev->m->nevent;
  bool **flags[] = {&ev->by_position, &ev->armed, &ev->passed, &ev->open, &ev->at_zero, &ev->closing};
  double **numbers[] = {&ev->g,     &ev->gd,      &ev->gt,    &ev->gdt,  &ev->gm,     &ev->gdm,     &ev->slope,
                        &ev->speed, &ev->largest, &ev->range, &ev->last, &ev->before, &ev->interval};
  for (int k = 0; k < MBG_COUNT(flags); k++) {
    *flags[k] = MBG_TAKE(&ev->arena, bool, n);
  }
  for (int k = 0; k < MBG_COUNT(numbers); k++) {
    *numbers[k] = MBG_TAKE(&ev->arena, double, n);
  }
  ev->fired = MBG_TAKE(&ev->arena, int, n);
  ev->guard_of = MBG_TAKE(&ev->arena, int, n);
  ev->guard_signal = MBG_TAKE(&ev->arena, int, n);
  ev->gaps = MBG_TAKE(&ev->arena, mbg__sampling, n);
  ev->what = MBG_TAKE(&ev->arena, const char *, n);
  ev->y = MBG_TAKE(&ev->arena, real, ev->m->nsignal);
  ev->one = MBG_TAKE(&ev->arena, real, ev->m->na);
  ev->ga = MBG_TAKE(&ev->arena, real, ev->m->na);
}

int mbg__events_create(mbg_context *ctx, mbg__system *sys, mbg__design *design, const mbg__rank *rank,
                       const double *marks, mbg__events **out) {
  const mbg_model *m = mbg__system_model(sys);
  int err = MBG_OK;
  *out = NULL;
  if (m->nevent == 0) {
    return MBG_OK;
  }
  mbg__events *ev = *out = mbg__alloc_zero(ctx, 1, sizeof(*ev));
  if (!ev) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&ev->arena, mbg__context_allocator(ctx));
  ev->m = m;
  ev->sys = sys;
  ev->design = design;
  ev->marks = marks;
  ev->rank = rank;
  ev->rigid = m->nmodal == 0 && m->nelement == 0 && !mbg__system_has_late(sys);
  take_arrays(ev);
  take_impact(ev);
  MBG_TRY(mbg__arena_check(ctx, &ev->arena));
  ev->one[m->clock] = 1;
  MBG_TRY(mbg__fn_work_create(ctx, &ev->arena, m, &ev->functions));
  MBG_TRY(list_guards(ctx, ev));
  for (int i = 0; i < m->nevent; i++) {
    const int guard = m->events[i].guard;
    ev->by_position[i] = guard >= 0 && mbg__system_has_position_rate(sys, &ev->guards, guard);
  }
  for (int i = 0; i < m->nevent; i++) {
    MBG_TRY(m->events[i].impact ? list_gap(ctx, ev, i) : MBG_OK);
  }
done:
  if (err < 0) {
    mbg__events_destroy(ev);
    *out = NULL;
  }
  return err;
}

void mbg__events_destroy(mbg__events *ev) {
  if (!ev) {
    return;
  }
  const mbg_allocator allocator = ev->arena.allocator;
  mbg__saddle_destroy(&ev->own);
  allocator.release(allocator.user, ev->firings);
  mbg__impacts_forget(ev);
  mbg__arena_destroy(&ev->arena);
  allocator.release(allocator.user, ev);
}

void mbg__events_share(mbg__events *ev, mbg__saddle *saddle) {
  ev->saddle = mbg__system_has_late(ev->sys) ? NULL : saddle; /* theirs has late rates, too */
}

void mbg__events_factors(mbg__events *ev) { ev->given = ev->saddle != &ev->own; }

bool mbg__events_factored(mbg__events *ev) {
  const bool left = ev->left && ev->saddle != &ev->own;
  ev->left = false;
  return left;
}

/* ---------------------------------------------------------------------- modes */

int mbg__events_marks(const mbg_model *m) { return m->nmode + m->nevent; }

void mbg__events_marks_first(const mbg_model *m, double *marks) {
  for (int k = 0; k < m->nmode; k++) {
    marks[k] = m->modes[k].first;
  }
  for (int i = 0; i < m->nevent; i++) {
    marks[m->nmode + i] = 0;
  }
}

void mbg__events_marks_copy(const mbg_model *m, const double *from, double *marks) {
  for (int i = 0; i < mbg__events_marks(m); i++) {
    marks[i] = from[i];
  }
}

void mbg__events_marks_after(const mbg_model *m, int nfiring, const mbg__firing *firings, int node, double *marks) {
  for (int f = 0; f < nfiring && firings[f].node < node; f++) {
    const mbg__event *e = &m->events[firings[f].event];
    for (int k = 0; k < e->nset; k++) {
      marks[e->set[k].mode] = e->set[k].value;
    }
    if (e->impulse >= 0) {
      marks[m->nmode + firings[f].event] = re(firings[f].impulse);
    }
  }
}

int mbg__events_marks_model(mbg_context *ctx, mbg__arena *arena, mbg_model *m, const double *marks) {
  if (mbg__events_marks(m) == 0) {
    return MBG_OK;
  }
  mbg__attribute *attributes = MBG_TAKE(arena, mbg__attribute, m->na);
  mbg__event_mode *modes = MBG_TAKE(arena, mbg__event_mode, m->nmode);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  memcpy(attributes, m->attributes, (size_t)m->na * sizeof(*attributes));
  memcpy(modes, m->modes, (size_t)m->nmode * sizeof(*modes));
  for (int k = 0; k < m->nmode; k++) {
    modes[k].first = attributes[modes[k].attr].formula.number = marks[k];
  }
  for (int i = 0; i < m->nevent; i++) {
    if (m->events[i].impulse >= 0) {
      attributes[m->events[i].impulse].formula.number = marks[m->nmode + i];
    }
  }
  m->attributes = attributes;
  m->modes = modes;
  return MBG_OK;
}

void mbg__events_reset(const mbg_model *m, mbg__design *design, const double *marks) {
  for (int k = 0; k < m->nmode; k++) {
    design->attr[m->modes[k].attr] = marks[k];
  }
  for (int i = 0; i < m->nevent; i++) {
    if (m->events[i].impulse >= 0) {
      design->attr[m->events[i].impulse] = marks[m->nmode + i];
    }
  }
}

static void apply(mbg__events *ev, const mbg__firing *f) {
  const mbg__event *e = &ev->m->events[f->event];
  for (int k = 0; k < e->nset; k++) {
    ev->design->attr[ev->m->modes[e->set[k].mode].attr] = e->set[k].value;
  }
  if (e->impulse >= 0) {
    ev->design->attr[e->impulse] = f->impulse;
  }
}

void mbg__events_after(mbg__events *ev, int count) {
  if (!ev || count == ev->applied) {
    return;
  }
  if (count < ev->applied) {
    mbg__events_reset(ev->m, ev->design, ev->marks);
    ev->applied = 0;
  }
  for (; ev->applied < count; ev->applied++) {
    apply(ev, &ev->firings[ev->applied]);
  }
}

/* ---------------------------------------------------------------------- firings */

void mbg__events_freeze(mbg__events *ev, bool frozen) {
  if (ev) {
    ev->frozen = frozen;
  }
}

bool mbg__events_frozen(const mbg__events *ev) { return ev && ev->frozen; }

void mbg__events_resume(mbg__events *ev, bool yes) {
  if (ev) {
    ev->resumes = yes;
  }
}

int mbg__events_begin(mbg_context *ctx, mbg__events *ev) {
  const mbg_model *m = ev->m;
  int err = MBG_OK;
  if (!ev->saddle) {
    MBG_TRY(mbg__saddle_create(ctx, &ev->arena, ev->sys, 0, NULL, MBG__KLU_FROZEN, &ev->own));
    ev->saddle = &ev->own;
  }
  if (ev->saddle == &ev->own) {
    mbg__klu_thaw(ev->saddle->klu); /* the first impact of the run chooses the pivots */
  }
  mbg__events_reset(m, ev->design, ev->marks);
  ev->given = ev->left = false;
  ev->lead = 1;
  ev->F = NULL;
  ev->nfiring = ev->applied = 0;
  ev->solved = -1;
  for (int i = 0; i < m->nevent; i++) {
    ev->armed[i] = ev->passed[i] = ev->at_zero[i] = false;
    ev->last[i] = ev->interval[i] = ev->before[i] = NAN;
    ev->fired[i] = 0;
    ev->largest[i] = ev->range[i] = 0;
  }
done:
  return err;
}

bool mbg__events_need_rates(const mbg__events *ev) {
  for (int i = 0; i < ev->guards.nused; i++) {
    if (ev->m->signals[ev->guard_signal[i]].level >= MBG__LEVEL_VELOCITY) {
      return true;
    }
  }
  return false;
}

bool mbg__events_ends(const mbg__events *ev, int event) { return ev->m->events[event].end; }

int mbg__events_count(const mbg__events *ev) { return ev ? ev->nfiring : 0; }

const mbg__firing *mbg__events_firings(const mbg__events *ev) { return ev ? ev->firings : NULL; }

bool mbg__events_at(const mbg__events *ev, double t, double near) {
  for (int k = 0; k < ev->nfiring; k++) {
    if (fabs(ev->firings[k].t - t) <= near) {
      return true;
    }
  }
  return false;
}

const mbg__event *mbg__events_which(const mbg__events *ev, int firing) {
  return firing >= 0 ? &ev->m->events[ev->firings[firing].event] : NULL;
}

static int keep(mbg_context *ctx, mbg__events *ev, const mbg__firing *f) {
  if (ev->nfiring >= ev->m->run.max_events) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                     "zeno: event '%s' at t = %g is number %d of the run; the limit is \"max_events\": %d",
                     ev->m->events[f->event].name, f->t, ev->nfiring + 1, ev->m->run.max_events);
  }
  if (ev->nfiring == ev->room) {
    const int room = 2 * ev->room + 16;
    mbg__firing *more = ev->arena.allocator.resize(ev->arena.allocator.user, ev->firings, (size_t)room * sizeof(*more));
    if (!more) {
      return mbg__fail_memory(ctx);
    }
    ev->firings = more;
    ev->room = room;
  }
  ev->firings[ev->nfiring++] = *f;
  return MBG_OK;
}

/* intervals that shrink by a common ratio: they end at t + D q/(1 - q) (theory 7, section 6) */
static int check_zeno(mbg_context *ctx, mbg__events *ev, int i, double t, double h) {
  const double now = t - ev->last[i], ratio = now / ev->interval[i], old = ev->interval[i] / ev->before[i];
  ev->before[i] = ev->interval[i];
  ev->interval[i] = now;
  ev->last[i] = t;
  if (now < 1e-3 * h && ratio < 1 && fabs(ratio - old) < 1e-3 * ratio) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                     "zeno: event '%s' accumulates at t = %.9g (it fires at %.9g, %.3g s after the time before); use a "
                     "compliant contact, or end the run",
                     ev->m->events[i].name, t + now * ratio / (1 - ratio), t, now);
  }
  return MBG_OK;
}

void mbg__events_lead(mbg__events *ev, double share) { ev->lead = share; }

int mbg__events_too_near(mbg_context *ctx, const mbg__events *ev, int event, double t, double h1) {
  return mbg__fail_at(ctx, MBG_ERROR_INPUT, &ev->m->events[event].where, 0,
                      "at t = %.9g, %.1e s after the start or another event: rounding is all that so short a step of "
                      "'lie' and 'dae' has; change a parameter, or use 'ali3p', 'dca' or 'qr'",
                      t, h1);
}

int mbg__events_fire(mbg_context *ctx, mbg__events *ev, int i, int node, double t, const mbg__state *before) {
  const mbg__event *e = &ev->m->events[i];
  mbg__firing f = {.event = i, .node = node, .t = t, .gdot = NAN, .grazing = INFINITY, .lead = ev->lead};
  int err = MBG_OK;
  ev->lead = 1;
  if (e->guard >= 0) {
    f.gdot = -e->direction * ev->gd[i]; /* G = -direction g */
    f.grazing = ev->grazing;
  }
  const mbg__firing *last = ev->nfiring > 0 ? &ev->firings[ev->nfiring - 1] : NULL;
  f.follows = last && last->t == t;
  f.together = f.follows && ev->together;
  if (f.follows && last->event == i) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "zeno: event '%s' fires again at once, at t = %.9g", e->name, t);
  }
  if (e->impact) {
    mbg__events_after(ev, ev->nfiring);
    MBG_TRY(mbg__impact_solve(ctx, ev, i, before));
    if (re(ev->e) > 1 && ev->fired[i] == 0) {
      mbg__note(ctx, MBG_WARNING, "event '%s': restitution is %g, above 1: its impacts add energy", e->name, re(ev->e));
    }
    f.impulse = ev->P;
    f.jump = re(-(1 + ev->e) * ev->rate);
  }
  MBG_TRY(keep(ctx, ev, &f));
  if (e->impact) {
    mbg__impact_keep(ev, ev->nfiring - 1);
  }
  ev->fired[i]++;
  ev->solved = e->impact ? ev->nfiring - 1 : -1;
  ev->at_zero[i] = e->impact;
  ev->passed[i] = e->guard >= 0 && !e->impact;
done:
  return err;
}

int mbg__events_zeno(mbg_context *ctx, mbg__events *ev, double h) {
  const mbg__firing *f = &ev->firings[ev->nfiring - 1];
  return check_zeno(ctx, ev, f->event, f->t, h);
}

int mbg__events_act(mbg_context *ctx, mbg__events *ev, int k, const mbg__state *before, real *v) {
  const mbg__event *e = &ev->m->events[ev->firings[k].event];
  int err = MBG_OK;
  mbg__events_after(ev, k);
  if (e->impact) {
    MBG_TRY(ev->solved == k ? MBG_OK : mbg__impact_solve(ctx, ev, ev->firings[k].event, before));
    ev->solved = -1; /* only where it has just fired is the state the same */
    memcpy(v, ev->vp, (size_t)ev->m->nw * sizeof(real));
  } else {
    ev->left = false;
    memcpy(v, before->v, (size_t)ev->m->nw * sizeof(real));
  }
  mbg__events_after(ev, k + 1);
done:
  return err;
}

/* ---------------------------------------------------------------------- gradients */

/* Are two events at given times at one time whatever the parameters are? Then their order does not matter. */
static int at_one_time(mbg_context *ctx, const mbg__events *ev, int a, int b, bool *always) {
  const int at = ev->m->events[a].at, other = ev->m->events[b].at;
  int err = MBG_OK;
  *always = false;
  if (at < 0 || other < 0) {
    return MBG_OK;
  }
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  real *ga = MBG_TAKE(&arena, real, ev->m->na), *change = MBG_TAKE(&arena, real, ev->m->np + 1);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  ga[at] += 1;
  ga[other] -= 1;
  mbg__design_pull(ev->design, ga, change);
  *always = true;
  for (int p = 0; p < ev->m->np; p++) {
    *always = *always && fabs(re(change[p])) <= 1e-12 * (1 + fabs(re(ev->design->attr[at])));
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}

int mbg__events_differentiable(mbg_context *ctx, const mbg__events *ev) {
  int err = MBG_OK;
  for (int k = 0; ev && k < ev->nfiring; k++) {
    const mbg__firing *f = &ev->firings[k];
    const char *name = ev->m->events[f->event].name;
    bool always = true;
    MBG_TRY(f->together ? at_one_time(ctx, ev, ev->firings[k - 1].event, f->event, &always) : MBG_OK);
    if (!always) {
      return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                       "simultaneous events '%s', '%s' at t = %.9g: one-sided derivatives, no gradient; "
                       "change a parameter so that one of them comes first, or let one event do what both do",
                       ev->m->events[ev->firings[k - 1].event].name, name, f->t);
    }
    if (f->grazing < 1e-10) {
      return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                       "event '%s' at t = %.9g grazes: its guard turns at 0 (measure %.1e), and there is no gradient",
                       name, f->t, f->grazing);
    }
    if (f->lead < 1e-5) {
      mbg__note(
          ctx, MBG_WARNING,
          "event '%s' at t = %.9g comes %.0e of a step after the start or another event: the rounding of so short "
          "a step of 'lie' and 'dae' leaves about %.0f digits of gradients; 'ali3p', 'dca' and 'qr' keep them",
          name, f->t, f->lead, fmax(0, 14 + log10(f->lead)));
    }
    if (f->grazing < 1e-4) {
      mbg__note(ctx, MBG_WARNING,
                "event '%s' at t = %.9g nearly grazes: it is gone when its guard moves by %.1e of its range", name,
                f->t, f->grazing);
    }
  }
done:
  return err;
}
