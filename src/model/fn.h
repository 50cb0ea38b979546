/* fn: functions of the model file at a time: F(arguments, t; names, controls, signals). */
#ifndef MBG_MODEL_FN_H
#define MBG_MODEL_FN_H

#include "model/model.h"

/* Scratch for the functions of one model; made once per workspace. */
typedef struct mbg__fn_work mbg__fn_work;
int mbg__fn_work_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *model, mbg__fn_work **out);

/* A function's surroundings: bound to a list of functions fn..fn+nfn-1 of the model at time t. */
struct mbg__fn_env {
  mbg_context *ctx;
  const mbg_model *model;
  mbg__fn_work *work;
  const real *attr;    /* attribute values of the design */
  const real *signals; /* signal values (nsignal) or NULL when none may be used */
  real t;
  int fn; /* first function of the element: mbg__fn_at(env, k, ...) evaluates fn + k */
};

/* Value only: for residuals. x: arguments (MBG__FN_ARGS), may be NULL when the function has none. */
int mbg__fn_only(mbg__fn_env *env, int k, const real *x, real *f);

/* Derivatives by the signals of the function evaluated last with mbg__fn_at for k: nsignal pairs. */
int mbg__fn_signals(const mbg__fn_env *env, int k, const int **signal, const real **f_signal);

/* Active attributes of the function evaluated last with mbg__fn_at for k, and its derivatives by them. */
int mbg__fn_active(const mbg__fn_env *env, int k, const int **act, const real **f_act);

/* As a function of time alone (drivers): f[3] = (f, f', f''); act/nact active attributes; f_act (nact x 3): derivatives
   of the three coefficients by each. Arrays are owned by the work and valid until the next call for the same k. */
typedef struct {
  real f[4]; /* f[3]: of mbg__fn_argument_jet alone */
  int nact;
  const int *act;
  const real (*f_act)[3];
} mbg__fn_jet;
int mbg__fn_time_jet(mbg__fn_env *env, int k, mbg__fn_jet *out);

/* The same for a function of one argument x and names alone: f[4] = (f, f', f'', f''') by x, f_act: derivatives of the
   first three. */
int mbg__fn_argument_jet(mbg__fn_env *env, int k, real x, mbg__fn_jet *out);

/* A function of x, y, z and names alone: derivatives up to third order, and by its active attributes, act and slope
   (nact). */
int mbg__fn_space_jet(mbg__fn_env *env, int k, const real x[3], mbg__jet3 *out, int *nact, int *act,
                      mbg__contact_slope *slope);

#endif
