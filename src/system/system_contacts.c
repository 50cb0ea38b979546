/* Broad phase of contacts between spheres: sweep and prune. Spheres are kept in the order of their lower ends along x
   (an insertion sort: they hardly change between two calls); a sphere is compared with those that begin before it ends.
   Contacts that are not found are apart: their pairs are left out of kinematics, wrenches and matrices, where their
   terms are exactly 0. So results do not depend on it, and its cost grows with the spheres and the pairs that are near.

   Taken in are contacts between spheres whose pair nobody else looks at: no signal, joint or second force. */
#include "elements/contact_shape.h"
#include "system/system_internal.h"

#include <string.h>

enum { FEW = 16 }; /* contacts below which a sweep does not pay */

struct mbg__broad {
  int n;                        /* spheres */
  int *marker;                  /* (n) */
  double *radius;               /* the largest of its contacts                      (n) */
  double (*x)[3];               /* centres                                         (n) */
  int *order;                   /* by x - radius                                   (n) */
  int ncontact;                 /* contacts that take part */
  int *force, (*end)[2];        /* their forces, and their two spheres: A, B    (ncontact) */
  int *first, *other, *contact; /* of each sphere: partners of larger number, ascending (n + 1), (ncontact) twice */
  int nnear, *near, nbefore, *before; /* contacts that are not apart: now, before   (ncontact) */
};

/* ---------------------------------------------------------------------- creation */

/* uses of each pair besides forces of contact type, which count 1 */
static void count_uses(const mbg_model *m, int *uses) {
  for (int i = 0; i < m->nforce; i++) {
    uses[m->forces[i].pair]++;
  }
  for (int i = 0; i < m->nelement; i++) {
    uses[m->elements[i].pair]++;
  }
  for (int i = 0; i < m->nterm; i++) {
    if (m->terms[i].pair >= 0) {
      uses[m->terms[i].pair]++;
    }
  }
  for (int i = 0; i < m->ncoord; i++) {
    uses[m->coords[i].pair]++;
  }
  for (int i = 0; i < m->nsignal; i++) {
    const mbg__signal *sig = &m->signals[i];
    if (sig->type->of == MBG__OF_PAIR) {
      uses[sig->pair]++;
    } else if (sig->type->of == MBG__OF_FORCE) {
      uses[m->forces[sig->force].pair]++;
    }
  }
}

static bool takes_part(const mbg__system *s, int i, const int *uses) {
  const mbg__force *f = &s->model->forces[i];
  const mbg__pair *pair = &s->model->pairs[f->pair];
  return f->type && f->type->measure && f->opt[0] == MBG__CONTACT_SPHERE && uses[f->pair] == 1 && !s->end[pair->A] &&
         !s->end[pair->B];
}

static int take_broad(mbg_context *ctx, mbg__system *s, mbg__broad *b, int ncontact) {
  mbg__arena *arena = &s->arena;
  const int n = s->model->nmarker;
  b->marker = MBG_TAKE(arena, int, n);
  b->radius = MBG_TAKE(arena, double, n);
  b->x = mbg__arena_take(arena, (size_t)n, sizeof(*b->x));
  b->order = MBG_TAKE(arena, int, n);
  b->force = MBG_TAKE(arena, int, ncontact);
  b->end = mbg__arena_take(arena, (size_t)ncontact, sizeof(*b->end));
  b->first = MBG_TAKE(arena, int, n + 2);
  b->other = MBG_TAKE(arena, int, ncontact);
  b->contact = MBG_TAKE(arena, int, ncontact);
  b->near = MBG_TAKE(arena, int, ncontact);
  b->before = MBG_TAKE(arena, int, ncontact);
  s->apart = MBG_TAKE(arena, bool, s->model->nforce);
  return mbg__arena_check(ctx, arena);
}

/* partners of each sphere, ascending: contacts sorted by their larger number, then, stable, by their smaller one */
static void list_partners(mbg__broad *b, int *scratch, int *count) {
  for (int pass = 0; pass < 2; pass++) {
    memset(count, 0, (size_t)(b->n + 1) * sizeof(*count));
    for (int k = 0; k < b->ncontact; k++) {
      const int *e = b->end[k], low = e[0] < e[1] ? e[0] : e[1], high = e[0] + e[1] - low;
      count[(pass ? low : high) + 1]++;
    }
    for (int i = 0; i < b->n; i++) {
      count[i + 1] += count[i];
    }
    memcpy(b->first, count, (size_t)(b->n + 1) * sizeof(*count));
    for (int j = 0; j < b->ncontact; j++) {
      const int k = pass ? scratch[j] : j, *e = b->end[k], low = e[0] < e[1] ? e[0] : e[1], high = e[0] + e[1] - low;
      (pass ? b->contact : scratch)[count[pass ? low : high]++] = k;
    }
  }
  for (int j = 0; j < b->ncontact; j++) {
    const int *e = b->end[b->contact[j]];
    b->other[j] = e[0] > e[1] ? e[0] : e[1];
  }
}

static void fill_broad(mbg__system *s, mbg__broad *b, const int *uses, int *sphere) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nmarker; i++) {
    sphere[i] = -1;
  }
  for (int i = 0; i < m->nforce; i++) {
    if (!takes_part(s, i, uses)) {
      continue;
    }
    const int ends[2] = {m->pairs[m->forces[i].pair].A, m->pairs[m->forces[i].pair].B};
    for (int k = 0; k < 2; k++) {
      if (sphere[ends[k]] < 0) {
        sphere[ends[k]] = b->n;
        b->order[b->n] = b->n;
        b->marker[b->n++] = ends[k];
      }
      b->end[b->ncontact][k] = sphere[ends[k]];
    }
    b->force[b->ncontact++] = i;
    s->apart[i] = true;
  }
}

int mbg__broad_create(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  int err = MBG_OK, ncontact = 0;
  int *uses = mbg__alloc_zero(ctx, (size_t)m->npair + 1, sizeof(int));
  int *scratch = mbg__alloc_zero(ctx, (size_t)m->nmarker + (size_t)m->nforce + 1, sizeof(int));
  int *count = mbg__alloc_zero(ctx, (size_t)m->nmarker + 2, sizeof(int));
  if (!uses || !scratch || !count) {
    err = mbg__fail_memory(ctx);
    goto MBG__TO(done);
  }
  count_uses(m, uses);
  for (int i = 0; i < m->nforce; i++) {
    ncontact += takes_part(s, i, uses);
  }
  if (ncontact < FEW) {
    goto MBG__TO(done);
  }
  s->broad = mbg__arena_take(&s->arena, 1, sizeof(*s->broad));
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  *s->broad = (mbg__broad){0};
  MBG_TRY(take_broad(ctx, s, s->broad, ncontact));
  fill_broad(s, s->broad, uses, scratch);
  list_partners(s->broad, scratch, count);
  mbg__broad_select(s);
done:
  mbg__free(ctx, uses);
  mbg__free(ctx, scratch);
  mbg__free(ctx, count);
  return err;
}

/* ---------------------------------------------------------------------- sweep */

/* a contact and its pair leave: nothing of them is in the equations */
static void leave(mbg__system *s, int force) {
  const int pair = s->model->forces[force].pair;
  s->pair_on[pair] = s->loaded[pair] = false;
  s->tau[force] = s->energy[force] = 0;
  s->force_na[force] = 0;
  v6_zero(s->f[force]);
  v6_zero(s->energy_G[force]);
  m6_zero(s->force_G[force]);
  m6_zero(s->force_v[force]);
  v6_zero(s->F[pair]);
  m6_zero(s->F_G[pair]);
  m6_zero(s->F_v[pair]);
}

static void place_spheres(const mbg__system *s, mbg__broad *b) {
  for (int i = 0; i < b->n; i++) {
    const real *x = s->Hm[b->marker[i]].x;
    for (int k = 0; k < 3; k++) {
      b->x[i][k] = re(x[k]);
    }
    b->radius[i] = 0;
  }
  for (int k = 0; k < b->ncontact; k++) {
    const real *a = s->design->attr + s->model->forces[b->force[k]].attr; /* radius of B, radius of A */
    for (int e = 0; e < 2; e++) {
      double *r = &b->radius[b->end[k][e]];
      *r = fmax(*r, re(a[1 - e]));
    }
  }
}

static double low_end(const mbg__broad *b, int i) { return b->x[i][0] - b->radius[i]; }

static void sort_spheres(mbg__broad *b) {
  for (int k = 1; k < b->n; k++) {
    const int i = b->order[k];
    const double low = low_end(b, i);
    int j = k;
    for (; j > 0 && low_end(b, b->order[j - 1]) > low; j--) {
      b->order[j] = b->order[j - 1];
    }
    b->order[j] = i;
  }
}

/* the contact of two spheres, or -1 */
static int contact_of(const mbg__broad *b, int i, int k) {
  const int small = i < k ? i : k, large = i + k - small;
  int low = b->first[small], high = b->first[small + 1];
  while (low < high) {
    const int middle = (low + high) / 2;
    if (b->other[middle] < large) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < b->first[small + 1] && b->other[low] == large ? b->contact[low] : -1;
}

/* rounding must not decide: boxes are a little larger than their spheres */
static bool near_along(const mbg__broad *b, int i, int k, int axis) {
  const double reach = b->radius[i] + b->radius[k], x = b->x[i][axis], y = b->x[k][axis];
  return fabs(x - y) <= reach + 1e-9 * (reach + fabs(x) + fabs(y));
}

static void find_near(mbg__system *s, mbg__broad *b) {
  for (int k = 0; k < b->n; k++) {
    const int i = b->order[k];
    const double end = b->x[i][0] + b->radius[i] + 1e-9 * (fabs(b->x[i][0]) + b->radius[i]);
    for (int j = k + 1; j < b->n && low_end(b, b->order[j]) <= end; j++) {
      const int o = b->order[j];
      const int c = near_along(b, i, o, 1) && near_along(b, i, o, 2) ? contact_of(b, i, o) : -1;
      if (c >= 0) {
        s->apart[b->force[c]] = false;
        b->near[b->nnear++] = c;
      }
    }
  }
}

void mbg__broad_sweep(mbg__system *s) {
  mbg__broad *b = s->broad;
  if (!b) {
    return;
  }
  int *swap = b->before;
  b->before = b->near;
  b->near = swap;
  b->nbefore = b->nnear;
  b->nnear = 0;
  for (int k = 0; k < b->nbefore; k++) {
    s->apart[b->force[b->before[k]]] = true;
  }
  place_spheres(s, b);
  sort_spheres(b);
  find_near(s, b);
  for (int k = 0; k < b->nbefore; k++) {
    if (s->apart[b->force[b->before[k]]]) {
      leave(s, b->force[b->before[k]]);
    }
  }
  for (int k = 0; k < b->nnear; k++) {
    s->pair_on[s->model->forces[b->force[b->near[k]]].pair] = true;
  }
}

void mbg__broad_select(mbg__system *s) {
  const mbg__broad *b = s->broad;
  for (int k = 0; b && k < b->ncontact; k++) {
    s->pair_on[s->model->forces[b->force[k]].pair] = !s->apart[b->force[k]];
  }
}

void mbg__broad_unload(mbg__system *s) {
  const mbg__broad *b = s->broad;
  for (int k = 0; b && k < b->ncontact; k++) {
    if (s->apart[b->force[k]]) {
      s->loaded[s->model->forces[b->force[k]].pair] = false;
    }
  }
}
