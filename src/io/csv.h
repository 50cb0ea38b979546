/* csv: tables of numbers, as measurements come.

   Cells are separated by tabs, semicolons or commas: the first of these that stands in the first line outside quotes.
   The first line gives the names when a cell of it is not a number; without names the columns are called "1", "2", ...
   Blank lines and lines that start with # are skipped; LF and CRLF end a line; blanks around a cell do not count. */
#ifndef MBG_IO_CSV_H
#define MBG_IO_CSV_H

#include "base/base.h"

enum { MBG__CSV_CELLS_MAX = 100000000 };

/* everything lives in the arena it was read into */
typedef struct {
  int ncolumns;
  int nrows;
  bool named;               /* the file has a line of names */
  const char *const *names; /* (ncolumns), UTF-8; "" where the file gives none */
  double *values;           /* (nrows x ncolumns), column-major; NaN where the cell is empty or "nan" */
  int *lines;               /* of the file, from 1 (nrows) */
} mbg__csv;

/* Reads a table; every row has as many cells as the first line. A table may have names and no rows. Returns 0, or
   MBG_ERROR_INPUT with "file:line:column: message", MBG_ERROR_IO, MBG_ERROR_MEMORY. */
int mbg__csv_read(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__csv *out);
int mbg__csv_parse(mbg_context *ctx, mbg__arena *arena, const char *file, const char *text, size_t length,
                   mbg__csv *out);

/* Index of the column of that name, or -1. */
int mbg__csv_find(const mbg__csv *csv, const char *name);

/* The values of a column (nrows). */
const double *mbg__csv_column(const mbg__csv *csv, int column);

#endif
