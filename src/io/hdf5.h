/* hdf5: matrices of numbers from HDF5 files. A matrix is a dataset of two dimensions, or a group that holds it in
   compressed rows: `data`, `indices`, `indptr` (counted from 0) and, unless the matrix is square, an attribute `shape`.

   Only what lies in the file itself is read: links to other files, data stored in other files and filters that would
   have to be loaded are refused. */
#ifndef MBG_IO_HDF5_H
#define MBG_IO_HDF5_H

#include "io/matrix_market.h"

/* Whether a path names an HDF5 file: FILE.h5 or FILE.hdf5, with or without ":DATASET". Gives the length of FILE. */
bool mbg__hdf5_named(const char *path, size_t *length);

/* Reads a matrix. Returns 0, or MBG_ERROR_INPUT with "file: dataset: message", MBG_ERROR_IO, MBG_ERROR_MEMORY;
   MBG_ERROR_UNSUPPORTED where the library was built without HDF5. */
int mbg__hdf5_matrix(mbg_context *ctx, mbg__arena *arena, const char *path, const char *dataset, mbg__matrix *out);

#endif
