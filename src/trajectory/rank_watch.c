#include "trajectory/rank_watch_internal.h"

#include "mbgrad/model.h"
#include "system/system_internal.h"

#include <string.h>

enum { ITERATIONS = 12, SUBSTEPS = 24 };
/* dense factors of so many rows and twice as many velocities cost less than sparse ones */
enum { SMALL = 24 };
static const double singular = 1e-7; /* sigma that counts as 0: the rank tolerance; smaller changes are rounding */
static const double share = 0.25;    /* part of sigma by which it may change between samples */
static const double finest = 0.002;  /* ... but not less than this */
static const double aligned = 0.7;   /* cosine of singular vectors that belong together */
static const double certain = 0.9;   /* cosine of vectors that did not change their sign */

/* ---------------------------------------------------------------------- creation */

static void take_arrays(mbg__rank_watch *w) {
  const mbg_model *m = w->m;
  mbg__arena *a = &w->arena;
  w->B = MBG_TAKE(a, real, mbg__csc_count(mbg__system_pattern_B(w->sys)));
  w->length = MBG_TAKE(a, double, m->nrow);
  w->W = MBG_TAKE(a, double, m->nv);
  w->seed = MBG_TAKE(a, double, m->nrow);
  w->z = MBG_TAKE(a, double, m->nrow);
  w->b = MBG_TAKE(a, real, m->nv + m->nrow);
  w->H = MBG_TAKE(a, mbg__frame, m->nbody);
  w->v = MBG_TAKE(a, real, m->nw);
  w->vd = MBG_TAKE(a, real, m->nw);
  w->lambda = MBG_TAKE(a, real, m->nrow);
  w->turns = MBG_TAKE(a, int, m->nturn);
  w->rows = MBG_TAKE(a, real, m->nrow);
  w->ga = MBG_TAKE(a, real, m->na);
  w->gp = MBG_TAKE(a, real, m->np);
  w->dp = MBG_TAKE(a, real, m->np);
  w->column = MBG_TAKE(a, int, m->nrow);
  w->k = MBG_TAKE(a, real, w->rank->nkept);
  w->root = MBG_TAKE(a, double, m->nv);
  w->unit = MBG_TAKE(a, double, w->rank->nkept);
  if (w->small) {
    (void)mbg__householder_prepare(&w->qr, a, m->nv, w->rank->nkept);
  }
  for (int k = 0; k < 2; k++) {
    w->at[k].y = MBG_TAKE(a, double, m->nrow);
    w->at[k].x = MBG_TAKE(a, double, m->nw);
  }
}

static void fill_arrays(mbg__rank_watch *w) {
  mbg__metric_free(w->m, w->W);
  for (int j = 0; j < w->m->nv; j++) {
    w->root[j] = sqrt(w->W[j]);
  }
  for (int i = 0; i < w->m->nrow; i++) {
    const double x = sin(12.9898 * (i + 1)) * 43758.5453;
    w->seed[i] = w->rank->keep[i] ? 2 * (x - floor(x)) - 1 : 0;
    w->column[i] = -1;
  }
  for (int k = 0; k < w->rank->nkept; k++) {
    w->column[w->rank->kept[k]] = k;
  }
}

int mbg__rank_watch_create(mbg_context *ctx, mbg__system *sys, const mbg__rank *rank, mbg__rank_watch **out) {
  int err = MBG_OK;
  *out = NULL;
  if (rank->nkept == 0 || (rank->ndropped == 0 && rank->smallest == 1)) {
    return MBG_OK;
  }
  mbg__rank_watch *w = mbg__alloc_zero(ctx, 1, sizeof(*w));
  if (!w) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&w->arena, mbg__context_allocator(ctx));
  w->m = mbg__system_model(sys);
  w->sys = sys;
  w->rank = rank;
  w->small = rank->nkept <= SMALL && rank->nkept <= w->m->nv && w->m->nv <= 2 * SMALL;
  take_arrays(w);
  MBG_TRY(mbg__arena_check(ctx, &w->arena));
  fill_arrays(w);
  if (!w->small) {
    MBG_TRY(mbg__saddle_create(ctx, &w->arena, sys, 0, NULL, MBG__KLU_FROZEN, &w->saddle));
  }
  mbg__rank_watch_begin(w);
done:
  if (err < 0) {
    mbg__rank_watch_destroy(w);
    w = NULL;
  }
  *out = w;
  return err;
}

void mbg__rank_watch_destroy(mbg__rank_watch *w) {
  if (w) {
    const mbg_allocator allocator = w->arena.allocator;
    mbg__saddle_destroy(&w->saddle);
    mbg__arena_destroy(&w->arena);
    allocator.release(allocator.user, w);
  }
}

void mbg__rank_watch_begin(mbg__rank_watch *w) {
  if (w) {
    w->now = w->count = w->passages = 0;
    w->split = -1;
    w->rate = 0;
    w->next = -INFINITY;
    w->least = INFINITY;
    w->least_row = -1;
  }
}

/* ---------------------------------------------------------------------- smallest singular value */

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

static double normalize(int n, double *a) {
  const double l = sqrt(dot(n, a, a));
  for (int i = 0; l > 0 && i < n; i++) {
    a[i] /= l;
  }
  return l;
}

/* where the factors of W^-1/2 B^T L^-1 expect it */
static mbg__strided place_of_rows(const mbg__rank_watch *w) {
  const mbg__householder *q = &w->qr;
  const size_t m = (size_t)q->m, n = (size_t)q->n, stride = (size_t)q->stride;
  return q->rows ? (mbg__strided){.entries = q->rows, .count = m * stride, .down = stride, .across = 1}
                 : (mbg__strided){.entries = q->A, .count = m * n, .down = 1, .across = m};
}

/* from the rows of the system and their lengths */
static void take_rows(const mbg__rank_watch *w, const mbg__strided *to) {
  const mbg__csc *p = mbg__system_pattern_B(w->sys);
  memset(to->entries, 0, to->count * sizeof(real));
  for (int j = 0; j < p->ncol; j++) {
    for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
      const int row = p->rowind[k], column = w->column[row];
      if (column >= 0 && w->length[row] > 0) {
        to->entries[(size_t)j * to->down + (size_t)column * to->across] = re(w->B[k]) / (w->length[row] * w->root[j]);
      }
    }
  }
}

/* the same of the plane, and the lengths */
static void take_rows_in_plane(mbg__rank_watch *w, const mbg__strided *to) {
  const int n = w->rank->nkept, nv = w->m->nv;
  mbg__plane_columns(w->flat->plane, n, w->rank->kept, to);
  memset(w->length, 0, (size_t)w->m->nrow * sizeof(double));
  memset(w->unit, 0, (size_t)n * sizeof(double));
  for (int j = 0; j < nv; j++) {
    for (int k = 0; k < n; k++) {
      const double x = re(to->entries[(size_t)j * to->down + (size_t)k * to->across]) / w->root[j];
      w->unit[k] += x * x;
      to->entries[(size_t)j * to->down + (size_t)k * to->across] = x;
    }
  }
  for (int k = 0; k < n; k++) {
    const double length = sqrt(w->unit[k]);
    w->length[w->rank->kept[k]] = length;
    w->unit[k] = length > 0 ? 1 / length : 0;
  }
  for (int j = 0; j < nv; j++) {
    for (int k = 0; k < n; k++) {
      to->entries[(size_t)j * to->down + (size_t)k * to->across] *= w->unit[k];
    }
  }
}

/* Q R of rows of unit length; false: singular */
static bool factor_small(mbg__rank_watch *w) {
  mbg__householder *q = &w->qr;
  const mbg__strided to = place_of_rows(w);
  bool regular = true;
  if (w->flat) {
    take_rows_in_plane(w, &to);
  } else {
    take_rows(w, &to);
  }
  if (q->rows) {
    mbg__householder_factor_rows(q);
  } else {
    mbg__householder_factor(q);
  }
  for (int k = 0; k < q->n; k++) {
    regular = regular && re(q->A[(size_t)k * (size_t)q->m + (size_t)k]) != 0;
  }
  return regular;
}

/* Lengths of the rows in W, then the factors of [W B^T; B 0]; false: singular. */
static bool factor(mbg__rank_watch *w) {
  const mbg__csc *p = mbg__system_pattern_B(w->sys);
  if (w->flat) {
    return factor_small(w);
  }
  mbg__system_matrices(w->sys, &(mbg__matrices){.B = w->B});
  memset(w->length, 0, (size_t)w->m->nrow * sizeof(double));
  for (int j = 0; j < p->ncol; j++) {
    for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
      w->length[p->rowind[k]] += re(w->B[k]) * re(w->B[k]) / w->W[j];
    }
  }
  for (int i = 0; i < w->m->nrow; i++) {
    w->length[i] = sqrt(w->length[i]);
  }
  if (w->small) {
    return factor_small(w);
  }
  mbg__saddle_clear(&w->saddle);
  mbg__saddle_add_metric(&w->saddle, 1);
  mbg__saddle_add_rows(&w->saddle, w->B, w->B, w->rank->keep, NULL);
  return mbg__klu_factor(w->saddle.klu, NULL) == MBG_OK;
}

/* sigma by the norms 1/sigma and 1/sigma^2 of u and the next y */
static double sigma_of(double square, double fourth) {
  const double sigma = 1 / sqrt(square), lost = 1 / sqrt(sqrt(fourth));
  return lost < 1e-3 * sigma ? lost : sigma;
}

/* iterate by Q R: W^1/2 u = Q R^-T y, of which b gets R^-T y, and the next y is R^-1 R^-T y */
static double iterate_small(mbg__rank_watch *w, const double *y) {
  const int n = w->rank->nkept;
  double square = 0, fourth = 0;
  for (int k = 0; k < n; k++) {
    w->k[k] = y[w->rank->kept[k]];
  }
  mbg__householder_solve_T(&w->qr, w->k);
  for (int k = 0; k < n; k++) {
    w->b[k] = w->k[k];
    square += re(w->k[k]) * re(w->k[k]);
  }
  mbg__householder_solve(&w->qr, w->k);
  memset(w->z, 0, (size_t)w->m->nrow * sizeof(double));
  for (int k = 0; k < n; k++) {
    w->z[w->rank->kept[k]] = re(w->k[k]);
    fourth += re(w->k[k]) * re(w->k[k]);
  }
  return sigma_of(square, fourth);
}

/* One inverse iteration: u = W^-1 B^T S^-1 L y in b, S = B W^-1 B^T, and the next y in z. The norm of u is 1/sigma, and
   that of z is 1/sigma^2. At a singular position to rounding B^T S^-1 L y is 0 times infinity: z tells. */
static double iterate(mbg__rank_watch *w, const double *y) {
  const int nv = w->m->nv, nrow = w->m->nrow;
  double square = 0, fourth = 0;
  if (w->small) {
    return iterate_small(w, y);
  }
  for (int i = 0; i < nv + nrow; i++) {
    w->b[i] = i < nv ? 0 : w->length[i - nv] * y[i - nv];
  }
  mbg__klu_solve(w->saddle.klu, w->b, 1);
  for (int j = 0; j < nv; j++) {
    square += w->W[j] * re(w->b[j]) * re(w->b[j]);
  }
  for (int i = 0; i < nrow; i++) {
    w->z[i] = w->rank->keep[i] ? -w->length[i] * (double)re(w->b[nv + i]) : 0;
    fourth += w->z[i] * w->z[i];
  }
  return sigma_of(square, fourth);
}

/* u from R^-T y */
static void finish_small(mbg__rank_watch *w) {
  vn_zero(w->m->nv - w->rank->nkept, w->b + w->rank->nkept);
  mbg__householder_mul(&w->qr, w->b, 1);
  for (int j = 0; j < w->m->nv; j++) {
    w->b[j] /= w->root[j];
  }
}

/* the axes of a body */
static void axes_of(const mbg__rank_watch *w, int body, double R[9]) {
  const real *h = w->flat ? mbg__plane_frames(w->flat->plane) + 4 * (size_t)body : NULL;
  for (int i = 0; !h && i < 9; i++) {
    R[i] = re(w->sys->H[body].R[i]);
  }
  if (h) {
    const double turn[9] = {re(h[0]), -re(h[1]), 0, re(h[1]), re(h[0]), 0, 0, 0, 1};
    memcpy(R, turn, sizeof(turn));
  }
}

/* x, of unit length in W, turned into world axes */
static void take_velocities(mbg__rank_watch *w, double sigma, double *x) {
  const mbg_model *m = w->m;
  if (w->small) {
    finish_small(w);
  }
  memset(x, 0, (size_t)m->nw * sizeof(double));
  for (int j = 0; j < m->nv; j++) {
    x[m->full[j]] = sigma * w->root[j] * re(w->b[j]);
  }
  for (int b = 0; b < m->nbody; b++) {
    double R[9];
    axes_of(w, b, R);
    for (int part = 0; m->bodies[b].nvel == 6 && part < 6; part += 3) {
      double *a = x + m->bodies[b].voff + part;
      const double c[3] = {a[0], a[1], a[2]};
      for (int i = 0; i < 3; i++) {
        a[i] = R[3 * i] * c[0] + R[3 * i + 1] * c[1] + R[3 * i + 2] * c[2];
      }
    }
  }
}

static void keep_least(mbg__rank_watch *w, double t, double sigma, int row) {
  if (sigma < w->least) {
    w->least = sigma;
    w->least_t = t;
    w->least_row = row;
  }
}

/* the sample at t, where the system is; `last` (NULL: none) gives its vectors their start */
static void measure(mbg__rank_watch *w, double t, const mbg__rank_sample *last, mbg__rank_sample *out) {
  const int nrow = w->m->nrow;
  out->t = t;
  out->sharp = false;
  for (int i = 0; i < nrow; i++) {
    out->y[i] = (last ? last->y[i] : 0) + (last ? 0.1 : 1) * w->seed[i];
  }
  (void)normalize(nrow, out->y);
  if (!factor(w)) {
    out->sigma = 0;
    memcpy(out->y, last ? last->y : w->seed, (size_t)nrow * sizeof(double));
    memset(out->x, 0, (size_t)w->m->nw * sizeof(double));
    return;
  }
  for (int it = 0; it < ITERATIONS && !out->sharp; it++) {
    out->sigma = iterate(w, out->y);
    (void)normalize(nrow, w->z);
    out->sharp = fabs(dot(nrow, w->z, out->y)) > 1 - 1e-6;
    memcpy(out->y, w->z, (size_t)nrow * sizeof(double));
  }
  take_velocities(w, out->sigma, out->x);
}

/* ---------------------------------------------------------------------- a passage */

/* At a singular position y.B = 0. A change of a parameter keeps the position in the motion only if y.phi_p = 0, too:
   otherwise the branches that meet there come apart, and the motion after it does not depend on p smoothly. */
static int check_parameters(mbg_context *ctx, mbg__rank_watch *w, const mbg__rank_sample *s, double when) {
  const mbg_model *m = w->m;
  const mbg__design *design = mbg__system_design(w->sys);
  const double most = fmax(0.02, 5 * s->sigma); /* y is that of a neighbouring position */
  int err = MBG_OK;
  MBG_TRY(mbg__system_linearize(ctx, w->sys));
  memset(w->ga, 0, (size_t)m->na * sizeof(real));
  memset(w->gp, 0, (size_t)m->np * sizeof(real));
  for (int i = 0; i < m->nrow; i++) {
    w->rows[i] = w->rank->keep[i] && w->length[i] > 0 ? s->y[i] / w->length[i] : 0;
  }
  mbg__system_pull(w->sys, NULL, w->rows, NULL, NULL, NULL, NULL, NULL, NULL, w->ga);
  mbg__design_pull(design, w->ga, w->gp);
  for (int p = 0; p < m->np && w->split < 0; p++) {
    const double change = fabs(re(w->gp[p]));
    double square = 0;
    if (change == 0) {
      continue;
    }
    memset(w->dp, 0, (size_t)m->np * sizeof(real));
    w->dp[p] = 1;
    mbg__design_push(design, w->dp, w->ga);
    mbg__system_push(w->sys, &(mbg__direction){.da = w->ga}, NULL, w->rows, NULL, NULL);
    for (int i = 0; i < m->nrow; i++) {
      const double x = w->rank->keep[i] && w->length[i] > 0 ? (double)re(w->rows[i]) / w->length[i] : 0;
      square += x * x;
    }
    if (change > most * sqrt(square)) {
      w->split = p;
      w->split_t = when;
    }
  }
done:
  return err;
}

/* after a sample behind a singular position, with the system at its time */
static int pass(mbg_context *ctx, mbg__rank_watch *w, const mbg__rank_sample *last, const mbg__rank_sample *s) {
  const double y = dot(w->m->nrow, last->y, s->y), x = dot(w->m->nw, last->x, s->x);
  const double when = last->t + (s->t - last->t) * last->sigma / (last->sigma + s->sigma);
  const int row = mbg__rank_watch_row(w, s->y);
  if (w->passages++ == 0) {
    w->when = when;
    w->passed_row = row;
  }
  if (x * y > certain * certain) {
    char label[160];
    mbg__row_label(w->m, row, label, sizeof(label));
    return mbg__fail(
        ctx, MBG_ERROR_SINGULAR,
        "t = %.6g: the run left its branch in a singular position: %s depends on the other constraints, and "
        "the mechanism went on with other velocities than it came with; take another step or formulation, "
        "choose dimensions or initial values that avoid the position, or add a constraint that keeps the "
        "branch",
        mbg__time_shown(when), label);
  }
  return check_parameters(ctx, w, s, when);
}

/* ---------------------------------------------------------------------- samples of a run */

/* Has sigma gone through 0 since the last sample? Then it falls to 0 at the rate it had and rises as fast again; its
   signed value goes on along a line, on whichever branch the run has left. */
static bool went_through(const mbg__rank_watch *w, const mbg__rank_sample *last, const mbg__rank_sample *s) {
  const double y = dot(w->m->nrow, last->y, s->y), x = dot(w->m->nw, last->x, s->x);
  const double signed_ = last->sigma + w->rate * (s->t - last->t);
  return w->count > 1 && last->sharp && s->sharp && fabs(y) > aligned && fabs(x) > aligned && signed_ < 0 &&
         fabs(s->sigma + signed_) < 0.5 * fmax(s->sigma, -signed_);
}

/* A sample at t, where the system is. The sign of one beside the singular position is not clear: what follows is
   compared with the sample before. */
static int look(mbg_context *ctx, mbg__rank_watch *w, double t) {
  const mbg__rank_sample *last = w->count > 0 ? &w->at[w->now] : NULL;
  mbg__rank_sample *s = &w->at[!w->now];
  int err = MBG_OK;
  measure(w, t, last, s);
  keep_least(w, t, s->sigma, mbg__rank_watch_row(w, s->y));
  if (last && last->sigma - s->sigma > singular && s->sigma < fmax(singular, fmin(finest, 0.1 * last->sigma))) {
    w->next = t + 0.5 * (t - last->t);
    return MBG_OK;
  }
  w->now = !w->now;
  if (last) {
    const bool through = went_through(w, last, s);
    const double dt = t - last->t, change = through ? s->sigma + last->sigma : s->sigma - last->sigma;
    w->rate = fabs(change) > singular ? change / dt : 0;
    w->next = t + fmin(fmax(share * s->sigma, finest) / fabs(w->rate), 2 * dt);
    MBG_TRY(through && w->flat ? w->flat->place_system(w->flat->user, t) : MBG_OK);
    MBG_TRY(through ? pass(ctx, w, last, s) : MBG_OK);
  }
  w->count++;
done:
  return err;
}

static void keep_state(mbg__rank_watch *w) {
  const mbg__system *s = w->sys;
  memcpy(w->H, s->H, (size_t)w->m->nbody * sizeof(*w->H));
  memcpy(w->v, s->v, (size_t)w->m->nw * sizeof(real));
  memcpy(w->vd, s->vd, (size_t)w->m->nw * sizeof(real));
  memcpy(w->lambda, s->lambda, (size_t)w->m->nrow * sizeof(real));
  memcpy(w->turns, s->turns, (size_t)w->m->nturn * sizeof(int));
}

/* a sample at t, where the system is, with all rows; tree formulations leave some out */
static int look_at(mbg_context *ctx, mbg__rank_watch *w, double t) {
  const bool *rows = w->sys->rows;
  mbg__state state;
  int err = MBG_OK;
  if (rows) {
    keep_state(w);
    state = (mbg__state){.t = w->sys->t, .H = w->H, .v = w->v, .turns = w->turns};
    MBG_TRY(mbg__system_update_bare(ctx, w->sys, &state));
  }
  MBG_TRY(look(ctx, w, t));
  if (rows) {
    state.vd = w->vd;
    state.lambda = w->lambda;
    state.rows = rows;
    MBG_TRY(mbg__system_update(ctx, w->sys, &state));
  }
done:
  return err;
}

bool mbg__rank_watch_due(const mbg__rank_watch *w, double t0, double t1) {
  return w && (w->count < 2 || t1 >= w->next - 0.5 * (t1 - t0));
}

int mbg__rank_watch_step(mbg_context *ctx, mbg__rank_watch *w, double t0, double t1, mbg__rank_watch_place place,
                         void *user) {
  int err = MBG_OK;
  bool moved = false;
  if (!w) {
    return MBG_OK;
  }
  for (int k = 0; place && w->count > 0 && k < SUBSTEPS; k++) {
    const double t = w->count == 1 ? t0 + 0.1 * (t1 - t0) : fmax(w->next, t0);
    if (!(t < t0 + 0.9 * (t1 - t0))) {
      break;
    }
    if (t > w->at[w->now].t) {
      MBG_TRY(place(user, t));
      MBG_TRY(look_at(ctx, w, t));
      moved = true;
    }
  }
  if (moved) {
    MBG_TRY(place(user, t1));
  }
  if (mbg__rank_watch_due(w, t0, t1)) {
    MBG_TRY(look_at(ctx, w, t1));
  }
done:
  return err;
}

bool mbg__rank_watch_small(const mbg__rank_watch *w) { return !w || w->small; }

int mbg__rank_watch_step_in_plane(mbg_context *ctx, mbg__rank_watch *w, double t0, double t1,
                                  const mbg__rank_watch_plane *flat) {
  if (!w) {
    return MBG_OK;
  }
  w->flat = flat;
  const int err = mbg__rank_watch_step(ctx, w, t0, t1, flat->place, flat->user);
  w->flat = NULL;
  return err;
}
