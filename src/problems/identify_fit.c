/* Residuals of all experiments, their Jacobian by direct differentiation, the gradient of their sum by the adjoint. */
#include "problems/cases.h"
#include "problems/identify.h"
#include "run/run.h"

#include <string.h>

double mbg__identify_p(const mbg_identify *id, int i, double x) { return id->log[i] ? exp(x) : x; }
double mbg__identify_x(const mbg_identify *id, int i, double p) { return id->log[i] ? log(p) : p; }

/* dp/dx */
static double chain(const mbg_identify *id, int i, double x) { return id->log[i] ? exp(x) : 1; }

double mbg__identify_cost(const mbg_identify *id) {
  double sum = 0;
  for (int i = 0; i < id->m; i++) {
    sum += 0.5 * id->r[i] * id->r[i];
  }
  return sum;
}

/* ---------------------------------------------------------------------- simulation */

/* the parameters of an experiment: a value set by its run stays */
static void fill_parameters(const mbg_identify *id, const mbg__experiment *e, const double *x) {
  memcpy(e->p, id->p0, (size_t)id->np * sizeof(double));
  for (int i = 0; i < id->n; i++) {
    e->p[id->parameter[i].index] = mbg__identify_p(id, i, x[i]);
  }
  mbg__case_parameters(e->model, e->p, e->p);
}

static void fill_residuals(mbg_identify *id, const mbg__experiment *e) {
  const mbg__criteria *criteria = mbg__run_criteria_of(e->run);
  for (int k = e->channel; k < e->channel + e->nchannel; k++) {
    const mbg__channel *c = &id->channel[k];
    const int column = mbg__criteria_column(criteria, c->criterion);
    for (int i = 0; i < c->shown.samples; i++) {
      const mbg__criteria_sample s = mbg__criteria_sample_at(criteria, c->criterion, i);
      const double y0 = mbg__run_column(e->run, s.node, column);
      const double y = s.s == 0 ? y0 : (1 - s.s) * y0 + s.s * mbg__run_column(e->run, s.node + 1, column);
      c->model[i] = y;
      id->r[c->row + i] = sqrt(s.weight) * (y - s.value);
    }
  }
}

static int simulate_one(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  int err = MBG_OK;
  const int mark = mbg__message_mark(ctx);
  fill_parameters(id, e, id->at);
  MBG_TRY(mbg_run_set_parameters(ctx, e->run, e->p));
  MBG_TRY(mbg_run_simulate(ctx, e->run));
  if (mbg_run_partial(e->run)) {
    mbg__message_rewind(ctx, mark); /* about samples that a part of the run does not reach */
    return MBG_ERROR_INTERRUPTED;
  }
  fill_residuals(id, e);
done:
  return err;
}

void mbg__identify_count(mbg_identify *id, const double *x, bool failed) {
  const size_t bytes = (size_t)id->n * sizeof(double);
  if (id->stands && !memcmp(id->counted, x, bytes)) {
    return;
  }
  id->summary.evaluations++;
  id->summary.failures += failed;
  id->stands = !failed;
  memcpy(id->counted, x, bytes);
}

/* rows of an experiment: its channels follow each other */
static size_t rows_of(const mbg_identify *id, const mbg__experiment *e, size_t *first) {
  size_t n = 0;
  *first = (size_t)id->channel[e->channel].row;
  for (int k = e->channel; k < e->channel + e->nchannel; k++) {
    n += (size_t)id->channel[k].shown.samples;
  }
  return n;
}

static void residuals(mbg_identify *id, mbg__experiment *e, mbg__parcel *p) {
  size_t first;
  const size_t n = rows_of(id, e, &first);
  mbg__parcel_numbers(p, n, id->r + first);
  for (int k = e->channel; k < e->channel + e->nchannel; k++) {
    mbg__parcel_numbers(p, (size_t)id->channel[k].shown.samples, id->channel[k].model);
  }
}

int mbg__identify_simulate(mbg_context *ctx, mbg_identify *id, const double *x) {
  static const mbg__fit_stage simulation = {simulate_one, residuals};
  if (id->simulated && !memcmp(id->at, x, (size_t)id->n * sizeof(double))) {
    return MBG_OK;
  }
  id->simulated = false;
  memcpy(id->at, x, (size_t)id->n * sizeof(double));
  int status;
  const int err = mbg__work_evaluate(ctx, &id->work, &simulation, true, &status);
  if (err < 0) {
    return err;
  }
  id->simulated = status == MBG_OK;
  mbg__identify_count(id, x, mbg__curable(status));
  return mbg__curable(status) ? 1 : status;
}

/* ---------------------------------------------------------------------- direct */

typedef struct {
  mbg_identify *id;
  const mbg__experiment *e;
  const mbg__criteria *criteria;
  int *next; /* of each channel: the first sample that a node may still touch */
} sampling;

/* J += coefficient * dy of the node, for one sample */
static void add_row(const sampling *s, const mbg__channel *c, int sample, double coefficient, const double *dy) {
  const mbg_identify *id = s->id;
  const double *own = dy + (size_t)mbg__criteria_column(s->criteria, c->criterion) * (size_t)id->np;
  double *J = id->qr.A + c->row + sample;
  for (int j = 0; j < id->n; j++) {
    const int p = id->parameter[j].index;
    if (!mbg_model_parameter_is_set(s->e->model, p)) {
      J[(size_t)j * (size_t)id->m] += coefficient * chain(id, j, id->at[j]) * own[p];
    }
  }
}

/* samples between this node and its neighbours; they are sorted by time */
static int sample_node(void *user, int node, const double *dy) {
  sampling *s = user;
  for (int k = 0; k < s->e->nchannel; k++) {
    const mbg__channel *c = &s->id->channel[s->e->channel + k];
    for (int i = s->next[k]; i < c->shown.samples; i++) {
      const mbg__criteria_sample at = mbg__criteria_sample_at(s->criteria, c->criterion, i);
      if (at.node > node) {
        break;
      }
      if (at.node == node) {
        add_row(s, c, i, sqrt(at.weight) * (1 - at.s), dy);
      } else if (at.node == node - 1 && at.s != 0) {
        add_row(s, c, i, sqrt(at.weight) * at.s, dy);
      }
      s->next[k] = at.node < node ? i + 1 : s->next[k];
    }
  }
  return MBG_OK;
}

static int jacobian_of(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  sampling s = {.id = id, .e = e, .criteria = mbg__run_criteria_of(e->run)};
  s.next = mbg__alloc_zero(ctx, (size_t)e->nchannel + 1, sizeof(int));
  const int err = s.next ? mbg_run_history(ctx, e->run, sample_node, &s) : mbg__fail_memory(ctx);
  mbg__free(ctx, s.next);
  return err;
}

static void rows(mbg_identify *id, mbg__experiment *e, mbg__parcel *p) {
  size_t first;
  const size_t n = rows_of(id, e, &first);
  for (int j = 0; j < id->n; j++) {
    mbg__parcel_numbers(p, n, id->qr.A + first + (size_t)j * (size_t)id->m);
  }
}

int mbg__identify_jacobian(mbg_context *ctx, mbg_identify *id, const double *x) {
  static const mbg__fit_stage differentiation = {jacobian_of, rows};
  int err = MBG_OK;
  MBG_TRY(mbg__identify_simulate(ctx, id, x));
  if (err > 0) {
    return MBG_ERROR_CONVERGENCE;
  }
  memset(id->qr.A, 0, (size_t)id->m * (size_t)id->n * sizeof(double));
  MBG_TRY(mbg__identify_evaluate_all(ctx, id, &differentiation));
done:
  return err;
}

/* J = Q R P^T: T = R P^T, q = (Q^T r)_1..n */
int mbg__identify_reduce(mbg_context *ctx, mbg_identify *id, const double *x, double *T, double *q) {
  const size_t n = (size_t)id->n, m = (size_t)id->m;
  double *r = NULL;
  int err = MBG_OK;
  MBG_TRY(mbg__identify_jacobian(ctx, id, x));
  if (mbg__qr_factor(&id->qr) < 0) {
    err = mbg__fail(ctx, MBG_ERROR_SINGULAR, "a sensitivity of the residuals is not finite");
    goto done;
  }
  r = mbg__alloc(ctx, m, sizeof(double));
  if (!r) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  memcpy(r, id->r, m * sizeof(double));
  mbg__qr_mul_Q_T(&id->qr, r, 1);
  memcpy(q, r, n * sizeof(double));
  for (size_t k = 0; k < n; k++) {
    double *column = T + n * (size_t)id->qr.column[k];
    for (size_t i = 0; i < n; i++) {
      column[i] = i <= k ? id->qr.A[i + m * k] : 0;
    }
  }
done:
  mbg__free(ctx, r);
  return err;
}

/* ---------------------------------------------------------------------- adjoint */

static int adjoint_of(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  const int nc = mbg_model_criterion_count(e->model);
  double *weight = mbg__alloc_zero(ctx, (size_t)nc + 1, sizeof(double));
  int err = weight ? MBG_OK : mbg__fail_memory(ctx);
  for (int k = e->channel; err == MBG_OK && k < e->channel + e->nchannel; k++) {
    weight[id->channel[k].criterion] = 1;
  }
  if (err == MBG_OK) {
    memset(e->by_p, 0, (size_t)id->np * sizeof(double));
    err = mbg_run_gradient_sum(ctx, e->run, MBG_METHOD_ADJOINT, weight, e->by_p);
  }
  mbg__free(ctx, weight);
  return err;
}

static void gradient_of(mbg_identify *id, mbg__experiment *e, mbg__parcel *p) {
  mbg__parcel_numbers(p, (size_t)id->np, e->by_p);
}

int mbg__identify_adjoint(mbg_context *ctx, mbg_identify *id, const double *x, double *gradient) {
  static const mbg__fit_stage backward = {adjoint_of, gradient_of};
  int err = MBG_OK;
  MBG_TRY(mbg__identify_simulate(ctx, id, x));
  if (err > 0) {
    return MBG_ERROR_CONVERGENCE;
  }
  MBG_TRY(mbg__identify_evaluate_all(ctx, id, &backward));
  memset(gradient, 0, (size_t)id->n * sizeof(double));
  for (int k = 0; k < id->nexperiment; k++) {
    const mbg__experiment *e = &id->experiment[k];
    for (int j = 0; j < id->n; j++) {
      const int p = id->parameter[j].index;
      gradient[j] += mbg_model_parameter_is_set(e->model, p) ? 0 : chain(id, j, x[j]) * e->by_p[p];
    }
  }
done:
  return err;
}
