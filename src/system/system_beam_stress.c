/* The stress of all elements of a beam in one number: a norm of high order over the outer fibres f of all elements,

     y = (sum_f sigma_f^p)^(1/p)     p = 100     largest |sigma_f| <= y <= n^(1/p) largest |sigma_f|

   which is smooth where another fibre takes the lead, and never below the largest stress. Fibres of an element:

     rectangle      corners         sigma = E (eps_1 +- z eps_5 +- y eps_6)        y = width/2, z = height/2
     circle, tube   most bent       sigma = E (eps_1 +- r sqrt(eps_5^2 + eps_6^2))           r = diameter/2
     general        given points    as corners, with y and z of the signal                (theory 4, section 3) */
#include "system/system_beams.h"

enum { ORDER = 100, FIBRES = 4 };

/* stresses of the fibres of an element, their derivatives by the strains and by the two lengths */
typedef struct {
  int n;
  real E, sigma[FIBRES], q[FIBRES][6], by_y[FIBRES], by_z[FIBRES];
  int y, z; /* attributes of twice the lengths (factor 1/2) or of themselves; -1: none */
  double factor;
} fibres;

static void corners(fibres *f, const real strain[6], real y, real z) {
  for (int k = 0; k < 4; k++) {
    const int sy = k & 1 ? -1 : 1, sz = k & 2 ? -1 : 1;
    if ((sy < 0 && re(y) == 0) || (sz < 0 && re(z) == 0)) {
      continue; /* the same fibre again */
    }
    real *q = f->q[f->n];
    v6_zero(q);
    q[0] = f->E;
    q[4] = sz * f->E * z;
    q[5] = -sy * f->E * y;
    f->by_y[f->n] = -sy * f->E * strain[5];
    f->by_z[f->n] = sz * f->E * strain[4];
    f->sigma[f->n++] = v6_dot(q, strain);
  }
}

static void circle(fibres *f, const real strain[6], real r) {
  const real bent = r_sqrt(strain[4] * strain[4] + strain[5] * strain[5]);
  for (int k = 0; k < 2; k++) {
    const int sign = k ? -1 : 1;
    real *q = f->q[k];
    v6_zero(q);
    q[0] = f->E;
    if (re(bent) > 0) { /* at 0 the two fibres share their weight, and the sum of their derivatives is 0 */
      q[4] = sign * f->E * r * strain[4] / bent;
      q[5] = sign * f->E * r * strain[5] / bent;
    }
    f->by_y[k] = sign * f->E * bent;
    f->by_z[k] = 0;
    f->sigma[k] = f->E * (strain[0] + sign * r * bent);
  }
  f->n = 2;
}

static void fibres_of(const mbg__system *s, const mbg__signal *sig, const mbg__element *b, fibres *f) {
  const real *attr = s->design->attr;
  const int *number = b->e->attr;
  real strain[6];
  v6_scale(strain, 1 / b->shape->L, b->state->e);
  *f = (fibres){.E = attr[number[MBG__BEAM_E]], .y = number[MBG__BEAM_SECTION], .z = -1, .factor = 0.5};
  switch (s->model->beams[b->e->beam].rule.section) {
  case MBG__RECTANGLE:
    f->z = number[MBG__BEAM_SECTION + 1];
    corners(f, strain, attr[f->y] / 2, attr[f->z] / 2);
    return;
  case MBG__CIRCLE:
  case MBG__TUBE:
    circle(f, strain, attr[f->y] / 2);
    return;
  case MBG__GENERAL:
    f->y = sig->attr;
    f->z = sig->attr + 1;
    f->factor = 1;
    corners(f, strain, attr[f->y], attr[f->z]);
    return;
  }
}

/* the largest |sigma| of a beam and the number of its element */
static double largest(const mbg__system *s, const mbg__signal *sig, int *element) {
  const mbg__beam *beam = &s->model->beams[sig->beam];
  double most = 0;
  *element = 0;
  for (int i = 0; i < beam->count; i++) {
    const mbg__element b = element_of(s, beam->first + i);
    fibres f;
    fibres_of(s, sig, &b, &f);
    for (int k = 0; k < f.n; k++) {
      if (fabs(re(f.sigma[k])) > most) {
        most = fabs(re(f.sigma[k]));
        *element = i;
      }
    }
  }
  return most;
}

static real power(real x, int n) {
  real y = 1;
  for (; n > 0; n /= 2, x *= x) {
    y = n % 2 ? y * x : y;
  }
  return y;
}

/* sum of (sigma/most)^p */
static real sum_of(const mbg__system *s, const mbg__signal *sig, double most) {
  const mbg__beam *beam = &s->model->beams[sig->beam];
  real sum = 0;
  for (int i = 0; i < beam->count; i++) {
    const mbg__element b = element_of(s, beam->first + i);
    fibres f;
    fibres_of(s, sig, &b, &f);
    for (int k = 0; k < f.n; k++) {
      sum += power(f.sigma[k] / most, ORDER);
    }
  }
  return sum;
}

real mbg__beam_stress(const mbg__system *s, const mbg__signal *sig) {
  int element;
  const double most = largest(s, sig, &element);
  mbg__beam_watch *w = &s->beam_watch[sig->beam];
  if (most > w->stress) {
    w->stress = most;
    w->stressed = element;
    w->stressed_when = re(s->t);
  }
  return most > 0 ? most * r_pow(sum_of(s, sig, most), 1.0 / ORDER) : 0;
}

static void element_pull(const mbg__system *s, const mbg__element *b, const fibres *f, const real weight[FIBRES],
                         const mbg__cotangent *g) {
  const real L = b->shape->L;
  const vec6 zero = {0};
  vec6 w;
  real q[6] = {0}, gc[MBG__BEAM_COEFS] = {0}, gd0[6] = {0}, y = 0, gy = 0, gz = 0;
  for (int k = 0; k < f->n; k++) {
    v6_axpy(q, weight[k], f->q[k]);
    y += weight[k] * f->sigma[k];
    gy += weight[k] * f->by_y[k];
    gz += weight[k] * f->by_z[k];
  }
  /* sigma = q.e/L:  by G: T^-T q/L;  by d0: -q/L - sigma d0_U/L^2 */
  m6_mulv_T(w, b->state->Ti, q);
  v6_scale(w, 1 / L, w);
  v6_axpy(gd0, -1 / L, q);
  v3_axpy(gd0, -y / (L * L), b->shape->d0);
  if (g->a) {
    g->a[b->e->attr[MBG__BEAM_E]] += y / f->E;
    g->a[f->y] += f->factor * gy;
    if (f->z >= 0) {
      g->a[f->z] += f->factor * gz;
    }
  }
  mbg__kin_pair_pull(s, b->e->pair, w, zero, NULL, g);
  mbg__element_attributes_pull(b, gc, gd0, g->a);
}

void mbg__beam_stress_pull(const mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g) {
  const mbg__beam *beam = &s->model->beams[sig->beam];
  int element;
  const double most = largest(s, sig, &element);
  if (!(most > 0)) {
    return; /* no stress anywhere: a corner of the norm, as |x| has one at 0 */
  }
  const real scale = c * r_pow(sum_of(s, sig, most), 1.0 / ORDER - 1);
  for (int i = 0; i < beam->count; i++) {
    const mbg__element b = element_of(s, beam->first + i);
    fibres f;
    real weight[FIBRES] = {0};
    bool any = false;
    fibres_of(s, sig, &b, &f);
    for (int k = 0; k < f.n; k++) {
      weight[k] = scale * power(f.sigma[k] / most, ORDER - 1);
      any = any || weight[k] != 0;
    }
    if (any) {
      element_pull(s, &b, &f, weight, g);
    }
  }
}
