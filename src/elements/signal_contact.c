/* Depth, normal force or sliding speed of a contact. */
#include "model/types.h"

static const mbg__key keys[] = {
    {.name = "quantity",
     .kind = MBG__KEY_CHOICE,
     .required = true,
     .choices = "depth normal slip",
     .help = "depth (negative: distance), normal force, or sliding speed where the shapes are nearest"},
};

const mbg__signal_type mbg__signal_contact = {
    .key = "contact",
    .help = "depth, normal force or sliding speed of a contact",
    .of = MBG__OF_FORCE,
    .level = MBG__LEVEL_VELOCITY,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .role = MBG__ROLE_CONTACT,
};
