/* JSON writer: layout, escapes, numbers that read back in every locale, failing allocations. */
#include "io/json.h"
#include "io/json_write.h"
#include "io/number.h"
#include "support/support.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  mbg_context *ctx;
  mbg__json_writer w;
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof(*f));
  assert_non_null(f);
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  mbg__json_writer_init(&f->w, f->ctx, false);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  mbg__json_writer_destroy(&f->w);
  mbg_context_destroy(f->ctx);
  free(f);
  return 0;
}

static void check_text(fixture *f, const char *expected) {
  const char *text = NULL;
  size_t length = 0;
  assert_int_equal(mbg__json_writer_finish(&f->w, &text, &length), MBG_OK);
  assert_string_equal(text, expected);
  assert_int_equal(length, strlen(expected));
}

/* ---------------------------------------------------------------------- layout */

static void write_sample(mbg__json_writer *w) {
  const double position[] = {0.1, -2, NAN};
  mbg__json_begin_object(w);
  mbg__json_key(w, "name");
  mbg__json_string(w, "bob");
  mbg__json_key(w, "position");
  mbg__json_numbers(w, position, 3);
  mbg__json_key(w, "list");
  mbg__json_begin_array(w);
  mbg__json_integer(w, -9223372036854775807LL - 1);
  mbg__json_boolean(w, true);
  mbg__json_boolean(w, false);
  mbg__json_null(w);
  mbg__json_begin_object(w);
  mbg__json_end_object(w);
  mbg__json_end_array(w);
  mbg__json_key(w, "empty");
  mbg__json_begin_array(w);
  mbg__json_end_array(w);
  mbg__json_key(w, "none");
  mbg__json_numbers(w, NULL, 0);
  mbg__json_end_object(w);
}

static void test_compact(void **state) {
  fixture *f = *state;
  write_sample(&f->w);
  check_text(f, "{\"name\":\"bob\",\"position\":[0.1,-2,null],\"list\":[-9223372036854775808,true,false,null,{}],"
                "\"empty\":[],\"none\":[]}");
}

static void test_pretty(void **state) {
  fixture *f = *state;
  f->w.pretty = true;
  write_sample(&f->w);
  check_text(f, "{\n"
                "  \"name\": \"bob\",\n"
                "  \"position\": [0.1, -2, null],\n"
                "  \"list\": [\n"
                "    -9223372036854775808,\n"
                "    true,\n"
                "    false,\n"
                "    null,\n"
                "    {}\n"
                "  ],\n"
                "  \"empty\": [],\n"
                "  \"none\": []\n"
                "}\n");
}

static void test_top_value(void **state) {
  fixture *f = *state;
  mbg__json_number(&f->w, INFINITY);
  check_text(f, "null");
}

/* ---------------------------------------------------------------------- strings */

static void test_escapes(void **state) {
  fixture *f = *state;
  mbg__json_begin_object(&f->w);
  mbg__json_key(&f->w, "a\"b");
  mbg__json_string_n(&f->w, "\"\\/\b\f\n\r\t\x01\x1f\0\x7f\xc2\x80\xc2\x9f\xc2\xa0", 18);
  mbg__json_end_object(&f->w);
  check_text(f, "{\"a\\\"b\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u0000\\u007f\\u0080\\u009f\xc2\xa0\"}");
}

static void test_broken_utf8(void **state) {
  fixture *f = *state;
  mbg__json_string(&f->w, "\xc3\xa9\xb0 \xe2\x82|\xf0\x9f\x98\x80\xff");
  check_text(f, "\"\xc3\xa9\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd|\xf0\x9f\x98\x80\xef\xbf\xbd\"");
}

static void test_string_round_trip(void **state) {
  fixture *f = *state;
  /* every code point of the first plane that is no surrogate, read back by our reader */
  char *all = malloc(3 * 0x10000);
  assert_non_null(all);
  size_t length = 0;
  for (uint32_t c = 0; c < 0x10000; c++) {
    if (c < 0x80) {
      all[length++] = (char)c;
    } else if (c < 0x800) {
      all[length++] = (char)(0xc0 | c >> 6);
      all[length++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0xd800 || c >= 0xe000) {
      all[length++] = (char)(0xe0 | c >> 12);
      all[length++] = (char)(0x80 | (c >> 6 & 0x3f));
      all[length++] = (char)(0x80 | (c & 0x3f));
    }
  }
  mbg__json_string_n(&f->w, all, length);
  const char *text = NULL;
  size_t n = 0;
  assert_int_equal(mbg__json_writer_finish(&f->w, &text, &n), MBG_OK);
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(f->ctx));
  mbg__json *value = NULL;
  assert_int_equal(mbg__json_parse(f->ctx, &arena, "m.json", text, n, &value), MBG_OK);
  assert_int_equal(value->length, length);
  assert_memory_equal(value->text, all, length);
  mbg__arena_destroy(&arena);
  free(all);
}

/* ---------------------------------------------------------------------- numbers */

static void check_format(double value, const char *expected) {
  char text[MBG__NUMBER_SIZE];
  assert_int_equal(mbg__number_format(text, value), strlen(expected));
  assert_string_equal(text, expected);
}

static void test_formats(void **state) {
  (void)state;
  check_format(0, "0");
  check_format(-0.0, "-0");
  check_format(0.1, "0.1");
  check_format(0.1 + 0.2, "0.30000000000000004");
  check_format(1.0 / 3, "0.3333333333333333");
  check_format(1e21, "1e+21");
  check_format(-1.7976931348623157e308, "-1.7976931348623157e+308");
  check_format(NAN, "nan");
  check_format(INFINITY, "inf");
  check_format(-INFINITY, "-inf");
}

static double random_double(support_rng *rng) {
  double value = NAN;
  while (!isfinite(value)) {
    const uint64_t bits = support_bits(rng);
    memcpy(&value, &bits, sizeof(value));
  }
  return value;
}

/* bit for bit, and the reader agrees with strtod also on texts that are not the shortest */
static void test_number_round_trip(void **state) {
  (void)state;
  support_rng rng = support_rng_make(7);
  const int n = support_rounds(100000, 3000000);
  for (int i = 0; i < n; i++) {
    /* all magnitudes, and numbers as people write them */
    const double x = i % 2 ? random_double(&rng) : (double)support_index(&rng, 1000000000) / pow(10, i % 12);
    char text[MBG__NUMBER_SIZE], longer[64];
    double back = 0;
    assert_true(mbg__number_parse(text, (size_t)mbg__number_format(text, x), &back));
    assert_memory_equal(&x, &back, sizeof(x));
    const int digits = 1 + support_index(&rng, 25);
    snprintf(longer, sizeof(longer), "%.*e", digits, x);
    const double expected = strtod(longer, NULL);
    assert_true(mbg__number_parse(longer, strlen(longer), &back));
    assert_memory_equal(&expected, &back, sizeof(back));
  }
}

static void check_midpoint(double x) {
  /* between x and the next double: exactly in the middle ties to even, a little more goes up */
  const double next = nextafter(x, INFINITY);
  char text[2000];
  const long double middle = ((long double)x + (long double)next) / 2;
  snprintf(text, sizeof(text), "%.1100Lf", middle);
  double back = 0;
  assert_true(mbg__number_parse(text, strlen(text), &back));
  const double expected = strtod(text, NULL);
  assert_memory_equal(&expected, &back, sizeof(back));
  text[strlen(text) - 1] = '1';
  assert_true(mbg__number_parse(text, strlen(text), &back));
  assert_memory_equal(&next, &back, sizeof(back));
}

static void test_midpoints(void **state) {
  (void)state;
  if (LDBL_MANT_DIG <= DBL_MANT_DIG) {
    skip();
  }
  support_rng rng = support_rng_make(8);
  for (int i = 0; i < 2000; i++) {
    check_midpoint(fabs(ldexp(support_uniform(&rng, 1, 2), support_index(&rng, 2000) - 1000)));
  }
}

static void test_not_numbers(void **state) {
  (void)state;
  const char *const texts[] = {"",   "+",  "-",   ".",   "e5",  "1e",  "1e+", "1.2.3",
                               "1 ", " 1", "0x1", "1,5", "--1", "inf", "nan"};
  for (int i = 0; i < MBG_COUNT(texts); i++) {
    double value = 0;
    assert_false(mbg__number_parse(texts[i], strlen(texts[i]), &value));
  }
}

/* with a decimal comma where such a locale is installed */
static void test_locales(void **state) {
  (void)state;
  const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8", "fa_IR.UTF-8"};
  int tried = 0;
  for (int i = 0; i < MBG_COUNT(names); i++) {
    if (!setlocale(LC_ALL, names[i])) {
      continue;
    }
    tried++;
    double value = 0;
    check_format(1234567.5, "1234567.5");
    check_format(-1.5e-300, "-1.5e-300");
    assert_true(mbg__number_parse("1.00000000000000000000001", 25, &value));
    assert_close(value, 1, 0);
    assert_true(mbg__number_parse("12.34567890123456789e200", 24, &value));
    assert_close(value, 12.34567890123456789e200, 0);
    assert_false(mbg__number_parse("1,5", 3, &value));
  }
  setlocale(LC_ALL, "C");
  if (tried == 0) {
    skip();
  }
}

/* ---------------------------------------------------------------------- text */

static void test_buffer(void **state) {
  fixture *f = *state;
  mbg__buffer b;
  const char *text = NULL;
  size_t length = 1;
  mbg__buffer_init(&b, f->ctx);
  assert_int_equal(mbg__buffer_finish(&b, &text, &length), MBG_OK);
  assert_string_equal(text, "");
  assert_int_equal(length, 0);

  mbg__buffer_text(&b, "a ");
  mbg__buffer_format(&b, "%s-%d ", "b", 7);
  mbg__buffer_number(&b, 0.5);
  mbg__buffer_add(&b, "xyz", 1);
  assert_int_equal(mbg__buffer_finish(&b, &text, NULL), MBG_OK);
  assert_string_equal(text, "a b-7 0.5x");
  for (int i = 0; i < 10000; i++) {
    mbg__buffer_format(&b, "%d,", i);
  }
  assert_int_equal(mbg__buffer_finish(&b, &text, &length), MBG_OK);
  assert_string_equal(text + length - 5, "9999,");
  mbg__buffer_destroy(&b);
  mbg__buffer_destroy(&b);
}

static void test_failing_memory(void **state) {
  (void)state;
  for (int n = 1;; n++) {
    support_memory memory = {.fail_at = n, .once = true};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx = NULL;
    if (mbg_context_create(&allocator, &ctx) == MBG_OK) {
      mbg__json_writer w;
      const char *text = NULL;
      mbg__json_writer_init(&w, ctx, true);
      write_sample(&w);
      const int err = mbg__json_writer_finish(&w, &text, NULL);
      /* once failed it stays so, though later requests would be met */
      assert_int_equal(err, memory.requests < n ? MBG_OK : MBG_ERROR_MEMORY);
      assert_true((err == MBG_OK) == (text[0] == '{'));
      mbg__json_writer_destroy(&w);
    }
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      break;
    }
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_compact),
      TEST(test_pretty),
      TEST(test_top_value),
      TEST(test_escapes),
      TEST(test_broken_utf8),
      TEST(test_string_round_trip),
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_number_round_trip),
      cmocka_unit_test(test_midpoints),
      cmocka_unit_test(test_not_numbers),
      cmocka_unit_test(test_locales),
      TEST(test_buffer),
      cmocka_unit_test(test_failing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
