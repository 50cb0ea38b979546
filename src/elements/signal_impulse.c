/* Impulse of the last impact of an event, 0 before the first one. */
#include "model/types.h"

const mbg__signal_type mbg__signal_impulse = {
    .key = "impulse",
    .help = "impulse of the last impact of an event",
    .unit = {"N s"},
    .of = MBG__OF_EVENT,
    .level = MBG__LEVEL_TIME,
    .role = MBG__ROLE_VALUE,
};
