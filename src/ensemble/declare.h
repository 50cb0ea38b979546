/* Included first in every source of an ensemble: constants of C++ are invisible to other sources unless they were
   declared before. */
#ifndef MBG_ENSEMBLE_DECLARE_H
#define MBG_ENSEMBLE_DECLARE_H

#include "elements/lists.h"

#include "elements/lists.def"

#define MBG__DECLARE(family, name) extern const mbg__##family##_type mbg__##family##_##name;
MBG__ELEMENTS_body(MBG__DECLARE) MBG__ELEMENTS_coord(MBG__DECLARE) MBG__ELEMENTS_force(MBG__DECLARE)
    MBG__ELEMENTS_joint(MBG__DECLARE) MBG__ELEMENTS_law(MBG__DECLARE) MBG__ELEMENTS_signal(MBG__DECLARE)
#undef MBG__DECLARE

#endif
