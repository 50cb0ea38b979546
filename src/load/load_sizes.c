/* Numbers far from the rest: millimetres for metres, grams for kilograms. */
#include "load/load.h"

#include <stdlib.h>
#include <string.h>

/* a length or a mass: the size of a vector or a number, with the attribute that is largest in it */
typedef struct {
  double size;
  int attribute;
} quantity;

typedef struct {
  const char *unit, *what, *suspicion;
} kind;

static int by_size(const void *a, const void *b) {
  const double x = ((const quantity *)a)->size, y = ((const quantity *)b)->size;
  return x > y ? -1 : x < y;
}

/* lengths that say how large the mechanism is: not offsets of sections, widths of stops and the like */
static bool is_length(const char *key) {
  static const char *const keys[] = {"position[", "at[", "points[", "com[", "length", "rest", "from[", "to["};
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    if (strncmp(key, keys[i], strlen(keys[i])) == 0) {
      return true;
    }
  }
  return false;
}

static bool counts(const mbg__attribute *a, const kind *k) {
  return strcmp(a->label->unit, k->unit) == 0 &&
         (k->unit[0] == 'm' ? is_length(a->label->key) : strcmp(a->label->key, "mass") == 0);
}

/* entries [0], [1], [2] of one vector follow each other */
static bool same_vector(const mbg__attribute *a, const mbg__attribute *b) {
  const char *end = strrchr(a->label->key, '[');
  return end && a->owner == b->owner && strncmp(a->label->key, b->label->key, (size_t)(end - a->label->key) + 1) == 0 &&
         end[1] != '2';
}

static int list_quantities(const mbg__loader *L, const kind *k, quantity *list) {
  int n = 0;
  for (int i = 0; i < L->attributes.count; i++) {
    const mbg__attribute *a = &L->attributes.at[i];
    if (!counts(a, k)) {
      continue;
    }
    quantity q = {fabs(mbg__value(L, i)), i};
    while (i + 1 < L->attributes.count && same_vector(&L->attributes.at[i], &L->attributes.at[i + 1])) {
      const double x = fabs(mbg__value(L, ++i));
      q = x > q.size ? (quantity){x, i} : q;
    }
    if (q.size > 0 && isfinite(q.size)) {
      list[n++] = q;
    }
  }
  return n;
}

/* How many of the largest stand apart from the rest? They are at most a quarter, far above the median, and there is a
   gap below them. */
static int stand_apart(const quantity *list, int n) {
  static const double far = 300, gap = 100;
  for (int count = 1; count <= n / 4; count++) {
    if (list[count - 1].size < far * list[(count + n) / 2].size) {
      return 0;
    }
    if (list[count - 1].size >= gap * list[count].size) {
      return count;
    }
  }
  return 0;
}

static int check_kind(mbg__loader *L, const kind *k) {
  enum { SHOWN = 3 };
  quantity *list = MBG_TAKE(&L->temp, quantity, L->attributes.count);
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  const int n = list_quantities(L, k, list);
  qsort(list, (size_t)n, sizeof(*list), by_size);
  const int apart = stand_apart(list, n);
  for (int i = 0; i < apart && i < SHOWN; i++) {
    const mbg__attribute *a = &L->attributes.at[list[i].attribute];
    const double median = list[(apart + n) / 2].size, x = mbg__value(L, list[i].attribute);
    char guess[80] = "a slip of the exponent?";
    if (list[i].size < 3e4 * median) {
      mbg__format(guess, sizeof(guess), "%s? then write %g", k->suspicion, x / 1000);
    }
    mbg__note(L->ctx, MBG_WARNING,
              "%s:%d:%d: %s: %s = %g %s is %.2g times as large as the other %s of the model (%g %s); %s",
              a->label->file, a->line, a->column, a->owner, a->label->key, x, k->unit, list[i].size / median, k->what,
              median, k->unit, guess);
  }
  return MBG_OK;
}

int mbg__load_sizes(mbg__loader *L) {
  static const kind kinds[] = {{"m", "lengths", "millimetres"}, {"kg", "masses", "grams"}};
  int err = MBG_OK;
  for (int i = 0; i < MBG_COUNT(kinds) && !L->again; i++) {
    MBG_TRY(check_kind(L, &kinds[i]));
  }
done:
  return err;
}
