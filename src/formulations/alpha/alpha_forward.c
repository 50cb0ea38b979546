/* The step (theory 4, section 4), and the first node. */
#include "formulations/alpha/alpha_work.h"
#include "model/body_label.h"

#include <float.h>
#include <string.h>

/* iterations with the last matrix after convergence, where every iteration has its own: one makes the gradient exact */
enum { POLISH = 1 };

/* a new matrix costs as much as so many iterations with an old one */
enum { SLOW = 8 };

/* ---------------------------------------------------------------------- nodes */

/* numbers that index 2 adds: eta and E */
static size_t more(const mbg__alpha *a) {
  return a->index2 ? (size_t)a->m->nrow + (size_t)mbg__csc_count(mbg__system_pattern_B(a->sys)) : 0;
}

size_t mbg__alpha_node_bytes(const mbg__alpha *a) {
  const mbg_model *m = a->m;
  return sizeof(mbg__node_head) + (size_t)m->nbody * sizeof(mbg__frame) +
         (4 * (size_t)m->nw + (size_t)m->nrow + more(a)) * sizeof(real) + ((size_t)m->nturn + 1) * sizeof(int);
}

mbg__alpha_node mbg__alpha_view(const mbg__alpha *a, const void *block) {
  const mbg_model *m = a->m;
  mbg__node_head *head = (mbg__node_head *)(uintptr_t)block;
  mbg__alpha_node n = {.t = &head->t, .h = &head->h, .H = (mbg__frame *)(void *)(head + 1)};
  real *x = (real *)(void *)(n.H + m->nbody);
  n.v = x;
  n.vd = x + m->nw;
  n.al = x + 2 * m->nw;
  n.Dx = x + 3 * m->nw;
  n.lambda = x + 4 * m->nw;
  if (a->index2) {
    n.eta = n.lambda + m->nrow;
    n.E = n.eta + m->nrow;
  }
  n.turns = (int *)(void *)(n.lambda + m->nrow + more(a));
  n.guessed = n.turns + m->nturn;
  return n;
}

/* ---------------------------------------------------------------------- matrices */

static int evaluate(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *n, bool early) {
  mbg__state state = mbg__alpha_state(a, n);
  state.early = early;
  const int err = mbg__system_update(ctx, a->sys, &state);
  mbg__system_residual(a->sys, a->r, a->phi, a->phid, NULL, NULL);
  return err;
}

static void assemble(mbg__alpha *a, bool slopes) {
  mbg__matrices all = {.K = a->K, .C = a->C, .M = a->M, .B = a->B, .Z = a->Z, .late = a->late};
  if (!slopes) {
    all.K = all.C = all.Z = NULL;
  }
  mbg__system_matrices(a->sys, &all);
  a->counts->assemblies++;
}

/* what the matrix of the step that led to a node needs of it, where the system stands */
static int linearize(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *n) {
  const int err = mbg__system_linearize(ctx, a->sys);
  for (int b = 0; b < a->m->nbody; b++) {
    mbg__alpha_increment(a, b, n, a->T + 36 * b);
  }
  mbg__rotors_linearize(a, n);
  return err;
}

/* S of the step, scaled; for index 2 its parts */
static void matrix(mbg__alpha *a, const mbg__alpha_node *n) {
  const real h = *n->h, s = a->c.beta * h * h;
  assemble(a, true);
  mbg__rotors_columns(a);
  mbg__columns_times(a->sys, mbg__system_pattern_K(a->sys), a->K, a->T, a->KT);
  mbg__columns_times(a->sys, mbg__system_pattern_B(a->sys), a->B, a->T, a->BT);
  if (a->index2) {
    return;
  }
  mbg__alpha_rates_matrix(a, h);
  mbg__saddle_clear(&a->saddle);
  mbg__saddle_add_sum(&a->saddle, (real[]){s * alpha_bp(a, h), s * alpha_gp(a, h), s}, a->M, a->C, a->KT);
  mbg__saddle_add_rows(&a->saddle, a->BT, a->B, a->rank->keep, NULL);
  mbg__saddle_add_late(&a->saddle, a->late, a->rank->keep);
}

int mbg__alpha_factor(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *n, bool made) {
  char what[64];
  if (!made) {
    matrix(a, n);
  }
  a->counts->factorizations++;
  if (a->index2) {
    return mbg__alpha_index2_factor(ctx, a->index2, n);
  }
  mbg__format(what, sizeof(what), "step to t = %g", mbg__time_shown(re(*n->t)));
  return mbg__saddle_factor(ctx, &a->saddle, what);
}

int mbg__alpha_linearize_at(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *node, bool make) {
  int err = MBG_OK;
  MBG_TRY(evaluate(ctx, a, node, false));
  MBG_TRY(linearize(ctx, a, node));
  if (make) {
    matrix(a, node);
  }
done:
  return err;
}

int mbg__alpha_factor_at(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *node) {
  const int err = mbg__alpha_linearize_at(ctx, a, node, false);
  return err < 0 ? err : mbg__alpha_factor(ctx, a, node, false);
}

void mbg__alpha_solve(mbg__alpha *a, bool transposed, real *x, int count) {
  a->counts->solves += count;
  if (a->index2) {
    mbg__alpha_index2_solve(a->index2, transposed, x, count);
  } else {
    mbg__saddle_solve(&a->saddle, transposed, mbg__rank_close(a->rank), x, count);
  }
}

/* [[M, B^T], [B, 0]] where the system stands; slopes: K and C, too */
static int factor_start(mbg_context *ctx, mbg__alpha *a, bool slopes) {
  int err = MBG_OK;
  MBG_TRY(mbg__system_linearize(ctx, a->sys));
  assemble(a, slopes);
  mbg__saddle_clear(&a->initial);
  mbg__saddle_add_K(&a->initial, 1, a->M);
  mbg__saddle_add_rows(&a->initial, a->B, a->B, a->rank->keep, NULL);
  mbg__saddle_add_late(&a->initial, a->late, a->rank->keep);
  a->counts->factorizations++;
  MBG_TRY(mbg__saddle_factor(ctx, &a->initial, "initial accelerations"));
done:
  return err;
}

int mbg__alpha_factor_start(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *node, bool slopes) {
  const int err = evaluate(ctx, a, node, false);
  return err < 0 ? err : factor_start(ctx, a, slopes);
}

/* ---------------------------------------------------------------------- first node */

int mbg__alpha_memory(const mbg__alpha *a, const mbg__alpha_node *n, real *memory) {
  const int nw = a->m->nw, nrow = a->m->nrow;
  if (memory) {
    memory[0] = *n->h;
    vn_copy(nw, memory + 1, mbg__alpha_state(a, n).vd);
    mbg__rotors_auxiliary(a, n, memory + 1 + nw);
    vn_copy(nrow, memory + 1 + 2 * nw, n->lambda);
  }
  return 1 + 2 * nw + nrow;
}

/* a run that goes on: the memory of its last node, unless rows that are dropped now carried a multiplier */
static void go_on(mbg__alpha *a, const mbg__alpha_node *n, const mbg__start_result *start) {
  const int nw = a->m->nw, nrow = a->m->nrow;
  const real *vd = start->memory + 1, *al = vd + nw, *lambda = al + nw;
  a->h_before = 0;
  bool fits = start->nmemory == mbg__alpha_memory(a, n, NULL);
  for (int i = 0; fits && i < nrow; i++) {
    fits = a->rank->keep[i] || lambda[i] == 0;
  }
  if (!fits) {
    return;
  }
  a->h_before = re(start->memory[0]);
  vn_copy(nrow, n->lambda, lambda);
  /* from body axes, one after the other */
  vn_copy(nw, n->v, start->v);
  vn_copy(nw, n->vd, al);
  mbg__rotors_keep(a, n);
  vn_copy(nw, n->al, n->vd);
  vn_copy(nw, n->v, start->v);
  vn_copy(nw, n->vd, vd);
  mbg__rotors_keep(a, n);
}

int mbg__alpha_accelerate(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *n, const real *v, bool factored) {
  const mbg_model *m = a->m;
  int err = MBG_OK;
  memcpy(n->v, v, (size_t)m->nw * sizeof(real));
  memset(n->vd, 0, (size_t)m->nw * sizeof(real));
  memset(n->Dx, 0, (size_t)m->nw * sizeof(real));
  memset(n->lambda, 0, ((size_t)m->nrow + more(a)) * sizeof(real));
  mbg__rotors_keep(a, n);
  MBG_TRY(evaluate(ctx, a, n, true));
  MBG_TRY(factored ? MBG_OK : factor_start(ctx, a, false));
  mbg__system_residual(a->sys, NULL, NULL, NULL, NULL, a->phi);
  mbg__gather(m, a->rank->keep, -1, a->r, -1, a->phi, a->x);
  mbg__saddle_solve(&a->initial, false, mbg__rank_close(a->rank), a->x, 1);
  memcpy(n->v, v, (size_t)m->nw * sizeof(real));
  mbg__scatter(m, a->rank->keep, 1, a->x, n->vd, n->lambda);
  if (mbg__system_has_late(a->sys)) {
    mbg__system_complete(a->sys, n->vd, n->lambda);
    MBG_TRY(mbg__system_late(ctx, a->sys, n->vd));
  }
  mbg__rotors_keep(a, n);
  memcpy(n->al, n->vd, (size_t)m->nw * sizeof(real));
done:
  return err;
}

int mbg__alpha_begin(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *n) {
  const mbg_model *m = a->m;
  const mbg__start_result *start = mbg__start_result_of(a->start);
  int err = MBG_OK;
  *n->t = re(start->t);
  *n->h = 0;
  a->t_q = a->t_end = a->ended = NAN;
  mbg__rotors_place(a);
  memcpy(n->H, start->H, (size_t)m->nbody * sizeof(*n->H));
  memcpy(n->turns, start->turns, (size_t)m->nturn * sizeof(int));
  *n->guessed = 0;
  /* the start and the first step choose the pivots of the run */
  mbg__klu_thaw(a->initial.klu);
  mbg__klu_thaw(a->klu);
  MBG_TRY(mbg__alpha_accelerate(ctx, a, n, start->v, false));
  mbg__alpha_kept_begin(a);
  go_on(a, n, start);
done:
  return err;
}

/* ---------------------------------------------------------------------- step */

/* al, v, vd from X (Dx itself, but for index 2) and H from Dx */
static void follow(const mbg__alpha *a, const mbg__alpha_node *from, const real *X, const mbg__alpha_node *to) {
  const mbg_model *m = a->m;
  const mbg__alpha_coefs *c = &a->c;
  const real h = *to->h;
  for (int i = 0; i < m->nw; i++) {
    const real al0 = a->al0[i];
    to->al[i] = (X[i] - h * from->v[i] - (0.5 - c->beta) * h * h * al0) / (c->beta * h * h);
    to->v[i] = from->v[i] + (1 - c->gamma) * h * al0 + c->gamma * h * to->al[i];
    to->vd[i] = ((1 - c->am) * to->al[i] + c->am * al0 - c->af * from->vd[i]) / (1 - c->af);
  }
  for (int b = 0; b < m->nbody; b++) {
    mbg__alpha_move(a, b, &from->H[b], to->Dx + m->bodies[b].voff, &to->H[b]);
  }
}

/* sum of the squares of n <= 3 components of x - y, y NULL: 0 */
static double square(int n, const real *x, const real *y) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += pow(re(x[i]) - (y ? re(y[i]) : 0), 2);
  }
  return sum;
}

/* al is the acceleration at t + (am - af) h: (al - vd)/(am - af) is the change of vd in a step. Its factor of n
   components; 0 where little damping leaves nothing but rounding there, or the change is so large that stiff parts
   settle. */
static double outlook(const mbg__alpha_coefs *c, int n, const real *vd, const real *al) {
  const double lag = c->am - c->af;
  return fabs(lag) < 0.04 || square(n, al, vd) > 0.1 * lag * lag * square(n, vd, NULL) ? 0 : 1 / lag;
}

/* Dx of a body by the guess that its accelerations go on as al0 says, or stay, where a step turns it so far that those
   in its own axes mean little */
static void predict_body(const mbg__alpha *a, int b, const mbg__alpha_node *from, real h, real *Dx) {
  const mbg__alpha_coefs *c = &a->c;
  const int first = a->m->bodies[b].voff, end = first + a->m->bodies[b].nvel;
  const bool slow = re(h * h) * square(3, from->v + first + 3, NULL) < 0.04;
  for (int off = first; off < end; off += 3) {
    const int n = end - off < 3 ? end - off : 3;
    const double ahead = slow ? outlook(c, n, from->vd + off, a->al0 + off) : 0;
    for (int i = off; i < off + n; i++) {
      const real change = ahead * (a->al0[i] - from->vd[i]);
      const real al = (from->vd[i] + (1 - c->af) * change - c->am * a->al0[i]) / (1 - c->am);
      Dx[i] = h * from->v[i] + (0.5 - c->beta) * h * h * a->al0[i] + c->beta * h * h * al;
    }
  }
}

/* guess of the step; sets al0, and t, h, Dx, lambda, turns of `to` */
static void predict(mbg__alpha *a, const mbg__alpha_node *from, real h, const mbg__alpha_node *to) {
  const mbg_model *m = a->m;
  const real s = alpha_rescale(*from->h == 0 ? a->h_before : *from->h, h);
  *to->t = *from->t + h;
  *to->h = h;
  for (int i = 0; i < m->nw; i++) {
    a->al0[i] = s == 1 ? from->al[i] : from->vd[i] + s * (from->al[i] - from->vd[i]);
  }
  for (int b = 0; b < m->nbody; b++) {
    predict_body(a, b, from, h, to->Dx);
  }
  memcpy(to->lambda, from->lambda, (size_t)m->nrow * sizeof(real));
  memcpy(to->turns, from->turns, (size_t)m->nturn * sizeof(int));
}

static double largest(int n, const real *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fabs(re(x[i])) > most || isnan(re(x[i])) ? fabs(re(x[i])) : most;
  }
  return most;
}

/* The iteration of a step. One matrix, at the guess, serves it as long as the changes shrink fast. Where they do not
   (`slow`), it begins again with a matrix for every iteration (`full`): a step has several solutions, and where
   contraction is slow the two iterations may find different ones. */
typedef struct {
  bool full, done, slow;
  int count, age;      /* iterations, and those that followed the first one with the present matrix */
  int polish;          /* full: iterations since convergence, with the last matrix */
  double change, last; /* largest changes of Dx in the last two */
} newton;

/* Is Dx as good as rounding allows, that of positions included? With a matrix that stays, changes shrink by one ratio,
   and ratio / (1 - ratio) times the last change is left. Small changes that do not shrink are rounding. */
static void newton_judge(const mbg__alpha *a, const mbg__alpha_node *to, newton *k) {
  const double least = 1e-12 * (1e-3 + largest(a->m->nw, to->Dx)) + 8 * DBL_EPSILON * a->m->size;
  const double ratio = k->change / k->last, left = 1e-3 * least;
  const bool small = k->change <= least, stands = !(ratio < 1);
  if (k->full) {
    k->polish += small || (stands && k->last < 1e-9) || k->polish > 0;
    k->done = k->polish > POLISH;
  } else if (k->age > 0) {
    k->done = small && (stands || ratio / (1 - ratio) * k->change <= left);
    k->slow = !k->done && !small && (stands || log(left / k->change) < SLOW * log(ratio));
  }
}

/* the largest of the first three entries, of forces or of rates of states */
static int place_of_largest(const real *r) {
  int best = 0;
  for (int k = 1; k < 3; k++) {
    best = fabs(re(r[k])) > fabs(re(r[best])) ? k : best;
  }
  return best;
}

/* names the body, state or row with the largest residual */
static int not_converged(mbg_context *ctx, const mbg__alpha *a, const mbg__alpha_node *to, double change) {
  const mbg_model *m = a->m;
  char label[160] = "", advice[400];
  double most = -1;
  for (int i = 0; i < m->nrow; i++) {
    if (fabs(re(a->phi[i])) > fmax(most, 1e-9)) {
      most = fabs(re(a->phi[i]));
      mbg__row_label(m, i, label, sizeof(label));
    }
  }
  for (int b = 0; most < 0 && b < m->nbody; b++) {
    const double x = largest(6, a->r + m->bodies[b].voff);
    if (!(x <= most)) {
      most = x;
      mbg__body_label(m, b, place_of_largest(a->r + m->bodies[b].voff), label, sizeof(label));
    }
  }
  mbg__system_sharp(a->sys, re(*to->h), "take a smaller step", advice, sizeof(advice));
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                   "step to t = %g (h = %g): Newton did not converge in %d iterations (last change %.2e, residual "
                   "%.2e, worst at %s); %s",
                   mbg__time_shown(re(*to->t)), re(*to->h), MBG__ALPHA_NEWTON_MAX, change, most, label, advice);
}

/* angles stay near their values at the start of the step: the state is evaluated again when one has passed half a
   turn */
static int evaluate_near(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *to) {
  const size_t bytes = (size_t)a->m->nturn * sizeof(int);
  int err = MBG_OK;
  MBG_TRY(evaluate(ctx, a, to, false));
  if (bytes > 0) {
    mbg__system_turns(a->sys, a->q, a->turns);
    if (memcmp(a->turns, to->turns, bytes) != 0) {
      memcpy(to->turns, a->turns, bytes);
      MBG_TRY(evaluate(ctx, a, to, false));
    }
  }
done:
  return err;
}

static void correct(mbg__alpha *a, const mbg__alpha_node *to, double *change) {
  const mbg_model *m = a->m;
  const real s = a->c.beta * *to->h * *to->h;
  mbg__gather(m, a->rank->keep, -s, a->r, -1, a->phi, a->x);
  mbg__alpha_rates_residual(a, *to->h, a->x + m->nv);
  mbg__klu_solve(a->klu, a->x, 1);
  for (int j = 0; j < m->nv; j++) {
    to->Dx[m->full[j]] += a->x[j];
  }
  for (int i = 0; i < m->nrow; i++) {
    to->lambda[i] += a->x[m->nv + i] / s;
  }
  *change = largest(m->nv, a->x);
}

/* trust: pivots of the run without a look at the growth of entries */
static int new_matrix(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *to, bool trust) {
  int err = linearize(ctx, a, to);
  mbg__klu_trust(a->klu, trust);
  err = err < 0 ? err : mbg__alpha_factor(ctx, a, to, false);
  mbg__klu_trust(a->klu, false);
  return err;
}

/* one iteration, with a new matrix when it is due */
static int iterate(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from, const mbg__alpha_node *to, newton *k) {
  const real *X = to->Dx;
  int err = MBG_OK;
  MBG_TRY(evaluate_near(ctx, a, to));
  k->age++;
  if (k->count++ == 0 || (k->full && k->polish == 0)) {
    MBG_TRY(new_matrix(ctx, a, to, !k->full));
    k->age = 0;
  }
  k->last = k->change;
  if (a->index2) {
    X = mbg__alpha_index2_correct(a->index2, to, &k->change);
  } else {
    correct(a, to, &k->change);
  }
  follow(a, from, X, to);
  a->counts->newton_iterations++;
  a->counts->solves++;
done:
  return err;
}

/* the iteration from its guess on, with the system updated at `from` for index 2 */
static int iterate_all(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from, real h, const mbg__alpha_node *to,
                       newton *k) {
  int err = MBG_OK;
  if (a->index2) {
    MBG_TRY(evaluate(ctx, a, from, false));
  }
  predict(a, from, h, to);
  if (a->index2) {
    MBG_TRY(mbg__alpha_index2_enter(ctx, a->index2, from, to));
  }
  follow(a, from, to->Dx, to);
  while (!k->done && !k->slow && (k->count < MBG__ALPHA_NEWTON_MAX || k->polish > 0)) {
    MBG_TRY(iterate(ctx, a, from, to, k));
    if (!isfinite(k->change)) {
      break;
    }
    newton_judge(a, to, k);
  }
done:
  return err;
}

/* A step of a run in real numbers is repeated: from its solution, one iteration with the matrix there makes imaginary
   parts exact (theory 9, N2). Not done: the solution is not known, or is another one. */
static int repeat(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from, real h, const mbg__alpha_node *to,
                  bool *done) {
  newton k = {.full = true, .change = INFINITY};
  int err = MBG_OK;
  *done = false;
  if (!a->solved || !a->solved(a->repeated, re(*from->t + h), a->known)) {
    return MBG_OK;
  }
  predict(a, from, h, to);
  for (int i = 0; i < a->m->nw; i++) {
    to->Dx[i] = a->known[i];
  }
  for (int i = 0; i < a->m->nrow; i++) {
    to->lambda[i] = a->known[a->m->nw + i];
  }
  follow(a, from, to->Dx, to);
  MBG_TRY(iterate(ctx, a, from, to, &k));
  *done = k.change <= 1e-9 * (1e-3 + largest(a->m->nw, to->Dx));
done:
  return err;
}

/* Newton from the guess on, with more matrices where one is not enough */
static int solve(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from, real h, const mbg__alpha_node *to) {
  newton k = {.change = INFINITY};
  int err = MBG_OK;
  MBG_TRY(iterate_all(ctx, a, from, h, to, &k));
  *to->guessed = k.done && mbg__klu_froze(a->klu);
  if (!k.done) {
    k = (newton){.full = true, .change = INFINITY};
    MBG_TRY(iterate_all(ctx, a, from, h, to, &k));
  }
  if (!k.done) {
    err = not_converged(ctx, a, to, k.change);
    goto done;
  }
  if (MBG__TWIN) {
    /* an imaginary part is exact after one iteration with the matrix of the converged step (theory 9, N2) */
    MBG_TRY(iterate(ctx, a, from, to, &(newton){.full = true, .change = INFINITY}));
  }
done:
  return err;
}

/* coordinates at the start of a step, unless they are those of q */
static int start_coords(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from) {
  int err = MBG_OK;
  a->ended = NAN;
  if (a->m->nturn > 0 && re(*from->t) == a->t_end) {
    real *q = a->q;
    a->q = a->q_end;
    a->q_end = q;
  } else if (a->m->nturn > 0 && re(*from->t) != a->t_q) {
    MBG_TRY(evaluate(ctx, a, from, false));
    mbg__system_coords(a->sys, a->q);
  }
  a->t_q = re(*from->t);
  a->t_end = NAN;
done:
  return err;
}

int mbg__alpha_factor_guess(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from, real h,
                            const mbg__alpha_node *to) {
  int err = MBG_OK;
  MBG_TRY(start_coords(ctx, a, from));
  predict(a, from, h, to);
  follow(a, from, to->Dx, to);
  MBG_TRY(evaluate_near(ctx, a, to));
  MBG_TRY(new_matrix(ctx, a, to, true));
done:
  return err;
}

int mbg__alpha_step(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from, real h, const mbg__alpha_node *to) {
  bool done = false;
  int err = MBG_OK;
  *to->guessed = 0;
  MBG_TRY(start_coords(ctx, a, from));
  MBG_TRY(MBG__TWIN ? repeat(ctx, a, from, h, to, &done) : MBG_OK);
  MBG_TRY(done ? MBG_OK : solve(ctx, a, from, h, to));
  MBG_TRY(evaluate_near(ctx, a, to));
  mbg__system_coords(a->sys, a->q_end);
  a->t_end = a->ended = re(*to->t);
done:
  return err;
}

/* the guess of a step that is shorter than the one that `to` ends: its accelerations, as by mbg__alpha_inside */
static void predict_shorter(mbg__alpha *a, const mbg__alpha_node *from, real h, const mbg__alpha_node *to) {
  const mbg__alpha_coefs *c = &a->c;
  const real x = h / *to->h, s = alpha_rescale(*from->h == 0 ? a->h_before : *from->h, h);
  *to->t = *from->t + h;
  *to->h = h;
  for (int i = 0; i < a->m->nw; i++) {
    const real al = from->vd[i] + x * (to->al[i] - from->vd[i]);
    a->al0[i] = from->vd[i] + s * (from->al[i] - from->vd[i]);
    to->Dx[i] = h * (from->v[i] + (0.5 - c->beta) * h * a->al0[i] + c->beta * h * al);
  }
  for (int i = 0; i < a->m->nrow; i++) {
    to->lambda[i] = from->lambda[i] + x * (to->lambda[i] - from->lambda[i]);
  }
  memcpy(to->turns, from->turns, (size_t)a->m->nturn * sizeof(int));
  follow(a, from, to->Dx, to);
}

/* Changes shrink by one ratio, and what is left is below the rounding of positions; or they are rounding themselves. */
static bool is_rounding(const mbg__alpha *a, const mbg__alpha_node *to, const newton *k) {
  const double ratio = k->change / k->last, least = DBL_EPSILON * a->m->size;
  return ratio < 0.5 ? ratio * k->change < least / 8
                     : k->change < 1e-12 * (1e-3 + largest(a->m->nw, to->Dx)) + 8 * least;
}

/* Newton with the matrix of the longer step; where that does not converge fast, the step as it is made always */
int mbg__alpha_shorten(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from, real h,
                       const mbg__alpha_node *to) {
  enum { MOST = 5 };
  const bool suits = !MBG__TWIN && !a->index2 && !a->rates;
  newton k = {.count = 1};
  int err = MBG_OK;
  if (suits) {
    MBG_TRY(start_coords(ctx, a, from));
    predict_shorter(a, from, h, to);
  }
  while (suits && !k.done && k.count <= MOST && (k.count < 3 || k.change < 0.5 * k.last)) {
    MBG_TRY(iterate(ctx, a, from, to, &k));
    k.done = k.count > 2 && is_rounding(a, to, &k);
  }
  MBG_TRY(k.done ? MBG_OK : mbg__alpha_step(ctx, a, from, h, to));
done:
  return err;
}
