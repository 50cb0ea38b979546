/* Sections and axes of beams and of modal bodies that are generated beams. */
#include "model/modal_beam.h"
#include "view/view_internal.h"

#include <math.h>

/* edges or diameters of the section: rectangle (y, z), circle and tube (d, d), others by area and inertia */
void mbg__scene_section(const mbg__scene *s, const mbg__beam_rule *rule, const int *attr, double out[2]) {
  const real *a = s->design->attr;
  const int *z = attr + MBG__BEAM_SECTION;
  if (rule->section == MBG__RECTANGLE) {
    out[0] = re(a[z[0]]);
    out[1] = re(a[z[1]]);
  } else if (rule->section == MBG__GENERAL) { /* A, I2, I3: the rectangle of the same radii of gyration */
    const double A = fmax(re(a[z[0]]), 1e-300);
    out[0] = sqrt(12 * fmax(0, re(a[z[2]])) / A);
    out[1] = sqrt(12 * fmax(0, re(a[z[1]])) / A);
  } else {
    out[0] = out[1] = re(a[z[0]]);
  }
}

void mbg__scene_station(const mbg__scene *s, const mbg__modal *o, double xi, double r[3], double *P) {
  const double L = re(s->design->attr[o->beam->length]);
  const real at[3] = {o->sign[0] * xi * L, 0, 0};
  const int last = o->beam->count - 1, e = (int)(xi * o->beam->count);
  for (int i = 0; i < 3; i++) {
    r[i] = re(at[i]);
  }
  for (int j = 0; j < o->n; j++) {
    real column[6], by_r[3][6], by_L[6];
    mbg__modal_beam_column(o->beam, j, e < last ? e : last, at, L, o->sign, column, by_r, by_L);
    for (int i = 0; i < 6; i++) {
      P[6 * j + i] = re(column[i]);
    }
  }
}
