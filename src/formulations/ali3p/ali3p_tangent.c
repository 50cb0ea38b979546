/* Direct differentiation (theory 5, section 8), all parameters as one block. With A = Ad(exp(-S D)):

     S (D', lambda') = -(E1, Phi) in the direction (A e, -w', -(4/h) w' - a', p)
     e <- A e + S T D',  ws' = (2/h) D' - w',  as' = (4/h^2) D' - (4/h) w' - a'
     [M Phi_z^T; Phi_z -eps] (w', y') = -(M q + Phi_z^T y, Phid)   in the direction (e, q' = -ws', p)
     [M Phi_z^T; Phi_z -eps] (a', x') = -(M q + Phi_z^T x, Phidd)  in the direction (e, w', q' = -as', p) */
#include "formulations/ali3p/ali3p_work.h"

#include "model/design_columns.h"

#include <string.h>

typedef struct {
  mbg__ali3p *a;
  mbg__arena arena;
  int np;        /* columns: parameters, and in a step to a guard one more */
  int nparam;    /* parameters */
  real *fw, *fv; /* events: w, v' of the bodies                       (np x nw) */
  mbg__event_tangent events;
  real *e, *w, *v, *ws, *as; /* e', w', a', ws', as'               (6 nbody x np), (n x np) */
  real *X;                   /* right sides and solutions          ((n + rows) x np) */
  real *q;                   /* directions of q                    (n x np) */
  mbg__tree_lanes *lanes;    /* NULL: column by column */
  real *dE1, *dphi;          /*                                    (n), (rows), MBG__LANES columns each */
  real *dphid;               /* rows on rates, NULL: there are none */
  mbg__design_columns columns;
  real *da;                   /*                                    (na, MBG__LANES columns) */
  real *eye;                  /* unit seeds                         (nused x nused) */
  real *ge, *gw, *ga, *gattr; /* gradients of the used signals      (nused x ...) */
  int nw;                     /* frames that are handed over: nw, or 0 */
  real *frame;                /*                                    (nw) */
  real *dy;                   /*                                    (nused + nw x np) */
  mbg__ali3p_seeds *seeds;
  mbg__ali3p_guard *guard; /* events, else NULL */
  real *one;               /* events: of joint frames               (6 nbody) */
  int (*take)(void *user, int node, const real *dy);
  void *user;
} tangent;

/* ---------------------------------------------------------------------- creation */

static int take_arrays(mbg_context *ctx, tangent *s) {
  const mbg__ali3p *a = s->a;
  const size_t np = (size_t)s->np + (a->events != NULL), n = (size_t)a->n, used = (size_t)a->nused,
               nb = 6 * (size_t)a->m->nbody;
  s->fw = MBG_TAKE(&s->arena, real, a->events ? np * (size_t)a->m->nw : 0);
  s->fv = MBG_TAKE(&s->arena, real, a->events ? np * (size_t)a->m->nw : 0);
  s->one = MBG_TAKE(&s->arena, real, a->events ? nb : 0);
  s->e = MBG_TAKE(&s->arena, real, nb * np);
  s->w = MBG_TAKE(&s->arena, real, n * np);
  s->v = MBG_TAKE(&s->arena, real, n * np);
  s->ws = MBG_TAKE(&s->arena, real, n * np);
  s->as = MBG_TAKE(&s->arena, real, n * np);
  s->X = MBG_TAKE(&s->arena, real, (n + (size_t)a->nrow) * np);
  s->q = MBG_TAKE(&s->arena, real, n * np);
  s->dE1 = MBG_TAKE(&s->arena, real, MBG__LANES * n);
  s->dphi = MBG_TAKE(&s->arena, real, MBG__LANES * (size_t)a->nrow);
  s->dphid = a->rates ? MBG_TAKE(&s->arena, real, MBG__LANES * (size_t)a->nrow) : NULL;
  s->da = MBG_TAKE(&s->arena, real, MBG__LANES * (size_t)a->m->na);
  s->eye = MBG_TAKE(&s->arena, real, used * used);
  s->ge = MBG_TAKE(&s->arena, real, used * nb);
  s->gw = MBG_TAKE(&s->arena, real, used * n);
  s->ga = MBG_TAKE(&s->arena, real, used * n);
  s->gattr = MBG_TAKE(&s->arena, real, used * (size_t)a->m->na);
  s->nw = mbg__march_nodes(a->march)->npose > 0 ? a->m->nw : 0;
  s->frame = MBG_TAKE(&s->arena, real, s->nw);
  s->dy = MBG_TAKE(&s->arena, real, (used + (size_t)s->nw) * np);
  for (size_t i = 0; s->eye && i < used; i++) {
    s->eye[i * used + i] = 1;
  }
  int err = mbg__arena_check(ctx, &s->arena);
  err = err < 0 ? err : mbg__design_columns_make(ctx, &s->arena, mbg__system_design(a->sys), &s->columns);
  return err < 0 ? err : mbg__event_tangent_create(ctx, &s->arena, a->events, a->m, &s->columns, s->nparam, &s->events);
}

static real *column(real *x, int p, int n) { return x + (size_t)p * (size_t)n; }

/* ---------------------------------------------------------------------- right sides and solutions */

/* X of a column = -(c dE1, dphi); level of the rows: 0 positions (rows on rates: h/2 their rates, c = h^2/4), 1 rates,
   2 accelerations */
static void set_side(tangent *s, int p, real c, int level, const mbg__tree_change *change) {
  const mbg__ali3p *a = s->a;
  const real *dphi = level == 0 ? change->dphi : level == 1 ? change->dphid : change->dphidd;
  real *x = column(s->X, p, a->n + a->nrow);
  vn_scale(a->n, x, -c, change->dE1);
  for (int i = 0; i < a->nrow; i++) {
    x[a->n + i] = level == 0 && a->rates && a->rates[i] ? -r_sqrt(c) * change->dphid[i] : -dphi[i];
  }
}

/* directions of frames, and of rates, accelerations and q where they are given (n x np) */
static void right_sides(tangent *s, const real *dw, const real *da, const real *dq, real c, int level) {
  mbg__ali3p *a = s->a;
  const int width = s->lanes ? MBG__LANES : 1;
  mbg__tree_direction d[MBG__LANES];
  mbg__tree_change change[MBG__LANES];
  for (int p = 0; p < s->np; p += width) {
    const int nc = s->np - p < width ? s->np - p : width;
    for (int k = 0; k < nc; k++) {
      const size_t at = (size_t)(p + k) * (size_t)a->n;
      d[k] = (mbg__tree_direction){.e = column(s->e, p + k, 6 * a->m->nbody),
                                   .dw = dw ? dw + at : NULL,
                                   .da = da ? da + at : NULL,
                                   .dq = dq ? dq + at : NULL,
                                   .attributes = column(s->da, k, a->m->na)};
      change[k] = (mbg__tree_change){.dE1 = column(s->dE1, k, a->n)};
      real *rows = column(s->dphi, k, a->nrow);
      *(level == 0 ? &change[k].dphi : level == 1 ? &change[k].dphid : &change[k].dphidd) = rows;
      if (level == 0 && s->dphid) {
        change[k].dphid = column(s->dphid, k, a->nrow);
      }
      mbg__event_tangent_lay(&s->events, p + k, column(s->da, k, a->m->na));
    }
    if (nc > 1) {
      mbg__tree_push_lanes(s->lanes, nc, d, change);
    } else {
      mbg__tree_push(a->tree, d, change->dE1, change->dphi, change->dphid, change->dphidd);
    }
    for (int k = 0; k < nc; k++) {
      mbg__event_tangent_clear(&s->events, p + k, column(s->da, k, a->m->na));
      set_side(s, p + k, c, level, &change[k]);
    }
  }
}

static void solve(tangent *s, mbg__tree_matrix *matrix) {
  mbg__tree_matrix_solve(s->a->tree, matrix, s->X, s->np);
  s->a->counts->solves += s->np;
}

static void take_solution(tangent *s, real *out) {
  for (int p = 0; p < s->np; p++) {
    vn_copy(s->a->n, column(out, p, s->a->n), column(s->X, p, s->a->n + s->a->nrow));
  }
}

/* ---------------------------------------------------------------------- states */

/* accelerations of states, the tree at the projected rates: E1_S' = 0 */
static void state_columns(tangent *s) {
  mbg__ali3p *a = s->a;
  const int nb = 6 * a->m->nbody;
  for (int p = 0; p < s->np; p++) {
    const mbg__tree_direction d = {
        .e = column(s->e, p, nb), .dw = column(s->w, p, a->n), .da = column(s->v, p, a->n), .attributes = s->da};
    mbg__event_tangent_lay(&s->events, p, s->da);
    if (a->held) {
      mbg__ali3p_states_push(a, &d, column(s->v, p, a->n));
    } else {
      mbg__tree_push(a->tree, &d, s->dE1, NULL, NULL, NULL);
      mbg__ali3p_states_take(a, -1, s->dE1, column(s->v, p, a->n));
    }
    mbg__event_tangent_clear(&s->events, p, s->da);
  }
}

static int state_rates(mbg_context *ctx, tangent *s, const mbg__ali3p_node *to) {
  mbg__ali3p *a = s->a;
  int err = MBG_OK;
  if (!mbg__ali3p_has_states(a)) {
    return MBG_OK;
  }
  MBG_TRY(mbg__ali3p_at_states(ctx, a, to));
  state_columns(s);
  for (int p = 0; a->late && p < s->np; p++) {
    real *w = column(s->w, p, a->n);
    mbg__ali3p_states_correct(a, *to->h / 2, column(s->v, p, a->n), column(s->as, p, a->n), w);
    if (a->events) { /* by h' */
      for (int i = 0; i < a->n; i++) {
        w[i] += a->late[i] ? s->events.h[p] / 2 * (to->a[i] - to->as[i]) : 0;
      }
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- first node */

/* a' from e and w', at a node without a step */
static int accelerate(mbg_context *ctx, tangent *s, const mbg__ali3p_node *n) {
  mbg__ali3p *a = s->a;
  int err = MBG_OK;
  MBG_TRY(mbg__ali3p_at_start(ctx, a, n));
  MBG_TRY(mbg__ali3p_factor_mass(ctx, a, n, true));
  right_sides(s, s->w, NULL, NULL, 1, 2);
  solve(s, &a->mass);
  take_solution(s, s->v);
  if (mbg__system_has_late(a->sys)) {
    MBG_TRY(a->held ? mbg__ali3p_at_states(ctx, a, n) : MBG_OK);
    state_columns(s);
  }
done:
  return err;
}

static int begin(mbg_context *ctx, tangent *s, const mbg__ali3p_node *n) {
  mbg__ali3p *a = s->a;
  const int nb = 6 * a->m->nbody;
  const size_t nw = (size_t)a->m->nw;
  int err = MBG_OK;
  /* the start uses the system as scratch: all parameters before the tree */
  real *frames = mbg__alloc(ctx, 2 * nw * (size_t)s->np + 1, sizeof(real)), *twists = NULL;
  if (!frames) {
    return mbg__fail_memory(ctx);
  }
  twists = frames + nw * (size_t)s->np;
  for (int p = 0; p < s->np; p++) {
    mbg__event_tangent_lay(&s->events, p, s->da);
    err = mbg__start_push_column(ctx, a->start, p, s->da, column(frames, p, a->m->nw), column(twists, p, a->m->nw));
    mbg__event_tangent_clear(&s->events, p, s->da);
    MBG_TRY(err);
  }
  MBG_TRY(mbg__ali3p_at_start(ctx, a, n));
  for (int p = 0; p < s->np; p++) {
    mbg__event_tangent_lay(&s->events, p, s->da);
    mbg__tree_local_read_push(a->tree, column(frames, p, a->m->nw), column(twists, p, a->m->nw), s->da,
                              column(s->e, p, nb), column(s->w, p, a->n));
    mbg__event_tangent_clear(&s->events, p, s->da);
  }
  MBG_TRY(accelerate(ctx, s, n));
done:
  mbg__free(ctx, frames);
  return err;
}

/* ---------------------------------------------------------------------- step */

/* e <- Ad(exp(-S D)) e */
static void carry(tangent *s, const mbg__ali3p_node *to) {
  const mbg__ali3p *a = s->a;
  for (int k = 0; k < a->m->nbody; k++) {
    const mbg__link *l = &a->links[k];
    mbg__frame F;
    real d[6] = {0};
    for (int i = 0; i < l->nz; i++) {
      d[l->comp[i]] = to->D[l->first + i];
    }
    mbg__se3_exp(&F, d);
    for (int p = 0; p < s->np; p++) {
      real *e = column(s->e, p, 6 * a->m->nbody) + 6 * k, x[6];
      AdInv_mul(x, &F, e);
      v6_copy(e, x);
    }
  }
}

/* e += S T D' */
static void add_increment(tangent *s, int p, const mbg__ali3p_node *to, const real *D) {
  const mbg__ali3p *a = s->a;
  real *e = column(s->e, p, 6 * a->m->nbody);
  for (int k = 0; k < a->m->nbody; k++) {
    const mbg__link *l = &a->links[k];
    real x[6];
    mbg__tree_tangent(l, to->D, D + l->first, x);
    for (int i = 0; i < l->nz; i++) {
      e[6 * k + l->comp[i]] += x[i];
    }
  }
}

/* the parts of ws' and as' by h' (theory 7, section 5) */
static void by_length(const tangent *s, int p, const mbg__ali3p_node *from, const mbg__ali3p_node *to, real *ws,
                      real *as) {
  const real h = *to->h;
  const real dh = s->events.h[p];
  for (int i = 0; dh != 0 && i < s->a->n; i++) {
    ws[i] -= 2 / (h * h) * to->D[i] * dh;
    as[i] += (4 / (h * h) * from->w[i] - 8 / (h * h * h) * to->D[i]) * dh;
  }
}

static int position_step(mbg_context *ctx, tangent *s, const mbg__ali3p_node *from, const mbg__ali3p_node *to) {
  mbg__ali3p *a = s->a;
  const real h = *to->h;
  int err = MBG_OK;
  MBG_TRY(mbg__ali3p_at_step(ctx, a, to));
  MBG_TRY(mbg__ali3p_factor_step(ctx, a, to, false));
  carry(s, to);
  for (int p = 0; p < s->np; p++) {
    real *ws = column(s->ws, p, a->n), *as = column(s->as, p, a->n);
    vn_scale(a->n, ws, -1, column(s->w, p, a->n));
    vn_scale(a->n, as, -1, column(s->v, p, a->n));
    vn_axpy(a->n, as, 4 / h, ws);
    if (a->events) {
      by_length(s, p, from, to, ws, as);
    }
  }
  right_sides(s, s->ws, s->as, NULL, h * h / 4, 0);
  for (int p = 0; a->held && p < s->np; p++) {
    mbg__ali3p_states_hold(a, h * h / 4, column(s->v, p, a->n), column(s->X, p, a->n + a->nrow));
  }
  solve(s, &a->step);
  for (int p = 0; p < s->np; p++) {
    const real *D = column(s->X, p, a->n + a->nrow);
    add_increment(s, p, to, D);
    vn_axpy(a->n, column(s->ws, p, a->n), 2 / h, D);
    vn_axpy(a->n, column(s->as, p, a->n), 4 / (h * h), D);
  }
done:
  return err;
}

static int projections(mbg_context *ctx, tangent *s, int i, const mbg__ali3p_node *to) {
  mbg__ali3p *a = s->a;
  const size_t bytes = (size_t)a->n * (size_t)s->np * sizeof(real);
  int err = MBG_OK;
  if (a->nrow == 0) {
    memcpy(s->w, s->ws, bytes);
    memcpy(s->v, s->as, bytes);
    return MBG_OK;
  }
  MBG_TRY(mbg__ali3p_at_rates(ctx, a, to));
  MBG_TRY(mbg__ali3p_factor_again(ctx, a, i, to));
  vn_scale(a->n * s->np, s->q, -1, s->ws);
  right_sides(s, NULL, NULL, s->q, 1, 1);
  solve(s, &a->mass);
  take_solution(s, s->w);
  mbg__ali3p_then_accelerations(a, to);
  vn_scale(a->n * s->np, s->q, -1, s->as);
  right_sides(s, s->w, NULL, s->q, 1, 2);
  solve(s, &a->mass);
  take_solution(s, s->v);
done:
  return err;
}

/* ---------------------------------------------------------------------- signals */

/* dy (np) of a signal by its gradients by frames, rates, accelerations and attributes */
static void signal_columns(const tangent *s, const real *ge, const real *gw, const real *ga, const real *gattr,
                           real *dy) {
  const mbg__ali3p *a = s->a;
  const int nb = 6 * a->m->nbody;
  for (int p = 0; p < s->np; p++) {
    dy[p] = vn_dot(nb, ge, column(s->e, p, nb)) + vn_dot(a->n, gw, column(s->w, p, a->n)) +
            vn_dot(a->n, ga, column(s->v, p, a->n));
  }
  mbg__event_tangent_pull(&s->events, mbg__system_design(a->sys), s->np, gattr, dy);
}

static int signals(mbg_context *ctx, tangent *s, const mbg__ali3p_node *n) {
  mbg__ali3p *a = s->a;
  const int nb = 6 * a->m->nbody;
  const size_t used = (size_t)a->nused;
  memset(s->ge, 0, used * (size_t)nb * sizeof(real));
  memset(s->gw, 0, used * (size_t)a->n * sizeof(real));
  memset(s->ga, 0, used * (size_t)a->n * sizeof(real));
  memset(s->gattr, 0, used * (size_t)a->m->na * sizeof(real));
  memset(s->dy, 0, used * (size_t)s->np * sizeof(real));
  const int err = mbg__ali3p_seeds_at(ctx, s->seeds, n, false, s->eye, s->ge, s->gw, s->ga, s->gattr);
  for (int k = 0; k < a->nused; k++) {
    signal_columns(s, column(s->ge, k, nb), column(s->gw, k, a->n), column(s->ga, k, a->n),
                   column(s->gattr, k, a->m->na), column(s->dy, k, s->np));
  }
  return err;
}

/* w of the bodies, by rows */
static int frames(mbg_context *ctx, tangent *s, const mbg__ali3p_node *n, real *dy) {
  mbg__ali3p *a = s->a;
  const mbg__tree_state at = {.t = *n->t, .E = n->E, .w = n->w, .a = n->a, .q = a->zero, .turns = n->turns};
  const int err = mbg__tree_update(ctx, a->tree, &at);
  for (int p = 0; err == MBG_OK && p < s->np; p++) {
    mbg__event_tangent_lay(&s->events, p, s->da);
    mbg__tree_kin_push(a->tree, &(mbg__tree_direction){.e = column(s->e, p, 6 * a->m->nbody), .attributes = s->da},
                       s->frame, NULL, NULL);
    mbg__event_tangent_clear(&s->events, p, s->da);
    for (int i = 0; i < s->nw; i++) {
      dy[(size_t)i * (size_t)s->np + (size_t)p] = s->frame[i];
    }
  }
  return err;
}

/* ---------------------------------------------------------------------- events */

static void add_last(int n, int nparam, const real *dt, real *x) {
  for (int p = 0; p < nparam; p++) {
    vn_axpy(n, column(x, p, n), dt[p], column(x, nparam, n));
  }
}

/* after a step to a guard: its time, and the columns with it */
static int meet(mbg_context *ctx, tangent *s, int guard, const mbg__ali3p_node *n) {
  mbg__ali3p *a = s->a;
  int err = MBG_OK;
  MBG_TRY(mbg__ali3p_guard_at(ctx, s->guard, n, guard));
  signal_columns(s, mbg__ali3p_guard_of(s->guard)->e, mbg__ali3p_guard_of(s->guard)->w, a->zero,
                 mbg__ali3p_guard_of(s->guard)->attributes, s->events.g);
  mbg__event_tangent_meet(&s->events);
  add_last(6 * a->m->nbody, s->nparam, s->events.g, s->e);
  add_last(a->n, s->nparam, s->events.g, s->w);
  add_last(a->n, s->nparam, s->events.g, s->v);
  s->np = s->nparam;
done:
  return err;
}

/* a step to the node, which may be that before an event */
static int step_to(mbg_context *ctx, tangent *s, int i, const mbg__ali3p_node *from, const mbg__ali3p_node *n) {
  mbg__ali3p *a = s->a;
  const int fires = a->events ? mbg__march_fires(a->march, i) : -1;
  int err = MBG_OK;
  s->np = mbg__event_tangent_enter(&s->events, fires, s->da);
  if (s->np > s->nparam) {
    vn_zero(6 * a->m->nbody, column(s->e, s->nparam, 6 * a->m->nbody));
    vn_zero(a->n, column(s->w, s->nparam, a->n));
    vn_zero(a->n, column(s->v, s->nparam, a->n));
  }
  MBG_TRY(position_step(ctx, s, from, n));
  MBG_TRY(projections(ctx, s, i, n));
  MBG_TRY(state_rates(ctx, s, n));
  MBG_TRY(s->np > s->nparam ? meet(ctx, s, mbg__events_which(a->events, fires)->guard, n) : MBG_OK);
done:
  return err;
}

/* rates and accelerations after an event */
static int event(mbg_context *ctx, tangent *s, int firing, const mbg__ali3p_node *from, const mbg__ali3p_node *n) {
  mbg__ali3p *a = s->a;
  const int nw = a->m->nw, nb = 6 * a->m->nbody;
  int err = MBG_OK;
  const mbg__state before = mbg__ali3p_bodies(ctx, a, from);
  for (int p = 0; p < s->np; p++) {
    mbg__event_tangent_lay(&s->events, p, s->da);
    const mbg__tree_direction d = {.e = column(s->e, p, nb), .dw = column(s->w, p, a->n), .attributes = s->da};
    mbg__tree_kin_push(a->tree, &d, column(s->fw, p, nw), column(s->fv, p, nw), NULL);
    mbg__event_tangent_clear(&s->events, p, s->da);
  }
  MBG_TRY(mbg__event_tangent_act(ctx, &s->events, firing, &before, s->fw, s->fv));
  (void)mbg__ali3p_bodies(ctx, a, n);
  for (int p = 0; p < s->np; p++) {
    mbg__event_tangent_lay(&s->events, p, s->da);
    mbg__tree_local_read_push(a->tree, column(s->fw, p, nw), column(s->fv, p, nw), s->da, s->one,
                              column(s->w, p, a->n));
    mbg__event_tangent_clear(&s->events, p, s->da);
  }
  MBG_TRY(accelerate(ctx, s, n));
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

static int visit(mbg_context *ctx, void *user, int i, const void *from_block, const void *block) {
  tangent *s = user;
  const mbg__ali3p_node n = mbg__ali3p_view(s->a, block);
  int err = MBG_OK;
  if (from_block) {
    const mbg__ali3p_node from = mbg__ali3p_view(s->a, from_block);
    const int fired = mbg__march_fired(s->a->march, i);
    MBG_TRY(fired >= 0 ? event(ctx, s, fired, &from, &n) : step_to(ctx, s, i, &from, &n));
  } else {
    MBG_TRY(begin(ctx, s, &n));
  }
  s->a->dt = s->events.t;
  MBG_TRY(signals(ctx, s, &n));
  MBG_TRY(s->nw > 0 ? frames(ctx, s, &n, column(s->dy, s->a->nused, s->np)) : MBG_OK);
  MBG_TRY(s->take(s->user, i, s->dy));
done:
  return err;
}

int mbg__ali3p_tangent(mbg_context *ctx, mbg__ali3p *a, int (*take)(void *user, int node, const real *dy), void *user) {
  const int np = mbg__design_column_count(mbg__system_design(a->sys));
  tangent s = {.a = a, .np = np, .nparam = np, .take = take, .user = user};
  int err = MBG_OK;
  mbg__arena_init(&s.arena, mbg__context_allocator(ctx));
  MBG_TRY(take_arrays(ctx, &s));
  if (np > 1 && mbg__tree_lanes_can(a->tree)) {
    MBG_TRY(mbg__tree_lanes_create(ctx, &s.arena, a->tree, &s.lanes));
  }
  MBG_TRY(mbg__ali3p_seeds_create(ctx, &s.arena, a, a->nused, &s.seeds));
  MBG_TRY(a->events ? mbg__ali3p_guard_create(ctx, &s.arena, a, &s.guard) : MBG_OK);
  MBG_TRY(mbg__march_forward(ctx, a->march, visit, &s));
done:
  a->dt = NULL;
  mbg__arena_destroy(&s.arena);
  return err;
}
