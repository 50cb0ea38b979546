/* Tyre on a road (theory 5, section 15). B sits at the wheel's centre X with z along the spin axis e, A is the ground.
   With the vertical z, V the velocity of the centre, om the spin W.e, and the road's height zr(X, t), all in A:

     e_f = e x z/|.|    e_l = z x e_f    r = X.z - zr    rd = V.z - zr_X.V - zr_t
     Fz = kz (r0 - r) - cz rd            s = sqrt((V.e_f)^2 + v0^2)
     Fx = -cx (V.e_f - om r)/s           Fy = -cy (V.e_l)/s
     F = Fx e_f + Fy e_l + Fz z   at   X - r z:   f = (R^T F, -R^T (r z x F))

   Linear, no lift-off. A vertical spin axis has no e_f: an error, unless cx = cy = 0 (then the wheel does not roll).

   A `unilateral` tyre leaves the road and slides (theory 7, section 9). With d = r0 - r, the laws of contact_law.c,
   the slips kx = (V.e_f - om r)/s, ky = V.e_l/s and th(q) = tanh(sqrt q)/sqrt q:

     Fz = kz w sg(d/w) P(-cz rd/N0)                 q = ax^2 + ay^2,  ax = cx kx/(mux N0),  ay = cy ky/(muy N0)
     Fx = -cx kx Fz/N0 th(q)                        Fy = -cy ky Fz/N0 th(q)

   so that (Fx/(mux Fz))^2 + (Fy/(muy Fz))^2 = tanh(sqrt q)^2 < 1: an ellipse that forces approach and do not leave.

   With a shape factor C and a curvature E the Magic Formula stands in the place of tanh, with the slope 1 at 0:

     S(rho) = sin(C atan y)    y = x - E (x - atan x)    x = rho/C,  rho = sqrt q        th = S/rho,  |S| <= 1

   Its force has a maximum, mu Fz, and falls beyond it to sin(C pi/2) mu Fz when E < 1. */
#include "elements/contact_law.h"
#include "elements/force_clear.h"

enum { STIFFNESS, DAMPING, RADIUS, SLIP_X, SLIP_Y, SLIP_SPEED, WIDTH, LOAD, FRICTION_X, FRICTION_Y, SHAPE, CURVATURE };
enum { ROAD };
enum { UP, UNILATERAL }; /* options */
enum { TIME = MBG__FN_ARGS };

static const mbg__key keys[] = {
    [STIFFNESS] = {.name = "stiffness",
                   .kind = MBG__KEY_NUMBER,
                   .required = true,
                   .sign = MBG__NOT_NEGATIVE,
                   .unit = "N/m",
                   .help = "vertical stiffness kz"},
    [DAMPING] = {.name = "damping",
                 .kind = MBG__KEY_NUMBER,
                 .sign = MBG__NOT_NEGATIVE,
                 .unit = "N s/m",
                 .help = "vertical damping cz"},
    [RADIUS] = {.name = "radius",
                .kind = MBG__KEY_NUMBER,
                .required = true,
                .sign = MBG__POSITIVE,
                .unit = "m",
                .help = "radius r0 without load"},
    [SLIP_X] = {.name = "slip_x",
                .kind = MBG__KEY_NUMBER,
                .sign = MBG__NOT_NEGATIVE,
                .unit = "N",
                .help = "longitudinal slip stiffness cx"},
    [SLIP_Y] = {.name = "slip_y",
                .kind = MBG__KEY_NUMBER,
                .sign = MBG__NOT_NEGATIVE,
                .unit = "N",
                .help = "lateral slip stiffness cy"},
    [SLIP_SPEED] = {.name = "slip_speed",
                    .kind = MBG__KEY_NUMBER,
                    .preset = 0.1,
                    .sign = MBG__POSITIVE,
                    .unit = "m/s",
                    .help = "speed v0 below which slip forces are linear in the sliding speed"},
    [WIDTH] = {.name = "width",
               .kind = MBG__KEY_NUMBER,
               .sign = MBG__NOT_NEGATIVE,
               .unit = "m",
               .help = "unilateral: depth w over which the vertical force begins smoothly"},
    [LOAD] = {.name = "reference_load",
              .kind = MBG__KEY_NUMBER,
              .sign = MBG__NOT_NEGATIVE,
              .unit = "N",
              .help = "unilateral: vertical force N0 at which damping and slip stiffnesses hold; they grow with it"},
    [FRICTION_X] = {.name = "friction",
                    .kind = MBG__KEY_NUMBER,
                    .sign = MBG__NOT_NEGATIVE,
                    .unit = "",
                    .help = "unilateral: limit mux of the longitudinal force by the vertical one"},
    [FRICTION_Y] = {.name = "friction_y",
                    .kind = MBG__KEY_NUMBER,
                    .sign = MBG__NOT_NEGATIVE,
                    .unit = "",
                    .help = "unilateral: limit muy of the lateral force; `friction` when absent"},
    [SHAPE] = {.name = "shape_factor",
               .kind = MBG__KEY_NUMBER,
               .sign = MBG__NOT_NEGATIVE,
               .unit = "",
               .help = "unilateral: factor C of the Magic Formula, 1 to 2, in the place of tanh; 0: tanh"},
    [CURVATURE] = {.name = "curvature",
                   .kind = MBG__KEY_NUMBER,
                   .unit = "",
                   .help = "unilateral: factor E of the Magic Formula, at most 1"},
    {.name = "road",
     .kind = MBG__KEY_FN,
     .unit = "m",
     .args = "x y z",
     .uses = MBG__USES_TIME | MBG__USES_CONTROLS,
     .help = "height of the road at the wheel's centre x y z (in A) and time t"},
    {.name = "up", .kind = MBG__KEY_CHOICE, .preset = 2, .choices = "x y z", .help = "vertical axis of A"},
    {.name = "unilateral",
     .kind = MBG__KEY_BOOL,
     .help = "the tyre leaves the road, and its slip forces are limited by an ellipse of friction"},
};
static const double rounding = 0.05; /* of the factor of damping, as of contacts */

/* ---------------------------------------------------------------------- state */

/* Everything the law is made of, in the axes of A. */
typedef struct {
  const real *attr;
  mbg__fn_value road;
  real z[3], V[3], om;
  bool rolling; /* e_f and e_l exist */
  real e_f[3], e_l[3];
  real n;     /* |e x z| */
  real r, rd; /* height of the centre over the road and its rate */
  real vf, vl, s;
  real Fx, Fy, Fz;
  real F[3];
  /* unilateral */
  bool lifts;
  mbg__contact_elastic elastic;
  mbg__contact_factor factor;
  mbg__contact_friction ellipse; /* K = th(q) */
  real K_C, K_E;                 /* ... by shape factor and curvature */
  real kx, ky, ax, ay;
} tyre;

static real friction_y(const real *a) { return re(a[FRICTION_Y]) > 0 ? a[FRICTION_Y] : a[FRICTION_X]; }

/* vertical force that ends at lift-off */
static void press(tyre *ty) {
  const real *a = ty->attr;
  mbg__contact_elastic_at(a[RADIUS] - ty->r, a[STIFFNESS], 1, a[WIDTH], &ty->elastic);
  mbg__contact_factor_at(-a[DAMPING] * ty->rd / a[LOAD], rounding, &ty->factor);
  ty->Fz = ty->elastic.F * ty->factor.P;
}

/* slips by their sizes at the limit of friction */
static real limited(real slip, real stiffness, real mu, real load) {
  return re(mu) > 0 ? stiffness * slip / (mu * load) : 0;
}

/* 1 - atan z/z (k = 0) and atan z/z - 1/(1 + z^2) (k = 1), functions of w = z^2: by their series where these are small
   differences, so that derivatives, too, keep their digits */
static real less_atan(real w, int k) {
  real sum = 0;
  if (re(w) > 0.01) {
    const real z = r_sqrt(w), ratio = r_atan(z) / z;
    return k == 0 ? 1 - ratio : ratio - 1 / (1 + w);
  }
  for (int n = 8; n >= 1; n--) {
    sum = (k == 0 ? 1 : 2.0 * n) / (2.0 * n + 1) - w * sum;
  }
  return w * sum;
}

/* sin v/v (k = 0) and cos v - sin v/v (k = 1), functions of w = v^2 */
static real sine_ratio(real w, int k) {
  if (re(w) > 0.01) {
    const real v = r_sqrt(w), ratio = r_sin(v) / v;
    return k == 0 ? ratio : r_cos(v) - ratio;
  }
  return k == 0 ? 1 - w / 6 * (1 - w / 20 * (1 - w / 42 * (1 - w / 72 * (1 - w / 110))))
                : -w / 3 * (1 - w / 10 * (1 - w / 28 * (1 - w / 54 * (1 - w / 88))));
}

/* cos v, a function of w = v^2: near v = pi/2, where the formula is flat, without a difference */
static real cosine_of(real w) { return re(w) > 0.01 ? r_cos(r_sqrt(w)) : sine_ratio(w, 0) + sine_ratio(w, 1); }

/* S(rho)/rho by the Magic Formula, from q = rho^2: C atan y = rho A. K_slip is that of tanh: less the slope of S. */
static void magic(real q, real C, real E, tyre *ty) {
  const real xx = q / (C * C), stretch = 1 - E * less_atan(xx, 0), yy = xx * stretch * stretch;
  const real A = stretch * (1 - less_atan(yy, 0)), cosine = cosine_of(q * A * A);
  const real slope = 1 / (1 + yy), y_x = 1 - E + E / (1 + xx);
  const real bend = cosine * (stretch * less_atan(yy, 1) + E * less_atan(xx, 1) * slope);
  ty->ellipse = (mbg__contact_friction){.K = A * sine_ratio(q * A * A, 0), .K_slip = -cosine * slope * y_x};
  ty->ellipse.K_q = re(q) > 0 ? (A * sine_ratio(q * A * A, 1) - bend) / (2 * q) : 0;
  ty->K_C = bend / C;
  ty->K_E = -cosine * slope * less_atan(xx, 0);
}

static void saturate(tyre *ty) {
  const real *a = ty->attr;
  ty->kx = (ty->vf - ty->om * ty->r) / ty->s;
  ty->ky = ty->vl / ty->s;
  ty->ax = limited(ty->kx, a[SLIP_X], a[FRICTION_X], a[LOAD]);
  ty->ay = limited(ty->ky, a[SLIP_Y], friction_y(a), a[LOAD]);
  const real q = ty->ax * ty->ax + ty->ay * ty->ay;
  if (re(a[SHAPE]) > 0) {
    magic(q, a[SHAPE], a[CURVATURE], ty);
  } else {
    mbg__contact_friction_at(q, 1, 1, 1, 1, &ty->ellipse);
  }
  ty->Fx = -a[SLIP_X] * ty->kx * ty->Fz / a[LOAD] * ty->ellipse.K;
  ty->Fy = -a[SLIP_Y] * ty->ky * ty->Fz / a[LOAD] * ty->ellipse.K;
}

/* Adds the changes of the slip forces, F = -mu Fz u th(u.u), u = (ax, ay), to d->Fx and d->Fy. Along u (du = along u)
   they grow by the slope of tanh, which is lost in th + 2 q th' when u is large; across u (du = across (-ay, ax)) they
   turn by th. */
static void slip_forces_change(const tyre *ty, real along, real across, real dFz, tyre *d) {
  const real *a = ty->attr, K = ty->ellipse.K, steep = -ty->ellipse.K_slip;
  const real dx = steep * ty->ax * along - K * ty->ay * across, dy = steep * ty->ay * along + K * ty->ax * across;
  d->Fx -= a[FRICTION_X] * (ty->Fz * dx + dFz * ty->ax * K);
  d->Fy -= friction_y(a) * (ty->Fz * dy + dFz * ty->ay * K);
}

static void saturate_change(const tyre *ty, real dax, real day, real dFz, tyre *d) {
  const real *a = ty->attr, q = ty->ax * ty->ax + ty->ay * ty->ay;
  if (re(q) > 0) {
    slip_forces_change(ty, (ty->ax * dax + ty->ay * day) / q, (ty->ax * day - ty->ay * dax) / q, dFz, d);
  } else {
    d->Fx -= a[FRICTION_X] * ty->Fz * dax;
    d->Fy -= friction_y(a) * ty->Fz * day;
  }
}

/* e_f, e_l and the slip forces */
static int roll(tyre *ty, const real e[3]) {
  const real *a = ty->attr;
  v3_cross(ty->e_f, e, ty->z);
  const double sine2 = re(v3_dot(ty->e_f, ty->e_f));
  ty->rolling = sine2 > 1e-24;
  if (!ty->rolling) {
    return re(a[SLIP_X]) == 0 && re(a[SLIP_Y]) == 0 ? MBG_OK : MBG_ERROR_INPUT;
  }
  ty->n = v3_norm(ty->e_f);
  v3_scale(ty->e_f, 1 / ty->n, ty->e_f);
  v3_cross(ty->e_l, ty->z, ty->e_f);
  ty->vf = v3_dot(ty->V, ty->e_f);
  ty->vl = v3_dot(ty->V, ty->e_l);
  ty->s = r_sqrt(ty->vf * ty->vf + a[SLIP_SPEED] * a[SLIP_SPEED]);
  if (ty->lifts) {
    saturate(ty);
    return MBG_OK;
  }
  ty->Fx = -a[SLIP_X] * (ty->vf - ty->om * ty->r) / ty->s;
  ty->Fy = -a[SLIP_Y] * ty->vl / ty->s;
  return MBG_OK;
}

/* out = Fx e_f + Fy e_l + Fz z */
static void sum_forces(const tyre *ty, real Fx, real Fy, real Fz, real out[3]) {
  v3_scale(out, Fz, ty->z);
  if (ty->rolling) {
    v3_axpy(out, Fx, ty->e_f);
    v3_axpy(out, Fy, ty->e_l);
  }
}

static int tyre_at(const mbg__force_in *in, tyre *ty) {
  int err = MBG_OK;
  const mbg__frame *G = in->G;
  const real *a = in->attr;
  const real e[3] = {G->R[2], G->R[5], G->R[8]};
  *ty = (tyre){.attr = a, .om = in->v[5], .lifts = in->opt[UNILATERAL] != 0};
  ty->z[in->opt[UP]] = 1;
  m3_mulv(ty->V, G->R, in->v);
  MBG_TRY(mbg__fn_at(in->fn, ROAD, G->x, in->derivatives ? 2 : 1, &ty->road));
  ty->r = v3_dot(G->x, ty->z) - ty->road.f;
  ty->rd = v3_dot(ty->V, ty->z) - v3_dot(ty->V, ty->road.f_x) - ty->road.f_x[TIME];
  if (ty->lifts) {
    press(ty);
  } else {
    ty->Fz = a[STIFFNESS] * (a[RADIUS] - ty->r) - a[DAMPING] * ty->rd;
  }
  MBG_TRY(roll(ty, e));
  sum_forces(ty, ty->Fx, ty->Fy, ty->Fz, ty->F);
done:
  return err;
}

/* ---------------------------------------------------------------------- wrench */

/* f = (R^T F, -R^T (r z x F)) */
static void wrench(const real R[9], const real z[3], real r, const real F[3], real f[6]) {
  real m[3];
  v3_cross(m, F, z);
  v3_scale(m, r, m);
  m3_mulv_T(f, R, F);
  m3_mulv_T(f + 3, R, m);
}

/* Change of the wrench at fixed R for the changes of all it is made of; *d holds dV, dom, de_f, de_l, dr, drd and the
   changes of the forces at fixed motion. */
static void change(const tyre *ty, const real R[9], tyre *d, real df[6]) {
  const real *a = ty->attr;
  real m[6];
  if (ty->lifts) {
    d->Fz -= ty->elastic.F_d * ty->factor.P * d->r + ty->elastic.F * ty->factor.P_y * a[DAMPING] / a[LOAD] * d->rd;
  } else {
    d->Fz += -a[STIFFNESS] * d->r - a[DAMPING] * d->rd;
  }
  if (ty->rolling && ty->lifts) {
    const real dvf = v3_dot(d->V, ty->e_f) + v3_dot(ty->V, d->e_f);
    const real dvl = v3_dot(d->V, ty->e_l) + v3_dot(ty->V, d->e_l);
    const real shrink = ty->vf * dvf / (ty->s * ty->s);
    const real dkx = (dvf - d->om * ty->r - ty->om * d->r) / ty->s - ty->kx * shrink;
    const real dky = dvl / ty->s - ty->ky * shrink;
    saturate_change(ty, limited(dkx, a[SLIP_X], a[FRICTION_X], a[LOAD]),
                    limited(dky, a[SLIP_Y], friction_y(a), a[LOAD]), d->Fz, d);
  } else if (ty->rolling) {
    const real dvf = v3_dot(d->V, ty->e_f) + v3_dot(ty->V, d->e_f);
    const real dvl = v3_dot(d->V, ty->e_l) + v3_dot(ty->V, d->e_l);
    const real shrink = ty->vf * dvf / (ty->s * ty->s);
    d->Fx += -a[SLIP_X] * (dvf - d->om * ty->r - ty->om * d->r) / ty->s - ty->Fx * shrink;
    d->Fy += -a[SLIP_Y] * dvl / ty->s - ty->Fy * shrink;
  }
  sum_forces(ty, d->Fx, d->Fy, d->Fz, d->F);
  v3_axpy(d->F, ty->Fx, d->e_f);
  v3_axpy(d->F, ty->Fy, d->e_l);

  wrench(R, ty->z, ty->r, d->F, df);
  wrench(R, ty->z, d->r, ty->F, m);
  v3_add(df + 3, df + 3, m + 3);
}

static void set_column(real *A, int k, const real c[6]) {
  for (int i = 0; i < 6; i++) {
    A[6 * i + k] = c[i];
  }
}

/* ---------------------------------------------------------------------- derivatives */

/* translation U = unit vector k: dX = R U */
static void by_translation(const tyre *ty, const mbg__frame *G, real f_G[36]) {
  for (int k = 0; k < 3; k++) {
    const real dX[3] = {G->R[k], G->R[3 + k], G->R[6 + k]};
    tyre d = {.r = v3_dot(dX, ty->z) - v3_dot(dX, ty->road.f_x)};
    for (int i = 0; i < 3; i++) {
      d.rd -= ty->V[i] * v3_dot(ty->road.f_xx[i], dX) + ty->road.f_xx[i][TIME] * dX[i];
    }
    real df[6];
    change(ty, G->R, &d, df);
    set_column(f_G, k, df);
  }
}

/* rotation W = unit vector k: dV = R (W x U), de = R (W x 3), and d(R^T F) = (R^T F) x W */
static void by_rotation(const tyre *ty, const mbg__frame *G, const real f[6], const real *v, real f_G[36]) {
  static const real spin[3] = {0, 0, 1};
  for (int k = 0; k < 3; k++) {
    const real W[3] = {k == 0, k == 1, k == 2};
    real a[3], de[3], df[6];
    tyre d = {0};
    v3_cross(a, W, v);
    m3_mulv(d.V, G->R, a);
    d.rd = v3_dot(d.V, ty->z) - v3_dot(d.V, ty->road.f_x);
    if (ty->rolling) {
      v3_cross(a, W, spin);
      m3_mulv(de, G->R, a);
      v3_cross(d.e_f, de, ty->z);
      v3_axpy(d.e_f, -v3_dot(d.e_f, ty->e_f), ty->e_f);
      v3_scale(d.e_f, 1 / ty->n, d.e_f);
      v3_cross(d.e_l, ty->z, d.e_f);
    }
    change(ty, G->R, &d, df);
    v3_cross_add(df, 1, f, W);
    v3_cross_add(df + 3, 1, f + 3, W);
    set_column(f_G, 3 + k, df);
  }
}

/* velocity: dV = R dU, dom = dW.3 */
static void by_twist(const tyre *ty, const mbg__frame *G, real f_v[36]) {
  real df[6];
  for (int k = 0; k < 3; k++) {
    tyre d = {.V = {G->R[k], G->R[3 + k], G->R[6 + k]}};
    d.rd = v3_dot(d.V, ty->z) - v3_dot(d.V, ty->road.f_x);
    change(ty, G->R, &d, df);
    set_column(f_v, k, df);
  }
  tyre d = {.om = 1};
  change(ty, G->R, &d, df);
  set_column(f_v, 5, df);
}

/* unilateral: vertical force by its numbers, at fixed motion */
static void vertical_changes(const tyre *ty, tyre d[]) {
  const real *a = ty->attr, y = -a[DAMPING] * ty->rd / a[LOAD], slope = ty->elastic.F * ty->factor.P_y;
  d[STIFFNESS].Fz = ty->elastic.F_k * ty->factor.P;
  d[RADIUS].Fz = ty->elastic.F_d * ty->factor.P;
  d[WIDTH].Fz = ty->elastic.F_w * ty->factor.P;
  d[DAMPING].Fz = -slope * ty->rd / a[LOAD];
  d[LOAD].Fz = -slope * y / a[LOAD];
}

/* slip forces by the numbers in ax and ay and by the factors mu, at fixed motion and vertical force. With both changes
   by mu together th - (th + 2 q th') = -2 q th', small for small slips. */
static void slip_changes(const tyre *ty, tyre d[]) {
  const real *a = ty->attr, mux = a[FRICTION_X], muy = friction_y(a), ax = ty->ax, ay = ty->ay;
  const real c = 2 * ty->Fz * ty->ellipse.K_q;
  tyre *own = &d[re(a[FRICTION_Y]) > 0 ? FRICTION_Y : FRICTION_X];
  saturate_change(ty, limited(ty->kx, 1, mux, a[LOAD]), 0, 0, &d[SLIP_X]);
  saturate_change(ty, 0, limited(ty->ky, 1, muy, a[LOAD]), 0, &d[SLIP_Y]);
  slip_forces_change(ty, -a[SLIP_SPEED] / (ty->s * ty->s), 0, 0, &d[SLIP_SPEED]);
  slip_forces_change(ty, -1 / a[LOAD], 0, 0, &d[LOAD]);
  if (re(mux) > 0) {
    d[FRICTION_X].Fx += c * ax * ax * ax;
    d[FRICTION_X].Fy += c * muy / mux * ay * ax * ax;
    own->Fx += c * mux / muy * ax * ay * ay;
    own->Fy += c * ay * ay * ay;
  }
  d[SHAPE].Fx = -mux * ty->Fz * ax * ty->K_C;
  d[SHAPE].Fy = -muy * ty->Fz * ay * ty->K_C;
  d[CURVATURE].Fx = -mux * ty->Fz * ax * ty->K_E;
  d[CURVATURE].Fy = -muy * ty->Fz * ay * ty->K_E;
}

static void lifting_by_attributes(const tyre *ty, const real R[9], real (*f_a)[6]) {
  static const tyre none;
  tyre d[CURVATURE + 1];
  for (int i = 0; i < MBG_COUNT(d); i++) {
    d[i] = none;
  }
  vertical_changes(ty, d);
  if (ty->rolling) {
    slip_changes(ty, d);
  }
  for (int i = 0; i < MBG_COUNT(d); i++) {
    change(ty, R, &d[i], f_a[i]);
  }
}

static void by_attributes(const tyre *ty, const real R[9], real (*f_a)[6]) {
  const real *a = ty->attr;
  if (ty->lifts) {
    lifting_by_attributes(ty, R, f_a);
    return;
  }
  tyre kz = {.Fz = a[RADIUS] - ty->r}, cz = {.Fz = -ty->rd}, r0 = {.Fz = a[STIFFNESS]};
  change(ty, R, &kz, f_a[STIFFNESS]);
  change(ty, R, &cz, f_a[DAMPING]);
  change(ty, R, &r0, f_a[RADIUS]);
  if (ty->rolling) {
    const real ss = ty->s * ty->s;
    tyre cx = {.Fx = -(ty->vf - ty->om * ty->r) / ty->s}, cy = {.Fy = -ty->vl / ty->s};
    tyre v0 = {.Fx = -ty->Fx * a[SLIP_SPEED] / ss, .Fy = -ty->Fy * a[SLIP_SPEED] / ss};
    change(ty, R, &cx, f_a[SLIP_X]);
    change(ty, R, &cy, f_a[SLIP_Y]);
    change(ty, R, &v0, f_a[SLIP_SPEED]);
  }
}

/* the road's attributes: dr = -dzr, drd = -V.d(zr_X) - d(zr_t) */
static void by_road(const tyre *ty, const real R[9], mbg__force_out *out) {
  real g[6], gx[MBG__FN_ARGS + 1][6];
  tyre d = {.r = -1};
  change(ty, R, &d, g);
  for (int k = 0; k <= MBG__FN_ARGS; k++) {
    tyre dk = {.rd = k == TIME ? -1 : -ty->V[k]};
    change(ty, R, &dk, gx[k]);
  }
  mbg__force_fn_column(out, &ty->road, g, (const real(*)[6])gx);
}

static int eval(const mbg__force_in *in, mbg__force_out *out) {
  int err = MBG_OK;
  tyre ty;
  mbg__force_clear(out);
  MBG_TRY(tyre_at(in, &ty));
  wrench(in->G->R, ty.z, ty.r, ty.F, out->f);
  if (in->derivatives) {
    by_translation(&ty, in->G, out->f_G);
    by_rotation(&ty, in->G, out->f, in->v, out->f_G);
    by_twist(&ty, in->G, out->f_v);
    by_attributes(&ty, in->G->R, out->f_a);
    by_road(&ty, in->G->R, out);
  }
done:
  return err;
}

/* without lift-off a wheel above the road hangs on its tyre */
static real pull(const mbg__force_in *in, const real wrench[6]) { return -v3_dot(in->G->R + 3 * in->opt[UP], wrench); }

static bool check(const real *attr, const int *opt, char *why, size_t size) {
  const bool slips = re(attr[SLIP_X]) > 0 || re(attr[SLIP_Y]) > 0;
  const char *text = NULL;
  if (!opt[UNILATERAL]) {
    for (int k = WIDTH; k <= CURVATURE && !text; k++) {
      text = re(attr[k]) != 0 ? "width, reference_load, friction, shape_factor and curvature belong to a tyre with "
                                "\"unilateral\": true"
                              : NULL;
    }
  } else if (!(re(attr[WIDTH]) > 0)) {
    text = "'width' is missing: the depth over which the force of a unilateral tyre begins";
  } else if (!(re(attr[LOAD]) > 0)) {
    text = "'reference_load' is missing: the vertical force at which damping and slip stiffnesses hold";
  } else if (slips && !(re(attr[FRICTION_X]) > 0)) {
    text = "'friction' is missing: the limit of the slip forces of a unilateral tyre";
  } else if (re(attr[SHAPE]) != 0 && !(re(attr[SHAPE]) >= 1 && re(attr[SHAPE]) <= 2)) {
    text = "'shape_factor' of the Magic Formula must be between 1 and 2; without it friction saturates as tanh";
  } else if (re(attr[CURVATURE]) > 1 || (re(attr[CURVATURE]) != 0 && re(attr[SHAPE]) == 0)) {
    text = "'curvature' of the Magic Formula must be 1 at most, and needs 'shape_factor'";
  }
  mbg__format(why, size, "%s", text ? text : "");
  return !text;
}

const mbg__force_type mbg__force_tyre = {
    .key = "tyre",
    .help = "tyre on a road: vertical spring and damper, longitudinal and lateral slip",
    .on_one = true,
    .z_axis = true,
    .of_world = true,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
    .check = check,
    .pull = pull,
};
