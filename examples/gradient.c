/* Mechanism: quarter car over a bump (gallery/quarter-car). Criterion: psi0, the integral of the squared acceleration
   of the chassis. Result: its value and its derivatives by stiffness p1, damping p2, mass p3 and joint position p4.
     gradient [MODEL] */
#include <mbgrad/run.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  mbg_context *ctx = NULL;
  mbg_model *model = NULL;
  mbg_run *run = NULL;
  double *psi = NULL, *gradient = NULL;
  int status = mbg_context_create(NULL, &ctx), nc = 0, np = 0;
  if (status == MBG_OK) {
    status = mbg_model_load(ctx, argc > 1 ? argv[1] : "gallery/quarter-car", &model);
  }
  if (status == MBG_OK) {
    nc = mbg_model_criterion_count(model);
    np = mbg_model_parameter_count(model);
    psi = calloc((size_t)nc + 1, sizeof(double));
    gradient = calloc((size_t)nc * (size_t)np + 1, sizeof(double));
    status = psi && gradient ? mbg_run_create(ctx, model, NULL, &run) : MBG_ERROR_MEMORY;
  }
  if (status == MBG_OK) {
    status = mbg_run_simulate(ctx, run);
  }
  if (status == MBG_OK) {
    status = mbg_run_criteria(ctx, run, psi);
  }
  if (status == MBG_OK) {
    status = mbg_run_gradient(ctx, run, MBG_METHOD_ADJOINT, gradient, NULL);
  }
  if (status == MBG_OK && nc > 0) {
    printf("%s = %.9g\n", mbg_model_criterion_name(model, 0), psi[0]);
    for (int i = 0; i < np; i++) {
      char name[64];
      (void)mbg_model_parameter_name(model, i, name, sizeof(name));
      printf("  by %s: %.9g\n", name, gradient[i]);
    }
  } else if (status != MBG_OK) {
    fprintf(stderr, "%s\n", ctx ? mbg_context_error(ctx) : mbg_status_text(status));
  }
  free(psi);
  free(gradient);
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return status == MBG_OK ? 0 : 1;
}
