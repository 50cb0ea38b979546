/* Rank of the constraints at the start (stage 2 of start.c), with a look at the configurations around it. */
#include "start/start_internal.h"

#include "start/lookahead.h"

#include <string.h>

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
  vn_zero(w->position.n, w->position.x);
  for (int j = 0; j < m->nv; j++) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    w->position.x[j] = sqrt(w->W[m->full[j]]) * ((double)(*seed >> 40) / (1 << 23) - 1);
  }
  mbg__klu_solve(w->position.saddle.klu, w->position.x, 1);
  const double length = mbg__start_step_length(w, w->position.x);
  vn_scale(m->nv, w->position.x, length > 1e-9 ? 0.4 / length : 0, w->position.x);
  return MBG_OK;
}

/* walks at random through assembled configurations and hands each to the lookahead; unreachable ones are left out */
static int wander(mbg_context *ctx, mbg__start_work *w, mbg__arena *arena, mbg__lookahead *look) {
  const mbg_model *m = w->m;
  const double span = isfinite(m->run.end) ? m->run.end - m->run.start : 0;
  uint64_t seed = 1;
  int err = MBG_OK;
  for (int k = 1; k <= LOOKAHEAD_STEPS; k++) {
    const int mark = mbg__message_mark(ctx);
    double largest = INFINITY;
    int worst;
    MBG_TRY(mbg__start_residuals(ctx, w, w->result.H, false, &largest, &worst));
    MBG_TRY(free_motion(ctx, w, &seed));
    memcpy(w->before, w->result.H, (size_t)m->nbody * sizeof(*w->before));
    mbg__system_retract(m, w->before, 1, w->position.x, w->result.H);
    w->result.t += mbg__model_in_time(m) ? span / 40 : 0;
    err = mbg__start_feasible(ctx, w, false, &largest, &worst);
    if (err == MBG_ERROR_MEMORY) {
      goto done;
    }
    if (err < 0 || !(largest <= MBG__FEASIBLE)) {
      mbg__message_rewind(ctx, mark);
      memcpy(w->result.H, w->before, (size_t)m->nbody * sizeof(*w->before));
      continue;
    }
    MBG_TRY(mbg__start_bare(ctx, w, w->result.H, NULL, NULL));
    MBG_TRY(mbg__lookahead_add(ctx, arena, look, w->sys));
  }
done:
  return err == MBG_ERROR_MEMORY ? err : MBG_OK;
}

/* chooses the rows to drop by the configurations around the start; the configuration itself stays */
static int look_ahead(mbg_context *ctx, mbg__start_work *w) {
  const size_t bytes = (size_t)w->m->nbody * sizeof(mbg__frame);
  const real t = w->result.t;
  const int iterations = w->result.iterations;
  mbg__arena scratch;
  mbg__lookahead *look;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  mbg__frame *kept = MBG_TAKE(&scratch, mbg__frame, w->m->nbody);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  memcpy(kept, w->result.H, bytes);
  MBG_TRY(mbg__lookahead_create(ctx, &scratch, w->m, w->result.rank, &look));
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
  MBG_TRY(mbg__start_residuals(ctx, w, w->result.H, true, &largest, &worst));
done:
  mbg__arena_destroy(&scratch);
  return err;
}

/* A decision that no row is dropped is made again, aside: as long as it comes out the same, the one that others refer
   to stays. */
static int confirm_rank(mbg_context *ctx, mbg__start_work *w) {
  mbg__arena scratch;
  mbg__rank *rank;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  const int err = mbg__rank_analyse(ctx, &scratch, w->sys, NULL, &rank);
  if (err == MBG_OK && rank->ndropped == 0 && (rank->smallest == 1) == (w->result.rank->smallest == 1)) {
    w->result.rank->smallest = rank->smallest;
    w->rank_stands = true;
  }
  mbg__arena_destroy(&scratch);
  return err;
}

bool mbg__start_rank_stands(const mbg__start_work *w) { return w->rank_stands; }

static void *copy(mbg__arena *arena, int count, size_t size, const void *list) {
  void *out = mbg__arena_take(arena, (size_t)count, size);
  if (out && count > 0) {
    memcpy(out, list, (size_t)count * size);
  }
  return out;
}

int mbg__start_take_rank(mbg_context *ctx, mbg__start_work *w, const mbg__rank *rank) {
  mbg__arena *arena = &w->rank_arena;
  const int nt = rank->ndropped > 0 ? rank->d_start[rank->ndropped] : 0;
  w->has_rank = false;
  mbg__arena_destroy(arena);
  mbg__rank *own = copy(arena, 1, sizeof(*rank), rank);
  if (own) {
    own->keep = copy(arena, rank->nrow, sizeof(*rank->keep), rank->keep);
    own->kept = copy(arena, rank->nkept, sizeof(*rank->kept), rank->kept);
    own->dropped = copy(arena, rank->ndropped, sizeof(*rank->dropped), rank->dropped);
    own->d_start = copy(arena, rank->ndropped > 0 ? rank->ndropped + 1 : 0, sizeof(*rank->d_start), rank->d_start);
    own->depends = copy(arena, nt, sizeof(*rank->depends), rank->depends);
    own->T = copy(arena, nt, sizeof(*rank->T), rank->T);
  }
  w->result.rank = own;
  const int err = mbg__arena_check(ctx, arena);
  w->has_rank = err == MBG_OK;
  return err;
}

int mbg__start_rank(mbg_context *ctx, mbg__start_work *w, bool fresh) {
  if (w->has_rank && !fresh) {
    return MBG_OK;
  }
  w->rank_stands = false;
  if (w->has_rank && w->result.rank->ndropped == 0) {
    const int err = confirm_rank(ctx, w);
    if (err < 0 || w->rank_stands) {
      return err;
    }
  }
  w->has_rank = false;
  mbg__arena_destroy(&w->rank_arena);
  const int err = mbg__rank_analyse(ctx, &w->rank_arena, w->sys, w->B, &w->result.rank);
  mbg__system_matrices(w->sys, &(mbg__matrices){.B = w->B});
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
  const int redundant = w->result.rank->ndropped;
  return redundant > 0 && redundant <= MBG__LOOKAHEAD_MAX ? look_ahead(ctx, w) : MBG_OK;
}
