/* dca on models that are large enough for pieces and classes: trees of rigid bodies of several shapes, with and without
   forces, a chain and a tree of modal bodies. The recursion by pieces agrees with the one from body to body, direct
   differentiation with the adjoint and with the complex twin, and results have the same bits with 1, 2, 3 and 4
   threads. */
#include "formulations/dca/dca_articulated_internal.h"
#include "formulations/dca/dca_work.h"
#include "property/gradient_case.h"
#include "run/run.h"

#include <stdio.h>

/* Pieces against the recursion: the accelerations of 700 bodies in a row amplify rounding by some thousands, so that
   both have errors of 1e-12; the residual shows how well each solves its equations. Direct against adjoint; adjoint
   against twin. */
static const double tol_pieces = 1e-11, tol_residual = 1e-13, tol_direct = 1e-10, tol_twin = 1e-9;

/* equal: joints of one kind, so that pieces go side by side */
typedef enum { CHAIN, BRANCHES, STAR, CATERPILLAR, EQUAL_CHAIN, EQUAL_CATERPILLAR, SHAPES } shape;
static const char *const shape_names[SHAPES] = {"chain",       "branches",    "star",
                                                "caterpillar", "equal chain", "equal caterpillar"};

static int parent_of_body(shape s, int i, support_rng *rng) {
  switch (s) {
  case CHAIN:
  case EQUAL_CHAIN:
    return i - 1;
  case BRANCHES:
    return i == 0 ? -1 : (i > 12 ? i - 12 : 0) + support_index(rng, i > 12 ? 12 : i);
  case STAR:
    return i == 0 ? -1 : i % 9 == 1 ? 0 : i - 1;
  default:
    return i == 0 ? -1 : i % 2 ? i - 1 : i - 2;
  }
}

/* rods in random directions, joints of four kinds, springs on every seventh body if wanted; `masses` parameters, which
   bodies take in turn */
static char *tree_of(shape s, int n, bool springs, int masses) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  support_rng rng = support_rng_make(7 + (uint64_t)s);
  double(*x)[2] = calloc((size_t)n, sizeof(*x)), *angle = calloc((size_t)n, sizeof(double));
  int *parent = calloc((size_t)n, sizeof(int));
  static const char *const types[] = {"revolute", "revolute", "revolute", "spherical", "prismatic", "cylindrical"};
  fprintf(f, "{\"mbgrad\": 1, \"name\": \"large\", \"parameters\": {\"m\": {\"value\": [1");
  for (int i = 1; i < masses; i++) {
    fprintf(f, ", %g", i % 2 ? 1.5 : 1.0);
  }
  fprintf(f, "]}, \"l\": 1, \"k\": 2}, \"gravity\": [0, 0, -9.81], \"bodies\": {");
  for (int i = 0; i < n; i++) {
    parent[i] = parent_of_body(s, i, &rng);
    const int p = parent[i];
    angle[i] = support_uniform(&rng, -1, 1);
    x[i][0] = p >= 0 ? x[p][0] + cos(angle[p]) : 0;
    x[i][1] = p >= 0 ? x[p][1] + sin(angle[p]) : 0;
    fprintf(
        f,
        "%s\n\"b%d\": {\"position\": [\"%.12g*l\", \"%.12g*l\", 0], \"rotate\": [[\"z\", %.12g]], \"mass\": \"m[%d]\","
        " \"com\": [\"l/2\", 0.01, 0], \"inertia\": [\"m[%d]/50\", \"m[%d]*l^2/10\", \"m[%d]*l^2/12\"]}",
        i ? "," : "", i, x[i][0], x[i][1], angle[i], i % masses, i % masses, i % masses, i % masses);
  }
  fprintf(f, "}, \"joints\": {");
  for (int i = 0; i < n; i++) {
    char on[32] = "ground";
    if (parent[i] >= 0) {
      sprintf(on, "b%d", parent[i]);
    }
    const char *type = s < EQUAL_CHAIN ? types[support_index(&rng, 6)] : "revolute";
    fprintf(f, "%s\n\"j%d\": {\"type\": \"%s\", \"between\": [\"%s\", \"b%d\"], \"at\": [\"%.12g*l\", \"%.12g*l\", 0]",
            i ? "," : "", i, type, on, i, x[i][0], x[i][1]);
    fprintf(f, strcmp(type, "spherical") != 0 ? ", \"axis\": [%d, 1, 0.2]}" : "}", support_index(&rng, 3) - 1);
  }
  fprintf(f, "}, \"forces\": {");
  for (int i = 0; springs && i < n; i += 7) {
    fprintf(
        f,
        "%s\n\"s%d\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"b%d\"], \"points\": [[%.12g, %.12g, 5],"
        " [0, 0, 0]], \"stiffness\": \"k\", \"damping\": 0.2, \"rest\": 4}",
        i ? "," : "", i, i, x[i][0], x[i][1]);
  }
  /* Far from the ground bodies fall freely, and gradients of heights are rounding. With springs a body far out, whose
     place and rate depend on the lengths before it: the adjoint goes through most links at nodes. */
  fprintf(f, "}, \"markers\": {\"tip\": {\"on\": \"b%d\", \"at\": [\"l\", 0, 0]}}, \"signals\": {\"h\": {\"type\":",
          springs ? n / 2 : 3);
  fprintf(f, " \"position\", \"of\": \"tip\", \"component\": \"%s\"}, \"v\": {\"type\": \"velocity\", \"of\": \"tip\",",
          springs ? "x" : "z");
  fprintf(f, " \"component\": \"z\"}}, \"criteria\": {\"drop\": {\"terminal\": \"h\"}, \"path\": {\"integral\":"
             " \"h^2 + v\"}}}");
  fclose(f);
  free(x);
  free(angle);
  free(parent);
  return text;
}

static char *tree_text(shape s, int n, bool springs) { return tree_of(s, n, springs, 2); }

/* a chain of modal bodies; branches: a tree, in which every seventh body is rigid, with a signal of an acceleration */
static char *modal_text(int n, bool branches) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  int *parent = calloc((size_t)n, sizeof *parent), *depth = calloc((size_t)n, sizeof *depth);
  fprintf(f, "{\"mbgrad\": 1, \"name\": \"modal\", \"parameters\": {\"l\": 1, \"d\": 0.04}, \"gravity\": [0, 0, -9.81],"
             " \"bodies\": {");
  for (int i = 0; i < n; i++) {
    parent[i] = branches && i % 5 == 4 ? i - 3 : i - 1;
    depth[i] = parent[i] >= 0 ? depth[parent[i]] + 1 : 0;
    fprintf(f, "%s\n\"b%d\": {\"position\": [\"%d*l\", 0, 0], ", i ? "," : "", i, depth[i]);
    fprintf(
        f,
        branches && i % 7 == 3
            ? "\"mass\": 1.2, \"com\": [\"l/2\", 0, 0], \"inertia\": [0.01, \"0.1*l^2\", \"0.1*l^2\"]}"
            : "\"type\": \"modal\", \"modes\": 2, \"damping\": 1e-3,"
              " \"beam\": {\"length\": \"l\", \"elements\": 4, \"boundary\": \"fixed-free\", \"E\": 2e9, \"nu\": 0.3,"
              " \"rho\": 1000, \"section\": {\"type\": \"circle\", \"diameter\": \"d\"}}}");
  }
  fprintf(f, "}, \"joints\": {");
  for (int i = 0; i < n; i++) {
    char on[32] = "ground";
    if (parent[i] >= 0) {
      sprintf(on, "b%d", parent[i]);
    }
    fprintf(f,
            "%s\n\"j%d\": {\"type\": \"revolute\", \"between\": [\"%s\", \"b%d\"], \"at\": [\"%d*l\", 0, 0], \"axis\":"
            " [0, 1, 0]}",
            i ? "," : "", i, on, i, depth[i]);
  }
  fprintf(f, "}, \"markers\": {\"tip\": {\"on\": \"b2\", \"at\": [\"l\", 0, 0]}}, \"signals\": {\"h\": {\"type\":"
             " \"position\", \"of\": \"tip\", \"component\": \"z\"}");
  fprintf(f, branches ? ", \"a\": {\"type\": \"acceleration\", \"of\": \"tip\", \"component\": \"z\"}}, \"criteria\":"
                        " {\"drop\": {\"terminal\": \"h\"}, \"shake\": {\"integral\": \"a^2\"}}}"
                      : "}, \"criteria\": {\"drop\": {\"terminal\": \"h\"}}}");
  fclose(f);
  free(parent);
  free(depth);
  return text;
}

static void open_text(gradient_case *c, const char *text, double step, int steps, int threads) {
  gradient_case_open(c, NULL, text);
  c->options.formulation = "dca";
  c->options.step = step;
  c->options.end = step * steps;
  c->options.threads = threads;
  gradient_case_run(c);
  gradient_case_simulate(c);
}

/* ---------------------------------------------------------------------- pieces and the recursion */

/* accelerations at the last state, with pieces or without, into a (n) */
static bool accelerations(gradient_case *c, double *a) {
  mbg__formulation_work *w = mbg__run_work(c->run);
  const size_t n = (size_t)w->flow.n;
  double *y = calloc(2 * n + 1, sizeof *y);
  for (size_t i = 0; i < n; i++) {
    y[i] = 0.1 * sin(1.3 * (double)i);
    y[n + i] = 0.1 * cos(0.7 * (double)i);
  }
  gradient_case_check(c, mbg__dca_flow_eval(c->ctx, &w->flow, &w->base[w->now], w->last, y), "evaluation");
  memcpy(a, mbg__dca_point_a(w->point), n * sizeof *a);
  free(y);
  return w->articulated->by_pieces;
}

/* relative residual of a solution for a random right side with the factors of the last evaluation */
static double residual(gradient_case *c) {
  mbg__formulation_work *w = mbg__run_work(c->run);
  const size_t nw = (size_t)w->m->nw, n = (size_t)w->flow.n;
  double *r = calloc(4 * nw + 2 * n, sizeof *r), *k = r + nw, *vd = k + nw, *f = vd + nw, *a = f + nw, *tau = a + n;
  double *scratch = calloc(mbg__dca_articulated_scratch(w->articulated), sizeof *scratch);
  support_rng rng = support_rng_make(3);
  support_normals(&rng, r, (int)(2 * nw));
  support_normals(&rng, tau, (int)n);
  gradient_case_check(c, mbg__dca_point_full(c->ctx, w->point), "state");
  mbg__dca_articulated_solve(w->articulated, r, tau, k, vd, a, f, scratch);
  const double x = mbg__dca_articulated_residual(w->articulated, r, tau, k, vd, a, f, scratch);
  free(r);
  free(scratch);
  return x;
}

static void test_pieces(void **state) {
  (void)state;
  for (int k = 0; k < 2 * SHAPES; k++) {
    gradient_case c;
    char *text = tree_text((shape)(k / 2), 700, k % 2);
    open_text(&c, text, 1e-3, 1, 2);
    mbg__formulation_work *w = mbg__run_work(c.run);
    const int n = w->flow.n;
    double *a = calloc((size_t)n, sizeof *a), *b = calloc((size_t)n, sizeof *b), most = 0, off = 0;
    assert_non_null(w->articulated);
    assert_true(accelerations(&c, a));
    const double rest = residual(&c);
    mbg__art_pieces *pieces = w->articulated->pieces;
    assert_int_equal(pieces->groups != NULL, k / 2 >= EQUAL_CHAIN);
    /* narrow vectors: the same bits */
    const bool wide = pieces->wide;
    pieces->wide = false;
    assert_true(accelerations(&c, b));
    assert_memory_equal(a, b, (size_t)n * sizeof *a);
    pieces->wide = wide;
    w->articulated->pieces = NULL;
    assert_false(accelerations(&c, b));
    const double rest0 = residual(&c);
    w->articulated->pieces = pieces;
    for (int i = 0; i < n; i++) {
      most = fmax(most, fabs(b[i]));
      off = fmax(off, fabs(a[i] - b[i]));
    }
    printf("%s%s: pieces and recursion differ by %.1e of %.2g, residuals %.1e and %.1e\n", shape_names[k / 2],
           k % 2 ? " with springs" : "", off, most, rest, rest0);
    if (!(off <= tol_pieces * most) || !(rest <= tol_residual)) {
      fail_msg("%s: pieces differ by %.2g of %.2g, residual %.2g", shape_names[k / 2], off, most, rest);
    }
    free(a);
    free(b);
    gradient_case_close(&c);
    free(text);
  }
}

/* ---------------------------------------------------------------------- gradients */

static void test_exact(void **state) {
  (void)state;
  for (int k = 0; k < 2 * SHAPES + 2; k++) {
    gradient_case c;
    const bool modal = k >= 2 * SHAPES;
    char *text = modal ? modal_text(130, k % 2) : tree_text((shape)(k / 2), 520, k % 2);
    open_text(&c, text, modal ? 1e-3 : 1e-2, modal ? 2 : 4, 2);
    gradient_case_compare(&c, modal ? "modal" : shape_names[k / 2], tol_direct, tol_twin);
    gradient_case_close(&c);
    free(text);
  }
}

static void agree(const char *what, int n, const double *direct, const double *adjoint) {
  double most = 0, off = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(adjoint[i]));
    off = fmax(off, fabs(direct[i] - adjoint[i]));
  }
  if (!(most > 0) || !(off <= tol_direct * most)) {
    fail_msg("%s: direct differentiation and adjoint differ by %.2g of %.2g", what, off, most);
  }
}

/* close: direct differentiation and adjoint agree, too */
static void same_bits(const char *what, const char *text, double step, int steps, bool close) {
  double *first[2] = {NULL, NULL};
  for (int threads = 1; threads <= 4; threads++) {
    gradient_case c;
    open_text(&c, text, step, steps, threads);
    for (int k = 0; k < 2; k++) {
      double *g = gradient_case_gradient(&c, k ? MBG_METHOD_ADJOINT : MBG_METHOD_DIRECT);
      if (first[k] && memcmp(g, first[k], (size_t)(c.nc * c.np) * sizeof(double)) != 0) {
        fail_msg("%s: %d threads change the gradient", what, threads);
      }
      free(threads > 1 ? g : NULL);
      first[k] = threads > 1 ? first[k] : g;
    }
    if (close) {
      agree(what, c.nc * c.np, first[0], first[1]);
    }
    gradient_case_close(&c);
  }
  free(first[0]);
  free(first[1]);
}

static void test_threads(void **state) {
  (void)state;
  for (int k = 0; k < 2 * SHAPES; k++) {
    char *text = tree_text((shape)(k / 2), 600, k % 2);
    same_bits(shape_names[k / 2], text, 1e-3, 4, false);
    free(text);
  }
  /* more columns than go by pieces in threads: a thread takes some of them, piece after piece */
  for (int k = BRANCHES; k <= EQUAL_CHAIN; k += EQUAL_CHAIN - BRANCHES) {
    char *text = tree_of((shape)k, 530, false, 31);
    same_bits("many parameters", text, 1e-2, 3, true);
    free(text);
  }
  for (int branches = 0; branches < 2; branches++) {
    char *text = modal_text(130, branches);
    same_bits("modal", text, 1e-3, 1, false);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_exact),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
