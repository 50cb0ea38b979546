/* Criteria of a run and their gradients by every method. */
#include "event/event.h"
#include "run/run_internal.h"
#include "start/redundancy.h"
#include "trajectory/rank_watch.h"

#include <string.h>

/* ---------------------------------------------------------------------- criteria */

static int need_simulation(mbg_context *ctx, const mbg_run *run) {
  return run->simulated ? MBG_OK
                        : mbg__fail(ctx, MBG_ERROR_INPUT, "simulate first: there is no trajectory at these parameters");
}

/* y of the run has the columns of the criteria first, perhaps followed by further numbers */
static int criteria_values(mbg_context *ctx, mbg_run *run) {
  const mbg__nodes *nodes = &run->nodes;
  mbg__criteria_places(run->criteria, nodes->place, nodes->end, nodes->sum);
  mbg__criteria_staged(run->criteria, nodes->staged);
  return mbg__criteria_values(ctx, run->criteria, nodes->omega, nodes->width, nodes->y, run->design->attr, run->psi);
}

int mbg__run_criteria(mbg_context *ctx, mbg_run *run, real *psi) {
  int err = MBG_OK;
  MBG_TRY(need_simulation(ctx, run));
  MBG_TRY(criteria_values(ctx, run));
  MBG_TRY(mbg__run_check_criteria(ctx, run));
  memmove(psi, run->psi, (size_t)run->m->ncriterion * sizeof(real));
done:
  return err;
}

int mbg_run_criteria(mbg_context *ctx, mbg_run *run, double *psi) {
  MBG_NEED(ctx, ctx && run && psi);
  const int err = mbg__run_criteria(ctx, run, run->psi);
  for (int k = 0; err == MBG_OK && k < run->m->ncriterion; k++) {
    psi[k] = re(run->psi[k]);
  }
  return err;
}

const mbg__criteria *mbg__run_criteria_of(const mbg_run *run) { return run->criteria; }

/* ---------------------------------------------------------------------- seeds */

/* Seeds of n rows and their derivatives. */
typedef struct {
  mbg__arena arena;
  int n;
  mbg__criterion_seeds *seeds; /* (n) */
  mbg__density_term *terms;    /*                                             (n x ncriterion) */
  real *psi_a;                 /* explicit parts, then by every attribute     (n x na) */
  real *psi_p;                 /* by every parameter                          (n x np) */
} block;

/* n criteria from `first`, and their weights in a row */
static void terms_of(const mbg_run *run, const mbg__gradient_row *row, int *first, int *n, const double **weight) {
  static const double one = 1;
  const bool sum = row->criterion < 0;
  *first = sum ? 0 : row->criterion;
  *n = sum ? run->m->ncriterion : 1;
  *weight = sum ? row->weight : &one;
}

static int add_row(mbg_context *ctx, mbg_run *run, block *b, int k, const mbg__gradient_row *row) {
  mbg__criterion_seeds *seeds = &b->seeds[k];
  mbg__density_term *terms = b->terms + (size_t)k * (size_t)run->m->ncriterion;
  real *ga = b->psi_a + (size_t)k * (size_t)run->m->na;
  const double *weight;
  int first, n, err = MBG_OK;
  seeds->all = row->attributes != NULL;
  if (row->cotangent) {
    return mbg__run_cotangent_seeds(ctx, run, &b->arena, row->cotangent, seeds);
  }
  if (row->npoint > 0) {
    MBG_TRY(mbg__criteria_path_seeds(ctx, &b->arena, run->criteria, row->criterion, row->npoint, row->point,
                                     row->weight, &seeds->at));
    return MBG_OK;
  }
  terms_of(run, row, &first, &n, &weight);
  seeds->terms = terms;
  MBG_TRY(mbg__criteria_seeds(ctx, &b->arena, run->criteria, first, n, weight, &seeds->at, ga));
  MBG_TRY(mbg__criteria_terms(ctx, run->criteria, first, n, weight, terms, &seeds->nterm));
done:
  return err;
}

static int make_block(mbg_context *ctx, mbg_run *run, int n, const mbg__gradient_row *rows, block *b) {
  int err = MBG_OK;
  b->n = n;
  b->seeds = MBG_TAKE(&b->arena, mbg__criterion_seeds, n);
  b->terms = MBG_TAKE(&b->arena, mbg__density_term, (size_t)n * (size_t)run->m->ncriterion);
  b->psi_a = MBG_TAKE(&b->arena, real, (size_t)n * (size_t)run->m->na);
  b->psi_p = MBG_TAKE(&b->arena, real, (size_t)n * (size_t)run->m->np);
  MBG_TRY(mbg__arena_check(ctx, &b->arena));
  MBG_TRY(criteria_values(ctx, run));
  for (int k = 0; k < n; k++) {
    MBG_TRY(add_row(ctx, run, b, k, &rows[k]));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- gradients by the parameters */

/* direct: sum of seeds times dy/dp over the nodes */
typedef struct {
  const mbg_run *run;
  block *block;
} direct_sum;

static int direct_take(void *user, int node, const real *dy) {
  const direct_sum *s = user;
  const mbg_run *run = s->run;
  const size_t np = (size_t)run->m->np;
  const mbg__formulation_ops *ops = run->formulation->ops;
  const real *dt = ops->node_time ? ops->node_time(run->work) : NULL;
  const real *stretch = ops->node_stretch ? ops->node_stretch(run->work) : NULL;
  for (int c = 0; c < s->block->n; c++) {
    const real by_time = dt ? mbg__seed_time(&s->block->seeds[c], &run->nodes, node) : 0;
    for (size_t p = 0; by_time != 0 && p < np; p++) {
      s->block->psi_p[(size_t)c * np + p] += by_time * dt[p];
    }
    const real part = stretch ? mbg__seed_stretch(&s->block->seeds[c], &run->nodes, node) : 0;
    for (size_t p = 0; part != 0 && p < np; p++) {
      s->block->psi_p[(size_t)c * np + p] += part * stretch[p];
    }
    for (int k = 0; k < run->nused; k++) {
      const real w = mbg__seed(&s->block->seeds[c], &run->nodes, node, k);
      for (size_t p = 0; w != 0 && p < np; p++) {
        s->block->psi_p[(size_t)c * np + p] += w * dy[(size_t)k * np + p];
      }
    }
  }
  return MBG_OK;
}

/* ... and the integrals by stages, which have no nodes */
static void add_staged(const direct_sum *s) {
  const mbg_run *run = s->run;
  const size_t np = (size_t)run->m->np;
  const real *dy = run->nodes.staged ? run->formulation->ops->staged(run->work) : NULL;
  for (int i = 0; dy && i < s->block->n * run->nused; i++) {
    const int c = i / run->nused, k = i % run->nused;
    const real density = mbg__seeds_linear(&s->block->seeds[c].at, k);
    if (density != 0) {
      vn_axpy((int)np, s->block->psi_p + (size_t)c * np, density, dy + (size_t)k * np);
    }
  }
}

/* What a stepper remembers belongs to the parameters of the run before. A given state that does not follow the
   parameters needs such as do not move its constraints. */
static int check_given_state(mbg_context *ctx, mbg_run *run) {
  const mbg_model *m = run->m;
  int err = MBG_OK;
  mbg__arena arena;
  if (!run->given_state) {
    return MBG_OK;
  }
  if (mbg__start_result_of(run->start)->nmemory > 0) {
    return mbg__fail(
        ctx, MBG_ERROR_UNSUPPORTED,
        "a run that goes on with the accelerations of the run before has no gradients: let it compute them "
        "anew (mbg_run_forget_stepper), so that they follow the parameters");
  }
  if (mbg__start_follows(run->start)) {
    return MBG_OK;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  real *dp = MBG_TAKE(&arena, real, m->np), *da = MBG_TAKE(&arena, real, m->na);
  real *w = MBG_TAKE(&arena, real, m->nw), *v = MBG_TAKE(&arena, real, m->nw);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  for (int p = 0; p < m->np; p++) {
    char name[256];
    dp[p] = 1;
    mbg__design_push(run->design, dp, da);
    dp[p] = 0;
    (void)mbg_model_parameter_name(m, p, name, sizeof(name));
    const int status = mbg__start_push(ctx, run->start, da, w, v);
    MBG_TRY(status < 0
                ? mbg__fail(ctx, status, "parameter '%s' has no gradient in a run that starts from a given state", name)
                : MBG_OK);
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}

/* conditions of every gradient */
static int check_run(mbg_context *ctx, mbg_run *run, mbg_method method) {
  int err = MBG_OK;
  MBG_TRY(need_simulation(ctx, run));
  MBG_TRY(mbg__run_check_method(ctx, run, method));
  MBG_TRY(check_given_state(ctx, run));
  MBG_TRY(mbg__events_differentiable(ctx, run->plan.events));
done:
  return err;
}

int mbg__run_check_differentiable(mbg_context *ctx, mbg_run *run) {
  int err = MBG_OK;
  MBG_TRY(check_run(ctx, run, MBG_METHOD_DIRECT));
  MBG_TRY(mbg__check_parameters(ctx, run->sys, run->start));
  MBG_TRY(mbg__rank_watch_gradient(ctx, run->plan.watch));
done:
  return err;
}

/* nothing to do without a row: a model may have no criteria */
static int adjoint(mbg_context *ctx, mbg_run *run, mbg_method method, block *b) {
  return b->n == 0 ? MBG_OK : run->formulation->ops->adjoint(ctx, run->work, method, b->n, b->seeds, b->psi_a);
}

static void copy_gradient(size_t n, const real *from, double *to) {
  for (size_t i = 0; i < n; i++) {
    to[i] = re(from[i]);
  }
}

/* end of every gradient */
static int finish(mbg_run *run, double begin, int err) {
  run->effort.seconds_gradient = mbg__run_clock() - begin;
  mbg__run_count_work(run);
  return err;
}

/* conditions, and the seeds of the rows */
static int prepare(mbg_context *ctx, mbg_run *run, mbg_method method, int n, const mbg__gradient_row *rows, block *b) {
  int err = MBG_OK;
  MBG_TRY(mbg__run_check_method(ctx, run, method));
  MBG_TRY(mbg__check_parameters(ctx, run->sys, run->start));
  MBG_TRY(mbg__rank_watch_gradient(ctx, run->plan.watch));
  MBG_TRY(make_block(ctx, run, n, rows, b));
done:
  return err;
}

/* psi_p of the block, and gradients by every attribute where rows want them */
static int differentiate(mbg_context *ctx, mbg_run *run, mbg_method method, int n, const mbg__gradient_row *rows,
                         block *b, mbg_method *used) {
  const size_t np = (size_t)run->m->np, na = (size_t)run->m->na;
  int err = MBG_OK;
  MBG_TRY(check_run(ctx, run, method));
  method = mbg__run_choose_method(run, method, n);
  MBG_TRY(prepare(ctx, run, method, n, rows, b));
  if (method == MBG_METHOD_DIRECT) {
    direct_sum sum = {run, b};
    MBG_TRY(run->formulation->ops->tangent(ctx, run->work, direct_take, &sum));
    add_staged(&sum);
  } else {
    MBG_TRY(adjoint(ctx, run, method, b));
  }
  for (size_t k = 0; k < (size_t)n; k++) {
    mbg__design_pull(run->design, b->psi_a + k * na, b->psi_p + k * np);
    if (rows[k].attributes) {
      mbg__design_fold(run->design, b->psi_a + k * na);
      copy_gradient(na, b->psi_a + k * na, rows[k].attributes);
    }
  }
  if (used) {
    *used = method;
  }
done:
  return err;
}

int mbg__run_gradient_rows(mbg_context *ctx, mbg_run *run, mbg_method method, int n, const mbg__gradient_row *rows,
                           double *gradient, mbg_method *used) {
  const double begin = mbg__run_clock();
  const size_t np = (size_t)run->m->np;
  block b = {0};
  int err = MBG_OK;
  mbg__arena_init(&b.arena, mbg__context_allocator(ctx));
  MBG_TRY(differentiate(ctx, run, method, n, rows, &b, used));
  copy_gradient((size_t)n * np, b.psi_p, gradient);
  for (size_t k = 0; k < (size_t)n; k++) {
    MBG_TRY(mbg__run_check_gradient(ctx, run, &rows[k], gradient + k * np));
  }
done:
  mbg__arena_destroy(&b.arena);
  return finish(run, begin, err);
}

enum { TOGETHER_MAX = 8 };

int mbg__run_gradients(mbg_context *ctx, int nrun, mbg_run *const *runs, int n, const mbg__gradient_row *rows,
                       mbg__run_adjoints *adjoints, void *user, double *const *gradients) {
  const double begin = mbg__run_clock();
  const mbg__criterion_seeds *seeds[TOGETHER_MAX];
  real *psi_a[TOGETHER_MAX];
  block b[TOGETHER_MAX] = {0};
  int err = MBG_OK;
  assert(nrun <= TOGETHER_MAX);
  for (int i = 0; i < nrun; i++) {
    mbg__arena_init(&b[i].arena, mbg__context_allocator(ctx));
  }
  for (int i = 0; i < nrun; i++) {
    MBG_TRY(check_run(ctx, runs[i], MBG_METHOD_ADJOINT));
    MBG_TRY(prepare(ctx, runs[i], MBG_METHOD_ADJOINT, n, rows, &b[i]));
    seeds[i] = b[i].seeds;
    psi_a[i] = b[i].psi_a;
  }
  MBG_TRY(adjoints(ctx, user, n, seeds, psi_a));
  for (int i = 0; i < nrun; i++) {
    const size_t np = (size_t)runs[i]->m->np, na = (size_t)runs[i]->m->na;
    for (size_t k = 0; k < (size_t)n; k++) {
      mbg__design_pull(runs[i]->design, b[i].psi_a + k * na, b[i].psi_p + k * np);
      copy_gradient(np, b[i].psi_p + k * np, gradients[i] + k * np);
      MBG_TRY(mbg__run_check_gradient(ctx, runs[i], &rows[k], gradients[i] + k * np));
    }
    runs[i]->effort.seconds_gradient = mbg__run_clock() - begin;
  }
done:
  for (int i = 0; i < nrun; i++) {
    mbg__arena_destroy(&b[i].arena);
  }
  return err;
}

int mbg__run_gradient_sum(mbg_context *ctx, mbg_run *run, mbg_method method, const double *weights, real *gradient) {
  const double begin = mbg__run_clock();
  const mbg__gradient_row row = {.criterion = -1, .weight = weights};
  block b = {0};
  mbg__arena_init(&b.arena, mbg__context_allocator(ctx));
  const int err = differentiate(ctx, run, method, 1, &row, &b, NULL);
  if (err == MBG_OK) {
    memcpy(gradient, b.psi_p, (size_t)run->m->np * sizeof(real));
  }
  mbg__arena_destroy(&b.arena);
  return finish(run, begin, err);
}

int mbg__run_gradient_total(mbg_context *ctx, mbg_run *run, int n, const mbg__gradient_row *rows, real *gradient,
                            real *attributes) {
  const double begin = mbg__run_clock();
  const size_t np = (size_t)run->m->np, na = (size_t)run->m->na;
  block b = {0};
  mbg__arena_init(&b.arena, mbg__context_allocator(ctx));
  const int err = differentiate(ctx, run, MBG_METHOD_ADJOINT, n, rows, &b, NULL);
  for (size_t k = 0; err == MBG_OK && k < (size_t)n; k++) {
    for (size_t i = 0; i < np; i++) {
      gradient[i] = (k > 0 ? gradient[i] : 0) + b.psi_p[k * np + i];
    }
    for (size_t i = 0; attributes && i < na; i++) {
      attributes[i] = (k > 0 ? attributes[i] : 0) + b.psi_a[k * na + i];
    }
  }
  mbg__arena_destroy(&b.arena);
  return finish(run, begin, err);
}

int mbg_run_select(mbg_context *ctx, mbg_run *run, int n, const int *criteria) {
  MBG_NEED(ctx, ctx && run && (n <= 0 || criteria));
  for (int i = 0; i < n; i++) {
    if (criteria[i] < 0 || criteria[i] >= run->m->ncriterion) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "there is no criterion %d; the model has %d", criteria[i],
                       run->m->ncriterion);
    }
  }
  for (int k = 0; k < run->m->ncriterion; k++) {
    run->left_out[k] = n > 0;
  }
  for (int i = 0; i < n; i++) {
    run->left_out[criteria[i]] = false;
  }
  return MBG_OK;
}

/* rows of the selected criteria, from the first places of a table to their own */
static void spread_rows(const mbg_run *run, int n, double *gradient) {
  const size_t np = (size_t)run->m->np;
  for (int k = run->m->ncriterion - 1; k >= 0; k--) {
    double *own = gradient + (size_t)k * np;
    if (!run->left_out[k]) {
      memmove(own, gradient + (size_t)--n * np, np * sizeof(double));
      continue;
    }
    for (size_t i = 0; i < np; i++) {
      own[i] = NAN;
    }
  }
}

int mbg_run_gradient(mbg_context *ctx, mbg_run *run, mbg_method method, double *gradient, mbg_method *used) {
  MBG_NEED(ctx, ctx && run && gradient);
  mbg__gradient_row *rows = mbg__alloc_zero(ctx, (size_t)run->m->ncriterion + 1, sizeof(*rows));
  int n = 0;
  for (int k = 0; rows && k < run->m->ncriterion; k++) {
    rows[n].criterion = k;
    n += !run->left_out[k];
  }
  const int err = rows ? mbg__run_gradient_rows(ctx, run, method, n, rows, gradient, used) : mbg__fail_memory(ctx);
  if (err == MBG_OK) {
    spread_rows(run, n, gradient);
  }
  mbg__free(ctx, rows);
  return err;
}

int mbg_run_gradient_sum(mbg_context *ctx, mbg_run *run, mbg_method method, const double *weights, double *gradient) {
  MBG_NEED(ctx, ctx && run && weights && gradient);
  const mbg__gradient_row row = {.criterion = -1, .weight = weights};
  return mbg__run_gradient_rows(ctx, run, method, run->m->ncriterion > 0, &row, gradient, NULL);
}

/* ---------------------------------------------------------------------- gradient by every attribute */

int mbg_run_gradient_all(mbg_context *ctx, mbg_run *run, int criterion, double *gradient) {
  MBG_NEED(ctx, ctx && run && gradient);
  const mbg_model *m = run->m;
  const double begin = mbg__run_clock();
  const mbg__gradient_row row = {.criterion = criterion};
  block b = {0};
  int err = MBG_OK;
  mbg__arena_init(&b.arena, mbg__context_allocator(ctx));
  MBG_TRY(check_run(ctx, run, mbg_run_adjoint_method(run)));
  if (criterion < 0 || criterion >= m->ncriterion) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "there is no criterion %d; the model has %d", criterion, m->ncriterion);
    goto done;
  }
  MBG_TRY(make_block(ctx, run, 1, &row, &b));
  b.seeds[0].all = true;
  MBG_TRY(adjoint(ctx, run, mbg_run_adjoint_method(run), &b));
  mbg__design_fold(run->design, b.psi_a);
  copy_gradient((size_t)m->na, b.psi_a, gradient);
  MBG_TRY(mbg__run_check_attributes(ctx, run, criterion, gradient));
done:
  mbg__arena_destroy(&b.arena);
  return finish(run, begin, err);
}

/* ---------------------------------------------------------------------- sensitivities over time */

typedef struct {
  mbg_context *ctx;
  const mbg_run *run;
  int (*take)(void *user, int node, const double *dy);
  void *user;
  int rows; /* of dy */
  double *dy;
} history;

static size_t length(const mbg_run *run, int rows) { return (size_t)run->m->np * (size_t)rows; }

static int history_take(void *user, int node, const real *dy) {
  history *h = user;
  copy_gradient(length(h->run, h->rows), dy, h->dy);
  const int err = mbg__run_check_history(h->ctx, h->run, node, h->rows, h->dy);
  return err < 0 ? err : h->take(h->user, node, h->dy);
}

static int take_history(history h, mbg_run *run) {
  mbg_context *ctx = h.ctx;
  int err = MBG_OK;
  MBG_TRY(mbg__run_check_differentiable(ctx, run));
  h.dy = mbg__alloc(ctx, length(run, h.rows) + 1, sizeof(double));
  MBG_TRY(h.dy ? run->formulation->ops->tangent(ctx, run->work, history_take, &h) : mbg__fail_memory(ctx));
done:
  mbg__free(ctx, h.dy);
  mbg__run_count_work(run);
  return err;
}

int mbg_run_history(mbg_context *ctx, mbg_run *run, int (*take)(void *user, int node, const double *dy), void *user) {
  MBG_NEED(ctx, ctx && run && take);
  return take_history((history){.ctx = ctx, .run = run, .take = take, .user = user, .rows = run->nused}, run);
}

/* ---------------------------------------------------------------------- poses over time */

typedef struct {
  const mbg_run *run;
  int (*take)(void *user, int node, const double *dx);
  void *user;
  double *dx; /* (6 bodies + modal coordinates x np) */
} poses;

static int poses_take(void *user, int node, const double *dy) {
  const poses *o = user;
  const mbg_model *m = o->run->m;
  const size_t np = (size_t)m->np;
  const double *w = dy + length(o->run, o->run->nused);
  double *dx = o->dx;
  for (int b = 0; b < mbg__frames(m); b++, dx += 6 * np) {
    memcpy(dx, w + (size_t)m->bodies[b].voff * np, 6 * np * sizeof(double));
  }
  /* carriers of modal coordinates do not turn */
  for (int i = 0; i < m->nmodal; i++) {
    for (int j = 0; j < m->modals[i].n; j++, dx += np) {
      const int body = mbg__modal_carrier(&m->modals[i], j);
      memcpy(dx, w + (size_t)(m->bodies[body].voff + j % 3) * np, np * sizeof(double));
    }
  }
  return o->take(o->user, node, o->dx);
}

int mbg_run_pose_history(mbg_context *ctx, mbg_run *run, int (*take)(void *user, int node, const double *dx),
                         void *user) {
  MBG_NEED(ctx, ctx && run && take);
  poses o = {.run = run, .take = take, .user = user};
  if (run->simulated && run->m->nbody > 0 && run->nodes.npose == 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the run keeps no poses; create it with keep_poses");
  }
  o.dx = mbg__alloc(ctx, length(run, run->m->nw) + 1, sizeof(double));
  const history h = {.ctx = ctx, .run = run, .take = poses_take, .user = &o, .rows = run->nused + run->m->nw};
  const int err = o.dx ? take_history(h, run) : mbg__fail_memory(ctx);
  mbg__free(ctx, o.dx);
  return err;
}
