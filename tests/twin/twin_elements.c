#include "twin/twin_elements.h"
#include "elements/inertia.h"
#include "elements/lists.h"
#include "elements/strand_kernels.h"
#include "model/types.h"
#include "unit/elements/fn_bench.h"

#include <string.h>

_Static_assert(sizeof(mbg__jet3) == TWIN_JET * sizeof(real), "the jet is one array");

/* const mbg__FAMILY_type *find_FAMILY(key), or NULL */
#define FIND(family)                                                                                                   \
  static const mbg__##family##_type *find_##family(const char *key) {                                                  \
    int count;                                                                                                         \
    const mbg__##family##_type *const *types = mbg__##family##_types(&count);                                          \
    for (int i = 0; i < count; i++) {                                                                                  \
      if (strcmp(types[i]->key, key) == 0) {                                                                           \
        return types[i];                                                                                               \
      }                                                                                                                \
    }                                                                                                                  \
    return NULL;                                                                                                       \
  }

FIND(coord)
FIND(joint)
FIND(law)
FIND(force)
FIND(signal)
FIND(body)

static mbg__frame load(const real G[12]) {
  mbg__frame out;
  vn_copy(9, out.R, G);
  vn_copy(3, out.x, G + 9);
  return out;
}

/* ---------------------------------------------------------------------- rows */

static int run_kernel(mbg__row_kernel kernel, const real *z, int turns, int order, real jet[TWIN_JET]) {
  mbg__jet3 out = {0};
  if (!kernel) {
    return 1;
  }
  kernel(z, turns, order, &out);
  memcpy(jet, &out, sizeof out);
  return 0;
}

int twin_coord(const char *key, twin_coord_kernel kernel, const real *z, int turns, int order, real jet[TWIN_JET]) {
  const mbg__coord_type *type = find_coord(key);
  if (!type) {
    return 1;
  }
  const mbg__row_kernel kernels[] = {type->value, type->driver, type->branch};
  return run_kernel(kernels[kernel], z, turns, order, jet);
}

int twin_strand(int kernel, const real *z, int quarters, int order, real jet[TWIN_JET]) {
  static const mbg__row_kernel kernels[] = {mbg__strand_bearing, mbg__strand_angle, mbg__strand_out, mbg__strand_back};
  return run_kernel(kernels[kernel], z, quarters, order, jet);
}

static const mbg__row_spec *find_row(const char *key, int row, int part) {
  const mbg__joint_type *type = find_joint(key);
  const mbg__row_spec *spec = type && row < type->nrow ? &type->rows[row] : NULL;
  return spec && part > 0 ? spec->plus : spec;
}

int twin_joint_row(const char *key, int row, int part, const real *z, int turns, int order, real jet[TWIN_JET]) {
  const mbg__row_spec *spec = find_row(key, row, part);
  return spec ? run_kernel(spec->kernel, z, turns, order, jet) : 1;
}

int twin_rate_row(const char *key, int row, int part, const real *z, real jet[TWIN_RATES]) {
  const mbg__row_spec *spec = find_row(key, row, part);
  mbg__rate_jet out = {0};
  if (!spec || !spec->coefficients) {
    return 1;
  }
  spec->coefficients(z, &out);
  _Static_assert(sizeof(out) == TWIN_RATES * sizeof(real), "the whole jet");
  memcpy(jet, &out, sizeof(out));
  return 0;
}

/* ---------------------------------------------------------------------- forces */

int twin_law(const char *key, real q, real qd, const real *attr, const int *opt, const real *fn, real *tau,
             real *energy) {
  const mbg__law_type *type = find_law(key);
  const mbg__law_in in = {.q = q, .qd = qd, .attr = attr, .opt = opt, .fn = fn};
  mbg__law_out out = {0};
  if (!type) {
    return 1;
  }
  type->eval(&in, &out);
  *tau = out.tau;
  *energy = out.energy;
  return 0;
}

int twin_force(const char *key, const real G[12], const real v[6], double t, const real *attr, const int *opt, int nfn,
               const char *const *texts, int first, bool measure, real f[6], real *energy) {
  const mbg__force_type *type = find_force(key);
  if (!type || (measure && !type->measure)) {
    return 1;
  }
  fn_bench bench;
  fn_bench_make(&bench, nfn, texts, attr, first, t);
  const mbg__frame frame = load(G);
  const mbg__force_in in = {.G = &frame, .v = v, .t = t, .attr = attr, .opt = opt, .fn = &bench.env};
  mbg__force_out out = {0};
  const int err = measure ? type->measure(&in, &out) : type->eval(&in, &out);
  v6_copy(f, out.f);
  *energy = out.energy;
  fn_bench_destroy(&bench);
  return err;
}

/* ---------------------------------------------------------------------- signals, bodies */

int twin_signal(const char *key, const real G[12], const real v[6], const real vd[6], const int *opt, const real *attr,
                real *y) {
  const mbg__signal_type *type = find_signal(key);
  const mbg__frame frame = load(G);
  const mbg__signal_in in = {.G = &frame, .v = v, .vd = vd, .opt = opt, .attr = attr};
  mbg__signal_out out = {0};
  if (!type || !type->eval) {
    return 1;
  }
  type->eval(&in, &out);
  *y = out.y;
  return 0;
}

int twin_body(const char *key, const real *attr, const int *opt, real M[36]) {
  const mbg__body_type *type = find_body(key);
  if (!type) {
    return 1;
  }
  type->inertia(attr, opt, M, NULL);
  return 0;
}

void twin_inertia(const real M[36], const real R[9], const real v[6], const real vd[6], const real g[3], real r[6]) {
  mbg__inertia_residual(M, R, v, vd, g, r);
}
