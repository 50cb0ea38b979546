/* Assembly of positions (stages 1 and 3 of start.c): damped steps of least motion to a feasible configuration, then
   Newton's method on the KKT system of the nearest one. */
#include "start/start_internal.h"

#include <string.h>

enum { FEASIBLE_MAX = 100, NEAREST_MAX = 60 };

static const double feasible_goal = 1e-13; /* scaled residual at which stage 1 ends */
static const double regular = 1e-10;       /* relative regularisation of stage 1: redundant rows */

/* ---------------------------------------------------------------------- states and residuals */

int mbg__start_bare(mbg_context *ctx, mbg__start_work *w, const mbg__frame *H, const real *v, const real *lambda) {
  const mbg__state state = {.t = w->result.t, .H = H, .v = v, .lambda = lambda, .turns = w->result.turns};
  return mbg__system_update_bare(ctx, w->sys, &state);
}

/* turn counters of pinned angles: nearest to the value asked for */
static void nearest_turns(mbg__start_work *w) {
  for (int i = 0; i < w->nvalue; i++) {
    const mbg__term *t = &w->values[i].term;
    if (t->turn < 0) {
      continue;
    }
    mbg__term_in in;
    mbg__term_value q;
    mbg__term_in_of(w->sys, t, &in);
    in.turns = 0;
    mbg__term_eval(t, &in, &q, NULL);
    const double away = re(w->sys->design->attr[w->values[i].target] - q.phi);
    w->result.turns[t->turn] = (int)(t->sign * floor(away / (2 * M_PI) + 0.5));
    w->sys->turns[t->turn] = w->result.turns[t->turn];
  }
}

int mbg__start_residuals(mbg_context *ctx, mbg__start_work *w, const mbg__frame *H, bool pins, double *largest,
                         int *worst) {
  const mbg__csc *p = &w->sys->patB;
  const int err = mbg__start_bare(ctx, w, H, NULL, NULL);
  if (err < 0) {
    return err;
  }
  nearest_turns(w);
  mbg__system_residual(w->sys, NULL, w->phi, NULL, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.B = w->B});
  vn_zero(w->m->nrow, w->row);
  for (int j = 0; j < w->m->nv; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      w->row[p->rowind[i]] += w->B[i] * w->B[i] / w->W[w->m->full[j]];
    }
  }
  *largest = 0;
  *worst = -1;
  for (int i = 0; i < w->m->nrow; i++) {
    const double l = sqrt(re(w->row[i]));
    const double x = fabs(re(w->phi[i])) / ((l > 1e-300 ? l : 1) * w->m->size);
    if (!(x <= *largest)) {
      *largest = x;
      *worst = i;
    }
  }
  for (int i = 0; i < w->nvalue; i++) {
    mbg__equation_value(w, &w->values[i], false, &w->pin[i], w->gradient[i]);
    const real l2 = v6_dot(w->gradient[i], w->gradient[i]);
    const double x = fabs(re(w->pin[i])) / fmax(sqrt(re(l2)) * w->m->size, 1e-300);
    if (pins && w->values[i].active && !(x <= *largest)) {
      *largest = x;
      *worst = w->m->nrow + i;
    }
  }
  return MBG_OK;
}

double mbg__start_step_length(const mbg__start_work *w, const real *x) {
  double most = 0;
  for (int j = 0; j < w->m->nv; j++) {
    most = fmax(most, fabs(re(x[j])) * sqrt(w->W[w->m->full[j]]) / w->m->size);
  }
  return most;
}

/* Steps are shortened to half a radian: rotations are what makes the rows nonlinear. */
static double step_factor(const mbg__start_work *w, const real *x) {
  double most = 0;
  for (int b = 0; b < w->m->nbody; b++) {
    for (int k = 3; k < 6; k++) {
      const int j = w->m->dof[w->m->bodies[b].voff + k];
      most = j >= 0 ? fmax(most, fabs(re(x[j]))) : most;
    }
  }
  return most > 0.5 ? 0.5 / most : 1;
}

void mbg__start_right_side(mbg__start_work *w, mbg__kkt *kkt, const bool *keep, const mbg__equation *eq) {
  for (int i = 0; i < w->m->nrow; i++) {
    kkt->x[w->m->nv + i] = !keep || keep[i] ? -w->phi[i] : 0;
  }
  for (int i = 0; i < kkt->npin; i++) {
    kkt->x[w->m->nv + w->m->nrow + i] = eq[i].active ? -w->pin[i] : 0;
  }
}

/* ---------------------------------------------------------------------- stage 1: feasible */

/* shortens the step until the largest residual falls; returns false when it does not */
static int line_search(mbg_context *ctx, mbg__start_work *w, bool pins, double *largest, int *worst, bool *better) {
  mbg__frame *H = w->result.H;
  const double before = *largest, length = mbg__start_step_length(w, w->position.x);
  double step = step_factor(w, w->position.x);
  int err = MBG_OK;
  *better = false;
  for (int cut = 0; cut < 12; cut++, step /= 2) {
    mbg__system_retract(w->m, H, step, w->position.x, w->trial);
    MBG_TRY(mbg__start_residuals(ctx, w, w->trial, pins, largest, worst));
    if (*largest < before * (1 - 0.1 * step) || (*largest <= before && step * length < 1e-9)) {
      *better = *largest < before;
      memcpy(H, w->trial, (size_t)w->m->nbody * sizeof(*H));
      break;
    }
  }
  if (!*better) {
    err = mbg__start_residuals(ctx, w, H, pins, largest, worst);
  }
done:
  return err;
}

int mbg__start_feasible(mbg_context *ctx, mbg__start_work *w, bool pins, double *largest, int *worst) {
  int err = MBG_OK;
  for (int i = 0; i < w->nvalue; i++) {
    w->values[i].active = pins;
  }
  MBG_TRY(mbg__start_residuals(ctx, w, w->result.H, pins, largest, worst));
  for (int it = 0; it<FEASIBLE_MAX && * largest> feasible_goal; it++) {
    bool better;
    const mbg__kkt_fill fill = {.diagonal = 1, .B = w->B, .delta = regular, .eq = w->values, .gradient = w->gradient};
    MBG_TRY(mbg__kkt_factor(ctx, w, &w->position, &fill, "assembly"));
    vn_zero(w->m->nv, w->position.x);
    mbg__start_right_side(w, &w->position, NULL, w->values);
    mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
    MBG_TRY(line_search(ctx, w, pins, largest, worst, &better));
    w->result.iterations++;
    if (!better) {
      break;
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- stage 3: nearest */

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
  nearest_turns(w);
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

int mbg__start_nearest(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK, after = 0;
  double last = INFINITY;
  bool newton = false;
  vn_zero(w->m->nrow, w->k);
  vn_zero(w->m->npin, w->kp);
  w->position.due = !MBG__TWIN && w->result.guess_phi <= (w->brief ? MBG__BRIEF_FITS : MBG__GUESS_FITS);
  if (w->position.due) {
    return MBG_OK;
  }
  for (int it = 0; it < NEAREST_MAX; it++) {
    MBG_TRY(nearest_fill(ctx, w, newton));
    mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
    const double length = mbg__start_step_length(w, w->position.x);
    if (!isfinite(length)) {
      err = not_converged(ctx, w, length);
      goto done;
    }
    mbg__start_take_step(w, step_factor(w, w->position.x));
    w->result.iterations++;
    /* Newton pays near the solution; after convergence two more steps carry derivatives to rounding */
    newton = newton || length < 1e-2 || it > NEAREST_MAX / 2;
    if (newton && (length < 1e-13 || (length < 1e-10 && length >= last)) && ++after > 2) {
      break;
    }
    last = length;
    if (it == NEAREST_MAX - 1 && length > 1e-10) {
      err = not_converged(ctx, w, length);
    }
  }
  MBG_TRY(err);
  MBG_TRY(nearest_fill(ctx, w, true));
done:
  return err;
}
