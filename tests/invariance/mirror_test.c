/* A model used as a mirrored part moves as its mirror image: with S the reflection and P the place of the part, frames
   P S H S and twists (S U, det(S) S W) give the mirrored wrenches, rows that differ by their sign at most, equal
   coordinates, distances and energies, and equal magnitudes of every other signal; so does the assembled start.

   Tolerance 1e-10 of the block, as for a model that is moved. Expressions of signals are left out: the components of a
   mirrored part change their signs, an expression of them does something else. */
#include "start/start.h"
#include "support/model_case.h"
#include "support/random_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double tol = 1e-10;
static double worst;
static uint64_t seed;

static double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

static void compare(const char *what, int n, const double *a, const double *b) {
  const double scale = fmax(largest(n, a), 1);
  for (int i = 0; i < n; i++) {
    const double deviation = fabs(a[i] - b[i]) / scale;
    worst = deviation <= worst ? worst : deviation;
    if (!(deviation <= tol)) {
      fail_msg("seed %llu: %s[%d]: %.15g, mirrored %.15g", (unsigned long long)seed, what, i, a[i], b[i]);
    }
  }
}

/* ---------------------------------------------------------------------- mirror images */

typedef struct {
  model_case a, b;
  support_rng rng;
  mbg__frame P;
  double s[3], det;
  double *sign; /* of each row */
} pair;

static void mirror_frame(const pair *p, const mbg__frame *H, mbg__frame *out) {
  mbg__frame F;
  for (int i = 0; i < 3; i++) {
    F.x[i] = p->s[i] * H->x[i];
    for (int j = 0; j < 3; j++) {
      F.R[3 * i + j] = p->s[i] * p->s[j] * H->R[3 * i + j];
    }
  }
  frame_mul(out, &p->P, &F);
}

static void mirror_body(const pair *p, int body, const mbg__frame *H, mbg__frame *out) {
  if (p->a.m->bodies[body].carrier >= 0) {
    *out = *H;
  } else {
    mirror_frame(p, H, out);
  }
}

/* twists and wrenches alike */
static void mirror_vector(const pair *p, const double *x, double *out) {
  for (int i = 0; i < p->a.m->nw; i++) {
    const bool modal = p->a.m->bodies[i / 6].carrier >= 0; /* coordinates of mirrored shapes */
    out[i] = modal ? x[i] : (i % 6 < 3 ? 1 : p->det) * p->s[i % 3] * x[i];
  }
}

static void mirror_state(pair *p) {
  const mbg_model *m = p->a.m;
  for (int i = 0; i < m->nbody; i++) {
    mirror_body(p, i, &p->a.H[i], &p->b.H[i]);
  }
  mirror_vector(p, p->a.v, p->b.v);
  mirror_vector(p, p->a.vd, p->b.vd);
  for (int i = 0; i < m->ncoord; i++) {
    const mbg__coord *c = &p->b.m->coords[i];
    if (c->turn >= 0) {
      p->b.turns[c->turn] = (int)c->sign * p->a.turns[m->coords[i].turn];
    }
  }
  p->b.t = p->a.t;
}

/* signs of the rows, from a state where none of them is 0 */
static void find_signs(pair *p) {
  const int n = p->a.m->nrow;
  double *phi[2] = {model_case_array(&p->a, n), model_case_array(&p->b, n)};
  p->sign = model_case_array(&p->a, n);
  mbg__system_residual(p->a.sys, NULL, phi[0], NULL, NULL, NULL);
  mbg__system_residual(p->b.sys, NULL, phi[1], NULL, NULL, NULL);
  for (int i = 0; i < n; i++) {
    p->sign[i] = phi[0][i] * phi[1][i] < 0 ? -1 : 1;
  }
}

/* ---------------------------------------------------------------------- comparison */

static void times_signs(const pair *p, const double *x, double *out) {
  for (int i = 0; i < p->a.m->nrow; i++) {
    out[i] = p->sign[i] * x[i];
  }
}

static void compare_equations(pair *p) {
  model_case *a = &p->a, *b = &p->b;
  const mbg_model *m = a->m;
  double *r = model_case_array(a, m->nw), *image = model_case_array(a, m->nw), *rb = model_case_array(a, m->nw);
  double *x[3], *y[3];
  for (int k = 0; k < 3; k++) {
    x[k] = model_case_array(a, m->nrow);
    y[k] = model_case_array(a, m->nrow);
  }
  mbg__system_residual(a->sys, r, x[0], x[1], x[2], NULL);
  mbg__system_residual(b->sys, rb, y[0], y[1], y[2], NULL);
  for (int k = 0; k < 3; k++) {
    times_signs(p, x[k], x[k]);
  }
  mirror_vector(p, r, image);
  compare("phi", m->nrow, x[0], y[0]);
  compare("phid", m->nrow, x[1], y[1]);
  compare("phidd", m->nrow, x[2], y[2]);
  compare("r", m->nw, image, rb);
}

static void compare_coordinates(pair *p) {
  const int n = p->a.m->ncoord;
  double *q[2] = {model_case_array(&p->a, n), model_case_array(&p->b, n)};
  mbg__system_coords(p->a.sys, q[0]);
  mbg__system_coords(p->b.sys, q[1]);
  compare("coordinate", n, q[0], q[1]);
  mbg__system_coord_rates(p->a.sys, q[0]);
  mbg__system_coord_rates(p->b.sys, q[1]);
  compare("rate", n, q[0], q[1]);
}

/* Magnitudes; what is a component in world axes turns with the part. The middle angle of a sequence such as xyx is
   never negative: where its mirror image would be, the other two are half a turn further. */
static void compare_signals(pair *p) {
  const mbg_model *m = p->a.m;
  const real *x, *y;
  char label[80];
  assert_int_equal(mbg__system_signals(p->a.ctx, p->a.sys, &x), MBG_OK);
  assert_int_equal(mbg__system_signals(p->b.ctx, p->b.sys, &y), MBG_OK);
  for (int i = 0; i < p->b.m->nsignal; i++) {
    const mbg__signal *s = &m->signals[i];
    const bool turns = !strcmp(s->type->key, "euler-angle");
    const double a = fabs(turns ? sin(x[i]) : x[i]), b = fabs(turns ? sin(y[i]) : y[i]);
    const bool wrench =
        s->type->role == MBG__ROLE_REACTION || (s->type->role == MBG__ROLE_FORCE && m->forces[s->force].type);
    if (s->type->role != MBG__ROLE_VALUE && !(wrench && s->opt[1] == 2)) {
      snprintf(label, sizeof label, "magnitude of signal '%s' (%s)", s->name, s->type->key);
      compare(label, 1, &a, &b);
    }
  }
}

static void compare_start(pair *p) {
  const mbg_model *m = p->a.m;
  model_case *c[2] = {&p->a, &p->b};
  mbg__start_work *s[2];
  int err[2];
  for (int k = 0; k < 2; k++) {
    assert_int_equal(mbg__start_create(c[k]->ctx, c[k]->sys, &s[k]), MBG_OK);
    err[k] = mbg__start_solve(c[k]->ctx, s[k], true);
  }
  assert_int_equal(err[0], err[1]);
  const mbg__start_result *ra = mbg__start_result_of(s[0]), *rb = mbg__start_result_of(s[1]);
  double *v = model_case_array(&p->a, m->nw);
  for (int i = 0; err[0] == MBG_OK && i < m->nbody; i++) {
    mbg__frame H;
    mirror_body(p, i, &ra->H[i], &H);
    compare("assembled position", 3, H.x, rb->H[i].x);
    compare("assembled rotation", 9, H.R, rb->H[i].R);
  }
  mirror_vector(p, ra->v, v);
  if (err[0] == MBG_OK) {
    compare("assembled rates", m->nw, v, rb->v);
  }
  mbg__start_destroy(s[0]);
  mbg__start_destroy(s[1]);
}

/* ---------------------------------------------------------------------- runs */

static void random_place(pair *p, bool flat, int axis) {
  double w[3];
  support_normals(&p->rng, w, 3);
  if (flat) {
    w[0] = w[1] = 0;
  }
  mbg__so3_exp(p->P.R, w);
  v3_zero(p->P.x); /* so that energies stay */
  for (int i = 0; i < 3; i++) {
    p->s[i] = i == axis ? -1 : 1;
  }
  p->det = -1;
}

static void write_outer(const char *path, const pair *p, int axis) {
  char text[1000];
  double g[3], w[3];
  for (int i = 0; i < 3; i++) {
    w[i] = p->s[i] * p->a.design->attr[p->a.m->gravity + i];
  }
  m3_mulv(g, p->P.R, w);
  mbg__so3_log(w, p->P.R);
  const int size =
      snprintf(text, sizeof text,
               "{\"mbgrad\": 1, \"gravity\": [%.17g, %.17g, %.17g], \"parts\": {\"M\": {\"use\": \"inner.json\", "
               "\"mirror\": \"%c\", \"rotate\": {\"vector\": [%.17g, %.17g, %.17g]}}}}",
               g[0], g[1], fabs(g[2]) < 1e-15 ? 0 : g[2], "xyz"[axis], w[0], w[1], w[2]);
  support_write_file(path, text, (size_t)size);
}

static void check_model(const char *folder, uint64_t number) {
  static const random_kind kinds[] = {RANDOM_TREE, RANDOM_LOOP, RANDOM_PLANAR};
  pair p = {.rng = support_rng_make(number)};
  char inner[80], outer[80];
  seed = number;
  random_model_options opt = random_model_mix(number);
  opt.kind = kinds[number % 3];
  opt.mirrorable = true;
  opt.modal = number % 4 == 3;
  const bool flat = opt.kind == RANDOM_PLANAR;
  const int axis = support_index(&p.rng, flat ? 2 : 3);
  random_place(&p, flat, axis);
  snprintf(inner, sizeof inner, "%s/inner.json", folder);
  snprintf(outer, sizeof outer, "%s/outer.json", folder);
  char *text = random_model(number, &opt);
  support_write_file(inner, text, strlen(text));
  model_case_open(&p.a, inner, NULL);
  write_outer(outer, &p, axis);
  model_case_open(&p.b, outer, NULL);
  assert_true(p.a.m->nw == p.b.m->nw && p.a.m->nrow == p.b.m->nrow && p.a.m->ncoord == p.b.m->ncoord);

  model_case_state(&p.a, &p.rng, 0.1);
  mirror_state(&p);
  model_case_update(&p.b);
  find_signs(&p);
  times_signs(&p, p.a.lambda, p.b.lambda);
  model_case_update(&p.b);
  compare_coordinates(&p);
  compare_equations(&p);
  compare_signals(&p);
  compare_start(&p);
  model_case_close(&p.a);
  model_case_close(&p.b);
  free(text);
  remove(inner);
  remove(outer);
}

static void test_mirror(void **state) {
  (void)state;
  char folder[] = "/tmp/mbgrad-mirror-XXXXXX";
  const int rounds = support_rounds(15, 150);
  assert_non_null(mkdtemp(folder));
  for (int i = 0; i < rounds; i++) {
    check_model(folder, (uint64_t)i);
  }
  rmdir(folder);
}

static int report(void **state) {
  (void)state;
  if (support_rounds(0, 1)) {
    print_message("worst deviation %.1e\n", worst);
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mirror)};
  return cmocka_run_group_tests(tests, NULL, report);
}
