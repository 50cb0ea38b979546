/* Runs with events: two nodes at the time of each, the end of a step whose length leads to it, and the state after it.
   Nodes of a fixed grid stay where they are; the first one after an event is at least a quarter of a step away, and an
   event less than a hundredth of a step after a node takes its place (theory 7, section 2). */
#include "trajectory/march_internal.h"
#include "trajectory/steps.h"

#include <string.h>

enum { PRESENT, TRIAL, SCRATCH };

/* places beyond the steps of the grid, for nodes of events */
enum { MORE = 16 };

/* the grid of fixed steps: the next node, and the step that leads to it; or steps under error control */
typedef struct {
  mbg__march *m;
  int n;        /* nodes so far, less one */
  int next;     /* node of the grid, when steps are fixed */
  double t;     /* ... its time */
  double cell;  /* length of the step that leads to it */
  double want;  /* controlled steps: next length */
  double least; /* ... which shrink with intervals of events that accumulate: a share of the run, 0: fixed ones */
  int refused;
  bool controlled;
  bool on_grid; /* the present node is the one before `next` */
  bool ended, by_event;
} walk;

int mbg__march_prepare_events(mbg_context *ctx, mbg__march *m, int nw) {
  for (int k = 0; k < MBG_COUNT(m->block); k++) {
    m->block[k] = mbg__alloc_zero(ctx, 1, m->store.bytes);
  }
  m->v = mbg__alloc_zero(ctx, (size_t)nw + 1, sizeof(real));
  return m->block[0] && m->block[1] && m->block[2] && m->v ? MBG_OK : mbg__fail_memory(ctx);
}

/* ---------------------------------------------------------------------- steps of any length */

static int trial_step(mbg_context *ctx, void *user, real h) {
  mbg__march *m = user;
  return m->method.step(ctx, m->user, m->block[PRESENT], h, m->block[TRIAL]);
}

static int trial_shorter(mbg_context *ctx, void *user, real h) {
  mbg__march *m = user;
  return m->method.shorten(ctx, m->user, m->block[PRESENT], h, m->block[TRIAL]);
}

static mbg__state state_at(mbg_context *ctx, void *user, bool trial) {
  mbg__march *m = user;
  return m->method.state(ctx, m->user, m->block[trial ? TRIAL : PRESENT]);
}

static mbg__state state_inside(mbg_context *ctx, void *user, double length) {
  mbg__march *m = user;
  m->method.inside(m->user, m->block[PRESENT], m->block[TRIAL], length, m->block[SCRATCH]);
  return m->method.state(ctx, m->user, m->block[SCRATCH]);
}

static int restart(mbg_context *ctx, mbg__march *m, int firing, const void *from, void *to) {
  const mbg__state before = m->method.state(ctx, m->user, from);
  const int err = mbg__events_act(ctx, m->plan.events, firing, &before, m->v);
  return err < 0 ? err : m->method.restart(ctx, m->user, from, m->v, to);
}

int mbg__march_again_events(mbg_context *ctx, mbg__march *m, int n, const void *from, void *to) {
  if (m->fired[n] > m->fired[n - 1]) {
    return restart(ctx, m, m->fired[n] - 1, from, to);
  }
  mbg__events_after(m->plan.events, m->fired[n]);
  return m->method.step(ctx, m->user, from, m->h[n], to);
}

/* ---------------------------------------------------------------------- nodes */

/* the trial (or the state after an event) becomes the present node */
static int commit(mbg_context *ctx, walk *w, real h, int fired) {
  mbg__march *m = w->m;
  char *block = m->block[PRESENT];
  int err = MBG_OK;
  m->block[PRESENT] = m->block[TRIAL];
  m->block[TRIAL] = block;
  MBG_TRY(mbg__march_reserve(ctx, m, w->n + 1));
  w->n++;
  m->h[w->n] = h;
  m->fired[w->n] = fired;
  m->nstep = w->n;
  MBG_TRY(mbg__march_commit(ctx, m, m->block[PRESENT], w->n));
done:
  return err;
}

/* the event acts at the present node; so do those that it carries across their guards */
static int act(mbg_context *ctx, walk *w, int event) {
  mbg__march *m = w->m;
  mbg__events *ev = m->plan.events;
  const double t = mbg__march_time(m->block[PRESENT]);
  int err = MBG_OK;
  for (; event >= 0 && !w->ended; event = mbg__events_next(ev)) {
    const mbg__state before = state_at(ctx, m, false);
    const int k = mbg__events_count(ev);
    MBG_TRY(mbg__events_fire(ctx, ev, event, w->n, t, &before));
    MBG_TRY(mbg__events_zeno(ctx, ev, fmax(w->cell, w->least)));
    if (mbg__events_ends(ev, event)) {
      w->ended = w->by_event = true;
      break;
    }
    MBG_TRY(restart(ctx, m, k, m->block[PRESENT], m->block[TRIAL]));
    MBG_TRY(commit(ctx, w, 0, k + 1));
    const mbg__state after = state_at(ctx, m, false);
    MBG_TRY(mbg__events_arm(ctx, ev, &after));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- fixed grids */

static bool is_break(const mbg__march *m, double t) {
  for (int i = 0; i < m->plan.nbreak; i++) {
    if (fabs(m->plan.breaks[i] - t) <= 1e-12 * (fabs(t) + 1)) {
      return true;
    }
  }
  return false;
}

static bool controlled(const mbg__march *m) { return m->npart == 0 && m->plan.nlength == 0; }

static int planned(const mbg__march *m) { return m->nkept > 0 ? m->nkept : mbg__march_planned(m); }

static void next_node(walk *w) {
  const double *kept = w->m->nkept > 0 ? w->m->kept : NULL;
  w->next++;
  w->cell = kept ? kept[w->next] - kept[w->next - 1] : mbg__march_length(w->m, w->next);
  w->t = kept ? kept[w->next] : w->t + w->cell;
}

/* ---------------------------------------------------------------------- frozen runs */

/* Is this time of the grid a node of the last run, which no event has made its own? */
static bool stayed(const mbg__march *m, double t, double cell) {
  int low = 0, high = m->nodes.nnode - 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    *(mbg__nodes_time(&m->nodes, middle) <= t - 1e-9 * cell ? &low : &high) = middle;
  }
  return fabs(mbg__nodes_time(&m->nodes, high) - t) < 1e-9 * cell &&
         (is_break(m, t) || !mbg__events_at(m->plan.events, t, 1e-9 * cell));
}

/* the nodes of the grid that the last run has not dropped, and those behind its end; or the ends of its own steps, and
   breaks */
static int keep_nodes(mbg_context *ctx, mbg__march *m) {
  const int n = controlled(m) ? m->nodes.nnode : planned(m);
  const double last = mbg__nodes_time(&m->nodes, m->nodes.nnode - 1);
  double t = m->plan.t0;
  double *kept = mbg__resize(ctx, m->kept, (size_t)n + 1, sizeof(double));
  if (!kept) {
    return mbg__fail_memory(ctx);
  }
  m->kept = kept;
  kept[0] = t;
  int count = 0;
  for (int k = 1; k <= n; k++) {
    const bool grid = !controlled(m);
    const double cell = grid ? mbg__march_length(m, k) : 0;
    t = grid ? t + cell : k < n ? mbg__nodes_time(&m->nodes, k) : t;
    const bool of_event = !grid && k < n && (mbg__march_fired(m, k) >= 0 || mbg__march_fires(m, k) >= 0);
    const bool own = k < n && (!of_event || (is_break(m, t) && t > kept[count]));
    if (grid ? k == n || t > last || stayed(m, t, cell) : own) {
      kept[++count] = t;
    }
  }
  m->nkept = count;
  return MBG_OK;
}

/* after an event: the first node that is far enough, a break, or the last one */
static void skip_nodes(walk *w) {
  const double t = mbg__march_time(w->m->block[PRESENT]);
  const int last = planned(w->m);
  w->on_grid = false;
  const double least = w->m->nkept > 0 ? 1e-12 : 0.25; /* a frozen run drops nothing */
  while (w->next < last && w->t - t < least * w->cell && !(is_break(w->m, w->t) && w->t > t)) {
    next_node(w);
  }
  if (w->next == last && w->t - t <= 1e-12 * (fabs(t) + w->cell)) {
    w->ended = true; /* an event at the end of the run */
  }
}

/* may an event that lies a little beyond the next node take its place? */
static double beyond(const walk *w, double h) {
  const bool last = w->next == planned(w->m);
  return w->m->nkept > 0 || !w->on_grid || last || is_break(w->m, w->t) ? h : h + w->cell / 100;
}

/* ---------------------------------------------------------------------- steps under error control */

/* the end of a step stays where its start moves */
static int controlled_trial(mbg_context *ctx, walk *w, real *h) {
  mbg__march *m = w->m;
  const char *from = m->block[PRESENT];
  const double t = mbg__march_time(from), least = 1e-12 * (m->plan.t1 - m->plan.t0);
  int err = MBG_OK, begin = mbg__message_mark(ctx);
  double error, length;
  for (w->refused = 0;; w->refused++) {
    length = mbg__march_attempt(w->want, mbg__plan_next_break(&m->plan, t) - t);
    *h = r_value(length, -mbg__march_moment(from));
    mbg__message_rewind(ctx, begin);
    MBG_TRY(mbg__march_try(ctx, m, from, *h, m->block[TRIAL], &error));
    w->want = mbg__march_next_length(length, error, m->method.growth);
    if (!(error > 1)) {
      return MBG_OK;
    }
    if (w->want < least || w->refused >= 100) {
      return mbg__march_no_headway(ctx, m, from, w->want, w->refused, isinf(error));
    }
  }
done:
  return err;
}

/* as for fixed steps: the node before it would be the start of a tiny step */
static double beyond_controlled(const walk *w, double t, double h) {
  return fmax(h, fmin(h + h / 100, mbg__plan_next_break(&w->m->plan, t) - t));
}

/* ---------------------------------------------------------------------- the run */

static int begin(mbg_context *ctx, walk *w) {
  mbg__march *m = w->m;
  const int steps = mbg__march_planned(m), expected = steps > 0 ? steps + steps / 8 + MORE : 1;
  int err = MBG_OK;
  MBG_TRY(mbg__events_begin(ctx, m->plan.events));
  vn_zero(m->nodes.nused, m->nodes.sum);
  MBG_TRY(mbg__march_reserve(ctx, m, expected));
  m->store.memory = mbg__store_share(m->plan.memory, 0);
  MBG_TRY(mbg__store_begin(ctx, &m->store, 0));
  MBG_TRY(mbg__store_expect(ctx, &m->store, expected + 1));
  MBG_TRY(m->method.begin(ctx, m->user, m->block[TRIAL]));
  w->n = -1;
  MBG_TRY(commit(ctx, w, 0, 0));
  w->t = mbg__march_time(m->block[PRESENT]);
  const mbg__state state = state_at(ctx, m, false);
  MBG_TRY(mbg__events_arm(ctx, m->plan.events, &state));
done:
  return err;
}

/* the step to an event may be so short that rounding is all it has */
static int check_length(mbg_context *ctx, const walk *w, int event, double t, double h1) {
  const mbg__march *m = w->m;
  const double share = h1 / fmax(w->cell, w->least);
  if (!(m->method.shortest > 0)) {
    return MBG_OK;
  }
  mbg__events_lead(m->plan.events, share);
  return share < m->method.shortest ? mbg__events_too_near(ctx, m->plan.events, event, t, h1) : MBG_OK;
}

/* one step, perhaps to an event, which acts */
static int advance(mbg_context *ctx, walk *w) {
  mbg__march *m = w->m;
  const mbg__event_steps steps = {.step = trial_step,
                                  .state = state_at,
                                  .user = m,
                                  .inside = m->method.inside ? state_inside : NULL,
                                  .shorten = m->method.shorten ? trial_shorter : NULL};
  const real t = mbg__march_moment(m->block[PRESENT]);
  real h = 0, h1;
  int err = MBG_OK, event;
  if (w->controlled) {
    MBG_TRY(controlled_trial(ctx, w, &h));
    w->cell = re(h);
  } else {
    h = w->on_grid && m->nkept == 0 ? w->cell : w->t - t;
    MBG_TRY(trial_step(ctx, m, h));
  }
  const double most = w->controlled ? beyond_controlled(w, re(t), re(h)) : beyond(w, re(h));
  MBG_TRY(mbg__events_search(ctx, m->plan.events, &steps, t, h, most, &h1, &event));
  MBG_TRY(event >= 0 ? check_length(ctx, w, event, re(t), re(h1)) : MBG_OK);
  mbg__events_accept(m->plan.events);
  MBG_TRY(commit(ctx, w, h1, mbg__events_count(m->plan.events)));
  w->on_grid = true;
  MBG_TRY(event >= 0 ? act(ctx, w, event) : MBG_OK);
  if (!w->controlled && !w->ended && event >= 0) {
    skip_nodes(w);
  } else if (!w->controlled && !w->ended) {
    w->ended = w->next == planned(m);
    if (!w->ended) {
      next_node(w);
    }
  }
  /* steps under error control that are repeated end before the run does where an event has ended the one before */
  const bool over = !(mbg__march_time(m->block[PRESENT]) < m->plan.t1 - 1e-12 * (m->plan.t1 - m->plan.t0));
  if (controlled(m) && !w->controlled && w->ended && !over && !w->by_event) {
    w->controlled = true;
    w->ended = false;
    w->want = w->cell;
  }
  w->ended = w->ended || (w->controlled && over);
done:
  return err;
}

static int frozen_grid(mbg_context *ctx, mbg__march *m, int nodes) {
  if (!mbg__events_frozen(m->plan.events)) {
    m->nkept = 0;
    return MBG_OK;
  }
  m->nodes.nnode = nodes;
  const int err = m->nkept > 0 || nodes < 2 ? MBG_OK : keep_nodes(ctx, m);
  m->nodes.nnode = 0;
  return err;
}

int mbg__march_run_events(mbg_context *ctx, mbg__march *m, int nodes) {
  walk w = {.m = m, .want = 1e-3 * (m->plan.t1 - m->plan.t0), .on_grid = true};
  int err = MBG_OK;
  MBG_TRY(frozen_grid(ctx, m, nodes));
  w.controlled = controlled(m) && m->nkept == 0;
  w.least = controlled(m) ? w.want : 0;
  MBG_TRY(begin(ctx, &w));
  if (!w.controlled) {
    next_node(&w);
  }
  while (!w.ended) {
    if (mbg__plan_interrupted(&m->plan)) {
      m->nodes.partial = true;
      break;
    }
    MBG_TRY(advance(ctx, &w));
  }
  m->counts.bytes = mbg__store_bytes(&m->store);
done:
  m->nodes.nfiring = mbg__events_count(m->plan.events);
  m->nodes.firings = mbg__events_firings(m->plan.events);
  return err;
}
