/* `dae`: index-3 DAE by HHT (Nachbagauer, Oberpeilsteiner, Steiner; theory 2). The stepper of `lie` with am = 0 and
   af = 0.1: the agreement of the two proves nothing, see theory 0, section 8. */
#include "formulations/alpha/alpha_run.h"

static int prepare(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan, int nused,
                   const int *used, mbg__formulation_work **out) {
  const double af = isnan(plan->alpha_f) ? 0.1 : plan->alpha_f;
  const mbg__alpha_coefs coefs = isnan(plan->rho_inf) ? mbg__alpha_from_hht(af) : mbg__alpha_from_rho(plan->rho_inf);
  return mbg__alpha_run_prepare(ctx, sys, start, plan, coefs, nused, used, out);
}

const mbg__formulation mbg__formulation_dae = {
    .key = "dae",
    .name = "index-3 DAE, HHT",
    .paper = "Nachbagauer, Oberpeilsteiner, Steiner",
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
