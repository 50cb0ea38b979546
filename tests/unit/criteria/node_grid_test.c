/* Times and weights of nodes that are not listed: those of regular steps follow from the ends of the steps. */
#include "criteria/node_grid.h"
#include "support/support.h"

#include <math.h>

enum { STEPS = 9, NODES = 120 };

/* a run with a list of all nodes, and what a grid keeps of it */
typedef struct {
  double ends[STEPS + 1], *held;
  int nnode;
  double t[NODES], omega[NODES];
  mbg__odd_step odd[STEPS + 1];
  double odd_t[NODES];
  real odd_omega[NODES];
  int entries;
  mbg__node_grid grid;
} bench;

static void list(bench *b, bool odd, double t, double omega) {
  b->t[b->nnode] = t;
  b->omega[b->nnode++] = omega;
  if (odd) {
    b->odd_t[b->entries] = t;
    b->odd_omega[b->entries++] = omega;
  }
}

static void open_odd(bench *b, int step) {
  b->odd[b->grid.nodd++] = (mbg__odd_step){.step = step, .first = b->nnode, .entry = b->entries};
}

/* the bit k - 1 of `odd`: step k has one node more than the rule, or with the rule of one node a sample inside */
static void setup(bench *b, int per, unsigned odd, uint64_t seed) {
  support_rng rng = support_rng_make(seed);
  *b = (bench){.held = NULL, .grid = {.per = per}};
  b->held = b->ends;
  b->ends[0] = 0.25;
  open_odd(b, 0);
  list(b, true, b->ends[0], 0);
  b->odd[0].count = 1;
  for (int k = 1; k <= STEPS; k++) {
    const double ta = b->ends[k - 1], tb = b->ends[k] = ta + support_uniform(&rng, 0.01, 0.3);
    const bool other = (odd >> (k - 1) & 1) != 0;
    if (other) {
      open_odd(b, k);
      list(b, true, ta + 1e-3 * (tb - ta), 0);
    }
    for (int p = 0; p < per; p++) {
      list(b, other, mbg__grid_point_time(per, ta, tb, p), mbg__grid_point_weight(per, ta, tb, p));
    }
    b->odd[b->grid.nodd - 1].count += other ? per + 1 : 0;
  }
  b->grid.ends = &b->held;
  b->grid.odd = b->odd;
  b->grid.t = b->odd_t;
  b->grid.omega = b->odd_omega;
}

static void every_node_is_found(void **state) {
  (void)state;
  for (unsigned odd = 0; odd < 1u << STEPS; odd++) {
    for (int k = 0; k < 2; k++) {
      bench b;
      setup(&b, k == 0 ? 1 : MBG__KRONROD + 1, odd, odd + 1);
      for (int n = 0; n < b.nnode; n++) {
        assert_true(mbg__grid_time(&b.grid, n) == b.t[n]);
        assert_true(re(mbg__grid_omega(&b.grid, n)) == b.omega[n]);
      }
    }
  }
}

/* the weights of a step integrate polynomials up to degree 11; the end has the exact time and no weight */
static void points_are_those_of_kronrod(void **state) {
  (void)state;
  const int per = MBG__KRONROD + 1;
  const double ta = 0.3, tb = 1.7;
  for (int degree = 0; degree <= 11; degree++) {
    double sum = 0;
    for (int p = 0; p < per; p++) {
      sum += mbg__grid_point_weight(per, ta, tb, p) * pow(mbg__grid_point_time(per, ta, tb, p), degree);
    }
    assert_close(sum, (pow(tb, degree + 1) - pow(ta, degree + 1)) / (degree + 1), 1e-13);
  }
  assert_true(mbg__grid_point_time(per, ta, tb, per - 1) == tb);
  assert_true(mbg__grid_point_weight(per, ta, tb, per - 1) == 0);
  assert_true(mbg__grid_point_time(1, ta, tb, 0) == tb);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_node_is_found),
      cmocka_unit_test(points_are_those_of_kronrod),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
