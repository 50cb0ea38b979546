/* Expressions and tables in the twin. The fixture below is compiled for both scalars, so that a test and the twin
   evaluate the same expression with the same names and tables. */
#ifndef TWIN_EXPR_H
#define TWIN_EXPR_H

#include "expr/expr.h"
#include "twin/twin.h"

#include <stdlib.h>
#include <string.h>

/* names x0..x5 and t; tables lin(x) and cub(x), both extended beyond their ends */
enum { FIXTURE_INPUTS = 7, FIXTURE_TIME = 6, FIXTURE_KNOTS = 6 };

static const double fixture_x[FIXTURE_KNOTS] = {-2, -1.25, -0.5, 0.5, 1.5, 2};
static const double fixture_y[FIXTURE_KNOTS] = {1, 0.25, -0.5, 1.5, 0.75, 2};

typedef enum { FIXTURE_VALUE, FIXTURE_GRADIENT, FIXTURE_HESSIAN, FIXTURE_JET } fixture_what;

/* Evaluates text at x (FIXTURE_JET: jets, 3 for each input). f: 1, jet 3; g: FIXTURE_INPUTS, jet 3 of each;
   h: FIXTURE_INPUTS squared. g and h may be NULL where they are not asked for. */
TWIN_API int twin_expr(const char *text, fixture_what what, const double _Complex *x, double _Complex *f,
                       double _Complex *g, double _Complex *h);

/* m = S y on n knots (cubic), or with `transposed` y += S^T m. */
TWIN_API int twin_spline(int n, const double *knots, int transposed, double _Complex *y, double _Complex *m);

/* d[0..3] = value and derivatives of a table through the n points. Returns false where it is not defined. */
TWIN_API bool twin_table(int n, const double *knots, const double *values, mbg__interpolation interpolation,
                         mbg__outside outside, double _Complex x, double _Complex d[4]);

/* ---------------------------------------------------------------------- fixture */

static inline int fixture_resolve(void *user, const char *name, int index, const char **hint) {
  static const char *const known[] = {"x0", "x1", "x2", "x3", "x4", "x5"};
  (void)user;
  for (int i = 0; i < 6; i++) {
    if (strcmp(name, known[i]) == 0 && index < 0) {
      return i;
    }
  }
  if (strcmp(name, "x") == 0 && index >= 0 && index < 6) {
    return index;
  }
  *hint = mbg__nearest(name, known, 6);
  return MBG__NAME_UNKNOWN;
}

static inline const mbg__table *fixture_table(void *user, const char *name, const char **hint) {
  static const char *const known[] = {"lin", "cub"};
  mbg__table *const *tables = user;
  *hint = mbg__nearest(name, known, 2);
  return strcmp(name, "lin") == 0 ? tables[0] : strcmp(name, "cub") == 0 ? tables[1] : NULL;
}

static inline int fixture_tables(mbg_context *ctx, mbg__arena *arena, mbg__table *tables[2]) {
  const int err = mbg__table_create(ctx, arena, NULL, "lin", FIXTURE_KNOTS, fixture_x, fixture_y, MBG__LINEAR,
                                    MBG__OUTSIDE_EXTEND, &tables[0]);
  return err < 0 ? err
                 : mbg__table_create(ctx, arena, NULL, "cub", FIXTURE_KNOTS, fixture_x, fixture_y, MBG__CUBIC,
                                     MBG__OUTSIDE_EXTEND, &tables[1]);
}

/* evaluates, with the results spread over all inputs of the fixture */
static inline int fixture_run(mbg_context *ctx, const mbg__expr *e, fixture_what what, const real *x, real *f, real *g,
                              real *h) {
  const size_t n = (size_t)mbg__expr_ninputs(e), width = what == FIXTURE_JET ? 3 : 1;
  real *scratch = malloc((mbg__expr_scratch(e) + 1) * sizeof(real)), small[FIXTURE_INPUTS * FIXTURE_INPUTS];
  int err = MBG_OK;
  if (what == FIXTURE_VALUE) {
    err = mbg__expr_value(ctx, e, x, scratch, f);
  } else if (what == FIXTURE_GRADIENT) {
    err = mbg__expr_gradient(ctx, e, x, scratch, f, g);
  } else if (what == FIXTURE_HESSIAN) {
    err = mbg__expr_hessian(ctx, e, x, scratch, f, g, small);
    for (size_t k = 0; k < FIXTURE_INPUTS * FIXTURE_INPUTS; k++) {
      const size_t i = k / FIXTURE_INPUTS, j = k % FIXTURE_INPUTS;
      h[k] = i < n && j < n ? small[i * n + j] : 0;
    }
  } else {
    err = mbg__expr_jet(ctx, e, x, scratch, f, g);
  }
  for (size_t k = width * n; g && k < width * FIXTURE_INPUTS; k++) {
    g[k] = 0;
  }
  free(scratch);
  return err;
}

static inline int fixture_expr(const char *text, fixture_what what, const real *x, real *f, real *g, real *h) {
  mbg_context *ctx = NULL;
  mbg__arena arena;
  mbg__table *tables[2];
  mbg__expr *e = NULL;
  int err = mbg_context_create(NULL, &ctx);
  if (err < 0) {
    return err;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  const mbg__scope scope = {tables, fixture_resolve, fixture_table, FIXTURE_TIME};
  MBG_TRY(fixture_tables(ctx, &arena, tables));
  MBG_TRY(mbg__expr_compile(ctx, &arena, text, NULL, &scope, &e));
  MBG_TRY(fixture_run(ctx, e, what, x, f, g, h));
done:
  mbg__arena_destroy(&arena);
  mbg_context_destroy(ctx);
  return err;
}

#endif
