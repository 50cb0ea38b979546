#include "io/json_write.h"

#include "io/number.h"
#include "io/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------- text */

void mbg__buffer_init(mbg__buffer *buffer, mbg_context *ctx) { *buffer = (mbg__buffer){ctx, NULL, 0, 0, false}; }

void mbg__buffer_destroy(mbg__buffer *buffer) {
  mbg__free(buffer->ctx, buffer->text);
  mbg__buffer_init(buffer, buffer->ctx);
}

/* room for `more` bytes and the 0 behind them */
static bool reserve(mbg__buffer *b, size_t more) {
  if (b->failed || b->capacity - b->length > more) {
    return !b->failed;
  }
  const size_t need = b->length + more + 1;
  const size_t capacity = need > 2 * b->capacity ? need + 64 : 2 * b->capacity;
  char *text = need > more ? mbg__resize(b->ctx, b->text, capacity, 1) : NULL;
  if (!text) {
    b->failed = true;
    return false;
  }
  b->text = text;
  b->capacity = capacity;
  return true;
}

void mbg__buffer_add(mbg__buffer *buffer, const char *text, size_t length) {
  if (reserve(buffer, length)) {
    memcpy(buffer->text + buffer->length, text, length);
    buffer->length += length;
    buffer->text[buffer->length] = 0;
  }
}

void mbg__buffer_text(mbg__buffer *buffer, const char *text) { mbg__buffer_add(buffer, text, strlen(text)); }

void mbg__buffer_number(mbg__buffer *buffer, double value) {
  char text[MBG__NUMBER_SIZE];
  const int length = mbg__number_format(text, value);
  mbg__buffer_add(buffer, text, (size_t)length);
}

void mbg__buffer_format(mbg__buffer *buffer, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, format, args);
  if (length >= 0 && reserve(buffer, (size_t)length)) {
    vsnprintf(buffer->text + buffer->length, (size_t)length + 1, format, again);
    buffer->length += (size_t)length;
  }
  va_end(again);
  va_end(args);
}

int mbg__buffer_finish(mbg__buffer *buffer, const char **text, size_t *length) {
  *text = buffer->text && !buffer->failed ? buffer->text : "";
  if (length) {
    *length = buffer->failed ? 0 : buffer->length;
  }
  return buffer->failed ? mbg__fail_memory(buffer->ctx) : MBG_OK;
}

int mbg__buffer_hand_over(mbg__buffer *buffer, char **text) {
  const char *written;
  const int err = mbg__buffer_finish(buffer, &written, NULL);
  *text = err < 0 ? NULL : buffer->text;
  buffer->text = err < 0 ? buffer->text : NULL;
  mbg__buffer_destroy(buffer);
  return err;
}

/* ---------------------------------------------------------------------- layout */

void mbg__json_writer_init(mbg__json_writer *w, mbg_context *ctx, bool pretty) {
  memset(w, 0, sizeof(*w));
  mbg__buffer_init(&w->buffer, ctx);
  w->pretty = pretty;
}

void mbg__json_writer_destroy(mbg__json_writer *w) { mbg__buffer_destroy(&w->buffer); }

static char innermost(const mbg__json_writer *w) { return w->depth > 0 ? w->open[w->depth - 1] : 0; }

static void break_line(mbg__json_writer *w) {
  if (!w->pretty) {
    return;
  }
  mbg__buffer_text(&w->buffer, "\n");
  for (int i = 0; i < w->depth; i++) {
    mbg__buffer_text(&w->buffer, "  ");
  }
}

/* the separator before a key, or before a value without a key */
static void separate(mbg__json_writer *w) {
  assert(w->depth > 0 || !w->filled[0]);
  if (w->filled[w->depth]) {
    mbg__buffer_text(&w->buffer, ",");
  }
  if (w->depth > 0) {
    break_line(w);
  }
  w->filled[w->depth] = true;
}

static void start_value(mbg__json_writer *w) {
  assert(w->keyed == (innermost(w) == '{'));
  if (!w->keyed) {
    separate(w);
  }
  w->keyed = false;
}

static void begin(mbg__json_writer *w, char open) {
  assert(w->depth < MBG_COUNT(w->open));
  start_value(w);
  mbg__buffer_add(&w->buffer, &open, 1);
  w->open[w->depth++] = open;
  w->filled[w->depth] = false;
}

static void end(mbg__json_writer *w) {
  assert(w->depth > 0 && !w->keyed);
  const char *close = innermost(w) == '{' ? "}" : "]";
  const bool filled = w->filled[w->depth];
  w->depth--;
  /* empty ones stay on their line */
  if (filled) {
    break_line(w);
  }
  mbg__buffer_text(&w->buffer, close);
}

void mbg__json_begin_object(mbg__json_writer *w) { begin(w, '{'); }

void mbg__json_end_object(mbg__json_writer *w) {
  assert(innermost(w) == '{');
  end(w);
}

void mbg__json_begin_array(mbg__json_writer *w) { begin(w, '['); }

void mbg__json_end_array(mbg__json_writer *w) {
  assert(innermost(w) == '[');
  end(w);
}

/* ---------------------------------------------------------------------- strings */

/* the letter of a short escape, or 0 */
static char short_escape(unsigned char c) {
  static const char values[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
  const char *known = c ? strchr(values, c) : NULL;
  return known ? letters[known - values] : 0;
}

static void add_escape(mbg__buffer *b, unsigned char c) {
  const char letter = short_escape(c);
  if (letter) {
    mbg__buffer_format(b, "\\%c", letter);
  } else {
    mbg__buffer_format(b, "\\u%04x", (unsigned)c);
  }
}

/* U+007F to U+009F: control characters that JSON permits, but that a terminal obeys */
static bool obeyed(const char *p, const char *stop) {
  const unsigned char c = (unsigned char)*p, next = stop - p > 1 ? (unsigned char)p[1] : 0;
  return c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0);
}

static void add_quoted(mbg__buffer *b, const char *text, size_t length) {
  const char *p = text, *stop = text + length;
  mbg__buffer_text(b, "\"");
  while (p < stop) {
    /* as much as can be copied at once */
    const char *q = p;
    int n = 0;
    while (q < stop && (unsigned char)*q >= 0x20 && *q != '"' && *q != '\\' && !obeyed(q, stop) &&
           (n = mbg__utf8_decode(q, stop, NULL)) > 0) {
      q += n;
    }
    mbg__buffer_add(b, p, (size_t)(q - p));
    if (q < stop && obeyed(q, stop)) {
      q += (unsigned char)*q == 0xc2;
      add_escape(b, (unsigned char)*q++);
    } else if (q < stop && (unsigned char)*q < 0x80) {
      add_escape(b, (unsigned char)*q++);
    } else if (q < stop) {
      mbg__buffer_text(b, "\xef\xbf\xbd");
      q++;
    }
    p = q;
  }
  mbg__buffer_text(b, "\"");
}

void mbg__json_key(mbg__json_writer *w, const char *key) {
  assert(innermost(w) == '{' && !w->keyed);
  separate(w);
  add_quoted(&w->buffer, key, strlen(key));
  mbg__buffer_text(&w->buffer, w->pretty ? ": " : ":");
  w->keyed = true;
}

void mbg__json_string(mbg__json_writer *w, const char *text) { mbg__json_string_n(w, text, strlen(text)); }

void mbg__json_string_n(mbg__json_writer *w, const char *text, size_t length) {
  start_value(w);
  add_quoted(&w->buffer, text, length);
}

/* ---------------------------------------------------------------------- other values */

static void add_number(mbg__buffer *b, double value) {
  if (isfinite(value)) {
    mbg__buffer_number(b, value);
  } else {
    mbg__buffer_text(b, "null");
  }
}

void mbg__json_number(mbg__json_writer *w, double value) {
  start_value(w);
  add_number(&w->buffer, value);
}

void mbg__json_integer(mbg__json_writer *w, long long value) {
  start_value(w);
  mbg__buffer_format(&w->buffer, "%lld", value);
}

void mbg__json_boolean(mbg__json_writer *w, bool value) {
  start_value(w);
  mbg__buffer_text(&w->buffer, value ? "true" : "false");
}

void mbg__json_null(mbg__json_writer *w) {
  start_value(w);
  mbg__buffer_text(&w->buffer, "null");
}

void mbg__json_numbers(mbg__json_writer *w, const double *values, int count) {
  start_value(w);
  mbg__buffer_text(&w->buffer, "[");
  for (int i = 0; i < count; i++) {
    if (i > 0) {
      mbg__buffer_text(&w->buffer, w->pretty ? ", " : ",");
    }
    add_number(&w->buffer, values[i]);
  }
  mbg__buffer_text(&w->buffer, "]");
}

static void end_text(mbg__json_writer *w) {
  assert(w->depth == 0 && w->filled[0]);
  if (w->pretty) {
    mbg__buffer_text(&w->buffer, "\n");
  }
}

int mbg__json_writer_finish(mbg__json_writer *w, const char **text, size_t *length) {
  end_text(w);
  return mbg__buffer_finish(&w->buffer, text, length);
}

int mbg__json_writer_hand_over(mbg__json_writer *w, char **text) {
  end_text(w);
  return mbg__buffer_hand_over(&w->buffer, text);
}
