/* Steps for a given accuracy: trial runs with estimated errors until the estimate is small enough. */
#include "run/run_internal.h"

#include <string.h>

/* Without criteria the search ends when the error has not fallen so often in a row, whatever the step. */
enum { TRIALS = 14, STALLS = 2 };
static const double steps_most = 2e7, stalled = 0.7;

/* What a trial shows. */
typedef struct {
  double worst; /* the largest error */
  bool regular; /* it can be trusted */
  double next;  /* the step that would meet the accuracy */
  int signal;   /* without criteria: the used signal with the largest error, and its largest value */
  double size;
} verdict;

/* ---------------------------------------------------------------------- errors of signals */

/* Errors of a signal that stays near 0 are compared with more than its values: with the kinetic energy that comes and
   goes, for energies; else with a millionth of the size of the mechanism, or of the largest signal of the same unit. */
static double scale_of(const mbg_run *run, int k, const double *size) {
  const char *unit = mbg_model_signal_unit(run->m, run->used[k]);
  const mbg__watch *w = mbg__system_watched(run->sys);
  double most = !strcmp(unit, "m") ? run->m->size : !strcmp(unit, "rad") ? 1 : 0;
  if (!strcmp(unit, "J")) {
    return w->nodes > 0 ? w->fast - w->slow : 0;
  }
  for (int j = 0; unit[0] && j < run->nused; j++) {
    most = !strcmp(mbg_model_signal_unit(run->m, run->used[j]), unit) ? fmax(most, size[j]) : most;
  }
  return 1e-6 * most;
}

/* the largest value of a signal, and its largest change by finer steps at common nodes */
static void compare_signal(const mbg__nodes *a, const mbg__nodes *b, int k, double *size, double *far) {
  const bool nested = b->nnode == 2 * a->nnode - 1;
  *size = *far = 0;
  for (int i = 0; i < a->nnode; i++) {
    const int j = nested ? 2 * i : b->nnode - 1;
    const double x = re(a->y[(size_t)i * (size_t)(a->nused + a->npose) + (size_t)k]);
    *size = fmax(*size, fabs(x));
    if (nested || i == a->nnode - 1) {
      *far = fmax(*far, fabs(x - re(b->y[(size_t)j * (size_t)(b->nused + b->npose) + (size_t)k])));
    }
  }
}

/* Without criteria: largest error of the signals at common nodes, in parts of their largest values (order 2). */
static int signals_error(mbg_context *ctx, const mbg_run *trial, verdict *v) {
  mbg_run *fine = NULL;
  double *size = mbg__alloc_zero(ctx, 2 * (size_t)trial->nused, sizeof(double)), *far = size + trial->nused;
  int err = size ? mbg__run_refined(ctx, trial, 2, &fine) : mbg__fail_memory(ctx);
  MBG_TRY(err);
  for (int k = 0; k < trial->nused; k++) {
    compare_signal(&trial->nodes, &fine->nodes, k, &size[k], &far[k]);
  }
  for (int k = 0; k < trial->nused; k++) {
    const double part = far[k] > 0 ? 4.0 / 3 * far[k] / fmax(size[k], scale_of(trial, k, size)) : 0;
    if (part > v->worst) {
      v->worst = part;
      v->signal = trial->used[k];
      v->size = size[k];
    }
  }
done:
  mbg_run_destroy(fine);
  mbg__free(ctx, size);
  return err;
}

/* ---------------------------------------------------------------------- trials */

static int judge(mbg_context *ctx, const mbg_run *run, mbg_run *trial, verdict *v) {
  const double h = mbg_run_step(trial);
  int err = MBG_OK;
  v->worst = 0;
  v->regular = true;
  if (run->m->ncriterion == 0) {
    MBG_TRY(signals_error(ctx, trial, v));
    v->next = h * (mbg_run_controlled(trial) ? 0.8 * run->accuracy / v->worst : sqrt(0.8 * run->accuracy / v->worst));
    goto done;
  }
  MBG_TRY(mbg_run_error(ctx, trial, MBG_METHOD_AUTO, true));
  for (int k = 0; k < run->m->ncriterion; k++) {
    const mbg_step_error *s = mbg_run_get_error(trial, k);
    if (!s) {
      continue;
    }
    v->worst = fmax(v->worst, fmax(isnan(s->value_relative) ? INFINITY : s->value_relative,
                                   isnan(s->gradient_relative) ? INFINITY : s->gradient_relative));
    v->regular = v->regular && s->regular;
  }
  v->next = mbg_run_step_for(trial, -1, run->accuracy);
done:
  return err;
}

static void take_step(mbg_run *run, double step) {
  if (mbg_run_controlled(run)) {
    const double ratio = run->plan.absolute / run->plan.relative;
    run->plan.relative = fmax(step, 1e-13);
    run->plan.absolute = ratio * run->plan.relative;
  } else {
    run->plan.step = step;
  }
}

/* One trial: done, or the step of the next one in *step. A trial that fails needs shorter steps. */
static int try_step(mbg_context *ctx, mbg_run *run, double *step, bool *done, verdict *v, bool *shrunk) {
  const int mark = mbg__message_mark(ctx);
  mbg_run *trial = NULL;
  int err = mbg__run_refined(ctx, run, 1, &trial);
  *v = (verdict){.worst = INFINITY, .next = NAN, .signal = -1};
  if (err == MBG_OK) {
    err = judge(ctx, run, trial, v);
  }
  mbg_run_destroy(trial);
  if (err == MBG_ERROR_MEMORY || err == MBG_ERROR_INTERRUPTED || err == MBG_ERROR_INPUT) {
    return err;
  }
  mbg__message_rewind(ctx, mark);
  const bool met = v->regular && v->worst <= run->accuracy;
  *done = met && (*shrunk || v->worst > 0.1 * run->accuracy || mbg_run_controlled(run));
  if (!*done) {
    const double wanted = isfinite(v->next) ? v->next : met ? 4 * *step : *step / 8;
    *shrunk = *shrunk || !met;
    *step *= met ? fmin(fmax(wanted / *step, 1.2), 4) : fmin(fmax(wanted / *step, 1.0 / 16), 0.5);
  }
  return MBG_OK;
}

/* how the search has ended: with the step `best`, and what it showed */
static void conclude(mbg_context *ctx, const mbg_run *run, double best, const verdict *v, bool stalls) {
  const bool controlled = mbg_run_controlled(run);
  const char *name = v->signal >= 0 ? run->m->signals[v->signal].name : NULL;
  if (v->worst <= run->accuracy) {
    mbg__note(ctx, MBG_NOTE, "accuracy %g: %s %.3g (estimated error %.2g)", run->accuracy,
              controlled ? "tolerance" : "steps of", best, v->worst);
    return;
  }
  mbg__note(ctx, MBG_WARNING, "the accuracy %g is not reached: with %s %.3g the estimated error is %.2g", run->accuracy,
            controlled ? "the tolerance" : "steps of", best, v->worst);
  if (name) {
    mbg__note(ctx, MBG_NOTE, "signal '%s', whose values stay within %.2g of 0, has this error%s", name, v->size,
              stalls ? "; shorter steps do not lower it, and the search has ended: leave the signal out, or give a step"
                     : "");
  }
}

int mbg__run_find_step(mbg_context *ctx, mbg_run *run) {
  const double span = run->plan.t1 - run->plan.t0;
  double step = mbg_run_step(run), best = NAN, before = INFINITY;
  verdict v, least = {.worst = INFINITY, .signal = -1};
  bool done = false, shrunk = false;
  int err = MBG_OK, stalls = 0;
  if (run->given_state || (run->m->ncriterion == 0 && run->nused == 0)) {
    err =
        mbg__fail(ctx, MBG_ERROR_INPUT, "no step can be found for an accuracy: %s; give a step",
                  run->given_state ? "the run starts from a given state" : "the model has no criteria and no signals");
    goto done;
  }
  for (int i = 0; i < TRIALS && !done && stalls < STALLS; i++) {
    const double now = step;
    take_step(run, now);
    MBG_TRY(try_step(ctx, run, &step, &done, &v, &shrunk));
    if (v.worst <= least.worst || done) {
      least = v;
      best = now;
    }
    stalls = v.signal >= 0 && step < now && v.worst > stalled * before ? stalls + 1 : 0;
    before = v.worst;
    if (!mbg_run_controlled(run)) {
      step = fmin(step, span / 4);
      if (step == now || span / step > steps_most) {
        break;
      }
    } else if (now <= 1e-13) {
      break;
    }
  }
  take_step(run, best);
  if (!(least.worst < INFINITY)) {
    err = mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "no step down to %.2g lets the run reach its end", step);
    goto done;
  }
  conclude(ctx, run, best, &least, stalls >= STALLS);
done:
  return err;
}
