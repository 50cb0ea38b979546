/* The search: solves with a fixed list of path points, extended between them until no point that is not listed is
   violated. */
#include "problems/optimize.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* largest violation of a feasible design, in units of the scales */
static const double feasible = 1e-6;
enum { SOLVES_MAX = 20, STUCK_MAX = 4 };

typedef struct {
  mbg_context *ctx;
  mbg_optimize *opt;
  int before;        /* iterations of earlier solves */
  int stuck;         /* solves in a row that found no further step */
  uint64_t sequence; /* of events where the solve began */
  int changes;       /* solves that ended with another one */
} searching;

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------- callbacks of the optimizer */

static int values(void *user, const double *x, double *f, double *c) {
  const searching *s = user;
  mbg_optimize *opt = s->opt;
  const int status = mbg__optimize_values(s->ctx, opt, x);
  if (status != MBG_OK) {
    return status;
  }
  const double objective = mbg__optimize_objective(opt);
  *f = opt->task->worst ? x[opt->n] : objective / opt->f_scale;
  mbg__optimize_constraints(opt, x, c);
  if (mbg__optimize_violation(opt) <= feasible && !(objective >= opt->best)) {
    opt->best = objective;
    memcpy(opt->best_x, x, (size_t)opt->nx * sizeof(double));
  }
  return MBG_OK;
}

static int derivatives(void *user, const double *x, double *g, double *J) {
  const searching *s = user;
  return mbg__optimize_gradients(s->ctx, s->opt, x, g, J);
}

static int hessian(void *user, const double *x, double *H) {
  const searching *s = user;
  return mbg__optimize_hessian(s->ctx, s->opt, x, H);
}

static int product(void *user, const double *x, double factor, const double *lambda, const double *d, double *Hd) {
  const searching *s = user;
  return mbg__optimize_product(s->ctx, s->opt, x, factor, lambda, d, Hd);
}

static int keep_history(mbg_context *ctx, mbg_optimize *opt, const mbg_optimize_record *record) {
  if (opt->summary.history == opt->history_room) {
    const int room = 2 * opt->history_room + 64;
    mbg_optimize_record *more = MBG_TAKE(&opt->arena, mbg_optimize_record, room);
    if (!more) {
      return mbg__fail_memory(ctx);
    }
    if (opt->summary.history > 0) {
      memcpy(more, opt->history, (size_t)opt->summary.history * sizeof(*more));
    }
    opt->history = more;
    opt->history_room = room;
  }
  opt->history[opt->summary.history++] = *record;
  return MBG_OK;
}

static int progress(void *user, const mbg__nlp_state *state) {
  const searching *s = user;
  mbg_optimize *opt = s->opt;
  const mbg_optimize_record record = {.objective = mbg__optimize_objective(opt),
                                      .violation = mbg__optimize_violation(opt),
                                      .optimality = state->optimality,
                                      .best = opt->best,
                                      .step = state->step};
  const bool full = keep_history(s->ctx, opt, &record) < 0;
  mbg__optimize_parameters_of(opt, state->x, opt->shown + opt->np, opt->shown);
  const mbg_optimize_state shown = {.iteration = s->before + state->iteration,
                                    .most = opt->nlp.max_iterations,
                                    .objective = record.objective,
                                    .violation = record.violation,
                                    .optimality = state->optimality,
                                    .step = state->step,
                                    .best = opt->best,
                                    .seconds = now() - opt->begin,
                                    .replayed = opt->replayed,
                                    .parameters = opt->shown};
  if (opt->replayed) {
    opt->begin = now();
  }
  const bool stop = opt->o.progress && opt->o.progress(opt->o.user, &shown) && !opt->work.replaying;
  return mbg__work_any(s->ctx, &opt->work, stop || full);
}

/* ---------------------------------------------------------------------- restart file */

/* the problem that the evaluations of a file belong to; the values at the start represent the model */
static void head(const mbg_optimize *opt, char *buffer, size_t size) {
  uint64_t h = MBG__SUM_START;
  h = mbg__sum(h, opt->value, (size_t)opt->nvalue * sizeof(double));
  h = mbg__sum(h, opt->p0, (size_t)opt->np * sizeof(double));
  h = mbg__sum(h, opt->x, (size_t)opt->nx * sizeof(double));
  h = mbg__sum(h, opt->lower, (size_t)opt->n * sizeof(double));
  h = mbg__sum(h, opt->upper, (size_t)opt->n * sizeof(double));
  h = mbg__sum(h, opt->span, (size_t)opt->n * sizeof(double));
  h = mbg__sum(h, &opt->f_scale, sizeof(double));
  h = mbg__sum(h, &opt->task->robust, sizeof(double));
  for (int i = 0; i < opt->n; i++) {
    h = mbg__sum(h, opt->parameter[i].name, strlen(opt->parameter[i].name));
  }
  for (int k = 0; k < opt->ncase; k++) {
    const double numbers[] = {opt->load[k].step, opt->load[k].shown.weight};
    h = mbg__sum(h, numbers, sizeof(numbers));
  }
  for (int i = 0; i < opt->nlimit; i++) {
    const mbg__limit *l = &opt->limit[i];
    const double numbers[] = {l->bound, l->scale, l->side, l->of->aggregate};
    h = mbg__sum(h, numbers, sizeof(numbers));
  }
  for (int k = 0; k < opt->nfilter; k++) {
    h = mbg__sum(h, &opt->filter[k].radius, sizeof(double));
  }
  mbg__format(buffer, size, "mbgrad optimize 1: %d parameters, %d load cases, %d constraints, %s, %s, %016" PRIx64,
              opt->n, opt->ncase, opt->nlimit, opt->summary.optimizer, opt->summary.formulation, h);
}

static int open_record(mbg_context *ctx, mbg_optimize *opt) {
  char own[256];
  if (!opt->o.restart) {
    return MBG_OK;
  }
  head(opt, own, sizeof(own));
  return mbg__work_open_record(ctx, &opt->work, opt->o.restart, own, opt->o.resume);
}

/* ---------------------------------------------------------------------- solves */

static int solve_once(searching *s, double *x, mbg__nlp_result *result) {
  mbg_optimize *opt = s->opt;
  const mbg__nlp_problem problem = {.n = opt->nx,
                                    .m = opt->m,
                                    .lower = opt->lower,
                                    .upper = opt->upper,
                                    .offset = opt->offset,
                                    .span = opt->span,
                                    .log = opt->log,
                                    .equal = opt->equal,
                                    .values = values,
                                    .derivatives = derivatives,
                                    .hessian = opt->squares ? hessian : NULL,
                                    .product = product,
                                    .progress = progress,
                                    .user = s};
  mbg__nlp_options o = opt->nlp;
  o.max_iterations -= s->before;
  o.max_evaluations -= opt->summary.evaluations;
  o.reference = opt->summary.gradient_start;
  const int err = mbg__nlp_solve(s->ctx, &problem, &o, x, result);
  opt->summary.gradient_start = result->reference;
  opt->summary.solves++;
  opt->summary.products += result->products;
  s->before += result->iterations;
  opt->summary.iterations = s->before;
  return err;
}

/* positive: points have to be added, or a method that found no further step or other events shall go on from there with
   an empty memory, and there is room for another solve */
static int another(searching *s, const double *x, const mbg__nlp_result *result) {
  mbg_optimize *opt = s->opt;
  const bool over = result->reason == MBG__NLP_INTERRUPTED || result->reason == MBG__NLP_ITERATIONS ||
                    opt->summary.solves >= SOLVES_MAX || s->before >= opt->nlp.max_iterations;
  if (over) {
    return 0;
  }
  const int status = mbg__optimize_values(s->ctx, opt, x);
  if (status != MBG_OK || mbg__optimize_unlisted(opt) > opt->nlp.feasibility) {
    return status < 0 ? status : status == MBG_OK;
  }
  uint64_t sequence;
  const int known = mbg__optimize_sequence(s->ctx, opt, &sequence);
  if (known != MBG_OK || (sequence != s->sequence && s->changes++ < MBG__SEQUENCE_CHANGES)) {
    return known < 0 ? known : known == MBG_OK; /* its memory is of other events */
  }
  s->stuck = result->reason == MBG__NLP_STUCK ? s->stuck + 1 : 0;
  if (s->stuck > 0 && opt->chosen && opt->nlp.method == MBG__NLP_SLSQP && mbg__nlp_available(MBG__NLP_IPOPT)) {
    opt->nlp.method =
        MBG__NLP_IPOPT; /* its line search may stall where constraints contradict each other to first order */
    opt->summary.optimizer = "slsqp, then ipopt";
  }
  if (s->stuck > 0 && opt->nlp.method == MBG__NLP_IPOPT_EXACT) {
    opt->nlp.method = MBG__NLP_IPOPT; /* where second derivatives lead astray, first ones go on from the best design */
    opt->summary.optimizer = "ipopt-exact, then ipopt";
  }
  return s->stuck > 0 && s->stuck < STUCK_MAX;
}

static int search(searching *s, double *x, mbg__nlp_result *result) {
  int err = MBG_OK, more = 1;
  const int errors = mbg__error_count(s->ctx);
  mbg_optimize *opt = s->opt;
  while (more > 0) {
    err = mbg__optimize_values(s->ctx, opt, x);
    if (err > 0) {
      return mbg__error_count(s->ctx) > errors
                 ? MBG_ERROR_CONVERGENCE
                 : mbg__fail(s->ctx, MBG_ERROR_CONVERGENCE, "the model cannot be simulated at the start");
    }
    MBG_TRY(err);
    if (opt->summary.solves == 0) {
      opt->summary.objective_start = mbg__optimize_objective(opt);
      if (opt->task->worst) {
        x[opt->n] = opt->summary.objective_start / opt->f_scale;
      }
    }
    MBG_TRY(mbg__optimize_sequence(s->ctx, opt, &s->sequence));
    MBG_TRY(mbg__optimize_select(s->ctx, opt));
    MBG_TRY(solve_once(s, x, result));
    MBG_TRY(more = another(s, x, result));
  }
done:
  return err < 0 ? err : MBG_OK;
}

/* ---------------------------------------------------------------------- the whole */

static mbg_optimize_reason reason_of(const mbg_optimize *opt, const mbg__nlp_result *result) {
  static const mbg_optimize_reason reasons[] = {[MBG__NLP_OPTIMAL] = MBG_OPTIMIZE_OPTIMAL,
                                                [MBG__NLP_SETTLED] = MBG_OPTIMIZE_SETTLED,
                                                [MBG__NLP_STUCK] = MBG_OPTIMIZE_STUCK,
                                                [MBG__NLP_ITERATIONS] = MBG_OPTIMIZE_ITERATIONS,
                                                [MBG__NLP_INTERRUPTED] = MBG_OPTIMIZE_INTERRUPTED};
  const mbg_optimize_reason reason = reasons[result->reason];
  const mbg_optimize_summary *s = &opt->summary;
  if (reason == MBG_OPTIMIZE_INTERRUPTED || reason == MBG_OPTIMIZE_ITERATIONS) {
    return reason;
  }
  if (!s->feasible) {
    return MBG_OPTIMIZE_INFEASIBLE;
  }
  if (s->optimality <= opt->nlp.optimality) {
    return MBG_OPTIMIZE_OPTIMAL;
  }
  return reason == MBG_OPTIMIZE_OPTIMAL ? MBG_OPTIMIZE_STUCK : reason;
}

int mbg_optimize_solve(mbg_context *ctx, mbg_optimize *opt) {
  MBG_NEED(ctx, ctx && opt);
  int err = MBG_OK;
  searching s = {.ctx = ctx, .opt = opt};
  mbg__nlp_result result;
  opt->begin = now();
  MBG_TRY(open_record(ctx, opt));
  MBG_TRY(search(&s, opt->x, &result));
  opt->summary.replayed = opt->work.replayed;
  mbg__work_close_record(&opt->work);
  /* a design that was feasible at every step on the way is better than one that is not */
  opt->reporting = true;
  if (result.reason != MBG__NLP_OPTIMAL && !isnan(opt->best)) {
    memcpy(opt->x, opt->best_x, (size_t)opt->nx * sizeof(double));
  }
  MBG_TRY(mbg__optimize_report(ctx, opt));
  for (int k = 0; k < opt->ncase; k++) {
    if (mbg__work_is_own(&opt->work, k)) {
      mbg__sequence_note(ctx, opt->load[k].run, opt->load[k].shown.run, k + 1 == opt->ncase ? s.changes : 0);
    }
  }
  opt->summary.feasible = opt->summary.violation <= feasible;
  opt->summary.reason = reason_of(opt, &result);
  opt->summary.converged = opt->summary.reason == MBG_OPTIMIZE_OPTIMAL || opt->summary.reason == MBG_OPTIMIZE_SETTLED;
  opt->summary.seconds = now() - opt->begin;
done:
  mbg__work_close_record(&opt->work);
  return err;
}
