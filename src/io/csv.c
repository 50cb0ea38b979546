#include "io/csv.h"

#include "io/file.h"
#include "io/number.h"
#include "io/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  const char *file;
  const char *begin, *end; /* the text, without byte order mark */
  char separator;
} reader;

/* a line that is neither blank nor a comment */
typedef struct {
  const char *begin, *end; /* without the end of line */
  int number;
} line;

/* the text between two separators */
typedef struct {
  const char *begin, *end; /* without blanks around it, quotes included */
  bool quoted;
} cell;

/* ---------------------------------------------------------------------- messages */

MBG_PRINTF(4, 5) static int fail_at(const reader *r, const line *at, const char *p, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s:%d:%d: %s", r->file, at->number, 1 + mbg__utf8_count(at->begin, p),
                   text);
}

static int fail_cells(const reader *r) {
  return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s:1:1: the table has more than %d cells", r->file, MBG__CSV_CELLS_MAX);
}

static mbg__excerpt excerpt(const cell *c) { return mbg__excerpt_of(c->begin, (size_t)(c->end - c->begin)); }

/* ---------------------------------------------------------------------- lines and cells */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static const char *trim_left(const reader *r, const char *p, const char *end) {
  while (p < end && is_blank(*p) && *p != r->separator) {
    p++;
  }
  return p;
}

/* the next line with data, starting at *p; false at the end */
static bool next_line(const reader *r, const char **p, line *l) {
  while (*p < r->end) {
    const char *newline = memchr(*p, '\n', (size_t)(r->end - *p));
    l->begin = *p;
    l->end = newline ? newline : r->end;
    l->number++;
    *p = newline ? newline + 1 : r->end;
    if (l->end > l->begin && l->end[-1] == '\r') {
      l->end--;
    }
    /* a line of tabs is a row of empty cells when tabs separate */
    const char *q = trim_left(r, l->begin, l->end);
    if (q < l->end && *q != '#') {
      return true;
    }
  }
  return false;
}

static const char *trim_right(const reader *r, const char *begin, const char *p) {
  while (p > begin && is_blank(p[-1]) && p[-1] != r->separator) {
    p--;
  }
  return p;
}

/* the position after the closing quote of the string that opens at p, or NULL; "" inside stands for one quote */
static const char *skip_quoted(const char *p, const char *end) {
  for (p++; p < end; p++) {
    if (*p == '"') {
      if (end - p < 2 || p[1] != '"') {
        return p + 1;
      }
      p++;
    }
  }
  return NULL;
}

/* the cell that starts at *p; moves *p behind the separator that ends it, or to NULL after the last one */
static int next_cell(const reader *r, const line *l, const char **p, cell *c) {
  c->begin = trim_left(r, *p, l->end);
  c->quoted = c->begin < l->end && *c->begin == '"';
  const char *q = c->begin;
  if (c->quoted) {
    q = skip_quoted(c->begin, l->end);
    if (!q) {
      return fail_at(r, l, c->begin, "the closing '\"' is missing on this line");
    }
    const char *behind = trim_left(r, q, l->end);
    if (behind < l->end && *behind != r->separator) {
      return fail_at(r, l, behind, "expected a separator after the closing '\"'");
    }
  }
  while (q < l->end && *q != r->separator) {
    q++;
  }
  c->end = trim_right(r, c->begin, q);
  *p = q < l->end ? q + 1 : NULL;
  return MBG_OK;
}

static int count_cells(const reader *r, const line *l, int *count) {
  int err = MBG_OK;
  *count = 0;
  for (const char *p = l->begin; p;) {
    cell c;
    MBG_TRY(next_cell(r, l, &p, &c));
    ++*count;
  }
done:
  return err;
}

/* tabs before semicolons before commas: the later ones may be part of names or be decimal commas */
static char find_separator(const line *l) {
  char found = ',';
  for (const char *p = l->begin; p < l->end; p++) {
    if (*p == '"') {
      const char *q = skip_quoted(p, l->end);
      p = q ? q - 1 : l->end - 1;
    } else if (*p == '\t') {
      return '\t';
    } else if (*p == ';') {
      found = ';';
    }
  }
  return found;
}

/* ---------------------------------------------------------------------- numbers */

/* a number, an empty cell or "nan" */
static bool cell_number(const cell *c, double *value) {
  const char *p = c->begin, *end = c->end;
  if (c->quoted) {
    p++;
    end--;
  }
  const size_t n = (size_t)(end - p);
  if (n == 0 || (n == 3 && (p[0] | 0x20) == 'n' && (p[1] | 0x20) == 'a' && (p[2] | 0x20) == 'n')) {
    *value = NAN;
    return true;
  }
  return mbg__number_parse(p, n, value);
}

/* "1,5": reads as a number when its only comma is a point */
static bool is_decimal_comma(const reader *r, const cell *c) {
  char text[64];
  const size_t n = (size_t)(c->end - c->begin);
  const char *comma = n < sizeof(text) && n > 0 ? memchr(c->begin, ',', n) : NULL;
  if (!comma || r->separator == ',') {
    return false;
  }
  memcpy(text, c->begin, n);
  text[comma - c->begin] = '.';
  double value = 0;
  return mbg__number_parse(text, n, &value);
}

static int fail_number(const reader *r, const line *l, const cell *c, const char *name) {
  const mbg__excerpt column = mbg__excerpt_of(name, strlen(name)), shown = excerpt(c);
  if (is_decimal_comma(r, c)) {
    return fail_at(r, l, c->begin, "column '%s': '%s' has a decimal comma; write numbers with a point", column.text,
                   shown.text);
  }
  const size_t n = (size_t)(c->end - c->begin);
  const bool blank = memchr(c->begin, ' ', n) || memchr(c->begin, '\t', n);
  return fail_at(r, l, c->begin, "column '%s': '%s' is not a number%s", column.text, shown.text,
                 blank ? "; cells are separated by ',', ';' or tabs" : "");
}

static int parse_cell(const reader *r, const line *l, const cell *c, const char *name, double *value) {
  if (!cell_number(c, value)) {
    return fail_number(r, l, c, name);
  }
  if (isinf(*value)) {
    return fail_at(r, l, c->begin, "column '%s': '%s' is out of range; the largest number is about 1.8e308",
                   mbg__excerpt_of(name, strlen(name)).text, excerpt(c).text);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- names */

static int find_names(const reader *r, const line *l, bool *named) {
  int err = MBG_OK;
  *named = false;
  for (const char *p = l->begin; p && !*named;) {
    cell c;
    double value = 0;
    MBG_TRY(next_cell(r, l, &p, &c));
    *named = c.quoted || (!cell_number(&c, &value) && !is_decimal_comma(r, &c));
  }
done:
  return err;
}

/* the text of a cell, without quotes */
static int cell_text(const reader *r, const line *l, const cell *c, const char **out) {
  const char *p = c->begin + c->quoted, *end = c->end - c->quoted;
  char *name = mbg__arena_take(r->arena, (size_t)(end - p) + 1, 1);
  if (!name) {
    return mbg__fail_memory(r->ctx);
  }
  *out = name;
  while (p < end) {
    const int n = mbg__utf8_decode(p, end, NULL);
    if (n == 0) {
      return fail_at(r, l, p, "invalid UTF-8 in a column name (byte 0x%02x); save the file as UTF-8",
                     (unsigned)(unsigned char)*p);
    }
    if (*p >= 0 && *p < 0x20) {
      return fail_at(r, l, p, "control character in a column name");
    }
    memcpy(name, p, (size_t)n);
    name += n;
    /* doubled quotes stand for one */
    p += c->quoted && *p == '"' ? 2 : n;
  }
  return MBG_OK;
}

typedef struct {
  const char *name;
  int index;
} entry;

static int compare_entries(const void *a, const void *b) {
  const entry *x = a, *y = b;
  const int order = strcmp(x->name, y->name);
  return order ? order : x->index - y->index;
}

/* index of the first column whose name was given before, or -1; -2 when out of memory */
static int find_repeated(const reader *r, const char *const *names, int n) {
  entry *sorted = mbg__alloc(r->ctx, (size_t)n, sizeof(*sorted));
  if (!sorted) {
    return -2;
  }
  for (int i = 0; i < n; i++) {
    sorted[i] = (entry){names[i], i};
  }
  qsort(sorted, (size_t)n, sizeof(*sorted), compare_entries);
  int found = -1;
  for (int i = 1; i < n; i++) {
    const bool same = sorted[i].name[0] && strcmp(sorted[i - 1].name, sorted[i].name) == 0;
    if (same && (found < 0 || sorted[i].index < found)) {
      found = sorted[i].index;
    }
  }
  mbg__free(r->ctx, sorted);
  return found;
}

static int check_unique(const reader *r, const line *l, const char *const *names, int n) {
  int err = MBG_OK;
  const int repeated = find_repeated(r, names, n);
  if (repeated < 0) {
    return repeated == -2 ? mbg__fail_memory(r->ctx) : MBG_OK;
  }
  cell c = {NULL, NULL, false};
  const char *p = l->begin;
  for (int i = 0; i <= repeated; i++) {
    MBG_TRY(next_cell(r, l, &p, &c));
  }
  err = fail_at(r, l, c.begin, "two columns are called '%s'",
                mbg__excerpt_of(names[repeated], strlen(names[repeated])).text);
done:
  return err;
}

static int read_names(const reader *r, const line *l, const char **names, int n) {
  int err = MBG_OK;
  const char *p = l->begin;
  for (int i = 0; i < n; i++) {
    cell c;
    MBG_TRY(next_cell(r, l, &p, &c));
    MBG_TRY(cell_text(r, l, &c, &names[i]));
  }
  MBG_TRY(check_unique(r, l, names, n));
done:
  return err;
}

static int number_names(const reader *r, const char **names, int n) {
  for (int i = 0; i < n; i++) {
    char text[16];
    mbg__format(text, sizeof(text), "%d", i + 1);
    names[i] = mbg__arena_text(r->arena, text, strlen(text));
    if (!names[i]) {
      return mbg__fail_memory(r->ctx);
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- rows */

static int check_row(const reader *r, const line *l, int ncolumns) {
  int err = MBG_OK, count = 0;
  MBG_TRY(count_cells(r, l, &count));
  if (count == ncolumns) {
    return MBG_OK;
  }
  /* point behind the last cell, or at the first too many */
  const char *p = l->begin;
  for (int i = 0; i < ncolumns && i < count; i++) {
    cell c;
    MBG_TRY(next_cell(r, l, &p, &c));
  }
  err = fail_at(r, l, p ? p : l->end, "this row has %d cell%s, but the table has %d column%s", count,
                count == 1 ? "" : "s", ncolumns, ncolumns == 1 ? "" : "s");
done:
  return err;
}

/* counts the rows and checks that all are complete, before memory is taken for them */
static int measure(const reader *r, const char *p, line l, mbg__csv *csv) {
  int err = MBG_OK;
  while (next_line(r, &p, &l)) {
    MBG_TRY(check_row(r, &l, csv->ncolumns));
    csv->nrows++;
    if (csv->nrows > MBG__CSV_CELLS_MAX / csv->ncolumns) {
      return fail_cells(r);
    }
  }
done:
  return err;
}

static int fill(const reader *r, const char *p, line l, mbg__csv *csv) {
  int err = MBG_OK;
  for (int i = 0; i < csv->nrows; i++) {
    next_line(r, &p, &l);
    csv->lines[i] = l.number;
    const char *q = l.begin;
    for (int j = 0; j < csv->ncolumns; j++) {
      cell c;
      MBG_TRY(next_cell(r, &l, &q, &c));
      MBG_TRY(parse_cell(r, &l, &c, csv->names[j], &csv->values[(size_t)j * (size_t)csv->nrows + (size_t)i]));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- the whole table */

static int read_head(const reader *r, const line *first, mbg__csv *csv) {
  int err = MBG_OK;
  MBG_TRY(count_cells(r, first, &csv->ncolumns));
  if (csv->ncolumns > MBG__CSV_CELLS_MAX) {
    return fail_cells(r);
  }
  MBG_TRY(find_names(r, first, &csv->named));
  const char **names = MBG_TAKE(r->arena, const char *, csv->ncolumns);
  MBG_TRY(mbg__arena_check(r->ctx, r->arena));
  csv->names = names;
  MBG_TRY(csv->named ? read_names(r, first, names, csv->ncolumns) : number_names(r, names, csv->ncolumns));
done:
  return err;
}

static int parse_table(reader *r, mbg__csv *csv) {
  int err = MBG_OK;
  const char *p = r->begin;
  line first = {p, p, 0};
  if (!next_line(r, &p, &first)) {
    return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s:1:1: the table is empty", r->file);
  }
  r->separator = find_separator(&first);
  MBG_TRY(read_head(r, &first, csv));
  /* without names the first line is the first row */
  const char *rows = csv->named ? p : first.begin;
  const line above = {rows, rows, first.number - !csv->named};
  MBG_TRY(measure(r, rows, above, csv));
  csv->values = MBG_TAKE(r->arena, double, (size_t)csv->nrows *(size_t)csv->ncolumns);
  csv->lines = MBG_TAKE(r->arena, int, csv->nrows);
  MBG_TRY(mbg__arena_check(r->ctx, r->arena));
  MBG_TRY(fill(r, rows, above, csv));
done:
  return err;
}

int mbg__csv_parse(mbg_context *ctx, mbg__arena *arena, const char *file, const char *text, size_t length,
                   mbg__csv *out) {
  *out = (mbg__csv){0, 0, false, NULL, NULL, NULL};
  if (length > MBG__FILE_BYTES_MAX) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s:1:1: the file is larger than 256 MiB", file);
  }
  const char *begin = length > 0 ? text + mbg__utf8_mark(text, length) : "";
  reader r = {ctx, arena, file, begin, length > 0 ? text + length : begin, ','};
  const int err = parse_table(&r, out);
  if (err < 0) {
    *out = (mbg__csv){0, 0, false, NULL, NULL, NULL};
  }
  return err;
}

int mbg__csv_read(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__csv *out) {
  int err = MBG_OK;
  char *text = NULL;
  size_t length = 0;
  *out = (mbg__csv){0, 0, false, NULL, NULL, NULL};
  /* the text is not needed once the numbers are read */
  mbg__arena scratch;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  MBG_TRY(mbg__file_read_data(ctx, &scratch, path, &text, &length));
  MBG_TRY(mbg__csv_parse(ctx, arena, path, text, length, out));
done:
  mbg__arena_destroy(&scratch);
  return err;
}

int mbg__csv_find(const mbg__csv *csv, const char *name) {
  for (int j = 0; j < csv->ncolumns; j++) {
    if (name[0] && strcmp(csv->names[j], name) == 0) {
      return j;
    }
  }
  return -1;
}

const double *mbg__csv_column(const mbg__csv *csv, int column) {
  assert(column >= 0 && column < csv->ncolumns);
  return csv->values + (size_t)column * (size_t)csv->nrows;
}
