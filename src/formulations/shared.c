/* The functions that formulations share. */
#include "formulations/formulation.h"

#ifdef MBG_ENSEMBLE

/* seeds are those of the runs of the samples */
void mbg__seeds_at(const mbg__criterion_seeds *seeds, int ncrit, const mbg__nodes *nodes, int node, real *seed) {
  seeds->source(seeds->user, ncrit, nodes->nused, node, seed);
}

/* of events, which ensembles do not have */
real mbg__seed_time(const mbg__criterion_seeds *seeds, const mbg__nodes *nodes, int n) {
  (void)seeds, (void)nodes, (void)n;
  return 0;
}

real mbg__seed_stretch(const mbg__criterion_seeds *seeds, const mbg__nodes *nodes, int n) {
  (void)seeds, (void)nodes, (void)n;
  return 0;
}

#else

void mbg__seeds_at(const mbg__criterion_seeds *seeds, int ncrit, const mbg__nodes *nodes, int node, real *seed) {
  for (int c = 0; c < ncrit; c++) {
    for (int k = 0; k < nodes->nused; k++) {
      *seed++ = mbg__seed(&seeds[c], nodes, node, k);
    }
  }
}

/* trapezoidal sum: an interval between nodes gives (F_a + F_b)/2 to its end and takes it from its begin */
real mbg__seed_time(const mbg__criterion_seeds *seeds, const mbg__nodes *nodes, int n) {
  const real T = mbg__nodes_time(nodes, nodes->nnode - 1) - mbg__nodes_time(nodes, 0);
  const mbg__seeds *s = &seeds->at;
  real sum = mbg__seeds_time(s, n);
  if (s->ndensity == 0 || nodes->omega) {
    return sum;
  }
  const real F = mbg__seeds_integrand(s, mbg__nodes_values(nodes, n), T);
  sum += n > 0 ? (mbg__seeds_integrand(s, mbg__nodes_values(nodes, n - 1), T) + F) / 2 : 0;
  sum -= n + 1 < nodes->nnode ? (mbg__seeds_integrand(s, mbg__nodes_values(nodes, n + 1), T) + F) / 2 : 0;
  return sum;
}

real mbg__seed_stretch(const mbg__criterion_seeds *seeds, const mbg__nodes *nodes, int n) {
  const real T = mbg__nodes_time(nodes, nodes->nnode - 1) - mbg__nodes_time(nodes, 0);
  const real omega = nodes->omega && seeds->at.ndensity > 0 ? nodes->omega[n] : 0;
  return omega == 0 ? 0 : omega * mbg__seeds_integrand(&seeds->at, mbg__nodes_values(nodes, n), T);
}

#endif

static const real *poses_at(const mbg__criterion_seeds *seeds, int nw, int node) {
  const bool any = seeds->poses && node >= seeds->poses_from;
  return any ? seeds->poses + 2 * (size_t)nw * (size_t)(node - seeds->poses_from) : NULL;
}

bool mbg__seeds_have_poses(const mbg__criterion_seeds *seeds, int ncrit, int nw, int node) {
  for (int c = 0; c < ncrit; c++) {
    const real *x = poses_at(&seeds[c], nw, node);
    if (x && mbg__any(2 * (size_t)nw, x)) {
      return true;
    }
  }
  return false;
}

void mbg__seeds_add_poses(const mbg__criterion_seeds *seeds, int nw, int node, real *gw, real *gv) {
  const real *x = poses_at(seeds, nw, node);
  for (int i = 0; x && i < nw; i++) {
    gw[i] += x[i];
    gv[i] += x[nw + i];
  }
}

bool mbg__seeds_all(const mbg__criterion_seeds *seeds, int ncrit) {
  for (int c = 0; c < ncrit; c++) {
    if (seeds[c].all) {
      return true;
    }
  }
  return false;
}

bool mbg__any(size_t n, const real *x) {
  for (size_t i = 0; i < n; i++) {
    if (r_some(x[i] != 0)) {
      return true;
    }
  }
  return false;
}

int mbg__formulation_late(mbg_context *ctx, const mbg_model *m, const char *what, const char *other) {
  for (int i = 0; i < m->nstate; i++) {
    const mbg__force *rate = &m->forces[m->states[i].force];
    if (rate->late) {
      return mbg__fail_at(ctx, MBG_ERROR_UNSUPPORTED, &rate->where, 0,
                          "the rate uses accelerations, reactions, forces, energies or strains of beams, which %s does "
                          "not take; use %s",
                          what, other);
    }
  }
  return MBG_OK;
}

void mbg__gather(const mbg_model *m, const bool *keep, real c, const real *f, double d, const real *g, real *x) {
  mbg__to_free(m, c, f, x);
  for (int i = 0; i < m->nrow; i++) {
    x[m->nv + i] = keep[i] ? d * g[i] : 0;
  }
}

void mbg__scatter(const mbg_model *m, const bool *keep, real c, const real *x, real *f, real *g) {
  vn_zero(m->nw, f);
  mbg__to_full(m, c, x, f);
  for (int i = 0; i < m->nrow; i++) {
    g[i] = keep[i] ? x[m->nv + i] : 0;
  }
}
