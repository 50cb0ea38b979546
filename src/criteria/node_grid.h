/* node_grid: times and weights of the nodes of a run that nobody looks at. Most steps have the same nodes: the points
   of a Gauss-Kronrod rule and the end, or the end alone. Their times follow from the ends of the steps. The nodes of
   all other steps, which samples or halved panels make odd, are listed. */
#ifndef MBG_CRITERIA_NODE_GRID_H
#define MBG_CRITERIA_NODE_GRID_H

#include "base/base.h"

/* Kronrod's extension of Gauss' rule of three points (points 1, 3, 5): exact to degree 11 (5). A. S. Kronrod 1965. */
enum { MBG__KRONROD = 7 };
extern const double mbg__kronrod_point[MBG__KRONROD], mbg__kronrod_weight[MBG__KRONROD];

typedef struct {
  int step, first, count; /* nodes first, ... of a step; step 0 is the start */
  int entry;              /* of the first */
} mbg__odd_step;

typedef struct {
  double *const *ends; /* step k lasts from (*ends)[k-1] to (*ends)[k] */
  int per;             /* nodes of a regular step */
  int nodd;
  const mbg__odd_step *odd; /* ascending, the start first                  (nodd) */
  const real *t;            /* of the nodes of odd steps */
  const real *omega;
} mbg__node_grid;

/* Time and weight of point p = 0 ... per - 1 of a regular step. */
double mbg__grid_point_time(int per, double ta, double tb, int p);
double mbg__grid_point_weight(int per, double ta, double tb, int p);

/* Time and weight of a node. */
double mbg__grid_time(const mbg__node_grid *g, int node);
real mbg__grid_omega(const mbg__node_grid *g, int node);

#endif
