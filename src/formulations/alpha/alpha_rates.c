/* Rows at velocity level (theory 8, section 5): rows on rates, chi = 0, and rows of positions that a joint imposes by
   their rate with decay, phid + beta phi = 0. In the step, scaled by h:

     h (phid + beta phi) = 0          row of the matrix  h (gp B + (Z + beta B) T)          Z = phid_H

   The multipliers of these rows act as those of all others. */
#include "formulations/alpha/alpha_work.h"

int mbg__alpha_rates_create(mbg_context *ctx, mbg__alpha *a) {
  const mbg_model *m = a->m;
  const int nB = mbg__csc_count(mbg__system_pattern_B(a->sys));
  bool any = false;
  for (int i = 0; i < m->nrow; i++) {
    any = any || m->rows[i].rate || m->rows[i].decay >= 0;
  }
  if (!any) {
    return MBG_OK;
  }
  a->rates = MBG_TAKE(&a->arena, bool, m->nrow);
  a->Z = MBG_TAKE(&a->arena, real, nB);
  a->BG = MBG_TAKE(&a->arena, real, nB);
  a->ZT = MBG_TAKE(&a->arena, real, nB);
  a->phid = MBG_TAKE(&a->arena, real, m->nrow);
  const int err = mbg__arena_check(ctx, &a->arena);
  for (int i = 0; err == MBG_OK && i < m->nrow; i++) {
    a->rates[i] = m->rows[i].rate || m->rows[i].decay >= 0;
  }
  return err;
}

real mbg__alpha_decay(const mbg__alpha *a, int row) {
  const int decay = a->m->rows[row].decay;
  return decay >= 0 ? mbg__system_design(a->sys)->attr[decay] : 0;
}

void mbg__alpha_rates_matrix(mbg__alpha *a, real h) {
  const mbg__csc *p = mbg__system_pattern_B(a->sys);
  const int n = mbg__csc_count(p);
  if (!a->rates) {
    return;
  }
  mbg__rotors_rows(a, a->B, a->BG, a->Z);
  mbg__columns_times(a->sys, p, a->Z, a->T, a->ZT);
  for (int e = 0; e < n; e++) {
    const int row = p->rowind[e];
    if (a->rates[row]) {
      a->BT[e] = h * (alpha_gp(a, h) * a->BG[e] + a->ZT[e] + mbg__alpha_decay(a, row) * a->BT[e]);
    }
  }
}

void mbg__alpha_rates_residual(const mbg__alpha *a, real h, real *x) {
  for (int i = 0; a->rates && i < a->m->nrow; i++) {
    if (a->rates[i]) {
      const real both = a->phid[i] + mbg__alpha_decay(a, i) * a->phi[i];
      x[i] = a->rank->keep[i] ? -h * both : 0;
    }
  }
}

void mbg__alpha_rates_push(const mbg__alpha *a, const real *da, real *dphid) {
  for (int i = 0; i < a->m->nrow; i++) {
    const int decay = a->m->rows[i].decay;
    dphid[i] += decay >= 0 ? da[decay] * a->phi[i] : 0;
  }
}

void mbg__alpha_rates_pull(const mbg__alpha *a, real h, real *nu, real *kappa, real *ga) {
  for (int i = 0; i < a->m->nrow; i++) {
    const int decay = a->m->rows[i].decay;
    kappa[i] = a->rates[i] ? h * nu[i] : 0;
    nu[i] = a->rates[i] ? mbg__alpha_decay(a, i) * kappa[i] : nu[i];
    if (decay >= 0) {
      ga[decay] += kappa[i] * a->phi[i];
    }
  }
}

/* Rows at velocity level drift, the rates of rows at position level hold to the order of the step alone, and dropped
   rows follow both. */
int mbg__alpha_rates_check(mbg_context *ctx, mbg__alpha *a, double t) {
  double drift = 0, slip = 0;
  for (int i = 0; a->rates && i < a->m->nrow; i++) {
    drift = a->rates[i] && a->rank->keep[i] ? fmax(drift, fabs(re(a->phi[i]))) : drift;
    slip = !a->rates[i] && a->rank->keep[i] ? fmax(slip, fabs(re(a->phid[i]))) : slip;
  }
  for (int i = 0; a->rates && i < a->m->nrow; i++) {
    const bool follows = fabs(re(a->phid[i])) <= 100 * slip;
    a->phi[i] = !a->m->rows[i].rate ? a->phi[i] : follows ? 0 : a->phid[i];
  }
  return mbg__rank_check(ctx, a->m, a->rank, t, a->phi, 1e-6 + 100 * drift);
}
