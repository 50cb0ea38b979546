#include "hessian/hessian.h"

#include "hessian/hessian_columns.h"
#include "hessian/kinks.h"
#include "run/run_internal.h"

/* ---------------------------------------------------------------------- conditions */

static int check(mbg_context *ctx, mbg_run *run) {
  int err = MBG_OK;
  if (!run->simulated) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "simulate first: there is no trajectory at these parameters");
  }
  if (run->nodes.partial) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the run was interrupted; second derivatives need a whole one");
  }
  if (run->given_state) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "a run that starts from a given state has no second derivatives");
  }
  if (run->m->nevent > 0) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "second derivatives across events are not known; a model with "
                     "\"events\" has first ones");
  }
  MBG_TRY(mbg__run_check_method(ctx, run, MBG_METHOD_ADJOINT));
done:
  return err;
}

/* The largest value of a path moves in time with the parameters, which the value at one node does not see. */
static int check_weights(mbg_context *ctx, const mbg_run *run, const double *weights) {
  for (int k = 0; k < run->m->ncriterion; k++) {
    if (weights[k] != 0 && run->m->criteria[k].kind == MBG__PATH) {
      return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                       "criterion '%s' is the largest value of a path: its second derivative is not that of one node; "
                       "take a smooth maximum",
                       run->m->criteria[k].name);
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- life */

static int create_run(mbg_context *ctx, const mbg_hessian *h, mbg__complex_run **out) {
  const int mark = mbg__message_mark(ctx);
  const int err = mbg__complex_run_create(ctx, h->run->m, &h->kernels, &h->decisions, out);
  if (err == MBG_OK) {
    mbg__message_rewind(ctx, mark); /* notes that the run has made already */
  }
  return err;
}

/* Under a limit the stored states of the run make room for those of the complex one, which repeats its steps by itself;
   what is listed of nodes and steps stays. */
static void limit_memory(mbg_hessian *h) {
  mbg_run *run = h->run;
  if (run->plan.memory > 0) {
    const double listed = 8.0 * h->decisions.nstep + 16.0 * h->decisions.nnode;
    if (run->formulation->ops->forget) {
      run->formulation->ops->forget(run->work, NULL, &run->nodes);
    }
    h->decisions.options.memory =
        mbg__store_share(run->plan.memory, mbg__nodes_bytes(&run->nodes, run->nodes.nnode) + listed);
  }
}

static int make(mbg_context *ctx, mbg_hessian *h) {
  int err = MBG_OK;
  MBG_TRY(check(ctx, h->run));
  h->p = MBG_TAKE(&h->arena, double, h->run->m->np);
  h->gradient = MBG_TAKE(&h->arena, double, h->run->m->np);
  MBG_TRY(mbg__arena_check(ctx, &h->arena));
  mbg__kernels_here(&h->kernels);
  MBG_TRY(mbg__run_decisions_of(ctx, &h->arena, h->run, &h->decisions));
  limit_memory(h);
  MBG_TRY(create_run(ctx, h, &h->complex_run));
  MBG_TRY(mbg__hessian_warn_kinks(ctx, h->run->m));
done:
  return err;
}

int mbg_hessian_create(mbg_context *ctx, mbg_run *run, mbg_hessian **out) {
  MBG_NEED(ctx, ctx && run && out);
  mbg_hessian *h = mbg__alloc_zero(ctx, 1, sizeof(*h));
  *out = NULL;
  if (!h) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&h->arena, mbg__context_allocator(ctx));
  h->run = run;
  const int err = make(ctx, h);
  if (err < 0) {
    mbg_hessian_destroy(h);
    return err;
  }
  *out = h;
  return MBG_OK;
}

void mbg_hessian_destroy(mbg_hessian *h) {
  if (!h) {
    return;
  }
  const mbg_allocator allocator = h->arena.allocator;
  mbg__complex_run_destroy(h->complex_run);
  mbg__hessian_drop_workers(h);
  mbg__arena_destroy(&h->arena);
  allocator.release(allocator.user, h);
}

/* ---------------------------------------------------------------------- products */

int mbg__hessian_check_product(mbg_context *ctx, const mbg_hessian *h, const double *product) {
  for (int i = 0; i < h->run->m->np; i++) {
    char name[256];
    if (!isfinite(product[i])) {
      (void)mbg_model_parameter_name(h->run->m, i, name, sizeof(name));
      return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                       "the second derivative by parameter '%s' is not a finite number: a root, a power or an angle of "
                       "the model has an infinite slope there",
                       name);
    }
  }
  return MBG_OK;
}

int mbg__hessian_rows(mbg_context *ctx, mbg_hessian *h, int nrow, const mbg__gradient_row *rows,
                      const double *direction, double *gradient, double *product, double *attributes) {
  const int mark = mbg__message_mark(ctx);
  int err = MBG_OK;
  MBG_TRY(check(ctx, h->run));
  MBG_TRY(mbg_run_parameters(h->run, h->p));
  MBG_TRY(mbg__complex_run_simulate(ctx, h->complex_run, h->p, direction));
  MBG_TRY(mbg__complex_run_gradient(ctx, h->complex_run, nrow, rows, gradient ? gradient : h->gradient, product,
                                    attributes));
  mbg__message_rewind(ctx, mark);
  MBG_TRY(mbg__hessian_check_product(ctx, h, product));
done:
  return err;
}

int mbg_hessian_product(mbg_context *ctx, mbg_hessian *h, const double *weights, const double *direction,
                        double *gradient, double *product) {
  MBG_NEED(ctx, ctx && h && weights && direction && product);
  const mbg__gradient_row row = {.criterion = -1, .weight = weights};
  int err = MBG_OK;
  MBG_TRY(check_weights(ctx, h->run, weights));
  MBG_TRY(mbg__hessian_rows(ctx, h, 1, &row, direction, gradient, product, NULL));
done:
  return err;
}

/* ---------------------------------------------------------------------- the matrix */

/* the mean of both halves, and their largest difference */
static double symmetrize(const double *p, int np, double *H) {
  double away = 0, size = 0;
  for (int i = 0; i < np; i++) {
    for (int j = 0; j <= i; j++) {
      double *a = &H[(size_t)i * (size_t)np + (size_t)j], *b = &H[(size_t)j * (size_t)np + (size_t)i];
      const double scale = (p[i] != 0 ? fabs(p[i]) : 1) * (p[j] != 0 ? fabs(p[j]) : 1);
      away = fmax(away, scale * fabs(*a - *b));
      size = fmax(size, scale * fmax(fabs(*a), fabs(*b)));
      *a = *b = (*a + *b) / 2;
    }
  }
  return size > 0 ? away / size : 0;
}

int mbg_hessian_products(mbg_context *ctx, mbg_hessian *h, int nsum, const double *weights, int n,
                         const double *directions, double *products) {
  MBG_NEED(ctx, ctx && h && weights && directions && products && nsum >= 0 && n >= 0);
  const int nc = h->run->m->ncriterion;
  int err = MBG_OK;
  for (int s = 0; s < nsum; s++) {
    MBG_TRY(check_weights(ctx, h->run, weights + (size_t)s * (size_t)nc));
  }
  MBG_TRY(check(ctx, h->run));
  MBG_TRY(mbg_run_parameters(h->run, h->p));
  MBG_TRY(mbg__hessian_columns(ctx, h, nsum, weights, n, directions, products));
done:
  return err;
}

int mbg_hessian_matrices(mbg_context *ctx, mbg_hessian *h, int nsum, const double *weights, double *matrices,
                         double *asymmetry) {
  MBG_NEED(ctx, ctx && h && weights && matrices && nsum >= 0);
  const int np = h->run->m->np;
  double *directions = mbg__alloc_zero(ctx, (size_t)np * (size_t)np + 1, sizeof(double));
  int err = directions ? MBG_OK : mbg__fail_memory(ctx);
  for (int i = 0; i < np && err == MBG_OK; i++) {
    directions[(size_t)i * (size_t)np + (size_t)i] = 1;
  }
  err = err == MBG_OK ? mbg_hessian_products(ctx, h, nsum, weights, np, directions, matrices) : err;
  mbg__free(ctx, directions);
  for (int s = 0; s < nsum && err == MBG_OK; s++) {
    const double away = symmetrize(h->p, np, matrices + (size_t)s * (size_t)np * (size_t)np);
    if (asymmetry) {
      asymmetry[s] = away;
    }
  }
  return err;
}

int mbg_hessian_matrix(mbg_context *ctx, mbg_hessian *h, const double *weights, double *matrix, double *asymmetry) {
  return mbg_hessian_matrices(ctx, h, 1, weights, matrix, asymmetry);
}

/* ---------------------------------------------------------------------- one call */

int mbg_run_hessian_vector(mbg_context *ctx, mbg_run *run, const double *weights, const double *direction,
                           double *gradient, double *product) {
  MBG_NEED(ctx, ctx && run && weights && direction && product);
  mbg_hessian *h = NULL;
  int err = mbg_hessian_create(ctx, run, &h);
  if (err == MBG_OK) {
    err = mbg_hessian_product(ctx, h, weights, direction, gradient, product);
  }
  mbg_hessian_destroy(h);
  return err;
}

int mbg_run_hessian(mbg_context *ctx, mbg_run *run, const double *weights, double *matrix, double *asymmetry) {
  MBG_NEED(ctx, ctx && run && weights && matrix);
  mbg_hessian *h = NULL;
  int err = mbg_hessian_create(ctx, run, &h);
  if (err == MBG_OK) {
    err = mbg_hessian_matrix(ctx, h, weights, matrix, asymmetry);
  }
  mbg_hessian_destroy(h);
  return err;
}
