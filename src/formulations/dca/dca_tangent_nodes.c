/* Derivatives of the signals at nodes: cotangents of the signals, once, times all columns. */
#include "formulations/dca/dca_tangent.h"

typedef mbg__dca_tangents tangent;

typedef struct {
  const tangent *s;
  const real *x;
} node_job;

/* ranges of coordinates of the links that nodes need */
static void list_own(const tangent *s, mbg__rk_parts *own) {
  for (int i = 0; own->end && i < s->few->n; i++) {
    const mbg__link *l = &s->w->flow.links[s->few->link[i]];
    if (own->n == 0 || own->end[own->n - 1] != l->first) {
      own->first[own->n] = l->first;
      own->end[own->n++] = l->first;
    }
    own->end[own->n - 1] += l->nz;
  }
}

int mbg__dca_tangent_few(mbg_context *ctx, tangent *s) {
  const int columns = 1 + s->d.np;
  s->few = s->w->plan.events || s->nw > 0 ? NULL : mbg__dca_seeds_few(s->seeds);
  if (!s->few) {
    return MBG_OK;
  }
  s->own.first = MBG_TAKE(&s->arena, int, s->few->n);
  s->own.end = MBG_TAKE(&s->arena, int, s->few->n);
  list_own(s, &s->own);
  const size_t count = (size_t)columns * 2 * (size_t)s->own.n;
  s->parts.first = MBG_TAKE(&s->arena, int, count);
  s->parts.end = MBG_TAKE(&s->arena, int, count);
  for (int i = 0; s->parts.end && i < 2 * columns; i++) {
    for (int k = 0; k < s->own.n; k++) {
      s->parts.first[s->parts.n] = i * s->n + s->own.first[k];
      s->parts.end[s->parts.n++] = i * s->n + s->own.end[k];
    }
  }
  s->d.parts = &s->parts;
  return mbg__arena_check(ctx, &s->arena);
}

static real dot_attributes(const tangent *s, int p, size_t k) {
  return s->listed ? mbg__design_column_dot(&s->columns, p, s->gattr + k * (size_t)s->w->m->na) : 0;
}

/* columns of dy/dp from the cotangents of the signals, by e_n, dsigma and dw */
static void node_columns(void *user, int thread, int first, int end) {
  const node_job *g = user;
  const tangent *s = g->s;
  const size_t nb = (size_t)s->nb, n = (size_t)s->n, np = (size_t)s->d.np;
  (void)thread;
  for (int p = first; p < end; p++) {
    const real *own = mbg__ode_tangent_column_of(&s->d, g->x, p);
    for (size_t k = 0; k < (size_t)s->w->flow.nused; k++) {
      real *to = &s->d.dy[k * np + (size_t)p];
      *to = vn_dot(s->nb, s->gn + k * nb, mbg__dca_en(s, p)) + vn_dot(s->n, s->gs + k * n, own) +
            vn_dot(s->n, s->gw + k * n, own + s->n);
      *to += dot_attributes(s, p, k);
    }
  }
}

/* ... where the others are 0 */
static void node_columns_few(void *user, int thread, int first, int end) {
  const node_job *g = user;
  const tangent *s = g->s;
  const size_t nb = (size_t)s->nb, n = (size_t)s->n, np = (size_t)s->d.np;
  (void)thread;
  for (int p = first; p < end; p++) {
    const real *own = mbg__ode_tangent_column_of(&s->d, g->x, p), *en = mbg__dca_en(s, p);
    for (size_t k = 0; k < (size_t)s->w->flow.nused; k++) {
      const real *gn = s->gn + k * nb, *gs = s->gs + k * n, *gw = s->gw + k * n;
      real sum = 0;
      for (int i = 0; i < s->few->n; i++) {
        sum += v6_dot(gn + 6 * s->few->link[i], en + 6 * s->few->link[i]);
      }
      for (int i = 0; i < s->own.n; i++) {
        const int at = s->own.first[i], count = s->own.end[i] - at;
        sum += vn_dot(count, gs + at, own + at) + vn_dot(count, gw + at, own + s->n + at);
      }
      s->d.dy[k * np + (size_t)p] = sum + dot_attributes(s, p, k);
    }
  }
}

/* w of the bodies at (t, x) after base, by rows behind those of the signals */
static int node_frames(mbg_context *ctx, tangent *s, const mbg__dca_base *base, double t, const real *x) {
  mbg__formulation_work *w = s->w;
  const size_t np = (size_t)s->d.np, nw = (size_t)s->nw;
  real *da = s->workers[0].da, *e = s->enode, *dy = s->d.dy + (size_t)w->flow.nused * np;
  const int err = mbg__dca_flow_eval(ctx, &w->flow, base, t, x);
  mbg__dca_flow_increments(&w->flow, x);
  for (int p = 0; err == MBG_OK && p < s->d.np; p++) {
    const real *own = mbg__ode_tangent_column_of(&s->d, x, p);
    mbg__dca_flow_frames_push(&w->flow, x, mbg__dca_en(s, p), own, e);
    mbg__event_tangent_lay(&s->d.events, p, da);
    mbg__tree_local_push(w->tree, &(mbg__tree_direction){.e = e, .dw = own + s->n, .attributes = da}, true, s->frame,
                         s->frame + nw, s->frame + 2 * nw);
    mbg__event_tangent_clear(&s->d.events, p, da);
    for (size_t i = 0; i < nw; i++) {
      dy[i * np + (size_t)p] = s->frame[i];
    }
  }
  return err;
}

/* the cotangents at a node that are not 0 */
static void clear_node(tangent *s) {
  const size_t used = (size_t)s->w->flow.nused, nb = (size_t)s->nb, n = (size_t)s->n, na = (size_t)s->w->m->na;
  real *const zeros[] = {s->gattr, s->d.dy, s->ge, s->gn, s->gs, s->gw};
  const size_t counts[] = {used * na, used * (size_t)s->d.np, used * nb, used * nb, used * n, used * n};
  for (int i = 0; i < (s->few ? 2 : MBG_COUNT(zeros)); i++) {
    mbg__pool_zero(s->w->pool, MBG__LOOP_NODE_ZEROS, counts[i], zeros[i]);
  }
  for (size_t k = 0; s->few && k < used; k++) {
    for (int i = 0; i < s->few->n; i++) {
      v6_zero(s->ge + k * nb + 6 * s->few->link[i]);
      v6_zero(s->gn + k * nb + 6 * s->few->link[i]);
    }
    for (int i = 0; i < s->own.n; i++) {
      vn_zero(s->own.end[i] - s->own.first[i], s->gs + k * n + s->own.first[i]);
      vn_zero(s->own.end[i] - s->own.first[i], s->gw + k * n + s->own.first[i]);
    }
  }
}

/* from frames to those at the start of the step, for all columns */
static void pull_frames(tangent *s, const real *x) {
  const mbg__dca_flow *f = &s->w->flow;
  const size_t used = (size_t)f->nused, nb = (size_t)s->nb, n = (size_t)s->n;
  if (!s->few) {
    mbg__dca_flow_increments(f, x);
  }
  for (size_t k = 0; k < used; k++) {
    if (s->few) {
      mbg__dca_flow_frames_pull_few(f, s->few, x, s->ge + k * nb, s->gn + k * nb, s->gs + k * n);
    } else {
      mbg__dca_flow_frames_pull(f, x, s->ge + k * nb, s->gn + k * nb, s->gs + k * n);
    }
  }
}

int mbg__dca_tangent_node(mbg_context *ctx, void *user, double t, const real *x, bool inside) {
  tangent *s = user;
  mbg__formulation_work *w = s->w;
  const mbg__dca_base *base = &w->base[w->now];
  const size_t used = (size_t)w->flow.nused, na = (size_t)w->m->na, np = (size_t)s->d.np;
  (void)inside;
  clear_node(s);
  const int err = mbg__dca_seeds_at(ctx, s->seeds, base, t, x, s->eye, s->ge, s->gw, s->gattr);
  if (err == MBG_OK) {
    pull_frames(s, x);
    mbg__pool_for(w->pool, s->few ? MBG__LOOP_NODE_FEW : MBG__LOOP_NODE_COLUMNS, s->d.np, s->few ? 8 : 1,
                  s->few ? node_columns_few : node_columns, &(node_job){s, x});
  }
  for (size_t k = 0; err == MBG_OK && !s->listed && k < used; k++) {
    mbg__event_tangent_pull(&s->d.events, mbg__system_design(w->flow.sys), s->d.np, s->gattr + k * na,
                            s->d.dy + k * np);
  }
  return err == MBG_OK && s->nw > 0 ? node_frames(ctx, s, base, t, x) : err;
}
