/* Many contacts cost what touches costs, counted, in rows of balls of which neighbours touch: pairs that are evaluated,
   and entries of the matrix. */
#include "support/model_case.h"
#include "system/system_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int contacts, evaluated, entries;
} counts;

/* n balls of diameter 1, 0.95 apart; contacts of all pairs, or of neighbours */
static char *row_of_balls(int n, bool all) {
  const size_t room = 400 * (size_t)n + 1000;
  char *text = malloc(room), *at = text;
  at += sprintf(at, "{\"mbgrad\": 1, \"parameters\": {\"m\": 1}, \"bodies\": {");
  for (int i = 0; i < n; i++) {
    at += sprintf(at,
                  "%s\"b%d\": {\"mass\": \"m\", \"inertia\": [0.1, 0.1, 0.1], \"position\": [%.17g, 0, 0], \"shape\": "
                  "{\"type\": \"sphere\", \"radius\": 0.5}}",
                  i ? ", " : "", i, 0.95 * i);
  }
  at += sprintf(at, "}, \"contacts\": {");
  for (int i = 0; i < (all ? n : n - 1); i++) {
    at += all ? sprintf(at, "%s\"b%d\"", i ? ", " : "\"c\": {\"among\": [", i)
              : sprintf(at, "%s\"c%d\": {\"between\": [\"b%d\", \"b%d\"], \"stiffness\": 1e3, \"width\": 1e-3}",
                        i ? ", " : "", i, i, i + 1);
  }
  at += sprintf(at, "%s}, \"criteria\": {}, \"run\": {\"end\": 0.01, \"step\": 0.001}}",
                all ? "], \"stiffness\": 1e3, \"width\": 1e-3}" : "");
  assert_true((size_t)(at - text) < room);
  return text;
}

static counts count(int n, bool all) {
  support_rng rng = support_rng_make(1);
  char *text = row_of_balls(n, all);
  model_case c;
  counts x = {0};
  model_case_open(&c, NULL, text);
  model_case_state(&c, &rng, 0);
  x.contacts = c.m->nforce;
  for (int i = 0; i < c.m->nforce; i++) {
    x.evaluated += c.sys->pair_on[c.m->forces[i].pair];
  }
  x.entries = mbg__csc_count(mbg__system_pattern_K(c.sys));
  model_case_close(&c);
  free(text);
  return x;
}

/* all pairs of n balls: contacts grow as n^2, what is looked at as n */
static void test_all_pairs(void **state) {
  (void)state;
  for (int n = 23; n <= 46; n += 23) {
    const counts x = count(n, true);
    assert_int_equal(x.contacts, n * (n - 1) / 2);
    assert_int_equal(x.evaluated, n - 1);
  }
}

/* 250, 500, 1000 contacts that touch */
static void test_thousand(void **state) {
  (void)state;
  int entries[3];
  for (int k = 0; k < 3; k++) {
    const int touching = 250 << k;
    const counts x = count(touching + 1, false);
    assert_int_equal(x.contacts, touching);
    assert_int_equal(x.evaluated, touching);
    entries[k] = x.entries;
  }
  assert_int_equal(entries[2] - entries[1], 2 * (entries[1] - entries[0]));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_pairs), cmocka_unit_test(test_thousand)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
