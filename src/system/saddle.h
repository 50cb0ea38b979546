/* saddle: sparse systems [[A, B^T], [B, D]] over free velocities and rows (and further rows, the pins of a start), with
   one pattern for the whole run. Rows that are not kept become x = 0, so that the size never changes. */
#ifndef MBG_SYSTEM_SADDLE_H
#define MBG_SYSTEM_SADDLE_H

#include "system/system.h"

/* Metric of component k of a body's velocity, W = 1 for translation and size^2 for rotation. */
static inline double mbg__metric(const mbg_model *m, int k) { return k >= 3 && k < 6 ? m->size * m->size : 1; }

/* ... of all free velocities (nv). */
void mbg__metric_free(const mbg_model *m, double *W);

typedef struct {
  const mbg__system *sys;
  int n; /* nv + nrow + nextra */
  int nextra;
  mbg__csc A;
  int *slotK;       /* entries of the pattern of K                            (nnz K) */
  int *slotB[2];    /* entries of B (lower left) and B^T (upper right)        (nnz B) */
  int *slotL;       /* late rates by multipliers                              (nlate x nrow) */
  int *slotD;       /* diagonal of rows and further rows                      (nrow + nextra) */
  int *(*slotE)[2]; /* [further row][row, column]: free velocities of the bodies of its pair  (nextra) */
  real *row;        /* scratch                                                (nw) */
  real *rest;       /* scratch                                                (2 n) */
  const int *extra; /* pair of each further row                               (nextra) */
  mbg__klu *klu;
} mbg__saddle;

/* extra: pairs of the further rows; referenced (NULL when nextra = 0). Memory in the arena, factors by KLU. */
int mbg__saddle_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, int nextra, const int *extra,
                       mbg__klu_mode mode, mbg__saddle *out);
void mbg__saddle_destroy(mbg__saddle *s);

/* Filling: clear, then add. Values are ordered by the patterns of the system. */
void mbg__saddle_clear(mbg__saddle *s);
void mbg__saddle_add_K(mbg__saddle *s, real c, const real *K);
/* c0 A + c1 B + c2 C */
void mbg__saddle_add_sum(mbg__saddle *s, const real c[3], const real *A, const real *B, const real *C);
void mbg__saddle_add_body(mbg__saddle *s, int body, real c, const real A[36]);
/* c W */
void mbg__saddle_add_metric(mbg__saddle *s, real c);
/* lower and upper: values of B in the lower left and (transposed) in the upper right block; keep (nrow) NULL: all;
   diagonal (nrow) NULL: 0. */
void mbg__saddle_add_rows(mbg__saddle *s, const real *lower, const real *upper, const bool *keep, const real *diagonal);
/* late: derivatives of late rates by multipliers (mbg__matrices). */
void mbg__saddle_add_late(mbg__saddle *s, const real *late, const bool *keep);
/* Further row k with its gradient on the relative variation of its pair; inactive: x = 0. After update. */
void mbg__saddle_add_extra(mbg__saddle *s, int k, const real gradient[6], bool active, real diagonal);

/* Factors; a singular system is reported as "WHAT: the system is singular (look at body '...')". */
int mbg__saddle_factor(mbg_context *ctx, mbg__saddle *s, const char *what);

/* x (n x count) <- A^-1 x, or A^-T x, by the factors of A as it stands. refine: for rows that nearly depend on each
   other. The factors have the squared condition of the rows; corrections from residuals, as long as those of the first
   nv entries become smaller, leave the simple one. */
void mbg__saddle_solve(mbg__saddle *s, bool transposed, bool refine, real *x, int count);

/* out = in * blockdiag(T) on the columns of a matrix with the pattern of K or of B; T: nbody matrices 6x6. */
void mbg__columns_times(const mbg__system *sys, const mbg__csc *pattern, const real *in, const real *T, real *out);
/* The free columns of a body in a pattern: their number, first entries, components, and entries of each. */
int mbg__body_columns(const mbg__system *sys, const mbg__csc *pattern, int body, int start[6], int comp[6], int *count);

#endif
