/* Which files a model reads: its own, a part, data of another run, through links and other names; not others. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char model[] =
    "{\"mbgrad\": 1, \"note\": \"nothing.csv\", \"parts\": {\"p\": {\"use\": \"sub/part.json\"}},"
    " \"bodies\": {\"m\": {\"motion\": \"planar-point\", \"mass\": 1}},"
    " \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"m\", \"component\": \"x\"}},"
    " \"criteria\": {\"fit\": {\"least_squares\": \"x\", \"data\": \"a.csv\", \"column\": \"x\"}},"
    " \"run\": {\"end\": 1, \"step\": 0.1}, \"runs\": {\"other\": {\"files\": {\"fit\": \"b.csv\"}}}}";
static const char part[] = "{\"mbgrad\": 1, \"note\": \"c.csv\"}", data[] = "t,x\n0,1\n1,1\n";

static void put(const char *name, const char *text) { support_write_file(name, text, strlen(text)); }

static void check(mbg_context *ctx, const mbg_model *m, const char *path, bool own, bool named) {
  bool is_own = !own, is_named = !named;
  assert_int_equal(mbg_model_reads(ctx, m, path, &is_own, &is_named), MBG_OK);
  if (is_own != own || is_named != named) {
    fail_msg("%s: own %d, named %d", path, is_own, is_named);
  }
}

static void test_reads(void **state) {
  (void)state;
  char folder[] = "/tmp/mbgrad_reads_XXXXXX";
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  assert_int_equal(system("mkdir sub"), 0);
  put("model.json", model);
  put("sub/part.json", part);
  static const char *const tables[] = {"a.csv", "b.csv", "sub/c.csv", "c.csv", "out.csv"};
  for (int i = 0; i < 5; i++) {
    put(tables[i], data);
  }
  assert_int_equal(symlink("../a.csv", "sub/link.csv"), 0);
  mbg_context *ctx;
  mbg_model *m;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_load(ctx, ".", &m), MBG_OK);
  check(ctx, m, "model.json", true, false);
  check(ctx, m, "./sub/../model.json", true, false);
  check(ctx, m, "sub/part.json", false, true);
  check(ctx, m, "a.csv", false, true);
  check(ctx, m, "sub/link.csv", false, true);
  check(ctx, m, "b.csv", false, true);
  check(ctx, m, "sub/c.csv", false, true); /* a text of the part: better one file too many than one too few */
  check(ctx, m, "c.csv", false, false);
  check(ctx, m, "out.csv", false, false);
  check(ctx, m, "nothing.csv", false, false);
  bool own;
  assert_int_equal(mbg_model_reads(ctx, NULL, "a", &own, &own), MBG_ERROR_INPUT);
  mbg_model_destroy(m);
  mbg_context_destroy(ctx);
  assert_int_equal(chdir("/"), 0);
  char command[128];
  snprintf(command, sizeof(command), "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
