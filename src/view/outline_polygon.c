/* Lines with fewer points, and triangles of polygons: ears are cut off until three corners are left. */
#include "view/outline.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- fewer points */

static double distance_to(const double p[3], const double a[3], const double b[3]) {
  double along = 0, length2 = 0, off = 0;
  for (int k = 0; k < 3; k++) {
    along += (p[k] - a[k]) * (b[k] - a[k]);
    length2 += (b[k] - a[k]) * (b[k] - a[k]);
  }
  const double part = length2 > 0 ? fmin(1, fmax(0, along / length2)) : 0;
  for (int k = 0; k < 3; k++) {
    const double d = p[k] - a[k] - part * (b[k] - a[k]);
    off += d * d;
  }
  return sqrt(off);
}

/* all points between i and j (which may be n: the first again) are near to the line between them */
static bool is_straight(int n, const double (*at)[3], int i, int j, double off) {
  for (int k = i + 1; k < j; k++) {
    if (distance_to(at[k], at[i], at[j % n]) > off) {
      return false;
    }
  }
  return true;
}

int mbg__outline_thin(int n, double (*at)[3], bool closed, double off) {
  const int end = closed ? n : n - 1;
  int kept = 0;
  for (int i = 0; i < end;) {
    int j = i + 1;
    while (j < end && is_straight(n, (const double(*)[3])at, i, j + 1, off)) {
      j++;
    }
    memmove(at[kept++], at[i], sizeof(*at));
    i = j;
  }
  if (!closed && n > 0) {
    memmove(at[kept++], at[n - 1], sizeof(*at));
  }
  return kept;
}

/* ---------------------------------------------------------------------- polygons */

static double turn(const double a[3], const double b[3], const double c[3]) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

double mbg__polygon_area(int n, const double (*at)[3]) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += turn(at[0], at[i], at[(i + 1) % n]) / 2;
  }
  return sum;
}

bool mbg__polygon_has(int n, const double (*at)[3], const double p[2]) {
  bool inside = false;
  for (int i = 0, j = n - 1; i < n; j = i++) {
    const double *a = at[i], *b = at[j];
    if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < (b[0] - a[0]) * (p[1] - a[1]) / (b[1] - a[1]) + a[0]) {
      inside = !inside;
    }
  }
  return inside;
}

/* b, behind a and before c, can be cut off: convex, and no other corner in the triangle */
static bool is_ear(const double (*at)[3], const int *next, int a, int b, int c) {
  if (!(turn(at[a], at[b], at[c]) > 0)) {
    return false;
  }
  for (int k = next[c]; k != a; k = next[k]) {
    if (turn(at[a], at[b], at[k]) >= 0 && turn(at[b], at[c], at[k]) >= 0 && turn(at[c], at[a], at[k]) >= 0) {
      return false;
    }
  }
  return true;
}

int mbg__polygon_triangles(int n, const double (*at)[3], int *next, int (*corners)[3]) {
  int left = n, count = 0, a = 0, tried = 0;
  for (int i = 0; i < n; i++) {
    next[i] = (i + 1) % n;
  }
  while (left > 3 && tried <= left) {
    const int b = next[a], c = next[b];
    if (is_ear(at, next, a, b, c)) {
      memcpy(corners[count++], (const int[3]){a, b, c}, sizeof(*corners));
      next[a] = c;
      left--;
      tried = 0;
    }
    a = next[a];
    tried++;
  }
  if (left == 3) {
    memcpy(corners[count++], (const int[3]){a, next[a], next[next[a]]}, sizeof(*corners));
  }
  return count;
}
