/* Memory: each allocation of a whole run is made to fail once, and each failure is reported without a leak; inside the
   steps nothing is allocated. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"
#include "support/tree_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double psi[8], gradient[256];
} answers;

static bool has_method(const char *formulation, int method) {
  for (int i = 0; i < mbg_formulation_count(); i++) {
    if (!strcmp(mbg_formulation_key(i), formulation)) {
      return mbg_formulation_has(i, (mbg_method)method);
    }
  }
  return false;
}

/* loads, checks, simulates, differentiates by every method; the first error ends it */
static int whole_run(mbg_context *ctx, const char *path, const char *formulation, double end, int threads, answers *a) {
  mbg_model *model = NULL;
  mbg_check *check = NULL;
  mbg_run *run = NULL;
  mbg_run_options options;
  mbg_run_options_default(&options, sizeof(options));
  options.end = end;
  options.threads = threads;
  /* controlled where there is error control */
  if (!strcmp(formulation, "qr")) {
    options.tolerance = 1e-4;
  } else {
    options.step = end / 4;
  }
  options.formulation = formulation;
  int err = mbg_model_load(ctx, path, &model);
  err = err < 0 ? err : mbg_check_create(ctx, model, NULL, &check);
  err = err < 0 ? err : mbg_run_create(ctx, model, &options, &run);
  err = err < 0 ? err : mbg_run_simulate(ctx, run);
  err = err < 0 ? err : mbg_run_criteria(ctx, run, a->psi);
  for (int method = MBG_METHOD_DIRECT; err == MBG_OK && method <= MBG_METHOD_CONTINUOUS; method++) {
    err = has_method(formulation, method) ? mbg_run_gradient(ctx, run, (mbg_method)method, a->gradient, NULL) : err;
    err = err == MBG_ERROR_UNSUPPORTED ? MBG_OK : err; /* continuous across events */
  }
  mbg_run_destroy(run);
  mbg_check_destroy(check);
  mbg_model_destroy(model);
  return err;
}

/* four steps each: loops, drivers, controls, beams, modal bodies, planes, trees, an impact */
static const struct {
  const char *model, *formulation;
  double end;
} cases[] = {
    {"quarter-car", "lie", 0.02},      {"driven-flap", "lie", 0.02},        {"overhead-crane", "lie", 0.02},
    {"swinging-beam", "lie", 0.02},    {"colliding-balls", "lie", 0.6},     {"colliding-balls", "dae", 0.6},
    {"quarter-car", "ali3p", 0.02},    {"four-bar-spatial", "ali3p", 0.02}, {"two-arm", "ali3p", 0.002},
    {"colliding-balls", "ali3p", 0.6}, {"driven-flap", "qr", 0.02},         {"overhead-crane", "qr", 0.02},
    {"five-bar", "qr", 0.02},          {"colliding-balls", "qr", 0.6},      {"driven-flap", "dca", 0.02},
    {"two-body-spatial", "dca", 0.02}, {"two-arm", "dca", 0.0002},          {"colliding-balls", "dca", 0.6},
};

/* the allocations number first, first + stride, ... of a run fail, by turns once and from there on */
static void check_failures(const char *path, const char *formulation, double end, int threads, long stride) {
  answers expected;
  mbg_context *ctx;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(whole_run(ctx, path, formulation, end, threads, &expected), MBG_OK);
  mbg_context_destroy(ctx);
  for (long n = 2, turn = 0;; n += stride, turn++) {
    support_memory memory = {.fail_at = n, .once = turn % 2 == 0};
    const mbg_allocator allocator = support_allocator(&memory);
    answers got;
    assert_int_equal(mbg_context_create(&allocator, &ctx), MBG_OK);
    const int err = whole_run(ctx, path, formulation, end, threads, &got);
    if (memory.requests < n) {
      assert_int_equal(err, MBG_OK);
      mbg_context_destroy(ctx);
      assert_int_equal(memory.live, 0);
      assert_true(n > 100);
      break;
    }
    /* a message that finds no memory is lost, but the status tells; nothing else may survive a failure */
    if (err != MBG_ERROR_MEMORY && err != MBG_OK) {
      print_error("%s: allocation %ld failed and gave status %d (%s)\n", path, n, err, mbg_context_error(ctx));
      fail();
    }
    if (err == MBG_OK) {
      assert_true(got.psi[0] == expected.psi[0]);
    }
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
  }
}

static void every_allocation_fails_once(void **state) {
  (void)state;
  for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); i++) {
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", MBG_GALLERY_DIR, cases[i].model);
    check_failures(path, cases[i].formulation, cases[i].end, 1, 1);
  }
}

/* a chain whose pieces go side by side, by eight parameters: threads make the memory of their columns */
static char *chain_text(int bodies) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  assert_non_null(f);
  fprintf(f, "{\"mbgrad\": 1, \"parameters\": {\"m\": {\"value\": 1, \"count\": 8}}, \"gravity\": [0, 0, -9.81],"
             " \"bodies\": {");
  for (int i = 0; i < bodies; i++) {
    fprintf(f,
            "%s\"b%d\": {\"mass\": \"m[%d]\", \"position\": [%d, 0, 0], \"com\": [0.5, 0, 0],"
            " \"inertia\": [0.01, 0.1, 0.1]}",
            i ? ", " : "", i, i % 8, i);
  }
  fprintf(f, "}, \"joints\": {");
  for (int i = 0; i < bodies; i++) {
    fprintf(f, "%s\"j%d\": {\"type\": \"revolute\", \"at\": [%d, 0, 0], \"axis\": [0, 1, 0], ", i ? ", " : "", i, i);
    fprintf(f, i ? "\"between\": [\"b%d\", \"b%d\"]}" : "\"between\": [\"ground\", \"b0\"]}", i - 1, i);
  }
  fprintf(f, "}, \"signals\": {\"z\": {\"type\": \"position\", \"of\": \"b4\", \"component\": \"z\"}},"
             " \"criteria\": {\"end\": {\"terminal\": \"z\"}, \"sum\": {\"integral\": \"z^2\"}},"
             " \"run\": {\"formulation\": \"dca\", \"end\": 0.1, \"step\": 0.01}}");
  fclose(f);
  return text;
}

static void write_model(char *text) {
  assert_non_null(text);
  support_write_file("tree.json", text, strlen(text));
  free(text);
}

/* trees that are eliminated from tip to root, and cut into pieces that threads share */
static void large_trees(void **state) {
  (void)state;
  write_model(tree_text(60, false, false));
  check_failures("tree.json", "ali3p", 0.002, 1, 3);
  write_model(tree_text(520, true, false));
  check_failures("tree.json", "dca", 0.002, 3, 23);
  write_model(chain_text(64));
  check_failures("tree.json", "dca", 0.002, 3, 1);
  write_model(chain_text(520));
  check_failures("tree.json", "dca", 0.002, 3, 23);
}

/* counts requests at the end of each step */
typedef struct {
  support_memory *memory;
  long first, last;
  int steps;
} watch;

static void on_step(void *user, double t) {
  watch *w = user;
  (void)t;
  if (w->steps++ == 0) {
    w->first = w->memory->requests;
  }
  w->last = w->memory->requests;
}

static void check_steps(const char *path, const char *formulation, int steps) {
  support_memory memory = {0};
  const mbg_allocator allocator = support_allocator(&memory);
  watch w = {.memory = &memory};
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  mbg_run_options options;
  mbg_run_options_default(&options, sizeof(options));
  options.formulation = formulation;
  options.progress = on_step;
  options.user = &w;
  assert_int_equal(mbg_context_create(&allocator, &ctx), MBG_OK);
  assert_int_equal(mbg_model_load(ctx, path, &model), MBG_OK);
  assert_int_equal(mbg_run_create(ctx, model, &options, &run), MBG_OK);
  assert_int_equal(mbg_run_simulate(ctx, run), MBG_OK);
  assert_int_equal(w.steps, steps);
  assert_int_equal(w.first, w.last);
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  assert_int_equal(memory.live, 0);
}

static void no_step_allocates(void **state) {
  (void)state;
  check_steps(MBG_GALLERY_DIR "/quarter-car", "lie", 200);
  check_steps(MBG_GALLERY_DIR "/quarter-car", "ali3p", 200);
  write_model(chain_text(520));
  check_steps("tree.json", "dca", 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_fails_once),
      cmocka_unit_test(large_trees),
      cmocka_unit_test(no_step_allocates),
  };
  return cmocka_run_group_tests(tests, support_folder_enter, support_folder_leave);
}
