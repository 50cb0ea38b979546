/* Exact adjoint of a step. */
#include "integrators/rk_internal.h"
#include "math/vec.h"

struct mbg__rk_adjoint {
  mbg__arena arena;
  const mbg__rk_method *method;
  int n, ncol;
  real *Y, *k; /* arguments and values of the stages        (nstage x n) */
  real *g;     /* transposed products of the stages         (nstage x ncol x n) */
  real *b;     /* weight of a stage                         (ncol x n) */
};

int mbg__rk_adjoint_create(mbg_context *ctx, int n, int ncol, const mbg__rk_method *method, mbg__rk_adjoint **out) {
  *out = NULL;
  mbg__rk_adjoint *a = mbg__alloc_zero(ctx, 1, sizeof *a);
  if (!a) {
    return mbg__fail_memory(ctx);
  }
  const size_t rows = (size_t)n * (size_t)method->nstage, columns = (size_t)n * (size_t)ncol;
  mbg__arena_init(&a->arena, mbg__context_allocator(ctx));
  a->method = method;
  a->n = n;
  a->ncol = ncol;
  a->Y = MBG_TAKE(&a->arena, real, rows);
  a->k = MBG_TAKE(&a->arena, real, rows);
  a->g = MBG_TAKE(&a->arena, real, columns * (size_t)method->nstage);
  a->b = MBG_TAKE(&a->arena, real, columns);
  if (!a->Y || !a->k || !a->g || !a->b) {
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
static int forward(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, double t0, double t1,
                   const real *y0) {
  const mbg__rk_method *m = a->method;
  for (int i = 0; i < m->nstage; i++) {
    real *const Y = a->Y + (size_t)i * (size_t)a->n;
    const double t = mbg__rk_stage_time(m, i, t0, t1);
    mbg__rk_combine(a->n, Y, y0, t1 - t0, i, m->A[i], a->k);
    const int status = run->rhs(run->user, i, t, Y, a->k + (size_t)i * (size_t)a->n);
    if (status > 0) {
      return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                       "adjoint stopped at t = %.9g: right-hand side cannot be evaluated, but was in the simulation",
                       t);
    }
    if (status < 0) {
      return status;
    }
  }
  return MBG_OK;
}

/* beta_i = h (b_i lambda + sum_j>i a_ji g_j), in a->b */
static void stage_weight(const mbg__rk_adjoint *a, int i, double h, const real *lambda) {
  const mbg__rk_method *m = a->method;
  const int size = a->n * a->ncol;
  vn_scale(size, a->b, h * m->A[m->nstage][i], lambda);
  for (int j = i + 1; j < m->nstage; j++) {
    if (m->A[j][i] != 0) {
      vn_axpy(size, a->b, h * m->A[j][i], a->g + (size_t)j * (size_t)size);
    }
  }
}

int mbg__rk_step_adjoint(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, double t0, double t1,
                         const real *y0, real *lambda) {
  int err = MBG_OK;
  const mbg__rk_method *m = a->method;
  const int size = a->n * a->ncol;
  MBG_TRY(forward(ctx, a, run, t0, t1, y0));
  for (int i = m->nstage - 1; i >= 0; i--) {
    stage_weight(a, i, t1 - t0, lambda);
    MBG_TRY(run->vjp(run->user, i, mbg__rk_stage_time(m, i, t0, t1), a->Y + (size_t)i * (size_t)a->n, a->ncol, a->b,
                     a->g + (size_t)i * (size_t)size));
  }
  for (int i = m->nstage - 1; i >= 0; i--) {
    vn_axpy(size, lambda, 1, a->g + (size_t)i * (size_t)size);
  }
  err = MBG_OK;
done:
  return err;
}
