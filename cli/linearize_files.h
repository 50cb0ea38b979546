/* linearize_files: linear models as files, and their plots. */
#ifndef CLI_LINEARIZE_FILES_H
#define CLI_LINEARIZE_FILES_H

#include "session.h"

#include "mbgrad/linearize.h"

/* By the end of the name: .csv (one table for all matrices), .h5, or .mtx (NAME-A.mtx, NAME-B.mtx, ...). Exit
   status. */
int cli_linear_write(const char *path, const mbg_linearize *linear);
/* Is that a name cli_linear_write can write? Says so if not. */
int cli_linear_path(const char *path);

/* Magnitude and phase of all responses over the frequency [Hz]; NAN: a range about the poles. Exit status. */
int cli_bode_write(const char *path, cli_session *session, const mbg_linearize *linear, double from, double to);

/* Poles while a parameter goes from one value to another; options: of the linear models. Exit status. */
int cli_locus_write(const char *path, cli_session *session, const mbg_linearize_options *options, int parameter,
                    double from, double to);

#endif
