#include "system/system.h"

#include "elements/inertia.h"
#include "math/flat.h"
#include "system/system_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

void mbg__mark_row(const mbg_model *m, int row, bool *pair) {
  for (int k = m->rows[row].term; k < m->rows[row].term + m->rows[row].nterm; k++) {
    if (m->terms[k].pair >= 0) {
      pair[m->terms[k].pair] = true;
    }
  }
}

void mbg__mark_forces(const mbg_model *m, bool *pair) {
  for (int i = 0; i < m->nforce; i++) {
    pair[m->forces[i].pair] = true;
  }
  for (int i = 0; i < m->nelement; i++) {
    pair[m->elements[i].pair] = true;
  }
}

/* active rows, and the pairs and markers in use: pairs of inactive rows alone are left out */
static void select_rows(mbg__system *s, const bool *rows) {
  const mbg_model *m = s->model;
  s->rows = rows;
  s->any_row = !rows;
  memset(s->pair_on, !rows, (size_t)m->npair);
  memset(s->marker_on, !rows, (size_t)m->nmarker);
  for (int i = 0; rows && i < m->nrow; i++) {
    if (rows[i]) {
      s->any_row = true;
      mbg__mark_row(m, i, s->pair_on);
    }
    s->phi[i] = s->phid[i] = s->gamma[i] = 0;
  }
  mbg__mark_forces(m, s->pair_on);
  for (int i = 0; i < m->ncoord; i++) {
    s->pair_on[m->coords[i].pair] = true;
  }
  for (int i = 0; i < m->nsignal; i++) {
    if (m->signals[i].type->of == MBG__OF_PAIR || m->signals[i].type->role == MBG__ROLE_CURVE) {
      s->pair_on[m->signals[i].pair] = true;
    }
  }
  for (int i = 0; i < m->npair; i++) {
    if (s->pair_on[i]) {
      s->marker_on[m->pairs[i].A] = s->marker_on[m->pairs[i].B] = true;
    }
  }
  mbg__broad_select(s);
}

/* pairs with forces on them or rows with multipliers */
static void find_loaded(mbg__system *s) {
  const mbg_model *m = s->model;
  memset(s->loaded, 0, (size_t)m->npair);
  for (int i = 0; !s->unloaded && i < m->nrow; i++) {
    if (r_some(s->lambda[i] != 0)) {
      mbg__mark_row(m, i, s->loaded);
    }
  }
  if (!s->bare) {
    mbg__mark_forces(m, s->loaded);
    mbg__broad_unload(s);
  }
}

static int take_values(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  mbg__arena *arena = &s->arena;
  s->coord_term = MBG_TAKE(arena, mbg__term, m->ncoord);
  s->H = MBG_TAKE(arena, mbg__frame, m->nbody);
  s->v = MBG_TAKE(arena, real, m->nw);
  s->vd = MBG_TAKE(arena, real, m->nw);
  s->lambda = MBG_TAKE(arena, real, m->nrow);
  s->turns = MBG_TAKE(arena, int, m->nturn);
  s->Hm = MBG_TAKE(arena, mbg__frame, m->nmarker);
  s->vm = MBG_TAKE(arena, vec6, m->nmarker);
  s->vdm = MBG_TAKE(arena, vec6, m->nmarker);
  s->G = MBG_TAKE(arena, mbg__frame, m->npair);
  s->vrel = MBG_TAKE(arena, vec6, m->npair);
  s->vdrel = MBG_TAKE(arena, vec6, m->npair);
  s->a = MBG_TAKE(arena, vec6, m->npair);
  s->ad = MBG_TAKE(arena, vec6, m->npair);
  s->jet = MBG_TAKE(arena, mbg__fn_jet, m->nfn);
  s->term = MBG_TAKE(arena, mbg__term_value, m->nterm);
  s->coord = MBG_TAKE(arena, mbg__term_value, m->ncoord);
  s->phi = MBG_TAKE(arena, real, m->nrow);
  s->phid = MBG_TAKE(arena, real, m->nrow);
  s->gamma = MBG_TAKE(arena, real, m->nrow);
  s->y = MBG_TAKE(arena, real, m->nsignal);
  s->tau = MBG_TAKE(arena, real, m->nforce);
  s->f = MBG_TAKE(arena, vec6, m->nforce);
  s->energy = MBG_TAKE(arena, real, m->nforce);
  s->F = MBG_TAKE(arena, vec6, m->npair);
  s->beam = MBG_TAKE(arena, mbg__beam_state, m->nelement);
  s->beam_work = MBG_TAKE(arena, mbg__beam_work, m->nreference);
  s->beam_watch = MBG_TAKE(arena, mbg__beam_watch, m->nbeam);
  s->turned = MBG_TAKE(arena, bool, m->nelement);
  s->pair_on = MBG_TAKE(arena, bool, m->npair);
  s->marker_on = MBG_TAKE(arena, bool, m->nmarker);
  s->loaded = MBG_TAKE(arena, bool, m->npair);
  s->touched = MBG_TAKE(arena, bool, m->npair);
  s->term_attr0 = MBG_TAKE(arena, int, m->nterm + 1);
  s->force_a0 = MBG_TAKE(arena, int, m->nforce + 1);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < m->nterm; i++) {
    s->term_attr0[i + 1] = s->term_attr0[i] + mbg__term_attr_max(m, &m->terms[i]);
  }
  for (int i = 0; i < m->nforce; i++) {
    s->force_a0[i + 1] = s->force_a0[i] + m->forces[i].nact;
  }
  select_rows(s, NULL);
  return MBG_OK;
}

static int most_measure_columns(const mbg_model *m) {
  int most = 0;
  for (int i = 0; i < m->nforce; i++) {
    const mbg__force *f = &m->forces[i];
    most = f->type && f->type->measure && f->nact > most ? f->nact : most;
  }
  return most;
}

static int take_derivatives(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  mbg__arena *arena = &s->arena;
  s->row_g = mbg__arena_take(arena, (size_t)m->nterm, sizeof(*s->row_g));
  s->F_G = MBG_TAKE(arena, mat6, m->npair);
  s->F_v = MBG_TAKE(arena, mat6, m->npair);
  s->term_nattr = MBG_TAKE(arena, int, m->nterm);
  s->force_na = MBG_TAKE(arena, int, m->nforce);
  s->term_attr = MBG_TAKE(arena, mbg__term_attr, s->term_attr0[m->nterm]);
  s->f_a = MBG_TAKE(arena, vec6, s->force_a0[m->nforce]);
  s->f_aidx = MBG_TAKE(arena, int, s->force_a0[m->nforce]);
  s->tau_a = MBG_TAKE(arena, real, s->force_a0[m->nforce]);
  s->energy_a = MBG_TAKE(arena, real, s->force_a0[m->nforce]);
  s->energy_G = MBG_TAKE(arena, vec6, m->nforce);
  s->tau_d = mbg__arena_take(arena, (size_t)m->nforce, sizeof(*s->tau_d));
  s->force_G = MBG_TAKE(arena, mat6, m->nforce);
  s->force_v = MBG_TAKE(arena, mat6, m->nforce);
  s->law_fn = MBG_TAKE(arena, real, m->nforce * MBG__LAW_FN);
  s->energy_fn = MBG_TAKE(arena, real, m->nforce * MBG__LAW_FN);
  s->f_fn = MBG_TAKE(arena, vec6, m->nfn);
  const int measures = most_measure_columns(m);
  s->measure_a = MBG_TAKE(arena, vec6, measures);
  s->measure_aidx = MBG_TAKE(arena, int, measures);
  s->measure_energy = MBG_TAKE(arena, real, measures);
  s->sig = MBG_TAKE(arena, mbg__signal_out, m->nsignal);
  s->weight = MBG_TAKE(arena, real, m->nsignal);
  s->aside = MBG_TAKE(arena, bool, m->nsignal);
  s->sampled = MBG_TAKE(arena, long, m->nsignal);
  s->needed = MBG_TAKE(arena, bool, m->nsignal);
  s->m_geo = MBG_TAKE(arena, vec6, m->nmarker);
  s->m_w = MBG_TAKE(arena, vec6, m->nmarker);
  s->m_dv = MBG_TAKE(arena, vec6, m->nmarker);
  s->m_dvd = MBG_TAKE(arena, vec6, m->nmarker);
  s->p_w = MBG_TAKE(arena, vec6, m->npair);
  s->p_dv = MBG_TAKE(arena, vec6, m->npair);
  s->p_dvd = MBG_TAKE(arena, vec6, m->npair);
  s->p_f = MBG_TAKE(arena, vec6, m->npair);
  s->gradient = MBG_TAKE(arena, real, 3 * m->nw + m->nrow + m->na);
  return mbg__arena_check(ctx, arena);
}

int mbg__system_create(mbg_context *ctx, const mbg_model *model, const mbg__design *design, mbg__system **out) {
  int err = MBG_OK;
  mbg__system *s = mbg__alloc_zero(ctx, 1, sizeof(*s));
  if (!s) {
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  s->model = model;
  s->design = design;
  MBG_TRY(take_values(ctx, s));
  MBG_TRY(take_derivatives(ctx, s));
  MBG_TRY(mbg__pull_create(ctx, s));
  MBG_TRY(mbg__modals_create(ctx, s));
  MBG_TRY(mbg__watch_create(ctx, s));
  MBG_TRY(mbg__curves_create(ctx, s));
  MBG_TRY(mbg__fn_work_create(ctx, &s->arena, model, &s->fn_work));
  for (int i = 0; i < model->ncoord; i++) {
    mbg__term_of_coord(&model->coords[i], &s->coord_term[i]);
  }
  MBG_TRY(mbg__late_create(ctx, s));
  MBG_TRY(mbg__pattern_create(ctx, s));
  MBG_TRY(mbg__classes_create(ctx, s));
  MBG_TRY(mbg__broad_create(ctx, s));
done:
  if (err < 0) {
    mbg__system_destroy(s);
    s = NULL;
  }
  *out = s;
  return err;
}

void mbg__system_destroy(mbg__system *s) {
  if (!s) {
    return;
  }
  const mbg_allocator allocator = s->arena.allocator;
  mbg__arena_destroy(&s->arena);
  allocator.release(allocator.user, s);
}

const mbg_model *mbg__system_model(const mbg__system *s) { return s->model; }

const mbg__design *mbg__system_design(const mbg__system *s) { return s->design; }

/* ---------------------------------------------------------------------- values */

void mbg__system_retract(const mbg_model *m, const mbg__frame *H, double step, const real *x, mbg__frame *out) {
  for (int b = 0; b < m->nbody; b++) {
    const mbg__frame from = H[b];
    real h[6];
    for (int k = 0; k < 6; k++) {
      const int j = m->dof[m->bodies[b].voff + k];
      h[k] = j >= 0 ? step * x[j] : 0;
    }
    mbg__se3_retract(&out[b], &from, h);
  }
}

static void copy_or_zero(int n, real *out, const real *x) {
  if (x) {
    memcpy(out, x, (size_t)n * sizeof(real));
  } else {
    memset(out, 0, (size_t)n * sizeof(real));
  }
}

typedef struct {
  mbg__system *s;
  const mbg__state *state;
  bool still;
} copy_job;

static void copy_body(void *user, int i) {
  const copy_job *j = user;
  const int off = j->s->model->bodies[i].voff;
  if (!j->still) {
    j->s->H[i] = j->state->H[i];
  }
  copy_or_zero(6, j->s->v + off, j->state->v ? j->state->v + off : NULL);
  copy_or_zero(6, j->s->vd + off, j->state->vd ? j->state->vd + off : NULL);
}

static void set_multipliers(mbg__system *s, const real *lambda) {
  if (lambda || !s->unloaded) {
    copy_or_zero(s->model->nrow, s->lambda, lambda);
  }
  s->unloaded = !lambda;
}

static int update(mbg_context *ctx, mbg__system *s, const mbg__state *state) {
  const mbg_model *m = s->model;
  const size_t frames = (size_t)m->nbody * sizeof(*s->H);
  /* others may have used the system since */
  const bool still = state->still && !s->partial && state->rows == s->rows && memcmp(s->H, state->H, frames) == 0;
  s->partial = false;
  s->place++;
  s->rest = !state->vd && m->nmodal == 0;
  s->t = state->t;
  s->late_on = state->vd && !state->early;
  mbg__pool_each(s->pool, MBG__EACH_COPY, m->nbody, copy_body, &(copy_job){s, state, still});
  set_multipliers(s, state->lambda);
  for (int i = 0; i < m->nturn; i++) {
    s->turns[i] = state->turns ? state->turns[i] : 0;
  }
  if (state->rows != s->rows) {
    select_rows(s, state->rows);
  }
  find_loaded(s);
  mbg__kin_update(s, still);
  return mbg__rows_update(ctx, s);
}

int mbg__system_update_bare(mbg_context *ctx, mbg__system *s, const mbg__state *state) {
  s->bare = true;
  return update(ctx, s, state);
}

int mbg__system_update_forces(mbg_context *ctx, mbg__system *s) {
  s->bare = false;
  find_loaded(s);
  int err = mbg__forces_update(ctx, s);
  err = err < 0 ? err : mbg__beams_update(ctx, s);
  return err < 0 ? err : mbg__late_update(ctx, s);
}

int mbg__system_update(mbg_context *ctx, mbg__system *s, const mbg__state *state) {
  const int err = mbg__system_update_bare(ctx, s, state);
  return err < 0 ? err : mbg__system_update_forces(ctx, s);
}

void mbg__system_complete(mbg__system *s, const real *vd, const real *lambda) {
  set_multipliers(s, s->model->nrow > 0 && s->any_row ? lambda : NULL);
  find_loaded(s);
  if (vd) {
    memcpy(s->vd, vd, (size_t)s->model->nw * sizeof(real));
    s->rest = s->flat = false;
    mbg__kin_update_rates(s);
  }
  mbg__rows_load(s);
}

/* r -= c J^T f at one marker */
static void marker_wrench_sub(const mbg__system *s, int marker, double c, const vec6 f, real *r) {
  real fb[6];
  if (s->end[marker]) {
    v6_scale(fb, c, f);
    mbg__modal_end_wrench_sub(s, marker, fb, r);
  } else if (marker_body(s, marker) >= 0) {
    AdInvT_mul(fb, &s->design->markers[marker]->h, f);
    v6_axpy(r + s->model->bodies[marker_body(s, marker)].voff, -c, fb);
  }
}

static void flat_wrench_sub(const mbg__system *s, int marker, double c, const vec6 f, real *r) {
  const int body = marker_body(s, marker);
  real fb[6];
  if (body >= 0) {
    flat_AdInvT_mul(fb, &s->design->markers[marker]->h, f);
    flat_axpy(r + s->model->bodies[body].voff, -c, fb);
  }
}

/* subtracts J^T f of both ends of a pair for the wrench F on B: f_A = -Ad(G^-1)^T F */
static void pair_wrench_sub(const mbg__system *s, int i, const vec6 F, real *r) {
  const int A = s->model->pairs[i].A, B = s->model->pairs[i].B;
  real fA[6];
  if (s->flat && flat_vector(F)) {
    flat_wrench_sub(s, B, 1, F, r);
    if (marker_body(s, A) >= 0) {
      flat_AdInvT_mul(fA, &s->G[i], F);
      flat_wrench_sub(s, A, -1, fA, r);
    }
    return;
  }
  marker_wrench_sub(s, B, 1, F, r);
  if (marker_body(s, A) >= 0) {
    AdInvT_mul(fA, &s->G[i], F);
    marker_wrench_sub(s, A, -1, fA, r);
  }
}

/* vd_rel without vd: ad(v_rel) a, and gamma_B - A_i gamma_A of markers that move with modes */
static void rate_at_rest(const mbg__system *s, int i, real c[6]) {
  const int A = s->model->pairs[i].A, B = s->model->pairs[i].B;
  real g[6], x[6];
  ad_mul(c, s->vrel[i], s->a[i]);
  if (s->end[B]) {
    mbg__modal_marker_gamma(&s->end[B]->m, g);
    v6_axpy(c, 1, g);
  }
  if (s->end[A]) {
    mbg__modal_marker_gamma(&s->end[A]->m, g);
    AdInv_mul(x, &s->G[i], g);
    v6_axpy(c, -1, x);
  }
}

/* phidd = b vd_rel + gamma_rel, with vd and without it */
static void row_acceleration(const mbg__system *s, int i, real *phidd, real *gamma) {
  const mbg_model *m = s->model;
  real at_vd = s->gamma[i], at_zero = s->gamma[i];
  for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
    const int pair = m->terms[k].pair;
    if (pair >= 0) {
      real c[6];
      const real rate = v6_dot(s->term[k].b, s->vdrel[pair]);
      at_vd += rate;
      if (s->rest || !gamma) {
        at_zero += rate;
        continue;
      }
      rate_at_rest(s, pair, c);
      at_zero += v6_dot(s->term[k].b, c);
    }
  }
  if (phidd) {
    phidd[i] = at_vd;
  }
  if (gamma) {
    gamma[i] = at_zero;
  }
}

typedef struct {
  const mbg__system *s;
  real *r, *phidd, *gamma;
} residual_out;

static void row_residual(void *user, int i) {
  const residual_out *o = user;
  if (row_on(o->s, i)) {
    row_acceleration(o->s, i, o->phidd, o->gamma);
  }
}

static void body_residual(void *user, int i) {
  const residual_out *o = user;
  const mbg__system *s = o->s;
  const int off = s->model->bodies[i].voff;
  if (has_inertia(s, i) && s->flat) {
    mbg__inertia_flat_residual(s->design->M + 36 * i, s->H[i].R, s->v + off, s->vd + off, gravity_on(s, i), o->r + off);
  } else if (has_inertia(s, i)) {
    mbg__inertia_residual(s->design->M + 36 * i, s->H[i].R, s->v + off, s->vd + off, gravity_on(s, i), o->r + off);
  }
}

void mbg__system_residual(const mbg__system *s, real *r, real *phi, real *phid, real *phidd, real *gamma) {
  const mbg_model *m = s->model;
  const size_t rows = (size_t)m->nrow * sizeof(real);
  if (phi) {
    memcpy(phi, s->phi, rows);
  }
  if (phid) {
    memcpy(phid, s->phid, rows);
  }
  residual_out out = {s, r, phidd, gamma};
  if (phidd || gamma) {
    mbg__pool_each(s->pool, MBG__EACH_ROW_RATE, m->nrow, row_residual, &out);
  }
  if (!r) {
    return;
  }
  memset(r, 0, (size_t)m->nw * sizeof(real));
  if (!s->bare) {
    mbg__pool_each(s->pool, MBG__EACH_BODY_R, m->nbody, body_residual, &out);
    mbg__beams_residual(s, r);
    mbg__modals_residual(s, r);
  }
  for (int i = 0; i < m->npair; i++) {
    if (s->loaded[i]) {
      pair_wrench_sub(s, i, s->F[i], r);
    }
  }
  clear_masked(s, r);
}

void mbg__system_mass_mul(const mbg__system *s, const real *x, real *y) {
  for (int i = 0; i < s->model->nbody; i++) {
    const int off = s->model->bodies[i].voff;
    m6_mulv_T(y + off, s->design->M + 36 * i, x + off); /* M^T = M: its sums do not wait for each other */
  }
  mbg__beams_mass_mul(s, x, y);
  mbg__modals_mass_mul(s, x, y);
  clear_masked(s, y);
}

/* y_k = b (X_A x_A + X_B x_B) */
void mbg__system_B_mul(const mbg__system *s, const real *x, real *y) {
  const mbg_model *m = s->model;
  const mbg__direction d = {.w = x};
  for (int i = 0; i < m->nrow; i++) {
    y[i] = 0;
    for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
      vec6 w, dv, dvd;
      if (m->terms[k].pair >= 0) {
        mbg__kin_pair_push(s, m->terms[k].pair, &d, w, dv, dvd);
        y[i] += v6_dot(s->term[k].b, w);
      }
    }
  }
}

void mbg__system_B_mul_T(const mbg__system *s, const real *x, real *y) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nrow; i++) {
    for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
      if (m->terms[k].pair >= 0) {
        vec6 f;
        v6_scale(f, -x[i], s->term[k].b);
        pair_wrench_sub(s, m->terms[k].pair, f, y);
      }
    }
  }
  clear_masked(s, y);
}

/* ---------------------------------------------------------------------- derivatives */

/* of pairs in use: the others carry nothing */
static void clear_slopes(mbg__system *s) {
  for (int i = 0; i < s->model->npair; i++) {
    if (s->pair_on[i]) {
      m6_zero(s->F_G[i]);
      m6_zero(s->F_v[i]);
    }
  }
}

int mbg__system_linearize(mbg_context *ctx, mbg__system *s) {
  clear_slopes(s);
  mbg__rows_linearize(s);
  if (s->bare) {
    return MBG_OK;
  }
  mbg__beams_linearize(s);
  const int err = mbg__forces_linearize(ctx, s);
  return err < 0 ? err : mbg__late_linearize(ctx, s);
}

void mbg__system_constraints_at(mbg__system *s, const real *v, const real *lambda) {
  const mbg_model *m = s->model;
  const size_t twists = (size_t)m->npair * sizeof(*s->vrel);
  s->bare = true;
  s->flat = false;
  s->place++;
  memcpy(s->v, v, (size_t)m->nw * sizeof(real));
  set_multipliers(s, lambda);
  memcpy(s->p_dv, s->vrel, twists);
  memset(s->F, 0, (size_t)m->npair * sizeof(*s->F));
  clear_slopes(s);
  find_loaded(s);
  mbg__kin_update_twists(s);
  for (int i = 0; i < m->nrow; i++) {
    for (int k = m->rows[i].term; row_on(s, i) && k < m->rows[i].term + m->rows[i].nterm; k++) {
      mbg__rows_shift(s, k, lambda[i], m->terms[k].pair >= 0 ? s->p_dv[m->terms[k].pair] : NULL);
    }
  }
}

void mbg__system_multipliers_at(mbg__system *s, const real *lambda) {
  const mbg_model *m = s->model;
  set_multipliers(s, lambda);
  memset(s->F, 0, (size_t)m->npair * sizeof(*s->F));
  clear_slopes(s);
  find_loaded(s);
  mbg__rows_load(s);
  for (int i = 0; i < m->nrow; i++) {
    for (int k = m->rows[i].term; lambda[i] != 0 && k < m->rows[i].term + m->rows[i].nterm; k++) {
      if (m->terms[k].pair >= 0) {
        m6_axpy(s->F_G[m->terms[k].pair], -lambda[i], s->row_g[k].L);
      }
    }
  }
}

/* ---------------------------------------------------------------------- angles */

void mbg__system_coords(const mbg__system *s, real *q) {
  for (int i = 0; i < s->model->ncoord; i++) {
    q[i] = s->coord[i].phi;
  }
}

void mbg__system_coord_rates(const mbg__system *s, real *qd) {
  for (int i = 0; i < s->model->ncoord; i++) {
    qd[i] = s->coord[i].phid;
  }
}

void mbg__system_turns(const mbg__system *s, const real *previous, int *turns) {
  for (int i = 0; i < s->model->ncoord; i++) {
    const mbg__coord *c = &s->model->coords[i];
    if (c->turn >= 0) {
      /* q = sign (angle + 2 pi n): the n that brings q nearest to its previous value */
      const mbg__part q0 = re(s->coord[i].phi) - c->sign * 2 * M_PI * s->turns[c->turn];
      turns[c->turn] = (int)(c->sign * floor((re(previous[i]) - q0) / (2 * M_PI) + 0.5));
    }
  }
}
