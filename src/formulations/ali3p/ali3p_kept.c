/* Factors of the projections, kept by a run for the passes over its steps: as many steps as the limit of memory leaves
   room for beside the nodes, from the first on. A step that is not kept is factorized again, with the same bits. */
#include "formulations/ali3p/ali3p_work.h"

static const double MOST = 64e6; /* bytes without a limit of memory */

/* before every copy: whether there is one */
enum { HEAD = 16 };

static char *slot(const mbg__ali3p *a, int i) { return a->kept.block + (size_t)i * a->kept.bytes; }

void mbg__ali3p_kept_clear(mbg__ali3p *a) {
  a->arena.allocator.release(a->arena.allocator.user, a->kept.block);
  a->kept = (mbg__ali3p_kept){0};
}

/* after the first factorization of a run: the room of all its steps, so that none of them asks for memory */
void mbg__ali3p_kept_begin(mbg__ali3p *a) {
  mbg__ali3p_kept *k = &a->kept;
  const size_t bytes = HEAD + (mbg__klu_bytes(a->mass.klu) + 15) / 16 * 16;
  const double most = floor(fmin(MOST, mbg__march_left(a->march)) / (double)bytes);
  const int steps = mbg__march_steps(a->march), room = most < steps ? (int)most : steps;
  k->count = 0;
  k->on = a->nrow > 0 && !a->oblique && !a->events && room > 0; /* events try steps */
  if (k->on && (room != k->room || bytes != k->bytes)) {
    mbg__ali3p_kept_clear(a);
    k->block = a->arena.allocator.resize(a->arena.allocator.user, NULL, (size_t)room * bytes);
    k->on = k->block != NULL;
    k->room = k->on ? room : 0;
    k->bytes = bytes;
  }
  if (!k->on) {
    mbg__ali3p_kept_clear(a);
  }
  a->counts->bytes += (double)k->room * (double)k->bytes;
}

void mbg__ali3p_kept_add(mbg__ali3p *a) {
  mbg__ali3p_kept *k = &a->kept;
  if (k->on && k->count < k->room) {
    char *at = slot(a, k->count++);
    *(bool *)at = mbg__klu_keep(a->mass.klu, at + HEAD);
  }
}

void mbg__ali3p_kept_end(mbg__ali3p *a) { a->kept.on = false; }

int mbg__ali3p_factor_again(mbg_context *ctx, mbg__ali3p *a, int i, const mbg__ali3p_node *n) {
  const char *at = i > 0 && i <= a->kept.count ? slot(a, i - 1) : NULL;
  if (at && *(const bool *)at) {
    mbg__klu_recall(a->mass.klu, at + HEAD);
    return MBG_OK;
  }
  return mbg__ali3p_factor_mass(ctx, a, n, false);
}
