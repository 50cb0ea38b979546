/* expr: expressions of the model file, compiled once, evaluated with exact derivatives.

   A text such as "l*cos(alpha0)" or "A*sin(Om*t)" becomes a flat program in single-assignment form. Names become
   inputs, numbered by the caller's scope. Evaluation is one forward sweep, derivatives add one reverse sweep; both
   work in truncated Taylor arithmetic of order 0 (value, gradient), 1 (Hessian) or 2 (jets in time). Nothing is
   allocated; the program is immutable and may be shared by threads that each have their scratch. */
#ifndef MBG_EXPR_EXPR_H
#define MBG_EXPR_EXPR_H

#include "base/where.h"
#include "expr/table.h"

typedef struct mbg__expr mbg__expr;

enum { MBG__EXPR_LENGTH_MAX = 100000, MBG__EXPR_DEPTH_MAX = 200, MBG__EXPR_NAME_MAX = 255 };

/* ---------------------------------------------------------------------- names */

/* What resolve answers when it gives no input index. */
enum {
  MBG__NAME_UNKNOWN = -1, /* "unknown name '...'", and "; did you mean '*hint'?" when a hint is set */
  MBG__NAME_FILED = -2,   /* the resolver has filed its own error */
  MBG__NAME_REFUSED = -3  /* *hint is the whole message, e.g. "'rho' is a vector: write rho[i]"; gets place and owner */
};

/* What a name means: the scope resolves names while compiling. Either function may be NULL: no such names. */
typedef struct {
  void *user;
  /* An input index >= 0 for `name` (index i for name[i], -1 for a plain name) or one of the answers above. May
     register inputs on the fly. *hint is NULL at entry. */
  int (*resolve)(void *user, const char *name, int index, const char **hint);
  /* The tabulated function called as name(x) or name(x, y), or NULL, with the nearest known one (or NULL) in *hint;
     *hint is the name itself when its error is filed. */
  const mbg__table *(*table)(void *user, const char *name, const char **hint);
  int t_input; /* input index of `t`, or -1 when time is not allowed here (then 't' is an error that says so) */
  /* Number of entries of the vector `name`, 0: not a vector. NULL: no vectors. */
  int (*length)(void *user, const char *name);
} mbg__scope;

/* True for words that mean something to every expression and cannot be names of the user: functions, `t`, `pi`,
   `deg`, `and`, `or`, `not`. */
bool mbg__expr_reserved(const char *name);

/* ---------------------------------------------------------------------- compiling */

/* Compiles text. where: the place of the first character of text, for the errors of compiling and evaluating; its
   file is referenced (it lives as long as the expression), its owner is copied. where and scope may be NULL.
   Tables are referenced. Constant parts are folded; a domain error in one is reported here, except in a branch that
   may not be taken. On an error *out is NULL. */
int mbg__expr_compile(mbg_context *ctx, mbg__arena *arena, const char *text, const mbg__where *where,
                      const mbg__scope *scope, mbg__expr **out);

/* Component k (0, 1, 2) of a text that is a vector of three, "P + 2*[0, 0, l]". */
int mbg__expr_compile_component(mbg_context *ctx, mbg__arena *arena, const char *text, const mbg__where *where,
                                const mbg__scope *scope, int k, mbg__expr **out);

/* 1 + the largest input index that the expression uses; 0 when it uses none. `n` in the sizes below. */
int mbg__expr_ninputs(const mbg__expr *e);
/* The inputs that it uses, increasing; their number in *count. */
const int *mbg__expr_inputs(const mbg__expr *e, int *count);
bool mbg__expr_is_constant(const mbg__expr *e); /* a number, whatever the inputs are */
/* The place of the text (file referenced, owner copied), for messages of the caller. */
const mbg__where *mbg__expr_where(const mbg__expr *e);
/* The first table that it calls whose second derivative jumps or is missing (linear, monotone), or NULL: time laws that
   need second derivatives refuse them. */
const mbg__table *mbg__expr_rough_table(const mbg__expr *e);
/* The knots of the k-th table that is called with the input itself as an argument, name(t) say, or NULL: breaks in
   time. */
const mbg__spline *mbg__expr_knots_of(const mbg__expr *e, int input, int k);
/* Does it compare, take a sign, or choose by a condition that is not constant? */
bool mbg__expr_has_switch(const mbg__expr *e);
int mbg__expr_lines(const mbg__expr *e);
/* Inputs (ninputs) that decide a comparison, a sign or a condition: their effect there has no derivative.
   marks: scratch (lines). */
void mbg__expr_deciding(const mbg__expr *e, bool *marks, bool *inputs);
/* The same of inputs at which the value or its slope jumps: those above, abs, min, max and linear tables. */
void mbg__expr_kinked(const mbg__expr *e, bool *marks, bool *inputs);
/* Number of reals that any of the evaluations below needs as scratch. */
size_t mbg__expr_scratch(const mbg__expr *e);

/* ---------------------------------------------------------------------- evaluating */

/* All return MBG_OK, or MBG_ERROR_INPUT for a domain error, with a message that names the function and its argument
   and points into the text. ctx may be NULL: then only the status tells. A branch of `if`, `and`, `or` that is not
   taken is not evaluated. x may be NULL when the expression is constant. */

/* f = value. */
int mbg__expr_value(mbg_context *ctx, const mbg__expr *e, const real *x, real *scratch, real *f);

/* f = value, g[n] = df/dx. Cost: a small multiple of the value, whatever n is. */
int mbg__expr_gradient(mbg_context *ctx, const mbg__expr *e, const real *x, real *scratch, real *f, real *g);

/* Also h[n*n] = d2f/dx2, full and symmetric. Cost: one gradient of order 1 for each input that is used. */
int mbg__expr_hessian(mbg_context *ctx, const mbg__expr *e, const real *x, real *scratch, real *f, real *g, real *h);

/* Jet in time: input i follows x_i(t) with xj[3 i..] = (x_i, x_i', x_i''): (t, 1, 0) for time, (a, 0, 0) for what is
   constant, (u, u', u'') for a control signal. f[3] = (f, f', f''), total derivatives.
   g[3 n], or NULL: the jet of each partial derivative, g[3 i..] = (g0, g1, g2) with g0 = df/dx_i, g1 = d(g0)/dt,
   g2 = d2(g0)/dt2. These are all the derivatives of the jet by its data:
     df/dx_i   = g0
     df'/dx_i  = g1    df'/dx_i'  = g0
     df''/dx_i = g2    df''/dx_i' = 2 g1    df''/dx_i'' = g0 */
int mbg__expr_jet(mbg_context *ctx, const mbg__expr *e, const real *xj, real *scratch, real f[3], real *g);

#endif
