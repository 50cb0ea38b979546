/* json_write: text and JSON into a buffer that grows. Running out of memory is remembered, not reported at each call:
   write everything, then ask once. */
#ifndef MBG_IO_JSON_WRITE_H
#define MBG_IO_JSON_WRITE_H

#include "base/base.h"

/* ---------------------------------------------------------------------- text */

typedef struct {
  mbg_context *ctx;
  char *text;    /* terminated by 0; NULL until something is written; owned */
  size_t length; /* bytes before the 0 */
  size_t capacity;
  bool failed; /* out of memory: later writes are dropped */
} mbg__buffer;

void mbg__buffer_init(mbg__buffer *buffer, mbg_context *ctx);
void mbg__buffer_destroy(mbg__buffer *buffer);
void mbg__buffer_add(mbg__buffer *buffer, const char *text, size_t length);
void mbg__buffer_text(mbg__buffer *buffer, const char *text);
void mbg__buffer_number(mbg__buffer *buffer, double value); /* shortest form that reads back; "nan", "inf", "-inf" */
void mbg__buffer_format(mbg__buffer *buffer, const char *format, ...) MBG_PRINTF(2, 3); /* no %g: locale */

/* 0 with the text (borrowed, never NULL), or MBG_ERROR_MEMORY with a message. length may be NULL. */
int mbg__buffer_finish(mbg__buffer *buffer, const char **text, size_t *length);
/* The same, and ends the buffer: *text is the caller's to free (mbg_text_destroy), NULL on failure. */
int mbg__buffer_hand_over(mbg__buffer *buffer, char **text);

/* ---------------------------------------------------------------------- JSON */

/* Commas, line breaks and indentation come by themselves. Calls in an order that gives no JSON are asserted:
   a key before each value of an object, none in an array, one value at the top. At most 100 levels. */
typedef struct {
  mbg__buffer buffer;
  bool pretty; /* a line for each member and item, indented by 2 spaces */
  int depth;
  char open[100];   /* per level: '{' or '[' */
  bool filled[101]; /* per level: a value was written */
  bool keyed;       /* a key waits for its value */
} mbg__json_writer;

void mbg__json_writer_init(mbg__json_writer *w, mbg_context *ctx, bool pretty);
void mbg__json_writer_destroy(mbg__json_writer *w);

void mbg__json_begin_object(mbg__json_writer *w);
void mbg__json_end_object(mbg__json_writer *w);
void mbg__json_begin_array(mbg__json_writer *w);
void mbg__json_end_array(mbg__json_writer *w);
void mbg__json_key(mbg__json_writer *w, const char *key);

void mbg__json_number(mbg__json_writer *w, double value); /* shortest form that reads back; null when not finite */
void mbg__json_integer(mbg__json_writer *w, long long value);
void mbg__json_string(mbg__json_writer *w, const char *text); /* bytes that are no UTF-8 become U+FFFD */
void mbg__json_string_n(mbg__json_writer *w, const char *text, size_t length);
void mbg__json_boolean(mbg__json_writer *w, bool value);
void mbg__json_null(mbg__json_writer *w);
void mbg__json_numbers(mbg__json_writer *w, const double *values, int count); /* an array on one line */

/* 0 with the text (borrowed; a line break ends it when pretty), or MBG_ERROR_MEMORY with a message. Everything that
   was begun must be ended. length may be NULL. */
int mbg__json_writer_finish(mbg__json_writer *w, const char **text, size_t *length);

/* As mbg__json_writer_finish, and ends the writer: *text is the caller's to free (mbg_text_destroy), NULL on
   failure. */
int mbg__json_writer_hand_over(mbg__json_writer *w, char **text);

#endif
