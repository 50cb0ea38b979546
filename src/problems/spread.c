#include "problems/spread.h"

#include <math.h>

/* Additive recurrence of the generalized golden ratio: x_k = frac(offset + k / phi^(j+1)), phi^(n+1) = phi + 1; points
   fill the box evenly whatever their number. */
double mbg__spread(int n, int k, int j, unsigned seed) {
  double phi = 2;
  for (int i = 0; i < 60; i++) {
    phi = pow(1 + phi, 1.0 / (n + 1));
  }
  unsigned h = (seed * 2654435761u) ^ ((unsigned)j * 40503u + 977u);
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return fmod(h / 4294967296.0 + k * pow(phi, -(j + 1)), 1);
}
