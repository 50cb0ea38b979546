/* Energies, strains, section forces and stresses of beams, and their gradients (theory 4, section 3). */
#include "system/system_beams.h"

/* ---------------------------------------------------------------------- energies */

static void range_of(const mbg_model *m, const mbg__signal *sig, int *first, int *last) {
  *first = 0;
  *last = m->nelement;
  if (sig && sig->element >= 0) {
    *first = sig->element;
    *last = sig->element + 1;
  } else if (sig && sig->beam >= 0) {
    *first = m->beams[sig->beam].first;
    *last = *first + m->beams[sig->beam].count;
  }
}

real mbg__beams_strain_energy(const mbg__system *s, const mbg__signal *sig) {
  int first, last;
  real e = 0;
  range_of(s->model, sig, &first, &last);
  for (int i = first; i < last; i++) {
    e += s->beam[i].energy;
  }
  return e;
}

/* Twists of an element, and (z) the twist of node `body` alone, of both nodes for -1; false: it is no node of the
   element. The energy of a node is its share z.M v/2; the shares of all nodes add up to the energy of the beam. */
static bool share(const mbg__system *s, const mbg__element *b, int body, real v[12], real z[12]) {
  element_gather(s, b, s->v, v);
  vn_copy(12, z, v);
  for (int k = 0; body >= 0 && k < 2; k++) {
    if (b->e->body[k] != body) {
      v6_zero(z + 6 * k);
    }
  }
  return body < 0 || b->e->body[0] == body || b->e->body[1] == body;
}

real mbg__beams_kinetic(const mbg__system *s, int body) {
  real e = 0;
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    real v[12], z[12], p[12];
    if (share(s, &b, body, v, z)) {
      element_mul(p, b.data->M, v);
      e += vn_dot(12, z, p) / 2;
    }
  }
  return e;
}

/* -half g.(x_A + x_B) */
real mbg__beams_gravity(const mbg__system *s) {
  real e = 0;
  for (int i = 0; s->model->gravity >= 0 && i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    const real *g = gravity_of(s);
    e -= half_mass(&b) * (v3_dot(g, s->H[b.e->body[0]].x) + v3_dot(g, s->H[b.e->body[1]].x));
  }
  return e;
}

/* by v: (E M v + M z)/2 with z = E v */
static void kinetic_pull_v(const mbg__system *s, const mbg__element *b, int body, const real v[12], const real z[12],
                           real c, real *gv) {
  real p[12];
  element_mul(p, b->data->M, v);
  for (int k = 0; k < 2; k++) {
    if (body < 0 || b->e->body[k] == body) {
      v6_axpy(gv + s->model->bodies[b->e->body[k]].voff, c / 2, p + 6 * k);
    }
  }
  element_mul(p, b->data->M, z);
  element_scatter(s, b, c / 2, p, gv);
}

void mbg__beams_kinetic_pull(const mbg__system *s, int body, real c, const mbg__cotangent *g) {
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    const real *mu = b.data->c + MBG__BEAM_MU;
    real v[12], z[12], p[12], gc[MBG__BEAM_COEFS] = {0}, gd0[6] = {0};
    if (!share(s, &b, body, v, z)) {
      continue;
    }
    if (g->v) {
      kinetic_pull_v(s, &b, body, v, z, c, g->v);
    }
    for (int j = 0; g->a && j < 3; j++) {
      element_mul(p, b.shape->N[j], v);
      gc[MBG__BEAM_MU + j] = c * vn_dot(12, z, p) / 2;
      for (int k = 0; k < 6; k++) {
        element_mul(p, b.shape->N_d[k][j], v);
        gd0[k] += c * mu[j] * vn_dot(12, z, p) / 2;
      }
    }
    mbg__element_attributes_pull(&b, gc, gd0, g->a);
  }
}

void mbg__beams_gravity_pull(const mbg__system *s, real c, const mbg__cotangent *to) {
  for (int i = 0; s->model->gravity >= 0 && i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    const real half = half_mass(&b), *g = gravity_of(s);
    real gc[MBG__BEAM_COEFS] = {0}, gd0[6] = {0}, q = 0;
    for (int k = 0; k < 2; k++) {
      const mbg__frame *H = &s->H[b.e->body[k]];
      real a[3];
      q += v3_dot(g, H->x);
      if (to->w) {
        node_gravity(s, &b, k, g, a);
        v3_axpy(to->w + s->model->bodies[b.e->body[k]].voff, -c * half, a);
      }
      if (to->a) {
        v3_axpy(to->a + s->model->gravity, -c * half, H->x);
      }
    }
    gc[MBG__BEAM_MU] = -c * q * b.shape->L / 2;
    v3_axpy(gd0, -c * q * b.data->c[MBG__BEAM_MU] / (2 * b.shape->L), b.shape->d0);
    mbg__element_attributes_pull(&b, gc, gd0, to->a);
  }
}

/* energy e.K e/(2 L):  by G: T^-T K e/L;  by K_k: e_k^2/(2 L);  by d0: -K e/L - energy d0_U/L^2 */
void mbg__beams_strain_energy_pull(const mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g) {
  int first, last;
  const vec6 zero = {0};
  range_of(s->model, sig, &first, &last);
  for (int i = first; i < last; i++) {
    const mbg__element b = element_of(s, i);
    const real L = b.shape->L;
    real y[6], w[6], gc[MBG__BEAM_COEFS] = {0}, gd0[6];
    for (int k = 0; k < 6; k++) {
      y[k] = c * b.K[k] * b.state->e[k] / L;
      gc[MBG__BEAM_K + k] = c * b.state->e[k] * b.state->e[k] / (2 * L);
      gd0[k] = -y[k];
    }
    v3_axpy(gd0, -c * b.state->energy / (L * L), b.shape->d0);
    m6_mulv_T(w, b.state->Ti, y);
    mbg__kin_pair_pull(s, b.e->pair, w, zero, NULL, g);
    mbg__element_attributes_pull(&b, gc, gd0, g->a);
  }
}

/* ---------------------------------------------------------------------- strains, section forces, stresses */

/* weights of the strains in the stress of the solid material at the point (y, z): E (eps_1 + z eps_5 - y eps_6) */
static void stress_weights(const mbg__system *s, const mbg__signal *sig, const mbg__element *b, real q[6]) {
  const real E = s->design->attr[b->e->attr[MBG__BEAM_E]], *at = s->design->attr + sig->attr;
  v6_zero(q);
  q[0] = E;
  q[4] = E * at[1];
  q[5] = -E * at[0];
}

static void strain_weights(const mbg__system *s, const mbg__signal *sig, const mbg__element *b, real q[6]) {
  if (sig->type->role == MBG__ROLE_STRESS) {
    stress_weights(s, sig, b, q);
    return;
  }
  v6_zero(q);
  q[sig->opt[0]] = 1;
}

real mbg__beam_signal(const mbg__system *s, const mbg__signal *sig) {
  if (sig->element < 0) {
    return mbg__beam_stress(s, sig);
  }
  const mbg__element b = element_of(s, sig->element);
  real q[6];
  if (sig->type->role == MBG__ROLE_SECTION_FORCE) {
    return b.state->y[sig->opt[0]];
  }
  strain_weights(s, sig, &b, q);
  return v6_dot(q, b.state->e) / b.shape->L;
}

static void section_force_pull(const mbg__system *s, const mbg__element *b, int k, real c, vec6 gw, vec6 gv,
                               real gc[MBG__BEAM_COEFS], real gd0[6]) {
  real y_G[36], y_v[36], u[6] = {0};
  mbg__beam_section_forces(b->state, s->vrel[b->e->pair], b->K, b->eta, b->shape->L, y_G, y_v);
  v6_scale(gw, c, y_G + 6 * k);
  v6_scale(gv, c, y_v + 6 * k);
  u[k] = c;
  mbg__beam_change_T(b->state, b->K, b->eta, b->shape->d0, u, gc + MBG__BEAM_K, &gc[MBG__BEAM_ETA], gd0);
}

void mbg__beam_signal_pull(const mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g) {
  if (sig->element < 0) {
    mbg__beam_stress_pull(s, sig, c, g);
    return;
  }
  const mbg__element b = element_of(s, sig->element);
  const real L = b.shape->L;
  vec6 w, v = {0};
  real q[6], gc[MBG__BEAM_COEFS] = {0}, gd0[6] = {0};
  if (sig->type->role == MBG__ROLE_SECTION_FORCE) {
    section_force_pull(s, &b, sig->opt[0], c, w, v, gc, gd0);
  } else {
    /* y = q.e/L:  by G: T^-T q/L;  by d0: -q/L - y d0_U/L^2 */
    strain_weights(s, sig, &b, q);
    const real y = v6_dot(q, b.state->e) / L;
    m6_mulv_T(w, b.state->Ti, q);
    v6_scale(w, c / L, w);
    v6_axpy(gd0, -c / L, q);
    v3_axpy(gd0, -c * y / (L * L), b.shape->d0);
    if (g->a && sig->type->role == MBG__ROLE_STRESS) {
      const int E = b.e->attr[MBG__BEAM_E];
      g->a[E] += c * y / s->design->attr[E];
      g->a[sig->attr] -= c * s->design->attr[E] * b.state->e[5] / L;
      g->a[sig->attr + 1] += c * s->design->attr[E] * b.state->e[4] / L;
    }
  }
  mbg__kin_pair_pull(s, b.e->pair, w, v, NULL, g);
  mbg__element_attributes_pull(&b, gc, gd0, g->a);
}
