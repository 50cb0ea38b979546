/* Value u(t) of a control. */
#include "model/types.h"

const mbg__signal_type mbg__signal_control = {
    .key = "control",
    .help = "value of a control",
    .of = MBG__OF_CONTROL,
    .level = MBG__LEVEL_TIME,
    .role = MBG__ROLE_CONTROL,
};
