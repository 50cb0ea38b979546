/* The stabilized index-2 step (theory 4, section 4). With a further multiplier eta per row that corrects the increment,

     Dx = X - h E^T eta,   X = h v_n + (1/2-beta) h^2 al_n + beta h^2 al_{n+1},   E = B at node n
     r = 0,  phi = 0,  phid = B v + phi_t = 0.

   Unknowns (X, Dx, beta h^2 lambda, eta), so that nothing fills in:

     beta h^2 r     [ beta h^2 (bp M + gp C)   beta h^2 K T   B^T   .       ]
     increment      [ -1                       1              .     h E^T   ]
     phi            [ .                        B T            .     .       ]
     h phid         [ h gp B                   h Z T          .     .       ]

   In the columns of rotors (alpha_rotor.c) rows of velocities are B G, at the end of the step and in E; Z + B Hv
   replaces Z. */
#include "formulations/alpha/alpha_work.h"

#include <string.h>

struct mbg__alpha_index2 {
  mbg__alpha *a;
  mbg__arena arena;
  int n;
  mbg__csc A;
  int *slotX, *slotD;          /* entries of the pattern of K in the columns of X and Dx       (nnz K) */
  int *slotI[2];               /* -1 and 1 of the increment                                    (nv) */
  int *slotBT, *slotN;         /* B^T of lambda, E^T of eta                                    (nnz B) */
  int *slotP, *slotV, *slotVD; /* phi by Dx, phid by X and by Dx                               (nnz B) */
  int *slotK[2];               /* diagonals of lambda and eta                                  (nrow) */
  mbg__klu *klu;
  real *ZT;    /* by the pattern of B */
  real *X, *x; /* nw, n */
};

/* ---------------------------------------------------------------------- pattern */

typedef struct {
  int n, *row, *col;
} entries;

static void add(entries *e, int row, int col) {
  if (e->row) {
    e->row[e->n] = row;
    e->col[e->n] = col;
  }
  e->n++;
}

static void add_pattern(entries *e, const mbg__csc *p, int row, int col, bool transposed) {
  for (int j = 0; j < p->ncol; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      add(e, row + (transposed ? j : p->rowind[i]), col + (transposed ? p->rowind[i] : j));
    }
  }
}

/* the order of the slots */
static void list(const mbg__alpha *a, entries *e) {
  const mbg__csc *K = mbg__system_pattern_K(a->sys), *B = mbg__system_pattern_B(a->sys);
  const int nv = a->m->nv, nr = a->m->nrow, D = nv, L = 2 * nv, E = 2 * nv + nr;
  e->n = 0;
  add_pattern(e, K, 0, 0, false);
  add_pattern(e, K, 0, D, false);
  for (int j = 0; j < nv; j++) {
    add(e, nv + j, j);
  }
  for (int j = 0; j < nv; j++) {
    add(e, nv + j, D + j);
  }
  add_pattern(e, B, 0, L, true);
  add_pattern(e, B, nv, E, true);
  add_pattern(e, B, L, D, false);
  add_pattern(e, B, E, 0, false);
  add_pattern(e, B, E, D, false);
  for (int i = 0; i < nr; i++) {
    add(e, L + i, L + i);
  }
  for (int i = 0; i < nr; i++) {
    add(e, E + i, E + i);
  }
}

static int make_pattern(mbg_context *ctx, mbg__alpha_index2 *s) {
  const int nK = mbg__csc_count(mbg__system_pattern_K(s->a->sys)),
            nB = mbg__csc_count(mbg__system_pattern_B(s->a->sys));
  const int nv = s->a->m->nv, nr = s->a->m->nrow;
  entries e = {0};
  int err = MBG_OK;
  list(s->a, &e);
  e.row = mbg__alloc(ctx, (size_t)e.n, sizeof(int));
  e.col = mbg__alloc(ctx, (size_t)e.n, sizeof(int));
  int *slot = MBG_TAKE(&s->arena, int, e.n);
  if (!e.row || !e.col || !slot) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  list(s->a, &e);
  if (mbg__csc_build(&s->A, &s->arena, s->n, s->n, e.n, e.row, e.col, slot) < 0) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  int **const place[] = {&s->slotX, &s->slotD, &s->slotI[0], &s->slotI[1], &s->slotBT,  &s->slotN,
                         &s->slotP, &s->slotV, &s->slotVD,   &s->slotK[0], &s->slotK[1]};
  const int length[] = {nK, nK, nv, nv, nB, nB, nB, nB, nB, nr, nr};
  for (int i = 0; i < MBG_COUNT(place); i++) {
    *place[i] = slot;
    slot += length[i];
  }
done:
  mbg__free(ctx, e.row);
  mbg__free(ctx, e.col);
  return err;
}

static void take_arrays(mbg__alpha_index2 *s) {
  mbg__alpha *a = s->a;
  const int nB = mbg__csc_count(mbg__system_pattern_B(a->sys));
  a->Z = MBG_TAKE(&s->arena, real, nB);
  a->phid = MBG_TAKE(&s->arena, real, a->m->nrow);
  a->BG = MBG_TAKE(&s->arena, real, nB);
  s->ZT = MBG_TAKE(&s->arena, real, nB);
  s->X = MBG_TAKE(&s->arena, real, a->m->nw);
  s->x = MBG_TAKE(&s->arena, real, s->n);
}

int mbg__alpha_index2_create(mbg_context *ctx, mbg__alpha *a, mbg__alpha_index2 **out) {
  int err = MBG_OK;
  mbg__alpha_index2 *s = mbg__alloc_zero(ctx, 1, sizeof(*s));
  if (!s) {
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&s->arena, mbg__context_allocator(ctx));
  s->a = a;
  s->n = 2 * (a->m->nv + a->m->nrow);
  MBG_TRY(make_pattern(ctx, s));
  take_arrays(s);
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  if (mbg__klu_prepare(&s->klu, mbg__context_allocator(ctx), &s->A, MBG__KLU_FROZEN, 2 * a->m->nv) < 0) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  a->klu = s->klu;
  a->n = s->n;
  a->atD = a->m->nv;
  a->atL = 2 * a->m->nv;
  a->atE = 2 * a->m->nv + a->m->nrow;
done:
  if (err < 0) {
    mbg__alpha_index2_destroy(s);
    s = NULL;
  }
  *out = s;
  return err;
}

void mbg__alpha_index2_destroy(mbg__alpha_index2 *s) {
  if (!s) {
    return;
  }
  const mbg_allocator allocator = s->arena.allocator;
  mbg__klu_destroy(s->klu);
  mbg__arena_destroy(&s->arena);
  allocator.release(allocator.user, s);
}

/* ---------------------------------------------------------------------- step */

static void put(mbg__alpha_index2 *s, const int *slot, int n, real c, const real *val, const mbg__csc *rows) {
  const bool *keep = s->a->rank->keep;
  for (int i = 0; i < n; i++) {
    s->A.val[slot[i]] += !rows || keep[rows->rowind[i]] ? c * (val ? val[i] : 1) : 0;
  }
}

static void fill(mbg__alpha_index2 *s, const mbg__alpha_node *to) {
  mbg__alpha *a = s->a;
  const mbg__csc *pK = mbg__system_pattern_K(a->sys), *pB = mbg__system_pattern_B(a->sys);
  const int nK = mbg__csc_count(pK), nB = mbg__csc_count(pB), nr = a->m->nrow;
  const real h = *to->h, scale = a->c.beta * h * h;
  mbg__rotors_rows(a, a->B, a->BG, a->Z);
  mbg__columns_times(a->sys, pB, a->Z, a->T, s->ZT);
  mbg__csc_zero(&s->A);
  put(s, s->slotX, nK, scale * alpha_bp(a, h), a->M, NULL);
  put(s, s->slotX, nK, scale * alpha_gp(a, h), a->C, NULL);
  put(s, s->slotD, nK, scale, a->KT, NULL);
  put(s, s->slotI[0], a->m->nv, -1, NULL, NULL);
  put(s, s->slotI[1], a->m->nv, 1, NULL, NULL);
  put(s, s->slotBT, nB, 1, a->B, pB);
  put(s, s->slotN, nB, h, to->E, pB);
  put(s, s->slotP, nB, 1, a->BT, pB);
  put(s, s->slotV, nB, h * alpha_gp(a, h), a->BG, pB);
  put(s, s->slotVD, nB, h, s->ZT, pB);
  for (int i = 0; i < nr; i++) {
    s->A.val[s->slotK[0][i]] += a->rank->keep[i] ? 0 : 1;
    s->A.val[s->slotK[1][i]] += a->rank->keep[i] ? 0 : 1;
  }
}

int mbg__alpha_index2_factor(mbg_context *ctx, mbg__alpha_index2 *s, const mbg__alpha_node *to) {
  fill(s, to);
  return mbg__klu_factor(s->klu, NULL) < 0
             ? mbg__fail(ctx, MBG_ERROR_SINGULAR, "step to t = %g: the index-2 system is singular",
                         mbg__time_shown(re(*to->t)))
             : MBG_OK;
}

/* rates and reactions are quotients by h and h^2: one refinement gives them two digits */
void mbg__alpha_index2_solve(mbg__alpha_index2 *s, bool transposed, real *x, int count) {
  for (int k = 0; k < count; k++, x += s->n) {
    memcpy(s->x, x, (size_t)s->n * sizeof(real));
    if (transposed) {
      mbg__klu_solve_T(s->klu, x, 1);
      mbg__csc_mul_T_add(s->x, -1, &s->A, x, 1);
      mbg__klu_solve_T(s->klu, s->x, 1);
    } else {
      mbg__klu_solve(s->klu, x, 1);
      mbg__csc_mul_add(s->x, -1, &s->A, x, 1);
      mbg__klu_solve(s->klu, s->x, 1);
    }
    vn_axpy(s->n, x, 1, s->x);
  }
}

int mbg__alpha_index2_enter(mbg_context *ctx, mbg__alpha_index2 *s, const mbg__alpha_node *from,
                            const mbg__alpha_node *to) {
  mbg__alpha *a = s->a;
  int err = MBG_OK;
  MBG_TRY(mbg__system_linearize(ctx, a->sys));
  mbg__system_matrices(a->sys, &(mbg__matrices){.B = a->B});
  mbg__rotors_linearize(a, from);
  mbg__rotors_rows(a, a->B, to->E, NULL);
  memcpy(s->X, to->Dx, (size_t)a->m->nw * sizeof(real));
  memset(to->eta, 0, (size_t)a->m->nrow * sizeof(real));
done:
  return err;
}

/* residuals with opposite sign */
static void right_side(mbg__alpha_index2 *s, const mbg__alpha_node *to) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const mbg__csc *pB = mbg__system_pattern_B(a->sys);
  const real h = *to->h, scale = a->c.beta * h * h;
  for (int j = 0; j < m->nv; j++) {
    const int f = m->full[j];
    s->x[j] = -scale * a->r[f];
    s->x[a->atD + j] = s->X[f] - to->Dx[f];
    for (int i = pB->colptr[j]; i < pB->colptr[j + 1]; i++) {
      s->x[a->atD + j] -= h * to->E[i] * to->eta[pB->rowind[i]];
    }
  }
  for (int i = 0; i < m->nrow; i++) {
    s->x[a->atL + i] = a->rank->keep[i] ? -a->phi[i] : 0;
    s->x[a->atE + i] = a->rank->keep[i] ? -h * a->phid[i] : 0;
  }
}

const real *mbg__alpha_index2_correct(mbg__alpha_index2 *s, const mbg__alpha_node *to, double *change) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  const real scale = a->c.beta * *to->h * *to->h;
  right_side(s, to);
  mbg__klu_solve(s->klu, s->x, 1);
  *change = 0;
  for (int j = 0; j < m->nv; j++) {
    const double x = fabs(re(s->x[a->atD + j]));
    s->X[m->full[j]] += s->x[j];
    to->Dx[m->full[j]] += s->x[a->atD + j];
    *change = x <= *change ? *change : x; /* NaN stays */
  }
  for (int i = 0; i < m->nrow; i++) {
    to->lambda[i] += s->x[a->atL + i] / scale;
    to->eta[i] += s->x[a->atE + i];
  }
  return s->X;
}

/* ---------------------------------------------------------------------- derivatives of the increment */

int mbg__alpha_index2_wrenches(mbg_context *ctx, mbg__alpha_index2 *s, const mbg__alpha_node *node, const real *eta,
                               const real **f) {
  mbg__alpha *a = s->a;
  mbg__state state = mbg__alpha_state(a, node);
  int err = MBG_OK;
  state.lambda = eta;
  *f = a->r;
  MBG_TRY(mbg__system_update_bare(ctx, a->sys, &state));
  mbg__system_residual(a->sys, a->r, NULL, NULL, NULL, NULL);
  MBG_TRY(mbg__system_linearize(ctx, a->sys));
  mbg__rotors_linearize(a, node);
done:
  return err;
}
