/* The lowest modes of many freedoms: block Krylov space of (K - shift M)^-1 M on the motions that the constraints
   allow, orthonormal in M. A block finds eigenvalues as often as they are repeated. */
#include "modes/modes.h"

#include "math/eigen.h"
#include "math/spectrum.h"

#include <string.h>

enum { BLOCK = 6 };

typedef struct {
  mbg__modes_work *w;
  int nv, most;
  double *V, *MV; /* basis and M times it             (nv x (most + BLOCK)) */
  double *H;      /* projected operator, by columns   ((most + BLOCK) x most) */
  int size;       /* vectors of the basis */
  double shift;
  real *x; /* scratch (saddle.n) */
  uint64_t seed;
} space;

/* out = (K - shift M)^-1 f on the motions allowed */
static void apply(mbg__modes_work *w, real *x, const double *f, double *out) {
  const int nv = w->m->nv;
  memset(x, 0, (size_t)w->saddle.n * sizeof(real));
  for (int j = 0; j < nv; j++) {
    x[j] = f[j];
  }
  mbg__klu_solve(w->saddle.klu, x, 1);
  for (int j = 0; j < nv; j++) {
    out[j] = re(x[j]);
  }
}

/* orthogonal to the basis (coefficients added to h, may be NULL), twice; length before scaling to 1, 0 when nothing is
   left */
static double orthonormalize(space *s, double *v, double *Mv, double *h) {
  const double before = sqrt(fabs(dot(s->nv, v, Mv)));
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < s->size; k++) {
      const double c = dot(s->nv, column(s->MV, s->nv, k), v);
      axpy(s->nv, -c, column(s->V, s->nv, k), v);
      if (h) {
        h[k] += c;
      }
    }
  }
  mbg__modes_mul(s->w, s->w->M, v, Mv);
  const double length = sqrt(fmax(dot(s->nv, v, Mv), 0));
  if (!(length > 1e-12 * before)) {
    return 0;
  }
  for (int j = 0; j < s->nv; j++) {
    v[j] /= length;
    Mv[j] /= length;
  }
  return length;
}

/* a random vector, smoothed by the operator, as the next of the basis */
static bool start_vector(space *s) {
  double *v = column(s->V, s->nv, s->size), *Mv = column(s->MV, s->nv, s->size);
  for (int j = 0; j < s->nv; j++) {
    s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
    Mv[j] = ((double)(s->seed >> 40) / (1 << 23) - 1) * sqrt(s->w->W[j]);
  }
  apply(s->w, s->x, Mv, v);
  mbg__modes_mul(s->w, s->w->M, v, Mv);
  if (orthonormalize(s, v, Mv, NULL) == 0) {
    return false;
  }
  s->size++;
  return true;
}

/* vector k through the operator; a new vector of the basis */
static void extend(space *s, int k) {
  const int ld = s->most + BLOCK;
  double *v = column(s->V, s->nv, s->size), *Mv = column(s->MV, s->nv, s->size), *h = column(s->H, ld, k);
  apply(s->w, s->x, column(s->MV, s->nv, k), v);
  mbg__modes_mul(s->w, s->w->M, v, Mv);
  const double length = orthonormalize(s, v, Mv, h);
  if (length > 0) {
    h[s->size++] = length;
  } else {
    (void)start_vector(s); /* invariant: go on from somewhere else */
  }
}

/* Ritz pairs of the first k vectors; true when the largest `count` (by size) have converged. S: k x k, theta: k, order:
   k */
static int ritz(space *s, int k, int count, double *S, double *theta, int *order, bool *converged) {
  const int ld = s->most + BLOCK;
  for (int j = 0; j < k; j++) {
    for (int i = 0; i < k; i++) {
      S[i + (size_t)k * (size_t)j] = (s->H[i + (size_t)ld * (size_t)j] + s->H[j + (size_t)ld * (size_t)i]) / 2;
    }
  }
  const int err = mbg__eigen_symmetric(s->w->ctx, k, S, theta);
  for (int i = 0; i < k; i++) {
    order[i] = i;
  }
  for (int i = 1; i < k; i++) { /* by size, descending */
    for (int j = i; j > 0 && fabs(theta[order[j]]) > fabs(theta[order[j - 1]]); j--) {
      const int o = order[j];
      order[j] = order[j - 1];
      order[j - 1] = o;
    }
  }
  *converged = err == MBG_OK && k >= count;
  for (int c = 0; *converged && c < count; c++) {
    double out = 0;
    for (int i = k; i < s->size; i++) {
      double sum = 0;
      for (int j = 0; j < k; j++) {
        sum += s->H[i + (size_t)ld * (size_t)j] * S[j + (size_t)k * (size_t)order[c]];
      }
      out += sum * sum;
    }
    *converged = sqrt(out) <= 1e-10 * fabs(theta[order[c]]);
  }
  return err;
}

static void collect(space *s, int k, int count, const double *S, const double *theta, const int *order, double *omega2,
                    double *X) {
  memset(X, 0, (size_t)s->nv * (size_t)count * sizeof(double));
  for (int c = 0; c < count; c++) {
    omega2[c] = s->shift + 1 / theta[order[c]];
    for (int j = 0; j < k; j++) {
      axpy(s->nv, S[j + (size_t)k * (size_t)order[c]], column(s->V, s->nv, j), column(X, s->nv, c));
    }
  }
}

/* diagonals of K and M give a first idea of how stiff the model is */
static double first_shift(const mbg__modes_work *w) {
  const mbg__csc *P = mbg__system_pattern_K(w->sys);
  double k = 0, m = 0;
  for (int j = 0; j < w->m->nv; j++) {
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      if (P->rowind[i] == j) {
        k += fabs(re(w->K[i])) / w->W[j];
        m += fabs(re(w->M[i])) / w->W[j];
      }
    }
  }
  return m > 0 && k > 0 ? -1e-9 * k / m : -1;
}

static int iterate(space *s, mbg__arena *arena, int count, double *omega2, double *X) {
  mbg__modes_work *w = s->w;
  const int most = s->most;
  int err = MBG_OK, k = 0;
  bool converged = false;
  double *S = MBG_TAKE(arena, double, (size_t)most *(size_t)most), *theta = MBG_TAKE(arena, double, most);
  int *order = MBG_TAKE(arena, int, most);
  MBG_TRY(mbg__arena_check(w->ctx, arena));
  s->shift = first_shift(w);
  MBG_TRY(mbg__modes_factor(w, 1, -s->shift, 0, "modes"));
  for (int i = 0; i < BLOCK; i++) {
    (void)start_vector(s);
  }
  while (!converged && k < most) {
    for (int i = 0; i < BLOCK && k < most && k < s->size; i++) {
      extend(s, k++);
    }
    err = ritz(s, k, count, S, theta, order, &converged);
    if (err < 0) {
      err = mbg__modes_not_found(w, err);
      goto done;
    }
  }
  if (!converged) {
    err = mbg__fail(w->ctx, MBG_ERROR_CONVERGENCE, "the %d lowest modes were not found with %d vectors; ask for fewer",
                    count, k);
    goto done;
  }
  collect(s, k, count, S, theta, order, omega2, X);
done:
  return err;
}

int mbg__modes_krylov(mbg__modes_work *w, double *omega2, double *X, double *off) {
  const int nv = w->m->nv, count = w->count, most = 6 * count + 60 < w->n ? 6 * count + 60 : w->n;
  space s = {.w = w, .nv = nv, .most = most, .seed = 1};
  const size_t vectors = (size_t)nv * (size_t)(most + BLOCK + 1);
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(w->ctx));
  s.V = MBG_TAKE(&arena, double, vectors);
  s.MV = MBG_TAKE(&arena, double, vectors);
  s.H = MBG_TAKE(&arena, double, (size_t)(most + BLOCK) * (size_t)(most + BLOCK));
  s.x = MBG_TAKE(&arena, real, w->saddle.n);
  const int err = iterate(&s, &arena, count, omega2, X);
  *off = 1e-8 * fabs(s.shift);
  mbg__arena_destroy(&arena);
  return err;
}

/* ---------------------------------------------------------------------- polish */

/* A = Y^T (K - shift M) Y (lower triangle) and G = Y^T M Y, n x n, for Y = (K - shift M)^-1 M X diag(omega2 - shift) */
static void ritz_matrices(mbg__modes_work *w, double shift, const double *omega2, double *X, double *Y, real *x,
                          double *f, double *A, double *G) {
  const int nv = w->m->nv, n = w->count;
  for (int k = 0; k < n; k++) {
    /* scaled by the eigenvalue, so that the columns have length 1 */
    mbg__modes_mul(w, w->M, column(X, nv, k), f);
    for (int j = 0; j < nv; j++) {
      f[j] *= omega2[k] - shift;
    }
    apply(w, x, f, column(Y, nv, k));
  }
  for (int k = 0; k < n; k++) {
    mbg__modes_mul(w, w->M, column(X, nv, k), f);
    for (int i = 0; i < n; i++) {
      column(A, n, k)[i] = (omega2[k] - shift) * dot(nv, column(Y, nv, i), f);
    }
    mbg__modes_mul(w, w->M, column(Y, nv, k), f);
    for (int i = 0; i < n; i++) {
      column(G, n, k)[i] = dot(nv, column(Y, nv, i), f);
    }
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) {
      column(A, n, k)[i] = (column(A, n, k)[i] + column(A, n, i)[k]) / 2;
    }
  }
}

/* With Y = (K - shift M)^-1 M X: Y^T (K - shift M) Y = Y^T M X, so that K is not multiplied and low modes keep their
   digits. */
int mbg__modes_polish(mbg__modes_work *w, double shift, double *omega2, double *X) {
  const int nv = w->m->nv, n = w->count;
  const size_t square = (size_t)n * (size_t)n, all = (size_t)nv * (size_t)n;
  int err = MBG_OK;
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(w->ctx));
  double *Y = MBG_TAKE(&arena, double, all), *f = MBG_TAKE(&arena, double, nv);
  double *A = MBG_TAKE(&arena, double, square), *G = MBG_TAKE(&arena, double, square);
  real *x = MBG_TAKE(&arena, real, w->saddle.n);
  MBG_TRY(mbg__arena_check(w->ctx, &arena));
  MBG_TRY(mbg__modes_factor(w, 1, -shift, 0, "modes"));
  for (int pass = 0; pass < 2; pass++) {
    ritz_matrices(w, shift, omega2, X, Y, x, f, A, G);
    err = mbg__eigen_pair(w->ctx, n, A, G, omega2);
    if (err < 0) {
      err = mbg__modes_not_found(w, err);
      goto done;
    }
    memset(X, 0, all * sizeof(double));
    for (int k = 0; k < n; k++) {
      omega2[k] += shift;
      for (int i = 0; i < n; i++) {
        axpy(nv, column(A, n, k)[i], column(Y, nv, i), column(X, nv, k));
      }
    }
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
