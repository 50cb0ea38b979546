/* Guards of a run: values and sides. */
#include "event/event_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- values */

/* signals of a sampling and their derivatives at a state */
int mbg__event_sample(mbg_context *ctx, mbg__events *ev, const mbg__sampling *what, const mbg__state *state) {
  int err = MBG_OK;
  if (what->level == MBG__SAMPLE_KINEMATICS) {
    return mbg__system_sample_both(ctx, ev->sys, what, state, ev->y);
  }
  mbg__state bare = *state;
  const real *y;
  bare.vd = bare.lambda = NULL;
  MBG_TRY(mbg__system_update(ctx, ev->sys, &bare));
  MBG_TRY(mbg__system_linearize(ctx, ev->sys));
  MBG_TRY(mbg__system_linearize_signals(ctx, ev->sys));
  MBG_TRY(mbg__system_signals(ctx, ev->sys, &y));
  for (int k = 0; k < what->nused; k++) {
    MBG_TRY(mbg__system_linearize_guard(ctx, ev->sys, what->used[k]));
    ev->y[k] = y[what->used[k]];
  }
done:
  return err;
}

bool mbg__events_disturb(const mbg__events *ev) { return ev->guards.level != MBG__SAMPLE_KINEMATICS; }

static double oriented(const mbg__events *ev, int i) {
  return -ev->m->events[i].direction * re(ev->y[ev->guard_of[i]]);
}

int mbg__guard_values(mbg_context *ctx, mbg__events *ev, const mbg__state *state, double *g) {
  const int err = ev->guards.nused > 0 ? mbg__system_sample(ctx, ev->sys, &ev->guards, state, ev->y) : MBG_OK;
  for (int i = 0; i < ev->m->nevent; i++) {
    g[i] = ev->m->events[i].guard >= 0 ? oriented(ev, i) : NAN;
  }
  return err;
}

/* ... their derivatives are there */
static int rates_at(mbg_context *ctx, mbg__events *ev, const mbg__state *state, double *gd) {
  const mbg__direction along = {.w = state->v, .dv = state->vd, .da = ev->one};
  for (int i = 0; i < ev->m->nevent; i++) {
    const mbg__event *e = &ev->m->events[i];
    gd[i] = NAN;
    if (e->guard >= 0) {
      gd[i] = -e->direction * re(ev->by_position[i] ? mbg__system_position_rate(ev->sys, e->guard)
                                                    : mbg__system_signal_push(ev->sys, e->guard, &along));
    }
    if (e->guard >= 0 && !isfinite(gd[i])) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &e->where, 0, "the rate of the guard is not finite at t = %g",
                          mbg__time_shown(re(state->t)));
    }
  }
  return MBG_OK;
}

int mbg__guards_at(mbg_context *ctx, mbg__events *ev, const mbg__state *state, double *g, double *gd) {
  int err = MBG_OK;
  if (ev->guards.nused > 0) {
    MBG_TRY(mbg__event_sample(ctx, ev, &ev->guards, state));
  }
  for (int i = 0; i < ev->m->nevent; i++) {
    g[i] = ev->m->events[i].guard >= 0 ? oriented(ev, i) : NAN;
  }
  MBG_TRY(rates_at(ctx, ev, state, gd));
done:
  return err;
}

int mbg__events_guard(mbg_context *ctx, mbg__events *ev, int guard, const mbg__state *state, real *gw, real *gv,
                      real *ga) {
  const int err = mbg__event_sample(ctx, ev, &ev->guards, state);
  if (err == MBG_OK) {
    mbg__system_signal_pull(ev->sys, guard, 1, gw, gv, NULL, NULL, ga);
  }
  return err;
}

/* ---------------------------------------------------------------------- sides */

static int look_armed(mbg_context *ctx, mbg__events *ev, int i) {
  mbg__fn_env env = {
      .ctx = ctx, .model = ev->m, .work = ev->functions, .attr = ev->design->attr, .fn = ev->m->events[i].armed};
  real value = 1;
  const int err = env.fn < 0 ? MBG_OK : mbg__fn_only(&env, 0, NULL, &value);
  ev->armed[i] = err == MBG_OK && re(value) != 0;
  return err;
}

static int wrong_side(mbg_context *ctx, const mbg__events *ev, int i, double t) {
  const mbg__event *e = &ev->m->events[i];
  return mbg__fail_at(
      ctx, MBG_ERROR_INPUT, &e->where, 0,
      "the guard is %g at t = %g, where the event is armed; with direction \"%s\" it must be %s 0 there",
      -e->direction * ev->g[i], mbg__time_shown(t), e->direction < 0 ? "-" : "+", e->direction < 0 ? "above" : "below");
}

/* An event that is given for the start, or before, does not happen: modes have their first values there. A run that
   goes on from a state has such events behind it. */
static void note_past(mbg_context *ctx, const mbg__events *ev, double t) {
  const bool begins = ev->nfiring == 0 && t == ev->m->run.start;
  for (int i = 0; begins && i < ev->m->nevent; i++) {
    const mbg__event *e = &ev->m->events[i];
    const double at = e->at >= 0 ? (double)re(ev->design->attr[e->at]) : INFINITY;
    if (at <= t + 1e-12 * fabs(t)) {
      mbg__note(ctx, MBG_NOTE, "event '%s' does not happen: its time %.9g is not after the start of the run", e->name,
                at);
    }
  }
}

/* At the start of a run that goes on from a state, a guard may have passed; gaps are open. */
static bool resumed(const mbg__events *ev, int i) {
  return ev->resumes && ev->nfiring == 0 && !ev->m->events[i].impact;
}

int mbg__events_arm(mbg_context *ctx, mbg__events *ev, const mbg__state *state) {
  const mbg_model *m = ev->m;
  int err = MBG_OK;
  note_past(ctx, ev, re(state->t));
  MBG_TRY(mbg__guards_at(ctx, ev, state, ev->g, ev->gd));
  ev->rated = true;
  ev->unrated = 0;
  for (int i = 0; i < m->nevent; i++) {
    const bool before = ev->armed[i];
    ev->slope[i] = 0;
    ev->speed[i] = fabs(ev->gd[i]);
    MBG_TRY(look_armed(ctx, ev, i));
    if (m->events[i].guard < 0 || !ev->armed[i]) {
      continue;
    }
    if (!before) {
      /* 0 but for the rounding of the time where an event before has armed it, and it opens */
      ev->at_zero[i] = fabs(ev->g[i]) <= 1e-12 * ev->gd[i] * (1 + fabs(re(state->t))) && ev->gd[i] > 0;
      ev->open[i] = ev->g[i] > 0 || ev->at_zero[i];
      if (resumed(ev, i)) { /* the event is behind it, perhaps at this very time */
        const bool zero = fabs(ev->g[i]) <= 1e-12 * fabs(ev->gd[i]) * (1 + fabs(re(state->t)));
        ev->passed[i] = zero && !ev->at_zero[i];
        ev->open[i] = ev->open[i] && !ev->passed[i];
      } else if (!ev->open[i]) {
        MBG_TRY(wrong_side(ctx, ev, i, re(state->t)));
      }
    } else if (ev->passed[i]) {
      ev->open[i] = false; /* whatever the rounding of its zero says */
    } else if (ev->at_zero[i]) {
      ev->open[i] = true; /* ... or that of an impact, after which it does not close, even where its restitution is 0 */
      ev->gd[i] = fmax(ev->gd[i], 0);
    } else {
      ev->closing[i] = ev->closing[i] || (ev->open[i] && ev->g[i] < 0); /* carried across */
      ev->open[i] = ev->g[i] > 0;
    }
    ev->largest[i] = fabs(ev->g[i]);
  }
done:
  return err;
}

void mbg__events_accept(mbg__events *ev) {
  const double length = ev->length;
  const bool rated = ev->rated_t;
  for (int i = 0; i < ev->m->nevent; i++) {
    const double g = ev->gt[i];
    ev->slope[i] = fabs(g - ev->g[i]) / length;
    ev->g[i] = g;
    ev->passed[i] = false;
    if (rated) {
      ev->gd[i] = ev->gdt[i];
      ev->speed[i] = fabs(ev->gd[i]);
    }
    if (ev->m->events[i].guard >= 0 && ev->armed[i]) {
      ev->at_zero[i] = ev->at_zero[i] && !(g > 0);
      ev->open[i] = g > 0;
      ev->largest[i] = fabs(g) > ev->largest[i] ? fabs(g) : ev->largest[i];
      ev->range[i] = ev->largest[i] > ev->range[i] ? ev->largest[i] : ev->range[i];
    }
  }
  ev->rated = rated;
  ev->unrated = rated ? 0 : ev->unrated + 1;
}

int mbg__events_next(mbg__events *ev) {
  for (int i = 0; i < ev->m->nevent; i++) {
    if (ev->closing[i] && ev->armed[i]) {
      ev->closing[i] = false;
      return i;
    }
    ev->closing[i] = false;
  }
  return -1;
}
