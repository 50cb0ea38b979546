/* Signals of planar bodies: relative frames and twists of a sampling's pairs in three components, written where the
   signals and their transposes look for them. */
#include "system/system_plane.h"

#include <string.h>

/* One end of a pair; the ground is a body that does not move. */
typedef struct {
  int marker, body;   /* body: entry of the list of bodies */
  mbg__plane_frame h; /* on the body */
  mbg__plane_frame H;
  vec3 v;
} sample_end;

typedef struct {
  int pair;
  sample_end A, B;
} sample_pair;

struct mbg__plane_sample {
  mbg__system *s;
  const mbg__sampling *what;
  int npair, nbody;
  sample_pair *pairs;   /*                                              (npair) */
  int *body;            /* those of the ends, then the ground: -1       (nbody + 1) */
  mbg__plane_frame *at; /*                                              (nbody + 1) */
};

/* ---------------------------------------------------------------------- creation */

/* the place of a body in the list, which it joins */
static int place_of(mbg__plane_sample *p, int body) {
  int i = 0;
  while (i < p->nbody && p->body[i] != body) {
    i++;
  }
  if (i == p->nbody) {
    p->body[p->nbody++] = body;
  }
  return i;
}

static void list_bodies(mbg__plane_sample *p) {
  const mbg_model *m = p->s->model;
  for (int side = 0; side < 2; side++) { /* the ground comes last */
    for (int i = 0; i < 2 * p->npair; i++) {
      sample_end *e = i % 2 ? &p->pairs[i / 2].B : &p->pairs[i / 2].A;
      const int body = m->markers[e->marker].body;
      if ((body < 0) == side) {
        e->body = body < 0 ? p->nbody : place_of(p, body);
      }
    }
  }
  p->body[p->nbody] = -1;
  p->at[p->nbody].c = 1;
}

int mbg__plane_sample_create(mbg_context *ctx, mbg__arena *arena, mbg__system *s, const mbg__sampling *what,
                             mbg__plane_sample **out) {
  *out = NULL;
  if (what->level != MBG__SAMPLE_KINEMATICS || what->few || !mbg__plane_bodies(s->model)) {
    return MBG_OK;
  }
  mbg__plane_sample *p = MBG_TAKE(arena, mbg__plane_sample, 1);
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  *p = (mbg__plane_sample){.s = s, .what = what, .npair = what->npair};
  p->pairs = mbg__arena_take(arena, (size_t)p->npair, sizeof(*p->pairs));
  p->body = MBG_TAKE(arena, int, 2 * p->npair + 1);
  p->at = mbg__arena_take(arena, 2 * (size_t)p->npair + 1, sizeof(*p->at));
  const int err = mbg__arena_check(ctx, arena);
  for (int i = 0; err == MBG_OK && i < p->npair; i++) {
    const mbg__pair *pair = &s->model->pairs[what->pair[i]];
    p->pairs[i] = (sample_pair){.pair = what->pair[i], .A.marker = pair->A, .B.marker = pair->B};
  }
  if (err == MBG_OK) {
    list_bodies(p);
    *out = p;
  }
  return err;
}

int mbg__plane_turns_create(mbg_context *ctx, mbg__arena *arena, mbg__system *s, mbg__sampling *what,
                            mbg__plane_sample **out) {
  const mbg_model *m = s->model;
  *what = (mbg__sampling){.level = MBG__SAMPLE_KINEMATICS};
  what->coord = MBG_TAKE(arena, int, m->nturn);
  what->pair = MBG_TAKE(arena, int, m->nturn);
  for (int i = 0; what->coord && what->pair && i < m->ncoord; i++) {
    if (m->coords[i].turn >= 0) {
      what->coord[what->ncoord++] = i;
      what->pair[what->npair++] = m->coords[i].pair;
    }
  }
  return mbg__plane_sample_create(ctx, arena, s, what, out);
}

static bool begin_end(const mbg__plane_sample *p, sample_end *e) {
  const mbg__frame *h = &p->s->design->markers[e->marker]->h;
  e->h = (mbg__plane_frame){.c = h->R[0], .s = h->R[3], .x = h->x[0], .y = h->x[1]};
  return flat_frame(h);
}

bool mbg__plane_sample_begin(mbg__plane_sample *p) {
  bool flat = true;
  for (int i = 0; i < p->npair; i++) {
    flat = begin_end(p, &p->pairs[i].A) && flat;
    flat = begin_end(p, &p->pairs[i].B) && flat;
  }
  return flat;
}

const int *mbg__plane_sample_bodies(const mbg__plane_sample *p, int *count) {
  *count = p->nbody;
  return p->body;
}

real *mbg__plane_sample_frame(mbg__plane_sample *p, int body) { return &p->at[body].c; }

/* ---------------------------------------------------------------------- relative motion */

static mbg__plane_frame frame_product(const mbg__plane_frame *a, const mbg__plane_frame *b) {
  return (mbg__plane_frame){.c = a->c * b->c - a->s * b->s,
                            .s = a->s * b->c + a->c * b->s,
                            .x = a->x + a->c * b->x - a->s * b->y,
                            .y = a->y + a->s * b->x + a->c * b->y};
}

/* a^-1 b */
static mbg__plane_frame frame_between(const mbg__plane_frame *a, const mbg__plane_frame *b) {
  const real x = b->x - a->x, y = b->y - a->y;
  return (mbg__plane_frame){.c = a->c * b->c + a->s * b->s,
                            .s = a->c * b->s - a->s * b->c,
                            .x = a->c * x + a->s * y,
                            .y = a->c * y - a->s * x};
}

/* Ad(h^-1) v */
static void twist_in(const mbg__plane_frame *h, const real v[3], real out[3]) {
  const real x = v[0] - v[2] * h->y, y = v[1] + v[2] * h->x;
  out[0] = h->c * x + h->s * y;
  out[1] = h->c * y - h->s * x;
  out[2] = v[2];
}

static void place_end(mbg__plane_sample *p, sample_end *e, const real *v) {
  const int body = p->body[e->body];
  e->H = frame_product(&p->at[e->body], &e->h);
  if (body >= 0) {
    twist_in(&e->h, v + 3 * (size_t)body, e->v);
    flat_set(p->s->vm[e->marker], e->v[0], e->v[1], e->v[2]);
  }
}

static void place_pair(mbg__plane_sample *p, sample_pair *q, const real *v) {
  mbg__system *s = p->s;
  vec3 a = {0};
  place_end(p, &q->A, v);
  place_end(p, &q->B, v);
  const mbg__plane_frame G = frame_between(&q->A.H, &q->B.H);
  flat_frame_set(&s->G[q->pair], G.c, -G.s, G.s, G.c, G.x, G.y);
  if (q->A.body < p->nbody) {
    twist_in(&G, q->A.v, a);
  }
  flat_set(s->a[q->pair], a[0], a[1], a[2]);
  flat_set(s->vrel[q->pair], q->B.v[0] - a[0], q->B.v[1] - a[1], q->B.v[2] - a[2]);
}

static void place(mbg__plane_sample *p, real t, const real *v) {
  mbg__system *s = p->s;
  s->partial = s->flat = true;
  s->place++;
  s->t = t;
  for (int i = 0; i < p->npair; i++) {
    place_pair(p, &p->pairs[i], v);
  }
  for (int k = 0; k < p->what->ncoord; k++) {
    mbg__coord_update(s, p->what->coord[k]);
  }
}

/* ---------------------------------------------------------------------- signals */

int mbg__plane_sample_values(mbg_context *ctx, mbg__plane_sample *p, real t, const real *v, real *y) {
  place(p, t, v);
  return mbg__sample_values(ctx, p->s, p->what, y);
}

void mbg__plane_sample_coords(mbg__plane_sample *p, real t, const real *v, const int *turns) {
  memcpy(p->s->turns, turns, (size_t)p->s->model->nturn * sizeof(int));
  place(p, t, v);
}

int mbg__plane_sample_both(mbg_context *ctx, mbg__plane_sample *p, real t, const real *v) {
  place(p, t, v);
  return mbg__sample_both(ctx, p->s, p->what, NULL);
}
