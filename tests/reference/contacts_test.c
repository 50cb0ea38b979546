/* Joints on curves and surfaces in every formulation, to the digits of theory 8, section 8. Values of the discrete
   schemes, and of qr the limit; integrals of
   dca are those of its stages, not the sums over nodes of the page. Direct, adjoint and complex twin agree. */
#include "reference/scheme_case.h"

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

static void test_reference(void **state) {
  (void)state;
  check_references(cases, MBG_COUNT(cases));
}

/* direct, adjoint and twin, for a part of the run */
static void test_gradients(void **state) {
  static const char *const models[] = {"cam", "spline-cam", "ellipses", "flat", "wire", "slot", "bowl", "signals"};
  (void)state;
  check_gradients(models, MBG_COUNT(models));
}

static double signal_at(const gradient_case *c, int node, const char *name) {
  for (int i = 0; i < c->m->nsignal; i++) {
    if (c->m->signals[i].name && !strcmp(c->m->signals[i].name, name)) {
      return mbg_run_signal(c->run, node, i);
    }
  }
  fail_msg("no signal '%s'", name);
  return NAN;
}

/* What signals of contacts must be: points lie on the roller, circles and helices have known lengths and curvatures,
   closed curves their first period. Rounding, of arc lengths that of the sums. */
static void test_signals(void **state) {
  const double R = 0.2, rise = 0.05, slope = sqrt(R * R + rise * rise);
  gradient_case c;
  char path[300];
  (void)state;
  open_model(&c, path, "signals", "lie");
  c.options.all_signals = 1;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  for (int n = 0; n < mbg_run_node_count(c.run); n++) {
    const double x = signal_at(&c, n, "roll_x") - signal_at(&c, n, "roller_x");
    const double y = signal_at(&c, n, "roll_y") - signal_at(&c, n, "roller_y");
    assert_close(hypot(x, y), 0.01, 1e-12);
    assert_close(signal_at(&c, n, "wire_arc"), slope * signal_at(&c, n, "wire_s"), 1e-12);
    assert_close(signal_at(&c, n, "wire_k"), R / (slope * slope), 1e-12);
    assert_close(signal_at(&c, n, "wire_z"), signal_at(&c, n, "bead_z"), 1e-10);
    assert_close(signal_at(&c, n, "ring_arc"), R * signal_at(&c, n, "ring_s"), 1e-12);
    assert_close(signal_at(&c, n, "ring_k"), 1 / R, 1e-12);
    assert_true(signal_at(&c, n, "ring_s") >= 0 && signal_at(&c, n, "ring_s") < 2 * M_PI);
    assert_true(signal_at(&c, n, "shoe_s") >= 0 && signal_at(&c, n, "shoe_s") < 6);
  }
  gradient_case_close(&c);
}

/* the lift of gallery/valve-train when its roller stands on the tip of the lobe: the linkage in closed form */
static void test_valve_train(void **state) {
  gradient_case c;
  char path[300];
  (void)state;
  sprintf(path, "%s/gallery/valve-train/model.json", MBG_SOURCE_DIR);
  gradient_case_open(&c, path, NULL);
  c.options.all_signals = 1;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_close(signal_at(&c, 180, "lift"), 9.881801929136, 1e-9);
  gradient_case_close(&c);
}

static void test_order(void **state) {
  (void)state;
  check_order("cam", 3);
}

int main(void) {
  folder = "contacts";
  spline = "spline-cam";
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_reference),
                                     cmocka_unit_test(test_gradients), cmocka_unit_test(test_signals),
                                     cmocka_unit_test(test_valve_train)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
