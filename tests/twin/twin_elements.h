/* Kernels of src/elements in complex arithmetic, found by the key of their type. A frame is an array of 12: R
   row-major, then x. Functions return 0, the status of the kernel, or 1 when there is no such type or kernel. Results
   come last. */
#ifndef TWIN_ELEMENTS_H
#define TWIN_ELEMENTS_H

#include "twin/twin.h"

#include <stdbool.h>

/* F (1), F_z (4), F_zz (16), F_zzz (64) one after the other */
enum { TWIN_JET = 85 };

typedef enum { TWIN_VALUE, TWIN_DRIVER, TWIN_BRANCH } twin_coord_kernel;

TWIN_API int twin_coord(const char *key, twin_coord_kernel kernel, const double _Complex *z, int turns, int order,
                        double _Complex jet[TWIN_JET]);
/* Kernels of tendons: bearing, angle, out, back. */
TWIN_API int twin_strand(int kernel, const double _Complex *z, int quarters, int order, double _Complex jet[TWIN_JET]);
/* part: 0 the row's first term, 1 the further one */
TWIN_API int twin_joint_row(const char *key, int row, int part, const double _Complex *z, int turns, int order,
                            double _Complex jet[TWIN_JET]);
/* n (6), n_z (30), n_zz (150) of a row on rates */
enum { TWIN_RATES = 186 };
TWIN_API int twin_rate_row(const char *key, int row, int part, const double _Complex *z,
                           double _Complex jet[TWIN_RATES]);
TWIN_API int twin_law(const char *key, double _Complex q, double _Complex qd, const double _Complex *attr,
                      const int *opt, const double _Complex *fn, double _Complex *tau, double _Complex *energy);
/* The names of the functions (see unit/elements/fn_bench.h) are attributes from `first` on. Only the value is asked
   for, as in a residual; measure: not the wrench, but the measures of a contact. */
TWIN_API int twin_force(const char *key, const double _Complex G[12], const double _Complex v[6], double t,
                        const double _Complex *attr, const int *opt, int nfn, const char *const *texts, int first,
                        bool measure, double _Complex f[6], double _Complex *energy);
TWIN_API int twin_signal(const char *key, const double _Complex G[12], const double _Complex v[6],
                         const double _Complex vd[6], const int *opt, const double _Complex *attr, double _Complex *y);
TWIN_API int twin_body(const char *key, const double _Complex *attr, const int *opt, double _Complex M[36]);
TWIN_API void twin_inertia(const double _Complex M[36], const double _Complex R[9], const double _Complex v[6],
                           const double _Complex vd[6], const double _Complex g[3], double _Complex r[6]);

#endif
