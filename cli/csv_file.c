#include "csv_file.h"

#include "cli.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- text */

/* the whole file, ended by 0; NULL: errno says why */
static char *read_all(const char *path) {
  FILE *f = fopen(path, "r");
  size_t used = 0, room = 1 << 16;
  if (!f) {
    return NULL;
  }
  char *text = cli_resize(NULL, room, 1);
  for (size_t n; (n = fread(text + used, 1, room - used - 1, f)) > 0;) {
    used += n;
    if (room - used < 2) {
      room *= 2;
      text = cli_resize(text, room, 1);
    }
  }
  if (ferror(f)) {
    free(text);
    text = NULL;
  } else {
    text[used] = 0;
    if (memchr(text, 0, used)) {
      errno = EINVAL; /* not a text */
      free(text);
      text = NULL;
    }
  }
  fclose(f);
  return text;
}

/* a cell that ends at a comma or at the end of the line; quotes are taken off in place */
static char *take_cell(char **at) {
  char *begin = *at, *to = begin, *c = begin;
  if (*c == '"') {
    for (c++; *c && !(*c == '"' && c[1] != '"'); c++) {
      c += *c == '"';
      *to++ = *c;
    }
    c += *c == '"';
    while (*c && *c != ',' && *c != '\n') {
      c++;
    }
  } else {
    while (*c && *c != ',' && *c != '\n') {
      c++;
    }
    to = c;
    while (to > begin && (to[-1] == ' ' || to[-1] == '\r')) {
      to--;
    }
    while (begin < to && *begin == ' ') {
      begin++;
    }
  }
  *at = *c ? c + 1 : c;
  *to = 0; /* may be the comma itself */
  return begin;
}

/* ---------------------------------------------------------------------- rows */

/* line ends as one row of cells: their number */
static int count_cells(const char *line) {
  bool quoted = false;
  int n = 1;
  for (; *line && (*line != '\n' || quoted); line++) {
    quoted = quoted != (*line == '"');
    n += *line == ',' && !quoted;
  }
  return n;
}

static char *next_line(char *line) {
  line += strcspn(line, "\n");
  return *line ? line + 1 : line;
}

static void take_names(cli_csv *csv, char *line) {
  csv->columns = count_cells(line);
  csv->names = cli_resize(NULL, (size_t)csv->columns, sizeof(*csv->names));
  for (int i = 0; i < csv->columns; i++) {
    csv->names[i] = cli_copy(take_cell(&line));
  }
}

static int take_row(cli_csv *csv, const char *what, const char *path, char *line, int row, int number) {
  const int n = count_cells(line);
  if (n != csv->columns) {
    return cli_bad_input("%s: %s:%d: %d values, but %d names in the first row", what, path, number, n, csv->columns);
  }
  for (int i = 0; i < n; i++) {
    char *end, *cell = take_cell(&line);
    double *value = &csv->values[(size_t)i * (size_t)csv->rows + (size_t)row];
    *value = *cell ? strtod(cell, &end) : NAN;
    if (*cell && (end == cell || *end)) {
      return cli_bad_input("%s: %s:%d: column '%s': '%s' is no number", what, path, number, csv->names[i], cell);
    }
  }
  return CLI_DONE;
}

static char *stem(const char *path) {
  const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path, *dot = strrchr(from, '.');
  return cli_format("%.*s", dot && dot > from ? (int)(dot - from) : (int)strlen(from), from);
}

static bool is_blank(const char *line) { return line[strspn(line, " \r\t")] == '\n' || !line[strspn(line, " \r\t")]; }

int cli_csv_read(cli_csv *csv, const char *what, const char *path) {
  *csv = (cli_csv){.name = stem(path)};
  char *text = read_all(path);
  if (!text) {
    return cli_bad_input("%s: cannot read '%s': %s", what, path, errno == EINVAL ? "it is no text" : strerror(errno));
  }
  int status = CLI_DONE, row = 0, number = 2;
  char *head = text + (strncmp(text, "\xEF\xBB\xBF", 3) ? 0 : 3), *body = next_line(head); /* after a byte order mark */
  for (char *line = body; *line; line = next_line(line)) {
    csv->rows += !is_blank(line);
  }
  take_names(csv, head);
  if (csv->rows == 0) {
    status = cli_bad_input("%s: '%s' has no rows of numbers", what, path);
  }
  csv->values = cli_resize(NULL, (size_t)csv->columns * (size_t)csv->rows + 1, sizeof(double));
  for (char *line = body, *next; status == CLI_DONE && *line; line = next, number++) {
    next = next_line(line);
    if (!is_blank(line)) {
      status = take_row(csv, what, path, line, row++, number);
    }
  }
  free(text);
  return status;
}

void cli_csv_destroy(cli_csv *csv) {
  for (int i = 0; i < csv->columns; i++) {
    free(csv->names[i]);
  }
  free(csv->names);
  free(csv->values);
  free(csv->name);
}

const double *cli_csv_column(const cli_csv *csv, const char *name) {
  for (int i = 0; i < csv->columns; i++) {
    if (!strcmp(csv->names[i], name)) {
      return csv->values + (size_t)i * (size_t)csv->rows;
    }
  }
  return NULL;
}
