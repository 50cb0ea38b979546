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

/* K, C, M (pattern of K), B (pattern of B) of s^2 M + s C + K at the parameters p (np). alone: K is not singular. */
TWIN_API int twin_modes_matrices(twin_modes *t, const mbg_modes_options *opt, bool alone, const double _Complex *p,
                                 double _Complex *K, double _Complex *C, double _Complex *M, double _Complex *B);

#endif
