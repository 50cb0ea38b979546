/* Reference Hessians of theory 9, section 10: exact for the steps made, in five formulations. */
#include "mbgrad/hessian.h"
#include "reference/reference_case.h"

enum { MOST = 9 };

/* Upper rows of H by the parameters of `index` (n of them). */
typedef struct {
  const char *model, *criterion, *formulation;
  const char *integrator;
  double step, tolerance;
  int n, index[MOST];
  double tol;                      /* largest |p_i p_j dH_ij| / max |p_i p_j H_ij|, theory 9, section 11 */
  double H[MOST * (MOST + 1) / 2]; /* NAN: not on the page */
} hessian_case;

/* tolerance 1e-10 of the page; limits by the digits that a tolerance of 1e-12 leaves; the largest entries of R6 have 12
   digits, of which its small ones have fewer */
static const hessian_case cases[] = {
    {"five-bar",
     "psi",
     "lie",
     NULL,
     0.01,
     NAN,
     4,
     {0, 1, 2, 3},
     1e-10,
     {19.8622719985, -3.906529840912, -.01298348441052, .009423229269893, 12.19512090635, -.009558308918547,
      -.01047543092065, -8.70208472684e-6, 5.222975194812e-5, -7.159048301525e-4}},
    {"five-bar",
     "psi",
     "ali3p",
     NULL,
     0.01,
     NAN,
     4,
     {0, 1, 2, 3},
     1e-10,
     {19.8625401661, -3.9079338386, -.0129863622768, .0094463580944, 12.1966071527, -.00956358497705, -.0105359845959,
      -8.71014432055e-6, 5.22675830373e-5, -7.1565534899e-4}},
    {"five-bar",
     "psi",
     "qr",
     NULL,
     NAN,
     1e-12,
     4,
     {0, 1, 2, 3},
     1e-10,
     {19.86220514664, -3.898500620639, -.01299969248512, .009735095120898, 12.21953122663, -.009575150999716,
      -.01099056143185, -8.673075543768e-6, 5.234801153899e-5, -7.128495226038e-4}},
    {"five-bar",
     "psi",
     "dca",
     "dop853",
     NAN,
     1e-12,
     4,
     {0, 1, 2, 3},
     1e-10,
     {19.86220514664, -3.898500620639, -.01299969248512, .009735095120898, 12.21953122663, -.009575150999716,
      -.01099056143185, -8.673075543768e-6, 5.234801153899e-5, -7.128495226038e-4}},
    {"quarter-car",
     "psi0",
     "lie",
     NULL,
     0.005,
     NAN,
     4,
     {0, 1, 2, 3},
     1e-10,
     {1.562136368403e-8, -5.036803150121e-9, -1.976160430556e-6, -.001699703924582, 3.167750090067e-8,
      -7.144571849658e-7, -.001084438467248, 2.830317132159e-4, .230266972482, 233.9923734196}},
    {"quarter-car",
     "psiL",
     "lie",
     NULL,
     0.005,
     NAN,
     4,
     {0, 1, 2, 3},
     1e-10,
     {1.601237733539e-8, 5.713173177556e-9, -2.477742554302e-6, 2.606206753252e-4, 3.156684725188e-9,
      -6.585498615638e-7, -7.038263389422e-4, 5.923421732874e-4, -.1871693663626, 254.2631771591}},
    {"quarter-car",
     "F1",
     "lie",
     NULL,
     0.005,
     NAN,
     4,
     {0, 1, 2, 3},
     1e-9,
     {5.137944495e-7, -6.872662651e-6, 1.751316273e-5, .02139756678, 7.024346811e-6, 7.777017990e-4, .6835446879,
      -.01211644868, -14.74417897, -11911.74922}},
    {"overhead-crane",
     "J",
     "dae",
     NULL,
     0.05,
     NAN,
     9,
     {0, 1, 2, 3, 4, 5, 6, 7, 8},
     1e-10,
     {.574890454187,   -.8499795293664, .117349414823,   .2995226032388,  -.354996293087,    -1.03507661091,
      -.9626384827438, -.2225886300532, .1535773970329,  -.6400470421511, .3448609986812,    .5218107940511,
      .3257182837002,  .1948169451547,  .09266341479903, .01778498261774, -.004190995947565, .1008513349274,
      .1699362876826,  .137298009437,   .1243438997467,  .09919960751153, .05221672936788,   .01098002596773,
      .3007602068886,  .2542353557918,  .2126837909048,  .1546236615684,  .08707133332576,   .02445840635822,
      .2278780810305,  .1809352882638,  .1189028614973,  .07218475484492, .02617361280958,   .1681867032286,
      .1344869492721,  .07793947177569, .02214388899023, .1334608489427,  .07821361262233,   .0181423072426,
      .05675515353708, .01978912193747, .01111398278425}},
    {"double-pendulum-spring",
     "J",
     "dae",
     NULL,
     0.02,
     NAN,
     6,
     {0, 1, 2, 3, 4, 5},
     1e-10,
     {.03560112565601, -.2069179029627, -.9156293284625, 1.502648633652,  1.32337578808,   -.08738254773536,
      2.204100958923,  2.965808092889,  -9.245102743195, -1.977377465056, -.3658875356204, 24.36425261297,
      -22.72132620629, -26.72360678067, 2.149752869794,  33.37397401611,  20.19243133067,  -1.0086741199,
      23.06290767085,  -.6692424294146, .2703887695046}},
    {"two-arm",
     "tip_y",
     "dca",
     "rk4",
     0.002,
     NAN,
     4,
     {0, 7, 9, 2},
     1e-10,
     {-.2124863370236, -.05006954797384, -.3138454257638, 5.1724483934e-6, -.7144873295059, -.449282852454,
      -1.6105895827e-8, -.3372198697442, 1.43480904035e-6, -5.7496063616e-9}}};

/* Limits of the page, by integration under tolerances of 1e-12: 1e-9, a hundred times that, and ten for derivatives; R6
   has ten digits. */
#define NONE NAN
static const hessian_case limits[] = {
    {"quarter-car",
     "psi0",
     "qr",
     NULL,
     NAN,
     1e-12,
     4,
     {0, 1, 2, 3},
     1e-9,
     {1.560637848483e-8, -5.061430124201e-9, -1.975696563712e-6, -.001697759356079, 3.198055383222e-8,
      -7.084130661366e-7, -.001083183599339, 2.82590561932e-4, .2301051368196, 233.7424861856}},
    {"overhead-crane",
     "J",
     "qr",
     NULL,
     NAN,
     1e-12,
     9,
     {0, 1, 2, 3, 4, 5, 6, 7, 8},
     1e-9,
     {1.082878512909, -.848871849632, .1039892796607, NONE,           NONE,
      NONE,           NONE,           NONE,           .1552058172327, -.6404383731231,
      .3449655960025, NONE,           NONE,           NONE,           NONE,
      NONE,           NONE,           .1012517783944, NONE,           NONE,
      NONE,           NONE,           NONE,           NONE,           NONE,
      NONE,           NONE,           NONE,           NONE,           NONE,
      NONE,           NONE,           NONE,           NONE,           NONE,
      .1680162284272, NONE,           NONE,           NONE,           NONE,
      NONE,           NONE,           NONE,           NONE,           .0111163020855}},
    {"double-pendulum-spring",
     "J",
     "dca",
     "dop853",
     NAN,
     1e-12,
     6,
     {0, 1, 2, 3, 4, 5},
     1e-9,
     {.03511370959453, -.2168052336246, -.9005308613216, 1.527385707805, 1.388223773933,  -.08926774390889,
      2.290420969332,  3.110026885458,  -9.472691354141, -2.27868724837, -.3566129198249, 24.04065558198,
      -23.01946760134, -27.76507164818, 2.149164109044,  33.1201669684,  22.26656651002,  -1.162159621245,
      25.42717472922,  -.7299474062213, .2511844216341}},
    {"two-arm",
     "tip_y",
     "dca",
     "rk4",
     0.000125,
     NAN,
     4,
     {0, 7, 9, 2},
     1e-9,
     {-.2125193050, -.0500699096, -.3138465382, 5.208825e-6, -.7144878681, -.4492835365, -1.56846e-8, -.3372189654,
      1.4360405e-6, -5.78887e-9}}};

static void compare(const hessian_case *q, const double *p, int np, const double *H) {
  double off = 0, size = 0;
  for (int i = 0, e = 0; i < q->n; i++) {
    for (int j = i; j < q->n; j++, e++) {
      const int a = q->index[i], b = q->index[j];
      const double scale = fabs(p[a] * p[b]), x = H[(size_t)a * (size_t)np + (size_t)b];
      if (!isnan(q->H[e])) {
        off = isnan(x) ? INFINITY : fmax(off, scale * fabs(x - q->H[e]));
        size = fmax(size, scale * fabs(q->H[e]));
      }
    }
  }
  if (!(off <= q->tol * size)) {
    fail_msg("%s, %s by %s: off by %.2e", q->model, q->criterion, q->formulation, off / size);
  }
}

static void run_of(const hessian_case *q, gradient_case *c) {
  c->options.formulation = q->formulation;
  c->options.integrator = q->integrator;
  c->options.step = q->step;
  c->options.tolerance = q->tolerance;
  c->options.all_signals = 0;
  gradient_case_run(c);
  gradient_case_simulate(c);
}

/* the page's digits; both halves agree (section 11, item 2), and the gradient is that of the run (item 3) */
static void check(const hessian_case *q, gradient_case *c) {
  run_of(q, c);
  const size_t np = (size_t)c->np;
  double *weights = calloc((size_t)c->nc, sizeof *weights), *H = calloc(np * np, sizeof *H);
  double *g = calloc(2 * np, sizeof *g), *d = calloc(2 * np, sizeof *d), asymmetry = NAN;
  weights[reference_criterion(c, q->criterion)] = 1;
  gradient_case_check(c, mbg_run_hessian(c->ctx, c->run, weights, H, &asymmetry), "hessian");
  compare(q, c->p, c->np, H);
  if (!(asymmetry <= 1e-12)) {
    fail_msg("%s by %s: asymmetry %.2e", q->model, q->formulation, asymmetry);
  }
  d[0] = 1;
  gradient_case_check(c, mbg_run_gradient_sum(c->ctx, c->run, MBG_METHOD_ADJOINT, weights, g), "gradient");
  gradient_case_check(c, mbg_run_hessian_vector(c->ctx, c->run, weights, d, g + np, d + np), "product");
  assert_true(gradient_difference(c->np, c->p, g + np, g, 0) <= 1e-12);
  free(weights);
  free(H);
  free(g);
  free(d);
}

static void test_page(void **state) {
  (void)state;
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    gradient_case c;
    char *text = reference_open(&c, cases[i].model, NULL, NULL);
    check(&cases[i], &c);
    reference_close(&c, text);
  }
}

/* the last one, 4000 steps, in the long form alone */
static void test_limits(void **state) {
  (void)state;
  for (int i = 0; i < support_rounds(MBG_COUNT(limits) - 1, MBG_COUNT(limits)); i++) {
    gradient_case c;
    char *text = reference_open(&c, limits[i].model, NULL, NULL);
    check(&limits[i], &c);
    reference_close(&c, text);
  }
}

/* R2 with the penalty of the paper in the projections */
static void test_penalty(void **state) {
  (void)state;
  static const hessian_case soft = {"five-bar",
                                    "psi",
                                    "ali3p",
                                    NULL,
                                    0.01,
                                    NAN,
                                    4,
                                    {0, 1, 2, 3},
                                    1e-10,
                                    {19.8625402104, -3.9079336987, -.0129863625433, .0094463594567, 12.1966071602,
                                     -.0095635845789, -.0105359863174, -8.71014432595e-6, 5.22675823341e-5,
                                     -7.1565533628e-4}};
  gradient_case c;
  char *text =
      reference_insert(support_read_file(MBG_GALLERY_DIR "/five-bar/model.json", NULL), "run", "\"kappa\": 1e4, ");
  gradient_case_open(&c, NULL, text);
  check(&soft, &c);
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- tendons */

/* A tackle of four parts: the load rises with a = g (4 w - m)/(16 w + m), by lift = a t^2/2 at t = 0.5: derivatives by
   m and w in closed form. 1e-11: parabolas are exact for these steps. */
static void test_tendon(void **state) {
  (void)state;
  static const char *const keys[] = {"lie", "dae", "ali3p", "dca", "qr"};
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    gradient_case c;
    double weights[3] = {0}, H[9], asymmetry;
    char *text = reference_open(&c, "block-and-tackle", NULL, NULL);
    c.options.formulation = keys[i];
    c.options.step = i == 4 ? NAN : 0.01;
    c.options.tolerance = i == 4 ? 1e-12 : NAN;
    c.options.end = 0.5;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    weights[reference_criterion(&c, "lift")] = 1;
    gradient_case_check(&c, mbg_run_hessian(c.ctx, c.run, weights, H, &asymmetry), "hessian");
    const double m = c.p[0], w = c.p[1], n = 16 * w + m, s = 9.81 * 0.5 * 0.5 / 2;
    const double exact[3] = {s * 40 * w / (n * n * n), s * 20 * (16 * w - m) / (n * n * n), -s * 640 * m / (n * n * n)};
    const double found[3] = {H[0], H[1], H[4]};
    for (int k = 0; k < 3; k++) {
      assert_close(found[k], exact[k], 1e-11 * fabs(exact[2]));
    }
    reference_close(&c, text);
  }
}

/* ---------------------------------------------------------------------- closed form */

/* R1: the torsional pendulum with (l, cr, m, alpha0) as parameters; 100 times the tolerance of 1e-12, times the growth
   over ten seconds (theory 1, section 11) */
static void test_closed_form(void **state) {
  (void)state;
  static const char text[] =
      "{\"mbgrad\": 1, \"name\": \"pendulum\","
      "\"parameters\": {\"l\": 0.5, \"cr\": 10, \"m\": 1, \"alpha0\": 0.52359877559829887},"
      "\"bodies\": {\"bob\": {\"motion\": \"planar-point\", \"mass\": \"m\","
      "  \"position\": [\"l*cos(alpha0)\", \"l*sin(alpha0)\", 0]}},"
      "\"joints\": {\"rod\": {\"type\": \"distance\", \"between\": [\"ground\", \"bob\"], \"length\": \"l\"}},"
      "\"forces\": {\"spring\": {\"type\": \"torsion-about-point\", \"between\": [\"ground\", \"bob\"],"
      "  \"stiffness\": \"cr\"}},"
      "\"signals\": {\"x2\": {\"type\": \"position\", \"of\": \"bob\", \"component\": \"y\"}},"
      "\"criteria\": {\"psi\": {\"terminal\": \"x2\"}},"
      "\"initial\": {\"pin\": {\"height\": {\"signal\": \"x2\", \"value\": \"l*sin(alpha0)\", \"rate\": 0}}},"
      "\"run\": {\"end\": 10}}";
  static const hessian_case exact = {
      "pendulum",
      "psi",
      "qr",
      NULL,
      NAN,
      1e-12,
      4,
      {0, 1, 2, 3},
      3e-9,
      {-3566.50490819084172, 89.1626227047710431, -891.626227047710431, 17.7481334052697131, -2.21430118925293797,
       22.4382994598561418, -.423393097096670908, -227.335870271829039, 4.23393097096670908, -.193364103163197731}};
  static const hessian_case discrete = {"pendulum",
                                        "psi",
                                        "lie",
                                        NULL,
                                        0.005,
                                        NAN,
                                        4,
                                        {0, 1, 2, 3},
                                        1e-10,
                                        {-3567.325770739, 89.18314426847, -891.8314426847, 17.13928321057,
                                         -2.215095628918, 22.44061584505, -.4080802341473, -227.3027540092,
                                         4.080802341473, -.1915215770116}};
  const hessian_case *const both[] = {&exact, &discrete};
  for (int i = 0; i < 2; i++) {
    gradient_case c;
    double H[16], one = 1;
    gradient_case_open(&c, NULL, text);
    run_of(both[i], &c);
    gradient_case_check(&c, mbg_run_hessian(c.ctx, c.run, &one, H, NULL), "hessian");
    compare(both[i], c.p, c.np, H);
    gradient_case_close(&c);
  }
}

/* ---------------------------------------------------------------------- differences */

/* H d against central differences of exact gradients, of order e^2: their best agreement, over all criteria with equal
   weights but paths. 1e-7: what differences of gradients with 1e-13 leave (theory 9, section 11, item 5). */
static double difference(gradient_case *c, const double *d) {
  const size_t np = (size_t)c->np;
  double *weights = calloc((size_t)c->nc + 1, sizeof *weights), *x = calloc(5 * np, sizeof *x), best = INFINITY;
  double *product = x + np, *plus = x + 2 * np, *minus = x + 3 * np, *fd = x + 4 * np;
  for (int k = 0; k < c->nc; k++) {
    weights[k] = c->m->criteria[k].kind != MBG__PATH;
  }
  gradient_case_check(c, mbg_run_hessian_vector(c->ctx, c->run, weights, d, NULL, product), "product");
  for (double e = 1e-3; e > 1e-6; e /= 4) {
    for (int side = 0; side < 2; side++) {
      for (size_t i = 0; i < np; i++) {
        x[i] = c->p[i] + (side ? -e : e) * d[i];
      }
      gradient_case_check(c, mbg_run_set_parameters(c->ctx, c->run, x), "parameters");
      gradient_case_simulate(c);
      gradient_case_check(c, mbg_run_gradient_sum(c->ctx, c->run, MBG_METHOD_ADJOINT, weights, side ? minus : plus),
                          "gradient");
    }
    for (size_t i = 0; i < np; i++) {
      fd[i] = (plus[i] - minus[i]) / (2 * e);
    }
    best = fmin(best, gradient_difference(c->np, c->p, fd, product, 0));
  }
  free(weights);
  free(x);
  return best;
}

/* maps of parameters that are not linear, starts by assembly and equilibrium, controlled steps, modal bodies, beams,
   controls, states, redundant rows */
static void test_differences(void **state) {
  (void)state;
  static const struct {
    const char *model, *formulation;
    double step, tolerance, end;
  } runs[] = {{"five-bar", "lie", NAN, 1e-6, NAN},        {"five-bar", "dca", NAN, 1e-8, NAN},
              {"five-bar", "qr", NAN, 1e-8, NAN},         {"two-arm", "lie", 0.005, NAN, NAN},
              {"two-arm", "ali3p", 0.005, NAN, NAN},      {"swinging-beam", "lie", 0.002, NAN, 0.1},
              {"wishbone-corner", "ali3p", 0.01, NAN, 1}, {"vehicle", "ali3p", 0.01, NAN, 0.5},
              {"bricard", "dae", 0.01, NAN, 0.5},         {"crane-pid", "lie", 0.02, NAN, 2},
              {"crane-pid", "qr", NAN, 1e-8, 2},          {"rssr", "dca", NAN, 1e-8, 0.3},
              {"heavy-top", "lie", 0.002, NAN, 0.1},      {"block-and-tackle", "ali3p", 0.01, NAN, 0.5},
              {"rolling-disc", "lie", 0.01, NAN, 0.5}};
  for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
    gradient_case c;
    char *text = reference_open(&c, runs[i].model, NULL, NULL);
    c.options.formulation = runs[i].formulation;
    c.options.step = runs[i].step;
    c.options.tolerance = runs[i].tolerance;
    c.options.end = runs[i].end;
    c.options.all_signals = 0;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    double *d = calloc((size_t)c.np, sizeof *d);
    for (int k = 0; k < c.np; k++) {
      d[k] = (c.p[k] != 0 ? c.p[k] : 1) * (k % 2 ? -1 : 1) * (0.6 + 0.1 * (k * 7 % 5));
    }
    const double off = difference(&c, d);
    if (!(off <= 1e-7)) {
      fail_msg("%s by %s: %.2e", runs[i].model, runs[i].formulation, off);
    }
    free(d);
    reference_close(&c, text);
  }
}

/* ---------------------------------------------------------------------- interruption */

static bool stop(void *user) { return *(const bool *)user; }

/* an interrupted product is an error, not the derivative of a part of the run */
static void test_interrupted(void **state) {
  (void)state;
  gradient_case c;
  bool now = false;
  double weight = 1, d[8] = {1}, product[8];
  char *text = reference_open(&c, "five-bar", NULL, NULL);
  c.options.interrupt = stop;
  c.options.user = &now;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  now = true;
  assert_int_equal(mbg_run_hessian_vector(c.ctx, c.run, &weight, d, NULL, product), MBG_ERROR_INTERRUPTED);
  now = false;
  gradient_case_check(&c, mbg_run_hessian_vector(c.ctx, c.run, &weight, d, NULL, product), "product");
  reference_close(&c, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_page),        cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_penalty),     cmocka_unit_test(test_tendon),
                                     cmocka_unit_test(test_closed_form), cmocka_unit_test(test_differences),
                                     cmocka_unit_test(test_interrupted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
