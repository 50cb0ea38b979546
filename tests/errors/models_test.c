/* Malformed models: each file of models/ gives the messages beside it, and nothing else. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 1000, FILES_MIN = 60 };

static char *names[FILES_MAX];
static int nname;

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* the names without .json, sorted */
static int find_models(void **state) {
  (void)state;
  if (chdir(MBG_SOURCE_DIR "/tests/errors/models") != 0) {
    return -1;
  }
  DIR *folder = opendir(".");
  if (!folder) {
    return -1;
  }
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    const size_t n = strlen(entry->d_name);
    if (n > 5 && strcmp(entry->d_name + n - 5, ".json") == 0 && nname < FILES_MAX) {
      names[nname] = calloc(n, 1);
      memcpy(names[nname++], entry->d_name, n - 5);
    }
  }
  closedir(folder);
  qsort(names, (size_t)nname, sizeof(names[0]), by_name);
  return 0;
}

static int forget_models(void **state) {
  (void)state;
  for (int i = 0; i < nname; i++) {
    free(names[i]);
  }
  return 0;
}

/* all messages, a line each */
static char *messages_of(const mbg_context *ctx) {
  size_t length = 0;
  for (int k = 0; k < mbg_context_message_count(ctx); k++) {
    length += strlen(mbg_context_message(ctx, k)) + 1;
  }
  char *text = calloc(length + 1, 1), *at = text;
  assert_non_null(text);
  for (int k = 0; k < mbg_context_message_count(ctx); k++) {
    const char *message = mbg_context_message(ctx, k);
    memcpy(at, message, strlen(message));
    at += strlen(message);
    *at++ = '\n';
  }
  return text;
}

static void check_model(const char *name) {
  char path[512];
  mbg_context *ctx;
  mbg_model *model = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  snprintf(path, sizeof(path), "%s.json", name);
  const int status = mbg_model_load(ctx, path, &model);
  snprintf(path, sizeof(path), "%s.txt", name);
  char *expected = support_read_file(path, NULL), *found = messages_of(ctx);
  if (status != MBG_ERROR_INPUT || strcmp(expected, found) != 0) {
    fail_msg("%s.json: status %d, expected:\n%sfound:\n%s", name, status, expected, found);
  }
  assert_null(model);
  assert_true(found[0]);
  free(expected);
  free(found);
  mbg_context_destroy(ctx);
}

static void test_models(void **state) {
  (void)state;
  assert_true(nname >= FILES_MIN && nname < FILES_MAX);
  for (int i = 0; i < nname; i++) {
    check_model(names[i]);
  }
}

/* a message that a user can act on says where it is: "file:line:column: ..." */
static void test_places(void **state) {
  (void)state;
  for (int i = 0; i < nname; i++) {
    char path[512];
    int line = 0, column = 0, length = 0;
    snprintf(path, sizeof(path), "%s.txt", names[i]);
    char *text = support_read_file(path, NULL);
    sscanf(text, "%*[^:\n]:%d:%d: %n", &line, &column, &length);
    if (line < 1 || column < 1 || length == 0) {
      fail_msg("%s.txt does not begin with the place of the error", names[i]);
    }
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models), cmocka_unit_test(test_places)};
  return cmocka_run_group_tests(tests, find_models, forget_models);
}
