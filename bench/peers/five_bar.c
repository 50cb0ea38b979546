/* Gradient of the five-bar by SUNDIALS: five_bar cvodes|idas TOLERANCE REPETITIONS < parameters
   prints the value, the CPU time of each repetition and the gradient. The equations come from five_bar.py. */
#include "five_bar_code.c"

#include <cvodes/cvodes.h>
#include <idas/idas.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <time.h>

enum { STATES = 4, KEPT = 150 /* steps between two checkpoints */, MOST = 1000000 };

typedef struct {
  int n;
  double p[4096];
  double tolerance;
} problem;

static double *at(N_Vector v) { return N_VGetArrayPointer(v); }

/* CasADi's calling convention: pointers to arguments and results, no work space for these expressions */
static int rate(double t, N_Vector y, N_Vector dy, void *user) {
  const double *args[] = {at(y), ((problem *)user)->p};
  double *results[] = {at(dy)};
  (void)t;
  return five_bar_rate(args, results, NULL, NULL, 0);
}

static int integrand(double t, N_Vector y, N_Vector dq, void *user) {
  const double *args[] = {at(y), ((problem *)user)->p};
  double *results[] = {at(dq)};
  (void)t;
  return five_bar_integrand(args, results, NULL, NULL, 0);
}

static int back(double t, N_Vector y, N_Vector w, N_Vector dw, void *user) {
  const double *args[] = {at(y), ((problem *)user)->p, at(w)};
  double *results[] = {at(dw)};
  (void)t;
  return five_bar_back(args, results, NULL, NULL, 0);
}

static int back_sum(double t, N_Vector y, N_Vector w, N_Vector dq, void *user) {
  const double *args[] = {at(y), ((problem *)user)->p, at(w)};
  double *results[] = {at(dq)};
  (void)t;
  return five_bar_sum(args, results, NULL, NULL, 0);
}

static void check(int flag, const char *what) {
  if (flag < 0) {
    fprintf(stderr, "%s: %d\n", what, flag);
    exit(1);
  }
}

static double start(N_Vector y) {
  memset(at(y), 0, STATES * sizeof(double));
  return 5;
}

static double gradient_cvodes(problem *p, SUNContext ctx, N_Vector y, N_Vector q, N_Vector w, N_Vector g) {
  void *m = CVodeCreate(CV_ADAMS, ctx);
  const double end = start(y);
  double t;
  int checkpoints, which;
  SUNNonlinearSolver forward = SUNNonlinSol_FixedPoint(y, 0, ctx), backward = SUNNonlinSol_FixedPoint(w, 0, ctx);
  check(CVodeInit(m, rate, 0, y), "CVodeInit");
  CVodeSStolerances(m, p->tolerance, p->tolerance);
  CVodeSetUserData(m, p);
  CVodeSetMaxNumSteps(m, MOST);
  CVodeSetNonlinearSolver(m, forward);
  N_VConst(0, q);
  CVodeQuadInit(m, integrand, q);
  check(CVodeAdjInit(m, KEPT, CV_POLYNOMIAL), "CVodeAdjInit");
  check(CVodeF(m, end, y, &t, CV_NORMAL, &checkpoints), "CVodeF");
  CVodeGetQuad(m, &t, q);
  N_VConst(0, w);
  N_VConst(0, g);
  check(CVodeCreateB(m, CV_ADAMS, &which), "CVodeCreateB");
  CVodeInitB(m, which, back, end, w);
  CVodeSStolerancesB(m, which, p->tolerance, p->tolerance);
  CVodeSetUserDataB(m, which, p);
  CVodeSetMaxNumStepsB(m, which, MOST);
  CVodeSetNonlinearSolverB(m, which, backward);
  CVodeQuadInitB(m, which, back_sum, g);
  check(CVodeB(m, 0, CV_NORMAL), "CVodeB");
  CVodeGetQuadB(m, which, &t, g);
  CVodeFree(&m);
  SUNNonlinSolFree(forward);
  SUNNonlinSolFree(backward);
  return at(q)[0];
}

/* IDAS: y' - f(y, p) = 0 with the exact Jacobian */
static int residual(double t, N_Vector y, N_Vector dy, N_Vector r, void *user) {
  const int flag = rate(t, y, r, user);
  N_VLinearSum(1, dy, -1, r, r);
  return flag;
}

static int jacobian(double t, double c, N_Vector y, N_Vector dy, N_Vector r, SUNMatrix j, void *user, N_Vector a,
                    N_Vector b, N_Vector d) {
  const double *args[] = {at(y), ((problem *)user)->p};
  double *results[] = {SUNDenseMatrix_Data(j)};
  (void)t, (void)dy, (void)r, (void)a, (void)b, (void)d;
  const int flag = five_bar_jacobian(args, results, NULL, NULL, 0);
  for (int i = 0; i < STATES * STATES; i++) {
    results[0][i] = (i % (STATES + 1) == 0 ? c : 0) - results[0][i];
  }
  return flag;
}

static int residual_back(double t, N_Vector y, N_Vector dy, N_Vector w, N_Vector dw, N_Vector r, void *user) {
  (void)dy;
  const int flag = back(t, y, w, r, user);
  N_VLinearSum(1, dw, -1, r, r);
  return flag;
}

static int sum_back(double t, N_Vector y, N_Vector dy, N_Vector w, N_Vector dw, N_Vector dq, void *user) {
  (void)dy, (void)dw;
  return back_sum(t, y, w, dq, user);
}

static int jacobian_back(double t, double c, N_Vector y, N_Vector dy, N_Vector w, N_Vector dw, N_Vector r, SUNMatrix j,
                         void *user, N_Vector a, N_Vector b, N_Vector d) {
  double direct[STATES * STATES];
  const double *args[] = {at(y), ((problem *)user)->p};
  double *results[] = {direct}, *out = SUNDenseMatrix_Data(j);
  (void)t, (void)dy, (void)w, (void)dw, (void)r, (void)a, (void)b, (void)d;
  const int flag = five_bar_jacobian(args, results, NULL, NULL, 0);
  for (int i = 0; i < STATES; i++) {
    for (int k = 0; k < STATES; k++) {
      out[k * STATES + i] = (i == k ? c : 0) + direct[i * STATES + k];
    }
  }
  return flag;
}

static int integrand_dae(double t, N_Vector y, N_Vector dy, N_Vector dq, void *user) {
  (void)dy;
  return integrand(t, y, dq, user);
}

static double gradient_idas(problem *p, SUNContext ctx, N_Vector y, N_Vector q, N_Vector w, N_Vector g) {
  void *m = IDACreate(ctx);
  const double end = start(y);
  double t;
  int checkpoints, which;
  N_Vector dy = N_VClone(y), dw = N_VClone(w);
  SUNMatrix a = SUNDenseMatrix(STATES, STATES, ctx), b = SUNDenseMatrix(STATES, STATES, ctx);
  SUNLinearSolver la = SUNLinSol_Dense(y, a, ctx), lb = SUNLinSol_Dense(w, b, ctx);
  rate(0, y, dy, p);
  check(IDAInit(m, residual, 0, y, dy), "IDAInit");
  IDASStolerances(m, p->tolerance, p->tolerance);
  IDASetUserData(m, p);
  IDASetMaxNumSteps(m, MOST);
  IDASetLinearSolver(m, la, a);
  IDASetJacFn(m, jacobian);
  N_VConst(0, q);
  IDAQuadInit(m, integrand_dae, q);
  check(IDAAdjInit(m, KEPT, IDA_POLYNOMIAL), "IDAAdjInit");
  check(IDASolveF(m, end, &t, y, dy, IDA_NORMAL, &checkpoints), "IDASolveF");
  IDAGetQuad(m, &t, q);
  N_VConst(0, w);
  N_VConst(0, g);
  back(end, y, w, dw, p);
  check(IDACreateB(m, &which), "IDACreateB");
  check(IDAInitB(m, which, residual_back, end, w, dw), "IDAInitB");
  IDASStolerancesB(m, which, p->tolerance, p->tolerance);
  IDASetUserDataB(m, which, p);
  IDASetMaxNumStepsB(m, which, MOST);
  IDASetLinearSolverB(m, which, lb, b);
  IDASetJacFnB(m, which, jacobian_back);
  IDAQuadInitB(m, which, sum_back, g);
  check(IDASolveB(m, 0, IDA_NORMAL), "IDASolveB");
  IDAGetQuadB(m, which, &t, g);
  IDAFree(&m);
  SUNLinSolFree(la);
  SUNLinSolFree(lb);
  SUNMatDestroy(a);
  SUNMatDestroy(b);
  N_VDestroy(dy);
  N_VDestroy(dw);
  return at(q)[0];
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  static problem p;
  SUNContext ctx;
  if (argc != 4) {
    return 2;
  }
  p.tolerance = atof(argv[2]);
  while (p.n < 4096 && scanf("%lf", &p.p[p.n]) == 1) {
    p.n++;
  }
  SUNContext_Create(NULL, &ctx);
  N_Vector y = N_VNew_Serial(STATES, ctx), q = N_VNew_Serial(1, ctx), w = N_VNew_Serial(STATES, ctx),
           g = N_VNew_Serial(p.n, ctx);
  const int repetitions = atoi(argv[3]);
  double value = 0;
  printf("[");
  for (int i = 0; i < repetitions; i++) {
    const double begin = seconds();
    value = !strcmp(argv[1], "idas") ? gradient_idas(&p, ctx, y, q, w, g) : gradient_cvodes(&p, ctx, y, q, w, g);
    printf("%s%.9g", i ? ", " : "[", seconds() - begin);
  }
  printf("], %.17g, [", value);
  for (int i = 0; i < p.n; i++) {
    printf("%s%.17g", i ? ", " : "", at(g)[i]);
  }
  printf("]]\n");
  return 0;
}
