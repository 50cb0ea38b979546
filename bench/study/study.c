#include "bench/study/study_internal.h"

#include "run/run.h"

#include <string.h>

/* ---------------------------------------------------------------------- the adjoint's products from a matrix */

/* column k of J against the duals: mu of v*, rho of a, lb of lambda */
static double against(const study *s, const double *column, const double *mu, const double *rho, const double *lb) {
  const mbg_model *m = s->w->m;
  const mbg__rank *rank = mbg__start_result_of(s->w->start)->rank;
  double sum = 0;
  for (int i = 0; i < s->n; i++) {
    sum += column[i] * mu[m->full[i]] + column[s->n + i] * rho[m->full[i]];
  }
  for (int i = 0; lb && i < s->r; i++) {
    sum += column[2 * s->n + i] * lb[rank->kept[i]];
  }
  return sum;
}

static int fill(mbg_context *ctx, study *s) {
  const bool differences = s->kind == STUDY_DIFFERENCES || s->kind == STUDY_CENTRAL;
  return differences ? study_differences(ctx, s) : study_factors(ctx, s);
}

/* in place of mbg__qr_point_pull; derivatives by attributes stay products, as in the paper */
static int pull(void *user, mbg_context *ctx, int ncol, const double *mu, const double *rho, const double *lb,
                double *gw, double *gv, double *ga) {
  study *s = user;
  const mbg_model *m = s->w->m;
  const size_t nw = (size_t)m->nw, height = 2 * (size_t)s->n + (size_t)s->r;
  int err = MBG_OK;
  MBG_TRY(mbg__qr_point_pull(ctx, s->w->flow->point, ncol, mu, rho, lb, NULL, NULL, ga));
  MBG_TRY(fill(ctx, s));
  for (size_t c = 0; c < (size_t)ncol; c++) {
    const double *own = lb ? lb + c * (size_t)m->nrow : NULL;
    for (int k = 0; k < s->n; k++) {
      const double *by_frame = s->J + (size_t)k * height, *by_twist = by_frame + (size_t)s->n * height;
      gw[c * nw + (size_t)m->full[k]] += against(s, by_frame, mu + c * nw, rho + c * nw, own);
      gv[c * nw + (size_t)m->full[k]] += against(s, by_twist, mu + c * nw, rho + c * nw, own);
    }
  }
done:
  return err;
}

void study_choose(study *s, study_kind kind, double perturbation) {
  s->kind = kind;
  s->perturbation = perturbation;
  s->w->pull = kind == STUDY_PRODUCTS ? NULL : pull;
  s->w->pull_user = s;
  s->evaluations = 0;
  s->w->flow->evaluations = 0;
}

/* ---------------------------------------------------------------------- differences */

/* (v*, a, lambda) of the other point at the flow's time with frames and twists of the study */
static int evaluate(mbg_context *ctx, study *s, double *out) {
  const mbg__qr_flow *f = s->w->flow;
  const mbg__rank *rank = mbg__start_result_of(s->w->start)->rank;
  const double *v_star, *a;
  const int err = mbg__qr_point_eval(ctx, s->other, f->t, s->H, s->v, f->turns, &v_star, &a);
  if (err < 0) {
    return err;
  }
  s->evaluations++;
  for (int i = 0; i < s->n; i++) {
    out[i] = v_star[f->m->full[i]];
    out[s->n + i] = a[f->m->full[i]];
  }
  for (int i = 0; i < s->r; i++) {
    out[2 * s->n + i] = mbg__qr_point_lambda(s->other)[rank->kept[i]];
  }
  return MBG_OK;
}

static void read_base(study *s) {
  const mbg__qr_flow *f = s->w->flow;
  const mbg__rank *rank = mbg__start_result_of(s->w->start)->rank;
  for (int i = 0; i < s->n; i++) {
    s->base[i] = f->v_star[f->m->full[i]];
    s->base[s->n + i] = f->a[f->m->full[i]];
  }
  for (int i = 0; i < s->r; i++) {
    s->base[2 * s->n + i] = mbg__qr_point_lambda(f->point)[rank->kept[i]];
  }
}

/* at H exp(eps e_k) of one body, or v + eps e_k */
static int evaluate_beside(mbg_context *ctx, study *s, int k, double eps, double *out) {
  const mbg__qr_flow *f = s->w->flow;
  const int full = f->m->full[k % s->n], body = full / 6;
  if (k < s->n) {
    double e[6] = {0};
    e[full % 6] = eps;
    mbg__se3_retract(&s->H[body], &f->H[body], e);
  } else {
    s->v[full] = f->v[full] + eps;
  }
  const int err = evaluate(ctx, s, out);
  s->H[body] = f->H[body];
  s->v[full] = f->v[full];
  return err;
}

static int difference(mbg_context *ctx, study *s, int k, double *column) {
  const bool central = s->kind == STUDY_CENTRAL;
  int err = MBG_OK;
  MBG_TRY(evaluate_beside(ctx, s, k, s->perturbation, column));
  if (central) {
    MBG_TRY(evaluate_beside(ctx, s, k, -s->perturbation, s->base));
  }
  for (int i = 0; i < 2 * s->n + s->r; i++) {
    column[i] = (column[i] - s->base[i]) / (central ? 2 * s->perturbation : s->perturbation);
  }
done:
  return err;
}

int study_differences(mbg_context *ctx, study *s) {
  const mbg__qr_flow *f = s->w->flow;
  int err = MBG_OK;
  memcpy(s->H, f->H, (size_t)f->m->nbody * sizeof(*s->H));
  memcpy(s->v, f->v, (size_t)f->m->nw * sizeof(double));
  read_base(s);
  for (int k = 0; k < 2 * s->n; k++) {
    MBG_TRY(difference(ctx, s, k, s->J + (size_t)k * (size_t)(2 * s->n + s->r)));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- creation */

static int take(mbg_context *ctx, study *s) {
  const mbg_model *m = s->w->m;
  const size_t height = 2 * (size_t)s->n + (size_t)s->r;
  s->H = MBG_TAKE(&s->arena, mbg__frame, m->nbody);
  s->v = MBG_TAKE(&s->arena, double, m->nw);
  s->J = MBG_TAKE(&s->arena, double, 2 * (size_t)s->n * height);
  s->base = MBG_TAKE(&s->arena, double, height);
  return s->H && s->v && s->J && s->base ? study_factors_prepare(ctx, s) : mbg__fail_memory(ctx);
}

int study_open(mbg_context *ctx, const mbg_model *model, const double *p, const mbg_run_options *options, study **out) {
  mbg_run_options own = *options;
  int err = MBG_OK;
  study *s = mbg__alloc_zero(ctx, 1, sizeof(*s));
  *out = NULL;
  if (!s) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  s->allocator = *mbg__context_allocator(ctx);
  own.formulation = "qr";
  own.integrator = "dop853";
  MBG_TRY(mbg_run_create(ctx, model, &own, &s->run));
  MBG_TRY(mbg_run_set_parameters(ctx, s->run, p));
  MBG_TRY(mbg_run_simulate(ctx, s->run));
  if (mbg_run_partial(s->run)) {
    err = mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "interrupted");
    goto done;
  }
  s->w = mbg__run_work(s->run);
  const mbg__rank *rank = mbg__start_result_of(s->w->start)->rank;
  s->n = model->nv;
  s->r = rank->nkept;
  s->f = s->n - s->r;
  MBG_TRY(mbg__qr_point_create(ctx, &s->arena, s->w->flow->sys, rank, s->w->plan.stabilization, &s->other));
  MBG_TRY(take(ctx, s));
  study_choose(s, STUDY_PRODUCTS, 0);
done:
  if (err < 0) {
    study_close(s);
    s = NULL;
  }
  *out = s;
  return err;
}

void study_close(study *s) {
  if (!s) {
    return;
  }
  const mbg_allocator a = s->allocator;
  mbg_run_destroy(s->run);
  mbg__arena_destroy(&s->arena);
  a.release(a.user, s);
}

mbg_run *study_run(const study *s) { return s->run; }

long study_evaluations(const study *s) { return s->evaluations + s->w->flow->evaluations; }

int study_size(const study *s) { return s->n; }

/* ---------------------------------------------------------------------- the Jacobian */

/* by (T1)-(T3), one product per column */
static int push(mbg_context *ctx, study *s) {
  const mbg_model *m = s->w->m;
  const size_t nw = (size_t)m->nw, ncol = 2 * (size_t)s->n, height = ncol + (size_t)s->r;
  int err = MBG_OK;
  double *x = mbg__alloc_zero(ctx, 4 * ncol * nw, sizeof(double));
  if (!x) {
    return mbg__fail_memory(ctx);
  }
  double *w = x, *dv = w + ncol * nw, *dv_star = dv + ncol * nw, *da = dv_star + ncol * nw;
  for (size_t k = 0; k < (size_t)s->n; k++) {
    w[k * nw + (size_t)m->full[k]] = 1;
    dv[((size_t)s->n + k) * nw + (size_t)m->full[k]] = 1;
  }
  MBG_TRY(mbg__qr_point_push(ctx, s->w->flow->point, (int)ncol, w, dv, NULL, dv_star, da, NULL));
  for (size_t k = 0; k < ncol; k++) {
    for (size_t i = 0; i < (size_t)s->n; i++) {
      s->J[k * height + i] = dv_star[k * nw + (size_t)m->full[i]];
      s->J[k * height + (size_t)s->n + i] = da[k * nw + (size_t)m->full[i]];
    }
  }
done:
  mbg__free(ctx, x);
  return err;
}

int study_jacobian(mbg_context *ctx, study *s, double *J) {
  mbg__formulation_work *w = s->w;
  const size_t n2 = 2 * (size_t)s->n, height = n2 + (size_t)s->r;
  int err = MBG_OK;
  MBG_TRY(mbg__qr_flow_eval(ctx, w->flow, w->plan.t1, w->z));
  MBG_TRY(s->kind == STUDY_PRODUCTS ? push(ctx, s) : fill(ctx, s));
  for (size_t k = 0; k < n2; k++) {
    memcpy(J + k * n2, s->J + k * height, n2 * sizeof(double));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- one right-hand side */

static int end_state(void *user, double t, double *z) {
  const study *s = user;
  (void)t;
  memcpy(z, s->w->z, (size_t)s->w->flow->state.n * sizeof(double));
  return MBG_OK;
}

int study_adjoint_rates(mbg_context *ctx, study *s, int count) {
  const mbg__criterion_seeds none = {0};
  mbg__qr_continuous a;
  mbg__arena arena;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  s->w->flow->ctx = ctx;
  MBG_TRY(mbg__qr_continuous_create(ctx, &arena, s->w, 1, &none, &a));
  a.forward = end_state;
  a.user = s;
  double *y = MBG_TAKE(&arena, double, a.n), *yd = MBG_TAKE(&arena, double, a.n);
  if (!y || !yd) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int i = 0; i < a.n; i++) {
    y[i] = 1 + 0.1 * i;
  }
  for (int i = 0; err == MBG_OK && i < count; i++) {
    err = mbg__qr_continuous_rhs(&a, s->w->plan.t1, y, yd);
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
