/* The continuous adjoint (theory 1, section 7), integrated backward with the forward state interpolated. */
#include "formulations/qr/qr_work.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

static void list_wanted(mbg__arena *arena, mbg__qr_continuous *a) {
  const mbg__design *design = mbg__system_design(a->w->flow->sys);
  const bool all = mbg__seeds_all(a->seeds, a->nc);
  a->wanted = MBG_TAKE(arena, int, a->w->m->na);
  for (int i = 0; a->wanted && i < a->w->m->na; i++) {
    /* curvatures of cubic controls depend on parameters through the samples */
    if (all || design->start[i + 1] > design->start[i] || a->w->m->attributes[i].control >= 0) {
      a->wanted[a->nwanted++] = i;
    }
  }
}

/* lengths against angles; attributes by their size */
static void fill_weights(mbg__qr_continuous *a) {
  const mbg_model *m = a->w->m;
  const mbg__design *design = mbg__system_design(a->w->flow->sys);
  for (int i = 0; i < m->nw; i++) {
    a->weight[i] = i % 6 < 3 ? m->size : 1;
  }
  for (int j = 0; j < m->nv; j++) {
    a->weight[m->nw + j] = m->full[j] % 6 < 3 ? m->size : 1;
  }
  for (int k = 0; k < a->nwanted; k++) {
    const double x = fabs(re(design->attr[a->wanted[k]]));
    a->weight[m->nw + m->nv + k] = x > 0 ? x : 1;
  }
}

int mbg__qr_continuous_create(mbg_context *ctx, mbg__arena *arena, mbg__formulation_work *w, int ncrit,
                              const mbg__criterion_seeds *seeds, mbg__qr_continuous *a) {
  const mbg_model *m = w->m;
  const size_t nc = (size_t)ncrit, nw = nc * (size_t)m->nw;
  *a = (mbg__qr_continuous){.w = w, .nc = ncrit, .seeds = seeds};
  list_wanted(arena, a);
  a->n = m->nw + m->nv + a->nwanted;
  for (int c = 0; c < ncrit; c++) {
    a->densities = a->densities || seeds[c].nterm > 0;
  }
  a->weight = MBG_TAKE(arena, double, a->n);
  a->scale = MBG_TAKE(arena, double, 3 * nc);
  a->atol = MBG_TAKE(arena, double, nc *(size_t)a->n);
  a->mu = MBG_TAKE(arena, real, nw);
  a->rho = MBG_TAKE(arena, real, nw);
  a->gw = MBG_TAKE(arena, real, nw);
  a->gv = MBG_TAKE(arena, real, nw);
  a->gvd = MBG_TAKE(arena, real, nw);
  a->lb = MBG_TAKE(arena, real, nc * (size_t)m->nrow);
  a->ga = MBG_TAKE(arena, real, nc * (size_t)m->na);
  a->signals = MBG_TAKE(arena, real, w->flow->nused);
  a->rate = MBG_TAKE(arena, real, nc * (size_t)a->n);
  const int err = mbg__arena_check(ctx, arena);
  if (err == MBG_OK) {
    fill_weights(a);
  }
  return err;
}

/* ---------------------------------------------------------------------- right-hand side */

static void clear(mbg__qr_continuous *a) {
  const mbg_model *m = a->w->m;
  const size_t nc = (size_t)a->nc, nw = nc * (size_t)m->nw * sizeof(real);
  memset(a->gw, 0, nw);
  memset(a->gv, 0, nw);
  memset(a->gvd, 0, nw);
  memset(a->lb, 0, nc * (size_t)m->nrow * sizeof(real));
  memset(a->ga, 0, nc * (size_t)m->na * sizeof(real));
}

static void pull_signal(mbg__qr_continuous *a, int c, int column, real weight) {
  const mbg_model *m = a->w->m;
  const size_t at = (size_t)c * (size_t)m->nw;
  mbg__system_signal_pull(a->w->flow->sys, a->w->flow->used[column], weight, a->gw + at, a->gv + at, a->gvd + at,
                          a->lb + (size_t)c * (size_t)m->nrow, a->ga + (size_t)c * (size_t)m->na);
}

/* F_H, F_v, F_a, F_lambda, F_p of the integrands */
static int pull_densities(mbg_context *ctx, mbg__qr_continuous *a) {
  mbg__qr_flow *f = a->w->flow;
  int err = MBG_OK;
  MBG_TRY(mbg__qr_point_linearize(ctx, f->point));
  MBG_TRY(mbg__qr_flow_signals(ctx, f, a->signals));
  MBG_TRY(mbg__system_linearize_signals(ctx, a->w->flow->sys));
  for (int c = 0; c < a->nc; c++) {
    for (int k = 0; k < a->seeds[c].nterm; k++) {
      const mbg__density_term *term = &a->seeds[c].terms[k];
      const real grown = term->sharpness > 0 ? r_exp(term->sharpness * (a->signals[term->column] - term->top)) : 1;
      pull_signal(a, c, term->column, term->factor * grown);
    }
  }
done:
  return err;
}

/* (A1)-(A2) with the duals mu, nu + F_a, F_lambda */
static int pull_point(mbg_context *ctx, mbg__qr_continuous *a, const real *y) {
  const mbg_model *m = a->w->m;
  for (int c = 0; c < a->nc; c++) {
    const size_t at = (size_t)c * (size_t)m->nw;
    const real *own = y ? y + (size_t)c * (size_t)a->n : NULL;
    memcpy(a->rho + at, a->gvd + at, (size_t)m->nw * sizeof(real));
    memset(a->mu + at, 0, (size_t)m->nw * sizeof(real));
    if (own) {
      memcpy(a->mu + at, own, (size_t)m->nw * sizeof(real));
      for (int j = 0; j < m->nv; j++) {
        a->rho[at + (size_t)m->full[j]] += own[m->nw + j];
      }
    }
  }
  const real *lb = a->densities || !y ? a->lb : NULL;
  return a->w->pull ? a->w->pull(a->w->pull_user, ctx, a->nc, a->mu, a->rho, lb, a->gw, a->gv, a->ga)
                    : mbg__qr_point_pull(ctx, a->w->flow->point, a->nc, a->mu, a->rho, lb, a->gw, a->gv, a->ga);
}

int mbg__qr_continuous_rates(mbg_context *ctx, mbg__qr_continuous *a, const real *y, real *yd) {
  const mbg_model *m = a->w->m;
  int err = MBG_OK;
  clear(a);
  if (a->densities) {
    MBG_TRY(pull_densities(ctx, a));
  }
  MBG_TRY(pull_point(ctx, a, y));
  for (int c = 0; c < a->nc; c++) {
    const size_t at = (size_t)c * (size_t)m->nw;
    real *out = yd + (size_t)c * (size_t)a->n;
    vn_scale(m->nw, out, -1, a->gw + at);
    mbg__qr_flow_add_adT(a->w->flow, 1, a->mu + at, out);
    mbg__to_free(m, -1, a->gv + at, out + m->nw);
    for (int k = 0; k < a->nwanted; k++) {
      out[m->nw + m->nv + k] = -a->ga[(size_t)c * (size_t)m->na + (size_t)a->wanted[k]];
    }
  }
done:
  return err;
}

int mbg__qr_continuous_rhs(void *adjoint, real t, const real *y, real *yd) {
  mbg__qr_continuous *a = adjoint;
  mbg__qr_flow *f = a->w->flow;
  int err = MBG_OK;
  MBG_TRY(a->forward(a->user, re(t), a->w->zi));
  MBG_TRY(mbg__qr_flow_eval(f->ctx, f, t, a->w->zi));
  MBG_TRY(mbg__qr_continuous_rates(f->ctx, a, y, yd));
done:
  return mbg__ode_status(err);
}

/* ---------------------------------------------------------------------- values at nodes */

/* weight of used signal k at node n */
static real value_weight(const mbg__qr_continuous *a, int c, int n, int k) {
  return mbg__seeds_point(&a->seeds[c].at, n, k);
}

static bool has_values(const mbg__qr_continuous *a, int n) {
  if (mbg__seeds_have_poses(a->seeds, a->nc, a->w->m->nw, n)) {
    return true;
  }
  for (int c = 0; c < a->nc; c++) {
    for (int k = 0; k < a->w->flow->nused; k++) {
      if (value_weight(a, c, n, k) != 0) {
        return true;
      }
    }
  }
  return false;
}

static void pull_values(mbg__qr_continuous *a, int n) {
  for (int c = 0; c < a->nc; c++) {
    for (int k = 0; k < a->w->flow->nused; k++) {
      const real weight = value_weight(a, c, n, k);
      if (weight != 0) {
        pull_signal(a, c, k, weight);
      }
    }
    const size_t at = (size_t)c * (size_t)a->w->m->nw;
    mbg__seeds_add_poses(&a->seeds[c], a->w->m->nw, n, a->gw + at, a->gv + at);
  }
}

/* mu += G_H + vjp_H, nu += G_v + vjp_v, g += G_p + vjp_p with the duals (0, G_a, G_lambda) */
static void add_jump(const mbg__qr_continuous *a, real *y) {
  const mbg_model *m = a->w->m;
  for (int c = 0; c < a->nc; c++) {
    const size_t at = (size_t)c * (size_t)m->nw;
    real *own = y + (size_t)c * (size_t)a->n;
    vn_axpy(m->nw, own, 1, a->gw + at);
    for (int j = 0; j < m->nv; j++) {
      own[m->nw + j] += a->gv[at + (size_t)m->full[j]];
    }
    for (int k = 0; k < a->nwanted; k++) {
      own[m->nw + m->nv + k] += a->ga[(size_t)c * (size_t)m->na + (size_t)a->wanted[k]];
    }
  }
}

/* first node not before t */
static int node_at(const mbg__step_nodes *n, double t) {
  int lo = 0, hi = n->count;
  while (lo < hi) {
    const int mid = (lo + hi) / 2;
    if (mbg__step_nodes_time(n, mid) < t) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo;
}

int mbg__qr_continuous_jump(mbg_context *ctx, mbg__qr_continuous *a, double t, real *y) {
  mbg__formulation_work *w = a->w;
  int err = MBG_OK;
  for (int n = node_at(&w->nodes, t); n < w->nodes.count && mbg__step_nodes_time(&w->nodes, n) == t; n++) {
    if (!has_values(a, n)) {
      continue;
    }
    clear(a);
    MBG_TRY(a->forward(a->user, t, w->zi));
    MBG_TRY(mbg__qr_flow_eval(ctx, w->flow, t, w->zi));
    MBG_TRY(mbg__qr_point_linearize(ctx, w->flow->point));
    MBG_TRY(mbg__system_linearize_signals(ctx, w->flow->sys));
    pull_values(a, n);
    MBG_TRY(pull_point(ctx, a, NULL));
    add_jump(a, y);
  }
done:
  return err;
}

static void add_time(const mbg__formulation_work *w, double t, double *times, int *count) {
  if (t > w->plan.t0 && t < re(w->last) && (*count == 0 || t > times[*count - 1])) {
    times[(*count)++] = t;
  }
}

int mbg__qr_continuous_breaks(mbg_context *ctx, mbg__arena *arena, const mbg__qr_continuous *a, int *count,
                              double **times) {
  const mbg__formulation_work *w = a->w;
  const mbg__step_nodes *nodes = &w->nodes;
  int most = w->plan.nbreak;
  for (int c = 0; c < a->nc; c++) {
    most += a->seeds[c].poses ? nodes->count : a->seeds[c].at.npoint;
  }
  double *t = MBG_TAKE(arena, double, most);
  *times = t;
  *count = 0;
  for (int i = 0, b = 0; t && i < nodes->count; i++) {
    for (; b < w->plan.nbreak && w->plan.breaks[b] <= mbg__step_nodes_time(nodes, i); b++) {
      add_time(w, w->plan.breaks[b], t, count);
    }
    if (has_values(a, i)) {
      add_time(w, mbg__step_nodes_time(nodes, i), t, count);
    }
  }
  return mbg__arena_check(ctx, arena);
}

/* ---------------------------------------------------------------------- tolerances */

/* first entry and number of entries of a group */
static int group(const mbg__qr_continuous *a, int g, int *count) {
  const mbg_model *m = a->w->m;
  *count = g == 0 ? m->nw : g == 1 ? m->nv : a->nwanted;
  return g == 0 ? 0 : g == 1 ? m->nw : m->nw + m->nv;
}

static double largest(const mbg__qr_continuous *a, int c, int g, const real *y) {
  int count;
  const int first = group(a, g, &count);
  double most = 0;
  for (int i = first; i < first + count; i++) {
    most = fmax(most, a->weight[i] * fabs(re(y[(size_t)c * (size_t)a->n + (size_t)i])));
  }
  return most;
}

/* errors of the adjoint enter the gradient directly, errors of the state only through derivatives */
static const double strict = 0.1;

static void set_tolerance(mbg__qr_continuous *a, int c, int g, double scale) {
  const mbg__run_plan *plan = &a->w->plan;
  const double given = plan->adjoint > 0 ? plan->adjoint : strict * plan->relative;
  const double relative = pow(10, a->loosened) * given;
  int count;
  const int first = group(a, g, &count);
  for (int i = first; i < first + count; i++) {
    /* a criterion that depends on nothing does not limit the steps */
    a->atol[(size_t)c * (size_t)a->n + (size_t)i] = scale > 0 ? relative * scale / a->weight[i] : 1;
  }
}

/* With their weights mu, nu/time and g all have the size of the criterion: the tolerance of a group that is still small
   is not below a thousandth of that of the others. */
static void set_tolerances(mbg__qr_continuous *a, int c, double mu, double nu, double g) {
  const double span = a->w->plan.t1 - a->w->plan.t0;
  const double all = fmax(mu, nu / span);
  set_tolerance(a, c, 0, fmax(mu, all));
  set_tolerance(a, c, 1, fmax(nu, 1e-3 * span * all));
  set_tolerance(a, c, 2, fmax(g, 1e-2 * all));
}

void mbg__qr_continuous_scales(mbg__qr_continuous *a, const real *y) {
  for (int c = 0; c < a->nc; c++) {
    double *scale = a->scale + 3 * c;
    for (int g = 0; g < 3; g++) {
      scale[g] = fmax(scale[g], largest(a, c, g, y));
    }
    if (scale[0] > 0 || scale[1] > 0) {
      set_tolerances(a, c, scale[0], scale[1], scale[2]);
    }
  }
}

int mbg__qr_continuous_begin(mbg__qr_continuous *a, double t, const real *y) {
  const double ahead = 1e-2 * (a->w->plan.t1 - a->w->plan.t0);
  bool zero = false;
  mbg__qr_continuous_scales(a, y);
  for (int c = 0; c < a->nc; c++) {
    zero = zero || (a->scale[3 * c] == 0 && a->scale[3 * c + 1] == 0);
  }
  if (!zero) {
    return MBG_OK;
  }
  const int err = mbg__qr_continuous_rhs(a, t, y, a->rate);
  for (int c = 0; err == MBG_OK && c < a->nc; c++) {
    if (a->scale[3 * c] == 0 && a->scale[3 * c + 1] == 0) {
      set_tolerances(a, c, ahead * largest(a, c, 0, a->rate), ahead * largest(a, c, 1, a->rate),
                     ahead * largest(a, c, 2, a->rate));
    }
  }
  return err > 0 ? MBG_ERROR_SINGULAR : err;
}

int mbg__qr_continuous_finish(mbg_context *ctx, mbg__qr_continuous *a, const real *y, real *psi_a) {
  const mbg_model *m = a->w->m;
  int err = MBG_OK;
  for (int c = 0; c < a->nc; c++) {
    const real *own = y + (size_t)c * (size_t)a->n;
    real *out = psi_a + (size_t)c * (size_t)m->na;
    vn_zero(m->nw, a->gv);
    mbg__to_full(m, 1, own + m->nw, a->gv);
    MBG_TRY(mbg__start_pull(ctx, a->w->start, own, a->gv, out));
    for (int k = 0; k < a->nwanted; k++) {
      out[a->wanted[k]] += own[m->nw + m->nv + k];
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- Runge-Kutta backward */

static int forward_state(void *user, double t, real *z) {
  mbg__formulation_work *w = user;
  const mbg__rk_dense steps = {.nstep = mbg__qr_store_steps(w), .t = w->frozen};
  if (steps.nstep == 0) { /* interrupted before the first step */
    memcpy(z, w->z0, (size_t)w->flow->state.n * sizeof(real));
    return MBG_OK;
  }
  return mbg__qr_store_interpolate(w->flow->ctx, w, 1 + mbg__rk_dense_find(&steps, t, MBG__RK_LEFT), t, z);
}

static int begin_segment(void *user, double ta, double tb, real *y) {
  mbg__qr_continuous *a = user;
  mbg_context *ctx = a->w->flow->ctx;
  int err = MBG_OK;
  a->w->flow->segment = mbg__segment_between(ta, tb);
  MBG_TRY(mbg__qr_continuous_jump(ctx, a, ta, y));
  MBG_TRY(mbg__qr_continuous_begin(a, ta, y));
done:
  return err;
}

/* The forward solution is a polynomial in each step, accurate to its tolerance: much shorter adjoint steps resolve only
   its errors. They occur where a criterion is itself below the tolerances (a drift, a residual); kinks of a law also
   need a few. So short steps are allowed until there are too many of them: then the tolerance is loosened tenfold, as
   often as necessary. */
enum { SHORT_STEPS = 10, LOOSENED_MAX = 8, LOOSENED_WARNED = 4 };

static double shortest_step(const mbg__formulation_work *w) {
  return 1e-4 * (re(w->last) - w->plan.t0) / fmax(1, mbg__qr_store_steps(w));
}

static void limit_steps(mbg__qr_continuous *a, const mbg__rk *rk, double t) {
  const mbg__formulation_work *w = a->w;
  const double part = (re(w->last) - t) / (re(w->last) - w->plan.t0);
  const double allowed = 200 * (1 + a->loosened) + SHORT_STEPS * mbg__qr_store_steps(w) * part;
  a->loosened += (double)mbg__rk_count(rk)->steps > allowed && a->loosened < LOOSENED_MAX;
}

static int backward(mbg_context *ctx, mbg__arena *arena, mbg__qr_continuous *a, real *y) {
  mbg__formulation_work *w = a->w;
  mbg__rk_options options = mbg__rk_options_default();
  mbg__rk_run run = {
      .rhs = mbg__qr_continuous_rhs, .segment = begin_segment, .user = a, .t0 = w->last, .t1 = w->plan.t0};
  mbg__rk *rk = NULL;
  double *breaks;
  int err = MBG_OK;
  options.rtol = 0;
  options.atol_vector = a->atol;
  options.fixed = w->plan.adjoint > 0 && w->method->error_order > 0 ? 0 : w->plan.step;
  options.hmin = shortest_step(w);
  MBG_TRY(mbg__qr_continuous_breaks(ctx, arena, a, &run.nbreak, &breaks));
  run.breaks = breaks;
  MBG_TRY(mbg__rk_create(ctx, a->nc * a->n, w->method, &options, &rk));
  MBG_TRY(mbg__rk_start(ctx, rk, &run, y));
  while ((err = mbg__rk_step(ctx, rk)) > 0) {
    const mbg__rk_record *step = mbg__rk_last(rk);
    MBG_TRY(mbg__plan_check_interrupt(ctx, &w->plan, re(step->t1)));
    limit_steps(a, rk, re(step->t1));
    mbg__qr_continuous_scales(a, step->y1);
  }
  if (err == MBG_OK) {
    memcpy(y, mbg__rk_last(rk)->y1, (size_t)a->nc * (size_t)a->n * sizeof(real));
    MBG_TRY(mbg__qr_continuous_jump(ctx, a, w->plan.t0, y));
    if (a->loosened >= LOOSENED_WARNED || mbg__rk_count(rk)->forced > mbg__rk_count(rk)->steps / 10) {
      mbg__note(
          ctx, MBG_WARNING,
          "the tolerance does not resolve the gradient of a criterion: the criterion is as small as the errors of the "
          "simulation, or oscillates within a step");
    }
  }
  if (err == MBG_ERROR_CONVERGENCE) {
    mbg__note(ctx, MBG_NOTE, "this is the backward integration of the adjoint; --method direct integrates forward");
  }
done:
  mbg__rk_destroy(rk);
  return err;
}

int mbg__qr_continuous_run(mbg_context *ctx, mbg__formulation_work *w, int ncrit, const mbg__criterion_seeds *seeds,
                           real *psi_a) {
  mbg__qr_continuous a;
  mbg__arena arena;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  w->flow->ctx = ctx;
  MBG_TRY(mbg__qr_continuous_create(ctx, &arena, w, ncrit, seeds, &a));
  real *y = MBG_TAKE(&arena, real, (size_t)ncrit * (size_t)a.n);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  if (w->method) {
    a.forward = forward_state;
    a.user = w;
    MBG_TRY(backward(ctx, &arena, &a, y));
  } else {
    MBG_TRY(mbg__qr_cvodes_adjoint(ctx, w, &a, y));
  }
  MBG_TRY(mbg__qr_continuous_finish(ctx, &a, y, psi_a));
done:
  mbg__arena_destroy(&arena);
  return err;
}
