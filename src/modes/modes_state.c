/* The state about which modes are computed, and the matrices there. With dv = w' + ad(v) w (theory 4, section 8):

     M w'' + (C + M ad(v)) w' + (K + C ad(v) + M ad(vd)) w + B^T xi = 0      B w = 0 */
#include "modes/modes.h"

#include <string.h>

enum { STEADY_MAX = 60 };

static const double balanced = 1e-9; /* imbalance of forces that counts as none, relative to the largest force */

/* ---------------------------------------------------------------------- systems */

int mbg__modes_factor(mbg__modes_work *w, double a, double b, double c, const char *what) {
  mbg__saddle_clear(&w->saddle);
  mbg__saddle_add_K(&w->saddle, a, w->Kx);
  mbg__saddle_add_K(&w->saddle, b, w->M);
  mbg__saddle_add_metric(&w->saddle, c);
  if (w->nlate > 0 && (a != 0 || b != 0)) { /* at a state */
    mbg__saddle_add_late(&w->saddle, w->by_lambda, w->result->rank->keep);
  }
  mbg__saddle_add_rows(&w->saddle, w->B, w->B, w->result->rank->keep, NULL);
  return mbg__saddle_factor(w->ctx, &w->saddle, what);
}

void mbg__modes_mul(const mbg__modes_work *w, const real *A, const double *x, double *y) {
  const mbg__csc *P = mbg__system_pattern_K(w->sys);
  memset(y, 0, (size_t)w->m->nv * sizeof(double));
  for (int j = 0; j < w->m->nv; j++) {
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      y[P->rowind[i]] += re(A[i]) * x[j];
    }
  }
}

void mbg__modes_mul_T(const mbg__modes_work *w, const real *A, const double *x, double *y) {
  const mbg__csc *P = mbg__system_pattern_K(w->sys);
  for (int j = 0; j < w->m->nv; j++) {
    y[j] = 0;
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      y[j] += re(A[i]) * x[P->rowind[i]];
    }
  }
}

/* ---------------------------------------------------------------------- starts */

static int create(mbg__modes_work *w, mbg__start kind, bool settles) {
  int err = MBG_OK;
  w->model = *w->given;
  w->model.start = kind;
  if (kind == MBG__START_EQUILIBRIUM) {
    w->model.npin = 0; /* pins hold the start, not the equilibrium */
  }
  w->m = &w->model;
  if (settles) {
    MBG_TRY(mbg__modes_states_release(w));
  }
  MBG_TRY(mbg__design_create(w->ctx, &w->arena, w->m, &w->design));
  MBG_TRY(mbg__design_update(w->ctx, w->design, w->p));
  MBG_TRY(mbg__system_create(w->ctx, w->m, w->design, &w->sys));
  MBG_TRY(mbg__start_create(w->ctx, w->sys, &w->start));
done:
  return err;
}

static void discard(mbg__modes_work *w) {
  mbg__start_destroy(w->start);
  mbg__system_destroy(w->sys);
  w->start = NULL;
  w->sys = NULL;
}

static int take_state(mbg__modes_work *w) {
  const mbg_model *m = w->m;
  w->result = mbg__start_result_of(w->start);
  w->H = MBG_TAKE(&w->arena, mbg__frame, m->nbody);
  w->v = MBG_TAKE(&w->arena, real, m->nw);
  w->vd = MBG_TAKE(&w->arena, real, m->nw);
  w->lambda = MBG_TAKE(&w->arena, real, m->nrow);
  w->K = MBG_TAKE(&w->arena, real, mbg__csc_count(mbg__system_pattern_K(w->sys)));
  w->Kx = m->nstate == 0 ? w->K : MBG_TAKE(&w->arena, real, mbg__csc_count(mbg__system_pattern_K(w->sys)));
  w->C = MBG_TAKE(&w->arena, real, mbg__csc_count(mbg__system_pattern_K(w->sys)));
  w->M = MBG_TAKE(&w->arena, real, mbg__csc_count(mbg__system_pattern_K(w->sys)));
  w->B = MBG_TAKE(&w->arena, real, mbg__csc_count(mbg__system_pattern_B(w->sys)));
  w->W = MBG_TAKE(&w->arena, double, m->nv);
  if (mbg__arena_check(w->ctx, &w->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__metric_free(m, w->W);
  w->t = w->result->t;
  w->turns = w->result->turns;
  w->iterations = w->result->iterations;
  memcpy(w->H, w->result->H, (size_t)m->nbody * sizeof(*w->H));
  mbg__modes_states_take(w);
  if (mbg__modes_late_create(w) < 0) {
    return MBG_ERROR_MEMORY;
  }
  return mbg__saddle_create(w->ctx, &w->arena, w->sys, 0, NULL, MBG__KLU_FRESH, &w->saddle);
}

int mbg__modes_begin(mbg__modes_work *w, mbg__start kind) {
  int err = MBG_OK;
  MBG_TRY(create(w, kind, false));
  MBG_TRY(mbg__start_solve(w->ctx, w->start, true));
  MBG_TRY(take_state(w));
done:
  return err;
}

int mbg__modes_begin_at(mbg__modes_work *w, double t, const mbg__frame *H, const real *v, const int *turns) {
  int err = MBG_OK;
  MBG_TRY(create(w, MBG__START_ASSEMBLE, false));
  mbg__start_give(w->start, t, H, v, turns);
  MBG_TRY(mbg__start_solve(w->ctx, w->start, true));
  MBG_TRY(take_state(w));
  memcpy(w->v, v, (size_t)w->m->nw * sizeof(real));
done:
  return err;
}

static const char *action_of(const mbg__modes_work *w) { return w->action ? w->action : "take the modes"; }

static mbg__state state_of(const mbg__modes_work *w) {
  return (mbg__state){.t = w->t, .H = w->H, .v = w->v, .vd = w->vd, .lambda = w->lambda, .turns = w->turns};
}

/* ---------------------------------------------------------------------- equilibrium */

/* late rates at a state follow the multipliers in x (nv + nrow); r (nw): scratch */
static int late_balance(mbg__modes_work *w, const mbg__state *state, real *x, real *r) {
  mbg__state with = *state;
  int err = MBG_OK;
  if (w->nlate == 0) {
    return MBG_OK;
  }
  with.lambda = x + w->m->nv;
  MBG_TRY(mbg__system_update(w->ctx, w->sys, &with));
  mbg__system_residual(w->sys, r, NULL, NULL, NULL, NULL);
  for (int k = 0; k < w->nlate; k++) {
    x[w->late_row[k]] = -r[w->m->full[w->late_row[k]]] / w->W[w->late_row[k]];
  }
done:
  return err;
}

/* forces at a state without multipliers, and the multipliers that balance them best: [[W, B^T], [B, 0]] (a, lambda) =
   (-r, 0); largest force, largest a */
static int balance(mbg__modes_work *w, const mbg__state *state, real *lambda, double *force, double *imbalance,
                   int *worst) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  real *r = MBG_TAKE(&w->arena, real, m->nw), *x = MBG_TAKE(&w->arena, real, w->saddle.n);
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  MBG_TRY(mbg__system_update(w->ctx, w->sys, state));
  mbg__system_residual(w->sys, r, NULL, NULL, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.B = w->B});
  MBG_TRY(mbg__modes_factor(w, 0, 0, 1, "equilibrium"));
  *force = *imbalance = 0;
  *worst = -1;
  for (int j = 0; j < m->nv; j++) {
    x[j] = -r[m->full[j]];
    *force = fmax(*force, fabs(re(x[j])) / sqrt(w->W[j]));
  }
  mbg__klu_solve(w->saddle.klu, x, 1);
  MBG_TRY(late_balance(w, state, x, r));
  for (int j = 0; j < m->nv; j++) {
    const double a = fabs(re(x[j])) * sqrt(w->W[j]);
    *worst = a > *imbalance ? m->full[j] : *worst;
    *imbalance = fmax(a, *imbalance);
  }
  for (int i = 0; i < m->nrow; i++) {
    lambda[i] = x[m->nv + i];
  }
done:
  return err;
}

static const char *body_of(const mbg_model *m, int full) {
  int b = 0;
  while (b + 1 < m->nbody && m->bodies[b + 1].voff <= full) {
    b++;
  }
  return m->bodies[b].name;
}

/* no equilibrium was found, for that reason: the start may be one whose stiffness is singular */
static int start_is_balanced(mbg__modes_work *w, const char *reason) {
  double force = 0, imbalance = 0;
  int err = MBG_OK, worst = 0;
  MBG_TRY(mbg__modes_begin(w, w->given->start == MBG__START_EQUILIBRIUM ? MBG__START_ASSEMBLE : w->given->start));
  mbg__state state = state_of(w);
  state.lambda = NULL;
  MBG_TRY(balance(w, &state, w->lambda, &force, &imbalance, &worst));
  if (imbalance > balanced * fmax(force, 1e-300)) {
    err = mbg__fail(w->ctx, MBG_ERROR_CONVERGENCE, "%s; support the mechanism, improve the guesses, or %s at the start",
                    reason, action_of(w));
  }
done:
  return err;
}

static int equilibrium(mbg__modes_work *w) {
  int err = MBG_OK;
  const int mark = mbg__message_mark(w->ctx);
  char reason[400] = "";
  for (int pass = 0; pass < 2; pass++) {
    MBG_TRY(create(w, MBG__START_EQUILIBRIUM, true));
    mbg__start_indifferent(w->start, pass == 1);
    err = mbg__start_solve(w->ctx, w->start, true);
    if (err == MBG_OK || err == MBG_ERROR_MEMORY) {
      break;
    }
    /* the stiffness may be singular: once more for equilibria that are not isolated */
    discard(w);
    if (pass == 0) {
      mbg__format(reason, sizeof(reason), "%s", mbg_context_error(w->ctx));
    }
    mbg__message_rewind(w->ctx, mark);
  }
  if (err < 0 && err != MBG_ERROR_MEMORY) {
    return start_is_balanced(w, reason);
  }
  MBG_TRY(err);
  MBG_TRY(take_state(w));
  memcpy(w->lambda, w->result->lambda, (size_t)w->m->nrow * sizeof(real));
done:
  return err;
}

/* ---------------------------------------------------------------------- start */

static int start(mbg__modes_work *w) {
  int err = MBG_OK, massless;
  MBG_TRY(mbg__modes_begin(w, w->given->start));
  memcpy(w->v, w->result->v, (size_t)w->m->nw * sizeof(real));
  MBG_TRY(mbg__start_accelerations(w->ctx, w->sys, w->result, w->vd, w->lambda, &massless));
  if (massless >= 0) {
    err = mbg__fail(
        w->ctx, MBG_ERROR_SINGULAR,
        "body '%s' has a freedom without inertia: the accelerations at the start are not determined; take the "
        "modes at the equilibrium",
        w->m->bodies[massless].name);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- steady motion */

/* v = Ad(H^-1) twist; modal coordinates rest, states stay */
static void rigid_rates(mbg__modes_work *w) {
  for (int b = 0; b < w->m->nbody; b++) {
    if (w->m->bodies[b].carrier < 0 && w->m->bodies[b].state < 0) {
      AdInv_mul(w->v + w->m->bodies[b].voff, &w->H[b], w->twist);
    }
  }
}

/* the twist of the body that moves most; all others must have it, too */
static int common_twist(mbg__modes_work *w) {
  const mbg_model *m = w->m;
  double most = 0;
  for (int b = 0; b < mbg__frames(m); b++) {
    real xi[6];
    double size = 0;
    Ad_mul(xi, &w->H[b], w->result->v + m->bodies[b].voff);
    for (int k = 0; k < 6; k++) {
      size = fmax(size, fabs(re(xi[k])) * (k >= 3 ? m->size : 1));
    }
    if (size > most) {
      most = size;
      w->reference = b;
      v6_copy(w->twist, xi);
    }
  }
  rigid_rates(w);
  mbg__modes_states_take(w);
  for (int b = 0; b < m->nbody; b++) {
    for (int k = 0; k < 6; k++) {
      const int i = m->bodies[b].voff + k;
      if (fabs(re(w->v[i] - w->result->v[i])) * (k >= 3 ? m->size : 1) > 1e-8 * most) {
        return mbg__fail(
            w->ctx, MBG_ERROR_INPUT,
            "no steady motion: at the start body '%s' does not move with body '%s' as one rigid body; give all "
            "bodies the rates of the rotation, or %s at the start",
            m->bodies[b].name, m->bodies[w->reference].name, action_of(w));
      }
    }
  }
  return MBG_OK;
}

/* out += A blockdiag(ad(v)) */
static int add_times_ad(mbg__modes_work *w, const real *A, const real *v, real *out) {
  const int n = mbg__csc_count(mbg__system_pattern_K(w->sys));
  int err = MBG_OK;
  mbg__arena scratch;
  mbg__arena_init(&scratch, mbg__context_allocator(w->ctx));
  real *T = MBG_TAKE(&scratch, real, 36 * (size_t)w->m->nbody), *product = MBG_TAKE(&scratch, real, n);
  MBG_TRY(mbg__arena_check(w->ctx, &scratch));
  for (int b = 0; b < w->m->nbody; b++) {
    mbg__ad_matrix(T + 36 * (size_t)b, v + w->m->bodies[b].voff);
  }
  mbg__columns_times(w->sys, mbg__system_pattern_K(w->sys), A, T, product);
  vn_axpy(n, out, 1, product);
done:
  mbg__arena_destroy(&scratch);
  return err;
}

/* what a step of a free velocity is compared with: the model's size, or a state's value in units of its scale */
static double length_of(const mbg__modes_work *w, int j) {
  const int i = w->m->full[j];
  int b = w->m->nbody - 1;
  while (w->m->bodies[b].voff > i) {
    b--;
  }
  return w->m->bodies[b].state < 0 ? w->m->size : fmax(1, fabs(re(w->v[i])));
}

/* Newton on r(H, Ad(H^-1) twist, 0, lambda) = 0, phi = 0, with the matrix K + C ad(v); length of the step */
static int steady_step(mbg__modes_work *w, real *r, real *phi, real *x, double *length) {
  const mbg_model *m = w->m;
  const mbg__state state = state_of(w);
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(w->ctx, w->sys, &state));
  MBG_TRY(mbg__system_linearize(w->ctx, w->sys));
  mbg__system_residual(w->sys, r, phi, NULL, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.K = w->K, .C = w->C, .B = w->B, .late = w->by_lambda});
  MBG_TRY(add_times_ad(w, w->C, w->v, w->K));
  mbg__modes_states_columns(w);
  MBG_TRY(mbg__modes_factor(w, 1, 0, 0, "steady motion"));
  mbg__to_free(m, -1, r, x);
  for (int i = 0; i < m->nrow; i++) {
    x[m->nv + i] = w->result->rank->keep[i] ? -phi[i] : 0;
  }
  mbg__klu_solve(w->saddle.klu, x, 1);
  *length = 0;
  for (int j = 0; j < m->nv; j++) {
    *length = fmax(*length, fabs(re(x[j])) * sqrt(w->W[j]) / length_of(w, j));
  }
  const double step = *length > 0.2 ? 0.2 / *length : 1;
  mbg__modes_states_add(w, step, x);
  mbg__system_retract(m, w->H, step, x, w->H);
  for (int i = 0; i < m->nrow; i++) {
    w->lambda[i] += step * x[m->nv + i];
  }
  rigid_rates(w);
done:
  return err;
}

/* Later, everything moved on by the twist, rows and forces must hold as well, with other multipliers. */
static int stays_steady(mbg__modes_work *w, real *phi, real *lambda) {
  const mbg_model *m = w->m;
  const double turn = sqrt(re(v3_dot(w->twist + 3, w->twist + 3))), later = turn > 0 ? 2 / turn : 1;
  int err = MBG_OK, worst = 0;
  double force = 0, off = 0;
  mbg__frame *H = MBG_TAKE(&w->arena, mbg__frame, m->nbody), D;
  mbg__state state = state_of(w);
  real h[6];
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  v6_scale(h, later, w->twist);
  mbg__se3_exp(&D, h);
  memcpy(H, w->H, (size_t)m->nbody * sizeof(*H));
  for (int b = 0; b < mbg__frames(m); b++) {
    frame_mul(&H[b], &D, &w->H[b]);
  }
  state.t += later;
  state.H = H;
  state.lambda = NULL;
  MBG_TRY(balance(w, &state, lambda, &force, &off, &worst));
  mbg__system_residual(w->sys, NULL, phi, NULL, NULL, NULL);
  for (int i = 0; i < m->nrow; i++) {
    if (w->result->rank->keep[i] && fabs(re(phi[i])) > 1e-6 * m->size) {
      char label[160];
      mbg__row_label(m, i, label, sizeof(label));
      err = mbg__fail(w->ctx, MBG_ERROR_INPUT, "no steady motion: %s does not hold when the mechanism has moved on",
                      label);
      goto done;
    }
  }
  /* forces of rounding come from stiffness */
  for (int i = 0; i < mbg__csc_count(mbg__system_pattern_K(w->sys)); i++) {
    force = fmax(force, 1e-9 * fabs(re(w->K[i])) * m->size);
  }
  if (off > 1e-6 * force) {
    err = mbg__fail(w->ctx, MBG_ERROR_INPUT,
                    "no steady motion: the forces on body '%s' change while the mechanism moves on (gravity across the "
                    "axis, springs to the ground, laws of time)",
                    body_of(m, worst));
  }
done:
  return err;
}

static int steady(mbg__modes_work *w) {
  int err = MBG_OK, after = 0;
  double length = INFINITY;
  MBG_TRY(mbg__modes_begin(w, w->given->start));
  MBG_TRY(common_twist(w));
  real *r = MBG_TAKE(&w->arena, real, w->m->nw), *phi = MBG_TAKE(&w->arena, real, w->m->nrow);
  real *x = MBG_TAKE(&w->arena, real, w->saddle.n);
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  for (int it = 0; it < STEADY_MAX && after < 3; it++) {
    MBG_TRY(steady_step(w, r, phi, x, &length));
    after += length < 1e-11;
    w->iterations++;
  }
  if (!(length < 1e-9)) {
    err = mbg__fail(w->ctx, MBG_ERROR_CONVERGENCE,
                    "no steady motion was found near the start (last step %.2e of the model's size)", length);
    goto done;
  }
  MBG_TRY(stays_steady(w, phi, x));
done:
  return err;
}

/* ---------------------------------------------------------------------- matrices */

/* position of entry (row, column) in the pattern, -1 when it is not there */
static int find_entry(const mbg__csc *P, int row, int column) {
  int low = P->colptr[column], high = P->colptr[column + 1] - 1;
  while (low <= high) {
    const int middle = (low + high) / 2;
    if (P->rowind[middle] == row) {
      return middle;
    }
    if (P->rowind[middle] < row) {
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return -1;
}

static double value_at(const mbg__modes_work *w, int row, int column) {
  const int i = find_entry(mbg__system_pattern_K(w->sys), row, column);
  return i < 0 ? 0 : re(w->K[i]);
}

/* Forces with a potential have a symmetric K in equilibrium; unbalanced forces enter it unsymmetrically. */
static int compare_transposed(mbg__modes_work *w) {
  const mbg_model *m = w->m;
  const mbg__csc *P = mbg__system_pattern_K(w->sys);
  double out = 0;
  real *r = MBG_TAKE(&w->arena, real, m->nw);
  if (mbg__arena_check(w->ctx, &w->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__system_residual(w->sys, r, NULL, NULL, NULL, NULL);
  for (int j = 0; j < m->nv; j++) {
    out = fmax(out, fabs(re(r[m->full[j]])));
  }
  w->K_symmetric = m->nstate == 0;
  for (int j = 0; w->K_symmetric && j < m->nv; j++) {
    const double own = fabs(value_at(w, j, j));
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      const int row = P->rowind[i];
      const double off = fabs(re(w->K[i]) - value_at(w, j, row)), local = fmax(own, fabs(value_at(w, row, row)));
      w->K_symmetric = w->K_symmetric && off <= fmax(1e-13 * local, 100 * out);
    }
  }
  return MBG_OK;
}

static int matrices(mbg__modes_work *w) {
  const mbg__state state = state_of(w);
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(w->ctx, w->sys, &state));
  MBG_TRY(mbg__system_linearize(w->ctx, w->sys));
  mbg__system_matrices(w->sys, &(mbg__matrices){.K = w->K, .C = w->C, .M = w->M, .B = w->B, .late = w->by_lambda});
  bool turning = false;
  if (w->m->nstate > 0 && w->opt.undamped) {
    err = mbg__modes_states_refuse(
        w, "damping cannot be left out of a model with states: it cannot be told apart from what they do");
    goto done;
  }
  for (int i = 0; i < w->m->nw; i++) {
    turning = turning || w->v[i] != 0;
    w->moving = w->moving || w->v[i] != 0 || w->vd[i] != 0;
  }
  if (turning && w->opt.undamped) {
    err = mbg__fail(w->ctx, MBG_ERROR_INPUT,
                    "damping cannot be left out about a motion: it cannot be told apart from gyroscopic terms");
    goto done;
  }
  if (w->moving) {
    MBG_TRY(add_times_ad(w, w->C, w->v, w->K));
    MBG_TRY(add_times_ad(w, w->M, w->vd, w->K));
    MBG_TRY(add_times_ad(w, w->M, w->v, w->C));
  }
  mbg__modes_states_columns(w);
  MBG_TRY(mbg__modes_late_prepare(w));
  MBG_TRY(compare_transposed(w));
done:
  return err;
}

int mbg__modes_state(mbg__modes_work *w) {
  int err = MBG_OK;
  switch (w->opt.at) {
  case MBG_MODES_EQUILIBRIUM:
    MBG_TRY(equilibrium(w));
    break;
  case MBG_MODES_START:
    MBG_TRY(start(w));
    break;
  case MBG_MODES_STEADY:
    MBG_TRY(steady(w));
    break;
  }
  MBG_TRY(matrices(w));
  w->n = w->m->nv - w->result->rank->nkept;
done:
  return err;
}
