/* Key that signals of beam elements share. */
#ifndef MBG_ELEMENTS_BEAM_KEYS_H
#define MBG_ELEMENTS_BEAM_KEYS_H

#include "model/types.h"

/* component of strains and section forces; an option 0 .. 5 */
#define MBG__KEY_BEAM_COMPONENT                                                                                        \
  {                                                                                                                    \
    .name = "component", .kind = MBG__KEY_CHOICE, .required = true,                                                    \
    .choices = "axial shear2 shear3 torsion bending2 bending3", .help = "component"                                    \
  }

#endif
