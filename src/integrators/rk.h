/* integrators: explicit Runge-Kutta methods with dense output, error control and the exact adjoint of a step.

   A run solves y' = f(t, y) from t0 to t1, forward (t1 > t0) or backward (t1 < t0, as adjoint equations need):

     mbg__rk_start(ctx, rk, &run, y);
     while ((err = mbg__rk_step(ctx, rk)) > 0) { ... mbg__rk_last(rk) ... }

   or at once with mbg__rk_integrate. Break times split a run into segments. The right-hand side of a segment is
   evaluated in the closed segment only, never outside [t0, t1]; at a break the integration starts anew, so that the
   right-hand side and the state may jump there.

   An integral of g(t, y) is one more component of y, with derivative g: it gets the order, the dense output and (when
   it is among the first ncontrol components) the error control of the method. In a backward run the component decreases
   where g > 0: the integral from t1 to t0 has the opposite sign.

   Times are not differentiated, but for the ends t0 and t1 of a run in complex arithmetic, whose imaginary parts are
   carried along; all decisions look at real parts. To get the derivative of a discrete solution, record the times of a
   run (mbg__rk_dense) and repeat them (mbg__rk_run.frozen) with the tangent equations appended or in complex
   arithmetic, or use mbg__rk_step_adjoint backward over the same times. */
#ifndef MBG_INTEGRATORS_RK_H
#define MBG_INTEGRATORS_RK_H

#include "base/base.h"
#include "base/pool.h"

/* ---------------------------------------------------------------------- methods */

enum { MBG__RK_STAGES = 16, MBG__RK_DENSE = 8 }; /* largest of any method */

/* A step from (t, y) to (t + h, y1):

     k_i = f(t + c_i h, y + h sum_j<i a_ij k_j),    y1 = y + h sum_i<s b_i k_i,    s = nstage

   Row s of A repeats b, so stage s is f at the end of the step: it serves dense output and error estimate and is the
   first stage of the next step. Stages s+1 ... nextended-1 serve the dense output alone,

     y(t + x h) = r_0 + x (r_1 + (1 - x) (r_2 + x (r_3 + (1 - x) (r_4 + ...)))),                     ndense terms
     r_0 = y,  r_1 = y1 - y,  r_2 = h k_0 - r_1,  r_3 = r_1 - h k_s - r_2,  r_(4+l) = h sum_i d_li k_i

   whose first four terms are the cubic Hermite polynomial. Error estimates are h sum_i e_i k_i, i <= s. */
typedef struct {
  const char *key, *name;
  int order;       /* error of a step h^(order+1), of a run h^order */
  int dense_order; /* error of the dense output inside a step h^(dense_order+1) */
  int error_order; /* the controlled error falls as h^error_order; 0: fixed steps only */
  int nstage, nextended, ndense;
  bool error_at_end;                 /* the estimate uses stage s */
  const double *c;                   /* (nextended) */
  const double (*A)[MBG__RK_STAGES]; /* (nextended rows) */
  const double *e;                   /* estimate (nstage + 1), NULL: none */
  const double *e_low;               /* second one, of lower order, NULL: none */
  const double (*d)[MBG__RK_STAGES]; /* (ndense - 4 rows), NULL: none */
} mbg__rk_method;

extern const mbg__rk_method mbg__rk_rk4;    /* "rk4": classical, order 4, fixed steps, dense output of order 3 */
extern const mbg__rk_method mbg__rk_dp5;    /* "dp5": Dormand and Prince 5(4), dense output of order 4 */
extern const mbg__rk_method mbg__rk_dop853; /* "dop853": Dormand and Prince 8(5,3), dense output of order 7 */

/* The method with this key, or NULL. */
const mbg__rk_method *mbg__rk_find(const char *key);

/* The longest step with which a motion of frequency omega and decay d, x'' + 2 d x' + omega^2 x = 0, does not grow. */
double mbg__rk_stable(const mbg__rk_method *method, double omega, double d);

/* r (ndense x n) from the stages k (nextended x n) of the step of length h from y to y1. */
void mbg__rk_interpolant(mbg__pool *pool, const mbg__rk_method *method, int n, real h, const real *y, const real *y1,
                         const real *k, real *r);
/* Components first ... first+count-1 of the dense output at x in [0, 1], and their derivative by x (or NULL). */
void mbg__rk_interpolate(const mbg__rk_method *method, int n, const real *r, real x, int first, int count, real *y,
                         real *y_x);
/* Components that are needed; others stay as they are. */
typedef struct {
  int n;
  int *first, *end; /* first[i] <= component < end[i]   (n) */
} mbg__rk_parts;
void mbg__rk_interpolate_parts(mbg__pool *pool, const mbg__rk_method *method, int n, const real *r, real x,
                               const mbg__rk_parts *parts, real *y);
/* All components, and a copy of a vector, in threads (pool NULL: none). */
void mbg__rk_interpolate_all(mbg__pool *pool, const mbg__rk_method *method, int n, const real *r, real x, real *y);
void mbg__rk_copy(mbg__pool *pool, int n, real *out, const real *x);

/* ---------------------------------------------------------------------- what the caller provides */

/* dydt = f(t, y). 0; positive: not possible here, the step is retried smaller (messages filed by such a call are taken
   back when the retry is made); negative: fatal status with its message filed, handed up unchanged. Values that are not
   finite count as positive. */
typedef int (*mbg__rk_rhs)(void *user, real t, const real *y, real *dydt);

/* Called before the first evaluation in each segment, which reaches from ta to tb in the direction of the run. Switches
   the right-hand side to the one of this segment, whose limits at ta and tb are then asked for, and may change y (n):
   jumps of an adjoint at sample times. Not called at t1. 0 or a negative status. */
typedef int (*mbg__rk_segment)(void *user, double ta, double tb, real *y);

typedef struct {
  mbg__rk_rhs rhs;
  mbg__rk_segment segment; /* may be NULL */
  void *user;
  real t0, t1;
  int nbreak;
  const double *breaks; /* ascending in both directions; those outside ]t0, t1[ are ignored; referenced */
  int nfrozen;
  const double *frozen; /* nodes t0 ... t1 of a run to be repeated (nfrozen + 1), or NULL; referenced */
} mbg__rk_run;

typedef struct {
  double rtol, atol;          /* step is accepted when rms_i (error_i / (atol_i + rtol max(|y_i|, |y1_i|))) <= 1 */
  const double *atol_vector;  /* (n) instead of atol, or NULL; referenced, may be refilled between runs */
  int ncontrol;               /* the first ones count in the norm; 0: all n */
  double h0;                  /* length of the first step, 0: chosen */
  double hmax;                /* longest step, 0: no limit */
  double hmin;                /* steps as short as this are taken whatever their error (counted), 0: none */
  double fixed;               /* > 0: no error control, each segment is cut into equal steps of at most this length */
  long max_steps;             /* accepted and rejected ones of a run */
  bool dense;                 /* dense output is wanted: three evaluations more per step of dop853, otherwise free */
  bool late;                  /* ... of the steps alone for which mbg__rk_complete asks */
  const mbg__rk_parts *parts; /* ... of these components, NULL: of all; referenced */
  mbg__pool *pool;            /* threads for long vectors, NULL: none */
} mbg__rk_options;

mbg__rk_options mbg__rk_options_default(void); /* 1e-8, 1e-10, no dense output, 1e6 steps */

/* ---------------------------------------------------------------------- integration */

typedef struct mbg__rk mbg__rk;

/* An accepted step, valid until the next call with its mbg__rk. */
typedef struct {
  real t0, t1;         /* the step's ends; its length is t1 - t0 */
  const real *y0, *y1; /* (n) */
  const real *r;       /* dense output (ndense x n), NULL without the option, and late until mbg__rk_complete */
  const real *k;       /* stages (nextended x n; late: nstage + 1), NULL without the option; not after a rebase */
  bool first;          /* of a segment */
} mbg__rk_record;

typedef struct {
  long steps, rejected, failed; /* accepted; refused by the error test; by the right-hand side */
  long forced;                  /* accepted in spite of the error test */
  long evaluations;
} mbg__rk_counts;

/* When a controlled run makes no headway: see MBG__RK_NO_HEADWAY. */
enum { MBG__RK_REFUSALS = 100, MBG__RK_WINDOW = 2000 };

/* Why a run stopped, for callers that know the components by name. */
typedef enum {
  MBG__RK_FINE,
  MBG__RK_TOO_SMALL,  /* the error test asks for steps below rounding; component: largest error */
  MBG__RK_TOO_MANY,   /* max_steps; component: largest error of the last test */
  MBG__RK_NO_HEADWAY, /* MBG__RK_REFUSALS attempts refused in a row, or MBG__RK_WINDOW that advanced the run by less
                         than 1e-8 of it; component: largest error */
  MBG__RK_NOT_FINITE, /* component of f */
  MBG__RK_REFUSED,    /* right-hand side returned a positive value until the step was too small */
  MBG__RK_FATAL       /* right-hand side or segment returned a negative value */
} mbg__rk_reason;

typedef struct {
  mbg__rk_reason reason;
  double t, h;   /* start and length of the last attempt */
  int component; /* or -1 */
} mbg__rk_failure;

/* Takes all memory that steps need. MBG_ERROR_INPUT names an option that is wrong. */
int mbg__rk_create(mbg_context *ctx, int n, const mbg__rk_method *method, const mbg__rk_options *opt, mbg__rk **out);
void mbg__rk_destroy(mbg__rk *rk);

/* Begins a run from y (n, copied). The run is copied, its arrays are referenced. An rk may be started any number of
   times. */
int mbg__rk_start(mbg_context *ctx, mbg__rk *rk, const mbg__rk_run *run, const real *y);

/* One step: 1 when a step was made, 0 when t1 was reached before, or a negative status: of the right-hand side, or
   MBG_ERROR_CONVERGENCE when step size or number of steps ran out or f is not finite. Takes no memory. */
int mbg__rk_step(mbg_context *ctx, mbg__rk *rk);

/* After a step: the run goes on from y (n, copied), the state in other coordinates or corrected, with its rate dydt (n)
   there, NULL: evaluated anew. mbg__rk_last still tells the step as it was made, but for its y1. 0 or a negative
   status. */
int mbg__rk_rebase(mbg_context *ctx, mbg__rk *rk, const real *y, const real *dydt);

/* Controlled steps from here on are at most h long, 0: no limit. */
void mbg__rk_limit(mbg__rk *rk, double h);

/* dydt at the end of the last step, the first stage of the next one (n). */
const real *mbg__rk_rate(const mbg__rk *rk);

/* The last accepted step; before the first one, y1 is the start. */
const mbg__rk_record *mbg__rk_last(const mbg__rk *rk);
/* Dense output of this step, if it has none yet. 0 or a negative status. */
int mbg__rk_complete(mbg_context *ctx, mbg__rk *rk);
/* The argument Y (n) of stage i of a step with the ends t0, t1, the start y0 and the stages k before it; its time. */
real mbg__rk_argument(const mbg__rk_method *method, int n, int i, real t0, real t1, const real *y0, const real *k,
                      real *Y);
/* The argument Y (n) of stage i < nstage of this step, with the option dense; returns its time. */
real mbg__rk_stage(const mbg__rk *rk, int i, real *Y);
const mbg__rk_counts *mbg__rk_count(const mbg__rk *rk); /* since the start */
const mbg__rk_failure *mbg__rk_why(const mbg__rk *rk);

/* ---------------------------------------------------------------------- stored solution */

/* All steps of a run with their dense output. */
typedef struct {
  const mbg__rk_method *method;
  int n; /* leading components that are kept */
  int nstep, capacity;
  double *t; /* nodes, in the direction of the run       (nstep + 1) */
  real *r;   /* dense output of each step                (nstep x ndense x n) */
} mbg__rk_dense;

/* Takes no memory. n: at most the n of the rk whose steps are stored. */
void mbg__rk_dense_init(mbg__rk_dense *s, const mbg__rk_method *method, int n);
void mbg__rk_dense_free(const mbg_allocator *allocator, mbg__rk_dense *s); /* back to the state after init */
void mbg__rk_dense_clear(mbg__rk_dense *s);                                /* no steps, keeps the memory */

/* Memory for nstep steps: steps up to there are stored without taking more. */
int mbg__rk_dense_reserve(mbg_context *ctx, mbg__rk_dense *s, int nstep);
/* Stores the last step of rk; it begins where the one before ended. Takes memory by doubling. */
int mbg__rk_dense_add(mbg_context *ctx, mbg__rk_dense *s, const mbg__rk *rk);
double mbg__rk_dense_bytes(const mbg__rk_dense *s); /* held */

/* Which limit is meant at a node (a jump of y or y' at a break): just before or just after t, in time. */
typedef enum { MBG__RK_LEFT = -1, MBG__RK_RIGHT = 1 } mbg__rk_side;

/* The step that covers t (times outside are moved to the nearer end), and by it the components first ... first+count-1
   of y(t) and of its time derivative (NULL: not wanted). At least one step is stored. Equal arguments give equal bits.
   At a node the value equals the step to rounding. */
int mbg__rk_dense_find(const mbg__rk_dense *s, double t, mbg__rk_side side);
void mbg__rk_dense_eval(const mbg__rk_dense *s, double t, mbg__rk_side side, int first, int count, real *y, real *dydt);

/* The whole run: y (n) at t0 comes back as y at t1. s, cleared first, gets the steps (NULL: not wanted; else the rk has
   the option dense). When the run fails y is the last one accepted, s holds the steps to there. */
int mbg__rk_integrate(mbg_context *ctx, mbg__rk *rk, const mbg__rk_run *run, real *y, mbg__rk_dense *s);

/* ---------------------------------------------------------------------- adjoint of a step */

/* What the adjoint needs of the right-hand side. The stages 0 ... nstage-1 are evaluated in this order, then their
   transposed products are asked for in the opposite order at the same t and y: what a stage factorized may be kept
   under its number. Both return 0 or a negative status; a positive one of rhs is an error here, for the step was
   possible before. */
typedef struct {
  int (*rhs)(void *user, int stage, double t, const real *y, real *dydt);
  /* For each column: b_y = f_y^T b, and psi_p += f_p^T b wherever the caller keeps it. b, b_y: ncol x n, row-major. */
  int (*vjp)(void *user, int stage, double t, const real *y, int ncol, const real *b, real *b_y);
  void *user;
  const real *k;   /* the stages of the step as they were (nextended x n): rhs is not called; NULL: evaluated again */
  mbg__pool *pool; /* threads for long vectors, NULL: none */
  /* The next call is the step before this one, which ends at the state where this one begins and evaluates it alike:
     its last stage takes over the transposed product of stage 0, whose part of lambda is missing until then. */
  bool leave;
  /* With k: the argument of a stage as the step had it, NULL: it is computed from k. */
  const real *(*argument)(void *user, int stage, double t);
} mbg__rk_adjoint_run;

typedef struct mbg__rk_adjoint mbg__rk_adjoint;

/* ncol: adjoint columns (criteria) that go backward together; npoint: most values of the dense output in a step. */
int mbg__rk_adjoint_create(mbg_context *ctx, int n, int ncol, int npoint, const mbg__rk_method *method,
                           mbg__rk_adjoint **out);
void mbg__rk_adjoint_destroy(mbg_context *ctx, mbg__rk_adjoint *a);

/* The exact transpose of the step from (t0, y0) to t1. lambda (ncol x n): d psi/d y1 comes back as d psi/d y0. With
   Y_i, k_i of the step (recomputed from y0) and h = t1 - t0, for i = nstage-1 ... 0  (theory 3, section 11):

     beta_i = h (b_i lambda + sum_j>i a_ji g_j),   g_i = f_y(Y_i)^T beta_i,   psi_p += f_p(Y_i)^T beta_i

   and lambda += sum_i g_i. Dense output is not part of the step. Takes no memory. */
int mbg__rk_step_adjoint(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, double t0, double t1,
                         const real *y0, real *lambda);

/* The same with npoint values of the dense output, y(t0 + x_j h) = y0 + h sum_i W_i(x_j) k_i, whose weights are g
   (npoint x ncol x n): all stages up to the last one of the dense output take part, beta_i gets h sum_j W_i(x_j) g_j,
   lambda gets sum_j g_j. */
int mbg__rk_step_adjoint_dense(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_adjoint_run *run, double t0,
                               double t1, const real *y0, int npoint, const double *x, const real *g, real *lambda);

#endif
