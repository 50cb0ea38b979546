/* Continuous adjoint of index 3, as in the papers (theory 2, section 7.3). With accelerations and multipliers
   eliminated from the integrand, [M B^T; B 0](ze, ke) = -(h_a, h_l), hr_X = h_X + ze^T r_X + ke^T phidd_X:

     y' = hr_H + ad(v)^T y + K^T z + B^T mu        (M z)' = hr_v - y + C^T z        B z = 0

   at the end, with Sr the folded end value,
     [M B^T; B 0](z, nu2) = (-Sr_v, 0)             y0 = -Sr_H - phid_H^T nu2
     [M B^T; B 0](z', -nu1) = (hr_v - y0 + C^T z - M' z, -B' z),  B' = phid_H + B ad(v)         y = y0 - B^T nu1
   gradient = Sr_p + phid_p^T nu2 + phi_p^T nu1 + int (hr_p + r_p^T z + phi_p^T mu) dt - w0^T y(0) - v0'^T (M z)(0).

   Backward BDF2 after one BDF1 step; y eliminated: with E = c0 + ad(v) and R the part of later nodes,
     Q^T (z, mu) = (R_y - hr_H - E^T (hr_v - R_s), 0),    Q = [[(c0 M + C) E + K, B^T], [B, 0]]. */
#include "formulations/alpha/alpha_continuous.h"

#include <string.h>

/* Nodes at the end whose multipliers are polluted by the start of the backward run: they are extrapolated from the
   three before them. */
enum { LATE = 4, NODES_MIN = LATE + 3 };

/* hr_H, hr_v, hr_p take the places of h_H, h_v, h_p */
static void fold_integrand(mbg__adj *s) {
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

static void fold_value(mbg__adj *s, real *ga) {
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

/* consistent end conditions */
static void begin(mbg__adj *s, const mbg__alpha_node *node, mbg__adj_level *now, real *ga) {
  const mbg_model *m = s->a->m;
  fold_value(s, ga);
  for (int i = 0; i < m->nw; i++) {
    s->sv[i] = -s->sv[i];
  }
  vn_zero(m->nrow, s->sl);
  mbg__adj_algebraic(s, s->sv, s->sl);
  /* y0 = -Sr_H - phid_H^T nu2; nu2 stands in kappa */
  for (int i = 0; i < m->nw; i++) {
    now->y[i] = -s->sw[i];
  }
  vn_zero(m->nw, s->pw);
  mbg__system_pull(s->a->sys, NULL, NULL, s->kappa, NULL, s->pw, NULL, NULL, NULL, ga);
  vn_axpy(m->nw, now->y, -1, s->pw);
  /* M z and C^T z alone */
  vn_zero(m->nrow, s->kappa);
  mbg__adj_pull(s);
  vn_copy(m->nw, now->s, s->pd);
  for (int i = 0; i < m->nw; i++) {
    s->sv[i] = s->hv[i] - now->y[i] + s->pv[i];
  }
  mbg__system_mass_rate(s->a->sys, -1, s->z, s->sv);
  mbg__adj_rate_of_B(s, node, s->sl);
  vn_scale(m->nrow, s->sl, -1, s->sl);
  const real *z = s->z;
  memcpy(s->sw, z, (size_t)m->nw * sizeof(real));
  mbg__adj_algebraic(s, s->sv, s->sl);
  /* y = y0 - B^T nu1, nu1 = -kappa */
  vn_zero(m->nw, s->pw);
  vn_scale(m->nrow, s->kappa, -1, s->kappa);
  mbg__system_pull(s->a->sys, NULL, s->kappa, NULL, NULL, s->pw, NULL, NULL, NULL, ga);
  vn_axpy(m->nw, now->y, -1, s->pw);
  mbg__adj_mask(m, now->y), mbg__adj_mask(m, now->s);
  /* z of the end again, for the integrand */
  memcpy(s->z, s->sw, (size_t)m->nw * sizeof(real));
  vn_zero(m->nrow, s->kappa);
  mbg__adj_pull(s);
}

/* y, M z at the node; mu is left in kappa */
static void advance(mbg__adj *s, const mbg__alpha_node *node, double c0, const double r[2], int c,
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
  vn_zero(m->nrow, s->x + m->nv);
  mbg__klu_solve_T(s->saddle.klu, s->x, 1);
  mbg__adj_take_z(s);
  vn_scale(m->nrow, s->mu, c0 * c0, s->kappa);
  vn_zero(m->nrow, s->kappa);
  mbg__adj_pull(s);
  for (int i = 0; i < m->nw; i++) {
    now->s[i] = s->pd[i];
    now->y[i] = c0 * s->pd[i] + s->pv[i] + s->hv[i] - rs[i];
  }
  mbg__adj_mask(m, now->s), mbg__adj_mask(m, now->y);
}

/* keeps mu of the three nodes before the late ones */
static void keep_mu(mbg__adj *s, int c, int age, double t) {
  const size_t nr = (size_t)s->a->m->nrow;
  const int k = age - LATE;
  if (k >= 0 && k < 3) {
    s->mu_time[k] = t;
    memcpy(s->mu_kept + ((size_t)k * (size_t)s->nc + (size_t)c) * nr, s->mu, nr * sizeof(real));
  }
}

static int refuse_value(mbg_context *ctx, const mbg__alpha_node *node) {
  return mbg__fail(
      ctx, MBG_ERROR_UNSUPPORTED,
      "the method 'continuous-paper' takes integrals and end values only; there is a sample or path value at t = %g "
      "('adjoint' and 'continuous' take them)",
      mbg__time_shown(re(*node->t)));
}

static int visit(mbg_context *ctx, void *user, int n, const void *block) {
  mbg__adj *s = user;
  const mbg_model *m = s->a->m;
  const mbg__nodes *nodes = mbg__march_nodes(s->a->march);
  const mbg__alpha_node node = mbg__alpha_body_view(s->a, block);
  const int age = nodes->nnode - 1 - n;
  const double k1 = s->t1 - re(*node.t), k2 = s->t2 - s->t1, q = age > 1 ? k1 / k2 : 0,
               omega = re(mbg__nodes_omega(nodes, n));
  const double c0 = age > 1 ? (1 + 2 * q) / ((1 + q) * k1) : 1 / k1;
  const double r[2] = {age > 1 ? (1 + q) / k1 : 1 / k1, age > 1 ? -q * q / ((1 + q) * k1) : 0};
  int err = MBG_OK;
  MBG_TRY(mbg__adj_matrices(ctx, s, &node));
  if (age > 0) {
    mbg__adj_eliminate(s, &node, c0);
    MBG_TRY(mbg__adj_factor(ctx, s, c0, s->a->B, "the paper's adjoint"));
  }
  for (int c = 0; c < s->nc; c++) {
    real *ga = s->psi_a + (size_t)c * (size_t)m->na;
    if (mbg__adj_seeds(s, c, n) && age > 0) {
      return refuse_value(ctx, &node);
    }
    fold_integrand(s);
    if (age == 0) {
      begin(s, &node, &s->l0[c], ga);
    } else {
      advance(s, &node, c0, r, c, &s->l0[c]);
      keep_mu(s, c, age, re(*node.t));
    }
    for (int i = 0; i < m->na; i++) {
      ga[i] += omega * (s->hp[i] + s->pp[i]);
    }
    if (age >= LATE) {
      vn_scale(m->nrow, s->kappa, omega, s->mu);
      mbg__system_pull(s->a->sys, NULL, s->kappa, NULL, NULL, NULL, NULL, NULL, NULL, ga);
    }
  }
  mbg__adj_shift(s, &node);
  MBG_TRY(n == 0 ? mbg__adj_start(ctx, s) : MBG_OK);
done:
  return err;
}

/* part of node n > last - LATE, after the multipliers that it is extrapolated from */
static int late(mbg_context *ctx, mbg__adj *s, const mbg__alpha_node *node, double omega) {
  const mbg_model *m = s->a->m;
  const size_t nr = (size_t)m->nrow, nc = (size_t)s->nc;
  double w[3];
  int err = MBG_OK;
  /* quadratic extrapolation by Lagrange's weights */
  for (int k = 0; k < 3; k++) {
    w[k] = 1;
    for (int j = 0; j < 3; j++) {
      w[k] *= j == k ? 1 : (re(*node->t) - s->mu_time[j]) / (s->mu_time[k] - s->mu_time[j]);
    }
  }
  MBG_TRY(mbg__adj_matrices(ctx, s, node));
  for (size_t c = 0; c < nc; c++) {
    for (size_t i = 0; i < nr; i++) {
      s->kappa[i] = omega * (w[0] * s->mu_kept[c * nr + i] + w[1] * s->mu_kept[(nc + c) * nr + i] +
                             w[2] * s->mu_kept[(2 * nc + c) * nr + i]);
    }
    mbg__system_pull(s->a->sys, NULL, s->kappa, NULL, NULL, NULL, NULL, NULL, NULL, s->psi_a + c * (size_t)m->na);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

/* Both papers' forms follow motions only: a frame that a parameter moves where its body cannot (the height of a planar
   body, the axes of a point) is beyond it. */
int mbg__alpha_paper_check(mbg_context *ctx, const mbg__alpha *a, int nodes) {
  const mbg__design *d = mbg__system_design(a->sys);
  for (int b = 0; b < a->m->nbody; b++) {
    const mbg__body *body = &a->m->bodies[b];
    const mbg__placed *pose = &d->poses[body->guess];
    for (int k = 0; k < pose->ndep; k++) {
      const bool varies = d->start[pose->dep[k]] < d->start[pose->dep[k] + 1];
      for (int i = 0; varies && i < 6; i++) {
        if (!(body->mask >> i & 1) && fabs(re(pose->omega[k][i])) > 1e-12) {
          return mbg__fail(
              ctx, MBG_ERROR_UNSUPPORTED,
              "the method 'continuous-paper' does not follow parameters that move body '%s' out of its motions; "
              "'adjoint' and 'continuous' do",
              body->name);
        }
      }
    }
  }
  return mbg__march_nodes(a->march)->nnode >= nodes
             ? MBG_OK
             : mbg__fail(ctx, MBG_ERROR_INPUT, "the method 'continuous-paper' needs at least %d nodes", nodes);
}

int mbg__alpha_paper(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a) {
  const mbg__nodes *nodes = mbg__march_nodes(a->march);
  mbg__adj s = {0};
  int err = MBG_OK;
  MBG_TRY(mbg__alpha_paper_check(ctx, a, NODES_MIN));
  MBG_TRY(mbg__adj_create(ctx, a, ncrit, seeds, psi_a, &s));
  MBG_TRY(mbg__march_backward(ctx, a->march, visit, &s));
  for (int n = nodes->nnode - 1; n > nodes->nnode - 1 - LATE; n--) {
    const void *block;
    MBG_TRY(mbg__march_restore(ctx, a->march, n, &block));
    const mbg__alpha_node node = mbg__alpha_body_view(a, block);
    MBG_TRY(late(ctx, &s, &node, re(mbg__nodes_omega(nodes, n))));
  }
done:
  mbg__adj_destroy(&s);
  return err;
}
