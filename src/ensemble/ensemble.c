/* Ensembles: four runs whose steps are made together. What is not a step is done by each run: see vector_run.h. */
#include "mbgrad/ensemble.h"

#include "ensemble/vector_run.h"
#include "run/run_internal.h"
#include "system/system_internal.h"
#include "trajectory/rank_watch.h"

#include <string.h>

enum { N = MBG__VECTOR_SAMPLES, LOST_MOST = 4 /* vectors; then nothing is gained by others */ };

/* A run, for the samples of one lane. */
typedef struct {
  mbg_context *ctx; /* with the messages of its samples */
  mbg_run *run;
  bool warns;           /* its making has warned */
  const double *p;      /* of the present sample            (np) */
  mbg__vector_state at; /* where it starts */
  double *t, *y;        /* nodes of the last simulation      (room), (room x width) */
} lane;

struct mbg_ensemble {
  const mbg_model *m;
  mbg_run_options options;
  mbg_allocator allocator;
  lane lanes[N];
  const char *reason; /* NULL: samples go together */
  mbg__kernels kernels;
  mbg__vector_run *vector; /* NULL: not made yet */
  mbg__arena arena;
  int room;
  int nselect, *select; /* criteria whose gradients are wanted        (ncriterion) */
  mbg__gradient_row *rows;
  double *rows_gradient; /* of all lanes   (N x ncriterion x np) */
  int lost;              /* vectors in a row whose samples have diverged */
  /* of the samples that go together */
  int count, from[N]; /* lane i of the vector has the sample of lane from[i] */
  const mbg__criterion_seeds *const *seeds;
};

/* ---------------------------------------------------------------------- creation */

#ifdef MBG_HAS_ENSEMBLE

static bool processor_can(void) { return __builtin_cpu_supports("avx2"); }

#else

static bool processor_can(void) { return false; }

int mbg__vector_run_create(mbg_context *ctx, const mbg__vector_setup *setup, mbg__vector_run **out) {
  (void)ctx, (void)setup;
  *out = NULL;
  return MBG_ERROR_UNSUPPORTED;
}

void mbg__vector_run_destroy(mbg__vector_run *run) { (void)run; }

int mbg__vector_run_simulate(mbg__vector_run *run, const double *const *p, const mbg__vector_state *starts) {
  (void)run, (void)p, (void)starts;
  return 1;
}

int mbg__vector_run_nodes(const mbg__vector_run *run, int *width) {
  (void)run;
  return *width = 0;
}

void mbg__vector_run_values(const mbg__vector_run *run, int sample, double *t, double *y) {
  (void)run, (void)sample, (void)t, (void)y;
}

void mbg__vector_run_watched(const mbg__vector_run *run, int sample, mbg__vector_watch *out) {
  (void)run, (void)sample, (void)out;
}

int mbg__vector_run_adjoint(mbg__vector_run *run, int ncrit, double *const *psi_a) {
  (void)run, (void)ncrit, (void)psi_a;
  return 1;
}

#endif

/* why samples of this run do not go together, NULL: they do */
static const char *reason_of(const mbg_run *run) {
  const mbg_model *m = run->m;
  const mbg__run_plan *plan = &run->plan;
#ifndef MBG_HAS_ENSEMBLE
  return "this build has no vectors (-DMBG_ENSEMBLE=ON needs g++ and a processor of the family x86-64)";
#endif
  return !processor_can()                         ? "the processor has no AVX2"
         : strcmp(run->formulation->key, "ali3p") ? "the formulation is not 'ali3p'"
         : m->nelement > 0 || m->nmodal > 0       ? "the model has beams or modal bodies"
         : m->nevent > 0                          ? "the model has events"
         : plan->augmented || plan->oblique       ? "the iteration is not \"saddle\", or the projection not \"mass\""
         : plan->kappa > 0 || plan->varsigma > 0  ? "projections are soft"
         : run->options.node || plan->npose > 0   ? "the run keeps poses or gives its nodes away"
         : mbg__run_choose_method(run, MBG_METHOD_AUTO, 1) != MBG_METHOD_ADJOINT ? "the method is not \"adjoint\""
                                                                                 : NULL;
}

static bool has_warning(const mbg_context *ctx) {
  for (int i = 0; i < mbg_context_message_count(ctx); i++) {
    if (mbg_context_message_severity(ctx, i) == MBG_WARNING) {
      return true;
    }
  }
  return false;
}

static int make_lane(mbg_ensemble *e, lane *l) {
  int err = mbg_context_create(&e->allocator, &l->ctx);
  err = err == MBG_OK ? mbg_run_create(l->ctx, e->m, &e->options, &l->run) : err;
  l->warns = err == MBG_OK && has_warning(l->ctx);
  return err;
}

static int check_steps(mbg_context *ctx, const mbg_run *run) {
  if (mbg_run_controlled(run) || run->accuracy > 0) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "an ensemble takes fixed steps, the same for all samples, but the run has %s: give \"step\"",
                     run->accuracy > 0 ? "an \"accuracy\"" : "a tolerance");
  }
  return MBG_OK;
}

static int make(mbg_context *ctx, mbg_ensemble *e) {
  const size_t nc = (size_t)e->m->ncriterion, np = (size_t)e->m->np;
  int err = MBG_OK;
  for (int i = 0; i < N; i++) {
    lane *l = &e->lanes[i];
    err = make_lane(e, l);
    if (err < 0) {
      return mbg__fail(ctx, err, "%s", l->ctx ? mbg_context_error(l->ctx) : "out of memory");
    }
    MBG_TRY(check_steps(ctx, l->run));
    l->at.v = MBG_TAKE(&e->arena, double, e->m->nw);
    l->at.H = MBG_TAKE(&e->arena, double, 12 * (size_t)e->m->nbody);
    l->at.turns = MBG_TAKE(&e->arena, int, e->m->nturn);
  }
  e->select = MBG_TAKE(&e->arena, int, nc);
  e->rows = MBG_TAKE(&e->arena, mbg__gradient_row, nc);
  e->rows_gradient = MBG_TAKE(&e->arena, double, N *nc *np);
  e->reason = reason_of(e->lanes[0].run);
  mbg__kernels_here(&e->kernels);
  MBG_TRY(mbg__arena_check(ctx, &e->arena));
  MBG_TRY(mbg_ensemble_select(ctx, e, 0, NULL));
done:
  return err;
}

int mbg_ensemble_create(mbg_context *ctx, const mbg_model *model, const mbg_run_options *options, mbg_ensemble **out) {
  MBG_NEED(ctx, ctx && model && out);
  mbg_ensemble *e = *out = mbg__alloc_zero(ctx, 1, sizeof(*e));
  if (!e) {
    return mbg__fail_memory(ctx);
  }
  e->m = model;
  e->allocator = *mbg__context_allocator(ctx);
  mbg__arena_init(&e->arena, &e->allocator);
  int err = mbg__run_options_take(ctx, options, &e->options);
  err = err == MBG_OK ? make(ctx, e) : err;
  if (err < 0) {
    mbg_ensemble_destroy(e);
    *out = NULL;
  }
  return err;
}

void mbg_ensemble_destroy(mbg_ensemble *e) {
  if (!e) {
    return;
  }
  const mbg_allocator allocator = e->allocator;
  mbg__vector_run_destroy(e->vector);
  for (int i = 0; i < N; i++) {
    mbg_run_destroy(e->lanes[i].run);
    mbg_context_destroy(e->lanes[i].ctx);
    allocator.release(allocator.user, e->lanes[i].t);
  }
  mbg__arena_destroy(&e->arena);
  allocator.release(allocator.user, e);
}

int mbg_ensemble_width(const mbg_ensemble *e) { return e && !e->reason ? N : 1; }

const char *mbg_ensemble_reason(const mbg_ensemble *e) { return e ? e->reason : NULL; }

int mbg_ensemble_select(mbg_context *ctx, mbg_ensemble *e, int n, const int *criteria) {
  MBG_NEED(ctx, ctx && e && (n <= 0 || criteria));
  int err = MBG_OK;
  for (int i = 0; i < N; i++) {
    MBG_TRY(mbg_run_select(ctx, e->lanes[i].run, n, criteria));
  }
  e->nselect = 0;
  for (int k = 0; k < e->m->ncriterion; k++) {
    if (!e->lanes[0].run->left_out[k]) {
      e->rows[e->nselect] = (mbg__gradient_row){.criterion = k};
      e->select[e->nselect++] = k;
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- calls from the steps */

static lane *lane_of(mbg_ensemble *e, int sample) { return &e->lanes[e->from[sample]]; }

static int pull(void *user, int sample, const double *gw, const double *gv, double *ga) {
  lane *l = lane_of(user, sample);
  return mbg__start_pull(l->ctx, l->run->start, gw, gv, ga);
}

static void seeds(void *user, int sample, int ncrit, int nused, int node, double *seed) {
  const mbg_ensemble *e = user;
  (void)nused;
  mbg__seeds_at(e->seeds[sample], ncrit, &e->lanes[e->from[sample]].run->nodes, node, seed);
}

/* a sample that stands for another one is not watched twice */
static bool due(void *user, int sample, double t0, double t1) {
  const mbg_ensemble *e = user;
  return sample < e->count && mbg__rank_watch_due(e->lanes[e->from[sample]].run->plan.watch, t0, t1);
}

static int look(void *user, int sample, double t0, double t1, const mbg__vector_state *state) {
  const lane *l = lane_of(user, sample);
  mbg_run *run = l->run;
  const mbg__state s = {
      .t = state->t, .H = (const mbg__frame *)(const void *)state->H, .v = state->v, .turns = state->turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update_bare(l->ctx, run->sys, &s));
  MBG_TRY(mbg__rank_watch_step(l->ctx, run->plan.watch, t0, t1, NULL, NULL));
done:
  return err;
}

/* ---------------------------------------------------------------------- one by one */

/* what one run has found, into the rows of its sample */
static void finish(const mbg_ensemble *e, lane *l, int err, double *psi, double *gradient, mbg_ensemble_sample *out) {
  const size_t nc = (size_t)e->m->ncriterion, np = (size_t)e->m->np;
  for (size_t i = 0; err < 0 && i < nc; i++) {
    psi[i] = NAN;
  }
  for (size_t i = 0; err < 0 && gradient && i < nc * np; i++) {
    gradient[i] = NAN;
  }
  out->status = err;
  out->warned = l->warns || has_warning(l->ctx);
  mbg_context_clear(l->ctx);
}

static int alone(const mbg_ensemble *e, lane *l, double *psi, double *gradient) {
  int err = MBG_OK;
  mbg_context_clear(l->ctx);
  MBG_TRY(mbg_run_renew(l->ctx, l->run));
  MBG_TRY(mbg_run_set_parameters(l->ctx, l->run, l->p));
  MBG_TRY(mbg_run_simulate(l->ctx, l->run));
  MBG_TRY(mbg_run_partial(l->run) ? MBG_ERROR_INTERRUPTED : mbg_run_criteria(l->ctx, l->run, psi));
  MBG_TRY(gradient && e->nselect > 0 ? mbg_run_gradient(l->ctx, l->run, MBG_METHOD_AUTO, gradient, NULL) : MBG_OK);
done:
  return err;
}

/* ---------------------------------------------------------------------- together */

/* up to the first step */
static int begin(lane *l, mbg__run_pass *pass) {
  int err = MBG_OK;
  mbg_context_clear(l->ctx);
  *pass = (mbg__run_pass){0};
  MBG_TRY(mbg_run_renew(l->ctx, l->run));
  MBG_TRY(mbg_run_set_parameters(l->ctx, l->run, l->p));
  MBG_TRY(mbg__run_before(l->ctx, l->run, pass));
  const mbg__start_result *start = mbg__start_result_of(l->run->start);
  const mbg_model *m = l->run->m;
  l->at.t = start->t;
  memcpy(l->at.H, start->H, (size_t)m->nbody * sizeof(*start->H));
  memcpy(l->at.v, start->v, (size_t)m->nw * sizeof(double));
  memcpy(l->at.turns, start->turns, (size_t)m->nturn * sizeof(int));
done:
  return err;
}

static bool keeps_all_rows(const mbg_run *run) {
  const mbg__rank *rank = mbg__start_result_of(run->start)->rank;
  return rank->ndropped == 0 && rank->nkept == run->m->nrow;
}

/* at the first samples that begin */
static int make_vector(mbg_context *ctx, mbg_ensemble *e, const mbg_run *run) {
  const mbg__vector_setup setup = {
      .model = e->m,
      .kernels = &e->kernels,
      .plan = &run->plan,
      .rank = mbg__start_result_of(run->start)->rank,
      .nused = run->nused,
      .used = run->used,
      .watched = run->plan.watch != NULL,
      .calls = {.user = e, .pull = pull, .seeds = seeds, .due = due, .look = look},
  };
  const int mark = mbg__message_mark(ctx);
  if (!keeps_all_rows(run)) {
    e->reason = "constraints are redundant";
    return 1;
  }
  const int err = mbg__vector_run_create(ctx, &setup, &e->vector);
  if (err < 0 && err != MBG_ERROR_MEMORY) {
    mbg__message_rewind(ctx, mark);
    e->reason = "its steps cannot be made in vectors";
    return 1;
  }
  return err;
}

/* nodes of the samples that went together, as if their runs had made them */
static int take_nodes(mbg_ensemble *e) {
  int width;
  const int nodes = mbg__vector_run_nodes(e->vector, &width);
  for (int i = 0; i < e->count; i++) {
    lane *l = &e->lanes[e->from[i]];
    double *block =
        e->allocator.resize(e->allocator.user, l->t, (size_t)nodes * (size_t)(1 + width) * sizeof(double) + 1);
    if (!block) {
      return MBG_ERROR_MEMORY;
    }
    l->t = block;
    l->y = block + nodes;
    mbg__vector_run_values(e->vector, i, l->t, l->y);
    l->run->nodes = (mbg__nodes){
        .nnode = nodes, .t = l->t, .nused = l->run->nused, .used = l->run->used, .width = width, .y = l->y};
    mbg__watch *w = &l->run->sys->watch;
    mbg__vector_watch seen = {.spin = &w->spin->most, .push = &w->push->most, .pull = &w->pull->most};
    mbg__vector_run_watched(e->vector, i, &seen);
    w->nodes = seen.nodes;
    w->slow = seen.slow;
    w->fast = seen.fast;
    w->first = seen.first;
    w->least = seen.least;
    w->rise = (mbg__peak){seen.rise[0], seen.rise[1]};
    w->change = (mbg__peak){seen.change[0], seen.change[1]};
  }
  return MBG_OK;
}

static int steps_together(mbg_ensemble *e) {
  const double *p[N];
  mbg__vector_state at[N];
  for (int i = 0; i < N; i++) {
    p[i] = lane_of(e, i)->p;
    at[i] = lane_of(e, i)->at;
    if (!keeps_all_rows(lane_of(e, i)->run)) {
      return 1;
    }
  }
  const int err = mbg__vector_run_simulate(e->vector, p, at);
  return err == MBG_OK ? take_nodes(e) : err;
}

static int adjoints(mbg_context *ctx, void *user, int n, const mbg__criterion_seeds *const *of, real *const *psi_a) {
  mbg_ensemble *e = user;
  const mbg__criterion_seeds *all[N];
  double *copies[N];
  const size_t size = (size_t)n * (size_t)e->m->na;
  double *rest = mbg__alloc(ctx, (size_t)N * size + 1, sizeof(double));
  if (!rest) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < N; i++) { /* what stands for another sample needs a place of its own */
    const int k = i < e->count ? i : 0;
    all[i] = of[k];
    copies[i] = i < e->count ? psi_a[i] : memcpy(rest + (size_t)i * size, psi_a[0], size * sizeof(double));
  }
  e->seeds = all;
  const int err = mbg__vector_run_adjoint(e->vector, n, copies);
  e->seeds = NULL;
  mbg__free(ctx, rest);
  return err == MBG_OK ? MBG_OK : MBG_ERROR_UNSUPPORTED;
}

/* after the last step: results of the samples of the lanes from[0 .. count - 1]; their places: sample[lane] */
static int results(mbg_context *ctx, mbg_ensemble *e, const mbg__run_pass *pass, double *const *psi,
                   double *const *gradient) {
  const size_t np = (size_t)e->m->np, nc = (size_t)e->m->ncriterion;
  mbg_run *runs[N];
  double *rows[N];
  int err = MBG_OK;
  for (int i = 0; i < e->count; i++) {
    lane *l = &e->lanes[e->from[i]];
    runs[i] = l->run;
    rows[i] = e->rows_gradient + (size_t)i * nc * np;
    MBG_TRY(mbg__run_after(l->ctx, l->run, &pass[e->from[i]]));
    MBG_TRY(mbg_run_criteria(l->ctx, l->run, psi[e->from[i]]));
  }
  if (!gradient[e->from[0]] || e->nselect == 0) {
    return MBG_OK;
  }
  MBG_TRY(mbg__run_gradients(ctx, e->count, runs, e->nselect, e->rows, adjoints, e, rows));
  for (int i = 0; i < e->count; i++) {
    double *to = gradient[e->from[i]];
    for (size_t k = 0; k < nc * np; k++) {
      to[k] = NAN;
    }
    for (int k = 0; k < e->nselect; k++) {
      memcpy(to + (size_t)e->select[k] * np, rows[i] + (size_t)k * np, np * sizeof(double));
    }
  }
done:
  return err;
}

/* with many criteria and few parameters single runs take the direct method, whose bits are others */
static bool takes_direct(const mbg_ensemble *e, const double *gradient) {
  return gradient && e->nselect > 0 &&
         mbg__run_choose_method(e->lanes[0].run, MBG_METHOD_AUTO, e->nselect) == MBG_METHOD_DIRECT;
}

/* One sample in each of the first n lanes. Those that do not begin have failed; the others go together, and a lane
   without a sample has one of theirs; if they cannot, each goes alone. */
static int pack(mbg_context *ctx, mbg_ensemble *e, int n, double *const *psi, double *const *gradient,
                mbg_ensemble_sample *const *out) {
  mbg__run_pass pass[N];
  int status[N] = {0}, err = MBG_OK;
  const int mark = mbg__message_mark(ctx);
  e->count = 0;
  for (int i = 0; i < n; i++) {
    status[i] = begin(&e->lanes[i], &pass[i]);
    if (status[i] == MBG_OK) {
      e->from[e->count++] = i;
    } else {
      (void)mbg__run_over(e->lanes[i].run, &pass[i], status[i]);
    }
  }
  for (int i = e->count; i < N && e->count > 0; i++) {
    e->from[i] = e->from[0];
  }
  const bool go = e->count > 1 && e->lost < LOST_MOST && !takes_direct(e, gradient[0]);
  err = !go ? 1 : e->vector ? MBG_OK : make_vector(ctx, e, e->lanes[e->from[0]].run);
  err = err == MBG_OK ? steps_together(e) : err;
  err = err == MBG_OK ? results(ctx, e, pass, psi, gradient) : err;
  e->lost = err == MBG_OK ? 0 : e->lost + go;
  mbg__message_rewind(ctx, mark);
  for (int k = 0; k < e->count; k++) {
    const int i = e->from[k];
    (void)mbg__run_over(e->lanes[i].run, &pass[i], err == MBG_OK ? MBG_OK : MBG_ERROR_UNSUPPORTED);
    status[i] = err == MBG_OK ? MBG_OK : alone(e, &e->lanes[i], psi[i], gradient[i]);
  }
  for (int i = 0; i < n; i++) {
    out[i]->together = err == MBG_OK && status[i] == MBG_OK;
    finish(e, &e->lanes[i], status[i], psi[i], gradient[i], out[i]);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- all */

int mbg_ensemble_run(mbg_context *ctx, mbg_ensemble *e, int n, const double *p, double *psi, double *gradient,
                     mbg_ensemble_sample *samples) {
  MBG_NEED(ctx, ctx && e && (n <= 0 || (p && psi && samples)));
  const size_t nc = (size_t)e->m->ncriterion, np = (size_t)e->m->np;
  int err = MBG_OK;
  for (int first = 0, count; first < n && err == MBG_OK; first += count) {
    const int left = n - first, width = mbg_ensemble_width(e); /* 1 from the pack on that finds a reason */
    count = left < width ? left : width;
    double *values[N], *slopes[N];
    mbg_ensemble_sample *out[N];
    for (int i = 0; i < count; i++) {
      const size_t k = (size_t)(first + i);
      e->lanes[i].p = p + k * np;
      values[i] = psi + k * nc;
      slopes[i] = gradient ? gradient + k * nc * np : NULL;
      out[i] = &samples[k];
    }
    if (count > 1) {
      err = pack(ctx, e, count, values, slopes, out);
    } else {
      const int status = alone(e, &e->lanes[0], values[0], slopes[0]);
      out[0]->together = false;
      finish(e, &e->lanes[0], status, values[0], slopes[0], out[0]);
    }
  }
  return err;
}
