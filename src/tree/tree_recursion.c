/* The systems of trees without constraint rows, eliminated from the leaves to the roots instead of as matrices. Let d
   be the increment of the coordinates of a link, y = (Je, Jn, Ja) d the variations of frame, twist and rate of its body
   (tree_matrix.c) and f that of the force which it hands to its joint. With y_p of the parent,

     y = Y y_p + B d           Y = [X 0 0; 0 X 0; 0 A X],  A = -ad(s) X
     f = P y + R y_p + p       P = (K, C, M) of the body and all that hangs on it; R: force on it by y_p
     Sb^T f = b                d = H^-1 (b - Sb^T p) - G y_p,  H = Sb^T P B,  G = H^-1 Sb^T (P Y + R)
     P_p += X^T (P Y + R) + N Y - q G          p_p += X^T p + q H^-1 (b - Sb^T p)
     q = X^T (P B - ad(Je)^T f0) + N B         N: force on the parent by y

   in the free components of the bodies. These are the articulated bodies of forward dynamics, for the linear equations
   of a step. Cost: linear in the number of bodies. */
#include "tree/tree_recursion.h"

#include <string.h>

/* numbers of a link in the factors, each matrix by rows; m free components */
typedef struct {
  real *X, *A;  /*                                     (m x m) */
  real *B;      /* column i: Je, Jn, Ja                (nz x 3m) */
  real *Sb, *q; /* column i                            (nz x m) */
  real *G;      /*                                     (nz x 3m) */
  real *Hi;     /* H^-1                                (nz x nz) */
} numbers;

struct mbg__tree_recursion {
  int n;                  /* links */
  const mbg__link *links; /* of the tree */
  int *m, (*comp)[6];     /* free components of each body: how many, which                   (n) */
  int *own, *up, *down;   /* blocks of the bodies' matrices: (k, k), (k, parent), (parent, k); -1: none   (n) */
  int *at;                /* numbers of a link in the factors             (n + 1) */
  real *factors;          /*                                              (at[n]) */
  real (*P)[3 * 36];      /* K, C, M                                      (n) */
  real (*p)[6], (*y)[18]; /* of a solution                                (n) */
  bool mass;              /* the system is that of the mass matrix */
  bool failed;            /* a pivot was 0 or not finite ... */
  int where;              /* ... at this coordinate, the first that was met */
};

static numbers numbers_of(const mbg__tree_recursion *r, int k) {
  const int m = r->m[k], nz = r->links[k].nz;
  numbers x = {.X = r->factors + r->at[k]};
  x.A = x.X + m * m;
  x.B = x.A + m * m;
  x.Sb = x.B + 3 * m * nz;
  x.q = x.Sb + m * nz;
  x.G = x.q + m * nz;
  x.Hi = x.G + 3 * m * nz;
  return x;
}

/* ---------------------------------------------------------------------- pivots */

/* the column that is eliminated by row c, its largest entry below; false: it is 0 or not finite */
static bool choose_row(int n, real *A, real *Y, int c) {
  int best = c;
  for (int i = c + 1; i < n; i++) {
    best = fabs(re(A[n * i + c])) > fabs(re(A[n * best + c])) ? i : best;
  }
  for (int j = 0; best != c && j < n; j++) {
    const real a = A[n * c + j], y = Y[n * c + j];
    A[n * c + j] = A[n * best + j];
    Y[n * c + j] = Y[n * best + j];
    A[n * best + j] = a;
    Y[n * best + j] = y;
  }
  return re(A[n * c + c]) != 0 && isfinite(re(A[n * c + c]));
}

/* Y = A^-1 by rows (nz x nz); A is scratch */
static void invert(mbg__tree_recursion *r, const mbg__link *l, real *A, real *Y) {
  const int n = l->nz;
  mn_identity(n, Y);
  for (int c = 0; c < n; c++) {
    if (!choose_row(n, A, Y, c)) {
      r->where = r->failed ? r->where : l->first + c;
      r->failed = true;
      return;
    }
    const real pivot = 1 / A[n * c + c];
    vn_scale(n, A + n * c, pivot, A + n * c);
    vn_scale(n, Y + n * c, pivot, Y + n * c);
    for (int i = 0; i < n; i++) {
      const real f = i == c ? 0 : A[n * i + c];
      if (i != c) {
        vn_axpy(n, A + n * i, -f, A + n * c);
        vn_axpy(n, Y + n * i, -f, Y + n * c);
      }
    }
  }
}

#define NF 3
#define SIZED(name) name##_3
#include "tree/tree_recursion_kernel.h"
#undef NF
#undef SIZED
#define NF 6
#define SIZED(name) name##_6
#include "tree/tree_recursion_kernel.h"
#undef NF
#undef SIZED

/* ---------------------------------------------------------------------- creation */

/* pairs (link, parent) of a block of two bodies, -1: they are not neighbours */
static int child_of(const mbg__tree *t, const mbg__block *b) {
  const int Q = t->link_of[b->Q], P = t->link_of[b->P];
  return t->links[Q].parent == P ? Q : t->links[P].parent == Q ? P : -1;
}

static bool same_components(const mbg__system *s, int a, int b) {
  return s->nfree[a] == s->nfree[b] && memcmp(s->free_[a], s->free_[b], (size_t)s->nfree[a] * sizeof(int)) == 0;
}

/* Instructions of the systems of a step by both ways, with `length` coordinates on the path of each link: measured on
   planar and spatial chains. Its solutions cost more than those of a matrix, and gradients need more of them. */
bool mbg__tree_recursion_pays(const mbg__tree *t, int *length) {
  double sparse = 0, recursive = 0;
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    const bool planar = t->sys->nfree[l->body] == 3;
    length[k] = l->nz + (l->parent >= 0 ? length[l->parent] : 0);
    sparse += (planar ? 38.0 * length[k] + 840 : 88.0 * length[k] + 1280) * length[k];
    recursive += planar ? 2600 : 11600 + 2000 * l->nz;
  }
  return 1.5 * recursive < sparse;
}

bool mbg__tree_recursion_can(const mbg__tree *t) {
  const mbg__system *s = t->sys;
  bool suits = t->nrow == 0 && !t->coupled && !t->modal && t->m->nstate == 0 && s->ncross == 0;
  for (int k = 0; suits && k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    const int n = s->nfree[l->body];
    suits = (n == 3 || n == 6) && (l->parent < 0 || same_components(s, l->body, t->links[l->parent].body));
  }
  for (int b = 0; suits && b < s->nblock; b++) {
    const mbg__block *block = &s->blocks[b];
    suits = !t->used[b] || block->Q == block->P || child_of(t, block) >= 0;
  }
  return suits;
}

static void list_blocks(const mbg__tree *t, mbg__tree_recursion *r) {
  for (int k = 0; k < r->n; k++) {
    r->own[k] = r->up[k] = r->down[k] = -1;
  }
  for (int b = 0; b < t->sys->nblock; b++) {
    const mbg__block *block = &t->sys->blocks[b];
    const int Q = t->link_of[block->Q], P = t->link_of[block->P];
    if (t->used[b]) {
      *(Q == P ? &r->own[Q] : t->links[Q].parent == P ? &r->up[Q] : &r->down[P]) = b;
    }
  }
}

mbg__tree_recursion *mbg__tree_recursion_create(mbg__tree *t) {
  const size_t n = (size_t)t->m->nbody;
  mbg__tree_recursion *r = MBG_TAKE(&t->arena, mbg__tree_recursion, 1);
  if (!r) {
    return NULL;
  }
  r->n = t->m->nbody;
  r->links = t->links;
  r->m = MBG_TAKE(&t->arena, int, n);
  r->comp = mbg__arena_take(&t->arena, n, sizeof(*r->comp));
  r->own = MBG_TAKE(&t->arena, int, n);
  r->up = MBG_TAKE(&t->arena, int, n);
  r->down = MBG_TAKE(&t->arena, int, n);
  r->at = MBG_TAKE(&t->arena, int, n + 1);
  r->P = mbg__arena_take(&t->arena, n, sizeof(*r->P));
  r->p = mbg__arena_take(&t->arena, n, sizeof(*r->p));
  r->y = mbg__arena_take(&t->arena, n, sizeof(*r->y));
  if (t->arena.failed) {
    return NULL;
  }
  for (int k = 0; k < r->n; k++) {
    const int body = t->links[k].body, m = t->sys->nfree[body], nz = t->links[k].nz;
    r->m[k] = m;
    memcpy(r->comp[k], t->sys->free_[body], sizeof(r->comp[k]));
    r->at[k + 1] = r->at[k] + 2 * m * m + 8 * m * nz + nz * nz;
  }
  list_blocks(t, r);
  r->factors = MBG_TAKE(&t->arena, real, r->at[r->n]);
  return r->factors ? r : NULL;
}

/* ---------------------------------------------------------------------- factors */

void mbg__tree_recursion_fill(mbg__tree *t, mbg__tree_recursion *r, real h, const real *D) {
  const bool mass = !(re(h) > 0);
  if (!mass) {
    mbg__system_matrices(t->sys, &(mbg__matrices){.dense = &t->slopes});
  }
  for (int k = 0; k < r->n; k++) {
    (r->m[k] == 3 ? begin_3 : begin_6)(t, r, k, mass);
    (r->m[k] == 3 ? place_3 : place_6)(t, r, k, h, D);
  }
  r->mass = mass;
}

int mbg__tree_recursion_factor(mbg__tree *t, mbg__tree_recursion *r, int *where) {
  r->failed = false;
  for (int k = r->n - 1; k >= 0; k--) {
    (r->m[k] == 3 ? eliminate_3 : eliminate_6)(t, r, k, r->mass);
  }
  *where = r->where;
  return r->failed ? MBG_ERROR_SINGULAR : MBG_OK;
}

/* ---------------------------------------------------------------------- solutions */

static void solve(const mbg__tree_recursion *r, real *b) {
  memset(r->p, 0, (size_t)r->n * sizeof(*r->p));
  for (int k = r->n - 1; k >= 0; k--) {
    if (r->m[k] == 3) {
      up_3(r, k, b);
    } else {
      up_6(r, k, b);
    }
  }
  for (int k = 0; k < r->n; k++) {
    if (r->m[k] == 3) {
      down_3(r, k, b);
    } else {
      down_6(r, k, b);
    }
  }
}

static void solve_T(const mbg__tree_recursion *r, real *b) {
  memset(r->y, 0, (size_t)r->n * sizeof(*r->y));
  for (int k = r->n - 1; k >= 0; k--) {
    if (r->m[k] == 3) {
      up_T_3(r, k, b);
    } else {
      up_T_6(r, k, b);
    }
  }
  for (int k = 0; k < r->n; k++) {
    if (r->m[k] == 3) {
      down_T_3(r, k, b);
    } else {
      down_T_6(r, k, b);
    }
  }
}

void mbg__tree_recursion_solve(mbg__tree_recursion *r, int n, real *B, int nrhs, bool transposed) {
  for (int c = 0; c < nrhs; c++) {
    (transposed ? solve_T : solve)(r, B + (size_t)c * (size_t)n);
  }
}

size_t mbg__tree_recursion_bytes(const mbg__tree_recursion *r) { return (size_t)r->at[r->n] * sizeof(real); }

void mbg__tree_recursion_keep(const mbg__tree_recursion *r, void *out) {
  memcpy(out, r->factors, mbg__tree_recursion_bytes(r));
}

void mbg__tree_recursion_recall(mbg__tree_recursion *r, const void *kept) {
  memcpy(r->factors, kept, mbg__tree_recursion_bytes(r));
}
