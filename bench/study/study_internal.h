/* What the files of the study share. */
#ifndef STUDY_INTERNAL_H
#define STUDY_INTERNAL_H

#include "bench/study/study.h"
#include "formulations/qr/qr_work.h"
#include "math/dense.h"
#include "math/householder.h"

struct study {
  mbg__arena arena;
  mbg_allocator allocator;
  mbg_run *run;
  mbg__formulation_work *w;
  study_kind kind;
  double perturbation;
  int n, r, f;          /* free velocities, kept rows, freedoms */
  mbg__qr_point *other; /* evaluated beside the flow's point */
  mbg__frame *H;        /*                                              (nbody) */
  double *v;            /*                                              (nw) */
  double *J;            /* of (v*, a, lambda of the kept rows) by (frames, twists)   ((2n + r) x 2n) */
  double *base;         /* (v*, a, lambda) without perturbation         (2n + r) */
  long evaluations;     /* of the other point */
  /* factors (study_factors.c) */
  mbg__householder qr;
  mbg__cholesky Mr;
  double *B;                  /* values by the system's pattern */
  double *Q2, *N, *M, *MQ2;   /*                          (n x f, n x r, n x n, n x f) */
  double *dB;                 /* of every direction       (n of r x n) */
  double *dphi_t, *df, *dgam; /* of every direction       (n x r, 2n x n, 2n x r) */
  double *dQ2, *dN;           /* of one direction         (n x f, n x r) */
  /* the algorithm and its derivative (study_algorithm.c) */
  double *A, *dA;                           /* B^T, becomes R                                 (n x r) */
  double *V, *dV;                           /* reflections 1 - b v v^T                        (n x r) */
  double *b, *db;                           /*                                                (r) */
  double *column[2];                        /* of Q and of dQ                                 (n) */
  double *parts;                            /* of all directions        (6n + 2r) */
  double *square, *small, *third, *vectors; /* scratch                  (n x n and 2n, n x n, n x n, 3n) */
  double *full, *full2, *rows, *rows2;      /*                          (nw, nw, nrow, nrow) */
};

/* Fills J at the state of the flow's last evaluation. */
int study_differences(mbg_context *ctx, study *s);
/* B^T of the kept rows (n x r). */
void study_fill_B_T(const study *s, double *A);
/* Q2 and N of B^T (n x r) by Householder's algorithm, with their derivatives dQ2 and dN for a change dB (r x n; NULL:
   none): each of its operations is differentiated. */
int study_algorithm_prepare(mbg_context *ctx, study *s);
void study_algorithm(study *s, const double *dB);
int study_factors_prepare(mbg_context *ctx, study *s);
int study_factors(mbg_context *ctx, study *s);

#endif
