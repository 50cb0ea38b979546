/* Exact adjoint of a step. */
#include "integrators/rk_internal.h"
#include "math/vec.h"

struct mbg__rk_adjoint {
  mbg__arena arena;
  const mbg__rk_method *method;
  int n, ncol, npoint;
  real *Y, *k; /* arguments and values of the stages        (nextended x n) */
  real *g;     /* transposed products of the stages         (nextended x ncol x n) */
  real *b;     /* weight of a stage                         (ncol x n) */
  double *W;   /* weights of the stages in the points       (npoint x MBG__RK_STAGES) */
};

int mbg__rk_adjoint_create(mbg_context *ctx, int n, int ncol, int npoint, const mbg__rk_method *method,
                           mbg__rk_adjoint **out) {
  *out = NULL;
  mbg__rk_adjoint *a = mbg__alloc_zero(ctx, 1, sizeof *a);
  if (!a) {
    return mbg__fail_memory(ctx);
  }
  const size_t rows = (size_t)n * (size_t)method->nextended, columns = (size_t)n * (size_t)ncol;
  mbg__arena_init(&a->arena, mbg__context_allocator(ctx));
  a->method = method;
  a->n = n;
  a->ncol = ncol;
  a->npoint = npoint;
  a->Y = MBG_TAKE(&a->arena, real, rows);
  a->k = MBG_TAKE(&a->arena, real, rows);
  a->g = MBG_TAKE(&a->arena, real, columns * (size_t)method->nextended);
  a->b = MBG_TAKE(&a->arena, real, columns);
  a->W = MBG_TAKE(&a->arena, double, (size_t)npoint *MBG__RK_STAGES);
  if (!a->Y || !a->k || !a->g || !a->b || !a->W) {
    mbg__rk_adjoint_destroy(ctx, a);
    return mbg__fail_memory(ctx);
  }
  *out = a;
  return MBG_OK;
}

void mbg__rk_adjoint_destroy(mbg_context *ctx, mbg__rk_adjoint *a) {
  if (a) {
    mbg__arena_destroy(&a->arena);
    mbg__free(ctx, a);
  }
}

/* Y_i = y0 + h sum_j<i a_ij k_j,  k_i = f(t_i, Y_i) or known */
static int forward(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, int nstage, double t0,
                   double t1, const real *y0) {
  const mbg__rk_method *m = a->method;
  for (int i = 0; i < nstage; i++) {
    real *const Y = a->Y + (size_t)i * (size_t)a->n;
    const double t = re(mbg__rk_stage_time(m, i, t0, t1));
    mbg__rk_combine(run->pool, a->n, Y, y0, t1 - t0, i, m->A[i], run->k ? run->k : a->k);
    const int status = run->k ? 0 : run->rhs(run->user, i, t, Y, a->k + (size_t)i * (size_t)a->n);
    if (status > 0) {
      return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                       "adjoint stopped at t = %.9g: right-hand side cannot be evaluated, but was in the simulation",
                       mbg__time_shown(t));
    }
    if (status < 0) {
      return status;
    }
  }
  return MBG_OK;
}

void mbg__rk_dense_weights(const mbg__rk_method *method, double x, double W[MBG__RK_STAGES]) {
  const int s = method->nstage, n = method->nextended;
  real r[MBG__RK_DENSE * MBG__RK_STAGES] = {0}, y[MBG__RK_STAGES];
  for (int i = 0; i < n; i++) {
    /* column i: r of y = 0, h = 1 and k_i = 1 alone */
    r[n + i] = i < s ? method->A[s][i] : 0;
    r[2 * n + i] = (i == 0) - r[n + i];
    r[3 * n + i] = r[n + i] - (i == s) - r[2 * n + i];
    for (int l = 4; l < method->ndense; l++) {
      r[l * n + i] = method->d[l - 4][i];
    }
  }
  mbg__rk_interpolate(method, n, r, x, 0, n, y, NULL);
  for (int i = 0; i < n; i++) {
    W[i] = re(y[i]);
  }
}

/* points inside the step that have weights */
typedef struct {
  int n, nstage;
  const double *x;
  const real *g;
} points;

typedef struct {
  const mbg__rk_adjoint *a;
  int stage;
  double h;
  const points *p;
  real *lambda;
} weights;

enum { WEIGHT = MBG__LOOPS_RK + 8, SUM };

/* beta_i = h (b_i lambda + sum_j>i a_ji g_j + sum over points W_i g), in a->b */
static void stage_weight(void *user, int thread, int first, int end) {
  const weights *w = user;
  const mbg__rk_adjoint *a = w->a;
  const mbg__rk_method *m = a->method;
  const points *p = w->p;
  const int n = end - first, i = w->stage;
  const size_t size = (size_t)a->n * (size_t)a->ncol;
  real *b = a->b + first;
  (void)thread;
  vn_scale(n, b, i < m->nstage ? w->h * m->A[m->nstage][i] : 0, w->lambda + first);
  for (int j = i + 1; j < p->nstage; j++) {
    if (m->A[j][i] != 0) {
      vn_axpy(n, b, w->h * m->A[j][i], a->g + (size_t)j * size + first);
    }
  }
  for (int j = 0; j < p->n; j++) {
    vn_axpy(n, b, w->h * a->W[j * MBG__RK_STAGES + i], p->g + (size_t)j * size + first);
  }
}

/* lambda += all g */
static void sum_stages(void *user, int thread, int first, int end) {
  const weights *w = user;
  const size_t size = (size_t)w->a->n * (size_t)w->a->ncol;
  (void)thread;
  for (int i = w->p->nstage - 1; i >= 0; i--) {
    vn_axpy(end - first, w->lambda + first, 1, w->a->g + (size_t)i * size + first);
  }
  for (int j = 0; j < w->p->n; j++) {
    vn_axpy(end - first, w->lambda + first, 1, w->p->g + (size_t)j * size + first);
  }
}

static int step_adjoint(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, double t0, double t1,
                        const real *y0, const points *p, real *lambda) {
  int err = MBG_OK;
  const mbg__rk_method *m = a->method;
  const int size = a->n * a->ncol;
  weights w = {.a = a, .h = t1 - t0, .p = p, .lambda = lambda};
  assert(p->n <= a->npoint);
  for (int j = 0; j < p->n; j++) {
    mbg__rk_dense_weights(m, p->x[j], a->W + (size_t)j * MBG__RK_STAGES);
  }
  MBG_TRY(forward(ctx, a, run, p->nstage, t0, t1, y0));
  for (int i = p->nstage - 1; i >= 0; i--) {
    w.stage = i;
    mbg__pool_for(run->pool, WEIGHT, size, mbg__rk_piece(run->pool, size), stage_weight, &w);
    MBG_TRY(run->vjp(run->user, i, re(mbg__rk_stage_time(m, i, t0, t1)), a->Y + (size_t)i * (size_t)a->n, a->ncol, a->b,
                     a->g + (size_t)i * (size_t)size));
  }
  mbg__pool_for(run->pool, SUM, size, mbg__rk_piece(run->pool, size), sum_stages, &w);
  err = MBG_OK;
done:
  return err;
}

int mbg__rk_step_adjoint(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, double t0, double t1,
                         const real *y0, real *lambda) {
  const points none = {.nstage = a->method->nstage};
  return step_adjoint(ctx, a, run, t0, t1, y0, &none, lambda);
}

int mbg__rk_step_adjoint_dense(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, double t0,
                               double t1, const real *y0, int npoint, const double *x, const real *g, real *lambda) {
  const points p = {.n = npoint, .nstage = npoint > 0 ? a->method->nextended : a->method->nstage, .x = x, .g = g};
  return step_adjoint(ctx, a, run, t0, t1, y0, &p, lambda);
}
