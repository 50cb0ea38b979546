/* What follows from a decision about redundant rows: motions, reactions, directions that break the assembly. */
#include "math/dense.h"
#include "start/rank.h"
#include "system/saddle.h"
#include "system/system_internal.h"

#include <string.h>

int mbg__rank_motions(mbg_context *ctx, const mbg__rank *rank, const mbg__system *s, const real *B, double *Z) {
  const mbg_model *m = s->model;
  const mbg__csc *p = &s->patB;
  const size_t nv = (size_t)m->nv;
  const int n = m->nv - rank->nkept;
  mbg__arena scratch;
  mbg__qr qr;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  int *place = MBG_TAKE(&scratch, int, m->nrow);
  double *W = MBG_TAKE(&scratch, double, m->nv);
  (void)mbg__qr_prepare(&qr, &scratch, m->nv, rank->nkept);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  mbg__metric_free(m, W);
  for (int i = 0; i < rank->nkept; i++) {
    place[rank->kept[i]] = i;
  }
  for (int j = 0; j < m->nv; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      if (rank->keep[p->rowind[i]]) {
        qr.A[(size_t)j + nv * (size_t)place[p->rowind[i]]] = re(B[i]) / sqrt(W[j]);
      }
    }
  }
  if (rank->nkept > 0 && mbg__qr_factor(&qr) < 0) {
    err = mbg__fail(ctx, MBG_ERROR_SINGULAR, "the constraints are not finite");
    goto MBG__TO(done);
  }
  memset(Z, 0, nv * (size_t)n * sizeof(double));
  for (int k = 0; k < n; k++) {
    Z[(size_t)(rank->nkept + k) + nv * (size_t)k] = 1;
  }
  if (rank->nkept > 0) {
    mbg__qr_mul_Q(&qr, Z, n);
  }
  for (size_t k = 0; k < nv * (size_t)n; k++) {
    Z[k] /= sqrt(W[k % nv]);
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}

const mbg__rank *mbg__rank_positions(mbg__arena *arena, const mbg_model *m, const mbg__rank *rank) {
  if (!mbg__model_has_rates(m)) {
    return rank;
  }
  mbg__rank *out = MBG_TAKE(arena, mbg__rank, 1);
  bool *keep = MBG_TAKE(arena, bool, m->nrow);
  int *kept = MBG_TAKE(arena, int, rank->nkept);
  if (!out || !keep || !kept) {
    return NULL;
  }
  *out = (mbg__rank){.nrow = m->nrow, .keep = keep, .kept = kept};
  for (int i = 0; i < rank->nkept; i++) {
    const int row = rank->kept[i];
    if (!m->rows[row].rate) {
      keep[row] = true;
      kept[out->nkept++] = row;
    }
  }
  return out;
}

/* wrench on B of a null vector of B^T: lambda_d = 1, lambda_I = -T_d; *scale: sum of |lambda| */
static void null_wrench(const mbg__system *s, const mbg__rank *rank, int d, const mbg__signal *sig, int pair, real f[6],
                        double *scale) {
  const mbg_model *m = s->model;
  v6_zero(f);
  *scale = 0;
  for (int i = 0; i < sig->nrows; i++) {
    const mbg__row *row = &m->rows[sig->rows[i]];
    double lambda = sig->rows[i] == rank->dropped[d] ? 1 : 0;
    for (int k = rank->d_start[d]; k < rank->d_start[d + 1]; k++) {
      lambda -= rank->kept[rank->depends[k]] == sig->rows[i] ? rank->T[k] : 0;
    }
    *scale += fabs(lambda);
    for (int k = row->term; k < row->term + row->nterm; k++) {
      if (m->terms[k].pair == pair) {
        v6_axpy(f, lambda, s->term[k].b);
      }
    }
  }
}

bool mbg__rank_reaction_unique(const mbg__system *s, const mbg__rank *rank, int signal) {
  const mbg__signal *sig = &s->model->signals[signal];
  const int pair = mbg__reaction_pair(s->model, sig);
  for (int d = 0; d < rank->ndropped; d++) {
    real f[6];
    double scale;
    null_wrench(s, rank, d, sig, pair, f, &scale);
    const bool whole = sig->type->role == MBG__ROLE_AXIAL || sig->type->role == MBG__ROLE_CURVE;
    const real part = whole ? v3_norm(f) : mbg__wrench_component(s, pair, sig->opt, f);
    if (fabs(re(part)) > 1e-6 * fmax(1, scale)) {
      return false;
    }
  }
  return true;
}

int mbg__rank_kept_rates(const mbg_model *m, const mbg__rank *rank) {
  int n = 0;
  for (int i = 0; i < rank->nkept; i++) {
    n += m->rows[rank->kept[i]].rate;
  }
  return n;
}

void mbg__rank_violations(const mbg__system *s, real *phi, real *rates) {
  mbg__system_residual(s, NULL, phi, rates, NULL, NULL);
  for (int i = 0; rates && i < s->model->nrow; i++) {
    phi[i] = s->model->rows[i].rate ? rates[i] : phi[i];
  }
}

int mbg__rates_refused(mbg_context *ctx, const mbg_model *m, const char *what, const char *other) {
  for (int i = 0; i < m->nrow; i++) {
    if (m->rows[i].rate) {
      char label[160];
      mbg__row_label(m, i, label, sizeof(label));
      return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "%s is a constraint on rates, which %s does not take; %s", label,
                       what, other);
    }
  }
  return MBG_OK;
}

int mbg__rank_inconsistent(const mbg_model *m, const mbg__rank *rank, const real *dphi, bool rates, double floor) {
  int worst = -1;
  double most = 0, size = 0;
  for (int i = 0; i < rank->nrow; i++) {
    size = fmax(size, fabs(re(dphi[i])));
  }
  for (int d = 0; d < rank->ndropped; d++) {
    double x = re(dphi[rank->dropped[d]]);
    for (int k = rank->d_start[d]; k < rank->d_start[d + 1]; k++) {
      x -= rank->T[k] * re(dphi[rank->kept[rank->depends[k]]]);
    }
    if (fabs(x) > most && (rates || !m->rows[rank->dropped[d]].rate)) {
      most = fabs(x);
      worst = rank->dropped[d];
    }
  }
  return most > fmax(1e-6 * size, floor) ? worst : -1;
}

int mbg__rank_check(mbg_context *ctx, const mbg_model *m, const mbg__rank *rank, double t, const real *phi,
                    double tolerance) {
  for (int i = 0; i < rank->ndropped; i++) {
    const double violation = fabs(re(phi[rank->dropped[i]]));
    if (violation > tolerance * fmax(1, m->size)) {
      return mbg__rank_lost(ctx, m, rank->dropped[i], t, violation, -1);
    }
  }
  return MBG_OK;
}

int mbg__rank_lost(mbg_context *ctx, const mbg_model *m, int row, double t, double violation, double rate) {
  char label[160], by_rate[40] = "";
  mbg__row_label(m, row, label, sizeof(label));
  if (rate >= 0) {
    mbg__format(by_rate, sizeof(by_rate), " (rate %.2e)", rate);
  }
  return mbg__fail(ctx, MBG_ERROR_SINGULAR,
                   "redundant constraint became independent at t = %g: %s is violated by %.2e%s; the start, where it "
                   "follows from the others, is a singular configuration: start elsewhere",
                   mbg__time_shown(t), label, violation, by_rate);
}
