/* Direct differentiation of the step, one parameter after the other: with w the variation of the frames, d = h v_{n+1},

     [M B^T; B 0] (vd', lambda') = -(r, phidd)' in the direction (w, v', p)
     v' <- v' + h vd'        w <- Ad(exp(-d)) w + T(d) h v' */
#include "euler/euler_work.h"

#include "model/design_columns.h"

typedef struct {
  mbg__euler *a;
  mbg__arena arena;
  int np;
  int (*take)(void *user, int node, const real *dy);
  void *user;
  mbg__design_columns columns;
  real *w, *v, *vd; /* of the node                  (np x nw) */
  real *lambda;     /*                              (np x nrow) */
  real *da;         /*                              (na) */
  real *dr, *dphi;  /*                              (nw), (nrow) */
  real *dy;         /*                              (nused x np) */
} tangent;

static int create(mbg_context *ctx, tangent *s) {
  const mbg_model *m = s->a->m;
  const size_t np = (size_t)s->np, nw = (size_t)m->nw;
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  s->w = MBG_TAKE(&s->arena, real, np * nw);
  s->v = MBG_TAKE(&s->arena, real, np * nw);
  s->vd = MBG_TAKE(&s->arena, real, np * nw);
  s->lambda = MBG_TAKE(&s->arena, real, np * (size_t)m->nrow);
  s->da = MBG_TAKE(&s->arena, real, m->na);
  s->dr = MBG_TAKE(&s->arena, real, nw);
  s->dphi = MBG_TAKE(&s->arena, real, m->nrow);
  s->dy = MBG_TAKE(&s->arena, real, np * (size_t)s->a->nused);
  const int err = mbg__arena_check(ctx, &s->arena);
  return err < 0 ? err : mbg__design_columns_make(ctx, &s->arena, mbg__system_design(s->a->sys), &s->columns);
}

static real *column(real *x, int p, int n) { return x + (size_t)p * (size_t)n; }

static int begin(mbg_context *ctx, tangent *s) {
  const int nw = s->a->m->nw;
  int err = MBG_OK;
  for (int p = 0; p < s->np && err == MBG_OK; p++) {
    mbg__design_column_lay(&s->columns, p, s->da);
    err = mbg__start_push(ctx, s->a->start, s->da, column(s->w, p, nw), column(s->v, p, nw));
    mbg__design_column_clear(&s->columns, p, s->da);
  }
  return err;
}

/* w and v' of the node from those of the node before */
static void step(tangent *s, int p, const mbg__euler_node *to) {
  const mbg_model *m = s->a->m;
  const double h = *to->h;
  real *w = column(s->w, p, m->nw), *v = column(s->v, p, m->nw);
  vn_axpy(m->nw, v, h, column(s->vd, p, m->nw));
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    mbg__frame E;
    real d[6], x[6], T[36];
    v6_scale(d, h, to->v + off);
    mbg__se3_exp(&E, d);
    mbg__se3_tangent(T, d);
    AdInv_mul(x, &E, w + off);
    m6_mulv(w + off, T, v + off);
    for (int i = off; i < off + 6; i++) {
      w[i] = x[i - off] + h * w[i];
    }
  }
}

/* vd', lambda' and the signals of the node, with the system and the factors there */
static void differentiate(tangent *s, int p) {
  mbg__euler *a = s->a;
  real *vd = column(s->vd, p, a->m->nw), *lambda = column(s->lambda, p, a->m->nrow);
  mbg__direction d = {.w = column(s->w, p, a->m->nw), .dv = column(s->v, p, a->m->nw), .da = s->da};
  mbg__design_column_lay(&s->columns, p, s->da);
  mbg__system_push(a->sys, &d, s->dr, NULL, NULL, s->dphi);
  mbg__gather(a->m, a->keep, -1, s->dr, -1, s->dphi, a->x);
  mbg__klu_solve(a->saddle.klu, a->x, 1);
  mbg__scatter(a->m, a->keep, 1, a->x, vd, lambda);
  d.dvd = vd;
  d.dlambda = lambda;
  for (int k = 0; k < a->nused; k++) {
    column(s->dy, k, s->np)[p] = mbg__system_signal_push(a->sys, a->used[k], &d);
  }
  mbg__design_column_clear(&s->columns, p, s->da);
}

static int visit(mbg_context *ctx, void *user, int n, const void *from, const void *block) {
  tangent *s = user;
  const mbg__euler_node node = mbg__euler_view(s->a->m, block);
  int err = MBG_OK;
  MBG_TRY(from ? MBG_OK : begin(ctx, s)); /* uses the system as scratch */
  MBG_TRY(mbg__euler_at(ctx, s->a, &node));
  for (int p = 0; p < s->np; p++) {
    if (from) {
      step(s, p, &node);
    }
    differentiate(s, p);
  }
  MBG_TRY(s->take(s->user, n, s->dy));
done:
  return err;
}

int mbg__euler_tangent(mbg_context *ctx, mbg__euler *a, int (*take)(void *user, int node, const real *dy), void *user) {
  tangent s = {.a = a, .np = a->m->np, .take = take, .user = user};
  int err = MBG_OK;
  MBG_TRY(create(ctx, &s));
  MBG_TRY(mbg__march_forward(ctx, a->march, visit, &s));
done:
  mbg__arena_destroy(&s.arena);
  return err;
}
