/* Tendons of the file: rows, forces and signals (load_tendons.c); wraps on pulleys (load_windings.c). */
#ifndef MBG_LOAD_TENDONS_H
#define MBG_LOAD_TENDONS_H

#include "load/load.h"

/* Adds the terms of an inextensible tendon, of the row with this index. */
int mbg__tendon_terms(mbg__item *item, int row);
/* Adds the forces of an elastic tendon; force: type and numbers. None when the item is bad. */
int mbg__tendon_forces(mbg__item *item, mbg__force *force);
/* The tendon of a row or force (-1: not of one), or -1. */
int mbg__tendon_find(const mbg__loader *L, int row, int force);
/* Makes a function of signals: the length or the rate of a tendon. */
int mbg__tendon_function(mbg__loader *L, int tendon, bool rate, int *fn);
/* The signal of a part of a tendon. */
void mbg__tendon_measure(const mbg__loader *L, const mbg__symbol *symbol, mbg__signal *signal);
/* Wraps on pulleys at the first guess, which is known now. */
int mbg__load_windings(mbg__loader *L);

#endif
