/* The order of the entries of a file does not matter: with bodies, joints, forces, ... in reverse order all
   formulations give the same criteria and gradients. A spanning tree that followed the order of the file would take
   other joint coordinates, and with them other errors of the steps: 1e-1 to 1e-8 for `ali3p` on these models.

   Tolerances, relative to the largest entry of a row p dJ/dp: 1e-8 for formulations with fixed steps, whose sums of
   another order are magnified by 1/h^2 in reactions and accelerations; 1e-6 for `qr`, whose steps are chosen with a
   relative tolerance of 1e-9. */
#include "mbgrad/mbgrad.h"
#include "support/random_model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- the file backwards */

/* after a value of the text, which starts at p: the comma or bracket behind it */
static const char *skip_value(const char *p) {
  int depth = 0;
  for (bool text = false; *p; p++) {
    if (text) {
      p += *p == '\\';
      text = *p != '"';
    } else if (*p == '"') {
      text = true;
    } else if (*p == '{' || *p == '[') {
      depth++;
    } else if ((*p == '}' || *p == ']') && depth-- == 0) {
      return p;
    } else if (*p == ',' && depth == 0) {
      return p;
    }
  }
  return p;
}

/* the entries of an object that starts at p, in reverse order, appended to out */
static void reverse_object(const char *p, char *out) {
  enum { MOST = 400 };
  const char *start[MOST], *end[MOST];
  int n = 0;
  for (p++; *p && *p != '}'; p += *p == ',') {
    const char *after = skip_value(p);
    assert_true(n < MOST);
    start[n] = p;
    end[n++] = after;
    p = after;
  }
  out += strlen(out);
  *out++ = '{';
  for (int i = n - 1; i >= 0; i--) {
    out += sprintf(out, "%.*s%s", (int)(end[i] - start[i]), start[i], i > 0 ? "," : "");
  }
  sprintf(out, "}");
}

static bool is_section(const char *key) {
  static const char *const sections[] = {"bodies", "markers", "joints", "forces", "drivers", "couplings", "beams"};
  for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
    const size_t n = strlen(sections[i]);
    if (strncmp(key, sections[i], n) == 0 && key[n] == '"') {
      return true;
    }
  }
  return false;
}

/* signals, criteria and parameters keep their order, which is that of the results */
static char *reverse_sections(const char *text) {
  char *out = calloc(strlen(text) + 200, 1);
  assert_non_null(out);
  const char *p = strchr(text, '{') + 1;
  strcpy(out, "{");
  while (*p && *p != '}') {
    const char *key = strchr(p, '"') + 1, *value = strchr(strchr(key, '"'), ':') + 1, *after = skip_value(p);
    value += strspn(value, " \n");
    if (*value == '{' && is_section(key)) {
      strncat(out, p, (size_t)(value - p));
      reverse_object(value, out);
    } else {
      strncat(out, p, (size_t)(after - p));
    }
    strncat(out, after, 1);
    p = *after == ',' ? after + 1 : after;
  }
  return out;
}

/* ---------------------------------------------------------------------- one run */

typedef struct {
  int nc, np;
  double *value, *gradient, *p;
} result;

static void result_free(result *r) {
  free(r->value);
  free(r->gradient);
  free(r->p);
}

/* false: the formulation refuses the model, or the run fails */
static bool run_text(const char *text, const char *base, const mbg_run_options *o, result *r) {
  mbg_context *ctx;
  mbg_model *model = NULL;
  mbg_run *run = NULL;
  *r = (result){0};
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  if (mbg_model_parse(ctx, "model.json", text, strlen(text), base, &model) < 0) {
    fail_msg("%s", mbg_context_error(ctx));
  }
  r->nc = mbg_model_criterion_count(model);
  r->np = mbg_model_parameter_count(model);
  r->value = calloc((size_t)r->nc + 1, sizeof(double));
  r->p = calloc((size_t)r->np + 1, sizeof(double));
  r->gradient = calloc((size_t)(r->nc * r->np) + 1, sizeof(double));
  for (int i = 0; i < r->np; i++) {
    r->p[i] = mbg_model_parameter_value(model, i);
  }
  const bool done = mbg_run_create(ctx, model, o, &run) == MBG_OK && mbg_run_simulate(ctx, run) == MBG_OK &&
                    mbg_run_criteria(ctx, run, r->value) == MBG_OK &&
                    mbg_run_gradient(ctx, run, MBG_METHOD_AUTO, r->gradient, NULL) == MBG_OK;
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return done;
}

/* ---------------------------------------------------------------------- comparison */

static double worst[8];
static int compared[8];

static void compare(const char *what, int f, const result *a, const result *b) {
  const char *key = mbg_formulation_key(f);
  const double tolerance = strcmp(key, "qr") == 0 ? 1e-6 : 1e-8;
  assert_true(a->nc == b->nc && a->np == b->np);
  for (int c = 0; c < a->nc; c++) {
    double scale = fmax(fabs(a->value[c]), 1e-3), off = fabs(a->value[c] - b->value[c]);
    for (int i = 0; i < a->np; i++) {
      const double x = a->gradient[c * a->np + i], y = b->gradient[c * a->np + i];
      const double size = fmax(fabs(a->p[i]), 1e-3);
      scale = fmax(scale, size * fabs(x));
      off = fmax(off, size * fabs(x - y));
    }
    worst[f] = fmax(worst[f], off / scale);
    if (!(off <= tolerance * scale)) {
      fail_msg("%s, %s: criterion %d differs by %.2e in another order (value %.12g and %.12g)", what, key, c,
               off / scale, a->value[c], b->value[c]);
    }
  }
  compared[f]++;
}

/* all formulations that run the model */
static void check_text(const char *what, const char *text, const char *base, double end, double step) {
  char *back = reverse_sections(text);
  for (int f = 0; f < mbg_formulation_count(); f++) {
    mbg_run_options o;
    result a, b;
    mbg_run_options_default(&o, sizeof(o));
    o.formulation = mbg_formulation_key(f);
    o.end = end;
    if (strcmp(o.formulation, "qr") == 0) {
      o.tolerance = 1e-9;
    } else {
      o.step = step;
    }
    const bool first = run_text(text, base, &o, &a), second = run_text(back, base, &o, &b);
    if (first != second) {
      fail_msg("%s, %s: the run %s in another order", what, o.formulation, second ? "succeeds" : "fails");
    }
    if (first) {
      compare(what, f, &a, &b);
    }
    result_free(&a);
    result_free(&b);
  }
  free(back);
}

/* "cut" becomes a key that is allowed everywhere, so that the order decides */
static void forget_hints(char *text) {
  for (char *p = text; (p = strstr(p, "\"cut\": true")) != NULL;) {
    memcpy(p, "\"note\": \"c\"", 11);
  }
}

static void test_gallery(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double end, step;
  } models[] = {{"five-bar", 0.2, 0.01},       {"quarter-car", 0.2, 0.005},
                {"four-bar", 0.1, 0.001},      {"four-bar-spatial", 0.05, 0.001},
                {"rssr", 0.1, 0.002},          {"bricard", 0.1, 0.005},
                {"andrews", 0.005, 1e-4},      {"two-body-spatial", 0.1, 0.005},
                {"spatial-chain", 0.1, 0.005}, {"four-bar-chain", 0.2, 0.01},
                {"slider-crank", 0.1, 0.005}};
  for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
    char path[600], base[500];
    snprintf(base, sizeof(base), "%s/gallery/%s", MBG_SOURCE_DIR, models[i].name);
    snprintf(path, sizeof(path), "%s/model.json", base);
    char *text = support_read_file(path, NULL);
    check_text(models[i].name, text, base, models[i].end, models[i].step);
    forget_hints(text);
    check_text(models[i].name, text, base, models[i].end, models[i].step);
    free(text);
  }
}

/* a chain in free flight: the base of its tree is not the first body of the file */
static void test_free_flight(void **state) {
  (void)state;
  static const char text[] =
      "{\"mbgrad\": 1, \"parameters\": {\"m\": 2, \"w\": 3}, \"gravity\": [0, 0, -9.81],"
      " \"bodies\": {\"a\": {\"mass\": \"m\", \"inertia\": [0.1, 0.2, 0.25], \"angular_velocity\": [\"w\", 1, 0]},"
      " \"b\": {\"mass\": 1, \"inertia\": [0.1, 0.2, 0.25], \"position\": [1, 0, 0], \"angular_velocity\": [\"w\", 1, "
      "2], "
      "\"velocity\": [0, 0, -1]},"
      " \"c\": {\"mass\": 1.5, \"inertia\": [0.1, 0.2, 0.25], \"position\": [1, 1, 0], \"angular_velocity\": [\"w\", "
      "1, 2]}},"
      " \"joints\": {\"j\": {\"type\": \"revolute\", \"between\": [\"a\", \"b\"], \"at\": [0.5, 0, 0], \"axis\": [0, "
      "0, 1]},"
      " \"k\": {\"type\": \"spherical\", \"between\": [\"b\", \"c\"], \"at\": [1, 0.5, 0]}},"
      " \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"c\", \"component\": \"x\"}},"
      " \"criteria\": {\"J\": {\"integral\": \"x^2\"}}}";
  check_text("chain in free flight", text, NULL, 0.5, 0.01);
}

/* trees on the ground, loops, planar and mixed ones */
static void test_random(void **state) {
  (void)state;
  const int rounds = support_rounds(24, 300);
  for (int k = 0; k < rounds; k++) {
    const uint64_t seed = (uint64_t)k + 1;
    const random_model_options o = {.kind = (random_kind)(k % RANDOM_KINDS), .forces = k % 2 == 0, .signals = true};
    char what[40], *text = random_model(seed, &o);
    snprintf(what, sizeof(what), "seed %d", k + 1);
    check_text(what, text, NULL, 0.05, 0.005);
    free(text);
  }
  for (int f = 0; f < mbg_formulation_count(); f++) {
    printf("  %-6s %3d models, largest difference %.1e\n", mbg_formulation_key(f), compared[f], worst[f]);
    assert_true(compared[f] > rounds / 4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gallery), cmocka_unit_test(test_free_flight),
                                     cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
