/* Values of models in a plane. An entry of G, of which r is row k of its turn, along the relative twist (U, w):

     x_k    b = (r, 0)        e2(v, v) = (U x r) w          R_k1   b = (0, 0, r_2)    e2(v, v) = -r_1 w^2
                                                            R_k2   b = (0, 0, -r_1)   e2(v, v) = -r_2 w^2 */
#include "math/avx2.h"

#define LANES(name) name
#include "system/system_plane_kernel.h"

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

bool mbg__plane_bodies(const mbg_model *m) {
  bool all = m->nbody > 0 && m->nv == 3 * m->nbody && m->nmodal + m->nelement == 0;
  for (int b = 0; all && b < m->nbody; b++) {
    const mbg__body *body = &m->bodies[b];
    all = body->motion == MBG__PLANAR && body->nvel == 6 && body->type->nkey > 0 && body->state < 0 &&
          body->modal < 0 && body->carrier < 0;
    for (int k = 0; all && k < 3; k++) {
      all = m->full[3 * b + k] == body->voff + (k < 2 ? k : 5);
    }
  }
  return all;
}

static bool in_plane(const mbg_model *m) {
  bool all = mbg__plane_bodies(m) && m->ncontact + m->ncurve == 0;
  for (int i = 0; all && i < m->nrow; i++) {
    all = plain_row(m, &m->rows[i]);
  }
  for (int i = 0; all && i < m->nforce; i++) {
    all = plain_law(m, &m->forces[i]);
  }
  return all;
}

/* the place of a pair, which joins the list */
static int use_pair(mbg__plane *p, int *number, int pair) {
  const mbg_model *m = p->s->model;
  if (number[pair] == 0) {
    mbg__plane_pairs *q = &p->pairs[p->npair / MBG__LANES];
    const int side = p->npair++ % MBG__LANES;
    mbg__plane_end *const ends[2] = {&q->A, &q->B};
    const int marker[2] = {m->pairs[pair].A, m->pairs[pair].B};
    for (int k = 0; k < 2; k++) {
      const int body = m->markers[marker[k]].body;
      ends[k]->marker[side] = marker[k];
      ends[k]->body[side] = body >= 0 ? body : m->nbody;
    }
    number[pair] = p->npair;
  }
  return number[pair] - 1;
}

/* x, y, and entries of the turn: c, -s in row 1, s, c in row 2 */
static mbg__plane_row row_of(mbg__plane *p, const mbg__term *t, int place) {
  static const int kind[] = {3, 2, 0, 2, 3}, sign[] = {-1, -1, 0, 1, -1};
  const int e = t->entry[0];
  mbg__plane_pairs *pairs = &p->pairs[place / MBG__LANES];
  mbg__plane_row row = {.pairs = place / MBG__LANES, .q = place % MBG__LANES, .kind = e - MBG__X1, .sign = t->sign};
  if (e < MBG__X1) {
    row.kind = kind[e];
    row.sign *= sign[e];
  }
  row.phi = (const real *)&pairs->phi[row.kind] + row.q;
  row.phid = (const real *)&pairs->phid[row.kind] + row.q;
  row.gamma = (const real *)&pairs->gamma[row.kind] + row.q;
  row.on[0] = (const real *)pairs->on_B[row.kind] + row.q;
  row.on[1] = (const real *)pairs->on_A[row.kind] + row.q;
  row.body[0] = pairs->B.body[row.q];
  row.body[1] = pairs->A.body[row.q];
  row.to[0] = (real *)&pairs->row[0][row.kind] + row.q;
  row.to[1] = (real *)&pairs->row[1][row.kind] + row.q;
  return row;
}

static void list_pairs(mbg__plane *p, int *number) {
  const mbg_model *m = p->s->model;
  for (int i = 0; i < m->nrow; i++) {
    const mbg__term *t = &m->terms[m->rows[i].term];
    p->rows[i] = row_of(p, t, use_pair(p, number, t->pair));
  }
  for (int i = 0; i < m->nforce; i++) {
    const mbg__force *f = &m->forces[i];
    const mbg__coord *c = &m->coords[f->coord];
    const int place = use_pair(p, number, f->pair);
    p->laws[i] = (mbg__plane_law){.force = f,
                                  .coord = c,
                                  .pairs = place / MBG__LANES,
                                  .q = place % MBG__LANES,
                                  .distance = strcmp(c->type->key, "distance") == 0};
    p->pairs[place / MBG__LANES].laws = true;
  }
  p->npairs = (p->npair + MBG__LANES - 1) / MBG__LANES;
}

/* lanes without a pair: both ends on the ground */
static void clear_end(const mbg__plane *p, mbg__plane_end *e) {
  for (int q = 0; q < MBG__LANES; q++) {
    e->marker[q] = -1;
    e->body[q] = p->s->model->nbody;
    lane_set(&e->h.c, q, 1);
  }
}

static int take_arrays(mbg_context *ctx, mbg__arena *arena, mbg__plane *p) {
  const mbg_model *m = p->s->model;
  const size_t groups = ((size_t)m->npair + MBG__LANES - 1) / MBG__LANES, bodies = (size_t)m->nbody + 1;
  vec3 **vectors[] = {&p->v, &p->a, &p->u, &p->z, &p->y, &p->gw, &p->gv};
  p->pairs = mbg__arena_take(arena, groups, sizeof(*p->pairs));
  p->rows = mbg__arena_take(arena, (size_t)m->nrow, sizeof(*p->rows));
  p->laws = mbg__arena_take(arena, (size_t)m->nforce, sizeof(*p->laws));
  p->moved = mbg__arena_take(arena, 2 * groups * MBG__LANES, sizeof(*p->moved));
  p->H = mbg__arena_take(arena, bodies, sizeof(*p->H));
  p->mass = MBG_TAKE(arena, real, 9 * (size_t)m->nbody);
  for (int i = 0; i < MBG_COUNT(vectors); i++) {
    *vectors[i] = mbg__arena_take(arena, bodies + 1, sizeof(vec3)); /* behind them: see gather */
  }
  const int err = mbg__arena_check(ctx, arena);
  for (size_t i = 0; err == MBG_OK && i < groups; i++) {
    clear_end(p, &p->pairs[i].A);
    clear_end(p, &p->pairs[i].B);
  }
  if (err == MBG_OK) {
    p->H[m->nbody].c = 1;
  }
  return err;
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
  *p = (mbg__plane){.s = sys, .nrow = m->nrow, .nlaw = m->nforce, .wide = mbg__lanes_wide()};
  const int err = take_arrays(ctx, arena, p);
  if (err == MBG_OK) {
    list_pairs(p, number);
    *out = p;
  }
  return err;
}

/* ---------------------------------------------------------------------- kinematics */

static bool begin_end(mbg__plane *p, int pairs, bool far) {
  mbg__plane_end *e = far ? &p->pairs[pairs].A : &p->pairs[pairs].B;
  bool flat = true;
  for (int q = 0; q < MBG__LANES; q++) {
    if (e->marker[q] >= 0) {
      const mbg__frame *h = &p->s->design->markers[e->marker[q]]->h;
      lane_set(&e->h.c, q, h->R[0]);
      lane_set(&e->h.s, q, h->R[3]);
      lane_set(&e->h.x, q, h->x[0]);
      lane_set(&e->h.y, q, h->x[1]);
      flat = flat_frame(h) && flat;
      if (p->s->design->markers[e->marker[q]]->ndep > 0) {
        p->moved[p->nmoved++] = (mbg__plane_moved){pairs, q, far};
      }
    }
  }
  return flat;
}

void mbg__plane_begin(mbg__plane *p) {
  static const int at[3] = {0, 1, 5};
  const mbg_model *m = p->s->model;
  p->nmoved = 0;
  p->flat = m->gravity < 0 || p->s->design->attr[m->gravity + 2] == 0;
  for (int i = 0; i < p->npairs; i++) {
    p->flat = begin_end(p, i, false) && p->flat;
    p->flat = begin_end(p, i, true) && p->flat;
  }
  for (int b = 0; b < m->nbody; b++) {
    for (int i = 0; i < 9; i++) {
      p->mass[9 * b + i] = p->s->design->M[36 * b + 6 * at[i / 3] + at[i % 3]];
    }
  }
}

/* of all bodies from a full vector */
static void take_all(const mbg__plane *p, const real *full, vec3 *out) {
  const mbg_model *m = p->s->model;
  for (int b = 0; b < m->nbody; b++) {
    plane_take(out[b], full + m->bodies[b].voff);
  }
}

static void place_pairs(mbg__plane *p) {
#ifdef MBG__AVX2_BEGIN
  if (p->wide) {
    mbg__plane_place_pairs_avx2(p);
    return;
  }
#endif
  mbg__plane_place_pairs(p);
}

bool mbg__plane_place(mbg__plane *p, const mbg__frame *H, const real *v) {
  bool flat = p->flat;
  for (int b = 0; flat && b < p->s->model->nbody; b++) {
    flat = flat_frame(&H[b]);
    p->H[b] = (mbg__plane_frame){.c = H[b].R[0], .s = H[b].R[3], .x = H[b].x[0], .y = H[b].x[1]};
  }
  if (flat) {
    take_all(p, v, p->v);
    place_pairs(p);
  }
  return flat;
}

real *mbg__plane_frames(mbg__plane *p) { return &p->H[0].c; }

bool mbg__plane_place_frames(mbg__plane *p, const real *v) {
  if (p->flat) {
    memcpy(p->v, v, (size_t)p->s->model->nbody * sizeof(vec3));
    place_pairs(p);
  }
  return p->flat;
}

void mbg__plane_state(const mbg__plane *p, mbg__frame *H, real *v) {
  const mbg_model *m = p->s->model;
  for (int b = 0; b < m->nbody; b++) {
    const mbg__plane_frame *h = &p->H[b];
    if (H) {
      flat_frame_set(&H[b], h->c, -h->s, h->s, h->c, h->x, h->y);
    }
    flat_set(v + m->bodies[b].voff, p->v[b][0], p->v[b][1], p->v[b][2]);
  }
}

/* ---------------------------------------------------------------------- values */

/* f of the bodies: ad(v)^T M v + M R^T g */
static void body_forces(mbg__plane *p) {
  for (int b = 0; b < p->s->model->nbody; b++) {
    const real *M = p->mass + 9 * b;
    vec3 momentum, weight = {0};
    plane_mass(M, p->v[b], momentum);
    plane_weight(p, b, weight);
    plane_mass(M, weight, p->gw[b]);
    plane_adT_add(p->gw[b], 1, p->v[b], momentum);
  }
}

static void pair_forces(mbg__plane *p) {
#ifdef MBG__AVX2_BEGIN
  if (p->wide) {
    mbg__plane_force_pairs_avx2(p);
    return;
  }
#endif
  mbg__plane_force_pairs(p);
}

void mbg__plane_values(mbg__plane *p, real *f, real *phi, real *phid, real *gamma) {
  const mbg_model *m = p->s->model;
  mbg__plane_laws(p, false);
  body_forces(p);
  pair_forces(p);
  memset(f, 0, (size_t)m->nw * sizeof(real));
  for (int b = 0; b < m->nbody; b++) {
    plane_give(f + m->bodies[b].voff, p->gw[b]);
  }
  for (int i = 0; i < p->nrow; i++) {
    const mbg__plane_row *row = &p->rows[i];
    phi[i] = row->sign * *row->phi;
    phid[i] = row->sign * *row->phid;
    gamma[i] = row->sign * *row->gamma;
  }
}

void mbg__plane_columns(const mbg__plane *p, int n, const int *rows, const mbg__strided *out) {
  const int nbody = p->s->model->nbody;
  const size_t down = out->down;
  memset(out->entries, 0, out->count * sizeof(real));
  for (int i = 0; i < n; i++) {
    const mbg__plane_row *row = &p->rows[rows[i]];
    for (int side = 0; side < 2; side++) {
      if (row->body[side] < nbody) {
        real *entry = out->entries + 3 * (size_t)row->body[side] * down + (size_t)i * out->across;
        const real *on = row->on[side];
        const double sign = side ? -row->sign : row->sign;
        entry[0] += sign * on[0];
        entry[down] += sign * on[MBG__LANES];
        entry[2 * down] += sign * on[2 * MBG__LANES];
      }
    }
  }
}

const real *mbg__plane_mass(const mbg__plane *p) { return p->mass; }

void mbg__plane_mass_mul(const mbg__plane *p, const real *x, real *y) {
  for (int b = 0; b < p->s->model->nbody; b++) {
    plane_mass(p->mass + 9 * b, x + 3 * b, y + 3 * b);
  }
}

/* ---------------------------------------------------------------------- linearization */

/* numbers of rows on their pairs */
static void spread_rows(mbg__plane *p, const real *x, const real *y) {
  for (int i = 0; i < p->npairs; i++) {
    memset(p->pairs[i].row, 0, sizeof(p->pairs[i].row));
  }
  for (int i = 0; i < p->nrow; i++) {
    const mbg__plane_row *row = &p->rows[i];
    *row->to[0] += row->sign * x[i];
    *row->to[1] += row->sign * y[i];
  }
}

void mbg__plane_linearize(mbg__plane *p, const real *a, const real *lambda, const real *u, const real *kappa) {
  mbg__plane_laws(p, true);
  take_all(p, a, p->a);
  take_all(p, u, p->u);
  spread_rows(p, lambda, kappa);
#ifdef MBG__AVX2_BEGIN
  if (p->wide) {
    mbg__plane_linearize_pairs_avx2(p);
    return;
  }
#endif
  mbg__plane_linearize_pairs(p);
}

/* ---------------------------------------------------------------------- transposed */

void mbg__plane_pull(mbg__plane *p, const mbg__plane_weights *c, real *gw, real *gv, real *ga) {
  const mbg_model *m = p->s->model;
  const size_t bodies = (size_t)m->nbody * sizeof(vec3);
  memset(p->gw, 0, bodies);
  memset(p->gv, 0, bodies);
  memcpy(p->z, c->z, bodies);
  memcpy(p->y, c->y, bodies);
  spread_rows(p, c->mu, c->nu);
#ifdef MBG__AVX2_BEGIN
  if (p->wide) {
    mbg__plane_pull_pairs_avx2(p, c->beta);
  } else {
    mbg__plane_pull_pairs(p, c->beta);
  }
#else
  mbg__plane_pull_pairs(p, c->beta);
#endif
  mbg__plane_pull_bodies(p);
  if (ga) {
    mbg__plane_pull_attributes(p, ga);
  }
  const real *w = p->gw[0], *v = p->gv[0];
  for (int i = 0; i < 3 * m->nbody; i++) {
    gw[i] += w[i];
    gv[i] += v[i];
  }
}
