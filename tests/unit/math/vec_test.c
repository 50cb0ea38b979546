/* Kernels of size 3 and 6 against plain triple loops and the rules of the cross product. */
#include "math/vec.h"
#include "support/support.h"

/* out = op(A) op(B), n x n, by definition */
static void product(int n, double *out, const double *A, bool TA, const double *B, bool TB) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++) {
        s += (TA ? A[n * k + i] : A[n * i + k]) * (TB ? B[n * j + k] : B[n * k + j]);
      }
      out[n * i + j] = s;
    }
  }
}

/* 1e-15: six products in another order */
static void products_of_matrices(void **state) {
  (void)state;
  support_rng rng = support_rng_make(1);
  for (int i = 0; i < 100; i++) {
    double A[36], B[36], out[36], ref[36];
    support_normals(&rng, A, 36);
    support_normals(&rng, B, 36);
    m6_mul(out, A, B);
    product(6, ref, A, false, B, false);
    assert_close_array(out, ref, 36, 1e-15);
    m6_mul_TN(out, A, B);
    product(6, ref, A, true, B, false);
    assert_close_array(out, ref, 36, 1e-15);
    m6_mul_NT(out, A, B);
    product(6, ref, A, false, B, true);
    assert_close_array(out, ref, 36, 1e-15);
    m3_mul(out, A, B);
    product(3, ref, A, false, B, false);
    assert_close_array(out, ref, 9, 1e-15);
    m3_mul_TN(out, A, B);
    product(3, ref, A, true, B, false);
    assert_close_array(out, ref, 9, 1e-15);
    m3_mul_NT(out, A, B);
    product(3, ref, A, false, B, true);
    assert_close_array(out, ref, 9, 1e-15);
  }
}

static void products_with_vectors(void **state) {
  (void)state;
  support_rng rng = support_rng_make(2);
  for (int i = 0; i < 100; i++) {
    double A[36], At[36], x[6], y[6], out[6], ref[6];
    support_normals(&rng, A, 36);
    support_normals(&rng, x, 6);
    support_normals(&rng, y, 6);
    m6_transpose(At, A);
    m6_mulv(out, A, x);
    assert_close(out[4], v6_dot(A + 24, x), 1e-14);
    m6_mulv_T(ref, At, x);
    assert_close_array(out, ref, 6, 1e-14);
    v6_add(ref, ref, y);
    v6_copy(out, y);
    m6_mulv_add(out, A, x);
    assert_close_array(out, ref, 6, 1e-14);
    v6_copy(out, y);
    m6_mulv_T_add(out, At, x);
    assert_close_array(out, ref, 6, 1e-14);

    m3_transpose(At, A);
    m3_mulv(out, A, x);
    assert_close(out[1], v3_dot(A + 3, x), 1e-14);
    m3_mulv_T(ref, At, x);
    assert_close_array(out, ref, 3, 1e-14);
    v3_add(ref, ref, y);
    v3_copy(out, y);
    m3_mulv_add(out, A, x);
    assert_close_array(out, ref, 3, 1e-14);
    v3_copy(out, y);
    m3_mulv_T_add(out, At, x);
    assert_close_array(out, ref, 3, 1e-14);
  }
}

/* a x b, a~ b, a~ B, a~b~ + b~a~, the triple product and the determinant say the same */
static void cross_products(void **state) {
  (void)state;
  const double ex[3] = {1, 0, 0}, ey[3] = {0, 1, 0}, ez[3] = {0, 0, 1};
  double out[3];
  v3_cross(out, ex, ey);
  assert_close_array(out, ez, 3, 0);

  support_rng rng = support_rng_make(3);
  for (int i = 0; i < 100; i++) {
    double a[3], b[3], c[3], M[9], S[9], Sb[9], P[9], Q[9], ref[9];
    support_normals(&rng, a, 3);
    support_normals(&rng, b, 3);
    support_normals(&rng, c, 3);
    support_normals(&rng, M, 9);
    v3_cross(out, a, b);
    m3_skew(S, a);
    m3_skew(Sb, b);
    m3_mulv(ref, S, b);
    assert_close_array(out, ref, 3, 1e-15);
    v3_copy(ref, c);
    v3_cross_add(ref, -2, a, b);
    v3_axpy(ref, 2, out);
    assert_close_array(ref, c, 3, 1e-14);

    m3_skew_mul(P, a, M);
    m3_mul(ref, S, M);
    assert_close_array(P, ref, 9, 1e-15);

    m3_mul(P, S, Sb);
    m3_mul(Q, Sb, S);
    m3_add(ref, P, Q);
    m3_scale(ref, 3, ref);
    m3_zero(P);
    m3_skew_square_add(P, 3, a, b);
    assert_close_array(P, ref, 9, 1e-14);

    for (int k = 0; k < 3; k++) {
      M[k] = a[k];
      M[3 + k] = b[k];
      M[6 + k] = c[k];
    }
    assert_close(m3_det(M), v3_dot(out, c), 1e-13); /* six products of three normals */
  }
}

static void outer_products_and_blocks(void **state) {
  (void)state;
  const double a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {7, 8, 9, 10, 11, 12};
  double A[36], B[9], C[9];
  m6_identity(A);
  m6_outer_add(A, 2, a, b);
  assert_close(A[6 * 2 + 4], 2 * 3 * 11, 0);
  assert_close(A[6 * 3 + 3], 1 + 2 * 4 * 10, 0);
  m3_zero(B);
  m3_outer_add(B, 1, a, b);
  assert_close(B[3 * 2 + 1], 3 * 8, 0);
  m6_zero(A);
  m6_set_block(A, 1, 0, 2, B);
  m6_add_block(A, 1, 0, -1, B);
  for (int i = 0; i < 9; i++) {
    C[i] = A[6 * (3 + i / 3) + i % 3];
  }
  assert_close_array(C, B, 9, 0);
  assert_close(vn_dot(36, A, A), vn_dot(9, B, B), 0);
  assert_close(v3_norm(a), sqrt(14), 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_of_matrices),
      cmocka_unit_test(products_with_vectors),
      cmocka_unit_test(cross_products),
      cmocka_unit_test(outer_products_and_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
