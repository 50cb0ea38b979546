/* Evaluations of an identification in a file: each is appended when it is done, and replayed when the identification is
   resumed, so that the optimizer goes the way it went. */
#include "problems/identify.h"
#include "run/run.h"

#include <inttypes.h>
#include <string.h>

/* what an identification must have in common with the one that wrote the file */
static void head(const mbg_identify *id, char *buffer, size_t size) {
  uint64_t h = MBG__SUM_START;
  h = mbg__sum(h, id->p0, (size_t)id->np * sizeof(double));
  h = mbg__sum(h, id->lower, (size_t)id->n * sizeof(double));
  h = mbg__sum(h, id->upper, (size_t)id->n * sizeof(double));
  h = mbg__sum(h, &id->o.seed, sizeof(id->o.seed));
  for (int i = 0; i < id->n; i++) {
    h = mbg__sum(h, id->parameter[i].name, strlen(id->parameter[i].name));
  }
  for (int k = 0; k < id->nchannel; k++) {
    h = mbg__sum(h, id->channel[k].data, (size_t)id->channel[k].shown.samples * sizeof(double));
  }
  for (int k = 0; k < id->nexperiment; k++) {
    const double step = mbg__run_step(id->experiment[k].run);
    const char *key = mbg_run_formulation(id->experiment[k].run);
    h = mbg__sum(h, &step, sizeof(step));
    h = mbg__sum(h, key, strlen(key));
  }
  mbg__format(buffer, size, "mbgrad identify 2: %d parameters, %d samples, %d starts, %s, %016" PRIx64, id->n, id->m,
              id->o.starts, id->o.optimizer == MBG_FIT_LM ? "lm" : "lbfgs", h);
}

int mbg__restart_open(mbg_context *ctx, mbg_identify *id) {
  char own[256];
  head(id, own, sizeof(own));
  return mbg__record_open(ctx, id->o.restart, own, id->o.resume != 0, &id->restart);
}

void mbg__restart_close(mbg_identify *id) {
  mbg__record_close(id->restart);
  id->restart = NULL;
}

int mbg__restart_next(mbg_context *ctx, mbg_identify *id, char kind, const double *x, int count, double *values,
                      int *status, bool *found) {
  return mbg__record_next(ctx, id->restart, kind, id->n, x, count, values, status, found);
}

int mbg__restart_add(mbg_context *ctx, mbg_identify *id, char kind, const double *x, int count, const double *values,
                     int status) {
  return mbg__record_add(ctx, id->restart, kind, id->n, x, count, values, status);
}
