#include "model/modal_beam.h"

#include "math/eigen.h"
#include "math/vec.h"

#include <string.h>

/* ---------------------------------------------------------------------- families of modes */

/* A straight beam with aligned sections has four independent families: stretching u1, twisting th1, bending (u2, th3)
   and (u3, th2). Bending has two unknowns at a node, the others one. */
enum { STRETCH, TWIST, BEND2, BEND3, FAMILIES };

typedef struct {
  int family, size; /* unknowns: of all nodes */
  double w;         /* eigenvalue; static modes: -1 */
  double *x;        /* (size) */
} natural;

static int per_node(int family) { return family >= BEND2 ? 2 : 1; }

/* planar: no twist, no out-of-plane bending */
static bool in_use(int family, bool planar) { return !planar || family == STRETCH || family == BEND2; }

/* Shapes of bending in an element of length l with the shear number Phi (theory: exact for end loads); column k belongs
   to (v1, th1, v2, th2). Coefficients of t^0 .. : v cubic, th quadratic. */
static void bending_shapes(double l, double Phi, double V[4][4], double T[4][3]) {
  const double s = 1 / (1 + Phi);
  const double v[4][4] = {{1 + Phi, -Phi, -3, 2},
                          {0, l * (1 + Phi / 2), -l * (2 + Phi / 2), l},
                          {0, Phi, 3, -2},
                          {0, -l * Phi / 2, l * (Phi / 2 - 1), l}};
  const double t[4][3] = {{0, -6 / l, 6 / l}, {1 + Phi, -4 - Phi, 3}, {0, 6 / l, -6 / l}, {0, Phi - 2, 3}};
  for (int k = 0; k < 4; k++) {
    for (int p = 0; p < 4; p++) {
      V[k][p] = s * v[k][p];
    }
    for (int p = 0; p < 3; p++) {
      T[k][p] = s * t[k][p];
    }
  }
}

/* properties of an element in one family of modes */
typedef struct {
  double stiff, shear; /* E A, G Jt or E I; k G A */
  double mass, rotary; /* rho A or rho (I2 + I3); rho I */
  double Phi;
} properties;

static properties properties_of(const mbg__modal_beam *b, int family, const double c[MBG__BEAM_COEFS], double l) {
  static const int K[FAMILIES] = {0, 3, 5, 4}, G[FAMILIES] = {0, 0, 1, 2}, mu[FAMILIES] = {0, 0, 2, 1};
  properties p = {.stiff = c[MBG__BEAM_K + K[family]], .mass = c[MBG__BEAM_MU]};
  if (family == TWIST) {
    p.mass = c[MBG__BEAM_MU + 1] + c[MBG__BEAM_MU + 2];
  }
  if (family >= BEND2) {
    p.shear = c[MBG__BEAM_K + G[family]];
    p.rotary = c[MBG__BEAM_MU + mu[family]];
    p.Phi = b->shear ? 12 * p.stiff / (p.shear * l * l) : 0;
  }
  return p;
}

/* a polynomial and its derivative */
static real value(int n, const double *c, real t) {
  real y = 0;
  for (int k = n - 1; k >= 0; k--) {
    y = y * t + c[k];
  }
  return y;
}

static real slope(int n, const double *c, real t) {
  real y = 0;
  for (int k = n - 1; k >= 1; k--) {
    y = y * t + k * c[k];
  }
  return y;
}

enum { GAUSS = 5 }; /* exact to degree 9 */
static const double gauss_t[GAUSS] = {0.04691007703066800, 0.23076534494715845, 0.5, 0.76923465505284155,
                                      0.95308992296933200};
static const double gauss_w[GAUSS] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444,
                                      0.23931433524968324, 0.11846344252809454};

/* K and M of an element; n: 2 or 4 unknowns */
static void element_matrices(int family, const properties *p, double l, double K[16], double M[16]) {
  const int n = 2 * per_node(family);
  double V[4][4], T[4][3];
  memset(K, 0, 16 * sizeof(*K));
  memset(M, 0, 16 * sizeof(*M));
  bending_shapes(l, p->Phi, V, T);
  for (int g = 0; g < GAUSS; g++) {
    const double t = gauss_t[g], w = gauss_w[g] * l;
    double a[4], d[4], r[4] = {0}, s[4] = {0};
    for (int k = 0; k < n; k++) {
      if (n == 2) {
        a[k] = k ? t : 1 - t;
        d[k] = (k ? 1 : -1) / l;
      } else {
        a[k] = re(value(4, V[k], t));
        r[k] = re(value(3, T[k], t));
        d[k] = re(slope(3, T[k], t)) / l;
        s[k] = re(slope(4, V[k], t)) / l - r[k];
      }
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        K[n * i + j] += w * (p->stiff * d[i] * d[j] + (p->Phi > 0 ? p->shear : 0) * s[i] * s[j]);
        M[n * i + j] += w * (p->mass * a[i] * a[j] + p->rotary * r[i] * r[j]);
      }
    }
  }
}

/* ---------------------------------------------------------------------- eigenvalues */

/* unknowns of a family that are held; CB: the last node is held, too, while the interior is solved */
static bool is_fixed(const mbg__modal_beam *b, int family, int node, int k) {
  const bool last = node == b->count;
  switch (b->boundary) {
  case MBG__BEAM_FIXED_FREE:
    return node == 0;
  case MBG__BEAM_PINNED:
    return family >= BEND2 ? (node == 0 || last) && k == 0 : node == 0;
  default:
    return node == 0 || last;
  }
}

typedef struct {
  int n, nfree; /* unknowns, free ones */
  int *at;      /* place of an unknown among the free ones, -1: held */
  double *K, *M;
} mesh;

static int make_mesh(mbg_context *ctx, mbg__arena *arena, const mbg__modal_beam *b, int family,
                     const double (*coefs)[MBG__BEAM_COEFS], double length, mesh *m) {
  const int d = per_node(family);
  const double l = length / b->count;
  m->n = d * (b->count + 1);
  m->nfree = 0;
  m->at = MBG_TAKE(arena, int, m->n);
  m->K = MBG_TAKE(arena, double, m->n * m->n);
  m->M = MBG_TAKE(arena, double, m->n * m->n);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < m->n; i++) {
    m->at[i] = is_fixed(b, family, i / d, i % d) ? -1 : m->nfree++;
  }
  for (int e = 0; e < b->count; e++) {
    const properties p = properties_of(b, family, coefs[e], l);
    double K[16], M[16];
    element_matrices(family, &p, l, K, M);
    for (int i = 0; i < 2 * d; i++) {
      for (int j = 0; j < 2 * d; j++) {
        m->K[(d * e + i) + m->n * (d * e + j)] += K[2 * d * i + j];
        m->M[(d * e + i) + m->n * (d * e + j)] += M[2 * d * i + j];
      }
    }
  }
  return MBG_OK;
}

/* the free part of a matrix, packed in place of a copy */
static double *free_part(mbg__arena *arena, const mesh *m, const double *A) {
  double *out = MBG_TAKE(arena, double, m->nfree * m->nfree);
  for (int j = 0; out && j < m->n; j++) {
    for (int i = 0; i < m->n; i++) {
      if (m->at[i] >= 0 && m->at[j] >= 0) {
        out[m->at[i] + m->nfree * m->at[j]] = A[i + m->n * j];
      }
    }
  }
  return out;
}

typedef struct {
  natural *at;
  int count;
} modes;

static int normal_modes(mbg_context *ctx, mbg__arena *arena, const mesh *m, int family, modes *out) {
  double *K = free_part(arena, m, m->K), *M = free_part(arena, m, m->M), *w = MBG_TAKE(arena, double, m->nfree);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  const int err = mbg__eigen_pair(ctx, m->nfree, K, M, w);
  if (err < 0) {
    return err == MBG_ERROR_MEMORY ? mbg__fail_memory(ctx)
                                   : mbg__fail(ctx, err, "the modes of the beam could not be computed");
  }
  for (int k = 0; k < m->nfree; k++) {
    natural *x = &out->at[out->count++];
    *x = (natural){.family = family, .size = m->n, .w = w[k], .x = MBG_TAKE(arena, double, m->n)};
    if (!x->x) {
      return mbg__fail_memory(ctx);
    }
    for (int i = 0; i < m->n; i++) {
      x->x[i] = m->at[i] < 0 ? 0 : K[m->at[i] + m->nfree * k];
    }
  }
  return MBG_OK;
}

/* unit motions of the last node, the interior follows: K_ff x = -K_fb */
static int static_modes(mbg_context *ctx, mbg__arena *arena, const mesh *m, int family, modes *out) {
  const int d = per_node(family);
  for (int k = 0; k < d; k++) {
    const int held = m->n - d + k;
    double *K = free_part(arena, m, m->K), *x = MBG_TAKE(arena, double, m->n), *b = MBG_TAKE(arena, double, m->nfree);
    if (mbg__arena_check(ctx, arena) < 0) {
      return MBG_ERROR_MEMORY;
    }
    for (int i = 0; i < m->n; i++) {
      if (m->at[i] >= 0) {
        b[m->at[i]] = -m->K[i + m->n * held];
      }
    }
    if (mbg__solve_spd(m->nfree, K, 1, b) < 0) {
      return mbg__fail(ctx, MBG_ERROR_SINGULAR, "the static modes of the beam could not be computed");
    }
    for (int i = 0; i < m->n; i++) {
      x[i] = i == held ? 1 : m->at[i] < 0 ? 0 : b[m->at[i]];
    }
    out->at[out->count++] = (natural){.family = family, .size = m->n, .w = -1, .x = x};
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- pieces */

/* largest displacement 1 (of twisting: rotation times length), at the place of the largest a positive one */
static double norm_of(const natural *m, double length) {
  const int d = per_node(m->family);
  double most = 0;
  for (int i = 0; i < m->size; i += d) {
    most = fabs(m->x[i]) > fabs(most) * (1 + 1e-9) ? m->x[i] : most;
  }
  if (m->w < 0) {
    return 1;
  }
  return m->family == TWIST ? most * length : most;
}

static void piece_of(const mbg__modal_beam *b, const natural *m, int e, const double c[MBG__BEAM_COEFS], double length,
                     mbg__mode_piece *out) {
  const int d = per_node(m->family);
  const double l = length / b->count, s = 1 / norm_of(m, length), *x = m->x + d * e;
  *out = (mbg__mode_piece){{{0}}, {{0}}};
  if (m->family == STRETCH) {
    out->U[0][0] = s * x[0];
    out->U[0][1] = s * (x[1] - x[0]);
    return;
  }
  if (m->family == TWIST) {
    out->Th[0][0] = s * x[0] * length;
    out->Th[0][1] = s * (x[1] - x[0]) * length;
    return;
  }
  /* u2' = th3, u3' = -th2 */
  const properties p = properties_of(b, m->family, c, l);
  double V[4][4], T[4][3];
  const int u = m->family == BEND2 ? 1 : 2, th = m->family == BEND2 ? 2 : 1;
  bending_shapes(l, p.Phi, V, T);
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 4; i++) {
      out->U[u][i] += s * x[k] * V[k][i];
    }
    for (int i = 0; i < 3; i++) {
      out->Th[th][i] += (th == 2 ? 1 : -1) * s * x[k] * T[k][i] * length;
    }
  }
}

int mbg__modal_beam_most(const mbg__modal_beam *b, bool planar) {
  int n = 0;
  for (int f = 0; f < FAMILIES; f++) {
    for (int i = 0; in_use(f, planar) && i < per_node(f) * (b->count + 1); i++) {
      n += !is_fixed(b, f, i / per_node(f), i % per_node(f));
    }
  }
  return n + mbg__modal_beam_static(b, planar);
}

int mbg__modal_beam_static(const mbg__modal_beam *b, bool planar) {
  return b->boundary != MBG__BEAM_CRAIG_BAMPTON ? 0 : planar ? 3 : 6;
}

/* lowest first; families in their order where frequencies agree (round sections) */
static void sort(modes *m) {
  for (int i = 1; i < m->count; i++) {
    const natural x = m->at[i];
    int j = i - 1;
    while (j >= 0 && m->at[j].w > x.w + 1e-9 * fabs(x.w)) {
      m->at[j + 1] = m->at[j];
      j--;
    }
    m->at[j + 1] = x;
  }
}

int mbg__modal_beam_modes(mbg_context *ctx, mbg__arena *arena, mbg__modal_beam *b, int n, bool planar,
                          const double (*coefs)[MBG__BEAM_COEFS], double length) {
  int err = MBG_OK;
  mbg__arena scratch;
  modes all = {0};
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  all.at = MBG_TAKE(&scratch, natural, mbg__modal_beam_most(b, planar));
  b->pieces = MBG_TAKE(arena, mbg__mode_piece, n * b->count);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int f = 0; f < FAMILIES; f++) {
    mesh m;
    if (!in_use(f, planar)) {
      continue;
    }
    MBG_TRY(make_mesh(ctx, &scratch, b, f, coefs, length, &m));
    if (mbg__modal_beam_static(b, planar) > 0) {
      MBG_TRY(static_modes(ctx, &scratch, &m, f, &all));
    }
    MBG_TRY(normal_modes(ctx, &scratch, &m, f, &all));
  }
  sort(&all);
  for (int j = 0; j < n; j++) {
    for (int e = 0; e < b->count; e++) {
      piece_of(b, &all.at[j], e, coefs[e], length, &b->pieces[j * b->count + e]);
    }
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}

/* ---------------------------------------------------------------------- integrals */

/* Numbers of a lump of mass 1 at s with the shapes phi_j (3 n): added to the flat array with a weight. The invariants
   are bilinear in s and phi, so that a section is three lumps: its middle (weight rho A), and e3, e2 with phi = th x
   e3, th x e2 (weights rho I2, rho I3). middle: linear ones, too. */
static void add_lump(int n, const mbg__modal_layout *l, double w, const double s[3], const double *phi, bool middle,
                     double *D) {
  if (middle) {
    D[l->I1] += w;
  }
  for (int a = 0; a < 3; a++) {
    D[l->I2 + a] += middle ? w * s[a] : 0;
    for (int b = 0; b < 3; b++) {
      D[l->I7 + 3 * a + b] += w * ((a == b) * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) - s[a] * s[b]);
    }
  }
  for (int j = 0; j < n; j++) {
    const double *p = phi + 3 * j, sp = s[0] * p[0] + s[1] * p[1] + s[2] * p[2];
    for (int a = 0; a < 3; a++) {
      const int a1 = (a + 1) % 3, a2 = (a + 2) % 3;
      D[l->I3 + 3 * j + a] += middle ? w * p[a] : 0;
      D[l->I4 + 3 * j + a] += w * (s[a1] * p[a2] - s[a2] * p[a1]);
      for (int b = 0; b < 3; b++) {
        D[l->I8 + 9 * j + 3 * a + b] += w * ((a == b) * sp - p[a] * s[b]);
      }
    }
    for (int k = 0; k < n; k++) {
      const double *q = phi + 3 * k, pq = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
      D[l->I6 + n * j + k] += w * pq;
      for (int a = 0; a < 3; a++) {
        const int a1 = (a + 1) % 3, a2 = (a + 2) % 3;
        D[l->I5 + 3 * (n * j + k) + a] += w * (p[a1] * q[a2] - p[a2] * q[a1]);
        for (int b = 0; b < 3; b++) {
          D[l->I9 + 9 * (n * j + k) + 3 * a + b] += w * ((a == b) * pq - q[a] * p[b]);
        }
      }
    }
  }
}

/* shapes and strains of a mode at t of its piece, for L = 1 */
typedef struct {
  double u[3], th[3];
  double e[6]; /* stretching, shears, twist, curvatures about 2 and 3 */
} shape;

static shape shape_at(const mbg__modal_beam *b, int mode, int e, double t, const double sign[3]) {
  const mbg__mode_piece *p = &b->pieces[mode * b->count + e];
  const double N = b->count, handed = sign[0] * sign[1] * sign[2];
  double U[3], Th[3], dU[3], dTh[3];
  shape s;
  for (int a = 0; a < 3; a++) {
    U[a] = re(value(4, p->U[a], t));
    dU[a] = N * re(slope(4, p->U[a], t));
    Th[a] = re(value(3, p->Th[a], t));
    dTh[a] = N * re(slope(3, p->Th[a], t));
    s.u[a] = sign[a] * U[a];
    s.th[a] = handed * sign[a] * Th[a];
  }
  s.e[0] = dU[0];
  s.e[1] = b->shear ? dU[1] - Th[2] : 0;
  s.e[2] = b->shear ? dU[2] + Th[1] : 0;
  for (int a = 0; a < 3; a++) {
    s.e[3 + a] = dTh[a];
  }
  return s;
}

/* all numbers of element e at one Gauss point: rows of coefs, flat arrays */
static void add_point(const mbg__modal_beam *b, int n, int e, int g, const double sign[3], double *work, double *out) {
  const mbg__modal_layout l = mbg__modal_places(n);
  const double t = gauss_t[g], w = gauss_w[g] / b->count;
  const double place[3][3] = {{sign[0] * (e + t) / b->count, 0, 0}, {0, 0, sign[2]}, {0, sign[1], 0}};
  double *phi = work;
  shape *s = (shape *)(void *)(work + 9 * n);
  for (int j = 0; j < n; j++) {
    s[j] = shape_at(b, j, e, t, sign);
    for (int q = 0; q < 3; q++) {
      const double *r = place[q], *th = s[j].th;
      for (int a = 0; a < 3; a++) {
        const int a1 = (a + 1) % 3, a2 = (a + 2) % 3;
        phi[3 * (n * q + j) + a] = q == 0 ? s[j].u[a] : th[a1] * r[a2] - th[a2] * r[a1];
      }
    }
  }
  for (int q = 0; q < 3; q++) {
    add_lump(n, &l, w, place[q], phi + 3 * n * q, q == 0, out + (6 + q) * l.count);
  }
  for (int q = 0; q < 6; q++) {
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < n; k++) {
        out[q * l.count + l.K + n * j + k] += w * s[j].e[q] * s[k].e[q];
      }
    }
  }
}

/* power of L that belongs to a number and a coefficient */
static int power_of(const mbg__modal_layout *l, int entry, int q) {
  if (q < 6) {
    return q < 3 ? -1 : -3;
  }
  const int s =
      entry >= l->I7 && entry < l->I3                                                                               ? 2
      : (entry >= l->I2 && entry < l->I7) || (entry >= l->I4 && entry < l->I5) || (entry >= l->I8 && entry < l->I9) ? 1
                                                                                                                    : 0;
  if (q == 6) {
    return 1 + s;
  }
  /* lumps of the rotary inertia: s of order 1, phi of order 1/L; of degree 2 together */
  return 1 - (2 - s);
}

static int take_live(mbg_context *ctx, mbg__arena *arena, mbg__modal_beam *b, const double *all, int count) {
  const int rows = b->count * MBG__MODAL_COEFS;
  b->live = MBG_TAKE(arena, int, count);
  if (!b->live) {
    return mbg__fail_memory(ctx);
  }
  b->nlive = 0;
  for (int i = 0; i < count; i++) {
    bool any = false;
    for (int r = 0; r < rows; r++) {
      any = any || all[(size_t)r * (size_t)count + (size_t)i] != 0;
    }
    if (any) {
      b->live[b->nlive++] = i;
    }
  }
  b->G = MBG_TAKE(arena, double, (size_t)rows *(size_t)b->nlive);
  if (!b->G) {
    return mbg__fail_memory(ctx);
  }
  for (int r = 0; r < rows; r++) {
    for (int i = 0; i < b->nlive; i++) {
      b->G[(size_t)r * (size_t)b->nlive + (size_t)i] = all[(size_t)r * (size_t)count + (size_t)b->live[i]];
    }
  }
  return MBG_OK;
}

int mbg__modal_beam_integrate(mbg_context *ctx, mbg__arena *arena, mbg__modal_beam *b, int n, const double sign[3]) {
  const int count = mbg__modal_places(n).count;
  int err = MBG_OK;
  double *all = mbg__alloc_zero(ctx, (size_t)b->count * MBG__MODAL_COEFS * (size_t)count, sizeof(double));
  double *work = mbg__alloc(ctx, (size_t)n, 9 * sizeof(double) + sizeof(shape));
  if (!all || !work) {
    err = mbg__fail_memory(ctx);
    goto MBG__TO(done);
  }
  for (int e = 0; e < b->count; e++) {
    for (int g = 0; g < GAUSS; g++) {
      add_point(b, n, e, g, sign, work, all + (size_t)e * MBG__MODAL_COEFS * (size_t)count);
    }
  }
  MBG_TRY(take_live(ctx, arena, b, all, count));
done:
  mbg__free(ctx, all);
  mbg__free(ctx, work);
  return err;
}

/* ---------------------------------------------------------------------- at a design */

static real power(real L, int p) {
  real y = 1;
  for (int k = 0; k < (p < 0 ? -p : p); k++) {
    y *= L;
  }
  return p < 0 ? 1 / y : y;
}

void mbg__modal_beam_data(const mbg__modal_beam *b, int n, real L, const real (*c)[MBG__BEAM_COEFS],
                          const real (*c_z)[MBG__BEAM_COEFS][MBG__BEAM_NUMBERS], real *D, mbg__modal_map *map) {
  static const int coef[MBG__MODAL_COEFS] = {0, 1, 2, 3, 4, 5, MBG__BEAM_MU, MBG__BEAM_MU + 1, MBG__BEAM_MU + 2};
  const mbg__modal_layout l = mbg__modal_places(n);
  for (int a = 0; a <= b->nattr; a++) {
    for (int i = 0; i < b->nlive; i++) {
      map->entry[map->count] = b->live[i];
      map->attr[map->count] = a < b->nattr ? b->attrs[a] : b->length;
      map->val[map->count++] = 0;
    }
  }
  for (int q = 0; q < MBG__MODAL_COEFS; q++) {
    for (int i = 0; i < b->nlive; i++) {
      const int p = power_of(&l, b->live[i], q);
      const real Lp = power(L, p), Lp1 = p * power(L, p - 1);
      for (int e = 0; e < b->count; e++) {
        const double G = b->G[((size_t)e * MBG__MODAL_COEFS + (size_t)q) * (size_t)b->nlive + (size_t)i];
        if (G == 0) {
          continue;
        }
        D[b->live[i]] += c[e][coef[q]] * Lp * G;
        map->val[b->nattr * b->nlive + i] += c[e][coef[q]] * Lp1 * G;
        for (int k = 0; k < MBG__BEAM_NUMBERS; k++) {
          if (b->slot[e][k] >= 0) {
            map->val[b->slot[e][k] * b->nlive + i] += c_z[e][coef[q]][k] * Lp * G;
          }
        }
      }
    }
  }
}

/* ---------------------------------------------------------------------- markers */

int mbg__modal_beam_element(const mbg__modal_beam *b, double x, double length) {
  const double t = x / length * b->count;
  if (t < -1e-9) {
    return -1;
  }
  if (t > b->count + 1e-9) {
    return b->count;
  }
  const int e = (int)floor(t);
  return e < 0 ? 0 : e >= b->count ? b->count - 1 : e;
}

/* phit = u + th x rho, phir = th, at t = N x/L - e; rho = (0, y, z), beyond an end (x - end, y, z) with t at the end */
void mbg__modal_beam_column(const mbg__modal_beam *b, int mode, int e, const real r[3], real L, const double sign[3],
                            real P[6], real P_r[3][6], real P_L[6]) {
  const bool out = e < 0 || e >= b->count;
  const int at = e < 0 ? 0 : out ? b->count - 1 : e;
  const mbg__mode_piece *p = &b->pieces[mode * b->count + at];
  const double N = b->count, handed = sign[0] * sign[1] * sign[2], end = e < 0 ? 0 : 1;
  const real x = sign[0] * r[0], t = out ? end : N * x / L - at;
  const real t_x = out ? 0 : N / L, t_L = out ? 0 : -N * x / (L * L);
  real u[3], th[3], du[3], dth[3], rho[3] = {out ? r[0] - sign[0] * end * L : 0, r[1], r[2]}, c[3];
  for (int a = 0; a < 3; a++) {
    u[a] = sign[a] * value(4, p->U[a], t);
    du[a] = sign[a] * slope(4, p->U[a], t);
    th[a] = handed * sign[a] * value(3, p->Th[a], t) / L;
    dth[a] = handed * sign[a] * slope(3, p->Th[a], t) / L;
  }
  v3_copy(P, u);
  v3_cross_add(P, 1, th, rho);
  v3_copy(P + 3, th);
  /* along the beam: through t, and through rho beyond an end */
  v3_cross(c, dth, rho);
  v3_add(c, c, du);
  v3_scale(P_r[0], sign[0] * t_x, c);
  v3_scale(P_r[0] + 3, sign[0] * t_x, dth);
  v3_scale(P_L, t_L, c);
  v3_scale(P_L + 3, t_L, dth);
  /* th = Th/L */
  v3_cross_add(P_L, -1 / L, th, rho);
  v3_axpy(P_L + 3, -1 / L, th);
  for (int k = 0; k < 3; k++) {
    const real unit[3] = {k == 0, k == 1, k == 2};
    if (k > 0) {
      vn_zero(6, P_r[k]);
    }
    if (k > 0 || out) {
      v3_cross_add(P_r[k], 1, th, unit);
    }
    if (k == 0 && out) {
      v3_cross_add(P_L, -sign[0] * end, th, unit);
    }
  }
}
