/* Assembly of positions (stage 1 of start.c): damped steps of least motion to a feasible configuration. */
#include "start/start_internal.h"

#include <string.h>

enum { CUTS = 12, FEASIBLE_MAX = 400 }; /* each step comes nearer; rows on sharply bent curves need many short ones */

static const double feasible_goal = 1e-13; /* scaled residual at which stage 1 ends */
static const double regular = 1e-10;       /* relative regularisation of stage 1: redundant rows */

/* ---------------------------------------------------------------------- states and residuals */

int mbg__start_bare(mbg_context *ctx, mbg__start_work *w, const mbg__frame *H, const real *v, const real *lambda) {
  const mbg__state state = {.t = w->result.t, .H = H, .v = v, .lambda = lambda, .turns = w->result.turns};
  return mbg__system_update_bare(ctx, w->sys, &state);
}

void mbg__start_nearest_turns(mbg__start_work *w) {
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
  mbg__start_nearest_turns(w);
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

double mbg__start_step_factor(const mbg__start_work *w, const real *x) {
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

bool mbg__start_beyond(mbg_context *ctx, int mark, int err) {
  if (err != MBG_ERROR_INPUT && err != MBG_ERROR_SINGULAR && err != MBG_ERROR_CONVERGENCE) {
    return false;
  }
  mbg__message_rewind(ctx, mark);
  return true;
}

/* the residual at a trial, infinite where elements have no value; the last trial fails there */
static int trial_residuals(mbg_context *ctx, mbg__start_work *w, bool pins, bool last, double *largest, int *worst) {
  const int mark = mbg__message_mark(ctx), err = mbg__start_residuals(ctx, w, w->trial, pins, largest, worst);
  if (last || !mbg__start_beyond(ctx, mark, err)) {
    return err;
  }
  *largest = INFINITY;
  return MBG_OK;
}

/* shortens the step until the largest residual falls; returns false when it does not */
static int line_search(mbg_context *ctx, mbg__start_work *w, bool pins, double *largest, int *worst, bool *better) {
  mbg__frame *H = w->result.H;
  const double before = *largest, length = mbg__start_step_length(w, w->position.x);
  double step = mbg__start_step_factor(w, w->position.x);
  int err = MBG_OK;
  *better = false;
  for (int cut = 0; cut < CUTS; cut++, step /= 2) {
    mbg__system_retract(w->m, H, step, w->position.x, w->trial);
    MBG_TRY(trial_residuals(ctx, w, pins, cut == CUTS - 1, largest, worst));
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

int mbg__start_restore(mbg_context *ctx, mbg__start_work *w, bool pins, double *largest, int *worst) {
  int err = MBG_OK;
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

int mbg__start_feasible(mbg_context *ctx, mbg__start_work *w, bool pins, double *largest, int *worst) {
  for (int i = 0; i < w->nvalue; i++) {
    w->values[i].active = pins;
  }
  return mbg__start_restore(ctx, w, pins, largest, worst);
}
