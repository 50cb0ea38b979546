/* Impacts, switches and free ends (theory 7, section 12, R1 to R7), to the digits of the page: values,
   direct and adjoint gradients of integrals, accelerations, reactions, impulses and times of events, refusals. */
#include "property/gradient_case.h"

#include <stdio.h>

enum { PARAMETERS = 11 };

typedef struct {
  const char *criterion;
  double value, gradient[PARAMETERS];
} row;

static const row ball_1_0[] = {
    {"z_end", 0.525375122672, {2.294652845929, -0.08036161106755, 1.255757481147, 0.1932168203254}},
    {"v_end", -1.518729763048, {4.439594576085, -0.5945575729603, 3.977390209259, 1.121632728112}},
    {"tau", 0.483139100518, {0, -0.02628881831993, 0.2252457927998, 0.1088250497288}},
};
static const row ball_1_6[] = {
    {"z_end", 0.359309462040, {3.705687373724, -0.08461837793596, 1.147944892066, 0.1382361917539}},
    {"v_end", -1.011713573486, {15.98254047390, -0.8702036313286, 7.159302376667, 1.218938910601}},
    {"tau", 1.207231997739, {0.9051161215259, -0.06336319433838, 0.5856390612796, 0.1198462505998}},
};
static const row ball_2_7[] = {
    {"z_end", 0.084544091864, {-3.300015582846, 0.09452527201579, -0.8145888667159, -0.09386653298203}},
    {"v_end", 0.676454028539, {67.41080404327, -1.337064737263, 13.37039492745, 1.408880578821}},
    {"tau", 2.620661333114, {5.944802686182, -0.1357323763264, 1.289126721352, 0.1413596346999}},
};
static const row pendulum_lie[] = {
    {"a",
     3.208908101044,
     {1.2297071036, -0.26182968906, 2.8858303803, 0.27052295021, 6.9963182528, -3.5540908487, -4.9188284146}},
    {"b",
     0.03349868835342,
     {0.31140142659, 0.57236378853, 0.68857381066, 0.070108605168, 0.49951910318, 2.8135380946, -1.2456057064}},
    {"c_",
     301.3546736514,
     {515.33514287, 30.44187694, 28.187633924, 61.391824509, 59.514008445, -29.623386105, -52.309413822}},
    {"d",
     1.655199133906,
     {2.4208925579, 3.9047355037, 2.3936009148, 0.14814055835, 2.9378996957, 5.4171855042, -4.1662397854}},
    {"e_",
     0.505747692854,
     {-0.04509975722, 0.10991573455, 0, -0.028500885841, -0.036970528775, -0.48286741112, 0.18039902888}},
};
static const row pendulum_dae[] = {
    {"d",
     1.655206206832,
     {2.4199231312, 3.9045806026, 2.3934386927, 0.14780551871, 2.9370567408, 5.4099024855, -4.162338502}},
};
static const row four_bar[] = {
    {"a",
     0.9426843920203,
     {0.037607444723, 0.8996408226, 0.032319796082, -1.5645188678, 0.71460052021, 0.34801872675, -0.8073979004,
      -0.77330877311, -0.16989709919, 0.27753151532}},
    {"b",
     0.8964998853189,
     {0.011527803702, -0.0073990698778, 0.0021802240359, -1.009733931, -0.29232080226, 1.1534256692, 0.26025378224,
      -0.54404522778, -0.093702012013, -0.78506849862}},
    {"c",
     1.635490946118,
     {-0.039364442457, 0.065756860254, -0.061432852034, 10.232115064, 2.0916090345, -4.7646794638, -2.0246186763,
      3.6895786675, 1.1145857082, -0.20970673846}},
    {"d5",
     12.87754060301,
     {2.019758794, 4.5306749393, 1.1147830743, -11.519645142, -7.999637793, 3.233603503, 6.4618923682, 7.5022780624,
      3.0050895803, -52.602148108}},
    {"e5",
     0.04245628684967,
     {0.0063918900977, -0.00351549, 0.00042605993495, -0.51156464008, -0.11376668977, 0.039400410586, 0.10849253617,
      -0.085860856785, -0.015174654559, -0.4392304454}},
};
static const row four_bar_ali3p[] = {
    {"b",
     0.8965792849981,
     {0.011434152577, -0.0072537592206, 0.0020489105763, -0.98992815399, -0.29002681166, 1.1508134073, 0.25851481413,
      -0.53749579657, -0.091096732475, -0.76931894527}},
    {"c",
     1.634475504123,
     {-0.038934583287, 0.064957603451, -0.060653749077, 10.12545685, 2.0874434108, -4.7516578527, -2.0229618312,
      3.6587783133, 1.0991634308, -0.2931538856}},
    {"e5",
     0.04188246845957,
     {0.0065879149579, -0.0035409945335, 0.00032938273945, -0.50610649973, -0.1099153161, 0.034583732648, 0.10547220266,
      -0.087151196115, -0.015776205537, -0.43961416143}},
    {"d5",
     12.8767940981,
     {2.0194564194, 4.5296466211, 1.1158425312, -11.62394983, -7.9869223903, 3.2383499737, 6.4483784806, 7.501478505,
      2.9870147767, -52.697611728}},
};
static const row rod[] = {
    {"a",
     26.69078309189,
     {20.036227884, -3.7417169945, -250.45284855, 43.808634756, 49.44241749, -11.408615344, 2.5784960571, 41.049709004,
      -1.5251327808}},
    {"b",
     1.209468809153,
     {-0.18979431723, -1.9332942616, 2.3724289653, 1.1460500576, 0.46469267555, -0.27212948798, -0.018407556837,
      1.9544928335, 0.27912203363}},
    {"c",
     0.07623648433699,
     {-0.044354481348, -0.94223760052, 0.55443101684, 0.9778177464, 0.14720934341, -0.068907495208, -0.018657989241,
      1.7157737659, 0.0021919119459}},
    {"d",
     8.373790872351,
     {4.3776573405, -15.763338461, 13.331248349, 11.524515046, 2.3584415926, -1.4764345939, 0.34118148582, 25.55094751,
      -0.035823581284}},
};
static const row switches[] = {
    {"a",
     0.4876765004399,
     {-0.0033530026319, -0.13870958335, 0.0014483254755, 0.90755765725, -0.18403026209, 0.2953523442}},
    {"b_",
     0.03577782588695,
     {-0.00045068947874, -0.00029032351116, 0.00023218941013, 0.0026144508746, -0.0038667714653, 0.036285133462}},
    {"c", 258.1266815418, {10.179039737, -336.42170238, -9.6001192552, -53.652446348, 266.31371626, 1.5272132642}},
};
static const row balls[] = {
    {"x",
     0.3486695862609,
     {0.3837768046, -0.1918884023, -0.6223407642, 0.2405046214, -5.016225156, 0.09929855221, -2.333309842, 0.7594953786,
      5.016225156, 0.9007014478, 2.333309842}},
    {"impulse",
     2.161819089974,
     {1.441212727, 0.3603031817, 1.168550859, -0.208273158, 3.957190002, 1.024478777, 2.153094133, 0.208273158,
      -3.957190002, -1.024478777, -2.153094133}},
};

/* formulations that take events */
static const char *const all[] = {"lie", "dae", "ali3p", "dca", "qr"};

static void open_case(gradient_case *c, const char *name) {
  static char path[400]; /* the case keeps it */
  snprintf(path, sizeof path, "%s/tests/reference/events/%s.json", MBG_SOURCE_DIR, name);
  gradient_case_open(c, path, NULL);
}

static int criterion_of(const gradient_case *c, const char *name) {
  int k = 0;
  while (k < c->nc && strcmp(c->m->criteria[k].name, name) != 0) {
    k++;
  }
  assert_true(k < c->nc);
  return k;
}

/* values and both gradients against the page, and direct against adjoint */
static void check_rows(gradient_case *c, const char *what, int n, const row *rows, double tol) {
  double psi[16];
  gradient_case_run(c);
  gradient_case_simulate(c);
  gradient_case_check(c, mbg_run_criteria(c->ctx, c->run, psi), what);
  double *g[2] = {gradient_case_gradient(c, MBG_METHOD_DIRECT), gradient_case_gradient(c, MBG_METHOD_ADJOINT)};
  for (int i = 0; i < n; i++) {
    const int k = criterion_of(c, rows[i].criterion);
    if (!(fabs(psi[k] - rows[i].value) <= tol * fabs(rows[i].value))) {
      fail_msg("%s: '%s' is %.13g, expected %.13g", what, rows[i].criterion, psi[k], rows[i].value);
    }
    for (int method = 0; method < 2; method++) {
      const double d = gradient_difference(c->np, c->p, g[method] + k * c->np, rows[i].gradient, 0);
      if (!(d <= tol)) {
        fail_msg("%s: the %s gradient of '%s' differs by %.2e", what, method ? "adjoint" : "direct", rows[i].criterion,
                 d);
      }
    }
  }
  for (int k = 0; k < c->nc; k++) {
    const double d = gradient_difference(c->np, c->p, g[0] + k * c->np, g[1] + k * c->np, 0);
    if (!(d <= 1e-10)) {
      fail_msg("%s: direct and adjoint of '%s' differ by %.2e", what, c->m->criteria[k].name, d);
    }
  }
  free(g[0]);
  free(g[1]);
}

static void check_file(const char *name, const char *formulation, int n, const row *rows, double tol) {
  gradient_case c;
  open_case(&c, name);
  c.options.formulation = formulation;
  check_rows(&c, name, n, rows, tol);
  gradient_case_close(&c);
}

/* closed forms after 1, 2 and 5 bounces: any step and formulation; 1e-11: digits of the page, and five impacts grow
   rounding by 1/e^5 */
static void test_ball(void **state) {
  static const double ends[] = {1, 1.6, 2.7};
  static const row *const rows[] = {ball_1_0, ball_1_6, ball_2_7};
  (void)state;
  for (int i = 0; i < 3 * MBG_COUNT(all); i++) {
    gradient_case c;
    open_case(&c, "ball");
    c.options.formulation = all[i % MBG_COUNT(all)];
    c.options.end = ends[i / MBG_COUNT(all)];
    check_rows(&c, "ball", 3, rows[i / MBG_COUNT(all)], 1e-11);
    gradient_case_close(&c);
  }
}

static void test_balls(void **state) {
  (void)state;
  for (int i = 0; i < MBG_COUNT(all); i++) {
    check_file("balls", all[i], MBG_COUNT(balls), balls, 1e-9);
  }
}

static void test_pendulum(void **state) {
  (void)state;
  check_file("pendulum", "lie", MBG_COUNT(pendulum_lie), pendulum_lie, 1e-8);
  check_file("pendulum", "dae", MBG_COUNT(pendulum_dae), pendulum_dae, 1e-8);
}

/* RK4 in joint coordinates */
static const row pendulum_rk4[] = {
    {"b",
     0.03375606924996,
     {0.31216488045, 0.57386421912, 0.68892352378, 0.07021447255, 0.50019466152, 2.8155332706, -1.2486595218}},
    {"d",
     1.654285518288,
     {2.421696381, 3.9099089628, 2.39385356, 0.14811628782, 2.9391540682, 5.4276870264, -4.1725004631}},
};
static const row switch_rk4[] = {
    {"a",
     0.4873080969435,
     {-0.0033612161457, -0.13860269226, 0.001465883122, 0.90882071805, -0.18404529875, 0.29559870003}},
};
/* limits */
static const row pendulum_limit[] = {
    {"a",
     3.20741399374,
     {1.2306517939, -0.25797435109, 2.8830673996, 0.2704422187, 6.9940171497, -3.5513537061, -4.9226071757}},
    {"b",
     0.03375603429672,
     {0.31216567779, 0.57386658974, 0.68892400394, 0.070214506606, 0.50019530699, 2.8155371972, -1.2486627111}},
    {"c_",
     301.3572845806,
     {515.36133513, 30.474486942, 28.177812415, 61.395257554, 59.532745495, -29.587468729, -52.396776659}},
    {"d",
     1.654284341247,
     {2.4216969953, 3.9099164221, 2.3938537337, 0.14811602417, 2.9391545968, 5.4276968645, -4.1725068435}},
    {"e_",
     0.505499352258,
     {-0.045130375528, 0.11008999177, 0, -0.028524760596, -0.036962650901, -0.48289338389, 0.18052150211}},
};
static const row four_bar_limit[] = {
    {"a",
     0.9425288458243,
     {0.037645693002, 0.89984284181, 0.031817543355, -1.5181570925, 0.71453706037, 0.34386578187, -0.80635876509,
      -0.76333153299, -0.16288087934, 0.31619104668}},
    {"e5",
     0.04179685660323,
     {0.0065841763431, -0.003535294145, 0.00032427463133, -0.50529630768, -0.10959735146, 0.034382105609, 0.10517787964,
      -0.087050651189, -0.015822526679, -0.43915004255}},
};
static const row rod_limit[] = {
    {"a",
     26.65899661458,
     {20.136543098, -3.5776221985, -251.70678872, 43.828484931, 49.652129717, -11.530213565, 2.5758354146, 41.559084193,
      -1.578832534}},
    {"d",
     8.366601448412,
     {4.3643008168, -15.840218959, 13.441932624, 11.513836838, 2.3478401405, -1.4752192781, 0.3390392096, 25.689254334,
      -0.037818457909}},
};

/* R7, in joint coordinates, and limits */
static const row double_rk4[] = {
    {"x_end",
     0.1420146226211,
     {0.5207023235, -0.7438604621, 1.533202625, 1.386243123, 2.562069886, 2.909046604, 0.5171415275, -0.8781909405,
      -0.1723319316}},
    {"rate_end",
     -10.3340430835,
     {-4.274794552, 6.10684936, -80.69131518, 3.000530351, -47.32100855, -54.54776965, -18.84875686, 4.539949649,
      4.898013389}},
};
static const row double_limit[] = {
    {"x_end",
     0.1429272050862,
     {0.5209980163, -0.7442828804, 1.538061175, 1.377450024, 2.57268491, 2.920628606, 0.520716891, -0.8709284403,
      -0.1719028157}},
    {"rate_end",
     -10.35702980401,
     {-4.252331061, 6.074758659, -80.75609605, 3.30694595, -47.49572819, -54.73373876, -18.91820005, 4.351731931,
      4.881561431}},
};

/* R6, limits */
static const row switch_limit[] = {
    {"a",
     0.4873079201933,
     {-0.0033612387488, -0.13860272054, 0.0014660727263, 0.90882102658, -0.18404561598, 0.29559954901}},
    {"b_",
     0.03567766997924,
     {-0.0004545444419, -0.0003343610854, 0.00023891568827, 0.0029904350271, -0.0040291999467, 0.036210944754}},
    {"c", 257.2185649029, {10.124612225, -335.10728908, -9.7986964847, -54.851941747, 264.81235575, 1.3597551702}},
};

/* step 0: a tolerance of 1e-12 */
static void check_integrator(const char *formulation, const char *name, const char *integrator, double step, int n,
                             const row *rows, double tol) {
  gradient_case c;
  open_case(&c, name);
  c.options.formulation = formulation;
  c.options.integrator = integrator;
  c.options.step = step > 0 ? step : NAN;
  c.options.tolerance = step > 0 ? NAN : 1e-12;
  check_rows(&c, name, n, rows, tol);
  gradient_case_close(&c);
}

/* fixed steps to the page's digits; dop853 to its limits, 1e-8: what its tolerance leaves */
static void test_dca(void **state) {
  (void)state;
  check_integrator("dca", "pendulum", "rk4", 0.02, MBG_COUNT(pendulum_rk4), pendulum_rk4, 1e-8);
  check_integrator("dca", "switch", "rk4", 0.02, MBG_COUNT(switch_rk4), switch_rk4, 1e-8);
  check_integrator("dca", "double-pendulum", "rk4", 0.02, MBG_COUNT(double_rk4), double_rk4, 1e-8);
  check_integrator("dca", "double-pendulum", "dop853", 0, MBG_COUNT(double_limit), double_limit, 1e-8);
  check_integrator("dca", "pendulum", "dop853", 0.02, MBG_COUNT(pendulum_limit), pendulum_limit, 1e-8);
  check_integrator("dca", "four-bar", "dop853", 0.01, MBG_COUNT(four_bar_limit), four_bar_limit, 1e-8);
  check_integrator("dca", "rod", "dop853", 0.01, MBG_COUNT(rod_limit), rod_limit, 1e-8);
}

/* The mass on a line has the coordinate of the page, and its digits with fixed steps of RK4; else the limits, by fixed
   steps to 1e-8, under error control to the ten digits of the page. */
static void test_qr(void **state) {
  (void)state;
  check_integrator("qr", "switch", "rk4", 0.02, MBG_COUNT(switch_rk4), switch_rk4, 1e-8);
  check_integrator("qr", "pendulum", "dop853", 0.02, MBG_COUNT(pendulum_limit), pendulum_limit, 1e-8);
  check_integrator("qr", "four-bar", "dop853", 0.01, MBG_COUNT(four_bar_limit), four_bar_limit, 1e-8);
  check_integrator("qr", "rod", "dop853", 0.01, MBG_COUNT(rod_limit), rod_limit, 1e-8);
  check_integrator("qr", "pendulum", "dop853", 0, MBG_COUNT(pendulum_limit), pendulum_limit, 1e-9);
  check_integrator("qr", "pendulum", "dp5", 0, MBG_COUNT(pendulum_limit), pendulum_limit, 1e-9);
  check_integrator("qr", "four-bar", "dop853", 0, MBG_COUNT(four_bar_limit), four_bar_limit, 1e-9);
  check_integrator("qr", "rod", "dop853", 0, MBG_COUNT(rod_limit), rod_limit, 1e-9);
  check_integrator("qr", "double-pendulum", "dop853", 0, MBG_COUNT(double_limit), double_limit, 1e-9);
  check_integrator("qr", "switch", "dop853", 0, MBG_COUNT(switch_limit), switch_limit, 1e-9);
}

static void test_four_bar(void **state) {
  (void)state;
  check_file("four-bar", "lie", MBG_COUNT(four_bar), four_bar, 1e-8);
  check_file("four-bar", "ali3p", MBG_COUNT(four_bar_ali3p), four_bar_ali3p, 1e-8);
}

static void test_rod(void **state) {
  (void)state;
  check_file("rod", "lie", MBG_COUNT(rod), rod, 1e-8);
}

static void test_switch(void **state) {
  (void)state;
  check_file("switch", "lie", MBG_COUNT(switches), switches, 1e-8);
}

/* ---------------------------------------------------------------------- the same answers in other ways */

/* the remainder of a step eps along all parameters falls with its square: 100 per decade, of free runs */
static void test_taylor(void **state) {
  static const char *const names[] = {"pendulum", "four-bar", "rod", "switch", "double-pendulum"};
  (void)state;
  for (int f = 0; f < MBG_COUNT(names) * MBG_COUNT(all); f++) {
    const int i = f % MBG_COUNT(names);
    gradient_case c;
    double psi[3][16], p[PARAMETERS];
    static const double eps[] = {0, 1e-4, 1e-5};
    open_case(&c, names[i]);
    c.options.formulation = all[f / MBG_COUNT(names)];
    c.options.step = c.m->run.step; /* dca, qr: fixed steps, not tolerances */
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
    for (int k = 0; k < 3; k++) {
      for (int j = 0; j < c.np; j++) {
        p[j] = c.p[j] * (1 + eps[k] * (1 + 0.3 * j));
      }
      gradient_case_check(&c, mbg_run_set_parameters(c.ctx, c.run, p), names[i]);
      gradient_case_simulate(&c);
      gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi[k]), names[i]);
    }
    for (int m = 0; m < c.nc; m++) {
      double rest[3];
      for (int k = 1; k < 3; k++) {
        rest[k] = psi[k][m] - psi[0][m];
        for (int j = 0; j < c.np; j++) {
          rest[k] -= g[m * c.np + j] * eps[k] * c.p[j] * (1 + 0.3 * j);
        }
      }
      const double slope = log10(fabs(rest[1] / rest[2]));
      if (!(slope > 1.95 && slope < 2.05)) {
        fail_msg("%s in %s, '%s': remainders %.2e and %.2e, slope %.3f", names[i], c.options.formulation,
                 c.m->criteria[m].name, rest[1], rest[2], slope);
      }
    }
    free(g);
    gradient_case_close(&c);
  }
}

/* The twin finds the events by its real parts and then gives times, lengths of steps and impulses their imaginary parts
   by the guards: all references, with fixed steps and under error control. 1e-10: rounding of accelerations,
   eps |x|/h^2, and steps to events are shorter than others; 5e-11 was seen. */
static void test_twin(void **state) {
  static const char *const names[] = {"ball", "balls",  "pendulum",        "four-bar",
                                      "rod",  "switch", "double-pendulum", "samples"};
  (void)state;
  for (int f = 0; f < 2 * MBG_COUNT(names) * MBG_COUNT(all); f++) {
    const bool controlled = f % 2;
    const char *name = names[f / 2 % MBG_COUNT(names)], *formulation = all[f / 2 / MBG_COUNT(names)];
    char what[80];
    gradient_case c;
    open_case(&c, name);
    c.options.formulation = formulation;
    if (controlled) {
      c.options.tolerance = 1e-5;
    } else {
      c.options.step = c.m->run.step;
    }
    snprintf(what, sizeof what, "%s in %s, %s", name, formulation, controlled ? "a tolerance" : "fixed steps");
    if (!controlled || strcmp(formulation, "ali3p") != 0) { /* it has no error control */
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      gradient_case_compare(&c, what, 1e-10, 1e-10);
    }
    gradient_case_close(&c);
  }
}

/* Gallery models with events as their files run them. A criterion of geneva-drive is a difference of angles, 1e-4 of
   its terms: its gradient changes by 6e-10 with the last digits of the parameters. */
static void test_twin_gallery(void **state) {
  static const char *const names[] = {"bouncing-ball",      "colliding-balls", "pendulum-wall", "four-bar-stop",
                                      "spring-mass-runner", "geneva-drive",    "pick-and-place"};
  (void)state;
  for (int i = 0; i < MBG_COUNT(names); i++) {
    char path[300];
    gradient_case c;
    snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, names[i]);
    gradient_case_open(&c, path, NULL);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_compare(&c, names[i], 1e-10, !strcmp(names[i], "geneva-drive") ? 1e-8 : 1e-10);
    gradient_case_close(&c);
  }
}

/* The proof repeats the grid of the run: no node is dropped or comes back when events move, and one that an event has
   made its own (tau of pick-and-place is a node) moves with it. Free runs reached slope 2 over one decade only. */
static void test_proof(void **state) {
  static const char *const names[] = {"pick-and-place", "pendulum-clock"};
  static const double steps[] = {0.003, 0.02};
  (void)state;
  for (int f = 0; f < 2 * MBG_COUNT(all); f++) {
    char path[300];
    gradient_case c;
    if (f % 2 && f / 2 % 3 && !support_rounds(0, 1)) {
      continue; /* sixty events take their time: lie and dca only */
    }
    snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, names[f % 2]);
    gradient_case_open(&c, path, NULL);
    c.options.formulation = all[f / 2];
    c.options.step = steps[f % 2];
    gradient_case_run(&c);
    gradient_case_check(&c, mbg_run_prove(c.ctx, c.run), names[f % 2]);
    for (int k = 0; k < c.nc; k++) {
      const mbg_proof *proof = mbg_run_get_proof(c.run, k);
      if (!(proof->taylor_decades >= 3 && fabs(proof->taylor_slope - 2) < 0.05)) {
        fail_msg("%s in %s, '%s': slope %.3f over %.1f decades", names[f % 2], all[f / 2], c.m->criteria[k].name,
                 proof->taylor_slope, proof->taylor_decades);
      }
    }
    gradient_case_close(&c);
  }
}

/* nodes that are computed again from checkpoints, with events between and on them, are the same to the last bit */
static void test_memory(void **state) {
  (void)state;
  for (int i = 0; i < 2 * MBG_COUNT(all); i++) {
    const int m = i % 2;
    double *g[2];
    for (int k = 0; k < 2; k++) {
      gradient_case c;
      open_case(&c, "rod");
      c.options.formulation = all[i / 2];
      c.options.step = c.m->run.step;
      c.options.memory = k ? 6000 : 0;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      g[k] = gradient_case_gradient(&c, m ? MBG_METHOD_ADJOINT : MBG_METHOD_DIRECT);
      if (k) {
        /* direct differentiation in dca and qr stores nothing */
        assert_true((m == 0 && i / 2 >= 3) || mbg_run_get_work(c.run)->recomputed_steps > 0);
        assert_memory_equal(g[0], g[1], (size_t)(c.nc * c.np) * sizeof(double));
      }
      gradient_case_close(&c);
    }
    free(g[0]);
    free(g[1]);
  }
}

/* ... also under error control, where lengths of steps are found */
static void test_memory_controlled(void **state) {
  static const char *const names[] = {"dca", "qr"};
  (void)state;
  for (int i = 0; i < MBG_COUNT(names); i++) {
    double *g[2];
    for (int k = 0; k < 2; k++) {
      gradient_case c;
      open_case(&c, "rod");
      c.options.formulation = names[i];
      c.options.integrator = "dp5";
      c.options.tolerance = 1e-10;
      c.options.memory = k ? 20000 : 0;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      g[k] = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
      if (k) {
        assert_true(mbg_run_get_work(c.run)->recomputed_steps > 0);
        assert_memory_equal(g[0], g[1], (size_t)(c.nc * c.np) * sizeof(double));
      }
      gradient_case_close(&c);
    }
    free(g[0]);
    free(g[1]);
  }
}

/* ---------------------------------------------------------------------- events at one time */

/* a rod on a pin: the events, and what they may set */
#define ROD(events, run)                                                                                               \
  "{\"mbgrad\": 1, \"parameters\": {\"L\": 0.9, \"phi\": 0.8, \"c\": 0.3, \"tau\": 0.31, \"e\": 0}, \"gravity\": [0, " \
  "-9.81, 0], "                                                                                                        \
  "\"modes\": {\"a\": 0, \"b\": 0}, \"bodies\": {\"rod\": {\"motion\": \"planar\", \"mass\": 1.2, \"inertia\": "       \
  "\"0.1*L^2\", "                                                                                                      \
  "\"position\": [\"L/2*sin(phi)\", \"-L/2*cos(phi)\", 0], \"rotate\": [[\"z\", \"phi\"]]}}, \"markers\": {\"top\": "  \
  "{\"on\": \"rod\", "                                                                                                 \
  "\"at\": [0, \"L/2\", 0]}, \"tip\": {\"on\": \"rod\", \"at\": [0, \"-L/2\", 0]}}, \"joints\": {\"pin\": {\"type\": " \
  "\"revolute\", "                                                                                                     \
  "\"between\": [\"ground\", \"top\"]}}, \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"tip\", "              \
  "\"component\": 1}, \"q\": "                                                                                         \
  "{\"type\": \"coordinate\", \"joint\": \"pin\"}, \"w\": {\"type\": \"rate\", \"joint\": \"pin\"}, \"pull\": "        \
  "{\"type\": \"reaction\", "                                                                                          \
  "\"joint\": \"pin\", \"component\": \"fx\"}}, \"forces\": {\"f\": {\"type\": \"expression\", \"joint\": \"pin\", "   \
  "\"force\": "                                                                                                        \
  "\"-c*w*(1 + a) + b\"}}, \"events\": {" events "}, \"criteria\": {\"swing\": {\"integral\": \"w^2\"}, \"last\": "    \
  "{\"terminal\": \"x + 0.1*w\"}, \"load\": {\"integral\": "                                                           \
  "\"0.01*pull^2\"}}, \"run\": {\"end\": 0.9, \"step\": 0.01" run "}}"

static void open_rod(gradient_case *c, const char *text, const char *formulation, double tolerance) {
  gradient_case_open(c, NULL, text);
  c->options.formulation = formulation;
  c->options.step = tolerance > 0 ? NAN : 0.01;
  c->options.tolerance = tolerance > 0 ? tolerance : NAN;
  gradient_case_run(c);
  gradient_case_simulate(c);
}

/* Two events on one guard, which rounding leaves open after the first one in some formulations: they act once each, as
   one event that sets both modes. 1e-11: steps of the same lengths but for rounding. */
static void test_same_guard(void **state) {
  static const char *const texts[] = {
      ROD("\"s\": {\"guard\": \"q - 0.3\", \"direction\": \"-\", \"set\": {\"a\": 1}}, \"t\": {\"guard\": \"q - 0.3\", "
          "\"direction\": "
          "\"-\", \"set\": {\"b\": 1}}",
          ""),
      ROD("\"s\": {\"guard\": \"q - 0.3\", \"direction\": \"-\", \"set\": {\"a\": 1, \"b\": 1}}", "")};
  (void)state;
  for (int f = 0; f < MBG_COUNT(all); f++) {
    double psi[2][16];
    for (int k = 0; k < 2; k++) {
      gradient_case c;
      open_rod(&c, texts[k], all[f], 0);
      gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi[k]), all[f]);
      assert_int_equal(mbg_run_event_count(c.run), 2 - k);
      if (k == 0) {
        assert_int_equal(mbg_run_gradient(c.ctx, c.run, MBG_METHOD_ADJOINT, psi[k], NULL), MBG_ERROR_UNSUPPORTED);
        assert_non_null(strstr(mbg_context_error(c.ctx), "simultaneous"));
        gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi[k]), all[f]);
      }
      gradient_case_close(&c);
    }
    for (int k = 0; k < 3; k++) {
      if (!(fabs(psi[0][k] - psi[1][k]) <= 1e-11 * (1 + fabs(psi[1][k])))) {
        fail_msg("%s: criterion %d is %.15g by two events, %.15g by one", all[f], k, psi[0][k], psi[1][k]);
      }
    }
  }
}

/* Two events at times that are one whatever the parameters are: their order does not matter, and the gradient is that
   of one event that does what both do, direct, adjoint and by the twin. */
static void test_same_time(void **state) {
  static const char *const texts[] = {
      ROD("\"s\": {\"at\": \"tau\", \"set\": {\"a\": 1}}, \"t\": {\"at\": \"0.5*(2*tau)\", \"set\": {\"b\": 1}}", ""),
      ROD("\"s\": {\"at\": \"tau\", \"set\": {\"a\": 1, \"b\": 1}}", "")};
  (void)state;
  for (int f = 0; f < MBG_COUNT(all); f++) {
    double *g[2];
    int nc = 0, np = 0;
    for (int k = 0; k < 2; k++) {
      gradient_case c;
      open_rod(&c, texts[k], all[f], 0);
      assert_int_equal(mbg_run_event_count(c.run), 2 - k);
      gradient_case_compare(&c, all[f], 1e-10, 1e-10);
      g[k] = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
      nc = c.nc;
      np = c.np;
      gradient_case_close(&c);
    }
    for (int i = 0; i < nc * np; i++) {
      assert_true(fabs(g[0][i] - g[1][i]) <= 1e-10 * (1 + fabs(g[1][i])));
    }
    free(g[0]);
    free(g[1]);
  }
}

/* A guard that is closed but for 2.6 ms of each period of 38 ms, often between two nodes: it falls 24 times in 0.9 s,
   and its falls are found, to the rounding of the time. */
static void test_short_openings(void **state) {
  (void)state;
  for (int f = 0; f < MBG_COUNT(all); f++) {
    gradient_case c;
    open_rod(&c, ROD("\"e\": {\"guard\": \"sin(165*t + 1.7) - 0.9476 - c/10\", \"direction\": \"-\"}", ""), all[f], 0);
    for (int k = 0; k < mbg_run_event_count(c.run); k++) {
      mbg_run_event e;
      assert_int_equal(mbg_run_event_at(c.run, k, &e), MBG_OK);
      assert_true(fabs(e.time - (M_PI - asin(0.9776) + 2 * M_PI * k - 1.7) / 165) < 1e-13);
    }
    assert_int_equal(mbg_run_event_count(c.run), 24);
    gradient_case_compare(&c, all[f], 1e-10, 1e-10);
    gradient_case_close(&c);
  }
}

/* An event that comes a part of a step after the start: 1e-6 is a warning in `lie` and `dae`, 1e-9 an error, because
   constraints leave eps |x|/h^2 in accelerations; the others keep their digits. */
static void test_near(void **state) {
  static const char *const texts[] = {ROD("\"s\": {\"at\": \"tau/0.31*1e-8\", \"set\": {\"b\": 1}}", ""),
                                      ROD("\"s\": {\"at\": \"tau/0.31*1e-11\", \"set\": {\"b\": 1}}", "")};
  (void)state;
  for (int f = 0; f < 2 * MBG_COUNT(all); f++) {
    const bool alpha = f / 2 < 2, close = f % 2;
    gradient_case c;
    gradient_case_open(&c, NULL, texts[f % 2]);
    c.options.formulation = all[f / 2];
    c.options.step = 0.01;
    gradient_case_run(&c);
    if (alpha && close) {
      assert_int_equal(mbg_run_simulate(c.ctx, c.run), MBG_ERROR_INPUT);
      assert_non_null(strstr(mbg_context_error(c.ctx), "rounding is all"));
    } else {
      gradient_case_simulate(&c);
      gradient_case_compare(&c, all[f / 2], alpha ? 1e-7 : 1e-10, alpha ? 1e-7 : 1e-10);
    }
    int warned = 0;
    for (int i = 0; i < mbg_context_message_count(c.ctx); i++) {
      warned += strstr(mbg_context_message(c.ctx, i), "digits of gradients") != NULL;
    }
    assert_true((warned > 0) == (alpha && !close));
    gradient_case_close(&c);
  }
}

/* A break that is the time of an event stays an end of the steps that the proof repeats. */
static void test_break(void **state) {
  (void)state;
  for (int f = 0; f < 2 * MBG_COUNT(all); f++) {
    const char *formulation = all[f / 2];
    gradient_case c;
    if (f % 2 && !strcmp(formulation, "ali3p")) {
      continue; /* it has no error control */
    }
    gradient_case_open(&c, NULL, ROD("\"s\": {\"at\": 0.5, \"set\": {\"a\": 1}}", ", \"breaks\": [0.5]"));
    c.options.formulation = formulation;
    c.options.step = f % 2 ? NAN : 0.013;
    c.options.tolerance = f % 2 ? 1e-6 : NAN;
    gradient_case_run(&c);
    gradient_case_check(&c, mbg_run_prove(c.ctx, c.run), formulation);
    for (int k = 0; k < c.nc; k++) {
      const mbg_proof *proof = mbg_run_get_proof(c.run, k);
      if (!(proof->taylor_decades >= 2 && fabs(proof->taylor_slope - 2) < 0.05 && proof->direct_vs_adjoint < 1e-10)) {
        fail_msg("%s, '%s': slope %.3f over %.1f decades, direct and adjoint differ by %.2e", formulation,
                 c.m->criteria[k].name, proof->taylor_slope, proof->taylor_decades, proof->direct_vs_adjoint);
      }
    }
    gradient_case_close(&c);
  }
}

/* Without restitution the rod stops at the wall, which it leaves by its weight: the gap opens from a rate of 0. */
static void test_no_restitution(void **state) {
  static const double tolerances[] = {0, 1e-5, 1e-8, 1e-9};
  (void)state;
  for (int f = 0; f < MBG_COUNT(tolerances) * MBG_COUNT(all); f++) {
    const char *formulation = all[f % MBG_COUNT(all)];
    const double tolerance = tolerances[f / MBG_COUNT(all)];
    gradient_case c;
    mbg_run_event e;
    if (tolerance > 0 && strcmp(formulation, "dca") != 0 && strcmp(formulation, "qr") != 0) {
      continue;
    }
    open_rod(&c, ROD("\"wall\": {\"guard\": \"x + 0.15\", \"impact\": {\"restitution\": \"e\"}}", ""), formulation,
             tolerance);
    assert_int_equal(mbg_run_event_count(c.run), 1);
    assert_int_equal(mbg_run_event_at(c.run, 0, &e), MBG_OK);
    assert_true(fabs(e.jump + e.rate) < 1e-9);
    gradient_case_compare(&c, formulation, 1e-10, 1e-9);
    gradient_case_close(&c);
  }
}

/* Height of a ball at t, which bounces at most once until then: p = [e, g, h0, v0]. */
static long double height(const long double *p, long double t) {
  const long double v = sqrtl(p[3] * p[3] + 2 * p[1] * p[2]), tau = (p[3] + v) / p[1], s = t - tau;
  return s < 0 ? p[2] + p[3] * t - p[1] * t * t / 2 : p[0] * v * s - p[1] * s * s / 2;
}

static const char sampled[] =
    "{\"mbgrad\": 1, \"parameters\": {\"e\": 0.8, \"g\": 9.81, \"h0\": 1, \"v0\": 0.3}, \"gravity\": [0, 0, \"-g\"], "
    "\"bodies\": {\"ball\": {\"motion\": \"point\", \"mass\": 1, \"position\": [0, 0, \"h0\"], \"velocity\": [0, 0, "
    "\"v0\"]}}, \"signals\": {\"z\": {\"type\": \"position\", \"of\": \"ball\", \"component\": 3}}, "
    "\"events\": {\"floor\": {\"guard\": \"z\", \"impact\": {\"restitution\": \"e\"}}}, "
    "\"criteria\": {\"fit\": {\"least_squares\": \"z\", \"data\": {\"time\": [0.2, 0.45, 0.48, 0.49, 0.55, 0.71], "
    "\"value\": [0.1, 0.2, 0.3, 0.1, 0.2, 0.3]}}}, \"run\": {\"end\": 1}}";

static long double fit(const long double *p) {
  static const double t[] = {0.2, 0.45, 0.48, 0.49, 0.55, 0.71}, y[] = {0.1, 0.2, 0.3, 0.1, 0.2, 0.3};
  long double sum = 0;
  for (int i = 0; i < MBG_COUNT(t); i++) {
    const long double d = height(p, t[i]) - y[i];
    sum += d * d / 2;
  }
  return sum;
}

/* Samples in steps whose length moves with an event stay at their times. Where nodes are free they are exact: the
   gradient of the closed form, by central differences (1e-6 in long double: 1e-12). */
static void test_samples(void **state) {
  static const char *const names[] = {"dca", "qr"};
  static const double p0[] = {0.8, 9.81, 1, 0.3};
  (void)state;
  for (int i = 0; i < 2 * MBG_COUNT(names); i++) {
    gradient_case c;
    gradient_case_open(&c, NULL, sampled);
    c.options.formulation = names[i / 2];
    c.options.integrator = "dop853";
    c.options.step = i % 2 ? 0.1 : NAN;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    double *g[2] = {gradient_case_gradient(&c, MBG_METHOD_DIRECT), gradient_case_gradient(&c, MBG_METHOD_ADJOINT)};
    for (int j = 0; j < 4; j++) {
      long double p[2][4];
      for (int k = 0; k < 4; k++) {
        p[0][k] = p0[k] + (k == j ? 1e-6L : 0);
        p[1][k] = p0[k] - (k == j ? 1e-6L : 0);
      }
      const double exact = (double)((fit(p[0]) - fit(p[1])) / 2e-6L);
      assert_true(fabs(g[0][j] - exact) <= 1e-10 * (1 + fabs(exact)));
      assert_true(fabs(g[1][j] - exact) <= 1e-10 * (1 + fabs(exact)));
    }
    free(g[0]);
    free(g[1]);
    gradient_case_close(&c);
  }
}

/* gallery models with events, qr beside dca: two state spaces, one limit; 1e-9: what tolerances of 1e-11 leave */
static void test_gallery(void **state) {
  static const char *const names[] = {"bouncing-ball", "colliding-balls", "pendulum-wall", "four-bar-stop",
                                      "spring-mass-runner"};
  (void)state;
  for (int i = 0; i < MBG_COUNT(names); i++) {
    double *g[2];
    gradient_case c[2];
    for (int k = 0; k < 2; k++) {
      static char path[400];
      snprintf(path, sizeof path, "%s/gallery/%s/model.json", MBG_SOURCE_DIR, names[i]);
      gradient_case_open(&c[k], path, NULL);
      c[k].options.formulation = k ? "qr" : "dca";
      c[k].options.integrator = "dop853";
      c[k].options.tolerance = 1e-11;
      gradient_case_run(&c[k]);
      gradient_case_simulate(&c[k]);
      g[k] = gradient_case_gradient(&c[k], MBG_METHOD_ADJOINT);
    }
    for (int m = 0; m < c[0].nc; m++) {
      const double d = gradient_difference(c[0].np, c[0].p, g[1] + m * c[0].np, g[0] + m * c[0].np, 0);
      if (!(d <= 1e-9)) {
        fail_msg("%s, '%s': qr and dca differ by %.2e", names[i], c[0].m->criteria[m].name, d);
      }
    }
    for (int k = 0; k < 2; k++) {
      free(g[k]);
      gradient_case_close(&c[k]);
    }
  }
}

/* steps under error control: the same limit */
static void test_controlled(void **state) {
  static const double tau = 0.505499352258; /* theory 7, section 12, R3 */
  gradient_case c;
  double psi[16];
  (void)state;
  open_case(&c, "pendulum");
  c.options.step = NAN;
  c.options.tolerance = 1e-9;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "controlled");
  assert_true(fabs(psi[criterion_of(&c, "e_")] - tau) < 1e-4);
  double *g[2] = {gradient_case_gradient(&c, MBG_METHOD_DIRECT), gradient_case_gradient(&c, MBG_METHOD_ADJOINT)};
  for (int k = 0; k < c.nc; k++) {
    assert_true(gradient_difference(c.np, c.p, g[0] + k * c.np, g[1] + k * c.np, 0) <= 1e-9);
  }
  free(g[0]);
  free(g[1]);
  gradient_case_close(&c);
}

/* the record of the events */
static void test_record(void **state) {
  gradient_case c;
  mbg_run_event e;
  (void)state;
  open_case(&c, "pendulum");
  gradient_case_run(&c);
  assert_int_equal(mbg_run_event_count(c.run), 0);
  gradient_case_simulate(&c);
  assert_int_equal(mbg_run_event_count(c.run), 2);
  assert_int_equal(mbg_run_event_at(c.run, 1, &e), MBG_OK);
  assert_string_equal(e.name, "wall");
  assert_true(fabs(e.time - 1.624543727483) < 1e-9 && e.rate < 0 && e.impulse > 0 && e.grazing > 1e-3);
  assert_true(fabs(e.jump + 1.6 * e.rate) < 1e-9);
  assert_true(mbg_run_node_time(c.run, e.node) == e.time && mbg_run_node_time(c.run, e.node + 1) == e.time);
  assert_int_equal(mbg_run_event_at(c.run, 2, &e), MBG_ERROR_INPUT);
  gradient_case_close(&c);
}

/* a run that fails leaves the events that it found itself, or none: not those of the run before */
static void test_record_of_failure(void **state) {
  const double accumulates[] = {0.2, 9.81, 1, 0.3};
  (void)state;
  for (int i = 0; i < MBG_COUNT(all); i++) {
    gradient_case c;
    mbg_run_event e;
    open_case(&c, "ball");
    c.options.formulation = all[i];
    c.options.step = c.m->run.step;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    assert_int_equal(mbg_run_event_count(c.run), 1);
    gradient_case_check(&c, mbg_run_set_parameters(c.ctx, c.run, accumulates), "ball");
    assert_int_equal(mbg_run_simulate(c.ctx, c.run), MBG_ERROR_CONVERGENCE);
    for (int k = 0; k < mbg_run_event_count(c.run); k++) {
      assert_int_equal(mbg_run_event_at(c.run, k, &e), MBG_OK);
      assert_string_equal(e.name, "floor");
    }
    gradient_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ball),
      cmocka_unit_test(test_balls),
      cmocka_unit_test(test_pendulum),
      cmocka_unit_test(test_four_bar),
      cmocka_unit_test(test_rod),
      cmocka_unit_test(test_switch),
      cmocka_unit_test(test_taylor),
      cmocka_unit_test(test_twin),
      cmocka_unit_test(test_twin_gallery),
      cmocka_unit_test(test_proof),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_controlled),
      cmocka_unit_test(test_record),
      cmocka_unit_test(test_record_of_failure),
      cmocka_unit_test(test_dca),
      cmocka_unit_test(test_qr),
      cmocka_unit_test(test_memory_controlled),
      cmocka_unit_test(test_samples),
      cmocka_unit_test(test_gallery),
      cmocka_unit_test(test_same_guard),
      cmocka_unit_test(test_same_time),
      cmocka_unit_test(test_break),
      cmocka_unit_test(test_near),
      cmocka_unit_test(test_short_openings),
      cmocka_unit_test(test_no_restitution),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
