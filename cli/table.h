/* table: aligned columns. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "text.h"

/* Cells are added one by one, row after row. */
typedef struct {
  const char *align; /* one letter per column: 'l' left, 'r' right */
  int columns;
  int count, room; /* cells */
  char **cells;
} cli_table;

cli_table cli_table_make(const char *align);
void cli_table_destroy(cli_table *table);

void cli_table_text(cli_table *table, const char *text);
void cli_table_number(cli_table *table, double value); /* as cli_number */
void cli_table_format(cli_table *table, const char *format, ...) CLI_PRINTF(2, 3);
/* Several texts at once, ended by NULL: headings. */
void cli_table_texts(cli_table *table, ...);

/* Text broken between words into lines of at most `width` columns, for the second of two columns. */
void cli_table_lines(cli_table *table, const char *text, int width);

/* Prints all rows; a line longer than CLI_WIDTH is cut off in its last column ("..."). */
void cli_table_print(const cli_table *table, int indent);

#endif
