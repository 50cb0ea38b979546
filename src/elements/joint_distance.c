/* Distance joint: a massless rod of length L between the origins, free at both ends.
   Row: (x.x - L^2)/(2 L), whose multiplier is the force in the rod when the row holds. A length L(t), a rope that is
   wound up, takes the place of the attribute as the time law of the row. */
#include "elements/joint_rows.h"

enum { LENGTH };

static const mbg__key keys[] = {
    [LENGTH] = {.name = "length",
                .kind = MBG__KEY_NUMBER,
                .required = true,
                .sign = MBG__POSITIVE,
                .unit = "m",
                .help = "distance of the two points, also a function of t and controls",
                .in_time = true},
};

/* F = x.x/(2 L) - L/2, z = (x1, x2, x3, L) */
static void rod(const real *z, int turns, int order, mbg__jet3 *out) {
  (void)turns;
  const real L = z[3], xx = v3_dot(z, z);
  out->F = (xx - L * L) / (2 * L);
  if (order >= 1) {
    v3_scale(out->F_z, 1 / L, z);
    out->F_z[3] = -(xx / (L * L) + 1) / 2;
  }
  if (order >= 2) {
    out->F_zz[3][3] = xx / (L * L * L);
  }
  if (order >= 3) {
    out->F_zzz[3][3][3] = -3 * xx / (L * L * L * L);
  }
  for (int i = 0; i < 3; i++) {
    if (order >= 2) {
      out->F_zz[i][i] = 1 / L;
      out->F_zz[i][3] = out->F_zz[3][i] = -z[i] / (L * L);
    }
    if (order >= 3) {
      out->F_zzz[i][i][3] = out->F_zzz[i][3][i] = out->F_zzz[3][i][i] = -1 / (L * L);
      out->F_zzz[i][3][3] = out->F_zzz[3][i][3] = out->F_zzz[3][3][i] = 2 * z[i] / (L * L * L);
    }
  }
}

static const mbg__row_spec rows[] = {
    {.name = "length", .kernel = rod, .nentry = 3, .entry = {MBG__X1, MBG__X2, MBG__X3}, .nattr = 1, .attr = {LENGTH}},
};

const mbg__joint_type mbg__joint_distance = {
    .key = "distance",
    .help = "a massless rod between the two origins",
    .axes = MBG__AXES_NONE,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
    .keys = keys,
    .nkey = MBG_COUNT(keys),
};
