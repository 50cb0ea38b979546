/* Errors of largest values. A path is looked at in the nodes of a run; its peak lies between two of them, where the
   value is larger and the derivatives are others. Runs with finer steps often meet the same node again and do not see
   it. A parabola through the largest value and its neighbours, and a cubic through one node more, have a peak at
   t0 + s (t1 - t0), t1 the neighbour on that side: the value there is larger by `rise`, and derivatives change by
   s (g1 - g0). The higher peak counts. At an end of the run the vertex of the parabola may lie beyond it, and, within
   half a step, as far inside: the parabola does not know better. */
#include "run/run_internal.h"

/* vertex of the parabola through three points: its time; y there is *top */
static double vertex(const double t[3], const double y[3], double *top) {
  const double left = (y[1] - y[0]) / (t[1] - t[0]), right = (y[2] - y[1]) / (t[2] - t[1]);
  const double curve = (right - left) / (t[2] - t[0]); /* half the second derivative */
  const double slope = left + curve * (t[1] - t[0]);   /* at t[1] */
  if (!(curve < 0)) {
    *top = y[1];
    return t[1];
  }
  *top = y[1] - slope * slope / (4 * curve);
  return t[1] - slope / (2 * curve);
}

static int largest_node(const mbg_run *run, int column) {
  int best = 0;
  for (int i = 1; i < run->nodes.nnode; i++) {
    best = mbg__run_column(run, i, column) > mbg__run_column(run, best, column) ? i : best;
  }
  return best;
}

/* a peak near the largest node `at`: its time, and how much higher it is */
typedef struct {
  double t, rise;
} peak;

/* the nodes first ... first + count - 1; false: at a break values may jump */
static bool take_nodes(const mbg_run *run, int column, int first, int count, double *t, double *y) {
  bool rises = true;
  for (int i = 0; i < count; i++) {
    t[i] = mbg__nodes_time(&run->nodes, first + i);
    y[i] = mbg__run_column(run, first + i, column);
    rises = rises && (i == 0 || t[i] > t[i - 1]);
  }
  return rises;
}

static int clamp(int i, int most) { return i < 0 ? 0 : i > most ? most : i; }

static peak by_parabola(const mbg_run *run, int column, int at) {
  const int first = clamp(at - 1, run->nodes.nnode - 3);
  double t[3], y[3], top;
  if (!take_nodes(run, column, first, 3, t, y)) {
    return (peak){0};
  }
  const double when = vertex(t, y, &top);
  if (when < t[0] - 0.5 * (t[1] - t[0]) || when > t[2] + 0.5 * (t[2] - t[1])) {
    return (peak){0}; /* well beyond the end of the run */
  }
  const double inside = when < t[0] ? 2 * t[0] - when : when > t[2] ? 2 * t[2] - when : when;
  return (peak){inside, top - y[at - first]};
}

/* y0 + k1 s + k2 s^2 + k3 s^3 through four nodes, s = t - t0 */
static peak by_cubic(const mbg_run *run, int column, int at) {
  const int n = run->nodes.nnode, first = clamp(at - 1, n - 4);
  double t[4], y[4], d[4];
  if (n < 4 || !take_nodes(run, column, first, 4, t, y)) {
    return (peak){0};
  }
  for (int i = 0; i < 4; i++) {
    d[i] = y[i];
  }
  for (int k = 1; k < 4; k++) { /* divided differences */
    for (int i = 3; i >= k; i--) {
      d[i] = (d[i] - d[i - 1]) / (t[i] - t[i - k]);
    }
  }
  const double h1 = t[1] - t[0], h2 = t[2] - t[0];
  const double k1 = d[1] - d[2] * h1 + d[3] * h1 * h2, k2 = d[2] - d[3] * (h1 + h2), k3 = d[3];
  const double root = sqrt(k2 * k2 - 3 * k1 * k3), s = k1 / (root - k2); /* the stationary point that is a maximum */
  const double low = t[clamp(at - first - 1, 3)] - t[0], high = t[clamp(at - first + 1, 3)] - t[0];
  if (!(s > low && s < high)) {
    return (peak){0}; /* NaN: there is none */
  }
  return (peak){t[0] + s, y[0] + s * (k1 + s * (k2 + s * k3)) - y[at - first]};
}

int mbg__run_peak(mbg_context *ctx, mbg_run *run, mbg_method method, int k, double *rise, double *shift) {
  const mbg__criterion *c = &run->m->criteria[k];
  const int n = c->kind == MBG__PATH && !(c->every > 0) ? run->nodes.nnode : 0; /* points of a path are the nodes */
  *rise = 0;
  if (n < 3) {
    return MBG_OK;
  }
  const int column = mbg__criteria_column(run->criteria, k), at = largest_node(run, column);
  const peak a = by_parabola(run, column, at), b = by_cubic(run, column, at), best = b.rise > a.rise ? b : a;
  if (!(best.rise > 0)) {
    return MBG_OK;
  }
  *rise = best.rise;
  const double t = mbg__nodes_time(&run->nodes, at);
  const int side = best.t > t ? 1 : -1;
  const double part = fmin((best.t - t) / (mbg__nodes_time(&run->nodes, at + side) - t), 1), weight[2] = {-part, part};
  const int point[2] = {at, at + side};
  const mbg__gradient_row row = {.criterion = k, .npoint = 2, .point = point, .weight = weight};
  return shift ? mbg__run_gradient_rows(ctx, run, method, 1, &row, shift, NULL) : MBG_OK;
}
