/* Saddle systems of the start, filled for every kind of step. */
#include "start/start_internal.h"

int mbg__kkt_create(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, const mbg__equation *eq, int neq) {
  mbg__arena_init(&kkt->arena, mbg__context_allocator(ctx));
  kkt->pair = MBG_TAKE(&kkt->arena, int, neq);
  kkt->npin = neq;
  kkt->n = w->m->nv + w->m->nrow + neq;
  kkt->x = MBG_TAKE(&kkt->arena, real, kkt->n);
  kkt->diagonal = MBG_TAKE(&kkt->arena, real, w->m->nrow);
  kkt->keep = mbg__model_has_rates(w->m) ? MBG_TAKE(&kkt->arena, bool, w->m->nrow) : NULL;
  if (mbg__arena_check(ctx, &kkt->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < neq; i++) {
    kkt->pair[i] = eq[i].pair;
  }
  return MBG_OK;
}

void mbg__kkt_destroy(mbg__kkt *kkt) {
  mbg__saddle_destroy(&kkt->saddle);
  mbg__arena_destroy(&kkt->arena);
  kkt->x = NULL;
}

/* -delta times the square of each row's length in the metric */
static void regularise(const mbg__start_work *w, const mbg__kkt_fill *f, real *diagonal) {
  const mbg__csc *p = &w->sys->patB;
  vn_zero(w->m->nrow, diagonal);
  for (int j = 0; f->delta > 0 && j < w->m->nv; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      diagonal[p->rowind[i]] -= f->delta * f->B[i] * f->B[i] / w->W[w->m->full[j]];
    }
  }
  for (int i = 0; f->delta > 0 && i < w->m->nrow; i++) {
    diagonal[i] = re(diagonal[i]) < 0 ? diagonal[i] : -f->delta;
  }
}

/* positions are not held by rows on rates */
static const bool *rows_in(const mbg__start_work *w, const mbg__kkt *kkt, const bool *keep) {
  if (kkt != &w->position || !kkt->keep) {
    return keep;
  }
  for (int i = 0; i < w->m->nrow; i++) {
    kkt->keep[i] = !w->m->rows[i].rate && (!keep || keep[i]);
  }
  return kkt->keep;
}

int mbg__kkt_factor(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, const mbg__kkt_fill *f, const char *what) {
  const bool *keep = rows_in(w, kkt, f->keep);
  if (!kkt->saddle.klu) {
    const int err = mbg__saddle_create(ctx, &kkt->arena, w->sys, kkt->npin, kkt->pair, MBG__KLU_FRESH, &kkt->saddle);
    if (err < 0) {
      return err;
    }
  }
  mbg__saddle_clear(&kkt->saddle);
  if (f->K) {
    mbg__saddle_add_K(&kkt->saddle, 1, f->K);
  }
  mbg__saddle_add_metric(&kkt->saddle, f->diagonal);
  for (int b = 0; f->body && b < w->m->nbody; b++) {
    mbg__saddle_add_body(&kkt->saddle, b, 1, f->body[b]);
  }
  if (f->late) {
    mbg__saddle_add_late(&kkt->saddle, f->late, keep);
  }
  regularise(w, f, kkt->diagonal);
  mbg__saddle_add_rows(&kkt->saddle, f->B, f->B, keep, kkt->diagonal);
  for (int q = 0; q < kkt->npin; q++) {
    const real *g = f->gradient[q];
    mbg__saddle_add_extra(&kkt->saddle, q, g, f->eq[q].active, -f->delta * fmax(re(v6_dot(g, g)), 1e-300));
  }
  return mbg__saddle_factor(ctx, &kkt->saddle, what);
}
