/* CVODES behind the same right-hand sides: Adams for long smooth runs, BDF for stiff ones, with checkpoints and the backward problem
   on its polynomial interpolation (theory 1, section 9 lists the pitfalls). One memory of CVODES for each smooth segment, because a
   restarted one keeps stale interpolation data; adjoint variables are handed from segment to segment. */
#include "formulations/qr/qr_work.h"

#ifndef MBG_COMPLEX

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

enum { STEPS_BETWEEN_CHECKPOINTS = 150, CHUNKS = 24 };

/* What a solver of one segment and direction holds. */
typedef struct {
  SUNMatrix A;
  SUNLinearSolver linear;
  SUNNonlinearSolver nonlinear;
} solver;

typedef struct {
  double ta, tb;
  void *memory;
  N_Vector start, end; /* states */
  solver forward, backward;
  int checkpoints;
} segment;

/* The backward problem. */
typedef struct {
  mbg__qr_adjoint *adjoint;
  int n, nquad; /* all of mu, nu; of g */
  N_Vector y, quad, atol, quad_atol;
  real *full, *rate;       /* in the layout of the adjoint */
  real *mu, *nu, *gw, *gv; /* stiff: unit vectors and their products, n columns */
  segment *at;
} backward;

struct mbg__qr_cvodes {
  mbg__formulation_work *w;
  mbg_context *ctx;
  SUNContext sun;
  bool stiff;
  int nsegment;
  segment *segments;
  N_Vector z, atol;
  segment *at; /* the one in work */
  real *scratch, *J;
  int status; /* of the last evaluation */
  int mark;   /* messages before the step in work */
  bool spent; /* the forward data has served a backward problem: CVODES cannot start another one on it */
  char message[256];
  backward back;
};

/* ---------------------------------------------------------------------- creation */

/* messages of the library are kept for our own */
static void keep_message(int code, const char *module, const char *function, char *text, void *user) {
  mbg__qr_cvodes *c = user;
  (void)module, (void)function;
  if (code < 0) {
    mbg__format(c->message, sizeof(c->message), "%s", text);
  }
}

int mbg__qr_cvodes_create(mbg_context *ctx, mbg__formulation_work *w, bool stiff, mbg__qr_cvodes **out) {
  const size_t n = (size_t)w->flow->state.n, nw = (size_t)w->m->nw;
  mbg__qr_cvodes *c = MBG_TAKE(&w->arena, mbg__qr_cvodes, 1);
  *out = c;
  if (!c) {
    return mbg__fail_memory(ctx);
  }
  c->w = w;
  c->stiff = stiff;
  c->nsegment = w->plan.nbreak + 1;
  c->segments = MBG_TAKE(&w->arena, segment, c->nsegment);
  c->scratch = MBG_TAKE(&w->arena, real, stiff ? 4 * n * nw + n : 1);
  c->J = MBG_TAKE(&w->arena, real, stiff ? n * n : 1);
  if (!c->segments || !c->scratch || !c->J || SUNContext_Create(NULL, &c->sun) != 0) {
    return mbg__fail_memory(ctx);
  }
  c->z = N_VNew_Serial((sunindextype)n, c->sun);
  c->atol = N_VNew_Serial((sunindextype)n, c->sun);
  if (!c->z || !c->atol) {
    return mbg__fail_memory(ctx);
  }
  memcpy(N_VGetArrayPointer(c->atol), w->atol, n * sizeof(double));
  return MBG_OK;
}

static void free_solver(solver *s) {
  if (s->nonlinear) {
    SUNNonlinSolFree(s->nonlinear);
  }
  if (s->linear) {
    SUNLinSolFree(s->linear);
  }
  if (s->A) {
    SUNMatDestroy(s->A);
  }
  *s = (solver){0};
}

static void free_vector(N_Vector *v) {
  if (*v) {
    N_VDestroy(*v);
  }
  *v = NULL;
}

static void free_segments(mbg__qr_cvodes *c) {
  for (int i = 0; i < c->nsegment; i++) {
    segment *s = &c->segments[i];
    if (s->memory) {
      CVodeFree(&s->memory);
    }
    free_solver(&s->forward);
    free_solver(&s->backward);
    free_vector(&s->start);
    free_vector(&s->end);
    *s = (segment){0};
  }
}

void mbg__qr_cvodes_destroy(mbg__qr_cvodes *c) {
  if (c) {
    free_segments(c);
    free_vector(&c->z);
    free_vector(&c->atol);
    if (c->sun) {
      SUNContext_Free(&c->sun);
    }
  }
}

/* ---------------------------------------------------------------------- failures */

static int failed(mbg__qr_cvodes *c, int flag, double t) {
  mbg_context *ctx = c->ctx;
  if (c->status == MBG_ERROR_MEMORY || flag == CV_MEM_FAIL || flag == CV_MEM_NULL) {
    return mbg__fail_memory(ctx);
  }
  if (flag == CV_TOO_MUCH_ACC) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "t = %g: the tolerances are tighter than doubles allow", t);
  }
  if (flag == CV_TOO_MUCH_WORK) {
    return mbg__fail(
        ctx, MBG_ERROR_CONVERGENCE,
        "t = %g: CVODES needs too many steps; loosen the tolerances, or leave out a criterion that is as small "
        "as the errors of the simulation",
        t);
  }
  if (flag == CV_ERR_FAILURE || flag == CV_CONV_FAILURE) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                     "t = %g: CVODES cannot make its step small enough (%s); the forces jump or grow without limit "
                     "there, or %s",
                     t, c->message, c->stiff ? "the tolerances are too tight" : "the motion is stiff: try bdf");
  }
  if (flag == CV_RHSFUNC_FAIL || flag == CV_UNREC_RHSFUNC_ERR || flag == CV_REPTD_RHSFUNC_ERR ||
      flag == CV_FIRST_RHSFUNC_ERR) {
    return c->status < 0 ? c->status
                         : mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "t = %g: the equations cannot be evaluated", t);
  }
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "t = %g: CVODES stopped with code %d: %s", t, flag, c->message);
}

/* a status as CVODES takes it; messages of a point that is tried again with a smaller step are dropped, the last one is kept */
static int answer(mbg__qr_cvodes *c, int status) {
  c->status = status;
  return status == MBG_OK ? 0 : status == MBG_ERROR_MEMORY ? -1 : 1;
}

static void take_back_message(mbg__qr_cvodes *c) {
  if (c->status != MBG_OK) {
    mbg__message_rewind(c->ctx, c->mark);
  }
}

/* ---------------------------------------------------------------------- forward */

static int rhs(sunrealtype t, N_Vector z, N_Vector zd, void *user) {
  mbg__qr_cvodes *c = user;
  const double *x = N_VGetArrayPointer(z);
  take_back_message(c);
  const int err = mbg__qr_flow_eval(c->ctx, c->w->flow, t, x);
  if (err == MBG_OK) {
    mbg__qr_state_rates(&c->w->flow->state, x, c->w->flow->v_star, c->w->flow->a, N_VGetArrayPointer(zd));
  }
  return answer(c, err);
}

static int jacobian(sunrealtype t, N_Vector z, N_Vector zd, SUNMatrix J, void *user, N_Vector a, N_Vector b,
                    N_Vector d) {
  mbg__qr_cvodes *c = user;
  const size_t n = (size_t)c->w->flow->state.n;
  int err = MBG_OK;
  (void)zd, (void)a, (void)b, (void)d;
  MBG_TRY(mbg__qr_flow_eval(c->ctx, c->w->flow, t, N_VGetArrayPointer(z)));
  MBG_TRY(mbg__qr_flow_jacobian(c->ctx, c->w->flow, N_VGetArrayPointer(z), c->J, c->scratch));
  memcpy(SUNDenseMatrix_Data(J), c->J, n * n * sizeof(double));
done:
  return answer(c, err);
}

static int open_forward(mbg__qr_cvodes *c, segment *s) {
  const mbg__run_plan *plan = &c->w->plan;
  int flag = CV_MEM_FAIL;
  s->memory = CVodeCreate(c->stiff ? CV_BDF : CV_ADAMS, c->sun);
  s->start = N_VClone(c->z);
  s->end = N_VClone(c->z);
  if (!s->memory || !s->start || !s->end) {
    return flag;
  }
  N_VScale(1, c->z, s->start);
  flag = CVodeSetErrHandlerFn(s->memory, keep_message, c);
  flag = flag == 0 ? CVodeInit(s->memory, rhs, s->ta, s->start) : flag;
  flag = flag == 0 ? CVodeSVtolerances(s->memory, plan->relative, c->atol) : flag;
  flag = flag == 0 ? CVodeSetUserData(s->memory, c) : flag;
  flag = flag == 0 ? CVodeSetMaxNumSteps(s->memory, 10000000) : flag;
  flag = flag == 0 ? CVodeSetStopTime(s->memory, s->tb) : flag;
  if (flag == 0 && c->stiff) {
    s->forward.A = SUNDenseMatrix(c->w->flow->state.n, c->w->flow->state.n, c->sun);
    s->forward.linear = s->forward.A ? SUNLinSol_Dense(c->z, s->forward.A, c->sun) : NULL;
    flag = s->forward.linear ? CVodeSetLinearSolver(s->memory, s->forward.linear, s->forward.A) : CV_MEM_FAIL;
    flag = flag == 0 ? CVodeSetJacFn(s->memory, jacobian) : flag;
  } else if (flag == 0) {
    s->forward.nonlinear = SUNNonlinSol_FixedPoint(c->z, 0, c->sun);
    flag = s->forward.nonlinear ? CVodeSetNonlinearSolver(s->memory, s->forward.nonlinear) : CV_MEM_FAIL;
  }
  return flag == 0 ? CVodeAdjInit(s->memory, STEPS_BETWEEN_CHECKPOINTS, CV_POLYNOMIAL) : flag;
}

/* values at a time of the last step */
static int value_at(void *user, double t, real *y) {
  mbg__qr_cvodes *c = user;
  mbg__formulation_work *w = c->w;
  const double *z = N_VGetArrayPointer(c->z);
  sunrealtype now;
  int err = MBG_OK;
  if (c->at && CVodeGetCurrentTime(c->at->memory, &now) == 0 && t < now) {
    if (CVodeGetDky(c->at->memory, t, 0, c->at->end) != 0) {
      return mbg__fail(c->ctx, MBG_ERROR_CONVERGENCE, "t = %g: CVODES has no value there: %s", t, c->message);
    }
    z = N_VGetArrayPointer(c->at->end);
  }
  MBG_TRY(mbg__qr_flow_eval(c->ctx, w->flow, t, z));
  MBG_TRY(mbg__qr_flow_signals(c->ctx, w->flow, y));
done:
  return err;
}

static int after_step(mbg__qr_cvodes *c, double from, double to) {
  mbg__formulation_work *w = c->w;
  const double *z = N_VGetArrayPointer(c->z);
  int err = MBG_OK;
  w->counts.steps++;
  MBG_TRY(mbg__step_nodes_step(c->ctx, &w->nodes, from, to, value_at, c));
  if (w->nodes.t[w->nodes.count - 1] != to) {
    MBG_TRY(mbg__qr_flow_eval(c->ctx, w->flow, to, z));
  }
  MBG_TRY(mbg__qr_monitor(c->ctx, w, to));
  w->last = to;
  memcpy(w->z, z, (size_t)w->flow->state.n * sizeof(double));
  memcpy(w->turns, w->flow->turns, (size_t)w->m->nturn * sizeof(int));
  if (w->plan.progress) {
    w->plan.progress(w->plan.user, to);
  }
done:
  return err;
}

static int run_segment(mbg__qr_cvodes *c, segment *s) {
  double t = s->ta;
  int err = MBG_OK;
  c->at = s;
  mbg__qr_flow_segment(c->w->flow, s->ta, s->tb);
  const int opened = open_forward(c, s);
  if (opened != 0) {
    return failed(c, opened, t);
  }
  while (t < s->tb && !c->w->partial) {
    const double from = t;
    sunrealtype to;
    c->mark = mbg__message_mark(c->ctx);
    const int flag = CVodeF(s->memory, s->tb, c->z, &to, CV_ONE_STEP, &s->checkpoints);
    if (flag < 0) {
      return failed(c, flag, t);
    }
    mbg__message_rewind(c->ctx, c->mark);
    t = flag == CV_TSTOP_RETURN || to > s->tb ? s->tb : to;
    MBG_TRY(after_step(c, from, t));
    c->w->partial = t < c->w->plan.t1 && mbg__qr_interrupted(c->w);
  }
  N_VScale(1, c->z, s->end);
done:
  return err;
}

int mbg__qr_cvodes_simulate(mbg_context *ctx, mbg__formulation_work *w, bool fixed) {
  mbg__qr_cvodes *c = w->cvodes;
  int err = MBG_OK;
  c->ctx = ctx;
  c->status = MBG_OK;
  c->message[0] = '\0';
  c->at = NULL;
  c->spent = false;
  free_segments(c);
  memcpy(N_VGetArrayPointer(c->z), w->z0, (size_t)w->flow->state.n * sizeof(double));
  MBG_TRY(mbg__step_nodes_begin(ctx, &w->nodes, fixed, value_at, c));
  for (int i = 0; i < c->nsegment && !w->partial; i++) {
    segment *s = &c->segments[i];
    s->ta = i > 0 ? w->plan.breaks[i - 1] : w->plan.t0;
    s->tb = i < w->plan.nbreak ? w->plan.breaks[i] : w->plan.t1;
    MBG_TRY(run_segment(c, s));
    /* a checkpoint keeps the history of the method, the stretch in work all its steps */
    w->counts.bytes += (double)(13 * (s->checkpoints + 1) + STEPS_BETWEEN_CHECKPOINTS) * w->flow->state.n * 8;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- backward */

/* y of CVODES in the layout of the adjoint, with g = 0 */
static void spread(const backward *b, const double *y) {
  const mbg__qr_adjoint *a = b->adjoint;
  const size_t own = (size_t)(a->w->m->nw + a->w->m->nv);
  for (size_t k = 0; k < (size_t)a->nc; k++) {
    memcpy(b->full + k * (size_t)a->n, y + k * own, own * sizeof(double));
  }
}

static void gather(const backward *b, const real *full, double *y, double *quad) {
  const mbg__qr_adjoint *a = b->adjoint;
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
  backward *b = &c->back;
  int err = MBG_OK;
  take_back_message(c);
  MBG_TRY(mbg__qr_flow_eval(c->ctx, c->w->flow, t, N_VGetArrayPointer(z)));
  spread(b, N_VGetArrayPointer(y));
  MBG_TRY(mbg__qr_adjoint_rates(c->ctx, b->adjoint, b->full, b->rate));
done:
  return err;
}

static int rhs_back(sunrealtype t, N_Vector z, N_Vector y, N_Vector yd, void *user) {
  mbg__qr_cvodes *c = user;
  const int err = rates(c, t, z, y);
  if (err == MBG_OK) {
    gather(&c->back, c->back.rate, N_VGetArrayPointer(yd), NULL);
  }
  return answer(c, err);
}

static int rhs_quad(sunrealtype t, N_Vector z, N_Vector y, N_Vector qd, void *user) {
  mbg__qr_cvodes *c = user;
  const int err = rates(c, t, z, y);
  if (err == MBG_OK) {
    gather(&c->back, c->back.rate, NULL, N_VGetArrayPointer(qd));
  }
  return answer(c, err);
}

/* (A3), (A4) are linear: columns by unit vectors, the same block for every criterion */
static int jacobian_back(sunrealtype t, N_Vector z, N_Vector y, N_Vector yd, SUNMatrix J, void *user, N_Vector p,
                         N_Vector q, N_Vector r) {
  mbg__qr_cvodes *c = user;
  backward *b = &c->back;
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
    for (int k = 0; k < m->nv; k++) {
      column[nw + (size_t)k] = -b->gv[i * nw + (size_t)m->full[k]];
    }
  }
done:
  return answer(c, err);
}

/* tolerances of the adjoint into the vectors of CVODES; those of y it asks for itself, with the forward memory as user data */
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

static int set_tolerances(const backward *b) {
  gather(b, b->adjoint->atol, N_VGetArrayPointer(b->atol), b->nquad > 0 ? N_VGetArrayPointer(b->quad_atol) : NULL);
  return b->nquad > 0 ? CVodeQuadSVtolerancesB(b->at->memory, 0, 0, b->quad_atol) : 0;
}

static int open_backward(mbg__qr_cvodes *c, segment *s) {
  backward *b = &c->back;
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
  if (flag == 0 && c->stiff) {
    s->backward.A = SUNDenseMatrix(b->n, b->n, c->sun);
    s->backward.linear = s->backward.A ? SUNLinSol_Dense(b->y, s->backward.A, c->sun) : NULL;
    flag =
        s->backward.linear ? CVodeSetLinearSolverB(s->memory, which, s->backward.linear, s->backward.A) : CV_MEM_FAIL;
    flag = flag == 0 ? CVodeSetJacFnB(s->memory, which, jacobian_back) : flag;
  } else if (flag == 0) {
    s->backward.nonlinear = SUNNonlinSol_FixedPoint(b->y, 0, c->sun);
    flag = s->backward.nonlinear ? CVodeSetNonlinearSolverB(s->memory, which, s->backward.nonlinear) : CV_MEM_FAIL;
  }
  return flag;
}

/* the forward state: at the ends of the segment it is kept, inside CVODES has it for the stretch in work */
static int forward_state(void *user, double t, real *z) {
  mbg__qr_cvodes *c = user;
  segment *s = c->back.at;
  N_Vector from = t == s->tb ? s->end : t == s->ta ? s->start : NULL;
  if (!from) {
    const int flag = CVodeGetAdjY(s->memory, t, c->z);
    if (flag != 0) {
      return failed(c, flag, t);
    }
    from = c->z;
  }
  memcpy(z, N_VGetArrayPointer(from), (size_t)c->w->flow->state.n * sizeof(double));
  return MBG_OK;
}

/* y and what the integrals have gained since the last restart, added to the adjoint's own vector */
static int read_back(mbg__qr_cvodes *c, real *y) {
  backward *b = &c->back;
  const mbg__qr_adjoint *a = b->adjoint;
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
  backward *b = &c->back;
  gather(b, y, N_VGetArrayPointer(b->y), b->nquad > 0 ? N_VGetArrayPointer(b->quad) : NULL);
  if (first) {
    return open_backward(c, b->at);
  }
  int flag = CVodeReInitB(b->at->memory, 0, t, b->y);
  flag = flag == 0 && b->nquad > 0 ? CVodeQuadReInitB(b->at->memory, 0, b->quad) : flag;
  return flag == 0 ? set_tolerances(b) : flag;
}

/* from one value to the next, in chunks after which the tolerances follow the size of y */
static int run_back(mbg__qr_cvodes *c, double from, double to, real *y) {
  backward *b = &c->back;
  for (int i = 1; i <= CHUNKS; i++) {
    const double t = i < CHUNKS ? from + (to - from) * i / CHUNKS : to;
    c->mark = mbg__message_mark(c->ctx);
    int flag = CVodeB(b->at->memory, t, CV_NORMAL);
    if (flag < 0) {
      return failed(c, flag, t);
    }
    mbg__message_rewind(c->ctx, c->mark);
    flag = read_back(c, y);
    mbg__qr_adjoint_scales(b->adjoint, y);
    flag = flag == 0 && i < CHUNKS ? set_tolerances(b) : flag;
    if (flag != 0) {
      return failed(c, flag, t);
    }
    if (mbg__qr_interrupted(c->w)) {
      return mbg__fail(c->ctx, MBG_ERROR_INTERRUPTED, "the gradient was interrupted at t = %g", t);
    }
  }
  return MBG_OK;
}

/* the stretches of a segment between values, last first */
static int segment_back(mbg__qr_cvodes *c, segment *s, int ntime, const double *times, real *y) {
  backward *b = &c->back;
  double t = s->tb;
  int err = MBG_OK;
  b->at = s;
  mbg__qr_flow_segment(c->w->flow, s->ta, s->tb);
  for (int i = ntime - 1; t > s->ta; i--) {
    while (i >= 0 && times[i] >= t) {
      i--;
    }
    const double next = i >= 0 && times[i] > s->ta ? times[i] : s->ta;
    MBG_TRY(mbg__qr_adjoint_jump(c->ctx, b->adjoint, t, y));
    MBG_TRY(mbg__qr_adjoint_begin(b->adjoint, t, y));
    const int flag = write_back(c, t, y, t == s->tb);
    if (flag != 0) {
      return failed(c, flag, t);
    }
    MBG_TRY(run_back(c, t, next, y));
    t = next;
  }
done:
  return err;
}

static int take_back(mbg_context *ctx, mbg__arena *arena, mbg__qr_cvodes *c, mbg__qr_adjoint *a) {
  const size_t nw = (size_t)c->w->m->nw, own = nw + (size_t)c->w->m->nv, all = (size_t)a->nc * (size_t)a->n;
  backward *b = &c->back;
  *b = (backward){.adjoint = a, .n = a->nc * (int)own, .nquad = a->nc * a->nwanted};
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
  return b->full && b->rate && b->mu && b->nu && b->gw && b->gv && b->y && b->atol &&
                 (b->nquad == 0 || (b->quad && b->quad_atol))
             ? MBG_OK
             : mbg__fail_memory(ctx);
}

int mbg__qr_cvodes_adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg__qr_adjoint *a, real *y) {
  mbg__qr_cvodes *c = w->cvodes;
  mbg__arena arena;
  double *times;
  int ntime = 0, err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  c->ctx = ctx;
  c->status = MBG_OK;
  a->forward = forward_state;
  a->user = c;
  if (c->spent) {
    MBG_TRY(mbg__qr_flow_begin(ctx, w->flow, mbg__start_result_of(w->start), w->z0));
    MBG_TRY(mbg__qr_cvodes_simulate(ctx, w, true));
  }
  c->spent = true;
  MBG_TRY(take_back(ctx, &arena, c, a));
  MBG_TRY(mbg__qr_adjoint_breaks(ctx, &arena, a, &ntime, &times));
  for (int i = c->nsegment - 1; i >= 0; i--) {
    MBG_TRY(segment_back(c, &c->segments[i], ntime, times, y));
  }
  MBG_TRY(mbg__qr_adjoint_jump(ctx, a, w->plan.t0, y));
done:
  free_vector(&c->back.y);
  free_vector(&c->back.atol);
  free_vector(&c->back.quad);
  free_vector(&c->back.quad_atol);
  mbg__arena_destroy(&arena);
  return err;
}

#else

/* the twin differentiates Runge-Kutta runs only */
int mbg__qr_cvodes_create(mbg_context *ctx, mbg__formulation_work *w, bool stiff, mbg__qr_cvodes **out) {
  (void)w, (void)stiff;
  *out = NULL;
  return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "CVODES works on real numbers only");
}

void mbg__qr_cvodes_destroy(mbg__qr_cvodes *c) { (void)c; }

int mbg__qr_cvodes_simulate(mbg_context *ctx, mbg__formulation_work *w, bool fixed) {
  (void)ctx, (void)w, (void)fixed;
  return MBG_ERROR_UNSUPPORTED;
}

int mbg__qr_cvodes_adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg__qr_adjoint *a, real *y) {
  (void)ctx, (void)w, (void)a, (void)y;
  return MBG_ERROR_UNSUPPORTED;
}

#endif
