/* The proof of gradients for the two presets of the alpha stepper. */
#include "property/gradient_proof.h"

int main(void) {
  static const char *const keys[] = {"lie", "dae"};
  return gradient_proof(MBG_COUNT(keys), keys);
}
