/* The step (theory 5, sections 5 and 6): trapezoidal rule in joint coordinates, then projections.

     z+ = z exp(D),  ws = (2/h) D - w,  as = (4/h^2) D - (4/h) w - a
     E1(z+, ws, as, lambda) = 0,  Phi(z+) = 0,  chi(z+, ws) = 0 of rows on rates (theory 8, section 5)
     M (w+ - ws) + Phi_z^T y = 0,  Phid(z+, w+) = eps y          M (a+ - as) + Phi_z^T x = 0,  Phidd(z+, w+, a+) = eps x

   Newton's matrix is made at the guess and kept while it serves; it has the multipliers among its unknowns, so that
   they come out as exact as the positions (section 9). Where it is singular (a singular position) the rows are softened
   by the penalty 1/alpha, which changes the way to the solution and not the solution. */
#include "formulations/ali3p/ali3p_work.h"
#include "model/body_label.h"

#include <string.h>

/* iterations after convergence in the twin, which carries derivatives that converge later */
enum { POLISH = MBG__TWIN, NEWTON_MAX = 30, PENALTY_MAX = 60 };

/* ---------------------------------------------------------------------- states */

static mbg__tree_state state_at(const mbg__ali3p_node *n, const real *w, const real *a, const real *q,
                                const real *lambda) {
  return (mbg__tree_state){.t = *n->t, .E = n->E, .w = w, .a = a, .q = q, .lambda = lambda, .turns = n->turns};
}

static int evaluate(mbg_context *ctx, mbg__ali3p *a, const mbg__tree_state *s) {
  const int err = mbg__tree_update(ctx, a->tree, s);
  mbg__tree_residual(a->tree, a->E1, a->phi, a->rates ? a->phid : NULL, NULL);
  mbg__ali3p_states_hold(a, -1, a->held, a->E1);
  return err;
}

int mbg__ali3p_evaluate(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *to, const real *lambda) {
  const mbg__tree_state s = state_at(to, to->ws, to->as, NULL, lambda);
  return evaluate(ctx, a, &s);
}

static int linearized(mbg_context *ctx, mbg__ali3p *a, const mbg__tree_state *s) {
  const int err = evaluate(ctx, a, s);
  a->counts->assemblies++;
  return err < 0 ? err : mbg__tree_linearize(ctx, a->tree);
}

int mbg__ali3p_at_step(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  const mbg__tree_state s = state_at(n, n->ws, n->as, NULL, n->lambda);
  return linearized(ctx, a, &s);
}

int mbg__ali3p_at_rates(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  vn_sub(a->n, a->q, n->w, n->ws);
  const mbg__tree_state s = state_at(n, n->w, n->a, a->q, n->y);
  return linearized(ctx, a, &s);
}

int mbg__ali3p_at_accelerations(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  vn_sub(a->n, a->q, n->a, n->as);
  const mbg__tree_state s = state_at(n, n->w, n->a, a->q, n->x);
  return linearized(ctx, a, &s);
}

/* both projections are at (z, w, a): only q and the multipliers differ */
static void weigh(mbg__ali3p *a, const real *multipliers) {
  mbg__tree_weigh(a->tree, a->q, multipliers);
  mbg__tree_residual(a->tree, a->E1, NULL, NULL, NULL);
}

void mbg__ali3p_then_rates(mbg__ali3p *a, const mbg__ali3p_node *n) {
  vn_sub(a->n, a->q, n->w, n->ws);
  weigh(a, n->y);
}

void mbg__ali3p_then_accelerations(mbg__ali3p *a, const mbg__ali3p_node *n) {
  vn_sub(a->n, a->q, n->a, n->as);
  weigh(a, n->x);
}

int mbg__ali3p_at_start(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  const mbg__tree_state s = state_at(n, n->w, n->a, NULL, n->lambda);
  return linearized(ctx, a, &s);
}

int mbg__ali3p_factor_step(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n, bool penalty) {
  char what[64];
  mbg__format(what, sizeof(what), "step to t = %g", mbg__time_shown(re(*n->t)));
  mbg__tree_matrix_step(a->tree, &a->step, *n->h, n->D, penalty ? a->eps : NULL);
  a->softened = penalty;
  a->counts->factorizations++;
  return mbg__tree_matrix_factor(ctx, a->tree, &a->step, what);
}

/* eps of the projections; NULL: 0 */
static const mbg__part *softness(const mbg__ali3p *a, const mbg__ali3p_node *n, bool exact) {
  if (exact || !a->soft) {
    return NULL;
  }
  for (int i = 0; a->varsigma > 0 && i < a->nrow; i++) {
    a->softness[i] = r_where_part(r_all(a->hard[i]), 0, 1 / (a->varsigma * mbg__ali3p_alpha(a, i, re(*n->h))));
  }
  return a->varsigma > 0 ? a->softness : a->eps;
}

int mbg__ali3p_factor_mass(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n, bool exact) {
  const int mark = mbg__message_mark(ctx);
  char what[64];
  mbg__format(what, sizeof(what), re(*n->h) > 0 ? "projection at t = %g" : "initial accelerations",
              mbg__time_shown(re(*n->t)));
  mbg__tree_matrix_mass(a->tree, &a->mass, softness(a, n, exact));
  a->counts->factorizations++;
  int err = mbg__tree_matrix_factor(ctx, a->tree, &a->mass, what);
  if (err == MBG_ERROR_SINGULAR && !exact && !a->soft && a->nrow > 0) {
    /* a node in a singular position: the penalty carries it through, here and in the gradients */
    mbg__message_rewind(ctx, mark);
    r_diverge_all();
    mbg__tree_matrix_mass(a->tree, &a->mass, a->eps);
    err = mbg__tree_matrix_factor(ctx, a->tree, &a->mass, what);
  }
  return err;
}

/* ---------------------------------------------------------------------- first node */

/* eps = diag(Phi_z M^-1 Phi_z^T)/kappa at the first start; held constant when parameters change (section 10). Drivers
   prescribe: their rows are exact, and the bodies they move need no mass. */
static int scale_rows(mbg_context *ctx, mbg__ali3p *a) {
  mbg__part most = 0, least = INFINITY;
  if (a->scaled) {
    return MBG_OK;
  }
  const int err = mbg__tree_row_masses(ctx, a->tree, &a->mass, a->hard, a->eps);
  if (err < 0) {
    return err;
  }
  for (int i = 0; i < a->nrow; i++) {
    most = fmax(most, a->eps[i]);
  }
  for (int i = 0; i < a->nrow; i++) {
    least = r_where_part(a->eps[i] <= 1e-12 * most, least, fmin(least, a->eps[i]));
  }
  for (int i = 0; i < a->nrow; i++) {
    const bool soft = !a->hard[i] && isfinite(least);
    a->eps[i] = (soft ? r_where_part(a->eps[i] <= 1e-12 * most, least, a->eps[i]) : a->eps[i]) / a->kappa;
  }
  a->scaled = true;
  return MBG_OK;
}

/* accelerations and multipliers by the factors of the mass matrix, after E1 and phidd without them */
static int accelerate(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  vn_scale(a->n, a->b, -1, a->E1);
  vn_scale(a->nrow, a->b + a->n, -1, a->phidd);
  mbg__tree_matrix_solve(a->tree, &a->mass, a->b, 1);
  vn_copy(a->n, n->a, a->b);
  vn_copy(a->nrow, n->lambda, a->b + a->n);
  return mbg__system_has_late(a->sys) ? mbg__ali3p_states_rates(ctx, a, n) : MBG_OK;
}

static int begin(mbg_context *ctx, void *user, void *block) {
  mbg__ali3p *a = user;
  const mbg__start_result *start = mbg__start_result_of(a->start);
  const mbg__ali3p_node n = mbg__ali3p_view(a, block);
  int err = MBG_OK;
  memset(block, 0, mbg__ali3p_node_bytes(a));
  *n.t = re(start->t);
  a->ended = NAN;
  memcpy(n.turns, start->turns, (size_t)a->m->nturn * sizeof(int));
  mbg__tree_refresh(a->tree);
  mbg__tree_local_read(a->tree, start->H, start->v, n.E, n.w);
  const mbg__tree_state s = state_at(&n, n.w, NULL, NULL, NULL);
  MBG_TRY(mbg__tree_update(ctx, a->tree, &s));
  mbg__tree_residual(a->tree, a->E1, NULL, NULL, a->phidd);
  MBG_TRY(scale_rows(ctx, a));
  /* the first factorizations choose the pivots of the run */
  mbg__tree_matrix_thaw(&a->step);
  mbg__tree_matrix_thaw(&a->mass);
  if (a->penalty) {
    mbg__penalty_thaw(a->penalty);
  }
  MBG_TRY(mbg__ali3p_factor_mass(ctx, a, &n, true));
  mbg__ali3p_kept_begin(a);
  MBG_TRY(accelerate(ctx, a, &n));
  if (start->nmemory == a->n + a->nrow) { /* a run that goes on */
    vn_copy(a->n, n.a, start->memory);
    vn_copy(a->nrow, n.lambda, start->memory + a->n);
  }
  vn_copy(a->n, n.ws, n.w);
  vn_copy(a->n, n.as, n.a);
done:
  return err;
}

/* ---------------------------------------------------------------------- Newton */

mbg__part mbg__ali3p_largest(int n, const real *x) {
  mbg__part most = 0;
  for (int i = 0; i < n; i++) {
    const mbg__part size = fabs(re(x[i]));
    most = r_where_part((size > most) | isnan(size), size, most);
  }
  return most;
}

/* z+, ws, as from D */
void mbg__ali3p_follow(const mbg__ali3p *a, const mbg__ali3p_node *from, const mbg__ali3p_node *to) {
  const real h = *to->h;
  mbg__tree_move(a->tree, from->E, to->D, to->E);
  for (int i = 0; i < a->n; i++) {
    to->ws[i] = 2 / h * to->D[i] - from->w[i];
    to->as[i] = 4 / (h * h) * to->D[i] - 4 / h * from->w[i] - from->a[i];
  }
}

void mbg__ali3p_predict(const mbg__ali3p *a, const mbg__ali3p_node *from, real h, const mbg__ali3p_node *to) {
  *to->t = *from->t + h;
  *to->h = h;
  for (int i = 0; i < a->n; i++) {
    to->D[i] = h * from->w[i] + h * h / 2 * from->a[i];
  }
  if (a->held) {
    vn_copy(a->n, a->held, from->a);
  }
  vn_copy(a->nrow, to->lambda, from->lambda);
  memcpy(to->turns, from->turns, (size_t)a->m->nturn * sizeof(int));
  mbg__ali3p_follow(a, from, to);
}

/* angles stay near their values at the start of the step: the state is evaluated again when one has passed half a turn
   */
int mbg__ali3p_evaluate_near(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *to) {
  const size_t bytes = (size_t)a->m->nturn * sizeof(int);
  const mbg__tree_state s = state_at(to, to->ws, to->as, NULL, to->lambda);
  int err = MBG_OK;
  MBG_TRY(evaluate(ctx, a, &s));
  if (bytes > 0) {
    mbg__system_turns(a->sys, a->coords, a->turns);
    if (memcmp(a->turns, to->turns, bytes) != 0) {
      memcpy(to->turns, a->turns, bytes);
      MBG_TRY(evaluate(ctx, a, &s));
    }
  }
done:
  return err;
}

int mbg__ali3p_not_converged(mbg_context *ctx, const mbg__ali3p *a, const mbg__ali3p_node *to, const char *who,
                             int iterations, double change, const char *advice) {
  const int *rows;
  char label[160] = "the dynamics", smaller[400];
  double most = 0;
  (void)mbg__tree_rows(a->tree, &rows);
  for (int i = 0; i < a->nrow; i++) {
    if (fabs(re(a->phi[i])) > fmax(most, 1e-9)) {
      most = fabs(re(a->phi[i]));
      mbg__row_label(a->m, rows[i], label, sizeof(label));
    }
  }
  for (int k = 0; most == 0 && k < a->m->nbody; k++) {
    const double x = mbg__ali3p_largest(a->links[k].nz, a->E1 + a->links[k].first);
    if (!(x <= most)) {
      most = x;
      mbg__body_label(a->m, a->links[k].body, -1, label, sizeof(label));
    }
  }
  mbg__system_sharp(a->sys, re(*to->h), "take a smaller step, or look whether the mechanism locks there", smaller,
                    sizeof(smaller));
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                   "step to t = %g (h = %g): %s did not converge in %d iterations (last change %.2e, residual "
                   "%.2e, worst at %s); %s",
                   mbg__time_shown(re(*to->t)), re(*to->h), who, iterations, change, most, label,
                   advice ? advice : smaller);
}

/* x += s d but in the samples that are held */
static void advance(int n, real *x, real s, const real *d, mbg__answers held) {
  for (int i = 0; i < n; i++) {
    x[i] = r_where(held, x[i], x[i] + s * d[i]);
  }
}

/* one iteration; *change: the largest entry of the increment; held: samples that stay as they are */
static int iterate(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *from, const mbg__ali3p_node *to, bool fresh,
                   bool penalty, mbg__answers held, mbg__part *change) {
  const real s = *to->h * *to->h / 4;
  int err = MBG_OK;
  MBG_TRY(mbg__ali3p_evaluate_near(ctx, a, to));
  if (fresh) {
    MBG_TRY(mbg__tree_linearize(ctx, a->tree));
    a->counts->assemblies++;
    MBG_TRY(mbg__ali3p_factor_others(ctx, a, to, penalty, held));
  }
  vn_scale(a->n, a->b, -s, a->E1);
  vn_scale(a->nrow, a->b + a->n, -1, a->phi);
  for (int i = 0; a->rates && i < a->nrow; i++) {
    a->b[a->n + i] = a->rates[i] ? -*to->h / 2 * a->phid[i] : a->b[a->n + i];
  }
  mbg__tree_matrix_solve(a->tree, &a->step, a->b, 1);
  advance(a->n, to->D, 1, a->b, held);
  advance(a->nrow, to->lambda, 1 / s, a->b + a->n, held);
  *change = mbg__ali3p_largest(a->n, a->b);
  mbg__ali3p_follow(a, from, to);
  a->counts->newton_iterations++;
  a->counts->solves++;
done:
  return err;
}

/* Newton with a kept matrix converges linearly: the error after a change c at the rate r is c r/(1 - r) */
static mbg__answers is_small(mbg__part change, mbg__part last, mbg__part size) {
  const mbg__part rate = change / last, left = r_where_part(rate < 1, change * rate / (1 - rate), change);
  return (left <= 1e-15 * (1e-2 + size)) | ((change >= 0.5 * last) & (last < 1e-11));
}

/* of models with late rates by reactions */
static const char predicted[] =
    "take a smaller step: states whose rates use reactions are predicted, which is stable for steps below twice their "
    "time constants; 'lie' and 'dae' are implicit; or look whether the mechanism locks there";

/* careful: a matrix for each iteration while changes are large; a kept one leads astray where a step is long for stiff
   parts */
static int newton(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *from, const mbg__ali3p_node *to, real h,
                  bool careful, bool penalty) {
  const int most = penalty ? PENALTY_MAX : NEWTON_MAX;
  mbg__part change = INFINITY, last = INFINITY;
  mbg__answers held = r_all(false); /* samples that have converged */
  bool fresh = true;
  int err = MBG_OK, it = 0, polish = 0;
  mbg__ali3p_predict(a, from, h, to);
  /* beyond it forces need not have values */
  const mbg__part far = 1e3 * (1 + a->m->size + mbg__ali3p_largest(a->n, to->D));
  for (; it < most; it++) {
    MBG_TRY(iterate(ctx, a, from, to, fresh, penalty, held, &change));
    if (!(change <= far)) {
      break;
    }
    held = it > 0 ? held | is_small(change, last, mbg__ali3p_largest(a->n, to->D)) : held;
    if (r_every(held)) {
      break;
    }
    fresh = (it > 0 && r_other(held, change > 0.2 * last)) || (careful && r_other(held, change > 1e-6));
    last = change;
  }
  if (!(change <= far) || it == most) {
    err = mbg__ali3p_not_converged(ctx, a, to, "Newton", it, change, a->held ? predicted : NULL);
    goto MBG__TO(done);
  }
  for (; polish < POLISH; polish++) {
    MBG_TRY(iterate(ctx, a, from, to, polish == 0, penalty, r_all(false), &change));
  }
  if (a->m->nturn > 0) {
    MBG_TRY(mbg__ali3p_evaluate_near(ctx, a, to)); /* the last increment may have led across half a turn */
  }
done:
  return err;
}

/* A step of a run in real numbers is repeated: from its solution, one iteration with the matrix there makes imaginary
   parts exact (theory 9, N2). Not done: the solution is not known, or is another one. */
static int repeat(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *from, const mbg__ali3p_node *to, real h,
                  bool *done) {
  const int mark = mbg__message_mark(ctx);
  mbg__part change = INFINITY;
  *done = false;
  if (!a->solved || !a->solved(a->repeated, re(*from->t + h), a->known)) {
    return MBG_OK;
  }
  mbg__ali3p_predict(a, from, h, to);
  for (int i = 0; i < a->n; i++) {
    to->D[i] = a->known[i];
  }
  for (int i = 0; i < a->nrow; i++) {
    to->lambda[i] = a->known[a->n + i];
  }
  mbg__ali3p_follow(a, from, to);
  int err = iterate(ctx, a, from, to, true, false, r_all(false), &change);
  if (err == MBG_OK && a->m->nturn > 0) {
    err = mbg__ali3p_evaluate_near(ctx, a, to);
  }
  if (err == MBG_ERROR_SINGULAR) { /* the run took soft rows */
    mbg__message_rewind(ctx, mark);
    return MBG_OK;
  }
  *done = err == MBG_OK && change <= 1e-9 * (1e-3 + mbg__ali3p_largest(a->n, to->D));
  return err;
}

/* Newton, then with more matrices, then with soft rows */
static int solve(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *from, const mbg__ali3p_node *to, real h) {
  const int mark = mbg__message_mark(ctx);
  bool done = false;
  int err = MBG__TWIN ? repeat(ctx, a, from, to, h, &done) : MBG_OK;
  if (err < 0 || done) {
    return err;
  }
  err = newton(ctx, a, from, to, h, false, false);
  for (int again = 0; again < (a->nrow > 0 ? 2 : 1); again++) {
    if (err == MBG_ERROR_SINGULAR || err == MBG_ERROR_CONVERGENCE) {
      mbg__message_rewind(ctx, mark);
      r_diverge_all(); /* eps is that of the first run */
      err = newton(ctx, a, from, to, h, again == 0, again == 1);
    }
  }
  return err;
}

/* ---------------------------------------------------------------------- projections */

/* [M Phi_z^T; Phi_z -eps] (x, multipliers) = (0, -c): x is added to `to` */
static void project(mbg__ali3p *a, const real *c, const real *from, real *to, real *multipliers) {
  memset(a->b, 0, (size_t)a->n * sizeof(real));
  vn_scale(a->nrow, a->b + a->n, -1, c);
  mbg__tree_matrix_solve(a->tree, &a->mass, a->b, 1);
  a->counts->solves++;
  vn_add(a->n, to, from, a->b);
  vn_copy(a->nrow, multipliers, a->b + a->n);
}

static int check_dropped(mbg_context *ctx, const mbg__ali3p *a, const mbg__ali3p_node *n) {
  double x;
  const int row = mbg__tree_dropped(a->tree, &x);
  return row >= 0 && x > 1e-6 * fmax(1, a->m->size) ? mbg__rank_lost(ctx, a->m, row, re(*n->t), x, -1) : MBG_OK;
}

/* [M + h/2 C + h^2/4 K, Phi_z^T; Phi_z, -eps] at the step's end */
static int factor_oblique(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  char what[64];
  int err = MBG_OK;
  MBG_TRY(mbg__ali3p_at_step(ctx, a, n));
  mbg__format(what, sizeof(what), "projection at t = %g", mbg__time_shown(re(*n->t)));
  mbg__tree_matrix_step(a->tree, &a->mass, *n->h, a->zero, softness(a, n, false));
  a->counts->factorizations++;
  MBG_TRY(mbg__tree_matrix_factor(ctx, a->tree, &a->mass, what));
done:
  return err;
}

static int states(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  if (!mbg__ali3p_has_states(a)) {
    return MBG_OK;
  }
  const int err = mbg__ali3p_states_rates(ctx, a, n);
  mbg__ali3p_states_correct(a, *n->h / 2, n->a, n->as, n->w);
  return err;
}

static int projections(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  int err = MBG_OK;
  if (a->nrow == 0) {
    vn_copy(a->n, n->w, n->ws);
    vn_copy(a->n, n->a, n->as);
    return MBG_OK;
  }
  mbg__tree_state s = state_at(n, n->ws, NULL, a->zero, NULL);
  MBG_TRY(mbg__tree_update(ctx, a->tree, &s));
  mbg__tree_residual(a->tree, NULL, NULL, a->phid, NULL);
  MBG_TRY(check_dropped(ctx, a, n));
  MBG_TRY(a->oblique ? factor_oblique(ctx, a, n) : mbg__ali3p_factor_mass(ctx, a, n, false));
  if (a->penalty) {
    mbg__ali3p_polish(a, n);
  }
  project(a, a->phid, n->ws, n->w, n->y);
  mbg__ali3p_states_held(a, n->ws, n->w);
  s.w = n->w;
  s.a = n->as;
  MBG_TRY(mbg__tree_update(ctx, a->tree, &s));
  mbg__tree_residual(a->tree, NULL, NULL, NULL, a->phidd);
  project(a, a->phidd, n->as, n->a, n->x);
done:
  return err;
}

int mbg__ali3p_solve(mbg_context *ctx, mbg__ali3p *a, const void *block, real h, void *to_block) {
  const mbg__ali3p_node from = mbg__ali3p_view(a, block), to = mbg__ali3p_view(a, to_block);
  int err = MBG_OK;
  if (a->m->nturn > 0) {
    const mbg__tree_state s = state_at(&from, from.w, NULL, a->zero, NULL);
    MBG_TRY(mbg__tree_update(ctx, a->tree, &s));
    mbg__system_coords(a->sys, a->coords);
  }
  if (a->penalty && a->nrow > 0) {
    MBG_TRY(mbg__ali3p_augmented(ctx, a, &from, &to, h));
  } else {
    MBG_TRY(solve(ctx, a, &from, &to, h));
  }
done:
  return err;
}

static int step(mbg_context *ctx, void *user, const void *block, real h, void *to_block) {
  mbg__ali3p *a = user;
  const mbg__ali3p_node to = mbg__ali3p_view(a, to_block);
  int err = MBG_OK;
  a->ended = NAN;
  MBG_TRY(mbg__ali3p_solve(ctx, a, block, h, to_block));
  MBG_TRY(projections(ctx, a, &to));
  MBG_TRY(states(ctx, a, &to));
done:
  return err;
}

/* the state of a node whose signals are asked for */
static mbg__tree_state recorded(const mbg__ali3p *a, const mbg__ali3p_node *n) {
  return state_at(n, n->w, n->a, a->forces ? NULL : a->zero, NULL);
}

static int record(mbg_context *ctx, void *user, const void *block, real *y) {
  mbg__ali3p *a = user;
  const mbg__ali3p_node n = mbg__ali3p_view(a, block);
  const mbg__tree_state s = recorded(a, &n);
  const mbg__nodes *nodes = mbg__march_nodes(a->march);
  const int npose = nodes->npose;
  int err = MBG_OK;
  if (nodes->nnode > 0) {
    mbg__ali3p_kept_add(a, re(*n.h) > 0);
  }
  if (a->nused + npose == 0) {
    return MBG_OK;
  }
  MBG_TRY(re(*n.t) == a->ended ? MBG_OK : mbg__tree_update(ctx, a->tree, &s));
  a->ended = NAN;
  if (a->reactions) {
    MBG_TRY(mbg__ali3p_index1(ctx, a));
    mbg__state bodies = mbg__tree_bodies(a->tree);
    bodies.lambda = a->lambda1;
    MBG_TRY(mbg__system_update(ctx, a->sys, &bodies));
  }
  MBG_TRY(mbg__system_record(ctx, a->sys, a->nused, a->used, npose, y));
done:
  return err;
}

/* ---------------------------------------------------------------------- events */

mbg__state mbg__ali3p_bodies(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  const mbg__tree_state s = state_at(n, n->w, n->a, a->zero, NULL);
  (void)mbg__tree_update(ctx, a->tree, &s); /* a node of a run: it was evaluated before */
  return mbg__tree_bodies(a->tree);
}

static mbg__state bodies_at(mbg_context *ctx, void *user, const void *block) {
  mbg__ali3p *a = user;
  const mbg__ali3p_node n = mbg__ali3p_view(a, block);
  const mbg__tree_state s = recorded(a, &n);
  const int err = mbg__tree_update(ctx, a->tree, &s); /* a node of a run; record tells what is wrong there */
  a->ended = err < 0 || mbg__events_disturb(a->events) ? (double)NAN : (double)re(*n.t);
  return mbg__tree_bodies(a->tree);
}

static int restart(mbg_context *ctx, void *user, const void *from_block, const real *v, void *to_block) {
  mbg__ali3p *a = user;
  const mbg__ali3p_node from = mbg__ali3p_view(a, from_block), to = mbg__ali3p_view(a, to_block);
  const mbg__state bodies = mbg__ali3p_bodies(ctx, a, &from);
  int err = MBG_OK;
  a->ended = NAN;
  memset(to_block, 0, mbg__ali3p_node_bytes(a));
  *to.t = *from.t;
  memcpy(to.turns, from.turns, (size_t)a->m->nturn * sizeof(int));
  mbg__tree_local_read(a->tree, bodies.H, v, to.E, to.w);
  memcpy(to.E, from.E, (size_t)a->m->nbody * sizeof(*to.E));
  const mbg__tree_state s = state_at(&to, to.w, NULL, NULL, NULL);
  MBG_TRY(mbg__tree_update(ctx, a->tree, &s));
  mbg__tree_residual(a->tree, a->E1, NULL, NULL, a->phidd);
  MBG_TRY(mbg__ali3p_factor_mass(ctx, a, &to, true));
  MBG_TRY(accelerate(ctx, a, &to));
  vn_copy(a->n, to.ws, to.w);
  vn_copy(a->n, to.as, to.a);
done:
  return err;
}

/* Newton with the matrix of the longer step; where that does not converge fast, the step as it is made always */
static int shorten(mbg_context *ctx, void *user, const void *block, real h, void *to_block) {
  enum { MOST = 5 };
  mbg__ali3p *a = user;
  const mbg__ali3p_node from = mbg__ali3p_view(a, block), to = mbg__ali3p_view(a, to_block);
  mbg__part change = INFINITY, last = INFINITY;
  bool found = false;
  int err = MBG_OK;
  if (MBG__TWIN || MBG__SAMPLES > 1 || a->penalty || a->held || a->softened) {
    return step(ctx, user, block, h, to_block);
  }
  a->ended = NAN;
  mbg__ali3p_predict_shorter(a, &from, h, &to);
  for (int k = 0; k < MOST && !found && (k == 0 || change < 0.2 * last || change < 1e-11); k++) {
    last = change;
    MBG_TRY(iterate(ctx, a, &from, &to, false, false, r_all(false), &change));
    found = k > 0 && r_every(is_small(change, last, mbg__ali3p_largest(a->n, to.D)));
  }
  MBG_TRY(found ? projections(ctx, a, &to) : step(ctx, user, block, h, to_block));
  MBG_TRY(found ? states(ctx, a, &to) : MBG_OK);
done:
  return err;
}

const mbg__march_method mbg__ali3p_method = {.begin = begin,
                                             .step = step,
                                             .record = record,
                                             .state = bodies_at,
                                             .restart = restart,
                                             .inside = mbg__ali3p_inside,
                                             .shorten = shorten};
