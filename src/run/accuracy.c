/* Steps for a given accuracy: trial runs with estimated errors until the estimate is small enough. */
#include "run/run_internal.h"

enum { TRIALS = 14 };
static const double steps_most = 2e7;

/* Without criteria: largest error of the signals at common nodes, in parts of their largest values (order 2). */
static int signals_error(mbg_context *ctx, const mbg_run *trial, double *worst) {
  mbg_run *fine = NULL;
  const int err = mbg__run_refined(ctx, trial, 2, &fine);
  *worst = 0;
  if (err < 0) {
    return err;
  }
  const mbg__nodes *a = &trial->nodes, *b = &fine->nodes;
  const bool nested = b->nnode == 2 * a->nnode - 1;
  for (int k = 0; k < trial->nused; k++) {
    double size = 0, far = 0;
    for (int i = 0; i < a->nnode; i++) {
      const int j = nested ? 2 * i : b->nnode - 1;
      const double x = re(a->y[(size_t)i * (size_t)(a->nused + a->npose) + (size_t)k]);
      size = fmax(size, fabs(x));
      if (nested || i == a->nnode - 1) {
        far = fmax(far, fabs(x - re(b->y[(size_t)j * (size_t)(b->nused + b->npose) + (size_t)k])));
      }
    }
    *worst = fmax(*worst, far > 0 ? 4.0 / 3 * far / size : 0);
  }
  mbg_run_destroy(fine);
  return MBG_OK;
}

/* the largest error of a trial, whether it can be trusted, and the step that would meet the accuracy */
static int judge(mbg_context *ctx, const mbg_run *run, mbg_run *trial, double *worst, bool *regular, double *next) {
  const double h = mbg_run_step(trial);
  int err = MBG_OK;
  *worst = 0;
  *regular = true;
  if (run->m->ncriterion == 0) {
    MBG_TRY(signals_error(ctx, trial, worst));
    *next = h * (mbg_run_controlled(trial) ? 0.8 * run->accuracy / *worst : sqrt(0.8 * run->accuracy / *worst));
    goto done;
  }
  MBG_TRY(mbg_run_error(ctx, trial, MBG_METHOD_AUTO, true));
  for (int k = 0; k < run->m->ncriterion; k++) {
    const mbg_step_error *s = mbg_run_get_error(trial, k);
    if (!s) {
      continue;
    }
    *worst = fmax(*worst, fmax(isnan(s->value_relative) ? INFINITY : s->value_relative,
                               isnan(s->gradient_relative) ? INFINITY : s->gradient_relative));
    *regular = *regular && s->regular;
  }
  *next = mbg_run_step_for(trial, -1, run->accuracy);
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
static int try_step(mbg_context *ctx, mbg_run *run, double *step, bool *done, double *worst, bool *shrunk) {
  const int mark = mbg__message_mark(ctx);
  mbg_run *trial = NULL;
  bool regular = false;
  double next = NAN;
  int err = mbg__run_refined(ctx, run, 1, &trial);
  *worst = INFINITY;
  if (err == MBG_OK) {
    err = judge(ctx, run, trial, worst, &regular, &next);
  }
  mbg_run_destroy(trial);
  if (err == MBG_ERROR_MEMORY || err == MBG_ERROR_INTERRUPTED || err == MBG_ERROR_INPUT) {
    return err;
  }
  mbg__message_rewind(ctx, mark);
  const bool met = regular && *worst <= run->accuracy;
  *done = met && (*shrunk || *worst > 0.1 * run->accuracy || mbg_run_controlled(run));
  if (!*done) {
    const double wanted = isfinite(next) ? next : met ? 4 * *step : *step / 8;
    *shrunk = *shrunk || !met;
    *step *= met ? fmin(fmax(wanted / *step, 1.2), 4) : fmin(fmax(wanted / *step, 1.0 / 16), 0.5);
  }
  return MBG_OK;
}

int mbg__run_find_step(mbg_context *ctx, mbg_run *run) {
  const double span = run->plan.t1 - run->plan.t0;
  double step = mbg_run_step(run), worst = INFINITY, best = NAN, best_worst = INFINITY;
  bool done = false, shrunk = false;
  int err = MBG_OK;
  if (run->given_state || (run->m->ncriterion == 0 && run->nused == 0)) {
    err =
        mbg__fail(ctx, MBG_ERROR_INPUT, "no step can be found for an accuracy: %s; give a step",
                  run->given_state ? "the run starts from a given state" : "the model has no criteria and no signals");
    goto done;
  }
  for (int i = 0; i < TRIALS && !done; i++) {
    const double now = step;
    take_step(run, now);
    MBG_TRY(try_step(ctx, run, &step, &done, &worst, &shrunk));
    if (worst <= best_worst || done) {
      best_worst = worst;
      best = now;
    }
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
  if (!(best_worst < INFINITY)) {
    err = mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "no step down to %.2g lets the run reach its end", step);
  } else if (best_worst > run->accuracy) {
    mbg__note(ctx, MBG_WARNING, "the accuracy %g is not reached: with %s %.3g the estimated error is %.2g",
              run->accuracy, mbg_run_controlled(run) ? "the tolerance" : "steps of", best, best_worst);
  } else {
    mbg__note(ctx, MBG_NOTE, "accuracy %g: %s %.3g (estimated error %.2g)", run->accuracy,
              mbg_run_controlled(run) ? "tolerance" : "steps of", best, best_worst);
  }
done:
  return err;
}
