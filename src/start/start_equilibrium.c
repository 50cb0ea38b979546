/* Static equilibrium of the start: r(H, 0, 0, lambda) = 0, phi(H) = 0 (theory 0, section 6), in stages:
     1. load: with beams, r - (1 - s) r_0 = 0 is followed from the guess (s = 0) to equilibrium (s = 1)
     2. descent: steps (K + sigma W) h + B^T dlambda = -r, sigma such that they do work, -(r_0 + r_1).h/2 by the trapezoidal rule
        and nearly what they promise: a trust region with forces alone, which ends in a valley of the potential where there is one
     3. transient: for forces without a potential, where 2 may go round in circles
     4. Newton's method to rounding
   Imaginary parts (of the twin) are left out of 2: they follow in 4, whatever the way was. */
#include "start/start_internal.h"

#include "math/dense.h"
#include "math/spectrum.h"

#include <string.h>

enum { DESCENT_MAX = 600, TRANSIENT_MAX = 500, NEWTON_MAX = 60, DENSE_MAX = 400 };

static const double away_shift =
    100; /* motion of what nothing stops, in sizes of the model (or metres, if it is smaller) */
static const double corner_limit =
    1e6;                            /* stiffness of a force that loses its direction, relative to that at the start */
static const double away_turn = 60; /* rotation of what nothing stops [rad] */

/* ---------------------------------------------------------------------- forces and steps */

/* the system at the frames; turn counters follow the angles from one state to the next */
static int update(mbg_context *ctx, mbg__start_work *w, const real *lambda) {
  const mbg__state state = {.t = w->result.t, .H = w->result.H, .lambda = lambda, .turns = w->result.turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update_bare(ctx, w->sys, &state));
  if (w->angles_known && w->m->nturn > 0) {
    mbg__system_turns(w->sys, w->angles, w->result.turns);
    MBG_TRY(mbg__system_update_bare(ctx, w->sys, &state));
  }
  mbg__system_coords(w->sys, w->angles);
  w->angles_known = true;
done:
  return err;
}

static int full_update(mbg_context *ctx, mbg__start_work *w, const real *lambda) {
  int err = MBG_OK;
  MBG_TRY(update(ctx, w, lambda));
  MBG_TRY(mbg__system_update_forces(ctx, w->sys));
  MBG_TRY(mbg__system_linearize(ctx, w->sys));
  mbg__system_residual(w->sys, w->full, w->phi, NULL, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.K = w->K, .B = w->B});
done:
  return err;
}

/* largest translation and rotation of a body in a step, and the bodies */
typedef struct {
  double shift, turn;
  int shifted, turned;
} motion;

static motion motion_of(const mbg__start_work *w, const real *x) {
  const mbg_model *m = w->m;
  motion a = {0};
  for (int b = 0; b < m->nbody; b++) {
    double l[2] = {0, 0};
    for (int k = 0; k < 6; k++) {
      const int j = m->dof[m->bodies[b].voff + k];
      l[k / 3] += j >= 0 ? re(x[j]) * re(x[j]) : 0;
    }
    if (!(sqrt(l[0]) <= a.shift)) {
      a.shift = sqrt(l[0]);
      a.shifted = b;
    }
    if (!(sqrt(l[1]) <= a.turn)) {
      a.turn = sqrt(l[1]);
      a.turned = b;
    }
  }
  return a;
}

/* in units of the reach, and radians */
static double length_of(const mbg__start_work *w, double reach) {
  const motion a = motion_of(w, w->position.x);
  return isfinite(a.shift) && isfinite(a.turn) ? fmax(a.shift / reach, a.turn) : INFINITY;
}

/* multipliers that balance r best in the metric: [W B^T; B 0](a, dlambda) = (-r, 0); the size of a in the metric */
static int balance(mbg_context *ctx, mbg__start_work *w, double *size) {
  const mbg_model *m = w->m;
  const mbg__kkt_fill fill = {.diagonal = 1, .B = w->B, .keep = w->result.rank->keep, .eq = w->values};
  int err = MBG_OK;
  MBG_TRY(full_update(ctx, w, w->k));
  MBG_TRY(mbg__kkt_factor(ctx, w, &w->position, &fill, "equilibrium"));
  for (int j = 0; j < m->nv; j++) {
    w->position.x[j] = -w->full[m->full[j]];
  }
  memset(w->position.x + m->nv, 0, (size_t)m->nrow * sizeof(real));
  mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
  *size = 0;
  for (int j = 0; j < m->nv; j++) {
    const double own = fabs(re(w->position.x[j])) * sqrt(w->W[m->full[j]]) / m->size;
    *size = own <= *size ? *size : own;
  }
  for (int i = 0; i < m->nrow; i++) {
    w->k[i] += w->position.x[m->nv + i];
  }
  MBG_TRY(full_update(ctx, w, w->k));
done:
  return err;
}

/* largest stiffness on the diagonal, in the metric */
static double stiffness(const mbg__start_work *w) {
  const mbg__csc *p = &w->sys->patK;
  double most = 0;
  for (int j = 0; j < w->m->nv; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      most = p->rowind[i] == j ? fmax(most, fabs(re(w->K[i])) / w->W[w->m->full[j]]) : most;
    }
  }
  return most;
}

/* what is added to K in the metric */
static double indifference(const mbg__start_work *w) {
  const double most = w->indifferent ? stiffness(w) : 0;
  return !w->indifferent ? 0 : most > 0 ? 1e-9 * most : 1;
}

/* (K + sigma W) h + B^T dlambda = -r, B h = -phi into position.x; block (may be NULL): added to K, per body */
static int solve_step(mbg_context *ctx, mbg__start_work *w, double sigma, mat6 *block) {
  const mbg_model *m = w->m;
  const mbg__kkt_fill fill = {
      .K = w->K, .body = block, .diagonal = sigma, .B = w->B, .keep = w->result.rank->keep, .eq = w->values};
  const int err = mbg__kkt_factor(ctx, w, &w->position, &fill, "equilibrium");
  if (err < 0) {
    return err;
  }
  for (int j = 0; j < m->nv; j++) {
    w->position.x[j] = -w->full[m->full[j]];
  }
  mbg__start_right_side(w, &w->position, w->result.rank->keep, w->values);
  mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
  return MBG_OK;
}

static void take_step(mbg__start_work *w, double step) {
  mbg__start_take_step(w, step);
  w->result.iterations++;
}

static void keep_state(mbg__start_work *w) {
  memcpy(w->before, w->result.H, (size_t)w->m->nbody * sizeof(*w->before));
  memcpy(w->row2, w->k, (size_t)w->m->nrow * sizeof(real));
  memcpy(w->angles_before, w->angles, (size_t)w->m->ncoord * sizeof(real));
}

static void restore_state(mbg__start_work *w) {
  memcpy(w->result.H, w->before, (size_t)w->m->nbody * sizeof(*w->before));
  memcpy(w->k, w->row2, (size_t)w->m->nrow * sizeof(real));
  memcpy(w->angles, w->angles_before, (size_t)w->m->ncoord * sizeof(real));
}

/* to the frames of the guess, with its turns */
static void go_back(mbg__start_work *w, const mbg__frame *guess) {
  memcpy(w->result.H, guess, (size_t)w->m->nbody * sizeof(*guess));
  memset(w->result.turns, 0, (size_t)w->m->nturn * sizeof(int));
  w->angles_known = false;
}

/* ---------------------------------------------------------------------- load */

/* Newton's method on r - (1 - s) r_0 = 0, phi = 0; false when it leaves the path */
static bool follow(mbg_context *quiet, mbg__start_work *w, double s, const real *r0, int *iterations) {
  const mbg_model *m = w->m;
  double last = INFINITY;
  for (int it = 0; it < 12; it++) {
    if (full_update(quiet, w, w->k) < 0) {
      return false;
    }
    for (int i = 0; i < m->nw; i++) {
      w->full[i] -= (1 - s) * r0[i];
    }
    if (solve_step(quiet, w, indifference(w), NULL) < 0) {
      return false;
    }
    const double length = length_of(w, w->m->size);
    if (!(length < 0.5) || (it > 2 && length > 2 * last)) {
      return false;
    }
    take_step(w, 1);
    *iterations = it + 1;
    last = length;
    if (length < 1e-9) {
      return true;
    }
  }
  return false;
}

/* Slender beams: the load is applied in steps, r - (1 - s) r_0 = 0 from the guess (s = 0) to equilibrium (s = 1). Where this
   does not arrive, the frames are those of the guess again. */
static int load_in_steps(mbg_context *quiet, mbg__start_work *w) {
  const mbg_model *m = w->m;
  const size_t frames = (size_t)m->nbody * sizeof(*w->before);
  real *r0 = w->full2;
  double s = 0, ds = 0.1;
  int iterations = 0;
  mbg__frame *guess = mbg__alloc(quiet, (size_t)m->nbody, sizeof(*guess));
  if (!guess) {
    return mbg__fail_memory(quiet);
  }
  memcpy(guess, w->result.H, frames);
  memset(w->k, 0, (size_t)m->nrow * sizeof(real));
  const bool defined = full_update(quiet, w, w->k) == MBG_OK;
  memcpy(r0, w->full, (size_t)m->nw * sizeof(real));
  while (defined && s < 1 && ds > 1e-4) {
    const double next = fmin(s + ds, 1);
    keep_state(w);
    if (follow(quiet, w, next, r0, &iterations)) {
      s = next;
      ds *= iterations <= 6 ? 1.6 : 1;
    } else {
      restore_state(w);
      ds /= 2;
    }
  }
  if (s < 1) {
    go_back(w, guess);
  }
  mbg__free(quiet, guess);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- descent */

typedef enum { ARRIVED, AWAY, STUCK } outcome;

typedef struct {
  double sigma;           /* added to K in the metric */
  double radius;          /* longest step, in sizes of the model and radians */
  double shifted, turned; /* path so far: the reach is what the model has extended to */
  real *h;                /* the step (nv) */
  double slope, curved;   /* r0.h, h.K h */
  bool stiff;             /* K decides on the step, not sigma */
  /* who goes where, for the message: direction in world axes, what pushes [N or N m] */
  outcome end;
  int body;
  bool turns;
  bool corner; /* a force changes without limit */
  double along[3], push;
  char why[240]; /* what is wrong with the state beyond, "": nothing */
} descent;

static double reach_of(const mbg__start_work *w, const descent *d) { return fmax(w->m->size, d->shifted); }

/* The descent moves origins along straight lines, x + R u, R exp(theta~), h = (u, theta): with forces F in world axes, whose
   variation is that of r_t = R^T F without the turning of the axes, r_t x theta. Out of balance the twist's screw would add
   stiffness that no potential has. */
static void straighten(mbg__start_work *w) {
  for (int b = 0; b < w->m->nbody; b++) {
    const real *r = w->full + w->m->bodies[b].voff;
    real *A = w->block[b];
    memset(A, 0, sizeof(mat6));
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
    MBG_TRY(update(ctx, w, NULL));
    mbg__system_residual(w->sys, NULL, w->phi, NULL, NULL, NULL);
    mbg__system_matrices(w->sys, &(mbg__matrices){.B = w->B});
    MBG_TRY(mbg__kkt_factor(ctx, w, &w->position, &fill, "equilibrium"));
    memset(w->position.x, 0, (size_t)m->nv * sizeof(real));
    mbg__start_right_side(w, &w->position, w->result.rank->keep, w->values);
    mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
    const double length = length_of(w, reach);
    if (!(length < 1)) {
      break;
    }
    for (int j = 0; j < m->nv; j++) {
      w->position.x[j] = re(w->position.x[j]);
    }
    memset(w->position.x + m->nv, 0, (size_t)m->nrow * sizeof(real));
    take_step(w, 1);
    *there = length < 1e-8;
  }
done:
  return err;
}

/* S Z: an orthonormal basis Z of the motions that the kept rows allow, in the metric, S = W^-1/2 (nv x n) */
static int basis(mbg_context *ctx, const mbg__start_work *w, mbg__arena *arena, int n, double *Z) {
  const mbg_model *m = w->m;
  const mbg__csc *p = &w->sys->patB;
  const mbg__rank *rank = w->result.rank;
  const size_t nv = (size_t)m->nv;
  mbg__qr qr;
  int *place = MBG_TAKE(arena, int, m->nrow);
  if (!place || mbg__qr_prepare(&qr, arena, m->nv, rank->nkept) < 0) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < rank->nkept; i++) {
    place[rank->kept[i]] = i;
  }
  for (int j = 0; j < m->nv; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      if (rank->keep[p->rowind[i]]) {
        qr.A[(size_t)j + nv * (size_t)place[p->rowind[i]]] = re(w->B[i]) / sqrt(w->W[m->full[j]]);
      }
    }
  }
  if (rank->nkept > 0 && mbg__qr_factor(&qr) < 0) {
    return mbg__fail(ctx, MBG_ERROR_SINGULAR, "the constraints are not finite");
  }
  for (int k = 0; k < n; k++) {
    Z[(size_t)(rank->nkept + k) + nv * (size_t)k] = 1;
  }
  if (rank->nkept > 0) {
    mbg__qr_mul_Q(&qr, Z, n);
  }
  for (size_t k = 0; k < nv * (size_t)n; k++) {
    Z[k] /= sqrt(w->W[m->full[k % nv]]);
  }
  return MBG_OK;
}

/* y += the symmetric part of the blocks times z */
static void add_blocks(const mbg__start_work *w, const double *z, double *y) {
  const mbg_model *m = w->m;
  for (int b = 0; b < m->nbody; b++) {
    for (int i = 0; i < 3; i++) {
      for (int k = 3; k < 6; k++) {
        const int row = m->dof[m->bodies[b].voff + i], column = m->dof[m->bodies[b].voff + k];
        const double a = row >= 0 && column >= 0 ? re(w->block[b][6 * i + k]) / 2 : 0;
        y[a != 0 ? row : 0] += a != 0 ? a * z[column] : 0;
        y[a != 0 ? column : 0] += a != 0 ? a * z[row] : 0;
      }
    }
  }
}

/* lower triangle of Z^T K Z, the symmetric part */
static void reduced_stiffness(const mbg__start_work *w, int n, const double *Z, double *y, double *A) {
  const mbg__csc *p = &w->sys->patK;
  const size_t nv = (size_t)w->m->nv;
  for (int c = 0; c < n; c++) {
    const double *z = Z + nv * (size_t)c;
    memset(y, 0, nv * sizeof(double));
    for (int j = 0; j < w->m->nv; j++) {
      for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
        y[p->rowind[i]] += re(w->K[i]) * z[j] / 2;
        y[j] += re(w->K[i]) * z[p->rowind[i]] / 2;
      }
    }
    add_blocks(w, z, y);
    for (int r = c; r < n; r++) {
      double sum = 0;
      for (size_t j = 0; j < nv; j++) {
        sum += Z[j + nv * (size_t)r] * y[j];
      }
      A[(size_t)r + (size_t)n * (size_t)c] = sum;
    }
  }
}

/* smallest stiffness of a motion that the rows allow, in the metric; models of many freedoms: 0 */
static int least_stiffness(mbg_context *ctx, const mbg__start_work *w, double *least) {
  const int n = w->m->nv - w->result.rank->nkept;
  const size_t nv = (size_t)w->m->nv;
  int err = MBG_OK;
  mbg__arena arena;
  *least = 0;
  if (n == 0 || w->m->nv > DENSE_MAX) {
    return MBG_OK;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  double *Z = MBG_TAKE(&arena, double, nv *(size_t)n), *A = MBG_TAKE(&arena, double, (size_t)n *(size_t)n);
  double *y = MBG_TAKE(&arena, double, nv), *value = MBG_TAKE(&arena, double, n);
  if (!Z || !A || !y || !value) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(basis(ctx, w, &arena, n, Z));
  reduced_stiffness(w, n, Z, y, A);
  MBG_TRY(mbg__eigen_symmetric(ctx, n, A, value));
  *least = value[0];
done:
  mbg__arena_destroy(&arena);
  return err;
}

/* the step with this sigma; false when it does no work: sigma is too small where K is not positive */
static bool propose(mbg_context *ctx, mbg__start_work *w, descent *d) {
  if (solve_step(ctx, w, d->sigma, w->block) < 0) {
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
  return d->slope < 0 && isfinite(d->curved) && isfinite(length_of(w, 1));
}

/* direction of the body that moves most in the step, and the work per metre or radian of it */
static void name_motion(const mbg__start_work *w, descent *d, outcome end, bool turns) {
  const motion a = motion_of(w, d->h);
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
  d->push = length > 0 ? -d->slope / length : 0;
}

static void name_stuck(const mbg__start_work *w, descent *d) {
  const motion a = motion_of(w, d->h);
  name_motion(w, d, STUCK, a.turn * w->m->size > a.shift);
}

/* takes a step of the factor; the work done relative to that promised, negative when the state cannot be had there */
static int try_step(mbg_context *ctx, mbg__start_work *w, descent *d, double factor, double *ratio) {
  double size;
  bool there;
  *ratio = -1;
  move_straight(w, factor, d->h);
  int err = project(ctx, w, reach_of(w, d), &there);
  err = err < 0 || !there ? err : balance(ctx, w, &size);
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
static int descend_once(mbg_context *ctx, mbg__start_work *w, descent *d, bool *moved) {
  const double floor = 1e-10 * stiffness(w);
  double ratio, least;
  int err = MBG_OK;
  *moved = false;
  straighten(w);
  MBG_TRY(least_stiffness(ctx, w, &least));
  d->sigma = fmax(d->sigma, least < 0 ? floor - 1.5 * least : floor);
  const double more = fmax(4 * d->sigma, 1e-4 * stiffness(w));
  keep_state(w);
  if (!propose(ctx, w, d)) {
    d->sigma = more > 0 ? more : 1;
    goto done;
  }
  const motion a = motion_of(w, d->h);
  const double length = fmax(a.shift / w->m->size, a.turn);
  const double factor = fmin(fmin(1, d->radius / length), 0.5 / fmax(a.turn, 0.5));
  if (fmax(a.shift / reach_of(w, d), a.turn) < 1e-6 && d->stiff) {
    d->end = ARRIVED;
    goto done;
  }
  MBG_TRY(try_step(ctx, w, d, factor, &ratio));
  *moved = ratio > 0.1;
  if (!*moved) {
    restore_state(w);
    d->radius = fmax(0.25 * factor * length, 1e-12);
    d->sigma = more;
    MBG_TRY(full_update(ctx, w, w->k));
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

static int descend(mbg_context *ctx, mbg__start_work *w, descent *d) {
  double size;
  int err = MBG_OK;
  bool moved;
  *d = (descent){.radius = 0.2, .h = w->full3, .end = STUCK, .body = -1};
  memset(w->k, 0, (size_t)w->m->nrow * sizeof(real));
  MBG_TRY(balance(ctx, w, &size));
  /* an equilibrium already, stable or not? */
  if (solve_step(ctx, w, indifference(w), NULL) == MBG_OK && length_of(w, w->m->size) < 1e-6) {
    d->end = ARRIVED;
    return MBG_OK;
  }
  MBG_TRY(full_update(ctx, w, w->k));
  d->sigma = size / 0.05;
  const double usual = fmax(stiffness(w), d->sigma);
  for (int it = 0; it < DESCENT_MAX && d->end == STUCK && !d->corner; it++) {
    MBG_TRY(descend_once(ctx, w, d, &moved));
    if (moved && d->shifted > away_shift * fmax(w->m->size, 1)) {
      name_motion(w, d, AWAY, false);
    } else if (moved && d->turned > away_turn) {
      name_motion(w, d, AWAY, true);
    }
    d->corner = d->end == STUCK && stiffness(w) > corner_limit * usual;
  }
  if (d->end == STUCK) {
    name_stuck(w, d);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- transient */

/* (W/tau + K) h + B^T dlambda = -r: descends for small tau, Newton's method for large */
static int transient(mbg_context *ctx, mbg__start_work *w, bool *arrived) {
  double size, before = 0, tau = 0, length = 1;
  int err = MBG_OK;
  memset(w->k, 0, (size_t)w->m->nrow * sizeof(real));
  for (int it = 0; it < TRANSIENT_MAX && !(length < 1e-8); it++) {
    MBG_TRY(balance(ctx, w, &size));
    if (it == 0) {
      tau = size > 0 ? 0.02 / size : 1e300;
    } else {
      tau *= fmin(10, fmax(0.3, before / fmax(size, 1e-300)));
    }
    before = size;
    tau = length < 1e-6 && it > 0 && tau * size < 1e-3 ? tau * 10 : tau;
    MBG_TRY(solve_step(ctx, w, 1 / fmin(tau, 1e300) + indifference(w), NULL));
    length = length_of(w, w->m->size);
    take_step(w, length > 0.2 ? 0.2 / length : 1);
  }
  *arrived = length < 1e-8;
done:
  return err;
}

/* ---------------------------------------------------------------------- Newton's method */

static int newton(mbg_context *ctx, mbg__start_work *w, double reach, bool *converged) {
  /* what is added for indifferent freedoms makes the last steps linear ones, and what nothing holds creeps by rounding */
  const int enough = w->indifferent ? 12 : 3;
  const double small = w->indifferent ? 1e-8 : 1e-12;
  double size, last = INFINITY;
  int err = MBG_OK, after = 0;
  for (int it = 0; it < NEWTON_MAX && after < enough; it++) {
    MBG_TRY(balance(ctx, w, &size));
    MBG_TRY(solve_step(ctx, w, indifference(w), NULL));
    const double length = length_of(w, reach);
    if (!(length < 0.1)) {
      break;
    }
    take_step(w, 1);
    after += length < small || (length < 1e-9 && length >= last);
    last = length;
  }
  *converged = after >= enough;
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

static int not_found(mbg_context *ctx, const mbg__start_work *w, const descent *d) {
  char pushed[200];
  if (d->body < 0) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "no static equilibrium was found near the start");
  }
  mbg__format(pushed, sizeof(pushed), "body '%s' %s (%.3g, %.3g, %.3g), pushed by %.3g %s", w->m->bodies[d->body].name,
              d->turns ? "turns about" : "moves along", d->along[0], d->along[1], d->along[2], d->push,
              d->turns ? "N m" : "N");
  if (d->end == AWAY) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "no static equilibrium was found: %s, and nothing stops it", pushed);
  }
  return mbg__fail(
      ctx, MBG_ERROR_CONVERGENCE, "no static equilibrium was found near the start: the search ended where %s%s%s%s",
      pushed,
      d->corner ? ", to a point where a force has no direction (a spring of length 0, a polar angle at its centre)"
                : "",
      d->why[0] ? "; further on: " : "", d->why);
}

/* from where the frames are */
static int go(mbg_context *quiet, mbg__start_work *w, bool by_descent, descent *d, bool *found) {
  int err = MBG_OK;
  bool arrived = false;
  *found = false;
  if (by_descent) {
    MBG_TRY(w->m->nelement > 0 ? load_in_steps(quiet, w) : MBG_OK);
    MBG_TRY(descend(quiet, w, d));
    arrived = d->end == ARRIVED;
  } else {
    MBG_TRY(transient(quiet, w, &arrived));
  }
  if (arrived) {
    MBG_TRY(newton(quiet, w, reach_of(w, d), found));
  }
done:
  if (by_descent && arrived && !*found) {
    name_stuck(w, d);
  }
  return err;
}

/* both ways from the guess; what goes wrong on them is told to another context */
static int search(mbg_context *ctx, mbg__start_work *w, descent *d, bool *found) {
  const size_t frames = (size_t)w->m->nbody * sizeof(*w->before);
  int err = MBG_OK;
  mbg_context *quiet = NULL;
  mbg__frame *guess = NULL;
  MBG_TRY(mbg_context_create(&quiet, mbg__context_allocator(ctx)));
  guess = mbg__alloc(ctx, (size_t)w->m->nbody, sizeof(*guess));
  if (!guess) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  memcpy(guess, w->result.H, frames);
  for (int way = 0; way < 2 && !*found && err != MBG_ERROR_MEMORY; way++) {
    go_back(w, guess);
    mbg_context_clear(quiet);
    err = go(quiet, w, way == 0, d, found);
  }
  if (err == MBG_ERROR_MEMORY) {
    err = mbg__fail_memory(ctx);
  } else if (err < 0 && d->body < 0) { /* not even at the guess */
    err = mbg__fail(ctx, err, "%s", mbg_context_error(quiet));
  } else {
    err = MBG_OK;
  }
done:
  mbg__free(ctx, guess);
  mbg_context_destroy(quiet);
  return err;
}

int mbg__start_equilibrium(mbg_context *ctx, mbg__start_work *w) {
  descent d = {.end = STUCK, .body = -1};
  int err = MBG_OK;
  bool found = false;
  MBG_TRY(search(ctx, w, &d, &found));
  if (!found) {
    err = not_found(ctx, w, &d);
    goto done;
  }
  /* the factors of the solution serve the derivatives */
  MBG_TRY(full_update(ctx, w, w->k));
  const mbg__kkt_fill fill = {
      .K = w->K, .diagonal = indifference(w), .B = w->B, .keep = w->result.rank->keep, .eq = w->values};
  MBG_TRY(mbg__kkt_factor(ctx, w, &w->position, &fill, "equilibrium"));
  memcpy(w->result.lambda, w->k, (size_t)w->m->nrow * sizeof(real));
done:
  return err;
}
