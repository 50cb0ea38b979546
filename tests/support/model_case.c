#include "support/model_case.h"

#include "mbgrad/model.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- life */

double *model_case_array(model_case *c, int count) {
  double *x = mbg__arena_take(&c->arena, (size_t)count + 1, sizeof(double));
  assert_non_null(x);
  return x;
}

static void check(const model_case *c, int err, const char *what) {
  if (err < 0) {
    fail_msg("%s: %s", what, mbg_context_error(c->ctx));
  }
}

static void check_twin(const model_case *c, int err, const char *what) {
  if (err < 0) {
    fail_msg("twin, %s: %s", what, twin_system_message(c->twin));
  }
}

void model_case_open(model_case *c, const char *file, const char *text) {
  *c = (model_case){0};
  assert_int_equal(mbg_context_create(NULL, &c->ctx), MBG_OK);
  mbg__arena_init(&c->arena, mbg__context_allocator(c->ctx));
  const int err =
      text ? mbg_model_parse(c->ctx, "model", text, strlen(text), NULL, &c->m) : mbg_model_load(c->ctx, file, &c->m);
  check(c, err, "loading");
  const mbg_model *m = c->m;
  check(c, mbg__design_create(c->ctx, &c->arena, m, &c->design), "design");
  check(c, mbg__system_create(c->ctx, m, c->design, &c->sys), "system");
  const int twin = twin_system_create(file, text, &c->twin);
  check_twin(c, twin, "loading");
  c->p = model_case_array(c, m->np);
  c->H = mbg__arena_take(&c->arena, (size_t)m->nbody, sizeof(mbg__frame));
  c->v = model_case_array(c, m->nw);
  c->vd = model_case_array(c, m->nw);
  c->lambda = model_case_array(c, m->nrow);
  c->turns = mbg__arena_take(&c->arena, (size_t)m->nturn + 1, sizeof(int));
  memcpy(c->p, m->p, (size_t)m->np * sizeof(double));
  model_case_design(c, NULL, 0);
}

void model_case_close(model_case *c) {
  twin_system_destroy(c->twin);
  mbg__system_destroy(c->sys);
  mbg__arena_destroy(&c->arena);
  mbg_model_destroy(c->m);
  mbg_context_destroy(c->ctx);
}

/* ---------------------------------------------------------------------- states */

/* complex numbers x + i s dx in memory to be freed */
static double _Complex *complex_array(int n, const double *x, const double *dx) {
  double _Complex *z = malloc(((size_t)n + 1) * sizeof *z);
  assert_non_null(z);
  for (int i = 0; i < n; i++) {
    z[i] = twin_step(x[i], dx ? dx[i] : 0);
  }
  return z;
}

static void twin_design(model_case *c, const double *da) {
  double _Complex *p = complex_array(c->m->np, c->p, NULL);
  check_twin(c, twin_system_design(c->twin, p), "design");
  if (da) {
    check_twin(c, twin_system_vary(c->twin, da), "varied design");
  }
  free(p);
}

void model_case_design(model_case *c, support_rng *rng, double spread) {
  for (int i = 0; i < c->m->np; i++) {
    c->p[i] = c->m->p[i] * (1 + (spread > 0 ? support_uniform(rng, -spread, spread) : 0));
  }
  check(c, mbg__design_update(c->ctx, c->design, c->p), "design");
  twin_design(c, NULL);
}

void model_case_random_velocity(model_case *c, support_rng *rng, double *w) {
  for (int i = 0; i < c->m->nw; i++) {
    const double x = support_normal(rng);
    w[i] = c->m->dof[i] >= 0 ? x : 0;
  }
}

void model_case_update(model_case *c) {
  const mbg__state state = {.t = c->t, .H = c->H, .v = c->v, .vd = c->vd, .lambda = c->lambda, .turns = c->turns};
  check(c, mbg__system_update(c->ctx, c->sys, &state), "update");
  check(c, mbg__system_linearize(c->ctx, c->sys), "linearize");
  check(c, mbg__system_linearize_signals(c->ctx, c->sys), "signals");
}

void model_case_state(model_case *c, support_rng *rng, double distance) {
  const mbg_model *m = c->m;
  model_case_random_velocity(c, rng, c->v);
  for (int i = 0; i < m->nbody; i++) {
    double h[6];
    v6_scale(h, distance, c->v + m->bodies[i].voff);
    mbg__se3_retract(&c->H[i], &c->design->poses[m->bodies[i].design].h, h);
  }
  model_case_random_velocity(c, rng, c->v);
  model_case_random_velocity(c, rng, c->vd);
  support_normals(rng, c->lambda, m->nrow);
  for (int i = 0; i < m->nturn; i++) {
    c->turns[i] = support_index(rng, 3) - 1;
  }
  c->t = support_uniform(rng, 0.05, 1.5);
  model_case_update(c);
}

/* ---------------------------------------------------------------------- derivatives */

model_change model_change_make(model_case *c) {
  const mbg_model *m = c->m;
  return (model_change){.r = model_case_array(c, m->nw),
                        .phi = model_case_array(c, m->nrow),
                        .phid = model_case_array(c, m->nrow),
                        .phidd = model_case_array(c, m->nrow),
                        .y = model_case_array(c, m->nsignal)};
}

/* H + i s H w~ */
static double _Complex *moved_frames(const model_case *c, const double *w) {
  double _Complex *H = malloc((size_t)c->m->nbody * 12 * sizeof *H);
  assert_non_null(H);
  for (int b = 0; b < c->m->nbody; b++) {
    static const double zero[6] = {0};
    const double *wb = w ? w + c->m->bodies[b].voff : zero;
    double dR[9], dx[3];
    for (int i = 0; i < 3; i++) {
      v3_cross(dR + 3 * i, c->H[b].R + 3 * i, wb + 3); /* rows of R W~: r x W */
    }
    m3_mulv(dx, c->H[b].R, wb);
    for (int i = 0; i < 12; i++) {
      H[12 * b + i] = i < 9 ? twin_step(c->H[b].R[i], dR[i]) : twin_step(c->H[b].x[i - 9], dx[i - 9]);
    }
  }
  return H;
}

static void derivatives(int n, const double _Complex *z, double *d) {
  for (int i = 0; i < n; i++) {
    d[i] = twin_derivative(z[i]);
  }
}

void model_case_twin(model_case *c, const model_direction *d, const model_change *out) {
  const mbg_model *m = c->m;
  double _Complex *H = moved_frames(c, d->w), *v = complex_array(m->nw, c->v, d->dv);
  double _Complex *vd = complex_array(m->nw, c->vd, d->dvd), *lambda = complex_array(m->nrow, c->lambda, d->dlambda);
  double _Complex *r = complex_array(m->nw, c->v, NULL), *y = calloc((size_t)m->nsignal + 1, sizeof *y);
  double _Complex *phi[3];
  for (int k = 0; k < 3; k++) {
    phi[k] = complex_array(m->nrow, c->lambda, NULL);
  }
  assert_non_null(y);
  twin_design(c, d->da);
  check_twin(c, twin_system_update(c->twin, twin_step(c->t, d->dt), H, v, vd, lambda, c->turns), "update");
  twin_system_residual(c->twin, r, phi[0], phi[1], phi[2], NULL);
  check_twin(c, twin_system_signals(c->twin, y), "signals");
  derivatives(m->nw, r, out->r);
  derivatives(m->nrow, phi[0], out->phi);
  derivatives(m->nrow, phi[1], out->phid);
  derivatives(m->nrow, phi[2], out->phidd);
  derivatives(m->nsignal, y, out->y);
  double _Complex *all[] = {H, v, vd, lambda, r, y, phi[0], phi[1], phi[2]};
  for (int k = 0; k < MBG_COUNT(all); k++) {
    free(all[k]);
  }
}

void model_case_push(model_case *c, const model_direction *d, const model_change *out) {
  const mbg__direction direction = {.w = d->w, .dv = d->dv, .dvd = d->dvd, .dlambda = d->dlambda, .da = d->da};
  mbg__system_push(c->sys, &direction, out->r, out->phi, out->phid, out->phidd);
  for (int i = 0; i < c->m->nsignal; i++) {
    out->y[i] = mbg__system_signal_push(c->sys, i, &direction);
  }
}
