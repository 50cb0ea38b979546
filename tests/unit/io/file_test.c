/* Files: whole in and out, replaced at once, paths, messages. */
#include "io/file.h"
#include "support/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
  char folder[64];
  char path[96]; /* of a file in the folder */
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof(*f));
  assert_non_null(f);
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  mbg__arena_init(&f->arena, mbg__context_allocator(f->ctx));
  strcpy(f->folder, "/tmp/mbgrad-file-XXXXXX");
  assert_non_null(mkdtemp(f->folder));
  snprintf(f->path, sizeof(f->path), "%s/a.txt", f->folder);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  unlink(f->path);
  assert_int_equal(rmdir(f->folder), 0); /* nothing else was left there */
  mbg__arena_destroy(&f->arena);
  mbg_context_destroy(f->ctx);
  free(f);
  return 0;
}

static void check_error(fixture *f, int err, const char *format, const char *path) {
  char message[256];
  assert_int_equal(err, MBG_ERROR_IO);
  snprintf(message, sizeof(message), format, path);
  assert_string_equal(mbg_context_error(f->ctx), message);
  mbg_context_clear(f->ctx);
}

static void check_content(const char *path, const char *expected) {
  char *text = support_read_file(path, NULL);
  assert_string_equal(text, expected);
  free(text);
}

static mode_t mode_of(const char *path) {
  struct stat info;
  assert_int_equal(lstat(path, &info), 0);
  return info.st_mode;
}

/* ---------------------------------------------------------------------- reading */

static void test_read(void **state) {
  fixture *f = *state;
  char *text = NULL;
  size_t length = 0;
  /* zeros inside, and one behind the end */
  support_write_file(f->path, "ab\0c", 4);
  assert_int_equal(mbg__file_read(f->ctx, &f->arena, f->path, &text, &length), MBG_OK);
  assert_int_equal(length, 4);
  assert_memory_equal(text, "ab\0c", 5);

  support_write_file(f->path, "", 0);
  assert_int_equal(mbg__file_read(f->ctx, &f->arena, f->path, &text, NULL), MBG_OK);
  assert_string_equal(text, "");
}

static void test_read_unknown_size(void **state) {
  fixture *f = *state;
  /* a file whose size the system gives as 0 */
  char *text = NULL;
  size_t length = 0;
  assert_int_equal(mbg__file_read(f->ctx, &f->arena, "/proc/self/maps", &text, &length), MBG_OK);
  assert_true(length > 100);
  assert_int_equal(strlen(text), length);
}

static void test_read_errors(void **state) {
  fixture *f = *state;
  char *text = NULL;
  check_error(f, mbg__file_read(f->ctx, &f->arena, f->path, &text, NULL), "cannot read '%s': No such file or directory",
              f->path);
  assert_null(text);
  check_error(f, mbg__file_read(f->ctx, &f->arena, f->folder, &text, NULL), "cannot read '%s': it is a folder",
              f->folder);

  /* a hole of 256 MiB takes no room on the disk */
  support_write_file(f->path, "", 0);
  assert_int_equal(truncate(f->path, (off_t)MBG__FILE_BYTES_MAX + 1), 0);
  check_error(f, mbg__file_read(f->ctx, &f->arena, f->path, &text, NULL), "cannot read '%s': it is larger than 256 MiB",
              f->path);
  check_error(f, mbg__file_read(f->ctx, &f->arena, "/dev/zero", &text, NULL),
              "cannot read '%s': it is larger than 256 MiB", "/dev/zero");
  assert_null(text);

  /* data: a device, and a pipe without a writer, on which opening would wait */
  check_error(f, mbg__file_read_data(f->ctx, &f->arena, "/dev/zero", &text, NULL),
              "cannot read '%s': it is a pipe or a device; data must be in a file", "/dev/zero");
  unlink(f->path);
  assert_int_equal(mkfifo(f->path, 0600), 0);
  check_error(f, mbg__file_read_data(f->ctx, &f->arena, f->path, &text, NULL),
              "cannot read '%s': it is a pipe or a device; data must be in a file", f->path);
}

/* ---------------------------------------------------------------------- writing */

static void test_write(void **state) {
  fixture *f = *state;
  const mode_t mask = umask(022);
  assert_int_equal(mbg__file_write(f->ctx, f->path, "one\n", 4), MBG_OK);
  check_content(f->path, "one\n");
  assert_int_equal(mode_of(f->path) & 0777, 0644);

  /* replaced: other content, same permissions */
  assert_int_equal(chmod(f->path, 0600), 0);
  assert_int_equal(mbg__file_write(f->ctx, f->path, "", 0), MBG_OK);
  check_content(f->path, "");
  assert_int_equal(mode_of(f->path) & 0777, 0600);
  umask(mask);
}

static void test_write_replaces(void **state) {
  fixture *f = *state;
  /* who has the old file open goes on reading the old text */
  support_write_file(f->path, "old", 3);
  FILE *old = fopen(f->path, "rb");
  assert_non_null(old);
  assert_int_equal(mbg__file_write(f->ctx, f->path, "new", 3), MBG_OK);
  char text[4] = {0};
  assert_int_equal(fread(text, 1, 3, old), 3);
  assert_string_equal(text, "old");
  fclose(old);
  check_content(f->path, "new");
}

static void test_write_beside_others(void **state) {
  fixture *f = *state;
  /* the name of a temporary file that somebody left is not taken */
  char left[160];
  snprintf(left, sizeof(left), "%s.%ld-0.tmp", f->path, (long)getpid());
  support_write_file(left, "left", 4);
  assert_int_equal(mbg__file_write(f->ctx, f->path, "x", 1), MBG_OK);
  check_content(left, "left");
  check_content(f->path, "x");
  unlink(left);
}

static void test_write_in_place(void **state) {
  fixture *f = *state;
  assert_int_equal(mbg__file_write(f->ctx, "/dev/null", "x", 1), MBG_OK);
  assert_true(S_ISCHR(mode_of("/dev/null")));

  /* a link stays a link, and its target is replaced as a whole: a second name keeps the former text */
  char link[128];
  snprintf(link, sizeof(link), "%s/link", f->folder);
  assert_int_equal(symlink("a.txt", link), 0);
  char second[128];
  snprintf(second, sizeof(second), "%s/second", f->folder);
  support_write_file(f->path, "former", 6);
  assert_int_equal(linkat(AT_FDCWD, f->path, AT_FDCWD, second, 0), 0);
  assert_int_equal(mbg__file_write(f->ctx, link, "through", 7), MBG_OK);
  check_content(f->path, "through");
  check_content(second, "former");
  unlink(second);
  assert_true(S_ISLNK(mode_of(link)));
  unlink(link);
}

static void test_write_errors(void **state) {
  fixture *f = *state;
  check_error(f, mbg__file_write(f->ctx, f->folder, "x", 1), "cannot write '%s': it is a folder", f->folder);
  char path[128];
  snprintf(path, sizeof(path), "%s/none/a.txt", f->folder);
  check_error(f, mbg__file_write(f->ctx, path, "x", 1), "cannot write '%s': No such file or directory", path);
  if (access("/dev/full", W_OK) == 0) {
    check_error(f, mbg__file_write(f->ctx, "/dev/full", "x", 1), "cannot write '%s': No space left on device",
                "/dev/full");
  }
}

/* ---------------------------------------------------------------------- paths */

static void test_paths(void **state) {
  fixture *f = *state;
  mbg__arena *a = &f->arena;
  assert_string_equal(mbg__path_beside(a, "a/b.json", "data.csv"), "a/data.csv");
  assert_string_equal(mbg__path_beside(a, "b.json", "data.csv"), "data.csv");
  assert_string_equal(mbg__path_beside(a, "/a/b.json", "../data.csv"), "/a/../data.csv");
  assert_string_equal(mbg__path_beside(a, "a/b.json", "/data.csv"), "/data.csv");
  assert_string_equal(mbg__path_beside(a, "a/b.json", ""), "a/");
  static const char *const inside[] = {"a.csv", "a/b.csv", "./a.csv", "a/../b.csv", "a//../b.csv", "..a/b", ""};
  static const char *const outside[] = {"/a.csv", "../a.csv", "..", "a/../../b.csv", "./../a", "a/..//../b/c/d"};
  for (int i = 0; i < MBG_COUNT(inside); i++) {
    assert_false(mbg__path_outside(inside[i]));
  }
  for (int i = 0; i < MBG_COUNT(outside); i++) {
    assert_true(mbg__path_outside(outside[i]));
  }
}

/* ---------------------------------------------------------------------- memory */

static void test_failing_memory(void **state) {
  fixture *f = *state;
  support_write_file(f->path, "old", 3);
  for (int n = 1;; n++) {
    support_memory memory = {.fail_at = n};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx = NULL;
    mbg__arena arena;
    mbg__arena_init(&arena, &allocator);
    if (mbg_context_create(&allocator, &ctx) == MBG_OK) {
      char *text = NULL;
      int err = mbg__file_write(ctx, f->path, "new", 3);
      check_content(f->path, err == MBG_OK || n > 2 ? "new" : "old");
      err = err == MBG_OK ? mbg__file_read(ctx, &arena, f->path, &text, NULL) : err;
      assert_int_equal(err, memory.requests < n ? MBG_OK : MBG_ERROR_MEMORY);
      assert_true((err == MBG_OK) == (text != NULL));
      assert_true(err == MBG_OK || !mbg__path_beside(&arena, "a/b", "c"));
    }
    mbg__arena_destroy(&arena);
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
      TEST(test_read),           TEST(test_read_unknown_size),   TEST(test_read_errors),    TEST(test_write),
      TEST(test_write_replaces), TEST(test_write_beside_others), TEST(test_write_in_place), TEST(test_write_errors),
      TEST(test_paths),          TEST(test_failing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
