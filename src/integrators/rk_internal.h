/* Shared by the files of the Runge-Kutta module. */
#ifndef MBG_INTEGRATORS_RK_INTERNAL_H
#define MBG_INTEGRATORS_RK_INTERNAL_H

#include "integrators/rk.h"

struct mbg__rk {
  mbg__arena arena;
  const mbg__rk_method *method;
  mbg__rk_options opt;
  int n, ncontrol;

  mbg__rk_run run;
  double dir;      /* +1 forward, -1 backward */
  bool controlled; /* neither fixed nor frozen */

  /* the segment */
  real ta, tb;       /* from, to */
  int next;          /* break to look at next, in the direction of the run */
  long nfixed, done; /* fixed: steps of the segment; steps made in it */

  /* step control */
  double h;         /* length of the next step if nothing limits it */
  double error;     /* norm of the last attempt */
  double error_old; /* of the last accepted step, for the PI controller */
  int worst;        /* component of the largest error, or that is not finite */

  /* headway: refused attempts in a row; time and attempts when it was looked at last */
  int refused;
  double mark_t;
  long mark_attempts;

  /* values */
  real t;
  real *y, *y1; /* at t; at the end of the attempt              (n) */
  real *k;      /* stages; the first is f(t, y)                 (nextended x n) */
  bool ahead;   /* after a step f(t, y) is still stage s of it */
  real *Y;      /* argument of a stage; late: of each, of stage 0 room for any   (n; nstage x n) */
  real *r;      /* dense output                                 (ndense x n) */

  mbg__rk_record last;
  mbg__rk_counts count;
  mbg__rk_failure why;
};

/* rk_vectors.c: out = y + h sum_j<s w_j k_j; k: s x n. out is not y. The pool may be NULL in all of them. */
void mbg__rk_combine(mbg__pool *pool, int n, real *out, const real *y, real h, int s, const double *w, const real *k);
/* out += sum_j<s w_j k_j, the k_j N apart (n each). */
void mbg__rk_add(int n, real *out, int s, const double *w, const real *k, size_t N);
typedef void mbg__rk_terms(int n, real *out, int s, const double *w, const real *k, size_t N);
mbg__rk_terms mbg__rk_add_terms, mbg__rk_add_terms_avx2;
typedef void mbg__rk_sum(int n, real *out, const real *y, real h, int s, const double *w, const real *k, size_t N);
mbg__rk_sum mbg__rk_combine_terms, mbg__rk_combine_terms_avx2;
/* Numbers of n that a thread takes at once: a piece of all stages fits into its cache. */
enum { MBG__RK_LEAST = 512, MBG__RK_MOST = 4096 };
static inline int mbg__rk_piece(const mbg__pool *pool, int n) {
  if (n <= MBG__RK_LEAST) {
    return MBG__RK_LEAST;
  }
  const int piece = n / (2 * mbg__pool_threads(pool)) + 1;
  return piece < MBG__RK_LEAST ? MBG__RK_LEAST : piece > MBG__RK_MOST ? MBG__RK_MOST : piece;
}
/* mbg__rk_interpolant for some components (NULL: all). */
void mbg__rk_interpolant_parts(mbg__pool *pool, const mbg__rk_method *method, int n, real h, const real *y,
                               const real *y1, const real *k, const mbg__rk_parts *parts, real *r);
/* The first entry that is not finite, -1: none. */
int mbg__rk_first_bad(mbg__pool *pool, int n, const real *x);

/* Time of stage i: the end itself for c = 1, never beyond it. */
real mbg__rk_stage_time(const mbg__rk_method *method, int i, real t0, real t1);

/* k = f(t, y) with counting: 0, a negative status, or MBG__RK_REFUSED, MBG__RK_NOT_FINITE with rk->worst. */
int mbg__rk_evaluate(mbg__rk *rk, real t, const real *y, real *k);

/* rk_control.c: norm of the error of the attempt of length h into rk->error, worst component into rk->worst. */
void mbg__rk_estimate(mbg__rk *rk, double h);
/* Length of the next step after an accepted one of length h, which would have been rk->h if nothing had cut it. */
void mbg__rk_control(mbg__rk *rk, double h, bool retried);
/* Shorter step after a refused one of length h. */
void mbg__rk_reduce(mbg__rk *rk, double h, mbg__rk_reason reason);
/* First step of a segment from the sizes of y, y' and y''; one or a few evaluations. Negative: fatal status. */
int mbg__rk_first_step(mbg__rk *rk, double *h);

#endif
