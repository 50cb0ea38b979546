/* Patterns of the sparse matrices: blocks of bodies that share a pair (or are coupled by signals in a force law), laid
   out once; assembly adds to slots. */
#include "relative/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- free components */

static int take_free(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  s->nfree = MBG_TAKE(&s->arena, int, m->nbody);
  s->free_ = mbg__arena_take(&s->arena, (size_t)m->nbody, sizeof(*s->free_));
  if (!s->nfree || !s->free_) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < m->nbody; i++) {
    for (int k = 0; k < 6; k++) {
      if (m->bodies[i].mask >> k & 1) {
        s->free_[i][s->nfree[i]++] = k;
      }
    }
  }
  return MBG_OK;
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

static void request_pairs(const mbg__system *s, int rows, int cols, requests *r) {
  int Q[2], P[2];
  pair_bodies(s, rows, Q);
  pair_bodies(s, cols, P);
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      request(r, Q[i], P[j]);
    }
  }
}

/* pair of a signal that a force law may use */
static int signal_pair(const mbg_model *m, int signal) {
  const mbg__signal *sig = &m->signals[signal];
  return sig->type->of == MBG__OF_PAIR ? sig->pair : m->coords[sig->coord].pair;
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
  for (int c = 0; c < s->ncross; c++) {
    for (int k = 0; k < s->cross[c].nbase; k++) {
      request_pairs(s, m->forces[s->cross[c].force].pair, signal_pair(m, s->cross[c].base[k]), r);
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

/* entries of all blocks as (row, col), and the pattern of K with their slots */
static int lay_blocks(mbg_context *ctx, mbg__system *s, int count) {
  const mbg_model *m = s->model;
  int err = MBG_OK, n = 0;
  int *row = mbg__alloc(ctx, (size_t)count, sizeof(int)), *col = mbg__alloc(ctx, (size_t)count, sizeof(int));
  int *slot = MBG_TAKE(&s->arena, int, count);
  if (!row || !col || !slot) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int b = 0; b < s->nblock; b++) {
    mbg__block *block = &s->blocks[b];
    block->slot = slot + n;
    for (int i = 0; i < s->nfree[block->Q]; i++) {
      for (int j = 0; j < s->nfree[block->P]; j++, n++) {
        row[n] = m->dof[m->bodies[block->Q].voff + s->free_[block->Q][i]];
        col[n] = m->dof[m->bodies[block->P].voff + s->free_[block->P][j]];
      }
    }
  }
  err = mbg__csc_build(&s->patK, &s->arena, m->nv, m->nv, count, row, col, slot);
  if (err < 0) {
    err = mbg__fail_memory(ctx);
  }
done:
  mbg__free(ctx, row);
  mbg__free(ctx, col);
  return err;
}

static int make_blocks(mbg_context *ctx, mbg__system *s, const bool *active) {
  requests r = {.nbody = s->model->nbody};
  int err = MBG_OK, count = 0;
  request_all(s, active, &r);
  r.key = mbg__alloc(ctx, (size_t)r.n, sizeof(long long));
  if (!r.key) {
    return mbg__fail_memory(ctx);
  }
  request_all(s, active, &r);
  qsort(r.key, (size_t)r.n, sizeof(long long), compare_keys);
  s->blocks = MBG_TAKE(&s->arena, mbg__block, r.n);
  if (!s->blocks) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int i = 0; i < r.n; i++) {
    if (i == 0 || r.key[i] != r.key[i - 1]) {
      mbg__block *b = &s->blocks[s->nblock++];
      b->Q = (int)(r.key[i] / r.nbody);
      b->P = (int)(r.key[i] % r.nbody);
      count += s->nfree[b->Q] * s->nfree[b->P];
    }
  }
  MBG_TRY(lay_blocks(ctx, s, count));
done:
  mbg__free(ctx, r.key);
  return err;
}

/* ---------------------------------------------------------------------- signals in force laws */

static int refuse(mbg_context *ctx, const mbg__force *f, const mbg__signal *sig) {
  return mbg__fail_at(ctx, MBG_ERROR_INPUT, &f->where, 0,
                      "force '%s' uses the signal '%s' of type '%s'; a force law may use positions, rates, angles, "
                      "distances, controls and expressions of these",
                      f->name, sig->name ? sig->name : "", sig->type->key);
}

/* marks the signals behind one law; base ones (of pairs and coordinates) are counted */
static int mark_signals(mbg_context *ctx, mbg__system *s, const mbg__force *f, bool *mark, int *nbase) {
  const mbg_model *m = s->model;
  int last = -1;
  memset(mark, 0, (size_t)m->nsignal * sizeof(bool));
  for (int k = f->fn; k < f->fn + f->nfn; k++) {
    for (int j = 0; j < m->fns[k].ninput; j++) {
      if (m->fns[k].input[j].role == MBG__ROLE_SIGNAL) {
        const int i = m->fns[k].input[j].index;
        mark[i] = true;
        last = i > last ? i : last;
      }
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
    } else if (sig->type->of != MBG__OF_CONTROL) {
      return refuse(ctx, f, sig);
    }
  }
  return MBG_OK;
}

static int make_cross(mbg_context *ctx, mbg__system *s, int force, bool *mark) {
  const mbg_model *m = s->model;
  mbg__cross *c = &s->cross[s->ncross];
  int nbase, n = 0;
  const int err = mark_signals(ctx, s, &m->forces[force], mark, &nbase);
  if (err < 0) {
    return err;
  }
  int *base = MBG_TAKE(&s->arena, int, nbase);
  c->block = mbg__arena_take(&s->arena, (size_t)nbase, sizeof(*c->block));
  if (!base || !c->block) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < m->nsignal; i++) {
    const mbg__signal_of of = m->signals[i].type->of;
    if (mark[i] && (of == MBG__OF_PAIR || of == MBG__OF_COORD)) {
      base[n++] = i;
    }
  }
  c->force = force;
  c->nbase = nbase;
  c->base = base;
  s->cross_of[force] = s->ncross++;
  return MBG_OK;
}

static int make_crosses(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  int err = MBG_OK;
  bool *mark = mbg__alloc(ctx, (size_t)m->nsignal, sizeof(bool));
  s->cross = MBG_TAKE(&s->arena, mbg__cross, m->nforce);
  s->cross_of = MBG_TAKE(&s->arena, int, m->nforce);
  if (!mark || !s->cross || !s->cross_of) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int i = 0; i < m->nforce; i++) {
    int nsignal = 0;
    s->cross_of[i] = -1;
    for (int k = m->forces[i].fn; k < m->forces[i].fn + m->forces[i].nfn; k++) {
      nsignal += m->fns[k].nsignal;
    }
    if (nsignal > 0) {
      MBG_TRY(make_cross(ctx, s, i, mark));
    }
  }
done:
  mbg__free(ctx, mark);
  return err;
}

/* ---------------------------------------------------------------------- rows */

static int make_rows(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  int err = MBG_OK, n = 0;
  const size_t most = (size_t)m->nterm * 12;
  int *row = mbg__alloc(ctx, most, sizeof(int)), *col = mbg__alloc(ctx, most, sizeof(int));
  int *slot = mbg__alloc(ctx, most, sizeof(int));
  s->term_slot = mbg__arena_take(&s->arena, (size_t)m->nterm, sizeof(*s->term_slot));
  s->term_row = MBG_TAKE(&s->arena, int, m->nterm);
  if (!row || !col || !slot || !s->term_slot || !s->term_row) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int pass = 0; pass < 2; pass++) {
    n = 0;
    for (int i = 0; i < m->nrow; i++) {
      for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
        int body[2] = {-1, -1};
        s->term_row[k] = i;
        if (m->terms[k].pair >= 0) {
          pair_bodies(s, m->terms[k].pair, body);
        }
        for (int e = 0; e < 2; e++) {
          for (int j = 0; body[e] >= 0 && j < s->nfree[body[e]]; j++, n++) {
            row[n] = i;
            col[n] = m->dof[m->bodies[body[e]].voff + s->free_[body[e]][j]];
            s->term_slot[k][e][j] = pass ? slot[n] : 0;
          }
        }
      }
    }
    if (pass == 0 && mbg__csc_build(&s->patB, &s->arena, m->nrow, m->nv, n, row, col, slot) < 0) {
      err = mbg__fail_memory(ctx);
      break;
    }
  }
done:
  mbg__free(ctx, row);
  mbg__free(ctx, col);
  mbg__free(ctx, slot);
  return err;
}

/* ---------------------------------------------------------------------- all */

/* pairs with forces, rows or pins; pairs of signals alone have no place in the matrices */
static void mark_active(const mbg_model *m, bool *active) {
  for (int i = 0; i < m->nrow; i++) {
    for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
      if (m->terms[k].pair >= 0) {
        active[m->terms[k].pair] = true;
      }
    }
  }
  for (int i = 0; i < m->nforce; i++) {
    active[m->forces[i].pair] = true;
  }
  for (int i = 0; i < m->nelement; i++) {
    active[m->elements[i].pair] = true;
  }
  for (int i = 0; i < m->npin; i++) {
    const mbg__pin *pin = &m->pins[i];
    const mbg__signal *sig = pin->signal >= 0 ? &m->signals[pin->signal] : NULL;
    if (pin->coord >= 0) {
      active[m->coords[pin->coord].pair] = true;
    } else if (sig && sig->type->of == MBG__OF_PAIR) {
      active[sig->pair] = true;
    } else if (sig && sig->type->of == MBG__OF_COORD) {
      active[m->coords[sig->coord].pair] = true;
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
      pair_bodies(s, signal_pair(m, s->cross[c].base[k]), P);
      for (int q = 0; q < 2; q++) {
        for (int p = 0; p < 2; p++) {
          s->cross[c].block[k][q][p] = find_block(s, Q[q], P[p]);
        }
      }
    }
  }
}

int mbg__pattern_create(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  int err = MBG_OK;
  bool *active = mbg__alloc_zero(ctx, (size_t)m->npair, sizeof(bool));
  s->body_block = MBG_TAKE(&s->arena, int, m->nbody);
  s->pair_blocks = MBG_TAKE(&s->arena, mbg__pair_blocks, m->npair);
  if (!active || !s->body_block || !s->pair_blocks) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  mark_active(m, active);
  MBG_TRY(take_free(ctx, s));
  MBG_TRY(make_crosses(ctx, s));
  MBG_TRY(make_blocks(ctx, s, active));
  MBG_TRY(make_rows(ctx, s));
  place_blocks(s, active);
done:
  mbg__free(ctx, active);
  return err;
}
