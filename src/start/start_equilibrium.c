/* Static equilibrium of the start: r(H, 0, 0, lambda) = 0, phi(H) = 0 (theory 0, section 6), in stages:
     1. load: with beams, r - (1 - s) r_0 = 0 is followed from the guess (s = 0) to equilibrium (s = 1)
     2. descent: steps (K + sigma W) h + B^T dlambda = -r, sigma such that their work, -(r_0 + r_1).h/2 by the
        trapezoidal rule, is positive and near the predicted one: a trust region with forces alone, which ends in a
        valley of the potential if there is one
     3. transient: for forces without a potential, where 2 may circle
     4. with states, whose rates are no forces: Newton's steps, shortened until the residual falls
     5. Newton's method to rounding
   The complex twin of the tests leaves imaginary parts out of 2: they follow in 5, whatever the way was. */
#include "start/start_equilibrium.h"

#include <string.h>

enum { TRANSIENT_MAX = 500, SHORTENED_MAX = 100, NEWTON_MAX = 60 };

typedef enum { BY_DESCENT, BY_TRANSIENT, BY_SHORTENED } way_to_go;

/* ---------------------------------------------------------------------- load */

/* to the frames of the guess, with its turns */
static void go_back(mbg__start_work *w, const mbg__frame *guess) {
  memcpy(w->result.H, guess, (size_t)w->m->nbody * sizeof(*guess));
  memset(w->result.turns, 0, (size_t)w->m->nturn * sizeof(int));
  w->angles_known = false;
}

/* Newton's method on r - (1 - s) r_0 = 0, phi = 0; false when it leaves the path */
static bool follow(mbg_context *quiet, mbg__start_work *w, double s, const real *r0, int *iterations) {
  const mbg_model *m = w->m;
  double last = INFINITY;
  for (int it = 0; it < 12; it++) {
    if (mbg__balance_update(quiet, w, w->k) < 0) {
      return false;
    }
    for (int i = 0; i < m->nw; i++) {
      w->full[i] -= (1 - s) * r0[i];
    }
    if (mbg__balance_solve(quiet, w, mbg__stiffness_added(w), NULL) < 0) {
      return false;
    }
    const double length = mbg__balance_length(w, w->m->size);
    if (!(length < 0.5) || (it > 2 && length > 2 * last)) {
      return false;
    }
    mbg__balance_step(w, 1);
    *iterations = it + 1;
    last = length;
    if (length < 1e-9) {
      return true;
    }
  }
  return false;
}

/* Slender beams: the load is applied in steps, r - (1 - s) r_0 = 0 from the guess (s = 0) to equilibrium (s = 1). If
   they fail, the frames return to the guess. */
static void load_in_steps(mbg_context *quiet, mbg__start_work *w, const mbg__frame *guess) {
  const mbg_model *m = w->m;
  real *r0 = w->full2;
  double s = 0, ds = 0.1;
  int iterations = 0;
  vn_zero(m->nrow, w->k);
  const bool defined = mbg__balance_update(quiet, w, w->k) == MBG_OK;
  vn_copy(m->nw, r0, w->full);
  while (defined && s < 1 && ds > 1e-4) {
    const double next = fmin(s + ds, 1);
    mbg__balance_keep(w);
    if (follow(quiet, w, next, r0, &iterations)) {
      s = next;
      ds *= iterations <= 6 ? 1.6 : 1;
    } else {
      mbg__balance_restore(w);
      ds /= 2;
    }
  }
  if (s < 1) {
    go_back(w, guess);
  }
}

/* ---------------------------------------------------------------------- transient */

/* (W/tau + K) h + B^T dlambda = -r: descends for small tau, Newton's method for large */
static int transient(mbg_context *ctx, mbg__start_work *w, bool *arrived) {
  double size, before = 0, tau = 0, length = 1;
  int err = MBG_OK;
  vn_zero(w->m->nrow, w->k);
  for (int it = 0; it < TRANSIENT_MAX && !(length < 1e-8); it++) {
    MBG_TRY(mbg__balance(ctx, w, &size));
    if (it == 0) {
      tau = size > 0 ? 0.02 / size : 1e300;
    } else {
      tau *= fmin(10, fmax(0.3, before / fmax(size, 1e-300)));
    }
    before = size;
    tau = length < 1e-6 && it > 0 && tau * size < 1e-3 ? tau * 10 : tau;
    MBG_TRY(mbg__balance_solve(ctx, w, 1 / fmin(tau, 1e300) + mbg__stiffness_added(w), NULL));
    length = mbg__balance_length(w, w->m->size);
    mbg__balance_step(w, length > 0.2 ? 0.2 / length : 1);
  }
  *arrived = length < 1e-8;
done:
  return err;
}

/* ---------------------------------------------------------------------- shortened steps */

/* no body moves by more than half of the model or turns by more than half a radian; states are not bodies */
static double longest_step(const mbg__start_work *w) {
  const mbg_model *m = w->m;
  double length = 0.5;
  for (int b = 0; b < m->nbody; b++) {
    for (int k = 0; k < 6 && m->bodies[b].state < 0; k++) {
      const int j = m->dof[m->bodies[b].voff + k];
      length = fmax(length, j < 0 ? 0 : fabs(re(w->position.x[j])) / (k < 3 ? m->size : 1));
    }
  }
  return 0.5 / length;
}

/* a shorter step each time until the residual falls; false when none does */
static int shorten(mbg_context *ctx, mbg__start_work *w, double *size, bool *fell) {
  const mbg_model *m = w->m;
  const double before = *size;
  real *x = w->full3;
  int err = MBG_OK;
  *fell = false;
  vn_copy(m->nv, x, w->position.x);
  mbg__balance_keep(w);
  for (double step = longest_step(w); step > 1e-4 && !*fell; step /= 2) {
    mbg__balance_restore(w);
    vn_copy(m->nv, w->position.x, x);
    vn_zero(m->nrow, w->position.x + m->nv);
    mbg__balance_step(w, step);
    err = mbg__balance(ctx, w, size);
    if (err == MBG_ERROR_MEMORY) {
      return err;
    }
    *fell = err == MBG_OK && *size < (1 - 1e-4 * step) * before;
  }
  return MBG_OK;
}

static int shortened(mbg_context *ctx, mbg__start_work *w, bool *arrived) {
  double size;
  int err = MBG_OK;
  bool fell = true;
  vn_zero(w->m->nrow, w->k);
  MBG_TRY(mbg__balance(ctx, w, &size));
  for (int it = 0; it < SHORTENED_MAX && fell && !*arrived; it++) {
    MBG_TRY(mbg__balance_solve(ctx, w, mbg__stiffness_added(w), NULL));
    *arrived = mbg__balance_length(w, w->m->size) < 1e-3;
    MBG_TRY(*arrived ? MBG_OK : shorten(ctx, w, &size, &fell));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- Newton's method */

static int newton(mbg_context *ctx, mbg__start_work *w, double reach, bool *converged) {
  /* added stiffness makes the convergence linear, and free motions creep by rounding */
  const int enough = w->indifferent ? 12 : 3;
  const double small = w->indifferent ? 1e-8 : 1e-12;
  double size, last = INFINITY;
  int err = MBG_OK, after = 0;
  for (int it = 0; it < NEWTON_MAX && after < enough; it++) {
    MBG_TRY(mbg__balance(ctx, w, &size));
    MBG_TRY(mbg__balance_solve(ctx, w, mbg__stiffness_added(w), NULL));
    const double length = mbg__balance_length(w, reach);
    if (!(length < 0.1)) {
      break;
    }
    mbg__balance_step(w, 1);
    after += length < small || (length < 1e-9 && length >= last);
    last = length;
  }
  *converged = after >= enough;
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

/* the state that moves most, where the search moved the body that carries it */
static int state_not_found(mbg_context *ctx, const mbg__start_work *w, const mbg__search *d) {
  int k = 0;
  for (int i = 1; i < 3; i++) {
    k = fabs(d->along[i]) > fabs(d->along[k]) ? i : k;
  }
  const mbg__user_state *s = &w->m->states[w->m->bodies[d->body].state + k];
  return mbg__fail_at(
      ctx, MBG_ERROR_CONVERGENCE, &s->where, 0,
      "no static equilibrium was found near the start: the search ended where the rate of this state is "
      "about %.3g; give a \"guess\", or \"initial\" a value",
      d->force * s->scale);
}

static int not_found(mbg_context *ctx, const mbg__start_work *w, const mbg__search *d) {
  char pushed[200];
  if (d->body < 0) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "no static equilibrium was found near the start");
  }
  if (w->m->bodies[d->body].state >= 0) {
    return state_not_found(ctx, w, d);
  }
  mbg__format(pushed, sizeof(pushed), "body '%s' %s (%.3g, %.3g, %.3g), pushed by %.3g %s", w->m->bodies[d->body].name,
              d->turns ? "turns about" : "moves along", d->along[0], d->along[1], d->along[2], d->force,
              d->turns ? "N m" : "N");
  if (d->end == MBG__AWAY) {
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "no static equilibrium was found: %s, and nothing stops it", pushed);
  }
  return mbg__fail(
      ctx, MBG_ERROR_CONVERGENCE, "no static equilibrium was found near the start: the search ended where %s%s%s%s",
      pushed,
      d->corner ? ", to a point where a force has no direction (a spring of length 0, a polar angle at its centre)"
                : "",
      d->why[0] ? "; further on: " : "", d->why);
}

/* from the guess */
static int go(mbg_context *quiet, mbg__start_work *w, const mbg__frame *guess, way_to_go way, mbg__search *d,
              bool *found) {
  const bool by_descent = way == BY_DESCENT;
  int err = MBG_OK;
  bool arrived = false;
  *found = false;
  go_back(w, guess);
  if (by_descent && w->m->nelement > 0) {
    load_in_steps(quiet, w, guess);
  }
  if (by_descent) {
    MBG_TRY(mbg__descent(quiet, w, d));
    arrived = d->end == MBG__ARRIVED;
  } else if (way == BY_TRANSIENT) {
    MBG_TRY(transient(quiet, w, &arrived));
  } else {
    MBG_TRY(shortened(quiet, w, &arrived));
  }
  if (arrived) {
    MBG_TRY(newton(quiet, w, mbg__search_reach(w, d), found));
  }
done:
  if (by_descent && arrived && !*found) {
    mbg__descent_stuck(w, d);
  }
  return err;
}

/* all ways from the guess; their errors go to another context */
static int search(mbg_context *ctx, mbg__start_work *w, mbg__search *d, bool *found) {
  const size_t frames = (size_t)w->m->nbody * sizeof(*w->before);
  int err = MBG_OK;
  mbg_context *quiet = NULL;
  mbg__frame *guess = NULL;
  MBG_TRY(mbg_context_create(mbg__context_allocator(ctx), &quiet));
  guess = mbg__alloc(ctx, (size_t)w->m->nbody, sizeof(*guess));
  if (!guess) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  memcpy(guess, w->result.H, frames);
  const way_to_go last = w->steady.n > 0 ? BY_SHORTENED : BY_TRANSIENT;
  for (way_to_go way = BY_DESCENT; way <= last && !*found && err != MBG_ERROR_MEMORY; way++) {
    mbg_context_clear(quiet);
    err = go(quiet, w, guess, way, d, found);
  }
  if (err == MBG_ERROR_MEMORY) {
    err = mbg__fail_memory(ctx);
  } else if (err < 0 && d->body < 0) { /* not even at the guess */
    err = mbg__fail(ctx, err, "%s", mbg_context_error(quiet));
  } else {
    err = MBG_OK;
  }
done:
  mbg__free(ctx, guess);
  mbg_context_destroy(quiet);
  return err;
}

int mbg__start_equilibrium(mbg_context *ctx, mbg__start_work *w) {
  mbg__search d = {.end = MBG__STUCK, .body = -1};
  int err = MBG_OK;
  bool found = false;
  mbg__steady_begin(w);
  MBG_TRY(search(ctx, w, &d, &found));
  if (!found) {
    err = not_found(ctx, w, &d);
    goto done;
  }
  /* the factors of the solution serve the derivatives */
  MBG_TRY(mbg__balance_update(ctx, w, w->k));
  const mbg__kkt_fill fill = {.K = w->K,
                              .diagonal = mbg__stiffness_added(w),
                              .B = w->B,
                              .late = w->steady.by_lambda,
                              .keep = w->result.rank->keep,
                              .eq = w->values};
  MBG_TRY(mbg__kkt_factor(ctx, w, &w->position, &fill, "equilibrium"));
  vn_copy(w->m->nrow, w->result.lambda, w->k);
  mbg__steady_end(w);
done:
  return err;
}
