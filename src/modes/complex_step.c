/* Compiled for complex numbers alone: see complex_step.h. */
#include "modes/complex_step.h"

#include "system/system.h"

#include <string.h>

static const double step = 1e-30; /* its square vanishes against 1 */

struct mbg__complex_step {
  mbg__arena arena;
  mbg_model model; /* a copy that shares everything but the lists below */
  mbg__design *design;
  mbg__system *sys;
  mbg__frame *H;
  real *v, *vd, *lambda, *z, *mu;     /* (nw, nw, nrow, nw, nrow) */
  real *gw, *gv, *gvd, *glambda, *ga; /* (nw, nw, nw, nrow, na) */
  double *p;                          /* (np) */
};

/* ---------------------------------------------------------------------- life */

static void complex_copy(int n, const double *x, real *out) {
  for (int i = 0; i < n; i++) {
    out[i] = x[i];
  }
}

static int make(mbg_context *ctx, mbg__complex_step *s, const mbg_model *model, const mbg__kernels *kernels,
                const double *parameters) {
  const mbg_model *m = &s->model;
  mbg__arena *arena = &s->arena;
  int err = MBG_OK;
  MBG_TRY(mbg__kernels_exchange(ctx, arena, model, kernels, &s->model));
  s->H = MBG_TAKE(arena, mbg__frame, m->nbody);
  s->v = MBG_TAKE(arena, real, m->nw);
  s->vd = MBG_TAKE(arena, real, m->nw);
  s->lambda = MBG_TAKE(arena, real, m->nrow);
  s->z = MBG_TAKE(arena, real, m->nw);
  s->mu = MBG_TAKE(arena, real, m->nrow);
  s->gw = MBG_TAKE(arena, real, m->nw);
  s->gv = MBG_TAKE(arena, real, m->nw);
  s->gvd = MBG_TAKE(arena, real, m->nw);
  s->glambda = MBG_TAKE(arena, real, m->nrow);
  s->ga = MBG_TAKE(arena, real, m->na);
  s->p = MBG_TAKE(arena, double, m->np);
  real *p = MBG_TAKE(arena, real, m->np);
  MBG_TRY(mbg__arena_check(ctx, arena));
  complex_copy(m->np, parameters, p);
  for (int i = 0; i < m->np; i++) {
    s->p[i] = parameters[i];
  }
  MBG_TRY(mbg__design_create(ctx, arena, m, &s->design));
  MBG_TRY(mbg__design_update(ctx, s->design, p));
  MBG_TRY(mbg__system_create(ctx, m, s->design, &s->sys));
done:
  return err;
}

int mbg__complex_step_create(mbg_context *ctx, const mbg_model *model, const mbg__kernels *kernels,
                             const double *parameters, mbg__complex_step **out) {
  mbg__complex_step *s = mbg__alloc_zero(ctx, 1, sizeof(*s));
  *out = NULL;
  if (!s) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  const int err = make(ctx, s, model, kernels, parameters);
  if (err < 0) {
    mbg__complex_step_destroy(s);
    return err;
  }
  *out = s;
  return MBG_OK;
}

void mbg__complex_step_destroy(mbg__complex_step *s) {
  if (!s) {
    return;
  }
  const mbg_allocator allocator = s->arena.allocator;
  mbg__system_destroy(s->sys);
  mbg__arena_destroy(&s->arena);
  allocator.release(allocator.user, s);
}

/* ---------------------------------------------------------------------- pull */

static real complex_of(double x, double dx) {
  real z;
  __real__ z = x;
  __imag__ z = step * dx;
  return z;
}

static void vary(int n, const double *x, const double *dx, real *out) {
  for (int i = 0; i < n; i++) {
    out[i] = complex_of(x[i], dx[i]);
  }
}

/* H exp(i s w~): (R (1 + i s W~), x + i s R U) */
static void vary_frame(const double H[12], const double w[6], mbg__frame *out) {
  for (int i = 0; i < 3; i++) {
    const double *R = H + 3 * i, *U = w, *W = w + 3;
    out->R[3 * i + 0] = complex_of(R[0], R[1] * W[2] - R[2] * W[1]);
    out->R[3 * i + 1] = complex_of(R[1], R[2] * W[0] - R[0] * W[2]);
    out->R[3 * i + 2] = complex_of(R[2], R[0] * W[1] - R[1] * W[0]);
    out->x[i] = complex_of(H[9 + i], R[0] * U[0] + R[1] * U[1] + R[2] * U[2]);
  }
}

static void imaginary(int n, const real *x, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = im(x[i]) / step;
  }
}

/* frames and twists */
static void vary_motion(mbg__complex_step *s, const mbg__complex_step_state *x) {
  for (int i = 0; i < s->model.nbody; i++) {
    vary_frame(x->H + 12 * (size_t)i, x->w + s->model.bodies[i].voff, &s->H[i]);
  }
  vary(s->model.nw, x->v, x->dv, s->v);
}

int mbg__complex_step_pull(mbg_context *ctx, mbg__complex_step *s, const mbg__complex_step_state *x, const double *z,
                           const double *mu, const mbg__complex_step_pull_out *out) {
  const mbg_model *m = &s->model;
  int err = MBG_OK;
  vary_motion(s, x);
  vary(m->nw, x->vd, x->dvd, s->vd);
  vary(m->nrow, x->lambda, x->dlambda, s->lambda);
  complex_copy(m->nw, z, s->z);
  complex_copy(m->nrow, mu, s->mu);
  const mbg__state state = {.t = x->t, .H = s->H, .v = s->v, .vd = s->vd, .lambda = s->lambda, .turns = x->turns};
  MBG_TRY(mbg__system_update(ctx, s->sys, &state));
  MBG_TRY(mbg__system_linearize(ctx, s->sys));
  vn_zero(m->nw, s->gw);
  vn_zero(m->nw, s->gv);
  vn_zero(m->nw, s->gvd);
  vn_zero(m->nrow, s->glambda);
  vn_zero(m->na, s->ga);
  mbg__system_pull(s->sys, s->z, s->mu, NULL, NULL, s->gw, s->gv, s->gvd, s->glambda, s->ga);
  imaginary(m->nw, s->gw, out->w);
  imaginary(m->nw, s->gv, out->v);
  imaginary(m->nw, s->gvd, out->vd);
  imaginary(m->nrow, s->glambda, out->lambda);
  imaginary(m->na, s->ga, out->a);
done:
  return err;
}

/* ---------------------------------------------------------------------- linear models */

int mbg__complex_step_linear(mbg_context *ctx, mbg__complex_step *s, const mbg__linear_spec *spec,
                             const mbg__complex_step_state *x, const double *dp, double *const matrices[4]) {
  const int own = mbg__linear_states(spec), n[2] = {own, spec->noutput}, c[2] = {own, spec->ninput};
  int err = MBG_OK;
  mbg__arena arena;
  mbg__linear out;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  real *p = MBG_TAKE(&arena, real, s->model.np);
  MBG_TRY(mbg__linear_make(ctx, &arena, &s->model, spec, &out));
  vary(s->model.np, s->p, dp, p);
  MBG_TRY(mbg__design_update(ctx, s->design, p));
  vary_motion(s, x);
  const mbg__state state = {.t = x->t, .H = s->H, .v = s->v, .turns = x->turns};
  MBG_TRY(mbg__linear_model(ctx, s->sys, spec, &state, &out));
  const real *const result[4] = {out.A, out.B, out.C, out.D};
  for (int k = 0; k < 4; k++) {
    if (matrices[k]) {
      imaginary(n[k / 2] * c[k % 2], result[k], matrices[k]);
    }
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
