#include "twin/twin_expr.h"

int twin_expr(const char *text, fixture_what what, const real *x, real *f, real *g, real *h) {
  return fixture_expr(text, what, x, f, g, h);
}

int twin_spline(int n, const double *knots, int transposed, real *y, real *m) {
  mbg_context *ctx = NULL;
  mbg__arena arena;
  mbg__spline *s = NULL;
  int err = mbg_context_create(NULL, &ctx);
  if (err < 0) {
    return err;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  MBG_TRY(mbg__spline_create(ctx, &arena, NULL, "spline", n, knots, MBG__CUBIC, MBG__OUTSIDE_ERROR, &s));
  if (transposed) {
    mbg__spline_curvature_T(s, m, y);
  } else {
    mbg__spline_curvature(s, y, m);
  }
done:
  mbg__arena_destroy(&arena);
  mbg_context_destroy(ctx);
  return err;
}

bool twin_table(int n, const double *knots, const double *values, mbg__interpolation interpolation,
                mbg__outside outside, real x, real d[4]) {
  mbg_context *ctx = NULL;
  mbg__arena arena;
  mbg__table *table = NULL;
  if (mbg_context_create(NULL, &ctx) < 0) {
    return false;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  mbg__table_create(ctx, &arena, NULL, "table", n, knots, values, interpolation, outside, &table);
  const bool inside = table && mbg__table_at(table, x, 3, d);
  mbg__arena_destroy(&arena);
  mbg_context_destroy(ctx);
  return inside;
}
