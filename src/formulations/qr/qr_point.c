#include "formulations/qr/qr_columns.h"
#include "formulations/qr/qr_plane.h"

#include "formulations/formulation.h"

/* ---------------------------------------------------------------------- creation */

/* rows of B^T between which the columns of the rows have entries */
static void find_envelope(mbg__qr_point *q) {
  const mbg__csc *p = mbg__system_pattern_B(q->sys);
  for (int j = q->n - 1; j >= 0; j--) {
    for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
      const int row = p->rowind[e];
      q->first[row] = j;
      q->end[row] = q->end[row] > 0 ? q->end[row] : j + 1;
    }
  }
}

void mbg__qr_point_begin(mbg__qr_point *q) {
  for (int i = 0; i < q->r; i++) {
    q->kept_first[i] = q->first[q->rank->kept[i]];
    q->kept_end[i] = q->end[q->rank->kept[i]];
  }
  mbg__householder_envelope(&q->qr, q->kept_first, q->kept_end);
  if (q->plane) {
    mbg__plane_begin(q->plane);
  }
}

/* factors and results of eval in one block, a last: what mbg__qr_point_keep copies */
static void take_kept_parts(mbg__arena *arena, mbg__qr_point *q) {
  const size_t n = (size_t)q->n, r = (size_t)q->r, f = (size_t)q->f, nw = (size_t)q->m->nw;
  real *const kept = MBG_TAKE(arena, real, mbg__qr_point_count(q));
  if (kept) {
    real *const tau = kept + n * r;
    (void)mbg__householder_prepare_in(&q->qr, arena, q->n, q->r, kept, tau);
    q->kept = kept;
    q->Q2 = tau + r;
    q->Mr = (mbg__cholesky){q->f, q->Q2 + n * f};
    q->drop = q->Mr.A + f * f;
    q->F = q->drop + r;
    q->v_star = q->F + nw;
    q->a = q->v_star + nw;
  }
}

static int take_arrays(mbg_context *ctx, mbg__arena *arena, mbg__qr_point *q) {
  const mbg_model *m = q->m;
  take_kept_parts(arena, q);
  q->MQ2 = MBG_TAKE(arena, real, (size_t)q->n * (size_t)q->f);
  q->B = MBG_TAKE(arena, real, mbg__csc_count(mbg__system_pattern_B(q->sys)));
  q->H = MBG_TAKE(arena, mbg__frame, m->nbody);
  q->v = MBG_TAKE(arena, real, m->nw);
  q->turns = MBG_TAKE(arena, int, m->nturn);
  q->lambda = MBG_TAKE(arena, real, m->nrow);
  q->kappa = MBG_TAKE(arena, real, m->nrow);
  q->phi = MBG_TAKE(arena, real, m->nrow);
  q->phid = MBG_TAKE(arena, real, m->nrow);
  q->gamma = MBG_TAKE(arena, real, m->nrow);
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
  q->first = MBG_TAKE(arena, int, m->nrow);
  q->end = MBG_TAKE(arena, int, m->nrow);
  q->kept_first = MBG_TAKE(arena, int, q->r);
  q->kept_end = MBG_TAKE(arena, int, q->r);
  int err = mbg__arena_check(ctx, arena);
  if (err < 0) {
    return err;
  }
  find_envelope(q);
  mbg__qr_point_begin(q);
  err = mbg__qr_plane_create(ctx, arena, q);
  return err < 0 ? err : mbg__qr_columns_create(ctx, arena, q->sys, q->n, q->r, &q->columns);
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
  const int err = mbg__plane_create(ctx, arena, sys, &q->plane);
  return err < 0 ? err : take_arrays(ctx, arena, q);
}

void mbg__qr_point_varied(mbg__qr_point *q, const mbg__qr_varied *varied) { q->columns->varied = varied; }

/* ---------------------------------------------------------------------- factors */

/* where the factors of B^T (n x r) expect it */
static mbg__strided place_of_B(const mbg__qr_point *q) {
  const size_t n = (size_t)q->n, stride = (size_t)q->qr.stride;
  return q->qr.rows ? (mbg__strided){.entries = q->qr.rows, .count = n * stride, .down = stride, .across = 1}
                    : (mbg__strided){.entries = q->qr.A, .count = n * (size_t)q->r, .down = 1, .across = n};
}

/* B^T of the kept rows */
static void read_B(mbg__qr_point *q, const mbg__strided *to) {
  const mbg__csc *p = mbg__system_pattern_B(q->sys);
  mbg__system_matrices(q->sys, &(mbg__matrices){.B = q->B});
  memset(q->row, 0, (size_t)q->m->nrow * sizeof(real));
  for (int i = 0; i < q->r; i++) {
    q->row[q->rank->kept[i]] = i + 1;
  }
  memset(to->entries, 0, (size_t)to->count * sizeof(real));
  for (int j = 0; j < q->n; j++) {
    for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
      const int k = (int)re(q->row[p->rowind[e]]) - 1;
      if (k >= 0) {
        to->entries[(size_t)j * to->down + (size_t)k * to->across] = q->B[e];
      }
    }
  }
}

static int factor_B(mbg_context *ctx, mbg__qr_point *q) {
  int where = 0;
  const mbg__strided to = place_of_B(q);
  if (q->flat) {
    mbg__plane_columns(q->plane, q->r, q->rank->kept, &to);
  } else {
    read_B(q, &to);
  }
  if (q->qr.rows) {
    mbg__householder_factor_rows(&q->qr);
  } else {
    mbg__householder_factor(&q->qr);
  }
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

/* Q2 and Q2^T M Q2 */
static void reduce_M(mbg__qr_point *q) {
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
}

static int factor_M(mbg_context *ctx, mbg__qr_point *q) {
  int where = 0;
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
  mul_N(q, q->k, q->x);
  memcpy(q->drop, q->k, (size_t)q->r * sizeof(real));
  memcpy(q->v_star, q->v, (size_t)q->m->nw * sizeof(real));
  for (int j = 0; j < q->n; j++) {
    q->v_star[q->m->full[j]] -= q->x[j];
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

/* (F4), (F6) */
void mbg__qr_point_multipliers(mbg__qr_point *q) {
  if (q->solved) {
    return;
  }
  memcpy(q->k, q->drop, (size_t)q->r * sizeof(real));
  mbg__householder_solve(&q->qr, q->k);
  rows_of(q, q->k, q->kappa);
  free_of(q, q->F, q->x);
  free_of(q, q->a, q->z);
  mul_M(q, q->z, q->y);
  vn_sub(q->n, q->y, q->x, q->y);
  mul_N_T(q, q->y, q->k);
  rows_of(q, q->k, q->lambda);
  q->solved = true;
}

static void take_time(mbg__qr_point *q, real t, const int *turns, bool flat) {
  q->at = AT_NOTHING;
  q->t = t;
  q->flat = flat;
  q->solved = false;
  memcpy(q->turns, turns, (size_t)q->m->nturn * sizeof(int));
}

static void take_state(mbg__qr_point *q, real t, const mbg__frame *H, const real *v, const int *turns) {
  take_time(q, t, turns, false);
  memcpy(q->H, H, (size_t)q->m->nbody * sizeof(*H));
  memcpy(q->v, v, (size_t)q->m->nw * sizeof(real));
}

/* the state, and the forces there; rates: the system has those of the point */
static int begin(mbg_context *ctx, mbg__qr_point *q, real t, const mbg__frame *H, const real *v, const int *turns,
                 bool rates) {
  take_state(q, t, H, v, turns);
  q->rates = rates;
  return mbg__system_update_forces(ctx, q->sys);
}

/* factors, v* and a, from the forces, rows and B */
static int solve(mbg_context *ctx, mbg__qr_point *q) {
  int err = MBG_OK;
  MBG_TRY(factor_B(ctx, q));
  if (q->flat && q->lanes) {
    mbg__qr_plane_begin(q);
    MBG_TRY(factor_M(ctx, q));
    mbg__qr_plane_finish(q);
    return MBG_OK;
  }
  reduce_M(q);
  MBG_TRY(factor_M(ctx, q));
  project_velocity(q);
  accelerate(q);
done:
  return err;
}

int mbg__qr_point_eval_placed(mbg_context *ctx, mbg__qr_point *q, real t, const mbg__frame *H, const real *v,
                              const int *turns, const real **v_star, const real **a) {
  int err = MBG_OK;
  MBG_TRY(begin(ctx, q, t, H, v, turns, false));
  read_system(q);
  MBG_TRY(solve(ctx, q));
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

bool mbg__qr_point_has_plane(const mbg__qr_point *q) { return q->plane != NULL; }
mbg__plane *mbg__qr_point_plane(const mbg__qr_point *q) { return q->plane; }

bool mbg__qr_point_in_plane(mbg__qr_point *q, const mbg__frame *H, const real *v) {
  return q->plane && mbg__plane_place(q->plane, H, v);
}

bool mbg__qr_point_in_frames(mbg__qr_point *q, const real *v) { return mbg__plane_place_frames(q->plane, v); }

real *mbg__qr_point_frames(mbg__qr_point *q) { return mbg__plane_frames(q->plane); }

int mbg__qr_point_eval_in_plane(mbg_context *ctx, mbg__qr_point *q, real t, const int *turns, const real **v_star,
                                const real **a) {
  take_time(q, t, turns, true);
  mbg__plane_state(q->plane, NULL, q->v);
  mbg__plane_values(q->plane, q->F, q->phi, q->phid, q->gamma);
  *v_star = q->v_star;
  *a = q->a;
  return solve(ctx, q);
}

int mbg__qr_point_count(const mbg__qr_point *q) { return q->r * (q->n + 2) + q->f * (q->n + q->f) + 3 * q->m->nw; }

void mbg__qr_point_keep(const mbg__qr_point *q, real *kept) {
  memcpy(kept, q->kept, (size_t)mbg__qr_point_count(q) * sizeof(real));
}

/* functions of rates come after rates at rest, as in eval */
const real *mbg__qr_point_rates(const mbg__qr_point *q, const real *kept) {
  return mbg__system_has_late(q->sys) ? NULL : kept + mbg__qr_point_count(q) - q->m->nw;
}

static void take_kept(mbg__qr_point *q, const real *kept, const real **v_star, const real **a) {
  memcpy(q->kept, kept, (size_t)mbg__qr_point_count(q) * sizeof(real));
  *v_star = q->v_star;
  *a = q->a;
}

void mbg__qr_point_again_in_plane(mbg__qr_point *q, real t, const int *turns, const real *kept, const real **v_star,
                                  const real **a) {
  take_time(q, t, turns, true);
  take_kept(q, kept, v_star, a);
}

int mbg__qr_point_again(mbg_context *ctx, mbg__qr_point *q, real t, const mbg__frame *H, const real *v,
                        const int *turns, const real *kept, const real **v_star, const real **a) {
  take_kept(q, kept, v_star, a);
  const int err = begin(ctx, q, t, H, v, turns, !mbg__system_has_late(q->sys));
  q->at = err < 0 ? AT_NOTHING : AT_STATE;
  return err;
}

const real *mbg__qr_point_lambda(mbg__qr_point *q) {
  mbg__qr_point_multipliers(q);
  return q->lambda;
}

double mbg__qr_point_independence(const mbg__qr_point *q, int *row) {
  if (row) {
    *row = q->dependent;
  }
  return q->independence;
}

static void take_rank(mbg__qr_point *q, double independence, int row) {
  q->at = AT_NOTHING;
  q->independence = independence;
  q->dependent = row;
}

void mbg__qr_point_recall(mbg__qr_point *q, double independence, int row) {
  take_rank(q, independence, row);
  mbg__system_residual(q->sys, NULL, q->phi, q->phid, NULL, NULL);
}

void mbg__qr_point_recall_in_plane(mbg__qr_point *q, double independence, int row) {
  take_rank(q, independence, row);
  mbg__plane_values(q->plane, q->F, q->phi, q->phid, q->gamma);
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
  mbg__qr_point_multipliers(q);
  if (q->flat) {
    mbg__plane_state(q->plane, q->H, q->v);
  }
  if (q->at == AT_STATE) {
    mbg__system_complete(q->sys, q->rates ? NULL : q->a, q->lambda);
    q->at = AT_FULL;
    return mbg__system_late(ctx, q->sys, q->a);
  }
  const int err = mbg__system_update(ctx, q->sys, &state);
  q->at = err < 0 ? AT_NOTHING : AT_FULL;
  return err;
}
