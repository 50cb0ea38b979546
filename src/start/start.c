/* Assembly of the start (theory 0, section 6), in stages:
     1. feasible: damped steps of least motion until all rows and pins hold, redundant ones included
     2. rank: which rows and pins are independent there; frozen
     3. nearest: Gauss-Newton, then Newton with curvature, on the KKT system of the nearest configuration
     4. equilibrium (when asked for): start_equilibrium.c
     5. rates: one KKT solve */
#include "start/start_internal.h"

#include "elements/lists.h"
#include "math/dense.h"
#include "start/lookahead.h"

#include <string.h>

enum { FEASIBLE_MAX = 100, NEAREST_MAX = 60 };

static const double feasible_goal = 1e-13; /* scaled residual at which stage 1 ends */
static const double feasible_limit = 1e-9; /* ... above which it has failed */
static const double exact_limit = 1e-8;    /* "start": "exact" */
static const double given_limit = 1e-6;    /* a given state */
static const double regular = 1e-10;       /* relative regularisation of stage 1: redundant rows */
static const double pin_tolerance = 1e-9;  /* rank of the equations of pins */

/* ---------------------------------------------------------------------- equations of pins */

/* a signal of position level as a function of entries of G; false when it is none */
static bool signal_term(const mbg_model *m, const mbg__signal *sig, mbg__term *t) {
  mbg__coord c = {.pair = sig->pair, .sign = 1, .turn = -1};
  int n;
  const mbg__coord_type *const *types = mbg__coord_types(&n);
  if (sig->type->of == MBG__OF_COORD) {
    mbg__term_of_coord(&m->coords[sig->coord], t);
    return true;
  }
  for (int i = 0; i < n; i++) {
    if (!strcmp(sig->type->key, types[i]->key)) { /* distance */
      c.type = types[i];
      mbg__term_of_coord(&c, t);
      return true;
    }
  }
  *t = (mbg__term){.pair = sig->pair, .nentry = 1, .law = -1, .attr_sign = 1, .turn = -1, .sign = 1, .factor = -1};
  if (sig->type->modes || (!strcmp(sig->type->key, "position") && sig->opt[1] == 0)) {
    t->entry[0] = MBG__X1 + sig->opt[0];
    return true;
  }
  if (!strcmp(sig->type->key, "direction")) {
    t->entry[0] = 3 * sig->opt[0] + sig->opt[1];
    return true;
  }
  return false;
}

static int pin_refused(mbg_context *ctx, const mbg__pin *pin, const char *why) {
  return mbg__fail_at(ctx, MBG_ERROR_INPUT, &pin->where, 0, "%s", why);
}

/* value and rate of a function of position */
static void add_term(mbg__start_work *w, int i, const mbg__term *t) {
  const mbg__pin *pin = &w->m->pins[i];
  const mbg__equation e = {.pin = i, .pair = t->pair, .signal = -1, .term = *t, .active = true};
  if (pin->value >= 0) {
    w->values[w->nvalue] = e;
    w->values[w->nvalue++].target = pin->value;
  }
  if (pin->rate >= 0) {
    w->rates[w->nrate] = e;
    w->rates[w->nrate++].target = pin->rate;
  }
}

static int add_signal(mbg_context *ctx, mbg__start_work *w, int i) {
  const mbg__pin *pin = &w->m->pins[i];
  const mbg__signal *sig = &w->m->signals[pin->signal];
  mbg__term t;
  if (sig->level == MBG__LEVEL_POSITION) {
    if (!signal_term(w->m, sig, &t)) {
      return pin_refused(ctx, pin,
                         "of position level, a coordinate, a position (in axes A), a direction, a distance or a modal "
                         "coordinate can be "
                         "pinned");
    }
    add_term(w, i, &t);
    return MBG_OK;
  }
  if (sig->level != MBG__LEVEL_VELOCITY || pin->value < 0 || pin->rate >= 0) {
    return pin_refused(ctx, pin, "a signal of velocity level is pinned by \"value\" alone");
  }
  if (sig->type->role == MBG__ROLE_COORD_RATE) {
    mbg__term_of_coord(&w->m->coords[sig->coord], &t);
    w->rates[w->nrate++] =
        (mbg__equation){.pin = i, .target = pin->value, .pair = t.pair, .signal = -1, .term = t, .active = true};
    return MBG_OK;
  }
  if (sig->type->of != MBG__OF_PAIR) {
    return pin_refused(ctx, pin, "of velocity level, a rate, a velocity or an angular velocity can be pinned");
  }
  w->rates[w->nrate++] =
      (mbg__equation){.pin = i, .target = pin->value, .pair = sig->pair, .signal = pin->signal, .active = true};
  return MBG_OK;
}

static int make_equations(mbg_context *ctx, mbg__start_work *w) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  for (int i = 0; i < m->npin; i++) {
    if (m->pins[i].coord >= 0) {
      mbg__term t;
      mbg__term_of_coord(&m->coords[m->pins[i].coord], &t);
      add_term(w, i, &t);
    } else {
      MBG_TRY(add_signal(ctx, w, i));
    }
  }
  if (m->start == MBG__START_EQUILIBRIUM && w->nvalue > 0) {
    err = pin_refused(ctx, &m->pins[w->values[0].pin],
                      "a value cannot be pinned when the start is the equilibrium; give a guess instead");
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- creation */

#define TAKE(field, type, count)                                                                                       \
  do {                                                                                                                 \
    w->field = mbg__arena_take(&w->arena, (size_t)(count), sizeof(type));                                              \
    if (!w->field) {                                                                                                   \
      return mbg__fail_memory(ctx);                                                                                    \
    }                                                                                                                  \
  } while (0)

static int take_arrays(mbg_context *ctx, mbg__start_work *w) {
  const mbg_model *m = w->m;
  TAKE(result.H, mbg__frame, m->nbody);
  TAKE(result.v, real, m->nw);
  TAKE(result.turns, int, m->nturn);
  TAKE(result.lambda, real, m->nrow);
  TAKE(result.moved, double, m->nbody);
  TAKE(result.turned, double, m->nbody);
  TAKE(values, mbg__equation, m->npin);
  TAKE(rates, mbg__equation, m->npin);
  TAKE(K, real, mbg__csc_count(&w->sys->patK));
  TAKE(B, real, mbg__csc_count(&w->sys->patB));
  TAKE(k, real, m->nrow);
  TAKE(kp, real, m->npin);
  TAKE(kv, real, m->nrow);
  TAKE(kvp, real, m->npin);
  TAKE(phi, real, m->nrow);
  TAKE(pin, real, m->npin);
  TAKE(gradient, vec6, m->npin);
  TAKE(d, vec6, m->nbody);
  TAKE(metric, mat6, m->nbody);
  TAKE(block, mat6, m->nbody);
  TAKE(full, real, m->nw);
  TAKE(full2, real, m->nw);
  TAKE(full3, real, m->nw);
  TAKE(full4, real, m->nw);
  TAKE(row, real, m->nrow);
  TAKE(row2, real, m->nrow);
  TAKE(trial, mbg__frame, m->nbody);
  TAKE(before, mbg__frame, m->nbody);
  TAKE(angles, real, m->ncoord);
  TAKE(angles_before, real, m->ncoord);
  TAKE(W, double, m->nw);
  TAKE(given_H, mbg__frame, m->nbody);
  TAKE(given_v, real, m->nw);
  TAKE(given_turns, int, m->nturn);
  for (int i = 0; i < m->nbody; i++) {
    for (int k = 0; k < m->bodies[i].nvel; k++) {
      w->W[m->bodies[i].voff + k] = k >= 3 && k < 6 ? m->size * m->size : 1;
    }
  }
  return MBG_OK;
}

int mbg__start_create(mbg_context *ctx, mbg__system *sys, mbg__start_work **out) {
  int err = MBG_OK;
  mbg__start_work *w = mbg__alloc_zero(ctx, 1, sizeof(*w));
  if (!w) {
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&w->arena, mbg__context_allocator(ctx));
  mbg__arena_init(&w->rank_arena, mbg__context_allocator(ctx));
  w->sys = sys;
  w->m = sys->model;
  MBG_TRY(take_arrays(ctx, w));
  MBG_TRY(make_equations(ctx, w));
  MBG_TRY(mbg__kkt_create(ctx, w, &w->position, w->values, w->nvalue));
  MBG_TRY(mbg__kkt_create(ctx, w, &w->rate, w->rates, w->nrate));
done:
  if (err < 0) {
    mbg__start_destroy(w);
    w = NULL;
  }
  *out = w;
  return err;
}

void mbg__start_destroy(mbg__start_work *w) {
  if (!w) {
    return;
  }
  const mbg_allocator allocator = w->arena.allocator;
  mbg__kkt_destroy(&w->position);
  mbg__kkt_destroy(&w->rate);
  mbg__arena_destroy(&w->rank_arena);
  mbg__arena_destroy(&w->arena);
  allocator.release(allocator.user, w);
}

const mbg__start_result *mbg__start_result_of(const mbg__start_work *w) { return &w->result; }

/* ---------------------------------------------------------------------- states and residuals */

static const mbg__design *design_of(const mbg__start_work *w) { return w->sys->design; }

static int bare(mbg_context *ctx, mbg__start_work *w, const mbg__frame *H, const real *v, const real *lambda) {
  const mbg__state state = {.t = w->result.t, .H = H, .v = v, .lambda = lambda, .turns = w->result.turns};
  return mbg__system_update_bare(ctx, w->sys, &state);
}

/* turn counters of pinned angles: nearest to the value asked for */
static void nearest_turns(mbg__start_work *w) {
  for (int i = 0; i < w->nvalue; i++) {
    const mbg__term *t = &w->values[i].term;
    if (t->turn < 0) {
      continue;
    }
    mbg__term_in in;
    mbg__term_value q;
    mbg__term_in_of(w->sys, t, &in);
    in.turns = 0;
    mbg__term_eval(t, &in, &q, NULL);
    const double away = re(design_of(w)->attr[w->values[i].target] - q.phi);
    w->result.turns[t->turn] = (int)(t->sign * floor(away / (2 * M_PI) + 0.5));
    w->sys->turns[t->turn] = w->result.turns[t->turn];
  }
}

/* rows and pins at H, scaled: displacement in the metric that would undo them, relative to the model's size */
static int residuals(mbg_context *ctx, mbg__start_work *w, const mbg__frame *H, bool pins, double *largest,
                     int *worst) {
  const mbg__csc *p = &w->sys->patB;
  const int err = bare(ctx, w, H, NULL, NULL);
  if (err < 0) {
    return err;
  }
  nearest_turns(w);
  mbg__system_residual(w->sys, NULL, w->phi, NULL, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.B = w->B});
  memset(w->row, 0, (size_t)w->m->nrow * sizeof(real));
  for (int j = 0; j < w->m->nv; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      w->row[p->rowind[i]] += w->B[i] * w->B[i] / w->W[w->m->full[j]];
    }
  }
  *largest = 0;
  *worst = -1;
  for (int i = 0; i < w->m->nrow; i++) {
    const double l = sqrt(re(w->row[i]));
    const double x = fabs(re(w->phi[i])) / ((l > 1e-300 ? l : 1) * w->m->size);
    if (!(x <= *largest)) {
      *largest = x;
      *worst = i;
    }
  }
  for (int i = 0; i < w->nvalue; i++) {
    mbg__equation_value(w, &w->values[i], false, &w->pin[i], w->gradient[i]);
    const real l2 = v6_dot(w->gradient[i], w->gradient[i]);
    const double x = fabs(re(w->pin[i])) / fmax(sqrt(re(l2)) * w->m->size, 1e-300);
    if (pins && w->values[i].active && !(x <= *largest)) {
      *largest = x;
      *worst = w->m->nrow + i;
    }
  }
  return MBG_OK;
}

void mbg__start_retract(const mbg__start_work *w, const mbg__frame *H, double step, const real *x, mbg__frame *out) {
  const mbg_model *m = w->m;
  for (int b = 0; b < m->nbody; b++) {
    real h[6] = {0};
    for (int k = 0; k < 6; k++) {
      const int j = m->dof[m->bodies[b].voff + k];
      h[k] = j >= 0 ? step * x[j] : 0;
    }
    mbg__se3_retract(&out[b], &H[b], h);
  }
}

/* largest motion of a body in a step, in units of the model's size and radians */
static double step_length(const mbg__start_work *w, const real *x) {
  double most = 0;
  for (int j = 0; j < w->m->nv; j++) {
    most = fmax(most, fabs(re(x[j])) * sqrt(w->W[w->m->full[j]]) / w->m->size);
  }
  return most;
}

/* Steps are shortened to half a radian: rotations are what makes the rows nonlinear. */
static double step_factor(const mbg__start_work *w, const real *x) {
  double most = 0;
  for (int b = 0; b < w->m->nbody; b++) {
    for (int k = 3; k < 6; k++) {
      const int j = w->m->dof[w->m->bodies[b].voff + k];
      most = j >= 0 ? fmax(most, fabs(re(x[j]))) : most;
    }
  }
  return most > 0.5 ? 0.5 / most : 1;
}

void mbg__start_right_side(mbg__start_work *w, mbg__kkt *kkt, const bool *keep, const mbg__equation *eq) {
  for (int i = 0; i < w->m->nrow; i++) {
    kkt->x[w->m->nv + i] = !keep || keep[i] ? -w->phi[i] : 0;
  }
  for (int i = 0; i < kkt->npin; i++) {
    kkt->x[w->m->nv + w->m->nrow + i] = eq[i].active ? -w->pin[i] : 0;
  }
}

/* ---------------------------------------------------------------------- stage 1: feasible */

/* shortens the step until the largest residual falls; returns false when it does not */
static int line_search(mbg_context *ctx, mbg__start_work *w, bool pins, double *largest, int *worst, bool *better) {
  mbg__frame *H = w->result.H;
  const double before = *largest, length = step_length(w, w->position.x);
  double step = step_factor(w, w->position.x);
  int err = MBG_OK;
  *better = false;
  for (int cut = 0; cut < 12; cut++, step /= 2) {
    mbg__start_retract(w, H, step, w->position.x, w->trial);
    MBG_TRY(residuals(ctx, w, w->trial, pins, largest, worst));
    if (*largest < before * (1 - 0.1 * step) || (*largest <= before && step * length < 1e-9)) {
      *better = *largest < before;
      memcpy(H, w->trial, (size_t)w->m->nbody * sizeof(*H));
      break;
    }
  }
  if (!*better) {
    err = residuals(ctx, w, H, pins, largest, worst);
  }
done:
  return err;
}

static int feasible(mbg_context *ctx, mbg__start_work *w, bool pins, double *largest, int *worst) {
  int err = MBG_OK;
  for (int i = 0; i < w->nvalue; i++) {
    w->values[i].active = pins;
  }
  MBG_TRY(residuals(ctx, w, w->result.H, pins, largest, worst));
  for (int it = 0; it<FEASIBLE_MAX && * largest> feasible_goal; it++) {
    bool better;
    const mbg__kkt_fill fill = {.diagonal = 1, .B = w->B, .delta = regular, .eq = w->values, .gradient = w->gradient};
    MBG_TRY(mbg__kkt_factor(ctx, w, &w->position, &fill, "assembly"));
    memset(w->position.x, 0, (size_t)w->m->nv * sizeof(real));
    mbg__start_right_side(w, &w->position, NULL, w->values);
    mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
    MBG_TRY(line_search(ctx, w, pins, largest, worst, &better));
    w->result.iterations++;
    if (!better) {
      break;
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- stage 2: rank */

/* an equation that depends on others, and these others: what a contradiction must name */
static int mark_related(mbg_context *ctx, mbg__arena *scratch, const mbg__qr *qr, int rank, mbg__equation *eq) {
  double *T = MBG_TAKE(scratch, double, (size_t)rank *(size_t)(qr->n - rank));
  if (!T) {
    return mbg__fail_memory(ctx);
  }
  mbg__qr_dependence(qr, rank, T);
  for (int i = 0; i < qr->n; i++) {
    eq[i].related = false;
  }
  for (int d = 0; d < qr->n - rank; d++) {
    eq[qr->column[rank + d]].related = true;
    for (int k = 0; k < rank; k++) {
      eq[qr->column[k]].related = eq[qr->column[k]].related || fabs(T[k + rank * d]) > 1e-6;
    }
  }
  return MBG_OK;
}

/* Gram matrix of the equations' gradients, projected on the motions that the kept rows allow; dependent ones become
   inactive. Returns the number of independent ones, or a negative status. */
static int pins_rank(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, mbg__equation *eq) {
  const int n = kkt->npin, nv = w->m->nv;
  mbg__arena scratch;
  mbg__qr qr;
  int err = MBG_OK, rank = 0;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  if (n == 0) {
    return 0;
  }
  real *P = MBG_TAKE(&scratch, real, (size_t)n * (size_t)nv);
  if (!P || mbg__qr_prepare(&qr, &scratch, n, n) < 0) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int i = 0; i < n; i++) {
    memset(w->full, 0, (size_t)w->m->nw * sizeof(real));
    static const vec6 zero = {0};
    mbg__kin_pair_pull(w->sys, eq[i].pair, w->gradient[i], zero, NULL, w->full, NULL, NULL, NULL);
    for (int j = 0; j < nv; j++) {
      P[(size_t)i * (size_t)nv + (size_t)j] = w->full[w->m->full[j]];
    }
    eq[i].active = false;
  }
  const mbg__kkt_fill fill = {
      .diagonal = 1, .B = w->B, .keep = w->result.rank->keep, .eq = eq, .gradient = w->gradient};
  MBG_TRY(mbg__kkt_factor(ctx, w, kkt, &fill, "pins"));
  for (int i = 0; i < n; i++) {
    memset(kkt->x, 0, (size_t)kkt->n * sizeof(real));
    memcpy(kkt->x, P + (size_t)i * (size_t)nv, (size_t)nv * sizeof(real));
    double own = 0;
    for (int j = 0; j < nv; j++) {
      own += re(kkt->x[j] * kkt->x[j]) / w->W[w->m->full[j]];
    }
    mbg__klu_solve(kkt->saddle.klu, kkt->x, 1);
    for (int k = 0; k < n; k++) {
      qr.A[k + n * i] = re(vn_dot(nv, P + (size_t)k * (size_t)nv, kkt->x)) / (own > 0 ? own : 1);
    }
  }
  if (mbg__qr_factor(&qr) < 0) {
    err = mbg__fail(ctx, MBG_ERROR_SINGULAR, "the equations of the pins are not finite");
    goto done;
  }
  /* columns are scaled to their own length: a pin that the rows forbid to move has an absolutely small column */
  while (rank < n && fabs(qr.A[rank * (n + 1)]) > pin_tolerance) {
    eq[qr.column[rank++]].active = true;
  }
  MBG_TRY(mark_related(ctx, &scratch, &qr, rank, eq));
done:
  mbg__arena_destroy(&scratch);
  return err < 0 ? err : rank;
}

enum { LOOKAHEAD_STEPS = 12 };

/* a motion that the rows allow, about 0.4 rad or 0.4 of the model's size, into position.x */
static int free_motion(mbg_context *ctx, mbg__start_work *w, uint64_t *seed) {
  const mbg_model *m = w->m;
  for (int i = 0; i < w->nvalue; i++) {
    w->values[i].active = false;
  }
  const mbg__kkt_fill fill = {
      .diagonal = 1, .B = w->B, .keep = w->result.rank->keep, .eq = w->values, .gradient = w->gradient};
  const int err = mbg__kkt_factor(ctx, w, &w->position, &fill, "lookahead");
  if (err < 0) {
    return err;
  }
  memset(w->position.x, 0, (size_t)w->position.n * sizeof(real));
  for (int j = 0; j < m->nv; j++) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    w->position.x[j] = sqrt(w->W[m->full[j]]) * ((double)(*seed >> 40) / (1 << 23) - 1);
  }
  mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
  const double length = step_length(w, w->position.x);
  vn_scale(m->nv, w->position.x, length > 1e-9 ? 0.4 / length : 0, w->position.x);
  return MBG_OK;
}

/* walks at random through configurations that hold, and shows each to the lookahead; one that cannot be reached is left out */
static int wander(mbg_context *ctx, mbg__start_work *w, mbg__arena *arena, mbg__lookahead *look) {
  const mbg_model *m = w->m;
  const double span = isfinite(m->run.end) ? m->run.end - m->run.start : 0;
  uint64_t seed = 1;
  int err = MBG_OK;
  for (int k = 1; k <= LOOKAHEAD_STEPS; k++) {
    const int mark = mbg__message_mark(ctx);
    double largest = INFINITY;
    int worst;
    MBG_TRY(residuals(ctx, w, w->result.H, false, &largest, &worst));
    MBG_TRY(free_motion(ctx, w, &seed));
    memcpy(w->before, w->result.H, (size_t)m->nbody * sizeof(*w->before));
    mbg__start_retract(w, w->before, 1, w->position.x, w->result.H);
    w->result.t += m->ndriver > 0 ? span / 40 : 0;
    err = feasible(ctx, w, false, &largest, &worst);
    if (err == MBG_ERROR_MEMORY) {
      goto done;
    }
    if (err < 0 || !(largest <= feasible_limit)) {
      mbg__message_rewind(ctx, mark);
      memcpy(w->result.H, w->before, (size_t)m->nbody * sizeof(*w->before));
      continue;
    }
    MBG_TRY(bare(ctx, w, w->result.H, NULL, NULL));
    MBG_TRY(mbg__lookahead_add(ctx, arena, look, w->sys));
  }
done:
  return err == MBG_ERROR_MEMORY ? err : MBG_OK;
}

/* chooses the rows to drop with a look at what lies ahead; the configuration stays where it was */
static int look_ahead(mbg_context *ctx, mbg__start_work *w) {
  const size_t bytes = (size_t)w->m->nbody * sizeof(mbg__frame);
  const real t = w->result.t;
  const int iterations = w->result.iterations;
  mbg__arena scratch;
  mbg__lookahead *look;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  mbg__frame *kept = MBG_TAKE(&scratch, mbg__frame, w->m->nbody);
  if (!kept) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  memcpy(kept, w->result.H, bytes);
  MBG_TRY(mbg__lookahead_create(ctx, &scratch, w->m, w->result.rank->ndropped, &look));
  MBG_TRY(mbg__lookahead_add(ctx, &scratch, look, w->sys));
  MBG_TRY(wander(ctx, w, &scratch, look));
  memcpy(w->result.H, kept, bytes);
  w->result.t = t;
  w->result.iterations = iterations;
  const int *rows = mbg__lookahead_choose(look);
  if (rows) {
    MBG_TRY(mbg__rank_choose(ctx, &w->rank_arena, w->result.rank, rows, &w->result.rank));
  }
  double largest;
  int worst;
  MBG_TRY(residuals(ctx, w, w->result.H, true, &largest, &worst));
done:
  mbg__arena_destroy(&scratch);
  return err;
}

static int analyse(mbg_context *ctx, mbg__start_work *w, bool fresh) {
  if (w->has_rank && !fresh) {
    return MBG_OK;
  }
  mbg__arena_destroy(&w->rank_arena);
  const int err = mbg__rank_analyse(ctx, &w->rank_arena, w->sys, &w->result.rank);
  if (err < 0) {
    return err;
  }
  w->has_rank = true;
  if (w->m->run.redundant_error && w->result.rank->ndropped > 0) {
    char label[160];
    mbg__row_label(w->m, w->result.rank->dropped[0], label, sizeof(label));
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "%d redundant constraint rows, the first is %s; \"redundant\": \"drop\" accepts them",
                     w->result.rank->ndropped, label);
  }
  return w->result.rank->ndropped > 0 ? look_ahead(ctx, w) : MBG_OK;
}

/* ---------------------------------------------------------------------- stage 3: nearest */

/* gradient of the metric per body, T^-T(d) W d, into x (free components, negative), and the derivative by d */
static void metric_update(mbg__start_work *w, const mbg__frame *H, real *g) {
  const mbg_model *m = w->m;
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    mbg__frame D;
    real Ti[36], y[6], A[36];
    frame_relative(&D, &design_of(w)->poses[m->bodies[b].guess].h, &H[b]);
    mbg__se3_log(w->d[b], &D);
    mbg__se3_tangent_inv(Ti, w->d[b]);
    for (int k = 0; k < 6; k++) {
      y[k] = w->W[off + k] * w->d[b][k];
    }
    m6_mulv_T(g + off, Ti, y);
    mbg__se3_dtangent_invT(w->metric[b], w->d[b], y);
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < 6; j++) {
        w->metric[b][6 * i + j] += Ti[6 * j + i] * w->W[off + j];
      }
    }
    m6_copy(A, w->metric[b]);
    m6_mul(w->block[b], A, Ti);
  }
}

static void inject_values(mbg__start_work *w) {
  for (int i = 0; i < w->nvalue; i++) {
    if (w->values[i].active) {
      mbg__equation_inject(w, &w->values[i], w->kp[i]);
    }
  }
}

/* everything of the KKT system at H: residual in x; `newton` adds the curvature of rows and pins */
static int nearest_fill(mbg_context *ctx, mbg__start_work *w, bool newton) {
  const mbg_model *m = w->m;
  const bool *keep = w->result.rank->keep;
  int err = MBG_OK;
  for (int i = 0; i < m->nrow; i++) {
    w->k[i] = keep[i] ? w->k[i] : 0;
  }
  MBG_TRY(bare(ctx, w, w->result.H, NULL, w->k));
  nearest_turns(w);
  MBG_TRY(mbg__system_linearize(ctx, w->sys));
  for (int i = 0; i < w->nvalue; i++) {
    mbg__equation_value(w, &w->values[i], false, &w->pin[i], w->gradient[i]);
  }
  inject_values(w);
  mbg__system_residual(w->sys, w->full, w->phi, NULL, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.K = w->K, .B = w->B});
  metric_update(w, w->result.H, w->full2);
  const mbg__kkt_fill fill = {
      .K = newton ? w->K : NULL, .body = w->block, .B = w->B, .keep = keep, .eq = w->values, .gradient = w->gradient};
  MBG_TRY(mbg__kkt_factor(ctx, w, &w->position, &fill, "assembly"));
  for (int j = 0; j < m->nv; j++) {
    w->position.x[j] = -w->full[m->full[j]] - w->full2[m->full[j]];
  }
  mbg__start_right_side(w, &w->position, keep, w->values);
done:
  return err;
}

void mbg__start_take_step(mbg__start_work *w, double step) {
  const mbg_model *m = w->m;
  mbg__start_retract(w, w->result.H, step, w->position.x, w->trial);
  memcpy(w->result.H, w->trial, (size_t)m->nbody * sizeof(*w->trial));
  for (int i = 0; i < m->nrow; i++) {
    w->k[i] += step * w->position.x[m->nv + i];
  }
  for (int i = 0; i < w->nvalue; i++) {
    w->kp[i] += w->values[i].active ? step * w->position.x[m->nv + m->nrow + i] : 0;
  }
}

static int not_converged(mbg_context *ctx, const mbg__start_work *w, double length) {
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                   "the nearest consistent configuration was not found (last step %.2e of the model's size); improve "
                   "the guesses or pin the "
                   "freedoms of model '%s'",
                   length, w->m->name ? w->m->name : "");
}

static int nearest(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK, after = 0;
  double last = INFINITY;
  bool newton = false;
  memset(w->k, 0, (size_t)w->m->nrow * sizeof(real));
  memset(w->kp, 0, (size_t)w->m->npin * sizeof(real));
  for (int it = 0; it < NEAREST_MAX; it++) {
    MBG_TRY(nearest_fill(ctx, w, newton));
    mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
    const double length = step_length(w, w->position.x);
    if (!isfinite(length)) {
      err = not_converged(ctx, w, length);
      goto done;
    }
    mbg__start_take_step(w, step_factor(w, w->position.x));
    w->result.iterations++;
    /* Newton pays near the solution; after convergence two more steps carry derivatives to rounding */
    newton = newton || length < 1e-2 || it > NEAREST_MAX / 2;
    if (newton && (length < 1e-13 || (length < 1e-10 && length >= last)) && ++after > 2) {
      break;
    }
    last = length;
    if (it == NEAREST_MAX - 1 && length > 1e-10) {
      err = not_converged(ctx, w, length);
    }
  }
  MBG_TRY(err);
  MBG_TRY(nearest_fill(ctx, w, true));
done:
  return err;
}

/* ---------------------------------------------------------------------- stage 5: rates */

static int rates_update(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK;
  MBG_TRY(bare(ctx, w, w->result.H, w->result.v, NULL));
  mbg__system_residual(w->sys, NULL, NULL, w->phi, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.B = w->B});
  for (int i = 0; i < w->nrate; i++) {
    mbg__equation_value(w, &w->rates[i], true, &w->pin[i], w->gradient[i]);
  }
done:
  return err;
}

static double rates_largest(const mbg__start_work *w, int *worst) {
  double largest = 0;
  *worst = -1;
  for (int i = 0; i < w->m->nrow; i++) {
    if (!(fabs(re(w->phi[i])) <= largest)) {
      largest = fabs(re(w->phi[i]));
      *worst = i;
    }
  }
  for (int i = 0; i < w->nrate; i++) {
    if (!(fabs(re(w->pin[i])) <= largest)) {
      largest = fabs(re(w->pin[i]));
      *worst = w->m->nrow + i;
    }
  }
  return largest;
}

/* v solves W (v - vbar) + B^T kv + P^T kvp = 0, phid = 0, pins; linear, the second pass refines */
static int rates_solve(mbg_context *ctx, mbg__start_work *w) {
  const mbg_model *m = w->m;
  const bool *keep = w->result.rank->keep;
  int err = MBG_OK;
  memset(w->kv, 0, (size_t)m->nrow * sizeof(real));
  memset(w->kvp, 0, (size_t)m->npin * sizeof(real));
  for (int pass = 0; pass < 2; pass++) {
    MBG_TRY(rates_update(ctx, w));
    if (pass == 0) {
      const mbg__kkt_fill fill = {.diagonal = 1, .B = w->B, .keep = keep, .eq = w->rates, .gradient = w->gradient};
      MBG_TRY(mbg__kkt_factor(ctx, w, &w->rate, &fill, "rates"));
    }
    memset(w->full, 0, (size_t)m->nw * sizeof(real));
    mbg__system_B_mul_T(w->sys, w->kv, w->full);
    static const vec6 zero = {0};
    for (int i = 0; i < w->nrate; i++) {
      vec6 g;
      v6_scale(g, w->kvp[i], w->gradient[i]);
      mbg__kin_pair_pull(w->sys, w->rates[i].pair, g, zero, NULL, w->full, NULL, NULL, NULL);
    }
    for (int j = 0; j < m->nv; j++) {
      const int f = m->full[j];
      w->rate.x[j] = -w->W[f] * (w->result.v[f] - design_of(w)->guess_v[f]) - w->full[f];
    }
    mbg__start_right_side(w, &w->rate, keep, w->rates);
    mbg__klu_solve(w->rate.saddle.klu, w->rate.x, 1);
    for (int j = 0; j < m->nv; j++) {
      w->result.v[m->full[j]] += w->rate.x[j];
    }
    for (int i = 0; i < m->nrow; i++) {
      w->kv[i] += w->rate.x[m->nv + i];
    }
    for (int i = 0; i < w->nrate; i++) {
      w->kvp[i] += w->rate.x[m->nv + m->nrow + i];
    }
  }
  MBG_TRY(rates_update(ctx, w));
done:
  return err;
}

/* ---------------------------------------------------------------------- reports */

static void label_of(const mbg__start_work *w, const mbg__equation *eq, int worst, char *buffer, size_t size) {
  if (worst < w->m->nrow) {
    mbg__row_label(w->m, worst, buffer, size);
  } else {
    mbg__format(buffer, size, "pin '%s'", w->m->pins[eq[worst - w->m->nrow].pin].name);
  }
}

/* names of the pins whose equations depend on each other */
static void list_pins(const mbg__start_work *w, const mbg__equation *eq, int n, char *buffer, size_t size) {
  buffer[0] = 0;
  for (int i = 0; i < n; i++) {
    if (eq[i].related) {
      const size_t used = strlen(buffer);
      mbg__format(buffer + used, size - used, "%s'%s'", used ? ", " : "", w->m->pins[eq[i].pin].name);
    }
  }
}

static int contradiction(mbg_context *ctx, const mbg__start_work *w, const mbg__equation *eq, int n, double residual,
                         const char *what) {
  char names[512];
  list_pins(w, eq, n, names, sizeof(names));
  return mbg__fail(ctx, MBG_ERROR_INPUT,
                   "the pins of %s contradict each other or the joints (residual %.3g): look at pin %s", what, residual,
                   names[0] ? names : "values that cannot be reached");
}

static int cannot_assemble(mbg_context *ctx, mbg__start_work *w, double largest, int worst) {
  char label[160] = "the guesses";
  int err = MBG_OK, row = worst;
  double without = largest;
  if (worst >= 0) {
    label_of(w, w->values, worst, label, sizeof(label));
  }
  if (w->nvalue > 0) {
    /* is it the pins? */
    MBG_TRY(feasible(ctx, w, false, &without, &row));
    if (without <= feasible_limit) {
      MBG_TRY(analyse(ctx, w, true));
      MBG_TRY(pins_rank(ctx, w, &w->position, w->values));
      char names[512];
      list_pins(w, w->values, w->nvalue, names, sizeof(names));
      if (names[0]) {
        return contradiction(ctx, w, w->values, w->nvalue, largest, "values");
      }
    }
  }
  return mbg__fail(
      ctx, MBG_ERROR_INPUT,
      "the mechanism cannot be assembled from the guesses: %s is violated by %.3g (relative to the model's size %.3g)",
      label, largest, w->m->size);
done:
  return err;
}

static void measure_motion(mbg__start_work *w) {
  const mbg_model *m = w->m;
  for (int b = 0; b < m->nbody; b++) {
    mbg__frame D;
    real d[6];
    frame_relative(&D, &design_of(w)->poses[m->bodies[b].guess].h, &w->result.H[b]);
    mbg__se3_log(d, &D);
    w->result.moved[b] = sqrt(re(v3_dot(D.x, D.x)));
    w->result.turned[b] = sqrt(re(v3_dot(d + 3, d + 3)));
    const double far = fmax(w->result.moved[b] / m->size, w->result.turned[b]);
    const bool by_metric = m->start != MBG__START_EQUILIBRIUM && w->result.free_positions > 0;
    w->result.metric_matters = w->result.metric_matters || (far > 1e-6 && by_metric);
  }
}

/* a driver of an angle has two solutions half a turn apart */
static int check_branches(mbg_context *ctx, mbg__start_work *w) {
  const mbg_model *m = w->m;
  for (int i = 0; i < m->ndriver; i++) {
    const mbg__driver *d = &m->drivers[i];
    const mbg__term *t = &m->terms[m->rows[d->row].term];
    const mbg__coord_type *type = m->coords[d->coord].type;
    if (!type->branch) {
      continue;
    }
    mbg__jet3 jet = {0};
    real z[MBG__NZ];
    for (int k = 0; k < t->nentry; k++) {
      const mbg__frame *G = &w->sys->G[t->pair];
      z[k] = t->entry[k] < MBG__X1 ? G->R[t->entry[k]] : G->x[t->entry[k] - MBG__X1];
    }
    z[t->nentry] = t->sign * w->sys->jet[t->law].f[0];
    type->branch(z, 0, 0, &jet);
    if (!(re(jet.F) > 0)) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &d->where, 0,
                          "driver '%s' holds half a turn away from its law at the start; turn the guess of its bodies",
                          d->name);
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- all */

static void take_guess(mbg__start_work *w) {
  const mbg_model *m = w->m;
  for (int b = 0; b < m->nbody; b++) {
    w->result.H[b] = design_of(w)->poses[m->bodies[b].guess].h;
  }
  memcpy(w->result.v, design_of(w)->guess_v, (size_t)m->nw * sizeof(real));
  memset(w->result.turns, 0, (size_t)m->nturn * sizeof(int));
  memset(w->result.lambda, 0, (size_t)m->nrow * sizeof(real));
  w->result.t = m->run.start;
  w->result.iterations = 0;
  w->result.metric_matters = false;
}

static int solve_positions(mbg_context *ctx, mbg__start_work *w, bool fresh) {
  const mbg_model *m = w->m;
  double largest;
  int err = MBG_OK, worst;
  MBG_TRY(residuals(ctx, w, w->result.H, true, &w->result.guess_phi, &w->result.worst));
  if (m->start == MBG__START_EXACT && w->result.guess_phi > exact_limit) {
    char label[160];
    label_of(w, w->values, w->result.worst, label, sizeof(label));
    err = mbg__fail(
        ctx, MBG_ERROR_INPUT,
        "the start is not exact: %s is violated by %.3g (limit %.0e); \"start\": \"assemble\" moves the bodies", label,
        w->result.guess_phi, exact_limit);
    goto done;
  }
  MBG_TRY(feasible(ctx, w, true, &largest, &worst));
  if (!(largest <= feasible_limit)) {
    err = cannot_assemble(ctx, w, largest, worst);
    goto done;
  }
  MBG_TRY(bare(ctx, w, w->result.H, NULL, NULL));
  MBG_TRY(analyse(ctx, w, fresh));
  const int npin = pins_rank(ctx, w, &w->position, w->values);
  MBG_TRY(npin);
  w->result.free_positions = m->nv - w->result.rank->nkept - npin;
  if (m->start == MBG__START_EQUILIBRIUM) {
    MBG_TRY(mbg__start_equilibrium(ctx, w));
  } else {
    MBG_TRY(nearest(ctx, w));
  }
  MBG_TRY(bare(ctx, w, w->result.H, NULL, NULL));
  MBG_TRY(check_branches(ctx, w));
done:
  return err < 0 ? err : MBG_OK;
}

static int solve_rates(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK, worst;
  double scale = 1;
  MBG_TRY(rates_update(ctx, w));
  w->result.guess_phid = rates_largest(w, &worst);
  const int npin = pins_rank(ctx, w, &w->rate, w->rates);
  MBG_TRY(npin);
  w->result.free_rates = w->m->nv - w->result.rank->nkept - npin;
  if (w->m->start == MBG__START_EXACT && w->result.guess_phid > exact_limit * fmax(1, w->m->size)) {
    char label[160];
    label_of(w, w->rates, worst, label, sizeof(label));
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "the start is not exact: the rate of %s is off by %.3g", label,
                    w->result.guess_phid);
    goto done;
  }
  MBG_TRY(rates_solve(ctx, w));
  for (int i = 0; i < w->m->nw; i++) {
    scale = fmax(scale, fabs(re(w->result.v[i])));
  }
  w->result.phid = rates_largest(w, &worst);
  if (!(w->result.phid <= 1e-8 * scale * fmax(1, w->m->size))) {
    if (worst >= w->m->nrow) {
      err = contradiction(ctx, w, w->rates, w->nrate, w->result.phid, "rates");
    } else {
      char label[160];
      label_of(w, w->rates, worst, label, sizeof(label));
      err = mbg__fail(ctx, MBG_ERROR_INPUT, "no consistent rates: %s cannot follow (residual %.3g)", label,
                      w->result.phid);
    }
  }
done:
  return err < 0 ? err : MBG_OK;
}

void mbg__start_indifferent(mbg__start_work *w, bool yes) { w->indifferent = yes; }

void mbg__start_give(mbg__start_work *w, double t, const mbg__frame *H, const real *v, const int *turns) {
  w->given = true;
  w->given_t = t;
  memcpy(w->given_H, H, (size_t)w->m->nbody * sizeof(*H));
  memcpy(w->given_v, v, (size_t)w->m->nw * sizeof(real));
  memcpy(w->given_turns, turns, (size_t)w->m->nturn * sizeof(int));
}

static int solve_given(mbg_context *ctx, mbg__start_work *w, bool fresh) {
  const mbg_model *m = w->m;
  int err = MBG_OK, worst;
  double scale = 1;
  w->result.t = w->given_t;
  memcpy(w->result.H, w->given_H, (size_t)m->nbody * sizeof(*w->given_H));
  memcpy(w->result.v, w->given_v, (size_t)m->nw * sizeof(real));
  MBG_TRY(residuals(ctx, w, w->result.H, false, &w->result.phi, &worst));
  memcpy(w->result.turns, w->given_turns, (size_t)m->nturn * sizeof(int));
  if (w->result.phi <= given_limit) {
    MBG_TRY(bare(ctx, w, w->result.H, NULL, NULL));
    MBG_TRY(analyse(ctx, w, fresh));
    memcpy(w->result.turns, w->given_turns, (size_t)m->nturn * sizeof(int));
    MBG_TRY(bare(ctx, w, w->result.H, w->result.v, NULL));
    mbg__system_residual(w->sys, NULL, NULL, w->phi, NULL, NULL);
    w->result.phid = 0;
    for (int i = 0; i < m->nrow; i++) {
      if (fabs(re(w->phi[i])) > w->result.phid) {
        w->result.phid = fabs(re(w->phi[i]));
        worst = i;
      }
    }
    for (int i = 0; i < m->nw; i++) {
      scale = fmax(scale, fabs(re(w->result.v[i])));
    }
  }
  /* index-3 steps leave rates that are consistent to the order of the step */
  if (!(w->result.phi <= given_limit) || !(w->result.phid <= 1e-2 * scale)) {
    char label[160];
    label_of(w, w->values, worst, label, sizeof(label));
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "the given state does not fit the model at these parameters: %s is violated",
                    label);
  }
done:
  return err;
}

int mbg__start_solve(mbg_context *ctx, mbg__start_work *w, bool fresh) {
  int err = MBG_OK, worst;
  take_guess(w);
  if (w->given) {
    return solve_given(ctx, w, fresh);
  }
  MBG_TRY(solve_positions(ctx, w, fresh));
  MBG_TRY(residuals(ctx, w, w->result.H, true, &w->result.phi, &worst));
  if (!(w->result.phi <= exact_limit)) {
    err = worst >= w->m->nrow ? contradiction(ctx, w, w->values, w->nvalue, w->result.phi, "values")
                              : cannot_assemble(ctx, w, w->result.phi, worst);
    goto done;
  }
  MBG_TRY(solve_rates(ctx, w));
  measure_motion(w);
done:
  return err;
}
