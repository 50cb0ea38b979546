/* complex_run: runs in complex numbers, for derivatives of gradients (theory 9).

   The sources up to `run` are compiled a second time for complex numbers and linked into the library with these
   functions among their few entries. The adjoint gradient at p + i s d, s = 1e-30, has the derivative of the gradient
   along d as its imaginary part over s: exact for the steps made, without truncation. Elements, signals and criteria
   need nothing of their own for it. */
#ifndef MBG_HESSIAN_COMPLEX_RUN_H
#define MBG_HESSIAN_COMPLEX_RUN_H

#include "run/repeat.h"
#include "system/kernels.h"

typedef struct mbg__complex_run mbg__complex_run;

/* model and decisions: of a run in real numbers, whose nodes, steps and kept rows are repeated; referenced. kernels:
   the types of the model, those of the real compilation. */
int mbg__complex_run_create(mbg_context *ctx, const mbg_model *model, const mbg__kernels *kernels,
                            const mbg__run_decisions *decisions, mbg__complex_run **out);
void mbg__complex_run_destroy(mbg__complex_run *run); /* accepts NULL */

/* Simulates at p (np) along d (np). */
int mbg__complex_run_simulate(mbg_context *ctx, mbg__complex_run *run, const double *p, const double *d);
/* Of the simulated run: gradient (np) of the sum of the rows and its derivative (np); of the gradient by every
   attribute the derivative too (na), when the rows have room for them (NULL: not wanted). */
int mbg__complex_run_gradient(mbg_context *ctx, mbg__complex_run *run, int nrow, const mbg__gradient_row *rows,
                              double *gradient, double *product, double *attributes);

#endif
