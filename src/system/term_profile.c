#include "system/term_profile.h"

#include "system/term_rates.h"

#include <string.h>

enum { W = 6 };

/* f, its derivatives along the twist v, along W directions, and along one of these and v */
typedef struct {
  real f, v, w[W], wv[W];
} dual;

/* ---------------------------------------------------------------------- arithmetic */

static dual constant(real f) { return (dual){.f = f}; }

static dual sum(real a, const dual *x, real b, const dual *y) {
  dual out = {.f = a * x->f + b * y->f, .v = a * x->v + b * y->v};
  for (int i = 0; i < W; i++) {
    out.w[i] = a * x->w[i] + b * y->w[i];
    out.wv[i] = a * x->wv[i] + b * y->wv[i];
  }
  return out;
}

static dual product(const dual *x, const dual *y) {
  dual out = {.f = x->f * y->f, .v = x->v * y->f + x->f * y->v};
  for (int i = 0; i < W; i++) {
    out.w[i] = x->w[i] * y->f + x->f * y->w[i];
    out.wv[i] = x->wv[i] * y->f + x->w[i] * y->v + x->v * y->w[i] + x->f * y->wv[i];
  }
  return out;
}

/* g(x) with g, g', g'' there */
static dual function(const dual *x, real g0, real g1, real g2) {
  dual out = {.f = g0, .v = g1 * x->v};
  for (int i = 0; i < W; i++) {
    out.w[i] = g1 * x->w[i];
    out.wv[i] = g1 * x->wv[i] + g2 * x->w[i] * x->v;
  }
  return out;
}

static dual inverse_root(const dual *x) {
  const real g = 1 / r_sqrt(x->f);
  return function(x, g, -g / (2 * x->f), 3 * g / (4 * x->f * x->f));
}

static dual dot(const dual x[3], const dual y[3]) {
  dual out = product(&x[0], &y[0]);
  for (int k = 1; k < 3; k++) {
    const dual p = product(&x[k], &y[k]);
    out = sum(1, &out, 1, &p);
  }
  return out;
}

static void cross(const dual x[3], const dual y[3], dual out[3]) {
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const dual a = product(&x[i], &y[j]), b = product(&x[j], &y[i]);
    out[k] = sum(1, &a, -1, &b);
  }
}

static void stretch(const dual *c, const dual x[3], dual out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = product(c, &x[k]);
  }
}

/* ---------------------------------------------------------------------- the contact */

/* what the rows are made of; attributes take the place of the directions from `first` on, or (-1) none do */
typedef struct {
  const mbg__contact_jet *contact;
  int first, n; /* equations */
  dual R[9], x[3], r, rho;
  dual s[3];           /* place on the profile, angle on the wheel */
  dual f, f1, f2;      /* height and slopes there */
  dual out[3], on[3];  /* R (cos th, sin th, 0), R (-sin th, cos th, 0) */
  dual away[3], up[3]; /* P - S, (-f1, -f2, 1) */
} rolling;

static void seed_frame(const mbg__term_in *in, rolling *q) {
  for (int k = 0; k < 12; k++) {
    real e1[6], e2[6];
    dual *d = k < 9 ? &q->R[k] : &q->x[k - 9];
    const int entry = k < 9 ? k : MBG__X1 + k - 9;
    mbg__entry_slopes(in->G, in->v, entry, e1, e2);
    *d = (dual){.f = mbg__entry_value(in->G, entry), .v = v6_dot(e1, in->v)};
    if (q->first < 0) {
      v6_copy(d->w, e1);
      v6_copy(d->wv, e2);
    }
  }
}

/* own numbers: those of the joint come first, then those of the profile */
static void seed_numbers(const mbg__term *t, const mbg__term_in *in, rolling *q) {
  const bool wheel = t->nattr == 2;
  q->n = wheel ? 3 : 2;
  q->r = constant(wheel ? in->attr[t->attr[0]] : 0);
  q->rho = constant(in->attr[t->attr[wheel ? 1 : 0]]);
  for (int i = 0; i < W && q->first >= 0; i++) {
    q->r.w[i] = wheel && q->first + i == 0;
    q->rho.w[i] = q->first + i == t->nattr - 1;
  }
  for (int i = 0; i < 3; i++) {
    q->s[i] = constant(q->contact->s[i]);
  }
}

/* A function of s1, s2: derivatives from its value on, and, by attributes, from its value on. by: attribute's slope;
   at < 0: the height itself, else its slope by s_at */
static dual of_place(const rolling *q, const mbg__term *t, int at) {
  const mbg__jet3 *j = &q->contact->jet;
  const real *f_i = at < 0 ? j->F_z : j->F_zz[at];
  const real(*f_ij)[MBG__NZ] = at < 0 ? j->F_zz : j->F_zzz[at];
  dual out = constant(at < 0 ? j->F : j->F_z[at]);
  for (int i = 0; i < 2; i++) {
    out.v += f_i[i] * q->s[i].v;
    for (int k = 0; k < W; k++) {
      out.w[k] += f_i[i] * q->s[i].w[k];
      out.wv[k] += f_i[i] * q->s[i].wv[k];
      for (int l = 0; l < 2; l++) {
        out.wv[k] += f_ij[i][l] * q->s[i].w[k] * q->s[l].v;
      }
    }
  }
  for (int k = 0; k < W && q->first >= 0; k++) {
    const int a = q->first + k - t->nattr;
    if (a >= 0 && a < q->contact->nact) {
      const mbg__contact_slope *slope = &q->contact->slope[a];
      const real *g = at < 0 ? slope->F_z : slope->F_zz[at];
      out.w[k] += at < 0 ? slope->F : slope->F_z[at];
      out.wv[k] += g[0] * q->s[0].v + g[1] * q->s[1].v;
    }
  }
  return out;
}

static void place(const mbg__term *t, rolling *q) {
  const real C = r_cos(q->s[2].f), S = r_sin(q->s[2].f);
  const dual c = function(&q->s[2], C, -S, -C), s = function(&q->s[2], S, C, -S), one = constant(1);
  q->f = of_place(q, t, -1);
  q->f1 = of_place(q, t, 0);
  q->f2 = of_place(q, t, 1);
  const dual S0[3] = {q->s[0], q->s[1], q->f};
  for (int k = 0; k < 3; k++) {
    const dual a = product(&q->R[3 * k], &c), b = product(&q->R[3 * k + 1], &s), d = product(&q->R[3 * k], &s),
               e = product(&q->R[3 * k + 1], &c);
    q->out[k] = sum(1, &a, 1, &b);
    q->on[k] = sum(1, &e, -1, &d);
    const dual arm = product(&q->r, &q->out[k]), P = sum(1, &q->x[k], 1, &arm);
    q->away[k] = sum(1, &P, -1, &S0[k]);
  }
  q->up[0] = sum(-1, &q->f1, 0, &one);
  q->up[1] = sum(-1, &q->f2, 0, &one);
  q->up[2] = one;
}

static void residuals(const rolling *q, dual F[3]) {
  const dual a = product(&q->away[2], &q->f1), b = product(&q->away[2], &q->f2);
  F[0] = sum(1, &q->away[0], 1, &a);
  F[1] = sum(1, &q->away[1], 1, &b);
  F[2] = dot(q->up, q->on);
}

/* each pass is exact for one more order: first derivatives, then second ones */
static void settle(const mbg__term *t, rolling *q) {
  for (int pass = 0; pass < 2; pass++) {
    dual F[3];
    place(t, q);
    residuals(q, F);
    for (int i = 0; i < q->n; i++) {
      const real value = q->s[i].f;
      for (int j = 0; j < q->n; j++) {
        q->s[i] = sum(1, &q->s[i], -q->contact->inverse[i][j], &F[j]);
      }
      q->s[i].f = value; /* has been found to rounding */
    }
  }
  place(t, q);
}

/* n, and the gap */
static void row_at(const mbg__term *t, const rolling *q, dual n[6], dual *gap) {
  const dual square = dot(q->up, q->up), length = inverse_root(&square), one = constant(1);
  dual N[3], p[3], first[3], m[3];
  const dual *direction = N;
  stretch(&length, q->up, N);
  if (t->profile - 1 != MBG__PROFILE_GAP) {
    if (q->n == 3) {
      const dual back = constant(-1);
      stretch(&back, q->on, first);
    } else {
      const dual a = product(&q->f1, &q->f1), b = sum(1, &one, 1, &a), c = inverse_root(&b);
      const dual S1[3] = {one, constant(0), q->f1};
      stretch(&c, S1, first);
    }
    direction = first;
  }
  if (t->profile - 1 == MBG__PROFILE_SECOND) {
    dual second[3];
    cross(N, first, second);
    memcpy(first, second, sizeof(first));
  }
  for (int k = 0; k < 3; k++) {
    const dual arm = product(&q->r, &q->out[k]), tube = product(&q->rho, &N[k]);
    p[k] = sum(1, &arm, -1, &tube);
  }
  cross(p, direction, m);
  for (int j = 0; j < 3; j++) {
    const dual column[3] = {q->R[j], q->R[3 + j], q->R[6 + j]};
    n[j] = dot(column, direction);
    n[3 + j] = dot(column, m);
  }
  *gap = dot(N, q->away);
  *gap = sum(1, gap, -1, &q->rho);
}

static void roll(const mbg__term *t, const mbg__term_in *in, int first, dual n[6], dual *gap) {
  static const real zero[6] = {0};
  mbg__term_in at = *in;
  at.v = in->v ? in->v : zero;
  rolling q = {.contact = in->contact, .first = first};
  seed_frame(&at, &q);
  seed_numbers(t, &at, &q);
  settle(t, &q);
  row_at(t, &q, n, gap);
}

/* ---------------------------------------------------------------------- terms */

void mbg__profile_term_eval(const mbg__term *t, const mbg__term_in *in, mbg__term_value *value, mbg__term_gradient *g) {
  static const real zero[6] = {0};
  const real *v = in->v ? in->v : zero, *vd = in->vd ? in->vd : zero;
  dual n[6], gap;
  roll(t, in, -1, n, &gap);
  *value = (mbg__term_value){.phi = t->rate ? 0 : gap.f};
  for (int j = 0; j < 6; j++) {
    value->b[j] = n[j].f;
    value->phid += n[j].f * v[j];
    value->gamma += n[j].v * v[j];
  }
  if (!g) {
    return;
  }
  *g = (mbg__term_gradient){0};
  for (int j = 0; j < 6; j++) {
    v6_copy(g->L + 6 * j, n[j].w);
    v6_axpy(g->phid_G, v[j], n[j].w);
    v6_axpy(g->bvd_G, vd[j], n[j].w);
    v6_axpy(g->gamma_G, v[j], n[j].wv);
  }
  for (int j = 0; j < 6; j++) {
    g->gamma_v[j] = n[j].v + g->phid_G[j];
  }
}

int mbg__profile_term_attributes(const mbg__term *t, const mbg__term_in *in, mbg__term_attr *out) {
  static const real zero[6] = {0};
  const real *v = in->v ? in->v : zero, *vd = in->vd ? in->vd : zero;
  const int count = t->nattr + in->contact->nact;
  for (int first = 0; first < count; first += W) {
    dual n[6], gap;
    roll(t, in, first, n, &gap);
    for (int k = 0; k < W && first + k < count; k++) {
      const int a = first + k;
      mbg__term_attr *o = &out[a];
      *o = (mbg__term_attr){.attr = a < t->nattr ? t->attr[a] : in->contact->act[a - t->nattr],
                            .phi = t->rate ? 0 : gap.w[k]};
      for (int j = 0; j < 6; j++) {
        o->b[j] = n[j].w[k];
        o->phid += n[j].w[k] * v[j];
        o->phidd += n[j].w[k] * vd[j] + n[j].wv[k] * v[j];
      }
    }
  }
  return count;
}

/* ---------------------------------------------------------------------- equations of the contact */

void mbg__profile_equations(const mbg__frame *G, real r, const mbg__jet3 *f, const real s[3], real F[3], real J[3][3],
                            double *metric, double *upright) {
  const real C = r_cos(s[2]), S = r_sin(s[2]), f1 = f->F_z[0], f2 = f->F_z[1];
  real out[3], on[3], D[3];
  for (int k = 0; k < 3; k++) {
    out[k] = G->R[3 * k] * C + G->R[3 * k + 1] * S;
    on[k] = G->R[3 * k + 1] * C - G->R[3 * k] * S;
    D[k] = G->x[k] + r * out[k] - (k < 2 ? s[k] : f->F);
  }
  F[0] = D[0] + D[2] * f1;
  F[1] = D[1] + D[2] * f2;
  F[2] = on[2] - f1 * on[0] - f2 * on[1];
  J[0][0] = -1 - f1 * f1 + D[2] * f->F_zz[0][0];
  J[0][1] = J[1][0] = -f1 * f2 + D[2] * f->F_zz[0][1];
  J[1][1] = -1 - f2 * f2 + D[2] * f->F_zz[1][1];
  J[0][2] = r * (on[0] + on[2] * f1);
  J[1][2] = r * (on[1] + on[2] * f2);
  for (int i = 0; i < 2; i++) {
    J[2][i] = -f->F_zz[0][i] * on[0] - f->F_zz[1][i] * on[1];
  }
  J[2][2] = f1 * out[0] + f2 * out[1] - out[2];
  const double area = 1 + re(f1) * re(f1) + re(f2) * re(f2);
  /* both curvatures are beyond that of the profile when the first entry has changed its sign, too */
  *metric = re(J[0][0]) < 0 ? (double)(re(J[0][0] * J[1][1] - J[0][1] * J[1][0]) / area) : -1;
  *upright = fabs(re(J[2][2])) / sqrt(area);
}

void mbg__profile_invert(int n, real J[3][3], real I[3][3]) {
  memset(I, 0, 9 * sizeof(real));
  if (n == 2) {
    const real det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
    I[0][0] = J[1][1] / det;
    I[1][1] = J[0][0] / det;
    I[0][1] = -J[0][1] / det;
    I[1][0] = -J[1][0] / det;
    return;
  }
  for (int i = 0; i < 3; i++) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    for (int j = 0; j < 3; j++) {
      const int c = (j + 1) % 3, d = (j + 2) % 3;
      I[j][i] = J[a][c] * J[b][d] - J[a][d] * J[b][c];
    }
  }
  const real det = J[0][0] * I[0][0] + J[0][1] * I[1][0] + J[0][2] * I[2][0];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      I[i][j] /= det;
    }
  }
}
