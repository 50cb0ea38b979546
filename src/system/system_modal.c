/* Modal bodies in the chain: their coordinates are gathered from the bodies that carry them, the inertia couples frame and
   coordinates, and the markers on them have modal columns. Cotangents go the same ways back. */
#include "system/system_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

static int create_end(mbg_context *ctx, mbg__system *s, int marker) {
  const int n = s->design->handles[marker].n;
  mbg__modal_end *e = MBG_TAKE(&s->arena, mbg__modal_end, 1);
  real *memory = MBG_TAKE(&s->arena, real, 18 * n);
  if (!e || !memory) {
    return mbg__fail_memory(ctx);
  }
  e->modal = s->model->bodies[marker_body(s, marker)].modal;
  e->m = (mbg__modal_marker){.n = n,
                             .h = &s->design->markers[marker].h,
                             .P = s->design->handles[marker].P,
                             .Psi = memory,
                             .eta = s->modal[e->modal].eta};
  e->dP = memory + 6 * n;
  e->gP = memory + 12 * n;
  s->end[marker] = e;
  return MBG_OK;
}

static int create_body(mbg_context *ctx, mbg__system *s, int i) {
  const int n = s->model->modals[i].n, count = mbg__modal_places(n).count;
  mbg__modal_work *w = &s->modal[i];
  /* eta, deta, geta: n; nu, nud and their d and g, r, scratch: 6 + n; dD, gD: count; two times B and N: 12 n */
  real *at = MBG_TAKE(&s->arena, real, 3 * n + 8 * (6 + n) + 2 * count + 24 * n);
  if (!at) {
    return mbg__fail_memory(ctx);
  }
  real **small[] = {&w->eta, &w->deta, &w->geta};
  real **large[] = {&w->nu, &w->nud, &w->dnu, &w->dnud, &w->gnu, &w->gnud, &w->r, &w->scratch};
  for (int k = 0; k < 3; k++, at += n) {
    *small[k] = at;
  }
  for (int k = 0; k < 8; k++, at += 6 + n) {
    *large[k] = at;
  }
  w->dD = at;
  w->gD = at + count;
  at += 2 * count;
  w->state =
      (mbg__modal_state){.D = mbg__modal_of(n, s->design->modals[i].D), .eta = w->eta, .nu = w->nu, .nud = w->nud};
  w->state.at.B = at;
  w->state.at.N = at + 3 * n;
  w->change.B = at + 12 * n;
  w->change.N = at + 15 * n;
  return MBG_OK;
}

int mbg__modals_create(mbg_context *ctx, mbg__system *s) {
  int err = MBG_OK;
  const mbg_model *m = s->model;
  s->modal = MBG_TAKE(&s->arena, mbg__modal_work, m->nmodal);
  s->end = MBG_TAKE(&s->arena, mbg__modal_end *, m->nmarker);
  s->column = MBG_TAKE(&s->arena, real, m->nmodal > 0 ? 4 * m->nw : 0);
  if (!s->modal || !s->end || !s->column) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < m->nmodal; i++) {
    MBG_TRY(create_body(ctx, s, i));
  }
  for (int i = 0; i < m->nmarker; i++) {
    if (s->design->handles[i].n > 0) {
      MBG_TRY(create_end(ctx, s, i));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- coordinates and carriers */

static int place_of(const mbg_model *m, int modal, int mode) {
  return m->bodies[mbg__modal_carrier(&m->modals[modal], mode)].voff + mode % 3;
}

/* x over the velocities of the model to x over those of the body (6 + n) */
static void gather(const mbg__system *s, int modal, const real *x, real *out) {
  const mbg_model *m = s->model;
  v6_copy(out, x + m->bodies[m->modals[modal].body].voff);
  for (int j = 0; j < m->modals[modal].n; j++) {
    out[6 + j] = x[place_of(m, modal, j)];
  }
}

static void gather_modes(const mbg__system *s, int modal, const real *x, real *out) {
  for (int j = 0; j < s->model->modals[modal].n; j++) {
    out[j] = x[place_of(s->model, modal, j)];
  }
}

static void scatter(const mbg__system *s, int modal, real c, const real *x, real *out) {
  const mbg_model *m = s->model;
  v6_axpy(out + m->bodies[m->modals[modal].body].voff, c, x);
  for (int j = 0; j < m->modals[modal].n; j++) {
    out[place_of(m, modal, j)] += c * x[6 + j];
  }
}

static void scatter_modes(const mbg__system *s, int modal, const real *x, real *out) {
  for (int j = 0; j < s->model->modals[modal].n; j++) {
    out[place_of(s->model, modal, j)] += x[j];
  }
}

static const real *gravity_of(const mbg__system *s) {
  static const real none[3] = {0, 0, 0};
  return s->model->gravity >= 0 ? s->design->attr + s->model->gravity : none;
}

void mbg__modals_twists(mbg__system *s) {
  for (int i = 0; i < s->model->nmodal; i++) {
    gather(s, i, s->v, s->modal[i].nu);
  }
}

void mbg__modals_rates(mbg__system *s) {
  for (int i = 0; i < s->model->nmodal; i++) {
    gather(s, i, s->vd, s->modal[i].nud);
  }
}

void mbg__modals_update(mbg__system *s) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nmodal; i++) {
    mbg__modal_work *w = &s->modal[i];
    for (int j = 0; j < m->modals[i].n; j++) {
      w->eta[j] = s->H[mbg__modal_carrier(&m->modals[i], j)].x[j % 3];
    }
    m3_mulv_T(w->state.a, s->H[m->modals[i].body].R, gravity_of(s));
    mbg__modal_update(&w->state);
  }
  mbg__modals_twists(s);
  mbg__modals_rates(s);
}

/* ---------------------------------------------------------------------- markers */

void mbg__modal_end_update(mbg__system *s, int marker) {
  mbg__modal_end *e = s->end[marker];
  const mbg__modal_work *w = &s->modal[e->modal];
  mbg__modal_marker_place(&e->m, w->eta);
  frame_mul(&s->Hm[marker], &s->H[marker_body(s, marker)], &e->m.E);
  mbg__modal_end_twist(s, marker);
  mbg__modal_end_rate(s, marker);
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

/* the direction as the modal body sees it */
static void take_direction(const mbg__system *s, int modal, const mbg__direction *d) {
  mbg__modal_work *w = &s->modal[modal];
  if (d->w) {
    gather_modes(s, modal, d->w, w->deta);
  }
  if (d->dv) {
    gather(s, modal, d->dv, w->dnu);
  }
  if (d->dvd) {
    gather(s, modal, d->dvd, w->dnud);
  }
}

void mbg__modal_end_push(const mbg__system *s, int marker, const mbg__direction *d, const vec6 geo, vec6 w, vec6 dv,
                         vec6 dvd) {
  mbg__modal_end *e = s->end[marker];
  const mbg__modal_work *b = &s->modal[e->modal];
  const int off = s->model->bodies[marker_body(s, marker)].voff;
  const mbg__modal_handle *handle = &s->design->handles[marker];
  take_direction(s, e->modal, d);
  const bool any = d->da && mbg__modal_map_push(&handle->map, d->da, 6 * handle->n, e->dP);
  v6_copy(e->omega, geo);
  e->d = (mbg__modal_marker_direction){.w = d->w ? d->w + off : NULL,
                                       .dv = d->dv ? b->dnu : NULL,
                                       .dvd = d->dvd ? b->dnud : NULL,
                                       .deta = d->w ? b->deta : NULL,
                                       .detad = d->dv ? b->dnu + 6 : NULL,
                                       .detadd = d->dvd ? b->dnud + 6 : NULL,
                                       .omega = e->omega,
                                       .dP = any ? e->dP : NULL};
  mbg__modal_marker_push(&e->m, &e->d, &e->change, w, dv, dvd);
}

void mbg__modal_end_wrench_sub(const mbg__system *s, int marker, const vec6 f, real *r) {
  const mbg__modal_end *e = s->end[marker];
  mbg__modal_work *b = &s->modal[e->modal];
  vn_zero(6 + e->m.n, b->r);
  mbg__modal_marker_mul_T(&e->m, -1, f, b->r, b->r + 6);
  scatter(s, e->modal, 1, b->r, r);
}

void mbg__modal_end_wrench_push(const mbg__system *s, int marker, const vec6 f, const vec6 df, real *dr) {
  const mbg__modal_end *e = s->end[marker];
  mbg__modal_work *b = &s->modal[e->modal];
  vn_zero(6 + e->m.n, b->r);
  mbg__modal_marker_wrench_push(&e->m, &e->d, &e->change, -1, f, df, b->r, b->r + 6);
  scatter(s, e->modal, 1, b->r, dr);
}

void mbg__modal_end_test(const mbg__system *s, int marker, const real *z, vec6 out) {
  const mbg__modal_end *e = s->end[marker];
  mbg__modal_work *b = &s->modal[e->modal];
  gather(s, e->modal, z, b->r);
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

static void end_attributes(const mbg__system *s, int marker, const real omega[6], real *ga) {
  const mbg__placed *h = &s->design->markers[marker];
  for (int k = 0; k < h->ndep; k++) {
    ga[h->dep[k]] += wanted(s, h->dep[k]) ? v6_dot(h->omega[k], omega) : 0;
  }
  mbg__modal_map_pull(&s->design->handles[marker].map, s->end[marker]->gP, ga);
}

void mbg__modal_end_pull(const mbg__system *s, int marker, const vec6 gw, const real *gv, const real *gvd, real *w,
                         real *v, real *vd, real *ga) {
  const mbg__modal_end *e = s->end[marker];
  const mbg__modal_work *b = &s->modal[e->modal];
  real omega[6];
  mbg__modal_marker_gradient g = end_gradient(s, marker, omega, ga != NULL);
  g.w = w ? w + s->model->bodies[marker_body(s, marker)].voff : NULL;
  mbg__modal_marker_pull(&e->m, gw, gv, gvd, &g);
  if (w) {
    scatter_modes(s, e->modal, b->geta, w);
  }
  if (v) {
    scatter(s, e->modal, 1, b->gnu, v);
  }
  if (vd) {
    scatter(s, e->modal, 1, b->gnud, vd);
  }
  if (ga) {
    end_attributes(s, marker, omega, ga);
  }
}

/* of c f.(dJ z) */
void mbg__modal_end_test_pull(const mbg__system *s, int marker, const real *z, const vec6 f, real c, real *w,
                              real *ga) {
  const mbg__modal_end *e = s->end[marker];
  mbg__modal_work *b = &s->modal[e->modal];
  real omega[6], cf[6];
  const mbg__modal_marker_gradient g = end_gradient(s, marker, omega, ga != NULL);
  v6_scale(cf, c, f);
  gather(s, e->modal, z, b->r);
  mbg__modal_marker_test_pull(&e->m, b->r, b->r + 6, cf, &g);
  if (w) {
    scatter_modes(s, e->modal, b->geta, w);
  }
  if (ga) {
    end_attributes(s, marker, omega, ga);
  }
}

/* ---------------------------------------------------------------------- range of validity */

static double size3(const real x[3]) { return sqrt(re(x[0]) * re(x[0]) + re(x[1]) * re(x[1]) + re(x[2]) * re(x[2])); }

void mbg__modals_watch(mbg__system *s) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nmodal; i++) {
    s->modal[i].spin = fmax(s->modal[i].spin, size3(s->modal[i].nu + 3));
  }
  for (int i = 0; m->nmodal > 0 && i < m->nmarker; i++) {
    const mbg__modal_end *e = s->end[i];
    real moved[3];
    if (!e || !s->marker_on[i]) {
      continue;
    }
    mbg__modal_work *w = &s->modal[e->modal];
    v3_sub(moved, e->m.E.x, e->m.h->x);
    w->turn = fmax(w->turn, size3(e->m.th));
    w->bend = fmax(w->bend, size3(moved));
    w->reach = fmax(w->reach, size3(e->m.h->x));
  }
}

/* a linear modal body knows no centrifugal stiffening: (spin/frequency)^2 is its relative error; 0.5 rad and a fifth of the length
   are beyond small deformations (theory 3, sections 2 and 13) */
void mbg__system_warn(mbg_context *ctx, mbg__system *s) {
  for (int i = 0; i < s->model->nmodal; i++) {
    const mbg__modal *m = &s->model->modals[i];
    mbg__modal_work *w = &s->modal[i];
    const double lowest = s->design->modals[i].lowest;
    if (ctx && w->spin > 0.3 * lowest) {
      mbg__note(ctx, MBG_WARNING,
                "%s:%d:%d: body '%s' turns with up to %.3g rad/s, and its modes begin at %.3g rad/s: a linear modal "
                "body has no "
                "centrifugal stiffening; a beam has",
                m->where.file, m->where.line, m->where.column, m->name, w->spin, lowest);
    }
    if (ctx && (w->turn > 0.5 || w->bend > 0.2 * w->reach)) {
      mbg__note(ctx, MBG_WARNING,
                "%s:%d:%d: body '%s' is bent by up to %.3g rad and %.3g m: too much for linear modes; a beam takes it",
                m->where.file, m->where.line, m->where.column, m->name, w->turn, w->bend);
    }
    w->spin = w->turn = w->bend = w->reach = 0;
  }
  mbg__beams_warn(ctx, s);
}

/* ---------------------------------------------------------------------- inertia */

void mbg__modals_residual(const mbg__system *s, real *r) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_residual(&s->modal[i].state, s->modal[i].r);
    scatter(s, i, 1, s->modal[i].r, r);
  }
}

void mbg__modals_mass_mul(const mbg__system *s, const real *x, real *y) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *w = &s->modal[i];
    gather(s, i, x, w->scratch);
    mbg__modal_mass_mul(&w->state, w->scratch, w->r);
    scatter(s, i, 1, w->r, y);
  }
}

void mbg__system_mass_rate(const mbg__system *s, real c, const real *x, real *y) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *w = &s->modal[i];
    gather(s, i, x, w->scratch);
    vn_zero(6 + s->model->modals[i].n, w->r);
    mbg__modal_mass_rate(&w->state, c, w->scratch, w->r);
    scatter(s, i, 1, w->r, y);
  }
}

/* change of a = R^T g: a x W + R^T dg */
static void gravity_change(const mbg__system *s, int i, const mbg__direction *d, real da[3]) {
  const mbg__body *b = &s->model->bodies[s->model->modals[i].body];
  v3_zero(da);
  if (d->w) {
    v3_cross_add(da, 1, s->modal[i].state.a, d->w + b->voff + 3);
  }
  if (d->da) {
    m3_mulv_T_add(da, s->H[s->model->modals[i].body].R, d->da + s->model->gravity);
  }
}

static void inertia_push(const mbg__system *s, int i, const mbg__direction *d) {
  mbg__modal_work *w = &s->modal[i];
  const mbg__modal_data *data = &s->design->modals[i];
  real da[3];
  take_direction(s, i, d);
  const bool any = d->da && mbg__modal_map_push(&data->map, d->da, mbg__modal_places(data->n).count, w->dD);
  const bool weight = s->model->gravity >= 0 && (d->w || d->da);
  if (weight) {
    gravity_change(s, i, d, da);
  }
  const mbg__modal_direction in = {.deta = d->w ? w->deta : NULL,
                                   .dnu = d->dv ? w->dnu : NULL,
                                   .dnud = d->dvd ? w->dnud : NULL,
                                   .da = weight ? da : NULL,
                                   .dD = any ? w->dD : NULL};
  mbg__modal_push(&w->state, &in, &w->change, w->r);
}

void mbg__modals_inertia_push(const mbg__system *s, const mbg__direction *d, real *dr) {
  for (int i = 0; i < s->model->nmodal; i++) {
    inertia_push(s, i, d);
    scatter(s, i, 1, s->modal[i].r, dr);
  }
}

/* what a body's cotangents are collected in, cleared */
static mbg__modal_gradient body_gradient(const mbg__system *s, int i, real ga[3], bool attributes) {
  mbg__modal_work *w = &s->modal[i];
  const int n = s->model->modals[i].n;
  v3_zero(ga);
  vn_zero(n, w->geta);
  vn_zero(6 + n, w->gnu);
  vn_zero(6 + n, w->gnud);
  if (attributes) {
    vn_zero(mbg__modal_places(n).count, w->gD);
  }
  return (mbg__modal_gradient){.eta = w->geta, .nu = w->gnu, .nud = w->gnud, .a = ga, .D = attributes ? w->gD : NULL};
}

static void body_scatter(const mbg__system *s, int i, const real ga[3], real *gw, real *gv, real *gvd, real *g) {
  const mbg__modal_work *w = &s->modal[i];
  const int body = s->model->modals[i].body;
  if (gw) {
    scatter_modes(s, i, w->geta, gw);
    /* ga.(a x W) = W.(ga x a) */
    v3_cross_add(gw + s->model->bodies[body].voff + 3, 1, ga, w->state.a);
  }
  if (gv) {
    scatter(s, i, 1, w->gnu, gv);
  }
  if (gvd) {
    scatter(s, i, 1, w->gnud, gvd);
  }
  if (g) {
    mbg__modal_map_pull(&s->design->modals[i].map, w->gD, g);
  }
  if (g && s->model->gravity >= 0) {
    m3_mulv_add(g + s->model->gravity, s->H[body].R, ga);
  }
}

void mbg__modals_pull(const mbg__system *s, const real *z, real *gw, real *gv, real *gvd, real *ga) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *w = &s->modal[i];
    real a[3];
    const mbg__modal_gradient g = body_gradient(s, i, a, ga != NULL);
    gather(s, i, z, w->r);
    mbg__modal_pull(&w->state, w->r, &w->change, &g);
    body_scatter(s, i, a, gw, gv, gvd, ga);
  }
}

/* the body at rest and without weight, accelerated by nud: r = M nud + Kf eta */
static mbg__modal_state at_rest(const mbg__system *s, int i, const real *nud) {
  const mbg__modal_work *w = &s->modal[i];
  mbg__modal_state state = w->state;
  vn_zero(6 + s->model->modals[i].n, w->gnu);
  v3_zero(state.a);
  state.nu = w->gnu;
  state.nud = nud ? nud : w->gnu;
  return state;
}

void mbg__modals_mass_push(const mbg__system *s, const real *u, const real *w, const real *da, real *dr) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *k = &s->modal[i];
    const int n = s->model->modals[i].n;
    const bool any = da && mbg__modal_map_push(&s->design->modals[i].map, da, mbg__modal_places(n).count, k->dD);
    const mbg__modal_direction d = {.deta = k->deta, .dD = any ? k->dD : NULL};
    gather_modes(s, i, w, k->deta);
    gather(s, i, u, k->gnud);
    const mbg__modal_state with = at_rest(s, i, k->gnud), without = at_rest(s, i, NULL);
    mbg__modal_push(&with, &d, &k->change, k->r);
    scatter(s, i, 1, k->r, dr);
    mbg__modal_push(&without, &d, &k->change, k->r);
    scatter(s, i, -1, k->r, dr);
  }
}

void mbg__modals_mass_pull(const mbg__system *s, const real *u, const real *z, real *gw, real *ga) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *k = &s->modal[i];
    const int n = s->model->modals[i].n;
    gather(s, i, u, k->gnud);
    for (int round = 0; round < 2; round++) {
      const mbg__modal_state state = at_rest(s, i, round ? NULL : k->gnud);
      const mbg__modal_gradient g = {.eta = k->geta, .D = ga ? k->gD : NULL};
      vn_zero(n, k->geta);
      if (ga) {
        vn_zero(mbg__modal_places(n).count, k->gD);
      }
      gather(s, i, z, k->r);
      vn_scale(6 + n, k->r, round ? -1 : 1, k->r);
      mbg__modal_pull(&state, k->r, &k->change, &g);
      scatter_modes(s, i, k->geta, gw);
      if (ga) {
        mbg__modal_map_pull(&s->design->modals[i].map, k->gD, ga);
      }
    }
  }
}

/* ---------------------------------------------------------------------- energies */

static bool wants(const mbg__system *s, int i, int body) { return body < 0 || s->model->modals[i].body == body; }

real mbg__modals_kinetic(const mbg__system *s, int body) {
  real e = 0;
  for (int i = 0; i < s->model->nmodal; i++) {
    e += wants(s, i, body) ? mbg__modal_kinetic(&s->modal[i].state, s->modal[i].scratch) : 0;
  }
  return e;
}

void mbg__modals_kinetic_pull(const mbg__system *s, int body, real c, real *gw, real *gv, real *ga) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *w = &s->modal[i];
    real a[3];
    if (wants(s, i, body)) {
      const mbg__modal_gradient g = body_gradient(s, i, a, ga != NULL);
      mbg__modal_kinetic_pull(&w->state, c, w->scratch, &w->change, &g);
      body_scatter(s, i, a, gw, gv, NULL, ga);
    }
  }
}

real mbg__modals_strain(const mbg__system *s, int body) {
  real e = 0;
  for (int i = 0; i < s->model->nmodal; i++) {
    e += wants(s, i, body) ? mbg__modal_strain(&s->modal[i].state) : 0;
  }
  return e;
}

void mbg__modals_strain_pull(const mbg__system *s, int body, real c, real *gw, real *ga) {
  for (int i = 0; i < s->model->nmodal; i++) {
    real a[3];
    if (wants(s, i, body)) {
      const mbg__modal_gradient g = body_gradient(s, i, a, ga != NULL);
      mbg__modal_strain_pull(&s->modal[i].state, c, &g);
      body_scatter(s, i, a, gw, NULL, NULL, ga);
    }
  }
}

/* V = -g.(I1 x + R mc) = -(I1 R^T x + mc).a */
real mbg__modals_gravity(const mbg__system *s) {
  real e = 0;
  for (int i = 0; s->model->gravity >= 0 && i < s->model->nmodal; i++) {
    const mbg__modal_state *b = &s->modal[i].state;
    e -= b->D.I1[0] * v3_dot(gravity_of(s), s->H[s->model->modals[i].body].x) + v3_dot(b->at.mc, b->a);
  }
  return e;
}

void mbg__modals_gravity_pull(const mbg__system *s, real c, real *gw, real *ga) {
  for (int i = 0; s->model->gravity >= 0 && i < s->model->nmodal; i++) {
    const mbg__modal_work *w = &s->modal[i];
    const mbg__modal_view *D = &w->state.D;
    const mbg__modal_layout l = mbg__modal_places(D->n);
    const int body = s->model->modals[i].body, off = s->model->bodies[body].voff;
    const real *mc = w->state.at.mc, *a = w->state.a;
    real bar[3];
    (void)body_gradient(s, i, bar, true);
    v3_axpy(bar, -c, mc);
    w->gD[l.I1] -= c * v3_dot(gravity_of(s), s->H[body].x);
    v3_axpy(w->gD + l.I2, -c, a);
    for (int j = 0; j < D->n; j++) {
      w->geta[j] -= c * v3_dot(D->I3 + 3 * j, a);
      v3_axpy(w->gD + l.I3 + 3 * j, -c * w->eta[j], a);
    }
    if (gw) {
      v3_axpy(gw + off, -c * D->I1[0], a);
    }
    if (ga) {
      v3_axpy(ga + s->model->gravity, -c * D->I1[0], s->H[body].x);
    }
    body_scatter(s, i, bar, gw, NULL, NULL, ga);
  }
}

/* ---------------------------------------------------------------------- matrices */

static void add_column(const mbg__local *l, int c, const real *x, real *val) {
  for (int i = 0; val && i < l->n; i++) {
    val[l->slot[l->n * i + c]] += x[l->full[i]];
  }
}

static void clear_local(const mbg__local *l, real *x) {
  for (int i = 0; i < l->n; i++) {
    x[l->full[i]] = 0;
  }
}

/* columns of K, C, M: derivatives of r of the body in the direction of one velocity */
static void body_column(const mbg__system *s, int i, const mbg__direction *d, int c, real *val) {
  const mbg__local *l = &s->modal[i].local;
  if (val) {
    inertia_push(s, i, d);
    scatter(s, i, 1, s->modal[i].r, s->column);
    add_column(l, c, s->column, val);
    clear_local(l, s->column);
    vn_zero(6, s->column + s->model->bodies[s->model->modals[i].body].voff);
  }
}

void mbg__modals_matrices(const mbg__system *s, const mbg__matrices *out) {
  real *unit = s->column + s->model->nw;
  for (int i = 0; i < s->model->nmodal; i++) {
    const mbg__local *l = &s->modal[i].local;
    for (int c = 0; c < l->n; c++) {
      const mbg__direction w = {.w = unit}, dv = {.dv = unit}, dvd = {.dvd = unit};
      unit[l->full[c]] = 1;
      body_column(s, i, &dvd, c, out->M);
      if (!s->bare) {
        body_column(s, i, &w, c, out->K);
        body_column(s, i, &dv, c, out->C);
      }
      unit[l->full[c]] = 0;
    }
  }
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
  mbg__kin_pair_pull(s, pair, gw, gv, gvd, w, v, vd, NULL);
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
