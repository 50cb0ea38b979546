/* modes: the linearized model, its eigenvalues and their derivatives; shared by the files of this folder. */
#ifndef MBG_MODES_MODES_H
#define MBG_MODES_MODES_H

#include "mbgrad/modes.h"
#include "start/start.h"
#include "system/saddle.h"

/* Vectors of a mode: x, y right and left on the free velocities, xi, eta the multipliers of the rows; imaginary parts
   are NULL in the symmetric problem, where y = x, eta = xi and x^T M x = 1. */
typedef struct {
  double s[2]; /* eigenvalue */
  double s2;   /* symmetric: its square, -omega^2 */
  bool zero;
  double *x[2], *y[2];    /* (nv) */
  double *xi[2], *eta[2]; /* (nrow) */
} mbg__mode;

struct mbg_modes {
  mbg__arena arena;
  const mbg_model *model;
  mbg_modes_summary summary;
  mbg_mode *modes;      /* (count) */
  double **shape[2];    /* (count), bodies x 6 each */
  double **gradient[4]; /* frequency, damping, re, im: (count), np each, or NULL */
  double (*position)[3];
  mbg_modes_line *lines;
};

/* The linearized model. */
typedef struct {
  mbg_context *ctx;
  const mbg_model *given;
  mbg_model model; /* a copy with another kind of start */
  const mbg_model *m;
  mbg_modes_options opt;
  const char *action; /* what to do at the start instead, for messages; NULL: take the modes there */
  mbg__arena arena;
  mbg__design *design;
  mbg__system *sys;
  mbg__start_work *start;
  const mbg__start_result *result;
  real *p;

  /* the state */
  real t;
  mbg__frame *H;
  real *v, *vd, *lambda;
  const int *turns;
  bool moving;
  int iterations;
  /* steady: the common twist in world axes, from the rates of this body */
  real twist[6];
  int reference;

  /* (s^2 M + s C + K) x + B^T xi = 0, values by the patterns of the system */
  real *K, *C, *M, *B;
  /* late rates (mbg__system_late): derivatives by multipliers (nlate x nrow), NULL: none; c of modes_states.c; the
     places of these rates among the free velocities */
  real *by_lambda;
  double *late_c; /* (nlate x nv) */
  int nlate;
  const int *late_row;
  real *Kx;  /* K with the columns of C in the places of states: modes_states.c; K itself without states */
  double *W; /* metric of the free velocities (nv) */
  mbg__saddle saddle;
  int n;            /* freedoms, places of states among them */
  bool K_symmetric; /* up to rounding and the imbalance of the state */
  bool symmetric;   /* K is symmetric and there is no damping: the symmetric problem is solved */

  int nzero; /* motions without stiffness, K x = 0 and y^T K = 0, each set orthonormal in M */
  double **zero, **zero_left;

  double unresolved; /* sizes of eigenvalues that were taken for zero: at most this */
  int count, massless;
  mbg__mode *modes;
  const char *solver;
} mbg__modes_work;

/* modes_state.c: the state and the matrices */
int mbg__modes_state(mbg__modes_work *w);
/* Its first part: design, system and a start of this kind at w->p, solved; room for state and matrices, H from the
   start. */
int mbg__modes_begin(mbg__modes_work *w, mbg__start kind);
/* The same at a given state. */
int mbg__modes_begin_at(mbg__modes_work *w, double t, const mbg__frame *H, const real *v, const int *turns);
/* [[a K_x + b M + c W, B^T], [B, 0]] on the kept rows, factored. */
int mbg__modes_factor(mbg__modes_work *w, double a, double b, double c, const char *what);
/* y = A x and y = A^T x on the free velocities, A with the pattern of K. */
void mbg__modes_mul(const mbg__modes_work *w, const real *A, const double *x, double *y);
void mbg__modes_mul_T(const mbg__modes_work *w, const real *A, const double *x, double *y);

/* modes_states.c, all of them nothing without states. The place of a state among all velocities. States of w->model are
   unknowns of the equilibrium, whatever the file says; their values at the start into w->v; w->Kx; the entries of
   states (nw) from one vector to another. */
static inline int mbg__modes_place(const mbg_model *m, int state) {
  return m->bodies[m->states[state].body].voff + m->states[state].component;
}
int mbg__modes_states_release(mbg__modes_work *w);
void mbg__modes_states_take(mbg__modes_work *w);
void mbg__modes_states_columns(mbg__modes_work *w);
void mbg__modes_states_move(const mbg_model *m, real *from, real *to);
/* v of states += step x, of unknowns x over free velocities, in which they become 0. */
void mbg__modes_states_add(mbg__modes_work *w, double step, real *x);
/* Late rates: room for them; c, after the matrices; y += combinations of its entries, x of its transposed (nv). */
int mbg__modes_late_create(mbg__modes_work *w);
int mbg__modes_late_prepare(mbg__modes_work *w);
void mbg__modes_late_combine(const mbg__modes_work *w, double *y);
void mbg__modes_late_combine_T(const mbg__modes_work *w, double *y);
/* The error of a model with states, at the first one. */
int mbg__modes_states_refuse(const mbg__modes_work *w, const char *what);

/* modes_eigen.c: w->modes */
int mbg__modes_eigen(mbg__modes_work *w);
/* The error of an eigenvalue solver that failed with the status err. */
int mbg__modes_not_found(const mbg__modes_work *w, int err);
/* Multipliers xi (nrow) with B^T xi = -f on the part of f (nv) that the constraints take; after mbg__modes_factor(w, 0,
   0, 1). */
int mbg__modes_multipliers(mbg__modes_work *w, const double *f, double *xi);
/* modes_krylov.c: the lowest w->count pairs of the symmetric problem without dense matrices: omega2 (count), X (nv x
   count), and the error of eigenvalues that are 0. */
int mbg__modes_krylov(mbg__modes_work *w, double *omega2, double *X, double *off);
/* Rayleigh-Ritz on (K - shift M)^-1 M X: improves X (nv x count) and omega2. */
int mbg__modes_polish(mbg__modes_work *w, double shift, double *omega2, double *X);

/* modes_gradient.c: derivatives of all modes into the result; ds (re, im) of mode i by parameter p into it. */
int mbg__modes_gradient(mbg__modes_work *w, mbg_modes *modes);
void mbg__modes_put_gradient(mbg_modes *modes, int i, int p, const double ds[2]);

/* modes.c: w->modes and what belongs to them into the result; room for derivatives. */
int mbg__modes_list(mbg__modes_work *w, mbg_modes *modes);
int mbg__modes_room_gradient(mbg__modes_work *w, mbg_modes *modes);

/* linearize/linearize_modes.c: all of it for a model with constraints on rates, from its linear model; asked: context,
   model and options. */
int mbg__modes_rolling(const mbg__modes_work *asked, mbg_modes *modes);

/* ---------------------------------------------------------------------- dense matrices by columns */

static inline double *column(double *A, int n, int k) { return A + (size_t)n * (size_t)k; }

static inline double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* b += c a */
static inline void axpy(int n, double c, const double *a, double *b) {
  for (int i = 0; i < n; i++) {
    b[i] += c * a[i];
  }
}

#endif
