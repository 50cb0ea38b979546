#include "trajectory/march_internal.h"

#include "trajectory/rank_watch.h"
#include "trajectory/steps.h"
#include "trajectory/store.h"

#include <string.h>

/* A run under error control makes no headway after so many attempts refused in a row, or steps that advance it by less
   than 1e-8 of its length. */
enum { REFUSALS = 100, WINDOW = 2000 };

/* ---------------------------------------------------------------------- creation */

static void *grow(const mbg__march *m, void *block, size_t count, size_t size, bool *failed) {
  void *more = m->allocator.resize(m->allocator.user, block, count * size + 1);
  *failed = *failed || !more;
  return more ? more : block;
}

static bool controlled(const mbg__run_plan *plan) { return !(plan->step > 0) && plan->nlength == 0; }

int mbg__march_reserve(mbg_context *ctx, mbg__march *m, int steps) {
  if (steps <= m->room) {
    return MBG_OK;
  }
  const int room = steps > 2 * m->room ? steps : 2 * m->room;
  const size_t n = (size_t)room + 1;
  bool failed = false;
  if (controlled(&m->plan) || m->plan.events) {
    m->h = grow(m, m->h, n, sizeof(real), &failed);
  }
  if (m->plan.events) {
    m->fired = grow(m, m->fired, n, sizeof(int), &failed);
  }
  m->nodes.t = grow(m, m->nodes.t, n, sizeof(real), &failed);
  m->nodes.y = grow(m, m->nodes.y, n * (size_t)m->nodes.width, sizeof(real), &failed);
  if (failed) {
    return mbg__fail_memory(ctx);
  }
  m->room = room;
  return MBG_OK;
}

/* fixed steps between breaks, part by part */
static int make_parts(mbg_context *ctx, mbg__march *m) {
  int err = MBG_OK;
  double *h = NULL;
  MBG_TRY(mbg__plan_grid(ctx, &m->plan, NULL, &m->nstep));
  h = mbg__alloc_zero(ctx, (size_t)m->nstep + 1, sizeof(double));
  MBG_TRY(h ? MBG_OK : mbg__fail_memory(ctx));
  MBG_TRY(mbg__plan_grid(ctx, &m->plan, h, &m->nstep));
  for (int n = 1; n <= m->nstep; n++) {
    m->npart += n == 1 || h[n] != h[n - 1];
  }
  m->parts = mbg__alloc(ctx, (size_t)m->npart, sizeof(mbg__march_part));
  MBG_TRY(m->parts ? MBG_OK : mbg__fail_memory(ctx));
  m->npart = 0;
  m->grid_steps = m->nstep;
  for (int n = 1; n <= m->nstep; n++) {
    if (n == 1 || h[n] != h[n - 1]) {
      m->parts[m->npart++] = (mbg__march_part){n, h[n]};
    }
  }
done:
  mbg__free(ctx, h);
  return err;
}

static double given_length(const mbg__run_plan *plan, int n) {
  const int i = plan->lengths ? 0 : (n - 1) / plan->parts;
  return plan->lengths ? plan->lengths[n - 1] : (plan->ends[i + 1] - plan->ends[i]) / plan->parts;
}

double mbg__march_length(const mbg__march *m, int n) {
  int lo = 0, hi = m->npart;
  if (hi == 0) {
    return m->plan.nlength > 0 ? given_length(&m->plan, n) : (double)re(m->h[n]);
  }
  while (hi - lo > 1) {
    const int mid = (lo + hi) / 2;
    *(m->parts[mid].first <= n ? &lo : &hi) = mid;
  }
  return m->parts[lo].h;
}

static int again(mbg_context *ctx, void *march, int n, const void *from, void *to) {
  mbg__march *m = march;
  if (m->plan.events) {
    return mbg__march_again_events(ctx, m, n, from, to);
  }
  return m->method.step(ctx, m->user, from, mbg__march_length(m, n), to);
}

int mbg__march_create(mbg_context *ctx, const mbg__run_plan *plan, const mbg__march_method *method, void *user, int nw,
                      int nused, const int *used, mbg__march **out) {
  int err = MBG_OK;
  mbg__march *m = mbg__alloc_zero(ctx, 1, sizeof(*m));
  *out = m;
  if (!m) {
    return mbg__fail_memory(ctx);
  }
  m->allocator = *mbg__context_allocator(ctx);
  m->plan = *plan;
  m->room = -1; /* not even for the start */
  m->method = *method;
  m->user = user;
  m->nodes.nused = nused;
  m->nodes.used = used;
  m->nodes.npose = plan->npose;
  m->nodes.place = plan->place;
  m->nodes.width = plan->place ? mbg__nodes_places(plan->place, nused) : nused + plan->npose;
  m->row = mbg__alloc_zero(ctx, (size_t)(nused + plan->npose) + 2 * (size_t)nused, sizeof(real));
  MBG_TRY(m->row ? MBG_OK : mbg__fail_memory(ctx));
  m->nodes.end = m->row + nused + plan->npose;
  m->nodes.sum = m->nodes.end + nused;
  MBG_TRY(mbg__store_create(ctx, method->bytes, plan->memory, again, m, &m->store));
  m->last = mbg__alloc_zero(ctx, 1, m->store.bytes);
  err = m->last ? MBG_OK : mbg__fail_memory(ctx);
  MBG_TRY(err);
  MBG_TRY(plan->events ? mbg__march_prepare_events(ctx, m, nw) : MBG_OK);
  if (plan->step > 0) {
    MBG_TRY(make_parts(ctx, m));
    MBG_TRY(mbg__march_reserve(ctx, m, m->nstep));
  } else if (plan->nlength > 0) {
    MBG_TRY(mbg__march_reserve(ctx, m, plan->nlength));
    m->nstep = plan->nlength;
  }
done:
  if (err < 0) {
    mbg__march_destroy(m);
    *out = NULL;
  }
  return err;
}

void mbg__march_destroy(mbg__march *m) {
  if (!m) {
    return;
  }
  const mbg_allocator a = m->allocator;
  mbg__store_destroy(&m->store);
  void *all[] = {m->h,        m->parts,    m->nodes.t,  m->nodes.y, m->row,  m->last, m->fired,
                 m->block[0], m->block[1], m->block[2], m->v,       m->kept, m};
  for (int i = 0; i < MBG_COUNT(all); i++) {
    a.release(a.user, all[i]);
  }
}

mbg__work_counts *mbg__march_counts(mbg__march *m) { return &m->counts; }

const mbg__nodes *mbg__march_nodes(const mbg__march *m) { return &m->nodes; }

int mbg__march_steps(const mbg__march *m) { return m->nstep; }

int mbg__march_planned(const mbg__march *m) {
  return !m->plan.events ? m->nstep : m->npart > 0 ? m->grid_steps : m->plan.nlength;
}

double mbg__march_left(const mbg__march *m) {
  if (!(m->plan.memory > 0)) {
    return INFINITY;
  }
  /* with events the number of nodes is not known */
  return mbg__store_complete(&m->store) && !m->plan.events ? fmax(0, m->store.memory - mbg__store_bytes(&m->store)) : 0;
}

/* sums and last values of all signals; then the rows shrink to those that have a place */
static void drop_signals(mbg__march *m, const int *place) {
  mbg__nodes *nodes = &m->nodes;
  const size_t width = (size_t)mbg__nodes_places(place, nodes->nused);
  vn_zero(nodes->nused, nodes->sum);
  for (int n = 0; n < nodes->nnode; n++) {
    const real *from = mbg__nodes_values(nodes, n);
    real *to = nodes->y + (size_t)n * width;
    mbg__nodes_sum(nodes, mbg__trapezoid(nodes->t, nodes->nnode, n), from);
    for (int k = 0; k < nodes->nused; k++) {
      nodes->end[k] = from[k];
    }
    for (int k = 0; k < nodes->nused; k++) {
      if (place[k] >= 0) {
        to[place[k]] = from[k]; /* places ascend: never beyond what was read */
      }
    }
  }
  nodes->place = m->plan.place = place;
  nodes->width = (int)width;
  real *y = m->allocator.resize(m->allocator.user, nodes->y, ((size_t)m->room + 1) * width * sizeof(real) + 1);
  nodes->y = y ? y : nodes->y;
}

void mbg__march_forget(mbg__march *m, const int *place) {
  mbg__store_forget(&m->store);
  if (place && !m->nodes.place && m->nodes.npose == 0) {
    drop_signals(m, place);
  }
}

const void *mbg__march_last(const mbg__march *m) { return m->nodes.nnode > 0 ? m->last : NULL; }

/* ---------------------------------------------------------------------- failures */

/* what the watch says about a node from which no step succeeds */
static void explain(mbg_context *ctx, mbg__march *m, const char *node, char *text, size_t size) {
  const int mark = mbg__message_mark(ctx);
  text[0] = '\0';
  if (m->plan.watch && m->method.record(ctx, m->user, node, m->row) == MBG_OK) {
    mbg__rank_watch_begin(m->plan.watch);
    (void)mbg__rank_watch_step(ctx, m->plan.watch, mbg__march_time(node), mbg__march_time(node), NULL, NULL);
    mbg__rank_watch_explain(m->plan.watch, text, size);
  }
  mbg__message_rewind(ctx, mark);
}

/* ---------------------------------------------------------------------- steps under error control */

/* One trial of length h. A step that does not converge has an infinite error; its message is the caller's. */
int mbg__march_try(mbg_context *ctx, mbg__march *m, const char *from, real h, char *to, double *error) {
  const int err = m->method.step(ctx, m->user, from, h, to);
  if (err == MBG_ERROR_CONVERGENCE) {
    *error = INFINITY;
    return MBG_OK;
  }
  *error = err < 0 ? NAN : m->method.error(m->user) / m->plan.tolerance;
  return err;
}

/* The tolerance cannot be met from a node on. said: the last attempt, which did not converge, has left its message. */
int mbg__march_no_headway(mbg_context *ctx, mbg__march *m, const char *from, double h, int refused, bool said) {
  char cause[300];
  explain(ctx, m, from, cause, sizeof(cause));
  if (said && !cause[0]) {
    return MBG_ERROR_CONVERGENCE;
  }
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                   "no headway at t = %g: the step fell to %.1e (%d attempts refused in a row), and the tolerance %g "
                   "cannot be met; %s",
                   mbg__time_shown(mbg__march_time(from)), h, refused, m->plan.tolerance,
                   cause[0] ? cause : "forces jump or grow without limit there, or the tolerance is too tight");
}

/* The length of the next attempt: equal steps to the next break, at most 5 % longer than h. */
double mbg__march_attempt(double h, double left) { return left / fmax(1, ceil(left / h - 0.05)); }

/* The length that follows a step of length h with `error` in units of the tolerance. A method that carries
   accelerations from step to step keeps what a change of the step leaves in them, so that accepted steps change by a
   factor of at most `growth`, and less than the error asks for (docs/theory/4-lie-group.md, section 15). */
double mbg__march_next_length(double h, double error, double growth) {
  const double best = error > 0 ? 0.7 * pow(error, -1.0 / 3) : INFINITY;
  return error > 1  ? h * fmax(0.2, best)
         : best < 1 ? h * fmax(1 / growth, sqrt(best))
                    : h * fmin(growth, pow(best, 0.2));
}

/* Finds the lengths of the steps. Nodes are not kept: a run over these steps follows. */
static int find_steps(mbg_context *ctx, mbg__march *m) {
  const double span = m->plan.t1 - m->plan.t0, least = 1e-12 * span;
  double want = 1e-3 * span, error, mark = -INFINITY;
  int err = MBG_OK, now = 0, refused = 0, begin = 0;
  m->nstep = 0;
  MBG_TRY(m->method.begin(ctx, m->user, m->store.spare[0]));
  for (;;) {
    const char *from = m->store.spare[now];
    const double t = mbg__march_time(from);
    if (!(t < m->plan.t1 - least)) {
      break;
    }
    if (mbg__plan_interrupted(&m->plan)) {
      m->nodes.partial = true;
      break;
    }
    const double h = mbg__march_attempt(want, mbg__plan_next_break(&m->plan, t) - t);
    MBG_TRY(mbg__march_reserve(ctx, m, m->nstep + 1));
    begin = refused == 0 ? mbg__message_mark(ctx) : begin;
    mbg__message_rewind(ctx, begin);
    MBG_TRY(mbg__march_try(ctx, m, from, h, m->store.spare[!now], &error));
    want = mbg__march_next_length(h, error, m->method.growth);
    refused = error > 1 ? refused + 1 : 0;
    if (error > 1 && (want < least || refused >= REFUSALS)) {
      err = mbg__march_no_headway(ctx, m, from, want, refused, isinf(error) && mbg__message_mark(ctx) > begin);
      goto MBG__TO(done);
    }
    if (!(error > 1)) {
      m->h[++m->nstep] = h;
      now = !now;
    }
    if (m->nstep % WINDOW == 0 && refused == 0) {
      if (t - mark < 1e-8 * span) {
        err = mbg__march_no_headway(ctx, m, from, want, refused, false);
        goto MBG__TO(done);
      }
      mark = t;
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- simulation */

/* Step n. If it fails beside a singular position, a note explains why. */
static int make_step(mbg_context *ctx, mbg__march *m, int n, char *from, char *to) {
  const int err = m->method.step(ctx, m->user, from, mbg__march_length(m, n), to);
  if (err == MBG_ERROR_CONVERGENCE || err == MBG_ERROR_SINGULAR) {
    char cause[300];
    explain(ctx, m, from, cause, sizeof(cause));
    if (cause[0]) {
      mbg__note(ctx, MBG_NOTE, "%s", cause);
    }
  }
  return err;
}

/* values of a node; with places, the integrals go on by the node before, whose weight is known now */
static int record(mbg_context *ctx, mbg__march *m, const char *node, int n) {
  const mbg__nodes *nodes = &m->nodes;
  real *y = nodes->place ? m->row : mbg__nodes_values(nodes, n);
  const int err = m->method.record(ctx, m->user, node, y);
  if (err < 0) {
    return err;
  }
  if (nodes->place) {
    if (n > 0) {
      mbg__nodes_sum(nodes, mbg__trapezoid(nodes->t, n + 1, n - 1), nodes->end);
    }
    mbg__nodes_take(nodes, n, y);
  }
  if (m->plan.node) {
    m->plan.node(m->plan.taker, re(nodes->t[n]), false, y);
  }
  return MBG_OK;
}

int mbg__march_commit(mbg_context *ctx, mbg__march *m, const char *node, int n) {
  mbg__nodes *nodes = &m->nodes;
  int err = MBG_OK;
  nodes->t[n] = mbg__march_moment(node);
  MBG_TRY(record(ctx, m, node, n));
  if (nodes->nused + nodes->npose > 0) {
    MBG_TRY(mbg__rank_watch_step(ctx, m->plan.watch, re(nodes->t[n > 0 ? n - 1 : 0]), re(nodes->t[n]), NULL, NULL));
  }
  MBG_TRY(mbg__store_checkpoint(ctx, &m->store, node));
  memcpy(m->last, node, m->store.bytes);
  nodes->nnode = n + 1;
  m->counts.steps += n > 0;
  if (n > 0 && m->plan.progress) {
    m->plan.progress(m->plan.user, re(nodes->t[n]));
  }
done:
  return err;
}

static int run(mbg_context *ctx, mbg__march *m) {
  mbg__nodes *nodes = &m->nodes;
  char *const *node = m->store.spare;
  int err = MBG_OK, now = 0;
  vn_zero(nodes->nused, nodes->sum);
  m->store.memory = mbg__store_share(m->plan.memory, mbg__nodes_bytes(nodes, m->nstep + 1));
  MBG_TRY(mbg__store_begin(ctx, &m->store, m->nstep + 1));
  m->counts.bytes = mbg__store_bytes(&m->store);
  for (int n = 0; n <= m->nstep; n++) {
    if (n > 0 && mbg__plan_interrupted(&m->plan)) {
      nodes->partial = true;
      break;
    }
    MBG_TRY(n == 0 ? m->method.begin(ctx, m->user, node[0]) : make_step(ctx, m, n, node[now], node[!now]));
    now = n == 0 ? 0 : !now;
    MBG_TRY(mbg__march_commit(ctx, m, node[now], n));
  }
  if (nodes->place && nodes->nnode > 0) {
    mbg__nodes_sum(nodes, mbg__trapezoid(nodes->t, nodes->nnode, nodes->nnode - 1), nodes->end);
  }
done:
  return err;
}

int mbg__march_simulate(mbg_context *ctx, mbg__march *m, bool frozen, mbg__nodes *out) {
  mbg__nodes *nodes = &m->nodes;
  int err = MBG_OK;
  const int before = nodes->nnode;
  nodes->partial = false;
  nodes->nnode = nodes->nfiring = 0;
  m->counts.steps = 0;
  if (m->plan.events) {
    MBG_TRY(mbg__march_run_events(ctx, m, before));
    goto MBG__TO(done);
  }
  if (controlled(&m->plan) && !frozen) {
    MBG_TRY(find_steps(ctx, m));
  }
  MBG_TRY(mbg__march_reserve(ctx, m, m->nstep));
  MBG_TRY(run(ctx, m));
done:
  *out = *nodes;
  return err;
}

/* ---------------------------------------------------------------------- passes */

int mbg__march_fired(const mbg__march *m, int n) {
  return m->fired && n > 0 && m->fired[n] > m->fired[n - 1] ? m->fired[n] - 1 : -1;
}

int mbg__march_fires(const mbg__march *m, int n) {
  const int k = m->fired ? m->fired[n] : 0;
  const bool last = n + 1 == m->nodes.nnode;
  if (!m->fired || (last ? k >= m->nodes.nfiring : m->fired[n + 1] == k)) {
    return -1;
  }
  return k;
}

int mbg__march_forward(mbg_context *ctx, mbg__march *m,
                       int (*visit)(mbg_context *ctx, void *user, int n, const void *from, const void *node),
                       void *user) {
  char *const *spare = m->store.spare;
  const void *from = NULL, *node = mbg__store_first(&m->store);
  int err = MBG_OK, now = 0;
  for (int n = 0; n < m->nodes.nnode; n++, from = node) {
    MBG_TRY(mbg__plan_check_interrupt(ctx, &m->plan, re(m->nodes.t[n])));
    if (mbg__store_complete(&m->store)) {
      MBG_TRY(mbg__store_restore(ctx, &m->store, n, &node));
    } else if (n > 0) {
      MBG_TRY(again(ctx, m, n, from, spare[now]));
      m->counts.recomputed++;
      node = spare[now];
      now = !now;
    }
    mbg__events_after(m->plan.events, m->fired ? m->fired[n] : 0);
    MBG_TRY(visit(ctx, user, n, from, node));
  }
done:
  return err;
}

const void *mbg__march_find(const mbg__march *m, double t) {
  int low = 0, high = m->store.count - 1;
  if (!mbg__store_complete(&m->store)) {
    return NULL;
  }
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (mbg__march_time(mbg__store_place(&m->store, middle)) <= t) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const char *node = high >= 0 ? mbg__store_place(&m->store, low) : NULL;
  return node && mbg__march_time(node) == t ? node : NULL;
}

int mbg__march_restore(mbg_context *ctx, mbg__march *m, int n, const void **node) {
  const long before = m->store.recomputed;
  const int err = mbg__store_restore(ctx, &m->store, n, node);
  m->counts.recomputed += m->store.recomputed - before;
  return err;
}

int mbg__march_backward(mbg_context *ctx, mbg__march *m,
                        int (*visit)(mbg_context *ctx, void *user, int n, const void *node), void *user) {
  int err = MBG_OK;
  for (int n = m->nodes.nnode - 1; n >= 0; n--) {
    const void *node;
    MBG_TRY(mbg__plan_check_interrupt(ctx, &m->plan, re(m->nodes.t[n])));
    MBG_TRY(mbg__march_restore(ctx, m, n, &node));
    mbg__events_after(m->plan.events, m->fired ? m->fired[n] : 0);
    MBG_TRY(visit(ctx, user, n, node));
  }
done:
  return err;
}
