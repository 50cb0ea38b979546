/* The lists of element types. The build writes lists.def from the names of the files FAMILY_name.c of this folder. */
#include "elements/lists.h"

#include "elements/lists.def"

#define DECLARE(family, name) extern const mbg__##family##_type mbg__##family##_##name;
#define ENTRY(family, name) &mbg__##family##_##name,
#define LIST(family)                                                                                                   \
  MBG__ELEMENTS_##family(DECLARE) static const mbg__##family##_type *const family##_list[] = {                         \
      MBG__ELEMENTS_##family(ENTRY)};                                                                                  \
  const mbg__##family##_type *const *mbg__##family##_types(int *count) {                                               \
    *count = MBG_COUNT(family##_list);                                                                                 \
    return family##_list;                                                                                              \
  }

LIST(coord)
LIST(joint)
LIST(law)
LIST(force)
LIST(signal)
LIST(body)
