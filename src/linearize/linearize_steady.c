/* Steady motions of models with constraints on rates: wheels that roll straight on or round a circle, about which the
   linear model in axes that do not spin with the wheels is constant (theory 8, section 7). The start gives the motion;
   it is steady when the independent rates stay, u' = 0 and u'' = A_u x' = 0, and the linear model does too: A' = 0
   along the motion, H' = H v~, by complex step. A body whose own motions are coordinates stays in the axes that do not
   spin, H' = H (v - s)~, and must be one of revolution: M ad(s) + ad(s)^T M = 0. */
#include "linearize/linearize.h"

#include "modes/complex_step.h"

#include <string.h>

bool mbg__linearize_rolls(const mbg__linearize_work *k) {
  return k->opt.at == MBG_LINEARIZE_STEADY && mbg__model_has_rates(k->given);
}

static const char *name_of(const mbg__linearize_work *k, int rate) {
  const int q = mbg__linear_rate(&k->spec, rate), places = mbg__linear_places(&k->spec);
  return q < places ? k->candidates[k->chosen[q]].name : k->given->states[q - places].name;
}

/* sizes of x' and A, at least 1: a motion at rest has none */
static double floor_of(const mbg__linearize_work *k) {
  const mbg__linear *l = &k->linear;
  double rate = 1, entry = 1;
  for (int i = 0; i < k->spec.nq; i++) {
    rate = fmax(rate, fabs(re(l->qd[i])));
  }
  for (int i = 0; i < l->n * l->n; i++) {
    entry = fmax(entry, fabs(re(l->A[i])));
  }
  return 1e-8 * rate * entry;
}

/* x'' of the rates: A_u (q', u') */
static double jerk(const mbg__linearize_work *k, int row) {
  const mbg__linear *l = &k->linear;
  const int places = mbg__linear_places(&k->spec);
  double sum = 0;
  for (int c = 0; c < l->n; c++) {
    const double own = re(c < places ? l->qd[c] : l->qdd[mbg__linear_rate(&k->spec, c - places)]);
    sum += re(l->A[(places + row) * l->n + c]) * own;
  }
  return sum;
}

static int check_rates(const mbg__linearize_work *k, double floor) {
  for (int i = 0; i < mbg__linear_rates(&k->spec) + k->spec.nstate; i++) {
    const double change = re(k->linear.qdd[mbg__linear_rate(&k->spec, i)]), later = jerk(k, i);
    if (fabs(change) > floor || fabs(later) > floor) {
      return mbg__fail(k->ctx, MBG_ERROR_INPUT,
                       "the motion of the start is not steady: the rate of %s changes, by %.3g/s^2 and its change by "
                       "%.3g/s^3; give the start a motion that goes on unchanged, or take the point 'start'",
                       name_of(k, i), change, later);
    }
  }
  return MBG_OK;
}

static void plain(int n, const real *x, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = re(x[i]);
  }
}

/* v - s and v' + ad(s) v of all bodies (nw) */
static void along_motion(const mbg__linearize_work *k, double *w, double *dv) {
  const mbg_model *m = k->at.m;
  for (int i = 0; i < m->nw; i++) {
    w[i] = re(k->at.v[i] - k->linear.spin[i]);
    dv[i] = re(k->linear.vd[i]);
  }
  for (int b = 0; b < mbg__frames(m); b++) {
    const int at = m->bodies[b].voff;
    real x[6];
    ad_mul(x, k->linear.spin + at, k->at.v + at);
    for (int i = 0; i < 6; i++) {
      dv[at + i] += re(x[i]);
    }
  }
}

/* M ad(s) + ad(s)^T M on the velocities of a body; columns by unit twists */
static bool is_of_revolution(mbg__linearize_work *k, int b, double *x, double *y) {
  const mbg_model *m = k->at.m;
  const int at = m->bodies[b].voff;
  real S[36], M[36] = {0};
  double most = 0, worst = 0;
  for (int j = 0; j < 6; j++) {
    real e[6] = {0}, c[6];
    e[j] = 1;
    ad_mul(c, k->linear.spin + at, e);
    memset(x, 0, (size_t)m->nv * sizeof(double));
    x[m->dof[at + j]] = 1;
    mbg__modes_mul(&k->at, k->at.M, x, y);
    for (int i = 0; i < 6; i++) {
      S[6 * i + j] = c[i];
      M[6 * i + j] = y[m->dof[at + i]];
    }
  }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      real sum = 0;
      double size = 0;
      for (int l = 0; l < 6; l++) {
        sum += M[6 * i + l] * S[6 * l + j] + S[6 * l + i] * M[6 * l + j];
        size += fabs(re(M[6 * i + l] * S[6 * l + j])) + fabs(re(S[6 * l + i] * M[6 * l + j]));
      }
      most = fmax(most, size);
      worst = fmax(worst, fabs(re(sum)));
    }
  }
  return worst <= 1e-9 * most;
}

static int check_bodies(mbg__linearize_work *k) {
  const mbg_model *m = k->at.m;
  double *x = MBG_TAKE(&k->arena, double, m->nv), *y = MBG_TAKE(&k->arena, double, m->nv);
  if (mbg__arena_check(k->ctx, &k->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__system_matrices(k->at.sys, &(mbg__matrices){.M = k->at.M});
  for (int b = 0; b < mbg__masses(m); b++) {
    const real *s = k->linear.spin + m->bodies[b].voff;
    if (m->bodies[b].mask == 63 && re(v6_dot(s, s)) > 0 && !is_of_revolution(k, b, x, y)) {
      return mbg__fail(
          k->ctx, MBG_ERROR_INPUT,
          "body '%s' rolls, but is no body of revolution about its axle: its motion has no constant linear "
          "model; make its moments of inertia across the axle equal, or take the point 'start'",
          m->bodies[b].name);
    }
  }
  return MBG_OK;
}

/* A' along the motion into out (n x n) */
static int change_of_model(const mbg__linearize_work *k, mbg__arena *arena, double *out) {
  const mbg_model *m = k->at.m;
  mbg__complex_step *step = NULL;
  mbg__kernels kernels;
  int err = MBG_OK;
  double *H = MBG_TAKE(arena, double, 12 * (size_t)m->nbody), *v = MBG_TAKE(arena, double, m->nw);
  double *w = MBG_TAKE(arena, double, m->nw), *vd = MBG_TAKE(arena, double, m->nw), *p = MBG_TAKE(arena, double, m->np);
  double *dp = MBG_TAKE(arena, double, m->np), *const matrices[4] = {out, NULL, NULL, NULL};
  MBG_TRY(mbg__arena_check(k->ctx, arena));
  for (int b = 0; b < m->nbody; b++) {
    plain(9, k->at.H[b].R, H + 12 * (size_t)b);
    plain(3, k->at.H[b].x, H + 12 * (size_t)b + 9);
  }
  plain(m->nw, k->at.v, v);
  along_motion(k, w, vd);
  plain(m->np, k->p, p);
  mbg__kernels_here(&kernels);
  MBG_TRY(mbg__complex_step_create(k->ctx, m, &kernels, p, &step));
  const mbg__complex_step_state state = {.t = re(k->at.t), .H = H, .v = v, .turns = k->at.turns, .w = w, .dv = vd};
  MBG_TRY(mbg__complex_step_linear(k->ctx, step, &k->spec, &state, dp, matrices));
done:
  mbg__complex_step_destroy(step);
  return err;
}

static int check_model(const mbg__linearize_work *k, double floor) {
  const int n = k->linear.n;
  mbg__arena arena;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(k->ctx));
  double *A = MBG_TAKE(&arena, double, n *n), worst = 0;
  MBG_TRY(mbg__arena_check(k->ctx, &arena));
  MBG_TRY(change_of_model(k, &arena, A));
  for (int i = 0; i < n * n; i++) {
    worst = fmax(worst, fabs(A[i]));
  }
  if (worst > floor) {
    err = mbg__fail(k->ctx, MBG_ERROR_INPUT,
                    "the linear model changes along the motion of the start, by %.3g/s in an entry: a body that spins "
                    "is no body of revolution about its axle, or the mechanism changes its shape; take the point "
                    "'start'",
                    worst);
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}

int mbg__linearize_check_steady(mbg__linearize_work *k) {
  const double floor = floor_of(k);
  int err = check_rates(k, floor);
  err = err < 0 ? err : check_bodies(k);
  return err < 0 ? err : check_model(k, floor);
}
