/* CVODES with the right-hand sides of qr_flow.h: Adams for long smooth runs, BDF for stiff ones, with checkpoints and
   the backward problem on its polynomial interpolation (theory 1, section 9 lists the pitfalls). Each smooth segment
   has a CVODES memory of its own, because a restarted one keeps stale interpolation data; adjoint variables pass from
   segment to segment. */
#ifndef MBG_FORMULATIONS_QR_QR_CVODES_H
#define MBG_FORMULATIONS_QR_QR_CVODES_H

#include "formulations/qr/qr_work.h"

#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_nonlinearsolver.h>

enum { MBG__QR_CHECKPOINT_STEPS = 150 }; /* steps between checkpoints */

/* The solver of one segment and direction. */
typedef struct {
  SUNMatrix A;
  SUNLinearSolver linear;
  SUNNonlinearSolver nonlinear;
} mbg__qr_cvodes_solver;

/* A smooth segment of the run. */
typedef struct {
  double ta, tb;
  void *memory;
  N_Vector start, end; /* states */
  mbg__qr_cvodes_solver forward, backward;
  int checkpoints;
} mbg__qr_cvodes_segment;

/* The backward problem. */
typedef struct {
  mbg__qr_continuous *adjoint;
  int n, nquad; /* all of mu, nu; of g */
  N_Vector y, quad, atol, quad_atol;
  real *full, *rate;       /* in the layout of the adjoint */
  real *mu, *nu, *gw, *gv; /* stiff: unit vectors and their products, n columns */
  mbg__qr_cvodes_segment *at;
} mbg__qr_cvodes_backward;

struct mbg__qr_cvodes {
  mbg__formulation_work *w;
  mbg_context *ctx;
  SUNContext sun;
  bool stiff;
  int nsegment;
  mbg__qr_cvodes_segment *segments;
  N_Vector z, atol;
  mbg__qr_cvodes_segment *at; /* being integrated */
  real *scratch, *J;
  int status; /* of the last evaluation */
  int mark;   /* messages before the current step */
  bool used;  /* the forward data has served a backward problem: CVODES cannot start another one on it */
  char message[256];
  mbg__qr_cvodes_backward back;
};

/* The error of a flag of CVODES at time t. */
int mbg__qr_cvodes_failed(mbg__qr_cvodes *c, int flag, double t);
/* A status as CVODES takes it. The messages of a point that is tried again with a smaller step are dropped by the next
   evaluation, which begins with `retry`; the last one is kept. */
int mbg__qr_cvodes_answer(mbg__qr_cvodes *c, int status);
/* The same after rates were computed: CVODES never ends on numbers that are not finite, or whose squares are not. */
int mbg__qr_cvodes_usable(mbg__qr_cvodes *c, N_Vector rates);
void mbg__qr_cvodes_retry(const mbg__qr_cvodes *c);
void mbg__qr_cvodes_free_vector(N_Vector *v);

/* Adams: fixed-point iteration. BDF: Newton with a dense Jacobian of dimension n. */
int mbg__qr_cvodes_solver_create(const mbg__qr_cvodes *c, int n, N_Vector like, mbg__qr_cvodes_solver *s);

#endif
