/* Second order at the solution (theory 9, section 7): the reduced Hessian of the Lagrangian, and how optimum and
   objective move with every number of the model.

     W = L_xx over free unknowns x, J the rows of active constraints, Z its null space: Z^T W Z > 0 at a strict minimum
     [W J^T; J 0] (dx, dlambda) = -(L_xa, c_a) da,     d f* = L_a da

   a: parameters that are not varied, then attributes. Valid until the set of active constraints changes. */
#include "math/dense.h"
#include "math/spectrum.h"
#include "optimizers/kkt.h"
#include "problems/cases.h"
#include "problems/optimize.h"

#include <string.h>

/* eigenvalues below this part of the largest count as 0; a multiplier counts as in the report */
static const double flat = 1e-8, share = 1e-9;

typedef struct {
  mbg_context *ctx;
  mbg_optimize *opt;
  mbg__arena arena;
  int nf, ma;     /* free unknowns, active constraints */
  int *of, *row;  /* which                                     (nx), (m) */
  int np, na;     /* numbers: parameters, attributes */
  double *W;      /* Lagrangian by free unknowns               (nf x nf) */
  double *J;      /* active constraints by free unknowns       (ma x nf, row-major) */
  double *L_xa;   /* by free unknowns and numbers              (nf x (np + na)) */
  double *c_a;    /* active constraints by numbers             (ma x (np + na)) */
  double *L_a;    /* Lagrangian by numbers                     (np + na) */
  double *d, *Hd; /* a direction and its product               (nx) */
} curvature;

/* ---------------------------------------------------------------------- free unknowns, active constraints */

static void find_sets(curvature *q) {
  const mbg_optimize *opt = q->opt;
  const size_t nx = (size_t)opt->nx;
  for (int i = 0; i < opt->nx; i++) {
    if (i >= opt->n || !opt->parameter[i].at_bound) {
      q->of[q->nf++] = i;
    }
  }
  for (int r = 0; r < opt->m; r++) {
    double sum = 0;
    for (size_t i = 0; i < nx; i++) {
      sum += opt->J[(size_t)r * nx + i] * opt->J[(size_t)r * nx + i];
    }
    if (opt->equal[r] || fabs(opt->lambda[r]) * sqrt(sum) > share * opt->summary.gradient_start) {
      q->row[q->ma++] = r;
    }
  }
}

static int take_sets(curvature *q) {
  q->of = MBG_TAKE(&q->arena, int, q->opt->nx + 1);
  q->row = MBG_TAKE(&q->arena, int, q->opt->m + 1);
  q->d = MBG_TAKE(&q->arena, double, q->opt->nx + 1);
  q->Hd = MBG_TAKE(&q->arena, double, q->opt->nx + 1);
  return mbg__arena_check(q->ctx, &q->arena);
}

/* attributes are the same numbers in all load cases, or they are left out */
static int take_matrices(curvature *q) {
  mbg_optimize *opt = q->opt;
  const size_t nf = (size_t)q->nf, ma = (size_t)q->ma;
  q->np = opt->np;
  q->na = opt->load[0].model->na;
  for (int k = 1; k < opt->ncase; k++) {
    q->na = opt->load[k].model->na == q->na ? q->na : 0;
  }
  const size_t count = (size_t)q->np + (size_t)q->na;
  q->W = MBG_TAKE(&q->arena, double, nf *nf + 1);
  q->J = MBG_TAKE(&q->arena, double, ma *nf + 1);
  q->L_xa = MBG_TAKE(&q->arena, double, nf *count + 1);
  q->c_a = MBG_TAKE(&q->arena, double, ma *count + 1);
  q->L_a = MBG_TAKE(&q->arena, double, count + 1);
  for (int k = 0; k < opt->ncase; k++) {
    opt->load[k].by_a = q->na > 0 ? MBG_TAKE(&q->arena, double, q->na + 1) : NULL;
    opt->load[k].by_numbers = MBG_TAKE(&q->arena, double, count + 1);
  }
  return mbg__arena_check(q->ctx, &q->arena);
}

/* ---------------------------------------------------------------------- second derivatives */

static bool is_varied(const mbg_optimize *opt, int p) {
  for (int i = 0; i < opt->n; i++) {
    if (opt->parameter[i].index == p) {
      return true;
    }
  }
  return false;
}

/* one load case's derivatives by numbers, parameters (np) and attributes (na), are added to a row */
static void add_numbers(const curvature *q, const mbg__case *c, double factor, const double *by_p, const double *by_a,
                        double *row) {
  for (int p = 0; p < q->np; p++) {
    row[p] += mbg_model_parameter_is_set(c->model, p) ? 0 : factor * by_p[p];
  }
  for (int a = 0; a < q->na; a++) {
    row[q->np + a] += factor * by_a[a];
  }
}

static int second_derivatives(curvature *q) {
  mbg_optimize *opt = q->opt;
  const size_t nf = (size_t)q->nf, count = (size_t)q->np + (size_t)q->na;
  int err = MBG_OK;
  for (int k = 0; k < q->nf; k++) {
    q->d[q->of[k]] = 1;
    MBG_TRY(mbg__optimize_product(q->ctx, opt, opt->x, 1, opt->lambda, q->d, q->Hd));
    MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : MBG_OK);
    q->d[q->of[k]] = 0;
    for (int i = 0; i < q->nf; i++) {
      q->W[(size_t)k * nf + (size_t)i] = q->Hd[q->of[i]];
    }
    for (int c = 0; c < opt->ncase; c++) {
      add_numbers(q, &opt->load[c], 1, opt->load[c].product, opt->load[c].by_a, q->L_xa + (size_t)k * count);
    }
  }
  for (size_t i = 0; i < nf; i++) {
    for (size_t j = 0; j < i; j++) {
      q->W[i * nf + j] = q->W[j * nf + i] = (q->W[i * nf + j] + q->W[j * nf + i]) / 2;
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- first derivatives by numbers */

static size_t count_numbers(const mbg__case *c) { return (size_t)c->model->np + (c->by_a ? (size_t)c->model->na : 0); }

static void total_case(mbg__case *c) {
  const size_t np = (size_t)c->model->np, count = c->ntotal > 0 ? count_numbers(c) : 0;
  real *g = mbg__alloc_zero(c->ctx, count + 1, sizeof(real));
  c->status = g ? MBG_OK : mbg__fail_memory(c->ctx);
  if (c->status == MBG_OK && c->ntotal > 0) {
    c->status = mbg__run_gradient_total(c->ctx, c->run, c->ntotal, c->total, g, c->by_a ? g + np : NULL);
  }
  for (size_t i = 0; c->status == MBG_OK && i < count; i++) {
    c->by_numbers[i] = re(g[i]);
  }
  mbg__free(c->ctx, g);
}

static void total_results(mbg__case *c, mbg__parcel *p) {
  mbg__parcel_numbers(p, c->ntotal > 0 ? count_numbers(c) : 0, c->by_numbers);
}

static const mbg__stage totals = {total_case, total_results};

/* The gradient of the rows of one load case by numbers, times a factor. */
static int first_derivatives(const curvature *q, mbg__case *c, const mbg__gradient_row *row, double factor,
                             double *out) {
  c->total = row;
  c->ntotal = 1;
  int err = mbg__optimize_evaluate_all(q->ctx, q->opt, &totals, false);
  c->ntotal = 0;
  MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : err);
  add_numbers(q, c, factor, c->by_numbers, c->by_numbers + q->np, out);
done:
  return err;
}

/* Lagrangian by numbers: the terms of all load cases. */
static int lagrangian_derivatives(const curvature *q) {
  mbg_optimize *opt = q->opt;
  for (int k = 0; k < opt->ncase; k++) {
    opt->load[k].total = opt->load[k].term;
    opt->load[k].ntotal = opt->load[k].nterm;
  }
  int err = mbg__optimize_evaluate_all(q->ctx, opt, &totals, false);
  for (int k = 0; k < opt->ncase; k++) {
    opt->load[k].ntotal = 0;
  }
  MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : err);
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    add_numbers(q, c, 1, c->by_numbers, c->by_numbers + q->np, q->L_a);
  }
done:
  return err;
}

/* the row of an active constraint: an objective of the worst case, a limit or one of its points */
static int constraint_derivatives(const curvature *q, int row, double *out) {
  mbg_optimize *opt = q->opt;
  int next = 0;
  for (int k = 0; opt->task->worst && k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    if (c->objective >= 0 && next++ == row) {
      const mbg__gradient_row one = {.criterion = c->objective, .attributes = c->by_a};
      return first_derivatives(q, c, &one, c->shown.weight / opt->f_scale, out);
    }
  }
  for (int i = 0; i < opt->nlimit; i++) {
    const mbg__limit *l = &opt->limit[i];
    const int count = l->path ? l->nlisted : 1;
    if (row < l->row || row >= l->row + count || l->load < 0) {
      continue;
    }
    static const double one = 1;
    mbg__case *c = &opt->load[l->load];
    const mbg__gradient_row of = {.criterion = l->of->criterion,
                                  .npoint = l->path ? 1 : 0,
                                  .point = l->path ? &l->listed[row - l->row] : NULL,
                                  .weight = l->path ? &one : NULL,
                                  .attributes = c->by_a};
    return first_derivatives(q, c, &of, (l->side ? l->side : 1) / l->scale, out);
  }
  return MBG_OK; /* means of parameters do not depend on numbers */
}

static int first_order(curvature *q) {
  mbg_optimize *opt = q->opt;
  const size_t nx = (size_t)opt->nx, nf = (size_t)q->nf, count = (size_t)q->np + (size_t)q->na;
  int err = MBG_OK;
  MBG_TRY(lagrangian_derivatives(q));
  for (int r = 0; r < q->ma; r++) {
    for (size_t i = 0; i < nf; i++) {
      q->J[(size_t)r * nf + i] = opt->J[(size_t)q->row[r] * nx + (size_t)q->of[i]];
    }
    MBG_TRY(constraint_derivatives(q, q->row[r], q->c_a + (size_t)r * count));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- eigenvalues */

/* Z^T W Z with Z the last columns of Q in J^T = Q R */
static int reduce(curvature *q, double **reduced, int *n) {
  mbg__qr qr;
  const int nf = q->nf;
  int err = mbg__qr_prepare(&qr, &q->arena, nf, q->ma > 0 ? q->ma : 1);
  double *Z = MBG_TAKE(&q->arena, double, (size_t)nf *(size_t)nf + 1);
  *reduced = MBG_TAKE(&q->arena, double, (size_t)nf *(size_t)nf + 1);
  if (err < 0 || mbg__arena_check(q->ctx, &q->arena) < 0) {
    return mbg__fail_memory(q->ctx);
  }
  for (int r = 0; r < q->ma; r++) {
    memcpy(qr.A + (size_t)r * (size_t)nf, q->J + (size_t)r * (size_t)nf, (size_t)nf * sizeof(double));
  }
  err = q->ma > 0 ? mbg__qr_factor(&qr) : MBG_OK;
  const int rank = q->ma > 0 && err == MBG_OK ? mbg__qr_rank(&qr, 1e-10) : 0;
  *n = nf - rank;
  for (int k = 0; k < *n; k++) {
    Z[(rank + k) + nf * k] = 1;
  }
  if (q->ma > 0 && err == MBG_OK) {
    mbg__qr_mul_Q(&qr, Z, *n);
  }
  for (int a = 0; err == MBG_OK && a < *n; a++) {
    for (int b = 0; b < *n; b++) {
      double sum = 0;
      for (int i = 0; i < nf; i++) {
        for (int j = 0; j < nf; j++) {
          sum += Z[i + nf * a] * q->W[(size_t)i * (size_t)nf + (size_t)j] * Z[j + nf * b];
        }
      }
      (*reduced)[a + *n * b] = sum;
    }
  }
  return err;
}

static mbg_optimize_order judge(const mbg_optimize *opt, int n, const double *w) {
  const double most = n > 0 ? fmax(fabs(w[0]), fabs(w[n - 1])) : 0;
  if (n == 0) {
    return MBG_OPTIMIZE_VERTEX;
  }
  if (w[0] < -flat * most) {
    return MBG_OPTIMIZE_SADDLE;
  }
  (void)opt;
  return w[0] > flat * most ? MBG_OPTIMIZE_MINIMUM : MBG_OPTIMIZE_FLAT;
}

static int eigenvalues(curvature *q) {
  mbg_optimize *opt = q->opt;
  double *reduced = NULL;
  int n = 0, err = MBG_OK;
  MBG_TRY(reduce(q, &reduced, &n));
  opt->curvatures = MBG_TAKE(&opt->arena, double, n + 1);
  MBG_TRY(mbg__arena_check(q->ctx, &opt->arena));
  MBG_TRY(n > 0 ? mbg__eigen_symmetric(q->ctx, n, reduced, opt->curvatures) : MBG_OK);
  opt->summary.curvatures = n;
  opt->summary.order = judge(opt, n, opt->curvatures);
done:
  return err;
}

/* ---------------------------------------------------------------------- shifts of the optimum */

static int take_shifts(curvature *q, int count) {
  mbg_optimize *opt = q->opt;
  opt->shift = MBG_TAKE(&opt->arena, mbg_optimize_shift, count + 1);
  double *moves = MBG_TAKE(&opt->arena, double, (size_t)count *(size_t)opt->n + 1);
  for (int k = 0; opt->shift && moves && k < count; k++) {
    opt->shift[k].by = moves + (size_t)k * (size_t)opt->n;
  }
  return mbg__arena_check(q->ctx, &opt->arena);
}

/* names and values of number k; false: it is varied itself */
static bool describe(const curvature *q, int k, const double *values, const double *scales, mbg_optimize_shift *s) {
  mbg_optimize *opt = q->opt;
  const mbg_run *run = opt->load[0].run;
  if (k < q->np) {
    s->owner = "parameter";
    s->key = mbg__parameter_text(&opt->arena, opt->models[0], k);
    s->unit = mbg_model_parameter_unit(opt->models[0], k);
    s->value = opt->p[k];
    s->scale = opt->p[k] != 0 ? fabs(opt->p[k]) : 1;
    return !is_varied(opt, k);
  }
  const int a = k - q->np;
  s->owner = mbg_run_attribute_owner(run, a);
  s->key = mbg_run_attribute_key(run, a);
  s->unit = mbg_run_attribute_unit(run, a);
  s->value = values[a];
  s->scale = scales[a];
  return true;
}

/* dx of number k from the solution y (nf + ma), as changes of the varied parameters */
static void move(const curvature *q, const real *y, double *by_u, double *along, double *by) {
  const mbg_optimize *opt = q->opt;
  memset(q->d, 0, (size_t)opt->nx * sizeof(double));
  for (int i = 0; i < q->nf; i++) {
    q->d[q->of[i]] = re(y[i]);
  }
  mbg__optimize_push(opt, q->d, by_u, along);
  for (int i = 0; i < opt->n; i++) {
    by[i] = along[opt->parameter[i].index];
  }
}

static int factor(curvature *q, mbg__lu *lu) {
  const int nf = q->nf, n = nf + q->ma;
  int err = mbg__lu_prepare(lu, &q->arena, n);
  if (err < 0) {
    return mbg__fail_memory(q->ctx);
  }
  memset(lu->A, 0, (size_t)n * (size_t)n * sizeof(real));
  for (int i = 0; i < nf; i++) {
    for (int j = 0; j < nf; j++) {
      lu->A[i + n * j] = q->W[(size_t)i * (size_t)nf + (size_t)j];
    }
    for (int r = 0; r < q->ma; r++) {
      lu->A[(nf + r) + n * i] = lu->A[i + n * (nf + r)] = q->J[(size_t)r * (size_t)nf + (size_t)i];
    }
  }
  return n > 0 ? mbg__lu_factor(lu, NULL) : MBG_OK;
}

/* numbers that move neither optimum nor objective are left out */
static int shifts(curvature *q) {
  mbg_optimize *opt = q->opt;
  const int count = q->np + q->na, n = q->nf + q->ma;
  int err = MBG_OK, kept = 0;
  mbg__lu lu;
  double *values = MBG_TAKE(&q->arena, double, q->na + 1), *scales = MBG_TAKE(&q->arena, double, q->na + 1);
  real *y = MBG_TAKE(&q->arena, real, n + 1);
  double *by_u = MBG_TAKE(&q->arena, double, opt->n + opt->np + 1);
  MBG_TRY(mbg__arena_check(q->ctx, &q->arena));
  MBG_TRY(q->na > 0 ? mbg_run_attributes(opt->load[0].run, values, scales) : MBG_OK);
  MBG_TRY(take_shifts(q, count));
  err = factor(q, &lu);
  if (err == MBG_ERROR_SINGULAR) {
    return MBG_OK; /* the order says that the optimum is not unique */
  }
  MBG_TRY(err);
  for (int k = 0; k < count; k++) {
    mbg_optimize_shift *s = &opt->shift[kept];
    bool moves = q->L_a[k] != 0;
    for (int i = 0; i < n; i++) {
      const double *table = i < q->nf ? q->L_xa : q->c_a;
      const int at = i < q->nf ? i : i - q->nf;
      y[i] = -table[(size_t)at * (size_t)count + (size_t)k];
      moves = moves || y[i] != 0;
    }
    if (!moves || !describe(q, k, values, scales, s)) {
      continue;
    }
    mbg__lu_solve(&lu, y, n > 0 ? 1 : 0);
    move(q, y, by_u, by_u + opt->n, s->by);
    s->objective = opt->f_scale * q->L_a[k];
    kept++;
  }
  opt->summary.shifts = kept;
done:
  return err;
}

/* ---------------------------------------------------------------------- entry */

int mbg_optimize_curvature(mbg_context *ctx, mbg_optimize *opt) {
  MBG_NEED(ctx, ctx && opt);
  curvature q = {.ctx = ctx, .opt = opt};
  const mbg_optimize_summary counted = opt->summary;
  int err = MBG_OK;
  mbg__arena_init(&q.arena, mbg__context_allocator(ctx));
  if (!opt->lambda || !counted.feasible) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "there is no feasible optimum whose curvature could be found: solve first");
    goto done;
  }
  MBG_TRY(mbg__optimize_check_second(ctx, opt));
  MBG_TRY(take_sets(&q));
  find_sets(&q);
  MBG_TRY(take_matrices(&q));
  MBG_TRY(second_derivatives(&q));
  MBG_TRY(q.nf > 0 ? MBG_OK : mbg__optimize_product(ctx, opt, opt->x, 1, opt->lambda, q.d, q.Hd));
  MBG_TRY(first_order(&q));
  opt->summary = counted; /* no part of the search */
  MBG_TRY(eigenvalues(&q));
  MBG_TRY(shifts(&q));
done:
  for (int k = 0; k < opt->ncase; k++) {
    opt->load[k].by_a = NULL;
  }
  mbg__arena_destroy(&q.arena);
  return err;
}
