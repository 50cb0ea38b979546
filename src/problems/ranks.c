#include "problems/ranks.h"

#include <stdint.h>
#include <string.h>

static int make_room(mbg__parcel *p, size_t size) {
  if (size <= p->room) {
    return MBG_OK;
  }
  char *more = mbg__resize(p->ctx, p->data, 2 * size, 1);
  if (!more) {
    return mbg__fail_memory(p->ctx);
  }
  p->data = more;
  p->room = 2 * size;
  return MBG_OK;
}

static void put(mbg__parcel *p, size_t size, const void *part) {
  p->failed = p->failed || make_room(p, p->size + size) < 0;
  if (!p->failed) {
    memcpy(p->data + p->size, part, size);
    p->size += size;
  }
}

static void take(mbg__parcel *p, size_t size, void *part) {
  p->failed = p->failed || size > p->size - p->at;
  if (!p->failed) {
    memcpy(part, p->data + p->at, size);
    p->at += size;
  }
}

void mbg__parcel_bytes(mbg__parcel *p, size_t size, void *part) {
  if (size > 0 && p->taking) {
    take(p, size, part);
  } else if (size > 0) {
    put(p, size, part);
  }
}

void mbg__parcel_numbers(mbg__parcel *p, size_t n, double *x) { mbg__parcel_bytes(p, n * sizeof(double), x); }

static int hand_out(const mbg_ranks *ranks, int from, size_t size, void *data, mbg_context *ctx) {
  return size == 0 || ranks->share(ranks->user, from, size, data) == 0
             ? MBG_OK
             : mbg__fail(ctx, MBG_ERROR_IO, "rank %d of %d is lost", from, ranks->count);
}

int mbg__parcel_share(const mbg_ranks *ranks, int from, mbg__parcel *p) {
  int err = MBG_OK;
  uint64_t size = p->failed ? UINT64_MAX : p->size;
  MBG_TRY(hand_out(ranks, from, sizeof(size), &size, p->ctx));
  if (size == UINT64_MAX) {
    return mbg__fail_memory(p->ctx);
  }
  MBG_TRY(make_room(p, (size_t)size));
  MBG_TRY(hand_out(ranks, from, (size_t)size, p->data, p->ctx));
  p->size = (size_t)size;
  p->at = 0;
  p->taking = true;
done:
  return err;
}

void mbg__parcel_clear(mbg__parcel *p) {
  p->size = p->at = 0;
  p->taking = p->failed = false;
}

void mbg__parcel_free(mbg__parcel *p) {
  mbg__free(p->ctx, p->data);
  *p = (mbg__parcel){.ctx = p->ctx};
}
