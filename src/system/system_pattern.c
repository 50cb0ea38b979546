/* Patterns of the sparse matrices: blocks of bodies that share a pair (or are coupled by signals in a force law), laid
   out once; assembly adds to slots. */
#include "system/system_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- free components */

static void find_free(mbg__system *s) {
  const mbg_model *m = s->model;
  s->planar = m->nmodal + m->nelement == 0;
  for (int i = 0; i < m->nbody; i++) {
    s->planar = s->planar && m->bodies[i].mask == 0x23;
    for (int k = 0; k < 6; k++) {
      if (m->bodies[i].mask >> k & 1) {
        s->free_[i][s->nfree[i]++] = k;
      }
    }
  }
}

/* ---------------------------------------------------------------------- blocks */

/* requests for blocks, made twice: counted, then listed */
typedef struct {
  int n;
  long long *key; /* Q * nbody + P; NULL while counting */
  long long nbody;
} requests;

static void request(requests *r, int Q, int P) {
  if (Q >= 0 && P >= 0) {
    if (r->key) {
      r->key[r->n] = Q * r->nbody + P;
    }
    r->n++;
  }
}

static void pair_bodies(const mbg__system *s, int pair, int body[2]) {
  body[0] = marker_body(s, s->model->pairs[pair].A);
  body[1] = marker_body(s, s->model->pairs[pair].B);
}

static bool same_body(const mbg__system *s, int pair) {
  int body[2];
  pair_bodies(s, pair, body);
  return body[0] == body[1];
}

/* both ends on one body: the one that has more parts */
int mbg__pair_parts(const mbg__system *s, int pair) {
  const int A = marker_parts(s, s->model->pairs[pair].A), B = marker_parts(s, s->model->pairs[pair].B);
  return same_body(s, pair) ? (A > B ? A : B) : A + B;
}

int mbg__pair_part(const mbg__system *s, int pair, int k) {
  const mbg__pair *p = &s->model->pairs[pair];
  const int A = marker_parts(s, p->A);
  if (same_body(s, pair)) {
    return marker_part(s, A >= marker_parts(s, p->B) ? p->A : p->B, k);
  }
  return k < A ? marker_part(s, p->A, k) : marker_part(s, p->B, k - A);
}

static bool has_modal_end(const mbg__system *s, int pair) {
  return s->end[s->model->pairs[pair].A] || s->end[s->model->pairs[pair].B];
}

static void request_pairs(const mbg__system *s, int rows, int cols, requests *r) {
  for (int i = 0; i < mbg__pair_parts(s, rows); i++) {
    for (int j = 0; j < mbg__pair_parts(s, cols); j++) {
      request(r, mbg__pair_part(s, rows, i), mbg__pair_part(s, cols, j));
    }
  }
}

/* frame and carriers of a modal body */
static int modal_part(const mbg__modal *m, int k) { return k == 0 ? m->body : m->carrier + k - 1; }

static void request_modal(const mbg__modal *m, requests *r) {
  for (int i = 0; i <= m->ncarrier; i++) {
    for (int j = 0; j <= m->ncarrier; j++) {
      request(r, modal_part(m, i), modal_part(m, j));
    }
  }
}

static void request_all(const mbg__system *s, const bool *active, requests *r) {
  const mbg_model *m = s->model;
  r->n = 0;
  for (int i = 0; i < m->nbody; i++) {
    request(r, i, i);
  }
  for (int i = 0; i < m->npair; i++) {
    if (active[i]) {
      request_pairs(s, i, i, r);
    }
  }
  for (int i = 0; i < m->nmodal; i++) {
    request_modal(&m->modals[i], r);
  }
  for (int i = 0; i < s->nlate; i++) {
    for (int b = 0; b < m->nbody; b++) {
      request(r, marker_body(s, m->pairs[m->forces[s->late[i]].pair].B), b);
    }
  }
  for (int c = 0; c < s->ncross; c++) {
    for (int k = 0; k < s->cross[c].nbase; k++) {
      request_pairs(s, m->forces[s->cross[c].force].pair, signal_pair(m, &m->signals[s->cross[c].base[k]]), r);
    }
  }
}

static int compare_keys(const void *a, const void *b) {
  const long long x = *(const long long *)a, y = *(const long long *)b;
  return x < y ? -1 : x > y;
}

static int find_block(const mbg__system *s, int Q, int P) {
  int lo = 0, hi = s->nblock - 1;
  while (Q >= 0 && P >= 0 && lo <= hi) {
    const int mid = (lo + hi) / 2;
    const mbg__block *b = &s->blocks[mid];
    if (b->Q == Q && b->P == P) {
      return mid;
    }
    if (b->Q < Q || (b->Q == Q && b->P < P)) {
      lo = mid + 1;
    } else {
      hi = mid - 1;
    }
  }
  return -1;
}

/* The pattern of K. Blocks are sorted by their rows, and the free velocities of a body follow each other: so each block
   stands in its columns below those before it. */
static int lay_blocks(mbg_context *ctx, mbg__system *s, int count, int columns) {
  const mbg_model *m = s->model;
  mbg__csc *K = &s->patK;
  int *column = MBG_TAKE(&s->arena, int, columns);
  *K = (mbg__csc){.nrow = m->nv, .ncol = m->nv};
  K->colptr = MBG_TAKE(&s->arena, int, m->nv + 1);
  K->rowind = MBG_TAKE(&s->arena, int, count);
  K->val = MBG_TAKE(&s->arena, real, count);
  if (mbg__arena_check(ctx, &s->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int pass = 0; pass < 2; pass++) {
    /* lengths of columns, then their places: while blocks are laid, entry j + 1 says where column j goes on */
    for (int b = 0, n = 0; b < s->nblock; n += s->nfree[s->blocks[b++].P]) {
      const mbg__block *block = &s->blocks[b];
      s->blocks[b].column = column + n;
      for (int j = 0; j < s->nfree[block->P]; j++) {
        int *end = &K->colptr[m->dof[m->bodies[block->P].voff + s->free_[block->P][j]] + 1];
        block->column[j] = *end;
        for (int i = 0; pass == 1 && i < s->nfree[block->Q]; i++) {
          K->rowind[*end + i] = m->dof[m->bodies[block->Q].voff + s->free_[block->Q][i]];
        }
        *end += s->nfree[block->Q];
      }
    }
    for (int j = m->nv; pass == 0 && j > 0; j--) {
      K->colptr[j] = K->colptr[j - 1];
    }
    for (int j = 0; pass == 0 && j < m->nv; j++) {
      K->colptr[j + 1] += K->colptr[j];
    }
  }
  return MBG_OK;
}

static int make_blocks(mbg_context *ctx, mbg__system *s, mbg__arena *scratch, const bool *active) {
  requests r = {.nbody = s->model->nbody};
  int err = MBG_OK, count = 0, columns = 0;
  request_all(s, active, &r);
  r.key = MBG_TAKE(scratch, long long, r.n);
  s->blocks = MBG_TAKE(&s->arena, mbg__block, r.n);
  MBG_TRY(mbg__arena_check(ctx, scratch));
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  request_all(s, active, &r);
  qsort(r.key, (size_t)r.n, sizeof(long long), compare_keys);
  for (int i = 0; i < r.n; i++) {
    if (i == 0 || r.key[i] != r.key[i - 1]) {
      mbg__block *b = &s->blocks[s->nblock++];
      b->Q = (int)(r.key[i] / r.nbody);
      b->P = (int)(r.key[i] % r.nbody);
      count += s->nfree[b->Q] * s->nfree[b->P];
      columns += s->nfree[b->P];
    }
  }
  MBG_TRY(lay_blocks(ctx, s, count, columns));
done:
  return err;
}

/* ---------------------------------------------------------------------- signals in forces */

static int refuse(mbg_context *ctx, const mbg__force *f, const mbg__signal *sig) {
  return mbg__fail_at(
      ctx, MBG_ERROR_INPUT, &f->where, 0,
      "force '%s' uses the signal '%s' of type '%s'; a force may use positions, rates, angles, distances, "
      "controls and expressions of these",
      f->name, sig->name ? sig->name : "", sig->type->key);
}

/* marks the signals behind a function of a force; base ones (of pairs and coordinates) are counted */
static int mark_signals(mbg_context *ctx, mbg__system *s, const mbg__force *f, int k, bool *mark, int *nbase) {
  const mbg_model *m = s->model;
  int last = -1;
  for (int j = 0; j < m->fns[k].ninput; j++) {
    if (m->fns[k].input[j].role == MBG__ROLE_SIGNAL) {
      const int i = m->fns[k].input[j].index;
      mark[i] = true;
      last = i > last ? i : last;
    }
  }
  *nbase = 0;
  for (int i = last; i >= 0; i--) {
    const mbg__signal *sig = &m->signals[i];
    if (!mark[i]) {
      continue;
    }
    s->needed[i] = true;
    if (sig->type->role == MBG__ROLE_VALUE) {
      const mbg__fn *fn = &m->fns[sig->fn];
      for (int j = 0; j < fn->ninput; j++) {
        if (fn->input[j].role == MBG__ROLE_SIGNAL) {
          mark[fn->input[j].index] = true;
        }
      }
    } else if (sig->type->of == MBG__OF_PAIR || sig->type->of == MBG__OF_COORD) {
      (*nbase)++;
    } else if (sig->type->of != MBG__OF_CONTROL && sig->type->of != MBG__OF_EVENT) {
      return refuse(ctx, f, sig);
    }
  }
  return MBG_OK;
}

static int make_cross(mbg_context *ctx, mbg__system *s, int force, int fn, bool *mark) {
  const mbg_model *m = s->model;
  mbg__cross *c = &s->cross[s->ncross];
  int nbase = 0, n = 0;
  memset(mark, 0, (size_t)m->nsignal * sizeof(bool));
  /* late rates have rows of their own */
  const int err = m->forces[force].late ? MBG_OK : mark_signals(ctx, s, &m->forces[force], fn, mark, &nbase);
  if (err < 0) {
    return err;
  }
  int *base = MBG_TAKE(&s->arena, int, nbase);
  c->block = mbg__arena_take(&s->arena, (size_t)nbase, sizeof(*c->block));
  c->slot = MBG_TAKE(&s->arena, int *, nbase);
  if (mbg__arena_check(ctx, &s->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < m->nsignal; i++) {
    const mbg__signal_of of = m->signals[i].type->of;
    if (mark[i] && (of == MBG__OF_PAIR || of == MBG__OF_COORD)) {
      base[n++] = i;
    }
  }
  c->force = force;
  c->fn = fn;
  c->nbase = nbase;
  c->base = base;
  s->cross_of[force] = s->cross_of[force] < 0 ? s->ncross : s->cross_of[force];
  s->ncross++;
  return MBG_OK;
}

static int make_crosses(mbg_context *ctx, mbg__system *s, bool *mark) {
  const mbg_model *m = s->model;
  int err = MBG_OK;
  for (int i = 0; i < m->nforce; i++) {
    s->cross_of[i] = -1;
    for (int k = m->forces[i].fn; k < m->forces[i].fn + m->forces[i].nfn; k++) {
      MBG_TRY(m->fns[k].nsignal > 0 ? make_cross(ctx, s, i, k, mark) : MBG_OK);
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- local velocities */

/* free velocities of a list of bodies, and (slots) their places in K */
typedef struct {
  int n;
  int (*body)(const mbg__system *s, int of, int k);
  int of, count; /* bodies: body(s, of, 0 .. count - 1) */
} list;

static int body_of_pair(const mbg__system *s, int of, int k) { return mbg__pair_part(s, of, k); }
static int body_of_modal(const mbg__system *s, int of, int k) { return modal_part(&s->model->modals[of], k); }

static int slot_of(const mbg__system *s, int Q, int i, int P, int j) {
  const int b = find_block(s, Q, P);
  return b < 0 ? -1 : s->blocks[b].column[j] + i;
}

/* slots of rows in one list and columns in another, row-major */
static int take_slots(mbg_context *ctx, mbg__system *s, const list *rows, const list *cols, int **out) {
  int *slot = MBG_TAKE(&s->arena, int, rows->n * cols->n);
  *out = slot;
  if (mbg__arena_check(ctx, &s->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int q = 0; q < rows->count; q++) {
    const int Q = rows->body(s, rows->of, q);
    for (int i = 0; i < s->nfree[Q]; i++) {
      for (int p = 0; p < cols->count; p++) {
        const int P = cols->body(s, cols->of, p);
        for (int j = 0; j < s->nfree[P]; j++) {
          *slot++ = slot_of(s, Q, i, P, j);
        }
      }
    }
  }
  return MBG_OK;
}

static void count_list(const mbg__system *s, list *l) {
  l->n = 0;
  for (int k = 0; k < l->count; k++) {
    l->n += s->nfree[l->body(s, l->of, k)];
  }
}

static int make_local(mbg_context *ctx, mbg__system *s, list *l, mbg__local *out) {
  int n = 0;
  count_list(s, l);
  out->full = MBG_TAKE(&s->arena, int, l->n);
  if (mbg__arena_check(ctx, &s->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; k < l->count; k++) {
    const int body = l->body(s, l->of, k);
    for (int j = 0; j < s->nfree[body]; j++) {
      out->full[n++] = s->model->bodies[body].voff + s->free_[body][j];
    }
  }
  out->n = n;
  return take_slots(ctx, s, l, l, &out->slot);
}

static list pair_list(const mbg__system *s, int pair) {
  list l = {.body = body_of_pair, .of = pair, .count = mbg__pair_parts(s, pair)};
  count_list(s, &l);
  return l;
}

static int make_pair_local(mbg_context *ctx, mbg__system *s, int pair) {
  list l = pair_list(s, pair);
  return s->pair_local[pair].n > 0 ? MBG_OK : make_local(ctx, s, &l, &s->pair_local[pair]);
}

static int make_cross_local(mbg_context *ctx, mbg__system *s, mbg__cross *c, int k) {
  int err = MBG_OK;
  const int pair[2] = {s->model->forces[c->force].pair, signal_pair(s->model, &s->model->signals[c->base[k]])};
  if (!has_modal_end(s, pair[0]) && !has_modal_end(s, pair[1])) {
    return MBG_OK;
  }
  const list rows = pair_list(s, pair[0]), cols = pair_list(s, pair[1]);
  MBG_TRY(make_pair_local(ctx, s, pair[0]));
  MBG_TRY(make_pair_local(ctx, s, pair[1]));
  MBG_TRY(take_slots(ctx, s, &rows, &cols, &c->slot[k]));
done:
  return err;
}

static int make_locals(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  int err = MBG_OK;
  for (int i = 0; i < m->nmodal; i++) {
    list l = {.body = body_of_modal, .of = i, .count = 1 + m->modals[i].ncarrier};
    MBG_TRY(make_local(ctx, s, &l, &s->modal[i].local));
  }
  for (int i = 0; i < m->npair; i++) {
    if (has_modal_end(s, i)) {
      MBG_TRY(make_pair_local(ctx, s, i));
    }
  }
  for (int c = 0; c < s->ncross; c++) {
    for (int k = 0; k < s->cross[c].nbase; k++) {
      MBG_TRY(make_cross_local(ctx, s, &s->cross[c], k));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- rows */

/* a term with a modal end: its local velocities */
static void list_local(const mbg__system *s, int k, int row_of, const int *slot, int *row, int *col, int *n) {
  const mbg__local *l = &s->pair_local[s->model->terms[k].pair];
  for (int j = 0; j < l->n; j++, (*n)++) {
    row[*n] = row_of;
    col[*n] = s->model->dof[l->full[j]];
    if (slot) {
      s->term_local[k][j] = slot[*n];
    }
  }
}

static bool is_local(const mbg__system *s, int term) {
  const int pair = s->model->terms[term].pair;
  return pair >= 0 && s->pair_local[pair].n > 0;
}

/* most entries of all rows; the places of local ones are taken */
static int count_rows(mbg__system *s) {
  const mbg_model *m = s->model;
  int most = 0;
  for (int k = 0; k < m->nterm; k++) {
    const int n = is_local(s, k) ? s->pair_local[m->terms[k].pair].n : 12;
    most += n;
    if (is_local(s, k)) {
      s->term_local[k] = MBG_TAKE(&s->arena, int, n);
    }
  }
  return most;
}

/* entries (row, col) of all rows; slot not NULL: their places in the pattern are handed to the terms. Their number. */
static int list_rows(mbg__system *s, int *row, int *col, const int *slot) {
  const mbg_model *m = s->model;
  int n = 0;
  for (int i = 0; i < m->nrow; i++) {
    for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
      int body[2] = {-1, -1};
      s->term_row[k] = i;
      if (is_local(s, k)) {
        list_local(s, k, i, slot, row, col, &n);
        continue;
      }
      if (m->terms[k].pair >= 0) {
        pair_bodies(s, m->terms[k].pair, body);
      }
      for (int e = 0; e < 2; e++) {
        for (int j = 0; body[e] >= 0 && j < s->nfree[body[e]]; j++, n++) {
          row[n] = i;
          col[n] = m->dof[m->bodies[body[e]].voff + s->free_[body[e]][j]];
          s->term_slot[k][e][j] = slot ? slot[n] : 0;
        }
      }
    }
  }
  return n;
}

static int make_rows(mbg_context *ctx, mbg__system *s, mbg__arena *scratch) {
  const mbg_model *m = s->model;
  const int most = count_rows(s);
  int err = MBG_OK, *row = MBG_TAKE(scratch, int, most), *col = MBG_TAKE(scratch, int, most);
  int *slot = MBG_TAKE(scratch, int, most);
  MBG_TRY(mbg__arena_check(ctx, scratch));
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  const int n = list_rows(s, row, col, NULL);
  if (mbg__csc_build(&s->patB, &s->arena, m->nrow, m->nv, n, row, col, slot) < 0) {
    err = mbg__fail_memory(ctx);
    goto MBG__TO(done);
  }
  (void)list_rows(s, row, col, slot);
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

/* pairs with forces, rows or pins; pairs of signals alone have no place in the matrices */
static void mark_active(const mbg_model *m, bool *active) {
  for (int i = 0; i < m->nrow; i++) {
    mbg__mark_row(m, i, active);
  }
  mbg__mark_forces(m, active);
  for (int i = 0; i < m->npin; i++) {
    const mbg__pin *pin = &m->pins[i];
    const mbg__signal *sig = pin->signal >= 0 ? &m->signals[pin->signal] : NULL;
    if (pin->coord >= 0) {
      active[m->coords[pin->coord].pair] = true;
    } else if (sig && (sig->type->of == MBG__OF_PAIR || sig->type->of == MBG__OF_COORD)) {
      active[signal_pair(m, sig)] = true;
    }
  }
}

static void place_blocks(mbg__system *s, const bool *active) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nbody; i++) {
    s->body_block[i] = find_block(s, i, i);
  }
  for (int i = 0; i < m->npair; i++) {
    int body[2];
    pair_bodies(s, i, body);
    for (int q = 0; q < 2; q++) {
      for (int p = 0; p < 2; p++) {
        s->pair_blocks[i].block[q][p] = active[i] ? find_block(s, body[q], body[p]) : -1;
      }
    }
  }
  for (int c = 0; c < s->ncross; c++) {
    int Q[2], P[2];
    pair_bodies(s, m->forces[s->cross[c].force].pair, Q);
    for (int k = 0; k < s->cross[c].nbase; k++) {
      pair_bodies(s, signal_pair(m, &m->signals[s->cross[c].base[k]]), P);
      for (int q = 0; q < 2; q++) {
        for (int p = 0; p < 2; p++) {
          s->cross[c].block[k][q][p] = find_block(s, Q[q], P[p]);
        }
      }
    }
  }
}

static int count_crosses(const mbg_model *m) {
  int n = 0;
  for (int i = 0; i < m->nforce; i++) {
    for (int k = m->forces[i].fn; k < m->forces[i].fn + m->forces[i].nfn; k++) {
      n += m->fns[k].nsignal > 0;
    }
  }
  return n;
}

static void take_arrays(mbg__system *s) {
  const mbg_model *m = s->model;
  mbg__arena *arena = &s->arena;
  s->body_block = MBG_TAKE(arena, int, m->nbody);
  s->pair_blocks = MBG_TAKE(arena, mbg__pair_blocks, m->npair);
  s->nfree = MBG_TAKE(arena, int, m->nbody);
  s->free_ = mbg__arena_take(arena, (size_t)m->nbody, sizeof(*s->free_));
  s->cross = MBG_TAKE(arena, mbg__cross, count_crosses(m));
  s->cross_of = MBG_TAKE(arena, int, m->nforce);
  s->pair_local = MBG_TAKE(arena, mbg__local, m->npair);
  s->term_local = MBG_TAKE(arena, int *, m->nterm);
  s->term_slot = mbg__arena_take(arena, (size_t)m->nterm, sizeof(*s->term_slot));
  s->term_row = MBG_TAKE(arena, int, m->nterm);
}

int mbg__pattern_create(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  mbg__arena scratch;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  bool *active = MBG_TAKE(&scratch, bool, m->npair), *mark = MBG_TAKE(&scratch, bool, m->nsignal);
  take_arrays(s);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  mark_active(m, active);
  find_free(s);
  MBG_TRY(make_crosses(ctx, s, mark));
  MBG_TRY(make_blocks(ctx, s, &scratch, active));
  MBG_TRY(make_locals(ctx, s));
  MBG_TRY(make_rows(ctx, s, &scratch));
  place_blocks(s, active);
done:
  mbg__arena_destroy(&scratch);
  return err;
}
