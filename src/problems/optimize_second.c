/* Second derivatives of the Lagrangian by the unknowns (theory 9): one product for each load case.

     L = factor f + sum_i lambda_i c_i,   p = p(x):   L_xx d = p_x^T L_pp (p_x d) + L_p p_xx d */
#include "problems/optimize.h"

#include <string.h>

int mbg__optimize_check_second(mbg_context *ctx, const mbg_optimize *opt) {
  if (opt->task->robust > 0) {
    return mbg__fail(
        ctx, MBG_ERROR_UNSUPPORTED,
        "a robust objective has first derivatives only: second ones would need third ones of the criterion");
  }
  for (int i = 0; i < opt->nlimit; i++) {
    if (opt->limit[i].aggregated) {
      return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                       "the limit of '%s' is aggregated and has no second derivatives here; leave out \"aggregate\", "
                       "or take the optimizer ipopt or mma",
                       opt->limit[i].shown.name);
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- terms of the Lagrangian */

static int take_memory(mbg_context *ctx, mbg_optimize *opt) {
  for (int k = 0; k < opt->ncase && !opt->load[k].term; k++) {
    mbg__case *c = &opt->load[k];
    c->weight = MBG_TAKE(&opt->arena, double, c->model->ncriterion + 1);
    c->along = MBG_TAKE(&opt->arena, double, opt->np + 1);
    c->by_p = MBG_TAKE(&opt->arena, double, opt->np + 1);
    c->product = MBG_TAKE(&opt->arena, double, opt->np + 1);
    c->term = MBG_TAKE(&opt->arena, mbg__gradient_row, opt->nlimit + 1);
  }
  for (int i = 0; i < opt->nlimit; i++) {
    mbg__limit *l = &opt->limit[i];
    l->pull = l->path && !l->pull ? MBG_TAKE(&opt->arena, double, l->npoint + 1) : l->pull;
  }
  return mbg__arena_check(ctx, &opt->arena);
}

static void add_limit(mbg_optimize *opt, mbg__limit *l, const double *lambda) {
  mbg__case *c = &opt->load[l->load];
  const double factor = (l->side ? l->side : 1) / l->scale;
  if (!l->path) {
    c->weight[l->of->criterion] += factor * lambda[l->row];
    return;
  }
  for (int k = 0; k < l->nlisted; k++) {
    l->pull[k] = factor * lambda[l->row + k];
  }
  if (l->nlisted > 0) {
    c->term[c->nterm++] = (mbg__gradient_row){.criterion = l->of->criterion,
                                              .npoint = l->nlisted,
                                              .point = l->listed,
                                              .weight = l->pull,
                                              .attributes = c->by_a};
  }
}

/* in the order of the rows of J: objectives of the worst case, then limits */
static void list_terms(mbg_optimize *opt, double factor, const double *lambda) {
  int row = 0;
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    memset(c->weight, 0, (size_t)c->model->ncriterion * sizeof(double));
    c->term[0] = (mbg__gradient_row){.criterion = -1, .weight = c->weight, .attributes = c->by_a};
    c->nterm = 1;
    if (c->objective >= 0) {
      c->weight[c->objective] = (opt->task->worst ? lambda[row++] : factor) * c->shown.weight / opt->f_scale;
    }
  }
  for (int i = 0; i < opt->nlimit; i++) {
    if (opt->limit[i].load >= 0) {
      add_limit(opt, &opt->limit[i], lambda);
    }
  }
}

/* ---------------------------------------------------------------------- products */

static void multiply_case(mbg__case *c) {
  c->status = mbg__case_simulated(c);
  if (c->status == MBG_OK && !c->second) {
    c->status = mbg_hessian_create(c->ctx, c->run, &c->second);
  }
  if (c->status == MBG_OK) {
    c->status = mbg__hessian_rows(c->ctx, c->second, c->nterm, c->term, c->along, c->by_p, c->product, c->by_a);
  }
}

static void product_results(mbg__case *c, mbg__parcel *p) {
  mbg__parcel_numbers(p, (size_t)c->model->np, c->by_p);
  mbg__parcel_numbers(p, (size_t)c->model->np, c->product);
  mbg__parcel_numbers(p, c->by_a ? (size_t)c->model->na : 0, c->by_a);
}

static const mbg__stage multiplication = {multiply_case, product_results};

/* p_xx d of logarithmic scales, with what means of parameters add to L_p */
static void add_scales(const mbg_optimize *opt, const double *lambda, const double *d, double *by_p, double *Hd) {
  for (int i = 0; i < opt->nlimit; i++) {
    const mbg__limit *l = &opt->limit[i];
    if (l->load >= 0) {
      continue;
    }
    mbg__limit_mean(opt, l, by_p);
    for (int k = 0; k < opt->n; k++) {
      const double g = lambda[l->row] * (l->side ? l->side : 1) / l->scale * by_p[opt->parameter[k].index];
      Hd[k] += opt->log[k] ? g * opt->u[k] * opt->span[k] * opt->span[k] * d[k] : 0;
    }
  }
  for (int c = 0; c < opt->ncase; c++) {
    for (int k = 0; k < opt->n; k++) {
      const int p = opt->parameter[k].index;
      const double g = mbg_model_parameter_is_set(opt->load[c].model, p) ? 0 : opt->load[c].by_p[p];
      Hd[k] += opt->log[k] ? g * opt->u[k] * opt->span[k] * opt->span[k] * d[k] : 0;
    }
  }
}

/* a parameter set by the run of a case has no effect there */
static void forget_set(const mbg_optimize *opt, const mbg__case *c, double *by_p) {
  for (int i = 0; i < opt->n; i++) {
    const int p = opt->parameter[i].index;
    by_p[p] = mbg_model_parameter_is_set(c->model, p) ? 0 : by_p[p];
  }
}

static int compute(mbg_context *ctx, mbg_optimize *opt, double factor, const double *lambda, const double *d,
                   double *Hd) {
  int err = MBG_OK;
  const bool first = !opt->load[0].second;
  double *by_u = mbg__alloc_zero(ctx, (size_t)opt->n + (size_t)opt->np + 1, sizeof(double));
  if (!by_u) {
    return mbg__fail_memory(ctx);
  }
  MBG_TRY(take_memory(ctx, opt));
  list_terms(opt, factor, lambda);
  for (int k = 0; k < opt->ncase; k++) {
    mbg__optimize_push(opt, d, by_u, opt->load[k].along);
    forget_set(opt, &opt->load[k], opt->load[k].along);
  }
  MBG_TRY(mbg__optimize_evaluate_all(ctx, opt, &multiplication, first));
  memset(Hd, 0, (size_t)opt->nx * sizeof(double));
  for (int k = 0; err == MBG_OK && k < opt->ncase; k++) {
    forget_set(opt, &opt->load[k], opt->load[k].product);
    mbg__optimize_pull(opt, opt->load[k].product, by_u, 1, Hd);
  }
  if (err == MBG_OK) {
    add_scales(opt, lambda, d, by_u + opt->n, Hd);
  }
done:
  mbg__free(ctx, by_u);
  return err;
}

/* what a product depends on: x, direction, factor, multipliers */
static double *key_of(mbg_context *ctx, const mbg_optimize *opt, const double *x, double factor, const double *lambda,
                      const double *d) {
  const size_t nx = (size_t)opt->nx, m = (size_t)opt->m;
  double *key = mbg__alloc_zero(ctx, 2 * nx + 1 + m, sizeof(double));
  if (key) {
    memcpy(key, x, nx * sizeof(double));
    memcpy(key + nx, d, nx * sizeof(double));
    key[2 * nx] = factor;
    if (lambda && m > 0) {
      memcpy(key + 2 * nx + 1, lambda, m * sizeof(double));
    }
  }
  return key;
}

int mbg__optimize_product(mbg_context *ctx, mbg_optimize *opt, const double *x, double factor, const double *lambda,
                          const double *d, double *Hd) {
  const int count = 2 * opt->nx + 1 + opt->m;
  int err = MBG_OK, status = MBG_OK;
  bool found;
  double *key = key_of(ctx, opt, x, factor, lambda, d);
  MBG_TRY(key ? MBG_OK : mbg__fail_memory(ctx));
  MBG_TRY(status = mbg__optimize_values(ctx, opt, x));
  if (status > 0) {
    goto done;
  }
  MBG_TRY(mbg__work_recorded(ctx, &opt->work, 'p', count, key, opt->nx, Hd, &status, &found));
  if (!found) {
    MBG_TRY(status = compute(ctx, opt, factor, lambda, d, Hd));
    MBG_TRY(mbg__work_add_record(ctx, &opt->work, 'p', count, key, opt->nx, Hd, status));
  }
done:
  mbg__free(ctx, key);
  return err < 0 ? err : status;
}
