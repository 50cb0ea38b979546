/* linearize_tables: names and matrices of linear models as tables. */
#ifndef CLI_LINEARIZE_TABLES_H
#define CLI_LINEARIZE_TABLES_H

#include "mbgrad/linearize.h"

/* States, inputs and outputs with their values. */
void cli_linear_names(const mbg_linearize *linear);
/* A matrix (rows x columns, row-major), a few columns at a time; an empty one prints nothing. */
void cli_linear_matrix(const char *title, const double *A, int rows, int columns);

#endif
