/* Planar joint: B moves in the plane of A with normal z.
   Rows: x3 R13 R23. */
#include "elements/joint_rows.h"

static const mbg__row_spec rows[] = {
    MBG__ENTRY_ROW("x3", MBG__X3),
    MBG__ENTRY_ROW("R13", MBG__R13),
    MBG__ENTRY_ROW("R23", MBG__R23),
};

static const mbg__joint_coord coords[] = {{"x", "x"}, {"y", "y"}, {"angle", "angle"}};

const mbg__joint_type mbg__joint_planar = {
    .key = "planar",
    .help = "motion in the plane with normal z",
    .axes = MBG__AXES_Z,
    .axes_needed = true,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
    .coords = coords,
    .ncoord = MBG_COUNT(coords),
};
