/* A formulation outside the library: its folder and one line of formulations.def; docs/adding-formulations.md shows it.
   */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* what the line of formulations.def gives: the lists, the words of a model file, the schema */
static void test_lists(void **state) {
  (void)state;
  mbg_context *ctx;
  char *schema;
  int index = -1;
  for (int i = 0; i < mbg_formulation_count(); i++) {
    index = strcmp(mbg_formulation_key(i), "euler") == 0 ? i : index;
  }
  assert_int_equal(index, 5);
  assert_string_equal(mbg_formulation_name(index), "semi-implicit Euler");
  assert_true(mbg_formulation_has(index, MBG_METHOD_DIRECT) && mbg_formulation_has(index, MBG_METHOD_ADJOINT));
  assert_false(mbg_formulation_has(index, MBG_METHOD_CONTINUOUS));
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_schema(ctx, &schema), MBG_OK);
  assert_non_null(strstr(schema, "\"euler\""));
  mbg_text_destroy(ctx, schema);
  mbg_context_destroy(ctx);
}

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  int nc, np;
} fixture;

static void begin(fixture *f, const char *model, const char *formulation, double end, double step, double memory) {
  char path[300];
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  snprintf(path, sizeof path, MBG_GALLERY_DIR "/%s", model);
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  assert_int_equal(mbg_model_load(f->ctx, path, &f->model), MBG_OK);
  o.formulation = formulation;
  o.end = end;
  o.step = step;
  o.memory = memory;
  assert_int_equal(mbg_run_create(f->ctx, f->model, &o, &f->run), MBG_OK);
  if (mbg_run_simulate(f->ctx, f->run) != MBG_OK) {
    fail_msg("%s: %s", model, mbg_context_error(f->ctx));
  }
  f->nc = mbg_model_criterion_count(f->model);
  f->np = mbg_model_parameter_count(f->model);
}

static void end(fixture *f) {
  mbg_run_destroy(f->run);
  mbg_model_destroy(f->model);
  mbg_context_destroy(f->ctx);
}

/* trees and loops, planar, spatial and points, redundant rows, controls, accelerations and reactions */
static const struct {
  const char *model;
  double end, step;
} cases[] = {
    {"torsional-pendulum", 0.5, 0.005},
    {"double-pendulum-spring", 0.3, 0.005},
    {"quarter-car", 0.2, 0.001},
    {"rssr", 0.1, 0.001},
    {"bricard", 0.1, 0.001},
    {"overhead-crane", 0.5, 0.01},
};

/* Taylor remainders fall with slope 2 over two decades at least; direct and adjoint agree to 1e-10 (theory 0, section
   11) */
static void test_gradients(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    begin(&f, cases[i].model, "euler", cases[i].end, cases[i].step, 0);
    assert_int_equal(mbg_run_prove(f.ctx, f.run), MBG_OK);
    int proven = 0;
    for (int k = 0; k < f.nc; k++) {
      const mbg_proof *q = mbg_run_get_proof(f.run, k);
      if (!(q->direct_vs_adjoint < 1e-10)) {
        fail_msg("%s, criterion %d: direct and adjoint differ by %g", cases[i].model, k, q->direct_vs_adjoint);
      }
      proven += fabs(q->taylor_slope - 2) < 0.05 && q->taylor_decades >= 2;
    }
    if (proven == 0) {
      const mbg_proof *q = mbg_run_get_proof(f.run, 0);
      fail_msg("%s: no Taylor test over two decades (slope %g over %g)", cases[i].model, q->taylor_slope,
               q->taylor_decades);
    }
    end(&f);
  }
}

/* the same bits with a tenth of the memory */
static void test_memory(void **state) {
  (void)state;
  double g[2][64], bytes = 0;
  for (int limited = 0; limited < 2; limited++) {
    fixture f;
    begin(&f, "rssr", "euler", 0.1, 0.001, bytes / 10);
    assert_true(f.nc * f.np <= 64);
    assert_int_equal(mbg_run_gradient(f.ctx, f.run, MBG_METHOD_ADJOINT, g[limited], NULL), MBG_OK);
    const mbg_run_work *work = mbg_run_get_work(f.run);
    bytes = work->peak_bytes;
    assert_true((work->recomputed_steps > 0) == limited);
    if (limited) {
      assert_memory_equal(g[0], g[1], (size_t)(f.nc * f.np) * sizeof(double));
    }
    end(&f);
  }
}

/* first order: half the step, half the distance to a fine run of `lie` */
static void test_order(void **state) {
  (void)state;
  static const char *const models[] = {"torsional-pendulum", "rssr"};
  for (int i = 0; i < 2; i++) {
    double exact[16], psi[16], away[3];
    fixture f;
    begin(&f, models[i], "lie", 0.2, 1e-4, 0);
    assert_true(f.nc <= 16);
    assert_int_equal(mbg_run_criteria(f.ctx, f.run, exact), MBG_OK);
    end(&f);
    for (int l = 0; l < 3; l++) {
      begin(&f, models[i], "euler", 0.2, 2.5e-4 / (1 << l), 0);
      assert_int_equal(mbg_run_criteria(f.ctx, f.run, psi), MBG_OK);
      away[l] = fabs(psi[0] - exact[0]);
      end(&f);
    }
    for (int l = 1; l < 3; l++) {
      const double order = log2(away[l - 1] / away[l]);
      if (!(fabs(order - 1) < 0.1)) { /* the second-order term at the largest step */
        fail_msg("%s: errors %g, %g, %g are not of first order", models[i], away[0], away[1], away[2]);
      }
    }
  }
}

/* ---------------------------------------------------------------------- the page */

static char *files;

static void add_file(const char *name) {
  char path[300];
  size_t size;
  snprintf(path, sizeof path, MBG_SOURCE_DIR "/tests/formulations/euler/%s", name);
  char *text = support_read_file(path, &size);
  files = realloc(files, strlen(files) + size + 1);
  strcat(files, text);
  free(text);
}

/* every block of C of docs/adding-formulations.md stands in a file of the formulation, and the page names every file */
static void test_page(void **state) {
  (void)state;
  char *page = support_read_file(MBG_SOURCE_DIR "/docs/adding-formulations.md", NULL);
  DIR *folder = opendir(MBG_SOURCE_DIR "/tests/formulations/euler");
  assert_non_null(folder);
  files = calloc(1, 1);
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] != '.') {
      add_file(entry->d_name);
      if (!strstr(page, entry->d_name)) {
        fail_msg("the page does not name %s", entry->d_name);
      }
    }
  }
  closedir(folder);
  int blocks = 0;
  for (char *at = strstr(page, "```c\n"); at; at = strstr(at, "```c\n"), blocks++) {
    char *block = at + 5, *stop = strstr(block, "```");
    assert_non_null(stop);
    *stop = 0;
    if (!strstr(files, block)) {
      fail_msg("no file of tests/formulations/euler holds\n%s", block);
    }
    at = stop + 3;
  }
  assert_true(blocks >= 6);
  free(files);
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lists), cmocka_unit_test(test_gradients), cmocka_unit_test(test_memory),
      cmocka_unit_test(test_order), cmocka_unit_test(test_page),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
