/* Couplings and rolling in every formulation, to the digits of theory 8, sections 2 and 6. Values of the discrete
   schemes, and of qr the limit. Direct, adjoint and complex twin agree. */
#include "reference/scheme_case.h"

/* clang-format off */
static const reference cases[] = {
    {"coupling", "lie", {1.6986014821, .055666707027}, {{163.02267829, 20.133809124, 2.8029682011, -14.223813407}, NO}},
    {"coupling", "qr", {1.6984180124, .055658580894}, {{163.02932375, 20.131673165, 2.8028679562, -14.223900444}, NO}},
    {"sleigh", "lie", {.99044342748, .79556047839, .19595481502},
     {{.036295585395, -.4839411386, .81110543503, 1.7845882771, -.076800947415},
      {-.095024168249, 1.26698891, .59623774067, .47318496637, .75387808591},
      {.039445351873, 2.086792842, -1.2517054827, .28276684451, .38021823502}}},
    {"sleigh", "ali3p", {.99044585751, .79555853553, .19595461191},
     {{.036295588717, -.4839411829, .81110967121, 1.784590622, -.076795972936}, NO, NO}},
    {"sleigh", "dca", {.99043454669, .79553920778, NAN},
     {{.036288014176, -.48384018902, .81106048129, 1.784536918, -.076799712068}, NO, NO}},
    {"sleigh", "qr", {.99043454629, .79553920602, .19594459922},
     {{.036288013442, -.48384017923, .81106048167, 1.7845369111, -.076799710933},
      {-.095034034568, 1.2671204609, .59613233478, .47312673462, .75381374913},
      {.039438057676, 2.0867538873, -1.2516237098, .28270029042, .38020317964}}},
    {"wheel", "lie", {1.6420392348, .8843111092, .070026183328, 7.2749040118},
     {{-.20483842239, 6.3568152764, -.33744869703, 9.3891007026},
      {.26136852328, 2.5223878878, .0045378458716, -1.5375391545},
      {-.0011095990189, .49970076349, -.00050052379798, .54950427422},
      {16.109889486, 40.169031285, .46378110816, -35.652404459}}},
    {"wheel-velocity", "lie", {1.6420390469, .88431076651, .070026188027, 7.2747851088}, {NO, NO, NO, NO}},
    {"wheel-profile", "lie", {1.6420392348, .8843111092, .070026183328, 7.2749040118},
     {{-.20483842239, 6.3568152764, -.33744869703, 9.3891007026},
      {.26136852328, 2.5223878878, .0045378458716, -1.5375391545},
      {-.0011095990189, .49970076349, -.00050052379798, .54950427422},
      {16.109889486, 40.169031285, .46378110816, -35.652404459}}},
    {"wheel", "ali3p", {1.6420450125, .88432217701, .07002609254, 7.2616334501},
     {{-.20476800438, 6.356695702, -.33739086069, 9.3877875668},
      {.26135029793, 2.5223352105, .0045257387879, -1.5373037088},
      {-.0011094776952, .49970007271, -.00050022252168, .5495019683},
      {16.083396056, 40.079517385, .47022929026, -35.610987499}}},
    {"wheel", "qr", {1.6429107909, .88595490712, .070025648753, 7.2617043801},
     {{-.20520240968, 6.3614807133, -.33800272084, 9.3978749427},
      {.26162814622, 2.5270695395, .0039686020944, -1.5347425377},
      {-.0011078424053, .49969993397, -.00049829866254, .54947512867},
      {16.082263758, 40.082094825, .46877181774, -35.584662755}}},
    {"drive", "lie", {.31275529997, .88273073118}, {{.082145376472, 22.052950966, 3.8557835148, -9.3810117079}, NO}},
    {"drive", "qr", {.31231833802, .88293914431}, {{.08228239503, 22.083400148, 3.8715011827, -9.3941685188}, NO}},
    {"tendons", "lie", {-.9199009252, 141.95986206, .24929745775},
     {{.06840307715, -.069437757006, -.38090245785, -.16033896767, -.00065778142168},
      {110.83848986, 140.99718329, -238.93990629, -96.091416354, .82287828592},
      {-.11020640542, .15945557641, -.20617803388, -.066177010281, -.00055486788598}}},
    {"tendons", "ali3p", {-.91990631913, 141.95857896, .24929644805},
     {{.068399246623, -.069440423661, -.38093382595, -.16033060063, -.00065767287207},
      {110.8461428, 140.98622476, -238.92993, -96.100741108, .82282389181}, NO}},
    /* integrals of the page by the trapezoidal rule, of dca to the order of its steps */
    {"tendons", "dca", {-.91999231884, NAN, NAN},
     {{.068327971066, -.069458857457, -.38145590657, -.16019514572, -.00065621624474}, NO, NO}},
    {"tendons", "qr", {-.91999238828, 141.95679639, .24928201625},
     {{.068327913121, -.069458818868, -.38145528794, -.16019450458, -.00065621631694},
      {110.84724984, 140.93996522, -239.1112237, -96.276687791, .82394902461},
      {-.1103126223, .15954956982, -.20614690667, -.066060668867, -.00055362357166}}},
};
/* clang-format on */

static void test_reference(void **state) {
  (void)state;
  check_references(cases, MBG_COUNT(cases));
}

/* four parts of the rope carry the load: constant acceleration (4 w - m) g/(m + 16 w), which every method meets */
static void test_tackle(void **state) {
  static const char *const formulations[] = {"lie", "dae", "dca", "ali3p", "qr"};
  const double m = 40, w = 12, g = 9.81, T = 1.5, M = m + 16 * w, a = g * (4 * w - m) / M;
  const double a_m = -(g + a) / M, a_w = (4 * g - 16 * a) / M;
  (void)state;
  for (int k = 0; k < MBG_COUNT(formulations); k++) {
    gradient_case c;
    double psi[PSI];
    gradient_case_open(&c, MBG_SOURCE_DIR "/gallery/block-and-tackle/model.json", NULL);
    c.options.formulation = formulations[k];
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), formulations[k]);
    assert_close(psi[0], a * T * T / 2, 1e-10);
    assert_close(psi[1], a * a * T * T / 2, 1e-10);
    assert_close(psi[2], w * (g - 4 * a) * T, 1e-8);
    double *d = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
    assert_close(d[0], a_m * T * T / 2, 1e-9);
    assert_close(d[1], a_w * T * T / 2, 1e-9);
    assert_close(d[2], 0, 1e-8); /* the radius of the sheaves */
    free(d);
    gradient_case_close(&c);
  }
}

/* direct, adjoint and twin, for a part of the run */
static void test_gradients(void **state) {
  static const char *const models[] = {"coupling", "sleigh",  "wheel",   "wheel-velocity", "drive",
                                       "ball",     "tendons", "pulleys", "hills"};
  (void)state;
  check_gradients(models, MBG_COUNT(models));
}

/* rates of wheels that named couplings join to one that turns with 6 rad/s, which nothing accelerates */
static void test_named(void **state) {
  static const double expected[] = {-3, -1, 1.5, 2, 2, 4, -0.6};
  static const char *const keys[] = {"lie", "dae", "ali3p", "dca", "qr"};
  (void)state;
  for (int k = 0; k < MBG_COUNT(keys); k++) {
    gradient_case c;
    char path[300];
    open_model(&c, path, "named", keys[k]);
    c.options.all_signals = 1;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    const int last = mbg_run_node_count(c.run) - 1;
    for (int i = 0; i < MBG_COUNT(expected); i++) {
      assert_close(mbg_run_signal(c.run, 0, i), expected[i], 1e-12);
      assert_close(mbg_run_signal(c.run, last, i), expected[i], 1e-10);
    }
    gradient_case_close(&c);
  }
}

static void test_order(void **state) {
  (void)state;
  check_order("sleigh", 3);
  check_order("wheel", 4);
  check_order("tendons", 3);
}

/* the centre of a solid ball on a turning table goes round with 2/7 of the table's rate: after one round it is back */
static void test_ball(void **state) {
  gradient_case c;
  char path[300];
  double psi[PSI];
  (void)state;
  open_model(&c, path, "ball", "qr");
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "ball");
  assert_close(psi[0], 0.3, 1e-10);
  assert_close(psi[1], 0, 1e-10);
  assert_close(psi[2], 0.4 * 9.81 * 2 * M_PI, 1e-9);
  gradient_case_close(&c);
}

/* wheel and ball on profiles keep their energy: 1e-9 of error control at 1e-12 over a second */
static void test_hills(void **state) {
  gradient_case c;
  char path[300];
  (void)state;
  open_model(&c, path, "hills", "qr");
  c.options.all_signals = 1;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  const int last = mbg_run_node_count(c.run) - 1;
  for (int i = 0; i < c.m->nsignal; i++) {
    if (c.m->signals[i].name && !strcmp(c.m->signals[i].name, "E")) {
      assert_close(mbg_run_signal(c.run, last, i), mbg_run_signal(c.run, 0, i), 1e-9);
    }
  }
  gradient_case_close(&c);
}

int main(void) {
  folder = "curves";
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_tackle),
                                     cmocka_unit_test(test_gradients), cmocka_unit_test(test_named),
                                     cmocka_unit_test(test_ball),      cmocka_unit_test(test_hills),
                                     cmocka_unit_test(test_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
