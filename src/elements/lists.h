/* The lists of element types, made by the build from the names of the files of this folder. */
#ifndef MBG_ELEMENTS_LISTS_H
#define MBG_ELEMENTS_LISTS_H

#include "model/types.h"

const mbg__coord_type *const *mbg__coord_types(int *count);
const mbg__joint_type *const *mbg__joint_types(int *count);
const mbg__law_type *const *mbg__law_types(int *count);
const mbg__force_type *const *mbg__force_types(int *count);
const mbg__signal_type *const *mbg__signal_types(int *count);
const mbg__body_type *const *mbg__body_types(int *count);
/* Nodes of beams and carriers of modal coordinates, which no file names: without inertia of their own. */
extern const mbg__body_type mbg__beam_node, mbg__modes_carrier;
/* Carriers of states and the forces on them that are their rates. */
extern const mbg__body_type mbg__state_carrier;
extern const mbg__law_type mbg__state_rate;

#endif
