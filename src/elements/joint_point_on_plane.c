/* Point on plane: B's origin stays in the plane of A with normal z.
   Rows: x3. */
#include "elements/joint_rows.h"

static const mbg__row_spec rows[] = {
    MBG__ENTRY_ROW("x3", MBG__X3),
};

static const mbg__joint_coord coords[] = {{"x", "x"}, {"y", "y"}};

const mbg__joint_type mbg__joint_point_on_plane = {
    .key = "point-on-plane",
    .help = "B's origin stays in the plane with normal z of A",
    .axes = MBG__AXES_Z,
    .axes_needed = true,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
    .coords = coords,
    .ncoord = MBG_COUNT(coords),
};
