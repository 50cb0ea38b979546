#include "twin/twin_modes.h"

#include "math/dense.h"
#include "twin/twin_modes_internal.h"

#include <stdlib.h>
#include <string.h>

int twin_modes_create(const char *file, const char *text, twin_modes **out) {
  twin_modes *t = calloc(1, sizeof *t);
  *out = t;
  if (!t || mbg_context_create(NULL, &t->ctx) < 0) {
    free(t);
    *out = NULL;
    return MBG_ERROR_MEMORY;
  }
  return text ? mbg_model_parse(t->ctx, "twin", text, strlen(text), NULL, &t->model)
              : mbg_model_load(t->ctx, file, &t->model);
}

void twin_modes_destroy(twin_modes *t) {
  if (t) {
    mbg_model_destroy(t->model);
    mbg_context_destroy(t->ctx);
    free(t);
  }
}

const char *twin_modes_message(const twin_modes *t) { return mbg_context_error(t->ctx); }

/* ---------------------------------------------------------------------- a given equilibrium */

/* real parts as given; what a body cannot do by itself follows its guess, H^-1 Hbar(p) Hbar(p0)^-1 H */
static void take_given(mbg__modes_work *w, const twin_modes_given *about) {
  const mbg_model *m = w->m;
  for (int b = 0; b < m->nbody; b++) {
    const mbg__frame *guess = &w->design->poses[m->bodies[b].guess].h;
    mbg__frame nominal, H, D, E;
    real h[6];
    for (int k = 0; k < 9; k++) {
      nominal.R[k] = re(guess->R[k]);
      H.R[k] = about->H[12 * b + k];
    }
    for (int k = 0; k < 3; k++) {
      nominal.x[k] = re(guess->x[k]);
      H.x[k] = about->H[12 * b + 9 + k];
    }
    frame_relative(&D, &nominal, &H);
    frame_mul(&E, guess, &D);
    frame_relative(&D, &H, &E);
    mbg__se3_log(h, &D);
    for (int k = 0; k < 6; k++) {
      h[k] = m->dof[m->bodies[b].voff + k] < 0 ? h[k] - re(h[k]) : 0;
    }
    mbg__se3_retract(&w->H[b], &H, h);
  }
  for (int i = 0; i < m->nrow; i++) {
    w->lambda[i] = about->lambda[i];
  }
  w->turns = about->turns;
}

/* dense, of the unknowns x, lambda and a multiplier per free motion:

     K x + B^T l + M z_left c = -r,   B x = -phi,   z^T M x = 0 */
typedef struct {
  mbg__lu lu;
  int n;
  real *x;
} bordered;

static void fill(const mbg__modes_work *w, const twin_modes_given *about, bordered *d) {
  const mbg_model *m = w->m;
  const mbg__csc *K = mbg__system_pattern_K(w->sys), *B = mbg__system_pattern_B(w->sys);
  const size_t n = (size_t)d->n;
  real *A = d->lu.A;
  memset(A, 0, n * n * sizeof(real));
  for (int j = 0; j < m->nv; j++) {
    for (int i = K->colptr[j]; i < K->colptr[j + 1]; i++) {
      const int row = K->rowind[i];
      A[(size_t)row + n * (size_t)j] += w->K[i];
      for (int q = 0; q < about->nzero; q++) {
        const size_t at = (size_t)(m->nv + m->nrow + q);
        A[at + n * (size_t)j] += about->zero[q][row] * re(w->M[i]);
        A[(size_t)row + n * at] += re(w->M[i]) * about->zero_left[q][j];
      }
    }
    for (int i = B->colptr[j]; i < B->colptr[j + 1]; i++) {
      const size_t row = (size_t)(m->nv + B->rowind[i]);
      if (w->result->rank->keep[B->rowind[i]]) {
        A[row + n * (size_t)j] = A[(size_t)j + n * row] = w->B[i];
      }
    }
  }
  for (int i = 0; i < m->nrow; i++) {
    const size_t row = (size_t)(m->nv + i);
    A[row + n * row] = w->result->rank->keep[i] ? 0 : 1;
  }
}

static void move(mbg__modes_work *w, const real *x) {
  const mbg_model *m = w->m;
  for (int b = 0; b < m->nbody; b++) {
    const mbg__frame H = w->H[b];
    real h[6];
    for (int k = 0; k < 6; k++) {
      const int j = m->dof[m->bodies[b].voff + k];
      h[k] = j >= 0 ? x[j] : 0;
    }
    mbg__se3_retract(&w->H[b], &H, h);
  }
  for (int i = 0; i < m->nrow; i++) {
    w->lambda[i] += x[m->nv + i];
  }
}

static int matrices(mbg__modes_work *w, real *r, real *phi) {
  const mbg__state state = {.t = w->t, .H = w->H, .lambda = w->lambda, .turns = w->turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(w->ctx, w->sys, &state));
  MBG_TRY(mbg__system_linearize(w->ctx, w->sys));
  mbg__system_residual(w->sys, r, phi, NULL, NULL, NULL);
  mbg__system_matrices(w->sys, &(mbg__matrices){.K = w->K, .C = w->C, .M = w->M, .B = w->B});
done:
  return err;
}

/* Newton's method: the first step gives the imaginary parts, the second repairs their rounding */
static int settle(mbg__modes_work *w, const twin_modes_given *about, double *push) {
  const mbg_model *m = w->m;
  int err = MBG_OK;
  bordered d = {.n = m->nv + m->nrow + about->nzero};
  real *r = MBG_TAKE(&w->arena, real, m->nw), *phi = MBG_TAKE(&w->arena, real, m->nrow);
  d.x = MBG_TAKE(&w->arena, real, d.n);
  if (!r || !phi || !d.x || mbg__lu_prepare(&d.lu, &w->arena, d.n) < 0) {
    return mbg__fail_memory(w->ctx);
  }
  take_given(w, about);
  for (int it = 0; it < 3; it++) {
    MBG_TRY(matrices(w, r, phi));
    fill(w, about, &d);
    memset(d.x, 0, (size_t)d.n * sizeof(real));
    for (int j = 0; j < m->nv; j++) {
      d.x[j] = -r[m->full[j]];
    }
    for (int i = 0; i < m->nrow; i++) {
      d.x[m->nv + i] = w->result->rank->keep[i] ? -phi[i] : 0;
    }
    MBG_TRY(mbg__lu_factor(&d.lu, NULL));
    mbg__lu_solve(&d.lu, d.x, 1);
    for (int q = 0; it == 0 && q < about->nzero; q++) {
      *push = fmax(*push, fabs(im(d.x[m->nv + m->nrow + q])) / TWIN_STEP);
    }
    move(w, d.x);
  }
  MBG_TRY(matrices(w, r, phi));
done:
  return err;
}

int twin_modes_about(mbg__modes_work *w, const twin_modes_given *about, double *push) {
  const mbg_model *given = w->given;
  int err = MBG_OK;
  mbg_model model = *given;
  model.npin = 0; /* as for an equilibrium */
  w->given = &model;
  MBG_TRY(mbg__modes_begin(w, MBG__START_ASSEMBLE));
  MBG_TRY(settle(w, about, push));
done:
  w->given = given;
  return err;
}

int twin_modes_matrices(twin_modes *t, const mbg_modes_options *opt, const twin_modes_given *about, const real *p,
                        double *push, real *K, real *C, real *M, real *B) {
  mbg__modes_work w = {.ctx = t->ctx, .given = t->model, .opt = *opt, .p = (real *)p};
  mbg_context_clear(t->ctx);
  mbg__arena_init(&w.arena, mbg__context_allocator(t->ctx));
  double unused, *largest = push ? push : &unused;
  *largest = 0;
  const int err = about ? twin_modes_about(&w, about, largest) : mbg__modes_state(&w);
  if (err == MBG_OK) {
    const int nK = mbg__csc_count(mbg__system_pattern_K(w.sys)), nB = mbg__csc_count(mbg__system_pattern_B(w.sys));
    vn_copy(nK, K, w.K);
    vn_copy(nK, C, w.C);
    vn_copy(nK, M, w.M);
    vn_copy(nB, B, w.B);
  }
  mbg__saddle_destroy(&w.saddle);
  mbg__start_destroy(w.start);
  mbg__system_destroy(w.sys);
  mbg__arena_destroy(&w.arena);
  return err;
}
