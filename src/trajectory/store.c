#include "trajectory/store.h"

#include <limits.h>
#include <string.h>

enum { PLACES_MIN = 3 };

double mbg__store_bytes(const mbg__store *s) { return (double)s->room * (double)s->bytes; }

bool mbg__store_complete(const mbg__store *s) { return s->stride == 1; }

/* ---------------------------------------------------------------------- memory */

static int resize(mbg_context *ctx, mbg__store *s, int room) {
  char *block = s->allocator.resize(s->allocator.user, s->block, (size_t)room * s->bytes + 1);
  s->block = block ? block : s->block;
  int *index = s->allocator.resize(s->allocator.user, s->index, (size_t)room * sizeof(int) + 1);
  s->index = index ? index : s->index;
  if (!block || !index) {
    return mbg__fail_memory(ctx);
  }
  s->room = room;
  return MBG_OK;
}

/* places that the limit allows, at least a handful */
static int places(const mbg__store *s, double part) {
  const double n = s->memory > 0 ? floor(part * s->memory / (double)s->bytes) : INT_MAX;
  return n < PLACES_MIN ? PLACES_MIN : (int)fmin(n, INT_MAX);
}

int mbg__store_create(mbg_context *ctx, size_t bytes, double memory, mbg__store_recompute recompute, void *user,
                      mbg__store *s) {
  *s = (mbg__store){.allocator = *mbg__context_allocator(ctx),
                    .recompute = recompute,
                    .user = user,
                    .bytes = (bytes + MBG__ALIGNMENT - 1) / MBG__ALIGNMENT * MBG__ALIGNMENT,
                    .memory = memory};
  for (int i = 0; i < MBG_COUNT(s->spare); i++) {
    s->spare[i] = mbg__alloc_zero(ctx, 1, s->bytes);
    if (!s->spare[i]) {
      return mbg__fail_memory(ctx);
    }
  }
  return MBG_OK;
}

void mbg__store_destroy(mbg__store *s) {
  void *all[] = {s->block, s->index, s->spare[0], s->spare[1], s->spare[2]};
  for (int i = 0; s->allocator.release && i < MBG_COUNT(all); i++) {
    s->allocator.release(s->allocator.user, all[i]);
  }
}

/* ---------------------------------------------------------------------- forward */

int mbg__store_begin(mbg_context *ctx, mbg__store *s, int nnode) {
  const int all = places(s, 1);
  s->count = s->used = 0;
  s->recomputed = 0;
  s->stride = 1;
  s->limit = places(s, 0.5);
  if (nnode == 0) {
    return MBG_OK;
  }
  if (nnode > all) {
    s->stride = (nnode - 1 + all / 2) / (all / 2);
  }
  const int room = nnode < all ? nnode : all;
  s->limit = room;
  return room == s->room ? MBG_OK : resize(ctx, s, room);
}

int mbg__store_expect(mbg_context *ctx, mbg__store *s, int nnode) {
  const int room = nnode < s->limit ? nnode : s->limit;
  return room <= s->room ? MBG_OK : resize(ctx, s, room);
}

static void keep(mbg__store *s, const void *node, int n) {
  s->index[s->used] = n;
  mbg__pool_copy(s->pool, MBG__LOOPS_STORE, s->bytes, mbg__store_place(s, s->used++), node);
}

/* every second checkpoint goes */
static void thin(mbg__store *s) {
  for (int i = 0; 2 * i < s->used; i++) {
    memmove(mbg__store_place(s, i), mbg__store_place(s, 2 * i), s->bytes);
    s->index[i] = s->index[2 * i];
  }
  s->used = (s->used + 1) / 2;
  s->stride *= 2;
}

int mbg__store_checkpoint(mbg_context *ctx, mbg__store *s, const void *node) {
  const int n = s->count++;
  int err = MBG_OK;
  if (s->used == s->limit) {
    thin(s);
  }
  if (n % s->stride != 0) {
    return MBG_OK;
  }
  if (s->used == s->room) {
    const int room = s->room < 32 ? 64 : s->room > INT_MAX / 2 ? INT_MAX : 2 * s->room;
    MBG_TRY(resize(ctx, s, room < s->limit ? room : s->limit));
  }
  keep(s, node, n);
done:
  return err;
}

int mbg__store_limit(mbg_context *ctx, mbg__store *s, double memory) {
  s->memory = memory;
  if (s->used <= places(s, 1) && s->room <= places(s, 1)) {
    return MBG_OK;
  }
  while (s->used > places(s, 0.5) && s->used > 1) {
    thin(s);
  }
  s->limit = places(s, 0.5);
  return resize(ctx, s, s->used > PLACES_MIN ? s->used : PLACES_MIN);
}

void mbg__store_forget(mbg__store *s) {
  if (s->used == 0 || s->room < 2) {
    return;
  }
  char *block = s->allocator.resize(s->allocator.user, s->block, s->bytes);
  s->block = block ? block : s->block;
  s->room = s->used = 1;
  s->stride = INT_MAX;
}

/* ---------------------------------------------------------------------- backward */

const void *mbg__store_first(const mbg__store *s) { return mbg__store_place(s, 0); }

/* Stack of checkpoints up to node n: nodes on the way are kept as the room allows, all of them, or evenly spaced ones
   when the stretch is too long. */
static int recompute(mbg_context *ctx, mbg__store *s, int n) {
  const int from = s->index[s->used - 1], room = s->room - s->used, gap = n - from, half = room > 1 ? room / 2 : 1;
  const int stride = gap <= room ? 1 : (gap + half - 1) / half;
  int err = MBG_OK, now = 0;
  memcpy(s->spare[now], mbg__store_place(s, s->used - 1), s->bytes);
  for (int k = from + 1; k <= n; k++, now = !now) {
    MBG_TRY(s->recompute(ctx, s->user, k, s->spare[now], s->spare[!now]));
    s->recomputed++;
    if ((n - k) % stride == 0 || k == n) {
      s->used -= s->used == s->room;
      keep(s, s->spare[!now], k);
    }
  }
done:
  return err;
}

int mbg__store_restore(mbg_context *ctx, mbg__store *s, int n, const void **node) {
  int err = MBG_OK;
  if (mbg__store_complete(s)) {
    *node = mbg__store_place(s, n);
    return MBG_OK;
  }
  if (s->room < places(s, 1)) {
    MBG_TRY(resize(ctx, s, places(s, 1)));
  }
  while (s->index[s->used - 1] > n) {
    s->used--;
  }
  if (s->index[s->used - 1] < n) {
    MBG_TRY(recompute(ctx, s, n));
  }
  *node = mbg__store_place(s, s->used - 1);
done:
  return err;
}

int mbg__store_restore_step(mbg_context *ctx, mbg__store *s, int n, const void **from, const void **to) {
  int err = MBG_OK;
  MBG_TRY(mbg__store_restore(ctx, s, n, to));
  if (!mbg__store_complete(s)) {
    *to = memcpy(s->spare[2], *to, s->bytes);
  }
  MBG_TRY(mbg__store_restore(ctx, s, n - 1, from));
done:
  return err;
}
