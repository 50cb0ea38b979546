/* Signals: values, directional derivatives and gradients, of every kind of the catalogue. Their kernels are elements
   (elements/signal_NAME.c), energies are in system_energies.c; criteria/ reduces the values at nodes to numbers. */
#include "system/system_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- wrenches as signals */

/* y = q . f with f the force (or moment) part of a wrench in B's axes and q a row of the axes asked for */
enum { IN_B, IN_A, IN_WORLD };

static void wrench_row(const mbg__system *s, int pair, const int *opt, real q[3]) {
  const int k = opt[0] % 3;
  const real *R = opt[1] == IN_A ? s->G[pair].R : s->Hm[s->model->pairs[pair].B].R;
  for (int j = 0; j < 3; j++) {
    q[j] = opt[1] == IN_B ? (real)(j == k) : R[3 * k + j];
  }
}

/* row of a wrench: y = e . f with e six numbers */
static void wrench_selector(const mbg__system *s, int pair, const int *opt, real e[6]) {
  v6_zero(e);
  wrench_row(s, pair, opt, e + (opt[0] < 3 ? 0 : 3));
}

/* the pair of its first row; a joint between planar bodies may have none, and no reaction */
int mbg__reaction_pair(const mbg_model *m, const mbg__signal *sig) {
  return sig->nrows > 0 ? m->terms[m->rows[sig->rows[0]].term].pair : sig->pair;
}

/* f = -b^T lambda of the rows of a reaction on their pair */
static void reaction_wrench(const mbg__system *s, const mbg__signal *sig, real f[6]) {
  const mbg_model *m = s->model;
  const int pair = mbg__reaction_pair(m, sig);
  v6_zero(f);
  for (int i = 0; i < sig->nrows; i++) {
    const mbg__row *row = &m->rows[sig->rows[i]];
    for (int k = row->term; k < row->term + row->nterm; k++) {
      if (m->terms[k].pair == pair) {
        v6_axpy(f, -s->lambda[sig->rows[i]], s->term[k].b);
      }
    }
  }
}

real mbg__wrench_component(const mbg__system *s, int pair, const int *opt, const real f[6]) {
  real q[3];
  wrench_row(s, pair, opt, q);
  return v3_dot(q, f + (opt[0] < 3 ? 0 : 3));
}

/* ---------------------------------------------------------------------- values */

enum { SIGNAL_ATTR = 8 };

static void pair_signal(const mbg__system *s, const mbg__signal *sig, mbg__signal_out *out) {
  real attr[SIGNAL_ATTR] = {0};
  for (int k = 0; k < sig->nattr; k++) {
    attr[k] = s->design->attr[sig->attr + k];
  }
  for (int k = 0; sig->type->gravity && s->model->gravity >= 0 && k < 3; k++) {
    attr[sig->nattr + k] = s->design->attr[s->model->gravity + k];
  }
  const mbg__signal_in in = {
      .G = &s->G[sig->pair], .v = s->vrel[sig->pair], .vd = s->vdrel[sig->pair], .opt = sig->opt, .attr = attr};
  *out = (mbg__signal_out){0};
  sig->type->eval(&in, out);
}

static real control_value(const mbg__system *s, const mbg__signal *sig) {
  const mbg__control *c = &s->model->controls[sig->control];
  const real *u = s->design->attr + c->attr, *m = u + c->spline->n;
  mbg__spline_weights w;
  (void)mbg__spline_weights_at(c->spline, s->t, &w);
  real y = w.w[0][0] * u[w.i] + w.w[0][1] * u[w.i + 1];
  if (c->spline->interpolation == MBG__CUBIC) {
    y += w.w[0][2] * m[w.i] + w.w[0][3] * m[w.i + 1];
  }
  return y;
}

static real force_value(const mbg__system *s, const mbg__signal *sig) {
  const mbg__force *f = &s->model->forces[sig->force];
  return f->law ? s->tau[sig->force] : mbg__wrench_component(s, f->pair, sig->opt, s->f[sig->force]);
}

/* the measures of a contact at the current state */
static int contact_value(mbg_context *ctx, mbg__system *s, int i) {
  const mbg__signal *sig = &s->model->signals[i];
  mbg__force_out out;
  const int err = mbg__force_measure(ctx, s, sig->force, false, &out);
  s->y[i] = err < 0 ? 0 : out.f[sig->opt[0]];
  return err;
}

int mbg__signal_value(mbg_context *ctx, mbg__system *s, int i) {
  const mbg__signal *sig = &s->model->signals[i];
  mbg__signal_out out;
  mbg__fn_env env;
  real f[6];
  switch (sig->type->role) {
  case MBG__ROLE_COORD_VALUE:
    s->y[i] = s->coord[sig->coord].phi;
    return MBG_OK;
  case MBG__ROLE_COORD_RATE:
    s->y[i] = s->coord[sig->coord].phid;
    return MBG_OK;
  case MBG__ROLE_COORD_ACCELERATION:
    s->y[i] = s->coord[sig->coord].gamma + v6_dot(s->coord[sig->coord].b, s->vdrel[s->model->coords[sig->coord].pair]);
    return MBG_OK;
  case MBG__ROLE_REACTION:
    reaction_wrench(s, sig, f);
    s->y[i] = mbg__wrench_component(s, mbg__reaction_pair(s->model, sig), sig->opt, f);
    return MBG_OK;
  case MBG__ROLE_AXIAL:
    s->y[i] = sig->nrows > 0 ? s->lambda[sig->rows[0]] : 0;
    return MBG_OK;
  case MBG__ROLE_FORCE:
    s->y[i] = force_value(s, sig);
    return MBG_OK;
  case MBG__ROLE_CONTACT:
    return contact_value(ctx, s, i);
  case MBG__ROLE_CURVE:
    return mbg__curve_signal(ctx, s, sig, &s->y[i]);
  case MBG__ROLE_KINETIC:
    s->y[i] = mbg__energy_kinetic(s, sig->body);
    return MBG_OK;
  case MBG__ROLE_POTENTIAL:
    s->y[i] = mbg__energy_potential(s);
    return MBG_OK;
  case MBG__ROLE_ENERGY:
    s->y[i] = mbg__energy_kinetic(s, -1) + mbg__energy_potential(s);
    return MBG_OK;
  case MBG__ROLE_CONTROL:
    s->y[i] = control_value(s, sig);
    return MBG_OK;
  case MBG__ROLE_VALUE:
    mbg__env(s, ctx, sig->fn, &env);
    return mbg__fn_only(&env, 0, NULL, &s->y[i]);
  case MBG__ROLE_STRAIN:
  case MBG__ROLE_SECTION_FORCE:
  case MBG__ROLE_STRESS:
    s->y[i] = mbg__beam_signal(s, sig);
    return MBG_OK;
  case MBG__ROLE_STRAIN_ENERGY:
    s->y[i] = mbg__energy_strain(s, sig);
    return MBG_OK;
  default:
    pair_signal(s, sig, &out);
    s->y[i] = out.y;
    return MBG_OK;
  }
}

int mbg__system_signals(mbg_context *ctx, mbg__system *s, const real **y) {
  int err = MBG_OK;
  MBG_TRY(mbg__tendons_at_node(ctx, s));
  mbg__validity_at_node(s);
  mbg__watch_at_node(s);
  MBG_TRY(mbg__system_signal_values(ctx, s, y));
done:
  return err;
}

int mbg__system_signal_values(mbg_context *ctx, mbg__system *s, const real **y) {
  int err = MBG_OK;
  for (int i = 0; i < s->model->nsignal; i++) {
    const bool known = s->aside[i] || s->sampled[i] == s->place;
    MBG_TRY(known ? MBG_OK : mbg__signal_value(ctx, s, i));
    MBG_TRY(known ? MBG_OK : mbg__signal_finite(ctx, s, i));
  }
  *y = s->y;
done:
  return err;
}

void mbg__system_pose(const mbg__system *s, int npose, real *pose) {
  if (npose > 0) {
    const size_t n = 12 * (size_t)s->model->nbody;
    memcpy(pose, s->H, n * sizeof(real));
    memcpy(pose + n, s->v, (size_t)s->model->nw * sizeof(real));
  }
}

int mbg__system_record(mbg_context *ctx, mbg__system *s, int nused, const int *used, int npose, real *y) {
  const real *all;
  const int err = mbg__system_signals(ctx, s, &all);
  for (int k = 0; err == MBG_OK && k < nused; k++) {
    y[k] = all[used[k]];
  }
  mbg__system_pose(s, npose, y + nused);
  return err;
}

/* ---------------------------------------------------------------------- linearization */

/* attributes of the coordinate itself: radii of pulleys, ratios of tendons */
enum { COORD_ATTR = 3 };
static void coord_attributes(const mbg__system *s, const mbg__signal *sig, const mbg__term *t, const mbg__term_in *in,
                             mbg__signal_out *out) {
  mbg__term_attr a[COORD_ATTR];
  if (!s->model->coords[sig->coord].term) {
    return;
  }
  const int n = mbg__term_attributes(t, in, 0, NULL, NULL, a);
  for (int k = 0; k < n; k++) {
    out->y_a[k] = sig->type->role == MBG__ROLE_COORD_VALUE  ? a[k].phi
                  : sig->type->role == MBG__ROLE_COORD_RATE ? a[k].phid
                                                            : a[k].phidd;
  }
}

/* ... in the order of mbg__term_attributes */
static void coord_attributes_pull(const mbg__system *s, const mbg__signal *sig, const real *y_a, real c, real *ga) {
  const mbg__term *t = s->model->coords[sig->coord].term;
  for (int k = 0; t && k < t->nattr; k++) {
    ga[t->attr[k]] += c * y_a[k];
  }
  if (t && t->factor >= 0) {
    ga[t->factor] += c * y_a[t->nattr];
  }
}

/* gradient of a signal of a pair or coordinate on the relative motion; other kinds have none */
static void relative_gradient(mbg__system *s, const mbg__signal *sig, mbg__signal_out *out) {
  mbg__term_in in;
  mbg__term_value value;
  mbg__term_gradient g;
  if (sig->type->of == MBG__OF_PAIR) {
    pair_signal(s, sig, out);
  }
  if (sig->type->of != MBG__OF_COORD) {
    return;
  }
  const mbg__term *t = &s->coord_term[sig->coord];
  mbg__term_in_of(s, t, &in);
  mbg__term_eval(t, &in, &value, &g);
  *out = (mbg__signal_out){0};
  if (sig->type->role == MBG__ROLE_COORD_VALUE) {
    v6_copy(out->y_w, value.b);
  } else if (sig->type->role == MBG__ROLE_COORD_RATE) {
    v6_copy(out->y_w, g.phid_G);
    v6_copy(out->y_v, value.b);
  } else {
    v6_add(out->y_w, g.bvd_G, g.gamma_G);
    v6_copy(out->y_v, g.gamma_v);
    v6_copy(out->y_vd, value.b);
  }
  coord_attributes(s, sig, t, &in, out);
}

int mbg__signal_linearize(mbg_context *ctx, mbg__system *s, int i) {
  const mbg__signal *sig = &s->model->signals[i];
  if (sig->type->role == MBG__ROLE_VALUE) {
    mbg__fn_env env;
    mbg__fn_value value;
    mbg__env(s, ctx, sig->fn, &env);
    return mbg__fn_at(&env, 0, NULL, 1, &value);
  }
  relative_gradient(s, sig, &s->sig[i]);
  return MBG_OK;
}

int mbg__system_linearize_signals(mbg_context *ctx, mbg__system *s) {
  const real *y;
  int err = mbg__system_signals(ctx, s, &y);
  for (int i = 0; err == MBG_OK && i < s->model->nsignal; i++) {
    err = s->aside[i] ? MBG_OK : mbg__signal_linearize(ctx, s, i);
  }
  return err;
}

void mbg__fn_weights(mbg__system *s, int fn, real c) {
  mbg__fn_env env;
  const int *input;
  const real *f_signal;
  mbg__env(s, NULL, fn, &env);
  const int n = mbg__fn_signals(&env, 0, &input, &f_signal);
  for (int j = 0; j < n; j++) {
    s->weight[input[j]] += c * f_signal[j];
  }
}

/* a signal of a force passes its weight c on to the signals in the functions of the force */
static void force_weights(mbg__system *s, const mbg__signal *sig, real c) {
  const mbg__force *f = &s->model->forces[sig->force];
  real e[6];
  if (!f->law) {
    wrench_selector(s, f->pair, sig->opt, e);
  }
  for (int k = s->cross_of[sig->force]; cross_goes_on(s, k, sig->force); k++) {
    const int fn = s->cross[k].fn;
    mbg__fn_weights(s, fn, c * (f->law ? s->law_fn[sig->force * MBG__LAW_FN + fn - f->fn] : v6_dot(e, s->f_fn[fn])));
  }
}

void mbg__signal_spread(mbg__system *s, int last) {
  for (int i = last; i >= 0; i--) {
    const mbg__signal *sig = &s->model->signals[i];
    if (sig->type->role != MBG__ROLE_VALUE || !r_some(s->weight[i] != 0)) {
      continue;
    }
    mbg__fn_env env;
    const int *input;
    const real *f_signal;
    mbg__env(s, NULL, sig->fn, &env);
    const int n = mbg__fn_signals(&env, 0, &input, &f_signal);
    for (int k = 0; k < n; k++) {
      s->weight[input[k]] += s->weight[i] * f_signal[k];
    }
  }
}

/* ---------------------------------------------------------------------- gradients */

static void relative_pull(mbg__system *s, int i, real c, const mbg__cotangent *g) {
  const mbg__signal *sig = &s->model->signals[i];
  const mbg__signal_out *d = &s->sig[i];
  vec6 w, v, vd;
  v6_scale(w, c, d->y_w);
  v6_scale(v, c, d->y_v);
  v6_scale(vd, c, d->y_vd);
  mbg__kin_signal_pull(s, signal_pair(s->model, sig), sig->level, w, v, vd, g);
  for (int k = 0; g->a && k < sig->nattr; k++) {
    g->a[sig->attr + k] += c * d->y_a[k];
  }
  if (g->a && sig->type->of == MBG__OF_COORD) {
    coord_attributes_pull(s, sig, d->y_a, c, g->a);
  }
  for (int k = 0; g->a && sig->type->gravity && s->model->gravity >= 0 && k < 3; k++) {
    g->a[s->model->gravity + k] += c * d->y_a[sig->nattr + k];
  }
}

/* axes of a wrench that turn: y = q . f, dy = W . (f x q) with W of G or of marker B */
static void axes_pull(mbg__system *s, int pair, const int *opt, const real f[6], real c, const mbg__cotangent *g) {
  vec6 gw = {0}, zero = {0};
  real q[3];
  if (opt[1] == IN_B) {
    return;
  }
  wrench_row(s, pair, opt, q);
  v3_cross_add(gw + 3, c, f + (opt[0] < 3 ? 0 : 3), q);
  if (opt[1] == IN_A) {
    mbg__kin_pair_pull(s, pair, gw, zero, NULL, g);
  } else {
    mbg__kin_marker_pull(s, s->model->pairs[pair].B, gw, NULL, NULL, g);
  }
}

static void reaction_pull(mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g) {
  const mbg_model *m = s->model;
  const int pair = mbg__reaction_pair(m, sig);
  vec6 gw = {0}, zero = {0}, f, e;
  reaction_wrench(s, sig, f);
  axes_pull(s, pair, sig->opt, f, c, g);
  wrench_selector(s, pair, sig->opt, e);
  for (int i = 0; i < sig->nrows; i++) {
    const int r = sig->rows[i];
    for (int k = m->rows[r].term; k < m->rows[r].term + m->rows[r].nterm; k++) {
      mbg__term_in in;
      mbg__term_value value;
      mbg__term_gradient d;
      if (m->terms[k].pair != pair) {
        continue;
      }
      mbg__term_in_of(s, &m->terms[k], &in);
      mbg__term_eval(&m->terms[k], &in, &value, &d);
      real row[6];
      m6_mulv_T(row, d.L, e);
      v6_axpy(gw, -c * s->lambda[r], row);
      if (g->lambda) {
        g->lambda[r] -= c * v6_dot(e, value.b);
      }
      for (int a = 0; g->a && a < s->term_nattr[k]; a++) {
        const mbg__term_attr *ta = &s->term_attr[s->term_attr0[k] + a];
        g->a[ta->attr] -= c * s->lambda[r] * v6_dot(e, ta->b);
      }
    }
  }
  mbg__kin_pair_pull(s, pair, gw, zero, NULL, g);
}

/* tension of a law, without the signals in it (they are spread by the caller) */
static void law_pull(mbg__system *s, int i, real c, const mbg__cotangent *g) {
  const mbg__force *f = &s->model->forces[i];
  mbg__term_in in;
  mbg__term_value q;
  mbg__term_gradient d;
  vec6 gw, gv;
  mbg__term_in_of(s, &s->coord_term[f->coord], &in);
  mbg__term_eval(&s->coord_term[f->coord], &in, &q, &d);
  v6_scale(gw, c * s->tau_d[i].q, q.b);
  v6_axpy(gw, c * s->tau_d[i].qd, d.phid_G);
  v6_scale(gv, c * s->tau_d[i].qd, q.b);
  mbg__kin_pair_pull(s, f->pair, gw, gv, NULL, g);
  for (int k = s->force_a0[i]; g->a && k < s->force_a0[i] + s->force_na[i]; k++) {
    g->a[s->f_aidx[k]] += c * s->tau_a[k];
  }
}

static void wrench_pull(mbg__system *s, int i, const int *opt, real c, const mbg__cotangent *g) {
  const int pair = s->model->forces[i].pair;
  vec6 e, gw, gv;
  axes_pull(s, pair, opt, s->f[i], c, g);
  wrench_selector(s, pair, opt, e);
  m6_mulv_T(gw, s->force_G[i], e);
  m6_mulv_T(gv, s->force_v[i], e);
  v6_scale(gw, c, gw);
  v6_scale(gv, c, gv);
  mbg__kin_pair_pull(s, pair, gw, gv, NULL, g);
  for (int k = s->force_a0[i]; g->a && k < s->force_a0[i] + s->force_na[i]; k++) {
    g->a[s->f_aidx[k]] += c * v6_dot(e, s->f_a[k]);
  }
}

/* the state is that of contact_value, which has succeeded */
static void contact_pull(mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g) {
  mbg__force_out out;
  vec6 gw, gv;
  if (mbg__force_measure(NULL, s, sig->force, true, &out) < 0) {
    return;
  }
  v6_scale(gw, c, out.f_G + 6 * sig->opt[0]);
  v6_scale(gv, c, out.f_v + 6 * sig->opt[0]);
  mbg__kin_pair_pull(s, s->model->forces[sig->force].pair, gw, gv, NULL, g);
  for (int k = 0; g->a && k < out.na; k++) {
    g->a[out.aidx[k]] += c * out.f_a[k][sig->opt[0]];
  }
}

static void control_pull(mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g) {
  const mbg__control *u = &s->model->controls[sig->control];
  mbg__spline_weights w;
  if (!g->a) {
    return;
  }
  (void)mbg__spline_weights_at(u->spline, s->t, &w);
  for (int k = 0; k < (u->spline->interpolation == MBG__CUBIC ? 4 : 2); k++) {
    const int sample = u->attr + w.i + k % 2 + (k < 2 ? 0 : u->spline->n);
    g->a[sample] += c * w.w[0][k];
    if (s->model->nevent > 0) {
      g->a[s->model->clock] += c * w.w[1][k] * s->design->attr[sample];
    }
  }
}

static void value_pull(mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g) {
  mbg__fn_env env;
  const int *act;
  const real *f_act;
  mbg__env(s, NULL, sig->fn, &env);
  const int n = mbg__fn_active(&env, 0, &act, &f_act);
  for (int k = 0; g->a && k < n; k++) {
    g->a[act[k]] += c * f_act[k];
  }
}

static void own_pull(mbg__system *s, int i, real c, const mbg__cotangent *g) {
  const mbg__signal *sig = &s->model->signals[i];
  switch (sig->type->role) {
  case MBG__ROLE_REACTION:
    reaction_pull(s, sig, c, g);
    return;
  case MBG__ROLE_AXIAL:
    if (g->lambda && sig->nrows > 0) {
      g->lambda[sig->rows[0]] += c;
    }
    return;
  case MBG__ROLE_FORCE:
    if (s->model->forces[sig->force].law) {
      law_pull(s, sig->force, c, g);
    } else {
      wrench_pull(s, sig->force, sig->opt, c, g);
    }
    return;
  case MBG__ROLE_CONTACT:
    contact_pull(s, sig, c, g);
    return;
  case MBG__ROLE_CURVE:
    mbg__curve_signal_pull(s, sig, c, g);
    return;
  case MBG__ROLE_ENERGY:
    mbg__energy_potential_pull(s, c, g);
    mbg__energy_kinetic_pull(s, -1, c, g);
    return;
  case MBG__ROLE_KINETIC:
    mbg__energy_kinetic_pull(s, sig->body, c, g);
    return;
  case MBG__ROLE_POTENTIAL:
    mbg__energy_potential_pull(s, c, g);
    return;
  case MBG__ROLE_CONTROL:
    control_pull(s, sig, c, g);
    return;
  case MBG__ROLE_VALUE:
    value_pull(s, sig, c, g);
    return;
  case MBG__ROLE_STRAIN:
  case MBG__ROLE_SECTION_FORCE:
  case MBG__ROLE_STRESS:
    mbg__beam_signal_pull(s, sig, c, g);
    return;
  case MBG__ROLE_STRAIN_ENERGY:
    mbg__energy_strain_pull(s, sig, c, g);
    return;
  default:
    relative_pull(s, i, c, g);
    return;
  }
}

static void pull_all(mbg__system *s, int last, const mbg__cotangent *g) {
  for (int i = 0; i <= last; i++) {
    if (r_some(s->weight[i] != 0)) {
      own_pull(s, i, s->weight[i], g);
    }
  }
}

static bool is_force_of_signals(const mbg__system *s, int i) {
  const mbg__signal *sig = &s->model->signals[i];
  return (sig->type->role == MBG__ROLE_FORCE && s->cross_of[sig->force] >= 0) ||
         (is_energy(sig) && s->model->ntendon > 0);
}

/* Signals of forces that use signals, and energies of tendons, pass on what they got. These signals may stand anywhere
   in the list and may have got weights of their own before, so that they are a second round, with no third one. */
static bool next_round(mbg__system *s) {
  bool any = false;
  for (int i = 0; i < s->model->nsignal; i++) {
    any = any || (r_some(s->weight[i] != 0) && is_force_of_signals(s, i));
    s->weight[i] = is_force_of_signals(s, i) ? s->weight[i] : 0;
  }
  for (int i = 0; any && i < s->model->nsignal; i++) {
    if (is_force_of_signals(s, i)) {
      const real c = s->weight[i];
      s->weight[i] = 0;
      if (is_energy(&s->model->signals[i])) {
        mbg__tendons_energy_pull(s, c);
      } else {
        force_weights(s, &s->model->signals[i], c);
      }
    }
  }
  return any;
}

/* Pulls all weighted signals back. `last`: the last one that has a weight. */
static void pull_weights(mbg__system *s, int last, const mbg__cotangent *g) {
  mbg__signal_spread(s, last);
  pull_all(s, last, g);
  if (next_round(s)) {
    mbg__signal_spread(s, s->model->nsignal - 1);
    pull_all(s, s->model->nsignal - 1, g);
  }
}

void mbg__system_signal_pull(mbg__system *s, int signal, real weight, real *gw, real *gv, real *gvd, real *glambda,
                             real *ga) {
  const mbg__cotangent g = {gw, gv, gvd, glambda, ga};
  clear_weights(s);
  s->weight[signal] = weight;
  pull_weights(s, signal, &g);
}

void mbg__fn_signals_pull(mbg__system *s, int fn, real c, const mbg__cotangent *g) {
  clear_weights(s);
  mbg__fn_weights(s, fn, c);
  pull_weights(s, s->model->nsignal - 1, g);
}

/* one value: its directional derivative is its gradient times the direction */
static real push_weights(mbg__system *s, int last, const mbg__direction *d) {
  const mbg_model *m = s->model;
  const size_t nw = (size_t)m->nw, nr = (size_t)m->nrow, na = (size_t)m->na;
  real *g = s->gradient, y = 0;
  const mbg__cotangent out = {d->w ? g : NULL, d->dv ? g + nw : NULL, d->dvd ? g + 2 * nw : NULL,
                              d->dlambda ? g + 3 * nw : NULL, d->da ? g + 3 * nw + nr : NULL};
  memset(g, 0, (3 * nw + nr + na) * sizeof(real));
  pull_weights(s, last, &out);
  y += d->w ? vn_dot(m->nw, g, d->w) : 0;
  y += d->dv ? vn_dot(m->nw, g + nw, d->dv) : 0;
  y += d->dvd ? vn_dot(m->nw, g + 2 * nw, d->dvd) : 0;
  y += d->dlambda ? vn_dot(m->nrow, g + 3 * nw, d->dlambda) : 0;
  y += d->da ? vn_dot(m->na, g + 3 * nw + nr, d->da) : 0;
  return y;
}

real mbg__system_signal_push(mbg__system *s, int signal, const mbg__direction *d) {
  clear_weights(s);
  s->weight[signal] = 1;
  return push_weights(s, signal, d);
}

real mbg__fn_signals_push(mbg__system *s, int fn, const mbg__direction *d) {
  clear_weights(s);
  mbg__fn_weights(s, fn, 1);
  return push_weights(s, s->model->nsignal - 1, d);
}
