/* linearize_files: linear models as files, and their plots. */
#ifndef CLI_LINEARIZE_FILES_H
#define CLI_LINEARIZE_FILES_H

#include "hdf5_put.h"
#include "session.h"

#include "mbgrad/linearize.h"

/* By the end of the name: .csv (one table for all matrices), .h5, or .mtx (NAME-A.mtx, NAME-B.mtx, ...). Exit
   status. */
int cli_linear_write(const char *path, const mbg_linearize *linear);
/* Is that a name cli_linear_write can write? Says so if not. */
int cli_linear_path(const char *path);

/* Parts of these files: names of a row and of a column of matrix A to D; a dense matrix, by columns; lists of names. */
const char *cli_linear_row(const mbg_linearize *linear, char which, int index);
const char *cli_linear_column(const mbg_linearize *linear, char which, int index);
int cli_linear_mtx(const char *path, const double *A, int rows, int columns);
#ifdef MBG_HDF5
bool cli_linear_put_names(hid_t file, const mbg_linearize *linear);
#endif

/* Magnitude and phase of all responses over the frequency [Hz]; NAN: a range about the poles. Exit status. */
int cli_bode_write(const char *path, cli_session *session, const mbg_linearize *linear, double from, double to);

/* Poles while a parameter goes from one value to another; options: of the linear models. Exit status. */
int cli_locus_write(const char *path, cli_session *session, const mbg_linearize_options *options, int parameter,
                    double from, double to);

#endif
