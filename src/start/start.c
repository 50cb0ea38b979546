/* The start (theory 0, section 6), in stages:
     1. feasible: damped steps of least motion until all rows and pins hold, redundant ones included (start_assembly.c)
     2. rank: which rows and pins are independent there; frozen (start_rank.c, rank.c, start_pins.c)
     3. nearest: Gauss-Newton, then Newton with curvature, on the KKT system of the nearest configuration
        (start_nearest.c)
     4. equilibrium instead of 3 on request (start_equilibrium.c)
     5. rates: one KKT solve (start_rates.c)
     6. states that start steady (start_steady.c) */
#include "start/start_internal.h"

#include <string.h>

static const double given_limit = 1e-6; /* a given state */

/* ---------------------------------------------------------------------- creation */

static int take_arrays(mbg_context *ctx, mbg__start_work *w) {
  const mbg_model *m = w->m;
  mbg__arena *arena = &w->arena, *scratch = &w->scratch;
  w->result.H = MBG_TAKE(arena, mbg__frame, m->nbody);
  w->result.v = MBG_TAKE(arena, real, m->nw);
  w->result.turns = MBG_TAKE(arena, int, m->nturn);
  w->result.lambda = MBG_TAKE(arena, real, m->nrow);
  w->result.moved = MBG_TAKE(arena, double, m->nbody);
  w->result.turned = MBG_TAKE(arena, double, m->nbody);
  w->values = MBG_TAKE(scratch, mbg__equation, m->npin);
  w->rates = MBG_TAKE(scratch, mbg__equation, m->npin);
  w->K = MBG_TAKE(scratch, real, mbg__csc_count(&w->sys->patK));
  w->B = MBG_TAKE(scratch, real, mbg__csc_count(&w->sys->patB));
  w->k = MBG_TAKE(scratch, real, m->nrow);
  w->kp = MBG_TAKE(scratch, real, m->npin);
  w->kv = MBG_TAKE(scratch, real, m->nrow);
  w->kvp = MBG_TAKE(scratch, real, m->npin);
  w->phi = MBG_TAKE(scratch, real, m->nrow);
  w->pin = MBG_TAKE(scratch, real, m->npin);
  w->gradient = MBG_TAKE(scratch, vec6, m->npin);
  w->d = MBG_TAKE(scratch, vec6, m->nbody);
  w->metric = MBG_TAKE(scratch, mat6, m->nbody);
  w->block = MBG_TAKE(scratch, mat6, m->nbody);
  w->full = MBG_TAKE(scratch, real, m->nw);
  w->full2 = MBG_TAKE(scratch, real, m->nw);
  w->full3 = MBG_TAKE(scratch, real, m->nw);
  w->full4 = MBG_TAKE(scratch, real, m->nw);
  w->row = MBG_TAKE(scratch, real, m->nrow);
  w->row2 = MBG_TAKE(scratch, real, m->nrow);
  w->trial = MBG_TAKE(scratch, mbg__frame, m->nbody);
  w->before = MBG_TAKE(scratch, mbg__frame, m->nbody);
  w->feasible = MBG_TAKE(scratch, mbg__frame, m->nbody);
  w->angles = MBG_TAKE(scratch, real, m->ncoord);
  w->angles_before = MBG_TAKE(scratch, real, m->ncoord);
  w->W = MBG_TAKE(scratch, double, m->nw);
  w->given_H = MBG_TAKE(arena, mbg__frame, m->nbody);
  w->given_v = MBG_TAKE(arena, real, m->nw);
  w->given_turns = MBG_TAKE(arena, int, m->nturn);
  if (mbg__arena_check(ctx, arena) < 0 || mbg__arena_check(ctx, scratch) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < m->nbody; i++) {
    for (int k = 0; k < m->bodies[i].nvel; k++) {
      w->W[m->bodies[i].voff + k] = mbg__metric(m, k);
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
  mbg__arena_init(&w->scratch, mbg__context_allocator(ctx));
  mbg__arena_init(&w->rank_arena, mbg__context_allocator(ctx));
  w->sys = sys;
  w->m = sys->model;
  MBG_TRY(take_arrays(ctx, w));
  MBG_TRY(mbg__pins_create(ctx, w));
  MBG_TRY(mbg__steady_create(ctx, w));
  MBG_TRY(mbg__kkt_create(ctx, w, &w->position, w->values, w->nvalue));
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
  mbg__steady_late_destroy(w->steady.late);
  mbg__arena_destroy(&w->rank_arena);
  mbg__arena_destroy(&w->scratch);
  mbg__arena_destroy(&w->arena);
  allocator.release(allocator.user, w);
}

const mbg__start_result *mbg__start_result_of(const mbg__start_work *w) { return &w->result; }

/* ---------------------------------------------------------------------- reports */

void mbg__start_label(const mbg__start_work *w, const mbg__equation *eq, int worst, char *buffer, size_t size) {
  if (worst < w->m->nrow) {
    mbg__row_label(w->m, worst, buffer, size);
  } else {
    mbg__format(buffer, size, "pin '%s'", w->m->pins[eq[worst - w->m->nrow].pin].name);
  }
}

static int cannot_assemble(mbg_context *ctx, mbg__start_work *w, double largest, int worst) {
  char label[160] = "the guesses";
  int err = MBG_OK, row = worst;
  double without = largest;
  if (worst >= 0) {
    mbg__start_label(w, w->values, worst, label, sizeof(label));
  }
  if (w->nvalue > 0) {
    /* is it the pins? */
    MBG_TRY(mbg__start_feasible(ctx, w, false, &without, &row));
    if (without <= MBG__FEASIBLE) {
      /* a rank that a formulation refers to stays */
      MBG_TRY(mbg__start_rank(ctx, w, false));
      MBG_TRY(mbg__pins_rank(ctx, w, &w->position, w->values));
      char names[512];
      mbg__pins_list(w, w->values, w->nvalue, names, sizeof(names));
      if (names[0]) {
        return mbg__pins_contradict(ctx, w, w->values, w->nvalue, largest, "values");
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
    frame_relative(&D, &w->sys->design->poses[m->bodies[b].guess].h, &w->result.H[b]);
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

static bool is_held(const mbg_model *m, int turn) {
  for (int i = 0; i < m->nrow; i++) {
    for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
      if (m->terms[k].turn == turn) {
        return true;
      }
    }
  }
  return false;
}

/* At half a turn rounding would decide between +pi and -pi: an angle starts at +pi there, unless a row holds it. */
static void half_turns(mbg__start_work *w) {
  const mbg_model *m = w->m;
  for (int i = 0; i < m->ncoord; i++) {
    const mbg__coord *c = &m->coords[i];
    const double q = c->turn < 0 || c->term ? 0 : re(w->sys->coord[i].phi); /* tendons choose their own cut */
    if (fabs(M_PI - fabs(q)) < 1e-9 && w->result.turns[c->turn] == 0 && !is_held(m, c->turn)) {
      w->result.half_turn = i;
      w->result.turns[c->turn] = q < 0 ? (int)c->sign : 0;
    }
  }
}

/* ---------------------------------------------------------------------- all */

static void take_guess(mbg__start_work *w) {
  const mbg_model *m = w->m;
  for (int b = 0; b < m->nbody; b++) {
    w->result.H[b] = w->sys->design->poses[m->bodies[b].guess].h;
  }
  memcpy(w->result.v, w->sys->design->guess_v, (size_t)m->nw * sizeof(real));
  memset(w->result.turns, 0, (size_t)m->nturn * sizeof(int));
  memset(w->result.lambda, 0, (size_t)m->nrow * sizeof(real));
  w->result.t = m->run.start;
  w->result.iterations = 0;
  w->result.metric_matters = false;
  w->result.half_turn = -1;
}

static int solve_positions(mbg_context *ctx, mbg__start_work *w, bool fresh) {
  const mbg_model *m = w->m;
  double largest;
  int err = MBG_OK, worst;
  if (m->start == MBG__START_EQUILIBRIUM) {
    MBG_TRY(mbg__rates_refused(ctx, m, "a start in equilibrium", "take \"start\": \"assemble\""));
  }
  MBG_TRY(mbg__start_residuals(ctx, w, w->result.H, true, &w->result.guess_phi, &w->result.worst));
  if (m->start == MBG__START_EXACT && w->result.guess_phi > MBG__EXACT) {
    char label[160];
    mbg__start_label(w, w->values, w->result.worst, label, sizeof(label));
    err = mbg__fail(
        ctx, MBG_ERROR_INPUT,
        "the start is not exact: %s is violated by %.3g (limit %.0e); \"start\": \"assemble\" moves the bodies", label,
        w->result.guess_phi, MBG__EXACT);
    goto done;
  }
  MBG_TRY(mbg__start_feasible(ctx, w, true, &largest, &worst));
  if (!(largest <= MBG__FEASIBLE)) {
    err = cannot_assemble(ctx, w, largest, worst);
    goto done;
  }
  MBG_TRY(mbg__start_bare(ctx, w, w->result.H, NULL, NULL));
  MBG_TRY(mbg__start_rank(ctx, w, fresh));
  const int npin = mbg__pins_rank(ctx, w, &w->position, w->values);
  MBG_TRY(npin);
  const int held = w->result.rank->nkept - mbg__rank_kept_rates(m, w->result.rank);
  w->result.free_positions = m->nv - m->nstate - held - npin;
  if (m->start == MBG__START_EQUILIBRIUM) {
    MBG_TRY(mbg__start_equilibrium(ctx, w));
  } else {
    MBG_TRY(mbg__start_nearest(ctx, w));
  }
  MBG_TRY(mbg__start_bare(ctx, w, w->result.H, NULL, NULL));
  MBG_TRY(check_branches(ctx, w));
  half_turns(w);
done:
  return err < 0 ? err : MBG_OK;
}

void mbg__start_brief(mbg__start_work *w) { w->brief = true; }

void mbg__start_indifferent(mbg__start_work *w, bool yes) { w->indifferent = yes; }

void mbg__start_give(mbg__start_work *w, double t, const mbg__frame *H, const real *v, const int *turns) {
  w->given = true;
  w->follows = w->followed = false;
  w->result.nmemory = 0;
  w->given_t = t;
  memcpy(w->given_H, H, (size_t)w->m->nbody * sizeof(*H));
  memcpy(w->given_v, v, (size_t)w->m->nw * sizeof(real));
  memcpy(w->given_turns, turns, (size_t)w->m->nturn * sizeof(int));
}

int mbg__start_give_memory(mbg_context *ctx, mbg__start_work *w, int count, const real *memory) {
  real *copy = MBG_TAKE(&w->arena, real, count);
  if (!copy) {
    return mbg__fail_memory(ctx);
  }
  memcpy(copy, memory, (size_t)count * sizeof(real));
  w->result.memory = copy;
  w->result.nmemory = count;
  return MBG_OK;
}

void mbg__start_drop_memory(mbg__start_work *w) { w->result.nmemory = 0; }

void mbg__start_let_follow(mbg__start_work *w) { w->follows = w->given; }

bool mbg__start_follows(const mbg__start_work *w) { return w->given && w->follows; }

static int solve_given(mbg_context *ctx, mbg__start_work *w, bool fresh) {
  const mbg_model *m = w->m;
  int err = MBG_OK, worst;
  double scale = 1;
  w->result.t = w->given_t;
  memcpy(w->result.H, w->given_H, (size_t)m->nbody * sizeof(*w->given_H));
  memcpy(w->result.v, w->given_v, (size_t)m->nw * sizeof(real));
  MBG_TRY(mbg__start_residuals(ctx, w, w->result.H, false, &w->result.phi, &worst));
  memcpy(w->result.turns, w->given_turns, (size_t)m->nturn * sizeof(int));
  if (w->result.phi <= given_limit || w->follows) {
    MBG_TRY(mbg__start_bare(ctx, w, w->result.H, NULL, NULL));
    MBG_TRY(mbg__start_rank(ctx, w, fresh));
    memcpy(w->result.turns, w->given_turns, (size_t)m->nturn * sizeof(int));
    if (w->follows) {
      MBG_TRY(mbg__start_follow(ctx, w));
      MBG_TRY(mbg__start_residuals(ctx, w, w->result.H, false, &w->result.phi, &worst));
      memcpy(w->result.turns, w->given_turns, (size_t)m->nturn * sizeof(int));
    }
    MBG_TRY(mbg__start_bare(ctx, w, w->result.H, w->result.v, NULL));
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
    mbg__start_label(w, w->values, worst, label, sizeof(label));
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "the given state does not fit the model at these parameters: %s is violated",
                    label);
  }
done:
  return err;
}

int mbg__start_solve(mbg_context *ctx, mbg__start_work *w, bool fresh) {
  int err = MBG_OK, worst;
  w->followed_known = false;
  take_guess(w);
  if (w->given) {
    return solve_given(ctx, w, fresh);
  }
  MBG_TRY(solve_positions(ctx, w, fresh));
  MBG_TRY(mbg__start_residuals(ctx, w, w->result.H, true, &w->result.phi, &worst));
  if (!(w->result.phi <= MBG__EXACT)) {
    err = worst >= w->m->nrow ? mbg__pins_contradict(ctx, w, w->values, w->nvalue, w->result.phi, "values")
                              : cannot_assemble(ctx, w, w->result.phi, worst);
    goto done;
  }
  if (w->brief) {
    mbg__kkt_destroy(&w->position);
  }
  MBG_TRY(mbg__start_rates(ctx, w));
  MBG_TRY(mbg__start_steady(ctx, w));
  measure_motion(w);
  if (w->brief) {
    mbg__kkt_destroy(&w->rate);
    mbg__arena_destroy(&w->scratch);
  }
done:
  return err;
}
