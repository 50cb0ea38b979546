#include "twin/twin_system.h"

#include "formulations/qr/qr_point.h"
#include "formulations/qr/qr_state.h"
#include "mbgrad/model.h"
#include "start/start.h"

#include <stdlib.h>
#include <string.h>

struct twin_system {
  mbg_context *ctx;
  mbg_model *model;
  mbg__arena arena;
  mbg__design *design;
  mbg__system *system;
  mbg__start_work *start;
  mbg__frame *H;
  mbg__rank *rank;
  mbg__qr_point *point;
};

/* ---------------------------------------------------------------------- life */

static int load(twin_system *s, const char *file, const char *text) {
  return text ? mbg_model_parse(s->ctx, "twin", text, strlen(text), NULL, &s->model)
              : mbg_model_load(s->ctx, file, &s->model);
}

static int make(twin_system *s, const char *file, const char *text) {
  int err = MBG_OK;
  MBG_TRY(load(s, file, text));
  s->H = MBG_TAKE(&s->arena, mbg__frame, s->model->nbody);
  MBG_TRY(s->H ? MBG_OK : mbg__fail_memory(s->ctx));
  MBG_TRY(mbg__design_create(s->ctx, &s->arena, s->model, &s->design));
  MBG_TRY(mbg__system_create(s->ctx, s->model, s->design, &s->system));
done:
  return err;
}

int twin_system_create(const char *file, const char *text, twin_system **out) {
  twin_system *s = calloc(1, sizeof *s);
  *out = s;
  if (!s || mbg_context_create(NULL, &s->ctx) < 0) {
    free(s);
    *out = NULL;
    return MBG_ERROR_MEMORY;
  }
  mbg__arena_init(&s->arena, mbg__context_allocator(s->ctx));
  return make(s, file, text);
}

void twin_system_destroy(twin_system *s) {
  if (!s) {
    return;
  }
  mbg__start_destroy(s->start);
  mbg__system_destroy(s->system);
  mbg__arena_destroy(&s->arena);
  mbg_model_destroy(s->model);
  mbg_context_destroy(s->ctx);
  free(s);
}

const char *twin_system_message(const twin_system *s) { return mbg_context_error(s->ctx); }

/* ---------------------------------------------------------------------- design */

int twin_system_design(twin_system *s, const real *p) { return mbg__design_update(s->ctx, s->design, p); }

int twin_system_vary(twin_system *s, const double *da) {
  for (int i = 0; i < s->model->na; i++) {
    s->design->attr[i] += twin_step(0, da[i]);
  }
  return mbg__design_refresh(s->ctx, s->design);
}

const real *twin_system_attributes(const twin_system *s) { return s->design->attr; }

static void store(const mbg__frame *F, real *H) {
  vn_copy(9, H, F->R);
  vn_copy(3, H + 9, F->x);
}

void twin_system_guess(const twin_system *s, int body, real *H, real *v) {
  store(&s->design->poses[s->model->bodies[body].guess].h, H);
  v6_copy(v, s->design->guess_v + s->model->bodies[body].voff);
}

/* ---------------------------------------------------------------------- equations */

int twin_system_update(twin_system *s, real t, const real *H, const real *v, const real *vd, const real *lambda,
                       const int *turns) {
  for (int i = 0; i < s->model->nbody; i++) {
    vn_copy(9, s->H[i].R, H + 12 * i);
    vn_copy(3, s->H[i].x, H + 12 * i + 9);
  }
  const mbg__state state = {.t = t, .H = s->H, .v = v, .vd = vd, .lambda = lambda, .turns = turns};
  return mbg__system_update(s->ctx, s->system, &state);
}

void twin_system_residual(const twin_system *s, real *r, real *phi, real *phid, real *phidd, real *gamma) {
  mbg__system_residual(s->system, r, phi, phid, phidd, gamma);
}

int twin_system_signals(twin_system *s, real *y) {
  const real *values;
  const int err = mbg__system_signals(s->ctx, s->system, &values);
  if (err == MBG_OK) {
    vn_copy(s->model->nsignal, y, values);
  }
  return err;
}

void twin_system_coords(const twin_system *s, real *q, real *qd) {
  mbg__system_coords(s->system, q);
  mbg__system_coord_rates(s->system, qd);
}

/* ---------------------------------------------------------------------- start */

int twin_system_start(twin_system *s, real *H, real *v, real *lambda) {
  int err = MBG_OK;
  if (!s->start) {
    MBG_TRY(mbg__start_create(s->ctx, s->system, &s->start));
  }
  MBG_TRY(mbg__start_solve(s->ctx, s->start, false));
  const mbg__start_result *result = mbg__start_result_of(s->start);
  for (int i = 0; i < s->model->nbody; i++) {
    store(&result->H[i], H + 12 * i);
  }
  vn_copy(s->model->nw, v, result->v);
  vn_copy(s->model->nrow, lambda, result->lambda);
done:
  return err;
}

/* ---------------------------------------------------------------------- state space */

int twin_system_qr(twin_system *s, double beta, real t, const real *H, const real *v, const int *turns, real *v_star,
                   real *a, real *lambda) {
  const real *got_v, *got_a;
  int err = MBG_OK;
  MBG_TRY(twin_system_update(s, t, H, v, NULL, NULL, turns));
  if (!s->point) {
    MBG_TRY(mbg__rank_analyse(s->ctx, &s->arena, s->system, NULL, &s->rank));
    MBG_TRY(mbg__qr_point_create(s->ctx, &s->arena, s->system, s->rank, beta, &s->point));
  }
  MBG_TRY(mbg__qr_point_eval(s->ctx, s->point, t, s->H, v, turns, &got_v, &got_a));
  vn_copy(s->model->nw, v_star, got_v);
  vn_copy(s->model->nw, a, got_a);
  vn_copy(s->model->nrow, lambda, mbg__qr_point_lambda(s->point));
done:
  return err;
}

/* a state that began at H0 */
static int make_state(twin_system *s, const real *H0, mbg__qr_state *q) {
  int err = MBG_OK;
  MBG_TRY(mbg__qr_state_create(s->ctx, &s->arena, s->model, q));
  for (int b = 0; b < s->model->nbody; b++) {
    vn_copy(9, q->H0[b].R, H0 + 12 * b);
    vn_copy(3, q->H0[b].x, H0 + 12 * b + 9);
  }
done:
  return err;
}

int twin_system_qr_state(twin_system *s, const real *H0, const real *z, real *H, real *v) {
  mbg__qr_state q;
  const int err = make_state(s, H0, &q);
  if (err < 0) {
    return err;
  }
  mbg__qr_state_read(&q, z, s->H, v);
  for (int b = 0; b < s->model->nbody; b++) {
    store(&s->H[b], H + 12 * b);
  }
  return MBG_OK;
}

int twin_system_qr_rates(twin_system *s, const real *H0, const real *z, const real *v_star, const real *a, real *zd) {
  mbg__qr_state q;
  const int err = make_state(s, H0, &q);
  if (err == MBG_OK) {
    mbg__qr_state_rates(&q, z, v_star, a, zd);
  }
  return err;
}
