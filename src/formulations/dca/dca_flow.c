#include "formulations/dca/dca_flow.h"

#include "formulations/dca/dca_loops.h"

/* ---------------------------------------------------------------------- creation */

int mbg__dca_base_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_flow *f, mbg__dca_base *b) {
  *b = (mbg__dca_base){.E = MBG_TAKE(arena, mbg__frame, f->m->nbody),
                       .w = MBG_TAKE(arena, real, f->n),
                       .turns = MBG_TAKE(arena, int, f->m->nturn),
                       .q = MBG_TAKE(arena, real, f->m->ncoord),
                       .qd = MBG_TAKE(arena, real, f->m->ncoord)};
  return mbg__arena_check(ctx, arena);
}

int mbg__dca_flow_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, mbg__tree *tree, mbg__dca_point *point,
                         mbg__pool *pool, int nused, const int *used, mbg__dca_flow *f) {
  const mbg_model *m = mbg__system_model(sys);
  *f = (mbg__dca_flow){.ctx = ctx,
                       .pool = pool,
                       .m = m,
                       .sys = sys,
                       .tree = tree,
                       .links = mbg__tree_links(tree),
                       .point = point,
                       .n = mbg__tree_size(tree),
                       .nused = nused,
                       .used = used,
                       .full = mbg__ode_needs_accelerations(m, m->nsignal, NULL),
                       .segment = {-INFINITY, INFINITY},
                       .E = MBG_TAKE(arena, mbg__frame, m->nbody),
                       .X = MBG_TAKE(arena, mbg__frame, m->nbody),
                       .w = MBG_TAKE(arena, real, mbg__tree_size(tree)),
                       .turns = MBG_TAKE(arena, int, m->nturn),
                       .q = MBG_TAKE(arena, real, m->ncoord),
                       .qd = MBG_TAKE(arena, real, m->ncoord)};
  f->twist = MBG_TAKE(arena, int, m->nbody);
  const int err = mbg__arena_check(ctx, arena);
  for (int k = 0; err == MBG_OK && k < m->nbody; k++) {
    if (!f->links[k].simple) {
      f->twist[f->ntwist++] = k;
    }
  }
  return err < 0 ? err : mbg__sampling_create(ctx, arena, sys, nused, used, &f->sampling);
}

/* ---------------------------------------------------------------------- whole turns */

static int place(mbg_context *ctx, mbg__dca_flow *f, real t, const mbg__frame *E, const real *w, const int *turns) {
  mbg__tree_place(f->tree, &(mbg__tree_state){.t = t, .E = E, .w = w, .turns = turns});
  mbg__state bodies = mbg__tree_bodies(f->tree);
  bodies.vd = NULL;
  bodies.rows = mbg__dca_point_rows(f->point);
  return mbg__system_update_bare(ctx, f->sys, &bodies);
}

int mbg__dca_base_set(mbg_context *ctx, mbg__dca_flow *f, mbg__dca_base *b) {
  int err = MBG_OK;
  if (f->m->nturn > 0) {
    MBG_TRY(place(ctx, f, b->t, b->E, b->w, b->turns));
    mbg__system_coords(f->sys, b->q);
    mbg__system_coord_rates(f->sys, b->qd);
  }
done:
  return err;
}

int mbg__dca_flow_turns(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_base *b, real t, const mbg__frame *E,
                        const real *w, int *turns) {
  if (f->m->nturn == 0) {
    return MBG_OK;
  }
  const int err = place(ctx, f, t, E, w, b->turns);
  if (err < 0) {
    return err;
  }
  mbg__ode_turns(f->sys, re(b->t), b->q, b->qd, re(t), f->q, f->qd, turns);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- coordinates of a step */

/* E_n rotated about, or displaced along, one of its axes */
static inline void rotate(const mbg__frame *from, int axis, real angle, mbg__frame *to) {
  static const int next[3] = {1, 2, 0}, last[3] = {2, 0, 1};
  const int i = next[axis], j = last[axis];
  const real c = r_cos(angle), s = r_sin(angle);
  *to = *from;
  for (int k = 0; k < 9; k += 3) {
    const real a = from->R[k + i], b = from->R[k + j];
    to->R[k + i] = c * a + s * b;
    to->R[k + j] = c * b - s * a;
  }
}

static void slide(const mbg__frame *from, int axis, real distance, mbg__frame *to) {
  *to = *from;
  for (int k = 0; k < 3; k++) {
    to->x[k] += distance * from->R[3 * k + axis];
  }
}

typedef struct {
  const mbg__dca_flow *f;
  const mbg__frame *from;
  mbg__frame *E;
  const real *sigma, *ge;
  real *gn, *gsigma;
} link_job;

static void frame_of(void *user, int k) {
  const link_job *j = user;
  const mbg__link *l = &j->f->links[k];
  if (l->nz != 1) {
    real d[6];
    mbg__link_twist(l, j->sigma, d);
    mbg__se3_retract(&j->E[k], &j->from[k], d);
  } else if (l->comp[0] >= 3) {
    rotate(&j->from[k], l->comp[0] - 3, j->sigma[l->first], &j->E[k]);
  } else {
    slide(&j->from[k], l->comp[0], j->sigma[l->first], &j->E[k]);
  }
}

void mbg__dca_flow_frames(const mbg__dca_flow *f, const mbg__dca_base *b, const real *sigma, mbg__frame *E) {
  link_job job = {.f = f, .from = b->E, .E = E, .sigma = sigma};
  mbg__pool_each(f->pool, MBG__LOOP_FRAMES, f->m->nbody, frame_of, &job);
}

static void increment_of(void *user, int k) {
  const link_job *j = user;
  const mbg__link *l = &j->f->links[k];
  mbg__frame *X = &j->E[k], one;
  frame_identity(&one);
  if (l->nz != 1) {
    real d[6];
    mbg__link_twist(l, j->sigma, d);
    mbg__se3_exp(X, d);
  } else if (l->comp[0] >= 3) {
    rotate(&one, l->comp[0] - 3, j->sigma[l->first], X);
  } else {
    slide(&one, l->comp[0], j->sigma[l->first], X);
  }
}

void mbg__dca_flow_increments(const mbg__dca_flow *f, const real *sigma) {
  link_job job = {.f = f, .E = f->X, .sigma = sigma};
  mbg__pool_each(f->pool, MBG__LOOP_INCREMENTS, f->m->nbody, increment_of, &job);
}

void mbg__dca_flow_frames_push(const mbg__dca_flow *f, const real *sigma, const real *en, const real *dsigma, real *e) {
  for (int k = 0; k < f->m->nbody; k++) {
    const mbg__link *l = &f->links[k];
    real d[6], x[6];
    AdInv_mul(d, &f->X[k], en + 6 * k);
    mbg__tree_tangent(l, sigma, dsigma + l->first, x);
    for (int i = 0; i < l->nz; i++) {
      d[l->comp[i]] += x[i];
    }
    v6_copy(e + 6 * k, d);
  }
}

/* gn += Ad(X^-1)^T ge for a rotation X about one axis */
static void rotation_pull(const mbg__frame *X, int axis, const real *ge, real *gn) {
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  const real c = X->R[4 * i], s = X->R[3 * j + i];
  for (int k = 0; k < 6; k += 3) {
    gn[k + axis] += ge[k + axis];
    gn[k + i] += c * ge[k + i] - s * ge[k + j];
    gn[k + j] += s * ge[k + i] + c * ge[k + j];
  }
}

static void frame_pull(void *user, int k) {
  const link_job *j = user;
  const mbg__link *l = &j->f->links[k];
  real d[6], x[6], y[6];
  if (l->nz == 1 && l->comp[0] >= 3) {
    rotation_pull(&j->f->X[k], l->comp[0] - 3, j->ge + 6 * k, j->gn + 6 * k);
    if (j->gsigma) {
      j->gsigma[l->first] += j->ge[6 * k + l->comp[0]];
    }
    return;
  }
  AdInvT_mul(d, &j->f->X[k], j->ge + 6 * k);
  v6_axpy(j->gn + 6 * k, 1, d);
  for (int i = 0; i < l->nz; i++) {
    x[i] = j->ge[6 * k + l->comp[i]];
  }
  if (j->gsigma) {
    mbg__tree_tangent_T(l, j->sigma, x, y);
    vn_axpy(l->nz, j->gsigma + l->first, 1, y);
  }
}

void mbg__dca_flow_frames_pull(const mbg__dca_flow *f, const real *sigma, const real *ge, real *gn, real *gsigma) {
  link_job job = {.f = f, .sigma = sigma, .ge = ge, .gn = gn, .gsigma = gsigma};
  mbg__pool_each(f->pool, MBG__LOOP_FRAMES_PULL, f->m->nbody, frame_pull, &job);
}

void mbg__dca_flow_frames_pull_few(const mbg__dca_flow *f, const mbg__dca_few *few, const real *sigma, const real *ge,
                                   real *gn, real *gsigma) {
  link_job job = {.f = f, .E = f->X, .sigma = sigma, .ge = ge, .gn = gn, .gsigma = gsigma};
  for (int i = 0; i < few->n; i++) {
    increment_of(&job, few->link[i]);
    frame_pull(&job, few->link[i]);
  }
}

/* Ti = T^-1 and, if wanted, D = d(T^-1 w)/dsigma of a link whose motions do not commute */
static void rate_map(const mbg__link *l, const real *y, int n, real Ti[36], real D[36]) {
  real d[6], w[6];
  mbg__link_twist(l, y, d);
  mbg__link_twist(l, y + n, w);
  mbg__se3_tangent_inv(Ti, d);
  if (D) {
    mbg__se3_dtangent_inv(D, d, w);
  }
}

static void component_mul(const mbg__link *l, const real A[36], const real *x, real *out) {
  for (int i = 0; i < l->nz; i++) {
    for (int j = 0; j < l->nz; j++) {
      out[l->first + i] += A[6 * l->comp[i] + l->comp[j]] * x[l->first + j];
    }
  }
}

static void component_mul_T(const mbg__link *l, const real A[36], const real *x, real *out) {
  for (int i = 0; i < l->nz; i++) {
    for (int j = 0; j < l->nz; j++) {
      out[l->first + i] += A[6 * l->comp[j] + l->comp[i]] * x[l->first + j];
    }
  }
}

void mbg__dca_flow_rates(const mbg__dca_flow *f, const real *y, real *yd) {
  vn_copy(f->n, yd, y + f->n);
  vn_copy(f->n, yd + f->n, mbg__dca_point_a(f->point));
  for (int q = 0; q < f->ntwist; q++) {
    const mbg__link *l = &f->links[f->twist[q]];
    real Ti[36];
    rate_map(l, y, f->n, Ti, NULL);
    vn_zero(l->nz, yd + l->first);
    component_mul(l, Ti, y + f->n, yd);
  }
}

void mbg__dca_flow_increment_push(const mbg__dca_flow *f, const real *y, const real *dsigma, const real *dw,
                                  real *out) {
  vn_copy(f->n, out, dw);
  for (int q = 0; q < f->ntwist; q++) {
    const mbg__link *l = &f->links[f->twist[q]];
    real Ti[36], D[36];
    rate_map(l, y, f->n, Ti, D);
    vn_zero(l->nz, out + l->first);
    component_mul(l, Ti, dw, out);
    component_mul(l, D, dsigma, out);
  }
}

typedef struct {
  const mbg__dca_flow *f;
  const real *y, *g;
  real *gsigma, *gw;
} increment_job;

static void increment_pull(void *user, int k) {
  const increment_job *j = user;
  const mbg__link *l = &j->f->links[k];
  if (l->simple) {
    vn_axpy(l->nz, j->gw + l->first, 1, j->g + l->first);
  } else {
    real Ti[36], D[36];
    rate_map(l, j->y, j->f->n, Ti, D);
    component_mul_T(l, Ti, j->g, j->gw);
    component_mul_T(l, D, j->g, j->gsigma);
  }
}

void mbg__dca_flow_increment_pull(const mbg__dca_flow *f, const real *y, const real *g, real *gsigma, real *gw) {
  mbg__pool_each(f->pool, MBG__LOOP_INCREMENT_PULL, f->m->nbody, increment_pull, &(increment_job){f, y, g, gsigma, gw});
}

/* ---------------------------------------------------------------------- evaluation */

/* the frames of a large tree are set where they are read; turns are counted before that */
static mbg__tree_state state_of(mbg__dca_flow *f, const mbg__dca_base *b, real at, const real *y, link_job *frames) {
  mbg__tree_state state = {.t = at, .E = f->E, .w = f->w, .turns = f->turns};
  *frames = (link_job){.f = f, .from = b->E, .E = f->E, .sigma = y};
  if (mbg__tree_is_cut(f->tree) && f->m->nturn == 0) {
    state.make = frame_of;
    state.maker = frames;
  } else {
    mbg__dca_flow_frames(f, b, y, f->E);
  }
  vn_copy(f->n, f->w, y + f->n);
  return state;
}

static int set_state(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_base *b, real t, const real *y,
                     mbg__tree_state *state, link_job *frames) {
  const real at = mbg__segment_inside(&f->segment, t);
  *state = state_of(f, b, at, y, frames);
  return mbg__dca_flow_turns(ctx, f, b, at, f->E, f->w, f->turns);
}

int mbg__dca_flow_eval(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_base *b, real t, const real *y) {
  mbg__tree_state state;
  link_job frames;
  const int err = set_state(ctx, f, b, t, y, &state, &frames);
  f->evaluations++;
  return err < 0 ? err : mbg__dca_point_eval(ctx, f->point, &state);
}

int mbg__dca_flow_place(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_base *b, real t, const real *y) {
  mbg__tree_state state;
  link_job frames;
  const int err = set_state(ctx, f, b, t, y, &state, &frames);
  if (err < 0) {
    return err;
  }
  mbg__tree_place(f->tree, &state);
  mbg__state bodies = mbg__tree_bodies(f->tree);
  bodies.vd = NULL;
  bodies.rows = mbg__dca_point_rows(f->point);
  return mbg__system_update(ctx, f->sys, &bodies);
}

int mbg__dca_flow_sample(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_base *b, real t, const real *y,
                         real *values) {
  link_job frames;
  const mbg__tree_state state = state_of(f, b, mbg__segment_inside(&f->segment, t), y, &frames);
  mbg__tree_place(f->tree, &state);
  const mbg__state bodies = mbg__tree_bodies(f->tree);
  return mbg__system_sample(ctx, f->sys, &f->sampling, &bodies, values);
}

int mbg__dca_flow_sample_few(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_few *few, const mbg__dca_base *b,
                             real t, const real *y) {
  const mbg__tree_state state = {.t = mbg__segment_inside(&f->segment, t), .E = f->E, .w = y + f->n, .turns = f->turns};
  link_job frames = {.f = f, .from = b->E, .E = f->E, .sigma = y};
  for (int i = 0; i < few->n; i++) {
    frame_of(&frames, few->link[i]);
  }
  mbg__tree_place_some(f->tree, &state, few->n, few->link);
  const mbg__state bodies = mbg__tree_bodies(f->tree);
  return mbg__system_sample(ctx, f->sys, &few->sampling, &bodies, NULL);
}

int mbg__dca_flow_signals(mbg_context *ctx, mbg__dca_flow *f, real *values) {
  const int err = f->full ? mbg__dca_point_full(ctx, f->point) : MBG_OK;
  return err < 0 ? err : mbg__system_record(ctx, f->sys, f->nused, f->used, 0, values);
}
