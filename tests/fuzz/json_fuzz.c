/* The readers of JSON and of tables never crash, never hang, and say either what they read or one message with its
   place. Good files are cut at every byte, then changed at random without regard to their structure.

   What it cannot produce: files of more than some kilobytes; what a model file means (tree_fuzz) or a table is for
   (csv_fuzz). */
#include "io/csv.h"
#include "io/json.h"
#include "io/json_write.h"
#include "support/fuzz.h"

#include <string.h>

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

static bool check_json(mbg_context *ctx, const char *text, size_t length) {
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
  return err == MBG_OK;
}

static bool check_csv(mbg_context *ctx, const char *text, size_t length) {
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
  return err == MBG_OK;
}

static fuzz_outcome take(support_rng *rng, int problem, const char *text, size_t size) {
  (void)rng;
  (void)problem;
  mbg_context *ctx = fuzz_context();
  const bool json = check_json(ctx, text, size), csv = check_csv(ctx, text, size);
  fuzz_context_close(ctx);
  return json || csv ? FUZZ_ANSWERED : FUZZ_REFUSED;
}

/* ---------------------------------------------------------------------- inputs */

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

/* bytes that mean something somewhere; "" is a 0 */
static const char *const pieces[] = {"{", "}", "[", "]", ":", ",",    ";",    "\t",   "\n",   "\r",   " ",   "\"", "\\",
                                     "/", "u", "0", "1", "5", "9",    "+",    "-",    ".",    "e",    "E",   "#",  "'",
                                     "n", "N", "t", "f", "",  "\xc3", "\xa9", "\xff", "\xd8", "\x80", "\x01"};

static void cut_everywhere(void) {
  for (int i = 0; i < MBG_COUNT(seeds); i++) {
    for (size_t length = strlen(seeds[i]) + 1; length-- > 0;) {
      char *exact = malloc(length ? length : 1);
      CHECK(exact);
      memcpy(exact, seeds[i], length);
      (void)take(NULL, i, exact, length);
      free(exact);
    }
  }
}

static void make(support_rng *rng, int problem, fuzz_text *out) {
  fuzz_puts(out, seeds[problem]);
  for (int n = support_index(rng, 3); n >= 0; n--) {
    if (fuzz_one_of(rng, 5)) {
      fuzz_splice(rng, out, FUZZ_PICK(rng, seeds));
    } else {
      fuzz_damage(rng, out, pieces, MBG_COUNT(pieces));
    }
  }
}

static const fuzz_program program = {.name = "json_fuzz",
                                     .inputs = 20000,
                                     .inputs_long = 1000000,
                                     .problems = MBG_COUNT(seeds),
                                     .open = cut_everywhere,
                                     .make = make,
                                     .take = take};
FUZZ_PROGRAM(program)
