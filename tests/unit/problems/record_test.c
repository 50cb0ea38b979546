/* Evaluations in a file: what is replayed is what was recorded; torn and damaged lines, other heads, files that cannot
   be written. */
#include "problems/record.h"
#include "support/fit_case.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int setup(void **state) {
  fit_case *c = calloc(1, sizeof(*c));
  *state = c;
  fit_open(c);
  snprintf(c->path, sizeof(c->path), "%s/record", c->folder);
  return 0;
}

static int teardown(void **state) {
  fit_close(*state);
  free(*state);
  return 0;
}

static const double x[3] = {1.0 / 3, -0.0, 1e-310}, values[2] = {3.14159, -1e300};

static mbg__record *opened(fit_case *c, const char *head, bool resume) {
  mbg__record *r;
  assert_int_equal(mbg__record_open(c->ctx, c->path, head, resume, &r), MBG_OK);
  return r;
}

/* two evaluations and one that failed */
static void record(fit_case *c) {
  mbg__record *r = opened(c, "head 1", false);
  assert_int_equal(mbg__record_add(c->ctx, r, 'v', 3, x, 2, values, MBG_OK), MBG_OK);
  assert_int_equal(mbg__record_add(c->ctx, r, 'v', 3, x, 2, values, 1), MBG_OK);
  assert_int_equal(mbg__record_add(c->ctx, r, 'g', 2, x, 2, values, MBG_OK), MBG_OK);
  mbg__record_close(r);
}

static bool next(fit_case *c, mbg__record *r, char kind, int n, int expected) {
  double got[2];
  int status;
  bool found;
  assert_int_equal(mbg__record_next(c->ctx, r, kind, n, x, 2, got, &status, &found), MBG_OK);
  if (found) {
    assert_int_equal(status, expected);
    if (status == MBG_OK) {
      assert_memory_equal(got, values, sizeof(values));
    }
  }
  return found;
}

static void test_replay(void **state) {
  fit_case *c = *state;
  record(c);
  mbg__record *r = opened(c, "head 1", true);
  assert_true(next(c, r, 'v', 3, MBG_OK));
  assert_true(next(c, r, 'v', 3, 1));
  assert_true(next(c, r, 'g', 2, MBG_OK));
  assert_false(next(c, r, 'g', 2, MBG_OK));
  assert_int_equal(mbg__record_replayed(r), 3);
  mbg__record_close(r);
  /* nothing is recorded, nothing is found */
  assert_false(next(c, NULL, 'v', 3, MBG_OK));
  assert_int_equal(mbg__record_add(c->ctx, NULL, 'v', 3, x, 2, values, MBG_OK), MBG_OK);
}

/* a sum that fits does not make a number of it */
static void test_infinite(void **state) {
  fit_case *c = *state;
  const double bad[2] = {1, -INFINITY};
  double got[2];
  int status;
  bool found;
  mbg__record *r = opened(c, "head 1", false);
  assert_int_equal(mbg__record_add(c->ctx, r, 'v', 3, x, 2, bad, MBG_OK), MBG_OK);
  mbg__record_close(r);
  r = opened(c, "head 1", true);
  assert_int_equal(mbg__record_next(c->ctx, r, 'v', 3, x, 2, got, &status, &found), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(c->ctx), "record:2: the line has a number that is not finite"));
  mbg__record_close(r);
}

/* cut off anywhere: whole lines are replayed, the next ones go behind them */
static void test_torn(void **state) {
  fit_case *c = *state;
  record(c);
  size_t size;
  char *text = support_read_file(c->path, &size);
  for (size_t cut = 0; cut <= size; cut++) {
    support_write_file(c->path, text, cut);
    int lines = 0;
    for (size_t i = 0; i < cut; i++) {
      lines += text[i] == '\n';
    }
    mbg__record *r = opened(c, "head 1", true);
    const char kinds[] = {'v', 'v', 'g'};
    const int sizes[] = {3, 3, 2}, statuses[] = {MBG_OK, 1, MBG_OK};
    int found = 0;
    while (found < 3 && next(c, r, kinds[found], sizes[found], statuses[found])) {
      found++;
    }
    assert_int_equal(found, lines > 0 ? lines - 1 : 0);
    while (found < 3) {
      assert_int_equal(mbg__record_add(c->ctx, r, kinds[found], sizes[found], x, 2, values, statuses[found]), MBG_OK);
      found++;
    }
    mbg__record_close(r);
    char *again = support_read_file(c->path, NULL);
    assert_string_equal(again, text);
    free(again);
  }
  free(text);
}

static void expect(fit_case *c, const char *head, int status, const char *part) {
  mbg__record *r;
  assert_int_equal(mbg__record_open(c->ctx, c->path, head, true, &r), status);
  assert_null(r);
  if (!strstr(mbg_context_message(c->ctx, 0), part)) {
    fail_msg("'%s' does not say '%s'", mbg_context_message(c->ctx, 0), part);
  }
  mbg_context_clear(c->ctx);
}

static void test_damaged(void **state) {
  fit_case *c = *state;
  record(c);
  expect(c, "head 2", MBG_ERROR_INPUT, "record:1: written by another problem");
  expect(c, "other", MBG_ERROR_INPUT, "record' is no restart file of this command, and is left alone");
  char *text = support_read_file(c->path, NULL);
  char *second = strchr(text, '\n') + 20;
  *second = *second == '3' ? '4' : '3';
  support_write_file(c->path, text, strlen(text));
  expect(c, "head 1", MBG_ERROR_INPUT, "record:2: the line is damaged; remove the file or name another one");
  free(text);
  /* another kind, other numbers */
  record(c);
  mbg__record *r = opened(c, "head 1", true);
  double got[2], got9[9], other[3] = {0};
  int status;
  bool found;
  assert_int_equal(mbg__record_next(c->ctx, r, 'g', 3, x, 2, got, &status, &found), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_message(c->ctx, 0), "record:2: an evaluation of another kind was expected"));
  mbg_context_clear(c->ctx);
  assert_int_equal(mbg__record_next(c->ctx, r, 'v', 3, other, 2, got, &status, &found), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_message(c->ctx, 0), "record:3: the evaluation is at other parameters"));
  mbg_context_clear(c->ctx);
  assert_int_equal(mbg__record_next(c->ctx, r, 'g', 2, x, 9, got9, &status, &found), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_message(c->ctx, 0), "record:4: the line is not complete"));
  mbg_context_clear(c->ctx);
  mbg__record_close(r);
}

/* a byte 0 and an error code, each in a line with a valid sum */
static void test_forged(void **state) {
  fit_case *c = *state;
  static const char zero[] = "v 0 \0 0", code[] = "v -3 0";
  const struct {
    const char *line;
    size_t length;
  } forged[] = {{zero, sizeof(zero) - 1}, {code, sizeof(code) - 1}};
  for (int i = 0; i < 2; i++) {
    char text[128] = "head 1\n";
    size_t n = strlen(text);
    memcpy(text + n, forged[i].line, forged[i].length);
    snprintf(text + n + forged[i].length, 32, " %016" PRIx64 "\n",
             mbg__sum(MBG__SUM_START, forged[i].line, forged[i].length));
    n += forged[i].length + 18;
    /* twice: a last line that is damaged counts as cut off */
    memcpy(text + n, text + 7, n - 7);
    support_write_file(c->path, text, 2 * n - 7);
    if (i == 0) {
      expect(c, "head 1", MBG_ERROR_INPUT, "record:2: the line is damaged");
      continue;
    }
    mbg__record *r = opened(c, "head 1", true);
    double got[2];
    int status;
    bool found;
    assert_int_equal(mbg__record_next(c->ctx, r, 'v', 0, x, 0, got, &status, &found), MBG_ERROR_INPUT);
    assert_non_null(strstr(mbg_context_message(c->ctx, 0), "record:2: an evaluation that ended the search"));
    mbg_context_clear(c->ctx);
    mbg__record_close(r);
  }
}

/* without resume: a record is kept as FILE~, a file of another kind is never touched, whole or without a line break */
static void test_others(void **state) {
  fit_case *c = *state;
  record(c);
  char *text = support_read_file(c->path, NULL), kept[sizeof(c->path) + 1];
  snprintf(kept, sizeof(kept), "%s~", c->path);
  mbg__record_close(opened(c, "head 2", false));
  char *old = support_read_file(kept, NULL), *begun = support_read_file(c->path, NULL);
  assert_string_equal(old, text);
  assert_string_equal(begun, "head 2\n");
  remove(kept);
  static const char *const others[] = {"{\"mbgrad\": 1}", "{\n}\n"};
  for (int i = 0; i < 4; i++) {
    mbg__record *r;
    support_write_file(c->path, others[i / 2], strlen(others[i / 2]));
    assert_int_equal(mbg__record_open(c->ctx, c->path, "head 1", i % 2, &r), MBG_ERROR_INPUT);
    assert_non_null(strstr(mbg_context_message(c->ctx, 0), "is left alone: name another file"));
    mbg_context_clear(c->ctx);
    char *now = support_read_file(c->path, NULL);
    assert_string_equal(now, others[i / 2]);
    free(now);
  }
  free(begun);
  free(old);
  free(text);
}

static void test_cannot_write(void **state) {
  fit_case *c = *state;
  mbg__record *r;
  assert_int_equal(mbg__record_open(c->ctx, "no/such/folder/file", "head 1", false, &r), MBG_ERROR_IO);
  assert_non_null(strstr(mbg_context_message(c->ctx, 0), "cannot write 'no/such/folder/file'"));
  mbg_context_clear(c->ctx);
  if (fopen("/dev/full", "r")) {
    assert_int_equal(mbg__record_open(c->ctx, "/dev/full", "head 1", false, &r), MBG_ERROR_IO);
    assert_non_null(strstr(mbg_context_message(c->ctx, 0), "cannot write '/dev/full'"));
    mbg_context_clear(c->ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_replay, setup, teardown),
      cmocka_unit_test_setup_teardown(test_infinite, setup, teardown),
      cmocka_unit_test_setup_teardown(test_torn, setup, teardown),
      cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
      cmocka_unit_test_setup_teardown(test_forged, setup, teardown),
      cmocka_unit_test_setup_teardown(test_others, setup, teardown),
      cmocka_unit_test_setup_teardown(test_cannot_write, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
