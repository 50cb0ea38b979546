/* Derivatives of repeated eigenvalues: the eigenvalues of -N^-1 D, D_ij the derivative of the form F for the left
   vector i and the right vector j, N_ij = y_i^T (2 s M + C) x_j. */
#include "modes/modes_derivative.h"

#include "math/spectrum.h"

#include <string.h>

/* forms of all pairs of the set: D (2 numbers each: n x n x np), N = y_i^T (2 s M + C) x_j */
static int forms(mbg__modes_derivative *k, int first, int n, double *D, double *N) {
  const mbg__modes_work *w = k->w;
  int err = MBG_OK;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const size_t at = (size_t)(i + n * j);
      MBG_TRY(mbg__modes_form(k, &w->modes[first + j], &w->modes[first + i]));
      MBG_TRY(mbg__modes_state_pull(k));
      for (int p = 0; p < w->m->np; p++) {
        D[2 * (at + (size_t)(n * n) * (size_t)p)] = k->dp[RE][p];
        D[2 * (at + (size_t)(n * n) * (size_t)p) + 1] = k->dp[IM][p];
      }
      if (!w->symmetric) {
        MBG_TRY(mbg__modes_scale(k, &w->modes[first + j], &w->modes[first + i], N + 2 * at));
      }
    }
  }
done:
  return err;
}

static double size_of(const double a[2]) { return hypot(a[0], a[1]); }

static void swap(double *a, double *b) {
  for (int part = 0; part < 2; part++) {
    const double t = a[part];
    a[part] = b[part];
    b[part] = t;
  }
}

/* to -= f from, complex */
static void subtract(const double f[2], const double *from, double *to) {
  const double re_ = f[0] * from[0] - f[1] * from[1], im_ = f[0] * from[1] + f[1] * from[0];
  to[0] -= re_;
  to[1] -= im_;
}

/* A <- -N^-1 A by elimination with pivots, complex n x n; false when N is singular: the eigenvalue is defective */
static bool solve_small(int n, double *N, double *A) {
  double most = 0;
  for (int i = 0; i < n * n; i++) {
    most = fmax(most, size_of(N + 2 * i));
  }
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int i = c; i < n; i++) {
      pivot = size_of(N + 2 * (i + n * c)) > size_of(N + 2 * (pivot + n * c)) ? i : pivot;
    }
    if (size_of(N + 2 * (pivot + n * c)) <= 1e-6 * most) {
      return false;
    }
    for (int j = 0; j < n; j++) {
      swap(N + 2 * (c + n * j), N + 2 * (pivot + n * j));
      swap(A + 2 * (c + n * j), A + 2 * (pivot + n * j));
    }
    for (int i = 0; i < n; i++) {
      double f[2];
      mbg__modes_divide(N + 2 * (i + n * c), N + 2 * (c + n * c), f);
      for (int j = 0; i != c && j < n; j++) {
        subtract(f, N + 2 * (c + n * j), N + 2 * (i + n * j));
        subtract(f, A + 2 * (c + n * j), A + 2 * (i + n * j));
      }
    }
  }
  for (int i = 0; i < n * n; i++) {
    double out[2];
    mbg__modes_divide(A + 2 * i, N + 2 * (i % n) * (n + 1), out);
    A[2 * i] = -out[0];
    A[2 * i + 1] = -out[1];
  }
  return true;
}

/* derivatives of the branches by one parameter: n numbers of two, ascending in size of the part that matters */
static int branches(mbg__modes_derivative *k, int n, double *D, const double *N, double *ds, double *scratch) {
  const mbg__modes_work *w = k->w;
  if (w->symmetric) {
    for (int i = 0; i < n * n; i++) {
      const int r = i % n, c = i / n;
      scratch[i] = (D[2 * (r + n * c)] + D[2 * (c + n * r)]) / 2;
    }
    double *omega2 = scratch + n * n;
    const int err = mbg__eigen_symmetric(w->ctx, n, scratch, omega2);
    for (int i = 0; i < n; i++) {
      ds[2 * i] = omega2[i];
      ds[2 * i + 1] = 0;
    }
    return err;
  }
  memcpy(scratch, N, 2 * (size_t)(n * n) * sizeof(double));
  if (!solve_small(n, scratch, D)) {
    for (int i = 0; i < 2 * n; i++) {
      ds[i] = NAN;
    }
    return MBG_OK;
  }
  const int err = mbg__eigen_complex(w->ctx, n, D, ds);
  for (int i = 1; i < n; i++) { /* ascending in the imaginary part, then in the real one */
    for (int j = i;
         j > 0 && (ds[2 * j + 1] < ds[2 * j - 1] || (ds[2 * j + 1] == ds[2 * j - 1] && ds[2 * j] < ds[2 * j - 2]));
         j--) {
      swap(ds + 2 * j, ds + 2 * j - 2);
    }
  }
  return err;
}

int mbg__modes_repeated(mbg__modes_derivative *k, mbg_modes *modes, int first, int n) {
  const mbg__modes_work *w = k->w;
  const size_t square = (size_t)(n * n);
  int err = MBG_OK;
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(w->ctx));
  double *D = MBG_TAKE(&arena, double, 2 * square * (size_t)w->m->np), *N = MBG_TAKE(&arena, double, 2 * square);
  double *ds = MBG_TAKE(&arena, double, 2 * n), *scratch = MBG_TAKE(&arena, double, 2 * square + (size_t)n);
  MBG_TRY(mbg__arena_check(w->ctx, &arena));
  MBG_TRY(forms(k, first, n, D, N));
  for (int p = 0; p < w->m->np; p++) {
    err = branches(k, n, D + 2 * square * (size_t)p, N, ds, scratch);
    if (err < 0) {
      err = err == MBG_ERROR_MEMORY ? mbg__fail_memory(w->ctx)
                                    : mbg__fail(w->ctx, err, "the branches of a repeated eigenvalue were not found");
      goto done;
    }
    for (int i = 0; i < n; i++) {
      mbg__modes_store(k, modes, first + i, p, ds + 2 * i);
    }
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
