/* Value of a coordinate, angles over many turns. */
#include "model/types.h"

const mbg__signal_type mbg__signal_coordinate = {
    .key = "coordinate",
    .help = "coordinate of a joint or of a pair of markers",
    .of = MBG__OF_COORD,
    .level = MBG__LEVEL_POSITION,
    .role = MBG__ROLE_COORD_VALUE,
};
