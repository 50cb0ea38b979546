#include "support/fuzz_cells.h"

#include <math.h>
#include <string.h>

static char *piece(const char *text, size_t length) {
  char *copy = malloc(length + 1);
  CHECK(copy);
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

void fuzz_cells_read(fuzz_cells *c, const char *text, char separator) {
  c->count = 0;
  while (*text && c->count < FUZZ_LINES_MAX) {
    const size_t length = strcspn(text, "\n");
    const char *end = text + length;
    fuzz_line *line = &c->line[c->count++];
    line->count = 0;
    for (const char *p = text; p <= end && line->count < FUZZ_CELLS_MAX; p++) {
      const char *stop = memchr(p, separator, (size_t)(end - p));
      stop = stop ? stop : end;
      line->cell[line->count++] = piece(p, (size_t)(stop - p));
      p = stop;
    }
    text = *end ? end + 1 : end;
  }
}

static void free_line(fuzz_line *line) {
  for (int i = 0; i < line->count; i++) {
    free(line->cell[i]);
  }
}

void fuzz_cells_free(fuzz_cells *c) {
  for (int i = 0; i < c->count; i++) {
    free_line(&c->line[i]);
  }
  c->count = 0;
}

void fuzz_cells_set(fuzz_cells *c, int line, int cell, const char *text) {
  if (line < c->count && cell < c->line[line].count) {
    free(c->line[line].cell[cell]);
    c->line[line].cell[cell] = piece(text, strlen(text));
  }
}

void fuzz_cells_decimal(support_rng *rng, const char *old, char out[64]) {
  const double x = strtod(old, NULL), factors[] = {2, 0.5, -1, 1.001, 10, 0.1, 1e3, 1e-3};
  switch (support_index(rng, 8)) {
  case 0:
    snprintf(out, 64, "%s", fuzz_no_number(rng));
    break;
  case 1:
  case 2:
    snprintf(out, 64, "%s", fuzz_number(rng));
    break;
  case 3:
    snprintf(out, 64, "%.9g", x + support_normal(rng));
    break;
  case 4:
    snprintf(out, 64, "%.0f", fmax(-1e6, fmin(1e6, floor(x + support_normal(rng)))));
    break;
  default:
    snprintf(out, 64, "%.9g", x * FUZZ_PICK(rng, factors));
    break;
  }
}

/* a line at random from the first one on, -1: there is none */
static int any_line(support_rng *rng, const fuzz_cells *c, int first_line) {
  return c->count > first_line ? first_line + support_index(rng, c->count - first_line) : -1;
}

void fuzz_cells_change_cell(support_rng *rng, fuzz_cells *c, int first_line,
                            void (*number)(support_rng *rng, const char *old, char out[64])) {
  const int i = any_line(rng, c, first_line);
  if (i < 0 || c->line[i].count == 0) {
    return;
  }
  const int j = support_index(rng, c->line[i].count);
  char text[64];
  number(rng, c->line[i].cell[j], text);
  fuzz_cells_set(c, i, j, text);
}

static void drop_cell(support_rng *rng, fuzz_line *line) {
  if (line->count > 0) {
    const int j = support_index(rng, line->count);
    free(line->cell[j]);
    memmove(&line->cell[j], &line->cell[j + 1], (size_t)(--line->count - j) * sizeof(line->cell[0]));
  }
}

static void add_cell(support_rng *rng, fuzz_line *line, const char *text) {
  if (line->count < FUZZ_CELLS_MAX) {
    const int j = support_index(rng, line->count + 1);
    memmove(&line->cell[j + 1], &line->cell[j], (size_t)(line->count++ - j) * sizeof(line->cell[0]));
    line->cell[j] = piece(text, strlen(text));
  }
}

static void drop_line(fuzz_cells *c, int i) {
  free_line(&c->line[i]);
  memmove(&c->line[i], &c->line[i + 1], (size_t)(--c->count - i) * sizeof(c->line[0]));
}

/* a copy of line `from` before line `to` */
static void add_line(fuzz_cells *c, int from, int to) {
  if (c->count == FUZZ_LINES_MAX) {
    return;
  }
  fuzz_line copy = {.count = c->line[from].count};
  for (int j = 0; j < copy.count; j++) {
    copy.cell[j] = piece(c->line[from].cell[j], strlen(c->line[from].cell[j]));
  }
  memmove(&c->line[to + 1], &c->line[to], (size_t)(c->count++ - to) * sizeof(c->line[0]));
  c->line[to] = copy;
}

void fuzz_cells_change_shape(support_rng *rng, fuzz_cells *c, int first_line) {
  const int i = any_line(rng, c, first_line), k = any_line(rng, c, first_line);
  if (i < 0) {
    return;
  }
  fuzz_line *line = &c->line[i], *other = &c->line[k];
  switch (support_index(rng, 8)) {
  case 0:
    drop_cell(rng, line);
    break;
  case 1:
    add_cell(rng, line, other->count > 0 ? other->cell[support_index(rng, other->count)] : "");
    break;
  case 2: { /* two cells exchanged */
    const int a = line->count > 0 ? support_index(rng, line->count) : 0;
    if (a < line->count && a < other->count) {
      char *kept = line->cell[a];
      line->cell[a] = other->cell[a];
      other->cell[a] = kept;
    }
    break;
  }
  case 3:
    drop_line(c, i);
    break;
  case 4:
    add_line(c, i, k);
    break;
  case 5: { /* two lines exchanged */
    const fuzz_line kept = *line;
    *line = *other;
    *other = kept;
    break;
  }
  case 6: /* the rest is missing */
    while (c->count > i) {
      drop_line(c, i);
    }
    break;
  default: /* a column is missing */
    for (int n = first_line; n < c->count && line->count > 0; n++) {
      if (c->line[n].count > 1) {
        free(c->line[n].cell[--c->line[n].count]);
      }
    }
    break;
  }
}
