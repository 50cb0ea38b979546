#include "twin/twin_rk.h"
#include "integrators/rk.h"

int twin_rk_integrate(const char *method, int n, twin_rk_rhs rhs, void *user, double t0, double t1, double tolerance,
                      int nstep, const double *t, real *y, long *steps) {
  int err = MBG_OK;
  mbg_context *ctx = NULL;
  mbg__rk *rk = NULL;
  mbg__rk_options opt = mbg__rk_options_default();
  opt.rtol = opt.atol = tolerance;
  const mbg__rk_run run = {.rhs = rhs, .user = user, .t0 = t0, .t1 = t1, .nfrozen = nstep, .frozen = t};
  MBG_TRY(mbg_context_create(NULL, &ctx));
  MBG_TRY(mbg__rk_create(ctx, n, mbg__rk_find(method), &opt, &rk));
  MBG_TRY(mbg__rk_integrate(ctx, rk, &run, y, NULL));
  if (steps) {
    *steps = mbg__rk_count(rk)->steps;
  }
done:
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
  return err;
}
