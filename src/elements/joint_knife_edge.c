/* Knife edge (blade, skate, the wheel of a planar vehicle): B's origin does not move along its own y axis, seen from A.
   Row on rates: U2 (theory 8, section 4). */
#include "elements/joint_rows.h"

static const mbg__row_spec rows[] = {
    {.name = "across", .rate = MBG__RATE_U1 + 1},
};

const mbg__joint_type mbg__joint_knife_edge = {
    .key = "knife-edge",
    .help = "B's origin does not slide along y of B",
    .axes = MBG__AXES_Z,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
};
