/* The largest eigenvalue of an assembly K = sum K_e, M = sum M_e is at most that of one of its parts, since x.K x <=
   max_e omega_e^2 x.M x; joints and masses at the nodes only lower it. Each element is taken in its reference shape,
   G = exp(d0):

     K_e = J^T T^-T diag(K) T^-1 J / L     J = [-Ad(G^-1), I]     M_e = M of the design     C_e = eta K_e */
#include "run/step_beams.h"

#include "math/eigen.h"

#include <string.h>

/* K_e (12 x 12) */
static void stiffness(const mbg__beam_data *data, const mbg__beam_shape *shape, double K[144]) {
  mbg__frame G, back;
  real T[36], A[36], TA[36];
  double J[6][12];
  mbg__se3_exp(&G, shape->d0);
  frame_inv(&back, &G);
  mbg__Ad_matrix(A, &back);
  mbg__se3_tangent_inv(T, shape->d0);
  m6_mul(TA, T, A);
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      J[i][j] = -re(TA[6 * i + j]);
      J[i][6 + j] = re(T[6 * i + j]);
    }
  }
  memset(K, 0, 144 * sizeof(double));
  for (int k = 0; k < 6; k++) {
    const double c = re(data->c[MBG__BEAM_K + k]) / re(shape->L);
    for (int i = 0; i < 12; i++) {
      for (int j = 0; j < 12; j++) {
        K[12 * i + j] += c * J[k][i] * J[k][j];
      }
    }
  }
}

/* omega^2 of an element, 0: a motion without mass; planar nodes move in their plane alone */
static int fastest_of(mbg_context *ctx, const mbg__design *design, int element, double *square) {
  const mbg_model *m = design->model;
  const mbg__beam_element *e = &m->elements[element];
  const mbg__beam_data *data = &design->elements[element];
  double all[144], K[144], M[144], w[12];
  int n = 0, free_[12];
  *square = 0;
  for (int i = 0; i < 12; i++) {
    if (m->dof[m->bodies[e->body[i / 6]].voff + i % 6] >= 0) {
      free_[n++] = i;
    }
  }
  stiffness(data, &design->shapes[e->reference], all);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      K[i * n + j] = all[12 * free_[i] + free_[j]];
      M[i * n + j] = re(data->M[12 * free_[i] + free_[j]]);
    }
  }
  const int err = n > 0 ? mbg__eigen_pair(ctx, n, K, M, w) : MBG_ERROR_SINGULAR;
  if (err == MBG_OK) {
    *square = fmax(w[n - 1], 0);
  }
  return err == MBG_ERROR_MEMORY ? mbg__fail_memory(ctx) : MBG_OK;
}

int mbg__beam_vibration_find(mbg_context *ctx, const mbg__design *design, mbg__beam_vibration *out) {
  double most = 0;
  *out = (mbg__beam_vibration){.element = -1};
  for (int i = 0; i < design->model->nelement; i++) {
    double square;
    const int err = fastest_of(ctx, design, i, &square);
    if (err < 0) {
      return err;
    }
    const double omega = sqrt(square), decay = re(design->elements[i].c[MBG__BEAM_ETA]) * square / 2;
    if (fmax(omega, 2 * decay) > most) {
      most = fmax(omega, 2 * decay);
      *out = (mbg__beam_vibration){i, omega, decay};
    }
  }
  return MBG_OK;
}
