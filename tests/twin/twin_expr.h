/* Expressions and tables in the twin. The fixture below is compiled for both scalars, so that a test and the twin
   evaluate the same expression with the same names and tables. */
#ifndef TWIN_EXPR_H
#define TWIN_EXPR_H

#include "expr/expr.h"
#include "twin/twin.h"

#include <stdlib.h>
#include <string.h>

/* names x0..x5, t and the vector P = (x3, x4, x5); tables lin(x), cub(x), mon(x), bilin(x, y) and
   bicub(x, y), all extended beyond their ends */
enum { FIXTURE_INPUTS = 7, FIXTURE_TIME = 6, FIXTURE_KNOTS = 6, FIXTURE_COLUMNS = 3, FIXTURE_TABLES = 5 };

static const double fixture_x[FIXTURE_KNOTS] = {-2, -1.25, -0.5, 0.5, 1.5, 2};
static const double fixture_y[FIXTURE_KNOTS] = {1, 0.25, -0.5, 1.5, 0.75, 2};

static const double fixture_columns[FIXTURE_COLUMNS] = {-1, 0.25, 1.5};
static const double fixture_z[FIXTURE_KNOTS * FIXTURE_COLUMNS] = {1,     0.25, -0.5, 1.5, 0.75,  2, 0.5,  -1,  0.25,
                                                                  -0.75, 1.25, 1,    0.5, -0.25, 0, 1.75, 0.5, -1.5};
static const char *const fixture_names[FIXTURE_TABLES] = {"lin", "cub", "mon", "bilin", "bicub"};

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
  if (strcmp(name, "P") == 0 && index >= 0 && index < 3) {
    return 3 + index;
  }
  *hint = mbg__nearest(name, known, 6);
  return MBG__NAME_UNKNOWN;
}

static inline int fixture_length(void *user, const char *name) {
  (void)user;
  return strcmp(name, "P") == 0 ? 3 : strcmp(name, "x") == 0 ? 6 : 0;
}

static inline const mbg__table *fixture_table(void *user, const char *name, const char **hint) {
  mbg__table *const *tables = user;
  *hint = mbg__nearest(name, fixture_names, FIXTURE_TABLES);
  for (int i = 0; i < FIXTURE_TABLES; i++) {
    if (strcmp(name, fixture_names[i]) == 0) {
      return tables[i];
    }
  }
  return NULL;
}

static inline int fixture_tables(mbg_context *ctx, mbg__arena *arena, mbg__table *tables[FIXTURE_TABLES]) {
  static const mbg__interpolation kinds[] = {MBG__LINEAR, MBG__CUBIC, MBG__MONOTONE, MBG__LINEAR, MBG__CUBIC};
  int err = MBG_OK;
  for (int i = 0; i < FIXTURE_TABLES && err == MBG_OK; i++) {
    err = i < 3 ? mbg__table_create(ctx, arena, NULL, fixture_names[i], FIXTURE_KNOTS, fixture_x, fixture_y, kinds[i],
                                    MBG__OUTSIDE_EXTEND, &tables[i])
                : mbg__table_create_grid(ctx, arena, NULL, fixture_names[i], FIXTURE_KNOTS, fixture_x, FIXTURE_COLUMNS,
                                         fixture_columns, fixture_z, kinds[i], MBG__OUTSIDE_EXTEND, &tables[i]);
  }
  return err;
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
  mbg__table *tables[FIXTURE_TABLES];
  mbg__expr *e = NULL;
  int err = mbg_context_create(NULL, &ctx);
  if (err < 0) {
    return err;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  const mbg__scope scope = {tables, fixture_resolve, fixture_table, FIXTURE_TIME, fixture_length};
  MBG_TRY(fixture_tables(ctx, &arena, tables));
  MBG_TRY(mbg__expr_compile(ctx, &arena, text, NULL, &scope, &e));
  MBG_TRY(fixture_run(ctx, e, what, x, f, g, h));
done:
  mbg__arena_destroy(&arena);
  mbg_context_destroy(ctx);
  return err;
}

#endif
