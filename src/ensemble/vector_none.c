/* Compiled for ensembles alone: what they have none of. Loops run in the thread of the caller; models with modal bodies
   do not come here. */
#include "base/pool.h"
#include "math/eigen.h"
#include "model/modal_beam.h"

#include <string.h>

int mbg__eigen_pair(mbg_context *ctx, int n, double *K, double *M, double *w) {
  (void)ctx, (void)n, (void)K, (void)M, (void)w;
  r_diverge_all();
  return MBG_ERROR_SINGULAR;
}

void mbg__modal_beam_data(const mbg__modal_beam *beam, int n, real L, const real (*c)[MBG__BEAM_COEFS],
                          const real (*c_z)[MBG__BEAM_COEFS][MBG__BEAM_NUMBERS], real *D, mbg__modal_map *map) {
  (void)beam, (void)n, (void)L, (void)c, (void)c_z, (void)D, (void)map;
  r_diverge_all();
}

void mbg__modal_beam_column(const mbg__modal_beam *beam, int mode, int e, const real r[3], real L, const double sign[3],
                            real P[6], real P_r[3][6], real P_L[6]) {
  (void)beam, (void)mode, (void)e, (void)r, (void)L, (void)sign, (void)P, (void)P_r, (void)P_L;
  r_diverge_all();
}

int mbg__pool_create(mbg_context *ctx, int threads, mbg__pool **out) {
  (void)ctx, (void)threads;
  *out = NULL;
  return MBG_OK;
}

void mbg__pool_destroy(mbg__pool *pool) { (void)pool; }

int mbg__pool_threads(const mbg__pool *pool) {
  (void)pool;
  return 1;
}

void mbg__pool_for(mbg__pool *pool, int loop, int n, int piece, mbg__pool_work *work, void *user) {
  (void)pool, (void)loop, (void)piece;
  if (n > 0) {
    work(user, 0, 0, n);
  }
}

void mbg__pool_each(mbg__pool *pool, int loop, int n, mbg__pool_item *item, void *user) {
  (void)pool, (void)loop;
  for (int i = 0; i < n; i++) {
    item(user, i);
  }
}

void mbg__pool_heavy(mbg__pool *pool, int loop, int n, mbg__pool_item *item, void *user) {
  mbg__pool_each(pool, loop, n, item, user);
}

void mbg__pool_copy(mbg__pool *pool, int loop, size_t bytes, void *to, const void *from) {
  (void)pool, (void)loop;
  memcpy(to, from, bytes);
}

void mbg__pool_zero(mbg__pool *pool, int loop, size_t n, real *x) {
  (void)pool, (void)loop;
  for (size_t i = 0; i < n; i++) {
    x[i] = 0;
  }
}
