/* Derivatives of the start by all parameters.

   Masses and stiffnesses move nothing. Where the guess is the solution (k = 0, d = 0) and moves along the rows,
   B wbar + phi_a da = 0, the derivatives are those of the guess: w0 = wbar, v0' = vbar'. Neither needs factors; the
   other columns are right sides of the systems of start_derivative.c, a few at a time. Where no parameter needs them,
   the transposed derivatives are those of the guess, too. */
#include "start/start_internal.h"

/* ---------------------------------------------------------------------- directions that move nothing */

static void mark(bool *moves, int attr, int count, bool yes) {
  for (int i = attr; attr >= 0 && i < attr + count; i++) {
    moves[i] = yes;
  }
}

/* All attributes may move the start but the own ones of rigid bodies and forces, unless a row or a pose uses them. */
static void mark_moving(const mbg__start_work *w, bool *moves) {
  const mbg_model *m = w->m;
  mark(moves, 0, m->na, true);
  for (int i = 0; i < m->nbody; i++) {
    mark(moves, m->bodies[i].attr, m->bodies[i].modal < 0 ? m->bodies[i].nattr : 0, false);
  }
  for (int i = 0; i < m->nforce; i++) {
    mark(moves, m->forces[i].attr, m->forces[i].nattr, false);
  }
  for (int i = 0; i < m->nterm; i++) {
    for (int k = 0; k < m->terms[i].nattr; k++) {
      mark(moves, m->terms[i].attr[k], 1, true);
    }
    mark(moves, m->terms[i].factor, 1, true);
  }
  for (int i = 0; i < m->npose; i++) {
    const mbg__placed *pose = &w->sys->design->poses[i];
    for (int k = 0; k < pose->ndep; k++) {
      mark(moves, pose->dep[k], 1, true);
    }
  }
}

/* Equilibria and steady states depend on all attributes. */
int mbg__start_note_moving(mbg_context *ctx, mbg__start_work *w) {
  if (w->moves || w->m->start == MBG__START_EQUILIBRIUM || w->m->nstate > 0) {
    return MBG_OK;
  }
  w->moves = MBG_TAKE(&w->scratch, bool, w->m->na);
  if (!w->moves) {
    return mbg__fail_memory(ctx);
  }
  mark_moving(w, w->moves);
  return MBG_OK;
}

bool mbg__start_stays(const mbg__start_work *w, const real *da) {
  for (int i = 0; w->moves && i < w->m->na; i++) {
    if (da[i] != 0 && w->moves[i]) {
      return false;
    }
  }
  return w->moves != NULL;
}

bool mbg__start_stays_for_all(const mbg__start_work *w) {
  bool stays = w->moves != NULL && w->sys->moved_only;
  for (int i = 0; stays && i < w->m->na; i++) {
    stays = !(w->moves[i] && wanted(w->sys, i));
  }
  return stays;
}

/* the same for parameter p; da is 0 and scratch */
static bool stays_by(const mbg__start_work *w, const mbg__design_columns *c, int p, real *da) {
  bool stays = w->moves != NULL;
  if (!mbg__design_column_listed(c, p)) {
    mbg__design_column_lay(c, p, da);
    stays = mbg__start_stays(w, da);
    mbg__design_column_clear(c, p, da);
    return stays;
  }
  for (int e = c->start[p]; stays && e < c->start[p + 1]; e++) {
    stays = !w->moves[c->attr[e]];
  }
  return stays;
}

bool mbg__start_is_still(const mbg__start_work *w, const mbg__design_columns *columns, int p, real *da) {
  return !w->given && !w->change_w && stays_by(w, columns, p, da);
}

/* ---------------------------------------------------------------------- columns */

/* Columns that are 0, those of the guess, those that a system is solved for. */
typedef enum { STILL, FOLLOWS, SOLVED } column_kind;

/* All parameters at once: at the state of the positions, then at that of the rates. */
typedef struct {
  mbg__start_work *w;
  const mbg__design_columns *columns;
  int np;
  real *da, *w0, *v0;
  int *place;        /* of a column in w0 and v0, NULL: its number   (np) */
  column_kind *kind; /*                                 (np) */
  real *x;           /* right sides                     (PANEL x n) */
} columns_job;

enum { PANEL = 4 }; /* right sides that KLU takes at once */

static size_t begin_of(const columns_job *j, int p) {
  return (size_t)(j->place ? j->place[p] : p) * (size_t)j->w->m->nw;
}
static real *frames_of(const columns_job *j, int p) { return j->w0 + begin_of(j, p); }
static real *twists_of(const columns_job *j, int p) { return j->v0 + begin_of(j, p); }

/* the larger variation of two bodies' frames or twists */
static double size_at(const mbg__start_work *w, const real *x, const mbg__pair *pair) {
  const int markers[2] = {pair->A, pair->B};
  double size = 0;
  for (int e = 0; e < 2; e++) {
    const int body = w->m->markers[markers[e]].body;
    for (int k = 0; body >= 0 && k < 6; k++) {
      size = fmax(size, fabs(re(x[w->m->bodies[body].voff + k])));
    }
  }
  return size;
}

/* Do the rows stay where they are, but for the rounding of w0 and v0 (rates)? Modal markers move by other columns. */
static bool follows_rows(const mbg__start_work *w, bool rate, const real *w0, const real *v0) {
  const mbg_model *m = w->m;
  for (int i = 0; i < m->nrow; i++) {
    double size = 0;
    for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
      const mbg__pair *pair = m->terms[k].pair >= 0 ? &m->pairs[m->terms[k].pair] : NULL;
      size = pair ? fmax(size, fmax(size_at(w, w0, pair), rate ? size_at(w, v0, pair) : 0)) : size;
    }
    if (!(fabs(re(w->row[i])) <= 4 * MBG__GUESS_FITS * size)) {
      return false;
    }
  }
  return true;
}

/* the column of the guess, if it moves along the rows; at the state of the positions or rates */
static bool push_guess(columns_job *j, int p, bool rate) {
  mbg__start_work *w = j->w;
  const mbg_model *m = w->m;
  real *w0 = frames_of(j, p), *v0 = twists_of(j, p);
  const mbg__direction d = {.w = w0, .dv = rate ? v0 : NULL, .da = j->da};
  for (int b = 0; b < m->nbody; b++) {
    real wbar[6], vbar[6];
    mbg__design_guess_push(w->sys->design, b, j->da, wbar, vbar);
    v6_copy((rate ? v0 : w0) + m->bodies[b].voff, rate ? vbar : wbar);
  }
  for (int i = 0; rate && i < m->nw; i++) {
    v0[i] = m->dof[i] < 0 ? 0 : v0[i];
  }
  mbg__system_push(w->sys, &d, NULL, rate ? NULL : w->row, rate ? w->row : NULL, NULL);
  return follows_rows(w, rate, w0, v0);
}

/* can the columns of the guess be those of the start? */
static bool may_follow(const mbg__start_work *w) {
  return w->moves && w->position.guess && w->rate.guess && w->nvalue == 0 && w->nrate == 0 && w->m->nmodal == 0;
}

/* which columns are 0 */
static void find_still(columns_job *j) {
  for (int p = 0; p < j->np; p++) {
    j->kind[p] = stays_by(j->w, j->columns, p, j->da) ? STILL : may_follow(j->w) ? FOLLOWS : SOLVED;
  }
}

static bool any_of(const columns_job *j, column_kind kind) {
  for (int p = 0; p < j->np; p++) {
    if (j->kind[p] == kind) {
      return true;
    }
  }
  return false;
}

/* columns of the guess; those that leave the rows are solved */
static int push_following(mbg_context *ctx, columns_job *j, bool rate) {
  const int err = any_of(j, FOLLOWS) ? mbg__start_state(ctx, j->w, rate) : MBG_OK;
  for (int p = 0; err == MBG_OK && p < j->np; p++) {
    if (j->kind[p] == FOLLOWS) {
      mbg__design_column_lay(j->columns, p, j->da);
      j->kind[p] = push_guess(j, p, rate) ? FOLLOWS : SOLVED;
      mbg__design_column_clear(j->columns, p, j->da);
    }
  }
  return err;
}

/* positions or rates of `count` parameters */
static int push_panel(mbg_context *ctx, columns_job *j, int count, const int *list, bool rate) {
  mbg__start_work *w = j->w;
  const mbg__kkt *kkt = rate ? &w->rate : &w->position;
  const size_t n = (size_t)kkt->n;
  int err = MBG_OK;
  for (int q = 0; q < count; q++) {
    mbg__design_column_lay(j->columns, list[q], j->da);
    if (rate) {
      mbg__start_right_rates(w, j->da, frames_of(j, list[q]));
    } else {
      err = mbg__start_right_positions(ctx, w, j->da, frames_of(j, list[q]));
    }
    mbg__design_column_clear(j->columns, list[q], j->da);
    MBG_TRY(err);
    vn_copy(kkt->n, j->x + (size_t)q * n, kkt->x);
  }
  /* some parameters move nothing here */
  if (mbg__start_any(n * (size_t)count, j->x)) {
    mbg__klu_solve(kkt->saddle.klu, j->x, count);
  }
  for (int q = 0; q < count; q++) {
    real *out = rate ? twists_of(j, list[q]) : frames_of(j, list[q]);
    if (rate) {
      vn_zero(w->m->nw, out);
    }
    mbg__to_full(w->m, 1, j->x + (size_t)q * n, out);
  }
done:
  return err;
}

/* columns that need the systems of positions or rates */
static int push_solved(mbg_context *ctx, columns_job *j, bool rate) {
  int err = MBG_OK, count = 0, list[PANEL];
  MBG_TRY(mbg__start_state(ctx, j->w, rate));
  for (int p = 0; p < j->np; p++) {
    if (j->kind[p] == SOLVED) {
      list[count++] = p;
    }
    if (count == PANEL || (p == j->np - 1 && count > 0)) {
      MBG_TRY(push_panel(ctx, j, count, list, rate));
      count = 0;
    }
  }
done:
  return err;
}

static int push_columns(mbg_context *ctx, columns_job *j) {
  mbg__start_work *w = j->w;
  int err = MBG_OK;
  find_still(j);
  MBG_TRY(push_following(ctx, j, false));
  MBG_TRY(push_following(ctx, j, true));
  if (any_of(j, SOLVED)) {
    MBG_TRY(mbg__start_factors(ctx, w));
    j->x = mbg__alloc_zero(ctx, (size_t)(w->position.n > w->rate.n ? w->position.n : w->rate.n), PANEL * sizeof(real));
    if (!j->x) {
      return mbg__fail_memory(ctx);
    }
    MBG_TRY(push_solved(ctx, j, false));
    MBG_TRY(push_solved(ctx, j, true));
  }
done:
  mbg__free(ctx, j->x);
  return err;
}

/* with states, from a given state or with changes of the start: one parameter after the other */
static int push_each(mbg_context *ctx, mbg__start_work *w, const mbg__design_columns *columns, int np, real *da,
                     real *w0, real *v0) {
  const size_t nw = (size_t)w->m->nw;
  int err = MBG_OK;
  for (int p = 0; p < np && err == MBG_OK; p++) {
    mbg__design_column_lay(columns, p, da);
    err = mbg__start_push_column(ctx, w, p, da, w0 + (size_t)p * nw, v0 + (size_t)p * nw);
    mbg__design_column_clear(columns, p, da);
  }
  return err;
}

int mbg__start_push_all(mbg_context *ctx, mbg__start_work *w, const mbg__design_columns *columns, int np, real *da,
                        real *w0, real *v0) {
  columns_job j = {.w = w, .columns = columns, .np = np, .da = da, .w0 = w0, .v0 = v0};
  int err = MBG_OK;
  if (np == 0 || w->m->nstate > 0 || w->given || w->change_w) {
    return push_each(ctx, w, columns, np, da, w0, v0);
  }
  MBG_TRY(mbg__start_note_moving(ctx, w));
  j.kind = mbg__alloc_zero(ctx, (size_t)np, sizeof(*j.kind));
  err = j.kind ? push_columns(ctx, &j) : mbg__fail_memory(ctx);
done:
  mbg__free(ctx, j.kind);
  return err;
}

/* ---------------------------------------------------------------------- transposed */

enum { FOLLOWS_MOST = 32 }; /* columns of the guess that cost less than the factors of both systems */

/* does every column stay, or follow the guess? */
static int look_at_columns(mbg_context *ctx, columns_job *j, mbg__arena *arena, bool *yes) {
  const size_t nw = (size_t)j->w->m->nw;
  size_t moving = 0;
  int err = MBG_OK;
  find_still(j);
  for (int p = 0; p < j->np; p++) {
    j->place[p] = (int)moving;
    moving += j->kind[p] != STILL;
  }
  *yes = !any_of(j, SOLVED) && moving <= FOLLOWS_MOST;
  if (*yes) {
    j->w0 = MBG_TAKE(arena, real, moving * nw);
    j->v0 = MBG_TAKE(arena, real, moving * nw);
    MBG_TRY(mbg__arena_check(ctx, arena));
  }
  for (int rate = 0; *yes && rate < 2; rate++) {
    MBG_TRY(push_following(ctx, j, rate == 1));
    *yes = !any_of(j, SOLVED);
  }
done:
  return err;
}

static int find_followed(mbg_context *ctx, mbg__start_work *w, bool *yes) {
  const mbg__design *design = w->sys->design;
  const size_t np = (size_t)mbg__design_column_count(design);
  mbg__arena arena;
  mbg__design_columns columns;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  columns_job j = {.w = w, .columns = &columns, .np = (int)np, .da = MBG_TAKE(&arena, real, w->m->na)};
  j.place = MBG_TAKE(&arena, int, np);
  j.kind = mbg__arena_take(&arena, np, sizeof(*j.kind));
  MBG_TRY(mbg__design_columns_make(ctx, &arena, design, &columns)); /* checks the arena */
  MBG_TRY(look_at_columns(ctx, &j, &arena, yes));
done:
  mbg__arena_destroy(&arena);
  return err;
}

int mbg__start_follows_guess(mbg_context *ctx, mbg__start_work *w, bool *yes) {
  *yes = false;
  if (!w->sys->moved_only || w->keep_w || w->change_w || !may_follow(w)) {
    return MBG_OK;
  }
  if (!w->followed_known) {
    const int err = find_followed(ctx, w, &w->guess_followed);
    if (err < 0) {
      return err;
    }
    w->followed_known = true;
  }
  *yes = w->guess_followed;
  return MBG_OK;
}

void mbg__start_pull_guess(const mbg__start_work *w, const real *gw, const real *gv, real *ga) {
  for (int b = 0; b < w->m->nbody; b++) {
    const int off = w->m->bodies[b].voff;
    real g[6];
    for (int k = 0; k < 6; k++) {
      g[k] = w->m->dof[off + k] < 0 ? 0 : gv[off + k];
    }
    mbg__design_guess_pull(w->sys->design, b, gw + off, g, ga);
  }
}
