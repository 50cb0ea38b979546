/* A topological order that keeps the order of the file where it can: depth first, without recursion. */
#include "load/load.h"

#include <string.h>

enum { NEW, OPEN, DONE };

/* dep: lists of the items that each item depends on, in compressed form. *cycle: an item on a cycle, or -1; next[] then
   leads along it. */
static int sort(mbg__loader *L, int n, const int *start, const int *dep, int *order, int *cycle, int *next) {
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

/* reports a cycle and marks its symbols bad */
static int report_cycle(mbg__loader *L, mbg__symbol *const *symbols, int cycle, const int *next, const char *what) {
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

static int list_dependences(mbg__loader *L, mbg__symbol *const *symbols, int n, mbg__dependences *of, int **start,
                            int **dep) {
  int total = 0, k = 0;
  for (int i = 0; i < n; i++) {
    total += of(L, i, NULL);
  }
  *start = MBG_TAKE(&L->temp, int, n + 1);
  *dep = MBG_TAKE(&L->temp, int, total);
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < n; i++) {
    (*start)[i] = k;
    k += symbols[i]->bad ? 0 : of(L, i, *dep + k);
  }
  (*start)[n] = k;
  return MBG_OK;
}

int mbg__load_order(mbg__loader *L, mbg__symbol *const *symbols, int n, mbg__dependences *of, const char *what,
                    int **order) {
  int err = MBG_OK;
  int *next = MBG_TAKE(&L->temp, int, n);
  *order = MBG_TAKE(&L->temp, int, n);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  for (int cycle = 0; cycle >= 0;) {
    int *start, *dep;
    MBG_TRY(list_dependences(L, symbols, n, of, &start, &dep));
    MBG_TRY(sort(L, n, start, dep, *order, &cycle, next));
    if (cycle >= 0) {
      MBG_TRY(report_cycle(L, symbols, cycle, next, what));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- signals and criteria among inputs */

int mbg__load_references(const mbg__input *input, int n, int *list) {
  int count = 0;
  for (int k = 0; k < n; k++) {
    if (input[k].role != MBG__ROLE_SIGNAL) {
      continue;
    }
    if (list) {
      list[count] = input[k].index;
    }
    count++;
  }
  return count;
}

void mbg__load_renumber(const mbg__input *input, int n, const int *place) {
  mbg__input *own = (mbg__input *)input; /* made by the loader, not shared yet */
  for (int k = 0; k < n; k++) {
    if (own[k].role == MBG__ROLE_SIGNAL) {
      own[k].index = place[own[k].index];
    }
  }
}
