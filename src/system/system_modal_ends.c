/* Markers on modal bodies ("ends") and the matrices of pairs with such an end. */
#include "system/system_modal.h"

/* ---------------------------------------------------------------------- markers */

void mbg__modal_end_update(mbg__system *s, int marker) {
  mbg__modal_end *e = s->end[marker];
  const mbg__modal_work *w = &s->modal[e->modal];
  mbg__modal_marker_place(&e->m, w->eta);
  frame_mul(&s->Hm[marker], &s->H[marker_body(s, marker)], &e->m.E);
}

void mbg__modal_end_twist(mbg__system *s, int marker) {
  mbg__modal_end *e = s->end[marker];
  const mbg__modal_work *w = &s->modal[e->modal];
  mbg__modal_marker_twist(&e->m, w->nu, w->nu + 6, s->vm[marker]);
}

void mbg__modal_end_rate(mbg__system *s, int marker) {
  mbg__modal_end *e = s->end[marker];
  const mbg__modal_work *w = &s->modal[e->modal];
  mbg__modal_marker_rate(&e->m, w->nud, w->nud + 6, s->vdm[marker]);
}

void mbg__modal_end_push(const mbg__system *s, int marker, const mbg__direction *d, const vec6 geo, vec6 w, vec6 dv,
                         vec6 dvd) {
  const mbg__modal_end *e = s->end[marker];
  mbg__modal_end_change *x = s->end_change[marker];
  const mbg__modal_work *b = &s->modal[e->modal];
  const int off = s->model->bodies[marker_body(s, marker)].voff;
  const mbg__modal_handle *handle = &s->design->handles[marker];
  modal_direction(s, e->modal, d);
  const bool any = d->da && mbg__modal_map_push(&handle->map, d->da, 6 * handle->n, x->dP);
  v6_copy(x->omega, geo);
  x->d = (mbg__modal_marker_direction){.w = d->w ? d->w + off : NULL,
                                       .dv = d->dv ? b->dnu : NULL,
                                       .dvd = d->dvd ? b->dnud : NULL,
                                       .deta = d->w ? b->deta : NULL,
                                       .detad = d->dv ? b->dnu + 6 : NULL,
                                       .detadd = d->dvd ? b->dnud + 6 : NULL,
                                       .omega = x->omega,
                                       .dP = any ? x->dP : NULL};
  mbg__modal_marker_push(&e->m, &x->d, &x->change, w, dv, dvd);
}

void mbg__modal_end_wrench_sub(const mbg__system *s, int marker, const vec6 f, real *r) {
  const mbg__modal_end *e = s->end[marker];
  mbg__modal_work *b = &s->modal[e->modal];
  vn_zero(6 + e->m.n, b->r);
  mbg__modal_marker_mul_T(&e->m, -1, f, b->r, b->r + 6);
  modal_scatter(s, e->modal, 1, b->r, r);
}

void mbg__modal_end_wrench_push(const mbg__system *s, int marker, const vec6 f, const vec6 df, real *dr) {
  const mbg__modal_end *e = s->end[marker];
  const mbg__modal_end_change *x = s->end_change[marker];
  mbg__modal_work *b = &s->modal[e->modal];
  vn_zero(6 + e->m.n, b->r);
  mbg__modal_marker_wrench_push(&e->m, &x->d, &x->change, -1, f, df, b->r, b->r + 6);
  modal_scatter(s, e->modal, 1, b->r, dr);
}

void mbg__modal_end_test(const mbg__system *s, int marker, const real *z, vec6 out) {
  const mbg__modal_end *e = s->end[marker];
  mbg__modal_work *b = &s->modal[e->modal];
  modal_gather(s, e->modal, z, b->r);
  mbg__modal_marker_mul(&e->m, b->r, b->r + 6, out);
}

/* where the cotangents of a marker go */
static mbg__modal_marker_gradient end_gradient(const mbg__system *s, int marker, real omega[6], bool attributes) {
  const mbg__modal_end *e = s->end[marker];
  mbg__modal_work *b = &s->modal[e->modal];
  const int n = e->m.n;
  v6_zero(omega);
  vn_zero(n, b->geta);
  vn_zero(6 + n, b->gnu);
  vn_zero(6 + n, b->gnud);
  if (attributes) {
    vn_zero(6 * n, e->gP);
  }
  return (mbg__modal_marker_gradient){.dv = b->gnu,
                                      .dvd = b->gnud,
                                      .deta = b->geta,
                                      .detad = b->gnu + 6,
                                      .detadd = b->gnud + 6,
                                      .omega = omega,
                                      .dP = attributes ? e->gP : NULL};
}

/* to modes and attributes */
static void end_scatter(const mbg__system *s, int marker, const real omega[6], const mbg__cotangent *to) {
  const mbg__placed *h = s->design->markers[marker];
  const mbg__modal_end *e = s->end[marker];
  if (to->w) {
    modal_scatter_modes(s, e->modal, s->modal[e->modal].geta, to->w);
  }
  for (int k = 0; to->a && k < h->ndep; k++) {
    to->a[h->dep[k]] += wanted(s, h->dep[k]) ? v6_dot(h->omega[k], omega) : 0;
  }
  if (to->a) {
    mbg__modal_map_pull(&s->design->handles[marker].map, e->gP, to->a);
  }
}

void mbg__modal_end_pull(const mbg__system *s, int marker, const vec6 gw, const real *gv, const real *gvd,
                         const mbg__cotangent *to) {
  const mbg__modal_end *e = s->end[marker];
  const mbg__modal_work *b = &s->modal[e->modal];
  real omega[6];
  mbg__modal_marker_gradient g = end_gradient(s, marker, omega, to->a != NULL);
  g.w = to->w ? to->w + s->model->bodies[marker_body(s, marker)].voff : NULL;
  mbg__modal_marker_pull(&e->m, gw, gv, gvd, &g);
  if (to->v) {
    modal_scatter(s, e->modal, 1, b->gnu, to->v);
  }
  if (to->vd) {
    modal_scatter(s, e->modal, 1, b->gnud, to->vd);
  }
  end_scatter(s, marker, omega, to);
}

/* of c f.(dJ z) */
void mbg__modal_end_test_pull(const mbg__system *s, int marker, const real *z, const vec6 f, real c,
                              const mbg__cotangent *to) {
  const mbg__modal_end *e = s->end[marker];
  mbg__modal_work *b = &s->modal[e->modal];
  real omega[6], cf[6];
  const mbg__modal_marker_gradient g = end_gradient(s, marker, omega, to->a != NULL);
  v6_scale(cf, c, f);
  modal_gather(s, e->modal, z, b->r);
  mbg__modal_marker_test_pull(&e->m, b->r, b->r + 6, cf, &g);
  end_scatter(s, marker, omega, to);
}

/* ---------------------------------------------------------------------- pairs with modal ends */

void mbg__modal_pair_matrices(const mbg__system *s, int pair, const mbg__matrices *out) {
  const mbg__local *l = &s->pair_local[pair];
  real *unit = s->column + s->model->nw, *dr = s->column;
  v6_zero(s->m_geo[s->model->pairs[pair].A]);
  v6_zero(s->m_geo[s->model->pairs[pair].B]);
  for (int c = 0; c < l->n; c++) {
    unit[l->full[c]] = 1;
    for (int k = 0; k < 2; k++) {
      const mbg__direction d = {.w = k ? NULL : unit, .dv = k ? unit : NULL};
      real *val = k ? out->C : out->K, w[6], dv[6], dvd[6], df[6];
      if (!val) {
        continue;
      }
      mbg__kin_pair_push(s, pair, &d, w, dv, dvd);
      m6_mulv(df, s->F_G[pair], w);
      m6_mulv_add(df, s->F_v[pair], dv);
      mbg__pair_wrench_push(s, pair, w, df, dr);
      add_column(l, c, dr, val);
      mbg__local_wipe(s, pair, dr);
    }
    unit[l->full[c]] = 0;
  }
}

/* full six of the frames, and the modes */
void mbg__local_wipe(const mbg__system *s, int pair, real *x) {
  const int ends[2] = {marker_body(s, s->model->pairs[pair].A), marker_body(s, s->model->pairs[pair].B)};
  clear_local(&s->pair_local[pair], x);
  for (int k = 0; k < 2; k++) {
    if (ends[k] >= 0) {
      v6_zero(x + s->model->bodies[ends[k]].voff);
    }
  }
}

/* a row on the relative motion of a pair as rows over the velocities of both ends; each may be NULL */
void mbg__modal_row(const mbg__system *s, int pair, const vec6 gw, const vec6 gv, const real *gvd, const int *slot,
                    real *by_w, real *by_v) {
  const mbg__local *l = &s->pair_local[pair];
  real *w = s->column, *v = s->column + s->model->nw, *vd = s->column + 2 * s->model->nw;
  mbg__kin_pair_pull(s, pair, gw, gv, gvd, &(mbg__cotangent){.w = w, .v = v, .vd = vd});
  for (int i = 0; i < l->n; i++) {
    if (by_w) {
      by_w[slot[i]] += w[l->full[i]];
    }
    if (by_v) {
      by_v[slot[i]] += v[l->full[i]];
    }
  }
  mbg__local_wipe(s, pair, w);
  mbg__local_wipe(s, pair, v);
  mbg__local_wipe(s, pair, vd);
}
