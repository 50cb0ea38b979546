/* Signals of modal coordinates: component opt[0] of the carrier of the coordinate against the ground. */
#ifndef MBG_ELEMENTS_MODAL_KEYS_H
#define MBG_ELEMENTS_MODAL_KEYS_H

#include "elements/signal_keys.h"

#define MBG__MODAL_SIGNAL(name, text, at_level, kernel)                                                                \
  { .key = (name), .help = (text), .of = MBG__OF_PAIR, .modes = true, .level = (at_level), .eval = (kernel) }

#endif
