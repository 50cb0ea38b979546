/* Robust designs: psi + k s instead of psi, with the deviation s that scattering parameters give psi to first order
   (theory 9, section 7).

     s = sqrt(g.C g),   grad s = H C g / s: one product with second derivatives

   The mean to second order would need third derivatives. */
#include "problems/optimize.h"

/* s, and C g / s */
static int scatter(mbg__case *c) {
  const mbg__gradient_row row = {.criterion = c->objective};
  double sum = 0;
  const int err = mbg__run_gradient_rows(c->ctx, c->run, MBG_METHOD_ADJOINT, 1, &row, c->toward, NULL);
  for (int i = 0; err == MBG_OK && i < c->model->np; i++) {
    const double deviation = mbg_model_parameter_is_set(c->model, i) ? 0 : mbg_model_parameter_deviation(c->model, i);
    sum += deviation * deviation * c->toward[i] * c->toward[i];
    c->toward[i] *= deviation * deviation;
  }
  c->deviation = sqrt(sum);
  for (int i = 0; err == MBG_OK && i < c->model->np; i++) {
    c->toward[i] = sum > 0 ? c->toward[i] / c->deviation : 0;
  }
  return err;
}

int mbg__case_scatter(mbg__case *c, double *value) {
  const int err = scatter(c);
  *value += err == MBG_OK ? c->robust * c->deviation : 0;
  return err;
}

int mbg__case_add_scatter(mbg__case *c, double *gradient) {
  const mbg__gradient_row row = {.criterion = c->objective};
  double *product = mbg__alloc(c->ctx, (size_t)c->model->np + 1, sizeof(double));
  int err = product ? MBG_OK : mbg__fail_memory(c->ctx);
  MBG_TRY(err);
  MBG_TRY(scatter(c));
  if (!c->second) {
    MBG_TRY(mbg_hessian_create(c->ctx, c->run, &c->second));
  }
  MBG_TRY(mbg__hessian_rows(c->ctx, c->second, 1, &row, c->toward, NULL, product, NULL));
  for (int i = 0; i < c->model->np; i++) {
    gradient[i] += c->robust * product[i];
  }
done:
  mbg__free(c->ctx, product);
  return err;
}

static bool scatters(const mbg_model *m) {
  for (int i = 0; i < m->np; i++) {
    if (mbg_model_parameter_deviation(m, i) > 0) {
      return true;
    }
  }
  return false;
}

int mbg__optimize_make_robust(mbg_context *ctx, mbg_optimize *opt) {
  if (!(opt->task->robust > 0)) {
    return MBG_OK;
  }
  if (!scatters(opt->models[0])) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "%s: optimize: robust: no parameter scatters; give parameters a \"deviation\"",
                     mbg_model_file(opt->model));
  }
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    c->robust = c->objective >= 0 ? opt->task->robust : 0;
    c->toward = MBG_TAKE(&opt->arena, double, c->model->np + 1);
  }
  opt->squares = false;
  return mbg__arena_check(ctx, &opt->arena);
}
