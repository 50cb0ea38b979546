/* Null vectors by parts, and the choice of other rows to drop. */
#include "start/rank_parts.h"

#include "math/dense.h"

static int root_of(int *root, int i) {
  while (root[i] != i) {
    root[i] = root[root[i]];
    i = root[i];
  }
  return i;
}

static int take_lists(mbg_context *ctx, mbg__arena *arena, const mbg__rank *rank, mbg__null_parts *p) {
  const int nd = rank->ndropped, nrow = rank->nrow;
  *p = (mbg__null_parts){.root = MBG_TAKE(arena, int, nd),
                         .part = MBG_TAKE(arena, int, nrow),
                         .row = MBG_TAKE(arena, int, nd),
                         .next_row = MBG_TAKE(arena, int, nrow),
                         .vector = MBG_TAKE(arena, int, nd),
                         .next = MBG_TAKE(arena, int, nd),
                         .place = MBG_TAKE(arena, int, nd),
                         .index = MBG_TAKE(arena, int, nrow),
                         .rows = MBG_TAKE(arena, int, nrow)};
  return mbg__arena_check(ctx, arena);
}

int mbg__null_parts_find(mbg_context *ctx, mbg__arena *arena, const mbg__rank *rank, mbg__null_parts *p) {
  if (take_lists(ctx, arena, rank, p) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < rank->nrow; i++) {
    p->part[i] = -1;
  }
  for (int d = 0; d < rank->ndropped; d++) {
    p->root[d] = d;
    p->row[d] = p->vector[d] = -1;
    p->part[rank->dropped[d]] = d;
  }
  for (int d = 0; d < rank->ndropped; d++) {
    for (int k = rank->d_start[d]; k < rank->d_start[d + 1]; k++) {
      int *part = &p->part[rank->kept[rank->depends[k]]];
      const int a = root_of(p->root, d), b = *part < 0 ? a : root_of(p->root, *part);
      p->root[a > b ? a : b] = a > b ? b : a;
      *part = d;
    }
  }
  for (int i = rank->nrow - 1; i >= 0; i--) {
    if (p->part[i] >= 0) {
      p->part[i] = root_of(p->root, p->part[i]);
      p->next_row[i] = p->row[p->part[i]];
      p->row[p->part[i]] = i;
    }
  }
  for (int d = rank->ndropped - 1; d >= 0; d--) {
    const int r = root_of(p->root, d);
    p->next[d] = p->vector[r];
    p->vector[r] = d;
  }
  return MBG_OK;
}

int mbg__null_parts_take(mbg_context *ctx, mbg__arena *arena, const mbg__rank *rank, mbg__null_parts *p, int root) {
  int *index = p->index;
  p->nrow = p->nd = 0;
  for (int i = p->row[root]; i >= 0; i = p->next_row[i]) {
    index[i] = p->nrow;
    p->rows[p->nrow++] = i;
  }
  for (int d = p->vector[root]; d >= 0; d = p->next[d]) {
    p->place[d] = p->nd++;
  }
  p->N = MBG_TAKE(arena, double, (size_t)p->nrow *(size_t)p->nd);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int d = p->vector[root]; d >= 0; d = p->next[d]) {
    p->N[(size_t)index[rank->dropped[d]] * (size_t)p->nd + (size_t)p->place[d]] = 1;
    for (int k = rank->d_start[d]; k < rank->d_start[d + 1]; k++) {
      p->N[(size_t)index[rank->kept[rank->depends[k]]] * (size_t)p->nd + (size_t)p->place[d]] = -rank->T[k];
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- another choice */

/* N_D^T B_D + N_I^T B_I = 0, so T = -N_D^-T N_I^T, within the part at hand; place: of rows in kept or dropped */
static int part_dependence(mbg_context *ctx, mbg__arena *scratch, const mbg__null_parts *p, const int *place,
                           mbg__rank *out, bool *ok) {
  const int nd = p->nd;
  mbg__lu lu;
  real *x = MBG_TAKE(scratch, real, nd);
  int *drop = MBG_TAKE(scratch, int, nd), found = 0, kept = 0;
  (void)mbg__lu_prepare(&lu, scratch, nd);
  if (mbg__arena_check(ctx, scratch) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; k < p->nrow; k++) {
    if (!out->keep[p->rows[k]]) {
      for (int d = 0; d < nd; d++) {
        lu.A[d + nd * found] = p->N[(size_t)k * (size_t)nd + (size_t)d];
      }
      drop[found++] = place[p->rows[k]];
    }
  }
  *ok = mbg__lu_factor(&lu, NULL) == MBG_OK && mbg__lu_ratio(&lu, NULL) > 1e-3;
  for (int k = 0; *ok && k < p->nrow; k++) {
    if (!out->keep[p->rows[k]]) {
      continue;
    }
    for (int d = 0; d < nd; d++) {
      x[d] = -p->N[(size_t)k * (size_t)nd + (size_t)d];
    }
    mbg__lu_solve(&lu, x, 1);
    for (int i = 0; i < nd; i++) {
      out->depends[out->d_start[drop[i]] + kept] = place[p->rows[k]];
      out->T[out->d_start[drop[i]] + kept] = re(x[i]);
    }
    kept++;
  }
  return MBG_OK;
}

/* Kept rows of each part (at its root). False: a part has not as many dropped rows as vectors. */
static bool count_rows(const mbg__rank *old, const mbg__null_parts *p, const mbg__rank *out, int *kept, int *dropped) {
  bool fit = true;
  for (int i = 0; i < out->nrow; i++) {
    const int part = p->part[i];
    if (part >= 0) {
      kept[part] += out->keep[i];
      dropped[part] += !out->keep[i];
    }
    fit = fit && (part >= 0 || out->keep[i]);
  }
  for (int d = 0; d < old->ndropped; d++) {
    dropped[p->part[old->dropped[d]]]--;
  }
  for (int d = 0; d < old->ndropped; d++) {
    fit = fit && dropped[d] == 0;
  }
  return fit;
}

/* places of rows in kept or dropped, and room for T */
static int prepare_rows(mbg_context *ctx, mbg__arena *arena, const mbg__null_parts *p, const int *kept, mbg__rank *out,
                        int *place) {
  out->d_start = MBG_TAKE(arena, int, out->ndropped + 1);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < out->nkept; i++) {
    place[out->kept[i]] = i;
  }
  for (int i = 0; i < out->ndropped; i++) {
    place[out->dropped[i]] = i;
    out->d_start[i + 1] = kept[p->part[out->dropped[i]]];
  }
  return mbg__rank_reserve(ctx, arena, out);
}

static int new_dependence(mbg_context *ctx, mbg__arena *arena, const mbg__rank *old, mbg__rank *out, bool *ok) {
  mbg__arena scratch;
  mbg__null_parts p;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  int *place = MBG_TAKE(&scratch, int, old->nrow);
  int *kept = MBG_TAKE(&scratch, int, old->ndropped), *dropped = MBG_TAKE(&scratch, int, old->ndropped);
  MBG_TRY(mbg__null_parts_find(ctx, &scratch, old, &p));
  *ok = count_rows(old, &p, out, kept, dropped);
  if (*ok) {
    MBG_TRY(prepare_rows(ctx, arena, &p, kept, out, place));
  }
  for (int d = 0; *ok && d < old->ndropped; d++) {
    if (p.root[d] == d) {
      mbg__arena one;
      mbg__arena_init(&one, mbg__context_allocator(ctx));
      err = mbg__null_parts_take(ctx, &one, old, &p, d);
      err = err < 0 ? err : part_dependence(ctx, &one, &p, place, out, ok);
      mbg__arena_destroy(&one);
      MBG_TRY(err);
    }
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}

int mbg__rank_choose(mbg_context *ctx, mbg__arena *arena, mbg__rank *rank, const int *dropped, mbg__rank **out) {
  bool ok = false;
  mbg__rank *r = mbg__rank_take(ctx, arena, rank->nrow);
  *out = rank;
  if (!r) {
    return MBG_ERROR_MEMORY;
  }
  r->smallest = rank->smallest;
  for (int i = 0; i < rank->ndropped; i++) {
    r->keep[dropped[i]] = false;
  }
  mbg__rank_list(r);
  const int err = new_dependence(ctx, arena, rank, r, &ok);
  if (err == MBG_OK && ok) {
    *out = r;
  }
  return err;
}
