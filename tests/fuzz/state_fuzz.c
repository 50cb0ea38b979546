/* Files of states, from which a run starts. States of several models in every formulation are changed: numbers, names
   and structure by the tree; whole frames turned, moved, mirrored or sheared; a state of one model for another one.
   Whatever a file holds, a run from it fails with a message or gives finite numbers.

   What it cannot produce: states that are wrong in a way that a mechanism cannot show (a body at another place that
   fulfils the constraints), states of large models, files that are no JSON (json_fuzz). */
#include "support/fuzz_tree.h"

#include <math.h>
#include <string.h>

enum { MODELS = 5, STATES_MAX = 40 };

static const char *const names[MODELS] = {"mixed.json", "spatial.json", "beam.json", "modal.json", "fit.json"};
static char *models[MODELS];
static struct {
  int model;
  const char *formulation;
  char *text;
} states[STATES_MAX];
static int nstate;
static mbg_context *corpus_ctx;
static mbg__arena corpus_arena;
static fuzz_donors donors;

/* ---------------------------------------------------------------------- corpus */

static void add_state(int model, const char *formulation) {
  mbg_run_options o;
  mbg_model *m = NULL;
  mbg_run *run = NULL;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = formulation;
  o.end = 0.01;
  o.step = 0.002;
  mbg_context_clear(corpus_ctx);
  CHECK(mbg_model_parse(corpus_ctx, names[model], models[model], strlen(models[model]), NULL, &m) == MBG_OK);
  if (mbg_run_create(corpus_ctx, m, &o, &run) == MBG_OK && mbg_run_simulate(corpus_ctx, run) == MBG_OK) {
    CHECK(nstate < STATES_MAX && mbg_run_write_state(corpus_ctx, run, "state.json") == MBG_OK);
    states[nstate].model = model;
    states[nstate].formulation = formulation;
    states[nstate].text = support_read_file("state.json", NULL);
    fuzz_donors_add(&donors, fuzz_tree_parse(corpus_ctx, &corpus_arena, "state.json", states[nstate].text,
                                             strlen(states[nstate].text)));
    nstate++;
  }
  mbg_run_destroy(run);
  mbg_model_destroy(m);
}

static void open_corpus(void) {
  static const char *const files[] = {"mass.mtx", "stiffness.mtx", "shapes.mtx", "nodes.csv"};
  CHECK(mbg_context_create(NULL, &corpus_ctx) == MBG_OK);
  mbg__arena_init(&corpus_arena, mbg__context_allocator(corpus_ctx));
  for (int i = 0; i < 4; i++) {
    fuzz_copy_corpus(files[i], files[i]);
  }
  fuzz_copy_corpus("fit.csv", "data.csv");
  for (int i = 0; i < MODELS; i++) {
    models[i] = fuzz_corpus(names[i]);
    for (int k = 0; k < mbg_formulation_count(); k++) {
      add_state(i, mbg_formulation_key(k));
    }
  }
  CHECK(nstate > 10);
  fuzz_donors_sort(&donors);
}

static void close_corpus(void) {
  fuzz_donors_free(&donors);
  mbg__arena_destroy(&corpus_arena);
  mbg_context_destroy(corpus_ctx);
  for (int i = 0; i < nstate; i++) {
    free(states[i].text);
  }
  for (int i = 0; i < MODELS; i++) {
    free(models[i]);
  }
}

/* ---------------------------------------------------------------------- inputs */

/* another frame for a body: a rotation, most of the time */
static void change_frame(support_rng *rng, mbg__arena *arena, mbg__json *tree) {
  mbg__json *bodies = (mbg__json *)mbg__json_member(tree, "bodies"), *body = bodies ? bodies->child : NULL;
  for (int n = bodies ? support_index(rng, bodies->count) : 0; n > 0 && body->next; n--) {
    body = body->next;
  }
  const mbg__json *frame = mbg__json_member(body, "frame");
  double R[9], x[12] = {0};
  int k = 0;
  if (!frame || frame->count != 12) {
    return;
  }
  for (const mbg__json *e = frame->child; e; e = e->next) {
    x[k++] = e->number;
  }
  support_rotation_by(rng, pow(10, support_uniform(rng, -8, 0.5)), R);
  const int how = support_index(rng, 6);
  for (int i = 0; i < 9 && how < 4; i++) {
    x[i] = R[i];
  }
  if (how == 3) { /* sheared: the determinant is still 1 */
    for (int i = 0; i < 3; i++) {
      x[i] = 2 * R[i];
      x[3 + i] = R[3 + i] / 2;
    }
  }
  for (int i = 0; i < 3 && how == 4; i++) {
    x[9 + i] += pow(10, support_uniform(rng, -9, 2)) * support_normal(rng);
  }
  for (int i = 0; i < 3 && how == 5; i++) { /* mirrored */
    x[i] = -x[i];
  }
  k = 0;
  for (mbg__json *e = frame->child; e; e = e->next, k++) {
    char text[40];
    snprintf(text, sizeof(text), "%.17g", x[k]);
    e->text = mbg__arena_text(arena, text, strlen(text));
    CHECK(e->text);
  }
}

/* a number that no check of frames concerns: time, turns, twists, what a stepper keeps */
static void change_rate(support_rng *rng, mbg__arena *arena, mbg__json *tree) {
  static const char *const keys[] = {"time", "turns", "twist", "numbers"};
  const char *key = FUZZ_PICK(rng, keys);
  const mbg__json *bodies = mbg__json_member(tree, "bodies");
  const mbg__json *owner = !strcmp(key, "numbers") ? mbg__json_member(tree, "stepper")
                           : strcmp(key, "twist")  ? tree
                           : bodies                ? bodies->child
                                                   : NULL;
  mbg__json *value = (mbg__json *)mbg__json_member(owner, key);
  for (int n = value && value->count > 0 ? support_index(rng, value->count) + 1 : 0; n > 0; n--) {
    value = value->kind == MBG__JSON_ARRAY ? value->child : value->next;
  }
  if (value && value->kind == MBG__JSON_NUMBER) {
    const char *text = fuzz_number(rng);
    value->text = mbg__arena_text(arena, text, strlen(text));
    CHECK(value->text);
  }
}

static void make(support_rng *rng, int problem, fuzz_text *out) {
  const char *text = states[problem % nstate].text;
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(corpus_ctx));
  mbg__json *tree = fuzz_tree_parse(corpus_ctx, &arena, "state", text, strlen(text));
  const int force = support_index(rng, 10);
  for (int n = support_index(rng, 3); n >= 0; n--) {
    if (force < 3) {
      change_rate(rng, &arena, tree);
    } else if (force < 5) {
      change_frame(rng, &arena, tree);
    } else {
      fuzz_tree_change(rng, &arena, &tree, &donors, force < 7 ? FUZZ_NUMBERS : force < 8 ? FUZZ_GENTLE : FUZZ_ROUGH);
    }
  }
  fuzz_tree_put(out, tree);
  mbg__arena_destroy(&arena);
}

static fuzz_outcome take(support_rng *rng, int problem, const char *text, size_t length) {
  const int state = problem % nstate, model = fuzz_one_of(rng, 30) ? support_index(rng, MODELS) : states[state].model;
  mbg_context *ctx = fuzz_context();
  mbg_model *m = NULL;
  support_write_file("state.json", text, length);
  CHECK(mbg_model_parse(ctx, names[model], models[model], strlen(models[model]), NULL, &m) == MBG_OK);
  const char *formulation = fuzz_one_of(rng, 4) ? NULL : states[state].formulation;
  const fuzz_outcome outcome = fuzz_ask_gradient(rng, ctx, m, formulation, "state.json");
  mbg_model_destroy(m);
  fuzz_context_close(ctx);
  return outcome;
}

static const fuzz_program program = {.name = "state_fuzz",
                                     .inputs = 500,
                                     .inputs_long = 50000,
                                     .problems = 1 << 20,
                                     .open = open_corpus,
                                     .close = close_corpus,
                                     .make = make,
                                     .take = take};
FUZZ_PROGRAM(program)
