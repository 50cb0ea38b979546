#include "io/matrix_market.h"

#include "io/file.h"
#include "io/number.h"

#include <string.h>

/* a text while it is read: words, lines */
typedef struct {
  mbg_context *ctx;
  const char *file, *at, *end;
  int line;
  const char *begin; /* of the line */
  const char *word;  /* last one that was read */
} reader;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* the next word of this line, or length 0 */
static size_t word(reader *r, const char **out) {
  while (r->at < r->end && is_blank(*r->at)) {
    r->at++;
  }
  *out = r->word = r->at;
  while (r->at < r->end && !is_blank(*r->at) && *r->at != '\n') {
    r->at++;
  }
  return (size_t)(r->at - *out);
}

/* to the next line that is neither empty nor a comment; false at the end */
static bool next_line(reader *r) {
  while (r->at < r->end) {
    if (*r->at == '\n') {
      r->begin = r->word = ++r->at;
      r->line++;
    } else if (is_blank(*r->at)) {
      r->at++;
    } else if (*r->at == '%') {
      while (r->at < r->end && *r->at != '\n') {
        r->at++;
      }
    } else {
      return true;
    }
  }
  return false;
}

static int column(const reader *r) { return (int)(r->word - r->begin) + 1; }

static int wrong(const reader *r, const char *what) {
  return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s:%d:%d: %s", r->file, r->line, column(r), what);
}

static bool same(const char *text, size_t length, const char *key) {
  for (size_t i = 0; i < length; i++) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
    if (key[i] != c) {
      return false;
    }
  }
  return key[length] == 0;
}

/* %%MatrixMarket matrix coordinate real symmetric */
static int head(reader *r, bool *dense, bool *symmetric) {
  const char *w[5];
  size_t n[5];
  for (int k = 0; k < 5; k++) {
    n[k] = word(r, &w[k]);
  }
  if (!same(w[0], n[0], "%%matrixmarket") || !same(w[1], n[1], "matrix")) {
    return wrong(r, "expected a Matrix Market file: '%%MatrixMarket matrix ...'");
  }
  *dense = same(w[2], n[2], "array");
  *symmetric = same(w[4], n[4], "symmetric");
  if (!*dense && !same(w[2], n[2], "coordinate")) {
    return wrong(r, "expected 'coordinate' or 'array'");
  }
  if (!same(w[3], n[3], "real") && !same(w[3], n[3], "integer") && !same(w[3], n[3], "double")) {
    return wrong(r, "expected 'real' or 'integer' numbers");
  }
  if (!*symmetric && !same(w[4], n[4], "general")) {
    return wrong(r, "expected 'general' or 'symmetric'");
  }
  return MBG_OK;
}

static int number(reader *r, double *out) {
  const char *w;
  const size_t n = word(r, &w);
  if (!mbg__number_parse(w, n, out) || !isfinite(*out)) {
    return wrong(r, n ? "expected a number" : "a number is missing");
  }
  return MBG_OK;
}

/* a whole number from low to high */
static int index(reader *r, int low, int high, int *out) {
  double x;
  const int err = number(r, &x);
  if (err < 0) {
    return err;
  }
  if (x != floor(x) || x < low || x > high) {
    return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s:%d:%d: expected an integer from %d to %d, found %g", r->file, r->line,
                     column(r), low, high, x);
  }
  *out = (int)x;
  return MBG_OK;
}

static void put(mbg__matrix *m, bool symmetric, int i, int j, double x) {
  m->at[(size_t)i + (size_t)m->rows * (size_t)j] += x;
  if (symmetric && i != j) {
    m->at[(size_t)j + (size_t)m->rows * (size_t)i] += x;
  }
}

static int entries(reader *r, bool dense, bool symmetric, int count, mbg__matrix *m) {
  int err = MBG_OK, i = 0, j = 0, k = 0;
  double x;
  for (j = 0; dense && j < m->cols; j++) {
    for (i = symmetric ? j : 0; i < m->rows; i++) {
      if (!next_line(r)) {
        return wrong(r, "the file ends before its last entry");
      }
      MBG_TRY(number(r, &x));
      put(m, symmetric, i, j, x);
    }
  }
  for (; !dense && k < count; k++) {
    if (!next_line(r)) {
      return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s:%d:%d: the file ends after %d of %d entries", r->file, r->line,
                       column(r), k, count);
    }
    MBG_TRY(index(r, 1, m->rows, &i));
    MBG_TRY(index(r, 1, m->cols, &j));
    MBG_TRY(number(r, &x));
    put(m, symmetric, i - 1, j - 1, x);
  }
  if (next_line(r)) {
    return wrong(r, "the file has more numbers than its size line announces");
  }
done:
  return err;
}

int mbg__matrix_parse(mbg_context *ctx, mbg__arena *arena, const char *file, const char *text, size_t length,
                      mbg__matrix *out) {
  int err = MBG_OK, count = 0;
  reader r = {ctx, file, text, text + length, 1, text, text};
  bool dense = false, symmetric = false;
  *out = (mbg__matrix){0};
  MBG_TRY(head(&r, &dense, &symmetric));
  if (!next_line(&r)) {
    return wrong(&r, "the size line is missing");
  }
  MBG_TRY(index(&r, 1, MBG__MATRIX_ENTRIES_MAX, &out->rows));
  MBG_TRY(index(&r, 1, MBG__MATRIX_ENTRIES_MAX, &out->cols));
  if (!dense) {
    MBG_TRY(index(&r, 0, INT32_MAX, &count));
  }
  if (symmetric && out->rows != out->cols) {
    return wrong(&r, "a symmetric matrix must be square");
  }
  if ((double)out->rows * out->cols > MBG__MATRIX_ENTRIES_MAX) {
    return wrong(&r, "the matrix is too large for dense storage; reduce the finite-element model first");
  }
  out->at = mbg__arena_take(arena, (size_t)out->rows * (size_t)out->cols, sizeof(double));
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(entries(&r, dense, symmetric, count, out));
done:
  return err;
}

int mbg__matrix_read(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__matrix *out) {
  char *text;
  size_t length;
  const int err = mbg__file_read_data(ctx, arena, path, &text, &length);
  return err < 0 ? err : mbg__matrix_parse(ctx, arena, path, text, length, out);
}
