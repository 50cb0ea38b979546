/* Coefficients: every order condition of every method, its error estimates and its dense output. */
#include "unit/integrators/rk_case.h"

#include <float.h>
#include <string.h>

/* A rooted tree with vertices 0 (root), 1, ...: parent[v] < v. All arrays of this kind give all trees, some twice. */
typedef struct {
  int size;
  int parent[MBG__RK_DENSE];
} tree;

static bool next_tree(tree *t) {
  for (int v = t->size - 1; v > 0; v--) {
    if (t->parent[v] + 1 < v) {
      t->parent[v]++;
      return true;
    }
    t->parent[v] = 0;
  }
  return false;
}

/* gamma: product of the sizes of all subtrees */
static double density(const tree *t) {
  int size[MBG__RK_DENSE];
  double gamma = 1;
  for (int v = 0; v < t->size; v++) {
    size[v] = 1;
  }
  for (int v = t->size - 1; v >= 0; v--) {
    gamma *= size[v];
    if (v > 0) {
      size[t->parent[v]] += size[v];
    }
  }
  return gamma;
}

/* phi_i of the root: phi_i(v) = product over children c of sum_j a_ij phi_j(c); `size` is the same with |a_ij| */
static void stage_weights(const mbg__rk_method *m, const tree *t, double *phi, double *size) {
  double p[MBG__RK_DENSE][MBG__RK_STAGES], q[MBG__RK_DENSE][MBG__RK_STAGES];
  for (int v = 0; v < t->size; v++) {
    for (int i = 0; i < MBG__RK_STAGES; i++) {
      p[v][i] = q[v][i] = 1;
    }
  }
  for (int v = t->size - 1; v > 0; v--) {
    for (int i = 0; i < m->nextended; i++) {
      double sum = 0, sum_abs = 0;
      for (int j = 0; j < i; j++) {
        sum += m->A[i][j] * p[v][j];
        sum_abs += fabs(m->A[i][j]) * q[v][j];
      }
      p[t->parent[v]][i] *= sum;
      q[t->parent[v]][i] *= sum_abs;
    }
  }
  memcpy(phi, p[0], sizeof p[0]);
  memcpy(size, q[0], sizeof q[0]);
}

/* sum_i w_i phi_i(t) = x^|t|/gamma(t) for all trees up to the order (scale 1), or 0 (scale 0). The tolerance is that of
   rounded coefficients: eps times the sum of magnitudes. Returns the largest violation at order + 1. */
static double check_conditions(const mbg__rk_method *m, const double *w, int nw, int order, double scale, double x) {
  double beyond = 0;
  for (int size = 1; size <= order + 1 && size <= MBG__RK_DENSE; size++) {
    tree t = {.size = size};
    do {
      double phi[MBG__RK_STAGES], magnitude[MBG__RK_STAGES];
      stage_weights(m, &t, phi, magnitude);
      double sum = 0, total = 1;
      for (int i = 0; i < nw; i++) {
        sum += w[i] * phi[i];
        total += fabs(w[i]) * magnitude[i];
      }
      const double wanted = scale * pow(x, size) / density(&t);
      if (size <= order) {
        assert_close(sum, wanted, 4 * DBL_EPSILON * total);
      } else {
        beyond = fmax(beyond, fabs(sum - wanted));
      }
    } while (next_tree(&t));
  }
  return beyond;
}

static void rows_sum_to_c(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    const mbg__rk_method *m = all_methods[q];
    for (int i = 0; i < m->nextended; i++) {
      double sum = 0, size = 1;
      for (int j = 0; j < i; j++) {
        sum += m->A[i][j];
        size += fabs(m->A[i][j]);
      }
      assert_close(sum, m->c[i], DBL_EPSILON * size);
      for (int j = i; j < MBG__RK_STAGES; j++) {
        assert_true(m->A[i][j] == 0); /* explicit */
      }
    }
    assert_true(m->c[m->nstage] == 1);
    assert_true(m->nextended <= MBG__RK_STAGES && m->ndense <= MBG__RK_DENSE && m->ndense >= 4);
  }
}

/* sum b c^(p-1) = 1/p, all weights of modest size: 1e-15 */
static void quadrature_conditions(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    const mbg__rk_method *m = all_methods[q];
    for (int p = 1; p <= m->order; p++) {
      double sum = 0;
      for (int i = 0; i < m->nstage; i++) {
        sum += m->A[m->nstage][i] * pow(m->c[i], p - 1);
      }
      assert_close(sum, 1.0 / p, 1e-15);
    }
  }
}

static void all_order_conditions(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    const mbg__rk_method *m = all_methods[q];
    const double beyond = check_conditions(m, m->A[m->nstage], m->nstage, m->order, 1, 1);
    assert_true(m->order == MBG__RK_DENSE || beyond > 1e-6); /* and not one order more */
  }
}

static void estimates_vanish_to_their_order(void **state) {
  (void)state;
  assert_true(check_conditions(&mbg__rk_dp5, mbg__rk_dp5.e, 7, 4, 0, 1) > 1e-6);
  assert_true(check_conditions(&mbg__rk_dop853, mbg__rk_dop853.e, 12, 5, 0, 1) > 1e-6);
  assert_true(check_conditions(&mbg__rk_dop853, mbg__rk_dop853.e_low, 12, 3, 0, 1) > 1e-6);
  assert_true(mbg__rk_dp5.error_at_end && !mbg__rk_dop853.error_at_end);
}

/* Weights b_i(x): the dense output when the stages are unit vectors. */
static void dense_weights(const mbg__rk_method *m, double x, double *w, double *w_x) {
  double k[MBG__RK_STAGES * MBG__RK_STAGES] = {0}, y[MBG__RK_STAGES] = {0}, y1[MBG__RK_STAGES] = {0};
  double r[MBG__RK_DENSE * MBG__RK_STAGES];
  const int n = m->nextended;
  for (int i = 0; i < n; i++) {
    k[i * n + i] = 1;
    y1[i] = i < m->nstage ? m->A[m->nstage][i] : 0;
  }
  mbg__rk_interpolant(NULL, m, n, 1, y, y1, k, r);
  mbg__rk_interpolate(m, n, r, x, 0, n, w, w_x);
}

static void dense_order_conditions(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    const mbg__rk_method *m = all_methods[q];
    double w[MBG__RK_STAGES], w_x[MBG__RK_STAGES], beyond = 0;
    for (int i = 0; i <= 10; i++) {
      dense_weights(m, 0.1 * i, w, w_x);
      /* the terms of dop853 that cancel in w reach 600: rounding of w itself is 100 times that of other weights */
      for (int size = 1; size <= m->dense_order + 1; size++) {
        tree t = {.size = size};
        do {
          double phi[MBG__RK_STAGES], magnitude[MBG__RK_STAGES], sum = 0;
          stage_weights(m, &t, phi, magnitude);
          for (int j = 0; j < m->nextended; j++) {
            sum += w[j] * phi[j];
          }
          const double wanted = pow(0.1 * i, size) / density(&t);
          if (size <= m->dense_order) {
            assert_close(sum, wanted, 2e-13);
          } else {
            beyond = fmax(beyond, fabs(sum - wanted));
          }
        } while (next_tree(&t));
      }
    }
    assert_true(beyond > 1e-6);
  }
}

/* Value and slope at both ends are those of the step: neighbours join smoothly. */
static void dense_output_is_smooth(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    const mbg__rk_method *m = all_methods[q];
    double w[MBG__RK_STAGES], w_x[MBG__RK_STAGES];
    dense_weights(m, 0, w, w_x);
    for (int i = 0; i < m->nextended; i++) {
      assert_close(w[i], 0, 0);
      assert_close(w_x[i], i == 0, 1e-15);
    }
    dense_weights(m, 1, w, w_x);
    for (int i = 0; i < m->nextended; i++) {
      assert_close(w[i], m->A[m->nstage][i], 0);
      assert_close(w_x[i], i == m->nstage, 1e-15 * 20); /* b up to 6 */
    }
  }
}

static void methods_are_found(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    assert_ptr_equal(mbg__rk_find(all_methods[q]->key), all_methods[q]);
  }
  assert_null(mbg__rk_find("euler"));
}

/* rk4: 2 sqrt 2 along the imaginary axis and 2.7853 along the real one (Hairer, Wanner: Solving ODEs II, IV.2); dp5
   3.3066 along the real one. Damped motions lie between. */
static void longest_stable_steps(void **state) {
  (void)state;
  static const struct {
    int method;
    double omega, d, h, within;
  } known[] = {
      {0, 1, 0, 2.8284, 0.01}, {0, 10, 0, 0.28284, 0.001}, {0, 0, 0.5, 2.7853, 0.01}, {1, 0, 0.5, 3.3066, 0.01},
      {1, 1, 0, 1.1, 0.02},    {2, 1, 0, 5.97, 0.02},      {2, 0, 0.5, 6.39, 0.02},
  };
  static const mbg__rk_method *const methods[] = {&mbg__rk_rk4, &mbg__rk_dp5, &mbg__rk_dop853};
  for (int i = 0; i < MBG_COUNT(known); i++) {
    assert_close(mbg__rk_stable(methods[known[i].method], known[i].omega, known[i].d), known[i].h, known[i].within);
  }
  assert_true(mbg__rk_stable(&mbg__rk_dp5, 1, 0.05) > 1.5); /* damping lets dp5 take longer steps */
  assert_true(isinf(mbg__rk_stable(&mbg__rk_rk4, 0, 0)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_sum_to_c),          cmocka_unit_test(quadrature_conditions),
      cmocka_unit_test(all_order_conditions),   cmocka_unit_test(estimates_vanish_to_their_order),
      cmocka_unit_test(dense_order_conditions), cmocka_unit_test(dense_output_is_smooth),
      cmocka_unit_test(methods_are_found),      cmocka_unit_test(longest_stable_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
