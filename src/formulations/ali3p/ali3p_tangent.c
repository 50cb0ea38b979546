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
  int np;
  real *e, *w, *v, *ws, *as; /* e', w', a', ws', as'               (6 nbody x np), (n x np) */
  real *X;                   /* right sides and solutions          ((n + rows) x np) */
  real *dE1, *dphi;          /*                                    (n), (rows) */
  mbg__design_columns columns;
  real *da;                   /*                                    (na) */
  real *eye;                  /* unit seeds                         (nused x nused) */
  real *ge, *gw, *ga, *gattr; /* gradients of the used signals      (nused x ...) */
  int nw;                     /* frames that are handed over: nw, or 0 */
  real *frame;                /*                                    (nw) */
  real *dy;                   /*                                    (nused + nw x np) */
  mbg__ali3p_seeds *seeds;
  int (*take)(void *user, int node, const real *dy);
  void *user;
} tangent;

/* ---------------------------------------------------------------------- creation */

static int take_arrays(mbg_context *ctx, tangent *s) {
  const mbg__ali3p *a = s->a;
  const size_t np = (size_t)s->np, n = (size_t)a->n, used = (size_t)a->nused, nb = 6 * (size_t)a->m->nbody;
  s->e = MBG_TAKE(&s->arena, real, nb * np);
  s->w = MBG_TAKE(&s->arena, real, n * np);
  s->v = MBG_TAKE(&s->arena, real, n * np);
  s->ws = MBG_TAKE(&s->arena, real, n * np);
  s->as = MBG_TAKE(&s->arena, real, n * np);
  s->X = MBG_TAKE(&s->arena, real, (n + (size_t)a->nrow) * np);
  s->dE1 = MBG_TAKE(&s->arena, real, n);
  s->dphi = MBG_TAKE(&s->arena, real, a->nrow);
  s->da = MBG_TAKE(&s->arena, real, a->m->na);
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
  const int err = mbg__arena_check(ctx, &s->arena);
  return err < 0 ? err : mbg__design_columns_make(ctx, &s->arena, mbg__system_design(a->sys), &s->columns);
}

static real *column(real *x, int p, int n) { return x + (size_t)p * (size_t)n; }

/* ---------------------------------------------------------------------- right sides and solutions */

/* X of parameter p = -(c dE1, dphi) in a direction; level of the rows: 0 positions, 1 rates, 2 accelerations */
static void right_side(tangent *s, int p, mbg__tree_direction *d, double c, int level) {
  mbg__ali3p *a = s->a;
  real *x = column(s->X, p, a->n + a->nrow), *rows[3] = {NULL, NULL, NULL};
  rows[level] = s->dphi;
  mbg__design_column_lay(&s->columns, p, s->da);
  d->attributes = s->da;
  mbg__tree_push(a->tree, d, s->dE1, rows[0], rows[1], rows[2]);
  mbg__design_column_clear(&s->columns, p, s->da);
  vn_scale(a->n, x, -c, s->dE1);
  vn_scale(a->nrow, x + a->n, -1, s->dphi);
}

static void solve(tangent *s, mbg__tree_matrix *matrix) {
  mbg__klu_solve(matrix->klu, s->X, s->np);
  s->a->counts->solves += s->np;
}

static void take_solution(tangent *s, real *out) {
  for (int p = 0; p < s->np; p++) {
    vn_copy(s->a->n, column(out, p, s->a->n), column(s->X, p, s->a->n + s->a->nrow));
  }
}

/* ---------------------------------------------------------------------- first node */

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
    mbg__design_column_lay(&s->columns, p, s->da);
    err = mbg__start_push_column(ctx, a->start, p, s->da, column(frames, p, a->m->nw), column(twists, p, a->m->nw));
    mbg__design_column_clear(&s->columns, p, s->da);
    MBG_TRY(err);
  }
  MBG_TRY(mbg__ali3p_at_start(ctx, a, n));
  MBG_TRY(mbg__ali3p_factor_mass(ctx, a, n, true));
  for (int p = 0; p < s->np; p++) {
    real *e = column(s->e, p, nb), *w = column(s->w, p, a->n);
    mbg__design_column_lay(&s->columns, p, s->da);
    mbg__tree_local_read_push(a->tree, column(frames, p, a->m->nw), column(twists, p, a->m->nw), s->da, e, w);
    right_side(s, p, &(mbg__tree_direction){.e = e, .dw = w}, 1, 2);
  }
  solve(s, &a->mass);
  take_solution(s, s->v);
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

static int position_step(mbg_context *ctx, tangent *s, const mbg__ali3p_node *to) {
  mbg__ali3p *a = s->a;
  const double h = *to->h;
  int err = MBG_OK;
  MBG_TRY(mbg__ali3p_at_step(ctx, a, to));
  MBG_TRY(mbg__ali3p_factor_step(ctx, a, to, false));
  carry(s, to);
  for (int p = 0; p < s->np; p++) {
    real *ws = column(s->ws, p, a->n), *as = column(s->as, p, a->n);
    vn_scale(a->n, ws, -1, column(s->w, p, a->n));
    vn_scale(a->n, as, -1, column(s->v, p, a->n));
    vn_axpy(a->n, as, 4 / h, ws);
    right_side(s, p, &(mbg__tree_direction){.e = column(s->e, p, 6 * a->m->nbody), .dw = ws, .da = as}, h * h / 4, 0);
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

static int projections(mbg_context *ctx, tangent *s, const mbg__ali3p_node *to) {
  mbg__ali3p *a = s->a;
  const int nb = 6 * a->m->nbody;
  const size_t bytes = (size_t)a->n * (size_t)s->np * sizeof(real);
  int err = MBG_OK;
  if (a->nrow == 0) {
    memcpy(s->w, s->ws, bytes);
    memcpy(s->v, s->as, bytes);
    return MBG_OK;
  }
  MBG_TRY(mbg__ali3p_at_rates(ctx, a, to));
  MBG_TRY(mbg__ali3p_factor_mass(ctx, a, to, false));
  for (int p = 0; p < s->np; p++) {
    vn_scale(a->n, a->q, -1, column(s->ws, p, a->n));
    right_side(s, p, &(mbg__tree_direction){.e = column(s->e, p, nb), .dq = a->q}, 1, 1);
  }
  solve(s, &a->mass);
  take_solution(s, s->w);
  mbg__ali3p_then_accelerations(a, to);
  for (int p = 0; p < s->np; p++) {
    vn_scale(a->n, a->q, -1, column(s->as, p, a->n));
    right_side(s, p, &(mbg__tree_direction){.e = column(s->e, p, nb), .dw = column(s->w, p, a->n), .dq = a->q}, 1, 2);
  }
  solve(s, &a->mass);
  take_solution(s, s->v);
done:
  return err;
}

/* accelerations of states at the projected rates: E1_S' = 0 */
static int state_rates(mbg_context *ctx, tangent *s, const mbg__ali3p_node *to) {
  mbg__ali3p *a = s->a;
  const int nb = 6 * a->m->nbody, err = mbg__ali3p_has_states(a) ? mbg__ali3p_at_start(ctx, a, to) : MBG_OK;
  for (int p = 0; err == MBG_OK && mbg__ali3p_has_states(a) && p < s->np; p++) {
    const mbg__tree_direction d = {
        .e = column(s->e, p, nb), .dw = column(s->w, p, a->n), .da = column(s->v, p, a->n), .attributes = s->da};
    mbg__design_column_lay(&s->columns, p, s->da);
    mbg__tree_push(a->tree, &d, s->dE1, NULL, NULL, NULL);
    mbg__design_column_clear(&s->columns, p, s->da);
    mbg__ali3p_states_take(a, -1, s->dE1, column(s->v, p, a->n));
  }
  return err;
}

/* ---------------------------------------------------------------------- signals */

static int signals(mbg_context *ctx, tangent *s, const mbg__ali3p_node *n) {
  mbg__ali3p *a = s->a;
  const mbg__design *design = mbg__system_design(a->sys);
  const int nb = 6 * a->m->nbody;
  const size_t used = (size_t)a->nused;
  memset(s->ge, 0, used * (size_t)nb * sizeof(real));
  memset(s->gw, 0, used * (size_t)a->n * sizeof(real));
  memset(s->ga, 0, used * (size_t)a->n * sizeof(real));
  memset(s->gattr, 0, used * (size_t)a->m->na * sizeof(real));
  memset(s->dy, 0, used * (size_t)s->np * sizeof(real));
  const int err = mbg__ali3p_seeds_at(ctx, s->seeds, n, false, s->eye, s->ge, s->gw, s->ga, s->gattr);
  for (int k = 0; k < a->nused; k++) {
    real *dy = column(s->dy, k, s->np);
    for (int p = 0; p < s->np; p++) {
      dy[p] = vn_dot(nb, column(s->ge, k, nb), column(s->e, p, nb)) +
              vn_dot(a->n, column(s->gw, k, a->n), column(s->w, p, a->n)) +
              vn_dot(a->n, column(s->ga, k, a->n), column(s->v, p, a->n));
    }
    mbg__design_columns_pull(design, column(s->gattr, k, a->m->na), dy);
  }
  return err;
}

/* w of the bodies, by rows */
static int frames(mbg_context *ctx, tangent *s, const mbg__ali3p_node *n, real *dy) {
  mbg__ali3p *a = s->a;
  const mbg__tree_state at = {.t = *n->t, .E = n->E, .w = n->w, .a = n->a, .q = a->zero, .turns = n->turns};
  const int err = mbg__tree_update(ctx, a->tree, &at);
  for (int p = 0; err == MBG_OK && p < s->np; p++) {
    mbg__design_column_lay(&s->columns, p, s->da);
    mbg__tree_kin_push(a->tree, &(mbg__tree_direction){.e = column(s->e, p, 6 * a->m->nbody), .attributes = s->da},
                       s->frame, NULL, NULL);
    mbg__design_column_clear(&s->columns, p, s->da);
    for (int i = 0; i < s->nw; i++) {
      dy[(size_t)i * (size_t)s->np + (size_t)p] = s->frame[i];
    }
  }
  return err;
}

/* ---------------------------------------------------------------------- all */

static int visit(mbg_context *ctx, void *user, int i, const void *from, const void *block) {
  tangent *s = user;
  const mbg__ali3p_node n = mbg__ali3p_view(s->a, block);
  int err = MBG_OK;
  if (from) {
    MBG_TRY(position_step(ctx, s, &n));
    MBG_TRY(projections(ctx, s, &n));
    MBG_TRY(state_rates(ctx, s, &n));
  } else {
    MBG_TRY(begin(ctx, s, &n));
  }
  MBG_TRY(signals(ctx, s, &n));
  MBG_TRY(s->nw > 0 ? frames(ctx, s, &n, column(s->dy, s->a->nused, s->np)) : MBG_OK);
  MBG_TRY(s->take(s->user, i, s->dy));
done:
  return err;
}

int mbg__ali3p_tangent(mbg_context *ctx, mbg__ali3p *a, int (*take)(void *user, int node, const real *dy), void *user) {
  tangent s = {.a = a, .np = mbg__design_column_count(mbg__system_design(a->sys)), .take = take, .user = user};
  int err = MBG_OK;
  mbg__arena_init(&s.arena, mbg__context_allocator(ctx));
  MBG_TRY(take_arrays(ctx, &s));
  MBG_TRY(mbg__ali3p_seeds_create(ctx, &s.arena, a, a->nused, &s.seeds));
  MBG_TRY(mbg__march_forward(ctx, a->march, visit, &s));
done:
  mbg__arena_destroy(&s.arena);
  return err;
}
