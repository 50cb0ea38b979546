#include "twin/twin_math.h"
#include "math/dense.h"
#include "math/se3.h"
#include "math/sparse.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------- SE(3) */

static mbg__frame load(const real H[12]) {
  mbg__frame out;
  vn_copy(9, out.R, H);
  vn_copy(3, out.x, H + 9);
  return out;
}

void twin_so3_exp(real R[9], const real w[3]) { mbg__so3_exp(R, w); }
void twin_so3_log(real w[3], const real R[9]) { mbg__so3_log(w, R); }
void twin_so3_tangent(real T[9], const real w[3]) { mbg__so3_tangent(T, w); }
void twin_so3_tangent_inv(real Ti[9], const real w[3]) { mbg__so3_tangent_inv(Ti, w); }

void twin_se3_exp(real H[12], const real h[6]) {
  mbg__frame E;
  mbg__se3_exp(&E, h);
  vn_copy(9, H, E.R);
  vn_copy(3, H + 9, E.x);
}

void twin_se3_log(real h[6], const real H[12]) {
  const mbg__frame E = load(H);
  mbg__se3_log(h, &E);
}

void twin_se3_tangent(real T[36], const real h[6]) { mbg__se3_tangent(T, h); }
void twin_se3_tangent_inv(real Ti[36], const real h[6]) { mbg__se3_tangent_inv(Ti, h); }
void twin_se3_dtangent(real D[36], const real h[6], const real x[6]) { mbg__se3_dtangent(D, h, x); }
void twin_se3_dtangentT(real D[36], const real h[6], const real y[6]) { mbg__se3_dtangentT(D, h, y); }
void twin_se3_dtangent_inv(real D[36], const real h[6], const real y[6]) { mbg__se3_dtangent_inv(D, h, y); }
void twin_se3_dtangent_invT(real D[36], const real h[6], const real y[6]) { mbg__se3_dtangent_invT(D, h, y); }

/* ---------------------------------------------------------------------- linear systems */

static void *plain_resize(void *user, void *block, size_t size) {
  (void)user;
  return realloc(block, size);
}

static void plain_release(void *user, void *block) {
  (void)user;
  free(block);
}

static const mbg_allocator plain = {plain_resize, plain_release, NULL};

int twin_lu_solve(int n, const real *A, int transposed, real *B, int nrhs, int *where) {
  int err = MBG_OK;
  mbg__arena arena;
  mbg__lu lu;
  mbg__arena_init(&arena, &plain);
  MBG_TRY(mbg__lu_prepare(&lu, &arena, n));
  vn_copy(n * n, lu.A, A);
  MBG_TRY(mbg__lu_factor(&lu, where));
  (transposed ? mbg__lu_solve_T : mbg__lu_solve)(&lu, B, nrhs);
done:
  mbg__arena_destroy(&arena);
  return err;
}

int twin_cholesky_solve(int n, const real *A, real *B, int nrhs, int *where) {
  int err = MBG_OK;
  mbg__arena arena;
  mbg__cholesky chol;
  mbg__arena_init(&arena, &plain);
  MBG_TRY(mbg__cholesky_prepare(&chol, &arena, n));
  vn_copy(n * n, chol.A, A);
  MBG_TRY(mbg__cholesky_factor(&chol, where));
  mbg__cholesky_solve(&chol, B, nrhs);
done:
  mbg__arena_destroy(&arena);
  return err;
}

int twin_klu_solve(int n, int count, const int *row, const int *col, const real *val, int transposed, real *B, int nrhs,
                   int *where) {
  int err = MBG_OK;
  mbg__arena arena;
  mbg__csc A;
  mbg__klu *klu = NULL;
  mbg__arena_init(&arena, &plain);
  int *slot = MBG_TAKE(&arena, int, count);
  MBG_TRY(slot ? mbg__csc_build(&A, &arena, n, n, count, row, col, slot) : MBG_ERROR_MEMORY);
  for (int k = 0; k < count; k++) {
    A.val[slot[k]] += val[k];
  }
  MBG_TRY(mbg__klu_prepare(&klu, &plain, &A, MBG__KLU_FROZEN, A.ncol));
  MBG_TRY(mbg__klu_factor(klu, where));
  (transposed ? mbg__klu_solve_T : mbg__klu_solve)(klu, B, nrhs);
done:
  mbg__klu_destroy(klu);
  mbg__arena_destroy(&arena);
  return err;
}
