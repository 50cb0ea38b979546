/* Second derivatives of the cost (theory 9): H = J^T J + sum_k r_k H_k. Gauss-Newton leaves the second part out, which
   is small where model and data agree. */
#include "math/dense.h"
#include "problems/identify.h"

#include <string.h>

/* errors that differ by more are said */
static const double apart = 0.2;

static double chain(const mbg_identify *id, int i, double x) { return id->log[i] ? mbg__identify_p(id, i, x) : 1; }

/* one experiment's part; x = ln p: p_x = p_xx = p. Its arrays: weights (criteria), direction, gradient, product (np) */
static int product_of(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  const double *x = id->at, *d = id->along;
  const size_t nc = (size_t)mbg_model_criterion_count(e->model), np = (size_t)id->np;
  double *weight = mbg__alloc_zero(ctx, nc + 3 * np + 1, sizeof(double)), *along = weight ? weight + nc : NULL;
  int err = weight ? MBG_OK : mbg__fail_memory(ctx);
  MBG_TRY(err);
  for (int k = e->channel; k < e->channel + e->nchannel; k++) {
    weight[id->channel[k].criterion] = 1;
  }
  for (int j = 0; j < id->n; j++) {
    const int p = id->parameter[j].index;
    along[p] = mbg_model_parameter_is_set(e->model, p) ? 0 : chain(id, j, x[j]) * d[j];
  }
  if (!e->second) {
    MBG_TRY(mbg_hessian_create(ctx, e->run, &e->second));
  }
  MBG_TRY(mbg_hessian_product(ctx, e->second, weight, along, along + np, along + 2 * np));
  for (int j = 0; j < id->n; j++) {
    const int p = id->parameter[j].index;
    const double c = mbg_model_parameter_is_set(e->model, p) ? 0 : chain(id, j, x[j]);
    e->product[j] = c * along[2 * np + (size_t)p] + (id->log[j] ? c * along[np + (size_t)p] * d[j] : 0);
  }
done:
  mbg__free(ctx, weight);
  return err;
}

static void products(mbg_identify *id, mbg__experiment *e, mbg__parcel *p) {
  mbg__parcel_numbers(p, (size_t)id->n, e->product);
}

int mbg__identify_product(mbg_context *ctx, mbg_identify *id, const double *x, const double *d, double *Hd) {
  static const mbg__fit_stage stage = {product_of, products};
  int err = MBG_OK;
  MBG_TRY(mbg__identify_simulate(ctx, id, x));
  if (err > 0) {
    return err;
  }
  id->along = d;
  MBG_TRY(mbg__identify_evaluate_all(ctx, id, &stage));
  memset(Hd, 0, (size_t)id->n * sizeof(double));
  for (int k = 0; k < id->nexperiment; k++) {
    for (int j = 0; j < id->n; j++) {
      Hd[j] += id->experiment[k].product[j];
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- standard errors */

typedef struct {
  int nf;
  int *of;   /* free and determined unknowns     (n) */
  double *H; /* over them                        (nf x nf) */
  double *d; /* unit vector, then its product    (n each) */
  real *y;   /* a column of the inverse          (nf) */
} errors;

static int matrix(mbg_context *ctx, mbg_identify *id, errors *q) {
  int err = MBG_OK;
  double *Hd = q->d + id->n;
  for (int k = 0; k < q->nf; k++) {
    q->d[q->of[k]] = 1;
    MBG_TRY(mbg__identify_product(ctx, id, id->x, q->d, Hd));
    MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : MBG_OK);
    q->d[q->of[k]] = 0;
    for (int i = 0; i < q->nf; i++) {
      q->H[i + q->nf * k] = Hd[q->of[i]];
    }
  }
done:
  return err;
}

static int compare(mbg_context *ctx, mbg_identify *id, const errors *q, mbg__cholesky *chol, double variance) {
  int err = MBG_OK;
  for (int k = 0; k < q->nf; k++) {
    mbg_identify_parameter *p = &id->parameter[q->of[k]];
    memset(q->y, 0, (size_t)q->nf * sizeof(real));
    q->y[k] = 1;
    mbg__cholesky_solve(chol, q->y, 1);
    p->hessian_error = chain(id, q->of[k], id->x[q->of[k]]) * sqrt(variance * re(q->y[k]));
    if (fabs(p->hessian_error - p->standard_error) > apart * fmin(p->hessian_error, p->standard_error)) {
      MBG_TRY(mbg__warn(ctx, &id->warnings,
                        "parameter '%s': the standard error by Gauss-Newton is %.3g, by the true Hessian %.3g: the "
                        "residuals are too large, or the model too curved, for either to be trusted",
                        p->name, p->standard_error, p->hessian_error));
    }
  }
done:
  return err;
}

int mbg__identify_true_errors(mbg_context *ctx, mbg_identify *id, double variance) {
  const size_t n = (size_t)id->n;
  errors q = {0};
  mbg__arena arena;
  mbg__cholesky chol;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  q.of = MBG_TAKE(&arena, int, n + 1);
  q.H = MBG_TAKE(&arena, double, n *n + 1);
  q.d = MBG_TAKE(&arena, double, 2 * n + 1);
  q.y = MBG_TAKE(&arena, real, n + 1);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  for (int i = 0; i < id->n; i++) {
    if (!isnan(id->parameter[i].standard_error)) {
      q.of[q.nf++] = i;
    }
  }
  MBG_TRY(mbg__cholesky_prepare(&chol, &arena, q.nf) < 0 ? mbg__fail_memory(ctx) : MBG_OK);
  MBG_TRY(matrix(ctx, id, &q));
  for (int i = 0; i < q.nf * q.nf; i++) {
    chol.A[i] = q.H[i];
  }
  err = q.nf > 0 ? mbg__cholesky_factor(&chol, NULL) : MBG_OK;
  if (err == MBG_ERROR_SINGULAR) {
    err = mbg__warn(ctx, &id->warnings,
                    "the true Hessian of the cost is not positive definite: the fit is no minimum, and has no standard "
                    "errors by it");
    goto done;
  }
  MBG_TRY(err);
  MBG_TRY(compare(ctx, id, &q, &chol, variance));
done:
  mbg__arena_destroy(&arena);
  return err;
}
