#include "criteria/criteria.h"

#include <stdlib.h>
#include <string.h>

/* linear interpolation at a time: (1 - s) y_n + s y_{n+1} */
typedef struct {
  int node;
  real s;
} sample;

typedef struct {
  int column;             /* of its signal in y, -1 for expressions */
  int nsample;            /* least squares, path */
  sample *samples;        /* NULL: the nodes */
  double *value, *weight; /* least squares */
} accumulator;

struct mbg__criteria {
  const mbg_model *model;
  int nnode, nused;
  const real *t;
  const mbg__node_grid *grid;   /* times and weights, NULL: t and omega have them */
  int width;                    /* columns of y */
  int *used;                    /* signals                                     (nused) */
  accumulator *acc;             /*                                             (ncriterion) */
  const real *omega, *y, *attr; /* of the last values call */
  int nfiring;
  const mbg__firing *firings;
  const int *place; /* NULL, or see mbg__criteria_places */
  const real *end, *sum, *staged;
  real *psi;             /*                                             (ncriterion) */
  real *bar;             /* weights of criteria behind an expression    (ncriterion) */
  real *x, *g, *scratch; /* of the largest expression */
};

/* ---------------------------------------------------------------------- sampling */

static sample sample_of(const accumulator *a, int i) { return a->samples ? a->samples[i] : (sample){i, 0}; }

static real moment_at(const mbg__criteria *c, int n) { return c->grid ? mbg__grid_time(c->grid, n) : c->t[n]; }

static double time_at(const mbg__criteria *c, int n) { return re(moment_at(c, n)); }

static sample sample_at(const mbg__criteria *c, double t) {
  int lo = 0, hi = c->nnode - 1;
  while (hi - lo > 1) {
    const int mid = (lo + hi) / 2;
    if (time_at(c, mid) <= t) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  const real h = c->nnode > 1 ? moment_at(c, lo + 1) - moment_at(c, lo) : 0;
  return (sample){lo, re(h) > 0 ? (t - moment_at(c, lo)) / h : 0};
}

/* where a row of y holds the signal of a column */
static int place_of(const mbg__criteria *c, int column) { return c->place ? c->place[column] : column; }

static real sample_value(const mbg__criteria *c, const accumulator *a, int i) {
  const sample s = sample_of(a, i);
  const real *y = c->y + (size_t)s.node * (size_t)c->width + (size_t)place_of(c, a->column);
  return s.s == 0 ? y[0] : (1 - s.s) * y[0] + s.s * y[c->width];
}

/* ---------------------------------------------------------------------- creation */

static int make_data(mbg_context *ctx, mbg__arena *arena, mbg__criteria *c, const mbg__criterion *k, accumulator *a) {
  const double first = time_at(c, 0), last = time_at(c, c->nnode - 1), slack = 1e-12 * fmax(fabs(first), fabs(last));
  a->samples = MBG_TAKE(arena, sample, k->nsample);
  a->value = MBG_TAKE(arena, double, k->nsample);
  a->weight = MBG_TAKE(arena, double, k->nsample);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < k->nsample; i++) {
    if (k->time[i] < first - slack || k->time[i] > last + slack) {
      continue;
    }
    a->samples[a->nsample] = sample_at(c, fmin(fmax(k->time[i], first), last));
    a->value[a->nsample] = k->value[i];
    a->weight[a->nsample++] = k->weight[i];
  }
  if (a->nsample == 0) {
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, &k->where, 0, "no sample lies between t = %g and %g", first, last);
  }
  return MBG_OK;
}

enum { PATH_MAX = 10000000 };

static int make_path(mbg_context *ctx, mbg__arena *arena, mbg__criteria *c, const mbg__criterion *k, accumulator *a) {
  const double first = time_at(c, 0), span = time_at(c, c->nnode - 1) - first;
  double n = c->nnode;
  if (k->every > 0) {
    n = floor(span / k->every * (1 + 1e-12)) + 1;
  }
  if (!(n <= PATH_MAX)) {
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, &k->where, 0, "\"every\": %g gives more than %d points", k->every,
                        PATH_MAX);
  }
  a->nsample = (int)n;
  if (!(k->every > 0)) {
    return MBG_OK;
  }
  a->samples = MBG_TAKE(arena, sample, a->nsample);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < a->nsample; i++) {
    a->samples[i] = sample_at(c, fmin(first + i * k->every, first + span));
  }
  return MBG_OK;
}

static int column_of(mbg__criteria *c, int signal) {
  for (int i = 0; i < c->nused; i++) {
    if (c->used[i] == signal) {
      return i;
    }
  }
  c->used[c->nused] = signal;
  return c->nused++;
}

static int take_scratch(mbg_context *ctx, mbg__arena *arena, mbg__criteria *c) {
  const mbg_model *m = c->model;
  size_t scratch = 1;
  int n = 1;
  for (int k = 0; k < m->ncriterion; k++) {
    if (m->criteria[k].kind == MBG__COMBINATION) {
      const size_t s = mbg__expr_scratch(m->criteria[k].expr);
      scratch = s > scratch ? s : scratch;
      n = m->criteria[k].ninput > n ? m->criteria[k].ninput : n;
    }
  }
  c->psi = MBG_TAKE(arena, real, m->ncriterion);
  c->bar = MBG_TAKE(arena, real, m->ncriterion);
  c->x = MBG_TAKE(arena, real, n);
  c->g = MBG_TAKE(arena, real, n);
  c->scratch = MBG_TAKE(arena, real, scratch);
  return mbg__arena_check(ctx, arena);
}

int mbg__criteria_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, int nnode, const real *t,
                         const mbg__node_grid *grid, mbg__criteria **out) {
  int err = MBG_OK;
  mbg__criteria *c = MBG_TAKE(arena, mbg__criteria, 1);
  int *used = MBG_TAKE(arena, int, m->ncriterion);
  accumulator *acc = MBG_TAKE(arena, accumulator, m->ncriterion);
  *out = c;
  MBG_TRY(mbg__arena_check(ctx, arena));
  *c = (mbg__criteria){.model = m, .nnode = nnode, .t = t, .grid = grid, .used = used, .acc = acc};
  for (int k = 0; k < m->ncriterion; k++) {
    const mbg__criterion *kr = &m->criteria[k];
    c->acc[k].column = kr->kind == MBG__COMBINATION ? -1 : column_of(c, kr->signal);
    if (kr->kind == MBG__LEAST_SQUARES) {
      MBG_TRY(make_data(ctx, arena, c, kr, &c->acc[k]));
    } else if (kr->kind == MBG__PATH) {
      MBG_TRY(make_path(ctx, arena, c, kr, &c->acc[k]));
    }
  }
  MBG_TRY(take_scratch(ctx, arena, c));
done:
  return err;
}

void mbg__criteria_warn(mbg_context *ctx, const mbg__criteria *c) {
  for (int k = 0; k < c->model->ncriterion; k++) {
    const mbg__criterion *kr = &c->model->criteria[k];
    if (kr->kind == MBG__LEAST_SQUARES && c->acc[k].nsample < kr->nsample) {
      mbg__note(ctx, MBG_WARNING, "criterion '%s': %d of %d samples lie outside the run and are left out", kr->name,
                kr->nsample - c->acc[k].nsample, kr->nsample);
    }
  }
}

void mbg__criteria_times(mbg__criteria *c, const real *t, const mbg__node_grid *grid) {
  c->t = t;
  c->grid = grid;
}

void mbg__criteria_events(mbg__criteria *c, int nfiring, const mbg__firing *firings) {
  c->nfiring = nfiring;
  c->firings = firings;
}

int mbg__criteria_signals(const mbg__criteria *c, const int **signal) {
  *signal = c->used;
  return c->nused;
}

/* ---------------------------------------------------------------------- values */

static real value_at(const mbg__criteria *c, int k, int n) {
  return c->y[(size_t)n * (size_t)c->width + (size_t)place_of(c, c->acc[k].column)];
}

static real omega_at(const mbg__criteria *c, int n) {
  return c->grid ? mbg__grid_omega(c->grid, n) : c->omega ? c->omega[n] : mbg__trapezoid(c->t, c->nnode, n);
}

static real integral(const mbg__criteria *c, int k) {
  const real staged = c->staged ? c->staged[c->acc[k].column] : 0;
  real s = 0;
  if (c->place) {
    return c->sum[c->acc[k].column] + staged;
  }
  for (int n = 0; n < c->nnode; n++) {
    s += omega_at(c, n) * value_at(c, k, n);
  }
  return s + staged;
}

static real least_squares(const mbg__criteria *c, int k) {
  const accumulator *a = &c->acc[k];
  real s = 0;
  for (int i = 0; i < a->nsample; i++) {
    const real r = sample_value(c, a, i) - a->value[i];
    s += 0.5 * a->weight[i] * r * r;
  }
  return s;
}

/* sum_n omega_n exp(k (y_n - y_max)), T and y_max: the shift keeps the exponentials in range */
static real exponential_sum(const mbg__criteria *c, int k, real *T, real *top) {
  real s = 0;
  *T = 0;
  *top = value_at(c, k, 0);
  for (int n = 1; n < c->nnode; n++) {
    *top = re(value_at(c, k, n)) > re(*top) ? value_at(c, k, n) : *top;
  }
  for (int n = 0; n < c->nnode; n++) {
    const real omega = omega_at(c, n);
    s += omega * r_exp(c->model->criteria[k].sharpness * (value_at(c, k, n) - *top));
    *T += omega;
  }
  return s;
}

static real smooth_maximum(const mbg__criteria *c, int k) {
  real T, top;
  const real s = exponential_sum(c, k, &T, &top);
  return top + r_log(s / T) / c->model->criteria[k].sharpness;
}

static int path_largest(const mbg__criteria *c, int k) {
  int best = 0;
  for (int i = 1; i < c->acc[k].nsample; i++) {
    if (re(mbg__criteria_path_value(c, k, i)) > re(mbg__criteria_path_value(c, k, best))) {
      best = i;
    }
  }
  return best;
}

static void gather(const mbg__criteria *c, const mbg__criterion *k) {
  for (int i = 0; i < k->ninput; i++) {
    const int j = k->input[i].index;
    c->x[i] = k->input[i].role == MBG__ROLE_SIGNAL ? c->psi[j] : c->attr[j];
  }
}

/* the next node at which criterion k takes its value, after firing *i (-1 at first), which becomes that of the node;
   -1: there is none */
static int event_node(const mbg__criteria *c, int k, int *i) {
  const mbg__criterion *kr = &c->model->criteria[k];
  int count = 0;
  for (int f = 0; f <= *i; f++) {
    count += c->firings[f].event == kr->event;
  }
  for (int f = *i + 1; f < c->nfiring; f++) {
    count += c->firings[f].event == kr->event;
    if (c->firings[f].event == kr->event && (kr->kind == MBG__SUM || count == kr->firing)) {
      const int after = c->firings[f].node + !kr->before;
      *i = f;
      return after < c->nnode ? after : c->nnode - 1;
    }
  }
  return -1;
}

/* the node of a terminal criterion, -1: its event did not happen */
static int terminal_node(const mbg__criteria *c, int k) {
  const mbg__criterion *kr = &c->model->criteria[k];
  int i = -1, last = -1;
  if (kr->event < 0) {
    return c->nnode - 1;
  }
  if (kr->firing > 0) {
    return event_node(c, k, &i);
  }
  for (int f = 0; f < c->nfiring; f++) {
    last = c->firings[f].event == kr->event ? f : last;
  }
  return last < 0                                         ? -1
         : c->firings[last].node + !kr->before < c->nnode ? c->firings[last].node + !kr->before
                                                          : c->nnode - 1;
}

static int no_event(mbg_context *ctx, const mbg__criteria *c, int k) {
  const mbg__criterion *kr = &c->model->criteria[k];
  return mbg__fail_at(ctx, MBG_ERROR_INPUT, &kr->where, 0,
                      kr->firing > 0 ? "event '%s' has fewer than %d firings in this run"
                                     : "event '%s' does not happen in this run",
                      c->model->events[kr->event].name, kr->firing);
}

static real sum_at(const mbg__criteria *c, int k) {
  real s = 0;
  for (int i = -1, n = event_node(c, k, &i); n >= 0; n = event_node(c, k, &i)) {
    s += value_at(c, k, n);
  }
  return s;
}

static int value(mbg_context *ctx, mbg__criteria *c, int k, real *psi) {
  const mbg__criterion *kr = &c->model->criteria[k];
  switch (kr->kind) {
  case MBG__TERMINAL:
    if (terminal_node(c, k) < 0) {
      return no_event(ctx, c, k);
    }
    *psi = c->place ? c->end[c->acc[k].column] : value_at(c, k, terminal_node(c, k));
    return MBG_OK;
  case MBG__SUM:
    *psi = sum_at(c, k);
    return MBG_OK;
  case MBG__INTEGRAL:
    *psi = integral(c, k);
    return MBG_OK;
  case MBG__LEAST_SQUARES:
    *psi = least_squares(c, k);
    return MBG_OK;
  case MBG__SMOOTH_MAXIMUM:
    *psi = smooth_maximum(c, k);
    return MBG_OK;
  case MBG__PATH:
    *psi = mbg__criteria_path_value(c, k, path_largest(c, k));
    return MBG_OK;
  default:
    gather(c, kr);
    return mbg__expr_value(ctx, kr->expr, c->x, c->scratch, psi);
  }
}

void mbg__criteria_places(mbg__criteria *c, const int *place, const real *end, const real *sum) {
  c->place = place;
  c->end = end;
  c->sum = sum;
}

void mbg__criteria_staged(mbg__criteria *c, const real *staged) { c->staged = staged; }

int mbg__criteria_values(mbg_context *ctx, mbg__criteria *c, const real *omega, int width, const real *y,
                         const real *attr, real *psi) {
  c->omega = omega;
  c->width = width;
  c->y = y;
  c->attr = attr;
  for (int k = 0; k < c->model->ncriterion; k++) {
    const int err = value(ctx, c, k, &c->psi[k]);
    if (err < 0) {
      return err;
    }
    psi[k] = c->psi[k];
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- seeds */

/* without arrays, seeds are counted */
static void add_point(mbg__seeds *seeds, int node, int column, real weight) {
  if (seeds->point) {
    seeds->point[seeds->npoint] = (mbg__point_seed){node, column, seeds->npoint, weight};
  }
  seeds->npoint++;
}

static void add_time(mbg__seeds *seeds, int node, real weight) {
  if (seeds->time) {
    seeds->time[seeds->ntime] = (mbg__time_seed){node, weight};
  }
  seeds->ntime++;
}

/* s = (t - t_n)/h moves with both nodes: by -(1 - s)/h and -s/h */
static void add_sample_times(const mbg__criteria *c, mbg__seeds *seeds, const accumulator *a, sample s, real weight) {
  const real h = moment_at(c, s.node + 1) - moment_at(c, s.node);
  const real *y = c->y + (size_t)s.node * (size_t)c->width + (size_t)place_of(c, a->column);
  const real slope = re(h) > 0 ? weight * (y[c->width] - y[0]) / h : 0;
  add_time(seeds, s.node, -(1 - s.s) * slope);
  add_time(seeds, s.node + 1, -s.s * slope);
}

static void add_sample(const mbg__criteria *c, mbg__seeds *seeds, const accumulator *a, int i, real weight) {
  const sample s = sample_of(a, i);
  if (c->nfiring > 0 && a->samples && s.node + 1 < c->nnode) {
    add_sample_times(c, seeds, a, s, weight);
  }
  add_point(seeds, s.node, a->column, (1 - s.s) * weight);
  if (s.s != 0) {
    add_point(seeds, s.node + 1, a->column, s.s * weight);
  }
}

static void add_density(mbg__seeds *seeds, const mbg__criteria *c, int k, real weight) {
  mbg__density_seed *d = seeds->density ? &seeds->density[seeds->ndensity] : NULL;
  seeds->ndensity++;
  if (!d) {
    return;
  }
  *d = (mbg__density_seed){.column = c->acc[k].column, .place = place_of(c, c->acc[k].column), .weight = weight};
  if (c->model->criteria[k].kind == MBG__SMOOTH_MAXIMUM) {
    real T;
    d->sharpness = c->model->criteria[k].sharpness;
    d->sum = exponential_sum(c, k, &T, &d->top);
  }
}

static void seed_own(const mbg__criteria *c, int k, real w, mbg__seeds *seeds) {
  const accumulator *a = &c->acc[k];
  switch (c->model->criteria[k].kind) {
  case MBG__TERMINAL:
    add_point(seeds, terminal_node(c, k), a->column, w);
    break;
  case MBG__SUM:
    for (int i = -1, n = event_node(c, k, &i); n >= 0; n = event_node(c, k, &i)) {
      add_point(seeds, n, a->column, w);
    }
    break;
  case MBG__INTEGRAL:
  case MBG__SMOOTH_MAXIMUM:
    add_density(seeds, c, k, w);
    break;
  case MBG__LEAST_SQUARES:
    for (int i = 0; i < a->nsample; i++) {
      add_sample(c, seeds, a, i, w * a->weight[i] * (sample_value(c, a, i) - a->value[i]));
    }
    break;
  default:
    add_sample(c, seeds, a, path_largest(c, k), w);
    break;
  }
}

/* bar of every accumulator behind the criteria first .. first+n-1: expressions refer to earlier criteria only */
static int weigh(mbg_context *ctx, mbg__criteria *c, int first, int n, const double *weight, real *ga) {
  memset(c->bar, 0, (size_t)c->model->ncriterion * sizeof(real));
  for (int k = 0; k < n; k++) {
    c->bar[first + k] = weight[k];
  }
  for (int i = first + n - 1; i >= 0; i--) {
    const mbg__criterion *kr = &c->model->criteria[i];
    real f;
    if (c->bar[i] == 0 || kr->kind != MBG__COMBINATION) {
      continue;
    }
    gather(c, kr);
    const int err = mbg__expr_gradient(ctx, kr->expr, c->x, c->scratch, &f, c->g);
    if (err < 0) {
      return err;
    }
    for (int j = 0; j < mbg__expr_ninputs(kr->expr); j++) {
      const int index = kr->input[j].index;
      if (kr->input[j].role == MBG__ROLE_SIGNAL) {
        c->bar[index] += c->bar[i] * c->g[j];
      } else if (ga) {
        ga[index] += c->bar[i] * c->g[j];
      }
    }
  }
  return MBG_OK;
}

static int by_node(const void *x, const void *y) {
  const mbg__point_seed *a = x, *b = y;
  return a->node != b->node ? (a->node > b->node) - (a->node < b->node) : (a->order > b->order) - (a->order < b->order);
}

/* arrays for what was counted */
static int take_seeds(mbg_context *ctx, mbg__arena *arena, mbg__seeds *seeds) {
  *seeds = (mbg__seeds){.point = MBG_TAKE(arena, mbg__point_seed, seeds->npoint),
                        .density = MBG_TAKE(arena, mbg__density_seed, seeds->ndensity),
                        .time = MBG_TAKE(arena, mbg__time_seed, seeds->ntime)};
  return mbg__arena_check(ctx, arena);
}

static void sort_seeds(mbg__seeds *seeds) {
  if (seeds->npoint > 1) {
    qsort(seeds->point, (size_t)seeds->npoint, sizeof(*seeds->point), by_node);
  }
}

/* criteria one after the other: sums of seeds are those of the criteria */
static int seed_all(mbg_context *ctx, mbg__criteria *c, int first, int n, const double *weight, mbg__seeds *seeds,
                    real *ga) {
  int err = MBG_OK;
  for (int k = first; k < first + n; k++) {
    if (weight[k - first] == 0) {
      continue;
    }
    MBG_TRY(weigh(ctx, c, k, 1, &weight[k - first], ga));
    for (int i = 0; i <= k; i++) {
      if (c->bar[i] != 0 && c->model->criteria[i].kind != MBG__COMBINATION) {
        seed_own(c, i, c->bar[i], seeds);
      }
    }
  }
done:
  return err;
}

int mbg__criteria_seeds(mbg_context *ctx, mbg__arena *arena, mbg__criteria *c, int first, int n, const double *weight,
                        mbg__seeds *seeds, real *ga) {
  int err = MBG_OK;
  *seeds = (mbg__seeds){0};
  MBG_TRY(seed_all(ctx, c, first, n, weight, seeds, NULL));
  MBG_TRY(take_seeds(ctx, arena, seeds));
  MBG_TRY(seed_all(ctx, c, first, n, weight, seeds, ga));
  sort_seeds(seeds);
done:
  return err;
}

int mbg__criteria_path_seeds(mbg_context *ctx, mbg__arena *arena, const mbg__criteria *c, int k, int npoint,
                             const int *point, const double *weight, mbg__seeds *seeds) {
  int err = MBG_OK;
  *seeds = (mbg__seeds){.npoint = 2 * npoint, .ntime = 2 * npoint};
  MBG_TRY(take_seeds(ctx, arena, seeds));
  for (int i = 0; i < npoint; i++) {
    add_sample(c, seeds, &c->acc[k], point[i], weight[i]);
  }
  sort_seeds(seeds);
done:
  return err;
}

int mbg__criteria_terms(mbg_context *ctx, mbg__criteria *c, int first, int n, const double *weight,
                        mbg__density_term *terms, int *count) {
  const int err = weigh(ctx, c, first, n, weight, NULL);
  *count = 0;
  for (int i = 0; err == MBG_OK && i < first + n; i++) {
    const mbg__criterion *kr = &c->model->criteria[i];
    mbg__density_term *term = &terms[*count];
    if (c->bar[i] == 0 || (kr->kind != MBG__INTEGRAL && kr->kind != MBG__SMOOTH_MAXIMUM)) {
      continue;
    }
    *term = (mbg__density_term){.column = c->acc[i].column, .factor = c->bar[i]};
    if (kr->kind == MBG__SMOOTH_MAXIMUM) {
      real T, top;
      term->factor /= exponential_sum(c, i, &T, &top);
      term->top = top;
      term->sharpness = kr->sharpness;
    }
    (*count)++;
  }
  return err;
}

/* ---------------------------------------------------------------------- samples */

int mbg__criteria_samples(const mbg__criteria *c, int k) { return c->acc[k].nsample; }

int mbg__criteria_column(const mbg__criteria *c, int k) { return c->acc[k].column; }

mbg__criteria_sample mbg__criteria_sample_at(const mbg__criteria *c, int k, int i) {
  const accumulator *a = &c->acc[k];
  return (mbg__criteria_sample){a->samples[i].node, re(a->samples[i].s), mbg__criteria_path_time(c, k, i), a->value[i],
                                a->weight[i]};
}

/* ---------------------------------------------------------------------- paths */

int mbg__criteria_path(const mbg__criteria *c, int k) { return c->acc[k].nsample; }

double mbg__criteria_path_time(const mbg__criteria *c, int k, int i) {
  const sample s = sample_of(&c->acc[k], i);
  const double x = re(s.s);
  return x == 0 ? time_at(c, s.node) : (1 - x) * time_at(c, s.node) + x * time_at(c, s.node + 1);
}

real mbg__criteria_path_value(const mbg__criteria *c, int k, int i) { return sample_value(c, &c->acc[k], i); }
