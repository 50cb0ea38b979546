/* Derivatives of eigenvalues by the parameters. With right and left vectors (x, xi) and (y, eta),
   F(theta) = y^T (s^2 M + s C + K) x + y^T B^T xi + eta^T B x at fixed s, x, y, and

     ds = -dF / (y^T (2 s M + C) x)          symmetric: d(omega^2) = dF for x^T M x = 1

   F depends on the parameters by the attributes (modes_form.c) and by the state (modes_state_pull.c). */
#include "modes/modes_derivative.h"

/* ---------------------------------------------------------------------- life */

static int take(mbg__modes_derivative *k) {
  const mbg_model *m = k->w->m;
  mbg__arena *arena = &k->arena;
  k->H = MBG_TAKE(arena, double, 12 * (size_t)m->nbody);
  k->v = MBG_TAKE(arena, double, m->nw);
  k->vd = MBG_TAKE(arena, double, m->nw);
  k->lambda = MBG_TAKE(arena, double, m->nrow);
  for (int part = 0; part < 2; part++) {
    k->x[part] = MBG_TAKE(arena, double, m->nw);
    k->dv[part] = MBG_TAKE(arena, double, m->nw);
    k->dvd[part] = MBG_TAKE(arena, double, m->nw);
    k->dlambda[part] = MBG_TAKE(arena, double, m->nrow);
    k->z[part] = MBG_TAKE(arena, double, m->nw);
    k->mu[part] = MBG_TAKE(arena, double, m->nrow);
    k->g.w[part] = MBG_TAKE(arena, real, m->nw);
    k->g.v[part] = MBG_TAKE(arena, real, m->nw);
    k->g.vd[part] = MBG_TAKE(arena, real, m->nw);
    k->g.lambda[part] = MBG_TAKE(arena, real, m->nrow);
    k->g.a[part] = MBG_TAKE(arena, real, m->na);
    k->gw[part] = MBG_TAKE(arena, real, m->nw);
    k->gv[part] = MBG_TAKE(arena, real, m->nw);
    k->gvd[part] = MBG_TAKE(arena, real, m->nw);
    k->dp[part] = MBG_TAKE(arena, double, m->np);
  }
  k->gp = MBG_TAKE(arena, real, m->np);
  k->out.w = MBG_TAKE(arena, double, m->nw);
  k->out.v = MBG_TAKE(arena, double, m->nw);
  k->out.vd = MBG_TAKE(arena, double, m->nw);
  k->out.lambda = MBG_TAKE(arena, double, m->nrow);
  k->out.a = MBG_TAKE(arena, double, m->na);
  k->full = MBG_TAKE(arena, real, m->nw);
  k->full2 = MBG_TAKE(arena, real, m->nw);
  k->row = MBG_TAKE(arena, real, m->nrow);
  k->kkt_w = MBG_TAKE(arena, real, m->nw);
  k->kkt_v = MBG_TAKE(arena, real, m->nw);
  k->kkt_a = MBG_TAKE(arena, real, m->na);
  k->solution = MBG_TAKE(arena, real, k->w->saddle.n);
  k->ends = MBG_TAKE(arena, bool, m->np);
  return mbg__arena_check(k->w->ctx, arena);
}

static void plain(int n, const real *x, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = re(x[i]);
  }
}

static int create_step(mbg__modes_derivative *k) {
  const mbg__modes_work *w = k->w;
  mbg__kernels kernels;
  double *p = MBG_TAKE(&k->arena, double, w->m->np);
  if (mbg__arena_check(w->ctx, &k->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__kernels_here(&kernels);
  plain(w->m->np, w->p, p);
  for (int b = 0; b < w->m->nbody; b++) {
    plain(9, w->H[b].R, k->H + 12 * (size_t)b);
    plain(3, w->H[b].x, k->H + 12 * (size_t)b + 9);
  }
  plain(w->m->nw, w->v, k->v);
  plain(w->m->nw, w->vd, k->vd);
  plain(w->m->nrow, w->lambda, k->lambda);
  return mbg__complex_step_create(w->ctx, w->m, &kernels, p, &k->step);
}

/* ---------------------------------------------------------------------- eigenvalues */

int mbg__modes_scale(const mbg__modes_derivative *k, const mbg__mode *a, const mbg__mode *b, double q[2]) {
  const mbg__modes_work *w = k->w;
  const int nv = w->m->nv;
  double *f = mbg__alloc(w->ctx, (size_t)nv, sizeof(double));
  if (!f) {
    return mbg__fail_memory(w->ctx);
  }
  q[0] = q[1] = 0;
  for (int matrix = 0; matrix < 2; matrix++) {
    if (matrix && w->opt.undamped) {
      continue;
    }
    double sum[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
      mbg__modes_mul(w, matrix ? w->C : w->M, a->x[i], f);
      for (int l = 0; l < 2; l++) {
        const double c = dot(nv, b->y[l], f);
        sum[i == l ? RE : IM] += i && l ? -c : c;
      }
    }
    q[0] += matrix ? sum[0] : 2 * (a->s[0] * sum[0] - a->s[1] * sum[1]);
    q[1] += matrix ? sum[1] : 2 * (a->s[0] * sum[1] + a->s[1] * sum[0]);
  }
  mbg__free(w->ctx, f);
  return MBG_OK;
}

void mbg__modes_divide(const double a[2], const double b[2], double out[2]) {
  const double n = b[0] * b[0] + b[1] * b[1];
  const double re_ = (a[0] * b[0] + a[1] * b[1]) / n, im_ = (a[1] * b[0] - a[0] * b[1]) / n;
  out[0] = re_;
  out[1] = im_;
}

/* symmetric: s^2 = -omega^2 */
static void root(const mbg__mode *mode, double domega2, double ds[2]) {
  ds[0] = mode->s2 > 0 ? -domega2 / (2 * mode->s[0]) : 0;
  ds[1] = mode->s2 < 0 ? domega2 / (2 * mode->s[1]) : 0;
}

void mbg__modes_put_gradient(mbg_modes *modes, int i, int p, const double ds[2]) {
  const mbg_mode *mode = &modes->modes[i];
  const double size = hypot(mode->re, mode->im), dsize = (mode->re * ds[0] + mode->im * ds[1]) / size;
  modes->gradient[0][i][p] = mode->frequency > 0 ? dsize / (2 * M_PI) : 0;
  modes->gradient[1][i][p] = (-ds[0] * size + mode->re * dsize) / (size * size);
  modes->gradient[2][i][p] = ds[0];
  modes->gradient[3][i][p] = ds[1];
}

void mbg__modes_store(const mbg__modes_derivative *k, mbg_modes *modes, int i, int p, const double given[2]) {
  double ds[2] = {given[0], given[1]};
  if (k->w->symmetric) {
    root(&k->w->modes[i], given[0], ds);
  }
  mbg__modes_put_gradient(modes, i, p, ds);
}

static int simple(mbg__modes_derivative *k, mbg_modes *modes, int i) {
  const mbg__modes_work *w = k->w;
  const mbg__mode *mode = &w->modes[i];
  double q[2] = {1, 0};
  int err = MBG_OK;
  MBG_TRY(mbg__modes_form(k, mode, mode));
  MBG_TRY(mbg__modes_state_pull(k));
  if (!w->symmetric) {
    MBG_TRY(mbg__modes_scale(k, mode, mode, q));
  }
  for (int p = 0; p < w->m->np; p++) {
    double ds[2] = {k->dp[RE][p], 0};
    if (!w->symmetric) {
      const double dF[2] = {-k->dp[RE][p], -k->dp[IM][p]};
      mbg__modes_divide(dF, q, ds);
    }
    mbg__modes_store(k, modes, i, p, ds);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

/* no derivatives by parameters that end the equilibrium */
static void leave_out(const mbg__modes_derivative *k, mbg_modes *modes) {
  for (int i = 0; i < k->w->count; i++) {
    for (int p = 0; p < k->w->m->np; p++) {
      for (int what = 0; what < 4 && k->ends[p] && modes->gradient[what][i]; what++) {
        modes->gradient[what][i][p] = NAN;
      }
    }
  }
}

static int check_finite(const mbg__modes_derivative *k, const mbg_modes *modes) {
  for (int i = 0; i < k->w->count; i++) {
    for (int p = 0; p < k->w->m->np; p++) {
      for (int what = 0; what < 4 && modes->gradient[what][i]; what++) {
        if (!isfinite(modes->gradient[what][i][p])) {
          char name[MBG__EXPR_NAME_MAX + 16];
          (void)mbg_model_parameter_name(k->w->m, p, name, sizeof(name));
          return mbg__fail(k->w->ctx, MBG_ERROR_SINGULAR,
                           "the derivative of mode %d by parameter '%s' is not a finite number; check the sizes of "
                           "masses, stiffnesses and coordinates",
                           i + 1, name);
        }
      }
    }
  }
  return MBG_OK;
}

static int all(mbg__modes_derivative *k, mbg_modes *modes) {
  const bool free_motions = k->w->opt.at == MBG_MODES_EQUILIBRIUM && k->w->nzero > 0;
  int err = MBG_OK;
  MBG_TRY(take(k));
  MBG_TRY(mbg__modes_state_zeros(k));
  MBG_TRY(create_step(k));
  MBG_TRY(mbg__modes_state_prepare(k));
  if (free_motions) {
    mbg__modes_state_ends(k);
  }
  for (int i = 0; i < k->w->count; i += modes->modes[i].multiplicity) {
    if (k->w->modes[i].zero) {
      continue;
    }
    MBG_TRY(modes->modes[i].multiplicity == 1 ? simple(k, modes, i)
                                              : mbg__modes_repeated(k, modes, i, modes->modes[i].multiplicity));
  }
  MBG_TRY(check_finite(k, modes));
  if (free_motions) {
    leave_out(k, modes);
  }
done:
  return err;
}

int mbg__modes_gradient(mbg__modes_work *w, mbg_modes *modes) {
  mbg__modes_derivative k = {.w = w};
  mbg__arena_init(&k.arena, mbg__context_allocator(w->ctx));
  const int err = all(&k, modes);
  mbg__complex_step_destroy(k.step);
  mbg__arena_destroy(&k.arena);
  return err;
}
