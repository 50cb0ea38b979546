/* Steps that cannot be right, named after the first run: bodies that turn too far in a step, signals that swing within
   a few steps, energy that appears or vanishes, contacts that pull, smooth maxima that stay below the maximum. All of
   it is read from what the run left at its nodes; docs/steps.md explains each rule with its measurements. */
#include "integrators/rk.h"
#include "model/body_label.h"
#include "run/run_internal.h"
#include "run/step_beams.h"
#include "system/axle.h"

#include <string.h>

static const double swing_good = 25; /* steps in a period: an error of about 3 percent by a method of second order */

/* the start has its own name: explicit methods look at it from inside of their first step */
static double shown(const mbg_run *run, double t) {
  return fabs(t - run->plan.t0) < 1e-9 * (run->plan.t1 - run->plan.t0) ? run->plan.t0 : t;
}

/* ---------------------------------------------------------------------- energy that counts */

static double mass_of(const mbg_run *run) {
  const mbg__design *d = run->design;
  double mass = 0;
  for (int b = 0; b < mbg__masses(run->m); b++) {
    mass += re(d->M[36 * b]);
  }
  for (int i = 0; i < run->m->nmodal; i++) {
    mass += re(d->modals[i].D[mbg__modal_places(d->modals[i].n).I1]);
  }
  for (int i = 0; i < run->m->nelement; i++) {
    const real *M = d->elements[i].M; /* 12 x 12: both nodes along x */
    mass += re(M[0] + M[6] + M[12 * 6] + M[12 * 6 + 6]);
  }
  return mass;
}

/* of all bodies when they move by a millionth of the model's size in the time of the run, and more than rounding */
static double energy_floor(const mbg_run *run, const mbg__watch *w) {
  const double speed = 1e-6 * run->m->size / (run->plan.t1 - run->plan.t0);
  return fmax(mass_of(run) * speed * speed, 1e-7 * (w->fast + (w->kind == MBG__ENERGY_OPEN ? 0 : fabs(w->first))));
}

/* ---------------------------------------------------------------------- the start */

static const double fast_most = 0.1; /* energy of motions that are not followed, of the kinetic energy exchanged */

/* The largest h times a rate with which steps stay bounded. */
static double stable(const mbg__run_plan *plan) {
  const char *name = plan->integrator ? plan->integrator : plan->integrators; /* the preset is the first */
  return !strncmp(name, "rk4", 3) ? 2.8 : !strncmp(name, "dp5", 3) ? 3.3 : !strncmp(name, "dop853", 6) ? 6 : INFINITY;
}

static bool is_explicit(const mbg_run *run) { return run->formulation->supports & MBG__ODE; }

/* NULL: steps that are stable at any length */
static const mbg__rk_method *explicit_method(const mbg_run *run) {
  char name[16];
  const char *key = run->plan.integrator ? run->plan.integrator : run->plan.integrators; /* the preset is the first */
  mbg__format(name, sizeof(name), "%.*s", (int)strcspn(key, " "), key);
  return is_explicit(run) ? mbg__rk_find(name) : NULL;
}

/* ---------------------------------------------------------------------- beams in explicit steps */

static const double many_steps = 20000, most_steps = 1e6; /* the integrators give up after as many */

/* "formulation 'lie' or 'dae', or --integrator bdf": whoever takes beams with any step */
static void name_implicit(const mbg_run *run, char *text, size_t size) {
  int n, count = 0;
  const mbg__formulation *list = mbg__formulations(&n);
  mbg__format(text, size, "formulation ");
  for (int i = 0; i < n; i++) {
    if (!(list[i].supports & (MBG__ODE | MBG__RIGID))) {
      const size_t used = strlen(text);
      mbg__format(text + used, size - used, "%s'%s'", count++ ? " or " : "", list[i].key);
    }
  }
  if (strstr(run->formulation->integrators, "bdf")) {
    const size_t used = strlen(text);
    mbg__format(text + used, size - used, ", or --integrator bdf");
  }
}

/* "element 3 vibrates with up to 2e5 rad/s", or what its damping does */
static void name_vibration(const mbg_run *run, const mbg__beam_vibration *fast, char *text, size_t size) {
  const int element = fast->element - run->m->beams[run->m->elements[fast->element].beam].first;
  if (2 * fast->decay > fast->omega) {
    mbg__format(text, size, "damping of element %d ends vibrations with up to %.3g/s", element, 2 * fast->decay);
  } else {
    mbg__format(text, size, "element %d vibrates with up to %.3g rad/s", element, fast->omega);
  }
}

/* Fixed steps that surely let an element vibrate with growing amplitude are refused, as the fastest motion of the model
   at the start shows, which is estimated from below. Between that and the bound of elements with free ends steps may
   do. Error control finds stable steps, if their number is not beyond all bounds. */
static int judge_beams(mbg_context *ctx, const mbg_run *run, const mbg__rk_method *method,
                       const mbg__beam_vibration *fast) {
  const double h = run->plan.step, limit = run->beam_step;
  const double sure = fmin(run->begins.rate / fmax(fast->omega, 2 * fast->decay), 1);
  const double steps = (run->plan.t1 - run->plan.t0) / limit * sure;
  const mbg__beam *beam = &run->m->beams[run->m->elements[fast->element].beam];
  char what[200], implicit[200];
  name_vibration(run, fast, what, sizeof(what));
  name_implicit(run, implicit, sizeof(implicit));
  if (h * sure > limit) {
    return mbg__fail_at(ctx, MBG_ERROR_UNSUPPORTED, &beam->where, 0,
                        "explicit steps of %g s grow without bounds: %s; integrator '%s' is stable below %.2g s; take "
                        "such a step, longer elements, or %s, which are implicit",
                        h, what, method->key, limit, implicit);
  }
  if (!(h > 0) && steps > most_steps) {
    return mbg__fail_at(
        ctx, MBG_ERROR_UNSUPPORTED, &beam->where, 0,
        "%s: the run needs %.1g stable steps of integrator '%s' or more, %.0e are the most; take longer "
        "elements, or %s, which are implicit",
        what, steps, method->key, most_steps, implicit);
  }
  if (h > limit) {
    mbg__note(ctx, MBG_WARNING,
              "%s:%d:%d: beam '%s': explicit steps of %g s may grow without bounds: %s if its ends are free; steps "
              "below %.2g s are stable, and %s takes any step",
              beam->where.file, beam->where.line, beam->where.column, beam->name, h, what, limit, implicit);
  } else if (!(h > 0) && steps > many_steps) {
    mbg__note(ctx, MBG_WARNING,
              "%s:%d:%d: beam '%s': error control takes %.1g steps or more: %s, and longer steps of integrator '%s' "
              "grow without bounds; longer elements or %s, which are implicit, take fewer",
              beam->where.file, beam->where.line, beam->where.column, beam->name, steps, what, method->key, implicit);
  }
  return MBG_OK;
}

static int check_beams(mbg_context *ctx, mbg_run *run) {
  const mbg__rk_method *method = explicit_method(run);
  mbg__beam_vibration fast;
  run->beam_step = INFINITY;
  if (run->m->nelement == 0 || !method) {
    return MBG_OK;
  }
  const int err = mbg__beam_vibration_find(ctx, run->design, &fast);
  if (err < 0 || fast.element < 0) {
    return err;
  }
  run->beam_step = mbg__rk_stable(method, fast.omega, fast.decay);
  return judge_beams(ctx, run, method, &fast);
}

int mbg__run_look_at_start(mbg_context *ctx, mbg_run *run) {
  const mbg__run_plan *plan = &run->plan;
  mbg__start_motion *b = &run->begins;
  int err = MBG_OK;
  *b = (mbg__start_motion){0};
  if (plan->step > 0 || (run->m->nelement > 0 && explicit_method(run))) {
    const double step = plan->step > 0 ? plan->step : plan->t1 - plan->t0;
    err = mbg__start_motion_find(ctx, run->sys, mbg__start_result_of(run->start), step, is_explicit(run), b);
  }
  if (err == MBG_OK) {
    err = check_beams(ctx, run);
  }
  const double most = stable(plan);
  if (err == MBG_OK && run->m->nmodal == 0 && run->m->nelement == 0 && b->rate * plan->step > most) {
    /* modal bodies: dca_limits.c */
    char label[160];
    mbg__body_label(run->m, b->stiffest, -1, label, sizeof(label));
    mbg__note(ctx, MBG_WARNING,
              "explicit steps of %g s grow without bounds: the fastest motion at the start, most of all of %s, "
              "has a rate of %.3g/s; take a step below %.2g s, or formulation 'lie'",
              plan->step, label, b->rate, most / b->rate);
  }
  return err;
}

static void warn_start(mbg_context *ctx, const mbg_run *run) {
  const mbg__start_motion *b = &run->begins;
  const mbg__watch *w = mbg__system_watched(run->sys);
  if (b->energy > fast_most * (w->fast - w->slow) && b->period < MBG__SWING_LEAST * run->plan.step &&
      b->energy > energy_floor(run, w)) {
    mbg__note(ctx, MBG_WARNING,
              "the motion that begins at the start, most of all of body '%s', has a period of %.3g s, %.2g steps of %g "
              "s: the steps do not follow it; %.2g s would give %g steps a period",
              run->m->bodies[b->body].name, b->period, b->period / run->plan.step, run->plan.step,
              b->period / swing_good, swing_good);
  }
}

/* a marker by its name, or by its body's: those of joints have none */
static const char *place_of(const mbg_model *m, int marker) {
  const mbg__marker *k = &m->markers[marker];
  return k->name ? k->name : k->body >= 0 ? m->bodies[k->body].name : "ground";
}

/* an angle at half a turn, where a small change of a number may make it jump by a whole one */
static void warn_half_turn(mbg_context *ctx, const mbg_run *run) {
  const int coord = mbg__start_result_of(run->start)->half_turn;
  if (coord >= 0) {
    const mbg__pair *pair = &run->m->pairs[run->m->coords[coord].pair];
    mbg__note(ctx, MBG_WARNING,
              "the angle between '%s' and '%s' starts at half a turn: it is taken as +180 deg, and where a change of a "
              "parameter makes it -180 deg, values jump; turn one of the two, so that it starts elsewhere",
              place_of(run->m, pair->A), place_of(run->m, pair->B));
  }
}

/* ---------------------------------------------------------------------- bodies that turn */

static const double turn_most = 1; /* rad in a step */

/* an element may see at which angle a body stands when it takes hold of it beside its axle */
static void see_pair(const mbg_run *run, int pair, mbg__axle *axles) {
  const int marker[2] = {run->m->pairs[pair].A, run->m->pairs[pair].B};
  for (int side = 0; side < 2; side++) {
    const int body = run->m->markers[marker[side]].body;
    if (body >= 0 && axles[body].any && !mbg__axle_has(run->design, marker[side], &axles[body])) {
      axles[body].unfit = true;
    }
  }
}

static void see_signal(const mbg_run *run, int signal, mbg__axle *axles) {
  const mbg__signal *sig = &run->m->signals[signal];
  if (sig->type->of == MBG__OF_PAIR || sig->type->of == MBG__OF_COORD) {
    see_pair(run, sig->type->of == MBG__OF_PAIR ? sig->pair : run->m->coords[sig->coord].pair, axles);
  }
}

/* A wheel that is round, with everything on its axle, turns as far as it likes: its angle does not matter, and all
   methods hold its axle (theory 4, section 14). */
static bool any_angle(const mbg_run *run, int body, const mbg__axle *axle) {
  const mbg__body *b = &run->m->bodies[body];
  return axle->any && !axle->unfit && b->modal < 0 && b->type->inertia &&
         mbg__axle_balanced(run->design->M + 36 * body, axle->d, b->motion == MBG__PLANAR);
}

static void find_axles(const mbg_run *run, mbg__axle *axles) {
  mbg__axles_find(run->design, axles);
  for (int i = 0; i < run->m->nforce; i++) {
    see_pair(run, run->m->forces[i].pair, axles);
  }
  for (int k = 0; k < run->nused; k++) {
    see_signal(run, run->used[k], axles);
  }
}

static void warn_turns(mbg_context *ctx, const mbg_run *run) {
  const mbg__peak *spin = mbg__system_watched(run->sys)->spin;
  const double h = run->plan.step;
  int worst = -1, count = 0;
  bool any = false;
  for (int b = 0; b < run->m->nbody; b++) {
    any = any || spin[b].most * h > turn_most;
  }
  mbg__axle *axles = any ? mbg__alloc_zero(ctx, (size_t)run->m->nbody, sizeof(*axles)) : NULL;
  if (!axles) {
    return;
  }
  find_axles(run, axles);
  for (int b = 0; b < run->m->nbody; b++) {
    if (spin[b].most * h > turn_most && !any_angle(run, b, &axles[b])) {
      count++;
      worst = worst < 0 || spin[b].most > spin[worst].most ? b : worst;
    }
  }
  mbg__free(ctx, axles);
  if (worst >= 0) {
    const double good = 0.2 * turn_most / spin[worst].most;
    char more[64] = "", remedy[64] = "the run has come to nothing before";
    if (count > 1) {
      mbg__format(more, sizeof(more), " (%d bodies turn by more than %g)", count, turn_most);
    }
    if (good > 1e-6 * (run->plan.t1 - run->plan.t0)) {
      mbg__format(remedy, sizeof(remedy), "take a step of at most %.1g s", good);
    }
    mbg__note(ctx, MBG_WARNING,
              "body '%s' turns by %.3g rad in a step of %g s at t = %g%s: the steps do not follow the motion; %s",
              run->m->bodies[worst].name, spin[worst].most * h, h, shown(run, spin[worst].t), more, remedy);
  }
}

/* ---------------------------------------------------------------------- signals of criteria */

static const double swing_size = 0.1; /* of the range of a signal, from one turning point to the next */
static const double noise = 1e-9;     /* of the size of a signal: no motion */

/* Turning points that are a swing apart, the last three. */
typedef struct {
  int count;
  double y[3], t[3];
} turning;

static void turn_at(turning *p, double swing, double t, double y) {
  const int n = p->count;
  if (n > 0 && !(fabs(y - p->y[n - 1]) > swing)) {
    return; /* on the way from one to the next */
  }
  if (n == 3) {
    memmove(p->y, p->y + 1, 2 * sizeof(*p->y));
    memmove(p->t, p->t + 1, 2 * sizeof(*p->t));
  }
  p->count = n < 3 ? n + 1 : 3;
  p->y[p->count - 1] = y;
  p->t[p->count - 1] = t;
}

/* The shortest time from a turning point to the next but one, and when it ends; INFINITY: there is none. */
static double shortest_swing(const mbg_run *run, int column, double *when) {
  const mbg__nodes *n = &run->nodes;
  double low = INFINITY, high = -INFINITY, shortest = INFINITY;
  turning p = {0};
  for (int i = 0; i < n->nnode; i++) {
    low = fmin(low, mbg__run_column(run, i, column));
    high = fmax(high, mbg__run_column(run, i, column));
  }
  if (!(high - low > noise * fmax(fmax(fabs(high), fabs(low)), run->m->size))) {
    return INFINITY;
  }
  for (int i = 1; i + 1 < n->nnode; i++) {
    const double y = mbg__run_column(run, i, column), before = y - mbg__run_column(run, i - 1, column),
                 after = mbg__run_column(run, i + 1, column) - y;
    if (before * after < 0) {
      turn_at(&p, swing_size * (high - low), mbg__nodes_time(n, i), y);
    }
    if (p.count == 3 && p.t[2] - p.t[0] < shortest) {
      shortest = p.t[2] - p.t[0];
      *when = p.t[2];
    }
  }
  return shortest;
}

/* The fewest steps in which a signal may go to and fro: the square of a motion does so twice in a period. */
static double fewest_steps(const mbg__signal *s) {
  const int role = s->type->role;
  const bool square = role == MBG__ROLE_VALUE || role == MBG__ROLE_KINETIC || role == MBG__ROLE_POTENTIAL ||
                      role == MBG__ROLE_ENERGY || role == MBG__ROLE_STRAIN_ENERGY;
  return square ? MBG__SWING_LEAST / 2.0 : MBG__SWING_LEAST;
}

/* Nodes of explicit methods lie inside of steps, too. Accelerations and reactions are left out: they jump with the
   forces, at any step. */
bool mbg__run_swings(const mbg_run *run, const mbg__criterion *c) {
  const mbg__signal *s = c->signal >= 0 ? &run->m->signals[c->signal] : NULL;
  return run->plan.step > 0 && !is_explicit(run) && s && s->level > MBG__LEVEL_TIME && s->level <= MBG__LEVEL_VELOCITY;
}

/* Positions and velocities that go to and fro within ten steps. */
static void warn_swings(mbg_context *ctx, const mbg_run *run) {
  const mbg_model *m = run->m;
  const double h = run->plan.step;
  double shortest = INFINITY, when = 0;
  int worst = -1;
  for (int k = 0; k < m->ncriterion; k++) {
    if (!mbg__run_swings(run, &m->criteria[k])) {
      continue;
    }
    double t = 0;
    const double period = shortest_swing(run, mbg__criteria_column(run->criteria, k), &t);
    if (period < shortest && period < fewest_steps(&m->signals[m->criteria[k].signal]) * h * (1 - 1e-6)) {
      shortest = period;
      when = t;
      worst = k;
    }
  }
  if (worst >= 0) {
    mbg__note(ctx, MBG_WARNING,
              "criterion '%s' follows a motion that swings to and fro within %.2g steps of %g s at t = %g: the steps "
              "do not resolve it; %.2g s would give %g steps a swing",
              m->criteria[worst].name, shortest / h, h, shown(run, when), shortest / swing_good, swing_good);
  }
}

/* ---------------------------------------------------------------------- energy */

static const double energy_most = 0.01; /* of the energy exchanged */

/* Numerical damping takes energy from a conservative model: as wrong as energy that appears. */
static void warn_energy(mbg_context *ctx, const mbg_run *run) {
  const mbg__watch *w = mbg__system_watched(run->sys);
  const bool kept = w->kind == MBG__ENERGY_KEPT;
  const mbg__peak *p = kept ? &w->change : &w->rise;
  const double exchanged = w->fast - w->slow;
  char remedy[64];
  if (run->nodes.nfiring > 0 || w->kind == MBG__ENERGY_OPEN || w->nodes < 2 || !(p->most > energy_most * exchanged) ||
      !(p->most > energy_floor(run, w))) {
    return;
  }
  if (run->plan.step > 0) {
    mbg__format(remedy, sizeof(remedy), "take a step below %g s", run->plan.step);
  } else {
    mbg__format(remedy, sizeof(remedy), "take a smaller tolerance");
  }
  mbg__note(ctx, MBG_WARNING, "%s by %.3g J at t = %g, %.3g %% of the %.3g J of kinetic energy exchanged; %s",
            kept ? "no force of the model adds or takes energy, but its energy changes"
                 : "no force of the model adds energy, but its energy grows",
            p->most, shown(run, p->t), 100 * p->most / exchanged, exchanged, remedy);
}

/* ---------------------------------------------------------------------- contacts */

static const double pull_most = 0.01; /* of the largest push */

static void warn_contacts(mbg_context *ctx, const mbg_run *run) {
  const mbg__watch *w = mbg__system_watched(run->sys);
  char more[64] = "";
  int worst = -1, count = 0;
  for (int i = 0; i < run->m->nforce; i++) {
    if (w->pull[i].most > pull_most * w->push[i].most) {
      count++;
      worst = worst < 0 || w->pull[i].most > w->pull[worst].most ? i : worst;
    }
  }
  if (worst < 0) {
    return;
  }
  if (count > 1) {
    mbg__format(more, sizeof(more), " (%d contacts pull)", count);
  }
  const mbg__force *f = &run->m->forces[worst];
  const bool torque = f->law && !strcmp(run->m->coords[f->coord].type->unit, "rad");
  mbg__note(ctx, MBG_WARNING, "%s:%d:%d: %s '%s' can only push, but pulls by %.3g %s at t = %g%s: %s", f->where.file,
            f->where.line, f->where.column, f->law ? f->law->key : f->type->key, f->name, w->pull[worst].most,
            torque ? "N m" : "N", shown(run, w->pull[worst].t), more,
            f->law ? "its damping holds what leaves it; take less"
                   : "its force is linear and knows no lift-off, so that the run is wrong from there on");
}

/* wheels and balls that the plane holds back (curves false), followers that the cam does */
static void warn_joints(mbg_context *ctx, const mbg_run *run, bool curves) {
  const mbg__watch *w = mbg__system_watched(run->sys);
  const int first = run->m->nforce;
  int worst = -1;
  for (int i = first; i < first + run->m->njoint; i++) {
    const bool counts = (run->m->joints[i - first].type->contact != NULL) == curves;
    if (counts && w->pull[i].most > pull_most * w->push[i].most &&
        (worst < 0 || w->pull[i].most > w->pull[worst].most)) {
      worst = i;
    }
  }
  if (worst >= 0) {
    const mbg__joint *joint = &run->m->joints[worst - first];
    mbg__note(ctx, MBG_WARNING,
              "%s:%d:%d: joint '%s' would leave its %s: the contact pulls by %.3g N at t = %g; it holds in both "
              "directions, so that the run is wrong from there on where nothing else holds the %s down",
              joint->where.file, joint->where.line, joint->where.column, joint->name, curves ? "curve" : "plane",
              w->pull[worst].most, shown(run, w->pull[worst].t), curves ? "follower" : "wheel");
  }
}

/* ---------------------------------------------------------------------- smooth maxima */

static const double gap_most = 0.05, gap_good = 0.01; /* of the largest value, or of the range where that is more */

/* ln of the mean of exp(k (y - top)), the mean over the time of the run */
static double mean_exponent(const mbg_run *run, int column, double k, double top) {
  double sum = 0, T = 0;
  for (int i = 0; i < run->nodes.nnode; i++) {
    const double omega = re(mbg__nodes_omega(&run->nodes, i));
    sum += omega * exp(k * (mbg__run_column(run, i, column) - top));
    T += omega;
  }
  return log(sum / T);
}

/* the sharpness that brings the smooth maximum so near to the largest value: it comes nearer as the sharpness grows */
static double sharpness_for(const mbg_run *run, int column, double k, double top, double gap) {
  double low = k;
  for (int i = 0; i < 40 && -mean_exponent(run, column, k, top) / k > gap; i++) {
    low = k;
    k *= 2;
  }
  for (int i = 0; i < 6; i++) {
    const double middle = sqrt(low * k);
    *(-mean_exponent(run, column, middle, top) / middle > gap ? &low : &k) = middle;
  }
  return k;
}

static void warn_maximum(mbg_context *ctx, const mbg_run *run, const mbg__criterion *c, int column) {
  double low = INFINITY, top = -INFINITY, when = 0;
  for (int i = 0; i < run->nodes.nnode; i++) {
    const double y = mbg__run_column(run, i, column);
    when = y > top ? mbg__nodes_time(&run->nodes, i) : when;
    top = fmax(top, y);
    low = fmin(low, y);
  }
  const double scale = fmax(fabs(top), top - low), gap = -mean_exponent(run, column, c->sharpness, top) / c->sharpness;
  if (gap > gap_most * scale) {
    mbg__note(
        ctx, MBG_WARNING,
        "%s:%d:%d: smooth maximum '%s' is %.4g, but the largest value is %.4g at t = %g; \"sharpness\": %.2g would "
        "come within %g %%",
        c->where.file, c->where.line, c->where.column, c->name, top - gap, top, shown(run, when),
        sharpness_for(run, column, c->sharpness, top, gap_good * scale), 100 * gap_good);
  }
}

static void warn_maxima(mbg_context *ctx, const mbg_run *run) {
  for (int k = 0; k < run->m->ncriterion; k++) {
    if (run->m->criteria[k].kind == MBG__SMOOTH_MAXIMUM && run->nodes.nnode > 1) {
      warn_maximum(ctx, run, &run->m->criteria[k], mbg__criteria_column(run->criteria, k));
    }
  }
}

/* the longest stable explicit step, as far as it is known */
static double longest_step(const mbg_run *run) {
  const double at_start = run->begins.rate > 0 ? stable(&run->plan) / run->begins.rate : INFINITY;
  return fmin(at_start, run->beam_step);
}

/* explicit steps beyond their limit, and more energy than all motion exchanged has come from nowhere */
static bool has_exploded(const mbg_run *run) {
  const mbg__watch *w = mbg__system_watched(run->sys);
  return run->plan.step > longest_step(run) && w->nodes > 1 && w->kind != MBG__ENERGY_OPEN &&
         w->rise.most > w->fast - w->slow && w->rise.most > energy_floor(run, w);
}

int mbg__run_warn_steps(mbg_context *ctx, const mbg_run *run) {
  if (has_exploded(run)) {
    const mbg__watch *w = mbg__system_watched(run->sys);
    return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                     "the steps explode: no force of the model adds energy, but its energy grows by %.3g J; take a "
                     "step below %.2g s, or formulation 'lie'",
                     w->rise.most, longest_step(run));
  }
  if (run->plan.place && !run->options.criteria_only && !run->options.node) {
    return MBG_OK; /* the run that this one refines has said it */
  }
  if (run->plan.step > 0) {
    warn_start(ctx, run);
    warn_turns(ctx, run);
  }
  warn_swings(ctx, run);
  warn_half_turn(ctx, run);
  warn_energy(ctx, run);
  warn_contacts(ctx, run);
  warn_joints(ctx, run, false);
  warn_joints(ctx, run, true);
  warn_maxima(ctx, run);
  return MBG_OK;
}
