/* kernels: the functions of element types, of one of the two compilations of the sources (base/real.h).

   A loaded model refers to the types of the real compilation. A copy that refers to the types of the complex one, at
   the same places of the same lists, serves the complex functions; everything else in a model is plain numbers. */
#ifndef MBG_SYSTEM_KERNELS_H
#define MBG_SYSTEM_KERNELS_H

#include "model/model.h"

enum { MBG__KERNELS_STRAND = 4 };
enum {
  MBG__KERNELS_COORD,
  MBG__KERNELS_JOINT,
  MBG__KERNELS_LAW,
  MBG__KERNELS_FORCE,
  MBG__KERNELS_SIGNAL,
  MBG__KERNELS_BODY,
  MBG__KERNELS_LISTS
};

typedef struct mbg__kernels {
  const void *const *types[MBG__KERNELS_LISTS];
  int count[MBG__KERNELS_LISTS];
  const void *node, *carrier;                /* types of nodes of beams, of carriers of modal coordinates */
  const void *states, *state_rate;           /* of carriers of states, of the forces that are their rates */
  void (*strand[MBG__KERNELS_STRAND])(void); /* kernels of rows of tendons */
} mbg__kernels;

/* The types of this compilation. */
void mbg__kernels_here(mbg__kernels *out);

/* A copy of a model with types `theirs` that has the types of this compilation and shares everything else; it lives in
   the arena and needs the given one. */
int mbg__kernels_exchange(mbg_context *ctx, mbg__arena *arena, const mbg_model *model, const mbg__kernels *theirs,
                          mbg_model *out);

#endif
