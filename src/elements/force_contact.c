/* Contact of a sphere on B with a plane, sphere, socket, hole or road on A (theory 7, section 8). In the axes of A,
   with depth d, normal n from A to B, velocity V of the sphere's centre relative to A (and to a road that rises),
   angular velocity Om and lever l = -r n:

     N = Fe(d) P(c ddot)    ddot = -n.V    u = V + Om x l    ut = u - n (n.u)
     F = N (n - K(ut.ut) ut)               f = (R^T F, R^T (l x F))

   Twice differentiable in depth and rate, never pulling. The laws Fe, P, K and the damping c of a coefficient of
   restitution are in contact_law.c, d and n in contact_shape.c. */
#include "elements/contact_law.h"
#include "elements/contact_shape.h"
#include "elements/force_clear.h"

enum {
  RADIUS,
  RADIUS_A,
  STIFFNESS,
  EXPONENT,
  WIDTH,
  RESTITUTION,
  SPEED,
  DAMPING,
  SMOOTHING,
  FRICTION,
  STATIC,
  SLIP_SPEED,
  STRIBECK
};
enum { TIME = MBG__FN_ARGS };
enum { DEPTH, NORMAL, SLIP };

/* the order of the attributes; those of the shapes are the first and the last */
static const mbg__key keys[] = {
    {.name = "shape",
     .kind = MBG__KEY_CHOICE,
     .required = true,
     .choices = "sphere-plane sphere-sphere sphere-socket pin-hole sphere-road",
     .help = "what touches: a sphere on B and a plane, sphere, socket, hole (about z) or road on A"},
    {.name = "radius",
     .kind = MBG__KEY_NUMBER,
     .required = true,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "m",
     .help = "radius r of the sphere or pin on B"},
    {.name = "radius_a",
     .kind = MBG__KEY_NUMBER,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "m",
     .help = "radius of the sphere, socket or hole on A"},
    {.name = "stiffness",
     .kind = MBG__KEY_NUMBER,
     .required = true,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "N/m^n",
     .help = "stiffness k"},
    {.name = "exponent",
     .kind = MBG__KEY_NUMBER,
     .preset = 1.5,
     .sign = MBG__POSITIVE,
     .unit = "",
     .help = "power n of the depth, 1 or more; 1.5: Hertz"},
    {.name = "width",
     .kind = MBG__KEY_NUMBER,
     .required = true,
     .sign = MBG__POSITIVE,
     .unit = "m",
     .help = "depth w over which the force begins smoothly"},
    {.name = "restitution",
     .kind = MBG__KEY_NUMBER,
     .preset = 1,
     .sign = MBG__POSITIVE,
     .unit = "",
     .help = "coefficient of restitution e, up to 1, met at the approach speed `speed`"},
    {.name = "speed",
     .kind = MBG__KEY_NUMBER,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "m/s",
     .help = "approach speed for which the restitution is given"},
    {.name = "damping",
     .kind = MBG__KEY_NUMBER,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "s/m",
     .help = "instead of a restitution: damping c, the force is k d^n (1 + c ddot)"},
    {.name = "smoothing",
     .kind = MBG__KEY_NUMBER,
     .preset = 0.05,
     .sign = MBG__POSITIVE,
     .unit = "",
     .help = "range of c ddot, below 1, in which the force of a separation ends smoothly"},
    {.name = "friction",
     .kind = MBG__KEY_NUMBER,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "",
     .help = "coefficient of friction of sliding"},
    {.name = "static_friction",
     .kind = MBG__KEY_NUMBER,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "",
     .help = "coefficient of friction near rest; 0: `friction`"},
    {.name = "slip_speed",
     .kind = MBG__KEY_NUMBER,
     .preset = 0.01,
     .sign = MBG__POSITIVE,
     .unit = "m/s",
     .help = "sliding speed vs at which friction has 76 percent of its size"},
    {.name = "stribeck_speed",
     .kind = MBG__KEY_NUMBER,
     .preset = 0.1,
     .sign = MBG__POSITIVE,
     .unit = "m/s",
     .help = "sliding speed over which friction falls from its static to its moving size"},
    {.name = "up",
     .kind = MBG__KEY_CHOICE,
     .preset = 2,
     .choices = "x y z",
     .help = "axis of A normal to the plane, or vertical"},
    {.name = "road",
     .kind = MBG__KEY_FN,
     .unit = "m",
     .args = "x",
     .uses = MBG__USES_TIME | MBG__USES_CONTROLS,
     .smooth = true,
     .help = "height of the road over x of A (over y where x is up) and time t"},
};

/* ---------------------------------------------------------------------- state */

typedef struct {
  mbg__contact_place at;
  mbg__contact_elastic elastic;
  mbg__contact_damping back; /* of the restitution; zero without one */
  mbg__contact_factor factor;
  mbg__contact_friction friction;
  real r, c, ddot, N, un;
  real V[3], Om[3], l[3], u[3], ut[3], F[3];
} contact;

/* Changes: of what a contact is made of, then of what follows. */
typedef struct {
  mbg__contact_change at;
  real W[3], V[3], Om[3], r;
  real Fe, c, P, K; /* by attributes of the laws, at fixed motion */
  real N, l[3], ut[3], F[3];
} change;

static void motion(const mbg__force_in *in, contact *k) {
  const real *n = k->at.n;
  m3_mulv(k->V, in->G->R, in->v);
  m3_mulv(k->Om, in->G->R, in->v + 3);
  if (k->at.kind == MBG__CONTACT_ROAD) {
    k->V[k->at.up] -= k->at.road.f_x[TIME];
  }
  k->ddot = -v3_dot(n, k->V);
  v3_scale(k->l, -k->r, n);
  v3_copy(k->u, k->V);
  v3_cross_add(k->u, 1, k->Om, k->l);
  k->un = v3_dot(n, k->u);
  v3_copy(k->ut, k->u);
  v3_axpy(k->ut, -k->un, n);
}

static int contact_at(const mbg__force_in *in, contact *k, const char **why) {
  const real *a = in->attr;
  const int err = mbg__contact_place_at(in, a[RADIUS], a[RADIUS_A], &k->at, why);
  k->r = a[RADIUS];
  if (err < 0) {
    return err;
  }
  motion(in, k);
  mbg__contact_elastic_at(k->at.d, a[STIFFNESS], a[EXPONENT], a[WIDTH], &k->elastic);
  if (re(k->elastic.F) == 0) {
    return MBG_OK; /* apart */
  }
  k->c = a[DAMPING];
  if (re(a[SPEED]) > 0) {
    *why = "the restitution is not between 0 and 1";
    if (!mbg__contact_damping_of(a[RESTITUTION], a[SMOOTHING], &k->back)) {
      return MBG_ERROR_INPUT;
    }
    k->c += k->back.u / a[SPEED];
  }
  mbg__contact_factor_at(k->c * k->ddot, a[SMOOTHING], &k->factor);
  mbg__contact_friction_at(v3_dot(k->ut, k->ut), a[FRICTION], re(a[STATIC]) > 0 ? a[STATIC] : a[FRICTION],
                           a[SLIP_SPEED], a[STRIBECK], &k->friction);
  k->N = k->elastic.F * k->factor.P;
  v3_scale(k->F, k->N, k->at.n);
  v3_axpy(k->F, -k->N * k->friction.K, k->ut);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- derivatives */

static void follow(const contact *k, change *d) {
  const real *n = k->at.n;
  real du[3];
  mbg__contact_place_push(&k->at, &d->at);
  const real *dn = d->at.n;
  if (k->at.kind == MBG__CONTACT_ROAD) {
    d->V[k->at.up] -= d->at.rate;
  }
  v3_scale(d->l, -k->r, dn);
  v3_axpy(d->l, -d->r, n);
  const real dddot = -v3_dot(dn, k->V) - v3_dot(n, d->V);
  d->N = (k->elastic.F_d * d->at.d + d->Fe) * k->factor.P +
         k->elastic.F * (k->factor.P_y * (k->c * dddot + d->c * k->ddot) + d->P);

  v3_copy(du, d->V);
  v3_cross_add(du, 1, d->Om, k->l);
  v3_cross_add(du, 1, k->Om, d->l);
  v3_copy(d->ut, du);
  v3_axpy(d->ut, -k->un, dn);
  v3_axpy(d->ut, -v3_dot(dn, k->u) - v3_dot(n, du), n);

  const real K = k->friction.K, dK = d->K + 2 * k->friction.K_q * v3_dot(k->ut, d->ut);
  v3_scale(d->F, d->N, n);
  v3_axpy(d->F, k->N, dn);
  v3_axpy(d->F, -d->N * K - k->N * dK, k->ut);
  v3_axpy(d->F, -k->N * K, d->ut);
}

/* Six numbers of a contact, or their change: its wrench, or depth, normal force and sliding speed. */
typedef void (*outputs)(const mbg__force_in *in, const contact *k, real f[6]);
typedef void (*output_changes)(const mbg__force_in *in, const contact *k, const change *d, const real f[6], real df[6]);

typedef struct {
  outputs value;
  output_changes change;
} result;

static void wrench(const mbg__force_in *in, const contact *k, real f[6]) {
  real m[3];
  v3_cross(m, k->l, k->F);
  m3_mulv_T(f, in->G->R, k->F);
  m3_mulv_T(f + 3, in->G->R, m);
}

static void wrench_change(const mbg__force_in *in, const contact *k, const change *d, const real f[6], real df[6]) {
  real m[3];
  v3_cross(m, k->l, d->F);
  v3_cross_add(m, 1, d->l, k->F);
  m3_mulv_T(df, in->G->R, d->F);
  m3_mulv_T(df + 3, in->G->R, m);
  v3_cross_add(df, 1, f, d->W);
  v3_cross_add(df + 3, 1, f + 3, d->W);
}

static void measures(const mbg__force_in *in, const contact *k, real f[6]) {
  (void)in;
  v6_zero(f);
  f[DEPTH] = k->at.d;
  f[NORMAL] = k->N;
  f[SLIP] = re(v3_dot(k->ut, k->ut)) > 0 ? v3_norm(k->ut) : 0;
}

/* the sliding speed has no derivative at rest, where it counts as 0 */
static void measures_change(const mbg__force_in *in, const contact *k, const change *d, const real f[6], real df[6]) {
  (void)in;
  v6_zero(df);
  df[DEPTH] = d->at.d;
  df[NORMAL] = d->N;
  df[SLIP] = re(f[SLIP]) > 0 ? v3_dot(k->ut, d->ut) / f[SLIP] : 0;
}

static const result of_wrench = {wrench, wrench_change}, of_measures = {measures, measures_change};

static void set_column(real *A, int k, const real c[6]) {
  for (int i = 0; i < 6; i++) {
    A[6 * i + k] = c[i];
  }
}

/* variations and velocities along axis i of B: dx = R U, dV = R (W x U), dOm = R (W x W) and dV = R U, dOm = R W */
static void by_motion(const mbg__force_in *in, const contact *k, const result *what, mbg__force_out *out) {
  const real *R = in->G->R;
  for (int i = 0; i < 3; i++) {
    const real axis[3] = {R[i], R[3 + i], R[6 + i]}, W[3] = {i == 0, i == 1, i == 2};
    change place = {0}, turn = {0}, speed = {0}, spin = {0};
    change *const all[] = {&place, &turn, &speed, &spin};
    real b[3], df[6];
    v3_copy(place.at.x, axis);
    v3_copy(speed.V, axis);
    v3_copy(spin.Om, axis);
    v3_copy(turn.W, W);
    v3_cross(b, W, in->v);
    m3_mulv(turn.V, R, b);
    v3_cross(b, W, in->v + 3);
    m3_mulv(turn.Om, R, b);
    for (int j = 0; j < 4; j++) {
      follow(k, all[j]);
      what->change(in, k, all[j], out->f, df);
      set_column(j < 2 ? out->f_G : out->f_v, 3 * (j % 2) + i, df);
    }
  }
}

/* change of the laws by each attribute */
static void attribute_changes(const mbg__force_in *in, const contact *k, change d[]) {
  const real *a = in->attr, v0 = re(a[SPEED]) > 0 ? a[SPEED] : 1;
  const bool still = re(a[STATIC]) > 0;
  d[RADIUS].r = d[RADIUS].at.d = 1;
  d[RADIUS_A].at.d = k->at.kind == MBG__CONTACT_SPHERE                                      ? 1
                     : k->at.kind == MBG__CONTACT_SOCKET || k->at.kind == MBG__CONTACT_HOLE ? -1
                                                                                            : 0;
  d[STIFFNESS].Fe = k->elastic.F_k;
  d[EXPONENT].Fe = k->elastic.F_n;
  d[WIDTH].Fe = k->elastic.F_w;
  d[RESTITUTION].c = k->back.u_e / v0;
  d[SPEED].c = -k->back.u / (v0 * v0);
  d[DAMPING].c = 1;
  d[SMOOTHING].P = k->factor.P_s;
  d[SMOOTHING].c = k->back.u_s / v0;
  d[FRICTION].K = k->friction.K_moving + (still ? 0 : k->friction.K_still);
  d[STATIC].K = still ? k->friction.K_still : 0;
  d[SLIP_SPEED].K = k->friction.K_slip;
  d[STRIBECK].K = k->friction.K_stribeck;
}

static void by_attributes(const mbg__force_in *in, const contact *k, const result *what, mbg__force_out *out) {
  static const change none;
  change d[STRIBECK + 1];
  for (int i = 0; i < MBG_COUNT(d); i++) {
    d[i] = none;
  }
  attribute_changes(in, k, d);
  for (int i = 0; i < MBG_COUNT(d); i++) {
    out->energy_a[i] = k->elastic.F * d[i].at.d;
    follow(k, &d[i]);
    what->change(in, k, &d[i], out->f, out->f_a[i]);
  }
  out->energy_a[STIFFNESS] = k->elastic.E_k;
  out->energy_a[EXPONENT] = k->elastic.E_n;
  out->energy_a[WIDTH] = k->elastic.E_w;
}

/* attributes of the road: height, slope and rate at the foot */
static void by_road(const mbg__force_in *in, const contact *k, const result *what, mbg__force_out *out) {
  const int first = out->na;
  change height = {.at = {.road = 1}}, slope = {.at = {.road_slope = 1}}, rate = {.at = {.road_rate = 1}};
  real g[6], gx[MBG__FN_ARGS + 1][6] = {{0}};
  follow(k, &height);
  follow(k, &slope);
  follow(k, &rate);
  what->change(in, k, &height, out->f, g);
  what->change(in, k, &slope, out->f, gx[0]);
  what->change(in, k, &rate, out->f, gx[TIME]);
  mbg__force_fn_column(out, &k->at.road, g, (const real(*)[6])gx);
  for (int i = first; i < out->na; i++) {
    out->energy_a[i] = k->elastic.F * k->at.n[k->at.up] * k->at.road.f_act[i - first];
  }
}

static int evaluate(const mbg__force_in *in, const result *what, mbg__force_out *out) {
  contact k = {0};
  mbg__force_clear(out);
  const int err = contact_at(in, &k, &out->why);
  if (err < 0) {
    return err;
  }
  what->value(in, &k, out->f);
  out->energy = k.elastic.E;
  const bool apart = re(k.elastic.F) == 0 && what == &of_wrench; /* then all derivatives are 0 */
  if (in->derivatives && !apart) {
    m3_mulv_T(out->energy_G, in->G->R, k.at.n);
    v3_scale(out->energy_G, -k.elastic.F, out->energy_G);
    by_motion(in, &k, what, out);
    by_attributes(in, &k, what, out);
    if (k.at.kind == MBG__CONTACT_ROAD) {
      by_road(in, &k, what, out);
    }
  }
  return MBG_OK;
}

static int eval(const mbg__force_in *in, mbg__force_out *out) { return evaluate(in, &of_wrench, out); }
static int measure(const mbg__force_in *in, mbg__force_out *out) { return evaluate(in, &of_measures, out); }

/* ---------------------------------------------------------------------- data */

static const char *refusal(const double a[], mbg__contact_kind kind) {
  const bool inside = kind == MBG__CONTACT_SOCKET || kind == MBG__CONTACT_HOLE;
  if (inside && a[RADIUS_A] <= a[RADIUS]) {
    return "radius_a must be larger than radius: the sphere lies inside";
  }
  if (kind == MBG__CONTACT_SPHERE && a[RADIUS_A] + a[RADIUS] == 0) {
    return "radius and radius_a are both 0";
  }
  if (!inside && kind != MBG__CONTACT_SPHERE && a[RADIUS_A] != 0) {
    return "radius_a belongs to the shapes sphere-sphere, sphere-socket and pin-hole";
  }
  if (a[EXPONENT] < 1) {
    return "exponent must be 1 or more";
  }
  if (a[RESTITUTION] > 1) {
    return "restitution must be 1 or less";
  }
  if (a[SMOOTHING] >= 1) {
    return "smoothing must be less than 1";
  }
  if (a[RESTITUTION] < 1 && a[SPEED] == 0) {
    return "'speed' is missing: a restitution is met at one approach speed";
  }
  if (a[RESTITUTION] < 1 && a[DAMPING] != 0) {
    return "give 'restitution' with 'speed', or 'damping', not both";
  }
  return NULL;
}

static bool check(const real *attr, const int *opt, char *why, size_t size) {
  double a[STRIBECK + 1];
  for (int i = 0; i < MBG_COUNT(a); i++) {
    a[i] = re(attr[i]);
  }
  const char *text = refusal(a, (mbg__contact_kind)opt[0]);
  mbg__format(why, size, "%s", text ? text : "");
  return !text;
}

static mbg__energy_kind energy(const real *attr) {
  const bool lossless = re(attr[DAMPING]) == 0 && re(attr[RESTITUTION]) == 1 && re(attr[FRICTION]) == 0;
  return lossless && re(attr[STATIC]) == 0 ? MBG__ENERGY_KEPT : MBG__ENERGY_FALLS;
}

const mbg__force_type mbg__force_contact = {
    .key = "contact",
    .help = "contact of a sphere with a plane, sphere, socket, hole or road: Hertz, Hunt-Crossley, friction",
    .on_one = true,
    .of_world = true,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
    .measure = measure,
    .check = check,
    .energy = energy,
};
