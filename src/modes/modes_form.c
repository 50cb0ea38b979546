/* Gradient of the form F = y^T (s^2 M + s C + K) x + y^T B^T xi + eta^T B x at a state (modes_gradient.c).

   F is the derivative of y.r + eta.phi along the motion w = x, dv = s x + ad(v) x, dvd = s^2 x + s ad(v) x + ad(vd) x,
   dlambda = xi; so that one pull by complex step (complex_step.h) gives its gradient by frames, twists, multipliers and
   all attributes at once. Frames: F varies with H exp(w2~) exp(x~), the pull with H exp(x~) exp(w2~), hence gw <- gw -
   ad(x)^T g, g the gradient of y.r + eta.phi itself. */
#include "modes/modes_derivative.h"

#include <string.h>

/* free velocities to full ones */
static void spread(const mbg_model *m, const double *x, double *full) {
  memset(full, 0, (size_t)m->nw * sizeof(double));
  for (int j = 0; x && j < m->nv; j++) {
    full[m->full[j]] = x[j];
  }
}

/* out += c ad(v) x for all bodies */
static void ad_add(const mbg_model *m, double c, const real *v, const double *x, double *out) {
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real y[6], xb[6];
    for (int i = 0; i < 6; i++) {
      xb[i] = x[off + i];
    }
    ad_mul(y, v + off, xb);
    for (int i = 0; i < 6; i++) {
      out[off + i] += c * re(y[i]);
    }
  }
}

/* the direction of a mode: complex products with s */
static void set_direction(mbg__modes_derivative *k, const mbg__mode *a) {
  const mbg__modes_work *w = k->w;
  const mbg_model *m = w->m;
  const bool rates = !w->symmetric && !w->opt.undamped;
  const double *s = a->s;
  const double s2[2] = {w->symmetric ? a->s2 : s[0] * s[0] - s[1] * s[1], w->symmetric ? 0 : 2 * s[0] * s[1]};
  for (int part = 0; part < 2; part++) {
    spread(m, a->x[part], k->x[part]);
    memset(k->dv[part], 0, (size_t)m->nw * sizeof(double));
    memset(k->dvd[part], 0, (size_t)m->nw * sizeof(double));
    memset(k->dlambda[part], 0, (size_t)m->nrow * sizeof(double));
    if (a->xi[part]) {
      memcpy(k->dlambda[part], a->xi[part], (size_t)m->nrow * sizeof(double));
    }
  }
  for (int q = 0; q < 2; q++) { /* part of x */
    axpy(m->nw, s2[0], k->x[q], k->dvd[q]);
    axpy(m->nw, q ? -s2[1] : s2[1], k->x[q], k->dvd[1 - q]);
    if (rates) {
      axpy(m->nw, s[0], k->x[q], k->dv[q]);
      axpy(m->nw, q ? -s[1] : s[1], k->x[q], k->dv[1 - q]);
    }
    if (w->moving) {
      ad_add(m, 1, w->v, k->x[q], k->dv[q]);
      ad_add(m, s[0], w->v, k->x[q], k->dvd[q]);
      ad_add(m, q ? -s[1] : s[1], w->v, k->x[q], k->dvd[1 - q]);
      ad_add(m, 1, w->vd, k->x[q], k->dvd[q]);
    }
  }
}

static void set_weights(mbg__modes_derivative *k, const mbg__mode *b) {
  const mbg_model *m = k->w->m;
  for (int part = 0; part < 2; part++) {
    spread(m, b->y[part], k->z[part]);
    memset(k->mu[part], 0, (size_t)m->nrow * sizeof(double));
    if (b->eta[part]) {
      memcpy(k->mu[part], b->eta[part], (size_t)m->nrow * sizeof(double));
    }
  }
}

static void clear_cotangent(const mbg_model *m, mbg__cotangent_pair *g) {
  for (int part = 0; part < 2; part++) {
    vn_zero(m->nw, g->w[part]);
    vn_zero(m->nw, g->v[part]);
    vn_zero(m->nw, g->vd[part]);
    vn_zero(m->nrow, g->lambda[part]);
    vn_zero(m->na, g->a[part]);
  }
}

static void add_real(int n, double c, const double *x, real *out) {
  for (int i = 0; i < n; i++) {
    out[i] += c * x[i];
  }
}

/* pull along one part of the direction with one part of the weights, added with its sign to one part of g */
static int add_pull(mbg__modes_derivative *k, int direction, int weight) {
  const mbg_model *m = k->w->m;
  const int part = direction == weight ? RE : IM;
  const double c = direction == IM && weight == IM ? -1 : 1;
  const mbg__complex_step_state state = {.t = re(k->w->t),
                                         .H = k->H,
                                         .v = k->v,
                                         .vd = k->vd,
                                         .lambda = k->lambda,
                                         .turns = k->w->turns,
                                         .w = k->x[direction],
                                         .dv = k->dv[direction],
                                         .dvd = k->dvd[direction],
                                         .dlambda = k->dlambda[direction]};
  const int err = mbg__complex_step_pull(k->w->ctx, k->step, &state, k->z[weight], k->mu[weight], &k->out);
  add_real(m->nw, c, k->out.w, k->g.w[part]);
  add_real(m->nw, c, k->out.v, k->g.v[part]);
  add_real(m->nw, c, k->out.vd, k->g.vd[part]);
  add_real(m->nrow, c, k->out.lambda, k->g.lambda[part]);
  add_real(m->na, c, k->out.a, k->g.a[part]);
  return err;
}

/* out -= c ad(x)^T g for all bodies */
static void sub_adT(const mbg_model *m, double c, const double *x, const real *g, real *out) {
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real y[6], xb[6];
    for (int i = 0; i < 6; i++) {
      xb[i] = x[off + i];
    }
    adT_mul(y, xb, g + off);
    v6_axpy(out + off, -c, y);
  }
}

/* complex: out -= ad(x)^T g */
static void sub_adT_complex(const mbg_model *m, double *const x[2], real *const g[2], real *const out[2]) {
  sub_adT(m, 1, x[RE], g[RE], out[RE]);
  sub_adT(m, -1, x[IM], g[IM], out[RE]);
  sub_adT(m, 1, x[RE], g[IM], out[IM]);
  sub_adT(m, 1, x[IM], g[RE], out[IM]);
}

/* gradients of y.r + eta.phi at the state: by frames, and C^T y, M y */
static void first_pulls(mbg__modes_derivative *k) {
  const mbg_model *m = k->w->m;
  for (int part = 0; part < 2; part++) {
    for (int i = 0; i < m->nw; i++) {
      k->full[i] = k->z[part][i];
    }
    for (int i = 0; i < m->nrow; i++) {
      k->row[i] = k->mu[part][i];
    }
    vn_zero(m->nw, k->gw[part]);
    vn_zero(m->nw, k->gv[part]);
    vn_zero(m->nw, k->gvd[part]);
    mbg__system_pull(k->w->sys, k->full, k->row, NULL, NULL, k->gw[part], k->gv[part], k->gvd[part], NULL, NULL);
  }
}

/* what the direction itself depends on: dv has ad(v) x, dvd has s ad(v) x + ad(vd) x */
static void direction_terms(mbg__modes_derivative *k, const mbg__mode *a) {
  const mbg_model *m = k->w->m;
  real *const sgvd[2] = {k->full, k->full2}; /* C^T y + s M y */
  for (int i = 0; i < m->nw; i++) {
    sgvd[RE][i] = k->gv[RE][i] + a->s[0] * k->gvd[RE][i] - a->s[1] * k->gvd[IM][i];
    sgvd[IM][i] = k->gv[IM][i] + a->s[0] * k->gvd[IM][i] + a->s[1] * k->gvd[RE][i];
  }
  sub_adT_complex(m, k->x, sgvd, k->g.v);
  sub_adT_complex(m, k->x, k->gvd, k->g.vd);
}

int mbg__modes_form(mbg__modes_derivative *k, const mbg__mode *a, const mbg__mode *b) {
  const bool complex_a = a->x[IM] != NULL, complex_b = b->y[IM] != NULL;
  int err = MBG_OK;
  set_direction(k, a);
  set_weights(k, b);
  clear_cotangent(k->w->m, &k->g);
  MBG_TRY(add_pull(k, RE, RE));
  if (complex_a) {
    MBG_TRY(add_pull(k, IM, RE));
  }
  if (complex_b) {
    MBG_TRY(add_pull(k, RE, IM));
  }
  if (complex_a && complex_b) {
    MBG_TRY(add_pull(k, IM, IM));
  }
  first_pulls(k);
  sub_adT_complex(k->w->m, k->x, k->gw, k->g.w);
  if (k->w->moving) {
    direction_terms(k, a);
  }
done:
  return err;
}
