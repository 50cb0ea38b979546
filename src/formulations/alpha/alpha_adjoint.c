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
     xi -= Z^T kappa     sig -= B^T kappa

   Events (theory 7, section 5): the derivative of the Lagrangian by the length of a step is

     hb = -b_x.(T^T xi) - b_v.sig + g.(al - vd)/h_old          (b_x, b_v: alpha_tangent.c; h_oldb likewise)

   and by the time of a node what pulls add to the attribute `clock`. A step that ends at a guard has one more column,
   the guard's; kap times it makes the sum of both vanish, kap = (hb + t1b + tb)/(hg + tg + g_t). */
#include "event/event.h"
#include "formulations/alpha/alpha_work.h"
#include "system/system_lanes.h"

#include <string.h>

typedef struct {
  mbg__alpha *a;
  mbg__arena arena;
  int nc; /* columns: criteria, and one more in a step to a guard */
  int ncrit;
  const mbg__criterion_seeds *seeds;
  real *psi_a;             /* of the criteria                    (ncrit x na) */
  real *guard_a;           /* of the guard's column              (na) */
  const mbg__event *event; /* events: the one that the step to the present node ends at, NULL: none */
  int guard;               /* ... signal that ends the step to the present node, -1: none */
  int guarded, timed;      /* ... and of the step that follows; attribute of a time event that ends it, -1 */
  bool start_moves;        /* the step to the present node starts after an event */
  bool after_event;        /* an event follows: xi, sig are cotangents of frames and twists before it */
  real *tb, *hb;           /* of the time of the node that follows, of the length of the step that follows  (nc) */
  real *h_late;            /* of the length of the step to the present node, by the change of step after it  (nc) */
  real *al, *alb;          /* al at the end of the step that follows; cotangent of al as used  (nw, nw x nc) */
  real *impulse;           /* of impulses                        (nc) */
  void *after;             /* node after an event */
  mbg__alpha_near *near;   /* solutions by factors of the guess, NULL: by those of the node */
  int node;                /* the present one */
  bool first;              /* no step follows yet */
  real h;                  /* step that follows */
  real rescale;            /* of the step that follows */
  real *seed;              /* weights of the used signals at the node   (nc x nused) */
  real *Dx, *T, *eta;      /* of the step that follows           (nw, nbody x 36, nrow) */
  real *xi, *sig, *tau;    /* of the step that follows           (nw x nc) */
  real *bw, *bv, *bd, *ba; /*                                   (nw) */
  real *fl;                /* seed of the multipliers            (nrow) */
  real *X;                 /* right-hand sides and solutions     (n x nc, n of the stepper) */
  real *keep;              /* bw, bv, bd of all criteria         (3 nw x nc) */
  mbg__lanes_block *block; /* columns side by side, NULL: there is one */
  real *mu, *nu, *kappa;   /* kappa: index 2 or rates, else NULL (nw, nrow, nrow, MBG__LANES columns) */
  real *bh;                /* index 2: into bw by the increment that follows   (nw x nc) */
  real *rest;              /* bars of rotors while others are pulled   (nrotor x 18, MBG__LANES columns) */
  real *bc;                /* of points of rotors                (3 nrotor x nc) */
} adjoint;

static int create(mbg_context *ctx, adjoint *s) {
  const mbg_model *m = s->a->m;
  const size_t nw = (size_t)m->nw, nc = (size_t)s->ncrit + (s->a->events != NULL);
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
  if (s->a->events) {
    s->guard_a = MBG_TAKE(&s->arena, real, m->na);
    s->tb = MBG_TAKE(&s->arena, real, nc);
    s->hb = MBG_TAKE(&s->arena, real, nc);
    s->h_late = MBG_TAKE(&s->arena, real, nc);
    s->al = MBG_TAKE(&s->arena, real, nw);
    s->alb = MBG_TAKE(&s->arena, real, nw * nc);
    s->impulse = MBG_TAKE(&s->arena, real, nc);
    s->after = mbg__arena_take(&s->arena, 1, mbg__alpha_node_bytes(s->a));
  }
  s->mu = MBG_TAKE(&s->arena, real, MBG__LANES * nw);
  s->nu = MBG_TAKE(&s->arena, real, MBG__LANES * (size_t)m->nrow);
  s->rest = MBG_TAKE(&s->arena, real, MBG__LANES * 18 * s->a->nrotor);
  s->bc = MBG_TAKE(&s->arena, real, 3 * (size_t)s->a->nrotor * nc);
  if (s->a->rates || s->a->index2) {
    s->kappa = MBG_TAKE(&s->arena, real, MBG__LANES * (size_t)m->nrow);
  }
  if (s->a->index2) {
    s->eta = MBG_TAKE(&s->arena, real, m->nrow);
    s->bh = MBG_TAKE(&s->arena, real, nw * nc);
  }
  int err = mbg__arena_check(ctx, &s->arena);
  err = err < 0 || nc == 1 ? err : mbg__lanes_block_create_large(ctx, &s->arena, s->a->sys, &s->block);
  return err < 0 ? err : mbg__alpha_near_create(ctx, &s->arena, s->a, s->ncrit, s->block, &s->near);
}

/* ---------------------------------------------------------------------- one criterion at one node */

static real *attributes_of(const adjoint *s, int c) {
  return c < s->ncrit ? s->psi_a + (size_t)c * (size_t)s->a->m->na : s->guard_a;
}

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
  if (c == s->ncrit) {
    if (s->guard >= 0) {
      mbg__system_signal_pull(s->a->sys, s->guard, 1, s->bw, s->bv, NULL, NULL, ga);
    }
    return;
  }
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
  for (int c = 0; c < s->ncrit; c++) {
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
    mbg__system_pull(a->sys, s->mu, NULL, NULL, NULL, bh, NULL, NULL, NULL, attributes_of(s, c));
  }
done:
  return err;
}

/* cotangents that the step that follows hands to this node */
static void add_following(adjoint *s, int c, const mbg__alpha_node *node) {
  const mbg_model *m = s->a->m;
  const mbg__alpha_coefs *k = &s->a->c;
  const real h = s->h, q = s->rescale;
  const real *xi = s->xi + (size_t)c * (size_t)m->nw, *sig = s->sig + (size_t)c * (size_t)m->nw;
  const real *tau = s->tau + (size_t)c * (size_t)m->nw;
  if (c == s->ncrit) {
    return;
  }
  if (s->after_event) {
    vn_axpy(m->nw, s->bw, 1, xi);
    vn_axpy(m->nw, s->bv, 1, sig);
    return;
  }
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
      if (s->start_moves) {
        s->alb[(size_t)c * (size_t)m->nw + (size_t)(off + i)] = g;
      }
    }
  }
}

/* ---------------------------------------------------------------------- a step backward */

static void right_side(adjoint *s, int c, const mbg__alpha_node *node) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const real h = *node->h, scale = a->c.beta * h * h;
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

/* X of criterion c as weights of the equations, the q-th of a block */
static mbg__block_weights take_solution(adjoint *s, int c, int q, real h) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const size_t nrow = (size_t)m->nrow;
  real *x = s->X + (size_t)c * (size_t)a->n, *mu = s->mu + (size_t)q * (size_t)m->nw, *nu = s->nu + (size_t)q * nrow;
  real *kappa = s->kappa ? s->kappa + (size_t)q * nrow : NULL;
  for (int i = 0; a->index2 && i < m->nrow; i++) {
    kappa[i] = a->rank->keep[i] ? h * x[a->atE + i] : 0;
  }
  memmove(x + m->nv, x + a->atL, nrow * sizeof(real));
  mbg__scatter(m, a->rank->keep, a->c.beta * h * h, x, mu, nu);
  if (a->rates) {
    mbg__alpha_rates_pull(a, h, nu, kappa, attributes_of(s, c)); /* a guard's column has a place of its own */
  }
  return (mbg__block_weights){.z = mu, .mu = nu, .nu = kappa};
}

/* xi = -bw - K^T mu - B^T nu, sig = -bv - C^T mu, tau = (M mu + bd)/(1-af) */
static void leave(adjoint *s, int c, const real *b) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const size_t nw = (size_t)m->nw;
  real *xi = s->xi + (size_t)c * nw, *sig = s->sig + (size_t)c * nw, *tau = s->tau + (size_t)c * nw;
  for (int i = 0; i < m->nw; i++) {
    const bool is_free = m->dof[i] >= 0;
    xi[i] = -b[i]; /* masked components too: a frame may depend on parameters outside its motions */
    sig[i] = is_free ? -b[nw + (size_t)i] : 0;
    tau[i] = is_free ? b[2 * nw + (size_t)i] / (1 - a->c.af) : 0;
  }
}

/* bars += (K, C, M)^T mu + (B, 0, 0)^T nu of criteria first, first + 1, ... */
static void leave_block(adjoint *s, int first, int count, real h) {
  const size_t nw = (size_t)s->a->m->nw;
  mbg__block_weights x[MBG__LANES];
  mbg__block_sums g[MBG__LANES];
  for (int q = 0; q < count; q++) {
    real *b = s->keep + 3 * nw * (size_t)(first + q);
    x[q] = take_solution(s, first + q, q, h);
    g[q] = (mbg__block_sums){.w = b, .v = b + nw, .vd = b + 2 * nw, .a = attributes_of(s, first + q)};
    mbg__rotors_put_aside(s->a, g[q].w, g[q].v, g[q].vd, s->rest + 18 * q * s->a->nrotor);
  }
  mbg__system_pull_block(s->a->sys, s->block, count, x, g);
  for (int q = 0; q < count; q++) {
    mbg__rotors_take_back(s->a, g[q].w, g[q].v, g[q].vd, s->rest + 18 * q * s->a->nrotor, point(s, first + q));
    leave(s, first + q, g[q].w);
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
  s->first = s->after_event = false;
  if (s->start_moves || s->guarded >= 0 || s->timed >= 0) {
    memcpy(s->al, node->al, (size_t)s->a->m->nw * sizeof(real));
  }
  s->h = *node->h;
  memcpy(s->Dx, node->Dx, (size_t)s->a->m->nw * sizeof(real));
  memcpy(s->T, s->a->T, 36 * (size_t)s->a->m->nbody * sizeof(real));
  if (s->eta) {
    memcpy(s->eta, node->eta, (size_t)s->a->m->nrow * sizeof(real));
  }
}

/* ---------------------------------------------------------------------- events */

/* hb of the step that follows, from the node it starts at; that by the change of step is added when alb is known */
static real length_bar(const adjoint *s, int c, const mbg__alpha_node *node) {
  const mbg_model *m = s->a->m;
  const mbg__alpha_coefs *k = &s->a->c;
  const real *xi = s->xi + (size_t)c * (size_t)m->nw, *sig = s->sig + (size_t)c * (size_t)m->nw;
  const real h = s->h, q = alpha_rescale(*node->h, h);
  real sum = 0;
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real Tx[6];
    m6_mulv_T(Tx, s->T + 36 * b, xi + off);
    for (int i = off; i < off + 6; i++) {
      if (m->dof[i] >= 0) {
        const real al0 = node->vd[i] + q * (node->al[i] - node->vd[i]);
        const real bx = node->v[i] + (1 - 2 * k->beta) * h * al0 + 2 * k->beta * h * s->al[i];
        sum -= bx * Tx[i - off] + ((1 - k->gamma) * al0 + k->gamma * s->al[i]) * sig[i];
        if (re(*node->h) > 0) {
          const real g = -(0.5 - k->beta) * h * h * Tx[i - off] - (1 - k->gamma) * h * sig[i] +
                         k->am * s->tau[(size_t)c * (size_t)m->nw + (size_t)i];
          sum += g * (node->al[i] - node->vd[i]) / *node->h;
        }
      }
    }
  }
  return sum;
}

/* h_oldb of the change of step at the node, after add_following */
static real late_bar(const adjoint *s, int c, const mbg__alpha_node *node) {
  const mbg_model *m = s->a->m;
  const real old = *node->h;
  real sum = 0;
  for (int i = 0; re(old) > 0 && i < m->nw; i++) {
    sum -= m->dof[i] < 0
               ? 0
               : (node->al[i] - node->vd[i]) * s->alb[(size_t)c * (size_t)m->nw + (size_t)i] * s->h / (old * old);
  }
  return sum;
}

/* the guard's column makes the sum of all derivatives by the time of the event vanish */
static void meet_guard(adjoint *s) {
  const mbg_model *m = s->a->m;
  const int g = s->ncrit, nw = m->nw;
  const real all = s->hb[g] + s->tb[g];
  for (int c = 0; c < s->ncrit; c++) {
    const real kap = (s->hb[c] + s->tb[c]) / all;
    real *ofs[] = {s->xi, s->sig, s->tau};
    for (int k = 0; k < MBG_COUNT(ofs); k++) {
      vn_axpy(nw, ofs[k] + c * nw, -kap, ofs[k] + g * nw);
    }
    vn_axpy(m->na, attributes_of(s, c), -kap, s->guard_a);
    s->hb[c] -= kap * s->hb[g];
  }
}

/* At the node where the step that follows starts: its length, and with an event its time; t0b = -hb of this node. A
   step between nodes that stay has a length that stays. */
static void by_length(adjoint *s, const mbg__alpha_node *node) {
  const bool moves = s->guarded >= 0 || s->timed >= 0 || re(*node->h) < 0;
  if (!s->a->events || s->first || s->after_event) {
    return;
  }
  if (!moves) {
    vn_zero(s->ncrit, s->hb);
    vn_zero(s->ncrit, s->tb);
    return;
  }
  for (int c = 0; c < s->ncrit + (s->guarded >= 0); c++) {
    s->hb[c] = s->h_late[c] + length_bar(s, c, node);
  }
  if (s->guarded >= 0) {
    meet_guard(s);
  } else if (s->timed >= 0) {
    for (int c = 0; c < s->ncrit; c++) {
      attributes_of(s, c)[s->timed] += s->hb[c] + s->tb[c];
    }
  }
  for (int c = 0; c < s->ncrit; c++) {
    s->tb[c] = -s->hb[c];
  }
}

static void take_clock(adjoint *s, int nc) {
  for (int c = 0; c < nc; c++) {
    real *clock = attributes_of(s, c) + s->a->m->clock;
    s->tb[c] += *clock;
    *clock = 0;
  }
}

/* derivatives by the time of the node: what pulls left at the clock, and (it moves) by weights of criteria */
static void by_time(adjoint *s, bool moves) {
  const int nc = s->a->events ? s->nc : 0;
  take_clock(s, nc);
  for (int c = 0; moves && c < nc && c < s->ncrit; c++) {
    s->tb[c] += mbg__seed_time(&s->seeds[c], mbg__march_nodes(s->a->march), s->node);
  }
}

static const mbg__event *event_there(const adjoint *s) {
  return s->a->events ? mbg__events_which(s->a->events, mbg__march_fires(s->a->march, s->node)) : NULL;
}

/* which event the step to the present node ends at */
static void look_ahead(adjoint *s) {
  const mbg__alpha *a = s->a;
  const mbg__event *e = s->event = event_there(s);
  s->guard = e ? e->guard : -1;
  s->nc = s->ncrit + (s->guard >= 0);
  s->start_moves = a->events && s->node > 0 && mbg__march_fired(a->march, s->node - 1) >= 0;
  if (s->guard >= 0) {
    memset(s->guard_a, 0, (size_t)a->m->na * sizeof(real));
    s->tb[s->ncrit] = 0;
  }
}

/* after the step to the present node: what its start needs */
static void look_back(adjoint *s) {
  s->guarded = s->event ? s->event->guard : -1;
  s->timed = s->event ? s->event->at : -1;
}

static int back(mbg_context *ctx, adjoint *s, mbg__alpha_node at) {
  const mbg__alpha_node *const node = &at;
  mbg__alpha *a = s->a;
  bool near;
  int err = MBG_OK;
  s->rescale = s->first || s->after_event ? 1 : alpha_rescale(*node->h, s->h);
  by_length(s, node);
  look_ahead(s);
  MBG_TRY(add_correction(ctx, s, node));
  MBG_TRY(mbg__alpha_near_factors(ctx, a, s->near, s->node, &at, &near));
  MBG_TRY(mbg__system_linearize_signals(ctx, a->sys));
  MBG_TRY(s->guard >= 0 ? mbg__system_linearize_guard(ctx, a->sys, s->guard) : MBG_OK);
  for (int c = 0; c < s->nc; c++) {
    take_seeds(s, c, attributes_of(s, c));
    add_following(s, c, node);
    if (a->events) {
      const bool none = s->first || s->after_event || c == s->ncrit || !s->start_moves;
      s->h_late[c] = none ? 0 : late_bar(s, c, node);
    }
    right_side(s, c, node);
    keep_bars(s, c);
  }
  MBG_TRY(mbg__alpha_near_solve_T(ctx, a, near ? s->near : NULL, node, s->X, s->nc));
  for (int c = 0; c < s->nc; c += MBG__LANES) {
    leave_block(s, c, s->nc - c < MBG__LANES ? s->nc - c : MBG__LANES, *node->h);
  }
  by_time(s, s->event != NULL);
  look_back(s);
  remember(s, node);
done:
  return err;
}

/* ---------------------------------------------------------------------- first node */

/* [M B^T; B 0] (mu, kappa) = -(bd + ba, f_lambda) is solved: its part of bw, bv and of the attributes */
static void end_block(adjoint *s, int first, int count) {
  const mbg_model *m = s->a->m;
  mbg__block_weights x[MBG__LANES];
  mbg__block_sums g[MBG__LANES];
  for (int q = 0; q < count; q++) {
    real *b = s->keep + 3 * m->nw * (first + q), *mu = s->mu + q * m->nw, *kappa = s->nu + q * m->nrow;
    mbg__scatter(m, s->a->rank->keep, 1, s->X + (first + q) * (m->nv + m->nrow), mu, kappa);
    x[q] = (mbg__block_weights){.z = mu, .kappa = kappa};
    g[q] = (mbg__block_sums){.w = b, .v = b + m->nw, .a = attributes_of(s, first + q)};
  }
  mbg__system_pull_block(s->a->sys, s->block, count, x, g);
}

/* The node without a step, at the start and after an event: cotangents of frames and twists in `keep`, by the
   accelerations there. */
static int unaccelerate(mbg_context *ctx, adjoint *s, int firing, const mbg__alpha_node *node) {
  mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  int err = MBG_OK;
  s->rescale = 1;
  s->guard = -1;
  by_length(s, node);
  MBG_TRY(add_correction(ctx, s, node));
  MBG_TRY(mbg__alpha_factors_of(ctx, a, firing, node));
  MBG_TRY(mbg__system_linearize_signals(ctx, a->sys));
  mbg__rotors_linearize(a, node);
  for (int c = 0; c < s->ncrit; c++) {
    take_seeds(s, c, attributes_of(s, c));
    add_following(s, c, node);
    vn_axpy(m->nw, s->bd, 1, s->ba);
    mbg__rotors_pull_start(a, s->bw, s->bv, s->bd);
    mbg__rotors_pull_twist(a, -1, s->bv, s->bd, point(s, c));
    mbg__rotors_pull_point(a, point(s, c), attributes_of(s, c));
    mbg__gather(m, a->rank->keep, -1, s->bd, -1, s->fl, s->X + (size_t)c * (size_t)(m->nv + m->nrow));
    keep_bars(s, c);
  }
  mbg__saddle_solve(&a->initial, true, mbg__rank_close(a->rank), s->X, s->ncrit);
  for (int c = 0; c < s->ncrit; c += MBG__LANES) {
    end_block(s, c, s->ncrit - c < MBG__LANES ? s->ncrit - c : MBG__LANES);
  }
  by_time(s, true);
done:
  return err;
}

static int end(mbg_context *ctx, adjoint *s, const mbg__alpha_node *node) {
  const size_t nw = (size_t)s->a->m->nw;
  int err = MBG_OK;
  MBG_TRY(unaccelerate(ctx, s, -1, node));
  /* the start uses the system as scratch: after all criteria */
  for (int c = 0; c < s->ncrit; c++) {
    const real *b = s->keep + 3 * nw * (size_t)c;
    MBG_TRY(mbg__start_pull(ctx, s->a->start, b, b + nw, attributes_of(s, c)));
  }
done:
  return err;
}

/* from the state after a firing to that before it: xi and sig become cotangents of its frames and twists */
static int event(mbg_context *ctx, adjoint *s, int firing, const mbg__alpha_node *node, const mbg__alpha_node *from) {
  mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const size_t nw = (size_t)m->nw;
  const int impulse = m->events[mbg__events_firings(a->events)[firing].event].impulse;
  int err = MBG_OK;
  MBG_TRY(unaccelerate(ctx, s, firing, node));
  for (int c = 0; c < s->ncrit; c++) {
    const real *b = s->keep + 3 * nw * (size_t)c;
    memcpy(s->xi + (size_t)c * nw, b, nw * sizeof(real));
    memcpy(s->sig + (size_t)c * nw, b + nw, nw * sizeof(real));
    s->impulse[c] = 0;
    if (impulse >= 0) {
      s->impulse[c] = attributes_of(s, c)[impulse];
      attributes_of(s, c)[impulse] = 0;
    }
  }
  const mbg__state before = mbg__alpha_state(a, from);
  mbg__events_factors(a->events); /* the frames are the same */
  MBG_TRY(mbg__events_pull(ctx, a->events, firing, &before, s->ncrit, s->block, s->impulse, s->xi, s->sig, s->psi_a));
  take_clock(s, s->ncrit);
  s->after_event = true;
  s->first = false;
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

/* the node before the event is asked for, too */
static int visit_event(mbg_context *ctx, adjoint *s, int firing, int n, const void *block) {
  const void *before;
  int err = MBG_OK;
  memcpy(s->after, block, mbg__alpha_node_bytes(s->a));
  MBG_TRY(mbg__march_restore(ctx, s->a->march, n - 1, &before));
  mbg__events_after(s->a->events, firing + 1);
  const mbg__alpha_node node = mbg__alpha_view(s->a, s->after), from = mbg__alpha_view(s->a, before);
  MBG_TRY(event(ctx, s, firing, &node, &from));
done:
  return err;
}

static int visit(mbg_context *ctx, void *user, int n, const void *block) {
  adjoint *s = user;
  const mbg__alpha_node node = mbg__alpha_view(s->a, block);
  s->node = n;
  const int fired = s->a->events ? mbg__march_fired(s->a->march, n) : -1;
  mbg__seeds_at(s->seeds, s->ncrit, mbg__march_nodes(s->a->march), n, s->seed);
  if (fired >= 0) {
    return visit_event(ctx, s, fired, n, block);
  }
  return n > 0 ? back(ctx, s, node) : end(ctx, s, &node);
}

int mbg__alpha_adjoint(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a) {
  adjoint s = {.a = a,
               .nc = ncrit,
               .ncrit = ncrit,
               .seeds = seeds,
               .psi_a = psi_a,
               .first = true,
               .guard = -1,
               .guarded = -1,
               .timed = -1};
  int err = MBG_OK;
  MBG_TRY(create(ctx, &s));
  MBG_TRY(mbg__march_backward(ctx, a->march, visit, &s));
done:
  mbg__arena_destroy(&s.arena);
  return err;
}
