/* Descent to a static equilibrium: a trust region with forces alone (stage 2 of start_equilibrium.c). */
#include "start/start_equilibrium.h"

enum { DESCENT_MAX = 600 };

static const double away_shift = 100;   /* motion of an unsupported body, in sizes of the model (at least 1 m) */
static const double away_turn = 60;     /* rotation of an unsupported body [rad] */
static const double corner_limit = 1e6; /* stiffness of a force that loses its direction, relative to the start */

/* The descent moves origins along straight lines, x + R u, R exp(theta~), h = (u, theta): with forces F in world axes,
   which vary as r_t = R^T F does, without the turning r_t x theta of the axes. Out of balance the twist's screw
   would add stiffness that no potential has. */
static void straighten(mbg__start_work *w) {
  for (int b = 0; b < w->m->nbody; b++) {
    const real *r = w->full + w->m->bodies[b].voff;
    real *A = w->block[b];
    m6_zero(A);
    A[4] = re(r[2]);
    A[5] = -re(r[1]);
    A[9] = -re(r[2]);
    A[11] = re(r[0]);
    A[15] = re(r[1]);
    A[16] = -re(r[0]);
  }
}

/* h of a body by its free velocities */
static void step_of(const mbg__start_work *w, int body, const real *x, real h[6]) {
  for (int k = 0; k < 6; k++) {
    const int j = w->m->dof[w->m->bodies[body].voff + k];
    h[k] = j >= 0 ? x[j] : 0;
  }
}

static void move_straight(mbg__start_work *w, double factor, const real *x) {
  for (int b = 0; b < w->m->nbody; b++) {
    mbg__frame *H = &w->result.H[b];
    real h[6], u[3], D[9], R[9];
    step_of(w, b, x, h);
    v6_scale(h, factor, h);
    m3_mulv(u, H->R, h);
    v3_add(H->x, H->x, u);
    mbg__so3_exp(D, h + 3);
    m3_mul(R, H->R, D);
    m3_copy(H->R, R);
  }
  w->result.iterations++;
}

/* r.h, r at the frames now and h at those before */
static double work_of(const mbg__start_work *w, const real *x) {
  double sum = 0;
  for (int b = 0; b < w->m->nbody; b++) {
    const real *r = w->full + w->m->bodies[b].voff;
    real h[6], u[3], F[3];
    step_of(w, b, x, h);
    m3_mulv(u, w->before[b].R, h);
    m3_mulv(F, w->result.H[b].R, r);
    sum += re(v3_dot(u, F)) + re(v3_dot(h + 3, r + 3));
  }
  return sum;
}

/* back on the constraints by least motion; false when they are too far */
static int project(mbg_context *ctx, mbg__start_work *w, double reach, bool *there) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  *there = false;
  for (int it = 0; it < 8 && !*there; it++) {
    const mbg__kkt_fill fill = {.diagonal = 1, .B = w->B, .keep = w->result.rank->keep, .eq = w->values};
    MBG_TRY(mbg__balance_constraints(ctx, w, NULL));
    mbg__system_residual(w->sys, NULL, w->phi, NULL, NULL, NULL);
    mbg__system_matrices(w->sys, &(mbg__matrices){.B = w->B});
    MBG_TRY(mbg__kkt_factor(ctx, w, &w->position, &fill, "equilibrium"));
    vn_zero(m->nv, w->position.x);
    mbg__start_right_side(w, &w->position, w->result.rank->keep, w->values);
    mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
    const double length = mbg__balance_length(w, reach);
    if (!(length < 1)) {
      break;
    }
    for (int j = 0; j < m->nv; j++) {
      w->position.x[j] = re(w->position.x[j]);
    }
    vn_zero(m->nrow, w->position.x + m->nv);
    mbg__balance_step(w, 1);
    *there = length < 1e-8;
  }
done:
  return err;
}

/* the step with this sigma; false when it does no work: sigma is too small where K is not positive */
static bool propose(mbg_context *ctx, mbg__start_work *w, mbg__search *d) {
  if (mbg__balance_solve(ctx, w, d->sigma, w->block) < 0) {
    return false;
  }
  double metric = 0;
  for (int j = 0; j < w->m->nv; j++) {
    d->h[j] = re(w->position.x[j]);
    metric += re(d->h[j]) * re(d->h[j]) * w->W[w->m->full[j]];
  }
  double rows = 0; /* h.B^T dlambda = -phi.dlambda */
  for (int i = 0; i < w->m->nrow; i++) {
    rows -= w->result.rank->keep[i] ? re(w->phi[i]) * re(w->position.x[w->m->nv + i]) : 0;
  }
  d->slope = work_of(w, d->h);
  d->curved = -d->slope - d->sigma * metric - rows;
  d->stiff = d->sigma * metric <= -0.1 * d->slope;
  return d->slope < 0 && isfinite(d->curved) && isfinite(mbg__balance_length(w, 1));
}

/* direction of the body that moves most in the step, and the work per metre or radian of it */
static void name_motion(const mbg__start_work *w, mbg__search *d, mbg__search_end end, bool turns) {
  const mbg__step_motion a = mbg__balance_motion(w, d->h);
  const double length = turns ? a.turn : a.shift;
  d->end = end;
  d->turns = turns;
  d->body = turns ? a.turned : a.shifted;
  for (int l = 0; l < 3; l++) {
    d->along[l] = 0;
    for (int k = 0; k < 3; k++) {
      const int j = w->m->dof[w->m->bodies[d->body].voff + (turns ? 3 : 0) + k];
      d->along[l] += j >= 0 && length > 0 ? re(w->result.H[d->body].R[3 * l + k]) * re(d->h[j]) / length : 0;
    }
    d->along[l] = fabs(d->along[l]) < 1e-6 ? 0 : d->along[l];
  }
  d->force = length > 0 ? -d->slope / length : 0;
}

void mbg__descent_stuck(const mbg__start_work *w, mbg__search *d) {
  const mbg__step_motion a = mbg__balance_motion(w, d->h);
  name_motion(w, d, MBG__STUCK, a.turn * w->m->size > a.shift);
}

/* takes a step of the factor; the work done relative to that promised, negative when the state cannot be had there */
static int try_step(mbg_context *ctx, mbg__start_work *w, mbg__search *d, double factor, double *ratio) {
  double size;
  bool there;
  *ratio = -1;
  move_straight(w, factor, d->h);
  int err = project(ctx, w, mbg__search_reach(w, d), &there);
  err = err < 0 || !there ? err : mbg__balance(ctx, w, &size);
  if (err == MBG_ERROR_MEMORY) {
    return err;
  }
  if (err < 0) {
    mbg__format(d->why, sizeof(d->why), "%s", mbg_context_error(ctx));
    mbg_context_clear(ctx);
  }
  if (err == MBG_OK && there) {
    const double done = factor * (d->slope + work_of(w, d->h)) / 2;
    const double promised = factor * d->slope + factor * factor * d->curved / 2;
    *ratio = done / promised;
  }
  return MBG_OK;
}

/* one step of the descent, at a state that is balanced as far as multipliers can */
static int descend_once(mbg_context *ctx, mbg__start_work *w, mbg__search *d, bool *moved) {
  const double floor = 1e-10 * mbg__stiffness_largest(w);
  double ratio, least;
  int err = MBG_OK;
  *moved = false;
  straighten(w);
  MBG_TRY(mbg__stiffness_least(ctx, w, &least));
  d->sigma = fmax(d->sigma, least < 0 ? floor - 1.5 * least : floor);
  const double more = fmax(4 * d->sigma, 1e-4 * mbg__stiffness_largest(w));
  mbg__balance_keep(w);
  if (!propose(ctx, w, d)) {
    d->sigma = more > 0 ? more : 1;
    goto done;
  }
  const mbg__step_motion a = mbg__balance_motion(w, d->h);
  const double length = fmax(a.shift / w->m->size, a.turn);
  const double factor = fmin(fmin(1, d->radius / length), 0.5 / fmax(a.turn, 0.5));
  /* states act without a potential: sigma may decide on the step at an equilibrium, too */
  if (fmax(a.shift / mbg__search_reach(w, d), a.turn) < 1e-6 && (d->stiff || w->steady.n > 0)) {
    d->end = MBG__ARRIVED;
    goto done;
  }
  MBG_TRY(try_step(ctx, w, d, factor, &ratio));
  *moved = ratio > 0.1;
  if (!*moved) {
    mbg__balance_restore(w);
    d->radius = fmax(0.25 * factor * length, 1e-12);
    d->sigma = more;
    MBG_TRY(mbg__balance_update(ctx, w, w->k));
    goto done;
  }
  d->why[0] = 0;
  d->shifted += factor * a.shift;
  d->turned += factor * a.turn;
  d->radius = ratio > 0.95 && ratio < 1.05 ? 2 * d->radius : ratio > 0.5 && ratio < 2 ? d->radius : 0.5 * d->radius;
  d->sigma = ratio > 0.9 && ratio < 1.1 ? d->sigma / 50 : ratio > 0.5 && ratio < 2 ? d->sigma / 5 : d->sigma;
done:
  return err;
}

int mbg__descent(mbg_context *ctx, mbg__start_work *w, mbg__search *d) {
  double size;
  int err = MBG_OK;
  bool moved;
  *d = (mbg__search){.radius = 0.2, .h = w->full3, .end = MBG__STUCK, .body = -1};
  vn_zero(w->m->nrow, w->k);
  MBG_TRY(mbg__balance(ctx, w, &size));
  /* an equilibrium already, stable or not? */
  if (mbg__balance_solve(ctx, w, mbg__stiffness_added(w), NULL) == MBG_OK &&
      mbg__balance_length(w, w->m->size) < 1e-6) {
    d->end = MBG__ARRIVED;
    return MBG_OK;
  }
  MBG_TRY(mbg__balance_update(ctx, w, w->k));
  d->sigma = size / 0.05;
  const double usual = fmax(mbg__stiffness_largest(w), d->sigma);
  for (int it = 0; it < DESCENT_MAX && d->end == MBG__STUCK && !d->corner; it++) {
    MBG_TRY(descend_once(ctx, w, d, &moved));
    if (moved && d->shifted > away_shift * fmax(w->m->size, 1)) {
      name_motion(w, d, MBG__AWAY, false);
    } else if (moved && d->turned > away_turn) {
      name_motion(w, d, MBG__AWAY, true);
    }
    d->corner = d->end == MBG__STUCK && mbg__stiffness_largest(w) > corner_limit * usual;
  }
  if (d->end == MBG__STUCK) {
    mbg__descent_stuck(w, d);
  }
done:
  return err;
}
