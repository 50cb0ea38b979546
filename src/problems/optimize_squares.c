/* Sums of squares: the Hessian by Gauss and Newton. */
#include "problems/optimize.h"

#include <string.h>

/* ---------------------------------------------------------------------- one case */

/* The Hessian of 1/2 sum_s weight_s (y(t_s) - value_s)^2 without second derivatives of y, from dy/dp at the nodes. */
typedef struct {
  mbg__case *c;
  int np, column, next;
  double *before; /* dy at the node before (np) */
  double *dy;
} squares;

static int square_node(void *user, int node, const double *dy) {
  squares *s = user;
  const mbg__criteria *criteria = mbg__run_criteria_of(s->c->run);
  const size_t np = (size_t)s->np;
  const double *own = dy + (size_t)s->column * np;
  for (; s->next < mbg__criteria_samples(criteria, s->c->objective); s->next++) {
    const mbg__criteria_sample at = mbg__criteria_sample_at(criteria, s->c->objective, s->next);
    const bool here = at.node == node && at.s == 0;
    if (!here && at.node >= node) {
      break;
    }
    for (size_t i = 0; i < np; i++) {
      s->dy[i] = here ? own[i] : (1 - at.s) * s->before[i] + at.s * own[i];
    }
    for (size_t i = 0; i < np; i++) {
      for (size_t k = 0; k < np; k++) {
        s->c->hessian[i * np + k] += at.weight * s->dy[i] * s->dy[k];
      }
    }
  }
  memcpy(s->before, own, np * sizeof(double));
  return MBG_OK;
}

static void square_case(mbg__case *c) {
  const int np = c->model->np;
  squares s = {.c = c, .np = np};
  memset(c->hessian, 0, (size_t)np * (size_t)np * sizeof(double));
  c->status = mbg__case_simulated(c);
  if (c->status != MBG_OK || c->objective < 0) {
    return;
  }
  s.column = mbg__criteria_column(mbg__run_criteria_of(c->run), c->objective);
  s.before = mbg__alloc_zero(c->ctx, 2 * (size_t)np + 1, sizeof(double));
  s.dy = s.before + np;
  c->status = s.before ? mbg_run_history(c->ctx, c->run, square_node, &s) : mbg__fail_memory(c->ctx);
  mbg__free(c->ctx, s.before);
}

static void square_results(mbg__case *c, mbg__parcel *p) {
  mbg__parcel_numbers(p, (size_t)c->model->np * (size_t)c->model->np, c->hessian);
}

static const mbg__stage squaring = {square_case, square_results};

/* ---------------------------------------------------------------------- all cases */

/* H_x = sum_c weight chain^T H_p chain / f_scale; filters are refused together with it */
static int compute_hessian(mbg_context *ctx, mbg_optimize *opt, double *H) {
  const size_t np = (size_t)opt->np, nx = (size_t)opt->nx;
  int err = MBG_OK;
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    c->hessian = c->hessian ? c->hessian : MBG_TAKE(&opt->arena, double, np *np + 1);
    if (!c->hessian) {
      return mbg__fail_memory(ctx);
    }
  }
  MBG_TRY(mbg__optimize_evaluate_all(ctx, opt, &squaring, false));
  memset(H, 0, nx * nx * sizeof(double));
  for (int k = 0; err == MBG_OK && k < opt->ncase; k++) {
    const mbg__case *c = &opt->load[k];
    for (int i = 0; c->objective >= 0 && i < opt->n; i++) {
      for (int j = 0; j < opt->n; j++) {
        const int a = opt->parameter[i].index, b = opt->parameter[j].index;
        const bool fixed = mbg_model_parameter_is_set(c->model, a) || mbg_model_parameter_is_set(c->model, b);
        H[(size_t)i * nx + (size_t)j] += fixed ? 0
                                               : c->shown.weight / opt->f_scale * opt->chain[i] * opt->chain[j] *
                                                     c->hessian[(size_t)a * np + (size_t)b];
      }
    }
  }
done:
  return err;
}

int mbg__optimize_hessian(mbg_context *ctx, mbg_optimize *opt, const double *x, double *H) {
  const int nx = opt->nx;
  int err = MBG_OK, status = MBG_OK;
  bool found;
  MBG_TRY(mbg__work_recorded(ctx, &opt->work, 'h', nx, x, nx * nx, H, &status, &found));
  if (!found) {
    status = compute_hessian(ctx, opt, H);
    MBG_TRY(status);
    MBG_TRY(mbg__work_add_record(ctx, &opt->work, 'h', nx, x, nx * nx, H, status));
  }
  return status;
done:
  return err;
}
