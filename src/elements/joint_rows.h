/* Rows of joints that are one entry of the relative matrix. */
#ifndef MBG_ELEMENTS_JOINT_ROWS_H
#define MBG_ELEMENTS_JOINT_ROWS_H

#include "model/types.h"

/* the row x1 = 0, R13 = 0 ...: MBG__ENTRY_ROW("x1", MBG__X1) */
#define MBG__ENTRY_ROW(row_name, row_entry)                                                                            \
  {                                                                                                                    \
    .name = (row_name), .nentry = 1, .entry = {(row_entry) }                                                           \
  }

#endif
