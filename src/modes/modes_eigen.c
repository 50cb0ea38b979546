/* Eigenvalues of the linearized model: the choice of the solver. */
#include "modes/modes_reduced.h"

enum { DENSE_MAX = 400, GENERAL_MAX = 250 };

int mbg__modes_not_found(const mbg__modes_work *w, int err) {
  return err == MBG_ERROR_MEMORY ? mbg__fail_memory(w->ctx)
                                 : mbg__fail(w->ctx, err, "the eigenvalues of the linearized model were not found");
}

int mbg__modes_multipliers(mbg__modes_work *w, const double *f, double *xi) {
  real *x = mbg__alloc_zero(w->ctx, (size_t)w->saddle.n, sizeof(real));
  if (!x) {
    return mbg__fail_memory(w->ctx);
  }
  for (int j = 0; j < w->m->nv; j++) {
    x[j] = -f[j];
  }
  mbg__klu_solve(w->saddle.klu, x, 1);
  for (int i = 0; i < w->m->nrow; i++) {
    xi[i] = w->result->rank->keep[i] ? re(x[w->m->nv + i]) : 0;
  }
  mbg__free(w->ctx, x);
  return MBG_OK;
}

static int too_many(const mbg__modes_work *w) {
  return mbg__fail(w->ctx, MBG_ERROR_UNSUPPORTED,
                   "%d freedoms with damping or a motion are too many (at most %d); leave damping out, or use fewer "
                   "elements",
                   w->n, GENERAL_MAX);
}

static double largest(int n, const double *A) {
  double most = 0;
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) {
    most = fmax(most, fabs(A[i]));
  }
  return most;
}

static bool is_undamped(const mbg__reduced *d) {
  return d->w->opt.undamped || (!d->massless_damped && largest(d->nr, d->C) <= 1e-14 * sqrt(largest(d->nr, d->K)));
}

static int solve_sparse(mbg__modes_work *w) {
  w->symmetric = w->K_symmetric;
  for (int i = 0; !w->opt.undamped && i < mbg__csc_count(mbg__system_pattern_K(w->sys)); i++) {
    w->symmetric = w->symmetric && w->C[i] == 0;
  }
  return w->symmetric ? mbg__modes_symmetric_sparse(w) : too_many(w);
}

static int solve_dense(mbg__reduced *d) {
  mbg__modes_work *w = d->w;
  const int err = mbg__reduced_create(d);
  w->massless = d->n - d->nr;
  if (err < 0 || d->nr == 0) {
    return err;
  }
  w->symmetric = w->K_symmetric && is_undamped(d);
  if (!w->symmetric && d->nr > GENERAL_MAX) {
    return too_many(w);
  }
  return w->symmetric ? mbg__modes_symmetric(d) : mbg__modes_general(d);
}

int mbg__modes_eigen(mbg__modes_work *w) {
  mbg__reduced d = {.w = w, .nv = w->m->nv, .n = w->n};
  w->solver = "dense";
  w->symmetric = true;
  if (w->n == 0) {
    return MBG_OK;
  }
  if (w->n > DENSE_MAX || (double)w->m->nv * w->n > 4e6) {
    return solve_sparse(w);
  }
  mbg__arena_init(&d.arena, mbg__context_allocator(w->ctx));
  const int err = solve_dense(&d);
  mbg__arena_destroy(&d.arena);
  return err;
}
