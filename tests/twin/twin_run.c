#include "twin/twin_run.h"

#include "mbgrad/model.h"
#include "run/run.h"
#include "run/run_internal.h"

#include <stdlib.h>
#include <string.h>

struct twin_run {
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
};

int twin_run_create(const char *file, const char *text, const mbg_run_options *options, twin_run **out) {
  int err = MBG_OK;
  twin_run *r = calloc(1, sizeof *r);
  *out = r;
  if (!r || mbg_context_create(NULL, &r->ctx) < 0) {
    free(r);
    *out = NULL;
    return MBG_ERROR_MEMORY;
  }
  MBG_TRY(text ? mbg_model_parse(r->ctx, "twin", text, strlen(text), file, &r->model)
               : mbg_model_load(r->ctx, file, &r->model));
  MBG_TRY(mbg_run_create(r->ctx, r->model, options, &r->run));
done:
  return err;
}

void twin_run_destroy(twin_run *r) {
  if (!r) {
    return;
  }
  mbg_run_destroy(r->run);
  mbg_model_destroy(r->model);
  mbg_context_destroy(r->ctx);
  free(r);
}

const char *twin_run_message(const twin_run *r) { return mbg_context_error(r->ctx); }

int twin_run_criteria(twin_run *r, const real *p, real *psi) {
  int err = MBG_OK;
  MBG_TRY(mbg__run_set_parameters(r->ctx, r->run, p));
  MBG_TRY(mbg_run_simulate(r->ctx, r->run));
  MBG_TRY(mbg__run_criteria(r->ctx, r->run, psi));
done:
  return err;
}

int twin_run_node_count(const twin_run *r) { return mbg_run_node_count(r->run); }

double twin_run_node_time(const twin_run *r, int node) { return mbg_run_node_time(r->run, node); }

static const real *pose(const twin_run *r, int node) { return mbg__nodes_values(&r->run->nodes, node) + r->run->nused; }

void twin_run_frame(const twin_run *r, int node, int body, real frame[12]) {
  memcpy(frame, pose(r, node) + 12 * (size_t)body, 12 * sizeof(real));
}

real twin_run_modal(const twin_run *r, int node, int mode) {
  const mbg_model *m = r->run->m;
  int i = 0;
  while (mode >= m->modals[i].n) {
    mode -= m->modals[i++].n;
  }
  return pose(r, node)[12 * (size_t)mbg__modal_carrier(&m->modals[i], mode) + 9 + (size_t)(mode % 3)];
}
