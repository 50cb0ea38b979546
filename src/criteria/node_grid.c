#include "criteria/node_grid.h"

const double mbg__kronrod_point[MBG__KRONROD] = {-0.960491268708020283, -0.774596669241483377, -0.434243749346802558, 0,
                                                 0.434243749346802558,  0.774596669241483377,  0.960491268708020283};
const double mbg__kronrod_weight[MBG__KRONROD] = {0.104656226026467265, 0.268488089868333441, 0.401397414775962223,
                                                  0.450916538658474142, 0.401397414775962223, 0.268488089868333441,
                                                  0.104656226026467265};

double mbg__grid_point_time(int per, double ta, double tb, int p) {
  const double h = tb - ta;
  return p == per - 1 ? tb : ta + h * (1 + mbg__kronrod_point[p]) / 2;
}

double mbg__grid_point_weight(int per, double ta, double tb, int p) {
  const double h = tb - ta;
  return p == per - 1 ? 0 : h / 2 * mbg__kronrod_weight[p];
}

/* the last odd step that begins at the node or before; in it, the entry of the node, else a step and a point in it */
typedef struct {
  int entry, step, point;
} node_place;

static node_place place_of(const mbg__node_grid *g, int node) {
  int lo = 0, hi = g->nodd;
  while (hi - lo > 1) {
    const int mid = lo + (hi - lo) / 2;
    *(g->odd[mid].first <= node ? &lo : &hi) = mid;
  }
  const mbg__odd_step *o = &g->odd[lo];
  const int inside = node - o->first, beyond = inside - o->count;
  return beyond < 0 ? (node_place){.entry = o->entry + inside}
                    : (node_place){-1, o->step + 1 + beyond / g->per, beyond % g->per};
}

double mbg__grid_time(const mbg__node_grid *g, int node) {
  const node_place x = place_of(g, node);
  return x.entry >= 0 ? (double)re(g->t[x.entry])
                      : mbg__grid_point_time(g->per, (*g->ends)[x.step - 1], (*g->ends)[x.step], x.point);
}

real mbg__grid_omega(const mbg__node_grid *g, int node) {
  const node_place x = place_of(g, node);
  return x.entry >= 0 ? g->omega[x.entry]
                      : mbg__grid_point_weight(g->per, (*g->ends)[x.step - 1], (*g->ends)[x.step], x.point);
}
