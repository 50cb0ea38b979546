/* Second derivatives of frequencies and damping ratios: differences of fourth order of the exact gradients,

     H e_k = (8 (g(p + h e_k) - g(p - h e_k)) - g(p + 2h e_k) + g(p - 2h e_k)) / (12 h)

   Stiffness is the derivative of forces already, so that exact second derivatives of an eigenvalue would need third
   ones of every force. With h = 1e-3 of a parameter truncation (h^4) and rounding (1e-13 / h) are both near 1e-10. */
#include "modes/modes.h"

static const double relative_step = 1e-3;
/* a displaced mode is the one nearest to its prediction, if the next one is this much farther away */
static const double clear_of_others = 4;

typedef struct {
  mbg_context *ctx;
  const mbg_model *model;
  mbg_modes_options opt;
  const mbg_modes *nominal;
  int count, n;
  const int *parameter; /* (n) */
  double *p;            /* (np) */
  double *H[2];         /* of frequencies, of damping ratios; NULL: not asked (count x n x n) */
} second;

/* ---------------------------------------------------------------------- the same mode elsewhere */

static double distance(const mbg_mode *m, const double s[2]) { return hypot(m->re - s[0], m->im - s[1]); }

/* the mode that mode i becomes when parameter p changes by `step`; -1: none, or several may be it */
static int match(const second *w, const mbg_modes *moved, int i, int p, double step) {
  const mbg_mode *m = mbg_modes_get_mode(w->nominal, i);
  const double *re = mbg_modes_eigenvalue_gradient(w->nominal, i, 0);
  const double *im = mbg_modes_eigenvalue_gradient(w->nominal, i, 1);
  if (!re || !im || m->multiplicity > 1) {
    return -1;
  }
  const double s[2] = {m->re + step * re[p], m->im + step * im[p]};
  double nearest = INFINITY, next = INFINITY;
  int found = -1;
  for (int j = 0; j < mbg_modes_get_summary(moved)->count; j++) {
    const double d = distance(mbg_modes_get_mode(moved, j), s);
    if (d < nearest) {
      next = nearest;
      nearest = d;
      found = j;
    } else {
      next = fmin(next, d);
    }
  }
  return clear_of_others * nearest < next ? found : -1;
}

/* ---------------------------------------------------------------------- columns */

static const double *gradient_of(const mbg_modes *modes, int i, int kind) {
  return kind ? mbg_modes_damping_gradient(modes, i) : mbg_modes_frequency_gradient(modes, i);
}

/* column k of all matrices += factor times the gradients at p + step e_k */
static int add_gradients(const second *w, int k, double step, double factor) {
  const int p = w->parameter[k], mark = mbg__message_mark(w->ctx);
  const double before = w->p[p];
  mbg_modes *moved = NULL;
  w->p[p] += step;
  const int err = mbg_modes_create(w->ctx, w->model, &w->opt, &moved);
  w->p[p] = before;
  if (err < 0) {
    return err;
  }
  mbg__message_rewind(w->ctx, mark); /* the nominal point has given its notes already */
  for (int i = 0; i < w->count; i++) {
    const int j = match(w, moved, i, p, step);
    for (int kind = 0; kind < 2; kind++) {
      const double *g = j < 0 ? NULL : gradient_of(moved, j, kind);
      for (int l = 0; w->H[kind] && l < w->n; l++) {
        const size_t at = ((size_t)i * (size_t)w->n + (size_t)l) * (size_t)w->n + (size_t)k;
        w->H[kind][at] += g ? factor * g[w->parameter[l]] : NAN;
      }
    }
  }
  mbg_modes_destroy(moved);
  return MBG_OK;
}

static int add_column(const second *w, int k) {
  static const struct { double at, weight; } points[] = {{1, 8}, {-1, -8}, {2, -1}, {-2, 1}};
  const double size = fabs(w->p[w->parameter[k]]), h = relative_step * (size > 0 ? size : 1);
  int err = MBG_OK;
  for (int i = 0; i < MBG_COUNT(points) && err == MBG_OK; i++) {
    err = add_gradients(w, k, points[i].at * h, points[i].weight / (12 * h));
  }
  return err;
}

/* the mean of both halves; their largest difference beside the largest entry, in units of the parameters' sizes */
static double symmetrize(const second *w, double *H) {
  double away = 0, size = 0;
  for (int i = 0; i < w->n; i++) {
    for (int j = 0; j <= i; j++) {
      double *a = &H[(size_t)i * (size_t)w->n + (size_t)j], *b = &H[(size_t)j * (size_t)w->n + (size_t)i];
      const double x = fabs(w->p[w->parameter[i]]), y = fabs(w->p[w->parameter[j]]);
      const double scale = (x > 0 ? x : 1) * (y > 0 ? y : 1);
      away = fmax(away, scale * fabs(*a - *b));
      size = fmax(size, scale * fmax(fabs(*a), fabs(*b)));
      *a = *b = (*a + *b) / 2;
    }
  }
  return size > 0 ? away / size : 0;
}

/* ---------------------------------------------------------------------- entry */

static int check(mbg_context *ctx, const mbg_model *model, int n, const int *parameter) {
  for (int k = 0; k < n; k++) {
    if (parameter[k] < 0 || parameter[k] >= model->np) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "there is no parameter %d: expected 0 to %d", parameter[k], model->np - 1);
    }
  }
  return MBG_OK;
}

static int prepare(second *w, const mbg_modes_options *options) {
  mbg_modes_options_default(&w->opt, sizeof(w->opt));
  const int err = mbg__options_take(w->ctx, "modes", options, &w->opt, sizeof(w->opt));
  if (err < 0) {
    return err;
  }
  w->p = mbg__alloc(w->ctx, (size_t)w->model->np + 1, sizeof(double));
  if (!w->p) {
    return mbg__fail_memory(w->ctx);
  }
  for (int i = 0; i < w->model->np; i++) {
    w->p[i] = w->opt.parameters ? w->opt.parameters[i] : w->model->p[i];
  }
  w->opt.parameters = w->p;
  w->opt.gradient = true;
  w->opt.count = w->count + 2; /* a mode may leave the lowest ones */
  for (int kind = 0; kind < 2; kind++) {
    for (size_t i = 0; w->H[kind] && i < (size_t)w->count * (size_t)w->n * (size_t)w->n; i++) {
      w->H[kind][i] = 0;
    }
  }
  return MBG_OK;
}

static double symmetrize_all(const second *w) {
  double worst = 0;
  for (int kind = 0; kind < 2; kind++) {
    for (int i = 0; w->H[kind] && i < w->count; i++) {
      worst = fmax(worst, symmetrize(w, w->H[kind] + (size_t)i * (size_t)w->n * (size_t)w->n));
    }
  }
  return worst;
}

int mbg_modes_hessian(mbg_context *ctx, const mbg_modes *modes, const mbg_modes_options *options, int n,
                      const int *parameters, double *frequency, double *damping, double *asymmetry) {
  MBG_NEED(ctx, ctx && modes && (n == 0 || parameters) && n >= 0);
  if (!modes->summary.gradient) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "second derivatives need modes with gradients: set the option `gradient`");
  }
  int err = check(ctx, modes->model, n, parameters);
  if (err < 0) {
    return err;
  }
  second w = {.ctx = ctx, .model = modes->model, .nominal = modes, .n = n, .parameter = parameters};
  w.H[0] = frequency;
  w.H[1] = damping;
  w.count = modes->summary.count;
  err = prepare(&w, options);
  for (int k = 0; k < n && err == MBG_OK; k++) {
    err = add_column(&w, k);
  }
  if (err == MBG_OK) {
    const double away = symmetrize_all(&w);
    if (asymmetry) {
      *asymmetry = away;
    }
  }
  mbg__free(ctx, w.p);
  return err;
}
