/* Pairs of numbers to indices (load_map.c). */
#ifndef MBG_LOAD_MAP_H
#define MBG_LOAD_MAP_H

typedef struct mbg__loader mbg__loader;
typedef struct mbg__index_map mbg__index_map;
/* The value stored under a key, or -1. */
int mbg__map_find(const mbg__index_map *map, long long key);
/* Stores it; map NULL at first. */
int mbg__map_set(mbg__loader *L, mbg__index_map **map, long long key, int value);

#endif
