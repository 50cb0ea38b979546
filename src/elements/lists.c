/* The lists of element types. The build writes F_list.inc from the names of the files F_*.c of this folder. */
#include "elements/lists.h"

#define MBG__LIST(family)                                                                                              \
  const mbg__##family##_type *const *mbg__##family##_types(int *count) {                                               \
    *count = MBG_COUNT(family##_list) - 1;                                                                             \
    return family##_list;                                                                                              \
  }

#define MBG_ELEMENT(name) extern const mbg__coord_type mbg__coord_##name;
#include "elements/coord_list.inc"
#undef MBG_ELEMENT
#define MBG_ELEMENT(name) &mbg__coord_##name,
static const mbg__coord_type *const coord_list[] = {
#include "elements/coord_list.inc"
    NULL};
#undef MBG_ELEMENT
MBG__LIST(coord)

#define MBG_ELEMENT(name) extern const mbg__joint_type mbg__joint_##name;
#include "elements/joint_list.inc"
#undef MBG_ELEMENT
#define MBG_ELEMENT(name) &mbg__joint_##name,
static const mbg__joint_type *const joint_list[] = {
#include "elements/joint_list.inc"
    NULL};
#undef MBG_ELEMENT
MBG__LIST(joint)

#define MBG_ELEMENT(name) extern const mbg__law_type mbg__law_##name;
#include "elements/law_list.inc"
#undef MBG_ELEMENT
#define MBG_ELEMENT(name) &mbg__law_##name,
static const mbg__law_type *const law_list[] = {
#include "elements/law_list.inc"
    NULL};
#undef MBG_ELEMENT
MBG__LIST(law)

#define MBG_ELEMENT(name) extern const mbg__force_type mbg__force_##name;
#include "elements/force_list.inc"
#undef MBG_ELEMENT
#define MBG_ELEMENT(name) &mbg__force_##name,
static const mbg__force_type *const force_list[] = {
#include "elements/force_list.inc"
    NULL};
#undef MBG_ELEMENT
MBG__LIST(force)

#define MBG_ELEMENT(name) extern const mbg__signal_type mbg__signal_##name;
#include "elements/signal_list.inc"
#undef MBG_ELEMENT
#define MBG_ELEMENT(name) &mbg__signal_##name,
static const mbg__signal_type *const signal_list[] = {
#include "elements/signal_list.inc"
    NULL};
#undef MBG_ELEMENT
MBG__LIST(signal)

#define MBG_ELEMENT(name) extern const mbg__body_type mbg__body_##name;
#include "elements/body_list.inc"
#undef MBG_ELEMENT
#define MBG_ELEMENT(name) &mbg__body_##name,
static const mbg__body_type *const body_list[] = {
#include "elements/body_list.inc"
    NULL};
#undef MBG_ELEMENT
MBG__LIST(body)
