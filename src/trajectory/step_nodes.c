#include "trajectory/step_nodes.h"

#include <string.h>

enum { POINTS = 7, DEPTH = 12 };

/* A jump costs one panel of the last depth that is not accurate, noise all of them: 4096 in a step. A run may have
   ROUGH of these panels, and ROUGH_STEP more for each step; beyond that, steps are divided to DEPTH_ROUGH only. */
enum { ROUGH = 256, ROUGH_STEP = 1, DEPTH_ROUGH = 2 };

/* Kronrod's extension of Gauss' rule of three points (points 1, 3, 5): exact to degree 11 (5). A. S. Kronrod 1965. */
static const double point[POINTS] = {-0.960491268708020283, -0.774596669241483377, -0.434243749346802558, 0,
                                     0.434243749346802558,  0.774596669241483377,  0.960491268708020283};
static const double kronrod[POINTS] = {0.104656226026467265, 0.268488089868333441, 0.401397414775962223,
                                       0.450916538658474142, 0.401397414775962223, 0.268488089868333441,
                                       0.104656226026467265};
static const double gauss[POINTS] = {0, 5.0 / 9, 0, 8.0 / 9, 0, 5.0 / 9, 0};

/* ---------------------------------------------------------------------- memory */

int mbg__step_nodes_create(mbg_context *ctx, mbg__arena *arena, const mbg__run_plan *plan, int nused,
                           mbg__step_nodes *n) {
  *n = (mbg__step_nodes){.allocator = *mbg__context_allocator(ctx),
                         .plan = plan,
                         .nused = nused,
                         .width = nused + plan->npose,
                         .panels = plan->nquadrature > 0 || plan->curves};
  n->kept = plan->place ? mbg__nodes_places(plan->place, nused) : n->width;
  n->end = MBG_TAKE(arena, real, nused);
  n->sum = MBG_TAKE(arena, real, nused);
  n->row = MBG_TAKE(arena, real, nused);
  n->buffer = MBG_TAKE(arena, real, POINTS * n->width);
  n->total = MBG_TAKE(arena, double, plan->nquadrature);
  n->top = MBG_TAKE(arena, double, plan->nquadrature);
  return mbg__arena_check(ctx, arena);
}

void mbg__step_nodes_destroy(mbg__step_nodes *n) {
  if (n->allocator.release) {
    n->allocator.release(n->allocator.user, n->t);
    n->allocator.release(n->allocator.user, n->omega);
    n->allocator.release(n->allocator.user, n->y);
  }
}

static void *grow(const mbg__step_nodes *n, void *block, size_t count, size_t size) {
  return n->allocator.resize(n->allocator.user, block, count * size + 1);
}

static int reserve(mbg_context *ctx, mbg__step_nodes *n) {
  if (n->count < n->room) {
    return MBG_OK;
  }
  const int room = 2 * n->room + 256;
  double *t = grow(n, n->t, (size_t)room, sizeof(double));
  n->t = t ? t : n->t;
  real *omega = grow(n, n->omega, (size_t)room, sizeof(real));
  n->omega = omega ? omega : n->omega;
  real *y = grow(n, n->y, (size_t)room * (size_t)(n->kept > 0 ? n->kept : 1), sizeof(real));
  n->y = y ? y : n->y;
  if (!t || !omega || !y) {
    return mbg__fail_memory(ctx);
  }
  n->room = room;
  return MBG_OK;
}

mbg__nodes mbg__step_nodes_of(const mbg__step_nodes *n, const int *used, bool partial) {
  return (mbg__nodes){.nnode = n->count,
                      .partial = partial,
                      .t = n->t,
                      .omega = n->omega,
                      .nused = n->nused,
                      .used = used,
                      .npose = n->plan->npose,
                      .width = n->kept,
                      .y = n->y,
                      .place = n->plan->place,
                      .end = n->end,
                      .sum = n->sum};
}

/* values (y, NULL: not known yet) of node i with its time and weight */
static int keep(mbg__step_nodes *n, int i, const real *y, mbg__step_value value, void *user) {
  real *out = n->plan->place ? n->row : n->y + (size_t)i * (size_t)n->width;
  if (y && !n->plan->place) {
    memcpy(out, y, (size_t)n->width * sizeof(real));
  }
  n->point = n->omega[i] != 0;
  const int err = y ? MBG_OK : value(user, n->t[i], out);
  n->point = false;
  if (err == MBG_OK && n->plan->place) {
    const mbg__nodes nodes = mbg__step_nodes_of(n, NULL, false);
    mbg__nodes_take(&nodes, i, y ? y : out);
    mbg__nodes_sum(&nodes, n->omega[i], y ? y : out);
  }
  return err;
}

/* a node with known (y) or still unknown values */
static int add(mbg_context *ctx, mbg__step_nodes *n, double t, double omega, const real *y, mbg__step_value value,
               void *user) {
  int err = MBG_OK;
  MBG_TRY(reserve(ctx, n));
  n->t[n->count] = t;
  n->omega[n->count] = omega;
  MBG_TRY(keep(n, n->count, y, value, user));
  n->count++;
done:
  return err;
}

/* ---------------------------------------------------------------------- panels */

/* samples before t (at t: the node there serves) */
static int add_samples(mbg_context *ctx, mbg__step_nodes *n, double t, mbg__step_value value, void *user) {
  int err = MBG_OK;
  while (n->sample < n->plan->nsample && n->plan->samples[n->sample] < t) {
    MBG_TRY(add(ctx, n, n->plan->samples[n->sample++], 0, NULL, value, user));
  }
  if (n->sample < n->plan->nsample && n->plan->samples[n->sample] == t) {
    n->sample++;
  }
done:
  return err;
}

/* integrand k at the points of the buffer */
static void integrand(const mbg__step_nodes *n, int k, double f[POINTS]) {
  const mbg__quadrature *q = &n->plan->quadratures[k];
  double top = n->top[k];
  for (int i = 0; i < POINTS; i++) {
    f[i] = re(n->buffer[(size_t)i * (size_t)n->width + (size_t)q->column]);
    top = fmax(top, f[i]);
  }
  if (q->sharpness > 0) {
    n->total[k] *= n->top[k] > -INFINITY ? exp(q->sharpness * (n->top[k] - top)) : 0;
    n->top[k] = top;
    for (int i = 0; i < POINTS; i++) {
      f[i] = exp(q->sharpness * (f[i] - top));
    }
  }
}

/* error of the rule by its embedded one, with the usual allowance for how fast the difference falls; size: integral of
   |f| */
static double panel_error(const double f[POINTS], double h, double *size) {
  double value = 0, low = 0, spread = 0;
  *size = 0;
  for (int i = 0; i < POINTS; i++) {
    value += h / 2 * kronrod[i] * f[i];
    low += h / 2 * gauss[i] * f[i];
    *size += h / 2 * kronrod[i] * fabs(f[i]);
  }
  for (int i = 0; i < POINTS; i++) {
    spread += h / 2 * kronrod[i] * fabs(f[i] - value / h);
  }
  const double difference = fabs(value - low);
  return spread > 0 ? spread * fmin(1, pow(200 * difference / spread, 1.5)) : difference;
}

/* the last integrand that is not accurate, -1: all are */
static int inaccurate(mbg__step_nodes *n, double h) {
  int which = -1;
  for (int k = 0; k < n->plan->nquadrature; k++) {
    double f[POINTS], size;
    integrand(n, k, f);
    const double error = panel_error(f, h, &size);
    which = error <= n->plan->relative * (n->total[k] + size) + n->plan->absolute * h ? which : k;
  }
  return which;
}

static bool rough(const mbg__step_nodes *n) { return n->rough > ROUGH + ROUGH_STEP * (double)n->steps; }

/* says so once a run */
static void count_rough(mbg_context *ctx, mbg__step_nodes *n, double t, int k) {
  const bool before = n->warned;
  n->rough++;
  n->warned = before || rough(n);
  if (n->warned && !before) {
    mbg__note(ctx, MBG_WARNING,
              "criterion '%s': its integral does not converge near t = %.6g: %ld pieces of 1/%d of a step are not "
              "accurate enough, so the signal has noise or jumps there; steps are divided less from here on, and the "
              "integral does not have the accuracy that the tolerance asks for: take a smoother signal, or a larger "
              "tolerance",
              n->plan->quadratures[k].name, mbg__time_shown(t), n->rough, 1 << DEPTH);
  }
}

static void take_totals(mbg__step_nodes *n, double h) {
  for (int k = 0; k < n->plan->nquadrature; k++) {
    double f[POINTS], size;
    integrand(n, k, f);
    (void)panel_error(f, h, &size);
    n->total[k] += size;
  }
}

static int panel(mbg_context *ctx, mbg__step_nodes *n, double ta, double tb, int depth, mbg__step_value value,
                 void *user) {
  const double h = tb - ta;
  double t[POINTS];
  int err = MBG_OK;
  for (int i = 0; i < POINTS; i++) {
    t[i] = ta + h * (1 + point[i]) / 2;
    n->point = true;
    err = value(user, t[i], n->buffer + (size_t)i * (size_t)n->width);
    n->point = false;
    MBG_TRY(err);
  }
  const int bad = inaccurate(n, h);
  if (bad >= 0 && depth < (rough(n) ? DEPTH_ROUGH : DEPTH)) {
    MBG_TRY(panel(ctx, n, ta, ta + h / 2, depth + 1, value, user));
    MBG_TRY(panel(ctx, n, ta + h / 2, tb, depth + 1, value, user));
    return MBG_OK;
  }
  if (bad >= 0 && depth == DEPTH) {
    count_rough(ctx, n, ta, bad);
  }
  take_totals(n, h);
  for (int i = 0; i < POINTS; i++) {
    MBG_TRY(add_samples(ctx, n, t[i], value, user));
    MBG_TRY(add(ctx, n, t[i], h / 2 * kronrod[i], n->buffer + (size_t)i * (size_t)n->width, NULL, NULL));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- runs */

int mbg__step_nodes_begin(mbg_context *ctx, mbg__step_nodes *n, bool fixed, mbg__step_value value, void *user) {
  n->planned = fixed ? n->planned : 0;
  n->fixed = fixed;
  n->count = 0;
  n->sample = 0;
  n->steps = n->rough = 0;
  n->warned = false;
  for (int k = 0; k < n->plan->nquadrature; k++) {
    n->total[k] = 0;
    n->top[k] = -INFINITY;
  }
  vn_zero(n->nused, n->sum);
  if (fixed) {
    n->count = 1;
    return keep(n, 0, NULL, value, user);
  }
  const int err = add(ctx, n, n->plan->t0, 0, NULL, value, user);
  n->planned = n->count;
  return err;
}

int mbg__step_nodes_step(mbg_context *ctx, mbg__step_nodes *n, double ta, double tb, mbg__step_value value,
                         void *user) {
  int err = MBG_OK;
  if (n->fixed) {
    while (n->count < n->planned && n->t[n->count] <= tb) {
      MBG_TRY(keep(n, n->count, NULL, value, user));
      n->count++;
    }
    return MBG_OK;
  }
  n->steps++;
  if (n->panels) {
    MBG_TRY(panel(ctx, n, ta, tb, 0, value, user));
  }
  MBG_TRY(add_samples(ctx, n, tb, value, user));
  MBG_TRY(add(ctx, n, tb, 0, NULL, value, user));
  n->planned = n->count;
done:
  return err;
}

int mbg__step_nodes_inside(const mbg__step_nodes *n, int nstep, const double *t) {
  int most = 0;
  for (int k = 0, i = 1; k < nstep; k++) {
    const int first = i;
    while (i < n->count && n->t[i] < t[k + 1]) {
      i++;
    }
    most = i - first > most ? i - first : most;
    i++; /* the node at the end */
  }
  return most;
}
