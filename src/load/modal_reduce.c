#include "load/modal_reduce.h"

#include "math/eigen.h"

#include <string.h>

typedef struct {
  int n, nfree;
  int *at; /* place of an unknown among the free ones, -1: held */
} partition;

static int node_of(const mbg__mesh *m, int unknown) { return unknown / m->per_node; }

int mbg__mesh_static(const mbg__mesh *m) {
  int n = 0;
  for (int i = 0; i < m->nnode; i++) {
    n += m->interface[i] && !m->fixed[i] ? m->per_node : 0;
  }
  return n;
}

static double *free_part(mbg_context *ctx, const partition *p, const double *A) {
  double *out = mbg__alloc(ctx, (size_t)p->nfree * (size_t)p->nfree, sizeof(double));
  for (int j = 0; out && j < p->n; j++) {
    for (int i = 0; i < p->n; i++) {
      if (p->at[i] >= 0 && p->at[j] >= 0) {
        out[(size_t)p->at[i] + (size_t)p->nfree * (size_t)p->at[j]] = A[(size_t)i + (size_t)p->n * (size_t)j];
      }
    }
  }
  return out;
}

/* one static mode for each unknown of the interface: K_ff x = -K_fb */
static int static_modes(mbg_context *ctx, const mbg__mesh *m, const partition *p, int count, double *shapes) {
  int err = MBG_OK, k = 0;
  double *K = free_part(ctx, p, m->K), *B = mbg__alloc(ctx, (size_t)p->nfree * (size_t)count, sizeof(double));
  if (!K || !B) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int j = 0; j < p->n; j++) {
    if (!m->interface[node_of(m, j)] || m->fixed[node_of(m, j)]) {
      continue;
    }
    for (int i = 0; i < p->n; i++) {
      if (p->at[i] >= 0) {
        B[p->at[i] + (size_t)p->nfree * (size_t)k] = -m->K[(size_t)i + (size_t)p->n * (size_t)j];
      }
    }
    shapes[(size_t)j + (size_t)p->n * (size_t)k++] = 1;
  }
  err = mbg__solve_spd(p->nfree, K, count, B);
  for (int c = 0; err == MBG_OK && c < count; c++) {
    for (int i = 0; i < p->n; i++) {
      if (p->at[i] >= 0) {
        shapes[(size_t)i + (size_t)p->n * (size_t)c] = B[p->at[i] + (size_t)p->nfree * (size_t)c];
      }
    }
  }
done:
  mbg__free(ctx, K);
  mbg__free(ctx, B);
  return err;
}

/* the lowest vibrations, their largest entry 1 */
static int normal_modes(mbg_context *ctx, const mbg__mesh *m, const partition *p, int count, double *shapes) {
  int err = MBG_OK;
  double *K = free_part(ctx, p, m->K), *M = free_part(ctx, p, m->M), *w = mbg__alloc(ctx, (size_t)p->nfree, 8);
  if (!K || !M || !w) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(mbg__eigen_pair(ctx, p->nfree, K, M, w));
  for (int c = 0; c < count; c++) {
    const double *x = K + (size_t)p->nfree * (size_t)c;
    double most = 0;
    for (int i = 0; i < p->nfree; i++) {
      most = fabs(x[i]) > fabs(most) * (1 + 1e-9) ? x[i] : most;
    }
    for (int i = 0; i < p->n; i++) {
      shapes[(size_t)i + (size_t)p->n * (size_t)c] = p->at[i] < 0 ? 0 : x[p->at[i]] / most;
    }
  }
done:
  mbg__free(ctx, K);
  mbg__free(ctx, M);
  mbg__free(ctx, w);
  return err;
}

int mbg__mesh_modes(mbg_context *ctx, const mbg__mesh *m, int n, double *shapes) {
  int err = MBG_OK;
  const int count = mbg__mesh_static(m);
  partition p = {.n = m->nnode * m->per_node};
  p.at = mbg__alloc(ctx, (size_t)p.n, sizeof(int));
  if (!p.at) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < p.n; i++) {
    p.at[i] = m->fixed[node_of(m, i)] || m->interface[node_of(m, i)] ? -1 : p.nfree++;
  }
  memset(shapes, 0, (size_t)p.n * (size_t)n * sizeof(double));
  if (n - count > p.nfree) {
    err = MBG_ERROR_INPUT;
    goto done;
  }
  MBG_TRY(static_modes(ctx, m, &p, count, shapes));
  MBG_TRY(normal_modes(ctx, m, &p, n - count, shapes + (size_t)p.n * (size_t)count));
done:
  mbg__free(ctx, p.at);
  return err;
}

/* ---------------------------------------------------------------------- invariants */

/* columns: rigid motions (6), shapes (n), shapes turned about the three axes (3 n) */
static void rigid_column(const mbg__mesh *m, int k, double *x) {
  for (int i = 0; i < m->nnode; i++) {
    const double *s = m->place + 3 * i;
    double *u = x + m->per_node * i;
    if (k < 3) {
      u[k] = 1;
      continue;
    }
    const int a = k - 3, b = (a + 1) % 3, c = (a + 2) % 3;
    /* e_a x s */
    u[b] = -s[c];
    u[c] = s[b];
    if (m->per_node == 6) {
      u[3 + a] = 1;
    }
  }
}

static void turned_column(const mbg__mesh *m, int a, const double *phi, double *x) {
  const int b = (a + 1) % 3, c = (a + 2) % 3;
  for (int i = 0; i < m->nnode * m->per_node; i += 3) {
    x[i + b] = -phi[i + c];
    x[i + c] = phi[i + b];
  }
}

/* G = X^T A X */
static int products(mbg_context *ctx, int n, int cols, const double *A, const double *X, double *G) {
  double *y = mbg__alloc(ctx, (size_t)n, sizeof(double));
  if (!y) {
    return mbg__fail_memory(ctx);
  }
  for (int c = 0; c < cols; c++) {
    const double *x = X + (size_t)n * (size_t)c;
    memset(y, 0, (size_t)n * sizeof(double));
    for (int j = 0; j < n; j++) {
      for (int i = 0; x[j] != 0 && i < n; i++) {
        y[i] += A[(size_t)i + (size_t)n * (size_t)j] * x[j];
      }
    }
    for (int r = 0; r < cols; r++) {
      double s = 0;
      for (int i = 0; i < n; i++) {
        s += X[(size_t)i + (size_t)n * (size_t)r] * y[i];
      }
      G[(size_t)cols * (size_t)r + (size_t)c] = s;
    }
  }
  mbg__free(ctx, y);
  return MBG_OK;
}

/* from the products with the mass matrix, column t(j, a) is shape j turned about a */
static void take_mass(int n, int cols, const double *G, double *D) {
  const mbg__modal_layout l = mbg__modal_places(n);
#define AT(i, j) G[(size_t)cols * (size_t)(i) + (size_t)(j)]
#define SHAPE(j) (6 + (j))
#define TURNED(j, a) (6 + n + 3 * (j) + (a))
  D[l.I1] = (AT(0, 0) + AT(1, 1) + AT(2, 2)) / 3;
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    /* block (W, U) is mc~: entry (c, b) is mc_a */
    D[l.I2 + a] = (AT(3 + c, b) - AT(3 + b, c)) / 2;
    for (int k = 0; k < 3; k++) {
      D[l.I7 + 3 * a + k] = AT(3 + a, 3 + k);
    }
  }
  for (int j = 0; j < n; j++) {
    for (int a = 0; a < 3; a++) {
      D[l.I3 + 3 * j + a] = AT(a, SHAPE(j));
      D[l.I4 + 3 * j + a] = AT(3 + a, SHAPE(j));
      for (int b = 0; b < 3; b++) {
        D[l.I8 + 9 * j + 3 * a + b] = AT(3 + a, TURNED(j, b));
      }
    }
    for (int k = 0; k < n; k++) {
      D[l.I6 + n * j + k] = AT(SHAPE(j), SHAPE(k));
      for (int a = 0; a < 3; a++) {
        /* antisymmetric in j and k where the mass matrix does not prefer directions */
        D[l.I5 + 3 * (n * j + k) + a] = (AT(TURNED(j, a), SHAPE(k)) - AT(TURNED(k, a), SHAPE(j))) / 2;
        for (int b = 0; b < 3; b++) {
          D[l.I9 + 9 * (n * j + k) + 3 * a + b] = AT(TURNED(j, a), TURNED(k, b));
        }
      }
    }
  }
#undef AT
#undef SHAPE
#undef TURNED
}

int mbg__mesh_invariants(mbg_context *ctx, const mbg__mesh *m, int n, const double *shapes, double *D) {
  int err = MBG_OK;
  const int size = m->nnode * m->per_node, cols = 6 + 4 * n;
  const mbg__modal_layout l = mbg__modal_places(n);
  double *X = mbg__alloc_zero(ctx, (size_t)size * (size_t)cols, sizeof(double));
  double *G = mbg__alloc(ctx, (size_t)cols * (size_t)cols, sizeof(double));
  if (!X || !G) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  for (int k = 0; k < 6; k++) {
    rigid_column(m, k, X + (size_t)size * (size_t)k);
  }
  memcpy(X + (size_t)size * 6, shapes, (size_t)size * (size_t)n * sizeof(double));
  for (int j = 0; j < n; j++) {
    for (int a = 0; a < 3; a++) {
      turned_column(m, a, shapes + (size_t)size * (size_t)j, X + (size_t)size * (size_t)(6 + n + 3 * j + a));
    }
  }
  memset(D, 0, (size_t)l.count * sizeof(double));
  MBG_TRY(products(ctx, size, cols, m->M, X, G));
  take_mass(n, cols, G, D);
  MBG_TRY(products(ctx, size, n, m->K, shapes, D + l.K));
done:
  mbg__free(ctx, X);
  mbg__free(ctx, G);
  return err;
}
