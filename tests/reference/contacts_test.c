/* Joints on curves and surfaces in every formulation, to the digits of theory 8, section 8. Values of the discrete
   schemes, and of qr the limit; integrals of
   dca are those of its stages, not the sums over nodes of the page. Direct, adjoint and complex twin agree. */
#include "property/gradient_case.h"

#include <stdio.h>

enum { PSI = 4, PARAMETERS = 6 };

/* Criteria and gradients; nan: not known. */
typedef struct {
  const char *model, *formulation;
  double psi[PSI];
  double gradient[PSI][PARAMETERS];
} reference;

#define NO                                                                                                             \
  { NAN }

/* clang-format off */
static const reference cases[] = {
    {"cam", "lie", {-21.742827176, 283.09761856, .01820021466},
     {{-4788.32126, -14344.476274, -14066.700243, -4759.2047914, -.14716509466, -27.383900144},
      {17911.881845, 255.22919656, -10695.72464, 18481.278153, .53930593104, 190.12626474},
      {.40277159788, .045237020198, -.17102188412, .41420283116, 1.4262986241e-7, 1.6403265193e-4}}},
    {"cam", "ali3p", {-21.746535532, 283.09561577, .018200212159},
     {{-4788.8633408, -14346.196301, -14069.558568, -4759.7478609, -.14718148276, -27.394171277}, NO, NO}},
    {"cam", "dca", {-21.776056226, NAN, NAN},
     {{-4790.1377745, -14349.985096, -14076.805737, -4760.9550758, -.14722107358, -27.411349473}, NO, NO}},
    {"cam", "qr", {-21.776070152, 283.10318429, .01820051267},
     {{-4790.1383986, -14349.985558, -14076.812562, -4760.9555595, -.14722109339, -27.411351178},
      {17911.346949, 254.53533827, -10705.993228, 18480.751245, .53930512306, 190.07817632},
      {.40271239886, .045119427009, -.17122452713, .41414835623, 1.4088815018e-7, 1.6390061893e-4}}},
    {"spline-cam", "lie", {-21.723031777, 283.08735632, .018199872966}, {{-1729.0492173, 6160.0574251}, NO, NO}},
    {"spline-cam", "qr", {-21.75618312, 283.09272785, .0182001699}, {{-1732.8197100, 6166.3988882}, NO, NO}},
    {"ellipses", "lie", {.89297063662, .44504645245, 74.877866125},
     {{.23214419406, .41472342945, .5267711669, -.1904393063}, NO,
      {89.270639039, -106.62160336, 77.904048083, -59.481790754}}},
    {"ellipses", "qr", {.89298134174, .44505052558, 74.87145674},
     {{.23214836406, .41472505939, .52701622096, -.19059362721}, NO,
      {89.263414646, -106.61154984, 77.696370978, -59.268192798}}},
};
/* clang-format on */

static void open_model(gradient_case *c, char *path, const char *model, const char *formulation) {
  sprintf(path, "%s/tests/reference/contacts/%s.json", MBG_SOURCE_DIR, model);
  gradient_case_open(c, path, NULL);
  c->options.formulation = formulation;
  c->options.step = c->m->run.step;
  if (!strcmp(formulation, "qr")) {
    c->options.step = NAN;
    c->options.tolerance = 1e-12;
  }
  if (!strcmp(formulation, "dca")) {
    c->options.integrator = "rk4";
  }
}

static void near(const reference *r, const char *what, int k, int i, double found, double expected, double size) {
  if (!isnan(expected) && !(fabs(found - expected) <= 2e-9 * size)) {
    fail_msg("%s, %s: %s %d %d is %.12g, expected %.12g", r->model, r->formulation, what, k, i, found, expected);
  }
}

static void check_row(const gradient_case *c, const reference *r, int k, const double *g) {
  double most = 0;
  for (int i = 0; i < c->np; i++) {
    most = fmax(most, fabs(c->p[i] * r->gradient[k][i]));
  }
  for (int i = 0; i < c->np && !isnan(r->gradient[k][0]); i++) {
    near(r, "derivative", k, i, g[k * c->np + i], r->gradient[k][i], fabs(r->gradient[k][i]) + most / fabs(c->p[i]));
  }
}

static void test_reference(void **state) {
  (void)state;
  for (int n = 0; n < MBG_COUNT(cases); n++) {
    const reference *r = &cases[n];
    gradient_case c;
    char path[300];
    double psi[PSI];
    open_model(&c, path, r->model, r->formulation);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    assert_true(c.nc <= PSI && c.np <= PARAMETERS);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), r->model);
    for (int k = 0; k < c.nc; k++) {
      near(r, "criterion", k, 0, psi[k], r->psi[k], fabs(r->psi[k]));
    }
    for (int method = strcmp(r->formulation, "qr") == 0; method < 2; method++) {
      double *g = gradient_case_gradient(&c, method ? MBG_METHOD_ADJOINT : MBG_METHOD_DIRECT);
      for (int k = 0; k < c.nc; k++) {
        check_row(&c, r, k, g);
      }
      free(g);
    }
    gradient_case_close(&c);
  }
}

/* direct, adjoint and twin, for a part of the run */
static void test_gradients(void **state) {
  static const char *const models[] = {"cam", "spline-cam", "ellipses", "flat", "wire", "slot", "bowl"};
  static const char *const formulations[] = {"lie", "dae", "dca", "ali3p"};
  (void)state;
  for (int i = 0; i < MBG_COUNT(models); i++) {
    for (int k = 0; k < MBG_COUNT(formulations); k++) {
      gradient_case c;
      char path[300], what[80];
      open_model(&c, path, models[i], formulations[k]);
      c.options.end = 20 * c.m->run.step;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      snprintf(what, sizeof what, "%s, %s", models[i], formulations[k]);
      gradient_case_compare(&c, what, 1e-10, 1e-9);
      gradient_case_close(&c);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_gradients)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
