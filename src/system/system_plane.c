/* Values of models in a plane. An entry of G, of which r is row k of its turn, along the relative twist (U, w):

     x_k    b = (r, 0)        e2(v, v) = (U x r) w          R_k1   b = (0, 0, r_2)    e2(v, v) = -r_1 w^2
                                                            R_k2   b = (0, 0, -r_1)   e2(v, v) = -r_2 w^2 */
#include "system/system_plane.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

static bool plain_row(const mbg_model *m, const mbg__row *row) {
  const mbg__term *t = &m->terms[row->term];
  if (row->nterm != 1 || row->rate || !mbg__term_plain(t) || t->profile || t->nentry != 1) {
    return false;
  }
  const int e = t->entry[0];
  return e < MBG__X1 ? e / 3 < 2 && e % 3 < 2 : e - MBG__X1 < 2;
}

static bool plain_law(const mbg_model *m, const mbg__force *f) {
  const mbg__coord *c = f->law ? &m->coords[f->coord] : NULL;
  return c && !f->law->tendon && f->nfn == 0 && !f->late && c->turn < 0 && !c->term && f->pair == c->pair;
}

static bool in_plane(const mbg_model *m) {
  bool all = m->nbody > 0 && m->nv == 3 * m->nbody && m->nmodal + m->nelement + m->ncontact + m->ncurve == 0;
  for (int b = 0; all && b < m->nbody; b++) {
    const mbg__body *body = &m->bodies[b];
    all = body->motion == MBG__PLANAR && body->nvel == 6 && body->type->nkey > 0 && body->state < 0 &&
          body->modal < 0 && body->carrier < 0;
    for (int k = 0; all && k < 3; k++) {
      all = m->full[3 * b + k] == body->voff + (k < 2 ? k : 5);
    }
  }
  for (int i = 0; all && i < m->nrow; i++) {
    all = plain_row(m, &m->rows[i]);
  }
  for (int i = 0; all && i < m->nforce; i++) {
    all = plain_law(m, &m->forces[i]);
  }
  return all;
}

static mbg__plane_end end_of(const mbg_model *m, int marker) {
  return (mbg__plane_end){.marker = marker, .body = m->markers[marker].body};
}

/* the number of a pair, which joins the list */
static int use_pair(mbg__plane *p, int *number, int pair) {
  const mbg_model *m = p->s->model;
  if (number[pair] == 0) {
    p->pairs[p->npair++] = (mbg__plane_pair){
        .pair = pair, .first = -1, .A = end_of(m, m->pairs[pair].A), .B = end_of(m, m->pairs[pair].B)};
    number[pair] = p->npair;
  }
  return number[pair] - 1;
}

static void list_pairs(mbg__plane *p, int *number) {
  const mbg_model *m = p->s->model;
  for (int i = 0; i < m->nrow; i++) {
    const mbg__term *t = &m->terms[m->rows[i].term];
    const int e = t->entry[0];
    mbg__plane_pair *q = &p->pairs[use_pair(p, number, t->pair)];
    p->rows[i] = (mbg__plane_row){.pair = (int)(q - p->pairs),
                                  .next = q->first,
                                  .k = e < MBG__X1 ? e / 3 : e - MBG__X1,
                                  .l = e < MBG__X1 ? e % 3 : -1,
                                  .sign = t->sign};
    q->first = i;
  }
  for (int i = 0; i < m->nforce; i++) {
    const mbg__force *f = &m->forces[i];
    p->laws[i] = (mbg__plane_law){.force = f, .coord = &m->coords[f->coord], .pair = use_pair(p, number, f->pair)};
    p->pairs[p->laws[i].pair].law = true;
  }
}

int mbg__plane_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, mbg__plane **out) {
  const mbg_model *m = sys->model;
  *out = NULL;
  if (!in_plane(m) || sys->any_broken || sys->ncross > 0 || sys->nlate > 0) {
    return MBG_OK;
  }
  mbg__plane *p = MBG_TAKE(arena, mbg__plane, 1);
  int *number = MBG_TAKE(arena, int, m->npair);
  if (!p || !number) {
    return mbg__fail_memory(ctx);
  }
  *p = (mbg__plane){.s = sys, .nrow = m->nrow, .nlaw = m->nforce};
  p->pairs = mbg__arena_take(arena, (size_t)m->npair, sizeof(*p->pairs));
  p->rows = mbg__arena_take(arena, (size_t)m->nrow, sizeof(*p->rows));
  p->laws = mbg__arena_take(arena, (size_t)m->nforce, sizeof(*p->laws));
  p->H = mbg__arena_take(arena, (size_t)m->nbody, sizeof(*p->H));
  p->gw = mbg__arena_take(arena, (size_t)m->nbody, sizeof(*p->gw));
  p->gv = mbg__arena_take(arena, (size_t)m->nbody, sizeof(*p->gv));
  p->a = MBG_TAKE(arena, real, m->nw);
  const int err = mbg__arena_check(ctx, arena);
  if (err == MBG_OK) {
    list_pairs(p, number);
    *out = p;
  }
  return err;
}

/* ---------------------------------------------------------------------- kinematics */

static mbg__plane_frame read_frame(const mbg__frame *H) {
  return (mbg__plane_frame){.c = H->R[0], .s = H->R[3], .x = H->x[0], .y = H->x[1]};
}

static bool begin_end(const mbg__plane *p, mbg__plane_end *e) {
  const mbg__frame *h = &p->s->design->markers[e->marker]->h;
  e->H = e->h = read_frame(h);
  return flat_frame(h);
}

void mbg__plane_begin(mbg__plane *p) {
  const mbg_model *m = p->s->model;
  p->flat = m->gravity < 0 || p->s->design->attr[m->gravity + 2] == 0;
  for (int i = 0; i < p->npair; i++) {
    p->flat = begin_end(p, &p->pairs[i].A) && p->flat;
    p->flat = begin_end(p, &p->pairs[i].B) && p->flat;
  }
}

static void place_end(const mbg__plane *p, mbg__plane_end *e, const real *v) {
  if (e->body >= 0) {
    const mbg__plane_frame *H = &p->H[e->body], *m = &e->h;
    vec3 own;
    e->H = (mbg__plane_frame){.c = H->c * m->c - H->s * m->s,
                              .s = H->s * m->c + H->c * m->s,
                              .x = H->x + H->c * m->x - H->s * m->y,
                              .y = H->y + H->s * m->x + H->c * m->y};
    plane_take(own, v + p->s->model->bodies[e->body].voff);
    plane_in(&e->h, own, e->v);
  }
}

/* G, the relative twist and ad(v_rel) a */
static void place_pair(mbg__plane_pair *q) {
  const mbg__plane_frame *A = &q->A.H, *B = &q->B.H;
  const real x = B->x - A->x, y = B->y - A->y;
  q->G = (mbg__plane_frame){.c = A->c * B->c + A->s * B->s,
                            .s = A->c * B->s - A->s * B->c,
                            .x = A->c * x + A->s * y,
                            .y = A->c * y - A->s * x};
  plane_in(&q->G, q->A.v, q->a);
  v3_sub(q->rel, q->B.v, q->a);
  q->rest[0] = q->rel[1] * q->a[2] - q->rel[2] * q->a[1];
  q->rest[1] = q->rel[2] * q->a[0] - q->rel[0] * q->a[2];
}

static void place_row(const mbg__plane *p, mbg__plane_row *row) {
  const mbg__plane_frame *G = &p->pairs[row->pair].G;
  real r[2];
  plane_row(G, row->k, r);
  if (row->l < 0) {
    v3_scale(row->b, row->sign, (const real[3]){r[0], r[1], 0});
  } else {
    row->b[0] = row->b[1] = 0;
    row->b[2] = row->sign * (row->l ? -r[0] : r[1]);
  }
  row->slope = row->l < 0 ? 0 : row->sign * (row->l ? -r[1] : -r[0]);
}

bool mbg__plane_place(mbg__plane *p, const mbg__frame *H, const real *v) {
  const mbg_model *m = p->s->model;
  bool flat = p->flat;
  for (int b = 0; flat && b < m->nbody; b++) {
    flat = flat_frame(&H[b]);
    p->H[b] = read_frame(&H[b]);
  }
  if (!flat) {
    return false;
  }
  p->v = v;
  for (int i = 0; i < p->npair; i++) {
    mbg__plane_pair *q = &p->pairs[i];
    place_end(p, &q->A, v);
    place_end(p, &q->B, v);
    place_pair(q);
  }
  for (int i = 0; i < p->nrow; i++) {
    place_row(p, &p->rows[i]);
  }
  return true;
}

/* ---------------------------------------------------------------------- values */

/* f of the bodies: ad(v)^T M v + M R^T g */
static void body_forces(const mbg__plane *p, real *f) {
  const mbg_model *m = p->s->model;
  for (int b = 0; b < m->nbody; b++) {
    const real *M = plane_M(p, b);
    vec3 v, momentum, own, weight = {0};
    plane_take(v, p->v + m->bodies[b].voff);
    plane_mass(M, v, momentum);
    plane_weight(p, b, weight);
    plane_mass(M, weight, own);
    plane_adT_add(own, 1, v, momentum);
    plane_give(f + m->bodies[b].voff, own);
  }
}

/* a wrench F on B acts on both bodies */
static void pair_forces(const mbg__plane *p, const mbg__plane_pair *q, const real F[3], real *f) {
  vec3 x, y;
  if (q->B.body >= 0) {
    plane_out(&q->B.h, F, x);
    plane_give(f + p->s->model->bodies[q->B.body].voff, x);
  }
  if (q->A.body >= 0) {
    plane_out(&q->G, F, y);
    plane_out(&q->A.h, y, x);
    v3_scale(x, -1, x);
    plane_give(f + p->s->model->bodies[q->A.body].voff, x);
  }
}

static void row_values(const mbg__plane *p, const mbg__plane_row *row, real *phi, real *phid, real *gamma) {
  const mbg__plane_pair *q = &p->pairs[row->pair];
  const mbg__plane_frame *G = &q->G;
  const real *v = q->rel, *b = row->b;
  if (row->l < 0) {
    *phi = row->sign * (row->k ? G->y : G->x);
    *gamma = (v[0] * b[1] - v[1] * b[0]) * v[2];
  } else {
    *phi = row->sign * (row->k == row->l ? G->c : row->k ? G->s : -G->s);
    *gamma = row->slope * v[2] * v[2];
  }
  *phid = plane_dot(b, v);
  *gamma += b[0] * q->rest[0] + b[1] * q->rest[1];
}

void mbg__plane_values(mbg__plane *p, real *f, real *phi, real *phid, real *gamma) {
  const mbg_model *m = p->s->model;
  mbg__plane_laws(p, false);
  memset(f, 0, (size_t)m->nw * sizeof(real));
  body_forces(p, f);
  for (int k = 0; k < p->npair; k++) {
    if (p->pairs[k].law) {
      pair_forces(p, &p->pairs[k], p->pairs[k].F, f);
    }
  }
  for (int i = 0; i < p->nrow; i++) {
    row_values(p, &p->rows[i], &phi[i], &phid[i], &gamma[i]);
  }
}

void mbg__plane_columns(const mbg__plane *p, int n, const int *rows, real *columns) {
  const size_t nv = (size_t)p->s->model->nv;
  memset(columns, 0, (size_t)n * nv * sizeof(real));
  for (int i = 0; i < n; i++) {
    const mbg__plane_row *row = &p->rows[rows[i]];
    const mbg__plane_pair *q = &p->pairs[row->pair];
    real *column = columns + (size_t)i * nv;
    vec3 x, y;
    if (q->B.body >= 0) {
      plane_out(&q->B.h, row->b, x);
      v3_axpy(column + 3 * q->B.body, 1, x);
    }
    if (q->A.body >= 0) {
      plane_out(&q->G, row->b, y);
      plane_out(&q->A.h, y, x);
      v3_axpy(column + 3 * q->A.body, -1, x);
    }
  }
}

void mbg__plane_mass_mul(const mbg__plane *p, const real *x, real *y) {
  for (int b = 0; b < p->s->model->nbody; b++) {
    plane_mass(plane_M(p, b), x + 3 * b, y + 3 * b);
  }
}
