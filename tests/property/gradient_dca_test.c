/* The proof of gradients by divide and conquer. */
#define PROOF_RANDOM 8
#define PROOF_GALLERY 3
#include "property/gradient_proof.h"

int main(void) {
  static const char *const keys[] = {"dca"};
  return gradient_proof(MBG_COUNT(keys), keys);
}
