#include "problems/cases.h"

#include "mbgrad/model.h"

#include <string.h>

/* for one of its runs, or without runs */
static bool is_single(const mbg_model *model) { return model->nrun == 0 || mbg_model_active_run(model); }

int mbg__case_count(const mbg_model *model) { return is_single(model) ? 1 : model->nrun; }

int mbg__case_model(mbg_context *ctx, const mbg_model *model, int k, const mbg__tracking *tracking,
                    const mbg_model **out, mbg_model **own, int *ntracked) {
  const bool single = is_single(model);
  *out = model;
  *own = NULL;
  *ntracked = 0;
  if (single && !tracking) {
    return MBG_OK;
  }
  const char *run = single ? mbg_model_active_run(model) : mbg_model_run_name(model, k);
  const int err = mbg__model_for_run(ctx, model, run, tracking, own, ntracked);
  *out = *own;
  return err;
}

static bool has_bounds(const mbg_model *m, int index) {
  return isfinite(mbg_model_parameter_min(m, index)) || isfinite(mbg_model_parameter_max(m, index));
}

int mbg__list_varied(const mbg_model *m, int n, const int *list, bool otherwise_all, int *index) {
  int count = 0;
  if (n > 0) {
    memcpy(index, list, (size_t)n * sizeof(int));
    return n;
  }
  for (int k = 0; k < m->np; k++) {
    if (has_bounds(m, k)) {
      index[count++] = k;
    }
  }
  for (int k = 0; otherwise_all && count == k && k < m->np; k++) {
    index[count++] = k;
  }
  return count;
}

void mbg__start_values(int n, const mbg_model *const *models, const double *given, double *p) {
  for (int k = 0; k < models[0]->np; k++) {
    p[k] = given ? given[k] : models[0]->p[k];
    /* the first case may set a parameter that others leave at its nominal value */
    for (int e = 0; !given && mbg_model_parameter_is_set(models[0], k) && e < n; e++) {
      if (!mbg_model_parameter_is_set(models[e], k)) {
        p[k] = models[e]->p[k];
        break;
      }
    }
  }
}

int mbg__check_varied(mbg_context *ctx, int n, const mbg_model *const *models, int index, const char *verb) {
  char name[MBG__EXPR_NAME_MAX + 32];
  for (int k = 0; k < n; k++) {
    if (!mbg_model_parameter_is_set(models[k], index)) {
      return MBG_OK;
    }
  }
  mbg_model_parameter_name(models[0], index, name, sizeof(name));
  return mbg__fail(ctx, MBG_ERROR_INPUT, "parameter '%s' cannot be %s: every run sets it", name, verb);
}

int mbg__check_start(mbg_context *ctx, const mbg_model *m, int index, double start) {
  const bool log_scale = mbg_model_parameter_log_scale(m, index);
  char name[MBG__EXPR_NAME_MAX + 32];
  if (isfinite(start) && (!log_scale || start > 0)) {
    return MBG_OK;
  }
  mbg_model_parameter_name(m, index, name, sizeof(name));
  return mbg__fail(ctx, MBG_ERROR_INPUT, "parameter '%s' cannot start at %g%s", name, start,
                   log_scale ? ": its scale is logarithmic" : "");
}

const char *mbg__parameter_text(mbg__arena *arena, const mbg_model *m, int index) {
  char name[MBG__EXPR_NAME_MAX + 32];
  mbg_model_parameter_name(m, index, name, sizeof(name));
  return mbg__arena_text(arena, name, strlen(name));
}

int mbg__check_box(mbg_context *ctx, const char *name, double lower, double upper, bool log_scale) {
  return isfinite(lower) && isfinite(upper)
             ? MBG_OK
             : mbg__fail(ctx, MBG_ERROR_INPUT,
                         "several starts need bounds: parameter '%s' has no %s; give \"min\" and \"max\"%s", name,
                         isfinite(lower) ? "max" : "min",
                         log_scale ? ", positive ones, because its scale is logarithmic" : "");
}

void mbg__case_parameters(const mbg_model *m, const double *p, double *out) {
  for (int k = 0; k < m->np; k++) {
    out[k] = mbg_model_parameter_is_set(m, k) ? m->p[k] : p[k];
  }
}

bool mbg__curable(int status) {
  return status == MBG_ERROR_CONVERGENCE || status == MBG_ERROR_SINGULAR || status == MBG_ERROR_INPUT;
}
