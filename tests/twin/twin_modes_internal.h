/* What twin_modes.c shares with other files of this folder. */
#ifndef TWIN_MODES_INTERNAL_H
#define TWIN_MODES_INTERNAL_H

#include "modes/modes.h"
#include "twin/twin_modes.h"

struct twin_modes {
  mbg_context *ctx;
  mbg_model *model;
};

/* The given equilibrium at w->p, with derivatives. */
int twin_modes_about(mbg__modes_work *w, const twin_modes_given *about, double *push);

#endif
