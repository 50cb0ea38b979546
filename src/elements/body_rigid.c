/* Rigid body: mass matrix in the body's frame, with the centre of mass at c.

     M = [[m 1, -m c~], [m c~, J]]     J = J_c + m (c.c 1 - c c^T)     (inertia about the centre of mass)
                                       J = J_o                         (inertia about the origin) */
#include "model/types.h"

enum { MASS, COM, DIAGONAL = COM + 3, PRODUCTS = DIAGONAL + 3, ATTRIBUTES = PRODUCTS + 3 };
enum { ABOUT_COM, ABOUT_ORIGIN };

static const mbg__key keys[] = {
    {.name = "mass",
     .kind = MBG__KEY_NUMBER,
     .required = true,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "kg",
     .help = "mass"},
    {.name = "com", .kind = MBG__KEY_VEC3, .unit = "m", .help = "centre of mass in body axes"},
    {.name = "inertia_diagonal",
     .kind = MBG__KEY_VEC3,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "kg m^2",
     .help = "entries xx, yy, zz of the inertia matrix in body axes"},
    {.name = "inertia_products",
     .kind = MBG__KEY_VEC3,
     .unit = "kg m^2",
     .help = "entries xy, xz, yz of the inertia matrix in body axes"},
    {.name = "inertia_about",
     .kind = MBG__KEY_CHOICE,
     .preset = ABOUT_COM,
     .choices = "com origin",
     .help = "point that the inertia refers to, and that keeps it when the mass varies"},
    {.name = "moments",
     .kind = MBG__KEY_CHOICE,
     .choices = "physical any",
     .help = "any: a principal moment may exceed the sum of the others, as in files of some robots"},
};

/* 6x6 entry of J_ij and of its mirror image */
static void set_inertia(real *M, int i, int j, real value) {
  M[6 * (3 + i) + 3 + j] = value;
  M[6 * (3 + j) + 3 + i] = value;
}

/* M += s [[0, -a~], [a~, 0]]: the first moment a = m c */
static void add_moment(real *M, real s, const real a[3]) {
  real A[9];
  m3_skew(A, a);
  m6_add_block(M, 0, 1, -s, A);
  m6_add_block(M, 1, 0, s, A);
}

/* J += s ((a.b) 1 - (a b^T + b a^T)/2): for a = b = c the inertia of a point of mass s at c */
static void add_steiner(real *M, real s, const real a[3], const real b[3]) {
  real S[9] = {0};
  m3_skew_square_add(S, -s / 2, a, b);
  m6_add_block(M, 1, 1, 1, S);
}

static void by_attributes(const real *attr, bool steiner, real *M_a) {
  const real m = attr[MASS], *c = attr + COM;
  static const int row[3] = {0, 0, 1}, col[3] = {1, 2, 2};
  vn_zero(36 * ATTRIBUTES, M_a);

  /* mass */
  for (int i = 0; i < 3; i++) {
    M_a[36 * MASS + 7 * i] = 1;
  }
  add_moment(M_a + 36 * MASS, 1, c);
  if (steiner) {
    add_steiner(M_a + 36 * MASS, 1, c, c);
  }

  for (int k = 0; k < 3; k++) {
    /* centre of mass: d(c c^T) = e c^T + c e^T */
    const real e[3] = {k == 0, k == 1, k == 2};
    add_moment(M_a + 36 * (COM + k), m, e);
    if (steiner) {
      add_steiner(M_a + 36 * (COM + k), 2 * m, e, c);
    }
    set_inertia(M_a + 36 * (DIAGONAL + k), k, k, 1);
    set_inertia(M_a + 36 * (PRODUCTS + k), row[k], col[k], 1);
  }
}

static void inertia(const real *attr, const int *opt, real *M, real *M_a) {
  const real m = attr[MASS], *c = attr + COM, *J = attr + DIAGONAL, *P = attr + PRODUCTS;
  const bool steiner = opt[0] == ABOUT_COM;
  m6_zero(M);
  for (int i = 0; i < 3; i++) {
    M[7 * i] = m;
    set_inertia(M, i, i, J[i]);
  }
  set_inertia(M, 0, 1, P[0]);
  set_inertia(M, 0, 2, P[1]);
  set_inertia(M, 1, 2, P[2]);
  add_moment(M, m, c);
  if (steiner) {
    add_steiner(M, m, c, c);
  }
  if (M_a) {
    by_attributes(attr, steiner, M_a);
  }
}

const mbg__body_type mbg__body_rigid = {
    .key = "rigid",
    .help = "rigid body with mass, centre of mass and inertia",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .inertia = inertia,
};
