/* What runs of several formulations have in common in their tests: FORMULATION is defined by the
   test. */
#ifndef PROPERTY_GRADIENT_RUN_H
#define PROPERTY_GRADIENT_RUN_H

#include "property/gradient_case.h"

#include <stdio.h>

/* direct against adjoint, and adjoint against twin; rounding of index 3, see gradient_proof.h */
static const double tol_direct = 1e-10, tol_twin = 1e-9;

static inline void open_gallery(gradient_case *c, char *path, const char *name) {
  sprintf(path, "%s/%s", MBG_GALLERY_DIR, name);
  gradient_case_open(c, path, NULL);
  c->options.formulation = FORMULATION;
}

/* breaks of the run and knots of controls are nodes; steps between them differ */
static inline void test_breaks(void **state) {
  (void)state;
  static const char *const models[] = {"quarter-car", "overhead-crane"};
  for (int i = 0; i < 2; i++) {
    gradient_case c;
    char path[300];
    open_gallery(&c, path, models[i]);
    c.options.step = i ? 0.0831 : 0.00731;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_compare(&c, models[i], tol_direct, tol_twin);
    gradient_case_close(&c);
  }
}

/* ---------------------------------------------------------------------- texts */

static inline void check_text(const char *what, const char *text) {
  gradient_case c;
  gradient_case_open(&c, NULL, text);
  c.options.formulation = FORMULATION;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_compare(&c, what, tol_direct, tol_twin);
  gradient_case_close(&c);
}

/* a torsion spring whose angle passes half a turn inside a step: the angle stays continuous */
static inline void test_half_turn(void **state) {
  (void)state;
  check_text("half a turn",
             "{\"mbgrad\": 1, \"parameters\": {\"k\": 3, \"w\": 4, \"a\": 2.9},"
             " \"bodies\": {\"b\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.5, \"com\": [0.2, 0, 0]}},"
             " \"joints\": {\"j\": {\"type\": \"revolute\", \"between\": [\"b\", \"ground\"], \"at\": [0, 0, 0]}},"
             " \"forces\": {\"s\": {\"type\": \"torsion-spring-damper\", \"joint\": \"j\", \"stiffness\": \"k\"}},"
             " \"signals\": {\"q\": {\"type\": \"coordinate\", \"joint\": \"j\"}, \"E\": {\"type\": \"energy\"}},"
             " \"criteria\": {\"end\": {\"terminal\": \"q\"}, \"sum\": {\"integral\": \"q^2\"}, \"drift\": "
             "{\"terminal\": \"E\"}},"
             " \"initial\": {\"pin\": {\"p\": {\"joint\": \"j\", \"coordinate\": \"angle\", \"value\": \"a\", "
             "\"rate\": \"w\"}}},"
             " \"run\": {\"end\": 0.4, \"step\": 0.02}}");
}

/* frames that depend on parameters outside the motions of their body, on links of a tree and on a free one */
static inline void test_outside_motions(void **state) {
  (void)state;
  check_text(
      "outside motions",
      "{\"mbgrad\": 1, \"parameters\": {\"z\": 0.3, \"a\": 0.4, \"k\": 50}, \"gravity\": [1, -9, 0],"
      " \"bodies\": {\"b\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.1, \"position\": [0.5, 0.2, \"z\"]},"
      "  \"d\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.1, \"position\": [1, 0.4, \"z\"]},"
      "  \"c\": {\"motion\": \"point\", \"mass\": 0.7, \"position\": [0, 1, 0.5], \"rotate\": [[\"x\", \"a\"], "
      "[\"z\", \"2*a\"]], \"velocity\": [1, 0.5, 0.2]}},"
      " \"markers\": {\"m\": {\"on\": \"c\", \"at\": [0.3, 0.1, 0.2]}, \"n\": {\"on\": \"d\", \"at\": [0.2, 0.3, "
      "0.1]}},"
      " \"joints\": {\"j\": {\"type\": \"distance\", \"between\": [\"ground\", \"c\"], \"length\": 1.2},"
      "  \"r\": {\"type\": \"revolute\", \"between\": [\"d\", \"b\"], \"at\": [\"0.7 + 0.1*a\", 0.3, \"z\"]}},"
      " \"forces\": {\"s\": {\"type\": \"spring-damper\", \"between\": [\"m\", \"n\"], \"stiffness\": \"k\", "
      "\"damping\": 2, \"rest\": 0.5}, \"g\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"b\"], "
      "\"points\": [[1, 1, 1], [0, 0, 0]], \"stiffness\": 20}},"
      " \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"n\", \"component\": \"x\"}, \"y\": {\"type\": "
      "\"position\", \"of\": \"m\", \"component\": \"y\"}, \"ax\": {\"type\": \"acceleration\", \"of\": \"m\", "
      "\"component\": \"x\"}, \"f\": {\"type\": \"reaction\", \"joint\": \"r\", \"component\": \"fy\", \"in\": "
      "\"world\"}},"
      " \"criteria\": {\"one\": {\"terminal\": \"x\"}, \"two\": {\"terminal\": \"y + 0.1*ax\"},"
      "  \"three\": {\"integral\": \"ax^2 + 0.1*f^2\"}}, \"run\": {\"end\": 0.5, \"step\": 0.01}}");
}

/* ---------------------------------------------------------------------- axes of the world */

/* a model as it is, and as a part that is turned and moved with its gravity: the same values and gradients */
static inline void test_moved(void **state) {
  (void)state;
  gradient_case c[2];
  char *text = support_read_file(MBG_GALLERY_DIR "/rssr/model.json", NULL), moved[1000];
  /* gravity (0, 0, -9.81) turned by 40 degrees about y, then 70 degrees about z */
  const double a = 40 * 3.14159265358979323846 / 180, b = 70 * 3.14159265358979323846 / 180;
  const double g[3] = {-9.81 * sin(a) * cos(b), -9.81 * sin(a) * sin(b), -9.81 * cos(a)};
  gradient_case_open(&c[0], NULL, text);
  support_write_file("rssr.json", text, strlen(text));
  sprintf(moved,
          "{\"mbgrad\": 1, \"gravity\": [%.17g, %.17g, %.17g], \"parts\": {\"r\": {\"use\": \"rssr.json\", \"at\": "
          "[3, -2, 5], \"rotate\": [[\"z\", \"70 deg\"], [\"y\", \"40 deg\"]]}},"
          " \"criteria\": {\"phi_end\": {\"terminal\": \"r.phi\"}, \"psi_end\": {\"terminal\": \"r.psi\"}}}",
          g[0], g[1], g[2]);
  gradient_case_open(&c[1], NULL, moved);
  double *gradient[2];
  for (int i = 0; i < 2; i++) {
    c[i].options.formulation = FORMULATION;
    c[i].options.end = 0.5;
    c[i].options.step = 0.01;
    gradient_case_run(&c[i]);
    gradient_case_simulate(&c[i]);
    gradient[i] = gradient_case_gradient(&c[i], MBG_METHOD_ADJOINT);
  }
  assert_int_equal(c[0].np, c[1].np);
  for (int k = 0; k < 2; k++) {
    assert_string_equal(c[0].m->criteria[k].name, c[1].m->criteria[k].name);
    /* rounding of positions of 10 m in index 3: 4 eps/h^2 */
    assert_true(gradient_difference(c[0].np, c[0].p, gradient[1] + k * c[1].np, gradient[0] + k * c[0].np, 0) < 1e-9);
  }
  for (int i = 0; i < 2; i++) {
    free(gradient[i]);
    gradient_case_close(&c[i]);
  }
  free(text);
}

/* ---------------------------------------------------------------------- another formulation */

/* largest |p dg|/max |p g| of all criteria */
static inline double distance(const gradient_case *c, const double *a, const double *g) {
  double worst = 0;
  for (int k = 0; k < c->nc; k++) {
    double off = 0, most = 0;
    for (int i = 0; i < c->np; i++) {
      const double p = c->p[i] != 0 ? c->p[i] : 1;
      off = fmax(off, fabs(p * (a[k * c->np + i] - g[k * c->np + i])));
      most = fmax(most, fabs(p * g[k * c->np + i]));
    }
    worst = c->m->criteria[k].kind == MBG__PATH || most == 0 ? worst : fmax(worst, off / most);
  }
  return worst;
}

/* ---------------------------------------------------------------------- refused */

static inline void check_refused(const char *text, const mbg_run_options *options, int status, const char *message) {
  mbg_context *ctx;
  mbg_model *m;
  mbg_run *run = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_parse(ctx, "model", text, strlen(text), NULL, &m), MBG_OK);
  int err = mbg_run_create(ctx, m, options, &run);
  err = err < 0 ? err : mbg_run_simulate(ctx, run);
  assert_int_equal(err, status);
  if (!strstr(mbg_context_error(ctx), message)) {
    fail_msg("expected '%s', got '%s'", message, mbg_context_error(ctx));
  }
  mbg_run_destroy(run);
  mbg_model_destroy(m);
  mbg_context_destroy(ctx);
}

#define CRANK                                                                                                          \
  "{\"mbgrad\": 1, \"parameters\": {\"w\": 2},"                                                                        \
  " \"bodies\": {\"crank\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.1, \"position\": [0.5, 0, 0]},"       \
  "  \"rod\": {\"motion\": \"planar\", \"mass\": %s, \"inertia\": %s, \"position\": [1.4, 0, 0]}},"                    \
  " \"joints\": {\"O\": {\"type\": \"revolute\", \"between\": [\"ground\", \"crank\"], \"at\": [0, 0, 0]},"            \
  "  \"A\": {\"type\": \"revolute\", \"between\": [\"crank\", \"rod\"], \"at\": [1, 0, 0]}%s},"                        \
  " \"run\": {\"formulation\": \"" FORMULATION "\", \"end\": 1, \"step\": 0.01%s}}"

#endif
