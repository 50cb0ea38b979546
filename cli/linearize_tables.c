#include "linearize_tables.h"

#include "table.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 8 };

static void print_names(const char *title, const mbg_linearize *s, int count,
                        const mbg_linearize_name *(*get)(const mbg_linearize *, int)) {
  cli_table table = cli_table_make("rlrll");
  cli_table_texts(&table, "", "name", "value", "unit", "", NULL);
  for (int i = 0; i < count; i++) {
    const mbg_linearize_name *n = get(s, i);
    cli_table_format(&table, "%d", i + 1);
    cli_table_text(&table, n->name);
    if (isnan(n->value)) {
      cli_table_text(&table, "");
    } else {
      cli_table_number(&table, n->value);
    }
    cli_table_text(&table, n->unit);
    cli_table_text(&table, n->what);
  }
  if (count > 0) {
    cli_heading(title);
    cli_table_print(&table, 2);
  }
  cli_table_destroy(&table);
}

static void print_block(const char *title, const double *A, int rows, int columns, int first, int count) {
  char align[COLUMNS + 2];
  memset(align, 'r', (size_t)count + 1);
  align[count + 1] = 0;
  cli_table table = cli_table_make(align);
  cli_table_text(&table, "");
  for (int j = first; j < first + count; j++) {
    cli_table_format(&table, "%d", j + 1);
  }
  for (int i = 0; i < rows; i++) {
    cli_table_format(&table, "%d", i + 1);
    for (int j = first; j < first + count; j++) {
      cli_table_number(&table, A[i * columns + j]);
    }
  }
  cli_heading(title);
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

void cli_linear_names(const mbg_linearize *s) {
  const mbg_linearize_summary *m = mbg_linearize_get_summary(s);
  print_names("\nstates", s, m->states, mbg_linearize_state);
  print_names("\ninputs", s, m->inputs, mbg_linearize_input);
  print_names("\noutputs", s, m->outputs, mbg_linearize_output);
}

void cli_linear_matrix(const char *title, const double *A, int rows, int columns) {
  for (int first = 0; rows > 0 && first < columns; first += COLUMNS) {
    print_block(title, A, rows, columns, first, columns - first < COLUMNS ? columns - first : COLUMNS);
  }
}
