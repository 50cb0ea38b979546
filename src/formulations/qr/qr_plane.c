#include "formulations/qr/qr_plane.h"
#include "formulations/formulation.h"
#include "math/avx2.h"

#define LANES(name) name
#include "formulations/qr/qr_plane_kernel.h"

/* ---------------------------------------------------------------------- creation */

int mbg__qr_plane_create(mbg_context *ctx, mbg__arena *arena, mbg__qr_point *q) {
  q->lanes = NULL;
  if (!q->plane || !few_freedoms(q) || !(q->qr.rows || q->qr.sparse)) {
    return MBG_OK;
  }
  const int groups = columns_groups(q->f + 2), pulled = columns_groups(MBG__QR_SIDE);
  const size_t most = (size_t)(groups > pulled ? groups : pulled), n = (size_t)q->n;
  mbg__qr_plane *p = MBG_TAKE(arena, mbg__qr_plane, 1);
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  p->wide = mbg__lanes_wide();
  p->mass = mbg__plane_mass(q->plane);
  p->x = MBG_TAKE(arena, lane, most * n);
  p->y = MBG_TAKE(arena, lane, most * n);
  p->z = MBG_TAKE(arena, lane, n);
  p->h = MBG_TAKE(arena, lane, most * (size_t)(q->f + 1));
  q->lanes = p;
  return mbg__arena_check(ctx, arena);
}

/* ---------------------------------------------------------------------- evaluation */

void mbg__qr_plane_begin(mbg__qr_point *q) {
  mbg__qr_plane *p = q->lanes;
  real *const gamma = column_of(p->x, q->n, 0), *const drop = column_of(p->x, q->n, 1);
  ln_zero(columns_groups(2 + q->f) * q->n, p->x);
  for (int i = 0; i < q->r; i++) {
    const int row = q->rank->kept[i];
    gamma[i * MBG__LANES] = q->gamma[row];
    drop[i * MBG__LANES] = q->phid[row] + q->beta * q->phi[row];
  }
  for (int k = 0; k < q->f; k++) {
    column_of(p->x, q->n, 2 + k)[(q->r + k) * MBG__LANES] = 1;
  }
#ifdef MBG__AVX2_BEGIN
  if (p->wide) {
    mbg__qr_plane_columns_avx2(q);
    return;
  }
#endif
  mbg__qr_plane_columns(q);
}

void mbg__qr_plane_finish(mbg__qr_point *q) {
  const real *y = column_of(q->lanes->x, q->n, 0), *drift = column_of(q->lanes->x, q->n, 1);
  mbg__cholesky_solve(&q->Mr, q->h, 1);
  from_freedoms(q, q->h, q->z);
  for (int j = 0; j < q->n; j++) {
    const int i = q->m->full[j];
    q->a[i] = q->z[j] - y[j * MBG__LANES];
    q->v_star[i] = q->v[i] - drift[j * MBG__LANES];
  }
}

/* ---------------------------------------------------------------------- transposes */

/* columns of criteria behind the first `from` ones */
static void set_criteria(mbg__qr_point *q, int from, int count, const real *mu, const real *rho) {
  const int n = q->n;
  for (int c = from; c < count; c += 2, mu += n, rho += n) {
    real *const x = column_of(q->lanes->x, n, c), *const y = column_of(q->lanes->x, n, c + 1);
    for (int j = 0; j < n; j++) {
      x[j * MBG__LANES] = rho[j];
      y[j * MBG__LANES] = mu[j];
    }
  }
}

static void set_multipliers(mbg__qr_point *q) {
  real *const f = column_of(q->lanes->x, q->n, 0), *const none = column_of(q->lanes->x, q->n, 1);
  const int *full = q->m->full;
  for (int j = 0; j < q->n; j++) {
    f[j * MBG__LANES] = q->F[full[j]];
    none[j * MBG__LANES] = 0;
  }
}

static void to_rows(mbg__qr_point *q, int count, bool multipliers) {
#ifdef MBG__AVX2_BEGIN
  if (q->lanes->wide) {
    mbg__qr_plane_rows_avx2(q, count, multipliers);
    return;
  }
#endif
  mbg__qr_plane_rows(q, count, multipliers);
}

/* (F4), (F6), and the linearization there */
static void linearize(mbg__qr_point *q) {
  const real *lambda = column_of(q->lanes->x, q->n, 0), *kappa = column_of(q->lanes->x, q->n, 1);
  for (int i = 0; i < q->r; i++) {
    const int row = q->rank->kept[i];
    q->lambda[row] = lambda[i * MBG__LANES];
    q->kappa[row] = kappa[i * MBG__LANES];
  }
  q->solved = true;
  mbg__plane_linearize(q->plane, q->a, q->lambda, q->v_star, q->kappa);
}

/* the criterion in the columns c and c + 1 */
static void pull(mbg__qr_point *q, int c, real *gw, real *gv, real *ga) {
  const mbg__qr_plane *p = q->lanes;
  const real *y = column_of(p->y, q->n, c), *P = column_of(p->y, q->n, c + 1);
  const real *x = column_of(p->x, q->n, c), *N = column_of(p->x, q->n, c + 1);
  for (int j = 0; j < q->n; j++) {
    const real own = P[j * MBG__LANES];
    gv[j] += own;
    q->s[j] = -y[j * MBG__LANES];
    q->y[j] = -own;
  }
  for (int i = 0; i < q->r; i++) {
    const int row = q->rank->kept[i];
    q->row[row] = -x[i * MBG__LANES];
    q->row2[row] = -N[i * MBG__LANES];
  }
  const mbg__plane_weights w = {.z = q->s, .y = q->y, .mu = q->row, .nu = q->row2, .beta = q->beta};
  mbg__plane_pull(q->plane, &w, gw, gv, ga);
}

void mbg__qr_plane_pull(mbg__qr_point *q, int ncol, const real *mu, const real *rho, real *gw, real *gv, real *ga) {
  const size_t n = (size_t)q->n, na = (size_t)q->m->na;
  bool first = true;
  vn_zero(q->m->nrow, q->row);
  vn_zero(q->m->nrow, q->row2);
  for (int c = 0; c < ncol; first = false) {
    const int from = first ? 2 : 0, room = (MBG__QR_SIDE - from) / 2, here = ncol - c < room ? ncol - c : room;
    const size_t at = (size_t)c;
    if (first) {
      set_multipliers(q);
    }
    set_criteria(q, from, from + 2 * here, mu + at * n, rho + at * n);
    to_rows(q, from + 2 * here, first);
    if (first) {
      linearize(q);
    }
    for (int k = 0; k < here; k++, c++) {
      const size_t to = (size_t)c;
      pull(q, from + 2 * k, gw + to * n, gv + to * n, ga + to * na);
    }
  }
}
