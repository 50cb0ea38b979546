#include "import/names.h"

#include <string.h>

void mbg__names_init(mbg__names *names, mbg_context *ctx) { *names = (mbg__names){.ctx = ctx}; }

void mbg__names_destroy(mbg__names *names) {
  mbg__free(names->ctx, names->key);
  mbg__free(names->ctx, names->value);
  *names = (mbg__names){.ctx = names->ctx};
}

/* where the name is, or the free place where it belongs */
static int slot(const mbg__names *names, const char *name) {
  const int mask = names->capacity - 1;
  int i = (int)(mbg__sum(MBG__SUM_START, name, strlen(name)) & (uint64_t)mask);
  while (names->key[i] && strcmp(names->key[i], name) != 0) {
    i = (i + 1) & mask;
  }
  return i;
}

int mbg__names_find(const mbg__names *names, const char *name) {
  if (names->count == 0) {
    return -1;
  }
  const int i = slot(names, name);
  return names->key[i] ? names->value[i] : -1;
}

static bool grow(mbg__names *names) {
  const mbg__names old = *names;
  const int capacity = old.capacity > 0 ? 2 * old.capacity : 64;
  names->key = mbg__alloc_zero(old.ctx, (size_t)capacity, sizeof(*names->key));
  names->value = mbg__alloc_zero(old.ctx, (size_t)capacity, sizeof(*names->value));
  if (!names->key || !names->value) {
    mbg__free(old.ctx, names->key);
    mbg__free(old.ctx, names->value);
    *names = old;
    return false;
  }
  names->capacity = capacity;
  for (int i = 0; i < old.capacity; i++) {
    if (old.key[i]) {
      const int k = slot(names, old.key[i]);
      names->key[k] = old.key[i];
      names->value[k] = old.value[i];
    }
  }
  mbg__free(old.ctx, old.key);
  mbg__free(old.ctx, old.value);
  return true;
}

bool mbg__names_add(mbg__names *names, const char *name, int value) {
  if (2 * (names->count + 1) > names->capacity && !grow(names)) {
    return false;
  }
  const int i = slot(names, name);
  names->key[i] = name;
  names->value[i] = value;
  names->count++;
  return true;
}
