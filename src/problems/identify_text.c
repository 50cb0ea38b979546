/* The model file with the fitted values. */
#include "problems/identify.h"
#include "problems/model_text.h"

int mbg_identify_model_text(mbg_context *ctx, const mbg_identify *id, char **out) {
  *out = NULL;
  double *p = mbg__alloc(ctx, (size_t)id->np + 1, sizeof(double));
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < id->np; k++) {
    p[k] = NAN;
  }
  for (int i = 0; i < id->n; i++) {
    p[id->parameter[i].index] = id->parameter[i].value;
  }
  const int err = mbg__model_text(ctx, id->experiment[0].model, p, out);
  mbg__free(ctx, p);
  return err;
}
