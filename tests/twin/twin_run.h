/* Runs of a model in complex arithmetic: the derivative of the discrete criteria by complex step, exact to rounding.
   The twin reads the model file itself. Functions return 0 or a negative status; the message is that of
   twin_run_message. */
#ifndef TWIN_RUN_H
#define TWIN_RUN_H

#include "mbgrad/run.h"
#include "twin/twin.h"

typedef struct twin_run twin_run;

/* Reads the file, or the text when it is given; file is then the folder of its parts, or NULL. options may be NULL.
   *out is NULL only when out of memory. */
TWIN_API int twin_run_create(const char *file, const char *text, const mbg_run_options *options, twin_run **out);
TWIN_API void twin_run_destroy(twin_run *r);
TWIN_API const char *twin_run_message(const twin_run *r);

/* Simulates at p (number of parameters) and returns all criteria in psi. The first run decides on redundant rows and,
   with a tolerance, on the steps; later ones repeat these. */
TWIN_API int twin_run_criteria(twin_run *r, const double _Complex *p, double _Complex *psi);
TWIN_API int twin_run_node_count(const twin_run *r);
TWIN_API double twin_run_node_time(const twin_run *r, int node);

/* After it, with keep_poses: frame of a body at a node (rotation row-major, position), and modal coordinate `mode` of
   all of them. */
TWIN_API void twin_run_frame(const twin_run *r, int node, int body, double _Complex frame[12]);
TWIN_API double _Complex twin_run_modal(const twin_run *r, int node, int mode);

#endif
