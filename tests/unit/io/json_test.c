/* JSON reader: values, places, every message with its place, limits, failing allocations. */
#include "io/json.h"
#include "io/utf8.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof(*f));
  assert_non_null(f);
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  mbg__arena_init(&f->arena, mbg__context_allocator(f->ctx));
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  mbg__arena_destroy(&f->arena);
  mbg_context_destroy(f->ctx);
  free(f);
  return 0;
}

/* a copy of its exact size, so that the sanitizer sees a read behind the end */
static int parse_bytes(fixture *f, const char *text, size_t length, mbg__json **out) {
  char *copy = malloc(length ? length : 1);
  assert_non_null(copy);
  memcpy(copy, text, length);
  mbg_context_clear(f->ctx);
  const int err = mbg__json_parse(f->ctx, &f->arena, "m.json", copy, length, out);
  free(copy);
  return err;
}

static const mbg__json *good(fixture *f, const char *text) {
  mbg__json *value = NULL;
  if (parse_bytes(f, text, strlen(text), &value) != MBG_OK) {
    fail_msg("%s\n%s", text, mbg_context_error(f->ctx));
  }
  assert_non_null(value);
  return value;
}

static void bad_bytes(fixture *f, const char *text, size_t length, const char *message) {
  mbg__json *value = (mbg__json *)f;
  assert_int_equal(parse_bytes(f, text, length, &value), MBG_ERROR_INPUT);
  assert_null(value);
  assert_string_equal(mbg_context_error(f->ctx), message);
  assert_int_equal(mbg_context_message_count(f->ctx), 1);
}

static void bad(fixture *f, const char *text, const char *message) { bad_bytes(f, text, strlen(text), message); }

/* ---------------------------------------------------------------------- values */

static void test_values(void **state) {
  fixture *f = *state;
  assert_int_equal(good(f, "null")->kind, MBG__JSON_NULL);
  assert_true(good(f, " true ")->boolean);
  assert_false(good(f, "false")->boolean);
  assert_int_equal(good(f, "false")->kind, MBG__JSON_BOOL);
  assert_int_equal(good(f, "[]")->count, 0);
  assert_int_equal(good(f, "[ ]")->kind, MBG__JSON_ARRAY);
  assert_null(good(f, "{\n}")->child);
  assert_int_equal(good(f, "{}")->kind, MBG__JSON_OBJECT);

  const mbg__json *a = good(f, "[1, \"x\", [true, null], {\"k\": {}}]");
  assert_int_equal(a->count, 4);
  assert_string_equal(a->child->text, "1");
  assert_string_equal(a->child->next->text, "x");
  assert_int_equal(a->child->next->next->count, 2);
  assert_string_equal(a->child->next->next->next->child->key, "k");
  assert_null(a->child->next->next->next->next);
  assert_null(a->child->key);
}

static void check_number(fixture *f, const char *text, double value) {
  const mbg__json *n = good(f, text);
  assert_int_equal(n->kind, MBG__JSON_NUMBER);
  assert_memory_equal(&n->number, &value, sizeof(value));
  assert_string_equal(n->text, text);
  assert_int_equal(n->length, strlen(text));
}

static void test_numbers(void **state) {
  fixture *f = *state;
  check_number(f, "0", 0);
  check_number(f, "-0", -0.0);
  check_number(f, "-0.0e5", -0.0);
  check_number(f, "12.5", 12.5);
  check_number(f, "1E+2", 100);
  check_number(f, "2.5e-3", 2.5e-3);
  check_number(f, "0.1", 0.1);
  check_number(f, "9007199254740993", 9007199254740992.0);
  check_number(f, "1e22", 1e22);
  check_number(f, "1e23", 1e23);
  check_number(f, "1.7976931348623157e308", 1.7976931348623157e308);
  check_number(f, "5e-324", 5e-324);
  check_number(f, "1e-999", 0);
  check_number(f, "0e99999999999999999999", 0);
}

static void test_strings(void **state) {
  fixture *f = *state;
  assert_string_equal(good(f, "\"\"")->text, "");
  assert_string_equal(good(f, "\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"")->text, "a\"\\/\b\f\n\r\tz");
  assert_string_equal(good(f, "\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"")->text,
                      "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  assert_string_equal(good(f, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"")->text,
                      "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  assert_string_equal(good(f, "\"\x7f\"")->text, "\x7f");

  const mbg__json *zero = good(f, "\"a\\u0000b\"");
  assert_int_equal(zero->length, 3);
  assert_memory_equal(zero->text, "a\0b", 4);
}

static void test_byte_order_mark(void **state) {
  fixture *f = *state;
  const mbg__json *n = good(f, "\xef\xbb\xbf 7");
  assert_int_equal(n->line, 1);
  assert_int_equal(n->column, 2);
  bad(f, "\xef\xbb\xbf", "m.json:1:1: the file is empty; expected a JSON value");
  bad(f, "1\xef\xbb\xbf", "m.json:1:2: text after the end of the JSON value");
}

static void test_member(void **state) {
  fixture *f = *state;
  const mbg__json *o = good(f, "{\"a\": 1, \"b\": 2, \"\": 3}");
  assert_close(mbg__json_member(o, "a")->number, 1, 0);
  assert_close(mbg__json_member(o, "b")->number, 2, 0);
  assert_close(mbg__json_member(o, "")->number, 3, 0);
  assert_null(mbg__json_member(o, "c"));
  assert_null(mbg__json_member(NULL, "a"));
  assert_null(mbg__json_member(good(f, "[1]"), "a"));
}

static void test_kind_names(void **state) {
  (void)state;
  assert_string_equal(mbg__json_kind_name(MBG__JSON_NULL), "null");
  assert_string_equal(mbg__json_kind_name(MBG__JSON_BOOL), "a boolean");
  assert_string_equal(mbg__json_kind_name(MBG__JSON_NUMBER), "a number");
  assert_string_equal(mbg__json_kind_name(MBG__JSON_STRING), "a string");
  assert_string_equal(mbg__json_kind_name(MBG__JSON_ARRAY), "an array");
  assert_string_equal(mbg__json_kind_name(MBG__JSON_OBJECT), "an object");
}

/* ---------------------------------------------------------------------- places */

static void check_place(const mbg__json *value, int line, int column) {
  assert_int_equal(value->line, line);
  assert_int_equal(value->column, column);
}

static void check_key(const mbg__json *value, int line, int column) {
  assert_int_equal(value->key_line, line);
  assert_int_equal(value->key_column, column);
}

static void test_places(void **state) {
  fixture *f = *state;
  const mbg__json *o =
      good(f, "{\r\n  \"\xc3\xa9\xf0\x9f\x98\x80\": [1, \"\xc3\xa9\", true],\n\t\"b\" :\n  {}, \"c\":-1}");
  check_place(o, 1, 1);
  const mbg__json *a = o->child, *b = a->next, *c = b->next;
  check_key(a, 2, 3);
  check_place(a, 2, 9);
  check_place(a->child, 2, 10);
  check_place(a->child->next, 2, 13);
  check_place(a->child->next->next, 2, 18);
  check_key(b, 3, 2);
  check_place(b, 4, 3);
  check_key(c, 4, 7);
  check_place(c, 4, 11);
}

/* ---------------------------------------------------------------------- messages */

static void test_structure_messages(void **state) {
  fixture *f = *state;
  bad(f, "", "m.json:1:1: the file is empty; expected a JSON value");
  bad(f, " \n\n ", "m.json:1:1: the file is empty; expected a JSON value");
  bad(f, "{\n  \"a\": 1,\n  \"mass\": 1.5 \"b\": 2\n}", "m.json:3:15: expected ',' or '}' after the value of 'mass'");
  bad(f, "[1, 2 3]", "m.json:1:7: expected ',' or ']' after item 2 of the array");
  bad(f, "[1}", "m.json:1:3: expected ',' or ']' after item 1 of the array");
  bad(f, "{\"a\": 1]", "m.json:1:8: expected ',' or '}' after the value of 'a'");
  bad(f, "{\"a\" 1}", "m.json:1:6: expected ':' after the key 'a'");
  bad(f, "{a: 1}", "m.json:1:2: expected a key in double quotes or '}'");
  bad(f, "{\"a\": 1, b: 1}", "m.json:1:10: expected a key in double quotes");
  bad(f, "{,}", "m.json:1:2: expected a key in double quotes or '}'");
  bad(f, "{\"a\": }", "m.json:1:7: expected a value");
  bad(f, "[1,,2]", "m.json:1:4: expected a value");
  bad(f, "]", "m.json:1:1: expected a value");
  bad(f, "{\"a\": 1,\n}", "m.json:1:8: trailing ',' before '}'");
  bad(f, "[1, ]", "m.json:1:3: trailing ',' before ']'");
  bad(f, "{} {}", "m.json:1:4: text after the end of the JSON value");
  bad(f, "1\n,", "m.json:2:1: text after the end of the JSON value");
}

static void test_end_messages(void **state) {
  fixture *f = *state;
  bad(f, "\n {\n",
      "m.json:3:1: the file ends inside the object that starts at line 2, column 2; expected a key in double "
      "quotes or '}'");
  bad(f, "{\"a\"",
      "m.json:1:5: the file ends inside the object that starts at line 1, column 1; expected ':' after the "
      "key 'a'");
  bad(f, "{\"a\":", "m.json:1:6: the file ends inside the object that starts at line 1, column 1; expected a value");
  bad(f, "{\"a\":[1]",
      "m.json:1:9: the file ends inside the object that starts at line 1, column 1; expected ',' or '}' "
      "after the value of 'a'");
  bad(f, "{\"a\":[1",
      "m.json:1:8: the file ends inside the array that starts at line 1, column 6; expected ',' or ']' "
      "after item 1 of the array");
  bad(f, "[1,", "m.json:1:4: the file ends inside the array that starts at line 1, column 1; expected a value");
}

static void test_duplicates(void **state) {
  fixture *f = *state;
  bad(f, "{\n\"crank\": 1,\n\"rod\": 2,\n  \"crank\": 3}", "m.json:4:3: duplicate key 'crank', first given at line 2");
  bad(f, "{\"a\": 1, \"\\u0061\": 2}", "m.json:1:10: duplicate key 'a', first given at line 1");
  /* of several, the first in the file; each with the one before it */
  bad(f, "{\"z\":1,\n\"b\":1,\n\"z\":1,\n\"b\":1,\n\"z\":1}", "m.json:3:1: duplicate key 'z', first given at line 1");
  /* an inner object has its own keys */
  good(f, "{\"a\": {\"a\": 1}, \"b\": {\"a\": 1}}");
}

static void test_string_messages(void **state) {
  fixture *f = *state;
  bad(f, "{\"a\": \"xyz}", "m.json:1:7: unterminated string: the closing '\"' is missing");
  bad(f, "\"\\", "m.json:1:1: unterminated string: the closing '\"' is missing");
  bad(f, "\"\\\"", "m.json:1:1: unterminated string: the closing '\"' is missing");
  bad(f, "[\n \"xyz,\n 1]",
      "m.json:2:2: unterminated string: the closing '\"' is missing on this line (a line break is "
      "written \\n)");
  bad(f, "\"\\\n\"",
      "m.json:1:1: unterminated string: the closing '\"' is missing on this line (a line break is written "
      "\\n)");
  bad(f, "\"ab\\q\"", "m.json:1:4: unknown escape '\\q'; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX");
  bad(f, "\"\\\xc3\xa9\"",
      "m.json:1:2: unknown escape '\\\xc3\xa9'; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX");
  bad(f, "\"\\u12\"", "m.json:1:2: \\u needs four hexadecimal digits");
  bad(f, "\"\\u12g4\"", "m.json:1:2: \\u needs four hexadecimal digits");
  bad(f, "\"\xc3\xa9\ta\"", "m.json:1:3: control character in a string; write \\t or \\u0009");
  bad(f, "\"a\x1f\"", "m.json:1:3: control character in a string; write \\u001f");
  bad_bytes(f, "\"a\0\"", 4, "m.json:1:3: control character in a string; write \\u0000");
  bad(f, "{\"a\\u0000\": 1}", "m.json:1:2: a key cannot contain \\u0000");
}

static void test_surrogates(void **state) {
  fixture *f = *state;
#define PAIR "; codes above \\uffff need a pair such as \\ud83d\\ude00"
  bad(f, "\"\\ud83d\"", "m.json:1:2: lone surrogate \\ud83d" PAIR);
  bad(f, "\"\\uD83D\\u0041\"", "m.json:1:2: lone surrogate \\uD83D" PAIR);
  bad(f, "\"\\ud83d\\ud83d\"", "m.json:1:2: lone surrogate \\ud83d" PAIR);
  bad(f, "\"x\\ude00\"", "m.json:1:3: lone surrogate \\ude00" PAIR);
  bad(f, "\"\\ud83d\\n\"", "m.json:1:2: lone surrogate \\ud83d" PAIR);
}

static void test_utf8_messages(void **state) {
  fixture *f = *state;
  /* a stray byte, a cut character, overlong, a surrogate, above U+10FFFF */
  const char *const broken[] = {"\xff", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"};
  for (int i = 0; i < MBG_COUNT(broken); i++) {
    char text[32], message[128];
    snprintf(text, sizeof(text), "[\n\"\xc3\xa9%s\"]", broken[i]);
    snprintf(message, sizeof(message), "m.json:2:3: invalid UTF-8 in a string (byte 0x%02x); save the file as UTF-8",
             (unsigned)(unsigned char)broken[i][0]);
    bad(f, text, message);
  }
  bad(f, "\xff\xfe{", "m.json:1:1: invalid UTF-8 (byte 0xff); save the file as UTF-8");
  bad_bytes(f, "{\0}", 3, "m.json:1:2: NUL byte; is this a text file in UTF-8?");
  bad_bytes(f, "{}\0", 3, "m.json:1:3: NUL byte; is this a text file in UTF-8?");
}

static void test_habit_messages(void **state) {
  fixture *f = *state;
  bad(f, "{ // mass\n\"a\": 1}", "m.json:1:3: JSON has no comments; use a \"note\" key");
  bad(f, "{\"a\": /* kg */ 1}", "m.json:1:7: JSON has no comments; use a \"note\" key");
  bad(f, "{\"a\": 1 # kg\n}", "m.json:1:9: JSON has no comments; use a \"note\" key");
  bad(f, "{} // end", "m.json:1:4: JSON has no comments; use a \"note\" key");
  bad(f, "{'a': 1}", "m.json:1:2: strings and keys need double quotes (\"), not '");
  bad(f, "['a']", "m.json:1:2: strings and keys need double quotes (\"), not '");
  bad(f,
      "[\xe2\x80\x9c"
      "a\xe2\x80\x9d]",
      "m.json:1:2: strings and keys need double quotes (\"), not \xe2\x80\x9c");
  bad(f, "[True]", "m.json:1:2: 'True' is not JSON; write true");
  bad(f, "[None]", "m.json:1:2: 'None' is not JSON; write null");
  bad(f, "[FALSE]", "m.json:1:2: 'FALSE' is not JSON; write false");
  bad(f, "[undefined]", "m.json:1:2: 'undefined' is not JSON; write null");
  bad(f, "[nullx]", "m.json:1:2: expected a value, found 'nullx'; strings need double quotes");
  bad(f, "[revolute]", "m.json:1:2: expected a value, found 'revolute'; strings need double quotes");
}

static void test_number_messages(void **state) {
  fixture *f = *state;
#define LOOK "; JSON numbers look like 0.5, -1 or 2.5e-3"
  bad(f, "[01]", "m.json:1:2: malformed number '01': leading zeros are not allowed" LOOK);
  bad(f, "[-00.5]", "m.json:1:2: malformed number '-00.5': leading zeros are not allowed" LOOK);
  bad(f, "[+1]", "m.json:1:2: malformed number '+1': a leading '+' is not allowed" LOOK);
  bad(f, "[.5]", "m.json:1:2: malformed number '.5': a digit must precede the '.'" LOOK);
  bad(f, "[-.5]", "m.json:1:2: malformed number '-.5': a digit must precede the '.'" LOOK);
  bad(f, "[1.]", "m.json:1:2: malformed number '1.': a digit must follow the '.'" LOOK);
  bad(f, "[1.e5]", "m.json:1:2: malformed number '1.e5': a digit must follow the '.'" LOOK);
  bad(f, "[1e]", "m.json:1:2: malformed number '1e': digits must follow the 'e'" LOOK);
  bad(f, "[1e+]", "m.json:1:2: malformed number '1e+': digits must follow the 'e'" LOOK);
  bad(f, "-", "m.json:1:1: malformed number '-': a digit must follow the '-'" LOOK);
  bad(f, "[0x1F]", "m.json:1:2: malformed number '0x1F': only digits, one '.' and one 'e' are allowed" LOOK);
  bad(f, "[1_000]", "m.json:1:2: malformed number '1_000': only digits, one '.' and one 'e' are allowed" LOOK);
  bad(f, "[1.2.3]", "m.json:1:2: malformed number '1.2.3': only digits, one '.' and one 'e' are allowed" LOOK);
  bad(f, "[NaN]", "m.json:1:2: 'NaN' is not a JSON number" LOOK);
  bad(f, "[Infinity]", "m.json:1:2: 'Infinity' is not a JSON number" LOOK);
  bad(f, "[-Infinity]", "m.json:1:2: '-Infinity' is not a JSON number" LOOK);
  bad(f, "[ 1e999]", "m.json:1:3: number '1e999' is out of range; the largest is about 1.8e308");
  bad(f, "-1.8e308", "m.json:1:1: number '-1.8e308' is out of range; the largest is about 1.8e308");
}

static void test_long_excerpts(void **state) {
  fixture *f = *state;
  /* what is shown of a file stays on one line and is cut */
  bad(f, "{\"a\\nb\" 1}", "m.json:1:9: expected ':' after the key 'a?b'");
  bad(f, "{\"0123456789012345678901234567890123456789x\" 1}",
      "m.json:1:46: expected ':' after the key '0123456789012345678901234567890123456789...'");
}

/* ---------------------------------------------------------------------- limits */

static void test_depth(void **state) {
  fixture *f = *state;
  char text[512];
  memset(text, '[', 200);
  memset(text + 100, ']', 100);
  mbg__json *value = NULL;
  assert_int_equal(parse_bytes(f, text, 200, &value), MBG_OK);
  memset(text, '[', 200);
  bad_bytes(f, text, 200, "m.json:1:101: arrays and objects are nested deeper than 100 levels");
}

static void test_size(void **state) {
  fixture *f = *state;
  /* refused by its length alone: the text is not looked at */
  mbg__json *value = NULL;
  const int err = mbg__json_parse(f->ctx, &f->arena, "m.json", "", (size_t)MBG__JSON_BYTES_MAX + 1, &value);
  assert_int_equal(err, MBG_ERROR_INPUT);
  assert_string_equal(mbg_context_error(f->ctx), "m.json:1:1: the file is larger than 256 MiB");
}

static void test_many_members(void **state) {
  fixture *f = *state;
  /* on one line, where keys and columns would show quadratic time */
  const int n = support_rounds(100000, 1000000);
  char *text = malloc((size_t)n * 24 + 64);
  assert_non_null(text);
  size_t length = 0;
  text[length++] = '{';
  for (int i = 0; i < n; i++) {
    length += (size_t)sprintf(text + length, "\"body%d\":%d,", i, i);
  }
  length += (size_t)sprintf(text + length, "\"last\":0}");
  mbg__json *value = NULL;
  assert_int_equal(parse_bytes(f, text, length, &value), MBG_OK);
  assert_int_equal(value->count, n + 1);
  assert_close(mbg__json_member(value, "body777")->number, 777, 0);

  const size_t key = length - strlen("\"last\":0}");
  length = key + (size_t)sprintf(text + key, "\"body777\":0}");
  char message[128];
  snprintf(message, sizeof(message), "m.json:1:%d: duplicate key 'body777', first given at line 1", (int)key + 1);
  bad_bytes(f, text, length, message);
  free(text);
}

static void test_long_number(void **state) {
  fixture *f = *state;
  /* half way between two doubles, and above it by the last of many digits */
  const char tie[] = "9007199254740993.";
  char *text = malloc(100000);
  assert_non_null(text);
  memset(text, '0', 99999);
  memcpy(text, tie, strlen(tie));
  text[99999] = 0;
  assert_close(good(f, text)->number, 9007199254740992.0, 0);
  text[99998] = '1';
  assert_close(good(f, text)->number, 9007199254740994.0, 0);

  /* the exponent brings back what the digits went away */
  memset(text, '0', 99999);
  text[1] = '.';
  strcpy(text + 90000, "15e89999");
  assert_close(good(f, text)->number, 1.5, 0);
  memset(text, '0', 99999);
  text[0] = '2';
  strcpy(text + 90000, "e-89999");
  assert_close(good(f, text)->number, 2, 0);
  free(text);
}

static void test_failing_memory(void **state) {
  (void)state;
  char text[4096] = "{";
  for (int i = 0; i < 40; i++) {
    sprintf(text + strlen(text), "\"k%d\": [\"text\", 1.5, {\"a\": 1, \"b\": 2}],", i);
  }
  strcat(text, "\"end\": null}");
  for (int n = 1;; n++) {
    support_memory memory = {.fail_at = n};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx = NULL;
    mbg__json *value = NULL;
    mbg__arena arena;
    mbg__arena_init(&arena, &allocator);
    if (mbg_context_create(&allocator, &ctx) == MBG_OK) {
      const int err = mbg__json_parse(ctx, &arena, "m.json", text, strlen(text), &value);
      assert_int_equal(err, memory.requests < n ? MBG_OK : MBG_ERROR_MEMORY);
      assert_true((err == MBG_OK) == (value != NULL));
      assert_string_equal(mbg_context_error(ctx), err == MBG_OK ? "" : "out of memory");
    }
    mbg__arena_destroy(&arena);
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      break;
    }
  }
}

/* ---------------------------------------------------------------------- characters */

static void test_utf8_all(void **state) {
  (void)state;
  /* every code point there and back; every cut of it is refused */
  for (uint32_t code = 0; code < 0x110000; code++) {
    if (code >= 0xd800 && code < 0xe000) {
      continue;
    }
    char bytes[4];
    uint32_t back = 0;
    const int n = mbg__utf8_encode(code, bytes);
    if (mbg__utf8_decode(bytes, bytes + n, &back) != n || back != code) {
      fail_msg("U+%04x", (unsigned)code);
    }
    if (n > 1 && mbg__utf8_decode(bytes, bytes + n - 1, NULL) != 0) {
      fail_msg("U+%04x, cut", (unsigned)code);
    }
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_values),
      TEST(test_numbers),
      TEST(test_strings),
      TEST(test_byte_order_mark),
      TEST(test_member),
      cmocka_unit_test(test_kind_names),
      TEST(test_places),
      TEST(test_structure_messages),
      TEST(test_end_messages),
      TEST(test_duplicates),
      TEST(test_string_messages),
      TEST(test_surrogates),
      TEST(test_utf8_messages),
      TEST(test_habit_messages),
      TEST(test_number_messages),
      TEST(test_long_excerpts),
      TEST(test_depth),
      TEST(test_size),
      TEST(test_many_members),
      TEST(test_long_number),
      cmocka_unit_test(test_failing_memory),
      cmocka_unit_test(test_utf8_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
