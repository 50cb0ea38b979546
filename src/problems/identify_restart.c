/* Evaluations of an identification in a file: each is appended when it is done, and replayed when the identification is
   resumed, so that the optimizer goes the way it went. */
#include "problems/identify.h"
#include "run/run.h"

#include <inttypes.h>
#include <string.h>

/* the problem that the evaluations of a file belong to */
static void head(const mbg_identify *id, char *buffer, size_t size) {
  uint64_t h = mbg__model_sum(MBG__SUM_START, id->model);
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
    const double step = id->experiment[k].step;
    const char *key = mbg_run_formulation(id->experiment[k].run);
    h = mbg__sum(h, &step, sizeof(step));
    h = mbg__sum(h, key, strlen(key));
  }
  mbg__format(buffer, size, "mbgrad identify 2: %d parameters, %d samples, %d starts, %s, %016" PRIx64, id->n, id->m,
              id->o.starts, id->o.optimizer, h);
}

int mbg__identify_open_record(mbg_context *ctx, mbg_identify *id) {
  char own[256];
  if (!id->o.restart) {
    return MBG_OK;
  }
  head(id, own, sizeof(own));
  return mbg__work_open_record(ctx, &id->work, id->o.restart, own, id->o.resume);
}
