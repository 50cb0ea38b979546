/* Shared by rank_watch.c and rank_watch_words.c. */
#ifndef MBG_TRAJECTORY_RANK_WATCH_INTERNAL_H
#define MBG_TRAJECTORY_RANK_WATCH_INTERNAL_H

#include "math/householder.h"
#include "system/saddle.h"
#include "trajectory/rank_watch.h"

/* sigma at a time, with its singular vectors */
typedef struct {
  double t, sigma;
  bool sharp; /* the vectors have converged */
  double *y;  /* over rows of unit length         (nrow) */
  double *x;  /* velocities, in world axes        (nw) */
} mbg__rank_sample;

struct mbg__rank_watch {
  mbg__arena arena;
  const mbg_model *m;
  mbg__system *sys;
  const mbg__rank *rank;
  mbg__saddle saddle; /* of many rows; else the factors Q R of W^-1/2 B^T L^-1, L: lengths of the rows */
  bool small;
  const mbg__rank_watch_plane *flat; /* of the step at hand, NULL: the system is looked at */
  mbg__householder qr;
  int *column;  /* of a row in R, -1: dropped                (nrow) */
  real *k;      /* scratch for R                             (nkept) */
  double *root; /* of W                                      (nv) */
  double *unit; /* of the kept rows: 1/length                (nkept) */
  real *B;
  double *length; /* of the rows                              (nrow) */
  double *W;      /* metric of free velocities                (nv) */
  double *seed;   /* a fixed vector without symmetry          (nrow) */
  double *z;      /*                                          (nrow) */
  real *b;        /*                                          (nv + nrow) */
  mbg__rank_sample at[2];
  int now;      /* the last sample */
  int count;    /* samples of the run */
  double rate;  /* of sigma, before the last sample */
  double next;  /* time of the next sample */
  int passages; /* of singular positions */
  double when;  /* ... time and row of the first one */
  int passed_row;
  int split; /* parameter without a gradient, -1: none */
  double split_t;
  double least, least_t; /* smallest sigma */
  int least_row;
  /* the state, while rows are added that a formulation leaves out */
  mbg__frame *H;
  real *v, *vd, *lambda; /*                                  (nw), (nw), (nrow) */
  int *turns;
  real *rows, *ga, *gp, *dp; /*                              (nrow), (na), (np), (np) */
};

/* The row with the largest part in y (nrow). */
int mbg__rank_watch_row(const mbg__rank_watch *watch, const double *y);

#endif
