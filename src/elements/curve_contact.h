/* What joints on curves share: psi = sum_c n_c(q) (x_c - r_c(s)) with a normal n(q) that turns with a second contact
   parameter. In the plane n = (cos q, sin q): psi is stationary where n is normal to the curve and the point lies on
   that normal, and its value is the distance from the curve. In space n = e_row + q t with the fixed triad
   (t, e_0, e_1) of the nearest sample: stationary where t.(x - r) = 0, and its value is e_row.(x - r). */
#ifndef MBG_ELEMENTS_CURVE_CONTACT_H
#define MBG_ELEMENTS_CURVE_CONTACT_H

#include "elements/joint_rows.h"

#define MBG__CURVE_KEY(which)                                                                                          \
  { .name = "curve", .kind = MBG__KEY_CURVE, .required = true, .help = (which) }
#define MBG__SIDE_KEY                                                                                                  \
  {                                                                                                                    \
    .name = "side", .kind = MBG__KEY_CHOICE, .choices = "right left",                                                  \
    .help =                                                                                                            \
        "side of the curve of A, seen along growing s, on which B is: right (preset; outside of a curve that runs "    \
        "counterclockwise) or left"                                                                                    \
  }

/* component c of the normal as a function of q, which is variable `var` */
static inline mbg__factor mbg__curve_normal(const mbg__contact_in *in, int var, int c) {
  const real q = in->y[var];
  if (in->spatial) {
    const double t = in->triad[c], e = in->triad[3 + 3 * in->row + c];
    return (mbg__factor){var, {e + q * t, t, 0, 0}};
  }
  const real C = r_cos(q), S = r_sin(q);
  return c == 0 ? (mbg__factor){var, {C, -S, -C, S}} : (mbg__factor){var, {S, C, -S, -C}};
}

/* entry i itself */
static inline mbg__factor mbg__curve_entry(const mbg__contact_in *in, int i) {
  return (mbg__factor){i, {in->y[i], 1, 0, 0}};
}

/* psi += n.x, x the `count` entries from `first` on */
static inline void mbg__curve_offset(const mbg__contact_in *in, int normal, int first, int count, mbg__form *form) {
  for (int c = 0; c < count; c++) {
    const mbg__factor product[2] = {mbg__curve_normal(in, normal, c), mbg__curve_entry(in, first + c)};
    mbg__form_add(form, 3, 1, 2, product);
  }
}

/* psi -= n_c u(s), the parameter s of the curve of A is variable `place` */
static inline void mbg__curve_less(const mbg__contact_in *in, int normal, int place, int c, const real u[4], int order,
                                   mbg__form *form) {
  const mbg__factor product[2] = {mbg__curve_normal(in, normal, c), {place, {u[0], u[1], u[2], u[3]}}};
  mbg__form_add(form, order, -1, 2, product);
}

/* what the tables of all of them say */
#define MBG__CURVE_KERNELS .base = base, .along = along, .nearest = nearest, .begin = begin
#define MBG__CURVE_JOINT                                                                                               \
  .axes = MBG__AXES_Z, .rows = rows, .nrow = MBG_COUNT(rows), .keys = keys, .nkey = MBG_COUNT(keys), .contact = &contact

/* q of the normal on a side of a planar curve, from its tangent */
static inline real mbg__curve_normal_angle(const real tangent[3], int side) {
  const double x = re(tangent[1]), y = -re(tangent[0]);
  return side == 0 ? atan2(y, x) : atan2(-y, -x);
}

/* the sample nearest to a point */
static inline int mbg__curve_nearest(const mbg__curve_samples *s, const real *x, int dim) {
  double least = INFINITY;
  int at = 0;
  for (int i = 0; i < s->count; i++) {
    double d = 0;
    for (int c = 0; c < dim; c++) {
      const double e = re(x[c]) - s->r[3 * i + c];
      d += e * e;
    }
    if (d < least) {
      least = d;
      at = i;
    }
  }
  return at;
}

#endif
