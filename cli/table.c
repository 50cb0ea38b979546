#include "table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cli_table cli_table_make(const char *align) { return (cli_table){.align = align, .columns = (int)strlen(align)}; }

void cli_table_destroy(cli_table *t) {
  for (int i = 0; i < t->count; i++) {
    free(t->cells[i]);
  }
  free(t->cells);
}

/* ---------------------------------------------------------------------- cells */

static void add(cli_table *t, char *cell) {
  if (t->count == t->room) {
    t->room = 2 * t->room + 64;
    t->cells = cli_resize(t->cells, (size_t)t->room, sizeof(*t->cells));
  }
  t->cells[t->count++] = cell;
}

void cli_table_text(cli_table *t, const char *text) { add(t, cli_visible(text, false)); }

void cli_table_number(cli_table *t, double value) {
  char buffer[CLI_NUMBER_SIZE];
  add(t, cli_copy(cli_number(buffer, value)));
}

void cli_table_format(cli_table *t, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  add(t, cli_visible(text, false));
}

void cli_table_texts(cli_table *t, ...) {
  va_list args;
  va_start(args, t);
  for (const char *text = va_arg(args, const char *); text; text = va_arg(args, const char *)) {
    cli_table_text(t, text);
  }
  va_end(args);
}

/* ---------------------------------------------------------------------- printing */

static int width_of(const cli_table *t, int column) {
  int width = 0;
  for (int i = column; i < t->count; i += t->columns) {
    const int w = cli_columns(t->cells[i]);
    width = w > width ? w : width;
  }
  return width;
}

/* bytes of the first `columns` characters */
static int bytes_of(const char *text, int columns) {
  int bytes = 0;
  while (text[bytes] && (columns > 0 || ((unsigned char)text[bytes] & 0xC0) == 0x80)) {
    columns -= ((unsigned char)text[bytes] & 0xC0) != 0x80;
    bytes++;
  }
  /* take the rest of the last character too */
  while (((unsigned char)text[bytes] & 0xC0) == 0x80) {
    bytes++;
  }
  return bytes;
}

static void print_last(const char *cell, int left) {
  if (cli_columns(cell) <= left || left < 8) {
    fputs(cell, stdout);
  } else {
    printf("%.*s...", bytes_of(cell, left - 3), cell);
  }
}

static void print_row(const cli_table *t, char *const *cells, const int *width, int indent) {
  int last = t->columns - 1, column = indent, blanks = indent;
  while (last > 0 && !cells[last][0]) {
    last--;
  }
  for (int k = 0; k <= last; k++) {
    const int pad = width[k] - cli_columns(cells[k]);
    blanks += t->align[k] == 'r' ? pad : 0;
    if (cells[k][0]) {
      printf("%*s", blanks, "");
      blanks = 0;
    }
    if (k == last && t->align[k] == 'l') {
      print_last(cells[k], CLI_WIDTH - column);
    } else {
      fputs(cells[k], stdout);
    }
    blanks += (t->align[k] == 'r' ? 0 : pad) + 2;
    column += width[k] + 2;
  }
  putchar('\n');
}

void cli_table_print(const cli_table *t, int indent) {
  int *width = cli_resize(NULL, (size_t)t->columns, sizeof(int));
  for (int k = 0; k < t->columns; k++) {
    width[k] = width_of(t, k);
  }
  for (int i = 0; i + t->columns <= t->count; i += t->columns) {
    print_row(t, t->cells + i, width, indent);
  }
  free(width);
}

void cli_table_lines(cli_table *table, const char *text, int width) {
  while (cli_columns(text) > width) {
    const char *end = NULL;
    int column = 0;
    for (const char *p = text; *p && column <= width; p++) {
      end = *p == ' ' ? p : end;
      column += ((unsigned char)*p & 0xC0) != 0x80;
    }
    if (!end) {
      break; /* one long word */
    }
    cli_table_format(table, "%.*s", (int)(end - text), text);
    cli_table_text(table, "");
    text = end + 1;
  }
  cli_table_text(table, text);
}
