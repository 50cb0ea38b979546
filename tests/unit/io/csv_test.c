/* Tables: separators, names, missing cells, every message with its place, failing allocations. */
#include "io/csv.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
static int parse_bytes(fixture *f, const char *text, size_t length, mbg__csv *out) {
  char *copy = malloc(length ? length : 1);
  assert_non_null(copy);
  memcpy(copy, text, length);
  mbg_context_clear(f->ctx);
  const int err = mbg__csv_parse(f->ctx, &f->arena, "t.csv", copy, length, out);
  free(copy);
  return err;
}

static mbg__csv good(fixture *f, const char *text) {
  mbg__csv csv;
  if (parse_bytes(f, text, strlen(text), &csv) != MBG_OK) {
    fail_msg("%s\n%s", text, mbg_context_error(f->ctx));
  }
  return csv;
}

static void bad_bytes(fixture *f, const char *text, size_t length, const char *message) {
  mbg__csv csv;
  assert_int_equal(parse_bytes(f, text, length, &csv), MBG_ERROR_INPUT);
  assert_int_equal(csv.ncolumns, 0);
  assert_null(csv.values);
  assert_string_equal(mbg_context_error(f->ctx), message);
  assert_int_equal(mbg_context_message_count(f->ctx), 1);
}

static void bad(fixture *f, const char *text, const char *message) { bad_bytes(f, text, strlen(text), message); }

/* ---------------------------------------------------------------------- tables */

/* the same table in several spellings */
static void check_table(fixture *f, const char *text) {
  const mbg__csv csv = good(f, text);
  const double expected[] = {0, 0.5, 1, 10, -2e3, 0.25};
  assert_int_equal(csv.ncolumns, 2);
  assert_int_equal(csv.nrows, 3);
  assert_true(csv.named);
  assert_string_equal(csv.names[0], "t");
  assert_string_equal(csv.names[1], "F [N]");
  assert_close_array(csv.values, expected, 6, 0);
  assert_int_equal(mbg__csv_find(&csv, "F [N]"), 1);
  assert_int_equal(mbg__csv_find(&csv, "F"), -1);
  assert_close(mbg__csv_column(&csv, 1)[2], 0.25, 0);
}

static void test_spellings(void **state) {
  fixture *f = *state;
  check_table(f, "t,F [N]\n0,10\n0.5,-2e3\n1,0.25\n");
  check_table(f, "t;F [N]\n0;10\n0.5;-2e3\n1;0.25");
  check_table(f, "t\tF [N]\r\n0\t10\r\n0.5\t-2e3\r\n1\t0.25\r\n");
  check_table(f, "\xef\xbb\xbf\"t\",\"F [N]\"\n0,10\n0.5,-2e3\n1,0.25\n");
  check_table(f, "# made by hand\n\n t , \"F [N]\" \n\n 0 , 10\n  # more\n.5,-2000\n+1.,\"0.25\"\n \t\n");
}

static void test_names(void **state) {
  fixture *f = *state;
  /* quoted names hold separators and quotes; empty ones are there but not found */
  const mbg__csv csv = good(f, "\"a,b\",,\"say \"\"x\"\"\",\xc2\xb0,\"7\"\n1,2,3,4,5");
  assert_int_equal(csv.ncolumns, 5);
  assert_int_equal(mbg__csv_find(&csv, "a,b"), 0);
  assert_string_equal(csv.names[1], "");
  assert_int_equal(mbg__csv_find(&csv, ""), -1);
  assert_int_equal(mbg__csv_find(&csv, "say \"x\""), 2);
  assert_int_equal(mbg__csv_find(&csv, "\xc2\xb0"), 3);
  assert_int_equal(mbg__csv_find(&csv, "7"), 4);
  assert_int_equal(good(f, ",,x\n1,2,3").nrows, 1);

  /* a quoted number makes a line of names too */
  assert_int_equal(good(f, "\"1\",\"2\"\n3,4").nrows, 1);
  /* names alone are a table without rows */
  assert_int_equal(good(f, "a,b\n").nrows, 0);
}

static void test_no_names(void **state) {
  fixture *f = *state;
  const mbg__csv csv = good(f, "# t x\n1,2,3\n4,,6\n");
  assert_false(csv.named);
  assert_int_equal(csv.nrows, 2);
  assert_string_equal(csv.names[2], "3");
  assert_int_equal(mbg__csv_find(&csv, "2"), 1);
  assert_close(csv.values[0], 1, 0);
  assert_close(csv.values[5], 6, 0);
}

static void test_missing(void **state) {
  fixture *f = *state;
  const mbg__csv csv = good(f, "a\tb\tc\n\t\t\n1\tnan\t \nNaN\t\"\"\tNAN\n");
  assert_int_equal(csv.nrows, 3);
  for (int i = 0; i < 9; i++) {
    assert_true(i == 1 ? csv.values[i] == 1 : isnan(csv.values[i]));
  }
  /* the first line may miss cells too */
  assert_int_equal(good(f, "nan,1\n,2").nrows, 2);
}

/* ---------------------------------------------------------------------- messages */

static void test_cell_messages(void **state) {
  fixture *f = *state;
  bad(f, "t,F\n0,1\n0.5, high\n", "t.csv:3:6: column 'F': 'high' is not a number");
  bad(f, "t,F\n0,1e\n", "t.csv:2:3: column 'F': '1e' is not a number");
  bad(f, "t,F\n0,inf\n", "t.csv:2:3: column 'F': 'inf' is not a number");
  bad(f, "1,2\n3,x\n", "t.csv:2:3: column '2': 'x' is not a number");
  bad(f, "t F\n0 1\n", "t.csv:2:1: column 't F': '0 1' is not a number; cells are separated by ',', ';' or tabs");
  bad(f, "t,F\n0,-1e999\n", "t.csv:2:3: column 'F': '-1e999' is out of range; the largest number is about 1.8e308");
  bad(f, "\xc3\xa9,\"\xc3\xa9\xc3\xa9\"\n\"1\",\"\xc3\xa9\"\n",
      "t.csv:2:5: column '\xc3\xa9\xc3\xa9': '\"\xc3\xa9\"' is not a number");
  bad_bytes(f, "t\n0\0", 4, "t.csv:2:1: column 't': '0?' is not a number");
}

static void test_decimal_comma(void **state) {
  fixture *f = *state;
#define POINT " has a decimal comma; write numbers with a point"
  bad(f, "t;F\n0;1,5\n", "t.csv:2:3: column 'F': '1,5'" POINT);
  bad(f, "t\tF\n-0,25e3\t1\n", "t.csv:2:1: column 't': '-0,25e3'" POINT);
  bad(f, "0,5;1,5\n", "t.csv:1:1: column '1': '0,5'" POINT);
  bad(f, "t;F\n0;1,000,5\n", "t.csv:2:3: column 'F': '1,000,5' is not a number");
}

static void test_shape_messages(void **state) {
  fixture *f = *state;
  bad(f, "", "t.csv:1:1: the table is empty");
  bad(f, "\n# nothing\n  \n", "t.csv:1:1: the table is empty");
  bad(f, "a,b,c\n1,2,3\n\n1,2\n", "t.csv:4:4: this row has 2 cells, but the table has 3 columns");
  bad(f, "a,b\n1,2,3,4\n", "t.csv:2:5: this row has 4 cells, but the table has 2 columns");
  bad(f, "a\n1,2\n", "t.csv:2:3: this row has 2 cells, but the table has 1 column");
  bad(f, "1,2\n3\n", "t.csv:2:2: this row has 1 cell, but the table has 2 columns");
}

static void test_name_messages(void **state) {
  fixture *f = *state;
  bad(f, "t,x,\"x\"\n", "t.csv:1:5: two columns are called 'x'");
  bad(f, "y,x,x,y\n", "t.csv:1:5: two columns are called 'x'");
  bad(f, "t,\"x\n1,2", "t.csv:1:3: the closing '\"' is missing on this line");
  bad(f, "t,\"x\"y\n1,2", "t.csv:1:6: expected a separator after the closing '\"'");
  bad(f, "t,\xb0\n", "t.csv:1:3: invalid UTF-8 in a column name (byte 0xb0); save the file as UTF-8");
  bad_bytes(f, "t,x\0\n", 5, "t.csv:1:4: control character in a column name");
}

static void test_limits(void **state) {
  fixture *f = *state;
  /* refused by its length alone: the text is not looked at */
  mbg__csv csv;
  assert_int_equal(mbg__csv_parse(f->ctx, &f->arena, "t.csv", "", ((size_t)256 << 20) + 1, &csv), MBG_ERROR_INPUT);
  assert_string_equal(mbg_context_error(f->ctx), "t.csv:1:1: the file is larger than 256 MiB");

  /* 1e8 + 1 empty cells in one line; written without the memory for them */
  const size_t length = MBG__CSV_CELLS_MAX;
  char *text = malloc(length);
  assert_non_null(text);
  memset(text, ';', length);
  mbg_context_clear(f->ctx);
  assert_int_equal(mbg__csv_parse(f->ctx, &f->arena, "t.csv", text, length, &csv), MBG_ERROR_INPUT);
  assert_string_equal(mbg_context_error(f->ctx), "t.csv:1:1: the table has more than 100000000 cells");
  free(text);
}

/* ---------------------------------------------------------------------- files, memory */

static void test_read(void **state) {
  fixture *f = *state;
  char path[] = "/tmp/mbgrad-csv-XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  support_write_file(path, "a,b\n1,2\n", 8);
  mbg__csv csv;
  assert_int_equal(mbg__csv_read(f->ctx, &f->arena, path, &csv), MBG_OK);
  assert_close(csv.values[1], 2, 0);
  support_write_file(path, "a,b\n1,x\n", 8);
  assert_int_equal(mbg__csv_read(f->ctx, &f->arena, path, &csv), MBG_ERROR_INPUT);
  char message[128];
  snprintf(message, sizeof(message), "%s:2:3: column 'b': 'x' is not a number", path);
  assert_string_equal(mbg_context_error(f->ctx), message);
  unlink(path);
  mbg_context_clear(f->ctx);
  assert_int_equal(mbg__csv_read(f->ctx, &f->arena, path, &csv), MBG_ERROR_IO);
  assert_int_equal(csv.ncolumns, 0);
}

static void test_failing_memory(void **state) {
  (void)state;
  /* enough rows that they need a chunk of their own */
  enum { ROWS = 20000 };
  char *text = malloc(ROWS * 4 + 16);
  assert_non_null(text);
  strcpy(text, "a,b\n");
  for (int i = 0; i < ROWS; i++) {
    memcpy(text + 4 * (i + 1), "1,2\n", 4);
  }
  for (int n = 1;; n++) {
    support_memory memory = {.fail_at = n};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx = NULL;
    mbg__csv csv;
    mbg__arena arena;
    mbg__arena_init(&arena, &allocator);
    if (mbg_context_create(&allocator, &ctx) == MBG_OK) {
      const int err = mbg__csv_parse(ctx, &arena, "t.csv", text, 4 * (ROWS + 1), &csv);
      assert_int_equal(err, memory.requests < n ? MBG_OK : MBG_ERROR_MEMORY);
      assert_string_equal(mbg_context_error(ctx), err == MBG_OK ? "" : "out of memory");
    }
    mbg__arena_destroy(&arena);
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      break;
    }
  }
  free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_spellings),
      TEST(test_names),
      TEST(test_no_names),
      TEST(test_missing),
      TEST(test_cell_messages),
      TEST(test_decimal_comma),
      TEST(test_shape_messages),
      TEST(test_name_messages),
      TEST(test_limits),
      TEST(test_read),
      cmocka_unit_test(test_failing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
