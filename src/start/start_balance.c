/* Forces at a configuration, the multipliers that balance them, and steps of the search for an equilibrium. */
#include "start/start_equilibrium.h"

#include <string.h>

int mbg__balance_constraints(mbg_context *ctx, mbg__start_work *w, const real *lambda) {
  const mbg__state state = {.t = w->result.t,
                            .H = w->result.H,
                            .v = mbg__steady_twists(w),
                            .vd = w->steady.rest,
                            .lambda = lambda,
                            .turns = w->result.turns};
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

int mbg__balance_update(mbg_context *ctx, mbg__start_work *w, const real *lambda) {
  int err = MBG_OK;
  MBG_TRY(mbg__balance_constraints(ctx, w, lambda));
  MBG_TRY(mbg__system_update_forces(ctx, w->sys));
  MBG_TRY(mbg__system_linearize(ctx, w->sys));
  mbg__system_residual(w->sys, w->full, w->phi, NULL, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.K = w->K, .B = w->B, .late = w->steady.by_lambda});
  mbg__steady_stiffness(w, w->full);
done:
  return err;
}

mbg__step_motion mbg__balance_motion(const mbg__start_work *w, const real *x) {
  const mbg_model *m = w->m;
  mbg__step_motion a = {0};
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

double mbg__balance_length(const mbg__start_work *w, double reach) {
  const mbg__step_motion a = mbg__balance_motion(w, w->position.x);
  return isfinite(a.shift) && isfinite(a.turn) ? fmax(a.shift / reach, a.turn) : INFINITY;
}

int mbg__balance(mbg_context *ctx, mbg__start_work *w, double *size) {
  const mbg_model *m = w->m;
  const mbg__kkt_fill fill = {.diagonal = 1, .B = w->B, .keep = w->result.rank->keep, .eq = w->values};
  int err = MBG_OK;
  MBG_TRY(mbg__balance_update(ctx, w, w->k));
  MBG_TRY(mbg__kkt_factor(ctx, w, &w->position, &fill, "equilibrium"));
  mbg__to_free(m, -1, w->full, w->position.x);
  vn_zero(m->nrow, w->position.x + m->nv);
  mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
  *size = 0;
  for (int j = 0; j < m->nv; j++) {
    const double own = fabs(re(w->position.x[j])) * sqrt(w->W[m->full[j]]) / m->size;
    *size = own <= *size ? *size : own;
  }
  for (int i = 0; i < m->nrow; i++) {
    w->k[i] += w->position.x[m->nv + i];
  }
  MBG_TRY(mbg__balance_update(ctx, w, w->k));
done:
  return err;
}

int mbg__balance_solve(mbg_context *ctx, mbg__start_work *w, double sigma, mat6 *block) {
  const mbg_model *m = w->m;
  const mbg__kkt_fill fill = {.K = w->K,
                              .body = block,
                              .diagonal = sigma,
                              .B = w->B,
                              .late = w->steady.by_lambda,
                              .keep = w->result.rank->keep,
                              .eq = w->values};
  const int err = mbg__kkt_factor(ctx, w, &w->position, &fill, "equilibrium");
  if (err < 0) {
    return err;
  }
  mbg__to_free(m, -1, w->full, w->position.x);
  mbg__start_right_side(w, &w->position, w->result.rank->keep, w->values);
  mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
  return MBG_OK;
}

void mbg__balance_step(mbg__start_work *w, double step) {
  mbg__start_take_step(w, step);
  w->result.iterations++;
}

void mbg__balance_keep(mbg__start_work *w) {
  memcpy(w->before, w->result.H, (size_t)w->m->nbody * sizeof(*w->before));
  vn_copy(w->m->nrow, w->row2, w->k);
  vn_copy(w->m->ncoord, w->angles_before, w->angles);
}

void mbg__balance_restore(mbg__start_work *w) {
  memcpy(w->result.H, w->before, (size_t)w->m->nbody * sizeof(*w->before));
  vn_copy(w->m->nrow, w->k, w->row2);
  vn_copy(w->m->ncoord, w->angles, w->angles_before);
}
