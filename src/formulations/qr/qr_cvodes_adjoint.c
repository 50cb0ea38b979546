/* The backward problem of CVODES. */
#ifndef MBG_COMPLEX

#include "formulations/qr/qr_cvodes.h"

#include <cvodes/cvodes.h>
#include <string.h>
#include <sunmatrix/sunmatrix_dense.h>

enum { CHUNKS = 24 }; /* between two values, after each of which tolerances are adapted */

/* ---------------------------------------------------------------------- mbg__qr_cvodes_backward */

/* y of CVODES in the layout of the adjoint, with g = 0 */
static void unpack(const mbg__qr_cvodes_backward *b, const double *y) {
  const mbg__qr_continuous *a = b->adjoint;
  const size_t own = (size_t)(a->w->m->nw + a->w->m->nv);
  for (size_t k = 0; k < (size_t)a->nc; k++) {
    memcpy(b->full + k * (size_t)a->n, y + k * own, own * sizeof(double));
  }
}

static void pack(const mbg__qr_cvodes_backward *b, const real *full, double *y, double *quad) {
  const mbg__qr_continuous *a = b->adjoint;
  const size_t own = (size_t)(a->w->m->nw + a->w->m->nv), nq = (size_t)a->nwanted;
  for (size_t k = 0; k < (size_t)a->nc; k++) {
    if (y) {
      memcpy(y + k * own, full + k * (size_t)a->n, own * sizeof(double));
    }
    if (quad) {
      memcpy(quad + k * nq, full + k * (size_t)a->n + own, nq * sizeof(double));
    }
  }
}

static int rates(mbg__qr_cvodes *c, double t, N_Vector z, N_Vector y) {
  mbg__qr_cvodes_backward *b = &c->back;
  int err = MBG_OK;
  mbg__qr_cvodes_retry(c);
  MBG_TRY(mbg__qr_flow_eval(c->ctx, c->w->flow, t, N_VGetArrayPointer(z)));
  unpack(b, N_VGetArrayPointer(y));
  MBG_TRY(mbg__qr_continuous_rates(c->ctx, b->adjoint, b->full, b->rate));
done:
  return err;
}

static int rhs_back(sunrealtype t, N_Vector z, N_Vector y, N_Vector yd, void *user) {
  mbg__qr_cvodes *c = user;
  const int err = rates(c, t, z, y);
  if (err == MBG_OK) {
    pack(&c->back, c->back.rate, N_VGetArrayPointer(yd), NULL);
  }
  return err == MBG_OK ? mbg__qr_cvodes_usable(c, yd) : mbg__qr_cvodes_answer(c, err);
}

static int rhs_quad(sunrealtype t, N_Vector z, N_Vector y, N_Vector qd, void *user) {
  mbg__qr_cvodes *c = user;
  const int err = rates(c, t, z, y);
  if (err == MBG_OK) {
    pack(&c->back, c->back.rate, NULL, N_VGetArrayPointer(qd));
  }
  return err == MBG_OK ? mbg__qr_cvodes_usable(c, qd) : mbg__qr_cvodes_answer(c, err);
}

/* (A3), (A4) are linear: columns by unit vectors, the same block for every criterion */
static int jacobian_back(sunrealtype t, N_Vector z, N_Vector y, N_Vector yd, SUNMatrix J, void *user, N_Vector p,
                         N_Vector q, N_Vector r) {
  mbg__qr_cvodes *c = user;
  mbg__qr_cvodes_backward *b = &c->back;
  const mbg_model *m = c->w->m;
  const size_t nw = (size_t)m->nw, own = nw + (size_t)m->nv;
  int err = MBG_OK;
  (void)y, (void)yd, (void)p, (void)q, (void)r;
  SUNMatZero(J);
  MBG_TRY(mbg__qr_flow_eval(c->ctx, c->w->flow, t, N_VGetArrayPointer(z)));
  memset(b->mu, 0, own * nw * sizeof(real));
  memset(b->nu, 0, own * nw * sizeof(real));
  memset(b->gw, 0, own * nw * sizeof(real));
  memset(b->gv, 0, own * nw * sizeof(real));
  for (size_t j = 0; j < own; j++) {
    if (j < nw) {
      b->mu[j * nw + j] = 1;
    } else {
      b->nu[j * nw + (size_t)m->full[j - nw]] = 1;
    }
  }
  MBG_TRY(mbg__qr_point_pull(c->ctx, c->w->flow->point, (int)own, b->mu, b->nu, NULL, b->gw, b->gv, NULL));
  for (size_t j = 0; j < (size_t)b->n; j++) {
    const size_t i = j % own;
    double *column = SUNDenseMatrix_Column(J, (sunindextype)j) + j / own * own;
    vn_scale(m->nw, column, -1, b->gw + i * nw);
    mbg__qr_flow_add_adT(c->w->flow, 1, b->mu + i * nw, column);
    mbg__to_free(m, -1, b->gv + i * nw, column + nw);
  }
done:
  return mbg__qr_cvodes_answer(c, err);
}

/* tolerances of the adjoint into the vectors of CVODES, which asks for those of y itself, with the forward memory as
   user data */
static int weights(N_Vector y, N_Vector out, void *forward) {
  void *user = NULL;
  (void)y;
  if (CVodeGetUserData(forward, &user) != 0) {
    return -1;
  }
  const mbg__qr_cvodes *c = user;
  N_VInv(c->back.atol, out);
  return 0;
}

static int set_tolerances(const mbg__qr_cvodes_backward *b) {
  pack(b, b->adjoint->atol, N_VGetArrayPointer(b->atol), b->nquad > 0 ? N_VGetArrayPointer(b->quad_atol) : NULL);
  return b->nquad > 0 ? CVodeQuadSVtolerancesB(b->at->memory, 0, 0, b->quad_atol) : 0;
}

static int open_backward(mbg__qr_cvodes *c, mbg__qr_cvodes_segment *s) {
  mbg__qr_cvodes_backward *b = &c->back;
  int which = 0, flag = CVodeCreateB(s->memory, c->stiff ? CV_BDF : CV_ADAMS, &which);
  flag = flag == 0 ? CVodeInitB(s->memory, which, rhs_back, s->tb, b->y) : flag;
  flag = flag == 0 ? CVodeSetUserDataB(s->memory, which, c) : flag;
  flag = flag == 0 ? CVodeSetMaxNumStepsB(s->memory, which, 1000 + 4 * c->w->counts.steps) : flag;
  if (flag == 0 && b->nquad > 0) {
    flag = CVodeQuadInitB(s->memory, which, rhs_quad, b->quad);
    flag = flag == 0 ? CVodeSetQuadErrConB(s->memory, which, SUNTRUE) : flag;
  }
  flag = flag == 0 ? CVodeWFtolerances(CVodeGetAdjCVodeBmem(s->memory, which), weights) : flag;
  flag = flag == 0 ? set_tolerances(b) : flag;
  flag = flag == 0 ? mbg__qr_cvodes_solver_create(c, b->n, b->y, &s->backward) : flag;
  if (flag == 0 && c->stiff) {
    flag = CVodeSetLinearSolverB(s->memory, which, s->backward.linear, s->backward.A);
    flag = flag == 0 ? CVodeSetJacFnB(s->memory, which, jacobian_back) : flag;
  } else if (flag == 0) {
    flag = CVodeSetNonlinearSolverB(s->memory, which, s->backward.nonlinear);
  }
  return flag;
}

/* the forward state: kept at the ends of the segment, inside interpolated by CVODES */
static int forward_state(void *user, double t, real *z) {
  mbg__qr_cvodes *c = user;
  mbg__qr_cvodes_segment *s = c->back.at;
  N_Vector from = t == s->tb ? s->end : t == s->ta ? s->start : NULL;
  if (!from) {
    const int flag = CVodeGetAdjY(s->memory, t, c->z);
    if (flag != 0) {
      return mbg__qr_cvodes_failed(c, flag, t);
    }
    from = c->z;
  }
  memcpy(z, N_VGetArrayPointer(from), (size_t)c->w->flow->state.n * sizeof(double));
  return MBG_OK;
}

/* y and the integrals from CVODES, in the layout of the adjoint */
static int read_back(mbg__qr_cvodes *c, real *y) {
  mbg__qr_cvodes_backward *b = &c->back;
  const mbg__qr_continuous *a = b->adjoint;
  const size_t own = (size_t)(a->w->m->nw + a->w->m->nv);
  sunrealtype t;
  int flag = CVodeGetB(b->at->memory, 0, &t, b->y);
  flag = flag == 0 && b->nquad > 0 ? CVodeGetQuadB(b->at->memory, 0, &t, b->quad) : flag;
  if (flag != 0) {
    return flag;
  }
  const double *x = N_VGetArrayPointer(b->y), *q = b->nquad > 0 ? N_VGetArrayPointer(b->quad) : NULL;
  for (size_t k = 0; k < (size_t)a->nc; k++) {
    real *out = y + k * (size_t)a->n;
    memcpy(out, x + k * own, own * sizeof(double));
    for (int i = 0; i < a->nwanted; i++) {
      out[own + (size_t)i] = q[k * (size_t)a->nwanted + (size_t)i];
    }
  }
  return 0;
}

/* y at time t into CVODES, integrals included */
static int write_back(mbg__qr_cvodes *c, double t, const real *y, bool first) {
  mbg__qr_cvodes_backward *b = &c->back;
  pack(b, y, N_VGetArrayPointer(b->y), b->nquad > 0 ? N_VGetArrayPointer(b->quad) : NULL);
  if (first) {
    return open_backward(c, b->at);
  }
  int flag = CVodeReInitB(b->at->memory, 0, t, b->y);
  flag = flag == 0 && b->nquad > 0 ? CVodeQuadReInitB(b->at->memory, 0, b->quad) : flag;
  return flag == 0 ? set_tolerances(b) : flag;
}

/* from one value to the next in chunks; after each the tolerances follow the size of y */
static int run_back(mbg__qr_cvodes *c, double from, double to, real *y) {
  mbg__qr_cvodes_backward *b = &c->back;
  for (int i = 1; i <= CHUNKS; i++) {
    const double t = i < CHUNKS ? from + (to - from) * i / CHUNKS : to;
    c->mark = mbg__message_mark(c->ctx);
    int flag = CVodeB(b->at->memory, t, CV_NORMAL);
    if (flag < 0) {
      return mbg__qr_cvodes_failed(c, flag, t);
    }
    mbg__message_rewind(c->ctx, c->mark);
    flag = read_back(c, y);
    mbg__qr_continuous_scales(b->adjoint, y);
    flag = flag == 0 && i < CHUNKS ? set_tolerances(b) : flag;
    if (flag != 0) {
      return mbg__qr_cvodes_failed(c, flag, t);
    }
    const int err = mbg__plan_check_interrupt(c->ctx, &c->w->plan, t);
    if (err < 0) {
      return err;
    }
  }
  return MBG_OK;
}

/* a segment, from value to value, last first */
static int segment_back(mbg__qr_cvodes *c, mbg__qr_cvodes_segment *s, int ntime, const double *times, real *y) {
  mbg__qr_cvodes_backward *b = &c->back;
  double t = s->tb;
  int err = MBG_OK;
  b->at = s;
  c->w->flow->segment = mbg__segment_between(s->ta, s->tb);
  for (int i = ntime - 1; t > s->ta; i--) {
    while (i >= 0 && times[i] >= t) {
      i--;
    }
    const double next = i >= 0 && times[i] > s->ta ? times[i] : s->ta;
    MBG_TRY(mbg__qr_continuous_jump(c->ctx, b->adjoint, t, y));
    MBG_TRY(mbg__qr_continuous_begin(b->adjoint, t, y));
    const int flag = write_back(c, t, y, t == s->tb);
    if (flag != 0) {
      return mbg__qr_cvodes_failed(c, flag, t);
    }
    MBG_TRY(run_back(c, t, next, y));
    t = next;
  }
done:
  return err;
}

static int take_arrays(mbg_context *ctx, mbg__arena *arena, mbg__qr_cvodes *c, mbg__qr_continuous *a) {
  const size_t nw = (size_t)c->w->m->nw, own = nw + (size_t)c->w->m->nv, all = (size_t)a->nc * (size_t)a->n;
  mbg__qr_cvodes_backward *b = &c->back;
  *b = (mbg__qr_cvodes_backward){.adjoint = a, .n = a->nc * (int)own, .nquad = a->nc * a->nwanted};
  b->full = MBG_TAKE(arena, real, all);
  b->rate = MBG_TAKE(arena, real, all);
  b->mu = MBG_TAKE(arena, real, c->stiff ? own * nw : 1);
  b->nu = MBG_TAKE(arena, real, c->stiff ? own * nw : 1);
  b->gw = MBG_TAKE(arena, real, c->stiff ? own * nw : 1);
  b->gv = MBG_TAKE(arena, real, c->stiff ? own * nw : 1);
  b->y = N_VNew_Serial(b->n, c->sun);
  b->atol = N_VNew_Serial(b->n, c->sun);
  b->quad = b->nquad > 0 ? N_VNew_Serial(b->nquad, c->sun) : NULL;
  b->quad_atol = b->nquad > 0 ? N_VNew_Serial(b->nquad, c->sun) : NULL;
  const bool vectors = b->y && b->atol && (b->nquad == 0 || (b->quad && b->quad_atol));
  return arena->failed || !vectors ? mbg__fail_memory(ctx) : MBG_OK;
}

int mbg__qr_cvodes_adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg__qr_continuous *a, real *y) {
  mbg__qr_cvodes *c = w->cvodes;
  mbg__arena arena;
  double *times;
  int ntime = 0, err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  c->ctx = ctx;
  c->status = MBG_OK;
  a->forward = forward_state;
  a->user = c;
  if (c->used) {
    MBG_TRY(mbg__qr_flow_begin(ctx, w->flow, mbg__start_result_of(w->start), w->z0));
    MBG_TRY(mbg__qr_cvodes_simulate(ctx, w, true));
  }
  c->used = true;
  if (w->partial) {
    err = mbg__fail(ctx, MBG_ERROR_INTERRUPTED,
                    "the simulation was interrupted: CVODES gives no gradient of a part of a run; 'dop853' does");
    goto done;
  }
  MBG_TRY(take_arrays(ctx, &arena, c, a));
  MBG_TRY(mbg__qr_continuous_breaks(ctx, &arena, a, &ntime, &times));
  for (int i = c->nsegment - 1; i >= 0; i--) {
    MBG_TRY(segment_back(c, &c->segments[i], ntime, times, y));
  }
  MBG_TRY(mbg__qr_continuous_jump(ctx, a, w->plan.t0, y));
done:
  mbg__qr_cvodes_free_vector(&c->back.y);
  mbg__qr_cvodes_free_vector(&c->back.atol);
  mbg__qr_cvodes_free_vector(&c->back.quad);
  mbg__qr_cvodes_free_vector(&c->back.quad_atol);
  mbg__arena_destroy(&arena);
  return err;
}

#else

#include "formulations/qr/qr_work.h"

int mbg__qr_cvodes_adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg__qr_continuous *a, real *y) {
  (void)ctx, (void)w, (void)a, (void)y;
  return MBG_ERROR_UNSUPPORTED;
}

#endif
