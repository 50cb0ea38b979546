/* Laws in a plane. With q = sign F(z), z entries of G whose rows e1 and e2(., v) are those of system_plane.c,

     b = F_i e1_i      qd_G = F_i e2_i + F_ij e1_i e1_j v      L = F_i e2_i(., .) + F_ij e1_j e1_i^T
     F = -b^T tau      F_G = -tau L - b^T (tau_q b + tau_qd qd_G)      F_v = -tau_qd b^T b */
#include "system/system_plane.h"

#include <stddef.h>
#include <string.h>

/* an entry: its value and rows */
typedef struct {
  bool moves; /* false: not in the plane */
  real value, e1v;
  vec3 e1;
  real e2;   /* e2(., v): by the turn alone */
  real L[3]; /* e2(., .): the column of the turn */
} entry;

static void turn_entry(const mbg__plane_frame *G, int k, int l, const real v[3], entry *e) {
  real r[2];
  e->value = k == 2 && l == 2;
  if (k == 2 || l == 2) {
    return;
  }
  plane_row(G, k, r);
  e->moves = true;
  e->value = r[l];
  e->e1[2] = l ? -r[0] : r[1];
  e->L[2] = l ? -r[1] : -r[0];
  e->e1v = e->e1[2] * v[2];
  e->e2 = e->L[2] * v[2];
}

static void place_entry(const mbg__plane_frame *G, int k, const real v[3], entry *e) {
  real r[2];
  if (k == 2) {
    return;
  }
  plane_row(G, k, r);
  e->moves = true;
  e->value = k ? G->y : G->x;
  e->e1[0] = r[0];
  e->e1[1] = r[1];
  e->L[0] = r[1];
  e->L[1] = -r[0];
  e->e1v = r[0] * v[0] + r[1] * v[1];
  e->e2 = v[0] * r[1] - v[1] * r[0];
}

/* a pair with a law; derivatives are added to F_G and F_v */
typedef struct {
  mbg__plane_frame G;
  vec3 rel, F;
  real F_G[9], F_v[9];
} one_pair;

static int entries(const one_pair *q, const mbg__coord_type *type, entry e[3]) {
  for (int i = 0; i < type->nentry; i++) {
    const int k = type->entry[i];
    e[i] = (entry){0};
    if (k < MBG__X1) {
      turn_entry(&q->G, k / 3, k % 3, q->rel, &e[i]);
    } else {
      place_entry(&q->G, k - MBG__X1, q->rel, &e[i]);
    }
  }
  return type->nentry;
}

static void coordinate(const mbg__coord *c, int n, const entry *e, int order, mbg__jet3 *jet) {
  real z[3];
  for (int i = 0; i < n; i++) {
    z[i] = e[i].value;
  }
  memset(jet, 0, offsetof(mbg__jet3, F_zzz));
  if (c->type->value) {
    c->type->value(z, 0, order, jet);
  } else {
    jet->F = z[0];
    jet->F_z[0] = 1;
  }
}

/* F_G and F_v; tension and its slopes are those of out */
static void slopes(const mbg__plane_law *l, int n, const entry *e, const mbg__jet3 *jet, const mbg__law_out *out,
                   one_pair *q) {
  const double sign = l->coord->sign;
  vec3 row, qd_G = {0};
  for (int i = 0; i < n; i++) {
    real d = 0;
    for (int j = 0; e[i].moves && j < n; j++) {
      if (!e[j].moves) {
        continue;
      }
      const real f = sign * jet->F_zz[i][j];
      d += f * e[j].e1v;
      m3_outer_add(q->F_G, -out->tau * f, e[j].e1, e[i].e1);
    }
    for (int k = 0; k < 3; k++) {
      q->F_G[3 * k + 2] -= out->tau * sign * jet->F_z[i] * e[i].L[k];
    }
    v3_axpy(qd_G, d, e[i].e1);
    qd_G[2] += sign * jet->F_z[i] * e[i].e2;
  }
  v3_scale(row, out->tau_q, l->b);
  v3_axpy(row, out->tau_qd, qd_G);
  m3_outer_add(q->F_G, -1, l->b, row);
  m3_outer_add(q->F_v, -out->tau_qd, l->b, l->b);
}

/* tension at a value of the coordinate, and its wrench */
static void pull_on(const mbg__plane *p, const mbg__plane_law *l, one_pair *q, real value, mbg__law_out *out) {
  static const real none[MBG__LAW_FN];
  const mbg__force *f = l->force;
  const mbg__law_in in = {.q = value,
                          .qd = plane_dot(l->b, q->rel),
                          .attr = p->s->design->attr + f->attr,
                          .opt = f->opt,
                          .fn = none,
                          .scale = f->scale};
  f->law->eval(&in, out);
  v3_axpy(q->F, -out->tau, l->b);
}

static void law(const mbg__plane *p, mbg__plane_law *l, one_pair *q, bool derivatives, mbg__law_out *out) {
  entry e[3];
  mbg__jet3 jet;
  const int n = entries(q, l->coord->type, e);
  coordinate(l->coord, n, e, derivatives ? 2 : 1, &jet);
  v3_zero(l->b);
  for (int i = 0; i < n; i++) {
    v3_axpy(l->b, l->coord->sign * jet.F_z[i], e[i].e1);
  }
  pull_on(p, l, q, l->coord->sign * jet.F, out);
  if (derivatives) {
    slopes(l, n, e, &jet, out, q);
  }
}

/* ---------------------------------------------------------------------- distances

   q = sign |x|, and t is b turned by a right angle: F_ij e1_i e1_j = t t^T/q, qd_G = (t.v) (t/q - e_turn). */

/* b and the distance; false: its square leaves the range of numbers */
static bool distance(mbg__plane_law *l, const mbg__plane_frame *G, real *length) {
  const real square = G->x * G->x + G->y * G->y;
  if (!l->distance || !(re(square) > 1e-280 && re(square) < 1e280)) {
    return false;
  }
  *length = r_sqrt(square);
  const real part = l->coord->sign / *length;
  l->b[0] = part * (G->c * G->x + G->s * G->y);
  l->b[1] = part * (G->c * G->y - G->s * G->x);
  l->b[2] = 0;
  return true;
}

static inline void add_to(lane *x, int q, real value) { lane_set(x, q, lane_get(x, q) + value); }

static void distance_slopes(const mbg__plane_law *l, const one_pair *q, real value, const mbg__law_out *out,
                            mbg__plane_pairs *to) {
  const real b0 = l->b[0], b1 = l->b[1], w = 1 / value, turn = b0 * q->rel[1] - b1 * q->rel[0], T = out->tau * w;
  const real qd = out->tau_qd * w * turn, row0 = out->tau_q * b0 - qd * b1, row1 = out->tau_q * b1 + qd * b0;
  const real row2 = -out->tau_qd * turn;
  lane *G = to->F_G, *v = to->F_v;
  add_to(&G[0], l->q, -(T * b1 * b1 + b0 * row0));
  add_to(&G[1], l->q, T * b1 * b0 - b0 * row1);
  add_to(&G[2], l->q, -(out->tau * b1 + b0 * row2));
  add_to(&G[3], l->q, T * b1 * b0 - b1 * row0);
  add_to(&G[4], l->q, -(T * b0 * b0 + b1 * row1));
  add_to(&G[5], l->q, out->tau * b0 - b1 * row2);
  add_to(&v[0], l->q, -(out->tau_qd * b0 * b0));
  add_to(&v[1], l->q, -(out->tau_qd * b0 * b1));
  add_to(&v[3], l->q, -(out->tau_qd * b0 * b1));
  add_to(&v[4], l->q, -(out->tau_qd * b1 * b1));
}

/* ---------------------------------------------------------------------- all */

static void take_pair(const mbg__plane_pairs *p, int q, one_pair *out) {
  out->G = (mbg__plane_frame){lane_get(&p->G.c, q), lane_get(&p->G.s, q), lane_get(&p->G.x, q), lane_get(&p->G.y, q)};
  for (int k = 0; k < 3; k++) {
    out->rel[k] = lane_get(&p->rel[k], q);
  }
  v3_zero(out->F);
}

static void add_lanes(int n, const real *x, int q, lane *to) {
  for (int i = 0; i < n; i++) {
    lane_set(&to[i], q, lane_get(&to[i], q) + x[i]);
  }
}

/* any other coordinate */
static void general_law(mbg__plane *p, mbg__plane_law *l, one_pair *q, bool derivatives, mbg__law_out *out) {
  mbg__plane_pairs *pairs = &p->pairs[l->pairs];
  m3_zero(q->F_G);
  m3_zero(q->F_v);
  law(p, l, q, derivatives, out);
  if (derivatives) {
    add_lanes(9, q->F_G, l->q, pairs->F_G);
    add_lanes(9, q->F_v, l->q, pairs->F_v);
  }
}

static void one_law(mbg__plane *p, mbg__plane_law *l, bool derivatives) {
  mbg__plane_pairs *pairs = &p->pairs[l->pairs];
  mbg__law_out out = {0};
  one_pair q;
  real length;
  take_pair(pairs, l->q, &q);
  if (distance(l, &q.G, &length)) {
    pull_on(p, l, &q, l->coord->sign * length, &out);
    if (derivatives) {
      distance_slopes(l, &q, l->coord->sign * length, &out, pairs);
    }
  } else {
    general_law(p, l, &q, derivatives, &out);
  }
  add_lanes(3, q.F, l->q, pairs->F);
  if (derivatives) {
    memcpy(l->tau_a, out.tau_a, sizeof(l->tau_a));
  }
}

void mbg__plane_laws(mbg__plane *p, bool derivatives) {
  for (int i = 0; i < p->npairs; i++) {
    mbg__plane_pairs *q = &p->pairs[i];
    if (derivatives || q->laws) {
      ln_zero(3, q->F);
    }
    if (derivatives) {
      ln_zero(9, q->F_G);
    }
    if (derivatives && q->laws) {
      ln_zero(9, q->F_v);
    }
  }
  for (int i = 0; i < p->nlaw; i++) {
    one_law(p, &p->laws[i], derivatives);
  }
}
