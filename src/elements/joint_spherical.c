/* Spherical joint: the origins coincide.
   Rows: x1 x2 x3. */
#include "elements/joint_rows.h"

static const mbg__row_spec rows[] = {
    MBG__ENTRY_ROW("x1", MBG__X1),
    MBG__ENTRY_ROW("x2", MBG__X2),
    MBG__ENTRY_ROW("x3", MBG__X3),
};

const mbg__joint_type mbg__joint_spherical = {
    .key = "spherical",
    .help = "the origins coincide, all rotations are free",
    .axes = MBG__AXES_NONE,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
};
