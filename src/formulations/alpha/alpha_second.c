/* Continuous adjoint of second order, as in the paper of `lie` (theory 4, section 8), solved backward by the
   generalized-alpha scheme. Rates and multipliers are folded out of the integrand F and of values S, as in
   alpha_continuous.c; F_H, F_v are its derivatives by frames and twists. With momenta Y, an auxiliary variable G and xi
   for short,

     Y = M mu      G = C^T mu + F_v      xi = G - Y'
     Y'' - G' + K^T mu + F_H + ad(v)^T xi + B^T nu = 0      B mu = 0

   Written out for constant M this is the equation of the paper with its pseudo-loads F_C' - F_K and with C'. Neither is
   differentiated: the formulae of the scheme turn values of Y and G into their rates. With s = -h, one step backward
   from n + 1 to n, and the same for G:

     Y_n = Y + s Y' + (1/2 - beta) h^2 A + beta h^2 A_n        Y'_n = Y' + s ((1 - gamma) A + gamma A_n)
     (1 - am) A_n + am A = (1 - af) Y''_n + af Y''

   so that Y'_n = D1 Y_n + c1 and Y''_n = D2 Y_n + c2, D1 = gp and D2 = bp, and
     (D2 M - D1 C^T + K^T + ad(v)^T (C^T - D1 M)) mu + B^T nu = what is known.
   Bodies on axles have Y and G in world axes, about the axle (alpha_rotor.c), with the stability that this gives the
   motion; D1 and D2 are then blocks (alpha_axle.c).

   Integrals over a step of nu, of nu (t - t_n) and of G' are those that the scheme makes of A: noise of F at the first
   nodes, where reactions are of first order, then cancels in nu and xi(0), as it does in the exact equations.

   A value S at a node adds a solution that begins there, and so does the end of the run, with F in it. Its Taylor
   coefficients mu0, mu1, mu2 follow from
     M mu0 + B^T k2 = -S_v                                    B mu0 = 0
     Y' = G - xi,    xi = -S_H - B^T k1 - phid_H^T k2         (B mu)' = 0
     Y'' = G' - K^T mu - F_H - ad(v)^T xi - B^T nu            (B mu)'' = 0
   where M' and B' are known and other derivatives in time are differences of three nodes (stencil). Then
   gradient = S_p + k1^T phi_p + k2^T phid_p + int (F_p + mu^T r_p + nu^T phi_p) dt - w0^T xi(0) - v0'^T Y(0). */
#include "formulations/alpha/alpha_continuous.h"

#include <string.h>

/* nodes of differences in time; Taylor coefficients at the beginning of a solution */
enum { STENCIL = 3, TAYLOR = 3, REFINE = 5 };

/* Without damping, errors at the beginning of a solution would not fade. */
static const double RHO_MAX = 0.9;

/* a vector that the scheme follows: value, rates in time, auxiliary acceleration (nw each) */
typedef struct {
  real *x, *d, *dd, *a;
} track;

/* a rate in time, followed with its auxiliary variable: what a step adds to its integral */
typedef struct {
  real *x, *a;
} mean;

/* coefficients of a step */
typedef struct {
  double h, s, gp, bp, beta_h2, rescale;
} formula;

typedef struct {
  double t;
  real *M, *C, *B; /* by the patterns of the system */
  real *Fv;        /* of the integrands: nodes at the end only    (nc x nw) */
} slot;

typedef struct {
  mbg__adj s;
  mbg__alpha_coefs k;
  track *Y, *G;  /*                                               (nc) */
  mean *dG, *nu; /* G', and multipliers                           (nc) */
  real **sum;    /* integral of G'                                (nc, nw) */
  slot slots[STENCIL];
  double w1[STENCIL], w2[STENCIL];          /* weights of derivatives at the node */
  double t1, h1;                            /* the later node, and the step that led to it; h1 = 0: none */
  real *y[TAYLOR], *g[TAYLOR], *mu[TAYLOR]; /* a solution that begins: Y, G, mu      (nw) */
  real *xi, *rhs;                           /*                                       (nw) */
  real *now, *I0, *I1, *I2, *b;             /*                                       (nrow) */
  real *xfree, *yfree;                      /*                                       (nv) */
  real *D1, *D2, *P1, *P2;                  /* blocks                          (nbody x 36) */
  real *W2;                                 /* product                    (pattern of K) */
} second;

/* ---------------------------------------------------------------------- creation */

static track *take_tracks(second *w) {
  const size_t nw = (size_t)w->s.a->m->nw;
  track *list = MBG_TAKE(&w->s.arena, track, w->s.nc);
  for (int c = 0; list && c < w->s.nc; c++) {
    list[c] = (track){MBG_TAKE(&w->s.arena, real, nw), MBG_TAKE(&w->s.arena, real, nw), MBG_TAKE(&w->s.arena, real, nw),
                      MBG_TAKE(&w->s.arena, real, nw)};
  }
  return list;
}

static mean *take_means(second *w, int n) {
  mean *list = MBG_TAKE(&w->s.arena, mean, w->s.nc);
  for (int c = 0; list && c < w->s.nc; c++) {
    list[c] = (mean){MBG_TAKE(&w->s.arena, real, n), MBG_TAKE(&w->s.arena, real, n)};
  }
  return list;
}

static void take_slot(second *w, slot *k) {
  const mbg_model *m = w->s.a->m;
  const size_t nc = (size_t)w->s.nc;
  const int nK = mbg__csc_count(mbg__system_pattern_K(w->s.a->sys)),
            nB = mbg__csc_count(mbg__system_pattern_B(w->s.a->sys));
  k->M = MBG_TAKE(&w->s.arena, real, nK);
  k->C = MBG_TAKE(&w->s.arena, real, nK);
  k->B = MBG_TAKE(&w->s.arena, real, nB);
  k->Fv = MBG_TAKE(&w->s.arena, real, nc * (size_t)m->nw);
}

static int create(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a,
                  second *w) {
  const mbg_model *m = a->m;
  real **const by_twist[] = {&w->y[0],  &w->y[1],  &w->y[2],  &w->g[0], &w->g[1], &w->g[2],
                             &w->mu[0], &w->mu[1], &w->mu[2], &w->xi,   &w->rhs};
  real **const by_row[] = {&w->now, &w->I0, &w->I1, &w->I2, &w->b};
  real **const by_body[] = {&w->D1, &w->D2, &w->P1, &w->P2};
  int err = MBG_OK;
  *w = (second){.k = mbg__alpha_damped(a, RHO_MAX)};
  MBG_TRY(mbg__adj_create(ctx, a, ncrit, seeds, psi_a, &w->s));
  mbg__arena *arena = &w->s.arena;
  w->Y = take_tracks(w);
  w->G = take_tracks(w);
  w->dG = take_means(w, m->nw);
  w->nu = take_means(w, m->nrow);
  w->sum = MBG_TAKE(arena, real *, ncrit);
  for (int c = 0; w->sum && c < ncrit; c++) {
    w->sum[c] = MBG_TAKE(arena, real, m->nw);
  }
  for (int i = 0; i < STENCIL; i++) {
    take_slot(w, &w->slots[i]);
  }
  for (int i = 0; i < MBG_COUNT(by_twist); i++) {
    *by_twist[i] = MBG_TAKE(arena, real, m->nw);
  }
  for (int i = 0; i < MBG_COUNT(by_row); i++) {
    *by_row[i] = MBG_TAKE(arena, real, m->nrow);
  }
  w->xfree = MBG_TAKE(arena, real, m->nv);
  w->yfree = MBG_TAKE(arena, real, m->nv);
  for (int i = 0; i < MBG_COUNT(by_body); i++) {
    *by_body[i] = MBG_TAKE(arena, real, 36 * m->nbody);
  }
  w->W2 = MBG_TAKE(arena, real, mbg__csc_count(mbg__system_pattern_K(a->sys)));
  MBG_TRY(mbg__arena_check(ctx, arena));
done:
  return err;
}

/* ---------------------------------------------------------------------- the scheme */

static formula formula_of(const second *w, double h) {
  const mbg__alpha_coefs *k = &w->k;
  const double beta_h2 = k->beta * h * h;
  return (formula){.h = h,
                   .s = -h,
                   .gp = -h * k->gamma / beta_h2,
                   .bp = (1 - k->am) / ((1 - k->af) * beta_h2),
                   .beta_h2 = beta_h2,
                   .rescale = re(alpha_rescale(w->h1, h))};
}

/* d, dd, a become what they are at the next node for x = 0 */
static void open_track(const second *w, const formula *f, track *y) {
  const mbg__alpha_coefs *k = &w->k;
  for (int i = 0; i < w->s.a->m->nw; i++) {
    const real a = y->dd[i] + f->rescale * (y->a[i] - y->dd[i]);
    const real ca = -(y->x[i] + f->s * y->d[i] + (0.5 - k->beta) * f->h * f->h * a) / f->beta_h2;
    y->d[i] += f->s * ((1 - k->gamma) * a + k->gamma * ca);
    y->dd[i] = ((1 - k->am) * ca + k->am * a - k->af * y->dd[i]) / (1 - k->af);
    y->a[i] = ca;
  }
}

/* ... and now for x */
static void close_track(const second *w, const formula *f, track *y, const real *x) {
  for (int i = 0; i < w->s.a->m->nw; i++) {
    y->x[i] = x[i];
    y->d[i] += f->gp * x[i];
    y->dd[i] += f->bp * x[i];
    y->a[i] += x[i] / f->beta_h2;
  }
}

/* The rate y is x at the node: I0, I1 = the integrals over the step of y and of y (t - t_n), as the scheme has them (I1
   may be NULL). */
static void follow_rate(const second *w, const formula *f, int n, const real *x, mean *y, real *I0, real *I1) {
  const mbg__alpha_coefs *k = &w->k;
  for (int i = 0; i < n; i++) {
    const real a = y->x[i] + f->rescale * (y->a[i] - y->x[i]);
    y->a[i] = ((1 - k->af) * x[i] + k->af * y->x[i] - k->am * a) / (1 - k->am);
    y->x[i] = x[i];
    I0[i] = f->h * ((1 - k->gamma) * a + k->gamma * y->a[i]);
    if (I1) {
      I1[i] = f->h * f->h * ((0.5 - k->beta) * a + k->beta * y->a[i]);
    }
  }
}

/* ---------------------------------------------------------------------- a step backward */

/* the known parts c1, c2 of rates, in body axes, from those of an open track */
static void known(const second *w, const mbg__alpha_node *node, const track *y, real *c1, real *c2) {
  const mbg__alpha *a = w->s.a;
  vn_copy(a->m->nw, c1, y->d), vn_copy(a->m->nw, c2, y->dd);
  mbg__axles_turn(a, node, true, c1), mbg__axles_turn(a, node, true, c2);
  mbg__axles_spin(a, node, -2, c1, c2);
}

/* a solution that begins with value y0 and rates y1, y2 in body axes */
static void add_to_track(second *w, const mbg__alpha_node *node, real *const y[TAYLOR], track *to) {
  const mbg_model *m = w->s.a->m;
  mbg__axles_rates(w->s.a, node, y[0], y[1], y[2]);
  for (int k = 0; k < TAYLOR; k++) {
    mbg__axles_turn(w->s.a, node, false, y[k]);
  }
  vn_axpy(m->nw, to->x, 1, y[0]), vn_axpy(m->nw, to->d, 1, y[1]);
  vn_axpy(m->nw, to->dd, 1, y[2]), vn_axpy(m->nw, to->a, 1, y[2]);
}

/* Q = [[M P1 + C P2 + K, B^T], [B, 0]], P1 = (D2 - ad(v)^T D1)^T, P2 = (ad(v)^T - D1)^T, its first block divided by
   gp^2 */
static int factor(mbg_context *ctx, second *w, const mbg__alpha_node *node, const formula *f) {
  mbg__adj *s = &w->s;
  mbg__alpha *a = s->a;
  const mbg__csc *pattern = mbg__system_pattern_K(a->sys);
  const double scale = 1 / (f->gp * f->gp);
  mbg__axles_blocks(a, node, f->gp, f->bp, w->D1, w->D2);
  for (int b = 0; b < a->m->nbody; b++) {
    const real *D1 = w->D1 + 36 * b, *D2 = w->D2 + 36 * b;
    real *P1 = w->P1 + 36 * b, *P2 = w->P2 + 36 * b, ad[36], product[36];
    mbg__ad_matrix(ad, node->v + a->m->bodies[b].voff);
    m6_mul_TN(product, D1, ad);
    for (int i = 0; i < 36; i++) {
      const int transposed = 6 * (i % 6) + i / 6;
      P1[i] = scale * (D2[transposed] - product[i]);
      P2[i] = scale * (ad[i] - D1[transposed]);
    }
  }
  mbg__columns_times(a->sys, pattern, a->M, w->P1, s->W);
  mbg__columns_times(a->sys, pattern, a->C, w->P2, w->W2);
  vn_axpy(mbg__csc_count(pattern), s->W, 1, w->W2);
  return mbg__adj_factor(ctx, s, f->gp, a->B, "the paper's adjoint");
}

/* pw = K^T z, pv = C^T z, pd = M z; weight times r_p^T z goes to the gradient */
static void products(second *w, const real *z, double weight) {
  mbg__adj *s = &w->s;
  vn_copy(s->a->m->nw, s->z, z);
  vn_zero(s->a->m->nrow, s->kappa);
  s->weight = weight;
  mbg__adj_pull(s);
}

/* F_H, F_v in hw, hv without rates and multipliers */
static void fold_integrand(second *w, double weight) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  s->weight = weight;
  mbg__adj_fold(s, s->ha, s->hl);
  vn_axpy(m->nw, s->hw, 1, s->pw), vn_axpy(m->nw, s->hv, 1, s->pv);
  mbg__adj_mask(m, s->hw), mbg__adj_mask(m, s->hv);
}

/* (mu, kappa) of a right side (c f, g) */
static void solve(second *w, mbg__klu *klu, double c, const real *f, const real *g, real *mu) {
  mbg__adj *s = &w->s;
  mbg__gather(s->a->m, s->a->rank->keep, c, f, 1, g, s->x);
  mbg__klu_solve_T(klu, s->x, 1);
  mbg__adj_take_z(s);
  vn_copy(s->a->m->nw, mu, s->z);
}

/* what is known: c1 of G + D1 F_v - F_H - c2 of Y - ad(v)^T (F_v - c1 of Y) */
static void right_side(second *w, const mbg__alpha_node *node, int c) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  real *c1 = w->y[1], *c2 = w->y[2];
  known(w, node, &w->G[c], w->rhs, c2);
  known(w, node, &w->Y[c], c1, c2);
  for (int b = 0; b < m->nbody; b++) {
    real x[6];
    m6_mulv(x, w->D1 + 36 * b, s->hv + m->bodies[b].voff);
    v6_axpy(w->rhs + m->bodies[b].voff, 1, x);
  }
  for (int i = 0; i < m->nw; i++) {
    w->rhs[i] -= s->hw[i] + c2[i];
    w->xi[i] = s->hv[i] - c1[i];
  }
  mbg__adj_mask(m, w->xi);
  mbg__adj_add_adT(s, node, w->xi, -1, w->rhs);
}

/* integrals of the step */
static void integrate(second *w, const formula *f, int c) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  follow_rate(w, f, m->nw, w->G[c].d, &w->dG[c], w->rhs, NULL);
  vn_axpy(m->nw, w->sum[c], -1, w->rhs);
  follow_rate(w, f, m->nrow, w->now, &w->nu[c], w->I0, w->I1);
  vn_scale(m->nrow, w->I2, f->h * f->h * f->h / 6, w->now);
  mbg__system_pull(s->a->sys, NULL, w->I0, w->I1, w->I2, NULL, NULL, NULL, NULL, s->ga);
}

/* one step backward; hw, hv are the derivatives of the integrand at the node */
static void advance(second *w, const mbg__alpha_node *node, const formula *f, int c) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  track *Y = &w->Y[c], *G = &w->G[c];
  open_track(w, f, Y), open_track(w, f, G);
  right_side(w, node, c);
  vn_zero(m->nrow, w->b);
  solve(w, s->saddle.klu, 1 / (f->gp * f->gp), w->rhs, w->b, w->mu[0]);
  vn_scale(m->nrow, w->now, f->gp * f->gp, s->kappa);
  products(w, w->mu[0], s->omega);
  vn_add(m->nw, s->pv, s->pv, s->hv);
  mbg__adj_mask(m, s->pd), mbg__adj_mask(m, s->pv);
  mbg__axles_turn(s->a, node, false, s->pd), mbg__axles_turn(s->a, node, false, s->pv);
  close_track(w, f, Y, s->pd), close_track(w, f, G, s->pv);
  integrate(w, f, c);
}

/* ---------------------------------------------------------------------- stencil */

/* weights of derivatives at t by the parabola through the three nodes */
static void stencil_weights(second *w, double t) {
  for (int k = 0; k < STENCIL; k++) {
    const double tk = w->slots[k].t, ti = w->slots[(k + 1) % 3].t, tj = w->slots[(k + 2) % 3].t;
    const double scale = 1 / ((tk - ti) * (tk - tj));
    w->w1[k] = (2 * t - ti - tj) * scale;
    w->w2[k] = 2 * scale;
  }
}

/* out += c (M'' z), or c (C^T)' z and c (C^T)'' z, by the weights of first or second derivatives */
static void add_difference(second *w, bool mass, const double weight[STENCIL], double c, const real *z, real *out) {
  const mbg_model *m = w->s.a->m;
  mbg__csc A = *mbg__system_pattern_K(w->s.a->sys);
  mbg__to_free(m, 1, z, w->xfree);
  mbg__to_free(m, 1, out, w->yfree);
  for (int k = 0; k < STENCIL; k++) {
    A.val = mass ? w->slots[k].M : w->slots[k].C;
    mbg__csc_mul_T_add(w->yfree, c * weight[k], &A, w->xfree, 1);
  }
  mbg__to_full(m, 1, w->yfree, out);
}

/* b -= B'' z */
static void subtract_B_rate(second *w, const real *z, real *b) {
  mbg__csc A = *mbg__system_pattern_B(w->s.a->sys);
  mbg__to_free(w->s.a->m, 1, z, w->xfree);
  for (int k = 0; k < STENCIL; k++) {
    A.val = w->slots[k].B;
    mbg__csc_mul_add(b, -w->w2[k], &A, w->xfree, 1);
  }
}

/* ---------------------------------------------------------------------- end and values */

/* S_H, S_v in sw, sv without rates and multipliers */
static void fold_value(second *w) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  s->weight = 1;
  mbg__adj_fold(s, s->sa, s->sl);
  vn_axpy(m->nw, s->sw, 1, s->pw), vn_axpy(m->nw, s->sv, 1, s->pv);
  mbg__adj_mask(m, s->sw), mbg__adj_mask(m, s->sv);
}

/* mu0 and k2: y0, g0 (without F_v), K^T mu0 + F_H in rhs, S_H + phid_H^T k2 in sw. left: weight of the node in
   integrals over earlier times */
static void begin_value(second *w, double left) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  vn_scale(m->nw, s->sv, -1, s->sv);
  vn_zero(m->nrow, w->b);
  solve(w, s->a->initial.klu, 1, s->sv, w->b, w->mu[0]);
  mbg__system_pull(s->a->sys, NULL, NULL, s->kappa, NULL, s->sw, NULL, NULL, NULL, s->ga);
  mbg__adj_mask(m, s->sw);
  products(w, w->mu[0], left);
  vn_copy(m->nw, w->y[0], s->pd), vn_add(m->nw, w->g[0], s->pv, s->hv);
  vn_add(m->nw, w->rhs, s->pw, s->hw);
  mbg__adj_mask(m, w->y[0]), mbg__adj_mask(m, w->g[0]);
}

/* mu1 and k1: y1, g1 (without F_v'), xi */
static void begin_rate(second *w, const mbg__alpha_node *node) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  vn_add(m->nw, s->sv, w->g[0], s->sw);
  mbg__system_mass_rate(s->a->sys, -1, w->mu[0], s->sv);
  vn_copy(m->nw, s->z, w->mu[0]);
  mbg__adj_rate_of_B(s, node, w->b);
  vn_scale(m->nrow, w->b, -1, w->b);
  solve(w, s->a->initial.klu, 1, s->sv, w->b, w->mu[1]);
  vn_scale(m->nrow, w->now, -1, s->kappa);
  mbg__system_pull(s->a->sys, NULL, w->now, NULL, NULL, s->sw, NULL, NULL, NULL, s->ga);
  vn_scale(m->nw, w->xi, -1, s->sw);
  mbg__adj_mask(m, w->xi);
  vn_sub(m->nw, w->y[1], w->g[0], w->xi);
  mbg__adj_rate_of_B(s, node, w->b);
  products(w, w->mu[1], 0);
  vn_add(m->nw, w->g[1], w->g[1], s->pv);
  add_difference(w, false, w->w1, 1, w->mu[0], w->g[1]);
  mbg__adj_mask(m, w->g[1]);
}

/* mu2 and nu of [M B^T; B 0] (mu2, nu) = (rhs, b), iterated with the matrix of the step, which is this one times bp up
   to O(h): what the steps resolve is right up to O(h^REFINE), what they do not is hardly excited */
static void begin_softly(second *w, const formula *f) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  const double scale = f->bp / (f->gp * f->gp);
  vn_zero(m->nw, w->mu[2]), vn_zero(m->nrow, w->now);
  for (int i = 0; i < REFINE; i++) {
    solve(w, s->saddle.klu, scale, w->rhs, w->b, s->sv);
    vn_axpy(m->nw, w->mu[2], 1, s->sv);
    vn_scale(m->nrow, s->sl, 1 / scale, s->kappa);
    vn_axpy(m->nrow, w->now, 1, s->sl);
    vn_zero(m->nrow, w->b);
    vn_zero(m->nw, s->sw);
    mbg__system_B_mul_T(s->a->sys, s->sl, s->sw);
    mbg__system_mass_mul(s->a->sys, s->sv, s->pd);
    for (int k = 0; k < m->nw; k++) {
      w->rhs[k] -= s->pd[k] + s->sw[k];
    }
  }
}

/* mu2 and nu: y2, g2 (without F_v'') */
static void begin_acceleration(second *w, const mbg__alpha_node *node, const formula *f) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  vn_zero(m->nw, w->y[2]);
  mbg__system_mass_rate(s->a->sys, 2, w->mu[1], w->y[2]);
  add_difference(w, true, w->w2, 1, w->mu[0], w->y[2]);
  for (int i = 0; i < m->nw; i++) {
    w->rhs[i] = w->g[1][i] - w->rhs[i] - w->y[2][i];
  }
  mbg__adj_add_adT(s, node, w->xi, -1, w->rhs);
  vn_scale(m->nrow, w->b, -2, w->b); /* b: B' mu1 */
  subtract_B_rate(w, w->mu[0], w->b);
  begin_softly(w, f);
  products(w, w->mu[2], 0);
  vn_axpy(m->nw, w->y[2], 1, s->pd);
  vn_axpy(m->nw, w->g[2], 1, s->pv);
  add_difference(w, false, w->w2, 1, w->mu[0], w->g[2]);
  add_difference(w, false, w->w1, 2, w->mu[1], w->g[2]);
  mbg__adj_mask(m, w->y[2]), mbg__adj_mask(m, w->g[2]);
}

/* A solution that begins at the node is added: S in s*, the integrand (at the end, else 0) in h*. */
static void begin(second *w, const mbg__alpha_node *node, const formula *f, int c, bool end, double left) {
  const mbg_model *m = w->s.a->m;
  vn_zero(m->nw, w->g[1]), vn_zero(m->nw, w->g[2]);
  for (int k = 0; end && k < STENCIL; k++) {
    const real *Fv = w->slots[k].Fv + (size_t)c * (size_t)m->nw;
    vn_axpy(m->nw, w->g[1], w->w1[k], Fv), vn_axpy(m->nw, w->g[2], w->w2[k], Fv);
  }
  fold_value(w);
  begin_value(w, left);
  begin_rate(w, node);
  begin_acceleration(w, node, f);
  add_to_track(w, node, w->y, &w->Y[c]);
  add_to_track(w, node, w->g, &w->G[c]);
  vn_axpy(m->nw, w->sum[c], 1, w->g[0]);
  vn_axpy(m->nw, w->dG[c].x, 1, w->g[1]), vn_axpy(m->nw, w->dG[c].a, 1, w->g[1]);
  vn_axpy(m->nrow, w->nu[c].x, 1, w->now), vn_axpy(m->nrow, w->nu[c].a, 1, w->now);
}

/* ---------------------------------------------------------------------- all */

static int matrices(mbg_context *ctx, second *w, const mbg__alpha_node *node) {
  int err = MBG_OK;
  MBG_TRY(mbg__alpha_factor_start(ctx, w->s.a, node, true));
  MBG_TRY(mbg__system_linearize_signals(ctx, w->s.a->sys));
done:
  return err;
}

static void keep_matrices(second *w, slot *k, double t) {
  const mbg__alpha *a = w->s.a;
  const size_t nK = (size_t)mbg__csc_count(mbg__system_pattern_K(a->sys)),
               nB = (size_t)mbg__csc_count(mbg__system_pattern_B(a->sys));
  k->t = t;
  memcpy(k->M, a->M, nK * sizeof(real));
  memcpy(k->C, a->C, nK * sizeof(real));
  memcpy(k->B, a->B, nB * sizeof(real));
}

/* the stencil of the last nodes, before the backward run */
static int look_ahead(mbg_context *ctx, second *w) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  const size_t nw = (size_t)m->nw;
  const int last = mbg__march_nodes(s->a->march)->nnode - 1;
  int err = MBG_OK;
  for (int k = 0; k < STENCIL; k++) {
    slot *p = &w->slots[k];
    const void *block;
    MBG_TRY(mbg__march_restore(ctx, s->a->march, last - k, &block));
    const mbg__alpha_node node = mbg__alpha_body_view(s->a, block);
    MBG_TRY(matrices(ctx, w, &node));
    keep_matrices(w, p, re(*node.t));
    for (int c = 0; c < s->nc; c++) {
      mbg__adj_seeds(s, c, last - k);
      fold_integrand(w, 0);
      memcpy(p->Fv + (size_t)c * nw, s->hv, nw * sizeof(real));
    }
  }
done:
  return err;
}

/* the stencil follows the run: node n and the two later ones */
static void follow(second *w, int age, double t) {
  if (age >= STENCIL) {
    const slot oldest = w->slots[0];
    memmove(w->slots, w->slots + 1, (STENCIL - 1) * sizeof(slot));
    w->slots[STENCIL - 1] = oldest;
    keep_matrices(w, &w->slots[STENCIL - 1], t);
  }
  stencil_weights(w, t);
}

/* psi_a -= w0^T xi + v0'^T Y */
static int finish(mbg_context *ctx, second *w, const mbg__alpha_node *node) {
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  int err = MBG_OK;
  for (int c = 0; c < s->nc; c++) {
    vn_sub(m->nw, w->Y[c].d, w->Y[c].d, w->sum[c]);
    mbg__axles_turn(s->a, node, true, w->Y[c].x), mbg__axles_turn(s->a, node, true, w->Y[c].d);
    mbg__axles_spin(s->a, node, -1, w->Y[c].x, w->Y[c].d);
    vn_scale(m->nw, s->hv, -1, w->Y[c].x);
    MBG_TRY(mbg__start_pull(ctx, s->a->start, w->Y[c].d, s->hv, s->psi_a + (size_t)c * (size_t)m->na));
  }
done:
  return err;
}

static int visit(mbg_context *ctx, void *user, int n, const void *block) {
  second *w = user;
  mbg__adj *s = &w->s;
  const mbg_model *m = s->a->m;
  const mbg__nodes *nodes = mbg__march_nodes(s->a->march);
  const mbg__alpha_node node = mbg__alpha_body_view(s->a, block);
  const int age = nodes->nnode - 1 - n;
  const double h = age > 0 ? w->t1 - re(*node.t) : 0;
  const formula f = formula_of(w, age > 0 ? h : w->slots[0].t - w->slots[1].t);
  int err = MBG_OK;
  MBG_TRY(matrices(ctx, w, &node));
  follow(w, age, re(*node.t));
  MBG_TRY(factor(ctx, w, &node, &f));
  s->omega = re(mbg__nodes_omega(nodes, n));
  for (int c = 0; c < s->nc; c++) {
    s->ga = s->psi_a + (size_t)c * (size_t)m->na;
    const bool value = mbg__adj_seeds(s, c, n);
    fold_integrand(w, s->omega);
    if (age > 0) {
      advance(w, &node, &f, c);
      vn_zero(m->nw, s->hw), vn_zero(m->nw, s->hv);
    }
    if (value || age == 0) {
      begin(w, &node, &f, c, age == 0, s->omega - h / 2);
    }
  }
  w->t1 = re(*node.t);
  w->h1 = h;
  MBG_TRY(n == 0 ? finish(ctx, w, &node) : MBG_OK);
done:
  return err;
}

int mbg__alpha_second(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a) {
  second w = {0};
  int err = MBG_OK;
  MBG_TRY(mbg__alpha_paper_check(ctx, a, STENCIL));
  MBG_TRY(create(ctx, a, ncrit, seeds, psi_a, &w));
  MBG_TRY(look_ahead(ctx, &w));
  MBG_TRY(mbg__march_backward(ctx, a->march, visit, &w));
done:
  mbg__adj_destroy(&w.s);
  return err;
}
