/* Discrete adjoint (theory 4, section 7): multipliers mu (dynamics), nu (phi), xi (frames), sig (twists), tau
   (auxiliary accelerations) of the step that led to a node. With f_* the seeds at node n and "+" the step from n to n+1
   of length h, T, A those of that step, s the factor by which it rescaled al - vd:

     g   = -(1/2-beta) h^2 T^T xi+ - (1-gamma) h sig+ + am tau+
     bw  = f_H - A^T xi+        bv = f_v - sig+ - h T^T xi+       bd = f_vd - af tau+ + (1-s) g      ba = s g
     S^T (mu, nu) = -(T^T bw + gp bv + bp bd + ba/(beta h^2),  f_lambda)          (T, h of the step that led to n)
     xi = -bw - K^T mu - B^T nu     sig = -bv - C^T mu     tau = (M mu + bd)/(1-af)
     psi_a += f_a + r_a^T mu + phi_a^T nu

   Index 2 (alpha_index2.c) has a multiplier kappa of phid too, and that of the increment is T^T xi:

     bw += h (E^T eta)_H^T T^T xi+          psi_a += h (E^T eta)_a^T T^T xi+ + phid_a^T kappa
     S^T (mu, eps, nu, kappa) = -(gp bv + bp bd + ba/(beta h^2),  T^T bw,  f_lambda,  0)
     xi -= Z^T kappa     sig -= B^T kappa */
#include "formulations/alpha/alpha_work.h"

#include <string.h>

typedef struct {
  mbg__alpha *a;
  mbg__arena arena;
  int nc;
  const mbg__criterion_seeds *seeds;
  real *psi_a;
  int node;                /* the present one */
  bool first;              /* no step follows yet */
  double h;                /* step that follows */
  double rescale;          /* of the step that follows */
  real *seed;              /* weights of the used signals at the node   (nc x nused) */
  real *Dx, *T, *eta;      /* of the step that follows           (nw, nbody x 36, nrow) */
  real *xi, *sig, *tau;    /* of the step that follows           (nw x nc) */
  real *bw, *bv, *bd, *ba; /*                                   (nw) */
  real *fl;                /* seed of the multipliers            (nrow) */
  real *X;                 /* right-hand sides and solutions     (n x nc, n of the stepper) */
  real *keep;              /* bw, bv, bd of all criteria         (3 nw x nc) */
  real *mu, *nu, *kappa;   /* kappa: index 2, else NULL          (nw, nrow, nrow) */
  real *bh;                /* index 2: into bw by the increment that follows   (nw x nc) */
  real *rest;              /* bars of rotors while others are pulled   (nrotor x 18) */
  real *bc;                /* of points of rotors                (3 nrotor x nc) */
} adjoint;

static int create(mbg_context *ctx, adjoint *s) {
  const mbg_model *m = s->a->m;
  const size_t nw = (size_t)m->nw, nc = (size_t)s->nc;
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  s->seed = MBG_TAKE(&s->arena, real, nc * (size_t)s->a->nused);
  s->Dx = MBG_TAKE(&s->arena, real, nw);
  s->T = MBG_TAKE(&s->arena, real, 36 * (size_t)m->nbody);
  s->xi = MBG_TAKE(&s->arena, real, nw * nc);
  s->sig = MBG_TAKE(&s->arena, real, nw * nc);
  s->tau = MBG_TAKE(&s->arena, real, nw * nc);
  s->bw = MBG_TAKE(&s->arena, real, nw);
  s->bv = MBG_TAKE(&s->arena, real, nw);
  s->bd = MBG_TAKE(&s->arena, real, nw);
  s->ba = MBG_TAKE(&s->arena, real, nw);
  s->fl = MBG_TAKE(&s->arena, real, m->nrow);
  s->X = MBG_TAKE(&s->arena, real, (size_t)s->a->n * nc);
  s->keep = MBG_TAKE(&s->arena, real, 3 * nw * nc);
  s->mu = MBG_TAKE(&s->arena, real, nw);
  s->nu = MBG_TAKE(&s->arena, real, m->nrow);
  s->rest = MBG_TAKE(&s->arena, real, 18 * s->a->nrotor);
  s->bc = MBG_TAKE(&s->arena, real, 3 * (size_t)s->a->nrotor * nc);
  if (s->a->index2) {
    s->eta = MBG_TAKE(&s->arena, real, m->nrow);
    s->kappa = MBG_TAKE(&s->arena, real, m->nrow);
    s->bh = MBG_TAKE(&s->arena, real, nw * nc);
  }
  return mbg__arena_check(ctx, &s->arena);
}

/* ---------------------------------------------------------------------- one criterion at one node */

static real *point(const adjoint *s, int c) { return s->bc + 3 * (size_t)(c * s->a->nrotor); }

/* seeds of the node in bw, bv, bd, fl; explicit attributes into ga */
static void take_seeds(adjoint *s, int c, real *ga) {
  const mbg_model *m = s->a->m;
  const size_t bytes = (size_t)m->nw * sizeof(real);
  memset(s->bw, 0, bytes);
  memset(s->bv, 0, bytes);
  memset(s->bd, 0, bytes);
  memset(s->ba, 0, bytes);
  memset(s->fl, 0, (size_t)m->nrow * sizeof(real));
  for (int k = 0; k < s->a->nused; k++) {
    const real weight = s->seed[(size_t)c * (size_t)s->a->nused + (size_t)k];
    if (weight != 0) {
      mbg__system_signal_pull(s->a->sys, s->a->used[k], weight, s->bw, s->bv, s->bd, s->fl, ga);
    }
  }
  mbg__seeds_add_poses(&s->seeds[c], m->nw, s->node, s->bw, s->bv);
  mbg__rotors_pull_twist(s->a, 1, s->bv, s->bd, point(s, c));
  mbg__rotors_pull(s->a, s->bw, s->bv, s->bd);
}

/* index 2: h (E^T eta)^T T^T xi of the step that follows, by the frames (bh) and the attributes; moves the system */
static int add_correction(mbg_context *ctx, adjoint *s, const mbg__alpha_node *node) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const size_t nw = (size_t)m->nw;
  const real *f;
  int err = MBG_OK;
  if (!a->index2 || s->first) {
    return MBG_OK;
  }
  MBG_TRY(mbg__alpha_index2_wrenches(ctx, a->index2, node, s->eta, &f));
  for (int c = 0; c < s->nc; c++) {
    real *bh = s->bh + (size_t)c * nw;
    for (int b = 0; b < m->nbody; b++) {
      const int off = m->bodies[b].voff;
      m6_mulv_T(s->mu + off, s->T + 36 * b, s->xi + (size_t)c * nw + (size_t)off);
    }
    for (int i = 0; i < m->nw; i++) {
      s->mu[i] = m->dof[i] >= 0 ? s->h * s->mu[i] : 0;
    }
    vn_zero(m->nw, bh);
    mbg__rotors_pull_wrench(a, node, f, s->mu, bh, point(s, c));
    mbg__system_pull(a->sys, s->mu, NULL, NULL, NULL, bh, NULL, NULL, NULL, s->psi_a + (size_t)c * (size_t)m->na);
  }
done:
  return err;
}

/* cotangents that the step that follows hands to this node */
static void add_following(adjoint *s, int c, const mbg__alpha_node *node) {
  const mbg_model *m = s->a->m;
  const mbg__alpha_coefs *k = &s->a->c;
  const double h = s->h, q = s->rescale;
  const real *xi = s->xi + (size_t)c * (size_t)m->nw, *sig = s->sig + (size_t)c * (size_t)m->nw;
  const real *tau = s->tau + (size_t)c * (size_t)m->nw;
  if (!s->first && s->bh) {
    vn_axpy(m->nw, s->bw, 1, s->bh + (size_t)c * (size_t)m->nw);
  }
  if (!s->first) {
    mbg__rotors_pull_step(s->a, node, s->Dx, -1, xi, point(s, c));
  }
  for (int b = 0; !s->first && b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real Ax[6], Tx[6];
    mbg__alpha_transport_T(s->a, b, &node->H[b], s->Dx + off, xi + off, Ax);
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

static void right_side(adjoint *s, int c, const mbg__alpha_node *node) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const double h = *node->h, scale = a->c.beta * h * h;
  real *x = s->X + (size_t)c * (size_t)a->n;
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real Tb[6];
    m6_mulv_T(Tb, a->T + 36 * b, s->bw + off);
    for (int i = 0; i < 6; i++) {
      const int j = m->dof[off + i];
      if (j >= 0) {
        const real own = a->atD ? 0 : Tb[i];
        x[a->atD + j] = -Tb[i];
        x[j] = -(own + alpha_gp(a, h) * s->bv[off + i] + alpha_bp(a, h) * s->bd[off + i] + s->ba[off + i] / scale);
      }
    }
  }
  /* the stepper's matrix has its rows scaled by beta h^2 and its multipliers too: S^T m = g by scaling both ways */
  for (int i = 0; i < m->nrow; i++) {
    x[a->atL + i] = a->rank->keep[i] ? -s->fl[i] / scale : 0;
  }
  for (int i = 0; a->index2 && i < m->nrow; i++) {
    x[a->atE + i] = 0;
  }
}

static void take_solution(adjoint *s, int c, double h) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  real *x = s->X + (size_t)c * (size_t)a->n;
  for (int i = 0; a->index2 && i < m->nrow; i++) {
    s->kappa[i] = a->rank->keep[i] ? h * x[a->atE + i] : 0;
  }
  memmove(x + m->nv, x + a->atL, (size_t)m->nrow * sizeof(real));
  mbg__scatter(m, a->rank->keep, a->c.beta * h * h, x, s->mu, s->nu);
}

/* bars += (K, C, M)^T mu + (B, 0, 0)^T nu, in the variables of nodes */
static void add_pull(adjoint *s, int c, real *w, real *v, real *vd, real *ga) {
  const mbg__alpha *a = s->a;
  real *bars[3] = {w, v, vd};
  for (int i = 0; i < a->nrotor; i++) {
    for (int k = 0; k < 3; k++) {
      v6_copy(s->rest + 18 * i + 6 * k, bars[k] + a->rotors[i].off);
      v6_zero(bars[k] + a->rotors[i].off);
    }
  }
  mbg__system_pull(a->sys, s->mu, s->nu, s->kappa, NULL, w, v, vd, NULL, ga);
  mbg__rotors_pull_twist(a, 1, v, vd, point(s, c));
  mbg__rotors_pull(a, w, v, vd);
  for (int i = 0; i < a->nrotor; i++) {
    for (int k = 0; k < 3; k++) {
      v6_axpy(bars[k] + a->rotors[i].off, 1, s->rest + 18 * i + 6 * k);
    }
  }
}

/* xi = -bw - K^T mu - B^T nu, sig = -bv - C^T mu, tau = (M mu + bd)/(1-af) */
static void leave(adjoint *s, int c, real *ga) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const size_t nw = (size_t)m->nw;
  real *b = s->keep + 3 * nw * (size_t)c;
  real *xi = s->xi + (size_t)c * nw, *sig = s->sig + (size_t)c * nw, *tau = s->tau + (size_t)c * nw;
  add_pull(s, c, b, b + nw, b + 2 * nw, ga);
  for (int i = 0; i < m->nw; i++) {
    const bool is_free = m->dof[i] >= 0;
    xi[i] = -b[i]; /* masked components too: a frame may depend on parameters outside its motions */
    sig[i] = is_free ? -b[nw + (size_t)i] : 0;
    tau[i] = is_free ? b[2 * nw + (size_t)i] / (1 - a->c.af) : 0;
  }
}

static void keep_bars(adjoint *s, int c) {
  const size_t nw = (size_t)s->a->m->nw;
  real *b = s->keep + 3 * nw * (size_t)c;
  memcpy(b, s->bw, nw * sizeof(real));
  memcpy(b + nw, s->bv, nw * sizeof(real));
  memcpy(b + 2 * nw, s->bd, nw * sizeof(real));
}

static void remember(adjoint *s, const mbg__alpha_node *node) {
  s->first = false;
  s->h = *node->h;
  memcpy(s->Dx, node->Dx, (size_t)s->a->m->nw * sizeof(real));
  memcpy(s->T, s->a->T, 36 * (size_t)s->a->m->nbody * sizeof(real));
  if (s->eta) {
    memcpy(s->eta, node->eta, (size_t)s->a->m->nrow * sizeof(real));
  }
}

static int back(mbg_context *ctx, adjoint *s, const mbg__alpha_node *node) {
  mbg__alpha *a = s->a;
  const size_t na = (size_t)a->m->na;
  int err = MBG_OK;
  s->rescale = s->first ? 1 : alpha_rescale(*node->h, s->h);
  MBG_TRY(add_correction(ctx, s, node));
  MBG_TRY(mbg__alpha_factor_at(ctx, a, node));
  MBG_TRY(mbg__system_linearize_signals(ctx, a->sys));
  for (int c = 0; c < s->nc; c++) {
    take_seeds(s, c, s->psi_a + (size_t)c * na);
    add_following(s, c, node);
    right_side(s, c, node);
    keep_bars(s, c);
  }
  mbg__alpha_solve(a, true, s->X, s->nc);
  for (int c = 0; c < s->nc; c++) {
    take_solution(s, c, *node->h);
    leave(s, c, s->psi_a + (size_t)c * na);
  }
  remember(s, node);
done:
  return err;
}

/* ---------------------------------------------------------------------- first node */

/* [M B^T; B 0] (mu, kappa) = -(bd + ba, f_lambda) is solved: its part of bw, bv and of the attributes */
static void end_criterion(adjoint *s, int c, real *ga) {
  const size_t nw = (size_t)s->a->m->nw;
  real *b = s->keep + 3 * nw * (size_t)c;
  mbg__scatter(s->a->m, s->a->rank->keep, 1, s->X + (size_t)c * (size_t)(s->a->m->nv + s->a->m->nrow), s->mu, s->nu);
  mbg__system_pull(s->a->sys, s->mu, NULL, NULL, s->nu, b, b + nw, NULL, NULL, ga);
}

static int end(mbg_context *ctx, adjoint *s, const mbg__alpha_node *node) {
  mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const size_t na = (size_t)m->na, nw = (size_t)m->nw;
  int err = MBG_OK;
  s->rescale = 1;
  MBG_TRY(add_correction(ctx, s, node));
  MBG_TRY(mbg__alpha_factor_start(ctx, a, node));
  MBG_TRY(mbg__system_linearize_signals(ctx, a->sys));
  mbg__rotors_linearize(a, node);
  for (int c = 0; c < s->nc; c++) {
    take_seeds(s, c, s->psi_a + (size_t)c * na);
    add_following(s, c, node);
    vn_axpy(m->nw, s->bd, 1, s->ba);
    mbg__rotors_pull_start(a, s->bw, s->bv, s->bd);
    mbg__rotors_pull_twist(a, -1, s->bv, s->bd, point(s, c));
    mbg__rotors_pull_point(a, point(s, c), s->psi_a + (size_t)c * na);
    mbg__gather(m, a->rank->keep, -1, s->bd, -1, s->fl, s->X + (size_t)c * (size_t)(m->nv + m->nrow));
    keep_bars(s, c);
  }
  mbg__klu_solve_T(a->initial.klu, s->X, s->nc);
  for (int c = 0; c < s->nc; c++) {
    end_criterion(s, c, s->psi_a + (size_t)c * na);
  }
  /* the start uses the system as scratch: after all criteria */
  for (int c = 0; c < s->nc; c++) {
    const real *b = s->keep + 3 * nw * (size_t)c;
    MBG_TRY(mbg__start_pull(ctx, a->start, b, b + nw, s->psi_a + (size_t)c * na));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

static int visit(mbg_context *ctx, void *user, int n, const void *block) {
  adjoint *s = user;
  const mbg__alpha_node node = mbg__alpha_view(s->a, block);
  s->node = n;
  mbg__seeds_at(s->seeds, s->nc, mbg__march_nodes(s->a->march), n, s->seed);
  return n > 0 ? back(ctx, s, &node) : end(ctx, s, &node);
}

int mbg__alpha_adjoint(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a) {
  adjoint s = {.a = a, .nc = ncrit, .seeds = seeds, .psi_a = psi_a, .first = true};
  int err = MBG_OK;
  MBG_TRY(create(ctx, &s));
  MBG_TRY(mbg__march_backward(ctx, a->march, visit, &s));
done:
  mbg__arena_destroy(&s.arena);
  return err;
}
