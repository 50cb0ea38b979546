/* matrix_market: matrices of numbers in the Matrix Market exchange format (math.nist.gov/MatrixMarket): "coordinate"
   and "array", "real" and "integer", "general" and "symmetric". */
#ifndef MBG_IO_MATRIX_MARKET_H
#define MBG_IO_MATRIX_MARKET_H

#include "base/base.h"

/* Most entries of a matrix that is read as a dense one. */
enum { MBG__MATRIX_ENTRIES_MAX = 36000000 };

typedef struct {
  int rows, cols;
  double *at; /* column-major, whole: symmetric ones are filled; in the arena */
} mbg__matrix;

/* Returns 0, or MBG_ERROR_INPUT with "file:line:column: message", MBG_ERROR_IO, MBG_ERROR_MEMORY. */
int mbg__matrix_read(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__matrix *out);
int mbg__matrix_parse(mbg_context *ctx, mbg__arena *arena, const char *file, const char *text, size_t length,
                      mbg__matrix *out);

#endif
