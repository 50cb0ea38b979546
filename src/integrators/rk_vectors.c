/* Vectors of stages in threads: long ones are cut into pieces, each of which goes through all terms. Entries do not
   depend on each other, so that the pieces do not change a bit. */
#include "integrators/rk_internal.h"
#include "math/avx2.h"
#include "math/vec.h"

#define LANES(name) name
#include "integrators/rk_vectors_kernel.h"

#include <math.h>
#include <stdatomic.h>

enum { COMBINE = MBG__LOOPS_RK, INTERPOLANT, INTERPOLATE, COPY, FINITE, INTERPOLANT_PARTS, INTERPOLATE_PARTS };

typedef struct {
  const mbg__rk_method *method;
  int n, s;
  real h, x;
  const double *w;
  const real *y, *y1, *k;
  real *out;
  const mbg__rk_parts *parts;
  atomic_int bad;
} vectors;

void mbg__rk_add(int n, real *out, int s, const double *w, const real *k, size_t N) {
#ifdef MBG__AVX2_BEGIN
  if (mbg__lanes_wide()) {
    mbg__rk_add_terms_avx2(n, out, s, w, k, N);
    return;
  }
#endif
  mbg__rk_add_terms(n, out, s, w, k, N);
}

static void combine_some(int n, real *out, const real *y, real h, int s, const double *w, const real *k, size_t N) {
#ifdef MBG__AVX2_BEGIN
  if (mbg__lanes_wide()) {
    mbg__rk_combine_terms_avx2(n, out, y, h, s, w, k, N);
    return;
  }
#endif
  mbg__rk_combine_terms(n, out, y, h, s, w, k, N);
}

static void combine(void *user, int thread, int first, int end) {
  const vectors *v = user;
  (void)thread;
  combine_some(end - first, v->out + first, v->y + first, v->h, v->s, v->w, v->k + first, (size_t)v->n);
}

void mbg__rk_combine(mbg__pool *pool, int n, real *out, const real *y, real h, int s, const double *w, const real *k) {
  if (n <= MBG__RK_LEAST) {
    combine_some(n, out, y, h, s, w, k, (size_t)n);
    return;
  }
  mbg__pool_for(pool, COMBINE, n, mbg__rk_piece(pool, n), combine,
                &(vectors){.n = n, .s = s, .h = h, .w = w, .y = y, .k = k, .out = out});
}

static void interpolant(void *user, int thread, int first, int end) {
  const vectors *v = user;
  const mbg__rk_method *m = v->method;
  const size_t N = (size_t)v->n;
  const real *const ks = v->k + (size_t)m->nstage * N;
  (void)thread;
  for (int i = first; i < end; i++) {
    const real dy = v->y1[i] - v->y[i], curve = v->h * v->k[i] - dy;
    v->out[i] = v->y[i];
    v->out[N + (size_t)i] = dy;
    v->out[2 * N + (size_t)i] = curve;
    v->out[3 * N + (size_t)i] = dy - v->h * ks[i] - curve;
  }
  for (int l = 4; l < m->ndense; l++) {
    real *const rl = v->out + (size_t)l * N + first;
    vn_zero(end - first, rl);
    for (int j = 0; j < m->nextended; j++) {
      if (m->d[l - 4][j] != 0) {
        vn_axpy(end - first, rl, v->h * m->d[l - 4][j], v->k + (size_t)j * N + first);
      }
    }
  }
}

void mbg__rk_interpolant(mbg__pool *pool, const mbg__rk_method *method, int n, real h, const real *y, const real *y1,
                         const real *k, real *r) {
  mbg__pool_for(pool, INTERPOLANT, n, mbg__rk_piece(pool, n), interpolant,
                &(vectors){.method = method, .n = n, .h = h, .y = y, .y1 = y1, .k = k, .out = r});
}

static void interpolate(void *user, int thread, int first, int end) {
  const vectors *v = user;
  (void)thread;
  mbg__rk_interpolate(v->method, v->n, v->k, v->x, first, end - first, v->out + first, NULL);
}

void mbg__rk_interpolate_all(mbg__pool *pool, const mbg__rk_method *method, int n, const real *r, real x, real *y) {
  mbg__pool_for(pool, INTERPOLATE, n, mbg__rk_piece(pool, n), interpolate,
                &(vectors){.method = method, .n = n, .k = r, .x = x, .out = y});
}

/* components of some parts */
static void interpolant_parts(void *user, int thread, int first, int end) {
  const vectors *v = user;
  for (int i = first; i < end; i++) {
    interpolant(user, thread, v->parts->first[i], v->parts->end[i]);
  }
}

static void interpolate_parts(void *user, int thread, int first, int end) {
  const vectors *v = user;
  (void)thread;
  for (int i = first; i < end; i++) {
    const int at = v->parts->first[i];
    mbg__rk_interpolate(v->method, v->n, v->k, v->x, at, v->parts->end[i] - at, v->out + at, NULL);
  }
}

/* parts that a thread takes at once */
static int piece_of_parts(const mbg__pool *pool, const mbg__rk_parts *parts) {
  enum { LEAST = 64 };
  const int piece = parts->n / (2 * mbg__pool_threads(pool)) + 1;
  return piece < LEAST ? LEAST : piece;
}

void mbg__rk_interpolant_parts(mbg__pool *pool, const mbg__rk_method *method, int n, real h, const real *y,
                               const real *y1, const real *k, const mbg__rk_parts *parts, real *r) {
  if (!parts) {
    mbg__rk_interpolant(pool, method, n, h, y, y1, k, r);
    return;
  }
  mbg__pool_for(pool, INTERPOLANT_PARTS, parts->n, piece_of_parts(pool, parts), interpolant_parts,
                &(vectors){.method = method, .n = n, .h = h, .y = y, .y1 = y1, .k = k, .out = r, .parts = parts});
}

void mbg__rk_interpolate_parts(mbg__pool *pool, const mbg__rk_method *method, int n, const real *r, real x,
                               const mbg__rk_parts *parts, real *y) {
  mbg__pool_for(pool, INTERPOLATE_PARTS, parts->n, piece_of_parts(pool, parts), interpolate_parts,
                &(vectors){.method = method, .n = n, .k = r, .x = x, .out = y, .parts = parts});
}

static void copy(void *user, int thread, int first, int end) {
  const vectors *v = user;
  (void)thread;
  vn_copy(end - first, v->out + first, v->y + first);
}

void mbg__rk_copy(mbg__pool *pool, int n, real *out, const real *x) {
  mbg__pool_for(pool, COPY, n, mbg__rk_piece(pool, n), copy, &(vectors){.y = x, .out = out});
}

/* a difference of an infinity, or of no number, with itself is no number */
static bool all_finite(int n, const real *y) {
  lane sum = {0};
  real rest = 0;
  int i = 0;
  for (; i + MBG__LANES <= n; i += MBG__LANES) {
    sum += *(const lane *)(y + i) - *(const lane *)(y + i);
  }
  for (; i < n; i++) {
    rest += y[i] - y[i];
  }
  for (int q = 0; q < MBG__LANES; q++) {
    rest += lane_get(&sum, q);
  }
  return re(rest) == 0;
}

static void find_bad(void *user, int thread, int first, int end) {
  vectors *v = user;
  (void)thread;
  for (int i = all_finite(end - first, v->y + first) ? end : first; i < end; i++) {
    if (!isfinite(re(v->y[i]))) {
      int before = atomic_load(&v->bad);
      while (i < before && !atomic_compare_exchange_weak(&v->bad, &before, i)) {
      }
      return;
    }
  }
}

int mbg__rk_first_bad(mbg__pool *pool, int n, const real *x) {
  if (n <= MBG__RK_LEAST && all_finite(n, x)) {
    return -1;
  }
  vectors v = {.y = x};
  atomic_init(&v.bad, n);
  mbg__pool_for(pool, FINITE, n, mbg__rk_piece(pool, n), find_bad, &v);
  const int bad = atomic_load(&v.bad);
  return bad < n ? bad : -1;
}
