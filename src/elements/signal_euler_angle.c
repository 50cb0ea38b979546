/* Euler angle of B relative to A: R = R_i(a1) R_j(a2) R_k(a3), turns about the moving axes i, j, k, as `rotate` of the
   file writes them. With e = 1 for a right-handed triple of axes i, j, k, -1 otherwise, k the third axis:

     sequence i, j, k    a1 = atan2(-e R_jk, R_kk)    sin a2 = e R_ik    a3 = atan2(-e R_ij, R_ii)
     sequence i, j, i    a1 = atan2(R_ji, -e R_ki)    cos a2 = R_ii      a3 = atan2(R_ij, e R_ik)

   a1 and a3 lie in (-pi, pi], a2 in [-pi/2, pi/2] or, of two axes, in [0, pi]. At the ends of the range of a2 the first
   and the third axis coincide: a3 is given as 0 there, a1 is the whole turn, atan2(e R_kj, R_jj), with its derivative,
   so that a body which turns about that axis alone has one; the derivatives of a2 and a3 are given as 0. */
#include "elements/signal_keys.h"

enum { SEQUENCE, ANGLE };
enum { FIRST, SECOND, THIRD };

static const mbg__key keys[] = {
    [SEQUENCE] = {.name = "sequence",
                  .kind = MBG__KEY_CHOICE,
                  .required = true,
                  .choices = "xyz xzy yxz yzx zxy zyx xyx xzx yxy yzy zxz zyz",
                  .help = "moving axes of the three turns, the first one first"},
    [ANGLE] = {.name = "angle",
               .kind = MBG__KEY_CHOICE,
               .required = true,
               .choices = "first second third",
               .help = "which of the three angles"},
};

/* axes of each sequence; two axes: the third entry is the axis that is left */
static const struct {
  int i, j, k;
  bool two;
} axes[] = {{0, 1, 2, false}, {0, 2, 1, false}, {1, 0, 2, false}, {1, 2, 0, false}, {2, 0, 1, false}, {2, 1, 0, false},
            {0, 1, 2, true},  {0, 2, 1, true},  {1, 0, 2, true},  {1, 2, 0, true},  {2, 0, 1, true},  {2, 1, 0, true}};

/* sine and cosine of the first and third axis' angle below this: they coincide up to rounding */
static const double SINGULAR = 1e-14;

/* factor * R_kl and its gradient by W: d R_kl = W . (e_l x row k) */
typedef struct {
  real value, gradient[3];
} entry;

static entry entry_of(const mbg__frame *G, double factor, int k, int l) {
  const real axis[3] = {l == 0, l == 1, l == 2};
  entry out = {.value = factor * G->R[3 * k + l]};
  v3_cross(out.gradient, axis, G->R + 3 * k);
  v3_scale(out.gradient, factor, out.gradient);
  return out;
}

/* sqrt(a^2 + b^2) */
static entry length_of(const entry *a, const entry *b) {
  entry out = {.value = r_sqrt(a->value * a->value + b->value * b->value)};
  v3_axpy(out.gradient, a->value / out.value, a->gradient);
  v3_axpy(out.gradient, b->value / out.value, b->gradient);
  return out;
}

/* d atan2(s, c) = (c ds - s dc)/(s^2 + c^2) */
static void angle(const entry *s, const entry *c, mbg__signal_out *out) {
  const real square = s->value * s->value + c->value * c->value;
  out->y = r_atan2(s->value, c->value);
  v3_axpy(out->y_w + 3, c->value / square, s->gradient);
  v3_axpy(out->y_w + 3, -s->value / square, c->gradient);
}

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const int n = in->opt[SEQUENCE], i = axes[n].i, j = axes[n].j, k = axes[n].k;
  const double e = (j - i + 3) % 3 == 1 ? 1 : -1;
  const bool two = axes[n].two;
  const mbg__frame *G = in->G;
  /* sine and cosine of the third angle, times the factor that vanishes where the axes coincide; the second angle */
  const entry s3 = entry_of(G, two ? 1 : -e, i, j), c3 = two ? entry_of(G, e, i, k) : entry_of(G, 1, i, i);
  const entry along = two ? entry_of(G, 1, i, i) : entry_of(G, e, i, k);
  const bool singular = re(s3.value * s3.value + c3.value * c3.value) <= SINGULAR * SINGULAR;
  if (in->opt[ANGLE] == SECOND && !singular) {
    const entry across = length_of(&s3, &c3);
    angle(two ? &across : &along, two ? &along : &across, out);
  } else if (in->opt[ANGLE] == SECOND) {
    out->y = two ? (re(along.value) > 0 ? 0 : M_PI) : (re(along.value) > 0 ? M_PI / 2 : -M_PI / 2);
  } else if (in->opt[ANGLE] == FIRST && singular) {
    const entry s = entry_of(G, e, k, j), c = entry_of(G, 1, j, j);
    angle(&s, &c, out);
  } else if (in->opt[ANGLE] == FIRST) {
    const entry s1 = two ? entry_of(G, 1, j, i) : entry_of(G, -e, j, k);
    const entry c1 = two ? entry_of(G, -e, k, i) : entry_of(G, 1, k, k);
    angle(&s1, &c1, out);
  } else if (!singular) {
    angle(&s3, &c3, out);
  }
}

const mbg__signal_type mbg__signal_euler_angle = {
    .key = "euler-angle",
    .help = "Euler or Cardan angle of B relative to A, of three turns about moving axes",
    .unit = {"rad"},
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_POSITION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
