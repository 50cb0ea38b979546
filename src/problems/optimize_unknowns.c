/* Unknowns of the optimizer and parameters of the model: scales, logarithms, filters. */
#include "problems/optimize.h"

#include <stdlib.h>
#include <string.h>

/* p_i = sum_j w_ij u_j / sum_j w_ij, or the transposed product */
static void smooth(const mbg__filter *f, const double *in, double *out, bool transposed) {
  const int reach = (int)ceil(f->radius) - 1;
  memset(out, 0, (size_t)f->count * sizeof(double));
  for (int i = 0; i < f->count; i++) {
    const int from = i > reach ? i - reach : 0, to = i + reach < f->count ? i + reach : f->count - 1;
    double sum = 0;
    for (int j = from; j <= to; j++) {
      sum += f->radius - abs(i - j);
    }
    for (int j = from; j <= to; j++) {
      const double w = (f->radius - abs(i - j)) / sum;
      if (transposed) {
        out[j] += w * in[i];
      } else {
        out[i] += w * in[j];
      }
    }
  }
}

void mbg__optimize_parameters_of(const mbg_optimize *opt, const double *x, double *unknowns, double *p) {
  memcpy(p, opt->p0, (size_t)opt->np * sizeof(double));
  for (int i = 0; i < opt->n; i++) {
    const double u = opt->offset[i] + opt->span[i] * x[i];
    unknowns[i] = opt->log[i] ? exp(u) : u;
    p[opt->parameter[i].index] = unknowns[i];
  }
  for (int k = 0; k < opt->nfilter; k++) {
    const mbg__filter *f = &opt->filter[k];
    smooth(f, unknowns + f->first, p + opt->parameter[f->first].index, false);
  }
}

void mbg__optimize_parameters_at(mbg_optimize *opt, const double *x) {
  mbg__optimize_parameters_of(opt, x, opt->u, opt->p);
  for (int i = 0; i < opt->n; i++) {
    opt->chain[i] = opt->log[i] ? opt->u[i] * opt->span[i] : opt->span[i];
  }
}

void mbg__optimize_push(const mbg_optimize *opt, const double *d, double *by_u, double *along) {
  memset(along, 0, (size_t)opt->np * sizeof(double));
  for (int i = 0; i < opt->n; i++) {
    by_u[i] = opt->chain[i] * d[i];
    along[opt->parameter[i].index] = by_u[i];
  }
  for (int k = 0; k < opt->nfilter; k++) {
    const mbg__filter *f = &opt->filter[k];
    smooth(f, by_u + f->first, along + opt->parameter[f->first].index, false);
  }
}

void mbg__optimize_pull(const mbg_optimize *opt, const double *by_p, double *by_u, double factor, double *by_x) {
  for (int i = 0; i < opt->n; i++) {
    by_u[i] = by_p[opt->parameter[i].index];
  }
  for (int k = 0; k < opt->nfilter; k++) {
    const mbg__filter *f = &opt->filter[k];
    smooth(f, by_p + opt->parameter[f->first].index, by_u + f->first, true);
  }
  for (int i = 0; i < opt->n; i++) {
    by_x[i] += factor * opt->chain[i] * by_u[i];
  }
}
