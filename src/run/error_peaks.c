/* Errors of largest values. A path is looked at in the nodes of a run; its peak lies between two of them, where the
   value is larger and the derivatives are others. Runs with finer steps often meet the same node again and do not see
   it. A parabola through the largest value and its neighbours has its vertex at t0 + s (t1 - t0), t1 the neighbour on
   that side: the value there is larger by `rise`, and derivatives change by s (g1 - g0). */
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

int mbg__run_peak(mbg_context *ctx, mbg_run *run, mbg_method method, int k, double *rise, double *shift) {
  const mbg__criterion *c = &run->m->criteria[k];
  const int n = c->kind == MBG__PATH && !(c->every > 0) ? run->nodes.nnode : 0; /* points of a path are the nodes */
  const int column = n >= 3 ? mbg__criteria_column(run->criteria, k) : -1, at = n >= 3 ? largest_node(run, column) : 0;
  const int first = at == 0 ? 0 : at == n - 1 ? n - 3 : at - 1;
  double t[3], y[3], top;
  *rise = 0;
  for (int i = 0; i < 3 && n >= 3; i++) {
    t[i] = mbg__nodes_time(&run->nodes, first + i);
    y[i] = mbg__run_column(run, first + i, column);
  }
  if (n < 3 || !(t[1] > t[0] && t[2] > t[1])) {
    return MBG_OK; /* at a break values may jump */
  }
  const double when = vertex(t, y, &top), s = when - mbg__nodes_time(&run->nodes, at);
  if (s == 0 || when < t[0] || when > t[2]) {
    return MBG_OK; /* at a node, or beyond the end of the run */
  }
  const int side = s > 0 ? 1 : -1;
  *rise = top - y[at - first];
  const double part = fmin(s / (mbg__nodes_time(&run->nodes, at + side) - mbg__nodes_time(&run->nodes, at)), 1),
               weight[2] = {-part, part};
  const int point[2] = {at, at + side};
  const mbg__gradient_row row = {.criterion = k, .npoint = 2, .point = point, .weight = weight};
  return shift ? mbg__run_gradient_rows(ctx, run, method, 1, &row, shift, NULL) : MBG_OK;
}
