#include "system/axle.h"

#include <string.h>

/* a body is a rotor when the inertia about its axle outweighs everything that turns with it */
static const double eccentric = 0.01, asymmetric = 0.1, off_line = 1e-9;

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = a[j] * b[k] - a[k] * b[j];
  }
}

static bool small(const double x[3], double size) {
  return fabs(x[0]) <= size && fabs(x[1]) <= size && fabs(x[2]) <= size;
}

bool mbg__axle_has(const mbg__design *design, int marker, const mbg__axle *l) {
  const mbg__frame *h = &design->markers[marker]->h;
  const double x[3] = {re(h->x[0]), re(h->x[1]), re(h->x[2])};
  double gap[3];
  cross(x, l->d, gap); /* arm of the body's origin */
  return small(gap, off_line * design->model->size);
}

static void read_axle(const mbg__design *design, int marker, mbg__axle *l) {
  const mbg__frame *h = &design->markers[marker]->h;
  const double d[3] = {re(h->R[2]), re(h->R[5]), re(h->R[8])};
  double tilt[3];
  if (!l->any) {
    memcpy(l->d, d, sizeof d);
    l->any = true;
  }
  cross(d, l->d, tilt);
  l->unfit = l->unfit || !small(tilt, off_line) || !mbg__axle_has(design, marker, l);
}

void mbg__axles_find(const mbg__design *design, mbg__axle *axles) {
  const mbg_model *m = design->model;
  for (int i = 0; i < m->njoint; i++) {
    const mbg__pair *p = &m->pairs[m->joints[i].pair];
    const char *type = m->joints[i].type->key;
    const bool turns = !strcmp(type, "revolute") || !strcmp(type, "cylindrical");
    for (int side = 0; side < 2; side++) {
      const int marker = side ? p->B : p->A, body = m->markers[marker].body;
      if (body >= 0) {
        axles[body].unfit = axles[body].unfit || !turns;
        read_axle(design, marker, &axles[body]);
      }
    }
  }
}

/* products of the moments of inertia about the origin with two directions */
static double moment(const real *M, const double x[3], const double y[3]) {
  double J = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      J += x[i] * re(M[6 * (3 + i) + 3 + j]) * y[j];
    }
  }
  return J;
}

/* two directions across d */
static void across(const double d[3], double a[3], double b[3]) {
  const int k = fabs(d[0]) < fabs(d[1]) ? (fabs(d[0]) < fabs(d[2]) ? 0 : 2) : (fabs(d[1]) < fabs(d[2]) ? 1 : 2);
  const double size = sqrt(1 - d[k] * d[k]);
  for (int i = 0; i < 3; i++) {
    a[i] = ((i == k) - d[k] * d[i]) / size;
  }
  cross(d, a, b);
}

bool mbg__axle_balanced(const real M[36], const double d[3], bool planar) {
  const double mass = re(M[0]), mc[3] = {re(M[6 * 5 + 1]), re(M[6 * 3 + 2]), re(M[6 * 4])}, J = moment(M, d, d);
  double a[3], b[3], square = 0, along = 0;
  across(d, a, b);
  for (int i = 0; i < 3; i++) {
    along += mc[i] * d[i];
    square += mc[i] * mc[i];
  }
  const bool centred = square - along * along <= eccentric * J * mass;
  const bool round = hypot(moment(M, a, a) - moment(M, b, b), 2 * moment(M, a, b)) <= asymmetric * J &&
                     hypot(moment(M, a, d), moment(M, b, d)) <= asymmetric * J;
  return J > 0 && mass > 0 && centred && (planar || round);
}
