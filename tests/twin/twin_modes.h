/* The linearized model in complex arithmetic: derivatives of its matrices by parameters, equilibrium and all. */
#ifndef TWIN_MODES_H
#define TWIN_MODES_H

#include "mbgrad/modes.h"
#include "twin/twin.h"

typedef struct twin_modes twin_modes;

/* Reads the file, or the text when it is given. *out is NULL only when out of memory. */
TWIN_API int twin_modes_create(const char *file, const char *text, twin_modes **out);
TWIN_API void twin_modes_destroy(twin_modes *t);
TWIN_API const char *twin_modes_message(const twin_modes *t);

/* An equilibrium that the library has found, at the real parts of the parameters. */
typedef struct {
  const double *H;      /* frames: R row-major, then x (nbody x 12) */
  const double *lambda; /* multipliers (nrow) */
  const int *turns;
  /* motions that nothing holds, and those of the transposed problem (nv each) */
  int nzero;
  double *const *zero, *const *zero_left;
} twin_modes_given;

/* K, C, M (pattern of K), B (pattern of B) of s^2 M + s C + K at the parameters p (np). about: the equilibrium; NULL:
   the state is found anew. Derivatives of an equilibrium are those of the equations that it satisfies, not of the
   search: that has imaginary parts of any size on its way, in whose rounding rotations would no longer be rotations.
   With motions that nothing holds, it is the equilibrium that does not move along them; *push (may be NULL): largest
   variation of the force along one of them, which would end the equilibrium. */
TWIN_API int twin_modes_matrices(twin_modes *t, const mbg_modes_options *opt, const twin_modes_given *about,
                                 const double _Complex *p, double *push, double _Complex *K, double _Complex *C,
                                 double _Complex *M, double _Complex *B);

#endif
