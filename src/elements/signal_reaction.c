/* Wrench -b^T lambda of a joint's rows (its drivers included) on the body of B, at marker B. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_WRENCH_COMPONENT(true), MBG__KEY_IN_WRENCH_AXES};

const mbg__signal_type mbg__signal_reaction = {
    .key = "reaction",
    .help = "wrench that the rows of a joint, driver or coupling exert on B",
    .unit = {"N", "N m"},
    .of = MBG__OF_JOINT,
    .level = MBG__LEVEL_REACTION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .role = MBG__ROLE_REACTION,
};
