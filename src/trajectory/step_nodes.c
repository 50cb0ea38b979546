#include "trajectory/step_nodes.h"
#include "trajectory/steps.h"

#include <string.h>

enum { POINTS = MBG__KRONROD, DEPTH = 12 };

/* A jump costs one panel of the last depth that is not accurate, noise all of them: 4096 in a step. A run may have
   ROUGH of these panels, and ROUGH_STEP more for each step; beyond that, steps are divided to DEPTH_ROUGH only. */
enum { ROUGH = 256, ROUGH_STEP = 1, DEPTH_ROUGH = 2 };

/* From this depth on a step with many panels asks whether the run is interrupted. */
enum { DEPTH_ASK = 6 };

/* weights of Gauss' rule at the points of Kronrod's */
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

int mbg__step_nodes_by_stages(mbg_context *ctx, mbg__arena *arena, mbg__step_nodes *n, const mbg__rk_method *method,
                              mbg__stage_value value) {
  for (int k = 0; k < n->plan->nquadrature; k++) {
    if (n->plan->quadratures[k].sharpness > 0) {
      return MBG_OK;
    }
  }
  n->method = n->plan->nquadrature > 0 ? method : NULL;
  n->stage_value = value;
  n->staged = MBG_TAKE(arena, real, n->nused);
  n->stage = MBG_TAKE(arena, real, MBG__RK_STAGES * (size_t)n->nused);
  return mbg__arena_check(ctx, arena);
}

void mbg__step_nodes_compact(mbg__step_nodes *n, double *const *ends) {
  n->compact = n->plan->place != NULL;
  n->grid.ends = ends;
  n->grid.per = n->panels && !n->method ? POINTS + 1 : 1;
}

void mbg__step_nodes_destroy(mbg__step_nodes *n) {
  if (n->allocator.release) {
    n->allocator.release(n->allocator.user, n->odd);
    n->allocator.release(n->allocator.user, n->t);
    n->allocator.release(n->allocator.user, n->omega);
    n->allocator.release(n->allocator.user, n->y);
  }
}

static void *grow(const mbg__step_nodes *n, void *block, size_t count, size_t size) {
  return n->allocator.resize(n->allocator.user, block, count * size + 1);
}

/* more room than there is; a run that is repeated has as many nodes as before, unless steps are added */
static int larger(const mbg__step_nodes *n, int room) { return room < n->planned ? n->planned : 2 * room + 256; }

/* room for one more node, and one more time and weight */
static int reserve(mbg_context *ctx, mbg__step_nodes *n) {
  if (n->kept > 0 && n->count >= n->room) {
    const int room = larger(n, n->room);
    real *y = grow(n, n->y, (size_t)room * (size_t)n->kept, sizeof(real));
    if (!y) {
      return mbg__fail_memory(ctx);
    }
    n->y = y;
    n->room = room;
  }
  if (n->entries >= n->entry_room) {
    const int room = larger(n, n->entry_room);
    real *t = grow(n, n->t, (size_t)room, sizeof(real));
    n->t = t ? t : n->t;
    real *omega = grow(n, n->omega, (size_t)room, sizeof(real));
    n->omega = omega ? omega : n->omega;
    if (!t || !omega) {
      return mbg__fail_memory(ctx);
    }
    n->entry_room = room;
    n->grid.t = n->t;
    n->grid.omega = n->omega;
  }
  return MBG_OK;
}

mbg__nodes mbg__step_nodes_of(const mbg__step_nodes *n, const int *used, bool partial) {
  return (mbg__nodes){.nnode = n->count,
                      .partial = partial,
                      .t = n->compact ? NULL : n->t,
                      .omega = n->compact ? NULL : n->omega,
                      .grid = n->compact ? &n->grid : NULL,
                      .nused = n->nused,
                      .used = used,
                      .npose = n->plan->npose,
                      .width = n->kept,
                      .y = n->y,
                      .place = n->plan->place,
                      .end = n->end,
                      .sum = n->sum,
                      .staged = n->method ? n->staged : NULL};
}

double mbg__step_nodes_time(const mbg__step_nodes *n, int i) {
  return n->compact ? mbg__grid_time(&n->grid, i) : re(n->t[i]);
}

static real weight_of(const mbg__step_nodes *n, int i) {
  return n->compact ? mbg__grid_omega(&n->grid, i) : n->omega[i];
}

/* values (y, NULL: not known yet) of node i at time t with its weight */
static int keep(mbg__step_nodes *n, int i, real t, real omega, const real *y, mbg__step_value value, void *user) {
  real *out = n->plan->place ? n->row : n->y + (size_t)i * (size_t)n->width;
  if (y && !n->plan->place && n->width > 0) {
    memcpy(out, y, (size_t)n->width * sizeof(real));
  }
  n->point = omega != 0;
  const int err = y ? MBG_OK : value(user, t, out);
  n->point = false;
  if (err == MBG_OK && n->plan->place) {
    const mbg__nodes nodes = mbg__step_nodes_of(n, NULL, false);
    mbg__nodes_take(&nodes, i, y ? y : out);
    mbg__nodes_sum(&nodes, omega, y ? y : out);
  }
  if (err == MBG_OK && n->plan->node) {
    n->plan->node(n->plan->taker, re(t), n->plan->step > 0 && omega != 0, y ? y : out);
  }
  return err;
}

/* a node with known (y) or still unknown values */
static int add(mbg_context *ctx, mbg__step_nodes *n, real t, real omega, const real *y, mbg__step_value value,
               void *user) {
  int err = MBG_OK;
  MBG_TRY(reserve(ctx, n));
  n->t[n->entries] = t;
  n->omega[n->entries++] = omega;
  MBG_TRY(keep(n, n->count, t, omega, y, value, user));
  n->count++;
done:
  return err;
}

/* ---------------------------------------------------------------------- odd steps */

/* are the nodes from `entry` on those of a regular step, the last one so far, whose ends are known? */
static bool regular(const mbg__step_nodes *n, int entry, double ta, double tb) {
  const mbg__node_grid *g = &n->grid;
  if (n->steps == 0 || n->entries - entry != g->per || (*g->ends)[n->steps - 1] != ta || (*g->ends)[n->steps] != tb) {
    return false;
  }
  for (int p = 0; p < g->per; p++) {
    if (n->t[entry + p] != mbg__grid_point_time(g->per, ta, tb, p) ||
        n->omega[entry + p] != mbg__grid_point_weight(g->per, ta, tb, p)) {
      return false;
    }
  }
  return true;
}

/* the nodes from `entry` on belong to a step: a regular one needs no list of them */
static int close_step(mbg_context *ctx, mbg__step_nodes *n, int entry, double ta, double tb) {
  const int count = n->entries - entry;
  if (!n->compact) {
    return MBG_OK;
  }
  if (regular(n, entry, ta, tb)) {
    n->entries = entry;
    return MBG_OK;
  }
  if (n->nodd >= n->odd_room) {
    const int room = 2 * n->odd_room + 16;
    mbg__odd_step *odd = grow(n, n->odd, (size_t)room, sizeof(*odd));
    if (!odd) {
      return mbg__fail_memory(ctx);
    }
    n->odd = odd;
    n->odd_room = room;
  }
  n->odd[n->nodd++] = (mbg__odd_step){(int)n->steps, n->count - count, count, entry};
  n->grid.odd = n->odd;
  n->grid.nodd = n->nodd;
  return MBG_OK;
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
    value += h / 2 * mbg__kronrod_weight[i] * f[i];
    low += h / 2 * gauss[i] * f[i];
    *size += h / 2 * mbg__kronrod_weight[i] * fabs(f[i]);
  }
  for (int i = 0; i < POINTS; i++) {
    spread += h / 2 * mbg__kronrod_weight[i] * fabs(f[i] - value / h);
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

/* a step of a large mechanism with thousands of panels may take seconds: an interrupted run ends with those made */
static bool divisible(const mbg__step_nodes *n, int depth) {
  bool *stopped = n->plan->stopped;
  if (stopped && depth >= DEPTH_ASK && mbg__plan_interrupted(n->plan)) {
    *stopped = true;
  }
  return !(stopped && *stopped) && depth < (rough(n) ? DEPTH_ROUGH : DEPTH);
}

static int panel(mbg_context *ctx, mbg__step_nodes *n, real ta, real tb, int depth, mbg__step_value value, void *user) {
  const real h = tb - ta;
  real t[POINTS];
  int err = MBG_OK;
  for (int i = 0; i < POINTS; i++) {
    t[i] = ta + h * (1 + mbg__kronrod_point[i]) / 2;
    n->point = true;
    err = value(user, t[i], n->buffer + (size_t)i * (size_t)n->width);
    n->point = false;
    MBG_TRY(err);
  }
  const int bad = inaccurate(n, re(h));
  if (bad >= 0 && divisible(n, depth)) {
    MBG_TRY(panel(ctx, n, ta, ta + h / 2, depth + 1, value, user));
    MBG_TRY(panel(ctx, n, ta + h / 2, tb, depth + 1, value, user));
    return MBG_OK;
  }
  if (bad >= 0 && depth == DEPTH) {
    count_rough(ctx, n, re(ta), bad);
  }
  take_totals(n, re(h));
  for (int i = 0; i < POINTS; i++) {
    MBG_TRY(add_samples(ctx, n, re(t[i]), value, user));
    MBG_TRY(add(ctx, n, t[i], h / 2 * mbg__kronrod_weight[i], n->buffer + (size_t)i * (size_t)n->width, NULL, NULL));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- stages */

bool mbg__step_nodes_staged(const mbg__step_nodes *n, double ta, int i) {
  for (; n->method && i > 0 && mbg__step_nodes_time(n, i) > ta; i--) {
    if (weight_of(n, i) != 0) {
      return false;
    }
  }
  return n->method != NULL;
}

/* at breaks signals may jump: the node there has the values before */
bool mbg__step_nodes_goes_on(const mbg__step_nodes *n, double ta) {
  const int after = mbg__plan_break_after(n->plan, ta);
  return ta > n->plan->t0 && !(after > 0 && n->plan->breaks[after - 1] == ta);
}

/* does stage i count in the sum or in its error? */
static bool counts(const mbg__rk_method *m, int i) {
  return (i < m->nstage && m->A[m->nstage][i] != 0) || m->e[i] != 0 || (m->e_low && m->e_low[i] != 0);
}

static int take_stages(mbg_context *ctx, mbg__step_nodes *n, double ta, void *user) {
  const mbg__rk_method *m = n->method;
  int err = MBG_OK;
  (void)ctx;
  for (int i = 0; i <= m->nstage; i++) {
    real *y = n->stage + (size_t)i * (size_t)n->nused;
    if (i == 0 && mbg__step_nodes_goes_on(n, ta)) {
      vn_copy(n->nused, y, n->plan->place ? n->end : n->y + (size_t)(n->count - 1) * (size_t)n->width);
    } else if (counts(m, i)) {
      MBG_TRY(n->stage_value(user, i, y));
    }
  }
done:
  return err;
}

/* sum_i c_i y_i of a column over the stages up to i = last */
static real stage_sum(const mbg__step_nodes *n, const double *c, int last, int column) {
  real sum = 0;
  for (int i = 0; i <= last; i++) {
    if (c[i] != 0) {
      sum += c[i] * n->stage[(size_t)i * (size_t)n->nused + (size_t)column];
    }
  }
  return sum;
}

/* mean |y| of a column over the stages that count */
static double stage_mean(const mbg__step_nodes *n, int column) {
  double sum = 0;
  int count = 0;
  for (int i = 0; i <= n->method->nstage; i++) {
    if (counts(n->method, i)) {
      sum += fabs(re(n->stage[(size_t)i * (size_t)n->nused + (size_t)column]));
      count++;
    }
  }
  return sum / count;
}

/* error of an integral over a step of length h, as that of a component (rk_control.c) */
static double stage_error(const mbg__step_nodes *n, double h, int column) {
  const mbg__rk_method *m = n->method;
  const double x = fabs(re(stage_sum(n, m->e, m->nstage, column)));
  const double low = m->e_low ? re(stage_sum(n, m->e_low, m->nstage, column)) : 0;
  return x > 0 && isfinite(x) ? h * x * x / sqrt(x * x + 0.01 * low * low) : h * x;
}

/* are all integrals of the step accurate enough? Then their sizes are counted. */
static bool accurate_stages(mbg__step_nodes *n, double h) {
  for (int k = 0; k < n->plan->nquadrature; k++) {
    const int column = n->plan->quadratures[k].column;
    const double most = n->plan->relative * (n->total[k] + h * stage_mean(n, column)) + n->plan->absolute * h;
    if (!(stage_error(n, h, column) <= most)) {
      return false;
    }
  }
  for (int k = 0; k < n->plan->nquadrature; k++) {
    n->total[k] += h * stage_mean(n, n->plan->quadratures[k].column);
  }
  return true;
}

static void add_stages(mbg__step_nodes *n, real h) {
  const mbg__rk_method *m = n->method;
  for (int k = 0; k < n->nused; k++) {
    n->staged[k] += h * stage_sum(n, m->A[m->nstage], m->nstage - 1, k);
  }
}

/* nodes without weights for curves */
static int add_curve(mbg_context *ctx, mbg__step_nodes *n, real ta, real tb, mbg__step_value value, void *user) {
  int err = MBG_OK;
  for (int i = 0; n->plan->curves && i < POINTS; i++) {
    const real t = ta + (tb - ta) * (1 + mbg__kronrod_point[i]) / 2;
    MBG_TRY(add_samples(ctx, n, re(t), value, user));
    MBG_TRY(add(ctx, n, t, 0, NULL, value, user));
  }
done:
  return err;
}

/* the nodes inside a new step, and its integrals */
static int inner_nodes(mbg_context *ctx, mbg__step_nodes *n, real ta, real tb, mbg__step_value value, void *user) {
  int err = MBG_OK;
  if (!n->panels) {
    return MBG_OK;
  }
  if (n->method) {
    MBG_TRY(take_stages(ctx, n, re(ta), user));
    if (accurate_stages(n, re(tb - ta))) {
      add_stages(n, tb - ta);
      return add_curve(ctx, n, ta, tb, value, user);
    }
  }
  MBG_TRY(panel(ctx, n, ta, tb, 0, value, user));
done:
  return err;
}

/* a step of a repeated run, which has the nodes of the run before */
static int repeat_step(mbg_context *ctx, mbg__step_nodes *n, real ta, real tb, mbg__step_value value, void *user) {
  int err = MBG_OK, end = n->count;
  while (end < n->planned && mbg__step_nodes_time(n, end) <= re(tb)) {
    end++;
  }
  if (mbg__step_nodes_staged(n, re(ta), end - 1)) {
    MBG_TRY(take_stages(ctx, n, re(ta), user));
    add_stages(n, tb - ta);
  }
  for (; n->count < end; n->count++) {
    MBG_TRY(keep(n, n->count, mbg__step_nodes_time(n, n->count), weight_of(n, n->count), NULL, value, user));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- runs */

/* the times and weights of the plan become those of a repeated run */
static int take_given(mbg_context *ctx, mbg__step_nodes *n) {
  const mbg__run_plan *plan = n->plan;
  n->planned = plan->nnode;
  for (n->entries = n->count = 0; n->entries < plan->nnode; n->count++) {
    const int err = reserve(ctx, n);
    if (err < 0) {
      n->planned = 0;
      return err;
    }
    n->t[n->entries] = plan->node_t[n->entries];
    n->omega[n->entries] = plan->node_omega[n->entries];
    n->entries++;
  }
  return MBG_OK;
}

int mbg__step_nodes_begin(mbg_context *ctx, mbg__step_nodes *n, bool fixed, mbg__step_value value, void *user) {
  if (fixed && n->planned == 0) {
    const int err = take_given(ctx, n);
    if (err < 0) {
      return err;
    }
  }
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
  if (n->staged) {
    vn_zero(n->nused, n->staged);
  }
  if (fixed) {
    n->count = 1;
    return keep(n, 0, n->t[0], n->omega[0], NULL, value, user);
  }
  int err = MBG_OK;
  n->entries = n->nodd = 0;
  MBG_TRY(add(ctx, n, n->plan->t0, 0, NULL, value, user));
  MBG_TRY(close_step(ctx, n, 0, n->plan->t0, n->plan->t0));
  n->planned = n->count;
done:
  return err;
}

int mbg__step_nodes_step(mbg_context *ctx, mbg__step_nodes *n, real ta, real tb, mbg__step_value value, void *user) {
  const int entry = n->entries;
  int err = MBG_OK;
  if (n->fixed) {
    return repeat_step(ctx, n, ta, tb, value, user);
  }
  n->steps++;
  MBG_TRY(inner_nodes(ctx, n, ta, tb, value, user));
  MBG_TRY(add_samples(ctx, n, re(tb), value, user));
  MBG_TRY(add(ctx, n, tb, 0, NULL, value, user));
  MBG_TRY(close_step(ctx, n, entry, re(ta), re(tb)));
  n->planned = n->count;
done:
  return err;
}

int mbg__step_nodes_again(mbg_context *ctx, mbg__step_nodes *n, real t, mbg__step_value value, void *user) {
  const int err = add(ctx, n, t, 0, NULL, value, user);
  n->planned = n->count;
  return err;
}

/* From the end, as adjoints go: steps of a few units in the last place have inner nodes at the times of their ends. */
int mbg__step_nodes_inside(const mbg__step_nodes *n, int nstep, const double *t) {
  int most = 0, i = n->count - 1;
  for (int k = nstep; k > 0; k--) {
    const int last = --i; /* before the node at the end */
    while (i > 0 && mbg__step_nodes_time(n, i) > t[k - 1]) {
      i--;
    }
    most = last - i > most ? last - i : most;
  }
  return most;
}
