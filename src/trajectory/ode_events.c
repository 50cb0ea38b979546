#include "trajectory/ode_events.h"

#include <string.h>

/* ---------------------------------------------------------------------- lists */

int mbg__ode_events_create(mbg_context *ctx, const mbg__run_plan *plan, int nw, mbg__ode_events *out) {
  int err = MBG_OK;
  *out = (mbg__ode_events){.allocator = *mbg__context_allocator(ctx)};
  if (!plan->events) {
    return MBG_OK;
  }
  out->v = mbg__alloc_zero(ctx, (size_t)nw + 1, sizeof(real));
  MBG_TRY(out->v ? MBG_OK : mbg__fail_memory(ctx));
  if (plan->step > 0) {
    MBG_TRY(mbg__plan_grid(ctx, plan, NULL, &out->ngrid));
    out->grid = mbg__alloc_zero(ctx, (size_t)out->ngrid + 1, sizeof(double));
    MBG_TRY(out->grid ? MBG_OK : mbg__fail_memory(ctx));
  }
done:
  return err;
}

void mbg__ode_events_destroy(mbg__ode_events *e) {
  if (e->allocator.release) {
    e->allocator.release(e->allocator.user, e->fired);
    e->allocator.release(e->allocator.user, e->grid);
    e->allocator.release(e->allocator.user, e->kept);
    e->allocator.release(e->allocator.user, e->v);
  }
}

/* the end of one more step */
static int count_step(mbg_context *ctx, mbg__ode_events *e, int fired) {
  if (e->n + 1 >= e->room) {
    const int room = 2 * e->room + 256;
    int *more = e->allocator.resize(e->allocator.user, e->fired, (size_t)room * sizeof(int));
    if (!more) {
      return mbg__fail_memory(ctx);
    }
    e->fired = more;
    e->room = room;
  }
  e->fired[++e->n] = fired;
  return MBG_OK;
}

int mbg__ode_events_fired(const mbg__ode_events *e, int k) {
  return e->fired && k > 0 && e->fired[k] > e->fired[k - 1] ? e->fired[k] - 1 : -1;
}

int mbg__ode_events_fires(const mbg__ode_events *e, const mbg__events *ev, int k) {
  const bool last = k == e->n;
  return (last ? mbg__events_count(ev) : e->fired[k + 1]) > e->fired[k] ? e->fired[k] : -1;
}

void mbg__ode_events_at(const mbg__ode_events *e, mbg__events *ev, int k) {
  if (ev) {
    mbg__events_after(ev, e->fired[k]);
  }
}

bool mbg__ode_events_moves(const mbg__ode_events *e, const mbg__events *ev, int k) {
  return ev && (mbg__ode_events_fires(e, ev, k) >= 0 || mbg__ode_events_fired(e, k - 1) >= 0);
}

bool mbg__ode_events_stays(const mbg__ode_events *e, const mbg__events *ev, int k) {
  return !ev || (mbg__ode_events_fired(e, k) < 0 && !mbg__ode_events_moves(e, ev, k));
}

/* ---------------------------------------------------------------------- grids */

typedef struct {
  mbg__ode_events *e;
  const mbg__run_plan *plan;
  const mbg__ode_event_steps *steps;
  real t;        /* present end */
  int node;      /* its number */
  int next;      /* end of the grid */
  bool repeated; /* the grid is that of a run before: none of its ends is dropped */
  bool on_grid;  /* the present end is the one before `next` */
  bool ended;
} walk;

/* equal steps between breaks, as the integrator cuts them */
static void fill_grid(mbg__ode_events *e, const mbg__run_plan *plan) {
  double t = plan->t0;
  int k = 0;
  e->grid[0] = t;
  while (k < e->ngrid) {
    const double end = mbg__plan_next_break(plan, t);
    const int n = (int)fmax(1, ceil((end - t) / plan->step * (1 - 1e-9)));
    for (int i = 1; i <= n && k < e->ngrid; i++) {
      e->grid[++k] = i == n ? end : t + (end - t) * ((double)i / n);
    }
    t = end;
  }
}

static bool is_break(const mbg__run_plan *plan, double t) {
  for (int i = 0; i < plan->nbreak; i++) {
    if (fabs(plan->breaks[i] - t) <= 1e-12 * (fabs(t) + 1)) {
      return true;
    }
  }
  return false;
}

/* is this end of the grid one of a step of the last run, which no event has made its own? */
static bool stayed(const mbg__run_plan *plan, int nend, const double *ends, double t) {
  int low = 0, high = nend;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    *(ends[middle] < t ? &low : &high) = middle;
  }
  return ends[high] == t && (is_break(plan, t) || !mbg__events_at(plan->events, t, 1e-9 * plan->step));
}

/* Ends of steps without those that are events, breaks excepted. Of a fixed grid: those of the last run, and all behind
   it; else the step that an event cut to end the run is made for its own end again. */
static int keep_ends(mbg_context *ctx, mbg__ode_events *e, const mbg__run_plan *plan, int nend, const double *ends) {
  const bool fixed = plan->step > 0;
  const int n = fixed ? e->ngrid : nend;
  double *kept = e->allocator.resize(e->allocator.user, e->kept, ((size_t)n + 2) * sizeof(double));
  if (!kept) {
    return mbg__fail_memory(ctx);
  }
  e->kept = kept;
  e->nkept = 0;
  kept[0] = ends[0];
  for (int k = 1; k <= n; k++) {
    const double t = fixed ? e->grid[k] : ends[k];
    const bool of_event =
        !fixed && (mbg__ode_events_fired(e, k) >= 0 || mbg__ode_events_fires(e, plan->events, k) >= 0);
    const bool own = !of_event || (is_break(plan, t) && t > kept[e->nkept]);
    if (fixed ? k == n || t > ends[nend] || stayed(plan, nend, ends, t) : own) {
      kept[++e->nkept] = t;
    }
  }
  if (!fixed && e->aim > kept[e->nkept]) {
    kept[++e->nkept] = e->aim;
  }
  return MBG_OK;
}

int mbg__ode_events_repeat(mbg_context *ctx, mbg__ode_events *e, const mbg__run_plan *plan, int nend,
                           const double *ends) {
  const bool frozen = mbg__events_frozen(plan->events);
  int err = MBG_OK;
  if (!frozen && plan->step > 0) {
    e->nkept = 0;
    return MBG_OK;
  }
  if (nend == e->n && !(frozen && e->nkept > 0)) {
    if (plan->step > 0) {
      fill_grid(e, plan); /* the run has put events into it */
    }
    MBG_TRY(keep_ends(ctx, e, plan, nend, ends));
  }
done:
  return err;
}

static double cell(const walk *w) { return w->e->grid[w->next] - w->e->grid[w->next - 1]; }

/* after an event: the first end of the grid that is far enough, a break, or the last one */
static void skip_ends(walk *w) {
  const double *grid = w->e->grid;
  w->on_grid = false;
  while (w->next < w->e->ngrid && grid[w->next] - re(w->t) < (w->repeated ? 1e-12 : 0.25) * cell(w) &&
         !(is_break(w->plan, grid[w->next]) && grid[w->next] > re(w->t))) {
    w->next++;
  }
}

/* a run that an event has ended leaves no ends behind it: the next one goes on under error control */
static bool grid_is_over(const walk *w) {
  const mbg__ode_events *e = w->e;
  return e->ngrid > 0 && (w->next > e->ngrid || !(e->grid[w->next] > re(w->t)));
}

/* may an event that lies a little beyond the next end take its place? */
static double beyond(const walk *w, double h) {
  const bool last = w->next == w->e->ngrid;
  return w->e->ngrid == 0 || w->repeated || !w->on_grid || last || is_break(w->plan, w->e->grid[w->next])
             ? h
             : h + cell(w) / 100;
}

static bool at_end(const walk *w) { return !(re(w->t) < w->plan->t1 - 1e-12 * (w->plan->t1 - w->plan->t0)); }

/* the integrator starts at the present end */
static int start_steps(mbg_context *ctx, walk *w) {
  mbg__ode_events *e = w->e;
  if (e->ngrid == 0) {
    return w->steps->start(ctx, w->steps->user, 0, NULL);
  }
  e->grid[w->next - 1] = re(w->t);
  return w->steps->start(ctx, w->steps->user, e->ngrid - w->next + 1, e->grid + w->next - 1);
}

/* ---------------------------------------------------------------------- the run */

/* the event acts at the present end; so do those that it carries across their guards. aim: end of the step it cut */
static int act(mbg_context *ctx, walk *w, int event, double h, double aim) {
  mbg__events *ev = w->plan->events;
  const mbg__ode_event_steps *s = w->steps;
  int err = MBG_OK;
  for (; event >= 0 && !w->ended; event = mbg__events_next(ev)) {
    const int k = mbg__events_count(ev);
    const mbg__state before = s->state(ctx, s->user, false);
    MBG_TRY(mbg__events_fire(ctx, ev, event, w->node, re(w->t), &before));
    MBG_TRY(mbg__events_zeno(ctx, ev, h));
    if (mbg__events_ends(ev, event)) {
      w->e->aim = aim;
      w->ended = true;
      break;
    }
    const mbg__state again = s->state(ctx, s->user, false);
    MBG_TRY(mbg__events_act(ctx, ev, k, &again, w->e->v));
    MBG_TRY(s->restart(ctx, s->user, w->e->v));
    MBG_TRY(count_step(ctx, w->e, k + 1));
    w->node++;
    const mbg__state after = s->state(ctx, s->user, false);
    MBG_TRY(mbg__events_arm(ctx, ev, &after));
  }
done:
  return err;
}

/* one step, perhaps to an event, which acts */
static int advance(mbg_context *ctx, walk *w) {
  const mbg__ode_event_steps *s = w->steps;
  const mbg__event_steps search = {.step = s->step, .state = s->state, .user = s->user, .inside = s->inside};
  mbg__events *ev = w->plan->events;
  real t1, h1;
  int err = MBG_OK, event;
  MBG_TRY(s->next(ctx, s->user, &t1));
  /* steps under error control shrink with the intervals of events that accumulate: a share of the run instead */
  const real h = t1 - w->t;
  const double length = w->e->ngrid > 0 ? cell(w) : fmax(re(h), 1e-3 * (w->plan->t1 - w->plan->t0));
  MBG_TRY(mbg__events_search(ctx, ev, &search, w->t, h, beyond(w, re(h)), &h1, &event));
  mbg__events_accept(ev);
  MBG_TRY(count_step(ctx, w->e, mbg__events_count(ev)));
  MBG_TRY(s->accept(ctx, s->user, event < 0, &w->node));
  w->t = event < 0 || h1 == h ? t1 : w->t + h1;
  w->on_grid = true;
  if (event < 0) {
    w->next++;
  } else {
    MBG_TRY(act(ctx, w, event, length, re(t1)));
  }
  w->ended = w->ended || at_end(w);
  if (event >= 0 && !w->ended) {
    skip_ends(w);
  }
  const bool over = w->repeated && grid_is_over(w);
  if (over) {
    w->e->ngrid = 0;
    w->repeated = false;
  }
  MBG_TRY(!w->ended && (event >= 0 || over) ? start_steps(ctx, w) : MBG_OK);
done:
  return err;
}

/* fixed steps, those of a run to be repeated, or none: under error control */
static int make_grid(mbg_context *ctx, mbg__ode_events *e, const mbg__run_plan *plan) {
  int n = e->nkept, err = MBG_OK;
  if (n == 0 && plan->step > 0) {
    MBG_TRY(mbg__plan_grid(ctx, plan, NULL, &n));
  }
  double *grid = e->allocator.resize(e->allocator.user, e->grid, ((size_t)n + 1) * sizeof(double));
  MBG_TRY(grid ? MBG_OK : mbg__fail_memory(ctx));
  e->grid = grid;
  e->ngrid = n;
  if (e->nkept > 0) {
    memcpy(grid, e->kept, ((size_t)n + 1) * sizeof(double));
  } else if (n > 0) {
    fill_grid(e, plan);
  }
done:
  return err;
}

int mbg__ode_events_run(mbg_context *ctx, mbg__ode_events *e, const mbg__run_plan *plan,
                        const mbg__ode_event_steps *steps, bool *partial) {
  walk w = {.e = e, .plan = plan, .steps = steps, .t = plan->t0, .next = 1, .on_grid = true};
  int err = MBG_OK;
  *partial = false;
  e->aim = NAN;
  MBG_TRY(make_grid(ctx, e, plan));
  w.repeated = e->nkept > 0;
  MBG_TRY(mbg__events_begin(ctx, plan->events));
  e->n = -1;
  MBG_TRY(count_step(ctx, e, 0));
  const mbg__state state = steps->state(ctx, steps->user, false);
  MBG_TRY(mbg__events_arm(ctx, plan->events, &state));
  if (w.repeated && grid_is_over(&w)) {
    e->ngrid = 0;
    w.repeated = false;
  }
  MBG_TRY(start_steps(ctx, &w));
  while (!w.ended) {
    *partial = mbg__plan_interrupted(plan);
    if (*partial) {
      break;
    }
    MBG_TRY(advance(ctx, &w));
    if (plan->progress) {
      plan->progress(plan->user, re(w.t));
    }
  }
done:
  if (!mbg__events_frozen(plan->events)) {
    e->nkept = 0;
  }
  return err;
}
