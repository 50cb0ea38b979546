/* Saddle systems of the start: one pattern each, filled for every kind of step. */
#include "relative/start_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- pattern */

/* entries of the pattern, listed in a fixed order: K, B and B^T, diagonal, equations */
typedef struct {
  int n;
  int *row, *col;
} entries;

static void entry(entries *e, int row, int col) {
  e->row[e->n] = row;
  e->col[e->n++] = col;
}

static int end_body(const mbg__system *s, int pair, int end) {
  return marker_body(s, end ? s->model->pairs[pair].B : s->model->pairs[pair].A);
}

static void list_entries(const mbg__start_work *w, const mbg__equation *eq, int neq, entries *e) {
  const mbg__system *s = w->sys;
  const mbg_model *m = w->m;
  for (int j = 0; j < m->nv; j++) {
    for (int i = s->patK.colptr[j]; i < s->patK.colptr[j + 1]; i++) {
      entry(e, s->patK.rowind[i], j);
    }
  }
  for (int t = 0; t < 2; t++) {
    for (int j = 0; j < m->nv; j++) {
      for (int i = s->patB.colptr[j]; i < s->patB.colptr[j + 1]; i++) {
        entry(e, t ? j : m->nv + s->patB.rowind[i], t ? m->nv + s->patB.rowind[i] : j);
      }
    }
  }
  for (int i = m->nv; i < m->nv + m->nrow + neq; i++) {
    entry(e, i, i);
  }
  for (int q = 0; q < neq; q++) {
    for (int t = 0; t < 2; t++) {
      for (int end = 0; end < 2; end++) {
        const int body = end_body(s, eq[q].pair, end);
        for (int j = 0; body >= 0 && j < s->nfree[body]; j++) {
          const int c = m->dof[m->bodies[body].voff + s->free_[body][j]], r = m->nv + m->nrow + q;
          entry(e, t ? c : r, t ? r : c);
        }
      }
    }
  }
}

static int take_slots(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, const mbg__equation *eq, const int *slot) {
  const mbg__system *s = w->sys;
  const mbg_model *m = w->m;
  const int nK = mbg__csc_count(&s->patK), nB = mbg__csc_count(&s->patB);
  int *copy = MBG_TAKE(&w->arena, int, nK + 2 * nB + m->nrow + kkt->npin);
  kkt->slotP = mbg__arena_take(&w->arena, (size_t)kkt->npin, sizeof(*kkt->slotP));
  if (!copy || !kkt->slotP) {
    return mbg__fail_memory(ctx);
  }
  const int fixed = nK + 2 * nB + m->nrow + kkt->npin;
  memcpy(copy, slot, (size_t)fixed * sizeof(int));
  kkt->slotK = copy;
  kkt->slotB[0] = copy + nK;
  kkt->slotB[1] = kkt->slotB[0] + nB;
  kkt->slotD = kkt->slotB[1] + nB;
  slot += fixed;
  for (int q = 0; q < kkt->npin; q++) {
    for (int t = 0; t < 2; t++) {
      for (int end = 0; end < 2; end++) {
        const int body = end_body(s, eq[q].pair, end);
        for (int j = 0; body >= 0 && j < s->nfree[body]; j++) {
          kkt->slotP[q][t][end][j] = *slot++;
        }
      }
    }
  }
  return MBG_OK;
}

int mbg__kkt_create(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, const mbg__equation *eq, int neq) {
  const mbg_model *m = w->m;
  const size_t most = (size_t)mbg__csc_count(&w->sys->patK) + 2 * (size_t)mbg__csc_count(&w->sys->patB) +
                      (size_t)m->nrow + (size_t)neq * 25;
  entries e = {0};
  int err = MBG_OK;
  kkt->n = m->nv + m->nrow + neq;
  kkt->npin = neq;
  e.row = mbg__alloc(ctx, most, sizeof(int));
  e.col = mbg__alloc(ctx, most, sizeof(int));
  int *slot = mbg__alloc(ctx, most, sizeof(int));
  kkt->x = MBG_TAKE(&w->arena, real, kkt->n);
  if (!e.row || !e.col || !slot || !kkt->x) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  list_entries(w, eq, neq, &e);
  if (mbg__csc_build(&kkt->A, &w->arena, kkt->n, kkt->n, e.n, e.row, e.col, slot) < 0) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(take_slots(ctx, w, kkt, eq, slot));
  if (mbg__klu_prepare(&kkt->klu, mbg__context_allocator(ctx), &kkt->A, MBG__KLU_FRESH) < 0) {
    err = mbg__fail_memory(ctx);
  }
done:
  mbg__free(ctx, e.row);
  mbg__free(ctx, e.col);
  mbg__free(ctx, slot);
  return err;
}

void mbg__kkt_destroy(mbg__kkt *kkt) { mbg__klu_destroy(kkt->klu); }

/* ---------------------------------------------------------------------- values */

static void fill_velocities(const mbg__start_work *w, mbg__kkt *kkt, const mbg__kkt_fill *f) {
  const mbg__system *s = w->sys;
  const int nK = mbg__csc_count(&s->patK);
  for (int i = 0; f->K && i < nK; i++) {
    kkt->A.val[kkt->slotK[i]] += f->K[i];
  }
  for (int b = 0; b < w->m->nbody; b++) {
    const int *slot = s->blocks[s->body_block[b]].slot;
    for (int i = 0; i < s->nfree[b]; i++) {
      for (int j = 0; j < s->nfree[b]; j++, slot++) {
        const int r = s->free_[b][i], c = s->free_[b][j];
        real x = f->body ? f->body[b][6 * r + c] : 0;
        x += r == c ? f->diagonal * w->W[w->m->bodies[b].voff + r] : 0;
        kkt->A.val[kkt->slotK[*slot]] += x;
      }
    }
  }
}

/* square of the length of each row in the metric */
static void row_lengths(const mbg__start_work *w, const real *B, real *l2) {
  const mbg__csc *p = &w->sys->patB;
  memset(l2, 0, (size_t)w->m->nrow * sizeof(real));
  for (int j = 0; j < w->m->nv; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      l2[p->rowind[i]] += B[i] * B[i] / w->W[w->m->full[j]];
    }
  }
}

static void fill_rows(mbg__start_work *w, mbg__kkt *kkt, const mbg__kkt_fill *f) {
  const mbg__csc *p = &w->sys->patB;
  for (int i = 0; i < mbg__csc_count(p); i++) {
    const bool keep = !f->keep || f->keep[p->rowind[i]];
    kkt->A.val[kkt->slotB[0][i]] += keep ? f->B[i] : 0;
    kkt->A.val[kkt->slotB[1][i]] += keep ? f->B[i] : 0;
  }
  if (f->delta > 0) {
    row_lengths(w, f->B, w->row2);
  }
  for (int i = 0; i < w->m->nrow; i++) {
    const bool keep = !f->keep || f->keep[i];
    const real l2 = f->delta > 0 && re(w->row2[i]) > 0 ? w->row2[i] : 1;
    kkt->A.val[kkt->slotD[i]] += keep ? (f->delta > 0 ? -f->delta * l2 : 0) : 1;
  }
}

static void fill_equation(const mbg__start_work *w, mbg__kkt *kkt, const mbg__kkt_fill *f, int q) {
  const mbg__system *s = w->sys;
  const mbg__equation *e = &f->eq[q];
  real l2 = 0;
  for (int end = 0; end < 2; end++) {
    const int body = end_body(s, e->pair, end);
    real X[36], x[6];
    if (body < 0) {
      continue;
    }
    mbg__kin_jacobian(s, e->pair, end, X);
    m6_mulv_T(x, X, f->gradient[q]);
    for (int j = 0; e->active && j < s->nfree[body]; j++) {
      const real g = x[s->free_[body][j]];
      kkt->A.val[kkt->slotP[q][0][end][j]] += g;
      kkt->A.val[kkt->slotP[q][1][end][j]] += g;
      l2 += g * g / w->W[w->m->bodies[body].voff + s->free_[body][j]];
    }
  }
  kkt->A.val[kkt->slotD[w->m->nrow + q]] += e->active ? -f->delta * (re(l2) > 0 ? l2 : 1) : 1;
}

int mbg__kkt_factor(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, const mbg__kkt_fill *f, const char *what) {
  mbg__csc_zero(&kkt->A);
  fill_velocities(w, kkt, f);
  fill_rows(w, kkt, f);
  for (int q = 0; q < kkt->npin; q++) {
    fill_equation(w, kkt, f, q);
  }
  int where = -1;
  const int err = mbg__klu_factor(kkt->klu, &where);
  if (err == MBG_ERROR_MEMORY) {
    return mbg__fail_memory(ctx);
  }
  if (err < 0) {
    char label[160] = "the unknown is not known";
    if (where >= 0 && where < w->m->nv) {
      int body = 0;
      while (body + 1 < w->m->nbody && w->m->bodies[body + 1].voff <= w->m->full[where]) {
        body++;
      }
      mbg__format(label, sizeof(label), "body '%s'", w->m->bodies[body].name);
    } else if (where >= w->m->nv && where < w->m->nv + w->m->nrow) {
      mbg__row_label(w->m, where - w->m->nv, label, sizeof(label));
    }
    return mbg__fail(ctx, MBG_ERROR_SINGULAR, "%s: the system is singular (look at %s)", what, label);
  }
  return MBG_OK;
}
