#include "twin/twin_modes.h"

#include "problems/modes.h"

#include <stdlib.h>
#include <string.h>

struct twin_modes {
  mbg_context *ctx;
  mbg_model *model;
};

int twin_modes_create(const char *file, const char *text, twin_modes **out) {
  twin_modes *t = calloc(1, sizeof *t);
  *out = t;
  if (!t || mbg_context_create(&t->ctx, NULL) < 0) {
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

/* The iteration ends when the real parts have converged; with freedoms of little stiffness the imaginary ones follow slowly: some plain
   steps of Newton's method carry them to rounding. */
static int settle(mbg__modes_work *w) {
  const mbg_model *m = w->m;
  real *r = calloc((size_t)m->nw + 1, sizeof *r), *phi = calloc((size_t)m->nrow + 1, sizeof *phi);
  real *x = calloc((size_t)w->saddle.n + 1, sizeof *x);
  int err = MBG_OK;
  for (int it = 0; it < 4; it++) {
    const mbg__state state = {.t = w->t, .H = w->H, .lambda = w->lambda, .turns = w->turns};
    MBG_TRY(mbg__system_update(w->ctx, w->sys, &state));
    MBG_TRY(mbg__system_linearize(w->ctx, w->sys));
    mbg__system_residual(w->sys, r, phi, NULL, NULL, NULL);
    mbg__system_matrices(w->sys, &(mbg__matrices){.K = w->K, .C = w->C, .M = w->M, .B = w->B});
    if (it == 3) {
      break;
    }
    MBG_TRY(mbg__modes_factor(w, 1, 0, 0, "twin"));
    for (int j = 0; j < m->nv; j++) {
      x[j] = -r[m->full[j]];
    }
    for (int i = 0; i < m->nrow; i++) {
      x[m->nv + i] = w->result->rank->keep[i] ? -phi[i] : 0;
    }
    mbg__klu_solve(w->saddle.klu, x, 1);
    double length = 0;
    for (int j = 0; j < m->nv; j++) {
      length = fmax(length, fabs(im(x[j])) / TWIN_STEP);
    }
    if (it == 2 && length > 1e-10) {
      err = mbg__fail(w->ctx, MBG_ERROR_CONVERGENCE, "the derivative of the equilibrium did not settle");
      goto done;
    }
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
done:
  free(r);
  free(phi);
  free(x);
  return err;
}

int twin_modes_matrices(twin_modes *t, const mbg_modes_options *opt, bool alone, const real *p, real *K, real *C,
                        real *M, real *B) {
  mbg__modes_work w = {.ctx = t->ctx, .given = t->model, .opt = *opt, .p = (real *)p};
  mbg_context_clear(t->ctx);
  mbg__arena_init(&w.arena, mbg__context_allocator(t->ctx));
  int err = mbg__modes_state(&w);
  if (err == MBG_OK && opt->at == MBG_MODES_EQUILIBRIUM && alone) {
    err = settle(&w);
  }
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
