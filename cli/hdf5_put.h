/* hdf5_put: numbers and texts of HDF5 files; empty in a program that was built without HDF5. */
#ifndef CLI_HDF5_PUT_H
#define CLI_HDF5_PUT_H

#ifdef MBG_HDF5
#include <hdf5.h>
#include <stdbool.h>

/* Each of these returns false when HDF5 could not write. */

/* Attributes: a text; `count` numbers (0: a single number). */
bool cli_hdf5_text(hid_t object, const char *name, const char *text);
bool cli_hdf5_numbers(hid_t object, const char *name, int count, const double *values);

/* Datasets: numbers of any rank with their unit (NULL: none); a column; names, which may be long. */
bool cli_hdf5_block(hid_t group, const char *name, int rank, const hsize_t *size, const double *values,
                    const char *unit);
bool cli_hdf5_column(hid_t group, const char *name, int rows, const double *values, const char *unit);
bool cli_hdf5_names(hid_t group, const char *name, int count, const char **names);

/* Properties of objects without the time of their making: the same results are the same file. */
hid_t cli_hdf5_timeless(hid_t kind);

/* Makes a file, which `put` fills. Exit status. */
int cli_hdf5_make(const char *path, bool (*put)(hid_t file, const void *user), const void *user);
#endif

#endif
