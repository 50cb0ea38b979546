/* Elements in threads. Values of markers, pairs, rows and bodies do not depend on each other. Sums over the pairs of a
   body and over attributes need an order: pairs are put into classes, so that two pairs of a class share neither a body
   nor an attribute. Classes follow one another, and their number and order depend on the model alone; a small model has
   one class in the order of its pairs, which one thread goes through. */
#include "system/system_internal.h"

#include <string.h>

enum { LARGE = 128 }; /* pairs from which on there are classes */

void mbg__system_share(mbg__system *s, mbg__pool *pool) { s->pool = pool; }

bool mbg__system_can_view(const mbg__system *of) {
  return of->model->nelement == 0 && of->ncross == 0 && of->nlate == 0;
}

bool mbg__system_view(mbg__system *view, const mbg__system *of) {
  if (!mbg__system_can_view(of)) {
    return false;
  }
  /* everything but the memory of the view and what pushes write to */
  const mbg__system own = *view;
  *view = *of;
  view->arena = own.arena;
  view->pool = own.pool;
  view->m_geo = own.m_geo;
  view->m_w = own.m_w;
  view->m_dv = own.m_dv;
  view->m_dvd = own.m_dvd;
  view->p_w = own.p_w;
  view->p_dv = own.p_dv;
  view->p_dvd = own.p_dvd;
  view->p_f = own.p_f;
  view->modal = own.modal;
  view->end_change = own.end_change;
  mbg__modals_view(view, of);
  return true;
}

int mbg__system_create_view(mbg_context *ctx, const mbg__system *of, mbg__system **out) {
  const mbg_model *m = of->model;
  mbg__system *s = *out = mbg__alloc_zero(ctx, 1, sizeof(*s));
  int err = MBG_OK;
  if (!s) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  vec6 **const markers[] = {&s->m_geo, &s->m_w, &s->m_dv, &s->m_dvd},
               **const pairs[] = {&s->p_w, &s->p_dv, &s->p_dvd, &s->p_f};
  for (int i = 0; i < MBG_COUNT(markers); i++) {
    *markers[i] = MBG_TAKE(&s->arena, vec6, m->nmarker);
    *pairs[i] = MBG_TAKE(&s->arena, vec6, m->npair);
  }
  MBG_TRY(mbg__modals_create_view(ctx, s, of));
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  (void)mbg__system_view(s, of);
done:
  return err;
}

/* ---------------------------------------------------------------------- terms of pairs */

static void list_terms(mbg__system *s) {
  const mbg_model *m = s->model;
  int *at = s->pair_term0;
  for (int k = 0; k < m->nterm; k++) {
    if (m->terms[k].law >= 0) {
      s->laws[s->nlaw++] = k;
    }
    if (m->terms[k].outer >= 0) {
      s->outers[s->nouter++] = k;
    }
    at[(m->terms[k].pair >= 0 ? m->terms[k].pair : m->npair) + 1]++;
  }
  for (int i = 0; i < m->njoint; i++) {
    s->any_broken = s->any_broken || m->joints[i].type->broken;
  }
  for (int i = 0; i <= m->npair; i++) {
    at[i + 1] += at[i];
  }
  for (int k = m->nterm - 1; k >= 0; k--) {
    const int pair = m->terms[k].pair >= 0 ? m->terms[k].pair : m->npair;
    s->pair_term[--at[pair + 1]] = k;
  }
  /* at[pair + 1] is the first term of the pair now */
  for (int i = 0; i <= m->npair; i++) {
    at[i] = at[i + 1];
  }
  at[m->npair + 1] = m->nterm;
}

/* ---------------------------------------------------------------------- classes */

/* A class is one bit of a mask. The last one takes what the others cannot (many arms on one hub); one thread goes
   through it. */
enum { CLASSES = 64 };
typedef unsigned long long mask;

/* Classes in which something is used, of all that a pair writes to: bodies of its ends, then attributes of their
   markers (nbody + na). With `set` the class of the pair is noted there. */
static mask uses(const mbg__system *s, int pair, mask set, mask *used) {
  const mbg_model *m = s->model;
  const int ends[2] = {m->pairs[pair].A, m->pairs[pair].B};
  mask all = 0;
  for (int k = 0; k < 2; k++) {
    const mbg__placed *h = s->design->markers[ends[k]];
    const mbg__modal_map *map = &s->design->handles[ends[k]].map;
    const int body = m->markers[ends[k]].body;
    if (body >= 0) {
      all |= used[body] |= set;
    }
    for (int i = 0; i < h->ndep; i++) {
      all |= used[m->nbody + h->dep[i]] |= set;
    }
    for (int i = 0; i < map->count; i++) {
      all |= used[m->nbody + map->attr[i]] |= set;
    }
  }
  return all;
}

static int first_free(mask used) {
  for (int c = 0; c < CLASSES - 1; c++) {
    if (!(used >> c & 1)) {
      return c;
    }
  }
  return CLASSES - 1;
}

static void sort_classes(mbg__system *s, const int *of) {
  const int n = s->model->npair;
  for (int c = 0, at = 0; c < s->nclass; c++) {
    s->class0[c] = at;
    for (int i = 0; i < n; i++) {
      if (of[i] == c) {
        s->class_[at++] = i;
      }
    }
  }
  s->class0[s->nclass] = n;
}

int mbg__classes_create(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  mask *used = mbg__alloc_zero(ctx, (size_t)m->nbody + (size_t)m->na + 1, sizeof(*used));
  int *of = mbg__alloc_zero(ctx, (size_t)m->npair + 1, sizeof(int));
  s->class0 = MBG_TAKE(&s->arena, int, CLASSES + 1);
  s->class_ = MBG_TAKE(&s->arena, int, m->npair);
  s->pair_term0 = MBG_TAKE(&s->arena, int, m->npair + 2);
  s->pair_term = MBG_TAKE(&s->arena, int, m->nterm);
  s->laws = MBG_TAKE(&s->arena, int, m->nterm);
  s->outers = MBG_TAKE(&s->arena, int, m->nterm);
  s->weight3 = mbg__arena_take(&s->arena, (size_t)m->nbody, sizeof(*s->weight3));
  const bool failed = !used || !of || s->arena.failed;
  s->nclass = 1;
  for (int i = 0; !failed && m->npair >= LARGE && i < m->npair; i++) {
    of[i] = first_free(uses(s, i, 0, used));
    uses(s, i, 1ULL << of[i], used);
    s->nclass = of[i] >= s->nclass ? of[i] + 1 : s->nclass;
  }
  if (!failed) {
    list_terms(s);
    sort_classes(s, of);
  }
  mbg__free(ctx, used);
  mbg__free(ctx, of);
  return failed ? mbg__fail_memory(ctx) : MBG_OK;
}

typedef struct {
  const int *list;
  mbg__pool_item *item;
  void *user;
} listed;

static void listed_item(void *user, int i) {
  const listed *l = user;
  l->item(l->user, l->list[i]);
}

void mbg__each_class(const mbg__system *s, int loop, mbg__pool_item *item, void *user) {
  for (int c = 0; c < s->nclass; c++) {
    listed l = {s->class_ + s->class0[c], item, user};
    const bool alone = s->nclass == 1 || c == CLASSES - 1;
    mbg__pool_each(alone ? NULL : s->pool, loop, s->class0[c + 1] - s->class0[c], listed_item, &l);
  }
}
