/* Wheel that rolls on the plane of A with normal z: B's origin is its centre, z of B its axle. A circle of radius r
   with a tube of radius rho around it (rho = 0: a thin disc). With nu = (R31, R32, R33) the normal in B's axes, s the
   length of (nu1, nu2) and (e1, e2) = (nu1, nu2)/s, the contact point is p = -r (e1, e2, 0) - rho nu, and its material
   point has no velocity along t = (-e2, e1, 0) and across, a = nu x t (theory 8, section 4):

     gap      x3 - r s - rho
     along    t.(U + W x p):  (-e2, e1, 0, rho nu3 e1, rho nu3 e2, -r - rho s)
     across   a.(U + W x p):  (-nu3 e1, -nu3 e2, s, -e2 (r s + rho), e1 (r s + rho), 0) */
#include "elements/joint_rows.h"
#include "elements/rate_jets.h"
#include "elements/rolling_keys.h"

enum { RADIUS, TUBE, STABILIZATION };

static const mbg__key keys[] = {
    {.name = "radius",
     .kind = MBG__KEY_NUMBER,
     .required = true,
     .sign = MBG__POSITIVE,
     .unit = "m",
     .help = "radius to the centre of the tube"},
    {.name = "tube",
     .kind = MBG__KEY_NUMBER,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "m",
     .help = "radius of the tube, 0: a thin disc"},
    MBG__KEY_STABILIZATION,
    MBG__KEY_LEVEL,
    MBG__KEY_PROFILE,
};

/* F = -r s - rho, z = (nu1, nu2, r, rho); with f = (-e2, e1): s_ij = f_i f_j / s,
   s_ijk = -(e_i f_j f_k + f_i e_j f_k + f_i f_j e_k) / s^2 */
static void height(const real *z, int turns, int order, mbg__jet3 *out) {
  (void)turns;
  const real r = z[2], s = r_sqrt(z[0] * z[0] + z[1] * z[1]);
  const real e[2] = {z[0] / s, z[1] / s}, f[2] = {-e[1], e[0]};
  out->F = -r * s - z[3];
  if (order >= 1) {
    out->F_z[2] = -s;
    out->F_z[3] = -1;
  }
  for (int i = 0; i < 2 && order >= 1; i++) {
    out->F_z[i] = -r * e[i];
    if (order >= 2) {
      out->F_zz[i][2] = out->F_zz[2][i] = -e[i];
    }
    for (int j = 0; j < 2 && order >= 2; j++) {
      out->F_zz[i][j] = -r * f[i] * f[j] / s;
      if (order >= 3) {
        out->F_zzz[i][j][2] = out->F_zzz[i][2][j] = out->F_zzz[2][i][j] = -f[i] * f[j] / s;
      }
      for (int k = 0; k < 2 && order >= 3; k++) {
        out->F_zzz[i][j][k] = r * (e[i] * f[j] * f[k] + f[i] * e[j] * f[k] + f[i] * f[j] * e[k]) / (s * s);
      }
    }
  }
}

/* s, e1, e2, nu3, r, rho with derivatives by z = (nu1, nu2, nu3, r, rho) */
typedef struct {
  mbg__jet2 s, e[2], nu3, r, rho;
} tilt;

static void tilt_at(const real *z, tilt *q) {
  const real s = r_sqrt(z[0] * z[0] + z[1] * z[1]);
  const real e[2] = {z[0] / s, z[1] / s}, f[2] = {-e[1], e[0]};
  *q = (tilt){0};
  q->s.f = s;
  q->e[0].f = e[0];
  q->e[1].f = e[1];
  q->nu3 = jet2_input(z, 2);
  q->r = jet2_input(z, 3);
  q->rho = jet2_input(z, 4);
  for (int i = 0; i < 2; i++) {
    q->s.f_z[i] = e[i];
    for (int j = 0; j < 2; j++) {
      q->s.f_zz[i][j] = q->e[i].f_z[j] = f[i] * f[j] / s;
      for (int k = 0; k < 2; k++) {
        q->e[i].f_zz[j][k] = -(e[i] * f[j] * f[k] + f[i] * e[j] * f[k] + f[i] * f[j] * e[k]) / (s * s);
      }
    }
  }
}

static void along(const real *z, mbg__rate_jet *out) {
  tilt q;
  tilt_at(z, &q);
  jet2_put(out, 0, -1, &q.e[1]);
  jet2_put(out, 1, 1, &q.e[0]);
  const mbg__jet2 lift = jet2_mul(&q.rho, &q.nu3), more = jet2_mul(&q.rho, &q.s);
  for (int i = 0; i < 2; i++) {
    const mbg__jet2 x = jet2_mul(&lift, &q.e[i]);
    jet2_put(out, 3 + i, 1, &x);
  }
  jet2_put(out, 5, -1, &q.r);
  jet2_put(out, 5, -1, &more);
}

static void across(const real *z, mbg__rate_jet *out) {
  tilt q;
  tilt_at(z, &q);
  const mbg__jet2 rs = jet2_mul(&q.r, &q.s), arm = jet2_sum(1, &rs, 1, &q.rho);
  for (int i = 0; i < 2; i++) {
    const mbg__jet2 x = jet2_mul(&q.nu3, &q.e[i]), y = jet2_mul(&arm, &q.e[1 - i]);
    jet2_put(out, i, -1, &x);
    jet2_put(out, 3 + i, i == 0 ? -1 : 1, &y);
  }
  jet2_put(out, 2, 1, &q.s);
}

/* the heading is lost when the axle is normal to the plane */
static const char *lies(const mbg__frame *G) {
  const double x = re(G->R[6]), y = re(G->R[7]);
  return x * x + y * y > 1e-6 ? NULL : "the wheel lies on its side: its axle is normal to the plane";
}

static const mbg__row_spec sinks = {
    .kernel = height, .nentry = 2, .entry = {MBG__R31, MBG__R32}, .nattr = 2, .attr = {RADIUS, TUBE}};

static const mbg__row_spec rows[] = {
    {.name = "gap", .nentry = 1, .entry = {MBG__X3}, .plus = &sinks},
    {.name = "along",
     .rate = MBG__RATE_KERNEL,
     .coefficients = along,
     .nentry = 3,
     .entry = {MBG__R31, MBG__R32, MBG__R33},
     .nattr = 2,
     .attr = {RADIUS, TUBE}},
    {.name = "across",
     .rate = MBG__RATE_KERNEL,
     .coefficients = across,
     .nentry = 3,
     .entry = {MBG__R31, MBG__R32, MBG__R33},
     .nattr = 2,
     .attr = {RADIUS, TUBE}},
};

const mbg__joint_type mbg__joint_rolling_wheel = {
    .key = "rolling-wheel",
    .help = "a wheel rolls on the plane with normal z of A; its centre is B's origin, its axle z of B",
    .axes = MBG__AXES_Z,
    .axes_needed = true,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .spatial = true,
    .decay = 1 + STABILIZATION,
    .profile = MBG__PROFILE_WHEEL,
    .spin = MBG__SPIN_AXLE,
    .broken = lies,
};
