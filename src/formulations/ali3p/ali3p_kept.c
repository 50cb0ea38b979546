/* Factors of a run's steps, kept for the passes over them: as many steps as the limit of memory leaves room for beside
   the nodes, from the first on. What is not kept is made again, with the same bits: the projections by their matrix at
   the node, Newton's matrix by the step itself. */
#include "formulations/ali3p/ali3p_work.h"

static const double MOST = 64e6; /* bytes of each kind without a limit of memory */

/* before every copy: whether there is one */
enum { HEAD = 16 };

/* places beyond the steps of the grid, for nodes of events */
enum { MORE = 16 };

static char *slot(const mbg__ali3p_kept *k, int i) { return k->block + (size_t)i * k->bytes; }

static void clear(mbg__ali3p *a, mbg__ali3p_kept *k) {
  a->arena.allocator.release(a->arena.allocator.user, k->block);
  *k = (mbg__ali3p_kept){0};
}

void mbg__ali3p_kept_clear(mbg__ali3p *a) {
  clear(a, &a->kept);
  clear(a, &a->kept_step);
  clear(a, &a->aside);
}

static size_t slot_of(size_t bytes) { return HEAD + (bytes + 15) / 16 * 16; }

static size_t slot_bytes(const mbg__tree_matrix *x) { return slot_of(mbg__tree_matrix_bytes(x)); }

/* the room of `room` steps, so that none of them asks for memory */
static void take_room(mbg__ali3p *a, mbg__ali3p_kept *k, int room, size_t bytes) {
  k->count = 0;
  k->on = room > 0;
  if (k->on && (room != k->room || bytes != k->bytes)) {
    clear(a, k);
    k->block = a->arena.allocator.resize(a->arena.allocator.user, NULL, (size_t)room * bytes);
    k->on = k->block != NULL;
    k->room = k->on ? room : 0;
    k->bytes = bytes;
  }
  if (!k->on) {
    clear(a, k);
  }
  a->counts->bytes += (double)k->room * (double)k->bytes;
}

/* two more nodes for each event that there is room for */
static int places(const mbg__ali3p *a) {
  const int steps = mbg__march_planned(a->march);
  return a->events && steps > 0 ? steps + steps / 8 + MORE : steps;
}

static int room_for(const mbg__ali3p *a, double left, size_t bytes) {
  const double most = floor(fmax(0, left) / (double)bytes);
  const int steps = places(a);
  return most < steps ? (int)most : steps;
}

/* after the first factorization of a run */
void mbg__ali3p_kept_begin(mbg__ali3p *a) {
  const size_t bytes = slot_bytes(&a->mass);
  const bool on = a->nrow > 0 && !a->oblique;
  take_room(a, &a->kept, on ? room_for(a, fmin(MOST, mbg__march_left(a->march)), bytes) : 0, bytes);
  a->kept_step.on = a->kept_step.wanted = false;
  a->kept_step.pending = true;
}

static void add(mbg__ali3p_kept *k, const mbg__tree_matrix *x, bool good) {
  if (k->on && k->count < k->room) {
    char *at = slot(k, k->count++);
    *(bool *)at = good && mbg__tree_matrix_keep(x, at + HEAD);
  }
}

/* after the first step, which chooses pivots. Whether passes use Newton's factors depends on the run, not on the limit
   of memory. */
static void begin_step(mbg__ali3p *a) {
  mbg__ali3p_kept *k = &a->kept_step;
  const size_t bytes = slot_bytes(&a->step);
  const double used = (double)a->kept.room * (double)a->kept.bytes, left = mbg__march_left(a->march) - used;
  const bool wanted = !MBG__TWIN && !a->penalty && !a->oblique && !a->rates && places(a) > 0 &&
                      (double)slot_of(mbg__tree_matrix_bytes(&a->step) / MBG__SAMPLES) * places(a) <= MOST;
  take_room(a, k, wanted ? room_for(a, left, bytes) : 0, bytes);
  k->wanted = wanted;
  k->pending = false;
}

void mbg__ali3p_kept_add(mbg__ali3p *a, bool step) {
  if (a->kept_step.pending && step) {
    begin_step(a);
  }
  add(&a->kept, &a->mass, step);
  add(&a->kept_step, &a->step, step && !a->softened);
}

void mbg__ali3p_kept_end(mbg__ali3p *a) { a->kept.on = a->kept_step.on = a->kept_step.pending = false; }

static bool kept(const mbg__ali3p_kept *k, int i) { return i < k->count && *(const bool *)slot(k, i); }

int mbg__ali3p_factor_others(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n, bool penalty,
                             mbg__answers held) {
  mbg__ali3p_kept *k = &a->aside;
  const size_t bytes = slot_bytes(&a->step);
  int err = MBG_OK;
  if (MBG__SAMPLES == 1 || !r_some(held)) {
    return mbg__ali3p_factor_step(ctx, a, n, penalty);
  }
  if (k->bytes != bytes) {
    take_room(a, k, 2, bytes);
  }
  k->count = 0;
  add(k, &a->step, true);
  MBG_TRY(mbg__ali3p_factor_step(ctx, a, n, penalty));
  add(k, &a->step, true);
  if (!kept(k, 0) || !kept(k, 1)) {
    r_diverge_all();
    return MBG_OK;
  }
  real *to = (real *)(void *)(slot(k, 1) + HEAD);
  const real *last = (const real *)(const void *)(slot(k, 0) + HEAD);
  for (size_t i = 0; i < mbg__tree_matrix_bytes(&a->step) / sizeof(real); i++) {
    to[i] = r_where(held, last[i], to[i]);
  }
  mbg__tree_matrix_recall(&a->step, to);
done:
  return err;
}

static bool recall(const mbg__ali3p_kept *k, int i, mbg__tree_matrix *x) {
  if (i < 1 || !kept(k, i - 1)) {
    return false;
  }
  mbg__tree_matrix_recall(x, slot(k, i - 1) + HEAD);
  return true;
}

int mbg__ali3p_factor_again(mbg_context *ctx, mbg__ali3p *a, int i, const mbg__ali3p_node *n) {
  return recall(&a->kept, i, &a->mass) ? MBG_OK : mbg__ali3p_factor_mass(ctx, a, n, false);
}

int mbg__ali3p_newton_factors(mbg_context *ctx, mbg__ali3p *a, int i, double h, void *scratch, bool *near) {
  const void *block;
  int err = MBG_OK;
  *near = a->kept_step.wanted;
  if (!*near || recall(&a->kept_step, i, &a->step)) {
    return MBG_OK;
  }
  MBG_TRY(mbg__march_restore(ctx, a->march, i - 1, &block));
  MBG_TRY(mbg__ali3p_solve(ctx, a, block, h, scratch));
  *near = !a->softened;
done:
  return err;
}
