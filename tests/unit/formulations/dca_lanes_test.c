/* Columns of direct differentiation side by side against one after the other, in directions of frames, rates and
   parameters: trees that are solved from body to body, by pieces of one shape and by pieces of many shapes, with and
   without springs. Wide and narrow vectors give the same bits, and a column has the same bits beside any others. From
   the start of a step piece by piece: against columns whose frames are pushed first, in one thread and in three. */
#include "formulations/dca/dca_lanes_internal.h"
#include "formulations/dca/dca_work.h"
#include "property/gradient_case.h"
#include "run/run.h"

#include <stdio.h>

/* both solve with factors of hundreds of bodies in a row, which amplify rounding by up to a hundred thousand */
static const double tol = 1e-10;

typedef enum { SMALL, EQUAL, BRANCHES, KINDS } kind;
static const char *const names[KINDS] = {"small tree", "chain of equal joints", "branches of four kinds"};
static const int bodies[KINDS] = {40, 520, 600};

static int parent_body(kind k, int i) { return k == EQUAL || i % 5 || i < 10 ? i - 1 : i - 7; }

/* parameters move masses, inertias, gravity, springs, and joints on both sides */
static char *text_of(kind k, bool springs) {
  static const char *const types[] = {"revolute", "spherical", "prismatic", "cylindrical"};
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  fprintf(f, "{\"mbgrad\": 1, \"name\": \"columns\", \"parameters\": {\"m\": 1, \"d\": 0.05, \"a\": 0.3, \"g\": 9.81,"
             " \"c\": 0.5, \"p\": 0.003, \"k\": 4}, \"gravity\": [0.2, 0, \"-g\"], \"bodies\": {");
  for (int i = 0; i < bodies[k]; i++) {
    fprintf(f,
            "%s\n\"b%d\": {\"position\": [%d, %g, 0], \"rotate\": [[\"z\", %.3g]], \"mass\": \"%.3g*m\", \"com\":"
            " [\"c\", 0.01, 0.02], \"inertia\": [0.02, 0.1, 0.09, \"p\", 0, 0]}",
            i ? "," : "", i, i, 0.3 * (i % 3), 0.3 * sin(i), 1 + 0.1 * (i % 5));
  }
  fprintf(f, "}, \"joints\": {");
  for (int i = 0; i < bodies[k]; i++) {
    const char *type = types[k == EQUAL ? 0 : i % 4];
    char on[32] = "ground";
    if (parent_body(k, i) >= 0) {
      sprintf(on, "b%d", parent_body(k, i));
    }
    fprintf(f, "%s\n\"j%d\": {\"type\": \"%s\", \"between\": [\"%s\", \"b%d\"], \"at\": [\"%d - d\", %g, 0.1]",
            i ? "," : "", i, type, on, i, i, 0.3 * (i % 3));
    fprintf(f, strcmp(type, "spherical") != 0 ? ", \"axis\": [%s, 1, 0.2]}" : "}", i % 3 ? "0.4" : "\"sin(a)\"");
  }
  fprintf(f, "}, \"forces\": {");
  for (int i = 0; springs && i < bodies[k]; i += 7) {
    fprintf(f,
            "%s\n\"s%d\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"b%d\"], \"points\": [[%d, 0, 5],"
            " [0, 0, 0]], \"stiffness\": \"k\", \"damping\": 0.2, \"rest\": 4}",
            i ? "," : "", i, i, i);
  }
  fprintf(f, "}}");
  fclose(f);
  return text;
}

/* The point of a run at a state at which its links move, with directions of all parameters. */
typedef struct {
  gradient_case c;
  mbg__formulation_work *w;
  mbg__arena arena;
  mbg__design_columns columns;
  mbg__event_tangent parameters;
  int np, n;
  double *da;
  const double **e, **dw;
  const double *f; /* wrenches of the joints */
} bench;

/* np columns of n numbers each, random or 0 */
static double **take_columns(bench *b, int n, support_rng *rng) {
  double **x = MBG_TAKE(&b->arena, double *, b->np);
  for (int p = 0; p < b->np; p++) {
    x[p] = MBG_TAKE(&b->arena, double, n);
    if (rng) {
      support_normals(rng, x[p], n);
    }
  }
  return x;
}

static void evaluate(bench *b) {
  const size_t n = (size_t)b->n;
  double *y = MBG_TAKE(&b->arena, double, 2 * n);
  for (size_t i = 0; i < n; i++) {
    y[i] = 0.1 * sin(1.3 * (double)i);
    y[n + i] = 0.1 * cos(0.7 * (double)i);
  }
  gradient_case_check(&b->c, mbg__dca_flow_eval(b->c.ctx, &b->w->flow, &b->w->base[b->w->now], b->w->last, y), "state");
  gradient_case_check(&b->c, mbg__dca_point_linearize(b->c.ctx, b->w->point), "linearization");
}

static void set_up(bench *b, const char *text) {
  support_rng rng = support_rng_make(5);
  gradient_case_open(&b->c, NULL, text);
  b->c.options.formulation = "dca";
  b->c.options.step = b->c.options.end = 1e-3;
  gradient_case_run(&b->c);
  gradient_case_simulate(&b->c);
  mbg_context *ctx = b->c.ctx;
  b->w = mbg__run_work(b->c.run);
  b->n = b->w->flow.n;
  b->np = b->c.np;
  assert_int_equal(b->np, 7);
  mbg__arena_init(&b->arena, mbg__context_allocator(ctx));
  gradient_case_check(&b->c, mbg__design_columns_make(ctx, &b->arena, mbg__system_design(b->w->flow.sys), &b->columns),
                      "columns");
  gradient_case_check(&b->c,
                      mbg__event_tangent_create(ctx, &b->arena, NULL, b->w->m, &b->columns, b->np, &b->parameters),
                      "parameters");
  b->e = (const double **)take_columns(b, 6 * b->w->m->nbody, &rng);
  b->dw = (const double **)take_columns(b, b->n, &rng);
  b->da = MBG_TAKE(&b->arena, double, b->w->m->na);
  evaluate(b);
}

static void tear_down(bench *b) {
  mbg__arena_destroy(&b->arena);
  gradient_case_close(&b->c);
}

/* ---------------------------------------------------------------------- side by side and one by one */

static double **push(bench *b) {
  double **out = take_columns(b, b->n, NULL);
  for (int p = 0; p < b->np; p += MBG__LANES) {
    const mbg__dca_attributes attributes = {.columns = &b->parameters, .first = p, .da = b->da};
    mbg__dca_point_push(b->w->point, b->np - p < MBG__LANES ? b->np - p : MBG__LANES, b->e + p, b->dw + p, &attributes,
                        out + p);
  }
  return out;
}

static void compare(bench *b, const char *name) {
  double **one = push(b);
  gradient_case_check(&b->c, mbg__dca_point_columns(b->c.ctx, &b->arena, b->w->point), "columns");
  double **side = push(b);
  (void)mbg__dca_point_columns(NULL, NULL, b->w->point);
  for (int p = 0; p < b->np; p++) {
    double most = 0, off = 0;
    for (int i = 0; i < b->n; i++) {
      most = fmax(most, fabs(one[p][i]));
      off = fmax(off, fabs(side[p][i] - one[p][i]));
    }
    if (!(most > 0) || !(off <= tol * most)) {
      fail_msg("%s, column %d: differ by %.2g of %.2g", name, p, off, most);
    }
  }
}

/* ---------------------------------------------------------------------- bits */

/* columns first .. first + nc - 1 with joint wrenches f, in vectors of the processor or in those that every one has */
static double **in_lanes(bench *b, bool wide, int first, int nc, const double *f) {
  mbg__dca_lanes *x;
  double **out = take_columns(b, b->n, NULL);
  gradient_case_check(&b->c, mbg__dca_lanes_create(b->c.ctx, &b->arena, b->w->tree, b->w->articulated, &x), "lanes");
  mbg__tree_lanes_widen(x->t, wide);
  assert_true(mbg__dca_lanes_push(x,
                                  &(mbg__dca_lanes_direction){.nc = nc,
                                                              .first = first,
                                                              .e = b->e + first,
                                                              .dw = b->dw + first,
                                                              .columns = &b->parameters,
                                                              .da = b->da,
                                                              .f = f},
                                  out));
  return out;
}

static void check_bits(bench *b) {
  support_rng rng = support_rng_make(11);
  const size_t size = (size_t)b->n * sizeof(double);
  double *f = MBG_TAKE(&b->arena, double, b->w->m->nw);
  support_normals(&rng, f, b->w->m->nw);
  double **wide = in_lanes(b, true, 2, MBG__LANES, f), **narrow = in_lanes(b, false, 2, MBG__LANES, f);
  for (int q = 0; q < MBG__LANES; q++) {
    double **alone = in_lanes(b, true, 2 + q, 1, f);
    assert_memory_equal(wide[q], narrow[q], size);
    assert_memory_equal(wide[q], alone[0], size);
  }
}

/* ---------------------------------------------------------------------- by pieces */

/* columns from `first` on, by pieces from the variations e at the start of a step in which links moved by sigma */
static double **by_pieces(bench *b, bool wide, int first, int nc, const double *sigma, bool shared, mbg__pool *pool) {
  mbg__dca_lanes *x;
  double **out = take_columns(b, b->n, NULL);
  const mbg__dca_step_change change = {b->w->flow.X, sigma, b->dw + first};
  gradient_case_check(&b->c, mbg__dca_lanes_create(b->c.ctx, &b->arena, b->w->tree, b->w->articulated, &x), "lanes");
  mbg__tree_lanes_widen(x->t, wide);
  assert_true(mbg__dca_lanes_pieces(x));
  mbg__dca_lanes_push_pieces(x,
                             &(mbg__dca_lanes_direction){.nc = nc,
                                                         .first = first,
                                                         .step = &change,
                                                         .e = b->e + first,
                                                         .dw = b->dw + first,
                                                         .columns = &b->parameters,
                                                         .da = b->da,
                                                         .f = b->f},
                             shared, pool, out);
  return out;
}

static void check_close(const bench *b, const char *name, int q, const double *x, const double *of) {
  double most = 0, off = 0;
  for (int i = 0; i < b->n; i++) {
    most = fmax(most, fabs(of[i]));
    off = fmax(off, fabs(x[i] - of[i]));
  }
  if (!(most > 0) || !(off <= tol * most)) {
    fail_msg("%s, column %d: differ by %.2g of %.2g", name, q, off, most);
  }
}

/* columns of four parameters whose frames are pushed before */
static double **pushed_first(bench *b, const double *sigma) {
  double **e = take_columns(b, 6 * b->w->m->nbody, NULL);
  const double **start = b->e;
  mbg__dca_flow_increments(&b->w->flow, sigma);
  for (int p = 0; p < b->np; p++) {
    mbg__dca_flow_frames_push(&b->w->flow, sigma, b->e[p], b->dw[p], e[p]);
  }
  b->e = (const double **)e;
  double **whole = in_lanes(b, true, 2, MBG__LANES, b->f);
  b->e = start;
  return whole;
}

static void check_pieces(bench *b, const char *name) {
  const size_t size = (size_t)b->n * sizeof(double);
  double *sigma = MBG_TAKE(&b->arena, double, b->n), *f = MBG_TAKE(&b->arena, double, b->w->m->nw);
  mbg__pool *pool;
  for (int i = 0; i < b->n; i++) {
    sigma[i] = 0.3 * sin(2.1 * i);
  }
  mbg__dca_articulated_wrenches(b->w->articulated, f);
  b->f = f;
  double **whole = pushed_first(b, sigma);
  gradient_case_check(&b->c, mbg__pool_create(b->c.ctx, 3, &pool), "threads");
  for (int shared = 0; shared < 2; shared++) {
    double **x = by_pieces(b, true, 2, MBG__LANES, sigma, shared, NULL);
    double **narrow = by_pieces(b, false, 2, MBG__LANES, sigma, shared, NULL);
    double **threads = by_pieces(b, true, 2, MBG__LANES, sigma, shared, pool);
    for (int q = 0; q < MBG__LANES; q++) {
      double **alone = by_pieces(b, true, 2 + q, 1, sigma, shared, pool);
      check_close(b, name, q, x[q], whole[q]);
      assert_memory_equal(x[q], narrow[q], size);
      assert_memory_equal(x[q], threads[q], size);
      assert_memory_equal(x[q], alone[0], size);
    }
  }
  mbg__pool_destroy(pool);
}

static void test_columns(void **state) {
  (void)state;
  for (int k = 0; k < 2 * KINDS; k++) {
    bench b;
    char *text = text_of((kind)(k / 2), k % 2);
    set_up(&b, text);
    const mbg__art_pieces *pieces = b.w->articulated->pieces;
    assert_int_equal(b.w->articulated->by_pieces, k / 2 != SMALL);
    assert_int_equal(pieces && pieces->groups && !pieces->small, k / 2 == EQUAL);
    compare(&b, names[k / 2]);
    check_bits(&b);
    if (b.w->articulated->by_pieces && k % 2 == 0) {
      check_pieces(&b, names[k / 2]);
    }
    tear_down(&b);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
