/* Screw joint: B turns about and advances along the common axis z, pitch metres per radian.
   Rows: x1 x2 R13 R23 and x3 - pitch (atan2(R21, R11) + 2 pi turns). */
#include "elements/angle_kernels.h"
#include "elements/joint_rows.h"

enum { PITCH };

static const mbg__key keys[] = {
    [PITCH] = {.name = "pitch",
               .kind = MBG__KEY_NUMBER,
               .required = true,
               .unit = "m/rad",
               .help = "advance along z per radian"},
};

/* F = x3 - pitch angle, z = (R11, R21, x3, pitch) */
static void advance(const real *z, int turns, int order, mbg__jet3 *out) {
  const real pitch = z[3];
  real angle[4][4];
  mbg__angle_derivatives(z[0], z[1], turns, order, angle);

  out->F = z[2] - pitch * angle[0][0];
  if (order >= 1) {
    out->F_z[2] = 1;
    out->F_z[3] = -angle[0][0];
  }
  for (int i = 0; i < 2 && order >= 1; i++) {
    out->F_z[i] = -pitch * angle[1][i];
    if (order >= 2) {
      out->F_zz[i][3] = out->F_zz[3][i] = -angle[1][i];
    }
    for (int j = 0; j < 2 && order >= 2; j++) {
      out->F_zz[i][j] = -pitch * angle[2][i + j];
      if (order >= 3) {
        out->F_zzz[i][j][3] = out->F_zzz[i][3][j] = out->F_zzz[3][i][j] = -angle[2][i + j];
      }
      for (int k = 0; k < 2 && order >= 3; k++) {
        out->F_zzz[i][j][k] = -pitch * angle[3][i + j + k];
      }
    }
  }
}

static const mbg__row_spec rows[] = {
    MBG__ENTRY_ROW("x1", MBG__X1),
    MBG__ENTRY_ROW("x2", MBG__X2),
    MBG__ENTRY_ROW("R13", MBG__R13),
    MBG__ENTRY_ROW("R23", MBG__R23),
    {.name = "advance",
     .kernel = advance,
     .nentry = 3,
     .entry = {MBG__R11, MBG__R21, MBG__X3},
     .nattr = 1,
     .attr = {PITCH},
     .turns = true},
};

static const mbg__joint_coord coords[] = {{"angle", "angle"}};

const mbg__joint_type mbg__joint_screw = {
    .key = "screw",
    .help = "rotation about z with proportional advance",
    .axes = MBG__AXES_Z,
    .axes_needed = true,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
    .coords = coords,
    .ncoord = MBG_COUNT(coords),
    .keys = keys,
    .nkey = MBG_COUNT(keys),
};
