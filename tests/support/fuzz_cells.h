/* Lines of cells for fuzz programs: tables, matrices, records of evaluations. */
#ifndef SUPPORT_FUZZ_CELLS_H
#define SUPPORT_FUZZ_CELLS_H

#include "support/fuzz.h"

enum { FUZZ_CELLS_MAX = 64, FUZZ_LINES_MAX = 400 };

typedef struct {
  int count;
  char *cell[FUZZ_CELLS_MAX];
} fuzz_line;

typedef struct {
  int count;
  fuzz_line line[FUZZ_LINES_MAX];
} fuzz_cells;

/* Splits a text; what is beyond the limits is left out. */
void fuzz_cells_read(fuzz_cells *c, const char *text, char separator);
void fuzz_cells_free(fuzz_cells *c);
void fuzz_cells_set(fuzz_cells *c, int line, int cell, const char *text);

/* A change of one cell: number(rng, old) gives another text for it. */
void fuzz_cells_change_cell(support_rng *rng, fuzz_cells *c, int first_line,
                            void (*number)(support_rng *rng, const char *old, char out[64]));
/* A change of the structure: cells or lines from `first_line` on that are missing, doubled, exchanged, moved. */
void fuzz_cells_change_shape(support_rng *rng, fuzz_cells *c, int first_line);

/* A decimal number, special or near the old one; now and then a word that is none. */
void fuzz_cells_decimal(support_rng *rng, const char *old, char out[64]);

#endif
