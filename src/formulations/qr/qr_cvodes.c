#ifndef MBG_COMPLEX

#include "formulations/qr/qr_cvodes.h"

#include <cvodes/cvodes.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

/* ---------------------------------------------------------------------- creation */

/* Keeps a message of CVODES for our own. Version 7 of SUNDIALS has the handlers in the context, calls all of them, and
   the first one prints: it goes. */
#if SUNDIALS_VERSION_MAJOR >= 7
#define NO_RANKS SUN_COMM_NULL

static void keep_message(int line, const char *function, const char *file, const char *text, SUNErrCode code,
                         void *user, SUNContext sun) {
  mbg__qr_cvodes *c = user;
  (void)line, (void)function, (void)file, (void)code, (void)sun;
  mbg__format(c->message, sizeof(c->message), "%s", text);
}

static int listen_to(mbg__qr_cvodes *c, void *memory) {
  (void)memory;
  (void)SUNContext_ClearErrHandlers(c->sun);
  return SUNContext_PushErrHandler(c->sun, keep_message, c) == 0 ? CV_SUCCESS : CV_MEM_FAIL;
}
#else
#define NO_RANKS NULL

static void keep_message(int code, const char *module, const char *function, char *text, void *user) {
  mbg__qr_cvodes *c = user;
  (void)module, (void)function;
  if (code < 0) {
    mbg__format(c->message, sizeof(c->message), "%s", text);
  }
}

static int listen_to(mbg__qr_cvodes *c, void *memory) { return CVodeSetErrHandlerFn(memory, keep_message, c); }
#endif

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
  c->segments = MBG_TAKE(&w->arena, mbg__qr_cvodes_segment, c->nsegment);
  c->scratch = MBG_TAKE(&w->arena, real, stiff ? 4 * n * nw + n : 1);
  c->J = MBG_TAKE(&w->arena, real, stiff ? n * n : 1);
  if (w->arena.failed || SUNContext_Create(NO_RANKS, &c->sun) != 0) {
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

static void free_solver(mbg__qr_cvodes_solver *s) {
  if (s->nonlinear) {
    SUNNonlinSolFree(s->nonlinear);
  }
  if (s->linear) {
    SUNLinSolFree(s->linear);
  }
  if (s->A) {
    SUNMatDestroy(s->A);
  }
  *s = (mbg__qr_cvodes_solver){0};
}

void mbg__qr_cvodes_free_vector(N_Vector *v) {
  if (*v) {
    N_VDestroy(*v);
  }
  *v = NULL;
}

static void free_segments(mbg__qr_cvodes *c) {
  for (int i = 0; i < c->nsegment; i++) {
    mbg__qr_cvodes_segment *s = &c->segments[i];
    if (s->memory) {
      CVodeFree(&s->memory);
    }
    free_solver(&s->forward);
    free_solver(&s->backward);
    mbg__qr_cvodes_free_vector(&s->start);
    mbg__qr_cvodes_free_vector(&s->end);
    *s = (mbg__qr_cvodes_segment){0};
  }
}

void mbg__qr_cvodes_destroy(mbg__qr_cvodes *c) {
  if (c) {
    free_segments(c);
    mbg__qr_cvodes_free_vector(&c->z);
    mbg__qr_cvodes_free_vector(&c->atol);
    if (c->sun) {
      SUNContext_Free(&c->sun);
    }
  }
}

int mbg__qr_cvodes_solver_create(const mbg__qr_cvodes *c, int n, N_Vector like, mbg__qr_cvodes_solver *s) {
  if (!c->stiff) {
    s->nonlinear = SUNNonlinSol_FixedPoint(like, 0, c->sun);
    return s->nonlinear ? CV_SUCCESS : CV_MEM_FAIL;
  }
  s->A = SUNDenseMatrix(n, n, c->sun);
  s->linear = s->A ? SUNLinSol_Dense(like, s->A, c->sun) : NULL;
  return s->linear ? CV_SUCCESS : CV_MEM_FAIL;
}

/* ---------------------------------------------------------------------- failures */

int mbg__qr_cvodes_failed(mbg__qr_cvodes *c, int flag, double at) {
  mbg_context *ctx = c->ctx;
  const double t = mbg__time_shown(at);
  if (c->status == MBG_ERROR_MEMORY || flag == CV_MEM_FAIL || flag == CV_MEM_NULL) {
    return mbg__fail_memory(ctx);
  }
  if (flag == CV_TOO_MUCH_ACC) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "t = %g: the tolerances are tighter than double precision allows", t);
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
                     "t = %g: CVODES cannot make its step small enough (%s); forces jump or grow without limit "
                     "there, or %s",
                     t, c->message,
                     c->stiff ? "the tolerances are too tight" : "the motion is stiff: use --integrator bdf");
  }
  if (flag == CV_RHSFUNC_FAIL || flag == CV_UNREC_RHSFUNC_ERR || flag == CV_REPTD_RHSFUNC_ERR ||
      flag == CV_FIRST_RHSFUNC_ERR) {
    return c->status < 0 ? c->status
                         : mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                                     "t = %g: the equations cannot be evaluated: rates are not finite; check the sizes "
                                     "of masses, stiffnesses and coordinates",
                                     t);
  }
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "t = %g: CVODES stopped with code %d: %s", t, flag, c->message);
}

int mbg__qr_cvodes_answer(mbg__qr_cvodes *c, int status) {
  c->status = status;
  return status == MBG_OK ? 0 : status == MBG_ERROR_MEMORY ? -1 : 1;
}

void mbg__qr_cvodes_retry(const mbg__qr_cvodes *c) {
  if (c->status != MBG_OK) {
    mbg__message_rewind(c->ctx, c->mark);
  }
}

int mbg__qr_cvodes_usable(mbg__qr_cvodes *c, N_Vector rates) {
  const double *x = N_VGetArrayPointer(rates);
  for (sunindextype i = 0; i < N_VGetLength(rates); i++) {
    if (!(fabs(x[i]) < 1e150)) {
      return 1;
    }
  }
  return mbg__qr_cvodes_answer(c, MBG_OK);
}

/* ---------------------------------------------------------------------- forward */

static int rhs(sunrealtype t, N_Vector z, N_Vector zd, void *user) {
  mbg__qr_cvodes *c = user;
  const double *x = N_VGetArrayPointer(z);
  mbg__qr_cvodes_retry(c);
  const int err = mbg__qr_flow_eval(c->ctx, c->w->flow, t, x);
  if (err == MBG_OK) {
    mbg__qr_state_rates(&c->w->flow->state, x, c->w->flow->v_star, c->w->flow->a, N_VGetArrayPointer(zd));
  }
  return err == MBG_OK ? mbg__qr_cvodes_usable(c, zd) : mbg__qr_cvodes_answer(c, err);
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
  return mbg__qr_cvodes_answer(c, err);
}

static int open_forward(mbg__qr_cvodes *c, mbg__qr_cvodes_segment *s) {
  const mbg__run_plan *plan = &c->w->plan;
  int flag = CV_MEM_FAIL;
  s->memory = CVodeCreate(c->stiff ? CV_BDF : CV_ADAMS, c->sun);
  s->start = N_VClone(c->z);
  s->end = N_VClone(c->z);
  if (!s->memory || !s->start || !s->end) {
    return flag;
  }
  N_VScale(1, c->z, s->start);
  flag = listen_to(c, s->memory);
  flag = flag == 0 ? CVodeInit(s->memory, rhs, s->ta, s->start) : flag;
  flag = flag == 0 ? CVodeSVtolerances(s->memory, plan->relative, c->atol) : flag;
  flag = flag == 0 ? CVodeSetUserData(s->memory, c) : flag;
  flag = flag == 0 ? CVodeSetMaxNumSteps(s->memory, 10000000) : flag;
  flag = flag == 0 ? CVodeSetStopTime(s->memory, s->tb) : flag;
  flag = flag == 0 ? mbg__qr_cvodes_solver_create(c, c->w->flow->state.n, c->z, &s->forward) : flag;
  if (flag == 0 && c->stiff) {
    flag = CVodeSetLinearSolver(s->memory, s->forward.linear, s->forward.A);
    flag = flag == 0 ? CVodeSetJacFn(s->memory, jacobian) : flag;
  } else if (flag == 0) {
    flag = CVodeSetNonlinearSolver(s->memory, s->forward.nonlinear);
  }
  return flag == 0 ? CVodeAdjInit(s->memory, MBG__QR_CHECKPOINT_STEPS, CV_POLYNOMIAL) : flag;
}

/* signals at a time of the last step */
static int value_at(void *user, double t, real *y) {
  mbg__qr_cvodes *c = user;
  mbg__formulation_work *w = c->w;
  const double *z = N_VGetArrayPointer(c->z);
  sunrealtype now;
  const bool inside = c->at && CVodeGetCurrentTime(c->at->memory, &now) == 0 && t < now;
  if (inside) {
    if (CVodeGetDky(c->at->memory, t, 0, c->at->end) != 0) {
      return mbg__fail(c->ctx, MBG_ERROR_CONVERGENCE, "t = %g: CVODES cannot interpolate there: %s", mbg__time_shown(t),
                       c->message);
    }
    z = N_VGetArrayPointer(c->at->end);
  }
  return mbg__qr_node_value(c->ctx, w, t, z, inside, false, y);
}

static int run_segment(mbg__qr_cvodes *c, mbg__qr_cvodes_segment *s) {
  double t = s->ta;
  int err = MBG_OK;
  c->at = s;
  c->w->flow->segment = mbg__segment_between(s->ta, s->tb);
  const int opened = open_forward(c, s);
  if (opened != 0) {
    return mbg__qr_cvodes_failed(c, opened, t);
  }
  while (t < s->tb && !c->w->partial) {
    const double from = t;
    sunrealtype to;
    c->mark = mbg__message_mark(c->ctx);
    const int flag = CVodeF(s->memory, s->tb, c->z, &to, CV_ONE_STEP, &s->checkpoints);
    if (flag < 0) {
      return mbg__qr_cvodes_failed(c, flag, t);
    }
    mbg__message_rewind(c->ctx, c->mark);
    t = flag == CV_TSTOP_RETURN || to > s->tb ? s->tb : to;
    MBG_TRY(mbg__qr_finish_step(c->ctx, c->w, from, t, N_VGetArrayPointer(c->z), value_at, c));
    if (c->w->plan.progress) {
      c->w->plan.progress(c->w->plan.user, t);
    }
    c->w->partial = t < c->w->plan.t1 && mbg__plan_interrupted(&c->w->plan);
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
  c->used = false;
  free_segments(c);
  memcpy(N_VGetArrayPointer(c->z), w->z0, (size_t)w->flow->state.n * sizeof(double));
  MBG_TRY(mbg__step_nodes_begin(ctx, &w->nodes, fixed, value_at, c));
  for (int i = 0; i < c->nsegment && !w->partial; i++) {
    mbg__qr_cvodes_segment *s = &c->segments[i];
    s->ta = i > 0 ? w->plan.breaks[i - 1] : w->plan.t0;
    s->tb = i < w->plan.nbreak ? w->plan.breaks[i] : w->plan.t1;
    MBG_TRY(run_segment(c, s));
    /* a checkpoint keeps the history of the method, the current stretch all its steps */
    w->counts.bytes += (double)(13 * (s->checkpoints + 1) + MBG__QR_CHECKPOINT_STEPS) * w->flow->state.n * 8;
  }
done:
  return err;
}

#else

#include "formulations/qr/qr_work.h"

/* complex steps differentiate Runge-Kutta runs only */
int mbg__qr_cvodes_create(mbg_context *ctx, mbg__formulation_work *w, bool stiff, mbg__qr_cvodes **out) {
  (void)w, (void)stiff;
  *out = NULL;
  return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "CVODES works with real numbers only");
}

void mbg__qr_cvodes_destroy(mbg__qr_cvodes *c) { (void)c; }

int mbg__qr_cvodes_simulate(mbg_context *ctx, mbg__formulation_work *w, bool fixed) {
  (void)ctx, (void)w, (void)fixed;
  return MBG_ERROR_UNSUPPORTED;
}

#endif
