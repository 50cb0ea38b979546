/* Laws of a smooth contact (theory 7, section 8). */
#include "elements/contact_law.h"

/* ---------------------------------------------------------------------- elastic force

     F = k (w sg(d/w))^n     sg(x) = 0 | x^3 - x^4/2 | x - 1/2   for x <= 0 | <= 1 | > 1
     E = k w^(n+1) I(d/w)    I(x) = integral of sg^n from 0 to x                                                     */

static void ramp(real x, real *sg, real *slope) {
  if (re(x) > 1) {
    *sg = x - 0.5;
    *slope = 1;
  } else {
    *sg = x * x * x * (1 - x / 2);
    *slope = x * x * (3 - 2 * x);
  }
}

/* Gauss' rule of 16 points on (0, 1) */
static double gauss_point(int i) {
  static const double node[] = {0.0950125098376374402, 0.2816035507792589132, 0.4580167776572273863,
                                0.6178762444026437484, 0.7554044083550030339, 0.8656312023878317439,
                                0.9445750230732325761, 0.9894009349916499326};
  return (1 + (i % 2 ? -1 : 1) * node[i / 2]) / 2;
}

static double gauss_weight(int i) {
  static const double weight[] = {0.1894506104550684963, 0.1826034150449235888, 0.1691565193950025382,
                                  0.1495959888165767321, 0.1246289712555338720, 0.0951585116824927848,
                                  0.0622535239386478929, 0.0271524594117540949};
  return weight[i / 2] / 2;
}

/* I(x) and its derivative by n, x <= 1: after the substitution x z^2 the integrand is smooth enough for 16 points */
static void ramp_integral(real x, real n, real *I, real *I_n) {
  *I = *I_n = 0;
  for (int i = 0; i < 16; i++) {
    const double z = gauss_point(i);
    real sg, slope;
    ramp(x * z * z, &sg, &slope);
    if (re(sg) > 0) {
      const real part = gauss_weight(i) * 2 * z * x * r_pow(sg, n);
      *I += part;
      *I_n += part * r_log(sg);
    }
  }
}

static void elastic_energy(real d, real k, real n, real w, mbg__contact_elastic *out) {
  const real x = d / w;
  real I, I_n;
  ramp_integral(re(x) > 1 ? 1 : x, n, &I, &I_n);
  if (re(x) > 1) {
    const real m = n + 1, far = r_pow(x - 0.5, m), near = r_pow(0.5, m);
    I += (far - near) / m;
    I_n += (far * r_log(x - 0.5) - near * r_log(0.5)) / m - (far - near) / (m * m);
  }
  const real scale = r_pow(w, n + 1);
  out->E = k * scale * I;
  out->E_k = scale * I;
  out->E_n = out->E * r_log(w) + k * scale * I_n;
  out->E_w = ((n + 1) * out->E - out->F * d) / w;
}

void mbg__contact_elastic_at(real d, real k, real n, real w, mbg__contact_elastic *out) {
  *out = (mbg__contact_elastic){0};
  if (re(d) <= 0) {
    return;
  }
  real sg, slope;
  ramp(d / w, &sg, &slope);
  if (!(re(w * sg) > 0)) {
    return; /* below the smallest number */
  }
  const real power = r_pow(w * sg, n - 1);
  out->F_k = power * w * sg;
  out->F = k * out->F_k;
  out->F_d = k * n * power * slope;
  out->F_n = out->F * r_log(w * sg);
  out->F_w = k * n * power * (sg - d / w * slope);
  elastic_energy(d, k, n, w, out);
}

/* ---------------------------------------------------------------------- damping

     P(y) = s rp((1 + y)/s)     rp(u) = 0 | (u + 1)^3 (3 - u)/16 | u   for u <= -1 | < 1 | >= 1

   is 1 + y above -1 + s, and 0 instead of negative.                                                                 */

void mbg__contact_factor_at(real y, real s, mbg__contact_factor *out) {
  const real u = (1 + y) / s, v = u + 1;
  *out = (mbg__contact_factor){0};
  if (re(u) >= 1) {
    out->P = 1 + y;
    out->P_y = 1;
  } else if (re(u) > -1) {
    out->P = s * v * v * v * (3 - u) / 16;
    out->P_y = v * v * (2 - u) / 4;
    out->P_s = 3 * v * v * (1 - u) * (1 - u) / 16;
  }
}

/* ---------------------------------------------------------------------- restitution

   A mass that arrives with the speed v leaves with e v when m y dy = -F P(c y) dd, that is with u = c v

     A(u) = B(e u)     A(u) = int_0^u x/(1 + x) dx = u - ln(1 + u)     B(z) = int_0^z x/P(-x) dx

   whatever F is. B(z) = -z - ln(1 - z) up to z = 1 - s. Beyond, with the unknown q >= 0 instead of u,

     e u = 1 + s - 2 s/(1 + q)     dB/dq = 2 (1 + q) (1 - s + (1 + s) q)/(1 + 2 q)

   which has an elementary integral and no differences of large numbers.                                             */

/* (A(u) - B(e u)) (-1/u^2) without rounding of P, which has no root u = 0; its derivative by u */
static real plain_gap(real u, real e, real *slope) {
  if (fabs(re(u)) > 0.3) {
    const real gap = (r_log(1 + u) - r_log(1 - e * u) - (1 + e) * u) / (u * u);
    *slope = (1 / (1 + u) + e / (1 - e * u) - 1 - e) / (u * u) - 2 * gap / u;
    return gap;
  }
  real gap = 0, power = 1, below = 0, ek = e * e;
  *slope = 0;
  for (int k = 0; k < 36; k++) {
    const real c = ((k % 2 ? 1 : -1) + ek) / (k + 2);
    gap += c * power;
    *slope += k * c * below;
    below = power;
    power *= u;
    ek *= e;
  }
  return gap;
}

/* A(u) - B(e u) where e u > 1 - s, at q */
typedef struct {
  real gap, gap_q;
  real u, u_q, B_q;
} rounded;

static rounded rounded_at(real q, real e, real s) {
  rounded r;
  r.u = (1 - s + (1 + s) * q) / (e * (1 + q));
  r.u_q = 2 * s / (e * (1 + q) * (1 + q));
  const real B = s - 1 - r_log(s) + ((1 + s) * q * q + (3 - s) * q + (1 - 3 * s) / 2 * r_log(1 + 2 * q)) / 2;
  r.B_q = 2 * (1 + q) * (1 - s + (1 + s) * q) / (1 + 2 * q);
  r.gap = r.u - r_log(1 + r.u) - B;
  r.gap_q = r.u / (1 + r.u) * r.u_q - r.B_q;
  return r;
}

/* derivative of A - B by s at fixed u: (6/s) int_0^q x^2 (1 - s + 2 x + (1 + s) x^2)/(1 + 2 x)^2 dx */
static real rounded_by_s(real q, real s) {
  real sum = 0;
  if (re(q) > 1) {
    const real y = 1 + 2 * q, log_y = r_log(y);
    const real J2 = (y - 2 * log_y - 1 / y) / 8;
    const real J3 = (y * y / 2 - 3 * y + 3 * log_y + 1 / y + 1.5) / 16;
    const real J4 = (y * y * y / 3 - 2 * y * y + 6 * y - 4 * log_y - 1 / y - 10. / 3) / 32;
    return 6 / s * ((1 - s) * J2 + 2 * J3 + (1 + s) * J4);
  }
  for (int i = 0; i < 16; i++) {
    const real x = gauss_point(i) * q, y = 1 + 2 * x;
    sum += gauss_weight(i) * q * x * x * (1 - s + 2 * x + (1 + s) * x * x) / (y * y);
  }
  return 6 / s * sum;
}

/* next point of Newton's method, or the middle where it leaves the bracket */
static double next_point(double u, double step, double low, double high) {
  const double next = u - step;
  return next > low && next < high ? next : (low + high) / 2;
}

static double plain_root(double e) {
  double low = 0, high = 1 / e, u = 1.5 * (1 - e * e) / (1 + e * e * e);
  u = u < high ? u : high / 2;
  for (int i = 0; i < 200; i++) {
    real slope;
    const double gap = re(plain_gap(u, e, &slope)), before = u;
    *(gap < 0 ? &low : &high) = u;
    u = next_point(u, gap / re(slope), low, high);
    if (fabs(u - before) <= 1e-13 * u) {
      break;
    }
  }
  return u;
}

static double rounded_root(double e, double s) {
  double low = 0, high = sqrt(2 / e), q = high / 2;
  for (int i = 0; i < 200; i++) {
    const rounded r = rounded_at(q, e, s);
    const double before = q;
    *(re(r.gap) > 0 ? &low : &high) = q;
    q = next_point(q, re(r.gap / r.gap_q), low, high);
    if (fabs(q - before) <= 1e-13 * q) {
      break;
    }
  }
  return q;
}

/* The last two steps of Newton's method carry the imaginary part in the twin. */
bool mbg__contact_damping_of(real e, real s, mbg__contact_damping *out) {
  *out = (mbg__contact_damping){0};
  if (!(re(e) > 0 && re(e) <= 1)) {
    return false;
  }
  real u = plain_root(re(e)), slope;
  for (int i = 0; i < 2; i++) {
    const real gap = plain_gap(u, e, &slope);
    u -= gap / slope;
  }
  if (re(e) * re(u) <= 1 - re(s)) {
    out->u = u;
    out->u_e = re(e) == 1 ? -1.5 : -e * u * (1 + u) / ((1 + e) * (e * u - (1 - e)));
    return true;
  }
  real q = rounded_root(re(e), re(s));
  rounded r = rounded_at(q, e, s);
  for (int i = 0; i < 2; i++) {
    q -= r.gap / r.gap_q;
    r = rounded_at(q, e, s);
  }
  out->u = r.u;
  out->u_e = r.u / e * r.B_q / r.gap_q;
  out->u_s = -rounded_by_s(q, s) * r.u_q / r.gap_q;
  return true;
}

/* ---------------------------------------------------------------------- friction

     K = mu(q) th(q/vs^2)/vs     mu = moving + (still - moving) exp(-q/vst^2)     th(y) = tanh(sqrt y)/sqrt y        */

/* 1 - exp(-x), exact near 0 */
static real fall(real x) {
  real sum = 0;
  for (int k = 12; k > 0 && re(x) < 0.1; k--) {
    sum = (1 - sum) * x / k;
  }
  return re(x) < 0.1 ? sum : 1 - r_exp(-x);
}

/* th, its derivative, and the slope 1/cosh^2 of tanh, which th + 2 y th' loses when y is large */
static real tanh_ratio(real y, real *slope, real *steep) {
  static const double c[] = {1.,
                             -1. / 3,
                             2. / 15,
                             -17. / 315,
                             62. / 2835,
                             -1382. / 155925,
                             21844. / 6081075,
                             -929569. / 638512875,
                             6404582. / 10854718875};
  if (re(y) < 0.01) {
    real th = 0;
    *slope = 0;
    for (int k = MBG_COUNT(c) - 1; k >= 0; k--) {
      *slope = *slope * y + th;
      th = th * y + c[k];
    }
    *steep = th + 2 * y * *slope;
    return th;
  }
  const real r = r_sqrt(y), x = r_exp(-2 * r);
  const real th = r_tanh(r) / r;
  *steep = 4 * x / ((1 + x) * (1 + x));
  *slope = (*steep - th) / (2 * y);
  return th;
}

void mbg__contact_friction_at(real q, real moving, real still, real slip, real stribeck, mbg__contact_friction *out) {
  const real y = q / (slip * slip), x = q / (stribeck * stribeck), share = r_exp(-x), gone = fall(x);
  const real mu = re(x) < 0.1 ? still - (still - moving) * gone : moving + (still - moving) * share;
  const real mu_q = -(still - moving) * share / (stribeck * stribeck);
  real slope, steep;
  const real th = tanh_ratio(y, &slope, &steep);
  const real unit = re(y) < 0.01 ? th / slip : r_tanh(r_sqrt(q) / slip) / r_sqrt(q); /* K of mu = 1 */
  out->K = mu * unit;
  out->K_q = (mu_q * th + mu * slope / (slip * slip)) / slip;
  out->K_moving = gone * unit;
  out->K_still = share * unit;
  out->K_slip = -mu * steep / (slip * slip);
  out->K_stribeck = -2 * mu_q * q * unit / stribeck;
}
