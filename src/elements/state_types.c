/* Types that no file names, of the body that carries states and of the force that is a rate (mbg__user_state). They
   stand with the elements because second derivatives compile them for complex numbers, too. */
#include "elements/lists.h"
#include "math/vec.h"

static void unit_mass(const real *attr, const int *opt, real *M, real *M_a) {
  (void)attr;
  (void)opt;
  (void)M_a;
  m6_zero(M);
  for (int k = 0; k < 3; k++) {
    M[7 * k] = 1;
  }
}

const mbg__body_type mbg__state_carrier = {.key = "states", .help = "states", .inertia = unit_mass};

/* The coordinate is s times a place, so the force along it is s times -tau = rate/s. */
static void rate_eval(const mbg__law_in *in, mbg__law_out *out) {
  const double c = -1 / (in->scale * in->scale);
  out->tau = c * in->fn[0];
  out->tau_fn[0] = c;
}

const mbg__law_type mbg__state_rate = {.key = "rate", .help = "rate of a state", .eval = rate_eval};
