/* Modal bodies in the chain: their coordinates are gathered from the bodies that carry them, the inertia couples frame
   and coordinates, and the markers on them have modal columns. Cotangents take the same way back. */
#include "system/system_modal.h"

#include <string.h>

/* ---------------------------------------------------------------------- creation */

static int take_end_change(mbg_context *ctx, mbg__system *s, int marker) {
  mbg__modal_end_change *x = s->end_change[marker] = MBG_TAKE(&s->arena, mbg__modal_end_change, 1);
  real *dP = MBG_TAKE(&s->arena, real, 6 * s->design->handles[marker].n);
  if (x) {
    x->dP = dP;
  }
  return mbg__arena_check(ctx, &s->arena);
}

static int create_end(mbg_context *ctx, mbg__system *s, int marker) {
  const int n = s->design->handles[marker].n;
  mbg__modal_end *e = MBG_TAKE(&s->arena, mbg__modal_end, 1);
  real *memory = MBG_TAKE(&s->arena, real, 12 * n);
  const int err = take_end_change(ctx, s, marker);
  if (err < 0) {
    return err;
  }
  e->modal = s->model->bodies[marker_body(s, marker)].modal;
  e->m = (mbg__modal_marker){.n = n,
                             .h = &s->design->markers[marker]->h,
                             .P = s->design->handles[marker].P,
                             .Psi = memory,
                             .eta = s->modal[e->modal].eta};
  e->gP = memory + 6 * n;
  s->end[marker] = e;
  return MBG_OK;
}

static int create_body(mbg_context *ctx, mbg__system *s, int i) {
  const int n = s->model->modals[i].n, count = mbg__modal_places(n).count;
  mbg__modal_work *w = &s->modal[i];
  /* eta, deta, geta: n; nu, nud and their d and g, r, scratch: 6 + n; dD, gD: count; two times B and N: 12 n */
  real *at = MBG_TAKE(&s->arena, real, 3 * n + 8 * (6 + n) + 2 * count + 24 * n);
  if (mbg__arena_check(ctx, &s->arena) < 0) {
    return MBG_ERROR_MEMORY;
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
  s->end_change = MBG_TAKE(&s->arena, mbg__modal_end_change *, m->nmarker);
  s->column = MBG_TAKE(&s->arena, real, m->nmodal > 0 ? 4 * m->nw : 0);
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
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

/* ---------------------------------------------------------------------- views */

/* what pushes write to: deta (n), dnu, dnud, r (6 + n), dD, B and N of the change */
static int take_body_change(mbg_context *ctx, mbg__system *view, int i) {
  const int n = view->model->modals[i].n, count = mbg__modal_places(n).count;
  mbg__modal_work *w = &view->modal[i];
  real *at = MBG_TAKE(&view->arena, real, n + 3 * (6 + n) + count + 12 * n);
  real **large[] = {&w->dnu, &w->dnud, &w->r};
  if (!at) {
    return mbg__fail_memory(ctx);
  }
  w->deta = at;
  at += n;
  for (int k = 0; k < 3; k++, at += 6 + n) {
    *large[k] = at;
  }
  w->dD = at;
  w->change.B = at + count;
  w->change.N = at + count + 3 * n;
  return MBG_OK;
}

int mbg__modals_create_view(mbg_context *ctx, mbg__system *view, const mbg__system *of) {
  const mbg_model *m = of->model;
  int err = MBG_OK;
  view->model = m;
  view->design = of->design;
  view->modal = MBG_TAKE(&view->arena, mbg__modal_work, m->nmodal);
  view->end_change = MBG_TAKE(&view->arena, mbg__modal_end_change *, m->nmarker);
  MBG_TRY(mbg__arena_check(ctx, &view->arena));
  for (int i = 0; i < m->nmodal; i++) {
    MBG_TRY(take_body_change(ctx, view, i));
  }
  for (int i = 0; i < m->nmarker; i++) {
    if (of->end[i]) {
      MBG_TRY(take_end_change(ctx, view, i));
    }
  }
done:
  return err;
}

void mbg__modals_view(mbg__system *view, const mbg__system *of) {
  for (int i = 0; i < of->model->nmodal; i++) {
    view->modal[i].state = of->modal[i].state;
  }
}

/* ---------------------------------------------------------------------- coordinates and carriers */

static void gather_twist(void *user, int i) {
  const mbg__system *s = user;
  modal_gather(s, i, s->v, s->modal[i].nu);
}

void mbg__modals_twists(mbg__system *s) {
  mbg__pool_each(s->pool, MBG__EACH_TWIST_MODAL, s->model->nmodal, gather_twist, s);
}

static void gather_rate(void *user, int i) {
  const mbg__system *s = user;
  modal_gather(s, i, s->vd, s->modal[i].nud);
}

void mbg__modals_rates(mbg__system *s) {
  mbg__pool_each(s->pool, MBG__EACH_RATE_MODAL, s->model->nmodal, gather_rate, s);
}

static void update_body(void *user, int i) {
  const mbg__system *s = user;
  const mbg_model *m = s->model;
  mbg__modal_work *w = &s->modal[i];
  for (int j = 0; j < m->modals[i].n; j++) {
    w->eta[j] = s->H[mbg__modal_carrier(&m->modals[i], j)].x[j % 3];
  }
  m3_mulv_T(w->state.a, s->H[m->modals[i].body].R, gravity_of(s));
  mbg__modal_update(&w->state);
}

typedef struct {
  mbg__system *s;
  bool still;
} update_job;

static void update_all(void *user, int i) {
  const update_job *j = user;
  if (!j->still) {
    update_body(j->s, i);
  }
  gather_twist(j->s, i);
  gather_rate(j->s, i);
}

void mbg__modals_update(mbg__system *s, bool still) {
  mbg__pool_each(s->pool, MBG__EACH_MODAL, s->model->nmodal, update_all, &(update_job){s, still});
}

/* ---------------------------------------------------------------------- inertia */

typedef struct {
  const mbg__system *s;
  const real *z;
  const mbg__cotangent *to;
  const mbg__matrices *out;
  real *r;
} body_job;

static void body_residual(void *user, int i) {
  const body_job *b = user;
  const mbg__modal_work *w = &b->s->modal[i];
  mbg__modal_residual(&w->state, w->r);
  modal_scatter(b->s, i, 1, w->r, b->r);
}

void mbg__modals_residual(const mbg__system *s, real *r) {
  mbg__pool_each(s->pool, MBG__EACH_MODAL_R, s->model->nmodal, body_residual, &(body_job){.s = s, .r = r});
}

void mbg__modals_mass_mul(const mbg__system *s, const real *x, real *y) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *w = &s->modal[i];
    modal_gather(s, i, x, w->scratch);
    mbg__modal_mass_mul(&w->state, w->scratch, w->r);
    modal_scatter(s, i, 1, w->r, y);
  }
}

void mbg__system_mass_rate(const mbg__system *s, real c, const real *x, real *y) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *w = &s->modal[i];
    modal_gather(s, i, x, w->scratch);
    vn_zero(6 + s->model->modals[i].n, w->r);
    mbg__modal_mass_rate(&w->state, c, w->scratch, w->r);
    modal_scatter(s, i, 1, w->r, y);
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
  modal_direction(s, i, d);
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
    modal_scatter(s, i, 1, s->modal[i].r, dr);
  }
}

/* cleared places for the cotangents of a body; ga: of R^T g */
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

static void body_scatter(const mbg__system *s, int i, const real ga[3], const mbg__cotangent *g) {
  const mbg__modal_work *w = &s->modal[i];
  const int body = s->model->modals[i].body;
  if (g->w) {
    modal_scatter_modes(s, i, w->geta, g->w);
    /* ga.(a x W) = W.(ga x a) */
    v3_cross_add(g->w + s->model->bodies[body].voff + 3, 1, ga, w->state.a);
  }
  if (g->v) {
    modal_scatter(s, i, 1, w->gnu, g->v);
  }
  if (g->vd) {
    modal_scatter(s, i, 1, w->gnud, g->vd);
  }
  if (g->a) {
    mbg__modal_map_pull(&s->design->modals[i].map, w->gD, g->a);
  }
}

static void gravity_scatter(const mbg__system *s, int i, const real ga[3], const mbg__cotangent *g) {
  if (g->a && s->model->gravity >= 0) {
    m3_mulv_add(g->a + s->model->gravity, s->H[s->model->modals[i].body].R, ga);
  }
}

static void all_scatter(const mbg__system *s, int i, const real ga[3], const mbg__cotangent *g) {
  body_scatter(s, i, ga, g);
  gravity_scatter(s, i, ga, g);
}

static void body_pull(void *user, int i) {
  const body_job *b = user;
  const mbg__system *s = b->s;
  mbg__modal_work *w = &s->modal[i];
  real *a = s->weight3[s->model->modals[i].body];
  const mbg__modal_gradient g = body_gradient(s, i, a, b->to->a != NULL);
  modal_gather(s, i, b->z, w->r);
  mbg__modal_pull(&w->state, w->r, &w->change, &g);
  body_scatter(s, i, a, b->to);
}

/* attributes of a modal body are its own; gravity belongs to all, in their order */
void mbg__modals_pull(const mbg__system *s, const real *z, const mbg__cotangent *to) {
  mbg__pool_each(s->pool, MBG__EACH_MODAL_PULL, s->model->nmodal, body_pull, &(body_job){.s = s, .z = z, .to = to});
  for (int i = 0; i < s->model->nmodal; i++) {
    gravity_scatter(s, i, s->weight3[s->model->modals[i].body], to);
  }
}

/* The body at rest, without weight and stiffness, accelerated by u: r = M u. Leaving the stiffness in and subtracting
   it afterwards would cost the digits by which Kf z exceeds the derivative of M u. */
static mbg__modal_state accelerated(const mbg__system *s, int i, const real *u) {
  const mbg__modal_work *w = &s->modal[i];
  mbg__modal_state state = w->state;
  vn_zero(6 + s->model->modals[i].n, w->gnu);
  modal_gather(s, i, u, w->gnud);
  v3_zero(state.a);
  state.nu = w->gnu;
  state.nud = w->gnud;
  state.inertia_only = true;
  return state;
}

void mbg__modals_mass_push(const mbg__system *s, const real *u, const real *w, const real *da, real *dr) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *k = &s->modal[i];
    const int n = s->model->modals[i].n;
    const bool any = da && mbg__modal_map_push(&s->design->modals[i].map, da, mbg__modal_places(n).count, k->dD);
    const mbg__modal_direction d = {.deta = k->deta, .dD = any ? k->dD : NULL};
    const mbg__modal_state state = accelerated(s, i, u);
    modal_gather_modes(s, i, w, k->deta);
    mbg__modal_push(&state, &d, &k->change, k->r);
    modal_scatter(s, i, 1, k->r, dr);
  }
}

void mbg__modals_mass_pull(const mbg__system *s, const real *u, const real *z, real *gw, real *ga) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *k = &s->modal[i];
    const int n = s->model->modals[i].n;
    const mbg__modal_state state = accelerated(s, i, u);
    const mbg__modal_gradient g = {.eta = k->geta, .D = ga ? k->gD : NULL};
    vn_zero(n, k->geta);
    modal_gather(s, i, z, k->r);
    if (ga) {
      vn_zero(mbg__modal_places(n).count, k->gD);
    }
    mbg__modal_pull(&state, k->r, &k->change, &g);
    modal_scatter_modes(s, i, k->geta, gw);
    if (ga) {
      mbg__modal_map_pull(&s->design->modals[i].map, k->gD, ga);
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

void mbg__modals_kinetic_pull(const mbg__system *s, int body, real c, const mbg__cotangent *to) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *w = &s->modal[i];
    real a[3];
    if (wants(s, i, body)) {
      const mbg__modal_gradient g = body_gradient(s, i, a, to->a != NULL);
      mbg__modal_kinetic_pull(&w->state, c, w->scratch, &w->change, &g);
      all_scatter(s, i, a, to);
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

void mbg__modals_strain_pull(const mbg__system *s, int body, real c, const mbg__cotangent *to) {
  for (int i = 0; i < s->model->nmodal; i++) {
    real a[3];
    if (wants(s, i, body)) {
      const mbg__modal_gradient g = body_gradient(s, i, a, to->a != NULL);
      mbg__modal_strain_pull(&s->modal[i].state, c, &g);
      all_scatter(s, i, a, to);
    }
  }
}

/* V = -g.(I1 x + R mc) = -(I1 R^T x + mc).a */
static real weight_energy(const mbg__system *s, int i) {
  const mbg__modal_state *b = &s->modal[i].state;
  return -(b->D.I1[0] * v3_dot(gravity_of(s), s->H[s->model->modals[i].body].x) + v3_dot(b->at.mc, b->a));
}

real mbg__modals_gravity(const mbg__system *s) {
  real e = 0;
  for (int i = 0; s->model->gravity >= 0 && i < s->model->nmodal; i++) {
    e += weight_energy(s, i);
  }
  return e;
}

static void energy_terms(void *user, int i) {
  const mbg__system *s = user;
  mbg__modal_work *w = &s->modal[i];
  w->energies[0] = mbg__modal_kinetic(&w->state, w->scratch);
  w->energies[1] = mbg__modal_strain(&w->state);
  w->energies[2] = s->model->gravity >= 0 ? weight_energy(s, i) : 0;
}

void mbg__modals_energy_terms(const mbg__system *s) {
  mbg__pool_each(s->pool, MBG__EACH_MODAL_ENERGY, s->model->nmodal, energy_terms, (void *)s);
}

real mbg__modals_energy_sum(const mbg__system *s, int which) {
  real e = 0;
  for (int i = 0; i < s->model->nmodal; i++) {
    e += s->modal[i].energies[which];
  }
  return e;
}

void mbg__modals_gravity_pull(const mbg__system *s, real c, const mbg__cotangent *to) {
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
    if (to->w) {
      v3_axpy(to->w + off, -c * D->I1[0], a);
    }
    if (to->a) {
      v3_axpy(to->a + s->model->gravity, -c * D->I1[0], s->H[body].x);
    }
    all_scatter(s, i, bar, to);
  }
}

/* ---------------------------------------------------------------------- matrices */

/* columns of K, C, M: derivatives of r of the body in the direction of one velocity */
static void body_column(const mbg__system *s, int i, const mbg__direction *d, int c, real *val) {
  const mbg__local *l = &s->modal[i].local;
  if (val) {
    inertia_push(s, i, d);
    modal_scatter(s, i, 1, s->modal[i].r, s->column);
    add_column(l, c, s->column, val);
    clear_local(l, s->column);
    vn_zero(6, s->column + s->model->bodies[s->model->modals[i].body].voff);
  }
}

/* of the scratch columns a body uses its own places */
static void body_matrices(void *user, int i) {
  const body_job *b = user;
  const mbg__system *s = b->s;
  const mbg__local *l = &s->modal[i].local;
  real *unit = s->column + s->model->nw;
  for (int c = 0; c < l->n; c++) {
    const mbg__direction w = {.w = unit}, dv = {.dv = unit}, dvd = {.dvd = unit};
    unit[l->full[c]] = 1;
    body_column(s, i, &dvd, c, b->out->M);
    if (!s->bare) {
      body_column(s, i, &w, c, b->out->K);
      body_column(s, i, &dv, c, b->out->C);
    }
    unit[l->full[c]] = 0;
  }
}

void mbg__modals_matrices(const mbg__system *s, const mbg__matrices *out) {
  mbg__pool_each(s->pool, MBG__EACH_MODAL_M, s->model->nmodal, body_matrices, &(body_job){.s = s, .out = out});
}
