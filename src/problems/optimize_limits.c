/* Objective and constraints from the values of the load cases; which points of paths are constraints of a solve. */
#include "problems/optimize.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- values */

double mbg__optimize_objective(const mbg_optimize *opt) {
  double sum = 0, worst = -INFINITY;
  for (int k = 0; k < opt->ncase; k++) {
    const mbg__case *c = &opt->load[k];
    if (c->objective >= 0) {
      sum += c->shown.weight * c->value[c->objective];
      worst = fmax(worst, c->shown.weight * c->value[c->objective]);
    }
  }
  return opt->task->worst ? worst : sum;
}

static double mean_of(const mbg_optimize *opt, const mbg__task_limit *l) {
  double sum = 0, total = 0;
  for (int k = 0; k < l->nmean; k++) {
    for (int i = 0; i < l->means[k].count; i++) {
      sum += l->means[k].weight * opt->p[l->means[k].first + i];
      total += l->means[k].weight;
    }
  }
  return sum / total;
}

double mbg__limit_value(const mbg_optimize *opt, const mbg__limit *l, int k) {
  if (l->load < 0) {
    return mean_of(opt, l->of);
  }
  const mbg__case *c = &opt->load[l->load];
  return c->value[l->path ? c->path[l->of->criterion] + k : l->of->criterion];
}

double mbg__limit_c(const mbg_optimize *opt, const mbg__limit *l, int k) {
  return (l->side ? l->side : 1) * (mbg__limit_value(opt, l, k) - l->bound) / l->scale;
}

double mbg__limit_time(const mbg_optimize *opt, const mbg__limit *l, int k) {
  if (!l->path) {
    return NAN;
  }
  const mbg__case *c = &opt->load[l->load];
  return c->time[c->path[l->of->criterion] + k];
}

/* (1/kappa) ln sum_k exp(kappa (c_k - c_max)) + c_max: never less than the largest (theory 4, section 9) */
double mbg__limit_aggregate(const mbg_optimize *opt, const mbg__limit *l, double *soft) {
  double top = -INFINITY, sum = 0;
  const double kappa = l->of->aggregate;
  for (int k = 0; k < l->npoint; k++) {
    top = fmax(top, mbg__limit_c(opt, l, k));
  }
  for (int k = 0; k < l->npoint; k++) {
    soft[k] = exp(kappa * (mbg__limit_c(opt, l, k) - top));
    sum += soft[k];
  }
  for (int k = 0; k < l->npoint; k++) {
    soft[k] *= l->side / (l->scale * sum);
  }
  return top + log(sum) / kappa;
}

void mbg__optimize_constraints(mbg_optimize *opt, const double *x, double *c) {
  int row = 0;
  for (int k = 0; opt->task->worst && k < opt->ncase; k++) {
    const mbg__case *load = &opt->load[k];
    if (load->objective >= 0) {
      c[row++] = load->shown.weight * load->value[load->objective] / opt->f_scale - x[opt->n];
    }
  }
  for (int i = 0; i < opt->nlimit; i++) {
    const mbg__limit *l = &opt->limit[i];
    if (l->aggregated) {
      c[row++] = mbg__limit_aggregate(opt, l, l->soft);
    } else if (!l->path) {
      c[row++] = mbg__limit_c(opt, l, 0);
    }
    for (int k = 0; l->path && !l->aggregated && k < l->nlisted; k++) {
      c[row++] = mbg__limit_c(opt, l, l->listed[k]);
    }
  }
}

static double violation_of(const mbg__limit *l, double c) { return l->side ? fmax(c, 0) : fabs(c); }

double mbg__optimize_violation(const mbg_optimize *opt) {
  double worst = 0;
  for (int i = 0; i < opt->nlimit; i++) {
    const mbg__limit *l = &opt->limit[i];
    for (int k = 0; k < l->npoint; k++) {
      worst = fmax(worst, violation_of(l, mbg__limit_c(opt, l, k)));
    }
  }
  return worst;
}

/* ---------------------------------------------------------------------- points that may become active */

/* relative distance from the limit, or from the largest value, at which a point is a candidate; most of them in a
   solve */
static const double near_limit = 0.05;
enum { LISTED_MAX = 20 };

static bool is_listed(const mbg__limit *l, int k) {
  for (int i = 0; i < l->nlisted; i++) {
    if (l->listed[i] == k) {
      return true;
    }
  }
  return false;
}

static bool peak(const mbg_optimize *opt, const mbg__limit *l, int k) {
  const double c = mbg__limit_c(opt, l, k);
  return (k == 0 || mbg__limit_c(opt, l, k - 1) <= c) && (k == l->npoint - 1 || mbg__limit_c(opt, l, k + 1) <= c);
}

/* a local maximum, or beside one */
static bool near_peak(const mbg_optimize *opt, const mbg__limit *l, int k) {
  return peak(opt, l, k) || (k > 0 && peak(opt, l, k - 1)) || (k < l->npoint - 1 && peak(opt, l, k + 1));
}

typedef struct {
  int point;
  double c;
  bool peak;
} candidate;

/* peaks and their neighbours first, then by size */
static int by_rank(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->peak != y->peak) {
    return x->peak ? -1 : 1;
  }
  return x->c != y->c ? (x->c < y->c ? 1 : -1) : x->point - y->point;
}

static int by_time(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The rule of theory 4, section 9: near the largest value and near a peak, or near the limit. What was listed stays. */
static int select_points(mbg_context *ctx, mbg_optimize *opt, mbg__limit *l) {
  int n = 0;
  double top = -INFINITY;
  candidate *list = mbg__alloc(ctx, (size_t)l->npoint + 1, sizeof(*list));
  if (!list) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < l->npoint; k++) {
    top = fmax(top, mbg__limit_c(opt, l, k));
  }
  for (int k = 0; k < l->npoint; k++) {
    const double c = mbg__limit_c(opt, l, k);
    const bool high = near_peak(opt, l, k);
    if (!is_listed(l, k) && ((high && c >= top - near_limit) || c > -near_limit)) {
      list[n++] = (candidate){k, c, high};
    }
  }
  qsort(list, (size_t)n, sizeof(*list), by_rank);
  for (int i = 0; i < n && i < LISTED_MAX; i++) {
    l->listed[l->nlisted++] = list[i].point;
  }
  qsort(l->listed, (size_t)l->nlisted, sizeof(int), by_time);
  mbg__free(ctx, list);
  return MBG_OK;
}

int mbg__optimize_select(mbg_context *ctx, mbg_optimize *opt) {
  int err = MBG_OK;
  opt->m = 0;
  for (int k = 0; opt->task->worst && k < opt->ncase; k++) {
    opt->m += opt->load[k].objective >= 0;
  }
  for (int i = 0; i < opt->nlimit; i++) {
    mbg__limit *l = &opt->limit[i];
    if (l->path && !l->aggregated) {
      MBG_TRY(select_points(ctx, opt, l));
    }
    l->row = opt->m;
    opt->m += l->path && !l->aggregated ? l->nlisted : 1;
  }
  mbg__arena_destroy(&opt->solve);
  opt->equal = MBG_TAKE(&opt->solve, bool, opt->m + 1);
  MBG_TRY(mbg__arena_check(ctx, &opt->solve));
  for (int i = 0; i < opt->nlimit; i++) {
    opt->equal[opt->limit[i].row] = opt->limit[i].side == 0;
  }
done:
  return err;
}

double mbg__optimize_unlisted(const mbg_optimize *opt) {
  double worst = 0;
  for (int i = 0; i < opt->nlimit; i++) {
    const mbg__limit *l = &opt->limit[i];
    for (int k = 0; l->path && !l->aggregated && k < l->npoint; k++) {
      const double c = mbg__limit_c(opt, l, k);
      worst = c > worst && !is_listed(l, k) ? c : worst;
    }
  }
  return worst;
}

/* ---------------------------------------------------------------------- making them */

/* size of a quantity: given, else its limit, else its value at the start */
static double scale_of(const mbg_optimize *opt, const mbg__limit *l) {
  double size = fabs(l->bound);
  for (int k = 0; size == 0 && k < l->npoint; k++) {
    size = fmax(size, fabs(mbg__limit_value(opt, l, k)));
  }
  return !isnan(l->of->scale) ? l->of->scale : size > 0 ? size : 1;
}

static int make_limit(mbg_context *ctx, mbg_optimize *opt, const mbg__task_limit *of, int load, int side,
                      double bound) {
  mbg__limit *l = &opt->limit[opt->nlimit++];
  const mbg__case *c = load >= 0 ? &opt->load[load] : NULL;
  *l = (mbg__limit){.of = of, .load = load, .side = side, .bound = bound, .npoint = 1};
  l->path = c && c->model->criteria[of->criterion].kind == MBG__PATH;
  l->aggregated = l->path && of->aggregate > 0;
  if (l->path) {
    l->npoint = c->npath[of->criterion];
    opt->summary.points += l->npoint;
  }
  l->listed = MBG_TAKE(&opt->arena, int, l->npoint + 1);
  l->point = MBG_TAKE(&opt->arena, int, l->npoint + 1);
  l->known = MBG_TAKE(&opt->arena, bool, l->npoint + 1);
  l->soft = MBG_TAKE(&opt->arena, double, l->npoint + 1);
  if (opt->arena.failed) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < l->npoint; k++) {
    l->point[k] = k;
  }
  l->scale = scale_of(opt, l);
  l->shown = (mbg_optimize_constraint){.name = of->name,
                                       .run = c ? c->shown.run : NULL,
                                       .kind = side > 0   ? "max"
                                               : side < 0 ? "min"
                                                          : "equal",
                                       .limit = bound,
                                       .scale = l->scale,
                                       .path = l->path,
                                       .points = l->npoint};
  return MBG_OK;
}

static int make_sides(mbg_context *ctx, mbg_optimize *opt, const mbg__task_limit *of, int load) {
  int err = MBG_OK;
  if (isfinite(of->min)) {
    MBG_TRY(make_limit(ctx, opt, of, load, -1, of->min));
  }
  if (isfinite(of->max)) {
    MBG_TRY(make_limit(ctx, opt, of, load, 1, of->max));
  }
  if (!isnan(of->equal)) {
    MBG_TRY(make_limit(ctx, opt, of, load, 0, of->equal));
  }
done:
  return err;
}

int mbg__optimize_make_limits(mbg_context *ctx, mbg_optimize *opt) {
  int err = MBG_OK;
  opt->limit = MBG_TAKE(&opt->arena, mbg__limit, 2 * opt->task->nlimit * opt->ncase + 1);
  MBG_TRY(mbg__arena_check(ctx, &opt->arena));
  for (int i = 0; i < opt->task->nlimit; i++) {
    bool found = opt->task->limits[i].nmean > 0;
    if (found) {
      MBG_TRY(make_sides(ctx, opt, &opt->task->limits[i], -1));
      continue;
    }
    for (int k = 0; k < opt->ncase; k++) {
      const mbg__task_limit *of = &opt->load[k].model->optimize.limits[i];
      if (of->criterion >= 0) {
        MBG_TRY(make_sides(ctx, opt, of, k));
        found = true;
      }
    }
    if (!found) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &opt->task->limits[i].where, 0, "no run has the criterion '%s'",
                          opt->task->limits[i].name);
    }
  }
done:
  return err;
}
