/* A pose is a product of factors. With F = F1 F2 ... and (Fk^-1 dFk)^vee = omega_k da, the product has
     (F^-1 dF)^vee = sum_k Ad((F_{k+1} ...)^-1) omega_k da                                   (theory 0, section 2)
   A mirrored factor is S F S with a reflection S: R_ij -> s_i s_j R_ij, x_i -> s_i x_i, and omega = (u, w) becomes
   (S u, det(S) S w). */
#include "model/pose.h"

/* direction too short to be one, relative to nothing: the file's own units */
static const double length_min = 1e-12;

/* a factor: its frame and the omegas of its own attributes */
typedef struct {
  mbg__frame F;
  int ndep;
  int dep[MBG__FACTOR_DEPS];
  real omega[MBG__FACTOR_DEPS][6];
} factor;

/* ---------------------------------------------------------------------- rotations from directions */

/* axes of a rotation and the terms of its variation: omega = (-y.dz, x.dz, y.dx) for R = [x y z] */
typedef struct {
  real x[3], y[3], z[3];
} triad;

static bool normalise(real out[3], const real a[3], real *length) {
  const real l2 = v3_dot(a, a);
  if (!(re(l2) > length_min * length_min)) {
    return false;
  }
  *length = r_sqrt(l2);
  v3_scale(out, 1 / *length, a);
  return true;
}

static void triad_matrix(real R[9], const real x[3], const real y[3], const real z[3]) {
  for (int i = 0; i < 3; i++) {
    R[3 * i] = x[i];
    R[3 * i + 1] = y[i];
    R[3 * i + 2] = z[i];
  }
}

/* z along zv, x in the half plane of z and xv; omega by zv (columns 0-2) and, on request, by xv (3-5) */
static bool frame_zx(triad *f, const real zv[3], const real xv[3], real omega[][6], bool by_x) {
  real lz, lp, p[3];
  if (!normalise(f->z, zv, &lz)) {
    return false;
  }
  const real xz = v3_dot(xv, f->z);
  v3_copy(p, xv);
  v3_axpy(p, -xz, f->z);
  if (!normalise(f->x, p, &lp)) {
    return false;
  }
  v3_cross(f->y, f->z, f->x);
  for (int k = 0; k < 3; k++) {
    /* dz = (1 - z z^T)/|zv| e_k, so x.dz = x_k/|zv| and y.dz = y_k/|zv|; y.dx = (y.dxv - (xv.z) y.dz)/|p| */
    const real xdz = f->x[k] / lz, ydz = f->y[k] / lz;
    omega[k][3] = -ydz;
    omega[k][4] = xdz;
    omega[k][5] = -xz * ydz / lp;
    if (by_x) {
      omega[3 + k][5] = f->y[k] / lp;
    }
  }
  return true;
}

/* z along zv, y nearest to e3: y = normalise(e3 - (e3.z) z), x = y x z */
static bool frame_upright(triad *f, const real zv[3], real omega[][6]) {
  real lz, lp;
  if (!normalise(f->z, zv, &lz)) {
    return false;
  }
  real p[3] = {-f->z[2] * f->z[0], -f->z[2] * f->z[1], 1 - f->z[2] * f->z[2]};
  if (!normalise(f->y, p, &lp)) {
    return false;
  }
  v3_cross(f->x, f->y, f->z);
  for (int k = 0; k < 3; k++) {
    /* y.dx = -x.dy = (e3.z)(x.dz)/|p| */
    const real xdz = f->x[k] / lz;
    omega[k][3] = -f->y[k] / lz;
    omega[k][4] = xdz;
    omega[k][5] = f->z[2] * xdz / lp;
  }
  return true;
}

int mbg__pose_align_branch(const double z[3]) {
  const double l = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
  return fabs(z[2]) > 0.9 * l ? 1 : 0;
}

/* (x, y, z) of a rule become axes axis+1, axis+2, axis; n omegas with them */
static void turn_axes(factor *f, int axis, const triad *a, int n) {
  const real *column[3];
  column[(axis + 1) % 3] = a->x;
  column[(axis + 2) % 3] = a->y;
  column[axis] = a->z;
  triad_matrix(f->F.R, column[0], column[1], column[2]);
  for (int k = 0; k < n; k++) {
    const real w[3] = {f->omega[k][3], f->omega[k][4], f->omega[k][5]};
    for (int i = 0; i < 3; i++) {
      f->omega[k][3 + (axis + 1 + i) % 3] = w[i];
    }
  }
}

/* the given direction becomes axis `axis`; the others keep the cyclic order */
static bool factor_align(factor *f, int mode, const real *d) {
  static const real e1[3] = {1, 0, 0};
  const int axis = mode % 3;
  triad a;
  if (!(mode / 3 == 0 ? frame_upright(&a, d, f->omega) : frame_zx(&a, d, e1, f->omega, false))) {
    return false;
  }
  turn_axes(f, axis, &a, 3);
  return true;
}

static bool factor_zx(factor *f, const real *a) {
  triad d;
  if (!frame_zx(&d, a, a + 3, f->omega, true)) {
    return false;
  }
  triad_matrix(f->F.R, d.x, d.y, d.z);
  return true;
}

static bool factor_xy(factor *f, const real *x, const real *y) {
  triad a;
  if (!frame_zx(&a, x, y, f->omega, true)) {
    return false;
  }
  turn_axes(f, 0, &a, 6);
  return true;
}

/* origin a + s (b - a), x along b - a:  omega_U = R^T ((1 - s) da + s db), the rotation as that of XY by db - da */
static bool factor_line(factor *f, double s, const real *a) {
  factor g = {.ndep = 6};
  real along[3];
  v3_sub(along, a + 3, a);
  if (!factor_xy(&g, along, a + 6)) {
    return false;
  }
  m3_copy(f->F.R, g.F.R);
  v3_copy(f->F.x, a);
  v3_axpy(f->F.x, s, along);
  for (int k = 0; k < 3; k++) {
    v3_scale(f->omega[k], 1 - s, g.F.R + 3 * k);
    v3_scale(f->omega[3 + k], s, g.F.R + 3 * k);
    v3_scale(f->omega[k] + 3, -1, g.omega[k] + 3);
    v3_copy(f->omega[3 + k] + 3, g.omega[k] + 3);
    v3_copy(f->omega[6 + k] + 3, g.omega[3 + k] + 3);
  }
  return true;
}

/* exp(h), h = s L (1, 0, 0, k):  omega = T(h) dh */
static void factor_helix(factor *f, double s, const real *a) {
  real h[6] = {s * a[0], 0, 0, s * a[0] * a[1], s * a[0] * a[2], s * a[0] * a[3]}, T[36];
  const real by_length[6] = {s, 0, 0, s * a[1], s * a[2], s * a[3]};
  mbg__se3_exp(&f->F, h);
  mbg__se3_tangent(T, h);
  m6_mulv(f->omega[0], T, by_length);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 6; i++) {
      f->omega[1 + k][i] = s * a[0] * T[6 * i + 3 + k];
    }
  }
}

/* Catmull and Rom's cubics: with t from P_j to P_{j+1} the point is a.P and its derivative b.P over P_{j-1} .. P_{j+2},
   so that the curve goes through all points with one tangent, (P_{j+1} - P_{j-1})/2. What is missing beyond the ends
   continues the parabola of three points, or the line of two; parabolas and lines are thus reproduced. */
typedef struct {
  int first, count; /* points */
  double a[4], b[4];
} weights;

/* c times a point beyond the end: 3 p - 3 q + r of the last three, or 2 p - q of two; w is the weight of p */
static void continue_end(int n, int step, double c, double *w) {
  static const double rule[2][3] = {{2, -1, 0}, {3, -3, 1}};
  for (int k = 0; k < (n > 2 ? 3 : 2); k++) {
    w[k * step] += c * rule[n > 2][k];
  }
}

/* the weights of the points k = low .. high among the four */
static void fold_ends(int n, int low, int high, const double full[4], double out[4]) {
  double w[4] = {full[0], full[1], full[2], full[3]};
  if (low > 0) {
    continue_end(n, 1, full[0], w + 1);
  }
  if (high < 3) {
    continue_end(n, -1, full[3], w + 2);
  }
  for (int k = low; k <= high; k++) {
    out[k - low] = w[k];
  }
}

static weights curve_weights(int n, double fraction) {
  const double u = fraction * (n - 1);
  const int j = u < n - 2 ? (int)u : n - 2, low = j > 0 ? 0 : 1, high = j < n - 2 ? 3 : 2;
  const double t = u - j, t2 = t * t, t3 = t * t2;
  const double a[4] = {(-t + 2 * t2 - t3) / 2, (2 - 5 * t2 + 3 * t3) / 2, (t + 4 * t2 - 3 * t3) / 2, (t3 - t2) / 2};
  const double b[4] = {(-1 + 4 * t - 3 * t2) / 2, (-10 * t + 9 * t2) / 2, (1 + 8 * t - 9 * t2) / 2,
                       (-2 * t + 3 * t2) / 2};
  weights w = {.first = j - 1 + low, .count = high - low + 1};
  fold_ends(n, low, high, a, w.a);
  fold_ends(n, low, high, b, w.b);
  return w;
}

/* origin on the curve, x along it:  omega_U = R^T sum a_i dP_i, the rotation as that of XY by sum b_i dP_i */
static bool factor_curve(factor *f, const mbg__pose_op *op, const real *a) {
  const weights w = curve_weights(op->mode, op->fraction);
  const real *P = a + 3 * w.first, *orient = a + 3 * op->mode;
  factor g = {.ndep = 6};
  real along[3] = {0, 0, 0};
  for (int i = 0; i < w.count; i++) {
    v3_axpy(f->F.x, w.a[i], P + 3 * i);
    v3_axpy(along, w.b[i], P + 3 * i);
  }
  if (!factor_xy(&g, along, orient)) {
    return false;
  }
  m3_copy(f->F.R, g.F.R);
  f->ndep = 3 * w.count + 3;
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < w.count; i++) {
      f->dep[3 * i + k] = op->attr + 3 * (w.first + i) + k;
      v3_scale(f->omega[3 * i + k], w.a[i], g.F.R + 3 * k);
      v3_scale(f->omega[3 * i + k] + 3, w.b[i], g.omega[k] + 3);
    }
    f->dep[3 * w.count + k] = op->attr + 3 * op->mode + k;
    v3_copy(f->omega[3 * w.count + k] + 3, g.omega[3 + k] + 3);
  }
  return true;
}

/* ---------------------------------------------------------------------- other factors */

static void factor_turn(factor *f, int axis, real angle) {
  real w[3] = {0, 0, 0};
  w[axis] = angle;
  mbg__so3_exp(f->F.R, w);
  f->omega[0][3 + axis] = 1;
}

static void factor_vector(factor *f, const real *w) {
  real T[9];
  mbg__so3_exp(f->F.R, w);
  mbg__so3_tangent(T, w);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) {
      f->omega[k][3 + i] = T[3 * i + k];
    }
  }
}

/* w = angle n, n = a/|a|:  dw = n dangle + angle (1 - n n^T)/|a| da */
static bool factor_axis_angle(factor *f, const real *a) {
  real n[3], l, w[3], T[9];
  if (!normalise(n, a, &l)) {
    return false;
  }
  v3_scale(w, a[3], n);
  mbg__so3_exp(f->F.R, w);
  mbg__so3_tangent(T, w);
  for (int k = 0; k < 3; k++) {
    real dw[3];
    v3_scale(dw, -a[3] * n[k] / l, n);
    dw[k] += a[3] / l;
    m3_mulv(f->omega[k] + 3, T, dw);
  }
  m3_mulv(f->omega[3] + 3, T, n);
  return true;
}

static int factor_attributes(mbg__pose_kind kind) {
  switch (kind) {
  case MBG__POSE_TRANSLATE:
  case MBG__POSE_VECTOR:
  case MBG__POSE_ALIGN:
    return 3;
  case MBG__POSE_TURN:
    return 1;
  case MBG__POSE_AXIS_ANGLE:
  case MBG__POSE_HELIX:
    return 4;
  case MBG__POSE_ZX:
  case MBG__POSE_XY:
    return 6;
  case MBG__POSE_LINE:
    return 9;
  case MBG__POSE_CURVE:
    return 15; /* four points and a vector */
  default:
    return 0;
  }
}

static bool factor_eval(factor *f, const mbg__pose_op *op, const real *attr) {
  frame_identity(&f->F);
  f->ndep = factor_attributes(op->kind);
  for (int k = 0; k < f->ndep; k++) {
    f->dep[k] = op->attr + k;
    v6_zero(f->omega[k]);
  }
  const real *a = attr + op->attr;
  switch (op->kind) {
  case MBG__POSE_TRANSLATE:
    v3_copy(f->F.x, a);
    for (int k = 0; k < 3; k++) {
      f->omega[k][k] = 1;
    }
    return true;
  case MBG__POSE_TURN:
    factor_turn(f, op->mode, a[0]);
    return true;
  case MBG__POSE_VECTOR:
    factor_vector(f, a);
    return true;
  case MBG__POSE_AXIS_ANGLE:
    return factor_axis_angle(f, a);
  case MBG__POSE_ZX:
    return factor_zx(f, a);
  case MBG__POSE_XY:
    return factor_xy(f, a, a + 3);
  case MBG__POSE_LINE:
    return factor_line(f, op->fraction, a);
  case MBG__POSE_HELIX:
    factor_helix(f, op->fraction, a);
    return true;
  case MBG__POSE_CURVE:
    return factor_curve(f, op, a);
  default:
    return factor_align(f, op->mode, a);
  }
}

bool mbg__pose_factor(const mbg__pose_op *op, const real *attr, mbg__placed *out) {
  factor f;
  if (!factor_eval(&f, op, attr)) {
    return false;
  }
  out->h = f.F;
  out->ndep = f.ndep;
  for (int k = 0; k < f.ndep; k++) {
    out->dep[k] = f.dep[k];
    v6_copy(out->omega[k], f.omega[k]);
  }
  return true;
}

/* ---------------------------------------------------------------------- products */

static void mirror_omega(const double s[3], real omega[6]) {
  const double det = s[0] * s[1] * s[2];
  for (int i = 0; i < 3; i++) {
    omega[i] *= s[i];
    omega[3 + i] *= det * s[i];
  }
}

static void mirror_frame(const double s[3], mbg__frame *F) {
  for (int i = 0; i < 3; i++) {
    F->x[i] *= s[i];
    for (int j = 0; j < 3; j++) {
      F->R[3 * i + j] *= s[i] * s[j];
    }
  }
}

/* out <- out F; the omegas so far move through F */
static void append_frame(mbg__placed *out, const mbg__frame *F) {
  const mbg__frame H = out->h;
  frame_mul(&out->h, &H, F);
  for (int k = 0; k < out->ndep; k++) {
    real w[6];
    v6_copy(w, out->omega[k]);
    AdInv_mul(out->omega[k], F, w);
  }
}

static void append_omega(mbg__placed *out, const double s[3], int dep, const real omega[6]) {
  if (!out->dep) {
    return;
  }
  real *w = out->omega[out->ndep];
  out->dep[out->ndep++] = dep;
  v6_copy(w, omega);
  mirror_omega(s, w);
}

static void append_factor(mbg__placed *out, const double s[3], factor *f) {
  mirror_frame(s, &f->F);
  append_frame(out, &f->F);
  for (int k = 0; k < f->ndep; k++) {
    append_omega(out, s, f->dep[k], f->omega[k]);
  }
}

/* another pose P, its inverse (omega of P^-1 is -Ad(P) omega), or its rotation alone */
static void append_pose(mbg__placed *out, const double s[3], mbg__pose_kind kind, const mbg__placed *P) {
  mbg__frame F = P->h;
  if (kind == MBG__POSE_INVERSE_OF) {
    frame_inv(&F, &P->h);
  } else if (kind == MBG__POSE_AT_OF) {
    v3_zero(F.x);
  }
  mirror_frame(s, &F);
  append_frame(out, &F);
  for (int k = 0; k < P->ndep; k++) {
    real w[6];
    v6_copy(w, P->omega[k]);
    if (kind == MBG__POSE_INVERSE_OF) {
      Ad_mul(w, &P->h, P->omega[k]);
      v6_scale(w, -1, w);
    } else if (kind == MBG__POSE_AT_OF) {
      v3_zero(w);
    }
    append_omega(out, s, P->dep[k], w);
  }
}

static bool refers(mbg__pose_kind kind) {
  return kind == MBG__POSE_OF || kind == MBG__POSE_INVERSE_OF || kind == MBG__POSE_AT_OF;
}

bool mbg__pose_eval(const mbg__pose_op *ops, int count, const real *attr, const mbg__placed *placed, mbg__placed *out,
                    int *where) {
  double s[3] = {1, 1, 1};
  frame_identity(&out->h);
  out->ndep = 0;
  for (int k = 0; k < count; k++) {
    const mbg__pose_op *op = &ops[k];
    if (op->kind == MBG__POSE_MIRROR || op->kind == MBG__POSE_UNMIRROR) {
      s[op->mode] = -s[op->mode];
    } else if (refers(op->kind)) {
      append_pose(out, s, op->kind, &placed[op->attr]);
    } else {
      factor f;
      if (!factor_eval(&f, op, attr)) {
        *where = k;
        return false;
      }
      append_factor(out, s, &f);
    }
  }
  return true;
}

int mbg__pose_deps(const mbg__pose_op *ops, int count, const mbg__pose *poses) {
  int n = 0;
  for (int k = 0; k < count; k++) {
    n += refers(ops[k].kind) ? poses[ops[k].attr].ndep : factor_attributes(ops[k].kind);
  }
  return n;
}
