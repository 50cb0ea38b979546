/* csv_file: tables of numbers with named columns, as the program writes them. */
#ifndef CLI_CSV_FILE_H
#define CLI_CSV_FILE_H

typedef struct {
  char *name; /* of the file, without folder and ending */
  int rows, columns;
  char **names;   /* (columns) */
  double *values; /* one column after the other; NAN: empty         (columns x rows) */
} cli_csv;

/* Reads a file: a row of names, rows of numbers. Returns CLI_DONE, or CLI_BAD_INPUT with a message that begins with
   `what` ("--beside"). Destroy it in either case. */
int cli_csv_read(cli_csv *csv, const char *what, const char *path);
void cli_csv_destroy(cli_csv *csv);

/* The values of a column, or NULL. */
const double *cli_csv_column(const cli_csv *csv, const char *name);

#endif
