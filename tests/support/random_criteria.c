#include "support/random_criteria.h"

#include "mbgrad/run.h"
#include "model/model.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const mbg_model *m;
  mbg__level highest;
  support_rng rng;
  char text[60000];
  size_t used;
} criteria_text;

static void put(criteria_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(criteria_text *t, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(t->text + t->used, sizeof t->text - t->used, format, list);
  va_end(list);
  t->used += (size_t)n;
  assert_true(t->used < sizeof t->text);
}

/* all signals of a level with weights, "0.7*y1 - 0.9*y4"; false when there is none. An Euler angle jumps by a turn, and
   the jump of an integrand has no derivative at nodes: its sine does not jump. */
static bool put_level(criteria_text *t, mbg__level level, double scale) {
  bool any = false;
  for (int i = 0; i < t->m->nsignal; i++) {
    const mbg__signal *s = &t->m->signals[i];
    if (s->name && s->level == level) {
      const bool turns = strcmp(s->name, "euler") == 0;
      put(t, "%s%.3f*%s%s%s", any ? " + " : "", scale * support_uniform(&t->rng, 0.5, 1), turns ? "sin(" : "", s->name,
          turns ? ")" : "");
      any = true;
    }
  }
  return any;
}

static bool has_level(const criteria_text *t, mbg__level level) {
  for (int i = 0; i < t->m->nsignal && level <= t->highest; i++) {
    if (t->m->signals[i].name && t->m->signals[i].level == level) {
      return true;
    }
  }
  return false;
}

/* a level that has signals */
static mbg__level some_level(criteria_text *t) {
  for (;;) {
    const mbg__level level = (mbg__level)support_index(&t->rng, MBG__LEVEL_REACTION + 1);
    if (has_level(t, level)) {
      return level;
    }
  }
}

/* one end value and one integral for each level, one of each other kind for some level; bounded before an exponential,
   because reactions reach hundreds */
static void write_criteria(criteria_text *t, double end) {
  put(t, "\"criteria\": {");
  for (int level = MBG__LEVEL_TIME; level <= MBG__LEVEL_REACTION; level++) {
    if (has_level(t, (mbg__level)level)) {
      put(t, "\"end%d\": {\"terminal\": \"", level);
      put_level(t, (mbg__level)level, 1);
      put(t, "\"}, \"sum%d\": {\"integral\": \"(", level);
      put_level(t, (mbg__level)level, 1);
      put(t, ")^2\"}, ");
    }
  }
  put(t, "\"most\": {\"sharpness\": 10, \"smooth_maximum\": \"tanh(");
  put_level(t, some_level(t), 0.1);
  put(t, ")\"}, \"fit\": {\"data\": {\"time\": [%g, %g, %g], \"value\": [0.3, -1, 2]}, \"least_squares\": \"",
      0.13 * end, 0.41 * end, 0.97 * end);
  put_level(t, some_level(t), 1);
  put(t, "\"}, \"top\": {\"path\": \"");
  put_level(t, some_level(t), 1);
  put(t, "\"}, \"both\": {\"value\": \"end1 + 0.1*most*fit\"}}");
}

static char *with_criteria(const char *text, const mbg_model *m, uint64_t seed, double end, bool reactions) {
  criteria_text t = {.m = m, .rng = support_rng_make(seed + 77)};
  t.highest = reactions ? MBG__LEVEL_REACTION : MBG__LEVEL_ACCELERATION;
  write_criteria(&t, end);
  const char *from = strstr(text, "\"criteria\": {"), *to = strstr(text, "\"initial\": {");
  assert_non_null(from);
  char *out = malloc(strlen(text) + t.used + 3);
  assert_non_null(out);
  sprintf(out, "%.*s%s%s%s", (int)(from - text), text, t.text, to ? ", " : "", to ? to : strrchr(text, '}'));
  return out;
}

static char *with_run(const char *text, double end, double step) {
  static const char old[] = "\"run\": {\"end\": 0.5, \"step\": 0.01}";
  const char *at = strstr(text, old);
  assert_non_null(at);
  char *out = malloc(strlen(text) + 60);
  assert_non_null(out);
  sprintf(out, "%.*s\"run\": {\"end\": %g, \"step\": %g}%s", (int)(at - text), text, end, step, at + strlen(old));
  return out;
}

static mbg_model *parse(mbg_context *ctx, const char *text) {
  mbg_model *m = NULL;
  if (mbg_model_parse(ctx, "model", text, strlen(text), NULL, &m) < 0) {
    fail_msg("loading: %s", mbg_context_error(ctx));
  }
  return m;
}

static bool ambiguous(mbg_context *ctx, const char *text) {
  mbg_model *m = parse(ctx, text);
  mbg_run *run = NULL;
  mbg_run_options options;
  mbg_run_options_default(&options, sizeof(options));
  options.end = m->run.step;
  const int made = mbg_run_create(ctx, m, &options, &run);
  const int err = made < 0 ? made : mbg_run_simulate(ctx, run);
  const bool out = err < 0 && strstr(mbg_context_error(ctx), "not unique");
  mbg_run_destroy(run);
  mbg_model_destroy(m);
  mbg_context_clear(ctx);
  return out;
}

char *random_model_with_criteria(uint64_t seed, const random_model_options *options, double end, double step) {
  mbg_context *ctx;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  char *first = random_model(seed, options), *plain = with_run(first, end, step);
  mbg_model *m = parse(ctx, plain);
  char *text = with_criteria(plain, m, seed, end, true);
  if (options->special && ambiguous(ctx, text)) {
    free(text);
    text = with_criteria(plain, m, seed, end, false);
  }
  free(first);
  free(plain);
  mbg_model_destroy(m);
  mbg_context_destroy(ctx);
  return text;
}
