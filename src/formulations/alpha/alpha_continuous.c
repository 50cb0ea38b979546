/* With s = M z + B^T kappa + h_a, X_H .. derivatives by frames, twists, accelerations of integrand h and rows:

     [M B^T; B 0] (z, kappa) = (s - h_a, -h_l)
     y' = h_H + ad(v)^T y + K^T z + phidd_H^T kappa        s' = h_v - y + C^T z + phidd_v^T kappa
     y(T) = 0, s(T) = 0; a value S at a node makes (y, s) jump by -(Sr_H, Sr_v), its accelerations and multipliers folded:
     [M B^T; B 0] (zS, kS) = -(S_a, S_l), Sr_X = S_X + zS^T r_X + kS^T phidd_X
     gradient = S_p + zS^T r_p + kS^T phidd_p + int (h_p + r_p^T z + phidd_p^T kappa) dt - w0^T y(0) - v0'^T s(0)

   Backward BDF2, first step after the end or a jump by the trapezoidal rule: -Y'_n = c0 Y_n - R with R from later nodes.
   y and s are eliminated: with E = c0 + ad(v),
     Q^T (z, kappa) = (R_y - h_H - E^T (c0 h_a - R_s + h_v), -h_l),   Q = [[(c0 M + C) E + K, B^T], [(c0 B + A_v) E + A_H, 0]],
   its first block of columns divided by c0^2 for the condition. */
#include "formulations/alpha/alpha_continuous.h"

#include "formulations/alpha/alpha_continuous_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

#define TAKE(field, count)                                                                                             \
  do {                                                                                                                 \
    s->field = MBG_TAKE(&s->arena, real, count);                                                                       \
    if (!s->field) {                                                                                                   \
      return mbg__fail_memory(ctx);                                                                                    \
    }                                                                                                                  \
  } while (0)

static int take_levels(mbg_context *ctx, mbg__alpha_continuous *s, mbg__adj_level **out) {
  const size_t nw = (size_t)s->a->m->nw;
  *out = MBG_TAKE(&s->arena, mbg__adj_level, s->nc);
  for (int c = 0; *out && c < s->nc; c++) {
    real *x = MBG_TAKE(&s->arena, real, 4 * nw);
    if (!x) {
      *out = NULL;
      break;
    }
    (*out)[c] = (mbg__adj_level){x, x + nw, x + 2 * nw, x + 3 * nw};
  }
  return *out ? MBG_OK : mbg__fail_memory(ctx);
}

static int take_arrays(mbg_context *ctx, mbg__alpha_continuous *s) {
  const mbg_model *m = s->a->m;
  const int nK = mbg__csc_count(mbg__system_pattern_K(s->a->sys)),
            nB = mbg__csc_count(mbg__system_pattern_B(s->a->sys));
  TAKE(A_H, nB);
  TAKE(A_v, nB);
  TAKE(low, nB);
  TAKE(E, 36 * m->nbody);
  TAKE(W, nK);
  TAKE(hw, m->nw);
  TAKE(hv, m->nw);
  TAKE(ha, m->nw);
  TAKE(hl, m->nrow);
  TAKE(hp, m->na);
  TAKE(sw, m->nw);
  TAKE(sv, m->nw);
  TAKE(sa, m->nw);
  TAKE(sl, m->nrow);
  TAKE(sp, m->na);
  TAKE(x, m->nv + m->nrow);
  TAKE(z, m->nw);
  TAKE(kappa, m->nrow);
  TAKE(pw, m->nw);
  TAKE(pv, m->nw);
  TAKE(pd, m->nw);
  TAKE(pp, m->na);
  TAKE(mu, m->nrow);
  TAKE(mu_kept, 3 * (size_t)s->nc * (size_t)m->nrow);
  return MBG_OK;
}

int mbg__alpha_continuous_create(mbg_context *ctx, mbg__alpha *a, int ncrit, int nused, const int *used,
                                 mbg__alpha_continuous **out) {
  int err = MBG_OK;
  mbg__alpha_continuous *s = mbg__alloc_zero(ctx, 1, sizeof(*s));
  if (!s) {
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  s->a = a;
  s->nc = ncrit;
  s->nused = nused;
  s->used = used;
  MBG_TRY(take_arrays(ctx, s));
  MBG_TRY(take_levels(ctx, s, &s->l0));
  MBG_TRY(take_levels(ctx, s, &s->l1));
  MBG_TRY(take_levels(ctx, s, &s->l2));
  MBG_TRY(mbg__saddle_create(ctx, &s->arena, a->sys, 0, NULL, MBG__KLU_FRESH, &s->saddle));
done:
  if (err < 0) {
    mbg__alpha_continuous_destroy(s);
    s = NULL;
  }
  *out = s;
  return err;
}

void mbg__alpha_continuous_destroy(mbg__alpha_continuous *s) {
  if (!s) {
    return;
  }
  const mbg_allocator allocator = s->arena.allocator;
  mbg__saddle_destroy(&s->saddle);
  mbg__arena_destroy(&s->arena);
  allocator.release(allocator.user, s);
}

/* ---------------------------------------------------------------------- pieces */

void mbg__adj_clear(int n, real *x) { memset(x, 0, (size_t)n * sizeof(real)); }

void mbg__adj_mask(const mbg_model *m, real *x) {
  for (int i = 0; i < m->nw; i++) {
    x[i] = m->dof[i] >= 0 ? x[i] : 0;
  }
}

/* gradients of integrand and values of criterion c at node n; returns whether there is a value */
bool mbg__adj_seeds(mbg__alpha_continuous *s, const mbg__criterion_seeds *seed, int n) {
  const mbg_model *m = s->a->m;
  const double omega = s->ga ? s->omega : 1;
  bool jump = false;
  mbg__adj_clear(m->nw, s->hw), mbg__adj_clear(m->nw, s->hv), mbg__adj_clear(m->nw, s->ha),
      mbg__adj_clear(m->nrow, s->hl);
  mbg__adj_clear(m->nw, s->sw), mbg__adj_clear(m->nw, s->sv), mbg__adj_clear(m->nw, s->sa),
      mbg__adj_clear(m->nrow, s->sl);
  if (!s->ga) {
    mbg__adj_clear(m->na, s->hp), mbg__adj_clear(m->na, s->sp);
  }
  for (int k = 0; k < s->nused; k++) {
    const size_t at = (size_t)n * (size_t)s->nused + (size_t)k;
    if (seed->density[at] != 0) {
      mbg__system_signal_pull(s->a->sys, s->used[k], omega * seed->density[at], s->hw, s->hv, s->ha, s->hl,
                              s->ga ? s->ga : s->hp);
    }
    if (seed->point[at] != 0) {
      mbg__system_signal_pull(s->a->sys, s->used[k], seed->point[at], s->sw, s->sv, s->sa, s->sl,
                              s->ga ? s->ga : s->sp);
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

void mbg__adj_take_z(mbg__alpha_continuous *s) {
  const mbg_model *m = s->a->m;
  mbg__adj_clear(m->nw, s->z);
  for (int j = 0; j < m->nv; j++) {
    s->z[m->full[j]] = s->x[j];
  }
  for (int i = 0; i < m->nrow; i++) {
    s->kappa[i] = s->a->rank->keep[i] ? s->x[m->nv + i] : 0;
  }
}

/* r^T z + phidd^T kappa by everything; by attributes times the weight, which is taken out of the others again */
void mbg__adj_pull(mbg__alpha_continuous *s) {
  const mbg_model *m = s->a->m;
  const double weight = s->ga && s->weight != 0 ? s->weight : 1;
  real *ga = !s->ga ? s->pp : s->weight != 0 ? s->ga : NULL;
  mbg__adj_clear(m->nw, s->pw), mbg__adj_clear(m->nw, s->pv), mbg__adj_clear(m->nw, s->pd);
  if (!s->ga) {
    mbg__adj_clear(m->na, s->pp);
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
void mbg__adj_algebraic(mbg__alpha_continuous *s, const real *f, const real *g) {
  const mbg_model *m = s->a->m;
  for (int j = 0; j < m->nv; j++) {
    s->x[j] = f[m->full[j]];
  }
  for (int i = 0; i < m->nrow; i++) {
    s->x[m->nv + i] = s->a->rank->keep[i] ? g[i] : 0;
  }
  mbg__klu_solve_T(s->a->initial.klu, s->x, 1);
  mbg__adj_take_z(s);
  mbg__adj_pull(s);
}

void mbg__adj_fold(mbg__alpha_continuous *s, real *by_vd, real *by_lambda) {
  const mbg_model *m = s->a->m;
  vn_scale(m->nw, by_vd, -1, by_vd);
  vn_scale(m->nrow, by_lambda, -1, by_lambda);
  mbg__adj_algebraic(s, by_vd, by_lambda);
}

/* ad(v)^T y per body */
void mbg__adj_add_adT(const mbg__alpha_continuous *s, const mbg__node *node, const real *y, real c, real *out) {
  for (int b = 0; b < s->a->m->nbody; b++) {
    const int off = s->a->m->bodies[b].voff;
    real x[6];
    adT_mul(x, node->v + off, y + off);
    v6_axpy(out + off, c, x);
  }
}

/* rates of y and s at the node from (y, s) and the pulled-back z, kappa */
static void rates(mbg__alpha_continuous *s, const mbg__node *node, mbg__adj_level *l) {
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

static scheme scheme_at(const mbg__alpha_continuous *s, double t) {
  const double k1 = s->t1 - t, k2 = s->t2 - s->t1;
  if (s->nodes < 2) {
    return (scheme){.c0 = 2 / k1, .r1 = 2 / k1, .rd = -1};
  }
  const double r = k1 / k2;
  return (scheme){.c0 = (1 + 2 * r) / ((1 + r) * k1), .r1 = (1 + r) / k1, .r2 = -r * r / ((1 + r) * k1)};
}

static int factor_bdf(mbg_context *ctx, mbg__alpha_continuous *s, const mbg__node *node, double c0) {
  mbg__alpha *a = s->a;
  const mbg__csc *pK = mbg__system_pattern_K(a->sys), *pB = mbg__system_pattern_B(a->sys);
  const int nK = mbg__csc_count(pK), nB = mbg__csc_count(pB);
  for (int b = 0; b < a->m->nbody; b++) {
    real *E = s->E + 36 * b;
    mbg__ad_matrix(E, node->v + a->m->bodies[b].voff);
    for (int k = 0; k < 6; k++) {
      E[7 * k] += c0;
    }
    m6_scale(E, 1 / (c0 * c0), E);
  }
  for (int i = 0; i < nK; i++) {
    a->KT[i] = c0 * a->M[i] + a->C[i];
  }
  mbg__columns_times(a->sys, pK, a->KT, s->E, s->W);
  for (int i = 0; i < nB; i++) {
    a->BT[i] = c0 * a->B[i] + s->A_v[i];
  }
  mbg__columns_times(a->sys, pB, a->BT, s->E, s->low);
  for (int i = 0; i < nB; i++) {
    s->low[i] += s->A_H[i] / (c0 * c0);
  }
  mbg__saddle_clear(&s->saddle);
  mbg__saddle_add_K(&s->saddle, 1, s->W);
  mbg__saddle_add_K(&s->saddle, 1 / (c0 * c0), a->K);
  mbg__saddle_add_rows(&s->saddle, s->low, a->B, a->rank->keep, NULL);
  a->work.factorizations++;
  return mbg__saddle_factor(ctx, &s->saddle, "continuous adjoint");
}

/* masked components of y, for frames that vary outside their motions: the others do not depend on them.
   (c0 + ad(v)^T) y = R_y - h_H - (K^T z + phidd_H^T kappa), with ad(v)^T y from the free ones alone */
static void advance_masked(mbg__alpha_continuous *s, const mbg__node *node, double c0, const real *ry, real *y) {
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
static void advance(mbg__alpha_continuous *s, const mbg__node *node, const scheme *k, int c, mbg__adj_level *now) {
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

/* value at the node: fold, jump */
static void jump(mbg__alpha_continuous *s, mbg__adj_level *now) {
  const mbg_model *m = s->a->m;
  s->weight = 1;
  mbg__adj_fold(s, s->sa, s->sl);
  for (int i = 0; i < m->nw; i++) {
    now->y[i] -= s->sw[i] + s->pw[i];
    now->s[i] -= s->sv[i] + s->pv[i];
  }
  mbg__adj_mask(m, now->s);
}

/* (z, kappa) belonging to s on the left of the node */
static void left_side(mbg__alpha_continuous *s, const mbg__adj_level *now) {
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

int mbg__adj_matrices(mbg_context *ctx, mbg__alpha_continuous *s, const mbg__node *node) {
  int err = MBG_OK;
  MBG_TRY(mbg__alpha_factor_start(ctx, s->a, node));
  mbg__system_matrices(s->a->sys, &(mbg__matrices){.A_H = s->A_H, .A_v = s->A_v});
  MBG_TRY(mbg__system_linearize_signals(ctx, s->a->sys));
done:
  return err;
}

int mbg__alpha_continuous_node(mbg_context *ctx, mbg__alpha_continuous *s, const mbg__node *node, int n, double omega,
                               const mbg__criterion_seeds *seeds, mbg__start_work *start, real *psi_a) {
  const bool later = s->nodes > 0;
  const double right = later ? (s->t1 - node->t) / 2 : 0, left = omega - right;
  const scheme k = later ? scheme_at(s, node->t) : (scheme){0};
  bool jumped = false;
  int err = MBG_OK;
  MBG_TRY(mbg__adj_matrices(ctx, s, node));
  if (later) {
    MBG_TRY(factor_bdf(ctx, s, node, k.c0));
  }
  for (int c = 0; c < s->nc; c++) {
    mbg__adj_level *fresh = &s->l0[c];
    s->ga = psi_a + (size_t)c * (size_t)s->a->m->na;
    s->omega = omega;
    const bool value = mbg__adj_seeds(s, &seeds[c], n);
    /* psi_a += weight (h_p + r_p^T z + phidd_p^T kappa), with the limits of both sides where there is a jump */
    if (later) {
      s->weight = value ? right : omega;
      advance(s, node, &k, c, fresh);
    } else {
      mbg__adj_clear(s->a->m->nw, fresh->y), mbg__adj_clear(s->a->m->nw, fresh->s);
    }
    if (value) {
      jump(s, fresh);
      jumped = true;
    }
    if (value || !later) {
      s->weight = left;
      left_side(s, fresh);
    }
    rates(s, node, fresh);
  }
  mbg__adj_level *oldest = s->l2;
  s->l2 = s->l1;
  s->l1 = s->l0;
  s->l0 = oldest;
  s->t2 = s->t1;
  s->t1 = node->t;
  s->nodes = jumped ? 1 : s->nodes + 1;
  for (int c = 0; start && c < s->nc; c++) {
    const mbg_model *m = s->a->m;
    for (int i = 0; i < m->nw; i++) {
      s->hw[i] = -s->l1[c].y[i];
      s->hv[i] = -s->l1[c].s[i];
    }
    MBG_TRY(mbg__start_pull(ctx, start, s->hw, s->hv, psi_a + (size_t)c * (size_t)m->na));
  }
done:
  return err;
}
