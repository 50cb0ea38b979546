/* Second derivative of a coordinate by time. */
#include "model/types.h"

const mbg__signal_type mbg__signal_coordinate_acceleration = {
    .key = "coordinate-acceleration",
    .help = "second derivative of a coordinate",
    .of = MBG__OF_COORD,
    .level = MBG__LEVEL_ACCELERATION,
    .role = MBG__ROLE_COORD_ACCELERATION,
};
