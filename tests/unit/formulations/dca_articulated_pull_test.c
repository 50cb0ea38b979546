/* The transpose of dynamics of pieces side by side against the one by the equations of every body, for all attributes:
   chains whose joints of four kinds repeat, a tree whose branches hang on one body, and small chains, which go by
   pieces for this alone. Wide and narrow vectors give the same bits. */
#include "formulations/dca/dca_articulated_internal.h"
#include "formulations/dca/dca_work.h"
#include "property/gradient_case.h"
#include "run/run.h"

#include <stdio.h>

/* both solve with factors of 640 bodies in a row, which amplify rounding by some thousands */
static const double tol = 1e-11;

typedef enum { REVOLUTE, MIXED, ARMS, SMALL, UNEVEN, KINDS } kind;
static const char *const names[KINDS] = {"revolute chain", "chain of four kinds", "arms on one body", "small chain",
                                         "chain with a rest"};
static const int bodies[KINDS] = {641, 641, 641, 128, 35};

/* arms: of 160 bodies each */
static int parent_of(kind k, int i) { return k == ARMS && i % 160 == 1 ? 0 : i - 1; }

/* joints at the bodies' origins and beside them; masses that differ */
static char *text_of(kind k, int n) {
  static const char *const types[] = {"revolute", "spherical", "prismatic", "cylindrical"};
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  fprintf(f, "{\"mbgrad\": 1, \"name\": \"pull\", \"gravity\": [0.3, -0.2, -9.81], \"bodies\": {");
  for (int i = 0; i < n; i++) {
    const int depth = k == ARMS && i > 0 ? 1 + (i - 1) % 160 : i, arm = k == ARMS && i > 0 ? (i - 1) / 160 : 0;
    fprintf(f,
            "%s\n\"b%d\": {\"position\": [%d, %d, 0], \"rotate\": [[\"z\", %.3g]], \"mass\": %.3g, \"com\": [0.5,"
            " 0.01, 0.02], \"inertia\": [0.02, 0.1, 0.08]}",
            i ? "," : "", i, depth, arm, 0.3 * sin(i), 1 + 0.1 * (i % 5));
  }
  fprintf(f, "}, \"joints\": {");
  for (int i = 0; i < n; i++) {
    const int depth = k == ARMS && i > 0 ? 1 + (i - 1) % 160 : i, arm = k == ARMS && i > 0 ? (i - 1) / 160 : 0;
    const char *type = types[k == MIXED || k == SMALL ? i % 4 : 0];
    char on[32] = "ground";
    if (parent_of(k, i) >= 0) {
      sprintf(on, "b%d", parent_of(k, i));
    }
    fprintf(f, "%s\n\"j%d\": {\"type\": \"%s\", \"between\": [\"%s\", \"b%d\"], \"at\": [%g, %d, 0.1]", i ? "," : "", i,
            type, on, i, depth - 0.05, arm);
    fprintf(f, strcmp(type, "spherical") != 0 ? ", \"axis\": [%d, 1, 0.2]}" : "}", i % 3 - 1);
  }
  fprintf(f,
          "}, \"markers\": {\"tip\": {\"on\": \"b3\", \"at\": [1, 0, 0]}}, \"signals\": {\"h\": {\"type\":"
          " \"position\", \"of\": \"tip\", \"component\": \"z\"}}, \"criteria\": {\"drop\": {\"terminal\": \"h\"}}}");
  fclose(f);
  return text;
}

/* cotangents of frames, rates and attributes, one after the other */
typedef struct {
  size_t ne, n, na;
  double *ge, *gw, *ga;
} cotangents;

static cotangents make(const mbg__formulation_work *w) {
  cotangents g = {.ne = 6 * (size_t)w->m->nbody, .n = (size_t)w->flow.n, .na = (size_t)w->m->na};
  g.ge = calloc(g.ne + g.n + g.na + 1, sizeof *g.ge);
  assert_non_null(g.ge);
  g.gw = g.ge + g.ne;
  g.ga = g.gw + g.n;
  return g;
}

/* the state at which the links of the run move, and b */
static void evaluate(gradient_case *c, double *b) {
  mbg__formulation_work *w = mbg__run_work(c->run);
  const size_t n = (size_t)w->flow.n;
  double *y = calloc(2 * n + 1, sizeof *y);
  for (size_t i = 0; i < n; i++) {
    y[i] = 0.1 * sin(1.3 * (double)i);
    y[n + i] = 0.1 * cos(0.7 * (double)i);
    b[i] = cos(1.9 * (double)i);
  }
  mbg__dca_articulated_group(w->articulated, true);
  gradient_case_check(c, mbg__dca_flow_eval(c->ctx, &w->flow, &w->base[w->now], w->last, y), "evaluation");
  mbg__dca_articulated_group(w->articulated, false);
  free(y);
}

static cotangents by_groups(gradient_case *c, const double *b, bool wide) {
  mbg__formulation_work *w = mbg__run_work(c->run);
  mbg__art_pieces *pieces = w->articulated->pieces;
  const bool before = pieces->wide;
  cotangents g = make(w);
  mbg__arena arena;
  mbg__dca_sums *sums;
  mbg__arena_init(&arena, mbg__context_allocator(c->ctx));
  gradient_case_check(c, mbg__dca_sums_create(c->ctx, &arena, w->articulated, &sums), "sums");
  assert_non_null(sums);
  assert_true(mbg__dca_point_grouped(w->point));
  pieces->wide = wide && before;
  mbg__dca_point_pull_grouped(w->point, b, g.ge, g.gw, sums);
  pieces->wide = before;
  mbg__dca_sums_pull(w->articulated, sums, g.ga);
  /* taken once */
  mbg__dca_sums_pull(w->articulated, sums, g.ga);
  mbg__arena_destroy(&arena);
  return g;
}

static cotangents by_bodies(gradient_case *c, const double *b) {
  mbg__formulation_work *w = mbg__run_work(c->run);
  const mbg__dca_cotangent x = {.a = b};
  cotangents g = make(w);
  gradient_case_check(c, mbg__dca_point_linearize(c->ctx, w->point), "linearization");
  mbg__dca_point_pull(w->point, 1, &x, &g.ge, &g.gw, &g.ga);
  return g;
}

static void compare(const char *name, const char *what, size_t n, const double *x, const double *y) {
  double most = 0, off = 0;
  for (size_t i = 0; i < n; i++) {
    most = fmax(most, fabs(y[i]));
    off = fmax(off, fabs(x[i] - y[i]));
  }
  printf("%s, %s: %.1e of %.2g\n", name, what, off, most);
  if (!(most > 0) || !(off <= tol * most)) {
    fail_msg("%s, %s: differ by %.2g of %.2g", name, what, off, most);
  }
}

static void test_pull(void **state) {
  (void)state;
  for (int k = 0; k < KINDS; k++) {
    gradient_case c;
    char *text = text_of((kind)k, bodies[k]);
    gradient_case_open(&c, NULL, text);
    c.options.formulation = "dca";
    c.options.step = c.options.end = 1e-3;
    c.options.threads = 2;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    mbg__formulation_work *w = mbg__run_work(c.run);
    double *b = calloc((size_t)w->flow.n + 1, sizeof *b);
    mbg__system_want(w->flow.sys, true);
    evaluate(&c, b);
    const cotangents g = by_groups(&c, b, true), narrow = by_groups(&c, b, false), other = by_bodies(&c, b);
    assert_memory_equal(g.ge, narrow.ge, (g.ne + g.n + g.na) * sizeof *g.ge);
    compare(names[k], "frames", g.ne, g.ge, other.ge);
    compare(names[k], "rates", g.n, g.gw, other.gw);
    compare(names[k], "attributes", g.na, g.ga, other.ga);
    free(g.ge);
    free(narrow.ge);
    free(other.ge);
    free(b);
    gradient_case_close(&c);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pull)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
