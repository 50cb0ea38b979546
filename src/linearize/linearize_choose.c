/* The choice of independent coordinates (theory 6, section 6): rows of unit length in the metric, on the motions that
   the constraints allow; those that the caller names first, then the first one whose rest is at least half of the
   largest rest, until all freedoms have a coordinate. First-order states of the model come after them. Rows on rates
   leave fewer rates: the same rule picks independent ones among the rates of the coordinates. */
#include "linearize/linearize.h"

#include <string.h>

static const double independent = 1e-6; /* smallest rest of a coordinate that the caller names */

typedef struct {
  mbg__linearize_work *k;
  mbg__arena arena;
  const mbg__rank *rank; /* the rows that hold */
  int f, own;            /* freedoms; those of bodies, without the places of states */
  double *c;             /* rows on the motions (ncandidate x f) */
  bool *taken;
} choice;

static double *row_of(const choice *s, int i) { return s->c + (size_t)i * (size_t)s->f; }

static double norm(int n, const double *x) { return sqrt(dot(n, x, x)); }

/* rows of all candidates on an orthonormal basis Z of the motions */
static int make_rows(choice *s) {
  mbg__linearize_work *k = s->k;
  const mbg_model *m = k->at.m;
  int err = MBG_OK;
  real *J = MBG_TAKE(&s->arena, real, m->nw);
  double *Z = MBG_TAKE(&s->arena, double, (size_t)m->nv *(size_t)s->f), *own = MBG_TAKE(&s->arena, double, m->nv);
  s->c = MBG_TAKE(&s->arena, double, (size_t)k->ncandidate *(size_t)s->f);
  s->taken = MBG_TAKE(&s->arena, bool, k->ncandidate);
  MBG_TRY(mbg__arena_check(k->ctx, &s->arena));
  const mbg__state state = mbg__linearize_state(k);
  MBG_TRY(mbg__system_update(k->ctx, k->at.sys, &state));
  MBG_TRY(mbg__system_linearize(k->ctx, k->at.sys));
  MBG_TRY(mbg__system_linearize_signals(k->ctx, k->at.sys));
  mbg__system_matrices(k->at.sys, &(mbg__matrices){.B = k->at.B});
  MBG_TRY(mbg__rank_motions(k->ctx, s->rank, k->at.sys, k->at.B, Z));
  for (int i = 0; i < k->ncandidate; i++) {
    double length = 0;
    mbg__q_row(k->at.sys, &k->candidates[i].q, J);
    for (int j = 0; j < m->nv; j++) {
      own[j] = re(J[m->full[j]]);
      length += own[j] * own[j] / k->at.W[j];
    }
    for (int c = 0; c < s->f; c++) {
      const double x = dot(m->nv, own, column(Z, m->nv, c));
      row_of(s, i)[c] = length > 0 && isfinite(length) ? x / sqrt(length) : 0;
    }
  }
done:
  return err;
}

/* a candidate's direction is removed from all others */
static void remove_direction(choice *s, int i) {
  const mbg__linearize_work *k = s->k;
  const double length = norm(s->f, row_of(s, i));
  double *e = row_of(s, i);
  s->taken[i] = true;
  for (int c = 0; c < s->f; c++) {
    e[c] /= length;
  }
  for (int j = 0; j < k->ncandidate; j++) {
    for (int pass = 0; pass < 2 && !s->taken[j]; pass++) {
      axpy(s->f, -dot(s->f, e, row_of(s, j)), e, row_of(s, j));
    }
  }
}

static void take(choice *s, int i) {
  mbg__linearize_work *k = s->k;
  k->condition = fmin(k->condition, norm(s->f, row_of(s, i)));
  k->chosen[k->spec.nq] = i;
  k->q[k->spec.nq++] = k->candidates[i].q;
  remove_direction(s, i);
}

static int find(const mbg__linearize_work *k, const char *name) {
  for (int i = 0; i < k->ncandidate; i++) {
    const mbg__candidate *c = &k->candidates[i];
    if (!strcmp(c->name, name) || (c->owner && !strcmp(c->owner, name))) {
      return i;
    }
  }
  return -1;
}

/* those that the caller wants */
static int take_named(choice *s) {
  mbg__linearize_work *k = s->k;
  for (int n = 0; n < k->opt.ncoordinate; n++) {
    const char *name = k->opt.coordinates[n];
    const int i = name ? find(k, name) : -1;
    if (i < 0) {
      return mbg__fail(k->ctx, MBG_ERROR_INPUT,
                       "there is no coordinate '%s'; coordinates are JOINT.angle, JOINT.slide, ..., BODY.x, BODY.y, "
                       "BODY.z, BODY.about_x, BODY.about_y and BODY.about_z",
                       name ? name : "");
    }
    if (k->spec.nq == s->own) {
      return mbg__fail(k->ctx, MBG_ERROR_INPUT, "coordinate '%s' is one too many: the model has %d degree%s of freedom",
                       name, s->own, s->own == 1 ? "" : "s");
    }
    if (s->taken[i] || norm(s->f, row_of(s, i)) < independent) {
      return mbg__fail(k->ctx, MBG_ERROR_INPUT,
                       "coordinate '%s' does not move, or follows from the coordinates named before it; name another "
                       "one",
                       name);
    }
    take(s, i);
  }
  return MBG_OK;
}

/* the first candidate whose rest is at least half of the largest, -1: all rests are 0 */
static int first_independent(const choice *s) {
  double most = 0;
  int i = 0;
  for (int j = 0; j < s->k->ncandidate; j++) {
    most = s->taken[j] ? most : fmax(most, norm(s->f, row_of(s, j)));
  }
  while (most > 1e-9 && (s->taken[i] || norm(s->f, row_of(s, i)) < 0.5 * most)) {
    i++;
  }
  return most > 1e-9 ? i : -1;
}

static int take_first(choice *s) {
  mbg__linearize_work *k = s->k;
  while (k->spec.nq < s->own) {
    const int i = first_independent(s);
    if (i < 0) {
      return mbg__fail(k->ctx, MBG_ERROR_SINGULAR,
                       "%d of %d degrees of freedom have a coordinate, the others have none", k->spec.nq, s->own);
    }
    take(s, i);
  }
  return MBG_OK;
}

/* states of the model follow, in the order of the file */
static void take_states(choice *s) {
  mbg__linearize_work *k = s->k;
  k->spec.nstate = k->given->nstate;
  for (int i = 0; i < k->given->nstate; i++) {
    const mbg__user_state *x = &k->given->states[i];
    k->q[k->spec.nq++] =
        (mbg__q){.kind = MBG__Q_STATE, .signal = -1, .body = x->body, .axis = x->component, .scale = x->scale};
  }
}

/* independent rates among those of the coordinates, on the motions that all rows allow */
static int choose_rates(choice *s) {
  mbg__linearize_work *k = s->k;
  const int places = mbg__linear_places(&k->spec);
  int err = MBG_OK;
  int *rate = MBG_TAKE(&k->arena, int, places);
  bool *free = MBG_TAKE(&s->arena, bool, k->ncandidate), *moves = MBG_TAKE(&s->arena, bool, places);
  MBG_TRY(mbg__arena_check(k->ctx, &k->arena));
  MBG_TRY(mbg__arena_check(k->ctx, &s->arena));
  MBG_TRY(make_rows(s));
  for (int i = 0; i < places; i++) {
    free[k->chosen[i]] = true;
  }
  for (int i = 0; i < k->ncandidate; i++) {
    s->taken[i] = !free[i];
  }
  for (int n = 0; n < s->own; n++) {
    const int i = first_independent(s);
    if (i < 0) {
      return mbg__fail(k->ctx, MBG_ERROR_SINGULAR, "%d of %d rates are independent, the others are not", n, s->own);
    }
    k->condition = fmin(k->condition, norm(s->f, row_of(s, i)));
    for (int c = 0; c < places; c++) {
      moves[c] = moves[c] || k->chosen[c] == i;
    }
    remove_direction(s, i);
  }
  k->spec.nrate = 0;
  for (int i = 0; i < places; i++) {
    if (moves[i]) {
      rate[k->spec.nrate++] = i;
    }
  }
  k->spec.rate = rate;
done:
  return err;
}

/* rows of `rank` hold; states of the model are no freedoms of bodies */
static void begin(choice *s, mbg__linearize_work *k, const mbg__rank *rank) {
  *s = (choice){.k = k, .rank = rank, .f = k->at.m->nv - rank->nkept};
  s->own = s->f - k->given->nstate;
  mbg__arena_init(&s->arena, mbg__context_allocator(k->ctx));
}

int mbg__linearize_choose(mbg__linearize_work *k) {
  const mbg__rank *all = k->at.result->rank, *positions = mbg__rank_positions(&k->arena, k->at.m, all);
  choice s, rates;
  int err = positions ? MBG_OK : mbg__fail_memory(k->ctx);
  if (err < 0) {
    return err;
  }
  begin(&s, k, positions);
  begin(&rates, k, all);
  k->q = MBG_TAKE(&k->arena, mbg__q, s.f);
  k->chosen = MBG_TAKE(&k->arena, int, s.f);
  k->condition = 1;
  MBG_TRY(mbg__arena_check(k->ctx, &k->arena));
  k->spec.q = k->q;
  k->spec.nq = 0;
  k->spec.rate = NULL;
  MBG_TRY(make_rows(&s));
  MBG_TRY(take_named(&s));
  MBG_TRY(take_first(&s));
  take_states(&s);
  if (mbg__model_has_rates(k->at.m)) {
    MBG_TRY(choose_rates(&rates));
  }
done:
  mbg__arena_destroy(&rates.arena);
  mbg__arena_destroy(&s.arena);
  return err;
}
