/* Direct differentiation (theory 3, section 9) together with the simulation, which is repeated over the same steps, so
   that nothing is stored. One column (dsigma, dw) per parameter is integrated with the state; e_n at the start of the
   step is kept beside it. At a stage all columns share the factors. Threads take panels of columns, each with a system
   of its own at the same state; a column does not depend on the thread that computes it. */
#include "formulations/dca/dca_tangent.h"

#include <string.h>

/* Columns that are solved together. The recursion takes them side by side or one by one; pieces refine all columns of a
   panel if one needs it, so that the width follows from the model alone. */
static int panel_width(const mbg__formulation_work *w) {
  return !w->articulated && w->m->nbody < MBG__DCA_LARGE ? MBG__DCA_PANEL : MBG__DCA_PANEL / 2;
}

typedef mbg__dca_worker worker;
typedef mbg__dca_tangents tangent;

/* ---------------------------------------------------------------------- creation */

static int take_arrays(mbg_context *ctx, tangent *s) {
  const mbg__formulation_work *w = s->w;
  const bool events = w->plan.events != NULL;
  const size_t np = (size_t)s->d.np + events, used = (size_t)w->flow.nused;
  int err = MBG_OK;
  s->en = MBG_TAKE(&s->arena, real, np * (size_t)s->nb);
  s->e = MBG_TAKE(&s->arena, real *, np);
  s->dw = MBG_TAKE(&s->arena, real *, np);
  s->eye = MBG_TAKE(&s->arena, real, used * used);
  s->ge = MBG_TAKE(&s->arena, real, used * (size_t)s->nb);
  s->gw = MBG_TAKE(&s->arena, real, used * (size_t)s->n);
  s->gn = MBG_TAKE(&s->arena, real, used * (size_t)s->nb);
  s->gs = MBG_TAKE(&s->arena, real, used * (size_t)s->n);
  s->gattr = MBG_TAKE(&s->arena, real, used * (size_t)w->m->na);
  s->nw = w->plan.npose > 0 ? w->m->nw : 0;
  s->frame = MBG_TAKE(&s->arena, real, 3 * s->nw);
  s->d.dy = MBG_TAKE(&s->arena, real, (used + (size_t)s->nw) * np);
  s->enode = MBG_TAKE(&s->arena, real, s->nw > 0 ? s->nb : 0);
  for (size_t i = 0; s->eye && i < used; i++) {
    s->eye[i * used + i] = 1;
  }
  if (events) {
    s->kept = MBG_TAKE(&s->arena, real, np * (size_t)s->nb);
    s->fw = MBG_TAKE(&s->arena, real, np * (size_t)w->m->nw);
    s->fv = MBG_TAKE(&s->arena, real, np * (size_t)w->m->nw);
    s->e_none = MBG_TAKE(&s->arena, real, s->nb);
    s->bias = MBG_TAKE(&s->arena, real, w->m->nw);
    s->guard_row = MBG_TAKE(&s->arena, real, 2 * w->m->nw + w->m->na);
  }
  MBG_TRY(mbg__design_columns_make(ctx, &s->arena, mbg__system_design(w->flow.sys), &s->columns));
  s->listed = !events;
  for (int p = 0; p < s->d.np; p++) {
    s->listed = s->listed && mbg__design_column_listed(&s->columns, p);
  }
  MBG_TRY(mbg__ode_tangent_create(ctx, &s->arena, w->m, &s->columns, &s->d));
done:
  return err;
}

/* a system and a tree of its own, if they can be shared no more than what changes write to, and a point */
static int make_equations(tangent *s, worker *k) {
  mbg__formulation_work *w = s->w;
  int err = MBG_OK;
  if (mbg__system_can_view(w->flow.sys)) {
    MBG_TRY(mbg__system_create_view(k->ctx, w->flow.sys, &k->sys));
    MBG_TRY(mbg__tree_create_view(k->ctx, k->sys, w->tree, &k->tree));
  } else {
    MBG_TRY(mbg__system_create(k->ctx, w->m, mbg__system_design(w->flow.sys), &k->sys));
    MBG_TRY(mbg__tree_create(k->ctx, k->sys, mbg__start_result_of(w->start)->rank, &k->tree));
    MBG_TRY(mbg__tree_modal_create(k->ctx, k->tree));
  }
  MBG_TRY(mbg__dca_point_create(k->ctx, &k->arena, k->sys, k->tree, w->assembly, w->articulated, NULL, &k->point));
done:
  return err;
}

static int take_columns(const tangent *s, worker *k) {
  k->da = MBG_TAKE(&k->arena, real, s->w->m->na);
  k->e = MBG_TAKE(&k->arena, real, (size_t)s->width * (size_t)s->nb);
  const int err = mbg__arena_check(k->ctx, &k->arena);
  return err < 0 ? err : mbg__dca_point_columns(k->ctx, &k->arena, k->point);
}

/* threads make their own, each in the memory next to it */
static void make_worker(void *user, int i) {
  tangent *s = user;
  worker *k = &s->workers[i + 1];
  k->err = make_equations(s, k);
  k->err = k->err < 0 ? k->err : take_columns(s, k);
}

/* the first error of a thread, with its message */
static int worker_error(mbg_context *ctx, const tangent *s) {
  for (int i = 0; i < s->nworker; i++) {
    const worker *k = &s->workers[i];
    if (k->err < 0) {
      return k->ctx == ctx ? k->err : mbg__fail(ctx, k->err, "%s", mbg_context_error(k->ctx));
    }
  }
  return MBG_OK;
}

/* those of the parameters: one more, for the time of an event, changes nothing for the others */
static int panels(const tangent *s) { return (s->d.np + s->width - 1) / s->width; }

/* fewer panels than keep many threads busy: threads share the pieces of each, if the columns go by pieces */
static bool has_few(const tangent *s) {
  enum { FEW = 8 };
  return (s->d.nparam + s->width - 1) / s->width < FEW;
}

/* The work of a panel, in attributes that vary at a body: four columns cost as much as WITHOUT of them. */
static double weight_of(const tangent *s, int panel) {
  enum { WITHOUT = 4 };
  const int first = panel * s->width, end = first + s->width < s->d.nparam ? first + s->width : s->d.nparam;
  return WITHOUT * (double)s->w->m->nbody + (end > first ? s->columns.start[end] - s->columns.start[first] : 0);
}

/* Threads share the pieces of all panels if there are few, else of those that would keep the others waiting: a
   parameter that changes all bodies, their length or density, makes a column that costs as much as many others. */
static int choose_shared(mbg_context *ctx, tangent *s) {
  const int n = (s->d.nparam + s->width - 1) / s->width;
  double sum = 0;
  s->shared = MBG_TAKE(&s->arena, bool, n + 1); /* with events there may be one more */
  for (int i = 0; s->listed && i < n; i++) {
    sum += weight_of(s, i);
  }
  for (int i = 0; s->shared && i <= n; i++) {
    s->shared[i] = has_few(s) || (s->listed && i < n && weight_of(s, i) * n > 1.25 * sum);
  }
  return mbg__arena_check(ctx, &s->arena);
}

/* Threads pay if each has panels of its own and enough work. Few panels go one after the other, by pieces in threads,
   unless each thread gets two of them. */
static int count_workers(const tangent *s) {
  const mbg__formulation_work *w = s->w;
  const bool enough = (double)s->d.np * w->m->nbody >= 256;
  const int threads = mbg__pool_threads(w->pool), count = panels(s);
  if (!enough || (has_few(s) && mbg__dca_point_pieces(w->point) && count < 2 * threads)) {
    return 1;
  }
  return threads < count ? threads : count;
}

static int make_workers(mbg_context *ctx, tangent *s) {
  const mbg__formulation_work *w = s->w;
  int err = MBG_OK;
  s->workers = MBG_TAKE(&s->arena, worker, panels(s) > 1 ? panels(s) : 1);
  if (!s->workers) {
    return mbg__fail_memory(ctx);
  }
  s->workers[0] = (worker){.ctx = ctx, .sys = w->flow.sys, .tree = w->tree, .point = w->point};
  mbg__arena_init(&s->workers[0].arena, mbg__context_allocator(ctx));
  s->nworker = 1;
  MBG_TRY(choose_shared(ctx, s));
  MBG_TRY(take_columns(s, &s->workers[0]));
  const int count = count_workers(s);
  for (; s->nworker < count; s->nworker++) {
    worker *k = &s->workers[s->nworker];
    MBG_TRY(mbg_context_create(mbg__context_allocator(ctx), &k->ctx));
    mbg__arena_init(&k->arena, mbg__context_allocator(ctx));
  }
  mbg__pool_heavy(w->pool, MBG__LOOP_WORKERS, count - 1, make_worker, s);
  err = worker_error(ctx, s);
done:
  return err;
}

static void destroy_workers(tangent *s) {
  (void)mbg__dca_point_columns(NULL, NULL, s->w->point);
  for (int i = 0; i < s->nworker; i++) {
    mbg__arena_destroy(&s->workers[i].arena);
    if (i > 0) {
      mbg__tree_destroy(s->workers[i].tree);
      mbg__system_destroy(s->workers[i].sys);
      mbg_context_destroy(s->workers[i].ctx);
    }
  }
}

/* ---------------------------------------------------------------------- columns */

static real *column(const tangent *s, real *x, int p) { return mbg__ode_tangent_column(&s->d, x, p); }

static const real *column_of(const tangent *s, const real *x, int p) { return mbg__ode_tangent_column_of(&s->d, x, p); }

static real *en_of(const tangent *s, int p) { return mbg__dca_en(s, p); }

/* rates of a panel of columns; pool: threads for its pieces, NULL: none */
static void panel(const tangent *s, worker *k, int i, mbg__pool *pool, const real *x, real *xd) {
  const mbg__dca_flow *f = &s->w->flow;
  const int first = i * s->width;
  const int m = s->d.np - first < s->width ? s->d.np - first : s->width;
  const real *e[MBG__DCA_PANEL], *dsigma[MBG__DCA_PANEL], *dw[MBG__DCA_PANEL];
  const bool pieces = mbg__dca_point_pieces(k->point);
  real *out[MBG__DCA_PANEL];
  for (int q = 0; q < m; q++) {
    const real *own = column_of(s, x, first + q);
    real *to = column(s, xd, first + q), *eq = k->e + (size_t)q * (size_t)s->nb;
    if (!pieces) {
      mbg__dca_flow_frames_push(f, x, en_of(s, first + q), own, eq);
    }
    mbg__dca_flow_increment_push(f, x, own, own + s->n, to);
    e[q] = pieces ? en_of(s, first + q) : eq;
    dsigma[q] = own;
    dw[q] = own + s->n;
    out[q] = to + s->n;
  }
  const mbg__dca_attributes attributes = {&s->d.events, first, k->da};
  if (pieces) {
    const mbg__dca_step_columns step = {{f->X, x, dsigma}, s->shared[i], pool};
    mbg__dca_point_push_step(k->point, &step, m, e, dw, &attributes, out);
  } else {
    mbg__dca_point_push(k->point, m, e, dw, &attributes, out);
  }
}

typedef struct {
  tangent *s;
  const real *x;
  real *xd;
  bool alone; /* panels whose pieces threads share are done */
} stage;

/* a thread that comes in takes the state of the stage first */
static void panels_of(void *user, int thread, int first, int end) {
  const stage *g = user;
  tangent *s = g->s;
  worker *k = &s->workers[thread];
  if (!k->ready && k->point != s->w->point) {
    k->err = mbg__dca_point_follow(k->ctx, k->point, s->w->point);
  }
  k->ready = true;
  for (int i = first; k->err == MBG_OK && i < end; i++) {
    if (!(g->alone && s->shared[i])) {
      panel(s, k, i, NULL, g->x, g->xd);
    }
  }
}

static int all_columns(tangent *s, const real *x, real *xd) {
  /* a thread that gets several of few panels goes through them as it does without pieces */
  stage g = {s, x, xd, mbg__dca_point_pieces(s->w->point) && (s->nworker == 1 || !has_few(s))};
  for (int i = 0; i < s->nworker; i++) {
    s->workers[i].ready = false;
    s->workers[i].err = MBG_OK;
  }
  for (int i = 0; g.alone && i < panels(s); i++) {
    if (s->shared[i]) {
      panel(s, &s->workers[0], i, s->w->pool, x, xd);
    }
  }
  mbg__pool_for(s->nworker > 1 ? s->w->pool : NULL, MBG__LOOP_COLUMNS, panels(s), 1, panels_of, &g);
  return worker_error(s->w->flow.ctx, s);
}

static int rhs(void *user, real t, const real *x, real *xd) {
  tangent *s = user;
  mbg__formulation_work *w = s->w;
  int err = MBG_OK;
  mbg__ode_tangent_times(&s->d, re(t));
  MBG_TRY(mbg__dca_flow_eval(w->flow.ctx, &w->flow, &w->base[w->now], t, x));
  mbg__dca_flow_rates(&w->flow, x, xd);
  MBG_TRY(mbg__dca_point_linearize(w->flow.ctx, w->point));
  mbg__dca_flow_increments(&w->flow, x);
  MBG_TRY(all_columns(s, x, xd));
  mbg__ode_tangent_lengths(&s->d, xd);
done:
  return mbg__ode_status(err);
}

/* ---------------------------------------------------------------------- start */

/* e_n and dw of columns that move the start */
static void read_start(tangent *s, const real *frames, const real *twists) {
  mbg__formulation_work *w = s->w;
  const size_t nw = (size_t)w->m->nw;
  real *da = s->workers[0].da;
  for (int p = 0; p < s->d.np; p++) {
    if (!mbg__start_is_still(w->start, &s->columns, p, da)) {
      mbg__design_column_lay(&s->columns, p, da);
      mbg__tree_local_read_push(w->tree, frames + nw * (size_t)p, twists + nw * (size_t)p, da, en_of(s, p),
                                column(s, s->d.x, p) + s->n);
      mbg__design_column_clear(&s->columns, p, da);
    }
  }
}

static int fill_start(mbg_context *ctx, tangent *s) {
  mbg__formulation_work *w = s->w;
  const size_t all = (size_t)w->m->nw * (size_t)s->d.np;
  int err = MBG_OK;
  /* the start uses the system as scratch: all parameters before the tree */
  real *frames = mbg__alloc_zero(ctx, 2 * all + 1, sizeof(real)), *twists = frames ? frames + all : NULL;
  if (!frames) {
    return mbg__fail_memory(ctx);
  }
  MBG_TRY(mbg__start_push_all(ctx, w->start, &s->columns, s->d.np, s->workers[0].da, frames, twists));
  mbg__tree_place(w->tree, &(mbg__tree_state){.t = w->plan.t0, .E = w->base[0].E, .w = w->base[0].w});
  read_start(s, frames, twists);
done:
  mbg__free(ctx, frames);
  return err;
}

static int begin(mbg_context *ctx, tangent *s) {
  mbg__formulation_work *w = s->w;
  mbg__dca_step start;
  int err = MBG_OK;
  mbg__dca_store_first(w, &start);
  mbg__dca_base *b = &w->base[0];
  w->now = 0;
  mbg__dca_base_load(w, &start, b);
  MBG_TRY(mbg__dca_base_set(ctx, &w->flow, b));
  vn_zero(s->n, s->d.x);
  vn_copy(s->n, s->d.x + s->n, b->w);
  MBG_TRY(fill_start(ctx, s));
done:
  return err;
}

/* ---------------------------------------------------------------------- the run */

static void end_columns(void *user, int thread, int first, int end) {
  tangent *s = user;
  (void)thread;
  for (int p = first; p < end; p++) {
    real *own = column(s, s->d.x, p);
    mbg__dca_flow_frames_push(&s->w->flow, s->d.x, en_of(s, p), own, en_of(s, p));
    vn_zero(s->n, own);
    s->e[p] = en_of(s, p);
    s->dw[p] = own + s->n;
  }
}

/* the end of a step: e_n, projection, dsigma = 0 */
static int finish(mbg_context *ctx, void *user, double t1) {
  tangent *s = user;
  mbg__formulation_work *w = s->w;
  int err = MBG_OK;
  mbg__dca_flow_increments(&w->flow, s->d.x);
  mbg__pool_for(w->pool, MBG__LOOP_END_COLUMNS, s->d.np, 1, end_columns, s);
  vn_copy(2 * s->n, w->y, s->d.x);
  MBG_TRY(mbg__dca_finish_step(ctx, w, t1, w->y));
  if (w->project) {
    /* E before the projection again */
    const mbg__dca_attributes attributes = {&s->d.events, 0, s->workers[0].da};
    mbg__dca_flow_frames(&w->flow, &w->base[w->now], w->y, w->flow.E);
    MBG_TRY(mbg__dca_project_push(ctx, w->project, t1, w->base[!w->now].q, w->flow.E, w->before, w->rounds, s->d.np,
                                  s->e, s->dw, &attributes));
  }
  w->now = !w->now;
  vn_zero(s->n, s->d.x);
  vn_copy(s->n, s->d.x + s->n, w->base[w->now].w);
done:
  return err;
}

static void rate_columns(void *user, int thread, int first, int end) {
  const stage *g = user;
  const tangent *s = g->s;
  (void)thread;
  for (int p = first - 1; p < end - 1; p++) {
    real *to = column(s, g->xd, p);
    vn_copy(s->n, to, column_of(s, s->d.x, p) + s->n);
    vn_copy(s->n, to + s->n, column_of(s, g->x, p) + s->n);
  }
}

/* without a projection the rates at the end are those of the next start: dsigma' = dw, dw' unchanged */
static int go_on(mbg_context *ctx, void *user, mbg__rk *rk) {
  tangent *s = user;
  if (s->w->project) {
    return mbg__rk_rebase(ctx, rk, s->d.x, NULL);
  }
  mbg__pool_for(s->w->pool, MBG__LOOP_RATE_COLUMNS, 1 + s->d.np, 4, rate_columns,
                &(stage){.s = s, .x = mbg__rk_rate(rk), .xd = s->d.xd});
  return mbg__rk_rebase(ctx, rk, s->d.x, s->d.xd);
}

static int begin_segment(void *user, double ta, double tb, real *x) {
  (void)x;
  mbg__dca_segment(((tangent *)user)->w, ta, tb);
  return MBG_OK;
}

static int integrate(mbg_context *ctx, tangent *s, const mbg__ode_tangent_ops *ops, mbg__rk *rk) {
  mbg__formulation_work *w = s->w;
  mbg__rk_run run = mbg__ode_run(&w->plan, w->last, rhs, begin_segment, s);
  int err = MBG_OK;
  run.nfrozen = w->nfrozen;
  run.frozen = w->frozen;
  MBG_TRY(mbg__rk_start(ctx, rk, &run, s->d.x));
  mbg__dca_segment(w, w->plan.t0, w->plan.nbreak > 0 ? w->plan.breaks[0] : w->plan.t1);
  MBG_TRY(mbg__dca_tangent_node(ctx, s, w->plan.t0, s->d.x, false));
  MBG_TRY(s->d.take(s->d.user, s->d.node++, s->d.dy));
  while ((err = mbg__rk_step(ctx, rk)) > 0) {
    const mbg__rk_record *step = mbg__rk_last(rk);
    const double t1 = re(step->t1);
    MBG_TRY(mbg__plan_check_interrupt(ctx, &w->plan, t1));
    MBG_TRY(mbg__ode_tangent_inner(ctx, &s->d, ops, step));
    mbg__rk_copy(w->pool, 2 * s->n * (1 + s->d.np), s->d.x, step->y1);
    MBG_TRY(finish(ctx, s, t1));
    MBG_TRY(mbg__dca_tangent_node(ctx, s, t1, s->d.x, false));
    MBG_TRY(s->d.take(s->d.user, s->d.node++, s->d.dy));
    MBG_TRY(go_on(ctx, s, rk));
  }
done:
  return err;
}

/* the run with events */
static int integrate_events(mbg_context *ctx, tangent *s, const mbg__ode_tangent_ops *ops, mbg__rk *rk) {
  mbg__formulation_work *w = s->w;
  mbg__dca_segment(w, w->plan.t0, w->plan.nbreak > 0 ? w->plan.breaks[0] : w->plan.t1);
  w->dt = s->d.dt;
  w->ratio = s->d.ratio;
  const int err = mbg__ode_tangent_run(ctx, &s->d, ops, rk);
  w->dt = w->ratio = NULL;
  return err;
}

int mbg__dca_tangent(mbg_context *ctx, mbg__formulation_work *w, int (*take)(void *user, int node, const real *dy),
                     void *user) {
  const int np = mbg__design_column_count(mbg__system_design(w->flow.sys));
  tangent s = {.w = w, .n = w->flow.n, .nb = 6 * w->m->nbody};
  const mbg__ode_tangent_ops ops = {.rhs = rhs,
                                    .segment = begin_segment,
                                    .node = mbg__dca_tangent_node,
                                    .finish = finish,
                                    .go_on = go_on,
                                    .guard = mbg__dca_tangent_guard,
                                    .event = mbg__dca_tangent_event,
                                    .keep = mbg__dca_tangent_keep,
                                    .user = &s};
  mbg__rk_options options = mbg__rk_options_default();
  mbg__rk *rk = NULL;
  int err = MBG_OK;
  s.d = (mbg__ode_tangent){.plan = &w->plan,
                           .lists = &w->events,
                           .nodes = &w->nodes,
                           .method = w->method,
                           .pool = w->pool,
                           .nend = w->nfrozen,
                           .ends = w->frozen,
                           .n = 2 * w->flow.n,
                           .np = np,
                           .nparam = np,
                           .take = take,
                           .user = user};
  mbg__arena_init(&s.arena, mbg__context_allocator(ctx));
  w->flow.ctx = ctx;
  options.fixed = 1; /* not used: steps are repeated */
  options.dense = true;
  options.pool = w->pool;
  s.width = panel_width(w);
  MBG_TRY(take_arrays(ctx, &s));
  MBG_TRY(make_workers(ctx, &s));
  MBG_TRY(mbg__dca_seeds_create(ctx, &s.arena, w, w->flow.nused, &s.seeds));
  MBG_TRY(mbg__dca_tangent_few(ctx, &s));
  options.parts = s.d.parts;
  MBG_TRY(mbg__rk_create(ctx, 2 * s.n * (1 + np), w->method, &options, &rk));
  MBG_TRY(begin(ctx, &s));
  MBG_TRY(w->plan.events ? integrate_events(ctx, &s, &ops, rk) : integrate(ctx, &s, &ops, rk));
done:
  mbg__ode_tangent_destroy(&s.d);
  mbg__rk_destroy(rk);
  destroy_workers(&s);
  mbg__arena_destroy(&s.arena);
  return err;
}
