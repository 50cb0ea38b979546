/* Length, rate or tension of a tendon: the loader makes a sum of the signals of its parts, a multiplier or a force of
   it. */
#include "model/types.h"

static const mbg__key keys[] = {
    {.name = "quantity",
     .kind = MBG__KEY_CHOICE,
     .required = true,
     .choices = "length rate tension",
     .help = "length with its ratios, its rate, or the tension"},
};

const mbg__signal_type mbg__signal_tendon = {
    .key = "tendon",
    .help = "length, rate or tension of a tendon",
    .of = MBG__OF_TENDON,
    .level = MBG__LEVEL_POSITION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
};
