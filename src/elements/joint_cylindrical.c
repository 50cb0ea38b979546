/* Cylindrical joint: B turns about and slides along the common axis z.
   Rows: x1 x2 R13 R23. */
#include "elements/joint_rows.h"

static const mbg__row_spec rows[] = {
    MBG__ENTRY_ROW("x1", MBG__X1),
    MBG__ENTRY_ROW("x2", MBG__X2),
    MBG__ENTRY_ROW("R13", MBG__R13),
    MBG__ENTRY_ROW("R23", MBG__R23),
};

static const mbg__joint_coord coords[] = {{"angle", "angle"}, {"slide", "z"}};

const mbg__joint_type mbg__joint_cylindrical = {
    .key = "cylindrical",
    .help = "rotation about and translation along z",
    .axes = MBG__AXES_Z,
    .axes_needed = true,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
    .coords = coords,
    .ncoord = MBG_COUNT(coords),
};
