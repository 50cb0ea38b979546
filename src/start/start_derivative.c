/* Derivatives of the start: the same KKT systems, differentiated; transposed for adjoints.

     positions  KKT (w0, dk, dkp) = (A wbar - (B^T k + P^T kp)_a da,  -phi_a da,  dvalue - pin_a da)
     rates      KKT (v0', ..)     = (W vbar' - (B^T kv + ..)_H w0 - (..)_a da,  -phid_H w0 - phid_a da,  dvalue - ..)
   with A = metric T^-1(-d), because d log(Hbar^-1 H) = T^-1(d) w - T^-1(-d) wbar.

   Components of w outside the motions of a body follow the guess, w_m = (Ad(Hbar^-1 H)^-1 wbar)_m; they are part of the
   direction in which the equations are differentiated, and of w0. */
#include "start/start_internal.h"

/* ---------------------------------------------------------------------- states */

static bool is_equilibrium(const mbg__start_work *w) { return w->m->start == MBG__START_EQUILIBRIUM; }

bool mbg__start_any(size_t n, const real *x) {
  for (size_t i = 0; i < n; i++) {
    if (x[i] != 0) {
      return true;
    }
  }
  return false;
}

/* the system at the solution of the positions (with the multipliers of stage 3 or 4) or of the rates */
int mbg__start_state(mbg_context *ctx, mbg__start_work *w, bool rate) {
  const mbg__state state = {.t = w->result.t,
                            .H = w->result.H,
                            .v = rate                ? w->result.v
                                 : is_equilibrium(w) ? w->steady.still
                                                     : NULL,
                            .vd = is_equilibrium(w) && !rate ? w->steady.rest : NULL,
                            .lambda = rate ? w->kv : w->k,
                            .turns = w->result.turns};
  int err = MBG_OK;
  MBG_TRY(is_equilibrium(w) && !rate ? mbg__system_update(ctx, w->sys, &state)
                                     : mbg__system_update_bare(ctx, w->sys, &state));
  MBG_TRY(mbg__system_linearize(ctx, w->sys));
  mbg__pins_inject(w, rate ? w->rates : w->values, rate ? w->nrate : w->nvalue, rate ? w->kvp : w->kp);
done:
  return err;
}

/* A = metric T^-1(-d) of a body */
static void guess_matrix(const mbg__start_work *w, int body, real A[36]) {
  real minus[6], Ti[36];
  v6_scale(minus, -1, w->d[body]);
  mbg__se3_tangent_inv(Ti, minus);
  m6_mul(A, w->metric[body], Ti);
}

/* factors that the solution did not need; they use the scratch vectors of derivatives */
int mbg__start_factors(mbg_context *ctx, mbg__start_work *w) {
  const int err = mbg__start_position_factors(ctx, w);
  return err < 0 ? err : mbg__start_rate_factors(ctx, w);
}

/* ---------------------------------------------------------------------- outside the motions */

static void keep_masked(const mbg_model *m, int body, real x[6]) {
  for (int k = 0; k < 6; k++) {
    x[k] = m->dof[m->bodies[body].voff + k] < 0 ? x[k] : 0;
  }
}

/* Hbar^-1 H */
static void from_guess(const mbg__start_work *w, int body, mbg__frame *G) {
  frame_relative(G, &w->sys->design->poses[w->m->bodies[body].guess].h, &w->result.H[body]);
}

/* w_m of a body */
static void masked_push(const mbg__start_work *w, int body, const real wbar[6], real wm[6]) {
  mbg__frame G;
  from_guess(w, body, &G);
  AdInv_mul(wm, &G, wbar);
  keep_masked(w->m, body, wm);
}

static void masked_pull(const mbg__start_work *w, int body, real gm[6], real gbar[6]) {
  mbg__frame G;
  real g[6];
  keep_masked(w->m, body, gm);
  from_guess(w, body, &G);
  AdInvT_mul(g, &G, gm);
  v6_axpy(gbar, 1, g);
}

void mbg__start_pull_masked(const mbg__start_work *w, const real *gw, real *ga) {
  static const real zero[6] = {0};
  for (int b = 0; b < w->m->nbody; b++) {
    real gm[6], g[6] = {0};
    v6_copy(gm, gw + w->m->bodies[b].voff);
    masked_pull(w, b, gm, g);
    mbg__design_guess_pull(w->sys->design, b, g, zero, ga);
  }
}

/* ---------------------------------------------------------------------- forward */

static void right_rows(mbg__start_work *w, mbg__kkt *kkt, const real *dphi) {
  for (int i = 0; i < w->m->nrow; i++) {
    kkt->x[w->m->nv + i] = w->result.rank->keep[i] ? -dphi[i] : 0;
  }
}

static void right_pins(mbg__start_work *w, mbg__kkt *kkt, const mbg__equation *eq, bool rate, const mbg__direction *d) {
  for (int i = 0; i < kkt->npin; i++) {
    vec6 rw, rdv, rdvd, gw, gv;
    real *x = &kkt->x[w->m->nv + w->m->nrow + i];
    *x = 0;
    if (!eq[i].active) {
      continue;
    }
    mbg__kin_pair_push(w->sys, eq[i].pair, d, rw, rdv, rdvd);
    mbg__equation_gradient(w, &eq[i], rate, gw, gv);
    *x = d->da[eq[i].target] - v6_dot(gw, rw) - v6_dot(gv, rdv);
  }
}

static int breaks_assembly(mbg_context *ctx, const mbg__start_work *w, int row) {
  char label[160];
  mbg__row_label(w->m, row, label, sizeof(label));
  return mbg__fail(ctx, MBG_ERROR_INPUT,
                   "the mechanism cannot be assembled in the direction of this variation: the redundant %s would "
                   "contradict the other rows",
                   label);
}

/* right side of the positions, at their state; w0 has the components outside the motions then */
int mbg__start_right_positions(mbg_context *ctx, mbg__start_work *w, const real *da, real *w0) {
  const mbg_model *m = w->m;
  const mbg__direction d = {.w = w0, .dv = is_equilibrium(w) ? mbg__steady_direction(w, da) : NULL, .da = da};
  vn_zero(m->nw, w->full2);
  for (int b = 0; b < m->nbody; b++) {
    real wbar[6], vbar[6], A[36], x[6];
    const int off = m->bodies[b].voff;
    mbg__design_guess_push(w->sys->design, b, da, wbar, vbar);
    masked_push(w, b, wbar, w0 + off);
    /* most parameters leave the guess where it is */
    if (!is_equilibrium(w) && mbg__start_any(6, wbar)) {
      guess_matrix(w, b, A);
      m6_mulv(w->full2 + off, A, wbar);
      m6_mulv(x, w->block[b], w0 + off);
      v6_axpy(w->full2 + off, -1, x);
    }
  }
  mbg__system_push(w->sys, &d, w->full, w->row, NULL, NULL);
  double size = 0;
  for (int i = 0; i < m->na; i++) {
    size = fmax(size, fabs(re(da[i])));
  }
  const int bad = mbg__rank_inconsistent(m, w->result.rank, w->row, false, 1e-9 * size);
  if (bad >= 0) {
    return breaks_assembly(ctx, w, bad);
  }
  if (is_equilibrium(w)) {
    mbg__steady_residual(w, w->full);
  }
  for (int j = 0; j < m->nv; j++) {
    w->position.x[j] = w->full2[m->full[j]] - w->full[m->full[j]];
  }
  right_rows(w, &w->position, w->row);
  right_pins(w, &w->position, w->values, false, &d);
  return MBG_OK;
}

/* right side of the rates, at their state */
void mbg__start_right_rates(mbg__start_work *w, const real *da, const real *w0) {
  const mbg_model *m = w->m;
  const mbg__direction d = {.w = w0, .da = da};
  mbg__system_push(w->sys, &d, w->full, NULL, w->row, NULL);
  for (int b = 0; b < m->nbody; b++) {
    real wbar[6];
    mbg__design_guess_push(w->sys->design, b, da, wbar, w->full2 + m->bodies[b].voff);
  }
  for (int j = 0; j < m->nv; j++) {
    const int f = m->full[j];
    w->rate.x[j] = w->W[f] * w->full2[f] - w->full[f];
  }
  right_rows(w, &w->rate, w->row);
  right_pins(w, &w->rate, w->rates, true, &d);
}

/* a given state stays where it is: the direction must not move its rows */
static int push_given(mbg_context *ctx, mbg__start_work *w, const real *da, real *w0, real *v0) {
  const mbg__direction d = {.da = da};
  int err = MBG_OK;
  vn_zero(w->m->nw, w0);
  vn_zero(w->m->nw, v0);
  MBG_TRY(mbg__start_state(ctx, w, true));
  mbg__system_push(w->sys, &d, NULL, w->row, w->row2, NULL);
  for (int i = 0; i < w->m->nrow; i++) {
    if (w->row[i] != 0 || w->row2[i] != 0) {
      char label[160];
      mbg__row_label(w->m, i, label, sizeof(label));
      err = mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                      "this variation moves the %s, which the given start of the run would then violate", label);
      break;
    }
  }
done:
  return err;
}

int mbg__start_push_column(mbg_context *ctx, mbg__start_work *w, int p, const real *da, real *w0, real *v0) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  MBG_TRY(mbg__start_note_moving(ctx, w));
  if (w->given) {
    MBG_TRY(w->follows ? mbg__start_follow_push(ctx, w, da, w0, v0) : push_given(ctx, w, da, w0, v0));
    mbg__start_add_change(w, p, false, w0, v0);
  } else if (mbg__start_stays(w, da)) {
    vn_zero(m->nw, w0);
    vn_zero(m->nw, v0);
    mbg__start_add_change(w, p, false, w0, v0);
  } else {
    MBG_TRY(mbg__start_factors(ctx, w));
    MBG_TRY(mbg__start_state(ctx, w, false));
    MBG_TRY(mbg__start_right_positions(ctx, w, da, w0));
    mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
    mbg__to_full(m, 1, w->position.x, w0);
    if (is_equilibrium(w)) {
      mbg__steady_solution(w, w0);
    }
    MBG_TRY(mbg__start_state(ctx, w, true));
    mbg__start_right_rates(w, da, w0);
    mbg__klu_solve(w->rate.saddle.klu, w->rate.x, 1);
    vn_zero(m->nw, v0);
    mbg__to_full(m, 1, w->rate.x, v0);
    mbg__start_add_change(w, p, false, w0, v0);
    MBG_TRY(mbg__steady_push(ctx, w, da, w0, v0));
  }
  mbg__start_add_change(w, p, true, w0, v0);
done:
  return err;
}

int mbg__start_push(mbg_context *ctx, mbg__start_work *w, const real *da, real *w0, real *v0) {
  return mbg__start_push_column(ctx, w, -1, da, w0, v0);
}

/* ---------------------------------------------------------------------- transposed */

/* solves the transposed system for a cotangent (nw) of the velocities; -z in `full`, -multipliers of rows in `row` */
static void solve_T(mbg__start_work *w, mbg__kkt *kkt, const real *g) {
  const mbg_model *m = w->m;
  vn_zero(kkt->n, kkt->x);
  mbg__to_free(m, 1, g, kkt->x);
  mbg__klu_solve_T(kkt->saddle.klu, kkt->x, 1);
  vn_zero(m->nw, w->full);
  mbg__to_full(m, -1, kkt->x, w->full);
  for (int i = 0; i < m->nrow; i++) {
    w->row[i] = w->result.rank->keep[i] ? -kkt->x[m->nv + i] : 0;
  }
}

static void pull_pins(mbg__start_work *w, const mbg__kkt *kkt, const mbg__equation *eq, bool rate, real *gw, real *ga) {
  for (int i = 0; i < kkt->npin; i++) {
    const real z = kkt->x[w->m->nv + w->m->nrow + i];
    vec6 rw, rv;
    if (!eq[i].active) {
      continue;
    }
    ga[eq[i].target] += z;
    mbg__equation_gradient(w, &eq[i], rate, rw, rv);
    v6_scale(rw, -z, rw);
    v6_scale(rv, -z, rv);
    mbg__kin_pair_pull(w->sys, eq[i].pair, rw, rv, NULL, &(mbg__cotangent){.w = gw, .a = ga});
  }
}

/* full = -z of the rates, full2 = gw with what they say about the frames, full3 into the rates of the guess */
static int pull_rates(mbg_context *ctx, mbg__start_work *w, const real *gw, const real *gv, real *ga) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  MBG_TRY(mbg__start_state(ctx, w, true));
  solve_T(w, &w->rate, gv);
  vn_copy(m->nw, w->full2, gw);
  mbg__system_pull(w->sys, w->full, NULL, w->row, NULL, w->full2, NULL, NULL, NULL, ga);
  pull_pins(w, &w->rate, w->rates, true, w->full2, ga);
  for (int i = 0; i < m->nw; i++) {
    w->full3[i] = -w->W[i] * w->full[i];
  }
done:
  return err;
}

/* the positions by full2, and the guesses */
static int pull_positions(mbg_context *ctx, mbg__start_work *w, real *ga) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  MBG_TRY(mbg__start_state(ctx, w, false));
  real *given = is_equilibrium(w) ? mbg__steady_cotangent(w) : NULL;
  if (is_equilibrium(w)) {
    mbg__steady_right_side(w, w->full2);
  }
  solve_T(w, &w->position, w->full2);
  if (is_equilibrium(w)) {
    mbg__steady_residual(w, w->full);
  }
  vn_copy(m->nw, w->full4, w->full2);
  mbg__system_pull(w->sys, w->full, w->row, NULL, NULL, w->full4, given, NULL, NULL, ga);
  if (given) {
    mbg__steady_given_pull(w, w->full3);
  }
  pull_pins(w, &w->position, w->values, false, w->full4, ga);
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real A[36], x[6], g[6] = {0};
    if (!is_equilibrium(w)) {
      guess_matrix(w, b, A);
      m6_mulv_T(g, A, w->full + off);
      v6_scale(g, -1, g);
      m6_mulv_T(x, w->block[b], w->full + off);
      v6_axpy(w->full4 + off, 1, x);
    }
    masked_pull(w, b, w->full4 + off, g);
    mbg__design_guess_pull(w->sys->design, b, g, w->full3 + off, ga);
  }
done:
  return err;
}

int mbg__start_pull(mbg_context *ctx, mbg__start_work *w, const real *gw, const real *gv, real *ga) {
  const real *states = gv;
  bool follows;
  int err = MBG_OK;
  if (w->given) {
    mbg__start_keep_cotangents(w, gw, gv, gv);
    return w->follows ? mbg__start_follow_pull(ctx, w, gw, gv, ga) : MBG_OK;
  }
  MBG_TRY(mbg__start_note_moving(ctx, w));
  if (!w->keep_w && mbg__start_stays_for_all(w)) {
    return MBG_OK;
  }
  MBG_TRY(mbg__start_follows_guess(ctx, w, &follows));
  if (follows) {
    mbg__start_pull_guess(w, gw, gv, ga);
    return MBG_OK;
  }
  MBG_TRY(mbg__start_factors(ctx, w));
  MBG_TRY(mbg__steady_pull(ctx, w, &gw, &gv, ga));
  mbg__start_keep_cotangents(w, gw, gv, states);
  MBG_TRY(pull_rates(ctx, w, gw, gv, ga));
  MBG_TRY(pull_positions(ctx, w, ga));
done:
  return err;
}
