/* Columns in lanes: their memory, and the kernels for the vectors that every processor has. */
#include "math/avx2.h"

#define LANES(name) name
#include "system/system_lanes_kernel.h"
#include "system/system_lanes_push_kernel.h"

bool mbg__system_lanes_fit(const mbg__system *s) {
  const mbg_model *m = s->model;
  return m->nmodal == 0 && m->nelement == 0 && s->ncross == 0 && s->nlate == 0;
}

bool mbg__system_lanes_can(const mbg__system *s) { return mbg__system_lanes_fit(s) && s->nclass == 1; }

int mbg__system_lanes_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *s, mbg__system_lanes **out) {
  mbg__system_lanes *x = *out = MBG_TAKE(arena, mbg__system_lanes, 1);
  if (x) {
    lane6 **part[] = {&x->w, &x->dv, &x->dvd, &x->f};
    for (int i = 0; i < MBG_COUNT(part); i++) {
      *part[i] = MBG_TAKE(arena, lane6, s->model->npair);
    }
    lane6 **markers[] = {&x->m_geo, &x->m_w, &x->m_dv, &x->m_dvd};
    for (int i = 0; i < MBG_COUNT(markers); i++) {
      *markers[i] = MBG_TAKE(arena, lane6, s->model->nmarker);
    }
    x->touched = MBG_TAKE(arena, bool, s->model->npair);
    x->moved = MBG_TAKE(arena, bool, s->model->nmarker);
  }
  return mbg__arena_check(ctx, arena);
}

void mbg__lanes_attributes(int na, int nc, const real *const *columns, lane *da, bool *varied) {
  for (int i = 0; i < na; i++) {
    bool any = false;
    for (int q = 0; q < nc; q++) {
      any = any || r_some(columns[q][i] != 0);
    }
    varied[i] = any;
    for (int q = 0; any && q < MBG__LANES; q++) {
      lane_set(&da[i], q, q < nc ? columns[q][i] : 0);
    }
  }
}
