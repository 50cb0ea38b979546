/* Exact adjoint of a step. */
#include "integrators/rk_internal.h"
#include "math/vec.h"

struct mbg__rk_adjoint {
  mbg__arena arena;
  const mbg__rk_method *method;
  int n, ncol;
  real *Y, *k; /* arguments and values of the stages        (nextended x n) */
  real *g;     /* transposed products of the stages         (nextended x ncol x n) */
  real *b;     /* weight of a stage                         (ncol x n) */
  bool left;   /* stage 0 of the step after this one is left to its last one */
  real *carry; /* with this weight                          (ncol x n) */
  real *r;     /* cotangents of the dense output's terms    (ndense x ncol x n) */
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
  a->Y = MBG_TAKE(&a->arena, real, rows);
  a->k = MBG_TAKE(&a->arena, real, rows);
  a->g = MBG_TAKE(&a->arena, real, columns * (size_t)method->nextended);
  a->b = MBG_TAKE(&a->arena, real, columns);
  a->carry = MBG_TAKE(&a->arena, real, columns);
  a->r = MBG_TAKE(&a->arena, real, npoint > 0 ? columns * (size_t)method->ndense : 0);
  if (!a->Y || !a->k || !a->g || !a->b || !a->carry || !a->r) {
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

/* Y_i = y0 + h sum_j<i a_ij k_j,  k_i = f(t_i, Y_i) */
static int forward(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, int nstage, double t0,
                   double t1, const real *y0) {
  const mbg__rk_method *m = a->method;
  for (int i = 0; i < nstage; i++) {
    real *const Y = a->Y + (size_t)i * (size_t)a->n;
    const double t = re(mbg__rk_stage_time(m, i, t0, t1));
    mbg__rk_combine(run->pool, a->n, Y, y0, t1 - t0, i, m->A[i], a->k);
    const int status = run->rhs(run->user, i, t, Y, a->k + (size_t)i * (size_t)a->n);
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

/* the argument of stage i: after forward, or with known k */
static const real *argument(const mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, int i, double t0, double t1,
                            const real *y0) {
  const mbg__rk_method *m = a->method;
  real *const Y = a->Y + (size_t)i * (size_t)a->n;
  if (!run->k) {
    return Y;
  }
  const real *const known = i == 0          ? y0
                            : run->argument ? run->argument(run->user, i, re(mbg__rk_stage_time(m, i, t0, t1)))
                                            : NULL;
  if (!known) {
    mbg__rk_combine(run->pool, a->n, Y, y0, t1 - t0, i, m->A[i], run->k);
  }
  return known ? known : Y;
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

enum { WEIGHT = MBG__LOOPS_RK + 8, SUM, TERMS };

/* of the terms r_l of the dense output: R_l = sum over points c_l(x) g,  c = 1, x, x (1 - x), x^2 (1 - x), ...
   R_1 becomes that of y1 - y, and R_2 that of h k_0: r_2 = h k_0 - r_1, r_3 = 2 r_1 - h k_0 - h k_s */
static void point_terms(void *user, int thread, int first, int end) {
  const weights *w = user;
  const mbg__rk_adjoint *a = w->a;
  const points *p = w->p;
  const int n = end - first;
  const size_t size = (size_t)a->n * (size_t)a->ncol;
  real *r = a->r + first;
  (void)thread;
  for (int l = 1; l < a->method->ndense; l++) {
    vn_zero(n, r + (size_t)l * size);
  }
  for (int j = 0; j < p->n; j++) {
    double c = 1;
    for (int l = 1; l < a->method->ndense; l++) {
      c *= l % 2 ? p->x[j] : 1 - p->x[j];
      vn_axpy(n, r + (size_t)l * size, c, p->g + (size_t)j * size + first);
    }
  }
  vn_axpy(n, r + size, -1, r + 2 * size);
  vn_axpy(n, r + size, 2, r + 3 * size);
  vn_axpy(n, r + 2 * size, -1, r + 3 * size);
}

/* b += h times the part of stage i in the dense output */
static void add_points(const weights *w, int first, int n, real *b) {
  const mbg__rk_adjoint *a = w->a;
  const mbg__rk_method *m = a->method;
  const size_t size = (size_t)a->n * (size_t)a->ncol;
  const int i = w->stage;
  const real *r = a->r + first;
  if (i < m->nstage && m->A[m->nstage][i] != 0) {
    vn_axpy(n, b, w->h * m->A[m->nstage][i], r + size);
  }
  if (i == 0) {
    vn_axpy(n, b, w->h, r + 2 * size);
  }
  if (i == m->nstage) {
    vn_axpy(n, b, -w->h, r + 3 * size);
  }
  for (int l = 4; l < m->ndense; l++) {
    if (m->d[l - 4][i] != 0) {
      vn_axpy(n, b, w->h * m->d[l - 4][i], r + (size_t)l * size);
    }
  }
}

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
  double c[MBG__RK_STAGES];
  for (int j = i + 1; j < p->nstage; j++) {
    c[j] = w->h * m->A[j][i];
  }
  mbg__rk_add(n, b, p->nstage - i - 1, c + i + 1, a->g + (size_t)(i + 1) * size + first, size);
  if (p->n > 0) {
    add_points(w, first, n, b);
  }
  if (a->left && i == m->nstage) {
    vn_axpy(n, b, 1, a->carry + first);
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
  if (p->n > 0) {
    mbg__pool_for(run->pool, TERMS, size, mbg__rk_piece(run->pool, size), point_terms, &w);
  }
  MBG_TRY(run->k ? MBG_OK : forward(ctx, a, run, p->nstage, t0, t1, y0));
  for (int i = p->nstage - 1; i >= 0; i--) {
    w.stage = i;
    mbg__pool_for(run->pool, WEIGHT, size, mbg__rk_piece(run->pool, size), stage_weight, &w);
    if (i == 0 && run->leave) {
      vn_copy(size, a->carry, a->b);
      vn_zero(size, a->g);
      continue;
    }
    MBG_TRY(run->vjp(run->user, i, re(mbg__rk_stage_time(m, i, t0, t1)), argument(a, run, i, t0, t1, y0), a->ncol, a->b,
                     a->g + (size_t)i * (size_t)size));
  }
  mbg__pool_for(run->pool, SUM, size, mbg__rk_piece(run->pool, size), sum_stages, &w);
  a->left = run->leave;
  err = MBG_OK;
done:
  return err;
}

int mbg__rk_step_adjoint(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, double t0, double t1,
                         const real *y0, real *lambda) {
  const points none = {.nstage = a->method->nstage + a->left};
  return step_adjoint(ctx, a, run, t0, t1, y0, &none, lambda);
}

int mbg__rk_step_adjoint_dense(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, double t0,
                               double t1, const real *y0, int npoint, const double *x, const real *g, real *lambda) {
  const points p = {
      .n = npoint, .nstage = npoint > 0 ? a->method->nextended : a->method->nstage + a->left, .x = x, .g = g};
  return step_adjoint(ctx, a, run, t0, t1, y0, &p, lambda);
}
