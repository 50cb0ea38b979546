/* Modes about steady motions with wheels: the Whipple bicycle against its published matrices, eigenvalues and speeds
   (J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Proc. R. Soc. A 463 (2007) 1955; theory 8, section 8), a
   rolling disc against its closed form; and motions that are refused. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16 };

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_modes *modes;
  double p[MOST];
} fixture;

static void open_model(fixture *f, const char *path) {
  *f = (fixture){0};
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  if (mbg_model_load(f->ctx, path, &f->model) < 0) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
  assert_true(mbg_model_parameter_count(f->model) <= MOST);
  for (int i = 0; i < mbg_model_parameter_count(f->model); i++) {
    f->p[i] = mbg_model_parameter_value(f->model, i);
  }
}

static int number(const fixture *f, const char *parameter) {
  const int i = mbg_model_parameter_find(f->model, parameter);
  assert_true(i >= 0);
  return i;
}

static void solve(fixture *f) {
  mbg_modes_options o;
  mbg_modes_options_default(&o, sizeof o);
  o.at = MBG_MODES_STEADY;
  o.gradient = true;
  o.parameters = f->p;
  mbg_modes_destroy(f->modes);
  if (mbg_modes_create(f->ctx, f->model, &o, &f->modes) < 0) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
}

static void close_model(fixture *f) {
  mbg_modes_destroy(f->modes);
  mbg_model_destroy(f->model);
  mbg_context_destroy(f->ctx);
}

static double complex value(const fixture *f, int i) {
  const mbg_mode *m = mbg_modes_get_mode(f->modes, i);
  assert_non_null(m);
  return m->re + m->im * _Complex_I;
}

/* ---------------------------------------------------------------------- the bicycle */

static const char bicycle[] = MBG_GALLERY_DIR "/whipple-bicycle/model.json";

/* det (s^2 M + s v C1 + g K0 + v^2 K2) over the sum of the sizes of its terms; the published matrices */
static double defect(double complex s, double v) {
  static const double M[4] = {80.81722, 2.31941332208709, 2.31941332208709, 0.29784188199686};
  static const double C1[4] = {0, 33.86641391492494, -0.85035641456978, 1.68540397397560};
  static const double K0[4] = {-80.95, -2.59951685249872, -2.59951685249872, -0.80329488458618};
  static const double K2[4] = {0, 76.59734589573222, 0, 2.65431523794604};
  double complex a[4];
  double size[4];
  for (int i = 0; i < 4; i++) {
    a[i] = s * s * M[i] + s * v * C1[i] + 9.81 * K0[i] + v * v * K2[i];
    size[i] = cabs(s * s * M[i]) + cabs(s * v * C1[i]) + fabs(9.81 * K0[i]) + fabs(v * v * K2[i]);
  }
  return cabs(a[0] * a[3] - a[1] * a[2]) / (size[0] * size[3] + size[1] * size[2]);
}

/* at all speeds four eigenvalues satisfy the published equation; six are 0: places, heading and wheel angles, speed */
static void test_speeds(void **state) {
  fixture f;
  (void)state;
  open_model(&f, bicycle);
  for (int v = 0; v <= 10; v++) {
    int found = 0;
    f.p[number(&f, "v")] = v;
    solve(&f);
    const mbg_modes_summary *s = mbg_modes_get_summary(f.modes);
    assert_int_equal(s->zero, 6);
    assert_int_equal(s->freedoms, 3);
    assert_int_equal(s->position_freedoms, 7);
    for (int i = s->zero; i < s->count; i++) {
      found += mbg_modes_get_mode(f.modes, i)->im > 0 ? 2 : 1;
      /* 1e-12: the digits of the matrices and the cancellation in the determinant */
      if (!(defect(value(&f, i), v) < 1e-12)) {
        fail_msg("v = %d: %.15g + %.15g i is no eigenvalue: %.2e", v, creal(value(&f, i)), cimag(value(&f, i)),
                 defect(value(&f, i), v));
      }
    }
    assert_int_equal(found, 4);
  }
  close_model(&f);
}

/* published digits at 0 and 5 m/s; 1e-11: those that the model keeps */
static void test_published(void **state) {
  static const double rest[] = {-3.131643247906555, 3.131643247906555, -5.530943717653936, 5.530943717653936};
  const double complex five[] = {-0.32286642900409, -0.77534188219585 + 4.46486771378823 * _Complex_I,
                                 -14.07838969279822};
  fixture f;
  (void)state;
  open_model(&f, bicycle);
  solve(&f);
  for (int i = 0; i < 3; i++) {
    assert_true(cabs(value(&f, 6 + i) - five[i]) < 1e-11 * cabs(five[i]));
  }
  f.p[number(&f, "v")] = 0;
  solve(&f);
  for (int i = 0; i < 4; i++) {
    double nearest = INFINITY;
    for (int k = 0; k < 4; k++) {
      nearest = fmin(nearest, cabs(value(&f, 6 + i) - rest[k]));
    }
    assert_true(nearest < 1e-11 * 3);
  }
  close_model(&f);
}

/* derivatives of capsize, weave and castering at 5 m/s: closed form (theory 8, section 8), to the printed digits */
static void test_derivatives(void **state) {
  static const struct {
    const char *name;
    double weave_re, weave_im, capsize, castering;
  } expected[] = {{"c", 12.1856014526, -4.4185385719, -9.3741905922, -22.5147891336},
                  {"w", 0.578430183667, 11.0440254166, 1.87337831181, 21.1149432666},
                  {"lambda", 2.4595572004, -13.1629352387, -3.35067197265, -8.95044086632},
                  {"v", -0.891101156941, 1.47048886071, 0.559220242989, -1.96740590635},
                  {"IFyy", -6.10384763797, 13.045024887, 4.5138837512, 7.69381152474},
                  {"mB", 0.0169754023167, -0.00164933381826, -0.00931715910127, -0.0248088014748}};
  fixture f;
  (void)state;
  open_model(&f, bicycle);
  solve(&f);
  for (int i = 0; i < (int)(sizeof expected / sizeof *expected); i++) {
    const int p = number(&f, expected[i].name);
    assert_close(mbg_modes_eigenvalue_gradient(f.modes, 6, 0)[p], expected[i].capsize, 1e-9);
    assert_close(mbg_modes_eigenvalue_gradient(f.modes, 7, 0)[p], expected[i].weave_re, 1e-9);
    assert_close(mbg_modes_eigenvalue_gradient(f.modes, 7, 1)[p], expected[i].weave_im, 1e-9);
    assert_close(mbg_modes_eigenvalue_gradient(f.modes, 8, 0)[p], expected[i].castering, 1e-9);
  }
  close_model(&f);
}

static const char *speed = "v"; /* name of its parameter */

/* Re of the pair, or the smallest real eigenvalue, at a speed, and its derivative by the speed */
static double stability(fixture *f, bool pair, double v, double *slope) {
  const int p = number(f, speed);
  f->p[p] = v;
  solve(f);
  const mbg_modes_summary *s = mbg_modes_get_summary(f->modes);
  int i = s->zero;
  while (pair && i < s->count && !(mbg_modes_get_mode(f->modes, i)->im > 0)) {
    i++;
  }
  *slope = mbg_modes_eigenvalue_gradient(f->modes, i, 0)[p];
  return creal(value(f, i));
}

/* Newton's method for the speed at which the mode becomes stable, until a step is shorter than `last` */
static double critical_speed(fixture *f, bool pair, double v, double last) {
  double step = 1, slope;
  for (int it = 0; it < 20 && fabs(step) > last; it++) {
    step = stability(f, pair, v, &slope);
    step /= slope;
    v -= step;
  }
  return v;
}

/* The same from values on both sides of v, since at 0 an eigenvalue is lost among the six that are 0: the speed as a
   cubic function of the eigenvalue, by values and derivatives */
static double between(fixture *f, double v, double distance) {
  double slope[2];
  const double v0 = v - distance, v1 = v + distance;
  const double a = stability(f, false, v0, &slope[0]), h = stability(f, false, v1, &slope[1]) - a, t = -a / h;
  return (1 + 2 * t) * (1 - t) * (1 - t) * v0 + t * t * (3 - 2 * t) * v1 +
         h * t * (1 - t) * ((1 - t) / slope[0] - t / slope[1]);
}

static void test_critical_speeds(void **state) {
  fixture f;
  (void)state;
  open_model(&f, bicycle);
  assert_close(critical_speed(&f, true, 4.5, 1e-14), 4.29238253634111, 2e-13);
  /* 1e-9: the fourth power of the distance, and rounding of an eigenvalue near six that are 0 */
  assert_close(between(&f, critical_speed(&f, false, 5.8, 0.02), 0.005), 6.02426201538837, 1e-9);
  close_model(&f);
}

/* The bicycle of the widest range of stable speeds (gallery/bicycle-design): its ends by the published closed form of
   the matrices at these numbers; nothing grows between them. */
static void test_design(void **state) {
  static const struct {
    const char *name;
    double value;
  } design[] = {{"nudge", 0}, {"w", 0.95}, {"c", 0.12}, {"lambda", 0.2}, {"IFyy", 0.2}, {"xH", 0.95}};
  fixture f;
  (void)state;
  open_model(&f, MBG_GALLERY_DIR "/bicycle-design/model.json");
  for (int i = 0; i < (int)(sizeof design / sizeof *design); i++) {
    f.p[number(&f, design[i].name)] = design[i].value;
  }
  speed = "fastest";
  assert_close(critical_speed(&f, true, 4.7, 1e-14), 4.587408614666353, 1e-12);
  /* the eigenvalue is flatter here than that of the benchmark, hence ten times its limit */
  assert_close(between(&f, critical_speed(&f, false, 8.8, 0.02), 0.005), 9.180883187439036, 1e-8);
  for (double v = 4.6; v < 9.18; v += 0.35) {
    f.p[number(&f, speed)] = v;
    solve(&f);
    const mbg_modes_summary *s = mbg_modes_get_summary(f.modes);
    for (int i = s->zero; i < s->count; i++) {
      assert_true(creal(value(&f, i)) < 0);
    }
  }
  speed = "v";
  close_model(&f);
}

/* ---------------------------------------------------------------------- the disc */

/* omega^2 = (C (C + m r^2) W^2/A - m g r)/(A + m r^2), its derivatives by hand */
static void test_disc(void **state) {
  fixture f;
  (void)state;
  open_model(&f, MBG_SOURCE_DIR "/tests/reference/rolling/disc.json");
  const double m = 1.3, r = 0.25, A = 0.03, C = 0.055, W = 9, g = 9.81, pi = 3.14159265358979323846;
  const double up = C * (C + m * r * r) * W * W / A - m * g * r, down = A + m * r * r, omega = sqrt(up / down);
  const double by_W = 2 * C * (C + m * r * r) * W / A / down,
               by_A = -C * (C + m * r * r) * W * W / (A * A) / down - up / (down * down);
  const double by_r = (2 * C * m * r * W * W / A - m * g) / down - up / (down * down) * 2 * m * r;
  solve(&f);
  assert_int_equal(mbg_modes_get_summary(f.modes)->zero, 6);
  assert_close(mbg_modes_get_mode(f.modes, 6)->frequency, omega / (2 * pi), 1e-12);
  const double *d = mbg_modes_frequency_gradient(f.modes, 6);
  assert_close(d[number(&f, "W")], by_W / (4 * pi * omega), 1e-11);
  assert_close(d[number(&f, "A")], by_A / (4 * pi * omega), 1e-11);
  assert_close(d[number(&f, "r")], by_r / (4 * pi * omega), 1e-11);
  close_model(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_speeds),          cmocka_unit_test(test_published), cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_critical_speeds), cmocka_unit_test(test_design),    cmocka_unit_test(test_disc),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
