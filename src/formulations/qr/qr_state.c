#include "formulations/qr/qr_state.h"
#include "math/flat.h"
#include "model/body_label.h"

#include <string.h>

/* components of a motion */
static const int places[] = {[MBG__SPATIAL] = 7, [MBG__PLANAR] = 3, [MBG__POINT] = 3, [MBG__PLANAR_POINT] = 2};

int mbg__qr_state_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, mbg__qr_state *s) {
  *s = (mbg__qr_state){.m = m};
  s->first = MBG_TAKE(arena, int, m->nbody);
  s->H0 = MBG_TAKE(arena, mbg__frame, m->nbody);
  s->turn = MBG_TAKE(arena, mbg__qr_turn, m->nbody);
  for (int b = 0; s->first && b < m->nbody; b++) {
    s->first[b] = s->nplace;
    s->nplace += places[m->bodies[b].motion];
    if (s->turn) {
      s->turn[b].c = 1;
    }
  }
  s->n = s->nplace + m->nv;
  return mbg__arena_check(ctx, arena);
}

void mbg__qr_state_begin(mbg__qr_state *s, const mbg__frame *H, const real *v, real *z) {
  memcpy(s->H0, H, (size_t)s->m->nbody * sizeof(*H));
  memset(z, 0, (size_t)s->n * sizeof(real));
  s->flat = true;
  for (int b = 0; b < s->m->nbody; b++) {
    s->flat = s->flat && s->m->bodies[b].motion == MBG__PLANAR && flat_frame(&H[b]);
    if (s->m->bodies[b].motion == MBG__SPATIAL) {
      z[s->first[b] + 3] = 1;
    }
  }
  mbg__to_free(s->m, 1, v, z + s->nplace);
}

/* ---------------------------------------------------------------------- frames */

/* R of q/|q| */
static void rotation(const real q[4], real R[9]) {
  const real s = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  R[0] = 1 - s * (q[2] * q[2] + q[3] * q[3]);
  R[1] = s * (q[1] * q[2] - q[0] * q[3]);
  R[2] = s * (q[1] * q[3] + q[0] * q[2]);
  R[3] = s * (q[1] * q[2] + q[0] * q[3]);
  R[4] = 1 - s * (q[1] * q[1] + q[3] * q[3]);
  R[5] = s * (q[2] * q[3] - q[0] * q[1]);
  R[6] = s * (q[1] * q[3] - q[0] * q[2]);
  R[7] = s * (q[2] * q[3] + q[0] * q[1]);
  R[8] = 1 - s * (q[1] * q[1] + q[2] * q[2]);
}

/* out = q o (0, W) / 2 */
static void quaternion_rate(const real q[4], const real W[3], real out[4]) {
  out[0] = -0.5 * (q[1] * W[0] + q[2] * W[1] + q[3] * W[2]);
  out[1] = 0.5 * (q[0] * W[0] + q[2] * W[2] - q[3] * W[1]);
  out[2] = 0.5 * (q[0] * W[1] + q[3] * W[0] - q[1] * W[2]);
  out[3] = 0.5 * (q[0] * W[2] + q[1] * W[1] - q[2] * W[0]);
}

/* the turn of a planar body; the cosine and sine of its last angle are kept */
static const mbg__qr_turn *turn_of(const mbg__qr_state *s, int body, const real *z) {
  mbg__qr_turn *turn = &s->turn[body];
  if (turn->angle != z[2]) {
    *turn = (mbg__qr_turn){z[2], r_cos(z[2]), r_sin(z[2])};
  }
  return turn;
}

/* the frame g of a planar body */
static void read_planar(const mbg__qr_state *s, int body, const real *z, mbg__frame *g) {
  const mbg__qr_turn *turn = turn_of(s, body, z);
  flat_frame_set(g, turn->c, -turn->s, turn->s, turn->c, z[0], z[1]);
}

static bool planar(const mbg__qr_state *s, int body) { return s->m->bodies[body].motion == MBG__PLANAR; }

/* the frame g of one body */
static void read_place(mbg__motion motion, const real *z, mbg__frame *g) {
  frame_identity(g);
  g->x[0] = z[0];
  g->x[1] = z[1];
  if (motion == MBG__SPATIAL) {
    g->x[2] = z[2];
    rotation(z + 3, g->R);
  } else if (motion == MBG__PLANAR) {
    const real c = r_cos(z[2]), s = r_sin(z[2]);
    g->R[0] = g->R[4] = c;
    g->R[1] = -s;
    g->R[3] = s;
  } else if (motion == MBG__POINT) {
    g->x[2] = z[2];
  }
}

void mbg__qr_state_read(const mbg__qr_state *s, const real *z, mbg__frame *H, real *v) {
  for (int b = 0; b < s->m->nbody; b++) {
    mbg__frame g;
    if (planar(s, b)) {
      read_planar(s, b, z + s->first[b], &g);
    } else {
      read_place(s->m->bodies[b].motion, z + s->first[b], &g);
    }
    if (planar(s, b) && flat_frame(&s->H0[b])) {
      flat_frame_mul(&H[b], &s->H0[b], &g);
    } else {
      frame_mul(&H[b], &s->H0[b], &g);
    }
  }
  memset(v, 0, (size_t)s->m->nw * sizeof(real));
  mbg__to_full(s->m, 1, z + s->nplace, v);
}

void mbg__qr_state_read_frame(const mbg__qr_state *s, int body, const real *z, real frame[4]) {
  const real *g = z + s->first[body], *R = s->H0[body].R, *x = s->H0[body].x;
  const mbg__qr_turn *turn = turn_of(s, body, g);
  frame[0] = R[0] * turn->c + R[1] * turn->s;
  frame[1] = R[3] * turn->c + R[4] * turn->s;
  frame[2] = x[0] + R[0] * g[0] + R[1] * g[1];
  frame[3] = x[1] + R[3] * g[0] + R[4] * g[1];
}

void mbg__qr_state_read_frames(const mbg__qr_state *s, const real *z, real *frames) {
  for (int b = 0; b < s->m->nbody; b++) {
    mbg__qr_state_read_frame(s, b, z, frames + 4 * (size_t)b);
  }
}

/* ---------------------------------------------------------------------- rates */

/* g' = g v~ */
static void place_rates(mbg__motion motion, const real *z, const real v[6], real *zd) {
  real x[3];
  mbg__frame g;
  read_place(motion, z, &g);
  m3_mulv(x, g.R, v);
  zd[0] = x[0];
  zd[1] = x[1];
  if (motion == MBG__SPATIAL) {
    zd[2] = x[2];
    quaternion_rate(z + 3, v + 3, zd + 3);
  } else if (motion == MBG__PLANAR) {
    zd[2] = v[5];
  } else if (motion == MBG__POINT) {
    zd[2] = x[2];
  }
}

/* the same of a planar body */
static void planar_rates(const mbg__qr_state *s, int body, const real *z, const real v[6], real *zd) {
  const mbg__qr_turn *g = turn_of(s, body, z);
  zd[0] = g->c * v[0] - g->s * v[1];
  zd[1] = g->s * v[0] + g->c * v[1];
  zd[2] = v[5];
}

void mbg__qr_state_rates(const mbg__qr_state *s, const real *z, const real *v_star, const real *a, real *zd) {
  for (int b = 0; b < s->m->nbody; b++) {
    if (planar(s, b)) {
      planar_rates(s, b, z + s->first[b], v_star + s->m->bodies[b].voff, zd + s->first[b]);
      continue;
    }
    place_rates(s->m->bodies[b].motion, z + s->first[b], v_star + s->m->bodies[b].voff, zd + s->first[b]);
  }
  mbg__to_free(s->m, 1, a, zd + s->nplace);
}

/* ---------------------------------------------------------------------- variations */

/* w of a change dz of one body's components */
static void place_variation(mbg__motion motion, const real *z, const real *dz, real w[6]) {
  mbg__frame g;
  read_place(motion, z, &g);
  const real dx[3] = {dz[0], dz[1], motion == MBG__SPATIAL || motion == MBG__POINT ? dz[2] : 0};
  m3_mulv_T(w, g.R, dx);
  v3_zero(w + 3);
  if (motion == MBG__SPATIAL) {
    /* W = 2 vec(q^-1 o dq) */
    const real *q = z + 3, *d = dz + 3;
    const real s = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    w[3] = s * (q[0] * d[1] - q[1] * d[0] - q[2] * d[3] + q[3] * d[2]);
    w[4] = s * (q[0] * d[2] - q[2] * d[0] - q[3] * d[1] + q[1] * d[3]);
    w[5] = s * (q[0] * d[3] - q[3] * d[0] - q[1] * d[2] + q[2] * d[1]);
  } else if (motion == MBG__PLANAR) {
    w[5] = dz[2];
  }
}

void mbg__qr_state_variation(const mbg__qr_state *s, const real *z, const real *dz, real *w, real *dv) {
  memset(w, 0, (size_t)s->m->nw * sizeof(real));
  memset(dv, 0, (size_t)s->m->nw * sizeof(real));
  for (int b = 0; b < s->m->nbody; b++) {
    place_variation(s->m->bodies[b].motion, z + s->first[b], dz + s->first[b], w + s->m->bodies[b].voff);
  }
  mbg__to_full(s->m, 1, dz + s->nplace, dv);
}

void mbg__qr_state_start_push(const mbg__qr_state *s, const real *z, const real *w0, real *w) {
  for (int b = 0; b < s->m->nbody; b++) {
    const int off = s->m->bodies[b].voff;
    mbg__frame g;
    real own[6];
    read_place(s->m->bodies[b].motion, z + s->first[b], &g);
    AdInv_mul(own, &g, w0 + off);
    v6_axpy(w + off, 1, own);
  }
}

/* x' = R U: R (dU + W_w x U); q' = q o W / 2: dq o W / 2 + q o dW / 2 */
static void place_rates_push(mbg__motion motion, const real *z, const real *dz, const real v[6], const real dv[6],
                             real *dzd) {
  real w[6], u[3] = {dv[0], dv[1], dv[2]}, x[3], q[4];
  mbg__frame g;
  read_place(motion, z, &g);
  place_variation(motion, z, dz, w);
  v3_cross_add(u, 1, w + 3, v);
  m3_mulv(x, g.R, u);
  dzd[0] = x[0];
  dzd[1] = x[1];
  if (motion == MBG__SPATIAL) {
    dzd[2] = x[2];
    quaternion_rate(dz + 3, v + 3, dzd + 3);
    quaternion_rate(z + 3, dv + 3, q);
    vn_axpy(4, dzd + 3, 1, q);
  } else if (motion == MBG__PLANAR) {
    dzd[2] = dv[5];
  } else if (motion == MBG__POINT) {
    dzd[2] = x[2];
  }
}

void mbg__qr_state_rates_push(const mbg__qr_state *s, const real *z, const real *dz, const real *v_star,
                              const real *dv_star, const real *da, real *dzd) {
  for (int b = 0; b < s->m->nbody; b++) {
    const int off = s->m->bodies[b].voff;
    place_rates_push(s->m->bodies[b].motion, z + s->first[b], dz + s->first[b], v_star + off, dv_star + off,
                     dzd + s->first[b]);
  }
  mbg__to_free(s->m, 1, da, dzd + s->nplace);
}

/* ---------------------------------------------------------------------- transposes */

static bool has_height(mbg__motion motion) { return motion == MBG__SPATIAL || motion == MBG__POINT; }

/* gq += transpose of W = 2 vec(q^-1 o dq)/|q|^2 */
static void turn_pull(const real q[4], const real W[3], real *gq) {
  real x[4];
  quaternion_rate(q, W, x);
  vn_axpy(4, gq, 4 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), x);
}

/* transpose of q o W / 2 in W */
static void quaternion_rate_pull(const real q[4], const real b[4], real W[3]) {
  W[0] = 0.5 * (q[0] * b[1] - q[1] * b[0] + q[3] * b[2] - q[2] * b[3]);
  W[1] = 0.5 * (q[0] * b[2] - q[2] * b[0] - q[3] * b[1] + q[1] * b[3]);
  W[2] = 0.5 * (q[0] * b[3] - q[3] * b[0] + q[2] * b[1] - q[1] * b[2]);
}

/* of place_rates_push; dq o W / 2 is skew in dq */
static void place_rates_pull(mbg__motion motion, const real *z, const real v[6], const real *b, real *gz, real mu[6]) {
  const real bx[3] = {b[0], b[1], has_height(motion) ? b[2] : 0};
  real turn[3], q[4];
  mbg__frame g;
  read_place(motion, z, &g);
  m3_mulv_T(mu, g.R, bx);
  v3_zero(mu + 3);
  v3_cross(turn, v, mu);
  if (motion == MBG__SPATIAL) {
    turn_pull(z + 3, turn, gz + 3);
    quaternion_rate(b + 3, v + 3, q);
    vn_axpy(4, gz + 3, -1, q);
    quaternion_rate_pull(z + 3, b + 3, mu + 3);
  } else if (motion == MBG__PLANAR) {
    gz[2] += turn[2];
    mu[5] = b[2];
  }
}

static void planar_rates_pull(const mbg__qr_state *s, int body, const real *z, const real v[6], const real *b, real *gz,
                              real mu[6]) {
  const mbg__qr_turn *g = turn_of(s, body, z);
  flat_set(mu, g->c * b[0] + g->s * b[1], g->c * b[1] - g->s * b[0], b[2]);
  gz[2] += v[0] * mu[1] - v[1] * mu[0];
}

void mbg__qr_state_flat_rates_pull(const mbg__qr_state *s, const real *z, const real *v_star, const real *b, real *gz,
                                   real *mu) {
  for (int i = 0; i < s->m->nbody; i++, z += 3, b += 3, gz += 3, mu += 3) {
    const mbg__qr_turn *g = turn_of(s, i, z);
    const real *v = v_star + s->m->bodies[i].voff;
    mu[0] = g->c * b[0] + g->s * b[1];
    mu[1] = g->c * b[1] - g->s * b[0];
    mu[2] = b[2];
    gz[2] += v[0] * mu[1] - v[1] * mu[0];
  }
}

void mbg__qr_state_rates_pull(const mbg__qr_state *s, const real *z, const real *v_star, const real *b, real *gz,
                              real *mu, real *rho) {
  memset(rho, 0, (size_t)s->m->nw * sizeof(real));
  mbg__to_full(s->m, 1, b + s->nplace, rho);
  for (int i = 0; i < s->m->nbody; i++) {
    const int off = s->m->bodies[i].voff, at = s->first[i];
    if (planar(s, i)) {
      planar_rates_pull(s, i, z + at, v_star + off, b + at, gz + at, mu + off);
      continue;
    }
    place_rates_pull(s->m->bodies[i].motion, z + at, v_star + off, b + at, gz + at, mu + off);
  }
}

/* of place_variation, and of w = Ad(g^-1) w0 */
static void read_place_pull(mbg__motion motion, const real *z, const real gw[6], real *gz, real g0[6]) {
  real x[3], start[6];
  mbg__frame g;
  read_place(motion, z, &g);
  m3_mulv(x, g.R, gw);
  vn_axpy(has_height(motion) ? 3 : 2, gz, 1, x);
  if (motion == MBG__SPATIAL) {
    turn_pull(z + 3, gw + 3, gz + 3);
  } else if (motion == MBG__PLANAR) {
    gz[2] += gw[5];
  }
  AdInvT_mul(start, &g, gw);
  v6_axpy(g0, 1, start);
}

/* of a flat gradient */
static void planar_read_pull(const mbg__qr_state *s, int body, const real *z, const real gw[6], real *gz, real g0[6]) {
  const mbg__qr_turn *g = turn_of(s, body, z);
  const real x = g->c * gw[0] - g->s * gw[1], y = g->s * gw[0] + g->c * gw[1];
  gz[0] += x;
  gz[1] += y;
  gz[2] += gw[5];
  g0[0] += x;
  g0[1] += y;
  g0[5] += gw[5] + (z[0] * y - z[1] * x);
}

void mbg__qr_state_flat_read_pull(const mbg__qr_state *s, const real *z, const real *gw, const real *gv, real *gz,
                                  real *g0) {
  for (int j = 0; j < s->m->nv; j++) {
    gz[s->nplace + j] += gv[j];
  }
  for (int i = 0; i < s->m->nbody; i++, z += 3, gw += 3, gz += 3) {
    const real flat[6] = {gw[0], gw[1], 0, 0, 0, gw[2]};
    planar_read_pull(s, i, z, flat, gz, g0 + s->m->bodies[i].voff);
  }
}

void mbg__qr_state_read_pull(const mbg__qr_state *s, const real *z, const real *gw, const real *gv, real *gz,
                             real *g0) {
  for (int i = 0; i < s->m->nbody; i++) {
    const int off = s->m->bodies[i].voff, at = s->first[i];
    if (planar(s, i) && flat_vector(gw + off)) {
      if (gw[off] == 0 && gw[off + 1] == 0 && gw[off + 5] == 0) { /* bodies that a signal does not look at */
        continue;
      }
      planar_read_pull(s, i, z + at, gw + off, gz + at, g0 + off);
      continue;
    }
    read_place_pull(s->m->bodies[i].motion, z + at, gw + off, gz + at, g0 + off);
  }
  for (int j = 0; j < s->m->nv; j++) {
    gz[s->nplace + j] += gv[s->m->full[j]];
  }
}

void mbg__qr_state_label(const mbg__qr_state *s, int i, char *buffer, size_t size) {
  const mbg_model *m = s->m;
  int body = 0;
  if (i < 0 || i >= s->n) {
    mbg__format(buffer, size, "the state");
    return;
  }
  const bool place = i < s->nplace;
  const int at = place ? i : m->full[i - s->nplace];
  while (body + 1 < m->nbody && (place ? s->first[body + 1] : m->bodies[body + 1].voff) <= at) {
    body++;
  }
  char label[160];
  mbg__body_label(m, body, place ? -1 : at - m->bodies[body].voff, label, sizeof(label));
  if (m->bodies[body].state >= 0 && !place) {
    mbg__format(buffer, size, "%s", label);
  } else {
    mbg__format(buffer, size, "the %s of %s", place ? "position" : "velocity", label);
  }
}
