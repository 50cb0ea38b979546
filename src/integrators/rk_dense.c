/* Dense output of a step and of a whole run. */
#include "integrators/rk_internal.h"
#include "math/vec.h"

#include <math.h>

/* ---------------------------------------------------------------------- one step */

/* Nested from the inside: y = r_l + f y with f = x for even l, 1 - x for odd l; y_x = f y_x + f_x y. */
void mbg__rk_interpolate(const mbg__rk_method *method, int n, const real *r, real x, int first, int count, real *y,
                         real *y_x) {
  const real *rl = r + (size_t)(method->ndense - 1) * (size_t)n + first;
  vn_copy(count, y, rl);
  if (y_x) {
    vn_zero(count, y_x);
  }
  for (int l = method->ndense - 2; l >= 0; l--) {
    const real f = l % 2 == 0 ? x : 1 - x;
    const double f_x = l % 2 == 0 ? 1 : -1;
    rl -= n;
    for (int i = 0; y_x && i < count; i++) {
      y_x[i] = f * y_x[i] + f_x * y[i];
    }
    for (int i = 0; i < count; i++) {
      y[i] = rl[i] + f * y[i];
    }
  }
}

/* ---------------------------------------------------------------------- store */

/* Numbers per step, at least one. */
static size_t block(const mbg__rk_dense *s) { return s->n > 0 ? (size_t)s->method->ndense * (size_t)s->n : 1; }

void mbg__rk_dense_init(mbg__rk_dense *s, const mbg__rk_method *method, int n) {
  *s = (mbg__rk_dense){.method = method, .n = n};
}

void mbg__rk_dense_free(const mbg_allocator *allocator, mbg__rk_dense *s) {
  allocator->release(allocator->user, s->t);
  allocator->release(allocator->user, s->r);
  mbg__rk_dense_init(s, s->method, s->n);
}

void mbg__rk_dense_clear(mbg__rk_dense *s) { s->nstep = 0; }

int mbg__rk_dense_reserve(mbg_context *ctx, mbg__rk_dense *s, int nstep) {
  if (nstep <= s->capacity) {
    return MBG_OK;
  }
  double *t = mbg__resize(ctx, s->t, (size_t)nstep + 1, sizeof *t);
  if (!t) {
    return mbg__fail_memory(ctx);
  }
  s->t = t;
  real *r = mbg__resize(ctx, s->r, (size_t)nstep, block(s) * sizeof *r);
  if (!r) {
    return mbg__fail_memory(ctx);
  }
  s->r = r;
  s->capacity = nstep;
  return MBG_OK;
}

int mbg__rk_dense_add(mbg_context *ctx, mbg__rk_dense *s, const mbg__rk *rk) {
  const mbg__rk_record *last = mbg__rk_last(rk);
  assert(last->r && s->method == rk->method && s->n <= rk->n);
  assert(s->nstep == 0 || s->t[s->nstep] == last->t0);
  if (s->nstep == s->capacity) {
    const int err = mbg__rk_dense_reserve(ctx, s, s->capacity < 16 ? 32 : 2 * s->capacity);
    if (err < 0) {
      return err;
    }
  }
  s->t[s->nstep] = re(last->t0);
  s->t[s->nstep + 1] = re(last->t1);
  real *const r = s->r + (size_t)s->nstep * block(s);
  for (int l = 0; l < s->method->ndense; l++) {
    vn_copy(s->n, r + (size_t)l * (size_t)s->n, last->r + (size_t)l * (size_t)rk->n);
  }
  s->nstep++;
  return MBG_OK;
}

double mbg__rk_dense_bytes(const mbg__rk_dense *s) {
  if (!s->t) {
    return 0;
  }
  return (s->capacity + 1.0) * sizeof *s->t + (double)s->capacity * (double)block(s) * sizeof *s->r;
}

/* ---------------------------------------------------------------------- evaluation */

/* Whether step i begins before t in the direction of the store, or at t when that limit is meant. */
static bool begins_before(const mbg__rk_dense *s, int i, double t, double dir, bool inclusive) {
  const double d = (t - s->t[i]) * dir;
  return inclusive ? d >= 0 : d > 0;
}

int mbg__rk_dense_find(const mbg__rk_dense *s, double t, mbg__rk_side side) {
  assert(s->nstep > 0);
  const double dir = s->t[s->nstep] < s->t[0] ? -1 : 1;
  const bool inclusive = (side == MBG__RK_RIGHT) == (dir > 0);
  int low = 0, high = s->nstep; /* the answer is in low ... high-1 */
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (begins_before(s, middle, t, dir, inclusive)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

void mbg__rk_dense_eval(const mbg__rk_dense *s, double t, mbg__rk_side side, int first, int count, real *y,
                        real *dydt) {
  assert(first >= 0 && first + count <= s->n);
  const int i = mbg__rk_dense_find(s, t, side);
  const double h = s->t[i + 1] - s->t[i];
  const double x = fmin(1, fmax(0, (t - s->t[i]) / h));
  mbg__rk_interpolate(s->method, s->n, s->r + (size_t)i * block(s), x, first, count, y, dydt);
  if (dydt) {
    vn_scale(count, dydt, 1 / h, dydt);
  }
}
