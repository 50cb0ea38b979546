#include "twin/twin_linearize.h"

#include "linearize/linearize.h"
#include "twin/twin_modes_internal.h"

/* mbg__linearize_solve with another way to the point */
static int solve_about(mbg__linearize_work *k, const twin_modes_given *about) {
  double push = 0;
  int err = MBG_OK;
  MBG_TRY(mbg__linearize_extend(k));
  MBG_TRY(mbg__linearize_lists(k));
  k->at.ctx = k->ctx;
  k->at.given = &k->model;
  k->at.p = k->p;
  mbg__arena_init(&k->at.arena, mbg__context_allocator(k->ctx));
  MBG_TRY(twin_modes_about(&k->at, about, &push));
  k->spec.rest = true;
  k->spec.keep = k->at.result->rank->keep;
  MBG_TRY(mbg__linearize_at_point(k));
done:
  return err;
}

int twin_linearize_matrices(twin_modes *t, const mbg_linearize_options *opt, const twin_modes_given *about,
                            const real *p, real *const matrices[4]) {
  mbg__linearize_work k = {.ctx = t->ctx, .given = t->model, .opt = *opt, .p = (real *)p};
  mbg_context_clear(t->ctx);
  mbg__arena_init(&k.arena, mbg__context_allocator(t->ctx));
  const int err = about ? solve_about(&k, about) : mbg__linearize_solve(&k);
  if (err == MBG_OK) {
    const mbg__linear *l = &k.linear;
    vn_copy(l->n * l->n, matrices[0], l->A);
    vn_copy(l->n * l->ninput, matrices[1], l->B);
    vn_copy(l->noutput * l->n, matrices[2], l->C);
    vn_copy(l->noutput * l->ninput, matrices[3], l->D);
  }
  mbg__linearize_end(&k);
  return err;
}
