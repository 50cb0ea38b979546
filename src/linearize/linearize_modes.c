/* Modes of a model with constraints on rates: eigenvalues of its linear model (theory 8, section 7). Positions have
   more freedoms than rates, so that there is no problem of second order, s^2 M + s C + K. Eigenvalues 0 are taken out
   first (linearize_null.c). Shapes are the lifts of the eigenvectors, derivatives those of A: ds = y^H dA x / y^H x. */
#include "linearize/linearize.h"

#include "math/spectrum.h"

typedef struct {
  mbg__linearize_work k;
  mbg_linearize *linear;
  int n, nzero;
  double *A; /* by columns (n x n) */
  mbg__linear_null null;
  double *wr, *wi;  /* eigenvalues of R (rest) */
  double *X, *Y;    /* vectors of A for them, as dgeev stores them (n x rest) */
  int *order;       /* first columns of eigenvalues by size (w->count - nzero) */
  double *small[2]; /* vectors of R (rest x rest) */
  double *S, *x;    /* complex scratch (2 nzero^2, 2 n) */
} rolling;

static int begin(rolling *r, const mbg__modes_work *asked) {
  mbg__linearize_work *k = &r->k;
  int err = MBG_OK;
  if (asked->opt.undamped) {
    return mbg__fail(k->ctx, MBG_ERROR_INPUT,
                     "modes with constraints on rates keep their damping; leave 'undamped' out");
  }
  k->given = asked->given;
  (void)mbg__linearize_options_take(k->ctx, NULL, &k->opt);
  k->opt.at = asked->opt.at == MBG_MODES_STEADY ? MBG_LINEARIZE_STEADY : MBG_LINEARIZE_START;
  k->opt.ninput = k->opt.noutput = 0;
  k->opt.gradient = asked->opt.gradient;
  k->p = MBG_TAKE(&k->arena, real, k->given->np);
  MBG_TRY(mbg__arena_check(k->ctx, &k->arena));
  for (int i = 0; i < k->given->np; i++) {
    k->p[i] = asked->opt.parameters ? asked->opt.parameters[i] : k->given->p[i];
  }
  MBG_TRY(mbg__linearize_solve(k));
  MBG_TRY(mbg__linearize_object(k, &r->linear));
  k->at.opt = asked->opt;
  mbg__system_matrices(k->at.sys, &(mbg__matrices){.M = k->at.M});
done:
  return err;
}

static int take_memory(rolling *r) {
  mbg__arena *arena = &r->k.arena;
  const size_t n = (size_t)r->n;
  r->A = MBG_TAKE(arena, double, n *n);
  r->wr = MBG_TAKE(arena, double, n);
  r->wi = MBG_TAKE(arena, double, n);
  r->X = MBG_TAKE(arena, double, n *n);
  r->Y = MBG_TAKE(arena, double, n *n);
  r->small[0] = MBG_TAKE(arena, double, n *n);
  r->small[1] = MBG_TAKE(arena, double, n *n);
  r->S = MBG_TAKE(arena, double, 2 * n * n);
  r->x = MBG_TAKE(arena, double, 2 * n);
  r->order = MBG_TAKE(arena, int, n);
  return mbg__arena_check(r->k.ctx, arena);
}

/* left vectors of A: D^-2 T y */
static void left_vector(rolling *r, int i) {
  double *y = column(r->Y, r->n, i);
  for (int c = 0; c < r->null.rest; c++) {
    axpy(r->n, column(r->small[0], r->null.rest, i)[c], column(r->null.T, r->n, c), y);
  }
  for (int j = 0; j < r->n; j++) {
    y[j] /= r->null.d[j] * r->null.d[j];
  }
}

/* entry i of Z^+ A x = Z^T D^-2 A x */
static double along_null(const rolling *r, int i, const double *x) {
  double sum = 0;
  for (int j = 0; j < r->n; j++) {
    double own = 0;
    for (int c = 0; c < r->n; c++) {
      own += column(r->A, r->n, c)[j] * x[c];
    }
    sum += column(r->null.Z, r->n, i)[j] / (r->null.d[j] * r->null.d[j]) * own;
  }
  return sum;
}

/* right vectors of A: T y + Z u, (s - N) u = X y; i: the first column of a pair, or a single one */
static int right_vector(rolling *r, int i) {
  const int n = r->n, rest = r->null.rest, parts = r->wi[i] > 0 ? 2 : 1;
  for (int part = 0; part < parts; part++) {
    for (int c = 0; c < rest; c++) {
      axpy(n, column(r->small[1], rest, i + part)[c], column(r->null.T, n, c), column(r->X, n, i + part));
    }
  }
  for (int a = 0; a < r->nzero; a++) {
    for (int b = 0; b < r->nzero; b++) {
      double *S = r->S + 2 * (a + r->nzero * b);
      S[0] = (a == b ? r->wr[i] : 0) - along_null(r, a, column(r->null.Z, n, b));
      S[1] = a == b ? r->wi[i] : 0;
    }
    for (int part = 0; part < 2; part++) {
      r->x[2 * a + part] = part < parts ? along_null(r, a, column(r->X, n, i + part)) : 0;
    }
  }
  const int err = r->nzero > 0 ? mbg__solve_complex(r->k.ctx, r->nzero, r->S, 1, r->x) : MBG_OK;
  for (int a = 0; a < r->nzero && err == MBG_OK; a++) {
    for (int part = 0; part < parts; part++) {
      axpy(n, r->x[2 * a + part], column(r->null.Z, n, a), column(r->X, n, i + part));
    }
  }
  return err < 0 ? mbg__modes_not_found(&r->k.at, err) : MBG_OK;
}

static int eigen(rolling *r) {
  mbg__linearize_work *k = &r->k;
  int err = MBG_OK;
  r->n = k->linear.n;
  MBG_TRY(take_memory(r));
  for (int i = 0; i < r->n; i++) {
    for (int j = 0; j < r->n; j++) {
      column(r->A, r->n, j)[i] = re(k->linear.A[i * r->n + j]);
    }
  }
  MBG_TRY(mbg__linearize_null(k->ctx, &k->arena, r->n, r->A, &r->null));
  r->nzero = r->n - r->null.rest;
  if (r->null.rest > 0) {
    err = mbg__eigen_general(k->ctx, r->null.rest, r->null.R, r->wr, r->wi, r->small[0], r->small[1]);
    MBG_TRY(err < 0 ? mbg__modes_not_found(&k->at, err) : MBG_OK);
  }
  for (int i = 0; i < r->null.rest; i++) {
    left_vector(r, i);
    MBG_TRY(r->wi[i] >= 0 ? right_vector(r, i) : MBG_OK);
  }
done:
  return err;
}

static double size_of(const rolling *r, int i) { return hypot(r->wr[i], r->wi[i]); }

/* eigenvalues in ascending order, one of a pair; how many modes with those that are 0 */
static int sort(rolling *r) {
  int rest = 0;
  for (int i = 0; i < r->null.rest; i++) {
    int at = rest;
    if (r->wi[i] < 0) {
      continue;
    }
    for (; at > 0 && size_of(r, r->order[at - 1]) > size_of(r, i); at--) {
      r->order[at] = r->order[at - 1];
    }
    r->order[at] = i;
    rest++;
  }
  return r->nzero + (rest < r->k.at.opt.count ? rest : r->k.at.opt.count);
}

/* motion of the bodies (nv) along a vector over the states */
static double *lifted(rolling *r, const double *x) {
  const mbg__linearize_work *k = &r->k;
  const mbg_model *m = k->at.m;
  double *out = MBG_TAKE(&r->k.arena, double, m->nv);
  for (int c = 0; out && c < r->n; c++) {
    const real *w = k->linear.w + (size_t)m->nw * (size_t)c;
    for (int j = 0; j < m->nv; j++) {
      out[j] += x[c] * re(w[m->full[j]]);
    }
  }
  return out;
}

static int make_modes(rolling *r) {
  mbg__modes_work *w = &r->k.at;
  w->count = sort(r);
  w->modes = MBG_TAKE(&r->k.arena, mbg__mode, w->count);
  if (mbg__arena_check(r->k.ctx, &r->k.arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < w->count; i++) {
    mbg__mode *mode = &w->modes[i];
    const int at = i < r->nzero ? -1 : r->order[i - r->nzero];
    mode->zero = at < 0;
    mode->s[0] = at < 0 ? 0 : r->wr[at];
    mode->s[1] = at < 0 ? 0 : r->wi[at];
    mode->x[0] = lifted(r, at < 0 ? column(r->null.Z, r->n, i) : column(r->X, r->n, at));
    mode->x[1] = mode->s[1] > 0 ? lifted(r, column(r->X, r->n, at + 1)) : NULL;
  }
  w->n = mbg__linear_rates(&r->k.spec) + w->m->nstate;
  w->solver = "dense";
  return mbg__arena_check(r->k.ctx, &r->k.arena);
}

/* y^H dA x, dA by rows; NULL: the unit matrix */
static void product(const rolling *r, int at, const double *dA, double out[2]) {
  const int n = r->n, pair = r->wi[at] > 0 ? at + 1 : -1;
  const double *x[2] = {column(r->X, n, at), pair < 0 ? NULL : column(r->X, n, pair)};
  const double *y[2] = {column(r->Y, n, at), pair < 0 ? NULL : column(r->Y, n, pair)};
  out[0] = out[1] = 0;
  for (int i = 0; i < n; i++) {
    double a[2] = {0, 0};
    for (int part = 0; part < 2 && x[part]; part++) {
      a[part] = dA ? dot(n, dA + (size_t)i * (size_t)n, x[part]) : x[part][i];
    }
    out[0] += y[0][i] * a[0] + (y[1] ? y[1][i] * a[1] : 0);
    out[1] += y[0][i] * a[1] - (y[1] ? y[1][i] * a[0] : 0);
  }
}

static int derivatives(rolling *r, mbg_modes *modes) {
  const mbg__modes_work *w = &r->k.at;
  const int err = mbg__linearize_derivatives(&r->k, r->linear);
  for (int i = r->nzero; err == MBG_OK && i < w->count; i++) {
    const int at = r->order[i - r->nzero];
    double down[2], up[2];
    product(r, at, NULL, down);
    const double size = down[0] * down[0] + down[1] * down[1];
    for (int p = 0; p < w->m->np; p++) {
      product(r, at, mbg_linearize_derivative(r->linear, 'A', p), up);
      const double ds[2] = {(up[0] * down[0] + up[1] * down[1]) / size, (up[1] * down[0] - up[0] * down[1]) / size};
      const double none[2] = {NAN, NAN};
      mbg__modes_put_gradient(modes, i, p, modes->modes[i].multiplicity > 1 ? none : ds);
    }
  }
  return err;
}

int mbg__modes_rolling(const mbg__modes_work *asked, mbg_modes *modes) {
  rolling r = {.k.ctx = asked->ctx};
  int err = MBG_OK;
  mbg__arena_init(&r.k.arena, mbg__context_allocator(asked->ctx));
  MBG_TRY(begin(&r, asked));
  MBG_TRY(eigen(&r));
  MBG_TRY(make_modes(&r));
  MBG_TRY(mbg__modes_list(&r.k.at, modes));
  modes->summary.position_freedoms = mbg__linear_places(&r.k.spec);
  if (asked->opt.gradient) {
    MBG_TRY(mbg__modes_room_gradient(&r.k.at, modes));
    MBG_TRY(derivatives(&r, modes));
  }
done:
  mbg_linearize_destroy(r.linear);
  mbg__linearize_end(&r.k);
  return err;
}
