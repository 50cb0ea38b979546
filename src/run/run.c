/* Runs: options, simulation, criteria, gradients by every method. */
#include "run/run.h"

#include "criteria/criteria.h"
#include "formulations/formulation.h"
#include "model/design.h"
#include "run/plan.h"
#include "start/rank.h"
#include "start/redundancy.h"
#include "start/start.h"
#include "system/system.h"

#include <string.h>
#include <time.h>

struct mbg_run {
  mbg__arena arena;      /* lives with the run */
  mbg__arena grid_arena; /* lives with the grid of nodes */
  const mbg_model *m;
  mbg__design *design;
  mbg__system *sys;
  mbg__start_work *start;
  const mbg__formulation *formulation;
  mbg__formulation_work *work;
  mbg__run_plan plan;
  mbg_method method; /* of the model's run section */
  int nused;
  int *used;
  real *p;
  bool refused; /* the parameters: nothing can be run with them */
  bool started; /* rank and steps are decided */
  bool simulated;
  bool given; /* starts from a given state: no gradients */
  mbg__nodes nodes;
  mbg__criteria *criteria;
  int criteria_nodes; /* nodes that the criteria were made for */
  real *psi, *psi_a;  /* ncriterion, ncriterion x na */
  double seconds_simulate, seconds_gradient;
};

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------- options */

void mbg_run_options_default(mbg_run_options *o) {
  *o = (mbg_run_options){.start = NAN, .end = NAN, .step = NAN, .tolerance = NAN, .rho_inf = NAN, .alpha_f = NAN};
}

static int find_formulation(mbg_context *ctx, const char *key, const mbg__formulation **out) {
  const char *keys[32];
  char known[256];
  *out = mbg__formulation_find(key);
  if (*out) {
    return MBG_OK;
  }
  int n = 0;
  while (n < MBG_COUNT(keys) && mbg_formulation_key(n)) {
    keys[n] = mbg_formulation_key(n);
    n++;
  }
  mbg__known(known, sizeof(known), key, keys, n);
  return mbg__fail(ctx, MBG_ERROR_INPUT, "unknown formulation '%s'%s", key, known);
}

/* flexible bodies have masses that couple: not every formulation takes them */
static int check_flexible(mbg_context *ctx, const mbg_model *m, const mbg__formulation *f) {
  int n;
  const mbg__formulation *list = mbg__formulations(&n);
  const unsigned wants = (m->nelement > 0 ? MBG__BEAMS : 0u) | (m->nmodal > 0 ? MBG__MODAL : 0u);
  const unsigned lacks = wants & ~f->supports;
  char who[128] = "";
  if (!lacks) {
    return MBG_OK;
  }
  for (int i = 0; i < n; i++) {
    const size_t used = strlen(who);
    if ((list[i].supports & wants) == wants) {
      mbg__format(who + used, sizeof(who) - used, "%s'%s'", used ? ", " : "", list[i].key);
    }
  }
  return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "formulation '%s' takes no %s; these do: %s", f->key,
                   lacks & MBG__BEAMS ? "beams" : "modal bodies", who);
}

/* the one asked for, else the model's, else `lie` */
static int choose_formulation(mbg_context *ctx, const mbg_run_options *o, const mbg_model *m,
                              const mbg__formulation **out) {
  const char *own = m->run.formulation ? m->run.formulation : "lie";
  const int err = find_formulation(ctx, o->formulation ? o->formulation : own, out);
  return err < 0 ? err : check_flexible(ctx, m, *out);
}

/* ---------------------------------------------------------------------- creation */

static int list_signals(mbg_context *ctx, mbg_run *run, bool all) {
  const mbg_model *m = run->m;
  bool *mark = mbg__alloc_zero(ctx, (size_t)m->nsignal, sizeof(bool));
  run->used = MBG_TAKE(&run->arena, int, m->nsignal);
  if (!mark || !run->used) {
    mbg__free(ctx, mark);
    return mbg__fail_memory(ctx);
  }
  /* the order of the criteria's own list comes first, because seeds are laid out by it */
  for (int k = 0; k < m->ncriterion; k++) {
    const int i = m->criteria[k].signal;
    if (m->criteria[k].kind != MBG__COMBINATION && !mark[i]) {
      mark[i] = true;
      run->used[run->nused++] = i;
    }
  }
  for (int i = 0; all && i < m->nsignal; i++) {
    if (!mark[i]) {
      run->used[run->nused++] = i;
    }
  }
  mbg__free(ctx, mark);
  return MBG_OK;
}

int mbg_run_create(mbg_context *ctx, const mbg_model *model, const mbg_run_options *options, mbg_run **out) {
  mbg_run_options defaults;
  int err = MBG_OK;
  mbg_run_options_default(&defaults);
  const mbg_run_options *o = options ? options : &defaults;
  mbg_run *run = mbg__alloc_zero(ctx, 1, sizeof(*run));
  if (!run) {
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&run->arena, mbg__context_allocator(ctx));
  mbg__arena_init(&run->grid_arena, mbg__context_allocator(ctx));
  run->m = model;
  MBG_TRY(choose_formulation(ctx, o, model, &run->formulation));
  run->method = (mbg_method)model->run.method;
  MBG_TRY(list_signals(ctx, run, o->all_signals != 0));
  MBG_TRY(mbg__plan_make(ctx, &run->arena, model, run->formulation, o, run->used, &run->plan));
  run->p = MBG_TAKE(&run->arena, real, model->np);
  run->psi = MBG_TAKE(&run->arena, real, model->ncriterion);
  run->psi_a = MBG_TAKE(&run->arena, real, (size_t)model->ncriterion * (size_t)model->na);
  if (!run->p || !run->psi || !run->psi_a) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int i = 0; i < model->np; i++) {
    run->p[i] = model->p[i];
  }
  MBG_TRY(mbg__design_create(ctx, &run->arena, model, &run->design));
  MBG_TRY(mbg__design_update(ctx, run->design, run->p));
  MBG_TRY(mbg__system_create(ctx, model, run->design, &run->sys));
  MBG_TRY(mbg__start_create(ctx, run->sys, &run->start));
done:
  if (err < 0) {
    mbg_run_destroy(run);
    run = NULL;
  }
  *out = run;
  return err;
}

void mbg_run_destroy(mbg_run *run) {
  if (!run) {
    return;
  }
  const mbg_allocator allocator = run->arena.allocator;
  if (run->work) {
    run->formulation->ops->destroy(run->work);
  }
  mbg__start_destroy(run->start);
  mbg__system_destroy(run->sys);
  mbg__arena_destroy(&run->grid_arena);
  mbg__arena_destroy(&run->arena);
  allocator.release(allocator.user, run);
}

void mbg_run_span(const mbg_run *run, double *start, double *end) {
  *start = run->plan.t0;
  *end = run->plan.t1;
}

static int take_parameters(mbg_context *ctx, mbg_run *run) {
  const int err = mbg__design_update(ctx, run->design, run->p);
  run->simulated = false;
  run->refused = err < 0;
  return err;
}

int mbg__run_parameters(mbg_context *ctx, mbg_run *run, const real *p) {
  memcpy(run->p, p, (size_t)run->m->np * sizeof(real));
  return take_parameters(ctx, run);
}

int mbg_run_parameters(mbg_context *ctx, mbg_run *run, const double *p) {
  for (int i = 0; i < run->m->np; i++) {
    run->p[i] = p ? p[i] : run->m->p[i];
  }
  return take_parameters(ctx, run);
}

const mbg_model *mbg__run_model(const mbg_run *run) { return run->m; }

mbg__formulation_work *mbg__run_work(const mbg_run *run) { return run->work; }

void mbg__run_current(const mbg_run *run, double *p) {
  for (int i = 0; i < run->m->np; i++) {
    p[i] = re(run->p[i]);
  }
}

/* ---------------------------------------------------------------------- checks before the first step */

/* signals behind the used ones, through expressions */
static int reaches(mbg_context *ctx, const mbg_run *run, bool **out) {
  const mbg_model *m = run->m;
  bool *mark = mbg__alloc_zero(ctx, (size_t)m->nsignal, sizeof(bool));
  *out = mark;
  if (!mark) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < m->ncriterion; k++) {
    if (m->criteria[k].kind != MBG__COMBINATION) {
      mark[m->criteria[k].signal] = true;
    }
  }
  for (int i = m->nsignal - 1; i >= 0; i--) {
    if (mark[i] && m->signals[i].type->role == MBG__ROLE_VALUE) {
      const mbg__fn *fn = &m->fns[m->signals[i].fn];
      for (int k = 0; k < fn->ninput; k++) {
        if (fn->input[k].role == MBG__ROLE_SIGNAL) {
          mark[fn->input[k].index] = true;
        }
      }
    }
  }
  return MBG_OK;
}

/* criteria on reactions that the redundant rows leave open, and on what rho_inf = 1 makes oscillate, are refused */
static int check_signals(mbg_context *ctx, mbg_run *run) {
  const mbg_model *m = run->m;
  const mbg__start_result *start = mbg__start_result_of(run->start);
  const mbg__state state = {.t = start->t, .H = start->H, .v = start->v, .turns = start->turns};
  bool *mark = NULL;
  int err = MBG_OK;
  MBG_TRY(reaches(ctx, run, &mark));
  MBG_TRY(mbg__system_update(ctx, run->sys, &state));
  for (int i = 0; i < m->nsignal; i++) {
    const mbg__signal *sig = &m->signals[i];
    if (!mark[i]) {
      continue;
    }
    if (sig->type->role == MBG__ROLE_REACTION && !mbg__rank_reaction_unique(run->sys, start->rank, i)) {
      err =
          mbg__fail_at(ctx, MBG_ERROR_INPUT, &sig->where, 0,
                       "the reaction is not unique, because constraint rows are redundant; a criterion cannot use it");
      goto done;
    }
    if (run->plan.rho_inf == 1 && sig->level >= MBG__LEVEL_ACCELERATION) {
      err = mbg__fail_at(ctx, MBG_ERROR_INPUT, &sig->where, 0,
                         "with rho_inf = 1 accelerations and reactions oscillate; a criterion cannot use them");
      goto done;
    }
  }
  if (run->plan.rho_inf == 1) {
    mbg__note(ctx, MBG_WARNING, "rho_inf = 1: accelerations and reactions oscillate undamped");
  }
done:
  mbg__free(ctx, mark);
  return err;
}

/* ---------------------------------------------------------------------- simulation */

static int make_criteria(mbg_context *ctx, mbg_run *run) {
  if (run->criteria && run->criteria_nodes == run->nodes.nnode) {
    return MBG_OK;
  }
  mbg__arena_destroy(&run->grid_arena);
  run->criteria = NULL;
  const int err = mbg__criteria_create(ctx, &run->grid_arena, run->m, run->nodes.nnode, run->nodes.t, &run->criteria);
  run->criteria_nodes = run->nodes.nnode;
  return err;
}

int mbg_run_simulate(mbg_context *ctx, mbg_run *run) {
  const double begin = now();
  int err = MBG_OK;
  run->simulated = false;
  if (run->refused) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "the parameters of the run were refused; set others before it is simulated");
    goto done;
  }
  MBG_TRY(mbg__plan_check(ctx, &run->plan));
  MBG_TRY(mbg__start_solve(ctx, run->start, !run->started));
  if (!run->started) {
    MBG_TRY(check_signals(ctx, run));
    if (run->work) {
      run->formulation->ops->destroy(run->work);
      run->work = NULL;
    }
    MBG_TRY(run->formulation->ops->prepare(ctx, run->sys, run->start, &run->plan, run->nused, run->used, &run->work));
  }
  mbg__system_warn(NULL, run->sys);
  MBG_TRY(run->formulation->ops->simulate(ctx, run->work, run->started, &run->nodes));
  if (!run->started) {
    mbg__system_warn(ctx, run->sys);
  }
  run->started = run->started || !run->nodes.partial;
  run->simulated = true;
  MBG_TRY(make_criteria(ctx, run));
done:
  run->seconds_simulate = now() - begin;
  return err;
}

const char *mbg_run_formulation(const mbg_run *run) { return run->formulation->key; }

void mbg_run_tolerances(const mbg_run *run, double *relative, double *absolute) {
  const bool controlled = (run->formulation->supports & MBG__ODE) && !(run->plan.step > 0);
  *relative = controlled ? run->plan.relative : 0;
  *absolute = controlled ? run->plan.absolute : 0;
}

int mbg_run_partial(const mbg_run *run) { return run->nodes.partial; }

int mbg_run_node_count(const mbg_run *run) { return run->nodes.nnode; }

double mbg_run_node_time(const mbg_run *run, int node) {
  return node >= 0 && node < run->nodes.nnode ? run->nodes.t[node] : NAN;
}

double mbg_run_signal(const mbg_run *run, int node, int signal) {
  for (int k = 0; node >= 0 && node < run->nodes.nnode && k < run->nused; k++) {
    if (run->used[k] == signal) {
      return re(run->nodes.y[(size_t)node * (size_t)run->nused + (size_t)k]);
    }
  }
  return NAN;
}

int mbg_run_kept_count(const mbg_run *run) { return run->nused; }

int mbg_run_kept_signal(const mbg_run *run, int kept) { return kept >= 0 && kept < run->nused ? run->used[kept] : -1; }

/* ---------------------------------------------------------------------- criteria */

/* the start of a restarted run does not follow the parameters */
static int refuse_given(mbg_context *ctx, const mbg_run *run) {
  return run->given
             ? mbg__fail(
                   ctx, MBG_ERROR_UNSUPPORTED,
                   "a run that starts from a given state has no gradients: its start does not follow the parameters")
             : MBG_OK;
}

static int need_simulation(mbg_context *ctx, const mbg_run *run) {
  return run->simulated ? MBG_OK
                        : mbg__fail(ctx, MBG_ERROR_INPUT, "simulate first: there is no trajectory at these parameters");
}

/* criteria see their own columns: y of the run has them first, perhaps followed by further signals */
static int criteria_values(mbg_context *ctx, mbg_run *run, real **columns) {
  const int *used;
  const int n = mbg__criteria_signals(run->criteria, &used);
  const mbg__nodes *nodes = &run->nodes;
  *columns = NULL;
  const real *y = nodes->y;
  if (n < run->nused) {
    real *own = mbg__alloc(ctx, (size_t)nodes->nnode * (size_t)(n > 0 ? n : 1), sizeof(real));
    if (!own) {
      return mbg__fail_memory(ctx);
    }
    for (int i = 0; i < nodes->nnode; i++) {
      memcpy(own + (size_t)i * (size_t)n, y + (size_t)i * (size_t)run->nused, (size_t)n * sizeof(real));
    }
    *columns = own;
    y = own;
  }
  return mbg__criteria_values(ctx, run->criteria, nodes->omega, y, run->design->attr, run->psi);
}

int mbg__run_criteria(mbg_context *ctx, mbg_run *run, real *psi) {
  real *columns = NULL;
  int err = MBG_OK;
  MBG_TRY(need_simulation(ctx, run));
  MBG_TRY(criteria_values(ctx, run, &columns));
  memmove(psi, run->psi, (size_t)run->m->ncriterion * sizeof(real));
done:
  mbg__free(ctx, columns);
  return err;
}

int mbg_run_criteria(mbg_context *ctx, mbg_run *run, double *psi) {
  const int err = mbg__run_criteria(ctx, run, run->psi);
  for (int k = 0; err == MBG_OK && k < run->m->ncriterion; k++) {
    psi[k] = re(run->psi[k]);
  }
  return err;
}

/* ---------------------------------------------------------------------- gradients */

/* seeds of criteria first .. first+n-1, laid out by the run's signals; explicit parts go into psi_a */
typedef struct {
  int n;
  real *memory;
  mbg__density_term *terms; /* n x ncriterion */
  mbg__criterion_seeds *seeds;
} seed_block;

/* seeds of sum_k weight[k] psi_(first+k) as one block entry; ga: its explicit part */
static int add_seeds(mbg_context *ctx, mbg_run *run, int first, int n, const double *weight,
                     mbg__criterion_seeds *seeds, real *density, real *point, mbg__density_term *terms, real *ga) {
  const int *used;
  const size_t nused = (size_t)run->nused, nodes = (size_t)run->nodes.nnode;
  const size_t own = (size_t)mbg__criteria_signals(run->criteria, &used);
  int err = MBG_OK;
  real *scratch = mbg__alloc_zero(ctx, 2 * nodes * own + 1, sizeof(real));
  if (!scratch) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < n; k++) {
    if (weight[k] != 0) {
      MBG_TRY(mbg__criteria_seeds(ctx, run->criteria, first + k, weight[k], scratch, scratch + nodes * own, ga));
    }
  }
  for (size_t i = 0; i < nodes; i++) {
    memcpy(density + i * nused, scratch + i * own, own * sizeof(real));
    memcpy(point + i * nused, scratch + nodes * own + i * own, own * sizeof(real));
  }
  seeds->density = density;
  seeds->point = point;
  MBG_TRY(mbg__criteria_terms(ctx, run->criteria, first, n, weight, terms, &seeds->nterm));
  seeds->terms = terms;
done:
  mbg__free(ctx, scratch);
  return err;
}

/* weight NULL: n entries, one for each criterion; else one entry, their weighted sum */
static int make_seeds(mbg_context *ctx, mbg_run *run, int first, int n, const double *weight, seed_block *b) {
  const size_t size = (size_t)run->nodes.nnode * (size_t)run->nused, na = (size_t)run->m->na;
  const double one = 1;
  int err = MBG_OK;
  real *columns = NULL;
  b->n = weight ? 1 : n;
  b->memory = mbg__alloc_zero(ctx, 2 * size * (size_t)b->n + 1, sizeof(real));
  b->seeds = mbg__alloc_zero(ctx, (size_t)b->n + 1, sizeof(*b->seeds));
  b->terms = mbg__alloc_zero(ctx, (size_t)b->n * (size_t)run->m->ncriterion + 1, sizeof(*b->terms));
  if (!b->memory || !b->seeds || !b->terms) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(criteria_values(ctx, run, &columns));
  memset(run->psi_a, 0, (size_t)run->m->ncriterion * na * sizeof(real));
  for (int k = 0; k < b->n; k++) {
    real *density = b->memory + 2 * size * (size_t)k;
    MBG_TRY(add_seeds(ctx, run, first + k, weight ? n : 1, weight ? weight : &one, &b->seeds[k], density,
                      density + size, b->terms + (size_t)k * (size_t)run->m->ncriterion,
                      run->psi_a + (size_t)(first + k) * na));
  }
done:
  mbg__free(ctx, columns);
  return err;
}

static void free_seeds(mbg_context *ctx, seed_block *b) {
  mbg__free(ctx, b->memory);
  mbg__free(ctx, b->terms);
  mbg__free(ctx, b->seeds);
}

/* direct: sum of seeds times dy/dp over the nodes */
typedef struct {
  const mbg_run *run;
  const seed_block *block;
  real *gradient;
} direct_sum;

static int direct_take(void *user, int node, const real *dy) {
  const direct_sum *s = user;
  const mbg_run *run = s->run;
  const size_t np = (size_t)run->m->np, nused = (size_t)run->nused;
  for (int c = 0; c < s->block->n; c++) {
    for (size_t k = 0; k < nused; k++) {
      const size_t at = (size_t)node * nused + k;
      const real w = mbg__seed(&s->block->seeds[c], run->nodes.omega[node], at);
      for (size_t p = 0; w != 0 && p < np; p++) {
        s->gradient[(size_t)c * np + p] += w * dy[k * np + p];
      }
    }
  }
  return MBG_OK;
}

/* the adjoint that is exact for the formulation: of its steps, or of its differential equation */
static mbg_method own_adjoint(const mbg_run *run) {
  return mbg__formulation_has(run->formulation, MBG_METHOD_ADJOINT) ? MBG_METHOD_ADJOINT : MBG_METHOD_CONTINUOUS;
}

mbg_method mbg_run_adjoint_method(const mbg_run *run) { return own_adjoint(run); }

/* the method asked for, else the model's, else by cost for so many criteria */
static mbg_method choose_method(const mbg_run *run, mbg_method method, int ncriterion) {
  if (method != MBG_METHOD_AUTO) {
    return method;
  }
  if (run->method != MBG_METHOD_AUTO) {
    return run->method;
  }
  const double direct = run->m->np * run->formulation->cost_direct;
  const double adjoint = ncriterion * run->formulation->cost_adjoint;
  return direct <= adjoint ? MBG_METHOD_DIRECT : own_adjoint(run);
}

static int check_method(mbg_context *ctx, const mbg_run *run, mbg_method method) {
  int n;
  const mbg__formulation *list = mbg__formulations(&n);
  if (method < 0 || method >= MBG_METHOD_COUNT) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "unknown gradient method %d", (int)method);
  }
  if (mbg__formulation_has(run->formulation, method)) {
    return MBG_OK;
  }
  if (method == MBG_METHOD_ADJOINT && mbg__formulation_has(run->formulation, MBG_METHOD_CONTINUOUS)) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "formulation '%s' has no method 'adjoint', which transposes steps: it differentiates its "
                     "differential equation; take 'continuous'",
                     run->formulation->key);
  }
  for (int i = 0; i < n; i++) {
    if (mbg__formulation_has(&list[i], method)) {
      return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "formulation '%s' has no method '%s'; '%s' has it",
                       run->formulation->key, mbg_method_name(method), list[i].key);
    }
  }
  return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "no formulation has the method '%s'", mbg_method_name(method));
}

/* gradient of every entry of the block (n x np) in `out`; psi_a: their explicit parts (n x na) */
static int block_gradient(mbg_context *ctx, mbg_run *run, mbg_method method, const seed_block *block, real *psi_a,
                          real *out) {
  const size_t np = (size_t)run->m->np, na = (size_t)run->m->na;
  int err = MBG_OK;
  if (method == MBG_METHOD_DIRECT) {
    direct_sum sum = {run, block, out};
    MBG_TRY(run->formulation->ops->tangent(ctx, run->work, direct_take, &sum));
  } else {
    MBG_TRY(run->formulation->ops->adjoint(ctx, run->work, method, block->n, block->seeds, psi_a));
  }
  for (int k = 0; k < block->n; k++) {
    mbg__design_pull(run->design, psi_a + (size_t)k * na, out + (size_t)k * np);
  }
done:
  return err;
}

/* gradient (ncriterion x np), or of the weighted sum of criteria (np), in `out` */
static int gradient(mbg_context *ctx, mbg_run *run, mbg_method method, const double *weight, real *out) {
  seed_block block = {0};
  int err = MBG_OK;
  MBG_TRY(make_seeds(ctx, run, 0, run->m->ncriterion, weight, &block));
  MBG_TRY(block_gradient(ctx, run, method, &block, run->psi_a, out));
done:
  free_seeds(ctx, &block);
  return err;
}

/* what must hold before a gradient; *method is the one asked for, then the one that is taken for n criteria */
static int ready(mbg_context *ctx, mbg_run *run, int n, mbg_method *method) {
  int err = MBG_OK;
  MBG_TRY(need_simulation(ctx, run));
  MBG_TRY(check_method(ctx, run, *method));
  *method = choose_method(run, *method, n);
  MBG_TRY(check_method(ctx, run, *method));
  MBG_TRY(refuse_given(ctx, run));
  MBG_TRY(mbg__check_parameters(ctx, run->sys, run->start));
done:
  return err;
}

/* weight NULL: of every criterion (ncriterion x np), else of their weighted sum (np) */
static int gradient_of(mbg_context *ctx, mbg_run *run, mbg_method method, const double *weight, double *grad,
                       mbg_method *used) {
  const mbg_model *m = run->m;
  const double begin = now();
  const int n = weight && m->ncriterion > 0 ? 1 : m->ncriterion;
  const size_t size = (size_t)n * (size_t)m->np;
  real *out = NULL;
  int err = MBG_OK;
  MBG_TRY(ready(ctx, run, n, &method));
  out = mbg__alloc_zero(ctx, size, sizeof(real));
  if (!out) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(gradient(ctx, run, method, n > 0 ? weight : NULL, out));
  for (size_t i = 0; i < size; i++) {
    grad[i] = re(out[i]);
  }
  if (used) {
    *used = method;
  }
done:
  mbg__free(ctx, out);
  run->seconds_gradient = now() - begin;
  return err;
}

int mbg_run_gradient(mbg_context *ctx, mbg_run *run, mbg_method method, double *grad, mbg_method *used) {
  return gradient_of(ctx, run, method, NULL, grad, used);
}

int mbg_run_gradient_sum(mbg_context *ctx, mbg_run *run, mbg_method method, const double *weights, double *grad) {
  return gradient_of(ctx, run, method, weights, grad, NULL);
}

/* ---------------------------------------------------------------------- rows: some criteria, some points of paths */

/* seeds of one row into an entry of the block; ga: its explicit part */
static int row_seeds(mbg_context *ctx, mbg_run *run, const mbg__gradient_row *row, mbg__criterion_seeds *seeds,
                     real *density, real *point, mbg__density_term *terms, real *ga) {
  const int *used;
  const size_t nused = (size_t)run->nused, nodes = (size_t)run->nodes.nnode;
  const size_t own = (size_t)mbg__criteria_signals(run->criteria, &used);
  if (row->npoint == 0) {
    const double one = 1;
    return add_seeds(ctx, run, row->criterion, 1, &one, seeds, density, point, terms, ga);
  }
  real *scratch = mbg__alloc_zero(ctx, nodes * own + 1, sizeof(real));
  if (!scratch) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < row->npoint; i++) {
    mbg__criteria_path_seed(run->criteria, row->criterion, row->point[i], row->weight[i], scratch);
  }
  for (size_t i = 0; i < nodes; i++) {
    memcpy(point + i * nused, scratch + i * own, own * sizeof(real));
  }
  *seeds = (mbg__criterion_seeds){.density = density, .point = point, .terms = terms};
  mbg__free(ctx, scratch);
  return MBG_OK;
}

static int make_rows(mbg_context *ctx, mbg_run *run, int n, const mbg__gradient_row *rows, seed_block *b, real *psi_a) {
  const size_t size = (size_t)run->nodes.nnode * (size_t)run->nused, na = (size_t)run->m->na;
  const size_t nterm = (size_t)run->m->ncriterion;
  int err = MBG_OK;
  real *columns = NULL;
  b->n = n;
  b->memory = mbg__alloc_zero(ctx, 2 * size * (size_t)n + 1, sizeof(real));
  b->seeds = mbg__alloc_zero(ctx, (size_t)n + 1, sizeof(*b->seeds));
  b->terms = mbg__alloc_zero(ctx, (size_t)n * nterm + 1, sizeof(*b->terms));
  if (!b->memory || !b->seeds || !b->terms) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(criteria_values(ctx, run, &columns));
  for (size_t k = 0; k < (size_t)n; k++) {
    real *density = b->memory + 2 * size * k;
    MBG_TRY(row_seeds(ctx, run, &rows[k], &b->seeds[k], density, density + size, b->terms + k * nterm, psi_a + k * na));
  }
done:
  mbg__free(ctx, columns);
  return err;
}

int mbg__run_gradient_rows(mbg_context *ctx, mbg_run *run, mbg_method method, int n, const mbg__gradient_row *rows,
                           double *grad, mbg_method *used) {
  const double begin = now();
  const size_t size = (size_t)n * (size_t)run->m->np;
  seed_block block = {0};
  real *out = NULL, *psi_a = NULL;
  int err = MBG_OK;
  MBG_TRY(ready(ctx, run, n, &method));
  out = mbg__alloc_zero(ctx, size + 1, sizeof(real));
  psi_a = mbg__alloc_zero(ctx, (size_t)n * (size_t)run->m->na + 1, sizeof(real));
  if (!out || !psi_a) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(make_rows(ctx, run, n, rows, &block, psi_a));
  MBG_TRY(block_gradient(ctx, run, method, &block, psi_a, out));
  for (size_t i = 0; i < size; i++) {
    grad[i] = re(out[i]);
  }
  *used = method;
done:
  free_seeds(ctx, &block);
  mbg__free(ctx, psi_a);
  mbg__free(ctx, out);
  run->seconds_gradient = now() - begin;
  return err;
}

int mbg_run_gradient_all(mbg_context *ctx, mbg_run *run, int criterion, double *grad) {
  const mbg_model *m = run->m;
  const double begin = now();
  seed_block block = {0};
  int err = MBG_OK;
  MBG_TRY(need_simulation(ctx, run));
  MBG_TRY(check_method(ctx, run, own_adjoint(run)));
  MBG_TRY(refuse_given(ctx, run));
  if (criterion < 0 || criterion >= m->ncriterion) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "there is no criterion %d; the model has %d", criterion, m->ncriterion);
    goto done;
  }
  MBG_TRY(make_seeds(ctx, run, criterion, 1, NULL, &block));
  block.seeds[0].all = true;
  real *psi_a = run->psi_a + (size_t)criterion * (size_t)m->na;
  MBG_TRY(run->formulation->ops->adjoint(ctx, run->work, own_adjoint(run), 1, block.seeds, psi_a));
  mbg__design_fold(run->design, psi_a);
  for (int i = 0; i < m->na; i++) {
    grad[i] = re(psi_a[i]);
  }
done:
  free_seeds(ctx, &block);
  run->seconds_gradient = now() - begin;
  return err;
}

/* ---------------------------------------------------------------------- for identification */

const mbg__criteria *mbg__run_criteria_of(const mbg_run *run) { return run->criteria; }

double mbg__run_step(const mbg_run *run) { return run->plan.step; }

double mbg__run_column(const mbg_run *run, int node, int column) {
  return re(run->nodes.y[(size_t)node * (size_t)run->nused + (size_t)column]);
}

/* ---------------------------------------------------------------------- histories */

typedef struct {
  const mbg_run *run;
  int (*take)(void *user, int node, const double *dy);
  void *user;
  double *dy;
} history;

static int history_take(void *user, int node, const real *dy) {
  history *h = user;
  const size_t n = (size_t)h->run->m->np * (size_t)h->run->nused;
  for (size_t i = 0; i < n; i++) {
    h->dy[i] = re(dy[i]);
  }
  return h->take(h->user, node, h->dy);
}

int mbg_run_history(mbg_context *ctx, mbg_run *run, int (*take)(void *user, int node, const double *dy), void *user) {
  history h = {.run = run, .take = take, .user = user};
  int err = MBG_OK;
  MBG_TRY(need_simulation(ctx, run));
  MBG_TRY(check_method(ctx, run, MBG_METHOD_DIRECT));
  MBG_TRY(refuse_given(ctx, run));
  MBG_TRY(mbg__check_parameters(ctx, run->sys, run->start));
  h.dy = mbg__alloc(ctx, (size_t)run->m->np * (size_t)(run->nused > 0 ? run->nused : 1), sizeof(double));
  if (!h.dy) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(run->formulation->ops->tangent(ctx, run->work, history_take, &h));
done:
  mbg__free(ctx, h.dy);
  return err;
}

/* ---------------------------------------------------------------------- numbers of the model */

int mbg_run_attribute_count(const mbg_run *run) { return run->m->na; }

/* reference sizes of units, so that numbers that happen to be zero are not hidden when ranked */
static double unit_reference(const mbg_model *m, const char *unit) {
  if (!strcmp(unit, "m")) {
    return 0.1 * m->size;
  }
  if (!strcmp(unit, "rad")) {
    return 0.1;
  }
  return 0;
}

int mbg_run_attribute(const mbg_run *run, int index, mbg_attribute_info *info) {
  if (index < 0 || index >= run->m->na) {
    return MBG_ERROR_INPUT;
  }
  const mbg__attribute *a = &run->m->attributes[index];
  const double value = re(run->design->attr[index]);
  *info = (mbg_attribute_info){.owner = a->owner,
                               .key = a->key,
                               .unit = a->unit ? a->unit : "",
                               .value = value,
                               .scale = fmax(fabs(value), unit_reference(run->m, a->unit ? a->unit : ""))};
  return MBG_OK;
}

/* ---------------------------------------------------------------------- state and work */

int mbg__run_last(const mbg_run *run, double *t, mbg__frame *H, real *v, int *turns) {
  return run->simulated ? run->formulation->ops->last(run->work, t, H, v, turns) : MBG_ERROR_INPUT;
}

void mbg__run_give(mbg_run *run, double t, const mbg__frame *H, const real *v, const int *turns) {
  mbg__start_give(run->start, t, H, v, turns);
  run->plan.t0 = t;
  run->given = true;
  run->started = run->simulated = false;
}

int mbg_run_last_state(const mbg_run *run, double *t, double *frames, double *twists) {
  const mbg_model *m = run->m;
  mbg__arena scratch;
  mbg__arena_init(&scratch, &run->arena.allocator);
  mbg__frame *H = MBG_TAKE(&scratch, mbg__frame, m->nbody);
  real *v = MBG_TAKE(&scratch, real, m->nw);
  int *turns = MBG_TAKE(&scratch, int, m->nturn);
  int err = H && v && turns ? mbg__run_last(run, t, H, v, turns) : MBG_ERROR_MEMORY;
  for (int b = 0; err == MBG_OK && b < m->nbody; b++) {
    for (int i = 0; i < 9; i++) {
      frames[12 * b + i] = re(H[b].R[i]);
    }
    for (int i = 0; i < 3; i++) {
      frames[12 * b + 9 + i] = re(H[b].x[i]);
    }
    for (int i = 0; i < 6; i++) {
      twists[6 * b + i] = re(v[m->bodies[b].voff + i]);
    }
  }
  mbg__arena_destroy(&scratch);
  return err;
}

void mbg_run_work_of(const mbg_run *run, mbg_run_work *work) {
  *work = (mbg_run_work){.seconds_simulate = run->seconds_simulate, .seconds_gradient = run->seconds_gradient};
  if (run->work) {
    const mbg__work_counts *c = run->formulation->ops->counts(run->work);
    work->steps = c->steps;
    work->newton_iterations = c->newton_iterations;
    work->factorizations = c->factorizations;
    work->assemblies = c->assemblies;
    work->solves = c->solves;
    work->recomputed_steps = c->recomputed;
    work->peak_bytes = c->bytes;
    work->drift_position = c->drift_position;
    work->drift_velocity = c->drift_velocity;
  }
}
