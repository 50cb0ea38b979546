/* Writes a random model, for studies that need many models: random_model SEED > model.json. Trees and loops, planar and
   spatial ones; every fifth model has modal bodies, every tenth beams. */
#include "support/random_model.h"
#include "mbgrad/model.h"
#include "support/random_criteria.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* short enough that few random models run into a dead point */
static const double end = 0.25, step = 0.005;

static char *with_run(const char *text) {
  static const char old[] = "\"run\": {\"end\": 0.5, \"step\": 0.01}";
  const char *at = strstr(text, old);
  assert_non_null(at);
  char *out = malloc(strlen(text) + 40);
  assert_non_null(out);
  sprintf(out, "%.*s\"run\": {\"end\": %g, \"step\": %g}%s", (int)(at - text), text, end, step, at + strlen(old));
  return out;
}

static char *with_criteria(const char *text, uint64_t seed) {
  mbg_context *ctx;
  mbg_model *m;
  if (mbg_context_create(NULL, &ctx) < 0) {
    return NULL;
  }
  char *out = NULL;
  if (mbg_model_parse(ctx, "model", text, strlen(text), NULL, &m) < 0) {
    fprintf(stderr, "random_model: %s\n", mbg_context_error(ctx));
  } else {
    out = random_criteria(text, m, seed, end);
    mbg_model_destroy(m);
  }
  mbg_context_destroy(ctx);
  return out;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: random_model SEED > model.json\n");
    return 2;
  }
  const uint64_t seed = strtoull(argv[1], NULL, 10);
  random_model_options opt = random_model_mix(seed);
  opt.modal = seed % 5 == 2;
  opt.beams = seed % 10 == 4;
  char *first = random_model(seed, &opt), *plain = with_run(first), *text = with_criteria(plain, seed);
  if (text) {
    fputs(text, stdout);
  }
  free(first);
  free(plain);
  free(text);
  return text ? 0 : 1;
}
