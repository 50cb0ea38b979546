#include "base/base.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mbg__format(char *buffer, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(buffer, size, format, args);
  va_end(args);
}

enum { WORD_MAX = 63 };

/* edit distance with transpositions of neighbours (optimal string alignment) */
static int edit_distance(const char *a, const char *b) {
  const int na = (int)strlen(a), nb = (int)strlen(b);
  if (na > WORD_MAX || nb > WORD_MAX) {
    return INT_MAX;
  }
  int d[3][WORD_MAX + 1];
  for (int j = 0; j <= nb; j++) {
    d[0][j] = j;
  }
  for (int i = 1; i <= na; i++) {
    int *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int best = up[j - 1] + (a[i - 1] != b[j - 1]);
      best = up[j] + 1 < best ? up[j] + 1 : best;
      best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best) {
        best = up2[j - 2] + 1;
      }
      row[j] = best;
    }
  }
  return d[na % 3][nb];
}

const char *mbg__nearest(const char *word, const char *const *candidates, int count) {
  const int limit = ((int)strlen(word) + 2) / 3;
  const char *best = NULL;
  int best_distance = limit + 1;
  for (int i = 0; i < count; i++) {
    const int d = edit_distance(word, candidates[i]);
    if (d < best_distance) {
      best_distance = d;
      best = candidates[i];
    }
  }
  return best;
}

double mbg__time_shown(double t) { return fabs(t) < 1e-12 ? 0 : t; }

int mbg__split(char *text, const char **word, int most) {
  int n = 0;
  for (char *c = text; *c && n < most;) {
    word[n++] = c;
    while (*c && *c != ' ') {
      c++;
    }
    if (*c) {
      *c++ = 0;
    }
  }
  return n;
}

void mbg__known(char *buffer, size_t size, const char *word, const char *const *candidates, int count) {
  const char *near = mbg__nearest(word, candidates, count);
  mbg__format(buffer, size, "%s%s%s (known: ", near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  for (int i = 0; i < count; i++) {
    const size_t used = strlen(buffer);
    mbg__format(buffer + used, size - used, "%s%s", candidates[i], i + 1 < count ? ", " : ")");
  }
}

/* ---------------------------------------------------------------------- sums */

uint64_t mbg__sum(uint64_t sum, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) {
    sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
  }
  return sum;
}
