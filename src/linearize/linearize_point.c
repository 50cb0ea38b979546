/* The point of linearization, and how it moves with a parameter:

     start       the derivative of the assembly
     equilibrium r(H, 0, 0, lambda) = 0 on the motions Z that the constraints allow:  Z^T (K w + r_p) = 0,  B w = -phi_p
     steady      the same with v = Ad(H^-1) twist:  K + C ad(v) for K, and C Ad(H^-1) twist' more on the right; of a
                 model with constraints on rates the start
     run         the tangent of the run

   An equilibrium that is not isolated does not move along its free motions. */
#include "linearize/linearize.h"

#include "event/event.h"
#include "math/svd.h"
#include "modes/complex_step.h"
#include "run/run.h"

#include <string.h>

static const double singular = 1e-11; /* stiffness that counts as none, relative to the largest */

static void begin(mbg__linearize_work *k) {
  k->at.ctx = k->ctx;
  k->at.given = &k->model;
  k->at.p = k->p;
  k->at.action = "linearize";
  mbg__arena_init(&k->at.arena, mbg__context_allocator(k->ctx));
}

static void take_rows(mbg__linearize_work *k) {
  k->spec.rest = k->opt.at == MBG_LINEARIZE_EQUILIBRIUM;
  k->spec.keep = k->at.result->rank->keep;
}

static int last_state(mbg__linearize_work *k, mbg__run_state *s) {
  int err = mbg__run_state_take(k->ctx, &k->arena, &k->model, s);
  if (err == MBG_OK && mbg__run_last(k->opt.run, s) < 0) {
    err = mbg__fail(k->ctx, MBG_ERROR_INPUT, "simulate first: the run has no state to linearize about");
  }
  return err;
}

int mbg__linearize_point_at(mbg__linearize_work *k, const mbg__run_state *s) {
  int err = MBG_OK;
  begin(k);
  MBG_TRY(mbg__events_marks_model(k->ctx, &k->arena, &k->model, s->marks));
  MBG_TRY(mbg__modes_begin_at(&k->at, s->t, s->H, s->v, s->turns));
  take_rows(k);
done:
  return err;
}

int mbg__linearize_point(mbg__linearize_work *k) {
  int err = MBG_OK;
  mbg__run_state state;
  if (k->opt.at == MBG_LINEARIZE_RUN) {
    err = last_state(k, &state);
    return err < 0 ? err : mbg__linearize_point_at(k, &state);
  }
  begin(k);
  if (k->opt.at == MBG_LINEARIZE_START || mbg__linearize_rolls(k)) {
    MBG_TRY(mbg__modes_begin(&k->at, k->model.start));
    memcpy(k->at.v, k->at.result->v, (size_t)k->model.nw * sizeof(real));
  } else {
    k->at.opt.at = k->opt.at == MBG_LINEARIZE_STEADY ? MBG_MODES_STEADY : MBG_MODES_EQUILIBRIUM;
    MBG_TRY(mbg__modes_state(&k->at));
  }
  take_rows(k);
done:
  return err;
}

mbg__state mbg__linearize_state(const mbg__linearize_work *k) {
  return (mbg__state){.t = k->at.t, .H = k->at.H, .v = k->at.v, .turns = k->at.turns};
}

/* ---------------------------------------------------------------------- how the point moves */

typedef struct {
  mbg__linearize_work *k;
  mbg__arena arena;
  mbg__complex_step *step;
  double *H, *v;           /* frames and twists, as complex_step.h wants them (nbody x 12, nw) */
  double *w, *dv, *dp;     /* direction (nw, nw, np) */
  real *rw, *rv, *da, *rp; /* the same as real numbers (nw, nw, na, np) */
  real *full, *row, *x;    /* scratch (nw, nrow, saddle) */
  /* equilibrium and steady motion */
  int f;
  double *Z, *S, *V, *s; /* motions (nv x f); Z^T K Z, its right singular vectors and values */
  double *free, *free2;  /* scratch (nv) */
  double *b;             /* scratch (f) */
  bool isolated;         /* S is regular: [K B^T; B 0] is factored, else [W B^T; B 0] */
  /* run */
  real *by; /* w and dv of the free velocities at the last node, by attributes (2 nv x na) */
} derivative;

static void plain(int n, const real *x, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = re(x[i]);
  }
}

static bool settles(const mbg__linearize_work *k) {
  return k->opt.at == MBG_LINEARIZE_EQUILIBRIUM || (k->opt.at == MBG_LINEARIZE_STEADY && !mbg__linearize_rolls(k));
}

static int take_memory(derivative *d) {
  const mbg__linearize_work *k = d->k;
  const mbg_model *m = k->at.m;
  const size_t f = (size_t)(m->nv - k->at.result->rank->nkept);
  d->f = (int)f;
  d->H = MBG_TAKE(&d->arena, double, 12 * (size_t)m->nbody);
  d->v = MBG_TAKE(&d->arena, double, m->nw);
  d->w = MBG_TAKE(&d->arena, double, m->nw);
  d->dv = MBG_TAKE(&d->arena, double, m->nw);
  d->dp = MBG_TAKE(&d->arena, double, m->np);
  d->rw = MBG_TAKE(&d->arena, real, m->nw);
  d->rv = MBG_TAKE(&d->arena, real, m->nw);
  d->da = MBG_TAKE(&d->arena, real, m->na);
  d->rp = MBG_TAKE(&d->arena, real, m->np);
  d->full = MBG_TAKE(&d->arena, real, m->nw);
  d->row = MBG_TAKE(&d->arena, real, m->nrow);
  d->x = MBG_TAKE(&d->arena, real, k->at.saddle.n);
  d->Z = MBG_TAKE(&d->arena, double, (size_t)m->nv *f);
  d->S = MBG_TAKE(&d->arena, double, f *f);
  d->V = MBG_TAKE(&d->arena, double, f *f);
  d->s = MBG_TAKE(&d->arena, double, f);
  d->free = MBG_TAKE(&d->arena, double, m->nv);
  d->free2 = MBG_TAKE(&d->arena, double, m->nv);
  d->b = MBG_TAKE(&d->arena, double, f);
  return mbg__arena_check(k->ctx, &d->arena);
}

/* S = Z^T K Z; column j of U S V^T = S is S v_j / s_j */
static int prepare_settled(derivative *d) {
  mbg__linearize_work *k = d->k;
  const mbg_model *m = k->at.m;
  int err = MBG_OK;
  double *copy = MBG_TAKE(&d->arena, double, (size_t)d->f *(size_t)d->f);
  MBG_TRY(mbg__arena_check(k->ctx, &d->arena));
  MBG_TRY(mbg__rank_motions(k->ctx, k->at.result->rank, k->at.sys, k->at.B, d->Z));
  for (int c = 0; c < d->f; c++) {
    mbg__modes_mul(&k->at, k->at.Kx, column(d->Z, m->nv, c), d->free);
    for (int i = 0; i < d->f; i++) {
      column(d->S, d->f, c)[i] = dot(m->nv, column(d->Z, m->nv, i), d->free);
    }
  }
  memcpy(copy, d->S, (size_t)d->f * (size_t)d->f * sizeof(double));
  err = mbg__svd(k->ctx, d->f, copy, d->s, d->V);
  MBG_TRY(err == MBG_OK             ? MBG_OK
          : err == MBG_ERROR_MEMORY ? mbg__fail_memory(k->ctx)
                                    : mbg__fail(k->ctx, err, "the stiffness of the linear model is not finite"));
  d->isolated = d->f == 0 || d->s[d->f - 1] > singular * d->s[0];
  /* [W B^T; B 0] leads a violation of the rows to the nearest frames */
  MBG_TRY(mbg__modes_factor(&k->at, d->isolated, 0, !d->isolated, "linear model"));
done:
  return err;
}

/* the exact adjoint of the run, from each component of frames and twists at its last node */
static int prepare_run(derivative *d) {
  mbg__linearize_work *k = d->k;
  const mbg_model *m = k->at.m;
  const size_t nv = (size_t)m->nv, nw = (size_t)m->nw;
  real *poses = MBG_TAKE(&d->arena, real, 2 * nv * 2 * nw);
  d->by = MBG_TAKE(&d->arena, real, 2 * nv * (size_t)m->na);
  if (mbg__arena_check(k->ctx, &d->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (size_t j = 0; j < nv; j++) {
    const size_t at = (size_t)m->full[j];
    poses[j * 2 * nw + at] = poses[(nv + j) * 2 * nw + nw + at] = 1;
  }
  return mbg__run_pull_last(k->ctx, k->opt.run, 2 * m->nv, poses, d->by);
}

static int create(derivative *d) {
  mbg__linearize_work *k = d->k;
  const mbg_model *m = k->at.m;
  mbg__kernels kernels;
  int err = MBG_OK;
  MBG_TRY(take_memory(d));
  for (int b = 0; b < m->nbody; b++) {
    plain(9, k->at.H[b].R, d->H + 12 * (size_t)b);
    plain(3, k->at.H[b].x, d->H + 12 * (size_t)b + 9);
  }
  plain(m->nw, k->at.v, d->v);
  plain(m->np, k->p, d->dp);
  mbg__kernels_here(&kernels);
  MBG_TRY(mbg__complex_step_create(k->ctx, m, &kernels, d->dp, &d->step));
  memset(d->dp, 0, (size_t)m->np * sizeof(double));
  if (settles(k)) {
    MBG_TRY(prepare_settled(d));
  } else if (k->opt.at == MBG_LINEARIZE_RUN) {
    MBG_TRY(prepare_run(d));
  }
done:
  return err;
}

/* twist' of a steady motion, from the reference body at the start: Ad(H0) (v0' - ad(v0) w0) */
static int push_twist(derivative *d, real twist[6]) {
  const mbg__modes_work *at = &d->k->at;
  const int body = at->reference, off = at->m->bodies[body].voff;
  int err = MBG_OK;
  real x[6];
  MBG_TRY(mbg__start_push(d->k->ctx, at->start, d->da, d->rw, d->rv));
  ad_mul(x, at->result->v + off, d->rw + off);
  v6_sub(x, d->rv + off, x);
  Ad_mul(twist, &at->result->H[body], x);
done:
  return err;
}

/* z with S z = -b, smallest; false when b has a part that no stiffness answers */
static bool solve_stiffness(derivative *d) {
  const double floor = singular * (d->f > 0 ? d->s[0] : 0);
  double *z = d->free, rest = 0, size = 0;
  memset(z, 0, (size_t)d->f * sizeof(double));
  for (int j = 0; j < d->f; j++) {
    double *v = column(d->V, d->f, j), c = 0;
    if (d->s[j] <= floor) {
      continue;
    }
    for (int i = 0; i < d->f; i++) {
      double u = 0;
      for (int q = 0; q < d->f; q++) {
        u += column(d->S, d->f, q)[i] * v[q];
      }
      c += u / d->s[j] * d->b[i];
    }
    axpy(d->f, -c / d->s[j], v, z);
  }
  for (int i = 0; i < d->f; i++) {
    double r = d->b[i];
    size = fmax(size, fabs(r));
    for (int q = 0; q < d->f; q++) {
      r += column(d->S, d->f, q)[i] * z[q];
    }
    rest = fmax(rest, fabs(r));
  }
  memcpy(d->b, z, (size_t)d->f * sizeof(double));
  return rest <= 1e-7 * size;
}

/* free motions: x holds the nearest frames, the rest follows from the stiffness of the others; false when it ends */
static bool settle_free(derivative *d) {
  mbg__linearize_work *k = d->k;
  const mbg_model *m = k->at.m;
  plain(m->nv, d->x, d->free);
  mbg__modes_mul(&k->at, k->at.Kx, d->free, d->free2);
  for (int j = 0; j < m->nv; j++) {
    d->free2[j] += re(d->full[m->full[j]]);
  }
  for (int i = 0; i < d->f; i++) {
    d->b[i] = dot(m->nv, column(d->Z, m->nv, i), d->free2);
  }
  const bool found = solve_stiffness(d);
  for (int i = 0; i < d->f; i++) {
    for (int j = 0; j < m->nv; j++) {
      d->x[j] += d->b[i] * column(d->Z, m->nv, i)[j];
    }
  }
  return found;
}

/* equilibrium or steady motion along da: rw, rv; or it ends */
static int push_settled(derivative *d, bool *ends) {
  mbg__linearize_work *k = d->k;
  const mbg_model *m = k->at.m;
  const mbg__state state = {
      .t = k->at.t, .H = k->at.H, .v = k->at.v, .vd = k->at.vd, .lambda = k->at.lambda, .turns = k->at.turns};
  const bool steady = k->opt.at == MBG_LINEARIZE_STEADY;
  int err = MBG_OK;
  real twist[6] = {0};
  MBG_TRY(steady ? push_twist(d, twist) : MBG_OK);
  memset(d->rv, 0, (size_t)m->nw * sizeof(real));
  mbg__linear_outside(k->at.design, k->at.H, d->da, d->rw);
  for (int b = 0; steady && b < mbg__frames(m); b++) {
    AdInv_mul(d->rv + m->bodies[b].voff, &k->at.H[b], twist);
  }
  MBG_TRY(mbg__system_update(k->ctx, k->at.sys, &state));
  MBG_TRY(mbg__system_linearize(k->ctx, k->at.sys));
  const mbg__direction along = {.w = d->rw, .dv = d->rv, .da = d->da};
  mbg__system_push(k->at.sys, &along, d->full, d->row, NULL, NULL);
  mbg__to_free(m, d->isolated ? -1 : 0, d->full, d->x);
  for (int i = 0; i < m->nrow; i++) {
    d->x[m->nv + i] = k->at.result->rank->keep[i] ? -d->row[i] : 0;
  }
  mbg__klu_solve(k->at.saddle.klu, d->x, 1);
  *ends = !d->isolated && !settle_free(d);
  mbg__to_full(m, 1, d->x, d->rw);
  mbg__modes_states_move(m, d->rw, d->rv);
  for (int b = 0; steady && b < m->nbody; b++) {
    real x[6];
    ad_mul(x, k->at.v + m->bodies[b].voff, d->rw + m->bodies[b].voff);
    v6_axpy(d->rv + m->bodies[b].voff, 1, x);
  }
done:
  return err;
}

/* the last node of a run along da: rw, rv */
static void push_run(derivative *d) {
  const mbg__linearize_work *k = d->k;
  const mbg_model *m = k->at.m;
  const size_t nv = (size_t)m->nv, na = (size_t)m->na;
  mbg__linear_outside(k->at.design, k->at.H, d->da, d->rw);
  memset(d->rv, 0, (size_t)m->nw * sizeof(real));
  for (size_t j = 0; j < nv; j++) {
    d->rw[m->full[j]] = vn_dot(m->na, d->by + j * na, d->da);
    d->rv[m->full[j]] = vn_dot(m->na, d->by + (nv + j) * na, d->da);
  }
}

/* the point along parameter p: w, dv */
static int push_point(derivative *d, int p) {
  mbg__linearize_work *k = d->k;
  const mbg_model *m = k->at.m;
  bool ends = false;
  int err = MBG_OK;
  d->rp[p] = 1;
  mbg__design_push(k->at.design, d->rp, d->da);
  d->rp[p] = 0;
  if (settles(k)) {
    MBG_TRY(push_settled(d, &ends));
  } else if (k->opt.at == MBG_LINEARIZE_RUN) {
    push_run(d);
  } else {
    MBG_TRY(mbg__start_push(k->ctx, k->at.start, d->da, d->rw, d->rv));
  }
  if (ends) {
    char name[256];
    (void)mbg_model_parameter_name(k->given, p, name, sizeof(name));
    return mbg__fail(k->ctx, MBG_ERROR_INPUT,
                     "parameter '%s' ends the %s: it acts along a motion that nothing holds; leave it out of the "
                     "derivatives, or linearize at the start",
                     name, k->opt.at == MBG_LINEARIZE_STEADY ? "steady motion" : "equilibrium");
  }
  plain(m->nw, d->rw, d->w);
  plain(m->nw, d->rv, d->dv);
done:
  return err;
}

static int derivatives(derivative *d, mbg_linearize *out) {
  mbg__linearize_work *k = d->k;
  int err = MBG_OK;
  MBG_TRY(create(d));
  for (int i = 0; i < out->summary.parameters; i++) {
    const int p = out->by[i];
    MBG_TRY(push_point(d, p));
    const mbg__complex_step_state state = {
        .t = re(k->at.t), .H = d->H, .v = d->v, .turns = k->at.turns, .w = d->w, .dv = d->dv};
    double *at[4];
    for (int q = 0; q < 4; q++) {
      int rows = 0, columns = 0;
      (void)mbg_linearize_matrix(out, "ABCD"[q], &rows, &columns);
      at[q] = out->derivative[q] + (size_t)i * (size_t)rows * (size_t)columns;
    }
    d->dp[p] = 1;
    MBG_TRY(mbg__complex_step_linear(k->ctx, d->step, &k->spec, &state, d->dp, at));
    d->dp[p] = 0;
  }
done:
  return err;
}

int mbg__linearize_derivatives(mbg__linearize_work *k, mbg_linearize *out) {
  derivative d = {.k = k};
  mbg__arena_init(&d.arena, mbg__context_allocator(k->ctx));
  const int err = derivatives(&d, out);
  mbg__complex_step_destroy(d.step);
  mbg__arena_destroy(&d.arena);
  return err;
}
