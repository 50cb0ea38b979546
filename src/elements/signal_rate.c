/* First derivative of a coordinate by time. */
#include "model/types.h"

const mbg__signal_type mbg__signal_rate = {
    .key = "rate",
    .help = "rate of a coordinate",
    .of = MBG__OF_COORD,
    .level = MBG__LEVEL_VELOCITY,
    .role = MBG__ROLE_COORD_RATE,
};
