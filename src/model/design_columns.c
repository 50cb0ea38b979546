#include "model/design_columns.h"

#include <string.h>

/* which parameters are samples of cubic controls: their columns have curvatures */
static void note_curved(mbg__design_columns *c) {
  const mbg__design *d = c->design;
  const mbg_model *m = d->model;
  for (int p = 0; p < m->np; p++) {
    c->curved[p] = -1;
  }
  for (int i = 0; i < m->ncontrol; i++) {
    const mbg__control *u = &m->controls[i];
    const bool cubic = u->spline->interpolation == MBG__CUBIC;
    for (int e = d->start[u->attr]; cubic && e < d->start[u->attr + u->spline->n]; e++) {
      int *curved = &c->curved[d->col[e]];
      *curved = *curved == -1 || *curved == i ? i : -2;
    }
  }
}

int mbg__design_columns_make(mbg_context *ctx, mbg__arena *arena, const mbg__design *d, mbg__design_columns *c) {
  const int na = d->model->na, np = d->model->np, nnz = d->start[na];
  *c = (mbg__design_columns){.design = d};
  c->start = MBG_TAKE(arena, int, np + 1);
  c->attr = MBG_TAKE(arena, int, nnz);
  c->entry = MBG_TAKE(arena, int, nnz);
  c->curved = MBG_TAKE(arena, int, np);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int e = 0; e < nnz; e++) {
    c->start[d->col[e] + 1]++;
  }
  for (int p = 0; p < np; p++) {
    c->start[p + 1] += c->start[p];
  }
  for (int i = na - 1; i >= 0; i--) {
    for (int e = d->start[i]; e < d->start[i + 1]; e++) {
      const int place = --c->start[d->col[e] + 1];
      c->attr[place] = i;
      c->entry[place] = e;
    }
  }
  /* start[p + 1] now is the first place of p */
  memmove(c->start, c->start + 1, (size_t)np * sizeof(int));
  c->start[np] = nnz;
  note_curved(c);
  return MBG_OK;
}

void mbg__design_column_lay(const mbg__design_columns *c, int p, real *da) {
  const mbg_model *m = c->design->model;
  if (c->design->directions) {
    memcpy(da, c->design->directions->da + (size_t)p * (size_t)m->na, (size_t)m->na * sizeof(real));
    return;
  }
  for (int e = c->start[p]; e < c->start[p + 1]; e++) {
    da[c->attr[e]] = c->design->val[c->entry[e]];
  }
  for (int i = 0; c->curved[p] != -1 && i < m->ncontrol; i++) {
    const mbg__control *u = &m->controls[i];
    if (u->spline->interpolation == MBG__CUBIC && (c->curved[p] == i || c->curved[p] == -2)) {
      mbg__spline_curvature(u->spline, da + u->attr, da + u->attr + u->spline->n);
    }
  }
}

void mbg__design_column_clear(const mbg__design_columns *c, int p, real *da) {
  const mbg_model *m = c->design->model;
  if (c->design->directions) {
    memset(da, 0, (size_t)m->na * sizeof(real));
    return;
  }
  for (int e = c->start[p]; e < c->start[p + 1]; e++) {
    da[c->attr[e]] = 0;
  }
  for (int i = 0; c->curved[p] != -1 && i < m->ncontrol; i++) {
    const mbg__control *u = &m->controls[i];
    if (u->spline->interpolation == MBG__CUBIC && (c->curved[p] == i || c->curved[p] == -2)) {
      memset(da + u->attr + u->spline->n, 0, (size_t)u->spline->n * sizeof(real));
    }
  }
}

void mbg__design_columns_pull(const mbg__design *design, const real *ga, real *dy) {
  const mbg__directions *d = design->directions;
  const size_t na = (size_t)design->model->na;
  if (!d) {
    mbg__design_pull(design, ga, dy);
    return;
  }
  for (int p = 0; p < d->n; p++) {
    for (size_t i = 0; i < na; i++) {
      dy[p] += d->da[(size_t)p * na + i] * ga[i];
    }
  }
}
