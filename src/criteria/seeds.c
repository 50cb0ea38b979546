/* Seeds at a node: derivatives of criteria by signals and times. */
#include "criteria/criteria.h"

real mbg__seeds_density(const mbg__seeds *s, int column, const real *y) {
  real sum = 0;
  for (int i = 0; i < s->ndensity; i++) {
    const mbg__density_seed *d = &s->density[i];
    if (d->column == column) {
      sum += d->sharpness > 0 ? d->weight * r_exp(d->sharpness * (y[d->place] - d->top)) / d->sum : d->weight;
    }
  }
  return sum;
}

real mbg__seeds_linear(const mbg__seeds *s, int column) {
  real sum = 0;
  for (int i = 0; i < s->ndensity; i++) {
    sum += s->density[i].column == column && !(s->density[i].sharpness > 0) ? s->density[i].weight : 0;
  }
  return sum;
}

/* the smooth maximum is (1/k) ln(S/T), and T is the sum of the weights */
real mbg__seeds_integrand(const mbg__seeds *s, const real *y, real T) {
  real sum = 0;
  for (int i = 0; i < s->ndensity; i++) {
    const mbg__density_seed *d = &s->density[i];
    const double k = d->sharpness;
    sum += d->weight * (k > 0 ? (r_exp(k * (y[d->place] - d->top)) / d->sum - 1 / T) / k : y[d->place]);
  }
  return sum;
}

real mbg__seeds_time(const mbg__seeds *s, int node) {
  real sum = 0;
  for (int i = 0; i < s->ntime; i++) {
    sum += s->time[i].node == node ? s->time[i].weight : 0;
  }
  return sum;
}

real mbg__seeds_point(const mbg__seeds *s, int node, int column) {
  int lo = 0, hi = s->npoint;
  real sum = 0;
  while (lo < hi) {
    const int mid = (lo + hi) / 2;
    if (s->point[mid].node < node) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  for (; lo < s->npoint && s->point[lo].node == node; lo++) {
    sum += s->point[lo].column == column ? s->point[lo].weight : 0;
  }
  return sum;
}
