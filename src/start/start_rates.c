/* Rates of the start (stage 5 of start.c): one KKT solve. */
#include "start/start_internal.h"

static int update(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK;
  MBG_TRY(mbg__start_bare(ctx, w, w->result.H, w->result.v, NULL));
  mbg__system_residual(w->sys, NULL, NULL, w->phi, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.B = w->B});
  for (int i = 0; i < w->nrate; i++) {
    mbg__equation_value(w, &w->rates[i], true, &w->pin[i], w->gradient[i]);
  }
done:
  return err;
}

static double largest_residual(const mbg__start_work *w, int *worst) {
  double largest = 0;
  *worst = -1;
  for (int i = 0; i < w->m->nrow; i++) {
    if (!(fabs(re(w->phi[i])) <= largest)) {
      largest = fabs(re(w->phi[i]));
      *worst = i;
    }
  }
  for (int i = 0; i < w->nrate; i++) {
    if (!(fabs(re(w->pin[i])) <= largest)) {
      largest = fabs(re(w->pin[i]));
      *worst = w->m->nrow + i;
    }
  }
  return largest;
}

/* the largest rate, at least 1 */
static double scale_of(const mbg__start_work *w) {
  double scale = 1;
  for (int i = 0; i < w->m->nw; i++) {
    scale = fmax(scale, fabs(re(w->result.v[i])));
  }
  return scale;
}

static int factor(mbg_context *ctx, mbg__start_work *w) {
  const mbg__kkt_fill fill = {
      .diagonal = 1, .B = w->B, .keep = w->result.rank->keep, .eq = w->rates, .gradient = w->gradient};
  w->rate.due = false;
  return mbg__kkt_factor(ctx, w, &w->rate, &fill, "rates");
}

int mbg__start_rate_factors(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK;
  if (w->rate.due) {
    MBG_TRY(update(ctx, w));
    MBG_TRY(factor(ctx, w));
  }
done:
  return err;
}

/* v solves W (v - vbar) + B^T kv + P^T kvp = 0, phid = 0, pins; linear, the second pass refines */
static int solve(mbg_context *ctx, mbg__start_work *w) {
  const mbg_model *m = w->m;
  const bool *keep = w->result.rank->keep;
  int err = MBG_OK;
  static const vec6 zero = {0};
  for (int pass = 0; pass < 2; pass++) {
    MBG_TRY(update(ctx, w));
    if (pass == 0) {
      MBG_TRY(factor(ctx, w));
    }
    vn_zero(m->nw, w->full);
    mbg__system_B_mul_T(w->sys, w->kv, w->full);
    for (int i = 0; i < w->nrate; i++) {
      vec6 g;
      v6_scale(g, w->kvp[i], w->gradient[i]);
      mbg__kin_pair_pull(w->sys, w->rates[i].pair, g, zero, NULL, &(mbg__cotangent){.w = w->full});
    }
    for (int j = 0; j < m->nv; j++) {
      const int f = m->full[j];
      w->rate.x[j] = -w->W[f] * (w->result.v[f] - w->sys->design->guess_v[f]) - w->full[f];
    }
    mbg__start_right_side(w, &w->rate, keep, w->rates);
    mbg__klu_solve(w->rate.saddle.klu, w->rate.x, 1);
    for (int j = 0; j < m->nv; j++) {
      w->result.v[m->full[j]] += w->rate.x[j];
    }
    for (int i = 0; i < m->nrow; i++) {
      w->kv[i] += w->rate.x[m->nv + i];
    }
    for (int i = 0; i < w->nrate; i++) {
      w->kvp[i] += w->rate.x[m->nv + m->nrow + i];
    }
  }
  MBG_TRY(update(ctx, w));
done:
  return err;
}

int mbg__start_rates(mbg_context *ctx, mbg__start_work *w) {
  int err = MBG_OK, worst;
  if (!w->rate.x) {
    MBG_TRY(mbg__kkt_create(ctx, w, &w->rate, w->rates, w->nrate));
  }
  MBG_TRY(update(ctx, w));
  w->result.guess_phid = largest_residual(w, &worst);
  const int npin = mbg__pins_rank(ctx, w, &w->rate, w->rates);
  MBG_TRY(npin);
  w->result.free_rates = w->m->nv - w->m->nstate - w->result.rank->nkept - npin;
  if (w->m->start == MBG__START_EXACT && w->result.guess_phid > MBG__EXACT * fmax(1, w->m->size)) {
    char label[160];
    mbg__start_label(w, w->rates, worst, label, sizeof(label));
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "the start is not exact: the rate of %s is off by %.3g", label,
                    w->result.guess_phid);
    goto done;
  }
  vn_zero(w->m->nrow, w->kv);
  vn_zero(w->m->npin, w->kvp);
  w->rate.guess = !MBG__TWIN && w->result.guess_phid <= (w->brief ? MBG__BRIEF_FITS : MBG__GUESS_FITS) * scale_of(w);
  w->rate.due = w->rate.guess;
  if (!w->rate.guess) {
    MBG_TRY(solve(ctx, w));
  }
  w->result.phid = largest_residual(w, &worst);
  if (!(w->result.phid <= 1e-8 * scale_of(w) * fmax(1, w->m->size))) {
    if (worst >= w->m->nrow) {
      err = mbg__pins_contradict(ctx, w, w->rates, w->nrate, w->result.phid, "rates");
    } else {
      char label[160];
      mbg__start_label(w, w->rates, worst, label, sizeof(label));
      err = mbg__fail(ctx, MBG_ERROR_INPUT, "no consistent rates: %s cannot follow (residual %.3g)", label,
                      w->result.phid);
    }
  }
done:
  return err < 0 ? err : MBG_OK;
}
