/* Writes a random model, for studies that need many models: random_model SEED > model.json. Trees and loops, planar and
   spatial ones; every fifth model has modal bodies, every tenth beams. */
#include "support/random_model.h"
#include "support/random_criteria.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  const bool special = argc == 3 && strcmp(argv[1], "--special") == 0;
  if (argc != 2 && !special) {
    fprintf(stderr, "usage: random_model [--special] SEED > model.json\n");
    return 2;
  }
  const uint64_t seed = strtoull(argv[argc - 1], NULL, 10);
  random_model_options opt = special ? random_model_special(seed) : random_model_mix(seed);
  opt.modal = seed % 5 == 2;
  opt.beams = seed % 10 == 4;
  /* short enough that few random models run into a dead point */
  char *text = random_model_with_criteria(seed, &opt, 0.25, 0.005);
  fputs(text, stdout);
  free(text);
  return 0;
}
