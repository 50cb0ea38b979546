/* Discrete adjoint (theory 4, section 7): multipliers mu (dynamics), nu (phi), xi (frames), sig (twists), tau (auxiliary
   accelerations) of the step that led to a node. With f_* the seeds at node n and "+" the step from n to n+1 of length h,
   T, A those of that step, s the factor by which it rescaled al - vd:

     g   = -(1/2-beta) h^2 T^T xi+ - (1-gamma) h sig+ + am tau+
     bw  = f_H - A^T xi+        bv = f_v - sig+ - h T^T xi+       bd = f_vd - af tau+ + (1-s) g      ba = s g
     S^T (mu, nu) = -(T^T bw + gp bv + bp bd + ba/(beta h^2),  f_lambda)          (T, h of the step that led to n)
     xi = -bw - K^T mu - B^T nu     sig = -bv - C^T mu     tau = (M mu + bd)/(1-af)
     psi_a += f_a + r_a^T mu + phi_a^T nu */
#include "formulations/alpha/alpha_gradient.h"

#include "formulations/alpha/alpha_internal.h"

#include <string.h>

struct mbg__alpha_adjoint {
  mbg__alpha *a;
  mbg__arena arena;
  int nc;
  bool first;              /* no step follows yet */
  double h;                /* step that follows */
  double rescale;          /* of the step that follows */
  real *Dx, *T;            /* of the step that follows           (nw, nbody x 36) */
  real *xi, *sig, *tau;    /* of the step that follows           (nw x nc) */
  real *bw, *bv, *bd, *ba; /*                                   (nw) */
  real *fl;                /* seed of the multipliers            (nrow) */
  real *X;                 /* right-hand sides and solutions     (nv + nrow) x nc */
  real *keep;              /* bw, bv, bd of all criteria         (3 nw x nc) */
  real *mu, *nu;           /*                                    (nw, nrow) */
};

#define TAKE(field, count)                                                                                             \
  do {                                                                                                                 \
    s->field = MBG_TAKE(&s->arena, real, count);                                                                       \
    if (!s->field) {                                                                                                   \
      return mbg__fail_memory(ctx);                                                                                    \
    }                                                                                                                  \
  } while (0)

static int take_arrays(mbg_context *ctx, mbg__alpha_adjoint *s) {
  const mbg_model *m = s->a->m;
  const size_t nw = (size_t)m->nw, nc = (size_t)s->nc;
  TAKE(Dx, nw);
  TAKE(T, 36 * (size_t)m->nbody);
  TAKE(xi, nw * nc);
  TAKE(sig, nw * nc);
  TAKE(tau, nw * nc);
  TAKE(bw, nw);
  TAKE(bv, nw);
  TAKE(bd, nw);
  TAKE(ba, nw);
  TAKE(fl, m->nrow);
  TAKE(X, (size_t)(m->nv + m->nrow) * nc);
  TAKE(keep, 3 * nw * nc);
  TAKE(mu, nw);
  TAKE(nu, m->nrow);
  return MBG_OK;
}

int mbg__alpha_adjoint_create(mbg_context *ctx, mbg__alpha *a, int ncrit, mbg__alpha_adjoint **out) {
  int err = MBG_OK;
  mbg__alpha_adjoint *s = mbg__alloc_zero(ctx, 1, sizeof(*s));
  if (!s) {
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  s->a = a;
  s->nc = ncrit;
  s->first = true;
  MBG_TRY(take_arrays(ctx, s));
done:
  if (err < 0) {
    mbg__alpha_adjoint_destroy(s);
    s = NULL;
  }
  *out = s;
  return err;
}

void mbg__alpha_adjoint_destroy(mbg__alpha_adjoint *s) {
  if (!s) {
    return;
  }
  const mbg_allocator allocator = s->arena.allocator;
  mbg__arena_destroy(&s->arena);
  allocator.release(allocator.user, s);
}

void mbg__alpha_adjoint_clear(mbg__alpha_adjoint *s) {
  const size_t n = (size_t)s->a->m->nw * (size_t)s->nc * sizeof(real);
  s->first = true;
  memset(s->xi, 0, n);
  memset(s->sig, 0, n);
  memset(s->tau, 0, n);
}

/* ---------------------------------------------------------------------- one criterion at one node */

/* seeds of the node in bw, bv, bd, fl; explicit attributes into ga */
static void take_seeds(mbg__alpha_adjoint *s, const mbg__seeds *seeds, int c, real *ga) {
  const mbg_model *m = s->a->m;
  const size_t bytes = (size_t)m->nw * sizeof(real);
  memset(s->bw, 0, bytes);
  memset(s->bv, 0, bytes);
  memset(s->bd, 0, bytes);
  memset(s->ba, 0, bytes);
  memset(s->fl, 0, (size_t)m->nrow * sizeof(real));
  for (int k = 0; k < seeds->nused; k++) {
    const real weight = seeds->seed[(size_t)c * (size_t)seeds->nused + (size_t)k];
    if (weight != 0) {
      mbg__system_signal_pull(s->a->sys, seeds->signal[k], weight, s->bw, s->bv, s->bd, s->fl, ga);
    }
  }
}

/* what the step that follows says about this node */
static void add_following(mbg__alpha_adjoint *s, int c) {
  const mbg_model *m = s->a->m;
  const mbg__alpha_coefs *k = &s->a->c;
  const double h = s->h, q = s->rescale;
  const real *xi = s->xi + (size_t)c * (size_t)m->nw, *sig = s->sig + (size_t)c * (size_t)m->nw;
  const real *tau = s->tau + (size_t)c * (size_t)m->nw;
  for (int b = 0; !s->first && b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    mbg__frame E;
    real Ax[6], Tx[6];
    mbg__se3_exp(&E, s->Dx + off);
    AdInvT_mul(Ax, &E, xi + off);
    m6_mulv_T(Tx, s->T + 36 * b, xi + off);
    for (int i = 0; i < 6; i++) {
      const real g = -(0.5 - k->beta) * h * h * Tx[i] - (1 - k->gamma) * h * sig[off + i] + k->am * tau[off + i];
      s->bw[off + i] -= Ax[i];
      s->bv[off + i] -= sig[off + i] + h * Tx[i];
      s->bd[off + i] += -k->af * tau[off + i] + (1 - q) * g;
      s->ba[off + i] = q * g;
    }
  }
}

/* ---------------------------------------------------------------------- a step backward */

static void right_side(mbg__alpha_adjoint *s, int c, const mbg__node *node) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const double h = node->h, scale = a->c.beta * h * h;
  real *x = s->X + (size_t)c * (size_t)(m->nv + m->nrow);
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real Tb[6];
    m6_mulv_T(Tb, a->T + 36 * b, s->bw + off);
    for (int i = 0; i < 6; i++) {
      const int j = m->dof[off + i];
      if (j >= 0) {
        x[j] = -(Tb[i] + alpha_gp(a, h) * s->bv[off + i] + alpha_bp(a, h) * s->bd[off + i] + s->ba[off + i] / scale);
      }
    }
  }
  /* the stepper's matrix has its rows scaled by beta h^2 and its multipliers too: S^T m = g by scaling both ways */
  for (int i = 0; i < m->nrow; i++) {
    x[m->nv + i] = a->rank->keep[i] ? -s->fl[i] / scale : 0;
  }
}

static void take_solution(mbg__alpha_adjoint *s, int c, double scale) {
  const mbg_model *m = s->a->m;
  const real *x = s->X + (size_t)c * (size_t)(m->nv + m->nrow);
  memset(s->mu, 0, (size_t)m->nw * sizeof(real));
  for (int j = 0; j < m->nv; j++) {
    s->mu[m->full[j]] = scale * x[j];
  }
  for (int i = 0; i < m->nrow; i++) {
    s->nu[i] = s->a->rank->keep[i] ? x[m->nv + i] : 0;
  }
}

/* xi = -bw - K^T mu - B^T nu, sig = -bv - C^T mu, tau = (M mu + bd)/(1-af) */
static void leave(mbg__alpha_adjoint *s, int c, real *ga) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const size_t nw = (size_t)m->nw;
  real *b = s->keep + 3 * nw * (size_t)c;
  real *xi = s->xi + (size_t)c * nw, *sig = s->sig + (size_t)c * nw, *tau = s->tau + (size_t)c * nw;
  mbg__system_pull(a->sys, s->mu, s->nu, NULL, NULL, b, b + nw, b + 2 * nw, NULL, ga);
  for (int i = 0; i < m->nw; i++) {
    const bool is_free = m->dof[i] >= 0;
    xi[i] = -b[i]; /* masked components too: a frame may depend on parameters outside its motions */
    sig[i] = is_free ? -b[nw + (size_t)i] : 0;
    tau[i] = is_free ? b[2 * nw + (size_t)i] / (1 - a->c.af) : 0;
  }
}

static void keep_bars(mbg__alpha_adjoint *s, int c) {
  const size_t nw = (size_t)s->a->m->nw;
  real *b = s->keep + 3 * nw * (size_t)c;
  memcpy(b, s->bw, nw * sizeof(real));
  memcpy(b + nw, s->bv, nw * sizeof(real));
  memcpy(b + 2 * nw, s->bd, nw * sizeof(real));
}

static void remember(mbg__alpha_adjoint *s, const mbg__node *node) {
  s->first = false;
  s->h = node->h;
  memcpy(s->Dx, node->Dx, (size_t)s->a->m->nw * sizeof(real));
  memcpy(s->T, s->a->T, 36 * (size_t)s->a->m->nbody * sizeof(real));
}

int mbg__alpha_adjoint_step(mbg_context *ctx, mbg__alpha_adjoint *s, const mbg__node *node, const mbg__seeds *seeds,
                            real *psi_a) {
  mbg__alpha *a = s->a;
  const size_t na = (size_t)a->m->na;
  int err = MBG_OK;
  s->rescale = s->first ? 1 : alpha_rescale(node, s->h);
  MBG_TRY(mbg__alpha_factor_at(ctx, a, node));
  MBG_TRY(mbg__system_linearize_signals(ctx, a->sys));
  for (int c = 0; c < s->nc; c++) {
    take_seeds(s, seeds, c, psi_a + (size_t)c * na);
    add_following(s, c);
    right_side(s, c, node);
    keep_bars(s, c);
  }
  mbg__klu_solve_T(a->saddle.klu, s->X, s->nc);
  a->work.solves += s->nc;
  for (int c = 0; c < s->nc; c++) {
    take_solution(s, c, a->c.beta * node->h * node->h);
    leave(s, c, psi_a + (size_t)c * na);
  }
  remember(s, node);
done:
  return err;
}

/* ---------------------------------------------------------------------- first node */

/* [M B^T; B 0] (mu, kappa) = -(bd + ba, f_lambda) is solved: its part of bw, bv and of the attributes */
static void end_criterion(mbg__alpha_adjoint *s, int c, real *ga) {
  const size_t nw = (size_t)s->a->m->nw;
  real *b = s->keep + 3 * nw * (size_t)c;
  take_solution(s, c, 1);
  mbg__system_pull(s->a->sys, s->mu, NULL, NULL, s->nu, b, b + nw, NULL, NULL, ga);
}

int mbg__alpha_adjoint_end(mbg_context *ctx, mbg__alpha_adjoint *s, mbg__start_work *start, const mbg__node *node,
                           const mbg__seeds *seeds, real *psi_a) {
  mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const size_t na = (size_t)m->na, nw = (size_t)m->nw;
  int err = MBG_OK;
  s->rescale = 1;
  MBG_TRY(mbg__alpha_factor_start(ctx, a, node));
  MBG_TRY(mbg__system_linearize_signals(ctx, a->sys));
  for (int c = 0; c < s->nc; c++) {
    real *x = s->X + (size_t)c * (size_t)(m->nv + m->nrow);
    take_seeds(s, seeds, c, psi_a + (size_t)c * na);
    add_following(s, c);
    for (int j = 0; j < m->nv; j++) {
      x[j] = -(s->bd[m->full[j]] + s->ba[m->full[j]]);
    }
    for (int i = 0; i < m->nrow; i++) {
      x[m->nv + i] = a->rank->keep[i] ? -s->fl[i] : 0;
    }
    keep_bars(s, c);
  }
  mbg__klu_solve_T(a->initial.klu, s->X, s->nc);
  for (int c = 0; c < s->nc; c++) {
    end_criterion(s, c, psi_a + (size_t)c * na);
  }
  /* the start uses the system as scratch: after all criteria */
  for (int c = 0; c < s->nc; c++) {
    const real *b = s->keep + 3 * nw * (size_t)c;
    MBG_TRY(mbg__start_pull(ctx, start, b, b + nw, psi_a + (size_t)c * na));
  }
done:
  return err;
}
