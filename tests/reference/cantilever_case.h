/* A clamped beam in equilibrium, for comparisons with printed numbers. */
#ifndef REFERENCE_CANTILEVER_CASE_H
#define REFERENCE_CANTILEVER_CASE_H

#include "reference/reference_case.h"

/* Makes a model from a format; free with free(). */
static inline char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline char *text_of(const char *format, ...) {
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  const int n = vsnprintf(NULL, 0, format, list);
  char *text = malloc((size_t)n + 1);
  assert_non_null(text);
  vsnprintf(text, (size_t)n + 1, format, again);
  va_end(again);
  va_end(list);
  return text;
}

/* A cantilever along x, or another one from the origin, in equilibrium: position of the tip, and its axes x and y in
   the world. */
typedef struct {
  int n;
  double L, width, height, E, nu;
  const char *shape;          /* instead of the end (L, 0, 0): "\"points\": [...]" */
  const char *section;        /* further keys: ", \"shear\": 0.85" */
  double force[3], torque[3]; /* dead loads of the tip */
  double moment;              /* follower moment about axis 3 */
  double x[3], axis[2][3];    /* results */
} cantilever;

static inline char *cantilever_text(const cantilever *b) {
  char signals[2000] = "";
  for (int k = 0; k < 3; k++) {
    static const char names[] = "xyz";
    const size_t used = strlen(signals);
    snprintf(signals + used, sizeof signals - used,
             "%s\"x%d\": {\"type\": \"position\", \"of\": \"arm.%d\", \"component\": \"%c\"}, \"a%d\": {\"type\": "
             "\"direction\", \"of\": \"arm.%d\", \"axis\": \"x\", \"component\": \"%c\"}, \"b%d\": {\"type\": "
             "\"direction\", "
             "\"of\": \"arm.%d\", \"axis\": \"y\", \"component\": \"%c\"}",
             k ? ", " : "", k, b->n, names[k], k, b->n, names[k], k, b->n, names[k]);
  }
  char straight[60];
  snprintf(straight, sizeof straight, "\"to\": [%.17g, 0, 0]", b->L);
  return text_of(
      "{\"mbgrad\": 1, \"beams\": {\"arm\": {\"elements\": %d, %s, \"section\": {\"type\": "
      "\"rectangle\", \"width\": %.17g, \"height\": %.17g%s}, \"E\": %.17g, \"nu\": %.17g, \"rho\": 1000}}, "
      "\"joints\": {\"clamp\": {\"type\": \"fixed\", \"between\": [\"ground\", \"arm.0\"], \"at\": [0, 0, 0]}}, "
      "\"forces\": "
      "{\"dead\": {\"type\": \"force\", \"on\": \"arm.%d\", \"force\": [%.17g, %.17g, %.17g], \"torque\": [%.17g, "
      "%.17g, %.17g]}, \"moment\": "
      "{\"type\": \"force\", \"on\": \"arm.%d\", \"in\": \"body\", \"torque\": [0, 0, %.17g]}}, \"signals\": {%s}, "
      "\"initial\": {\"start\": \"equilibrium\"}, \"run\": {\"end\": 1e-6, \"step\": 1e-6}}",
      b->n, b->shape ? b->shape : straight, b->width, b->height, b->section ? b->section : "", b->E, b->nu, b->n,
      b->force[0], b->force[1], b->force[2], b->torque[0], b->torque[1], b->torque[2], b->n, b->moment, signals);
}

static inline void solve(cantilever *b) {
  gradient_case c;
  char *text = cantilever_text(b);
  gradient_case_open(&c, NULL, text);
  c.options.all_signals = 1;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  for (int k = 0; k < 3; k++) {
    char name[3][16];
    for (int i = 0; i < 3; i++) {
      snprintf(name[i], sizeof name[i], "%c%d", "xab"[i], k);
    }
    b->x[k] = reference_value(&c, 0, name[0]);
    b->axis[0][k] = reference_value(&c, 0, name[1]);
    b->axis[1][k] = reference_value(&c, 0, name[2]);
  }
  gradient_case_close(&c);
  free(text);
}

static inline void close_to(const char *what, double a, double b, double tol) {
  if (!(fabs(a - b) <= tol)) {
    fail_msg("%s: %.15g, expected %.15g: off by %.2e", what, a, b, fabs(a - b));
  }
}

#endif
