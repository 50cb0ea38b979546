/* Beams in a design: their reference d0, coefficients and mass matrices of the elements, velocities of the nodes. */
#include "model/beam_mass.h"
#include "model/design.h"
#include "model/pose.h"

#include <string.h>

/* ---------------------------------------------------------------------- checks */

static const char *must_be(int number) { return number == MBG__BEAM_DAMPING ? "zero or positive" : "positive"; }

static int check_element(mbg_context *ctx, const mbg__design *d, const mbg__beam_element *e) {
  const mbg__beam *beam = &d->model->beams[e->beam];
  for (int k = 0; k < MBG__BEAM_NUMBERS; k++) {
    const double x = e->attr[k] < 0 ? 1 : (double)re(d->attr[e->attr[k]]);
    const char *range = must_be(k);
    bool good = x > 0 || (x == 0 && k == MBG__BEAM_DAMPING);
    if (k == MBG__BEAM_G && !beam->rule.shear_modulus) {
      range = "between -1 and 0.5";
      good = x > -1 && x <= 0.5;
    } else if (k == MBG__BEAM_G) {
      range = "positive";
    } else if (k == MBG__BEAM_SECTION + 1 && beam->rule.section == MBG__TUBE && good) {
      range = "at most half the diameter";
      good = 2 * x <= re(d->attr[e->attr[MBG__BEAM_SECTION]]);
    }
    if (!good) {
      const mbg__attribute *a = &d->model->attributes[e->attr[k]];
      const mbg__where at = mbg__attribute_where(a);
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &at, 0, "%s is %g at these parameters; it must be %s", a->label->key, x,
                          range);
    }
  }
  return MBG_OK;
}

/* length of one element of a line or a helix from the attributes of the beam's shape */
static real element_length(const mbg__design *d, const mbg__beam *b) {
  const real *a = d->attr + b->shape;
  real along[3];
  if (b->kind == MBG__POSE_HELIX) {
    return a[0] / b->count;
  }
  v3_sub(along, a + 3, a);
  const real l2 = v3_dot(along, along);
  return re(l2) > 0 ? r_sqrt(l2) / b->count : 0;
}

/* frames of both nodes of element e of a curve; false: no tangent, or one that is parallel to the vector of the
   section */
typedef struct {
  mbg__placed node[2];
  int dep[2][MBG__FACTOR_DEPS];
  real omega[2][MBG__FACTOR_DEPS][6];
  real d0[6];
} piece;

static bool curve_piece(const mbg__design *d, const mbg__beam *b, int e, piece *out) {
  mbg__frame G;
  for (int i = 0; i < 2; i++) {
    const mbg__pose_op op = {
        .kind = MBG__POSE_CURVE, .mode = b->npoint, .attr = b->shape, .fraction = (double)(e + i) / b->count};
    out->node[i] = (mbg__placed){.dep = out->dep[i], .omega = out->omega[i]};
    if (!mbg__pose_factor(&op, d->attr, &out->node[i])) {
      return false;
    }
  }
  frame_relative(&G, &out->node[0].h, &out->node[1].h);
  mbg__se3_log(out->d0, &G);
  return true;
}

static int check_curve(mbg_context *ctx, const mbg__design *d, const mbg__beam *b) {
  piece p;
  for (int e = 0; e < b->count; e++) {
    if (!curve_piece(d, b, e, &p)) {
      return mbg__fail_at(
          ctx, MBG_ERROR_INPUT, &b->where, 0,
          "at these parameters the curve has no tangent at element %d, or the tangent is parallel to 'orient'", e);
    }
    const double L = sqrt(re(v3_dot(p.d0, p.d0))), turn = sqrt(re(v3_dot(p.d0 + 3, p.d0 + 3)));
    if (!(L > 1e-12)) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &b->where, 0,
                          "element %d has length %g at these parameters; it must be positive", e, L);
    }
    if (!(turn < MBG__BEAM_TURN_MAX)) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &b->where, 0,
                          "element %d turns by %.3g rad at these parameters; use more elements", e, turn);
    }
  }
  return MBG_OK;
}

static int check_shape(mbg_context *ctx, const mbg__design *d, const mbg__beam *b) {
  if (b->kind == MBG__POSE_CURVE) {
    return check_curve(ctx, d, b);
  }
  const double L = re(element_length(d, b));
  return L > 1e-12 ? MBG_OK
                   : mbg__fail_at(ctx, MBG_ERROR_INPUT, &b->where, 0,
                                  "the elements have length %g at these parameters; it must be positive", L);
}

int mbg__design_check_beams(mbg_context *ctx, const mbg__design *d) {
  int err = MBG_OK;
  const mbg_model *m = d->model;
  for (int i = 0; i < m->nbeam; i++) {
    MBG_TRY(check_shape(ctx, d, &m->beams[i]));
  }
  for (int i = 0; i < m->nelement; i++) {
    MBG_TRY(check_element(ctx, d, &m->elements[i]));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- reference of a beam */

/* d0 = (L, 0, 0, 0, 0, 0)/n with L = |b - a| */
static void line(const mbg__design *d, const mbg__beam *b, mbg__beam_shape *s) {
  const real *a = d->attr + b->shape, L = element_length(d, b);
  s->d0[0] = L;
  s->ndep = 6;
  for (int k = 0; k < 3; k++) {
    const real n = (a[3 + k] - a[k]) / (L * b->count);
    s->d0_a[k][0] = -n / b->count;
    s->d0_a[3 + k][0] = n / b->count;
  }
}

/* d0 = L (1, 0, 0, k)/n */
static void helix(const mbg__design *d, const mbg__beam *b, mbg__beam_shape *s) {
  const real *a = d->attr + b->shape, L = element_length(d, b);
  s->d0[0] = L;
  s->ndep = 4;
  s->d0_a[0][0] = 1.0 / b->count;
  for (int k = 0; k < 3; k++) {
    s->d0[3 + k] = L * a[1 + k];
    s->d0_a[0][3 + k] = a[1 + k] / b->count;
    s->d0_a[1 + k][3 + k] = L;
  }
}

/* d0 = log(H_A^-1 H_B):  dd0 = T^-1(d0) w_B - T^-1(-d0) w_A */
static void curve(const mbg__design *d, const mbg__beam *b, int e, mbg__beam_shape *s) {
  piece p;
  if (!curve_piece(d, b, e, &p)) {
    return; /* refused by the check */
  }
  v6_copy(s->d0, p.d0);
  s->ndep = 0;
  for (int i = 0; i < 2; i++) {
    const double sign = i == 0 ? -1 : 1;
    real h[6], Ti[36];
    v6_scale(h, sign, p.d0);
    mbg__se3_tangent_inv(Ti, h);
    for (int k = 0; k < p.node[i].ndep; k++, s->ndep++) {
      m6_mulv(s->d0_a[s->ndep], Ti, p.omega[i][k]);
      v6_scale(s->d0_a[s->ndep], sign, s->d0_a[s->ndep]);
      s->dep[s->ndep] = p.dep[i][k];
    }
  }
}

static void update_shape(const mbg__design *d, const mbg__beam *b, int e, mbg__beam_shape *s) {
  v6_zero(s->d0);
  memset(s->d0_a, 0, sizeof(s->d0_a));
  for (int k = 0; k < 6; k++) {
    s->dep[k] = b->shape + k;
  }
  if (b->kind == MBG__POSE_LINE) {
    line(d, b, s);
  } else if (b->kind == MBG__POSE_HELIX) {
    helix(d, b, s);
  } else {
    curve(d, b, e, s);
  }
  for (int k = 0; k < s->ndep; k++) {
    for (int i = 0; i < 6; i++) {
      s->d0_a[k][i] *= b->sign[i];
    }
  }
  for (int i = 0; i < 6; i++) {
    s->d0[i] *= b->sign[i];
  }
  s->L = v3_norm(s->d0);
  mbg__beam_mass(s->d0, b->lumped, s->N, s->N_d);
}

void mbg__design_update_beams(mbg__design *d) {
  const mbg_model *m = d->model;
  for (int i = 0; i < m->nbeam; i++) {
    const mbg__beam *b = &m->beams[i];
    for (int e = 0; e < (b->kind == MBG__POSE_CURVE ? b->count : 1); e++) {
      update_shape(d, b, e, &d->shapes[b->reference + e]);
    }
  }
  for (int i = 0; i < m->nelement; i++) {
    const mbg__beam_element *e = &m->elements[i];
    mbg__beam_data *data = &d->elements[i];
    real z[MBG__BEAM_NUMBERS];
    for (int k = 0; k < MBG__BEAM_NUMBERS; k++) {
      z[k] = e->attr[k] < 0 ? 0 : d->attr[e->attr[k]];
    }
    mbg__beam_coefs(&m->beams[e->beam].rule, z, data->c, data->c_z);
    vn_zero(144, data->M);
    for (int j = 0; j < 3; j++) {
      vn_axpy(144, data->M, data->c[MBG__BEAM_MU + j], d->shapes[e->reference].N[j]);
    }
  }
}

/* ---------------------------------------------------------------------- velocities of the nodes */

/* rho = R^T (x - x_P):  drho = w_U + rho x w_W - R^T R_P w_P,U */
void mbg__design_lever(const mbg__design *d, const mbg__body *b, real rho[3]) {
  frame_point_inv(rho, &d->poses[b->guess].h, d->poses[b->velocity_point].h.x);
  v3_scale(rho, -1, rho);
}

/* d(W x rho) */
void mbg__design_lever_push(const mbg__design *d, const mbg__body *b, const real *da, const real w[6], const real v[6],
                            real dv[6]) {
  const mbg__placed *P = &d->poses[b->velocity_point];
  real rho[3], drho[3], wP[3] = {0}, x[3], y[3];
  mbg__design_lever(d, b, rho);
  for (int k = 0; k < P->ndep; k++) {
    v3_axpy(wP, da[P->dep[k]], P->omega[k]);
  }
  m3_mulv(x, P->h.R, wP);
  m3_mulv_T(y, d->poses[b->guess].h.R, x);
  v3_sub(drho, w, y);
  v3_cross_add(drho, 1, rho, w + 3);
  v3_cross_add(dv, 1, dv + 3, rho);
  v3_cross_add(dv, 1, v + 3, drho);
}

/* adds to the cotangents of the twist at the point, of the body's frame and of attributes */
void mbg__design_lever_pull(const mbg__design *d, const mbg__body *b, const real v[6], real gv[6], real gw[6],
                            real *ga) {
  const mbg__placed *P = &d->poses[b->velocity_point];
  real rho[3], grho[3], x[3], y[3];
  mbg__design_lever(d, b, rho);
  v3_cross(grho, gv, v + 3);
  v3_cross_add(gv + 3, 1, rho, gv);
  v3_axpy(gw, 1, grho);
  v3_cross_add(gw + 3, 1, grho, rho);
  m3_mulv(x, d->poses[b->guess].h.R, grho);
  m3_mulv_T(y, P->h.R, x);
  for (int k = 0; k < P->ndep; k++) {
    ga[P->dep[k]] -= v3_dot(P->omega[k], y);
  }
}
