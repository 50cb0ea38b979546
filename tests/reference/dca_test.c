/* Printed numbers of theory 3, section 14 (R1, R2, R3), and accelerations, multipliers and their derivatives against a
   dense solution. */
#include "reference/reference_case.h"

#include "formulations/dca/dca_assembly.h"
#include "math/dense.h"
#include "math/se3.h"
#include "start/start.h"
#include "support/random_model.h"

/* values and derivatives (nkept x np) of all signals at the start of the run */
typedef struct {
  gradient_case c;
  double *dy;
  int size;
  double end; /* 0: right after the start */
} first_node;

static int take_first(void *user, int node, const double *dy) {
  first_node *f = user;
  if (node == 0) {
    memcpy(f->dy, dy, (size_t)f->size * sizeof(double));
  }
  return node == 0 ? 0 : -99;
}

static void open_first(first_node *f, const char *folder, const char *text) {
  gradient_case_open(&f->c, folder, text);
  f->c.options.formulation = "dca";
  f->c.options.all_signals = 1;
  f->c.options.step = 1e-6;
  f->c.options.end = f->end > 0 ? f->end : 1e-6;
  gradient_case_run(&f->c);
  gradient_case_simulate(&f->c);
  f->size = mbg_run_kept_count(f->c.run) * f->c.np;
  f->dy = calloc((size_t)f->size + 1, sizeof(double));
  (void)mbg_run_history(f->c.ctx, f->c.run, take_first, f);
}

static void close_first(first_node *f) {
  free(f->dy);
  gradient_case_close(&f->c);
}

/* value or (p >= 0) derivative by a parameter against the print; digits: of the print */
static void check(const first_node *f, const char *signal, int p, double expected, double tol) {
  const int index = reference_signal(&f->c, signal);
  double x = mbg_run_signal(f->c.run, 0, index);
  for (int k = 0; p >= 0 && k < mbg_run_kept_count(f->c.run); k++) {
    x = mbg_run_kept_signal(f->c.run, k) == index ? f->dy[k * f->c.np + p] : x;
  }
  if (!(fabs(x - expected) <= tol)) {
    fail_msg("%s%s%d: %.13g, printed %.13g", signal, p < 0 ? " " : " by parameter ", p, x, expected);
  }
}

/* ---------------------------------------------------------------------- R1: rigid chain */

static void put_frame(char *out, const mbg__frame *H) {
  double w[3];
  mbg__so3_log(w, H->R);
  sprintf(out, "\"position\": [%.17g, %.17g, %.17g], \"rotate\": {\"vector\": [%.17g, %.17g, %.17g]}", H->x[0], H->x[1],
          H->x[2], w[0], w[1], w[2]);
}

static void handle(int i, int k, mbg__frame *h) {
  const double a = k ? cos(i + 2) : sin(i + 1), w0[3] = {.3 * a, .2 * a, .1 * a}, w1[3] = {-.2 * a, .4 * a, .15 * a};
  mbg__so3_exp(h->R, k ? w1 : w0);
  h->x[0] = k;
  h->x[1] = 0;
  h->x[2] = .1 * k;
}

static char *put_bodies(char *t, int n) {
  char frame[400];
  mbg__frame H, h, E, x;
  frame_identity(&H);
  for (int i = 0; i < n; i++) {
    const double q[6] = {0, 0, 0, 0, 0, 0.4 * sin(1.3 * i + .5)}, m = 1 + 0.1 * (i % 5);
    if (i > 0) {
      handle(i - 1, 1, &h);
      frame_mul(&x, &H, &h);
      H = x;
    }
    mbg__se3_exp(&E, q);
    frame_mul(&x, &H, &E);
    handle(i, 0, &h);
    frame_inv(&E, &h);
    frame_mul(&H, &x, &E);
    put_frame(frame, &H);
    t += sprintf(
        t,
        "%s\"b%d\": {%s, \"mass\": \"%.17g*p0\", \"com\": [\"0.5*p1\", \"%.17g*p1\", \"%.17g*p1\"], \"inertia\": "
        "[\"%.17g*p0*p1^2\", \"%.17g*p0*p1^2\", \"%.17g*p0*p1^2\"]}",
        i ? ", " : "", i, frame, m, .03 * cos(i), .04 * sin(i), .02 * m, .05 * m, .06 * m);
  }
  return t;
}

static char *put_markers(char *t, int n) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 2; k++) {
      mbg__frame h;
      double w[3];
      handle(i, k, &h);
      mbg__so3_log(w, h.R);
      t += sprintf(t,
                   "%s\"m%d_%d\": {\"on\": \"b%d\", \"at\": [\"%d*p1\", 0, \"%g*p1\"], \"rotate\": {\"vector\": "
                   "[%.17g, %.17g, %.17g]}}",
                   i + k ? ", " : "", i, k, i, k, .1 * k, w[0], w[1], w[2]);
    }
  }
  return t;
}

static char *put_joints(char *t, int n) {
  for (int i = 0; i < n; i++) {
    char a[20] = "ground";
    if (i > 0) {
      sprintf(a, "m%d_1", i - 1);
    }
    t += sprintf(t, "%s\"j%d\": {\"type\": \"revolute\", \"between\": [\"%s\", \"m%d_0\"]}", i ? ", " : "", i, a, i);
  }
  return t;
}

static char *chain_text(int n, bool reaction) {
  char *text = malloc((size_t)n * 2500 + 2000), *t = text;
  t += sprintf(
      t,
      "{\"mbgrad\": 1, \"parameters\": {\"p0\": 1, \"p1\": 1, \"p2\": 1}, \"gravity\": [0, 0, -9.81], \"bodies\": {");
  t = put_bodies(t, n);
  t += sprintf(t, "}, \"markers\": {");
  t = put_markers(t, n);
  t += sprintf(t, "}, \"joints\": {");
  t = put_joints(t, n);
  t += sprintf(t, "}, \"forces\": {");
  for (int i = 0; i < n; i++) {
    t += sprintf(t, "%s\"f%d\": {\"type\": \"actuator\", \"joint\": \"j%d\", \"force\": \"0.2-0.3*p2*(x-0.1)-0.1*v\"}",
                 i ? ", " : "", i, i);
  }
  t += sprintf(t, "}, \"signals\": {");
  for (int i = 0; i < n; i++) {
    t += sprintf(t, "%s\"u%d\": {\"type\": \"coordinate-acceleration\", \"joint\": \"j%d\"}", i ? ", " : "", i, i);
  }
  for (int k = 0; reaction && k < 5; k++) {
    static const char *const names[] = {"fx", "fy", "fz", "mx", "my"};
    t += sprintf(t, ", \"%s\": {\"type\": \"reaction\", \"joint\": \"j0\", \"component\": \"%s\"}", names[k], names[k]);
  }
  t += sprintf(t, "}, \"initial\": {\"pin\": {");
  for (int i = 0; i < n; i++) {
    t += sprintf(t, "%s\"q%d\": {\"joint\": \"j%d\", \"value\": %.17g, \"rate\": %.17g}", i ? ", " : "", i, i,
                 0.4 * sin(1.3 * i + .5), 0.6 * cos(.7 * i + .2));
  }
  sprintf(t, "}}, \"run\": {\"end\": 1}}");
  return text;
}

/* with reactions by pieces, without them by the articulated-body recursion */
static void test_chain(void **state) {
  (void)state;
  static const double u[] = {-10.3616268054055, 24.679248774211, -17.17870645666, 3.5114562288038};
  static const double up[3][4] = {{.252116420983, -.944670827343, 2.075504742673, -4.050111037506},
                                  {10.587416947659, -26.344550524726, 20.896740368944, -8.734763101551},
                                  {-.047809602624, .254516947343, -.759837406116, 1.601912026837}};
  static const double f[] = {-4.9890229260876, -5.678139852327, 24.924890950287, 2.349829284293, -36.112772853707};
  static const char *const names[] = {"fx", "fy", "fz", "mx", "my"};
  for (int reaction = 0; reaction < 2; reaction++) {
    first_node x = {0};
    char *text = chain_text(4, reaction), name[16];
    open_first(&x, NULL, text);
    for (int i = 0; i < 4; i++) {
      snprintf(name, sizeof name, "u%d", i);
      check(&x, name, -1, u[i], 1e-12 * 25);
      for (int p = 0; p < 3; p++) {
        check(&x, name, p, up[p][i], 1e-12 * 27);
      }
    }
    for (int k = 0; reaction && k < 5; k++) {
      check(&x, names[k], -1, f[k], 1e-12 * 37);
    }
    close_first(&x);
    free(text);
  }
}

static void test_long_chain(void **state) {
  (void)state;
  first_node x = {0};
  char *text = chain_text(64, false);
  open_first(&x, NULL, text);
  check(&x, "u0", -1, -7.9057481706, 1e-10);
  check(&x, "u1", -1, 19.9270854192, 1e-10);
  check(&x, "u62", -1, -1.3141205318, 1e-10);
  check(&x, "u63", -1, -2.0626466556, 1e-10);
  static const double first[] = {.0410495278, 9.9576353599, -.0248598271},
                      last[] = {-.1924213130, -.3850678600, -1.2136658678};
  for (int p = 0; p < 3; p++) {
    check(&x, "u0", p, first[p], 1e-10);
    check(&x, "u63", p, last[p], 1e-10);
  }
  close_first(&x);
  free(text);
}

/* ---------------------------------------------------------------------- R3: four-bar */

static void test_four_bar(void **state) {
  (void)state;
  first_node x = {0};
  char path[300];
  sprintf(path, "%s/four-bar/model.json", MBG_GALLERY_DIR);
  char *text = support_read_file(path, NULL);
  open_first(&x, NULL, text);
  const double tol = 5e-11;
  check(&x, "udot1", -1, 8.10771122133, tol);
  check(&x, "udot2", -1, -7.32630921927, tol);
  check(&x, "udot3", -1, 6.11826052836, tol);
  check(&x, "udot4", -1, -6.89966253042, tol);
  check(&x, "f4x", -1, 2.78528345529, tol);
  check(&x, "f4y", -1, -15.16549593901, tol);
  check(&x, "f1x", -1, 4.3833377321, tol);
  check(&x, "f1y", -1, 7.9480968762, tol);
  /* by m2 at fixed positions and rates */
  check(&x, "udot1", 1, -17.2162427946, 1e-9);
  check(&x, "udot2", 1, 21.2064493328, 1e-9);
  check(&x, "udot3", 1, -8.9259881602, 1e-9);
  check(&x, "f4x", 1, -.2918033198, 1e-9);
  check(&x, "f4y", 1, -3.5924822644, 1e-9);
  close_first(&x);
  free(text);
}

/* ---------------------------------------------------------------------- R2: two flexible arms */

/* pins of modal coordinates: the start may not move them */
#define MODES                                                                                                          \
  "\"upper_c0\": {\"type\": \"modal-coordinate\", \"of\": \"upper\", \"mode\": 0},"                                    \
  "\"upper_r0\": {\"type\": \"modal-rate\", \"of\": \"upper\", \"mode\": 0},"                                          \
  "\"upper_c1\": {\"type\": \"modal-coordinate\", \"of\": \"upper\", \"mode\": 1},"                                    \
  "\"upper_r1\": {\"type\": \"modal-rate\", \"of\": \"upper\", \"mode\": 1},"                                          \
  "\"fore_c0\": {\"type\": \"modal-coordinate\", \"of\": \"fore\", \"mode\": 0},"                                      \
  "\"fore_r0\": {\"type\": \"modal-rate\", \"of\": \"fore\", \"mode\": 0},"                                            \
  "\"fore_c1\": {\"type\": \"modal-coordinate\", \"of\": \"fore\", \"mode\": 1},"                                      \
  "\"fore_r1\": {\"type\": \"modal-rate\", \"of\": \"fore\", \"mode\": 1},"
#define FROM_MODES                                                                                                     \
  ", \"upper_c0\": {\"signal\": \"upper_c0\", \"value\": 0.002}"                                                       \
  ", \"upper_r0\": {\"signal\": \"upper_r0\", \"value\": 0.1}"                                                         \
  ", \"upper_c1\": {\"signal\": \"upper_c1\", \"value\": -0.001}"                                                      \
  ", \"upper_r1\": {\"signal\": \"upper_r1\", \"value\": -0.2}"                                                        \
  ", \"fore_c0\": {\"signal\": \"fore_c0\", \"value\": -0.001}"                                                        \
  ", \"fore_r0\": {\"signal\": \"fore_r0\", \"value\": 0.3}"                                                           \
  ", \"fore_c1\": {\"signal\": \"fore_c1\", \"value\": 0.0015}"                                                        \
  ", \"fore_r1\": {\"signal\": \"fore_r1\", \"value\": 0.2}"

/* accelerations at a deformed and moving state, at t = 0.2 */
static void test_arms_at_state(void **state) {
  (void)state;
  first_node x = {0};
  char path[300];
  sprintf(path, "%s/two-arm/model.json", MBG_GALLERY_DIR);
  char *text = support_read_file(path, NULL);
  text = reference_insert(text, "upper", "\"deformation\": [0.002, -0.001], \"deformation_rate\": [0.1, -0.2], ");
  text = reference_insert(text, "fore", "\"deformation\": [-0.001, 0.0015], \"deformation_rate\": [0.3, 0.2], ");
  text = reference_insert(text, "signals",
                          MODES "\"u1\": {\"type\": \"coordinate-acceleration\", \"joint\": \"shoulder\"},"
                                "\"u2\": {\"type\": \"coordinate-acceleration\", \"joint\": \"hinge\"},"
                                "\"a0\": {\"type\": \"modal-acceleration\", \"of\": \"upper\", \"mode\": 0},"
                                "\"a1\": {\"type\": \"modal-acceleration\", \"of\": \"upper\", \"mode\": 1},"
                                "\"b0\": {\"type\": \"modal-acceleration\", \"of\": \"fore\", \"mode\": 0},"
                                "\"b1\": {\"type\": \"modal-acceleration\", \"of\": \"fore\", \"mode\": 1},"
                                "\"fx\": {\"type\": \"reaction\", \"joint\": \"hinge\", \"component\": \"fx\"},"
                                "\"fy\": {\"type\": \"reaction\", \"joint\": \"hinge\", \"component\": \"fy\"},");
  text = reference_insert(text, "run", "\"start\": 0.2, ");
  char *end = strrchr(text, '}');
  char *all = malloc(strlen(text) + 2000);
  sprintf(
      all,
      "%.*s, \"initial\": {\"pin\": {\"s\": {\"joint\": \"shoulder\", \"value\": 0.3, \"rate\": 1}, \"h\": {\"joint\": "
      "\"hinge\", \"value\": 0.5, \"rate\": -2}"
      "%s}}}",
      (int)(end - text), text, FROM_MODES);
  *strrchr(path, '/') = 0;
  x.end = 0.2 + 1e-6;
  open_first(&x, path, all);
  const double rel = 1e-11;
  static const struct {
    const char *signal;
    double value, L1, EI1, payload;
  } printed[] = {{"u1", 1137.5565832864, -3957.821629536, 1.291018098831, -5.761157527563},
                 {"u2", -2672.2044443241, 3921.060102343, -1.357523472783, 167.489496700684},
                 {"a0", -3333.443191386, 8208.735453562, -3.796467766962, NAN},
                 {"a1", 2217.496731538, -5408.833688933, 2.518361310646, NAN},
                 {"b0", 3606.616776867, NAN, NAN, NAN},
                 {"b1", -2412.111557762, NAN, NAN, NAN},
                 {"fx", 10.435282957948, NAN, NAN, NAN},
                 {"fy", -12.807765224632, NAN, NAN, NAN}};
  for (int i = 0; i < MBG_COUNT(printed); i++) {
    const double by[] = {printed[i].value, printed[i].L1, printed[i].EI1, printed[i].payload};
    const int parameter[] = {-1, 0, 2, 7};
    for (int k = 0; k < 4; k++) {
      if (!isnan(by[k])) {
        /* forces of 1e4 N in the modes stand behind the wrenches */
        check(&x, printed[i].signal, parameter[k], by[k], i < 6 ? rel * (1000 + fabs(by[k])) : 1e-9);
      }
    }
  }
  close_first(&x);
  free(all);
  free(text);
}

/* 250 steps of rk4 from rest: joint coordinates and modes are those of the page, so that the discrete values are,
   too */
static void test_arms(void **state) {
  (void)state;
  static const struct {
    int p;
    double x, y, tol;
  } printed[] = {{-1, 1.619032667480756, .732036307973467, 2e-12},
                 {0, 1.05409472023, .35939787684, 1e-11},
                 {7, -.054336725168, .257016363576, 1e-12},
                 {9, -.00317096175, .234801624799, 1e-11},
                 {2, -4.53805639e-8, 2.11025412e-8, 1e-16}};
  gradient_case c;
  double psi[2];
  char *text = reference_open(&c, "two-arm", NULL, NULL);
  c.options.formulation = "dca";
  c.options.step = 0.002;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_true(fabs(reference_value(&c, mbg_run_node_count(c.run) - 1, "angle1") - .568283083122) < 2e-12);
  assert_true(fabs(reference_value(&c, mbg_run_node_count(c.run) - 1, "angle2") + .322498327206656) < 2e-12);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "criteria");
  for (int method = 0; method < 2; method++) {
    double *g = gradient_case_gradient(&c, method ? MBG_METHOD_ADJOINT : MBG_METHOD_DIRECT);
    for (int i = 0; i < MBG_COUNT(printed); i++) {
      const double x = printed[i].p < 0 ? psi[0] : g[printed[i].p],
                   y = printed[i].p < 0 ? psi[1] : g[c.np + printed[i].p];
      if (!(fabs(x - printed[i].x) <= printed[i].tol && fabs(y - printed[i].y) <= printed[i].tol)) {
        fail_msg("parameter %d: %.13g %.13g, printed %.13g %.13g", printed[i].p, x, y, printed[i].x, printed[i].y);
      }
    }
    free(g);
  }
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- against a dense solution */

/* K x = y by LU with all kept rows, at the start of a model */
static void dense_solution(mbg_context *ctx, mbg__system *sys, const mbg__rank *rank, const double *M, const double *B,
                           const double *y, double *x) {
  const mbg_model *m = mbg__system_model(sys);
  const int n = m->nv + m->nrow;
  const mbg__csc *pat[2] = {mbg__system_pattern_K(sys), mbg__system_pattern_B(sys)};
  mbg__arena arena;
  mbg__lu lu;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  assert_int_equal(mbg__lu_prepare(&lu, &arena, n), MBG_OK);
  for (int j = 0; j < m->nv; j++) {
    for (int k = pat[0]->colptr[j]; k < pat[0]->colptr[j + 1]; k++) {
      lu.A[pat[0]->rowind[k] + n * j] += M[k];
    }
    for (int k = pat[1]->colptr[j]; k < pat[1]->colptr[j + 1]; k++) {
      const int r = pat[1]->rowind[k];
      if (rank->keep[r]) {
        lu.A[m->nv + r + n * j] += B[k];
        lu.A[j + n * (m->nv + r)] += B[k];
      }
    }
  }
  for (int r = 0; r < m->nrow; r++) {
    lu.A[(n + 1) * (m->nv + r)] += !rank->keep[r];
  }
  double *K = MBG_TAKE(&arena, double, n *n), *right = MBG_TAKE(&arena, double, n), *dx = MBG_TAKE(&arena, double, n);
  memcpy(K, lu.A, (size_t)(n * n) * sizeof(double));
  memset(x, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    right[i] = i < m->nv || rank->keep[i - m->nv] ? y[i] : 0;
  }
  assert_int_equal(mbg__lu_factor(&lu, NULL), MBG_OK);
  /* refined with residuals in extended precision: exact to the last digits, so that the other solution is what is
     judged */
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < n; i++) {
      long double r = right[i];
      for (int j = 0; j < n; j++) {
        r -= (long double)K[i + n * j] * x[j];
      }
      dx[i] = (double)r;
    }
    mbg__lu_solve(&lu, dx, 1);
    for (int i = 0; i < n; i++) {
      x[i] += dx[i];
    }
  }
  mbg__arena_destroy(&arena);
}

/* Several right sides by pieces and densely at the start of a run: the largest difference of accelerations relative to
   the largest of them. Multipliers of nearly dependent rows are checked by their residual. */
static double compare_solutions(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, const mbg__start_result *s,
                                uint64_t seed, mbg__dca_shape *shape) {
  enum { COLUMNS = 3 };
  const mbg_model *m = mbg__system_model(sys);
  const mbg__state bodies = {.t = s->t, .H = s->H, .v = s->v, .turns = s->turns};
  const int n = m->nv + m->nrow;
  mbg__dca_assembly *a;
  mbg__dca_panel *panel;
  support_rng rng = support_rng_make(seed);
  double worst = 0;
  double *M = MBG_TAKE(arena, double, mbg__csc_count(mbg__system_pattern_K(sys)));
  double *B = MBG_TAKE(arena, double, mbg__csc_count(mbg__system_pattern_B(sys)));
  double *x = MBG_TAKE(arena, double, n *COLUMNS), *all = MBG_TAKE(arena, double, n *COLUMNS);
  double *y = MBG_TAKE(arena, double, n), *z = MBG_TAKE(arena, double, n);
  assert_int_equal(mbg__arena_check(ctx, arena), MBG_OK);
  assert_int_equal(mbg__system_update(ctx, sys, &bodies), MBG_OK);
  mbg__system_matrices(sys, &(mbg__matrices){.M = M, .B = B});
  assert_int_equal(mbg__dca_assembly_create(ctx, arena, sys, s->rank, NULL, &a), MBG_OK);
  assert_int_equal(mbg__dca_panel_create(ctx, arena, a, COLUMNS, NULL, &panel), MBG_OK);
  if (mbg__dca_assembly_factor(ctx, a, M, B, 0) < 0) {
    fail_msg("seed %d: %s", (int)seed, mbg_context_error(ctx));
  }
  *shape = mbg__dca_assembly_shape(a);
  for (int i = 0; i < n * COLUMNS; i++) {
    x[i] = all[i] = support_uniform(&rng, -1, 1);
  }
  assert_true(mbg__dca_assembly_solve(a, panel, COLUMNS, x) < 1e-12);
  for (int q = 0; q < COLUMNS; q++) {
    double size = 0, off = 0;
    for (int i = 0; i < n; i++) {
      y[i] = all[i * COLUMNS + q];
    }
    dense_solution(ctx, sys, s->rank, M, B, y, z);
    for (int i = 0; i < m->nv; i++) {
      size = fmax(size, fabs(z[i]));
      off = fmax(off, fabs(z[i] - x[i * COLUMNS + q]));
    }
    worst = fmax(worst, off / size);
  }
  return worst;
}

static double check_dense(const char *text, uint64_t seed, mbg__dca_shape *shape) {
  mbg_context *ctx;
  mbg_model *m;
  mbg__arena arena;
  mbg__design *design;
  mbg__system *sys;
  mbg__start_work *start;
  double worst = 0;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_parse(ctx, "model", text, strlen(text), NULL, &m), MBG_OK);
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  assert_int_equal(mbg__design_create(ctx, &arena, m, &design), MBG_OK);
  assert_int_equal(mbg__design_update(ctx, design, m->p), MBG_OK);
  assert_int_equal(mbg__system_create(ctx, m, design, &sys), MBG_OK);
  assert_int_equal(mbg__start_create(ctx, sys, &start), MBG_OK);
  *shape = (mbg__dca_shape){0};
  /* a few random models cannot be assembled */
  if (mbg__start_solve(ctx, start, true) == MBG_OK) {
    worst = compare_solutions(ctx, &arena, sys, mbg__start_result_of(start), seed, shape);
  }
  mbg__start_destroy(start);
  mbg__system_destroy(sys);
  mbg__arena_destroy(&arena);
  mbg_model_destroy(m);
  mbg_context_destroy(ctx);
  return worst;
}

/* random trees and loops, rigid and with modal bodies; 1e-10 as the dense solution itself is no better than the
   condition allows */
static void test_dense(void **state) {
  (void)state;
  double worst = 0;
  int skipped = 0;
  for (int i = 0; i < support_rounds(40, 400); i++) {
    random_model_options opt = random_model_mix((uint64_t)i);
    opt.modal = i % 3 == 2;
    mbg__dca_shape shape;
    char *text = random_model((uint64_t)i, &opt);
    const double off = check_dense(text, (uint64_t)i, &shape);
    worst = fmax(worst, off);
    skipped += shape.nodes == 0;
    if (!(off <= 1e-10)) {
      fail_msg("seed %d: pieces and dense solution differ by %.2e", i, off);
    }
    free(text);
  }
  assert_true(skipped <= support_rounds(2, 8));
  if (support_rounds(0, 1)) {
    print_message("largest difference from the dense solution: %.1e\n", worst);
  }
}

/* a chain of 64: six rounds, a joint open at each end; a hub with arms does not make a large front */
static void test_shapes(void **state) {
  (void)state;
  mbg__dca_shape shape;
  char *text = chain_text(64, false);
  assert_true(check_dense(text, 1, &shape) < 1e-10);
  assert_int_equal(shape.depth, 6);
  assert_int_equal(shape.most_open, 10);
  free(text);
  enum { ARMS = 40 };
  text = malloc(ARMS * 300 + 300);
  size_t n = (size_t)sprintf(text, "{\"mbgrad\": 1, \"bodies\": {\"hub\": {\"mass\": 5, \"inertia\": [1, 1, 2]}");
  for (int i = 0; i < ARMS; i++) {
    n +=
        (size_t)sprintf(text + n, ", \"a%d\": {\"mass\": 1, \"inertia\": [0.1, 0.2, 0.3], \"position\": [%g, %g, 0.1]}",
                        i, cos(i), sin(i));
  }
  n += (size_t)sprintf(text + n, "}, \"joints\": {");
  for (int i = 0; i < ARMS; i++) {
    n += (size_t)sprintf(text + n,
                         "%s\"j%d\": {\"type\": \"revolute\", \"between\": [\"hub\", \"a%d\"], \"at\": [%g, %g, 0], "
                         "\"axis\": [0, 0, 1]}",
                         i ? ", " : "", i, i, cos(i) / 2, sin(i) / 2);
  }
  sprintf(text + n, "}, \"run\": {\"end\": 1}}");
  assert_true(check_dense(text, 2, &shape) < 1e-10);
  assert_true(shape.most_open <= 10 && shape.depth <= 3);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain), cmocka_unit_test(test_long_chain), cmocka_unit_test(test_four_bar),
      cmocka_unit_test(test_dense), cmocka_unit_test(test_shapes),     cmocka_unit_test(test_arms_at_state),
      cmocka_unit_test(test_arms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
