/* Point on surface: B's origin stays on the surface of A where a function of x, y, z is 0.
   Row: f(x1, x2, x3), whose gradient is normal to the surface. */
#include "elements/joint_rows.h"

static const mbg__key keys[] = {
    {.name = "surface",
     .kind = MBG__KEY_FN,
     .required = true,
     .unit = "",
     .args = "x y z",
     .smooth = true,
     .help = "function of x, y, z in the axes of A that is 0 on the surface, \"z - a*x^2\" say; its gradient must not "
             "vanish there"},
};

static const mbg__row_spec rows[] = {
    {.name = "surface", .contact = 1, .nentry = 3, .entry = {MBG__X1, MBG__X2, MBG__X3}},
};

const mbg__joint_type mbg__joint_point_on_surface = {
    .key = "point-on-surface",
    .help = "B's origin stays on a surface of A, where a function of x, y, z is 0",
    .axes = MBG__AXES_Z,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
    .keys = keys,
    .nkey = MBG_COUNT(keys),
};
