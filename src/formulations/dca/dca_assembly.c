#include "formulations/dca/dca_assembly_internal.h"

#include "math/vec.h"

#include <string.h>

enum { PARALLEL = 8 }; /* nodes of a level below which threads do not pay */

/* ---------------------------------------------------------------------- small dense factors */

/* A (n x n, lower triangle) <- L with A = L L^T, its diagonal inverted; -1, or the first row that depends on those
   before it */
static int cholesky(int n, real *A) {
  for (int j = 0; j < n; j++) {
    real *Lj = A + j * n;
    const real diagonal = Lj[j];
    real d = diagonal;
    for (int k = 0; k < j; k++) {
      d -= Lj[k] * Lj[k];
    }
    if (!(re(d) > 1e-14 * re(diagonal))) {
      return j;
    }
    const real inverse = 1 / r_sqrt(d);
    Lj[j] = inverse;
    for (int i = j + 1; i < n; i++) {
      real *Li = A + i * n, x = Li[j];
      for (int k = 0; k < j; k++) {
        x -= Li[k] * Lj[k];
      }
      Li[j] = x * inverse;
    }
  }
  return -1;
}

/* Is a pivot of the factor L so much smaller than the entry of A (rows of length m) which it came from that the
   solution loses half of its digits? */
static bool nearly_dependent(int n, const real *A, int m, const real *L) {
  bool found = false;
  for (int i = 0; i < n; i++) {
    found = found || re(A[i * m + i]) * re(L[i * n + i]) * re(L[i * n + i]) > 1e8;
  }
  return found;
}

/* X (n x m) <- L^-1 X, then L^-T X */
static void forward(int n, const real *L, int m, real *X) {
  for (int i = 0; i < n; i++) {
    real *x = X + i * m;
    for (int k = 0; k < i; k++) {
      vn_axpy(m, x, -L[i * n + k], X + k * m);
    }
    vn_scale(m, x, L[i * n + i], x);
  }
}

static void backward(int n, const real *L, int m, real *X) {
  for (int i = n - 1; i >= 0; i--) {
    real *x = X + i * m;
    for (int k = i + 1; k < n; k++) {
      vn_axpy(m, x, -L[k * n + i], X + k * m);
    }
    vn_scale(m, x, L[i * n + i], x);
  }
}

static void solve_small(int n, const real *L, int m, real *X) {
  forward(n, L, m, X);
  backward(n, L, m, X);
}

/* ---------------------------------------------------------------------- factors of leaves */

/* The same for the mass matrix of a leaf. That of beams has a profile, which the factor keeps: its cost is linear in
   the number of elements. */
static int leaf_cholesky(const mbg__dca_node *n, real *A) {
  const int nf = n->nf, *from = n->from;
  if (!from) {
    return cholesky(nf, A);
  }
  for (int i = 0; i < nf; i++) {
    real *Li = A + i * nf;
    const real diagonal = Li[i];
    real d = diagonal;
    for (int j = from[i]; j < i; j++) {
      const real *Lj = A + j * nf;
      real x = Li[j];
      for (int k = from[i] > from[j] ? from[i] : from[j]; k < j; k++) {
        x -= Li[k] * Lj[k];
      }
      Li[j] = x * Lj[j];
      d -= Li[j] * Li[j];
    }
    if (!(re(d) > 1e-14 * re(diagonal))) {
      return i;
    }
    Li[i] = 1 / r_sqrt(d);
  }
  return -1;
}

static void leaf_forward(const mbg__dca_node *n, int m, real *X) {
  if (!n->from) {
    forward(n->nf, n->LM, m, X);
    return;
  }
  for (int i = 0; i < n->nf; i++) {
    real *x = X + i * m;
    for (int k = n->from[i]; k < i; k++) {
      vn_axpy(m, x, -n->LM[i * n->nf + k], X + k * m);
    }
    vn_scale(m, x, n->LM[i * n->nf + i], x);
  }
}

static void leaf_backward(const mbg__dca_node *n, int m, real *X) {
  if (!n->from) {
    backward(n->nf, n->LM, m, X);
    return;
  }
  for (int i = n->nf - 1; i >= 0; i--) {
    real *x = X + i * m;
    vn_scale(m, x, n->LM[i * n->nf + i], x);
    for (int k = n->from[i]; k < i; k++) {
      vn_axpy(m, X + k * m, -n->LM[i * n->nf + k], x);
    }
  }
}

/* ---------------------------------------------------------------------- creation */

/* masses differ by more than theory 3, section 12, allows without refinement */
static bool masses_differ(const mbg__system *sys) {
  const mbg_model *m = mbg__system_model(sys);
  const mbg__design *d = mbg__system_design(sys);
  double most = 0, least = INFINITY;
  for (int i = 0; i < m->nbody; i++) {
    const double mass = re(d->M[36 * i]);
    most = fmax(most, mass);
    least = mass > 0 ? fmin(least, mass) : least;
  }
  return most > 1e3 * least;
}

int mbg__dca_assembly_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, const mbg__rank *rank,
                             mbg__pool *pool, mbg__dca_assembly **out) {
  mbg__dca_assembly *a = MBG_TAKE(arena, mbg__dca_assembly, 1);
  *out = a;
  if (!a) {
    return mbg__fail_memory(ctx);
  }
  *a = (mbg__dca_assembly){.m = mbg__system_model(sys),
                           .sys = sys,
                           .rank = rank,
                           .pool = pool,
                           .patM = mbg__system_pattern_K(sys),
                           .patB = mbg__system_pattern_B(sys)};
  const int err = mbg__dca_assembly_rows(ctx, arena, a);
  return err < 0 ? err : mbg__dca_assembly_tree_build(ctx, arena, a);
}

/* ---------------------------------------------------------------------- factors */

typedef mbg__dca_failure failure;

static real entry(const real *val, int slot) { return slot >= 0 ? val[slot] : 0; }

/* M += Z^T Phi^-1 Z of an absorbed piece */
static failure add_absorbed(const mbg__dca_assembly *a, mbg__dca_node *n, int i, real *M) {
  const mbg__dca_node *c = &a->nodes[n->absorbed[i]];
  const int nc = c->nopen, nf = n->nf;
  real *L = n->LR[i], *P = n->P[i];
  memcpy(L, c->Phi, (size_t)(nc * nc) * sizeof(real));
  const int bad = cholesky(nc, L);
  if (bad >= 0) {
    return (failure){false, c->rows[c->nelim + bad]};
  }
  n->close = n->close || nearly_dependent(nc, c->Phi, nc, L);
  for (int k = 0; k < nc * nf; k++) {
    P[k] = entry(a->B, n->Z[i][k]);
  }
  forward(nc, L, nf, P);
  for (int k = 0; k < nc; k++) {
    for (int j = 0; j < nf; j++) {
      if (!n->from || P[k * nf + j] != 0) {
        vn_axpy(nf, M + j * nf, P[k * nf + j], P + k * nf);
      }
    }
  }
  backward(nc, L, nf, P);
  return (failure){false, -1};
}

/* A direction without inertia that joints hold gets a little inertia, whose effect refinement removes. False: the body
   has no inertia at all. */
static bool regularize(const mbg__dca_assembly *a, mbg__dca_node *n) {
  const double size = a->m->size > 0 ? a->m->size : 1;
  double mass = 0;
  for (int k = 0; k < n->nf; k++) {
    mass = fmax(mass, re(entry(a->M, n->M[k * n->nf + k])));
  }
  for (int k = 0; k < n->nf * n->nf; k++) {
    n->LM[k] = entry(a->M, n->M[k]);
  }
  for (int k = 0; k < n->nf; k++) {
    const bool turn = a->m->bodies[n->body].modal < 0 && (a->m->full[n->dof[k]] - a->m->bodies[n->body].voff) % 6 >= 3;
    n->LM[k * n->nf + k] += 1e-6 * mass * (turn ? size * size : 1);
  }
  for (int i = 0; i < n->nabsorbed; i++) {
    if (add_absorbed(a, n, i, n->LM).index >= 0) {
      return false;
    }
  }
  n->regularized = true;
  return mass > 0 && leaf_cholesky(n, n->LM) < 0;
}

/* Phi = Z M^-1 Z^T of a body */
static failure leaf_front(const mbg__dca_assembly *a, mbg__dca_node *n) {
  const int nf = n->nf, front = n->nelim + n->nopen;
  n->regularized = n->close = false;
  for (int k = 0; k < nf * nf; k++) {
    n->LM[k] = entry(a->M, n->M[k]);
  }
  for (int i = 0; i < n->nabsorbed; i++) {
    const failure f = add_absorbed(a, n, i, n->LM);
    if (f.index >= 0) {
      return f;
    }
  }
  if (leaf_cholesky(n, n->LM) >= 0 && !regularize(a, n)) {
    return (failure){true, n->body};
  }
  /* y = L^-1 z for each row, Phi = y y^T, then M^-1 z */
  for (int i = 0; i < front; i++) {
    real *y = n->Y + i * nf;
    for (int k = 0; k < nf; k++) {
      y[k] = entry(a->B, n->B[i * nf + k]);
    }
    leaf_forward(n, 1, y);
    for (int j = 0; j <= i; j++) {
      n->F[i * front + j] = n->F[j * front + i] = vn_dot(nf, y, n->Y + j * nf);
    }
  }
  for (int i = 0; i < front; i++) {
    leaf_backward(n, 1, n->Y + i * nf);
  }
  return (failure){false, -1};
}

/* the sum of Phi of both children */
static void join_front(const mbg__dca_assembly *a, mbg__dca_node *n) {
  const int front = n->nelim + n->nopen;
  n->close = false;
  memset(n->F, 0, (size_t)(front * front) * sizeof(real));
  for (int side = 0; side < 2; side++) {
    const mbg__dca_node *c = &a->nodes[n->child[side]];
    const int *at = n->place[side];
    for (int i = 0; i < c->nopen; i++) {
      for (int j = 0; j < c->nopen; j++) {
        n->F[at[i] * front + at[j]] += c->Phi[i * c->nopen + j];
      }
    }
  }
}

/* L L^T of the rows that close, Phi <- Phi - Q^T (L L^T)^-1 Q, symmetric as it is computed */
static failure eliminate(mbg__dca_node *n) {
  const int ne = n->nelim, no = n->nopen, front = ne + no;
  for (int i = 0; i < ne; i++) {
    vn_copy(ne, n->L + i * ne, n->F + i * front);
    vn_copy(no, n->Q + i * no, n->F + i * front + ne);
    vn_copy(no, n->SQ + i * no, n->F + i * front + ne);
  }
  const int bad = cholesky(ne, n->L);
  if (bad >= 0) {
    return (failure){false, n->rows[bad]};
  }
  n->close = n->close || nearly_dependent(ne, n->F, front, n->L);
  forward(ne, n->L, no, n->SQ);
  for (int i = 0; i < no; i++) {
    real *Phi = n->Phi + i * no;
    vn_copy(i + 1, Phi, n->F + (ne + i) * front + ne);
    for (int k = 0; k < ne; k++) {
      vn_axpy(i + 1, Phi, -n->SQ[k * no + i], n->SQ + k * no);
    }
    for (int j = 0; j < i; j++) {
      n->Phi[j * no + i] = Phi[j];
    }
  }
  backward(ne, n->L, no, n->SQ);
  return (failure){false, -1};
}

static failure factor_node(const mbg__dca_assembly *a, mbg__dca_node *n) {
  failure f = {false, -1};
  if (n->body >= 0) {
    f = leaf_front(a, n);
  } else {
    join_front(a, n);
  }
  return f.index >= 0 ? f : eliminate(n);
}

static int report(mbg_context *ctx, const mbg__dca_assembly *a, failure f, double t) {
  char label[160];
  if (f.body) {
    return mbg__fail(ctx, MBG_ERROR_SINGULAR,
                     "t = %g: body '%s' has no inertia in a direction in which it can move; give it mass and inertia",
                     mbg__time_shown(t), a->m->bodies[f.index].name);
  }
  mbg__row_label(a->m, f.index, label, sizeof(label));
  return mbg__fail(
      ctx, MBG_ERROR_SINGULAR,
      "t = %g: singular configuration: %s depends on the other constraints; the mechanism locks, or passes a "
      "singular position",
      mbg__time_shown(t), label);
}

/* nodes of a level, in threads where there are enough of them */
enum { FACTOR, UP, DOWN };

typedef struct {
  const mbg__dca_assembly *a;
  int first; /* node of the level in `order` */
  mbg__dca_panel *panel;
  int m;
  real *x;
} level_work;

static void share_level(const mbg__dca_assembly *a, mbg__pool *pool, int what, int l, mbg__pool_work *work,
                        level_work *user) {
  const int n = a->level[l + 1] - a->level[l], pieces = 4 * mbg__pool_threads(pool);
  const int loop = MBG__LOOP_LEVELS * what + (l < MBG__LOOP_LEVELS ? l : MBG__LOOP_LEVELS - 1);
  mbg__pool_for(n >= PARALLEL ? pool : NULL, loop, n, n / pieces + 1, work, user);
}

static void factor_nodes(void *user, int thread, int first, int end) {
  const level_work *w = user;
  (void)thread;
  for (int i = w->first + first; i < w->first + end; i++) {
    w->a->failed[i] = factor_node(w->a, &w->a->nodes[w->a->order[i]]);
  }
}

int mbg__dca_assembly_factor(mbg_context *ctx, mbg__dca_assembly *a, const real *M, const real *B, double t) {
  a->M = M;
  a->B = B;
  a->always_refine = masses_differ(a->sys);
  a->largest_row = mbg__dca_largest_row(a);
  a->regularized = a->close = false;
  for (int l = 0; l <= a->depth; l++) {
    share_level(a, a->pool, FACTOR, l, factor_nodes, &(level_work){.a = a, .first = a->level[l]});
    for (int i = a->level[l]; i < a->level[l + 1]; i++) {
      if (a->failed[i].index >= 0) {
        return report(ctx, a, a->failed[i], t);
      }
      a->regularized = a->regularized || a->nodes[a->order[i]].regularized;
      a->close = a->close || a->nodes[a->order[i]].close;
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- right sides */

int mbg__dca_panel_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_assembly *a, int columns, mbg__pool *pool,
                          mbg__dca_panel **out) {
  const size_t n = (size_t)(a->m->nv + a->m->nrow), c = (size_t)columns;
  mbg__dca_panel *p = MBG_TAKE(arena, mbg__dca_panel, 1);
  *out = p;
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  p->columns = columns;
  p->pool = pool;
  p->front_size = (size_t)(a->most_front + a->most_free) * c;
  p->front = MBG_TAKE(arena, real, p->front_size * (size_t)mbg__pool_threads(pool));
  p->b = MBG_TAKE(arena, real, (size_t)a->nb * c);
  p->x0 = MBG_TAKE(arena, real, n * c);
  p->dx = MBG_TAKE(arena, real, n * c);
  p->size = MBG_TAKE(arena, double, n *c);
  p->nmost = 5 * c + 16;
  p->most = MBG_TAKE(arena, double, p->nmost *(size_t)mbg__pool_threads(pool));
  return mbg__arena_check(ctx, arena);
}

void mbg__dca_pack(const mbg_model *model, int q, int m, real c, const real *y, const real *z, real *x) {
  for (int j = 0; j < model->nv; j++) {
    x[(size_t)j * (size_t)m + (size_t)q] = y ? c * y[model->full[j]] : 0;
  }
  for (int i = 0; i < model->nrow; i++) {
    x[(size_t)(model->nv + i) * (size_t)m + (size_t)q] = z ? c * z[i] : 0;
  }
}

void mbg__dca_unpack(const mbg_model *model, int q, int m, const real *x, real *y, real *z) {
  vn_zero(model->nw, y);
  for (int j = 0; j < model->nv; j++) {
    y[model->full[j]] = x[(size_t)j * (size_t)m + (size_t)q];
  }
  for (int i = 0; z && i < model->nrow; i++) {
    z[i] = x[(size_t)(model->nv + i) * (size_t)m + (size_t)q];
  }
}

static real *row_of(const mbg__dca_assembly *a, int row, int m, real *x) {
  return x + (size_t)(a->m->nv + row) * (size_t)m;
}

static real *velocity(const mbg__dca_node *n, int j, int m, real *x) { return x + (size_t)n->dof[j] * (size_t)m; }

/* v (nf x m) of a leaf, from x and back */
static void gather(const mbg__dca_node *n, int m, real *x, real *v) {
  for (int j = 0; j < n->nf; j++) {
    vn_copy(m, v + j * m, velocity(n, j, m, x));
  }
}

static void scatter(const mbg__dca_node *n, int m, const real *v, real *x) {
  for (int j = 0; j < n->nf; j++) {
    vn_copy(m, velocity(n, j, m, x), v + j * m);
  }
}

/* t = b - kappa, r -= Z^T Phi^-1 t; Phi^-1 t is kept in the places of the multipliers */
static void absorbed_up(const mbg__dca_assembly *a, const mbg__dca_panel *p, const mbg__dca_node *n, int i, int m,
                        real *x, real *t) {
  const mbg__dca_node *c = &a->nodes[n->absorbed[i]];
  const real *b = p->b + (size_t)c->b * (size_t)m;
  for (int k = 0; k < c->nopen; k++) {
    const real *kappa = row_of(a, c->rows[c->nelim + k], m, x);
    for (int q = 0; q < m; q++) {
      t[k * m + q] = b[k * m + q] - kappa[q];
    }
    for (int j = 0; j < n->nf; j++) {
      vn_axpy(m, velocity(n, j, m, x), -n->P[i][k * n->nf + j], t + k * m);
    }
  }
  solve_small(c->nopen, n->LR[i], m, t);
  for (int k = 0; k < c->nopen; k++) {
    vn_copy(m, row_of(a, c->rows[c->nelim + k], m, x), t + k * m);
  }
}

/* b of the front: from the body, or the sum of the children's */
static void node_b(const mbg__dca_assembly *a, const mbg__dca_panel *p, const mbg__dca_node *n, int m, real *x,
                   real *front) {
  if (n->body >= 0) {
    real *v = front + (size_t)a->most_front * (size_t)m;
    for (int i = 0; i < n->nabsorbed; i++) {
      absorbed_up(a, p, n, i, m, x, front);
    }
    gather(n, m, x, v);
    memset(front, 0, (size_t)((n->nelim + n->nopen) * m) * sizeof(real));
    for (int i = 0; i < n->nelim + n->nopen; i++) {
      for (int k = 0; k < n->nf; k++) {
        vn_axpy(m, front + i * m, n->Y[i * n->nf + k], v + k * m);
      }
    }
    leaf_forward(n, m, v);
    leaf_backward(n, m, v);
    scatter(n, m, v, x);
    return;
  }
  memset(front, 0, (size_t)((n->nelim + n->nopen) * m) * sizeof(real));
  for (int side = 0; side < 2; side++) {
    const mbg__dca_node *c = &a->nodes[n->child[side]];
    const real *b = p->b + (size_t)c->b * (size_t)m;
    for (int i = 0; i < c->nopen; i++) {
      vn_axpy(m, front + n->place[side][i] * m, 1, b + i * m);
    }
  }
}

/* lambda0 = (L L^T)^-1 (b - kappa) of the rows that close, b <- b - Q^T lambda0 */
static void node_up(const mbg__dca_assembly *a, const mbg__dca_panel *p, const mbg__dca_node *n, int m, real *x,
                    real *front) {
  const int ne = n->nelim, no = n->nopen;
  node_b(a, p, n, m, x, front);
  for (int i = 0; i < ne; i++) {
    vn_axpy(m, front + i * m, -1, row_of(a, n->rows[i], m, x));
  }
  solve_small(ne, n->L, m, front);
  for (int i = 0; i < ne; i++) {
    vn_copy(m, row_of(a, n->rows[i], m, x), front + i * m);
    for (int j = 0; j < no; j++) {
      vn_axpy(m, front + (ne + j) * m, -n->Q[i * no + j], front + i * m);
    }
  }
  memcpy(p->b + (size_t)n->b * (size_t)m, front + ne * m, (size_t)(no * m) * sizeof(real));
}

/* lambda = lambda0 - SQ lambda_open; a body: vd = M^-1 (r - Z^T lambda), then the multipliers of absorbed pieces */
static void node_down(const mbg__dca_assembly *a, const mbg__dca_node *n, int m, real *x) {
  const int ne = n->nelim, no = n->nopen;
  for (int i = 0; i < ne; i++) {
    for (int j = 0; j < no; j++) {
      vn_axpy(m, row_of(a, n->rows[i], m, x), -n->SQ[i * no + j], row_of(a, n->rows[ne + j], m, x));
    }
  }
  if (n->body < 0) {
    return;
  }
  for (int i = 0; i < ne + no; i++) {
    for (int k = 0; k < n->nf; k++) {
      vn_axpy(m, velocity(n, k, m, x), -n->Y[i * n->nf + k], row_of(a, n->rows[i], m, x));
    }
  }
  for (int i = 0; i < n->nabsorbed; i++) {
    const mbg__dca_node *c = &a->nodes[n->absorbed[i]];
    for (int k = 0; k < c->nopen; k++) {
      for (int j = 0; j < n->nf; j++) {
        vn_axpy(m, row_of(a, c->rows[c->nelim + k], m, x), n->P[i][k * n->nf + j], velocity(n, j, m, x));
      }
    }
  }
}

static void clear_dropped(const mbg__dca_assembly *a, int m, real *x) {
  for (int r = 0; r < a->m->nrow; r++) {
    if (a->owner[r] < 0) {
      vn_zero(m, row_of(a, r, m, x));
    }
  }
}

static void nodes_up(void *user, int thread, int first, int end) {
  const level_work *w = user;
  real *front = w->panel->front + (size_t)thread * w->panel->front_size;
  for (int i = w->first + first; i < w->first + end; i++) {
    node_up(w->a, w->panel, &w->a->nodes[w->a->order[i]], w->m, w->x, front);
  }
}

static void nodes_down(void *user, int thread, int first, int end) {
  const level_work *w = user;
  (void)thread;
  for (int i = w->first + first; i < w->first + end; i++) {
    node_down(w->a, &w->a->nodes[w->a->order[i]], w->m, w->x);
  }
}

void mbg__dca_sweep(const mbg__dca_assembly *a, mbg__dca_panel *p, int m, real *x) {
  clear_dropped(a, m, x);
  for (int l = 0; l <= a->depth; l++) {
    share_level(a, p->pool, UP, l, nodes_up, &(level_work){a, a->level[l], p, m, x});
  }
  for (int l = a->depth; l >= 0; l--) {
    share_level(a, p->pool, DOWN, l, nodes_down, &(level_work){a, a->level[l], p, m, x});
  }
}
