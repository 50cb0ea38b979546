#include "system/system.h"

#include "elements/inertia.h"
#include "system/system_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

#define TAKE(field, type, count)                                                                                       \
  do {                                                                                                                 \
    s->field = mbg__arena_take(&s->arena, (size_t)(count), sizeof(type));                                              \
    if (!s->field) {                                                                                                   \
      return mbg__fail_memory(ctx);                                                                                    \
    }                                                                                                                  \
  } while (0)

/* rows that matter, and the pairs and markers that are left: those of rows alone are out with their rows */
static void select_rows(mbg__system *s, const bool *rows) {
  const mbg_model *m = s->model;
  s->rows = rows;
  memset(s->pair_on, !rows, (size_t)m->npair);
  memset(s->marker_on, !rows, (size_t)m->nmarker);
  for (int i = 0; rows && i < m->nrow; i++) {
    for (int k = m->rows[i].term; rows[i] && k < m->rows[i].term + m->rows[i].nterm; k++) {
      if (m->terms[k].pair >= 0) {
        s->pair_on[m->terms[k].pair] = true;
      }
    }
  }
  for (int i = 0; rows && i < m->nforce; i++) {
    s->pair_on[m->forces[i].pair] = true;
  }
  for (int i = 0; rows && i < m->nelement; i++) {
    s->pair_on[m->elements[i].pair] = true;
  }
  for (int i = 0; rows && i < m->ncoord; i++) {
    s->pair_on[m->coords[i].pair] = true;
  }
  for (int i = 0; rows && i < m->nsignal; i++) {
    if (m->signals[i].type->of == MBG__OF_PAIR) {
      s->pair_on[m->signals[i].pair] = true;
    }
  }
  for (int i = 0; i < m->npair; i++) {
    if (s->pair_on[i]) {
      s->marker_on[m->pairs[i].A] = s->marker_on[m->pairs[i].B] = true;
    }
  }
}

/* pairs with forces on them or rows with multipliers */
static void find_loud(mbg__system *s) {
  const mbg_model *m = s->model;
  memset(s->loud, 0, (size_t)m->npair);
  for (int i = 0; i < m->nrow; i++) {
    for (int k = m->rows[i].term; s->lambda[i] != 0 && k < m->rows[i].term + m->rows[i].nterm; k++) {
      if (m->terms[k].pair >= 0) {
        s->loud[m->terms[k].pair] = true;
      }
    }
  }
  for (int i = 0; !s->bare && i < m->nforce; i++) {
    s->loud[m->forces[i].pair] = true;
  }
  for (int i = 0; !s->bare && i < m->nelement; i++) {
    s->loud[m->elements[i].pair] = true;
  }
}

static int take_values(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  TAKE(coord_term, mbg__term, m->ncoord);
  TAKE(H, mbg__frame, m->nbody);
  TAKE(v, real, m->nw);
  TAKE(vd, real, m->nw);
  TAKE(lambda, real, m->nrow);
  TAKE(turns, int, m->nturn);
  TAKE(Hm, mbg__frame, m->nmarker);
  TAKE(vm, vec6, m->nmarker);
  TAKE(vdm, vec6, m->nmarker);
  TAKE(G, mbg__frame, m->npair);
  TAKE(vrel, vec6, m->npair);
  TAKE(vdrel, vec6, m->npair);
  TAKE(a, vec6, m->npair);
  TAKE(ad, vec6, m->npair);
  TAKE(jet, mbg__fn_jet, m->nfn);
  TAKE(term, mbg__term_value, m->nterm);
  TAKE(coord, mbg__term_value, m->ncoord);
  TAKE(phi, real, m->nrow);
  TAKE(phid, real, m->nrow);
  TAKE(gamma, real, m->nrow);
  TAKE(y, real, m->nsignal);
  TAKE(tau, real, m->nforce);
  TAKE(f, vec6, m->nforce);
  TAKE(energy, real, m->nforce);
  TAKE(F, vec6, m->npair);
  TAKE(beam, mbg__beam_state, m->nelement);
  TAKE(beam_work, mbg__beam_work, m->nreference);
  TAKE(beam_watch, mbg__beam_watch, m->nbeam);
  TAKE(turned, bool, m->nelement);
  TAKE(pair_on, bool, m->npair);
  TAKE(marker_on, bool, m->nmarker);
  TAKE(marker_wanted, bool, m->nmarker);
  TAKE(loud, bool, m->npair);
  TAKE(touched, bool, m->npair);
  select_rows(s, NULL);
  mbg__system_want(s, true);
  return MBG_OK;
}

static int take_derivatives(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  TAKE(row_g, *s->row_g, m->nterm);
  TAKE(F_G, mat6, m->npair);
  TAKE(F_v, mat6, m->npair);
  TAKE(term_attr0, int, m->nterm + 1);
  TAKE(term_nattr, int, m->nterm);
  TAKE(force_a0, int, m->nforce + 1);
  TAKE(force_na, int, m->nforce);
  for (int i = 0; i < m->nterm; i++) {
    s->term_attr0[i + 1] = s->term_attr0[i] + mbg__term_attr_max(m, &m->terms[i]);
  }
  for (int i = 0; i < m->nforce; i++) {
    s->force_a0[i + 1] = s->force_a0[i] + m->forces[i].nact;
  }
  TAKE(term_attr, mbg__term_attr, s->term_attr0[m->nterm]);
  TAKE(f_a, vec6, s->force_a0[m->nforce]);
  TAKE(f_aidx, int, s->force_a0[m->nforce]);
  TAKE(tau_a, real, s->force_a0[m->nforce]);
  TAKE(energy_a, real, s->force_a0[m->nforce]);
  TAKE(energy_G, vec6, m->nforce);
  TAKE(tau_d, *s->tau_d, m->nforce);
  TAKE(force_G, mat6, m->nforce);
  TAKE(force_v, mat6, m->nforce);
  TAKE(law_fn, real, m->nforce * MBG__LAW_FN);
  TAKE(sig, mbg__signal_out, m->nsignal);
  TAKE(weight, real, m->nsignal);
  TAKE(needed, bool, m->nsignal);
  TAKE(m_geo, vec6, m->nmarker);
  TAKE(m_w, vec6, m->nmarker);
  TAKE(m_dv, vec6, m->nmarker);
  TAKE(m_dvd, vec6, m->nmarker);
  TAKE(m_f, vec6, m->nmarker);
  TAKE(p_w, vec6, m->npair);
  TAKE(p_dv, vec6, m->npair);
  TAKE(p_dvd, vec6, m->npair);
  TAKE(p_f, vec6, m->npair);
  TAKE(gradient, real, 3 * m->nw + m->nrow + m->na);
  return MBG_OK;
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
  MBG_TRY(mbg__modals_create(ctx, s));
  MBG_TRY(mbg__fn_work_create(ctx, &s->arena, model, &s->fn_work));
  for (int i = 0; i < model->ncoord; i++) {
    mbg__term_of_coord(&model->coords[i], &s->coord_term[i]);
  }
  MBG_TRY(mbg__pattern_create(ctx, s));
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

static void copy_or_zero(int n, real *out, const real *x) {
  if (x) {
    memcpy(out, x, (size_t)n * sizeof(real));
  } else {
    memset(out, 0, (size_t)n * sizeof(real));
  }
}

static int update(mbg_context *ctx, mbg__system *s, const mbg__state *state) {
  const mbg_model *m = s->model;
  const size_t frames = (size_t)m->nbody * sizeof(*s->H);
  /* others may have used the system since */
  const bool still = state->still && state->rows == s->rows && memcmp(s->H, state->H, frames) == 0;
  s->t = state->t;
  if (!still) {
    memcpy(s->H, state->H, frames);
  }
  copy_or_zero(m->nw, s->v, state->v);
  copy_or_zero(m->nw, s->vd, state->vd);
  copy_or_zero(m->nrow, s->lambda, state->lambda);
  for (int i = 0; i < m->nturn; i++) {
    s->turns[i] = state->turns ? state->turns[i] : 0;
  }
  if (state->rows != s->rows) {
    select_rows(s, state->rows);
  }
  find_loud(s);
  if (still) {
    mbg__kin_update_twists(s);
    mbg__kin_update_rates(s);
  } else {
    mbg__kin_update(s);
  }
  memset(s->F, 0, (size_t)m->npair * sizeof(*s->F));
  return mbg__rows_update(ctx, s);
}

int mbg__system_update_bare(mbg_context *ctx, mbg__system *s, const mbg__state *state) {
  s->bare = true;
  return update(ctx, s, state);
}

int mbg__system_update_forces(mbg_context *ctx, mbg__system *s) {
  s->bare = false;
  find_loud(s);
  const int err = mbg__forces_update(ctx, s);
  return err < 0 ? err : mbg__beams_update(ctx, s);
}

int mbg__system_update(mbg_context *ctx, mbg__system *s, const mbg__state *state) {
  const int err = mbg__system_update_bare(ctx, s, state);
  return err < 0 ? err : mbg__system_update_forces(ctx, s);
}

void mbg__system_complete(mbg__system *s, const real *vd, const real *lambda) {
  memcpy(s->vd, vd, (size_t)s->model->nw * sizeof(real));
  memcpy(s->lambda, lambda, (size_t)s->model->nrow * sizeof(real));
  find_loud(s);
  mbg__kin_update_rates(s);
  mbg__rows_load(s);
}

static const real *gravity_of(const mbg__system *s) {
  static const real none[3] = {0, 0, 0};
  return s->model->gravity >= 0 ? s->design->attr + s->model->gravity : none;
}

/* r -= c J^T f at one marker */
static void marker_wrench_sub(const mbg__system *s, int marker, double c, const vec6 f, real *r) {
  real fb[6];
  if (s->end[marker]) {
    v6_scale(fb, c, f);
    mbg__modal_end_wrench_sub(s, marker, fb, r);
  } else if (marker_body(s, marker) >= 0) {
    AdInvT_mul(fb, &s->design->markers[marker].h, f);
    v6_axpy(r + s->model->bodies[marker_body(s, marker)].voff, -c, fb);
  }
}

/* subtracts J^T f of both ends of a pair for the wrench F on B: f_A = -Ad(G^-1)^T F */
static void pair_wrench_sub(const mbg__system *s, int i, const vec6 F, real *r) {
  const int A = s->model->pairs[i].A, B = s->model->pairs[i].B;
  real fA[6];
  marker_wrench_sub(s, B, 1, F, r);
  if (marker_body(s, A) >= 0) {
    AdInvT_mul(fA, &s->G[i], F);
    marker_wrench_sub(s, A, -1, fA, r);
  }
}

/* masked components are reactions of the plane: not ours */
static void clear_masked(const mbg__system *s, real *r) {
  for (int i = 0; i < s->model->nw; i++) {
    if (s->model->dof[i] < 0) {
      r[i] = 0;
    }
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
      rate_at_rest(s, pair, c);
      at_vd += v6_dot(s->term[k].b, s->vdrel[pair]);
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

void mbg__system_residual(const mbg__system *s, real *r, real *phi, real *phid, real *phidd, real *gamma) {
  const mbg_model *m = s->model;
  const size_t rows = (size_t)m->nrow * sizeof(real);
  if (phi) {
    memcpy(phi, s->phi, rows);
  }
  if (phid) {
    memcpy(phid, s->phid, rows);
  }
  for (int i = 0; (phidd || gamma) && i < m->nrow; i++) {
    if (row_on(s, i)) {
      row_acceleration(s, i, phidd, gamma);
    }
  }
  if (!r) {
    return;
  }
  memset(r, 0, (size_t)m->nw * sizeof(real));
  for (int i = 0; !s->bare && i < m->nbody; i++) {
    const int off = m->bodies[i].voff;
    if (has_inertia(s, i)) {
      mbg__inertia_residual(s->design->M + 36 * i, s->H[i].R, s->v + off, s->vd + off, gravity_of(s), r + off);
    }
  }
  if (!s->bare) {
    mbg__beams_residual(s, r);
    mbg__modals_residual(s, r);
  }
  for (int i = 0; i < m->npair; i++) {
    if (s->loud[i]) {
      pair_wrench_sub(s, i, s->F[i], r);
    }
  }
  clear_masked(s, r);
}

void mbg__system_mass_mul(const mbg__system *s, const real *x, real *y) {
  for (int i = 0; i < s->model->nbody; i++) {
    const int off = s->model->bodies[i].voff;
    m6_mulv(y + off, s->design->M + 36 * i, x + off);
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
  const int err = mbg__rows_linearize(ctx, s);
  if (err < 0 || s->bare) {
    return err;
  }
  mbg__beams_linearize(s);
  return mbg__forces_linearize(ctx, s);
}

void mbg__system_constraints_at(mbg__system *s, const real *v, const real *lambda) {
  const mbg_model *m = s->model;
  const size_t twists = (size_t)m->npair * sizeof(*s->vrel), wrenches = (size_t)m->npair * sizeof(*s->F_G);
  s->bare = true;
  memcpy(s->v, v, (size_t)m->nw * sizeof(real));
  memcpy(s->lambda, lambda, (size_t)m->nrow * sizeof(real));
  memcpy(s->p_dv, s->vrel, twists);
  memset(s->F, 0, (size_t)m->npair * sizeof(*s->F));
  memset(s->F_G, 0, wrenches);
  memset(s->F_v, 0, wrenches);
  find_loud(s);
  mbg__kin_update_twists(s);
  for (int i = 0; i < m->nrow; i++) {
    for (int k = m->rows[i].term; row_on(s, i) && k < m->rows[i].term + m->rows[i].nterm; k++) {
      mbg__rows_shift(s, k, lambda[i], m->terms[k].pair >= 0 ? s->p_dv[m->terms[k].pair] : NULL);
    }
  }
}

void mbg__system_multipliers_at(mbg__system *s, const real *lambda) {
  const mbg_model *m = s->model;
  memcpy(s->lambda, lambda, (size_t)m->nrow * sizeof(real));
  memset(s->F, 0, (size_t)m->npair * sizeof(*s->F));
  clear_slopes(s);
  find_loud(s);
  mbg__rows_load(s);
  for (int i = 0; i < m->nrow; i++) {
    for (int k = m->rows[i].term; lambda[i] != 0 && k < m->rows[i].term + m->rows[i].nterm; k++) {
      if (m->terms[k].pair >= 0) {
        m6_axpy(s->F_G[m->terms[k].pair], -lambda[i], s->row_g[k].L);
      }
    }
  }
}

/* change of r of one body with frame, twist, rate and its own attributes */
static void body_push(const mbg__system *s, int i, const mbg__direction *d, real dr[6]) {
  const mbg__body *b = &s->model->bodies[i];
  const real *M = s->design->M + 36 * i, *v = s->v + b->voff, *vd = s->vd + b->voff, *g = gravity_of(s);
  real moved[6], c[6];
  v6_zero(dr);
  if (!has_inertia(s, i)) {
    return;
  }
  v6_zero(moved);
  /* M (dvd - d(R^T g)) - ad(dv)^T M v - ad(v)^T M dv,  d(R^T g) = (R^T g)~ W */
  if (d->dvd) {
    v6_copy(moved, d->dvd + b->voff);
  }
  if (d->w && s->model->gravity >= 0) {
    real a[3], turned[3];
    m3_mulv_T(a, s->H[i].R, g);
    v3_cross(turned, a, d->w + b->voff + 3);
    v3_axpy(moved, -1, turned);
  }
  if (d->dvd || (d->w && s->model->gravity >= 0)) {
    m6_mulv(dr, M, moved);
  }
  if (d->dv) {
    real momentum[6];
    m6_mulv(momentum, M, v);
    adT_mul(c, d->dv + b->voff, momentum);
    v6_axpy(dr, -1, c);
    m6_mulv(momentum, M, d->dv + b->voff);
    adT_mul(c, v, momentum);
    v6_axpy(dr, -1, c);
  }
  for (int k = 0; d->da && k < b->nattr; k++) {
    if (d->da[b->attr + k] != 0) {
      mbg__inertia_change(M, s->H[i].R, v, vd, g, s->design->M_a[i] + 36 * k, NULL, c);
      v6_axpy(dr, d->da[b->attr + k], c);
    }
  }
  if (d->da && s->model->gravity >= 0) {
    mbg__inertia_change(M, s->H[i].R, v, vd, g, NULL, d->da + s->model->gravity, c);
    v6_axpy(dr, 1, c);
  }
}

static void forces_push(mbg__system *s, const mbg__direction *d) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->npair; i++) {
    v6_zero(s->p_f[i]);
    if (s->loud[i]) {
      m6_mulv_add(s->p_f[i], s->F_G[i], s->p_w[i]);
      m6_mulv_add(s->p_f[i], s->F_v[i], s->p_dv[i]);
    }
  }
  for (int i = 0; !s->bare && i < m->nforce; i++) {
    const int pair = m->forces[i].pair;
    for (int k = s->force_a0[i]; d->da && k < s->force_a0[i] + s->force_na[i]; k++) {
      v6_axpy(s->p_f[pair], d->da[s->f_aidx[k]], s->f_a[k]);
    }
    if (s->cross_of[i] >= 0) {
      v6_axpy(s->p_f[pair], -mbg__law_signals_push(s, i, d), s->coord[m->forces[i].coord].b);
    }
  }
}

static void rows_push(mbg__system *s, const mbg__direction *d, real *dphi, real *dphid, real *dphidd) {
  const mbg_model *m = s->model;
  static const vec6 zero = {0};
  for (int i = 0; i < m->nrow; i++) {
    real p = 0, pd = 0, pdd = 0;
    for (int k = m->rows[i].term; row_on(s, i) && k < m->rows[i].term + m->rows[i].nterm; k++) {
      const int pair = m->terms[k].pair;
      const real *w = pair >= 0 ? s->p_w[pair] : zero, *dv = pair >= 0 ? s->p_dv[pair] : zero;
      const real *dvd = pair >= 0 ? s->p_dvd[pair] : zero, *b = s->term[k].b;
      p += v6_dot(b, w);
      pd += v6_dot(s->row_g[k].phid_G, w) + v6_dot(b, dv);
      pdd += v6_dot(s->row_g[k].phidd_G, w) + v6_dot(s->row_g[k].gamma_v, dv) + v6_dot(b, dvd);
      for (int j = 0; d->da && j < s->term_nattr[k]; j++) {
        const mbg__term_attr *a = &s->term_attr[s->term_attr0[k] + j];
        p += a->phi * d->da[a->attr];
        pd += a->phid * d->da[a->attr];
        pdd += a->phidd * d->da[a->attr];
        if (pair >= 0) {
          v6_axpy(s->p_f[pair], -s->lambda[i] * d->da[a->attr], a->b);
        }
      }
      if (pair >= 0 && d->dlambda) {
        v6_axpy(s->p_f[pair], -d->dlambda[i], b);
      }
    }
    if (dphi) {
      dphi[i] = p;
    }
    if (dphid) {
      dphid[i] = pd;
    }
    if (dphidd) {
      dphidd[i] = pdd;
    }
  }
}

/* r -= d(J^T f) at one marker: J^T (df_m - ad(omega da)^T f_m) */
static void marker_wrench_push(const mbg__system *s, int marker, const vec6 f, const vec6 df, real *dr) {
  const int body = marker_body(s, marker);
  real c[6], fb[6];
  if (s->end[marker]) {
    mbg__modal_end_wrench_push(s, marker, f, df, dr);
    return;
  }
  if (body < 0) {
    return;
  }
  adT_mul(c, s->m_geo[marker], f);
  v6_sub(c, df, c);
  AdInvT_mul(fb, &s->design->markers[marker].h, c);
  v6_axpy(dr + s->model->bodies[body].voff, -1, fb);
}

/* f_A = -A_i^T F,  df_A = A_i^T (ad(w_rel)^T F - dF) */
void mbg__pair_wrench_push(const mbg__system *s, int i, const vec6 w, const vec6 df, real *dr) {
  real c[6], fA[6], dfA[6];
  marker_wrench_push(s, s->model->pairs[i].B, s->F[i], df, dr);
  AdInvT_mul(fA, &s->G[i], s->F[i]);
  v6_scale(fA, -1, fA);
  adT_mul(c, w, s->F[i]);
  v6_axpy(c, -1, df);
  AdInvT_mul(dfA, &s->G[i], c);
  marker_wrench_push(s, s->model->pairs[i].A, fA, dfA, dr);
}

void mbg__system_push(mbg__system *s, const mbg__direction *d, real *dr, real *dphi, real *dphid, real *dphidd) {
  const mbg_model *m = s->model;
  mbg__kin_push(s, d);
  forces_push(s, d);
  if (!s->bare) {
    mbg__beams_push(s, d);
  }
  rows_push(s, d, dphi, dphid, dphidd);
  if (!dr) {
    return;
  }
  memset(dr, 0, (size_t)m->nw * sizeof(real));
  for (int i = 0; !s->bare && i < m->nbody; i++) {
    body_push(s, i, d, dr + m->bodies[i].voff);
  }
  if (!s->bare) {
    mbg__beams_inertia_push(s, d, dr);
    mbg__modals_inertia_push(s, d, dr);
  }
  for (int i = 0; i < m->npair; i++) {
    if (s->loud[i] || (d->dlambda && s->pair_on[i])) {
      mbg__pair_wrench_push(s, i, s->p_w[i], s->p_f[i], dr);
    }
  }
  clear_masked(s, dr);
}

/* ---------------------------------------------------------------------- transposes */

void mbg__system_want(mbg__system *s, bool all) {
  s->moved_only = !all;
  for (int i = 0; i < s->model->nmarker; i++) {
    const mbg__placed *h = &s->design->markers[i];
    s->marker_wanted[i] = all;
    for (int k = 0; !s->marker_wanted[i] && k < h->ndep; k++) {
      s->marker_wanted[i] = wanted(s, h->dep[k]);
    }
  }
}

static bool any_wanted(const mbg__system *s, int attr, int n) {
  for (int k = 0; k < n; k++) {
    if (wanted(s, attr + k)) {
      return true;
    }
  }
  return false;
}

/* z.r of a body is linear in its mass matrix: <M, W> with W = z (vd - R^T g)^T - (ad(v) z) v^T, r of the weight in the first three */
static void body_pull(const mbg__system *s, int i, const real *z, real *gw, real *gv, real *gvd, real *ga) {
  const mbg__body *b = &s->model->bodies[i];
  const real *M = s->design->M + 36 * i, *v = s->v + b->voff, *vd = s->vd + b->voff;
  const real *zb = z + b->voff;
  real a[6], c[6], Mz[6], adz[6];
  if (!has_inertia(s, i)) {
    return;
  }
  v6_zero(a);
  m3_mulv_T(a, s->H[i].R, gravity_of(s));
  ad_mul(adz, v, zb);
  m6_mulv_T(Mz, M, zb);
  if (gw) {
    /* d(R^T g) = (R^T g)~ W */
    v3_cross(c, a, Mz);
    v3_axpy(gw + b->voff + 3, 1, c);
  }
  if (gv) {
    real momentum[6];
    m6_mulv(momentum, M, v);
    adT_mul(c, zb, momentum);
    v6_axpy(gv + b->voff, 1, c);
    m6_mulv_T(c, M, adz);
    v6_axpy(gv + b->voff, -1, c);
  }
  if (gvd) {
    v6_axpy(gvd + b->voff, 1, Mz);
  }
  if (ga && any_wanted(s, b->attr, b->nattr)) {
    real W[36];
    v6_sub(a, vd, a);
    m6_zero(W);
    m6_outer_add(W, 1, zb, a);
    m6_outer_add(W, -1, adz, v);
    for (int k = 0; k < b->nattr; k++) {
      if (wanted(s, b->attr + k)) {
        ga[b->attr + k] += vn_dot(36, s->design->M_a[i] + 36 * k, W);
      }
    }
  }
  if (ga && s->model->gravity >= 0) {
    m3_mulv(c, s->H[i].R, Mz);
    v3_axpy(ga + s->model->gravity, -1, c);
  }
}

/* J z at a marker, 0 on the ground */
static void marker_test(const mbg__system *s, int marker, const real *z, vec6 out) {
  const int body = marker_body(s, marker);
  if (s->end[marker]) {
    mbg__modal_end_test(s, marker, z, out);
  } else if (body < 0) {
    v6_zero(out);
  } else {
    AdInv_mul(out, &s->design->markers[marker].h, z + s->model->bodies[body].voff);
  }
}

/* -z . d(J^T f) by the marker's own geometry (and the modes it moves with): + f . ad(omega da) z_m = -(ad(z_m)^T f) . omega da */
static void marker_geometry_pull(const mbg__system *s, int marker, const real *whole, const vec6 z, const vec6 f,
                                 real *gw, real *ga) {
  const mbg__placed *h = &s->design->markers[marker];
  real c[6];
  if (s->end[marker]) {
    mbg__modal_end_test_pull(s, marker, whole, f, -1, gw, ga);
    return;
  }
  if (!ga || !s->marker_wanted[marker] || h->ndep == 0) {
    return;
  }
  adT_mul(c, z, f);
  for (int k = 0; k < h->ndep; k++) {
    ga[h->dep[k]] -= wanted(s, h->dep[k]) ? v6_dot(h->omega[k], c) : 0;
  }
}

/* contribution of z . r at one pair: z_rel = z_B - A_i z_A is kept in p_f, cotangents in p_w, p_dv */
static void pair_test(mbg__system *s, int i, const real *z, real *gw, real *ga) {
  const int A = s->model->pairs[i].A, B = s->model->pairs[i].B;
  real zA[6], zB[6], x[6], fA[6], c[6];
  marker_test(s, A, z, zA);
  marker_test(s, B, z, zB);
  AdInv_mul(x, &s->G[i], zA);
  v6_sub(s->p_f[i], zB, x);
  m6_mulv_T(c, s->F_G[i], s->p_f[i]);
  v6_axpy(s->p_w[i], -1, c);
  if (!s->bare) {
    m6_mulv_T(c, s->F_v[i], s->p_f[i]);
    v6_axpy(s->p_dv[i], -1, c);
  }
  /* -(A_i z_A) . ad(w_rel)^T F = (ad(A_i z_A)^T F) . w_rel */
  adT_mul(c, x, s->F[i]);
  v6_axpy(s->p_w[i], 1, c);
  marker_geometry_pull(s, B, z, zB, s->F[i], gw, ga);
  AdInvT_mul(fA, &s->G[i], s->F[i]);
  v6_scale(fA, -1, fA);
  marker_geometry_pull(s, A, z, zA, fA, gw, ga);
}

static void rows_pull(mbg__system *s, const real *z, const real *mu, const real *nu, const real *kappa, real *glambda,
                      real *ga) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nrow; i++) {
    const real c0 = mu ? mu[i] : 0, c1 = nu ? nu[i] : 0, c2 = kappa ? kappa[i] : 0;
    if (c0 == 0 && c1 == 0 && c2 == 0 && s->lambda[i] == 0 && !glambda) {
      continue;
    }
    for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
      const int pair = m->terms[k].pair;
      const real *b = s->term[k].b;
      if (pair >= 0) {
        s->touched[pair] = true;
        v6_axpy(s->p_w[pair], c0, b);
        if (c1 != 0) {
          v6_axpy(s->p_w[pair], c1, s->row_g[k].phid_G);
          v6_axpy(s->p_dv[pair], c1, b);
        }
        if (c2 != 0) {
          v6_axpy(s->p_w[pair], c2, s->row_g[k].phidd_G);
          v6_axpy(s->p_dv[pair], c2, s->row_g[k].gamma_v);
          v6_axpy(s->p_dvd[pair], c2, b);
        }
        if (z && glambda) {
          glambda[i] += v6_dot(b, s->p_f[pair]);
        }
      }
      for (int j = 0; ga && j < s->term_nattr[k]; j++) {
        const mbg__term_attr *a = &s->term_attr[s->term_attr0[k] + j];
        /* what laws depend on may follow from other attributes */
        if (m->terms[k].law < 0 && !wanted(s, a->attr)) {
          continue;
        }
        ga[a->attr] += c0 * a->phi + c1 * a->phid + c2 * a->phidd;
        if (z && pair >= 0) {
          ga[a->attr] += s->lambda[i] * v6_dot(a->b, s->p_f[pair]);
        }
      }
    }
  }
}

static void forces_pull(mbg__system *s, real *gw, real *gv, real *gvd, real *ga) {
  const mbg_model *m = s->model;
  for (int i = 0; !s->bare && i < m->nforce; i++) {
    const int pair = m->forces[i].pair;
    for (int k = s->force_a0[i]; ga && k < s->force_a0[i] + s->force_na[i]; k++) {
      ga[s->f_aidx[k]] -= v6_dot(s->f_a[k], s->p_f[pair]);
    }
    if (s->cross_of[i] >= 0) {
      /* r contains +X^T b tau */
      mbg__law_signals_pull(s, i, v6_dot(s->coord[m->forces[i].coord].b, s->p_f[pair]), gw, gv, gvd, ga);
    }
  }
}

/* gw stays whole: frames may vary with parameters outside their motions */
static void clear_masked_rates(const mbg__system *s, real *gv, real *gvd) {
  real *all[2] = {gv, gvd};
  for (int k = 0; k < 2; k++) {
    if (all[k]) {
      clear_masked(s, all[k]);
    }
  }
}

void mbg__system_pull(mbg__system *s, const real *z, const real *mu, const real *nu, const real *kappa, real *gw,
                      real *gv, real *gvd, real *glambda, real *ga) {
  const mbg_model *m = s->model;
  const size_t bytes = (size_t)m->npair * sizeof(vec6);
  memset(s->p_w, 0, bytes);
  memset(s->p_dv, 0, bytes);
  memset(s->p_dvd, 0, bytes);
  for (int i = 0; i < m->npair; i++) {
    s->touched[i] = z && s->pair_on[i] && (s->loud[i] || glambda);
    if (s->touched[i]) {
      pair_test(s, i, z, gw, ga);
    }
  }
  rows_pull(s, z, mu, nu, kappa, glambda, ga);
  if (z) {
    forces_pull(s, gw, gv, gvd, ga);
  }
  for (int i = 0; i < m->npair; i++) {
    if (s->touched[i]) {
      mbg__kin_pair_pull(s, i, s->p_w[i], s->p_dv[i], kappa ? s->p_dvd[i] : NULL, gw, gv, gvd, ga);
    }
  }
  for (int i = 0; z && !s->bare && i < m->nbody; i++) {
    body_pull(s, i, z, gw, gv, gvd, ga);
  }
  if (z && !s->bare) {
    mbg__beams_pull(s, z, gw, gv, gvd, ga);
    mbg__modals_pull(s, z, gw, gv, gvd, ga);
  }
  clear_masked_rates(s, gv, gvd);
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
      const double q0 = re(s->coord[i].phi) - c->sign * 2 * M_PI * s->turns[c->turn];
      turns[c->turn] = (int)(c->sign * floor((re(previous[i]) - q0) / (2 * M_PI) + 0.5));
    }
  }
}
