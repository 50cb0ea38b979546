#include "trajectory/steps.h"

#include <float.h>
#include <string.h>

/* ---------------------------------------------------------------------- fixed steps */

int mbg__plan_break_after(const mbg__run_plan *p, double t) {
  int low = 0, high = p->nbreak;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (p->breaks[middle] > t) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

double mbg__plan_next_break(const mbg__run_plan *p, double t) {
  const double slack = 1e-9 * (p->t1 - p->t0);
  const int next = mbg__plan_break_after(p, t + slack);
  return next < p->nbreak && p->breaks[next] < p->t1 - slack ? p->breaks[next] : p->t1;
}

int mbg__plan_grid(mbg_context *ctx, const mbg__run_plan *p, double *h, int *nstep) {
  double t = p->t0;
  *nstep = 0;
  while (t < p->t1) {
    const double end = mbg__plan_next_break(p, t), refine = p->refine > 0 ? p->refine : 1;
    const double n = ceil(refine * ceil((end - t) / p->step * (1 - 1e-9)));
    if (!(n + *nstep <= MBG__STEPS_MAX)) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "a step of %g from t = %g to %g gives more than %d steps", p->step, p->t0,
                       p->t1, MBG__STEPS_MAX);
    }
    for (int i = 1; h && i <= (int)n; i++) {
      h[*nstep + i] = (end - t) / n;
    }
    *nstep += (int)n;
    t = end;
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- interruption */

bool mbg__plan_interrupted(const mbg__run_plan *p) {
  return (p->stopped && *p->stopped) || (p->interrupt && p->interrupt(p->user) != 0);
}

int mbg__plan_check_interrupt(mbg_context *ctx, const mbg__run_plan *p, double t) {
  return mbg__plan_interrupted(p)
             ? mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "the gradient was interrupted at t = %g", mbg__time_shown(t))
             : MBG_OK;
}

/* ---------------------------------------------------------------------- steps under error control */

int mbg__plan_thin_breaks(mbg_context *ctx, mbg__arena *arena, mbg__run_plan *p) {
  const double slack = 1e-12 * (p->t1 - p->t0);
  double *t = MBG_TAKE(arena, double, p->nbreak + 1);
  int n = 0;
  if (!t) {
    return mbg__arena_check(ctx, arena);
  }
  for (int i = 0; i < p->nbreak; i++) {
    const double b = p->breaks[i];
    if (b > p->t0 + slack && b < p->t1 - slack && (n == 0 || b > t[n - 1] + slack)) {
      t[n++] = b;
    }
  }
  p->breaks = t;
  p->nbreak = n;
  return MBG_OK;
}

int mbg__plan_check_tolerances(mbg_context *ctx, const mbg__run_plan *p) {
  if (!(p->step > 0) && !(p->relative >= 100 * DBL_EPSILON)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "relative tolerance %g: doubles cannot give less than %.2g, and 1e-13 is as far as it pays",
                     p->relative, 100 * DBL_EPSILON);
  }
  if (!(p->absolute >= 0) || !(p->relative < 1) || !isfinite(p->absolute)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "tolerances %g (relative) and %g (absolute): must be below 1 and positive",
                     p->relative, p->absolute);
  }
  return MBG_OK;
}

int mbg__plan_integrator(mbg_context *ctx, const mbg__run_plan *p, const char *key, const mbg__rk_method **method) {
  char words[100], known[200];
  const char *word[16];
  mbg__format(words, sizeof(words), "%s", p->integrators);
  const int n = mbg__split(words, word, MBG_COUNT(word));
  for (int i = 0; i < n; i++) {
    if (strcmp(key, word[i]) != 0) {
      continue;
    }
    *method = mbg__rk_find(key);
    return *method && (*method)->error_order == 0 && !(p->step > 0)
               ? mbg__fail(ctx, MBG_ERROR_INPUT, "integrator '%s' has no error control: it needs a step", key)
               : MBG_OK;
  }
  mbg__known(known, sizeof(known), key, word, n);
  return mbg__fail(ctx, MBG_ERROR_INPUT, "formulation '%s' has no integrator '%s'%s", p->formulation, key, known);
}
