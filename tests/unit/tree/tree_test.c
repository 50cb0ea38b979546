/* Trees of random models (all joints, motions, loops, modal bodies, beams) and of the vehicle: joints of the tree hold
   wherever coordinates go, frames are read back, work is the same in joints and bodies, matrices agree with directional
   derivatives and these with their transposes. That the directional derivatives themselves are right, the complex twin
   proves on whole runs (property.gradient_ali3p, property.gradient_ali3p_flexible). */
#include "start/start.h"
#include "support/model_case.h"
#include "support/random_model.h"
#include "support/tree_text.h"
#include "tree/tree.h"
#include "tree/tree_lanes.h"
#include "tree/tree_local.h"
#include "tree/tree_recursion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* rounding relative to the largest entry of a result */
static const double tol = 1e-11;

typedef struct {
  model_case c;
  mbg__start_work *start;
  mbg__tree *tree;
  int n, nrow;
  mbg__frame *E;
  double *w, *a, *lambda, *q;
  int recursions; /* systems that were eliminated along the tree */
  char name[40];
} tree_case;

static double *randoms(tree_case *x, support_rng *rng, int n) {
  double *out = model_case_array(&x->c, n);
  for (int i = 0; i < n; i++) {
    out[i] = support_uniform(rng, -1, 1);
  }
  return out;
}

/* a tree at a random state near the assembled start; false: few random models cannot start */
static bool open_tree(tree_case *x, support_rng *rng, const char *file, const char *text) {
  model_case_open(&x->c, file, text);
  const mbg_model *m = x->c.m;
  if (mbg__start_create(x->c.ctx, x->c.sys, &x->start) < 0 || mbg__start_solve(x->c.ctx, x->start, true) < 0) {
    print_message("%s: %s\n", x->name, mbg_context_error(x->c.ctx));
    return false;
  }
  const mbg__start_result *s = mbg__start_result_of(x->start);
  assert_int_equal(mbg__tree_create(x->c.ctx, x->c.sys, s->rank, &x->tree), MBG_OK);
  assert_int_equal(mbg__tree_modal_create(x->c.ctx, x->tree), MBG_OK);
  x->n = mbg__tree_size(x->tree);
  x->nrow = mbg__tree_rows(x->tree, NULL);
  mbg__frame *E = mbg__arena_take(&x->c.arena, (size_t)m->nbody, sizeof *E);
  x->E = mbg__arena_take(&x->c.arena, (size_t)m->nbody, sizeof *x->E);
  x->w = model_case_array(&x->c, x->n);
  mbg__tree_local_read(x->tree, s->H, s->v, E, x->w);
  double *d = randoms(x, rng, x->n);
  for (int i = 0; i < x->n; i++) {
    d[i] *= 0.3;
    x->w[i] += support_uniform(rng, -1, 1);
  }
  mbg__tree_move(x->tree, E, d, x->E);
  x->a = randoms(x, rng, x->n);
  x->q = randoms(x, rng, x->n);
  x->lambda = randoms(x, rng, x->nrow);
  return true;
}

static void close_tree(tree_case *x) {
  mbg__tree_destroy(x->tree);
  mbg__start_destroy(x->start);
  model_case_close(&x->c);
}

/* updated and linearized; with_q: inertia of q and rows alone. E1 (n) may be NULL */
static void update(tree_case *x, bool with_q, double *E1) {
  const mbg__tree_state s = {
      .t = 0.1, .E = x->E, .w = x->w, .a = x->a, .q = with_q ? x->q : NULL, .lambda = x->lambda, .turns = x->c.turns};
  double *own = model_case_array(&x->c, x->n);
  assert_int_equal(mbg__tree_update(x->c.ctx, x->tree, &s), MBG_OK);
  mbg__tree_residual(x->tree, E1 ? E1 : own, NULL, NULL, NULL);
  assert_int_equal(mbg__tree_linearize(x->c.ctx, x->tree), MBG_OK);
}

static double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

static void compare(const tree_case *x, const char *what, int n, const double *a, const double *b) {
  const double scale = fmax(1, largest(n, b));
  for (int i = 0; i < n; i++) {
    if (!(fabs(a[i] - b[i]) <= tol * scale)) {
      fail_msg("%s: %s[%d] %.15g and %.15g", x->name, what, i, a[i], b[i]);
    }
  }
}

/* ---------------------------------------------------------------------- states */

/* rows of the tree's joints and their rates stay zero; joint frames and rates are read back from the bodies */
static void check_held(tree_case *x) {
  const mbg_model *m = x->c.m;
  const int *rows;
  mbg__frame *E = mbg__arena_take(&x->c.arena, (size_t)m->nbody, sizeof *E);
  double *w = model_case_array(&x->c, x->n), *phi = model_case_array(&x->c, m->nrow);
  double *phid = model_case_array(&x->c, m->nrow);
  update(x, false, NULL);
  const mbg__state bodies = mbg__tree_bodies(x->tree);
  mbg__tree_local_read(x->tree, bodies.H, bodies.v, E, w);
  compare(x, "w", x->n, w, x->w);
  for (int k = 0; k < m->nbody; k++) {
    compare(x, "E", 12, E[k].R, x->E[k].R);
  }
  assert_int_equal(mbg__system_update(x->c.ctx, x->c.sys, &bodies), MBG_OK);
  mbg__system_residual(x->c.sys, NULL, phi, phid, NULL, NULL);
  (void)mbg__tree_rows(x->tree, &rows);
  for (int i = 0; i < x->nrow; i++) {
    phi[rows[i]] = phid[rows[i]] = 0;
  }
  /* the assembled start satisfies its rows to 1e-12, and the tree keeps them as they are there; no row is redundant
     here */
  assert_true(largest(m->nrow, phi) < 1e-10 && largest(m->nrow, phid) < 1e-10);
}

/* q.E1 = sum of the work of the bodies' residuals on J q */
static void check_work(tree_case *x) {
  const mbg_model *m = x->c.m;
  double *E1 = model_case_array(&x->c, x->n), *r = model_case_array(&x->c, m->nw), *w = model_case_array(&x->c, m->nw);
  double *e = model_case_array(&x->c, 6 * m->nbody), joints = 0, bodies = 0;
  const mbg__link *l = mbg__tree_links(x->tree);
  update(x, false, E1);
  mbg__system_residual(x->c.sys, r, NULL, NULL, NULL, NULL);
  for (int k = 0; k < m->nbody; k++) {
    for (int i = 0; i < l[k].nz; i++) {
      e[6 * k + l[k].comp[i]] = x->q[l[k].first + i];
    }
  }
  mbg__tree_kin_push(x->tree, &(mbg__tree_direction){.e = e}, w, NULL, NULL);
  for (int i = 0; i < x->n; i++) {
    joints += x->q[i] * E1[i];
  }
  for (int i = 0; i < m->nw; i++) {
    bodies += w[i] * r[i];
  }
  compare(x, "work", 1, &joints, &bodies);
}

/* ---------------------------------------------------------------------- derivatives */

/* a direction of the attributes that parameters can take */
static double *attributes(tree_case *x, support_rng *rng) {
  double *dp = randoms(x, rng, x->c.m->np), *da = model_case_array(&x->c, x->c.m->na);
  mbg__design_push(x->c.design, dp, da);
  return da;
}

/* variations of joint frames: within the motions of planar bodies and points, all six of spatial ones */
static double *variations(tree_case *x, support_rng *rng) {
  const mbg_model *m = x->c.m;
  const mbg__link *l = mbg__tree_links(x->tree);
  double *e = randoms(x, rng, 6 * m->nbody);
  for (int k = 0; k < m->nbody; k++) {
    bool own[6] = {false};
    for (int i = 0; i < l[k].nz; i++) {
      own[l[k].comp[i]] = true;
    }
    for (int i = 0; i < 6; i++) {
      e[6 * k + i] = own[i] || m->bodies[l[k].body].motion == MBG__SPATIAL ? e[6 * k + i] : 0;
    }
  }
  return e;
}

/* directional derivatives and gradients are transposes of each other */
static void check_transpose(tree_case *x, support_rng *rng, bool with_q) {
  const mbg_model *m = x->c.m;
  const int nb = 6 * m->nbody;
  double *e = variations(x, rng), *dw = randoms(x, rng, x->n), *da = randoms(x, rng, x->n);
  double *dq = randoms(x, rng, x->n), *attr = attributes(x, rng), *mu = randoms(x, rng, x->n);
  double *k[3], *d[3], *dE1 = model_case_array(&x->c, x->n);
  double *ge = model_case_array(&x->c, nb), *gw = model_case_array(&x->c, x->n), *ga = model_case_array(&x->c, x->n);
  double *gq = model_case_array(&x->c, x->n), *gattr = model_case_array(&x->c, m->na), forward, backward;
  for (int i = 0; i < 3; i++) {
    k[i] = randoms(x, rng, x->nrow);
    d[i] = model_case_array(&x->c, x->nrow);
  }
  update(x, with_q, NULL);
  mbg__tree_push(x->tree,
                 &(mbg__tree_direction){.e = e, .dw = dw, .da = da, .dq = with_q ? dq : NULL, .attributes = attr}, dE1,
                 d[0], d[1], d[2]);
  mbg__tree_pull(x->tree, &(mbg__tree_weights){.mu = mu, .k0 = k[0], .k1 = k[1], .k2 = k[2]},
                 &(mbg__tree_gradient){.e = ge, .w = gw, .a = ga, .q = gq, .attributes = gattr});
  forward = vn_dot(x->n, mu, dE1);
  for (int i = 0; i < 3; i++) {
    forward += vn_dot(x->nrow, k[i], d[i]);
  }
  backward = vn_dot(nb, ge, e) + vn_dot(x->n, gw, dw) + vn_dot(x->n, ga, da) + vn_dot(m->na, gattr, attr);
  backward += with_q ? vn_dot(x->n, gq, dq) : 0;
  /* sums of many terms of order 10 to 1000 */
  if (!(fabs(forward - backward) <= 1e-9 * fmax(1, fabs(backward)))) {
    fail_msg("%s: %.15g forward, %.15g backward", x->name, forward, backward);
  }
}

/* weights and results of a column in one block: e, w, a, q, attributes, multipliers */
static double *pull_column(tree_case *x, const double *weights, bool with_q, mbg__tree_weights *k,
                           mbg__tree_gradient *g) {
  const int nb = 6 * x->c.m->nbody, n = x->n;
  double *out = model_case_array(&x->c, nb + 3 * n + x->c.m->na + x->nrow);
  *k = (mbg__tree_weights){.mu = weights, .k0 = weights + n, .k1 = weights + n + x->nrow};
  k->k2 = with_q ? NULL : weights + n + 2 * x->nrow;
  *g = (mbg__tree_gradient){.e = out, .w = out + nb, .a = out + nb + n, .q = out + nb + 2 * n};
  g->attributes = out + nb + 3 * n;
  g->lambda = g->attributes + x->c.m->na;
  return out;
}

/* columns in lanes: as one at a time, and with wide vectors the same bits as with narrow ones */
static void check_lanes(tree_case *x, support_rng *rng, bool with_q) {
  enum { COLUMNS = 3 };
  const int size = 6 * x->c.m->nbody + 3 * x->n + x->c.m->na + x->nrow;
  mbg__tree_lanes *lanes;
  double *weights[COLUMNS], *out[3][COLUMNS];
  mbg__tree_weights k[COLUMNS];
  mbg__tree_gradient g[COLUMNS];
  if (!mbg__tree_lanes_can(x->tree)) {
    return;
  }
  assert_int_equal(mbg__tree_lanes_create(x->c.ctx, &x->c.arena, x->tree, &lanes), MBG_OK);
  update(x, with_q, NULL);
  for (int way = 0; way < 3; way++) {
    for (int c = 0; c < COLUMNS; c++) {
      weights[c] = way ? weights[c] : randoms(x, rng, x->n + 3 * x->nrow);
      out[way][c] = pull_column(x, weights[c], with_q, &k[c], &g[c]);
      if (way == 0) {
        mbg__tree_pull(x->tree, &k[c], &g[c]);
      }
    }
    if (way > 0) {
      mbg__tree_lanes_widen(lanes, way == 2);
      mbg__tree_pull_lanes(lanes, COLUMNS, k, g);
    }
  }
  for (int c = 0; c < COLUMNS; c++) {
    compare(x, "lanes", size, out[1][c], out[0][c]);
    assert_memory_equal(out[1][c], out[2][c], (size_t)size * sizeof(double));
  }
}

/* the same of directions */
static void check_push_lanes(tree_case *x, support_rng *rng, bool with_q) {
  enum { COLUMNS = 3 };
  const int size = x->n + 3 * x->nrow;
  mbg__tree_lanes *lanes;
  mbg__tree_direction d[COLUMNS];
  mbg__tree_change change[3][COLUMNS];
  if (!mbg__tree_lanes_can(x->tree)) {
    return;
  }
  assert_int_equal(mbg__tree_lanes_create(x->c.ctx, &x->c.arena, x->tree, &lanes), MBG_OK);
  update(x, with_q, NULL);
  for (int c = 0; c < COLUMNS; c++) {
    d[c] = (mbg__tree_direction){.e = variations(x, rng),
                                 .dw = randoms(x, rng, x->n),
                                 .da = randoms(x, rng, x->n),
                                 .dq = with_q ? randoms(x, rng, x->n) : NULL,
                                 .attributes = c == 1 ? model_case_array(&x->c, x->c.m->na) : attributes(x, rng)};
    for (int way = 0; way < 3; way++) {
      double *out = model_case_array(&x->c, size);
      change[way][c] = (mbg__tree_change){out, out + x->n, out + x->n + x->nrow, out + x->n + 2 * x->nrow};
    }
    mbg__tree_push(x->tree, &d[c], change[0][c].dE1, change[0][c].dphi, change[0][c].dphid, change[0][c].dphidd);
  }
  for (int way = 1; way < 3; way++) {
    mbg__tree_lanes_widen(lanes, way == 2);
    mbg__tree_push_lanes(lanes, COLUMNS, d, change[way]);
  }
  for (int c = 0; c < COLUMNS; c++) {
    compare(x, "lanes of directions", size, change[1][c].dE1, change[0][c].dE1);
    assert_memory_equal(change[1][c].dE1, change[2][c].dE1, (size_t)size * sizeof(double));
  }
}

/* the masses of all rows, many of them in one solve, against b^T M^-1 b of one row b at a time; matrix: of the mass */
static void check_row_masses(tree_case *x, mbg__tree_matrix *matrix) {
  const size_t size = (size_t)(x->n + x->nrow);
  double *b = model_case_array(&x->c, (int)size * x->nrow), *y = model_case_array(&x->c, (int)size);
  double *out = model_case_array(&x->c, x->nrow), *expected = model_case_array(&x->c, x->nrow);
  bool *hard = mbg__arena_take(&x->c.arena, (size_t)x->nrow + 1, sizeof *hard);
  const mbg__csc *A = &matrix->A;
  for (int i = 0; i < x->nrow; i++) {
    for (int e = A->colptr[x->n + i]; e < A->colptr[x->n + i + 1]; e++) {
      b[(size_t)i * size + (size_t)A->rowind[e]] = A->rowind[e] < x->n ? A->val[e] : 0;
    }
  }
  if (mbg__tree_row_masses(x->c.ctx, x->tree, matrix, hard, out) < 0) {
    mbg_context_clear(x->c.ctx); /* a body without mass */
    return;
  }
  assert_int_equal(mbg__tree_matrix_factor(x->c.ctx, x->tree, matrix, "masses"), MBG_OK);
  for (int i = 0; i < x->nrow; i++) {
    memcpy(y, b + (size_t)i * size, size * sizeof(double));
    mbg__klu_solve(matrix->klu, y, 1);
    expected[i] = vn_dot(x->n, b + (size_t)i * size, y);
  }
  compare(x, "masses of rows", x->nrow, out, expected);
}

/* A y = b up to rounding of the products; the joints of long paths make A badly conditioned, so that y itself is not
   known as well */
static void check_solution(tree_case *x, const char *what, const mbg__csc *A, bool transposed, const double *y,
                           const double *b) {
  double *r = model_case_array(&x->c, 2 * x->n);
  const double scale = largest(mbg__csc_count(A), A->val) * largest(2 * x->n, y);
  memcpy(r, b, 2 * (size_t)x->n * sizeof(double));
  if (transposed) {
    mbg__csc_mul_T_add(r, -1, A, y, 2);
  } else {
    mbg__csc_mul_add(r, -1, A, y, 2);
  }
  if (!(largest(2 * x->n, r) <= tol * fmax(1, scale))) {
    fail_msg("%s: %s leaves %.2e of %.2e", x->name, what, largest(2 * x->n, r), scale);
  }
}

/* elimination along the tree solves the same system, also transposed and from a copy */
static void compare_recursion(tree_case *x, support_rng *rng, mbg__tree_matrix *matrix, mbg__tree_recursion *r) {
  double *b = randoms(x, rng, 2 * x->n), *y = model_case_array(&x->c, 2 * x->n);
  double *kept = model_case_array(&x->c, (int)(mbg__tree_recursion_bytes(r) / sizeof(double)));
  int where;
  assert_int_equal(mbg__tree_recursion_factor(x->tree, r, &where), MBG_OK);
  mbg__tree_recursion_keep(r, kept);
  memcpy(y, b, 2 * (size_t)x->n * sizeof(double));
  mbg__tree_recursion_solve(r, x->n, y, 2, false);
  check_solution(x, "recursion", &matrix->A, false, y, b);
  mbg__tree_recursion_recall(r, kept);
  memcpy(y, b, 2 * (size_t)x->n * sizeof(double));
  mbg__tree_recursion_solve(r, x->n, y, 2, true);
  check_solution(x, "transposed recursion", &matrix->A, true, y, b);
}

/* after an update, with the matrix of a step, h > 0, or of the mass */
static void check_recursion(tree_case *x, support_rng *rng, mbg__tree_matrix *matrix, double h, const double *D) {
  if (!mbg__tree_recursion_can(x->tree)) {
    return;
  }
  mbg__tree_recursion *r = mbg__tree_recursion_create(x->tree);
  assert_non_null(r);
  mbg__tree_recursion_fill(x->tree, r, h, D);
  compare_recursion(x, rng, matrix, r);
  x->recursions++;
}

/* the matrix of a step times (D, (h^2/4) lambda) against directional derivatives; that of the mass against M q +
   Phi_z^T lambda */
static void check_matrices(tree_case *x, support_rng *rng) {
  const mbg_model *m = x->c.m;
  const mbg__link *l = mbg__tree_links(x->tree);
  const double h = 0.02;
  double *D = randoms(x, rng, x->n), *dD = randoms(x, rng, x->n), *dl = randoms(x, rng, x->nrow);
  double *e = model_case_array(&x->c, 6 * m->nbody), *dw = model_case_array(&x->c, x->n);
  double *da = model_case_array(&x->c, x->n), *dlambda = model_case_array(&x->c, x->nrow);
  double *both = model_case_array(&x->c, x->n + x->nrow), *out = model_case_array(&x->c, x->n + x->nrow);
  mbg__tree_matrix matrix;
  assert_int_equal(mbg__tree_matrix_create(x->c.ctx, x->tree, MBG__KLU_FRESH, &matrix), MBG_OK);
  for (int k = 0; k < m->nbody; k++) {
    double y[6];
    mbg__tree_tangent(&l[k], D, dD + l[k].first, y);
    for (int i = 0; i < l[k].nz; i++) {
      e[6 * k + l[k].comp[i]] = y[i];
    }
  }
  for (int i = 0; i < x->n; i++) {
    dw[i] = 2 / h * dD[i];
    da[i] = 4 / (h * h) * dD[i];
    both[i] = dD[i];
  }
  for (int i = 0; i < x->nrow; i++) {
    both[x->n + i] = dl[i];
    dlambda[i] = 4 / (h * h) * dl[i];
  }
  double *expected = model_case_array(&x->c, x->n + x->nrow);
  update(x, false, NULL);
  mbg__tree_push(x->tree, &(mbg__tree_direction){.e = e, .dw = dw, .da = da, .dlambda = dlambda}, expected,
                 expected + x->n, NULL, NULL);
  vn_scale(x->n, expected, h * h / 4, expected);
  mbg__tree_matrix_step(x->tree, &matrix, h, D, NULL);
  mbg__csc_mul_add(out, 1, &matrix.A, both, 1);
  compare(x, "step matrix", x->n + x->nrow, out, expected);
  check_recursion(x, rng, &matrix, h, D);

  update(x, true, expected);
  mbg__tree_matrix_mass(x->tree, &matrix, NULL);
  memcpy(both, x->q, (size_t)x->n * sizeof(double));
  memcpy(both + x->n, x->lambda, (size_t)x->nrow * sizeof(double));
  memset(out, 0, (size_t)(x->n + x->nrow) * sizeof(double));
  mbg__csc_mul_add(out, 1, &matrix.A, both, 1);
  compare(x, "mass matrix", x->n, out, expected);
  check_recursion(x, rng, &matrix, 0, NULL);
  check_row_masses(x, &matrix);
  mbg__tree_matrix_destroy(&matrix);
}

/* ---------------------------------------------------------------------- models */

static void check_all(tree_case *x, support_rng *rng) {
  check_work(x);
  check_transpose(x, rng, false);
  check_transpose(x, rng, true);
  check_lanes(x, rng, false);
  check_lanes(x, rng, true);
  check_push_lanes(x, rng, false);
  check_push_lanes(x, rng, true);
  check_matrices(x, rng);
  if (mbg__start_result_of(x->start)->rank->ndropped == 0) {
    check_held(x);
  }
}

/* kind: bit 0 modal bodies, bit 1 beams */
static void check_models(int rounds, int kind) {
  static const uint64_t first[] = {0, 9000, 7000, 5000};
  int stuck = 0;
  for (int i = 0; i < rounds; i++) {
    const uint64_t seed = first[kind] + (uint64_t)(kind ? (RANDOM_KINDS + 1) * i : i);
    support_rng rng = support_rng_make(seed);
    random_model_options options = random_model_mix(seed);
    options.modal = kind & 1;
    options.beams = kind & 2;
    char *text = random_model(seed, &options);
    tree_case x = {.n = 0};
    snprintf(x.name, sizeof x.name, "seed %d, kind %d", (int)seed, kind);
    if (open_tree(&x, &rng, NULL, text)) {
      check_all(&x, &rng);
    } else {
      stuck++;
    }
    close_tree(&x);
    free(text);
  }
  assert_true(stuck <= (kind ? rounds / 50 : 0));
}

static void test_random(void **state) {
  (void)state;
  check_models(support_rounds(20, 200), 0);
}

static void test_flexible(void **state) {
  (void)state;
  for (int kind = 1; kind < 4; kind++) {
    check_models(support_rounds(20, 60), kind);
  }
}

/* trees whose systems are eliminated along the tree; one row, and they are not */
static void test_recursion(void **state) {
  (void)state;
  for (int i = 0; i < support_rounds(6, 40); i++) {
    const bool planar = i & 1, closed = i % 6 == 5;
    support_rng rng = support_rng_make((uint64_t)i);
    char *text = tree_text(1 + 14 * (i % 8), planar, closed);
    tree_case x = {.n = 0};
    snprintf(x.name, sizeof x.name, "tree of %d", 1 + 14 * (i % 8));
    assert_true(open_tree(&x, &rng, NULL, text));
    assert_int_equal(x.nrow, closed);
    check_all(&x, &rng);
    assert_int_equal(x.recursions, closed ? 0 : 2);
    close_tree(&x);
    free(text);
  }
}

static void test_vehicle(void **state) {
  (void)state;
  support_rng rng = support_rng_make(1);
  tree_case x = {.name = "vehicle"};
  assert_true(open_tree(&x, &rng, MBG_GALLERY_DIR "/vehicle", NULL));
  assert_int_equal(x.n, 31);
  assert_int_equal(x.nrow, 17);
  check_all(&x, &rng);
  close_tree(&x);
}

/* the loop of the five-bar is cut where the file says, four joints carry the rods */
static void test_cut(void **state) {
  (void)state;
  support_rng rng = support_rng_make(1);
  tree_case x = {.name = "five-bar"};
  const int *rows;
  assert_true(open_tree(&x, &rng, MBG_GALLERY_DIR "/five-bar", NULL));
  assert_int_equal(x.n, 4);
  assert_int_equal(mbg__tree_rows(x.tree, &rows), 2);
  for (int i = 0; i < 2; i++) {
    const mbg__row *row = &x.c.m->rows[rows[i]];
    assert_string_equal(x.c.m->joints[row->owner].name, "B");
  }
  close_tree(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random),  cmocka_unit_test(test_flexible), cmocka_unit_test(test_recursion),
      cmocka_unit_test(test_vehicle), cmocka_unit_test(test_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
