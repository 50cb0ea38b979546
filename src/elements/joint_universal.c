/* Universal joint: x of A and y of B stay orthogonal, G = Rx(angle1) Ry(angle2).
   Rows: x1 x2 x3 R12. */
#include "elements/joint_rows.h"

static const mbg__row_spec rows[] = {
    MBG__ENTRY_ROW("x1", MBG__X1),
    MBG__ENTRY_ROW("x2", MBG__X2),
    MBG__ENTRY_ROW("x3", MBG__X3),
    MBG__ENTRY_ROW("R12", MBG__R12),
};

static const mbg__joint_coord coords[] = {{"angle1", "angle_x"}, {"angle2", "angle_y"}};

const mbg__joint_type mbg__joint_universal = {
    .key = "universal",
    .help = "two rotations: about x of A, then about y of B",
    .axes = MBG__AXES_UNIVERSAL,
    .axes_needed = true,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
    .coords = coords,
    .ncoord = MBG_COUNT(coords),
};
