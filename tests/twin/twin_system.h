/* The equations of a model and its start in complex arithmetic. The twin reads the model file itself, so that lists,
   sizes and indices are those of the library. A frame is an array of 12: R row-major, then x. Functions return 0 or a
   negative status; the message is that of twin_system_message. */
#ifndef TWIN_SYSTEM_H
#define TWIN_SYSTEM_H

#include "twin/twin.h"

#include <stdbool.h>

typedef struct twin_system twin_system;

/* Reads the file, or the text when it is given. *out is NULL only when out of memory. */
TWIN_API int twin_system_create(const char *file, const char *text, twin_system **out);
TWIN_API void twin_system_destroy(twin_system *s);
TWIN_API const char *twin_system_message(const twin_system *s);

/* ---------------------------------------------------------------------- design */

/* Attributes, poses and masses at p (np). */
TWIN_API int twin_system_design(twin_system *s, const double _Complex *p);
/* Adds i TWIN_STEP da (na) to the attributes of the last design and evaluates poses and masses again. */
TWIN_API int twin_system_vary(twin_system *s, const double *da);
TWIN_API const double _Complex *twin_system_attributes(const twin_system *s); /* na */
/* Guessed frame (12) and twist (6) of a body. */
TWIN_API void twin_system_guess(const twin_system *s, int body, double _Complex *H, double _Complex *v);

/* ---------------------------------------------------------------------- equations */

/* A state; vd and lambda may be NULL. */
TWIN_API int twin_system_update(twin_system *s, double _Complex t, const double _Complex *H, const double _Complex *v,
                                const double _Complex *vd, const double _Complex *lambda, const int *turns);
/* Each may be NULL. */
TWIN_API void twin_system_residual(const twin_system *s, double _Complex *r, double _Complex *phi,
                                   double _Complex *phid, double _Complex *phidd, double _Complex *gamma);
TWIN_API int twin_system_signals(twin_system *s, double _Complex *y);                            /* nsignal */
TWIN_API void twin_system_coords(const twin_system *s, double _Complex *q, double _Complex *qd); /* ncoord each */

/* ---------------------------------------------------------------------- start */

/* The assembled start at the design and its variation: H (12 per body), v (nw), lambda (nrow). The rank decision is
   made once and kept. */
TWIN_API int twin_system_start(twin_system *s, double _Complex *H, double _Complex *v, double _Complex *lambda);

/* ---------------------------------------------------------------------- state space */

/* v* and a (nw), lambda (nrow) of the formulation `qr` at a state; beta: its stabilisation. The rank is decided at the
   first call. */
TWIN_API int twin_system_qr(twin_system *s, double beta, double _Complex t, const double _Complex *H,
                            const double _Complex *v, const int *turns, double _Complex *v_star, double _Complex *a,
                            double _Complex *lambda);

/* Frames H (12 per body) and twists v (nw) of the numbers z of a state that began at H0, and z' from v* and a. */
TWIN_API int twin_system_qr_state(twin_system *s, const double _Complex *H0, const double _Complex *z,
                                  double _Complex *H, double _Complex *v);
TWIN_API int twin_system_qr_rates(twin_system *s, const double _Complex *H0, const double _Complex *z,
                                  const double _Complex *v_star, const double _Complex *a, double _Complex *zd);

#endif
