/* Models with states in every formulation, to the digits of theory 6, section 8: a crane with a controller and an
   actuator, a hydraulic cylinder on a slider-crank, a quarter car with a filter, an adaptive damper and a tyre; and a
   slider-crank whose friction follows the reaction, also from its equilibrium. Values of the discrete schemes, and of
   qr the limit. Direct, adjoint and complex twin agree. */
#include "property/gradient_case.h"

#include <stdio.h>

typedef struct {
  const char *model, *formulation;
  double step;
  int npsi;
  double psi[5];
  int of; /* criterion of the gradient, from 0 */
  double gradient[24];
} reference;

/* clang-format off */
static const reference cases[] = {
    {"crane", "qr", 0, 4, {7.408954777, 1.294384428, 3.080734302, -9.860869109}, 0,
     {0.2343503159, -0.1617313423, -2.158117070, 0.01374322758, 3.847106165e-3, -3.940612636e-3,
      -7.636255280e-3, 0.01400929893, -4.687201570, 5.100447599, -3.107669006e-3, 15.39723749,
      -7.330807880, -0.01869766034, -0.01850994634}},
    {"crane", "qr", 0, 4, {7.408954777, 1.294384428, 3.080734302, -9.860869109}, 1,
     {4.779954311e-3, -0.01082210211, 0.2037023731, -8.290621553e-3, 6.609184837e-3, 0.01456888556,
      -8.798837220e-3, 1.384723404e-3, -0.2518146207, 0.1676589122, -4.415360291e-5, 1.268698751,
      -0.1996682546, 0.2115014035, -3.428970134e-4}},
    {"crane", "qr", 0, 4, {7.408954777, 1.294384428, 3.080734302, -9.860869109}, 2,
     {-0.1523593573, 0.05975838356, -0.2671059773, -0.08962335395, 0.08202997123, 0.01279948510,
      6.277592461e-3, -0.02217466789, 23.45987554, -23.06243227, 0.01519071041, 4.236231160,
      -2.520669402, 0.8536776375, -0.05854692114}},
    {"crane", "qr", 0, 4, {7.408954777, 1.294384428, 3.080734302, -9.860869109}, 3,
     {-0.2708954807, -1.118292651, 1.755339803, 0.4034151403, -0.1450870464, -0.1173680914,
      0.06377256155, -0.05018006684, 34.37384232, 37.59004778, -7.530319525e-5, -9.607961472,
      7.349693474, -2.029337001, 7.954655618e-3}},
    {"crane", "lie", 0.02, 4, {7.411782314, 1.294499216, 3.130831962, -9.846123688}, 3,
     {-0.2703929481, -1.116784215, 1.753581030, 0.4006572691, -0.1444964793, -0.1173017662,
      0.06306544628, -0.05063547477, 35.75007011, 38.86642156, -9.689024789e-5, -9.594927034,
      7.334426263, -2.026784112, 7.831757413e-3}},
    {"crane", "dae", 0.02, 4, {7.412122125, 1.294518333, 3.140259519, -9.843936706}, 3,
     {-0.2680404795, -1.116948407, 1.754731096, 0.4001697348, -0.1443967007, -0.1172685497,
      0.06266397644, -0.05069287613, 36.00211491, 39.16543957, -1.106030238e-4, -9.591155004,
      7.329589378, -2.026062083, 7.787088520e-3}},
    {"crane", "dca", 0.02, 4, {7.408957267, 1.294384445, 3.080959743, -9.860840422}, 3,
     {-0.2708712499, -1.118290016, 1.755291080, 0.4034079710, -0.1450856243, -0.1173678025,
      0.06376782605, -0.05018080798, 34.37652711, 37.59324648, -7.542884886e-5, -9.607915426,
      7.349640503, -2.029327918, 7.954256743e-3}},
    {"crane", "ali3p", 0.02, 4, {7.411655034, 1.294489323, 3.129280162, -9.846785638}, 3,
     {-0.2703116380, -1.116851960, 1.752664782, 0.4007935604, -0.1445201176, -0.1173027537,
      0.06308167453, -0.05060993634, 35.66977901, 38.79431988, -9.590647725e-5, -9.595165425,
      7.335731480, -2.026819754, 7.841173504e-3}},
    {"cylinder", "qr", 0, 5, {0.7619544824, 0.3054626277, 0.5583940706, 5.862459985, 0.1891915952}, 0,
     {5.407351335, -6.198891617, -2.203285639e-3, -4.954831845e-3, -9.582446062e-6, -3.585977731e-4,
      -1.257794439, 149.3304783, -441.0138748, -7.424632174e-14, 2.785558708e5, 2.060430043e-8,
      1.056157960e8, -3.118426108, 0.5721847440, 1.603687520e-3, -1.815640318e-10, 0.1559739751}},
    {"cylinder", "qr", 0, 5, {0.7619544824, 0.3054626277, 0.5583940706, 5.862459985, 0.1891915952}, 1,
     {-0.4689095568, 0.5426098945, -1.632330919e-3, -2.367174019e-3, 1.994303963e-5, 3.644153264e-4,
      1.057519247, 14.29949270, 165.4966906, 1.288911879e-13, -2.269500089e5, -1.577817350e-8,
      1.576627483e8, -0.2800962404, -0.6061116592, -7.656679593e-4, 8.650838574e-11, -0.07281462901}},
    {"cylinder", "qr", 0, 5, {0.7619544824, 0.3054626277, 0.5583940706, 5.862459985, 0.1891915952}, 2,
     {-1.210290100, 1.107797204, 4.577421270e-3, 5.168393649e-3, -4.634113864e-5, -8.713075573e-4,
      -4.781388296, -333.9594630, -341.0369276, -7.644782672e-13, 8.471102021e5, 1.424343356e-7,
      3.824452366e7, -1.015135629, 1.831977517, 1.722370703e-3, -1.905771244e-10, 0.3129621762}},
    {"cylinder", "qr", 0, 5, {0.7619544824, 0.3054626277, 0.5583940706, 5.862459985, 0.1891915952}, 3,
     {97.50572241, -81.00606013, -0.1767600150, -0.3892753518, 3.458791835e-3, 0.06409174241,
      170.6343166, -1370.870754, 32088.67152, 1.161439898e-10, -3.829795721e7, -2.293316682e-6,
      2.538318738e10, -61.49220989, -102.9816485, -0.1343963514, 1.518466493e-8, -12.78102388}},
    {"cylinder", "qr", 0, 5, {0.7619544824, 0.3054626277, 0.5583940706, 5.862459985, 0.1891915952}, 4,
     {0.4938584378, -0.9923585438, 7.537455127e-4, 1.546214033e-4, 6.250510081e-5, 5.227412623e-5,
      -1.543122738, 15.78266887, -296.0919333, -5.623645115e-13, 3.360637002e5, 2.387826141e-8,
      -1.762652042e8, -0.7485841369, 0.8570377190, -1.794365954e-4, -3.265206141e-10, 0.1510928082}},
    {"cylinder", "lie", 0.001, 5, {0.7619172581, 0.3054680105, 0.5584185975, 5.863955018, 0.1892806204}, 3,
     {97.63860913, -81.10592305, -0.1767792227, -0.3892531566, 3.462118465e-3, 0.06416880116,
      170.8882475, -1378.814925, 32145.41510, 1.163098828e-10, -3.835171715e7, -2.296932492e-6,
      2.538931793e10, -61.53810383, -103.1080073, -0.1346334611, 1.514512515e-8, -12.80016461}},
    {"cylinder", "dae", 0.001, 5, {0.7619128001, 0.3054660632, 0.5584232960, 5.863799450, 0.1892940059}, 3,
     {97.62022178, -81.08852387, -0.1767104376, -0.3891026771, 3.461271251e-3, 0.06415492459,
      170.8560509, -1377.537883, 32137.80581, 1.162406632e-10, -3.834436616e7, -2.296399009e-6,
      2.538700688e10, -61.51348794, -103.0897616, -0.1345956139, 1.514398246e-8, -12.79786916}},
    {"cylinder", "dca", 0.0002, 5, {0.7619544822, 0.3054626278, 0.5583940716, 5.862461780, 0.1891916050}, 3,
     {97.50572576, -81.00607125, -0.1767601515, -0.3892754916, 3.458792325e-3, 0.06409174872,
      170.6343231, -1370.870134, 32088.67334, 1.161482255e-10, -3.829795725e7, -2.293316930e-6,
      2.538320549e10, -61.49225414, -102.9816544, -0.1343963827, 1.518469776e-8, -12.78102444}},
    {"cylinder", "ali3p", 0.001, 5, {0.7619207855, 0.3054707536, 0.5584122187, 5.864037164, 0.1892418789}, 3,
     {97.67332492, -81.13749040, -0.1769158709, -0.3895034100, 3.463625198e-3, 0.06419220100,
      170.9433413, -1378.665070, 32154.94610, 1.163399317e-10, -3.836475082e7, -2.297908706e-6,
      2.540051840e10, -61.54609758, -103.1438438, -0.1346685887, 1.517827425e-8, -12.80472837}},
    {"quarter-car", "qr", 0, 5, {0.4979104336, 0.1256237582, 8.647835502, -4.315492993, 0.1211274885}, 0,
     {-4.296163022e-4, 1.017065638e-3, -2.360267593e-5, 2.872531902e-6, 2.492954900e-6, 7.503952981e-5,
      7.092574014e-5, 4.478800437e-4, 0.5543311989, 0.7059377187, 0.06308979089, 3.865001514e-6,
      3.235044575e-10, -8.966650479e-6, 68.06484944, -1.280562024e-3, -1.075836750e-5, 1.670088089,
      2.761145916e-6, 5.770658641e-7, -0.02874254050}},
    {"quarter-car", "qr", 0, 5, {0.4979104336, 0.1256237582, 8.647835502, -4.315492993, 0.1211274885}, 1,
     {-5.905801022e-4, 2.386557100e-3, 4.837695877e-5, -8.454379492e-7, 1.000919665e-6, -1.544547136e-5,
      -1.531351058e-5, -1.990668760e-4, 0.01426265142, 0.01562561408, -1.417427741e-3, 8.759009268e-6,
      -9.298099256e-10, -4.469889735e-6, 19.59611947, 4.064134501e-3, 3.974161110e-5, 0.1619348585,
      -5.342669311e-6, -1.022670812e-6, 9.383585528e-3}},
    {"quarter-car", "qr", 0, 5, {0.4979104336, 0.1256237582, 8.647835502, -4.315492993, 0.1211274885}, 2,
     {8.972860259e-4, 8.980214814e-4, 0.01404760224, -7.062734082e-10, 1.467843040e-10, -1.384562366e-9,
      -1.408960398e-9, -5.740904910e-8, -2.196731529e-5, -2.819031294e-5, 3.862965558e-7, 1.083828172e-3,
      -1.755318109e-7, -6.047795513e-4, 2.698967282e-3, 0.5811648618, 5.790070911e-3, -4.780115945e-5,
      -1.008923244e-3, -4.973954379e-4, 3.082926710e-6}},
    {"quarter-car", "qr", 0, 5, {0.4979104336, 0.1256237582, 8.647835502, -4.315492993, 0.1211274885}, 3,
     {1.467037082e-3, 1.376880256e-3, 0.1664543619, 3.169879844e-7, -1.698915641e-8, -4.312710551e-6,
      -4.368727261e-6, -2.806123963e-4, -3.024236654e-3, -5.882399425e-3, 9.718393077e-4, 1.473846031e-3,
      1.071788914e-4, 0.6692521937, 0.4229343530, 2.228887468e-3, 1.763403191e-5, 0.1010360535,
      -9.286122947e-5, -9.971477114e-3, -2.498869326e-3}},
    {"quarter-car", "qr", 0, 5, {0.4979104336, 0.1256237582, 8.647835502, -4.315492993, 0.1211274885}, 4,
     {2.213072127e-3, 1.919108699e-3, -1.284896173e-5, 7.774403695e-7, 8.402891429e-7, -1.301335810e-4,
      2.126287361e-5, 0.08672626642, -6.723277642, -7.408237207, -2.322109990, 2.628780410e-8,
      2.786188704e-10, -4.950996179e-6, 18.51394690, -1.479615981e-3, -1.384381071e-5, 2.742533134,
      1.699401591e-6, 2.185885905e-7, -1.599659599}},
    {"quarter-car", "lie", 0.002, 5, {0.4976698539, 0.1252058790, 8.647003620, -4.313817714, 0.1214647606}, 3,
     {1.456585516e-3, 1.366690682e-3, 0.1672731580, 3.109003020e-7, -1.724192810e-8, -4.257971375e-6,
      -4.308058898e-6, -2.734614062e-4, -2.967055350e-3, -5.780004302e-3, 8.779823286e-4, 2.734649118e-3,
      1.071293147e-4, 0.6661607445, 0.4200419111, 2.598387291e-3, 1.914918818e-5, 0.1005791366,
      -9.393589501e-5, -9.963419550e-3, -2.559217104e-3}},
    {"quarter-car", "dae", 0.002, 5, {0.4974399859, 0.1250336110, 8.646839914, -4.313428717, 0.1214546609}, 3,
     {1.453382241e-3, 1.363464613e-3, 0.1672885220, 3.086310854e-7, -1.722914216e-8, -4.242906167e-6,
      -4.291731815e-6, -2.716747845e-4, -2.961360134e-3, -5.765980882e-3, 8.577515106e-4, 2.929354817e-3,
      1.071196301e-4, 0.6651565378, 0.4189851674, 2.708028553e-3, 1.964149698e-5, 0.1003998203,
      -9.416974294e-5, -9.961071160e-3, -2.572280974e-3}},
    {"quarter-car", "dca", 0.002, 5, {0.4979137822, 0.1256245107, 8.647835503, -4.315493014, 0.1211304517}, 3,
     {1.467037213e-3, 1.376876552e-3, 0.1664549429, 3.169882997e-7, -1.698961071e-8, -4.312688150e-6,
      -4.368696949e-6, -2.806059392e-4, -3.024258168e-3, -5.882372435e-3, 9.717173856e-4, 1.475221189e-3,
      1.071788754e-4, 0.6692520706, 0.4229279373, 2.228880928e-3, 1.762881799e-5, 0.1010361473,
      -9.286132748e-5, -9.971476904e-3, -2.498953650e-3}},
    {"quarter-car", "ali3p", 0.002, 5, {0.4977037266, 0.1257299971, 8.647834374, -4.315498866, 0.1214502490}, 3,
     {1.467019585e-3, 1.376446251e-3, 0.1666335944, 3.169518970e-7, -1.732814310e-8, -4.297905143e-6,
      -4.352080621e-6, -2.787154147e-4, -2.990004847e-3, -5.827622551e-3, 9.430132171e-4, 1.973774769e-3,
      1.071739428e-4, 0.6692145104, 0.4215232864, 2.221147782e-3, 1.586644877e-5, 0.1010817641,
      -9.283838359e-5, -9.971417838e-3, -2.520556585e-3}},
};
/* clang-format on */

static void open_model(gradient_case *c, char *path, const reference *r) {
  sprintf(path, "%s/tests/reference/states/%s.json", MBG_SOURCE_DIR, r->model);
  gradient_case_open(c, path, NULL);
  c->options.formulation = r->formulation;
  if (!strcmp(r->formulation, "qr")) {
    c->options.step = NAN;
    c->options.tolerance = 1e-11;
  } else {
    c->options.step = r->step;
  }
  if (!strcmp(r->formulation, "dca")) {
    c->options.integrator = "rk4";
  }
  if (strcmp(r->formulation, "lie") != 0) {
    c->options.rho_inf = NAN;
  }
}

static void near(const reference *r, const char *what, int i, double found, double expected, double size) {
  if (!(fabs(found - expected) <= 1e-8 * size)) {
    fail_msg("%s, %s: %s %d is %.12g, expected %.12g", r->model, r->formulation, what, i, found, expected);
  }
}

/* rk4 of the theory integrates criteria as states: its integrals are the criteria j1 and j3 of the crane */
static double value_of(const gradient_case *c, const reference *r, const double *psi, int i, bool *known) {
  char name[16];
  snprintf(name, sizeof name, "j%d", i + 1);
  const bool dca = !strcmp(r->formulation, "dca"), integral = c->m->criteria[i].kind == MBG__INTEGRAL;
  *known = !dca || !integral;
  for (int k = 0; dca && integral && k < c->nc; k++) {
    if (!strcmp(c->m->criteria[k].name, name)) {
      *known = true;
      return psi[k];
    }
  }
  return psi[i];
}

static void check_row(const gradient_case *c, const reference *r, const double *g) {
  double most = 0;
  for (int i = 0; i < c->np; i++) {
    most = fmax(most, fabs(c->p[i] * r->gradient[i]));
  }
  for (int i = 0; i < c->np; i++) {
    near(r, "derivative by parameter", i, g[r->of * c->np + i], r->gradient[i],
         fabs(r->gradient[i]) + most / fabs(c->p[i]));
  }
}

/* the first of n rows on the same run */
static void check_one(const reference *r, int n) {
  gradient_case c;
  char path[300];
  double psi[16];
  open_model(&c, path, r);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), r->model);
  for (int i = 0; i < r->npsi; i++) {
    bool known;
    const double x = value_of(&c, r, psi, i, &known);
    if (known) {
      near(r, "criterion", i + 1, x, r->psi[i], fabs(r->psi[i]));
    }
  }
  for (int method = strcmp(r->formulation, "qr") == 0; method < 2; method++) {
    double *g = gradient_case_gradient(&c, method ? MBG_METHOD_ADJOINT : MBG_METHOD_DIRECT);
    for (int k = 0; k < n; k++) {
      check_row(&c, &r[k], g);
    }
    free(g);
  }
  gradient_case_close(&c);
}

/* the quarter car filters the acceleration itself, or its velocity: the same numbers */
static void check_reference(const reference *r, int n) {
  reference again[5];
  check_one(r, n);
  for (int i = 0; i < n; i++) {
    again[i] = r[i];
    again[i].model = "quarter-car-acceleration";
  }
  if (!strcmp(r->model, "quarter-car")) {
    check_one(again, n);
  }
}

static void test_reference(void **state) {
  (void)state;
  for (int i = 0, n = 1; i < MBG_COUNT(cases); i += n) {
    for (n = 1; i + n < MBG_COUNT(cases) && !strcmp(cases[i].model, cases[i + n].model) &&
                !strcmp(cases[i].formulation, cases[i + n].formulation);
         n++) {
    }
    /* explicit steps for stiff states are many */
    if (strcmp(cases[i].formulation, "qr") != 0 || !strcmp(cases[i].model, "crane") || support_rounds(0, 1)) {
      check_reference(&cases[i], n);
    }
  }
}

/* direct, adjoint and twin, for a part of the run */
static void test_gradients(void **state) {
  static const char *const models[] = {"crane",    "cylinder", "quarter-car", "quarter-car-acceleration",
                                       "friction", "resting"};
  static const char *const formulations[] = {"lie", "dae", "dca", "ali3p"};
  static const double ends[] = {0.4, 0.02, 0.06, 0.06, 0.1, 0.05};
  (void)state;
  for (int i = 0; i < MBG_COUNT(models); i++) {
    for (int k = 0; k < MBG_COUNT(formulations); k++) {
      const reference r = {models[i], formulations[k], i == 0 ? 0.02 : 0.001, 0, {0}, 0, {0}};
      gradient_case c;
      char path[300], what[80];
      open_model(&c, path, &r);
      c.options.end = ends[i];
      if (!strcmp(r.formulation, "dca") && i == 1) {
        c.options.step = 2e-4;
      }
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      snprintf(what, sizeof what, "%s, %s", r.model, r.formulation);
      gradient_case_compare(&c, what, 1e-10, 1e-9);
      gradient_case_close(&c);
    }
  }
}

/* criteria of a model at one step */
static void values(const char *model, const char *formulation, double step, double *psi, int *n) {
  const reference r = {model, formulation, step, 0, {0}, 0, {0}};
  gradient_case c;
  char path[300];
  open_model(&c, path, &r);
  c.options.end = 0.5;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), model);
  *n = c.nc;
  gradient_case_close(&c);
}

/* errors fall by four when the step is halved, with rk4 by sixteen */
static void test_order(void **state) {
  static const char *const formulations[] = {"lie", "dae", "ali3p", "dca"};
  (void)state;
  for (int k = 0; k < MBG_COUNT(formulations); k++) {
    double psi[3][16];
    int n = 0;
    for (int i = 0; i < 3; i++) {
      values("crane", formulations[k], 0.005 / (1 << i), psi[i], &n);
    }
    const int last = n - 3; /* psi4: the state F at the end */
    const double order = log2(fabs((psi[0][last] - psi[1][last]) / (psi[1][last] - psi[2][last])));
    if (!(fabs(order - (k < 3 ? 2 : 4)) < (k < 3 ? 0.03 : 0.2))) {
      fail_msg("%s: a state converges with order %.3f", formulations[k], order);
    }
  }
}

/* frames, multipliers and steady states together: an integrator decides where the crane stands, given states stay */
static void test_equilibrium(void **state) {
  static const char *const models[] = {"crane-equilibrium", "cylinder-equilibrium", "gate-equilibrium"};
  (void)state;
  for (int i = 0; i < MBG_COUNT(models); i++) {
    const reference r = {models[i], "lie", i == 1 ? 0.001 : 0.02, 0, {0}, 0, {0}};
    gradient_case c;
    char path[300];
    double psi[16];
    open_model(&c, path, &r);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_compare(&c, r.model, 1e-10, 1e-9);
    c.options.end = c.options.step = 1e-6;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), r.model);
    if (i == 1) {
      near(&r, "criterion", 1, psi[0], 1.853178601, 1);
      near(&r, "criterion", 2, psi[1], 6.05, 6.05);
    }
    if (i == 2) { /* dV/dphi = u = kp (0.8 - phi), V of gas spring and weights, solved with 30 digits */
      near(&r, "criterion", 1, psi[0], 1.234414315182988, 1);
      near(&r, "criterion", 2, psi[1], 60 * (0.8 - 1.234414315182988), 60);
    }
    gradient_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reference),
      cmocka_unit_test(test_gradients),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_equilibrium),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
