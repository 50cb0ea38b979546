/* Continuous adjoint of index 1 (theory 2, section 7.2). With s = M z + B^T kappa + h_a, X_H .. the derivatives of
   integrand h and rows by frames, twists, accelerations:

     [M B^T; B 0] (z, kappa) = (s - h_a, -h_l)
     y' = h_H + ad(v)^T y + K^T z + phidd_H^T kappa        s' = h_v - y + C^T z + phidd_v^T kappa
     y(T) = 0, s(T) = 0; a value S at a node makes (y, s) jump by -(Sr_H, Sr_v), where accelerations and multipliers are
     eliminated:
     [M B^T; B 0] (zS, kS) = -(S_a, S_l), Sr_X = S_X + zS^T r_X + kS^T phidd_X
     gradient = S_p + zS^T r_p + kS^T phidd_p + int (h_p + r_p^T z + phidd_p^T kappa) dt - w0^T y(0) - v0'^T s(0)

   Backward BDF2, first step after the end or a jump by the trapezoidal rule: -Y'_n = c0 Y_n - R with R from later
   nodes. y and s are eliminated: with E = c0 + ad(v),
     Q^T (z, kappa) = (R_y - h_H - E^T (c0 h_a - R_s + h_v), -h_l)
     Q = [[(c0 M + C) E + K, B^T], [(c0 B + A_v) E + A_H, 0]],
   its first block of columns divided by c0^2 for the condition. */
#include "formulations/alpha/alpha_continuous.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

static mbg__adj_level *take_levels(mbg__adj *s) {
  const size_t nw = (size_t)s->a->m->nw;
  mbg__adj_level *level = MBG_TAKE(&s->arena, mbg__adj_level, s->nc);
  for (int c = 0; level && c < s->nc; c++) {
    level[c].y = MBG_TAKE(&s->arena, real, nw);
    level[c].s = MBG_TAKE(&s->arena, real, nw);
    level[c].yd = MBG_TAKE(&s->arena, real, nw);
    level[c].sd = MBG_TAKE(&s->arena, real, nw);
  }
  return level;
}

static void take_each(mbg__adj *s, real **const *array, int narray, int count) {
  for (int i = 0; i < narray; i++) {
    *array[i] = MBG_TAKE(&s->arena, real, count);
  }
}

static void take_arrays(mbg__adj *s) {
  const mbg_model *m = s->a->m;
  const int nK = mbg__csc_count(mbg__system_pattern_K(s->a->sys)),
            nB = mbg__csc_count(mbg__system_pattern_B(s->a->sys));
  real **const by_twist[] = {&s->hw, &s->hv, &s->ha, &s->sw, &s->sv, &s->sa, &s->z, &s->pw, &s->pv, &s->pd};
  real **const by_row[] = {&s->hl, &s->sl, &s->kappa, &s->mu};
  real **const by_attribute[] = {&s->hp, &s->sp, &s->pp};
  real **const by_B[] = {&s->A_H, &s->A_v, &s->low};
  take_each(s, by_twist, MBG_COUNT(by_twist), m->nw);
  take_each(s, by_row, MBG_COUNT(by_row), m->nrow);
  take_each(s, by_attribute, MBG_COUNT(by_attribute), m->na);
  take_each(s, by_B, MBG_COUNT(by_B), nB);
  s->E = MBG_TAKE(&s->arena, real, 36 * m->nbody);
  s->W = MBG_TAKE(&s->arena, real, nK);
  s->x = MBG_TAKE(&s->arena, real, m->nv + m->nrow);
  s->mu_kept = MBG_TAKE(&s->arena, real, 3 * (size_t)s->nc * (size_t)m->nrow);
  s->l0 = take_levels(s);
  s->l1 = take_levels(s);
  s->l2 = take_levels(s);
}

int mbg__adj_create(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a,
                    mbg__adj *s) {
  int err = MBG_OK;
  *s = (mbg__adj){.a = a, .nc = ncrit, .seeds = seeds, .psi_a = psi_a};
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  take_arrays(s);
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  MBG_TRY(mbg__saddle_create(ctx, &s->arena, a->sys, 0, NULL, MBG__KLU_FRESH, &s->saddle));
done:
  return err;
}

void mbg__adj_destroy(mbg__adj *s) {
  mbg__saddle_destroy(&s->saddle);
  mbg__arena_destroy(&s->arena);
}

/* ---------------------------------------------------------------------- pieces */

void mbg__adj_mask(const mbg_model *m, real *x) {
  for (int i = 0; i < m->nw; i++) {
    x[i] = m->dof[i] >= 0 ? x[i] : 0;
  }
}

bool mbg__adj_seeds(mbg__adj *s, int c, int n) {
  const mbg_model *m = s->a->m;
  const mbg__seeds *seeds = &s->seeds[c].at;
  const real *y = mbg__nodes_values(mbg__march_nodes(s->a->march), n);
  const double omega = s->ga ? s->omega : 1;
  bool jump = false;
  vn_zero(m->nw, s->hw), vn_zero(m->nw, s->hv), vn_zero(m->nw, s->ha), vn_zero(m->nrow, s->hl);
  vn_zero(m->nw, s->sw), vn_zero(m->nw, s->sv), vn_zero(m->nw, s->sa), vn_zero(m->nrow, s->sl);
  if (!s->ga) {
    vn_zero(m->na, s->hp), vn_zero(m->na, s->sp);
  }
  for (int k = 0; k < s->a->nused; k++) {
    const real density = mbg__seeds_density(seeds, k, y), point = mbg__seeds_point(seeds, n, k);
    if (density != 0) {
      mbg__system_signal_pull(s->a->sys, s->a->used[k], omega * density, s->hw, s->hv, s->ha, s->hl,
                              s->ga ? s->ga : s->hp);
    }
    if (point != 0) {
      mbg__system_signal_pull(s->a->sys, s->a->used[k], point, s->sw, s->sv, s->sa, s->sl, s->ga ? s->ga : s->sp);
      jump = true;
    }
  }
  if (omega != 1) {
    vn_scale(m->nw, s->hw, 1 / omega, s->hw), vn_scale(m->nw, s->hv, 1 / omega, s->hv);
    vn_scale(m->nw, s->ha, 1 / omega, s->ha), vn_scale(m->nrow, s->hl, 1 / omega, s->hl);
  }
  mbg__adj_mask(m, s->hv), mbg__adj_mask(m, s->ha);
  mbg__adj_mask(m, s->sv), mbg__adj_mask(m, s->sa);
  return jump;
}

void mbg__adj_take_z(mbg__adj *s) { mbg__scatter(s->a->m, s->a->rank->keep, 1, s->x, s->z, s->kappa); }

/* gradient of r^T z + phidd^T kappa; the part by attributes is weighted, the weight is removed from the others */
void mbg__adj_pull(mbg__adj *s) {
  const mbg_model *m = s->a->m;
  const double weight = s->ga && s->weight != 0 ? s->weight : 1;
  real *ga = !s->ga ? s->pp : s->weight != 0 ? s->ga : NULL;
  vn_zero(m->nw, s->pw), vn_zero(m->nw, s->pv), vn_zero(m->nw, s->pd);
  if (!s->ga) {
    vn_zero(m->na, s->pp);
  }
  if (weight != 1) {
    vn_scale(m->nw, s->z, weight, s->z), vn_scale(m->nrow, s->kappa, weight, s->kappa);
  }
  mbg__system_pull(s->a->sys, s->z, NULL, NULL, s->kappa, s->pw, s->pv, s->pd, NULL, ga);
  if (weight != 1) {
    vn_scale(m->nw, s->pw, 1 / weight, s->pw), vn_scale(m->nw, s->pv, 1 / weight, s->pv);
    vn_scale(m->nw, s->pd, 1 / weight, s->pd);
  }
}

/* (z, kappa) of a right side (f, g): [M B^T; B 0] */
void mbg__adj_algebraic(mbg__adj *s, const real *f, const real *g) {
  mbg__gather(s->a->m, s->a->rank->keep, 1, f, 1, g, s->x);
  mbg__klu_solve_T(s->a->initial.klu, s->x, 1);
  mbg__adj_take_z(s);
  mbg__adj_pull(s);
}

void mbg__adj_fold(mbg__adj *s, real *by_vd, real *by_lambda) {
  const mbg_model *m = s->a->m;
  vn_scale(m->nw, by_vd, -1, by_vd);
  vn_scale(m->nrow, by_lambda, -1, by_lambda);
  mbg__adj_algebraic(s, by_vd, by_lambda);
}

/* ad(v)^T y per body */
void mbg__adj_add_adT(const mbg__adj *s, const mbg__alpha_node *node, const real *y, real c, real *out) {
  for (int b = 0; b < s->a->m->nbody; b++) {
    const int off = s->a->m->bodies[b].voff;
    real x[6];
    adT_mul(x, node->v + off, y + off);
    v6_axpy(out + off, c, x);
  }
}

void mbg__adj_rate_of_B(mbg__adj *s, const mbg__alpha_node *node, real *out) {
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

/* rates of y and s at the node from (y, s) and the pulled-back z, kappa */
static void rates(mbg__adj *s, const mbg__alpha_node *node, mbg__adj_level *l) {
  const mbg_model *m = s->a->m;
  for (int i = 0; i < m->nw; i++) {
    l->yd[i] = s->hw[i] + s->pw[i];
    l->sd[i] = s->hv[i] - l->y[i] + s->pv[i];
  }
  mbg__adj_add_adT(s, node, l->y, 1, l->yd);
  mbg__adj_mask(m, l->sd);
}

/* ---------------------------------------------------------------------- a step backward */

/* -Y'_n = c0 Y_n - R: coefficients of the later nodes */
typedef struct {
  double c0, r1, r2, rd; /* R = r1 Y_{n+1} + r2 Y_{n+2} + rd Y'_{n+1} */
} scheme;

static scheme scheme_at(const mbg__adj *s, double t) {
  const double k1 = s->t1 - t, k2 = s->t2 - s->t1;
  if (s->nodes < 2) {
    return (scheme){.c0 = 2 / k1, .r1 = 2 / k1, .rd = -1};
  }
  const double r = k1 / k2;
  return (scheme){.c0 = (1 + 2 * r) / ((1 + r) * k1), .r1 = (1 + r) / k1, .r2 = -r * r / ((1 + r) * k1)};
}

void mbg__adj_eliminate(mbg__adj *s, const mbg__alpha_node *node, double c0) {
  mbg__alpha *a = s->a;
  const mbg__csc *pattern = mbg__system_pattern_K(a->sys);
  for (int b = 0; b < a->m->nbody; b++) {
    real *E = s->E + 36 * b;
    mbg__ad_matrix(E, node->v + a->m->bodies[b].voff);
    for (int k = 0; k < 6; k++) {
      E[7 * k] += c0;
    }
    m6_scale(E, 1 / (c0 * c0), E);
  }
  for (int i = 0; i < mbg__csc_count(pattern); i++) {
    a->KT[i] = c0 * a->M[i] + a->C[i];
  }
  mbg__columns_times(a->sys, pattern, a->KT, s->E, s->W);
}

int mbg__adj_factor(mbg_context *ctx, mbg__adj *s, double c0, const real *low, const char *what) {
  mbg__alpha *a = s->a;
  mbg__saddle_clear(&s->saddle);
  mbg__saddle_add_K(&s->saddle, 1, s->W);
  mbg__saddle_add_K(&s->saddle, 1 / (c0 * c0), a->K);
  mbg__saddle_add_rows(&s->saddle, low, a->B, a->rank->keep, NULL);
  a->counts->factorizations++;
  return mbg__saddle_factor(ctx, &s->saddle, what);
}

static int factor_bdf(mbg_context *ctx, mbg__adj *s, const mbg__alpha_node *node, double c0) {
  mbg__alpha *a = s->a;
  const mbg__csc *pattern = mbg__system_pattern_B(a->sys);
  const int n = mbg__csc_count(pattern);
  mbg__adj_eliminate(s, node, c0);
  for (int i = 0; i < n; i++) {
    a->BT[i] = c0 * a->B[i] + s->A_v[i];
  }
  mbg__columns_times(a->sys, pattern, a->BT, s->E, s->low);
  for (int i = 0; i < n; i++) {
    s->low[i] += s->A_H[i] / (c0 * c0);
  }
  return mbg__adj_factor(ctx, s, c0, s->low, "continuous adjoint");
}

/* masked components of y, for frames that vary outside their motions: the others do not depend on them.
   (c0 + ad(v)^T) y = R_y - h_H - (K^T z + phidd_H^T kappa), with ad(v)^T y from the free ones alone */
static void advance_masked(mbg__adj *s, const mbg__alpha_node *node, double c0, const real *ry, real *y) {
  const mbg_model *m = s->a->m;
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real x[6];
    adT_mul(x, node->v + off, y + off);
    for (int i = off; i < off + 6; i++) {
      y[i] = m->dof[i] < 0 ? (ry[i] - s->hw[i] - s->pw[i] - x[i - off]) / c0 : y[i];
    }
  }
}

/* (y, s) at the node by the scheme; z, kappa and their products remain in the workspace */
static void advance(mbg__adj *s, const mbg__alpha_node *node, const scheme *k, int c, mbg__adj_level *now) {
  const mbg_model *m = s->a->m;
  const mbg__adj_level *l1 = &s->l1[c], *l2 = &s->l2[c];
  real *ry = now->yd, *rs = now->sd;
  for (int i = 0; i < m->nw; i++) {
    ry[i] = k->r1 * l1->y[i] + k->r2 * l2->y[i] + k->rd * l1->yd[i];
    rs[i] = k->r1 * l1->s[i] + k->r2 * l2->s[i] + k->rd * l1->sd[i];
    now->s[i] = k->c0 * s->ha[i] - rs[i] + s->hv[i];
    now->y[i] = ry[i] - s->hw[i] - k->c0 * now->s[i];
  }
  mbg__adj_add_adT(s, node, now->s, -1, now->y);
  for (int j = 0; j < m->nv; j++) {
    s->x[j] = now->y[m->full[j]] / (k->c0 * k->c0);
  }
  for (int i = 0; i < m->nrow; i++) {
    s->x[m->nv + i] = s->a->rank->keep[i] ? -s->hl[i] : 0;
  }
  mbg__klu_solve_T(s->saddle.klu, s->x, 1);
  mbg__adj_take_z(s);
  mbg__adj_pull(s);
  for (int i = 0; i < m->nw; i++) {
    now->s[i] = s->pd[i] + s->ha[i];
    now->y[i] = k->c0 * now->s[i] + s->pv[i] + s->hv[i] - rs[i];
  }
  mbg__adj_mask(m, now->s), mbg__adj_mask(m, now->y);
  advance_masked(s, node, k->c0, ry, now->y);
}

/* a value at the node: accelerations and multipliers are eliminated, then (y, s) jumps */
static void jump(mbg__adj *s, mbg__adj_level *now) {
  const mbg_model *m = s->a->m;
  s->weight = 1;
  mbg__adj_fold(s, s->sa, s->sl);
  for (int i = 0; i < m->nw; i++) {
    now->y[i] -= s->sw[i] + s->pw[i];
    now->s[i] -= s->sv[i] + s->pv[i];
  }
  mbg__adj_mask(m, now->s);
}

/* (z, kappa) of s on the left of the node */
static void left_side(mbg__adj *s, const mbg__adj_level *now) {
  const mbg_model *m = s->a->m;
  real *f = s->sw, *g = s->sl;
  for (int i = 0; i < m->nw; i++) {
    f[i] = now->s[i] - s->ha[i];
  }
  for (int i = 0; i < m->nrow; i++) {
    g[i] = -s->hl[i];
  }
  mbg__adj_algebraic(s, f, g);
}

int mbg__adj_matrices(mbg_context *ctx, mbg__adj *s, const mbg__alpha_node *node) {
  int err = MBG_OK;
  MBG_TRY(mbg__alpha_factor_start(ctx, s->a, node, true));
  mbg__system_matrices(s->a->sys, &(mbg__matrices){.A_H = s->A_H, .A_v = s->A_v});
  MBG_TRY(mbg__system_linearize_signals(ctx, s->a->sys));
done:
  return err;
}

void mbg__adj_shift(mbg__adj *s, const mbg__alpha_node *node) {
  mbg__adj_level *oldest = s->l2;
  s->l2 = s->l1;
  s->l1 = s->l0;
  s->l0 = oldest;
  s->t2 = s->t1;
  s->t1 = re(*node->t);
}

int mbg__adj_start(mbg_context *ctx, mbg__adj *s) {
  const mbg_model *m = s->a->m;
  int err = MBG_OK;
  for (int c = 0; c < s->nc; c++) {
    vn_scale(m->nw, s->hw, -1, s->l1[c].y);
    vn_scale(m->nw, s->hv, -1, s->l1[c].s);
    MBG_TRY(mbg__start_pull(ctx, s->a->start, s->hw, s->hv, s->psi_a + (size_t)c * (size_t)m->na));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

/* psi_a += weight (h_p + r_p^T z + phidd_p^T kappa), with the limits of both sides at a jump; true: the criterion has a
   value */
static bool criterion(mbg__adj *s, int c, int n, const mbg__alpha_node *node, const scheme *k) {
  const bool later = s->nodes > 0;
  const double omega = re(mbg__nodes_omega(mbg__march_nodes(s->a->march), n));
  const double right = later ? (s->t1 - re(*node->t)) / 2 : 0, left = omega - right;
  mbg__adj_level *fresh = &s->l0[c];
  s->ga = s->psi_a + (size_t)c * (size_t)s->a->m->na;
  s->omega = omega;
  const bool value = mbg__adj_seeds(s, c, n);
  if (later) {
    s->weight = value ? right : omega;
    advance(s, node, k, c, fresh);
  } else {
    vn_zero(s->a->m->nw, fresh->y), vn_zero(s->a->m->nw, fresh->s);
  }
  if (value) {
    jump(s, fresh);
  }
  if (value || !later) {
    s->weight = left;
    left_side(s, fresh);
  }
  rates(s, node, fresh);
  return value;
}

static int visit(mbg_context *ctx, void *user, int n, const void *block) {
  mbg__adj *s = user;
  const mbg__alpha_node node = mbg__alpha_body_view(s->a, block);
  const bool later = s->nodes > 0;
  const scheme k = later ? scheme_at(s, re(*node.t)) : (scheme){0};
  bool jumped = false;
  int err = MBG_OK;
  MBG_TRY(mbg__adj_matrices(ctx, s, &node));
  if (later) {
    MBG_TRY(factor_bdf(ctx, s, &node, k.c0));
  }
  for (int c = 0; c < s->nc; c++) {
    const bool value = criterion(s, c, n, &node, &k);
    jumped = jumped || value;
  }
  mbg__adj_shift(s, &node);
  s->nodes = jumped ? 1 : s->nodes + 1;
  MBG_TRY(n == 0 ? mbg__adj_start(ctx, s) : MBG_OK);
done:
  return err;
}

int mbg__alpha_continuous(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a) {
  mbg__adj s;
  int err = MBG_OK;
  MBG_TRY(mbg__adj_create(ctx, a, ncrit, seeds, psi_a, &s));
  MBG_TRY(mbg__march_backward(ctx, a->march, visit, &s));
done:
  mbg__adj_destroy(&s);
  return err;
}
