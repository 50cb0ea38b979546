/* hessian_columns: products along many directions, in threads. */
#ifndef MBG_HESSIAN_HESSIAN_COLUMNS_H
#define MBG_HESSIAN_HESSIAN_COLUMNS_H

#include "hessian/complex_run.h"
#include "hessian/hessian.h"

enum { MBG__HESSIAN_THREADS = 256 };

/* A thread with a complex run of its own. */
typedef struct {
  mbg_context *ctx;
  mbg__complex_run *run;
  double *gradient; /* (np) */
  int status;
} mbg__hessian_worker;

struct mbg_hessian {
  mbg__arena arena;
  mbg_run *run;
  mbg__kernels kernels;
  mbg__run_decisions decisions, shared; /* of one run; of each of the workers: one thread, a part of the memory */
  mbg__complex_run *complex_run;
  double *p, *gradient; /* (np) */
  int nworker;          /* 0: none are made yet */
  mbg__hessian_worker *workers;
};

/* As mbg_hessian_products, of a run and weights that were checked, at p of the Hessian. */
int mbg__hessian_columns(mbg_context *ctx, mbg_hessian *h, int nsum, const double *weights, int n,
                         const double *directions, double *products);
void mbg__hessian_drop_workers(mbg_hessian *h);
/* Every entry (np) of a product is finite, or an error names the parameter. */
int mbg__hessian_check_product(mbg_context *ctx, const mbg_hessian *h, const double *product);

#endif
