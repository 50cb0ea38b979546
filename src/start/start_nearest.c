/* Assembly of positions (stage 3 of start.c): from a feasible configuration to the one nearest to the guesses, by
   Gauss-Newton, then Newton's method on its KKT system. Where the first steps lead away from the rows without coming
   near a solution, the way begins again along the rows: shorter steps, each of which ends feasible and nearer. */
#include "start/start_internal.h"

#include <string.h>

enum { FREE_MAX = 16, NEAREST_MAX = 60, ALONG_MAX = 200, CUT_MAX = 20 };

/* steps of Gauss-Newton from which on Newton's method is used; the second one where it has failed from the first */
static const double newton_from[2] = {1e-2, 1e-4};

/* ---------------------------------------------------------------------- the KKT system */

/* gradient of the metric per body, T^-T(d) W d, into x (free components, negative), and the derivative by d */
static void metric_update(mbg__start_work *w, const mbg__frame *H, real *g) {
  const mbg_model *m = w->m;
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    mbg__frame D;
    real Ti[36], y[6];
    frame_relative(&D, &w->sys->design->poses[m->bodies[b].guess].h, &H[b]);
    mbg__se3_log(w->d[b], &D);
    mbg__se3_tangent_inv(Ti, w->d[b]);
    for (int k = 0; k < 6; k++) {
      y[k] = w->W[off + k] * w->d[b][k];
    }
    m6_mulv_T(g + off, Ti, y);
    mbg__se3_dtangent_invT(w->metric[b], w->d[b], y);
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < 6; j++) {
        w->metric[b][6 * i + j] += Ti[6 * j + i] * w->W[off + j];
      }
    }
    m6_mul(w->block[b], w->metric[b], Ti);
  }
}

/* everything of the KKT system at H: residual in x; `newton` adds the curvature of rows and pins */
static int nearest_fill(mbg_context *ctx, mbg__start_work *w, bool newton) {
  const mbg_model *m = w->m;
  const bool *keep = w->result.rank->keep;
  int err = MBG_OK;
  for (int i = 0; i < m->nrow; i++) {
    w->k[i] = keep[i] ? w->k[i] : 0;
  }
  MBG_TRY(mbg__start_bare(ctx, w, w->result.H, NULL, w->k));
  mbg__start_nearest_turns(w);
  MBG_TRY(mbg__system_linearize(ctx, w->sys));
  for (int i = 0; i < w->nvalue; i++) {
    mbg__equation_value(w, &w->values[i], false, &w->pin[i], w->gradient[i]);
  }
  mbg__pins_inject(w, w->values, w->nvalue, w->kp);
  mbg__system_residual(w->sys, w->full, w->phi, NULL, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.K = w->K, .B = w->B});
  metric_update(w, w->result.H, w->full2);
  const mbg__kkt_fill fill = {
      .K = newton ? w->K : NULL, .body = w->block, .B = w->B, .keep = keep, .eq = w->values, .gradient = w->gradient};
  MBG_TRY(mbg__kkt_factor(ctx, w, &w->position, &fill, "assembly"));
  for (int j = 0; j < m->nv; j++) {
    w->position.x[j] = -w->full[m->full[j]] - w->full2[m->full[j]];
  }
  mbg__start_right_side(w, &w->position, keep, w->values);
done:
  return err;
}

void mbg__start_take_step(mbg__start_work *w, double step) {
  const mbg_model *m = w->m;
  mbg__system_retract(m, w->result.H, step, w->position.x, w->result.H);
  for (int i = 0; i < m->nrow; i++) {
    w->k[i] += step * w->position.x[m->nv + i];
  }
  for (int i = 0; i < w->nvalue; i++) {
    w->kp[i] += w->values[i].active ? step * w->position.x[m->nv + m->nrow + i] : 0;
  }
}

static int not_converged(mbg_context *ctx, const mbg__start_work *w, double length) {
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                   "the nearest consistent configuration was not found (last step %.2e of the model's size); improve "
                   "the guesses or pin the freedoms of model '%s'",
                   length, w->m->name ? w->m->name : "");
}

int mbg__start_position_factors(mbg_context *ctx, mbg__start_work *w) {
  const int err = w->position.due ? nearest_fill(ctx, w, true) : MBG_OK;
  w->position.due = false;
  return err;
}

/* ---------------------------------------------------------------------- along the rows */

/* half the squared distance from the guesses in the metric */
static double distance(const mbg__start_work *w, const mbg__frame *H) {
  const mbg_model *m = w->m;
  double sum = 0;
  for (int b = 0; b < m->nbody; b++) {
    mbg__frame D;
    vec6 d;
    frame_relative(&D, &w->sys->design->poses[m->bodies[b].guess].h, &H[b]);
    mbg__se3_log(d, &D);
    for (int k = 0; k < 6; k++) {
      sum += 0.5 * w->W[m->bodies[b].voff + k] * re(d[k]) * re(d[k]);
    }
  }
  return sum;
}

/* a step of Gauss-Newton from result.H, shortened by `cut`, and back onto the rows: the length of the whole step, and
   the distance where it ends, infinity off the rows */
static int step_along(mbg_context *ctx, mbg__start_work *w, double cut, double *length, double *ends) {
  const int mark = mbg__message_mark(ctx);
  int err, worst;
  double off = INFINITY;
  MBG_TRY(nearest_fill(ctx, w, false));
  mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
  *length = mbg__start_step_length(w, w->position.x);
  *ends = INFINITY;
  if (isfinite(*length)) {
    mbg__start_take_step(w, cut * mbg__start_step_factor(w, w->position.x));
    err = mbg__start_restore(ctx, w, true, &off, &worst);
    if (mbg__start_beyond(ctx, mark, err)) {
      off = INFINITY;
      err = MBG_OK;
    }
    MBG_TRY(err);
    *ends = off <= MBG__FEASIBLE ? distance(w, w->result.H) : INFINITY;
  }
  w->result.iterations++;
done:
  return err;
}

/* steps along the rows until one is shorter than `enough`, or none leads nearer */
static int go_along(mbg_context *ctx, mbg__start_work *w, double enough) {
  const size_t frames = (size_t)w->m->nbody * sizeof(*w->before);
  int err = MBG_OK;
  double length = INFINITY;
  for (int it = 0; it < ALONG_MAX && length >= enough; it++) {
    const double now = distance(w, w->result.H);
    double cut = 1, ends = INFINITY;
    memcpy(w->before, w->result.H, frames);
    for (int i = 0; i < CUT_MAX; i++, cut /= 2) {
      MBG_TRY(step_along(ctx, w, cut, &length, &ends));
      if (ends < now) {
        break;
      }
      memcpy(w->result.H, w->before, frames);
    }
    if (!(ends < now)) {
      break;
    }
  }
  vn_zero(w->m->nrow, w->k);
  vn_zero(w->m->npin, w->kp);
done:
  return err;
}

/* ---------------------------------------------------------------------- stage 3 */

/* Gauss-Newton without a limit for the rows, while it leads near a solution; else along the rows */
static int come_near(mbg_context *ctx, mbg__start_work *w) {
  const size_t frames = (size_t)w->m->nbody * sizeof(*w->feasible);
  const int mark = mbg__message_mark(ctx);
  int err = MBG_OK;
  memcpy(w->feasible, w->result.H, frames);
  for (int it = 0; it < FREE_MAX; it++) {
    err = nearest_fill(ctx, w, false);
    if (it > 0 && mbg__start_beyond(ctx, mark, err)) {
      break;
    }
    MBG_TRY(err);
    mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
    const double length = mbg__start_step_length(w, w->position.x);
    if (!isfinite(length)) {
      break;
    }
    mbg__start_take_step(w, mbg__start_step_factor(w, w->position.x));
    w->result.iterations++;
    if (length < newton_from[0]) {
      goto done;
    }
  }
  memcpy(w->result.H, w->feasible, frames);
  err = go_along(ctx, w, newton_from[0]);
done:
  return err;
}

/* Newton's method; *length: of its last step */
static int newton(mbg_context *ctx, mbg__start_work *w, double *length) {
  int err = MBG_OK, after = 0;
  double last = INFINITY;
  *length = INFINITY;
  for (int it = 0; it < NEAREST_MAX; it++, last = *length) {
    MBG_TRY(nearest_fill(ctx, w, true));
    mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
    *length = mbg__start_step_length(w, w->position.x);
    if (!isfinite(*length)) {
      break;
    }
    mbg__start_take_step(w, mbg__start_step_factor(w, w->position.x));
    w->result.iterations++;
    /* after convergence two more steps carry derivatives to rounding */
    if ((*length < 1e-13 || (*length < 1e-10 && *length >= last)) && ++after > 2) {
      break;
    }
  }
done:
  return err;
}

int mbg__start_nearest(mbg_context *ctx, mbg__start_work *w) {
  const int mark = mbg__message_mark(ctx);
  int err = MBG_OK;
  double length;
  vn_zero(w->m->nrow, w->k);
  vn_zero(w->m->npin, w->kp);
  w->position.guess = !MBG__TWIN && w->result.guess_phi <= (w->brief ? MBG__BRIEF_FITS : MBG__GUESS_FITS);
  w->position.due = w->position.guess;
  if (w->position.guess) {
    return MBG_OK;
  }
  MBG_TRY(come_near(ctx, w));
  err = newton(ctx, w, &length);
  if (mbg__start_beyond(ctx, mark, err) || (err == MBG_OK && !(length <= 1e-10))) {
    memcpy(w->result.H, w->feasible, (size_t)w->m->nbody * sizeof(*w->feasible));
    MBG_TRY(go_along(ctx, w, newton_from[1]));
    err = newton(ctx, w, &length);
  }
  MBG_TRY(err);
  if (!(length <= 1e-10)) {
    err = not_converged(ctx, w, length);
    goto done;
  }
  MBG_TRY(nearest_fill(ctx, w, true));
done:
  return err;
}
