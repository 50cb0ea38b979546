/* Direct differentiation (theory 1, section 6): the state and one column (w, dv) per parameter, integrated together
   under error control, so that all columns share the factors of a point. With events: qr_tangent_events.c. */
#include "formulations/qr/qr_tangent.h"

#include <string.h>

typedef mbg__qr_tangents tangent;

/* ---------------------------------------------------------------------- creation */

static int take_arrays(mbg_context *ctx, mbg__arena *arena, tangent *s) {
  const mbg_model *m = s->w->m;
  const bool events = s->w->plan.events != NULL;
  const size_t np = (size_t)s->d.np + events, all = (size_t)s->n + np * (size_t)s->column;
  int err = MBG_OK;
  s->da = MBG_TAKE(arena, real, np * (size_t)m->na);
  s->W = MBG_TAKE(arena, real, np * (size_t)m->nw);
  s->dv = MBG_TAKE(arena, real, np * (size_t)m->nw);
  s->dv_star = MBG_TAKE(arena, real, np * (size_t)m->nw);
  s->d_a = MBG_TAKE(arena, real, np * (size_t)m->nw);
  s->dlambda = MBG_TAKE(arena, real, s->full && !s->pulled ? np * (size_t)m->nrow : 0);
  s->dy_of = MBG_TAKE(arena, real, 3 * (size_t)m->nw + (size_t)m->nrow + (size_t)m->na);
  s->nw = s->w->plan.npose > 0 ? m->nw : 0;
  s->d.dy = MBG_TAKE(arena, real, np * (size_t)(s->w->flow->nused + s->nw + 1));
  if (events) {
    MBG_TRY(mbg__design_columns_make(ctx, arena, mbg__system_design(s->w->flow->sys), &s->columns));
    MBG_TRY(mbg__ode_tangent_create(ctx, arena, m, &s->columns, &s->d));
  } else {
    s->d.x = MBG_TAKE(arena, real, all);
    s->d.xi = MBG_TAKE(arena, real, all);
    s->d.xd = MBG_TAKE(arena, real, all);
    s->atol = MBG_TAKE(arena, double, all);
    s->size = MBG_TAKE(arena, double, 2 * np);
  }
  MBG_TRY(mbg__arena_check(ctx, arena));
done:
  return err;
}

/* start: z0 and the derivatives of the assembled start */
static int fill_start(mbg_context *ctx, tangent *s) {
  const mbg_model *m = s->w->m;
  int err = MBG_OK;
  memcpy(s->d.x, s->w->z0, (size_t)s->n * sizeof(real));
  for (int p = 0; p < s->d.np; p++) {
    real *da = s->da + (size_t)p * (size_t)m->na, *own = s->d.x + s->n + (size_t)p * (size_t)s->column;
    const mbg__design *design = mbg__system_design(s->w->flow->sys);
    if (design->directions) {
      vn_copy(m->na, da, design->directions->da + (size_t)p * (size_t)m->na);
    } else {
      vn_zero(s->d.np, s->d.dy);
      s->d.dy[p] = 1;
      mbg__design_push(design, s->d.dy, da);
    }
    MBG_TRY(mbg__start_push_column(ctx, s->w->start, p, da, own, s->dv));
    mbg__to_free(m, 1, s->dv, own + m->nw);
  }
  vn_zero(s->d.np * m->nw, s->dv); /* and masked components stay so */
done:
  return err;
}

/* which attributes vary: those of the parameters, and with events time and impulses */
static int list_varied(mbg_context *ctx, mbg__arena *arena, tangent *s) {
  const mbg_model *m = s->w->m;
  const int ncol = s->d.np + (s->w->plan.events != NULL);
  bool *always = MBG_TAKE(arena, bool, m->na);
  int err = MBG_OK;
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int i = 0; s->w->plan.events && i < m->nevent; i++) {
    if (m->events[i].impulse >= 0) {
      always[m->events[i].impulse] = true;
    }
  }
  if (s->w->plan.events) {
    always[m->clock] = true;
  }
  MBG_TRY(mbg__qr_varied_make(ctx, arena, m->na, ncol, s->da, always, &s->varied));
  mbg__qr_point_varied(s->w->flow->point, &s->varied);
done:
  return err;
}

/* ---------------------------------------------------------------------- right-hand side */

/* dz, attributes by time and impulses */
static void read_states(tangent *s, const real *x) {
  const mbg__qr_state *state = &s->w->flow->state;
  const size_t nw = (size_t)s->w->m->nw;
  for (int p = 0; p < s->d.np; p++) {
    const size_t at = (size_t)p * nw;
    mbg__qr_state_variation(state, x, mbg__ode_tangent_column_of(&s->d, x, p), s->W + at, s->dv + at);
    mbg__qr_state_start_push(state, x, s->W0 + at, s->W + at);
    mbg__event_tangent_lay_times(&s->d.events, p, s->da + (size_t)p * (size_t)s->w->m->na);
  }
}

void mbg__qr_tangent_read(tangent *s, const real *x) {
  const mbg_model *m = s->w->m;
  if (s->w->plan.events) {
    read_states(s, x);
    return;
  }
  for (int p = 0; p < s->d.np; p++) {
    const real *own = x + s->n + (size_t)p * (size_t)s->column;
    const size_t at = (size_t)p * (size_t)m->nw;
    memcpy(s->W + at, own, (size_t)m->nw * sizeof(real));
    mbg__to_full(m, 1, own + m->nw, s->dv + at);
  }
}

/* of the columns that were read */
static int push(mbg_context *ctx, tangent *s, real *dlambda) {
  return mbg__qr_point_push(ctx, s->w->flow->point, s->d.np, s->W, s->dv, s->da, s->dv_star, s->d_a, dlambda);
}

/* rates of column p */
static void column_rates(const tangent *s, int p, const real *x, real *out) {
  const mbg__qr_flow *f = s->w->flow;
  const size_t at = (size_t)p * (size_t)s->w->m->nw;
  if (s->w->plan.events) {
    mbg__qr_state_rates_push(&f->state, x, mbg__ode_tangent_column_of(&s->d, x, p), f->v_star, s->dv_star + at,
                             s->d_a + at, out);
    return;
  }
  memcpy(out, s->dv_star + at, (size_t)s->w->m->nw * sizeof(real));
  mbg__qr_flow_add_ad(f, -1, s->W + at, out);
  mbg__to_free(s->w->m, 1, s->d_a + at, out + s->w->m->nw);
}

static int rhs(void *user, real t, const real *x, real *xd) {
  tangent *s = user;
  mbg__qr_flow *f = s->w->flow;
  int err = MBG_OK;
  mbg__ode_tangent_times(&s->d, re(t));
  MBG_TRY(mbg__qr_flow_eval(f->ctx, f, t, x));
  mbg__qr_state_rates(&f->state, x, f->v_star, f->a, xd);
  mbg__qr_tangent_read(s, x);
  MBG_TRY(push(f->ctx, s, NULL));
  for (int p = 0; p < s->d.np; p++) {
    column_rates(s, p, x, xd + s->n + (size_t)p * (size_t)s->column);
  }
  mbg__ode_tangent_lengths(&s->d, xd);
done:
  return mbg__ode_status(err);
}

/* ---------------------------------------------------------------------- tolerances */

/* weight of entry i of a full vector: lengths against angles */
static double weight(const tangent *s, int i) { return i % 6 < 3 ? s->w->m->size : 1; }

/* directions have the size that the caller gave them */
static double parameter_size(const tangent *s, int p) {
  const mbg__design *design = mbg__system_design(s->w->flow->sys);
  const double x = design->directions ? 1 : fabs(re(design->p[p]));
  return x > 0 ? x : 1;
}

/* largest w and dv of every column so far, in units of lengths, angles and parameters; factor: of rates */
static void take_sizes(tangent *s, const real *x, double factor) {
  const mbg_model *m = s->w->m;
  for (int p = 0; p < s->d.np; p++) {
    const real *own = x + s->n + (size_t)p * (size_t)s->column;
    const double unit = factor * parameter_size(s, p);
    for (int i = 0; i < m->nw; i++) {
      s->size[2 * p] = fmax(s->size[2 * p], unit * fabs(re(own[i])) / weight(s, i));
    }
    for (int j = 0; j < m->nv; j++) {
      s->size[2 * p + 1] = fmax(s->size[2 * p + 1], unit * fabs(re(own[m->nw + j])) / weight(s, m->full[j]));
    }
  }
}

/* The tolerance of a column is relative to its largest entry, but not below a thousandth of the largest column:
   parameters with little effect do not determine the steps. Effects below 1e-6 of the model's size may be rounding and
   have no digits to keep. */
static void set_tolerances(tangent *s) {
  const mbg_model *m = s->w->m;
  const double span = s->w->plan.t1 - s->w->plan.t0;
  double w = 1e-3, v = 0;
  for (int p = 0; p < s->d.np; p++) {
    w = fmax(w, s->size[2 * p]);
    v = fmax(v, s->size[2 * p + 1]);
  }
  w = fmax(w, 1e-3 * span * v);
  v = fmax(v, w / span);
  for (int p = 0; p < s->d.np; p++) {
    double *own = s->atol + s->n + (size_t)p * (size_t)s->column;
    const double unit = s->w->plan.relative / parameter_size(s, p);
    for (int i = 0; i < m->nw; i++) {
      own[i] = unit * weight(s, i) * fmax(s->size[2 * p], 1e-3 * w);
    }
    for (int j = 0; j < m->nv; j++) {
      own[m->nw + j] = unit * weight(s, m->full[j]) * fmax(s->size[2 * p + 1], 1e-3 * v);
    }
  }
}

static int begin_segment(void *user, double ta, double tb, real *x) {
  (void)x;
  ((tangent *)user)->w->flow->segment = mbg__segment_between(ta, tb);
  return MBG_OK;
}

static int first_tolerances(tangent *s) {
  const int err = rhs(s, s->w->plan.t0, s->d.x, s->d.xd);
  if (err != 0) {
    return err < 0 ? err : MBG_ERROR_SINGULAR;
  }
  memcpy(s->atol, s->w->atol, (size_t)s->n * sizeof(double));
  take_sizes(s, s->d.x, 1);
  take_sizes(s, s->d.xd, 1e-2 * (s->w->plan.t1 - s->w->plan.t0));
  set_tolerances(s);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- nodes */

enum { FEW = MBG__LANES }; /* signals with accelerations at a node for which transposed products pay */

static bool are_few(const mbg_model *m, int n, const int *used) {
  int full = 0;
  for (int k = 0; k < n; k++) {
    full += mbg__ode_needs_accelerations(m, 1, &used[k]);
  }
  return full > 0 && full <= FEW;
}

/* Gradient of a used signal at a node, for all columns. By da, dlambda = X (w, dv, da) and the gradient g of the signal
   y' = g_(w, dv, da) (w, dv, da) + g_(da, dlambda) X (w, dv, da): the point transposed adds the second to the first. */
static int differentiate_signal(mbg_context *ctx, tangent *s, int k) {
  const mbg_model *m = s->w->m;
  const mbg__qr_flow *f = s->w->flow;
  real *w = s->dy_of, *v = w + m->nw, *vd = v + m->nw, *lambda = vd + m->nw, *a = lambda + m->nrow;
  vn_zero(3 * m->nw + m->nrow + m->na, w);
  mbg__system_signal_pull(f->sys, f->used[k], 1, w, v, s->full ? vd : NULL, s->full ? lambda : NULL, a);
  return s->pulled ? mbg__qr_point_pull(ctx, f->point, 1, NULL, vd, lambda, w, v, a) : MBG_OK;
}

/* its product with column p */
static real along_column(const tangent *s, int p) {
  const mbg_model *m = s->w->m;
  const size_t at = (size_t)p * (size_t)m->nw;
  const real *w = s->dy_of, *v = w + m->nw, *vd = v + m->nw, *lambda = vd + m->nw, *a = lambda + m->nrow;
  const real *da = s->da + (size_t)p * (size_t)m->na;
  const mbg__lanes_varied *varied = &s->varied.block[p / MBG__LANES];
  real y = vn_dot_long(m->nw, w, s->W + at) + vn_dot_long(m->nw, v, s->dv + at);
  if (s->full && !s->pulled) {
    y += vn_dot_long(m->nw, vd, s->d_a + at);
    y += vn_dot_long(m->nrow, lambda, s->dlambda + (size_t)p * (size_t)m->nrow);
  }
  for (int i = 0; i < varied->n; i++) {
    y += a[varied->attr[i]] * da[varied->attr[i]];
  }
  return y;
}

/* the point, the columns and the derivatives of signals at a node */
static int linearize_node(mbg_context *ctx, tangent *s, double t, const real *x) {
  mbg__qr_flow *f = s->w->flow;
  int err = MBG_OK;
  mbg__qr_tangent_read(s, x);
  if (!s->full) {
    return mbg__qr_flow_linearize_signals(ctx, f, t, x);
  }
  MBG_TRY(mbg__qr_flow_eval(ctx, f, t, x));
  if (!s->pulled) {
    MBG_TRY(push(ctx, s, s->dlambda));
  }
  MBG_TRY(mbg__qr_point_linearize(ctx, f->point));
  MBG_TRY(mbg__system_linearize_signals(ctx, f->sys));
done:
  return err;
}

/* dy/dp of the used signals at a node */
static int node_derivatives(mbg_context *ctx, void *user, double t, const real *x, bool inside) {
  tangent *s = user;
  const mbg_model *m = s->w->m;
  mbg__qr_flow *f = s->w->flow;
  int err = MBG_OK;
  (void)inside;
  MBG_TRY(linearize_node(ctx, s, t, x));
  for (int k = 0; k < f->nused; k++) {
    MBG_TRY(differentiate_signal(ctx, s, k));
    for (int p = 0; p < s->d.np; p++) {
      s->d.dy[(size_t)k * (size_t)s->d.np + (size_t)p] = along_column(s, p);
    }
  }
  for (int i = 0; i < s->nw; i++) {
    for (int p = 0; p < s->d.np; p++) {
      s->d.dy[(size_t)(f->nused + i) * (size_t)s->d.np + (size_t)p] = s->W[(size_t)p * (size_t)m->nw + (size_t)i];
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- integrals by stages */

/* room for the derivatives of integrals, if the run has some by stages and they are wanted */
static int begin_integrals(mbg_context *ctx, tangent *s) {
  mbg__formulation_work *w = s->w;
  const mbg_allocator *a = &w->arena.allocator;
  const size_t n = (size_t)w->flow->nused * (size_t)s->d.np;
  s->part = 1;
  s->point = s->last = 0;
  a->release(a->user, w->staged);
  w->staged = NULL;
  if (!w->nodes.method || mbg__system_design(w->flow->sys)->directions) {
    return MBG_OK;
  }
  w->staged = a->resize(a->user, NULL, n * sizeof(real) + 1);
  if (!w->staged) {
    return mbg__fail_memory(ctx);
  }
  vn_zero((int)n, w->staged);
  return MBG_OK;
}

/* the steps of the run up to the next one whose integrals are by stages: false, there is none that ends before t1 */
static bool next_part(tangent *s) {
  const mbg__formulation_work *w = s->w;
  for (; s->part <= w->nfrozen; s->part++, s->point = 0) {
    while (s->last + 1 < w->nodes.count && mbg__step_nodes_time(&w->nodes, s->last + 1) <= w->frozen[s->part]) {
      s->last++;
    }
    if (s->point < MBG__KRONROD && mbg__step_nodes_staged(&w->nodes, w->frozen[s->part - 1], s->last)) {
      return true;
    }
  }
  return false;
}

/* Points of Kronrod's rule in these steps, as far as a step of the columns reaches. */
static int step_integrals(mbg_context *ctx, tangent *s, const mbg__rk_method *method, const mbg__rk_record *step) {
  const mbg__formulation_work *w = s->w;
  const int all = s->n + s->d.np * s->column;
  int err = MBG_OK;
  while (w->staged && next_part(s)) {
    const double ta = w->frozen[s->part - 1], h = w->frozen[s->part] - ta;
    const double t = ta + h * (1 + mbg__kronrod_point[s->point]) / 2;
    if (t > re(step->t1)) {
      break;
    }
    mbg__rk_interpolate(method, all, step->r, (t - step->t0) / (step->t1 - step->t0), 0, all, s->d.xi, NULL);
    MBG_TRY(node_derivatives(ctx, s, t, s->d.xi, true));
    vn_axpy(w->flow->nused * s->d.np, w->staged, h / 2 * mbg__kronrod_weight[s->point++], s->d.dy);
  }
done:
  return err;
}

/* nodes up to the end of a step */
static int step_nodes(mbg_context *ctx, tangent *s, const mbg__rk_method *method, const mbg__rk_record *step) {
  const mbg__step_nodes *nodes = &s->w->nodes;
  const int all = s->n + s->d.np * s->column;
  int err = MBG_OK;
  for (double t; s->d.node < nodes->count && (t = mbg__step_nodes_time(nodes, s->d.node)) <= re(step->t1);
       s->d.node++) {
    const real *x = step->y1;
    const bool inside = t < re(step->t1);
    if (inside) {
      mbg__rk_interpolate(method, all, step->r, (t - step->t0) / (step->t1 - step->t0), 0, all, s->d.xi, NULL);
      x = s->d.xi;
    }
    MBG_TRY(node_derivatives(ctx, s, t, x, inside));
    MBG_TRY(s->d.take(s->d.user, s->d.node, s->d.dy));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- the run */

static int integrate(mbg_context *ctx, tangent *s) {
  mbg__formulation_work *w = s->w;
  const mbg__rk_method *method = w->method ? w->method : &mbg__rk_dop853;
  const mbg__rk_options options = mbg__ode_options(&w->plan, s->atol);
  const mbg__rk_run run = mbg__ode_run(&w->plan, w->last, rhs, begin_segment, s);
  mbg__rk *rk = NULL;
  int err = MBG_OK;
  MBG_TRY(mbg__rk_create(ctx, s->n + s->d.np * s->column, method, &options, &rk));
  MBG_TRY(mbg__rk_start(ctx, rk, &run, s->d.x));
  MBG_TRY(node_derivatives(ctx, s, w->plan.t0, s->d.x, false));
  MBG_TRY(s->d.take(s->d.user, s->d.node++, s->d.dy));
  while ((err = mbg__rk_step(ctx, rk)) > 0) {
    const mbg__rk_record *step = mbg__rk_last(rk);
    MBG_TRY(mbg__plan_check_interrupt(ctx, &w->plan, re(step->t1)));
    MBG_TRY(step_nodes(ctx, s, method, step));
    MBG_TRY(step_integrals(ctx, s, method, step));
    take_sizes(s, step->y1, 1);
    set_tolerances(s);
  }
done:
  mbg__rk_destroy(rk);
  return err;
}

int mbg__qr_tangent(mbg_context *ctx, mbg__formulation_work *w, int (*take)(void *user, int node, const real *dy),
                    void *user) {
  const bool events = w->plan.events != NULL;
  const int np = mbg__design_column_count(mbg__system_design(w->flow->sys));
  tangent s = {.w = w,
               .n = w->flow->state.n,
               .column = events ? w->flow->state.n : w->m->nw + w->m->nv,
               .full = mbg__ode_needs_accelerations(w->m, w->flow->nused, w->flow->used),
               .pulled = are_few(w->m, w->flow->nused, w->flow->used)};
  mbg__arena arena;
  int err = MBG_OK;
  s.d = (mbg__ode_tangent){.plan = &w->plan,
                           .lists = &w->events,
                           .nodes = &w->nodes,
                           .method = w->method,
                           .nend = w->nfrozen,
                           .ends = w->frozen,
                           .n = w->flow->state.n,
                           .np = np,
                           .nparam = np,
                           .take = take,
                           .user = user};
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  w->flow->ctx = ctx;
  w->flow->segment = (mbg__segment){-INFINITY, INFINITY};
  MBG_TRY(take_arrays(ctx, &arena, &s));
  if (events) {
    MBG_TRY(mbg__qr_tangent_start_events(ctx, &arena, &s));
    MBG_TRY(list_varied(ctx, &arena, &s));
    MBG_TRY(mbg__qr_tangent_events(ctx, &s, rhs, node_derivatives));
  } else {
    MBG_TRY(begin_integrals(ctx, &s));
    MBG_TRY(fill_start(ctx, &s));
    MBG_TRY(list_varied(ctx, &arena, &s));
    MBG_TRY(first_tolerances(&s));
    MBG_TRY(integrate(ctx, &s));
  }
done:
  mbg__qr_point_varied(w->flow->point, NULL);
  mbg__ode_tangent_destroy(&s.d);
  mbg__arena_destroy(&arena);
  return err;
}
