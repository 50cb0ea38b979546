/* Point on line: B's origin stays on z of A.
   Rows: x1 x2. */
#include "elements/joint_rows.h"

static const mbg__row_spec rows[] = {
    MBG__ENTRY_ROW("x1", MBG__X1),
    MBG__ENTRY_ROW("x2", MBG__X2),
};

static const mbg__joint_coord coords[] = {{"slide", "z"}};

const mbg__joint_type mbg__joint_point_on_line = {
    .key = "point-on-line",
    .help = "B's origin stays on z of A",
    .axes = MBG__AXES_Z,
    .axes_needed = true,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
    .coords = coords,
    .ncoord = MBG_COUNT(coords),
};
