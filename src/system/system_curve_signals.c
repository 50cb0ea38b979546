/* Signals of joints on curves: where they touch, how the curve bends there, how far it is along the curve, and the
   force with which they press. With the contact parameter s eliminated (theory 8, section 9)

     y = Y(r, r', r'') at s,     dy = Y_s (s_i de_i + s_a da) + Y_a da,     Y_s = Y_r . r' + Y_r' . r'' + Y_r'' . r'''

   The arc length is an integral of |r'| by Gauss, panel by panel: its sums up to each panel are kept with the curve. */
#include "model/curve.h"
#include "system/system_internal.h"
#include "system/term_rates.h"

#include <string.h>

/* ---------------------------------------------------------------------- arc length */

enum { GAUSS = 8, PANELS = 64 };

static const double gauss_x[GAUSS / 2] = {0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959,
                                          0.96028985649753623168};
static const double gauss_w[GAUSS / 2] = {0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054,
                                          0.10122853629037625915};

/* place and weight of point k in (0, 1) */
static void gauss_at(int k, double *x, double *w) {
  const double side = k < GAUSS / 2 ? -1 : 1;
  *x = (1 + side * gauss_x[k % (GAUSS / 2)]) / 2;
  *w = gauss_w[k % (GAUSS / 2)] / 2;
}

/* panels end at the knots of a spline, where it is not smooth */
int mbg__curve_panels(const mbg__curve *c) {
  const int knots = c->fn < 0 ? (int)(c->to - c->from + 0.5) : 1;
  return knots * ((PANELS + knots - 1) / knots);
}

static double panel_width(const mbg__curve *c) { return (c->to - c->from) / mbg__curve_panels(c); }

static real speed_of(real r[3][4]) { return r_sqrt(r[0][1] * r[0][1] + r[1][1] * r[1][1] + r[2][1] * r[2][1]); }

static int arc_between(mbg_context *ctx, mbg__system *s, int curve, real a, real b, real *length) {
  *length = 0;
  for (int k = 0; k < GAUSS; k++) {
    double x, w;
    real r[3][4];
    gauss_at(k, &x, &w);
    const int err = mbg__curve_point(ctx, s, curve, a + (b - a) * x, r);
    if (err < 0) {
      return err;
    }
    *length += w * (b - a) * speed_of(r);
  }
  return MBG_OK;
}

int mbg__curve_arcs(mbg_context *ctx, mbg__system *s, int curve, real *arc) {
  const mbg__curve *c = &s->model->curves[curve];
  const double width = panel_width(c);
  arc[0] = 0;
  for (int i = 0; i < mbg__curve_panels(c); i++) {
    real part;
    const int err = arc_between(ctx, s, curve, c->from + i * width, c->from + (i + 1) * width, &part);
    if (err < 0) {
      return err;
    }
    arc[i + 1] = arc[i] + part;
  }
  return MBG_OK;
}

/* the panel of a place */
static int panel_of(const mbg__curve *c, real at) {
  const int i = (int)floor((re(at) - c->from) / panel_width(c)), last = mbg__curve_panels(c) - 1;
  return i < 0 ? 0 : i > last ? last : i;
}

/* ---------------------------------------------------------------------- the place */

/* Where a signal looks. */
typedef struct {
  const mbg__joint *joint;
  const mbg__contact_work *w;
  int index; /* the curve */
  const mbg__curve *curve;
  int row, param; /* row of the contact, place of s in its y */
  real s, r[3][4];
} place;

/* s of closed curves is taken in their first period */
static int find_place(mbg_context *ctx, mbg__system *s, const mbg__signal *sig, place *p) {
  const mbg_model *m = s->model;
  p->joint = &m->joints[m->rows[sig->row].owner];
  p->w = &s->contacts[p->joint->contact];
  p->index = m->contacts[p->joint->contact].curve[sig->opt[1]];
  p->curve = &m->curves[p->index];
  p->row = m->contacts[p->joint->contact].nrow - 1;
  p->param = p->joint->type->contact->nz + p->joint->type->contact->s_of[sig->opt[1]];
  p->s = p->w->y[p->row][p->param];
  const double period = p->curve->to - p->curve->from;
  if (p->curve->closed) {
    p->s -= period * floor((re(p->s) - p->curve->from) / period);
  }
  return mbg__curve_point(ctx, s, p->index, p->s, p->r);
}

/* ---------------------------------------------------------------------- curvature */

/* of a planar curve (r' x r'')_z / |r'|^3, of a spatial one |r' x r''| / |r'|^3; Y_r (by r, r', r'') may be NULL */
static real curvature(const place *p, real Y_r[3][3]) {
  const real n = speed_of((real(*)[4])p->r);
  real a[3], b[3], c[3], ab[3], ba[3];
  for (int k = 0; k < 3; k++) {
    a[k] = p->r[k][1];
    b[k] = p->r[k][2];
  }
  v3_cross(c, a, b);
  const bool planar = p->curve->dim == 2;
  const real size = planar ? c[2] : v3_norm(c), y = size / (n * n * n);
  if (!Y_r || (!planar && re(size) == 0)) { /* a straight piece in space: no derivative, 0 is taken */
    return y;
  }
  for (int k = 0; k < 3; k++) {
    c[k] = planar ? (real)(k == 2) : c[k] / size; /* size = c . (r' x r'') in both cases */
  }
  v3_cross(ab, b, c);
  v3_cross(ba, c, a);
  for (int k = 0; k < p->curve->dim; k++) {
    Y_r[k][1] = ab[k] / (n * n * n) - 3 * y * a[k] / (n * n);
    Y_r[k][2] = ba[k] / (n * n * n);
  }
  return y;
}

/* ---------------------------------------------------------------------- values */

int mbg__curve_signal(mbg_context *ctx, mbg__system *s, const mbg__signal *sig, real *y) {
  const int what = sig->opt[0];
  place p;
  if (what == MBG__CURVE_NORMAL) {
    *y = -s->lambda[sig->row];
    return MBG_OK;
  }
  int err = find_place(ctx, s, sig, &p);
  *y = 0;
  if (err < 0) {
    return err;
  }
  if (what == MBG__CURVE_S) {
    *y = p.s;
  } else if (what == MBG__CURVE_ARC) {
    const int panel = panel_of(p.curve, p.s);
    err = arc_between(ctx, s, p.index, p.curve->from + panel * panel_width(p.curve), p.s, y);
    *y += mbg__curve_arc_sum(s, p.index, panel);
  } else if (what == MBG__CURVE_CURVATURE) {
    *y = curvature(&p, NULL);
  } else {
    *y = p.r[what - MBG__CURVE_X][0];
  }
  return err;
}

/* ---------------------------------------------------------------------- gradients */

/* ga += c (Y_r . dr + Y_r' . dr' + Y_r'' . dr'') by the numbers of the curve, at the place `at` */
static void spline_pull(const mbg__curve *c, real at, real weight, real Y_r[3][3], real *ga) {
  real B[4][MBG__CURVE_DEGREE + 1];
  int first;
  mbg__spline_at(c, at, &first, B);
  for (int m = 0; m <= c->degree; m++) {
    const double *C = c->C + (size_t)mbg__spline_index(c, first, m) * (size_t)c->npoint;
    for (int x = 0; x < c->dim; x++) {
      const real by = weight * (Y_r[x][0] * B[0][m] + Y_r[x][1] * B[1][m] + Y_r[x][2] * B[2][m]);
      for (int k = 0; k < c->npoint && by != 0; k++) {
        ga[c->attr + k * c->dim + x] += by * C[k];
      }
    }
  }
}

static void expression_pull(mbg__system *s, const mbg__curve *c, real at, real weight, real Y_r[3][3], real *ga) {
  for (int x = 0; x < c->dim; x++) {
    mbg__fn_env env;
    mbg__fn_jet jet;
    mbg__env(s, NULL, c->fn, &env);
    if (mbg__fn_argument_jet(&env, x, at, &jet) < 0) {
      continue; /* has been evaluated there */
    }
    for (int a = 0; a < jet.nact; a++) {
      ga[jet.act[a]] +=
          weight * (Y_r[x][0] * jet.f_act[a][0] + Y_r[x][1] * jet.f_act[a][1] + Y_r[x][2] * jet.f_act[a][2]);
    }
  }
}

static void numbers_pull(mbg__system *s, const mbg__curve *c, real at, real weight, real Y_r[3][3], real *ga) {
  if (c->fn < 0) {
    spline_pull(c, at, weight, Y_r, ga);
  } else {
    expression_pull(s, c, at, weight, Y_r, ga);
  }
}

/* the arc length from the first point to s: |r'| changes by its tangent */
static void arc_pull(mbg__system *s, const place *p, real weight, real *ga) {
  const double width = panel_width(p->curve);
  const int last = panel_of(p->curve, p->s);
  for (int i = 0; i <= last; i++) {
    const real from = p->curve->from + i * width, length = i < last ? width : p->s - from;
    for (int k = 0; k < GAUSS; k++) {
      double x, w;
      real r[3][4], Y_r[3][3] = {{0}};
      gauss_at(k, &x, &w);
      if (mbg__curve_point(NULL, s, p->index, from + length * x, r) < 0) {
        continue; /* has been evaluated there */
      }
      for (int a = 0; a < 3; a++) {
        Y_r[a][1] = r[a][1] / speed_of(r);
      }
      numbers_pull(s, p->curve, from + length * x, weight * w * length, Y_r, ga);
    }
  }
}

/* weight times s_i de_i + s_a da */
static void parameter_pull(mbg__system *s, const place *p, real weight, const mbg__cotangent *g) {
  const mbg__curve_contact *type = p->joint->type->contact;
  const int pair = p->joint->pair;
  vec6 gw = {0}, zero = {0};
  for (int i = 0; i < type->nz; i++) {
    vec6 e1, e2;
    mbg__entry_slopes(&s->G[pair], zero, type->entry[i], e1, e2);
    v6_axpy(gw, weight * p->w->d[p->row][i][p->param], e1);
  }
  mbg__kin_pair_pull(s, pair, gw, zero, NULL, g);
  for (int k = 0; g->a && k < p->w->jet[p->row].nact; k++) {
    g->a[p->w->act[k]] += weight * p->w->s_a[k][p->param - type->nz];
  }
}

void mbg__curve_signal_pull(mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g) {
  const int what = sig->opt[0];
  real Y_r[3][3] = {{0}}, by_s = 0;
  place p;
  if (what == MBG__CURVE_NORMAL) {
    if (g->lambda) {
      g->lambda[sig->row] -= c;
    }
    return;
  }
  if (find_place(NULL, s, sig, &p) < 0) {
    return; /* has been evaluated there */
  }
  if (what == MBG__CURVE_S) {
    by_s = 1;
  } else if (what == MBG__CURVE_ARC) {
    by_s = speed_of(p.r);
  } else if (what == MBG__CURVE_CURVATURE) {
    (void)curvature(&p, Y_r);
  } else {
    Y_r[what - MBG__CURVE_X][0] = 1;
  }
  for (int k = 0; k < 3; k++) {
    by_s += Y_r[k][0] * p.r[k][1] + Y_r[k][1] * p.r[k][2] + Y_r[k][2] * p.r[k][3];
  }
  parameter_pull(s, &p, c * by_s, g);
  if (g->a && what == MBG__CURVE_ARC) {
    arc_pull(s, &p, c, g->a);
  } else if (g->a && what != MBG__CURVE_S) {
    numbers_pull(s, p.curve, p.s, c, Y_r, g->a);
  }
}
