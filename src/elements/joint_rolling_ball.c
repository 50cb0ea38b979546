/* Ball that rolls on the plane of A with normal z; B's origin is its centre. With r_k the rows of R (theory 8,
   section 4):

     gap    x3 - radius                 along x  r_1.U - radius r_2.W        along y  r_2.U + radius r_1.W */
#include "elements/joint_rows.h"
#include "elements/rolling_keys.h"

enum { RADIUS, STABILIZATION };

static const mbg__key keys[] = {
    {.name = "radius", .kind = MBG__KEY_NUMBER, .required = true, .sign = MBG__POSITIVE, .unit = "m", .help = "radius"},
    MBG__KEY_STABILIZATION,
    MBG__KEY_LEVEL,
    MBG__KEY_PROFILE,
};

/* F = x3 - radius */
static void gap(const real *z, int turns, int order, mbg__jet3 *out) {
  (void)turns;
  out->F = z[0] - z[1];
  if (order >= 1) {
    out->F_z[0] = 1;
    out->F_z[1] = -1;
  }
}

/* z.U */
static void slides(const real *z, mbg__rate_jet *out) {
  for (int i = 0; i < 3; i++) {
    out->n[i] = z[i];
    out->n_z[i][i] = 1;
  }
}

/* sign radius z.W, z = (row of R, radius) */
static void turns_by(const real *z, double sign, mbg__rate_jet *out) {
  for (int i = 0; i < 3; i++) {
    out->n[3 + i] = sign * z[3] * z[i];
    out->n_z[3 + i][i] = sign * z[3];
    out->n_z[3 + i][3] = sign * z[i];
    out->n_zz[3 + i][i][3] = out->n_zz[3 + i][3][i] = sign;
  }
}

static void turns_back(const real *z, mbg__rate_jet *out) { turns_by(z, -1, out); }

static void turns_forth(const real *z, mbg__rate_jet *out) { turns_by(z, 1, out); }

static const mbg__row_spec turning[] = {
    {.rate = MBG__RATE_KERNEL,
     .coefficients = turns_back,
     .nentry = 3,
     .entry = {MBG__R21, MBG__R22, MBG__R23},
     .nattr = 1,
     .attr = {RADIUS}},
    {.rate = MBG__RATE_KERNEL,
     .coefficients = turns_forth,
     .nentry = 3,
     .entry = {MBG__R11, MBG__R12, MBG__R13},
     .nattr = 1,
     .attr = {RADIUS}},
};

static const mbg__row_spec rows[] = {
    {.name = "gap", .kernel = gap, .nentry = 1, .entry = {MBG__X3}, .nattr = 1, .attr = {RADIUS}},
    {.name = "x",
     .rate = MBG__RATE_KERNEL,
     .coefficients = slides,
     .nentry = 3,
     .entry = {MBG__R11, MBG__R12, MBG__R13},
     .plus = &turning[0]},
    {.name = "y",
     .rate = MBG__RATE_KERNEL,
     .coefficients = slides,
     .nentry = 3,
     .entry = {MBG__R21, MBG__R22, MBG__R23},
     .plus = &turning[1]},
};

const mbg__joint_type mbg__joint_rolling_ball = {
    .key = "rolling-ball",
    .help = "a ball rolls on the plane with normal z of A; its centre is B's origin",
    .axes = MBG__AXES_Z,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .spatial = true,
    .decay = 1 + STABILIZATION,
    .profile = MBG__PROFILE_BALL,
    .spin = MBG__SPIN_BALL,
};
