/* A hash map from a number to an index: open addressing, grows at half. */
#include "load/load_map.h"
#include "load/load.h"

struct mbg__index_map {
  int size, count;
  long long *key;
  int *value; /* -1: free */
};

static int slot_of(const mbg__index_map *map, long long key) {
  int i = (int)(((unsigned long long)key * 0x9e3779b97f4a7c15ULL >> 20) % (unsigned long long)map->size);
  while (map->value[i] >= 0 && map->key[i] != key) {
    i = i + 1 == map->size ? 0 : i + 1;
  }
  return i;
}

int mbg__map_find(const mbg__index_map *map, long long key) { return map ? map->value[slot_of(map, key)] : -1; }

static mbg__index_map *bigger(mbg__loader *L, const mbg__index_map *old) {
  mbg__index_map *map = MBG_TAKE(&L->temp, mbg__index_map, 1);
  if (!map) {
    return NULL;
  }
  map->size = old ? 2 * old->size : 64;
  map->count = old ? old->count : 0;
  map->key = MBG_TAKE(&L->temp, long long, map->size);
  map->value = MBG_TAKE(&L->temp, int, map->size);
  if (!map->key || !map->value) {
    return NULL;
  }
  for (int i = 0; i < map->size; i++) {
    map->value[i] = -1;
  }
  for (int i = 0; old && i < old->size; i++) {
    if (old->value[i] >= 0) {
      const int k = slot_of(map, old->key[i]);
      map->key[k] = old->key[i];
      map->value[k] = old->value[i];
    }
  }
  return map;
}

int mbg__map_set(mbg__loader *L, mbg__index_map **map, long long key, int value) {
  if (!*map || 2 * (*map)->count >= (*map)->size) {
    mbg__index_map *more = bigger(L, *map);
    if (!more) {
      return mbg__fail_memory(L->ctx);
    }
    *map = more;
  }
  const int i = slot_of(*map, key);
  (*map)->count += (*map)->value[i] < 0;
  (*map)->key[i] = key;
  (*map)->value[i] = value;
  return MBG_OK;
}
