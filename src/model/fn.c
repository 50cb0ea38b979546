/* Functions of the file at a time. With controls u_c(t) = sum_s N_s(t) u_s inside F(x, t, a, u(t)):
     total derivative by t:   F_t + sum_c F_u u'          by a sample:  F_u N_s(t)
   and the second ones by the product rule; as jets in time df/du_s = g0 N, df'/du_s = g1 N + g0 N',
   df''/du_s = g2 N + 2 g1 N' + g0 N'' with (g0, g1, g2) the jet of F_u. */
#include "model/fn.h"

#include <string.h>

enum { T = MBG__FN_ARGS };

/* results of one function, kept until its next evaluation */
typedef struct {
  int *act;
  real *f_act;
  real *f_xact; /* nact x (MBG__FN_ARGS + 1) */
  real (*f_jact)[3];
  int nact; /* in use */
  int *signal;
  real *f_signal;
} slot;

struct mbg__fn_work {
  slot *slots;               /* one per function */
  real *x, *g, *h, *xj, *gj; /* inputs, gradient, Hessian, jets: for the largest function */
  real *scratch;
  mbg__spline_weights *weights; /* of each control input */
};

static int take_slots(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, mbg__fn_work *w) {
  for (int i = 0; i < m->nfn; i++) {
    const mbg__fn *fn = &m->fns[i];
    slot *s = &w->slots[i];
    s->act = MBG_TAKE(arena, int, fn->nact);
    s->f_act = MBG_TAKE(arena, real, fn->nact);
    s->f_xact = MBG_TAKE(arena, real, fn->nact * (MBG__FN_ARGS + 1));
    s->f_jact = mbg__arena_take(arena, (size_t)fn->nact, sizeof(*s->f_jact));
    s->signal = MBG_TAKE(arena, int, fn->nsignal);
    s->f_signal = MBG_TAKE(arena, real, fn->nsignal);
    if (mbg__arena_check(ctx, arena) < 0) {
      return MBG_ERROR_MEMORY;
    }
  }
  return MBG_OK;
}

int mbg__fn_work_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, mbg__fn_work **out) {
  size_t scratch = 1;
  int n = 1;
  for (int i = 0; i < m->nfn; i++) {
    const size_t s = mbg__expr_scratch(m->fns[i].expr);
    scratch = s > scratch ? s : scratch;
    n = m->fns[i].ninput > n ? m->fns[i].ninput : n;
  }
  mbg__fn_work *w = MBG_TAKE(arena, mbg__fn_work, 1);
  *out = w;
  if (!w) {
    return mbg__fail_memory(ctx);
  }
  w->slots = MBG_TAKE(arena, slot, m->nfn);
  w->x = MBG_TAKE(arena, real, n);
  w->g = MBG_TAKE(arena, real, n);
  w->h = MBG_TAKE(arena, real, (size_t)n * (size_t)n);
  w->xj = MBG_TAKE(arena, real, 3 * n);
  w->gj = MBG_TAKE(arena, real, 3 * n);
  w->scratch = MBG_TAKE(arena, real, scratch);
  w->weights = MBG_TAKE(arena, mbg__spline_weights, n);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  return take_slots(ctx, arena, m, w);
}

/* ---------------------------------------------------------------------- inputs */

/* k-th time derivative of a control from its weights */
static real control_value(const mbg__fn_env *env, const mbg__control *c, const mbg__spline_weights *w, int k) {
  const real *y = env->attr + c->attr, *m = y + c->spline->n;
  real u = w->w[k][0] * y[w->i] + w->w[k][1] * y[w->i + 1];
  if (c->spline->interpolation == MBG__CUBIC) {
    u += w->w[k][2] * m[w->i] + w->w[k][3] * m[w->i + 1];
  }
  return u;
}

/* fills the inputs; the weights of control inputs are kept for the derivatives */
static void gather(mbg__fn_env *env, const mbg__fn *fn, const real *x) {
  mbg__fn_work *w = env->work;
  for (int k = 0; k < fn->ninput; k++) {
    const int i = fn->input[k].index;
    switch (fn->input[k].role) {
    case MBG__ROLE_T:
      w->x[k] = env->t;
      break;
    case MBG__ROLE_ARG:
      w->x[k] = x[i];
      break;
    case MBG__ROLE_ATTR:
      w->x[k] = env->attr[i];
      break;
    case MBG__ROLE_SIGNAL:
      w->x[k] = env->signals[i];
      break;
    case MBG__ROLE_CTRL:
      /* controls hold their end values, so there are always weights */
      (void)mbg__spline_weights_at(env->model->controls[i].spline, env->t, &w->weights[k]);
      w->x[k] = control_value(env, &env->model->controls[i], &w->weights[k], 0);
      break;
    }
  }
}

int mbg__fn_only(mbg__fn_env *env, int k, const real *x, real *f) {
  const mbg__fn *fn = &env->model->fns[env->fn + k];
  gather(env, fn, x);
  return mbg__expr_value(env->ctx, fn->expr, env->work->x, env->work->scratch, f);
}

/* ---------------------------------------------------------------------- derivatives */

/* attributes of the samples that matter: y_i, y_i+1 and, for cubic controls, the two curvatures */
static int control_samples(const mbg__control *c, const mbg__spline_weights *w, int attr[4]) {
  attr[0] = c->attr + w->i;
  attr[1] = attr[0] + 1;
  attr[2] = attr[0] + c->spline->n;
  attr[3] = attr[2] + 1;
  return c->spline->interpolation == MBG__CUBIC ? 4 : 2;
}

/* F differentiated by input k and then by argument or time column c: from the Hessian, with u' for controls */
static real mixed(const mbg__fn_env *env, const mbg__fn *fn, int k, int c) {
  const mbg__fn_work *w = env->work;
  const int n = mbg__expr_ninputs(fn->expr);
  real s = 0;
  for (int j = 0; j < n; j++) {
    const mbg__input *in = &fn->input[j];
    const real h = w->h[k * n + j];
    if (c == T && in->role == MBG__ROLE_T) {
      s += h;
    } else if (c == T && in->role == MBG__ROLE_CTRL) {
      s += h * control_value(env, &env->model->controls[in->index], &w->weights[j], 1);
    } else if (c != T && in->role == MBG__ROLE_ARG && in->index == c) {
      s += h;
    }
  }
  return s;
}

/* derivatives by arguments and time, first order */
static void first_order(const mbg__fn_env *env, const mbg__fn *fn, int n, mbg__fn_value *out) {
  const mbg__fn_work *w = env->work;
  for (int k = 0; k < n; k++) {
    const mbg__input *in = &fn->input[k];
    if (in->role == MBG__ROLE_T) {
      out->f_x[T] += w->g[k];
    } else if (in->role == MBG__ROLE_ARG) {
      out->f_x[in->index] += w->g[k];
    } else if (in->role == MBG__ROLE_CTRL) {
      out->f_x[T] += w->g[k] * control_value(env, &env->model->controls[in->index], &w->weights[k], 1);
    }
  }
}

static void second_order(const mbg__fn_env *env, const mbg__fn *fn, int n, mbg__fn_value *out) {
  const mbg__fn_work *w = env->work;
  for (int k = 0; k < n; k++) {
    const mbg__input *in = &fn->input[k];
    real first = 1;
    int row = T;
    if (in->role == MBG__ROLE_ARG) {
      row = in->index;
    } else if (in->role == MBG__ROLE_CTRL) {
      const mbg__control *c = &env->model->controls[in->index];
      first = control_value(env, c, &w->weights[k], 1);
      out->f_xx[T][T] += w->g[k] * control_value(env, c, &w->weights[k], 2);
    } else if (in->role != MBG__ROLE_T) {
      continue;
    }
    for (int c = 0; c <= T; c++) {
      out->f_xx[row][c] += first * mixed(env, fn, k, c);
    }
  }
}

/* active attributes: one per name, two or four per control */
static int active(const mbg__fn_env *env, const mbg__fn *fn, int n, int order, slot *s) {
  const mbg__fn_work *w = env->work;
  int na = 0;
  for (int k = 0; k < n; k++) {
    const mbg__input *in = &fn->input[k];
    int attr[4] = {in->index, 0, 0, 0}, count = 1;
    if (in->role == MBG__ROLE_CTRL) {
      count = control_samples(&env->model->controls[in->index], &w->weights[k], attr);
    } else if (in->role != MBG__ROLE_ATTR) {
      continue;
    }
    for (int j = 0; j < count; j++, na++) {
      const bool ctrl = in->role == MBG__ROLE_CTRL;
      const real N = ctrl ? w->weights[k].w[0][j] : 1, Nt = ctrl ? w->weights[k].w[1][j] : 0;
      s->act[na] = attr[j];
      s->f_act[na] = w->g[k] * N;
      for (int c = 0; order > 1 && c <= T; c++) {
        s->f_xact[na * (T + 1) + c] = mixed(env, fn, k, c) * N + (c == T ? w->g[k] * Nt : 0);
      }
    }
  }
  return na;
}

/* time as an attribute: the clock, by which everything that functions of time are in is differentiated as by time */
static int active_clock(const mbg__fn_env *env, const mbg__fn *fn, int n, int order, const mbg__fn_value *value,
                        slot *s, int na) {
  bool timed = false;
  for (int k = 0; env->model->nevent > 0 && k < n; k++) {
    timed = timed || fn->input[k].role == MBG__ROLE_T || fn->input[k].role == MBG__ROLE_CTRL;
  }
  if (!timed) {
    return na;
  }
  s->act[na] = env->model->clock;
  s->f_act[na] = value->f_x[T];
  for (int c = 0; order > 1 && c <= T; c++) {
    s->f_xact[na * (T + 1) + c] = value->f_xx[T][c];
  }
  return na + 1;
}

static void keep_signals(const mbg__fn_env *env, const mbg__fn *fn, int n, slot *s) {
  int ns = 0;
  for (int k = 0; k < n; k++) {
    if (fn->input[k].role == MBG__ROLE_SIGNAL) {
      s->signal[ns] = fn->input[k].index;
      s->f_signal[ns++] = env->work->g[k];
    }
  }
  for (; ns < fn->nsignal; ns++) {
    s->signal[ns] = 0;
    s->f_signal[ns] = 0;
  }
}

int mbg__fn_at(mbg__fn_env *env, int k, const real *x, int order, mbg__fn_value *out) {
  const mbg__fn *fn = &env->model->fns[env->fn + k];
  slot *s = &env->work->slots[env->fn + k];
  mbg__fn_work *w = env->work;
  const int n = mbg__expr_ninputs(fn->expr);
  *out = (mbg__fn_value){.k = k, .act = s->act, .f_act = s->f_act, .f_xact = s->f_xact};
  gather(env, fn, x);
  const int err = order > 1 ? mbg__expr_hessian(env->ctx, fn->expr, w->x, w->scratch, &out->f, w->g, w->h)
                            : mbg__expr_gradient(env->ctx, fn->expr, w->x, w->scratch, &out->f, w->g);
  if (err < 0) {
    return err;
  }
  first_order(env, fn, n, out);
  if (order > 1) {
    second_order(env, fn, n, out);
  }
  const int na = active(env, fn, n, order, s);
  out->nact = s->nact = active_clock(env, fn, n, order, out, s, na);
  keep_signals(env, fn, n, s);
  return MBG_OK;
}

int mbg__fn_signals(const mbg__fn_env *env, int k, const int **signal, const real **f_signal) {
  *signal = env->work->slots[env->fn + k].signal;
  *f_signal = env->work->slots[env->fn + k].f_signal;
  return env->model->fns[env->fn + k].nsignal;
}

int mbg__fn_active(const mbg__fn_env *env, int k, const int **act, const real **f_act) {
  const slot *s = &env->work->slots[env->fn + k];
  *act = s->act;
  *f_act = s->f_act;
  return s->nact;
}

/* ---------------------------------------------------------------------- jets in time */

static void gather_jet(mbg__fn_env *env, const mbg__fn *fn, int n) {
  mbg__fn_work *w = env->work;
  gather(env, fn, NULL);
  for (int k = 0; k < n; k++) {
    real *xj = w->xj + 3 * k;
    xj[0] = w->x[k];
    xj[1] = fn->input[k].role == MBG__ROLE_T ? 1 : 0;
    xj[2] = 0;
    if (fn->input[k].role == MBG__ROLE_CTRL) {
      const mbg__control *c = &env->model->controls[fn->input[k].index];
      xj[1] = control_value(env, c, &w->weights[k], 1);
      xj[2] = control_value(env, c, &w->weights[k], 2);
    }
  }
}

/* the third derivative of a control: its second one is linear between knots */
static real control_third(const mbg__fn_env *env, const mbg__control *c, const mbg__spline_weights *w) {
  const real *m = env->attr + c->attr + c->spline->n;
  const double h = c->spline->x[w->i + 1] - c->spline->x[w->i];
  return c->spline->interpolation == MBG__CUBIC ? (m[w->i + 1] - m[w->i]) / h : 0;
}

/* The clock moves the three coefficients as time does; the third one by the sum of d2/dt2 (g0 x') over the inputs. */
static int jet_clock(const mbg__fn_env *env, const mbg__fn *fn, int n, const mbg__fn_jet *jet, slot *s, int na) {
  const mbg__fn_work *w = env->work;
  real third = 0;
  bool timed = false;
  for (int i = 0; env->model->nevent > 0 && i < n; i++) {
    const real *g = w->gj + 3 * i, *x = w->xj + 3 * i;
    if (fn->input[i].role == MBG__ROLE_T || fn->input[i].role == MBG__ROLE_CTRL) {
      timed = true;
      third += g[2] * x[1] + 2 * g[1] * x[2];
    }
    if (fn->input[i].role == MBG__ROLE_CTRL) {
      third += g[0] * control_third(env, &env->model->controls[fn->input[i].index], &w->weights[i]);
    }
  }
  if (!timed) {
    return na;
  }
  s->act[na] = env->model->clock;
  s->f_jact[na][0] = jet->f[1];
  s->f_jact[na][1] = jet->f[2];
  s->f_jact[na][2] = third;
  return na + 1;
}

int mbg__fn_time_jet(mbg__fn_env *env, int k, mbg__fn_jet *out) {
  const mbg__fn *fn = &env->model->fns[env->fn + k];
  slot *s = &env->work->slots[env->fn + k];
  mbg__fn_work *w = env->work;
  const int n = mbg__expr_ninputs(fn->expr);
  gather_jet(env, fn, n);
  const int err = mbg__expr_jet(env->ctx, fn->expr, w->xj, w->scratch, out->f, w->gj);
  if (err < 0) {
    return err;
  }
  int na = 0;
  for (int i = 0; i < n; i++) {
    const mbg__input *in = &fn->input[i];
    const real *g = w->gj + 3 * i;
    if (in->role == MBG__ROLE_ATTR) {
      s->act[na] = in->index;
      memcpy(s->f_jact[na++], g, 3 * sizeof(real));
    } else if (in->role == MBG__ROLE_CTRL) {
      int attr[4];
      const int count = control_samples(&env->model->controls[in->index], &w->weights[i], attr);
      for (int j = 0; j < count; j++, na++) {
        const real N = w->weights[i].w[0][j], N1 = w->weights[i].w[1][j], N2 = w->weights[i].w[2][j];
        s->act[na] = attr[j];
        s->f_jact[na][0] = g[0] * N;
        s->f_jact[na][1] = g[1] * N + g[0] * N1;
        s->f_jact[na][2] = g[2] * N + 2 * g[1] * N1 + g[0] * N2;
      }
    }
  }
  na = jet_clock(env, fn, n, out, s, na);
  out->nact = na;
  out->act = s->act;
  out->f_act = (const real(*)[3])s->f_jact;
  return MBG_OK;
}

int mbg__fn_argument_jet(mbg__fn_env *env, int k, real x, mbg__fn_jet *out) {
  const mbg__fn *fn = &env->model->fns[env->fn + k];
  slot *s = &env->work->slots[env->fn + k];
  mbg__fn_work *w = env->work;
  const int n = mbg__expr_ninputs(fn->expr);
  gather(env, fn, &x);
  for (int i = 0; i < n; i++) {
    w->xj[3 * i] = w->x[i];
    w->xj[3 * i + 1] = fn->input[i].role == MBG__ROLE_ARG;
    w->xj[3 * i + 2] = 0;
  }
  const int err = mbg__expr_jet(env->ctx, fn->expr, w->xj, w->scratch, out->f, w->gj);
  if (err < 0) {
    return err;
  }
  int na = 0;
  out->f[3] = 0;
  for (int i = 0; i < n; i++) {
    if (fn->input[i].role == MBG__ROLE_ARG) {
      out->f[3] = w->gj[3 * i + 2];
    } else {
      s->act[na] = fn->input[i].index;
      memcpy(s->f_jact[na++], w->gj + 3 * i, 3 * sizeof(real));
    }
  }
  out->nact = na;
  out->act = s->act;
  out->f_act = (const real(*)[3])s->f_jact;
  return MBG_OK;
}

/* jet along a direction d of the arguments: second derivatives of all slopes in w->gj */
static int space_direction(mbg__fn_env *env, const mbg__fn *fn, int n, int j, int l) {
  mbg__fn_work *w = env->work;
  real f[3];
  for (int i = 0; i < n; i++) {
    const mbg__input *in = &fn->input[i];
    w->xj[3 * i] = w->x[i];
    w->xj[3 * i + 1] = in->role == MBG__ROLE_ARG && (in->index == j || in->index == l);
    w->xj[3 * i + 2] = 0;
  }
  return mbg__expr_jet(env->ctx, fn->expr, w->xj, w->scratch, f, w->gj);
}

/* Second derivatives of slopes by polarization: f_i[j, l] = (f_i[j + l, j + l] - f_i[j, j] - f_i[l, l])/2; f_a
   likewise. */
int mbg__fn_space_jet(mbg__fn_env *env, int k, const real x[3], mbg__jet3 *out, int *nact, int *act,
                      mbg__contact_slope *slope) {
  const mbg__fn *fn = &env->model->fns[env->fn + k];
  mbg__fn_work *w = env->work;
  const int n = mbg__expr_ninputs(fn->expr);
  memset(out, 0, sizeof(*out));
  gather(env, fn, x);
  int err = mbg__expr_value(env->ctx, fn->expr, w->x, w->scratch, &out->F);
  for (int j = 0; err == MBG_OK && j < 9; j++) {
    const int a = j < 3 ? j : (j - 3) / 3, b = j < 3 ? j : (j - 3) % 3;
    if (j >= 3 && a >= b) {
      continue;
    }
    err = space_direction(env, fn, n, a, b);
    int na = 0;
    for (int i = 0; err == MBG_OK && i < n; i++) {
      const real *g = w->gj + 3 * i;
      const bool arg = fn->input[i].role == MBG__ROLE_ARG;
      const int c = fn->input[i].index;
      real(*const second)[MBG__CONTACT_Z] = arg ? out->F_zzz[c] : slope[na].F_zz;
      second[a][b] = second[b][a] = a == b ? g[2] : (g[2] - second[a][a] - second[b][b]) / 2;
      if (arg) {
        out->F_z[c] = g[0];
        out->F_zz[c][a] = a == b ? g[1] : out->F_zz[c][a];
      } else {
        act[na] = c;
        slope[na].F = g[0];
        slope[na].F_z[a] = a == b ? g[1] : slope[na].F_z[a];
      }
      na += !arg;
    }
    *nact = na;
  }
  return err;
}

/* ---------------------------------------------------------------------- columns of forces */

void mbg__force_fn_column(mbg__force_out *out, const mbg__fn_value *value, const real g[6], const real (*gx)[6]) {
  if (out->f_fn) {
    v6_copy(out->f_fn[value->k], g);
  }
  for (int k = 0; k < value->nact; k++) {
    real *column = out->f_a[out->na];
    if (out->energy_a) {
      out->energy_a[out->na] = 0;
    }
    out->aidx[out->na++] = value->act[k];
    v6_scale(column, value->f_act[k], g);
    for (int c = 0; gx && c <= T; c++) {
      v6_axpy(column, value->f_xact[k * (T + 1) + c], gx[c]);
    }
  }
}
