/* The proof of gradients in joint coordinates. */
#include "property/gradient_proof.h"

int main(void) {
  static const char *const keys[] = {"ali3p"};
  return gradient_proof(MBG_COUNT(keys), keys);
}
