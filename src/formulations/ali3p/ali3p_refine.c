/* The transposed system of a step by factors of a matrix near its own, the last one of Newton:

     X <- X + S0^-T (B - S^T X),   S = [[s E1_D, Phi_z^T], [Phi_z T, 0]],  s = h^2/4,  E1_D = K T + 2/h C + 4/h^2 M

   The error falls by |S0^-1 (S - S0)| an iteration, which is as small as the correction of the prediction: two
   residuals as a rule, each a pull, instead of a matrix and its factors. */
#include "formulations/ali3p/ali3p_work.h"

enum { MOST = 3 }; /* residuals */

struct mbg__ali3p_refine {
  mbg__ali3p *a;
  mbg__tree_lanes *lanes;
  real *x, *r, *d;   /* solutions, residuals, increments                   (n + rows, MBG__LANES columns each) */
  real *mu;          /* s times an increment, then T^T e                   (n, ...) */
  real *e, *w, *v;   /* S^T d by frames, rates, accelerations              (6 nbody), (n), (n) */
  real *multipliers; /* ... by multipliers                                 (rows) */
};

int mbg__ali3p_refine_create(mbg_context *ctx, mbg__arena *arena, mbg__ali3p *a, mbg__tree_lanes *lanes,
                             mbg__ali3p_refine **out) {
  const size_t nc = lanes ? MBG__LANES : 1, n = (size_t)a->n, rows = (size_t)a->nrow;
  mbg__ali3p_refine *f = *out = MBG_TAKE(arena, mbg__ali3p_refine, 1);
  if (f) {
    f->a = a;
    f->lanes = lanes;
    f->x = MBG_TAKE(arena, real, nc * (n + rows));
    f->r = MBG_TAKE(arena, real, nc * (n + rows));
    f->d = MBG_TAKE(arena, real, nc * (n + rows));
    f->mu = MBG_TAKE(arena, real, nc * n);
    f->e = MBG_TAKE(arena, real, nc * 6 * (size_t)a->m->nbody);
    f->w = MBG_TAKE(arena, real, nc * n);
    f->v = MBG_TAKE(arena, real, nc * n);
    f->multipliers = MBG_TAKE(arena, real, nc * rows);
  }
  return mbg__arena_check(ctx, arena);
}

/* r -= S^T d of nc columns */
static void subtract(mbg__ali3p_refine *f, const mbg__ali3p_node *node, int nc) {
  mbg__ali3p *a = f->a;
  const real h = *node->h, s = h * h / 4;
  const int n = a->n, size = a->n + a->nrow, frames = 6 * a->m->nbody;
  mbg__tree_weights k[MBG__LANES];
  mbg__tree_gradient g[MBG__LANES];
  for (int c = 0; c < nc; c++) {
    k[c] = (mbg__tree_weights){.mu = f->mu + c * n, .k0 = f->d + c * size + n};
    g[c] = (mbg__tree_gradient){
        .e = f->e + c * frames, .w = f->w + c * n, .a = f->v + c * n, .lambda = f->multipliers + c * a->nrow};
    vn_scale(n, f->mu + c * n, s, f->d + c * size);
  }
  vn_zero(nc * frames, f->e);
  vn_zero(nc * n, f->w);
  vn_zero(nc * n, f->v);
  mbg__ali3p_pull(a, f->lanes, nc, k, g);
  for (int c = 0; c < nc; c++) {
    real *r = f->r + c * size, *mu = f->mu + c * n;
    mbg__ali3p_tangents_T(a, node, g[c].e, mu);
    for (int i = 0; i < n; i++) {
      r[i] -= mu[i] + 2 / h * g[c].w[i] + 4 / (h * h) * g[c].a[i];
    }
    for (int i = 0; i < a->nrow; i++) {
      r[n + i] -= g[c].lambda[i] / s;
    }
  }
}

static mbg__part ratio(int n, const real *d, const real *x) {
  const mbg__part size = mbg__ali3p_largest(n, d);
  return r_where_part(size > 0, size / mbg__ali3p_largest(n, x), size);
}

/* largest change of a column, of its two parts relative to their own size */
static mbg__part change(const mbg__ali3p_refine *f, int nc) {
  const int n = f->a->n, rows = f->a->nrow;
  mbg__part most = 0;
  for (int c = 0; c < nc; c++) {
    const real *d = f->d + c * (n + rows), *x = f->x + c * (n + rows);
    const mbg__part now = fmax(ratio(n, d, x), ratio(rows, d + n, x + n));
    most = r_where_part(now <= most, most, now);
  }
  return most;
}

static void solve(mbg__ali3p_refine *f, int nc, real *x) {
  mbg__tree_matrix_solve_T(f->a->tree, &f->a->step, x, nc);
  f->a->counts->solves += nc;
}

static mbg__answers opposite(mbg__answers a) { return r_where_part(a, 1, 0) == 0; }

mbg__answers mbg__ali3p_refine_T(mbg__ali3p_refine *f, const mbg__ali3p_node *node, int nc, real *X, int *residuals) {
  const int all = nc * (f->a->n + f->a->nrow);
  mbg__part last = 1;
  mbg__answers found = r_all(false), lost = r_all(false);
  vn_copy(all, f->x, X);
  vn_copy(all, f->r, X);
  solve(f, nc, f->x);
  vn_copy(all, f->d, f->x);
  *residuals = 0;
  for (int k = 0; k < MOST && !r_every(found | lost); k++) {
    ++*residuals;
    subtract(f, node, nc);
    vn_copy(all, f->d, f->r);
    solve(f, nc, f->d);
    const mbg__part now = change(f, nc);
    for (int i = 0; i < all; i++) {
      f->x[i] = r_where(found, f->x[i], f->x[i] + f->d[i]);
    }
    found = found | (opposite(lost) & (now * now <= 1e-17 * last)); /* the next increment would be less than rounding */
    lost = lost | opposite(found | (now < 0.1 * last));
    last = now;
  }
  mbg__ali3p_refined(f, found, nc, X);
  return found;
}

void mbg__ali3p_refined(const mbg__ali3p_refine *f, mbg__answers found, int nc, real *X) {
  const int all = nc * (f->a->n + f->a->nrow);
  for (int i = 0; r_some(found) && i < all; i++) {
    X[i] = r_where(found, f->x[i], X[i]);
  }
}
