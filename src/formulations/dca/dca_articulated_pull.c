#include "formulations/dca/dca_articulated_pull.h"

#include "math/avx2.h"
#include "tree/tree_local.h"

#include <string.h>

#define LANES(name) name
#include "formulations/dca/dca_articulated_pull_kernel.h"

typedef mbg__dca_sums sums;

void mbg__dca_articulated_group(mbg__dca_articulated *k, bool on) { k->pulls = on; }

bool mbg__dca_articulated_grouped(const mbg__dca_articulated *k) {
  return k->by_pieces && k->pieces->groups && k->pieces->groups->current;
}

/* ---------------------------------------------------------------------- a cotangent of the accelerations */

#ifdef MBG__AVX2_BEGIN
#define RUN(name, d, i) ((d)->k->pieces->wide ? name##_avx2(d, i) : name(d, i))
#else
#define RUN(name, d, i) name(d, i)
#endif

static void pull_up(void *user, int i) {
  const mbg__art_pull *d = user;
  RUN(mbg__group_pull_up, d, i);
}

static void pull_down(void *user, int i) {
  const mbg__art_pull *d = user;
  RUN(mbg__group_pull_down, d, i);
}

static void pull_end(void *user, int i) {
  const mbg__art_pull *d = user;
  RUN(mbg__group_pull_end, d, i);
}

/* cotangents of twists from exit to exit */
static void twists_between(const mbg__art_pieces *s, mbg__art_up *up) {
  for (int j = 0; j < s->n; j++) {
    v6_zero(up[j].exit);
  }
  for (int j = s->n - 1; j >= 0; j--) {
    const mbg__art_piece *x = &s->pieces[j];
    if (x->base < 0) {
      continue;
    }
    if (x->npath > 0) {
      real y[6];
      AdInvT_mul(y, &x->G, up[j].exit);
      v6_axpy(up[j].own, 1, y);
    }
    v6_axpy(up[x->base].exit, 1, up[j].own);
  }
}

void mbg__dca_articulated_pull(const mbg__dca_articulated *k, const real *w, const real *a, const real *b, real *ge,
                               real *gw, mbg__dca_sums *x) {
  mbg__art_pull job = {.k = k, .w = w, .a = a, .b = b, .ge = ge, .gw = gw, .sums = x, .up = x->up};
  const mbg__art_pieces *s = k->pieces;
  const int n = s->groups->n;
  mbg__pool_heavy(k->pool, MBG__LOOP_PULL_UP, n, pull_up, &job);
  mbg__art_pieces_coarse(s, s->sides, NULL);
  mbg__pool_heavy(k->pool, MBG__LOOP_PULL_DOWN, n, pull_down, &job);
  twists_between(s, x->up);
  mbg__pool_heavy(k->pool, MBG__LOOP_PULL_END, n, pull_end, &job);
}

/* ---------------------------------------------------------------------- attributes */

int mbg__dca_sums_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_articulated *k, mbg__dca_sums **out) {
  const struct mbg__art_groups *g = k->pieces ? k->pieces->groups : NULL;
  *out = NULL;
  if (!g) {
    return MBG_OK;
  }
  sums *x = MBG_TAKE(arena, sums, 1);
  mbg__lane_sums **links = MBG_TAKE(arena, mbg__lane_sums *, g->n);
  lane *ground = MBG_TAKE(arena, lane, 3 * (size_t)g->n);
  mbg__art_up *up = MBG_TAKE(arena, mbg__art_up, k->pieces->n);
  real *marker = MBG_TAKE(arena, real, 6 * (size_t)k->nbody);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  *x = (sums){.links = links, .ground = (lane(*)[3])ground, .up = up, .marker = marker};
  for (int i = 0; i < g->n; i++) {
    x->links[i] = MBG_TAKE(arena, mbg__lane_sums, g->groups[i].count);
  }
  *out = x;
  return mbg__arena_check(ctx, arena);
}

static void mass_matrix(const mbg__art_link *l, real M[36]) {
  static const int row[6] = {3, 4, 5, 3, 3, 4}, column[6] = {3, 4, 5, 4, 5, 5};
  m6_zero(M);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    M[7 * i] = l->m;
    M[6 * (3 + k) + j] = M[6 * j + 3 + k] = l->mc[i];
    M[6 * (3 + j) + k] = M[6 * k + 3 + j] = -l->mc[i];
  }
  for (int i = 0; i < 6; i++) {
    M[6 * row[i] + column[i]] = M[6 * column[i] + row[i]] = l->J[i];
  }
}

/* W with <dM, W> of the sums of lane q, for changes dM of a rigid body's mass matrix */
static void mass_cotangent(const mbg__lane_sums *x, int q, real W[36]) {
  static const int row[6] = {3, 4, 5, 3, 3, 4}, column[6] = {3, 4, 5, 4, 5, 5};
  m6_zero(W);
  W[0] = lane_get(&x->m, q);
  for (int i = 0; i < 3; i++) {
    W[6 * (3 + (i + 2) % 3) + (i + 1) % 3] = lane_get(&x->mc[i], q);
  }
  for (int i = 0; i < 6; i++) {
    W[6 * row[i] + column[i]] = lane_get(&x->J[i], q);
  }
}

/* W of M in the body, Ad(hC) W Ad(hC)^T */
static void in_body(const mbg__frame *hC, const real W[36], real out[36]) {
  real Y[36], x[6], y[6];
  for (int j = 0; j < 6; j++) {
    for (int i = 0; i < 6; i++) {
      x[i] = W[6 * i + j];
    }
    Ad_mul(y, hC, x);
    for (int i = 0; i < 6; i++) {
      Y[6 * i + j] = y[i];
    }
  }
  for (int i = 0; i < 6; i++) {
    Ad_mul(out + 6 * i, hC, Y + 6 * i);
  }
}

/* c += <dM, W> of a change omega of hC: dM = M ad(omega) + ad(omega)^T M */
static void frame_in_mass(const real M[36], const real W[36], real c[6]) {
  real sum[36], N[36];
  m6_transpose(sum, W);
  m6_axpy(sum, 1, W);
  m6_mul(N, M, sum);
  /* <N, ad(omega)>, ad(U, W) = [[W~, U~], [0, W~]] */
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    c[k] += N[6 * j + 3 + i] - N[6 * i + 3 + j];
    c[3 + k] += N[6 * j + i] - N[6 * i + j] + N[6 * (3 + j) + 3 + i] - N[6 * (3 + i) + 3 + j];
  }
}

/* attributes of the body and of hP; what moves hC is noted */
static void link_attributes(const mbg__dca_articulated *k, sums *x, const mbg__lane_sums *from, int q, int i,
                            real *ga) {
  const mbg__art_link *l = &k->links[i];
  real M[36], W[36], Wb[36], up[6], c[6];
  mass_cotangent(from, q, W);
  in_body(&l->hC, W, Wb);
  mbg__system_inertia_pull(mbg__tree_system(k->tree), l->body, Wb, ga);
  mass_matrix(l, M);
  frame_in_mass(M, W, x->marker + 6 * (size_t)i);
  for (int j = 0; j < 6; j++) {
    up[j] = lane_get(&from->frame[j], q);
  }
  AdT_mul(c, &l->A, up);
  mbg__tree_handle_pull(k->tree, i, false, c, ga);
  if (l->parent >= 0) {
    v6_axpy(x->marker + 6 * (size_t)l->parent, -1, up);
  }
}

/* of piece q of a group */
static void piece_attributes(const mbg__dca_articulated *k, sums *x, int at, int q, real *ga) {
  const mbg__art_group *g = &k->pieces->groups->groups[at];
  const bool grounded = k->pieces->pieces[g->piece[q]].base < 0;
  for (int i = 0; i < g->count; i++) {
    link_attributes(k, x, &x->links[at][i], q, g->links[i].link[q], ga);
  }
  for (int i = 0; grounded && k->m->gravity >= 0 && i < 3; i++) {
    ga[k->m->gravity + i] += lane_get(&x->ground[at][i], q);
  }
}

void mbg__dca_sums_pull(const mbg__dca_articulated *k, mbg__dca_sums *x, real *ga) {
  const struct mbg__art_groups *s = k->pieces->groups;
  memset(x->marker, 0, 6 * (size_t)k->nbody * sizeof(real));
  for (int i = 0; i < s->n; i++) {
    for (int q = 0; q < s->groups[i].n; q++) {
      piece_attributes(k, x, i, q, ga);
    }
    memset(x->links[i], 0, (size_t)s->groups[i].count * sizeof(mbg__lane_sums));
    memset(x->ground[i], 0, sizeof(x->ground[i]));
  }
  for (int i = 0; i < k->nbody; i++) {
    mbg__tree_handle_pull(k->tree, i, true, x->marker + 6 * (size_t)i, ga);
  }
}
