/* The longest stable explicit steps of modal bodies (theory 3, section 10), from the frequencies and damping of each
   body with free handles, which lie well above those of a clamped body. Stability of rk4: h omega < 2.82, h delta <
   2.78. */
#include "formulations/dca/dca_work.h"

#include "math/eigen.h"

#include <string.h>

/* [[I1, -I2~, I3], [., I7, I4], [., ., I6]] without deformation, as doubles (6 + n squared) */
static void mass_matrix(const mbg__modal_view *D, int n, double *M) {
  const int N = 6 + n;
  memset(M, 0, (size_t)(N * N) * sizeof(double));
  const double c[3] = {re(D->I2[0]), re(D->I2[1]), re(D->I2[2])};
  const double skew[9] = {0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0};
  for (int i = 0; i < 3; i++) {
    M[i * N + i] = re(*D->I1);
    for (int j = 0; j < 3; j++) {
      M[(3 + i) * N + j] = M[j * N + 3 + i] = skew[3 * i + j];
      M[(3 + i) * N + 3 + j] = re(D->I7[3 * i + j]);
    }
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < 3; i++) {
      M[i * N + 6 + j] = M[(6 + j) * N + i] = re(D->I3[3 * j + i]);
      M[(3 + i) * N + 6 + j] = M[(6 + j) * N + 3 + i] = re(D->I4[3 * j + i]);
    }
    for (int k = 0; k < n; k++) {
      M[(6 + j) * N + 6 + k] = re(D->I6[j * n + k]);
    }
  }
}

/* eliminates the free motions of the frame that have inertia: the modal masses of a body with free handles */
static void free_body(double *M, int N, unsigned mask) {
  for (int p = 0; p < 6; p++) {
    const double d = M[p * N + p];
    if (!(mask >> p & 1) || !(d > 0)) {
      continue;
    }
    for (int i = 0; i < N; i++) {
      const double f = M[i * N + p] / d;
      for (int j = 0; i != p && j < N; j++) {
        M[i * N + j] -= f * M[p * N + j];
      }
    }
    M[p * N + p] = 0;
  }
}

/* largest eigenvalue of A x = w M x; work: 3 n^2 + n */
static int largest(mbg_context *ctx, int n, const double *A, const double *M, double *work, double *value) {
  double *K = work, *B = K + n * n, *w = B + n * n;
  memcpy(K, A, (size_t)(n * n) * sizeof(double));
  memcpy(B, M, (size_t)(n * n) * sizeof(double));
  const int err = mbg__eigen_pair(ctx, n, K, B, w);
  *value = err == MBG_OK ? w[n - 1] : 0;
  return err == MBG_ERROR_MEMORY ? mbg__fail_memory(ctx) : MBG_OK;
}

/* frequency and rate of damping of one body */
static int limits_of(mbg_context *ctx, const mbg__formulation_work *w, int modal, double *omega, double *delta) {
  const mbg__design *design = mbg__system_design(w->flow.sys);
  const mbg__modal *body = &w->m->modals[modal];
  const int n = body->n, N = 6 + n;
  const mbg__modal_view D = mbg__modal_of(n, design->modals[modal].D);
  int err = MBG_OK;
  double *M = mbg__alloc_zero(ctx, (size_t)(N * N + 6 * n * n + n), sizeof(double)), *A = M ? M + N * N : NULL;
  if (!M) {
    return mbg__fail_memory(ctx);
  }
  double *modes = A + n * n, *work = modes + n * n, square = 0;
  *omega = *delta = 0;
  mass_matrix(&D, n, M);
  free_body(M, N, w->m->bodies[body->body].mask);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < n * n; i++) {
      A[i] = re(k ? D.C[i] : D.K[i]);
      modes[i] = M[(6 + i / n) * N + 6 + i % n];
    }
    MBG_TRY(largest(ctx, n, A, modes, work, k ? delta : &square));
  }
  *omega = square > 0 ? sqrt(square) : 0;
done:
  mbg__free(ctx, M);
  return err;
}

int mbg__dca_limits(mbg_context *ctx, mbg__formulation_work *w) {
  int err = MBG_OK, worst = -1;
  double most = 0, slow = 0, limit = INFINITY;
  for (int i = 0; i < w->m->nmodal; i++) {
    double omega = 0, delta = 0;
    MBG_TRY(limits_of(ctx, w, i, &omega, &delta));
    const double h = fmin(omega > 0 ? 2.82 / omega : INFINITY, delta > 0 ? 2.78 / delta : INFINITY);
    if (h < limit) {
      worst = i;
      limit = h;
      most = omega;
      slow = delta;
    }
  }
  if (worst < 0) {
    return MBG_OK;
  }
  const bool unstable = w->plan.step > 1.05 * limit;
  mbg__note(ctx, unstable ? MBG_WARNING : MBG_NOTE,
            "body '%s' has modes up to %.4g rad/s: explicit steps are stable below %.3g s by frequency and %.3g s by "
            "damping%s",
            w->m->modals[worst].name, most, most > 0 ? 2.82 / most : INFINITY, slow > 0 ? 2.78 / slow : INFINITY,
            unstable ? "; use shorter steps, fewer modes, or formulation 'lie', which is implicit" : "");
done:
  return err;
}
