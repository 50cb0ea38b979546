/* Evaluations: load cases in threads and ranks, values and gradients by the unknowns, recorded. */
#include "problems/optimize.h"

#include "mbgrad/error.h"
#include "problems/cases.h"

#include <string.h>

/* ---------------------------------------------------------------------- one case */

/* criteria, then the points of paths */
static int take_values(mbg__case *c) {
  const mbg__criteria *criteria = mbg__run_criteria_of(c->run);
  const int err = mbg_run_criteria(c->ctx, c->run, c->value);
  for (int k = 0; err == MBG_OK && k < c->model->ncriterion; k++) {
    const int next = k + 1 < c->model->ncriterion ? c->path[k + 1] : c->nvalue;
    if (next > c->path[k] && mbg__criteria_path(criteria, k) != next - c->path[k]) {
      return mbg__fail(c->ctx, MBG_ERROR_UNSUPPORTED,
                       "criterion '%s' has other time steps than before: with error control give \"every\"",
                       c->model->criteria[k].name);
    }
    for (int i = 0; i < next - c->path[k]; i++) {
      c->value[c->path[k] + i] = re(mbg__criteria_path_value(criteria, k, i));
      c->time[c->path[k] + i] = mbg__criteria_path_time(criteria, k, i);
    }
  }
  return err == MBG_OK && c->robust > 0 ? mbg__case_scatter(c, &c->value[c->objective]) : err;
}

static int simulate(mbg__case *c) {
  int err = MBG_OK;
  c->simulated = false;
  MBG_TRY(mbg_run_set_parameters(c->ctx, c->run, c->p));
  MBG_TRY(mbg_run_simulate(c->ctx, c->run));
  if (mbg_run_partial(c->run)) {
    return MBG_ERROR_INTERRUPTED;
  }
  c->simulated = true;
done:
  return err;
}

int mbg__case_simulated(mbg__case *c) { return c->simulated ? MBG_OK : simulate(c); }

static void simulate_case(mbg__case *c) {
  c->status = simulate(c);
  if (c->status == MBG_OK) {
    c->status = take_values(c);
  }
}

static void value_results(mbg__case *c, mbg__parcel *p) {
  mbg__parcel_numbers(p, (size_t)c->nvalue, c->value);
  mbg__parcel_numbers(p, (size_t)c->nvalue, c->time);
}

static const mbg__stage simulation = {simulate_case, value_results};

static void differentiate_case(mbg__case *c) {
  c->status = c->simulated ? MBG_OK : simulate(c);
  if (c->status == MBG_OK && c->nrow > 0) {
    c->status = mbg__run_gradient_rows(c->ctx, c->run, MBG_METHOD_AUTO, c->nrow, c->row, c->gradient, &c->used);
  }
  if (c->status == MBG_OK && c->robust > 0) {
    c->status = mbg__case_add_scatter(c, c->gradient);
  }
}

static void gradient_results(mbg__case *c, mbg__parcel *p) {
  mbg__parcel_numbers(p, (size_t)c->nrow * (size_t)c->model->np, c->gradient);
  mbg__parcel_bytes(p, sizeof(c->used), &c->used);
}

static const mbg__stage differentiation = {differentiate_case, gradient_results};

static void error_case(mbg__case *c) {
  c->error = 0;
  c->regular = true;
  c->status = c->objective < 0 || c->simulated ? MBG_OK : simulate(c);
  if (c->status == MBG_OK && c->objective >= 0) {
    (void)mbg_run_select(c->ctx, c->run, 1, &c->objective);
    c->status = mbg_run_error(c->ctx, c->run, MBG_METHOD_AUTO, false);
    const mbg_step_error *s = mbg_run_get_error(c->run, c->objective);
    c->error = s ? s->value : NAN;
    c->regular = s && s->regular;
    (void)mbg_run_select(c->ctx, c->run, 0, NULL);
  }
}

static void sequence_case(mbg__case *c) {
  c->status = c->simulated ? MBG_OK : simulate(c);
  c->events = c->status == MBG_OK ? mbg__sequence_sum(c->run) : 0;
}

static void sequence_results(mbg__case *c, mbg__parcel *p) { mbg__parcel_bytes(p, sizeof(c->events), &c->events); }

static const mbg__stage sequences = {sequence_case, sequence_results};

static void error_results(mbg__case *c, mbg__parcel *p) {
  mbg__parcel_numbers(p, 1, &c->error);
  mbg__parcel_bytes(p, sizeof(c->regular), &c->regular);
}

static const mbg__stage estimation = {error_case, error_results};

/* ---------------------------------------------------------------------- all cases */

int mbg__optimize_evaluate_all(mbg_context *ctx, mbg_optimize *opt, const mbg__stage *stage, bool all) {
  int status;
  const int err = mbg__work_evaluate(ctx, &opt->work, stage, all, &status);
  if (err == MBG_OK && mbg__curable(status)) {
    opt->summary.failures++;
    return 1;
  }
  return err < 0 ? err : status;
}

static void evaluate_case(void *user, const void *stage, int k) {
  ((const mbg__stage *)stage)->evaluate(&((mbg_optimize *)user)->load[k]);
}

static void results_of_case(void *user, const void *stage, int k, mbg__parcel *p) {
  ((const mbg__stage *)stage)->results(&((mbg_optimize *)user)->load[k], p);
}

static uint64_t sum_of(const void *user) {
  const mbg_optimize *opt = user;
  uint64_t h = mbg__sum(MBG__SUM_START, opt->p, (size_t)opt->np * sizeof(double));
  h = mbg__sum(h, &opt->m, sizeof(opt->m));
  for (int k = 0; k < opt->ncase; k++) {
    h = mbg__sum(h, &opt->load[k].nrow, sizeof(opt->load[k].nrow));
  }
  return h;
}

int mbg__optimize_make_work(mbg_context *ctx, mbg_optimize *opt) {
  mbg__work_case *cases = MBG_TAKE(&opt->arena, mbg__work_case, opt->ncase);
  for (int k = 0; cases && k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    cases[k] = (mbg__work_case){.ctx = c->ctx, .run = c->shown.run, .status = &c->status};
  }
  opt->work = (mbg__case_work){.count = opt->ncase,
                               .threads = opt->o.threads,
                               .ranks = opt->o.ranks,
                               .cases = cases,
                               .user = opt,
                               .evaluate = evaluate_case,
                               .results = results_of_case,
                               .sum = sum_of,
                               .replaying = opt->o.restart && opt->o.resume};
  return mbg__arena_check(ctx, &opt->arena);
}

/* ---------------------------------------------------------------------- values */

static void simulate_all(mbg_optimize *opt, const double *x) {
  mbg__optimize_parameters_at(opt, x);
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case_parameters(opt->load[k].model, opt->p, opt->load[k].p);
    opt->load[k].simulated = false;
  }
}

static void collect(mbg_optimize *opt) {
  double *out = opt->value;
  for (int k = 0; k < opt->ncase; k++) {
    memcpy(out, opt->load[k].value, (size_t)opt->load[k].nvalue * sizeof(double));
    out += opt->load[k].nvalue;
  }
}

static void distribute(mbg_optimize *opt) {
  const double *in = opt->value;
  for (int k = 0; k < opt->ncase; k++) {
    memcpy(opt->load[k].value, in, (size_t)opt->load[k].nvalue * sizeof(double));
    in += opt->load[k].nvalue;
  }
}

static void show_objectives(mbg_optimize *opt) {
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    c->shown.objective = c->objective >= 0 ? c->value[c->objective] : NAN;
  }
}

int mbg__optimize_values(mbg_context *ctx, mbg_optimize *opt, const double *x) {
  int status = MBG_OK, err = MBG_OK;
  bool found;
  if (opt->valued && !memcmp(opt->at, x, (size_t)opt->nx * sizeof(double))) {
    return MBG_OK;
  }
  opt->valued = false;
  memcpy(opt->at, x, (size_t)opt->nx * sizeof(double));
  simulate_all(opt, x);
  MBG_TRY(mbg__work_recorded(ctx, &opt->work, 'v', opt->nx, x, opt->nvalue, opt->value, &status, &found));
  opt->replayed = found;
  opt->summary.evaluations++;
  if (!found) {
    status = mbg__optimize_evaluate_all(ctx, opt, &simulation, false);
    MBG_TRY(status);
    collect(opt);
    MBG_TRY(mbg__work_add_record(ctx, &opt->work, 'v', opt->nx, x, opt->nvalue, opt->value, status));
  } else {
    opt->summary.failures += status > 0;
    distribute(opt);
  }
  opt->valued = status == MBG_OK;
  show_objectives(opt);
  return status;
done:
  return err;
}

int mbg__optimize_sequence(mbg_context *ctx, mbg_optimize *opt, uint64_t *sum) {
  int err = MBG_OK;
  *sum = 0;
  if (opt->load[0].model->nevent == 0) {
    return MBG_OK;
  }
  MBG_TRY(mbg__optimize_evaluate_all(ctx, opt, &sequences, false));
  for (int k = 0; k < opt->ncase; k++) {
    *sum = mbg__sum(k == 0 ? MBG__SUM_START : *sum, &opt->load[k].events, sizeof(uint64_t));
  }
done:
  return err;
}

int mbg__optimize_case_errors(mbg_context *ctx, mbg_optimize *opt) {
  return mbg__optimize_evaluate_all(ctx, opt, &estimation, false);
}

/* ---------------------------------------------------------------------- gradients */

/* a row of a case to be differentiated; its number */
static int add_row(mbg_context *ctx, mbg__case *c, int criterion, int npoint, const int *point, const double *weight) {
  if (c->nrow == c->room) {
    const int room = 2 * c->room + 8;
    mbg__gradient_row *row = mbg__resize(ctx, c->row, (size_t)room, sizeof(*row));
    if (!row) {
      return mbg__fail_memory(ctx);
    }
    c->row = row;
    c->room = room;
  }
  c->row[c->nrow] = (mbg__gradient_row){.criterion = criterion, .npoint = npoint, .point = point, .weight = weight};
  return c->nrow++;
}

static const double one = 1;

static int limit_rows(mbg_context *ctx, mbg_optimize *opt, mbg__limit *l) {
  mbg__case *c = &opt->load[l->load];
  int err = MBG_OK;
  if (!l->path) {
    return add_row(ctx, c, l->of->criterion, 0, NULL, NULL);
  }
  if (l->aggregated) {
    (void)mbg__limit_aggregate(opt, l, l->soft);
    return add_row(ctx, c, l->of->criterion, l->npoint, l->point, l->soft);
  }
  for (int k = 0; k < l->nlisted; k++) {
    opt->summary.points_differentiated += !l->known[l->listed[k]];
    l->known[l->listed[k]] = true;
    MBG_TRY(add_row(ctx, c, l->of->criterion, 1, &l->listed[k], &one));
  }
done:
  return err;
}

/* in each case: the objective, then its limits in their order */
static int list_rows(mbg_context *ctx, mbg_optimize *opt) {
  int err = MBG_OK;
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    c->nrow = 0;
    if (c->objective >= 0) {
      MBG_TRY(add_row(ctx, c, c->objective, 0, NULL, NULL));
    }
  }
  for (int i = 0; i < opt->nlimit; i++) {
    if (opt->limit[i].load >= 0) {
      MBG_TRY(limit_rows(ctx, opt, &opt->limit[i]));
    }
  }
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case *c = &opt->load[k];
    double *more = mbg__resize(ctx, c->gradient, (size_t)c->nrow * (size_t)opt->np + 1, sizeof(double));
    if (!more) {
      err = mbg__fail_memory(ctx);
      goto done;
    }
    c->gradient = more;
  }
done:
  return err < 0 ? err : MBG_OK;
}

/* a parameter set by the run of a case has no effect there */
static void forget_set(const mbg_optimize *opt, const mbg__case *c) {
  for (int i = 0; i < opt->n; i++) {
    const int p = opt->parameter[i].index;
    for (int r = 0; mbg_model_parameter_is_set(c->model, p) && r < c->nrow; r++) {
      c->gradient[(size_t)r * (size_t)opt->np + (size_t)p] = 0;
    }
  }
}

void mbg__limit_mean(const mbg_optimize *opt, const mbg__limit *l, double *by_p) {
  double total = 0;
  for (int k = 0; k < l->of->nmean; k++) {
    total += l->of->means[k].weight * l->of->means[k].count;
  }
  memset(by_p, 0, (size_t)opt->np * sizeof(double));
  for (int k = 0; k < l->of->nmean; k++) {
    for (int i = 0; i < l->of->means[k].count; i++) {
      by_p[l->of->means[k].first + i] = l->of->means[k].weight / total;
    }
  }
}

static void pull_mean(const mbg_optimize *opt, const mbg__limit *l, double *by_p, double *by_u, double *by_x) {
  mbg__limit_mean(opt, l, by_p);
  mbg__optimize_pull(opt, by_p, by_u, (l->side ? l->side : 1) / l->scale, by_x);
}

/* rows of the cases to g and J, in the order of list_rows */
static void assemble(mbg_optimize *opt, int *next, double *by_p, double *by_u, double *g, double *J) {
  const size_t np = (size_t)opt->np, nx = (size_t)opt->nx;
  int row = 0;
  memset(g, 0, nx * sizeof(double));
  memset(J, 0, (size_t)opt->m * nx * sizeof(double));
  for (int k = 0; k < opt->ncase; k++) {
    const mbg__case *c = &opt->load[k];
    next[k] = 0;
    if (c->objective < 0) {
      continue;
    }
    double *out = opt->task->worst ? J + (size_t)row * nx : g;
    mbg__optimize_pull(opt, c->gradient, by_u, c->shown.weight / opt->f_scale, out);
    if (opt->task->worst) {
      out[opt->n] = -1;
      row++;
    }
    next[k]++;
  }
  if (opt->task->worst) {
    g[opt->n] = 1;
  }
  for (int i = 0; i < opt->nlimit; i++) {
    mbg__limit *l = &opt->limit[i];
    const int count = l->path && !l->aggregated ? l->nlisted : 1;
    for (int k = 0; k < count; k++, row++) {
      double *out = J + (size_t)row * nx;
      if (l->load < 0) {
        pull_mean(opt, l, by_p, by_u, out);
      } else {
        const mbg__case *c = &opt->load[l->load];
        const double factor = l->aggregated ? 1 : (l->side ? l->side : 1) / l->scale;
        mbg__optimize_pull(opt, c->gradient + (size_t)next[l->load]++ * np, by_u, factor, out);
      }
    }
  }
}

static int compute_gradients(mbg_context *ctx, mbg_optimize *opt, double *g, double *J) {
  int err = MBG_OK;
  int *next = mbg__alloc_zero(ctx, (size_t)opt->ncase + 1, sizeof(int));
  double *by_p = mbg__alloc_zero(ctx, (size_t)opt->np + (size_t)opt->n + 1, sizeof(double));
  if (!next || !by_p) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(list_rows(ctx, opt));
  MBG_TRY(mbg__optimize_evaluate_all(ctx, opt, &differentiation, false));
  if (err > 0) {
    goto done;
  }
  for (int k = 0; k < opt->ncase; k++) {
    const mbg__case *c = &opt->load[k];
    opt->summary.rows += c->nrow;
    opt->summary.direct += c->nrow > 0 && c->used == MBG_METHOD_DIRECT;
    opt->summary.adjoint += c->nrow > 0 && c->used != MBG_METHOD_DIRECT;
    forget_set(opt, c);
  }
  assemble(opt, next, by_p, by_p + opt->np, g, J);
done:
  mbg__free(ctx, next);
  mbg__free(ctx, by_p);
  return err;
}

int mbg__optimize_gradients(mbg_context *ctx, mbg_optimize *opt, const double *x, double *g, double *J) {
  const size_t nx = (size_t)opt->nx, m = (size_t)opt->m;
  int err = MBG_OK, status = MBG_OK;
  bool found;
  double *both = mbg__alloc(ctx, nx + m * nx, sizeof(double));
  if (!both) {
    return mbg__fail_memory(ctx);
  }
  MBG_TRY(mbg__work_recorded(ctx, &opt->work, 'g', (int)nx, x, (int)(nx + m * nx), both, &status, &found));
  if (!found) {
    status = compute_gradients(ctx, opt, both, both + nx);
    MBG_TRY(status);
    MBG_TRY(mbg__work_add_record(ctx, &opt->work, 'g', (int)nx, x, (int)(nx + m * nx), both, status));
  } else {
    MBG_TRY(list_rows(ctx, opt)); /* counts them */
  }
  memcpy(g, both, nx * sizeof(double));
  memcpy(J, both + nx, m * nx * sizeof(double));
  err = status;
done:
  mbg__free(ctx, both);
  return err;
}

/* ---------------------------------------------------------------------- first simulations */

/* The first simulation of each run decides which redundant rows are dropped, and its steps: it is always the one at the
   start of the file, so that what follows does not depend on where a search begins or was resumed. */
static void first_case(mbg__case *c) {
  c->status = simulate(c);
  c->step = mbg__run_step(c->run);
  for (int k = 0; c->status == MBG_OK && k < c->model->ncriterion; k++) {
    c->npath[k] = c->model->criteria[k].kind == MBG__PATH ? mbg__criteria_path(mbg__run_criteria_of(c->run), k) : 0;
  }
}

static void first_results(mbg__case *c, mbg__parcel *p) {
  mbg__parcel_numbers(p, 1, &c->step);
  mbg__parcel_bytes(p, (size_t)c->model->ncriterion * sizeof(int), c->npath);
}

static const mbg__stage first = {first_case, first_results};

static int place_values(mbg_context *ctx, mbg_optimize *opt, mbg__case *c) {
  const mbg_model *m = c->model;
  c->path = MBG_TAKE(&opt->arena, int, m->ncriterion + 1);
  if (!c->path) {
    return mbg__fail_memory(ctx);
  }
  c->nvalue = m->ncriterion;
  for (int k = 0; k < m->ncriterion; k++) {
    bool limited = false;
    for (int i = 0; i < m->optimize.nlimit; i++) {
      limited = limited || m->optimize.limits[i].criterion == k;
    }
    c->path[k] = c->nvalue;
    c->nvalue += limited ? c->npath[k] : 0;
  }
  c->value = MBG_TAKE(&opt->arena, double, c->nvalue + 1);
  c->time = MBG_TAKE(&opt->arena, double, c->nvalue + 1);
  opt->nvalue += c->nvalue;
  return mbg__arena_check(ctx, &opt->arena);
}

static void value_case(mbg__case *c) { c->status = take_values(c); }

static const mbg__stage first_values = {value_case, value_results};

static int first_status(const mbg_optimize *opt) {
  int k = 0;
  while (k < opt->ncase - 1 && opt->load[k].status == MBG_OK) {
    k++;
  }
  return opt->load[k].status;
}

int mbg__optimize_first(mbg_context *ctx, mbg_optimize *opt) {
  int err = MBG_OK;
  memcpy(opt->p, opt->p0, (size_t)opt->np * sizeof(double));
  for (int k = 0; k < opt->ncase; k++) {
    mbg__case_parameters(opt->load[k].model, opt->p, opt->load[k].p);
  }
  err = mbg__optimize_evaluate_all(ctx, opt, &first, true);
  if (err == MBG_ERROR_INTERRUPTED) {
    return mbg__fail(ctx, err, "interrupted during the first simulation; there is no result");
  }
  MBG_TRY(err > 0 ? first_status(opt) : err);
  for (int k = 0; k < opt->ncase; k++) {
    MBG_TRY(place_values(ctx, opt, &opt->load[k]));
  }
  MBG_TRY(mbg__optimize_evaluate_all(ctx, opt, &first_values, false));
  MBG_TRY(err > 0 ? first_status(opt) : err);
  opt->summary.failures = 0;
  opt->value = MBG_TAKE(&opt->arena, double, opt->nvalue + 1);
  MBG_TRY(mbg__arena_check(ctx, &opt->arena));
  collect(opt);
done:
  return err;
}
