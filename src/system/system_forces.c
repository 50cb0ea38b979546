/* Forces: values and derivatives on the relative motion of their pair.

   A law with tension tau(q, qd, t; attributes, functions, signals) on a coordinate with b = q_G gives the wrench
     f = -b^T tau       f_G w = -tau (b^T)_G w - b^T (tau_q b w + tau_qd qd_G w)       f_v = -tau_qd b^T b

   The force on one part of a tendon has the length and the rate of the whole tendon, sums of signals, in the place of q
   and qd: the last two of its functions. */
#include "system/system_internal.h"

void mbg__env(mbg__system *s, mbg_context *ctx, int fn, mbg__fn_env *env) {
  *env = (mbg__fn_env){
      .ctx = ctx, .model = s->model, .work = s->fn_work, .attr = s->design->attr, .signals = s->y, .t = s->t, .fn = fn};
}

/* "force 'tyre' at t = 0.1: ..." after a kernel that knows no names has failed */
static int kernel_failed(mbg_context *ctx, const mbg__system *s, const mbg__force *f, const char *why, int err) {
  if (mbg__error_count(ctx) > 0 || err == MBG_ERROR_MEMORY) {
    return err;
  }
  if (why) {
    return mbg__fail_at(ctx, err, &f->where, 0, "the force is not defined at t = %g: %s", mbg__time_shown(re(s->t)),
                        why);
  }
  return mbg__fail_at(ctx, err, &f->where, 0, "the force is not defined at t = %g: a singular position of '%s'",
                      mbg__time_shown(re(s->t)), f->type->key);
}

/* ---------------------------------------------------------------------- laws */

/* functions of a law at (x, v) = (q, qd) */
static int law_functions(mbg_context *ctx, mbg__system *s, const mbg__force *f, real fn[], mbg__fn_value value[]) {
  const real x[MBG__FN_ARGS] = {s->coord[f->coord].phi, s->coord[f->coord].phid, 0};
  mbg__fn_env env;
  mbg__env(s, ctx, f->fn, &env);
  for (int k = 0; k < f->nfn; k++) {
    const int err = value ? mbg__fn_at(&env, k, x, 1, &value[k]) : mbg__fn_only(&env, k, x, &fn[k]);
    if (err < 0) {
      return err;
    }
    if (value) {
      fn[k] = value[k].f;
    }
  }
  return MBG_OK;
}

/* derivatives by length and rate of a tendon belong to functions; its energy, to the first of its forces */
static void share_tendon(const mbg__force *f, mbg__law_out *out) {
  const int q = f->nfn - 2, qd = f->nfn - 1;
  out->tau_fn[q] = out->tau_q;
  out->tau_fn[qd] = out->tau_qd;
  out->energy_fn[q] = out->energy_q;
  out->tau_q = out->tau_qd = out->energy_q = 0;
  out->energy *= f->scale;
  for (int k = 0; k < MBG__LAW_ATTR; k++) {
    out->energy_a[k] *= f->scale;
  }
  for (int k = 0; k < MBG__LAW_FN; k++) {
    out->energy_fn[k] *= f->scale;
  }
}

static void law_eval(const mbg__system *s, const mbg__force *f, const real *fn, mbg__law_out *out) {
  const bool tendon = f->law->tendon;
  const mbg__law_in in = {.q = tendon ? fn[f->nfn - 2] : s->coord[f->coord].phi,
                          .qd = tendon ? fn[f->nfn - 1] : s->coord[f->coord].phid,
                          .attr = s->design->attr + f->attr,
                          .opt = f->opt,
                          .fn = fn,
                          .scale = f->scale};
  *out = (mbg__law_out){0};
  f->law->eval(&in, out);
  if (tendon) {
    share_tendon(f, out);
  }
}

int mbg__law_update(mbg_context *ctx, mbg__system *s, int i) {
  const mbg__force *f = &s->model->forces[i];
  real fn[MBG__LAW_FN];
  mbg__law_out out;
  const int err = law_functions(ctx, s, f, fn, NULL);
  if (err < 0) {
    return err;
  }
  law_eval(s, f, fn, &out);
  s->tau[i] = out.tau;
  s->energy[i] = out.energy;
  v6_scale(s->f[i], -out.tau, s->coord[f->coord].b);
  return MBG_OK;
}

/* columns of the attributes of the coordinate itself: radii of pulleys, ratios of tendons */
static int coord_columns(mbg__system *s, int i, const mbg__law_out *out, int c) {
  const mbg__force *f = &s->model->forces[i];
  const mbg__term *t = &s->coord_term[f->coord];
  mbg__term_attr a[3];
  mbg__term_in in;
  if (!s->model->coords[f->coord].term) {
    return c;
  }
  mbg__term_in_of(s, t, &in);
  const int n = mbg__term_attributes(t, &in, 0, NULL, NULL, a);
  for (int k = 0; k < n; k++, c++) {
    s->f_aidx[c] = a[k].attr;
    s->tau_a[c] = s->tau_d[i].q * a[k].phi + s->tau_d[i].qd * a[k].phid;
    s->energy_a[c] = out->energy_q * a[k].phi;
    v6_scale(s->f_a[c], -s->tau_a[c], s->coord[f->coord].b);
    v6_axpy(s->f_a[c], -out->tau, a[k].b);
  }
  return c;
}

/* columns of the law: its own attributes, then the attributes of its functions, then those of its coordinate */
static void law_columns(mbg__system *s, int i, const mbg__law_out *out, const mbg__fn_value value[]) {
  const mbg__force *f = &s->model->forces[i];
  int c = s->force_a0[i];
  for (int k = 0; k < f->nattr; k++, c++) {
    s->f_aidx[c] = f->attr + k;
    s->tau_a[c] = out->tau_a[k];
    s->energy_a[c] = out->energy_a[k];
  }
  for (int n = 0; n < f->nfn; n++) {
    for (int k = 0; k < value[n].nact; k++, c++) {
      s->f_aidx[c] = value[n].act[k];
      s->tau_a[c] = out->tau_fn[n] * value[n].f_act[k];
      s->energy_a[c] = out->energy_fn[n] * value[n].f_act[k];
    }
  }
  for (int k = s->force_a0[i]; k < c; k++) {
    v6_scale(s->f_a[k], -s->tau_a[k], s->coord[f->coord].b);
  }
  s->force_na[i] = coord_columns(s, i, out, c) - s->force_a0[i];
}

int mbg__law_linearize(mbg_context *ctx, mbg__system *s, int i) {
  const mbg__force *f = &s->model->forces[i];
  real fn[MBG__LAW_FN];
  mbg__fn_value value[MBG__LAW_FN];
  mbg__law_out out;
  const int err = law_functions(ctx, s, f, fn, value);
  if (err < 0) {
    return err;
  }
  law_eval(s, f, fn, &out);
  real tau_q = out.tau_q, tau_qd = out.tau_qd;
  for (int k = 0; k < f->nfn; k++) {
    tau_q += out.tau_fn[k] * value[k].f_x[0];
    tau_qd += out.tau_fn[k] * value[k].f_x[1];
    s->law_fn[i * MBG__LAW_FN + k] = out.tau_fn[k];
    s->energy_fn[i * MBG__LAW_FN + k] = out.energy_fn[k];
    v6_scale(s->f_fn[f->fn + k], -out.tau_fn[k], s->coord[f->coord].b);
  }
  s->tau_d[i].q = tau_q;
  s->tau_d[i].qd = tau_qd;
  law_columns(s, i, &out, value);

  mbg__term_in in;
  real b[6], qd_G[6], L[36], row[6];
  mbg__term_in_of(s, &s->coord_term[f->coord], &in);
  mbg__coord_slopes(&s->coord_term[f->coord], &in, b, qd_G, L);
  v6_scale(s->energy_G[i], out.energy_q, b);
  v6_scale(row, tau_q, b);
  v6_axpy(row, tau_qd, qd_G);
  m6_axpy(s->F_G[f->pair], -out.tau, L);
  m6_outer_add(s->F_G[f->pair], -1, b, row);
  m6_outer_add(s->F_v[f->pair], -tau_qd, b, b);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- wrenches */

static void wrench_in(mbg__system *s, const mbg__force *f, mbg__fn_env *env, bool derivatives, mbg__force_in *in) {
  *in = (mbg__force_in){.G = &s->G[f->pair],
                        .v = s->vrel[f->pair],
                        .t = s->t,
                        .attr = s->design->attr + f->attr,
                        .opt = f->opt,
                        .fn = env,
                        .derivatives = derivatives};
}

static int wrench_eval(mbg_context *ctx, mbg__system *s, int i, bool derivatives, mbg__force_out *out) {
  const mbg__force *f = &s->model->forces[i];
  const int a0 = s->force_a0[i];
  mbg__fn_env env;
  mbg__force_in in;
  mbg__env(s, ctx, f->fn, &env);
  wrench_in(s, f, &env, derivatives, &in);
  *out = (mbg__force_out){.na = f->nattr,
                          .f_a = s->f_a + a0,
                          .aidx = s->f_aidx + a0,
                          .f_fn = s->f_fn + f->fn,
                          .energy_a = s->energy_a + a0};
  for (int k = 0; derivatives && k < f->nattr; k++) {
    v6_zero(out->f_a[k]);
    out->aidx[k] = f->attr + k;
    out->energy_a[k] = 0;
  }
  const int err = f->type->eval(&in, out);
  return err < 0 ? kernel_failed(ctx, s, f, out->why, err) : err;
}

int mbg__force_measure(mbg_context *ctx, mbg__system *s, int i, bool derivatives, mbg__force_out *out) {
  const mbg__force *f = &s->model->forces[i];
  mbg__fn_env env;
  mbg__force_in in;
  mbg__env(s, ctx, f->fn, &env);
  wrench_in(s, f, &env, derivatives, &in);
  *out = (mbg__force_out){.na = f->nattr, .f_a = s->measure_a, .aidx = s->measure_aidx, .energy_a = s->measure_energy};
  for (int k = 0; derivatives && k < f->nattr; k++) {
    out->aidx[k] = f->attr + k;
  }
  const int err = f->type->measure(&in, out);
  return err < 0 ? kernel_failed(ctx, s, f, out->why, err) : err;
}

static int wrench_update(mbg_context *ctx, mbg__system *s, int i) {
  mbg__force_out out;
  const int err = wrench_eval(ctx, s, i, false, &out);
  v6_copy(s->f[i], out.f);
  s->energy[i] = out.energy;
  s->tau[i] = 0;
  return err;
}

static int wrench_linearize(mbg_context *ctx, mbg__system *s, int i) {
  const int pair = s->model->forces[i].pair;
  mbg__force_out out;
  const int err = wrench_eval(ctx, s, i, true, &out);
  if (err < 0) {
    return err;
  }
  s->force_na[i] = out.na;
  m6_copy(s->force_G[i], out.f_G);
  m6_copy(s->force_v[i], out.f_v);
  v6_copy(s->energy_G[i], out.energy_G);
  m6_axpy(s->F_G[pair], 1, out.f_G);
  m6_axpy(s->F_v[pair], 1, out.f_v);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- all */

int mbg__forces_update(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  int err = MBG_OK;
  for (int i = 0; i < m->nsignal; i++) {
    if (s->needed[i]) {
      MBG_TRY(mbg__signal_value(ctx, s, i));
    }
  }
  for (int i = 0; i < m->nforce; i++) {
    if (m->forces[i].late || force_apart(s, i)) {
      continue;
    }
    MBG_TRY(m->forces[i].law ? mbg__law_update(ctx, s, i) : wrench_update(ctx, s, i));
    v6_axpy(s->F[m->forces[i].pair], 1, s->f[i]);
  }
done:
  return err;
}

int mbg__forces_linearize(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  int err = MBG_OK;
  for (int i = 0; i < m->nsignal; i++) {
    if (s->needed[i]) {
      MBG_TRY(mbg__signal_linearize(ctx, s, i));
    }
  }
  for (int i = 0; i < m->nforce; i++) {
    if (m->forces[i].late || force_apart(s, i)) {
      continue;
    }
    MBG_TRY(m->forces[i].law ? mbg__law_linearize(ctx, s, i) : wrench_linearize(ctx, s, i));
  }
done:
  return err;
}
