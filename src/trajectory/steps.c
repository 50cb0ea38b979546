#include "trajectory/steps.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- fixed steps */

double mbg__plan_next_break(const mbg__run_plan *p, double t) {
  const double slack = 1e-9 * (p->t1 - p->t0);
  double next = p->t1;
  for (int i = 0; i < p->nbreak; i++) {
    if (p->breaks[i] > t + slack && p->breaks[i] < next - slack) {
      next = p->breaks[i];
    }
  }
  return next;
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

bool mbg__plan_interrupted(const mbg__run_plan *p) { return p->interrupt && p->interrupt(p->user) != 0; }

int mbg__plan_check_interrupt(mbg_context *ctx, const mbg__run_plan *p, double t) {
  return mbg__plan_interrupted(p)
             ? mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "the gradient was interrupted at t = %g", mbg__time_shown(t))
             : MBG_OK;
}

/* ---------------------------------------------------------------------- steps under error control */

static int by_time(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

int mbg__plan_sort_breaks(mbg_context *ctx, mbg__arena *arena, mbg__run_plan *p) {
  const double slack = 1e-12 * (p->t1 - p->t0);
  double *t = MBG_TAKE(arena, double, p->nbreak + 1);
  int n = 0;
  if (!t) {
    return mbg__arena_check(ctx, arena);
  }
  if (p->nbreak > 0) {
    memcpy(t, p->breaks, (size_t)p->nbreak * sizeof(double));
    qsort(t, (size_t)p->nbreak, sizeof(double), by_time);
  }
  for (int i = 0; i < p->nbreak; i++) {
    if (t[i] > p->t0 + slack && t[i] < p->t1 - slack && (n == 0 || t[i] > t[n - 1] + slack)) {
      t[n++] = t[i];
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
