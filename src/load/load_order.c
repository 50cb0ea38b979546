/* A topological order that keeps the order of the file where it can: depth first, without recursion. */
#include "load/load.h"

#include <string.h>

enum { NEW, OPEN, DONE };

int mbg__load_order(mbg__loader *L, int n, const int *start, const int *dep, int *order, int *cycle, int *next) {
  int *state = MBG_TAKE(&L->temp, int, n), *at = MBG_TAKE(&L->temp, int, n), *stack = MBG_TAKE(&L->temp, int, n);
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  int done = 0;
  *cycle = -1;
  for (int first = 0; first < n; first++) {
    int depth = 0;
    if (state[first] == NEW) {
      stack[depth++] = first;
      state[first] = OPEN;
      at[first] = start[first];
    }
    while (depth > 0) {
      const int i = stack[depth - 1];
      if (at[i] == start[i + 1]) {
        state[i] = DONE;
        order[done++] = i;
        depth--;
        continue;
      }
      const int d = dep[at[i]++];
      next[i] = d;
      if (state[d] == OPEN) {
        *cycle = d;
        return MBG_OK;
      }
      if (state[d] == NEW) {
        state[d] = OPEN;
        at[d] = start[d];
        stack[depth++] = d;
      }
    }
  }
  return MBG_OK;
}

int mbg__load_cycle(mbg__loader *L, mbg__symbol *const *symbols, int cycle, const int *next, const char *what) {
  char text[512];
  mbg__item item;
  mbg__format(text, sizeof(text), "%s", symbols[cycle]->name);
  for (int i = next[cycle], more = 1; more; i = next[i]) {
    const size_t used = strlen(text);
    mbg__format(text + used, sizeof(text) - used, " -> %s", symbols[i]->name);
    symbols[i]->bad = true;
    more = i != cycle;
  }
  const int err = mbg__item_open(L, symbols[cycle], &item);
  return err < 0 ? err : mbg__item_bad_key(&item, item.json, "%s depend on each other: %s", what, text);
}
