/* Direct differentiation (theory 1, section 6): the state and one column (w, dv) per parameter, integrated together
   under error control, so that all columns share the factors of a point. */
#include "formulations/qr/qr_work.h"
#include "model/design_columns.h"

#include <string.h>

typedef struct {
  mbg__formulation_work *w;
  int np, n, column; /* parameters, entries of the state and of a column */
  real *da;          /* attributes by parameters              (np x na) */
  real *W, *dv;      /*                                        (np x nw) */
  real *dv_star, *d_a;
  real *dlambda; /*                                            (np x nrow) */
  real *x;       /* state and columns, then their rates         2 x (n + np column) */
  real *xi;      /* interpolated                               (n + np column) */
  int nw;        /* frames that are handed over: nw, or 0 */
  real *dy;      /*                                            (nused + nw x np) */
  double *atol;  /*                                            (n + np column) */
  double *size;  /* largest w and dv of each column so far     (2 np) */
  bool full;     /* used signals need accelerations or reactions */
  int (*take)(void *user, int node, const real *dy);
  void *user;
  int node; /* next one to hand over */
} tangent;

/* ---------------------------------------------------------------------- creation */

static int take_arrays(mbg_context *ctx, mbg__arena *arena, tangent *s) {
  const mbg_model *m = s->w->m;
  const size_t np = (size_t)s->np, all = (size_t)s->n + np * (size_t)s->column;
  s->da = MBG_TAKE(arena, real, np * (size_t)m->na);
  s->W = MBG_TAKE(arena, real, np * (size_t)m->nw);
  s->dv = MBG_TAKE(arena, real, np * (size_t)m->nw);
  s->dv_star = MBG_TAKE(arena, real, np * (size_t)m->nw);
  s->d_a = MBG_TAKE(arena, real, np * (size_t)m->nw);
  s->dlambda = MBG_TAKE(arena, real, np * (size_t)m->nrow);
  s->x = MBG_TAKE(arena, real, 2 * all);
  s->nw = s->w->plan.npose > 0 ? m->nw : 0;
  s->dy = MBG_TAKE(arena, real, np * (size_t)(s->w->flow->nused + s->nw + 1));
  s->atol = MBG_TAKE(arena, double, all);
  s->size = MBG_TAKE(arena, double, 2 * np);
  s->xi = MBG_TAKE(arena, real, all);
  return mbg__arena_check(ctx, arena);
}

/* start: z0 and the derivatives of the assembled start */
static int fill_start(mbg_context *ctx, tangent *s) {
  const mbg_model *m = s->w->m;
  int err = MBG_OK;
  memcpy(s->x, s->w->z0, (size_t)s->n * sizeof(real));
  for (int p = 0; p < s->np; p++) {
    real *da = s->da + (size_t)p * (size_t)m->na, *own = s->x + s->n + (size_t)p * (size_t)s->column;
    const mbg__design *design = mbg__system_design(s->w->flow->sys);
    if (design->directions) {
      vn_copy(m->na, da, design->directions->da + (size_t)p * (size_t)m->na);
    } else {
      vn_zero(s->np, s->dy);
      s->dy[p] = 1;
      mbg__design_push(design, s->dy, da);
    }
    MBG_TRY(mbg__start_push_column(ctx, s->w->start, p, da, own, s->dv));
    mbg__to_free(m, 1, s->dv, own + m->nw);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- right-hand side */

static void read_columns(tangent *s, const real *x) {
  const mbg_model *m = s->w->m;
  memset(s->dv, 0, (size_t)s->np * (size_t)m->nw * sizeof(real));
  for (int p = 0; p < s->np; p++) {
    const real *own = x + s->n + (size_t)p * (size_t)s->column;
    const size_t at = (size_t)p * (size_t)m->nw;
    memcpy(s->W + at, own, (size_t)m->nw * sizeof(real));
    mbg__to_full(m, 1, own + m->nw, s->dv + at);
  }
}

static int push(mbg_context *ctx, tangent *s, const real *x, real *dlambda) {
  read_columns(s, x);
  return mbg__qr_point_push(ctx, s->w->flow->point, s->np, s->W, s->dv, s->da, s->dv_star, s->d_a, dlambda);
}

static int rhs(void *user, double t, const real *x, real *xd) {
  tangent *s = user;
  mbg__qr_flow *f = s->w->flow;
  const mbg_model *m = s->w->m;
  int err = MBG_OK;
  MBG_TRY(mbg__qr_flow_eval(f->ctx, f, t, x));
  mbg__qr_state_rates(&f->state, x, f->v_star, f->a, xd);
  MBG_TRY(push(f->ctx, s, x, NULL));
  for (int p = 0; p < s->np; p++) {
    const size_t at = (size_t)p * (size_t)m->nw;
    real *out = xd + s->n + (size_t)p * (size_t)s->column;
    memcpy(out, s->dv_star + at, (size_t)m->nw * sizeof(real));
    mbg__qr_flow_add_ad(f, -1, s->W + at, out);
    mbg__to_free(m, 1, s->d_a + at, out + m->nw);
  }
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
  for (int p = 0; p < s->np; p++) {
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
  for (int p = 0; p < s->np; p++) {
    w = fmax(w, s->size[2 * p]);
    v = fmax(v, s->size[2 * p + 1]);
  }
  w = fmax(w, 1e-3 * span * v);
  v = fmax(v, w / span);
  for (int p = 0; p < s->np; p++) {
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
  const size_t all = (size_t)s->n + (size_t)s->np * (size_t)s->column;
  const int err = rhs(s, s->w->plan.t0, s->x, s->x + all);
  if (err != 0) {
    return err < 0 ? err : MBG_ERROR_SINGULAR;
  }
  memcpy(s->atol, s->w->atol, (size_t)s->n * sizeof(double));
  take_sizes(s, s->x, 1);
  take_sizes(s, s->x + all, 1e-2 * (s->w->plan.t1 - s->w->plan.t0));
  set_tolerances(s);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- nodes */

/* dy/dp of the used signals at a node */
static int node_derivatives(mbg_context *ctx, tangent *s, double t, const real *x) {
  const mbg_model *m = s->w->m;
  mbg__qr_flow *f = s->w->flow;
  int err = MBG_OK;
  if (s->full) {
    MBG_TRY(mbg__qr_flow_eval(ctx, f, t, x));
    MBG_TRY(push(ctx, s, x, s->dlambda));
    MBG_TRY(mbg__qr_point_linearize(ctx, f->point));
    MBG_TRY(mbg__system_linearize_signals(ctx, f->sys));
  } else {
    read_columns(s, x);
    MBG_TRY(mbg__qr_flow_linearize_signals(ctx, f, t, x));
  }
  for (int p = 0; p < s->np; p++) {
    const size_t at = (size_t)p * (size_t)m->nw;
    const mbg__direction d = {.w = s->W + at,
                              .dv = s->dv + at,
                              .dvd = s->full ? s->d_a + at : NULL,
                              .dlambda = s->full ? s->dlambda + (size_t)p * (size_t)m->nrow : NULL,
                              .da = s->da + (size_t)p * (size_t)m->na};
    for (int k = 0; k < s->w->flow->nused; k++) {
      s->dy[(size_t)k * (size_t)s->np + (size_t)p] = mbg__system_signal_push(s->w->flow->sys, s->w->flow->used[k], &d);
    }
    for (int i = 0; i < s->nw; i++) {
      s->dy[(size_t)(f->nused + i) * (size_t)s->np + (size_t)p] = s->W[at + (size_t)i];
    }
  }
done:
  return err;
}

/* nodes up to the end of a step */
static int step_nodes(mbg_context *ctx, tangent *s, const mbg__rk_method *method, const mbg__rk_record *step) {
  const mbg__step_nodes *nodes = &s->w->nodes;
  const int all = s->n + s->np * s->column;
  int err = MBG_OK;
  for (double t; s->node < nodes->count && (t = mbg__step_nodes_time(nodes, s->node)) <= step->t1; s->node++) {
    const real *x = step->y1;
    if (t < step->t1) {
      mbg__rk_interpolate(method, all, step->r, (t - step->t0) / (step->t1 - step->t0), 0, all, s->xi, NULL);
      x = s->xi;
    }
    MBG_TRY(node_derivatives(ctx, s, t, x));
    MBG_TRY(s->take(s->user, s->node, s->dy));
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
  MBG_TRY(mbg__rk_create(ctx, s->n + s->np * s->column, method, &options, &rk));
  MBG_TRY(mbg__rk_start(ctx, rk, &run, s->x));
  MBG_TRY(node_derivatives(ctx, s, w->plan.t0, s->x));
  MBG_TRY(s->take(s->user, s->node++, s->dy));
  while ((err = mbg__rk_step(ctx, rk)) > 0) {
    const mbg__rk_record *step = mbg__rk_last(rk);
    MBG_TRY(mbg__plan_check_interrupt(ctx, &w->plan, step->t1));
    MBG_TRY(step_nodes(ctx, s, method, step));
    take_sizes(s, step->y1, 1);
    set_tolerances(s);
  }
done:
  mbg__rk_destroy(rk);
  return err;
}

int mbg__qr_tangent(mbg_context *ctx, mbg__formulation_work *w, int (*take)(void *user, int node, const real *dy),
                    void *user) {
  tangent s = {.w = w,
               .np = mbg__design_column_count(mbg__system_design(w->flow->sys)),
               .n = w->flow->state.n,
               .column = w->m->nw + w->m->nv,
               .full = mbg__ode_needs_accelerations(w->m, w->flow->nused, w->flow->used),
               .take = take,
               .user = user};
  mbg__arena arena;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  w->flow->ctx = ctx;
  w->flow->segment = (mbg__segment){-INFINITY, INFINITY};
  MBG_TRY(take_arrays(ctx, &arena, &s));
  MBG_TRY(fill_start(ctx, &s));
  MBG_TRY(first_tolerances(&s));
  MBG_TRY(integrate(ctx, &s));
done:
  mbg__arena_destroy(&arena);
  return err;
}
