/* Proof of a gradient: Taylor remainders, direct against adjoint, central differences with their best step. */
#include "event/event.h"
#include "run/run_internal.h"

#include <string.h>

static const double eps_first = 1e-1, eps_ratio = 0.46415888336127786; /* 10^(-1/3): three points per decade */
static const double fd_steps[] = {1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 1e-7};

typedef struct {
  mbg_context *ctx;
  mbg_run *run;
  int nc, np;
  double *p, *trial, *direction, *psi, *plus, *minus, *direct, *adjoint;
  int nevent;
  mbg_run_event *events; /* of the run at p                        (nevent) */
  bool ran;              /* the last evaluation: its criteria may not exist, where an event that they look at is gone */
} trial_runs;

/* ---------------------------------------------------------------------- pieces */

static double size_of(const trial_runs *b, int i) {
  const double x = fabs(b->p[i]);
  return x > 0 ? x : 1;
}

/* relative difference of two gradients (theory 0, section 11) */
static double gradient_difference(const trial_runs *b, const double *g, const double *other) {
  double largest = 0, worst = 0;
  for (int i = 0; i < b->np; i++) {
    largest = fmax(largest, size_of(b, i) * fabs(g[i]));
  }
  for (int i = 0; i < b->np; i++) {
    const double scale = fabs(g[i]) + largest / size_of(b, i);
    worst = fmax(worst, scale > 0 ? fabs(g[i] - other[i]) / scale : fabs(other[i]));
  }
  return worst;
}

static int simulate(trial_runs *b) {
  const int err = mbg_run_simulate(b->ctx, b->run);
  if (err == MBG_OK && mbg_run_partial(b->run)) {
    return mbg__fail(b->ctx, MBG_ERROR_INTERRUPTED, "the proof was interrupted");
  }
  return err;
}

static int evaluate(trial_runs *b, double eps, double *psi) {
  int err = MBG_OK;
  b->ran = false;
  for (int i = 0; i < b->np; i++) {
    b->trial[i] = b->p[i] + eps * b->direction[i];
  }
  MBG_TRY(mbg_run_set_parameters(b->ctx, b->run, b->trial));
  MBG_TRY(simulate(b));
  b->ran = true;
  MBG_TRY(mbg_run_criteria(b->ctx, b->run, psi));
done:
  return err;
}

/* a step that leaves the region where the model runs is not a failure of the proof */
static int try_evaluate(trial_runs *b, double eps, double *psi, bool *ok) {
  const int mark = mbg__message_mark(b->ctx);
  const int err = evaluate(b, eps, psi);
  *ok = err == MBG_OK;
  if (err == MBG_ERROR_MEMORY || err == MBG_ERROR_INTERRUPTED) {
    return err;
  }
  mbg__message_rewind(b->ctx, mark);
  return MBG_OK;
}

/* signs alternate, so that no cancellation by symmetry; sizes follow the parameters */
static void choose_direction(trial_runs *b) {
  for (int i = 0; i < b->np; i++) {
    b->direction[i] = size_of(b, i) * (i % 2 ? -1 : 1) * (0.6 + 0.4 * ((i * 7) % 5) / 4.0);
  }
}

/* ---------------------------------------------------------------------- Taylor */

static double slope_of(const mbg_proof *q, int first, int last) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const int n = last - first + 1;
  for (int i = first; i <= last; i++) {
    const double x = log(q->taylor[i].eps), y = log(q->taylor[i].remainder);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static bool usable(const mbg_proof *q, int i) {
  return isfinite(q->taylor[i].remainder) && q->taylor[i].remainder > 10 * q->taylor_floor;
}

/* the widest window above the floor in which every piece has a slope near two; at least six points */
static void find_window(mbg_proof *q) {
  q->taylor_slope = NAN;
  q->taylor_decades = 0;
  for (int first = 0; first < MBG_TAYLOR_POINTS; first++) {
    int last = first;
    while (last + 1 < MBG_TAYLOR_POINTS && usable(q, last) && usable(q, last + 1)) {
      const double piece = log(q->taylor[last].remainder / q->taylor[last + 1].remainder) /
                           log(q->taylor[last].eps / q->taylor[last + 1].eps);
      if (!(piece > 1.8 && piece < 2.2)) {
        break;
      }
      last++;
    }
    const double decades = log10(q->taylor[first].eps / q->taylor[last].eps);
    if (last > first && decades > q->taylor_decades) {
      q->taylor_first = first;
      q->taylor_last = last;
      q->taylor_decades = decades;
      q->taylor_slope = slope_of(q, first, last);
    }
  }
}

/* ---------------------------------------------------------------------- sequence of events */

static int keep_events(trial_runs *b, mbg__arena *arena) {
  b->nevent = mbg_run_event_count(b->run);
  b->events = MBG_TAKE(arena, mbg_run_event, b->nevent);
  int err = mbg__arena_check(b->ctx, arena);
  for (int i = 0; err == MBG_OK && i < b->nevent; i++) {
    err = mbg_run_event_at(b->run, i, &b->events[i]);
  }
  return err;
}

/* how often the event happens in the present run, less its firings at p */
static int more_firings(const trial_runs *b, const char *name) {
  int more = 0;
  for (int i = 0; i < mbg_run_event_count(b->run); i++) {
    mbg_run_event now;
    more += mbg_run_event_at(b->run, i, &now) == MBG_OK && strcmp(now.name, name) == 0;
  }
  for (int i = 0; i < b->nevent; i++) {
    more -= strcmp(b->events[i].name, name) == 0;
  }
  return more;
}

/* the first event of the present run that is not the one of the run at p; the names are those of the model */
static bool sequence_changed(const trial_runs *b, mbg_proof *change) {
  const int count = mbg_run_event_count(b->run);
  for (int i = 0; i < count || i < b->nevent; i++) {
    mbg_run_event now = {0};
    const bool is = i < count && mbg_run_event_at(b->run, i, &now) == MBG_OK;
    if (is && i < b->nevent && strcmp(now.name, b->events[i].name) == 0) {
      continue;
    }
    const bool new = i >= b->nevent || (is && more_firings(b, now.name) > 0);
    const mbg_run_event *which = new ? &now : &b->events[i];
    change->sequence_event = which->name;
    change->sequence_time = which->time;
    const bool gone = more_firings(b, which->name) < 0;
    change->sequence_change = new ? MBG_EVENT_NEW : gone ? MBG_EVENT_GONE : MBG_EVENT_MOVED;
    return true;
  }
  return false;
}

/* eps runs from large to small: the last change counts */
static void watch_sequence(const trial_runs *b, double eps, mbg_proof *proofs) {
  mbg_proof change = {.sequence_eps = eps};
  if (!sequence_changed(b, &change)) {
    return;
  }
  for (int k = 0; k < b->nc; k++) {
    proofs[k].sequence_eps = eps;
    proofs[k].sequence_event = change.sequence_event;
    proofs[k].sequence_time = change.sequence_time;
    proofs[k].sequence_change = change.sequence_change;
  }
}

/* ---------------------------------------------------------------------- all points */

static int taylor(trial_runs *b, mbg_proof *proofs) {
  double eps = eps_first;
  int err = MBG_OK;
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++, eps *= eps_ratio) {
    bool ok;
    MBG_TRY(try_evaluate(b, eps, b->plus, &ok));
    if (b->ran) {
      watch_sequence(b, eps, proofs);
    }
    for (int k = 0; k < b->nc; k++) {
      double slope = 0;
      for (int j = 0; j < b->np; j++) {
        slope += b->adjoint[(size_t)k * (size_t)b->np + (size_t)j] * b->direction[j];
      }
      const double difference = ok ? b->plus[k] - b->psi[k] : NAN;
      proofs[k].taylor[i] = (mbg_taylor_point){eps, difference, fabs(difference - eps * slope)};
    }
  }
  for (int k = 0; k < b->nc; k++) {
    proofs[k].taylor_floor = 2e-15 * fabs(b->psi[k]);
    find_window(&proofs[k]);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- finite differences */

/* directional central differences: their best agreement with g.d is the accuracy of finite differences */
static int differences(trial_runs *b, mbg_proof *proofs) {
  int err = MBG_OK;
  for (int k = 0; k < b->nc; k++) {
    proofs[k].finite_difference = INFINITY;
  }
  for (int s = 0; s < MBG_COUNT(fd_steps); s++) {
    bool ok[2];
    MBG_TRY(try_evaluate(b, fd_steps[s], b->plus, &ok[0]));
    MBG_TRY(try_evaluate(b, -fd_steps[s], b->minus, &ok[1]));
    for (int k = 0; ok[0] && ok[1] && k < b->nc; k++) {
      double slope = 0, size = 0;
      for (int j = 0; j < b->np; j++) {
        const double part = b->adjoint[(size_t)k * (size_t)b->np + (size_t)j] * b->direction[j];
        slope += part;
        size = fmax(size, fabs(part));
      }
      const double fd = (b->plus[k] - b->minus[k]) / (2 * fd_steps[s]);
      const double away = size > 0 ? fabs(fd - slope) / size : fabs(fd);
      if (away < proofs[k].finite_difference) {
        proofs[k].finite_difference = away;
        proofs[k].finite_difference_step = fd_steps[s];
      }
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

static int take_arrays(trial_runs *b, mbg__arena *arena) {
  const size_t n = (size_t)b->nc * (size_t)b->np;
  b->p = MBG_TAKE(arena, double, b->np);
  b->trial = MBG_TAKE(arena, double, b->np);
  b->direction = MBG_TAKE(arena, double, b->np);
  b->psi = MBG_TAKE(arena, double, b->nc);
  b->plus = MBG_TAKE(arena, double, b->nc);
  b->minus = MBG_TAKE(arena, double, b->nc);
  b->direct = MBG_TAKE(arena, double, n);
  b->adjoint = MBG_TAKE(arena, double, n);
  return mbg__arena_check(b->ctx, arena);
}

static int compare_methods(trial_runs *b, mbg_proof *proofs) {
  int err = MBG_OK;
  MBG_TRY(simulate(b));
  MBG_TRY(mbg_run_criteria(b->ctx, b->run, b->psi));
  MBG_TRY(mbg_run_gradient(b->ctx, b->run, mbg_run_adjoint_method(b->run), b->adjoint, NULL));
  MBG_TRY(mbg_run_gradient(b->ctx, b->run, MBG_METHOD_DIRECT, b->direct, NULL));
  for (int k = 0; k < b->nc; k++) {
    const size_t at = (size_t)k * (size_t)b->np;
    proofs[k].value = b->psi[k];
    proofs[k].sequence_eps = INFINITY;
    proofs[k].gradient = b->adjoint + at;
    proofs[k].direct_vs_adjoint = gradient_difference(b, b->direct + at, b->adjoint + at);
  }
done:
  return err;
}

/* Runs at other parameters have the grid of the run at p, whatever nodes their events would drop: remainders fall as
   the gradient says (theory 7, section 7). The value at p is taken once more, for its rounding. */
static int freeze(trial_runs *b) {
  int err = MBG_OK;
  if (b->nevent == 0) {
    return MBG_OK;
  }
  mbg__events_freeze(b->run->plan.events, true);
  MBG_TRY(mbg_run_set_parameters(b->ctx, b->run, b->p));
  MBG_TRY(simulate(b));
  MBG_TRY(mbg_run_criteria(b->ctx, b->run, b->psi));
done:
  return err;
}

int mbg_run_prove(mbg_context *ctx, mbg_run *run) {
  MBG_NEED(ctx, ctx && run);
  trial_runs b = {.ctx = ctx, .run = run, .nc = run->m->ncriterion, .np = run->m->np};
  int err = MBG_OK;
  run->proofs = NULL;
  mbg__arena_destroy(&run->proof_arena);
  mbg_proof *proofs = MBG_TAKE(&run->proof_arena, mbg_proof, b.nc);
  MBG_TRY(take_arrays(&b, &run->proof_arena));
  MBG_TRY(mbg_run_parameters(run, b.p));
  choose_direction(&b);
  MBG_TRY(compare_methods(&b, proofs));
  MBG_TRY(keep_events(&b, &run->proof_arena));
  MBG_TRY(freeze(&b));
  MBG_TRY(taylor(&b, proofs));
  MBG_TRY(differences(&b, proofs));
  mbg__events_freeze(run->plan.events, false);
  MBG_TRY(mbg_run_set_parameters(ctx, run, b.p));
  MBG_TRY(simulate(&b));
  run->proofs = proofs;
done:
  mbg__events_freeze(run->plan.events, false);
  return err;
}

const mbg_proof *mbg_run_get_proof(const mbg_run *run, int criterion) {
  return run && run->proofs && criterion >= 0 && criterion < run->m->ncriterion ? &run->proofs[criterion] : NULL;
}
