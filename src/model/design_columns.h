/* design_columns: da/dp by parameter, for direct differentiation: one column at a time is laid into a vector of
   attributes that is zero otherwise. Curvatures of cubic controls follow from the samples in the column. */
#ifndef MBG_MODEL_DESIGN_COLUMNS_H
#define MBG_MODEL_DESIGN_COLUMNS_H

#include "model/design.h"

typedef struct {
  const mbg__design *design;
  int *start, *attr; /* attributes that depend on a parameter            (np + 1, nnz) */
  int *entry;        /* place of each in design->val                     (nnz) */
  int *curved;       /* cubic control it is sampled in, -1: none, -2: several (np) */
} mbg__design_columns;

/* The design is referenced; its pattern is constant. Memory in the arena. */
int mbg__design_columns_make(mbg_context *ctx, mbg__arena *arena, const mbg__design *design, mbg__design_columns *out);

/* How many columns: directions of the design, or its parameters. */
static inline int mbg__design_column_count(const mbg__design *design) {
  return design->directions ? design->directions->n : design->model->np;
}

/* dy (one number a column) += the columns times ga (na). */
void mbg__design_columns_pull(const mbg__design *design, const real *ga, real *dy);

/* Is column p no more than its list of attributes? Then its product with ga (na). */
static inline bool mbg__design_column_listed(const mbg__design_columns *c, int p) {
  return !c->design->directions && c->curved[p] == -1;
}
static inline real mbg__design_column_dot(const mbg__design_columns *c, int p, const real *ga) {
  real sum = 0;
  for (int e = c->start[p]; e < c->start[p + 1]; e++) {
    sum += c->design->val[c->entry[e]] * ga[c->attr[e]];
  }
  return sum;
}

/* Column p into da (na), which is zero there; and zero again. */
void mbg__design_column_lay(const mbg__design_columns *c, int p, real *da);
void mbg__design_column_clear(const mbg__design_columns *c, int p, real *da);

#endif
