/* Runs of the alpha stepper over a grid: what `lie` and `dae` have in common. */
#ifndef MBG_FORMULATIONS_ALPHA_ALPHA_RUN_H
#define MBG_FORMULATIONS_ALPHA_ALPHA_RUN_H

#include "formulations/alpha/alpha.h"
#include "formulations/formulation.h"

/* The table's functions; `prepare` of a formulation chooses the coefficients. */
int mbg__alpha_run_prepare(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan,
                           mbg__alpha_coefs coefs, int nused, const int *used, mbg__formulation_work **out);
int mbg__alpha_run_simulate(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes);
int mbg__alpha_run_tangent(mbg_context *ctx, mbg__formulation_work *w,
                           int (*take)(void *user, int node, const real *dy), void *user);
int mbg__alpha_run_adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg__method method, int ncrit,
                           const mbg__criterion_seeds *seeds, real *psi_a);
int mbg__alpha_run_last(const mbg__formulation_work *w, double *t, mbg__frame *H, real *v, int *turns);
const mbg__work_counts *mbg__alpha_run_counts(const mbg__formulation_work *w);
void mbg__alpha_run_destroy(mbg__formulation_work *w);

/* Capabilities of both presets. */
enum {
  MBG__ALPHA_SUPPORTS = MBG__LOOPS | MBG__REDUNDANT | MBG__DIRECT | MBG__ADJOINT | MBG__ADJOINT_CONTINUOUS |
                        MBG__ADJOINT_PAPER | MBG__CONTROLLED_STEPS | MBG__BEAMS | MBG__MODAL
};

#endif
