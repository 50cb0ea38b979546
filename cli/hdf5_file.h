/* hdf5_file: results as an HDF5 file, of a program that was built with HDF5. */
#ifndef CLI_HDF5_FILE_H
#define CLI_HDF5_FILE_H

#include "results.h"

/* Exit status. */
int cli_hdf5_write(const cli_series *series, const cli_origin *origin, const char *path);

#endif
