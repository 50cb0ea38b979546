/* The report of a fit: standard errors, correlations, undetermined combinations, residuals of the channels. */
#include "math/svd.h"
#include "problems/identify.h"
#include "run/run.h"

#include <stdio.h>
#include <string.h>

/* singular values relative to the largest: undetermined below the first, weakly determined below the second */
static const double NOTHING = 1e-8, HARDLY = 1e-4;

typedef struct {
  mbg_context *ctx;
  mbg_identify *id;
  int n, free;        /* unknowns; unknowns not at a bound */
  int *of;            /* unknown of free column k                                      (n) */
  double *length;     /* of the columns of J                                           (n) */
  double *A, *V, *s;  /* scaled T, its right singular vectors and values               (free x free) */
  double *covariance; /* of the parameters, NAN: undetermined                          (n x n) */
  int null;           /* number of vanishing singular values, which are the last ones */
} report;

/* ---------------------------------------------------------------------- preparation */

static int take(report *r) {
  const size_t n = (size_t)r->n;
  r->of = mbg__alloc_zero(r->ctx, n, sizeof(int));
  r->length = mbg__alloc_zero(r->ctx, n + 3 * n * n + n, sizeof(double));
  if (!r->of || !r->length) {
    return mbg__fail_memory(r->ctx);
  }
  r->A = r->length + n;
  r->V = r->A + n * n;
  r->covariance = r->V + n * n;
  r->s = r->covariance + n * n;
  return MBG_OK;
}

static double chain(const report *r, int i) { return r->id->log[i] ? mbg__identify_p(r->id, i, r->id->x[i]) : 1; }

/* values, bounds and free columns; a column of length zero counts as free */
static void take_values(report *r) {
  mbg_identify *id = r->id;
  for (int i = 0; i < r->n; i++) {
    mbg_identify_parameter *p = &id->parameter[i];
    p->value = mbg__identify_p(id, i, id->x[i]);
    p->at_bound = id->x[i] <= id->lower[i] ? -1 : id->x[i] >= id->upper[i] ? 1 : 0;
    p->determined = true;
    p->standard_error = p->hessian_error = NAN;
    /* exp(ln p) may be off the bound by rounding */
    p->value = p->at_bound < 0 ? p->min : p->at_bound > 0 ? p->max : p->value;
    double sum = 0;
    for (int k = 0; k < r->n; k++) {
      sum += id->T[k + r->n * i] * id->T[k + r->n * i];
    }
    r->length[i] = sqrt(sum);
    if (p->at_bound == 0) {
      r->of[r->free++] = i;
    }
  }
}

/* columns without effect on the residuals compared to the others, at typical changes */
static void drop_empty(report *r) {
  double most = 0;
  for (int i = 0; i < r->n; i++) {
    most = fmax(most, r->length[i] * r->id->typical[i]);
  }
  for (int i = 0; i < r->n; i++) {
    r->length[i] = r->length[i] * r->id->typical[i] > 1e-12 * most ? r->length[i] : 0;
  }
}

/* ---------------------------------------------------------------------- singular values */

/* of T with columns of length 1, without columns at bounds: n x f, reduced to f x f by QR */
static int decompose(report *r) {
  const int n = r->n, f = r->free;
  mbg__arena arena;
  mbg__qr qr;
  mbg__arena_init(&arena, mbg__context_allocator(r->ctx));
  int err = f > 0 ? mbg__qr_prepare(&qr, &arena, n, f) : MBG_OK;
  if (err == MBG_OK && f > 0) {
    for (int k = 0; k < f; k++) {
      const double length = r->length[r->of[k]];
      for (int j = 0; j < n; j++) {
        qr.A[j + n * k] = length > 0 ? r->id->T[j + n * r->of[k]] / length : 0;
      }
    }
    err = mbg__qr_factor(&qr);
    for (int k = 0; err == MBG_OK && k < f; k++) {
      for (int j = 0; j < f; j++) {
        r->A[j + f * qr.column[k]] = j <= k ? qr.A[j + n * k] : 0;
      }
    }
  }
  mbg__arena_destroy(&arena);
  if (err == MBG_OK) {
    err = mbg__svd(r->ctx, f, r->A, r->s, r->V);
  }
  return err == MBG_OK             ? MBG_OK
         : err == MBG_ERROR_MEMORY ? mbg__fail_memory(r->ctx)
                                   : mbg__fail(r->ctx, err, "the singular values of the Jacobian were not found");
}

/* covariance of the parameters: variance * chain V s^-2 V^T chain over the determined combinations */
static void covariance(report *r, double variance) {
  const mbg_identify *id = r->id;
  const int n = r->n, f = r->free;
  for (int i = 0; i < n * n; i++) {
    r->covariance[i] = NAN;
  }
  for (int a = 0; a < f; a++) {
    for (int b = 0; b < f; b++) {
      const int i = r->of[a], j = r->of[b];
      double sum = 0;
      for (int k = 0; k < f - r->null; k++) {
        sum += r->V[a + f * k] * r->V[b + f * k] / (r->s[k] * r->s[k]);
      }
      if (id->parameter[i].determined && id->parameter[j].determined) {
        r->covariance[i + n * j] = variance * sum * chain(r, i) * chain(r, j) / (r->length[i] * r->length[j]);
      }
    }
  }
}

static void standard_errors(report *r) {
  mbg_identify *id = r->id;
  const int n = r->n;
  for (int i = 0; i < n; i++) {
    id->parameter[i].standard_error = sqrt(r->covariance[i + n * i]);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const double d = id->parameter[i].standard_error * id->parameter[j].standard_error;
      id->correlation[i * n + j] = i == j && !isnan(d) ? 1 : d > 0 ? r->covariance[i + n * j] / d : NAN;
    }
  }
}

/* ---------------------------------------------------------------------- combinations */

/* the null vectors by elimination with full pivoting: each gets a parameter of its own (pivot, 1) */
static void sparse_basis(int f, int null, double *N, int *pivot) {
  for (int c = 0; c < null; c++) {
    int best = 0, col = c;
    for (int k = c; k < null; k++) {
      for (int i = 0; i < f; i++) {
        if (fabs(N[i + f * k]) > fabs(N[best + f * col])) {
          best = i;
          col = k;
        }
      }
    }
    for (int i = 0; i < f; i++) {
      const double v = N[i + f * c];
      N[i + f * c] = N[i + f * col];
      N[i + f * col] = v;
    }
    pivot[c] = best;
    const double d = N[best + f * c];
    for (int i = 0; d != 0 && i < f; i++) {
      N[i + f * c] /= d;
    }
    for (int k = 0; k < null; k++) {
      const double w = N[best + f * k];
      for (int i = 0; k != c && i < f; i++) {
        N[i + f * k] -= w * N[i + f * c];
      }
    }
  }
}

static void append(char *text, size_t size, const char *format, const char *name, double number) {
  const size_t used = strlen(text);
  mbg__format(text + used, size - used, format, name, number);
}

/* The direction v (scaled columns) in the parameters: dp_i = chain_i v_i / length_i. Two of them: dp_a : dp_b leaves
   p_a - (dp_a / dp_b) p_b as it is. */
static const char *name_combination(report *r, const double *v, double part, bool hardly) {
  const mbg_identify *id = r->id;
  int in[64], count = 0;
  double dp[64];
  char text[900] = "";
  for (int k = 0; k < r->free && count < 64; k++) {
    if (fabs(v[k]) > part && r->length[r->of[k]] > 0) {
      dp[count] = chain(r, r->of[k]) * v[k] / r->length[r->of[k]];
      in[count++] = r->of[k];
    }
  }
  for (int k = 0; k < count; k++) {
    append(text, sizeof(text), k == 0 ? "%s" : k == count - 1 ? " and %s" : ", %s", id->parameter[in[k]].name, 0);
  }
  if (count == 2) {
    const double c = -dp[0] / dp[1];
    append(text, sizeof(text), hardly ? "%s mostly through " : "%s only through ", "", 0);
    append(text, sizeof(text), "%s", id->parameter[in[0]].name, 0);
    append(text, sizeof(text), c < 0 ? "%s - %#.3g " : "%s + %#.3g ", "", fabs(c));
    append(text, sizeof(text), "%s", id->parameter[in[1]].name, 0);
  } else if (count > 2) {
    append(text, sizeof(text),
           hardly ? "%s hardly one by one: they may change as" : "%s not one by one: they may change as", "", 0);
    for (int k = 0; k < count; k++) {
      append(text, sizeof(text), k == 0 ? "%s %.3g" : "%s : %.3g", "", dp[k] / dp[0]);
    }
  }
  return mbg__arena_format(&r->id->arena, "%s", text);
}

static int add_text(const report *r, const char **list, int *count, const char *text) {
  list[(*count)++] = text;
  return mbg__arena_check(r->ctx, &r->id->arena);
}

/* combinations that the data do not determine; marks their parameters */
static int combinations(report *r) {
  mbg_identify *id = r->id;
  const int f = r->free;
  int err = MBG_OK;
  int *pivot = mbg__alloc_zero(r->ctx, (size_t)f + 1, sizeof(int));
  double *N = r->V + (size_t)f * (size_t)(f - r->null);
  if (!pivot) {
    return mbg__fail_memory(r->ctx);
  }
  sparse_basis(f, r->null, N, pivot);
  for (int c = 0; c < r->null; c++) {
    const double *v = N + (size_t)f * (size_t)c;
    const int own = r->of[pivot[c]];
    for (int k = 0; k < f; k++) {
      id->parameter[r->of[k]].determined = id->parameter[r->of[k]].determined && fabs(v[k]) < 1e-4;
    }
    id->parameter[own].determined = false;
    MBG_TRY(add_text(r, id->combination, &id->summary.combinations,
                     r->length[own] == 0
                         ? mbg__arena_format(&id->arena, "%s has no influence on the data", id->parameter[own].name)
                         : name_combination(r, v, 1e-4, false)));
  }
  for (int k = f - r->null - 1; k > 0 && r->s[k] < HARDLY * r->s[0]; k--) {
    MBG_TRY(add_text(r, id->weak, &id->summary.weak, name_combination(r, r->V + (size_t)f * (size_t)k, 0.1, true)));
  }
done:
  mbg__free(r->ctx, pivot);
  return err;
}

/* ---------------------------------------------------------------------- channels */

/* factors between units that are often confused: unit of the data when they are this multiple of the model */
static const struct {
  double factor;
  const char *text;
} units[] = {
    {1000, "thousandths (mm for m)"},
    {1e-3, "thousands (m for mm, kN for N)"},
    {100, "hundredths (cm for m)"},
    {1e-2, "hundreds (m for cm)"},
    {10, "tenths (dm for m)"},
    {0.1, "tens"},
    {1e6, "millionths"},
    {1e-6, "millions"},
    {57.29577951308232, "degrees for radians"},
    {0.017453292519943295, "radians for degrees"},
    {0.10197162129779283, "g for m/s^2"},
    {9.80665, "m/s^2 for g"},
    {9.549296585513721, "rpm for rad/s"},
    {0.10471975511965977, "rad/s for rpm"},
    {-1, "the opposite sign"},
};

/* data = a model: the factor, and the cosine between the two */
static double ratio(const mbg__channel *c, double *cosine) {
  double yy = 0, yd = 0, dd = 0;
  for (int i = 0; i < c->shown.samples; i++) {
    yy += c->model[i] * c->model[i];
    yd += c->model[i] * c->data[i];
    dd += c->data[i] * c->data[i];
  }
  *cosine = yy > 0 && dd > 0 ? yd / sqrt(yy * dd) : 0;
  return yy > 0 ? (fabs(*cosine) > 0.9 ? yd / yy : sqrt(dd / yy)) : NAN;
}

/* The nearest unit: sure when model and data have the same shape, else guessed when the sizes are far apart. */
static const char *unit_hint(mbg_identify *id, const mbg__channel *c) {
  double cosine;
  const double a = ratio(c, &cosine);
  const bool alike = fabs(cosine) > 0.95;
  int best = -1;
  for (int k = 0; isfinite(a) && a != 0 && k < MBG_COUNT(units); k++) {
    const double off = a / units[k].factor > 0 ? fabs(log(a / units[k].factor)) : INFINITY;
    const double least = best < 0 ? INFINITY : fabs(log(a / units[best].factor));
    best = off < least ? k : best;
  }
  if (best < 0) {
    return "";
  }
  const double off = fabs(log(a / units[best].factor));
  if (alike && off < 0.05) {
    return mbg__arena_format(&id->arena, "the data are %.4g times the model: %s?", a, units[best].text);
  }
  if (!alike && units[best].factor > 0 && fabs(log(a)) > log(8)) {
    return mbg__arena_format(&id->arena, "the data are about %.2g times the model: %s?", a, units[best].text);
  }
  return "";
}

static void statistics(const mbg_identify *id, mbg__channel *c) {
  const double *r = id->r + c->row;
  const int n = c->shown.samples;
  double square = 0, mean = 0, chi = 0, lag = 0, sum = 0, size = 0, top = 0; /* squares in units of the largest, top */
  for (int i = 0; i < n; i++) {
    top = fmax(top, fabs(c->model[i] - c->data[i]));
  }
  const double unit = top > 0 ? top : 1;
  for (int i = 0; i < n; i++) {
    const double e = (c->model[i] - c->data[i]) / unit, y = c->data[i] / unit;
    square += e * e;
    size += y * y;
    chi += r[i] * r[i];
    mean += r[i] / n;
  }
  for (int i = 0; i < n; i++) {
    sum += (r[i] - mean) * (r[i] - mean);
    lag += i > 0 ? (r[i] - mean) * (r[i - 1] - mean) : 0;
  }
  c->shown.rms = unit * sqrt(square / n);
  c->shown.chi_square = chi;
  /* that of rounding says nothing */
  c->shown.autocorrelation = square > 1e-16 * size && sum > 0 ? lag / sum : 0;
  c->shown.white = fabs(c->shown.autocorrelation) < 3 / sqrt(n); /* three standard deviations of white noise */
}

int mbg__identify_channels(mbg_context *ctx, mbg_identify *id, bool at_start) {
  int err = MBG_OK;
  for (int k = 0; k < id->nchannel; k++) {
    mbg__channel *c = &id->channel[k];
    const mbg__experiment *e = &id->experiment[c->experiment];
    const char *run = c->shown.run;
    char name[256];
    mbg__format(name, sizeof(name), run ? "%s of run '%s'" : "%s", c->shown.criterion, run ? run : "");
    statistics(id, c);
    const char *hint = unit_hint(id, c);
    if (!hint) {
      return mbg__fail_memory(ctx);
    }
    /* at the start the model may be far off in every respect: said only when the solution agrees or is not better */
    if (at_start || !c->shown.hint[0]) {
      c->shown.hint = hint;
    }
    if (at_start && c->shown.missing > 0) {
      MBG_TRY(mbg__warn(ctx, &id->warnings, "%s: %d of %d rows have no value and are left out", name, c->shown.missing,
                        c->shown.missing + c->shown.samples + c->shown.outside));
    }
    if (at_start && c->spacing < 0.999 * e->step) {
      MBG_TRY(mbg__warn(ctx, &id->warnings,
                        "%s: samples are %g s apart, less than the step %g s: between steps the model is a "
                        "straight line; take a smaller step",
                        name, c->spacing, e->step));
    }
  }
done:
  return err;
}

/* hints of the start stand when the fit is bad: more than a tenth of the data is left */
static int keep_hints(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  for (int k = 0; k < id->nchannel; k++) {
    mbg__channel *c = &id->channel[k];
    double size = 0;
    for (int i = 0; i < c->shown.samples; i++) {
      size += c->data[i] * c->data[i];
    }
    if (c->shown.rms <= 0.1 * sqrt(size / c->shown.samples)) {
      c->shown.hint = "";
    }
    if (c->shown.hint[0]) {
      const char *run = c->shown.run;
      MBG_TRY(mbg__warn(ctx, &id->warnings, "%s%s%s%s: %s", c->shown.criterion, run ? " of run '" : "", run ? run : "",
                        run ? "'" : "", c->shown.hint));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- the whole */

static int uncertainties(report *r) {
  int err = MBG_OK;
  mbg_identify *id = r->id;
  mbg_identify_summary *s = &id->summary;
  take_values(r);
  drop_empty(r);
  MBG_TRY(decompose(r));
  memcpy(id->singular, r->s, (size_t)r->free * sizeof(double));
  while (r->null < r->free && !(r->s[r->free - 1 - r->null] > NOTHING * r->s[0])) {
    r->null++;
  }
  const int last = r->free - r->null - 1;
  s->condition = last >= 0 ? r->s[0] / r->s[last] : NAN;
  const int over = id->m - (r->free - r->null);
  s->variance = over > 0 ? 2 * s->cost / over : NAN;
  MBG_TRY(combinations(r));
  if (over == 0 && !s->sigma_known) {
    MBG_TRY(mbg__warn(r->ctx, &id->warnings,
                      "there are as many parameters as samples: without a sigma the data do not determine the "
                      "standard errors"));
  }
  covariance(r, s->sigma_known ? 1 : s->variance);
  standard_errors(r);
  if (id->o.hessian && !id->reporting) {
    MBG_TRY(mbg__identify_true_errors(r->ctx, id, s->sigma_known ? 1 : s->variance));
  }
  for (int k = 0; k < s->combinations; k++) {
    MBG_TRY(mbg__warn(r->ctx, &id->warnings, "the data do not tell apart: %s", id->combination[k]));
  }
  for (int i = 0; i < id->n; i++) {
    if (id->parameter[i].at_bound) {
      MBG_TRY(mbg__warn(r->ctx, &id->warnings, "parameter '%s' is at its %s %g", id->parameter[i].name,
                        id->parameter[i].at_bound < 0 ? "min" : "max", id->parameter[i].value));
    }
  }
done:
  return err;
}

int mbg__identify_report(mbg_context *ctx, mbg_identify *id) {
  report r = {.ctx = ctx, .id = id, .n = id->n};
  int err = MBG_OK;
  MBG_TRY(take(&r));
  /* quasi-Newton leaves no linearization, an interruption perhaps one of another point */
  MBG_TRY(mbg__identify_reduce(ctx, id, id->x, id->T, id->q));
  id->summary.cost = mbg__identify_cost(id);
  MBG_TRY(uncertainties(&r));
  MBG_TRY(mbg__identify_channels(ctx, id, false));
  MBG_TRY(keep_hints(ctx, id));
done:
  mbg__free(ctx, r.of);
  mbg__free(ctx, r.length);
  return err;
}
