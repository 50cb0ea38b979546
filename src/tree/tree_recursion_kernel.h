/* Links with NF free components: included by tree_recursion.c once for each NF. SIZED(name): the name with NF.
   Matrices are stored by rows. */

/* out += A B; out += A^T B */
static inline void SIZED(add_AB)(real *restrict out, const real *restrict A, const real *restrict B) {
  for (int i = 0; i < NF; i++) {
    for (int k = 0; k < NF; k++) {
      vn_axpy(NF, out + NF * i, A[NF * i + k], B + NF * k);
    }
  }
}

static inline void SIZED(add_ATB)(real *restrict out, const real *restrict A, const real *restrict B) {
  for (int k = 0; k < NF; k++) {
    for (int i = 0; i < NF; i++) {
      vn_axpy(NF, out + NF * i, A[NF * k + i], B + NF * k);
    }
  }
}

/* out += A x; out += A^T x */
static inline void SIZED(add_Ax)(real *restrict out, const real *restrict A, const real *restrict x) {
  mn_mulv_add(NF, out, A, x);
}

static inline void SIZED(add_ATx)(real *restrict out, const real *restrict A, const real *restrict x) {
  mn_mulv_T_add(NF, out, A, x);
}

static inline void SIZED(pick)(real *restrict out, const int *comp, const real *x) {
  for (int i = 0; i < NF; i++) {
    out[i] = x[comp[i]];
  }
}

/* a block of the bodies' matrices, which is transposed, in free components */
static inline void SIZED(pick_block)(real *restrict out, const int *comp, const real *block) {
  for (int i = 0; i < NF; i++) {
    for (int j = 0; j < NF; j++) {
      out[NF * i + j] = block[6 * comp[j] + comp[i]];
    }
  }
}

/* K and C of a block; false: they are 0 */
static inline bool SIZED(slopes)(const mbg__tree *t, const int *comp, int block, real *K, real *C) {
  vn_zero(NF * NF, K);
  vn_zero(NF * NF, C);
  if (block < 0 || !(t->slopes.has_K[block] || t->slopes.has_C[block])) {
    return false;
  }
  if (t->slopes.has_K[block]) {
    SIZED(pick_block)(K, comp, t->slopes.K[block]);
  }
  if (t->slopes.has_C[block]) {
    SIZED(pick_block)(C, comp, t->slopes.C[block]);
  }
  return true;
}

/* P of the body alone */
static void SIZED(begin)(const mbg__tree *t, mbg__tree_recursion *r, int k, bool mass) {
  real *P = r->P[k];
  (void)SIZED(slopes)(t, r->comp[k], mass ? -1 : r->own[k], P, P + NF * NF);
  SIZED(pick_block)(P + 2 * NF * NF, r->comp[k], t->design->M + 36 * r->links[k].body); /* symmetric */
}

/* X, A, B, Sb; h 0: of the mass matrix */
static void SIZED(place)(mbg__tree *t, mbg__tree_recursion *r, int k, real h, const real *D) {
  const mbg__link *l = &r->links[k];
  const int *comp = r->comp[k];
  const numbers x = numbers_of(r, k);
  real full[36], s[NF * NF];
  vec6 own[18]; /* three for each coordinate */
  mbg__AdInv_matrix(full, &t->Rel[k]);
  for (int i = 0; i < NF * NF; i++) {
    x.X[i] = full[6 * comp[i / NF] + comp[i % NF]];
    x.A[i] = 0;
  }
  if (re(h) > 0) {
    mbg__ad_matrix(full, t->s + link_off(t, k));
    for (int i = 0; i < NF * NF; i++) {
      s[i] = -full[6 * comp[i / NF] + comp[i % NF]];
    }
    SIZED(add_AB)(x.A, s, x.X);
    mbg__tree_own_columns(t, k, h, D, own, own + 1, own + 2, 3);
  }
  for (int i = 0; i < l->nz; i++) {
    real *B = x.B + 3 * NF * i;
    SIZED(pick)(x.Sb + NF * i, comp, t->Sb[l->first + i]);
    for (int j = 0; j < 3; j++) {
      if (re(h) > 0) {
        SIZED(pick)(B + NF * j, comp, own[3 * i + j]);
      } else {
        vn_copy(NF, B + NF * j, x.Sb + NF * i);
        vn_scale(NF, B + NF * j, j == 2, B + NF * j);
      }
    }
  }
}

/* T = P Y + R, by columns of (e, n, a) one block after the other */
static inline void SIZED(carry_P)(const real *P, const numbers *x, const real *RK, const real *RC, real *restrict T) {
  vn_copy(NF * NF, T, RK);
  vn_copy(NF * NF, T + NF * NF, RC);
  vn_zero(NF * NF, T + 2 * NF * NF);
  SIZED(add_AB)(T, P, x->X);
  SIZED(add_AB)(T + NF * NF, P + NF * NF, x->X);
  SIZED(add_AB)(T + NF * NF, P + 2 * NF * NF, x->A);
  SIZED(add_AB)(T + 2 * NF * NF, P + 2 * NF * NF, x->X);
}

/* the link of a body without parent, or its own part: H^-1 and V = P B - ad(Je)^T f0 */
static void SIZED(pivot)(const mbg__tree *t, mbg__tree_recursion *r, int k, bool mass, real V[6][NF]) {
  const mbg__link *l = &r->links[k];
  const numbers x = numbers_of(r, k);
  const real *P = r->P[k];
  real H[36];
  for (int j = 0; j < l->nz; j++) {
    vn_zero(NF, V[j]);
    for (int i = 0; i < 3; i++) {
      SIZED(add_Ax)(V[j], P + NF * NF * i, x.B + NF * (3 * j + i));
    }
    for (int i = 0; i < l->nz; i++) {
      H[l->nz * i + j] = vn_dot(NF, x.Sb + NF * i, V[j]);
    }
  }
  invert(r, l, H, x.Hi);
  for (int j = 0; !mass && j < l->nz; j++) {
    real full[6] = {0}, c[6];
    for (int i = 0; i < NF; i++) {
      full[r->comp[k][i]] = x.B[3 * NF * j + i];
    }
    adT_mul(c, full, t->f + link_off(t, k));
    for (int i = 0; i < NF; i++) {
      V[j][i] -= c[r->comp[k][i]];
    }
  }
}

static void SIZED(eliminate)(mbg__tree *t, mbg__tree_recursion *r, int k, bool mass) {
  const mbg__link *l = &r->links[k];
  const numbers x = numbers_of(r, k);
  real V[6][NF], T[3 * NF * NF], K[NF * NF], C[NF * NF];
  SIZED(pivot)(t, r, k, mass, V);
  if (l->parent < 0) {
    return;
  }
  real *P = r->P[l->parent];
  (void)SIZED(slopes)(t, r->comp[k], mass ? -1 : r->up[k], K, C);
  SIZED(carry_P)(r->P[k], &x, K, C, T);
  for (int j = 0; j < l->nz; j++) {
    vn_zero(NF, x.q + NF * j);
    SIZED(add_ATx)(x.q + NF * j, x.X, V[j]);
  }
  if (SIZED(slopes)(t, r->comp[k], mass ? -1 : r->down[k], K, C)) {
    SIZED(add_AB)(P, K, x.X);
    SIZED(add_AB)(P + NF * NF, C, x.X);
    for (int j = 0; j < l->nz; j++) {
      SIZED(add_Ax)(x.q + NF * j, K, x.B + 3 * NF * j);
      SIZED(add_Ax)(x.q + NF * j, C, x.B + 3 * NF * j + NF);
    }
  }
  /* Sb^T T in V, G = H^-1 Sb^T T */
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < l->nz; j++) {
      vn_zero(NF, V[j]);
      SIZED(add_ATx)(V[j], T + NF * NF * i, x.Sb + NF * j);
    }
    for (int j = 0; j < l->nz; j++) {
      real *G = x.G + NF * (3 * j + i);
      vn_zero(NF, G);
      for (int c = 0; c < l->nz; c++) {
        vn_axpy(NF, G, x.Hi[l->nz * j + c], V[c]);
      }
    }
    SIZED(add_ATB)(P + NF * NF * i, x.X, T + NF * NF * i);
    for (int j = 0; j < l->nz; j++) {
      for (int c = 0; c < NF; c++) {
        vn_axpy(NF, P + NF * NF * i + NF * c, -x.q[NF * j + c], x.G + NF * (3 * j + i));
      }
    }
  }
}

/* ---------------------------------------------------------------------- solutions */

/* b <- H^-1 (b - Sb^T p), and p of the parent; from leaves to roots, p 0 at first */
static inline void SIZED(up)(const mbg__tree_recursion *r, int k, real *b) {
  const mbg__link *l = &r->links[k];
  const numbers x = numbers_of(r, k);
  const real *p = r->p[k];
  real u[6];
  for (int i = 0; i < l->nz; i++) {
    u[i] = b[l->first + i] - vn_dot(NF, x.Sb + NF * i, p);
  }
  for (int i = 0; i < l->nz; i++) {
    b[l->first + i] = vn_dot(l->nz, x.Hi + l->nz * i, u);
  }
  if (l->parent >= 0) {
    real *to = r->p[l->parent];
    SIZED(add_ATx)(to, x.X, p);
    for (int i = 0; i < l->nz; i++) {
      vn_axpy(NF, to, b[l->first + i], x.q + NF * i);
    }
  }
}

/* b <- b - G y_p, y = Y y_p + B b; from roots to leaves */
static inline void SIZED(down)(const mbg__tree_recursion *r, int k, real *b) {
  const mbg__link *l = &r->links[k];
  const numbers x = numbers_of(r, k);
  real *y = r->y[k];
  vn_zero(3 * NF, y);
  if (l->parent >= 0) {
    const real *from = r->y[l->parent];
    for (int i = 0; i < l->nz; i++) {
      b[l->first + i] -= vn_dot(3 * NF, x.G + 3 * NF * i, from);
    }
    SIZED(add_Ax)(y, x.X, from);
    SIZED(add_Ax)(y + NF, x.X, from + NF);
    SIZED(add_Ax)(y + 2 * NF, x.X, from + 2 * NF);
    SIZED(add_Ax)(y + 2 * NF, x.A, from + NF);
  }
  for (int i = 0; i < l->nz; i++) {
    vn_axpy(3 * NF, y, b[l->first + i], x.B + 3 * NF * i);
  }
}

/* transposed: b <- b + B^T y, and y of the parent; from leaves to roots, y 0 at first */
static inline void SIZED(up_T)(const mbg__tree_recursion *r, int k, real *b) {
  const mbg__link *l = &r->links[k];
  const numbers x = numbers_of(r, k);
  const real *y = r->y[k];
  for (int i = 0; i < l->nz; i++) {
    b[l->first + i] += vn_dot(3 * NF, x.B + 3 * NF * i, y);
  }
  if (l->parent >= 0) {
    real *to = r->y[l->parent];
    SIZED(add_ATx)(to, x.X, y);
    SIZED(add_ATx)(to + NF, x.X, y + NF);
    SIZED(add_ATx)(to + NF, x.A, y + 2 * NF);
    SIZED(add_ATx)(to + 2 * NF, x.X, y + 2 * NF);
    for (int i = 0; i < l->nz; i++) {
      vn_axpy(3 * NF, to, -b[l->first + i], x.G + 3 * NF * i);
    }
  }
}

/* b <- H^-T (b + q^T p_p), p = X p_p - Sb b; from roots to leaves */
static inline void SIZED(down_T)(const mbg__tree_recursion *r, int k, real *b) {
  const mbg__link *l = &r->links[k];
  const numbers x = numbers_of(r, k);
  real *p = r->p[k], u[6];
  vn_zero(NF, p);
  if (l->parent >= 0) {
    SIZED(add_Ax)(p, x.X, r->p[l->parent]);
  }
  for (int i = 0; i < l->nz; i++) {
    u[i] = b[l->first + i] + (l->parent >= 0 ? vn_dot(NF, x.q + NF * i, r->p[l->parent]) : 0);
  }
  for (int i = 0; i < l->nz; i++) {
    real sum = 0;
    for (int j = 0; j < l->nz; j++) {
      sum += x.Hi[l->nz * j + i] * u[j];
    }
    b[l->first + i] = sum;
    vn_axpy(NF, p, -sum, x.Sb + NF * i);
  }
}
