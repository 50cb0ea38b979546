/* Fixed joint: B does not move in A.
   Rows: x1 x2 x3 R13 R23 R12. */
#include "elements/joint_rows.h"

static const mbg__row_spec rows[] = {
    MBG__ENTRY_ROW("x1", MBG__X1),   MBG__ENTRY_ROW("x2", MBG__X2),   MBG__ENTRY_ROW("x3", MBG__X3),
    MBG__ENTRY_ROW("R13", MBG__R13), MBG__ENTRY_ROW("R23", MBG__R23), MBG__ENTRY_ROW("R12", MBG__R12),
};

const mbg__joint_type mbg__joint_fixed = {
    .key = "fixed",
    .help = "B does not move in A",
    .axes = MBG__AXES_Z,
    .rows = rows,
    .nrow = MBG_COUNT(rows),
};
