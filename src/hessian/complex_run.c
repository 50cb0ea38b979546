/* Compiled for complex numbers alone: see complex_run.h. */
#include "hessian/complex_run.h"

static const double step = 1e-30; /* its square vanishes against 1 */

struct mbg__complex_run {
  mbg__arena arena;
  mbg_model model; /* with complex kernels */
  mbg_run *run;
  real *p, *g; /* (np) */
  real *ga;    /* (na) */
};

static int make(mbg_context *ctx, mbg__complex_run *r, const mbg_model *model, const mbg__kernels *kernels,
                const mbg__run_decisions *decisions) {
  int err = MBG_OK;
  MBG_TRY(mbg__kernels_exchange(ctx, &r->arena, model, kernels, &r->model));
  r->p = MBG_TAKE(&r->arena, real, model->np);
  r->g = MBG_TAKE(&r->arena, real, model->np);
  r->ga = MBG_TAKE(&r->arena, real, model->na);
  MBG_TRY(mbg__arena_check(ctx, &r->arena));
  MBG_TRY(mbg__run_repeat(ctx, &r->model, decisions, &r->run));
done:
  return err;
}

int mbg__complex_run_create(mbg_context *ctx, const mbg_model *model, const mbg__kernels *kernels,
                            const mbg__run_decisions *decisions, mbg__complex_run **out) {
  mbg__complex_run *r = mbg__alloc_zero(ctx, 1, sizeof(*r));
  *out = NULL;
  if (!r) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&r->arena, mbg__context_allocator(ctx));
  const int err = make(ctx, r, model, kernels, decisions);
  if (err < 0) {
    mbg__complex_run_destroy(r);
    return err;
  }
  *out = r;
  return MBG_OK;
}

void mbg__complex_run_destroy(mbg__complex_run *r) {
  if (!r) {
    return;
  }
  const mbg_allocator allocator = r->arena.allocator;
  mbg_run_destroy(r->run);
  mbg__arena_destroy(&r->arena);
  allocator.release(allocator.user, r);
}

int mbg__complex_run_simulate(mbg_context *ctx, mbg__complex_run *r, const double *p, const double *d) {
  int err = MBG_OK;
  for (int i = 0; i < r->model.np; i++) {
    __real__ r->p[i] = p[i];
    __imag__ r->p[i] = step * d[i];
  }
  MBG_TRY(mbg__run_set_parameters(ctx, r->run, r->p));
  MBG_TRY(mbg_run_simulate(ctx, r->run));
  if (mbg_run_partial(r->run)) {
    err = mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "the second derivative was interrupted");
  }
done:
  return err;
}

int mbg__complex_run_gradient(mbg_context *ctx, mbg__complex_run *r, int nrow, const mbg__gradient_row *rows,
                              double *gradient, double *product, double *attributes) {
  int err = MBG_OK;
  MBG_TRY(mbg__run_gradient_total(ctx, r->run, nrow, rows, r->g, attributes ? r->ga : NULL));
  for (int i = 0; i < r->model.np; i++) {
    gradient[i] = re(r->g[i]);
    product[i] = im(r->g[i]) / step;
  }
  for (int i = 0; attributes && i < r->model.na; i++) {
    attributes[i] = im(r->ga[i]) / step;
  }
done:
  return err;
}
