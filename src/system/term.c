#include "system/term.h"

#include "system/term_profile.h"
#include "system/term_rates.h"

#include <stddef.h>
#include <string.h>

/* ---------------------------------------------------------------------- entries of G */

/* rows of the first derivatives of an entry: e1 (on w), and at v: e2(., v), e2(v, .), e3(., v, v) */
typedef struct {
  real e1[6], e2[6], e2_T[6], e3[6];
  real e1v, e2vv;
  const real *r; /* row k of R */
  int l;         /* column for R_kl, -1 for x_k */
} entry_rows;

static real entry_value(const mbg__frame *G, int entry) {
  return entry < MBG__X1 ? G->R[entry] : G->x[entry - MBG__X1];
}

/* row of e2(., v) for a given v:  x_k: (0, U x r),  R_kl: (0, (W x e_l) x r) */
static void entry_second(const entry_rows *e, const real v[6], real out[6]) {
  v3_zero(out);
  if (e->l < 0) {
    v3_cross(out + 3, v, e->r);
    return;
  }
  real c[3] = {0, 0, 0}, d[3];
  c[e->l] = 1;
  v3_cross(d, v + 3, c);
  v3_cross(out + 3, d, e->r);
}

/* first derivative row:  x_k: (r, 0),  R_kl: (0, e_l x r) */
static void entry_first(entry_rows *e, const mbg__frame *G, int entry) {
  const int k = entry < MBG__X1 ? entry / 3 : entry - MBG__X1;
  e->r = G->R + 3 * k;
  e->l = entry < MBG__X1 ? entry % 3 : -1;
  v6_zero(e->e1);
  if (e->l < 0) {
    v3_copy(e->e1, e->r);
  } else {
    real c[3] = {0, 0, 0};
    c[e->l] = 1;
    v3_cross(e->e1 + 3, c, e->r);
  }
}

/* x_k: e2(v, .) = (r x W, 0), e3 = (0, (W x U) x r)
   R_kl: e2(v, .) = (0, e_l x (r x W)), e3 = (0, (W x (W x e_l)) x r) */
static void entry_third(entry_rows *e, const real v[6]) {
  real a[3], d[3];
  v6_zero(e->e2_T);
  v6_zero(e->e3);
  v3_cross(a, e->r, v + 3);
  if (e->l < 0) {
    v3_copy(e->e2_T, a);
    v3_cross(d, v + 3, v);
  } else {
    real c[3] = {0, 0, 0}, wc[3];
    c[e->l] = 1;
    v3_cross(e->e2_T + 3, c, a);
    v3_cross(wc, v + 3, c);
    v3_cross(d, v + 3, wc);
  }
  v3_cross(e->e3 + 3, d, e->r);
}

static void entry_rows_at(entry_rows *e, const mbg__frame *G, const real v[6], int entry, bool gradient) {
  entry_first(e, G, entry);
  entry_second(e, v, e->e2);
  e->e1v = v6_dot(e->e1, v);
  e->e2vv = v6_dot(e->e2, v);
  if (gradient) {
    entry_third(e, v);
  }
}

real mbg__entry_value(const mbg__frame *G, int entry) { return entry_value(G, entry); }

void mbg__entry_slopes(const mbg__frame *G, const real v[6], int entry, real e1[6], real e2[6]) {
  entry_rows e;
  entry_rows_at(&e, G, v, entry, false);
  v6_copy(e1, e.e1);
  v6_copy(e2, e.e2);
}

/* L += s * e2(w, u), rows u, columns w:  x_k: block (U, W) r~;  R_kl: block (W, W) e_l~ r~ = r e_l^T - r_l 1 */
static void entry_curvature(const entry_rows *e, real s, real L[36]) {
  real B[9];
  if (e->l < 0) {
    m3_skew(B, e->r);
    m6_add_block(L, 0, 1, s, B);
    return;
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      B[3 * i + j] = (j == e->l ? e->r[i] : 0) - (i == j ? e->r[e->l] : 0);
    }
  }
  m6_add_block(L, 1, 1, s, B);
}

/* ---------------------------------------------------------------------- F with its law inserted */

enum { N = MBG__CONTACT_Z }; /* most entries */

/* derivatives of factor * sign * F by entries and, through the law, by time */
typedef struct {
  int n; /* entries */
  real F, F_t, F_tt;
  real F_i[N], F_it[N], F_itt[N];
  real F_ij[N][N], F_ijt[N][N];
  real F_ijk[N][N][N];
} inserted;

static bool has_law(const mbg__term *t) { return t->law >= 0; }

static bool has_outer(const mbg__term *t) { return t->outer >= 0; }

static bool is_joined(const mbg__term *t) { return t->joined != 0; }

/* sign of the whole term: a law and an outer function have it inside */
static double sign_of(const mbg__term *t) { return has_law(t) || has_outer(t) ? 1 : t->sign; }

/* scale of the whole term */
static real scale_of(const mbg__term *t, const mbg__term_in *in) {
  return sign_of(t) * (t->factor >= 0 ? in->attr[t->factor] : 1);
}

/* third derivatives are not set below order 3 */
static void inner_jet(const mbg__term *t, const mbg__term_in *in, int order, mbg__jet3 *jet) {
  real z[MBG__NZ];
  int n = 0;
  if (in->contact) {
    *jet = in->contact->jet;
    return;
  }
  memset(jet, 0, order < 3 ? offsetof(mbg__jet3, F_zzz) : sizeof(*jet));
  if (t->pair < 0) {
    jet->F = has_law(t) ? t->sign * in->law[0] : 1;
    jet->F_z[0] = has_law(t);
    return;
  }
  for (int i = 0; i < t->nentry; i++) {
    z[n++] = entry_value(in->G, t->entry[i]);
  }
  if (has_law(t)) {
    z[n++] = t->sign * in->law[0];
  }
  for (int i = 0; i < t->nattr; i++) {
    z[n++] = t->attr_sign * in->attr[t->attr[i]];
    if (is_joined(t)) {
      z[n - 1] += t->joined * in->attr[t->attr[++i]];
    }
  }
  if (t->kernel) {
    t->kernel(z, in->turns, order, jet);
    return;
  }
  jet->F = z[0];
  jet->F_z[0] = 1;
  if (has_law(t)) {
    jet->F -= z[1];
    jet->F_z[1] = -1;
  }
}

/* f(s F) from F, s the sign:  f' s F_i,  f'' F_i F_j + f' s F_ij,  ...  */
static void compose(int n, double sign, const real *f, int order, mbg__jet3 *j) {
  const real f1 = sign * f[1], f2 = f[2];
  for (int i = 0; i < n && order >= 3; i++) {
    for (int k = 0; k < n; k++) {
      for (int l = 0; l < n; l++) {
        j->F_zzz[i][k][l] = f1 * j->F_zzz[i][k][l] + sign * f[3] * j->F_z[i] * j->F_z[k] * j->F_z[l] +
                            f2 * (j->F_zz[i][k] * j->F_z[l] + j->F_zz[i][l] * j->F_z[k] + j->F_zz[k][l] * j->F_z[i]);
      }
    }
  }
  for (int i = 0; i < n && order >= 2; i++) {
    for (int k = 0; k < n; k++) {
      j->F_zz[i][k] = f1 * j->F_zz[i][k] + f2 * j->F_z[i] * j->F_z[k];
    }
  }
  for (int i = 0; i < n; i++) {
    j->F_z[i] *= f1;
  }
  j->F = f[0];
}

static void jet_of(const mbg__term *t, const mbg__term_in *in, int order, mbg__jet3 *jet) {
  inner_jet(t, in, order, jet);
  if (has_outer(t)) {
    compose(t->nentry, t->sign, in->outer, order, jet);
  }
}

real mbg__term_coordinate(const mbg__term *t, const mbg__term_in *in) {
  mbg__jet3 jet;
  inner_jet(t, in, 0, &jet);
  return t->sign * jet.F;
}

/* time derivatives through s = z[n]:  F_it = F_is s', F_itt = F_is s'' + F_iss s'^2, ... */
static void insert_law(const mbg__jet3 *j, int n, real s1, real s2, inserted *f) {
  f->F_t = j->F_z[n] * s1;
  f->F_tt = j->F_z[n] * s2 + j->F_zz[n][n] * s1 * s1;
  for (int i = 0; i < n; i++) {
    f->F_it[i] = j->F_zz[i][n] * s1;
    f->F_itt[i] = j->F_zz[i][n] * s2 + j->F_zzz[i][n][n] * s1 * s1;
    for (int k = 0; k < n; k++) {
      f->F_ijt[i][k] = j->F_zzz[i][k][n] * s1;
    }
  }
}

static void insert(const mbg__term *t, const mbg__term_in *in, const mbg__jet3 *j, real c, inserted *f) {
  const int n = t->nentry;
  *f = (inserted){.n = n, .F = j->F};
  if (has_law(t)) {
    insert_law(j, n, t->sign * in->law[1], t->sign * in->law[2], f);
  }
  f->F *= c;
  f->F_t *= c;
  f->F_tt *= c;
  for (int i = 0; i < n; i++) {
    f->F_i[i] = c * j->F_z[i];
    f->F_it[i] *= c;
    f->F_itt[i] *= c;
    for (int k = 0; k < n; k++) {
      f->F_ij[i][k] = c * j->F_zz[i][k];
      f->F_ijt[i][k] *= c;
      for (int l = 0; l < n; l++) {
        f->F_ijk[i][k][l] = c * j->F_zzz[i][k][l];
      }
    }
  }
}

/* ---------------------------------------------------------------------- values and gradients */

static void values(const inserted *f, const entry_rows *e, const real v[6], mbg__term_value *out) {
  *out = (mbg__term_value){.phi = f->F, .gamma = f->F_tt};
  for (int i = 0; i < f->n; i++) {
    v6_axpy(out->b, f->F_i[i], e[i].e1);
    out->gamma += f->F_i[i] * e[i].e2vv + 2 * f->F_it[i] * e[i].e1v;
    for (int j = 0; j < f->n; j++) {
      out->gamma += f->F_ij[i][j] * e[i].e1v * e[j].e1v;
    }
  }
  out->phid = v6_dot(out->b, v) + f->F_t;
}

/* coefficients of the rows e1_i, e2_i of one entry in phid_G, gamma_G, gamma_v */
static void gradient_entry(const inserted *f, const entry_rows *e, int i, const real vd[6], mbg__term_gradient *g) {
  real d1 = f->F_it[i], g1 = f->F_itt[i], g2 = 2 * f->F_it[i], bvd = 0;
  real second[6];
  for (int j = 0; j < f->n; j++) {
    d1 += f->F_ij[i][j] * e[j].e1v;
    g1 += f->F_ij[i][j] * e[j].e2vv + 2 * f->F_ijt[i][j] * e[j].e1v;
    g2 += 2 * f->F_ij[i][j] * e[j].e1v;
    bvd += f->F_ij[i][j] * v6_dot(e[j].e1, vd);
    for (int k = 0; k < f->n; k++) {
      g1 += f->F_ijk[i][j][k] * e[j].e1v * e[k].e1v;
    }
  }
  entry_second(&e[i], vd, second);
  v6_axpy(g->phid_G, f->F_i[i], e[i].e2);
  v6_axpy(g->phid_G, d1, e[i].e1);
  v6_axpy(g->gamma_G, f->F_i[i], e[i].e3);
  v6_axpy(g->gamma_G, g2, e[i].e2);
  v6_axpy(g->gamma_G, g1, e[i].e1);
  v6_axpy(g->gamma_v, f->F_i[i], e[i].e2);
  v6_axpy(g->gamma_v, f->F_i[i], e[i].e2_T);
  v6_axpy(g->gamma_v, g2, e[i].e1);
  v6_axpy(g->bvd_G, f->F_i[i], second);
  v6_axpy(g->bvd_G, bvd, e[i].e1);
}

/* L += s e1_j e1_i^T: an entry moves with the translation or with the rotation alone */
static void outer_add(real L[36], real s, const entry_rows *j, const entry_rows *i) {
  const int row = j->l < 0 ? 0 : 3, column = i->l < 0 ? 0 : 3;
  for (int k = row; k < row + 3; k++) {
    vn_axpy(3, L + 6 * k + column, s * j->e1[k], i->e1 + column);
  }
}

static void gradients(const inserted *f, const entry_rows *e, const real vd[6], mbg__term_gradient *g) {
  *g = (mbg__term_gradient){0};
  for (int i = 0; i < f->n; i++) {
    gradient_entry(f, e, i, vd, g);
    entry_curvature(&e[i], f->F_i[i], g->L);
    for (int j = 0; j < f->n; j++) {
      outer_add(g->L, f->F_ij[i][j], &e[j], &e[i]);
    }
  }
}

/* a plain entry: F_i = +-1 and nothing else */
static void eval_entry(const mbg__term *t, const mbg__term_in *in, mbg__term_value *value, mbg__term_gradient *g) {
  entry_rows e;
  entry_rows_at(&e, in->G, in->v, t->entry[0], g != NULL);
  value->phi = t->sign * entry_value(in->G, t->entry[0]);
  value->phid = t->sign * e.e1v;
  value->gamma = t->sign * e.e2vv;
  v6_scale(value->b, t->sign, e.e1);
  if (g) {
    real second[6];
    entry_second(&e, in->vd, second);
    v6_scale(g->phid_G, t->sign, e.e2);
    v6_scale(g->gamma_G, t->sign, e.e3);
    v6_add(g->gamma_v, e.e2, e.e2_T);
    v6_scale(g->gamma_v, t->sign, g->gamma_v);
    v6_scale(g->bvd_G, t->sign, second);
    m6_zero(g->L);
    entry_curvature(&e, t->sign, g->L);
  }
}

/* e1 v, e2(v, v) and the row e1 of an entry: x_k: r.U, (U x r).W, (r, 0);  R_kl as entry_rows_at */
static void entry_value_row(const mbg__frame *G, const real v[6], int entry, real e1[6], real *e1v, real *e2vv) {
  if (entry >= MBG__X1) {
    const real *r = G->R + 3 * (entry - MBG__X1);
    real c[3];
    v3_copy(e1, r);
    v3_zero(e1 + 3);
    v3_cross(c, v, r);
    *e1v = v3_dot(r, v);
    *e2vv = v3_dot(c, v + 3);
    return;
  }
  entry_rows e;
  entry_rows_at(&e, G, v, entry, false);
  v6_copy(e1, e.e1);
  *e1v = e.e1v;
  *e2vv = e.e2vv;
}

/* values alone of a term without a law */
static void eval_values(const mbg__term *t, const mbg__term_in *in, mbg__term_value *out) {
  mbg__jet3 jet;
  real e1[N][6], e1v[N], e2vv[N];
  const real c = scale_of(t, in);
  jet_of(t, in, 2, &jet);
  *out = (mbg__term_value){.phi = jet.F * c};
  for (int i = 0; i < t->nentry; i++) {
    entry_value_row(in->G, in->v, t->entry[i], e1[i], &e1v[i], &e2vv[i]);
  }
  for (int i = 0; i < t->nentry; i++) {
    v6_axpy(out->b, c * jet.F_z[i], e1[i]);
    out->gamma += c * jet.F_z[i] * e2vv[i];
    for (int j = 0; j < t->nentry; j++) {
      out->gamma += c * jet.F_zz[i][j] * e1v[i] * e1v[j];
    }
  }
  out->phid = v6_dot(out->b, in->v);
}

void mbg__term_eval_plain(const mbg__term *t, const mbg__frame *G, const real v[6], mbg__term_value *out) {
  real e1[6], e1v, e2vv;
  entry_value_row(G, v, t->entry[0], e1, &e1v, &e2vv);
  out->phi = t->sign * entry_value(G, t->entry[0]);
  out->phid = t->sign * e1v;
  out->gamma = t->sign * e2vv;
  v6_scale(out->b, t->sign, e1);
}

void mbg__term_eval(const mbg__term *t, const mbg__term_in *in, mbg__term_value *value, mbg__term_gradient *gradient) {
  static const real zero[6] = {0};
  if (t->profile) {
    mbg__profile_term_eval(t, in, value, gradient);
    return;
  }
  if (t->rate) {
    mbg__rate_term_eval(t, in, value, gradient);
    return;
  }
  if (mbg__term_plain(t)) {
    if (gradient) {
      eval_entry(t, in, value, gradient);
    } else {
      mbg__term_eval_plain(t, in->G, in->v, value);
    }
    return;
  }
  if (!gradient && !has_law(t) && t->pair >= 0 && in->v) {
    eval_values(t, in, value);
    return;
  }
  mbg__jet3 jet;
  inserted f;
  entry_rows e[N];
  jet_of(t, in, 3, &jet);
  insert(t, in, &jet, scale_of(t, in), &f);
  for (int i = 0; i < f.n; i++) {
    entry_rows_at(&e[i], in->G, in->v, t->entry[i], gradient != NULL);
  }
  values(&f, e, in->v ? in->v : zero, value);
  if (gradient) {
    gradients(&f, e, in->vd ? in->vd : zero, gradient);
  }
}

void mbg__coord_slopes(const mbg__term *t, const mbg__term_in *in, real b[6], real phid_G[6], real L[36]) {
  mbg__jet3 jet;
  entry_rows e[N];
  const real c = scale_of(t, in);
  jet_of(t, in, 2, &jet);
  v6_zero(b);
  v6_zero(phid_G);
  m6_zero(L);
  for (int i = 0; i < t->nentry; i++) {
    entry_rows_at(&e[i], in->G, in->v, t->entry[i], false);
    v6_axpy(b, c * jet.F_z[i], e[i].e1);
  }
  for (int i = 0; i < t->nentry; i++) {
    real d = 0;
    entry_curvature(&e[i], c * jet.F_z[i], L);
    for (int j = 0; j < t->nentry; j++) {
      d += c * jet.F_zz[i][j] * e[j].e1v;
      outer_add(L, c * jet.F_zz[i][j], &e[j], &e[i]);
    }
    v6_axpy(phid_G, c * jet.F_z[i], e[i].e2);
    v6_axpy(phid_G, d, e[i].e1);
  }
}

/* ---------------------------------------------------------------------- attributes */

/* derivatives of F and its time derivatives by z[a], times c:  the change of everything when z[a] moves by c and, for a
   law, its rates by c1 and c2 */
static void insert_attribute(const mbg__jet3 *j, const mbg__term *t, const mbg__term_in *in, int a, const real c[3],
                             real k, inserted *f) {
  const int n = t->nentry;
  const bool law = has_law(t);
  const real s1 = law ? t->sign * in->law[1] : 0, s2 = law ? t->sign * in->law[2] : 0;
  *f = (inserted){.n = n, .F = k * j->F_z[a] * c[0]};
  if (law) {
    const int s = n;
    f->F_t = k * (j->F_zz[a][s] * s1 * c[0] + j->F_z[s] * c[1]);
    f->F_tt = k * (j->F_zz[a][s] * s2 * c[0] + j->F_zzz[a][s][s] * s1 * s1 * c[0] + 2 * j->F_zz[s][s] * s1 * c[1] +
                   j->F_z[s] * c[2]);
  }
  for (int i = 0; i < n; i++) {
    f->F_i[i] = k * j->F_zz[i][a] * c[0];
    if (law) {
      f->F_it[i] = k * (j->F_zzz[i][a][n] * s1 * c[0] + j->F_zz[i][n] * c[1]);
    }
    for (int l = 0; l < n; l++) {
      f->F_ij[i][l] = k * j->F_zzz[i][l][a] * c[0];
    }
  }
}

static void attribute_from(const inserted *f, const entry_rows *e, const mbg__term_in *in, int attr,
                           mbg__term_attr *out) {
  static const real zero[6] = {0};
  mbg__term_value value;
  values(f, e, in->v ? in->v : zero, &value);
  out->attr = attr;
  out->phi = value.phi;
  out->phid = value.phid;
  out->phidd = value.gamma + v6_dot(value.b, in->vd ? in->vd : zero);
  v6_copy(out->b, value.b);
}

/* f_a(s F) by an attribute a of the outer function, c = (f_a, f_a', f_a'') */
static void insert_outer(const mbg__term *t, const mbg__term_in *in, const real c[3], real k, inserted *f) {
  mbg__jet3 jet;
  const real outer[4] = {c[0], c[1], c[2], 0};
  inner_jet(t, in, 2, &jet);
  compose(t->nentry, t->sign, outer, 2, &jet);
  *f = (inserted){.n = t->nentry, .F = k * jet.F};
  for (int i = 0; i < f->n; i++) {
    f->F_i[i] = k * jet.F_z[i];
    for (int l = 0; l < f->n; l++) {
      f->F_ij[i][l] = k * jet.F_zz[i][l];
    }
  }
}

/* a row of a contact: the attributes that move it */
static int contact_attributes(const mbg__term *t, const mbg__term_in *in, const entry_rows *e, mbg__term_attr *out) {
  const mbg__contact_jet *c = in->contact;
  for (int a = 0; a < c->nact; a++) {
    inserted f = {.n = t->nentry, .F = c->slope[a].F};
    for (int i = 0; i < f.n; i++) {
      f.F_i[i] = c->slope[a].F_z[i];
      for (int l = 0; l < f.n; l++) {
        f.F_ij[i][l] = c->slope[a].F_zz[i][l];
      }
    }
    attribute_from(&f, e, in, c->act[a], &out[a]);
  }
  return c->nact;
}

int mbg__term_attributes(const mbg__term *t, const mbg__term_in *in, int nact, const int *law_act,
                         const real (*law_jact)[3], mbg__term_attr *out) {
  if (mbg__term_plain(t)) {
    return 0;
  }
  if (t->profile) {
    return mbg__profile_term_attributes(t, in, out);
  }
  if (t->rate) {
    return mbg__rate_term_attributes(t, in, nact, law_act, law_jact, out);
  }
  mbg__jet3 jet;
  inserted f;
  entry_rows e[N];
  int count = 0;
  const real k = scale_of(t, in);
  jet_of(t, in, 3, &jet);
  for (int i = 0; i < t->nentry; i++) {
    entry_rows_at(&e[i], in->G, in->v, t->entry[i], false);
  }
  if (in->contact) {
    return contact_attributes(t, in, e, out);
  }
  for (int i = 0; i < nact; i++) {
    if (has_outer(t)) {
      insert_outer(t, in, law_jact[i], k, &f);
    } else {
      const real c[3] = {t->sign * law_jact[i][0], t->sign * law_jact[i][1], t->sign * law_jact[i][2]};
      insert_attribute(&jet, t, in, t->nentry, c, k, &f);
    }
    attribute_from(&f, e, in, law_act[i], &out[count++]);
  }
  for (int i = 0; i < t->nattr; i++) {
    const real c[3] = {is_joined(t) && i > 0 ? t->joined : t->attr_sign, 0, 0};
    insert_attribute(&jet, t, in, t->nentry + has_law(t) + (is_joined(t) ? 0 : i), c, k, &f);
    attribute_from(&f, e, in, t->attr[i], &out[count++]);
  }
  if (t->factor >= 0) {
    insert(t, in, &jet, sign_of(t), &f);
    attribute_from(&f, e, in, t->factor, &out[count++]);
  }
  return count;
}

int mbg__term_attr_max(const mbg_model *model, const mbg__term *t) {
  const int fn = t->law >= 0 ? t->law : t->outer;
  if (t->contact) {
    return model->contacts[(t->contact - 1) / 2].nact;
  }
  return (fn >= 0 ? model->fns[fn].nact : 0) + t->nattr + (t->factor >= 0);
}

void mbg__term_of_coord(const mbg__coord *coord, mbg__term *term) {
  if (coord->term) {
    *term = *coord->term;
    return;
  }
  *term = (mbg__term){.kernel = coord->type->value,
                      .sign = coord->sign,
                      .attr_sign = 1,
                      .pair = coord->pair,
                      .nentry = coord->type->nentry,
                      .law = -1,
                      .turn = coord->turn,
                      .factor = -1,
                      .outer = -1};
  for (int i = 0; i < 3; i++) {
    term->entry[i] = coord->type->entry[i];
  }
}
