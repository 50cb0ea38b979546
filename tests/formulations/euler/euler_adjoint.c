/* The transpose of the tangent: cotangents bw of the frames and bv of the twists of node n+1 go backward to node n.
   With f_* the seeds of node n, d = h v_{n+1},

     bv <- bv + h T(d)^T bw        gw = f_w + Ad(exp(-d))^T bw        gv = f_v + bv        gvd = f_vd + h bv
     [M B^T; B 0] (mu, kappa) = -(gvd, f_lambda)
     bw = gw + (mu^T r + kappa^T phidd)_w        bv = gv + (...)_v        psi_a += f_a + (...)_a */
#include "euler/euler_work.h"

#include <string.h>

typedef struct {
  mbg__euler *a;
  mbg__arena arena;
  int nc;
  const mbg__criterion_seeds *seeds;
  real *psi_a;
  real *seed;       /* weights of the used signals at the node   (nc x nused) */
  real *d;          /* increments of the step that follows       (nw) */
  double h;         /* its length, 0: none */
  real *bw, *bv;    /*                                           (nc x nw) */
  real *gvd, *gl;   /* of one criterion                          (nw), (nrow) */
  real *mu, *kappa; /*                                           (nw), (nrow) */
} adjoint;

static int create(mbg_context *ctx, adjoint *s) {
  const mbg_model *m = s->a->m;
  const size_t nc = (size_t)s->nc, nw = (size_t)m->nw;
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  s->seed = MBG_TAKE(&s->arena, real, nc * (size_t)s->a->nused);
  s->d = MBG_TAKE(&s->arena, real, nw);
  s->bw = MBG_TAKE(&s->arena, real, nc * nw);
  s->bv = MBG_TAKE(&s->arena, real, nc * nw);
  s->gvd = MBG_TAKE(&s->arena, real, nw);
  s->gl = MBG_TAKE(&s->arena, real, m->nrow);
  s->mu = MBG_TAKE(&s->arena, real, nw);
  s->kappa = MBG_TAKE(&s->arena, real, m->nrow);
  return mbg__arena_check(ctx, &s->arena);
}

static real *row(real *x, int c, int n) { return x + (size_t)c * (size_t)n; }

/* through the step that follows: bw, bv of this node, and gvd */
static void back(adjoint *s, int c) {
  const mbg_model *m = s->a->m;
  real *bw = row(s->bw, c, m->nw), *bv = row(s->bv, c, m->nw);
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    mbg__frame E;
    real T[36], x[6];
    mbg__se3_exp(&E, s->d + off);
    mbg__se3_tangent(T, s->d + off);
    m6_mulv_T(x, T, bw + off);
    v6_axpy(bv + off, s->h, x);
    AdInvT_mul(x, &E, bw + off);
    v6_copy(bw + off, x);
  }
  vn_scale(m->nw, s->gvd, s->h, bv);
}

static void criterion(adjoint *s, int c) {
  mbg__euler *a = s->a;
  const mbg_model *m = a->m;
  real *bw = row(s->bw, c, m->nw), *bv = row(s->bv, c, m->nw), *ga = row(s->psi_a, c, m->na);
  vn_zero(m->nw, s->gvd);
  vn_zero(m->nrow, s->gl);
  if (s->h > 0) {
    back(s, c);
  }
  for (int k = 0; k < a->nused; k++) {
    const real weight = row(s->seed, c, a->nused)[k];
    if (weight != 0) {
      mbg__system_signal_pull(a->sys, a->used[k], weight, bw, bv, s->gvd, s->gl, ga);
    }
  }
  mbg__gather(m, a->keep, -1, s->gvd, -1, s->gl, a->x);
  mbg__klu_solve_T(a->saddle.klu, a->x, 1);
  mbg__scatter(m, a->keep, 1, a->x, s->mu, s->kappa);
  mbg__system_pull(a->sys, s->mu, NULL, NULL, s->kappa, bw, bv, NULL, NULL, ga);
}

static int visit(mbg_context *ctx, void *user, int n, const void *block) {
  adjoint *s = user;
  const mbg_model *m = s->a->m;
  const mbg__euler_node node = mbg__euler_view(m, block);
  int err = MBG_OK;
  MBG_TRY(mbg__euler_at(ctx, s->a, &node));
  mbg__seeds_at(s->seeds, s->nc, mbg__march_nodes(s->a->march), n, s->seed);
  for (int c = 0; c < s->nc; c++) {
    criterion(s, c);
  }
  s->h = *node.h;
  vn_scale(m->nw, s->d, s->h, node.v);
  /* the start uses the system as scratch: after all criteria */
  for (int c = 0; n == 0 && c < s->nc; c++) {
    MBG_TRY(mbg__start_pull(ctx, s->a->start, row(s->bw, c, m->nw), row(s->bv, c, m->nw), row(s->psi_a, c, m->na)));
  }
done:
  return err;
}

int mbg__euler_adjoint(mbg_context *ctx, mbg__euler *a, mbg_method method, int ncrit, const mbg__criterion_seeds *seeds,
                       real *psi_a) {
  adjoint s = {.a = a, .nc = ncrit, .seeds = seeds, .psi_a = psi_a};
  int err = MBG_OK;
  (void)method; /* the discrete one is the only one */
  MBG_TRY(create(ctx, &s));
  MBG_TRY(mbg__march_backward(ctx, a->march, visit, &s));
done:
  mbg__arena_destroy(&s.arena);
  return err;
}
