/* Modal body: a frame and modal coordinates. The inertia couples both and is not a matrix of the frame alone: see
   elements/modal_inertia.h; the data are read by load/load_modal.c. */
#include "model/types.h"

static void inertia(const real *attr, const int *opt, real *M, real *M_a) {
  (void)attr;
  (void)opt;
  (void)M_a;
  m6_zero(M);
}

const mbg__body_type mbg__body_modal = {
    .key = "modal",
    .help = "flexible body with a floating frame and modal coordinates",
    .modal = true,
    .inertia = inertia,
};
