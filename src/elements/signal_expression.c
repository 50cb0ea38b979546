/* An expression of t, names and other signals; its level is the highest of theirs. */
#include "model/types.h"

const mbg__signal_type mbg__signal_expression = {
    .key = "expression",
    .help = "expression of t, names and other signals",
    .of = MBG__OF_VALUE,
    .level = MBG__LEVEL_TIME,
    .role = MBG__ROLE_VALUE,
};
