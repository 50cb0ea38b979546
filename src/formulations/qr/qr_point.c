#include "formulations/qr/qr_point.h"

#include "formulations/qr/qr_columns.h"

#include "formulations/formulation.h"
#include "math/dense.h"
#include "math/householder.h"

#include <string.h>

/* last state of the system: (H, v), (H, v, a, lambda), the same with derivatives, (H, v*) with kappa */
typedef enum { AT_NOTHING, AT_STATE, AT_FULL, AT_FULL_LINEAR, AT_VELOCITIES } place;

struct mbg__qr_point {
  const mbg_model *m;
  mbg__system *sys;
  const mbg__rank *rank;
  double beta;
  place at;
  int n, r, f;         /* free velocities, kept rows, freedoms */
  mbg__householder qr; /* B^T of the kept rows                              (n x r) */
  mbg__cholesky Mr;    /* Q2^T M Q2                                         (f x f) */
  real *Q2, *MQ2;      /*                                                   (n x f) */
  real *B;             /* values by the pattern of the system */
  /* the point */
  real t;
  mbg__frame *H;
  real *v, *v_star, *a; /*                                                   (nw) */
  int *turns;
  bool rates;           /* the system is at a as well */
  bool solved;          /* lambda and kappa belong to the point */
  real *lambda, *kappa; /* core's sign; kappa of (F4)                        (nrow) */
  real *phi, *phid;     /*                                                   (nrow) */
  real *gamma;          /*                                                   (nrow) */
  double independence;  /* smallest |R_kk| relative to its row */
  int dependent;        /* that row */
  real *F;              /* f of theory 1                                     (nw) */
  real *drop;           /* v - v*                                            (n) */
  /* scratch */
  real *x, *y, *z, *s; /*                                                   (n) */
  real *k;             /* kept rows                                         (r) */
  real *h;             /* freedoms                                          (f) */
  mbg__qr_columns columns;
  real *full, *full2, *row, *row2; /*                                         (nw, nw, nrow, nrow) */
};

/* ---------------------------------------------------------------------- creation */

static int take_arrays(mbg_context *ctx, mbg__arena *arena, mbg__qr_point *q) {
  const mbg_model *m = q->m;
  q->Q2 = MBG_TAKE(arena, real, (size_t)q->n * (size_t)q->f);
  q->MQ2 = MBG_TAKE(arena, real, (size_t)q->n * (size_t)q->f);
  q->B = MBG_TAKE(arena, real, mbg__csc_count(mbg__system_pattern_B(q->sys)));
  q->H = MBG_TAKE(arena, mbg__frame, m->nbody);
  q->v = MBG_TAKE(arena, real, m->nw);
  q->v_star = MBG_TAKE(arena, real, m->nw);
  q->a = MBG_TAKE(arena, real, m->nw);
  q->turns = MBG_TAKE(arena, int, m->nturn);
  q->lambda = MBG_TAKE(arena, real, m->nrow);
  q->kappa = MBG_TAKE(arena, real, m->nrow);
  q->phi = MBG_TAKE(arena, real, m->nrow);
  q->phid = MBG_TAKE(arena, real, m->nrow);
  q->gamma = MBG_TAKE(arena, real, m->nrow);
  q->F = MBG_TAKE(arena, real, m->nw);
  q->drop = MBG_TAKE(arena, real, q->n);
  q->x = MBG_TAKE(arena, real, q->n);
  q->y = MBG_TAKE(arena, real, q->n);
  q->z = MBG_TAKE(arena, real, q->n);
  q->s = MBG_TAKE(arena, real, q->n);
  q->k = MBG_TAKE(arena, real, q->r);
  q->h = MBG_TAKE(arena, real, q->f);
  q->full = MBG_TAKE(arena, real, m->nw);
  q->full2 = MBG_TAKE(arena, real, m->nw);
  q->row = MBG_TAKE(arena, real, m->nrow);
  q->row2 = MBG_TAKE(arena, real, m->nrow);
  (void)mbg__householder_prepare(&q->qr, arena, q->n, q->r);
  (void)mbg__cholesky_prepare(&q->Mr, arena, q->f);
  return mbg__qr_columns_create(ctx, arena, q->sys, &q->columns);
}

int mbg__qr_point_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, const mbg__rank *rank, double beta,
                         mbg__qr_point **out) {
  const mbg_model *m = mbg__system_model(sys);
  mbg__qr_point *q = MBG_TAKE(arena, mbg__qr_point, 1);
  *out = q;
  if (!q) {
    return mbg__fail_memory(ctx);
  }
  *q = (mbg__qr_point){.sys = sys, .m = m, .rank = rank, .beta = beta};
  q->n = m->nv;
  q->r = rank->nkept;
  q->f = q->n - q->r;
  return take_arrays(ctx, arena, q);
}

/* ---------------------------------------------------------------------- vectors */

static void free_of(const mbg__qr_point *q, const real *full, real *x) { mbg__to_free(q->m, 1, full, x); }

static void full_of(const mbg__qr_point *q, const real *x, real *full) {
  memset(full, 0, (size_t)q->m->nw * sizeof(real));
  mbg__to_full(q->m, 1, x, full);
}

static void kept_of(const mbg__qr_point *q, const real *rows, real *k) {
  for (int i = 0; i < q->r; i++) {
    k[i] = rows[q->rank->kept[i]];
  }
}

static void rows_of(const mbg__qr_point *q, const real *k, real *rows) {
  memset(rows, 0, (size_t)q->m->nrow * sizeof(real));
  for (int i = 0; i < q->r; i++) {
    rows[q->rank->kept[i]] = k[i];
  }
}

/* ---------------------------------------------------------------------- N, P, Y, M */

/* out = N k (n from r); k is overwritten */
static void mul_N(const mbg__qr_point *q, real *k, real *out) {
  mbg__householder_solve_T(&q->qr, k);
  memset(out, 0, (size_t)q->n * sizeof(real));
  memcpy(out, k, (size_t)q->r * sizeof(real));
  mbg__householder_mul(&q->qr, out, 1);
}

/* k = N^T y; y is overwritten */
static void mul_N_T(const mbg__qr_point *q, real *y, real *k) {
  mbg__householder_mul_T(&q->qr, y, 1);
  memcpy(k, y, (size_t)q->r * sizeof(real));
  mbg__householder_solve(&q->qr, k);
}

/* y <- P y */
static void mul_P(const mbg__qr_point *q, real *y) {
  mbg__householder_mul_T(&q->qr, y, 1);
  memset(y, 0, (size_t)q->r * sizeof(real));
  mbg__householder_mul(&q->qr, y, 1);
}

/* y <- Y y */
static void mul_Y(const mbg__qr_point *q, real *y) {
  mbg__householder_mul_T(&q->qr, y, 1);
  memset(y, 0, (size_t)q->r * sizeof(real));
  mbg__cholesky_solve(&q->Mr, y + q->r, 1);
  mbg__householder_mul(&q->qr, y, 1);
}

/* y = M x over free velocities; uses `full`, `full2` */
static void mul_M(const mbg__qr_point *q, const real *x, real *y) {
  full_of(q, x, q->full);
  mbg__system_mass_mul(q->sys, q->full, q->full2);
  free_of(q, q->full2, y);
}

/* h = Q2^T y */
static void to_freedoms(const mbg__qr_point *q, const real *y, real *h) {
  for (int k = 0; k < q->f; k++) {
    h[k] = vn_dot(q->n, q->Q2 + (size_t)k * (size_t)q->n, y);
  }
}

/* y = Q2 h */
static void from_freedoms(const mbg__qr_point *q, const real *h, real *y) {
  vn_zero(q->n, y);
  for (int k = 0; k < q->f; k++) {
    vn_axpy(q->n, y, h[k], q->Q2 + (size_t)k * (size_t)q->n);
  }
}

/* fewer freedoms than rows: products with Q2 cost less than the reflections */
static bool few_freedoms(const mbg__qr_point *q) { return q->f < q->r; }

/* out = Y y */
static void apply_Y(const mbg__qr_point *q, const real *y, real *out) {
  if (few_freedoms(q)) {
    to_freedoms(q, y, q->h);
    mbg__cholesky_solve(&q->Mr, q->h, 1);
    from_freedoms(q, q->h, out);
  } else {
    vn_copy(q->n, out, y);
    mul_Y(q, out);
  }
}

/* out = P y */
static void apply_P(const mbg__qr_point *q, const real *y, real *out) {
  if (few_freedoms(q)) {
    to_freedoms(q, y, q->h);
    from_freedoms(q, q->h, out);
  } else {
    vn_copy(q->n, out, y);
    mul_P(q, out);
  }
}

/* out = P y, k = N^T y; y is overwritten */
static void apply_P_N(const mbg__qr_point *q, real *y, real *out, real *k) {
  if (few_freedoms(q)) {
    to_freedoms(q, y, q->h);
    from_freedoms(q, q->h, out);
  }
  mbg__householder_mul_T(&q->qr, y, 1);
  memcpy(k, y, (size_t)q->r * sizeof(real));
  mbg__householder_solve(&q->qr, k);
  if (!few_freedoms(q)) {
    vn_copy(q->n, out, y);
    vn_zero(q->r, out);
    mbg__householder_mul(&q->qr, out, 1);
  }
}

/* ---------------------------------------------------------------------- factors */

static int factor_B(mbg_context *ctx, mbg__qr_point *q) {
  const mbg__csc *p = mbg__system_pattern_B(q->sys);
  int where = 0;
  mbg__system_matrices(q->sys, &(mbg__matrices){.B = q->B});
  memset(q->row, 0, (size_t)q->m->nrow * sizeof(real));
  for (int i = 0; i < q->r; i++) {
    q->row[q->rank->kept[i]] = i + 1;
  }
  memset(q->qr.A, 0, (size_t)q->n * (size_t)q->r * sizeof(real));
  for (int j = 0; j < q->n; j++) {
    for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
      const int k = (int)re(q->row[p->rowind[e]]) - 1;
      if (k >= 0) {
        q->qr.A[(size_t)k * (size_t)q->n + (size_t)j] = q->B[e];
      }
    }
  }
  mbg__householder_factor(&q->qr);
  q->independence = mbg__householder_ratio(&q->qr, &where);
  q->dependent = q->r > 0 ? q->rank->kept[where] : -1;
  if (!(q->independence > 1e-9)) {
    char label[160];
    mbg__row_label(q->m, q->dependent, label, sizeof(label));
    return mbg__fail(ctx, MBG_ERROR_SINGULAR, "t = %g: singular configuration: %s depends on the other constraints",
                     mbg__time_shown(re(q->t)), label);
  }
  return MBG_OK;
}

/* the body with the largest component of a direction over free velocities */
static const char *body_of(const mbg__qr_point *q, const real *x) {
  int best = 0;
  for (int j = 1; j < q->n; j++) {
    best = fabs(re(x[j])) > fabs(re(x[best])) ? j : best;
  }
  int body = 0;
  while (body + 1 < q->m->nbody && q->m->bodies[body + 1].voff <= q->m->full[best]) {
    body++;
  }
  return q->m->nbody > 0 ? q->m->bodies[body].name : "";
}

static int factor_M(mbg_context *ctx, mbg__qr_point *q) {
  int where = 0;
  memset(q->Q2, 0, (size_t)q->n * (size_t)q->f * sizeof(real));
  for (int k = 0; k < q->f; k++) {
    q->Q2[(size_t)k * (size_t)q->n + (size_t)(q->r + k)] = 1;
  }
  mbg__householder_mul(&q->qr, q->Q2, q->f);
  for (int k = 0; k < q->f; k++) {
    mul_M(q, q->Q2 + (size_t)k * (size_t)q->n, q->MQ2 + (size_t)k * (size_t)q->n);
  }
  for (int j = 0; j < q->f; j++) {
    for (int i = j; i < q->f; i++) {
      real s = 0;
      for (int k = 0; k < q->n; k++) {
        s += q->Q2[(size_t)i * (size_t)q->n + (size_t)k] * q->MQ2[(size_t)j * (size_t)q->n + (size_t)k];
      }
      q->Mr.A[(size_t)j * (size_t)q->f + (size_t)i] = s;
    }
  }
  if (mbg__cholesky_factor(&q->Mr, &where) < 0) {
    return mbg__fail(ctx, MBG_ERROR_SINGULAR, "t = %g: a degree of freedom has no mass (look at body '%s')",
                     mbg__time_shown(re(q->t)), body_of(q, q->Q2 + (size_t)where * (size_t)q->n));
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- the point */

static void read_system(mbg__qr_point *q) {
  mbg__system_residual(q->sys, q->F, q->phi, q->phid, NULL, q->gamma);
  vn_scale(q->m->nw, q->F, -1, q->F);
}

/* (F3): v - v* = N (B v + phi_t + beta phi) = N (phid + beta phi), which is 0 but for the drift */
static void project_velocity(mbg__qr_point *q) {
  for (int i = 0; i < q->r; i++) {
    const int row = q->rank->kept[i];
    q->k[i] = q->phid[row] + q->beta * q->phi[row];
  }
  mul_N(q, q->k, q->drop);
  memcpy(q->v_star, q->v, (size_t)q->m->nw * sizeof(real));
  for (int j = 0; j < q->n; j++) {
    q->v_star[q->m->full[j]] -= q->drop[j];
  }
}

/* (F5) */
static void accelerate(mbg__qr_point *q) {
  kept_of(q, q->gamma, q->k);
  mul_N(q, q->k, q->y);
  mul_M(q, q->y, q->z);
  free_of(q, q->F, q->x);
  vn_axpy(q->n, q->z, 1, q->x);
  apply_Y(q, q->z, q->x);
  vn_sub(q->n, q->z, q->x, q->y);
  full_of(q, q->z, q->a);
}

/* (F4), (F6): signals and derivatives need them, steps do not */
static void solve_multipliers(mbg__qr_point *q) {
  if (q->solved) {
    return;
  }
  vn_copy(q->n, q->x, q->drop);
  mul_N_T(q, q->x, q->k);
  rows_of(q, q->k, q->kappa);
  free_of(q, q->F, q->x);
  free_of(q, q->a, q->z);
  mul_M(q, q->z, q->y);
  vn_sub(q->n, q->y, q->x, q->y);
  mul_N_T(q, q->y, q->k);
  rows_of(q, q->k, q->lambda);
  q->solved = true;
}

/* the state, and the forces there; rates: the system has those of the point */
static int begin(mbg_context *ctx, mbg__qr_point *q, real t, const mbg__frame *H, const real *v, const int *turns,
                 bool rates) {
  q->at = AT_NOTHING;
  q->rates = rates;
  q->t = t;
  q->solved = false;
  memcpy(q->H, H, (size_t)q->m->nbody * sizeof(*H));
  memcpy(q->v, v, (size_t)q->m->nw * sizeof(real));
  memcpy(q->turns, turns, (size_t)q->m->nturn * sizeof(int));
  return mbg__system_update_forces(ctx, q->sys);
}

int mbg__qr_point_eval_placed(mbg_context *ctx, mbg__qr_point *q, real t, const mbg__frame *H, const real *v,
                              const int *turns, const real **v_star, const real **a) {
  int err = MBG_OK;
  MBG_TRY(begin(ctx, q, t, H, v, turns, false));
  read_system(q);
  MBG_TRY(factor_B(ctx, q));
  MBG_TRY(factor_M(ctx, q));
  project_velocity(q);
  accelerate(q);
  q->at = AT_STATE;
  MBG_TRY(mbg__system_has_late(q->sys) ? mbg__qr_point_full(ctx, q) : MBG_OK);
  *v_star = q->v_star;
  *a = q->a;
done:
  return err;
}

int mbg__qr_point_eval(mbg_context *ctx, mbg__qr_point *q, real t, const mbg__frame *H, const real *v, const int *turns,
                       const real **v_star, const real **a) {
  const mbg__state state = {.t = t, .H = H, .v = v, .turns = turns};
  const int err = mbg__system_update_bare(ctx, q->sys, &state);
  return err < 0 ? err : mbg__qr_point_eval_placed(ctx, q, t, H, v, turns, v_star, a);
}

enum { PARTS = 8 };

/* factors and results of eval, a last, with their sizes */
static void parts(const mbg__qr_point *q, real *part[PARTS], int size[PARTS]) {
  real *const all[PARTS] = {q->qr.A, q->qr.tau, q->Q2, q->Mr.A, q->drop, q->F, q->v_star, q->a};
  const int sizes[PARTS] = {q->n * q->r, q->r, q->n * q->f, q->f * q->f, q->n, q->m->nw, q->m->nw, q->m->nw};
  memcpy(part, all, sizeof(all));
  memcpy(size, sizes, sizeof(sizes));
}

int mbg__qr_point_count(const mbg__qr_point *q) {
  return q->r * (q->n + 1) + q->f * (q->n + q->f) + q->n + 3 * q->m->nw;
}

void mbg__qr_point_keep(const mbg__qr_point *q, real *kept) {
  real *part[PARTS];
  int size[PARTS];
  parts(q, part, size);
  for (int i = 0; i < PARTS; kept += size[i], i++) {
    memcpy(kept, part[i], (size_t)size[i] * sizeof(real));
  }
}

/* functions of rates come after rates at rest, as in eval */
const real *mbg__qr_point_rates(const mbg__qr_point *q, const real *kept) {
  return mbg__system_has_late(q->sys) ? NULL : kept + mbg__qr_point_count(q) - q->m->nw;
}

int mbg__qr_point_again(mbg_context *ctx, mbg__qr_point *q, real t, const mbg__frame *H, const real *v,
                        const int *turns, const real *kept, const real **v_star, const real **a) {
  real *part[PARTS];
  int size[PARTS];
  parts(q, part, size);
  for (int i = 0; i < PARTS; kept += size[i], i++) {
    memcpy(part[i], kept, (size_t)size[i] * sizeof(real));
  }
  const int err = begin(ctx, q, t, H, v, turns, !mbg__system_has_late(q->sys));
  q->at = err < 0 ? AT_NOTHING : AT_STATE;
  *v_star = q->v_star;
  *a = q->a;
  return err;
}

const real *mbg__qr_point_lambda(mbg__qr_point *q) {
  solve_multipliers(q);
  return q->lambda;
}

double mbg__qr_point_independence(const mbg__qr_point *q, int *row) {
  if (row) {
    *row = q->dependent;
  }
  return q->independence;
}

void mbg__qr_point_recall(mbg__qr_point *q, double independence, int row) {
  q->at = AT_NOTHING;
  q->independence = independence;
  q->dependent = row;
  mbg__system_residual(q->sys, NULL, q->phi, q->phid, NULL, NULL);
}

const real *mbg__qr_point_phi(const mbg__qr_point *q) { return q->phi; }
const real *mbg__qr_point_phid(const mbg__qr_point *q) { return q->phid; }

void mbg__qr_point_drift(const mbg__qr_point *q, double *phi, double *phid) {
  *phi = *phid = 0;
  for (int i = 0; i < q->m->nrow; i++) {
    *phi = fmax(*phi, fabs(re(q->phi[i])));
    *phid = fmax(*phid, fabs(re(q->phid[i])));
  }
}

int mbg__qr_point_full(mbg_context *ctx, mbg__qr_point *q) {
  const mbg__state state = {.t = q->t, .H = q->H, .v = q->v, .vd = q->a, .lambda = q->lambda, .turns = q->turns};
  if (q->at == AT_FULL || q->at == AT_FULL_LINEAR) {
    return MBG_OK;
  }
  solve_multipliers(q);
  if (q->at == AT_STATE) {
    mbg__system_complete(q->sys, q->rates ? NULL : q->a, q->lambda);
    q->at = AT_FULL;
    return mbg__system_late(ctx, q->sys, q->a);
  }
  const int err = mbg__system_update(ctx, q->sys, &state);
  q->at = err < 0 ? AT_NOTHING : AT_FULL;
  return err;
}

/* the two linearizations: accelerations at (H, v, a, lambda); velocities at (H, v*) with kappa as multipliers */
int mbg__qr_point_linearize(mbg_context *ctx, mbg__qr_point *q) {
  int err = MBG_OK;
  MBG_TRY(mbg__qr_point_full(ctx, q));
  if (q->at != AT_FULL_LINEAR) {
    MBG_TRY(mbg__system_linearize(ctx, q->sys));
    q->at = AT_FULL_LINEAR;
  }
done:
  return err;
}

static void linearize_velocities(mbg__qr_point *q) {
  q->at = AT_VELOCITIES;
  mbg__system_constraints_at(q->sys, q->v_star, q->kappa);
}

/* ---------------------------------------------------------------------- tangents */

/* (T2) da = Y (r1 + M N r2) - N r2,  (T3) dlambda = N^T (r1 - M da); r1 = -dr, r2 = dphidd */
static void push_accelerations(mbg__qr_point *q, const mbg__qr_change *x, real *d_a, real *dlambda) {
  free_of(q, x->r, q->s);
  vn_scale(q->n, q->s, -1, q->s);
  kept_of(q, x->phidd, q->k);
  mul_N(q, q->k, q->y);
  mul_M(q, q->y, q->z);
  vn_axpy(q->n, q->z, 1, q->s);
  apply_Y(q, q->z, q->x);
  vn_sub(q->n, q->z, q->x, q->y);
  full_of(q, q->z, d_a);
  if (!dlambda && mbg__system_has_late(q->sys)) {
    dlambda = q->row2;
  }
  if (dlambda) {
    mul_M(q, q->z, q->y);
    vn_sub(q->n, q->y, q->s, q->y);
    mul_N_T(q, q->y, q->k);
    rows_of(q, q->k, dlambda);
  }
  mbg__system_late_push(q->sys, d_a, dlambda);
}

/* (T1) dv* = P (dv - r3) - N r4; r3 = d(B^T kappa), r4 = d(phi_t + beta phi) + dB v* */
static void push_velocities(mbg__qr_point *q, const mbg__qr_change *x, const real *dv, real *dv_star) {
  vn_axpy(q->m->nrow, x->phid, q->beta, x->phi);
  free_of(q, dv, q->x);
  free_of(q, x->r, q->y);
  vn_sub(q->n, q->x, q->x, q->y);
  apply_P(q, q->x, q->z);
  kept_of(q, x->phid, q->k);
  mul_N(q, q->k, q->y);
  vn_sub(q->n, q->x, q->z, q->y);
  full_of(q, q->x, dv_star);
}

int mbg__qr_point_push(mbg_context *ctx, mbg__qr_point *q, int ncol, const real *w, const real *dv, const real *da,
                       real *dv_star, real *d_a, real *dlambda) {
  const size_t nw = (size_t)q->m->nw, nr = (size_t)q->m->nrow, n = (size_t)ncol;
  int err = MBG_OK;
  MBG_TRY(mbg__qr_point_linearize(ctx, q));
  for (size_t c = 0; c < n; c++) {
    const mbg__qr_change x = mbg__qr_columns_at(&q->columns, q->sys, c, n, w, dv, da);
    push_accelerations(q, &x, d_a + c * nw, dlambda ? dlambda + c * nr : NULL);
  }
  linearize_velocities(q);
  for (size_t c = 0; c < n; c++) {
    const mbg__qr_change x = mbg__qr_columns_at(&q->columns, q->sys, c, n, w, NULL, da);
    push_velocities(q, &x, dv + c * nw, dv_star + c * nw);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- transposes */

/* (A1) with -s for s: rho' = rho + M s, y = Y rho', sig = N^T (rho' - M y); vjp = r1^T (y - s) - r2^T sig */
static void pull_accelerations(mbg__qr_point *q, const real *rho, const real *lb, real *gw, real *gv, real *ga) {
  if (mbg__system_has_late(q->sys)) {
    vn_copy(q->m->nw, q->full, rho);
    vn_zero(q->m->nrow, q->row2);
    vn_axpy(lb ? q->m->nrow : 0, q->row2, 1, lb);
    mbg__system_late_pull(q->sys, q->full, q->row2);
    rho = q->full;
    lb = q->row2;
  }
  free_of(q, rho, q->x);
  memset(q->s, 0, (size_t)q->n * sizeof(real));
  if (lb) {
    kept_of(q, lb, q->k);
    vn_scale(q->r, q->k, -1, q->k);
    mul_N(q, q->k, q->s);
    mul_M(q, q->s, q->y);
    vn_axpy(q->n, q->x, 1, q->y);
  }
  apply_Y(q, q->x, q->y);
  mul_M(q, q->y, q->z);
  vn_sub(q->n, q->x, q->x, q->z);
  mul_N_T(q, q->x, q->k);
  vn_scale(q->r, q->k, -1, q->k);
  rows_of(q, q->k, q->row);
  /* r1 = -dr: z = -(y - s) */
  vn_sub(q->n, q->s, q->s, q->y);
  full_of(q, q->s, q->full);
  mbg__system_pull(q->sys, q->full, NULL, NULL, q->row, gw, gv, NULL, NULL, ga);
}

/* vjp = -r3^T (P mu) - r4^T (N^T mu), plus P mu for the twists */
static void pull_velocities(mbg__qr_point *q, const real *mu, real *gw, real *gv, real *ga) {
  free_of(q, mu, q->x);
  apply_P_N(q, q->x, q->y, q->k);
  for (int j = 0; gv && j < q->n; j++) {
    gv[q->m->full[j]] += q->y[j];
  }
  vn_scale(q->r, q->k, -1, q->k);
  rows_of(q, q->k, q->row);
  vn_scale(q->m->nrow, q->row2, q->beta, q->row);
  vn_scale(q->n, q->y, -1, q->y);
  full_of(q, q->y, q->full);
  mbg__system_pull(q->sys, q->full, q->row2, q->row, NULL, gw, NULL, NULL, NULL, ga);
}

int mbg__qr_point_pull(mbg_context *ctx, mbg__qr_point *q, int ncol, const real *mu, const real *rho, const real *lb,
                       real *gw, real *gv, real *ga) {
  const size_t nw = (size_t)q->m->nw, na = (size_t)q->m->na, nr = (size_t)q->m->nrow;
  int err = MBG_OK;
  MBG_TRY(mbg__qr_point_linearize(ctx, q));
  for (size_t c = 0; c < (size_t)ncol; c++) {
    if (mbg__any(nw, rho + c * nw) || (lb && mbg__any(nr, lb + c * nr))) {
      pull_accelerations(q, rho + c * nw, lb ? lb + c * nr : NULL, gw ? gw + c * nw : NULL, gv ? gv + c * nw : NULL,
                         ga ? ga + c * na : NULL);
    }
  }
  if (!mu) {
    return MBG_OK;
  }
  linearize_velocities(q);
  for (size_t c = 0; c < (size_t)ncol; c++) {
    pull_velocities(q, mu + c * nw, gw ? gw + c * nw : NULL, gv ? gv + c * nw : NULL, ga ? ga + c * na : NULL);
  }
done:
  return err;
}
