/* The transposed system of a step by factors of a matrix near its own, that of Newton at the guess of the step:

     X <- X + S0^-T (B - S^T X)

   The error falls by |S0^-1 (S - S0)| an iteration, which is as small as the correction of the guess: two residuals as
   a rule instead of factors, each a pull of all columns side by side, or where they cannot go so a product with the
   matrix at the node. The factors of
   a run's steps are kept, as many as the limit of memory leaves room for beside the nodes, from the first step on. What
   is not kept is made again, with the same bits, from the node where the step starts. */
#include "formulations/alpha/alpha_work.h"
#include "system/system_lanes.h"

#include <string.h>

static const double MOST = 64e6; /* bytes, without a limit of memory */

/* places beyond the steps of the grid, for nodes of events */
enum { MORE = 16 };

/* With several columns: entries of the factors, per unknown and column, from which on their residuals cost less than a
   factorization. Bytes of an entry, and its place. */
enum { ENTRIES = 8, ENTRY = 12 };

enum { RESIDUALS = 6 };
static const double LEAST = 1e-15; /* of an increment, relative */

/* ---------------------------------------------------------------------- factors of a run */

void mbg__alpha_kept_clear(mbg__alpha *a) {
  a->arena.allocator.release(a->arena.allocator.user, a->kept.block);
  a->kept = (mbg__alpha_kept){0};
}

void mbg__alpha_kept_begin(mbg__alpha *a) {
  a->kept.pending = true;
  a->kept.wanted = a->kept.count = 0;
}

/* with events: two more nodes for each that there is room for */
static int steps_in(const mbg__alpha *a, double bytes) {
  const double most = floor(fmax(0, bytes) / (double)a->kept.bytes);
  const int steps = mbg__march_planned(a->march), all = a->events && steps > 0 ? steps + steps / 8 + MORE : steps;
  return most < all ? (int)most : all;
}

/* After the first step, which chooses pivots: the room of all steps, so that no other one asks for memory. Which steps
   use Newton's factors depends on the run, not on the limit of memory. */
static void begin(mbg__alpha *a) {
  mbg__alpha_kept *k = &a->kept;
  const mbg_allocator *of = &a->arena.allocator;
  const size_t bytes = (mbg__klu_bytes(a->klu) + 15) / 16 * 16;
  const bool suits = !MBG__TWIN && !a->index2 && !mbg__rank_close(a->rank);
  const bool same = bytes == k->bytes;
  k->pending = false;
  k->bytes = bytes;
  k->wanted = suits && bytes > 0 ? steps_in(a, MOST) : 0;
  const int room = k->wanted > 0 ? steps_in(a, fmin(MOST, mbg__march_left(a->march))) : 0;
  if (room != k->room || !same) {
    of->release(of->user, k->block);
    k->block = room > 0 ? of->resize(of->user, NULL, (size_t)room * bytes) : NULL;
    k->room = k->block ? room : 0;
  }
  a->counts->bytes += (double)k->room * (double)bytes;
}

void mbg__alpha_kept_add(mbg__alpha *a, const mbg__alpha_node *node) {
  mbg__alpha_kept *k = &a->kept;
  if (k->pending && re(*node->h) > 0) {
    begin(a);
  }
  if (k->count < k->room && *node->guessed) {
    (void)mbg__klu_keep(a->klu, k->block + (size_t)k->count * k->bytes);
  }
  k->count++;
}

bool mbg__alpha_kept_serves(const mbg__alpha *a, int i, const mbg__alpha_node *node) {
  return i <= a->kept.wanted && *node->guessed;
}

bool mbg__alpha_kept_recall(mbg__alpha *a, int i) {
  const mbg__alpha_kept *k = &a->kept;
  if (i > k->count || i > k->room) {
    return false;
  }
  mbg__klu_recall(a->klu, k->block + (size_t)(i - 1) * k->bytes);
  return true;
}

/* ---------------------------------------------------------------------- solutions */

static double largest(int n, const real *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fabs(re(x[i])) <= most ? most : fabs(re(x[i])); /* NaN stays */
  }
  return most;
}

static double ratio(int n, const real *d, const real *x) {
  const double size = largest(n, d);
  return size > 0 ? size / largest(n, x) : size;
}

/* largest change of a column, of velocities and rows relative to their own size */
static double change(const mbg__alpha *a, int nc, const real *d, const real *x) {
  double most = 0;
  for (int c = 0; c < nc; c++, d += a->n, x += a->n) {
    const double now = fmax(ratio(a->atL, d, x), ratio(a->n - a->atL, d + a->atL, x + a->atL));
    most = now <= most ? most : now;
  }
  return most;
}

/* d = -(T^T w + gp v + bp vd, lambda) of one column: its sums */
static void take_product(const mbg__alpha_near *s, const mbg__alpha_node *node, const mbg__block_sums *g, const real *x,
                         real *d) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const double h = re(*node->h), scale = a->c.beta * h * h, gp = re(alpha_gp(a, h)), bp = re(alpha_bp(a, h));
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real Tw[6];
    m6_mulv_T(Tw, a->T + 36 * b, g->w + off);
    for (int i = 0; i < 6; i++) {
      if (m->dof[off + i] >= 0) {
        d[m->dof[off + i]] = -Tw[i] - gp * g->v[off + i] - bp * g->vd[off + i];
      }
    }
  }
  for (int i = 0; i < m->nrow; i++) {
    d[m->nv + i] = a->rank->keep[i] ? -g->lambda[i] / scale : -x[m->nv + i];
  }
}

/* d = -S^T x: S^T = [[T^T K^T + gp C^T + bp M^T, T^T B^T], [B, 0]] with its rows scaled, by a pull */
static void multiply(const mbg__alpha_near *s, const mbg__alpha_node *node, int nc) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const double h = re(*node->h);
  mbg__block_weights x[MBG__LANES];
  mbg__block_sums g[MBG__LANES];
  for (int c = 0; c < nc; c++) {
    const int w = c * m->nw, row = c * m->nrow;
    x[c] = (mbg__block_weights){.z = s->mu + w, .mu = s->nu + row};
    g[c] = (mbg__block_sums){.w = s->w + w, .v = s->v + w, .vd = s->vd + w, .lambda = s->lambda + row};
    mbg__scatter(m, a->rank->keep, a->c.beta * h * h, s->x + c * a->n, s->mu + w, s->nu + row);
  }
  vn_zero(nc * m->nw, s->w);
  vn_zero(nc * m->nw, s->v);
  vn_zero(nc * m->nw, s->vd);
  vn_zero(nc * m->nrow, s->lambda);
  mbg__system_pull_block(a->sys, s->block, nc, x, g);
  for (int c = 0; c < nc; c++) {
    mbg__rotors_pull(a, g[c].w, g[c].v, g[c].vd);
    take_product(s, node, &g[c], s->x + c * a->n, s->d + c * a->n);
  }
}

/* d = X - S^T x of nc columns */
static void residual(const mbg__alpha_near *s, const mbg__alpha_node *node, int nc, const real *X) {
  const int n = s->a->n;
  if (s->matrix) {
    vn_copy(nc * n, s->d, X);
    mbg__csc_mul_T_add(s->d, -1, &s->a->saddle.A, s->x, nc);
    return;
  }
  multiply(s, node, nc);
  vn_axpy(nc * n, s->d, 1, X);
}

static void solve(const mbg__alpha_near *s, int nc, real *x) {
  mbg__klu_solve_T(s->a->klu, x, nc);
  s->a->counts->solves += nc;
}

/* now, last: the last two increments. The next one would be less than rounding; or they are rounding themselves, which
   does not fall any more. */
static bool converged(double now, double last) {
  return now * now <= LEAST * last || (last <= 1e-8 && now > 0.05 * last);
}

static bool refine(const mbg__alpha_near *s, const mbg__alpha_node *node, int nc, real *X) {
  const int all = nc * s->a->n;
  double last = 1;
  vn_copy(all, s->x, X);
  solve(s, nc, s->x);
  for (int k = 0; k < RESIDUALS; k++) {
    residual(s, node, nc, X);
    solve(s, nc, s->d);
    const double now = change(s->a, nc, s->d, s->x);
    vn_axpy(all, s->x, 1, s->d);
    if (converged(now, last)) {
      vn_copy(all, X, s->x);
      return true;
    }
    if (!(now < 0.3 * last) || (k > 0 && log(LEAST / now) < (RESIDUALS - k) * log(now / last))) {
      return false; /* not in time */
    }
    last = now;
  }
  return false;
}

int mbg__alpha_near_factors(mbg_context *ctx, mbg__alpha *a, mbg__alpha_near *s, int i, mbg__alpha_node *node,
                            bool *near) {
  const void *before;
  int err = MBG_OK;
  *near = s && mbg__alpha_kept_serves(a, i, node);
  if (!*near) {
    return mbg__alpha_factor_at(ctx, a, node);
  }
  if (!mbg__alpha_kept_recall(a, i)) {
    memcpy(s->here, node->t, mbg__alpha_node_bytes(a));
    *node = mbg__alpha_view(a, s->here);
    MBG_TRY(mbg__march_restore(ctx, a->march, i - 1, &before));
    const mbg__alpha_node from = mbg__alpha_view(a, before), to = mbg__alpha_view(a, s->again);
    MBG_TRY(mbg__alpha_factor_guess(ctx, a, &from, *node->h, &to));
  }
  MBG_TRY(mbg__alpha_linearize_at(ctx, a, node, s->matrix));
done:
  return err;
}

int mbg__alpha_near_solve_T(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_near *s, const mbg__alpha_node *node,
                            real *X, int count) {
  int err = MBG_OK;
  if (s && refine(s, node, count, X)) {
    return MBG_OK;
  }
  MBG_TRY(s ? mbg__alpha_factor(ctx, a, node, s->matrix) : MBG_OK);
  mbg__alpha_solve(a, true, X, count);
done:
  return err;
}

int mbg__alpha_near_create(mbg_context *ctx, mbg__arena *arena, mbg__alpha *a, int nc, struct mbg__lanes_block *block,
                           mbg__alpha_near **out) {
  const int most = nc + (a->events != NULL);
  const size_t all = (size_t)(a->n * most), nw = (size_t)(a->m->nw * most), nrow = (size_t)(a->m->nrow * most);
  const bool together = nc == 1 || mbg__lanes_block_serves(block, most);
  const bool pulls = together && !a->rates && !mbg__system_has_late(a->sys);
  *out = NULL;
  if (a->kept.wanted == 0 || (!pulls && a->kept.bytes < (size_t)(ENTRIES * ENTRY) * (size_t)(a->n * nc))) {
    return MBG_OK;
  }
  mbg__alpha_near *s = *out = MBG_TAKE(arena, mbg__alpha_near, 1);
  if (s) {
    *s = (mbg__alpha_near){.a = a, .block = block, .matrix = !pulls};
    s->x = MBG_TAKE(arena, real, all);
    s->d = MBG_TAKE(arena, real, all);
    s->mu = MBG_TAKE(arena, real, nw);
    s->nu = MBG_TAKE(arena, real, nrow);
    s->w = MBG_TAKE(arena, real, nw);
    s->v = MBG_TAKE(arena, real, nw);
    s->vd = MBG_TAKE(arena, real, nw);
    s->lambda = MBG_TAKE(arena, real, nrow);
    s->here = mbg__arena_take(arena, 1, mbg__alpha_node_bytes(a));
    s->again = mbg__arena_take(arena, 1, mbg__alpha_node_bytes(a));
  }
  return mbg__arena_check(ctx, arena);
}
