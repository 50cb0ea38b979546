#include "base/base.h"
#include "base/clear.h"

#include <string.h>

enum { CHUNK_BYTES = 1 << 12, LONG_BYTES = 1 << 16 };

struct mbg__chunk {
  struct mbg__chunk *next;
  size_t size, used; /* of data */
  max_align_t data[];
};

/* ---------------------------------------------------------------------- blocks */

void *mbg__resize(mbg_context *ctx, void *block, size_t count, size_t size) {
  if (size && count > SIZE_MAX / 2 / size) {
    return NULL;
  }
  const mbg_allocator *a = mbg__context_allocator(ctx);
  const size_t bytes = count * size;
  return a->resize(a->user, block, bytes ? bytes : 1);
}

void *mbg__alloc(mbg_context *ctx, size_t count, size_t size) { return mbg__resize(ctx, NULL, count, size); }

void *mbg__alloc_zero(mbg_context *ctx, size_t count, size_t size) {
  if (size && count > SIZE_MAX / 2 / size) {
    return NULL;
  }
  const size_t bytes = count * size;
  return mbg__allocator_clear(mbg__context_allocator(ctx), bytes ? bytes : 1);
}

void mbg__free(mbg_context *ctx, void *block) {
  const mbg_allocator *a = mbg__context_allocator(ctx);
  if (block) {
    a->release(a->user, block);
  }
}

/* ---------------------------------------------------------------------- arena */

void mbg__arena_init(mbg__arena *arena, const mbg_allocator *allocator) {
  *arena = (mbg__arena){.allocator = *allocator};
}

void mbg__arena_destroy(mbg__arena *arena) {
  struct mbg__chunk *chunk = arena->head;
  while (chunk) {
    struct mbg__chunk *next = chunk->next;
    arena->allocator.release(arena->allocator.user, chunk);
    chunk = next;
  }
  arena->head = NULL;
  arena->bytes = 0;
  arena->failed = false;
}

static struct mbg__chunk *grow(mbg__arena *arena, size_t bytes) {
  /* chunks double with the arena, so that the number of chunks stays small */
  size_t size = CHUNK_BYTES;
  if (size < arena->bytes) {
    size = arena->bytes;
  }
  if (size < bytes) {
    size = bytes;
  }
  struct mbg__chunk *chunk = mbg__allocator_clear(&arena->allocator, sizeof(*chunk) + size);
  if (!chunk) {
    return NULL;
  }
  *chunk = (struct mbg__chunk){arena->head, size, 0};
  arena->head = chunk;
  arena->bytes += sizeof(*chunk) + size;
  return chunk;
}

void *mbg__arena_take(mbg__arena *arena, size_t count, size_t size) {
  arena->failed |= size && count > SIZE_MAX / 4 / size;
  if (arena->failed) {
    return NULL;
  }
  const size_t unit = MBG__ALIGNMENT;
  const size_t bytes = (count * size + unit - 1) / unit * unit;
  struct mbg__chunk *chunk = arena->head;
  if (!chunk || chunk->size - chunk->used < bytes) {
    chunk = grow(arena, bytes);
    if (!chunk) {
      arena->failed = true;
      return NULL;
    }
  }
  void *block = (char *)chunk->data + chunk->used;
  chunk->used += bytes;
  return block;
}

/* a chunk of its own behind the open one */
void *mbg__arena_take_raw(mbg__arena *arena, size_t count, size_t size) {
  if (arena->failed || !arena->head || (size && count > SIZE_MAX / 4 / size) || count * size < LONG_BYTES) {
    return mbg__arena_take(arena, count, size);
  }
  const size_t bytes = count * size;
  struct mbg__chunk *chunk = arena->allocator.resize(arena->allocator.user, NULL, sizeof(*chunk) + bytes);
  if (!chunk) {
    arena->failed = true;
    return NULL;
  }
  *chunk = (struct mbg__chunk){arena->head->next, bytes, bytes};
  arena->head->next = chunk;
  return chunk->data;
}

char *mbg__arena_text(mbg__arena *arena, const char *text, size_t length) {
  char *copy = mbg__arena_take(arena, length + 1, 1);
  if (copy) {
    memcpy(copy, text, length);
    copy[length] = 0;
  }
  return copy;
}

int mbg__arena_check(mbg_context *ctx, const mbg__arena *arena) {
  return arena->failed ? mbg__fail_memory(ctx) : MBG_OK;
}
