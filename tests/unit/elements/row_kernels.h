/* Derivatives of a row kernel against the complex step of itself in the twin. */
#ifndef UNIT_ELEMENTS_ROW_KERNELS_H
#define UNIT_ELEMENTS_ROW_KERNELS_H

#include "unit/elements/elements.h"

/* where F, F_z, F_zz, F_zzz begin in the jet taken as one array */
static const int jet_start[] = {0, 1, 5, 21, TWIN_JET};

/* The kernel in the twin: fills the jet at z, returns not 0 when there is none. */
typedef int (*twin_kernel)(const void *which, const double _Complex *z, int turns, int order,
                           double _Complex jet[TWIN_JET]);

/* F_z by complex step of F, F_zz of F_z, F_zzz of F_zz; derivatives by inputs beyond nz must be 0. */
static inline void compare_jets(report *r, const char *label, mbg__row_kernel kernel, twin_kernel twin,
                                const void *which, int nz, const double *z, int turns) {
  static const char *const names[] = {"F_z", "F_zz", "F_zzz"};
  mbg__jet3 jet = {0};
  double a[TWIN_JET], b[TWIN_JET] = {0};
  kernel(z, turns, 3, &jet);
  memcpy(a, &jet, sizeof a);
  for (int j = 0; j < nz; j++) {
    double _Complex zj[MBG__NZ], out[TWIN_JET];
    vector_step(nz, z, j, zj);
    assert_int_equal(twin(which, zj, turns, 2, out), 0);
    for (int k = 0; k < jet_start[3]; k++) {
      const int level = k >= jet_start[2] ? 2 : k >= jet_start[1] ? 1 : 0;
      b[jet_start[level + 1] + MBG__NZ * (k - jet_start[level]) + j] = twin_derivative(out[k]);
    }
  }
  for (int level = 1; level <= 3; level++) {
    const int start = jet_start[level];
    report_compare(r, label, names[level - 1], jet_start[level + 1] - start, a + start, b + start);
  }
}

/* A lower order gives the same numbers and leaves higher derivatives alone. */
static inline void assert_orders(mbg__row_kernel kernel, const double *z, int turns) {
  mbg__jet3 all = {0};
  double a[TWIN_JET];
  kernel(z, turns, 3, &all);
  memcpy(a, &all, sizeof a);
  for (int order = 0; order < 3; order++) {
    mbg__jet3 jet = {0};
    double b[TWIN_JET];
    kernel(z, turns, order, &jet);
    memcpy(b, &jet, sizeof b);
    for (int k = 0; k < TWIN_JET; k++) {
      assert_true(b[k] == (k < jet_start[order + 1] ? a[k] : 0));
    }
  }
}

#endif
