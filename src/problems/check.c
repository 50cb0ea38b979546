/* Inspection of a model: the start assembled, its parts counted and listed. */
#include "problems/check.h"

#include "system/system_internal.h"

#include <string.h>

typedef mbg__check_work work;

static const mbg_check_options defaults = {.parameters = NULL};

void mbg_check_options_default(mbg_check_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

const char *mbg__check_text(const char *text) { return text ? text : ""; }

static int take_lists(work *w) {
  const mbg_model *m = w->m;
  mbg_check *c = w->check;
  c->bodies = MBG_TAKE(&c->arena, mbg_check_body, m->nbody);
  c->joints = MBG_TAKE(&c->arena, mbg_check_joint, m->njoint);
  c->drivers = MBG_TAKE(&c->arena, mbg_check_driver, m->ndriver);
  c->forces = MBG_TAKE(&c->arena, mbg_check_force, m->nforce);
  c->parameters = MBG_TAKE(&c->arena, mbg_check_parameter, m->nparameter);
  c->signals = MBG_TAKE(&c->arena, mbg_check_signal, m->nsignal);
  c->criteria = MBG_TAKE(&c->arena, mbg_check_criterion, m->ncriterion);
  c->links = MBG_TAKE(&c->arena, mbg_check_link, m->nbody + m->njoint);
  return mbg__arena_check(w->ctx, &c->arena);
}

/* ---------------------------------------------------------------------- the model at its start */

static int assemble(work *w, const double *parameters) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  real *p = MBG_TAKE(&w->arena, real, m->np);
  w->vd = MBG_TAKE(&w->arena, real, m->nw);
  w->lambda = MBG_TAKE(&w->arena, real, m->nrow);
  w->determined = MBG_TAKE(&w->arena, bool, m->nsignal);
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  for (int i = 0; i < m->np; i++) {
    p[i] = parameters ? parameters[i] : m->p[i];
  }
  MBG_TRY(mbg__design_create_plain(w->ctx, &w->arena, m, &w->design));
  MBG_TRY(mbg__design_update(w->ctx, w->design, p));
  MBG_TRY(mbg__system_create(w->ctx, m, w->design, &w->sys));
  MBG_TRY(mbg__start_create(w->ctx, w->sys, &w->start_work));
  mbg__start_brief(w->start_work);
  MBG_TRY(mbg__start_solve(w->ctx, w->start_work, true));
  w->start = mbg__start_result_of(w->start_work);
done:
  return err;
}

/* accelerations and reactions are solved for where a signal shows them, or where they may not be unique */
static bool shows_accelerations(const work *w) {
  for (int i = 0; i < w->m->nsignal; i++) {
    if (w->m->signals[i].level >= MBG__LEVEL_ACCELERATION) {
      return true;
    }
  }
  return !mbg__start_has_inertia(w->sys);
}

static int accelerate(work *w) {
  int massless;
  if (!shows_accelerations(w)) {
    const mbg__start_result *r = w->start;
    w->accelerations = true;
    return mbg__system_update(w->ctx, w->sys, &(mbg__state){.t = r->t, .H = r->H, .v = r->v, .turns = r->turns});
  }
  const int err = mbg__start_accelerations(w->ctx, w->sys, w->start, w->vd, w->lambda, &massless);
  if (err < 0 || massless < 0) {
    w->accelerations = err >= 0;
    return err;
  }
  return mbg__warn(w->ctx, &w->check->warnings,
                   "body '%s' has a freedom without inertia: initial accelerations and reactions are not determined",
                   w->m->bodies[massless].name);
}

/* ---------------------------------------------------------------------- summary */

static const char *start_method(mbg__start start) {
  static const char *const names[] = {"assemble", "exact", "equilibrium"};
  return names[start];
}

static int summarize_start(work *w) {
  const mbg__start_result *r = w->start;
  mbg_check_start *s = &w->check->summary.start;
  *s = (mbg_check_start){.method = start_method(w->m->start),
                         .time = re(r->t),
                         .iterations = r->iterations,
                         .guess_residual = r->guess_phi,
                         .residual = r->phi,
                         .guess_rate_residual = r->guess_phid,
                         .rate_residual = r->phid,
                         .free_positions = r->free_positions,
                         .free_rates = r->free_rates,
                         .depends_on_metric = r->metric_matters};
  for (int i = 0; i < w->m->nbody; i++) {
    s->most_moved = fmax(s->most_moved, r->moved[i]);
    s->most_turned = fmax(s->most_turned, r->turned[i]);
  }
  if (r->metric_matters) {
    mbg__note(w->ctx, MBG_NOTE,
              "bodies were moved while %d freedom%s not pinned: the start depends on how distances are measured; pin "
              "coordinates in \"initial\"",
              r->free_positions, r->free_positions == 1 ? " is" : "s are");
  }
  if (r->worst >= 0 && r->worst < w->m->nrow) {
    char label[256];
    mbg__row_label(w->m, r->worst, label, sizeof(label));
    s->worst = mbg__arena_text(&w->check->arena, label, strlen(label));
    if (!s->worst) {
      return mbg__fail_memory(w->ctx);
    }
  }
  return MBG_OK;
}

static double gravity_energy(const work *w, int body) {
  const mbg_model *m = w->m;
  const real *M = w->design->M + 36 * (size_t)body;
  const mbg__frame *H = &w->start->H[body];
  double e = 0;
  /* V = -g . (m x + R mc), M = [[m, -mc~], [mc~, J]] */
  const real mc[3] = {M[6 * 5 + 1], M[6 * 3 + 2], M[6 * 4 + 0]};
  real arm[3];
  v3_scale(arm, M[0], H->x);
  m3_mulv_add(arm, H->R, mc);
  for (int k = 0; m->gravity >= 0 && k < 3; k++) {
    e -= re(w->design->attr[m->gravity + k] * arm[k]);
  }
  return e;
}

double mbg__check_half_mass(const work *w, int element) {
  const mbg__design *d = w->design;
  return re(d->elements[element].c[MBG__BEAM_MU] * d->shapes[w->m->elements[element].reference].L) / 2;
}

/* masses and coordinates may each be finite, and their products not */
static int check_finite(work *w) {
  const mbg_check_summary *s = &w->check->summary;
  const char *what = !isfinite(s->mass)               ? "mass"
                     : !isfinite(s->kinetic_energy)   ? "kinetic energy"
                     : !isfinite(s->potential_energy) ? "potential energy"
                                                      : NULL;
  return what ? mbg__fail(w->ctx, MBG_ERROR_CONVERGENCE,
                          "the %s of the model at the start is not a finite number: check the sizes of masses, "
                          "stiffnesses, coordinates and velocities",
                          what)
              : MBG_OK;
}

static int energies(work *w) {
  mbg_check_summary *s = &w->check->summary;
  real *p = MBG_TAKE(&w->arena, real, w->m->nw);
  if (!p) {
    return mbg__fail_memory(w->ctx);
  }
  mbg__system_mass_mul(w->sys, w->start->v, p);
  const int masses = mbg__masses(w->m), n = masses < w->m->nbody ? w->m->bodies[masses].voff : w->m->nw;
  s->kinetic_energy = re(vn_dot(n, p, w->start->v)) / 2; /* carriers of states, the last bodies, have none */
  for (int i = 0; i < mbg__masses(w->m); i++) {
    s->mass += re(w->design->M[36 * (size_t)i]);
    s->potential_energy += gravity_energy(w, i);
  }
  for (int i = 0; i < w->m->nforce; i++) {
    s->potential_energy += re(w->sys->energy[i]);
  }
  for (int i = 0; i < w->m->nelement; i++) {
    s->mass += 2 * mbg__check_half_mass(w, i);
  }
  for (int i = 0; i < w->m->nmodal; i++) {
    s->mass += re(w->design->modals[i].D[0]);
  }
  s->potential_energy += re(mbg__beams_gravity(w->sys) + mbg__beams_strain_energy(w->sys, NULL));
  s->potential_energy += re(mbg__modals_gravity(w->sys) + mbg__modals_strain(w->sys, -1));
  return check_finite(w);
}

static int summarize(work *w) {
  const mbg_model *m = w->m;
  const mbg__rank *rank = w->start->rank;
  mbg_check_summary *s = &w->check->summary;
  int err = MBG_OK;
  s->model = mbg__check_text(m->name);
  s->note = mbg__check_text(m->note);
  s->unknowns = m->nv - m->nstate;
  s->states = m->nstate;
  s->constraints = m->nrow;
  s->rank = rank->nkept;
  s->redundant = rank->ndropped;
  s->degrees_of_freedom = s->unknowns - rank->nkept;
  s->position_freedoms = s->degrees_of_freedom + mbg__rank_kept_rates(m, rank);
  s->bodies = mbg__frames(m);
  s->joints = m->njoint;
  s->drivers = m->ndriver;
  s->couplings = m->ncoupling;
  s->forces = mbg__forces(m);
  s->parameters = m->nparameter;
  s->criteria = m->ncriterion;
  s->attributes = m->na;
  s->parameter_entries = m->np;
  s->size = m->size;
  s->accelerations = w->accelerations;
  MBG_TRY(energies(w));
  MBG_TRY(summarize_start(w));
done:
  return err;
}

static int list_redundant(work *w) {
  const mbg__rank *rank = w->start->rank;
  mbg_check *c = w->check;
  c->redundant = MBG_TAKE(&c->arena, const char *, rank->ndropped);
  for (int i = 0; c->redundant && i < rank->ndropped; i++) {
    char label[256];
    mbg__row_label(w->m, rank->dropped[i], label, sizeof(label));
    c->redundant[i] = mbg__arena_text(&c->arena, label, strlen(label));
  }
  return mbg__arena_check(w->ctx, &c->arena);
}

int mbg_check_create(mbg_context *ctx, const mbg_model *model, const mbg_check_options *options, mbg_check **out) {
  MBG_NEED(ctx, ctx && model && out);
  mbg_check_options o = defaults;
  work w = {.ctx = ctx, .m = model};
  int err = MBG_OK;
  *out = NULL;
  w.check = mbg__alloc_zero(ctx, 1, sizeof(*w.check));
  if (!w.check) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&w.arena, mbg__context_allocator(ctx));
  mbg__arena_init(&w.check->arena, mbg__context_allocator(ctx));
  w.check->model = model;
  w.check->warnings = (mbg__warnings){.arena = &w.check->arena, .count = &w.check->summary.warnings};
  MBG_TRY(mbg__options_take(ctx, "check", options, &o, sizeof(o)));
  MBG_TRY(take_lists(&w));
  MBG_TRY(assemble(&w, o.parameters));
  MBG_TRY(accelerate(&w));
  MBG_TRY(summarize(&w));
  MBG_TRY(list_redundant(&w));
  MBG_TRY(mbg__check_lists(&w));
  MBG_TRY(mbg__check_tree(ctx, w.check));
  MBG_TRY(mbg__check_locks(&w));
done:
  mbg__start_destroy(w.start_work);
  mbg__system_destroy(w.sys);
  mbg__arena_destroy(&w.arena);
  if (err < 0) {
    mbg_check_destroy(w.check);
    w.check = NULL;
  }
  *out = w.check;
  return err;
}

void mbg_check_destroy(mbg_check *check) {
  if (!check) {
    return;
  }
  const mbg_allocator allocator = check->arena.allocator;
  mbg__arena_destroy(&check->arena);
  allocator.release(allocator.user, check);
}

/* ---------------------------------------------------------------------- queries */

const mbg_check_summary *mbg_check_get_summary(const mbg_check *check) { return check ? &check->summary : NULL; }

/* entry of a list whose count is in the summary; NULL: out of range */
#define GET(list) (check && index >= 0 && index < check->summary.list ? &check->list[index] : NULL)

const mbg_check_body *mbg_check_get_body(const mbg_check *check, int index) { return GET(bodies); }

const mbg_check_joint *mbg_check_get_joint(const mbg_check *check, int index) { return GET(joints); }

const mbg_check_driver *mbg_check_get_driver(const mbg_check *check, int index) { return GET(drivers); }

const mbg_check_force *mbg_check_get_force(const mbg_check *check, int index) { return GET(forces); }

const mbg_check_parameter *mbg_check_get_parameter(const mbg_check *check, int index) { return GET(parameters); }

const mbg_check_signal *mbg_check_get_signal(const mbg_check *check, int index) { return GET(signals); }

const mbg_check_criterion *mbg_check_get_criterion(const mbg_check *check, int index) { return GET(criteria); }

const mbg_check_link *mbg_check_get_link(const mbg_check *check, int index) { return GET(links); }

const char *mbg_check_coupling(const mbg_check *check, int index) {
  return check && index >= 0 && index < check->summary.couplings ? check->model->couplings[index].name : NULL;
}

const char *mbg_check_redundant(const mbg_check *check, int index) {
  const char *const *text = GET(redundant);
  return text ? *text : NULL;
}

const char *mbg_check_warning(const mbg_check *check, int index) {
  return check ? mbg__warning(&check->warnings, index) : NULL;
}
