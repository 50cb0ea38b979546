/* Derivatives of discrete solutions: adjoint, tangent and complex step of the same steps. */
#include "twin/twin_rk.h"
#include "unit/integrators/rk_case.h"

#include <string.h>

enum { N = 3, P = 2, COLUMNS = 2, WITH_TANGENT = N + N * (N + P) };

/* A nonlinear system with parameters, where everything depends on everything:
     f_0 = p_0 y_1 y_2 + sin t,   f_1 = -y_0 y_2 + p_1 y_1,   f_2 = y_0^2 - p_0 p_1 y_2 + t y_1
   once as a macro, for plain and complex numbers */
#define SYSTEM(f, t, y, p)                                                                                             \
  do {                                                                                                                 \
    (f)[0] = (p)[0] * (y)[1] * (y)[2] + sin(t);                                                                        \
    (f)[1] = -(y)[0] * (y)[2] + (p)[1] * (y)[1];                                                                       \
    (f)[2] = (y)[0] * (y)[0] - (p)[0] * (p)[1] * (y)[2] + (t) * (y)[1];                                                \
  } while (0)

static const double p_at[P] = {0.7, -0.4}, y_at[N] = {0.9, -0.3, 0.5};

static void jacobians(double t, const double *y, const double *p, double f_y[N][N], double f_p[N][P]) {
  const double J[N][N] = {{0, p[0] * y[2], p[0] * y[1]}, {-y[2], p[1], -y[0]}, {2 * y[0], t, -p[0] * p[1]}};
  const double Jp[N][P] = {{y[1] * y[2], 0}, {0, y[1]}, {-p[1] * y[2], -p[0] * y[2]}};
  memcpy(f_y, J, sizeof J);
  memcpy(f_p, Jp, sizeof Jp);
}

static int plain_rhs(void *user, double t, const double *y, double *dydt) {
  (void)user;
  SYSTEM(dydt, t, y, p_at);
  return 0;
}

static int complex_rhs(void *user, double _Complex t, const double _Complex *y, double _Complex *dydt) {
  const double _Complex *p = user;
  SYSTEM(dydt, t, y, p);
  return 0;
}

/* state and S = dy/d(y(t0), p), N x (N + P): S' = f_y S + (0, f_p) */
static int tangent_rhs(void *user, double t, const double *y, double *dydt) {
  double f_y[N][N], f_p[N][P];
  plain_rhs(user, t, y, dydt);
  jacobians(t, y, p_at, f_y, f_p);
  const double *S = y + N;
  double *dS = dydt + N;
  for (int i = 0; i < N; i++) {
    for (int c = 0; c < N + P; c++) {
      double sum = c < N ? 0 : f_p[i][c - N];
      for (int j = 0; j < N; j++) {
        sum += f_y[i][j] * S[j * (N + P) + c];
      }
      dS[i * (N + P) + c] = sum;
    }
  }
  return 0;
}

/* ---------------------------------------------------------------------- adjoint callbacks */

typedef struct {
  double psi_p[COLUMNS][P];
  double kept[MBG__RK_STAGES][N]; /* arguments of the stages: the products come at the same points */
  int nstage, next;
  int refuse; /* returned by the rhs of stage 2 */
} adjoint_case;

static int stage_rhs(void *user, int stage, double t, const double *y, double *dydt) {
  adjoint_case *c = user;
  assert_int_equal(stage, c->next++);
  memcpy(c->kept[stage], y, sizeof c->kept[stage]);
  plain_rhs(NULL, t, y, dydt);
  return stage == 2 ? c->refuse : 0;
}

static int stage_vjp(void *user, int stage, double t, const double *y, int ncol, const double *b, double *b_y) {
  adjoint_case *c = user;
  double f_y[N][N], f_p[N][P];
  assert_int_equal(stage, --c->next);
  assert_memory_equal(c->kept[stage], y, sizeof c->kept[stage]);
  jacobians(t, y, p_at, f_y, f_p);
  for (int col = 0; col < ncol; col++) {
    for (int j = 0; j < N; j++) {
      b_y[col * N + j] = 0;
      for (int i = 0; i < N; i++) {
        b_y[col * N + j] += f_y[i][j] * b[col * N + i];
      }
    }
    for (int j = 0; j < P; j++) {
      for (int i = 0; i < N; i++) {
        c->psi_p[col][j] += f_p[i][j] * b[col * N + i];
      }
    }
  }
  return 0;
}

/* ---------------------------------------------------------------------- runs */

/* Nodes of a run of method m over nstep uneven steps, and y there (nstep + 1 x N). */
static void forward(mbg_context *ctx, const mbg__rk_method *m, int nstep, double *t, double *y) {
  mbg__rk *rk = NULL;
  const mbg__rk_options opt = mbg__rk_options_default();
  const mbg__rk_run run = {.rhs = plain_rhs, .t0 = t[0], .t1 = t[nstep], .nfrozen = nstep, .frozen = t};
  memcpy(y, y_at, sizeof y_at);
  assert_int_equal(mbg__rk_create(ctx, N, m, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_start(ctx, rk, &run, y), MBG_OK);
  for (int i = 0; i < nstep; i++) {
    assert_int_equal(mbg__rk_step(ctx, rk), 1);
    memcpy(y + (i + 1) * N, mbg__rk_last(rk)->y1, N * sizeof *y);
  }
  assert_int_equal(mbg__rk_step(ctx, rk), 0);
  mbg__rk_destroy(rk);
}

/* S at the end of the same steps, by the tangent equations along. */
static void tangent(mbg_context *ctx, const mbg__rk_method *m, int nstep, const double *t, double *S) {
  mbg__rk *rk = NULL;
  const mbg__rk_options opt = mbg__rk_options_default();
  const mbg__rk_run run = {.rhs = tangent_rhs, .t0 = t[0], .t1 = t[nstep], .nfrozen = nstep, .frozen = t};
  double y[WITH_TANGENT] = {0};
  memcpy(y, y_at, sizeof y_at);
  for (int i = 0; i < N; i++) {
    y[N + i * (N + P) + i] = 1;
  }
  assert_int_equal(mbg__rk_create(ctx, WITH_TANGENT, m, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(ctx, rk, &run, y, NULL), MBG_OK);
  memcpy(S, y + N, N * (N + P) * sizeof *S);
  mbg__rk_destroy(rk);
}

/* The same by complex step. */
static void twin(const char *method, double tolerance, int nstep, const double *t, double t0, double t1, double *S,
                 long *steps) {
  for (int c = 0; c < N + P; c++) {
    double _Complex y[N], p[P];
    for (int i = 0; i < N; i++) {
      y[i] = twin_step(y_at[i], i == c);
    }
    for (int i = 0; i < P; i++) {
      p[i] = twin_step(p_at[i], N + i == c);
    }
    assert_int_equal(twin_rk_integrate(method, N, complex_rhs, p, t0, t1, tolerance, nstep, t, y, steps), MBG_OK);
    for (int i = 0; i < N; i++) {
      S[i * (N + P) + c] = twin_derivative(y[i]);
    }
  }
}

enum { NSTEP = 7 };

static void uneven_nodes(double *t, bool backward) {
  support_rng rng = support_rng_make(5);
  t[0] = 0.3;
  for (int i = 0; i < NSTEP; i++) {
    t[i + 1] = t[i] + (backward ? -1 : 1) * support_uniform(&rng, 0.05, 0.3);
  }
}

/* lambda^T S by seven reverse steps = that of tangent and complex step; 1e-13: rounding of some hundred operations */
static void adjoint_is_the_transpose(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    for (int backward = 0; backward < 2; backward++) {
      const mbg__rk_method *m = all_methods[q];
      mbg_context *ctx = new_context(NULL);
      double t[NSTEP + 1], y[(NSTEP + 1) * N], S[N * (N + P)], S_twin[N * (N + P)];
      double lambda[COLUMNS][N] = {{1, -0.5, 2}, {0.3, 1, -1}};
      const double seed[COLUMNS][N] = {{1, -0.5, 2}, {0.3, 1, -1}};
      uneven_nodes(t, backward);
      forward(ctx, m, NSTEP, t, y);
      tangent(ctx, m, NSTEP, t, S);
      twin(m->key, 1e-6, NSTEP, t, t[0], t[NSTEP], S_twin, NULL);
      assert_close_array(S, S_twin, N * (N + P), 1e-13);

      mbg__rk_adjoint *a = NULL;
      adjoint_case c = {.nstage = m->nstage};
      const mbg__rk_adjoint_run run = {.rhs = stage_rhs, .vjp = stage_vjp, .user = &c};
      assert_int_equal(mbg__rk_adjoint_create(ctx, N, COLUMNS, 0, m, &a), MBG_OK);
      for (int i = NSTEP - 1; i >= 0; i--) {
        assert_int_equal(mbg__rk_step_adjoint(ctx, a, &run, t[i], t[i + 1], y + i * N, lambda[0]), MBG_OK);
        assert_int_equal(c.next, 0);
      }
      for (int col = 0; col < COLUMNS; col++) {
        for (int k = 0; k < N + P; k++) {
          double expected = 0;
          for (int i = 0; i < N; i++) {
            expected += seed[col][i] * S[i * (N + P) + k];
          }
          assert_true(fabs(expected) > 1e-6);
          assert_close(k < N ? lambda[col][k] : c.psi_p[col][k - N], expected, 1e-13);
        }
      }
      mbg__rk_adjoint_destroy(ctx, a);
      mbg_context_destroy(ctx);
    }
  }
}

/* the stages that a run has made: the right-hand side is not evaluated, the bits are the same */
static void with_known_stages(mbg_context *ctx, mbg__rk_adjoint *a, const mbg__rk_method *m, const double t[2],
                              const double x[2], const double *g, const double *weight, const double *expected,
                              adjoint_case *c) {
  mbg__rk_options opt = mbg__rk_options_default();
  const mbg__rk_run run = {.rhs = plain_rhs, .t0 = t[0], .t1 = t[1], .nfrozen = 1, .frozen = t};
  double lambda[COLUMNS][N] = {{0}};
  mbg__rk *rk = NULL;
  opt.dense = true;
  c->next = m->nextended; /* products at the points of the stages before */
  assert_int_equal(mbg__rk_create(ctx, N, m, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_start(ctx, rk, &run, y_at), MBG_OK);
  assert_int_equal(mbg__rk_step(ctx, rk), 1);
  memcpy(lambda[1], weight, sizeof lambda[1]);
  const mbg__rk_adjoint_run back = {.vjp = stage_vjp, .user = c, .k = mbg__rk_last(rk)->k};
  assert_int_equal(mbg__rk_step_adjoint_dense(ctx, a, &back, t[0], t[1], y_at, 2, x, g, lambda[0]), MBG_OK);
  assert_memory_equal(lambda[1], expected, sizeof lambda[1]);
  mbg__rk_destroy(rk);
}

/* weights of the end and of two points of the dense output of one step, by all its stages; the tangent's dense output
   is the reference */
static void adjoint_of_dense_output(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    const mbg__rk_method *m = all_methods[q];
    mbg_context *ctx = new_context(NULL);
    const double t[2] = {0.1, 0.35}, x[2] = {0.3, 0.8}, weight[3][N] = {{1, -0.5, 2}, {0.3, 1, -1}, {-0.7, 0.2, 0.4}};
    double y[WITH_TANGENT] = {0}, at[WITH_TANGENT], expected[N + P] = {0}, lambda[COLUMNS][N] = {{0}},
           g[2][COLUMNS][N] = {{{0}}};
    mbg__rk_options opt = mbg__rk_options_default();
    const mbg__rk_run run = {.rhs = tangent_rhs, .t0 = t[0], .t1 = t[1], .nfrozen = 1, .frozen = t};
    mbg__rk *rk = NULL;
    opt.dense = true;
    memcpy(y, y_at, sizeof y_at);
    for (int i = 0; i < N; i++) {
      y[N + i * (N + P) + i] = 1;
    }
    assert_int_equal(mbg__rk_create(ctx, WITH_TANGENT, m, &opt, &rk), MBG_OK);
    assert_int_equal(mbg__rk_start(ctx, rk, &run, y), MBG_OK);
    assert_int_equal(mbg__rk_step(ctx, rk), 1);
    for (int j = 0; j < 3; j++) {
      memcpy(at, mbg__rk_last(rk)->y1, sizeof at);
      if (j > 0) {
        mbg__rk_interpolate(m, WITH_TANGENT, mbg__rk_last(rk)->r, x[j - 1], 0, WITH_TANGENT, at, NULL);
      }
      for (int k = 0; k < N + P; k++) {
        for (int i = 0; i < N; i++) {
          expected[k] += weight[j][i] * at[N + i * (N + P) + k];
        }
      }
      memcpy(j == 0 ? lambda[1] : g[j - 1][1], weight[j], sizeof weight[j]);
    }
    mbg__rk_destroy(rk);
    mbg__rk_adjoint *a = NULL;
    adjoint_case c = {.nstage = m->nextended};
    const mbg__rk_adjoint_run back = {.rhs = stage_rhs, .vjp = stage_vjp, .user = &c};
    assert_int_equal(mbg__rk_adjoint_create(ctx, N, COLUMNS, 2, m, &a), MBG_OK);
    assert_int_equal(mbg__rk_step_adjoint_dense(ctx, a, &back, t[0], t[1], y_at, 2, x, g[0][0], lambda[0]), MBG_OK);
    for (int k = 0; k < N + P; k++) {
      assert_close(k < N ? lambda[1][k] : c.psi_p[1][k - N], expected[k], 1e-13);
      assert_true((k < N ? lambda[0][k] : c.psi_p[0][k - N]) == 0);
    }
    with_known_stages(ctx, a, m, t, x, g[0][0], weight[0], lambda[1], &c);
    mbg__rk_adjoint_destroy(ctx, a);
    mbg_context_destroy(ctx);
  }
}

/* a run that goes on in the same coordinates, with the rate it knows or with one that is evaluated: the same steps */
static void rebased_run_is_the_same(void **state) {
  (void)state;
  double end[3][N];
  for (int kind = 0; kind < 3; kind++) {
    const double t[4] = {0, 0.2, 0.5, 0.6};
    mbg_context *ctx = new_context(NULL);
    mbg__rk_options opt = mbg__rk_options_default();
    const mbg__rk_run run = {.rhs = plain_rhs, .t0 = t[0], .t1 = t[3], .nfrozen = 3, .frozen = t};
    mbg__rk *rk = NULL;
    double y[N], rate[N];
    assert_int_equal(mbg__rk_create(ctx, N, &mbg__rk_dp5, &opt, &rk), MBG_OK);
    assert_int_equal(mbg__rk_start(ctx, rk, &run, y_at), MBG_OK);
    while (mbg__rk_step(ctx, rk) > 0) {
      memcpy(y, mbg__rk_last(rk)->y1, sizeof y);
      memcpy(rate, mbg__rk_rate(rk), sizeof rate);
      if (kind > 0) {
        assert_int_equal(mbg__rk_rebase(ctx, rk, y, kind == 1 ? rate : NULL), MBG_OK);
      }
    }
    memcpy(end[kind], y, sizeof y);
    mbg__rk_destroy(rk);
    mbg_context_destroy(ctx);
  }
  assert_memory_equal(end[0], end[1], sizeof end[0]);
  assert_memory_equal(end[0], end[2], sizeof end[0]);
}

static void adjoint_reports_failures(void **state) {
  (void)state;
  mbg_context *ctx = new_context(NULL);
  mbg__rk_adjoint *a = NULL;
  double lambda[N] = {1, 1, 1};
  assert_int_equal(mbg__rk_adjoint_create(ctx, N, 1, 0, &mbg__rk_dp5, &a), MBG_OK);
  adjoint_case c = {.refuse = 1};
  const mbg__rk_adjoint_run run = {.rhs = stage_rhs, .vjp = stage_vjp, .user = &c};
  assert_int_equal(mbg__rk_step_adjoint(ctx, a, &run, 0, 1, y_at, lambda), MBG_ERROR_CONVERGENCE);
  assert_non_null(strstr(mbg_context_error(ctx), "adjoint stopped at t = 0.3"));
  c = (adjoint_case){.refuse = MBG_ERROR_SINGULAR};
  assert_int_equal(mbg__rk_step_adjoint(ctx, a, &run, 0, 1, y_at, lambda), MBG_ERROR_SINGULAR);
  mbg__rk_adjoint_destroy(ctx, a);
  mbg_context_destroy(ctx);
}

/* The twin with error control takes the steps of the plain run, and its derivative is the variational solution: the
   steps are not differentiated, so both are exact to tolerance; 1e-9 for 1e-11. */
static void twin_takes_the_same_steps(void **state) {
  (void)state;
  for (int q = 1; q < METHODS; q++) {
    mbg_context *ctx = new_context(NULL);
    mbg__rk_options opt = mbg__rk_options_default();
    opt.rtol = opt.atol = 1e-11;
    mbg__rk *rk = NULL;
    double y[WITH_TANGENT] = {0}, S_twin[N * (N + P)];
    long steps;
    memcpy(y, y_at, sizeof y_at);
    for (int i = 0; i < N; i++) {
      y[N + i * (N + P) + i] = 1;
    }
    const mbg__rk_run run = {.rhs = tangent_rhs, .t0 = 0, .t1 = 2};
    opt.ncontrol = N;
    assert_int_equal(mbg__rk_create(ctx, WITH_TANGENT, all_methods[q], &opt, &rk), MBG_OK);
    assert_int_equal(mbg__rk_integrate(ctx, rk, &run, y, NULL), MBG_OK);
    twin(all_methods[q]->key, 1e-11, 0, NULL, 0, 2, S_twin, &steps);
    assert_int_equal(steps, mbg__rk_count(rk)->steps);
    assert_close_array(S_twin, y + N, N * (N + P), 1e-12); /* same steps: equal but for rounding */

    /* a much tighter variational solution */
    mbg__rk_destroy(rk);
    opt.rtol = opt.atol = 1e-13;
    opt.ncontrol = 0;
    memset(y, 0, sizeof y);
    memcpy(y, y_at, sizeof y_at);
    for (int i = 0; i < N; i++) {
      y[N + i * (N + P) + i] = 1;
    }
    assert_int_equal(mbg__rk_create(ctx, WITH_TANGENT, &mbg__rk_dop853, &opt, &rk), MBG_OK);
    assert_int_equal(mbg__rk_integrate(ctx, rk, &run, y, NULL), MBG_OK);
    assert_close_array(S_twin, y + N, N * (N + P), 1e-9);
    mbg__rk_destroy(rk);
    mbg_context_destroy(ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adjoint_is_the_transpose),  cmocka_unit_test(adjoint_of_dense_output),
      cmocka_unit_test(rebased_run_is_the_same),   cmocka_unit_test(adjoint_reports_failures),
      cmocka_unit_test(twin_takes_the_same_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
