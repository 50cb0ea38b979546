/* The lists of formulations.def: the run section of a model takes every word that the library lists, and no other. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

static const char model_format[] =
    "{\"mbgrad\": 1, \"parameters\": {\"m\": {\"value\": 1}},"
    " \"bodies\": {\"bob\": {\"motion\": \"planar-point\", \"mass\": \"m\", \"position\": [0.3, 0.4, 0]}},"
    " \"joints\": {\"rod\": {\"type\": \"distance\", \"between\": [\"ground\", \"bob\"], \"length\": 0.5}},"
    " \"forces\": {\"spring\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"bob\"], \"stiffness\": 10,"
    "   \"points\": [[1, 0, 0], [0, 0, 0]], \"damping\": 0, \"rest\": 0.5}},"
    " \"signals\": {\"y\": {\"type\": \"position\", \"of\": \"bob\", \"component\": \"y\"}},"
    " \"criteria\": {\"height\": {\"terminal\": \"y\"}},"
    " \"run\": {\"formulation\": \"%s\", \"end\": 0.1, \"step\": 0.01, %s}}";

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
} fixture;

static int begin(fixture *f, const char *formulation, const char *more) {
  char text[2048];
  snprintf(text, sizeof text, model_format, formulation, more);
  *f = (fixture){0};
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  int err = mbg_model_parse(f->ctx, "run", text, strlen(text), NULL, &f->model);
  err = err < 0 ? err : mbg_run_create(f->ctx, f->model, NULL, &f->run);
  return err < 0 ? err : mbg_run_simulate(f->ctx, f->run);
}

static void end(fixture *f) {
  mbg_run_destroy(f->run);
  mbg_model_destroy(f->model);
  mbg_context_destroy(f->ctx);
}

static void check(const fixture *f, int err, const char *formulation, const char *more) {
  if (err < 0) {
    print_error("%s, %s: %s\n", formulation, more, mbg_context_error(f->ctx));
  }
  assert_int_equal(err, MBG_OK);
}

static void test_integrators(void **state) {
  (void)state;
  int count = 0;
  for (int i = 0; i < mbg_formulation_count(); i++) {
    const char *key = mbg_formulation_key(i), *word = mbg_formulation_integrators(i);
    while (*word) {
      const int length = (int)strcspn(word, " ");
      char more[64];
      fixture f;
      snprintf(more, sizeof more, "\"integrator\": \"%.*s\"", length, word);
      check(&f, begin(&f, key, more), key, more);
      end(&f);
      word += length + (word[length] == ' ');
      count++;
    }
  }
  assert_int_equal(count, 8); /* of qr and dca; "rk4" was refused in files before the lists were one */
}

static void test_methods(void **state) {
  (void)state;
  for (int i = 0; i < mbg_formulation_count(); i++) {
    const char *key = mbg_formulation_key(i);
    assert_non_null(mbg_formulation_name(i));
    assert_non_null(mbg_formulation_paper(i));
    for (int m = MBG_METHOD_DIRECT; m < MBG_METHOD_COUNT; m++) {
      char more[64];
      double g;
      fixture f;
      mbg_method used;
      snprintf(more, sizeof more, "\"method\": \"%s\"", mbg_method_name(m));
      check(&f, begin(&f, key, more), key, more);
      const int err = mbg_run_gradient(f.ctx, f.run, MBG_METHOD_AUTO, &g, &used);
      if (mbg_formulation_has(i, (mbg_method)m)) {
        check(&f, err, key, more);
        assert_int_equal(used, m);
      } else {
        assert_int_equal(err, MBG_ERROR_UNSUPPORTED);
      }
      end(&f);
    }
  }
}

static void test_unknown(void **state) {
  (void)state;
  static const struct {
    const char *more, *message;
  } cases[] = {
      {"\"integrator\": \"rk5\"", "integrator: unknown value 'rk5'; did you mean 'rk4'?"},
      {"\"method\": \"ajoint\"", "method: unknown value 'ajoint'; did you mean 'adjoint'?"},
      {"\"method\": \"magic\"", "must be 'auto', 'direct', 'adjoint', 'continuous' or 'continuous-paper'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    assert_int_equal(begin(&f, "qr", cases[i].more), MBG_ERROR_INPUT);
    if (!strstr(mbg_context_error(f.ctx), cases[i].message)) {
      fail_msg("'%s' does not say '%s'", mbg_context_error(f.ctx), cases[i].message);
    }
    end(&f);
  }
  assert_null(mbg_formulation_key(-1));
  assert_null(mbg_formulation_integrators(mbg_formulation_count()));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_integrators),
      cmocka_unit_test(test_methods),
      cmocka_unit_test(test_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
