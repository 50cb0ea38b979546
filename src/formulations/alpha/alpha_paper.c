/* With accelerations and multipliers folded out of the integrand, [M B^T; B 0](ze, ke) = -(h_a, h_l), hr_X = h_X + ze^T r_X + ke^T
   phidd_X:

     y' = hr_H + ad(v)^T y + K^T z + B^T mu        (M z)' = hr_v - y + C^T z        B z = 0

   at the end, with Sr the folded end value,
     [M B^T; B 0](z, nu2) = (-Sr_v, 0)             y0 = -Sr_H - phid_H^T nu2
     [M B^T; B 0](z', -nu1) = (hr_v - y0 + C^T z - M' z, -B' z),  B' = phid_H + B ad(v)         y = y0 - B^T nu1
   gradient = Sr_p + phid_p^T nu2 + phi_p^T nu1 + int (hr_p + r_p^T z + phi_p^T mu) dt - w0^T y(0) - v0'^T (M z)(0).

   Backward BDF2 after one BDF1 step; y eliminated: with E = c0 + ad(v) and R the part of later nodes,
     Q^T (z, mu) = (R_y - hr_H - E^T (hr_v - R_s), 0),    Q = [[(c0 M + C) E + K, B^T], [B, 0]]. */
#include "formulations/alpha/alpha_paper.h"

#include "formulations/alpha/alpha_continuous_internal.h"

#include <string.h>

/* hr_H, hr_v, hr_p take the places of h_H, h_v, h_p */
static void fold_integrand(mbg__alpha_continuous *s) {
  const mbg_model *m = s->a->m;
  mbg__adj_fold(s, s->ha, s->hl);
  for (int i = 0; i < m->nw; i++) {
    s->hw[i] += s->pw[i];
    s->hv[i] += s->pv[i];
  }
  for (int i = 0; i < m->na; i++) {
    s->hp[i] += s->pp[i];
  }
  mbg__adj_mask(m, s->hw), mbg__adj_mask(m, s->hv);
}

static void fold_value(mbg__alpha_continuous *s, real *ga) {
  const mbg_model *m = s->a->m;
  mbg__adj_fold(s, s->sa, s->sl);
  for (int i = 0; i < m->nw; i++) {
    s->sw[i] += s->pw[i];
    s->sv[i] += s->pv[i];
  }
  for (int i = 0; i < m->na; i++) {
    ga[i] += s->sp[i] + s->pp[i];
  }
  mbg__adj_mask(m, s->sw), mbg__adj_mask(m, s->sv);
}

/* B' z = phid_H z + B ad(v) z into `out` */
static void rate_of_B(mbg__alpha_continuous *s, const mbg__node *node, real *out) {
  const mbg_model *m = s->a->m;
  const mbg__direction d = {.w = s->z};
  mbg__system_push(s->a->sys, &d, NULL, NULL, s->kappa, NULL);
  for (int b = 0; b < m->nbody; b++) {
    ad_mul(s->sa + m->bodies[b].voff, node->v + m->bodies[b].voff, s->z + m->bodies[b].voff);
  }
  mbg__adj_mask(m, s->sa);
  mbg__system_B_mul(s->a->sys, s->sa, out);
  for (int i = 0; i < m->nrow; i++) {
    out[i] += s->kappa[i];
  }
}

/* consistent end conditions */
static void begin(mbg__alpha_continuous *s, const mbg__node *node, mbg__adj_level *now, real *ga) {
  const mbg_model *m = s->a->m;
  fold_value(s, ga);
  for (int i = 0; i < m->nw; i++) {
    s->sv[i] = -s->sv[i];
  }
  mbg__adj_clear(m->nrow, s->sl);
  mbg__adj_algebraic(s, s->sv, s->sl);
  /* y0 = -Sr_H - phid_H^T nu2; nu2 stands in kappa */
  for (int i = 0; i < m->nw; i++) {
    now->y[i] = -s->sw[i];
  }
  mbg__adj_clear(m->nw, s->pw);
  mbg__system_pull(s->a->sys, NULL, NULL, s->kappa, NULL, s->pw, NULL, NULL, NULL, ga);
  vn_axpy(m->nw, now->y, -1, s->pw);
  /* M z and C^T z alone */
  mbg__adj_clear(m->nrow, s->kappa);
  mbg__adj_pull(s);
  vn_copy(m->nw, now->s, s->pd);
  for (int i = 0; i < m->nw; i++) {
    s->sv[i] = s->hv[i] - now->y[i] + s->pv[i];
  }
  mbg__system_mass_rate(s->a->sys, -1, s->z, s->sv);
  rate_of_B(s, node, s->sl);
  vn_scale(m->nrow, s->sl, -1, s->sl);
  const real *z = s->z;
  memcpy(s->sw, z, (size_t)m->nw * sizeof(real));
  mbg__adj_algebraic(s, s->sv, s->sl);
  /* y = y0 - B^T nu1, nu1 = -kappa */
  mbg__adj_clear(m->nw, s->pw);
  vn_scale(m->nrow, s->kappa, -1, s->kappa);
  mbg__system_pull(s->a->sys, NULL, s->kappa, NULL, NULL, s->pw, NULL, NULL, NULL, ga);
  vn_axpy(m->nw, now->y, -1, s->pw);
  mbg__adj_mask(m, now->y), mbg__adj_mask(m, now->s);
  /* z of the end again, for the integrand */
  memcpy(s->z, s->sw, (size_t)m->nw * sizeof(real));
  mbg__adj_clear(m->nrow, s->kappa);
  mbg__adj_pull(s);
}

static int factor(mbg_context *ctx, mbg__alpha_continuous *s, const mbg__node *node, double c0) {
  mbg__alpha *a = s->a;
  const mbg__csc *pK = mbg__system_pattern_K(a->sys);
  for (int b = 0; b < a->m->nbody; b++) {
    real *E = s->E + 36 * b;
    mbg__ad_matrix(E, node->v + a->m->bodies[b].voff);
    for (int k = 0; k < 6; k++) {
      E[7 * k] += c0;
    }
    m6_scale(E, 1 / (c0 * c0), E);
  }
  for (int i = 0; i < mbg__csc_count(pK); i++) {
    a->KT[i] = c0 * a->M[i] + a->C[i];
  }
  mbg__columns_times(a->sys, pK, a->KT, s->E, s->W);
  mbg__saddle_clear(&s->saddle);
  mbg__saddle_add_K(&s->saddle, 1, s->W);
  mbg__saddle_add_K(&s->saddle, 1 / (c0 * c0), a->K);
  mbg__saddle_add_rows(&s->saddle, a->B, a->B, a->rank->keep, NULL);
  a->work.factorizations++;
  return mbg__saddle_factor(ctx, &s->saddle, "the paper's adjoint");
}

/* y, M z at the node; mu is left in kappa */
static void advance(mbg__alpha_continuous *s, const mbg__node *node, double c0, const double r[2], int c,
                    mbg__adj_level *now) {
  const mbg_model *m = s->a->m;
  const mbg__adj_level *l1 = &s->l1[c], *l2 = &s->l2[c];
  real *rs = now->sd;
  for (int i = 0; i < m->nw; i++) {
    rs[i] = r[0] * l1->s[i] + r[1] * l2->s[i];
    now->s[i] = s->hv[i] - rs[i];
    now->y[i] = r[0] * l1->y[i] + r[1] * l2->y[i] - s->hw[i] - c0 * now->s[i];
  }
  mbg__adj_add_adT(s, node, now->s, -1, now->y);
  for (int j = 0; j < m->nv; j++) {
    s->x[j] = now->y[m->full[j]] / (c0 * c0);
  }
  mbg__adj_clear(m->nrow, s->x + m->nv);
  mbg__klu_solve_T(s->saddle.klu, s->x, 1);
  mbg__adj_take_z(s);
  vn_scale(m->nrow, s->mu, c0 * c0, s->kappa);
  mbg__adj_clear(m->nrow, s->kappa);
  mbg__adj_pull(s);
  for (int i = 0; i < m->nw; i++) {
    now->s[i] = s->pd[i];
    now->y[i] = c0 * s->pd[i] + s->pv[i] + s->hv[i] - rs[i];
  }
  mbg__adj_mask(m, now->s), mbg__adj_mask(m, now->y);
}

/* keeps mu of the three nodes before the late ones */
static void keep_mu(mbg__alpha_continuous *s, int c, int age, double t) {
  const size_t nr = (size_t)s->a->m->nrow;
  const int k = age - MBG__PAPER_LATE;
  if (k >= 0 && k < 3) {
    s->mu_time[k] = t;
    memcpy(s->mu_kept + ((size_t)k * (size_t)s->nc + (size_t)c) * nr, s->mu, nr * sizeof(real));
  }
}

static int refuse_value(mbg_context *ctx, const mbg__node *node) {
  return mbg__fail(
      ctx, MBG_ERROR_UNSUPPORTED,
      "the method 'continuous-paper' takes integrals and end values only; there is a sample or path value at t = %g "
      "('adjoint' and 'continuous' take them)",
      node->t);
}

int mbg__alpha_paper_node(mbg_context *ctx, mbg__alpha_continuous *s, const mbg__node *node, int n, int last,
                          double omega, const mbg__criterion_seeds *seeds, mbg__start_work *start, real *psi_a) {
  const mbg_model *m = s->a->m;
  const int age = last - n;
  const double k1 = s->t1 - node->t, k2 = s->t2 - s->t1, q = age > 1 ? k1 / k2 : 0;
  const double c0 = age > 1 ? (1 + 2 * q) / ((1 + q) * k1) : 1 / k1;
  const double r[2] = {age > 1 ? (1 + q) / k1 : 1 / k1, age > 1 ? -q * q / ((1 + q) * k1) : 0};
  int err = MBG_OK;
  if (last + 1 < MBG__PAPER_NODES_MIN) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the method 'continuous-paper' needs at least %d nodes",
                     MBG__PAPER_NODES_MIN);
  }
  MBG_TRY(mbg__adj_matrices(ctx, s, node));
  if (age > 0) {
    MBG_TRY(factor(ctx, s, node, c0));
  }
  for (int c = 0; c < s->nc; c++) {
    real *ga = psi_a + (size_t)c * (size_t)m->na;
    const bool value = mbg__adj_seeds(s, &seeds[c], n);
    if (value && age > 0) {
      return refuse_value(ctx, node);
    }
    fold_integrand(s);
    if (age == 0) {
      begin(s, node, &s->l0[c], ga);
    } else {
      advance(s, node, c0, r, c, &s->l0[c]);
      keep_mu(s, c, age, node->t);
    }
    for (int i = 0; i < m->na; i++) {
      ga[i] += omega * (s->hp[i] + s->pp[i]);
    }
    if (age >= MBG__PAPER_LATE) {
      vn_scale(m->nrow, s->kappa, omega, s->mu);
      mbg__system_pull(s->a->sys, NULL, s->kappa, NULL, NULL, NULL, NULL, NULL, NULL, ga);
    }
  }
  mbg__adj_level *oldest = s->l2;
  s->l2 = s->l1;
  s->l1 = s->l0;
  s->l0 = oldest;
  s->t2 = s->t1;
  s->t1 = node->t;
  for (int c = 0; start && c < s->nc; c++) {
    vn_scale(m->nw, s->hw, -1, s->l1[c].y);
    vn_scale(m->nw, s->hv, -1, s->l1[c].s);
    MBG_TRY(mbg__start_pull(ctx, start, s->hw, s->hv, psi_a + (size_t)c * (size_t)m->na));
  }
done:
  return err;
}

int mbg__alpha_paper_late(mbg_context *ctx, mbg__alpha_continuous *s, const mbg__node *node, double omega,
                          real *psi_a) {
  const mbg_model *m = s->a->m;
  const size_t nr = (size_t)m->nrow, nc = (size_t)s->nc;
  double w[3];
  int err = MBG_OK;
  /* quadratic extrapolation by Lagrange's weights */
  for (int k = 0; k < 3; k++) {
    w[k] = 1;
    for (int j = 0; j < 3; j++) {
      w[k] *= j == k ? 1 : (node->t - s->mu_time[j]) / (s->mu_time[k] - s->mu_time[j]);
    }
  }
  MBG_TRY(mbg__adj_matrices(ctx, s, node));
  for (size_t c = 0; c < nc; c++) {
    for (size_t i = 0; i < nr; i++) {
      s->kappa[i] = omega * (w[0] * s->mu_kept[c * nr + i] + w[1] * s->mu_kept[(nc + c) * nr + i] +
                             w[2] * s->mu_kept[(2 * nc + c) * nr + i]);
    }
    mbg__system_pull(s->a->sys, NULL, s->kappa, NULL, NULL, NULL, NULL, NULL, NULL, psi_a + c * (size_t)m->na);
  }
done:
  return err;
}
