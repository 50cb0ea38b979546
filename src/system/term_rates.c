#include "system/term_rates.h"

/* coefficients and entries of a term on a pair */
typedef struct {
  mbg__rate_jet jet;
  int n; /* entries */
  real e1[3][6], e2[3][6], e1v[3];
} rates;

static real scale_of(const mbg__term *t, const mbg__term_in *in) {
  return t->sign * (t->factor >= 0 ? in->attr[t->factor] : 1);
}

static void scale(mbg__rate_jet *j, real c) {
  for (int i = 0; i < 6; i++) {
    j->n[i] *= c;
    for (int k = 0; k < MBG__NR; k++) {
      j->n_z[i][k] *= c;
      for (int l = 0; l < MBG__NR; l++) {
        j->n_zz[i][k][l] *= c;
      }
    }
  }
}

static void coefficients(const mbg__term *t, const mbg__term_in *in, real c, rates *r) {
  real z[MBG__NR];
  int n = 0;
  *r = (rates){.n = t->nentry};
  if (t->rate >= MBG__RATE_U1) {
    r->jet.n[t->rate - MBG__RATE_U1] = c;
    return;
  }
  for (int i = 0; i < t->nentry; i++) {
    z[n++] = mbg__entry_value(in->G, t->entry[i]);
    mbg__entry_slopes(in->G, in->v, t->entry[i], r->e1[i], r->e2[i]);
    r->e1v[i] = v6_dot(r->e1[i], in->v);
  }
  for (int i = 0; i < t->nattr; i++) {
    z[n++] = in->attr[t->attr[i]];
  }
  t->coefficients(z, &r->jet);
  scale(&r->jet, c);
}

/* sum_j x_j d n_j / d z_i, and its derivative by z_k */
static real slope(const mbg__rate_jet *j, const real x[6], int i) {
  real sum = 0;
  for (int l = 0; l < 6; l++) {
    sum += j->n_z[l][i] * x[l];
  }
  return sum;
}

static real second(const mbg__rate_jet *j, const real x[6], int i, int k) {
  real sum = 0;
  for (int l = 0; l < 6; l++) {
    sum += j->n_zz[l][i][k] * x[l];
  }
  return sum;
}

static void gradients(const rates *r, const real v[6], const real vd[6], mbg__term_gradient *g) {
  *g = (mbg__term_gradient){0};
  for (int i = 0; i < r->n; i++) {
    const real m = slope(&r->jet, v, i);
    real turn = 0;
    for (int k = 0; k < r->n; k++) {
      turn += second(&r->jet, v, i, k) * r->e1v[k];
    }
    v6_axpy(g->phid_G, m, r->e1[i]);
    v6_axpy(g->gamma_G, turn, r->e1[i]);
    v6_axpy(g->gamma_G, m, r->e2[i]);
    v6_axpy(g->gamma_v, m, r->e1[i]);
    v6_axpy(g->bvd_G, slope(&r->jet, vd, i), r->e1[i]);
    for (int j = 0; j < 6; j++) {
      g->gamma_v[j] += r->jet.n_z[j][i] * r->e1v[i];
      v6_axpy(g->L + 6 * j, r->jet.n_z[j][i], r->e1[i]);
    }
  }
}

void mbg__rate_term_eval(const mbg__term *t, const mbg__term_in *in, mbg__term_value *value, mbg__term_gradient *g) {
  static const real zero[6] = {0};
  const real c = scale_of(t, in);
  rates r;
  *value = (mbg__term_value){0};
  if (t->rate == MBG__RATE_LAW) {
    value->phid = -c * (in->law ? in->law[0] : 1);
    value->gamma = in->law ? -c * in->law[1] : 0;
    if (g) {
      *g = (mbg__term_gradient){0};
    }
    return;
  }
  coefficients(t, in, c, &r);
  v6_copy(value->b, r.jet.n);
  value->phid = v6_dot(r.jet.n, in->v);
  for (int i = 0; i < r.n; i++) {
    value->gamma += slope(&r.jet, in->v, i) * r.e1v[i];
  }
  if (g) {
    gradients(&r, in->v, in->vd ? in->vd : zero, g);
  }
}

/* by input a of the coefficients */
static void by_input(const rates *r, const mbg__term_in *in, int a, mbg__term_attr *out) {
  out->phi = 0;
  out->phid = slope(&r->jet, in->v, a);
  out->phidd = in->vd ? slope(&r->jet, in->vd, a) : 0;
  for (int j = 0; j < 6; j++) {
    out->b[j] = r->jet.n_z[j][a];
  }
  for (int i = 0; i < r->n; i++) {
    out->phidd += second(&r->jet, in->v, i, a) * r->e1v[i];
  }
}

/* by the factor: the term without it */
static void by_factor(const mbg__term *t, const mbg__term_in *in, mbg__term_attr *out) {
  mbg__term plain = *t;
  mbg__term_value value;
  plain.factor = -1;
  mbg__rate_term_eval(&plain, in, &value, NULL);
  *out = (mbg__term_attr){.attr = t->factor, .phid = value.phid, .phidd = value.gamma};
  v6_copy(out->b, value.b);
  out->phidd += in->vd ? v6_dot(value.b, in->vd) : 0;
}

int mbg__rate_term_attributes(const mbg__term *t, const mbg__term_in *in, int nact, const int *law_act,
                              const real (*law_jact)[3], mbg__term_attr *out) {
  const real c = scale_of(t, in);
  int count = 0;
  for (int i = 0; i < nact; i++) {
    out[count++] = (mbg__term_attr){.attr = law_act[i], .phid = -c * law_jact[i][0], .phidd = -c * law_jact[i][1]};
  }
  if (t->nattr > 0) {
    rates r;
    coefficients(t, in, c, &r);
    for (int i = 0; i < t->nattr; i++) {
      out[count].attr = t->attr[i];
      by_input(&r, in, t->nentry + i, &out[count++]);
    }
  }
  if (t->factor >= 0) {
    by_factor(t, in, &out[count++]);
  }
  return count;
}
