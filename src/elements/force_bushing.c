/* Bushing: linear in the relative displacement d = log G, with stiffness K, damping D (symmetric 6x6) and preload p:

     f = -T^-T(d) K d - D v + p        energy = 1/2 d^T K d

   Not to be differentiated at a relative rotation of pi, where log jumps. */
#include "elements/force_clear.h"

enum { SYM = 21, STIFFNESS = 0, DAMPING = SYM, PRELOAD = 2 * SYM, ATTRIBUTES = PRELOAD + 6 };

static const mbg__key keys[] = {
    {.name = "stiffness",
     .kind = MBG__KEY_SYM6,
     .unit = "N/m, N, N m",
     .help = "stiffness K: translation x y z, then rotation x y z, axes of B"},
    {.name = "damping", .kind = MBG__KEY_SYM6, .unit = "N s/m, N s, N m s", .help = "damping D, as stiffness"},
    {.name = "preload_force", .kind = MBG__KEY_VEC3, .unit = "N", .help = "force on B at G = 1, axes of B"},
    {.name = "preload_torque", .kind = MBG__KEY_VEC3, .unit = "N m", .help = "torque on B at G = 1, axes of B"},
};

/* ---------------------------------------------------------------------- symmetric matrices */

/* full matrix from the rows of the upper triangle */
static void unpack(real S[36], const real *packed) {
  for (int i = 0, n = 0; i < 6; i++) {
    for (int j = i; j < 6; j++) {
      S[6 * i + j] = S[6 * j + i] = packed[n++];
    }
  }
}

/* columns by the packed entries of K of s A K x: (s A_i x_j + s A_j x_i), A_i the columns of A given as rows of A^T */
static void by_entries(real (*columns)[6], real s, const real At[36], const real x[6]) {
  for (int i = 0, n = 0; i < 6; i++) {
    for (int j = i; j < 6; j++, n++) {
      v6_axpy(columns[n], s * x[j], At + 6 * i);
      if (j != i) {
        v6_axpy(columns[n], s * x[i], At + 6 * j);
      }
    }
  }
}

/* ---------------------------------------------------------------------- wrench */

/* f_G = -(d(T^-T y)/dd + T^-T K) T^-1 with y = K d */
static void by_frame(real f_G[36], const real d[6], const real y[6], const real K[36], const real Ti[36]) {
  real A[36], B[36];
  mbg__se3_dtangent_invT(A, d, y);
  m6_mul_TN(B, Ti, K);
  m6_add(A, A, B);
  m6_mul(f_G, A, Ti);
  m6_scale(f_G, -1, f_G);
}

static void by_attributes(const real d[6], const real *v, const real Ti[36], mbg__force_out *out) {
  real one[36];
  m6_identity(one);
  by_entries(out->f_a + STIFFNESS, -1, Ti, d);
  by_entries(out->f_a + DAMPING, -1, one, v);
  for (int k = 0; k < 6; k++) {
    out->f_a[PRELOAD + k][k] = 1;
  }
  for (int i = 0, n = STIFFNESS; i < 6; i++) {
    for (int j = i; j < 6; j++) {
      out->energy_a[n++] = d[i] * d[j] * (i == j ? 0.5 : 1);
    }
  }
}

static int eval(const mbg__force_in *in, mbg__force_out *out) {
  real K[36], D[36], d[6], y[6], Ti[36];
  mbg__force_clear(out);
  unpack(K, in->attr + STIFFNESS);
  unpack(D, in->attr + DAMPING);
  mbg__se3_log(d, in->G);
  mbg__se3_tangent_inv(Ti, d);

  m6_mulv(y, K, d);
  out->energy = v6_dot(d, y) / 2;
  m6_mulv_T(out->energy_G, Ti, y);
  v6_sub(out->f, in->attr + PRELOAD, out->energy_G);
  m6_scale(out->f_v, -1, D);
  m6_mulv_add(out->f, out->f_v, in->v);

  if (in->derivatives) {
    by_frame(out->f_G, d, y, K, Ti);
    by_attributes(d, in->v, Ti, out);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- data */

/* true unless elimination meets a pivot below -tol, or a zero pivot with entries left in its row */
static bool positive_semidefinite(const real *packed) {
  real S[36];
  double scale = 0;
  unpack(S, packed);
  for (int i = 0; i < 6; i++) {
    scale = fmax(scale, fabs(re(S[7 * i])));
  }
  const double tol = 1e-12 * scale;
  for (int k = 0; k < 6; k++) {
    const double pivot = re(S[7 * k]);
    if (pivot < -tol) {
      return false;
    }
    for (int i = k + 1; i < 6; i++) {
      if (pivot <= tol && fabs(re(S[6 * i + k])) > 1e-6 * scale) {
        return false;
      }
      for (int j = k + 1; j < 6 && pivot > tol; j++) {
        S[6 * i + j] -= S[6 * i + k] * S[6 * k + j] / pivot;
      }
    }
  }
  return true;
}

static bool check(const real *attr, const int *opt, char *why, size_t size) {
  (void)opt;
  if (!positive_semidefinite(attr + STIFFNESS)) {
    mbg__format(why, size, "stiffness has a negative eigenvalue");
    return false;
  }
  if (!positive_semidefinite(attr + DAMPING)) {
    mbg__format(why, size, "damping has a negative eigenvalue");
    return false;
  }
  return true;
}

/* a preload is no part of the energy */
static mbg__energy_kind energy(const real *attr) {
  mbg__energy_kind kind = MBG__ENERGY_KEPT;
  for (int i = DAMPING; i < ATTRIBUTES && kind != MBG__ENERGY_OPEN; i++) {
    if (re(attr[i]) != 0) {
      kind = i < PRELOAD ? MBG__ENERGY_FALLS : MBG__ENERGY_OPEN;
    }
  }
  return kind;
}

const mbg__force_type mbg__force_bushing = {
    .key = "bushing",
    .help = "six-dimensional spring and damper between two frames",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
    .check = check,
    .energy = energy,
};
