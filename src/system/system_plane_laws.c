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

static int entries(const mbg__plane_pair *q, const mbg__coord_type *type, entry e[3]) {
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
                   mbg__plane_pair *q) {
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

static void law(const mbg__plane *p, mbg__plane_law *l, bool derivatives) {
  mbg__plane_pair *q = &p->pairs[l->pair];
  const mbg__force *f = l->force;
  const real none[MBG__LAW_FN] = {0};
  entry e[3];
  mbg__jet3 jet;
  mbg__law_out out = {0};
  const int n = entries(q, l->coord->type, e);
  coordinate(l->coord, n, e, derivatives ? 2 : 1, &jet);
  v3_zero(l->b);
  for (int i = 0; i < n; i++) {
    v3_axpy(l->b, l->coord->sign * jet.F_z[i], e[i].e1);
  }
  const mbg__law_in in = {.q = l->coord->sign * jet.F,
                          .qd = plane_dot(l->b, q->rel),
                          .attr = p->s->design->attr + f->attr,
                          .opt = f->opt,
                          .fn = none,
                          .scale = f->scale};
  f->law->eval(&in, &out);
  v3_axpy(q->F, -out.tau, l->b);
  if (derivatives) {
    slopes(l, n, e, &jet, &out, q);
    memcpy(l->tau_a, out.tau_a, sizeof(l->tau_a));
  }
}

void mbg__plane_laws(mbg__plane *p, bool derivatives) {
  for (int i = 0; i < p->npair; i++) {
    mbg__plane_pair *q = &p->pairs[i];
    v3_zero(q->F);
    if (derivatives) {
      m3_zero(q->F_G);
    }
    if (derivatives && q->law) {
      m3_zero(q->F_v);
    }
  }
  for (int i = 0; i < p->nlaw; i++) {
    law(p, &p->laws[i], derivatives);
  }
}
