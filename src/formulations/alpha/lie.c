/* `lie`: Lie group generalized-alpha, index 3 (Bruls and Sonneville; theory 4). Preset rho_inf = 0.8. */
#include "formulations/alpha/alpha_run.h"

static int prepare(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan, int nused,
                   const int *used, mbg__formulation_work **out) {
  const double rho = isnan(plan->rho_inf) ? 0.8 : plan->rho_inf;
  const mbg__alpha_coefs coefs = isnan(plan->alpha_f) ? mbg__alpha_from_rho(rho) : mbg__alpha_from_hht(plan->alpha_f);
  return mbg__alpha_run_prepare(ctx, sys, start, plan, coefs, nused, used, out);
}

const mbg__formulation mbg__formulation_lie = {
    .key = "lie",
    .name = "Lie group generalized-alpha",
    .paper = "Bruls, Sonneville",
    .supports = MBG__ALPHA_SUPPORTS,
    .cost_direct = 0.08,
    .cost_adjoint = 0.15,
    .prepare = prepare,
    .simulate = mbg__alpha_run_simulate,
    .tangent = mbg__alpha_run_tangent,
    .adjoint = mbg__alpha_run_adjoint,
    .last = mbg__alpha_run_last,
    .counts = mbg__alpha_run_counts,
    .destroy = mbg__alpha_run_destroy,
};
