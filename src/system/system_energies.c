/* Kinetic, potential and strain energies of all bodies, beams and forces, and their gradients. */
#include "system/system_internal.h"

static real kinetic(const mbg__system *s, int body) {
  const mbg__body *b = &s->model->bodies[body];
  real p[6];
  m6_mulv_T(p, s->design->M + 36 * body, s->v + b->voff); /* M^T = M */
  return v6_dot(p, s->v + b->voff) / 2;
}

/* first moment m c of a mass matrix [[m, -mc~], [mc~, J]] */
static void first_moment(const real M[36], real mc[3]) {
  mc[0] = M[6 * 5 + 1];
  mc[1] = M[6 * 3 + 2];
  mc[2] = M[6 * 4 + 0];
}

/* V = -g . (m x + R mc) for a mass matrix (or its derivative) */
static void weight_arm(const mbg__system *s, int body, const real M[36], real arm[3]) {
  real mc[3];
  first_moment(M, mc);
  v3_scale(arm, M[0], s->H[body].x);
  m3_mulv_add(arm, s->H[body].R, mc);
}

static real gravity_energy(const mbg__system *s, int body) {
  real arm[3];
  if (s->model->gravity < 0) {
    return 0;
  }
  weight_arm(s, body, s->design->M + 36 * body, arm);
  return -v3_dot(s->design->attr + s->model->gravity, arm);
}

void mbg__energy_body_terms(const mbg__system *s, int body) {
  s->weight3[body][0] = kinetic(s, body);
  s->weight3[body][1] = gravity_energy(s, body);
}

static void body_terms(void *user, int i) { mbg__energy_body_terms(user, i); }

void mbg__energy_terms(const mbg__system *s) {
  mbg__pool_each(s->pool, MBG__EACH_ENERGY, s->model->nbody, body_terms, (void *)s);
  mbg__modals_energy_terms(s);
}

real mbg__energy_kinetic_sum(const mbg__system *s) {
  real e = 0;
  for (int i = 0; i < mbg__masses(s->model); i++) {
    e += s->weight3[i][0];
  }
  e += mbg__modals_energy_sum(s, 0);
  return e + mbg__beams_kinetic(s, -1);
}

real mbg__energy_kinetic(const mbg__system *s, int body) {
  if (body < 0) {
    mbg__energy_terms(s);
    return mbg__energy_kinetic_sum(s);
  }
  real e = kinetic(s, body);
  e += mbg__modals_kinetic(s, body);
  return e + mbg__beams_kinetic(s, body);
}

real mbg__energy_potential(const mbg__system *s) {
  mbg__energy_terms(s);
  return mbg__energy_potential_sum(s);
}

real mbg__energy_potential_sum(const mbg__system *s) {
  real e = 0;
  for (int i = 0; i < mbg__masses(s->model); i++) {
    e += s->weight3[i][1];
  }
  for (int i = 0; i < s->model->nforce; i++) {
    e += s->energy[i];
  }
  e += mbg__modals_energy_sum(s, 2) + mbg__modals_energy_sum(s, 1);
  return e + mbg__beams_gravity(s) + mbg__beams_strain_energy(s, NULL);
}

/* of a modal body, of beams, or of all */
real mbg__energy_strain(const mbg__system *s, const mbg__signal *sig) {
  return (sig->body < 0 ? mbg__beams_strain_energy(s, sig) : 0) +
         (sig->beam < 0 ? mbg__modals_strain(s, sig->body) : 0);
}

/* ---------------------------------------------------------------------- gradients */

static void kinetic_pull(const mbg__system *s, int body, real c, const mbg__cotangent *g) {
  const mbg__body *b = &s->model->bodies[body];
  const real *v = s->v + b->voff;
  real p[6];
  m6_mulv(p, s->design->M + 36 * body, v);
  if (g->v) {
    v6_axpy(g->v + b->voff, c, p);
  }
  for (int k = 0; g->a && k < b->nattr; k++) {
    m6_mulv(p, s->design->M_a[body] + 36 * k, v);
    g->a[b->attr + k] += c * v6_dot(p, v) / 2;
  }
}

void mbg__energy_kinetic_pull(const mbg__system *s, int body, real c, const mbg__cotangent *g) {
  mbg__modals_kinetic_pull(s, body, c, g);
  mbg__beams_kinetic_pull(s, body, c, g);
  for (int b = body < 0 ? 0 : body; b < (body < 0 ? mbg__masses(s->model) : body + 1); b++) {
    kinetic_pull(s, b, c, g);
  }
}

/* V = -g . (m x + R mc):  dV = -(m R^T g) . U - (mc x R^T g) . W */
static void gravity_pull(const mbg__system *s, int body, real c, const mbg__cotangent *g) {
  const mbg__body *b = &s->model->bodies[body];
  const real *M = s->design->M + 36 * body, *gv = s->design->attr + s->model->gravity;
  real Rg[3], mc[3], arm[3];
  m3_mulv_T(Rg, s->H[body].R, gv);
  first_moment(M, mc);
  if (g->w) {
    v3_axpy(g->w + b->voff, -c * M[0], Rg);
    v3_cross_add(g->w + b->voff + 3, -c, mc, Rg);
  }
  for (int k = 0; g->a && k < b->nattr; k++) {
    weight_arm(s, body, s->design->M_a[body] + 36 * k, arm);
    g->a[b->attr + k] -= c * v3_dot(gv, arm);
  }
  if (g->a) {
    weight_arm(s, body, M, arm);
    v3_axpy(g->a + s->model->gravity, -c, arm);
  }
}

void mbg__energy_potential_pull(const mbg__system *s, real c, const mbg__cotangent *g) {
  vec6 zero = {0};
  for (int i = 0; s->model->gravity >= 0 && i < mbg__masses(s->model); i++) {
    gravity_pull(s, i, c, g);
  }
  for (int i = 0; i < s->model->nforce; i++) {
    const mbg__force *f = &s->model->forces[i];
    vec6 gw;
    v6_scale(gw, c, s->energy_G[i]);
    mbg__kin_pair_pull(s, f->pair, gw, zero, NULL, g);
    for (int k = s->force_a0[i]; g->a && k < s->force_a0[i] + s->force_na[i]; k++) {
      g->a[s->f_aidx[k]] += c * s->energy_a[k];
    }
  }
  mbg__beams_gravity_pull(s, c, g);
  mbg__modals_gravity_pull(s, c, g);
  mbg__modals_strain_pull(s, -1, c, g);
  mbg__beams_strain_energy_pull(s, NULL, c, g);
}

void mbg__energy_strain_pull(const mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g) {
  if (sig->body < 0) {
    mbg__beams_strain_energy_pull(s, sig, c, g);
  }
  if (sig->beam < 0) {
    mbg__modals_strain_pull(s, sig->body, c, g);
  }
}
