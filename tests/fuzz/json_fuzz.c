/* The readers of JSON and of tables never crash, never hang, and say either what they read or one message with its
   place. Deterministic: each seed cut at every byte, then random mutations (argv[1] of them, 20000 by default). */
#include "io/csv.h"
#include "io/json.h"
#include "io/json_write.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* an assertion that also holds without asserts and without cmocka around it */
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                  \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---------------------------------------------------------------------- what must hold */

static void write_value(mbg__json_writer *w, const mbg__json *value);

static void write_items(mbg__json_writer *w, const mbg__json *value) {
  int count = 0;
  for (const mbg__json *item = value->child; item; item = item->next, count++) {
    CHECK((item->key != NULL) == (value->kind == MBG__JSON_OBJECT));
    CHECK(item->line >= value->line && item->column > 0);
    if (item->key) {
      CHECK(item->key_line >= value->line && item->key_column > 0 && item->key_line <= item->line);
      mbg__json_key(w, item->key);
    }
    write_value(w, item);
  }
  CHECK(count == value->count);
}

static void write_value(mbg__json_writer *w, const mbg__json *value) {
  switch (value->kind) {
  case MBG__JSON_NULL:
    mbg__json_null(w);
    break;
  case MBG__JSON_BOOL:
    mbg__json_boolean(w, value->boolean);
    break;
  case MBG__JSON_NUMBER:
    mbg__json_number(w, value->number);
    break;
  case MBG__JSON_STRING:
    mbg__json_string_n(w, value->text, value->length);
    break;
  case MBG__JSON_ARRAY:
    mbg__json_begin_array(w);
    write_items(w, value);
    mbg__json_end_array(w);
    break;
  case MBG__JSON_OBJECT:
    mbg__json_begin_object(w);
    write_items(w, value);
    mbg__json_end_object(w);
    break;
  }
}

/* what was read and written again reads as the same, down to the bits */
static void check_round_trip(mbg_context *ctx, mbg__arena *arena, const mbg__json *value, bool pretty) {
  mbg__json_writer first, second;
  const char *text = NULL, *again = NULL;
  size_t length = 0, length_again = 0;
  mbg__json *back = NULL;
  mbg__json_writer_init(&first, ctx, pretty);
  mbg__json_writer_init(&second, ctx, pretty);
  write_value(&first, value);
  CHECK(mbg__json_writer_finish(&first, &text, &length) == MBG_OK);
  CHECK(mbg__json_parse(ctx, arena, "f", text, length, &back) == MBG_OK);
  write_value(&second, back);
  CHECK(mbg__json_writer_finish(&second, &again, &length_again) == MBG_OK);
  CHECK(length == length_again && memcmp(text, again, length) == 0);
  mbg__json_writer_destroy(&first);
  mbg__json_writer_destroy(&second);
}

static void check_message(const mbg_context *ctx, int err) {
  int line = 0, column = 0;
  CHECK(err == MBG_ERROR_INPUT && mbg_context_message_count(ctx) == 1);
  CHECK(sscanf(mbg_context_error(ctx), "f:%d:%d: ", &line, &column) == 2 && line > 0 && column > 0);
  for (const char *p = mbg_context_error(ctx); *p; p++) {
    CHECK((unsigned char)*p >= 0x20);
  }
}

static void check_json(mbg_context *ctx, const char *text, size_t length) {
  mbg__arena arena;
  mbg__json *value = NULL;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  mbg_context_clear(ctx);
  const int err = mbg__json_parse(ctx, &arena, "f", text, length, &value);
  CHECK((err == MBG_OK) == (value != NULL));
  if (err == MBG_OK) {
    CHECK(mbg_context_message_count(ctx) == 0);
    check_round_trip(ctx, &arena, value, length % 2);
  } else {
    check_message(ctx, err);
  }
  mbg__arena_destroy(&arena);
}

static void check_csv(mbg_context *ctx, const char *text, size_t length) {
  mbg__arena arena;
  mbg__csv csv;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  mbg_context_clear(ctx);
  const int err = mbg__csv_parse(ctx, &arena, "f", text, length, &csv);
  if (err == MBG_OK) {
    CHECK(csv.ncolumns > 0 && csv.nrows >= 0);
    for (int j = 0; j < csv.ncolumns; j++) {
      CHECK(mbg__csv_find(&csv, csv.names[j]) == (csv.names[j][0] ? j : -1));
    }
  } else {
    check_message(ctx, err);
  }
  mbg__arena_destroy(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  /* a copy of its exact size: the input of a caller may be followed by a 0 that hides a mistake */
  char *text = malloc(size ? size : 1);
  mbg_context *ctx = NULL;
  CHECK(text && mbg_context_create(NULL, &ctx) == MBG_OK);
  if (size > 0) {
    memcpy(text, data, size);
  }
  check_json(ctx, text, size);
  check_csv(ctx, text, size);
  mbg_context_destroy(ctx);
  free(text);
  return 0;
}

/* ---------------------------------------------------------------------- campaign */

#ifndef MBG_LIBFUZZER

enum { INPUT_MAX = 4096 };

static const char *const seeds[] = {
    "{\n  \"mbgrad\": 1,\n  \"name\": \"torsional-pendulum\",\n"
    "  \"parameters\": { \"l\": { \"value\": 0.5, \"min\": 0.2, \"max\": 5.0, \"unit\": \"m\" } },\n"
    "  \"constants\": { \"alpha0\": \"30 deg\", \"m\": 1.0, \"cr\": 10.0 },\n"
    "  \"bodies\": { \"bob\": { \"position\": [\"l*cos(alpha0)\", \"l*sin(alpha0)\", 0] } },\n"
    "  \"run\": { \"formulation\": \"qr\", \"end\": 10.0, \"relative_tolerance\": 1e-11, \"deep\": [[[[]]], {}] }\n}\n",
    "[null, true, false, -0, 1e22, 123456789012345678901234567890e-20, 5e-324, 1.7976931348623157e308]",
    "\xef\xbb\xbf{\"\xc3\xa9\": \"\\u00e9\\ud83d\\ude00\\n\\\\\\\"\", \"\": \"\xe2\x82\xac\xf0\x9f\x98\x80\\u0000\"}",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "# measured\r\ntime;\"F; N\";\xc2\xb0\r\n0;1.5;nan\r\n0.1;;-2e-3\r\n\r\n0.2;\"3\";1,5\r\n",
    "t\tx\n0\t1\n\t\n2\t3\n",
    "1,2,3\n4,5,6\n7,8\n",
};

/* bytes that mean something somewhere */
static const char marks[] = "{}[]:,;\t\n\r \"\"\\/u0159+-.eE#'nNtf\xc3\xa9\xff\xd8\x80\x01";

typedef struct {
  char bytes[INPUT_MAX];
  size_t length;
} input;

static void set_input(input *in, const char *text) {
  in->length = strlen(text);
  memcpy(in->bytes, text, in->length);
}

static void insert(input *in, size_t at, const char *bytes, size_t count) {
  if (in->length + count > INPUT_MAX) {
    return;
  }
  memmove(in->bytes + at + count, in->bytes + at, in->length - at);
  memcpy(in->bytes + at, bytes, count);
  in->length += count;
}

static void erase(input *in, size_t at, size_t count) {
  count = count < in->length - at ? count : in->length - at;
  memmove(in->bytes + at, in->bytes + at + count, in->length - at - count);
  in->length -= count;
}

static void splice(support_rng *rng, input *in, size_t at) {
  const char *other = seeds[support_index(rng, MBG_COUNT(seeds))];
  const size_t length = strlen(other);
  const size_t from = (size_t)support_index(rng, (int)length);
  const size_t count = (size_t)support_index(rng, 24);
  insert(in, at, other + from, count < length - from ? count : length - from);
}

static void mutate(support_rng *rng, input *in) {
  const size_t at = (size_t)support_index(rng, (int)in->length + 1);
  const char mark = marks[support_index(rng, MBG_COUNT(marks))]; /* the 0 at its end too */
  switch (support_index(rng, 6)) {
  case 0:
    if (at < in->length) {
      in->bytes[at] = (char)((unsigned char)in->bytes[at] ^ 1u << support_index(rng, 8));
    }
    break;
  case 1:
    if (at < in->length) {
      in->bytes[at] = mark;
    }
    break;
  case 2:
    insert(in, at, &mark, 1);
    break;
  case 3:
    erase(in, at, (size_t)support_index(rng, 8));
    break;
  case 4:
    splice(rng, in, at);
    break;
  default:
    /* a piece of itself once more */
    if (at < in->length) {
      char piece[16];
      const size_t count = in->length - at < sizeof(piece) ? in->length - at : sizeof(piece);
      memcpy(piece, in->bytes + at, count);
      insert(in, (size_t)support_index(rng, (int)in->length), piece, count);
    }
    break;
  }
}

static void run(const input *in) { LLVMFuzzerTestOneInput((const uint8_t *)in->bytes, in->length); }

static void cut_everywhere(input *in) {
  for (int i = 0; i < MBG_COUNT(seeds); i++) {
    set_input(in, seeds[i]);
    while (in->length > 0) {
      run(in);
      in->length--;
    }
    run(in);
  }
}

int main(int argc, char **argv) {
  const long count = argc > 1 ? strtol(argv[1], NULL, 10) : support_rounds(20000, 1000000);
  input *in = malloc(sizeof(*in));
  CHECK(in);
  cut_everywhere(in);
  support_rng rng = support_rng_make(1);
  for (long i = 0; i < count; i++) {
    set_input(in, seeds[support_index(&rng, MBG_COUNT(seeds))]);
    const int steps = 1 + support_index(&rng, 6);
    for (int k = 0; k < steps; k++) {
      mutate(&rng, in);
    }
    run(in);
  }
  free(in);
  printf("%ld mutations\n", count);
  return 0;
}

#endif
