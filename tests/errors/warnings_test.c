/* Models that load with warnings: each file of warnings/ gives the warnings beside it, and nothing else. */
#include "mbgrad/mbgrad.h"
#include "support/random_model.h"
#include "support/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* all messages, a line each; errors and notes are marked, warnings are not */
static void messages_of(const mbg_context *ctx, char *text, size_t size) {
  text[0] = 0;
  for (int k = 0; k < mbg_context_message_count(ctx); k++) {
    const mbg_severity severity = mbg_context_message_severity(ctx, k);
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s\n",
             severity == MBG_WARNING ? ""
             : severity == MBG_NOTE  ? "note: "
                                     : "error: ",
             mbg_context_message(ctx, k));
  }
}

/* the messages of loading, and of the same model made anew: none */
static void check_model(const char *name) {
  char path[512], found[8192];
  mbg_context *ctx;
  mbg_model *model = NULL, *again = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  const int status = mbg_model_load(ctx, name, &model);
  messages_of(ctx, found, sizeof(found));
  snprintf(path, sizeof(path), "%.*s.txt", (int)strlen(name) - 5, name);
  char *expected = support_read_file(path, NULL);
  if (status != MBG_OK || strcmp(expected, found) != 0) {
    fail_msg("%s: status %d, expected:\n%sfound:\n%s", name, status, expected, found);
  }
  mbg_context_clear(ctx);
  assert_int_equal(mbg_model_for_run(ctx, model, NULL, &again), MBG_OK);
  assert_int_equal(mbg_context_message_count(ctx), 0);
  free(expected);
  mbg_model_destroy(again);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
}

static void test_warnings(void **state) {
  (void)state;
  int count = 0;
  assert_int_equal(chdir(MBG_SOURCE_DIR "/tests/errors/warnings"), 0);
  DIR *folder = opendir(".");
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    const size_t n = strlen(entry->d_name);
    if (n > 5 && strcmp(entry->d_name + n - 5, ".json") == 0) {
      check_model(entry->d_name);
      count++;
    }
  }
  closedir(folder);
  assert_true(count > 0);
}

/* no false alarm: all models of the gallery, and random ones */
static void test_no_warnings(void **state) {
  (void)state;
  char found[8192], path[600];
  mbg_context *ctx;
  mbg_model *model;
  DIR *folder = opendir(MBG_GALLERY_DIR);
  assert_non_null(folder);
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    snprintf(path, sizeof(path), "%s/%s/model.json", MBG_GALLERY_DIR, entry->d_name);
    if (access(path, R_OK) == 0) {
      assert_int_equal(mbg_model_load(ctx, path, &model), MBG_OK);
      mbg_model_destroy(model);
    }
  }
  closedir(folder);
  for (uint64_t seed = 1; seed <= (uint64_t)support_rounds(200, 2000); seed++) {
    const random_model_options o = random_model_mix(seed);
    char *text = random_model(seed, &o);
    assert_int_equal(mbg_model_parse(ctx, "model", text, strlen(text), NULL, &model), MBG_OK);
    mbg_model_destroy(model);
    free(text);
  }
  messages_of(ctx, found, sizeof(found));
  if (strstr(found, "times as large") || strstr(found, "old word")) {
    fail_msg("a false alarm:\n%s", found);
  }
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_warnings), cmocka_unit_test(test_no_warnings)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
